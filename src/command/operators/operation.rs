//! The run of an operator: it opens the operands, resolves a [`Call`], links it to the operands and writes the output;
//! changes of several tensors in place are one run.
//!
//! [`Operation::begin`] and [`Operation::begin_change`] resolve the destination before an operand is opened. An
//! [`OpenOperation`] has open operands and runs a call.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};

use crate::command::messages::{counted, message as message_of, message, unless_closed};
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::{
    OpenMode, OperandReader, check_format_changeable, check_items_changeable, explained,
};
use crate::command::options::{ChangeOptions, Operand, OperatorOptions, UpdatesOptions, check_stdin};
use crate::command::outputs::destination::{Destination, OneOfSeveral};
use crate::command::outputs::dry_run::Report;
use crate::command::process::io::{Io, Outcome};
use crate::container::content::MemberFile;
use crate::container::glob::Glob;
use crate::container::names::{NameFilter, by_numbers};
use crate::error::{Context, Error, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::meta::Meta;
use crate::narrow::stored_dtype::hold_to_rule;
use crate::opening::collection;
use crate::opening::input::OpenOptions;
use crate::opening::located::{Located, Place};
use crate::operators::call::{Operands, widened};
use crate::operators::fill::Limits;
use crate::ops::call::{Call, Resolved, ResolvedCall};
use crate::ops::condition::Condition;
use crate::ops::matcher::Matcher;
use crate::ops::tally::Application;
use crate::storage::source::Source;
use crate::untyped;
use crate::untyped::cells::TableOptions;
use crate::writing::OutputTensor;

/// The maximum number of bytes of data that empty index tuples may reduce. Such tuples take no room in a file, but each
/// one reduces all of the data.
const MAX_BYTES_PASSED: usize = 1 << 34;

pub(crate) struct Operation<'a> {
    pub reader: OperandReader<'a>,
    pub destination: Destination<'a>,
    shared: bool,
    /// One of several tensors that are changed in place, in a locked file.
    edited: Option<Member>,
    pub data: Cow<'a, Operand>,
    indices: Option<&'a Operand>,
    updates: Option<&'a Operand>,
    /// The value of `--fill`, which replaces UPDATES or fills places without data.
    pub fill: Option<&'a str>,
}

impl<'a> Operation<'a> {
    pub(crate) fn begin(
        io: &'a Io,
        data: &'a Operand,
        indices: Option<&'a Operand>,
        options: &'a OperatorOptions,
    ) -> Result<Self> {
        check_stdin([data].into_iter().chain(indices))?;
        let (destination, reader) = settle(io, options, false)?;
        let data = Cow::Borrowed(data);
        Ok(Self { reader, destination, shared: false, edited: None, data, indices, updates: None, fill: None })
    }

    pub(crate) fn begin_change(
        io: &'a Io,
        data: &'a Operand,
        indices: Option<&'a Operand>,
        updates: &'a UpdatesOptions,
        options: &'a ChangeOptions,
        edited: Option<(Member, OneOfSeveral<'a>)>,
    ) -> Result<Self> {
        let ChangeOptions { input, output, edit, run } = options;
        let (updates, fill) = (updates.updates.as_ref(), updates.fill.as_deref());
        check_stdin([data].into_iter().chain(indices).chain(updates))?;
        let reader = OperandReader::new(io, input, run)?;
        let (edited, one_of_several) = edited.unzip();
        let mut destination = Destination::of(reader.run, output, edit.in_place)?;
        (destination.is_edit, destination.one_of_several) = (true, one_of_several);
        let mut data = Cow::Borrowed(data);
        if let Some(member) = &edited {
            data.to_mut().label.clone_from(&member.label);
        }
        let together = output.parts.part.is_some();
        Ok(Self { reader, destination, shared: together, edited, data, indices, updates, fill })
    }

    /// Opens DATA and UPDATES, which are typed together.
    pub(crate) fn open(self) -> Result<OpenOperation<'a>> {
        let in_place = self.destination.is_in_place();
        let find = |operand: &Operand, opening| Member::chosen(self.reader.open(operand, opening)?);
        let data = match (&self.edited, in_place) {
            (Some(member), _) => member.clone(),
            (None, true) => find(&self.data, OpenMode::Locked { is_shared: self.shared })?,
            (None, false) => find(&self.data, OpenMode::Plain)?,
        };
        let updates = self
            .updates
            .map(|operand| find(operand, OpenMode::Plain).map_err(|error| or_fill(&operand.located, error)));
        let updates = updates.transpose()?;
        let members: Vec<_> = [data].into_iter().chain(updates).collect();
        let mut sources = self.reader.read(&members)?.into_iter();
        let data = sources.next().expect("a source for DATA");
        if in_place && !data.is_changeable() {
            let label = &self.data.label;
            bail!("{label}: --in-place cannot change items that share bytes in a file in Fortran order: use -o");
        }
        let operands = Operands { updates: sources.next(), in_place, ..Operands::from(data) };
        Ok(OpenOperation { operation: self, operands })
    }

