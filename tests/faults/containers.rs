//! The same faults with containers: outputs of several tensors, edits of members, inputs that are cut.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Mounted, is_one_error, large, litter, shell, spawn, stderr};
use crate::common::{Folder, each, joined, npy, send, words};

const FORMATS: [&str; 2] = ["npz", "safetensors"];

fn int32(items: impl Iterator<Item = i32>) -> Vec<u8> {
    joined(items.map(i32::to_le_bytes))
}

/// Two tensors, and the containers of both kinds that hold them.
fn containers(folder: &Folder) {
    let items: Vec<u8> = (0..1 << 20).map(|i| i as u8).collect();
    folder.put("a.npy", npy("<u1", &[1 << 20], &items)).put("b.npy", npy("<i4", &[1 << 16], &items[..1 << 18]));
    for format in FORMATS {
        folder.run(words(&format!("convert a=a.npy b=b.npy -o new.{format}"))).printed().expect("converted");
    }
}

/// The target is the old file or the whole new one, whenever the run ends.
#[test]
fn killed_while_it_converts() {
    let folder = Folder::new();
    containers(&folder);
    for format in FORMATS {
        let (new, out) = (folder.get(format!("new.{format}")), format!("out.{format}"));
        let start = || spawn(&folder, &format!("convert a=a.npy b=b.npy -o {out}"), Stdio::null(), Stdio::null());
        let begun = Instant::now();
        assert!(start().wait().unwrap().success());
        let length = begun.elapsed();
        let (mut ended, mut replaced) = (0, 0);
        for (signal, rounds) in [(Signal::TERM, 20), (Signal::KILL, 40)] {
            for round in 0..rounds {
                folder.put(&out, b"before");
                let moment = length * (round * 37 % rounds) / rounds;
                let begun = Instant::now();
                let mut child = start();
                std::thread::sleep(moment.saturating_sub(begun.elapsed()));
                send(&child, signal);
                ended += u32::from(child.wait().unwrap().signal().is_some());
                let found = folder.get(&out);
                assert!(found == b"before" || found == new, "{format}: {signal:?} in round {round}: torn");
                replaced += u32::from(found == new);
                // SIGKILL between two names leaves the whole new file under the other one
                let names = litter(&folder.path(""));
                assert!(names.len() <= usize::from(signal == Signal::KILL), "{signal:?}: {names:?}");
                assert!(names.iter().all(|name| fs::read(name).unwrap() == new), "a part of a file in {names:?}");
            }
        }
        eprintln!("{format}: {ended} of 60 runs ended by a signal, {replaced} had put the file in place");
        assert!(start().wait().unwrap().success());
        assert!(litter(&folder.path("")).is_empty() && folder.get(&out) == new);
    }
}

/// No room: one line of error, the target as it was, nothing beside it.
#[test]
fn no_room_for_a_container() {
    let folder = Folder::new();
    containers(&folder);
    let disk = Mounted::tmpfs(folder.path("disk"), "size=512k");
    let rows = FORMATS.map(|format| {
        let limited = ("ulimit -f 16;", format!("out.{format}"), "File too large");
        let full = disk.as_ref().map(|_| ("", format!("disk/out.{format}"), "No space left"));
        [Some(limited), full, Some(("", "/dev/full".to_owned(), "No space left"))]
    });
    each(
        rows.into_iter().flatten().flatten(),
        |(_, out, message)| format!("{out}: {message}"),
        |(prefix, out, message)| {
            if out != "/dev/full" {
                folder.put(out, b"before");
            }
            let format = if out.ends_with("npz") { "npz" } else { "safetensors" };
            let run = shell(&folder, &format!("{prefix} exec tensorop convert a=a.npy b=b.npy --to {format} -o {out}"));
            let said = String::from_utf8_lossy(&run.stderr);
            if run.status.code() != Some(2) || !is_one_error(&said) || !said.contains(message) {
                return Err(format!("{:?}, said {said:?}", run.status));
            }
            let kept = out == "/dev/full" || folder.get(out) == b"before";
            let left = [litter(&folder.path("")), disk.as_ref().map_or(Vec::new(), |disk| litter(&disk.0))].concat();
            if kept && left.is_empty() { Ok(()) } else { Err(format!("kept: {kept}, left {left:?}")) }
        },
    );
}

/// Starts dividing the two tensors among two shards.
fn divide(folder: &Folder) -> std::process::Child {
    let args = "convert a=a.npy b=b.npy -o out.safetensors.index.json --max-shard-size 1KB";
    spawn(folder, args, Stdio::null(), Stdio::null())
}

/// An index and its shards, by the names of the files.
type Model = BTreeMap<OsString, Vec<u8>>;

/// The files of a folder whose names begin with `out`.
fn outputs(folder: &Folder) -> Model {
    folder.content().into_iter().filter(|(name, _)| name.to_string_lossy().starts_with("out")).collect()
}

