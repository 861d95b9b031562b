//! Signals at any moment: the old file or the whole new one, and nothing beside it.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{litter, spawn};
use crate::common::{Folder, npy, send};

const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL];

#[test]
fn killed_while_it_writes() {
    let folder = Folder::new();
    let data = npy("<u1", &[1 << 20], &[5; 1 << 20]);
    for signal in SIGNALS {
        folder.put("out.npy", b"before");
        let mut child = spawn(&folder, "slice-scatter - --fill 1 --at :5 -o out.npy", Stdio::piped(), Stdio::null());
        // half of the data: it writes, and waits for the rest
        child.stdin.as_mut().unwrap().write_all(&data[..1 << 19]).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        send(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        let content = folder.content();
        assert_eq!(content.len(), 1, "{signal:?}: {:?}", content.keys());
        assert_eq!(folder.get("out.npy"), b"before", "{signal:?}");
    }
}

/// Runs a command that makes or replaces `out.npy`, and ends it at moments spread over twice the run's length, most
/// of them while it writes and while it puts the file in place.
fn ended(folder: &Folder, old: Option<&[u8]>, new: &[u8], signal: Signal, rounds: u32) {
    let start = || spawn(folder, "slice new.npy --at : -o out.npy", Stdio::null(), Stdio::null());
    let reset = || match old {
        Some(old) => drop(folder.put("out.npy", old)),
        None => drop(fs::remove_file(folder.path("out.npy"))),
    };
    let mut lengths: Vec<Duration> = (0..5)
        .map(|_| {
            reset();
            let begun = Instant::now();
            assert!(start().wait().unwrap().success());
            begun.elapsed()
        })
        .collect();
    lengths.sort_unstable();
    let (mut replaced, mut ended, mut left) = (0, 0, 0);
    for round in 0..rounds {
        reset();
        // moments in no order: neighbours in time differ in what the machine does meanwhile
        let moment = lengths[2] * (round * 37 % rounds) / rounds * 5 / 4;
        let begun = Instant::now();
        let mut child = start();
        // a sleep ends late by less than this
        std::thread::sleep(moment.saturating_sub(begun.elapsed() + Duration::from_micros(300)));
        while begun.elapsed() < moment {
            std::hint::spin_loop();
        }
        send(&child, signal);
        ended += u32::from(child.wait().unwrap().signal().is_some());
        let found = fs::read(folder.path("out.npy")).ok();
        assert!(found.as_deref() == old || found.as_deref() == Some(new), "{signal:?} in round {round}: torn");
        replaced += u32::from(found.as_deref() == Some(new));
        let names = litter(&folder.path(""));
        assert!(names.len() <= usize::from(signal == Signal::KILL && old.is_some()), "{signal:?}: {names:?}");
        left += names.len();
        // what SIGKILL leaves in the moment between two names is never a part of a file
        names.iter().for_each(|name| assert!(fs::read(name).unwrap() == new, "a part of a file in {names:?}"));
    }
    eprintln!(
        "{signal:?}: {ended} of {rounds} runs ended by it, {replaced} had put the file in place, {left} left a name"
    );
    // and the next run takes it away
    assert!(start().wait().unwrap().success());
    assert_eq!(litter(&folder.path("")), Vec::<std::path::PathBuf>::new());
}

#[test]
fn at_any_moment_of_replacing_a_file() {
    let folder = Folder::new();
    let (old, new) = (npy("<u1", &[1 << 20], &[1; 1 << 20]), npy("<u1", &[1 << 20], &[2; 1 << 20]));
    folder.put("new.npy", &new);
    for (signal, rounds) in SIGNALS.into_iter().zip([80, 80, 20, 200]) {
        ended(&folder, Some(&old), &new, signal, rounds);
    }
}

#[test]
fn at_any_moment_of_making_a_file() {
    let folder = Folder::new();
    let new = npy("<u1", &[1 << 20], &[2; 1 << 20]);
    folder.put("new.npy", &new);
    for (signal, rounds) in SIGNALS.into_iter().zip([40, 40, 20, 100]) {
        ended(&folder, None, &new, signal, rounds);
    }
}

/// What a killed writer has left is removed by the next one; what a living one holds, and what is no such file, stays.
#[test]
fn names_that_were_left() {
    let folder = Folder::new();
    let (old, new) = (npy("<u1", &[2], &[1; 2]), npy("<u1", &[2], &[2; 2]));
    folder.put("new.npy", &new).put("out.npy", &old);
    // FNV-1a of `out.npy`
    let name = |number: u32| format!(".tensorop-8272513d11c85274-{number}");
    let write = |more: &str| folder.run(crate::common::words(&format!("slice new.npy --at : -o out.npy {more}")));
    folder.put(name(0), &new).put(name(1), b"held").put(name(2), &new);
    let held = fs::File::open(folder.path(name(1))).unwrap();
    held.lock().unwrap();
    write("--dry-run").printed().unwrap();
    assert_eq!(folder.content().len(), 5, "a dry run changes nothing");
    write("").printed().unwrap();
    assert_eq!(litter(&folder.path("")), [folder.path(name(1))]);
    assert_eq!(folder.get("out.npy"), new);
    drop(held);
    write("").printed().unwrap();
    assert_eq!(folder.content().len(), 2, "{:?}", folder.content().keys());
    // neither a link, a pipe nor a folder is followed, opened for long or removed
    std::os::unix::fs::symlink("new.npy", folder.path(name(0))).unwrap();
    fs::create_dir(folder.path(name(1))).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path(name(2))).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    write("").printed().unwrap();
    assert_eq!((litter(&folder.path("")).len(), folder.get("new.npy"), folder.get("out.npy")), (3, new.clone(), new));
}
