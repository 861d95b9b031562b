//! Operators on bytes, into arrays of the caller and in place, against the functions that return new arrays.

use ndarray::{ArrayD, ArrayViewMutD, Axis, IxDyn, ShapeBuilder, Slice};
use proptest::prelude::*;
use tensorop::dtype::Field;
use tensorop::kernel::{AttributeValue, Attributes, Call, Joining, OutOfRange, Repeats, TensorMut, TensorRef};
use tensorop::{
    BroadcastRule, Condition, DType, Error, Meta, NewShape, PadMode, Reducible, Reduction, SliceArgs, SplitInto,
    StepRange,
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
    in_every_layout(numbers, &metas, call, &tensors, &found.1, &what);
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

/// Items in a buffer with strides.
struct Strided {
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    itemsize: usize,
    buffer: Vec<u8>,
}

impl Strided {
    /// The axes are in any order, run in any direction, and have gaps, of which some are no multiples of an item.
    fn new(numbers: &mut Numbers<'_>, shape: &[usize], items: &[u8]) -> Self {
        let count: usize = shape.iter().product();
        let itemsize = items.len() / count.max(1);
        let odd = usize::from(numbers.below(8) == 0);
        let mut order: Vec<usize> = (0..shape.len()).collect();
        (0..shape.len()).for_each(|n| order.swap(n, numbers.below(shape.len())));
        let mut offset = numbers.below(3) * itemsize + odd;
        let (mut strides, mut step) = (vec![0; shape.len()], itemsize * [1, 1, 2][numbers.below(3)] + odd);
        for axis in order {
            strides[axis] = step as isize;
            step = step * shape[axis].max(1) + itemsize * numbers.below(2);
            if numbers.below(3) == 0 {
                strides[axis] = -strides[axis];
                offset += strides[axis].unsigned_abs() * shape[axis].saturating_sub(1);
            }
        }
        let buffer = vec![0xee; offset + step + itemsize];
        let mut it = Self { shape: shape.to_vec(), strides, offset, itemsize, buffer };
        it.put(items);
        it
    }

    fn places(&self) -> Vec<usize> {
        let step = |places: Vec<usize>, (&dim, &stride): (&usize, &isize)| {
            let along = |place: usize| (0..dim).map(move |n| place.wrapping_add_signed(stride * n as isize));
            places.into_iter().flat_map(along).collect()
        };
        self.shape.iter().zip(&self.strides).fold(vec![self.offset], step)
    }

    fn put(&mut self, items: &[u8]) {
        let places = if items.is_empty() { Vec::new() } else { self.places() };
        for (place, item) in places.iter().zip(items.chunks(self.itemsize.max(1))) {
            self.buffer[*place..][..item.len()].copy_from_slice(item);
        }
    }

    fn of<'a>(&'a self, dtype: &'a DType) -> TensorRef<'a> {
        TensorRef::strided(dtype, &self.shape, &self.strides, self.offset, &self.buffer).unwrap()
    }

    fn lent<'a>(&'a mut self, dtype: &'a DType) -> TensorMut<'a> {
        TensorMut::strided(dtype, &self.shape, &self.strides, self.offset, &mut self.buffer).unwrap()
    }
}

/// Compares strided tensors, bound inputs and parts with what `apply` gave for tensors in C order.
fn in_every_layout(
    numbers: &mut Numbers<'_>,
    metas: &[Meta],
    call: &Call,
    tensors: &[(DType, Vec<usize>, Vec<u8>)],
    expected: &[u8],
    what: &str,
) {
    let strided: Vec<_> = tensors.iter().map(|(_, shape, bytes)| Strided::new(numbers, shape, bytes)).collect();
    let inputs: Vec<_> = strided.iter().zip(tensors).map(|(strided, tensor)| strided.of(&tensor.0)).collect();
    let mut kernel = call.infer(metas).unwrap();
    let changes = kernel.changes_data();
    let mut given = Vec::new();
    for (n, tensor) in inputs.iter().enumerate() {
        if n > 0 && numbers.below(2) == 0 {
            kernel.bind(n, tensor).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(kernel.bind(n, tensor).is_err(), "{what} bound twice");
        } else {
            given.push(*tensor);
        }
    }
    let filled = vec![0x77; expected.len()];
    let mut out = Strided::new(numbers, kernel.shape(), &filled);
    let mut whole =
        Strided { buffer: out.buffer.clone(), strides: out.strides.clone(), shape: out.shape.clone(), ..out };
    whole.put(expected);
    kernel.apply(&given, out.lent(kernel.dtype()), 1).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(out.buffer == whole.buffer, "{what} strided: {:?} by {:?}", out.shape, out.strides);
    let mut in_parts = filled;
    for part in kernel.parts(1 + numbers.below(5)) {
        let bytes = &mut in_parts[part.bytes()];
        if numbers.below(3) > 0 {
            let out = TensorMut::new(kernel.dtype(), part.shape(), bytes).unwrap();
            kernel.apply_part(&part, &given, out).unwrap();
            continue;
        }
        let mut out = Strided::new(numbers, part.shape(), bytes);
        kernel.apply_part(&part, &given, out.lent(kernel.dtype())).unwrap();
        let items = out.places().into_iter().map(|place| &out.buffer[place..][..out.itemsize]);
        bytes.copy_from_slice(&items.flatten().copied().collect::<Vec<_>>());
    }
    assert!(in_parts == expected, "{what} in parts");
    if kernel.is_view() {
        assert!(tensors[0].2 == expected, "{what} renames its data");
    }
    if changes {
        let mut data = Strided::new(numbers, &tensors[0].1, &tensors[0].2);
        let mut changed =
            Strided { buffer: data.buffer.clone(), strides: data.strides.clone(), shape: data.shape.clone(), ..data };
        changed.put(expected);
        kernel.apply_in_place(data.lent(&tensors[0].0), &given[1..], 1).unwrap();
        assert!(data.buffer == changed.buffer, "{what} in place, strided");
    }
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
    for ((part, call), expected) in (0..).zip(Call::split(data.shape(), axis, &into).unwrap()).zip(expected) {
        let Call::Slice(args) = call else { panic!("{call:?}") };
        let call = Call::Split { axis, into: into.clone(), part };
        let into = |data: &ArrayD<T>, out: ArrayViewMutD<'_, T>| tensorop::slice_into(data, &args, out);
        agree(numbers, items, &call, (&data, Others::NONE), Ok(expected), &into, None);
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
    let call = Call::ReplaceWhere { condition: of_bytes, item: (items.bytes)(-1.0), slices: args.clone() };
    let into = |data: &ArrayD<f32>, mut out: ArrayViewMutD<'_, f32>| {
        if data.shape() != out.shape() {
            return Err(Error::new(tensorop::error::Subject::Output, "another shape"));
        }
        out.assign(&tensorop::replace_where(data, &condition, -1.0, &args)?);
        Ok(())
    };
    let in_place =
        |data: &mut ArrayViewMutD<'_, f32>| tensorop::replace_where_in_place(data, &condition, -1.0, &args).map(drop);
    agree(numbers, &items, &call, (&data, Others::NONE), Ok(expected), &into, Some(&in_place));
}

fn extreme(numbers: &mut Numbers<'_>) -> i64 {
    match numbers.below(24) {
        0 => i64::MAX,
        1 => i64::MIN,
        2 => 1 << 40,
        3 => -(1 << 40),
        n => n as i64 - 8,
    }
}

fn extremes(numbers: &mut Numbers<'_>) -> Vec<i64> {
    (0..numbers.below(4)).map(|_| extreme(numbers)).collect()
}

fn hostile_meta(numbers: &mut Numbers<'_>) -> Meta {
    let named = ["float32", "int64", "int32", "bool", "S3", "uint8", "V7", ">i2", "bfloat16"][numbers.below(9)];
    let rank = if numbers.below(60) == 0 { 60 + numbers.below(8) } else { numbers.below(4) };
    let dims = [1, 2, 3, 0, 1, 2, 4, 1];
    let mut shape: Vec<usize> = (0..rank).map(|_| dims[numbers.below(8)]).collect();
    if numbers.below(30) == 0 && rank > 0 {
        shape[0] = [usize::MAX, 1 << 62, 1 << 31][numbers.below(3)];
    }
    let dtype = DType::parse(named).unwrap();
    Meta::new(dtype.clone(), shape).unwrap_or_else(|_| Meta::new(dtype, vec![1 << 40]).unwrap())
}

/// A call with arguments that seldom fit, and may contradict one another.
fn hostile_call(numbers: &mut Numbers<'_>) -> Call {
    const NAMES: [&str; 26] = [
        "Slice",
        "Pad",
        "Reshape",
        "Squeeze",
        "Unsqueeze",
        "Flatten",
        "Tile",
        "Expand",
        "Split",
        "Gather",
        "GatherND",
        "GatherElements",
        "ScatterND",
        "ScatterElements",
        "Concat",
        "Transpose",
        "DepthToSpace",
        "Compress",
        "Identity",
        "StridedSlice",
        "BatchToSpace",
        "SpaceToBatch",
        "ReverseSequence",
        "Roll",
        "VariadicSplit",
        "CenterCropPad",
    ];
    const ATTRIBUTES: [&str; 12] = [
        "axis",
        "axes",
        "mode",
        "reduction",
        "pads",
        "starts",
        "blocksize",
        "batch_dims",
        "perm",
        "num_outputs",
        "split",
        "group",
    ];
    let axis = extreme(numbers);
    let repeats = [Repeats::LastWins, Repeats::Combined, Repeats::Refused][numbers.below(3)];
    let (reduction, counts_from_end) = (reduction(numbers, Reduction::Mean), numbers.below(2) == 0);
    let opset = [None, Some(13), Some(18), Some(u64::MAX)][numbers.below(4)];
    let axes = if numbers.below(2) == 0 { None } else { Some(extremes(numbers)) };
    let slices = slices(numbers, 3);
    let call = match numbers.below(20) {
        0 => Call::Slice(SliceArgs::new(&[axis], &[extreme(numbers)]).unwrap()),
        1 => Call::SliceScatter(slices),
        2 => Call::ScatterUpdate { axis, repeats },
        3 => Call::ScatterNd { opset, reduction, repeats },
        4 => Call::ScatterElements { axis, opset, reduction, has_initial: axis % 2 == 0, repeats, counts_from_end },
        5 => {
            let out_of_range = [OutOfRange::Error, OutOfRange::Zero][numbers.below(2)];
            Call::Gather { axis, batch_dims: extreme(numbers), out_of_range, counts_from_end }
        }
        6 => Call::GatherNd { batch_dims: axis },
        7 => Call::GatherElements { axis },
        8 => Call::Concat { axis, joining: [Joining::Along, Joining::Stacked][numbers.below(2)] },
        9 => Call::Transpose { axes },
        10 => Call::Reshape(match numbers.below(5) {
            0 => NewShape::Dims(extremes(numbers)),
            1 => NewShape::DimsWithZero(extremes(numbers)),
            2 => NewShape::Squeeze(axes),
            3 => NewShape::Unsqueeze(extremes(numbers)),
            _ => NewShape::Flatten(axis),
        }),
        11 => {
            let mode = [PadMode::Constant, PadMode::Edge, PadMode::Reflect, PadMode::Wrap][numbers.below(4)];
            Call::Pad { before: extremes(numbers), after: extremes(numbers), axes, mode }
        }
        12 => Call::Tile { repeats: extremes(numbers) },
        13 => Call::Roll { shift: extremes(numbers), axes },
        14 => {
            Call::Broadcast { shape: extremes(numbers), rule: axes.map_or(BroadcastRule::Numpy, BroadcastRule::Axes) }
        }
        15 => {
            let into = axes.map_or(SplitInto::Parts(extreme(numbers)), SplitInto::Lengths);
            Call::Split { axis, into, part: numbers.below(4) }
        }
        16 => Call::ReplaceWhere { condition: Condition::Equal(vec![0; numbers.below(9)]), item: vec![1; 4], slices },
        _ => {
            let value = |numbers: &mut Numbers<'_>| match numbers.below(4) {
                0 => AttributeValue::Int(extreme(numbers)),
                1 => AttributeValue::Ints(extremes(numbers)),
                2 => AttributeValue::Text(["wrap", "add", "DCR", "edge"][numbers.below(4)].to_owned()),
                _ => AttributeValue::Float(0.5),
            };
            let list = (0..numbers.below(3)).map(|_| (ATTRIBUTES[numbers.below(12)].to_owned(), value(numbers)));
            let attributes = list.collect();
            let name = NAMES[numbers.below(26)];
            let node = match numbers.below(2) {
                0 => Call::from_onnx(name, 1 + numbers.below(28) as u64, &attributes),
                _ => Call::from_openvino(name, numbers.below(16) as u64, &attributes),
            };
            let node = node.or_else(|_| Call::from_onnx(name, 18, &Attributes::new()));
            let node = node.unwrap_or_else(|_| Call::from_openvino("Pad", 12, &Attributes::new()).unwrap());
            if numbers.below(3) == 0 { node.without_input(numbers.below(5)) } else { node.output(numbers.below(3), 2) }
        }
    };
    if numbers.below(4) == 0 { call.with_opset(numbers.below(30) as u64) } else { call }
}

