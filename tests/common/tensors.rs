//! Small tensors, and where their items lie.

use super::{header, npy, npy_with_header};

/// All index vectors of a shape, in row-major order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &dim in shape {
        all = all.iter().flat_map(|head| (0..dim).map(|i| [head.as_slice(), &[i]].concat())).collect();
    }
    all
}

/// Where an index vector lies in row-major order.
pub(crate) fn offset(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |sum, (&i, &dim)| sum * dim + i)
}

/// Items in Fortran order from items in C order.
pub(crate) fn to_fortran(items: &[u8], shape: &[usize], itemsize: usize) -> Vec<u8> {
    let strides: Vec<usize> =
        (1..=shape.len()).map(|axis| shape[axis..].iter().product::<usize>() * itemsize).collect();
    let (mut at, mut from, mut out) = (vec![0; shape.len()], 0, Vec::with_capacity(items.len()));
    while out.len() < items.len() {
        out.extend_from_slice(&items[from..from + itemsize]);
        for axis in 0..shape.len() {
            (at[axis], from) = (at[axis] + 1, from + strides[axis]);
            if at[axis] < shape[axis] {
                break;
            }
            (at[axis], from) = (0, from - shape[axis] * strides[axis]);
        }
    }
    out
}

/// The bytes of one item after another, as a copy each: one by one, bytes take most of a test's time where nothing is optimised.
pub(crate) fn joined<B: AsRef<[u8]>>(items: impl IntoIterator<Item = B>) -> Vec<u8> {
    let mut out = Vec::new();
    items.into_iter().for_each(|item| out.extend_from_slice(item.as_ref()));
    out
}

/// Items of complex128, no two of which are the same: wide ones, since each item costs time where nothing is optimised.
pub(crate) fn wide_items(shape: &[usize]) -> Vec<u8> {
    let item = |n: usize| (n as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 16;
    joined((0..shape.iter().product()).map(|n| item(n).to_le_bytes()))
}

/// Small tensors of the specifications' examples.
#[derive(Clone, Debug)]
pub(crate) struct Tensor<T> {
    pub shape: Vec<usize>,
    pub items: Vec<T>,
}

/// An item of the examples.
pub(crate) trait Item: Copy + std::fmt::Display {
    const LETTER: &'static str;
    const NAME: &'static str;
    type Bytes: AsRef<[u8]> + IntoIterator<Item = u8, IntoIter: DoubleEndedIterator>;
    fn little(self) -> Self::Bytes;
}

macro_rules! item {
    ($($type:ty, $letter:literal, $name:literal;)+) => {$(
        impl Item for $type {
            const LETTER: &'static str = $letter;
            const NAME: &'static str = $name;
            type Bytes = [u8; size_of::<$type>()];
            fn little(self) -> Self::Bytes {
                self.to_le_bytes()
            }
        }
    )+};
}

item!(f32, "f4", "float32"; f64, "f8", "float64"; i64, "i8", "int64"; i32, "i4", "int32"; u8, "u1", "uint8";);

/// The little-endian bytes of items.
pub(crate) fn bytes<T: Item>(items: &[T]) -> Vec<u8> {
    joined(items.iter().map(|item| item.little()))
}

pub(crate) fn tensor<T: Item>(shape: &[usize], items: &[T]) -> Tensor<T> {
    assert_eq!(shape.iter().product::<usize>(), items.len());
    Tensor { shape: shape.to_vec(), items: items.to_vec() }
}

impl<T: Item> Tensor<T> {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        bytes(&self.items)
    }

    /// As `numpy.save` writes it.
    pub(crate) fn npy(&self) -> Vec<u8> {
        npy(&format!("<{}", T::LETTER), &self.shape, &self.bytes())
    }

    pub(crate) fn npy_fortran(&self) -> Vec<u8> {
        let items = to_fortran(&self.bytes(), &self.shape, size_of::<T>());
        npy_with_header(&header(&format!("<{}", T::LETTER), true, &self.shape), &items)
    }

    pub(crate) fn npy_big(&self) -> Vec<u8> {
        let items: Vec<u8> = self.items.iter().flat_map(|item| item.little().into_iter().rev()).collect();
        npy(&format!(">{}", T::LETTER), &self.shape, &items)
    }

    /// As nested lists.
    pub(crate) fn json(&self) -> String {
        fn nest(shape: &[usize], items: &[String]) -> String {
            let [dim, inner @ ..] = shape else { return items[0].clone() };
            let each = inner.iter().product::<usize>();
            let parts: Vec<_> = (0..*dim).map(|i| nest(inner, &items[i * each..][..each])).collect();
            format!("[{}]", parts.join(","))
        }
        nest(&self.shape, &self.items.iter().map(T::to_string).collect::<Vec<_>>())
    }

    /// As the object that says its dtype.
    pub(crate) fn tagged(&self) -> String {
        format!(r#"{{"dtype":"{}","shape":{:?},"data":{}}}"#, T::NAME, self.shape, self.json())
    }
}

/// What Git LFS leaves in the place of a file that it has not fetched.
pub(crate) fn lfs_pointer() -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 440449768\n", "9f".repeat(32))
}
