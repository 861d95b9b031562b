//! OpenVINO IR as a container. `tests/oracle/openvino_models.py` made the models of `tests/golden/openvino/`, and lists the
//! name, shape and hash of each constant, as OpenVINO reads it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Folder, each, words};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/openvino")
}

fn folder() -> Folder {
    let folder = Folder::new();
    for file in fs::read_dir(golden()).expect("the models").map(|file| file.expect("a file").path()) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        folder.put(&name, fs::read(&file).expect("a file"));
    }
    folder
}

#[test]
fn constants_are_those_of_openvino() {
    let folder = folder();
    each(
        1..=3,
        |model| format!("{model}.xml"),
        |model| {
            let printed = folder.run(words(&format!("info {model}.xml --hash --json"))).printed()?;
            let found: Vec<Value> = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
            let mut found: Vec<_> =
                found.iter().map(|one| [one["member"].clone(), one["shape"].clone(), one["hash"].clone()]).collect();
            let text =
                fs::read_to_string(golden().join(format!("{model}.jsonl"))).map_err(|error| error.to_string())?;
            let mut expected: Vec<[Value; 3]> =
                text.lines().map(|line| serde_json::from_str(line).expect("a constant")).collect();
            [&mut found, &mut expected].into_iter().for_each(|all| all.sort_by_key(|one| format!("{one:?}")));
            if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
        },
    );
}

#[test]
fn edits_change_the_items_alone() {
    let folder = folder();
    let (xml, bin) = (folder.get("3.xml"), folder.get("3.bin"));
    folder.run(words("slice-scatter 3.xml:chosen/then_body/inner [7,8] --at : -i")).printed().expect("changed");
    let changed = folder.get("3.bin");
    let differ = bin.iter().zip(&changed).filter(|(a, b)| a != b).count();
    assert!(xml == folder.get("3.xml") && changed.len() == bin.len() && (1..=8).contains(&differ), "{differ}");
    let shown = folder.run(words("slice 3.xml:chosen/then_body/inner --at : --to csv")).printed();
    assert_eq!(shown.as_deref(), Ok("7.0\n8.0\n"));
}

#[test]
fn what_is_said() {
    let folder = folder();
    let printed = folder.run(words("info 1.xml")).printed().expect("a list");
    let said = "metadata inputs = x float32[1,3]\nmetadata layers = ";
    assert!(printed.contains(said) && printed.contains("\nmetadata version = 11\n"), "{printed}");
    folder.run(words("convert 1.xml -o out.safetensors")).printed().expect("converted");
    let printed = folder.run(words("info out.safetensors")).printed().expect("a list");
    let kept: Vec<_> = printed.lines().filter(|line| line.starts_with("metadata ")).collect();
    assert!(kept.iter().all(|line| line.starts_with("metadata rt_info.")), "{printed}");
    folder.put("alone.xml", folder.get("1.xml"));
    let run = folder.run(words("info alone.xml"));
    assert!(run.status == Some(2) && run.stderr.contains("alone.bin: No such file"), "{run:?}");
    folder.put("alone.bin", &folder.get("1.bin")[..20]);
    let run = folder.run(words("info alone.xml"));
    assert!(run.status == Some(2) && run.stderr.contains("of the .bin file, which has 20 bytes"), "{run:?}");
    folder
        .refuses(words("convert 1.xml -o out.xml"), &["out.xml: OpenVINO IR can be read, not written: end the name in"])
        .expect("refused");
    // the model is called like the file of its items
    folder.put("self.bin", folder.get("3.xml"));
    let edit = "slice-scatter self.bin:chosen/then_body/inner [7,8] --at : -i";
    folder.refuses(words(edit), &["self.bin: expected another file than this one"]).expect("refused");
    let run = folder.run_with(words("info -"), None, Some(&folder.get("1.xml")));
    assert!(run.stderr.contains("there is no folder to find it in"), "{run:?}");
}

