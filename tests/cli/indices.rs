//! Models in several files: what an index does not name, what lies beside it, and numbered files without one.

use std::fs;

use crate::common::torch::{items, pickle, view};
use crate::common::{Folder, Run, each, member, npz, safetensors, stored, tensor, words, zip};

/// What a run printed and said.
fn text(run: &Run) -> String {
    format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr)
}

/// A file of tensors of one item each.
fn shard(tensors: &[(&'static str, i32)]) -> Vec<u8> {
    let members: Vec<_> =
        tensors.iter().map(|(name, item)| member(name, "int32", &[1], item.to_le_bytes().to_vec())).collect();
    safetensors(&members)
}

/// The text of an index.
fn index(total: &str, map: &[(&str, &str)]) -> String {
    let map: Vec<_> = map.iter().map(|(name, file)| format!("\"{name}\": \"{file}\"")).collect();
    format!("{{\"metadata\": {{{total}}}, \"weight_map\": {{{}}}}}", map.join(", "))
}

const FIRST: &str = "m-00001-of-00002.safetensors";
const SECOND: &str = "m-00002-of-00002.safetensors";
const INDEX: &str = "m.safetensors.index.json";

/// Adds a model of two shards whose index names a and b, and not c, which is an item of the second shard.
fn put_model(folder: &Folder, name: &str, c: i32, total: &str) {
    fs::create_dir_all(folder.path(name)).expect("a folder");
    folder
        .put(format!("{name}/{FIRST}"), shard(&[("a", 1)]))
        .put(format!("{name}/{SECOND}"), shard(&[("b", 2), ("c", c)]));
    folder.put(format!("{name}/{INDEX}"), index(total, &[("a", FIRST), ("b", SECOND)]));
}

#[track_caller]
fn runs(folder: &Folder, rows: &[(&str, i32, &[&str])]) {
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, status, fragments)| {
            let run = folder.run(words(args));
            let lacks = fragments.iter().find(|fragment| !text(&run).contains(**fragment));
            match (run.status == Some(*status), lacks) {
                (true, None) => Ok(()),
                _ => Err(format!("status {:?}, lacks {lacks:?}: {}", run.status, text(&run))),
            }
        },
    );
}

