//! `--in-place`: what changes and what does not, locks, aliases, refusals.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{self, Folder, binary, each, header, joined, npy, npy_with_header, refusals, to_fortran};

fn int32(items: &[i32]) -> Vec<u8> {
    joined(items.iter().map(|i| i.to_le_bytes()))
}

/// The program as a child that runs on.
fn spawn(folder: &Folder, args: &[&str]) -> std::process::Child {
    let mut command = Command::new(binary());
    command.current_dir(folder.path("")).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// What the specs of operators have not: values that fill, and reductions.
#[test]
fn any_order_of_storage() {
    // operator, arguments after DATA, items in C order afterwards; data is 0..12 as [2, 3, 2]
    let rows: &[(&[&str], [i32; 12])] = &[
        (&["slice-scatter", "--fill", "-1", "--at", "1:,1:"], [0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1]),
        (&["scatter-update", "1", "[[20,21],[22,23],[24,25]]", "--axis=0"], [0, 1, 2, 3, 4, 5, 20, 21, 22, 23, 24, 25]),
        (
            &["scatter-nd", "[[1,2,0],[1,2,0]]", "[100,1000]", "--reduction", "add"],
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1110, 11],
        ),
        (&["scatter-nd", "[[0]]", "--fill", "3", "--reduction", "max"], [3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ];
    let data: Vec<i32> = (0..12).collect();
    let folder = Folder::new();
    for (descr, fortran_order) in [("<i4", false), ("<i4", true), (">i4", false), (">i4", true)] {
        let stored = |items: &[i32]| {
            let swap = |i: &i32| if descr == ">i4" { i.to_be_bytes() } else { i.to_le_bytes() };
            let bytes: Vec<u8> = items.iter().flat_map(swap).collect();
            let bytes = if fortran_order { to_fortran(&bytes, &[2, 3, 2], 4) } else { bytes };
            npy_with_header(&header(descr, fortran_order, &[2, 3, 2]), &bytes)
        };
        each(
            rows,
            |(args, _)| format!("{descr} {fortran_order} {args:?}"),
            |(args, expected)| {
                for window in [None, Some(1), Some(4), Some(12)] {
                    folder.put("data.npy", stored(&data));
                    let all = [&args[..1], &["data.npy"], &args[1..], &["-i"]].concat();
                    let printed = folder.run_with(&all, window, None).printed()?;
                    let found = folder.get("data.npy");
                    if found != stored(expected) || !printed.is_empty() {
                        return Err(format!("window {window:?}: {}", common::difference(&found, &stored(expected))));
                    }
                }
                Ok(())
            },
        );
    }
}

#[test]
fn data_as_its_own_updates_or_indices() {
    let folder = Folder::new();
    let reset = || {
        folder.put("data.npy", npy("<i8", &[4], &[3_i64, 2, 1, 0].map(i64::to_le_bytes).concat()));
        let _ = fs::remove_file(folder.path("link.npy"));
        fs::hard_link(folder.path("data.npy"), folder.path("link.npy")).unwrap();
    };
    let rows: &[(&str, [i64; 4])] = &[
        ("slice-scatter data.npy data.npy --at ::-1 -i", [0, 1, 2, 3]),
        ("slice-scatter data.npy link.npy --at ::-1 -i", [0, 1, 2, 3]),
        ("slice-scatter link.npy ./data.npy --at ::-1 -i", [0, 1, 2, 3]),
        ("scatter-update data.npy data.npy link.npy --axis 0 -i", [0, 1, 2, 3]),
        ("scatter-update data.npy link.npy [5,6,7,8] --axis 0 -i", [8, 7, 6, 5]),
        ("scatter-nd data.npy [[0],[1],[2],[3]] data.npy --reduction add -i", [6, 4, 2, 0]),
        ("scatter-nd data.npy [[3],[2],[1],[0]] link.npy -i", [0, 1, 2, 3]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            for window in [None, Some(8)] {
                reset();
                folder.run_with(common::words(args), window, None).printed()?;
                let found = folder.get("link.npy");
                if found != npy("<i8", &[4], &expected.map(i64::to_le_bytes).concat()) {
                    return Err(format!("{:?}", &found[found.len() - 32..]));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[2, 2], &int32(&[0, 1, 2, 3]))).put("data.json", b"[1,2]");
    folder.put("short.npy", &npy("<i4", &[2, 2], &int32(&[0, 1, 2, 3]))[..140]);
    let slices = ["--at", ":", "-i"];
    let rows: &[(&[&str], &[&str])] = &[
        (&["slice-scatter", "-", "--fill", "1"], &["DATA (standard input)", "--in-place"]),
        (&["slice-scatter", "[1]", "--fill", "1"], &["DATA [1]", "--in-place"]),
        (&["slice-scatter", "data.json", "--fill", "1"], &["DATA data.json", ".npy"]),
        (&["slice-scatter", "short.npy", "--fill", "1"], &["DATA short.npy", "12 bytes", "expected 16"]),
        (&["slice-scatter", "none.npy", "--fill", "1"], &["DATA none.npy", "(os error 2)"]),
        (&["slice-scatter", ".", "--fill", "1"], &["DATA .", "name it after a colon"]),
        (&["slice-scatter", "data.npy", "--fill", "1", "-o", "data.npy"], &["--in-place", "--output"]),
        (&["slice-scatter", "data.npy", "--fill", "1", "--to", "npy"], &["--in-place", "--to"]),
        (&["slice-scatter", "data.npy", "--fill", "1", "--no-clobber"], &["--in-place"]),
        (&["slice-scatter", "data.npy", "--fill", "1.5"], &["--fill", "1.5"]),
        (&["slice-scatter", "data.npy", "[[1,2]]"], &["UPDATES [[1,2]]", "[1, 2]", "expected [2, 2]"]),
    ];
    each(
        rows,
        |(args, _)| format!("{args:?}"),
        |(args, fragments)| folder.refuses([args, &slices[..]].concat(), fragments).map(drop),
    );
    let refuses = |args: &str, fragments: &[&str]| folder.refuses(common::words(args), fragments).unwrap();
    refuses("slice data.npy --at : -i", &["-i"]);
    refuses("scatter-nd data.npy [[0,0],[0,1],[1,2]] [5,6,7] -i", &["2 at [2, 1]"]);
    refuses("scatter-update data.npy [0,1,-1] --fill 9 --axis 0 -i", &["-1 at [2]"]);
    refuses("scatter-update data.npy [0,1,0] --fill 9 --axis 0 -i --on-duplicate error", &["[2]", "[0]"]);
    refusals(&folder, &[("slice-scatter data.npy --fill 1 --at : -i", &["--in-place"])]);
}

#[test]
fn the_last_of_many_indices_is_bad() {
    let folder = Folder::new();
    let before = npy("<u1", &[1000], &[7; 1000]);
    let mut indices: Vec<u8> = joined((0..300_000_i64).map(|i| (i % 1000).to_le_bytes()));
    indices.extend(1000_i64.to_le_bytes());
    folder.put("data.npy", &before).put("indices.npy", npy("<i8", &[300_001, 1], &indices));
    let args = ["scatter-nd", "data.npy", "indices.npy", "--fill", "1", "-i"];
    folder.refuses(args, &["INDICES indices.npy: 1000 at [300000, 0]", "[-1000, 999]"]).unwrap();
    assert_eq!(folder.get("data.npy"), before);
}

#[test]
fn updates_from_a_pipe_are_whole_before_anything_is_written() {
    let folder = Folder::new();
    let before = npy("<i4", &[30_000], &[7; 120_000]);
    let updates = npy("<i4", &[30_000], &[9; 120_000]);
    let args = ["slice-scatter", "data.npy", "-", "--at", ":", "-i"];
    for (stdin, message) in [
        (&updates[..100_000], "99872 bytes of data, expected 120000"),
        (&[&updates[..], b"x"].concat(), "more than 120000 bytes"),
    ] {
        folder.put("data.npy", &before);
        let run = folder.run_with(args, None, Some(stdin));
        assert_eq!(run.status, Some(2));
        assert!(run.stderr.contains("UPDATES (standard input)") && run.stderr.contains(message), "{}", run.stderr);
        assert!(folder.get("data.npy") == before);
    }
    folder.run_with(args, None, Some(&updates)).printed().unwrap();
    assert!(folder.get("data.npy") == updates);
}

#[test]
#[cfg(unix)]
fn a_limit_of_file_size_is_an_error() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<u1", &[100_000], &[7; 100_000]));
    let program = binary();
    let script = format!("ulimit -f 16; exec {} slice-scatter data.npy --fill 1 --at : -i", program.display());
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("DATA data.npy") && said.contains("File too large"), "{said}");
}

#[test]
fn the_file_stays_the_same_file() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[4], &int32(&[0, 1, 2, 3])));
    fs::hard_link(folder.path("data.npy"), folder.path("other.npy")).unwrap();
    folder.run(["slice-scatter", "data.npy", "--fill", "9", "--at", "1:2", "-i"]).printed().unwrap();
    assert_eq!(folder.get("other.npy"), npy("<i4", &[4], &int32(&[0, 9, 2, 3])));
    let said =
        folder.run(["slice-scatter", "data.npy", "--fill", "8", "--at", "1:2", "-i", "--dry-run"]).printed().unwrap();
    assert!(said.contains("changed in place"), "{said}");
    assert_eq!(folder.get("other.npy"), npy("<i4", &[4], &int32(&[0, 9, 2, 3])));
}

