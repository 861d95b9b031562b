//! What the tests share: tables of rows, files of every format, small tensors, and the program run in a scratch folder.

#![allow(dead_code, unused_imports, reason = "each test binary uses its share")]

mod files;
#[cfg(feature = "cli")]
mod in_process;
#[cfg(feature = "cli")]
mod machine;
#[cfg(feature = "cli")]
mod operators;
#[cfg(feature = "cli")]
mod program;
#[cfg(feature = "cli")]
mod random;
#[cfg(feature = "remote")]
pub(crate) mod server;
#[cfg(feature = "cli")]
pub(crate) mod specs;
mod tensors;
pub(crate) mod torch;

pub(crate) use files::*;
#[cfg(feature = "cli")]
pub(crate) use machine::*;
#[cfg(feature = "cli")]
pub(crate) use operators::*;
#[cfg(feature = "cli")]
pub(crate) use program::*;
#[cfg(feature = "cli")]
pub(crate) use random::*;
#[cfg(feature = "cli")]
pub(crate) use specs::SPECS;
pub(crate) use tensors::*;

use std::panic::Location;
use std::sync::LazyLock;

use tensorop::diff;

/// Returns how many random rounds a test makes: `few`, as many times as the environment says.
pub(crate) fn rounds(few: usize) -> usize {
    static TIMES: LazyLock<usize> = LazyLock::new(|| match std::env::var("TENSOROP_TEST_ROUNDS") {
        Ok(times) => times.parse().expect("TENSOROP_TEST_ROUNDS: expected a whole number"),
        Err(_) => 1,
    });
    few * *TIMES
}

/// Returns how two files differ: as `tensorop diff` lists items, if both are tensors that it tells apart, otherwise by their
/// bytes.
pub(crate) fn difference(found: &[u8], expected: &[u8]) -> String {
    difference_of_tensors(found, expected).unwrap_or_else(|| difference_of_bytes(found, expected))
}

/// Returns the verdict of the library on two tensors, and the first items that differ. `None` if either is no tensor, or
/// if they are equal.
fn difference_of_tensors(found: &[u8], expected: &[u8]) -> Option<String> {
    let (found, expected) = (tensorop::read_bytes(found).ok()?, tensorop::read_bytes(expected).ok()?);
    let difference = diff::compare(&expected, &found, &diff::Options::default()).ok()?;
    let item = |it: &diff::Mismatch| format!("{:?}: {}, expected {}", it.index, it.actual, it.expected);
    let lines = std::iter::once(difference.verdict()).chain(difference.first().iter().map(item));
    (!difference.equal()).then(|| lines.collect::<Vec<_>>().join("\n    "))
}

fn difference_of_bytes(found: &[u8], expected: &[u8]) -> String {
    let at = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(found.len().min(expected.len()));
    let show = |bytes: &[u8]| bytes[at.min(bytes.len())..].iter().take(24).copied().collect::<Vec<u8>>();
    format!(
        "{} bytes, expected {}; from byte {at} on {:02x?}, expected {:02x?}",
        found.len(),
        expected.len(),
        show(found),
        show(expected)
    )
}

/// Runs `check` on all rows, then names those that failed, with the file and the line of each.
#[track_caller]
pub(crate) fn each<T>(
    rows: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> String,
    check: impl Fn(&T) -> Result<(), String>,
) {
    let table = Location::caller();
    let mut count = 0;
    let failures: Vec<String> = rows
        .into_iter()
        .inspect(|_| count += 1)
        .enumerate()
        .filter_map(|(at, row)| {
            let why = check(&row).err()?;
            let name = name(&row);
            let place = match line_of(table, &name) {
                Some(line) => format!("{}:{line}", table.file()),
                None => format!("{}:{}, row {}", table.file(), table.line(), at + 1),
            };
            Some(format!("  {place}: {name}: {why}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {count} rows failed:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 0, "no rows");
}

/// Returns the line of a row, counted from 1, if the function that has the table has the row's name as a text.
fn line_of(table: &Location, name: &str) -> Option<u32> {
    let source = std::fs::read_to_string(table.file()).ok()?;
    let texts = [name.to_owned(), name.trim_matches('`').to_owned()].map(|text| format!("\"{}\"", text.escape_debug()));
    let lines: Vec<(u32, &str)> = (1..).zip(source.lines()).collect();
    let is_named = |line: &str| texts.iter().any(|text| line.contains(text));
    // a function ends in a line with nothing but a bracket
    let function =
        lines.split(|(_, line)| *line == "}").find(|lines| lines.iter().any(|(at, _)| *at == table.line()))?;
    let named = function.iter().filter(|(_, line)| is_named(line)).map(|(at, _)| *at);
    named.min_by_key(|at| table.line().abs_diff(*at))
}

/// Arguments from a text: a space between two of them, `''` an empty one.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| if word == "''" { String::new() } else { word.to_owned() }).collect()
}
