//! From operands as typed to sources: opened, recognised by their content, typed together.

use std::io;
use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::asked::{Asked, Reading, refusal};
use super::io::Io;
use super::options::index_list::IndexList;
use super::options::operands::{InputOptions, OperandArg};
use super::options::updates::UpdatesOptions;
use super::outcome::{advised, told};
use crate::error::{Error, ErrorKind, Subject, malformed};
use crate::format::Unchangeable;
use crate::format::json;
use crate::format::open::{Input, OpenOptions};
use crate::format::values::{self, Values};
use crate::item::dtype::{DType, Kind};
use crate::item::meta::Meta;
use crate::ops::indexed::{all_integers, each_window};
use crate::ops::updates::Updates;
use crate::parallel::Threads;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// The operands of a command: what the user typed, what messages call them, how to read them.
pub(super) struct Operands<'a> {
    io: &'a Io,
    data: (&'a OperandArg, String),
    indices: Option<(&'a OperandArg, String)>,
    updates: Option<(&'a OperandArg, String)>,
    input: &'a InputOptions,
    in_place: bool,
    /// Whether others may change other parts of DATA meanwhile.
    together: bool,
    /// How many may share the reading.
    threads: Threads,
}

impl<'a> Operands<'a> {
    /// # Errors
    /// Standard input for more than one of them.
    pub(super) fn new(
        io: &'a Io,
        data: &'a OperandArg,
        indices: Option<&'a OperandArg>,
        updates: Option<&'a OperandArg>,
        input: &'a InputOptions,
        in_place: bool,
        threads: Threads,
    ) -> Result<Self> {
        let named = |role, arg: &'a OperandArg| (arg, label(role, arg));
        let all = [Some(("DATA", data)), indices.map(|arg| ("INDICES", arg)), updates.map(|arg| ("UPDATES", arg))];
        one_stdin(all.into_iter().flatten())?;
        let [indices, updates] =
            [(indices, "INDICES"), (updates, "UPDATES")].map(|(arg, role)| arg.map(|arg| named(role, arg)));
        Ok(Self { io, data: named("DATA", data), indices, updates, input, in_place, together: false, threads })
    }

    /// The same, but others may change other parts of DATA meanwhile.
    pub(super) fn together(self, together: bool) -> Self {
        Self { together, ..self }
    }

    /// A refusal of the library, with the name that the user knows its subject by.
    pub(super) fn explain(&self, error: Error) -> anyhow::Error {
        let label = match error.subject() {
            Subject::Data => self.data.1.clone(),
            Subject::Indices => self.indices.as_ref().map_or("INDICES", |(_, label)| label).to_owned(),
            Subject::Updates => self.updates.as_ref().map_or("UPDATES", |(_, label)| label).to_owned(),
            // it names its file itself
            Subject::File => return error.into(),
            option => self::option(option),
        };
        let said = format!("{label}: {}", error.message());
        let fill = match (error.subject(), &self.updates) {
            // one value for all places is what most of those want who give one
            (Subject::Updates, Some((arg, _))) if error.message().starts_with("shape []") => match arg {
                OperandArg::Inline(value) => format!("; --fill {value} puts it in every place"),
                OperandArg::Stdin | OperandArg::StdinAs(_) | OperandArg::Path(_) => {
                    "; --fill VALUE puts one value in every place".to_owned()
                }
            },
            _ => String::new(),
        };
        anyhow!("{}{fill}", advised(said, error.advice()))
    }

    /// DATA and, where they are an operand, UPDATES. Plain JSON or CSV takes `--dtype`, else the dtype of the operand that
    /// has one, else what the content of both tells.
    pub(super) fn tensors(&self) -> Result<(Source, Option<Source>)> {
        let data = if self.in_place {
            Found::locked(&self.data, self.input, self.threads, self.together)
        } else {
            Found::load(self.io, &self.data, self.input, self.threads)
        }?;
        let updates = self.updates.as_ref().map(|operand| {
            Found::load(self.io, operand, self.input, self.threads).map_err(|error| or_fill(operand.0, error))
        });
        let updates = updates.transpose()?;
        let asked = Asked::new(self.input.dtype.as_ref());
        let updates = updates.as_ref().map(|found| found.operand(Subject::Updates));
        let operands = (data.operand(Subject::Data), updates);
        let found = typed(operands, &asked, Reading::Void, &|error| self.explain(error))?;
        asked.finish()?;
        Ok(found)
    }

    /// INDICES, of whatever integer dtype.
    pub(super) fn indices(&self) -> Result<Source> {
        let operand = self.indices.as_ref().ok_or_else(|| anyhow!("INDICES: missing"))?;
        integers(&Found::load(self.io, operand, self.input, self.threads)?, &operand.1)
    }

    /// Updates of shape `shape`: the operand, or `--fill`'s one value in its place; their items are, or become,
    /// items of the data.
    pub(super) fn updates(
        &self,
        operand: Option<Source>,
        options: &UpdatesOptions,
        data: &Source,
        shape: &[usize],
    ) -> Result<Updates> {
        let mut source = match (operand, &options.fill) {
            (None, Some(value)) => {
                let item =
                    values::parse_item(special(value, data.dtype()), data.dtype()).map_err(|e| self.explain(e))?;
                if item.len() != data.dtype().itemsize() {
                    bail!("--fill: {value:?} is longer than {}", data.dtype().name());
                }
                Source::item(Meta::new(data.dtype().clone(), shape.to_vec()), item, format!("--fill {value}"))
            }
            (operand, _) => operand.ok_or_else(|| anyhow!("UPDATES: missing"))?,
        };
        let conversion = Conversion::new(source.dtype(), data.dtype()).ok_or_else(|| {
            let (found, expected) = (source.dtype().name(), data.dtype().name());
            let same_bits = matches!(source.dtype().kind(), Kind::Void(size) if *size == data.dtype().itemsize());
            let cure = if same_bits { format!("; --dtype {expected} reads it so") } else { String::new() };
            anyhow!("{}: dtype {found}, expected {expected} as in {}{cure}", source.label(), data.label())
        })?;
        if conversion.narrows() {
            source.settle()?;
            check_widths(&source, &conversion, data.dtype())?;
        }
        let mut updates = Updates::new(source, conversion);
        if self.in_place {
            updates.keep_from(data)?;
        }
        Ok(updates)
    }
}

/// One of two operands that are typed together.
pub(super) struct Operand<'c> {
    pub input: &'c Input,
    /// The number of its tensor.
    pub member: usize,
    /// What errors are about.
    pub subject: Subject,
}

impl<'c> Operand<'c> {
    /// What messages call it.
    fn label(&self) -> String {
        self.input.label_of(self.input.name(self.member).filter(|_| self.is_of_many()))
    }

    /// Whether its label must say which of several tensors it is.
    fn is_of_many(&self) -> bool {
        self.input.name(1).is_some()
    }

    fn open(&self, explain: &dyn Fn(Error) -> anyhow::Error) -> Result<Open<'c>> {
        let Some(values) = self.input.values(self.subject) else {
            return Ok(Open::Typed(self.input.source_as(self.member, self.label())?));
        };
        let values = values.map_err(explain)?;
        match values.dtype() {
            None => Ok(Open::Plain(values)),
            Some(dtype) => Ok(Open::Typed(Source::memory(values.read(dtype).map_err(explain)?, self.label()))),
        }
    }
}

