//! Operators on bytes, into arrays of the caller and in place, against the functions that return new arrays.

use ndarray::{ArrayD, ArrayViewMutD, Axis, IxDyn, ShapeBuilder, Slice};
use proptest::prelude::*;
use tensorop::dtype::Field;
use tensorop::kernel::{Call, Joining, OutOfRange, Repeats, TensorMut, TensorRef};
use tensorop::{
    BroadcastRule, Condition, DType, Error, NewShape, PadMode, Reducible, Reduction, SliceArgs, SplitInto, StepRange,
};

use crate::checks::{Numbers, is_one_line};
use crate::holds;

const LAYOUTS: usize = 5;

/// Items of a dtype as values of a Rust type.
struct Items<T> {
    dtype: DType,
    item: fn(usize) -> T,
    bytes: fn(T) -> Vec<u8>,
}

/// Dtypes whose items only move: words, a string of 3 bytes, and items that are no words.
macro_rules! with_items {
    ($numbers:expr, $items:ident => $body:expr) => {
        match $numbers.below(6) {
            0 => {
                let $items = Items { dtype: DType::INT16, item: |n| n as i16, bytes: |it| it.to_le_bytes().to_vec() };
                $body
            }
            1 => {
                let dtype = DType::FLOAT64.big_endian();
                let $items = Items { dtype, item: |n| n as f64, bytes: |it: f64| it.to_be_bytes().to_vec() };
                $body
            }
            2 => {
                let $items = opaque::<3>(DType::parse("S3").unwrap());
                $body
            }
            3 => {
                let $items = opaque::<20>(DType::parse("V20").unwrap());
                $body
            }
            4 => {
                let $items = opaque::<36>(DType::parse("<U9").unwrap());
                $body
            }
            _ => {
                let $items = opaque::<7>(structured());
                $body
            }
        }
    };
}

fn opaque<const N: usize>(dtype: DType) -> Items<[u8; N]> {
    let item = |n: usize| std::array::from_fn(|byte| (n * 7 + byte * 31) as u8);
    Items { dtype, item, bytes: |item| item.to_vec() }
}

/// An int32 and three bytes.
fn structured() -> DType {
    let field = |name: &str, dtype, shapes, offset| Field { name: name.to_owned(), title: None, dtype, shapes, offset };
    let fields = vec![field("a", DType::INT32, vec![], 0), field("b", DType::UINT8, vec![vec![3]], 4)];
    DType::structured(fields, 7).unwrap()
}

impl<T: Copy + PartialEq + std::fmt::Debug> Items<T> {
    /// An array whose items follow `first`.
    fn array(&self, shape: &[usize], first: usize) -> ArrayD<T> {
        let items = (first..first + shape.iter().product::<usize>()).map(self.item).collect();
        ArrayD::from_shape_vec(IxDyn(shape), items).unwrap()
    }

    fn bytes(&self, array: &ArrayD<T>) -> Vec<u8> {
        array.iter().flat_map(|item| (self.bytes)(*item)).collect()
    }

    /// A copy in C or Fortran order, with an axis that runs backwards, or with gaps between items or between rows.
    fn laid_out(&self, array: &ArrayD<T>, how: usize) -> ArrayD<T> {
        let (mut shape, filler) = (array.shape().to_vec(), (self.item)(99));
        let mut out = match (how % LAYOUTS, shape.last_mut()) {
            (1, _) => ArrayD::from_elem(IxDyn(&shape).f(), filler),
            (2, Some(_)) => {
                let mut out = ArrayD::from_elem(IxDyn(&shape), filler);
                out.invert_axis(Axis(0));
                out
            }
            (3, Some(last)) => {
                *last = *last * 2 + 1;
                let mut out = ArrayD::from_elem(IxDyn(&shape), filler);
                out.slice_axis_inplace(Axis(shape.len() - 1), Slice::new(1, None, 2));
                out
            }
            (4, Some(last)) => {
                *last += 2;
                let mut out = ArrayD::from_elem(IxDyn(&shape), filler);
                out.slice_axis_inplace(Axis(shape.len() - 1), Slice::new(1, Some(-1), 1));
                out
            }
            _ => ArrayD::from_elem(IxDyn(&shape), filler),
        };
        out.assign(array);
        out
    }
}

