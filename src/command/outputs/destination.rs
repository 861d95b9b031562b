//! The destination of the output of a command: a new file or folder, standard output, DATA in place, or a part of
//! these.
//!
//! [`Destination::of`] resolves the options before any operand is read, so that a name that cannot be written is
//! refused before a long computation.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow, bail, ensure};

use super::dry_run::Report;
use super::output_files::{NUMBER, OutputFile, OutputFiles, ShardIndex, numbers};
use super::output_set::{OutputSet, new_target};
use crate::command::messages::{argument_error, counted, unless_closed};
use crate::command::operands::container_notes::OutputMembers;
use crate::command::options::OutputOptions;
use crate::command::process::io::{Io, Outcome, Run, complain};
use crate::command::process::meter::Meter;
use crate::container::interface::TextOptions;
use crate::error::Context;
use crate::formats::index;
use crate::item::meta::Meta;
use crate::opening::table::Format;
use crate::plans::job::Progress;
use crate::storage::source::{Source, merged};
use crate::storage::targets::parts::{Parts, Record};
use crate::storage::targets::signals;
use crate::storage::targets::target::Target;
use crate::writing::{self, LaidOut, OutputKind, OutputTensor, Share, ShareReport, Shares};

pub(crate) struct Destination<'a> {
    run: Run<'a>,
    options: &'a OutputOptions,
    place: OutputPlace<'a>,
    /// Whether the command could change DATA in place.
    pub is_edit: bool,
    /// If several tensors are changed in place.
    pub one_of_several: Option<OneOfSeveral<'a>>,
}

/// One of several tensors that are changed in place.
#[derive(Clone, Copy)]
pub(crate) struct OneOfSeveral<'a> {
    pub name: &'a str,
    /// Whether the change is checked, and not made.
    pub is_check: bool,
    /// The reports of their dry runs.
    pub reports: &'a RefCell<Report>,
}

enum OutputPlace<'a> {
    InPlace,
    /// A file or folder, a device, or standard output.
    New {
        format: Format,
        target: Target,
    },
    Index(ShardIndex<'a>),
    /// A file for each tensor. The last name of the pattern contains a [`NUMBER`].
    Files {
        format: Format,
        pattern: &'a str,
    },
}

impl<'a> Destination<'a> {
    pub(crate) fn of(run: Run<'a>, options: &'a OutputOptions, in_place: bool) -> Result<Self> {
        Ok(Self::new(run, options, if in_place { OutputPlace::InPlace } else { OutputPlace::new(run, options)? }))
    }

    fn new(run: Run<'a>, options: &'a OutputOptions, place: OutputPlace<'a>) -> Self {
        Self { run, options, place, is_edit: false, one_of_several: None }
    }

    /// The tensors go into one container, or each into its own file if the name has a [`NUMBER`].
    pub(crate) fn for_several(run: Run<'a>, options: &'a OutputOptions) -> Result<Self> {
        let in_name =
            |path: &str| Path::new(path).file_name().is_some_and(|name| name.to_string_lossy().contains(NUMBER));
        let is_pattern = |path: &&str| path.matches(NUMBER).count() == 1 && in_name(path);
        if let Some(pattern) = options.path().and_then(Path::to_str).filter(is_pattern) {
            if options.to.is_none() && index::stem(Path::new(pattern)).is_some() {
                bail!("{}: an index of shards is for all tensors: name it without {NUMBER}", options.label());
            }
            return Ok(Self::new(run, options, OutputPlace::Files { format: options.format()?, pattern }));
        }
        let it = Self::of(run, options, false)?;
        if !it.format().is_some_and(Format::is_container) {
            let label = options.label();
            bail!("{label}: holds one tensor: -o 'OUT-*.npy' makes a file for each, -o OUT.npz holds all");
        }
        Ok(it)
    }

