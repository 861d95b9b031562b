//! What a plan costs, as far as that is known before anything is read, and how a plan is told to people.

use std::fmt;

use super::cut::Cut;
use super::plan::{Plan, Planner, Takes};
use super::slabs::readings;
use crate::layout::gather::GAP;
use crate::layout::tile::WRITES_PER_READ;
use crate::layout::window::Windows;
use crate::ops::access::{Access, Feeds, Pattern};

/// What an output costs that is made as a plan has it. Reads and writes are calls of the system, or requests where an operand is
/// asked of a server. What an index tensor decides, and the index tensor itself, are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How many reads there are, about.
    pub reads: u64,
    /// The bytes that they read, about.
    pub bytes_read: u64,
    /// How many writes there are, about.
    pub writes: u64,
    /// The bytes that they write.
    pub bytes_written: u64,
    /// The bytes of memory that all threads hold together for windows.
    pub held: u64,
}

impl Cost {
    /// Returns the number of bytes whose copying takes as long: each read takes as long as [`GAP`] bytes beside its own, and each
    /// write as several reads.
    pub fn total(&self) -> u64 {
        let calls = self.reads.saturating_add(self.writes.saturating_mul(WRITES_PER_READ as u64));
        self.bytes_read.saturating_add(self.bytes_written).saturating_add(calls.saturating_mul(GAP as u64))
    }
}

/// How the items of an operand are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// In the order of the output.
    Along,
    /// Across the order of the output.
    Across,
    /// As an index tensor says.
    ByIndices,
    /// From memory, where it is already, or is brought first.
    InMemory,
    /// From front to back, as it comes.
    AsItComes,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Along => "along the output",
            Self::Across => "across the output",
            Self::ByIndices => "by indices",
            Self::InMemory => "in memory",
            Self::AsItComes => "as it comes",
        })
    }
}

/// How an operand is read.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandReads {
    /// What messages call the operand.
    pub label: String,
    /// How its items are read.
    pub reading: Reading,
    /// Whether it lies in chunks, each of which is read as a whole.
    pub in_chunks: bool,
    /// The bytes of a piece that is read at once, about; `None` if an index tensor decides.
    pub piece: Option<u64>,
    /// The bytes of it that are wanted.
    pub bytes: u64,
    /// How many times each of these bytes is read, on average.
    pub times: f64,
}

/// A plan with what it costs.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// How each operand is read.
    pub operands: Vec<OperandReads>,
    /// The plan.
    pub plan: Plan,
    /// What it costs.
    pub cost: Cost,
    /// The plan that would be made next, with what that costs, if there is another one.
    pub instead: Option<(Plan, Cost)>,
    /// The bytes of an item of the output.
    pub itemsize: usize,
    /// Whether operands are asked of a server, so that reads are requests.
    pub is_remote: bool,
}

