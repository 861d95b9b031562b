//! The sub-command `diff`, which compares two tensors, or many by name.

mod accept;
mod acceptance;
mod compared;
mod first;
mod pairs;
mod plans;
mod renames;
pub(crate) mod unlisted;
mod write_accepted;

use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow, bail};
use clap::builder::ArgPredicate;
use clap::{Args, ValueHint};

use self::accept::{Changes, one};
use self::acceptance::{AcceptOptions, is_damaged};
use self::compared::{ComparedOperand, find, fits_as_stored};
use self::pairs::{ComparedSides, Comparing, NamedPairs, open_two, pair_up};
use self::plans::{draw, explain_many, explain_two, map_lines};
use self::renames::{Renames, as_stored_line};
use super::messages::{about_items, message, option_error, unless_closed};
use super::operands::dtype_option::{AskedDTypes, Reinterpret};
use super::operands::member::Member;
use super::operands::operand_reader::OperandReader;
use super::options::{
    ACTUAL, DumpOptions, EXPECTED, InputOptions, JunitOptions, MemberOptions, Operand, OptionWord, PassOptions,
    ThreadOptions, check_stdin, data_help, parse_number, parse_path, parse_words, word, write_junit,
};
use super::process::io::{Io, Outcome, Run, RunSettings, complain, note};
use super::process::meter::Meter;
use super::show::png_target;
use crate::diff::{self, Effort, OptionNames, Options, Reason, Style};
use crate::operators::fill::Limits;
use crate::report::printable;
use crate::reports::maps;
use crate::reports::models::{Models, NamedResult, ReportForm, SortKey, TensorVerdict, add_to_junit};
use crate::storage::source::{Hold, Source};
use crate::storage::targets::target::Target;

