//! Gathers and scatters by indices on arrays in memory.

use std::iter::repeat_n;
use std::ops::Range;

use ndarray::{Array, ArrayBase, ArrayD, Data, Dimension};

use super::resolve::{Index, IndexSpec, TupleResolver};
use crate::error::Result;
use crate::item::element::Element;
use crate::item::meta::Order;
use crate::memory;
use crate::ops::arrays::{items, standard};
use crate::ops::tally::{Fold, Tally};

impl TupleResolver {
    /// The data range of each block in tuple order; `None` for a tuple that names no place. `named` is empty for tuples
    /// without numbers, which all name place 0.
    fn blocks<'a>(&'a self, named: &'a [u64]) -> impl Iterator<Item = Option<Range<usize>>> + 'a {
        let (outer, block, places) = (self.outer, self.block, self.places);
        let (batches, tuples) = self.shapes.tuples.split_at(self.shapes.batch_dims);
        let (batches, tuples): (usize, usize) = (batches.iter().product(), tuples.iter().product());
        // Empty blocks may be too many to count.
        let rows = if self.shapes.updates.contains(&0) { 0 } else { outer };
        (0..rows).flat_map(move |row| {
            let first = row / (outer / batches) * tuples;
            (first..first + tuples).map(move |tuple| {
                let place = named.get(tuple).map_or(0, |&place| place as usize);
                let from = (row * places + place) * block;
                (place < places).then_some(from..from + block)
            })
        })
    }
}

impl IndexSpec {
    pub(in crate::ops) fn scatter<T: Copy, D: Dimension>(
        self,
        data: &ArrayBase<impl Data<Elem = T>, D>,
        indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
        updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
        operation: impl Fn(T, T) -> T,
    ) -> Result<Array<T, D>> {
        let resolver = self.in_order(Order::C);
        let named = resolver.all_places(&items(indices))?;
        let (mut out, updates) = (standard(data), items(updates));
        let old = out.as_slice_mut().expect("a copy in C order");
        let blocks = resolver.blocks(&named).flatten().zip(updates.chunks(resolver.block.max(1)));
        blocks.for_each(|(block, updates)| {
            old[block].iter_mut().zip(updates).for_each(|(old, &update)| *old = operation(*old, update));
        });
        Ok(out)
    }

    /// Like [`scatter`](Self::scatter) with a reduction that needs all updates of an item. Tuples address single items.
    pub(in crate::ops) fn fold<T: Element, D: Dimension>(
        self,
        data: &ArrayBase<impl Data<Elem = T>, D>,
        indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
        updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
        fold: Fold,
    ) -> Result<Array<T, D>> {
        let resolver = self.in_order(Order::C);
        let named = resolver.all_places(&items(indices))?;
        let mut bytes: Vec<u8> = memory::with_capacity(data.len().saturating_mul(T::SIZE))?;
        data.iter().for_each(|item| bytes.extend_from_slice(item.to_little().as_ref()));
        let mut tally = Tally::new(fold, T::SIZE, data.len())?;
        let blocks = resolver.blocks(&named).flatten().zip(updates.iter());
        blocks.for_each(|(block, update)| tally.put(block.start, update.to_little().as_ref(), &mut bytes));
        tally.finish(&mut bytes);
        let folded = T::chunks(&bytes).iter().map(|item| T::from_little(*item)).collect();
        Ok(Array::from_shape_vec(data.raw_dim(), folded).expect("an item for each of the data"))
    }

    /// `zero` fills the blocks of tuples that name no place.
    pub(in crate::ops) fn gather<T: Copy>(
        self,
        data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
        indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
        zero: Option<T>,
    ) -> Result<ArrayD<T>> {
        let resolver = self.in_order(Order::C);
        let named = resolver.all_places(&items(indices))?;
        let (data, mut out) = (items(data), Vec::new());
        resolver.blocks(&named).for_each(|block| match block {
            Some(block) => out.extend_from_slice(&data[block]),
            None => out.extend(zero.into_iter().flat_map(|zero| repeat_n(zero, resolver.block))),
        });
        Ok(Array::from_shape_vec(resolver.shapes.updates.as_slice(), out).expect("a block for each tuple of each row"))
    }
}
