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
