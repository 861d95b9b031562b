//! Outputs of several files: the shards of an index, or a file for each tensor. All files are written beside their
//! places before the first one gets its name.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};

use super::dry_run::Report;
use super::output_set::{OutputSet, ReadBack};
use crate::command::messages::{argument_error, counted};
use crate::command::options::{Operand, OutputOptions};
use crate::command::process::io::{Outcome, Run, note};
use crate::command::process::meter::Meter;
use crate::container::interface::TextOptions;
use crate::container::names::list;
use crate::error::{Context, ErrorKind};
use crate::formats::index;
use crate::library::files;
use crate::opening::input::Input;
use crate::opening::located::Place;
use crate::opening::table::Format;
use crate::quantized::{is_layout_file, without_layout};
use crate::report::printable;
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

pub(crate) fn new_target(run: Run<'_>, path: &Path, label: String, format: Format, no_clobber: bool) -> Result<Target> {
    files::target(path, label, format, no_clobber, run.requests).map_err(|error| match error.kind() {
        ErrorKind::Io(io::ErrorKind::AlreadyExists) => anyhow!("{error}, and --no-clobber keeps it"),
        _ => error.into(),
    })
}

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

/// The files beside the weights of a checkpoint, which go with these into the folder of a new model.
#[derive(Default)]
pub(crate) struct SideFiles {
    copied: Vec<SideFile>,
    left: Vec<String>,
}

struct SideFile {
    name: String,
    from: PathBuf,
    target: Target,
    /// Replaces the bytes of the file.
    text: Option<String>,
}

/// The endings of JSON, text and tokenizer files. Others are weights, pictures, and the state of a training.
const SIDE_ENDINGS: [&str; 14] =
    ["bpe", "jinja", "json", "jsonl", "md", "model", "py", "spm", "tiktoken", "toml", "txt", "vocab", "yaml", "yml"];
const SIDE_NAMES: [&str; 3] = ["LICENSE", "NOTICE", "USE_POLICY"];

impl SideFiles {
    /// Finds the files beside the weights of the only folder among the inputs, and resolves their places if the output is a folder.
    /// Files that hold weights or list them are neither copied nor left.
    pub(crate) fn of(
        run: Run<'_>,
        inputs: &[(Arc<Input>, &Operand)],
        options: &OutputOptions,
        less: bool,
    ) -> Result<Self> {
        let mut found = Self::default();
        let mut folders = inputs.iter().filter_map(|(input, operand)| match &operand.located.place {
            Place::Folder(folder) => Some((input, &*folder.path)),
            _ => None,
        });
        let (Some(into), Some((input, from)), None) = (options.folder(), folders.next(), folders.next()) else {
            return Ok(found);
        };
        if fs::canonicalize(into).is_ok_and(|into| fs::canonicalize(from).is_ok_and(|from| from == into)) {
            return Ok(found);
        }
        let members = 0..input.names().map_or(0, <[_]>::len);
        let weights: HashSet<PathBuf> = members.filter_map(|n| input.file_of(n).ok()?.path).collect();
        let entries = fs::read_dir(from).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = entries.with_context(|| from.display().to_string())?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let ending = Path::new(&name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let is_side = SIDE_ENDINGS.iter().any(|side| ending.eq_ignore_ascii_case(side))
                || SIDE_NAMES.iter().any(|side| name.starts_with(side));
            if name.starts_with('.') || weights.iter().any(|weight| weight.starts_with(&path)) {
                continue;
            }
            if path.is_dir() {
                found.left.push(name + "/");
                continue;
            }
            if Format::from_file_name(&name).is_some_and(|(format, _)| format == Format::INDEX) {
                continue;
            }
            let stated = match is_side && less && is_layout_file(&name) {
                true => {
                    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                    without_layout(&name, text).with_context(|| path.display().to_string())?.map(Some)
                }
                false => Some(None),
            };
            match stated.filter(|_| is_side) {
                Some(text) => {
                    let place = into.join(&name);
                    let label = format!("output {}", place.display());
                    let target = new_target(run, &place, label, Format::RAW, options.no_clobber)?;
                    found.copied.push(SideFile { name, from: path, target, text });
                }
                None => found.left.push(name),
            }
        }
        Ok(found)
    }

    fn write(&self) -> Result<()> {
        for SideFile { from, target, text, .. } in &self.copied {
            let mut draft = target.create()?;
            let written = match text {
                Some(text) => draft.write_all(text.as_bytes()),
                None => fs::File::open(from).and_then(|mut file| io::copy(&mut file, &mut draft)).map(drop),
            };
            written.with_context(|| from.display().to_string())?;
            draft.finish()?;
        }
        Ok(())
    }

    /// Lists the copied files and the others in a line.
    fn line(&self) -> Option<String> {
        let less = |file: &SideFile| if file.text.is_some() { " (less the layout of codes)" } else { "" };
        let names = self.copied.iter().map(|file| format!("{}{}", printable(&file.name), less(file)));
        let (names, left) = (names.collect::<Vec<_>>().join(", "), self.left.join(", "));
        let parts = [("copied", names), ("left", printable(&left).into_owned())];
        let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<_> = parts.map(|(verb, names)| format!("{verb} {names}")).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
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
