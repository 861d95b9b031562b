//! The meaning of a path or an argument, with an optional suffix after a colon.
//!
//! File names may contain colons, so the existing files decide where a path is divided. [`Located`] looks once;
//! opening, writing and messages all use it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use super::dump_views::DumpPattern;
use super::folder::Folder;
use super::table::Format;
use crate::formats::raw::RawView;
use crate::storage::requests::as_address;
use crate::storage::source::Source;
use tensorop_kernels::error::Result;
use tensorop_kernels::ops::slice::SliceArgs;

/// A resolved path or argument.
#[derive(Clone, Debug)]
pub struct Located {
    typed: PathBuf,
    pub place: Place,
    /// After a colon: a tensor name, a glob or a raw view.
    pub suffix: Option<String>,
}

/// The target of a path or an argument.
#[derive(Clone, Debug)]
pub enum Place {
    Stdin,
    /// JSON in the argument itself.
    Json(String),
    /// A regular file.
    File(PathBuf),
    /// A pipe or a device.
    Pipe(PathBuf),
    /// Such as a Zarr store.
    Store(PathBuf, Format),
    Folder(Folder),
    /// An object or a store behind an address.
    Object(String),
    /// No file, or unknown to the system. The suffix may name a tensor of a new container.
    Absent(PathBuf),
}

impl Located {
    /// Returns the folder or address of the files beside it.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match &self.place {
            Place::File(path) | Place::Absent(path) => Some(path.parent().unwrap_or(Path::new("")).to_owned()),
            Place::Folder(folder) => Some(folder.path.clone()),
            Place::Object(address) => as_address(Path::new(address))?.rsplit_once('/').map(|(folder, _)| folder.into()),
            Place::Stdin | Place::Json(_) | Place::Pipe(_) | Place::Store(..) => None,
        }
    }

    /// Resolves an argument: `-` or `-:TYPE`, JSON, or a path.
    pub fn from_argument(typed: &OsStr) -> Self {
        let text = typed.to_str().unwrap_or_default();
        let (place, after) = match text.strip_prefix("-:") {
            Some(view) => (Place::Stdin, Some(view.to_owned())),
            None if text == "-" => (Place::Stdin, None),
            None if text.starts_with(['[', '{']) => (Place::Json(text.to_owned()), None),
            None if let Some(number) = number(text) => (Place::Json(number), None),
            None => return Self::from_path(typed),
        };
        Self { typed: typed.into(), place, suffix: after }
    }

    /// Resolves `IN` or `NAME=IN`. Existing paths and JSON are never divided.
    pub fn from_named_argument(typed: &OsStr) -> (Option<String>, Self) {
        let whole = Self::from_argument(typed);
        let bytes = typed.as_encoded_bytes();
        let divided = || {
            let at = bytes.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
            let name = str::from_utf8(&bytes[..at]).ok()?.to_owned();
            Some((Some(name), Self::from_argument(&part_of_text(typed, at + 1..bytes.len())?)))
        };
        let divided = if whole.is_absent() { divided() } else { None };
        divided.unwrap_or((None, whole))
    }

    /// Resolves a path: an address, or the longest existing file or folder before a colon.
    pub fn from_path(typed: impl AsRef<OsStr>) -> Self {
        let typed = PathBuf::from(typed.as_ref());
        let (place, after) = match divide_address(&typed) {
            Some((object, after)) => (Place::Object(object), after),
            None => match fs::metadata(&typed) {
                Ok(found) => (Place::from_metadata(typed.clone(), &found), None),
                // A view with many dims is too long for a file name.
                Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => {
                    before_colon(&typed)
                }
                Err(_) => (Place::Absent(typed.clone()), None),
            },
        };
        Self { typed, place, suffix: after }
    }

    /// Replaces the suffix.
    #[must_use]
    pub fn with_member(self, name: Option<String>) -> Self {
        Self { suffix: name, ..self }
    }

    pub fn typed(&self) -> &Path {
        &self.typed
    }

    /// Returns the argument for messages, without secrets of an address.
    pub fn without_secrets(&self) -> String {
        path_without_secrets(&self.typed)
    }

    /// Whether this is a folder or a container as a whole.
    pub fn is_model(&self) -> bool {
        match &self.place {
            Place::Folder(_) => self.is_whole(),
            Place::File(path) => self.is_whole() && Format::names_container(path),
            _ => false,
        }
    }

    /// Returns the existing file or folder, or an address without its query.
    pub fn file(&self) -> Option<PathBuf> {
        match &self.place {
            Place::File(path) | Place::Pipe(path) | Place::Store(path, _) => Some(path.clone()),
            Place::Folder(folder) => Some(folder.path.clone()),
            Place::Object(object) => Some(path_without_secrets(Path::new(object)).into()),
            Place::Stdin | Place::Json(_) | Place::Absent(_) => None,
        }
    }

    /// Returns the output file, and the name of the tensor in it.
    pub fn output(&self) -> (&Path, Option<&str>) {
        match &self.place {
            Place::File(path) | Place::Absent(path) => (path, self.suffix.as_deref()),
            Place::Store(path, _) if self.suffix.as_deref().is_some_and(is_name) => (path, self.suffix.as_deref()),
            // Writing to a folder requires a file name.
            _ => (&self.typed, None),
        }
    }

    pub fn is_stdin(&self) -> bool {
        matches!(self.place, Place::Stdin)
    }

    /// Returns whether nothing exists at the path.
    pub fn is_absent(&self) -> bool {
        matches!(self.place, Place::Absent(_))
    }

    /// Returns whether the whole path exists.
    pub fn is_whole(&self) -> bool {
        let is_there =
            |place: &Place| matches!(place, Place::File(_) | Place::Pipe(_) | Place::Store(..) | Place::Folder(_));
        self.suffix.is_none() && is_there(&self.place)
    }
}

