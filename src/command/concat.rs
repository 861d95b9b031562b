//! The sub-command `concat`.

use anyhow::{Result, anyhow};
use clap::{Args, ValueHint};

use super::destination::Destination;
use super::io::{Io, Outcome};
use super::options::{IndexList, OperandArg, OperatorOptions, data_help};
use super::sources::{DATA, OperandReader, TensorOf, check_stdin, of_many};
use crate::error::Error;
use crate::format::open::Input;
use crate::layout::order::{by_numbers, sort_by};
use crate::ops::concat::{Joining, check, common_dtype};
use crate::storage::source::Source;

/// Put tensors one after the other along an axis (ONNX Concat 4, 11, 13, OpenVINO Concat-1)
///
/// All operands have the dtype and the dims of the first, but for the dim of the axis. The output has the byte order of
/// the first; strings take the width of the widest. With --stack they have one shape, and lie along an axis of their
/// own, one place each (ONNX ConcatFromSequence with new_axis 1).
///
/// Shape of the output: that of the first operand, with the sum of all dims on the axis; with --stack that of the first
/// operand, with their number inserted at the axis.
#[derive(Args)]
#[command(override_usage = "tensorop concat [OPTIONS] <DATA>...", after_long_help = EXAMPLES)]
pub(super) struct Concat {
    /// The tensors, in the order in which they follow each other
    #[arg(value_name = "DATA", required = true, allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help(DATA_HELP))]
    pub data: Vec<OperandArg>,
    /// The axis: an integer from -rank to rank - 1, with --stack to rank (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), default_value = "0", help_heading = HEADING)]
    pub axis: IndexList,
    /// Along an axis of their own, which the output has at --axis: from -rank - 1 to rank
    #[arg(long, help_heading = HEADING)]
    pub stack: bool,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const HEADING: &str = "Concat";

const DATA_HELP: &str = "The tensors, in the order in which they follow each other; one is fine.

'FILE:GLOB' stands for all members of a container that match, in the order of their names, in which a number counts as \
one: layers.2 comes before layers.10.";

const EXAMPLES: &str = "\
Examples:
  tensorop concat part-*.npy -o all.npy                      # np.concatenate
  tensorop concat left.npy right.npy --axis -1 -o wide.npy
  tensorop concat monday.npy tuesday.npy --stack -o days.npy # np.stack
  tensorop concat 'model.safetensors:layers.*.bias' --stack
  tensorop concat scores.npy '[[0.5,0.25]]' -o scores.npy    # another row

Any number of operands takes the same memory and threads. Along the first axis the system copies from file to file.";

impl Concat {
    /// Checks that the operands fit together and writes them one after the other.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let OperatorOptions { input, output, run } = &self.options;
        let destination = Destination::of(io, output, run.quiet)?;
        let reader = OperandReader::new(io, input, &run.threads)?;
        let operands: Vec<_> = self.data.iter().map(|arg| DATA.of(arg)).collect();
        check_stdin(&operands)?;
        let axis = reader.axis(&self.axis)?;
        let reader = reader.for_files(operands.len());
        let inputs = operands.iter().map(|operand| reader.open(operand)).collect::<Result<Vec<_>>>()?;
        let mut tensors = Vec::with_capacity(inputs.len());
        for input in &inputs {
            tensors.extend(members(input)?);
        }
        let sources = reader.typed(&tensors)?;
        let explain = |error: Error| {
            let is_scalar = error.message().starts_with("rank 0,");
            let refusal = of_many(&sources, error);
            if is_scalar { anyhow!("{refusal}; --stack puts them along an axis of their own") } else { refusal }
        };
        let joining = if self.stack { Joining::Stacked } else { Joining::Along };
        let shapes: Vec<_> = sources.iter().map(Source::shape).collect();
        let joined = check(&shapes, axis, joining).map_err(explain)?;
        let dtypes: Vec<_> = sources.iter().map(Source::dtype).collect();
        common_dtype(&dtypes).map_err(explain)?;
        let title = match joining {
            Joining::Along => "concat (ONNX Concat-13, OpenVINO Concat-1)",
            Joining::Stacked => "concat (ONNX ConcatFromSequence-11)",
        };
        let mut report = destination.report(title);
        sources.iter().for_each(|source| report.source(source));
        let which = if self.stack { "new axis" } else { "axis" };
        report.line(format_args!("{which} {}: {} places", joined.axis(), joined.shape()[joined.axis()]));
        drop(tensors);
        drop(inputs);
        destination.put(Box::new(joined.link(sources)?), reader.limits, report)
    }
}

/// Returns the tensors that an operand stands for: the one that it means, or all that its pattern matches, sorted by name.
///
/// # Errors
/// There is no such tensor, or several and none is named.
fn members(input: &Input) -> Result<Vec<TensorOf<'_>>> {
    if input.member().is_none() {
        return Ok(vec![TensorOf::new(input, input.chosen()?)]);
    }
    let mut numbers = input.select()?;
    let name = |n: &usize| input.name(*n).unwrap_or_default();
    sort_by(&mut numbers, |a, b| by_numbers(name(a), name(b)));
    Ok(numbers.into_iter().map(|n| TensorOf::member(input, n)).collect())
}
