//! Operators on bytes of the caller, with a dtype of run time.

mod bytes;
mod call;
mod kernel;
mod run;

use self::bytes::Lent;
pub use self::kernel::{Kernel, Part};
pub use self::run::replace_where;
use crate::error::{Context, Error, Result, Subject};
use crate::item::dtype::DType;
use crate::item::meta::{Meta, checked_bytes};
use crate::item::tensor::Tensor;
use crate::layout::axis::bytes_of;
use crate::layout::copy::copy_bytes;
use crate::layout::view::{Few, View};
use crate::memory;
use crate::ops::arrays::check_most_axes;

/// A tensor that is read: a dtype, a shape, and bytes of the caller.
///
/// Items are in C order or have strides, and in the byte order of the dtype. Any dtype is possible, so strings and
/// structured items, too.
///
/// ```
/// use tensorop_kernels::DType;
/// use tensorop_kernels::kernel::TensorRef;
/// let bytes: Vec<u8> = [1_i32, 2, 3].iter().flat_map(|item| item.to_le_bytes()).collect();
/// let tensor = TensorRef::new(&DType::INT32, &[3], &bytes)?;
/// assert_eq!(tensor.shape(), [3]);
/// let refused = TensorRef::new(&DType::INT32, &[4], &bytes).unwrap_err();
/// assert_eq!(refused.to_string(), "data: 12 bytes, expected 16 (int32 [4])");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    layout: Layout<'a>,
    bytes: &'a [u8],
}

/// Where items are in a buffer.
#[derive(Clone, Copy, Debug)]
struct Layout<'a> {
    dtype: &'a DType,
    shape: &'a [usize],
    /// In bytes; `None` is C order from the first byte on.
    strides: Option<&'a [isize]>,
    /// Of the first item, in bytes.
    offset: usize,
}

impl<'a> TensorRef<'a> {
    /// Lends `bytes` as a tensor in C order.
    ///
    /// # Errors
    /// The rank exceeds 64, the shape exceeds memory, or the number of bytes is wrong (all [`Subject::Data`]).
    pub fn new(dtype: &'a DType, shape: &'a [usize], bytes: &'a [u8]) -> Result<Self> {
        Ok(Self { layout: Layout::c_order(dtype, shape, bytes.len(), Subject::Data)?, bytes })
    }

    /// Lends items of a buffer as a tensor: `strides` are the bytes from an item to the next along each axis, and may be
    /// negative or 0; `offset` is the byte where the first item begins. For strides that
    /// are not in whole items the operator copies the items first.
    ///
    /// ```
    /// use tensorop_kernels::kernel::{Call, TensorMut, TensorRef};
    /// use tensorop_kernels::{DType, Meta};
    /// // the second column of a matrix of 3 x 2, from its end
    /// let buffer = [1_u8, 2, 3, 4, 5, 6];
    /// let column = TensorRef::strided(&DType::UINT8, &[3], &[-2], 5, &buffer)?;
    /// let kernel = Call::Tile { repeats: vec![2] }.infer(&[column.meta()])?;
    /// // into every other byte
    /// let mut out = [0; 12];
    /// kernel.apply(&[column], TensorMut::strided(&DType::UINT8, &[6], &[2], 0, &mut out)?, 1)?;
    /// assert_eq!(out, [6, 0, 4, 0, 2, 0, 6, 0, 4, 0, 2, 0]);
    /// let refused = TensorRef::strided(&DType::UINT8, &[3], &[-2], 3, &buffer).unwrap_err();
    /// assert_eq!(refused.to_string(), "data: items from byte -1 to 4, expected 0 to 6 (uint8 [3], strides [-2], offset 3)");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The rank exceeds 64, the shape exceeds memory, there is not a stride for each axis, or an item is outside the buffer
    /// (all [`Subject::Data`]).
    pub fn strided(
        dtype: &'a DType,
        shape: &'a [usize],
        strides: &'a [isize],
        offset: usize,
        bytes: &'a [u8],
    ) -> Result<Self> {
        Ok(Self { layout: Layout::strided(dtype, shape, strides, offset, bytes.len(), Subject::Data)?, bytes })
    }

