//! Places in the order of the index tuples that name them: what a gather needs, where a scatter groups by place.

use std::borrow::Cow;
use std::ops::Range;

use super::read::collect;
use super::resolve::{Index, IndexSpec, TupleResolver};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::Kind;
use crate::memory::{self, Buffer};
use crate::ops::converted::Converted;
use crate::ops::fill::Limits;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// The place that each index tuple names.
#[derive(Debug)]
pub enum TuplePlaces {
    /// Tuples have no number: all name the one place there is.
    OnlyPlace,
    /// All places are in memory. Each part is what one thread has read.
    InMemory(Vec<PlacesPart>),
    /// They would take too much memory: the tuples of a window are read when it is filled.
    OnDemand(Box<PlacesOnDemand>),
}

/// An index tensor any tuples of which can be read; every number of it has been checked.
#[derive(Debug)]
pub struct PlacesOnDemand {
    indices: Converted,
    resolver: TupleResolver,
    kind: Kind,
}

/// The places that one thread has read.
#[derive(Debug)]
pub enum PlacesPart {
    /// Places below 2^32.
    Small(Vec<u32>),
    /// Any places.
    Large(Vec<u64>),
}

/// The places that some neighbouring tuples name.
pub enum NearPlaces<'a> {
    /// All name the one place there is.
    OnlyPlace,
    /// Places below 2^32.
    Small(&'a [u32]),
    /// Any places.
    Large(Cow<'a, [u64]>),
}

impl PlacesOnDemand {
    /// Returns the shapes of the operator.
    pub(super) fn shapes(&self) -> &IndexSpec {
        &self.resolver.shapes
    }

    /// Makes `numbers` the native integers of a box of the index tensor.
    ///
    /// # Errors
    /// Of reading; not enough memory.
    pub(super) fn read_box(&self, ranges: &[Range<usize>], numbers: &mut Buffer, gathered: &mut Buffer) -> Result<()> {
        let view = self.indices.view().part(ranges);
        numbers.resize(view.items() * self.indices.itemsize(), self.indices.source().label())?;
        self.indices.read(&view, numbers, gathered)
    }

    /// Makes `places` those on their axis that such integers name.
    ///
    /// # Errors
    /// A number that is out of range, since the file has changed.
    pub(super) fn on_axis(&self, numbers: &[u8], places: &mut Vec<u64>) -> Result<()> {
        self.resolver.resolve_on_axis(&self.kind, numbers, places)
    }
}

impl PlacesPart {
    fn len(&self) -> usize {
        match self {
            Self::Small(places) => places.len(),
            Self::Large(places) => places.len(),
        }
    }
}

impl TuplePlaces {
    /// Returns the places that all tuples of an index tensor name. Every number is checked.
    ///
    /// # Errors
    /// A number that is out of range; of reading; not enough memory.
    pub fn new(mut indices: Source, resolver: &TupleResolver, limits: Limits) -> Result<Self> {
        if resolver.width() == 0 {
            return Ok(Self::OnlyPlace);
        }
        let small = u32::try_from(resolver.places()).is_ok();
        // A window of elements has the same window of the index tensor as its indices: they are read again instead of kept.
        let is_read_again = resolver.shapes.is_implied && indices.is_read_by_position();
        if is_read_again || resolver.count().saturating_mul(if small { 4 } else { 8 }) > limits.machine.entries {
            indices.keep_near(limits.threads)?;
            let (native, conversion) = (indices.dtype().native(), Conversion::to_native(indices.dtype()));
            let mut indices = Converted::new(indices, conversion);
            indices.make_runs(&native, limits)?;
            // every number is checked before anything is written, and after it has been brought into the order of its use
            collect(indices.source(), resolver, None, limits, |_, _| Ok(()), |(), _, _| Ok(()))?;
            let on_demand = PlacesOnDemand { indices, resolver: resolver.clone(), kind: native.kind().clone() };
            return Ok(Self::OnDemand(Box::new(on_demand)));
        }
        let refuse = |why| Error::new(Subject::Indices, why);
        let begin = |_, tuples| {
            Ok(match small {
                true => PlacesPart::Small(memory::of(tuples).map_err(refuse)?),
                false => PlacesPart::Large(memory::of(tuples).map_err(refuse)?),
            })
        };
        let parts = collect(&indices, resolver, None, limits, begin, |part, _, places| {
            match part {
                PlacesPart::Small(small) => small.extend(places.iter().map(|&place| place as u32)),
                PlacesPart::Large(large) => large.extend_from_slice(places),
            }
            Ok(())
        })?;
        Ok(Self::InMemory(parts))
    }

    /// Returns the places that `count` tuples from number `first` on name.
    ///
    /// # Errors
    /// Of reading; not enough memory.
    pub fn near(&self, first: usize, count: usize) -> Result<NearPlaces<'_>> {
        let (mut places, mut first) = (Vec::new(), first);
        match self {
            Self::OnlyPlace => return Ok(NearPlaces::OnlyPlace),
            Self::InMemory(parts) => {
                for part in parts {
                    if first + count <= part.len() && places.is_empty() {
                        return Ok(match part {
                            PlacesPart::Small(small) => NearPlaces::Small(&small[first..][..count]),
                            PlacesPart::Large(large) => NearPlaces::Large(large[first..][..count].into()),
                        });
                    }
                    let here = first.min(part.len())..(first + count - places.len()).min(part.len());
                    memory::reserve(&mut places, here.len())?;
                    first -= here.start;
                    match part {
                        PlacesPart::Small(small) => places.extend(small[here].iter().copied().map(u64::from)),
                        PlacesPart::Large(large) => places.extend_from_slice(&large[here]),
                    }
                }
            }
            Self::OnDemand(on_demand) => {
                let PlacesOnDemand { indices, resolver, kind } = &**on_demand;
                let (width, mut bytes) = (resolver.width(), Buffer::default());
                bytes.resize(count * width * indices.itemsize(), indices.source().label())?;
                indices.read_run(first * width, &mut bytes)?;
                resolver.resolve(kind, &bytes, first, &mut places)?;
            }
        }
        Ok(NearPlaces::Large(places.into()))
    }

    /// Returns the source that is read while windows are filled, if one is.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::OnlyPlace | Self::InMemory(_) => None,
            Self::OnDemand(on_demand) => Some(on_demand.indices.source()),
        }
    }
}

