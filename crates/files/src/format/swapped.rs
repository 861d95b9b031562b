//! Big-endian bfloat16s, read by position as little-endian ones: their dtype has no byte order, as in NumPy.

use std::io;
use std::sync::Arc;

use super::units::Units;
use crate::error::Result;
use crate::item::dtype::{DType, Kind};
use crate::storage::read_at::{PackedFile, Packing, ReadAt};

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

impl Units for SwappedWords {
    fn stored(&self) -> &Arc<dyn ReadAt> {
        &self.bytes
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
    use crate::format::units::ByUnits;
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
