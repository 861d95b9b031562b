//! Stores made to harm: one line, soon, that names the chunk or the key, in little memory.

use std::fs;

use serde_json::{Value, json};

use super::{MEMORY, SOON, run, run_in};
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

/// The same with a check sum of the index.
fn summed() -> Value {
    let mut all = sharded();
    let index = &mut all["codecs"][0]["configuration"]["index_codecs"];
    index.as_array_mut().expect("a list").push(json!({"name": "crc32c"}));
    all
}

/// Shards of chunks of one item, or of five by five.
fn shards_of(sides: Value) -> Value {
    let mut all = sharded();
    let chunk = if sides == json!([7, 5]) { json!([5, 5]) } else { json!([1, 1]) };
    all["codecs"][0]["configuration"]["chunk_shape"] = chunk;
    all["chunk_grid"]["configuration"]["chunk_shape"] = sides;
    all
}

/// A shard whose index begins so.
fn shard(offset: u64, len: u64) -> Vec<u8> {
    let index = [offset, len, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX];
    [vec![0; 100], index.iter().flat_map(|number| number.to_le_bytes()).collect()].concat()
}

/// A shard of one chunk, whose index is this.
fn shard_of_one(offset: u64, len: u64) -> Vec<u8> {
    [vec![0; 100], offset.to_le_bytes().to_vec(), len.to_le_bytes().to_vec()].concat()
}

/// A shard before a check sum, or in shards so many levels deep: it is unpacked as a whole.
fn sharded_among(levels: usize, more: &[Value]) -> Value {
    let mut all = sharded();
    for _ in 0..levels {
        let inner = all["codecs"].take();
        let bytes = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
        let sharding = json!({"chunk_shape": [10, 10], "codecs": inner, "index_codecs": bytes});
        all["codecs"] = json!([{"name": "sharding_indexed", "configuration": sharding}]);
    }
    all["codecs"].as_array_mut().expect("a list").extend(more.iter().cloned());
    all
}

