//! Bytes by position that are computed from others in units: items that are swapped, lie apart or are in blocks.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::memory;
use crate::storage::read_at::{EncodedBytes, Identity, ReadAt, Stamp};

/// A rule with the bytes that it is for.
pub(super) trait Units: Debug + Send + Sync {
    /// What the units are computed from.
    fn stored(&self) -> &Arc<dyn ReadAt>;

    /// The bytes of a unit.
    fn unit(&self) -> usize;

    /// The bytes of all units.
    fn size(&self) -> io::Result<u64>;

    /// Computes whole units from unit `first` on.
    ///
    /// # Errors
    /// The stored bytes cannot be read.
    fn compute(&self, out: &mut [u8], first: usize) -> Result<()>;

    /// As in [`ReadAt`].
    fn as_encoded(&self) -> Option<EncodedBytes<'_>> {
        None
    }
}

/// Reads also parts of units.
#[derive(Debug)]
pub(super) struct ByUnits<T>(pub T);

impl<T: Units> ReadAt for ByUnits<T> {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        if self.size()?.checked_sub(at).is_none_or(|left| left < out.len() as u64) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let unit = self.0.unit();
        let (first, skip) = ((at / unit as u64) as usize, (at % unit as u64) as usize);
        if skip == 0 && out.len().is_multiple_of(unit) {
            return Ok(self.0.compute(out, first)?);
        }
        let mut whole = memory::zeros((skip + out.len()).next_multiple_of(unit)).map_err(Error::from)?;
        self.0.compute(&mut whole, first)?;
        out.copy_from_slice(&whole[skip..][..out.len()]);
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.0.stored().stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.0.stored().identity()
    }

    fn as_encoded(&self) -> Option<EncodedBytes<'_>> {
        self.0.as_encoded()
    }

    fn costs_requests(&self) -> bool {
        self.0.stored().costs_requests()
    }
}
