//! What a store of Zarr holds is listed by content: arrays below folders without metadata and in other arrays, files that are
//! neither metadata nor chunks, and metadata that Python has written or that is damaged. Nothing of it is lost.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, Run, each, words};

fn done(folder: &Folder, args: &str) -> String {
    folder.run(words(args)).printed().unwrap_or_else(|why| panic!("{args}: {why}"))
}

fn put(folder: &Folder, path: &str, content: impl AsRef<[u8]>) {
    let parent = folder.path(path).parent().expect("a folder").to_owned();
    fs::create_dir_all(parent).expect("folders");
    folder.put(path, content.as_ref());
}

const GROUP: &str = r#"{"zarr_format": 3, "node_type": "group"}"#;

/// The metadata of uint8 [4] in chunks of two, with other members in the place of its own.
fn metadata(others: Value) -> Value {
    let mut all = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "codecs": [{"name": "bytes"}],
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    });
    all.as_object_mut().expect("an object").extend(others.as_object().expect("an object").clone());
    all
}

/// Puts uint8 [4] with the items 1, 2, 3 and 4.
fn array(folder: &Folder, path: &str) {
    put(folder, &format!("{path}/zarr.json"), metadata(json!({})).to_string());
    put(folder, &format!("{path}/c/0"), [1, 2]);
    put(folder, &format!("{path}/c/1"), [3, 4]);
}

/// Puts the same in version 2, where chunks of two axes lie in folders called by numbers.
fn array_of_v2(folder: &Folder, path: &str) {
    let metadata = json!({"zarr_format": 2, "shape": [2, 2], "chunks": [1, 2], "dtype": "|u1", "compressor": null,
        "filters": null, "order": "C", "fill_value": 0, "dimension_separator": "/"});
    put(folder, &format!("{path}/.zarray"), metadata.to_string());
    put(folder, &format!("{path}/0/0"), [1, 2]);
    put(folder, &format!("{path}/1/0"), [3, 4]);
}

/// A store with arrays wherever a path can lead to one.
fn arrays_everywhere() -> Folder {
    let folder = Folder::new();
    put(&folder, "g.zarr/zarr.json", GROUP);
    ["x", "foo/bar/baz", "x/in/deep", "x/y", "x/c/2"].iter().for_each(|path| array(&folder, &format!("g.zarr/{path}")));
    put(&folder, "g.zarr/x/c/zarr.json", metadata(json!({"shape": [0]})).to_string());
    array_of_v2(&folder, "g.zarr/old");
    array_of_v2(&folder, "g.zarr/old/7");
    // of the folder of all chunks only the folders of chunks are not searched, nor is what this program has not finished
    array(&folder, "g.zarr/y/c/in/it");
    array(&folder, "g.zarr/y/c/3");
    array(&folder, "g.zarr/y/c/4/no");
    array(&folder, "g.zarr/y");
    array(&folder, "g.zarr/old/1/no");
    array(&folder, "g.zarr/.hidden");
    array(&folder, "g.zarr/.implicit/deep");
    array(&folder, "g.zarr/.x.0.tmp/no");
    fs::create_dir_all(folder.path("g.zarr/empty/folders")).expect("folders");
    folder
}

