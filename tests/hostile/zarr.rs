//! Stores made to harm: one line, soon, that names the chunk or the key, in little memory.

use std::fs;

use serde_json::{Value, json};

use super::{SOON, run};
use crate::common::{Folder, each};

/// The metadata of float32 [10, 10] in chunks of 5 by 5, with other values for some keys.
fn metadata(other: Value) -> Value {
    let mut all = json!({
        "shape": [10, 10], "data_type": "float32", "fill_value": 0.0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 5]}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"}],
        "zarr_format": 3, "node_type": "array"
    });
    for (key, value) in other.as_object().expect("an object") {
        all[key] = value.clone();
    }
    all
}

fn grid(sides: Value) -> Value {
    json!({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": sides}}})
}

fn codecs(list: Value) -> Value {
    json!({"codecs": list})
}

/// One shard of four chunks.
fn sharded() -> Value {
    let bytes = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let sharding = json!({"chunk_shape": [5, 5], "codecs": bytes, "index_codecs": bytes});
    let mut all = grid(json!([10, 10]));
    all["codecs"] = json!([{"name": "sharding_indexed", "configuration": sharding}]);
    all
}

/// A shard whose index begins so.
fn shard(offset: u64, len: u64) -> Vec<u8> {
    let index = [offset, len, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX];
    [vec![0; 100], index.iter().flat_map(|number| number.to_le_bytes()).collect()].concat()
}

#[test]
fn stores() {
    // 2^28 zeros and no more than a few KiB of gzip
    let bomb = {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 1 << 25), &mut packer).expect("packed");
        packer.finish().expect("packed")
    };
    let gzip = || codecs(json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip"}]));
    let plain = || codecs(json!([{"name": "bytes", "configuration": {"endian": "little"}}]));
    // the name of the store, its metadata, a file in it, what is said
    type Row<'a> = (&'a str, Value, Option<(&'a str, Vec<u8>)>, &'a str);
    let rows: Vec<Row<'_>> = vec![
        ("shape-huge", json!({"shape": [1_u64 << 62, 1_u64 << 62]}), None, "zarr.json: shape"),
        ("shape-negative", json!({"shape": [-1, 3]}), None, "zarr.json: shape [-1,3]"),
        ("rank", grid(json!([5])), None, "zarr.json: chunk_shape [5]"),
        ("side-0", grid(json!([0, 5])), None, "zarr.json: chunk_shape [0, 5]"),
        ("side-huge", grid(json!([1_u64 << 31, 1_u64 << 31])), None, "zarr.json: chunk_shape"),
        ("chunk-large", grid(json!([1 << 20, 1 << 8])), Some(("c/0/0", vec![1; 50])), "chunk c/0/0: "),
        ("codec", codecs(json!([{"name": "bytes"}, {"name": "foo"}])), None, "codec \"foo\""),
        ("no-codec", codecs(json!([])), None, "no codec bytes"),
        ("codecs", codecs(json!(3)), None, "no list codecs"),
        ("dtype", json!({"data_type": "string"}), None, "data_type \"string\""),
        ("fill", json!({"fill_value": "x"}), None, "fill_value"),
        ("key", json!({"more": 1}), None, "\"more\" is not known"),
        ("transformers", json!({"storage_transformers": [{"name": "x"}]}), None, "storage_transformers"),
        ("garbage", json!({}), Some(("c/0/1", b"hello".to_vec())), "chunk c/0/1: "),
        ("empty", json!({}), Some(("c/1/1", vec![])), "chunk c/1/1: is empty"),
        ("folder", json!({}), Some(("c/1/0/x", vec![])), "chunk c/1/0: is a folder"),
        ("bomb", gzip(), Some(("c/0/0", bomb)), "chunk c/0/0: "),
        ("short", plain(), Some(("c/0/0", vec![0; 99])), "chunk c/0/0: 99 bytes, expected 100"),
        ("shard-empty", sharded(), Some(("c/0/0", vec![])), "shard c/0/0: is empty"),
        ("shard-short", sharded(), Some(("c/0/0", vec![1; 9])), "shard c/0/0: 9 bytes"),
        ("shard-wraps", sharded(), Some(("c/0/0", shard(u64::MAX - 1, 100))), "chunk [0, 0] of c/0/0: "),
        ("shard-far", sharded(), Some(("c/0/0", shard(1 << 40, 100))), "chunk [0, 0] of c/0/0: "),
        ("shard-long", sharded(), Some(("c/0/0", shard(0, 1 << 50))), "chunk [0, 0] of c/0/0: "),
    ];
    let folder = Folder::new();
    each(
        &rows,
        |(name, ..)| (*name).to_owned(),
        |(name, other, chunk, expected)| {
            let store = format!("{name}.zarr");
            fs::create_dir(folder.path(&store)).expect("a folder");
            folder.put(format!("{store}/zarr.json"), metadata(other.clone()).to_string());
            if let Some((key, bytes)) = chunk {
                let path = folder.path(format!("{store}/{key}"));
                fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
                fs::write(path, bytes).expect("a chunk");
            }
            for args in ["convert FILE -o out.npy", "info FILE --stats", "slice FILE --at ::-1 --to npy"] {
                let (status, said, took) = run(&folder, &args.replace("FILE", &store), None);
                let one_line = said.starts_with("error: ") && said.lines().count() == 1;
                if status != Some(2) || !one_line || !said.contains(expected) || took > SOON {
                    return Err(format!("{args}: {status:?} after {took:?}: {said}"));
                }
                assert!(!folder.path("out.npy").exists());
            }
            Ok(())
        },
    );
}

#[test]
fn metadata_that_is_none() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let rows = [
        "",
        "{",
        "[]",
        "3",
        "\"x\"",
        "{\"zarr_format\":3}",
        "{\"zarr_format\":3,\"node_type\":\"x\"}",
        &deep,
        "\0\u{1}",
    ];
    let folder = Folder::new();
    fs::create_dir_all(folder.path("s.zarr")).expect("a folder");
    for name in ["zarr.json", ".zarray"] {
        each(
            &rows,
            |text| text.chars().take(40).collect(),
            |text| {
                folder.put(format!("s.zarr/{name}"), text);
                let (status, said, took) = run(&folder, "show s.zarr", None);
                let good = status == Some(2) && said.starts_with("error: ") && said.lines().count() == 1 && took < SOON;
                if good { Ok(()) } else { Err(format!("{status:?}: {said}")) }
            },
        );
        fs::remove_file(folder.path(format!("s.zarr/{name}"))).expect("removed");
    }
}

#[test]
fn endless_counts_cost_what_is_looked_at() {
    let folder = Folder::new();
    fs::create_dir(folder.path("s.zarr")).expect("a folder");
    let mut all = metadata(grid(json!([1])));
    all["shape"] = json!([1_u64 << 40]);
    folder.put("s.zarr/zarr.json", all.to_string());
    for args in ["show s.zarr", "info s.zarr", "slice s.zarr --at -3:"] {
        let (status, said, took) = run(&folder, args, None);
        assert!(status == Some(0) && took < SOON, "{args}: {status:?} after {took:?}: {said}");
    }
}
