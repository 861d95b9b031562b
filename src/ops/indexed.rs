//! The kernel that ScatterUpdate and ScatterND share: blocks of items go to places that index numbers name.
//!
//! `data` is seen as `[outer, dim, block]`, `updates` as `[outer, count, block]`; update number `position` of each
//! outer place belongs to place `target` of its `dim`.

use std::fmt;
use std::sync::Mutex;

use crate::axis::resolve_index;
use crate::dtype::Kind;
use crate::error::{Error, Subject};
use crate::parallel::on_threads;
use crate::window::Window;

/// A number that an index tensor may hold.
pub trait Index: Copy + fmt::Display {
    /// The number as int64; `None` beyond it.
    fn to_i64(self) -> Option<i64>;
}

macro_rules! index {
    ($($type:ty)+) => {$(
        impl Index for $type {
            #[inline]
            fn to_i64(self) -> Option<i64> {
                self.try_into().ok()
            }
        }
    )+};
}

index!(i8 i16 i32 i64 u8 u16 u32 u64 isize usize);

/// What index numbers are handed to, in C order.
pub trait TakeIndices {
    /// Takes the next numbers.
    ///
    /// # Errors
    /// A number that names no place, with its position.
    fn take<I: Index>(&mut self, numbers: impl IntoIterator<Item = I>) -> Result<(), Error>;
}

/// A scatter whose shapes are checked and whose indices are being read, perhaps in parts on several threads.
pub trait Resolve: TakeIndices + Sized + Send + Sync {
    /// For `data` that is changed where it lies in Fortran order: its axes reversed, in C order. No number has been
    /// taken yet.
    #[must_use]
    fn reversed(self) -> Self;

    /// The numbers of an index tuple.
    fn width(&self) -> usize;

    /// The shape that `updates` has.
    fn updates_shape(&self) -> &[usize];

    /// The places outside and the items inside the places that indices name, as storage has them.
    fn sides(&self) -> (usize, usize);

    /// One that takes the numbers from index tuple `first` on.
    fn part(&self, first: usize) -> Self;

    /// Makes room for so many tuples more.
    ///
    /// # Errors
    /// Not enough memory.
    fn reserve(&mut self, tuples: usize) -> Result<(), Error>;

    /// Adds what a part took. Parts are added in the order of their tuples.
    fn join(&mut self, part: Self);
}

/// Hands over numbers of an integer kind as little-endian bytes.
///
/// # Errors
/// Those of [`TakeIndices::take`]; a kind that is no integer.
pub fn take_bytes(taker: &mut impl TakeIndices, kind: &Kind, bytes: &[u8]) -> Result<(), Error> {
    macro_rules! take {
        ($type:ty) => {
            taker.take(bytes.as_chunks::<{ size_of::<$type>() }>().0.iter().map(|word| <$type>::from_le_bytes(*word)))
        };
    }
    match kind {
        Kind::Int8 => take!(i8),
        Kind::Int16 => take!(i16),
        Kind::Int32 => take!(i32),
        Kind::Int64 => take!(i64),
        Kind::UInt8 => take!(u8),
        Kind::UInt16 => take!(u16),
        Kind::UInt32 => take!(u32),
        Kind::UInt64 => take!(u64),
        _ => Err(Error::new(Subject::Indices, "not integers")),
    }
}

/// Collects index numbers, in order, as places of a tensor whose index axes are `dims`.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    /// For each number of an index tuple: the dim of its axis, and the places from one of its values to the next.
    axes: Vec<(usize, usize)>,
    /// All places.
    places: usize,
    negative: bool,
    /// Numbers seen so far, those before a part's first included.
    seen: usize,
    partial: usize,
    pairs: Pairs,
}

/// Pairs of target and position in the order of positions, packed into one word, target first; in half the memory
/// where both fit 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pairs {
    Small(Vec<u64>),
    Large(Vec<u128>),
}

/// A number that names no place: which one it was, and how it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadIndex {
    /// Its position among all numbers of the index tensor.
    pub position: usize,
    /// The number.
    pub value: String,
}