impl Place {
    fn from_metadata(path: PathBuf, found: &Metadata) -> Self {
        match found.is_dir().then(|| Format::from_folder(&path)) {
            Some(Some(format)) => Self::Store(path, format),
            Some(None) => Self::Folder(Folder::new(path)),
            None if found.is_file() => Self::File(path),
            None => Self::Pipe(path),
        }
    }
}

fn before_colon(path: &Path) -> (Place, Option<String>) {
    let (mut pipe, mut is_longest) = (None, true);
    for (part, after) in parts_before_colons(path) {
        let Ok(found) = fs::metadata(&part) else { continue };
        match Place::from_metadata(part, &found) {
            place @ (Place::File(_) | Place::Store(..)) => return (place, Some(after)),
            place @ Place::Folder(_) if is_longest => return (place, Some(after)),
            place @ Place::Pipe(_)
                if RawView::parse(&after).is_ok() || RawView::is_meant(&after) || is_name(&after) =>
            {
                pipe.get_or_insert((place, Some(after)));
            }
            _ => {}
        }
        is_longest = false;
    }
    let dumps = || Some((Place::Folder(dumps_of(path)?), None));
    pipe.or_else(dumps).unwrap_or_else(|| {
        let named = path.to_str().and_then(|text| text.rsplit_once(':'));
        match named.filter(|(file, name)| is_name(name) && Format::names_container(Path::new(file))) {
            Some((file, name)) => (Place::Absent(file.into()), Some(name.to_owned())),
            None => (Place::Absent(path.to_owned()), None),
        }
    })
}

/// Parses a glob with a raw view, such as `dumps/*.bin:float32[2,5]`.
fn dumps_of(path: &Path) -> Option<Folder> {
    let (part, view) = parts_before_colons(path).next()?;
    let text = part.to_str()?;
    let (folder, glob) = match text[..text.find(['*', '?', '[', '{'])?].rfind('/') {
        Some(0) => ("/", &text[1..]),
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (".", text),
    };
    // In an existing folder, a misspelt dtype is reported; `NAME={"data": [1]}` and `NAME=["12:30"]` have no folder.
    let is_folder = || folder != "." && fs::metadata(folder).is_ok_and(|found| found.is_dir());
    (RawView::parse(&view).is_ok() || is_folder())
        .then(|| Folder::from_dumps(folder.into(), DumpPattern::new(glob, &view)))
}

/// Whether a suffix can name a tensor.
fn is_name(after: &str) -> bool {
    !after.is_empty() && !after.contains(':')
}

fn parts_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let text = path.as_os_str().as_encoded_bytes();
    let colons = (0..text.len()).rev().filter(|&at| text[at] == b':');
    colons.filter_map(move |at| {
        let after = str::from_utf8(&text[at + 1..]).ok()?;
        Some((part_of_text(path.as_os_str(), 0..at)?.into(), after.to_owned()))
    })
}

/// A number as JSON has it, also if it is typed as `.5`, `5.` or `+1`.
fn number(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, rest) = digits.split_at(digits.bytes().take_while(u8::is_ascii_digit).count());
    let is_begun = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let number = match rest.strip_prefix('.') {
        Some(places) if whole.is_empty() && is_begun(places) => format!("{sign}0.{places}"),
        Some(places) if !whole.is_empty() && !is_begun(places) => format!("{sign}{whole}.0{places}"),
        Some(_) | None if whole.is_empty() => return None,
        Some(_) | None => format!("{sign}{digits}"),
    };
    serde_json::from_str::<IgnoredAny>(&number).is_ok().then_some(number)
}

