//! From the works of a command to its output: target, format, and what `--dry-run` says of them.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Result, anyhow, bail};

use super::dry_run::Report;
use super::io::Io;
use super::meter::Meter;
use super::options::output::OutputOptions;
use super::outcome::{Outcome, complain};
use super::parts;
use crate::error::{Context, ErrorKind, Subject};
use crate::format::Format;
use crate::format::write::{self, Plan, Share, Work};
use crate::item::meta::Meta;
use crate::ops::fill::Patch;
use crate::storage::signals;
use crate::storage::source::Notes;
use crate::storage::target::{OpenOutput, Target};

/// NumPy's own limit above which arrays are elided.
const TERMINAL_THRESHOLD: usize = 1000;

/// What an output is made from, beside its tensors.
pub(super) struct Origin<'a> {
    /// What the files that its tensors come from say of themselves.
    pub notes: Notes,
    /// Whether the command says that a tensor of that name is left out.
    pub left_out: &'a dyn Fn(&str) -> bool,
}

/// Writes the output where and as the options say, or says what would be written. Tensors without a name get one
/// where the format has names.
pub(super) fn emit(
    mut works: Vec<(Option<String>, Work)>,
    io: &Io,
    origin: Origin<'_>,
    options: &OutputOptions,
    quiet: bool,
    mut report: Report,
) -> Result<Outcome> {
    if let [(_, work)] = &works[..]
        && work.is_in_place()
    {
        return works.pop().map_or(Ok(Outcome::Done), |(_, work)| edit(work, io, options, quiet, report));
    }
    let parted = options.parts.is_given();
    if parted && options.output.as_deref().is_none_or(|path| path == Path::new("-")) {
        bail!("--part: needs -o to a .zarr or .npy");
    }
    let format = options.format()?;
    if format.is_folder() && options.output.as_deref().is_none_or(|path| path == Path::new("-")) {
        bail!("standard output: {} is a folder: name it with -o", format.argument());
    }
    let target = match options.output.as_deref() {
        None => Target::Stdout(io.stdout.clone()),
        Some(dash) if dash == Path::new("-") => Target::Stdout(io.stdout.clone()),
        Some(path) => resolve(path, options.no_clobber && !parted, format)?,
    };
    let label = target.label();
    let works = write::named(works, format).with_context(|| label)?;
    for (_, work) in &works {
        work.check(format).map_err(|error| error.within(label))?;
    }
    write::check_replaced(&target, &works, origin.left_out).map_err(|error| anyhow!("{error} (or --in-place)"))?;
    let extras = options.extras(origin.notes, format)?;
    let plan = Plan::prepare(works, format, label, &extras).map_err(|error| match error.subject() {
        Subject::Argument(option) => anyhow!("--{option}: {}", error.message()),
        _ => error.into(),
    })?;
    if parted {
        let meter = Meter::new(io, None, quiet);
        let how = (options.dry_run, report);
        return parts::run(&plan, io, &target, &options.parts, options.no_clobber, how, &|more| meter.add(more));
    }
    if options.dry_run {
        for (name, meta, bytes) in plan.tensors() {
            let member = if format.is_container() { format!(" {name:?}:") } else { String::new() };
            let (dtype, shape, format) = (&meta.dtype, &meta.shape, format.argument());
            report.line(format!("{label}:{member} {format} of {dtype} {shape:?}, {bytes} bytes of data"));
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
    let elided = sink.is_terminal().then_some(TERMINAL_THRESHOLD);
    let text = options.page.above(options.threshold.or(elided));
    let bytes = plan.bytes();
    let (meter, done) = (Meter::new(io, Some(bytes), quiet), AtomicUsize::new(0));
    let progress = |more| {
        meter.add(more);
        // what is printed after the last item must not be mixed with a bar
        if done.fetch_add(more, Ordering::Relaxed) + more >= bytes {
            meter.finish();
        }
    };
    plan.write(&mut sink, &text, &progress)?;
    sink.finish()?;
    Ok(Outcome::Done)
}

/// Changes the data where it lies.
fn edit(work: Work, io: &Io, options: &OutputOptions, quiet: bool, mut report: Report) -> Result<Outcome> {
    if options.dry_run {
        let (label, data) = (work.label(), work.fill.data().meta().clone());
        work.fill.as_patch().map_or(Ok(()), Patch::finish_updates)?;
        let Meta { dtype, shape, .. } = data;
        report.line(format!("output: {label} changed in place, {dtype} {shape:?}"));
        report.print(io)?;
        return Ok(Outcome::Done);
    }
    change(work, io, options.parts.part, "--in-place", quiet)?;
    Ok(Outcome::Done)
}

/// Changes data where it lies, as `option` says, or a share of it.
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

/// What the output goes to.
fn resolve(path: &Path, no_clobber: bool, format: Format) -> Result<Target> {
    let label = format!("output {}", path.display());
    let target = match format.is_folder() {
        true => Target::resolve_folder(path, label, no_clobber, &|path| format.may_replace(path)),
        false => Target::resolve(path, label, no_clobber),
    };
    target.map_err(|error| {
        let exists = error.kind() == ErrorKind::Io(io::ErrorKind::AlreadyExists);
        if exists { anyhow!("{error}, and --no-clobber keeps it") } else { error.into() }
    })
}

/// Refuses to show a person what is not meant to be read by people.
fn check_binary(sink: &OpenOutput<'_>, format: Format) -> Result<()> {
    if format.is_binary() && sink.is_terminal() {
        let label = if matches!(sink, OpenOutput::Stdout(_)) { "standard output" } else { "output" };
        bail!("{label}: is a terminal, and the output is binary: use -o FILE");
    }
    Ok(())
}
