//! Files that claim what is not so, with every sub-command, in little memory: one line of error and status 2, soon. Linux
//! only: elsewhere a program's memory is not limited so easily.
//!
//! Every file goes through the program in a process that has 1 GiB of address space. All other places where the file can
//! stand are tried in the process of the tests, which has 2 GiB, for itself as well: a process for each would take most
//! of the time.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

mod containers;
mod files;
#[cfg(feature = "zarr")]
mod zarr;

use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};

use common::{
    Folder, SPECS, Spec, binary, each, file_of, named, npy, places_in, put_operands, refused_commands, rounds, specs,
    words,
};

/// KiB of address space of a process.
const MEMORY: u64 = 1 << 20;
/// How long a run may take: many times what any takes alone, since the tests share the machine, and little beside what would
/// be counted item by item.
const SOON: Duration = Duration::from_secs(60);

/// What a run in little memory left.
#[derive(Debug)]
struct Outcome {
    /// The status as the shell tells it: 128 and more for a signal.
    status: Option<i32>,
    /// What went to standard error.
    said: String,
    took: Duration,
}

impl Outcome {
    /// Returns whether the program refused what it was given in one line, and soon.
    fn is_refusal(&self) -> bool {
        self.status == Some(2) && self.said.starts_with("error: ") && self.said.lines().count() == 1 && self.took < SOON
    }

    /// Returns whether the program said nothing and ended soon, with this status.
    fn is_silent(&self, status: i32) -> bool {
        self.status == Some(status) && self.said.is_empty() && self.took < SOON
    }
}

/// Runs the program in the process of the tests, whose memory is limited from the first run on.
fn run(folder: &Folder, args: &str, stdin: Option<&str>) -> Outcome {
    static LIMITED: Once = Once::new();
    LIMITED.call_once(|| {
        let bytes = Some(2 * MEMORY * 1024);
        setrlimit(Resource::As, Rlimit { current: bytes, maximum: bytes }).expect("less memory than before");
    });
    let stdin = stdin.map(|name| folder.get(name)).unwrap_or_default();
    let begun = Instant::now();
    let run = folder.run_with(words(args), None, Some(&stdin));
    Outcome { status: run.status, said: run.stderr, took: begun.elapsed() }
}

/// Runs the program in a process of its own that has so many KiB of address space.
fn run_in(memory: u64, folder: &Folder, args: &str) -> Outcome {
    let program = binary();
    let mut command = Command::new("sh");
    let limited = format!("ulimit -v {memory}; exec timeout {} \"$0\" \"$@\"", SOON.as_secs());
    command.args(["-c", &limited, &program.display().to_string()]);
    command.args(words(args)).current_dir(folder.path("")).stdin(Stdio::null()).stdout(Stdio::null());
    command.env_remove("TENSOROP_WINDOW").env_remove("TENSOROP_THREADS");
    let begun = Instant::now();
    let output = command.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Outcome { status: output.status.code(), said, took: begun.elapsed() }
}

/// Every place of an operator where a file can stand, with an output of any kind.
fn places(spec: &Spec) -> Vec<String> {
    let places = spec.lines(spec.places).iter().flat_map(|line| places_in(line)).collect::<Vec<_>>();
    let outputs: &[&str] = match () {
        () if spec.has_several_outputs() => &["-o o-*.npy", "--to npz"],
        () if spec.changes_items() => &["--to npy", "-o out.npy", "--to json", "-i"],
        () => &["-o out.npy", "--to npy", "--to json"],
    };
    let name = |line: &str| named(line, |_| "data.npy".to_owned());
    places.iter().zip(outputs.iter().cycle()).map(|(line, output)| format!("{} {output}", name(line))).collect()
}

/// Every place where a file can stand.
fn all_places() -> Vec<String> {
    let others = [
        ALONE,
        "diff FILE data.npy",
        "info FILE --stats",
        "convert FILE -o out.npz",
        "convert data.npy x=FILE --to safetensors -o out.npy",
        "concat FILE data.npy -i",
        "reshape FILE --unsqueeze 0 -i",
    ];
    SPECS.iter().flat_map(|spec| places(spec)).chain(others.map(str::to_owned)).collect()
}

/// Places of what is in a container, or may be one.
fn other_places() -> Vec<String> {
    let others = [
        ALONE,
        STREAMS[1],
        "slice-scatter FILE --fill 1 --at ... -i",
        "gather data.npy FILE --out-of-range zero --to npy",
        "diff data.npy FILE --json",
        "info FILE",
        "info FILE --stats",
        "info FILE --stats --json",
        "convert FILE -o out.npz",
        "convert FILE -o out.npy --to pb",
        "convert FILE --to json",
        "convert FILE --cast float16 -o out.npy",
    ];
    let of_operators = [&specs::SLICE, &specs::SCATTER_ND].map(places);
    of_operators.into_iter().flatten().chain(others.map(str::to_owned)).collect()
}

