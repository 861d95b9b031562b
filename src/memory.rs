//! Memory for what grows with the input: where there is none that is an error, not the end of the program by a signal.

use crate::error::Error;

/// What is said where there is no memory for so many bytes.
pub(crate) fn too_much(bytes: usize) -> String {
    format!("{bytes} bytes are more than there is memory for")
}

/// Makes room for so many items more; of a vector that grows again and again it makes ever more at once.
#[cold]
fn grow<T>(vec: &mut Vec<T>, more: usize) -> Result<(), String> {
    if vec.try_reserve(more).is_ok() {
        return Ok(());
    }
    // where it cannot become twice as large, a little may do
    let least = more.max(vec.len() / 8);
    let bytes = vec.len().saturating_add(least).saturating_mul(size_of::<T>());
    vec.try_reserve_exact(least).map_err(|_| too_much(bytes))
}

/// Makes room for so many items more, if there is none.
#[inline]
pub(crate) fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), String> {
    if vec.capacity() - vec.len() < more { grow(vec, more) } else { Ok(()) }
}

/// Appends an item.
#[inline]
pub(crate) fn push<T>(vec: &mut Vec<T>, item: T) -> Result<(), String> {
    reserve(vec, 1)?;
    vec.push(item);
    Ok(())
}

/// Appends items.
#[cfg(any(test, feature = "formats"))]
#[inline]
pub(crate) fn extend<T: Copy>(vec: &mut Vec<T>, items: &[T]) -> Result<(), String> {
    reserve(vec, items.len())?;
    vec.extend_from_slice(items);
    Ok(())
}

/// An empty vector with room for so many items.
pub(crate) fn of<T>(items: usize) -> Result<Vec<T>, String> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(items).map_err(|_| too_much(items.saturating_mul(size_of::<T>())))?;
    Ok(vec)
}

/// So many zeros.
pub(crate) fn zeros(bytes: usize) -> Result<Vec<u8>, String> {
    let mut vec = of(bytes)?;
    vec.resize(bytes, 0);
    Ok(vec)
}

/// Makes a buffer so many bytes long; what it held is lost. `label` is what messages call what it is for.
///
/// # Errors
/// Not enough memory, which is no reason to be ended by a signal.
pub(crate) fn resize(buffer: &mut Vec<u8>, bytes: usize, label: &str) -> Result<(), Error> {
    if bytes > buffer.capacity() {
        *buffer = of(bytes).map_err(|why| Error::memory(why).within(label))?;
    }
    buffer.resize(bytes, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_memory_for() {
        let message = format!("{} bytes are more than there is memory for", usize::MAX / 16 * 8);
        assert_eq!(of::<u64>(usize::MAX / 16), Err(message.clone()));
        assert_eq!(grow(&mut Vec::<u64>::new(), usize::MAX / 16), Err(message));
        assert_eq!(zeros(3), Ok(vec![0; 3]));
        let mut vec = vec![1];
        assert_eq!(push(&mut vec, 2).and_then(|()| extend(&mut vec, &[3, 4])), Ok(()));
        assert_eq!(vec, [1, 2, 3, 4]);
    }
}
