//! The program on mutants of its operands and arguments: a result, or one line and status 2.

use proptest::prelude::*;

use super::{holds, mutants};
use crate::common::{Folder, Run, npy};

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
const ROLES: [&[&str]; 28] = [
    &["slice", "mutant", "--at", "..., ::-1"],
    &["slice-scatter", "data.npy", "mutant", "--at", ":2"],
    &["scatter-update", "data.npy", "mutant", "--fill", "1", "--axis", "0"],
    &["scatter-nd", "data.npy", "mutant", "--fill", "1"],
    &["scatter-nd", "mutant", "[[0]]", "--fill", "1", "--reduction", "add", "--to", "json"],
    &["gather", "data.npy", "mutant", "--axis", "1", "--out-of-range", "zero"],
    &["gather", "mutant", "0", "--axis", "-1", "--to", "npy"],
    &["gather-nd", "data.npy", "mutant"],
    &["gather-nd", "mutant", "[[0]]", "--batch-dims", "1", "--to", "npy"],
    &["gather-elements", "data.npy", "mutant"],
    &["scatter-elements", "data.npy", "mutant", "--fill", "1", "--axis", "1", "--reduction", "mean"],
    &["scatter-elements", "mutant", "[[0]]", "--fill", "1", "--to", "json"],
    &["slice", "data.npy", "--start", "mutant", "--stop", "mutant"],
    &["concat", "data.npy", "mutant", "--to", "npy"],
    &["concat", "mutant", "mutant", "--stack", "--to", "npy"],
    &["transpose", "mutant", "--to", "npy"],
    &["transpose", "data.npy", "--axes", "mutant"],
    &["reshape", "mutant", "--flatten", "1", "--to", "npy"],
    &["reshape", "data.npy", "--shape", "mutant"],
    &["pad", "mutant", "--before", "1", "--after", "2", "--axes", "0", "--mode", "wrap", "--to", "npy"],
    // a list may ask for more than there is time for
    &["pad", "data.npy", "--before", "mutant", "--after", "0,0", "--dry-run"],
    &["tile", "mutant", "--repeats", "2", "--to", "npy"],
    &["tile", "data.npy", "--repeats", "mutant", "--dry-run"],
    &["roll", "mutant", "--shift", "1", "--to", "npy"],
    &["roll", "data.npy", "--shift", "mutant", "--axes", "0"],
    &["broadcast", "data.npy", "--shape", "mutant", "--dry-run"],
    &["split", "mutant", "--parts", "2", "--to", "npz"],
    &["split", "data.npy", "--lengths", "mutant", "--to", "npz"],
];

#[test]
fn mutants_of_files() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[3, 2], &[7; 24]));
    let kinds = (any::<bool>(), 0..15_usize, mutants::changes(), 0..ROLES.len());
    holds(150, kinds, |(is_npy, seed, changes, role)| {
        let seeds = mutants::npy();
        let file = match is_npy {
            true => mutants::npy_mutant(&seeds[seed % seeds.len()], &changes),
            false => mutants::mutant(mutants::JSON[seed].as_bytes(), &changes, mutants::JSON_TOKENS),
        };
        folder.put("mutant", file);
        check(&folder, ROLES[role]);
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
    let options: [&[&str]; 29] = [
        &["slice", "data.npy", "--at"],
        &["slice", "data.npy", "--stop", "1", "--start"],
        &["slice", "data.npy", "--start", "0,0", "--stop", "1,1", "--axes"],
        &["slice", "data.npy", "--start", "0,0", "--stop", "1,1", "--step"],
        &["scatter-update", "data.npy", "0", "--fill", "1", "--axis"],
        &["slice-scatter", "data.npy", "--at", ":", "--fill"],
        &["scatter-nd", "data.npy", "--fill", "1"],
        &["gather", "data.npy"],
        &["gather", "data.npy", "[[0],[1],[0]]", "--axis", "1", "--batch-dims"],
        &["gather-nd", "data.npy"],
        &["gather-elements", "data.npy"],
        &["scatter-elements", "data.npy", "[[0,1]]", "--fill", "1", "--no-initial", "--axis"],
        &["gather-nd", "data.npy", "[[0],[1],[0]]", "--batch-dims"],
        &["slice", "--at", ":", "--to", "json", "--dtype", "float32"],
        &["concat", "data.npy"],
        &["concat", "data.npy", "--axis"],
        &["transpose", "data.npy", "--axes"],
        &["reshape", "data.npy", "--shape"],
        &["reshape", "data.npy", "--unsqueeze"],
        &["reshape", "data.npy", "--flatten"],
        &["pad", "data.npy", "--dry-run", "--after", "0,0", "--before"],
        &["pad", "data.npy", "--before", "0,1", "--after", "1,0", "--axes"],
        &["pad", "data.npy", "--before", "0,1", "--after", "1,0", "--fill"],
        &["tile", "data.npy", "--dry-run", "--repeats"],
        &["roll", "data.npy", "--axes", "0,1", "--shift"],
        &["roll", "data.npy", "--shift", "1", "--axes"],
        &["broadcast", "data.npy", "--dry-run", "--shape"],
        &["split", "data.npy", "--to", "npz", "--lengths"],
        &["split", "data.npy", "--to", "npz", "--parts", "2", "--axis"],
    ];
    holds(150, (0..options.len(), 0..TEXTS.len(), mutants::changes()), |(option, seed, changes)| {
        let text = mutants::mutant(TEXTS[seed].as_bytes(), &changes, TOKENS);
        let text = String::from_utf8_lossy(&text).replace('\0', "");
        // what lies below the root is the machine's, and to look for tensors in all of it takes minutes
        let text = text.trim_start_matches('/');
        check(&folder, &[options[option], &[text]].concat());
    });
}

/// Options in any number and order, most of them nonsense together.
#[test]
fn any_options() {
    const WORDS: [&str; 52] = [
        "slice",
        "slice-scatter",
        "scatter-update",
        "scatter-nd",
        "gather",
        "gather-nd",
        "gather-elements",
        "scatter-elements",
        "pad",
        "tile",
        "roll",
        "broadcast",
        "split",
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
    holds(150, prop::collection::vec(0..WORDS.len(), 0..9), |words| {
        let args: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        check(&folder, &args);
    });
    assert_eq!(folder.content().len(), 1, "{:?}", folder.content().keys());
}
