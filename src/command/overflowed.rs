//! Reports finite items that a cast to floats made infinite or NaN.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::io::Run;
use crate::DType;
use crate::item::cast::overflow_name;
use crate::item::meta::Order;
use crate::ops::cast::{OverflowTally, OverflowedItems};
use crate::report::printable;

#[derive(Default)]
pub(super) struct CastTallies(Vec<CastTally>);

struct CastTally {
    name: String,
    dtype: DType,
    tally: Arc<OverflowTally>,
}

impl CastTallies {
    pub(super) fn add(&mut self, name: String, dtype: &DType) -> Arc<OverflowTally> {
        let tally = Arc::new(OverflowTally::default());
        self.0.push(CastTally { name, dtype: dtype.clone(), tally: Arc::clone(&tally) });
        tally
    }

    /// Call after the output has been written.
    pub(super) fn tell(&self, run: Run<'_>, order: Order) -> Result<()> {
        let mut out = run.io.stderr.clone();
        for CastTally { name, dtype, tally } in self.0.iter().filter(|_| !run.quiet) {
            if let Some(OverflowedItems { items, of, first }) = tally.found(order) {
                let (name, became) = (printable(name), overflow_name(dtype));
                writeln!(out, "{name}: {items} of {of} items became {became}, the first at {first:?}")
                    .context("standard error")?;
            }
        }
        Ok(())
    }
}