#[test]
fn every_array_is_a_member() {
    let folder = arrays_everywhere();
    let names =
        ".hidden\n.implicit/deep\nfoo/bar/baz\nold\nold/7\nx\nx/c\nx/c/2\nx/in/deep\nx/y\ny\ny/c/3\ny/c/in/it\n";
    assert_eq!(done(&folder, "info g.zarr --members"), names);
    let rows = [
        ("slice g.zarr:foo/bar/baz --at :", "[1 2 3 4]\n"),
        ("slice g.zarr:x/in/deep --at 1:", "[2 3 4]\n"),
        ("slice g.zarr:x/c/2 --at 1:", "[2 3 4]\n"),
        ("slice g.zarr:.hidden --at 1:", "[2 3 4]\n"),
        ("slice g.zarr/.implicit:deep --at 1:", "[2 3 4]\n"),
        ("slice g.zarr:old/7 --at 1:", "[[3 4]]\n"),
        // a path leads to what is not listed, too
        ("slice g.zarr:y/c/4/no --at 1:", "[2 3 4]\n"),
        ("slice g.zarr/foo:bar/baz --at :1", "[1]\n"),
        ("concat g.zarr:foo/bar/* g.zarr:x", "[1 2 3 4 1 2 3 4]\n"),
        ("diff g.zarr:x g.zarr:foo/bar/baz", "equal: 4 items of uint8 [4]\n"),
        ("slice-scatter g.zarr:foo/bar/baz --fill 9 --at 1:2 -i", ""),
        ("slice g.zarr:foo/bar/baz --at :", "[1 9 3 4]\n"),
        ("convert g.zarr --only foo/* -o foo.npz -q", ""),
        ("info foo.npz --members", "foo/bar/baz\n"),
        ("convert g.zarr --only foo/* -o foo.zarr -q", ""),
        ("slice foo.zarr:foo/bar/baz --at :", "[1 9 3 4]\n"),
    ];
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
    // what one side lacks is told
    done(&folder, "convert g.zarr:x -o one.zarr --group");
    let found = folder.run(words("diff g.zarr one.zarr"));
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    assert_eq!(found.status, Some(1), "{text}");
    assert!(text.contains("1 same, 0 within, 0 different, 12 missing, 0 extra"), "{text}");
    let wrong = folder.run(words("show g.zarr:foo/bar/baq"));
    assert_eq!(
        wrong.stderr,
        "error: FILE g.zarr:foo/bar/baq: has no tensor \"foo/bar/baq\"; did you mean \"foo/bar/baz\"?\n"
    );
}

#[test]
fn an_array_that_holds_others_is_one_of_them() {
    let folder = Folder::new();
    array(&folder, "r.zarr");
    array(&folder, "r.zarr/y");
    assert_eq!(done(&folder, "info r.zarr --members"), ".\ny\n");
    let rows = [
        ("slice r.zarr --at :1", "[1]\n"),
        ("slice r.zarr:. --at 1:2", "[2]\n"),
        ("slice r.zarr:y --at 3:", "[4]\n"),
        ("slice-scatter r.zarr --fill 9 --at :1 -i", ""),
        ("slice r.zarr/y --at :1", "[1]\n"),
        ("slice r.zarr --at :1", "[9]\n"),
        ("slice r.zarr --at :1 -o one.zarr", ""),
        ("info one.zarr --members", ""),
        ("convert r.zarr -o both.npz", ""),
        ("info both.npz --members", ".\ny\n"),
    ];
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
    let refused = folder.run(words("convert r.zarr -o copy.zarr"));
    assert_eq!(refused.stderr, "error: output copy.zarr: \".\" cannot be the name of an array in a group\n");
    let before = folder.content();
    let refused = folder.run(words("slice r.zarr --at :1 -o r.zarr"));
    assert!(refused.stderr.contains("holds 1 more tensor (\"y\"), which would be lost"), "{}", refused.stderr);
    assert_eq!((refused.status, folder.content()), (Some(2), before));
}

/// Checks that a command is refused with these words, and that it changes nothing.
fn is_refused(folder: &Folder, args: &str, expected: &[&str]) -> Result<(), String> {
    let before = folder.content();
    let run = folder.run(words(args));
    let said = expected.iter().all(|text| run.stderr.contains(text));
    match (run.status, said, folder.content() == before) {
        (Some(2), true, true) => Ok(()),
        (_, _, is_unchanged) => Err(format!("unchanged: {is_unchanged}, {run:?}")),
    }
}

