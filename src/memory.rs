//! Memory for what grows with the input: where there is not enough, that is an error, not the end of the program by a signal.

use std::fmt;

use crate::error::{Context, Error, ErrorKind};

/// There is no memory for so many bytes. It becomes an [`Error`] or the text of a message where it is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory(pub(crate) usize);

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes are more than there is memory for", self.0)
    }
}

impl From<OutOfMemory> for String {
    fn from(refused: OutOfMemory) -> Self {
        refused.to_string()
    }
}

impl From<OutOfMemory> for Error {
    fn from(refused: OutOfMemory) -> Self {
        Self::of(ErrorKind::Memory, refused)
    }
}

/// Makes room for so many more items. A vector that grows again and again gets ever more room at once.
#[cold]
fn grow<T>(vec: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    if vec.try_reserve(more).is_ok() {
        return Ok(());
    }
    // where it cannot become twice as large, a little more may be enough
    let least = more.max(vec.len() / 8);
    let bytes = vec.len().saturating_add(least).saturating_mul(size_of::<T>());
    vec.try_reserve_exact(least).map_err(|_| OutOfMemory(bytes))
}

/// Makes room for so many more items, if there is none.
#[inline]
pub(crate) fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    if vec.capacity() - vec.len() < more { grow(vec, more) } else { Ok(()) }
}

/// Appends an item.
#[inline]
pub(crate) fn push<T>(vec: &mut Vec<T>, item: T) -> Result<(), OutOfMemory> {
    reserve(vec, 1)?;
    vec.push(item);
    Ok(())
}

/// Appends items.
#[cfg(any(test, feature = "files"))]
#[inline]
pub(crate) fn extend<T: Copy>(vec: &mut Vec<T>, items: &[T]) -> Result<(), OutOfMemory> {
    reserve(vec, items.len())?;
    vec.extend_from_slice(items);
    Ok(())
}

/// Returns an empty vector with room for so many items.
pub(crate) fn of<T>(items: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(items).map_err(|_| OutOfMemory(items.saturating_mul(size_of::<T>())))?;
    Ok(vec)
}

/// Returns so many zeros.
pub(crate) fn zeros(bytes: usize) -> Result<Vec<u8>, OutOfMemory> {
    let mut vec = of(bytes)?;
    vec.resize(bytes, 0);
    Ok(vec)
}

/// Returns so many zeros that the system has not been asked to make yet: whoever writes to them first touches the memory, so
/// that several threads that fill it share the cost, which for 32 MiB is twice that of reading as much. It is for a buffer that
/// is made while no other thread takes memory.
pub(crate) fn untouched(bytes: usize) -> Result<Vec<u8>, OutOfMemory> {
    // `vec!` would end the program where there is not enough, so that is found out before; nothing is touched by that
    drop(std::hint::black_box(of::<u8>(bytes)?));
    Ok(vec![0; bytes])
}

/// Makes a buffer so many bytes long; its old content is lost. `label` is what messages call the operand it is for.
///
/// # Errors
/// Not enough memory.
pub(crate) fn resize(buffer: &mut Vec<u8>, bytes: usize, label: &str) -> Result<(), Error> {
    if bytes > buffer.capacity() {
        *buffer = of(bytes).context(label)?;
    }
    buffer.resize(bytes, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_memory_for() {
        let refused = OutOfMemory(usize::MAX / 16 * 8);
        assert_eq!(of::<u64>(usize::MAX / 16), Err(refused));
        assert_eq!(grow(&mut Vec::<u64>::new(), usize::MAX / 16), Err(refused));
        assert_eq!(String::from(OutOfMemory(9)), "9 bytes are more than there is memory for");
        assert_eq!(zeros(3), Ok(vec![0; 3]));
        assert_eq!((untouched(3), untouched(usize::MAX / 2)), (Ok(vec![0; 3]), Err(OutOfMemory(usize::MAX / 2))));
        let mut vec = vec![1];
        assert_eq!(push(&mut vec, 2).and_then(|()| extend(&mut vec, &[3, 4])), Ok(()));
        assert_eq!(vec, [1, 2, 3, 4]);
    }
}
