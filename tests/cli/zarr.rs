//! Zarr: what is written, what is kept of the data's own store, what an edit changes and what it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{Folder, each, npy, words};

/// All files in a folder and below, by their paths.
fn tree(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut pending) = (BTreeMap::new(), vec![path.to_owned()]);
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let entry = entry.expect("an entry").path();
            if entry.is_dir() {
                pending.push(entry);
            } else {
                let name = entry.strip_prefix(path).expect("below").to_string_lossy().into_owned();
                files.insert(name, fs::read(&entry).expect("a file"));
            }
        }
    }
    files
}

/// What does not belong there.
fn hidden(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.path("")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with('.')).collect()
}

/// int32 [40, 30] that count, in a file, and as items.
fn counting(folder: &Folder) -> Vec<i32> {
    let items: Vec<i32> = (0..1200).collect();
    folder.put("d.npy", npy("<i4", &[40, 30], &items.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<_>>()));
    items
}

fn done(folder: &Folder, args: &str) -> Result<String, String> {
    folder.run(words(args)).printed().map_err(|error| format!("{args}: {error}"))
}

#[test]
fn the_same_files_for_any_threads_and_windows() {
    let rows = [
        "",
        "--codec none",
        "--codec gzip:9",
        "--codec zstd:-3",
        "--codec blosc",
        "--chunks 7,11",
        "--chunks 40,30 --codec none",
        "--chunks 5,6 --shards 10,12",
        "--chunks 64,64 --codec blosc",
    ];
    let folder = Folder::new();
    counting(&folder);
    each(
        &rows,
        |row| (**row).to_owned(),
        |row| {
            let mut all = Vec::new();
            for (threads, window) in [("1", None), ("3", Some("100")), ("8", Some("1"))] {
                let mut command = folder.command();
                command.args(words(&format!("convert d.npy -o o.zarr {row} --threads {threads}")));
                if let Some(window) = window {
                    command.env("TENSOROP_WINDOW", window);
                }
                command.assert().success();
                all.push(tree(&folder.path("o.zarr")));
            }
            assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{row}");
            done(&folder, "convert o.zarr -o back.npy --threads 3")?;
            assert_eq!(folder.get("back.npy"), folder.get("d.npy"), "{row}");
            done(&folder, "diff d.npy o.zarr")?;
            done(&folder, "slice d.npy --at 30:3:-3,::2 -o a.npy")?;
            done(&folder, "slice o.zarr --at 30:3:-3,::2 -o b.npy")?;
            assert_eq!(folder.get("a.npy"), folder.get("b.npy"), "{row}");
            assert_eq!(hidden(&folder), Vec::<String>::new());
            Ok(())
        },
    );
}

#[test]
fn metadata() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert d.npy -o o.zarr --codec none --chunks 20,30").expect("written");
    let files = tree(&folder.path("o.zarr"));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["c/0/0", "c/1/0", "zarr.json"]);
    let text = String::from_utf8(files["zarr.json"].clone()).expect("a text");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = serde_json::json!({
        "shape": [40, 30], "data_type": "int32", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [20, 30]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "zarr_format": 3, "node_type": "array", "storage_transformers": []
    });
    assert_eq!(found, expected);
    let info = done(&folder, "info o.zarr --json").expect("info");
    let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
    assert_eq!((&info[0]["format"], &info[0]["offset"]), (&"zarr".into(), &serde_json::Value::Null));
}

