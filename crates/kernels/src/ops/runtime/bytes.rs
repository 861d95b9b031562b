//! Operators on bytes. Items of up to 16 bytes move as words; others are rows of bytes.

use std::borrow::Cow;

use crate::error::{Context, Result, Subject};
use crate::item::dtype::DType;
use crate::item::encoding::Conversion;
use crate::layout::view::View;
use crate::layout::walk::with_word;
use crate::memory;
use crate::ops::call::Resolved;
use crate::ops::kernels::{Changed, Items, Output, Places, Scattered, Strided, each_part};
use crate::ops::slice_scatter::SliceScatter;
use crate::ops::tally::Application;

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
    let Operands { data, places, item } = operands;
    let items = Items::bytes(item.len());
    let mut all: Vec<_> = data.iter().map(|(shape, bytes)| Strided::c_order(bytes, shape, items)).collect();
    if let Resolved::Joined(joined) = resolved {
        joined.output_of(all, items).fill_on(threads, out);
        return Ok(());
    }
    let first = all.swap_remove(0);
    let output = match resolved {
        Resolved::Slice(spans) => Output::view(first.select(spans), items),
        Resolved::Transposed(axes) => {
            Output::view(first.along(&axes.iter().copied().map(Some).collect::<Vec<_>>()), items)
        }
        Resolved::Reshaped(dims) => Output::reshaped(dims.clone(), first, items),
        Resolved::Arranged(arrangement) => arrangement.output_of(first, Some(item.to_vec()), items),
        Resolved::Gathered(_) => {
            let places = places.expect("a gather has an index tensor");
            return gather(data[0], places, item, threads, out);
        }
        Resolved::Joined(_) | Resolved::Places(_) | Resolved::Scattered(..) => {
            unreachable!("joined above; changes have data to begin with")
        }
    };
    output.fill_on(threads, out);
    Ok(())
}

/// Single items are gathered as words.
fn gather((shape, data): (&[usize], &[u8]), places: Places, zero: &[u8], threads: usize, out: &mut [u8]) -> Result<()> {
    with_word!(zero.len(), N => {
        let items = Items::<[u8; N]>::word();
        let data = Strided::c_order(data.as_chunks().0, shape, items);
        let zero = zero.as_chunks().0.to_vec();
        Output::gathered(places, data, Some(zero), items)?.fill_on(threads, out.as_chunks_mut().0);
    }, _ => {
        let items = Items::bytes(zero.len());
        let data = Strided::c_order(data, shape, items);
        Output::gathered(places, data, Some(zero.to_vec()), items)?.fill_on(threads, out);
    });
    Ok(())
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
    let (view, items) = (View::c_order(&places.updates_shape()), Items::bytes(itemsize));
    each_part(shape, itemsize, threads, data, |window, data| {
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
