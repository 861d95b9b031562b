//! Dims: how many bytes they take, and which place an item has.

/// The most axes a tensor may have (NumPy's own limit since version 2).
pub const MAX_RANK: usize = 64;

/// The bytes that `shape` takes at `itemsize` bytes an item; `None` if the product of its non-zero dims and the
/// item size is beyond `isize::MAX`, so that every offset and stride of a tensor that passed here fits `isize`.
pub fn bytes_of(shape: &[usize], itemsize: usize) -> Option<usize> {
    let mut extent = itemsize.max(1);
    for &dim in shape.iter().filter(|&&d| d != 0) {
        extent = extent.checked_mul(dim).filter(|&e| isize::try_from(e).is_ok())?;
    }
    Some(if itemsize == 0 || shape.contains(&0) { 0 } else { extent })
}

/// The index of item number `item` of a tensor in C order, one place for each axis.
pub fn coordinates(mut item: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &dim) in at.iter_mut().zip(shape).rev() {
        *place = item % dim.max(1);
        item /= dim.max(1);
    }
    at
}
