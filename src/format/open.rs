//! Files that hold tensors, opened: which format they are in, which members they have, and where each tensor lies.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::error::{Advice, Context, Error, ErrorKind, Result, bail, malformed};

use crate::error::Subject;
use crate::format::npy::{self, Begun, Header};
use crate::format::{Format, json, npz, onnx, safetensors};
use crate::item::meta::Meta;
use crate::parallel::Threads;
use crate::storage::platform::same_file;
use crate::storage::source::{Container, Source, fill_from, wrong_length};

/// How many bytes of a file are read to see what it is.
const BEGIN: usize = 4096;

/// How many names an error lists.
const NAMES: usize = 5;

/// A file or stream that holds one tensor, or several with names (a container).
#[derive(Debug)]
pub struct Input {
    label: String,
    content: Content,
    /// How many threads may share what is read before items are asked for: checksums, the syntax of a text.
    threads: Threads,
}

#[derive(Debug)]
enum Content {
    Npy(Arc<File>, Header),
    /// A `.npy` that comes once: its header, and its items, which are handed out once.
    Stream(Header, Mutex<Option<Items>>),
    Npz(npz::Archive, Arc<Container>),
    Safetensors(Arc<File>, safetensors::Index, Arc<Container>),
    /// The folder is where data outside the message may lie.
    Onnx(Arc<File>, Box<onnx::Proto>, Option<PathBuf>),
    Json(Vec<u8>),
}

/// The rest of a stream.
struct Items(Box<dyn Read + Send>);

impl std::fmt::Debug for Items {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Items")
    }
}

/// What is known of a tensor before its items are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The tensor, as it is stored.
    pub meta: Meta,
    /// The bytes that the items take where they are stored, before any compression; two or more items may share one.
    pub bytes: u64,
    /// Where the items begin in the file, in bytes; `None` where they do not lie there as they are.
    pub offset: Option<u64>,
}

impl Input {
    /// Opens a path. One that exists is taken as it is; otherwise a colon in it parts a container from the name of a
    /// member, which is returned. Messages call it `label`; `from` overrides what the content tells.
    ///
    /// # Errors
    /// No such file; a folder; content that is in no known format, or not in the one that `from` says.
    pub fn path(path: &Path, from: Option<Format>, label: &str, threads: Threads) -> Result<(Self, Option<String>)> {
        let (file, path, member) = opened(path, OpenOptions::new().read(true)).with_context(|| label.to_owned())?;
        Ok((Self::file(file, path.parent(), from, label, threads)?, member))
    }

    /// Opens a file to be changed where it lies, as [`path`](Self::path) does: locked before anything of it is read,
    /// so that no other edit comes between.
    ///
    /// # Errors
    /// Those of `path`; what is no regular file; a format that cannot be changed where it lies.
    pub fn locked(path: &Path, from: Option<Format>, label: &str, threads: Threads) -> Result<(Self, Option<String>)> {
        let context = || label.to_owned();
        loop {
            let (file, name, member) = opened(path, OpenOptions::new().read(true).write(true)).with_context(context)?;
            let metadata = file.metadata().with_context(context)?;
            if !metadata.is_file() {
                let error = Error::of(ErrorKind::Unsupported, "only a regular file is changed in place");
                return Err(error.advising(Advice::EditRegularFile).within(label));
            }
            file.lock().with_context(|| format!("{label}: cannot be locked"))?;
            // while this one waited, another file may have taken the name
            if !same_file(&metadata, &std::fs::metadata(&name).with_context(context)?) {
                continue;
            }
            let input = Self::file(file, None, from, label, threads)?;
            let advice = match input.format() {
                Format::Npy | Format::Safetensors => return Ok((input, member)),
                Format::Json => Advice::EditNpyOrSafetensors,
                Format::Npz => Advice::ConvertNpz,
                Format::Onnx => Advice::WriteOnnx,
            };
            let message = "only a .npy file or a tensor of a .safetensors file is changed in place";
            return Err(Error::of(ErrorKind::Unsupported, message).advising(advice).within(label));
        }
    }