    /// If the output ends in `/`, the tensors of a model go into `model.safetensors` of a new folder, or into shards with their
    /// index. A dry run without an output shows all tensors.
    pub(crate) fn for_model(run: Run<'a>, options: &'a OutputOptions) -> Result<Self> {
        let Some(folder) = options.folder() else {
            let mut it = Self::of(run, options, false)?;
            let is_open = options.is_dry_run() && options.output.is_none() && options.to.is_none();
            if let OutputPlace::New { format, .. } = &mut it.place
                && is_open
            {
                *format = Format::SAFETENSORS;
            }
            return Ok(it);
        };
        ensure!(!options.parts.is_given(), "--part: not with the folder of a model: needs -o to a .zarr or .npy");
        let path = folder.join("model.safetensors.index.json");
        let target = new_target(run, &path, options.label(), Format::SAFETENSORS, options.no_clobber)?;
        let index = ShardIndex { is_of_folder: true, ..ShardIndex::new(target, path.into()) };
        Ok(Self::new(run, options, OutputPlace::Index(index)))
    }

    pub(crate) fn is_of_files(&self) -> bool {
        matches!(self.place, OutputPlace::Files { .. })
    }

    pub(crate) fn with_shards_of(mut self, most: Option<u64>, removes_old: bool) -> Result<Self> {
        let option = if most.is_some() { "--max-shard-size" } else { "--remove-old-shards" };
        match &mut self.place {
            OutputPlace::Index(index) => (index.most, index.removes_old) = (most, removes_old),
            OutputPlace::InPlace | OutputPlace::New { .. } | OutputPlace::Files { .. } => {
                ensure!(most.is_none() && !removes_old, "{option}: expected -o NAME.safetensors.index.json or FOLDER/");
            }
        }
        Ok(self)
    }

    pub(crate) fn is_in_place(&self) -> bool {
        matches!(self.place, OutputPlace::InPlace)
    }

    pub(crate) fn is_check(&self) -> bool {
        self.one_of_several.is_some_and(|one| one.is_check)
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.place, OutputPlace::New { target: Target::Stdout(_), .. })
    }

    pub(crate) fn format(&self) -> Option<Format> {
        match &self.place {
            OutputPlace::InPlace => None,
            OutputPlace::New { format, .. } | OutputPlace::Files { format, .. } => Some(*format),
            OutputPlace::Index(_) => Some(Format::SAFETENSORS),
        }
    }

    pub(crate) fn report(&self, title: &str) -> Report {
        Report::new(title, self.options.is_dry_run())
    }

    pub(crate) fn output_set<'s>(&self, report: Report) -> OutputSet<'s> {
        OutputSet::new(self.format(), report)
    }

    /// Writes the one tensor of an operator. In a container it keeps the name of DATA, and the file inherits the
    /// metadata of all operands.
    pub(crate) fn put(self, mut tensor: OutputTensor, report: Report) -> Result<Outcome> {
        let has_names = self.format().is_some_and(Format::is_container);
        let mut set = self.output_set(report);
        let data = tensor.fill.data();
        tensor.name = data.member().or(data.name_in_group()).filter(|_| has_names).map(str::to_owned);
        set.inherited.metadata =
            merged(tensor.fill.operands().filter_map(|source| Some(&source.container()?.metadata.as_ref()?.kept)));
        set.push(tensor);
        self.write(set)
    }

    pub(crate) fn write(self, set: OutputSet<'_>) -> Result<Outcome> {
        let Self { run, options, is_edit, one_of_several, .. } = self;
        let (format, target) = match self.place {
            OutputPlace::New { format, target } => (format, target),
            OutputPlace::Index(index) => return index.write(run, options, set),
            OutputPlace::Files { format, pattern } => {
                let mut files = OutputFiles::new(run, options, format);
                for (number, tensor) in numbers(set.tensors.len()).zip(set.tensors) {
                    let path = PathBuf::from(pattern.replace(NUMBER, &number));
                    let label = format!("output {}", path.display());
                    let target = new_target(run, &path, label, format, options.no_clobber)?;
                    let added = files.add(target, Some(path), vec![tensor], set.inherited.clone(), &|_| false);
                    added.map_err(argument_error)?;
                }
                return files.write(set.report);
            }
            OutputPlace::InPlace => {
                let tensor = set.tensors.into_iter().next().expect("the one tensor of an operator");
                return edit(tensor, run, options, set.report, one_of_several);
            }
        };
        let OutputSet { tensors, inherited, left_out, report, .. } = set;
        // A record of parts comes before the other checks, because it refuses an operand that parts would change.
        let record = match options.parts.count() {
            Some(of) => {
                let mut record = run.io.arguments.record(of, &target, run.requests)?;
                let stamps = tensors.iter().flat_map(|tensor| tensor.fill.operands()).map(Source::stamps);
                record.add_data(stamps.collect::<Result<Vec<_>, _>>()?.concat());
                Some(record)
            }
            None => None,
        };
        let (members, label) = (OutputMembers::of(&tensors, format, &target), target.label().to_owned());
        let mut files = OutputFiles::new(run, options, format);
        let added = files.add(target, options.path().map(Path::to_owned), tensors, inherited, &*left_out);
        added.map_err(|error| members.explain(error, &label, options, is_edit))?;
        match (record, &mut files.files[..]) {
            (Some(record), [OutputFile { plan, target, .. }]) => {
                let meter = Meter::new(run, None);
                write_parts(plan, target, record, options, run, report, &|more| meter.add(more))
            }
            _ => files.write(report),
        }
    }
}