#[test]
fn what_is_kept_of_the_store_that_data_is_in() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert d.npy -o d.zarr --chunks 8,7 --codec gzip:3").expect("written");
    let text = String::from_utf8(folder.get("d.zarr/zarr.json")).expect("a text");
    // numbers in attributes stay as they were typed
    let attributes =
        r#""attributes": {"big": 123456789012345678901234567890, "x": [1.10]}, "dimension_names": ["y", null]"#;
    folder.put("d.zarr/zarr.json", text.replace(r#""attributes": {}"#, attributes));
    done(&folder, "slice d.zarr --at 2:5 -o s.zarr").expect("written");
    let text = String::from_utf8(folder.get("s.zarr/zarr.json")).expect("a text");
    for kept in ["123456789012345678901234567890", "[1.10]", r#"["y", null]"#, r#""name": "gzip""#] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["chunk_grid"]["configuration"]["chunk_shape"], serde_json::json!([8, 7]));
    // a chunk that another program packed otherwise is copied as it is
    let mut chunk = folder.get("d.zarr/c/0/0");
    chunk[9] = 77; // the system that packed it, which gzip tells
    folder.put("d.zarr/c/0/0", &chunk);
    done(&folder, "scatter-update d.zarr [39] --fill 1 --axis 0 -o o.zarr").expect("written");
    assert_eq!(folder.get("o.zarr/c/0/0"), chunk);
    assert_ne!(folder.get("o.zarr/c/4/0"), folder.get("d.zarr/c/4/0"));
}

#[test]
fn several_make_a_group() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert a=d.npy deep/er/b=[1,2,3] -o g.zarr").expect("written");
    let names: Vec<String> =
        tree(&folder.path("g.zarr")).into_keys().filter(|name| name.ends_with("zarr.json")).collect();
    assert_eq!(names, ["a/zarr.json", "deep/er/b/zarr.json", "deep/er/zarr.json", "deep/zarr.json", "zarr.json"]);
    assert_eq!(done(&folder, "info g.zarr --members").expect("names"), "a\ndeep/er/b\n");
    assert_eq!(done(&folder, "slice g.zarr:deep/er/b --at 1:").expect("printed"), "[2 3]\n");
    done(&folder, "convert g.zarr -o g.npz").expect("written");
    assert_eq!(done(&folder, "info g.npz --members").expect("names"), "a\ndeep/er/b\n");
    done(&folder, "slice-scatter g.zarr:deep/er/b --fill 9 --at :1 --in-place").expect("changed");
    assert_eq!(done(&folder, "slice g.zarr:deep/er/b --at :").expect("printed"), "[9 2 3]\n");
    done(&folder, "convert g.zarr --only a -o g.zarr").expect("replaced");
    assert_eq!(done(&folder, "diff g.zarr d.npy").map(|_| ()), Ok(()));
}

#[test]
fn edits_change_the_touched_chunks_only() {
    let rows = [
        ("scatter-update W [3,39,3] U --axis 0", vec!["c/0/0", "c/0/1", "c/4/0", "c/4/1"]),
        ("scatter-nd W [[0,0],[39,29],[0,0]] [5,6,7] --reduction add", vec!["c/0/0", "c/4/1"]),
        ("slice-scatter W --fill -1 --at 8:9,::7", vec!["c/1/0", "c/1/1"]),
        ("slice-scatter W --fill -1 --at 8:8", vec![]),
    ];
    let folder = Folder::new();
    counting(&folder);
    let updates: Vec<u8> = (0..90_i32).flat_map(i32::to_le_bytes).collect();
    folder.put("u.npy", npy("<i4", &[3, 30], &updates));
    for style in ["--chunks 8,20 --codec zstd", "--chunks 8,20 --codec none", "--chunks 4,10 --shards 8,20"] {
        each(
            &rows,
            |(args, _)| format!("{style}: {args} -i"),
            |(args, touched)| {
                done(&folder, &format!("convert d.npy -o w.zarr {style}"))?;
                let before = tree(&folder.path("w.zarr"));
                let args = args.replace(" U ", " u.npy ");
                done(&folder, &format!("{} -i", args.replace('W', "w.zarr")))?;
                done(&folder, &format!("{} -o expected.npy", args.replace('W', "d.npy")))?;
                done(&folder, "convert w.zarr -o found.npy")?;
                assert_eq!(folder.get("found.npy"), folder.get("expected.npy"));
                let after = tree(&folder.path("w.zarr"));
                let changed: Vec<&String> =
                    after.iter().filter(|(name, bytes)| before[*name] != **bytes).map(|(name, _)| name).collect();
                assert_eq!(&changed, touched);
                assert_eq!((after.len(), hidden(&folder)), (before.len(), vec![]));
                Ok(())
            },
        );
    }
}

#[test]
fn an_edit_that_fails_changes_nothing() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert d.npy -o w.zarr --chunks 8,30").expect("written");
    let chunk = folder.get("w.zarr/c/4/0");
    folder.put("w.zarr/c/4/0", &chunk[..chunk.len() - 2]);
    let before = tree(&folder.path("w.zarr"));
    let refused = folder.run(words("slice-scatter w.zarr --fill 1 --at ::2,:3 --in-place"));
    assert_eq!(refused.stderr, "error: DATA w.zarr: chunk c/4/0: cannot be unpacked: incomplete frame\n");
    assert_eq!((refused.status, tree(&folder.path("w.zarr")), hidden(&folder)), (Some(2), before, vec![]));
}