/// OpenVINO gives them a byte.
#[test]
fn constants_without_items() {
    let folder = Folder::new();
    let layer = |name: &str, shape: &str, offset: u8, size: u8| {
        let data = format!("element_type=\"f32\" shape=\"{shape}\" offset=\"{offset}\" size=\"{size}\"");
        format!("<layer name=\"{name}\" type=\"Const\"><data {data}/></layer>")
    };
    let layers = [layer("a", "0, 3", 4, 1), layer("b", "0", 0, 0), layer("c", "2,0,2", 99, 7), layer("d", "1", 0, 4)];
    folder.put("m.xml", format!("<net version=\"11\"><layers>{}</layers></net>", layers.concat()));
    folder.put("m.bin", [0, 0, 128, 63]);
    let listed = folder.run(words("info m.xml --json")).printed().expect("status 0");
    assert!(listed.matches("\"items\": 0, \"bytes\": 0").count() == 3 && !listed.contains("error"), "{listed}");
    assert_eq!(folder.run(words("convert m.xml -o m.npz")).printed().as_deref(), Ok(""));
    let diff = folder.run(words("diff m.xml m.npz")).printed();
    assert_eq!(diff.as_deref(), Ok("equal: 4 same, 0 within, 0 different, 0 missing, 0 extra\n"));
}

#[test]
fn other_versions_are_named() {
    let folder = Folder::new();
    folder.put("m.bin", [1; 8]);
    for version in ["2", "5", "12"] {
        folder.put("m.xml", format!("<net name=\"n\" version=\"{version}\"><layers></layers></net>"));
        let said = format!("FILE m.xml: OpenVINO IR of version {version} is not read, only 10 and 11");
        for command in ["info", "show", "convert --dry-run -o o.npz"] {
            folder.refuses(words(&format!("{command} m.xml")), &[&said[5..]]).expect("refused");
        }
    }
}

/// Constants of unknown types are equal if their bytes and attributes are.
#[test]
fn comparing_what_is_not_read() {
    let folder = Folder::new();
    let layer = |name: &str, element_type: &str, shape: &str, offset: u8| {
        let data = format!("element_type=\"{element_type}\" shape=\"{shape}\" offset=\"{offset}\" size=\"1\"");
        format!("<layer name=\"{name}\" type=\"Const\"><data {data}/></layer>")
    };
    let net = |element_type: &str, shape: &str, offset: u8| {
        let layers = layer("c", element_type, shape, offset) + &layer("d", "u8", "1", 0);
        format!("<net version=\"11\"><layers>{layers}</layers></net>")
    };
    for (name, xml) in [
        ("a", net("u1", "2,4", 0)),
        ("same", net("u1", "2, 4", 2)),
        ("items", net("u1", "2,4", 1)),
        ("type", net("u1x", "2,4", 0)),
        ("shape", net("u1", "4,2", 0)),
        ("outside", net("u1", "2,4", 3)),
    ] {
        folder.put(format!("{name}.xml"), xml);
        folder.put(format!("{name}.bin"), [5, 6, 5]);
    }
    let same = "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra\n";
    assert_eq!(folder.run(words("diff a.xml same.xml")).printed().as_deref(), Ok(same));
    for other in ["items", "type", "shape", "outside"] {
        let run = folder.run(words(&format!("diff a.xml {other}.xml")));
        assert!(run.status == Some(2) && run.stderr.contains("1 of 2 tensors cannot be read"), "{other}: {run:?}");
    }
}

/// A cache of Hugging Face links the files of a model to others, which are named by their hashes.
#[test]
#[cfg(unix)]
fn a_cache_of_links() {
    let folder = folder();
    let blob = "c3".repeat(32);
    fs::rename(folder.path("3.bin"), folder.path(&blob)).expect("renamed");
    std::os::unix::fs::symlink(&blob, folder.path("3.bin")).expect("a link");
    folder.run(words("slice 3.xml:chosen/then_body/inner --at : --to csv")).printed().expect("read");
    let before = folder.get(&blob);
    let edit = "slice-scatter 3.xml:chosen/then_body/inner [7,8] --at : -i";
    folder.refuses(words(edit), &["3.bin: is a link to ", "which is named by its own hash"]).expect("refused");
    assert_eq!(folder.get(&blob), before);
}
