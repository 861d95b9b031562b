//! `info --tree` with statistics and as JSON.

use serde_json::{Value, json};

use crate::common::{Folder, npz, tensor, words};

fn folder() -> Folder {
    let folder = Folder::new();
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let model = [
        ("head", tensor::<i64>(&[2], &[-5, 0]).npy()),
        ("l.0.b", tensor::<u8>(&[1], &[7]).npy()),
        ("l.0.w", tensor::<f32>(&[2], &[1.5, nan]).npy()),
        ("l.1.b", tensor::<u8>(&[1], &[9]).npy()),
        ("l.1.w", tensor::<f32>(&[2], &[-2.5, inf]).npy()),
        ("v", crate::common::npy("|V3", &[1], b"abc")),
    ];
    folder.put("m.npz", npz(&model)).put("d.npy", tensor::<f32>(&[2], &[1., 3.]).npy());
    folder
}

#[test]
fn statistics_of_groups() {
    let folder = folder();
    let printed = folder.run(words("info m.npz d.npy --tree --stats")).printed().expect("tables");
    let (tree, stats) = printed.split_once("\n\n").expect("two tables");
    assert_eq!(format!("{tree}\n"), folder.run(words("info m.npz d.npy --tree")).printed().expect("a tree"));
    let lines: Vec<_> = stats.lines().map(|line| words(line).join(" ")).collect();
    let expected = [
        "name min max mean std nan inf zero",
        // the finite items are -5, 0, 7, 1.5, 9 and -2.5
        "m.npz -5 9 1.666666\u{2026} 4.946940\u{2026} 1 1 1",
        "head -5 0 -2.5 2.5 0 0 1",
        "l.{0..1} -2.5 9 3.75 4.534589\u{2026} 1 1 0",
        "b 7 9 8 1 0 0 0",
        "w -2.5 1.5 -0.5 2 1 1 0",
        "v - - - - - - -",
        "d.npy 1 3 2 1 0 0 0",
    ];
    assert_eq!(lines, expected, "{stats}");
}

#[test]
fn trees_as_json() {
    let folder = folder();
    let tree = |args: &str| -> Value {
        let printed = folder.run(words(&format!("info {args} --json --tree"))).printed().expect("JSON");
        serde_json::from_str(&printed).expect("JSON")
    };
    let plain = tree("m.npz d.npy");
    assert_eq!(
        plain[1],
        json!({"file": "d.npy", "tensors": 1, "dtype": "float32", "shape": [2], "items": 2, "bytes": 8, "children": []})
    );
    let group = &plain[0]["children"][1];
    let w =
        json!({"name": "w", "tensors": 2, "dtype": "float32", "shape": [2], "items": 4, "bytes": 16, "children": []});
    assert_eq!(
        (&group["name"], &group["tensors"], &group["items"], &group["dtype"]),
        (&json!("l.{0..1}"), &json!(4), &json!(6), &Value::Null)
    );
    assert_eq!(group["children"][1], w);
    let with_stats = tree("m.npz --stats");
    let stats = &with_stats[0]["stats"];
    assert_eq!(stats["min"], json!({"value": -5, "tensor": "head", "index": [0]}));
    assert_eq!(stats["max"], json!({"value": 9, "tensor": "l.1.b", "index": [0]}));
    assert_eq!([&stats["nan"], &stats["inf"], &stats["zero"]], [&json!(1), &json!(1), &json!(1)]);
    assert_eq!(with_stats[0]["children"][1]["stats"]["mean"], json!(3.75));
    assert_eq!(with_stats[0]["children"][2]["stats"], Value::Null);
    assert_eq!(folder.run(words("info m.npz --json --tree --only head --members")).status, Some(2));
    folder.refuses(words("info m.npz --tree --stats --explain"), &["--tree", "--explain"]).expect("refused");
}
