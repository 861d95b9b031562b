//! The sub-command `reshape`.

use anyhow::{Result, anyhow};
use clap::{ArgGroup, Args, ValueHint};

use super::operation::settle;
use crate::command::messages::{change_error, counted};
use crate::command::operands::list_options::{self, index_list};
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::{OpenMode, OperandReader, check_header_counts, explained};
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, data_help};
use crate::command::outputs::dry_run::Report;
use crate::command::process::io::{Io, Outcome};
use crate::error::{Error, Subject};
use crate::formats::npy::npy_file::HeaderEdit;
use crate::operators::selection::Selection;
use crate::ops::call::{Call, Resolved};
use crate::ops::operators::reshape::{NewShape, order_without_moving};
use crate::plans::cost::Calls;
use crate::storage::source::Source;
use crate::writing::{self, OutputTensor};

const HEADING: &str = "Shape";

const TITLE: &str = "reshape (ONNX Reshape, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0)";

/// Give a tensor other dims (ONNX Reshape 5 to 25, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0)
///
/// The items stay as they are, in C order, and none is added or lost. In --shape a -1 is computed from the other dims, and
/// a 0 means DATA's dim at that position. --squeeze drops dims of 1, --unsqueeze adds some, --flatten makes two axes.
///
/// Shape of the output: as given by the option, with the number of items of DATA.
#[derive(Args)]
#[command(
    override_usage = "tensorop reshape [OPTIONS] <DATA> <--shape <I>|--squeeze[=<I>]|--unsqueeze <I>|--flatten <N>>",
    after_long_help = EXAMPLES,
    group = ArgGroup::new("new_shape").args(["shape", "squeeze", "unsqueeze", "flatten"]).required(true)
)]
pub(crate) struct Reshape {
    /// The tensor to reshape
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to reshape."))]
    pub data: Operand,
    /// The new dims, such as 2,-1 or a file; -1 is computed from the others, 0 is the dim of DATA there (Reshape)
    ///
    /// A list of integers such as 2,-1 or [0,0,-1], or the path of a 1-D integer tensor. -1 may occur once. It is refused
    /// where the other dims have no items, as beside a real 0 (--allow-zero). An empty value (--shape=) makes one item a scalar.
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub shape: Option<IndexList>,
    /// Let a 0 in --shape be a dim of 0 (ONNX's allowzero, OpenVINO's special_zero = false)
    #[arg(long, conflicts_with_all = ["squeeze", "unsqueeze", "flatten"], help_heading = HEADING)]
    pub allow_zero: bool,
    /// Drop all dims of 1, or those of the given axes, as in --squeeze=0,-1 (Squeeze)
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub squeeze: Option<Option<IndexList>>,
    /// Add dims of 1 that become these axes of the output, such as 0,-1 (Unsqueeze)
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub unsqueeze: Option<IndexList>,
    /// Join the axes before axis N to one, and the others to another (Flatten)
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), help_heading = HEADING)]
    pub flatten: Option<IndexList>,
    /// Change only the dims in the header of DATA's own .npy file
    ///
    /// No item moves, so this costs the same for a file of any size. The new dims must fit into the old header; most headers
    /// have room. In a file in Fortran order only dims of 1 can be added or dropped, since any other change would give the
    /// items other places. The file is locked meanwhile. A killed run leaves the old header or the new one; nothing is
    /// synced to the disk.
    #[arg(short, long, conflicts_with_all = ["output", "to", "no_clobber", "byte_order", "metadata", "no_metadata", "compress", "packed", "chunks", "shards", "codec", "dims", "group", "store_empty", "part", "finish", "restart"], help_heading = "Output")]
    pub in_place: bool,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop reshape data.npy --shape=-1 -o flat.npy            # data.reshape(-1)
  tensorop reshape images.npy --shape 0,-1 -o rows.npy        # images.reshape(len(images), -1)
  tensorop reshape batch.npy --squeeze=0 -o one.npy           # np.squeeze(batch, 0)
  tensorop reshape image.npy --unsqueeze 0 --in-place         # a batch of one, in the header alone
  tensorop reshape '[[1,2,3],[4,5,6]]' --shape 3,2