#[test]
fn an_edit_waits_for_the_lock_and_then_looks_again() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[4], &int32(&[0, 1, 2, 3])));
    let held = File::open(folder.path("data.npy")).unwrap();
    held.lock().unwrap();
    let mut child = spawn(&folder, &["slice-scatter", "data.npy", "--fill", "9", "--at", "1:2", "-i"]);
    sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    // another file takes the name meanwhile
    folder.put("new.npy", npy("<i4", &[2], &int32(&[5, 6])));
    let old = folder.get("data.npy");
    fs::hard_link(folder.path("data.npy"), folder.path("old.npy")).unwrap();
    fs::rename(folder.path("new.npy"), folder.path("data.npy")).unwrap();
    held.unlock().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.get("old.npy"), old);
    assert_eq!(folder.get("data.npy"), npy("<i4", &[2], &int32(&[5, 9])));
}

#[test]
fn many_edits_at_once_lose_nothing() {
    const EDITS: usize = 64;
    let folder = Folder::new();
    // rows lie one after the other, columns interleave in every window
    for at in ["row", "column"] {
        folder.put("data.npy", npy("<i4", &[EDITS, EDITS], &[0; 4 * EDITS * EDITS]));
        let edit = |n: usize| {
            let slices = if at == "row" { format!("{n}:{}", n + 1) } else { format!(":,{n}:{}", n + 1) };
            spawn(&folder, &["slice-scatter", "data.npy", "--fill", &n.to_string(), "--at", &slices, "-i"])
        };
        let children: Vec<_> = (0..EDITS).map(edit).collect();
        children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
        let expected: Vec<i32> =
            (0..EDITS * EDITS).map(|i| (if at == "row" { i / EDITS } else { i % EDITS }) as i32).collect();
        assert!(folder.get("data.npy") == npy("<i4", &[EDITS, EDITS], &int32(&expected)), "{at}");
    }
    // sums need every read and write to be one step
    folder.put("data.npy", npy("<i4", &[1], &[0; 4]));
    let add = |_| spawn(&folder, &["scatter-nd", "data.npy", "[[0]]", "[1]", "--reduction", "add", "-i"]);
    let children: Vec<_> = (0..EDITS).map(add).collect();
    children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    assert_eq!(folder.get("data.npy"), npy("<i4", &[1], &int32(&[EDITS as i32])));
}

