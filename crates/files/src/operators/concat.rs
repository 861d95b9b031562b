//! Concatenated and stacked sources.

use super::access::{Access, Feeds, Holding, StoredWindow};
use super::converted::{Converted, seekable};
use super::fill::{Fill, Limits, Machine, Region, Scratch, check_size};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::Span;
use tensorop_kernels::layout::segments::{Segment, Segments};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, fill_each, joined_parts};
use tensorop_kernels::ops::operators::concat::{Joined, common_dtype};

/// Joined sources.
#[derive(Debug)]
pub struct LinkedConcat {
    meta: Meta,
    axis: usize,
    axes: Vec<Option<usize>>,
    ends: Vec<usize>,
    operands: Vec<Converted>,
    /// The output is appended to this operand's file.
    grows: Vec<bool>,
}

impl LinkedConcat {
    /// Links the operands of a call.
    pub fn new(joined: Joined, sources: Vec<Source>) -> Result<Self> {
        let dtypes: Vec<_> = sources.iter().map(Source::dtype).collect();
        let dtype = common_dtype(&dtypes)?;
        Self::in_order(joined, sources, dtype, Order::C)
    }

    /// Links the operands after `data` as rows to append, in its dtype and order.
    pub fn rows(joined: &Joined, data: &Source, rows: Vec<Source>) -> Result<Self> {
        let dtypes: Vec<_> = [data].into_iter().chain(&rows).map(Source::dtype).collect();
        let widest = common_dtype(&dtypes)?;
        if let Some(n) = rows.iter().position(|row| row.dtype().itemsize() > data.dtype().itemsize()) {
            let message = format!(
                "dtype {}, expected {} at most, as wide as DATA's items are",
                widest.name(),
                data.dtype().name()
            );
            return Err(Error::new(Subject::Operand(n + 1), message));
        }
        let own = rows.iter().map(|row| row.shares_bytes_with(data)).collect::<Result<Vec<_>>>()?;
        let (mut shape, first) = (joined.shape.clone(), joined.ends[1]);
        shape[joined.axis] -= first;
        let ends = joined.ends[1..].iter().map(|end| end - first).collect();
        let joined = Joined { joining: joined.joining, axis: joined.axis, shape, ends };
        let linked = Self::in_order(joined, rows, data.dtype().clone(), data.meta().order)?;
        Ok(Self { grows: own, ..linked })
    }

    fn in_order(joined: Joined, sources: Vec<Source>, dtype: DType, order: Order) -> Result<Self> {
        let mut axes = joined.axes();
        let Joined { mut shape, mut axis, ends, .. } = joined;
        check_size(&dtype, &shape)?;
        if order == Order::Fortran {
            shape.reverse();
            axes.reverse();
            axis = shape.len() - 1 - axis;
        }
        let operand = |source: Source| {
            let conversion = Conversion::new(source.dtype(), &dtype).expect("dtypes of one kind");
            Converted::new(source, conversion).along(&axes)
        };
        let operands: Vec<_> = sources.into_iter().map(operand).collect();
        let grows = vec![false; operands.len()];
        Ok(Self { meta: Meta::c_order(dtype.clone(), shape), axis, axes, ends, operands, grows })
    }

    fn fill_box(&self, window: &Window, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let whole = View::c_order(&window.shape());
        for (n, part, place) in joined_parts(&self.ends, self.axis, window) {
            let operand = &self.operands[n];
            operand.read_to(&operand.view().part(&part), &whole.part(&place), out, scratch)?;
        }
        Ok(())
    }

    fn access(&self, n: usize) -> Access<'_> {
        let mut axes: Vec<_> = self.meta.shape.iter().map(|&dim| Segments::whole(dim)).collect();
        let [begin, end] = [self.ends[n], self.ends[n + 1]];
        let own = Segment::Run(Span::whole(end - begin));
        axes[self.axis] = Segments::once(&[Segment::Fill(begin), own, Segment::Fill(axes[self.axis].len() - end)]);
        let operand = &self.operands[n];
        let access = Access::strided(&operand.source, operand.view(), &self.axes);
        Access { feeds: Feeds::Segments(axes), ..access }
    }

    fn is_outermost(&self) -> bool {
        self.meta.shape[..self.axis].iter().all(|&dim| dim == 1)
    }
}

