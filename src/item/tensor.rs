//! A tensor in memory: dtype, shape and bytes.

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

use super::dtype::DType;
use super::element::Element;
use super::meta::Meta;
use crate::error::{Error, ErrorKind, Result, Subject};
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::memory;

/// A dense tensor held in memory, its items in C order.
///
/// ```
/// use tensorop::{DType, Tensor};
/// let t = Tensor::new(DType::parse("<i2").unwrap(), vec![2, 1], vec![1, 0, 2, 0]).unwrap();
/// assert_eq!((t.shape(), t.items(), t.bytes().len()), (&[2, 1][..], 2, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Always in C order.
    meta: Meta,
    bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of `bytes.len()` bytes; `None` if that is not what dtype and shape need, or if the shape is
    /// beyond [`MAX_RANK`] axes or [`bytes_of`]'s limit.
    pub fn new(dtype: DType, shape: Vec<usize>, bytes: Vec<u8>) -> Option<Self> {
        let fits = shape.len() <= MAX_RANK && bytes_of(&shape, dtype.itemsize())? == bytes.len();
        fits.then(|| Self { meta: Meta::new(dtype, shape), bytes })
    }

    /// Dtype and dims; the order is always C.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The dtype of every item.
    pub fn dtype(&self) -> &DType {
        &self.meta.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.meta.shape
    }

    /// The items in C order, each [`DType::itemsize`] bytes long, in the dtype's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.meta.items()
    }

    /// The parts the tensor is made of.
    pub fn into_parts(self) -> (Meta, Vec<u8>) {
        (self.meta, self.bytes)
    }
    /// The tensor as an array, its items in C order. Either byte order is read; of a bool any byte but 0 is true.
    ///
    /// ```
    /// use ndarray::array;
    /// use tensorop::{DType, Tensor};
    /// let tensor = Tensor::new(DType::parse(">i2")?, vec![2], vec![0, 1, 1, 0]).unwrap();
    /// assert_eq!(tensor.to_array::<i16>()?, array![1, 256].into_dyn());
    /// let refused = tensor.to_array::<f32>().unwrap_err();
    /// assert_eq!(refused.to_string(), "dtype: int16, expected float32");
    /// # Ok::<(), tensorop::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dtype that is not `T`'s ([`Subject::Dtype`]): values are not cast. An array larger than memory.
    pub fn to_array<T: Element>(&self) -> Result<ArrayD<T>> {
        let wanted = T::dtype();
        if !self.meta.dtype.same_kind(&wanted) {
            let message = format!("{}, expected {}", self.meta.dtype.name(), wanted.name());
            return Err(Error::new(Subject::Dtype, message));
        }
        let mut items = memory::of(self.items()).map_err(Error::memory)?;
        let words = T::chunks(&self.bytes).iter();
        if self.meta.dtype.is_big_endian() {
            items.extend(words.map(|&word| T::from_big(word)));
        } else {
            items.extend(words.map(|&word| T::from_little(word)));
        }
        let array = ArrayD::from_shape_vec(IxDyn(&self.meta.shape), items);
        array.map_err(|error| Error::of(ErrorKind::Unsupported, error.to_string()))
    }
}

/// A tensor of an array's items, little-endian and in C order, whatever the array's own layout is.
///
/// ```
/// use ndarray::array;
/// use tensorop::Tensor;
/// let tensor = Tensor::from(&array![[1_u16, 2], [3, 4]].t());
/// assert_eq!((tensor.shape(), tensor.bytes()), (&[2, 2][..], &[1, 0, 3, 0, 2, 0, 4, 0][..]));
/// ```
///
/// # Panics
/// An array that is no tensor: of more than [`MAX_RANK`] axes, or of dims that [`bytes_of`] refuses, as those of a
/// view that repeats its items may be.
impl<T: Element, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for Tensor {
    fn from(array: &ArrayBase<S, D>) -> Self {
        let shape = array.shape().to_vec();
        assert!(shape.len() <= MAX_RANK, "an array of {} axes, expected at most {MAX_RANK}", shape.len());
        let bytes = bytes_of(&shape, T::SIZE);
        let mut bytes = vec![0; bytes.expect("an array of no more bytes than can be counted")];
        let words = T::chunks_mut(&mut bytes).iter_mut();
        match array.as_slice() {
            // without an iterator over dims the loop is a copy
            Some(items) => words.zip(items).for_each(|(word, item)| *word = item.to_little()),
            None => words.zip(array).for_each(|(word, item)| *word = item.to_little()),
        }
        Self { meta: Meta::new(T::dtype(), shape), bytes }
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};
    use ndarray::{Array, Array3, Array4, ArrayD, Axis, Slice, arr0, array};
    use num_complex::Complex;