/// A tensor and, where there is one, another. Plain JSON or CSV takes the dtype that is asked for, else that of the
/// operand that has one, else what the content of both tells.
///
/// # Errors
/// What cannot be read so, which `explain` says.
pub(super) fn typed(
    (data, updates): (Operand<'_>, Option<Operand<'_>>),
    asked: &Asked<'_>,
    reading: Reading,
    explain: &dyn Fn(Error) -> anyhow::Error,
) -> Result<(Source, Option<Source>)> {
    let opened = (data.open(explain)?, updates.as_ref().map(|operand| operand.open(explain)).transpose()?);
    // the byte order of a file does not bind the other operand
    let native = |source: &Source| source.dtype().native();
    let typed = |open: Open<'_>, operand: &Operand<'_>, other: Option<DType>| match open {
        Open::Typed(source) => asked.source(source, reading),
        Open::Plain(values) => {
            let tensor = asked.plain_dtype(other).map_or_else(|| values.infer(), |dtype| values.read(&dtype));
            Ok(Source::memory(tensor.map_err(explain)?, operand.label()))
        }
    };
    match (opened, updates) {
        ((data_open, None), _) | ((data_open, Some(_)), None) => Ok((typed(data_open, &data, None)?, None)),
        ((Open::Plain(one), Some(Open::Plain(other))), Some(updates)) if !asked.is_asked() => {
            let mut tensors = values::infer(&[&one, &other]).map_err(explain)?;
            let other = tensors.pop().map(|tensor| Source::memory(tensor, updates.label()));
            let one = tensors.pop().map(|tensor| Source::memory(tensor, data.label()));
            Ok((one.ok_or_else(|| anyhow!("{}: no tensor", data.label()))?, other))
        }
        ((one @ Open::Plain(_), Some(other @ Open::Typed(_))), Some(updates)) => {
            let other = typed(other, &updates, None)?;
            Ok((typed(one, &data, Some(native(&other)))?, Some(other)))
        }
        ((one, Some(other)), Some(updates)) => {
            let one = typed(one, &data, None)?;
            let dtype = native(&one);
            Ok((one, Some(typed(other, &updates, Some(dtype))?)))
        }
    }
}

