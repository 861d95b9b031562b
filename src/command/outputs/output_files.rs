//! Outputs of several files: the shards of an index, or a file for each tensor. All files are written beside their
//! places before the first one gets its name.

use std::borrow::Cow;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};

use super::dry_run::Report;
use super::output_set::{OutputSet, ReadBack, new_target};
use crate::command::messages::{argument_error, counted};
use crate::command::options::OutputOptions;
use crate::command::process::io::{Outcome, Run, note};
use crate::command::process::meter::Meter;
use crate::container::interface::TextOptions;
use crate::container::names::list;
use crate::error::Context;
use crate::formats::index;
use crate::opening::table::Format;
use crate::storage::platform::allow_open_files;
use crate::storage::read_at::Identity;
use crate::storage::source::Container;
use crate::storage::targets::target::{OpenOutput, Target};
use crate::writing::shards::OldIndex;
use crate::writing::{self, LaidOut, Output, OutputKind, Replaced, shards};

pub(crate) struct ShardIndex<'a> {
    pub target: Target,
    pub path: Cow<'a, Path>,
    /// Whether a model in one file needs no index.
    pub is_of_folder: bool,
    /// The maximum number of bytes in a shard; `None` for the size of the largest shard of the replaced index.
    pub most: Option<u64>,
    pub removes_old: bool,
}

pub(crate) struct NumberedFiles<'a> {
    pub format: Format,
    /// The path, whose last name contains a [`NUMBER`].
    pub pattern: &'a str,
}

/// The placeholder for the number of a tensor in the name of its file.
pub(crate) const NUMBER: char = '*';

impl<'a> ShardIndex<'a> {
    pub(crate) fn new(target: Target, path: Cow<'a, Path>) -> Self {
        Self { target, path, is_of_folder: false, most: None, removes_old: false }
    }

    /// Writes the shards and the index. All shards are written beside their places, then each gets its name, and the
    /// index comes last. An interrupted run leaves the old files as they were.
    pub(crate) fn write(self, run: Run<'_>, options: &OutputOptions, set: OutputSet<'_>) -> Result<Outcome> {
        let OutputSet { tensors, inherited, left_out, mut report, side, .. } = set;
        let Self { target, path, is_of_folder, most, removes_old } = self;
        let path = &*path;
        let (format, label) = (Format::SAFETENSORS, target.label());
        let stem = index::stem(path).expect("the name of an index");
        ensure!(
            matches!(target, Target::File(_)),
            "{label}: is not a regular file, so shards cannot be written beside it"
        );
        // Shards are filled in the order of the tensors.
        let (write_options, containers) = (options.write_options(), run.io.containers.all());
        let output = Output { keeps_order: true, ..write_options.output(format, label) };
        let tensors = output.checked(tensors)?;
        let replaced = OldIndex::read(path);
        let has_index = replaced.is_some();
        let old = replaced.unwrap_or_default();
        let in_files = if removes_old { old.tensors_of_files(path) } else { Vec::new() };
        let listed = [&*old.tensors, &*in_files].concat();
        let is_removed = |shard: &Container| removes_old && old.names_file(path, shard.file);
        writing::check_replaced_index(&target, &listed, &is_removed, &tensors, &*left_out)?;
        let mut plans = Vec::new();
        let names = tensors.iter().map(|tensor| tensor.name.clone()).collect::<Vec<_>>();
        let sources = tensors.iter().flat_map(|tensor| tensor.fill.operands());
        let moved = sources.filter_map(|source| Some((source.container()?.file, source.member()?.to_owned())));
        let moved: Vec<(Identity, String)> = moved.collect();
        let most = most.or_else(|| old.largest(path)).unwrap_or(shards::MAX_BYTES);
        let divided = shards::divide(tensors, &stem, most).with_context(|| label)?;
        let mut left = old.left(path, &divided);
        let removed = if removes_old { old.removable(path, &mut left) } else { Vec::new() };
        let is_kept = |name: &str| names.iter().any(|kept| kept.as_deref() == Some(name)) || left_out(name);
        for shard in &divided.shards {
            let (name, place) = (&*shard.name, shards::path_of(path, shard));
            ensure!(
                !has_index || old.has_file(name) || fs::symlink_metadata(&place).is_err(),
                "{label}: {name} is not a shard of the index and would be lost: name another output or remove it"
            );
        }
        let new = divided.shards.iter().map(|shard| &*shard.name);
        let gone: Vec<_> = new.chain(removed.iter().map(String::as_str)).collect();
        check_unlisted(label, path, &old, &gone, &|file, name| {
            is_kept(name) || moved.iter().any(|(from, member)| Some(*from) == file && member == name)
        })?;
        for shard in divided.shards {
            let place = shards::path_of(path, &shard);
            let shard_label = format!("output {}", place.display());
            let target = new_target(run, &place, shard_label.clone(), format, options.no_clobber)?;
            let replaced = Some(Replaced { target: &target, containers: &containers, left_out: &is_kept });
            let output = Output { label: &shard_label, replaced, ..output };
            plans.push((output.prepare(shard.tensors, inherited.clone()).map_err(argument_error)?, target));
        }
        let is_indexed = !is_of_folder || has_index || plans.len() > 1;
        let beside = side.line();
        if options.is_dry_run() {
            report_drafts(&plans, format, &mut report)?;
            target.probe()?;
            if let Some(beside) = beside {
                report.line(format_args!("{label}: {beside}"));
            }
            if is_indexed {
                report.line(format_args!("{label}: index of {}", counted(plans.len(), "shard", "shards")));
            }
            if !removed.is_empty() {
                report.line(format_args!("{label}: {} would be removed", removed.join(", ")));
            }
            return report.print(run.io);
        }
        let mut index = if is_indexed { Some(target.create()?) } else { None };
        let drafts = drafts(run, &mut plans, &TextOptions::default())?;
        if let Some(index) = &mut index {
            index.write_all(divided.index.as_bytes()).with_context(|| label)?;
        }
        drafts.into_iter().chain(index).try_for_each(OpenOutput::finish)?;
        side.write()?;
        if let Some(beside) = beside.filter(|_| !run.quiet) {
            note(&run.io.stderr, &format!("{label}: {beside}"))?;
        }
        for name in &removed {
            let file = path.with_file_name(name);
            fs::remove_file(file).with_context(|| format!("{label}: the old shard {name} cannot be removed"))?;
        }
        for (names, verb) in [(&removed, "were removed"), (&left, "are left")] {
            if !names.is_empty() && !run.quiet {
                let line = format!("{label}: the index named {} before, which {verb}", names.join(", "));
                note(&run.io.stderr, &line)?;
            }
        }
        Ok(Outcome::Done)
    }
}

