//! Pipes that close or end early, at every stage.

use std::io::{Read, Write};
use std::process::Stdio;

use super::{is_one_error, large, litter, shell, spawn, stderr};
use crate::common::{Folder, Run, commands_of_data, each, has, named, npy, npz, rounds};

/// The reader goes away after so many bytes.
const STAGES: [usize; 7] = [0, 1, 60, 128, 129, 5000, 1 << 17];

#[test]
fn a_reader_that_goes_away() {
    let folder = Folder::new();
    large(&folder, "big.npy");
    folder.put("many.npy", npy("<u2", &[200_000], &[1; 400_000])).put("words.txt", vec![b'a'; 1 << 18]);
    let rows = [
        "show many.npy --all",
        "show many.npy --threshold 0",
        "textconv many.npy",
        "textconv words.txt",
        "gather many.npy [0] --to csv",
        "concat many.npy many.npy",
        "transpose many.npy --to tsv",
        "pad many.npy --before 9 --after 0 --mode wrap",
        "tile many.npy --repeats 2 --to csv",
        "broadcast many.npy --shape 2,1 --to tsv",
        "reshape many.npy --flatten 0",
        "slice many.npy --at : --to json",
        "slice many.npy --at : --to csv",
        "slice many.npy --at : --to tsv",
        "slice many.npy --at :",
        "completions bash",
        "slice --help",
    ];
    let of_data = commands_of_data().map(|line| named(&line, |_| "big.npy".to_owned()));
    let binary = of_data.map(|line| if line.starts_with("split") { line + " --to npz" } else { line + " --to npy" });
    each(rows.map(str::to_owned).into_iter().chain(binary), String::clone, |args| {
        for stage in STAGES {
            let mut child = spawn(&folder, args, Stdio::null(), Stdio::piped());
            let out = child.stdout.take().expect("a pipe");
            out.take(stage as u64).read_to_end(&mut Vec::new()).expect("what was written");
            let said = stderr(&mut child);
            let status = child.wait().expect("an end");
            if status.code() != Some(0) || !said.is_empty() {
                return Err(format!("closed after {stage} bytes: {status:?}, said {said:?}"));
            }
        }
        Ok(())
    });
}

/// Two arrays whose differences, each in a line, are more than a pipe holds.
fn put_different(folder: &Folder) {
    folder.put("a.npy", npy("<f4", &[2000], &[0; 8000])).put("b.npy", npy("<f4", &[2000], &[1; 8000]));
}

/// Runs a script many times in a row, and returns how often.
fn repeated(folder: &Folder, script: &str) -> (usize, Run) {
    let times = rounds(10);
    (times, folder.script(&format!("n=0; while [ $n -lt {times} ]; do {script}; n=$((n + 1)); done 2>&1")))
}

/// A verdict is the status, however much of the report was read. What is at fault shows in some runs only.
#[test]
fn a_verdict_that_nobody_reads() {
    let folder = Folder::new();
    let item = |item: f32| npy("<f4", &[1], &item.to_le_bytes());
    put_different(&folder);
    folder.put("a.npz", npz(&[("x", item(1.0)), ("y", item(1.0))]));
    folder.put("b.npz", npz(&[("x", item(1.0)), ("y", item(2.0))]));
    let rows = [
        ("diff a.npy b.npy", 1),
        ("diff a.npy b.npy -q", 1),
        ("diff a.npy b.npy --max-mismatch 2000", 1),
        ("diff a.npy b.npy --max-mismatch 2000 --json", 1),
        ("diff a.npz b.npz", 1),
        ("diff a.npz b.npz --json", 1),
        ("diff a.npz a.npz", 0),
        ("slice b.npy --at : -o none.npy --finish 2", 1),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, status)| {
            for reader in ["true", "head -c 100 > /dev/null"] {
                let script = format!("{{ {{ $T {args}; echo $? >&3; }} | {reader}; }} 3>&1");
                let (times, found) = repeated(&folder, &script);
                if found.stdout != format!("{status}\n").repeat(times).as_bytes() {
                    return Err(format!("before {reader}: {}", String::from_utf8_lossy(&found.stdout)));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn the_verdict_of_a_pipe() {
    if !has(&["bash"]) {
        return;
    }
    let folder = Folder::new();
    put_different(&folder);
    let (times, found) =
        repeated(&folder, "bash -c 'set -o pipefail; $T diff a.npy b.npy | head -1 > /dev/null; echo $?'");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "1\n".repeat(times));
}

#[test]
fn a_writer_that_ends_early() {
    let folder = Folder::new();
    let whole = npy("<u2", &[200_000], &[1; 400_000]);
    folder.put("many.npy", &whole).put("out.npy", b"before");
    let rows = [
        "slice - --at :",
        "slice - --at ::-1",
        "slice-scatter - --fill 1 --at :5",
        "slice-scatter many.npy - --at :",
        "scatter-update many.npy - --fill 0 --axis 0",
        "scatter-update - [0] --fill 1 --axis 0",
    ];
    each(
        rows,
        |args| (*args).to_owned(),
        |args| {
            for stage in [0, 1, 5, 6, 7, 8, 9, 10, 11, 60, 127, 128, 129, 5000, 300_001, whole.len() - 1] {
                let mut child = spawn(&folder, &format!("{args} -o out.npy"), Stdio::piped(), Stdio::null());
                // it may refuse what it has seen before the rest is written
                let _ = child.stdin.take().expect("a pipe").write_all(&whole[..stage]);
                let said = stderr(&mut child);
                let status = child.wait().expect("an end");
                let right = status.code() == Some(2) && is_one_error(&said) && said.contains("(standard input)");
                if !right || folder.get("out.npy") != b"before" || !litter(&folder.path("")).is_empty() {
                    return Err(format!("ended after {stage} bytes: {status:?}, said {said:?}"));
                }
            }
            Ok(())
        },
    );
}

/// Standard streams that are not open at all end no run by a signal, and are never taken for files.
#[test]
fn streams_that_are_closed() {
    let folder = Folder::new();
    let data = npy("<u1", &[4], &[1, 2, 3, 4]);
    folder.put("data.npy", &data);
    let rows = [
        ("tensorop slice data.npy --at : -o out.npy 0<&- 1>&- 2>&-", 0),
        ("tensorop slice - --at : -o out.npy 0<&-", 2),
        ("tensorop slice data.npy --at 1 2>&-", 2),
        ("tensorop slice data.npy --at : -o /dev/stdout --to npy 1>&-", 2),
    ];
    for (script, status) in rows {
        let output = shell(&folder, &format!("exec {script}"));
        let code = output.status.code();
        // without standard output there is nowhere to complain about
        assert!(code == Some(status) || code == Some(0) && script.ends_with("1>&-"), "{script}: {output:?}");
        assert_eq!(folder.get("data.npy"), data, "{script}");
    }
}