    pub(crate) fn with_data(self, data: Source) -> OpenOperation<'a> {
        OpenOperation { operation: self, operands: data.into() }
    }
}

/// An operator with open DATA and UPDATES.
pub(crate) struct OpenOperation<'a> {
    operation: Operation<'a>,
    operands: Operands,
}

impl<'a> OpenOperation<'a> {
    pub(crate) fn data(&self) -> &Source {
        &self.operands.data[0]
    }

    pub(crate) fn is_one_of_several(&self) -> bool {
        self.operation.edited.is_some()
    }

    /// Names the arguments of a refusal as the user typed them.
    pub(crate) fn explain(&self, error: Error) -> anyhow::Error {
        let Operation { data, indices, updates, .. } = &self.operation;
        explained([&**data].into_iter().chain(*indices).chain(*updates), error)
    }

    pub(crate) fn resolve(&self, call: &Call) -> Result<ResolvedCall> {
        let [indices, updates] =
            [&self.operands.indices, &self.operands.updates].map(|operand| operand.as_ref().map(Source::shape));
        call.resolve(&[self.data().meta()], indices, updates).map_err(|error| self.explain(error))
    }

    pub(crate) fn matcher(&mut self, condition: &Condition<String>) -> Result<Matcher> {
        if self.operands.in_place {
            // A condition compares values, so every byte must hold only its item.
            hold_to_rule(&mut self.operands.data[0])?;
        }
        let dtype = self.data().dtype();
        let has_nan = Matcher::new(dtype, &Condition::Nan).is_ok();
        let refuse = |error: Error| match condition.value().filter(|value| has_nan && is_word_for_nan(value)) {
            Some(_) => anyhow!("--where {condition}: {}: {}", error.message(), instead_of_nan(condition)),
            None => anyhow!("--where: {}", error.message()),
        };
        let on_items = condition.try_map(|value| item(value, dtype)).map_err(refuse)?;
        let matcher = Matcher::new(dtype, &on_items).map_err(refuse)?;
        let is_nan = |item: &Vec<u8>| {
            Matcher::new(dtype, &Condition::Nan).is_ok_and(|nan| nan.replace(&mut item.clone(), item) > 0)
        };
        if on_items.value().is_some_and(is_nan) {
            bail!("--where {condition}: no number compares with a NaN: {}", instead_of_nan(condition));
        }
        Ok(matcher)
    }

    /// Returns the item of `--fill` and its label. If the strings of DATA have a free width, DATA becomes as wide as
    /// the item.
    pub(crate) fn filling(&mut self) -> Result<Option<(Vec<u8>, String)>> {
        let Some(value) = self.operation.fill else { return Ok(None) };
        let refuse = |this: &Self, error| this.explain(error);
        if self.data().has_free_width() {
            let wide = untyped::dtype_of_string(value, self.data().dtype()).map_err(|error| refuse(self, error))?;
            let data = self.operands.data.remove(0);
            self.operands.data.insert(0, widened(data, &wide)?);
        }
        let item = item(value, self.data().dtype()).map_err(|error| refuse(self, error))?;
        Ok(Some((item, format!("--fill {value}"))))
    }

    pub(crate) fn into_parts(self) -> (Destination<'a>, Limits, Source) {
        let Self { operation: Operation { destination, reader, .. }, mut operands } = self;
        (destination, reader.run.limits, operands.data.remove(0))
    }

