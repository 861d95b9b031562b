//! What a plan costs, as far as that is known before anything is read, and how a plan is told to people.

use std::fmt;

use super::cut::Cut;
use super::plan::{Plan, Planner, Takes};
use super::scan_plan::{ScannedPart, ShownAs, held_by_scan, plan_scan};
use super::slabs::readings;
use crate::layout::gather::{Reads, calls};
use crate::ops::access::{Access, Feeds, Pattern};
use crate::ops::fill::Limits;
use crate::storage::source::READ_AT_ONCE;

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
    /// The number of bytes whose copying takes as long as all of it.
    pub total: u64,
}

impl Cost {
    /// Returns what it costs to read operands, if each read takes as long as copying `read` bytes.
    fn of_reads(operands: &[OperandReads], read: usize) -> Self {
        let mut cost = Self::default();
        for operand in operands.iter().filter(|operand| operand.is_counted()) {
            cost.bytes_read = cost.bytes_read.saturating_add(operand.bytes_read());
            cost.reads = cost.reads.saturating_add(operand.bytes_read().div_ceil(operand.piece.unwrap_or(0).max(1)));
        }
        cost.total = cost.bytes_read.saturating_add(cost.reads.saturating_mul(read as u64));
        cost
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
    /// How many times each of these bytes is read, on average; what is read in vain counts, too.
    pub times: f64,
}

impl OperandReads {
    /// Returns whether it is known what is read, and whether that is read from a file, a server or a pipe.
    fn is_counted(&self) -> bool {
        self.piece.is_some() && !matches!(self.reading, Reading::ByIndices | Reading::InMemory)
    }

    /// Returns how many bytes are read, about.
    fn bytes_read(&self) -> u64 {
        (self.bytes as f64 * self.times) as u64
    }
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
        let mut ways = self.ways(takes).into_iter();
        let (plan, cost) = ways.next().expect("there is a way to make an output");
        let (itemsize, is_remote) = (self.meta().dtype.itemsize(), self.is_remote);
        let (purpose, operands, notes) = (Purpose::Output, self.operands(&plan), Vec::new());
        Explanation { purpose, operands, plan, cost, instead: ways.next(), itemsize, is_remote, notes }
    }

    /// Returns how operands are read for a plan.
    fn operands(&self, plan: &Plan) -> Vec<OperandReads> {
        let shape = &self.meta().shape[..];
        let sides = plan.cut.sides(shape);
        // what is held is read by its own boxes
        let read_by = plan.hold.as_ref().map_or_else(|| sides.clone(), |_| self.units().sides().to_vec());
        let slab = plan.hold.as_deref().unwrap_or(&sides);
        let of_chunks = self.grain().map_or(1.0, |grain| readings(shape, slab, &grain));
        self.reads().iter().map(|access| reads_of(access, &read_by, of_chunks)).collect()
    }

    /// Returns what it costs to make the output as a plan has it. This is the formula by which a plan is chosen. It adds up, each as
    /// the number of bytes whose copying takes as long:
    ///
    /// - the bytes that are read, with the gaps that are read through, and those that are written;
    /// - the calls;
    /// - a third of what is written, where writes do not fill blocks of the file;
    /// - what is written, once more, where windows do not stay near a core until they are written;
    /// - what chunks take to be unpacked, and slabs to be held;
    /// - pages that are read again, where operands do not stay in the system's memory;
    /// - the memory that is held, since it is touched for the first time;
    /// - the wait at the end, of half a window for each thread but one.
    pub(super) fn cost(&self, plan: &Plan, is_file: bool) -> Cost {
        let (machine, shape, meta) = (&self.limits.machine, &self.meta().shape[..], self.meta());
        let (sides, count) = (plan.cut.sides(shape), plan.cut.count().max(1) as u64);
        let volume = |sides: &[usize]| {
            let sides = sides.iter().zip(shape).map(|(&side, &dim)| side.min(dim) as u64);
            sides.fold(self.widest() as u64, u64::saturating_mul)
        };
        let operands = self.operands(plan);
        let written = meta.bytes() as u64;
        let read = if self.is_remote { machine.request } else { machine.read };
        let mut cost =
            Cost { bytes_written: written, writes: plan.cut.count() as u64, ..Cost::of_reads(&operands, read) };
        let mut more = 0_u64;
        if is_file && !matches!(plan.cut, Cut::Blocks(_)) {
            // places of axes before one that a window has not all places of are pieces of their own
            let whole = sides.iter().zip(shape).rev().take_while(|(side, dim)| side >= dim).count();
            let apart = &sides[..sides.len().saturating_sub(whole + 1)];
            cost.writes = apart.iter().fold(cost.writes, |writes, &side| writes.saturating_mul(side as u64));
            more = written / 3;
        }
        for operand in operands.iter().filter(|operand| operand.is_counted()) {
            if operand.in_chunks {
                more = more.saturating_add(operand.bytes_read().saturating_mul(machine.unpack as u64));
            } else if let (false, Some(grain)) = (self.fits_memory(), self.grain()) {
                let again = readings(shape, plan.hold.as_deref().unwrap_or(&sides), &grain) - 1.0;
                more = more.saturating_add((operand.bytes as f64 * again) as u64);
            }
        }
        cost.held = volume(&sides).saturating_mul(2 * plan.threads as u64);
        if volume(&sides) > 2 * machine.slab as u64 {
            more = more.saturating_add(written);
        }
        if let Some(slab) = &plan.hold {
            cost.held = cost.held.saturating_add(volume(slab));
            more = more.saturating_add(written.saturating_mul(machine.hold as u64));
        }
        let writes = cost.writes.saturating_mul(machine.write as u64);
        let all = [cost.total, written, writes, more, cost.held].into_iter().fold(0, u64::saturating_add);
        let waits = (plan.threads as u64 - 1).saturating_mul(all) / (2 * count);
        cost.total = all.saturating_add(waits);
        cost
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
    let is_remote = parts.iter().any(|part| part.source.costs_requests());
    let read = if is_remote { limits.machine.request } else { limits.machine.read };
    let cost = Cost { held, ..Cost::of_reads(&operands, read) };
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
    // a box of the output that is no box of the operand takes runs of it
    let Some(sides) = access.sides(sides) else {
        let run = view.run().min(sides.iter().product());
        return told(reading, Some((run as u64).saturating_mul(itemsize)), 1.0);
    };
    let part = view.part(&sides.iter().map(|&side| 0..side).collect::<Vec<_>>());
    let [calls, bytes] = calls(&part, source.dtype().itemsize(), Reads::of(READ_AT_ONCE));
    let bytes = bytes as u64;
    told(
        reading,
        Some(bytes.div_ceil(calls.max(1) as u64)),
        bytes as f64 / (part.items() as u64 * itemsize).max(1) as f64,
    )
}
