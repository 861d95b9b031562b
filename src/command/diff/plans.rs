//! `diff --explain` prints the plan of a comparison without reading items; `--map` and `--heatmap` show where tensors
//! differ.

use anyhow::Result;

use super::pairs::NamedPairs;
use crate::command::messages::{counted, message, option_error};
use crate::command::operands::dtype_option::AskedDTypes;
use crate::command::outputs::dry_run::Report;
use crate::command::process::io::{Io, Outcome, Run, complain};
use crate::command::show::write_png;
use crate::diff::{Options, PlannedComparison, explain_sources};
use crate::info::size;
use crate::operators::fill::Limits;
use crate::parallel::{SMALL_TENSOR, threads_among_others};
use crate::picture::Picture;
use crate::plans::explain::Explanation;
use crate::reports::maps::{self, Density};
use crate::storage::source::Source;
use crate::storage::targets::target::Target;

/// For each pair a plan, or the reason why nothing is read.
type PairPlans<'a> = Vec<(&'a str, Result<Box<Explanation>, String>)>;

pub(crate) fn explain_two(
    run: Run<'_>,
    [expected, actual]: [&Source; 2],
    options: &Options,
    as_json: bool,
) -> Result<Outcome> {
    let mut report = Report::new("diff", true);
    report.source(expected);
    report.source(actual);
    let plan = planned(explain_sources(expected, actual, options, run.limits)?);
    print(run.io, report, &vec![("", plan)], as_json)
}

/// A pair that cannot be opened is reported, and the others still get plans.
pub(crate) fn explain_many(
    Run { io, limits, .. }: Run<'_>,
    pairs: &NamedPairs,
    asked: &AskedDTypes<'_>,
    options: &dyn Fn(&str) -> Options,
    as_json: bool,
) -> Result<Outcome> {
    let (mut plans, mut outcome) = (PairPlans::new(), Outcome::Done);
    let (mut small, mut alone) = (0_usize, [0_usize; 2]);
    for (name, places) in &pairs.named {
        let [Some(expected), Some(actual)] = *places else {
            let side = usize::from(places[0].is_none());
            alone[side] += 1;
            plans.push((name, Err(format!("only {} has it", ["EXPECTED", "ACTUAL"][side]))));
            continue;
        };
        let plan = pairs.open([expected, actual], asked.of(Some(name))).and_then(|[expected, actual]| {
            let is_small = expected.bytes() + actual.bytes() < SMALL_TENSOR;
            small += usize::from(is_small);
            let threads = threads_among_others(limits.threads, expected.bytes() + actual.bytes());
            let plan = explain_sources(&expected, &actual, &options(name), Limits { threads, ..limits });
            Ok(planned(plan.map_err(option_error)?))
        });
        plans.push((
            name,
            plan.unwrap_or_else(|error| {
                outcome = complain(&io.stderr, &error);
                Err(message(&error))
            }),
        ));
    }
    asked.finish()?;
    let mut report = Report::new("diff", true);
    let pairs = plans.len() - alone[0] - alone[1];
    report.line(format_args!("{} of tensors by name", counted(pairs as u64, "pair", "pairs")));
    if small > 0 {
        let (small, limit) = (counted(small as u64, "pair", "pairs"), size(SMALL_TENSOR as u64));
        report.line(format_args!("{small} of less than {limit}, compared by one thread each, several at a time"));
    }
    if alone[0] > 0 && alone[1] > 0 {
        report.line(format_args!("tensors that one side alone has may be read to find those that were renamed"));
    }
    print(io, report, &plans, as_json)?;
    Ok(outcome)
}

fn planned(compared: PlannedComparison) -> Result<Box<Explanation>, String> {
    match compared {
        PlannedComparison::Read(plan) => Ok(plan),
        PlannedComparison::Unread(difference) => Err(difference.verdict()),
    }
}

fn print(io: &Io, mut report: Report, plans: &PairPlans<'_>, as_json: bool) -> Result<Outcome> {
    let plans = plans.iter().map(|(name, plan)| (*name, plan.as_deref().map_err(String::as_str)));
    report.plans_or_reasons(plans, as_json);
    report.print(io)
}

/// The largest map, which fits 80 columns with its frame. It does not depend on the terminal, so that a comparison
/// prints the same map everywhere.
const MAP_LINES: usize = 32;
const MAP_COLUMNS: usize = 74;

pub(crate) fn map_lines(sources: [&mut Source; 2], options: &Options, limits: Limits) -> Result<Vec<String>> {
    let map = maps::density(sources, options, [MAP_LINES, MAP_COLUMNS], limits, &|_| ())?;
    Ok(map.as_ref().map_or_else(Vec::new, Density::lines))
}

pub(crate) fn draw(sources: [Source; 2], options: &Options, target: &Target, limits: Limits) -> Result<Option<String>> {
    let picture = Picture::from_numbers(maps::error_plane(sources, options)?, limits)?;
    let scale = picture.scale(None, &|_| ())?;
    write_png(&picture, scale.as_ref(), target, &|_| ())
}