    /// An open file, or what it leads to (a device, a pipe). `folder` is where it lies, for tensors that are kept
    /// beside it; without one they are refused.
    ///
    /// # Errors
    /// Those of [`path`](Self::path).
    pub fn file(
        mut file: File,
        folder: Option<&Path>,
        from: Option<Format>,
        label: &str,
        threads: Threads,
    ) -> Result<Self> {
        let context = || label.to_owned();
        let metadata = file.metadata().with_context(context)?;
        if metadata.is_dir() {
            bail!("{label}: is a folder, expected a file");
        }
        if !metadata.is_file() {
            return Self::stream(Box::new(file), from, label, threads);
        }
        let mut begin = read_begin(&mut file).with_context(context)?;
        let content = match recognise(&begin, Some(metadata.len()), from).map_err(|m| malformed!("{label}: {m}"))? {
            Format::Npy => {
                let header = read_header(&mut file, &mut begin, label)?;
                let found = metadata.len().saturating_sub(header.offset as u64);
                if found != header.bytes as u64 {
                    bail!("{label}: {}", wrong_length(found, header.bytes as u64, &header.meta));
                }
                Content::Npy(file.into(), header)
            }
            Format::Json => {
                file.read_to_end(&mut begin).with_context(context)?;
                Content::Json(begin)
            }
            format => placed(file, format, folder).with_context(context)?,
        };
        Ok(Self { label: label.to_owned(), content, threads })
    }

    /// What comes once, from front to back. A container is first written to a file without a name in the folder for
    /// temporary files.
    ///
    /// # Errors
    /// Those of [`path`](Self::path), and of reading.
    pub fn stream(
        mut stream: Box<dyn Read + Send>,
        from: Option<Format>,
        label: &str,
        threads: Threads,
    ) -> Result<Self> {
        let context = || label.to_owned();
        let mut begin = read_begin(&mut stream).with_context(context)?;
        let whole = (begin.len() < BEGIN).then_some(begin.len() as u64);
        let content = match recognise(&begin, whole, from).map_err(|m| malformed!("{label}: {m}"))? {
            Format::Npy => {
                let header = read_header(&mut stream, &mut begin, label)?;
                let items = io::Cursor::new(begin.split_off(header.offset)).chain(stream);
                Content::Stream(header, Mutex::new(Some(Items(Box::new(items)))))
            }
            Format::Json => {
                stream.read_to_end(&mut begin).with_context(context)?;
                Content::Json(begin)
            }
            format => {
                let kept = || format!("{label}: cannot be kept in {}", std::env::temp_dir().display());
                let mut file = tempfile::tempfile().with_context(kept)?;
                io::copy(&mut begin.chain(stream), &mut file).with_context(kept)?;
                placed(file, format, None).with_context(context)?
            }
        };
        Ok(Self { label: label.to_owned(), content, threads })
    }

    /// A JSON text.
    pub fn json_text(text: Vec<u8>, label: &str, threads: Threads) -> Self {
        Self { label: label.to_owned(), content: Content::Json(text), threads }
    }

    /// What messages call it.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The format it is in.
    pub fn format(&self) -> Format {
        match self.content {
            Content::Npy(..) | Content::Stream(..) => Format::Npy,
            Content::Npz(..) => Format::Npz,
            Content::Safetensors(..) => Format::Safetensors,
            Content::Onnx(..) => Format::Onnx,
            Content::Json(_) => Format::Json,
        }
    }

    /// The names of a container's members; `None` if it holds one tensor, without a name.
    pub fn names(&self) -> Option<Vec<&str>> {
        match &self.content {
            Content::Npz(archive, _) => Some(archive.names().collect()),
            Content::Safetensors(_, index, _) => Some(index.names().collect()),
            _ => None,
        }
    }

    /// The name that an ONNX tensor carries itself.
    pub fn own_name(&self) -> Option<&str> {
        match &self.content {
            Content::Onnx(_, proto, _) => Some(proto.name.as_str()).filter(|name| !name.is_empty()),
            _ => None,
        }
    }

