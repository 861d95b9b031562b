//! Reads index tensors, and places in the order of their index tuples, for gathers.

use std::ops::Range;

use crate::operators::converted::Converted;
use crate::operators::fill::Limits;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::layout::axis::BeyondInt64;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::Windows;
use tensorop_kernels::memory::{self, Buffer};
use tensorop_kernels::ops::indexed::{TupleResolver, append_integers};
use tensorop_kernels::parallel::on_threads;

/// The place that each index tuple names.
#[derive(Debug)]
pub enum TuplePlaces {
    /// Tuples without numbers name place 0.
    OnlyPlace,
    /// Places below 2^32; each part comes from one thread.
    InMemory(Vec<Vec<u32>>),
    /// Beyond the memory limit: read when a window is filled.
    OnDemand(Box<PlacesOnDemand>),
}

/// An index tensor with checked numbers, readable at any tuple.
#[derive(Debug)]
pub struct PlacesOnDemand {
    pub(super) indices: Converted,
    pub(super) resolver: TupleResolver,
    pub(super) kind: Kind,
}

/// The places of neighbouring tuples.
pub enum NearPlaces<'a> {
    Small(&'a [u32]),
    Large(Vec<u64>),
}

impl TuplePlaces {
    /// Checks every number.
    pub fn new(mut indices: Source, resolver: &TupleResolver, limits: Limits) -> Result<Self> {
        if resolver.width() == 0 {
            return Ok(Self::OnlyPlace);
        }
        let fits = u32::try_from(resolver.places).is_ok()
            && resolver.count().saturating_mul(size_of::<u32>()) <= limits.machine.entries;
        // A window of elements reads the same window of the index tensor.
        let is_read_again = resolver.shapes.is_implied && indices.is_read_by_position();
        if fits && !is_read_again {
            let begin = |_, tuples| memory::with_capacity(tuples).map_err(|why| Error::new(Subject::Indices, why));
            let parts = collect(&indices, resolver, None, limits, begin, |part: &mut Vec<u32>, _, places| {
                part.extend(places.iter().map(|&place| place as u32));
                Ok(())
            })?;
            return Ok(Self::InMemory(parts));
        }
        indices.hold(Hold::Local, limits.threads)?;
        let (native, conversion) = (indices.dtype().native(), Conversion::to_native(indices.dtype()));
        let mut indices = Converted::new(indices, conversion);
        indices.hold(Hold::Runs, &native, limits)?;
        // Checks every number before the first write, and after the conversion to the order of use.
        let numbers = resolver.clone().without_implied();
        collect(&indices.source, &numbers, None, limits, |_, _| Ok(()), |(), _, _| Ok(()))?;
        let on_demand = PlacesOnDemand { indices, resolver: resolver.clone(), kind: native.kind().clone() };
        Ok(Self::OnDemand(Box::new(on_demand)))
    }

    /// Returns the places of `count` tuples from number `first` on.
    pub fn near(&self, first: usize, count: usize, bytes: &mut Buffer) -> Result<NearPlaces<'_>> {
        let (mut places, mut first) = (Vec::new(), first);
        match self {
            Self::OnlyPlace => {
                memory::reserve(&mut places, count)?;
                places.resize(count, 0);
            }
            Self::InMemory(parts) => {
                for part in parts {
                    if first + count <= part.len() && places.is_empty() {
                        return Ok(NearPlaces::Small(&part[first..][..count]));
                    }
                    let here = first.min(part.len())..(first + count - places.len()).min(part.len());
                    memory::reserve(&mut places, here.len())?;
                    first -= here.start;
                    places.extend(part[here].iter().copied().map(u64::from));
                }
            }
            Self::OnDemand(on_demand) => {
                let PlacesOnDemand { indices, resolver, kind } = &**on_demand;
                let width = resolver.width();
                memory::reserve(&mut places, count)?;
                let most = (READ_AT_ONCE / (width * indices.itemsize())).max(1);
                for tuple in (first..first + count).step_by(most) {
                    let here = most.min(first + count - tuple);
                    bytes.resize(here * width * indices.itemsize(), indices.source.label())?;
                    indices.read_run(tuple * width, bytes)?;
                    resolver.append(kind, bytes, tuple, &mut places)?;
                }
            }
        }
        Ok(NearPlaces::Large(places))
    }
}

