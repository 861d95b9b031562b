//! Items gathered from storage that is read by position.

use super::view::View;
use super::walk::{Step, Walk, copy_bytes};

/// The gap between wanted bytes, in bytes, up to which reading through it costs less than another system call.
pub(crate) const GAP: usize = 4096;

/// Gathers the items of `itemsize` bytes that `view` shows into `out`, in C order, reading storage by
/// `read(bytes, position in bytes)`: whole runs straight to their place, scattered items through `scratch`, never
/// more than `limit` bytes (or one item) at once.
///
/// # Errors
/// Those of `read`.
pub fn gather<E>(
    view: &View,
    itemsize: usize,
    out: &mut [u8],
    scratch: &mut Vec<u8>,
    limit: usize,
    mut read: impl FnMut(&mut [u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let dense = View::c_order(&view.shape());
    let Some(mut walk) = Walk::new(view, &dense) else { return Ok(()) };
    // storage order: the axis with the smallest stride of the source is the last
    walk.steps.sort_by_key(|step| std::cmp::Reverse(step.from.abs()));
    let mut extent = itemsize;
    let mut inner = walk.steps.len();
    let mut chunk = 1; // how many places of the axis before the inner ones are read at once
    while inner > 0 {
        let step = walk.steps[inner - 1];
        let stride = step.from.unsigned_abs() * itemsize;
        if stride > extent + GAP {
            break;
        }
        let places = if extent >= limit { 1 } else { (limit - extent) / stride.max(1) + 1 };
        if places < step.dim {
            chunk = places;
            break;
        }
        inner -= 1;
        extent += (step.dim - 1) * stride;
    }
    let blocks = Walk { steps: walk.steps[..inner].to_vec(), ..walk };
    let within = &walk.steps[inner..];
    let mut result = Ok(());
    // one block: `count` places of axis `chunked` (if any) and all of the axes inside it
    let mut block = |from: usize, to: usize, chunked: Option<Step>| {
        let steps = chunked.into_iter().chain(within.iter().copied());
        let axes: Vec<Step> = steps.collect();
        let low = axes
            .iter()
            .filter(|s| s.from < 0)
            .fold(from, |at, s| at.wrapping_add_signed(s.from * (s.dim - 1) as isize));
        let bytes = axes.iter().map(|s| (s.dim - 1) * s.from.unsigned_abs()).sum::<usize>() * itemsize + itemsize;
        let position = (low * itemsize) as u64;
        // a block that lies in the output as it lies in storage needs no second copy
        if axes
            .iter()
            .rev()
            .try_fold(1, |next, s| (s.from == next && s.to == next).then(|| next * s.dim as isize))
            .is_some()
        {
            return read(&mut out[to * itemsize..][..bytes], position);
        }
        if scratch.len() < bytes {
            scratch.resize(bytes, 0);
        }
        read(&mut scratch[..bytes], position)?;
        let from = View { offset: from - low, axes: axes.iter().map(|s| (s.dim, s.from)).collect() };
        let to = View { offset: to, axes: axes.iter().map(|s| (s.dim, s.to)).collect() };
        copy_bytes(&scratch[..bytes], &from, out, &to, itemsize);
        Ok(())
    };
    let chunked = if chunk > 1 { blocks.steps.last().copied() } else { None };
    let mut visit = |from: usize, to: usize| {
        if result.is_err() {
            return;
        }
        result = match chunked {
            None => block(from, to, None),
            Some(axis) => (0..axis.dim).step_by(chunk).try_for_each(|at| {
                let from = from.wrapping_add_signed(axis.from * at as isize);
                let to = to.wrapping_add_signed(axis.to * at as isize);
                block(from, to, Some(Step { dim: chunk.min(axis.dim - at), ..axis }))
            }),
        };
    };
    blocks.rows(usize::from(chunked.is_some()), &mut visit);
    result
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{places, span, views};
    use super::*;

    #[test]
    fn gathers_whatever_the_limit() {
        for itemsize in [1, 2, 3, 8, 2000] {
            let storage: Vec<u8> = (0..60).flat_map(|i| vec![i; itemsize]).collect();
            for view in views() {
                let expected: Vec<u8> = places(&view).iter().flat_map(|&p| vec![p as u8; itemsize]).collect();
                for limit in [1, itemsize, 3 * itemsize, 7 * itemsize, 1 << 20] {
                    let mut out = vec![255; expected.len()];
                    let mut scratch = Vec::new();
                    let read = |bytes: &mut [u8], at: u64| {
                        assert!(bytes.len() <= limit.max(itemsize), "{} bytes at once", bytes.len());
                        bytes.copy_from_slice(&storage[at as usize..][..bytes.len()]);
                        Ok::<_, ()>(())
                    };
                    gather(&view, itemsize, &mut out, &mut scratch, limit, read).unwrap();
                    assert_eq!(out, expected, "{itemsize} bytes, limit {limit}, {view:?}");
                }
            }
        }
    }

    #[test]
    fn reads_no_more_than_wanted() {
        let view = View::c_order(&[1000, 8192]).select(&[span(7, 1, 1), span(0, 1, 8192)]);
        let (mut out, mut reads) = (vec![0; 8192], vec![]);
        gather(&view, 1, &mut out, &mut Vec::new(), 1 << 20, |b, at| {
            reads.push((at, b.len()));
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(reads, [(7 * 8192, 8192)]);
    }
}
