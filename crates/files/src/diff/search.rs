//! The quantiles of the distances of all pairs.

use super::compare::{Comparison, PASSES, blocks_of};
use super::numbers::distance::Number;
use super::numbers::reading::{ConvertedItems, NumberReading};
use super::numbers::walk::ActualAxes;
use crate::operators::fill::{Limits, Machine};
use crate::plans::cost::Calls;
use crate::plans::plan::WindowOrder;
use crate::plans::quantiles::{Fraction, PassCounts, Search};
use crate::plans::scan::{PlannedScan, ScannedBox, as_stored, settled};
use crate::storage::source::Source;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::layout::view::View;

/// The fractions of [`Difference::quantiles`](super::Difference::quantiles).
pub const QUANTILES: [&str; 4] = ["0.5", "0.9", "0.99", "0.999"];
pub(super) const FRACTIONS: [Fraction; 4] =
    [Fraction::new(1, 2), Fraction::new(9, 10), Fraction::new(99, 100), Fraction::new(999, 1000)];

/// Larger tensors take a sample first; for others another pass is faster.
const SAMPLED: usize = 1 << 21;

/// Items of a sample, which has up to twice as many.
const SAMPLE: usize = 1 << 20;

const MAX_LOOKED_AT: usize = 1 << 20;

/// Bytes. Smaller reads than a page are not faster, and neighbouring items are often alike, so a sample has many
/// pieces.
const PIECE: usize = 1 << 12;

impl Comparison<'_> {
    /// Takes a sample first if that is cheap. A hash selects pieces, so that no regular pattern in the tensor biases
    /// it.
    pub(super) fn search(&mut self, reading: &NumberReading) -> Result<Search> {
        let (items, bits) = (self.items, reading.kernel().key_bits());
        if !is_sampled([self.expected, self.actual], &self.axes) {
            return Ok(Search::new(bits, &FRACTIONS, items));
        }
        let limits = sample_limits(self.effort.limits);
        let wanted = |start: usize| is_in_sample(start, items);
        let left_out = u64::MAX >> (u64::BITS - bits);
        let pieces = self.each_key(reading, limits, wanted, &Vec::new, &|sample: &mut Vec<u64>, keys| {
            sample.extend(keys.iter().filter(|&&key| key != left_out));
        })?;
        let sample = pieces.into_iter().reduce(|mut sample, mut more| {
            sample.append(&mut more);
            sample
        });
        Ok(Search::sampled(bits, &FRACTIONS, items, &mut sample.unwrap_or_default()))
    }

    /// Makes more passes for undetermined quantiles, unless all are 0.
    pub(super) fn quantiles(
        &mut self,
        reading: &NumberReading,
        mut search: Search,
        mut counts: Vec<PassCounts>,
        count: u64,
        zeros: u64,
    ) -> Result<[Option<Number>; 4]> {
        let of_key = |key: u64| Some(reading.kernel().number_of_key(key).as_displayed(reading.integers));
        if count == 0 {
            return Ok([None; 4]);
        }
        if FRACTIONS.iter().all(|fraction| fraction.rank(count) <= zeros) {
            // A distance of 0 has key 0.
            return Ok([of_key(0); 4]);
        }
        loop {
            search.narrow(counts, count, zeros);
            if let Some(found) = search.found() {
                // A key may be missing if a file changed between two passes.
                return Ok(std::array::from_fn(|n| found.get(n).and_then(|&key| of_key(key))));
            }
            let limits = self.effort.limits;
            counts = self.each_key(reading, limits, |_| true, &|| search.begin(), &|counts, keys| {
                search.count(counts, keys);
            })?;
        }
    }

    fn each_key<S: Send>(
        &mut self,
        reading: &NumberReading,
        limits: Limits,
        wanted: impl Fn(usize) -> bool + Sync,
        begin: &(dyn Fn() -> S + Sync),
        each: &(dyn Fn(&mut S, &[u64]) + Sync),
    ) -> Result<Vec<S>> {
        let widths = self.widths;
        let begin = || (begin(), Vec::new(), <[ConvertedItems; 2]>::default());
        type KeyedState<S> = (S, Vec<u64>, [ConvertedItems; 2]);
        let look = |(state, keys, converted): &mut KeyedState<S>, window: &ScannedBox<'_, 2>| {
            for part in blocks_of(window, widths) {
                reading.kernel().keys(reading.read(part.rows, converted), keys);
                each(state, keys);
            }
            Ok(true)
        };
        let view = key_view([self.expected, self.actual], &self.axes);
        let planned = settled([&mut *self.expected, &mut *self.actual], &view, WindowOrder::Boxes, PASSES, limits)?;
        let states = planned.scan(&|_| {}, &wanted, &begin, &look)?;
        Ok(states.into_iter().map(|(state, ..)| state).collect())
    }
}

/// Quantiles do not depend on the order, so tensors in Fortran order are searched as stored.
fn are_stored_alike(sources: [&Source; 2], axes: &ActualAxes) -> bool {
    axes.are_own() && sources.iter().all(|source| source.meta().order == Order::Fortran)
}

fn key_view<'a>(sources: [&Source; 2], axes: &'a ActualAxes) -> impl Fn(usize, &Source) -> View + use<'a> {
    let are_alike = are_stored_alike(sources, axes);
    move |number, source| if are_alike { as_stored(number, source) } else { axes.view(number, source) }
}

fn is_sampled(sources: [&Source; 2], axes: &ActualAxes) -> bool {
    let are_alike = are_stored_alike(sources, axes);
    let is_plain =
        |source: &Source| source.is_read_by_position() && (are_alike || axes.are_own() && source.view().is_forward());
    sources[0].meta().items() >= SAMPLED && sources.into_iter().all(is_plain)
}

fn sample_limits(Limits { threads, machine }: Limits) -> Limits {
    let pieces = Machine::with_windows_of(machine.window.min(PIECE));
    Limits { threads, machine: Machine { memory: machine.memory, ..pieces } }
}

fn is_in_sample(start: usize, items: usize) -> bool {
    hash(start as u64).is_multiple_of((items / SAMPLE).max(1) as u64)
}

pub(super) struct KeyPasses {
    pub sample: Option<Calls>,
    pub most: usize,
}

pub(super) fn key_passes(
    sources: [&Source; 2],
    axes: &ActualAxes,
    reading: &NumberReading,
    limits: Limits,
) -> KeyPasses {
    let items = sources[0].meta().items();
    let most = Search::most_passes(reading.kernel().key_bits(), items) - 1;
    if !is_sampled(sources, axes) {
        return KeyPasses { sample: None, most };
    }
    let planned = PlannedScan::new(sources, &key_view(sources, axes), WindowOrder::Boxes, sample_limits(limits));
    let windows = planned.plan().steps.windows().expect("a scan is cut into windows");
    let looked_at = windows.count().min(MAX_LOOKED_AT);
    let pieces = (0..looked_at).map(|n| windows.get(n)).filter(|piece| is_in_sample(piece.start, items));
    let [pieces, in_pieces] =
        pieces.fold([0, 0], |[pieces, in_pieces], piece| [pieces + 1, in_pieces + piece.items() as u64]);
    let scaled = |number: u64| (number as u128 * windows.count() as u128 / looked_at.max(1) as u128) as u64;
    let width: usize = sources.iter().map(|source| source.dtype().itemsize()).sum();
    let bytes_read = scaled(in_pieces).saturating_mul(width as u64);
    KeyPasses { sample: Some(Calls { reads: 2 * scaled(pieces), bytes_read, ..Calls::default() }), most }
}

fn hash(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32
}