type Into<'a, T> = &'a dyn Fn(&ArrayD<T>, ArrayViewMutD<'_, T>) -> Result<(), Error>;
type InPlace<'a, T> = &'a dyn Fn(&mut ArrayViewMutD<'_, T>) -> Result<(), Error>;

/// The inputs of a call after the first.
struct Others<'a, T> {
    indices: Option<&'a ArrayD<i64>>,
    updates: &'a [&'a ArrayD<T>],
}

impl<T> Others<'_, T> {
    const NONE: Self = Others { indices: None, updates: &[] };
}

/// Compares all forms of a call. `expected` is what the function that returns a new array returns.
fn agree<T: Copy + PartialEq + std::fmt::Debug>(
    numbers: &mut Numbers<'_>,
    items: &Items<T>,
    call: &Call,
    (data, others): (&ArrayD<T>, Others<'_, T>),
    expected: Result<ArrayD<T>, Error>,
    into: Into<'_, T>,
    in_place: Option<InPlace<'_, T>>,
) {
    let what = format!("{call:?} of {:?} {}", data.shape(), items.dtype);
    let mut tensors = vec![(items.dtype.clone(), data.shape().to_vec(), items.bytes(data))];
    if let Some(indices) = others.indices {
        // the byte order of index tensors may be any
        let (dtype, bytes) = match numbers.below(2) {
            0 => (DType::INT64, indices.iter().flat_map(|number| number.to_le_bytes()).collect()),
            _ => (DType::INT64.big_endian(), indices.iter().flat_map(|number| number.to_be_bytes()).collect()),
        };
        tensors.push((dtype, indices.shape().to_vec(), bytes));
    }
    tensors.extend(others.updates.iter().map(|it| (items.dtype.clone(), it.shape().to_vec(), items.bytes(it))));
    let inputs: Vec<_> =
        tensors.iter().map(|(dtype, shape, bytes)| TensorRef::new(dtype, shape, bytes).unwrap()).collect();
    let metas: Vec<_> = inputs.iter().map(TensorRef::meta).collect();
    let kernel = call.infer(&metas);
    let found = kernel.as_ref().map_err(Clone::clone).and_then(|kernel| {
        let mut out = vec![0xee; kernel.bytes()];
        kernel.apply(&inputs, TensorMut::new(kernel.dtype(), kernel.shape(), &mut out).unwrap(), 1)?;
        Ok((kernel.shape().to_vec(), out))
    });
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(found), Err(expected)) => {
            is_one_line(&found.to_string());
            assert_eq!(found, expected, "{what}");
            return;
        }
        (found, expected) => panic!("{what}: bytes {found:?}, array {expected:?}"),
    };
    assert_eq!(found, (expected.shape().to_vec(), items.bytes(&expected)), "{what}");
    let (how, data_how) = (numbers.below(LAYOUTS), numbers.below(LAYOUTS));
    let laid_out = items.laid_out(data, data_how);
    let mut out = items.laid_out(&items.array(expected.shape(), 50), how);
    into(&laid_out, out.view_mut()).unwrap_or_else(|error| panic!("{what} into {how} of {data_how}: {error}"));
    assert_eq!(out, expected, "{what} into {how} of {data_how}");
    let mut wrong = items.array(&[expected.shape(), &[2]].concat(), 0);
    if let Some(wrong) = wrong.view_mut().into_dimensionality::<IxDyn>().ok().filter(|_| in_place.is_none()) {
        assert!(into(&laid_out, wrong).is_err(), "{what} into another rank");
    }
    let kernel = kernel.unwrap();
    assert_eq!(kernel.changes_data(), in_place.is_some(), "{what}");
    let mut bytes = items.bytes(data);
    let data_tensor = TensorMut::new(&items.dtype, data.shape(), &mut bytes).unwrap();
    let changed = kernel.apply_in_place(data_tensor, &inputs[1..], 1);
    let Some(in_place) = in_place else { return assert!(changed.is_err(), "{what} in place") };
    changed.unwrap();
    assert_eq!(bytes, items.bytes(&expected), "{what} in place");
    let mut data = laid_out;
    in_place(&mut data.view_mut()).unwrap();
    assert_eq!(data, expected, "{what} in place of {data_how}");
}

