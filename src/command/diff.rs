//! The sub-command `diff`, which compares two tensors, or many by their names.

use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::accept::Changes;
use super::asked::{Asked, Reinterpret};
use super::io::{Io, Outcome};
use super::messages::{about_items, complain, unless_closed};
use super::meter::Meter;
use super::options::{
    ByName, InputOptions, MemberOptions, OperandArg, ThreadOptions, Word, data_help, parse_number, parse_words, word,
};
use super::show::{png_target, write_png};
use super::sides::{ACTUAL, ComparedSides, Comparing, EXPECTED, NamedPairs, find, open_two, pair_up};
use super::sources::{FoundTensor, OperandReader, check_stdin, typed_alone};
use crate::diff::maps::{self, Density};
use crate::diff::models::{Models, ReportForm, SortKey, Verdict};
use crate::diff::{self, Allowed, Effort, MetricLimits, Options, Reason};
use crate::format::collection::TensorPlace;
use crate::ops::fill::Limits;
use crate::picture::Picture;
use crate::report::printable;
use crate::storage::source::Source;
use crate::storage::target::Target;

/// Compare tensors, or whole models: status 0 if they are the same, 1 if they differ
///
/// Two items are the same if their bits are, or both are NaN, or a tolerance that is given accepts them: --atol and
/// --rtol if |ACTUAL - EXPECTED| <= atol + rtol * |EXPECTED|, in float64 (of complex numbers the modulus), or --ulp if
/// no more than so many steps from one representable value to the next lie between them. Infinities are the same only
/// as themselves. Differences of integers, bools and dates are exact. Without a tolerance +0 and -0 differ.
///
/// Another dtype or shape is a difference. Byte order, C or Fortran order and the format of the file are none.
///
/// Containers of several tensors, an index of shards and folders are compared tensor by tensor, by name; a tensor that
/// only one side has is a difference. In a folder the name of a tensor is the path of its file there, without the
/// ending; of one in a container with :NAME behind it. Files of other endings than those of formats that are read,
/// hidden ones and JSON objects without data are left alone; an index stands for the files that it names. The report has
/// a line for each tensor that is not the same, the worst first.
#[derive(Args)]
#[command(override_usage = "tensorop diff [OPTIONS] <EXPECTED> <ACTUAL>", after_long_help = EXAMPLES)]
pub(super) struct Diff {
    /// The tensor, container or folder that is right
    #[arg(value_name = "EXPECTED", allow_negative_numbers = true, value_hint = ValueHint::AnyPath, long_help = data_help("The tensor, container or folder that is right."))]
    pub expected: OperandArg,
    /// The tensor, container or folder to be checked
    #[arg(value_name = "ACTUAL", allow_negative_numbers = true, value_hint = ValueHint::AnyPath)]
    pub actual: OperandArg,
    /// The largest absolute error that passes; GLOB=A of the tensors whose names match
    ///
    /// Can be given several times: the last that matches the name of a tensor decides.
    #[arg(long, value_name = "A", value_parser = parse_tolerances, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub atol: Vec<ByName<f64>>,
    /// The largest error relative to EXPECTED that passes, with --atol their sum; or GLOB=R
    #[arg(long, value_name = "R", value_parser = parse_tolerances, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub rtol: Vec<ByName<f64>>,
    /// How many representable values apart still passes (0: +0 equals -0); or GLOB=N
    ///
    /// In the format of the items themselves: neighbours are 1 apart. Of integers and dates it is their difference, of
    /// complex numbers the larger of both parts.
    #[arg(long, value_name = "N", value_parser = parse_steps, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub ulp: Vec<ByName<u64>>,
    /// NaNs of different bits differ
    #[arg(long, help_heading = HEADING)]
    pub nan_differs: bool,
    /// Compare values, whatever the dtypes
    ///
    /// Integers with integers exactly, other numbers as float64 or complex128, strings as text. What has no common
    /// meaning (strings and numbers, structured dtypes) still differs.
    #[arg(long, help_heading = HEADING)]
    pub ignore_dtype: bool,
    /// How many items of a tensor may fail: a number, or a share in per cent such as 0.1%
    ///
    /// The tensor passes if 100 x mismatches <= P x items, exactly as P is typed.
    #[arg(long, value_name = "N|P%", value_parser = str::parse::<Allowed>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub allow: Option<Allowed>,
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Show the N mismatches with the largest |ACTUAL - EXPECTED|, NaN and infinite ones before all, instead of the first
    ///
    /// Of several tensors they are listed below the line of each.
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, conflicts_with = "max_mismatch", allow_hyphen_values = true, help_heading = REPORT)]
    pub worst: Option<usize>,
    /// How many mismatches to show, the first ones
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 5, allow_hyphen_values = true, help_heading = REPORT)]
    pub max_mismatch: usize,
    /// What the worst of several tensors is, of which the report has a line each [default: snr]
    ///
    /// Those that differ come first, then missing, extra and those within the tolerance.
    #[arg(long, value_name = "WHAT", value_parser = parse_words(sort_keys()), help_heading = REPORT)]
    pub sort: Option<SortKey>,
    /// How many lines the report on several tensors has at most [default: 40 on a terminal, else all]
    ///
    /// With --json the object has all tensors, in the order of their names.
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = REPORT)]
    pub limit: Option<usize>,
    /// Draw in text where mismatches are dense, over the last two axes (of one tensor, below the report)
    #[arg(long, conflicts_with_all = ["json", "summary"], help_heading = REPORT)]
    pub map: bool,
    /// Draw |ACTUAL - EXPECTED| to a PNG file, as show --image does: over the last two axes, of the others the largest
    ///
    /// For one tensor of at least one axis; drawn also where the tensors are equal. NaN against a number is red, infinity
    /// white.
    #[arg(long, value_name = "OUT.png", value_parser = OsStringValueParser::new().map(PathBuf::from), conflicts_with = "accept", allow_hyphen_values = true, value_hint = ValueHint::FilePath, help_heading = REPORT)]
    pub heatmap: Option<PathBuf>,
    /// Where ACTUAL does not pass, make it what is expected: EXPECTED is written anew
    ///
    /// In EXPECTED's own format, in C order, each file as a whole or not at all, with a line for each; the status is then 0.
    /// What is not written as it is, bytes without a header (FILE:DTYPE[DIMS]) and Zarr stores of version 2, takes items of
    /// the same dtype and shape where it lies, which is not atomic, and anything else is refused. Tensors that only ACTUAL
    /// has are added (in a folder as files of ACTUAL's format), an EXPECTED that is not there is made, and what only
    /// EXPECTED has is named and left. TENSOROP_UPDATE_GOLDEN=1 in the environment does the same.
    #[arg(long, help_heading = REPORT)]
    pub accept: bool,
    /// Print the verdict in one line, with the largest error, rmse, cosine and what failed (with --json still the object)
    ///
    /// Of several tensors the line names the worst.
    #[arg(short = 'q', long, visible_alias = "quiet", help_heading = REPORT)]
    pub summary: bool,
    /// Print one JSON object
    #[arg(long, help_heading = REPORT)]
    pub json: bool,
    #[command(flatten)]
    pub members: MemberOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

