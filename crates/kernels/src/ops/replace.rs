//! Replaces the items of a slice that satisfy a condition.

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use super::arrays::slice_of;
use super::condition::Condition;
use super::kernels::copied;
use super::matcher::Matcher;
use super::slice::SliceArgs;
use crate::error::Result;
use crate::item::element::Element;
use crate::layout::copy::copy_bytes;
use crate::layout::view::View;
use crate::memory::Buffer;

impl Matcher {
    /// Replaces the items of `out` at `places` that match by `item`, and returns their number. `items` is a buffer, and
    /// `label` names the data in the error.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn replace_at(
        &self,
        places: &View,
        item: &[u8],
        out: &mut [u8],
        items: &mut Buffer,
        label: &str,
    ) -> Result<usize> {
        let (itemsize, bytes) = (item.len(), places.items() * item.len());
        if let Some(first) = places.as_run() {
            return Ok(self.replace(&mut out[first * itemsize..][..bytes], item));
        }
        let together = View::c_order(&places.shape());
        items.resize(bytes, label)?;
        copy_bytes(out, places, items, &together, itemsize);
        let replaced = self.replace(items, item);
        copy_bytes(items, &together, out, places, itemsize);
        Ok(replaced)
    }
}

/// Copies `data` and replaces the items of a slice that satisfy a condition by `value`.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{Condition, replace_where};
/// let data = array![[1.0, f32::NAN], [f32::NAN, 4.0]];
/// let out = replace_where(&data, &Condition::Nan, 0.0, &"...".parse()?)?;
/// assert_eq!(out, array![[1.0, 0.0], [0.0, 4.0]]);
/// let out = replace_where(&out, &Condition::Less(2.0), -1.0, &"1:".parse()?)?;
/// assert_eq!(out, array![[1.0, 0.0], [-1.0, 4.0]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, or the condition orders complex numbers.
pub fn replace_where<T: Element, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    condition: &Condition<T>,
    value: T,
    args: &SliceArgs,
) -> Result<Array<T, D>> {
    let mut out = copied(data)?;
    replace_where_in_place(&mut out.view_mut(), condition, value, args)?;
    Ok(out)
}

/// Replaces the items of a slice of `data` that satisfy a condition by `value`, as
/// [`replace_where`](crate::replace_where()) does in a copy. Only items of the slice are read. `data` has any layout.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{Condition, replace_where_in_place};
/// let mut data = array![[1.0, f32::NAN], [f32::NAN, 4.0]];
/// replace_where_in_place(&mut data.view_mut(), &Condition::Nan, 0.0, &"1:".parse()?)?;
/// assert!(data[[0, 1]].is_nan() && data[[1, 0]] == 0.0);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, or the condition orders complex numbers.
pub fn replace_where_in_place<T: Element, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    condition: &Condition<T>,
    value: T,
    args: &SliceArgs,
) -> Result<()> {
    let spans = args.resolve(data.shape())?;
    let bytes = |item: &T| item.to_little().as_ref().to_vec();
    let matcher = Matcher::new(&T::dtype(), &condition.map(bytes))?;
    let new = bytes(&value);
    let replaced = |item: T| {
        let mut item = item.to_little();
        matcher.replace(item.as_mut(), &new);
        T::from_little(item)
    };
    data.slice_each_axis_mut(|of| slice_of(spans[of.axis.index()])).mapv_inplace(replaced);
    Ok(())
}
