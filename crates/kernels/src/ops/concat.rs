//! Concat: [ONNX](https://onnx.ai/onnx/operators/onnx__Concat.html), OpenVINO
//! [Concat-1](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/concat-1.html);
//! stack: [ConcatFromSequence](https://onnx.ai/onnx/operators/onnx__ConcatFromSequence.html) with `new_axis`.

use ndarray::{Array, ArrayBase, ArrayD, Data, Dimension};

use super::access::{Access, Feeds, Holding, StoredWindow};
use super::converted::{Converted, seekable};
use super::fill::{Fill, Limits, Region, Scratch};
use super::kernels::{Items, Output, Strided, joined_parts};
use super::machine::Machine;
use crate::error::{Context, Error, Result, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::meta::{Meta, Order};
use crate::item::tensor::Tensor;
use crate::layout::axis::{Span, resolve_axis};
use crate::layout::segments::{Segment, Segments};
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::layout::view::View;
use crate::layout::window::{Window, fill_each};
use crate::memory;
use crate::storage::conversion::Conversion;
use crate::storage::source::{Hold, Source};

/// How tensors are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// Along an axis that they have.
    Along,
    /// Along a new axis.
    Stacked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    joining: Joining,
    pub axis: usize,
    pub shape: Vec<usize>,
    /// Ends along `axis`, after a leading 0.
    ends: Vec<usize>,
}

/// Resolves a concatenation; negative axes count from the output's end.
pub fn check(shapes: &[&[usize]], axis: i64, joining: Joining) -> Result<Joined> {
    let Some((&first, others)) = shapes.split_first() else {
        return Err(Error::new(Subject::Data, "no operands, expected at least one"));
    };
    let refuse = |n, message: String| Err(Error::new(Subject::Operand(n), message));
    let (stacked, rank) = (joining == Joining::Stacked, first.len());
    if rank == 0 && !stacked {
        return refuse(0, "rank 0, expected at least 1 axis".to_owned());
    }
    let most = MAX_RANK - usize::from(stacked);
    if rank > most {
        return refuse(0, format!("rank {rank}, expected at most {most}"));
    }
    let of_output = rank + usize::from(stacked);
    let Some(axis) = resolve_axis(axis, of_output) else {
        let message = format!("{axis}, expected one of [-{of_output}, {}] (data {first:?})", of_output - 1);
        return Err(Error::new(Subject::Axis, message));
    };
    let fits = |shape: &[usize]| {
        let may_differ = |at: usize| at == axis && !stacked;
        shape.len() == rank && (0..rank).all(|at| may_differ(at) || shape[at] == first[at])
    };
    if let Some(n) = others.iter().position(|shape| !fits(shape)) {
        let but = if stacked { String::new() } else { format!(", except on axis {axis}") };
        return refuse(n + 1, format!("shape {:?}, expected {first:?} as of the first operand{but}", others[n]));
    }
    let (mut ends, mut end) = (Vec::with_capacity(shapes.len() + 1), 0_usize);
    ends.push(0);
    let mut shape = first.to_vec();
    if stacked {
        shape.insert(axis, 0);
    }
    for (n, operand) in shapes.iter().enumerate() {
        let dim = if stacked { 1 } else { operand[axis] };
        let sum = end.checked_add(dim).filter(|&sum| {
            shape[axis] = sum;
            bytes_of(&shape, 1).is_some()
        });
        let Some(sum) = sum else {
            return refuse(n, format!("more items than can be counted: {end} and {dim} places of axis {axis}"));
        };
        end = sum;
        ends.push(end);
    }
    shape[axis] = end;
    Ok(Joined { joining, axis, shape, ends })
}

