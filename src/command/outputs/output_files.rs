//! Outputs of one or several files: the shards of an index, or a file for each tensor. All files are written beside their
//! places before the first one gets its name.

use std::borrow::Cow;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail, ensure};

use super::dry_run::Report;
use super::output_set::{OutputSet, ReadBack, new_target};
use crate::command::messages::{argument_error, counted};
use crate::command::options::OutputOptions;
use crate::command::process::io::{Outcome, Run, note};
use crate::command::process::meter::Meter;
use crate::container::file_options::{FileOptions, Inherited};
use crate::container::interface::TextOptions;
use crate::container::names::list;
use crate::error::Context;
use crate::formats::index;
use crate::opening::table::Format;
use crate::storage::platform::allow_open_files;
use crate::storage::read_at::Identity;
use crate::storage::source::{Container, Source};
use crate::storage::targets::target::{OpenOutput, Target};
use crate::writing::shards::OldIndex;
use crate::writing::{self, LaidOut, Output, OutputKind, OutputTensor, Replaced, shards};

pub(crate) struct ShardIndex<'a> {
    pub target: Target,
    pub path: Cow<'a, Path>,
    /// Whether a model in one file needs no index.
    pub is_of_folder: bool,
    /// The maximum number of bytes in a shard; `None` for the size of the largest shard of the replaced index.
    pub most: Option<u64>,
    pub removes_old: bool,
}

/// Files that are written together, in one format: one, the shards of an index, or one for each tensor.
pub(crate) struct OutputFiles<'a> {
    run: Run<'a>,
    options: &'a OutputOptions,
    format: Format,
    keeps_order: bool,
    file_options: FileOptions,
    containers: Vec<Arc<Container>>,
    pub files: Vec<OutputFile>,
}

pub(crate) struct OutputFile {
    pub plan: LaidOut,
    pub target: Target,
    /// `None` for standard output, whose reader gets the format from its own options.
    path: Option<PathBuf>,
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
        let mut files = OutputFiles { keeps_order: true, ..OutputFiles::new(run, options, format) };
        let tensors = files.output(label, None).checked(tensors)?;
        let old = OldIndex::read(path.to_owned());
        let in_files = if removes_old { old.tensors_of_files() } else { Vec::new() };
        let listed = [&*old.tensors, &*in_files].concat();
        let is_removed = |shard: &Container| removes_old && old.names_file(shard.file);
        writing::check_replaced_index(&target, &listed, &is_removed, &tensors, &*left_out)?;
        let names = tensors.iter().map(|tensor| tensor.name.clone()).collect::<Vec<_>>();
        let existing = target.identity();
        let is_of_old = {
            let sources = tensors.iter().flat_map(|tensor| tensor.fill.operands());
            let mut containers = sources.filter_map(Source::container);
            containers.any(|container| existing.is_some() && container.index == existing)
        };
        let sources = tensors.iter().flat_map(|tensor| tensor.fill.operands());
        let moved = sources.filter_map(|source| Some((source.container()?.file, source.member()?.to_owned())));
        let moved: Vec<(Identity, String)> = moved.collect();
        let most = most.or_else(|| old.largest()).unwrap_or(shards::MAX_BYTES);
        let mut divided = shards::divide(tensors, &stem, most).with_context(|| label)?;
        if is_of_old {
            old.add_own_keys(&mut divided);
        }
        let mut left = old.left(&divided);
        let removed = if removes_old { old.removable(&mut left) } else { Vec::new() };
        let is_kept = |name: &str| names.iter().any(|kept| kept.as_deref() == Some(name)) || left_out(name);
        for shard in &divided.shards {
            let (name, place) = (&*shard.name, path.with_file_name(&shard.name));
            ensure!(
                !old.is_there || old.has_file(name) || fs::symlink_metadata(&place).is_err(),
                "{label}: {name} is not a shard of the index and would be lost: name another output or remove it"
            );
        }
        let new = divided.shards.iter().map(|shard| &*shard.name);
        let gone: Vec<_> = new.chain(removed.iter().map(String::as_str)).collect();
        check_unlisted(label, path, &old, &gone, &|file, name| {
            is_kept(name) || moved.iter().any(|(from, member)| Some(*from) == file && member == name)
        })?;
        for shard in divided.shards {
            let place = path.with_file_name(&shard.name);
            let target = new_target(run, &place, format!("output {}", place.display()), format, options.no_clobber)?;
            files.add(target, Some(place), shard.tensors, inherited.clone(), &is_kept).map_err(argument_error)?;
        }
        let is_indexed = !is_of_folder || old.is_there || files.files.len() > 1;
        if options.is_dry_run() {
            files.report(&mut report)?;
            target.probe()?;
            if let Some(beside) = side.line(["would copy", "would leave"]) {
                report.line(format_args!("{label}: {beside}"));
            }
            if is_indexed {
                report.line(format_args!("{label}: index of {}", counted(files.files.len(), "shard", "shards")));
            }
            if !removed.is_empty() {
                report.line(format_args!("{label}: {} would be removed", removed.join(", ")));
            }
            return report.print(run.io);
        }
        let mut index = if is_indexed { Some(target.create()?) } else { None };
        let drafts = files.drafts()?;
        if let Some(index) = &mut index {
            index.write_all(divided.index.as_bytes()).with_context(|| label)?;
        }
        drafts.into_iter().chain(index).try_for_each(OpenOutput::finish)?;
        side.write()?;
        if let Some(beside) = side.line(["copied", "left"]).filter(|_| !run.quiet) {
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

impl<'a> OutputFiles<'a> {
    pub(crate) fn new(run: Run<'a>, options: &'a OutputOptions, format: Format) -> Self {
        let (file_options, containers) = (options.file_options(), run.io.containers.all());
        Self { run, options, format, keeps_order: false, file_options, containers, files: Vec::new() }
    }

    fn output<'o>(&'o self, label: &'o str, replaced: Option<Replaced<'o>>) -> Output<'o> {
        let Self { format, keeps_order, ref file_options, .. } = *self;
        Output { format, label, options: file_options, replaced, keeps_order }
    }