#[test]
fn arrays_are_not_lost() {
    let folder = Folder::new();
    put(&folder, "g.zarr/zarr.json", GROUP);
    ["x", "foo/bar/baz", "x/y", "x/z/c/n"].iter().for_each(|path| array(&folder, &format!("g.zarr/{path}")));
    // the list of all metadata has less than there is
    let list = json!({"zarr_format": 3, "node_type": "group", "consolidated_metadata":
        {"kind": "inline", "must_understand": false, "metadata": {"x": metadata(json!({}))}}});
    put(&folder, "listed.zarr/zarr.json", list.to_string());
    ["x", "more"].iter().for_each(|path| array(&folder, &format!("listed.zarr/{path}")));
    folder.put("new.npy", crate::common::npy("uint8", &[4], &[5; 4]));
    let lost = "holds 3 more tensors (\"foo/bar/baz\", \"x/y\", \"x/z/c/n\"), which would be lost";
    let rows = [
        ("slice-scatter g.zarr:x --fill 0 --at : -o g.zarr", lost),
        ("slice g.zarr:x --at :1 -o g.zarr", lost),
        ("slice g.zarr/x --at :1 -o g.zarr", lost),
        ("slice-scatter new.npy g.zarr:x --at : -o g.zarr", "holds 4 more tensors"),
        ("convert g.zarr:x g.zarr:x/y -o g.zarr", "holds 2 more tensors (\"foo/bar/baz\", \"x/z/c/n\")"),
        ("convert g.zarr --cast *=float64 -o g.zarr --lossy", "\"x/y\" would be inside the array \"x\""),
        ("slice g.zarr/x --at :1 -o g.zarr/x --to zarr", "holds 2 more tensors (\"y\", \"z/c/n\")"),
        ("slice g.zarr:x --at :1 -o g.zarr/x --to zarr", "holds 2 more tensors (\"y\", \"z/c/n\")"),
        ("slice listed.zarr:x --at :1 -o listed.zarr", "holds 1 more tensor (\"more\")"),
        ("concat listed.zarr:x new.npy -o listed.zarr", "holds 1 more tensor (\"more\")"),
    ];
    each(&rows, |(args, _)| (*args).to_owned(), |(args, expected)| is_refused(&folder, args, &[expected]));
    // what the command names, and what is kept, is no reason
    for (args, names) in [
        ("convert g.zarr --exclude x/y --exclude x/z/* -o g.zarr", "foo/bar/baz\nx\n"),
        ("convert listed.zarr --cast uint16 -o listed.zarr", "more\nx\n"),
        ("slice listed.zarr:x --at :1 -o other.zarr", ""),
        ("convert new.npy -o listed.zarr", ""),
    ] {
        done(&folder, args);
        assert_eq!(done(&folder, &format!("info {} --members", args.rsplit(' ').next().expect("a name"))), names);
    }
}

#[test]
fn an_output_onto_its_own_group_is_a_group() {
    let attributes = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"title": "A"}}"#;
    // a store; the command; the members of its output, which is the last word; whether attributes are kept
    let rows = [
        ("slice-scatter g.zarr:x --fill 0 --at :1 -o g.zarr", "x\n", true),
        ("slice g.zarr:x --at :1 -o g.zarr", "x\n", true),
        ("slice g.zarr --at :1 -o g.zarr", "x\n", true),
        ("convert g.zarr:x --cast int8 -o g.zarr", "x\n", true),
        ("slice a.zarr:. --at :1 -o a.zarr", "", false),
        ("slice a.zarr --at :1 -o a.zarr", "", false),
        ("slice g.zarr:x --at :1 -o new.zarr", "", false),
        // a group without metadata
        ("convert implicit.zarr -o new.zarr", "foo/bar\n", false),
        ("slice implicit.zarr --at :1 -o new.zarr", "foo/bar\n", false),
        ("slice implicit.zarr:foo/bar --at :1 -o new.zarr", "", false),
    ];
    each(
        &rows,
        |(args, ..)| (*args).to_owned(),
        |(args, names, has_attributes)| {
            let folder = Folder::new();
            put(&folder, "g.zarr/zarr.json", attributes);
            ["g.zarr/x", "a.zarr", "implicit.zarr/foo/bar"].iter().for_each(|path| array(&folder, path));
            folder.run(words(args)).printed()?;
            let output = args.rsplit(' ').next().expect("a name");
            let members = done(&folder, &format!("info {output} --members"));
            let text = String::from_utf8_lossy(&folder.get(format!("{output}/zarr.json"))).into_owned();
            match members == *names && text.contains(r#"{"title": "A"}"#) == *has_attributes {
                true => Ok(()),
                false => Err(format!("{members:?}, {text}")),
            }
        },
    );
}

