//! Casts the output of another operator.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::access::{Access, Holding, Picked};
use super::fill::{Fill, Limits, Machine, Region, Scratch};
use crate::storage::source::Source;
use tensorop_kernels::error::{Error, Result, malformed};
use tensorop_kernels::item::cast::{Cast, Overflow, Overflowed};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::parallel::locked;

/// The losses a cast may make.
#[derive(Clone, Debug, Default)]
pub struct CastRule {
    /// Whether integers may lose fractions, imaginary parts and range.
    pub lossy: bool,
    pub overflow: Overflow,
    pub tally: Option<Arc<OverflowTally>>,
    /// In Fortran order the operator's axes are reversed.
    pub order: Order,
}

/// Counts items that overflowed to infinity or NaN.
#[derive(Debug, Default)]
pub struct OverflowTally {
    seen: AtomicUsize,
    overflowed: AtomicUsize,
    first: Mutex<Option<Vec<usize>>>,
}

/// Items that overflowed to infinity or NaN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverflowedItems {
    pub items: usize,
    /// All items.
    pub of: usize,
    /// In the order of the output.
    pub first: Vec<usize>,
}

impl OverflowTally {
    pub fn found(&self, order: Order) -> Option<OverflowedItems> {
        let first = order.index(locked(&self.first).clone()?);
        let [items, of] = [&self.overflowed, &self.seen].map(|count| count.load(Ordering::Relaxed));
        Some(OverflowedItems { items, of, first })
    }

    fn add(&self, items: usize, found: Overflowed, index_of: impl Fn(usize) -> Vec<usize>) {
        self.seen.fetch_add(items, Ordering::Relaxed);
        let Some(first) = found.first else { return };
        self.overflowed.fetch_add(found.items, Ordering::Relaxed);
        let (index, mut known) = (index_of(first), locked(&self.first));
        if known.as_ref().is_none_or(|known| index < *known) {
            *known = Some(index);
        }
    }
}

#[derive(Debug)]
pub struct CastFill {
    inner: Box<dyn Fill>,
    cast: Cast,
    meta: Meta,
    rule: CastRule,
}

impl CastFill {
    pub fn over(inner: Box<dyn Fill>, dtype: DType, rule: CastRule) -> Result<Box<dyn Fill>, Error> {
        let cast = Cast::new(&inner.meta().dtype, &dtype, rule.lossy)?.with_overflow(rule.overflow);
        if cast.is_identity() {
            return Ok(inner);
        }
        let meta = Meta { dtype, ..inner.meta().clone() };
        Ok(Box::new(Self { inner, cast, meta, rule }))
    }
}

impl Fill for CastFill {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        self.inner.operand(n)
    }

    fn ways(&self, limits: &Limits) -> Vec<usize> {
        self.inner.ways(limits)
    }

    fn holdings(&self, way: usize, limits: &Limits) -> Vec<Holding> {
        self.inner.holdings(way, limits)
    }

    fn reads(&self, way: usize) -> Vec<Access<'_>> {
        self.inner.reads(way)
    }

    fn picked(&self, way: usize, windows: usize, sides: &[usize]) -> Picked {
        self.inner.picked(way, windows, sides)
    }

    fn found(&self) -> Picked {
        self.inner.found()
    }

    fn take(&mut self, way: usize) {
        self.inner.take(way);
    }

    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()> {
        self.inner.hold(holding, limits)
    }

    fn window_bytes(&self, way: usize, threads: usize, machine: &Machine) -> Option<usize> {
        self.inner.window_bytes(way, threads, machine)
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let Scratch { items, inner, .. } = scratch;
        items.resize(region.items() * self.cast.from_size(), self.inner.data().label())?;
        self.inner.fill(region, items, inner.get_or_insert_default())?;
        let index_of = |item| region.index_of(item, &self.meta.shape);
        let found = self.cast.apply_to(items, out).map_err(|failure| {
            let index = self.rule.order.index(index_of(failure.item));
            malformed!("{}: {} at {index:?}", self.inner.data().label(), failure.why)
        })?;
        if let Some(tally) = &self.rule.tally {
            tally.add(region.items(), found, index_of);
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use ndarray::array;

    use super::*;
    use crate::operators::converted::Converted;
    use crate::operators::indexed::{LinkedScatter, ScatterOperands};
    use crate::operators::selection::Selection;
    use tensorop_kernels::item::encoding::Conversion;
    use tensorop_kernels::item::tensor::Tensor;
    use tensorop_kernels::ops::call::ScatterRule;
    use tensorop_kernels::ops::operators::scatter_update;
    use tensorop_kernels::ops::reduction::Repeats;
    use tensorop_kernels::ops::tally::Application;

    #[test]
    fn an_index_tensor_that_changes() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&1_i64.to_le_bytes()).unwrap();
        let meta = Meta::c_order(DType::parse("int64").unwrap(), vec![1]);
        let indices = Source::stored(meta, Arc::new(file.reopen().unwrap()), 0, "INDICES".to_owned()).unwrap();
        let base = Selection::whole(Source::memory(Tensor::from(&array![1_u8, 2]), "DATA".to_owned()));
        let updates = Source::memory(Tensor::from(&array![9_u8]), "UPDATES".to_owned());
        let updates = Converted::new(updates, Conversion::identity(&base.meta().dtype));
        let shapes = scatter_update::check(&[2], &[1], Some(&[1]), 0).unwrap();
        let rule = ScatterRule { repeats: Repeats::LastWins, application: Application::Replace };
        let linked =
            LinkedScatter::new(shapes, ScatterOperands { base, indices, updates }, rule, Limits::default()).unwrap();
        let cast = CastFill::over(Box::new(linked), DType::parse("int16").unwrap(), CastRule::default()).unwrap();
        cast.finish().unwrap();
        file.write_all(b"more").unwrap();
        assert_eq!(cast.finish().unwrap_err().to_string(), "INDICES: changed while it was read");
    }
}