    use super::*;

    /// To a tensor and back, and back from a big-endian one and from Fortran order.
    fn round_trip<T: Element>(items: [T; 6], little: &[u8], big: &[u8]) {
        let array = Array::from(items.to_vec()).into_shape_with_order((2, 3)).unwrap();
        let tensor = Tensor::from(&array);
        assert_eq!((tensor.dtype(), tensor.shape(), tensor.bytes()), (&T::dtype(), &[2, 3][..], little));
        assert_eq!(tensor.to_array::<T>().unwrap(), array.clone().into_dyn());
        let dtype = T::dtype().big_endian();
        let swapped = Tensor::new(dtype.clone(), vec![2, 3], big.to_vec()).unwrap();
        assert_eq!(swapped.to_array::<T>().unwrap(), array.clone().into_dyn(), "{dtype}");
        let transposed = Tensor::from(&array.t());
        assert_eq!(transposed.to_array::<T>().unwrap(), array.t().to_owned().into_dyn());
        assert_eq!(Tensor::from(&array.t().reversed_axes()), tensor);
    }

    macro_rules! round_trips {
        ($($type:ty: $($item:expr),+;)+) => {$({
            let items: [$type; 6] = [$($item),+];
            let (little, big): (Vec<_>, Vec<_>) = items.map(|item| (item.to_le_bytes(), item.to_be_bytes())).into_iter().unzip();
            // bfloat16 is stored as raw bytes and has no big-endian form
            let big = if <$type>::dtype() == <$type>::dtype().big_endian() { &little } else { &big };
            round_trip(items, &little.concat(), &big.concat());
        })+};
    }

    #[test]
    fn every_type_in_both_orders() {
        round_trips! {
            i8: 0, 1, -1, i8::MIN, i8::MAX, 7;
            i16: 0, 1, -1, i16::MIN, i16::MAX, 0x102;
            i32: 0, 1, -1, i32::MIN, i32::MAX, 0x102_0304;
            i64: 0, 1, -1, i64::MIN, i64::MAX, 0x102_0304_0506_0708;
            u8: 0, 1, 2, 3, u8::MAX, 7;
            u16: 0, 1, 2, 3, u16::MAX, 0x102;
            u32: 0, 1, 2, 3, u32::MAX, 0x102_0304;
            u64: 0, 1, 2, 3, u64::MAX, 0x102_0304_0506_0708;
            f16: f16::ZERO, f16::NEG_ZERO, f16::MAX, f16::INFINITY, f16::from_bits(1), f16::ONE;
            bf16: bf16::ZERO, bf16::NEG_ZERO, bf16::MAX, bf16::INFINITY, bf16::from_bits(1), bf16::ONE;
            f32: 0.0, -0.0, 1.5, f32::MIN, f32::INFINITY, f32::from_bits(1);
            f64: 0.0, -0.0, 1.5, f64::MIN, f64::INFINITY, f64::from_bits(1);
        }
        round_trip([true, false, false, true, true, false], &[1, 0, 0, 1, 1, 0], &[1, 0, 0, 1, 1, 0]);
        let parts = [0.0, 1.0, -0.5, 2.0, f32::MAX, -1.0];
        let bytes = |part: fn(f32) -> [u8; 4]| parts.iter().flat_map(|&re| [part(re), part(-re)].concat()).collect();
        let (little, big): (Vec<u8>, Vec<u8>) = (bytes(f32::to_le_bytes), bytes(f32::to_be_bytes));
        round_trip(parts.map(|re| Complex::new(re, -re)), &little, &big);
        let parts = parts.map(f64::from);
        let bytes = |part: fn(f64) -> [u8; 8]| parts.iter().flat_map(|&re| [part(re), part(-re)].concat()).collect();
        let (little, big): (Vec<u8>, Vec<u8>) = (bytes(f64::to_le_bytes), bytes(f64::to_be_bytes));
        round_trip(parts.map(|re| Complex::new(re, -re)), &little, &big);
    }

