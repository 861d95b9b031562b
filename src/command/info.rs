//! The sub-command `info`, which describes files and tensors.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueHint};

use super::messages::{counted, made_up, reason};
use super::operands::container_notes::Failures;
use super::operands::dtype_option::{AskedDTypes, Reinterpret};
use super::operands::member::Member;
use super::operands::operand_reader::{OpenMode, OperandReader};
use super::options::members::{MemberSelection, TakenOptions};
use super::options::{
    FILE, InputOptions, Operand, OptionWord, ThreadOptions, check_stdin, data_help, parse_words, word,
};
use super::outputs::dry_run::Report;
use super::process::io::{Io, Outcome, Run, complain, note};
use super::process::meter::Meter;
use crate::container::content::{Description, KnownTensor, MemberFile};
use crate::info::{self, AxisStats, ListOrder, Stats, UnreadTensor};
use crate::layout::axis::resolve_axis;
use crate::opening::input::Input;
use crate::opening::located::Located;
use crate::operators::fill::Limits;
use crate::parallel::{locked, share_by_size, threads_among_others, unlocked};
use crate::plans::explain::Explanation;
use crate::report::{full_name, printable};
use crate::storage::requests::as_address;
use crate::storage::source::Source;

/// The most items of a small constant. Lists count small constants, because a model has hundreds.
const SMALL_CONSTANT: usize = 16;

