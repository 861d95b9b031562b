//! A tensor in memory: dtype, shape and bytes.

use std::fmt;

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

use super::cast::{Cast, CastFailure};
use super::dtype::{DType, Kind};
use super::element::Element;
use super::meta::Meta;
use super::print::write_item;
use crate::error::{Error, ErrorKind, Result, Subject};
use crate::layout::axis::{MAX_RANK, bytes_of, coordinates};
use crate::memory;

const SHOWN_ITEMS: usize = 6;
/// Strings and void items have any length.
const SHOWN_BYTES: usize = 64;

/// A dense tensor in memory, in C order.
///
/// ```
/// use tensorop_kernels::{DType, Tensor};
/// let t = Tensor::new(DType::parse("<i2")?, vec![2, 1], vec![1, 0, 2, 0])?;
/// assert_eq!((t.shape(), t.items(), t.bytes().len()), (&[2, 1][..], 2, 4));
/// // the first items are shown, never all of a large tensor
/// assert_eq!(format!("{t:?}"), "Tensor(int16 [2, 1]: 1, 2)");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Tensor {
    /// The order is always C.
    meta: Meta,
    bytes: Vec<u8>,
}

impl Tensor {
    /// Creates a tensor from items in C order and in the byte order of `dtype`.
    ///
    /// ```
    /// use tensorop_kernels::{DType, Tensor};
    /// let refused = Tensor::new(DType::parse("float32")?, vec![2, 3], vec![0; 20]).unwrap_err();
    /// assert_eq!(refused.to_string(), "data: 20 bytes, expected 24 (float32 [2, 3])");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The rank exceeds 64, the shape exceeds memory, or the number of bytes is wrong (all [`Subject::Data`]).
    pub fn new(dtype: DType, shape: Vec<usize>, bytes: Vec<u8>) -> Result<Self> {
        let refuse = |message: String| Err(Error::new(Subject::Data, message));
        if shape.len() > MAX_RANK {
            return refuse(format!("more than {MAX_RANK} axes"));
        }
        match bytes_of(&shape, dtype.itemsize()) {
            None => refuse(format!("{} {shape:?} is larger than memory can be", dtype.name())),
            Some(expected) if expected != bytes.len() => {
                refuse(format!("{} bytes, expected {expected} ({} {shape:?})", bytes.len(), dtype.name()))
            }
            Some(_) => Ok(Self { meta: Meta::c_order(dtype, shape), bytes }),
        }
    }

    /// The dtype, the shape, and the order, which is C.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The dtype of the items.
    pub fn dtype(&self) -> &DType {
        &self.meta.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.meta.shape
    }