/// Those where standard input stands for the file as well: as data, as updates, and as indices.
const STREAMS: [&str; 4] = [
    "slice FILE --at ... --to npy",
    "slice-scatter data.npy FILE --at ... -o out.npy",
    "scatter-update data.npy FILE --fill 1 --axis 0 --to npy",
    "scatter-nd data.npy FILE --fill 1 -o out.npy",
];

/// The bytes above which a file goes through some places only: its refusal takes long, and is the same for every operator. So
/// does a short one whose lists name one another.
const LONG: usize = 1 << 16;

/// Returns the places that a file goes through: half of them, the other half for the next file, and all in the weekly run; of
/// a long one every sixteenth; and always those of standard input, and a process of its own.
fn places_for<'a>(
    places: &'a [(String, bool)],
    file: usize,
    name: &str,
    content: &[u8],
) -> impl Iterator<Item = &'a (String, bool)> {
    let is_long = content.len() > LONG || name == "pt-lists-doubled";
    let step = if is_long { 16 } else { 2 / rounds(1).min(2) };
    let first = if is_long { 0 } else { file % step };
    let is_taken = move |(n, (place, stdin)): &(usize, &(String, bool))| n % step == first || *stdin || place == ALONE;
    places.iter().enumerate().filter(is_taken).map(|(_, place)| place)
}

/// The place that every file goes through in a process of its own.
const ALONE: &str = "gather-elements FILE [0] -o out.npy";

#[test]
fn every_file_in_every_place() {
    let folder = Folder::new();
    let data = npy("<i4", &[4], &[1; 16]);
    folder.put("data.npy", &data).put("out.npy", b"before");
    let streams = STREAMS.map(|place| (place.to_owned(), true));
    let places: Vec<_> = all_places().into_iter().map(|place| (place, false)).chain(streams).collect();
    each(
        files::all().into_iter().enumerate(),
        |(_, (name, _))| (*name).to_owned(),
        |(file, (name, content))| {
            folder.names().into_iter().filter(|old| old != "data.npy" && old != "out.npy").for_each(|old| {
                std::fs::remove_file(folder.path(old)).expect("the file of the row before");
            });
            folder.put(name, content);
            for (place, stdin) in places_for(&places, *file, name, content) {
                let args = place.replace("FILE", if *stdin { "-" } else { name });
                let outcome = match place == ALONE {
                    true => run_in(MEMORY, &folder, &args),
                    false => run(&folder, &args, stdin.then_some(*name)),
                };
                if !outcome.is_refusal() {
                    return Err(format!("`{args}`: {outcome:?}"));
                }
                let kept = folder.get("out.npy") == b"before" && folder.get("data.npy") == data;
                if !kept || folder.get(name) != *content || folder.names().len() != 3 {
                    return Err(format!("`{args}`: changed {:?}", folder.names()));
                }
            }
            Ok(())
        },
    );
}

/// Returns whether a run was refused as it must be. Where only the items are wrong, `info` may show what the header says, and
/// `diff` may report by the header that two files differ. Beside a member that is in order, `info` lists one that is not.
///
/// # Errors
/// What the run left instead.
fn refused(outcome: &Outcome, args: &str) -> Result<(), String> {
    let is_in_order = !args.contains("--stats") || args == "info npz-overlapping --stats";
    let is_described = args.starts_with("info") && is_in_order && outcome.is_silent(0);
    let is_compared = args.starts_with("diff") && outcome.is_silent(1);
    match outcome.is_refusal() || is_described || is_compared {
        true => Ok(()),
        false => Err(format!("`{args}`: {outcome:?}")),
    }
}

/// Two tests of half of the containers each, for two cores.
#[test]
fn containers_in_every_place() {
    in_every_place(0);
}

#[test]
fn other_containers_in_every_place() {
    in_every_place(1);
}

