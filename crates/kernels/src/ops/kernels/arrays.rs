//! Outputs and changes of arrays.

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use super::changed::{Changed, Scattered};
use super::gathered::Places;
use super::output::{Output, run_of};
use super::strided::{Items, Strided};
use crate::error::Result;
use crate::ops::indexed::{Index, IndexSpec};

impl Places {
    pub(in crate::ops) fn of_array(
        spec: IndexSpec,
        indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    ) -> Result<Self> {
        let numbers = run_of(indices)?;
        Self::new(spec, |resolver, places| resolver.append_places(&numbers, |number| number, 0, places))
    }
}

pub(in crate::ops) fn gathered<'a, T: Copy>(
    places: Places,
    data: &'a ArrayBase<impl Data<Elem = T>, impl Dimension>,
    zero: Option<T>,
) -> Result<Output<'a, T>> {
    Output::gathered(places, Strided::of(data), zero.map(|zero| vec![zero]), Items::single())
}

pub(in crate::ops) fn replace<T: Copy>(old: &mut [T], new: &[T]) {
    old.copy_from_slice(new);
}

pub(in crate::ops) fn copy_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    Output::view(Strided::of(data), Items::single()).to_view(out)
}

/// Copies an array, in C order.
pub(in crate::ops) fn copied<T: Copy, D: Dimension>(data: &ArrayBase<impl Data<Elem = T>, D>) -> Result<Array<T, D>> {
    Output::view(Strided::of(data), Items::single()).to_array()
}

/// Returns a changed copy.
pub(in crate::ops) fn changed<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    scattered: &Scattered<'_, T>,
    put: impl Fn(&mut [T], &[T]),
) -> Result<Array<T, D>> {
    let mut out = copied(data)?;
    scattered.apply(&mut Changed::of(out.view_mut()), put);
    Ok(out)
}