/// Divides an address at the colon before its suffix, by the text alone.
///
/// The first colon after a known extension divides; otherwise an address with one is whole, and any other is divided at
/// the first colon after the host. `%3A` escapes a colon in a URL. The query belongs to the object.
pub fn divide_address(path: &Path) -> Option<(String, Option<String>)> {
    let text = as_address(path)?;
    let host = text.find("://").map_or(0, |at| at + 3);
    let Some(begin) = text[host..].find('/').map(|at| host + at) else { return Some((text.to_owned(), None)) };
    let is_url = text[..host].to_ascii_lowercase().starts_with("http");
    let end = begin + text[begin..].find('?').filter(|_| is_url).unwrap_or(text.len() - begin);
    let (object, query) = text.split_at(end);
    let is_known = |name: &str| Format::from_file_name(name.rsplit('/').next().unwrap_or(name)).is_some();
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

/// Returns a path for messages, without user name, password and query.
pub fn path_without_secrets(path: &Path) -> String {
    let Some((object, after)) = divide_address(path) else { return path.display().to_string() };
    let (scheme, rest) = object.split_once("://").unwrap_or(("", &object));
    let is_url = scheme.to_ascii_lowercase().starts_with("http");
    let rest = if is_url { rest.split(['?', '#']).next().unwrap_or_default() } else { rest };
    let (host, name) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = if is_url { host.rsplit('@').next().unwrap_or_default() } else { host };
    let after = after.map(|after| format!(":{after}")).unwrap_or_default();
    format!("{scheme}://{host}{name}{after}")
}

/// Returns a message without the passwords and queries of addresses in it, which a user may have typed anywhere.
pub fn text_without_secrets(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (scheme, after) = rest.split_at(at + "://".len());
        let end = after.find(|c: char| c.is_whitespace() || "'\"`<>".contains(c)).unwrap_or(after.len());
        let (address, more) = after.split_at(end);
        let (host, name) = address.split_at(address.find(['/', '?', '#']).unwrap_or(address.len()));
        let query = name.find(['?', '#']).filter(|_| !["s3://", "hf://"].iter().any(|bucket| scheme.ends_with(bucket)));
        out += scheme;
        out += host.rsplit('@').next().unwrap_or_default();
        out += &name[..query.unwrap_or(name.len())];
        // the mark after an address is that of the message
        out.extend(name.chars().next_back().filter(|last| query.is_some() && ":,;".contains(*last)));
        rest = more;
    }
    out + rest
}

/// The range begins and ends at ASCII characters.
#[cfg(unix)]
fn part_of_text(text: &OsStr, part: Range<usize>) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(text.as_bytes().get(part)?).to_owned())
}

#[cfg(not(unix))]
fn part_of_text(text: &OsStr, part: Range<usize>) -> Option<OsString> {
    Some(text.to_str()?.get(part)?.into())
}

