//! Targets grouped by neighbourhood, so that a window finds its updates without looking at all others.
//!
//! Grouping, not sorting: what a window needs is that its own pairs are together and that those of one target keep their
//! order. A stable counting sort by group gives both in two passes over the pairs, where a comparison sort of 16 million
//! pairs took longer than reading the whole file they are applied to.

use std::sync::Mutex;

use super::targets::{Pairs, Targets};
use crate::parallel::on_threads;

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

    pub(super) fn visit(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        self.within(lo, hi).for_each(|pair| each(pair.target(), pair.position()));
    }

    pub(super) fn any(&self, lo: usize, hi: usize) -> bool {
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
    pub(super) fn visit(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        match self {
            Entries::Small(groups) => groups.visit(lo, hi, each),
            Entries::Large(groups) => groups.visit(lo, hi, each),
            Entries::Whole { from, to } if lo == 0 && hi > 0 => (*from..*to).for_each(|position| each(0, position)),
            Entries::Whole { .. } => {}
        }
    }

    /// Whether there is a target in `lo..hi`.
    pub(super) fn any(&self, lo: usize, hi: usize) -> bool {
        match self {
            Entries::Small(groups) => groups.any(lo, hi),
            Entries::Large(groups) => groups.any(lo, hi),
            Entries::Whole { from, to } => lo == 0 && hi > 0 && from < to,
        }
    }
}