/// Whenever a run ends, the index is the old one or the new one, no shard is torn, and the model of the index is whole
/// where the two have no name of a shard in common.
#[test]
fn killed_while_it_divides() {
    let folder = Folder::new();
    containers(&folder);
    let run = |args: &str| folder.run(words(args)).printed().expect("converted");
    run("convert a=b.npy b=a.npy -o out.safetensors.index.json");
    let one_file = outputs(&folder);
    for name in one_file.keys() {
        fs::remove_file(folder.path(name)).unwrap();
    }
    run("convert a=b.npy b=a.npy -o out.safetensors.index.json --max-shard-size 1KB");
    let same_names = outputs(&folder);
    let begun = Instant::now();
    assert!(divide(&folder).wait().unwrap().success());
    let (length, new) = (begun.elapsed(), outputs(&folder));
    assert!(new.keys().eq(same_names.keys()) && new.len() == 3 && one_file.len() == 2);
    for old in [&one_file, &same_names] {
        let (mut ended, mut replaced) = (0, 0);
        for (signal, rounds) in [(Signal::TERM, 20), (Signal::KILL, 40)] {
            for round in 0..rounds {
                for name in outputs(&folder).keys() {
                    fs::remove_file(folder.path(name)).unwrap();
                }
                for (name, content) in old {
                    folder.put(name, content);
                }
                let begun = Instant::now();
                let mut child = divide(&folder);
                std::thread::sleep((length * (round * 37 % rounds) / rounds).saturating_sub(begun.elapsed()));
                send(&child, signal);
                let is_ended = child.wait().unwrap().signal().is_some();
                ended += u32::from(is_ended);
                let (found, moment) = (outputs(&folder), format!("{signal:?} in round {round}"));
                for (name, content) in &found {
                    let is_one = [old.get(name), new.get(name)].contains(&Some(content));
                    assert!(is_one, "{moment}: {name:?} is torn");
                }
                let is_whole = |model: &Model| model.iter().all(|(name, content)| found.get(name) == Some(content));
                // the index comes last: all that it names is there. Of shards of the same names some may be new before it is.
                assert!(is_whole(&new) || is_ended && (is_whole(old) || old.len() == new.len()), "{moment}");
                replaced += u32::from(is_whole(&new));
                let names = litter(&folder.path(""));
                assert!(signal == Signal::KILL || names.is_empty(), "{moment}: {names:?}");
            }
        }
        eprintln!("{} files: {ended} of 60 runs ended by a signal, {replaced} had put all in place", old.len());
        // what a killed run left goes with the next one
        assert!(divide(&folder).wait().unwrap().success());
        assert!(litter(&folder.path("")).is_empty(), "{:?}", litter(&folder.path("")));
        assert!(new.iter().all(|(name, content)| folder.get(name) == *content));
    }
}

/// No room for the second shard: the old model stays as it was, the first shard is not left beside it.
#[test]
fn no_room_for_a_shard() {
    let folder = Folder::new();
    containers(&folder);
    let disk = Mounted::tmpfs(folder.path("disk"), "size=512k");
    let rows = [
        // blocks of 512 bytes: b has 256 KiB, a 1 MiB
        Some(("ulimit -f 1024;", "out.safetensors.index.json", "File too large")),
        disk.as_ref().map(|_| ("", "disk/out.safetensors.index.json", "No space left")),
    ];
    each(
        rows.into_iter().flatten(),
        |(_, out, message)| format!("{out}: {message}"),
        |(prefix, out, message)| {
            let place = folder.path(out).parent().expect("a folder").to_owned();
            folder.run(words(&format!("convert z=[1] -o {out}"))).printed()?;
            let files = || {
                let entries = fs::read_dir(&place).expect("a folder").map(|entry| entry.expect("an entry").path());
                entries.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).expect("read")))
            };
            let before: BTreeMap<_, _> = files().collect();
            let convert = "convert b=b.npy c=a.npy -o";
            let run = shell(&folder, &format!("{prefix} exec tensorop {convert} {out} --max-shard-size 1KB"));
            let said = String::from_utf8_lossy(&run.stderr);
            if run.status.code() != Some(2) || !is_one_error(&said) || !said.contains(message) {
                return Err(format!("{:?}, said {said:?}", run.status));
            }
            let after: BTreeMap<_, _> = files().collect();
            let names = || after.keys().collect::<Vec<_>>();
            if before == after { Ok(()) } else { Err(format!("not as it was: {:?}", names())) }
        },
    );
}

/// A file of 64 tensors of 16 items.
fn many_members(folder: &Folder) {
    let mut args = vec!["convert".to_owned()];
    folder.put("zeros.npy", npy("<i4", &[16], &[0; 64]));
    args.extend((0..64).map(|n| format!("m{n}=zeros.npy")));
    args.extend(["-o".to_owned(), "many.safetensors".to_owned()]);
    folder.run(args).printed().expect("converted");
}

