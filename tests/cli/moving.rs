//! Moving tensors across: what a change of chunks, or of the order of storage, reads and writes, and that --memory bounds it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::*;

/// 20 MiB, more than 16 MiB of memory hold.
const SHAPE: [usize; 2] = [512, 2560];
/// 64 MiB, four times of which 16 MiB of memory hold a part.
const LARGE: [usize; 2] = [512, 8192];
/// As many items as of [`SHAPE`].
const CUBE: [usize; 3] = [32, 80, 512];

fn size(path: &Path) -> u64 {
    match path.is_dir() {
        true => std::fs::read_dir(path).unwrap().map(|entry| size(&entry.unwrap().path())).sum(),
        false => path.metadata().unwrap().len(),
    }
}

/// The bytes that a run reads and writes, as the kernel counts them for calls of the system.
#[cfg(target_os = "linux")]
fn moved(folder: &Folder, args: &str) -> u64 {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let mut command = std::process::Command::new(binary());
    command.current_dir(folder.path("")).env_remove("TENSOROP_WINDOW").args(words(args));
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    // the counts are there as long as nobody has taken note of the end
    waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let counts = std::fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
    assert!(child.wait().unwrap().success(), "{args}");
    let count = |name: &str| counts.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse::<u64>();
    count("rchar:").unwrap() + count("wchar:").unwrap()
}

/// The tensors that are moved, in several chunks and orders.
fn sources() -> Folder {
    let folder = Folder::new();
    let items = wide_items(&SHAPE);
    folder.put("a.npy", npy("<c16", &SHAPE, &items));
    folder.put("f.npy", npy_with_header(&header("<c16", true, &SHAPE), &to_fortran(&items, &SHAPE, 16)));
    folder.put("cube.npy", npy("<c16", &CUBE, &items));
    for (name, of, options) in [
        ("rows.zarr", "a.npy", "--chunks 4,2560 --codec none"),
        ("rows-zstd.zarr", "a.npy", "--chunks 4,2560 --codec zstd:1"),
        ("columns.zarr", "a.npy", "--chunks 512,64 --codec none"),
        ("sharded.zarr", "a.npy", "--chunks 4,256 --shards 16,2560 --codec none"),
        ("planes.zarr", "cube.npy", "--chunks 1,80,512 --codec none"),
    ] {
        let run = folder.run(words(&format!("convert {of} -o {name} {options}")));
        assert_eq!(run.printed(), Ok(String::new()), "{name}");
    }
    folder
}

/// What is read and written is at most so many times the input and the output.
#[test]
#[cfg(target_os = "linux")]
fn bytes_are_moved_once_or_twice() {
    if std::env::var_os("TENSOROP_TEST_PROGRAM").is_some() {
        return skip("the counts would be those of what runs the program");
    }
    let folder = sources();
    folder.put("large.npy", npy("<c16", &LARGE, &wide_items(&LARGE)));
    let made = folder.run(words("convert large.npy -o large.zarr --chunks 8,8192 --codec none"));
    assert_eq!(made.printed(), Ok(String::new()));
    // input, command, output, times
    let rows = [
        ("a.npy", "transpose", "o.npy", 1.1),
        ("a.npy", "convert --order F", "o.npy", 1.1),
        ("f.npy", "convert", "o.npy", 1.1),
        ("cube.npy", "transpose --axes 2,0,1", "o.npy", 1.1),
        // one side is a file
        ("a.npy", "convert --chunks 512,64", "o.zarr", 1.1),
        ("f.npy", "convert --chunks 4,2560", "o.zarr", 1.1),
        ("cube.npy", "convert --chunks 32,8,2", "o.zarr", 1.1),
        ("a.npy", "transpose --chunks 8,512", "o.zarr", 1.1),
        ("rows.zarr", "transpose", "o.npy", 1.1),
        ("rows-zstd.zarr", "transpose", "o.npy", 1.1),
        ("columns.zarr", "convert", "o.npy", 1.1),
        ("sharded.zarr", "convert --order F", "o.npy", 1.1),
        // two stores, with all that has to be held
        ("rows.zarr", "convert --chunks 512,64 --memory 64MiB", "o.zarr", 1.1),
        ("rows-zstd.zarr", "convert --chunks 512,64 --memory 64MiB", "o.zarr", 1.1),
        ("sharded.zarr", "convert --chunks 512,64 --shards -1,-1", "o.zarr", 1.1),
        ("columns.zarr", "convert --chunks 128,128", "o.zarr", 1.1),
        ("planes.zarr", "transpose --chunks 512,1,80", "o.zarr", 1.1),
        // and without
        ("large.zarr", "convert --chunks 512,64 --memory 16MiB", "o.zarr", 2.2),
        ("large.zarr", "convert --chunks 512,64 --codec zstd:1 --memory 20MB", "o.zarr", 2.2),
        ("large.zarr", "transpose --chunks 64,512 --memory 16MiB", "o.zarr", 2.2),
        ("large.zarr", "convert --chunks 512,64 --memory 256MiB", "o.zarr", 1.1),
    ];
    for (input, args, output, times) in rows {
        let (command, options) = args.split_once(' ').unwrap_or((args, ""));
        let args = format!("{command} {input} {options} -o {output} --threads 2");
        // to replace a store waits for the disk
        let _ = std::fs::remove_dir_all(folder.path("o.zarr"));
        let bytes = moved(&folder, &args);
        let once = size(&folder.path(input)) + size(&folder.path(output));
        // what the system reads to start the program
        let most = (once as f64 * times) as u64 + (1 << 18);
        assert!(bytes <= most, "{args}: {bytes} bytes moved, at most {most} of {once}");
    }
}

