//! `tensorop diff` and what models say of themselves: keys of GGUF, facts and properties of ONNX, `rt_info` of OpenVINO
//! IR, plain values of PyTorch files. They are compared by the values in the files, whatever `info` prints of them.

use std::fs;

use crate::common::torch::{items, pickle, view};
use crate::common::{Folder, each, npy, stored, words, zip};
use crate::onnx_models::{field, props, tensor};

/// A value of GGUF: the number of its type, and its bytes.
type KeyValue = (u32, Vec<u8>);

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn strings(all: &[String]) -> KeyValue {
    let front = [&8_u32.to_le_bytes()[..], &(all.len() as u64).to_le_bytes()].concat();
    (9, [front, all.iter().flat_map(|one| text(one)).collect()].concat())
}

fn numbers(of: u32, all: &[u32]) -> KeyValue {
    let front = [&of.to_le_bytes()[..], &(all.len() as u64).to_le_bytes()].concat();
    (9, [front, all.iter().flat_map(|one| one.to_le_bytes()).collect()].concat())
}

/// A GGUF with those keys, and with tensor `w` of two float32s unless its name is empty.
fn gguf(name: &str, alignment: usize, keys: &[(&str, KeyValue)]) -> Vec<u8> {
    let tensors = u64::from(!name.is_empty());
    let mut out = [&b"GGUF\x03\0\0\0"[..], &tensors.to_le_bytes(), &(keys.len() as u64).to_le_bytes()].concat();
    for (key, (of, value)) in keys {
        out.extend([text(key), of.to_le_bytes().to_vec(), value.clone()].concat());
    }
    if tensors > 0 {
        out.extend(
            [text(name), [1_u32.to_le_bytes(), 2_u32.to_le_bytes(), [0; 4], [0; 4]].concat(), vec![0; 8]].concat(),
        );
    }
    out.resize(out.len().next_multiple_of(alignment), 0);
    out.extend([1_f32, 2.0].iter().take(2 * tensors as usize).flat_map(|item| item.to_le_bytes()));
    out
}

/// A model of `version` with the other fields of the message.
fn onnx(version: u8, fields: &[Vec<u8>]) -> Vec<u8> {
    let weights = ["w", "v"].map(|name| field(5, tensor(name, 2, &[1, 2]))).concat();
    [&[8, version][..], &field(2, "maker"), &field(7, weights), &fields.concat()].concat()
}

fn opset(domain: &str, version: u8) -> Vec<u8> {
    field(8, [&field(1, domain)[..], &[16, version]].concat())
}

fn openvino(version: u8, info: &str) -> String {
    let layer = r#"<layer name="w" type="Const"><data element_type="u8" shape="2" offset="0" size="2"/></layer>"#;
    // the info of a layer is not that of the model
    let relu = r#"<layer name="r" type="ReLU"><rt_info><attribute name="fused" value="x"/></rt_info></layer>"#;
    format!("<net name=\"n\" version=\"{version}\"><layers>{layer}{relu}</layers><rt_info>{info}</rt_info></net>")
}

fn torch(values: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let tensors = [("w", view(0, [2, 3], [3, 1])), ("v", view(0, [3, 2], [2, 1]))];
    zip(&[stored("x/data.pkl", &pickle(&[&tensors, values].concat())), stored("x/data/0", &items())])
}

