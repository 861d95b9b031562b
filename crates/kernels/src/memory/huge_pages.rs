//! Memory in huge pages, which the standard library cannot ask for.

use memmap2::{Advice, MmapMut};

use super::{Memory, OutOfMemory};

/// Returns zeros in huge pages, if the system has any.
pub(super) fn zeros(bytes: usize) -> Result<Option<Memory>, OutOfMemory> {
    let pages = MmapMut::map_anon(bytes).map_err(|_| OutOfMemory(bytes))?;
    let _ = pages.advise(Advice::HugePage);
    Ok(Some(Box::new(pages)))
}
