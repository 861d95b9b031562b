//! Dims.

/// The maximum rank, as in NumPy 2.
pub const MAX_RANK: usize = 64;

/// Returns the bytes of a tensor; `None` if its non-zero dims times the item size exceed `isize::MAX`. Offsets and
/// strides then fit `isize`.
pub fn bytes_of(shape: &[usize], itemsize: usize) -> Option<usize> {
    let mut extent = itemsize.max(1);
    for &dim in shape.iter().filter(|&&d| d != 0) {
        extent = extent.checked_mul(dim).filter(|&e| isize::try_from(e).is_ok())?;
    }
    Some(if itemsize == 0 || shape.contains(&0) { 0 } else { extent })
}

/// Returns the product of dims, saturating.
pub fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1, |all, &dim| all.saturating_mul(dim))
}

/// Returns the index of an item in C order.
pub fn coordinates(mut item: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &dim) in at.iter_mut().zip(shape).rev() {
        *place = item % dim.max(1);
        item /= dim.max(1);
    }
    at
}
