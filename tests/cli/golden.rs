//! What becomes of golden files: `diff --golden`, the variable that it reads, and `--accept --dry-run`.

use std::fs;

use crate::common::{Folder, Run, each, npz, safetensors, tensor, words};

const UPDATE: &str = "TENSOROP_UPDATE_GOLDEN";

/// A folder with two tensors that differ in an item, two containers, and a model in two shards with its index.
fn folder() -> Folder {
    let folder = Folder::new();
    let (old, new) = (tensor::<f32>(&[2], &[1., 2.]), tensor::<f32>(&[2], &[1., 2.5]));
    folder.put("old.npy", old.npy()).put("new.npy", new.npy());
    folder.put("dump.bin", old.bytes());
    folder.put("old.npz", npz(&[("a", old.npy()), ("b", old.npy())]));
    folder.put("new.npz", npz(&[("a", new.npy()), ("c", new.npy())]));
    for (shard, name) in [("m-1.safetensors", "x"), ("m-2.safetensors", "y")] {
        folder.put(shard, safetensors(&[crate::common::member(name, "float32", &[2], old.bytes())]));
    }
    let index = r#"{"metadata": {"total_size": 16}, "weight_map": {"x": "m-1.safetensors", "y": "m-2.safetensors"}}"#;
    folder.put("m.safetensors.index.json", index);
    folder.put("more.npz", npz(&[("x", new.npy()), ("z", new.npy())]));
    folder
}

