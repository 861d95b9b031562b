//! The sub-command `slice-scatter`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::change::{Change, LinkedChange};
use super::io::{Io, Outcome};
use super::options::{ChangeOptions, OperandArg, SliceOptions, UpdatesOptions, data_help};
use crate::ops::slice_scatter;

/// Put updates into a slice of a tensor (OpenVINO SliceScatter-15)
///
/// The output is DATA, but the places that `slice` would take hold UPDATES. Nothing broadcasts; --fill puts one
/// value into all places.
///
/// Shape of UPDATES: that of the slice. Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop slice-scatter [OPTIONS] <DATA> <UPDATES|--fill <VALUE>> <--start <I> --stop <I>|--at <SLICES>>", after_long_help = EXAMPLES)]
pub(super) struct SliceScatter {
    /// The tensor to begin with
    #[arg(value_name = "DATA", allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: OperandArg,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    #[command(flatten)]
    pub slices: SliceOptions,
    #[command(flatten)]
    pub options: ChangeOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop slice-scatter data.npy row.npy --start 0 --stop 1 --step 1
  tensorop slice-scatter data.npy even.npy --at '..., ::2' -o data.npy
  tensorop slice-scatter data.npy --fill NaN --at '2:4' -o masked.npy";

impl SliceScatter {
    /// Resolves the slice and writes DATA with UPDATES in its places.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let change = Change::begin(io, &self.data, None, &self.updates, &self.options)?;
        let slices = change.reader.slices(&self.slices)?;
        let change = change.open()?;
        let places = slice_scatter::SliceScatter::resolve(change.data.shape(), &slices, change.updates_shape());
        let places = places.map_err(|error| change.explain(error))?;
        let LinkedChange { base, updates, destination, limits } = change.link(&places.updates_shape())?;
        let mut report = destination.report("slice-scatter (OpenVINO SliceScatter-15)");
        report.source(base.source());
        report.source(updates.source());
        report.spans(places.spans(), base.source().shape());
        destination.put(Box::new(places.link(base, updates)), limits, report)
    }
}
