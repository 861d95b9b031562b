//! Operators on bytes. Items of up to 16 bytes move as words; others are rows of bytes.

use std::borrow::Cow;

use super::changed::{Changed, Scattered};
use super::gathered::{Gathered, Places};
use super::output::{Output, each_part};
use super::strided::{Items, Strided};
use crate::error::{Context, Result, Subject};
use crate::item::dtype::DType;
use crate::item::tensor::Tensor;
use crate::layout::view::View;
use crate::layout::walk::with_word;
use crate::memory;
use crate::ops::arranged::Arrangement;
use crate::ops::call::Resolved;
use crate::ops::slice_scatter::SliceScatter;
use crate::ops::tally::Application;
use crate::storage::conversion::Conversion;

/// The operands that an output is filled from.
pub(super) struct Operands<'a> {
    pub data: Vec<(&'a [usize], &'a [u8])>,
    /// Only for gathers.
    pub places: Option<Places>,
    /// The item for places that have no other.
    pub item: &'a [u8],
}

/// Fills `out` as an operator that changes no data says.
pub(super) fn fill(resolved: &Resolved, operands: Operands<'_>, threads: usize, out: &mut [u8]) -> Result<()> {
    let itemsize = operands.item.len();
    with_word!(itemsize, N => {
        let (data, item) = (operands.data.iter(), operands.item.as_chunks::<N>().0);
        let data = data.map(|(shape, bytes)| Strided::c_order(bytes.as_chunks().0, shape, Items::word())).collect();
        fill_items(resolved, data, operands.places, item, Items::<[u8; N]>::word(), threads, out.as_chunks_mut().0)
    }, _ => {
        let items = Items::of_width(itemsize);
        let data = operands.data.iter().map(|(shape, bytes)| Strided::c_order(bytes, shape, items)).collect();
        fill_items(resolved, data, operands.places, operands.item, items, threads, out)
    })
}

fn fill_items<'a, T: Copy + Send + Sync>(
    resolved: &'a Resolved,
    mut data: Vec<Strided<'a, T>>,
    places: Option<Places>,
    item: &[T],
    items: Items<T>,
    threads: usize,
    out: &mut [T],
) -> Result<()> {
    if let Resolved::Joined(joined) = resolved {
        Output::joined(joined, data, items).fill_on(threads, out);
        return Ok(());
    }
    let data = data.swap_remove(0);
    let output = match resolved {
        Resolved::Slice(spans) => Output::view(data.select(spans), items),
        Resolved::Transposed(axes) => {
            Output::view(data.along(&axes.iter().copied().map(Some).collect::<Vec<_>>()), items)
        }
        Resolved::Reshaped(dims) => Output::reshaped(dims.clone(), data, items),
        Resolved::Arranged(arrangement) => Output::arranged(arrangement, data, Some(item.to_vec()), items),
        Resolved::Gathered(_) => {
            let places = places.expect("a gather has an index tensor");
            Gathered::output(places, data, Some(item.to_vec()), items)?
        }
        Resolved::Joined(_) | Resolved::Places(_) | Resolved::Scattered(..) => {
            unreachable!("joined above; changes have data to begin with")
        }
    };
    output.fill_on(threads, out);
    Ok(())
}

/// Fills an arrangement of a tensor.
pub(in crate::ops) fn arrange_tensor(arrangement: &Arrangement, data: &Tensor, item: &[u8], out: &mut [u8]) {
    let operands = Operands { data: vec![(data.shape(), data.bytes())], places: None, item };
    let filled = fill(&Resolved::Arranged(arrangement.clone()), operands, 1, out);
    filled.expect("only the places of a gather need memory");
}

/// Copies all items.
pub(super) fn copy_all(data: &[u8], threads: usize, out: &mut [u8]) {
    let length = [data.len()];
    each_part(&length, 1, threads, out, |window, out| out.copy_from_slice(&data[window.ranges[0].clone()]));
}

/// Puts updates into a slice of `data`.
pub(super) fn put_slice(
    places: &SliceScatter,
    shape: &[usize],
    updates: &[u8],
    itemsize: usize,
    threads: usize,
    data: &mut [u8],
) {
    with_word!(itemsize, N => {
        put_items(places, shape, updates.as_chunks().0, Items::<[u8; N]>::word(), threads, data.as_chunks_mut().0);
    }, _ => put_items(places, shape, updates, Items::of_width(itemsize), threads, data));
}

fn put_items<T: Copy + Send + Sync>(
    places: &SliceScatter,
    shape: &[usize],
    updates: &[T],
    items: Items<T>,
    threads: usize,
    data: &mut [T],
) {
    let view = View::c_order(&places.updates_shape());
    each_part(shape, items.width, threads, data, |window, data| {
        if let Some((part, place)) = places.part(window) {
            items.copy(updates, &view.part(&part), data, &place);
        }
    });
}

/// Puts updates in the places that an index tensor names.
///
/// # Errors
/// There is not enough memory. Then nothing is changed.
pub(super) fn scatter(
    places: Places,
    application: Application,
    dtype: &DType,
    updates: &[u8],
    threads: usize,
    data: &mut [u8],
) -> Result<()> {
    let itemsize = dtype.itemsize();
    let to_native = Conversion::to_native(dtype);
    let mut updates: Cow<'_, [u8]> = updates.into();
    if application.knows_numbers() && !to_native.is_identity() {
        let mut native = memory::with_capacity(updates.len()).context(Subject::Updates.to_string())?;
        native.extend_from_slice(&updates);
        to_native.swap(&mut native);
        updates = native.into();
    }
    match application {
        Application::Replace => with_word!(itemsize, N => {
            let updates = updates.as_chunks::<N>().0.into();
            put_blocks(Scattered::new(places, updates, 1), 1, threads, data.as_chunks_mut().0, |old, new| {
                old.copy_from_slice(new);
            });
        }, _ => put_blocks(Scattered::new(places, updates, itemsize), itemsize, threads, data, |old, new| {
            old.copy_from_slice(new);
        })),
        Application::Combine(combine) => {
            put_blocks(Scattered::new(places, updates, itemsize), itemsize, threads, data, |old, new| {
                to_native.swap(old);
                (combine.blocks)(old, new);
                to_native.swap(old);
            });
        }
        Application::Fold(fold) => {
            let native = |item: &[u8], native: &mut [u8]| {
                native.copy_from_slice(item);
                to_native.swap(native);
            };
            // the updates were swapped together
            let as_is = |item: &[u8], native: &mut [u8]| native.copy_from_slice(item);
            let scattered = Scattered::new(places, updates, itemsize);
            scattered.fold(fold, itemsize, &mut Changed::Run(data), native, as_is, native)?;
        }
    }
    Ok(())
}

fn put_blocks<T: Copy + Send + Sync>(
    scattered: Scattered<'_, T>,
    width: usize,
    threads: usize,
    data: &mut [T],
    put: impl Fn(&mut [T], &[T]) + Sync,
) {
    let items = [data.len() / width.max(1)];
    each_part(&items, width, threads, data, |window, data| {
        scattered.apply_to_run(window.start * width, data, &put);
    });
}
