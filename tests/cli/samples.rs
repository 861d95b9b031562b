//! The files in `samples/` are small, listed in their README, and hold what it says.

use std::fs;
use std::path::Path;

use tensorop::error::Subject;
use tensorop::internal::opening::input::OpenOptions;
use tensorop::internal::opening::located::Located;

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
    let mut present = Vec::new();
    names(Path::new(FOLDER), "", &mut present);
    present.retain(|name| name != "README.md" && name != "make.py" && !name.ends_with("config.json"));
    listed.sort();
    present.sort();
    assert_eq!(listed, present);
}

/// The files of a folder and of those in it.
fn names(folder: &Path, before: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{before}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() { names(&path, &format!("{name}/"), found) } else { found.push(name) }
    }
}

/// The dtype and shape of a sample, or of all its members, as its README writes them.
fn describe(name: &str) -> String {
    let path = Path::new(FOLDER).join(name);
    assert!(path.metadata().unwrap().len() <= 1536, "{name} is too large");
    let input = OpenOptions::new(name).open(&Located::from_path(&path)).unwrap();
    let tensor = |n: usize| {
        let found = input.describe(n).unwrap();
        let plain =
            input.members().text.as_ref().is_some_and(|text| text.values(Subject::Data).unwrap().dtype().is_none());
        let dtype = match found.meta.dtype.name().strip_prefix("<U") {
            _ if plain => "plain".to_owned(),
            Some(width) => format!("str of width {width}"),
            None => found.meta.dtype.name(),
        };
        let dims: Vec<String> = found.meta.shape.iter().map(ToString::to_string).collect();
        format!("{dtype}, {}", if dims.is_empty() { "scalar".to_owned() } else { dims.join("x") })
    };
    match input.names() {
        None => tensor(0),
        Some(names) => {
            let mut members: Vec<_> =
                names.iter().enumerate().map(|(n, name)| format!("{name}: {}", tensor(n))).collect();
            members.sort();
            members.join("; ")
        }
    }
}
