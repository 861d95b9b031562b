//! Gathers items from storage with positional reads.

use super::copy::copy_bytes;
use super::view::View;
use super::walk::{CopyWalk, Step};
use crate::memory::{Buffer, OutOfMemory};
use std::cmp::Reverse;
use std::convert::Infallible;

/// Reading a gap of at most this many bytes costs less than another system call. Pieces of 64 bytes to 4 KiB with gaps
/// of 4 KiB took 0.55 to 0.8 of the time; the break-even is about 7 KiB.
pub const GAP: usize = 4096;

/// If other windows also read the gaps, pieces from this many bytes on are joined only over gaps of up to `SHORT_GAP`
/// or a sixteenth of their length.
pub const LONG_PIECE: usize = 256;

/// Always read gaps up to this size: rows of 312 bytes with gaps of 36, and rows of 536 with gaps of 552, took twice as
/// long one by one.
const SHORT_GAP: usize = 1024;

/// How to read storage in a gather.
#[derive(Clone, Copy)]
pub struct GatherRule<'a> {
    /// Maximum bytes per read, unless one item is larger.
    pub most: usize,
    /// Which gaps are read, too.
    pub gaps: Gaps<'a>,
}

/// The cost of a gap between two pieces.
#[derive(Clone, Copy)]
pub enum Gaps<'a> {
    /// Nobody needs the gap.
    Unwanted,
    /// Other windows read the gap too.
    Wanted,
    /// A server sends the bytes, and wasted bytes are limited. Returns the number of gaps to read.
    Counted(&'a dyn Fn(GapRun) -> usize),
}

/// Equidistant gaps between pieces, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapRun {
    /// The offset of the first gap.
    pub at: u64,
    /// The bytes from one gap to the next.
    pub stride: i64,
    /// The bytes of a gap.
    pub bytes: usize,
    /// How many gaps there are.
    pub count: usize,
}

impl GapRun {
    /// The offsets of the gaps.
    pub fn begins(self) -> impl Iterator<Item = u64> {
        (0..self.count as i64).map(move |n| self.at.wrapping_add_signed(n * self.stride))
    }
}

impl GatherRule<'_> {
    /// Reads of at most so many bytes, which others want the gaps of, too.
    pub const fn of(most: usize) -> Self {
        Self { most, gaps: Gaps::Wanted }
    }

    fn are_joined(self, extent: usize, stride: usize) -> bool {
        let most = match (self.gaps, extent) {
            (Gaps::Counted(_), _) => extent / 16,
            (Gaps::Unwanted, _) | (Gaps::Wanted, ..LONG_PIECE) => GAP,
            (Gaps::Wanted, LONG_PIECE..) => SHORT_GAP.max(extent / 16),
        };
        stride <= extent + most
    }

    fn call(self, steps: &[Step], itemsize: usize) -> ReadCall {
        let (mut outer, mut extent) = (steps.len(), itemsize);
        while let Some(step) = outer.checked_sub(1).map(|axis| steps[axis]) {
            let stride = step.from.unsigned_abs() * itemsize;
            if !self.are_joined(extent, stride) {
                break;
            }
            let places = if extent >= self.most { 1 } else { (self.most - extent) / stride.max(1) + 1 };
            if places < step.dim {
                return ReadCall { outer, chunk: places, extent };
            }
            outer -= 1;
            extent += (step.dim - 1) * stride;
        }
        ReadCall { outer, chunk: 1, extent }
    }
}

struct ReadCall {
    /// The leading axes with one place per call.
    outer: usize,
    /// Places of the last outer axis per call; more than 1 if they are joined.
    chunk: usize,
    extent: usize,
}

/// The walk from `view` to C order, with the axis of the shortest storage stride last.
fn as_stored(view: &View) -> Option<CopyWalk> {
    let mut walk = CopyWalk::new(view, &View::c_order(&view.shape()))?;
    walk.steps.sort_by_key(|step| Reverse(step.from.abs()));
    Some(walk)
}