impl Fill for LinkedConcat {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        self.operands.get(n).map(|operand| &operand.source)
    }

    fn holdings(&self, _: usize, limits: &Limits) -> Vec<Holding> {
        // streams cannot follow chunk boxes
        let in_boxes = self.operands.iter().any(|operand| operand.source.as_chunks().is_some());
        let held = |(n, operand): (usize, &Converted)| match in_boxes {
            true => Holding::for_source(&operand.source, n, Hold::Seekable, limits.threads),
            false => seekable(&operand.source, n, operand.view(), limits),
        };
        self.operands.iter().enumerate().filter_map(held).collect()
    }

    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()> {
        self.operands[holding.operand].source.hold(holding.hold, limits.threads)
    }

    fn reads(&self, _: usize) -> Vec<Access<'_>> {
        (0..self.operands.len()).map(|n| self.access(n)).collect()
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let (shape, itemsize) = (&self.meta.shape, self.meta.dtype.itemsize());
        fill_each(&region.boxes(shape), itemsize, out, |window, out| self.fill_box(window, out, scratch))
    }

    fn window_bytes(&self, _: usize, threads: usize, machine: &Machine) -> Option<usize> {
        // in small windows, rows of many operands are too short for a read each
        let is_short = !self.is_outermost() && machine.window / self.operands.len() < machine.short_piece;
        is_short.then_some(machine.across / threads)
    }

    fn stored(&self, window: &Window) -> Result<Option<StoredWindow<'_>>> {
        let mut parts = joined_parts(&self.ends, self.axis, window);
        let (Some((n, ..)), None) = (parts.next(), parts.next()) else { return Ok(None) };
        Ok(if self.operands[n].is_as_stored() { self.access(n).stored(window) } else { None })
    }

    fn finish(&self) -> Result<()> {
        let mut stay = self.operands.iter().zip(&self.grows).filter(|(_, grows)| !**grows);
        stay.try_for_each(|(operand, _)| operand.source.finish())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, IxDyn};

    use super::*;
    use tensorop_kernels::item::tensor::Tensor;
    use tensorop_kernels::layout::axis::coordinates;
    use tensorop_kernels::ops::operators::concat::{Joining, check, concat};

    #[test]
    fn any_window() {
        let counted = |shape: &[usize], first: i32| {
            let mut next = first..;
            ArrayD::from_shape_simple_fn(IxDyn(shape), || next.next().unwrap())
        };
        let (a, b, c) = (counted(&[2, 3, 2], 0), counted(&[2, 1, 2], 100), counted(&[2, 2, 2], 200));
        let whole = concat(&[a.view(), b.view(), c.view()], 1).unwrap();
        let shapes = [a.shape(), b.shape(), c.shape()];
        let joined = check(&shapes, 1, Joining::Along).unwrap();
        let source = |array: &ArrayD<i32>| Source::memory(Tensor::from(array), "x".to_owned());
        let fill = LinkedConcat::new(joined, [&a, &b, &c].map(source).into()).unwrap();
        for from in 0..24 {
            for to in from..24 {
                let (low, high) = (coordinates(from, &[2, 6, 2]), coordinates(to, &[2, 6, 2]));
                let ranges: Vec<_> = low.iter().zip(&high).map(|(&a, &b)| a.min(b)..a.max(b) + 1).collect();
                let window = Window::new(ranges, &[2, 6, 2]);
                let (mut out, mut scratch) = (vec![9; window.items() * size_of::<i32>()], Scratch::default());
                fill.fill(&Region::Box(window.clone()), &mut out, &mut scratch).unwrap();
                let at = |n| whole[IxDyn(&window.index_of(n))].to_ne_bytes();
                let expected: Vec<u8> = (0..window.items()).flat_map(at).collect();
                assert_eq!(out, expected, "{window:?}");
            }
        }
    }
}