    #[test]
    fn bits_are_kept() {
        let nan = f32::from_bits(0xffa0_0001);
        let tensor = Tensor::from(&arr0(nan));
        assert_eq!(tensor.bytes(), nan.to_bits().to_le_bytes());
        assert_eq!(tensor.to_array::<f32>().unwrap().first().map(|item| item.to_bits()), Some(nan.to_bits()));
        let bools = Tensor::new(DType::parse("bool").unwrap(), vec![3], vec![0, 1, 200]).unwrap();
        assert_eq!(bools.to_array::<bool>().unwrap(), array![false, true, true].into_dyn());
    }

    #[test]
    fn shapes_and_layouts() {
        let one = Tensor::from(&arr0(5_i8));
        assert_eq!((one.shape(), one.bytes()), (&[][..], &[5][..]));
        assert_eq!(one.to_array::<i8>().unwrap(), arr0(5).into_dyn());
        let none = Tensor::from(&Array3::<f64>::zeros((2, 0, 3)));
        assert_eq!((none.shape(), none.bytes()), (&[2, 0, 3][..], &[][..]));
        assert_eq!(none.to_array::<f64>().unwrap().shape(), [2, 0, 3]);
        let data = Array4::from_shape_fn((2, 3, 4, 5), |(a, b, c, d)| (a * 60 + b * 20 + c * 5 + d) as u16);
        let mut some = data.slice_axis(Axis(3), Slice::new(0, None, 2));
        some.invert_axis(Axis(1));
        let views = [
            data.view().into_dyn(),
            some.into_dyn(),
            data.view().permuted_axes([3, 1, 0, 2]).into_dyn(),
            data.index_axis(Axis(2), 1).into_dyn(),
        ];
        for view in views {
            let tensor = Tensor::from(&view);
            let items: Vec<u8> = view.iter().flat_map(|item| item.to_le_bytes()).collect();
            assert_eq!((tensor.shape(), tensor.bytes()), (view.shape(), &items[..]));
            assert_eq!(tensor.to_array::<u16>().unwrap(), view);
        }
        let repeated = array![1_u8, 2];
        assert_eq!(Tensor::from(&repeated.broadcast((2, 2)).unwrap()).bytes(), [1, 2, 1, 2]);
        let deep = ArrayD::<u8>::zeros(vec![1; MAX_RANK]);
        assert_eq!(Tensor::from(&deep).to_array::<u8>().unwrap(), deep);
    }

    #[test]
    #[should_panic(expected = "an array of 65 axes, expected at most 64")]
    fn too_many_axes() {
        let _ = Tensor::from(&ArrayD::<u8>::zeros(vec![1; MAX_RANK + 1]));
    }

    #[test]
    fn another_dtype_is_refused() {
        let rows = [("float32", "int8"), (">i8", "int8"), ("<M8[s]", "int8"), ("|S1", "int8"), ("int4", "int8")];
        for (found, wanted) in rows {
            let dtype = DType::parse(found).unwrap();
            let name = dtype.name();
            let tensor = Tensor::new(dtype.clone(), vec![1], vec![0; dtype.itemsize()]).unwrap();
            let refused = tensor.to_array::<i8>().unwrap_err();
            assert_eq!((refused.kind(), refused.subject()), (ErrorKind::Argument, Subject::Dtype));
            assert_eq!(refused.to_string(), format!("dtype: {name}, expected {wanted}"));
        }
    }
}
