//! How the operands of a command are read.
//!
//! An operand goes the same way in every command: [`OperandReader`] finds the tensor in its file, a [`Member`]; and [`typed`]
//! makes a [`Source`] of it. Any number of operands goes through this together; each command holds its own in fields, so that
//! none of them can be missing.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};

use super::asked::{AskedDTypes, Reinterpret};
use super::io::{Io, Run, note};
use super::keeping::{ANY_MEMBER, put_back};
use super::member::{Member, typed};
use super::messages::{message, option_error, refusal};
use super::meter::Meter;
use super::options::members::{MemberSelection, TakenOptions};
use super::options::{IndexList, InputOptions, Operand, RunOptions, SliceOptions, ThreadOptions};
use super::other_words;
use crate::error::{Error, ErrorKind, Subject};
use crate::format::collection;
use crate::format::dims;
use crate::format::dump_views::DumpShapes;
use crate::format::json;
use crate::format::located::{Located, Place};
use crate::format::name_filter::NameFilter;
use crate::format::open::{Input, OpenOptions};
use crate::format::{Format, Unchangeable};
use crate::layout::axis::BeyondInt64;
use crate::ops::fill::Limits;
use crate::ops::indexed::all_integers;
use crate::ops::slice::SliceArgs;
use crate::storage::platform::allow_open_files;
use crate::storage::source::Source;

/// Says an operator's refusal with the name that the user knows its subject by: one of `operands`, or an option.
pub(super) fn explained<'a>(operands: impl IntoIterator<Item = &'a Operand>, error: Error) -> anyhow::Error {
    let operand = operands.into_iter().find(|operand| operand.role.subject == error.subject());
    let Some(Operand { located, label, role, .. }) = operand else { return option_error(error) };
    let refused = refusal(label, &error);
    if role.subject != Subject::Updates || !error.message().starts_with("shape []") {
        return refused;
    }
    // most users who give one value as UPDATES want it in all places
    let value = if let Place::Json(value) = &located.place { value } else { "VALUE" };
    let puts = if value == "VALUE" { "puts one value" } else { "puts it" };
    anyhow!("{refused}; --fill {value} {puts} in every place")
}

/// Says an operator's refusal with the name of one of many operands, or of an option.
pub(super) fn operands_error(operands: &[Source], error: Error) -> anyhow::Error {
    match error.subject() {
        Subject::Operand(n) => refusal(operands[n].label(), &error),
        _ => option_error(error),
    }
}

/// How the operands of a command are read.
#[derive(Clone, Copy)]
pub(super) struct OperandReader<'a> {
    /// The run. Its threads may share the reading, and the windows of the output.
    pub run: Run<'a>,
    pub options: &'a InputOptions,
    /// Whether there are more files than can be open at the same time.
    reopens: bool,
    /// The dtypes and shapes of files without a header in folders.
    shapes: Option<&'a Arc<DumpShapes>>,
}

impl<'a> OperandReader<'a> {
    /// Returns a reader for a run with the threads that the options or the environment give.
    ///
    /// # Errors
    /// Those of [`Run::new`].
    pub(super) fn new(io: &'a Io, options: &'a InputOptions, threads: &ThreadOptions) -> Result<Self> {
        Ok(Self { run: Run::new(io, threads, &options.address)?, options, reopens: false, shapes: None })
    }

    /// Returns a reader for a run with the threads and the memory that the options give.
    ///
    /// # Errors
    /// Those of [`Run::new`].
    pub(super) fn for_run(io: &'a Io, options: &'a InputOptions, run: &RunOptions) -> Result<Self> {
        let reader = Self::new(io, options, &run.threads)?;
        Ok(Self { run: reader.run.with(run), ..reader })
    }

    /// Returns a reader of `count` files that are sources at the same time. If the system does not let the program have them
    /// all open, each is opened again for every read.
    pub(super) fn for_files(self, count: usize) -> Self {
        Self { reopens: !allow_open_files(count), ..self }
    }

    /// Returns a reader with the dtypes and shapes of files without a header in folders.
    pub(super) fn with_shapes(self, shapes: Option<&'a Arc<DumpShapes>>) -> Self {
        Self { shapes, ..self }
    }

    /// Returns a reader that does not show how much has come from servers, if it is to be `quiet`.
    pub(super) fn quiet(self, quiet: bool) -> Self {
        Self { run: Run { quiet, ..self.run }, ..self }
    }