/// Limits on metrics: if there is any, items need pass only if a tolerance is given, too.
#[derive(Args)]
#[command(next_help_heading = "What passes as a whole")]
pub(super) struct LimitOptions {
    /// The least cosine of the angle between the flattened tensors
    ///
    /// This and the next four options judge a tensor as a whole: it passes if all limits that are given hold. Its single items
    /// may then differ by any amount, unless --atol, --rtol, --ulp or --allow limits them, too; --atol GLOB=A and the like
    /// limit only items of the tensors that GLOB matches. Items that are NaN or infinite on one side must always be the same
    /// on the other.
    ///
    /// A metric that is undefined (null in --json) passes no limit, unless all items are the same.
    #[arg(long, value_name = "X", value_parser = parse_limit, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub min_cosine: Option<f64>,
    /// The least signal to noise ratio, 10 log10(sum of EXPECTED^2 / sum of errors^2)
    #[arg(long, value_name = "DB", value_parser = parse_limit, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub min_snr: Option<f64>,
    /// The least peak signal to noise ratio, 20 log10(range of EXPECTED / rmse)
    #[arg(long, value_name = "DB", value_parser = parse_limit, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub min_psnr: Option<f64>,
    /// The largest root mean square of the errors
    #[arg(long, value_name = "X", value_parser = parse_tolerance, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub max_rmse: Option<f64>,
    /// The largest mean of |ACTUAL - EXPECTED|
    #[arg(long, value_name = "X", value_parser = parse_tolerance, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub max_mean_abs: Option<f64>,
}