impl<'a> OutputPlace<'a> {
    fn new(run: Run<'_>, options: &'a OutputOptions) -> Result<Self> {
        let path = options.path();
        let in_parts = options.parts.is_given();
        if in_parts && path.is_none() {
            bail!("--part: needs -o to a .zarr or .npy");
        }
        let index = path.filter(|path| options.to.is_none() && index::stem(path).is_some());
        // The shards limit which tensors an index can hold.
        let format = if index.is_some() { Format::SAFETENSORS } else { options.format()? };
        if index.is_some() && in_parts {
            bail!("--part: not with an index of shards: needs -o to a .zarr or .npy");
        }
        if format.is_folder() && path.is_none() {
            bail!("standard output: {} is a folder: name it with -o", format.argument());
        }
        if in_parts {
            run.io.arguments.refuse_stdin()?;
        }
        let target = match path {
            None => Target::Stdout(run.io.stdout.clone()),
            // With --part the output may exist, because earlier parts have made it.
            Some(path) => new_target(run, path, options.label(), format, options.no_clobber && !in_parts)?,
        };
        Ok(match index {
            Some(path) => Self::Index(ShardIndex::new(target, path.into())),
            None => Self::New { format, target },
        })
    }
}

fn edit(
    mut tensor: OutputTensor,
    run: Run<'_>,
    options: &OutputOptions,
    mut report: Report,
    one_of_several: Option<OneOfSeveral<'_>>,
) -> Result<Outcome> {
    if one_of_several.is_some_and(|one| one.is_check) {
        writing::check_edit(tensor)?;
        return Ok(Outcome::Done);
    }
    tensor.stores_empty = options.store_empty;
    if options.store_empty && tensor.fill.data().as_chunks().is_none() {
        bail!("{}: --store-empty: is not stored in chunks", tensor.label());
    }
    if options.is_dry_run() {
        let Meta { dtype, shape, .. } = tensor.fill.data().meta();
        report.line(format_args!("output: {} changed in place, {dtype} {shape:?}", tensor.label()));
        tensor.fill.finish()?;
        if options.explain {
            let name = one_of_several.map_or("", |one| one.name);
            report.plans(&[(name, writing::explain_edit(tensor)?)], options.json);
        }
        let Some(one) = one_of_several else { return report.print(run.io) };
        one.reports.borrow_mut().append(report);
        return Ok(Outcome::Done);
    }
    change(tensor, run, options.parts.part, "--in-place")?;
    Ok(Outcome::Done)
}

/// Changes a tensor or a share of it in place. A signal in the middle of the change is reported as one of `option`.
pub(crate) fn change(tensor: OutputTensor, run: Run<'_>, share: Option<Share>, option: &'static str) -> Result<()> {
    let meter = Meter::new(run, None);
    let changing = Arc::new(AtomicBool::new(false));
    let (begun, label, stderr) = (Arc::clone(&changing), tensor.label(), run.io.stderr.clone());
    signals::call_when_ended(move || {
        if begun.load(Ordering::SeqCst) {
            complain(&stderr, &anyhow!("{label}: is partly changed: ended by a signal in the middle of {option}"));
        }
    });
    let expect = |bytes| {
        meter.expect(bytes);
        changing.store(true, Ordering::SeqCst);
    };
    let edited = writing::edit(tensor, share, &expect, &|bytes| meter.add(bytes));
    changing.store(false, Ordering::SeqCst);
    Ok(edited?)
}

