//! Changes in the caller's memory: only the items that an operator names are touched.

use std::borrow::Cow;

use ndarray::{Array, ArrayBase, ArrayViewMut, ArrayViewMutD, Axis, Data, Dimension, IxDyn};

use super::gathered::Places;
use super::output::{copied, copy_into, run_of};
use super::strided::{Strided, view_of};
use crate::error::{Context, Result, Subject};
use crate::item::element::Element;
use crate::layout::axis::Span;
use crate::memory;
use crate::ops::arrays::slice_of;
use crate::ops::indexed::{Index, IndexSpec};
use crate::ops::reduction::CombineItems;
use crate::ops::tally::{Fold, Tally};

/// Data that is changed in place.
#[derive(Debug)]
pub(in crate::ops) enum Changed<'a, T> {
    /// In C order.
    Run(&'a mut [T]),
    Array(ArrayViewMutD<'a, T>),
}

impl<'a, T: Copy> Changed<'a, T> {
    pub(in crate::ops) fn of<D: Dimension>(array: ArrayViewMut<'a, T, D>) -> Self {
        if array.is_standard_layout() {
            return Self::Run(array.into_slice().expect("an array in C order"));
        }
        Self::Array(array.into_dyn())
    }

    /// Calls `put(old, update)` for parts of a block that lie together.
    fn put(&mut self, places: &Places, number: usize, update: &[T], put: impl Fn(&mut [T], &[T])) {
        match self {
            Self::Run(elements) => put(&mut elements[number * update.len()..][..update.len()], update),
            Self::Array(array) => {
                let mut items = array.view_mut();
                for place in places.index_of(number) {
                    items = items.index_axis_move(Axis(0), place);
                }
                if let Some(items) = items.as_slice_mut() {
                    return put(items, update);
                }
                let each = items.iter_mut().zip(update);
                each.for_each(|(old, new)| put(std::slice::from_mut(old), std::slice::from_ref(new)));
            }
        }
    }

    /// Returns the elements of a block of one item.
    fn item(&mut self, places: &Places, number: usize, width: usize) -> &mut [T] {
        match self {
            Self::Run(elements) => &mut elements[number * width..][..width],
            Self::Array(array) => std::slice::from_mut(&mut array[IxDyn(&places.index_of(number))]),
        }
    }
}

/// Puts updates into a slice of an array of any layout.
pub(in crate::ops) fn put_slice<T: Copy, D: Dimension>(
    mut data: ArrayViewMut<'_, T, D>,
    spans: &[Span],
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
) {
    let view = view_of(data.shape(), data.strides());
    if let (Some(to), Strided::Memory { elements, view: from, items }) =
        (data.as_slice_memory_order_mut(), Strided::of(updates))
    {
        return items.copy(elements, &from, to, &view.select(spans));
    }
    data.slice_each_axis_mut(|of| slice_of(spans[of.axis.index()])).assign(updates);
}

/// The updates of a scatter and their places.
#[derive(Debug)]
pub(in crate::ops) struct Scattered<'a, T: Clone> {
    places: Cow<'a, Places>,
    /// In C order.
    updates: Cow<'a, [T]>,
    width: usize,
}

impl<'a, T: Copy> Scattered<'a, T> {
    pub(in crate::ops) fn new(places: Cow<'a, Places>, updates: Cow<'a, [T]>, width: usize) -> Self {
        Self { places, updates, width }
    }

    pub(in crate::ops) fn of_array<D: Dimension>(
        spec: IndexSpec,
        indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
        updates: &'a ArrayBase<impl Data<Elem = T>, D>,
    ) -> Result<Self> {
        let places = Places::from_numbers(spec, &run_of(indices)?)?;
        Ok(Self::new(Cow::Owned(places), run_of(updates)?, 1))
    }

    /// Replaces the items of an array.
    pub(in crate::ops) fn put(&self, out: ArrayViewMut<'_, T, impl Dimension>) {
        self.apply(&mut Changed::of(out), |old, new| old.copy_from_slice(new));
    }

    /// Replaces the items of a copy.
    pub(in crate::ops) fn to_array<D: Dimension>(
        &self,
        data: &ArrayBase<impl Data<Elem = T>, D>,
    ) -> Result<Array<T, D>> {
        let mut out = copied(data)?;
        self.put(out.view_mut());
        Ok(out)
    }

    /// Replaces the items of a copy in an array of the caller.
    pub(in crate::ops) fn to_view<D: Dimension>(
        &self,
        data: &ArrayBase<impl Data<Elem = T>, D>,
        mut out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        copy_into(data, out.view_mut())?;
        self.put(out);
        Ok(())
    }

    /// Empty blocks may be too many to count.
    fn rows(&self) -> usize {
        if self.updates.is_empty() { 0 } else { self.places.resolver.outer }
    }