/// Runs the program with the variable set to a value, if there is one.
fn run(folder: &Folder, args: &str, value: Option<&str>) -> Run {
    let mut command = folder.command();
    command.args(words(args)).env_remove(UPDATE).envs(value.map(|value| (UPDATE, value)));
    let output = command.output().expect("the program runs");
    Run {
        status: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn the_variable_has_known_values_for_golden_files_alone() {
    // whether a golden file is written; `None` for an error
    let rows = [
        (None, Some(false)),
        (Some("1"), Some(true)),
        (Some("true"), Some(true)),
        (Some("YES"), Some(true)),
        (Some("0"), Some(false)),
        (Some("False"), Some(false)),
        (Some("no"), Some(false)),
        (Some(""), Some(false)),
        (Some("on"), None),
        (Some(" 1"), None),
        (Some("2"), None),
    ];
    each(
        rows,
        |(value, _)| format!("{value:?}"),
        |(value, updates)| {
            let folder = folder();
            let before = folder.content();
            // what is no golden assertion does not look at it
            let plain = run(&folder, "diff old.npy new.npy -q", *value);
            if plain.status != Some(1) || !plain.stderr.is_empty() || folder.content() != before {
                return Err(format!("without --golden: {plain:?}"));
            }
            let run = run(&folder, "diff --golden old.npy new.npy -q", *value);
            let message = format!(
                "error: {UPDATE}: {:?} is not known, expected 1, true, yes, 0, false, no or nothing\n",
                value.unwrap_or_default()
            );
            let (status, stdout, stderr) = match updates {
                Some(true) => (0, "wrote old.npy: 1 tensor\n", ""),
                Some(false) => (1, "different: 1 of 2 items", ""),
                None => (2, "", &*message),
            };
            let is_so = run.status == Some(status)
                && String::from_utf8_lossy(&run.stdout).starts_with(stdout)
                && run.stderr == stderr;
            let written = folder.get("old.npy") == folder.get("new.npy");
            let is_kept = before.iter().all(|(name, file)| name == "old.npy" || folder.get(name) == *file);
            match is_so && is_kept && written == (*updates == Some(true)) {
                true => Ok(()),
                false => Err(format!("written {written}, the rest kept {is_kept}: {run:?}")),
            }
        },
    );
}

#[test]
fn a_golden_file_that_differs_or_is_not_there_says_how_to_write_it() {
    let folder = folder();
    let before = folder.tree("");
    let hint = format!("\n  {UPDATE}=1 accepts ACTUAL\n");
    for args in ["old.npy new.npy", "old.npz new.npz", "old.npy new.npy --map"] {
        let told = run(&folder, &format!("diff --golden {args}"), None);
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.status == Some(1) && text.ends_with(&hint), "{args}: {told:?}");
    }
    // the rest is what a plain comparison prints
    for (args, status) in [
        ("old.npy old.npy", 0),
        ("old.npy new.npy -q", 1),
        ("old.npy new.npy --json", 1),
        ("old.npy new.npy --atol 1", 0),
        ("[1.0] [2.0]", 1),
    ] {
        let [plain, golden] = ["diff", "diff --golden"].map(|command| run(&folder, &format!("{command} {args}"), None));
        assert_eq!((golden.status, &golden), (Some(status), &plain), "{args}");
    }
    let missing = run(&folder, "diff --golden tests/new.npy new.npy", None);
    let message =
        format!("error: EXPECTED tests/new.npy: No such file or directory (os error 2); {UPDATE}=1 makes it\n");
    if cfg!(unix) {
        assert_eq!((missing.status, missing.stderr), (Some(2), message));
    }
    assert_eq!(folder.tree(""), before);
    let made = run(&folder, "diff --golden tests/new.npy new.npy", Some("yes"));
    assert_eq!((made.status, made.stderr.as_str()), (Some(0), ""));
    assert_eq!(folder.get("tests/new.npy"), folder.get("new.npy"));
}

/// What is no local file has nothing that could be written, and is compared all the same.
#[test]
fn values_that_are_no_golden_file_are_compared() {
    let folder = folder();
    let before = folder.tree("");
    let compared = run(&folder, "diff --golden [1.0] [2.0]", Some("1"));
    assert!(compared.status == Some(1) && compared.stderr.is_empty(), "{compared:?}");
    assert!(compared.stdout.starts_with(b"different: 1 of 1 item"), "{compared:?}");
    let compared = run(&folder, "diff --golden [1.0,2.0] old.npy", Some("1"));
    assert_eq!((compared.status, compared.stderr.as_str()), (Some(0), ""));
    assert_eq!(folder.tree(""), before);
}

/// A dry run has the status and the errors of `--accept`, says what that writes, and writes nothing.
#[test]
fn a_dry_run_says_what_would_be_accepted() {
    let rows = [
        ("old.npy new.npy", vec!["would write old.npy: 1 tensor"]),
        ("old.npy new.npy -q", vec!["would write old.npy: 1 tensor"]),
        ("old.npy old.npy", vec![]),
        ("old.npy new.npy --atol 1", vec![]),
        ("new/deep.npy new.npy", vec!["would write new/deep.npy: 1 tensor"]),
        ("dump.bin:float32 new.npy", vec!["would write dump.bin:float32: 1 tensor"]),
        ("old.npz new.npz", vec!["would write old.npz: 2 of 3 tensors", "would leave old.npz:b: only EXPECTED has it"]),
        (
            "m.safetensors.index.json more.npz",
            vec![
                "would write m-1.safetensors: 1 tensor",
                "would write m-2.safetensors: 1 of 2 tensors",
                "would write m.safetensors.index.json: the index",
                "would leave m.safetensors.index.json:y: only EXPECTED has it",
            ],
        ),
        // what --accept refuses
        ("old.xyz new.npy", vec![]),
        ("old.npy/x.npy new.npy", vec![]),
        ("[1.0] new.npy", vec![]),
        ("dump.bin:float32 [[1.0]]", vec![]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, lines)| {
            let folder = folder();
            let before = folder.tree("");
            let dry = folder.run(words(&format!("diff --accept --dry-run {args}")));
            if folder.tree("") != before || folder.path("new").exists() {
                return Err(format!("something was written: {dry:?}"));
            }
            let text = String::from_utf8_lossy(&dry.stdout).into_owned();
            let told: Vec<_> = text.lines().filter(|line| line.starts_with("would ")).collect();
            if told != *lines {
                return Err(format!("{told:?}"));
            }
            let run = folder.run(words(&format!("diff --accept {args}")));
            let written = String::from_utf8_lossy(&run.stdout).into_owned();
            let would = |line: &str| {
                let line = line.strip_prefix("wrote ").map(|rest| format!("would write {rest}\n"));
                line.unwrap_or_default()
            };
            let left = |line: &str| line.strip_prefix("left ").map(|rest| format!("would leave {rest}\n"));
            let written = written.lines().map(|line| {
                let changed = left(line).unwrap_or_else(|| would(line));
                if changed.is_empty() { format!("{line}\n") } else { changed }
            });
            let same = (run.status, &run.stderr, written.collect::<String>()) == (dry.status, &dry.stderr, text);
            if same { Ok(()) } else { Err(format!("{dry:?}\nbut --accept: {run:?}")) }
        },
    );
    // a line beside JSON
    let folder = folder();
    let run = folder.run(words("diff --accept --dry-run --json old.npy new.npy"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), "would write old.npy: 1 tensor\n"));
    folder.refuses(words("diff --dry-run old.npy new.npy"), &["--accept"]).unwrap();
    folder.refuses(words("diff --dry-run --golden old.npy new.npy"), &["--accept"]).unwrap();
}