    pub(crate) fn run(mut self, title: &str, call: &Call) -> Result<Outcome> {
        let limits = self.operation.reader.run.limits;
        if let Some(operand) = self.operation.indices {
            let member = Member::chosen(self.operation.reader.open(operand, OpenMode::Plain)?)?;
            self.operands.indices = Some(member.integers(&operand.label)?);
        }
        let call = self.resolve(call)?;
        if let (Some((item, label)), Some(shape)) = (self.filling()?, &call.updates) {
            let meta = Meta::c_order(self.data().dtype().clone(), shape.clone());
            self.operands.updates = Some(Source::item(meta, item, label));
            check_passes(&call, &self.operands)?;
        }
        let operands = std::mem::take(&mut self.operands);
        let report = self.operation.destination.report(title).with(&call, operands.sources());
        let cure = operands.updates.as_ref().and_then(|updates| cure_of(updates.dtype(), operands.data[0].dtype()));
        let fill = operands.link_resolved(call, limits).map_err(|error| match (error.subject(), cure) {
            // The message names both operands.
            (Subject::Dtype, Some(cure)) => anyhow!("{error}{cure}"),
            (Subject::Dtype, None) => error.into(),
            _ => self.explain(error),
        })?;
        self.operation.destination.put(OutputTensor::new(fill, limits), report)
    }
}

pub(crate) fn settle<'a>(
    io: &'a Io,
    options: &'a OperatorOptions,
    in_place: bool,
) -> Result<(Destination<'a>, OperandReader<'a>)> {
    let reader = OperandReader::new(io, &options.input, &options.run)?;
    Ok((Destination::of(reader.run, &options.output, in_place)?, reader))
}

/// Void updates whose items have the size of DATA's items can be read as that dtype.
fn cure_of(updates: &DType, data: &DType) -> Option<String> {
    let same_bits = matches!(updates.kind(), Kind::Void(size) if *size == data.itemsize());
    same_bits.then(|| format!("; --dtype {} reads it so", data.name()))
}

/// Refuses `--fill` for empty index tuples that would reduce the data for too long.
fn check_passes(call: &ResolvedCall, operands: &Operands) -> Result<()> {
    let (Resolved::Scattered(spec, rule), Some(indices)) = (&call.resolved, &operands.indices) else { return Ok(()) };
    let count = spec.count();
    let passed = count.saturating_mul(operands.data[0].bytes().max(1));
    let reduces = !matches!(rule.application, Application::Replace);
    if indices.bytes() == 0 && reduces && count > 1 && passed > MAX_BYTES_PASSED {
        let label = indices.label();
        bail!("{label}: {count} empty tuples, each reducing all of DATA, are too many with --fill");
    }
    Ok(())
}

/// Suggests `--fill` for UPDATES such as `nan`. JSON has no word for a NaN or an infinity, so the word is taken for the
/// name of a file.
fn or_fill(located: &Located, error: anyhow::Error) -> anyhow::Error {
    let word = located.typed().to_str().filter(|_| located.is_absent());
    let number = word.and_then(|text| text.parse::<f64>().ok());
    match number.filter(|value| !value.is_finite()) {
        None => error,
        Some(value) => {
            let value = if value.is_nan() { "nan".to_owned() } else { value.to_string() };
            anyhow!("{}; --fill {value} puts it in every place", message(&error))
        }
    }
}

fn item(value: &str, dtype: &DType) -> Result<Vec<u8>, Error> {
    let item = untyped::parse_item(value, dtype)?;
    match item.len() == dtype.itemsize() {
        true => Ok(item),
        false => Err(Error::new(Subject::Fill, format!("{value:?} is longer than {}", dtype.name()))),
    }
}

