//! What the tests share: tables of rows, files of every format, small tensors, and the program run in a scratch folder.

#![allow(dead_code, unused_imports, reason = "each test binary uses its share")]

mod files;
#[cfg(feature = "cli")]
mod in_process;
#[cfg(feature = "cli")]
mod machine;
#[cfg(feature = "cli")]
mod program;
#[cfg(feature = "remote")]
pub(crate) mod server;
mod tensors;

pub(crate) use files::*;
#[cfg(feature = "cli")]
pub(crate) use machine::*;
#[cfg(feature = "cli")]
pub(crate) use program::*;
pub(crate) use tensors::*;

/// Where two files part.
pub(crate) fn difference(found: &[u8], expected: &[u8]) -> String {
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

/// Runs `check` on all rows, then names those that failed.
pub(crate) fn each<T>(
    rows: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> String,
    check: impl Fn(&T) -> Result<(), String>,
) {
    let mut count = 0;
    let failures: Vec<String> = rows
        .into_iter()
        .inspect(|_| count += 1)
        .filter_map(|row| check(&row).err().map(|why| format!("  {}: {why}", name(&row))))
        .collect();
    assert!(failures.is_empty(), "{} of {count} rows failed:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 0, "no rows");
}

/// Arguments from a text: a space between two of them, `''` an empty one.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| if word == "''" { String::new() } else { word.to_owned() }).collect()
}