    /// The text, if it is JSON, whose dtype may depend on other operands.
    pub fn as_json(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Json(text) => Some(text),
            _ => None,
        }
    }

    /// The number of the member called `name`, or of the only one.
    ///
    /// # Errors
    /// A name that is not there (near ones are told), or that the format does not have; no name where there are
    /// several members.
    pub fn pick(&self, name: Option<&str>) -> Result<usize> {
        let label = &self.label;
        let Some(names) = self.names() else {
            return match name {
                None => Ok(0),
                Some(name) => {
                    let format = self.format().name();
                    bail!(
                        "{label}: its format ({format}) has no members, expected a .npz or .safetensors before :{name}"
                    )
                }
            };
        };
        match (name, names.len()) {
            (None, 1) => Ok(0),
            (_, 0) => bail!("{label}: holds no tensors"),
            (None, count) => bail!("{label}: holds {count} tensors: name one after a colon: {}", list(&names)),
            (Some(name), _) => names.iter().position(|n| *n == name).ok_or_else(|| {
                let near = near(name, &names);
                match near.is_empty() {
                    true => malformed!("{label}: has no tensor {name:?}, but {}", list(&names)),
                    false => malformed!("{label}: has no tensor {name:?}; did you mean {}?", near.join(" or ")),
                }
            }),
        }
    }

    /// What is known of member number `n` (0 where there is only one tensor). Of a plain JSON value all is read.
    ///
    /// # Errors
    /// A member whose own header is not in order; JSON that holds no tensor.
    pub fn describe(&self, n: usize) -> Result<Description> {
        Ok(match &self.content {
            Content::Npy(_, header) | Content::Stream(header, _) => described(header, Some(header.offset as u64)),
            Content::Npz(archive, _) => {
                let context = || self.member_label(archive.names().nth(n).unwrap_or_default());
                let (header, offset) = archive.header(n).with_context(context)?;
                described(&header, offset)
            }
            Content::Safetensors(_, index, _) => {
                let member = index.header(n);
                Description { meta: member.meta.clone(), bytes: member.bytes, offset: Some(member.offset) }
            }
            Content::Onnx(_, proto, _) => {
                Description { meta: proto.meta.clone(), bytes: proto.bytes, offset: proto.offset }
            }
            Content::Json(_) => {
                let source = self.source(0)?;
                Description { meta: source.meta().clone(), bytes: source.bytes() as u64, offset: None }
            }
        })
    }

    /// What messages call a member, which may be the one that the label names.
    pub fn member_label(&self, name: &str) -> String {
        let label = &self.label;
        match label.strip_suffix(name).is_some_and(|file| file.ends_with(':')) {
            true => label.clone(),
            false => format!("{label}:{name}"),
        }
    }

    /// The items of member number `n` (0 where there is only one tensor). Those of a stream can be had once.
    ///
    /// # Errors
    /// A member that is not in order, as far as is known before its items are read.
    pub fn source(&self, n: usize) -> Result<Source> {
        self.source_as(n, self.label.clone())
    }

    /// The same, but messages call it `label`.
    ///
    /// # Errors
    /// Those of [`source`](Self::source).
    pub fn source_as(&self, n: usize, label: String) -> Result<Source> {
        let named = label.clone();
        let context = || named;
        match &self.content {
            Content::Npy(file, Header { meta, offset, .. }) => {
                let file = Arc::clone(file);
                Ok(Source::file(meta.clone(), file, *offset as u64, label))
            }
            Content::Stream(Header { meta, bytes, .. }, items) => {
                let items = items.lock().ok().and_then(|mut items| items.take());
                let Items(items) = items.ok_or_else(|| malformed!("{label}: can be read only once"))?;
                Ok(Source::stream(meta.clone(), items, *bytes as u64, label))
            }
            Content::Npz(archive, container) => {
                let source = archive.source(n, label, self.threads).with_context(context)?;
                Ok(source.one_of(Arc::clone(container)))
            }
            Content::Safetensors(file, index, container) => {
                let source = index.source(file, n, label).with_context(context)?;
                Ok(source.one_of(Arc::clone(container)))
            }
            Content::Onnx(file, proto, folder) => proto.source(file, folder.as_deref(), label).with_context(context),
            Content::Json(text) => {
                let refuse = |e: crate::Error| malformed!("{label}: {}", e.message());
                let json = json::open(text, Subject::Data, self.threads).map_err(refuse)?;
                let tensor = json.dtype().map_or_else(|| json.infer(), |dtype| json.read(dtype)).map_err(refuse)?;
                Ok(Source::memory(tensor, label))
            }
        }
    }
}