/// Compare tensors, or whole models: status 0 if they are the same, 1 if they differ
///
/// Two items are the same if their bits are the same, if both are NaN, or if a tolerance accepts them. --atol and --rtol
/// accept |ACTUAL - EXPECTED| <= atol + rtol * |EXPECTED|, in float64 (for complex numbers: the modulus). --ulp accepts at
/// most N steps from one representable value to the next. An infinity equals only itself. Differences of integers, bools
/// and dates are exact. Without a tolerance +0 and -0 differ.
///
/// Another dtype or shape is a difference. Byte order, C or Fortran order and the file format do not matter. The report
/// names metadata that differ, and content of containers that is not a tensor; they count as a difference only with
/// --metadata.
///
/// Containers of several tensors, indexes of shards and folders are compared tensor by tensor, by name. A tensor that only
/// one side has is a difference. In a folder the name of a tensor is the path of its file without the ending; in a
/// container inside the folder it is PATH:NAME. If --only and --exclude leave one model in a folder, its tensors have the
/// names of that model. If one side is FILE:NAME, the tensor NAME of a container on the other side is compared with it. A *
/// after a colon, as in 'FOLDER:*.bias', selects the matching tensors on that side.
///
/// Some files of a folder are skipped: hidden files, files with other endings, JSON objects without data, and JSON and CSV
/// beside a model. An index takes the place of the files that it names. Files of formats that hold tensors but cannot be
/// read, such as .h5, are unreadable, unless --exclude leaves out their whole names; so are .bin, .raw and .dat files without
/// a header and without dtypes and shapes from --shapes, but two with equal bytes are the same. A tensor that cannot be read is
/// reported, and does not stop the others. Two sides without any tensor are an error. The report has a line for each tensor
/// that is not the same, the worst first.
#[derive(Args)]
#[command(override_usage = "tensorop diff [OPTIONS] <EXPECTED> <ACTUAL>", after_long_help = EXAMPLES)]
#[command(mut_arg("dtype", InputOptions::dtype_by_name))]
#[command(mut_arg("rename", MemberOptions::renaming_expected))]
#[command(mut_arg("verbose", |arg| arg.conflicts_with("summary")))]
#[command(mut_arg("ignore_dtype", |arg| arg.default_value_if("dequantize", ArgPredicate::IsPresent, "true")))]
pub(crate) struct Diff {
    /// The expected tensor, container or folder
    #[arg(value_name = "EXPECTED", value_parser = EXPECTED.parser(), allow_negative_numbers = true, value_hint = ValueHint::AnyPath, long_help = data_help("The expected tensor, container or folder."))]
    pub expected: Operand,
    /// The tensor, container or folder to check
    #[arg(value_name = "ACTUAL", value_parser = ACTUAL.parser(), allow_negative_numbers = true, value_hint = ValueHint::AnyPath)]
    pub actual: Operand,
    #[command(flatten)]
    pub passing: PassOptions,
    /// Show the N mismatches with the largest |ACTUAL - EXPECTED| instead of the first; NaN and infinite ones come before all
    ///
    /// If several tensors are compared, they are listed below the line of each.
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, conflicts_with = "max_mismatch", allow_hyphen_values = true, help_heading = REPORT)]
    pub worst: Option<usize>,
    /// Show the first N mismatches
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 5, allow_hyphen_values = true, help_heading = REPORT)]
    pub max_mismatch: usize,
    /// The order of the lines in the report on several tensors, the worst first [default: snr]
    ///
    /// Different tensors come first, then missing and extra tensors, and those within the tolerance.
    #[arg(long, value_name = "WHAT", value_parser = parse_words(sort_keys()), help_heading = REPORT)]
    pub sort: Option<SortKey>,
    /// The most lines of the report on several tensors [default: 40 on a terminal, otherwise all]
    ///
    /// With --json the object has all tensors, in the order of their names.
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = REPORT)]
    pub limit: Option<usize>,
    /// Draw the density of mismatches as text, over the last two axes (for one tensor, below the report)
    #[arg(long, conflicts_with_all = ["json", "summary"], help_heading = REPORT)]
    pub map: bool,
    /// Draw |ACTUAL - EXPECTED| to a PNG file like show --image: over the last two axes, the largest along the others
    ///
    /// For one tensor of at least one axis; equal tensors are drawn, too. NaN against a number is red, and infinity white.
    #[arg(long, value_name = "OUT.png", value_parser = parse_path(), conflicts_with = "accept", allow_hyphen_values = true, value_hint = ValueHint::FilePath, help_heading = REPORT)]
    pub heatmap: Option<PathBuf>,
    #[command(flatten)]
    pub accepting: AcceptOptions,
    /// Print one line: the verdict, the largest error, rmse, cosine and the limits that failed (with --json still the object)
    ///
    /// If several tensors are compared, the line names the worst.
    #[arg(short = 'q', long, visible_alias = "quiet", help_heading = REPORT)]
    pub summary: bool,
    /// Print one JSON object
    #[arg(long, help_heading = REPORT)]
    pub json: bool,
    #[command(flatten)]
    pub junit: JunitOptions,
    /// Print the plan for reading the tensors and its cost, and compare nothing
    ///
    /// Each pair has a plan, unless dtypes or shapes differ. It gives, for each side, the direction of reading (along or across
    /// the windows), the size of the pieces and the number of times that each is read; the windows; the number of reads
    /// (from a server: requests) and of threads; and the memory. --json prints an array with an object for each pair. The
    /// status is 0.
    #[arg(long, conflicts_with_all = ["accept", "map", "heatmap", "worst", "sort", "limit", "summary", "verbose", "junit"], help_heading = REPORT)]
    pub explain: bool,
    /// Write options in the report as keyword arguments of Python, as in rtol=1e-5
    #[arg(long, hide = true)]
    pub keywords: bool,
    #[command(flatten)]
    pub dumps: DumpOptions,
    #[command(flatten)]
    pub members: MemberOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

const REPORT: &str = "Report";

pub(crate) const JUNIT_SUITE: &str = "tensorop diff";

const EXAMPLES: &str = "\
Examples:
  tensorop diff golden.npy out.npy
  tensorop diff golden.npy out.npy --rtol 1e-5 --atol 1e-8
  tensorop diff test_data_set_0/output_0.pb out.npy --ulp 2
  tensorop diff old.safetensors:head.weight new.safetensors:head.weight --json
  tensorop diff golden_bits.npy out.npy --dtype bfloat16     # bfloat16 that was saved as uint16
  tensorop diff ref 'npu/*.bin:float32[1,8,6,5]' --axes 0,3,1,2 --first

The report shows the smallest tolerances that would have passed.