impl NearPlaces<'_> {
    /// The range of named places below `dim`.
    pub(super) fn extent(&self, dim: usize) -> Option<Range<usize>> {
        match self {
            Self::Small(places) => extent(places, dim),
            Self::Large(places) => extent(places, dim),
        }
    }

    #[inline]
    pub fn get(&self, n: usize) -> usize {
        match self {
            Self::Small(places) => places[n] as usize,
            Self::Large(places) => places[n] as usize,
        }
    }
}

fn extent(places: &[impl Copy + Into<u64>], dim: usize) -> Option<Range<usize>> {
    let (mut low, mut end) = (dim as u64, 0);
    for &place in places {
        let place = place.into();
        low = low.min(place);
        end = end.max(if place < dim as u64 { place + 1 } else { 0 });
    }
    (low < end).then_some(low as usize..end as usize)
}

/// The bytes per read, which stay in the first caches.
pub(super) const READ_AT_ONCE: usize = 1 << 16;

/// Resolves the tuples at the places `among` of the first axis. Each thread reads one part into a value of
/// `begin(part, tuples)` by `take(collected, first, places)`; the result is in order.
pub(super) fn collect<C: Send>(
    indices: &Source,
    resolver: &TupleResolver,
    among: Option<&Range<usize>>,
    limits: Limits,
    begin: impl Fn(usize, usize) -> Result<C> + Sync,
    take: impl Fn(&mut C, usize, &[u64]) -> Result<()> + Sync,
) -> Result<Vec<C>> {
    let (rows, row) = match indices.shape().split_first() {
        Some((&rows, rest)) => (rows, rest.iter().product::<usize>()),
        None => (1, 1),
    };
    let among = among.cloned().unwrap_or(0..rows);
    let rows = among.len();
    let width = resolver.width();
    if width == 0 || rows == 0 || row == 0 {
        return Ok(vec![begin(0, 0)?]);
    }
    let tuples = |rows: usize| rows * row / width;
    // Parts begin at a tuple and at a place of the first axis, unless this is the axis of the only tuple.
    let threads = match row % width {
        0 if !indices.is_stream() => indices.threads(limits.threads).min(rows).max(1),
        _ => 1,
    };
    let begins = |part: usize| among.start + part * rows / threads;
    let parts = on_threads(threads, |part| -> Result<C> {
        let rows = begins(part)..begins(part + 1);
        let (mut collected, mut places) = (begin(part, tuples(rows.len()))?, Vec::new());
        let mut first = tuples(rows.start);
        each_window_of_rows(indices, rows, &mut |_, kind, bytes| {
            places.clear();
            resolver.append(kind, bytes, first, &mut places)?;
            take(&mut collected, first, &places)?;
            first += places.len();
            Ok(())
        })?;
        Ok(collected)
    });
    parts.into_iter().collect()
}

/// Returns all integers of a tensor, in C order.
pub fn all_integers(tensor: &Source, beyond: BeyondInt64) -> Result<Vec<i64>> {
    let mut list = Vec::new();
    each_window(tensor, &mut |_, kind, bytes| append_integers(kind, bytes, beyond, &mut list))?;
    Ok(list)
}

/// The C-order number of the first item of a window, and its items' kind and little-endian bytes.
pub type TakeItems<'a> = dyn FnMut(usize, &Kind, &[u8]) -> Result<()> + 'a;