/// Returns the names of dimensions, `None` where a dimension has none.
pub fn dims_of(data: &Source) -> Vec<Option<String>> {
    let text = data.as_chunks().and_then(|chunks| chunks.style().dimension_names.clone());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Replaces names of dimensions with axes.
///
/// # Errors
/// No dimension has the name.
pub fn slices_of(slices: &SliceArgs, data: &Source) -> Result<SliceArgs> {
    let dims = dims_of(data);
    slices.check_dims(&dims).map_err(|error| error.within(data.label()))?;
    Ok(slices.with_dims_as_axes(&dims))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(Located { place, suffix: after, typed }: &Located) -> String {
        let place = match place {
            Place::Stdin => "stdin".to_owned(),
            Place::Json(text) => format!("json {text}"),
            Place::File(path) => format!("file {}", path.display()),
            Place::Pipe(path) => format!("pipe {}", path.display()),
            Place::Store(path, format) => format!("{format:?} {}", path.display()),
            Place::Folder(folder) => format!("folder {}", folder.path.display()),
            Place::Object(object) => format!("object {object}"),
            Place::Absent(path) => format!("absent {}", path.display()),
        };
        let after = after.as_ref().map_or(String::new(), |after| format!(" and {after}"));
        let typed = typed.display().to_string();
        let told = place + &after;
        told.replace(&format!("absent {typed}"), "absent")
    }

    #[test]
    fn arguments_are_told_apart() {
        let located = |text: &str| describe(&Located::from_argument(OsStr::new(text)));
        for json in ["[1]", "{\"a\":1}", "[", "5", "-5", "0", "1.5", "-1e3", "2E+10", "0.5e-3"] {
            assert_eq!(located(json), format!("json {json}"));
        }
        for (typed, json) in
            [(".5", "0.5"), ("-.5e1", "-0.5e1"), ("1.", "1.0"), ("5.e-3", "5.0e-3"), ("+5", "5"), ("+.5", "0.5")]
        {
            assert_eq!(located(typed), format!("json {json}"), "{typed}");
        }
        for path in ["no.npy", "./[1].npy", "./5", "05", "1..", "+-1", "1_0", "1e", "5.npy", "1e3x", "-x", ""] {
            assert_eq!(located(path), "absent", "{path}");
        }
        assert_eq!([located("-"), located("-:>u2[-1]")], ["stdin", "stdin and >u2[-1]"]);
    }

    #[test]
    fn messages_have_no_secrets() {
        let rows = [
            ("unexpected argument 'http://me:PW@h/x.npy?sig=S' found", "unexpected argument 'http://h/x.npy' found"),
            ("https://h/a?X=S: 404; http://me:P@W@h: no", "https://h/a: 404; http://h: no"),
            ("htp://me:PW@h/x#S, twice", "htp://h/x, twice"),
            ("s3://b/a?c.npy hf://o/r@v/f", "s3://b/a?c.npy hf://o/r@v/f"),
            ("a://", "a://"),
            ("no address: a@b?c", "no address: a@b?c"),
        ];
        for (text, expected) in rows {
            assert_eq!(text_without_secrets(text), expected);
        }
    }

    #[test]
    fn names_are_told_from_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("a=b.npz");
        fs::write(&there, "").expect("a file");
        let there = there.to_str().expect("a name in Unicode");
        let member = format!("{there}:c");
        let (whole, part) = (format!("file {there}"), format!("file {there} and c"));
        let rows = [
            ("a=b.npy", Some("a"), "absent"),
            ("a=b=c", Some("a"), "absent"),
            ("a=-", Some("a"), "stdin"),
            ("a=[1]", Some("a"), "json [1]"),
            ("a=[\"12:30\"]", Some("a"), "json [\"12:30\"]"),
            ("a={\"data\": [0, 6]}", Some("a"), "json {\"data\": [0, 6]}"),
            ("a=", Some("a"), "absent"),
            ("=b", None, "absent"),
            ("b.npy", None, "absent"),
            ("{\"a\":\"=\"}", None, "json {\"a\":\"=\"}"),
            ("s3://b/a=b.npy", None, "object s3://b/a=b.npy"),
            ("a=s3://b/c.npy", Some("a"), "object s3://b/c.npy"),
            (there, None, &whole),
            (&member, None, &part),
        ];
        for (text, name, expected) in rows {
            let (found, located) = Located::from_named_argument(OsStr::new(text));
            assert_eq!((found.as_deref(), describe(&located).as_str()), (name, expected), "{text}");
        }
    }

    #[test]
    fn what_exists_is_not_divided() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_str().expect("a name in Unicode");
        for name in ["a.npz", "a.npz:b", "plain.txt", "plain.txt:x"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        for name in ["models", "models/in", "st:ore", "a.npz:in"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        fs::write(folder.path().join("st:ore/zarr.json"), "{}").expect("a file");
        let store = if cfg!(feature = "zarr") { "zarr st:ore" } else { "folder st:ore" };
        let in_store = format!("{store} and x/y");
        let rows = [
            ("a.npz", "file a.npz"),
            ("a.npz:b", "file a.npz:b"),
            ("a.npz:c", "file a.npz and c"),
            ("a.npz:b:c", "file a.npz:b and c"),
            ("a.npz:in:c", "folder a.npz:in and c"),
            ("plain.txt:x:float32[2]", "file plain.txt:x and float32[2]"),
            ("models", "folder models"),
            ("models:in/a", "folder models and in/a"),
            ("models/in:a:b", "folder models/in and a:b"),
            ("st:ore", store),
            ("st:ore:x/y", &in_store),
            ("b.npz:c", "absent b.npz and c"),
            ("b.npz:", "absent"),
            ("b.txt:c", "absent"),
            ("a.npz/x", "absent"),
            ("models/*.bin:float32[2]", "folder models"),
            ("models/in/?:f4", "folder models/in"),
            ("models/*:flaot32", "folder models"),
            ("nowhere/*.bin:float32[2]", "folder nowhere"),
            ("nowhere/*.bin:flaot32", "absent"),
        ];
        for (name, expected) in rows {
            let found = describe(&Located::from_path(format!("{root}/{name}"))).replace(&format!("{root}/"), "");
            assert_eq!(found, expected, "{name}");
        }
    }

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
                assert_eq!(path_without_secrets(Path::new(text)), displayed);
            }
        }
        assert_eq!(divide_address(Path::new("x.npz:a")), None);
        assert_eq!(path_without_secrets(Path::new("x.npz?:a")), "x.npz?:a");
    }
}