/// The dtype of the first, with the widest strings.
pub fn common_dtype(dtypes: &[&DType]) -> Result<DType> {
    let Some((&first, others)) = dtypes.split_first() else {
        return Err(Error::new(Subject::Data, "no operands, expected at least one"));
    };
    if let Some(n) = others.iter().position(|other| Conversion::new(other, first).is_none()) {
        let message = format!("dtype {}, expected {} as of the first operand", others[n].name(), first.name());
        return Err(Error::new(Subject::Operand(n + 1), message));
    }
    if !matches!(first.kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return Ok(first.clone());
    }
    let widest =
        others.iter().fold(first, |widest, other| if other.itemsize() > widest.itemsize() { other } else { widest });
    Ok(if first.is_big_endian() { widest.big_endian() } else { widest.native() })
}

impl Joined {
    /// The axis of an operand per output axis; `None` for the new one of a stack.
    fn axes(&self) -> Vec<Option<usize>> {
        let mut axes: Vec<_> = (0..self.shape.len()).map(Some).collect();
        if self.joining == Joining::Stacked {
            axes.pop();
            axes.insert(self.axis, None);
        }
        axes
    }

    pub(super) fn output<'a, T: Copy, D: Dimension>(
        &'a self,
        arrays: &'a [ArrayBase<impl Data<Elem = T>, D>],
    ) -> Output<'a, T> {
        self.output_of(arrays.iter().map(Strided::of).collect(), Items::single())
    }

    pub(super) fn output_of<'a, T: Copy>(&'a self, operands: Vec<Strided<'a, T>>, items: Items<T>) -> Output<'a, T> {
        let axes = self.axes();
        let parts = operands.into_iter().map(|operand| operand.along(&axes)).collect();
        Output::joined(self.shape.clone(), (self.axis, &self.ends), parts, items)
    }

    pub fn link(self, sources: Vec<Source>) -> Result<Concat> {
        let dtypes: Vec<_> = sources.iter().map(Source::dtype).collect();
        let dtype = common_dtype(&dtypes)?;
        self.link_in(sources, dtype, Order::C)
    }

    /// Links the operands after `data` as rows to append, in its dtype and order.
    pub fn link_rows(&self, data: &Source, rows: Vec<Source>) -> Result<Concat> {
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
        let (mut shape, first) = (self.shape.clone(), self.ends[1]);
        shape[self.axis] -= first;
        let ends = self.ends[1..].iter().map(|end| end - first).collect();
        let joined = Self { joining: self.joining, axis: self.axis, shape, ends };
        let mut linked = joined.link_in(rows, data.dtype().clone(), data.meta().order)?;
        linked.grows = own;
        Ok(linked)
    }

    fn link_in(self, sources: Vec<Source>, dtype: DType, order: Order) -> Result<Concat> {
        if bytes_of(&self.shape, dtype.itemsize()).is_none() {
            let message = format!("more bytes than can be counted ({} {:?})", dtype.name(), self.shape);
            return Err(Error::new(Subject::Output, message));
        }
        let mut axes = self.axes();
        let (mut shape, mut axis, ends) = (self.shape, self.axis, self.ends);
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
        Ok(Concat { meta: Meta::new(dtype.clone(), shape), axis, axes, ends, operands, grows })
    }
}

#[derive(Debug)]
pub struct Concat {
    meta: Meta,
    axis: usize,
    axes: Vec<Option<usize>>,
    ends: Vec<usize>,
    operands: Vec<Converted>,
    /// The output is appended to this operand's file.
    grows: Vec<bool>,
}