impl NearPlaces<'_> {
    /// Returns the places of all tuples in an array.
    ///
    /// # Errors
    /// A number that is out of range.
    pub(in crate::ops) fn of_numbers(resolver: &TupleResolver, numbers: &[impl Index]) -> Result<Self> {
        if resolver.width() == 0 {
            return Ok(Self::OnlyPlace);
        }
        let mut places = Vec::new();
        resolver.append_places(numbers, |number| number, 0, &mut places)?;
        Ok(Self::Large(places.into()))
    }

    /// Returns the range from the lowest place that a tuple names to behind the highest, of those below `dim`; `None` if no
    /// tuple names one.
    pub(super) fn extent(&self, dim: usize) -> Option<Range<usize>> {
        match self {
            Self::OnlyPlace => Some(0..1),
            Self::Small(places) => extent(places, dim),
            Self::Large(places) => extent(places, dim),
        }
    }

    /// Returns the place that tuple number `n` of these names.
    #[inline]
    pub fn get(&self, n: usize) -> usize {
        match self {
            Self::OnlyPlace => 0,
            Self::Small(places) => places[n] as usize,
            Self::Large(places) => places[n] as usize,
        }
    }
}

/// Returns the range from the lowest of the places below `dim` to behind the highest.
fn extent(places: &[impl Copy + Into<u64>], dim: usize) -> Option<Range<usize>> {
    let (mut low, mut end) = (dim as u64, 0);
    for &place in places {
        let place = place.into();
        low = low.min(place);
        end = end.max(if place < dim as u64 { place + 1 } else { 0 });
    }
    (low < end).then_some(low as usize..end as usize)
}
