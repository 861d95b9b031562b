//! Appends that are stopped, find no room, or come many at once: the file reads as before or as after.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Mounted, is_one_error, shell, spawn};
use crate::common::{Folder, npy, send};

const APPEND: &str = "concat data.npy rows.npy --in-place";

fn file(rows: usize) -> Vec<u8> {
    let items: Vec<u8> = (0..rows << 10).map(|n| (n >> 10) as u8 ^ n as u8).collect();
    npy("<u1", &[rows, 1024], &items)
}

/// Runs an append and ends it at moments spread over the run's length, most of them while it writes. The header is the old
/// one or the new one but for the mark that an append is under way, and what its dims count is there.
#[test]
fn killed_at_any_moment() {
    const ROUNDS: u32 = 150;
    let folder = Folder::new();
    let (before, after) = (file(3), file(2003));
    folder.put("rows.npy", npy("<u1", &[2000, 1024], &after[128 + 3 * 1024..])).put("before.npy", &before);
    for signal in [Signal::KILL, Signal::TERM] {
        let start = || spawn(&folder, APPEND, Stdio::null(), Stdio::null());
        let mut lengths: Vec<Duration> = (0..5)
            .map(|_| {
                folder.put("data.npy", &before);
                let begun = Instant::now();
                assert!(start().wait().unwrap().success());
                begun.elapsed()
            })
            .collect();
        lengths.sort_unstable();
        assert!(folder.get("data.npy") == after);
        let (mut ended, mut appended, mut left) = (0, 0, 0);
        for round in 0..ROUNDS {
            folder.put("data.npy", &before);
            let moment = lengths[2] * (round * 37 % ROUNDS) / ROUNDS * 5 / 4;
            let begun = Instant::now();
            let mut child = start();
            std::thread::sleep(moment.saturating_sub(begun.elapsed() + Duration::from_micros(300)));
            while begun.elapsed() < moment {
                std::hint::spin_loop();
            }
            send(&child, signal);
            ended += u32::from(!child.wait().unwrap().success());
            let mut found = folder.get("data.npy");
            left += u32::from(found[126] == b'\t');
            let is_marked = std::mem::replace(&mut found[126], b' ') == b'\t';
            let is_after = found[..128] == after[..128];
            assert!(is_after || found[..128] == before[..128], "{signal:?} in round {round}: the header is torn");
            let expected = if is_after { &after } else { &before };
            assert!(found.starts_with(expected), "{signal:?} in round {round}: other items");
            assert!(is_marked || found.len() == expected.len(), "{signal:?} in round {round}: longer, and not marked");
            appended += u32::from(is_after);
            // whatever was left, it reads as before or as after, and the next append mends it
            let whole = if is_after { "after" } else { "before" };
            folder.put("after.npy", &after);
            let args = format!("diff {whole}.npy data.npy -q");
            folder.run(crate::common::words(&args)).printed().expect("a file that reads");
            if !is_after {
                folder.run(crate::common::words(APPEND)).printed().expect("an append");
                assert!(folder.get("data.npy") == after, "{signal:?} in round {round}: not mended");
            }
        }
        eprintln!("{signal:?}: {ended} of {ROUNDS} runs ended by it, {appended} had appended, {left} left a mark");
    }
}

#[test]
fn no_room() {
    let folder = Folder::new();
    let before = file(3);
    folder.put("rows.npy", file(2000));
    let refused = |path: std::path::PathBuf, prefix: &str, message: &str| {
        fs::write(&path, &before).unwrap();
        let output = shell(&folder, &format!("{prefix} exec tensorop concat {} rows.npy -i", path.display()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && is_one_error(&said) && said.contains(message), "{said}");
        assert!(said.contains("DATA") && said.contains("the appended items need 2048000 bytes"), "{said}");
        assert!(fs::read(&path).unwrap() == before, "{prefix}: the file is another");
    };
    refused(folder.path("data.npy"), "ulimit -f 1000;", "File too large");
    if let Some(disk) = Mounted::tmpfs(folder.path("disk"), "size=1m") {
        refused(disk.0.join("data.npy"), "", "No space left");
    }
}

/// A row that ends early shows when it is read: by then items have been written, which go again.
#[test]
fn rows_that_end_early() {
    let folder = Folder::new();
    let before = file(3);
    folder.put("data.npy", &before).put("short.npy", &file(2000)[..1_000_000]);
    let output = shell(&folder, "cat short.npy | tensorop concat data.npy - -i");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && is_one_error(&said) && said.contains("standard input"), "{said}");
    assert!(folder.get("data.npy") == before);
}

#[test]
fn many_at_once() {
    const APPENDS: usize = 40;
    let folder = Folder::new();
    folder.put("data.npy", npy("<u1", &[0, 4], &[]));
    let start =
        |n: usize| spawn(&folder, &format!("concat data.npy [[{n},{n},{n},{n}]] -i"), Stdio::null(), Stdio::null());
    let children: Vec<_> = (0..APPENDS).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success(), "{}", super::stderr(&mut child));
    }
    let found = folder.get("data.npy");
    let mut rows: Vec<_> = found[128..].chunks(4).collect();
    rows.sort_unstable();
    let expected: Vec<_> = (0..APPENDS as u8).map(|n| [n; 4]).collect();
    assert_eq!(rows, expected);
    assert!(found[..128] == npy("<u1", &[APPENDS, 4], &[0; 4 * APPENDS])[..128]);
}
