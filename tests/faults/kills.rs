//! Signals at any moment: the old file or the whole new one, and nothing beside it.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{litter, program, spawn};
use crate::common::{Folder, npy, rounds, send, wide_items};

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

/// A store, whole or a part of one, is ended by the signal itself: it says nothing, and what is there is old or new.
#[test]
fn at_any_moment_of_making_a_store() {
    let folder = Folder::new();
    folder.put("d.npy", npy("<u2", &[1000, 500], &[7; 1_000_000]));
    let run = |args: &str| folder.run(crate::common::words(args)).printed().unwrap();
    run("convert d.npy -o new.zarr --chunks 10,100");
    let new = folder.tree("new.zarr");
    let hidden = || {
        let names = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with('.')).count()
    };
    for more in ["", " --part 1/2"] {
        let make = format!("convert d.npy -o out.zarr --chunks 10,100{more}");
        let mut ended = 0;
        for round in 0..40_u64 {
            let signal = [Signal::TERM, Signal::INT, Signal::HUP][round as usize % 3];
            let mut child = spawn(&folder, &make, Stdio::null(), Stdio::null());
            std::thread::sleep(Duration::from_micros(400 + round * 37 % 40 * 500));
            send(&child, signal);
            let status = child.wait().unwrap();
            assert_eq!(crate::stderr(&mut child), "", "{make}: {status:?}");
            assert!(status.success() || status.signal() == Some(signal.as_raw()), "{make}: {status:?}");
            ended += u32::from(!status.success());
            if more.is_empty() {
                let found = folder.path("out.zarr").exists();
                assert!(!found || folder.tree("out.zarr") == new, "{signal:?} in round {round}: torn");
                assert_eq!(hidden(), 0, "{signal:?} in round {round}");
                let _ = fs::remove_dir_all(folder.path("out.zarr"));
            }
        }
        assert!(ended > 0, "{make}");
    }
    // what was left of the part goes with its next run
    run("convert d.npy -o out.zarr --chunks 10,100 --part 1/2");
    assert_eq!(fs::read_dir(folder.path(".out.zarr.tensorop/new")).unwrap().count(), 0);
    run("convert d.npy -o out.zarr --chunks 10,100 --part 2/2");
    run("convert d.npy -o out.zarr --chunks 10,100 --finish 2");
    assert!(folder.tree("out.zarr") == new);
}

/// A part that was killed in the middle of a file leaves it, and the next run of that part removes it.
#[test]
fn what_a_killed_part_left() {
    let folder = Folder::new();
    folder.put("d.npy", npy("<u2", &[100], &[7; 200]));
    let run = |part: u32| {
        let args = format!("convert d.npy -o out.zarr --chunks 10 --part {part}/2");
        folder.run(crate::common::words(&args)).printed().unwrap()
    };
    run(2);
    for name in ["1.0/.tmpA", "1.3/.tmpB", "2.0/.tmpC", "1.0.lock", "1.3.lock", "2.0.lock", "1.5.lock"] {
        let path = folder.path(format!(".out.zarr.tensorop/new/{name}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"half").unwrap();
    }
    let held = fs::File::open(folder.path(".out.zarr.tensorop/new/1.5.lock")).unwrap();
    held.lock().unwrap();
    run(1);
    let names = fs::read_dir(folder.path(".out.zarr.tensorop/new")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["1.5.lock", "2.0", "2.0.lock"]);
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
    assert_eq!(folder.names().len(), 5, "a dry run changes nothing");
    write("").printed().unwrap();
    assert_eq!(litter(&folder.path("")), [folder.path(name(1))]);
    assert_eq!(folder.get("out.npy"), new);
    drop(held);
    write("").printed().unwrap();
    assert_eq!(folder.names().len(), 2, "{:?}", folder.names());
    // neither a link, a pipe nor a folder is followed, opened for long or removed
    std::os::unix::fs::symlink("new.npy", folder.path(name(0))).unwrap();
    fs::create_dir(folder.path(name(1))).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path(name(2))).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    write("").printed().unwrap();
    assert_eq!((litter(&folder.path("")).len(), folder.get("new.npy"), folder.get("out.npy")), (3, new.clone(), new));
}

/// A temporary store between two grids is never taken for the output, and goes with the run, or with the next one after
/// SIGKILL.
#[test]
fn killed_on_the_way_by_a_temporary_store() {
    let folder = Folder::new();
    let run = |args: &str| spawn(&folder, args, Stdio::null(), Stdio::null()).wait().unwrap().success();
    folder.put("large.npy", npy("<c16", &[512, 8192], &wide_items(&[512, 8192])));
    assert!(run("convert large.npy -o large.zarr --chunks 8,8192 --codec none"));
    let moves = "convert large.zarr -o o.zarr --chunks 512,64 --codec none --memory 16MiB";
    let begun = Instant::now();
    assert!(run(moves));
    let length = begun.elapsed();
    let whole = folder.tree("o.zarr");
    let rounds = rounds(5);
    for (round, signal) in SIGNALS.into_iter().rev().cycle().take(rounds).enumerate() {
        fs::remove_dir_all(folder.path("o.zarr")).unwrap();
        let mut child = spawn(&folder, moves, Stdio::null(), Stdio::null());
        std::thread::sleep(length * round as u32 / rounds as u32);
        send(&child, signal);
        let is_ended = child.wait().unwrap().signal().is_some();
        let left = litter(&folder.path(""));
        assert!(left.len() <= usize::from(signal == Signal::KILL), "{signal:?} in round {round}: {left:?}");
        let found = folder.path("o.zarr").exists().then(|| folder.tree("o.zarr"));
        assert!(found.map_or(is_ended, |found| found == whole), "{signal:?} in round {round}");
        assert!(run(moves), "{signal:?} in round {round}");
        assert_eq!(litter(&folder.path("")), Vec::<std::path::PathBuf>::new(), "{signal:?} in round {round}");
    }
    assert!(folder.tree("o.zarr") == whole);
}

/// Tests that were exported for another runtime go with the run.
#[test]
fn ended_while_a_runtime_runs() {
    let folder = Folder::new();
    fs::create_dir(folder.path("temporary")).unwrap();
    for signal in [Signal::INT, Signal::TERM] {
        let run = "touch begun; sleep 1 # {model} {out}";
        let mut command = program(&folder, "check --only slice/* --jobs 1");
        command.args(["--run", run]).env("TMPDIR", folder.path("temporary")).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        while !folder.path("begun").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        send(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        assert_eq!(fs::read_dir(folder.path("temporary")).unwrap().count(), 0, "{signal:?}");
        fs::remove_file(folder.path("begun")).unwrap();
    }
}