/// The output is the same whatever may be held, and nothing else stays behind.
#[test]
fn memory_makes_no_difference() {
    let folder = sources();
    let rows = [
        ("rows-zstd.zarr", "convert", "--chunks 512,64 --codec zstd:1"),
        ("columns.zarr", "convert", "--chunks 5,2560 --codec none"),
        ("planes.zarr", "transpose", "--axes 1,2,0 --chunks 10,16,8 --codec none"),
        ("f.npy", "convert", "--chunks 4,2560 --codec none"),
    ];
    for (input, command, options) in rows {
        let tree = |memory: &str| -> BTreeMap<String, Vec<u8>> {
            let args = format!("{command} {input} {options} -o o.zarr {memory}");
            let _ = std::fs::remove_dir_all(folder.path("o.zarr"));
            let before = folder.names().len();
            assert_eq!(folder.run(words(&args)).printed(), Ok(String::new()), "{args}");
            assert_eq!(folder.names().len(), before + 1, "{args}");
            folder.tree("o.zarr")
        };
        let wanted = tree("--memory 1GiB --threads 1");
        for memory in ["--memory 16MiB --threads 3", "--memory 20mb", ""] {
            assert!(tree(memory) == wanted, "{command} {input} {options} {memory}");
        }
    }
}

/// What goes by way of a temporary store has the items, and the store is gone.
#[test]
fn by_way_of_a_temporary_store() {
    let folder = Folder::new();
    folder.put("large.npy", npy("<c16", &LARGE, &wide_items(&LARGE)));
    for args in [
        "convert large.npy -o large.zarr --chunks 8,8192 --codec none",
        "convert large.zarr -o o.zarr --chunks 512,64 --memory 16MiB",
        "transpose large.zarr -o t.zarr --chunks 64,512 --codec zstd:1 --memory 16MiB --threads 3",
        "transpose t.zarr -o u.npy",
    ] {
        assert_eq!(folder.run(words(args)).printed(), Ok(String::new()), "{args}");
    }
    for moved in ["o.zarr", "u.npy"] {
        let args = format!("diff large.npy {moved} -q");
        let equal = "equal: 4194304 items of complex128 [512, 8192]\n";
        assert_eq!(folder.run(words(&args)).printed().as_deref(), Ok(equal), "{args}");
    }
    let names: Vec<_> = folder.names().into_iter().collect();
    assert_eq!(names, ["large.npy", "large.zarr", "o.zarr", "t.zarr", "u.npy"]);
}