impl Targets {
    /// For `count` tuples of one number for each of `dims`. Numbers count from the end where `negative` ones are
    /// allowed. In a tensor stored in Fortran order (`reversed`) the first axis is the one whose places are neighbours.
    pub fn new(dims: &[usize], count: usize, negative: bool, reversed: bool) -> Self {
        let mut places = 1_usize;
        let mut axis = |&dim: &usize| {
            let stride = places;
            places = places.saturating_mul(dim);
            (dim, stride)
        };
        let axes = if reversed {
            dims.iter().map(axis).collect()
        } else {
            let mut axes: Vec<_> = dims.iter().rev().map(&mut axis).collect();
            axes.reverse();
            axes
        };
        let small = u32::try_from(places).is_ok() && u32::try_from(count).is_ok();
        let pairs = if small { Pairs::Small(Vec::new()) } else { Pairs::Large(Vec::new()) };
        Self { axes, places, negative, partial: 0, seen: 0, pairs }
    }

    /// The same for the numbers from tuple number `first` on.
    pub fn part(&self, first: usize) -> Self {
        let pairs = match self.pairs {
            Pairs::Small(_) => Pairs::Small(Vec::new()),
            Pairs::Large(_) => Pairs::Large(Vec::new()),
        };
        Self { axes: self.axes.clone(), partial: 0, seen: first * self.axes.len(), pairs, ..*self }
    }

    /// Makes room for so many tuples more.
    pub fn reserve(&mut self, tuples: usize) -> Result<(), Error> {
        let reserved = match &mut self.pairs {
            Pairs::Small(pairs) => pairs.try_reserve_exact(tuples),
            Pairs::Large(pairs) => pairs.try_reserve_exact(tuples),
        };
        reserved.map_err(|_| {
            Error::new(Subject::Indices, format!("{tuples} index tuples are more than there is memory for"))
        })
    }

    /// Takes the next numbers.
    pub fn extend<I: Index>(&mut self, numbers: impl IntoIterator<Item = I>) -> Result<(), BadIndex> {
        let width = self.axes.len();
        let mut component = self.seen % width.max(1);
        let mut numbers = numbers.into_iter();
        numbers.try_for_each(|number| {
            let (dim, stride) = self.axes[component];
            let wanted = number.to_i64().filter(|&n| self.negative || n >= 0);
            let Some(place) = wanted.and_then(|n| resolve_index(n, dim)) else {
                return Err(BadIndex { position: self.seen, value: number.to_string() });
            };
            self.partial += place * stride;
            self.seen += 1;
            component += 1;
            if component == width {
                let (target, position) = (std::mem::take(&mut self.partial), self.seen / width - 1);
                component = 0;
                match &mut self.pairs {
                    Pairs::Small(pairs) => pairs.push(Word::pack(target, position)),
                    Pairs::Large(pairs) => pairs.push(Word::pack(target, position)),
                }
            }
            Ok(())
        })
    }
}

/// How the pairs of a scatter are to be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// Whether of one target only the last pair counts.
    pub unique: bool,
    /// Whether a target may occur twice.
    pub repeats: bool,
    /// How many neighbouring places share a group, at least.
    pub group: usize,
    /// The number of tuples.
    pub count: usize,
}

/// The pairs of several parts of an index tensor, which follow each other, grouped by their targets.
///
/// # Errors
/// If no index may be repeated: the earliest position that repeats one, and the position it repeats.
pub(crate) fn group(parts: Vec<Targets>, keep: Keep) -> Result<Entries, (usize, usize)> {
    let places = parts.first().map_or(0, |part| part.places);
    if parts.first().is_none_or(|part| part.axes.is_empty()) {
        // tuples of no number all name the whole tensor
        if !keep.repeats && keep.count > 1 {
            return Err((1, 0));
        }
        let from = if keep.unique { keep.count.saturating_sub(1) } else { 0 };
        return Ok(Entries::Whole { from, to: keep.count });
    }
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for part in parts {
        match part.pairs {
            Pairs::Small(pairs) => small.push(pairs),
            Pairs::Large(pairs) => large.push(pairs),
        }
    }
    if large.is_empty() {
        Groups::new(small, places, keep).map(Entries::Small)
    } else {
        Groups::new(large, places, keep).map(Entries::Large)
    }
}

/// An unsigned word that packs target and position.
pub(crate) trait Word: Copy + Ord + Send {
    fn pack(target: usize, position: usize) -> Self;
    fn target(self) -> usize;
    fn position(self) -> usize;
    /// The target divided by `size`.
    fn group(self, size: usize) -> usize;
}

impl Word for u64 {
    fn pack(target: usize, position: usize) -> Self {
        (target as u64) << 32 | position as u64
    }

    fn target(self) -> usize {
        (self >> 32) as usize
    }

