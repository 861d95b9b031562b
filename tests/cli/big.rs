//! Streams, and files much larger than the memory that the program may have. The large files are sparse.
#![cfg(unix)]

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{
    Folder, SPECS, Spec, binary, each, file_of, header, joined, named, npy, npy_with_header, put_operands, words,
};

/// A `.npy` file whose items are all zero and take no room on the disk.
fn sparse(folder: &Folder, name: &str, descr: &str, fortran_order: bool, shape: &[usize], bytes: u64) {
    folder.put(name, npy_with_header(&header(descr, fortran_order, shape), &[]));
    let file = OpenOptions::new().write(true).open(folder.path(name)).unwrap();
    file.set_len(file.metadata().unwrap().len() + bytes).unwrap();
}

/// Runs a shell command in the folder with `tensorop` in front of the path and 160 MiB of address space a process.
fn shell(folder: &Folder, script: &str) -> Result<String, String> {
    let program = binary();
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v 163840; {script}")])
        .current_dir(folder.path(""))
        .env("PATH", path)
        .env("TMPDIR", folder.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    match (output.status.code(), output.stderr.is_empty()) {
        (Some(0), true) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        status => Err(format!("{status:?} {}", String::from_utf8_lossy(&output.stderr))),
    }
}

#[test]
fn files_larger_than_memory() {
    let folder = Folder::new();
    // items of eight bytes, since each item costs time where nothing is optimised
    sparse(&folder, "c.npy", "<i8", false, &[4096, 8192], 1 << 28);
    sparse(&folder, "f.npy", "<i8", true, &[4096, 8192], 1 << 28);
    // all but DATA, with as many columns
    put_operands(&folder, "<i8", [4096, 4], 3, |_| vec![0; 8]);
    for name in ["e", "u", "v"] {
        folder.run(words(&format!("tile {name}.npy --repeats 1,2048 -o {name}.npy"))).printed().expect("columns");
    }
    // an operator on a file in C order, the next on one in Fortran order
    let of_spec = |(n, spec): (usize, &&Spec)| {
        let (file, line) = [("c.npy", 0), ("f.npy", spec.commands.len() - 1)][n % 2];
        let to = if spec.has_several_outputs() { "safetensors" } else { "npy" };
        let name = |letter: &str| if letter == "D" { file.to_owned() } else { file_of(letter) };
        format!("tensorop {} --to {to} -o /dev/null", named(&spec.lines(spec.commands)[line], name))
    };
    let streams = [
        "cat c.npy | tensorop pad - --before 1,0 --after 0,2 --to npy | cat >/dev/null",
        "tensorop slice-scatter - --fill 2 --at :,::3 --to npy <c.npy >/dev/null",
        "cat c.npy | tensorop slice - --at ::2,5:6 --to npy | cat >/dev/null",
        "cat c.npy | tensorop scatter-nd - [[3,5]] [1] --to npy | tensorop slice - --at 3:4,5:6 --to npy >/dev/null",
    ];
    let rows = SPECS.iter().enumerate().map(of_spec).chain(streams.map(str::to_owned));
    each(rows, String::clone, |script| shell(&folder, script).map(drop));
    let script = "cat c.npy | tensorop scatter-nd - [[3,5]] [1] --to npy | tensorop slice - --at 3:4,4:7 --to json";
    let said = shell(&folder, script).unwrap();
    assert!(said.contains("[[0, 1, 0]]"), "{said}");
}

/// Many random tuples of 256 MiB, in both orders of storage: single items, and whole rows of one column each.
#[test]
fn many_tuples_of_a_large_file() {
    let folder = Folder::new();
    sparse(&folder, "c.npy", "<f4", false, &[8192, 8192], 1 << 28);
    sparse(&folder, "f.npy", "<f4", true, &[8192, 8192], 1 << 28);
    let numbers = (1..=500_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51) as i32);
    let items: Vec<u8> = joined(numbers.map(i32::to_le_bytes));
    folder.put("tuples.npy", npy("<i4", &[250_000, 2], &items));
    folder.put("rows.npy", npy("<i4", &[100, 1], &items[..400]));
    // something to find: an item in the row and column of the last tuple, wherever it lies in a file of that order
    let number = |at: usize| i32::from_le_bytes(items[at * 4..][..4].try_into().unwrap()) as u64;
    let (row, column) = (number(499_998), number(499_999));
    for (name, place) in [("c.npy", row * 8192 + column), ("f.npy", column * 8192 + row)] {
        let mut file = OpenOptions::new().write(true).open(folder.path(name)).unwrap();
        let begin = file.metadata().unwrap().len() - (1 << 28);
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(begin + place * 4)).unwrap();
        file.write_all(&2.5_f32.to_le_bytes()).unwrap();
    }
    for name in ["c.npy", "f.npy"] {
        for threads in [1, 2] {
            let gather = format!("tensorop gather-nd {name} tuples.npy --threads {threads} -o out.npy");
            let said = shell(&folder, &format!("{gather} && tensorop slice out.npy --at -1:")).unwrap();
            assert_eq!(said, "[2.5]\n", "{name}, {threads} threads");
            shell(&folder, &format!("tensorop gather-nd {name} rows.npy --threads {threads} -o rows-of-{name}"))
                .unwrap();
        }
    }
    assert!(folder.get("rows-of-c.npy").len() > 100 * 8192 * 4);
    // each column by numbers of its own, in less than all of the data
    folder.put("elements.npy", npy("<i4", &[50, 8192], &items[..50 * 8192 * 4]));
    for (name, row, column) in [("c.npy", row, column), ("f.npy", row, column)] {
        folder.put("one.npy", npy("<i4", &[8192, 1], &[(column as i32).to_le_bytes(); 8192].concat()));
        for command in ["gather-elements FILE elements.npy", "gather-elements FILE one.npy --axis 1"] {
            shell(&folder, &format!("tensorop {} -o out.npy", command.replace("FILE", name))).unwrap();
        }
        let found = shell(&folder, &format!("tensorop slice out.npy --at {row}:{}", row + 1)).unwrap();
        assert_eq!(found, "[[2.5]]\n", "{name}");
    }
}