fn shape(numbers: &mut Numbers<'_>, rank: usize) -> Vec<usize> {
    (0..rank).map(|_| [1, 2, 3, 4, 5, 0, 2, 3][numbers.below(8)]).collect()
}

/// Shapes of ranks from 1 on, seldom without items.
fn some_shape(numbers: &mut Numbers<'_>) -> Vec<usize> {
    let rank = 1 + numbers.below(4);
    let mut shape = shape(numbers, rank);
    if numbers.byte() < 230 {
        shape.iter_mut().for_each(|dim| *dim = (*dim).max(1));
    }
    // longer rows are copied in another way
    if numbers.byte() < 60 {
        shape[rank - 1] = 18;
    }
    shape
}

/// Numbers for a dim, of which few are out of range.
fn indices(numbers: &mut Numbers<'_>, shape: &[usize], dim: usize) -> ArrayD<i64> {
    let dim = dim as i64;
    ArrayD::from_shape_simple_fn(shape, || match numbers.byte() {
        0..2 => dim,
        2..4 => -dim - 1,
        byte if byte % 2 == 0 => i64::from(byte / 2) % dim.max(1),
        byte => -1 - i64::from(byte / 2) % dim.max(1),
    })
}

fn slices(numbers: &mut Numbers<'_>, rank: usize) -> SliceArgs {
    let mut args = SliceArgs::default();
    for axis in 0..numbers.below(rank + 1) {
        let mut bound = || (numbers.below(3) > 0).then(|| numbers.below(14) as i64 - 7);
        let (start, stop) = (bound(), bound());
        args = args.axis(axis as i64, StepRange { start, stop, step: [1, 2, -1, -2, 3][numbers.below(5)] });
    }
    args
}

fn slice<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let args = slices(numbers, data.ndim());
    let expected = tensorop::slice(&data, &args);
    let call = Call::Slice(args.clone());
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::slice_into(data, &args, out);
    agree(numbers, items, &call, (&data, Others::NONE), expected, &into, None);
}

fn slice_scatter<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let args = slices(numbers, data.ndim());
    let mut shape = tensorop::slice(&data, &args).unwrap().shape().to_vec();
    if numbers.byte() < 10 {
        shape[0] += 1;
    }
    let updates = items.laid_out(&items.array(&shape, 1000), numbers.below(LAYOUTS));
    let expected = tensorop::slice_scatter(&data, &updates, &args);
    let (call, others) = (Call::SliceScatter(args.clone()), [&updates]);
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::slice_scatter_into(data, &updates, &args, out);
    let in_place = |data: &mut ArrayViewMutD<'_, T>| tensorop::slice_scatter_in_place(data, &updates, &args);
    let others = Others { indices: None, updates: &others };
    agree(numbers, items, &call, (&data, others), expected, &into, Some(&in_place));
}

fn scatter_update<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let axis = numbers.below(data.ndim());
    let rank = numbers.below(3);
    let of = shape(numbers, rank);
    let named = indices(numbers, &of, data.shape()[axis]).mapv(|number| number.max(0));
    let shape = [&data.shape()[..axis], &of, &data.shape()[axis + 1..]].concat();
    let updates = items.laid_out(&items.array(&shape, 1000), numbers.below(LAYOUTS));
    let axis = axis as i64;
    let expected = tensorop::scatter_update(&data, &named, &updates, axis);
    let into =
        |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::scatter_update_into(data, &named, &updates, axis, out);
    let in_place = |data: &mut ArrayViewMutD<'_, T>| tensorop::scatter_update_in_place(data, &named, &updates, axis);
    let others = Others { indices: Some(&named), updates: &[&updates] };
    agree(numbers, items, &Call::scatter_update(axis), (&data, others), expected, &into, Some(&in_place));
}

/// Index tuples for data of a shape, and the shape of updates for them.
fn tuples(numbers: &mut Numbers<'_>, data: &[usize], batch: usize) -> (ArrayD<i64>, Vec<usize>) {
    let width = numbers.below(data.len() - batch + 1);
    let rank = numbers.below(3);
    let of = [&data[..batch], &shape(numbers, rank), &[width]].concat();
    let mut named = indices(numbers, &of, 1);
    for (n, mut lane) in named.axis_iter_mut(Axis(of.len() - 1)).enumerate() {
        lane.assign(&indices(numbers, &of[..of.len() - 1], data[batch + n]));
    }
    let shape = [&of[..of.len() - 1], &data[batch + width..]].concat();
    (named, shape)
}

