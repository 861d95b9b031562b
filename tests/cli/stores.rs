//! Stores of Zarr as they come: what `info` says of them, chunks that hold only the fill value, consolidated metadata,
//! names of dimensions, groups of one, and shards among other codecs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::{Folder, commands, each, file_of, indices, named, npy, put_operands, words};

fn done(folder: &Folder, args: &str) -> String {
    folder.run(words(args)).printed().unwrap_or_else(|why| panic!("{args}: {why}"))
}

fn metadata(folder: &Folder, key: &str) -> Value {
    serde_json::from_slice(&folder.get(key)).expect("JSON")
}

/// The keys of the chunks of a store, without the `c/` before them.
fn chunks(folder: &Folder, store: &str) -> Vec<String> {
    let keys = folder.tree(store).into_keys().filter_map(|key| Some(key.strip_prefix("c/")?.to_owned()));
    keys.collect::<BTreeSet<_>>().into_iter().collect()
}

/// float32 [4, 6] of zeros, but for the places that are given, counted in C order.
fn sparse(folder: &Folder, name: &str, items: &[(usize, f32)]) {
    let mut all = [0_f32; 24];
    items.iter().for_each(|(at, item)| all[*at] = *item);
    folder.put(name, npy("<f4", &[4, 6], &all.iter().flat_map(|item| item.to_le_bytes()).collect::<Vec<_>>()));
}