/// The module of Python asks for the names of its own arguments.
#[test]
fn options_as_keyword_arguments() {
    let folder = folder();
    fs::create_dir(folder.path("left")).unwrap();
    fs::create_dir(folder.path("right")).unwrap();
    for name in ["left/x.npy", "left/notes.txt", "right/y.npy"] {
        fs::copy(folder.path(if name == "right/y.npy" { "new.npy" } else { "old.npy" }), folder.path(name)).unwrap();
    }
    folder.put("f64.npy", tensor::<f64>(&[2], &[1., 2.]).npy());
    let rows = [
        ("old.npy new.npy --min-cosine 1 --rtol 0.1", "is below min_cosine=1\n"),
        ("old.npy new.npy", "  atol=0.5\n"),
        ("old.npy new.npy --rtol 0.125 -q", "not within rtol=0.125\n"),
        ("old.npy new.npy --allow 1% -q", "more than allow=\"1%\"\n"),
        ("old.npy f64.npy", "  ignore_dtype=True compares the values\n"),
        ("old.npz new.npz --limit 1", "limit=3 lists all\n"),
        ("left right", "(verbose=True names it)\n"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, text)| {
            let run = folder.run(words(&format!("diff --keywords {args}")));
            let report = String::from_utf8_lossy(&run.stdout).into_owned();
            let is_so = run.status == Some(1) && report.contains(text) && !report.contains("--");
            if is_so { Ok(()) } else { Err(format!("{run:?}")) }
        },
    );
}