/// The same in chunks of sides that a few bytes stand for.
fn huge() -> Value {
    let mut all = sharded_among(0, &[json!({"name": "gzip"})]);
    let side = 1 << 20;
    all["codecs"][0]["configuration"]["chunk_shape"] = json!([side, side]);
    all["chunk_grid"]["configuration"]["chunk_shape"] = json!([side, side]);
    all
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
        ("codecs", codecs(json!(3)), None, "codecs is not a list"),
        ("dtype", json!({"data_type": "string"}), None, "data_type \"string\""),
        ("fill", json!({"fill_value": "x"}), None, "fill_value"),
        ("key", json!({"more": 1}), None, "\"more\" is not known"),
        ("transformers", json!({"storage_transformers": [{"name": "x"}]}), None, "a storage transformer is not known"),
        ("garbage", json!({}), Some(("c/0/1", b"hello".to_vec())), "chunk c/0/1: "),
        ("empty", json!({}), Some(("c/1/1", vec![])), "chunk c/1/1: is empty"),
        ("folder", json!({}), Some(("c/1/0/x", vec![])), "chunk c/1/0: is a folder"),
        ("bomb", gzip(), Some(("c/0/0", bomb)), "chunk c/0/0: "),
        ("short", plain(), Some(("c/0/0", vec![0; 99])), "chunk c/0/0: 99 bytes, expected 100"),
        (
            "cut",
            codecs(json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "blosc"}])),
            Some(("c/0/0", vec![2, 1, 33, 4, 100, 0, 0, 0, 100, 0, 0, 0, 50, 0, 0, 0])),
            "chunk c/0/0: ",
        ),
        (
            "sum",
            codecs(json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}])),
            Some(("c/0/0", vec![0; 104])),
            "chunk c/0/0: has a wrong check sum",
        ),
        (
            "sum-cut",
            codecs(json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}])),
            Some(("c/1/0", vec![0; 3])),
            "chunk c/1/0: no check sum",
        ),
        ("file-for-folder", plain(), Some(("c", vec![0; 100])), "chunk c/0/0: "),
        ("shard-folder", sharded(), Some(("c/0/0/0", vec![])), "shard c/0/0: is a folder"),
        ("shard-sum", summed(), Some(("c/0/0", shard(0, 100))), "shard c/0/0: index: has a wrong check sum"),
        (
            "shards-many",
            shards_of(json!([1 << 20, 1 << 20])),
            None,
            "zarr.json: codec sharding_indexed: too many chunks",
        ),
        ("shards-uneven", shards_of(json!([7, 5])), None, "zarr.json: codec sharding_indexed: chunks"),
        (
            "ranks",
            json!({"shape": vec![1; 65], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": vec![1; 65]}}}),
            None,
            "zarr.json: rank 65",
        ),
        ("shard-empty", sharded(), Some(("c/0/0", vec![])), "shard c/0/0: is empty"),
        ("shard-short", sharded(), Some(("c/0/0", vec![1; 9])), "shard c/0/0: 9 bytes"),
        ("shard-wraps", sharded(), Some(("c/0/0", shard(u64::MAX - 1, 100))), "chunk [0, 0] of c/0/0: "),
        ("shard-far", sharded(), Some(("c/0/0", shard(1 << 40, 100))), "chunk [0, 0] of c/0/0: "),
        ("shard-sum-cut", sharded_among(0, &[json!({"name": "crc32c"})]), Some(("c/0/0", vec![0; 3])), "no check sum"),
        ("shards-deep", sharded_among(25, &[]), Some(("c/0/0", shard_of_one(0, 100))), "chunk [0, 0] of c/0/0: "),
        ("shards-too-deep", sharded_among(200, &[]), None, "zarr.json: recursion limit exceeded"),
        (
            "shards-cut",
            sharded_among(1, &[]),
            Some(("c/0/0", shard_of_one(0, 63))),
            "chunk [0, 0] of c/0/0: 63 bytes, expected",
        ),
        ("shard-before-gzip", huge(), Some(("c/0/0", vec![0; 3])), "bytes, expected at most 4294967296"),
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
            let args = format!("info {store} --stats");
            let outcome = run_in(MEMORY, &folder, &args);
            if !outcome.is_refusal() || !outcome.said.contains(expected) {
                return Err(format!("{args}: {outcome:?}"));
            }
            is_refused(&folder, &store, &["convert FILE -o out.npy", "slice FILE --at ::-1 --to npy"], expected)?;
            if folder.path("out.npy").exists() { Err("made out.npy".to_owned()) } else { Ok(()) }
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
                let outcome = run(&folder, "show s.zarr", None);
                if outcome.is_refusal() { Ok(()) } else { Err(format!("{outcome:?}")) }
            },
        );
        fs::remove_file(folder.path(format!("s.zarr/{name}"))).expect("removed");
    }
}

/// Checks that each of the commands is refused in one line that holds `expected`, soon.
///
/// # Errors
/// The first that is not.
fn is_refused(folder: &Folder, store: &str, commands: &[&str], expected: &str) -> Result<(), String> {
    for args in commands {
        let outcome = run(folder, &args.replace("FILE", store), None);
        if !outcome.is_refusal() || !outcome.said.contains(expected) {
            return Err(format!("{args}: {outcome:?}"));
        }
    }
    Ok(())
}

