//! ONNX models as containers. `tests/oracle/onnx_models.py` made the models of `tests/golden/onnx/models/`, and lists the
//! name, shape and hash of each tensor, as `onnx.numpy_helper` reads it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Folder, each, words};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/onnx/models")
}

/// The models with their external data.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("below")).expect("a folder");
    for below in ["", "below/"] {
        for file in fs::read_dir(golden().join(below)).expect("the models").map(|file| file.expect("a file").path()) {
            if file.is_file() {
                let name = file.file_name().expect("a name").to_string_lossy().into_owned();
                folder.put(format!("{below}{name}"), fs::read(&file).expect("a file"));
            }
        }
    }
    folder
}

fn expected(model: usize) -> Vec<(String, Vec<u64>, String)> {
    let text = fs::read_to_string(golden().join(format!("{model}.jsonl"))).expect("a list");
    text.lines().map(|line| serde_json::from_str(line).expect("a tensor")).collect()
}

const MODELS: usize = 6;

#[test]
fn tensors_are_those_of_numpy_helper() {
    let folder = folder();
    each(
        0..MODELS,
        |model| format!("{model}.onnx"),
        |model| {
            let printed = folder.run(words(&format!("info {model}.onnx --hash --json"))).printed()?;
            let found: Vec<Value> = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
            let expected = expected(*model);
            if found.len() != expected.len() {
                return Err(format!("{} tensors, expected {}", found.len(), expected.len()));
            }
            for (found, (name, shape, hash)) in found.iter().zip(&expected) {
                let is_same = found["member"] == **name && found["hash"] == **hash;
                if !is_same || found["shape"] != Value::from(shape.clone()) {
                    return Err(format!("{found}, expected {name} {shape:?} {hash}"));
                }
            }
            Ok(())
        },
    );
}

/// Each tensor is reversed in place: nothing but its bytes changes, in the model or in the file with its items.
#[test]
fn edits_in_place() {
    let folder = folder();
    let edits = Cell::new(0);
    each(
        0..MODELS,
        |model| format!("{model}.onnx"),
        |model| {
            let file = format!("{model}.onnx");
            let others: Vec<_> = expected(*model).into_iter().filter(|(_, shape, _)| !shape.is_empty()).collect();
            for (name, shape, _) in others {
                let before = folder.get(&file);
                let operand = format!("{file}:{name}");
                let turned = folder.run(["slice", &operand, "--at", "::-1", "--to", "npy"]).stdout;
                let run = folder.run(["slice-scatter", &operand, &operand, "--at", "::-1", "-i"]);
                if run.status != Some(0) {
                    let why = [
                        "items in a typed field of an ONNX tensor, unlike those in raw_data",
                        "texts of varying length",
                        "items of fewer than 8 bits",
                    ];
                    let is_told = why.iter().any(|why| run.stderr.contains(&format!("--in-place cannot change {why}")));
                    if folder.get(&file) != before || !is_told {
                        return Err(format!("{name}: {run:?}"));
                    }
                    continue;
                }
                edits.set(edits.get() + 1);
                let found = folder.run(["slice", &operand, "--at", ":", "--to", "npy"]).stdout;
                if found != turned || folder.get(&file).len() != before.len() {
                    return Err(format!("{name} {shape:?}: {found:?}, expected {turned:?}"));
                }
            }
            Ok(())
        },
    );
    assert!(edits.get() > 50, "{edits:?}");
}

/// A field of bytes.
pub(crate) fn field(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let bits = |shift: u32| (value.len() >> shift & 0x7f) as u8;
    let length = match value.len() {
        0..0x4000 => vec![bits(0) | 0x80, bits(7)],
        _ => vec![bits(0) | 0x80, bits(7) | 0x80, bits(14)],
    };
    [&[number << 3 | 2][..], &length, value].concat()
}

pub(crate) fn tensor(name: &str, data_type: u8, items: &[u8]) -> Vec<u8> {
    [&[8, items.len() as u8, 16, data_type][..], &field(8, name), &field(9, items)].concat()
}

fn model(graph: &[Vec<u8>]) -> Vec<u8> {
    [&[8, 8][..], &field(2, "maker"), &field(7, graph.concat()), &field(8, [16, 17]), &props("author", "me")].concat()
}

pub(crate) fn props(key: &str, value: &str) -> Vec<u8> {
    field(14, [field(1, key), field(2, value)].concat())
}

fn constant(output: &str, items: &[u8]) -> Vec<u8> {
    let value = field(5, [field(1, "value"), field(5, tensor("", 2, items))].concat());
    field(1, [field(2, output), field(4, "Constant"), value].concat())
}

