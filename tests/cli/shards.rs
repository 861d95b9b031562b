//! `tensorop convert -o NAME.safetensors.index.json`: tensors divided among shards, and their index.

use std::fs;

use crate::common::{Folder, npz, tensor, words};

/// An archive of tensors of 4, 24 and 8 bytes, in this order.
fn archive() -> Vec<u8> {
    let item = |n: usize, first: i32| tensor::<i32>(&[n], &(first..first + n as i32).collect::<Vec<_>>()).npy();
    npz(&[("b", item(1, 1)), ("a", item(6, 10)), ("ü", item(2, 20))])
}

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.get(name)).expect("a text")
}

fn files(folder: &Folder) -> Vec<String> {
    files_of(folder, ".")
}

fn files_of(folder: &Folder, name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path(name)).expect("a folder").flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[test]
fn shards_and_their_index() {
    let folder = Folder::new();
    folder.put("in.npz", archive());
    let convert = |args: &str| folder.run(words(&format!("convert in.npz -o m.safetensors.index.json {args}")));
    let run = convert("--max-shard-size 0.012KB");
    assert_eq!((run.status, run.stderr.as_str(), run.stdout.as_slice()), (Some(0), "", &b""[..]));
    // the larger tensor has a shard of its own, before the one that was being filled
    let index = "{\n  \"metadata\": {\n    \"total_size\": 36\n  },\n  \"weight_map\": {\n    \
                 \"a\": \"m-00001-of-00002.safetensors\",\n    \"b\": \"m-00002-of-00002.safetensors\",\n    \
                 \"\\u00fc\": \"m-00002-of-00002.safetensors\"\n  }\n}";
    assert_eq!(text(&folder, "m.safetensors.index.json"), index);
    let shards = ["in.npz", "m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors", "m.safetensors.index.json"];
    assert_eq!(files(&folder), shards);
    let same = folder.run(words("diff in.npz m.safetensors.index.json --json -q"));
    assert_eq!(same.status, Some(0), "{}", same.stderr);
    // fewer shards: what the old index named is left, in one line
    let run = convert("--max-shard-size 5GB");
    let line = "output m.safetensors.index.json: the index named m-00001-of-00002.safetensors, \
                m-00002-of-00002.safetensors before, which are left\n";
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), line));
    assert!(text(&folder, "m.safetensors.index.json").contains("\"a\": \"m.safetensors\""));
    assert_eq!(files(&folder).len(), 5);
    assert_eq!(folder.run(words("diff in.npz m.safetensors.index.json -q")).status, Some(0));
    // from its own index
    let run = folder.run(words("convert m.safetensors.index.json -o m.safetensors.index.json --max-shard-size 12KB"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(folder.run(words("diff in.npz m.safetensors.index.json -q")).status, Some(0));
    let run = folder.run(words("slice in.npz:a --at :2 -o s.safetensors.index.json"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert!(text(&folder, "s.safetensors.index.json").contains("\"a\": \"s.safetensors\""));
}

/// The case of an ending does not count, and --to does: it makes one file of its format, whatever the name.
#[test]
fn names_of_indexes() {
    let folder = Folder::new();
    folder.put("in.npz", archive());
    let run = folder.run(words("convert in.npz -o M.SafeTensors.INDEX.JSON --max-shard-size 0.012KB"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    let made = ["M-00001-of-00002.safetensors", "M-00002-of-00002.safetensors", "M.SafeTensors.INDEX.JSON", "in.npz"];
    assert_eq!(files(&folder), made);
    assert_eq!(folder.run(words("diff in.npz M.SafeTensors.INDEX.JSON -q")).status, Some(0));
    assert_eq!(folder.run(words("slice M.SafeTensors.INDEX.JSON:b --at :")).printed().as_deref(), Ok("[1]\n"));
    let run = folder.run(words("convert in.npz --to npz -o n.safetensors.index.json"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(folder.get("n.safetensors.index.json")[..4], *b"PK\x03\x04");
    assert_eq!(files(&folder).len(), 5);
}

#[test]
fn nothing_is_written() {
    let folder = Folder::new();
    folder.put("in.npz", archive()).put("v.npy", crate::common::npy("|V3", &[1], b"abc"));
    folder.put("old-00002-of-00002.safetensors", "kept");
    let to = |args: &str| words(&format!("convert in.npz {args}"));
    let dry = folder.run(to("-o m.safetensors.index.json --max-shard-size 0.012KB --dry-run"));
    let lines = String::from_utf8(dry.stdout).expect("a text");
    assert_eq!(dry.status, Some(0), "{}", dry.stderr);
    assert!(lines.contains("m-00001-of-00002.safetensors: \"a\": safetensors of int32 [6], 24 bytes"), "{lines}");
    assert!(lines.contains("m.safetensors.index.json: index of 2 shards"), "{lines}");
    let before = files(&folder);
    let rows: [(&str, &[&str]); 8] = [
        ("in.npz -o m.safetensors --max-shard-size 5GB", &["--max-shard-size", "NAME.safetensors.index.json"]),
        ("in.npz -o m.safetensors.index.json --max-shard-size 5", &["--max-shard-size", "5GB"]),
        ("in.npz -o m.safetensors.index.json --max-shard-size 5GiB", &["--max-shard-size", "5GiB"]),
        ("in.npz -o m.safetensors.index.json --max-shard-size 0KB", &["--max-shard-size"]),
        ("in.npz -o m.safetensors.index.json --part 1/2", &["--part", "index"]),
        ("v.npy -o m.safetensors.index.json", &["safetensors cannot hold", "V3"]),
        ("in.npz -o in.npz/m.safetensors.index.json", &["in.npz/m.safetensors.index.json"]),
        (
            "in.npz -o old.safetensors.index.json --max-shard-size 0.012KB --no-clobber",
            &["old-00002-of-00002.safetensors", "exists", "--no-clobber"],
        ),
    ];
    for (args, fragments) in rows {
        folder.refuses(words(&format!("convert {args}")), fragments).expect("a refusal");
        assert_eq!(files(&folder), before, "{args}");
    }
    assert_eq!(folder.get("old-00002-of-00002.safetensors"), b"kept");
    // an index and a shard are not replaced by what lacks their other tensors, unless these are left out by name
    assert_eq!(folder.run(to("-o m.safetensors.index.json")).status, Some(0));
    let before = (files(&folder), folder.get("m.safetensors"));
    folder
        .refuses(words("convert m.safetensors.index.json:a -o m.safetensors.index.json"), &["lost"])
        .expect("refused");
    folder.refuses(words("convert m.safetensors:a -o m.safetensors.index.json"), &["lost"]).expect("refused");
    assert_eq!((files(&folder), folder.get("m.safetensors")), before);
    let run = folder.run(words("convert m.safetensors.index.json --exclude a -o m.safetensors.index.json"));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
}

/// A config that states a layout twice.
const CONFIG: &str = "{\n  \"model_type\": \"x\",\n  \"text_config\": {\n    \"quantization_config\": {},\n    \"n\": 1.50\n  },\n  \
                      \"quantization_config\": {\n    \"quant_method\": \"fp8\"\n  }\n}\n";

/// A checkpoint of two shards, with what lies beside its weights.
fn checkpoint() -> Folder {
    let folder = Folder::new();
    folder.put("in.npz", archive());
    let shards = "convert in.npz -o old/model.safetensors.index.json --max-shard-size 0.012KB";
    folder.run(words(shards)).printed().expect("a model");
    folder.put("old/config.json", CONFIG).put("old/tokenizer.model", b"\0\xff").put("old/LICENSE", "free");
    folder.put("old/.gitattributes", "hidden").put("old/picture.png", "left");
    fs::create_dir(folder.path("old/runs")).expect("a folder");
    folder
}

#[test]
fn a_folder_of_a_model() {
    let folder = checkpoint();
    let side = ["LICENSE", "config.json", "tokenizer.model"];
    let line = "output new/: copied LICENSE, config.json, tokenizer.model; left picture.png, runs/\n";
    let dry = folder.run(words("convert old -o new/ --dry-run"));
    let report = String::from_utf8_lossy(&dry.stdout).into_owned();
    let planned = line.replace("copied", "would copy").replace("left", "would leave");
    assert!(dry.status == Some(0) && report.contains(&format!("  {planned}")), "{dry:?}");
    assert!(fs::metadata(folder.path("new")).is_err(), "a dry run writes nothing");
    folder.put("one.json", "[1]").put("two.json", "[2]");
    folder.run(words("convert one.json two.json --dry-run")).printed().expect("nor do two files");
    let dry = folder.run(words("convert old --dry-run")).printed().expect("a dry run needs no output");
    assert_eq!(dry.lines().filter(|line| line.contains(": safetensors of int32 [")).count(), 3, "{dry}");
    let run = folder.run(words("convert old -o new/"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), line));
    // a model in one file has no index
    assert_eq!(files_of(&folder, "new"), ["LICENSE", "config.json", "model.safetensors", "tokenizer.model"]);
    for name in side {
        assert_eq!(folder.get(format!("new/{name}")), folder.get(format!("old/{name}")), "{name}");
    }
    assert_eq!(folder.run(words("diff old new -q")).status, Some(0));

    let run = folder.run(words("convert old -o shards/ --max-shard-size 0.012KB --quiet"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    let shards = [
        "LICENSE",
        "config.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "model.safetensors.index.json",
        "tokenizer.model",
    ];
    assert_eq!(files_of(&folder, "shards"), shards);
    assert_eq!(folder.run(words("diff old shards -q")).status, Some(0));

    // over the same folder nothing is copied, and the index stays true
    let run = folder.run(words("convert shards -o shards/ --cast int64"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(files_of(&folder, "shards"), shards);
    assert_eq!(
        folder.run(words("slice shards:b --at : --to json")).printed().map(|text| text.contains("int64")),
        Ok(true)
    );

    // weights alone have nothing beside them that is known to be theirs
    let run = folder.run(words("convert old/model.safetensors.index.json -o alone/"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(files_of(&folder, "alone"), ["model.safetensors"]);
    folder.put("file", "1");
    let before = folder.get("new/model.safetensors");
    for (args, fragments) in [
        ("convert old -o new/ --no-clobber", &["output new/LICENSE: exists, and --no-clobber keeps it"][..]),
        ("convert old -o file/", &["output file/"]),
        ("convert old -o new/ --to npz", &["output new/: is a folder, expected a file"]),
        ("convert old -o x.npz --max-shard-size 5GB", &["expected -o NAME.safetensors.index.json or FOLDER/"]),
        ("convert old:b -o made/", &["output made/: "]),
        ("slice in.npz:b --at : -o made/", &["output made/: "]),
        ("convert old --part 1/2 -o made/", &["--part: not with the folder of a model"]),
        ("convert old -o made/ --cast int8=uint8", &["int8"]),
    ] {
        folder.refuses(words(args), fragments).unwrap();
    }
    assert_eq!(folder.get("new/model.safetensors"), before);
    assert!(fs::metadata(folder.path("made")).is_err(), "what fails leaves no folder");
}

#[test]
fn numbers_need_no_layout() {
    let folder = Folder::new();
    let weight = crate::common::tensor::<f32>(&[2, 2], &[1., 2., 3., 4.]).npy();
    folder.put("w.npy", weight).put("s.npy", crate::common::tensor::<f32>(&[2, 1], &[1., 2.]).npy());
    folder.run(words("convert w.npy --cast float8_e4m3fn -o w.safetensors")).printed().expect("codes");
    let parts = "convert m.weight=w.safetensors:w m.weight_scale=s.npy -o old/model.safetensors";
    folder.run(words(parts.replace(":w ", ":arr_0 ").as_str())).printed().expect("parts");
    folder.put("old/config.json", CONFIG).put("old/quantize_config.json", "{}");
    let run = folder.run(words("convert old -o new/ --dequantize"));
    let line = "output new/: copied config.json (less the layout of codes); left quantize_config.json\n";
    assert!(run.status == Some(0) && run.stderr.ends_with(line), "{run:?}");
    let less = "{\n  \"model_type\": \"x\",\n  \"text_config\": {\n    \"n\": 1.50\n  }\n}\n";
    assert_eq!(String::from_utf8_lossy(&folder.get("new/config.json")), less);
    assert_eq!(folder.run(words("diff old new --dequantize -q")).status, Some(0));
    // codes that stay codes keep it
    let run = folder.run(words("convert old -o kept/"));
    assert_eq!(run.stderr, "output kept/: copied config.json, quantize_config.json\n");
    assert_eq!(folder.get("kept/config.json"), folder.get("old/config.json"));
}

/// What the index of DATA says beside its tensors stays in the index that takes its place.
#[test]
fn other_keys_of_an_index_stay() {
    let folder = Folder::new();
    folder.put("w.npz", archive());
    let args = words("convert w.npz -o m.safetensors.index.json");
    folder.run(args.clone()).printed().expect("written");
    let plain = text(&folder, "m.safetensors.index.json");
    let again = words("convert m.safetensors.index.json -o m.safetensors.index.json");
    folder.run(again.clone()).printed().expect("written again");
    assert_eq!(text(&folder, "m.safetensors.index.json"), plain);
    let more = plain.replace("\"total_size\"", "\"total_parameters\": 1, \"by\": [\"me\"], \"total_size\"");
    folder.put("m.safetensors.index.json", more.replacen('{', "{\"version\": 2, ", 1));
    folder.run(again).printed().expect("written again");
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    let mut expected = value(&plain);
    let items = value(&text(&folder, "m.safetensors.index.json"))["metadata"]["total_parameters"].clone();
    assert!(items.as_u64() > Some(1), "{items}");
    (expected["version"], expected["metadata"]["by"]) = (2.into(), vec!["me"].into());
    expected["metadata"]["total_parameters"] = items;
    assert_eq!(value(&text(&folder, "m.safetensors.index.json")), expected);
    // other data have an index of their own
    folder.run(args).printed().expect("written");
    assert_eq!(text(&folder, "m.safetensors.index.json"), plain);
}
