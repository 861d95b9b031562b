//! An operator that casts the output of another one to other values or to another byte order.

use super::access::Access;
use super::fill::{Fill, Limits, Region, Scratch};
use super::machine::Machine;
use crate::error::{Error, Result, malformed};
use crate::item::cast::Cast;
use crate::item::dtype::DType;
use crate::item::meta::Meta;

/// The output of another operator with its items cast.
#[derive(Debug)]
pub struct CastFill {
    inner: Box<dyn Fill>,
    cast: Cast,
    meta: Meta,
}

impl CastFill {
    /// Casts the items of `inner` to `dtype`, and returns `inner` itself if they have it already. With `lossy` values may
    /// lose digits.
    ///
    /// # Errors
    /// A cast that [`Cast::new`] refuses.
    pub fn over(inner: Box<dyn Fill>, dtype: DType, lossy: bool) -> Result<Box<dyn Fill>, Error> {
        let cast = Cast::new(&inner.meta().dtype, &dtype, lossy)?;
        if cast.is_identity() {
            return Ok(inner);
        }
        let meta = Meta { dtype, ..inner.meta().clone() };
        Ok(Box::new(Self { inner, cast, meta }))
    }
}

impl Fill for CastFill {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn reads(&self) -> Vec<Access<'_>> {
        self.inner.reads()
    }

    fn window_bytes(&self, threads: usize, machine: &Machine) -> Option<usize> {
        self.inner.window_bytes(threads, machine)
    }

    fn prepare(&mut self, limits: Limits) -> Result<()> {
        self.inner.prepare(limits)
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let Scratch { items, inner, .. } = scratch;
        items.resize(region.items() * self.cast.from_size(), self.inner.data().label())?;
        self.inner.fill(region, items, inner.get_or_insert_default())?;
        self.cast.apply_to(items, out).map_err(|failure| {
            let index = region.index_of(failure.item, &self.meta.shape);
            malformed!("{}: {} at {index:?}", self.inner.data().label(), failure.why)
        })
    }
}