#[test]
fn what_info_says() {
    let folder = Folder::new();
    let weight = || field(5, tensor("w", 2, &[1, 2, 3]));
    folder.put("m.onnx", model(&[weight(), constant("a", &[1]), constant("b", &[1, 2]), constant("c", &[0; 17])]));
    let later = || field(5, tensor("later", 99, &[1]));
    let sparse = field(15, field(1, tensor("sparse", 2, &[])));
    folder.put("unknown.onnx", model(&[weight(), later(), sparse]));
    folder.put("damaged.onnx", model(&[weight(), later(), field(5, [8, 9, 16, 2, 66, 1, b'd', 74, 1, 0])]));
    let said = "metadata author = me\nmetadata ir_version = 8\nmetadata nodes = 3 Constant\nmetadata opsets = ai.onnx 17\n\
                metadata producer = maker\n";
    let printed = folder.run(words("info m.onnx")).printed().expect("a list");
    let tail = format!("{said}m.onnx: 2 constants of at most 16 items: --members lists them\n");
    assert!(printed.contains("\n  w ") && printed.contains("\n  c ") && printed.ends_with(&tail), "{printed}");
    assert!(!printed.contains("\n  a "), "{printed}");
    assert_eq!(folder.run(words("info m.onnx --members")).printed().as_deref(), Ok("w\na\nb\nc\n"));
    for command in ["info m.onnx --only ?", "info m.onnx --stats", "info m.onnx:a"] {
        let printed = folder.run(words(command)).printed().expect(command);
        assert!(!printed.contains("at most 16"), "{command}: {printed}");
    }
    let printed = folder.run(words("info unknown.onnx")).printed().expect("status 0");
    assert!(printed.contains("  later  ") && printed.contains("not read: an ONNX tensor of an unknown data type 99"));
    assert!(printed.contains("not read: a sparse tensor") && printed.contains("2 not read"), "{printed}");
    let run = folder.run(words("info damaged.onnx"));
    assert!(run.status == Some(2) && run.stderr.contains("FILE damaged.onnx:d: 1 bytes"), "{run:?}");
    folder.refuses(words("info unknown.onnx:later"), &["FILE unknown.onnx:later: ", "data type 99"]).expect("refused");
    let run = folder.run(words("convert unknown.onnx -o out.safetensors"));
    assert!(
        run.status == Some(0) && run.stderr.contains("unknown.onnx:sparse: a sparse tensor: not read, left out"),
        "{run:?}"
    );
    assert_eq!(folder.run(words("info out.safetensors --members")).printed().as_deref(), Ok("w\n"));
    // facts of the graph are not of its tensors
    let printed = folder.run(words("info out.safetensors")).printed().expect("a list");
    assert!(printed.ends_with("\nmetadata author = me\nmetadata producer = maker\n"), "{printed}");
    folder.put("taken.onnx", [model(&[weight()]), props("nodes", "mine"), props("inputs", "")].concat());
    let printed = folder.run(words("info taken.onnx")).printed().expect("a list");
    assert!(printed.contains("\nmetadata metadata_props.nodes = mine\n"), "{printed}");
    folder
        .refuses(words("convert m.onnx -o out.onnx"), &["out.onnx: an ONNX model can be read, not written"])
        .expect("refused");
}

#[test]
fn items_in_missing_files() {
    let folder = Folder::new();
    let entry = |key: &str, value: &str| field(13, [field(1, key), field(2, value)].concat());
    let external = |name: &str, location: &str| {
        field(5, [&[8, 2, 16, 2][..], &field(8, name), &entry("location", location), &[14 << 3, 1]].concat())
    };
    folder.put(
        "m.onnx",
        model(&[
            external("gone", "gone.bin"),
            external("here", "here.bin"),
            external("out", "../here.bin"),
            external("own", "m.onnx"),
        ]),
    );
    folder.put("here.bin", [5, 6]);
    let run = folder.run(words("info m.onnx"));
    assert!(run.status == Some(2) && run.stderr.contains("2 tensors cannot be read (\"gone\", \"out\")"), "{run:?}");
    // beside a constant that is only counted, it has its row, and the model its facts
    folder.put("lone.onnx", model(&[external("gone", "gone.bin"), constant("a", &[1])]));
    let run = folder.run(words("info lone.onnx"));
    let text = String::from_utf8_lossy(&run.stdout);
    let lines =
        ["\n  gone ", "not read: the items are in 'gone.bin'", "\nmetadata producer = maker\n", "1 constant of"];
    assert!(run.status == Some(2) && lines.iter().all(|line| text.contains(line)), "{run:?}");
    let run = folder.run(words("info lone.onnx --json"));
    let known = r#""name": "gone", "member": "gone", "format": "onnx-model", "dtype": "uint8", "shape": [2], "#;
    assert!(run.status == Some(2) && String::from_utf8_lossy(&run.stdout).contains(known), "{run:?}");
    let edit = "slice-scatter m.onnx:own --fill 9 --at 1: -i";
    folder.refuses(words(edit), &["in 'm.onnx': expected another file than this one"]).expect("refused");
    folder.put("tied.onnx", model(&[external("a", "here.bin"), external("b", "./here.bin"), external("c", "m.onnx")]));
    let tied = folder.run(words("info tied.onnx --json")).printed().expect("JSON");
    assert_eq!(tied.matches("\"shares\": \"a\"").count(), 1, "{tied}");
    folder.run(words("slice-scatter m.onnx:here --fill 9 --at 1: -i")).printed().expect("changed");
    assert_eq!(folder.get("here.bin"), [5, 9]);
    assert_eq!(folder.run(words("show m.onnx:here")).printed().as_deref(), Ok("m.onnx:here: uint8 [2]\n[5 9]\n"));
}

