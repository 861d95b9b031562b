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
fn untouched(bytes: usize) -> Result<Vec<u8>, OutOfMemory> {
    // `vec!` would end the program where there is not enough, so that is found out before; nothing is touched by that
    drop(std::hint::black_box(of::<u8>(bytes)?));
    Ok(vec![0; bytes])
}

/// Bytes that begin as zeros, and that are filled and picked from here and there.
///
/// Many of them lie in huge pages, where the system has such for who asks, as Linux has: to touch 32 MiB for the first time
/// takes a fifth of the time then, and an item that is picked from them costs no walk through tables of pages. The system is not
/// asked to make them yet: whoever writes to them first touches the memory, so that several threads that fill them share the cost.
pub(crate) enum LargeBytes {
    /// Few of them, or what was given.
    Heap(Vec<u8>),
    /// Memory of the system for these bytes alone.
    #[cfg(all(target_os = "linux", feature = "files"))]
    Pages(memmap2::MmapMut),
}

impl LargeBytes {
    /// Returns so many zeros.
    pub(crate) fn zeros(bytes: usize) -> Result<Self, OutOfMemory> {
        /// Fewer are not worth a call of the system, and of huge pages the last may be half of all.
        #[cfg(all(target_os = "linux", feature = "files"))]
        const LARGE: usize = 1 << 22;
        #[cfg(all(target_os = "linux", feature = "files"))]
        if bytes >= LARGE {
            let pages = memmap2::MmapMut::map_anon(bytes).map_err(|_| OutOfMemory(bytes))?;
            // a system that has no huge pages has others
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Ok(Self::Pages(pages));
        }
        untouched(bytes).map(Self::Heap)
    }
}

impl std::ops::Deref for LargeBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            #[cfg(all(target_os = "linux", feature = "files"))]
            Self::Pages(pages) => pages,
        }
    }
}

impl std::ops::DerefMut for LargeBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            #[cfg(all(target_os = "linux", feature = "files"))]
            Self::Pages(pages) => pages,
        }
    }
}

impl fmt::Debug for LargeBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
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

/// The bytes of a line of the cache. What the system copies from files and to them begins at one in this program, as vectors of
/// bytes do not: where one end of a copy lies across lines, as the other in a cached page does not, it took 1.25 times as long.
const LINE: usize = 64;

/// Returns how many bytes of what a vector has room for lie before a line.
fn before_line(bytes: &[u8]) -> usize {
    // a machine that does not say where memory lies has it begin anywhere
    bytes.as_ptr().align_offset(LINE).min(LINE - 1)
}

/// Returns so many bytes of a vector, which is made longer for them, from the beginning of a line of the cache on.
pub(crate) fn from_line(bytes: &mut Vec<u8>, count: usize) -> &mut [u8] {
    let room = count + LINE - 1;
    if bytes.len() < room {
        bytes.resize(room, 0);
    }
    let start = before_line(bytes);
    &mut bytes[start..][..count]
}

/// The bytes of a window, which begin at a line of the cache.
#[cfg(any(test, feature = "files"))]
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// The bytes, behind those that lie before the first line.
    bytes: Vec<u8>,
    start: usize,
}

#[cfg(any(test, feature = "files"))]
impl Buffer {
    /// Makes it so many bytes long; its old content is lost. `label` is what messages call the operand it is for.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn resize(&mut self, bytes: usize, label: &str) -> Result<(), Error> {
        if bytes > self.bytes.capacity() - self.start {
            self.bytes = of(bytes.saturating_add(LINE - 1)).context(label)?;
            self.start = before_line(&self.bytes);
        }
        self.bytes.resize(self.start + bytes, 0);
        Ok(())
    }
}

#[cfg(any(test, feature = "files"))]
impl std::ops::Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(any(test, feature = "files"))]
impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_lines() {
        let mut buffer = Buffer::default();
        assert!(buffer.is_empty());
        for bytes in [1, 0, 1000, 63, 64, 65, 100_000, 1 << 20, 7] {
            buffer.resize(bytes, "OUT").unwrap();
            assert_eq!((buffer.len(), buffer.as_ptr().addr() % LINE), (bytes, 0));
            buffer.fill(7);
            let mut scratch = Vec::new();
            let found = from_line(&mut scratch, bytes);
            assert_eq!((found.len(), found.as_ptr().addr() % LINE), (bytes, 0));
        }
        let error = buffer.resize(usize::MAX / 4, "OUT").unwrap_err();
        assert!(error.to_string().starts_with("OUT: "), "{error}");
        assert_eq!(buffer[..], [7; 7]);
    }

    #[test]
    fn what_there_is_no_memory_for() {
        let refused = OutOfMemory(usize::MAX / 16 * 8);
        assert_eq!(of::<u64>(usize::MAX / 16), Err(refused));
        assert_eq!(grow(&mut Vec::<u64>::new(), usize::MAX / 16), Err(refused));
        assert_eq!(String::from(OutOfMemory(9)), "9 bytes are more than there is memory for");
        assert_eq!(zeros(3), Ok(vec![0; 3]));
        assert_eq!((untouched(3), untouched(usize::MAX / 2)), (Ok(vec![0; 3]), Err(OutOfMemory(usize::MAX / 2))));
        for bytes in [0, 3, (1 << 22) - 1, 1 << 22, 10_000_001] {
            let mut zeros = LargeBytes::zeros(bytes).unwrap();
            assert_eq!((zeros.len(), zeros.iter().all(|&byte| byte == 0)), (bytes, true));
            zeros.fill(7);
            assert_eq!(
                (zeros.last().copied(), format!("{zeros:?}")),
                ((bytes > 0).then_some(7), format!("{bytes} bytes"))
            );
        }
        assert_eq!(LargeBytes::zeros(usize::MAX / 2).map(|_| ()), Err(OutOfMemory(usize::MAX / 2)));
        let mut vec = vec![1];
        assert_eq!(push(&mut vec, 2).and_then(|()| extend(&mut vec, &[3, 4])), Ok(()));
        assert_eq!(vec, [1, 2, 3, 4]);
    }
}
