//! The files in `samples/` are small, listed in their README, and hold what it says.

use std::fs;
use std::path::Path;

use tensorop::error::Subject;
use tensorop::format::json;
use tensorop::format::npy::{self, Begun};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");

#[test]
fn samples_are_as_listed() {
    let list = fs::read_to_string(Path::new(FOLDER).join("README.md")).unwrap();
    let mut listed = Vec::new();
    for row in list.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        assert_eq!(describe(name), cells[2], "{name}");
        listed.push(name.to_owned());
    }
    let mut present: Vec<String> =
        fs::read_dir(FOLDER).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    present.retain(|name| name != "README.md" && name != "make.py");
    listed.sort();
    present.sort();
    assert_eq!(listed, present);
}

/// The dtype and shape of a sample, as its README writes them.
fn describe(name: &str) -> String {
    let bytes = fs::read(Path::new(FOLDER).join(name)).unwrap();
    assert!(bytes.len() < 1024, "{name} has {} bytes", bytes.len());
    let (dtype, shape) = if name.ends_with(".npy") {
        let Begun::Header(header) = npy::read_header(&bytes).unwrap() else { panic!("{name}: its header is cut off") };
        assert_eq!(bytes.len(), header.offset + header.bytes, "{name}");
        let dtype = match header.dtype.name().strip_prefix("<U") {
            Some(width) => format!("str of width {width}"),
            None => header.dtype.name(),
        };
        (dtype, header.shape)
    } else {
        let json = json::open(&bytes, Subject::Data).unwrap();
        let (dtype, tensor) = match json.dtype() {
            Some(dtype) => (dtype.name(), json.read(dtype).unwrap()),
            None => ("plain".to_owned(), json.infer().unwrap()),
        };
        (dtype, tensor.shape().to_vec())
    };
    let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("{dtype}, {}", dims.join("x"))
}
