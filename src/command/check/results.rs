//! A runtime's files for a test, in a folder named by its id: outputs, or a message in `refused`, `crashed` or
//! `unsupported`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::error::{Context, Result};
use crate::item::tensor::Tensor;
use crate::library::files::write;

pub(super) const REFUSED: &str = "refused";

/// Also for a runtime that exceeded its time.
pub(super) const CRASHED: &str = "crashed";

/// The runtime lacks the operator or a type, or its interface does.
pub(super) const UNSUPPORTED: &str = "unsupported";

pub(super) const MARKERS: [&str; 3] = [REFUSED, CRASHED, UNSUPPORTED];

/// Links are not followed, so only a hostile tree is deeper.
const MAX_NESTED: usize = 64;

const MAX_MESSAGE_BYTES: u64 = 1 << 16;
const MAX_MESSAGE_CHARS: usize = 300;

/// The first is used for writing.
pub(super) fn output_names(n: usize, count: usize) -> impl Iterator<Item = String> {
    let alone = ["output.npy", "output.pb"].into_iter().filter(move |_| count == 1).map(str::to_owned);
    alone.chain([format!("output_{n}.npy"), format!("output_{n}.pb")])
}

fn is_result(name: &str) -> bool {
    let is_output = |name: &str| {
        let stem = name.strip_suffix(".npy").or(name.strip_suffix(".pb"))?;
        let rest = stem.strip_prefix("output")?;
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        Some(rest.is_empty() || rest.strip_prefix('_').is_some_and(is_number))
    };
    MARKERS.contains(&name) || is_output(name) == Some(true)
}

pub(super) fn results_in(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().filter(|name| is_result(name));
        names.extend(name.filter(|_| !entry.path().is_dir()));
    }
    names.sort_unstable();
    Ok(names)
}

pub(super) fn message(folder: &Path, name: &str) -> String {
    let mut bytes = Vec::new();
    let read = File::open(folder.join(name)).and_then(|file| file.take(MAX_MESSAGE_BYTES).read_to_end(&mut bytes));
    if let Err(error) = read {
        return format!("{name} cannot be read: {error}");
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(MAX_MESSAGE_CHARS) {
        line.truncate(at);
        line.push('…');
    }
    match line.is_empty() {
        true => name.to_owned(),
        false => format!("{name}: {line}"),
    }
}

/// Makes the folder of a test, without the results of an earlier run.
pub(super) fn clear(folder: &Path) -> Result<()> {
    for name in results_in(folder).with_context(|| folder.display().to_string())? {
        let path = folder.join(name);
        fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

/// The error is a marker and its message.
pub(super) fn save(folder: &Path, made: Result<&[Tensor], (&str, String)>) -> Result<()> {
    clear(folder)?;
    match made {
        Ok(outputs) => outputs.iter().enumerate().try_for_each(|(n, output)| {
            let name = output_names(n, outputs.len()).next().expect("an output has a name");
            write(folder.join(name), output)
        }),
        Err((marker, message)) => {
            let path = folder.join(marker);
            fs::write(&path, message + "\n").with_context(|| path.display().to_string())
        }
    }
}

/// Unreadable folders are skipped: their test has failed already.
pub(super) fn unclaimed(folder: &Path, ids: &HashSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    search(folder, String::new(), 0, &mut |id| {
        if !ids.contains(id) {
            found.push(id.to_owned());
        }
    });
    found
}

fn search(folder: &Path, id: String, nested: usize, take: &mut dyn FnMut(&str)) {
    let mut entries = Vec::from_iter(fs::read_dir(folder).into_iter().flatten().flatten());
    entries.sort_by_key(fs::DirEntry::file_name);
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    if entries.iter().any(|entry| !is_folder(entry) && entry.file_name().to_str().is_some_and(is_result)) {
        take(&id);
    }
    for entry in entries.iter().filter(|entry| nested < MAX_NESTED && is_folder(entry)) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let id = if id.is_empty() { name } else { format!("{id}/{name}") };
        search(&entry.path(), id, nested + 1, take);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_results() {
        let results = ["output.npy", "output.pb", "output_0.npy", "output_12.pb", "refused", "crashed", "unsupported"];
        let others = ["output.npz", "output_.pb", "output_x.npy", "outputs.npy", "refused.txt", "input_0.pb", "output"];
        assert!(results.iter().all(|name| is_result(name)));
        assert_eq!(others.iter().find(|name| is_result(name)), None);
    }
}