/// Infers, binds and applies, and ignores refusals.
fn hostile(numbers: &mut Numbers<'_>) {
    let call = hostile_call(numbers);
    let metas: Vec<Meta> = (0..1 + numbers.below(4)).map(|_| hostile_meta(numbers)).collect();
    let same = numbers.below(2) == 0;
    let like =
        |meta: &Meta| if same && meta.dtype == DType::FLOAT32 { metas[0].dtype.clone() } else { meta.dtype.clone() };
    let metas: Vec<_> = metas.iter().map(|meta| Meta { dtype: like(meta), ..meta.clone() }).collect();
    let mut kernel = match call.infer(&metas) {
        Ok(kernel) => kernel,
        Err(error) => return is_one_line(&error.to_string()),
    };
    let small = |meta: &Meta| meta.bytes() <= 1 << 12;
    if !metas.iter().all(small) || kernel.bytes() > 1 << 16 {
        return;
    }
    let items: Vec<Vec<u8>> =
        metas.iter().map(|meta| (0..meta.bytes()).map(|n| (n % 8 == 0).into()).collect()).collect();
    let tensors: Vec<_> = metas
        .iter()
        .zip(&items)
        .map(|(meta, items)| TensorRef::new(&meta.dtype, &meta.shape, items).unwrap())
        .collect();
    let mut given = tensors.clone();
    while let Some(n) = kernel.unbound() {
        match kernel.bind(n, &tensors[n]) {
            Ok(()) => given.retain(|tensor| tensor.bytes().as_ptr() != items[n].as_ptr()),
            Err(error) => return is_one_line(&error.to_string()),
        }
    }
    if kernel.bytes() > 1 << 16 {
        return;
    }
    let mut out = vec![0; kernel.bytes()];
    let done = kernel.apply(&given, TensorMut::new(kernel.dtype(), kernel.shape(), &mut out).unwrap(), 1);
    for part in kernel.parts(numbers.below(4)) {
        let out = TensorMut::new(kernel.dtype(), part.shape(), &mut out[part.bytes()]).unwrap();
        assert_eq!(kernel.apply_part(&part, &given, out).is_ok(), done.is_ok(), "{call:?}");
    }
    let mut data = items[0].clone();
    let data = TensorMut::new(&metas[0].dtype, &metas[0].shape, &mut data).unwrap();
    let _ = kernel.apply_in_place(data, given.get(1..).unwrap_or_default(), 1);
}