/// The value of `--fill` as JSON spells it: NumPy prints `nan` and `inf`, which are texts to a dtype of strings.
fn special<'v>(value: &'v str, dtype: &DType) -> &'v str {
    match (dtype.kind(), value) {
        (Kind::Str(_) | Kind::Bytes(_), _) => value,
        (_, "nan") => "NaN",
        (_, "inf") => "Infinity",
        (_, "-inf") => "-Infinity",
        _ => value,
    }
}

/// An operand whose dtype is known, or a text that has none of its own.
enum Open<'c> {
    Typed(Source),
    Plain(Values<'c>),
}

/// What messages call an operand: its role and where it comes from.
pub(super) fn label(role: &str, arg: &OperandArg) -> String {
    match arg {
        OperandArg::Stdin => format!("{role} (standard input)"),
        OperandArg::StdinAs(view) => format!("{role} (standard input):{view}"),
        OperandArg::Path(path) => format!("{role} {}", path.display()),
        OperandArg::Inline(text) if text.chars().count() > 40 => {
            format!("{role} {}...", text.chars().take(40).collect::<String>())
        }
        OperandArg::Inline(text) => format!("{role} {text}"),
    }
}

/// The file as it was named, without the name of a member.
pub(super) fn named(file: &OperandArg, member: Option<&str>) -> String {
    match file {
        OperandArg::Stdin => "-".to_owned(),
        OperandArg::StdinAs(view) => format!("-:{view}"),
        OperandArg::Inline(text) => text.clone(),
        OperandArg::Path(path) => {
            let text = path.display().to_string();
            match member {
                Some(name) => {
                    text.strip_suffix(name).and_then(|t| t.strip_suffix(':')).map_or(text.clone(), str::to_owned)
                }
                None => text,
            }
        }
    }
}

/// The option that a refusal is about.
fn option(subject: Subject) -> String {
    if subject == Subject::Output { "output".to_owned() } else { format!("--{subject}") }
}

