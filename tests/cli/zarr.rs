//! Zarr: what is written, what is kept of the data's own store, what an edit changes and what it leaves.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, commands, each, file_of, named, npy, put_operands, words};

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
                all.push(folder.tree("o.zarr"));
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
    let files = folder.tree("o.zarr");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["c/0/0", "c/1/0", "zarr.json"]);
    let text = String::from_utf8(files["zarr.json"].clone()).expect("a text");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let expected = json!({
        "shape": [40, 30], "data_type": "int32", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [20, 30]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "zarr_format": 3, "node_type": "array", "storage_transformers": []
    });
    assert_eq!(found, expected);
    let info = done(&folder, "info o.zarr --json").expect("info");
    let info: Value = serde_json::from_str(&info).expect("JSON");
    assert_eq!((&info[0]["format"], &info[0]["offset"]), (&"zarr".into(), &Value::Null));
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
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["chunk_grid"]["configuration"]["chunk_shape"], json!([8, 7]));
    // a chunk that another program packed otherwise is copied as it is
    let mut chunk = folder.get("d.zarr/c/0/0");
    chunk[9] = 77; // the system that packed it, which gzip tells
    folder.put("d.zarr/c/0/0", &chunk);
    done(&folder, "scatter-update d.zarr [39] --fill 1 --axis 0 -o o.zarr").expect("written");
    assert_eq!(folder.get("o.zarr/c/0/0"), chunk);
    assert_ne!(folder.get("o.zarr/c/4/0"), folder.get("d.zarr/c/4/0"));
}