/// List the tensors of files: member, dtype, shape, size; with --json also format, order and offset of the data
///
/// Only headers are read, so this is instant for a file of any size. A .npz or .safetensors file without the name of a
/// member lists all members, then their sums, also by dtype and by shard; a * in the name matches any characters. A folder is a container of the tensors in its files. A
/// member that cannot be read is listed with the reason, and each file with such members gets a line on standard error.
/// --stats, --by-axis, --histogram and --hash read the items, too. Lines mention Fortran order and big-endian items, another
/// tensor with the same bytes (= NAME) or some of them, and for Zarr the chunks, the shards, the codec, the fill value, the dimension names and the version.
#[derive(Args)]
#[command(override_usage = "tensorop info [OPTIONS] <FILE>...", after_long_help = EXAMPLES)]
#[command(mut_arg("dtype", InputOptions::dtype_by_name))]
pub(super) struct Info {
    /// The tensors
    #[arg(value_name = "FILE", value_parser = FILE.parser(), required = true, allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensors."))]
    pub files: Vec<Operand>,
    /// Print the smallest and largest item, mean, standard deviation, and the numbers of NaN, infinite and zero items
    ///
    /// One line for each tensor, over the finite items; the standard deviation is that of the population. Numbers have at
    /// most seven digits, and … marks those that were cut. --json has all digits, the index of min, max and the first NaN,
    /// and exact quantiles, which are items of the tensor: the item of rank ceil(q n) in ascending order (NumPy's method
    /// inverted_cdf). The output is the same for any number of threads. Void, structured and long double items have no
    /// statistics (-, in JSON null), and strings only counts of 0.
    #[arg(long)]
    pub stats: bool,
    /// With --stats: print the plan for reading the items and its cost, and read none
    ///
    /// The plan of a tensor gives the direction of reading (along or across the windows), the size of the pieces and the
    /// number of times that each is read; the windows; the number of reads (from a server: requests) and of threads; and the
    /// memory. --json prints an array with an object for each tensor.
    #[arg(long, requires = "stats", conflicts_with_all = ["by_axis", "histogram", "hash", "sort"])]
    pub explain: bool,
    /// Print the statistics of each place along an axis; a negative N counts from the end
    ///
    /// Use --by-axis 0 for each row of a matrix, and --by-axis -1 for each channel of an image [H, W, C]. Indices are
    /// those of the whole tensor.
    #[arg(long, value_name = "N", value_parser = parse_axis)]
    pub by_axis: Option<i64>,
    /// Draw the distribution of the finite items between the smallest and the largest, in at most ten bins
    ///
    /// Bools, and integers in a small range, have a bin for each value.
    #[arg(long)]
    pub histogram: bool,
    /// Print the SHA-256 of the tensor as a .npy file in C order and little-endian, as numpy.save writes it
    ///
    /// Equal tensors have the same hash in every format, order and byte order, and sha256sum prints it for such a .npy.
    /// bfloat16 is hashed as <V2, and types of 8 bits or fewer that NumPy has no name for as |V1.
    #[arg(long)]
    pub hash: bool,
    /// Print names grouped at dots and slashes, with the tensors, items and bytes of each group
    ///
    /// A group of several dtypes ends with the sums of each, the most bytes first.
    /// Numbered layers of the same structure share one row, such as layers.{0..31}. With --stats, a second table has the
    /// statistics of all numbers in each group. With --json, the array has an object for each file; see below.
    #[arg(long, conflicts_with_all = ["by_axis", "histogram", "hash", "members", "explain"])]
    pub tree: bool,
    /// Print a JSON array with one object for each tensor
    #[arg(long, conflicts_with = "members")]
    pub json: bool,
    /// Print only the names of the members, one on each line
    #[arg(long, conflicts_with_all = ["stats", "by_axis", "histogram", "hash"])]
    pub members: bool,
    /// The order of the list [default: file]
    ///
    /// name and size sort the files, too; with --members only the tensors.
    #[arg(long, value_name = "WHAT", value_parser = parse_words(orders()), conflicts_with = "tree")]
    pub sort: Option<ListOrder>,
    #[command(flatten)]
    pub taken: TakenOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop info data.npy
  tensorop info 'model.safetensors:*.bias'
  tensorop info model.safetensors:head.bias --stats
  tensorop info model-folder --tree
  tensorop info model.safetensors --sort size
  tensorop info model.safetensors --only 'layers.0.*' --exclude '*.bias'
  tensorop info *.npy --json | jq '.[].shape'

With --json each object has file, name (member is the same), format (npy, npz, safetensors, index, pytorch, onnx, onnx-model, openvino, zarr, gguf, json, csv, tsv, raw), dtype \
(as --dtype takes it; fields as NumPy's descr), shape, order (C or F), byte_order (little, big, or null), items, bytes (as \
stored, before compression) and offset (of the items in the file, or null). --stats adds stats: min and max with their index, \
mean, std, nan, inf, zero, first_nan (its index, or null) and quantiles (at 0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99 and \
0.999). --by-axis adds by_axis (the same keys for each place), and --hash adds hash. shares is the name of another tensor with these bytes or some of \
them. Zarr adds chunks, shards, codecs, fill_value, \
dimension_names, attributes and zarr_format, and a file with metadata adds metadata. unlisted has the names of tensors in the \
shards of an index that it does not name. A tensor that cannot be read comes after the others, with what is known of it, otherwise \
null, and error (the reason). A file without tensors has one object, whose name is null. Without --json a metadata text is cut after 200 characters.

With --tree --json each object is a file, and has file, tensors (how many), dtype and shape (of a single tensor; else null), \
items, bytes, dtypes (the tensors, items and bytes of each dtype, if there are several), with --stats stats, and children: an object for each group or tensor below it, with the same keys, and name in place \
of file. The stats of a group have min and max (value, tensor, index), mean, std, nan, inf and zero over all of its tensors.

Exit status: 0, or 2 if anything that is listed cannot be read; the rest is listed. What a model holds beside tensors of known types \
is listed as not read, and is no failure.";

#[derive(Default)]
struct ListedFiles {
    infos: Vec<info::Info>,
    unread: Vec<UnreadTensor>,
    /// `None` if the items have no statistics.
    plans: Vec<(String, Option<Explanation>)>,
    lines: String,
}

impl Info {
    fn reads_items(&self) -> bool {
        self.stats || self.histogram || self.hash || self.by_axis.is_some()
    }

    fn read_items(&self, run: Run<'_>, mut source: Source, info: &mut info::Info) -> Result<()> {
        let Run { io, limits, .. } = run;
        let axis = self.by_axis.map(|axis| resolve(axis, &source)).transpose()?;
        // statistics take one pass, and quantiles usually another
        let of_stats = [self.stats || self.histogram, self.stats];
        let passes = of_stats.into_iter().chain([self.histogram, self.hash, axis.is_some()]).map(usize::from).sum();
        let meter = Meter::new(run, Some(source.bytes().saturating_mul(passes)));
        let progress = |bytes| meter.add(bytes);
        if self.stats || self.histogram {
            let stats = match self.stats {
                true => info::stats(&mut source, true, limits, &progress)?,
                // a histogram needs only the range
                false => info::stats(&mut source, false, limits, &progress)?,
            };
            if self.histogram {
                let of_stats = |stats| info::histogram(&source, stats, limits, &progress);
                info.histogram = Some(stats.as_ref().map_or(Ok(None), of_stats)?);
            }
            info.stats = self.stats.then_some(stats);
        }
        if let Some(axis) = axis {
            let mut places = if self.json { AxisStats::json() } else { AxisStats::table(io.style()) };
            let kept = |done: std::io::Result<()>| done.map_err(|error| crate::Error::from(error).within("statistics"));
            let mut push = |stats: Option<Stats>| kept(places.push(stats.as_ref()));
            info::by_axis(&mut source, axis, limits, &progress, &mut push)?;
            kept(places.finish())?;
            info.by_axis = Some((axis, places));
        }
        if self.hash {
            info.hash = Some(info::hash(&mut source, limits, &progress)?);
        }
        Ok(())
    }

    /// Reads the items of all tensors of a file.
    fn read_all(
        &self,
        run: Run<'_>,
        located: &Located,
        rows: &[(Member, Mutex<info::Info>)],
        asked: &AskedDTypes<'_>,
    ) -> Vec<Result<()>> {
        let asked: Vec<_> = rows.iter().map(|(member, _)| asked.of(member.name())).collect();
        let bytes: Vec<_> = rows.iter().map(|(_, info)| locked(info).stored.bytes as usize).collect();
        let mut reads = Vec::with_capacity(rows.len());
        let Ok(()) = share_by_size(
            run.limits.threads.for_requests(as_address(located.typed()).is_some()),
            &bytes,
            |n, threads| {
                let (run, (member, info)) = (Run { limits: Limits { threads, ..run.limits }, ..run }, &rows[n]);
                let source = member.source(asked[n]);
                Ok(source.and_then(|source| self.read_items(run, source, &mut locked(info))))
            },
            |_, read| {
                reads.push(read);
                Ok::<_, Infallible>(())
            },
        );
        reads
    }

    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let files = &self.files;
        check_stdin(files)?;
        let mut out = BufWriter::new(io.stdout.clone());
        let mut found = ListedFiles::default();
        let reader = OperandReader::new(io, &self.input, &self.threads)?;
        let asked = reader.asked(Reinterpret::Unsigned);
        reader.look_ahead(files, &self.taken, &asked);
        let mut outcome = Outcome::Done;
        // a list of rows is sorted once it is known
        let is_by_name = self.members && self.sort.is_some_and(|order| order != ListOrder::File);
        let mut taking = MemberSelection::new(&self.taken, is_by_name);
        for file in files {
            // an unreadable file must not hide the others
            match self.describe_all(&reader, file, &asked, &mut taking, &mut found) {
                Ok(Outcome::Done) => {}
                Ok(other) => outcome = other,
                Err(error) => outcome = complain(&io.stderr, &error),
            }
        }
        taking.check(files)?;
        let ListedFiles { mut infos, mut unread, plans, lines } = found;
        asked.finish()?;
        if self.explain {
            self.print_plans(io, &plans, &lines)?;
            return Ok(outcome);
        }
        if let Some(order) = self.sort.filter(|order| *order != ListOrder::File) {
            info::sort(&mut infos, &mut unread, order);
        }
        let printed = match () {
            () if self.json && self.tree => info::write_tree_json(&mut out, &infos),
            () if self.json => info::write_json(&mut out, &mut infos, &unread),
            () if infos.is_empty() && unread.is_empty() => Ok(()),
            () if self.tree => info::write_tree(&mut out, &infos, &unread, io.style()),
            () => info::write_table(&mut out, &mut infos, &unread, io.style()),
        };
        let printed = printed.and_then(|()| out.write_all(lines.as_bytes()));
        printed.and_then(|()| out.flush()).context("standard output")?;
        Ok(outcome)
    }

    fn print_plans(&self, io: &Io, plans: &[(String, Option<Explanation>)], lines: &str) -> Result<()> {
        if plans.is_empty() && lines.is_empty() && !self.json {
            return Ok(());
        }
        let mut report = Report::new("info", true);
        lines.lines().for_each(|line| report.line(format_args!("{line}")));
        let plans =
            plans.iter().map(|(label, plan)| (label.as_str(), plan.as_ref().ok_or("its items have no statistics")));
        report.plans_or_reasons(plans, self.json);
        report.print(io).map(drop)
    }

    /// An unreadable member does not stop the others.
    fn describe_all(
        &self,
        reader: &OperandReader<'_>,
        file: &Operand,
        asked: &AskedDTypes<'_>,
        taking: &mut MemberSelection<'_>,
        found: &mut ListedFiles,
    ) -> Result<Outcome> {
        let (input, selected) = taking.open(|filter| reader.open(file, OpenMode::Taking(filter)))?;
        let holds_none = selected.is_none();
        let mut selected = selected.unwrap_or_default();
        let mut outcome = Outcome::Done;
        if let Some(caution) = input.members().caution.filter(|_| input.member().is_none()) {
            note(&reader.run.io.stderr, &format!("{}: {caution}", input.label()))?;
        }
        asked.look_at_all(&input, &selected);
        let (located, file) = (&file.located, file.file(input.member()));
        let container = input.members().container.as_ref().filter(|_| holds_none);
        let metadata = container.and_then(|container| container.metadata.clone());
        if holds_none && !self.json && !self.members {
            found.lines.push_str(&format!("{}: holds no tensors\n", printable(&file)));
            for (key, value) in metadata.iter().flat_map(|metadata| metadata.shown.iter()) {
                found.lines.push_str(&info::metadata_line(key, value));
            }
        }
        if self.members && self.sort == Some(ListOrder::Size) {
            selected.sort_by_cached_key(|&n| Reverse(input.describe(n).map_or(0, |found| found.bytes)));
        }
        if !self.members && !self.json && input.member().is_none() && !self.input.makes_members() {
            // what lies beside the file and cannot be read is no fault of it
            for count in input.quantized(located, reader.run.requests).unwrap_or_default() {
                let line = format!("{}: {}: --dequantize reads them as numbers\n", printable(&file), made_up(&count));
                found.lines.push_str(&line);
            }
        }
        let described = found.infos.len();
        // FILE:NAME describes only the tensor
        let attachments = input.members().attachments.as_ref().filter(|_| input.member().is_none() && !self.members);
        let content: Arc<[String]> = match attachments.map(|attachments| attachments.listed()) {
            None => Arc::default(),
            Some(Ok(names)) => names.into(),
            Some(Err(error)) => {
                outcome = complain(&reader.run.io.stderr, &anyhow!("{}: {error}", input.label()));
                Arc::default()
            }
        };
        // `unread` have no row; `failed` have one, without their items; `passed` stop nothing
        let (mut unread, mut failed, mut passed) = (Failures::default(), Failures::default(), Failures::default());
        // plans cannot hold a reason, and a member that the command names needs no list
        let listed = |n| input.name(n).filter(|name| !self.explain && input.member() != Some(name));
        let (counts_constants, mut small, mut rows) = (self.counts_constants(&input), Vec::new(), Vec::new());
        if !self.members {
            found.infos.reserve(selected.len());
            rows.reserve(selected.len());
        }
        let is_alone = selected.len() == 1;
        for n in selected {
            let member = Member::new(&input, n);
            if self.members {
                found.lines.extend(member.name().into_iter().flat_map(|name| [printable(name), "\n".into()]));
                match Self::described(&member, asked) {
                    Err(error) if !input.stored(n).is_passed_over => unread.add(member, error),
                    Ok(_) | Err(_) => {}
                }
                continue;
            }
            let info = match Self::describe(&member, file.clone(), asked) {
                Ok(info) => info::Info { content: Arc::clone(&content), ..info },
                Err(error) => {
                    let is_passed = input.stored(n).is_passed_over && input.member() != input.name(n);
                    if is_passed { &mut passed } else { &mut unread }.add(member, error);
                    continue;
                }
            };
            if counts_constants && info.items() <= SMALL_CONSTANT && info.stored.is_constant {
                small.push(info);
                continue;
            }
            if self.explain && self.reads_items() {
                match member.source(asked.of(member.name())) {
                    Ok(source) => {
                        let (limits, bytes) = (reader.run.limits, info.stored.bytes as usize);
                        let threads =
                            if is_alone { limits.threads } else { threads_among_others(limits.threads, bytes) };
                        let plan = info::explain_stats(&source, Limits { threads, ..limits });
                        found.plans.push((full_name(&file, input.name(n)), plan));
                    }
                    Err(error) => {
                        unread.add(member, error);
                        continue;
                    }
                }
            }
            rows.push((member, Mutex::new(info)));
        }
        let reads = if self.explain || !self.reads_items() {
            rows.iter().map(|_| Ok(())).collect()
        } else {
            self.read_all(reader.run, located, &rows, asked)
        };
        for ((member, info), read) in rows.into_iter().zip(reads) {
            let mut info = unlocked(info);
            if let Err(error) = read {
                if listed(member.n).is_none() {
                    unread.add(member, error);
                    continue;
                }
                info.error = Some(reason(&error, &member.label));
                failed.add(member, error);
            }
            found.infos.push(info);
        }
        let counts_small = !small.is_empty() && (found.infos.len() > described || !unread.is_empty());
        if !counts_small {
            found.infos.append(&mut small);
        } else {
            let (file, count) = (printable(&file), counted(small.len(), "constant", "constants"));
            let line = format!("{file}: {count} of at most {SMALL_CONSTANT} items: --members lists them\n");
            found.lines.push_str(&line);
        }
        let faults = input.index_faults(self.taken.filter());
        if let Some(message) = faults.message() {
            note(&reader.run.io.stderr, &format!("{}: {message}", input.label()))?;
            let unlisted: Arc<[String]> = faults.names().into();
            found.infos[described..].iter_mut().for_each(|info| info.unlisted = Arc::clone(&unlisted));
        }
        info::mark_shared(&mut found.infos[described..]);
        // if no member can be read, the file is at fault
        let are_listed = found.infos.len() > described || counts_small || self.json;
        let all = passed.iter().chain(unread.iter().filter(|_| are_listed));
        let unread_of = |member, reason, known, lies_in: &MemberFile| {
            let (file, format) = (file.clone(), input.format_of(lies_in));
            let metadata = lies_in.metadata.as_ref().map(|metadata| Arc::clone(&metadata.shown));
            UnreadTensor { file, member, format, known, metadata, reason }
        };
        found.unread.extend(all.filter_map(|(n, reason)| {
            let lies_in = input.file_of(n).unwrap_or_default();
            Some(unread_of(Some(listed(n)?.to_owned()), Some(reason), input.stored(n).known, &lies_in))
        }));
        if holds_none && self.json {
            let lies_in = MemberFile { metadata, ..MemberFile::default() };
            found.unread.push(unread_of(None, None, KnownTensor::default(), &lies_in));
        }
        unread.extend(failed);
        let failed = unread.complain(&input, &reader.run.io.stderr);
        Ok(if outcome == Outcome::Done { failed } else { outcome })
    }

    /// Whether small constants are counted in one line in place of being listed.
    fn counts_constants(&self, input: &Input) -> bool {
        let is_list = !(self.members || self.json || self.tree || self.explain || self.reads_items());
        is_list && input.member().is_none() && self.taken.filter().only.is_empty()
    }

    /// `--dtype` decides the dtype of plain text.
    fn described(member: &Member, asked: &AskedDTypes<'_>) -> Result<Description> {
        let (Member { input, n, label }, asked) = (member, asked.of(member.name()));
        let is_text = !input.format().is_binary() && input.name(*n).is_none();
        let mut stored = match is_text && asked.is_asked() {
            true => Description::from_source(&member.source(asked)?),
            false => input.describe(*n)?,
        };
        if stored.blocks.is_some()
            && asked.is_bytes()
            && let Some(blocks) = input.source_as(*n, label.clone())?.blocks()
        {
            let Description { offset, elsewhere, .. } = stored;
            stored = Description { offset, elsewhere, ..Description::from_source(&blocks) };
        }
        let read = asked.read(&stored.meta.dtype, label, false)?;
        stored.meta = read.meta(&stored.meta).map_err(|error| anyhow!("{label}: {}", error.message()))?;
        if let Some(chunks) = &mut stored.chunks {
            for sides in [Some(&mut chunks.chunks), chunks.shards.as_mut()].into_iter().flatten() {
                // for packed items the last axis counts items, not bytes
                sides.last_mut().into_iter().for_each(|side| *side = side.saturating_mul(read.each()));
            }
        }
        Ok(stored)
    }

    fn describe(member: &Member, file: String, asked: &AskedDTypes<'_>) -> Result<info::Info> {
        let stored = Self::described(member, asked)?;
        let lies_in = member.input.file_of(member.n)?;
        Ok(info::Info {
            file,
            member: member.name().map(str::to_owned),
            format: member.input.format_of(&lies_in),
            stored,
            stats: None,
            histogram: None,
            hash: None,
            by_axis: None,
            metadata: lies_in.metadata.map(|metadata| Arc::clone(&metadata.shown)),
            content: Arc::default(),
            unlisted: Arc::default(),
            file_number: member.input.members().file_number(member.n),
            // files of a folder of dumps are not shards
            shard: lies_in.path.filter(|_| lies_in.format.is_none()),
            shared: None,
            error: None,
        })
    }
}

/// The words of `--sort`. `show` has the first two.
pub(super) fn orders() -> Vec<OptionWord<ListOrder>> {
    vec![
        word("file", "The order of the files as given, and of storage in each", ListOrder::File),
        word("name", "The name: layers.2 before layers.10", ListOrder::Name),
        word("size", "The size, the largest first", ListOrder::Size),
    ]
}

fn parse_axis(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "expected a whole number".to_owned())
}

fn resolve(axis: i64, source: &Source) -> Result<usize> {
    let (label, shape, rank) = (source.label(), source.shape(), source.shape().len());
    resolve_axis(axis, rank).ok_or_else(|| match rank {
        0 => anyhow!("{label}: --by-axis {axis}: shape [] has no axis"),
        _ => anyhow!("{label}: --by-axis {axis}: expected -{rank} to {} (shape {shape:?})", rank - 1),
    })
}