impl Concat {
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

impl Fill for Concat {
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

/// Concatenates arrays along `axis`; a negative axis counts from the end (ONNX Concat, OpenVINO Concat-1).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::concat;
/// let (a, b) = (array![[1, 2], [3, 4]], array![[5], [6]]);
/// assert_eq!(concat(&[a.view(), b.view()], 1)?, array![[1, 2, 5], [3, 4, 6]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// No array is given ([`Subject::Data`]), the axis is out of range ([`Subject::Axis`]), or a shape does not fit the
/// first ([`Subject::Operand`]).
pub fn concat<T: Copy, D: Dimension>(arrays: &[ArrayBase<impl Data<Elem = T>, D>], axis: i64) -> Result<Array<T, D>> {
    let joined = check(&shapes_of(arrays), axis, Joining::Along)?;
    joined.output(arrays).to_array()
}

/// Stacks arrays of one shape along a new axis of the output (ONNX ConcatFromSequence).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::stack;
/// let (a, b) = (array![1, 2], array![3, 4]);
/// assert_eq!(stack(&[a.view(), b.view()], -1)?, array![[1, 3], [2, 4]].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// No array is given ([`Subject::Data`]), the axis is out of range ([`Subject::Axis`]), or the shapes differ
/// ([`Subject::Operand`]).
pub fn stack<T: Copy, D: Dimension>(arrays: &[ArrayBase<impl Data<Elem = T>, D>], axis: i64) -> Result<ArrayD<T>> {
    let joined = check(&shapes_of(arrays), axis, Joining::Stacked)?;
    joined.output(arrays).to_array()
}

pub(super) fn shapes_of<T, D: Dimension>(arrays: &[ArrayBase<impl Data<Elem = T>, D>]) -> Vec<&[usize]> {
    arrays.iter().map(|array| array.shape()).collect()
}

impl Tensor {
    /// Concatenates tensors of any dtype as [`concat`](crate::concat()) does, in the first's byte order, with the
    /// widest strings.
    ///
    /// ```
    /// use tensorop_kernels::{DType, Tensor};
    /// let short = Tensor::new(DType::parse("S1")?, vec![2], b"ab".to_vec())?;
    /// let long = Tensor::new(DType::parse("S2")?, vec![1], b"cd".to_vec())?;
    /// assert_eq!(Tensor::concat(vec![short, long], 0)?.bytes(), b"a\0b\0cd");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The axis, a shape or a dtype does not fit, or memory runs out.
    pub fn concat(tensors: Vec<Self>, axis: i64) -> Result<Self> {
        Self::join(tensors, axis, Joining::Along)
    }

    /// Stacks tensors of any dtype as [`stack`](crate::stack()) does.
    ///
    /// # Errors
    /// The axis, a shape or a dtype does not fit, or memory runs out.
    pub fn stack(tensors: Vec<Self>, axis: i64) -> Result<Self> {
        Self::join(tensors, axis, Joining::Stacked)
    }