/// What is known of a file that holds so many tensors.
fn container(file: &File, tensors: usize) -> Result<Arc<Container>> {
    Ok(Arc::new(Container { file: file.metadata()?, tensors }))
}

fn described(header: &Header, offset: Option<u64>) -> Description {
    Description { meta: header.meta.clone(), bytes: header.bytes as u64, offset }
}

/// Opens a path, or the part of it before a colon: also returns the path of the file, and what follows the colon.
fn opened(path: &Path, options: &OpenOptions) -> Result<(File, PathBuf, Option<String>)> {
    let missing = match options.open(path) {
        Ok(file) => return Ok((file, path.to_owned(), None)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => error,
        Err(error) => return Err(error.into()),
    };
    match files_before_colons(path).next().map(|(file, name)| (file, std::str::from_utf8(name))) {
        Some((file, Ok(name))) => Ok((options.open(&file)?, file, Some(name.to_owned()))),
        _ => Err(missing.into()),
    }
}

/// The parts of a path before a colon that are regular files, the longest first, each with what follows its colon.
pub fn files_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    let text = path.as_os_str().as_encoded_bytes();
    let colons = (0..text.len()).rev().filter(|&at| text[at] == b':');
    let parts = colons.filter_map(move |at| Some((part_of_path(path, at)?, &text[at + 1..])));
    parts.filter(|(file, _)| file.is_file())
}

/// The first `len` bytes of a path, which end before a colon.
#[cfg(unix)]
fn part_of_path(path: &Path, len: usize) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(path.as_os_str().as_bytes().get(..len)?).into())
}

/// The first `len` bytes of a path, which end before a colon; here of one that is Unicode.
#[cfg(not(unix))]
fn part_of_path(path: &Path, len: usize) -> Option<PathBuf> {
    Some(path.to_str()?.get(..len)?.into())
}

/// The first bytes of an operand, all of it if it is short.
fn read_begin(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = vec![0; BEGIN];
    let filled = fill_from(stream, &mut begin)?;
    begin.truncate(filled);
    Ok(begin)
}

/// The format that the first bytes of a file of `len` bytes tell, if that is known.
fn recognise(begin: &[u8], len: Option<u64>, from: Option<Format>) -> Result<Format, String> {
    let is = |format| match format {
        Format::Npy => begin.starts_with(npy::MAGIC),
        Format::Npz => npz::is_npz(begin),
        // one that is cut off says so itself, when it is read
        Format::Safetensors => {
            safetensors::is_safetensors(begin, len)
                || safetensors::is_safetensors(begin, None) && !onnx::looks_like_onnx(begin)
        }
        Format::Onnx => onnx::looks_like_onnx(begin),
        Format::Json => true,
    };
    let refuse = |what: &str| Err(what.to_owned());
    match from {
        Some(format) if is(format) => return Ok(format),
        Some(Format::Npy) => return refuse("no .npy file: does not begin with \\x93NUMPY"),
        Some(Format::Npz) => return refuse("no .npz file: does not begin as a ZIP archive"),
        Some(Format::Safetensors) => return refuse("no .safetensors file: does not begin with a length and {"),
        // what it is then shows when it is read
        Some(format) => return Ok(format),
        None => {}
    }
    let found = [Format::Npy, Format::Npz, Format::Safetensors, Format::Onnx].into_iter().find(|format| is(*format));
    if let Some(format) = found {
        return Ok(format);
    }
    match begin.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => refuse("empty, expected a tensor"),
        // a byte order mark gets its own words from the JSON reader
        Some(b'[' | b'{' | b'"' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0xef | 0xfe | 0xff) => {
            Ok(Format::Json)
        }
        Some(byte) => {
            Err(format!("neither .npy, .npz, .safetensors, an ONNX tensor nor JSON: begins with byte 0x{byte:02x}"))
        }
    }
}