#[test]
fn dry_runs_say_what_is_moved() {
    let folder = sources();
    folder.put("large.npy", npy("<c16", &LARGE, &wide_items(&LARGE)));
    let made = folder.run(words("convert large.npy -o large.zarr --chunks 8,8192 --codec none"));
    assert_eq!(made.printed(), Ok(String::new()));
    let rows = [
        (
            "convert rows.zarr -o o.zarr --chunks 512,64 --dry-run",
            "convert
  IN rows.zarr: complex128 [512, 2560]
  output o.zarr: \"arr_0\": zarr of complex128 [512, 2560], 20971520 bytes of data, chunks [512, 64]
  output o.zarr: reads 20971520 bytes, writes 20971520 bytes of items
  many parts would read each byte about 40 times; each of these two reads it once, in parts, too:
    the same with -o BETWEEN.zarr --chunks 32,128
    tensorop convert BETWEEN.zarr -o o.zarr --chunks 512,64
",
        ),
        (
            "convert large.zarr -o o.zarr --chunks 512,64 --memory 16MiB --threads 1 --dry-run",
            "convert
  IN large.zarr: complex128 [512, 8192]
  output o.zarr: \"arr_0\": zarr of complex128 [512, 8192], 67108864 bytes of data, chunks [512, 64]
  output o.zarr: reads 134217728 bytes, writes 134217728 bytes of items, by way of a temporary store in chunks of 64,1024 beside it
  many parts would read each byte about 128 times; each of these two reads it once, in parts, too:
    the same with -o BETWEEN.zarr --chunks 32,512
    tensorop convert BETWEEN.zarr -o o.zarr --chunks 512,64
",
        ),
        // nothing moves across
        (
            "convert rows.zarr -o o.zarr --dry-run",
            "convert
  IN rows.zarr: complex128 [512, 2560]
  output o.zarr: \"arr_0\": zarr of complex128 [512, 2560], 20971520 bytes of data, chunks [4, 2560]
",
        ),
    ];
    for (args, wanted) in rows {
        assert_eq!(folder.run(words(args)).printed().as_deref(), Ok(wanted), "{args}");
    }
    // a store between is priced beside the way without it: its boxes cost what a store of these chunks costs, and its own writing
    // and reading, with unpacking and holding, as much as copying all bytes some 14 times
    let plan = |chunks: &str| -> serde_json::Value {
        let args =
            format!("convert large.zarr -o o.zarr --chunks {chunks} --memory 16MiB --threads 1 --explain --json");
        serde_json::from_str::<serde_json::Value>(&folder.run(words(&args)).printed().expect("a plan")).expect("JSON")
            [0]
        .take()
    };
    let (between, alone) = (plan("512,64"), plan("64,1024"));
    assert_eq!((&between["between"], &alone["between"]), (&serde_json::json!([64, 1024]), &serde_json::Value::Null));
    assert_eq!(between["instead"]["cut"]["sides"], serde_json::json!([512, 64]), "{between}");
    let total = |plan: &serde_json::Value| plan["cost"]["total"].as_u64().expect("a number");
    let more = (total(&between) - total(&alone)) as f64 / 67_108_864.0;
    assert!((14.0..15.0).contains(&more), "{more}");
    assert!(total(&between) < total(&between["instead"]), "{between}");
    assert!(!folder.path("o.zarr").exists());
}

/// The two commands of a dry run read each byte about once, however many parts make them.
#[test]
#[cfg(target_os = "linux")]
fn parts_move_bytes_once_in_two_steps() {
    if std::env::var_os("TENSOROP_TEST_PROGRAM").is_some() {
        return skip("the counts would be those of what runs the program");
    }
    let folder = sources();
    let (input, all) = ("rows.zarr", size(&folder.path("rows.zarr")));
    let once = |command: &str| (1..=8).map(|part| moved(&folder, &format!("{command} --part {part}/8"))).sum::<u64>();
    let direct = once(&format!("convert {input} -o direct.zarr --chunks 512,64"));
    assert!(direct > 6 * all, "{direct} of {all}");
    let mut steps = 0;
    for command in [
        format!("convert {input} -o between.zarr --chunks 32,128"),
        "convert between.zarr -o o.zarr --chunks 512,64".into(),
    ] {
        steps += once(&command);
        assert_eq!(folder.run(words(&format!("{command} --finish 8"))).printed(), Ok(String::new()));
    }
    // each step reads and writes all of it once; what the system reads to start sixteen processes comes on top
    assert!(steps <= 4 * all * 115 / 100 + (16 << 18), "{steps} of {all}");
    assert_eq!(folder.run(words("convert direct.zarr -o x.npy")).status, Some(2));
    let finished = folder.run(words(&format!("convert {input} -o direct.zarr --chunks 512,64 --finish 8")));
    assert_eq!(finished.printed(), Ok(String::new()));
    assert!(folder.tree("o.zarr") == folder.tree("direct.zarr"));
}

#[test]
fn sizes_of_memory_that_are_refused() {
    let folder = Folder::new();
    for (size, why) in [
        ("1MiB", "expected 16MiB or more"),
        ("16", "expected a size such as 5GB: a number and KB, MB, GB or TB"),
        ("-1GB", "expected a size such as 5GB"),
    ] {
        let run = folder.run(words(&format!("slice [1] --at : --memory {size}")));
        assert_eq!(run.status, Some(2));
        let wanted = format!("invalid value '{size}' for '--memory <SIZE>': {why}");
        assert!(run.stderr.contains(&wanted), "{}", run.stderr);
    }
}