pub(crate) fn is_word_for_nan(text: &str) -> bool {
    ["none", "null", "nil", "na", "n/a", "-nan", "+nan"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

fn instead_of_nan(condition: &Condition<String>) -> &'static str {
    match condition {
        Condition::NotEqual(_) => "use --where finite, inf or nan",
        Condition::Nan
        | Condition::Inf
        | Condition::Finite
        | Condition::Equal(_)
        | Condition::Less(_)
        | Condition::AtMost(_)
        | Condition::Greater(_)
        | Condition::AtLeast(_) => "use --where nan",
    }
}

/// `line` makes the final message from the number of tensors.
pub(crate) fn run_for_each(
    io: &Io,
    operands: (&Operand, Option<&Operand>),
    updates: &UpdatesOptions,
    options: &ChangeOptions,
    line: &dyn Fn(usize) -> String,
    run: &dyn Fn(Operation<'_>) -> Result<Outcome>,
) -> Result<Outcome> {
    let (data, indices) = operands;
    let is_pattern = data.located.suffix.as_deref().is_some_and(|after| Glob::new(after).is_pattern());
    let may_be_several = is_pattern && options.edit.in_place && updates.fill.is_some();
    let members = match may_be_several {
        true => OperandReader::new(io, &options.input, &options.run)?.find_all_locked(data)?,
        false => None,
    };
    let Some(members) = members else {
        return run(Operation::begin_change(io, data, indices, updates, options, None)?);
    };
    if let Some(indices) = indices.filter(|indices| indices.located.is_stdin()) {
        bail!("{}: standard input is read once, and DATA is several tensors: name a file", indices.label);
    }
    if options.output.parts.is_given() {
        bail!("--part: takes one tensor, and {} has several", data.label);
    }
    let count = members.len();
    let reports = RefCell::new(Report::default());
    let all = |is_check: bool| {
        members.iter().try_for_each(|(member, name)| {
            let edited = Some((member.clone(), OneOfSeveral { name, is_check, reports: &reports }));
            let done = run(Operation::begin_change(io, data, indices, updates, options, edited)?);
            // errors about options do not name the tensor
            done.map(drop).map_err(|error| match message_of(&error) {
                message if message.contains(&member.label) => error,
                message => anyhow!("{}: {message}", member.label),
            })
        })
    };
    let is_dry_run = options.output.is_dry_run();
    all(!is_dry_run)?;
    if is_dry_run {
        return reports.into_inner().print(io);
    }
    all(false)?;
    if !options.run.quiet {
        use std::io::Write as _;
        unless_closed(writeln!(io.stdout.clone(), "{}", line(count))).context("standard output")?;
    }
    Ok(Outcome::Done)
}

pub(crate) fn changed(count: usize) -> String {
    format!("{} changed", counted(count, "tensor", "tensors"))
}

impl OperandReader<'_> {
    /// Resolves `FOLDER:NAME`. Other operands stay unchanged.
    pub(crate) fn in_its_file<'o>(&self, operand: &'o Operand, options: &OpenOptions) -> Result<Cow<'o, Located>> {
        let located = &operand.located;
        if !matches!(located.place, Place::Folder(_)) {
            return Ok(Cow::Borrowed(located));
        }
        if located.suffix.is_none() {
            bail!("{}: --in-place changes one tensor: name it after a colon", operand.label);
        }
        let input =
            collection::open(&OpenOptions { locked: false, ..options.clone() }, located, NameFilter::default())?;
        let MemberFile { path, member, .. } = input.file_of(input.chosen()?)?;
        let path = path.expect("a tensor of a folder is in a file");
        Ok(Cow::Owned(Located::from_path(path).with_member(member)))
    }

    /// Returns `None` if the suffix is not a pattern.
    fn find_all_locked(&self, operand: &Operand) -> Result<Option<Vec<(Member, String)>>> {
        let Operand { located, label, .. } = operand;
        let options = OpenOptions { table: TableOptions::default(), ..self.open_options(label) };
        let input = match &located.place {
            Place::File(_) | Place::Store(..) | Place::Folder(_) => {
                collection::open(&options, located, NameFilter::default())?
            }
            Place::Stdin | Place::Json(_) | Place::Pipe(_) | Place::Object(_) | Place::Absent(_) => return Ok(None),
        };
        if input.glob().is_none() {
            return Ok(None);
        }
        let own = located.file().expect("it is a file or a folder");
        let mut files: BTreeMap<PathBuf, Vec<(Option<String>, String, String)>> = BTreeMap::new();
        for n in input.select()? {
            let MemberFile { path, member, .. } = input.file_of(n)?;
            let name = input.name(n);
            let (path, member) = match path {
                Some(path) => (path, member),
                None => (own.clone(), name.map(str::to_owned)),
            };
            files.entry(path).or_default().push((member, input.label_of(name), name.unwrap_or_default().to_owned()));
        }
        drop(input);
        let mut members = Vec::new();
        for (path, tensors) in files {
            let options = OpenOptions { locked: true, format: None, ..options.clone() };
            let file = path.display().to_string();
            let input = Arc::new(options.open(&Located::from_path(path))?);
            for (member, label, name) in tensors {
                let n = input.pick(member.as_deref())?;
                check_format_changeable(&input, Some(n), &file, &label)?;
                check_items_changeable(&input, n, &label)?;
                input.lock(n, false)?;
                members.push((Member { input: Arc::clone(&input), n, label }, name));
            }
        }
        // from the order of the locks to that of names
        members.sort_by(|(a, _), (b, _)| by_numbers(&a.label, &b.label));
        Ok(Some(members))
    }
}