fn in_every_place(half: usize) {
    let folder = Folder::new();
    let data = npy("<i4", &[4], &[1; 16]);
    folder.put("data.npy", &data).put("out.npy", b"before");
    let streams = [STREAMS[0], "info FILE --stats --json"].map(|place| (place.to_owned(), true));
    let places: Vec<_> = other_places().into_iter().map(|place| (place, false)).chain(streams).collect();
    each(
        containers::all().into_iter().skip(half).step_by(2).enumerate(),
        |(_, (name, _))| (*name).to_owned(),
        |(file, (name, content))| {
            folder.put(name, content);
            let mut failures = Vec::new();
            for (place, stdin) in places_for(&places, *file, name, content) {
                let args = place.replace("FILE", if *stdin { "-" } else { name });
                let outcome = match place == ALONE {
                    true => run_in(MEMORY, &folder, &args),
                    false => run(&folder, &args, stdin.then_some(*name)),
                };
                failures.extend(refused(&outcome, &args).err());
                if folder.get("out.npy") != b"before" || folder.get(name) != *content {
                    return Err(format!("`{args}`: changed a file"));
                }
            }
            std::fs::remove_file(folder.path(name)).map_err(|e| e.to_string())?;
            let names = folder.names();
            match names.len() == 2 && folder.get("data.npy") == data {
                true if failures.is_empty() => Ok(()),
                true => Err(failures.join(", ")),
                false => Err(format!("left {names:?}")),
            }
        },
    );
}

/// Models of more tensors than are listed, each in a few bytes.
#[test]
fn models_of_many_tensors() {
    const COUNT: usize = (1 << 20) + 1;
    let folder = Folder::new();
    let length =
        |bytes: usize| (0..4).map(|n| (bytes >> (7 * n)) as u8 & 0x7f | if n < 3 { 0x80 } else { 0 }).collect();
    let (initializers, head): (_, Vec<u8>) = (b"\x2a\x00".repeat(COUNT), length(2 * COUNT));
    folder.put("m.onnx", [&b"\x08\x08\x3a"[..], &head, &initializers].concat());
    folder.put("m.xml", format!("<net version=\"11\">{}</net>", "<layer type=\"Const\"/>".repeat(COUNT)));
    for file in ["m.onnx", "m.xml"] {
        let outcome = run_in(MEMORY, &folder, &format!("info {file}"));
        assert!(outcome.is_refusal() && outcome.said.contains("more than 1048576 tensors"), "{file}: {outcome:?}");
    }
}