#[test]
fn links_pipes_and_folders() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let group = json!({"zarr_format": 3, "node_type": "group"}).to_string();
    let store = |name: &str| {
        fs::create_dir_all(folder.path(format!("{name}/c/0"))).expect("folders");
        folder.put(format!("{name}/zarr.json"), metadata(json!({})).to_string());
    };
    ["dangling", "circle", "pipe", "large", "covered"].into_iter().for_each(store);
    fs::create_dir_all(folder.path("covered/c/1/0")).expect("a folder");
    symlink("not here", folder.path("dangling/c/0/0")).expect("a link");
    symlink("0", folder.path("circle/c/0/0")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe/c/0/0")).status();
    assert!(made.is_ok_and(|made| made.success()));
    fs::File::options()
        .write(true)
        .open(folder.path("large/zarr.json"))
        .and_then(|file| file.set_len(1 << 30))
        .expect("long");
    // a folder where the metadata should be: no folder of files, nor one that may be replaced
    ["v3/zarr.json", "v2/.zarray", "group/.zgroup"].iter().for_each(|name| {
        fs::create_dir_all(folder.path(name)).expect("folders");
        folder.put(format!("{name}/kept"), "1");
        let store = name.split('/').next().expect("a name");
        let refused = folder.run(["convert", "[1]", "--to", "zarr", "-o", store]);
        let expected = format!("error: output {store}: is a folder but not a Zarr store, and is not replaced\n");
        assert_eq!((refused.status, refused.stderr), (Some(2), expected));
        assert!(folder.path(name).join("kept").exists());
    });
    // groups in groups, by themselves and by links to what is around them
    let mut deep = folder.path("deep");
    for _ in 0..40 {
        fs::create_dir(&deep).expect("a folder");
        fs::write(deep.join("zarr.json"), &group).expect("written");
        deep.push("g");
    }
    fs::create_dir(folder.path("loop")).expect("a folder");
    folder.put("loop/zarr.json", &group);
    ["a", "b"].into_iter().for_each(|name| symlink(".", folder.path(format!("loop/{name}"))).expect("a link"));
    let rows = [
        ("dangling", "chunk c/0/0: is a link to a missing file"),
        ("circle", "chunk c/0/0: "),
        ("covered", "chunk c/1/0: is a folder, expected a file"),
        ("pipe", "chunk c/0/0: is not a regular file"),
        ("v3", "zarr.json: is a folder, expected a file"),
        ("v2", ".zarray: is a folder, expected a file"),
        ("group", ".zgroup: is a folder, expected a file"),
        ("large", "zarr.json: 1073741824 bytes, expected at most"),
        ("deep", "groups in groups deeper than 32"),
    ];
    let commands = ["convert FILE -o out.npy", "info FILE --stats", "slice FILE --at ::-1 --to npy", "diff FILE FILE"];
    each(&rows, |(name, _)| (*name).to_owned(), |(name, expected)| is_refused(&folder, name, &commands, expected));
    // a group without arrays is no mistake for info
    is_refused(&folder, "loop", &[commands[0], commands[2], commands[3]], "no tensor").expect("refusals");
    assert!(!folder.path("out.npy").exists());
    // all of each chunk changes, and none is read
    let edit = ["slice-scatter FILE --fill 1 --at : -i"];
    each(
        &rows[..4],
        |(name, _)| (*name).to_owned(),
        |(name, expected)| {
            is_refused(&folder, name, &edit, expected)?;
            if folder.path(format!("{name}/c/0/1")).exists() { Err("it has changed".to_owned()) } else { Ok(()) }
        },
    );
}

#[test]
fn edits_of_more_chunks_than_there_is_memory_for() {
    let folder = Folder::new();
    fs::create_dir(folder.path("s.zarr")).expect("a folder");
    let mut all = metadata(grid(json!([1, 1])));
    all["shape"] = json!([1, 1_u64 << 36]);
    folder.put("s.zarr/zarr.json", all.to_string());
    is_refused(&folder, "s.zarr", &["slice-scatter FILE --fill 1 --at : -i"], "more than there is memory for")
        .expect("refused");
    // a few of so many are changed
    for args in ["slice-scatter s.zarr --fill 1 --at :,-2: -i", "scatter-nd s.zarr [[0,5],[0,-3]] [7,8] -i"] {
        let outcome = run_in(MEMORY, &folder, args);
        assert!(outcome.status == Some(0) && outcome.took < SOON, "{args}: {outcome:?}");
    }
    let found = folder.run(["slice", "s.zarr", "--at", ":,-4:"]).printed();
    assert_eq!(found, Ok("[[0. 8. 1. 1.]]\n".to_owned()));
}

#[test]
fn endless_counts_cost_what_is_looked_at() {
    let folder = Folder::new();
    fs::create_dir(folder.path("s.zarr")).expect("a folder");
    let mut all = metadata(grid(json!([1])));
    all["shape"] = json!([1_u64 << 40]);
    folder.put("s.zarr/zarr.json", all.to_string());
    for args in ["show s.zarr", "info s.zarr", "slice s.zarr --at -3:"] {
        let outcome = run_in(MEMORY, &folder, args);
        assert!(outcome.status == Some(0) && outcome.took < SOON, "{args}: {outcome:?}");
    }
}
