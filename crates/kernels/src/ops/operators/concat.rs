//! Concat: [ONNX](https://onnx.ai/onnx/operators/onnx__Concat.html), OpenVINO
//! [Concat-1](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/concat-1.html);
//! stack: [ConcatFromSequence](https://onnx.ai/onnx/operators/onnx__ConcatFromSequence.html) with `new_axis`.

use ndarray::{Array, ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use crate::error::{Error, Result, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::encoding::Conversion;
use crate::item::tensor::Tensor;
use crate::layout::axis::{MAX_RANK, bytes_of, resolve_axis};
use crate::memory;
use crate::ops::kernels::{Items, Output, Strided};

/// How tensors are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// Along an axis that they have.
    Along,
    /// Along a new axis.
    Stacked,
}

/// Tensors that are joined, known by their shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Whether the axis is new.
    pub joining: Joining,
    /// The axis of the output.
    pub axis: usize,
    /// The dims of the output.
    pub shape: Vec<usize>,
    /// Where the operands end along `axis`, after a leading 0.
    pub ends: Vec<usize>,
}

/// Resolves a concatenation; negative axes count from the output's end.
///
/// # Errors
/// A shape or an argument does not fit.
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
///
/// # Errors
/// The dtypes are of different kinds.
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
    pub fn axes(&self) -> Vec<Option<usize>> {
        let mut axes: Vec<_> = (0..self.shape.len()).map(Some).collect();
        if self.joining == Joining::Stacked {
            axes.pop();
            axes.insert(self.axis, None);
        }
        axes
    }

    pub(in crate::ops) fn output<'a, T: Copy, D: Dimension>(
        &'a self,
        arrays: &'a [ArrayBase<impl Data<Elem = T>, D>],
    ) -> Output<'a, T> {
        self.output_of(arrays.iter().map(Strided::of).collect(), Items::single())
    }

    pub(in crate::ops) fn output_of<'a, T: Copy>(
        &'a self,
        operands: Vec<Strided<'a, T>>,
        items: Items<T>,
    ) -> Output<'a, T> {
        let axes = self.axes();
        let parts = operands.into_iter().map(|operand| operand.along(&axes)).collect();
        Output::joined(self.shape.clone(), (self.axis, &self.ends), parts, items)
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

pub(in crate::ops) fn shapes_of<T, D: Dimension>(arrays: &[ArrayBase<impl Data<Elem = T>, D>]) -> Vec<&[usize]> {
    arrays.iter().map(|array| array.shape()).collect()
}

/// Concatenates arrays along `axis` in `out`, as [`concat`](crate::concat()) returns them (ONNX Concat, OpenVINO
/// Concat-1).
///
/// `arrays` are views or owned arrays. `out` has their shape but for `axis`, whose dim is the sum of theirs, and any
/// layout.
///
/// # Errors
/// No array is given ([`Subject::Data`]), the axis is out of range, or the shape of an
/// array or of `out` does not fit.
pub fn concat_into<T: Copy, D: Dimension>(
    arrays: &[ArrayBase<impl Data<Elem = T>, D>],
    axis: i64,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    check(&shapes_of(arrays), axis, Joining::Along)?.output(arrays).to_view(out)
}

/// Stacks arrays of one shape along a new axis of `out`, as [`stack`](crate::stack()) returns them (ONNX
/// ConcatFromSequence). `out` has any layout.
///
/// # Errors
/// No array is given ([`Subject::Data`]), the axis is out of range, or a shape does not fit.
pub fn stack_into<T: Copy, D: Dimension>(
    arrays: &[ArrayBase<impl Data<Elem = T>, D>],
    axis: i64,
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    check(&shapes_of(arrays), axis, Joining::Stacked)?.output(arrays).to_view(out)
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
        let dtype = common_dtype(&tensors.iter().map(Self::dtype).collect::<Vec<_>>())?;
        let converted = |tensor: Self| {
            let conversion = Conversion::new(tensor.dtype(), &dtype).expect("dtypes of one kind");
            let (meta, mut items) = tensor.into_parts();
            if conversion.keeps_width() {
                conversion.swap(&mut items);
                return Ok((meta.shape, items));
            }
            let mut wide = memory::zeros(meta.items() * dtype.itemsize())?;
            conversion.convert(&mut items, &mut wide);
            Ok((meta.shape, wide))
        };
        let tensors = tensors.into_iter().map(converted).collect::<Result<Vec<_>>>()?;
        let items = Items::bytes(dtype.itemsize());
        let operands = tensors.iter().map(|(shape, bytes)| Strided::c_order(bytes, shape, items)).collect();
        let out = joined.output_of(operands, items).to_vec()?;
        Self::new(dtype, joined.shape, out)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{IxDyn, array};

    use super::*;

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
        for lens in [&[2, 3][..], &[1], &[0, 2, 0, 0, 1], &[0], &[0, 0], &[5, 1, 1, 4], &[17, 30, 16]] {
            for shape in [&[1][..], &[1, 4], &[3, 1], &[2, 1, 3], &[2, 0, 1], &[1, 2, 2, 1], &[2, 1, 40]] {
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
            for shape in [&[][..], &[3], &[0], &[2, 3], &[1, 2, 2], &[3, 2, 20]] {
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
    fn tensors_of_two_byte_orders_and_widths() {
        type Row<'a> = ([&'a str; 2], [&'a [u8]; 2], &'a [u8]);
        let rows: [Row<'_>; 3] = [
            ([">i2", "<i2"], [&[0, 1], &[2, 0]], &[0, 1, 0, 2]),
            (
                ["<U1", ">U2"],
                [&[7, 0, 0, 0], &[0, 0, 0, 8, 0, 0, 0, 9]],
                &[7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0],
            ),
            (["S3", "S1"], [b"abc", b"d"], b"abcd\0\0"),
        ];
        for (dtypes, bytes, expected) in rows {
            let tensor = |n: usize| Tensor::new(DType::parse(dtypes[n]).unwrap(), vec![1], bytes[n].to_vec()).unwrap();
            let joined = Tensor::concat(vec![tensor(0), tensor(1)], 0).unwrap();
            assert_eq!((joined.shape(), joined.bytes()), (&[2][..], expected), "{dtypes:?}");
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