fn scatter_nd<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let (named, shape) = tuples(numbers, data.shape(), 0);
    let updates = items.laid_out(&items.array(&shape, 1000), numbers.below(LAYOUTS));
    let expected = tensorop::scatter_nd(&data, &named, &updates);
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::scatter_nd_into(data, &named, &updates, out);
    let in_place = |data: &mut ArrayViewMutD<'_, T>| tensorop::scatter_nd_in_place(data, &named, &updates);
    let others = Others { indices: Some(&named), updates: &[&updates] };
    agree(numbers, items, &Call::scatter_nd(Reduction::None), (&data, others), expected, &into, Some(&in_place));
}

fn reduction(numbers: &mut Numbers<'_>, last: Reduction) -> Reduction {
    [Reduction::Add, Reduction::Mul, Reduction::Max, Reduction::Min, Reduction::None, last][numbers.below(6)]
}

fn scatter_nd_reduce<T: Reducible>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let reduction = reduction(numbers, Reduction::Sub);
    let (named, shape) = tuples(numbers, data.shape(), 0);
    let updates = items.laid_out(&items.array(&shape, 3), numbers.below(LAYOUTS));
    let expected = tensorop::scatter_nd_reduce(&data, &named, &updates, reduction);
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| {
        tensorop::scatter_nd_reduce_into(data, &named, &updates, reduction, out)
    };
    let in_place =
        |data: &mut ArrayViewMutD<'_, T>| tensorop::scatter_nd_reduce_in_place(data, &named, &updates, reduction);
    let others = Others { indices: Some(&named), updates: &[&updates] };
    agree(numbers, items, &Call::scatter_nd(reduction), (&data, others), expected, &into, Some(&in_place));
}

/// A shape of at most that of data on all axes but one.
fn elements_shape(numbers: &mut Numbers<'_>, data: &[usize], axis: usize) -> Vec<usize> {
    let dims = data.iter().enumerate();
    dims.map(|(n, &dim)| if n == axis { numbers.below(5) } else { numbers.below(dim + 1) }).collect()
}

fn scatter_elements<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let at = numbers.below(data.ndim());
    let of = elements_shape(numbers, data.shape(), at);
    let named = indices(numbers, &of, data.shape()[at]);
    let updates = items.laid_out(&items.array(&of, 1000), numbers.below(LAYOUTS));
    let axis = at as i64 - data.ndim() as i64;
    let expected = tensorop::scatter_elements(&data, &named, &updates, axis);
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| {
        tensorop::scatter_elements_into(data, &named, &updates, axis, out)
    };
    let in_place = |data: &mut ArrayViewMutD<'_, T>| tensorop::scatter_elements_in_place(data, &named, &updates, axis);
    let call = Call::scatter_elements(axis, Reduction::None);
    let others = Others { indices: Some(&named), updates: &[&updates] };
    agree(numbers, items, &call, (&data, others), expected, &into, Some(&in_place));
}

fn scatter_elements_reduce<T: Reducible>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let (at, reduction) = (numbers.below(data.ndim()), reduction(numbers, Reduction::Mean));
    let of = elements_shape(numbers, data.shape(), at);
    let named = indices(numbers, &of, data.shape()[at]);
    let updates = items.laid_out(&items.array(&of, 3), numbers.below(LAYOUTS));
    let (axis, has_initial) = (at as i64, numbers.below(2) == 0);
    let expected = tensorop::scatter_elements_reduce(&data, &named, &updates, axis, reduction, has_initial);
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| {
        tensorop::scatter_elements_reduce_into(data, &named, &updates, axis, reduction, has_initial, out)
    };
    let in_place = |data: &mut ArrayViewMutD<'_, T>| {
        tensorop::scatter_elements_reduce_in_place(data, &named, &updates, axis, reduction, has_initial)
    };
    let (opset, repeats, counts_from_end) = (None, Repeats::Combined, true);
    let call = Call::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end };
    let others = Others { indices: Some(&named), updates: &[&updates] };
    agree(numbers, items, &call, (&data, others), expected, &into, Some(&in_place));
}