/// What comes in long pieces is more than is kept in memory, and read piece by piece.
#[test]
fn long_pieces_of_updates() {
    const ROW: usize = 5000;
    let folder = Folder::new();
    let words_of = |count: usize, salt: u32| -> Vec<u32> {
        (0..count as u32).map(|n| (n ^ salt).wrapping_mul(2_654_435_761)).collect()
    };
    let bytes = |items: &[u32]| -> Vec<u8> { joined(items.iter().map(|item| item.to_le_bytes())) };
    let (data, updates) = (words_of(120 * ROW, 1), words_of(70 * ROW, 2));
    // in no order, and some rows several times: the last of these stays, or all are added
    let rows: Vec<usize> = (0..70).map(|n| n * 37 % 60 * 2).collect();
    let numbers: Vec<u8> = rows.iter().flat_map(|&row| (row as i64).to_le_bytes()).collect();
    folder.put("data.npy", npy("<u4", &[120, ROW], &bytes(&data)));
    folder.put("updates.npy", npy("<u4", &[70, ROW], &bytes(&updates)));
    folder.put("tuples.npy", npy("<i8", &[70, 1], &numbers)).put("rows.npy", npy("<i8", &[70], &numbers));
    let scattered = |each: fn(u32, u32) -> u32| {
        let mut out = data.clone();
        for (n, row) in rows.iter().enumerate() {
            for at in 0..ROW {
                out[row * ROW + at] = each(out[row * ROW + at], updates[n * ROW + at]);
            }
        }
        npy("<u4", &[120, ROW], &bytes(&out))
    };
    let gathered: Vec<u32> = rows.iter().flat_map(|row| data[row * ROW..][..ROW].to_vec()).collect();
    let table = [
        ("scatter-nd data.npy tuples.npy updates.npy", scattered(|_, new| new)),
        ("scatter-nd data.npy tuples.npy updates.npy --reduction add", scattered(u32::wrapping_add)),
        ("scatter-update data.npy rows.npy updates.npy --axis 0", scattered(|_, new| new)),
        ("gather-nd data.npy tuples.npy", npy("<u4", &[70, ROW], &bytes(&gathered))),
        ("gather data.npy rows.npy", npy("<u4", &[70, ROW], &bytes(&gathered))),
    ];
    each(
        &table,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            // windows that end within pieces; of a few bytes they would be a hundred thousand
            for window in [None, Some(8000)] {
                for threads in ["1", "3"] {
                    let all = words(args).into_iter().chain(["-o", "out.npy", "--threads", threads].map(str::to_owned));
                    folder.run_with(all, window, None).printed()?;
                    if folder.get("out.npy") != *expected {
                        return Err(format!("window {window:?}, {threads} threads"));
                    }
                }
            }
            if !args.starts_with("gather") {
                folder.put("edited.npy", folder.get("data.npy"));
                folder.run(words(&args.replace("data.npy", "edited.npy -i"))).printed()?;
                if folder.get("edited.npy") != *expected {
                    return Err("in place".to_owned());
                }
            }
            Ok(())
        },
    );
}