impl Planner<'_> {
    /// Tells the plan of an output for what takes it.
    pub fn explain(&self, takes: Takes<'_>) -> Explanation {
        let plan = self.plan(takes);
        let (operands, cost) = self.cost(&plan, takes);
        let instead = self.alternative(&plan).map(|other| {
            let (_, cost) = self.cost(&other, takes);
            (other, cost)
        });
        Explanation { operands, plan, cost, instead, itemsize: self.meta().dtype.itemsize(), is_remote: self.is_remote }
    }

    /// Returns the plan that would be made if the one that is made could not be.
    fn alternative(&self, plan: &Plan) -> Option<Plan> {
        if plan.hold.is_some() {
            return Some(Plan { hold: None, ..plan.clone() });
        }
        let windows = match &plan.cut {
            Cut::Blocks(_) => return None,
            Cut::Windows(windows) if windows.get(0).is_contiguous(&self.meta().shape) => return None,
            Cut::Windows(_) if self.grid().is_some() => return None,
            Cut::Windows(_) => self.windows(),
        };
        Some(Plan { cut: Cut::Windows(windows), ..plan.clone() })
    }

    /// Returns how operands are read, and what the plan costs.
    fn cost(&self, plan: &Plan, takes: Takes<'_>) -> (Vec<OperandReads>, Cost) {
        let shape = &self.meta().shape[..];
        let windows = match &plan.cut {
            Cut::Blocks(_) => Windows::new(shape, plan.cut.largest().max(1)),
            Cut::Windows(windows) => windows.clone(),
        };
        // what is held is read by its own boxes
        let read_by = plan.hold.as_ref().map_or_else(|| windows.sides().to_vec(), |_| self.units().sides().to_vec());
        let slab = plan.hold.as_deref().unwrap_or(windows.sides());
        let mut cost = Cost { bytes_written: self.meta().bytes() as u64, ..Cost::default() };
        let operands: Vec<_> = self.reads().iter().map(|access| self.reads_of(access, &read_by, slab)).collect();
        for operand in &operands {
            if let (Some(piece), Reading::Along | Reading::Across | Reading::AsItComes) =
                (operand.piece, operand.reading)
            {
                let bytes = (operand.bytes as f64 * operand.times) as u64;
                cost.bytes_read += bytes;
                cost.reads += bytes.div_ceil(piece.max(1));
            }
        }
        let of_window = match takes {
            Takes::File { .. } if windows.count() > 0 && !matches!(plan.cut, Cut::Blocks(_)) => {
                windows.get(0).pieces(shape).count()
            }
            Takes::File { .. } | Takes::Stream | Takes::Windows(_) => 1,
        };
        cost.writes = (windows.count() as u64).saturating_mul(of_window as u64);
        let bytes = |sides: &[usize]| {
            sides
                .iter()
                .zip(shape)
                .fold(self.widest() as u64, |all, (&side, &dim)| all.saturating_mul(side.min(dim) as u64))
        };
        let held = plan.hold.as_ref().map_or(0_u64, |slab| bytes(slab));
        cost.held = held.saturating_add(bytes(windows.sides()).saturating_mul(2 * plan.threads as u64));
        (operands, cost)
    }

    /// Returns how an operand is read by boxes of these sides, of which those in a slab are read together.
    fn reads_of(&self, access: &Access<'_>, sides: &[usize], slab: &[usize]) -> OperandReads {
        let (source, itemsize) = (access.source, access.source.dtype().itemsize() as u64);
        let label = source.label().to_owned();
        let wanted = match (&access.feeds, access.view()) {
            (_, Some(view)) => view.items() as u64 * itemsize,
            (Feeds::Named { items }, None) => (*items as u64).saturating_mul(itemsize),
            (_, None) => source.bytes() as u64,
        };
        let told = |reading, piece, times| OperandReads {
            label: label.clone(),
            reading,
            in_chunks: source.as_chunks().is_some(),
            piece,
            bytes: wanted,
            times,
        };
        if source.is_stream() {
            return told(Reading::AsItComes, None, 1.0);
        }
        if !source.is_read_by_position() && source.as_chunks().is_none() {
            return told(Reading::InMemory, None, 1.0);
        }
        let Some(view) = access.view() else {
            let by_indices = matches!(access.pattern, Pattern::Indexed { .. } | Pattern::Boxed { .. });
            return told(if by_indices { Reading::ByIndices } else { Reading::Along }, None, 1.0);
        };
        let is_across = view.crossing().is_some();
        let reading = if is_across { Reading::Across } else { Reading::Along };
        if let Some(chunks) = source.as_chunks() {
            let chunk = chunks.grid().iter().fold(itemsize, |all, &side| all.saturating_mul(side as u64));
            let times = self.grain().map_or(1.0, |grain| readings(&self.meta().shape, slab, &grain));
            return told(reading, Some(chunk), times);
        }
        let mut own = sides.to_vec();
        if let Feeds::Stacked { axis, .. } = access.feeds {
            own.remove(axis);
        }
        // the sides of an output of other dims are not those of the view
        let is_of_view = !matches!(access.pattern, Pattern::Counted { .. });
        let window = sides.iter().product::<usize>();
        let piece = if is_of_view { view.piece(&own).max(1) } else { view.run().min(window) };
        told(reading, Some((piece as u64).saturating_mul(itemsize)), 1.0)
    }
}