fn gather<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let at = numbers.below(data.ndim());
    let batch = numbers.below(at + 1);
    let rank = numbers.below(3);
    let of = [&data.shape()[..batch], &shape(numbers, rank)].concat();
    let named = indices(numbers, &of, data.shape()[at]);
    let (axis, batch_dims) = (at as i64, batch as i64);
    let expected = tensorop::gather(&data, &named, axis, batch_dims);
    let (out_of_range, counts_from_end) = (OutOfRange::Error, true);
    let call = Call::Gather { axis, batch_dims, out_of_range, counts_from_end };
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::gather_into(data, &named, axis, batch_dims, out);
    let others = Others { indices: Some(&named), updates: &[] };
    agree(numbers, items, &call, (&data, others), expected, &into, None);
}

fn gather_or_zero(numbers: &mut Numbers<'_>) {
    let items = Items { dtype: DType::INT32, item: |n| n as i32 + 1, bytes: |item| item.to_le_bytes().to_vec() };
    let data = items.array(&some_shape(numbers), 0);
    let at = numbers.below(data.ndim());
    let rank = numbers.below(3);
    let of = shape(numbers, rank);
    let named = indices(numbers, &of, data.shape()[at] + 2);
    let (axis, batch_dims) = (at as i64, 0);
    let expected = tensorop::gather_or_zero(&data, &named, axis, batch_dims);
    let call = Call::Gather { axis, batch_dims, out_of_range: OutOfRange::Zero, counts_from_end: true };
    let into = |data: &ArrayD<i32>, out: ArrayViewMutD<'_, i32>| {
        tensorop::gather_or_zero_into(data, &named, axis, batch_dims, out)
    };
    let others = Others { indices: Some(&named), updates: &[] };
    agree(numbers, &items, &call, (&data, others), expected, &into, None);
}

fn gather_nd<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let batch = numbers.below(data.ndim());
    let (named, _) = tuples(numbers, data.shape(), batch);
    let expected = tensorop::gather_nd(&data, &named, batch);
    let call = Call::GatherNd { batch_dims: batch as i64 };
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::gather_nd_into(data, &named, batch, out);
    let others = Others { indices: Some(&named), updates: &[] };
    agree(numbers, items, &call, (&data, others), expected, &into, None);
}

fn gather_elements<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let at = numbers.below(data.ndim());
    let of = elements_shape(numbers, data.shape(), at);
    let named = indices(numbers, &of, data.shape()[at]);
    let axis = at as i64;
    let expected = tensorop::gather_elements(&data, &named, axis);
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::gather_elements_into(data, &named, axis, out);
    let others = Others { indices: Some(&named), updates: &[] };
    agree(numbers, items, &Call::GatherElements { axis }, (&data, others), expected, &into, None);
}

fn concat<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let shape = some_shape(numbers);
    let (is_stack, at) = (numbers.below(2) == 0, numbers.below(shape.len()));
    let of = |(n, dim): (usize, usize)| {
        let mut shape = shape.clone();
        if !is_stack {
            shape[at] = dim;
        }
        items.laid_out(&items.array(&shape, 1000 * n), n + dim)
    };
    let arrays: Vec<_> = (0..1 + numbers.below(4)).map(|n| (n, numbers.below(4))).map(of).collect();
    let (axis, others): (_, Vec<_>) = (at as i64, arrays[1..].iter().collect());
    let views = |first: &ArrayD<T>| [&[first.view().to_owned()], &arrays[1..]].concat();
    let (expected, call) = match is_stack {
        true => (tensorop::stack(&arrays, axis), Call::stack(axis)),
        false => (tensorop::concat(&arrays, axis), Call::Concat { axis, joining: Joining::Along }),
    };
    let into = |first: &ArrayD<T>, out: ArrayViewMutD<'_, T>| match is_stack {
        true => tensorop::stack_into(&views(first), axis, out),
        false => tensorop::concat_into(&views(first), axis, out),
    };
    let others = Others { indices: None, updates: &others };
    agree(numbers, items, &call, (&arrays[0], others), expected, &into, None);
}