With --json the keys are: equal; reason (null, dtype, shape, values, metadata); expected and actual (dtype and shape); items; \
mismatches; nonfinite_mismatches and first_nonfinite (the number of mismatches with an item that is NaN, NaT or infinite on either \
side, and the index of the first; null if the items are not numbers); max_abs, max_rel and max_ulp (over all items that are neither \
NaN nor infinite on either side); min_atol, min_rtol and min_ulp (the smallest that would have passed without the others); first \
(or, with --worst, worst: rows of index, flat, expected, actual, abs, rel, ulp); metrics (mean_abs, rmse, cosine, snr_db, psnr_db, \
pearson); quantiles (of |ACTUAL - EXPECTED| at 0.5, 0.9, 0.99, 0.999); axes (for each axis the number of places with a mismatch, and \
their ranges); metadata (the names of metadata that differ); content (the names of content of the containers that is not a tensor and \
differs); and agreeing_axes, if shapes or values differ and the values pass under these --axes.

For several tensors the keys are: equal; counts (same, within, different, missing, extra, unreadable); tensors, each with name, \
verdict and the keys above, error if it is unreadable, and renamed if it is missing or extra and each side has exactly one tensor \
with these bytes (the other name); left_alone (the paths of files without tensors); unlisted (the names of tensors that no index \
names); rename if a rule OLD=NEW joins all missing and extra tensors; metadata and content (the names of metadata of the files, and \
of their content that is not a tensor, that differ); and with --first not_compared (the number of tensors after it).

Metrics are computed over the items that are finite on both sides. They are null if undefined: all of them without such an item, \
pearson if one side is constant, psnr_db and pearson for complex numbers. If the range or the sum of squares of EXPECTED is zero, \
psnr_db and snr_db are -Infinity, and without any error Infinity.

--dtype also reads unsigned integers as another dtype of the same size (uint16 as bfloat16, uint8 as float8_e4m3fn).

Exit status: 0 the same, 1 different, 2 any error, also if one of several tensors cannot be read.";

const TERMINAL_LINES: usize = 40;

fn sort_keys() -> Vec<OptionWord<SortKey>> {
    vec![
        word("snr", "Items that differ by NaN or infinity, then the lowest signal to noise ratio", SortKey::Snr),
        word("cosine", "Items that differ by NaN or infinity, then the lowest cosine", SortKey::Cosine),
        word("abs", "Items that differ by NaN or infinity, then the largest |ACTUAL - EXPECTED|", SortKey::Abs),
        word("share", "The largest share of mismatches", SortKey::Share),
        word("name", "The name, whatever the verdict: layers.2 before layers.10", SortKey::Name),
    ]
}

/// Ignores a closed pipe.
pub(crate) fn print(io: &Io, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io.stdout.clone());
    unless_closed(write(&mut out).and_then(|()| out.flush())).context("standard output")
}