/// 64 edits at once, each of another member of one file, and then 64 of one.
#[test]
fn many_edits_of_members() {
    let folder = Folder::new();
    many_members(&folder);
    let all = |start: &dyn Fn(i32) -> String| {
        let children: Vec<_> = (0..64).map(|n| spawn(&folder, &start(n), Stdio::null(), Stdio::null())).collect();
        for mut child in children {
            let status = child.wait().unwrap();
            assert!(status.success(), "{status:?}: {}", stderr(&mut child));
        }
    };
    all(&|n| format!("slice-scatter many.safetensors:m{n} --fill {n} --at ::2 -i"));
    all(&|n| format!("scatter-nd many.safetensors:m7 [[{}]] --fill 1 --reduction add -i", n % 16));
    for n in 0..64 {
        folder.run(words(&format!("convert many.safetensors:m{n} -o one.npy"))).printed().expect("read");
        let more = if n == 7 { 4 } else { 0 };
        let expected = int32((0..16).map(|i| if i % 2 == 0 { n } else { 0 } + more));
        assert!(folder.get("one.npy") == npy("<i4", &[16], &expected), "member {n}");
    }
}

/// A refusal at the very end of what is checked leaves the file as it was.
#[test]
fn the_last_index_into_a_member_is_bad() {
    const COUNT: usize = 500_000;
    let folder = Folder::new();
    many_members(&folder);
    let before = folder.get("many.safetensors");
    let mut indices: Vec<u8> = joined((0..COUNT as u32 - 1).map(|i| (i % 16).to_le_bytes()));
    indices.extend(16_u32.to_le_bytes());
    folder.put("tuples.npy", npy("<u4", &[COUNT, 1], &indices)).put("places.npy", npy("<u4", &[COUNT], &indices));
    let rows = [
        ("scatter-nd many.safetensors:m3 tuples.npy --fill 1 -i", "16 at [499999, 0]"),
        ("scatter-nd many.safetensors:m3 tuples.npy --fill 1 --reduction add -i", "16 at [499999, 0]"),
        ("scatter-update many.safetensors:m63 places.npy --fill 1 --axis 0 -i", "16 at [499999]"),
    ];
    each(rows, |(args, _)| (*args).to_owned(), |(args, message)| folder.refuses(words(args), &[message]).map(drop));
    assert!(folder.get("many.safetensors") == before);
}

/// Cut off at some moment of the run: an error and no output, or all of the output.
#[test]
fn a_container_that_is_cut_while_it_is_read() {
    let folder = Folder::new();
    large(&folder, "big.npy");
    let mut refused = 0;
    for format in FORMATS {
        folder.run(words(&format!("convert a=big.npy -o whole.{format}"))).printed().expect("converted");
        for round in 0..8_u64 {
            fs::copy(folder.path(format!("whole.{format}")), folder.path("big")).unwrap();
            let args = ["slice big --at ::-1 -o out.npy", "convert big -o out.npy"][round as usize % 2];
            let _ = fs::remove_file(folder.path("out.npy"));
            let mut child = spawn(&folder, args, Stdio::null(), Stdio::null());
            std::thread::sleep(Duration::from_micros(2000 + round * 4000));
            let file = fs::OpenOptions::new().write(true).open(folder.path("big")).unwrap();
            file.set_len([0, 60, 1 << 20, 1 << 25][round as usize % 4]).unwrap();
            let said = stderr(&mut child);
            let status = child.wait().unwrap().code();
            let written = folder.path("out.npy").exists();
            let right = match status {
                Some(0) => said.is_empty() && written,
                Some(2) => is_one_error(&said) && !written,
                _ => false,
            };
            refused += usize::from(status == Some(2));
            assert!(right, "{format}: {args} in round {round}: {status:?}, said {said:?}, written: {written}");
            assert!(litter(&folder.path("")).is_empty());
        }
    }
    eprintln!("{refused} of 16 runs were refused");
}

/// A reader that goes away ends a run quietly: with status 0, or that of the comparison.
#[test]
fn a_reader_of_reports_that_goes_away() {
    let folder = Folder::new();
    containers(&folder);
    folder.put("c.npy", npy("<u1", &[1 << 20], &[9; 1 << 20]));
    let rows = [
        ("diff a.npy c.npy --json --max-mismatch 3000", 1),
        ("diff a.npy c.npy --max-mismatch 3000", 1),
        ("info new.npz new.safetensors --stats --json", 0),
        ("info new.npz new.safetensors", 0),
        ("convert new.npz --to npz -o -", 0),
        ("convert new.npz --to safetensors -o -", 0),
        ("convert a.npy --to pb -o -", 0),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            for stage in [0, 1, 60, 5000] {
                let mut child = spawn(&folder, args, Stdio::null(), Stdio::piped());
                let out = child.stdout.take().expect("a pipe");
                out.take(stage).read_to_end(&mut Vec::new()).expect("what was written");
                let said = stderr(&mut child);
                let status = child.wait().expect("an end").code();
                if !(status == Some(*expected) || status == Some(0)) || !said.is_empty() {
                    return Err(format!("closed after {stage} bytes: {status:?}, said {said:?}"));
                }
            }
            Ok(())
        },
    );
}