fn transpose<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let mut axes: Vec<i64> = (0..data.ndim() as i64).collect();
    for n in 0..axes.len() {
        axes.swap(n, numbers.below(data.ndim()));
    }
    let axes = (numbers.below(4) > 0).then_some(axes);
    let expected = tensorop::transpose(&data, axes.as_deref());
    let call = Call::Transpose { axes: axes.clone() };
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::transpose_into(data, axes.as_deref(), out);
    agree(numbers, items, &call, (&data, Others::NONE), expected, &into, None);
}

fn reshape<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let reversed: Vec<i64> = data.shape().iter().rev().map(|&dim| dim as i64).collect();
    let to = match numbers.below(5) {
        0 => NewShape::Dims(vec![-1]),
        1 => NewShape::DimsWithZero(reversed),
        2 => NewShape::Squeeze(None),
        3 => NewShape::Unsqueeze(vec![numbers.below(data.ndim() + 1) as i64]),
        _ => NewShape::Flatten(numbers.below(data.ndim() + 2) as i64),
    };
    let expected = tensorop::reshape(&data, &to);
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::reshape_into(data, &to, out);
    agree(numbers, items, &Call::Reshape(to.clone()), (&data, Others::NONE), expected, &into, None);
}

fn pad<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    use PadMode::{Constant, Edge, Reflect, Symmetric, Wrap};
    let data = items.array(&some_shape(numbers), 0);
    let mut list = || (0..data.ndim()).map(|_| numbers.below(8) as i64 - 2).collect::<Vec<_>>();
    let (before, after) = (list(), list());
    let mode = [Constant, Edge, Reflect, Symmetric, Wrap][numbers.below(5)];
    let item = (items.item)(77);
    let expected = tensorop::pad(&data, &before, &after, None, mode, item);
    let call = Call::Pad { before: before.clone(), after: after.clone(), axes: None, mode };
    let into =
        |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::pad_into(data, &before, &after, None, mode, item, out);
    let others = Others { indices: None, updates: &[&ArrayD::from_elem(IxDyn(&[]), item)] };
    agree(numbers, items, &call, (&data, others), expected, &into, None);
}

fn tile<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let repeats: Vec<i64> =
        (0..numbers.below(5)).map(|_| numbers.below(5) as i64 - i64::from(numbers.byte() < 8)).collect();
    let expected = tensorop::tile(&data, &repeats);
    let call = Call::Tile { repeats: repeats.clone() };
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::tile_into(data, &repeats, out);
    agree(numbers, items, &call, (&data, Others::NONE), expected, &into, None);
}

fn roll<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let shift = vec![numbers.below(20) as i64 - 10];
    let count = 1 + numbers.below(2);
    let axes: Option<Vec<i64>> =
        (numbers.below(3) > 0).then(|| (0..count).map(|_| numbers.below(data.ndim()) as i64).collect());
    let expected = tensorop::roll(&data, &shift, axes.as_deref());
    let call = Call::Roll { shift: shift.clone(), axes: axes.clone() };
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::roll_into(data, &shift, axes.as_deref(), out);
    agree(numbers, items, &call, (&data, Others::NONE), expected, &into, None);
}

fn broadcast<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let to = some_shape(numbers);
    let own: Vec<_> = to.iter().map(|&dim| if numbers.below(2) == 0 { 1 } else { dim }).collect();
    let data = items.array(&own[numbers.below(own.len())..], 0);
    let to: Vec<i64> = to.iter().map(|&dim| dim as i64).collect();
    let rule = if numbers.below(2) == 0 { BroadcastRule::Numpy } else { BroadcastRule::Bidirectional };
    let expected = tensorop::broadcast(&data, &to, &rule);
    let call = Call::Broadcast { shape: to.clone(), rule: rule.clone() };
    let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::broadcast_into(data, &to, &rule, out);
    agree(numbers, items, &call, (&data, Others::NONE), expected, &into, None);
}