    fn join(tensors: Vec<Self>, axis: i64, joining: Joining) -> Result<Self> {
        let shapes: Vec<_> = tensors.iter().map(Self::shape).collect();
        let joined = check(&shapes, axis, joining)?;
        let source = |(n, tensor): (usize, Self)| Source::memory(tensor, Subject::Operand(n).to_string());
        let fill = joined.link(tensors.into_iter().enumerate().map(source).collect())?;
        let mut items = memory::zeros(fill.meta.bytes()).context(fill.operands[0].source.label())?;
        fill.fill(&Region::Box(Window::whole(&fill.meta.shape)), &mut items, &mut Scratch::default())?;
        Self::new(fill.meta.dtype, fill.meta.shape, items)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{IxDyn, array};

    use super::*;
    use crate::layout::shape::coordinates;

    fn plain(arrays: &[ArrayD<i32>], axis: usize, joining: Joining) -> ArrayD<i32> {
        let mut shape = arrays[0].shape().to_vec();
        match joining {
            Joining::Along => shape[axis] = arrays.iter().map(|array| array.shape()[axis]).sum(),
            Joining::Stacked => shape.insert(axis, arrays.len()),
        }
        ArrayD::from_shape_fn(IxDyn(&shape), |at| {
            let (mut index, mut place) = (at.slice().to_vec(), at[axis]);
            if joining == Joining::Stacked {
                index.remove(axis);
                return arrays[place][IxDyn(&index)];
            }
            let mut n = 0;
            while place >= arrays[n].shape()[axis] {
                place -= arrays[n].shape()[axis];
                n += 1;
            }
            index[axis] = place;
            arrays[n][IxDyn(&index)]
        })
    }

    fn counted(shape: &[usize], first: i32) -> ArrayD<i32> {
        let mut next = first..;
        ArrayD::from_shape_simple_fn(IxDyn(shape), || next.next().unwrap())
    }

    fn tensors(arrays: &[ArrayD<i32>]) -> Vec<Tensor> {
        arrays.iter().map(Tensor::from).collect()
    }

    #[test]
    fn arrays_and_tensors_are_as_plain_loops_have_them() {
        for lens in [&[2, 3][..], &[1], &[0, 2, 0, 0, 1], &[0], &[0, 0], &[5, 1, 1, 4]] {
            for shape in [&[1][..], &[1, 4], &[3, 1], &[2, 1, 3], &[2, 0, 1], &[1, 2, 2, 1]] {
                for axis in 0..shape.len() {
                    let of = |(n, &len): (usize, &usize)| {
                        let mut dims = shape.to_vec();
                        dims[axis] = len;
                        counted(&dims, 1000 * n as i32)
                    };
                    let arrays: Vec<_> = lens.iter().enumerate().map(of).collect();
                    let views: Vec<_> = arrays.iter().map(|array| array.view()).collect();
                    let expected = plain(&arrays, axis, Joining::Along);
                    for axis in [axis as i64, axis as i64 - shape.len() as i64] {
                        assert_eq!(concat(&views, axis).as_ref(), Ok(&expected), "{lens:?} {shape:?} {axis}");
                        let joined = Tensor::concat(tensors(&arrays), axis).unwrap();
                        assert_eq!(joined, Tensor::from(&expected), "{lens:?} {shape:?} {axis}");
                    }
                }
            }
        }
    }

    #[test]
    fn stacks_are_as_plain_loops_have_them() {
        for count in 1..4 {
            for shape in [&[][..], &[3], &[0], &[2, 3], &[1, 2, 2]] {
                let arrays: Vec<_> = (0..count).map(|n| counted(shape, 100 * n)).collect();
                let views: Vec<_> = arrays.iter().map(|array| array.view()).collect();
                for axis in 0..=shape.len() {
                    let expected = plain(&arrays, axis, Joining::Stacked);
                    for axis in [axis as i64, axis as i64 - shape.len() as i64 - 1] {
                        assert_eq!(stack(&views, axis).as_ref(), Ok(&expected), "{shape:?} {axis}");
                        assert_eq!(Tensor::stack(tensors(&arrays), axis), Ok(Tensor::from(&expected)));
                    }
                }
            }
        }
    }

    #[test]
    fn any_window() {
        let (a, b, c) = (counted(&[2, 3, 2], 0), counted(&[2, 1, 2], 100), counted(&[2, 2, 2], 200));
        let whole = plain(&[a.clone(), b.clone(), c.clone()], 1, Joining::Along);
        let shapes = [a.shape(), b.shape(), c.shape()];
        let joined = check(&shapes, 1, Joining::Along).unwrap();
        let source = |array: &ArrayD<i32>| Source::memory(Tensor::from(array), "x".to_owned());
        let fill = joined.link([&a, &b, &c].map(source).into()).unwrap();
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

    #[test]
    fn refused() {
        let huge = 1 << 62;
        type Row<'a> = (&'a [&'a [usize]], i64, Joining, Subject, &'a str);
        let rows: [Row<'_>; 14] = [
            (&[], 0, Joining::Along, Subject::Data, "no operands, expected at least one"),
            (&[&[]], 0, Joining::Along, Subject::Operand(0), "rank 0, expected at least 1 axis"),
            (
                &[&[2], &[]],
                0,
                Joining::Along,
                Subject::Operand(1),
                "shape [], expected [2] as of the first operand, except on axis 0",
            ),
            (&[&[2, 3]], 2, Joining::Along, Subject::Axis, "2, expected one of [-2, 1] (data [2, 3])"),
            (&[&[2, 3]], -3, Joining::Along, Subject::Axis, "-3, expected one of [-2, 1] (data [2, 3])"),
            (
                &[&[2, 3]],
                i64::MIN,
                Joining::Along,
                Subject::Axis,
                "-9223372036854775808, expected one of [-2, 1] (data [2, 3])",
            ),
            (&[&[2, 3]], 3, Joining::Stacked, Subject::Axis, "3, expected one of [-3, 2] (data [2, 3])"),
            (&[&[]], 1, Joining::Stacked, Subject::Axis, "1, expected one of [-1, 0] (data [])"),
            (
                &[&[2, 3], &[2, 4]],
                0,
                Joining::Along,
                Subject::Operand(1),
                "shape [2, 4], expected [2, 3] as of the first operand, except on axis 0",
            ),
            (
                &[&[0, 3], &[0, 4]],
                0,
                Joining::Along,
                Subject::Operand(1),
                "shape [0, 4], expected [0, 3] as of the first operand, except on axis 0",
            ),
            (
                &[&[2], &[2], &[3]],
                0,
                Joining::Stacked,
                Subject::Operand(2),
                "shape [3], expected [2] as of the first operand",
            ),
            (
                &[&[huge], &[huge]],
                0,
                Joining::Along,
                Subject::Operand(1),
                "more items than can be counted: 4611686018427387904 and 4611686018427387904 places of axis 0",
            ),
            (
                &[&[huge, 0], &[huge, 0]],
                0,
                Joining::Along,
                Subject::Operand(1),
                "more items than can be counted: 4611686018427387904 and 4611686018427387904 places of axis 0",
            ),
            (
                &[&[huge], &[huge]],
                0,
                Joining::Stacked,
                Subject::Operand(1),
                "more items than can be counted: 1 and 1 places of axis 0",
            ),
        ];
        for (shapes, axis, joining, subject, message) in rows {
            let error = check(shapes, axis, joining).unwrap_err();
            assert_eq!((error.subject(), error.message()), (subject, message), "{shapes:?}");
        }
        let many = [1; MAX_RANK];
        assert!(check(&[&many, &many], 63, Joining::Along).is_ok());
        let error = check(&[&many], 0, Joining::Stacked).unwrap_err();
        assert_eq!(error.message(), "rank 64, expected at most 63");
        assert_eq!(check(&[&[1; 65]], 0, Joining::Along).unwrap_err().message(), "rank 65, expected at most 64");
        let a = array![1.5_f64];
        assert_eq!(concat(&[a.view(), a.view()], 1).unwrap_err().subject(), Subject::Axis);
    }

    #[test]
    fn dtypes() {
        let rows = [
            ("<f4 >f4 <f4", Ok("<f4")),
            (">f4 <f4", Ok(">f4")),
            ("<U2 >U5 <U1", Ok("<U5")),
            (">U1 <U3", Ok(">U3")),
            ("|S3 |S1 |S7 |S7", Ok("|S7")),
            ("<i4 <i4 <u4", Err((2, "dtype uint32, expected int32 as of the first operand"))),
            ("|S4 <U1", Err((1, "dtype <U1, expected |S4 as of the first operand"))),
        ];
        for (names, expected) in rows {
            let dtypes: Vec<_> = names.split(' ').map(|name| DType::parse(name).unwrap()).collect();
            let found = common_dtype(&dtypes.iter().collect::<Vec<_>>());
            match expected {
                Ok(name) => assert_eq!(found, Ok(DType::parse(name).unwrap()), "{names}"),
                Err((n, message)) => {
                    let error = found.unwrap_err();
                    assert_eq!((error.subject(), error.message()), (Subject::Operand(n), message), "{names}");
                }
            }
        }
    }
}
