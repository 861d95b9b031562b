//! From operands as typed to sources: opened, recognised by their content, typed together.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use tensorop::dtype::{DType, Kind};
use tensorop::error::{Error, Subject};
use tensorop::exec::{Threads, Updates};
use tensorop::format::json::{self, Json};
use tensorop::format::npy::{self, Begun, Header};
use tensorop::ops::indexed::{Resolve, TakeIndices, on_threads, take_bytes};
use tensorop::source::{Conversion, Source, fill_from, same_file, wrong_length};
use tensorop::window::Windows;

use crate::cli::index_list::IndexList;
use crate::cli::operand::OperandArg;
use crate::cli::{InputFormat, InputOptions, UpdatesOptions};

/// How many bytes of a file are read to see what it is.
const BEGIN: usize = 4096;

/// The operands of a command: what the user typed, what messages call them, how to read them.
pub struct Operands<'a> {
    data: (&'a OperandArg, String),
    indices: Option<(&'a OperandArg, String)>,
    updates: Option<(&'a OperandArg, String)>,
    input: &'a InputOptions,
    in_place: bool,
}

impl<'a> Operands<'a> {
    /// # Errors
    /// Standard input for more than one of them.
    pub fn new(
        data: &'a OperandArg,
        indices: Option<&'a OperandArg>,
        updates: Option<&'a OperandArg>,
        input: &'a InputOptions,
        in_place: bool,
    ) -> Result<Self> {
        let named = |role, arg: &'a OperandArg| (arg, label(role, arg));
        let all = [Some(("DATA", data)), indices.map(|arg| ("INDICES", arg)), updates.map(|arg| ("UPDATES", arg))];
        if let Some((role, _)) = all.into_iter().flatten().filter(|(_, arg)| **arg == OperandArg::Stdin).nth(1) {
            bail!("{role}: standard input can stand for one operand only");
        }
        let [indices, updates] =
            [(indices, "INDICES"), (updates, "UPDATES")].map(|(arg, role)| arg.map(|arg| named(role, arg)));
        Ok(Self { data: named("DATA", data), indices, updates, input, in_place })
    }

    /// A refusal of the library, with the name that the user knows its subject by.
    pub fn explain(&self, error: &Error) -> anyhow::Error {
        let label = match error.subject() {
            Subject::Data => self.data.1.clone(),
            Subject::Indices => self.indices.as_ref().map_or("INDICES", |(_, label)| label).to_owned(),
            Subject::Updates => self.updates.as_ref().map_or("UPDATES", |(_, label)| label).to_owned(),
            option => self::option(option),
        };
        anyhow!("{label}: {}", error.message())
    }

    /// DATA and, where they are an operand, UPDATES. Plain JSON takes `--dtype`, else the dtype of the operand that
    /// has one, else what the content of both tells.
    pub fn tensors(&self) -> Result<(Source, Option<Source>)> {
        let mut data =
            if self.in_place { Content::locked(&self.data) } else { Content::load(&self.data, self.input.from) }?;
        let mut updates = self.updates.as_ref().map(|operand| Content::load(operand, self.input.from)).transpose()?;
        let data = self.open(&mut data, Subject::Data)?;
        let updates = updates.as_mut().map(|content| self.open(content, Subject::Updates)).transpose()?;
        let explain = |error: Error| self.explain(&error);
        let memory = |tensor, subject| Source::memory(tensor, self.label(subject));
        let asked = self.input.dtype.as_ref();
        let known = asked.cloned().or_else(|| data.dtype()).or_else(|| updates.as_ref().and_then(Open::dtype));
        let data = match (data, known) {
            (Open::Typed(source), _) => as_asked(source, asked)?,
            (Open::Plain(json), Some(dtype)) => memory(json.read(&dtype).map_err(explain)?, Subject::Data),
            (Open::Plain(json), None) => {
                let Some(Open::Plain(updates)) = &updates else {
                    return Ok((memory(json.infer().map_err(explain)?, Subject::Data), None));
                };
                let mut tensors = json::infer(&[&json, updates]).map_err(explain)?;
                let updates = tensors.pop().map(|tensor| memory(tensor, Subject::Updates));
                let data = tensors.pop().map(|tensor| memory(tensor, Subject::Data));
                return Ok((data.ok_or_else(|| anyhow!("{}: no tensor", self.data.1))?, updates));
            }
        };
        let updates = updates.map(|open| match open {
            Open::Typed(source) => as_asked(source, asked),
            Open::Plain(json) => Ok(memory(json.read(&data.dtype().native()).map_err(explain)?, Subject::Updates)),
        });
        Ok((data, updates.transpose()?))
    }

    /// INDICES, of whatever integer dtype.
    pub fn indices(&self) -> Result<Source> {
        let operand = self.indices.as_ref().ok_or_else(|| anyhow!("INDICES: missing"))?;
        integers(Content::load(operand, self.input.from)?, &operand.1)
    }

    /// Updates of shape `shape`: the operand, or `--fill`'s one value in its place; their items are, or become,
    /// items of the data.
    pub fn updates(
        &self,
        operand: Option<Source>,
        options: &UpdatesOptions,
        data: &Source,
        shape: &[usize],
    ) -> Result<Updates> {
        let mut source = match (operand, &options.fill) {
            (None, Some(value)) => {
                let item = json::parse_item(value, data.dtype()).map_err(|e| self.explain(&e))?;
                if item.len() != data.dtype().itemsize() {
                    bail!("--fill: {value:?} is longer than {}", data.dtype().name());
                }
                Source::item(data.dtype().clone(), shape.to_vec(), item, format!("--fill {value}"))
            }
            (operand, _) => operand.ok_or_else(|| anyhow!("UPDATES: missing"))?,
        };
        let conversion = Conversion::new(source.dtype(), data.dtype()).ok_or_else(|| {
            let (found, expected) = (source.dtype().name(), data.dtype().name());
            anyhow!("{}: dtype {found}, expected {expected} as in {}", source.label(), data.label())
        })?;
        if conversion.narrows() {
            source.settle()?;
            check_widths(&source, &conversion, data.dtype())?;
        }
        let mut updates = Updates::new(source, conversion);
        let data_file = if self.in_place { data.as_file().map(|(file, _)| file.metadata()).transpose()? } else { None };
        if data_file.is_some_and(|file| updates.source().lies_in(&file)) {
            // they are the data that is about to change
            updates.keep(data.dtype())?;
        }
        Ok(updates)
    }

    /// Hands all numbers of an index tensor to a resolver: parts of it to several threads, if it is long.
    pub fn feed(&self, indices: &Source, resolver: &mut impl Resolve, threads: Threads) -> Result<()> {
        let tuples = indices.shape().first().copied().unwrap_or(1);
        let rows = indices.shape().get(1..).unwrap_or_default().iter().product::<usize>();
        // a part begins where a tuple does: with a place of the first axis, if there is another
        let tuples_in_row = if resolver.width() == 0 { 0 } else { rows / resolver.width() };
        let threads = if indices.is_stream() { 1 } else { threads.for_bytes(indices.bytes()).min(tuples) };
        if threads <= 1 || tuples_in_row == 0 {
            resolver.reserve(tuples * tuples_in_row).map_err(|e| self.explain(&e))?;
            return native_windows(indices, 0..tuples, |_, kind, numbers| {
                take_bytes(resolver, kind, numbers).map_err(|e| self.explain(&e))
            });
        }
        let part = |number: usize| number * tuples / threads;
        let whole = &*resolver;
        let parts = on_threads(threads, |number| -> Result<_> {
            let (first, last) = (part(number), part(number + 1));
            let mut resolver = whole.part(first * tuples_in_row);
            resolver.reserve((last - first) * tuples_in_row).map_err(|e| self.explain(&e))?;
            native_windows(indices, first..last, |_, kind, numbers| {
                take_bytes(&mut resolver, kind, numbers).map_err(|e| self.explain(&e))
            })?;
            Ok(resolver)
        });
        for part in parts {
            resolver.join(part?);
        }
        Ok(())
    }

    fn label(&self, subject: Subject) -> String {
        match (subject, &self.updates) {
            (Subject::Updates, Some((_, label))) => label.clone(),
            _ => self.data.1.clone(),
        }
    }

    fn open<'c>(&self, content: &'c mut Content, subject: Subject) -> Result<Open<'c>> {
        if let Some(source) = content.source.take() {
            return Ok(Open::Typed(source));
        }
        let json = json::open(&content.text, subject).map_err(|e| self.explain(&e))?;
        match json.dtype() {
            None => Ok(Open::Plain(json)),
            Some(dtype) => {
                let tensor = json.read(dtype).map_err(|e| self.explain(&e))?;
                Ok(Open::Typed(Source::memory(tensor, self.label(subject))))
            }
        }
    }
}