    /// The items in C order and in the dtype's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.meta.items()
    }

    /// Takes the tensor apart without copying its bytes.
    pub fn into_parts(self) -> (Meta, Vec<u8>) {
        (self.meta, self.bytes)
    }

    /// Clones the tensor, or returns an error if memory is short.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`].
    pub fn try_clone(&self) -> Result<Self> {
        let mut bytes = memory::with_capacity(self.bytes.len())?;
        bytes.extend_from_slice(&self.bytes);
        Ok(Self { meta: self.meta.clone(), bytes })
    }

    /// Casts all items to another dtype.
    ///
    /// Conversions to floats round to nearest, ties to even. Integers, bool, strings and dates must be exact. Another
    /// byte order is a cast too.
    ///
    /// ```
    /// use ndarray::array;
    /// use tensorop_kernels::{DType, Tensor};
    /// let tensor = Tensor::from(&array![1_i32, -1]);
    /// assert_eq!(tensor.cast(&DType::parse("bfloat16")?)?.bytes(), [0x80, 0x3f, 0x80, 0xbf]);
    /// let refused = tensor.cast(&DType::parse("uint8")?).unwrap_err();
    /// assert_eq!(refused.to_string(), "data: -1 is out of range for uint8 at [1]");
    /// assert_eq!(tensor.cast_lossy(&DType::parse("uint8")?)?.bytes(), [1, 0]);
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    ///
    /// # Errors
    /// No cast exists ([`Subject::Dtype`]), an item does not fit, or [`ErrorKind::Memory`].
    pub fn cast(&self, dtype: &DType) -> Result<Self> {
        self.cast_with(Cast::new(self.dtype(), dtype, false)?)
    }

    /// Casts like [`cast`](Self::cast), but accepts losses: fractions and imaginary parts are dropped, numbers are
    /// clamped, NaN becomes the integer 0, strings are cut, dates are rounded down.
    ///
    /// # Errors
    /// No cast exists ([`Subject::Dtype`]), or [`ErrorKind::Memory`].
    pub fn cast_lossy(&self, dtype: &DType) -> Result<Self> {
        self.cast_with(Cast::new(self.dtype(), dtype, true)?)
    }

    fn cast_with(&self, cast: Cast) -> Result<Self> {
        let len = self.items().saturating_mul(cast.to_size());
        let mut bytes = memory::with_capacity(len)?;
        cast.apply(&self.bytes, &mut bytes).map_err(|CastFailure { item, why }| {
            Error::new(Subject::Data, format!("{why} at {:?}", coordinates(item, self.shape())))
        })?;
        Self::new(cast.to().clone(), self.shape().to_vec(), bytes)
    }

    /// Reinterprets the bits as a dtype of the same itemsize, such as the void items that NumPy's files have for
    /// bfloat16. A negative int4 or int2 loses its sign bits above the item.
    ///
    /// ```
    /// use tensorop_kernels::{DType, Tensor};
    /// let stored = Tensor::new(DType::parse("V2")?, vec![1], vec![0x80, 0x3f])?;
    /// let one = stored.view_as(&DType::parse("bfloat16")?)?;
    /// assert_eq!(one.to_array::<half::bf16>()?.first(), Some(&half::bf16::ONE));
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The itemsize differs, the byte order is impossible, or a byte has too many bits (all [`Subject::Dtype`]).
    pub fn view_as(mut self, dtype: &DType) -> Result<Self> {
        let (stored, itemsize) = (self.dtype(), dtype.itemsize());
        let refuse = |message: String| Error::new(Subject::Dtype, message);
        if itemsize != stored.itemsize() {
            let (from, to) = (stored.name(), dtype.name());
            return Err(refuse(format!("{from} has {} bytes an item, {to} has {itemsize}", stored.itemsize())));
        }
        let dtype = dtype
            .read_from(stored)
            .ok_or_else(|| refuse(format!("big-endian {} cannot be read as {}", stored.name(), dtype.name())))?;
        if let Kind::Narrow(narrow) = dtype.kind() {
            let taken = narrow.take_items(&mut self.bytes);
            taken.map_err(|at| refuse(narrow.refuse(at as u64, self.bytes[at]).message().to_owned()))?;
        }
        Ok(Self { meta: Meta { dtype, ..self.meta }, bytes: self.bytes })
    }

    /// Copies the items into an array in C order. A bool is true for any byte except 0.
    ///
    /// ```
    /// use ndarray::array;
    /// use tensorop_kernels::{DType, Tensor};
    /// let tensor = Tensor::new(DType::parse(">i2")?, vec![2], vec![0, 1, 1, 0])?;
    /// assert_eq!(tensor.to_array::<i16>()?, array![1, 256].into_dyn());
    /// let refused = tensor.to_array::<f32>().unwrap_err();
    /// assert_eq!(refused.to_string(), "dtype: int16, expected float32");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The dtype is not `T`'s ([`Subject::Dtype`]), memory is short, or ndarray does not support the shape.
    pub fn to_array<T: Element>(&self) -> Result<ArrayD<T>> {
        let wanted = T::dtype();
        if !self.meta.dtype.same_kind(&wanted) {
            let message = format!("{}, expected {}", self.meta.dtype.name(), wanted.name());
            return Err(Error::new(Subject::Dtype, message));
        }
        let mut items = memory::with_capacity(self.items())?;
        let words = T::chunks(&self.bytes).iter();
        if self.meta.dtype.is_big_endian() {
            items.extend(words.map(|&word| T::from_big(word)));
        } else {
            items.extend(words.map(|&word| T::from_little(word)));
        }
        let array = ArrayD::from_shape_vec(IxDyn(&self.meta.shape), items);
        array.map_err(|error| Error::from_kind(ErrorKind::Unsupported, error.to_string()))
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} {:?}", self.dtype(), self.shape())?;
        // items without bytes are not shown
        let items = self.bytes.chunks_exact(self.dtype().itemsize().max(1));
        let more = if items.len() > SHOWN_ITEMS { ", …" } else { "" };
        for (number, item) in items.take(SHOWN_ITEMS).enumerate() {
            f.write_str(if number == 0 { ": " } else { ", " })?;
            let is_text = matches!(self.dtype().kind(), Kind::Str(_) | Kind::Bytes(_));
            let shown = if is_text { &item[..item.len().min(SHOWN_BYTES)] } else { item };
            let mut text = Vec::new();
            match write_item(&mut text, self.dtype(), shown) {
                Ok(()) => f.write_str(&String::from_utf8_lossy(&text))?,
                // JSON lacks void items, long doubles and invalid Unicode
                Err(_) => write!(f, "{:02x?}", &item[..item.len().min(SHOWN_BYTES)])?,
            }
            if shown.len() < item.len() {
                f.write_str("…")?;
            }
        }
        write!(f, "{more})")
    }
}