impl Diff {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let shapes = self.dumps.shapes()?;
        let settings = RunSettings { quiet: self.summary, ..(&self.threads).into() };
        let reader = OperandReader::new(io, &self.input, settings)?;
        let reader = OperandReader { shapes: shapes.as_ref(), rereads: self.is_golden(), compares: true, ..reader };
        let run = reader.run;
        let accepts = !self.explain && self.accepting.accepts(io, &self.expected.located)?;
        if self.passing.metadata && accepts {
            bail!("--metadata: TENSOROP_UPDATE_GOLDEN=1 accepts tensors, not metadata: leave one of the two out");
        }
        self.dumps.check_accepting(accepts)?;
        let operands = [&self.expected, &self.actual];
        check_stdin(operands)?;
        let located = operands.map(|operand| &operand.located);
        let taken = self.members.taken.filter();
        let offered = |error| self.accepting.offer_to_make(located, error);
        let (expected, fault) = match find(&reader, operands[0], accepts, taken) {
            Err(error) if self.is_golden() && (is_damaged(&error) || self.kept(io).is_some()) => {
                (ComparedOperand::Absent, Some(offered(error)))
            }
            found => (found.map_err(offered)?, None),
        };
        let actual = find(&reader, operands[1], false, taken)?;
        let sides = pair_up(&reader, operands, &[expected, actual], &self.members)?;
        self.dumps.check_shapes(shapes.as_ref())?;
        match sides {
            ComparedSides::Two(found) => self.two(run, accepts, &found),
            ComparedSides::New(found) => {
                let open = || found.source(self.asked(io).of(found.name()));
                let damage = fault.map(|fault| self.damage(run, fault, &|| one(open()?))).transpose()?;
                let why = damage.unwrap_or_else(|| format!("{} does not exist", self.expected.label));
                self.new_one(run, accepts, &found, why)
            }
            ComparedSides::Many(pairs) => {
                let damage =
                    fault.map(|fault| self.damage(run, fault, &|| pairs.actual(&self.asked(io)))).transpose()?;
                damage.map_or(Ok(()), |why| note(&io.stderr, &why))?;
                self.many(run, accepts, &pairs)
            }
        }
    }

    pub(crate) fn asked<'a>(&'a self, io: &'a Io) -> AskedDTypes<'a> {
        AskedDTypes::new(&self.input, Reinterpret::Unsigned, io)
    }

    pub(crate) fn style(&self, io: &Io) -> Style {
        if self.keywords { io.style().with_option_names(OptionNames::Keywords) } else { io.style() }
    }

    /// With `--json` the lines go to standard error, so that standard output is one object.
    pub(crate) fn tell(&self, io: &Io, lines: &[String]) -> Result<Outcome> {
        for line in lines {
            match self.json {
                true => unless_closed(writeln!(io.stderr.clone(), "{line}")).context("standard error")?,
                false => print(io, &mut |out| writeln!(out, "{line}"))?,
            }
        }
        Ok(Outcome::Done)
    }

    pub(crate) fn options(&self, name: &str) -> Options {
        let mut options = self.passing.options(name);
        (options.shown, options.worst, options.axes) = (self.max_mismatch, self.worst, self.dumps.axes(name));
        options
    }

    pub(crate) fn form(&self, io: &Io) -> ReportForm {
        let screen = || io.stdout.is_terminal().then_some(TERMINAL_LINES);
        match (self.json, self.summary) {
            (true, _) => ReportForm::Json,
            (false, true) => ReportForm::Line,
            (false, false) => {
                ReportForm::Table { sort: self.sort.unwrap_or_default(), limit: self.limit.or_else(screen) }
            }
        }
    }

    pub(crate) fn effort(&self, limits: Limits) -> Effort {
        Effort { limits, quantiles: self.json, of_files: false, permutations: true }
    }

    fn two(&self, run: Run<'_>, accepts: bool, found: &[Member; 2]) -> Result<Outcome> {
        let Run { io, limits, .. } = run;
        let asked = self.asked(io);
        let named = found[0].name().or(found[1].name()).map(|name| self.members.renamed(name));
        let damage = |error: &anyhow::Error| (self.is_golden() && is_damaged(error)).then(|| message(error));
        let sources = open_two(found, asked.of(named.as_deref()));
        if let Some(why) = sources.as_ref().err().and_then(damage) {
            return self.new_one(run, accepts, &found[1], why);
        }
        let [mut expected, mut actual] = sources?;
        asked.finish()?;
        let name = self.name(found, [&expected, &actual])?;
        let (options, effort) = (self.options(&name), Effort { of_files: true, ..self.effort(limits) });
        options.check_axes(&actual).map_err(option_error)?;
        if self.explain {
            return explain_two(run, [&expected, &actual], &options, self.json);
        }
        if accepts || self.map || self.heatmap.is_some() {
            // the items are read again below, but a pipe gives them once, and a server would get each request twice
            for source in [&mut expected, &mut actual] {
                source.hold(Hold::Local, limits.threads)?;
            }
        }
        let drawn = match &self.heatmap {
            Some(path) => {
                maps::check_plane(&expected, &actual, &options)?.map(|()| png_target(path, io)).transpose()?
            }
            None => None,
        };
        if drawn.as_ref().is_some_and(|target| matches!(target, Target::Stdout(_))) {
            bail!("--heatmap: standard output has the report: name a file");
        }
        let (junit, mut report) = self.junit.begin(&[&self.expected, &self.actual])?.unzip();
        let meter = Meter::new(run, Some(expected.bytes().saturating_add(actual.bytes())));
        let progress = |bytes| meter.add(bytes);
        let compared = diff::compare_sources(&mut expected, &mut actual, &options, effort, &progress);
        let compared = compared.map_err(anyhow::Error::from);
        if let Some(why) = compared.as_ref().err().and_then(damage) {
            return self.new_one(run, accepts, &found[1], why);
        }
        let difference = compared?;
        let open = || open_two(found, asked.of(named.as_deref()));
        let found_in = found.each_ref().map(|member| (&*member.input, member.n));
        let is_as_stored = !self.summary && fits_as_stored(found_in, open, &difference, &options, effort)?;
        meter.finish();
        // errors of accepting come before the report
        let accepts = accepts && !difference.equal();
        let kept = self.passing.ignore_dtype.then(|| expected.dtype().clone());
        let mut changes =
            || Changes::for_file(&self.expected.located, Some(&found[0]), &mut actual, kept.clone(), limits);
        let changes = accepts.then(&mut changes).transpose()?;
        let void = [expected.dtype(), actual.dtype()].into_iter().find(|dtype| dtype.is_ambiguous()).cloned();
        let style = self.style(io);
        // the summary is enough for accepted tensors, unless `--worst` lists items
        let is_brief = changes.is_some() && self.worst.is_none();
        print(io, &mut |out| match (self.json, self.summary || is_brief) {
            (true, _) => difference.write_json(out),
            // the line about the written file is enough
            (false, true) if self.summary && changes.is_some() => Ok(()),
            (false, true) => writeln!(out, "{}", difference.summary(style)),
            (false, false) => difference.write_report(out, style).and_then(|()| match (difference.reason(), &void) {
                (Some(Reason::Dtype), Some(void)) => writeln!(out, "  {}", about_items(void.name(), void)),
                (Some(Reason::Dtype), None) if !self.passing.ignore_dtype => {
                    writeln!(out, "  {} compares the values", style.flag("ignore_dtype"))
                }
                _ => Ok(()),
            }),
        })?;
        if is_as_stored {
            self.tell(io, as_stored_line(std::slice::from_ref(&name)).as_slice())?;
        }
        if let Some(report) = &mut report {
            let file = || self.expected.located.output().0.display().to_string();
            let shown = if name.is_empty() { file() } else { name.clone() };
            add_to_junit(report, &shown, &NamedResult::Both(Box::new(difference.clone())))?;
        }
        write_junit(junit, report, JUNIT_SUITE)?;
        if self.map && !matches!(difference.reason(), Some(Reason::Dtype | Reason::Shape)) {
            let lines = map_lines([&mut expected, &mut actual], &options, limits)?;
            print(io, &mut |out| {
                writeln!(out)?;
                lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
            })?;
        }
        match drawn {
            None => {
                if let Some(path) = self.heatmap.as_ref().filter(|_| !self.summary) {
                    // the report gives the difference
                    let path = path.display().to_string();
                    self.tell(io, &[format!("no {}: another dtype or shape", printable(&path))])?;
                }
            }
            Some(target) => {
                let line = draw([expected, actual.another()?], &options, &target, limits)?.filter(|_| !self.summary);
                self.tell(io, line.as_slice())?;
            }
        }
        let actual = RefCell::new(Some(actual));
        let open = || actual.take().expect("one tensor is read once more");
        match changes {
            Some(changes) => self.accept(run, changes, &|_| Ok((open(), self.options(&name)))),
            None => self.end(run, difference.equal(), &|| one(open())),
        }
    }

    fn name(&self, found: &[Member; 2], [expected, actual]: [&Source; 2]) -> Result<String> {
        let old = expected.member().or(actual.member()).unwrap_or_default();
        let name = self.members.renamed(old);
        self.members.check_renames_of_expected(&[old], &[actual.member().unwrap_or_default()])?;
        let beside = [found[0].input.names_beside(), found[1].input.names_beside()].concat();
        self.members.taken.check_names(&[&name], &beside)?;
        self.check_globs(&[&name])?;
        if !self.members.taken.takes(&name) {
            bail!("--exclude: leaves no tensor to compare");
        }
        Ok(name)
    }

    pub(crate) fn verbose_option(&self) -> &'static str {
        if self.keywords { "verbose=True" } else { "-v" }
    }

    fn many(&self, run: Run<'_>, accepts: bool, pairs: &NamedPairs) -> Result<Outcome> {
        let Run { io, limits, .. } = run;
        for (option, is_given) in [("--map", self.map), ("--heatmap", self.heatmap.is_some())] {
            if is_given {
                bail!("{option}: takes one tensor, got several: name a member after a colon, or a file");
            }
        }
        self.check_globs(&pairs.named.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
        let asked = self.asked(io);
        pairs.show_dtypes(&asked);
        if self.explain {
            return explain_many(run, pairs, &asked, &|name| self.options(name), self.json);
        }
        if self.dumps.first {
            return self.first(run, pairs, &asked);
        }
        let meter = Meter::new(run, Some(pairs.bytes()));
        let (junit, report) = self.junit.begin(&[&self.expected, &self.actual])?.unzip();
        let mut models = Models::new(self.form(io), self.style(io));
        (models.junit, models.only_different) = (report, self.dumps.only_different);
        let renames = Renames::find(pairs, &asked, limits, self.members.rename.is_empty());
        let how = Comparing {
            pairs,
            asked: &asked,
            options: &|name| self.options(name),
            effort: self.effort(limits),
            is_golden: self.is_golden(),
            partner: &|side, name| renames.partner(side, name).map(str::to_owned),
            as_stored: Mutex::default(),
        };
        let failed = how.compare(&mut models, &|bytes| meter.add(bytes))?;
        let labels = [&*self.expected.label, &self.actual.label];
        models.unlisted = unlisted::compare(pairs, labels, &self.members, &asked, how.options, how.effort);
        asked.finish()?;
        meter.finish();
        // errors of accepting come before the report
        let accepts = accepts && !models.equal();
        if let [first, ..] = &models.unlisted.different[..]
            && accepts
        {
            bail!("--accept: {first} differs, and no index names it: --exclude leaves it out of the comparison");
        }
        let keeping = self.passing.ignore_dtype.then_some(limits);
        let (located, members) = (&self.expected.located, &self.members);
        let changes =
            accepts.then(|| Changes::for_files(pairs, &failed, located, members, &asked, keeping)).transpose()?;
        let left_alone = pairs.left_alone();
        let beside = pairs.folders().flat_map(|folder| &folder.beside).map(|beside| beside.path.display().to_string());
        models.left_alone = left_alone.iter().cloned().chain(beside).collect();
        models.rename = renames.rule.as_ref().map(|rule| rule.text().to_owned());
        print(io, &mut |out| {
            if self.summary && !self.json && changes.is_some() {
                // the lines about the written files are enough
                return Ok(());
            }
            models.write(out)?;
            if self.json || self.summary {
                return Ok(());
            }
            self.write_left_alone(out, &left_alone)?;
            self.lines_of_names(pairs, &how).iter().try_for_each(|line| writeln!(out, "  {line}"))?;
            renames.write(out, self.style(io))
        })?;
        write_junit(junit, models.take_junit()?, JUNIT_SUITE)?;
        if self.json {
            self.tell(io, &models.index_lines())?;
            self.tell(io, &self.lines_of_names(pairs, &how))?;
        }
        let outcome = match models.unreadable() {
            None if changes.is_none() => self.end(run, models.equal(), &|| pairs.actual(&asked))?,
            None => Outcome::from_verdict(models.equal()),
            // without every tensor the models have no verdict
            Some(first) => {
                let (count, of) =
                    (models.counts(|verdict| verdict == TensorVerdict::Unreadable), models.counts(|_| true));
                let which = if count == 1 { "" } else { ", the first" };
                // if the table has every reason, a repetition would look like another error
                let reason = if models.has_all_lines() { String::new() } else { format!("{which}: {first}") };
                complain(&io.stderr, &anyhow!("{count} of {of} tensors cannot be read{reason}"))
            }
        };
        let Some(changes) = changes else { return Ok(outcome) };
        let open = |pair: Option<usize>| {
            let (name, numbers) = &pairs.named[pair.expect("tensors are compared by name")];
            let n = numbers[1].expect("ACTUAL has each tensor that is written");
            Ok((pairs.open_one(1, n, asked.of(Some(name)))?, self.options(name)))
        };
        let accepted = self.accept(run, changes, &open)?;
        Ok(if outcome == Outcome::Incomplete { outcome } else { accepted })
    }
}