/// Reads all items in C order, in windows.
pub fn each_window(tensor: &Source, take: &mut TakeItems<'_>) -> Result<()> {
    let rows = tensor.shape().first().map_or(0..1, |&rows| 0..rows);
    each_window_of_rows(tensor, rows, take)
}

fn each_window_of_rows(tensor: &Source, rows: Range<usize>, take: &mut TakeItems<'_>) -> Result<()> {
    let native = tensor.dtype().native();
    let conversion = Conversion::to_native(tensor.dtype());
    let mut ranges: Vec<_> = tensor.shape().iter().map(|&dim| 0..dim).collect();
    if let Some(first) = ranges.first_mut() {
        *first = rows;
    }
    let view = tensor.view().part(&ranges);
    let (mut items, mut scratch) = (Buffer::default(), Buffer::default());
    let (itemsize, short) = (native.itemsize(), READ_AT_ONCE / native.itemsize().max(1));
    for window in Windows::new(&view.shape(), read_at_once(tensor, &view, short)).iter() {
        let view = view.part(&window.ranges);
        items.resize(view.items() * itemsize, tensor.label())?;
        tensor.read_as(&conversion, &view, &mut items, &mut scratch)?;
        for part in Windows::new(&window.shape(), short).iter() {
            let here = &items[part.start * itemsize..][..part.items() * itemsize];
            take(window.start + part.start, native.kind(), here)?;
        }
    }
    tensor.finish()
}

/// Returns `least`, or far more if this would mean short reads: three million numbers in Fortran order took half a
/// million system calls. Unnecessarily large windows cost the first touch of memory, 1.2 times the time for a million
/// tuples.
fn read_at_once(tensor: &Source, view: &View, least: usize) -> usize {
    /// A piece of this size touches one page.
    const PIECE: usize = 512;
    const ACROSS: usize = 1 << 22;
    let itemsize = tensor.dtype().itemsize().max(1);
    let row = view.items() / view.shape().first().map_or(1, |&dim| dim.max(1));
    let is_across = tensor.is_read_by_position() && view.crosses_within(PIECE, itemsize);
    let is_short = least / row.max(1) * itemsize < PIECE;
    if is_across && is_short { ACROSS / itemsize } else { least }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::storage::read_at::MemoryBytes;
    use tensorop_kernels::item::dtype::DType;
    use tensorop_kernels::item::meta::{Meta, Order};

    #[test]
    fn what_is_stored_across_is_read_in_pieces() {
        let int64 = DType::parse("int64").unwrap();
        let rows: [(&[usize], Order, usize); 6] = [
            (&[954, 1953], Order::C, 8192),
            (&[954, 1953], Order::Fortran, 1 << 19),
            (&[954, 3], Order::Fortran, 8192),
            (&[954, 130], Order::Fortran, 1 << 19),
            (&[954, 1], Order::Fortran, 8192),
            (&[954], Order::Fortran, 8192),
        ];
        for (shape, order, expected) in rows {
            let meta = Meta { order, ..Meta::c_order(int64.clone(), shape.to_vec()) };
            let bytes = Arc::new(MemoryBytes::new(Vec::new()));
            let tensor = Source::stored(meta, bytes, 0, "INDICES".to_owned()).unwrap();
            assert_eq!(read_at_once(&tensor, &tensor.view(), READ_AT_ONCE / 8), expected, "{shape:?}");
        }
        let numbers: Vec<u8> = (0..40_000_i64).flat_map(i64::to_le_bytes).collect();
        let meta = Meta { order: Order::Fortran, ..Meta::c_order(int64, vec![40, 1000]) };
        let tensor = Source::stored(meta, Arc::new(MemoryBytes::new(numbers)), 0, "INDICES".to_owned()).unwrap();
        let expected: Vec<i64> = (0..40_000).map(|n| n % 1000 * 40 + n / 1000).collect();
        assert_eq!(all_integers(&tensor, BeyondInt64::Refused).unwrap(), expected);
    }
}