/// Refuses standard input for more than one of the operands, which are named by their roles.
///
/// # Errors
/// A second one, by its role.
pub(super) fn one_stdin<'a>(operands: impl IntoIterator<Item = (&'a str, &'a OperandArg)>) -> Result<()> {
    match operands.into_iter().filter(|(_, arg)| arg.is_stdin()).nth(1) {
        Some((role, _)) => bail!("{role}: standard input can stand for one operand only"),
        None => Ok(()),
    }
}

/// An operand as it was found: a file, and which of its tensors.
pub(super) struct Found {
    pub input: Input,
    pub member: usize,
}

impl Found {
    /// Opens an operand that messages call `label`.
    ///
    /// # Errors
    /// What is not there, or no tensor.
    pub(super) fn load(
        io: &Io,
        (arg, label): &(&OperandArg, String),
        how: &InputOptions,
        threads: Threads,
    ) -> Result<Self> {
        let input = open(io, arg, label, how, threads)?;
        Ok(Self { member: input.chosen()?, input })
    }

    /// DATA that is changed where it lies.
    fn locked(
        (arg, label): &(&OperandArg, String),
        how: &InputOptions,
        threads: Threads,
        together: bool,
    ) -> Result<Self> {
        let OperandArg::Path(path) = arg else { bail!("{label}: --in-place changes a file") };
        let options = OpenOptions { format: how.from, threads, locked: true, ..OpenOptions::new(label) };
        let input = options.open(path).map_err(|error| {
            let special = error.kind() == ErrorKind::Unsupported;
            if special { anyhow!("{label}: --in-place changes a regular file") } else { error.into() }
        })?;
        if let Some(why) = input.unchangeable() {
            let why = match why {
                Unchangeable::Text => "this is neither",
                Unchangeable::CheckSums => {
                    "an .npz holds check sums of its members: convert it, or write a new one with -o"
                }
                Unchangeable::Message => "an ONNX tensor is written anew with -o",
            };
            bail!("{label}: --in-place changes a .npy file, a tensor of a .safetensors file or a Zarr store; {why}");
        }
        let mut found = Self { member: input.chosen()?, input };
        found.input.lock(found.member, together)?;
        if let Some(shard) = found.input.elsewhere(found.member)? {
            let name = found.input.name(found.member).unwrap_or_default().to_owned();
            // the index itself is not changed, and others may edit tensors of other shards meanwhile
            drop(found);
            let input = OpenOptions { format: None, ..options }.open(&shard)?;
            found = Self { member: input.pick(Some(&name))?, input };
        }
        let source = found.source()?;
        if source.as_local_file().is_none() && source.as_chunks().is_none() {
            bail!("{label}: --in-place cannot change items of fewer than 8 bits, which share bytes");
        }
        Ok(found)
    }

    fn source(&self) -> Result<Source> {
        Ok(self.input.source(self.member)?)
    }

    fn operand(&self, subject: Subject) -> Operand<'_> {
        Operand { input: &self.input, member: self.member, subject }
    }
}

/// What went wrong with UPDATES. JSON has no word for a NaN or an infinity, so such a word is the name of a file: where there
/// is none, one value for all places is what was meant.
fn or_fill(arg: &OperandArg, error: anyhow::Error) -> anyhow::Error {
    let number = |arg: &OperandArg| match arg {
        OperandArg::Path(path) => {
            path.to_str()?.parse().ok().filter(|value: &f64| !value.is_finite() && !path.exists())
        }
        OperandArg::Stdin | OperandArg::StdinAs(_) | OperandArg::Inline(_) => None,
    };
    match number(arg) {
        None => error,
        Some(value) => {
            let value = if value.is_nan() { "nan".to_owned() } else { value.to_string() };
            anyhow!("{}; --fill {value} puts it in every place", told(&error))
        }
    }
}

