//! Plans for `--explain`: reads and costs.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use super::cost::{Cost, OperandReading, OperandReads, Planners};
use super::plan::{Plan, SinkKind};
use super::planner::Planner;
use super::scan_plan::{ScanWay, ScannedPart, ShownAs, ways_to_scan};
use crate::error::Result;
use crate::ops::fill::Limits;
use crate::storage::calls::Calls;

/// The purpose of the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Output,
    /// To inspect windows; nothing is written.
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
    pub fn label(self, purpose: Purpose) -> String {
        match self {
            Self::Along => format!("along {purpose}"),
            Self::Across => format!("across {purpose}"),
            Self::ByIndices => "by indices".to_owned(),
            Self::InMemory => "in memory".to_owned(),
            Self::AsItComes => "as it comes".to_owned(),
        }
    }
}

/// A plan with its cost.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub purpose: Purpose,
    pub operands: Vec<OperandReads>,
    pub plan: Plan,
    pub cost: Cost,
    /// The second-best plan.
    pub instead: Option<(Plan, Cost)>,
    /// In bytes: of the output, or the widest of a scan.
    pub itemsize: usize,
    /// Whether reads are requests.
    pub is_remote: bool,
    /// Reads that depend on the items: sentences without full stops.
    pub notes: Vec<String>,
}

impl Planners<'_> {
    /// Explains the best plan.
    pub fn explain(&self, sink: SinkKind<'_>) -> Explanation {
        let mut ways = self.ways(sink).into_iter();
        let (plan, cost) = ways.next().expect("there is a way to make an output");
        self.planner(plan.way).explained(plan, cost, ways.next())
    }

    pub fn explain_edit(&self) -> Result<Explanation> {
        let plan = self.plan_edit(None::<fn(usize) -> Range<usize>>)?;
        let planner = self.planner(plan.way);
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

/// Explains a scan: the cost of the fewest `passes`, given the most. Also returns the calls of another pass. Panics
/// like [`plan_scan`](super::scan_plan::plan_scan).
pub fn explain_scan(
    parts: &[ScannedPart<'_>],
    limits: Limits,
    shown: ShownAs,
    passes: RangeInclusive<usize>,
) -> (Explanation, Calls) {
    let parts: Vec<_> = parts.iter().map(|part| part.clone().scanned(*passes.end())).collect();
    let mut ways = ways_to_scan(&parts, limits, shown).into_iter();
    let mut way = ways.next().expect("there is a way to scan parts");
    let passes = *passes.start();
    let (again, one_more) = (way.again(passes - 1), way.again(1));
    let is_remote = parts.iter().any(|part| part.source.costs_requests());
    let read = if is_remote { limits.machine.request } else { limits.machine.read };
    way.cost.calls += again;
    let more = again.bytes_read.saturating_add(again.reads.saturating_mul(read as u64));
    way.cost.total = way.cost.total.saturating_add(more);
    let is_copied = |n: usize| parts[n].is_kept || way.is_resident(n);
    let scanned: Vec<_> = (0..way.operands.len()).filter(|&n| !is_copied(n)).collect();
    scanned.into_iter().for_each(|n| way.operands[n].times *= passes as f64);
    let note = |n: usize| {
        let label = parts[n].source.label();
        let note =
            || format!("{label} is first copied to memory or to a temporary file, which these windows are read from");
        parts[n].is_kept.then(note)
    };
    let notes = (0..parts.len()).filter_map(note).collect();
    let itemsize = parts.iter().map(|part| part.source.dtype().itemsize()).fold(1, usize::max);
    let instead = ways.next().map(|way| (way.plan, way.cost));
    let ScanWay { plan, cost, operands, .. } = way;
    let explanation = Explanation { purpose: Purpose::Scan, operands, plan, cost, instead, itemsize, is_remote, notes };
    (explanation, one_more)
}