    /// Returns what `--dtype` asks for, in a command where it may read items as `reading` says.
    pub(super) fn asked(&self, reading: Reinterpret) -> AskedDTypes<'a> {
        AskedDTypes::new(&self.options.dtype, reading)
    }

    /// Records the dtypes of the tensors of several files in `asked`, if needed. Streams and pipes are skipped, because they can be
    /// opened only once.
    pub(super) fn look_ahead(&self, files: &[Operand], taken: &TakenOptions, asked: &AskedDTypes<'_>) {
        for file in files.iter().filter(|_| files.len() > 1 && asked.depends_on_others()) {
            let is_once = matches!(file.located.place, Place::Stdin | Place::Pipe(_));
            let opened = (!is_once).then(|| MemberSelection::new(taken).open(|filter| self.open_taken(file, filter)));
            if let Some(Ok((input, Some(tensors)))) = opened {
                asked.look_at_all(&input, &tensors);
            }
        }
    }

    /// Opens the file of an operand.
    ///
    /// # Errors
    /// There is no such file, or it is in no known format.
    pub(super) fn open(&self, operand: &Operand) -> Result<Arc<Input>> {
        self.open_taken(operand, NameFilter::default())
    }

    /// Opens the file of an operand of which a filter takes tensors: a folder in which it leaves one model is that model.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub(super) fn open_taken(&self, operand: &Operand, filter: NameFilter<'_>) -> Result<Arc<Input>> {
        let Operand { located, label, .. } = operand;
        let mut options = self.open_options(label);
        let is_json = |text: &str| json::open(text.as_bytes(), Subject::Data, self.run.limits.threads).is_ok();
        match &located.place {
            Place::Stdin => options.format = self.options.from,
            Place::Json(text) if Path::new(text).exists() && !is_json(text) => {
                bail!("{label}: no JSON; the file of that name is given as ./{text}")
            }
            _ => {}
        }
        let stdin = || Box::new(self.run.io.stdin.clone());
        let input = match (&located.place, &located.suffix) {
            (Place::Stdin, None) => options.open_stream(stdin())?,
            (Place::Stdin, Some(view)) => options.open_stream_as(stdin(), view)?,
            (Place::Object(_), _) => {
                let _shown = Meter::for_requests(self.run);
                options.open(located)?
            }
            _ => collection::open(&options, located, filter).map_err(|error| or_list(located, error.into()))?,
        };
        self.run.io.containers.add(&input);
        if let (Some(beside), None, false) = (input.beside_message(), input.member(), self.run.quiet) {
            note(&self.run.io.stderr, &format!("{label}: {beside}"))?;
        }
        Ok(input.into())
    }

    /// Returns how files are opened that messages call `label`. `--from` is not for them where standard input is read: the
    /// names and first bytes of files tell their formats, and of a pipe there is often nothing that does.
    pub(super) fn open_options(&self, label: &str) -> OpenOptions {
        let InputOptions { from, skip_rows, delimiter, ref missing, .. } = *self.options;
        let (format, missing) = (from.filter(|_| !self.run.io.arguments.reads_stdin()), missing.clone());
        let Run { limits: Limits { threads, .. }, requests, .. } = self.run;
        let (reopens, shapes, counter) = (self.reopens, self.shapes.cloned(), self.run.io.counter.get().cloned());
        OpenOptions {
            format,
            skip_rows,
            delimiter,
            missing,
            threads,
            requests,
            reopens,
            shapes,
            counter,
            ..OpenOptions::new(label)
        }
    }

    /// Finds the tensor that an operand means.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); there is no such tensor in the file.
    pub(super) fn find(&self, operand: &Operand) -> Result<Member> {
        Member::chosen(self.open(operand)?)
    }

    /// Finds the tensor that an operand means and locks it, to change it in place; if `together`, other processes may
    /// change other parts of it at the same time.
    ///
    /// # Errors
    /// Those of [`find`](Self::find); something that cannot be changed in place.
    pub(super) fn find_locked(&self, operand: &Operand, shared: bool) -> Result<Member> {
        let Operand { located, label, .. } = operand;
        match located.place {
            Place::Stdin | Place::Json(_) => bail!("{label}: --in-place changes a file"),
            Place::Object(_) => bail!("{label}: --in-place changes a local file, not one behind an address"),
            Place::File(_) | Place::Pipe(_) | Place::Store(..) | Place::Folder(_) | Place::Absent(_) => {}
        }
        let options =
            OpenOptions { locked: true, skip_rows: 0, delimiter: None, missing: None, ..self.open_options(label) };
        let located = self.in_its_file(operand, &options)?;
        let input = options.open(&located)?;
        let file = match &operand.located.place {
            Place::Folder(_) => located.without_secrets(),
            _ => operand.file(input.member()),
        };
        check_format_changeable(&input, &file, label)?;
        let member = Member::chosen(input.lock_chosen(&options, shared)?.into())?;
        check_items_changeable(&member.input, member.n, label)?;
        Ok(member)
    }

    /// Finds and locks a `.npy` file whose header is to be changed where it lies.
    ///
    /// # Errors
    /// Those of [`find_locked`](Self::find_locked); any other format, and a view of the bytes of a file.
    pub(super) fn find_locked_npy(&self, operand: &Operand) -> Result<Member> {
        let member = self.find_locked(operand, false)?;
        let format = member.input.format();
        if format == Format::NPY {
            return Ok(member);
        }
        bail!("{}: --in-place changes the header of a .npy, and this is {}: use -o", operand.label, format.argument())
    }

    /// Checks that the header of a `.npy` file counts the items of DATA, which is [locked](Self::find_locked_npy).
    ///
    /// # Errors
    /// Items that share bytes, of which the header counts these.
    pub(super) fn check_header_counts(&self, operand: &Operand, data: &Source) -> Result<()> {
        match data.as_local_file().is_none() {
            true => bail!(
                "{}: --in-place changes the header of a .npy, which counts bytes, and not the items that share them: use -o",
                operand.label
            ),
            false => Ok(()),
        }
    }

    /// Makes sources of all tensors of an operator, typed together.
    ///
    /// # Errors
    /// Those of [`typed`]; a `--dtype` that none of them has a use for.
    pub(super) fn sources(&self, members: &[Member]) -> Result<Vec<Source>> {
        let asked = self.asked(Reinterpret::Void);
        let sources = typed(members, asked.of(None))?;
        asked.finish()?;
        Ok(sources)
    }

    /// Makes a source of the one tensor of an operator.
    ///
    /// # Errors
    /// Those of [`find`](Self::find) and [`sources`](Self::sources).
    pub(super) fn source(&self, operand: &Operand) -> Result<Source> {
        self.source_of(self.find(operand)?)
    }

    /// Makes a source of the one tensor of an operator, which was found.
    ///
    /// # Errors
    /// Those of [`sources`](Self::sources).
    pub(super) fn source_of(&self, member: Member) -> Result<Source> {
        Ok(self.sources(&[member])?.pop().expect("a source for each tensor"))
    }

    /// Makes a source of integers: of an operand of any integer dtype, or of text that holds nothing else.
    ///
    /// # Errors
    /// Those of [`find`](Self::find); another dtype.
    pub(super) fn integers(&self, operand: &Operand) -> Result<Source> {
        self.find(operand)?.integers(&operand.label)
    }

    /// Returns the one integer of `--axis`.
    ///
    /// # Errors
    /// A file that holds no integers; none, or several.
    pub(super) fn axis(&self, list: &IndexList) -> Result<i64> {
        self.axis_of(list, "--axis")
    }

    /// Returns the one integer of an option that names an axis.
    ///
    /// # Errors
    /// Those of [`axis`](Self::axis).
    pub(super) fn axis_of(&self, list: &IndexList, option: &str) -> Result<i64> {
        match self.number_or_list(list, option)?[..] {
            [axis] => Ok(axis),
            ref other => bail!("{option}: {} integers, expected one", other.len()),
        }
    }

    /// Returns the slices that the options name; lists may lie in files.
    ///
    /// # Errors
    /// A file that holds no list of integers; lists of different lengths.
    pub(super) fn slices(&self, options: &SliceOptions) -> Result<SliceArgs> {
        if let Some(at) = &options.at {
            return Ok(at.args.clone().taking_scalars());
        }
        if options.start.is_none() {
            return Ok(SliceArgs::default().taking_scalars());
        }
        let list = |list: &Option<_>, option, beyond| {
            list.as_ref().map(|list| self.integers_of(list, option, 1, beyond)).transpose()
        };
        let bounds = |bounds, option| list(bounds, option, BeyondInt64::Clamped);
        let start = bounds(&options.start, "--start")?.unwrap_or_default();
        let stop = bounds(&options.stop, "--stop")?.unwrap_or_default();
        let step = bounds(&options.step, "--step")?;
        let axes = list(&options.axes, "--axes", BeyondInt64::Refused)?;
        SliceArgs::new(&start, &stop)
            .and_then(|args| step.map_or(Ok(args.clone()), |steps| args.with_steps(&steps)))
            .and_then(|args| axes.map_or(Ok(args.clone()), |axes| args.with_axes(&axes)))
            .map_err(option_error)
    }

    /// Returns the integers of an option: the list itself, or those of a file of one axis.
    ///
    /// # Errors
    /// A file that holds anything else, or an integer beyond int64.
    pub(super) fn index_list(&self, list: &IndexList, option: &str) -> Result<Vec<i64>> {
        self.integers_of(list, option, 1, BeyondInt64::Refused)
    }

    /// Returns the integers of an option as [`index_list`](Self::index_list) does. A file may also hold one integer without
    /// an axis.
    ///
    /// # Errors
    /// A file that holds anything else, or an integer beyond int64.
    pub(super) fn number_or_list(&self, list: &IndexList, option: &str) -> Result<Vec<i64>> {
        self.integers_of(list, option, 0, BeyondInt64::Refused)
    }

    /// Returns the integers of an option; a file of them has at least `min_rank` axes and at most one.
    fn integers_of(&self, list: &IndexList, option: &str, min_rank: usize, beyond: BeyondInt64) -> Result<Vec<i64>> {
        let path = match list {
            IndexList::List(list) => return Ok(list.clone()),
            IndexList::File(path) => path,
        };
        let located = Located::from_path(path);
        let label = format!("{option} {}", located.without_secrets());
        let input = self.open_options(&label).open(&located).map_err(|error| match error.kind() {
            ErrorKind::Io(std::io::ErrorKind::NotFound) => {
                let end = matches!(path.to_str(), Some("end" | "END" | "max" | "None" | "none" | ":" | "inf"));
                let cure = if end { " (INT_MAX is the end of any axis)" } else { "" };
                anyhow!("{label}: neither a list of integers such as 0,1 nor a file{cure}")
            }
            _ => error.into(),
        })?;
        self.run.io.containers.add(&input);
        let tensor = Member::chosen(input.into())?.integers(&label)?;
        if !(min_rank..=1).contains(&tensor.shape().len()) {
            let expected = if min_rank == 0 { "one integer or 1 axis" } else { "1 axis" };
            bail!("{}: shape {:?}, expected {expected}", tensor.label(), tensor.shape());
        }
        all_integers(&tensor, beyond).map_err(|error| match error.subject() {
            Subject::Indices => anyhow!("{}: {}", tensor.label(), error.message()),
            _ => error.into(),
        })
    }
}