#[test]
fn tensors_that_no_index_names() {
    let folder = Folder::new();
    put_model(&folder, "one", 3, "");
    put_model(&folder, "other", 4, "");
    put_model(&folder, "same", 3, "");
    put_model(&folder, "complete", 3, "");
    put_model(&folder, "deep/x", 3, "");
    put_model(&folder, "differs/x", 4, "");
    folder.put(format!("complete/{SECOND}"), shard(&[("b", 2)]));
    let line = format!("not in the index: c ({SECOND})");
    let in_json = "\"unlisted\": [\"c\"]";
    let rows: &[(&str, i32, &[&str])] = &[
        ("info one", 0, &[&format!("FILE one: {line}\n")]),
        ("info one/m.safetensors.index.json", 0, &[&format!("FILE one/{INDEX}: {line}\n")]),
        ("info one --json", 0, &[in_json, &line]),
        ("convert one -o one.npz", 0, &[&format!("IN one: {line}\n")]),
        (
            "diff one one",
            0,
            &["equal: 2 same", &format!("  EXPECTED one: {line}\n"), &format!("  ACTUAL one: {line}\n")],
        ),
        ("diff one same", 0, &["equal: 2 same"]),
        ("diff one other", 1, &["different: 2 same", "  different, and not in the index: c\n"]),
        ("diff one other --atol 1", 0, &["equal: 2 same"]),
        ("diff one other --exclude c", 0, &["equal: 2 same"]),
        ("diff one other --only a", 0, &["equal: 1 same"]),
        ("diff one complete", 1, &["different: 2 same", "  different, and not in the index: c\n"]),
        ("diff complete one", 1, &["different: 2 same", "  different, and not in the index: c\n"]),
        ("diff one other -q", 1, &[&format!("; EXPECTED one: {line}; "), "; different, and not in the index: c\n"]),
        ("diff one other --json", 1, &["{\"equal\": false, ", in_json]),
        ("diff one other --first", 1, &["different: 2 same", "  different, and not in the index: c\n"]),
        ("diff one other --first --json", 1, &["{\"equal\": false, ", in_json]),
        ("diff one same --first", 0, &["equal: 2 same"]),
        // a pattern may have the path of the model
        ("diff deep differs --only x/m:*", 1, &["different: 2 same", "  different, and not in the index: c\n"]),
        ("diff deep differs --only x/m:* --exclude x/m:c", 0, &["equal: 2 same"]),
        ("diff one same --json", 0, &["{\"equal\": true, ", in_json]),
        ("diff complete complete --json", 0, &["\"unlisted\": []}"]),
    ];
    runs(&folder, rows);
    let info = folder.run(words("info one --json"));
    assert_eq!(text(&info).matches(in_json).count(), 2, "{}", text(&info));
    assert!(!text(&folder.run(words("info complete --json"))).contains("nlisted"));
    assert_eq!(text(&folder.run(words("convert one -o one.npz -q"))), "");
    // what is not seen is neither accepted nor lost
    let before = (folder.tree("one"), folder.tree("other"));
    folder.refuses(words("diff one other --accept"), &["--accept: c differs", "--exclude"]).expect("refused");
    let lost = "names 1 more tensor, which would be lost (\"c\"): choose another file";
    let others = "names 1 more tensor, which would be lost (\"b\"): choose another file";
    for (args, found) in [
        ("convert one -o one/m.safetensors.index.json", lost),
        ("slice one:a --at : -o one/m.safetensors.index.json", others),
        ("slice one/m.safetensors.index.json:a --at : -o one/m.safetensors.index.json", others),
    ] {
        let run = folder.run(words(args));
        assert!(run.status == Some(2) && run.stderr.contains(found), "{args}: {}", run.stderr);
    }
    assert_eq!((folder.tree("one"), folder.tree("other")), before);
    // a pattern that names it leaves it out, also where it is the only one that it names
    folder
        .run(words("convert one --exclude c -o one/m.safetensors.index.json -q"))
        .printed()
        .expect("left out by name");
    assert_eq!(
        text(&folder.run(words("diff complete one"))).lines().next(),
        Some("equal: 2 same, 0 within, 0 different, 0 missing, 0 extra")
    );
}

/// A tensor that two shards have lies in one of them as far as the index knows.
#[test]
fn each_tensor_is_listed_once() {
    let folder = Folder::new();
    put_model(&folder, "m", 3, "");
    for args in ["info m", "info m/m.safetensors.index.json", "convert m --to npz", "diff m m"] {
        let message = "--only zz: matches no tensor of a whole container: there are \"a\", \"b\"";
        let said = folder.refuses(words(&format!("{args} --only zz")), &[message]).expect("refused");
        assert!(said.trim_end().ends_with(message), "{args}: {said}");
    }
}

#[test]
fn copies_in_other_shards() {
    let folder = Folder::new();
    put_model(&folder, "m", 3, "");
    folder.put(format!("m/{FIRST}"), shard(&[("a", 1), ("b", 7)]));
    runs(&folder, &[("info m", 0, &[&format!("not in the index: b ({FIRST}), c ({SECOND})\n")])]);
}