impl LimitOptions {
    fn limits(&self) -> MetricLimits {
        let Self { min_cosine, min_snr, min_psnr, max_rmse, max_mean_abs } = *self;
        MetricLimits { min_cosine, min_snr, min_psnr, max_rmse, max_mean_abs }
    }
}

const HEADING: &str = "What passes";
const REPORT: &str = "Report";

const EXAMPLES: &str = "\
Examples:
  tensorop diff golden.npy out.npy
  tensorop diff golden.npy out.npy --rtol 1e-5 --atol 1e-8
  tensorop diff test_data_set_0/output_0.pb out.npy --ulp 2
  tensorop diff old.safetensors:head.weight new.safetensors:head.weight --json
  tensorop diff golden_bits.npy out.npy --dtype bfloat16     # bfloat16 that was saved as uint16

The report says how much of what would have passed. With --json: equal, reason (null, dtype, shape, values), expected \
and actual (dtype and shape), items, mismatches, max_abs, max_rel and max_ulp (over all items that are neither NaN nor \
infinite on either side), min_atol, min_rtol and min_ulp (the smallest that alone would have passed), first (or, with \
--worst, worst: rows of index, expected, actual, abs, rel, ulp), metrics (mean_abs, rmse, cosine, snr_db, psnr_db, pearson), \
quantiles (of |ACTUAL - EXPECTED| at 0.5, 0.9, 0.99, 0.999) and axes (of each axis how many places hold a mismatch, and \
which). Of several tensors: equal, counts (same, within, different, missing, extra, unreadable) and tensors, each with name, \
verdict and these keys, and error where it is unreadable.

Metrics are over the items that are finite on both sides, and null where undefined: all where there is no such item, \
pearson where either side is constant, psnr_db and pearson of complex numbers. Where the range or the sum of squares of \
EXPECTED is zero, psnr_db and snr_db are -Infinity, and without any error Infinity.

--dtype also says what the bits of an unsigned integer operand are (uint16 as bfloat16, uint8 as float8_e4m3fn).

Exit status: 0 the same, 1 different, 2 anything else, also where one of several tensors cannot be read.";

/// The lines of a report on several tensors that a terminal gets.
const TERMINAL_LINES: usize = 40;

fn sort_keys() -> Vec<Word<SortKey>> {
    vec![
        word("snr", "Items that differ by NaN or infinity, then the lowest signal to noise ratio", SortKey::Snr),
        word("cosine", "Items that differ by NaN or infinity, then the lowest cosine", SortKey::Cosine),
        word("abs", "Items that differ by NaN or infinity, then the largest |ACTUAL - EXPECTED|", SortKey::Abs),
        word("share", "The largest share of mismatches", SortKey::Share),
        word("name", "The name, whatever the verdict", SortKey::Name),
    ]
}

