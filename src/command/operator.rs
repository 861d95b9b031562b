//! What the sub-commands that run an operator have in common.

use anyhow::{Result, anyhow};

use super::dry_run::Report;
use super::emit::{Origin, emit};
use super::io::Io;
use super::options::operands::InputOptions;
use super::options::output::OutputOptions;
use super::options::slices::SliceOptions;
use super::outcome::Outcome;
use super::sources;
use crate::format::Format;
use crate::format::write::Work;
use crate::ops::fill::{Fill, Limits};
use crate::ops::selection::Selection;
use crate::ops::slice::SliceArgs;
use crate::parallel::Threads;
use crate::storage::source::{Source, merged};

/// Writes the one tensor that an operator gives: under the name that the data has, if it has one and the output names
/// tensors, and with what the files of its operands say of themselves.
///
/// # Errors
/// Those of [`emit`].
pub(super) fn put(
    fill: Box<dyn Fill>,
    limits: Limits,
    io: &Io,
    output: &OutputOptions,
    quiet: bool,
    report: Report,
) -> Result<Outcome> {
    let keeps_name = fill.data().member().filter(|_| names_tensors(output));
    let name = keeps_name.map(str::to_owned);
    let notes = merged(fill.operands().into_iter().filter_map(Source::container).map(|container| &container.notes));
    let origin = Origin { notes, left_out: &|_| false };
    let mut work = Work::new(fill, limits);
    work.recast.big_endian = output.big_endian();
    emit(vec![(name, work)], io, origin, output, quiet, report)
}

/// Whether the output has names of tensors, as far as it is known to have a format at all.
fn names_tensors(output: &OutputOptions) -> bool {
    output.format().is_ok_and(Format::is_container)
}

/// The data that a scatter begins with: a copy of it, or where it lies.
pub(super) fn base(data: Source, in_place: bool) -> Selection {
    if in_place { Selection::in_place(data) } else { Selection::whole(data) }
}

/// The slices that the options name; lists that are in files are read here.
///
/// # Errors
/// What is no list of integers, or lists of different lengths.
pub(super) fn slice_args(options: &SliceOptions, input: &InputOptions, threads: Threads) -> Result<SliceArgs> {
    if let Some(at) = &options.at {
        return Ok(at.clone());
    }
    let list = |list: &Option<_>, option| {
        list.as_ref().map(|list| sources::index_list(list, option, input, threads)).transpose()
    };
    let start = list(&options.start, "--start")?.unwrap_or_default();
    let stop = list(&options.stop, "--stop")?.unwrap_or_default();
    let (step, axes) = (list(&options.step, "--step")?, list(&options.axes, "--axes")?);
    SliceArgs::new(&start, &stop)
        .and_then(|args| step.map_or(Ok(args.clone()), |steps| args.with_steps(&steps)))
        .and_then(|args| axes.map_or(Ok(args.clone()), |axes| args.with_axes(&axes)))
        .map_err(|e| anyhow!("--{}: {}", e.subject(), e.message()))
}
