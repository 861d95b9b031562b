//! Where the output of a command goes: a new file or folder, standard output, DATA in place, a part of either, or, in a
//! dry run, nowhere.
//!
//! A [`Destination`] is settled from the options before any operand is read, so that a name that cannot be written is
//! refused before a long computation, and so that nothing later asks the file system again. It takes the tensors of the
//! output once, with [`Destination::write`].

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Result, anyhow, bail};

use super::dry_run::Report;
use super::io::Io;
use super::meter::Meter;
use super::options::OutputOptions;
use super::outcome::{Outcome, complain};
use super::parts;
use crate::error::{Context, ErrorKind, Subject};
use crate::format::interface::TextOptions;
use crate::format::write::{self, Plan, Share, Work};
use crate::format::{Format, files};
use crate::item::meta::Meta;
use crate::ops::fill::{Fill, Limits};
use crate::storage::signals;
use crate::storage::source::{Notes, Source, merged};
use crate::storage::target::{OpenOutput, Target};

/// Where the output of a command goes.
pub(super) struct Destination<'a> {
    io: &'a Io,
    options: &'a OutputOptions,
    quiet: bool,
    place: OutputPlace,
}

enum OutputPlace {
    /// The file of DATA itself.
    InPlace,
    /// A file or folder of its own, a device, or standard output.
    New { format: Format, target: Target },
}

/// What is known of an output beside its tensors.
pub(super) struct Origin<'a> {
    /// The metadata of the files that its tensors come from.
    pub notes: Notes,
    /// Returns whether the user left out the tensor of that name.
    pub left_out: &'a dyn Fn(&str) -> bool,
}

impl<'a> Destination<'a> {
    /// Settles where the output goes that the options name.
    ///
    /// # Errors
    /// The name does not tell the format; nothing can be written there; parts or a folder on standard output; parts that
    /// would each read standard input.
    pub(super) fn of(io: &'a Io, options: &'a OutputOptions, quiet: bool) -> Result<Self> {
        let path = options.output.as_deref().filter(|path| *path != Path::new("-"));
        let in_parts = options.parts.is_given();
        if in_parts && path.is_none() {
            bail!("--part: needs -o to a .zarr or .npy");
        }
        let format = options.format()?;
        if format.is_folder() && path.is_none() {
            bail!("standard output: {} is a folder: name it with -o", format.argument());
        }
        if in_parts {
            io.arguments.refuse_stdin()?;
        }
        let target = match path {
            None => Target::Stdout(io.stdout.clone()),
            // the output that parts have made themselves may exist
            Some(path) => {
                let target = files::target(path, options.label(), format, options.no_clobber && !in_parts);
                target.map_err(|error| match error.kind() {
                    ErrorKind::Io(io::ErrorKind::AlreadyExists) => anyhow!("{error}, and --no-clobber keeps it"),
                    _ => error.into(),
                })?
            }
        };
        Ok(Self { io, options, quiet, place: OutputPlace::New { format, target } })
    }

    /// Returns the destination of an operator that changes DATA in place.
    pub(super) fn in_place(io: &'a Io, options: &'a OutputOptions, quiet: bool) -> Self {
        Self { io, options, quiet, place: OutputPlace::InPlace }
    }

