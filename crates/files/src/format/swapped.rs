//! Big-endian bfloat16s, read by position as little-endian ones: their dtype has no byte order, as in NumPy.

use std::io;
use std::sync::Arc;

use crate::error::Error;
use crate::item::dtype::{DType, Kind};
use crate::memory;
use crate::storage::read_at::{Identity, ReadAt, Stamp};

/// Whether big-endian items of this dtype have to be read as [`SwappedWords`].
pub(super) fn needs_swap(dtype: &DType) -> bool {
    *dtype.kind() == Kind::BFloat16
}

/// The words of 2 bytes from `start` on, each with its bytes swapped.
#[derive(Debug)]
pub(super) struct SwappedWords {
    pub bytes: Arc<dyn ReadAt>,
    pub start: u64,
}

impl ReadAt for SwappedWords {
    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.size()?.saturating_sub(self.start) & !1)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let skip = (at % 2) as usize;
        if skip > 0 || !out.len().is_multiple_of(2) {
            let mut whole = memory::zeros((skip + out.len()).next_multiple_of(2)).map_err(Error::from)?;
            self.read_at(&mut whole, at - skip as u64)?;
            out.copy_from_slice(&whole[skip..][..out.len()]);
            return Ok(());
        }
        let begin = self.start.checked_add(at).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.bytes.read_at(out, begin)?;
        out.as_chunks_mut::<2>().0.iter_mut().for_each(|word| word.swap(0, 1));
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.bytes.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.bytes.identity()
    }

    fn costs_requests(&self) -> bool {
        self.bytes.costs_requests()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::read_at::MemoryBytes;

    #[test]
    fn bytes_from_any_place() {
        let view = SwappedWords { bytes: Arc::new(MemoryBytes::new(vec![0, 1, 2, 3, 4, 5, 6, 7])), start: 1 };
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