    /// Calls `put(old, update)` for the block of each update, in index order.
    pub(in crate::ops) fn apply(&self, data: &mut Changed<'_, T>, put: impl Fn(&mut [T], &[T])) {
        match data {
            Changed::Run(elements) => self.apply_to_run(0, elements, put),
            Changed::Array(_) => {
                let mut updates = self.updates.chunks_exact((self.places.resolver.block * self.width).max(1));
                for row in 0..self.rows() {
                    for (tuple, update) in (0..self.places.tuples()).zip(&mut updates) {
                        let number = self.places.block(row, tuple).expect("every index was checked");
                        data.put(&self.places, number, update, &put);
                    }
                }
            }
        }
    }

    /// Calls the reduction for the block of each update, in index order.
    pub(in crate::ops) fn combine(&self, data: &mut Changed<'_, T>, items: CombineItems<T>) {
        if let Changed::Run(elements) = data {
            let points = |offset, at: &[u32], updates: &[T]| (items.points)(elements, offset, at, updates);
            if self.places.points(0, &self.updates, 1, points) {
                return;
            }
        }
        self.apply(data, items.blocks);
    }

    /// As [`apply`](Self::apply), for a run of the data from element `first` on.
    pub(in crate::ops) fn apply_to_run(&self, first: usize, data: &mut [T], put: impl Fn(&mut [T], &[T])) {
        let (block, tuples) = (self.places.resolver.block * self.width, self.places.tuples());
        let row = self.places.resolver.places * block;
        for number in 0..self.rows() {
            if (number + 1) * row <= first || number * row >= first + data.len() {
                continue;
            }
            let updates = &self.updates[number * tuples * block..][..tuples * block];
            for tuple in 0..tuples {
                let to = self.places.block(number, tuple).expect("every index was checked") * block;
                if block == 1 {
                    // a constant length makes this a word
                    if let Some(old) = data.get_mut(to.wrapping_sub(first)) {
                        put(std::slice::from_mut(old), std::slice::from_ref(&updates[tuple]));
                    }
                    continue;
                }
                let (begin, end) = (to.max(first), (to + block).min(first + data.len()));
                if begin < end {
                    let update = &updates[tuple * block..][..block];
                    put(&mut data[begin - first..end - first], &update[begin - to..end - to]);
                }
            }
        }
    }

    /// Reduces the updates of each place together. Tuples address single items; the other arguments make
    /// little-endian bytes of an old item and of an update, and an item of bytes.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(in crate::ops) fn fold(
        &self,
        fold: Fold,
        itemsize: usize,
        data: &mut Changed<'_, T>,
        encode_old: impl Fn(&[T], &mut [u8]),
        encode_new: impl Fn(&[T], &mut [u8]),
        decode: impl Fn(&[u8], &mut [T]),
    ) -> Result<()> {
        /// Up to this many times the updates, counters for all places take less time than a search for the named ones.
        const FEW: usize = 16;
        let count = if self.rows() == 0 { 0 } else { self.places.tuples() };
        let number = |tuple| self.places.block(0, tuple).expect("every index was checked");
        let (all, mut named) = (self.places.resolver.places, Vec::new());
        let is_few = all <= count.saturating_mul(FEW);
        if !is_few {
            named = memory::with_capacity(count).context(Subject::Indices.to_string())?;
            named.extend((0..count).map(number));
            named.sort_unstable();
            named.dedup();
        }
        let slots = if is_few { all } else { named.len() };
        let slot = |place: usize| match is_few {
            true => place,
            false => named.binary_search(&place).expect("the place of an update"),
        };
        let mut folded = memory::zeros(slots.saturating_mul(itemsize)).context(Subject::Data.to_string())?;
        let mut tally = Tally::new(fold, itemsize, slots)?;
        let (places, width) = (&self.places, self.width);
        for place in (0..count).map(number) {
            let item = &mut folded[slot(place) * itemsize..][..itemsize];
            encode_old(data.item(places, place, width), item);
        }
        let mut update = vec![0; itemsize];
        for (place, new) in (0..count).map(number).zip(self.updates.chunks_exact(width.max(1))) {
            encode_new(new, &mut update);
            tally.put(slot(place), &update, &mut folded);
        }
        tally.finish(&mut folded);
        for place in (0..count).map(number) {
            let item = &folded[slot(place) * itemsize..][..itemsize];
            decode(item, data.item(places, place, width));
        }
        Ok(())
    }
}

impl<T: Element> Scattered<'_, T> {
    /// # Errors
    /// There is not enough memory.
    pub(in crate::ops) fn fold_elements(&self, fold: Fold, data: &mut Changed<'_, T>) -> Result<()> {
        let encode = |item: &[T], bytes: &mut [u8]| bytes.copy_from_slice(item[0].to_little().as_ref());
        self.fold(fold, T::SIZE, data, encode, encode, |bytes, item| item[0] = T::read_le(bytes))
    }
}