    fn position(self) -> usize {
        self as u32 as usize
    }

    fn group(self, size: usize) -> usize {
        // a division of 32 bits takes a fraction of the time of one of 64
        u32::try_from(size).map_or(0, |size| ((self >> 32) as u32 / size) as usize)
    }
}

impl Word for u128 {
    fn pack(target: usize, position: usize) -> Self {
        (target as u128) << 64 | position as u128
    }

    fn target(self) -> usize {
        (self >> 64) as usize
    }

    fn position(self) -> usize {
        self as u64 as usize
    }

    fn group(self, size: usize) -> usize {
        self.target() / size
    }
}

/// Pairs grouped by neighbouring targets. Those of one target stay in the order of their positions: the parts follow
/// each other, and so do the pairs of a group in each part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups<W> {
    /// The targets of a group.
    size: usize,
    /// For each part where its groups begin (and where the last ends), and its pairs.
    parts: Vec<(Vec<usize>, Vec<W>)>,
}

impl<W: Word> Groups<W> {
    fn new(mut parts: Vec<Vec<W>>, places: usize, keep: Keep) -> Result<Self, (usize, usize)> {
        if !keep.repeats {
            // next to each other, the second pair of a target is the earliest that repeats, and it repeats the first
            let mut all = if parts.len() == 1 { std::mem::take(&mut parts[0]) } else { parts.concat() };
            all.sort_unstable();
            let runs = all.chunk_by(|a, b| a.target() == b.target()).filter(|run| run.len() > 1);
            if let Some(earliest) = runs.map(|run| (run[1].position(), run[0].position())).min() {
                return Err(earliest);
            }
            parts = vec![all];
        }
        if keep.unique && keep.count > places {
            // many must lose: what is left is one pair a place at most
            let mut last = vec![usize::MAX; places];
            parts.iter().flatten().for_each(|pair| last[pair.target()] = pair.position());
            let kept = last.iter().enumerate().filter(|(_, position)| **position != usize::MAX);
            parts = vec![kept.map(|(target, &position)| W::pack(target, position)).collect()];
        }
        // not many more groups than pairs, or their beginnings would take more memory than they
        let size = keep.group.max(places / (keep.count / 2 + 1)).clamp(1, places.max(1));
        let groups = places.div_ceil(size).max(1);
        let parts: Vec<_> = parts.into_iter().map(Mutex::new).collect();
        let parts = on_threads(parts.len(), |part| {
            let pairs = parts[part].lock().map(|mut pairs| std::mem::take(&mut *pairs)).unwrap_or_default();
            distribute(pairs, groups, size)
        });
        Ok(Self { size, parts })
    }

    /// The pairs of targets in `lo..hi`.
    fn within(&self, lo: usize, hi: usize) -> impl Iterator<Item = W> + '_ {
        let parts = self
            .parts
            .iter()
            .filter(move |_| lo < hi)
            .flat_map(move |(starts, pairs)| &pairs[starts[lo / self.size]..starts[(hi - 1) / self.size + 1]]);
        parts.copied().filter(move |pair| (lo..hi).contains(&pair.target()))
    }

    fn visit(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        self.within(lo, hi).for_each(|pair| each(pair.target(), pair.position()));
    }

    fn any(&self, lo: usize, hi: usize) -> bool {
        self.within(lo, hi).next().is_some()
    }
}

/// A stable counting sort by group. Where there is no memory for a second copy, and for pairs of 16 bytes, the pairs
/// are sorted where they are: slower, and in the order of positions too, since no two are equal.
fn distribute<W: Word>(mut pairs: Vec<W>, groups: usize, size: usize) -> (Vec<usize>, Vec<W>) {
    let mut starts = vec![0; groups + 1];
    let mut sorted = true;
    let mut before = 0;
    for pair in &pairs {
        let group = pair.group(size);
        starts[group + 1] += 1;
        sorted &= before <= group;
        before = group;
    }
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    if sorted {
        return (starts, pairs);
    }
    let mut out = Vec::new();
    if size_of::<W>() > 8 || out.try_reserve_exact(pairs.len()).is_err() {
        pairs.sort_unstable();
        return (starts, pairs);
    }
    let mut next = starts.clone();
    out.resize(pairs.len(), W::pack(0, 0));
    for pair in pairs {
        let place = &mut next[pair.group(size)];
        out[*place] = pair;
        *place += 1;
    }
    (starts, out)
}

