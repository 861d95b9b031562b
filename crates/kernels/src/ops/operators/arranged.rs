//! Outputs whose axes are [segments](crate::layout::segments) of the data's axes: pad, tile, roll and broadcast.

use ndarray::{ArrayBase, ArrayD, Data, Dimension};

use crate::error::{Result, Subject};
use crate::item::tensor::Tensor;
use crate::layout::segments::Segments;
use crate::memory;
use crate::ops::arrays::check_shape;
use crate::ops::kernels::{Items, Output, Strided};

/// The axes of an output as segments of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// The data's axis per output axis; `None` for a new axis of dim 1.
    pub axes: Vec<Option<usize>>,
    /// One list per output axis, or one over all items if `is_counted`.
    pub segments: Vec<Segments>,
    /// The dims of the output.
    pub shape: Vec<usize>,
    /// Whether the items are one axis, in C order.
    pub is_counted: bool,
}

impl Arrangement {
    /// Segments of each axis of the data.
    ///
    /// # Errors
    /// The shape is larger than can be counted, or has too many axes.
    pub fn new(segments: Vec<Segments>) -> Result<Self> {
        let axes = (0..segments.len()).map(Some).collect();
        Self::along(axes, segments)
    }

    /// `None` is a new axis of dim 1.
    ///
    /// # Errors
    /// The shape is larger than can be counted, or has too many axes.
    pub fn along(axes: Vec<Option<usize>>, segments: Vec<Segments>) -> Result<Self> {
        let shape: Vec<usize> = segments.iter().map(Segments::len).collect();
        check_shape(&shape, Subject::Output)?;
        Ok(Self { axes, segments, shape, is_counted: false })
    }

    /// Segments of all items, which are one axis in C order.
    pub fn counted(shape: &[usize], segments: Segments) -> Self {
        let axes = (0..shape.len()).map(Some).collect();
        Self { axes, segments: vec![segments], shape: shape.to_vec(), is_counted: true }
    }

    pub(in crate::ops) fn of_array<T: Copy, D: Dimension>(
        &self,
        data: &ArrayBase<impl Data<Elem = T>, D>,
        item: Option<T>,
    ) -> Result<ArrayD<T>> {
        self.output(data, item).to_array()
    }

    pub(in crate::ops) fn output<'a, T: Copy, D: Dimension>(
        &'a self,
        data: &'a ArrayBase<impl Data<Elem = T>, D>,
        item: Option<T>,
    ) -> Output<'a, T> {
        self.output_of(Strided::of(data), item.map(|item| vec![item]), Items::single())
    }

    pub(in crate::ops) fn output_of<'a, T: Copy>(
        &'a self,
        data: Strided<'a, T>,
        item: Option<Vec<T>>,
        items: Items<T>,
    ) -> Output<'a, T> {
        let shape = self.shape.clone();
        match &self.segments[..] {
            [segments] if self.is_counted => Output::counted(shape, segments, data, item, items),
            segments => Output::arranged(shape, segments, data.along(&self.axes), item, items),
        }
    }

    pub(in crate::ops) fn of_tensor(&self, data: &Tensor) -> Result<Tensor> {
        let item = data.dtype().default_item();
        let itemsize = data.dtype().itemsize();
        let mut out = memory::zeros(self.shape.iter().product::<usize>().saturating_mul(itemsize))?;
        let items = Items::bytes(itemsize);
        self.output_of(Strided::c_order(data.bytes(), data.shape(), items), Some(item), items).fill_all(&mut out);
        Tensor::new(data.dtype().clone(), self.shape.clone(), out)
    }
}