/// What can only be read by position.
fn placed(file: File, format: Format, folder: Option<&Path>) -> Result<Content> {
    let file = Arc::new(file);
    Ok(match format {
        Format::Npz => {
            let archive = npz::Archive::read(Arc::clone(&file))?;
            let container = container(&file, archive.names().len())?;
            Content::Npz(archive, container)
        }
        Format::Safetensors => {
            let index = safetensors::Index::read(&file)?;
            let container = container(&file, index.names().len())?;
            Content::Safetensors(file, index, container)
        }
        _ => {
            let proto = Box::new(onnx::Proto::read(&file)?);
            let folder = folder.map(|f| if f.as_os_str().is_empty() { Path::new(".") } else { f }.to_owned());
            Content::Onnx(file, proto, folder)
        }
    })
}

/// The header of a `.npy` that begins with `begin`; reads on where it is longer.
fn read_header(stream: &mut impl Read, begin: &mut Vec<u8>, label: &str) -> Result<Header> {
    loop {
        match npy::read_header(begin).map_err(|message| malformed!("{label}: {message}"))? {
            Begun::Header(header) => return Ok(header),
            Begun::Needs(bytes) => {
                let missing = bytes - begin.len();
                stream.by_ref().take(missing as u64).read_to_end(begin).with_context(|| label.to_owned())?;
                if begin.len() < bytes {
                    bail!("{label}: ends after {} bytes, inside its header of {bytes}", begin.len());
                }
            }
        }
    }
}

/// The first names, and how many more there are.
fn list(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(NAMES);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// The names most like `name`.
fn near(name: &str, names: &[&str]) -> Vec<String> {
    const ALIKE: f64 = 0.8;
    let lower = name.to_lowercase();
    let score = |other: &str| {
        let other = other.to_lowercase();
        let part = !lower.is_empty() && (other.ends_with(&lower) || lower.ends_with(&other));
        if part { 1.0 } else { strsim::jaro_winkler(&lower, &other) }
    };
    let mut near: Vec<_> = names.iter().map(|other| (score(other), *other)).filter(|(s, _)| *s >= ALIKE).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(3).map(|(_, name)| format!("{name:?}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::platform::write_at;

    #[test]
    fn a_member_that_is_not_in_order_is_named() {
        let header = npy::write_header(&Meta::new(crate::DType::parse("uint8").expect("a dtype"), vec![2]));
        let objects = String::from_utf8_lossy(&header).replace("|u1", "|O ").into_bytes();
        // the first byte of the magic number is no UTF-8
        let objects = [&header[..8], &objects[objects.len() - (header.len() - 8)..]].concat();
        let members = vec![("good".to_owned(), header, 2), ("bad".to_owned(), objects, 2)];
        let writer = npz::Writer::new(members).expect("an archive");
        let named = tempfile::NamedTempFile::new().expect("a file");
        let file = named.as_file();
        write_at(file, b"xy", writer.items_at(0)).expect("written");
        write_at(file, b"xy", writer.items_at(1)).expect("written");
        writer.finish(file, Threads::default()).expect("written");
        let mut failures = Vec::new();
        // what messages call the file, the member, what they call that
        for (label, member, expected) in [
            ("FILE a.npz", "bad", "FILE a.npz:bad: "),
            ("FILE a.npz:bad", "bad", "FILE a.npz:bad: "),
            ("FILE a.npz", "good", ""),
        ] {
            let input =
                Input::file(named.reopen().expect("a file"), None, Some(Format::Npz), label, Threads::default())
                    .expect("read");
            let n = input.pick(Some(member)).expect("a member");
            let described = input.describe(n).map(|_| ()).map_err(|e| format!("{e:#}"));
            let opened = input.source_as(n, expected.trim_end_matches(": ").to_owned()).map(|_| ());
            let opened = opened.map_err(|e| format!("{e:#}"));
            for found in [described, opened] {
                let good = match &found {
                    Ok(()) => expected.is_empty(),
                    Err(message) => !expected.is_empty() && message.starts_with(expected),
                };
                if !good {
                    failures.push(format!("{label} {member}: {found:?}, expected {expected:?}"));
                }
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