/// An operand whose dtype is known, or JSON that has none of its own.
enum Open<'c> {
    Typed(Source),
    Plain(Json<'c>),
}

impl Open<'_> {
    /// In the machine's byte order: that of a file does not bind the other operand.
    fn dtype(&self) -> Option<DType> {
        match self {
            Open::Typed(source) => Some(source.dtype().native()),
            Open::Plain(_) => None,
        }
    }
}

/// An operand with a dtype of its own, as `--dtype` sees it: only an ambiguous void may become something else.
fn as_asked(mut source: Source, asked: Option<&DType>) -> Result<Source> {
    let Some(asked) = asked else { return Ok(source) };
    let found = source.dtype();
    let any_width = match (asked.kind(), found.kind()) {
        (Kind::Str(0), Kind::Str(_)) | (Kind::Bytes(0), Kind::Bytes(_)) => true,
        // types of ml_dtypes that a .npy file cannot name
        (Kind::BFloat16 | Kind::Narrow(_), Kind::Void(size)) if *size == asked.itemsize() => {
            source.reinterpret(asked.clone());
            return Ok(source);
        }
        _ => false,
    };
    if !any_width && !asked.same_kind(found) {
        bail!("{}: dtype {}, but --dtype says {}", source.label(), found.name(), asked.name());
    }
    Ok(source)
}