#[test]
fn info_says_how_a_store_is_stored() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    done(&folder, "convert d.npy -o s.zarr --chunks 2,3 --shards 4,-1 --codec blosc:lz4:3 --dims y,x");
    let table = done(&folder, "info s.zarr");
    let expected = "s.zarr  float32  [4, 6]  96 B  chunks [2, 3], shards [4, 6], codec blosc:lz4:3, fill 0.0, dims y,x, version 3\n";
    assert!(table.ends_with(expected), "{table}");
    let found: Value = serde_json::from_str(&done(&folder, "info s.zarr --json")).expect("JSON");
    let expected = json!({
        "chunks": [2, 3], "shards": [4, 6], "fill_value": 0.0, "dimension_names": ["y", "x"], "attributes": {},
        "zarr_format": 3,
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "blosc", "configuration":
                {"typesize": 4, "cname": "lz4", "clevel": 3, "shuffle": "shuffle", "blocksize": 0}},
        ],
    });
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[0][key], value, "{key}");
    }
    // of version 2, with items whose highest byte is first, and without a fill value
    let array = json!({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": ">i2", "filters": null, "order": "C",
        "compressor": {"id": "zlib", "level": 1}, "fill_value": 258});
    std::fs::create_dir(folder.path("old.zarr")).expect("a folder");
    folder.put("old.zarr/.zarray", array.to_string());
    folder.put("old.zarr/.zattrs", "{\"_ARRAY_DIMENSIONS\": [\"t\"],\n \"x y\": [1.10, \"a \\\"b\"]}");
    let table = done(&folder, "info old.zarr");
    assert!(table.contains("big-endian, chunks [2], codec zlib:1, fill 258, dims t, version 2\n"), "{table}");
    let found = done(&folder, "info old.zarr --json");
    let expected =
        r#""fill_value": 258, "dimension_names": ["t"], "attributes": {"x y":[1.10,"a \"b"]}, "zarr_format": 2"#;
    assert!(found.contains(expected) && found.contains(r#""name":"numcodecs.zlib""#), "{found}");
    // a fill value stays in another byte order, and beside a tensor that is cast
    done(&folder, "convert old.zarr -o of3.zarr");
    assert!(done(&folder, "info of3.zarr").contains("fill 258"));
    std::fs::create_dir_all(folder.path("pair.zarr/a")).expect("a folder");
    std::fs::create_dir(folder.path("pair.zarr/b")).expect("a folder");
    folder.put("pair.zarr/.zgroup", r#"{"zarr_format": 2}"#);
    for name in ["a", "b"] {
        folder.put(format!("pair.zarr/{name}/.zarray"), array.to_string());
    }
    done(&folder, "convert pair.zarr -o cast.zarr --cast b=int32");
    let cast = done(&folder, "info cast.zarr --json");
    assert!(cast.contains("\"fill_value\": 258") && cast.contains("\"fill_value\": 0"), "{cast}");
    assert!(done(&folder, "convert cast.zarr:b --to json").contains("[258, 258]"));
    folder.put("old.zarr/.zarray", array.to_string().replace("258", "null"));
    assert!(done(&folder, "info old.zarr").contains("fill null"));
    // other formats have nothing of that
    let found: Value = serde_json::from_str(&done(&folder, "info d.npy --json")).expect("JSON");
    assert!(found[0].get("chunks").is_none());
}

#[test]
fn chunks_of_the_fill_value_are_not_stored() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    sparse(&folder, "zeros.npy", &[]);
    // the same value in other bits
    sparse(&folder, "minus.npy", &[(23, -0.0)]);
    let all = ["0/0", "0/1", "1/0", "1/1"];
    // a command that writes o.zarr, and the chunks that it has then
    let rows: [(&str, &[&str]); 10] = [
        ("convert d.npy -o o.zarr --chunks 2,3", &["0/0"]),
        ("convert d.npy -o o.zarr --chunks 2,-1 --codec none", &["0/0"]),
        ("convert zeros.npy -o o.zarr --chunks 2,6 --codec none", &[]),
        ("convert minus.npy -o o.zarr --chunks 2,6 --codec none", &["1/0"]),
        ("convert minus.npy -o o.zarr --chunks 2,3", &["1/1"]),
        ("convert d.npy -o o.zarr --chunks 2,3 --store-empty", &all),
        ("convert zeros.npy -o o.zarr --chunks 2,6 --codec none --store-empty", &["0/0", "1/0"]),
        ("convert d.npy -o o.zarr --chunks 1,3 --shards 2,6", &["0/0"]),
        ("convert d.npy -o o.zarr --chunks 1,3 --shards 2,6 --store-empty", &["0/0", "1/0"]),
        ("slice-scatter d.npy --fill 0 --at :1,:1 -o o.zarr --chunks 2,3", &[]),
    ];
    let result = |command: &str| command.replace("o.zarr", "o.npy").split(" --chunks").next().map(str::to_owned);
    each(
        &rows,
        |(command, _)| (*command).to_owned(),
        |(command, expected)| {
            done(&folder, command);
            assert_eq!(chunks(&folder, "o.zarr"), *expected);
            done(&folder, &result(command).expect("a command"));
            done(&folder, "convert o.zarr -o back.npy");
            assert_eq!(folder.get("back.npy"), folder.get("o.npy"));
            // parts make the same, and know what is done though it is not there
            let whole = folder.tree("o.zarr");
            let parts = command.replace("o.zarr", "p.zarr");
            for part in [2, 1, 1, 3] {
                done(&folder, &format!("{parts} --part {part}/3"));
            }
            done(&folder, &format!("{parts} --finish 3"));
            assert_eq!(folder.tree("p.zarr"), whole);
            std::fs::remove_dir_all(folder.path("p.zarr")).expect("removed");
            Ok(())
        },
    );
    // of whatever operator, the chunks that hold an item other than the fill value
    put_operands(&folder, "<f4", [4, 6], 3, |n| f32::from(u8::from(n % 17 == 1)).to_le_bytes().to_vec());
    each(commands(), String::clone, |line| {
        let command = format!("{} -q", named(line, file_of));
        done(&folder, &format!("{command} -o o.npy"));
        let output = tensorop::read(folder.path("o.npy")).map_err(|error| error.to_string())?;
        let sides = &[2, 2, 3, 1][4 - output.shape().len()..];
        let listed = sides.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let stores = format!("{command} -o o.zarr --chunks {listed}");
        done(&folder, &stores);
        let chunk =
            |at: &Vec<usize>| at.iter().zip(sides).map(|(at, side)| (at / side).to_string()).collect::<Vec<_>>();
        let items = output.bytes().chunks(4);
        let places = indices(output.shape()).into_iter().zip(items).filter(|(_, item)| *item != [0; 4]);
        let expected: BTreeSet<String> = places.map(|(at, _)| chunk(&at).join("/")).collect();
        assert_eq!(chunks(&folder, "o.zarr"), Vec::from_iter(expected));
        done(&folder, "convert o.zarr -o back.npy");
        assert_eq!(folder.get("back.npy"), folder.get("o.npy"));
        let parts = stores.replace("o.zarr", "p.zarr");
        for part in [2, 1, 1, 3] {
            done(&folder, &format!("{parts} --part {part}/3"));
        }
        done(&folder, &format!("{parts} --finish 3"));
        assert_eq!(folder.tree("p.zarr"), folder.tree("o.zarr"));
        std::fs::remove_dir_all(folder.path("p.zarr")).expect("removed");
        Ok(())
    });
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    // another NaN is not the fill value either
    done(&folder, "convert d.npy -o nan.zarr --chunks 2,3");
    let text = String::from_utf8(folder.get("nan.zarr/zarr.json")).expect("a text");
    folder.put("nan.zarr/zarr.json", text.replace(r#""fill_value": 0.0"#, r#""fill_value": "NaN""#));
    let nans = |bits: u32| npy("<f4", &[4, 6], &bits.to_le_bytes().repeat(24));
    folder.put("same.npy", nans(0x7fc0_0000)).put("other.npy", nans(0x7fc0_0001));
    for (updates, stored) in [("same.npy", &all[..1]), ("other.npy", &all[..])] {
        done(&folder, "convert nan.zarr -o o.zarr");
        done(&folder, &format!("slice-scatter o.zarr {updates} --at : --in-place"));
        assert_eq!(chunks(&folder, "o.zarr"), stored, "{updates}");
        done(&folder, &format!("slice-scatter nan.zarr {updates} --at : -o o.zarr"));
        assert_eq!(chunks(&folder, "o.zarr"), stored, "{updates}");
    }
}

#[test]
fn what_the_store_of_data_has_is_stored() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    done(&folder, "convert d.npy -o d.zarr --chunks 2,3");
    done(&folder, "convert d.npy -o full.zarr --chunks 2,3 --store-empty");
    done(&folder, "convert d.npy -o shards.zarr --chunks 1,3 --shards 2,6 --store-empty");
    let all = ["0/0", "0/1", "1/0", "1/1"];
    let rows: [(&str, &[&str]); 12] = [
        ("convert full.zarr -o o.zarr", &all),
        ("convert full.zarr -o o.zarr --codec gzip", &all),
        ("convert full.zarr -o o.zarr --cast float64", &all),
        ("convert full.zarr -o o.zarr --chunks 4,3", &["0/0"]),
        ("slice full.zarr --at 2: -o o.zarr", &["0/0", "0/1"]),
        ("slice full.zarr --at 1: -o o.zarr", &[]),
        ("slice-scatter full.zarr --fill 0 --at : -o o.zarr", &all),
        ("scatter-update full.zarr [0] --fill 0 --axis 0 -o o.zarr", &all),
        ("convert d.zarr -o o.zarr", &["0/0"]),
        ("convert d.zarr -o o.zarr --store-empty", &all),
        ("slice-scatter d.zarr --fill 0 --at : -o o.zarr", &["0/0"]),
        ("convert shards.zarr -o o.zarr --codec gzip", &["0/0", "1/0"]),
    ];
    each(
        &rows,
        |(command, _)| (*command).to_owned(),
        |(command, expected)| {
            done(&folder, command);
            if chunks(&folder, "o.zarr") == *expected {
                Ok(())
            } else {
                Err(format!("{:?}", chunks(&folder, "o.zarr")))
            }
        },
    );
    // in place: a chunk that is there stays, and one that is not there stays away
    let rows: [(&str, &[&str]); 5] = [
        ("slice-scatter w.zarr --fill 0 --at : -i", &["0/0"]),
        ("slice-scatter w.zarr --fill 0 --at : -i --store-empty", &all),
        ("slice-scatter w.zarr --fill 0 --at 2: -i --part 2/2", &["0/0"]),
        ("slice-scatter w.zarr --fill -0.0 --at 2: -i", &["0/0", "1/0", "1/1"]),
        ("scatter-nd w.zarr [[3,5]] [0] --reduction add -i", &["0/0"]),
    ];
    each(
        &rows,
        |(command, _)| (*command).to_owned(),
        |(command, expected)| {
            done(&folder, "convert d.zarr -o w.zarr");
            done(&folder, command);
            if chunks(&folder, "w.zarr") == *expected {
                Ok(())
            } else {
                Err(format!("{:?}", chunks(&folder, "w.zarr")))
            }
        },
    );
    // in a shard, too
    done(&folder, "convert d.npy -o w.zarr --chunks 1,3 --shards 2,6 --codec none");
    let shard = folder.get("w.zarr/c/0/0");
    assert_eq!(shard.len(), 12 + 4 * 16 + 4);
    done(&folder, "slice-scatter w.zarr --fill 0 --at :,: -i");
    assert_eq!(chunks(&folder, "w.zarr"), ["0/0"]);
    assert_eq!(folder.get("w.zarr/c/0/0").len(), shard.len());
    done(&folder, "slice-scatter w.zarr --fill 0 --at :,: -i --store-empty");
    assert_eq!((chunks(&folder, "w.zarr").len(), folder.get("w.zarr/c/0/0").len()), (2, 4 * 12 + 4 * 16 + 4));
    // version 2 may leave it open what a missing chunk holds
    let array = json!({"zarr_format": 2, "shape": [2], "chunks": [1], "dtype": "|u1", "compressor": null,
        "filters": null, "order": "C", "fill_value": null});
    std::fs::create_dir(folder.path("old.zarr")).expect("a folder");
    folder.put("old.zarr/.zarray", array.to_string());
    done(&folder, "slice-scatter old.zarr --fill 0 --at :1 -i");
    assert_eq!(folder.get("old.zarr/0"), [0]);
    folder.put("old.zarr/.zarray", array.to_string().replace(r#""fill_value":null"#, r#""fill_value":0"#));
    done(&folder, "slice-scatter old.zarr --fill 0 --at 1: -i");
    assert!(!folder.path("old.zarr/1").exists());
}

#[test]
fn parts_note_what_is_not_stored() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(12, 1.0)]);
    let command = "convert d.npy -o o.zarr --chunks 1,3";
    done(&folder, &format!("{command} --part 1/2"));
    // units are counted over all parts
    assert_eq!(folder.get(".o.zarr.tensorop/done/1"), b"0 3 -\n");
    done(&folder, &format!("{command} --part 2/2"));
    let size = folder.get(".o.zarr.tensorop/store/c/2/0").len();
    assert_eq!(folder.get(".o.zarr.tensorop/done/2"), format!("4 4 {size}\n5 7 -\n").as_bytes());
    // what is lost is not taken for a chunk that is not stored
    std::fs::remove_file(folder.path(".o.zarr.tensorop/store/c/2/0")).expect("removed");
    let missing = folder.run(words(&format!("{command} --finish 2")));
    assert_eq!((missing.status, String::from_utf8_lossy(&missing.stdout).as_ref()), (Some(1), "2\n"));
    done(&folder, &format!("{command} --part 2/2"));
    done(&folder, &format!("{command} --finish 2"));
    assert_eq!(chunks(&folder, "o.zarr"), ["2/0"]);
}

#[test]
fn consolidated_metadata_are_kept() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    sparse(&folder, "other.npy", &[(5, 2.0)]);
    folder.put("longer.npy", npy("<f4", &[3], &[0; 12]));
    done(&folder, "convert a=d.npy deep/er/b=[1,2,3] -o g.zarr --codec gzip");
    done(&folder, "convert g.zarr -o plain.zarr");
    assert!(metadata(&folder, "plain.zarr/zarr.json").get("consolidated_metadata").is_none());
    let text = String::from_utf8(folder.get("g.zarr/zarr.json")).expect("a text");
    let list = r#""consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}, "node_type""#;
    folder.put("g.zarr/zarr.json", text.replace(r#""node_type""#, list));
    let array = String::from_utf8(folder.get("g.zarr/a/zarr.json")).expect("a text");
    let attributes = "\"attributes\": {\"x\":\n  [1.10]}";
    folder.put("g.zarr/a/zarr.json", array.replace("\"attributes\": {}", attributes));
    let is_true = |store: &str, paths: &[&str]| {
        let found = metadata(&folder, &format!("{store}/zarr.json"));
        let list = &found["consolidated_metadata"];
        assert_eq!((&list["kind"], &list["must_understand"]), (&json!("inline"), &json!(false)), "{store}");
        let entries = list["metadata"].as_object().expect("an object");
        assert_eq!(entries.keys().collect::<Vec<_>>(), paths, "{store}");
        for (path, entry) in entries {
            let mut own = metadata(&folder, &format!("{store}/{path}/zarr.json"));
            if own["node_type"] == "group" {
                own["consolidated_metadata"] = json!({"kind": "inline", "metadata": {}, "must_understand": false});
            }
            assert_eq!(*entry, own, "{store}: {path}");
        }
    };
    done(&folder, "convert g.zarr -o o.zarr");
    is_true("o.zarr", &["a", "deep", "deep/er", "deep/er/b"]);
    let text = String::from_utf8(folder.get("o.zarr/zarr.json")).expect("a text");
    assert!(text.contains("1.10"), "{text}");
    // an edit in place changes nothing that the list says, and what is accepted is in the list
    done(&folder, "slice-scatter o.zarr:a --fill 1 --at : --in-place");
    is_true("o.zarr", &["a", "deep", "deep/er", "deep/er/b"]);
    folder.run(words("diff --accept o.zarr:a longer.npy"));
    is_true("o.zarr", &["a", "deep", "deep/er", "deep/er/b"]);
    assert_eq!(metadata(&folder, "o.zarr/zarr.json")["consolidated_metadata"]["metadata"]["a"]["shape"], json!([3]));
    folder.run(words("diff --accept o.zarr:new other.npy"));
    is_true("o.zarr", &["a", "deep", "deep/er", "deep/er/b", "new"]);
    // one of the group, in a group of its own and not in one
    done(&folder, "slice g.zarr:a --at 1: -o o.zarr --group");
    is_true("o.zarr", &["a"]);
    done(&folder, "slice g.zarr:a --at 1: -o o.zarr");
    assert!(metadata(&folder, "o.zarr/zarr.json").get("consolidated_metadata").is_none());
    // of version 2
    std::fs::create_dir_all(folder.path("old.zarr/x")).expect("folders");
    let array = json!({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1", "compressor": null,
        "filters": null, "order": "C", "fill_value": 0});
    folder.put("old.zarr/.zgroup", r#"{"zarr_format": 2}"#).put("old.zarr/x/.zarray", array.to_string());
    folder.put("old.zarr/.zmetadata", r#"{"metadata": {}, "zarr_consolidated_format": 1}"#);
    done(&folder, "convert old.zarr -o o.zarr --group");
    is_true("o.zarr", &["x"]);
}

#[test]
fn sides_codecs_and_names_that_are_asked_for() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    let codec = |name: &str, level: i64| {
        json!({"name": "blosc", "configuration":
        {"typesize": 4, "cname": name, "clevel": level, "shuffle": "shuffle", "blocksize": 0}})
    };
    let rows = [
        ("--chunks -1,4", "/chunk_grid/configuration/chunk_shape", json!([4, 4])),
        ("--chunks [-1,-1]", "/chunk_grid/configuration/chunk_shape", json!([4, 6])),
        ("--chunks 3,4 --shards -1,-1", "/chunk_grid/configuration/chunk_shape", json!([6, 8])),
        ("--shards=-1,6", "/codecs/0/configuration/chunk_shape", json!([4, 6])),
        ("--codec blosc:lz4", "/codecs/1", codec("lz4", 5)),
        ("--codec blosc:zstd:9", "/codecs/1", codec("zstd", 9)),
        ("--codec zstd:3", "/codecs/1/configuration/level", json!(3)),
        ("--dims y,x", "/dimension_names", json!(["y", "x"])),
    ];
    each(
        &rows,
        |(options, ..)| (*options).to_owned(),
        |(options, at, expected)| {
            done(&folder, &format!("convert d.npy -o o.zarr {options}"));
            done(&folder, "diff d.npy o.zarr");
            let found = metadata(&folder, "o.zarr/zarr.json");
            if found.pointer(at) == Some(expected) { Ok(()) } else { Err(found.to_string()) }
        },
    );
    // operators set names, too, and keep them
    done(&folder, "slice d.npy --at 1: -o o.zarr --dims lat,lon");
    done(&folder, "scatter-update o.zarr [0] --fill 1 --axis 0 -o p.zarr");
    assert_eq!(metadata(&folder, "p.zarr/zarr.json")["dimension_names"], json!(["lat", "lon"]));
    done(&folder, "slice o.zarr --at 1: -o p.zarr --dims a,b");
    assert_eq!(metadata(&folder, "p.zarr/zarr.json")["dimension_names"], json!(["a", "b"]));
    let rows = [
        ("convert d.npy -o q.zarr --dims y", "--dims: y, expected 2 names (shape [4, 6])"),
        ("convert d.npy -o q.npy --dims y,x", "--dims: npy has no names of axes, expected a .zarr as output"),
        ("slice d.npy --at 1: --dims y,x", "--dims: text has no names of axes, expected a .zarr as output"),
        ("convert d.npy -o q.npz --group", "--group: npz has no groups, expected a .zarr as output"),
        ("convert d.npy -o q.npy --store-empty", "--store-empty: npy has no chunks, expected a .zarr as output"),
        ("slice-scatter d.npy --fill 1 --at : -i --store-empty", "DATA d.npy: --store-empty: is not stored in chunks"),
        (
            "convert d.npy -o q.zarr --chunks -2,1",
            "invalid value '-2,1' for '--chunks <[GLOB=]N,N|DIM=N>': expected numbers of 1 or more, or -1 for all, with commas \
             between them, or DIM=N,DIM=N, or either after GLOB=",
        ),
        ("convert d.npy -o q.zarr --dims y,y", "invalid value 'y,y' for '--dims <NAME,NAME>': y twice"),
        (
            "convert d.npy -o q.zarr --codec blosc:lz5",
            "invalid value 'blosc:lz5' for '--codec <CODEC>': blosc packs with lz4, snappy, zlib, zstd",
        ),
        (
            "convert d.npy -o q.zarr --codec blosc:lz4:10",
            "invalid value 'blosc:lz4:10' for '--codec <CODEC>': its level is 0 to 9",
        ),
    ];
    let before = folder.content();
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            assert_eq!(run.status, Some(2));
            assert_eq!(folder.content(), before);
            let first = run.stderr.lines().next().unwrap_or_default().to_owned();
            if first == format!("error: {expected}") { Ok(()) } else { Err(first) }
        },
    );
}

#[test]
fn groups_of_one() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    done(&folder, "convert d.npy d.npy -o two.npz");
    let rows = [
        ("convert t=d.npy -o o.zarr", "t\n"),
        ("convert in/t=d.npy -o o.zarr", "in/t\n"),
        ("convert d.npy -o o.zarr --group", "arr_0\n"),
        ("slice two.npz:arr_1 --at 1: -o o.zarr --group", "arr_1\n"),
        ("convert d.npy -o o.zarr", ""),
        ("slice two.npz:arr_1 --at 1: -o o.zarr", ""),
    ];
    each(
        &rows,
        |(command, _)| (*command).to_owned(),
        |(command, expected)| {
            done(&folder, command);
            assert_eq!(done(&folder, "info o.zarr --members"), *expected);
            Ok(())
        },
    );
}

