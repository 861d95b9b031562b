//! Places in the order of their index tuples, for gathers.

use std::ops::Range;

use super::index_tensor::{READ_AT_ONCE, collect};
use crate::operators::converted::Converted;
use crate::operators::fill::Limits;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::item::conversion::Conversion;
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::memory::{self, Buffer};
use tensorop_kernels::ops::indexed::TupleResolver;

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