/// The most characters of a map down and across, which with its frame fits 80 columns. It does not follow the terminal:
/// what is written is the same everywhere.
const MAP_LINES: usize = 32;
const MAP_COLUMNS: usize = 74;

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| *value >= 0.0 && value.is_finite());
    value.ok_or_else(|| "expected a number, 0 or more".to_owned())
}

fn parse_limit(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| "expected a number".to_owned())
}

fn parse_tolerances(text: &str) -> Result<ByName<f64>, String> {
    ByName::parse(text, parse_tolerance)
}

fn parse_steps(text: &str) -> Result<ByName<u64>, String> {
    ByName::parse(text, parse_number)
}

/// Returns the last of the tolerances that is for a tensor of that name.
fn tolerance<T: Copy>(all: &[ByName<T>], name: &str) -> Option<T> {
    let matches = |one: &&ByName<T>| one.glob.as_ref().is_none_or(|glob| glob.matches(name));
    all.iter().rev().find(matches).map(|one| one.value)
}

/// Prints something to standard output, as far as somebody reads it.
fn print(io: &Io, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io.stdout.clone());
    unless_closed(write(&mut out).and_then(|()| out.flush())).context("standard output")
}

/// Returns how a comparison ends.
fn outcome(is_equal: bool) -> Outcome {
    if is_equal { Outcome::Done } else { Outcome::Different }
}

