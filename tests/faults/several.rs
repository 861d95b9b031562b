//! Several outputs of one command: none of them appears if one cannot be made, and none is ever torn.

use std::process::Stdio;
use std::time::Instant;

use rustix::process::Signal;

use super::{Mounted, is_one_error, large, litter, shell, spawn};
use crate::common::{Folder, each, npy, send, words};

const OUTPUTS: [&str; 3] = ["o-0.npy", "o-1.npy", "o-2.npy"];

#[test]
fn no_room_for_one_of_them() {
    let folder = Folder::new();
    let disk = Mounted::tmpfs(folder.path("disk"), "size=512k");
    folder.put("small.npy", npy("<u1", &[60_000], &[1; 60_000]));
    // the first two are short, and only the last is too long
    folder.put("many.npy", npy("<u1", &[700_000], &[1; 700_000]));
    large(&folder, "big.npy");
    let limited = ("ulimit -f 16;", "", "File too large");
    let full = disk.as_ref().map(|_| ("", "disk/", "No space left"));
    let commands =
        ["split many.npy --lengths 9,9,-1", "split big.npy --parts 3", "split small.npy --lengths 3,-1,50000"];
    let rows = commands.into_iter().flat_map(|command| {
        // 60,000 bytes fit a disk of 512 KiB
        let full = full.filter(|_| !command.contains("small"));
        [Some(limited), full].into_iter().flatten().map(move |place| (command, place))
    });
    each(
        rows,
        |(command, (_, place, message))| format!("{command} -o {place}o-*.npy: {message}"),
        |(command, (prefix, place, message))| {
            for existing in [true, false] {
                for name in OUTPUTS {
                    let _ = std::fs::remove_file(folder.path(format!("{place}{name}")));
                    if existing {
                        folder.put(format!("{place}{name}"), b"before");
                    }
                }
                let run = shell(&folder, &format!("{prefix} exec tensorop {command} -o '{place}o-*.npy'"));
                let said = String::from_utf8_lossy(&run.stderr);
                if run.status.code() != Some(2) || !is_one_error(&said) || !said.contains(message) {
                    return Err(format!("{:?}, said {said:?}", run.status));
                }
                for name in OUTPUTS {
                    let found = std::fs::read(folder.path(format!("{place}{name}"))).ok();
                    if found.as_deref() != existing.then_some(&b"before"[..]) {
                        return Err(format!("existing {existing}: {name} is another"));
                    }
                }
                let left = litter(&folder.path(place));
                if !left.is_empty() {
                    return Err(format!("left {left:?}"));
                }
            }
            Ok(())
        },
    );
}

/// Ended at any moment, each output is the old file or the whole new one, and the next run makes all of them.
#[test]
fn at_any_moment() {
    let folder = Folder::new();
    let items: Vec<u8> = (0..3 << 18).map(|n| (n >> 18) as u8).collect();
    folder.put("d.npy", npy("<u1", &[3 << 18], &items));
    let new = [0, 1, 2].map(|n| npy("<u1", &[1 << 18], &[n; 1 << 18]));
    let start = || spawn(&folder, "split d.npy --parts 3 -o o-*.npy", Stdio::null(), Stdio::null());
    let begun = Instant::now();
    assert!(start().wait().unwrap().success());
    let length = begun.elapsed();
    let mut ended = 0;
    for (signal, rounds) in [(Signal::TERM, 30), (Signal::KILL, 60)] {
        for round in 0..rounds {
            for name in OUTPUTS {
                folder.put(name, b"before");
            }
            let moment = length * (round * 37 % rounds) / rounds;
            let begun = Instant::now();
            let mut child = start();
            std::thread::sleep(moment.saturating_sub(begun.elapsed()));
            send(&child, signal);
            ended += u32::from(child.wait().unwrap().code().is_none());
            for (name, new) in OUTPUTS.iter().zip(&new) {
                let found = folder.get(name);
                assert!(found == b"before" || found == *new, "{signal:?} in round {round}: {name} is torn");
            }
            let left = litter(&folder.path(""));
            assert!(left.is_empty() || signal == Signal::KILL, "{signal:?} in round {round}: {left:?}");
        }
    }
    eprintln!("{ended} of 90 runs ended by a signal");
    assert!(start().wait().unwrap().success());
    assert!(OUTPUTS.iter().zip(&new).all(|(name, new)| folder.get(name) == *new));
    assert_eq!(litter(&folder.path("")), Vec::<std::path::PathBuf>::new());
    assert_eq!(folder.run(words("concat o-0.npy o-1.npy o-2.npy -o joined.npy")).printed(), Ok(String::new()));
    assert!(folder.get("joined.npy") == folder.get("d.npy"));
}