#[test]
fn streams_backwards_go_through_a_file() {
    let folder = Folder::new();
    // above what is kept in memory
    let items: Vec<u8> = joined((0..5 << 20_u32).map(|i: u32| i.to_le_bytes()));
    folder.put("data.npy", npy("<u4", &[5 << 10, 1 << 10], &items));
    for at in ["::-1", ":,::-1", "::-7,3::5"] {
        let expected = folder.run(["slice", "data.npy", "--at", at, "--to", "npy"]);
        let script = format!("cat data.npy | tensorop slice - --at {at} --to npy -o out.npy && ls -A");
        let left = shell(&folder, &script).unwrap();
        assert_eq!(left, "data.npy\nout.npy\n");
        assert!(folder.get("out.npy") == expected.stdout, "{at}");
    }
}

#[test]
fn streams_that_end_early_or_late() {
    let folder = Folder::new();
    let data = npy("<i4", &[4], &[7; 16]);
    let long = [&data[..], &[0]].concat();
    let rows: [(&str, &[u8], &[&str]); 6] = [
        ("slice - --at :", &data[..data.len() - 1], &["DATA (standard input)", "15 bytes", "expected 16"]),
        ("slice - --at :1", &data[..data.len() - 1], &["15 bytes", "expected 16"]),
        ("slice - --at ::-1", &data[..data.len() - 9], &["7 bytes", "expected 16"]),
        ("slice - --at :1", &long, &["more than 16 bytes", "expected 16"]),
        ("slice - --at ::-1", &long, &["more than 16 bytes", "expected 16"]),
        ("slice-scatter [1,2,3,4] - --at : --dtype int32", &long, &["UPDATES (standard input)", "more than 16"]),
    ];
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, stdin, fragments)| {
            folder.put("out.npy", b"before");
            let args = words(args).into_iter().chain(["-o", "out.npy"].map(str::to_owned));
            let run = folder.run_with(args, None, Some(stdin));
            let named = fragments.iter().all(|fragment| run.stderr.contains(fragment));
            if run.status != Some(2) || !named || run.stderr.lines().count() != 1 || folder.get("out.npy") != b"before"
            {
                return Err(format!("{run:?}"));
            }
            Ok(())
        },
    );
    assert_eq!(folder.names().len(), 1);
}

#[test]
fn threads_are_counted() {
    let folder = Folder::new();
    folder.refuses(["slice", "[1]", "--at", ":", "--threads", "0"], &["--threads", "1 or more"]).unwrap();
    folder.refuses(["slice", "[1]", "--at", ":", "--threads", "x"], &["--threads", "1 or more"]).unwrap();
    let output = folder.command().args(["slice", "[1]", "--at", ":"]).env("TENSOROP_THREADS", "many").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("TENSOROP_THREADS: many"));
    folder
        .command()
        .args(["slice", "[1]", "--at", ":"])
        .env("TENSOROP_THREADS", "2")
        .assert()
        .success()
        .stdout("[1]\n");
}

/// A reader that goes away ends the program quietly, whatever it is doing.
#[test]
fn a_closed_pipe() {
    let folder = Folder::new();
    sparse(&folder, "c.npy", "<f4", false, &[16384, 4096], 1 << 28);
    for args in ["slice c.npy --at : --to npy", "slice-scatter c.npy --fill 1 --at ::2 --to npy"] {
        let mut child = Command::new(binary())
            .args(words(args))
            .current_dir(folder.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{args}");
    }
    std::io::stdout().flush().unwrap();
}
