//! Paths with a colon: which part of one names a file or a folder, and what follows it, be it the name of a member or the
//! type of raw bytes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::raw::View;
use super::table::Format;
use crate::error::{Result, bail};
use crate::storage::requests::as_address;

/// An open file, where it was found, and what followed a colon after its path.
pub(super) struct FoundFile {
    pub file: File,
    pub path: PathBuf,
    pub after: Option<String>,
}

impl FoundFile {
    /// Opens a path, or the part of it before a colon.
    pub(super) fn find(path: &Path, how: &fs::OpenOptions) -> Result<Self> {
        use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
        let missing = match how.open(path) {
            Ok(file) => return Ok(Self { file, path: path.to_owned(), after: None }),
            // a view with many dims makes a name longer than a file may have
            Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => error,
            // some systems do not open folders, and their own messages say little
            Err(_) if path.is_dir() => bail!("is a folder, expected a file"),
            Err(error) => return Err(error.into()),
        };
        let after = |(file, after): (PathBuf, &[u8])| Some((file, std::str::from_utf8(after).ok()?.to_owned()));
        // a pipe has no members, but its bytes may be described by a view
        let piped = || {
            parts_before_colons(path).filter_map(after).find(|(file, view)| {
                !file.is_dir() && file.exists() && (View::parse(view).is_ok() || View::is_meant(view))
            })
        };
        let divided = match files_before_colons(path).next() {
            Some(divided) => after(divided),
            None => piped(),
        };
        let Some((path, after)) = divided else { return Err(missing.into()) };
        Ok(Self { file: how.open(&path)?, path, after: Some(after) })
    }
}

/// Returns the address that a path is, without what follows a colon behind the name of the object, and that.
///
/// No server is asked what is there, so the text alone decides. A colon divides where the name before it ends in an extension
/// that files are known by, and the first such colon counts. Where there is none, a name that ends so is whole; of any
/// other the first colon behind the host divides. In a URL, a colon in the name itself can be written as `%3A`. A query, as
/// a signed URL has it, belongs to the object: what follows a colon stands before or behind it.
pub fn divide_address(path: &Path) -> Option<(String, Option<String>)> {
    let text = as_address(path)?;
    let host = text.find("://").map_or(0, |at| at + 3);
    let Some(begin) = text[host..].find('/').map(|at| host + at) else { return Some((text.to_owned(), None)) };
    let is_url = text[..host].to_ascii_lowercase().starts_with("http");
    let end = begin + text[begin..].find('?').filter(|_| is_url).unwrap_or(text.len() - begin);
    let (object, query) = text.split_at(end);
    let is_known = |name: &str| Format::of_file_name(name.rsplit('/').next().unwrap_or(name)).is_some();
    let colons = || (begin..end).filter(|&at| object.as_bytes()[at] == b':');
    let at = match colons().find(|&at| is_known(&object[..at])) {
        Some(at) => Some(at),
        None if is_known(object) => None,
        None => colons().next(),
    };
    match at {
        Some(at) => Some((format!("{}{query}", &object[..at]), Some(object[at + 1..].to_owned()))),
        None => Some(match query.split_once(':') {
            Some((query, after)) => (format!("{object}{query}"), Some(after.to_owned())),
            None => (text.to_owned(), None),
        }),
    }
}

/// Returns a path as messages show it: of an address without what may be secret, which are the user's name, the password and
/// the query.
pub fn shown(path: &Path) -> String {
    let Some((object, after)) = divide_address(path) else { return path.display().to_string() };
    let (scheme, rest) = object.split_once("://").unwrap_or(("", &object));
    let is_url = scheme.to_ascii_lowercase().starts_with("http");
    let rest = if is_url { rest.split(['?', '#']).next().unwrap_or_default() } else { rest };
    let (host, name) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = if is_url { host.rsplit('@').next().unwrap_or_default() } else { host };
    let after = after.map(|after| format!(":{after}")).unwrap_or_default();
    format!("{scheme}://{host}{name}{after}")
}

/// Returns the folder that a path is, or the part of it before a colon if that is a folder in a known format, and what
/// follows the colon.
pub(super) fn folder(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if path.is_dir() {
        return Some((path.to_owned(), None));
    }
    let (folder, member) = folders_before_colons(path).next().filter(|_| !path.exists())?;
    Some((folder, Some(str::from_utf8(member).ok()?.to_owned())))
}