/// Adds to the reason why there is no such file how a list of numbers is given, if one was typed.
fn or_list(located: &Located, error: anyhow::Error) -> anyhow::Error {
    let is_list = |text: &&str| text.contains(',') && other_words::is_list(text);
    match located.typed().to_str().filter(|_| located.is_absent()).filter(is_list) {
        Some(list) => anyhow!("{}; a list is given as '[{list}]'", message(&error)),
        None => error,
    }
}

/// Checks that tensors of a file, which was typed as `file` and messages call `label`, can be changed in place.
///
/// # Errors
/// Its format cannot.
pub(super) fn check_format_changeable(input: &Input, file: &str, label: &str) -> Result<()> {
    if let Some(why) = input.format().unchangeable() {
        let why = match why {
            Unchangeable::Text => "this is neither".to_owned(),
            Unchangeable::CheckSums => {
                let member = input.chosen().ok().and_then(|n| input.name(n));
                let member = member.unwrap_or(ANY_MEMBER).to_owned();
                let cure = put_back(input, file, &[member]);
                format!("an .npz holds check sums of its members: {cure}")
            }
            Unchangeable::Message => "an ONNX tensor is written anew with -o".to_owned(),
        };
        bail!("{label}: --in-place changes a .npy file, a tensor of a .safetensors file or a Zarr store; {why}");
    }
    Ok(())
}

/// Checks that the items of tensor `n`, which messages call `label`, can be changed in place.
///
/// # Errors
/// They share bytes.
pub(super) fn check_items_changeable(input: &Input, n: usize, label: &str) -> Result<()> {
    if !input.source(n)?.is_changeable() {
        bail!("{label}: --in-place cannot change items of fewer than 8 bits, which share bytes");
    }
    Ok(())
}

/// Returns slices with the axes of a tensor in the place of names of its dimensions.
///
/// # Errors
/// A name that none of its dimensions has.
pub(super) fn slices_of(slices: &SliceArgs, data: &Source) -> Result<SliceArgs> {
    dims::slices_of(slices, data).map_err(|error| anyhow!("--{}: {error}", error.subject()))
}