/// What grows with the input ends in an error where there is no memory for it.
#[test]
fn large_files_in_little_memory() {
    let folder = Folder::new();
    let list = |item: &str, count: usize| format!("[{}{item}]", format!("{item},").repeat(count));
    folder.put("zeros.json", list("0", 3 << 20)).put("minus.json", list("-0", 1 << 20));
    folder.put("texts.json", list("\"\"", 1 << 20)).put("bools.json", list("true", 1 << 20));
    folder.put("floats.json", format!(r#"{{"dtype":"complex128","data":{}}}"#, list("[1,2]", 1 << 19)));
    let message =
        |data_type: u8, items: Vec<u8>| [&[0x08, 0x80, 0x80, 0x80, 0x02, 0x10, data_type][..], &items].concat();
    let packed = |key: u8| [vec![key, 0x80, 0x80, 0x80, 0x02], vec![1; 1 << 22]].concat();
    folder.put("int64.pb", message(7, packed(0x3a))).put("uint8.pb", message(2, packed(0x2a)));
    folder
        .put("texts.pb", message(8, b"\x32\x01a".repeat(1 << 21)))
        .put("nulls.pb", message(8, b"\x32\0".repeat(1 << 21)));
    folder.put("entries.pb", [b"\x10\x01".to_vec(), b"\x6a\0".repeat(1 << 20)].concat());
    folder.put("wide.npy", npy("|S9000000", &[1], &[1; 9_000_000]));
    folder.put("wider.npy", npy("|S9000000", &[1], &[2; 9_000_000]));
    let entries: Vec<String> =
        (0..300_000).map(|n| format!(r#""{n}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#)).collect();
    let text = format!("{{{}}}", entries.join(","));
    folder.put("many.safetensors", [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat());
    let rows = [
        "slice zeros.json --at :9",
        "slice minus.json --at :9",
        "slice texts.json --at :9",
        "slice bools.json --at :9",
        "slice floats.json --at :9",
        "info int64.pb --stats",
        "slice uint8.pb --at :9",
        "slice texts.pb --at :9",
        "slice nulls.pb --at :9",
        "info entries.pb",
        "convert wide.npy --to json",
        "convert wide.npy",
        "convert wide.npy --to pb -o out.npy -q",
        "diff wide.npy wider.npy",
        "info many.safetensors",
    ];
    let refusals = std::cell::Cell::new(0);
    each(
        rows,
        |args| (*args).to_owned(),
        |args| {
            // where there is most, most of them are read to their end, which takes longest
            for memory in [44_000, 70_000, 120_000].into_iter().take(rounds(2)) {
                let outcome = run_in(memory, &folder, args);
                let done = outcome.is_silent(0) || args.starts_with("diff") && outcome.is_silent(1);
                let no_room = outcome.is_refusal();
                refusals.set(refusals.get() + usize::from(no_room && outcome.said.contains("there is memory for")));
                if !(done || no_room) {
                    return Err(format!("{memory} KiB: {outcome:?}"));
                }
            }
            Ok(())
        },
    );
    assert!(refusals.get() > rows.len() / 2, "{} refusals for want of memory", refusals.get());
}

/// Many names take time and memory in proportion to them: those of a container, and of a folder.
#[test]
fn many_names() {
    const MEMBERS: usize = 6_000;
    let folder = Folder::new();
    let model = |last: u8| {
        let entry = |n: usize| format!(r#""t{n}":{{"dtype":"U8","shape":[1],"data_offsets":[{n},{}]}}"#, n + 1);
        let header = format!("{{{}}}", (0..MEMBERS).map(entry).collect::<Vec<_>>().join(","));
        let mut items = vec![1; MEMBERS];
        items[MEMBERS - 1] = last;
        common::safetensors_with_header(&header, &items)
    };
    folder.put("e.safetensors", model(1)).put("a.safetensors", model(2)).put("one.safetensors", {
        common::safetensors_with_header(r#"{"t0":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#, &[1])
    });
    // files that are no tensors but for one, which costs less than to make so many of them
    std::fs::create_dir(folder.path("many")).expect("a folder");
    folder.put("many/t0.npy", npy("|u1", &[1], &[1]));
    (0..20_000).for_each(|n| drop(std::fs::File::create(folder.path(format!("many/{n}.log"))).expect("a file")));
    let rows = [
        ("diff e.safetensors e.safetensors", 0),
        ("diff e.safetensors a.safetensors --json", 1),
        ("diff one.safetensors:t0 e.safetensors:t5999", 0),
        ("diff e.safetensors many --json", 1),
        ("diff many many", 0),
        ("info e.safetensors --json", 0),
        ("diff e.safetensors a.safetensors --accept", 0),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let outcome = run_in(MEMORY / 2, &folder, args);
            if outcome.is_silent(*expected) { Ok(()) } else { Err(format!("{outcome:?}")) }
        },
    );
}

/// Where there is little memory, many threads are not a reason to fail.
#[test]
fn threads_in_little_memory() {
    let folder = Folder::new();
    folder.put("big.npy", common::npy_with_header(&common::header("<f4", false, &[2048, 4096]), &[]));
    let file = std::fs::OpenOptions::new().write(true).open(folder.path("big.npy")).expect("the file just made");
    file.set_len(file.metadata().expect("its length").len() + (1 << 25)).expect("a file with a hole");
    let indices: Vec<u8> = (0..3000_u32).flat_map(|i| (i % 2048).to_le_bytes()).collect();
    folder.put("indices.npy", npy("<u4", &[3000, 1], &indices));
    folder.put("long.json", format!("[{}0]", "0,".repeat(1 << 20)));
    let rows = [
        ("slice big.npy --at ::-1 -o out.npy", 0),
        ("slice-scatter big.npy --fill 1 --at ::2 -o out.npy", 0),
        ("scatter-nd big.npy indices.npy --fill 1 --reduction add -o out.npy", 0),
        ("slice long.json --at :9", 0),
        ("slice-scatter big.npy --fill 1 --at ::2 -i", 0),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            for threads in ["", " --threads 1", " --threads 8", " --threads 1000000"] {
                let outcome = run_in(MEMORY, &folder, &format!("{args}{threads}"));
                if !outcome.is_silent(*expected) {
                    return Err(format!("{threads}: {outcome:?}"));
                }
            }
            Ok(())
        },
    );
}

/// An output may be larger than any memory and any disk: it is planned, and made as far as somebody reads it.
#[test]
fn outputs_beyond_memory() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[4], &[1; 16])).put("wide.npy", npy("<i4", &[1, 1000], &[1; 4000]));
    let rows = [
        "pad data.npy --before 1 --after 4398046511104",
        "pad data.npy --before 4398046511104 --after 1 --mode edge",
        "pad data.npy --before 4398046511104 --after 1 --mode reflect",
        "pad data.npy --before 4398046511104 --after 1 --mode symmetric",
        "pad data.npy --before 4398046511104 --after 1 --mode wrap",
        "pad wide.npy --before 1048576,1048576 --after 0,0",
        "tile data.npy --repeats 1099511627776",
        "tile data.npy --repeats 1099511627776,1",
        "tile wide.npy --repeats 1048576,1048576",
        "broadcast data.npy --shape 1099511627776,4",
        "broadcast [[1],[2]] --shape 2,1099511627776",
    ];
    each(
        rows,
        |args| (*args).to_owned(),
        |args| {
            for more in ["-o out.npy --dry-run", "-o out.npy --explain", "--to npy --dry-run"] {
                let outcome = run_in(MEMORY / 8, &folder, &format!("{args} {more}"));
                if !outcome.is_silent(0) {
                    return Err(format!("{more}: {outcome:?}"));
                }
            }
            let script =
                format!("ulimit -v {}; {} {args} --to npy | head -c 100000 | wc -c", MEMORY / 8, binary().display());
            let begun = Instant::now();
            let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path("")).output();
            let output = output.map_err(|error| error.to_string())?;
            let is_right = String::from_utf8_lossy(&output.stdout).trim() == "100000" && output.stderr.is_empty();
            if is_right && begun.elapsed() < SOON { Ok(()) } else { Err(format!("piped: {output:?}")) }
        },
    );
    assert_eq!(folder.names().len(), 2);
}

/// Strings that are far wider than the items they become are read a part at a time.
#[test]
fn wide_strings_become_narrow() {
    const WIDTH: usize = 100_000;
    let folder = Folder::new();
    let letters: Vec<u8> = (0..40).map(|i| b'A' + i).collect();
    let mut wide = vec![0; 40 * WIDTH];
    wide.chunks_exact_mut(WIDTH).zip(&letters).for_each(|(item, &letter)| item[0] = letter);
    for (name, shape, fortran) in [("c.npy", [40, 1], false), ("f.npy", [1, 40], true)] {
        folder.put(name, common::npy_with_header(&common::header("|S100000", fortran, &shape), &wide));
        folder.put("narrow.npy", npy("|S1", &shape, &[b'x'; 40]));
        let outcome = run_in(MEMORY, &folder, &format!("slice-scatter narrow.npy {name} --at : -o out.npy"));
        assert!(outcome.is_silent(0), "{outcome:?}");
        assert_eq!(folder.get("out.npy"), npy("|S1", &shape, &letters));
    }
}

/// What a command asks for may be too much, too.
#[test]
fn arguments_that_ask_for_too_much() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[4], &[1; 16])).put("n.npy", npy("<i4", &[0, 1 << 40], &[]));
    folder.put("void.npy", npy("|V0", &[1 << 60], &[]));
    let nested = format!("slice {}1{} --at :", "[".repeat(50_000), "]".repeat(50_000));
    let deep = format!("slice {} --at :", "[".repeat(100_000));
    let lists = format!("slice data.npy --at {}", ":,".repeat(40_000));
    let digits = format!("slice data.npy --start 0 --stop 1 --axes {}", "9".repeat(100_000));
    let fill = format!("slice-scatter data.npy --at : --fill {}", "9".repeat(100_000));
    let rows = [
        nested.as_str(),
        deep.as_str(),
        lists.as_str(),
        digits.as_str(),
        fill.as_str(),
        "slice void.npy --at : --to json",
        "slice void.npy --at : -o out.txt",
        "slice data.npy --at : --dtype <U536870911",
        "slice [\"a\"] --at : --dtype <U536870911",
        "slice [\"a\"] --at : --dtype S99999999999",
        "slice {\"dtype\":\"<i4\",\"shape\":[4611686018427387904],\"data\":[]} --at :",
        "slice {\"dtype\":\"<i4\",\"shape\":[4611686018427387904,4],\"data\":[1]} --at :",
        "gather {\"dtype\":\"<f4\",\"shape\":[0,1152921504606846976],\"data\":[]} [0,1,2,3,4] --out-of-range zero",
        "gather n.npy [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] --axis 1",
        "transpose {\"dtype\":\"<i4\",\"shape\":[4611686018427387904,4],\"data\":[1]}",
        "broadcast [1] --shape 1152921504606846976 -o out.npy",
        "slice data.npy --at : --threads 0",
    ];
    put_operands(&folder, "<i4", [2, 3], 2, |_| vec![1, 0, 0, 0]);
    let rows = rows.map(str::to_owned).into_iter().chain(refused_commands().map(|line| named(&line, file_of)));
    each(
        rows,
        |args| args.chars().take(60).collect(),
        |args| {
            let Outcome { status, said, took } = run(&folder, args, None);
            let one = said.starts_with("error: ") && said.lines().skip(1).all(|line| line.starts_with(['U', 'F']));
            if status == Some(2) && one && took < SOON {
                Ok(())
            } else {
                Err(format!("status {status:?} after {took:?}, said {:?}", said.chars().take(300).collect::<String>()))
            }
        },
    );
}
