//! Places in the order of the index tuples that name them: what a gather needs, where a scatter groups by place.

use super::read::{Collect, collect};
use super::resolve::{Index, TupleResolver};
use super::sweeps::ENTRIES_OF_TESTS;
use crate::error::{Error, Result, Subject};
use crate::item::dtype::Kind;
use crate::memory;
use crate::ops::fill::Limits;
use crate::ops::updates::Updates;
use crate::ops::window_size::ENTRIES;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// The place that each index tuple names.
#[derive(Debug)]
pub enum TuplePlaces {
    /// All places are in memory.
    InMemory(PlacesInMemory),
    /// They would take too much memory: the tuples of a window are read when it is filled.
    OnDemand(Box<PlacesOnDemand>),
}

/// An index tensor any tuples of which can be read; every number of it has been checked.
#[derive(Debug)]
pub struct PlacesOnDemand {
    indices: Updates,
    resolver: TupleResolver,
    kind: Kind,
}

/// The places of all tuples. Each part is what one thread has read.
#[derive(Debug)]
pub struct PlacesInMemory {
    parts: Vec<PlacesPart>,
    /// The number of the first tuple of each part.
    starts: Vec<usize>,
}

/// The places that some neighbouring tuples name.
pub enum NearPlaces<'a> {
    /// They are among all places, which are in memory.
    InMemory(&'a PlacesInMemory),
    /// They have been read for themselves.
    Read {
        /// The number of the first tuple.
        first: usize,
        /// The places, one for each tuple.
        places: Vec<u64>,
    },
}

/// A collector that drops the places: it validates an index tensor without keeping it.
struct CheckOnly;

impl Collect for CheckOnly {
    fn take(&mut self, _: usize, _: &[u64]) -> Result<()> {
        Ok(())
    }
}

/// The places that one thread has read.
#[derive(Clone, Debug)]
enum PlacesPart {
    /// Places below 2^32.
    Small(Vec<u32>),
    Large(Vec<u64>),
    /// The place of every tuple, where tuples have no number and all name the one place there is.
    OnlyPlace,
}

impl Collect for PlacesPart {
    fn take(&mut self, _: usize, places: &[u64]) -> Result<()> {
        // `TuplePlaces::new` has made room for them
        match self {
            Self::Small(small) => small.extend(places.iter().map(|&place| place as u32)),
            Self::Large(large) => large.extend_from_slice(places),
            Self::OnlyPlace => unreachable!("tuples of no number are not read"),
        }
        Ok(())
    }
}

impl TuplePlaces {
    /// Returns the places that all tuples of an index tensor name. Every number is checked.
    ///
    /// # Errors
    /// A number that is out of range; of reading; not enough memory.
    pub fn new(mut indices: Source, resolver: &TupleResolver, limits: Limits) -> Result<Self> {
        if resolver.width() == 0 {
            return Ok(Self::InMemory(PlacesInMemory::of(vec![PlacesPart::OnlyPlace])));
        }
        let small = u32::try_from(resolver.places()).is_ok();
        let bytes = resolver.count().saturating_mul(if small { 4 } else { 8 });
        if bytes > limits.window.map_or(ENTRIES, |window| window.saturating_mul(ENTRIES_OF_TESTS)) {
            indices.settle()?;
            collect(&indices, resolver, limits, |_, _| Ok(CheckOnly))?;
            let (native, conversion) = (indices.dtype().native(), Conversion::to_native(indices.dtype()));
            let mut indices = Updates::new(indices, conversion);
            indices.make_runs(&native, limits)?;
            let on_demand = PlacesOnDemand { indices, resolver: resolver.clone(), kind: native.kind().clone() };
            return Ok(Self::OnDemand(Box::new(on_demand)));
        }
        let refuse = |why| Error::new(Subject::Indices, why);
        let parts = collect(&indices, resolver, limits, |_, tuples| {
            Ok(match small {
                true => PlacesPart::Small(memory::of(tuples).map_err(refuse)?),
                false => PlacesPart::Large(memory::of(tuples).map_err(refuse)?),
            })
        })?;
        Ok(Self::InMemory(PlacesInMemory::of(parts)))
    }

    /// Returns the places that `count` tuples from number `first` on name.
    ///
    /// # Errors
    /// Of reading.
    pub fn near(&self, first: usize, count: usize) -> Result<NearPlaces<'_>> {
        match self {
            Self::InMemory(places) => Ok(NearPlaces::InMemory(places)),
            Self::OnDemand(on_demand) => {
                let PlacesOnDemand { indices, resolver, kind } = &**on_demand;
                let (width, mut bytes, mut places) = (resolver.width(), Vec::new(), Vec::new());
                indices.read_run(first * width, count * width, &mut bytes)?;
                resolver.resolve(kind, &bytes, first, &mut places)?;
                Ok(NearPlaces::Read { first, places })
            }
        }
    }

    /// Returns the source that is read while windows are filled, if one is.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::InMemory(_) => None,
            Self::OnDemand(on_demand) => Some(on_demand.indices.source()),
        }
    }
}

impl NearPlaces<'_> {
    /// Returns the place that one of the tuples names.
    #[inline]
    pub fn get(&self, tuple: usize) -> usize {
        match self {
            Self::InMemory(places) => places.get(tuple),
            Self::Read { first, places } => places[tuple - first] as usize,
        }
    }
}

impl PlacesInMemory {
    /// Returns the places of tuples in an array.
    ///
    /// # Errors
    /// A number that is out of range.
    pub(in crate::ops) fn of_numbers(resolver: &TupleResolver, numbers: &[impl Index]) -> Result<Self> {
        if resolver.width() == 0 {
            return Ok(Self::of(vec![PlacesPart::OnlyPlace]));
        }
        let mut places = Vec::new();
        resolver.append_places(numbers, |number| number, 0, &mut places)?;
        Ok(Self::of(vec![PlacesPart::Large(places)]))
    }

    fn of(parts: Vec<PlacesPart>) -> Self {
        let mut start = 0;
        let starts = parts.iter().map(|part| {
            let here = start;
            start += match part {
                PlacesPart::Small(places) => places.len(),
                PlacesPart::Large(places) => places.len(),
                PlacesPart::OnlyPlace => 0,
            };
            here
        });
        let starts = starts.collect();
        Self { parts, starts }
    }

    /// Returns the place that index tuple number `tuple` names.
    #[inline]
    pub(in crate::ops) fn get(&self, tuple: usize) -> usize {
        let part = match self.starts.len() {
            1 => 0,
            _ => self.starts.partition_point(|&start| start <= tuple) - 1,
        };
        let at = tuple - self.starts[part];
        match &self.parts[part] {
            PlacesPart::Small(places) => places[at] as usize,
            PlacesPart::Large(places) => places[at] as usize,
            PlacesPart::OnlyPlace => 0,
        }
    }
}