    /// Returns whether DATA is changed in place.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self.place, OutputPlace::InPlace)
    }

    /// Returns the format of a new output; `None` in place.
    pub(super) fn format(&self) -> Option<Format> {
        match &self.place {
            OutputPlace::InPlace => None,
            OutputPlace::New { format, .. } => Some(*format),
        }
    }

    /// Returns an empty report of a dry run; of any other run it takes no lines.
    pub(super) fn report(&self, title: &str) -> Report {
        Report::new(title, self.options.dry_run)
    }

    /// Writes the one tensor of an operator: under the name that DATA has, if it has one and the output has names, and
    /// with the metadata of the files of its operands.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub(super) fn put(self, fill: Box<dyn Fill>, limits: Limits, report: Report) -> Result<Outcome> {
        let has_names = self.format().is_some_and(Format::is_container);
        let name = fill.data().member().filter(|_| has_names).map(str::to_owned);
        let notes = merged(fill.operands().into_iter().filter_map(Source::container).map(|container| &container.notes));
        let mut work = Work::new(fill, limits);
        (work.name, work.recast.big_endian) = (name, self.options.big_endian);
        self.write(vec![work], Origin { notes, left_out: &|_| false }, report)
    }

    /// Writes tensors, or says in a dry run what would be written. In a format with names, tensors without one get one.
    ///
    /// # Errors
    /// The format cannot hold a tensor, or a name; a file that would lose other tensors; of reading and writing.
    pub(super) fn write(self, mut works: Vec<Work>, origin: Origin<'_>, mut report: Report) -> Result<Outcome> {
        let Self { io, options, quiet, place } = self;
        let (format, target) = match place {
            OutputPlace::New { format, target } => (format, target),
            OutputPlace::InPlace => {
                let work = works.pop().expect("the one tensor of an operator");
                return edit(work, io, options, quiet, report);
            }
        };
        let label = target.label();
        let works = write::named(works, format).with_context(|| label)?;
        for work in &works {
            work.check(format).map_err(|error| error.within(label))?;
        }
        write::check_replaced(&target, &works, origin.left_out).map_err(|error| anyhow!("{error} (or --in-place)"))?;
        let extras = options.extras(origin.notes, format)?;
        let plan = Plan::prepare(works, format, label, &extras).map_err(|error| match error.subject() {
            Subject::Argument(option) => anyhow!("--{option}: {}", error.message()),
            _ => error.into(),
        })?;
        if options.parts.is_given() {
            let meter = Meter::new(io, None, quiet);
            return parts::run(&plan, &target, options, io, report, &|more| meter.add(more));
        }
        if options.dry_run {
            for (name, meta, bytes) in plan.tensors() {
                let member = if format.is_container() { format!(" {name:?}:") } else { String::new() };
                let (dtype, shape, format) = (&meta.dtype, &meta.shape, format.argument());
                report.line(format_args!("{label}:{member} {format} of {dtype} {shape:?}, {bytes} bytes of data"));
            }
            plan.finish()?;
            if let Some(sink) = target.probe()? {
                check_binary(&sink, format)?;
            }
            report.print(io)?;
            return Ok(Outcome::Done);
        }
        let mut sink = target.create()?;
        check_binary(&sink, format)?;
        let elided = sink.is_terminal().then_some(TextOptions::NUMPY);
        let text = options.page.above(options.threshold.or(elided));
        let bytes = plan.bytes();
        let (meter, done) = (Meter::new(io, Some(bytes), quiet), AtomicUsize::new(0));
        let progress = |more| {
            meter.add(more);
            // what is printed after the last item must not be mixed with a progress bar
            if done.fetch_add(more, Ordering::Relaxed) + more >= bytes {
                meter.finish();
            }
        };
        plan.write(&mut sink, &text, &progress)?;
        sink.finish()?;
        Ok(Outcome::Done)
    }
}

/// Changes DATA in place, or says in a dry run that it would be changed.
fn edit(work: Work, io: &Io, options: &OutputOptions, quiet: bool, mut report: Report) -> Result<Outcome> {
    if options.dry_run {
        let Meta { dtype, shape, .. } = work.fill.data().meta();
        report.line(format_args!("output: {} changed in place, {dtype} {shape:?}", work.label()));
        work.fill.as_patch().expect("an operator that changes DATA is a patch").finish_updates()?;
        report.print(io)?;
        return Ok(Outcome::Done);
    }
    change(work, io, options.parts.part, "--in-place", quiet)?;
    Ok(Outcome::Done)
}

/// Changes the data of `work` in place, all of it or a share, as `option` asks for; a signal meanwhile is reported.
///
/// # Errors
/// Those of [`write::edit`].
pub(super) fn change(work: Work, io: &Io, share: Option<Share>, option: &'static str, quiet: bool) -> Result<()> {
    let meter = Meter::new(io, None, quiet);
    let changing = Arc::new(AtomicBool::new(false));
    let (begun, label, stderr) = (Arc::clone(&changing), work.label(), io.stderr.clone());
    signals::call_when_ended(move || {
        if begun.load(Ordering::SeqCst) {
            complain(&stderr, &anyhow!("{label}: is partly changed: ended by a signal in the middle of {option}"));
        }
    });
    let expect = |bytes| {
        meter.expect(bytes);
        changing.store(true, Ordering::SeqCst);
    };
    let edited = write::edit(work, share, &expect, &|bytes| meter.add(bytes));
    changing.store(false, Ordering::SeqCst);
    Ok(edited?)
}

/// Refuses to show binary data on a terminal.
fn check_binary(sink: &OpenOutput<'_>, format: Format) -> Result<()> {
    if format.is_binary() && sink.is_terminal() {
        let label = if matches!(sink, OpenOutput::Stdout(_)) { "standard output" } else { "output" };
        bail!("{label}: is a terminal, and the output is binary: use -o FILE");
    }
    Ok(())
}