#[test]
fn sums_of_bytes() {
    let folder = Folder::new();
    // what the index says, and whether that is wrong
    let rows = [
        ("\"total_size\": 8", None),
        // with the tensor that it does not name
        ("\"total_size\": 12", None),
        ("\"total_size\": 8.0", None),
        ("\"total_size\": \"8\"", None),
        ("\"format\": \"pt\"", None),
        ("\"total_size\": 9", Some("9")),
        ("\"total_size\": 0", Some("0")),
        ("\"total_size\": 18446744073709551615", Some("18446744073709551615")),
    ];
    each(
        rows,
        |(total, _)| (*total).to_owned(),
        |(total, said)| {
            put_model(&folder, "m", 3, total);
            let line = said.map(|said| format!("; total_size is {said}, expected 8"));
            for args in ["info m", "info m --json", "convert m -o m.npz", "diff m m", "diff m m -q", "diff m m --json"]
            {
                let run = folder.run(words(args));
                let is_told = text(&run).contains("total_size is");
                if run.status != Some(0)
                    || is_told != line.is_some()
                    || !line.iter().all(|line| text(&run).contains(line))
                {
                    return Err(format!("{args}: {}", text(&run)));
                }
            }
            Ok(())
        },
    );
    // of shards that are not opened nothing is known
    put_model(&folder, "m", 3, "\"total_size\": 9");
    assert_eq!(folder.run(words("info m --only a")).stderr, "");
}

/// Adds a file to `m`, and returns what `info` says of it.
fn beside(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> String {
    put_model(folder, "m", 3, "");
    folder.put(format!("m/{SECOND}"), shard(&[("b", 2)]));
    folder.put(format!("m/{name}"), content);
    let run = folder.run(words("info m --members"));
    fs::remove_file(folder.path("m").join(name)).expect("removed");
    assert_eq!(
        (run.status, String::from_utf8_lossy(&run.stdout).as_ref()),
        (Some(0), "a\nb\n"),
        "{name}: {}",
        run.stderr
    );
    run.stderr
}

#[test]
fn an_index_is_the_model_of_its_folder() {
    let folder = Folder::new();
    let other = shard(&[("x", 1)]);
    let alone = |name: &str| format!("FILE m: {name} is left alone: name it\n");
    let left_over = |name: &str| format!("FILE m: {name} is left over: the index does not name it\n");
    for (name, content, expected) in [
        ("consolidated.safetensors", other.clone(), alone("consolidated.safetensors")),
        ("m.safetensors", other.clone(), alone("m.safetensors")),
        ("model-00001-of-00001.safetensors", other.clone(), alone("model-00001-of-00001.safetensors")),
        ("lora.npz", npz(&[("x", tensor::<u8>(&[1], &[1]).npy())]), alone("lora.npz")),
        ("m-00003-of-00003.safetensors", other.clone(), left_over("m-00003-of-00003.safetensors")),
        ("m-00001-of-00003.SAFETENSORS", other.clone(), left_over("m-00001-of-00003.SAFETENSORS")),
        ("config.json", b"{}".to_vec(), String::new()),
    ] {
        assert_eq!(beside(&folder, name, content), expected);
    }
    put_model(&folder, "m", 3, "");
    folder.put("m/consolidated.safetensors", &other).put(format!("m/{SECOND}"), shard(&[("b", 2)]));
    let line = "consolidated.safetensors is left alone: name it";
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff m m", 0, &["equal: 2 same", &format!("  EXPECTED m: {line}\n"), &format!("  ACTUAL m: {line}\n")]),
        ("diff m m --json", 0, &["\"left_alone\": [\"m/consolidated.safetensors\", "]),
        ("convert m -o m.npz", 0, &[&format!("IN m: {line}\n")]),
        ("show m", 0, &["m:a: int32 [1]\n[1]\n", line]),
        // it is named by its path, or by what its tensors would be called by
        ("show m/consolidated.safetensors", 0, &["m/consolidated.safetensors:x: int32 [1]\n[1]\n"]),
        ("info m --only consolidated:* --members", 0, &["x\n"]),
        ("info m --exclude m:* --members", 0, &["x\n"]),
    ];
    runs(&folder, rows);
    assert_eq!(folder.run(words("slice m:a --at :")).stderr, "");
    // in a folder of models each folder has its own
    fs::create_dir(folder.path("all")).expect("a folder");
    fs::rename(folder.path("m"), folder.path("all/m")).expect("moved");
    folder.put("all/vae.safetensors", &other);
    let run = folder.run(words("info all --members"));
    assert_eq!(text(&run), format!("m/m:a\nm/m:b\nvae:x\nFILE all: m/{line}\n"));
    // an index that cannot be read is none, and all that lies beside it is listed
    folder.put(format!("all/m/{INDEX}"), "{");
    assert!(text(&folder.run(words("info all --members"))).contains("m/consolidated:x\n"));
}

