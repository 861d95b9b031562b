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
    let (reversed, mut out) = (shape.iter().rev().copied().collect::<Vec<_>>(), Vec::with_capacity(items.len()));
    for mut at in indices(&reversed) {
        at.reverse();
        out.extend(&items[offset(&at, shape) * itemsize..][..itemsize]);
    }
    out
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
    fn little(self) -> Vec<u8>;
}

macro_rules! item {
    ($($type:ty, $letter:literal, $name:literal;)+) => {$(
        impl Item for $type {
            const LETTER: &'static str = $letter;
            const NAME: &'static str = $name;
            fn little(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )+};
}

item!(f32, "f4", "float32"; f64, "f8", "float64"; i64, "i8", "int64"; i32, "i4", "int32"; u8, "u1", "uint8";);

/// The little-endian bytes of items.
pub(crate) fn bytes<T: Item>(items: &[T]) -> Vec<u8> {
    items.iter().flat_map(|item| item.little()).collect()
}

pub(crate) fn tensor<T: Item>(shape: &[usize], items: &[T]) -> Tensor<T> {
    assert_eq!(shape.iter().product::<usize>(), items.len());
    Tensor { shape: shape.to_vec(), items: items.to_vec() }
}

impl<T: Item> Tensor<T> {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.items.iter().flat_map(|item| item.little()).collect()
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