/// What is wrong with a golden file: its name, its content, and the end of the message.
fn damaged() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let old = tensor::<f32>(&[2], &[1., 2.]);
    let mut torn = npz(&[("a", old.npy()), ("b", old.npy())]);
    let at = torn.windows(5).position(|bytes| bytes == b"NUMPY").unwrap();
    torn[at + 127] ^= 1;
    vec![
        ("g.npy", Vec::new(), "empty, expected a tensor"),
        ("g.json", Vec::new(), "empty, expected a tensor"),
        ("g.csv", Vec::new(), "empty, expected a tensor"),
        ("g.npy", old.npy()[..130].to_vec(), "2 bytes of data, expected 8 (float32 [2])"),
        ("g.npy", b"hello".to_vec(), "not a tensor: begins with \"hello\""),
        ("g.safetensors", safetensors(&[])[..5].to_vec(), ""),
        ("g.npz", npz(&[("a", old.npy())])[..100].to_vec(), ""),
        ("g.json", br#"{"dtype": "uint8", "data": [300, 1]}"#.to_vec(), "[0]: 300 is out of range for uint8"),
        ("g.json", br#"{"shape": [3], "data": [1, 2]}"#.to_vec(), ""),
        ("g.json", b"[1.0, 2".to_vec(), ""),
        ("g.json", br#"["x", 1]"#.to_vec(), ""),
        ("g.csv", b"1.0\nx\n".to_vec(), ""),
        ("g.csv", b"1,2\n3\n".to_vec(), ""),
        ("g.npz:a", torn, ""),
    ]
}

/// A golden file that cannot be read is different, and is replaced, with a word; a plain comparison calls it an error.
#[test]
fn a_damaged_golden_file_is_different() {
    each(
        damaged(),
        |(name, content, _)| format!("{name} of {} bytes", content.len()),
        |(name, content, why)| {
            let folder = folder();
            let file = name.split(':').next().unwrap();
            folder.put(file, content);
            let mut before = folder.content();
            let named = format!("EXPECTED {name}: ");
            let plain = run(&folder, &format!("diff {name} new.npy"), Some("1"));
            let message = format!("{why}\n");
            let is_error = plain.status == Some(2) && plain.stderr.starts_with(&format!("error: {named}"));
            if !is_error || !plain.stdout.is_empty() || !why.is_empty() && !plain.stderr.ends_with(&message) {
                return Err(format!("without --golden: {plain:?}"));
            }
            let why = plain.stderr["error: ".len()..].trim_end();
            let accepts = format!("different: {why}\n  {UPDATE}=1 accepts ACTUAL\n");
            for (args, status, stdout, stderr) in [
                ("--golden", 1, accepts.as_str(), ""),
                ("--golden -q", 1, &format!("different: {why}\n"), ""),
                ("--accept --dry-run -q", 0, "would write ", &format!("{why}\n")),
            ] {
                let found = run(&folder, &format!("diff {args} {name} new.npy"), None);
                let text = String::from_utf8_lossy(&found.stdout).into_owned();
                let is_text = if status == 0 { text.starts_with(stdout) } else { text == *stdout };
                if found.status != Some(status) || !is_text || found.stderr != stderr || folder.content() != before {
                    return Err(format!("{args}: {found:?}"));
                }
            }
            let json = run(&folder, &format!("diff --golden --json {name} new.npy"), None);
            if json.status != Some(1)
                || !json.stdout.starts_with(br#"{"equal": false, "#)
                || json.stderr.trim_end() != why
            {
                return Err(format!("--json: {json:?}"));
            }
            // from a pipe, too, whose tensor is read once
            let made = folder.run_with(
                words(&format!("diff --accept {name} -")).iter().map(String::as_str).collect::<Vec<_>>(),
                None,
                Some(&folder.get("new.npy")),
            );
            let text = String::from_utf8_lossy(&made.stdout).into_owned();
            let wrote = format!("different: {why}\nwrote {file}: 1 ");
            if made.status != Some(0) || !(text + " ").starts_with(wrote.trim_end()) {
                return Err(format!("--accept: {made:?}"));
            }
            before = folder.content();
            if file == "g.npy" && !folder.get(file).starts_with(b"\x93NUMPY") {
                return Err("another format than that of the name".to_owned());
            }
            let again = run(&folder, &format!("diff --golden {name} new.npy"), Some("1"));
            let is_equal = again.status == Some(0) && again.stdout.starts_with(b"equal: 2 items of float32 [2]");
            if is_equal && folder.content() == before { Ok(()) } else { Err(format!("again: {again:?}")) }
        },
    );
}

/// Of several tensors the damaged ones are different, and the others stay; a file that is damaged as a whole is made anew.
#[test]
fn damaged_tensors_among_others() {
    let folder = folder();
    let [old, new] = ["old.npy", "new.npy"].map(|name| folder.get(name));
    for side in ["left", "right"] {
        fs::create_dir(folder.path(side)).unwrap();
    }
    for (side, files) in [("left", [("x", &b""[..]), ("y", &old)]), ("right", [("x", &new), ("y", &old)])] {
        for (name, content) in files {
            folder.put(format!("{side}/{name}.npy"), content);
        }
        folder
            .put(format!("{side}/z.npz"), if side == "left" { b"PK\x03\x04".to_vec() } else { folder.get("new.npz") });
    }
    folder.put("cut.npz", &folder.get("new.npz")[..200]);
    let rows = [
        ("left right", "different: 1 same, 0 within, 3 different, 0 missing, 0 extra\n", "", "z.npz: 2 tensors"),
        (
            "cut.npz new.npz",
            "different: 0 same, 0 within, 0 different, 0 missing, 2 extra\n",
            "EXPECTED cut.npz: ",
            "cut",
        ),
    ];
    for (args, verdict, note, wrote) in rows {
        let before = folder.tree("");
        let plain = run(&folder, &format!("diff {args}"), Some("1"));
        assert_eq!(plain.status, Some(2), "{args}: {plain:?}");
        let golden = run(&folder, &format!("diff --golden {args}"), None);
        let text = String::from_utf8_lossy(&golden.stdout).into_owned();
        assert!(golden.status == Some(1) && text.starts_with(verdict), "{args}: {golden:?}");
        assert!(golden.stderr.starts_with(note) && golden.stderr.is_empty() == note.is_empty(), "{args}: {golden:?}");
        assert_eq!(folder.tree(""), before, "{args}");
        let accepted = run(&folder, &format!("diff --golden {args}"), Some("1"));
        let text = String::from_utf8_lossy(&accepted.stdout).into_owned();
        assert!(accepted.status == Some(0) && text.contains(wrote), "{args}: {accepted:?}");
        let again = run(&folder, &format!("diff {args}"), None);
        assert!(again.status == Some(0) && again.stdout.starts_with(b"equal: "), "{args}: {again:?}");
    }
    assert_eq!(folder.get("left/y.npy"), old);
}

/// A file that is something else is no damaged golden file, and neither is one that cannot be opened.
#[test]
fn other_files_are_never_replaced() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 12\n";
    let rows: [(&str, &[u8]); 3] =
        [("g.npy", pointer.as_bytes()), ("g.npy", b"\x89HDF\r\n\x1a\n and more"), ("g.csv", pointer.as_bytes())];
    for (name, content) in rows {
        let folder = folder();
        folder.put(name, content);
        for args in ["--golden", "--accept", "--golden -q"] {
            let run = run(&folder, &format!("diff {args} {name} new.npy"), Some("1"));
            assert!(run.status == Some(2) && run.stderr.contains(&format!("EXPECTED {name}: ")), "{args}: {run:?}");
            assert_eq!(folder.get(name), content, "{args} {name}");
        }
    }
}

/// A text that the same command would not find equal is not written, and one that it would is.
#[test]
fn what_would_not_pass_is_not_written() {
    let strings = "; --dtype str reads strings\n";
    let rows = [
        (r#"g.csv ["007","1e3"]"#, Some(strings)),
        (r#"g.tsv ["007","1e3"]"#, Some(strings)),
        (r#"g.csv ["true","x"]"#, Some(strings)),
        (r#"g.csv ["","1"]"#, Some(" reads it, --dtype str strings\n")),
        (r#"g.csv ["a;b","c;d"]"#, None),
        (r#"g.csv ["1;2","3;4"]"#, Some(" reads numbers, --dtype str strings\n")),
        (r#"g.csv ["007","1e3"] --dtype str"#, None),
        (r#"g.csv ["true","x"] --dtype str"#, None),
        (r#"g.csv ["1;2","3;4"] --dtype str"#, None),
        (r#"g.json ["007","1e3"]"#, None),
        ("g.csv s.json", None),
        ("g.csv [[1],[2]]", Some("of another format\n")),
        ("g.csv [1.5,2]", None),
        ("g.csv nan.npy", None),
        ("g.json nan.npy", None),
        ("g.json nan.npy --nan-differs", Some("of another format\n")),
        ("g.csv nan.npy --nan-differs", Some("of another format\n")),
        ("g.npy nan.npy --nan-differs", None),
        ("g.csv [1.0,2.0] --skip-rows 1", Some("of another format\n")),
        ("g.csv nan.npy --missing 0", Some("of another format\n")),
        // the packed dtype would read each byte as two items
        ("p.npy i4.json --dtype int4x2", Some("of another format\n")),
        ("p.npy i4.json --dtype int4", None),
        // tensors that the next run would not compare, or not under the same names
        ("e.npz a.npz --rename b=n", Some("another one: --exclude leaves it out\n")),
        ("e.npz a.npz --rename b=n --exclude b", None),
        ("e.npz more.npz --rename *=net.*", Some("another one: --exclude leaves it out\n")),
        // strings of a narrower or a wider golden file
        (r#"wide.csv ["a"]"#, None),
        (r#"wide.json ["a"]"#, None),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, refused)| {
            let folder = Folder::new();
            folder.put("nan.npy", tensor::<f32>(&[2], &[f32::from_bits(0x7fc0_0001), 1.]).npy());
            folder.put("s.json", r#"{"dtype": "<U9", "data": ["007", "true"]}"#);
            folder.put("p.npy", tensor::<u8>(&[1, 2], &[0x21, 0x43]).npy());
            folder.put("i4.json", r#"{"dtype": "int4", "data": [[1, 2, 3, 5]]}"#);
            let item = |item: f32| tensor::<f32>(&[1], &[item]).npy();
            folder.put("e.npz", npz(&[("b", item(1.)), ("c", item(1.))]));
            folder.put("a.npz", npz(&[("n", item(2.)), ("c", item(1.)), ("b", item(2.))]));
            folder.put("more.npz", npz(&[("net.b", item(1.)), ("net.c", item(1.)), ("net.z", item(2.))]));
            folder.put("wide.csv", "abc\n").put("wide.json", r#"["abc", "d"]"#);
            let before = folder.content();
            let made = run(&folder, &format!("diff --golden {args}"), Some("1"));
            let Some(end) = refused else {
                let again = run(&folder, &format!("diff --golden {args}"), None);
                let passes = made.status == Some(0) && again.status == Some(0);
                return if passes { Ok(()) } else { Err(format!("{made:?}\nthen {again:?}")) };
            };
            let is_refused = made.status == Some(2) && made.stderr.ends_with(end) && !made.stdout.contains(&b'w');
            let reported = run(&folder, &format!("diff --accept --dry-run {args}"), None);
            let is_so = is_refused && (reported.status, &reported.stderr) == (Some(2), &made.stderr);
            if is_so && folder.content() == before { Ok(()) } else { Err(format!("{made:?}\ndry: {reported:?}")) }
        },
    );
}

/// Runs the program with a folder for the actual tensors.
fn keep(folder: &Folder, args: &str, value: Option<&str>, stdin: Option<&str>) -> Run {
    let mut command = folder.command();
    command.args(words(args)).env("TENSOROP_KEEP_ACTUAL", "kept/in").env_remove(UPDATE);
    command.envs(value.map(|value| (UPDATE, value)));
    if let Some(stdin) = stdin {
        command.pipe_stdin(folder.path(stdin)).unwrap();
    }
    let output = command.output().expect("the program runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Run { status: output.status.code(), stdout: output.stdout, stderr }
}

#[test]
fn a_failed_check_leaves_the_actual_tensor() {
    // what is compared, the status, and what is left then
    let rows = [
        ("old.npy new.npy", None, 1, Some("old.actual.npy")),
        ("old.npy - <new.npy", None, 1, Some("old.actual.npy")),
        ("old.npy new.npy -q", None, 1, Some("old.actual.npy")),
        ("old.npy new.npy --json", None, 1, Some("old.actual.npy")),
        ("old.npy new.npy --heatmap map.png", None, 1, Some("old.actual.npy")),
        ("sub/none.npy new.npy", None, 2, Some("none.actual.npy")),
        ("none.npy - <new.npy", None, 2, Some("none.actual.npy")),
        ("empty.json new.npy", None, 1, Some("empty.actual.npy")),
        ("old.npz:a new.npz:a", None, 1, Some("old.a.actual.npy")),
        ("old.npz new.npz", None, 1, Some("old.actual.npz")),
        ("none.npz new.npz", None, 2, Some("none.actual.npz")),
        ("old.npy new.npz", None, 2, None),
        ("old.npy old.npy", None, 0, None),
        ("old.npy new.npy --atol 1", None, 0, None),
        ("old.npy new.npy", Some("1"), 0, None),
        ("old.npz new.npz", Some("1"), 0, None),
        ("none.npy new.npy", Some("1"), 0, None),
        // nothing that can be kept: the check fails all the same
        ("old.npy none.npy", None, 2, None),
    ];
    each(
        rows,
        |row| format!("{row:?}"),
        |(args, value, status, left)| {
            let folder = folder();
            folder.put("empty.json", "");
            fs::create_dir_all(folder.path("kept/in")).unwrap();
            let (args, stdin) = args.split_once(" <").map_or((*args, None), |(args, stdin)| (args, Some(stdin)));
            if let (None, 0) = (left, status) {
                for stale in ["old.actual.npy", "old.actual.npz", "none.actual.npy"] {
                    folder.put(format!("kept/in/{stale}"), "stale");
                }
            }
            let stale = args.split(['.', ':', ' ']).next().unwrap().to_owned() + ".actual.";
            let run = keep(&folder, &format!("diff --golden {args}"), *value, stdin);
            let kept: Vec<_> = folder.tree("kept").into_keys().collect();
            let kept: Vec<_> = kept.iter().filter(|name| left.is_some() || name.contains(&stale)).collect();
            let is_left = match left {
                Some(name) => kept.len() == 1 && kept[0].ends_with(name),
                None => kept.is_empty(),
            };
            if run.status != Some(*status) || !is_left {
                return Err(format!("{kept:?}: {run:?}"));
            }
            let Some(name) = left else { return Ok(()) };
            let text = String::from_utf8_lossy(&run.stdout).into_owned();
            let line = format!("  ACTUAL is in {}\n", std::path::Path::new("kept/in").join(name).display());
            let is_said = text.ends_with(&line) != (args.contains("-q") || args.contains("--json"));
            let actual = args.split(' ').nth(1).unwrap().replace('-', "new.npy");
            let same = folder.run(words(&format!("diff kept/in/{name} {actual}")));
            if is_said && same.status == Some(0) { Ok(()) } else { Err(format!("{text}\n{same:?}")) }
        },
    );
    // only a golden check, and only where the variable names a folder
    let folder = folder();
    assert_eq!(keep(&folder, "diff old.npy new.npy", None, None).status, Some(1));
    assert!(!folder.path("kept").exists());
    let mut command = folder.command();
    command.args(words("diff --golden old.npy new.npy")).env("TENSOROP_KEEP_ACTUAL", "");
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    folder.put("kept", "a file");
    let run = keep(&folder, "diff --golden old.npy new.npy", None, None);
    assert!(
        run.status == Some(1) && String::from_utf8_lossy(&run.stdout).contains("  ACTUAL is not kept: "),
        "{run:?}"
    );
}

/// The shell test of the page, with a program that prints a tensor and fails.
#[cfg(unix)]
#[test]
fn the_shell_test_accepts_nothing_from_a_program_that_failed() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/golden.md")).unwrap();
    let script = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let line = script.lines().find(|line| line.starts_with("golden ")).unwrap();
    let folder = Folder::new();
    fs::create_dir_all(folder.path("tests/golden")).unwrap();
    let tensorop = crate::common::binary();
    for (program, status, left) in [
        ("golden a.json sh -c 'echo [3, 4]; exit 7'", 7, "[1, 2]"),
        ("golden a.json sh -c 'kill -9 $$'", 137, "[1, 2]"),
        ("golden a.json sh -c 'echo [3, 4]'\ngolden a.json sh -c 'exit 3'", 3, "[3, 4]"),
        ("golden a.json sh -c 'echo [3, 4]'", 0, "[3, 4]"),
    ] {
        folder.put("tests/golden/a.json", "[1, 2]").put("test.sh", script.replace(line, program));
        let mut command = std::process::Command::new("sh");
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(tensorop.parent().unwrap().to_owned()).chain(std::env::split_paths(&usual));
        command.arg("test.sh").current_dir(folder.path("")).env("PATH", std::env::join_paths(path).unwrap());
        let output = command.env(UPDATE, "1").output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{program}: {output:?}");
        folder.put("left.json", left);
        let same = folder.run(words("diff tests/golden/a.json left.json"));
        assert_eq!(same.status, Some(0), "{program}: {same:?}");
    }
}