#[test]
fn numbered_files_are_one_model() {
    let folder = Folder::new();
    fs::create_dir(folder.path("m")).expect("a folder");
    let put = |name: &str, tensors: &[(&'static str, i32)]| {
        folder.put(format!("m/{name}"), shard(tensors));
    };
    put(FIRST, &[("a", 1)]);
    put(SECOND, &[("b", 2)]);
    folder.put("both.npz", npz(&[("a", tensor::<i32>(&[1], &[1]).npy()), ("b", tensor::<i32>(&[1], &[2]).npy())]));
    let rows: &[(&str, i32, &[&str])] = &[
        ("info m --members", 0, &["a\nb\n"]),
        ("info m --json", 0, &["\"file\": \"m\", \"name\": \"a\", \"member\": \"a\", \"format\": \"safetensors\""]),
        ("diff m both.npz", 0, &["equal: 2 same"]),
        ("convert m -o out.npz", 0, &[""]),
        ("show m:b", 0, &["m:b: int32 [1]\n[2]\n"]),
        ("diff out.npz both.npz", 0, &["equal: 2 same"]),
    ];
    runs(&folder, rows);
    assert_eq!(folder.run(words("convert m -o out.npz")).stderr, "");
    // accepted into the shard that has the name
    folder.put("new.npz", npz(&[("b", tensor::<i32>(&[1], &[5]).npy())]));
    runs(&folder, &[("diff m new.npz --only b --accept", 0, &["wrote m/m-00002-of-00002.safetensors: 1 tensor\n"])]);
    runs(&folder, &[("show m:b", 0, &["[5]"])]);
    // nothing says which of two files has the right one
    put(SECOND, &[("a", 7), ("b", 2)]);
    let both: &[&str] = &[&format!("{FIRST} and {SECOND} both hold 'a', and no index says which counts")];
    for args in ["show m", "info m", "convert m -o twice.npz", "diff m both.npz"] {
        runs(&folder, &[(args, 2, both)]);
    }
    runs(&folder, &[("show m:a", 2, &["has no tensor \"a\""])]);
    assert!(!folder.path("twice.npz").exists());
    put(SECOND, &[("b", 2)]);
    // beside another container they are several models
    folder.put("m/other.npz", folder.get("new.npz"));
    runs(
        &folder,
        &[("info m --members", 0, &["m:a\nm:b\nother:b\n"]), ("info m --only m:* --members", 0, &["a\nb\n"])],
    );
    fs::remove_file(folder.path("m/other.npz")).expect("removed");
    put("m.safetensors", &[("a", 1)]);
    runs(&folder, &[("info m --members", 0, &["m-of-00002:a\nm-of-00002:b\nm:a\n"])]);
    fs::remove_file(folder.path("m/m.safetensors")).expect("removed");
    // one that is missing is named, and the others are read
    fs::remove_file(folder.path("m").join(FIRST)).expect("removed");
    let missing = format!("shard '{FIRST}': ");
    let rows: &[(&str, i32, &[&str])] = &[
        ("info m --json", 2, &["\"member\": \"b\"", &missing]),
        ("show m:b", 0, &["[2]"]),
        ("diff m both.npz", 2, &["1 unreadable", &missing]),
        ("convert m -o gone.npz", 2, &[&missing]),
    ];
    runs(&folder, rows);
    assert!(!folder.path("gone.npz").exists());
}

#[test]
fn variants_have_an_index() {
    let folder = Folder::new();
    put_model(&folder, "m", 3, "");
    folder.put(format!("m/{SECOND}"), shard(&[("b", 2)]));
    fs::create_dir(folder.path("v")).expect("a folder");
    folder.put("v/m.fp16-00001-of-00002.safetensors", shard(&[("a", 1)]));
    folder.put("v/m.fp16-00002-of-00002.safetensors", shard(&[("b", 2)]));
    let map = [("a", "m.fp16-00001-of-00002.safetensors"), ("b", "m.fp16-00002-of-00002.safetensors")];
    folder.put("v/m.safetensors.index.fp16.json", index("", &map));
    let rows: &[(&str, i32, &[&str])] = &[
        ("info v --members", 0, &["a\nb\n"]),
        ("diff v m", 0, &["equal: 2 same"]),
        ("diff v/m.safetensors.index.fp16.json m", 0, &["equal: 2 same"]),
        // the names of shards follow that of the index
        ("convert m -o w.safetensors.index.fp16.json --max-shard-size 0.004KB", 0, &[""]),
        ("diff w.safetensors.index.fp16.json m", 0, &["equal: 2 same"]),
    ];
    runs(&folder, rows);
    assert!(folder.path("w.fp16-00002-of-00002.safetensors").is_file());
    // two indices in a folder are two models
    for name in [FIRST, SECOND, INDEX] {
        folder.put(format!("v/{name}"), folder.get(format!("m/{name}")));
    }
    folder.put("v/m.fp16-00003-of-00003.safetensors", shard(&[("a", 1)]));
    let run = folder.run(words("info v --members"));
    let line = "FILE v: m.fp16-00003-of-00003.safetensors is left over: the index does not name it\n";
    assert_eq!(text(&run), format!("m.fp16:a\nm.fp16:b\nm:a\nm:b\n{line}"));
}

/// The files of a folder.
fn files(folder: &Folder, name: &str) -> Vec<String> {
    folder.tree(name).into_keys().collect()
}

#[test]
fn the_size_of_shards_stays() {
    let folder = Folder::new();
    fs::create_dir(folder.path("m")).expect("a folder");
    let four = npz(&["a", "b", "c", "d"].map(|name| (name, tensor::<i32>(&[1], &[1]).npy())));
    folder.put("in.npz", &four);
    let three = ["a", "b", "c"].map(|name| (name, tensor::<i32>(&[1], &[1]).npy()));
    folder.put("three.npz", npz(&three));
    let shards = |args: &str| {
        let run = folder.run(words(&format!("convert {args} -o m/m.safetensors.index.json -q")));
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{args}");
        let run = folder.run(words("info m/m.safetensors.index.json --members"));
        assert_eq!(run.status, Some(0));
        String::from_utf8(folder.get("m/m.safetensors.index.json")).expect("a text").matches("-of-").count()
    };
    // one shard each, then as many as there were, unless another size is asked for
    assert_eq!(shards("in.npz --max-shard-size 0.004KB"), 4);
    assert!(folder.path("m/m-00004-of-00004.safetensors").is_file());
    assert_eq!(shards("in.npz"), 4);
    assert_eq!(shards("three.npz"), 3);
    assert!(folder.path("m/m-00003-of-00003.safetensors").is_file());
    assert_eq!(shards("m"), 3);
    assert!(!folder.path("m/m-00002-of-00002.safetensors").is_file());
    assert_eq!(shards("m --max-shard-size 1KB"), 0);
    assert_eq!(shards("m"), 0);
}

#[test]
fn what_no_index_names_is_not_replaced() {
    let folder = Folder::new();
    put_model(&folder, "m", 3, "");
    folder.put("new.npz", npz(&[("a", tensor::<u8>(&[1], &[1]).npy())]));
    folder.put("m/other.safetensors", shard(&[("x", 1)])).put("m/model.safetensors", shard(&[("y", 1)]));
    folder.put("m/same.safetensors", shard(&[("a", 9)]));
    folder.put("m/other.safetensors.index.json", index("", &[("a", FIRST)]));
    let before = folder.tree("m");
    each(
        [
            // a file that is not a shard of the index which is replaced
            ("new.npz -o m/other.safetensors.index.json", "other.safetensors is not a shard of the index and"),
            ("m/m.safetensors.index.json -q -o m/other.safetensors.index.json", "other.safetensors is not a shard"),
            ("new.npz -o m/other.safetensors.index.json --dry-run", "other.safetensors is not a shard"),
            // there is no index
            ("new.npz -o m/model.safetensors.index.json", "model.safetensors holds tensors that would be lost (\"y\")"),
            // a tensor in a shard that goes
            ("new.npz -o m/m.safetensors.index.json --remove-old-shards", "holds tensors that would be lost (\"c\")"),
        ],
        |(args, _)| (*args).to_owned(),
        |(args, fragment)| {
            folder.refuses(words(&format!("convert {args}")), &[fragment])?;
            if folder.tree("m") == before { Ok(()) } else { Err("something was changed".to_owned()) }
        },
    );
    // what is written under another name is not lost
    for args in ["new.npz -o m/same", "m/model.safetensors --rename y=z -o m/model"] {
        let run = folder.run(words(&format!("convert {args}.safetensors.index.json")));
        assert_eq!(run.status, Some(0), "{args}: {run:?}");
    }
}

#[test]
fn old_shards_are_removed() {
    let folder = Folder::new();
    put_model(&folder, "m", 3, "");
    folder.put(format!("m/{SECOND}"), shard(&[("b", 2)]));
    // another index names one of them, and an index may name what is not a shard, or lies elsewhere
    folder.put("outside.safetensors", shard(&[("x", 1)]));
    folder.put("m/config.json", "{}");
    let map = [("a", FIRST), ("b", SECOND), ("c", "config.json"), ("x", "../outside.safetensors")];
    let make = || {
        folder.put(format!("m/{FIRST}"), shard(&[("a", 1)])).put(format!("m/{SECOND}"), shard(&[("b", 2)]));
        folder.put(format!("m/{INDEX}"), index("", &map));
        folder.put("m/n.safetensors.index.json", index("", &[("b", SECOND)]));
    };
    make();
    let before = folder.tree("m");
    folder.put("new.npz", npz(&[("a", tensor::<u8>(&[1], &[1]).npy())]));
    let convert = |args: &str| folder.run(words(&format!("convert {args}")));
    // refused, and nothing is removed
    let to = "-o m/m.safetensors.index.json --remove-old-shards";
    for (args, fragment) in [
        (
            "new.npz -o new.safetensors --remove-old-shards".to_owned(),
            "--remove-old-shards: expected -o NAME.safetensors.index.json",
        ),
        ("new.npz --remove-old-shards".to_owned(), "--remove-old-shards: expected"),
        // a shard that goes, whose tensors or those beside it are not all written
        (format!("m/{FIRST} {to}"), "would be lost (\"b\", \"c\", \"x\")"),
        (format!("m/m.safetensors.index.json --only a {to} --cast int128"), "--cast"),
    ] {
        folder.refuses(words(&format!("convert {args}")), &[fragment]).expect("refused");
        assert_eq!(folder.tree("m"), before, "{args}");
    }
    let run = convert(&format!("new.npz {to} --dry-run"));
    assert!(text(&run).contains(&format!("{INDEX}: {FIRST} would be removed\n")), "{}", text(&run));
    assert_eq!(folder.tree("m"), before);
    let run = convert(&format!("new.npz {to}"));
    let line = format!(
        "output m/{INDEX}: the index named {FIRST} before, which were removed\noutput m/{INDEX}: the index named config.json, \
         {SECOND} before, which are left\n"
    );
    assert_eq!((run.status, run.stderr), (Some(0), line));
    assert_eq!(files(&folder, "m"), ["config.json", SECOND, "m.safetensors", INDEX, "n.safetensors.index.json"]);
    assert!(folder.path("outside.safetensors").is_file());
    // a tensor that no index names is not removed, but by its name
    put_model(&folder, "k", 3, "");
    let to = "-o k/m.safetensors.index.json --max-shard-size 1KB --remove-old-shards";
    let before = folder.tree("k");
    folder.refuses(words(&format!("convert k {to} -q")), &["would be lost (\"c\")"]).expect("refused");
    folder.refuses(words(&format!("convert k --exclude b {to} -q")), &["would be lost (\"c\")"]).expect("refused");
    assert_eq!(folder.tree("k"), before);
    let run = convert(&format!("k --exclude c {to} -q"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(files(&folder, "k"), ["m.safetensors", INDEX]);
    // where nothing goes, nothing is said
    let run = convert(&format!("k {to}"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(files(&folder, "k"), ["m.safetensors", INDEX]);
}

#[test]
fn indices_of_pytorch_files() {
    let folder = Folder::new();
    let shard = |name: &str, first: u8| {
        let odd = b"cmy.code\nThing\n)\x81".to_vec();
        let pickle = pickle(&[(name, view(first, [1, 2], [2, 1])), ("epoch", odd)]);
        zip(&[stored("x/data.pkl", &pickle), stored("x/data/0", &items())])
    };
    let map = [("a", "m-00001-of-00002.bin"), ("b", "m-00002-of-00002.bin")];
    let put = |folder: &Folder, name: &str| {
        fs::create_dir_all(folder.path(name)).expect("a folder");
        folder.put(format!("{name}/m-00001-of-00002.bin"), shard("a", 0));
        folder.put(format!("{name}/m-00002-of-00002.bin"), shard("b", 4));
        // both of them count a tensor that shares its bytes once
        folder.put(format!("{name}/m.bin.index.json"), index("\"total_size\": 7", &map));
    };
    put(&folder, "m");
    put(&folder, "both");
    let made = folder.run(words("convert m -o both/model.safetensors.index.json --max-shard-size 0.008KB"));
    assert_eq!(made.printed().as_deref(), Ok(""));
    put(&folder, "cut");
    folder.put("cut/m-00002-of-00002.bin", b"PK\x03\x04");
    put(&folder, "less");
    fs::remove_file(folder.path("less/m-00002-of-00002.bin")).expect("a shard");
    runs(
        &folder,
        &[
            ("info m --members", 0, &["a\nb\n"]),
            ("info m/m.bin.index.json", 0, &["  a      float32    [1, 2]", "  total  2 tensors"]),
            ("show m:b", 0, &["[[4. 5.]]"]),
            ("show m/m.bin.index.json:a", 0, &["[[0. 1.]]"]),
            ("convert m -o m.npz", 0, &[]),
            ("diff m m.npz", 0, &["equal: 2 same"]),
            ("diff m both", 0, &["equal: 2 same"]),
            ("info both --members", 0, &["a\nb\n"]),
            ("info both", 0, &["m-00001-of-00002.bin is left alone: name it"]),
            ("info both/m.bin.index.json --members", 0, &["a\nb\n"]),
            ("info less", 2, &["shard 'm-00002-of-00002.bin'"]),
            ("show less:a", 0, &["[[0. 1.]]"]),
            ("info cut", 2, &["shard 'm-00002-of-00002.bin'"]),
            ("slice-scatter m/m.bin.index.json:a --fill 0 --at : --in-place", 2, &["a PyTorch file is only read"]),
            ("slice-scatter m:a --fill 0 --at : --in-place", 2, &["a PyTorch file is only read"]),
            ("slice-scatter m/m.bin.index.json:* --fill 0 --in-place", 2, &["a PyTorch file is only read"]),
            ("diff m/m.bin.index.json both/model.safetensors.index.json --accept", 0, &["equal"]),
            // the name is not that of an index that can be written
            ("convert m.npz -o new.bin.index.json", 2, &["holds 2 tensors"]),
        ],
    );
    assert_eq!(folder.run(words("show m:a")).printed().as_deref(), Ok("m:a: float32 [1, 2]\n[[0. 1.]]\n"));
}
