//! What containers hold is listed by content: arrays whatever their files are called, and content that is not a tensor, which
//! is compared, named and never lost.

use crate::common::torch::{items, pickle, view};
use crate::common::{Folder, Run, Zipped, deflated, each, member, npy, safetensors, stored, words, zip};

fn array(items: &[u8]) -> Vec<u8> {
    npy("uint8", &[items.len()], items)
}

/// An output never takes the place of what a tensor of another file, a graph, an index or other bytes are read from.
#[test]
fn what_is_beside_the_tensors_is_not_lost() {
    let folder = Folder::new();
    let layer = |name: &str, offset: usize| {
        format!(
            "<layer id=\"{offset}\" name=\"{name}\" type=\"Const\"><data element_type=\"u8\" shape=\"4\" offset=\"{offset}\" size=\"4\"/></layer>"
        )
    };
    let layers = layer("a", 0) + &layer("b", 4);
    folder
        .put("ir.xml", format!("<net name=\"n\" version=\"11\"><layers>{layers}</layers></net>"))
        .put("ir.bin", b"abcdefgh");
    folder.put("m.onnx", std::fs::read("samples/models/model.onnx").expect("a sample"));
    let pickled = pickle(&[("a", view(0, [1, 2], [2, 1]))]);
    folder.put("p-1.bin", zip(&[stored("x/data.pkl", &pickled), stored("x/data/0", &items())]));
    folder.put("p.bin.index.json", "{\"metadata\": {}, \"weight_map\": {\"a\": \"p-1.bin\"}}");
    folder.put("s.safetensors", safetensors(&[member("x", "uint8", &[4], vec![1; 4])]));
    folder.put(
        "names.safetensors",
        safetensors(&[member("", "uint8", &[1], vec![1]), member("a", "uint8", &[1], vec![2])]),
    );
    let beside = "holds the items of another file, which would be lost: choose another file";
    let graph = "is a model, whose graph would be lost: choose another file";
    let index = "is the index of other files, and would be lost: choose another file";
    let view = "has more bytes than the view, which would be lost: choose another file";
    let rows = [
        ("slice-scatter ir.xml:a --fill 1 --at : -o ir.bin", beside),
        ("convert ir.xml --to safetensors -o ir.bin", beside),
        ("convert ir.xml --to npz -o ir.xml", graph),
        ("convert m.onnx --to safetensors -o m.onnx", graph),
        ("slice m.onnx:up.bias --at : --to npy -o m.onnx", graph),
        ("convert p.bin.index.json:a -o p.bin.index.json", index),
        ("convert p.bin.index.json --to safetensors -o p.bin.index.json", index),
        ("slice-scatter ir.bin:uint8[4]@2 --fill 0 --at : -o ir.bin", view),
        ("convert s.safetensors:uint8[4]@8 --to npy -o s.safetensors", view),
        ("convert names.safetensors -o names.zarr", "\"\" cannot be the name of an array in a group"),
        (
            "convert zarr.json=s.safetensors names.safetensors:a -o names.zarr",
            "\"zarr.json\" cannot be the name of an array in a group",
        ),
    ];
    let before = folder.content();
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let said = folder.refuses(words(args), &[])?;
            if said.trim_end().ends_with(expected) && folder.content() == before { Ok(()) } else { Err(said) }
        },
    );
    // all of the bytes may be replaced
    folder.run(words("slice-scatter ir.bin:uint8[8] --fill 90 --at :2 -o ir.bin")).printed().expect("replaced");
    assert_eq!(folder.get("ir.bin"), b"ZZcdefgh");
}

fn text(run: &Run) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// Checks what commands print that succeed.
#[track_caller]
fn succeed(folder: &Folder, rows: &[(&str, &str)]) {
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
}