impl Diff {
    /// Compares, and prints the report.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let reader = OperandReader::new(io, &self.input, &self.threads)?;
        let limits = reader.limits;
        let operands = [EXPECTED.of(&self.expected), ACTUAL.of(&self.actual)];
        check_stdin(&operands)?;
        let expected = find(&reader, &operands[0], self.accepts(io))?;
        let actual = find(&reader, &operands[1], false)?;
        match pair_up(&reader, &operands, [expected, actual], &self.members)? {
            ComparedSides::Two(found) => self.two(io, &found, limits),
            ComparedSides::New(found) => self.new_one(io, &found, limits),
            ComparedSides::Many(pairs) => self.many(io, &pairs, limits),
        }
    }

    /// Returns whether tensors of ACTUAL that do not pass are accepted.
    fn accepts(&self, io: &Io) -> bool {
        self.accept || io.environment.update_golden
    }

    /// Prints lines about the files that were written: after the report, or, beside a JSON object, on standard error.
    fn tell(&self, io: &Io, lines: &[String]) -> Result<Outcome> {
        for line in lines {
            match self.json {
                true => unless_closed(writeln!(io.stderr.clone(), "{line}")).context("standard error")?,
                false => print(io, &mut |out| writeln!(out, "{line}"))?,
            }
        }
        Ok(Outcome::Done)
    }

    /// Accepts a tensor where nothing was expected so far.
    fn new_one(&self, io: &Io, found: &FoundTensor, limits: Limits) -> Result<Outcome> {
        let asked = Asked::new(self.input.dtype.as_ref());
        let source = typed_alone(found.tensor(), &asked, Reinterpret::Unsigned)?;
        asked.finish()?;
        let changes = Changes::of_one(&self.expected, None, &source)?;
        print(io, &mut |out| match self.json {
            true => diff::write_json_of_new(out, &source),
            false => writeln!(out, "different: {} is not there", EXPECTED.of(&self.expected).label),
        })?;
        self.accept_one(io, changes, source, limits)
    }

    /// Writes a tensor of ACTUAL to EXPECTED.
    fn accept_one(&self, io: &Io, changes: Changes, actual: Source, limits: Limits) -> Result<Outcome> {
        let actual = RefCell::new(Some(actual));
        let open = |_| Ok(actual.take().expect("one file is opened once"));
        self.tell(io, &changes.write(io, &open, limits)?)
    }

    /// Returns the tolerances and limits for the tensor of that name.
    fn options(&self, name: &str) -> Options {
        Options {
            atol: tolerance(&self.atol, name),
            rtol: tolerance(&self.rtol, name),
            ulp: tolerance(&self.ulp, name),
            shown: self.max_mismatch,
            worst: self.worst,
            allowed: self.allow,
            limits: self.limits.limits(),
            nan_differs: self.nan_differs,
            ignore_dtype: self.ignore_dtype,
        }
    }

    /// Refuses tolerances whose patterns match no name.
    ///
    /// # Errors
    /// The first such tolerance.
    fn check_tolerances<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        let atol = self.atol.iter().map(|one| ("--atol", &one.glob));
        let rtol = self.rtol.iter().map(|one| ("--rtol", &one.glob));
        let ulp = self.ulp.iter().map(|one| ("--ulp", &one.glob));
        let mut globs = atol.chain(rtol).chain(ulp).filter_map(|(option, glob)| Some((option, glob.as_ref()?)));
        match globs.find(|(_, glob)| !names.clone().any(|name| glob.matches(name))) {
            Some((option, glob)) => bail!("{option} {}=: matches no tensor", glob.text()),
            None => Ok(()),
        }
    }

    /// Returns the form of a report on several tensors.
    fn form(&self, io: &Io) -> ReportForm {
        let screen = || io.stdout.is_terminal().then_some(TERMINAL_LINES);
        match (self.json, self.summary) {
            (true, _) => ReportForm::Json,
            (false, true) => ReportForm::Line,
            (false, false) => {
                ReportForm::Table { sort: self.sort.unwrap_or_default(), limit: self.limit.or_else(screen) }
            }
        }
    }

    fn effort(&self, limits: Limits) -> Effort {
        Effort { limits, quantiles: self.json }
    }

    /// Compares two tensors.
    fn two(&self, io: &Io, found: &[FoundTensor; 2], limits: Limits) -> Result<Outcome> {
        let asked = Asked::new(self.input.dtype.as_ref());
        let tensors = || found.each_ref().map(FoundTensor::tensor);
        let [mut expected, mut actual] = open_two(tensors(), &asked)?;
        asked.finish()?;
        let name = self.name([&expected, &actual])?;
        let (options, effort) = (self.options(&name), self.effort(limits));
        if self.accepts(io) || self.map || self.heatmap.is_some() {
            // the items may be needed again, which a pipe gives only once
            expected.settle()?;
            actual.settle()?;
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
        let meter = Meter::new(io, Some(expected.bytes().saturating_add(actual.bytes())), self.summary);
        let progress = |bytes| meter.add(bytes);
        let difference = diff::compare_sources(&mut expected, &mut actual, &options, effort, &progress)?;
        meter.finish();
        // what cannot be accepted is an error before the report is printed
        let accepts = self.accepts(io) && !difference.equal();
        let changes = accepts.then(|| Changes::of_one(&self.expected, Some(&found[0]), &actual)).transpose()?;
        let void = [expected.dtype(), actual.dtype()].into_iter().find(|dtype| dtype.is_ambiguous()).cloned();
        print(io, &mut |out| match (self.json, self.summary) {
            (true, _) => difference.write_json(out),
            (false, true) => writeln!(out, "{}", difference.summary(io.style())),
            (false, false) => {
                difference.write_report(out, io.style()).and_then(|()| match (difference.reason(), &void) {
                    (Some(Reason::Dtype), Some(void)) => writeln!(out, "  {}", about_items(void.name(), void)),
                    (Some(Reason::Dtype), None) if !self.ignore_dtype => {
                        writeln!(out, "  --ignore-dtype compares the values")
                    }
                    _ => Ok(()),
                })
            }
        })?;
        if self.map && difference.reason().is_none_or(|reason| reason == Reason::Values) {
            let cells = [MAP_LINES, MAP_COLUMNS];
            let map = maps::density([&mut expected, &mut actual], &options, cells, limits, &|_| ())?;
            let lines = map.as_ref().map_or_else(Vec::new, Density::lines);
            print(io, &mut |out| {
                writeln!(out)?;
                lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
            })?;
        }
        let actual = match drawn {
            None => {
                if let Some(path) = self.heatmap.as_ref().filter(|_| !self.summary) {
                    // the report says what differs
                    let path = path.display().to_string();
                    self.tell(io, &[format!("no {}: another dtype or shape", printable(&path))])?;
                }
                actual
            }
            Some(target) => {
                self.draw(io, [expected, actual], &options, &target, limits)?;
                if changes.is_none() {
                    return Ok(outcome(difference.equal()));
                }
                // the picture has taken the sources
                let [_, actual] = open_two(tensors(), &asked)?;
                actual
            }
        };
        match changes {
            Some(changes) => self.accept_one(io, changes, actual, limits),
            None => Ok(outcome(difference.equal())),
        }
    }

    /// Draws the errors of two tensors to a PNG file.
    fn draw(&self, io: &Io, sources: [Source; 2], options: &Options, target: &Target, limits: Limits) -> Result<()> {
        let picture = Picture::of_numbers(maps::error_plane(sources, options)?, limits)?;
        let scale = picture.scale(None, &|_| ())?;
        let told = write_png(&picture, scale.as_ref(), target, &|_| ())?;
        let told = told.into_iter().filter(|_| !self.summary);
        self.tell(io, &told.collect::<Vec<_>>()).map(drop)
    }

    /// Returns the name of a single pair, which patterns are matched with: that of a member, if either side is one.
    fn name(&self, [expected, actual]: [&Source; 2]) -> Result<String> {
        let old = expected.member().or(actual.member()).unwrap_or_default();
        let name = self.members.renamed(old);
        self.members.check_renames(&[old])?;
        self.members.check_names(&[&name])?;
        self.check_tolerances(std::iter::once(&*name))?;
        if !self.members.takes(&name) {
            bail!("--exclude: leaves no tensor to compare");
        }
        Ok(name)
    }

    /// Compares tensors by name.
    fn many(&self, io: &Io, pairs: &NamedPairs, limits: Limits) -> Result<Outcome> {
        for (option, is_given) in [("--map", self.map), ("--heatmap", self.heatmap.is_some())] {
            if is_given {
                bail!("{option}: is of one tensor, and these are several: name a member after a colon, or a file");
            }
        }
        self.check_tolerances(pairs.named.iter().map(|(name, _)| name.as_str()))?;
        let asked = Asked::new(self.input.dtype.as_ref());
        let meter = Meter::new(io, Some(pairs.bytes()), self.summary);
        let mut models = Models::new(self.form(io), io.style());
        let how = Comparing { pairs, asked: &asked, options: &|name| self.options(name), effort: self.effort(limits) };
        let failed = how.compare(&mut models, &|bytes| meter.add(bytes))?;
        asked.finish()?;
        meter.finish();
        // what cannot be accepted is an error before the report is printed
        let accepts = self.accepts(io) && !models.equal();
        let changes = accepts.then(|| Changes::of_many(pairs, &failed, &self.expected, &asked)).transpose()?;
        print(io, &mut |out| models.write(out))?;
        let outcome = match models.unreadable() {
            None => outcome(models.equal()),
            // a verdict on some of the tensors is none on the models
            Some(first) => {
                let (count, of) = (models.counts(|verdict| verdict == Verdict::Unreadable), models.counts(|_| true));
                let which = if count == 1 { "" } else { ", the first" };
                complain(&io.stderr, &anyhow!("{count} of {of} tensors cannot be read{which}: {first}"))
            }
        };
        let Some(changes) = changes else { return Ok(outcome) };
        let open = |place: Option<TensorPlace>| {
            pairs.open_one(1, place.expect("a tensor that is compared by name has a place"), &asked)
        };
        let accepted = self.tell(io, &changes.write(io, &open, limits)?)?;
        Ok(if outcome == Outcome::Incomplete { outcome } else { accepted })
    }
}