#[test]
fn files_are_not_lost() {
    // a file in the store, and whether an output keeps it by being refused
    let rows = [
        ("README.md", true),
        ("x/notes.txt", true),
        ("x/c/0.partial", true),
        ("x/c/sub/1", true),
        ("x/c.0", true),
        ("folder/config.json", true),
        (".git/HEAD", true),
        ("x/.gitignore", true),
        ("x/c/7/no/zarr.json", true),
        ("new.npy", true),
        // a chunk beyond the end, metadata, and what systems and this program leave behind
        ("x/c/17", false),
        ("x/.zattrs", false),
        (".DS_Store", false),
        ("x/._zarr.json", false),
        (".x.0.tmp/store/zarr.json", false),
        (".x.tensorop/record", false),
    ];
    let commands = [
        "slice-scatter g.zarr:x --fill 0 --at : -o g.zarr",
        "convert g.zarr --cast uint16 -o g.zarr",
        "slice g.zarr --at t=1: -o g.zarr",
        "diff g.zarr new.zarr --accept",
    ];
    each(
        &rows,
        |(file, _)| (*file).to_owned(),
        |(file, is_kept)| {
            for args in commands {
                let folder = Folder::new();
                for (store, items) in [("g.zarr", [1, 2]), ("new.zarr", [5, 6])] {
                    put(&folder, &format!("{store}/zarr.json"), GROUP);
                    array(&folder, &format!("{store}/x"));
                    put(
                        &folder,
                        &format!("{store}/x/zarr.json"),
                        metadata(json!({"dimension_names": ["t"]})).to_string(),
                    );
                    put(&folder, &format!("{store}/x/c/0"), items);
                }
                if !folder.path("g.zarr").join(file).exists() {
                    put(&folder, &format!("g.zarr/{file}"), "{}");
                }
                if *is_kept {
                    let named = format!("{file:?}, not a tensor, which would be lost");
                    is_refused(&folder, args, &[&named]).map_err(|why| format!("{args}: {why}"))?;
                } else if let Err(why) = folder.run(words(args)).printed() {
                    return Err(format!("{args}: {why}"));
                }
            }
            Ok(())
        },
    );
    // a store that is one array
    let folder = Folder::new();
    array(&folder, "a.zarr");
    array(&folder, "b.zarr");
    put(&folder, "a.zarr/README", "x");
    let lost = ["a.zarr: holds \"README\", not a tensor, which would be lost"];
    for args in ["slice a.zarr --at :1 -o a.zarr", "convert a.zarr --cast int8 -o a.zarr"] {
        is_refused(&folder, args, &lost).unwrap_or_else(|why| panic!("{why}"));
    }
    // attributes of a group without arrays, beside those around an array, which an output has
    array(&folder, "g.zarr/sub/a");
    let group = |attributes: &str| format!(r#"{{"zarr_format": 3, "node_type": "group", "attributes": {attributes}}}"#);
    for (name, attributes) in [("", "{}"), ("sub/", r#"{"t": 1}"#), ("cal/", r#"{"gain": 3.5}"#), ("bare/", "{}")] {
        put(&folder, &format!("g.zarr/{name}zarr.json"), group(attributes));
    }
    let lost = ["g.zarr: holds \"cal/zarr.json\", not a tensor, which would be lost"];
    is_refused(&folder, "convert g.zarr -o g.zarr", &lost).unwrap_or_else(|why| panic!("{why}"));
    // beside chunks that are not listed file by file
    array(&folder, "c.zarr");
    array(&folder, "c.zarr/c/more");
    let lost = ["c.zarr: holds 1 more tensor (\"c/more\"), which would be lost"];
    is_refused(&folder, "slice c.zarr --at :1 -o c.zarr", &lost).unwrap_or_else(|why| panic!("{why}"));
    put(&folder, "b.zarr/c/0", [8, 8]);
    is_refused(&folder, "diff a.zarr b.zarr --accept", &["\"README\""]).unwrap_or_else(|why| panic!("{why}"));
    let info = done(&folder, "info a.zarr");
    assert!(info.contains("a.zarr: holds README, which is not a tensor\n"), "{info}");
    put(&folder, "b.zarr/c/0", [1, 2]);
    let compared = folder.run(words("diff a.zarr b.zarr --metadata"));
    let text = String::from_utf8_lossy(&compared.stdout).into_owned();
    assert!(compared.status == Some(1) && text.contains("content differs: README"), "{text}");
    put(&folder, "b.zarr/README", "x");
    assert_eq!(done(&folder, "diff a.zarr b.zarr --metadata"), "equal: 4 items of uint8 [4]\n");
    let converted = folder.run(words("convert a.zarr -o a.npz"));
    assert_eq!(converted.stderr, "IN a.zarr: \"README\" is not a tensor, and is not copied\n");
}

#[test]
fn json_as_python_writes_it() {
    let folder = Folder::new();
    let mark = "\u{feff}";
    let attributes = r#"{"a": NaN, "b": [Infinity, -Infinity, 1e3], "c": "NaN: Infinity"}"#;
    let group = format!(r#"{mark}{{"zarr_format": 3, "node_type": "group", "attributes": {attributes}}}"#);
    put(&folder, "g.zarr/zarr.json", group);
    // fill values of each kind, and what the chunk that is not there holds
    let fills = [
        ("float32", "NaN", "[ 1.  2. nan nan]"),
        ("float64", "Infinity", "[ 1.  2. inf inf]"),
        ("float16", "-Infinity", "[  1.   2. -inf -inf]"),
        ("complex64", "[NaN, -Infinity]", "[ 1. +0.j  2. +0.j nan-infj nan-infj]"),
    ];
    for (dtype, fill, _) in fills {
        let text = metadata(json!({"data_type": dtype, "fill_value": "FILL", "attributes": "ATTRIBUTES",
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}));
        let text = text.to_string().replace("\"FILL\"", fill).replace("\"ATTRIBUTES\"", attributes);
        put(&folder, &format!("g.zarr/{dtype}/zarr.json"), text);
        let items = if dtype == "complex64" { "[[1,0],[2,0]]" } else { "[1,2]" };
        done(&folder, &format!("convert {items} --dtype {dtype} -o part.bin"));
        put(&folder, &format!("g.zarr/{dtype}/c/0"), folder.get("part.bin"));
    }
    for (dtype, fill, printed) in fills {
        assert_eq!(done(&folder, &format!("slice g.zarr:{dtype} --at :")), format!("{printed}\n"), "{fill}");
    }
    // a copy has the same words, and both read alike
    done(&folder, "convert g.zarr -o copy.zarr");
    for path in ["copy.zarr/zarr.json", "copy.zarr/float32/zarr.json"] {
        let text = String::from_utf8(folder.get(path)).expect("text");
        assert!(text.contains(attributes), "{path}: {text}");
    }
    assert!(String::from_utf8_lossy(&folder.get("copy.zarr/float32/zarr.json")).contains("\"fill_value\": \"NaN\""));
    let equal = done(&folder, "diff g.zarr copy.zarr --metadata");
    assert!(equal.starts_with("equal: 4 same") && !equal.contains("differs"), "{equal}");
    // other words are other attributes
    let other = attributes.replace("NaN,", "\"NaN\",").replace("[Infinity,", "[-Infinity,");
    let text = String::from_utf8(folder.get("copy.zarr/float32/zarr.json")).expect("text").replace(attributes, &other);
    put(&folder, "copy.zarr/float32/zarr.json", text);
    let run = folder.run(words("diff g.zarr:float32 copy.zarr:float32 --metadata"));
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status == Some(1) && text.contains("metadata differs: a, b\n"), "{text}");
    // what is printed is JSON
    let printed: Value = serde_json::from_str(&done(&folder, "info g.zarr:float32 --json")).expect("JSON");
    let expected = json!({"a": "NaN", "b": ["Infinity", "-Infinity", 1e3], "c": "NaN: Infinity"});
    assert_eq!(printed[0]["attributes"], expected);
    // version 2, where names of dimensions lie among the attributes, and a list of all metadata
    let array = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<f4", "compressor": null, "filters": null,
        "order": "C", "fill_value": NaN}"#;
    put(&folder, "old.zarr/.zgroup", format!("{mark}{{\"zarr_format\": 2}}"));
    put(&folder, "old.zarr/.zattrs", attributes);
    put(&folder, "old.zarr/t/.zarray", format!("{mark}{array}"));
    put(&folder, "old.zarr/t/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["time"], "missing_value": NaN}"#);
    assert_eq!(done(&folder, "slice old.zarr:t --at time=1:"), "[nan]\n");
    done(&folder, "convert old.zarr -o new.zarr");
    let text = String::from_utf8(folder.get("new.zarr/t/zarr.json")).expect("text");
    assert!(text.contains(r#""attributes": {"missing_value":NaN}"#), "{text}");
    // what Python would not read either
    for (text, expected) in [
        ("{\"zarr_format\": 3, \"node_type\": NaN}", "node_type is neither array nor group"),
        ("{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {\"a\": nan}}", "zarr.json: "),
        ("{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {\"a\": 1NaN}}", "zarr.json: "),
        ("\u{feff}\u{feff}{}", "zarr.json: expected value at line 1 column 1"),
    ] {
        put(&folder, "bad.zarr/zarr.json", text);
        let run = folder.run(words("info bad.zarr"));
        assert!(run.status == Some(2) && run.stderr.contains(expected), "{text}: {run:?}");
    }
}

#[test]
fn fill_values_of_version_2() {
    let rows = [
        ("|b1", "0", "[ True False]"),
        ("|b1", "1", "[ True  True]"),
        ("|b1", "false", "[ True False]"),
        ("|b1", "null", "[ True False]"),
        ("<M8[s]", "null", "['1970-01-01T00:00:01'                 'NaT']"),
        ("<m8[s]", "null", "[    1 'NaT']"),
        (">M8[D]", "null", "['1970-01-02'        'NaT']"),
        ("<M8[s]", "0", "['1970-01-01T00:00:01' '1970-01-01T00:00:00']"),
        ("<i2", "null", "[1 0]"),
        ("<f4", "null", "[1.e-45 0.e+00]"),
        ("<f4", "-Infinity", "[1.e-45   -inf]"),
    ];
    each(
        &rows,
        |(dtype, fill, _)| format!("{dtype} {fill}"),
        |(dtype, fill, expected)| {
            let folder = Folder::new();
            let array = json!({"zarr_format": 2, "shape": [2], "chunks": [1], "dtype": dtype, "compressor": null,
                "filters": null, "order": "C", "fill_value": "FILL"});
            put(&folder, "a.zarr/.zarray", array.to_string().replace("\"FILL\"", fill));
            let size: usize = dtype[2..3].parse().map_err(|_| "no size")?;
            let mut item = vec![0; size];
            item[if dtype.starts_with('>') { size - 1 } else { 0 }] = 1;
            put(&folder, "a.zarr/0", item);
            let printed = folder.run(words("slice a.zarr --at :")).printed()?;
            if printed != format!("{expected}\n") {
                return Err(printed);
            }
            // a copy of version 3 has the same items
            folder.run(words("convert a.zarr -o copy.zarr")).printed()?;
            let compared = folder.run(words("diff a.zarr copy.zarr")).printed()?;
            if compared.starts_with("equal") { Ok(()) } else { Err(compared) }
        },
    );
    let folder = Folder::new();
    let array = json!({"zarr_format": 2, "shape": [2], "chunks": [1], "dtype": "|b1", "compressor": null,
        "filters": null, "order": "C", "fill_value": 2});
    put(&folder, "a.zarr/.zarray", array.to_string());
    let refused = folder.run(words("slice a.zarr --at :"));
    assert!(refused.status == Some(2) && refused.stderr.contains("fill_value: "), "{refused:?}");
}

#[test]
fn what_is_damaged_stops_nothing_else() {
    let folder = Folder::new();
    put(&folder, "g.zarr/zarr.json", GROUP);
    ["good", "sub/good", "broken/inside"].iter().for_each(|path| array(&folder, &format!("g.zarr/{path}")));
    put(&folder, "g.zarr/broken/zarr.json", "{");
    put(&folder, "g.zarr/rank/zarr.json", metadata(json!({"shape": [4, 4]})).to_string());
    put(&folder, "g.zarr/sub/.zattrs", "{");
    put(&folder, "g.zarr/old/.zgroup", "{}");
    put(&folder, "g.zarr/old/.zattrs", "[");
    put(&folder, "g.zarr/text/zarr.json", metadata(json!({"data_type": "string"})).to_string());
    let broken = ["broken", "old", "rank", "text"];
    let info = folder.run(words("info g.zarr"));
    let text = String::from_utf8_lossy(&info.stdout).into_owned() + &info.stderr;
    for name in ["good", "sub/good", "broken/inside"].iter().chain(&broken) {
        assert!(text.contains(&format!("  {name} ")), "{name}: {text}");
    }
    assert_eq!(done(&folder, "slice g.zarr:broken/inside --at :"), "[1 2 3 4]\n");
    // all of them in one run
    let stopped = ["--exclude broken --exclude old --exclude rank", "zarr.json: EOF", "chunk_shape [2]"];
    is_refused(&folder, "convert g.zarr -o o.npz", &["broken", "old", "rank", "text"])
        .unwrap_or_else(|why| panic!("{why}"));
    is_refused(&folder, "convert g.zarr -o o.zarr", &stopped).unwrap_or_else(|why| panic!("{why}"));
    is_refused(&folder, "slice g.zarr --at t=1: -o o.zarr", &stopped).unwrap_or_else(|why| panic!("{why}"));
    is_refused(&folder, "show g.zarr:rank", &["chunk_shape [2]"]).unwrap_or_else(|why| panic!("{why}"));
    let excluded = "--exclude broken --exclude old --exclude rank --exclude text";
    done(&folder, &format!("convert g.zarr {excluded} -o o.npz"));
    assert_eq!(done(&folder, "info o.npz --members"), "broken/inside\ngood\nsub/good\n");
    let compared = folder.run(words("diff g.zarr o.npz"));
    let text = String::from_utf8_lossy(&compared.stdout).into_owned() + &compared.stderr;
    assert_eq!(compared.status, Some(2), "{text}");
    assert!(text.contains("3 same") && broken.iter().all(|name| text.contains(&format!("  {name}"))), "{text}");
    // nor is it lost without a word
    let lost = "slice g.zarr:good --at : -o g.zarr";
    is_refused(&folder, lost, &["6 more tensors", "\"broken\""]).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn damage_of_the_store_itself_stops_none_of_its_arrays() {
    // the metadata of the store, and why they cannot be read
    let rows: &[(&[(&str, &str)], &str)] = &[
        (&[("zarr.json", "{")], "zarr.json: EOF while parsing an object at line 1 column 1"),
        (&[(".zgroup", "{}"), (".zattrs", "[")], ".zattrs: EOF while parsing a list at line 1 column 1"),
    ];
    each(
        rows,
        |(_, why)| (*why).to_owned(),
        |(files, why)| {
            let folder = Folder::new();
            files.iter().for_each(|(name, text)| put(&folder, &format!("g.zarr/{name}"), text));
            is_refused(&folder, "info g.zarr", &[&format!("error: FILE g.zarr: {why}\n")])?;
            array(&folder, "g.zarr/x");
            array(&folder, "g.zarr/sub/y");
            is_refused(&folder, "info g.zarr", &[&format!("error: FILE g.zarr:.: {why}\n")])?;
            let listed = String::from_utf8_lossy(&folder.run(words("info g.zarr")).stdout).into_owned();
            if !["  x ", "  sub/y ", "  . ", why].iter().all(|text| listed.contains(text)) {
                return Err(listed);
            }
            is_refused(&folder, "slice g.zarr:. --at :", &[why])?;
            is_refused(&folder, "convert g.zarr -o o.npz", &[why, "--exclude . leaves it out"])?;
            let lost = "output g.zarr: holds 2 more tensors (\".\", \"sub/y\"), which would be lost";
            is_refused(&folder, "slice g.zarr:x --at :1 -o g.zarr", &[lost])?;
            is_refused(&folder, "diff g.zarr g.zarr", &["1 of 3 tensors cannot be read"])?;
            folder.run(words("slice-scatter g.zarr:x --fill 9 --at :1 -i")).printed()?;
            let printed = folder.run(words("slice g.zarr:x --at :2")).printed()?;
            if printed == "[9 2]\n" { Ok(()) } else { Err(printed) }
        },
    );
}

#[test]
fn two_axes_of_one_name() {
    let folder = Folder::new();
    let square = |names: Value| {
        metadata(json!({"shape": [4, 4], "dimension_names": names,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}}}))
        .to_string()
    };
    put(&folder, "d.zarr/zarr.json", square(json!(["t", "t"])));
    put(&folder, "g.zarr/zarr.json", GROUP);
    put(&folder, "g.zarr/cov/zarr.json", square(json!(["t", "t"])));
    put(&folder, "g.zarr/x/zarr.json", square(json!(["t", "y"])));
    let both = "axes 0 and 1 are both called t: slice by position";
    let rows = [
        ("show d.zarr --at t=0", both),
        ("slice d.zarr --at t=0:1 -o o.npy", both),
        ("slice-scatter d.zarr --fill 9 --at t=0:1 -i", both),
        ("slice g.zarr --at t=0:1 -o o.zarr", "g.zarr:cov: axes 0 and 1 are both called t"),
        (
            "convert d.zarr --chunks t=1 -o o.zarr",
            "--chunks: t=1: axes 0 and 1 are both called t: give a side for each axis",
        ),
        ("convert d.zarr --shards t=4 -o o.zarr", "--shards: t=4: axes 0 and 1 are both called t"),
        ("convert g.zarr --chunks t=1 -o o.zarr", "axes 0 and 1 of \"cov\" are both called t"),
    ];
    each(&rows, |(args, _)| (*args).to_owned(), |(args, expected)| is_refused(&folder, args, &[expected]));
    for (args, expected) in [
        ("slice d.zarr --at 0:1,:2", "[[0 0]]\n"),
        ("slice g.zarr:x --at t=:1,y=:2", "[[0 0]]\n"),
        ("convert d.zarr --chunks 1,4 -o o.zarr", ""),
        ("convert g.zarr --chunks x=t=1 --chunks y=2 -o o.zarr", ""),
        ("slice g.zarr --exclude cov --at t=0:1 -o part.zarr", ""),
        ("diff d.zarr d.zarr", "equal: 16 items of uint8 [4, 4]\n"),
    ] {
        assert_eq!(folder.run(words(args)).printed().as_deref(), Ok(expected), "{args}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    put(&folder, "g.zarr/zarr.json", GROUP);
    array(&folder, "g.zarr/x");
    array(&folder, "other/y");
    fs::create_dir_all(folder.path("g.zarr/a")).expect("a folder");
    for (to, link) in [
        (".", "g.zarr/self"),
        ("..", "g.zarr/up"),
        ("../..", "g.zarr/a/up"),
        ("../x", "g.zarr/x/again"),
        ("../other", "g.zarr/linked"),
        ("../g.zarr/linked", "other/back"),
        ("nowhere", "g.zarr/broken"),
    ] {
        symlink(to, folder.path(link)).unwrap_or_else(|why| panic!("{link}: {why}"));
    }
    assert_eq!(done(&folder, "info g.zarr --members"), "linked/y\nx\n");
    let lost = ["holds 1 more tensor (\"linked/y\") and \"broken\", not a tensor"];
    is_refused(&folder, "slice g.zarr:x --at :1 -o g.zarr", &lost).unwrap_or_else(|why| panic!("{why}"));
    // folders that lie deeper than anybody means are told, and stop nothing
    let deep = ["d"; 50].join("/");
    array(&folder, &format!("g.zarr/{deep}"));
    let info = folder.run(words("info g.zarr"));
    let text = String::from_utf8_lossy(&info.stdout).into_owned() + &info.stderr;
    assert!(text.contains("groups in groups deeper than 32") && text.contains("  x "), "{text}");
    assert_eq!(done(&folder, &format!("slice g.zarr:{deep} --at :1")), "[1]\n");
    let Run { status, stderr, .. } = folder.run(words("slice g.zarr:x --at :1 -o g.zarr"));
    assert!(status == Some(2) && stderr.contains("d/d/d/d"), "{stderr}");
}