/// Archives with arrays in files without the ending, and with other files.
fn archives() -> Folder {
    let folder = Folder::new();
    let members = |meta: &str| {
        vec![
            stored("a.npy", &array(&[1, 2])),
            stored("folder/", b""),
            deflated("raw", &array(&[3, 4])),
            stored("raw.npy", &array(&[5])),
            deflated("meta.json", meta.as_bytes()),
        ]
    };
    let more = |name: &str, content: &[u8]| [members("{}"), vec![stored(name, content)]].concat();
    folder.put("m.npz", zip(&members("{}")));
    folder.put("same.npz", zip(&members("{}").into_iter().rev().collect::<Vec<_>>()));
    folder.put("other.npz", zip(&members("{\"x\": 1}")));
    folder.put("more.npz", zip(&more("notes.txt", b"text")));
    folder.put(
        "locked.npz",
        zip(&[&more("x", b"")[..], &[Zipped { method: 12, ..stored("secret", b"abcdefgh") }]].concat()),
    );
    // the beginning can be read, the checksum is wrong
    let damaged = |content: &[u8]| Zipped { crc: 1, ..stored("notes.txt", content) };
    folder.put("damaged.npz", zip(&[members("{}"), vec![damaged(b"some text")]].concat()));
    folder.put("worse.npz", zip(&[members("{}"), vec![damaged(b"some tent")]].concat()));
    folder.put("plain.npz", zip(&[stored("a.npy", &array(&[1, 2])), stored("raw.npy", &array(&[3, 4]))]));
    folder.put("changed.npz", zip(&[stored("a.npy", &array(&[7, 7]))]));
    folder.put("new.npy", array(&[9, 9]));
    folder
}

#[test]
fn arrays_are_found_by_content() {
    let folder = archives();
    let rows = [
        ("info m.npz --members", "a\nraw\nraw.npy\n"),
        ("show m.npz:raw", "m.npz:raw: uint8 [2]\n[3 4]\n"),
        ("show m.npz:raw.npy", "m.npz:raw.npy: uint8 [1]\n[5]\n"),
        ("slice m.npz:raw --at :1 --to text", "[3]\n"),
        ("diff m.npz:raw plain.npz:raw", "equal: 2 items of uint8 [2]\n  content differs: meta.json\n"),
    ];
    succeed(&folder, &rows);
    let converted = folder.run(words("convert m.npz -o all.safetensors"));
    assert_eq!(converted.status, Some(0), "{converted:?}");
    assert_eq!(folder.run(words("info all.safetensors --members")).printed().as_deref(), Ok("a\nraw\nraw.npy\n"));
}

/// NumPy looks for a file of the exact name before it adds the ending.
#[test]
fn rewritten_members_keep_the_names_that_numpy_finds() {
    let folder = Folder::new();
    folder
        .put("m.npz", zip(&[stored("a", &array(&[1])), stored("a.npy", &array(&[2])), stored("b.npy", &array(&[3]))]));
    succeed(&folder, &[("convert m.npz -o m.npz", ""), ("info m.npz --members", "a\na.npy\nb\n")]);
    let bytes = folder.get("m.npz");
    let has = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    assert!(has(b"a.npy") && !has(b"a.npy.npy") && has(b"b.npy"));
    succeed(&folder, &[("slice m.npz:a --at : --to text", "[1]\n"), ("slice m.npz:a.npy --at : --to text", "[2]\n")]);
    // a damaged archive has members, and no bytes without a header
    folder.put("cut.npz", &bytes[..100]);
    let run = folder.run(words("show cut.npz:b"));
    assert!(run.status == Some(2) && run.stderr.contains("ZIP") && !run.stderr.contains("without a header"), "{run:?}");
}