    /// The dtype of the items.
    pub fn dtype(&self) -> &'a DType {
        self.layout.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &'a [usize] {
        self.layout.shape
    }

    /// The buffer: the items in the dtype's byte order, in C order if the tensor has no strides.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes from an item to the next along each axis; `None` for items in C order.
    pub fn strides(&self) -> Option<&'a [isize]> {
        self.layout.strides
    }

    /// The dtype and shape, which [`Call::infer`](crate::ops::call::Call::infer) takes.
    pub fn meta(&self) -> Meta {
        Meta::c_order(self.layout.dtype.clone(), self.layout.shape.to_vec())
    }

    fn as_c_order(&self) -> Option<&'a [u8]> {
        self.layout.strides.is_none().then_some(self.bytes)
    }

    /// Lends the items under a shape; `None` if they have to be copied for that.
    fn lent(&self, shape: &[usize]) -> Option<Lent<'a>> {
        if self.layout.strides.is_none() {
            return Some(Lent::c_order(self.bytes, shape));
        }
        let (first, view) = self.layout.view().filter(|_| shape == self.layout.shape)?;
        Some(Lent { bytes: &self.bytes[first..], view })
    }

    /// Copies the items in C order.
    fn to_vec(self) -> Result<Vec<u8>> {
        let bytes = bytes_of(self.shape(), self.dtype().itemsize()).expect("a shape that was checked");
        let mut items = memory::zeros(bytes).context(Subject::Data.to_string())?;
        let layout = self.layout;
        copy_bytes(
            self.bytes,
            &layout.view_of_bytes(),
            &mut items,
            &Layout { strides: None, ..layout }.view_of_bytes(),
            1,
        );
        Ok(items)
    }
}

impl<'a> From<&'a Tensor> for TensorRef<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        let layout = Layout { dtype: tensor.dtype(), shape: tensor.shape(), strides: None, offset: 0 };
        Self { layout, bytes: tensor.bytes() }
    }
}

/// A tensor that is written: a [`TensorRef`] whose bytes an operator overwrites or changes.
#[derive(Debug)]
pub struct TensorMut<'a> {
    layout: Layout<'a>,
    bytes: &'a mut [u8],
}

impl<'a> TensorMut<'a> {
    /// Lends `bytes` as a tensor in C order.
    ///
    /// # Errors
    /// The rank exceeds 64, the shape exceeds memory, or the number of bytes is wrong (all [`Subject::Output`]).
    pub fn new(dtype: &'a DType, shape: &'a [usize], bytes: &'a mut [u8]) -> Result<Self> {
        Ok(Self { layout: Layout::c_order(dtype, shape, bytes.len(), Subject::Output)?, bytes })
    }

    /// Lends items of a buffer as a tensor, as [`TensorRef::strided`] does. An operator changes no byte between the items.
    ///
    /// ```
    /// use tensorop_kernels::DType;
    /// use tensorop_kernels::kernel::TensorMut;
    /// let mut buffer = [0; 8];
    /// assert!(TensorMut::strided(&DType::INT16, &[2, 2], &[2, 4], 0, &mut buffer).is_ok());
    /// let refused = TensorMut::strided(&DType::INT16, &[2, 2], &[1, 4], 0, &mut buffer).unwrap_err();
    /// assert_eq!(refused.to_string(), "output: items overlap (int16 [2, 2], strides [1, 4])");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`TensorRef::strided`], or items overlap (all [`Subject::Output`]). More than 2^20 items count as overlapping
    /// unless each stride reaches beyond all items of the shorter ones.
    pub fn strided(
        dtype: &'a DType,
        shape: &'a [usize],
        strides: &'a [isize],
        offset: usize,
        bytes: &'a mut [u8],
    ) -> Result<Self> {
        let layout = Layout::strided(dtype, shape, strides, offset, bytes.len(), Subject::Output)?;
        if layout.overlaps() {
            let message = format!("items overlap ({dtype} {shape:?}, strides {strides:?})");
            return Err(Error::new(Subject::Output, message));
        }
        Ok(Self { layout, bytes })
    }

    /// The dtype of the items.
    pub fn dtype(&self) -> &'a DType {
        self.layout.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &'a [usize] {
        self.layout.shape
    }

    /// The buffer: the items in the dtype's byte order, in C order if the tensor has no strides.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Lends the tensor for reading.
    pub fn as_ref(&self) -> TensorRef<'_> {
        TensorRef { layout: self.layout, bytes: self.bytes }
    }

    fn lend(&mut self) -> TensorMut<'_> {
        TensorMut { layout: self.layout, bytes: self.bytes }
    }

    fn is_c_order(&self) -> bool {
        self.layout.strides.is_none()
    }

    /// Calls `fill` with the items under a shape of as many items. If that takes a copy, the items are copied there first if
    /// they are also read, and back afterwards.
    fn with_view(self, shape: &[usize], reads: bool, fill: impl FnOnce(&mut [u8], &View) -> Result<()>) -> Result<()> {
        if self.is_c_order() {
            return fill(self.bytes, &View::c_order(shape));
        }
        if let Some((first, view)) = self.layout.view().filter(|_| shape == self.layout.shape) {
            return fill(&mut self.bytes[first..], &view);
        }
        let length = bytes_of(shape, self.dtype().itemsize()).expect("a shape that was checked");
        let mut copy =
            if reads { self.as_ref().to_vec() } else { memory::zeros(length).context(Subject::Output.to_string()) }?;
        fill(&mut copy, &View::c_order(shape))?;
        let in_order = Layout { strides: None, ..self.layout }.view_of_bytes();
        copy_bytes(&copy, &in_order, self.bytes, &self.layout.view_of_bytes(), 1);
        Ok(())
    }
}

