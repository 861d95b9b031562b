//! Where the output goes, and what is left when it cannot go there.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::{
    self, Folder, Run, binary, each, file_of, has, named, npy, put_operands, refused_commands, send,
    stop_ignoring_signals, tensor, words,
};

const SLICE: &str = "slice d.npy --at 1:";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[3], &[1, 2, 3]).npy());
    folder
}

fn sliced() -> Vec<u8> {
    tensor::<i32>(&[2], &[2, 3]).npy()
}

const JSON: &str = "{\"dtype\": \"int32\", \"shape\": [2], \"data\": [2, 3]}\n";

fn run(folder: &Folder, args: &str) -> Result<String, String> {
    folder.run(words(args)).printed()
}

fn mode(folder: &Folder, name: &str) -> u32 {
    fs::metadata(folder.path(name)).expect("a file").mode() & 0o7777
}

/// Runs a script of `sh`, in which `$T` is the program. Returns the status, standard output and standard error.
fn shell(folder: &Folder, script: &str) -> (Option<i32>, String, String) {
    streams(folder.script(script))
}

fn streams(run: Run) -> (Option<i32>, String, String) {
    (run.status, String::from_utf8_lossy(&run.stdout).into_owned(), run.stderr)
}

#[test]
fn the_format_follows_the_name_or_to() {
    let folder = folder();
    each(
        [
            ("-o out.npy", "out.npy", sliced()),
            ("-o capitals.NPY", "capitals.NPY", sliced()),
            ("-oout.npy", "out.npy", sliced()),
            ("--output out.npy", "out.npy", sliced()),
            ("--output=out.npy", "out.npy", sliced()),
            ("-o out.json", "out.json", JSON.into()),
            ("-o out.txt", "out.txt", b"[2 3]\n".to_vec()),
            ("-o out --to npy", "out", sliced()),
            ("-o out.npy --to json", "out.npy", JSON.into()),
            ("-o out.json --to npy", "out.json", sliced()),
            ("-o out.txt --to npy", "out.txt", sliced()),
            ("-o out.data --to json", "out.data", JSON.into()),
            ("-o ./a.b/../out.json", "out.json", JSON.into()),
            ("-o -x.npy", "-x.npy", sliced()),
        ],
        |(options, ..)| (*options).to_owned(),
        |(options, name, expected)| {
            let _ = fs::create_dir(folder.path("a.b"));
            let _ = fs::remove_file(folder.path(name));
            let printed = run(&folder, &format!("{SLICE} {options}"))?;
            let found = folder.get(name);
            if printed.is_empty() && found == *expected { Ok(()) } else { Err(format!("{printed}{found:?}")) }
        },
    );
    each(
        [("", "[2 3]\n"), ("--to text", "[2 3]\n"), ("-o -", "[2 3]\n"), ("--to json", JSON), ("-o - --to json", JSON)],
        |(options, _)| (*options).to_owned(),
        |(options, expected)| {
            let printed = run(&folder, &format!("{SLICE} {options}"))?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
    for options in ["--to npy", "-o - --to npy"] {
        assert_eq!(folder.run(words(&format!("{SLICE} {options}"))).stdout, sliced(), "{options}");
    }
    assert!(!folder.path("-").exists());
    each(
        ["-o out", "-o out.xlsx", "-o out.zip", "-o .npy", "-o npy", "-o .", "-o ''", "-o out.npy --to xlsx"],
        |options| (*options).to_owned(),
        |options| folder.refuses(words(&format!("{SLICE} {options}")), &[]).map(drop),
    );
}

#[test]
fn commands_pipe_into_each_other() {
    let folder = folder();
    let (status, out, err) =
        shell(&folder, "$T slice d.npy --at ::-1 --to npy | $T slice-scatter - --fill 0 --at 1:2 --to json");
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert_eq!(out, "{\"dtype\": \"int32\", \"shape\": [3], \"data\": [3, 0, 1]}\n");
    let (_, out, err) = shell(&folder, "cat d.npy | $T slice - --at 1: --to json | $T slice - --at 1: --to json");
    assert_eq!((out.as_str(), err.as_str()), ("{\"dtype\": \"int32\", \"shape\": [1], \"data\": [3]}\n", ""));
}

/// The output may be any of the inputs.
#[test]
fn over_its_own_inputs() {
    let two = tensor::<i32>(&[2], &[7, 8]);
    let index = tensor::<i32>(&[2], &[2, 0]);
    each(
        [
            ("slice d.npy --at ::-1 -o d.npy", "d.npy", tensor(&[3], &[3, 2, 1])),
            ("slice-scatter d.npy u.npy --at 1: -o d.npy", "d.npy", tensor(&[3], &[1, 7, 8])),
            ("slice-scatter d.npy u.npy --at 1: -o u.npy", "u.npy", tensor(&[3], &[1, 7, 8])),
            ("scatter-update d.npy i.npy u.npy --axis 0 -o i.npy", "i.npy", tensor(&[3], &[8, 2, 7])),
            ("scatter-update d.npy i.npy i.npy --axis 0 -o i.npy", "i.npy", tensor(&[3], &[0, 2, 2])),
            ("slice-scatter d.npy d.npy --at ::-1 -o d.npy", "d.npy", tensor(&[3], &[3, 2, 1])),
            ("slice link.npy --at ::-1 -o d.npy", "d.npy", tensor(&[3], &[3, 2, 1])),
            ("slice d.npy --at ::-1 -o link.npy", "d.npy", tensor(&[3], &[3, 2, 1])),
        ],
        |(args, ..)| (*args).to_owned(),
        |(args, name, expected)| {
            for window in [None, Some(24)] {
                let folder = folder();
                folder.put("u.npy", two.npy()).put("i.npy", index.npy());
                symlink("d.npy", folder.path("link.npy")).map_err(|e| e.to_string())?;
                folder.run_with(words(args), window, None).printed()?;
                if folder.get(name) != expected.npy() {
                    return Err(format!("window {window:?}: {:?}", folder.get(name)));
                }
                if folder.names().len() != 4 {
                    return Err(format!("litter: {:?}", folder.names()));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn modes_of_files() {
    let folder = folder();
    for kept in [0o644, 0o600, 0o755, 0o444, 0o664] {
        folder.put("out.npy", "old");
        fs::set_permissions(folder.path("out.npy"), fs::Permissions::from_mode(kept)).expect("a mode");
        assert_eq!(run(&folder, &format!("{SLICE} -o out.npy")), Ok(String::new()));
        assert_eq!((mode(&folder, "out.npy"), folder.get("out.npy")), (kept, sliced()), "{kept:o}");
        fs::remove_file(folder.path("out.npy")).expect("a file");
    }
    for (umask, expected) in [("022", 0o644), ("077", 0o600), ("002", 0o664), ("000", 0o666)] {
        let (status, _, err) = shell(&folder, &format!("umask {umask}; $T {SLICE} -o new-{umask}.npy"));
        assert_eq!((status, err.as_str()), (Some(0), ""));
        assert_eq!(mode(&folder, &format!("new-{umask}.npy")), expected, "umask {umask}");
    }
}

#[test]
fn links() {
    let folder = folder();
    // a symbolic link is followed, and stays
    folder.put("target.npy", "old");
    symlink("target.npy", folder.path("link.npy")).expect("a link");
    symlink("link.npy", folder.path("link2.npy")).expect("a link");
    assert_eq!(run(&folder, &format!("{SLICE} -o link2.npy")), Ok(String::new()));
    assert_eq!(folder.get("target.npy"), sliced());
    for name in ["link.npy", "link2.npy"] {
        assert!(fs::symlink_metadata(folder.path(name)).expect("a link").is_symlink(), "{name}");
    }
    // into another folder
    fs::create_dir(folder.path("sub")).expect("a folder");
    symlink("sub/deep.npy", folder.path("far.npy")).expect("a link");
    assert_eq!(run(&folder, &format!("{SLICE} -o far.npy")), Ok(String::new()));
    assert_eq!(folder.get("sub/deep.npy"), sliced());
    // one that leads nowhere yet
    symlink("nowhere.npy", folder.path("dangling.npy")).expect("a link");
    assert_eq!(run(&folder, &format!("{SLICE} -o dangling.npy")), Ok(String::new()));
    assert_eq!(folder.get("nowhere.npy"), sliced());
    assert!(fs::symlink_metadata(folder.path("dangling.npy")).expect("a link").is_symlink());
    symlink("still-nowhere.npy", folder.path("dangling2.npy")).expect("a link");
    assert_eq!(run(&folder, &format!("{SLICE} -o dangling2.npy --no-clobber")), Ok(String::new()));
    assert_eq!(folder.get("still-nowhere.npy"), sliced());
    // ones that cannot
    symlink("loop.npy", folder.path("loop.npy")).expect("a link");
    symlink("no-folder/x.npy", folder.path("lost.npy")).expect("a link");
    folder.refuses(words(&format!("{SLICE} -o loop.npy")), &["loop.npy"]).expect("a loop");
    folder.refuses(words(&format!("{SLICE} -o lost.npy")), &["lost.npy"]).expect("no folder");
    folder.refuses(words(&format!("{SLICE} -o link2.npy --no-clobber")), &["link2.npy", "--no-clobber"]).expect("kept");
    // other hard links keep the old content
    folder.put("a.npy", "old");
    fs::hard_link(folder.path("a.npy"), folder.path("b.npy")).expect("a link");
    assert_eq!(run(&folder, &format!("{SLICE} -o a.npy")), Ok(String::new()));
    assert_eq!((folder.get("a.npy"), folder.get("b.npy")), (sliced(), b"old".to_vec()));
}

#[test]
fn links_into_a_cache_of_models_are_not_written_through() {
    let folder = folder();
    let digits = "0123456789abcdef".repeat(4);
    let key = format!("SHA256E-s128--{digits}.npy");
    fs::create_dir_all(folder.path("blobs")).expect("a folder");
    fs::create_dir_all(folder.path("snapshots/main")).expect("a folder");
    let data = folder.get("d.npy");
    folder.run(words("convert a=d.npy -o a.safetensors")).printed().expect("convert");
    let model = folder.get("a.safetensors");
    let index = r#"{"metadata": {}, "weight_map": {"a": "a.safetensors"}}"#;
    folder.put("snapshots/main/a.safetensors.index.json", index);
    let blobs =
        [("d.npy", digits.clone(), &data), ("e.npy", key, &data), ("a.safetensors", digits[..40].into(), &model)];
    for (name, blob, content) in &blobs {
        folder.put(format!("blobs/{blob}"), content);
        symlink(format!("../../blobs/{blob}"), folder.path(format!("snapshots/main/{name}"))).expect("a link");
    }
    symlink("snapshots/main/d.npy", folder.path("d2.npy")).expect("a link");
    folder.put("other.npy", tensor::<i32>(&[2], &[7, 8]).npy());
    let before = folder.tree(".");
    let mut refused = Vec::new();
    for name in ["snapshots/main/d.npy", "snapshots/main/e.npy", "d2.npy"] {
        refused.push(format!("slice-scatter {name} --fill 1 --at :1 --in-place"));
        refused.push(format!("slice-scatter {name} --fill 1 --at :1 -i --dry-run"));
        refused.push(format!("reshape {name} --shape -1 --in-place"));
        refused.push(format!("concat {name} {name} --in-place"));
        refused.push(format!("{SLICE} -o {name}"));
        refused.push(format!("{SLICE} -o {name} --dry-run"));
        refused.push(format!("diff {name} other.npy --accept"));
    }
    refused.push("slice-scatter snapshots/main/a.safetensors:a --fill 1 --at :1 --in-place".to_owned());
    refused.push("slice-scatter snapshots/main/a.safetensors.index.json:a --fill 1 --at :1 --in-place".to_owned());
    refused.push("diff snapshots/main/a.safetensors:a other.npy --accept".to_owned());
    each(refused, String::clone, |args| {
        let run = folder.run(words(args));
        let advice = "is named by its own hash, as in a cache of models: write a copy under another name";
        let is_told =
            run.stderr.starts_with("error: ") && run.stderr.contains(advice) && run.stderr.lines().count() == 1;
        if run.status != Some(2) || !is_told || folder.tree(".") != before {
            return Err(format!("{:?} {}", run.status, run.stderr));
        }
        Ok(())
    });
    let other = tensorop::read(folder.path("other.npy")).expect("a tensor");
    let patched = tensorop::patch(folder.path("d2.npy"), &":2".parse().expect("a slice"), &other);
    assert_eq!(patched.expect_err("a link").kind(), tensorop::error::ErrorKind::Unsupported);
    // nor is a file made that such a link leads to
    symlink(format!("blobs/{}", &digits[24..]), folder.path("new.npy")).expect("a link");
    folder.refuses(words(&format!("{SLICE} -o new.npy")), &["output new.npy", "write a copy"]).expect("refused");
    assert!(!folder.path("new.npy").exists());
    fs::remove_file(folder.path("new.npy")).expect("removed");
    // reading through a link is what a cache is for, and who names the file itself may change it
    run(&folder, "slice-scatter snapshots/main/d.npy --fill 1 --at :1 -o copy.npy").expect("a copy");
    assert_eq!(run(&folder, &format!("slice-scatter blobs/{digits} --fill 9 --at :1 --in-place")), Ok(String::new()));
    assert_ne!(folder.get(format!("blobs/{digits}")), data);
    assert_eq!(run(&folder, &format!("{SLICE} --to npy -o blobs/{digits}")), Ok(String::new()));
    assert_eq!(folder.get(format!("blobs/{digits}")), sliced());
}

#[test]
fn no_clobber() {
    let folder = folder();
    assert_eq!(run(&folder, &format!("{SLICE} -o new.npy --no-clobber")), Ok(String::new()));
    assert_eq!(folder.get("new.npy"), sliced());
    for options in ["-o d.npy --no-clobber", "-o new.npy --no-clobber", "-o new.npy --no-clobber --dry-run"] {
        folder.refuses(words(&format!("{SLICE} {options}")), &[".npy", "--no-clobber"]).expect(options);
    }
    let names: Vec<_> = folder.names().into_iter().collect();
    assert_eq!(names, ["d.npy", "new.npy"]);
}

/// What is no regular file is written as it comes.
#[test]
fn devices_and_pipes() {
    let folder = folder();
    for format in ["npy", "json", "text"] {
        assert_eq!(run(&folder, &format!("{SLICE} -o /dev/null --to {format}")), Ok(String::new()));
        folder.refuses(words(&format!("{SLICE} -o /dev/full --to {format}")), &["/dev/full"]).expect(format);
    }
    assert!(
        run(&folder, &format!("{SLICE} -o /dev/null --to json --dry-run")).is_ok_and(|said| said.contains("/dev/null"))
    );
    let null = fs::metadata("/dev/null").expect("a device");
    assert!(!null.is_file());
    let rows = [
        ("a fifo", "mkfifo p; cat p & $T slice d.npy --at 1: -o p --to json; wait"),
        ("standard output by its name", "$T slice d.npy --at 1: -o /dev/stdout --to json | cat"),
        ("a descriptor", "$T slice d.npy --at 1: -o /dev/fd/3 --to json 3>&1 | cat"),
        (
            "a descriptor of another pipe than standard output",
            "{ $T slice d.npy --at 1: -o /dev/fd/3 --to json | cat > /dev/null; } 3>&1 | cat",
        ),
        // which is what bash gives for `<(cat d.npy)`
        ("data from a descriptor", "cat d.npy | $T slice /dev/fd/3 --at 1: --to json 3<&0 0</dev/null"),
        (
            "a list from a descriptor",
            "echo '[1]' | $T slice d.npy --start /dev/fd/3 --stop 3 --to json 3<&0 0</dev/null",
        ),
        ("data from a fifo", "mkfifo q; cat d.npy > q & $T slice q --at 1: --to json"),
        ("a tensor of a fifo", "$T convert x=d.npy -o d.npz; mkfifo r; cat d.npz > r & $T slice r:x --at 1: --to json"),
        ("standard input by its name", "cat d.npy | $T slice /dev/stdin --at 1: --to json"),
        ("standard input that is a file", "$T slice - --at 1: --to json < d.npy"),
    ];
    each(
        rows,
        |(name, _)| (*name).to_owned(),
        |(_, script)| match shell(&folder, script) {
            (Some(0), out, err) if out == JSON && err.is_empty() => Ok(()),
            other => Err(format!("{other:?}")),
        },
    );
    // what a shell appends to stays there
    let script =
        "echo before > log; $T slice d.npy --at 1: -o /dev/stdout --to json >> log; echo after >> log; cat log";
    assert_eq!(shell(&folder, script).1, format!("before\n{JSON}after\n"));
    let kind = fs::symlink_metadata(folder.path("p")).expect("the fifo").file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind));
}

/// A reader that goes away is no error.
#[test]
fn closed_pipes() {
    let folder = folder();
    folder.put("big.npy", npy("<f8", &[50_000], &[1; 400_000]));
    for format in ["npy", "npz", "safetensors", "pb", "raw", "json", "csv", "tsv", "text"] {
        for reader in ["true", "head -c 1 > /dev/null"] {
            let run = folder.status_before_pipe(&format!("slice big.npy --at : --to {format}"), reader);
            let (_, out, err) = streams(run);
            assert_eq!((out.as_str(), err.as_str()), ("0\n", ""), "{format} to {reader}");
        }
    }
    for args in ["--help", "slice --help", "--version", "slice d.npy --at : --dry-run", "completions bash"] {
        let (_, out, err) = streams(folder.status_before_pipe(args, "true"));
        assert_eq!((out.as_str(), err.as_str()), ("0\n", ""), "{args}");
    }
}

/// A full disk is, wherever the output goes, and the message says where that is.
#[test]
fn full_devices() {
    let folder = folder();
    each(
        [
            "slice d.npy --at : --to npy",
            "slice d.npy --at : --to json",
            "slice d.npy --at :",
            "slice d.npy --at : --dry-run",
            "completions bash",
            "--help",
        ],
        |args| (*args).to_owned(),
        |args| match shell(&folder, &format!("$T {args} > /dev/full")) {
            (Some(2), _, err)
                if err.starts_with("error: ")
                    && err.lines().count() == 1
                    && err.contains("standard output")
                    && err.contains("No space") =>
            {
                Ok(())
            }
            other => Err(format!("{other:?}")),
        },
    );
}

#[test]
fn targets_that_cannot_be() {
    let folder = folder();
    fs::create_dir(folder.path("sub")).expect("a folder");
    fs::create_dir(folder.path("sub.npy")).expect("a folder");
    folder.put("file", "old");
    let long = format!("-o {}.npy", "x".repeat(300));
    each(
        [
            ("-o sub --to npy", "sub"),
            ("-o sub/ --to npy", "sub"),
            ("-o sub.npy", "sub.npy"),
            ("-o .. --to npy", ".."),
            ("-o / --to npy", "/"),
            ("-o file/new/out.npy", "file/new/out.npy"),
            ("-o file/out.npy", "file/out.npy"),
            ("-o d.npy/out.npy", "d.npy/out.npy"),
            ("-o new.npy/ --to npy", "new.npy/"),
            ("-o '' --to npy", ""),
            (&long, "xxx"),
        ],
        |(options, _)| (*options).to_owned(),
        |(options, name)| {
            folder.refuses(words(&format!("{SLICE} {options}")), &["output", name])?;
            if options.len() > 300 {
                return Ok(()); // only the file system knows
            }
            folder
                .refuses(words(&format!("{SLICE} {options} --dry-run")), &["output", name])
                .map(drop)
                .map_err(|e| format!("dry: {e}"))
        },
    );
}

/// In a folder that takes no files. Root may write anywhere, so it tests nothing as root.
#[test]
fn read_only_folders() {
    let folder = folder();
    fs::create_dir(folder.path("sub")).expect("a folder");
    folder.put("sub/old.npy", "old");
    let set = |mode| fs::set_permissions(folder.path("sub"), fs::Permissions::from_mode(mode)).expect("a mode");
    set(0o555);
    let writable = fs::write(folder.path("sub/probe"), "").is_ok();
    if !writable {
        for name in ["sub/old.npy", "sub/new.npy"] {
            folder.refuses(words(&format!("{SLICE} -o {name}")), &[name, "denied"]).expect(name);
        }
        let names: Vec<_> =
            fs::read_dir(folder.path("sub")).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
        assert_eq!(names, ["old.npy"]);
        assert_eq!(folder.get("sub/old.npy"), b"old");
    }
    set(0o755);
}

/// Checks are made, things are said, nothing is written.
#[test]
fn dry_runs() {
    let folder = folder();
    folder.put("u.npy", tensor::<i32>(&[2], &[7, 8]).npy()).put("out.npy", "old");
    each(
        [
            ("slice d.npy --at ::-2 -o out.npy", ["[2]", "int32", "8 bytes", "out.npy"]),
            ("slice d.npy --at ::-2", ["[2]", "int32", "8 bytes", "standard output"]),
            ("slice d.npy --at ::-2 --to npy", ["[2]", "int32", "8 bytes", "standard output"]),
            ("slice d.npy --start -9 --stop INT_MAX --step 2 -o new.npy", ["axis 0", "[3]", "0", "2"]),
        ],
        |(args, _)| (*args).to_owned(),
        |(args, fragments)| {
            let before = folder.content();
            let printed = run(&folder, &format!("{args} --dry-run"))?;
            if folder.content() != before {
                return Err("wrote something".to_owned());
            }
            match fragments.iter().find(|fragment| !printed.contains(**fragment)) {
                Some(missing) => Err(format!("does not say {missing:?}: {printed}")),
                None => Ok(()),
            }
        },
    );
    put_operands(&folder, "<i4", [2, 3], 2, |n| (n as i32).to_le_bytes().to_vec());
    folder.put("n.npy", npy("<i4", &[0, 1 << 40], &[]));
    each(
        refused_commands().chain(["slice none.npy --at : -o out.npy".to_owned()]),
        |line| line.chars().take(60).collect(),
        |line| folder.refuses(words(&format!("{} --dry-run", named(line, file_of))), &[]).map(drop),
    );
}

/// Dtypes that a format cannot hold are refused before anything is begun.
#[test]
fn dtypes_that_a_format_cannot_hold() {
    let folder = Folder::new();
    folder
        .put("v.npy", npy("|V3", &[1], b"abc"))
        .put("g.npy", npy("<f16", &[1], &[0; 16]))
        .put("c.npy", npy("<c32", &[1], &[0; 32]));
    folder.put(
        "s.npy",
        common::npy_with_header("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", &[0; 4]),
    );
    folder.put("out.txt", "old").put("out.json", "old");
    for data in ["v.npy", "g.npy", "c.npy", "s.npy"] {
        for output in ["", "--to json", "-o out.json", "-o out.txt", "-o new.json"] {
            let args = format!("slice {data} --at : {output}");
            folder.refuses(words(&args), &["-o FILE.npy"]).unwrap_or_else(|why| panic!("{args}: {why}"));
        }
        assert_eq!(run(&folder, &format!("slice {data} --at : -o out.npy")), Ok(String::new()));
    }
}

/// A run that is ended leaves the target as it was, and no draft.
#[test]
fn ended_by_a_signal() {
    let folder = folder();
    folder.put("out.npy", "old");
    let made = Command::new("mkfifo").arg(folder.path("p")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    stop_ignoring_signals();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut command = Command::new(binary());
        command.args(words("slice p --at : -o out.npy")).current_dir(folder.path("")).stderr(Stdio::piped());
        let child = command.spawn().expect("the program starts");
        // this waits until the program opens the pipe; the rest of the data never comes
        let mut data = fs::OpenOptions::new().write(true).open(folder.path("p")).expect("a pipe");
        data.write_all(&folder.get("d.npy")[..100]).expect("a part of the data");
        std::thread::sleep(Duration::from_millis(300));
        send(&child, signal);
        let output = child.wait_with_output().expect("an end");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{signal:?}: {said}");
        assert_eq!(said, "", "{signal:?}");
        let names: Vec<_> =
            fs::read_dir(folder.path("")).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
        assert_eq!((names.len(), folder.get("out.npy")), (3, b"old".to_vec()), "{names:?}");
    }
}

/// Bytes of an array go to a terminal neither as standard output nor by another name of it.
#[cfg(target_os = "linux")]
#[test]
fn binary_is_not_written_to_a_terminal() {
    let folder = folder();
    // which makes a terminal
    if !has(&["script"]) {
        return;
    }
    let program = binary();
    for options in ["--to npy", "-o - --to npy", "-o /dev/stdout --to npy", "-o /dev/tty --to npy"] {
        let mut child = Command::new("script")
            .args(["-qec", &format!("{} {SLICE} {options}", program.display()), "/dev/null"])
            .current_dir(folder.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script");
        let mut out = Vec::new();
        child.stdout.take().expect("a pipe").read_to_end(&mut out).expect("its output");
        let status = child.wait().expect("its status");
        let text = String::from_utf8_lossy(&out);
        assert!(text.starts_with("error: ") && text.contains("terminal"), "{options}: {text:?}");
        assert_eq!(status.code(), Some(2), "{options}");
    }
}

/// The folder of an output is made, and goes again with a command that fails.
#[test]
fn new_folders() {
    let folder = Folder::new();
    folder.put("a.npy", npy("<f4", &[2, 2], &[0; 16])).put("v.npy", npy("|V3", &[1], b"abc"));
    let store = cfg!(feature = "zarr").then_some("convert a.npy -o new/deep/a.zarr");
    let commands = [
        "slice a.npy --at : -o new/deep/a.npy",
        "slice a.npy --at : -o ./new/deep/a.json",
        "convert a.npy -o new/deep/a.npz",
        "convert w=a.npy x=a.npy -o new/deep/a.safetensors.index.json --max-shard-size 0.016KB",
        "split a.npy --parts 2 -o new/deep/a-*.npy",
        "show a.npy --image -o new/deep/a.png",
        "diff a.npy [[1,0],[0,0]] --ignore-dtype --heatmap new/deep/a.png",
    ];
    each(
        commands.into_iter().chain(store),
        |args| (*args).to_owned(),
        |args| {
            if !args.starts_with("show") && !args.starts_with("diff") {
                let run = folder.run(words(&format!("{args} --dry-run")));
                if run.status != Some(0) || folder.path("new").exists() {
                    return Err(format!("dry: {run:?}"));
                }
            }
            let run = folder.run(words(args));
            if run.status == Some(2) || folder.tree("new").is_empty() {
                return Err(format!("{run:?}"));
            }
            fs::remove_dir_all(folder.path("new")).map_err(|error| error.to_string())
        },
    );
    let before = folder.names().len();
    let failing: &[(&str, &[&str])] = &[
        ("convert v.npy -o new/deep/a.safetensors", &["safetensors cannot hold"]),
        ("slice a.npy --at 5:a -o new/deep/a.npy", &["--at"]),
        ("slice no.npy --at : -o new/deep/a.npy", &["no.npy"]),
        ("split a.npy --parts 3 --axis 7 -o new/deep/a-*.npy", &["axis"]),
        ("convert a.npy -o new/deep/", &["new/deep/"]),
        ("convert a.npy -o a.npy/deep/a.npy", &["a.npy/deep/a.npy"]),
        ("slice-scatter new/a.npy --fill 1 --at : -i", &["new/a.npy"]),
    ];
    each(
        failing,
        |(args, _)| (*args).to_owned(),
        |(args, fragments)| {
            folder.refuses(words(args), fragments)?;
            if folder.path("new").exists() || folder.names().len() != before {
                return Err("something is left".to_owned());
            }
            Ok(())
        },
    );
    // an operand that ends early fails after the output was begun
    folder.put("cut.npy", &folder.get("a.npy")[..136]);
    for args in ["slice cut.npy --at : -o new/deep/a.npy", "split cut.npy --parts 2 -o new/deep/a-*.npy"] {
        assert_eq!(folder.run(words(args)).status, Some(2), "{args}");
        assert!(!folder.path("new").exists(), "{args}");
    }
    // a folder that was there stays, and what is in it
    fs::create_dir(folder.path("old")).expect("a folder");
    assert_eq!(folder.run(words("slice cut.npy --at : -o old/new/a.npy")).status, Some(2));
    assert!(folder.path("old").is_dir() && !folder.path("old/new").exists());
    // by parts, too
    if cfg!(feature = "zarr") {
        for part in ["1/2", "2/2"] {
            folder
                .run(words(&format!("slice a.npy --at : -o new/a.zarr --chunks 1,2 --part {part}")))
                .printed()
                .expect("a part");
        }
        folder.run(words("slice a.npy --at : -o new/a.zarr --chunks 1,2 --finish 2")).printed().expect("finished");
        assert_eq!(folder.run(words("diff a.npy new/a.zarr -q")).status, Some(0));
    }
}