#[test]
fn hostile_calls() {
    holds(1000, prop::collection::vec(any::<u8>(), 200..400), |bytes| {
        let mut numbers = Numbers(&bytes);
        (0..4).for_each(|_| hostile(&mut numbers));
    });
}

#[test]
fn hostile_strides() {
    holds(2000, prop::collection::vec(any::<u8>(), 40..80), |bytes| {
        let mut numbers = Numbers(&bytes);
        let meta = hostile_meta(&mut numbers);
        let strides: Vec<_> = (0..meta.shape.len()).map(|_| extreme(&mut numbers) as isize).collect();
        let (offset, mut buffer) = ([0, 3, 8, usize::MAX][numbers.below(4)], [7; 64]);
        let refused = TensorRef::strided(&meta.dtype, &meta.shape, &strides, offset, &buffer).err();
        let refused = refused.or(TensorMut::strided(&meta.dtype, &meta.shape, &strides, offset, &mut buffer).err());
        if let Some(error) = refused {
            return is_one_line(&error.to_string());
        }
        let tensor = TensorRef::strided(&meta.dtype, &meta.shape, &strides, offset, &buffer).unwrap();
        // the output may be larger than memory
        let Ok(kernel) = Call::Tile { repeats: vec![2] }.infer(std::slice::from_ref(&meta)) else { return };
        let mut out = vec![0; kernel.bytes()];
        kernel.apply(&[tensor], TensorMut::new(kernel.dtype(), kernel.shape(), &mut out).unwrap(), 1).unwrap();
    });
}