/// What messages call an operand: its role and where it comes from.
fn label(role: &str, arg: &OperandArg) -> String {
    match arg {
        OperandArg::Stdin => format!("{role} (standard input)"),
        OperandArg::Path(path) => format!("{role} {}", path.display()),
        OperandArg::Inline(text) if text.chars().count() > 40 => {
            format!("{role} {}...", text.chars().take(40).collect::<String>())
        }
        OperandArg::Inline(text) => format!("{role} {text}"),
    }
}

/// The option that a refusal is about.
fn option(subject: Subject) -> String {
    if subject == Subject::Output { "output".to_owned() } else { format!("--{subject}") }
}

/// An operand as it was found: a `.npy` source, or the text of a JSON tensor.
struct Content {
    source: Option<Source>,
    text: Vec<u8>,
}

impl Content {
    fn load((arg, label): &(&OperandArg, String), from: Option<InputFormat>) -> Result<Self> {
        match arg {
            OperandArg::Inline(text) => Ok(Self { source: None, text: text.clone().into_bytes() }),
            OperandArg::Stdin => Self::stream(Box::new(io::stdin()), label, from),
            OperandArg::Path(path) => Self::file(path, label, from),
        }
    }

    fn file(path: &Path, label: &str, from: Option<InputFormat>) -> Result<Self> {
        let context = || label.to_owned();
        let mut file = File::open(path).with_context(context)?;
        let metadata = file.metadata().with_context(context)?;
        if metadata.is_dir() {
            bail!("{label}: is a folder, expected a file");
        }
        if !metadata.is_file() {
            return Self::stream(Box::new(file), label, from);
        }
        let mut begin = read_begin(&mut file).with_context(context)?;
        if !is_npy(&begin, label, from)? {
            file.read_to_end(&mut begin).with_context(context)?;
            return Ok(Self { source: None, text: begin });
        }
        Self::npy(file, begin, &metadata, label)
    }