#[test]
fn stores_are_replaced_whole() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert d.npy -o o.zarr --chunks 8,7").expect("written");
    let before = tree(&folder.path("o.zarr"));
    // what is refused, or fails in the middle, leaves the old one
    let chunk = folder.get("o.zarr/c/4/4");
    folder.put("o.zarr/c/4/4", &chunk[..chunk.len() - 2]);
    let refused = folder.run(words("slice o.zarr --at ::-1 -o o.zarr"));
    assert!(refused.status == Some(2) && refused.stderr.contains("chunk c/4/4: "), "{}", refused.stderr);
    folder.put("o.zarr/c/4/4", &chunk);
    assert_eq!((tree(&folder.path("o.zarr")), hidden(&folder)), (before, vec![]));
    // the output may be the input, and what a killed process left goes
    fs::create_dir_all(folder.path(".o.zarr.0.tmp/store/c")).expect("a folder");
    done(&folder, "slice o.zarr --at ::-1 -o o.zarr").expect("replaced");
    assert_eq!(done(&folder, "slice o.zarr --at :1,:3").expect("printed"), "[[1170 1171 1172]]\n");
    assert_eq!(hidden(&folder), Vec::<String>::new());
}

#[test]
fn refusals() {
    let folder = Folder::new();
    counting(&folder);
    folder.put("file.zarr", "x");
    fs::create_dir_all(folder.path("folder/in")).expect("a folder");
    done(&folder, "convert d.npy -o there.zarr").expect("written");
    done(&folder, "convert a=d.npy b=d.npy -o g.zarr").expect("written");
    let rows = [
        (
            "convert d.npy -o file.zarr",
            "output file.zarr: is a file, expected a folder of its format, or nothing there",
        ),
        (
            "convert d.npy -o folder --to zarr",
            "output folder: is a folder that is not in its format, and is not replaced",
        ),
        ("convert d.npy -o no/o.zarr", "output no/o.zarr: there is no folder no"),
        ("convert d.npy -o there.zarr --no-clobber", "output there.zarr: exists, and --no-clobber keeps it"),
        ("convert d.npy --to zarr", "standard output: zarr is a folder: name it with -o"),
        ("convert d.npy -o o.zarr --order F", "output o.zarr: zarr is always in C order"),
        ("convert d.npy -o o.zarr --chunks 4", "--chunks: [4], expected 2 numbers of 1 or more (shape [40, 30])"),
        ("convert d.npy -o o.zarr --chunks 4,4 --shards 6,6", "--shards: [6, 6] are no whole chunks of [4, 4]"),
        ("convert d.npy -o o.npy --chunks 4,4", "--chunks: npy has no chunks, expected a .zarr as output"),
        ("convert ../x=d.npy b=d.npy -o o.zarr", "output o.zarr: \"../x\" cannot be the name of an array in a group"),
        ("convert a=d.npy a/b=d.npy -o o.zarr", "output o.zarr: \"a/b\" would lie in the array \"a\""),
        ("show g.zarr:../d.npy", "FILE g.zarr:../d.npy: has no tensor \"../d.npy\", but \"a\", \"b\""),
        ("show g.zarr:/a", "FILE g.zarr:/a: has no tensor \"/a\"; did you mean \"a\"?"),
        ("show folder", "FILE folder: is a folder, expected a file"),
        (
            "slice g.zarr:a --at :1 -o g.zarr",
            "output g.zarr: holds 1 more tensors, which would be lost: choose another file (or --in-place)",
        ),
    ];
    let before = folder.content();
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            assert_eq!((run.status, run.stderr), (Some(2), format!("error: {expected}\n")));
            assert_eq!(folder.content(), before);
            Ok(())
        },
    );
}