fn split<T: Copy + PartialEq + std::fmt::Debug>(numbers: &mut Numbers<'_>, items: &Items<T>) {
    let data = items.array(&some_shape(numbers), 0);
    let (axis, into) = (numbers.below(data.ndim()) as i64, SplitInto::Parts(1 + numbers.below(4) as i64));
    let expected = tensorop::split(&data, axis, &into).unwrap();
    let laid_out = items.laid_out(&data, numbers.below(LAYOUTS));
    let mut outs: Vec<_> = expected.iter().map(|part| items.laid_out(&part.mapv(|_| (items.item)(5)), 3)).collect();
    let mut views: Vec<_> = outs.iter_mut().map(|out| out.view_mut()).collect();
    tensorop::split_into(&laid_out, axis, &into, &mut views).unwrap();
    assert!(tensorop::split_into(&laid_out, axis, &into, &mut views[1..]).is_err(), "a part is missing");
    assert_eq!(outs, expected, "{axis} {into:?}");
    for (call, expected) in Call::split(data.shape(), axis, &into).unwrap().iter().zip(expected) {
        let Call::Slice(args) = call else { panic!("{call:?}") };
        let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::slice_into(data, args, out);
        agree(numbers, items, call, (&data, Others::NONE), Ok(expected), &into, None);
    }
}

fn replace_where(numbers: &mut Numbers<'_>) {
    let items = Items { dtype: DType::FLOAT32, item: |n| n as f32, bytes: |item| item.to_le_bytes().to_vec() };
    let data = items.array(&some_shape(numbers), 0);
    let args = slices(numbers, data.ndim());
    let condition = match numbers.below(3) {
        0 => Condition::Less(5.0),
        1 => Condition::NotEqual(2.0),
        _ => Condition::Finite,
    };
    let expected = tensorop::replace_where(&data, &condition, -1.0, &args).unwrap();
    let replaced = data.iter().zip(&expected).filter(|(old, new)| old != new).count();
    let of_bytes = match condition {
        Condition::Less(value) => Condition::Less((items.bytes)(value)),
        Condition::NotEqual(value) => Condition::NotEqual((items.bytes)(value)),
        _ => Condition::Finite,
    };
    let mut bytes = items.bytes(&data);
    let mut tensor = TensorMut::new(&items.dtype, data.shape(), &mut bytes).unwrap();
    let found = tensorop::kernel::replace_where(&mut tensor, &of_bytes, &(items.bytes)(-1.0), &args).unwrap();
    assert_eq!((found, bytes), (replaced, items.bytes(&expected)), "{condition:?} {args:?} {:?}", data.shape());
    let mut data = items.laid_out(&data, numbers.below(LAYOUTS));
    tensorop::replace_where_in_place(&mut data.view_mut(), &condition, -1.0, &args).unwrap();
    assert_eq!(data, expected, "{condition:?} {args:?}");
}

macro_rules! tests {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            holds(400, prop::collection::vec(any::<u8>(), 20..200), |bytes| {
                let mut numbers = Numbers(&bytes);
                with_items!(numbers, items => super::$name(&mut numbers, &items));
            });
        }
    )+};
}

mod moved {
    use super::*;

    tests! {
        slice slice_scatter scatter_update scatter_nd scatter_elements gather gather_nd gather_elements concat transpose
        reshape pad tile roll broadcast split
    }
}

mod computed {
    use super::*;

    fn each(check: impl Fn(&mut Numbers<'_>)) {
        holds(400, prop::collection::vec(any::<u8>(), 20..200), |bytes| check(&mut Numbers(&bytes)));
    }

    const FLOATS: Items<f32> =
        Items { dtype: DType::FLOAT32, item: |n| n as f32 / 3.0, bytes: |item| item.to_le_bytes().to_vec() };

    fn integers() -> Items<i32> {
        let dtype = DType::INT32.big_endian();
        Items { dtype, item: |n| (n as i32).wrapping_mul(1_000_003), bytes: |item| item.to_be_bytes().to_vec() }
    }

    #[test]
    fn scatter_nd_reduce() {
        each(|numbers| super::scatter_nd_reduce(numbers, &FLOATS));
        each(|numbers| super::scatter_nd_reduce(numbers, &integers()));
    }

    #[test]
    fn scatter_elements_reduce() {
        each(|numbers| super::scatter_elements_reduce(numbers, &FLOATS));
        each(|numbers| super::scatter_elements_reduce(numbers, &integers()));
    }

    #[test]
    fn replace_where() {
        each(super::replace_where);
    }

    #[test]
    fn gather_or_zero() {
        each(super::gather_or_zero);
    }
}