    /// From a pipe: JSON is read to its end, of a `.npy` the header.
    fn stream(mut stream: Box<dyn Read + Send>, label: &str, from: Option<InputFormat>) -> Result<Self> {
        let context = || label.to_owned();
        let mut begin = read_begin(&mut stream).with_context(context)?;
        if !is_npy(&begin, label, from)? {
            stream.read_to_end(&mut begin).with_context(context)?;
            return Ok(Self { source: None, text: begin });
        }
        let header = read_header(&mut stream, &mut begin, label)?;
        let Header { dtype, shape, fortran_order, offset, bytes } = header;
        let items = Box::new(io::Cursor::new(begin.split_off(offset)).chain(stream));
        let source = Source::stream(dtype, shape, fortran_order, items, bytes as u64, label.to_owned());
        Ok(Self { source: Some(source), text: Vec::new() })
    }

    /// DATA that is changed where it lies: locked before its header is read, so that no other edit comes between.
    fn locked((arg, label): &(&OperandArg, String)) -> Result<Self> {
        let context = || label.to_owned();
        let OperandArg::Path(path) = arg else { bail!("{label}: --in-place changes a file") };
        let mut file = loop {
            let file = OpenOptions::new().read(true).write(true).open(path).with_context(context)?;
            let metadata = file.metadata().with_context(context)?;
            if !metadata.is_file() {
                bail!("{label}: --in-place changes a regular file");
            }
            file.lock().with_context(|| format!("{label}: cannot be locked"))?;
            // while this one waited, another file may have taken the name
            if same_file(&metadata, &std::fs::metadata(path).with_context(context)?) {
                break file;
            }
        };
        let metadata = file.metadata().with_context(context)?;
        let begin = read_begin(&mut file).with_context(context)?;
        if !begin.starts_with(npy::MAGIC) {
            bail!("{label}: --in-place changes a .npy file, and this does not begin with \\x93NUMPY");
        }
        Self::npy(file, begin, &metadata, label)
    }

    /// A `.npy` file of which the first bytes have been read.
    fn npy(mut file: File, mut begin: Vec<u8>, metadata: &Metadata, label: &str) -> Result<Self> {
        let Header { dtype, shape, fortran_order, offset, bytes } = read_header(&mut file, &mut begin, label)?;
        let found = metadata.len().saturating_sub(offset as u64);
        if found != bytes as u64 {
            bail!("{label}: {}", wrong_length(found, bytes as u64, &dtype, &shape));
        }
        let source = Source::file(dtype, shape, fortran_order, file, offset as u64, label.to_owned());
        Ok(Self { source: Some(source), text: Vec::new() })
    }
}

/// The first bytes of an operand, all of it if it is short.
fn read_begin(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = vec![0; BEGIN];
    let filled = fill_from(stream, &mut begin)?;
    begin.truncate(filled);
    Ok(begin)
}

/// Whether the first bytes of an operand are those of a `.npy`. What is neither that nor JSON is refused before
/// more of it is read.
fn is_npy(begin: &[u8], label: &str, from: Option<InputFormat>) -> Result<bool> {
    let found = begin.starts_with(npy::MAGIC);
    let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
    match (from, found, first) {
        (Some(InputFormat::Json), ..) => Ok(false),
        (Some(InputFormat::Npy), false, _) => bail!("{label}: no .npy file: does not begin with \\x93NUMPY"),
        (_, true, _) => Ok(true),
        (None, false, None) => bail!("{label}: empty, expected a .npy file or JSON"),
        // a byte order mark gets its own words from the JSON reader
        (
            None,
            false,
            Some(b'[' | b'{' | b'"' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0xef | 0xfe | 0xff),
        ) => Ok(false),
        (None, false, Some(byte)) => bail!("{label}: neither a .npy file nor JSON: begins with byte 0x{byte:02x}"),
    }
}

