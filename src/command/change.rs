//! What the operators that change DATA have in common: DATA and the new items are opened together, checked against each
//! other, and linked.
//!
//! The steps are types. [`Change::begin`] settles where the output goes; opened, the change is an
//! [`OpenChange`], whose shapes the operator checks; linked, a [`LinkedChange`], from which the operator makes its output.

use anyhow::{Result, anyhow, bail};

use super::destination::Destination;
use super::dry_run::Report;
use super::io::{Io, Outcome};
use super::messages::{about_items, told};
use super::options::{ChangeOptions, OperandArg, UpdatesOptions};
use super::sources::{DATA, Operand, OperandReader, UPDATES, check_stdin, explained};
use crate::error::{Error, Subject, malformed};
use crate::format::stored_dtype::hold_to_rule;
use crate::format::values;
use crate::item::dtype::{DType, Kind};
use crate::item::meta::Meta;
use crate::ops::condition::Condition;
use crate::ops::converted::Converted;
use crate::ops::fill::{Fill, Limits};
use crate::ops::indexed::{IndexSpec, ScatterOperands, ScatterRule, each_window};
use crate::ops::matcher::Matcher;
use crate::ops::selection::Selection;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// An operator that changes DATA, before anything is opened.
pub(super) struct Change<'a> {
    pub reader: OperandReader<'a>,
    destination: Destination<'a>,
    /// Whether other processes may change other parts of DATA at the same time.
    together: bool,
    data: Operand<'a>,
    /// UPDATES; `None` if one value for all places is given by `--fill`.
    updates: Option<Operand<'a>>,
    fill: Option<&'a str>,
}

impl<'a> Change<'a> {
    /// Settles where the output goes. `indices` is the operand beside DATA and UPDATES, if the operator has it.
    ///
    /// # Errors
    /// Standard input for more than one operand; those of [`Destination::of`].
    pub(super) fn begin(
        io: &'a Io,
        data: &'a OperandArg,
        indices: Option<&Operand<'_>>,
        updates: &'a UpdatesOptions,
        options: &'a ChangeOptions,
    ) -> Result<Self> {
        let ChangeOptions { input, output, edit, run } = options;
        let reader = OperandReader::for_run(io, input, run)?;
        let fill = updates.fill.as_deref();
        let (data, updates) = (DATA.of(data), updates.updates.as_ref().map(|arg| UPDATES.of(arg)));
        check_stdin([&data].into_iter().chain(indices).chain(&updates))?;
        let destination = match edit.in_place {
            true => Destination::in_place(io, output, run.quiet),
            false => Destination::of(io, output, run.quiet)?.of_an_edit(),
        };
        Ok(Self { reader, destination, together: output.parts.part.is_some(), data, updates, fill })
    }

    /// Opens DATA and UPDATES and types them together.
    ///
    /// # Errors
    /// Those of finding and typing them.
    pub(super) fn open(self) -> Result<OpenChange<'a>> {
        let data = match self.destination.is_in_place() {
            true => self.reader.find_locked(&self.data, self.together),
            false => self.reader.find(&self.data),
        }?;
        let find = |operand: &Operand<'_>| self.reader.find(operand).map_err(|error| or_fill(operand.arg, error));
        let updates = self.updates.as_ref().map(find).transpose()?;
        let found: Vec<_> = [&data].into_iter().chain(&updates).collect();
        let mut sources = self.reader.sources(&found)?.into_iter();
        let data = sources.next().expect("a source for DATA");
        if self.destination.is_in_place() && !data.is_changeable() {
            let label = &self.data.label;
            bail!("{label}: --in-place cannot change items that share bytes in a file in Fortran order: use -o");
        }
        Ok(OpenChange { change: self, data, updates: sources.next() })
    }
}

/// An operator that changes DATA, with open operands.
pub(super) struct OpenChange<'a> {
    change: Change<'a>,
    pub data: Source,
    updates: Option<Source>,
}

impl<'a> OpenChange<'a> {
    /// Returns the shape of UPDATES; `None` if `--fill` stands in their place, which takes any.
    pub(super) fn updates_shape(&self) -> Option<&[usize]> {
        self.updates.as_ref().map(Source::shape)
    }

    /// Says a refusal of the library in the names that the user knows.
    pub(super) fn explain(&self, error: Error) -> anyhow::Error {
        explained([&self.change.data].into_iter().chain(&self.change.updates), error)
    }

    /// Returns a condition as one on the items of DATA.
    ///
    /// # Errors
    /// A value that DATA cannot hold; a condition that its dtype does not have.
    pub(super) fn matcher(&mut self, condition: &Condition<String>) -> Result<Matcher> {
        if self.change.destination.is_in_place() {
            // a condition looks at values, so that no byte may hold more than its item
            hold_to_rule(&mut self.data)?;
        }
        let dtype = self.data.dtype();
        let refuse = |error: Error| anyhow!("--where: {}", error.message());
        let condition = condition.try_map(|value| item(value, dtype)).map_err(refuse)?;
        Matcher::new(dtype, &condition).map_err(refuse)
    }