In a Zarr store, if only dims of 1 are added or dropped, chunks and names of dimensions stay with their axes; otherwise the output \
has new chunks.";

impl Reshape {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let (destination, reader) = settle(io, &self.options, self.in_place)?;
        let call = Call::Reshape(self.new_shape(&reader)?);
        let operand = &self.data;
        let opening = if self.in_place { OpenMode::LockedNpy } else { OpenMode::Plain };
        let data = reader.read(&[Member::chosen(reader.open(operand, opening)?)?])?.remove(0);
        if self.in_place {
            check_header_counts(operand, &data)?;
        }
        let call = call.resolve(&[data.meta()], None, None).map_err(|error| self.explained(error))?;
        let report = destination.report(TITLE).with(&call, [&data]);
        let Resolved::Reshaped(shape) = call.resolved else { unreachable!("Reshape gives new dims") };
        match destination.format() {
            None => self.edit(&reader, &operand.label, data, &shape, report),
            Some(format) => destination.put(OutputTensor::reshaped(data, shape, format, reader.run.limits), report),
        }
    }

    fn edit(
        &self,
        reader: &OperandReader<'_>,
        label: &str,
        data: Source,
        shape: &[usize],
        mut report: Report,
    ) -> Result<Outcome> {
        let order = order_without_moving(data.meta(), shape).ok_or_else(|| {
            let old = data.shape();
            anyhow!(
                "{label}: --in-place cannot move items, and in a file in Fortran order they would move from {old:?} to \
                 {shape:?}: use -o"
            )
        })?;
        let edit = HeaderEdit::prepare(&data, shape, order).map_err(change_error)?;
        if self.options.output.is_dry_run() {
            let (changed, header) = (counted(edit.changed_bytes(), "byte", "bytes"), edit.header_bytes());
            report.line(format_args!("output: {changed} of the header of {header} changed in place"));
            if self.options.output.explain {
                let changed = edit.changed_bytes();
                let written = if changed == 0 { Calls::default() } else { Calls::write(changed) };
                let nothing = OutputTensor::new(Box::new(Selection::in_place(data)), reader.run.limits);
                let mut explanation = writing::explain_edit(nothing)?;
                explanation.cost.calls += written;
                report.plans(&[("", explanation)], self.options.output.json);
            }
            return report.print(reader.run.io);
        }
        edit.write()?;
        Ok(Outcome::Done)
    }

    fn new_shape(&self, reader: &OperandReader<'_>) -> Result<NewShape> {
        let list = |list, option| index_list(reader, list, option);
        Ok(match (&self.shape, &self.squeeze, &self.unsqueeze, &self.flatten) {
            (Some(dims), ..) if self.allow_zero => NewShape::DimsWithZero(list(dims, "--shape")?),
            (Some(dims), ..) => NewShape::Dims(list(dims, "--shape")?),
            (_, Some(axes), ..) => NewShape::Squeeze(axes.as_ref().map(|axes| list(axes, "--squeeze")).transpose()?),
            (_, _, Some(axes), _) => NewShape::Unsqueeze(list(axes, "--unsqueeze")?),
            (_, _, _, axis) => {
                let axis = axis.as_ref().expect("the grammar requires one of the four");
                NewShape::Flatten(list_options::axis(reader, axis, "--flatten")?)
            }
        })
    }

    /// Adds advice about `--allow-zero` if a 0 in the shape is at fault.
    fn explained(&self, error: Error) -> anyhow::Error {
        let is_shape = error.subject() == Subject::Argument("shape");
        let has_zero = is_shape && !self.allow_zero && error.message().starts_with("0 at position");
        let error = explained([&self.data], error);
        if has_zero { anyhow!("{error}; with --allow-zero it is a dim of 0") } else { error }
    }
}