/// Pairs of target and position, those of one target in the order in which they apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    Small(Groups<u64>),
    Large(Groups<u128>),
    /// Positions `from..to`, all of target 0.
    Whole {
        from: usize,
        to: usize,
    },
}

impl Entries {
    /// Calls `each(target, position)` for the targets in `lo..hi`.
    fn visit(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        match self {
            Entries::Small(groups) => groups.visit(lo, hi, each),
            Entries::Large(groups) => groups.visit(lo, hi, each),
            Entries::Whole { from, to } if lo == 0 && hi > 0 => (*from..*to).for_each(|position| each(0, position)),
            Entries::Whole { .. } => {}
        }
    }

    /// Whether there is a target in `lo..hi`.
    fn any(&self, lo: usize, hi: usize) -> bool {
        match self {
            Entries::Small(groups) => groups.any(lo, hi),
            Entries::Large(groups) => groups.any(lo, hi),
            Entries::Whole { from, to } => lo == 0 && hi > 0 && from < to,
        }
    }
}

/// A resolved ScatterUpdate or ScatterND.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scatter {
    pub(crate) outer: usize,
    pub(crate) dim: usize,
    /// Items.
    pub(crate) block: usize,
    pub(crate) count: usize,
    pub(crate) entries: Entries,
    pub(crate) updates_shape: Vec<usize>,
    /// The axes of `updates` in the order `[outer, count, block]`, where they do not come so.
    pub(crate) updates_axes: Option<Vec<usize>>,
}

/// A run of items that a window takes from `updates`; all three numbers are in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where it goes in the window.
    pub to: usize,
    /// Where it begins in `updates`, which are in the order `[outer, count, block]`.
    pub from: usize,
    /// How long it is.
    pub len: usize,
}

impl Scatter {
    /// The number of index tuples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The shape that `updates` has.
    pub fn updates_shape(&self) -> &[usize] {
        &self.updates_shape
    }

    /// The axes of `updates` as [`runs`](Self::runs) count its items, where that is not C order: data in Fortran
    /// order that is changed where it lies has its updates in the order of its storage.
    pub fn updates_axes(&self) -> Option<&[usize]> {
        self.updates_axes.as_deref()
    }

    /// The part of `updates` in which all runs of a window lie: its first item and the number of its items.
    pub fn slab(&self, window: &Window) -> (usize, usize) {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        let outers = start / place..end.div_ceil(place);
        let items = self.count.saturating_mul(self.block);
        (outers.start.saturating_mul(items), outers.len().saturating_mul(items))
    }

    /// Calls `each(first, last)` with the numbers of the first and last item of every block that changes.
    pub fn places(&self, mut each: impl FnMut(usize, usize)) {
        if self.block == 0 || self.dim == 0 {
            return;
        }
        for outer in 0..self.outer {
            let base = outer * self.dim * self.block;
            self.entries.visit(0, self.dim, |target, _| {
                let first = base + target * self.block;
                each(first, first + self.block - 1);
            });
        }
    }

    /// Whether anything changes in a window.
    pub fn touches(&self, window: &Window) -> bool {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        start < end
            && (start / place..end.div_ceil(place)).any(|outer| {
                let base = outer * place;
                let (lo, hi) = (start.max(base) - base, end.min(base + place) - base);
                self.entries.any(lo / self.block, hi.div_ceil(self.block))
            })
    }

    /// Calls `each` for every run that `window` takes from `updates`, in the order in which they apply.
    pub fn runs(&self, window: &Window, mut each: impl FnMut(Run)) {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        if start == end {
            return;
        }
        for outer in start / place..end.div_ceil(place) {
            let base = outer * place;
            let (lo, hi) = (start.max(base) - base, end.min(base + place) - base);
            self.entries.visit(lo / self.block, hi.div_ceil(self.block), |target, position| {
                let at = target * self.block;
                let (a, b) = (at.max(lo), (at + self.block).min(hi));
                each(Run {
                    to: base + a - start,
                    from: (outer * self.count + position) * self.block + a - at,
                    len: b - a,
                });
            });
        }
    }