/// Returns the folder of files that a path is, or that its longest part before a colon which exists is, and what follows the
/// colon: the name of a tensor in it. A folder in a known format is no such folder.
pub fn folder_of_files(path: &Path) -> Option<(PathBuf, Option<String>)> {
    let found = match path.exists() && as_address(path).is_none() {
        true => (path.to_owned(), None),
        false => {
            let (part, member) = parts_before_colons(path).find(|(part, _)| part.exists())?;
            (part, Some(str::from_utf8(member).ok()?.to_owned()))
        }
    };
    Some(found).filter(|(folder, _)| folder.is_dir() && Format::of_folder(folder).is_none())
}

/// Returns the parts of a path before a colon that are folders in a known format, the longest first, each with the bytes
/// that follow its colon.
pub fn folders_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    parts_before_colons(path).filter(|(folder, _)| folder.is_dir() && Format::of_folder(folder).is_some())
}

/// Returns the parts of a path before a colon that are regular files, the longest first, each with the bytes that follow
/// its colon.
pub fn files_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    parts_before_colons(path).filter(|(file, _)| file.is_file())
}

/// Returns the parts of a path before each colon, the longest first, with the bytes that follow that colon.
fn parts_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    // an address is none of a file, whatever is on the disk
    let text = if as_address(path).is_some() { &[] } else { path.as_os_str().as_encoded_bytes() };
    let colons = (0..text.len()).rev().filter(|&at| text[at] == b':');
    colons.filter_map(move |at| Some((part_of_text(path.as_os_str(), 0..at)?.into(), &text[at + 1..])))
}

/// Returns some of the bytes of a text, which begin and end at characters of ASCII.
#[cfg(unix)]
pub fn part_of_text(text: &OsStr, part: Range<usize>) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(text.as_bytes().get(part)?).to_owned())
}

/// Returns some of the bytes of a text, which begin and end at characters of ASCII, if the text is Unicode.
#[cfg(not(unix))]
pub fn part_of_text(text: &OsStr, part: Range<usize>) -> Option<OsString> {
    Some(text.to_str()?.get(part)?.into())
}

#[cfg(all(test, feature = "formats"))]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_divided_and_shown() {
        let rows = [
            ("https://h/x.npy", "https://h/x.npy", None, "https://h/x.npy"),
            ("https://h:80/x.npz:a:b", "https://h:80/x.npz", Some("a:b"), "https://h:80/x.npz:a:b"),
            ("https://h/x.npz:a.npy", "https://h/x.npz", Some("a.npy"), "https://h/x.npz:a.npy"),
            ("s3://b/12:30:00.npy", "s3://b/12:30:00.npy", None, "s3://b/12:30:00.npy"),
            ("s3://b/12:30.npz:w/a", "s3://b/12:30.npz", Some("w/a"), "s3://b/12:30.npz:w/a"),
            ("s3://b/dump:<f4[2,3]", "s3://b/dump", Some("<f4[2,3]"), "s3://b/dump:<f4[2,3]"),
            (
                "hf://o/r@main/m.safetensors:*.bias",
                "hf://o/r@main/m.safetensors",
                Some("*.bias"),
                "hf://o/r@main/m.safetensors:*.bias",
            ),
            ("http://u:p@h/x.npz?k=s:a", "http://u:p@h/x.npz?k=s", Some("a"), "http://h/x.npz:a"),
            ("http://h/x.npz:a?k=s", "http://h/x.npz?k=s", Some("a"), "http://h/x.npz:a"),
            ("http://u:p@h/x.npy?k=s", "http://u:p@h/x.npy?k=s", None, "http://h/x.npy"),
            ("http://h/x.npy#f", "http://h/x.npy#f", None, "http://h/x.npy"),
            ("http://u:p@h", "http://u:p@h", None, "http://h"),
            ("s3://b/x.zarr:t", "s3://b/x.zarr", Some("t"), "s3://b/x.zarr:t"),
        ];
        for (text, object, after, displayed) in rows {
            if cfg!(feature = "zarr") || !text.contains("zarr") {
                let found = divide_address(Path::new(text)).expect("an address");
                assert_eq!((found.0.as_str(), found.1.as_deref()), (object, after), "{text}");
                assert_eq!(shown(Path::new(text)), displayed);
            }
        }
        assert_eq!(divide_address(Path::new("x.npz:a")), None);
        assert_eq!(shown(Path::new("x.npz?:a")), "x.npz?:a");
    }
}