/// Members that are passed over are equal if their stored bytes are, and these are all of them.
#[test]
fn comparing_what_is_not_read() {
    let folder = Folder::new();
    let sparse =
        |item: u8| field(15, [field(1, tensor("sparse", 2, &[item])), field(2, tensor("", 7, &[0; 8]))].concat());
    let later = |data_type: u8| field(5, tensor("later", data_type, &[1]));
    let weight = || field(5, tensor("w", 2, &[1, 2, 3]));
    let far = |data_type: u8| {
        let place = field(13, [field(1, "location"), field(2, "far.bin")].concat());
        field(5, [&[8, 2, 16, data_type][..], &field(8, "far"), &place, &[14 << 3, 1]].concat())
    };
    folder
        .put("a.onnx", model(&[weight(), later(99), sparse(7)]))
        .put("b.onnx", model(&[weight(), sparse(7), later(99)]));
    folder.put("c.onnx", model(&[weight(), later(98), sparse(8)]));
    folder.put("far.onnx", model(&[weight(), far(99)]));
    let same = "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n";
    assert_eq!(folder.run(words("diff a.onnx b.onnx")).printed().as_deref(), Ok(same));
    let run = folder.run(words("diff a.onnx c.onnx"));
    assert!(run.status == Some(2) && run.stderr.contains("2 of 3 tensors cannot be read"), "{run:?}");
    // the items of the other file were not seen
    let run = folder.run(words("diff far.onnx far.onnx"));
    assert!(run.status == Some(2) && run.stderr.contains("1 of 2 tensors cannot be read"), "{run:?}");
}

/// A cache of Hugging Face links the files of a model to others, which are named by their hashes.
#[test]
#[cfg(unix)]
fn caches_of_links() {
    let folder = Folder::new();
    let entry = field(13, [field(1, "location"), field(2, "m.onnx_data")].concat());
    let far = field(5, [&[8, 2, 16, 2][..], &field(8, "far"), &entry, &[14 << 3, 1]].concat());
    fs::create_dir_all(folder.path("snapshots/1")).expect("a folder");
    fs::create_dir(folder.path("blobs")).expect("a folder");
    for (name, blob, content) in
        [("m.onnx", "a1".repeat(20), model(&[far])), ("m.onnx_data", "b2".repeat(32), vec![5, 6])]
    {
        folder.put(format!("blobs/{blob}"), content);
        std::os::unix::fs::symlink(format!("../../blobs/{blob}"), folder.path("snapshots/1").join(name))
            .expect("a link");
    }
    let shown = folder.run(words("show snapshots/1/m.onnx:far")).printed();
    assert_eq!(shown.as_deref(), Ok("snapshots/1/m.onnx:far: uint8 [2]\n[5 6]\n"));
    let edit = "slice-scatter snapshots/1/m.onnx:far --fill 9 --at 1: -i";
    folder.refuses(words(edit), &["which is named by its own hash"]).expect("refused");
    // the data alone is a link
    folder.put("m.onnx", folder.get("snapshots/1/m.onnx"));
    fs::rename(folder.path("snapshots/1/m.onnx_data"), folder.path("blobs/link")).expect("renamed");
    std::os::unix::fs::symlink(format!("blobs/{}", "b2".repeat(32)), folder.path("m.onnx_data")).expect("a link");
    assert_eq!(folder.run(words("show m.onnx:far")).printed().as_deref(), Ok("m.onnx:far: uint8 [2]\n[5 6]\n"));
    let edit = "slice-scatter m.onnx:far --fill 9 --at 1: -i";
    folder.refuses(words(edit), &["m.onnx:far: ", "which is named by its own hash"]).expect("refused");
    assert_eq!(folder.get(format!("blobs/{}", "b2".repeat(32))), [5, 6]);
}

/// A folder counts the small constants of its models as their files do.
#[test]
fn constants_in_a_folder() {
    let folder = Folder::new();
    fs::create_dir(folder.path("models")).expect("a folder");
    let weight = field(5, tensor("w", 2, &[1, 2, 3]));
    for name in ["models/a.onnx", "models/b.onnx"] {
        folder.put(name, model(&[weight.clone(), constant("c", &[1]), constant("d", &[1, 2])]));
    }
    let printed = folder.run(words("info models")).printed().expect("a list");
    assert!(printed.contains("models: 4 constants of at most 16 items: --members lists them\n"), "{printed}");
    assert!(printed.contains("  a:w ") && !printed.contains("  a:c "), "{printed}");
}