/// A library that counts the calls of the allocator, and prints the count at the end of the process.
const COUNTER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static _Atomic unsigned long calls;
static void *(*real)(size_t);
void *malloc(size_t size) {
    if (!real) real = dlsym(RTLD_NEXT, "malloc");
    calls++;
    return real(size);
}
__attribute__((destructor)) static void report(void) { fprintf(stderr, "allocations %lu\n", calls); }
"#;

/// Runs itself with that library, once with few and once with many calls of bound kernels.
#[cfg(target_os = "linux")]
#[test]
fn bound_kernels_allocate_nothing() {
    if let Ok(times) = std::env::var("TENSOROP_TEST_APPLIES") {
        return apply_bound_kernels(times.parse().unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("counter.c"), folder.path().join("counter.so"));
    std::fs::write(&source, COUNTER).unwrap();
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
    assert!(compiler.status().unwrap().success());
    let count = |times: &str| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kernels::bound_kernels_allocate_nothing", "--test-threads=1"]);
        let run = command.env("TENSOROP_TEST_APPLIES", times).env("LD_PRELOAD", &library).output().unwrap();
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("allocations ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{text}")).parse::<u64>().unwrap()
    };
    let [few, many] = ["1", "400"].map(count);
    // the harness itself takes a few more or fewer in each run; one in every tenth call would be 40 more
    assert!(few > 0 && many < few + 40, "{few} allocations for one call of each kernel, {many} for 400");
}