/// Copies an array of any layout, little-endian and in C order.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::Tensor;
/// let tensor = Tensor::from(&array![[1_u16, 2], [3, 4]].t());
/// assert_eq!((tensor.shape(), tensor.bytes()), (&[2, 2][..], &[1, 0, 3, 0, 2, 0, 4, 0][..]));
/// ```
///
/// # Panics
/// The array has more than 64 axes, or more bytes than memory can have, as a broadcast view may.
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
        Self { meta: Meta::c_order(T::dtype(), shape), bytes }
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};
    use ndarray::{Array, Array3, Array4, ArrayD, Axis, Slice, arr0, array};
    use num_complex::Complex;

    use super::*;

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
            // bfloat16 has no big-endian form
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
    fn the_wrong_length_is_named() {
        let float = || DType::parse("float32").unwrap();
        let rows = [
            (vec![1; MAX_RANK + 1], 4, "data: more than 64 axes"),
            (vec![usize::MAX], 4, "data: float32 [18446744073709551615] is larger than memory can be"),
            (vec![2, 3], 20, "data: 20 bytes, expected 24 (float32 [2, 3])"),
            (vec![2, 0], 1, "data: 1 bytes, expected 0 (float32 [2, 0])"),
        ];
        for (shape, bytes, expected) in rows {
            assert_eq!(Tensor::new(float(), shape, vec![0; bytes]).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn what_is_shown_is_short() {
        let rows = [
            ("float32", vec![100, 100], "Tensor(float32 [100, 100]: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, …)".to_owned()),
            (">i2", vec![1], "Tensor(int16 (big-endian) [1]: 0)".to_owned()),
            ("V2", vec![2], "Tensor(|V2 [2]: [00, 00], [00, 00])".to_owned()),
            ("S0", vec![2], "Tensor(|S0 [2])".to_owned()),
            ("U1000000", vec![], "Tensor(<U1000000 []: \"\"…)".to_owned()),
            ("int8", vec![0, 3], "Tensor(int8 [0, 3])".to_owned()),
        ];
        for (dtype, shape, expected) in rows {
            let dtype = DType::parse(dtype).unwrap();
            let bytes = vec![0; bytes_of(&shape, dtype.itemsize()).unwrap()];
            assert_eq!(format!("{:?}", Tensor::new(dtype, shape, bytes).unwrap()), expected);
        }
    }

    #[test]
    fn bits_are_read_as_another_dtype() {
        let view = |from: &str, to: &str| {
            let from = DType::parse(from).unwrap();
            let tensor = Tensor::new(from.clone(), vec![1], (0..from.itemsize() as u8).collect()).unwrap();
            tensor.view_as(&DType::parse(to).unwrap()).map(|t| t.dtype().descr()).map_err(|e| e.to_string())
        };
        let rows = [
            ("V2", "float16", Ok("'<f2'")),
            (">u4", "float32", Ok("'>f4'")),
            ("<u4", "S4", Ok("'|S4'")),
            (">u4", "S4", Err("dtype: big-endian uint32 cannot be read as |S4")),
            ("V2", "int8", Err("dtype: |V2 has 2 bytes an item, int8 has 1")),
        ];
        for (from, to, expected) in rows {
            assert_eq!(view(from, to), expected.map(str::to_owned).map_err(str::to_owned), "{from} as {to}");
        }
        let bytes = |to: &str, bytes: [u8; 2]| {
            let tensor = Tensor::new(DType::parse("V1").unwrap(), vec![2], bytes.to_vec()).unwrap();
            tensor.view_as(&DType::parse(to).unwrap()).map(|t| t.bytes().to_vec()).map_err(|e| e.to_string())
        };
        assert_eq!(bytes("int4", [7, 0xff]), Ok(vec![7, 0xf]));
        assert_eq!(bytes("float8_e5m2", [7, 0xff]), Ok(vec![7, 0xff]));
        let refused = "dtype: byte 1 is 0x12, which is no uint4; 2 items a byte are uint4x2";
        assert_eq!(bytes("uint4", [7, 0x12]), Err(refused.to_owned()));
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