#[test]
fn variables_that_are_not_read_stop_no_others() {
    let folder = Folder::new();
    sparse(&folder, "d.npy", &[(0, 1.0)]);
    done(&folder, "convert a=d.npy text=d.npy packed=d.npy -o g.zarr");
    let change = |member: &str, from: &str, to: &str| {
        let key = format!("g.zarr/{member}/zarr.json");
        let text = String::from_utf8(folder.get(&key)).expect("a text");
        assert!(text.contains(from), "{text}");
        folder.put(&key, text.replace(from, to));
    };
    change("text", r#""data_type": "float32""#, r#""data_type": "string""#);
    change("packed", r#""name": "zstd""#, r#""name": "numcodecs.lz4""#);
    done(&folder, "convert g.zarr --only a -o o.npz");
    done(&folder, "convert g.zarr --exclude text --exclude packed -o o.zarr --group");
    done(&folder, "diff g.zarr o.zarr --only a");
    done(&folder, "slice g.zarr:a --at 1: -o o.npy");
    done(&folder, "show g.zarr:a");
    done(&folder, "slice-scatter g.zarr:a --fill 2 --at :1 -i");
    let line = "error: FILE g.zarr: 2 tensors cannot be read (\"packed\", \"text\"); \"packed\": zarr.json: codec ";
    let run = folder.run(words("info g.zarr --members"));
    assert!(run.status == Some(2) && run.stdout == b"a\npacked\ntext\n" && run.stderr.starts_with(line), "{run:?}");
    // what cannot be read is listed beside what can
    let run = folder.run(words("info g.zarr"));
    assert!(run.status == Some(2) && run.stderr.starts_with(line), "{run:?}");
    let table = String::from_utf8_lossy(&run.stdout).into_owned();
    for said in ["chunks [4, 6], codec zstd:0", "data_type \"string\" is not known", "\"numcodecs.lz4\" is not known"] {
        assert!(table.contains(said), "{said}: {table}");
    }
    for (member, why) in
        [("text", "data_type \"string\" is not known"), ("packed", "codec \"numcodecs.lz4\" is not known")]
    {
        let run = folder.run(words(&format!("info g.zarr:{member}")));
        assert_eq!((run.status, run.stderr), (Some(2), format!("error: FILE g.zarr:{member}: zarr.json: {why}\n")));
    }
}

#[test]
fn dimensions_of_version_2_become_names() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("old.zarr")).expect("a folder");
    let array = json!({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1", "compressor": null,
        "filters": null, "order": "C", "fill_value": 0});
    folder.put("old.zarr/.zarray", array.to_string());
    folder.put("old.zarr/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["t"], "units": "m", "n": 1.10}"#);
    done(&folder, "convert old.zarr -o new.zarr");
    let text = String::from_utf8(folder.get("new.zarr/zarr.json")).expect("a text");
    assert!(text.contains(r#"{"n":1.10,"units":"m"}"#), "{text}");
    assert_eq!(metadata(&folder, "new.zarr/zarr.json")["dimension_names"], json!(["t"]));
}

#[test]
fn shards_among_other_codecs() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/zarr");
    let rows = [
        ("shards_after_transpose", "chunks [6, 6, 6], codec transpose[2,0,1]+shards of [6,2,3], fill 0.0, version 3"),
        ("shards_before_crc32c", "chunks [4, 5, 6], codec shards of [2,5,3]+crc32c, fill 0.0, version 3"),
        ("shards_in_shards", "chunks [2, 5, 6], shards [4, 5, 6], codec shards of [1,5,3], fill 0.0, version 3"),
    ];
    each(
        &rows,
        |(name, _)| (*name).to_owned(),
        |(name, described)| {
            let folder = Folder::new();
            let from = |ending: &str| golden.join(format!("{name}.{ending}")).display().to_string();
            folder.put("d.npy", std::fs::read(from("npy")).expect("a golden file"));
            // they are kept, copied or packed anew, and changed in place
            done(&folder, &format!("convert {} -o s.zarr", from("zarr")));
            done(&folder, &format!("slice {} --at ::-1 -o turned.zarr", from("zarr")));
            let codecs = metadata(&folder, "s.zarr/zarr.json")["codecs"].clone();
            assert_eq!(codecs, metadata(&folder, "turned.zarr/zarr.json")["codecs"]);
            assert_eq!(
                codecs,
                serde_json::from_slice::<Value>(&std::fs::read(from("zarr") + "/zarr.json").expect("a file"))
                    .expect("JSON")["codecs"]
            );
            assert!(done(&folder, "info s.zarr").contains(described), "{}", done(&folder, "info s.zarr"));
            done(&folder, "slice d.npy --at ::-1 -o turned.npy");
            done(&folder, "diff turned.npy turned.zarr");
            done(&folder, "slice d.npy --at 1:7:2,::-2,3: -o a.npy");
            done(&folder, "slice s.zarr --at 1:7:2,::-2,3: -o b.npy");
            assert_eq!(folder.get("a.npy"), folder.get("b.npy"));
            done(&folder, "slice-scatter d.npy --fill 9 --at 2:5,:1 -o e.npy");
            done(&folder, "slice-scatter s.zarr --fill 9 --at 2:5,:1 -i");
            done(&folder, "diff e.npy s.zarr");
            // what else is asked for has no shards in other codecs
            for options in ["--codec gzip", "--chunks 2,5,3", "--chunks 2,5,3 --shards 4,5,6", "--shards=-1,-1,-1"] {
                done(&folder, &format!("convert s.zarr -o o.zarr {options}"));
                done(&folder, "diff e.npy o.zarr");
            }
            // damage is an error
            for key in folder.tree("s.zarr").into_keys().filter(|key| key.starts_with("c/")) {
                let key = format!("s.zarr/{key}");
                let bytes = folder.get(&key);
                for cut in [0, 7, bytes.len() - 1] {
                    folder.put(&key, &bytes[..cut]);
                    let run = folder.run(words("convert s.zarr -o broken.npy"));
                    assert!(run.status == Some(2) && run.stderr.starts_with("error: IN s.zarr: "), "{}", run.stderr);
                    assert!(!folder.path("broken.npy").exists());
                }
                folder.put(&key, bytes);
            }
            Ok(())
        },
    );
}