/// Opens an operand that messages call `label`.
///
/// # Errors
/// What is not there, or in no known format.
pub(super) fn open(io: &Io, arg: &OperandArg, label: &str, how: &InputOptions, threads: Threads) -> Result<Input> {
    let options = OpenOptions { format: how.from, skip_rows: how.skip_rows, threads, ..OpenOptions::new(label) };
    Ok(match arg {
        OperandArg::Inline(text) if Path::new(text).exists() && !is_json(text, threads) => {
            bail!("{label}: no JSON; the file of that name is given as ./{text}")
        }
        OperandArg::Inline(text) => options.open_json(text.clone().into_bytes()),
        OperandArg::Stdin => options.open_stream(Box::new(io.stdin.clone()))?,
        OperandArg::StdinAs(view) => options.open_stream_as(Box::new(io.stdin.clone()), view)?,
        OperandArg::Path(path) => options.open(path)?,
    })
}

fn is_json(text: &str, threads: Threads) -> bool {
    json::open(text.as_bytes(), Subject::Data, threads).is_ok()
}

/// A tensor of integers: any integer dtype, or a text without a dtype that holds nothing else.
fn integers(found: &Found, label: &str) -> Result<Source> {
    let refuse = |error: Error| refusal(label, &error);
    let source = match found.input.values(Subject::Indices) {
        None => found.source()?,
        Some(values) => {
            let values = values.map_err(refuse)?;
            let tensor = match values.dtype() {
                Some(dtype) => values.read(dtype),
                None => values.infer_indices(),
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
pub(super) fn index_list(list: &IndexList, option: &str, input: &InputOptions, threads: Threads) -> Result<Vec<i64>> {
    let tensor = match list {
        IndexList::List(list) => return Ok(list.clone()),
        IndexList::File(path) => index_file(path, option, input, threads)?,
    };
    if tensor.shape().len() != 1 {
        bail!("{}: shape {:?}, expected 1 axis", tensor.label(), tensor.shape());
    }
    integers_of(&tensor)
}

/// The one integer of `--axis`.
pub(super) fn axis(list: &IndexList, input: &InputOptions, threads: Threads) -> Result<i64> {
    let integers = match list {
        IndexList::List(list) => list.clone(),
        IndexList::File(path) => integers_of(&index_file(path, "--axis", input, threads)?)?,
    };
    match integers[..] {
        [axis] => Ok(axis),
        ref other => bail!("--axis: {} integers, expected one", other.len()),
    }
}

/// All integers of a tensor that an option names.
fn integers_of(tensor: &Source) -> Result<Vec<i64>> {
    all_integers(tensor).map_err(|error| {
        let own = error.subject() == Subject::Indices;
        if own { anyhow!("{}: {}", tensor.label(), error.message()) } else { error.into() }
    })
}

fn index_file(path: &Path, option: &str, input: &InputOptions, threads: Threads) -> Result<Source> {
    let label = format!("{option} {}", path.display());
    let how = OpenOptions { format: input.from, skip_rows: input.skip_rows, threads, ..OpenOptions::new(&label) };
    let input = how.open(path).map_err(|error| match error.kind() {
        ErrorKind::Io(io::ErrorKind::NotFound) => {
            let end = matches!(path.to_str(), Some("end" | "END" | "max" | "None" | "none" | ":" | "inf"));
            let cure = if end { " (INT_MAX is the end of any axis)" } else { "" };
            anyhow!("{label}: neither a list of integers such as 0,1 nor a file{cure}")
        }
        _ => error.into(),
    })?;
    integers(&Found { member: input.chosen()?, input }, &label)
}

/// Whether every item of updates with wider strings fits the data's width.
fn check_widths(updates: &Source, conversion: &Conversion, dtype: &DType) -> crate::error::Result<()> {
    let itemsize = updates.dtype().itemsize();
    each_window(updates, &mut |start, _, items| match items
        .chunks_exact(itemsize)
        .position(|item| !conversion.fits(item))
    {
        None => Ok(()),
        Some(at) => {
            let at = crate::layout::shape::coordinates(start + at, updates.shape());
            Err(malformed!("{}: the item at {at:?} is longer than {}", updates.label(), dtype.name()))
        }
    })
}