    /// Links DATA with updates of shape `shape`, whose items are or become items of DATA.
    ///
    /// # Errors
    /// A value or dtype that DATA cannot take; of reading updates that lie in the file that is changed.
    pub(super) fn link(self, shape: &[usize]) -> Result<LinkedChange<'a>> {
        let OpenChange { change: Change { reader, destination, data: operand, fill, .. }, data, updates } = self;
        let mut source = match updates {
            Some(source) => source,
            None => {
                let value = fill.expect("the command line has UPDATES or --fill");
                let item = item(value, data.dtype()).map_err(|error| explained([&operand], error))?;
                Source::item(Meta::new(data.dtype().clone(), shape.to_vec()), item, format!("--fill {value}"))
            }
        };
        let conversion = Conversion::new(source.dtype(), data.dtype()).ok_or_else(|| {
            let (found, expected) = (source.dtype().name(), data.dtype().name());
            let same_bits = matches!(source.dtype().kind(), Kind::Void(size) if *size == data.dtype().itemsize());
            let cure = if same_bits { format!("; --dtype {expected} reads it so") } else { String::new() };
            let message =
                format!("{}: dtype {found}, expected {expected} as in {}{cure}", source.label(), data.label());
            anyhow!(if same_bits { message } else { about_items(message, source.dtype()) })
        })?;
        if conversion.narrows() {
            source.settle()?;
            check_widths(&source, &conversion, data.dtype())?;
        }
        let mut updates = Converted::new(source, conversion);
        let base = match destination.is_in_place() {
            true => {
                updates.keep_from(&data)?;
                Selection::in_place(data)
            }
            false => Selection::whole(data),
        };
        Ok(LinkedChange { base, updates, destination, limits: reader.limits })
    }

    /// Opens the index tensor, checks all shapes, and links DATA with the updates.
    ///
    /// # Errors
    /// An index tensor that holds no integers; those of `check` and [`link`](Self::link).
    pub(super) fn by_indices(
        self,
        indices: &Operand<'_>,
        check: impl FnOnce(ScatterShapes<'_>) -> Result<IndexSpec, Error>,
    ) -> Result<IndexedChange<'a>> {
        let source = self.change.reader.integers(indices)?;
        let shapes = ScatterShapes { data: self.data.shape(), indices: source.shape(), updates: self.updates_shape() };
        let all = || [&self.change.data, indices].into_iter().chain(&self.change.updates);
        let shapes = check(shapes).map_err(|error| explained(all(), error))?;
        let linked = self.link(&shapes.updates)?;
        Ok(IndexedChange { shapes, indices: source, linked })
    }
}

/// The shapes of the operands of a scatter by indices.
pub(super) struct ScatterShapes<'a> {
    pub data: &'a [usize],
    pub indices: &'a [usize],
    /// `None` for one value that stands in all places.
    pub updates: Option<&'a [usize]>,
}

/// An operator that changes DATA, linked to what it reads.
pub(super) struct LinkedChange<'a> {
    /// A copy of DATA, or DATA in place.
    pub base: Selection,
    pub updates: Converted,
    pub destination: Destination<'a>,
    pub limits: Limits,
}

/// A scatter by indices, linked to what it reads.
pub(super) struct IndexedChange<'a> {
    pub linked: LinkedChange<'a>,
    pub indices: Source,
    pub shapes: IndexSpec,
}

impl<'a> IndexedChange<'a> {
    /// Returns the report of a dry run of the operator called `title`, with a line for each operand.
    pub(super) fn report(&self, title: &str) -> Report {
        let mut report = self.linked.destination.report(title);
        report.source(&self.linked.base.source);
        report.source(&self.indices);
        report.source(&self.linked.updates.source);
        report
    }

    /// Resolves the index tensor, which messages call by `operand`, and writes the output.
    ///
    /// # Errors
    /// An index out of range or, where that is refused, one that repeats another; of reading and writing.
    pub(super) fn write(self, operand: &Operand<'_>, rule: ScatterRule, report: Report) -> Result<Outcome> {
        let Self { linked: LinkedChange { base, updates, destination, limits }, indices, shapes } = self;
        let fill = shapes.link(ScatterOperands { base, indices, updates }, rule, limits);
        let fill: Box<dyn Fill> = Box::new(fill.map_err(|error| explained([operand], error))?);
        destination.put(fill, limits, report)
    }
}

/// Adds to what went wrong with UPDATES that `--fill` may have been meant: JSON has no word for a NaN or an infinity, so
/// such a word is the name of a file, and where there is no such file, one value for all places was meant.
fn or_fill(arg: &OperandArg, error: anyhow::Error) -> anyhow::Error {
    let number = match arg {
        OperandArg::Path(path) if !path.exists() => path.to_str().and_then(|text| text.parse::<f64>().ok()),
        OperandArg::Path(_) | OperandArg::Stdin | OperandArg::StdinAs(_) | OperandArg::Inline(_) => None,
    };
    match number.filter(|value| !value.is_finite()) {
        None => error,
        Some(value) => {
            let value = if value.is_nan() { "nan".to_owned() } else { value.to_string() };
            anyhow!("{}; --fill {value} puts it in every place", told(&error))
        }
    }
}

/// Returns the item that the value of `--fill` or of a condition is.
///
/// # Errors
/// Items of that dtype cannot be it.
fn item(value: &str, dtype: &DType) -> Result<Vec<u8>, Error> {
    let item = values::parse_item(special(value, dtype), dtype)?;
    match item.len() == dtype.itemsize() {
        true => Ok(item),
        false => Err(Error::new(Subject::Fill, format!("{value:?} is longer than {}", dtype.name()))),
    }
}

/// Returns the value of `--fill` as JSON spells it: NumPy prints `nan` and `inf`, which are texts to a dtype of strings.
fn special<'v>(value: &'v str, dtype: &DType) -> &'v str {
    match (dtype.kind(), value.trim()) {
        (Kind::Str(_) | Kind::Bytes(_), _) => value,
        (_, "nan") => "NaN",
        (_, "inf") => "Infinity",
        (_, "-inf") => "-Infinity",
        _ => value,
    }
}

/// Checks whether every item of updates with wider strings fits the width of DATA.
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