/// Runs the program with 256 MiB of address space.
#[cfg(unix)]
fn shell_in_little_memory(folder: &Folder, args: &str) {
    let program = binary();
    let script = format!("ulimit -v 262144; exec {} {args}", program.display());
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A file of 64 GiB that takes no room on the disk: an edit must cost what it changes.
#[test]
#[cfg(unix)]
fn an_edit_costs_what_it_changes() {
    use std::os::unix::fs::MetadataExt;
    let folder = Folder::new();
    let shape = [1 << 20, 1 << 14];
    for fortran_order in [false, true] {
        folder.put("huge.npy", npy_with_header(&header("<f4", fortran_order, &shape), &[]));
        let file = fs::OpenOptions::new().write(true).open(folder.path("huge.npy")).unwrap();
        let items = file.metadata().unwrap().len();
        if file.set_len(items + (4 << 34)).is_err() {
            crate::common::skip("the file system has no files of 64 GiB");
            return;
        }
        for args in [
            "slice-scatter huge.npy --fill 1 --at 1000000:1000001,:100 -i",
            "scatter-update huge.npy [[5]] --fill 2 --axis 0 -i --dry-run",
            "scatter-nd huge.npy [[-1,-1],[0,0],[77,5]] [1,2,3] --reduction add -i",
        ] {
            let begun = std::time::Instant::now();
            folder.run(common::words(args)).printed().unwrap();
            assert!(begun.elapsed() < Duration::from_secs(20), "{args}: all of it was read");
        }
        if !fortran_order {
            // one item in every 10^9: of the places between nothing is read, written or counted
            let sparse = "slice-scatter huge.npy --fill 0 --at ::100000,:1 -i";
            shell_in_little_memory(&folder, sparse);
        }
        let on_disk = file.metadata().unwrap().blocks() * 512;
        assert!(on_disk < 64 << 20, "{on_disk} bytes were written");
        let part =
            folder.run(["slice", "huge.npy", "--at", "1000000:1000001,98:102", "--to", "json"]).printed().unwrap();
        assert!(part.contains("[[1.0, 1.0, 0.0, 0.0]]"), "{part}");
        let last = folder.run(["slice", "huge.npy", "--at", "-1:,-2:", "--to", "json"]).printed().unwrap();
        assert!(last.contains("[[0.0, 1.0]]"), "{last}");
    }
}
