//! What a plan costs, as far as that is known before anything is read, and how a plan is told to people.

use std::fmt;

use super::cut::Cut;
use super::plan::{Plan, Planner, Takes};
use super::scan_plan::{ScannedPart, ShownAs, held_by_scan, plan_scan};
use super::slabs::readings;
use crate::layout::gather::GAP;
use crate::layout::tile::WRITES_PER_READ;
use crate::layout::window::Windows;
use crate::ops::access::{Access, Feeds, Pattern};
use crate::ops::fill::Limits;

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
    /// Returns what it costs to read operands.
    fn of_reads(operands: &[OperandReads]) -> Self {
        let mut cost = Self::default();
        for operand in operands {
            if let (Some(piece), Reading::Along | Reading::Across | Reading::AsItComes) =
                (operand.piece, operand.reading)
            {
                let bytes = (operand.bytes as f64 * operand.times) as u64;
                cost.bytes_read += bytes;
                cost.reads += bytes.div_ceil(piece.max(1));
            }
        }
        cost
    }

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
    /// In the order of the output, or of the windows of a scan.
    Along,
    /// Across that order.
    Across,
    /// As an index tensor says.
    ByIndices,
    /// From memory, where it is already, or is brought first.
    InMemory,
    /// From front to back, as it comes.
    AsItComes,
}

/// What the items of operands are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To make an output.
    Output,
    /// To be looked at in windows. Nothing is written.
    Scan,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Output => "the output",
            Self::Scan => "the windows",
        })
    }
}

impl Reading {
    /// Tells how items are read for a purpose.
    pub fn told(self, purpose: Purpose) -> String {
        match self {
            Self::Along => format!("along {purpose}"),
            Self::Across => format!("across {purpose}"),
            Self::ByIndices => "by indices".to_owned(),
            Self::InMemory => "in memory".to_owned(),
            Self::AsItComes => "as it comes".to_owned(),
        }
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
    /// What the operands are read for.
    pub purpose: Purpose,
    /// How each operand is read.
    pub operands: Vec<OperandReads>,
    /// The plan.
    pub plan: Plan,
    /// What it costs.
    pub cost: Cost,
    /// The plan that would be made next, with what that costs, if there is another one.
    pub instead: Option<(Plan, Cost)>,
    /// The bytes of an item of the output; of a scan those of the widest item.
    pub itemsize: usize,
    /// Whether operands are asked of a server, so that reads are requests.
    pub is_remote: bool,
    /// What else is read, which only the items tell, in a sentence without a full stop each.
    pub notes: Vec<String>,
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
        let (itemsize, is_remote) = (self.meta().dtype.itemsize(), self.is_remote);
        let (purpose, notes) = (Purpose::Output, Vec::new());
        Explanation { purpose, operands, plan, cost, instead, itemsize, is_remote, notes }
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
        let of_chunks = self.grain().map_or(1.0, |grain| readings(shape, slab, &grain));
        let operands: Vec<_> = self.reads().iter().map(|access| reads_of(access, &read_by, of_chunks)).collect();
        let mut cost = Cost { bytes_written: self.meta().bytes() as u64, ..Cost::of_reads(&operands) };
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
}

/// Tells the plan of `passes` scans of the same parts of tensors, as far as it is known before the first item is read.
///
/// # Panics
/// As [`plan_scan`].
pub fn explain_scan(parts: &[ScannedPart<'_>], limits: Limits, shown: ShownAs, passes: usize) -> Explanation {
    let plan = plan_scan(parts, limits, shown);
    let sides = match &plan.cut {
        Cut::Windows(windows) => windows.sides(),
        Cut::Blocks(_) => unreachable!("only an output is cut into blocks of a file"),
    };
    let reads = |part: &ScannedPart<'_>| {
        let shape = part.view.shape();
        let access = Access::strided(part.source, &part.view, &(0..shape.len()).map(Some).collect::<Vec<_>>());
        // in C order what several windows read of a chunk is kept, since longer rows of chunks are copied first
        let grid = access.grid().filter(|_| !part.view.is_c_order());
        let of_chunks = grid.map_or(1.0, |grid| readings(&shape, sides, &grid));
        let once = match part.is_kept {
            // what is copied is read as it comes, and scanned where the copy lies
            true => OperandReads { reading: Reading::AsItComes, piece: None, ..reads_of(&access, sides, 1.0) },
            false => reads_of(&access, sides, of_chunks),
        };
        OperandReads { times: if part.is_kept { 1.0 } else { once.times * passes as f64 }, ..once }
    };
    // without windows nothing is read
    let operands: Vec<_> = if plan.cut.count() == 0 { Vec::new() } else { parts.iter().map(reads).collect() };
    let itemsize = parts.iter().map(|part| part.source.dtype().itemsize()).fold(1, usize::max);
    let held = held_by_scan(&plan.cut, itemsize, parts.len()).saturating_mul(plan.threads) as u64;
    let cost = Cost { held, ..Cost::of_reads(&operands) };
    let is_remote = parts.iter().any(|part| part.source.costs_requests());
    let kept = parts.iter().filter(|part| part.is_kept);
    let note = |part: &ScannedPart<'_>| {
        format!(
            "{} is first copied to memory or to a temporary file, which these windows are read from",
            part.source.label()
        )
    };
    let notes = kept.map(note).collect();
    Explanation { purpose: Purpose::Scan, operands, plan, cost, instead: None, itemsize, is_remote, notes }
}

/// Returns how an operand is read by boxes of these sides; where it lies in chunks, each of these is read `of_chunks` times.
fn reads_of(access: &Access<'_>, sides: &[usize], of_chunks: f64) -> OperandReads {
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
        return told(reading, Some(chunk), of_chunks);
    }
    // the sides of an output of other dims are not those of the view
    let is_of_view = !matches!(access.pattern, Pattern::Counted { .. });
    let window = sides.iter().product::<usize>();
    let piece = if is_of_view { view.piece(sides).max(1) } else { view.run().min(window) };
    told(reading, Some((piece as u64).saturating_mul(itemsize)), 1.0)
}
