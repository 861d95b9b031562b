//! Operators on blocks, as reshapes and transposes.

use std::ops::RangeInclusive;

use super::arguments::{NodeArguments, counts, missing, refuse};
use super::compositions::{axis_of, rearranged};
use super::{PlanResult, Planned};
use crate::ops::call::Call;
use crate::ops::operators::pad::PadMode;
use crate::ops::slice::SliceArgs;

/// The slowest part of an axis of channels and block positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockOrder {
    BlocksFirst,
    DepthFirst,
}

/// Data, and the order and size of its blocks.
type Blocks<'n> = (Planned<'n>, BlockOrder, usize);

impl BlockOrder {
    const OF_ONNX: [(&'static str, Self); 2] = [("DCR", Self::BlocksFirst), ("CRD", Self::DepthFirst)];
    const OF_OPENVINO: [(&'static str, Self); 2] =
        [("blocks_first", Self::BlocksFirst), ("depth_first", Self::DepthFirst)];
}

pub(super) fn depth_to_space((data, order, size): Blocks<'_>) -> PlanResult<Planned<'_>> {
    let (shape, spatial) = (data.shape(), data.shape().len() - 2);
    let Some(blocks) = size.checked_pow(spatial as u32).filter(|blocks| shape[1] % blocks == 0) else {
        return refuse(format!("blocks of {size} for data {shape:?}"));
    };
    let (depth, within) = (shape[1] / blocks, vec![size; spatial]);
    let (of_depth, of_blocks, dims) = match order {
        BlockOrder::BlocksFirst => (spatial + 1, 1, [&[shape[0]], &within[..], &[depth], &shape[2..]].concat()),
        BlockOrder::DepthFirst => (1, 2, [&[shape[0], depth], &within[..], &shape[2..]].concat()),
    };
    let pairs = (0..spatial).flat_map(|n| [spatial + 2 + n, of_blocks + n]);
    let axes = [0, of_depth].into_iter().chain(pairs).collect();
    let to: Vec<_> =
        [shape[0], depth].into_iter().chain(shape[2..].iter().map(|dim| dim.saturating_mul(size))).collect();
    rearranged(data, &dims, axes, &to)
}

pub(super) fn space_to_depth((data, order, size): Blocks<'_>) -> PlanResult<Planned<'_>> {
    let (shape, spatial) = (data.shape(), data.shape().len() - 2);
    if shape[2..].iter().any(|dim| dim % size != 0) {
        return refuse(format!("blocks of {size} for data {shape:?}"));
    }
    let pairs = shape[2..].iter().flat_map(|dim| [dim / size, size]);
    let dims: Vec<_> = shape[..2].iter().copied().chain(pairs).collect();
    let (places, blocks) = ((0..spatial).map(|n| 2 + 2 * n), (0..spatial).map(|n| 3 + 2 * n));
    let axes = match order {
        BlockOrder::BlocksFirst => [0].into_iter().chain(blocks).chain([1]).chain(places).collect(),
        BlockOrder::DepthFirst => [0, 1].into_iter().chain(blocks).chain(places).collect(),
    };
    let depth = shape[1].saturating_mul(size.saturating_pow(spatial as u32));
    let to: Vec<_> = [shape[0], depth].into_iter().chain(shape[2..].iter().map(|dim| dim / size)).collect();
    rearranged(data, &dims, axes, &to)
}

impl<'n> NodeArguments<'n> {
    fn blocks(&mut self, ranks: RangeInclusive<usize>, size: Option<i64>) -> PlanResult<(Planned<'n>, usize)> {
        let (data, size) = (self.data()?, counts("the size of blocks", &[size.unwrap_or(1)], 1)?[0]);
        match ranks.contains(&data.shape().len()) {
            true => Ok((data, size)),
            false => refuse(format!("data {:?} of {} axes", data.shape(), data.shape().len())),
        }
    }

    pub(super) fn blocks_onnx(&mut self) -> PlanResult<Blocks<'n>> {
        let size = self.int("blocksize")?.ok_or_else(|| missing("blocksize"))?;
        let (data, size) = self.blocks(4..=4, Some(size))?;
        Ok((data, self.one_of("mode", &BlockOrder::OF_ONNX)?, size))
    }

    pub(super) fn blocks_openvino(&mut self) -> PlanResult<Blocks<'n>> {
        let size = self.int("block_size")?;
        let (data, size) = self.blocks(3..=usize::MAX, size)?;
        Ok((data, self.required("mode", &BlockOrder::OF_OPENVINO)?, size))
    }

    /// Takes data, block sizes, and crops or pads at both ends of each axis except the batch axis.
    fn blocks_of_axes(&mut self, names: [&'static str; 2]) -> PlanResult<(Planned<'n>, [Vec<usize>; 3])> {
        let data = self.data()?;
        let blocks = counts("block_shape", &self.list("block_shape")?, 1)?;
        let [begin, end] = names;
        let (begin, end) = (counts(begin, &self.list(begin)?, 0)?, counts(end, &self.list(end)?, 0)?);
        let rank = data.shape().len();
        let fits = rank >= 2 && [blocks.len(), begin.len(), end.len()] == [rank; 3];
        match fits && [blocks[0], begin[0], end[0]] == [1, 0, 0] {
            true => Ok((data, [blocks, begin, end])),
            false => refuse(format!("{blocks:?}, {begin:?} and {end:?} for data {:?}", data.shape())),
        }
    }

    pub(super) fn batch_to_space(&mut self) -> PlanResult<Planned<'n>> {
        let (data, [blocks, begin, end]) = self.blocks_of_axes(["crops_begin", "crops_end"])?;
        let (shape, spatial) = (data.shape(), data.shape().len() - 1);
        let every = blocks.iter().try_fold(1, |all: usize, &block| all.checked_mul(block));
        let whole: Vec<_> = shape.iter().zip(&blocks).map(|(dim, block)| dim.saturating_mul(*block)).collect();
        let cut = begin.iter().zip(&end).zip(&whole).skip(1);
        let is_left = cut.clone().all(|((begin, end), dim)| begin.saturating_add(*end) <= *dim);
        let Some(every) = every.filter(|every| is_left && shape[0] % every == 0) else {
            return refuse(format!("blocks {blocks:?} without {begin:?} and {end:?} of data {shape:?}"));
        };
        let slices = cut.enumerate().fold(SliceArgs::default(), |slices, (n, ((begin, end), dim))| {
            slices.axis(n as i64 + 1, *begin as i64..(dim - end) as i64)
        });
        let dims = [&blocks[1..], &[shape[0] / every], &shape[1..]].concat();
        let pairs = (0..spatial).flat_map(|n| [spatial + 1 + n, n]);
        let to = [&[shape[0] / every], &whole[1..]].concat();
        let whole = rearranged(data, &dims, [spatial].into_iter().chain(pairs).collect(), &to)?;
        whole.then(&Call::Slice(slices))
    }

    pub(super) fn space_to_batch(&mut self) -> PlanResult<Planned<'n>> {
        let (data, [blocks, begin, end]) = self.blocks_of_axes(["pads_begin", "pads_end"])?;
        let signed = |list: &[usize]| list.iter().map(|&number| number as i64).collect();
        let (before, after) = (signed(&begin), signed(&end));
        let padded = data.then(&Call::Pad { before, after, axes: None, mode: PadMode::Constant })?;
        let (shape, spatial) = (padded.shape(), blocks.len() - 1);
        if shape.iter().zip(&blocks).any(|(dim, block)| dim % block != 0) {
            return refuse(format!("blocks {blocks:?} of padded data {shape:?}"));
        }
        let places: Vec<_> = shape.iter().zip(&blocks).map(|(dim, block)| dim / block).collect();
        let pairs = (1..=spatial).flat_map(|n| [places[n], blocks[n]]);
        let dims: Vec<_> = [shape[0]].into_iter().chain(pairs).collect();
        let of_blocks = (1..=spatial).map(|n| 2 * n);
        let axes = of_blocks.chain([0]).chain((1..=spatial).map(|n| 2 * n - 1)).collect();
        let batches = blocks.iter().fold(shape[0], |all, &block| all.saturating_mul(block));
        let to = [&[batches], &places[1..]].concat();
        rearranged(padded, &dims, axes, &to)
    }

    pub(super) fn shuffle_channels(&mut self) -> PlanResult<Planned<'n>> {
        let data = self.data()?;
        let (shape, axis) = (data.shape().to_vec(), self.int("axis")?.unwrap_or(1));
        let axis = axis_of(axis, shape.len())?;
        let groups = counts("group", &[self.int("group")?.unwrap_or(1)], 1)?[0];
        if shape[axis] % groups != 0 {
            return refuse(format!("{groups} groups of {} channels", shape[axis]));
        }
        let (before, after) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
        rearranged(data, &[before, groups, shape[axis] / groups, after], vec![0, 2, 1, 3], &shape)
    }
}