/// The strides of every other float of a buffer.
fn every_other(shape: &[usize]) -> Vec<isize> {
    let inner = |axis: usize| shape[axis + 1..].iter().product::<usize>();
    (0..shape.len()).map(|axis| 8 * inner(axis) as isize).collect()
}

/// Each operator on tensors in C order, strided and in parts.
fn apply_bound_kernels(times: usize) {
    let (shape, float) = ([4, 5, 3], DType::FLOAT32);
    let bytes: Vec<u8> = (0..60_u32).flat_map(|n| (n as f32).to_le_bytes()).collect();
    let wide: Vec<u8> = (0..120_u32).flat_map(|n| (n as f32).to_le_bytes()).collect();
    let indices: Vec<u8> = [1_i64, 0, 2, 0, 1, 2].iter().flat_map(|n| n.to_le_bytes()).collect();
    let int = |shape: &[usize]| Some(shape.to_vec());
    // the call, and the shapes of its indices and updates
    type Row = (Call, Option<Vec<usize>>, Option<Vec<usize>>);
    let rows: Vec<Row> = vec![
        (Call::Slice("::-1, 1:, ::2".parse().unwrap()), None, None),
        (Call::SliceScatter("::2, 1:3, ::-1".parse().unwrap()), None, int(&[2, 2, 3])),
        (Call::scatter_update(0), int(&[3]), int(&[3, 5, 3])),
        (Call::scatter_nd(Reduction::None), int(&[2, 3]), int(&[2])),
        (Call::scatter_nd(Reduction::Add), int(&[2, 3]), int(&[2])),
        (Call::scatter_nd(Reduction::Max), int(&[3, 2]), int(&[3, 3])),
        (Call::scatter_elements(0, Reduction::Mul), int(&[1, 2, 3]), int(&[1, 2, 3])),
        (Call::gather(1), int(&[6]), None),
        (Call::gather(2), int(&[6]), None),
        (Call::GatherNd { batch_dims: 0 }, int(&[3, 2]), None),
        (Call::GatherElements { axis: 0 }, int(&[2, 1, 3]), None),
        (Call::concat(1), None, None),
        (Call::stack(1), None, None),
        (Call::Transpose { axes: None }, None, None),
        (Call::Reshape(NewShape::Dims(vec![-1, 2])), None, None),
        (
            Call::Pad { before: vec![1, 0, 2], after: vec![0, 2, -1], axes: None, mode: PadMode::Constant },
            None,
            int(&[]),
        ),
        (Call::Pad { before: vec![1, 0, 2], after: vec![0, 2, 2], axes: None, mode: PadMode::Reflect }, None, int(&[])),
        (Call::Tile { repeats: vec![2, 1, 3] }, None, None),
        (Call::Roll { shift: vec![7], axes: None }, None, None),
        (Call::Broadcast { shape: vec![3, 4, 5, 3], rule: BroadcastRule::Numpy }, None, None),
        (Call::Split { axis: 1, into: SplitInto::Lengths(vec![2, 3]), part: 1 }, None, None),
        (
            Call::ReplaceWhere {
                condition: Condition::Less(4_f32.to_le_bytes().to_vec()),
                item: vec![0; 4],
                slices: ":, 1:, ::2".parse().unwrap(),
            },
            None,
            None,
        ),
    ];
    for (call, of, updates) in rows {
        let mut metas = vec![Meta::new(float.clone(), shape.to_vec()).unwrap()];
        if matches!(call, Call::Concat { .. }) {
            metas.push(metas[0].clone());
        }
        metas.extend(of.iter().map(|of| Meta::new(DType::INT64, of.clone()).unwrap()));
        metas.extend(updates.map(|shape| Meta::new(float.clone(), shape).unwrap()));
        let mut kernel = call.infer(&metas).unwrap();
        let (mut given, mut steps) = (Vec::new(), Vec::new());
        for (n, meta) in metas.iter().enumerate() {
            if meta.dtype == DType::INT64 {
                let numbers = TensorRef::new(&DType::INT64, &meta.shape, &indices[..meta.bytes()]).unwrap();
                kernel.bind(n, &numbers).unwrap();
                continue;
            }
            given.push(TensorRef::new(&float, &meta.shape, &bytes[..meta.bytes()]).unwrap());
            steps.push(every_other(&meta.shape));
        }
        let shapes = metas.iter().filter(|meta| meta.dtype != DType::INT64).map(|meta| &meta.shape[..]);
        let strided: Vec<_> = shapes
            .zip(&steps)
            .map(|(shape, strides)| TensorRef::strided(&float, shape, strides, 0, &wide).unwrap())
            .collect();
        let parts = kernel.parts(3);
        let (mut out, mut apart) = (vec![0; kernel.bytes()], vec![0; 2 * kernel.bytes()]);
        let strides = every_other(kernel.shape());
        for _ in 0..times {
            kernel.apply(&given, TensorMut::new(&float, kernel.shape(), &mut out).unwrap(), 1).unwrap();
            let to = TensorMut::strided(&float, kernel.shape(), &strides, 0, &mut apart).unwrap();
            kernel.apply(&strided, to, 1).unwrap();
            for part in &parts {
                let to = TensorMut::new(&float, part.shape(), &mut out[part.bytes()]).unwrap();
                kernel.apply_part(part, &given, to).unwrap();
            }
            if kernel.changes_data() {
                let to = TensorMut::new(&float, kernel.shape(), &mut out).unwrap();
                kernel.apply_in_place(to, &given[1..], 1).unwrap();
            }
        }
    }
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
