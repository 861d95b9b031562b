//! `slice-scatter`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::dry_run::Report;
use super::io::Io;
use super::operator::{base, put, slice_args};
use super::options::operands::{InputOptions, OperandArg, data_help};
use super::options::output::{EditOptions, OutputOptions};
use super::options::run::RunOptions;
use super::options::slices::SliceOptions;
use super::options::updates::UpdatesOptions;
use super::outcome::Outcome;
use super::sources::Operands;
use crate::ops::slice_scatter;
use crate::storage::source::Source;

/// Put updates into a slice of a tensor (OpenVINO SliceScatter-15)
///
/// The output is DATA, but the places that `slice` would take hold UPDATES. Nothing broadcasts; --fill puts one
/// value into all places.
///
/// Shape of UPDATES: that of the slice. Shape of the output: that of DATA.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop slice-scatter [OPTIONS] <DATA> <UPDATES|--fill <VALUE>> <--start <I> --stop <I>|--at <SLICES>>", after_long_help = EXAMPLES)]
pub(super) struct SliceScatter {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: OperandArg,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    #[command(flatten)]
    pub slices: SliceOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub edit: EditOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop slice-scatter data.npy row.npy --start 0 --stop 1 --step 1
  tensorop slice-scatter data.npy even.npy --at '..., ::2' -o data.npy
  tensorop slice-scatter data.npy --fill NaN --at '2:4' -o masked.npy";

impl SliceScatter {
    /// Resolves the slice, and writes DATA with UPDATES in its places.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let limits = self.run.limits(&io.environment)?;
        let in_place = self.edit.in_place;
        let operands =
            Operands::new(io, &self.data, None, self.updates.updates.as_ref(), &self.input, in_place, limits.threads)?
                .together(self.output.parts.part.is_some());
        let slices = slice_args(&self.slices, &self.input, limits.threads)?;
        let (data, updates) = operands.tensors()?;
        let plan = slice_scatter::SliceScatter::resolve(data.shape(), &slices, updates.as_ref().map(Source::shape));
        let places = plan.map_err(|e| operands.explain(e))?;
        let updates = operands.updates(updates, &self.updates, &data, &places.updates_shape())?;
        let mut report = Report::new("slice-scatter (OpenVINO SliceScatter-15)");
        report.source(&data);
        report.source(updates.source());
        report.spans(places.spans(), data.shape());
        let fill = Box::new(places.link(base(data, in_place), updates));
        put(fill, limits, io, &self.output, self.run.quiet, report)
    }
}
