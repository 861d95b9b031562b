//! Several runs that write one store at once: each ends as if it were alone, and the store is one of theirs.

use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use super::{spawn, stderr};
use crate::common::{Folder, npy, send};

/// int32 [64, 64] of one number.
fn data(item: i32) -> Vec<u8> {
    npy("<i4", &[64, 64], &item.to_le_bytes().repeat(64 * 64))
}

/// Returns the hidden names beside the stores.
fn hidden(folder: &Folder) -> Vec<String> {
    let names = std::fs::read_dir(folder.path("")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with('.')).collect()
}

fn start(folder: &Folder, item: i32) -> Child {
    let args = format!("convert {item}.npy -o out.zarr --chunks {},8", 8 << item);
    spawn(folder, &args, Stdio::null(), Stdio::null())
}

/// Returns the number of the run of which a store is, all of it.
fn winner(folder: &Folder, names: &[i32]) -> i32 {
    let found = folder.tree("out.zarr");
    let is_own = |item: &&i32| found == folder.tree(format!("{item}.zarr"));
    *names.iter().find(is_own).unwrap_or_else(|| panic!("a store of nobody: {:?}", found.keys()))
}

#[test]
fn at_once() {
    const RUNS: [i32; 4] = [0, 1, 2, 3];
    let folder = Folder::new();
    for item in RUNS {
        folder.put(format!("{item}.npy"), data(item + 1));
        assert!(start(&folder, item).wait().expect("a status").success());
        std::fs::rename(folder.path("out.zarr"), folder.path(format!("{item}.zarr"))).expect("renamed");
    }
    for round in 0..12 {
        // where nothing is at first, where a store is, and where a killed process has left another
        if round % 2 == 0 && round > 0 {
            std::fs::remove_dir_all(folder.path("out.zarr")).expect("removed");
        }
        if round % 4 > 1 {
            std::fs::create_dir_all(folder.path(".out.zarr.0.tmp/store/c")).expect("a folder");
        }
        let mut children: Vec<_> = RUNS.iter().map(|&item| start(&folder, item)).collect();
        for child in &mut children {
            let status = child.wait().expect("a status");
            assert!(status.success(), "round {round}: {status:?}: {}", stderr(child));
        }
        winner(&folder, &RUNS);
        assert_eq!(hidden(&folder), Vec::<String>::new(), "round {round}");
    }
    // what several killed processes have left goes with the next output
    for number in [0, 1, 3] {
        std::fs::create_dir_all(folder.path(format!(".out.zarr.{number}.tmp/store/c"))).expect("a folder");
    }
    assert!(start(&folder, 1).wait().expect("a status").success());
    assert_eq!(hidden(&folder), Vec::<String>::new(), "what was left");
    // and where one of them is killed, the other ends well, and the store is whole
    for round in 0..16 {
        let (mut killed, mut other) = (start(&folder, 0), start(&folder, 1));
        std::thread::sleep(Duration::from_micros(600 * round));
        send(&killed, Signal::KILL);
        killed.wait().expect("a status");
        let status = other.wait().expect("a status");
        assert!(status.success(), "round {round}: {status:?}: {}", stderr(&mut other));
        winner(&folder, &RUNS);
    }
    assert!(start(&folder, 2).wait().expect("a status").success());
    assert_eq!(winner(&folder, &RUNS), 2);
    assert_eq!(hidden(&folder), Vec::<String>::new());
}

/// The last to finish wins, whether a store was there when it began or not, and `--no-clobber` keeps what came meanwhile.
#[test]
fn the_last_wins() {
    use std::io::Write as _;
    let folder = Folder::new();
    folder.put("1.npy", data(7));
    for (options, is_there) in [("", false), ("", true), ("--no-clobber", false)] {
        drop(std::fs::remove_dir_all(folder.path("out.zarr")));
        if is_there {
            assert!(start(&folder, 1).wait().expect("a status").success());
        }
        // it has looked at the output before it waits for the rest of its input
        let args = format!("convert - -o out.zarr --chunks 8,64 {options}");
        let mut waiting = spawn(&folder, &args, Stdio::piped(), Stdio::null());
        let bytes = data(9);
        waiting.stdin.as_mut().expect("a pipe").write_all(&bytes[..200]).expect("written");
        std::thread::sleep(Duration::from_millis(200));
        assert!(start(&folder, 1).wait().expect("a status").success());
        let first = folder.tree("out.zarr");
        waiting.stdin.take().expect("a pipe").write_all(&bytes[200..]).expect("written");
        let status = waiting.wait().expect("a status");
        let said = stderr(&mut waiting);
        if options.is_empty() {
            assert!(status.success(), "{said}");
            assert_ne!(folder.tree("out.zarr"), first);
        } else {
            assert_eq!(status.code(), Some(2));
            assert!(said.starts_with("error: output out.zarr: cannot be put in place: "), "{said}");
            assert_eq!(folder.tree("out.zarr"), first);
        }
        assert_eq!(hidden(&folder), Vec::<String>::new());
    }
    // what is no store is not replaced, though it came after the run had begun
    std::fs::remove_dir_all(folder.path("out.zarr")).expect("removed");
    let mut waiting = spawn(&folder, "convert - -o out.zarr", Stdio::piped(), Stdio::null());
    std::thread::sleep(Duration::from_millis(200));
    std::fs::create_dir(folder.path("out.zarr")).expect("a folder");
    folder.put("out.zarr/mine", "mine");
    waiting.stdin.take().expect("a pipe").write_all(&data(9)).expect("written");
    assert_eq!(waiting.wait().expect("a status").code(), Some(2));
    assert_eq!(folder.get("out.zarr/mine"), b"mine");
    assert_eq!(folder.tree("out.zarr").len(), 1);
}