#[test]
fn groups_keep_their_attributes() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert a=d.npy deep/er/b=[1,2,3] -o g.zarr").expect("written");
    let group = |attributes: &str| {
        format!("{{\n  \"attributes\": {attributes},\n  \"node_type\": \"group\",\n  \"zarr_format\": 3\n}}")
    };
    let metadata =
        [("zarr.json", r#"{"version": [1.10], "of": 1}"#), ("deep/zarr.json", r#"{"x": 123456789012345678901}"#)];
    for (name, attributes) in metadata {
        folder.put(format!("g.zarr/{name}"), group(attributes));
    }
    done(&folder, "convert c=[1] -o one.npz").expect("written");
    // of version 2
    fs::create_dir_all(folder.path("old.zarr/x/c")).expect("folders");
    folder.put("old.zarr/.zgroup", r#"{"zarr_format": 2}"#).put("old.zarr/.zattrs", r#"{"of": 2, "old": true}"#);
    let array = json!({"zarr_format": 2, "shape": [2, 1], "chunks": [2, 1], "dtype": "<i4", "compressor": null,
        "filters": null, "order": "C", "fill_value": 7});
    folder.put("old.zarr/x/.zarray", array.to_string());
    folder.put("old.zarr/x/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["t", "u"]}"#);
    done(&folder, "convert g.zarr -o h.zarr").expect("written");
    assert!(folder.tree("h.zarr") == folder.tree("g.zarr"));
    // with others, and under other names
    done(&folder, "convert 0=one.npz g.zarr --add -o h.zarr").expect("written");
    assert_eq!(folder.get("h.zarr/zarr.json"), folder.get("g.zarr/zarr.json"));
    done(&folder, "convert g.zarr --rename deep/er/*=deep/* -o h.zarr").expect("written");
    assert_eq!(folder.get("h.zarr/deep/zarr.json"), folder.get("g.zarr/deep/zarr.json"));
    done(&folder, "convert old.zarr g.zarr -o h.zarr").expect("written");
    let both = group(r#"{"of":1,"old":true,"version":[1.10]}"#);
    assert_eq!(String::from_utf8_lossy(&folder.get("h.zarr/zarr.json")), both);
    // the names of axes have a place of their own in version 3
    let x: Value = serde_json::from_slice(&folder.get("h.zarr/x/zarr.json")).expect("JSON");
    assert_eq!(x["dimension_names"], json!(["t", "u"]));
    folder.put("old.zarr/.zattrs", "{");
    let refused = folder.run(words("info old.zarr"));
    assert!(refused.status == Some(2) && refused.stderr.contains("old.zarr:.: .zattrs: "), "{}", refused.stderr);
}

#[test]
fn several_make_a_group() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert a=d.npy deep/er/b=[1,2,3] -o g.zarr").expect("written");
    let names: Vec<String> = folder.tree("g.zarr").into_keys().filter(|name| name.ends_with("zarr.json")).collect();
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
                let before = folder.tree("w.zarr");
                let args = args.replace(" U ", " u.npy ");
                done(&folder, &format!("{} -i", args.replace('W', "w.zarr")))?;
                done(&folder, &format!("{} -o expected.npy", args.replace('W', "d.npy")))?;
                done(&folder, "convert w.zarr -o found.npy")?;
                assert_eq!(folder.get("found.npy"), folder.get("expected.npy"));
                let after = folder.tree("w.zarr");
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
    let before = folder.tree("w.zarr");
    let refused = folder.run(words("slice-scatter w.zarr --fill 1 --at ::2,:3 --in-place"));
    assert_eq!(refused.stderr, "error: DATA w.zarr: chunk c/4/0: cannot be unpacked: incomplete frame\n");
    assert_eq!((refused.status, folder.tree("w.zarr"), hidden(&folder)), (Some(2), before, vec![]));
}

#[test]
fn stores_are_replaced_whole() {
    let folder = Folder::new();
    counting(&folder);
    done(&folder, "convert d.npy -o o.zarr --chunks 8,7").expect("written");
    let before = folder.tree("o.zarr");
    // what is refused, or fails in the middle, leaves the old one
    let chunk = folder.get("o.zarr/c/4/4");
    folder.put("o.zarr/c/4/4", &chunk[..chunk.len() - 2]);
    let refused = folder.run(words("slice o.zarr --at ::-1 -o o.zarr"));
    assert!(refused.status == Some(2) && refused.stderr.contains("chunk c/4/4: "), "{}", refused.stderr);
    folder.put("o.zarr/c/4/4", &chunk);
    assert_eq!((folder.tree("o.zarr"), hidden(&folder)), (before, vec![]));
    // the output may be the input, and what a killed process left goes
    fs::create_dir_all(folder.path(".o.zarr.0.tmp/store/c")).expect("a folder");
    done(&folder, "slice o.zarr --at ::-1 -o o.zarr").expect("replaced");
    assert_eq!(done(&folder, "slice o.zarr --at :1,:3").expect("printed"), "[[1170 1171 1172]]\n");
    assert_eq!(hidden(&folder), Vec::<String>::new());
}

/// A killed run leaves a folder that may hold a whole store. Nobody sees it, it stands in no way, and the next output of that
/// name removes it.
#[test]
fn what_a_killed_run_left_is_no_tensor() {
    for parent in ["g.zarr", "folder"] {
        let folder = Folder::new();
        counting(&folder);
        match parent {
            "g.zarr" => done(&folder, "convert a=d.npy b=d.npy -o g.zarr").map(drop),
            _ => done(&folder, "convert d.npy -o folder/a.npy").map(drop),
        }
        .expect("written");
        let look = |args: &str| (args.to_owned(), folder.run(words(args)));
        let looks =
            || ["info", "info --json", "info --tree", "show", "textconv"].map(|args| look(&format!("{args} {parent}")));
        let before = looks();
        done(&folder, &format!("convert d.npy -o {parent}/.k.zarr.0.tmp/store --to zarr")).expect("a leftover");
        fs::create_dir_all(folder.path(format!("{parent}/.k.zarr.0.tmp/new"))).expect("a folder");
        assert_eq!(looks(), before, "{parent}");
        done(&folder, &format!("diff {parent} {parent}")).expect("equal");
        done(&folder, &format!("convert d.npy -o {parent}/k.zarr")).expect("written");
        assert!(!folder.path(format!("{parent}/.k.zarr.0.tmp")).exists(), "{parent}");
        let listed = done(&folder, &format!("info {parent}")).expect("listed");
        assert!(listed.contains(" k") && listed.contains("total"), "{listed}");
    }
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
        ("convert d.npy -o folder --to zarr", "output folder: is a folder but not a Zarr store, and is not replaced"),
        ("convert d.npy -o there.zarr --no-clobber", "output there.zarr: exists, and --no-clobber keeps it"),
        ("convert d.npy --to zarr", "standard output: zarr is a folder: name it with -o"),
        ("convert d.npy -o o.zarr --order F", "output o.zarr:arr_0: zarr is always in C order"),
        ("convert d.npy -o o.zarr --chunks 4", "--chunks: [4], expected 2 numbers of 1 or more (shape [40, 30])"),
        ("convert d.npy -o o.zarr --chunks 4,4 --shards 6,6", "--shards: [6, 6] are not whole chunks of [4, 4]"),
        ("convert d.npy -o o.npy --chunks 4,4", "--chunks: npy has no chunks, expected a .zarr as output"),
        ("convert ../x=d.npy b=d.npy -o o.zarr", "output o.zarr: \"../x\" cannot be the name of an array in a group"),
        ("convert a=d.npy a/b=d.npy -o o.zarr", "output o.zarr: \"a/b\" would be inside the array \"a\""),
        ("show g.zarr:../d.npy", "FILE g.zarr:../d.npy: has no tensor \"../d.npy\", but \"a\", \"b\""),
        ("show g.zarr:/a", "FILE g.zarr:/a: has no tensor \"/a\"; did you mean \"a\"?"),
        ("show folder", "FILE folder: holds no tensors"),
        (
            "slice g.zarr:a --at :1 -o g.zarr",
            "output g.zarr: holds 1 more tensor (\"b\"), which would be lost: make NEW.npy with -o NEW.npy, then tensorop convert \
             g.zarr a=NEW.npy -o g.zarr",
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

#[test]
fn every_sub_command_takes_a_store_for_a_file() {
    let others = [
        "split D --parts 3 --to safetensors",
        "split D --lengths 9,-1,2 --axis 1 --to npz",
        "show D",
        "show D --at 5:7,:3 --all",
        "show D --image -o p.png",
        "diff D ./d.npy",
        "diff ./d.npy D",
        "diff D changed.npy --json",
        "diff changed.npy D --atol 3",
        "info D --stats --by-axis 1 --histogram --hash",
        "info D",
        "textconv D",
        "convert D --to npy",
        "convert D --to json --cast float16 --lossy",
        "convert D -o p.npy --order F",
    ];
    let forms = ["--to json", "", "--to npy", "--dry-run"].into_iter().cycle();
    let rows = commands().zip(forms).map(|(line, form)| format!("{line} {form}"));
    let rows = rows.chain(others.map(str::to_owned));
    let folder = Folder::new();
    put_operands(&folder, "<i4", [40, 30], 5, |n| (n as i32).to_le_bytes().to_vec());
    done(&folder, "slice-scatter d.npy --fill 5 --at :2,:1 -o changed.npy").expect("written");
    let operands = ["d", "e", "i", "t", "u", "v"];
    let mut group = "convert -o g.zarr --codec gzip".to_owned();
    for name in operands {
        done(&folder, &format!("convert {name}.npy -o {name}.zarr --codec blosc")).expect("written");
        group += &format!(" in/{name}={name}.npy");
    }
    done(&folder, "convert d.npy -o d.zarr --chunks 8,7 --codec blosc").expect("written");
    done(&folder, &group).expect("written");
    // names make tables wider, and only what is named, and the chunks that info tells of, tell them apart
    let plain = |text: &str, names: &dyn Fn(&str) -> String| {
        let names = operands.iter().map(|letter| (names(&letter.to_uppercase()), letter.to_uppercase()));
        let text = names.fold(text.to_owned(), |text, (name, letter)| text.replace(&name, &letter));
        let text = text.replace("in/d: int32", "int32").replace(" (big-endian)", "");
        let lines = text.lines().map(|line| line.split("  chunks [").next().unwrap_or(line));
        let words = lines.flat_map(str::split_whitespace);
        words.map(|word| if word.starts_with("---") { "-" } else { word }).collect::<Vec<_>>().join(" ")
    };
    let run = |row: &str, names: &dyn Fn(&str) -> String| {
        let run = folder.run(words(&named(row, names)));
        let made = ["p.png", "p.npy"].map(|name| {
            let made = fs::read(folder.path(name)).ok();
            let _ = fs::remove_file(folder.path(name));
            made
        });
        (run.status, plain(&String::from_utf8_lossy(&run.stdout), names), plain(&run.stderr, names), made)
    };
    each(rows, String::clone, |row| {
        let expected = run(row, &|letter| format!("./{}", file_of(letter)));
        if expected.0 != Some(0) && !row.starts_with("diff") {
            return Err(format!("{expected:?}"));
        }
        let name = |letter: &str, before: &str, after: &str| format!("{before}{}{after}", letter.to_lowercase());
        let forms: [&dyn Fn(&str) -> String; 4] = [
            &|letter| name(letter, "./", ".zarr"),
            &|letter| name(letter, "", ".zarr/"),
            &|letter| name(letter, "g.zarr:in/", ""),
            &|letter| if letter == "D" { "./d.npy".to_owned() } else { name(letter, "./g.zarr:in/", "") },
        ];
        for (n, form) in forms.into_iter().enumerate() {
            let found = run(row, form);
            if found != expected {
                return Err(format!("form {n}: {found:?}, expected {expected:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn sides_of_a_comparison_in_folders_and_groups() {
    let folder = Folder::new();
    counting(&folder);
    fs::create_dir_all(folder.path("e/in")).expect("folders");
    fs::create_dir_all(folder.path("f")).expect("folders");
    done(&folder, "slice-scatter d.npy --fill 5 --at :1,:2 -o o.npy").expect("written");
    for args in [
        "convert d.npy -o e/in/x.zarr --chunks 9,9",
        "convert a=d.npy b=d.npy -o e/g.zarr",
        "convert a=d.npy b=o.npy -o f/g.zarr --codec blosc",
        "convert g/a=d.npy g/b=o.npy -o h.npz",
    ] {
        done(&folder, args).unwrap_or_else(|why| panic!("{why}"));
    }
    let rows = [
        ("diff e e", 0, "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra"),
        ("diff e f", 1, "different: 1 same, 0 within, 1 different, 1 missing, 0 extra"),
        ("diff e/g.zarr f/g.zarr", 1, "different: 1 same, 0 within, 1 different, 0 missing, 0 extra"),
        ("diff f/g.zarr f/g.zarr --only a", 0, "equal: 1 same, 0 within, 0 different, 0 missing, 0 extra"),
        ("diff e/in e/g.zarr --rename x=a", 1, "different: 1 same, 0 within, 0 different, 0 missing, 1 extra"),
        ("diff e/g.zarr:a e/in/x.zarr", 0, "equal: 1200 items of int32 [40, 30]"),
        ("diff f/g.zarr:b o.npy", 0, "equal: 1200 items of int32 [40, 30]"),
    ];
    each(
        &rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, verdict)| {
            let run = folder.run(words(args));
            let first = String::from_utf8_lossy(&run.stdout).lines().next().unwrap_or_default().to_owned();
            if (run.status, first.as_str()) == (Some(*status), *verdict) {
                Ok(())
            } else {
                Err(format!("{:?} {first:?} {}", run.status, run.stderr))
            }
        },
    );
}

/// An array inside a group that lists its arrays, or has those of another version, is not written beside that list.
#[test]
fn groups_around_an_output_stay_true() {
    let folder = Folder::new();
    counting(&folder);
    for group in ["listed", "old", "plain"] {
        done(&folder, &format!("convert a=d.npy b=d.npy --to zarr -o {group}")).expect("written");
    }
    let text = String::from_utf8(folder.get("listed/zarr.json")).expect("a text");
    let listed = "\"consolidated_metadata\": {\"kind\": \"inline\", \"must_understand\": false, \"metadata\": {}}, \"zarr_format\"";
    folder.put("listed/zarr.json", text.replace("\"zarr_format\"", listed)).put("old/.zgroup", r#"{"zarr_format": 2}"#);
    let before = folder.content();
    for (group, why) in
        [("listed", "whose consolidated metadata would no longer be true"), ("old", "a group of version 2")]
    {
        for array in ["a", "new"] {
            let args = format!("slice d.npy --at :2 --to zarr -o {group}/{array}");
            folder
                .refuses(words(&args), &[&format!("output {group}/{array}: is inside {group}, {why}")])
                .expect("refused");
        }
    }
    assert!(folder.content() == before);
    done(&folder, "slice d.npy --at :2 --to zarr -o plain/a").expect("written");
}

#[test]
fn what_was_found_is_accepted() {
    let new = || {
        let folder = Folder::new();
        counting(&folder);
        done(&folder, "slice-scatter d.npy --fill 5 --at :1,2:3 -o o.npy").expect("written");
        done(&folder, "slice d.npy --at :3 --to npy -o short.npy").expect("written");
        done(&folder, "convert d.npy -o s.zarr --chunks 8,7 --codec gzip:2").expect("written");
        done(&folder, "convert a=s.zarr deep/b=d.npy -o g.zarr").expect("written");
        done(&folder, "convert a=d.npy b=d.npy --to zarr -o store").expect("written");
        done(&folder, "convert d.npy -o one.npz").expect("written");
        for store in ["s.zarr", "g.zarr/a", "g.zarr", "g.zarr/deep"] {
            let text = String::from_utf8(folder.get(format!("{store}/zarr.json"))).expect("a text");
            if text.contains(r#""group""#) {
                let attributes = format!(r#""attributes": {{"of": "{store}"}}"#);
                folder.put(format!("{store}/zarr.json"), text.replace(r#""attributes": {}"#, &attributes));
                continue;
            }
            let text =
                text.replace(r#""attributes": {}"#, r#""attributes": {"unit": "m"}, "dimension_names": ["y", "x"]"#);
            folder.put(format!("{store}/zarr.json"), text);
        }
        folder
    };
    // what is accepted, what is compared then, and what stays as it was
    let rows = [
        ("s.zarr o.npy", "s.zarr o.npy", vec!["s.zarr/zarr.json", "s.zarr/c/1/0", "g.zarr/zarr.json"]),
        ("s.zarr short.npy", "s.zarr short.npy", vec!["g.zarr/zarr.json"]),
        (
            "g.zarr:a o.npy",
            "g.zarr:a o.npy",
            vec![
                "g.zarr/zarr.json",
                "g.zarr/a/zarr.json",
                "g.zarr/a/c/1/0",
                "g.zarr/deep/b/c/0/0",
                "g.zarr/deep/zarr.json",
            ],
        ),
        ("g.zarr:deep/b s.zarr", "g.zarr:deep/b s.zarr", vec!["g.zarr/a/zarr.json", "g.zarr/deep/b/c/0/0"]),
        (
            "g.zarr:deep/b o.npy",
            "g.zarr:deep/b o.npy",
            vec!["g.zarr/a/c/0/0", "g.zarr/deep/b/zarr.json", "g.zarr/zarr.json"],
        ),
        ("g.zarr:new o.npy", "g.zarr:new o.npy", vec!["g.zarr/a/zarr.json", "g.zarr/deep/b/c/0/0"]),
        // a store that is there needs no ending
        ("store:a o.npy", "store:a o.npy", vec!["store/zarr.json", "store/b/zarr.json", "store/b/c/0/0"]),
        ("store:new o.npy", "store:new o.npy", vec!["store/a/c/0/0", "store/b/c/0/0"]),
        // another rank
        ("g.zarr:a [1]", "g.zarr:a [1]", vec!["g.zarr/zarr.json", "g.zarr/deep/b/c/0/0"]),
        ("there.zarr o.npy", "there.zarr o.npy", vec![]),
        ("there.zarr:x o.npy", "there.zarr:x o.npy", vec![]),
        ("there.zarr g.zarr", "there.zarr g.zarr", vec![]),
    ];
    each(
        &rows,
        |(accepted, ..)| (*accepted).to_owned(),
        |(accepted, compared, stay)| {
            let folder = new();
            let before: Vec<Vec<u8>> = stay.iter().map(|name| folder.get(name)).collect();
            let run = folder.run(words(&format!("diff --accept {accepted}")));
            if run.status != Some(0) || !run.stderr.is_empty() {
                return Err(format!("{:?} {}", run.status, run.stderr));
            }
            let said = String::from_utf8_lossy(&run.stdout).into_owned();
            // what is there is compared, and what is not is said to be new
            let is_new = accepted.contains("new") || accepted.contains("there");
            if said.contains(" does not exist") != is_new && *accepted != "there.zarr g.zarr" {
                return Err(said);
            }
            done(&folder, &format!("diff {compared}"))?;
            for (name, before) in stay.iter().zip(before) {
                // of metadata what they say, in whatever order
                let said = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
                if folder.get(name) != before && (said(&before).is_none() || said(&folder.get(name)) != said(&before)) {
                    return Err(format!("{name} has changed"));
                }
            }
            let replaced = folder.get("g.zarr/a/zarr.json");
            if !String::from_utf8_lossy(&replaced).replace(' ', "").contains(r#""unit":"m""#) {
                return Err("lost its attributes".to_owned());
            }
            if hidden(&folder).is_empty() { Ok(()) } else { Err(format!("{:?}", hidden(&folder))) }
        },
    );
    // a group of one stays a group
    let folder = new();
    folder.run(words("diff --accept there.zarr:x/y o.npy"));
    let before = folder.get("there.zarr/x/zarr.json");
    folder.run(words("diff --accept there.zarr:x/y d.npy"));
    done(&folder, "diff there.zarr:x/y d.npy").expect("the same");
    assert_eq!(folder.get("there.zarr/x/zarr.json"), before);
}

#[test]
fn bfloat16_has_an_order_of_bytes() {
    let folder = Folder::new();
    folder.put("d.npy", npy("<V2", &[3], &[0x80, 0x3f, 0, 0x40, 0x40, 0x40]));
    done(&folder, "convert d.npy -o s.zarr --codec none").expect("written");
    let text = String::from_utf8(folder.get("s.zarr/zarr.json")).expect("a text");
    assert!(text.contains(r#""data_type": "bfloat16""#) && text.contains(r#""endian": "little""#), "{text}");
    folder.put("s.zarr/zarr.json", text.replace("little", "big"));
    folder.put("s.zarr/c/0", [0x3f, 0x80, 0x40, 0, 0x40, 0x40]);
    done(&folder, "convert s.zarr -o back.npy").expect("read");
    assert_eq!(folder.get("back.npy"), folder.get("d.npy"));
    done(&folder, "slice-scatter s.zarr --fill 4 --at :1 -i").expect("changed");
    assert_eq!(folder.get("s.zarr/c/0"), [0x40, 0x80, 0x40, 0, 0x40, 0x40]);
}