#[test]
fn other_content_is_named() {
    let folder = archives();
    let info = folder.run(words("info m.npz plain.npz")).printed().expect("a table");
    assert!(info.contains("\nm.npz: holds meta.json, which is not a tensor\n"), "{info}");
    assert!(!info.contains("plain.npz: holds"), "{info}");
    let info = folder.run(words("info more.npz")).printed().expect("a table");
    assert!(info.ends_with("\nmore.npz: holds meta.json, notes.txt, which are not tensors\n"), "{info}");
    let json = folder.run(words("info more.npz --json")).printed().expect("an array");
    assert_eq!(json.matches(", \"content\": [\"meta.json\", \"notes.txt\"]}").count(), 3, "{json}");
    // what asks for a tensor asks for nothing else
    let named = folder.run(words("info m.npz:a")).printed().expect("a table");
    assert!(!named.contains("meta.json"), "{named}");
    let quiet = folder.run(words("convert m.npz:a -o a.npy"));
    assert_eq!((quiet.status, quiet.stderr.as_str()), (Some(0), ""));
    for (args, line) in [
        ("convert m.npz -o copy.npz", "IN m.npz: \"meta.json\" is not a tensor, and is not copied\n"),
        (
            "convert more.npz -o copy.npz",
            "IN more.npz: \"meta.json\", \"notes.txt\" are not tensors, and are not copied\n",
        ),
        ("convert plain.npz -o copy.npz", ""),
        ("convert m.npz -q -o copy.npz", ""),
    ] {
        let Run { status, stderr, .. } = folder.run(words(args));
        assert_eq!((status, stderr.as_str()), (Some(0), line), "{args}");
    }
}

