//! The preparation of every output: [`Output::prepare`] names and checks its tensors, and lays them out. [`Move`] is the
//! cost of new chunks, and explanations say how the tensors are made.

use std::sync::Arc;

use super::output::{OutputKind, OutputTensor};
use super::plan::{LaidOut, TensorJob};
use super::replaced::{check_replaced, replaces_own_group};
use crate::container::file_options::{FileOptions, Inherited};
use crate::container::interface::{Layout, TextOptions};
use crate::opening::table::{Format, containers};
use crate::plans::explain::Explanation;
use crate::plans::job::Job;
use crate::plans::plan::Route;
use crate::storage::source::Container;
use crate::storage::targets::target::Target;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure};
use tensorop_kernels::layout::window::Window;

/// An output before its tensors are laid out.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    pub format: Format,
    /// The name of the output in messages.
    pub label: &'a str,
    pub options: &'a FileOptions,
    /// Whether numbers are written with the highest byte first; `None` keeps the byte order of each tensor.
    pub big_endian: Option<bool>,
    /// The place of the output. A file or store there must not lose tensors; `None` does not check this.
    pub replaced: Option<Replaced<'a>>,
    /// Whether the tensors keep their order. Otherwise a container has them sorted by name.
    pub keeps_order: bool,
}

/// The file or store at the place of an output.
#[derive(Clone, Copy)]
pub struct Replaced<'a> {
    pub target: &'a Target,
    /// The containers of all operands. The tensors of the output do not tell them all: an operand such as a list of
    /// indices may be missing in them.
    pub containers: &'a [Arc<Container>],
    /// Whether the user left out the tensor of this name.
    pub left_out: &'a dyn Fn(&str) -> bool,
}

impl Output<'_> {
    /// Names and checks tensors, and lays them out. In a container, tensors without a name become `arr_0`, `arr_1` and so on.
    ///
    /// # Errors
    /// The format cannot be written, holds only one tensor of several, or cannot hold one of the tensors or a name; two
    /// tensors have the same name; a replaced file would lose tensors or attachments; the format has no place for an
    /// option.
    pub fn prepare(&self, tensors: Vec<OutputTensor>, mut inherited: Inherited) -> Result<LaidOut> {
        let Self { format, label, options, .. } = *self;
        let tensors = self.checked(tensors)?;
        if let Some(Replaced { target, containers, left_out }) = self.replaced {
            let stays = |name: &str| inherited.copies.iter().any(|copy| copy.name == name) || left_out(name);
            check_replaced(target, &tensors, containers, &inherited.copies, &stays)?;
            inherited.is_group |= replaces_own_group(target, &tensors);
        }
        options.check(format.argument(), format.can()).map_err(|error| error.within(label))?;
        LaidOut::prepare(tensors, format, label, options, &inherited)
    }

    /// Names tensors, and checks whether the format can hold each of them.
    ///
    /// # Errors
    /// The format cannot be written, holds only one tensor of several, or cannot hold one of the tensors; two tensors
    /// have the same name.
    pub fn checked(&self, tensors: Vec<OutputTensor>) -> Result<Vec<OutputTensor>> {
        let Self { format, label, .. } = *self;
        if !format.is_written() {
            let message = format!("{} can be read, not written", format.name());
            return Err(Error::from_kind(ErrorKind::Unsupported, message).within(label));
        }
        let mut tensors = named(tensors, format).with_context(|| label.to_owned())?;
        if format.is_container() && !self.keeps_order {
            tensors.sort_by(|a, b| a.name.cmp(&b.name));
        }
        for tensor in &mut tensors {
            tensor.recast.big_endian = self.big_endian;
            tensor.check(format).with_context(|| match tensor.name.as_deref().filter(|_| format.is_container()) {
                Some(name) => format!("{label}:{name}"),
                None => label.to_owned(),
            })?;
        }
        Ok(tensors)
    }
}

fn named(mut tensors: Vec<OutputTensor>, format: Format) -> Result<Vec<OutputTensor>> {
    if !format.is_container() {
        ensure!(tensors.len() == 1, "{} tensors, and only {} hold several", tensors.len(), containers("and"));
        return Ok(tensors);
    }
    for (n, tensor) in tensors.iter_mut().filter(|tensor| tensor.name.is_none()).enumerate() {
        tensor.name = Some(format!("arr_{n}"));
    }
    let mut names: Vec<_> = tensors.iter().filter_map(|tensor| tensor.name.as_deref()).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => bail!("two tensors are called {:?}", twice[0]),
        None => Ok(tensors),
    }
}

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

impl LaidOut {
    /// Explains how each tensor is made, and returns each explanation with the name of the tensor.
    pub fn explain(&self, to: OutputKind, text: &TextOptions) -> Vec<(String, Explanation)> {
        let explained = |n: usize| {
            let mut explanation = self.with_sink(n, to, text, |sink| self.outputs[n].job.planners().explain(sink));
            if self.is_spooled(to) {
                explanation.plan.route = Route::TemporaryFile;
            }
            (self.outputs[n].name.clone(), explanation)
        };
        (0..self.outputs.len()).map(explained).collect()
    }
}

/// Explains a change in place.
///
/// # Errors
/// The indices cannot be read.
pub fn explain_edit(tensor: OutputTensor) -> Result<Explanation> {
    Job::new(tensor.fill, tensor.limits).planners().explain_edit()
}
