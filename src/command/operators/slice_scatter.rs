//! The sub-command `slice-scatter`.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};

use super::operation::{OpenOperation, changed, is_word_for_nan, run_for_each};
use crate::command::messages::counted;
use crate::command::operands::list_options::slices;
use crate::command::operands::operand_reader::slices_of;
use crate::command::options::{ChangeOptions, DATA, Operand, SliceOptions, UpdatesOptions, data_help};
use crate::command::process::io::{Io, Outcome};
use crate::error::Error;
use crate::opening::table::Format;
use crate::operators::selection::Selection;
use crate::operators::slice_scatter::{LinkedSliceScatter, Replacement};
use crate::ops::call::{Call, Resolved};
use crate::ops::condition::Condition;
use crate::writing::OutputTensor;

/// Put updates into a slice of a tensor (OpenVINO SliceScatter-15)
///
/// The output is DATA, with UPDATES in the places that `slice` would take. Nothing is broadcast. --fill puts one value
/// into all these places, or with --where only into those whose items meet a condition. A tensor without axes has one item,
/// which --at ..., --where and --fill without a slice take.
///
/// Shape of UPDATES: that of the slice. Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop slice-scatter [OPTIONS] <DATA> <UPDATES|--fill <VALUE>> <--start <I> --stop <I>|--at <SLICES>|--where <COND>>", after_long_help = EXAMPLES)]
#[command(mut_arg("updates", |arg| arg.requires("range")), mut_group("range", |group| group.required(false)))]
pub(crate) struct SliceScatter {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: Operand,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    /// With --fill: replace only items that are nan, inf, finite, ==V, !=V, '<V', '<=V', '>V' or '>=V'
    ///
    /// Without a slice, --where searches all of DATA. V is a value as for --fill: it is rounded to DATA's dtype if that is a
    /// float, and items are compared with it exactly. A NaN is neither equal nor unequal to a value, nor below or above it;
    /// -0 equals 0. Integers and bools are always finite. NaT is the nan of dates. Complex numbers accept nan and inf (in
    /// either part), finite, == and !=, and strings only == and !=. Long double, void and structured items have no
    /// conditions.
    ///
    /// A line gives the number of replaced items, unless -q is given: on standard output, or on standard error if the tensor
    /// itself goes to standard output. --in-place writes only the bytes that change.
    #[arg(
        id = "where",
        long = "where",
        value_name = "COND",
        value_parser = parse_condition,
        requires = "fill",
        conflicts_with = "updates",
        group = "range",
        help_heading = "Updates"
    )]
    pub condition: Option<Condition<String>>,
    #[command(flatten)]
    pub slices: SliceOptions,
    #[command(flatten)]
    pub options: ChangeOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop slice-scatter data.npy row.npy --start 0 --stop 1 --step 1
  tensorop slice-scatter data.npy even.npy --at '..., ::2' -o data.npy
  tensorop slice-scatter data.npy --fill NaN --at '2:4' -o masked.npy
  tensorop slice-scatter data.npy --fill 0 --where nan --in-place
  tensorop slice-scatter model.safetensors:head --fill 1 --where '>1' --at ':10' -i";

impl SliceScatter {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let replaced = AtomicUsize::new(0);
        let line = |count: usize| match &self.condition {
            None => changed(count),
            Some(_) => {
                let items = counted(replaced.load(Ordering::Relaxed), "item", "items");
                format!("{items} replaced in {}", counted(count, "tensor", "tensors"))
            }
        };
        run_for_each(io, (&self.data, None), &self.updates, &self.options, &line, &|change| {
            let slices = slices(&change.reader, &self.slices)?;
            let change = change.open()?;
            // without a slice, `--fill` takes only tensors of rank 0 from a pattern
            if let (false, false, 1..) = (self.names_places(), change.is_one_of_several(), change.data().shape().len())
            {
                let (label, shape) = (change.data().label(), change.data().shape());
                bail!(
                    "{label}: shape {shape:?}, and --fill without a slice is for one item: --at ... puts it in every place"
                );
            }
            let call = Call::SliceScatter(slices_of(&slices, change.data())?);
            match &self.condition {
                None => change.run(TITLE, &call),
                Some(condition) => self.replace(io, change, &call, condition, &replaced),
            }
        })
    }

    fn names_places(&self) -> bool {
        self.condition.is_some() || self.slices.at.is_some() || self.slices.start.is_some()
    }

    fn replace(
        &self,
        io: &Io,
        mut change: OpenOperation<'_>,
        call: &Call,
        condition: &Condition<String>,
        sum: &AtomicUsize,
    ) -> Result<Outcome> {
        let is_one_of_several = change.is_one_of_several();
        let ChangeOptions { output, edit, run, .. } = &self.options;
        let call = change.resolve(call)?;
        let Resolved::Places(places) = call.resolved else { unreachable!("SliceScatter names places") };
        let (item, label) = change.filling()?.expect("the grammar requires --fill");
        let matcher = change.matcher(condition)?;
        let (destination, limits, data) = change.into_parts();
        // items on the boundary of two parts would count twice, and those of a finished part not at all
        let is_counted = !run.quiet && !destination.is_check() && (edit.in_place || !output.parts.is_given());
        let skips_items = output.is_dry_run() || destination.format() == Some(Format::TEXT);
        let mut report = destination.report(TITLE);
        report.source(&data);
        report.line(format_args!("{label} where {condition}"));
        report.lines(&call.details);
        let mut out = if destination.is_stdout() { io.stderr.clone() } else { io.stdout.clone() };
        let replaced = Arc::new(AtomicUsize::new(0));
        let replacement = Replacement { matcher, item, replaced: Arc::clone(&replaced), limits };
        let mut base = Selection::base(data, edit.in_place);
        let known = (is_counted && skips_items).then(|| replacement.count(&places, &mut base)).transpose()?;
        if let (true, Some(number)) = (output.is_dry_run(), known) {
            report.line(format_args!("{} would be replaced", counted(number, "item", "items")));
        }
        let linked = LinkedSliceScatter::replacing(&places, base, replacement);
        let outcome = destination.put(OutputTensor::new(Box::new(linked), limits), report)?;
        if is_counted {
            let number = known.unwrap_or_else(|| replaced.load(Ordering::Relaxed));
            sum.fetch_add(number, Ordering::Relaxed);
            if !is_one_of_several && !output.is_dry_run() {
                writeln!(out, "{} replaced", counted(number, "item", "items")).context("standard output")?;
            }
        }
        Ok(outcome)
    }
}

fn parse_condition(text: &str) -> Result<Condition<String>, String> {
    text.parse().map_err(|error: Error| {
        let word = text.trim();
        let function = ["isnan", "isna", "isnull"].iter().any(|name| word.eq_ignore_ascii_case(name));
        match function || is_word_for_nan(word) {
            true => format!("{}: use --where nan", error.message()),
            false => error.message().to_owned(),
        }
    })
}

const TITLE: &str = "slice-scatter (OpenVINO SliceScatter-15)";