/// Makes the part that the options name, or moves all parts into place. `--no-clobber` is checked here, because an
/// output that these same parts have made does not count as existing.
fn write_parts(
    plan: &mut LaidOut,
    target: &Target,
    record: Record,
    output: &OutputOptions,
    run: Run<'_>,
    mut report: Report,
    progress: Progress<'_>,
) -> Result<Outcome> {
    let (options, dry_run) = (&output.parts, output.is_dry_run());
    let of = options.count().expect("--part or --finish");
    // An output that cannot be made in parts is refused before the parts begin.
    if options.part.is_some() && !dry_run {
        plan.begin(OutputKind::Part, &TextOptions::default())?;
    }
    let plan = &*plan;
    let shares = plan.shares()?;
    let ShareReport { own, units, writes, reads } = shares.describe(options.part.unwrap_or(Share { number: 1, of }));
    let mut parts = target.parts(record)?;
    let forget = |parts: &Parts<'_>| parts.place.forget().with_context(|| target.label());
    let finished = !options.restart && parts.is_finished()?;
    // A late part has nothing to do, but `--finish` must report an output that has lost chunks since it was finished.
    if finished && options.finish.is_some() && !parts.place.is_as_finished().with_context(|| target.label())? {
        bail!(
            "{}: was finished, and has lost, gained or resized files since then: --restart begins anew",
            target.label()
        );
    }
    if finished && !dry_run {
        forget(&parts)?;
        return Ok(Outcome::Done);
    }
    let kept = output.no_clobber && !finished && target.identity().is_some();
    ensure!(!kept, "{}: exists, and --no-clobber keeps it", target.label());
    if let Some(share) = options.part.filter(|_| dry_run) {
        let number = share.number;
        match (own.start + 1, own.end) {
            (first, last) if first > last => {
                report.line(format_args!("part {number} of {of}: none of {}", counted(units, "unit", "units")));
            }
            (first, last) => report.line(format_args!(
                "part {number} of {of}: units {first} to {last} of {units}, reads {} of data, writes {writes}",
                counted(reads, "byte", "bytes")
            )),
        }
        report.moves(plan, target.label());
        return report.print(run.io);
    }
    let Some(share) = options.part else { return finish_parts(&shares, &parts, of, run.io, dry_run) };
    if options.restart {
        parts.restart().with_context(|| target.label())?;
    }
    match make_part(&shares, &mut parts, share, progress) {
        // Another process may have made this part and moved all parts into place.
        _ if parts.is_finished().is_ok_and(|finished| finished) => forget(&parts)?,
        made => made?,
    }
    Ok(Outcome::Done)
}

fn make_part(
    shares: &Shares<'_>,
    parts: &mut Parts<'_>,
    share: Share,
    progress: Progress<'_>,
) -> crate::error::Result<()> {
    parts.begin(share.number)?;
    if parts.is_finished()? { Ok(()) } else { shares.write(parts, share, progress) }
}

/// Moves the output into place, or prints the missing parts.
fn finish_parts(shares: &Shares<'_>, parts: &Parts<'_>, of: usize, io: &Io, dry_run: bool) -> Result<Outcome> {
    let lock = parts.ledger.lock();
    let missing = shares.missing(parts, of)?;
    // Another process may have moved the output into place meanwhile.
    let finished = parts.is_finished()?;
    if !finished && !missing.is_empty() {
        unless_closed(writeln!(io.stdout.clone(), "{}", as_ranges(&missing))).context("standard output")?;
        return Ok(Outcome::Different);
    }
    if !finished && !dry_run {
        parts.finish(lock)?;
    }
    Ok(Outcome::Done)
}

fn as_ranges(numbers: &[usize]) -> String {
    let mut out = Vec::new();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => out.push(format!("{first}-{last}")),
            few => out.extend(few.iter().map(usize::to_string)),
        }
    }
    out.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_parts() {
        for (numbers, expected) in
            [(&[3, 7, 12, 13, 14][..], "3,7,12-14"), (&[1, 2], "1,2"), (&[1, 2, 3, 4], "1-4"), (&[5], "5"), (&[], "")]
        {
            assert_eq!(as_ranges(numbers), expected);
        }
    }
}