/// The header of a `.npy` that begins with `begin`; reads on where it is longer.
fn read_header(stream: &mut impl Read, begin: &mut Vec<u8>, label: &str) -> Result<Header> {
    loop {
        match npy::read_header(begin).map_err(|message| anyhow!("{label}: {message}"))? {
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

/// A tensor of integers: any integer dtype, or JSON that holds nothing else.
fn integers(mut content: Content, label: &str) -> Result<Source> {
    let refuse = |e: Error| anyhow!("{label}: {}", e.message());
    let source = match content.source.take() {
        Some(source) => source,
        None => {
            let json = json::open(&content.text, Subject::Indices).map_err(refuse)?;
            let tensor = match json.dtype() {
                Some(dtype) => json.read(dtype),
                None => json.infer_indices(),
            };
            Source::memory(tensor.map_err(refuse)?, label.to_owned())
        }
    };
    if !source.dtype().is_integer() {
        bail!("{label}: dtype {}, expected integers", source.dtype().name());
    }
    Ok(source)
}

/// The integers of an option: typed there, or in a file of one axis.
pub fn index_list(list: &IndexList, option: &str, input: &InputOptions) -> Result<Vec<i64>> {
    let tensor = match list {
        IndexList::List(list) => return Ok(list.clone()),
        IndexList::File(path) => index_file(path, option, input)?,
    };
    if tensor.shape().len() != 1 {
        bail!("{}: shape {:?}, expected 1 axis", tensor.label(), tensor.shape());
    }
    all_integers(&tensor)
}

/// The one integer of `--axis`.
pub fn axis(list: &IndexList, input: &InputOptions) -> Result<i64> {
    let integers = match list {
        IndexList::List(list) => list.clone(),
        IndexList::File(path) => all_integers(&index_file(path, "--axis", input)?)?,
    };
    match integers[..] {
        [axis] => Ok(axis),
        ref other => bail!("--axis: {} integers, expected one", other.len()),
    }
}

fn index_file(path: &Path, option: &str, input: &InputOptions) -> Result<Source> {
    let label = format!("{option} {}", path.display());
    if std::fs::metadata(path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        bail!("{label}: neither a list of integers such as 0,1 nor a file");
    }
    integers(Content::file(path, &label, input.from)?, &label)
}

fn all_integers(tensor: &Source) -> Result<Vec<i64>> {
    /// Takes what fits int64, and keeps the rest as its error.
    struct List(Vec<i64>);
    impl TakeIndices for List {
        fn take<I: tensorop::ops::indexed::Index>(
            &mut self,
            numbers: impl IntoIterator<Item = I>,
        ) -> Result<(), Error> {
            for number in numbers {
                let fits = number.to_i64().ok_or_else(|| Error::beyond_int64(&number))?;
                self.0.push(fits);
            }
            Ok(())
        }
    }
    let mut list = List(Vec::new());
    native_windows(tensor, 0..tensor.shape().first().copied().unwrap_or(1), |_, kind, numbers| {
        take_bytes(&mut list, kind, numbers).map_err(|e| anyhow!("{}: {}", tensor.label(), e.message()))
    })?;
    Ok(list.0)
}

/// Hands `take` the items at some places of a tensor's first axis in C order and little-endian, a window at a time,
/// with the number of the first.
fn native_windows(
    tensor: &Source,
    rows: std::ops::Range<usize>,
    mut take: impl FnMut(usize, &Kind, &[u8]) -> Result<()>,
) -> Result<()> {
    const ITEMS: usize = 1 << 14;
    let native = tensor.dtype().native();
    let Some(conversion) = Conversion::new(tensor.dtype(), &native) else { return Ok(()) };
    let mut ranges: Vec<_> = tensor.shape().iter().map(|&dim| 0..dim).collect();
    if let Some(first) = ranges.first_mut() {
        *first = rows;
    }
    let view = tensor.view().part(&ranges);
    let (mut items, mut scratch) = (Vec::new(), Vec::new());
    for window in Windows::new(&view.shape(), ITEMS).iter() {
        let view = view.part(&window.ranges);
        items.resize(view.items() * native.itemsize(), 0);
        conversion.read(tensor, &view, &mut items, &mut scratch)?;
        take(window.start, native.kind(), &items)?;
    }
    tensor.finish()
}

/// Whether every item of updates with wider strings fits the data's width.
fn check_widths(updates: &Source, conversion: &Conversion, dtype: &DType) -> Result<()> {
    let itemsize = updates.dtype().itemsize();
    native_windows(updates, 0..updates.shape().first().copied().unwrap_or(1), |start, _, items| {
        match items.chunks_exact(itemsize).position(|item| !conversion.fits(item)) {
            None => Ok(()),
            Some(at) => {
                let at = tensorop::tensor::coordinates(start + at, updates.shape());
                bail!("{}: the item at {at:?} is longer than {}", updates.label(), dtype.name())
            }
        }
    })
}
