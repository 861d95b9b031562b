//! The program on mutants of its operands and arguments: a result, or one line and status 2.

use proptest::prelude::*;

use super::{holds, mutants};
use crate::common::{Folder, Run, SPECS, named, npy, places_in};

/// Returns whether a command line is that of `show`, which a file alone stands for. It shows the files that it can read beside
/// those that it cannot, each of which is an error of its own.
fn shows(args: &[&str]) -> bool {
    args.first() == Some(&"data.npy")
}

/// Checks that a run of `show` ended as it must.
///
/// # Errors
/// What was wrong.
fn well_shown(run: &Run) -> Result<(), String> {
    match run.status {
        Some(0) if run.stderr.is_empty() => Ok(()),
        Some(2) if run.stderr.starts_with("error: ") => Ok(()),
        _ => Err(format!("status {:?}, said {:?}", run.status, run.stderr)),
    }
}

/// Whether a run ended as every run must.
fn well_ended(run: &Run) -> Result<(), String> {
    let mut lines = run.stderr.lines();
    let right = match run.status {
        Some(0) => run.stderr.is_empty(),
        Some(2) => {
            lines.next().is_some_and(|line| line.starts_with("error: "))
                && lines.all(|line| line.starts_with("Usage: ") || line.starts_with("For more information"))
        }
        _ => false,
    };
    if right { Ok(()) } else { Err(format!("status {:?}, said {:?}", run.status, run.stderr)) }
}

fn check(folder: &Folder, args: &[&str]) {
    let run = folder.run_with(args, None, Some(b""));
    if shows(args) {
        return well_shown(&run).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    }
    well_ended(&run).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    assert!(run.status == Some(0) || run.stdout.is_empty(), "{args:?}: an error after {:?}", run.stdout);
}

/// As data, as indices, as updates and as a list.
fn roles() -> Vec<String> {
    let places = SPECS.iter().flat_map(|spec| {
        // a list may ask for more than there is time for
        let to = if spec.has_several_outputs() { "--to npz --dry-run" } else { "--to npy --dry-run" };
        let places = spec.lines(spec.places).iter().flat_map(|line| places_in(line)).collect::<Vec<_>>();
        let of_file = |place: &str| place.split(' ').nth(1) == Some("FILE");
        places.into_iter().map(move |place| {
            let to = if of_file(&place) { to.trim_end_matches(" --dry-run") } else { to };
            named(&format!("{place} {to}"), |_| "data.npy".to_owned()).replace("FILE", "mutant")
        })
    });
    let others = [
        "slice data.npy --start mutant --stop mutant",
        "scatter-nd mutant [[0]] --fill 1 --reduction add --to json",
        "concat mutant mutant --stack --to npy",
    ];
    places.chain(others.map(str::to_owned)).collect()
}

#[test]
fn mutants_of_files() {
    let (folder, roles) = (Folder::new(), roles());
    folder.put("data.npy", npy("<i4", &[3, 2], &[7; 24]));
    let kinds = (any::<bool>(), 0..15_usize, mutants::changes(), 0..roles.len());
    holds(150, kinds, |(is_npy, seed, changes, role)| {
        let seeds = mutants::npy();
        let file = match is_npy {
            true => mutants::npy_mutant(&seeds[seed % seeds.len()], &changes),
            false => mutants::mutant(mutants::JSON[seed].as_bytes(), &changes, mutants::JSON_TOKENS),
        };
        folder.put("mutant", file);
        check(&folder, &roles[role].split(' ').collect::<Vec<_>>());
    });
}

const TOKENS: &[&str] = &[
    ":",
    "::",
    ",",
    "...",
    "…",
    "-",
    "1",
    "0",
    "-1",
    "INT_MAX",
    "INT_MIN",
    "9223372036854775807",
    "9223372036854775808",
    " ",
    "[",
    "]",
    "(",
    "None",
    "1.5",
    "1e3",
    "\u{e9}",
    "\t",
    "./",
    "NaN",
    "-Infinity",
    "true",
    "\"",
    "{",
    "=",
    "--",
    "%s",
];

const TEXTS: [&str; 10] =
    ["1:8:2, ..., ::-1", ":, ::2", "0,1", "[0,-1]", "-3:4", "INT_MIN", "::", "2", "[[0,1],[1,1]]", "-1.5"];

#[test]
fn mutants_of_arguments() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[3, 2], &[7; 24]));
    // each operand that is typed in place, and each list
    let others = [
        "slice data.npy --at FILE",
        "slice-scatter data.npy --at : --fill FILE",
        "slice --at : --to json --dtype float32 FILE",
        "gather data.npy [[0],[1],[0]] --axis 1 --batch-dims FILE",
        "pad data.npy --before 0,1 --after 1,0 --fill FILE",
        "split data.npy --to npz --parts FILE",
    ];
    let lines = SPECS.iter().flat_map(|spec| spec.lines(spec.places)).map(|line| line + " --dry-run");
    let lines = lines.map(|line| if line.starts_with("split") { line + " --to npz" } else { line });
    let places = lines.flat_map(|line| places_in(&line)).map(|place| named(&place, |_| "data.npy".to_owned()));
    let options: Vec<String> = places.chain(others.map(str::to_owned)).collect();
    holds(150, (0..options.len(), 0..TEXTS.len(), mutants::changes()), |(option, seed, changes)| {
        let text = mutants::mutant(TEXTS[seed].as_bytes(), &changes, TOKENS);
        let text = String::from_utf8_lossy(&text).replace('\0', "");
        // what lies below the root is the machine's, and to look for tensors in all of it takes minutes
        let text = text.trim_start_matches('/');
        let args = options[option].split(' ').map(|word| if word == "FILE" { text } else { word });
        check(&folder, &args.collect::<Vec<_>>());
    });
}

/// Options in any number and order, most of them nonsense together.
#[test]
fn any_options() {
    const WORDS: [&str; 39] = [
        "--before",
        "--after",
        "--repeats",
        "--shift",
        "--shape",
        "--parts",
        "--no-initial",
        "mean",
        "completions",
        "data.npy",
        "[0,1]",
        "[[0],[1]]",
        "-",
        "missing",
        "--at",
        ":",
        "1:",
        "--start",
        "--stop",
        "--step",
        "0",
        "1",
        "-1",
        "--axes",
        "--axis",
        "--batch-dims",
        "--fill",
        "--dtype",
        "int32",
        "--from",
        "npy",
        "--to",
        "json",
        "--reduction",
        "add",
        "--opset",
        "--dry-run",
        "--threads",
        "-q",
    ];
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[3, 2], &[7; 24]));
    let all: Vec<&str> = SPECS.iter().map(|spec| spec.operator).chain(WORDS).collect();
    holds(150, prop::collection::vec(0..all.len(), 0..9), |words| {
        let args: Vec<&str> = words.into_iter().map(|word| all[word]).collect();
        check(&folder, &args);
    });
    assert_eq!(folder.names().len(), 1, "{:?}", folder.names());
}