#[test]
fn other_content_is_compared() {
    let folder = archives();
    let same = "3 same, 0 within, 0 different, 0 missing, 0 extra";
    let rows = [
        ("m.npz same.npz --metadata", 0, format!("equal: {same}\n")),
        ("m.npz other.npz", 0, format!("equal: {same}\n  content differs: meta.json\n")),
        ("m.npz other.npz --metadata", 1, format!("different: {same}\n  content differs: meta.json\n")),
        ("m.npz more.npz --metadata", 1, format!("different: {same}\n  content differs: notes.txt\n")),
        ("more.npz m.npz -q", 0, format!("equal: {same}; content differs: notes.txt\n")),
        ("m.npz:a other.npz:a", 0, "equal: 2 items of uint8 [2]\n  content differs: meta.json\n".to_owned()),
        (
            "m.npz:a other.npz:a --metadata",
            1,
            "different: content meta.json\n  content differs: meta.json\n".to_owned(),
        ),
        ("m.npz:a other.npz:a --metadata -q", 1, "different: content meta.json\n".to_owned()),
        ("m.npz:a new.npy --metadata --atol 9 -q", 0, "equal within the tolerance: ".to_owned()),
        ("damaged.npz damaged.npz --metadata", 0, format!("equal: {same}\n")),
        ("damaged.npz worse.npz --metadata", 1, format!("different: {same}\n  content differs: notes.txt\n")),
        ("damaged.npz m.npz --metadata", 1, format!("different: {same}\n  content differs: notes.txt\n")),
        // nobody knows whether a tensor is in there
        ("locked.npz locked.npz --metadata", 2, format!("unreadable: {same}, 1 unreadable\n")),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, expected)| {
            let run = folder.run(words(&format!("diff {args}")));
            match run.status == Some(*status) && text(&run).starts_with(expected) {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
    let json = folder.run(words("diff m.npz more.npz --json")).printed().expect("an object");
    assert!(json.ends_with("\"metadata\": [], \"content\": [\"notes.txt\"], \"unlisted\": []}\n"), "{json}");
    let json = text(&folder.run(words("diff m.npz:a more.npz:a --json --metadata")));
    assert!(json.contains("\"reason\": \"metadata\"") && json.ends_with("\"content\": [\"notes.txt\"]}\n"), "{json}");
}

#[test]
fn other_content_is_never_lost() {
    let folder = archives();
    let before = folder.content();
    let one = "holds \"meta.json\", not a tensor, which would be lost: choose another file";
    let more = |tensors: &str| format!("holds {tensors} and \"meta.json\", not a tensor, which would be lost");
    let rows = [
        ("convert m.npz -o m.npz", one.to_owned()),
        ("convert m.npz --compress -o m.npz", one.to_owned()),
        ("convert m.npz --only a -o m.npz", one.to_owned()),
        ("convert m.npz --exclude meta.json -o m.npz", "meta.json".to_owned()),
        ("convert m.npz a=new.npy -o m.npz", one.to_owned()),
        ("slice m.npz:a --at :1 -o m.npz", more("2 more tensors")),
        ("slice-scatter m.npz:a --fill 0 --at : -o m.npz", more("2 more tensors")),
        ("scatter-update new.npy [0] m.npz:raw.npy --axis 0 -o m.npz", more("3 more tensors")),
        ("split m.npz:a --parts 2 -o m.npz", more("2 more tensors")),
        ("concat m.npz:* -o m.npz", more("2 more tensors")),
        ("diff m.npz:a new.npy --accept", one.to_owned()),
        ("diff m.npz changed.npz --accept", one.to_owned()),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            match run.status == Some(2) && run.stderr.contains(expected) && folder.content() == before {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
    // of a list of indices the output has no trace
    let starts = || stored("start.npy", &npy("int64", &[1], &[1, 0, 0, 0, 0, 0, 0, 0]));
    folder.put("s.npz", zip(&[starts(), stored("a.npy", &array(&[1]))]));
    folder.put("t.npz", zip(&[starts(), stored("notes.txt", b"text")]));
    folder.put("u.npz", zip(&[stored("a.npy", &array(&[1, 2])), stored("notes.txt", b"text")]));
    let before = folder.content();
    let rows = [
        ("slice new.npy --start s.npz:start --stop 2 -o s.npz", "holds 2 more tensors, which would be lost"),
        ("gather new.npy s.npz:start -o s.npz", "holds 2 more tensors, which would be lost"),
        (
            "gather new.npy t.npz:start -o t.npz",
            "holds 1 more tensor and \"notes.txt\", not a tensor, which would be lost",
        ),
        // the only tensor is replaced
        ("convert u.npz a=new.npy -o u.npz", "holds \"notes.txt\", not a tensor, which would be lost"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            match run.status == Some(2) && run.stderr.contains(expected) && folder.content() == before {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
    // a container that is not read is replaced by whoever names it
    assert_eq!(folder.run(words("convert new.npy -o m.npz")).status, Some(0));
}

/// Two arrays in one file, as `numpy.save` writes them one after the other.
fn two_arrays() -> Vec<u8> {
    [npy("<f4", &[2, 3], &[0; 24]), npy("<i8", &[2], &[7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0])].concat()
}

#[test]
fn several_arrays_in_one_npy() {
    let folder = Folder::new();
    let two = two_arrays();
    folder.put("two.npy", &two).put("new.npy", array(&[9]));
    folder.put("cut.npy", &two[..two.len() - 1]).put("junk.npy", [&two[..], b"junk"].concat());
    folder.put("one.npy", [&array(&[1])[..], b"junk"].concat());
    let caution = "holds several arrays, one after the other, and numpy.load reads only the first\n";
    // whoever takes the file for one array should hear of it
    for args in ["info two.npy", "info --json two.npy", "info --members two.npy"] {
        let run = folder.run(words(args));
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), &*format!("FILE two.npy: {caution}")), "{args}");
    }
    let info = text(&folder.run(words("info two.npy")));
    assert!(info.contains("  0      float32    [2, 3]   24 B\n  1      int64      [2]      16 B\n"), "{info}");
    let rows = [
        ("show two.npy:1", "two.npy:1: int64 [2]\n[7 8]\n"),
        ("slice two.npy:1 --at 1: --to text", "[8]\n"),
        ("concat two.npy:1 two.npy:1 --to text", "[7 8 7 8]\n"),
        ("convert two.npy -o all.npz", ""),
        ("diff two.npy all.npz", "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra\n"),
        ("convert cut.npy --exclude 1 -o first.npz", ""),
        ("slice-scatter two.npy:1 --fill 5 --at :1 --in-place", ""),
        ("info --members all.npz", "0\n1\n"),
    ];
    succeed(&folder, &rows);
    // an edit changes the items that it names, and nothing else
    let mut edited = two.clone();
    edited[two.len() - 16] = 5;
    assert!(folder.get("two.npy") == edited);
    let piped = folder.run_with(words("show - --to text"), None, Some(&two));
    assert_ne!(piped.status, Some(0), "{piped:?}");
    let refused = "several arrays in one .npy can be read, not written: choose another file";
    let header = "is one of several arrays in its file, and only the header of a single one is changed";
    let rows = [
        ("slice two.npy --at :1", "holds 2 tensors: name one after a colon: \"0\", \"1\""),
        ("slice two.npy:0 --at :1 -o two.npy", refused),
        ("scatter-update new.npy [0] two.npy:1 --axis 0 --ignore-dtype -o two.npy", ""),
        ("convert two.npy -o two.npy", ""),
        ("reshape two.npy:0 --shape 6 --in-place", header),
        ("concat two.npy:1 two.npy:1 --in-place", header),
        ("diff two.npy:1 new.npy --accept", "tensors by name in npy can be read, not written"),
        ("show cut.npy:1", "15 bytes of data, expected 16 (int64 [2])"),
        (
            "convert cut.npy -o all.npz",
            "cut.npy:1: 15 bytes of data, expected 16 (int64 [2]); --exclude 1 leaves it out",
        ),
        ("convert junk.npy -o all.npz", "junk.npy:2: not a .npy file: does not begin with \\x93NUMPY"),
        // what follows and is not an array is damage
        ("info one.npy", "5 bytes of data, expected 1 (uint8 [1])"),
    ];
    let before = folder.content();
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            match run.status == Some(2) && run.stderr.contains(expected) && folder.content() == before {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
}

#[test]
fn bodies_of_kserve() {
    let folder = Folder::new();
    let tensor = |name: &str, rest: &str| format!("{{\"name\": \"{name}\", {rest}}}");
    let response = [
        tensor("y", r#""shape": [2, 2], "datatype": "FP32", "data": [1, 2, 3, 4]"#),
        tensor("s", r#""shape": [2], "datatype": "BYTES", "data": ["ab", "cde"], "parameters": {"a": 1}"#),
        tensor("n", r#""shape": [1, 2], "datatype": "BOOL", "data": [[true, false]]"#),
    ];
    let bad = [
        tensor("short", r#""shape": [3], "datatype": "FP32", "data": [1]"#),
        tensor("type", r#""shape": [1], "datatype": "FP33", "data": [1]"#),
        tensor("none", r#""shape": [1], "data": [1]"#),
        r#"{"shape": [1], "datatype": "FP32", "data": [1]}"#.to_owned(),
        "5".to_owned(),
        tensor("bin", r#""shape": [1], "datatype": "FP32", "parameters": {"binary_data_size": 4}"#),
    ];
    let body = |key: &str, tensors: &[String], more: &str| format!("{{{more}\"{key}\": [{}]}}", tensors.join(", "));
    folder.put("r.json", body("outputs", &response, "\"model_name\": \"m\", "));
    folder.put("other.json", body("outputs", &response, "\"model_name\": \"k\", "));
    folder.put("q.json", body("inputs", &response[..1], "\"outputs\": [{\"name\": \"z\"}], "));
    folder.put("bare.json", body("inputs", &response[..1], ""));
    folder.put("bad.json", body("outputs", &[&response[..1], &bad].concat(), ""));
    folder.put("both.json", format!("{{\"inputs\": [{0}], \"outputs\": [{0}]}}", response[0]));
    folder.put("twice.json", body("inputs", &[response[0].clone(), response[0].clone()], ""));
    folder.put("described.json", r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "FP32"}]}"#);
    folder.put("nan.json", body("outputs", &[tensor("y", r#""shape": [1], "datatype": "FP32", "data": [NaN]"#)], ""));
    folder.put("cut.json", &body("outputs", &response, "")[..90]);
    folder.put("none.json", r#"{"model_name": "m", "outputs": []}"#);
    let binary = body("inputs", &bad[5..], "");
    folder.put("binary.json", [binary.as_bytes(), &[0, 0x80, 0xff, 0x3f]].concat());
    let rows = [
        ("info r.json --members", "y\ns\nn\n"),
        ("show r.json:y", "r.json:y: float32 [2, 2]\n[[1. 2.]\n [3. 4.]]\n"),
        ("slice r.json:s --at ::-1 --to text", "['cde' 'ab']\n"),
        ("slice r.json:n --at 0: --to text", "[[ True False]]\n"),
        ("slice q.json --at :1 --to text", "[[1. 2.]]\n"),
        (
            "convert bad.json --exclude bin --exclude none --exclude short --exclude type --exclude output* -q -o y.npz",
            "",
        ),
        ("info y.npz --members", "y\n"),
        ("diff r.json other.json", {
            "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n  content differs: model_name\n"
        }),
    ];
    succeed(&folder, &rows);
    let converted = folder.run(words("convert r.json -o r.npz"));
    let not_copied = "IN r.json: \"model_name\", \"s.parameters\" are not tensors, and are not copied\n";
    assert_eq!((converted.status, converted.stderr.as_str()), (Some(0), not_copied));
    let typed =
        folder.run([&["slice", "--at", ":1", "--to", "text"][..], &[&folder_text(&folder, "bare.json")]].concat());
    assert_eq!(typed.printed().as_deref(), Ok("[[1. 2.]]\n"));
    let before = folder.content();
    let rows = [
        ("slice r.json --at :1", &["name one after a colon: \"n\", \"s\", \"y\""][..]),
        ("slice r.json:y --at :1 -o r.json", &["a KServe body can be read, not written: choose another file"]),
        ("convert bare.json -o bare.json", &["a KServe body can be read, not written: choose another file"]),
        ("diff bare.json:y [[1.0]] --accept", &["tensors by name in json can be read, not written"]),
        ("slice-scatter bare.json:y --fill 1 --at : --in-place", &["--in-place"]),
        (
            "convert bad.json -o all.npz",
            &[
                "bad.json:short: data has shape [1], expected [3]",
                "bad.json:type: unknown datatype \"FP33\"",
                "bad.json:none: has no \"datatype\"",
                "bad.json:outputs[4]: has no \"name\"",
                "bad.json:outputs[5]: is 5, expected an object",
                "bad.json:bin: a KServe body whose items follow the JSON as bytes (binary_data_size)",
            ],
        ),
        ("info both.json", &["tensors in inputs and outputs, expected a request or a response"]),
        ("info twice.json", &["two of the inputs are called \"y\""]),
        ("info binary.json", &["follow the JSON as bytes (binary_data_size), which are not read"]),
        ("info nan.json", &["nan.json: a KServe body: not JSON: bare NaN at line 1 column", "write \"NaN\" in quotes"]),
        ("info cut.json", &["cut.json: a KServe body: not JSON: EOF"]),
        ("info none.json", &["none.json: a KServe body without tensors: its list of inputs or outputs is empty"]),
        ("info described.json", &["unknown key \"inputs\""]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            let is_said = expected.iter().all(|text| run.stderr.contains(text));
            match run.status == Some(2) && run.stderr.lines().count() == 1 && is_said && folder.content() == before {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
}

fn folder_text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.get(name)).expect("text")
}

#[test]
fn what_cannot_be_read_stops_nothing_else() {
    let folder = Folder::new();
    let header = r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[-1],"data_offsets":[1,2]},
        "c":{"dtype":"U9","shape":[1],"data_offsets":[2,3]}}"#;
    folder.put("m.safetensors", crate::common::safetensors_with_header(header, &[1, 2, 3]));
    let short = &array(&[1, 2])[..129];
    folder.put("m.npz", zip(&[stored("a.npy", &array(&[1])), stored("b.npy", b"text"), stored("c.npy", short)]));
    // without the ending a member that cannot be read may be a tensor; of two with one name neither is read
    let locked = |content: &[u8]| Zipped { method: 12, ..stored("b", content) };
    folder.put("z.npz", zip(&[stored("a.npy", &array(&[1])), locked(b"abcdefgh")]));
    folder.put("other.npz", zip(&[stored("a.npy", &array(&[1])), locked(b"abcdefgi")]));
    let corrupt = Zipped { method: 8, ..stored("b", &[0xff; 12]) };
    folder.put("d.npz", zip(&[stored("a.npy", &array(&[1])), corrupt]));
    let twice = [stored("a.npy", &array(&[1])), stored("b.npy", &array(&[1])), stored("b.npy", &array(&[2]))];
    folder.put("twice.npz", zip(&twice));
    folder.put("m.npy", [&array(&[1])[..], short].concat());
    let tensor = |name: &str, more: &str| format!("{{\"name\": \"{name}\", \"shape\": [1], \"data\": [1]{more}}}");
    let tensors = [tensor("a", ", \"datatype\": \"UINT8\""), tensor("b", ""), tensor("c", ", \"datatype\": \"U8\"")];
    folder.put("m.json", format!("{{\"inputs\": [{}]}}", tensors.join(", ")));
    let rows = [
        ("m.safetensors", "a", &["b: invalid value: integer `-1`, expected usize", "c: dtype 'U9' is not known"][..]),
        (
            "m.npz",
            "a",
            &["b: not a .npy file: does not begin with \\x93NUMPY", "c: 1 bytes of data, expected 2 (uint8 [2])"],
        ),
        ("z.npz", "a", &["b: compressed by method 12 (BZIP2), expected stored or deflated"]),
        ("d.npz", "a", &["b: its deflated data is corrupt after 0 bytes"]),
        ("twice.npz", "a", &["b: the ZIP archive has several members named \"b.npy\""]),
        ("m.npy", "0", &["1: 1 bytes of data, expected 2 (uint8 [2])"]),
        ("m.json", "a", &["b: has no \"datatype\"", "c: unknown datatype \"U8\", expected one of KServe v2"]),
    ];
    each(
        rows,
        |(file, ..)| (*file).to_owned(),
        |(file, good, bad)| {
            let run = |args: &str| folder.run(words(args));
            let listed = text(&run(&format!("info {file}")));
            for reason in *bad {
                let why = reason.split_once(": ").expect("a name and a reason").1;
                if !listed.contains(&format!("not read: {why}")) {
                    return Err(format!("{why} is not in {listed}"));
                }
            }
            let whole = run(&format!("convert {file} -o all.npz"));
            if whole.status != Some(2) || whole.stderr.lines().count() > 1 || folder.path("all.npz").exists() {
                return Err(format!("{whole:?}"));
            }
            if let Some(reason) = bad.iter().find(|reason| !whole.stderr.contains(&format!("{file}:{reason}"))) {
                return Err(format!("{reason} is not in {}", whole.stderr));
            }
            let excluded: String = bad.iter().map(|reason| format!(" --exclude {}", &reason[..1])).collect();
            run(&format!("convert {file}{excluded} -o good.npz")).printed()?;
            let compared = run(&format!("diff good.npz {file}{excluded}")).printed()?;
            if !compared.starts_with("equal: 1 same") {
                return Err(compared);
            }
            let all = run(&format!("diff {file} {file}"));
            let summary =
                format!("unreadable: 1 same, 0 within, 0 different, 0 missing, 0 extra, {} unreadable\n", bad.len());
            if all.status != Some(2) || !text(&all).starts_with(&summary) {
                return Err(format!("{all:?}"));
            }
            let one = run(&format!("slice {file}:{good} --at :1 --to text")).printed()?;
            if one == "[1]\n" { Ok(()) } else { Err(one) }
        },
    );
    let changed = folder.run(words("diff z.npz other.npz"));
    assert!(changed.status == Some(2) && text(&changed).starts_with("unreadable: 1 same"), "{changed:?}");
}
