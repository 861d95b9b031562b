//! Plans as people are told them: what is read for what, and what it costs.

use std::fmt;
use std::ops::Range;

use super::cost::{Cost, OperandReading, OperandReads, Planners, reads_of};
use super::plan::{Plan, SinkKind};
use super::planner::Planner;
use super::scan_plan::{ScannedPart, ShownAs, held_by_scan, plan_scan};
use super::slabs::readings;
use crate::error::Result;
use crate::ops::access::Access;
use crate::ops::fill::Limits;

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

impl OperandReading {
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

impl Planners<'_> {
    /// Tells the plan of an output for what takes it.
    pub fn explain(&self, sink: SinkKind<'_>) -> Explanation {
        let mut ways = self.ways(sink).into_iter();
        let (plan, cost) = ways.next().expect("there is a way to make an output");
        self.of(plan.way).explained(plan, cost, ways.next())
    }

    /// Tells the plan of an edit of the data in place.
    ///
    /// # Errors
    /// Those of [`plan_edit`](Planners::plan_edit).
    pub fn explain_edit(&self) -> Result<Explanation> {
        let plan = self.plan_edit(None::<fn(usize) -> Range<usize>>)?;
        let planner = self.of(plan.way);
        let cost = planner.cost(&plan);
        Ok(planner.explained(plan, cost, None))
    }
}

impl Planner<'_> {
    fn explained(&self, plan: Plan, cost: Cost, instead: Option<(Plan, Cost)>) -> Explanation {
        let (itemsize, is_remote) = (self.meta.dtype.itemsize(), self.is_remote);
        let (purpose, operands, notes) = (Purpose::Output, self.operands(&plan), Vec::new());
        Explanation { purpose, operands, plan, cost, instead, itemsize, is_remote, notes }
    }
}

/// Tells the plan of `passes` scans of the same parts of tensors, as far as it is known before the first item is read.
///
/// # Panics
/// As [`plan_scan`].
pub fn explain_scan(parts: &[ScannedPart<'_>], limits: Limits, shown: ShownAs, passes: usize) -> Explanation {
    let plan = plan_scan(parts, limits, shown);
    let sides = &plan.steps.sides(&parts[0].view.shape());
    let reads = |part: &ScannedPart<'_>| {
        let shape = part.view.shape();
        let access = Access::strided(part.source, &part.view, &(0..shape.len()).map(Some).collect::<Vec<_>>());
        // in C order what several windows read of a chunk is kept, since longer rows of chunks are copied first
        let grid = access.grid().filter(|_| !part.view.is_c_order());
        let of_chunks = grid.map_or(1.0, |grid| readings(&shape, sides, &grid));
        let once = match part.is_kept {
            // what is copied is read as it comes, and scanned where the copy lies
            true => OperandReads { reading: OperandReading::AsItComes, piece: None, ..reads_of(&access, sides, 1.0) },
            false => reads_of(&access, sides, of_chunks),
        };
        OperandReads { times: if part.is_kept { 1.0 } else { once.times * passes as f64 }, ..once }
    };
    // without windows nothing is read
    let operands: Vec<_> = if plan.steps.count() == 0 { Vec::new() } else { parts.iter().map(reads).collect() };
    let itemsize = parts.iter().map(|part| part.source.dtype().itemsize()).fold(1, usize::max);
    let held = held_by_scan(plan.steps.largest(), itemsize, parts.len()).saturating_mul(plan.threads) as u64;
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
