//! Bytes by position that are computed from others in units: items that are swapped, narrow, quantised, in blocks or apart.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use crate::storage::read_at::{EncodedBytes, Identity, PackedFile, Packing, ReadAt, Stamp};
use crate::storage::source::Source;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::memory;

/// The source of units.
pub(crate) enum Origin<'a> {
    Bytes(&'a Arc<dyn ReadAt>),
    /// Other tensors, and the identity of the file of the first.
    Tensors(Identity, Vec<&'a Source>),
}

/// A rule with the bytes that it is for.
pub(crate) trait Units: Debug + Send + Sync {
    fn origin(&self) -> Origin<'_>;

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

    /// As in [`ReadAt`].
    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        None
    }
}

/// The bytes by position that a rule computes.
#[derive(Debug)]
pub(crate) struct ByUnits<T>(pub T);

impl<T: Units> ByUnits<T> {
    /// Reads bytes that may begin and end within a unit.
    fn read_part(&self, out: &mut [u8], at: u64) -> Result<()> {
        let unit = self.0.unit();
        let skip = (at % unit as u64) as usize;
        let mut whole = memory::zeros((skip + out.len()).next_multiple_of(unit))?;
        self.0.compute(&mut whole, (at / unit as u64) as usize)?;
        out.copy_from_slice(&whole[skip..][..out.len()]);
        Ok(())
    }
}

impl<T: Units> ReadAt for ByUnits<T> {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        if self.size()?.checked_sub(at).is_none_or(|left| left < out.len() as u64) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let unit = self.0.unit() as u64;
        let head = at.next_multiple_of(unit) - at;
        let tail = (at + out.len() as u64) % unit;
        // a request costs more than the copy of all bytes
        if head >= out.len() as u64 || head + tail > 0 && self.costs_requests() {
            return Ok(self.read_part(out, at)?);
        }
        let (first, last) = ((at + head) / unit, at + out.len() as u64 - tail);
        let (head, rest) = out.split_at_mut(head as usize);
        let (whole, tail) = rest.split_at_mut(rest.len() - tail as usize);
        for (out, at) in [(head, at), (tail, last)].into_iter().filter(|(out, _)| !out.is_empty()) {
            self.read_part(out, at)?;
        }
        Ok(self.0.compute(whole, first as usize)?)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        match self.0.origin() {
            Origin::Bytes(bytes) => bytes.stamp(),
            Origin::Tensors(_, tensors) => {
                tensors.into_iter().try_for_each(Source::finish)?;
                Ok(Stamp::Revision(0))
            }
        }
    }

    fn first_stamp(&self) -> io::Result<Stamp> {
        if let Origin::Bytes(bytes) = self.0.origin() { bytes.first_stamp() } else { self.stamp() }
    }

    fn stamps(&self) -> io::Result<Vec<Stamp>> {
        match self.0.origin() {
            Origin::Bytes(bytes) => bytes.stamps(),
            Origin::Tensors(_, tensors) => {
                let each = tensors.into_iter().map(Source::stamps).collect::<Result<Vec<_>>>()?;
                Ok(each.concat())
            }
        }
    }

    fn identity(&self) -> io::Result<Identity> {
        match self.0.origin() {
            Origin::Bytes(bytes) => bytes.identity(),
            Origin::Tensors(identity, _) => Ok(identity),
        }
    }

    fn as_encoded(&self) -> Option<EncodedBytes<'_>> {
        self.0.as_encoded()
    }

    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        self.0.as_packed_file()
    }

    fn costs_requests(&self) -> bool {
        match self.0.origin() {
            Origin::Bytes(bytes) => bytes.costs_requests(),
            Origin::Tensors(_, tensors) => tensors.into_iter().any(Source::costs_requests),
        }
    }
}

/// Whether big-endian items of this dtype have to be read as [`SwappedWords`].
pub(crate) fn needs_swap(dtype: &DType) -> bool {
    *dtype.kind() == Kind::BFloat16
}

/// The words of 2 bytes from `start` on, each with its bytes swapped.
#[derive(Debug)]
pub(crate) struct SwappedWords {
    pub bytes: Arc<dyn ReadAt>,
    pub start: u64,
}

impl Units for SwappedWords {
    fn origin(&self) -> Origin<'_> {
        Origin::Bytes(&self.bytes)
    }

    fn unit(&self) -> usize {
        2
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.size()?.saturating_sub(self.start) & !1)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        self.bytes.read_at(out, self.start + 2 * first as u64)?;
        out.as_chunks_mut::<2>().0.iter_mut().for_each(|word| word.swap(0, 1));
        Ok(())
    }

    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        Some(PackedFile { file: self.bytes.as_file()?, start: self.start, packing: Packing::SwappedWords })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::units::ByUnits;
    use crate::storage::read_at::MemoryBytes;

    #[test]
    fn bytes_from_any_place() {
        let bytes = Arc::new(MemoryBytes::new(vec![0, 1, 2, 3, 4, 5, 6, 7]));
        let view = ByUnits(SwappedWords { bytes, start: 1 });
        assert_eq!(view.size().expect("a size"), 6);
        let all = [2, 1, 4, 3, 6, 5];
        for (at, len) in (0..=6_usize).flat_map(|at| (0..=6 - at).map(move |len| (at, len))) {
            let mut out = vec![9; len];
            view.read_at(&mut out, at as u64).expect("words");
            assert_eq!(out, all[at..][..len], "{len} bytes from {at}");
        }
        assert!(view.read_at(&mut [0; 4], 6).is_err());
        assert!(view.read_at(&mut [0; 1], u64::MAX).is_err());
    }
}
