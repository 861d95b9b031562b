//! Computes with the dims of a tensor: how many bytes it takes, and at which index an item is.

/// The most axes a tensor may have (NumPy's own limit since version 2).
pub const MAX_RANK: usize = 64;

/// Returns the bytes that `shape` takes at `itemsize` bytes an item; `None` if the product of its non-zero dims and the
/// item size is beyond `isize::MAX`. Every offset and stride of a tensor that was checked here fits `isize`.
pub fn bytes_of(shape: &[usize], itemsize: usize) -> Option<usize> {
    let mut extent = itemsize.max(1);
    for &dim in shape.iter().filter(|&&d| d != 0) {
        extent = extent.checked_mul(dim).filter(|&e| isize::try_from(e).is_ok())?;
    }
    Some(if itemsize == 0 || shape.contains(&0) { 0 } else { extent })
}

/// Returns the product of dims; the largest number there is, if it is larger.
pub fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1, |all, &dim| all.saturating_mul(dim))
}

/// Returns the index of item number `item` of a tensor in C order, one place for each axis.
pub fn coordinates(mut item: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &dim) in at.iter_mut().zip(shape).rev() {
        *place = item % dim.max(1);
        item /= dim.max(1);
    }
    at
}
