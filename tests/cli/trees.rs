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

/// What a file, a group and a shard hold, by dtype: the most bytes first.
#[test]
fn sums_by_dtype_and_by_shard() {
    let folder = folder();
    let lines = |args: &str| -> Vec<String> {
        let printed = folder.run(words(args)).printed().expect("a table");
        printed.lines().map(|line| words(line).join(" ")).collect()
    };
    let sums = ["dtype tensors items size", "float32 2 4 16 B", "int64 1 2 16 B", "|V3 1 1 3 B", "uint8 2 2 2 B"];
    assert_eq!(lines("info m.npz")[10..], sums);
    let of_files = lines("info m.npz d.npy m.npz");
    assert_eq!(of_files[of_files.len() - 11..], [&sums[..1], &["m.npz"], &sums[1..], &["m.npz"], &sums[1..]].concat());
    let tree = lines("info m.npz --tree");
    let of_root = "m.npz 6 9 37 B float32 2 tensors 4 items 16 B, int64 1 tensor 2 items 16 B, |V3 1 tensor 1 item 3 B, uint8 2 \
                   tensors 2 items 2 B";
    assert_eq!(
        (tree[1].as_str(), tree[3].as_str()),
        (of_root, "l.{0..1} 4 6 18 B float32 2 tensors 4 items 16 B, uint8 2 tensors 2 items 2 B")
    );
    let shards = "convert m.npz --exclude v -o m.safetensors.index.json --max-shard-size 0.02KB";
    folder.run(words(shards)).printed().expect("shards");
    let listed = lines("info m.safetensors.index.json");
    let of_shards = listed.iter().filter(|line| line.starts_with("m-0")).cloned().collect::<Vec<_>>();
    let expected = ["m-00001-of-00002.safetensors 2 3 17 B", "m-00002-of-00002.safetensors 3 5 17 B"];
    assert_eq!(of_shards, expected, "{listed:#?}");
    // one dtype, or a file for each tensor, says nothing new
    assert!(!lines("info d.npy d.npy").iter().any(|line| line.starts_with("dtype")));
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
    let dtypes =
        json!({"float32": {"tensors": 2, "items": 4, "bytes": 16}, "uint8": {"tensors": 2, "items": 2, "bytes": 2}});
    assert_eq!(group["dtypes"], dtypes);
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