    /// Lays a file out.
    pub(crate) fn add(
        &mut self,
        target: Target,
        path: Option<PathBuf>,
        tensors: Vec<OutputTensor>,
        inherited: Inherited,
        left_out: &dyn Fn(&str) -> bool,
    ) -> crate::error::Result<()> {
        let replaced = Some(Replaced { target: &target, containers: &self.containers, left_out });
        let plan = self.output(target.label(), replaced).prepare(tensors, inherited)?;
        self.files.push(OutputFile { plan, target, path });
        Ok(())
    }

    /// Reports the files in a dry run.
    fn report(&self, report: &mut Report) -> Result<()> {
        for OutputFile { plan, target, .. } in &self.files {
            report.outputs(plan, self.format, target.label());
            plan.finish()?;
            target.probe()?.map_or(Ok(()), |sink| check_binary(&sink, self.format))?;
        }
        Ok(())
    }

    /// Writes all files beside their places.
    fn drafts(&mut self) -> Result<Vec<OpenOutput<'_>>> {
        let OutputOptions { page, threshold, .. } = self.options;
        allow_open_files(self.files.len());
        let bytes = self.files.iter().map(|file| file.plan.bytes()).sum();
        let (meter, done) = (Meter::new(self.run, Some(bytes)), AtomicUsize::new(0));
        let progress = |more| {
            meter.add(more);
            // A line after the last item must not be mixed with a progress bar.
            if done.fetch_add(more, Ordering::Relaxed) + more >= bytes {
                meter.finish();
            }
        };
        let mut drafts = Vec::with_capacity(self.files.len());
        for OutputFile { plan, target, .. } in &mut self.files {
            let mut sink = target.create()?;
            check_binary(&sink, self.format)?;
            let elided = sink.is_terminal().then_some(TextOptions::NUMPY_THRESHOLD);
            plan.write(&mut sink, &page.above(threshold.or(elided)), &progress)?;
            drafts.push(sink);
        }
        Ok(drafts)
    }

    /// Writes the files, or reports a dry run. Data that only one file may need to move are reported for one.
    pub(crate) fn write(mut self, mut report: Report) -> Result<Outcome> {
        let Self { run, options, .. } = self;
        if options.is_dry_run() {
            self.report(&mut report)?;
            if let [OutputFile { plan, target, .. }] = &self.files[..] {
                report.moves(plan, target.label());
            }
            if options.explain {
                let text = options.page.above(options.threshold);
                let explained = |OutputFile { plan, target, .. }: &OutputFile| match target {
                    Target::Stdout(_) | Target::Device { .. } => plan.explain(OutputKind::Stream, &text),
                    _ => plan.explain(OutputKind::File, &text),
                };
                report.plans(&self.files.iter().flat_map(explained).collect::<Vec<_>>(), options.json);
            }
            return report.print(run.io);
        }
        self.drafts()?.into_iter().try_for_each(OpenOutput::finish)?;
        for OutputFile { plan, target, path } in &self.files {
            path.as_ref().map_or(Ok(()), |path| ReadBack::of(plan).tell(run, target.label(), path))?;
        }
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
        let lost = old.unlisted_in(name);
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

fn check_binary(sink: &OpenOutput<'_>, format: Format) -> Result<()> {
    if format.is_binary() && sink.is_terminal() {
        let label = if matches!(sink, OpenOutput::Stdout(_)) { "standard output" } else { "output" };
        bail!("{label}: is a terminal, and the output is binary: use -o FILE");
    }
    Ok(())
}