    /// Applies all of `updates` to all of `out`, both in C order.
    pub(crate) fn apply<T: Copy>(&self, out: &mut [T], updates: &[T], combine: impl Fn(&mut [T], &[T])) {
        let window = Window::whole(&[out.len()]);
        self.runs(&window, |run| combine(&mut out[run.to..][..run.len], &updates[run.from..][..run.len]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Windows;

    fn entries(numbers: &[i64], dim: usize, unique: bool) -> Vec<(usize, usize)> {
        let keep = Keep { unique, repeats: true, group: 2, count: numbers.len() };
        let mut targets = Targets::new(&[dim], numbers.len(), true, false);
        let mut second = targets.part(2);
        targets.extend(numbers[..2].iter().copied()).unwrap();
        second.extend(numbers[2..].iter().copied()).unwrap();
        let entries = group(vec![targets, second], keep).unwrap();
        let mut all = Vec::new();
        entries.visit(0, 4, |target, position| all.push((target, position)));
        entries.visit(4, dim, |target, position| all.push((target, position)));
        all.sort_by_key(|(target, _)| *target); // stable: the order within a target is kept
        all
    }

    #[test]
    fn the_order_of_positions_is_kept() {
        for dim in [5, 1 << 40] {
            let last = if dim == 5 { -1 } else { 4 };
            let sorted = [(1, 1), (1, 4), (1, 5), (3, 0), (3, 2), (4, 3)];
            assert_eq!(entries(&[3, 1, 3, last, 1, 1], dim, false), sorted);
        }
        // more tuples than places: the losers are dropped
        assert_eq!(entries(&[3, 1, 3, -1, 1, 1], 5, true), [(1, 5), (3, 2), (4, 3)]);
    }

    #[test]
    fn repeats_are_named() {
        let repeat = |numbers: &[i64]| {
            let mut targets = Targets::new(&[5], numbers.len(), true, false);
            targets.extend(numbers.iter().copied()).unwrap();
            group(vec![targets], Keep { unique: true, repeats: false, group: 1, count: numbers.len() }).err()
        };
        assert_eq!(repeat(&[4, 3, 2, 1, 0]), None);
        assert_eq!(repeat(&[4, 0, 1, -5, 4, 4]), Some((3, 1)));
        let empty = Targets::new(&[], 3, true, false);
        assert_eq!(group(vec![empty], Keep { unique: true, repeats: false, group: 1, count: 3 }), Err((1, 0)));
    }

    #[test]
    fn numbers_out_of_range() {
        let bad =
            |negative, numbers: &[i64]| Targets::new(&[2, 3], 2, negative, false).extend(numbers.iter().copied()).err();
        assert_eq!(bad(true, &[-2, -3, 1, 2]), None);
        assert_eq!(bad(true, &[0, 0, 0, 3]), Some(BadIndex { position: 3, value: "3".into() }));
        assert_eq!(bad(true, &[0, 0, -3]), Some(BadIndex { position: 2, value: "-3".into() }));
        assert_eq!(bad(false, &[0, -1]), Some(BadIndex { position: 1, value: "-1".into() }));
        let huge = Targets::new(&[2], 1, true, false).extend([1_u64 << 63]).err();
        assert_eq!(huge, Some(BadIndex { position: 0, value: "9223372036854775808".into() }));
    }

    #[test]
    fn runs_of_any_window() {
        let mut targets = Targets::new(&[4], 3, false, false);
        targets.extend([2_u8, 0, 2]).unwrap();
        let scatter = Scatter {
            outer: 2,
            dim: 4,
            block: 3,
            count: 3,
            entries: group(vec![targets], Keep { unique: false, repeats: true, group: 2, count: 3 }).unwrap(),
            updates_shape: vec![2, 3, 3],
            updates_axes: None,
        };
        let updates: Vec<usize> = (100..118).collect();
        let add = |old: &mut [usize], updates: &[usize]| old.iter_mut().zip(updates).for_each(|(o, u)| *o += u);
        let mut expected = vec![0; 24];
        for (outer, position, place) in [(0, 0, 2), (0, 1, 0), (0, 2, 2), (1, 0, 2), (1, 1, 0), (1, 2, 2)] {
            let old: &mut [usize] = &mut expected[(outer * 4 + place) * 3..][..3];
            add(old, &updates[(outer * 3 + position) * 3..][..3]);
        }
        for shape in [&[2, 4, 3][..], &[24]] {
            for items in [1, 2, 3, 5, 7, 12, 24] {
                let mut out = vec![0; 24];
                for window in Windows::new(shape, items).iter() {
                    let part = &mut out[window.start..][..window.items()];
                    scatter.runs(&window, |run| add(&mut part[run.to..][..run.len], &updates[run.from..][..run.len]));
                }
                assert_eq!(out, expected, "{shape:?} by {items}");
            }
        }
    }
}