/// The opcodes of a text.
fn long(end: &str) -> Vec<u8> {
    let text = "a".repeat(2000) + end;
    [&[b'X'][..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

/// The opcodes of a list, or of a tuple.
fn listed(close: &[u8], last: u8) -> Vec<u8> {
    let numbers: Vec<u8> = (0..20).chain([last]).flat_map(|n| [b'K', n]).collect();
    [if close == b"e" { &b"]("[..] } else { &b"("[..] }, &numbers, close].concat()
}

#[test]
fn values_are_compared_as_the_files_have_them() {
    let tokens = |last: &str| (0..200).map(|n| n.to_string()).chain([last.to_owned()]).collect::<Vec<_>>();
    let base = |value: f32| ("rope.freq_base", (6, value.to_le_bytes().to_vec()));
    let key = |value: KeyValue| gguf("w", 32, &[base(1e4), ("key", value)]);
    let alignment = ("general.alignment", (4, 64_u32.to_le_bytes().to_vec()));
    let (a, b) = (|| props("a", "1"), || props("b", "2"));
    let big = |end: &str| onnx(8, &[props("labels", &("x".repeat(70_000) + end))]);
    let labels =
        |value: &str| openvino(11, &format!(r#"<model_info><labels value="{value}"/></model_info><MO value="1"/>"#));
    let huge = |end: &str| labels(&("y".repeat(70_000) + end));
    let of_torch = |key: &str, value: Vec<u8>| {
        torch(&[("nested", pickle(&[(key, value)])[2..].split_last().expect("an end").1.to_vec())])
    };
    // two files, and the keys that differ
    let rows: Vec<(&str, Vec<u8>, Vec<u8>, &str)> = vec![
        ("gguf", gguf("w", 32, &[base(1e4)]), gguf("w", 32, &[base(5e5)]), "rope.freq_base"),
        ("gguf", gguf("w", 32, &[base(1e4)]), gguf("w", 32, &[]), "rope.freq_base"),
        // the type is one of the value
        ("gguf", key((4, vec![7, 0, 0, 0])), key((5, vec![7, 0, 0, 0])), "key"),
        ("gguf", key(numbers(4, &[1, 2])), key(numbers(5, &[1, 2])), "key"),
        // these are printed alike
        ("gguf", key(strings(&tokens("x"))), key(strings(&tokens("y"))), "key"),
        ("gguf", key(numbers(4, &[1; 200])), key(numbers(4, &[[1; 199].as_slice(), &[2]].concat())), "key"),
        ("gguf", key(numbers(4, &[1; 200])), key(numbers(6, &[1; 200])), "key"),
        ("gguf", key((8, text(&("z".repeat(70_000) + "1")))), key((8, text(&("z".repeat(70_000) + "2")))), "key"),
        ("gguf", key(strings(&tokens("x"))), key(strings(&tokens("x"))), ""),
        // order and alignment say nothing of the model
        (
            "gguf",
            gguf("w", 32, &[base(1e4), ("k", numbers(4, &[1]))]),
            gguf("w", 64, &[("k", numbers(4, &[1])), alignment, base(1e4)]),
            "",
        ),
        ("onnx", onnx(8, &[a(), b()]), onnx(8, &[b(), a()]), ""),
        ("onnx", onnx(8, &[a()]), onnx(8, &[props("a", "2")]), "a"),
        ("onnx", onnx(8, &[a(), props("c", "")]), onnx(8, &[a()]), "c"),
        ("onnx", onnx(8, &[]), onnx(9, &[]), "ir_version"),
        ("onnx", onnx(8, &[opset("", 17), opset("x", 1)]), onnx(8, &[opset("x", 1), opset("", 17)]), ""),
        ("onnx", onnx(8, &[opset("", 17)]), onnx(8, &[opset("", 18)]), "opsets"),
        ("onnx", onnx(8, &[field(3, "1")]), onnx(8, &[field(3, "2")]), "producer"),
        ("onnx", onnx(8, &[field(4, "d")]), onnx(8, &[field(4, "e")]), "domain"),
        ("onnx", onnx(8, &[vec![40, 1]]), onnx(8, &[vec![40, 2]]), "model_version"),
        ("onnx", big("1"), big("2"), "labels"),
        ("xml", labels("cat dog").into(), labels("dog cat").into(), "rt_info.model_info.labels"),
        (
            "xml",
            openvino(11, r#"<a value="1"/><b value="2"/>"#).into(),
            openvino(11, r#"<b value="2"/><a value="1"/>"#).into(),
            "",
        ),
        (
            "xml",
            openvino(11, r#"<info name="a b" value="1"/>"#).into(),
            openvino(11, r#"<info name="a b" value="2"/>"#).into(),
            "rt_info.a b",
        ),
        ("xml", openvino(10, "").into(), openvino(11, "").into(), "version"),
        ("xml", huge("1").into(), huge("2").into(), "rt_info.model_info.labels"),
        ("pt", of_torch("epoch", vec![b'K', 3]), of_torch("epoch", vec![b'K', 4]), "nested.epoch"),
        ("pt", of_torch("n", vec![b'K', 3]), of_torch("n", b"X\x01\0\0\x003".to_vec()), "nested.n"),
        ("pt", of_torch("n", long("1")), of_torch("n", long("2")), "nested.n"),
        ("pt", of_torch("n", listed(b"e", 1)), of_torch("n", listed(b"e", 2)), "nested.n"),
        ("pt", of_torch("n", listed(b"e", 1)), of_torch("n", listed(b"t", 1)), "nested.n"),
        ("pt", of_torch("n", listed(b"e", 1)), of_torch("n", listed(b"e", 1)), ""),
    ];
    each(
        rows.into_iter().enumerate(),
        |(n, (ending, .., names))| format!("{n}: {ending} {names}"),
        |(_, (ending, one, other, names))| {
            let folder = Folder::new();
            folder.put(format!("one.{ending}"), one).put(format!("other.{ending}"), other);
            folder.put("one.bin", [1, 2]).put("other.bin", [1, 2]);
            let (status, line) = (i32::from(!names.is_empty()), format!("metadata differs: {names}\n"));
            let diff = |options: &str, status: i32| {
                let run = folder.run(words(&format!("diff one.{ending} other.{ending}{options}")));
                let printed = String::from_utf8_lossy(&run.stdout).into_owned();
                if run.status == Some(status) { Ok(printed) } else { Err(format!("{options}: {run:?} {printed}")) }
            };
            let printed = [diff("", 0)?, diff(" --metadata", status)?];
            if printed.iter().any(|printed| printed.contains(&line) == names.is_empty()) {
                return Err(format!("{printed:?}, expected {line:?}"));
            }
            let json: serde_json::Value = serde_json::from_str(&diff(" --metadata --json", status)?).expect("JSON");
            let found: Vec<_> =
                json["metadata"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
            if found.join(", ") == *names { Ok(()) } else { Err(format!("{json}, expected {names:?}")) }
        },
    );
}

/// Formats have in common what outputs keep.
#[test]
fn formats_are_compared_by_what_both_can_hold() {
    let folder = Folder::new();
    let keys = [("name", (8, text("m"))), ("tokens", strings(&vec!["t".to_owned(); 20]))];
    folder.put("m.gguf", gguf("w", 32, &keys)).put("m.onnx", onnx(8, &[props("labels", "cat"), opset("", 17)]));
    folder.put("m.pt", torch(&[("epoch", vec![b'K', 3])])).put("m.bin", [1, 2]);
    folder.put("m.xml", openvino(11, r#"<a value="1"/>"#)).put("none.npz", []);
    for file in ["m.gguf", "m.onnx", "m.pt", "m.xml"] {
        for args in ["FILE -o kept.safetensors", "FILE -o other.safetensors --metadata more=1", "FILE -o none.npz"] {
            fs::remove_file(folder.path("none.npz")).ok();
            assert_eq!(folder.run(words(&format!("convert {}", args.replace("FILE", file)))).status, Some(0), "{args}");
        }
        for (other, status) in [("kept.safetensors", 0), ("other.safetensors", 1), ("none.npz", 0)] {
            let run = folder.run(words(&format!("diff {file} {other} --metadata")));
            assert_eq!(run.status, Some(status), "{file} {other}: {}", String::from_utf8_lossy(&run.stdout));
        }
    }
}

/// Files of folders, also those without tensors.
#[test]
fn files_of_folders() {
    let folder = Folder::new();
    let vocabulary = |value: &str| gguf("", 32, &[("model", (8, text(value)))]);
    for (side, name, value) in [("one", "a", "a"), ("same", "a", "a"), ("other", "b", "a"), ("vocabulary", "a", "b")] {
        fs::create_dir(folder.path(side)).expect("a folder");
        folder.put(format!("{side}/m.gguf"), gguf("w", 32, &[("name", (8, text(name)))]));
        folder.put(format!("{side}/vocabulary.gguf"), vocabulary(value));
        folder.put(format!("{side}/n.npy"), npy("|u1", &[1], &[1]));
    }
    for (other, status, expected) in [
        ("same", 0, "equal: 2 same"),
        ("other", 1, "\n  metadata differs: m:name\n"),
        ("vocabulary", 1, "\n  metadata differs: vocabulary:model\n"),
    ] {
        let run = folder.run(words(&format!("diff one {other} --metadata")));
        let printed = String::from_utf8_lossy(&run.stdout);
        assert!(run.status == Some(status) && printed.contains(expected), "{other}: {printed}");
    }
}

#[test]
fn files_without_tensors_say_what_they_have() {
    let folder = Folder::new();
    folder.put("v.gguf", gguf("", 32, &[("model", (8, text("gpt2"))), ("tokens", strings(&vec!["t".to_owned(); 20]))]));
    let printed = folder.run(words("info v.gguf")).printed().expect("status 0");
    assert_eq!(printed, "v.gguf: holds no tensors\nmetadata model = gpt2\nmetadata tokens = [20 strings]\n");
    let json = folder.run(words("info v.gguf --json")).printed().expect("status 0");
    let objects: Vec<serde_json::Value> = serde_json::from_str(&json).expect("an array");
    assert!(objects.len() == 1 && objects[0]["member"].is_null() && objects[0]["format"] == "gguf", "{json}");
    assert!(objects[0]["metadata"]["model"] == "gpt2" && objects[0].get("error").is_none(), "{json}");
}

#[test]
fn long_texts_are_cut() {
    let folder = Folder::new();
    folder.put("a.npy", crate::common::tensor::<u8>(&[1], &[1]).npy());
    for (length, shown) in [(200, "é".repeat(200)), (201, format!("{}… (201 characters)", "é".repeat(200)))] {
        let text = "é".repeat(length);
        let save = ["convert", "a.npy", "-o", "m.safetensors", "--metadata", &format!("licence={text}")];
        folder.run(save).printed().expect("a file");
        let printed = folder.run(["info", "m.safetensors"]).printed().expect("a table");
        assert!(printed.ends_with(&format!("\nmetadata licence = {shown}\n")), "{printed}");
        let json = folder.run(["info", "m.safetensors", "--json"]).printed().expect("JSON");
        let objects: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(objects[0]["metadata"]["licence"], text);
        assert_eq!((&objects[0]["name"], &objects[0]["member"]), (&"arr_0".into(), &"arr_0".into()));
    }
}