impl<'a> Layout<'a> {
    fn c_order(dtype: &'a DType, shape: &'a [usize], found: usize, subject: Subject) -> Result<Self> {
        match check_shape(dtype, shape, subject)? {
            expected if expected != found => {
                let message = format!("{found} bytes, expected {expected} ({} {shape:?})", dtype.name());
                Err(Error::new(subject, message))
            }
            _ => Ok(Self { dtype, shape, strides: None, offset: 0 }),
        }
    }

    fn strided(
        dtype: &'a DType,
        shape: &'a [usize],
        strides: &'a [isize],
        offset: usize,
        length: usize,
        subject: Subject,
    ) -> Result<Self> {
        let refuse = |message: String| Err(Error::new(subject, message));
        let bytes = check_shape(dtype, shape, subject)?;
        if strides.len() != shape.len() {
            return refuse(format!("{} strides, expected {} ({dtype} {shape:?})", strides.len(), shape.len()));
        }
        let (mut first, mut end) = (offset as i128, offset as i128 + dtype.itemsize() as i128);
        for (&dim, &stride) in shape.iter().zip(strides) {
            let way = stride as i128 * (dim as i128 - 1).max(0);
            let bound = if way < 0 { &mut first } else { &mut end };
            *bound += way;
        }
        if bytes > 0 && (first < 0 || end > length as i128) {
            let given = format!("{dtype} {shape:?}, strides {strides:?}, offset {offset}");
            return refuse(format!("items from byte {first} to {end}, expected 0 to {length} ({given})"));
        }
        Ok(Self { dtype, shape, strides: Some(strides), offset })
    }

    /// Strides and the dims that they are for, the longest stride first.
    fn long_axes(&self) -> Few<(usize, usize)> {
        let axes = self.shape.iter().zip(self.strides.unwrap_or_default()).filter(|(dim, _)| **dim != 1);
        let mut axes: Few<_> = axes.map(|(&dim, stride)| (stride.unsigned_abs(), dim)).collect();
        axes.sort_unstable_by(|one, other| other.cmp(one));
        axes
    }

    fn overlaps(&self) -> bool {
        /// The items that are compared place by place if a stride does not reach beyond the shorter ones.
        const FEW: usize = 1 << 20;
        let (itemsize, mut reach) = (self.dtype.itemsize(), self.dtype.itemsize());
        let items = bytes_of(self.shape, 1).expect("a shape that was checked");
        if items == 0 || itemsize == 0 {
            return false;
        }
        let is_apart = self.long_axes().iter().rev().all(|&(stride, dim)| {
            let is_apart = stride >= reach;
            reach = reach.saturating_add(stride.saturating_mul(dim - 1));
            is_apart
        });
        if is_apart || items > FEW {
            return !is_apart;
        }
        let axes = self.shape.iter().copied().zip(self.strides.unwrap_or_default().iter().copied());
        let mut places = View::strided(axes).from_item(self.offset).places();
        places.sort_unstable();
        places.windows(2).any(|pair| pair[1] - pair[0] < itemsize)
    }

    /// The bytes before the first item's multiple of the itemsize, and the view of the items from there on; `None` if a
    /// stride is not in whole items.
    fn view(&self) -> Option<(usize, View)> {
        let itemsize = self.dtype.itemsize().max(1);
        let Some(strides) = self.strides else { return Some((0, View::c_order(self.shape))) };
        let is_multiple = |(stride, dim): (&isize, &usize)| *dim < 2 || *stride % itemsize as isize == 0;
        if !strides.iter().zip(self.shape).all(is_multiple) || bytes_of(self.shape, itemsize) == Some(0) {
            return None;
        }
        // the stride of one place is any number
        let axes = self.shape.iter().zip(strides);
        let axes = axes.map(|(&dim, stride)| (dim, if dim < 2 { 0 } else { stride / itemsize as isize }));
        Some((self.offset % itemsize, View::strided(axes).from_item(self.offset / itemsize)))
    }

    /// The view of the bytes of all items.
    fn view_of_bytes(&self) -> View {
        let itemsize = self.dtype.itemsize();
        let of_items = View::c_order(self.shape);
        let strides = of_items.strides().map(|stride| stride * itemsize as isize);
        let strides: Vec<isize> = self.strides.map_or_else(|| strides.collect(), <[isize]>::to_vec);
        let offset = if self.strides.is_some() { self.offset } else { 0 };
        let axes = self.shape.iter().zip(strides).map(|(&dim, stride)| (dim, if dim < 2 { 0 } else { stride }));
        View::strided(axes.chain([(itemsize, 1)])).from_item(offset)
    }
}

/// Returns the bytes of a tensor.
///
/// # Errors
/// The rank exceeds 64, or the shape exceeds memory.
fn check_shape(dtype: &DType, shape: &[usize], subject: Subject) -> Result<usize> {
    check_most_axes(shape, subject)?;
    checked_bytes(dtype, shape, subject)
}
