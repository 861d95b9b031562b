//! The cost of writing tensors in other chunks than those of their data, for dry runs.

use super::plan::{LaidOut, TensorJob};
use crate::format::interface::Layout;
use crate::layout::window::Window;

/// The cost of moving a tensor to other chunks.
#[derive(Clone, Debug)]
pub struct Move {
    /// The chunks of a temporary store between input and output, if there is one.
    pub between: Option<Vec<usize>>,
    /// The bytes that are read. Chunks of the temporary store count as long as their items, although they may be
    /// packed.
    pub reads: u64,
    /// The bytes of items that are written.
    pub writes: u64,
    /// How many times each byte would be read if each chunk were made alone.
    pub alone: f64,
    /// The chunks of a temporary store for an output that is made in small shares; `None` if no such store pays off.
    pub for_parts: Option<Vec<usize>>,
    /// The chunks of the output.
    pub chunks: Vec<usize>,
}

impl LaidOut {
    /// The cost of each tensor, in the order of [`tensors`](Self::tensors); `None` for a tensor that keeps its chunks,
    /// or if the data or the output have no chunks.
    pub fn moves(&self) -> Vec<Option<Move>> {
        let Layout::Chunks(chunks) = &self.layout else { return self.outputs.iter().map(|_| None).collect() };
        let all = self.outputs.iter().zip(self.boxes(&**chunks)).map(|(TensorJob { job, .. }, windows)| {
            let style = job.fill().data().as_chunks()?.style();
            let planner = job.planner();
            let readings = planner.readings(&windows).filter(|_| style.unit != windows.sides())?;
            let between = planner.grid_between(&windows);
            let stored = planner.bytes_read(&Window::whole(&job.meta().shape));
            let items = job.meta().bytes() as u64;
            let reads = match &between {
                Some(_) => stored + items,
                None => (stored as f64 * readings.all) as u64,
            };
            let writes = if between.is_some() { 2 * items } else { items };
            let for_parts = planner.grid_for_parts(&windows);
            Some(Move { between, reads, writes, alone: readings.alone, for_parts, chunks: windows.sides().to_vec() })
        });
        all.collect()
    }
}