impl NumberedFiles<'_> {
    pub(crate) fn write(self, run: Run<'_>, options: &OutputOptions, set: OutputSet<'_>) -> Result<Outcome> {
        let OutputSet { tensors, inherited, mut report, .. } = set;
        let Self { format, pattern } = self;
        let (write_options, containers) = (options.write_options(), run.io.containers.all());
        let (mut plans, mut read_back) = (Vec::with_capacity(tensors.len()), Vec::new());
        for (number, tensor) in numbers(tensors.len()).zip(tensors) {
            let path = pattern.replace(NUMBER, &number);
            let label = format!("output {path}");
            let target = new_target(run, path.as_ref(), label.clone(), format, options.no_clobber)?;
            let replaced = Some(Replaced { target: &target, containers: &containers, left_out: &|_| false });
            let output = Output { replaced, ..write_options.output(format, &label) };
            let plan = output.prepare(vec![tensor], inherited.clone()).map_err(argument_error)?;
            read_back.push((label.clone(), path.clone(), ReadBack::of(&plan)));
            plans.push((plan, target));
        }
        if options.is_dry_run() {
            report_drafts(&plans, format, &mut report)?;
            if options.explain {
                let text = options.page.above(options.threshold);
                let explained = plans.iter().flat_map(|(plan, _)| plan.explain(OutputKind::File, &text));
                report.plans(&explained.collect::<Vec<_>>(), options.json);
            }
            return report.print(run.io);
        }
        let drafts = drafts(run, &mut plans, &options.page.above(options.threshold))?;
        drafts.into_iter().try_for_each(OpenOutput::finish)?;
        read_back.into_iter().try_for_each(|(label, path, back)| back.tell(run, &label, path.as_ref()))?;
        Ok(Outcome::Done)
    }
}

/// Refuses to replace or remove files beside the index if they hold tensors that the old index does not name. `is_kept`
/// is true for a tensor that is in the output or that the user left out.
fn check_unlisted(
    label: &str,
    path: &Path,
    old: &OldIndex,
    gone: &[&str],
    is_kept: &dyn Fn(Option<Identity>, &str) -> bool,
) -> Result<()> {
    for name in gone {
        let file = fs::metadata(path.with_file_name(name)).ok().map(|metadata| Identity::from_metadata(&metadata));
        let lost = old.unlisted_in(path, name);
        let lost: Vec<_> = lost.iter().map(String::as_str).filter(|tensor| !is_kept(file, tensor)).collect();
        ensure!(
            lost.is_empty(),
            "{label}: {name} holds tensors that would be lost ({}), and no index here names them: name another output",
            list(&lost)
        );
    }
    Ok(())
}

/// All numbers have the width of the last one, so that file names sort.
pub(crate) fn numbers(count: usize) -> impl Iterator<Item = String> {
    let width = count.saturating_sub(1).to_string().len();
    (0..count).map(move |n| format!("{n:0width$}"))
}

fn drafts<'t>(run: Run<'_>, plans: &'t mut [(LaidOut, Target)], text: &TextOptions) -> Result<Vec<OpenOutput<'t>>> {
    allow_open_files(plans.len());
    let meter = Meter::new(run, Some(plans.iter().map(|(plan, _)| plan.bytes()).sum()));
    let mut drafts = Vec::with_capacity(plans.len());
    for (plan, target) in plans {
        let mut draft = target.create()?;
        plan.write(&mut draft, text, &|more| meter.add(more))?;
        drafts.push(draft);
    }
    meter.finish();
    Ok(drafts)
}

fn report_drafts(plans: &[(LaidOut, Target)], format: Format, report: &mut Report) -> Result<()> {
    for (plan, target) in plans {
        report.outputs(plan, format, target.label());
        plan.finish()?;
        target.probe()?;
    }
    Ok(())
}
