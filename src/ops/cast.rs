//! An operator that casts the output of another one to other values or to another byte order.

use super::fill::{Fill, Scratch};
use crate::error::{Error, Result, malformed};
use crate::item::cast::{Cast, CastFailure};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::window::Window;
use crate::memory::resize;
use crate::storage::source::Source;

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

    fn operands(&self) -> Vec<&Source> {
        self.inner.operands()
    }

    fn altered(&self) -> Option<&dyn Fill> {
        Some(&*self.inner)
    }

    fn prepare(&mut self) -> Result<()> {
        self.inner.prepare()
    }

    fn fill(&self, window: &Window, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let Scratch { items, inner, .. } = scratch;
        resize(items, window.items() * self.cast.from_size(), self.data().label())?;
        self.inner.fill(window, items, inner.get_or_insert_default())?;
        self.cast.apply_to(items, out).map_err(|CastFailure { item, why }| {
            let at = window.index_of(item);
            malformed!("{}: {why} at {at:?}", self.data().label())
        })
    }
}