/// The number of calls that [`gather`] makes, and their bytes, gaps included.
pub fn calls(view: &View, itemsize: usize, reads: GatherRule<'_>) -> [usize; 2] {
    let Some(walk) = as_stored(view) else { return [0, 0] };
    let ReadCall { outer, chunk, extent } = reads.call(&walk.steps, itemsize);
    let Some((last, others)) = walk.steps[..outer].split_last() else { return [1, extent] };
    let rows = others.iter().fold(1, |rows: usize, step| rows.saturating_mul(step.dim));
    let of_row = last.dim.div_ceil(chunk);
    let joined = (last.dim - of_row) * last.from.unsigned_abs() * itemsize;
    [rows.saturating_mul(of_row), rows.saturating_mul(of_row * extent + joined)]
}

/// The bytes of a tile: short pieces are collected and copied to the output together. Single pieces would touch an
/// output cache line per item, and again after its eviction, which made a transpose take four times as long.
const TILE: usize = 1 << 18;

/// Copies the items of `view` to `out` in C order. `read(bytes, position in bytes)` reads contiguous runs directly into
/// `out`.
///
/// # Errors
/// A read fails, or there is not enough memory.
pub fn gather<E: From<OutOfMemory>>(
    view: &View,
    itemsize: usize,
    out: &mut [u8],
    scratch: &mut Buffer,
    reads: GatherRule<'_>,
    mut read: impl FnMut(&mut [u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let Some(walk) = as_stored(view) else { return Ok(()) };
    let ReadCall { outer, chunk, extent } = reads.call(&walk.steps, itemsize);
    let blocks = CopyWalk { steps: walk.steps[..outer].iter().copied().collect(), ..walk };
    let within = &walk.steps[outer..];
    let is_counted = matches!(reads.gaps, Gaps::Counted(_));
    // Tiles gain nothing for long pieces, or if the output order equals storage order.
    if outer > 0 && chunk == 1 && !is_counted && !lies_as_stored(within) && extent <= TILE / 2 {
        return gather_tiles(blocks, within, extent, itemsize, out, scratch, read);
    }
    each_read(&blocks, within, [chunk, extent, itemsize], reads, |from, to, steps| {
        let low = from.wrapping_add_signed(backwards(steps));
        let bytes = bytes_between(steps, itemsize);
        let position = (low * itemsize) as u64;
        if lies_as_stored(steps) {
            return read(&mut out[to * itemsize..][..bytes], position);
        }
        let scratch = scratch.room(bytes)?;
        read(scratch, position)?;
        let (from, to) = views(from - low, to, steps);
        copy_bytes(scratch, &from, out, &to, itemsize);
        Ok(())
    })
}

/// Calls `each` with the offset and the bytes of each read of [`gather`], and `reads` allows gaps as it does there.
pub fn reads(view: &View, itemsize: usize, reads: GatherRule<'_>, mut each: impl FnMut(u64, usize)) {
    let Some(walk) = as_stored(view) else { return };
    let ReadCall { outer, chunk, extent } = reads.call(&walk.steps, itemsize);
    let blocks = CopyWalk { steps: walk.steps[..outer].iter().copied().collect(), ..walk };
    let Ok(()) = each_read(&blocks, &walk.steps[outer..], [chunk, extent, itemsize], reads, |from, _, steps| {
        each((from.wrapping_add_signed(backwards(steps)) * itemsize) as u64, bytes_between(steps, itemsize));
        Ok::<_, Infallible>(())
    });
}

#[inline]
fn bytes_between(steps: &[Step], itemsize: usize) -> usize {
    (steps.iter().map(|s| (s.dim - 1) * s.from.unsigned_abs()).sum::<usize>() + 1) * itemsize
}

/// Calls `block` for each read, with the first places in storage and in the output, and the steps within the read.
fn each_read<E>(
    blocks: &CopyWalk,
    within: &[Step],
    [chunk, extent, itemsize]: [usize; 3],
    reads: GatherRule<'_>,
    mut block: impl FnMut(usize, usize, &[Step]) -> Result<(), E>,
) -> Result<(), E> {
    let neighbours = blocks.steps.last().copied();
    let mut places = |axis: Step, [from, to]: [usize; 2], at: usize, count: usize| {
        let from = from.wrapping_add_signed(axis.from * at as isize);
        let to = to.wrapping_add_signed(axis.to * at as isize);
        if count == 1 {
            block(from, to, within)
        } else {
            block(from, to, &[&[Step { dim: count, ..axis }], within].concat())
        }
    };
    match (neighbours.filter(|_| chunk > 1), neighbours, reads.gaps) {
        (Some(axis), _, _) => blocks.rows(1, |from, to| {
            let each = |at| places(axis, [from, to], at, chunk.min(axis.dim - at));
            (0..axis.dim).step_by(chunk).try_for_each(each)
        }),
        (None, Some(axis), Gaps::Counted(may_read)) => {
            let stride = axis.from.unsigned_abs() * itemsize;
            let most = reads.most.saturating_sub(extent) / stride + 1;
            let behind = if axis.from > 0 { extent } else { extent.wrapping_sub(stride) };
            blocks.rows(1, |from, to| {
                let mut at = 0;
                while at < axis.dim {
                    let low = from.wrapping_add_signed(axis.from * at as isize + backwards(within)) * itemsize;
                    let gaps = GapRun {
                        at: low.wrapping_add(behind) as u64,
                        stride: (axis.from * itemsize as isize) as i64,
                        bytes: stride - extent,
                        count: most.min(axis.dim - at) - 1,
                    };
                    let count = 1 + if gaps.count > 0 { may_read(gaps).min(gaps.count) } else { 0 };
                    places(axis, [from, to], at, count)?;
                    at += count;
                }
                Ok(())
            })
        }
        (None, _, _) => blocks.rows(0, |from, to| block(from, to, within)),
    }
}

#[inline]
fn backwards(steps: &[Step]) -> isize {
    steps.iter().filter(|s| s.from < 0).map(|s| s.from * (s.dim - 1) as isize).sum()
}

#[inline]
fn lies_as_stored(steps: &[Step]) -> bool {
    let dense = |next: isize, s: &Step| (s.from == next && s.to == next).then(|| next * s.dim as isize);
    steps.iter().rev().try_fold(1, dense).is_some()
}

fn views(from: usize, to: usize, steps: &[Step]) -> (View, View) {
    let from = View { offset: from, axes: steps.iter().map(|s| (s.dim, s.from)).collect() };
    (from, View { offset: to, axes: steps.iter().map(|s| (s.dim, s.to)).collect() })
}

/// Gathers pieces of `extent` bytes by [tiles](TILE), along the axes `outer` between pieces and `within` a piece.
fn gather_tiles<E: From<OutOfMemory>>(
    mut outer: CopyWalk,
    within: &[Step],
    extent: usize,
    itemsize: usize,
    out: &mut [u8],
    scratch: &mut Buffer,
    mut read: impl FnMut(&mut [u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let along = (0..outer.steps.len()).min_by_key(|&axis| outer.steps[axis].to).expect("pieces are along an axis");
    let axis = outer.steps[along];
    outer.steps = outer.steps.iter().enumerate().filter(|(n, _)| *n != along).map(|(_, step)| *step).collect();
    let (piece, stack) = (extent / itemsize, (TILE / extent).min(axis.dim));
    let scratch = scratch.room(stack * extent)?;
    let back = backwards(within);
    outer.rows(0, |from, to| {
        (0..axis.dim).step_by(stack).try_for_each(|first| {
            let count = stack.min(axis.dim - first);
            for (n, piece) in scratch.chunks_exact_mut(extent).take(count).enumerate() {
                let low = from.wrapping_add_signed(axis.from * (first + n) as isize + back);
                read(piece, (low * itemsize) as u64)?;
            }
            let steps = [&[Step { dim: count, from: piece as isize, to: axis.to }], within].concat();
            let to = to.wrapping_add_signed(axis.to * first as isize);
            let (from, to) = views(back.unsigned_abs(), to, &steps);
            copy_bytes(scratch, &from, out, &to, itemsize);
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::axis::Span;
    use super::super::tests::{places, span, views};
    use super::*;

    #[test]
    fn gathers_whatever_the_limit() {
        for itemsize in [1, 2, 3, 8, 2000] {
            let storage: Vec<u8> = (0..60).flat_map(|i| vec![i; itemsize]).collect();
            for view in views() {
                let expected: Vec<u8> = places(&view).iter().flat_map(|&p| vec![p as u8; itemsize]).collect();
                for limit in [1, itemsize, 3 * itemsize, 7 * itemsize, 1 << 20] {
                    let mut out = vec![255; expected.len()];
                    let (mut scratch, mut found) = (Buffer::default(), [0, 0]);
                    let read = |bytes: &mut [u8], at: u64| {
                        assert!(bytes.len() <= limit.max(itemsize), "{} bytes at once", bytes.len());
                        found = [found[0] + 1, found[1] + bytes.len()];
                        bytes.copy_from_slice(&storage[at as usize..][..bytes.len()]);
                        Ok::<_, OutOfMemory>(())
                    };
                    gather(&view, itemsize, &mut out, &mut scratch, GatherRule::of(limit), read).unwrap();
                    assert_eq!(out, expected, "{itemsize} bytes, limit {limit}, {view:?}");
                    assert_eq!(calls(&view, itemsize, GatherRule::of(limit)), found, "{itemsize} {limit} {view:?}");
                }
            }
        }
    }

    #[test]
    fn reads_so_many_gaps_as_are_allowed() {
        // allowed wasted bytes, reads, bytes read
        for (allowed, reads, bytes) in [(0, 100, 200), (7, 99, 206), (59, 91, 254), (594, 1, 794), (9999, 1, 794)] {
            for span in [span(0, 1, 100), span(99, -1, 100)] {
                let (view, left) = (View::c_order(&[100, 8]).select(&[span, span_of_two()]), Cell::new(allowed));
                let may_read = |gaps: GapRun| {
                    assert!(gaps.bytes == 6 && gaps.begins().all(|at| at % 8 == 4 && at < 792), "{gaps:?}");
                    let count = gaps.count.min(left.get() / gaps.bytes);
                    left.set(left.get() - count * gaps.bytes);
                    count
                };
                let storage: Vec<u8> = (0..800).map(|at| (at % 251) as u8).collect();
                let (mut out, mut found) = (vec![0; 200], vec![]);
                let how = GatherRule { most: 1 << 20, gaps: Gaps::Counted(&may_read) };
                gather(&view, 1, &mut out, &mut Buffer::default(), how, |bytes, at| {
                    bytes.copy_from_slice(&storage[at as usize..][..bytes.len()]);
                    found.push(bytes.len());
                    Ok::<_, OutOfMemory>(())
                })
                .unwrap();
                assert_eq!((found.len(), found.iter().sum::<usize>()), (reads, bytes), "{allowed}");
                assert_eq!(out, places(&view).iter().map(|&place| storage[place]).collect::<Vec<_>>(), "{allowed}");
            }
        }
    }

    fn span_of_two() -> Span {
        span(2, 1, 2)
    }

    #[test]
    fn reads_no_more_than_wanted() {
        let view = View::c_order(&[1000, 8192]).select(&[span(7, 1, 1), span(0, 1, 8192)]);
        let (mut out, mut reads) = (vec![0; 8192], vec![]);
        gather(&view, 1, &mut out, &mut Buffer::default(), GatherRule::of(1 << 20), |b, at| {
            reads.push((at, b.len()));
            Ok::<_, OutOfMemory>(())
        })
        .unwrap();
        assert_eq!(reads, [(7 * 8192, 8192)]);
    }

    #[test]
    fn pieces_near_each_other_are_read_at_once() {
        // the bytes of a row, the selected bytes, the reads of ten rows with `Wanted` and `Unwanted`
        let rows = [
            (348, 312, [1, 1]),
            (1088, 536, [1, 1]),
            (1536, 512, [1, 1]),
            (1537, 512, [10, 1]),
            (4000, 100, [1, 1]),
            (4096 + 256, 256, [10, 1]),
            (4096 + 257, 256, [10, 10]),
            (4400, 300, [10, 10]),
            (17 << 10, 16 << 10, [1, 1]),
            (18 << 10, 16 << 10, [10, 1]),
            (36 << 10, 32 << 10, [10, 1]),
            (68 << 10, 64 << 10, [1, 1]),
            (69 << 10, 64 << 10, [10, 10]),
        ];
        for (row, wanted, expected) in rows {
            let view = View::c_order(&[10, row]).select(&[span(0, 1, 10), span(0, 1, wanted)]);
            let reads = [Gaps::Wanted, Gaps::Unwanted].map(|gaps| {
                let (mut out, mut reads) = (vec![0; 10 * wanted], 0);
                gather(&view, 1, &mut out, &mut Buffer::default(), GatherRule { most: 1 << 20, gaps }, |_, _| {
                    reads += 1;
                    Ok::<_, OutOfMemory>(())
                })
                .unwrap();
                reads
            });
            assert_eq!(reads, expected, "{wanted} of {row}");
        }
    }
}
