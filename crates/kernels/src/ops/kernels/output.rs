//! Outputs that are filled from operands in memory: windows in C order, one after the other or on several threads.

use std::borrow::Cow;
use std::convert::Infallible;

use ndarray::{Array, ArrayBase, ArrayD, ArrayViewMut, Data, Dimension, IxDyn};

use super::gathered::{Gathered, GatheredFrom, Places};
use super::strided::{Items, Strided, assign, read_run, view_of};
use crate::error::{Context, Error, Result, Subject};
use crate::layout::axis::bytes_of;
use crate::layout::segments::{Segments, arrange};
use crate::layout::view::View;
use crate::layout::walk::each_run;
use crate::layout::window::{Window, Windows, joined_parts};
use crate::memory;
use crate::ops::arrays::slice_of;
use crate::ops::indexed::{Index, IndexSpec};

/// The bytes of a window that is filled while it is in the second-level cache.
const WINDOW: usize = 1 << 18;

/// The bytes of a window if operands are stored across its order, so that a piece of their storage is read for several
/// of its rows.
const WINDOW_ACROSS: usize = 1 << 25;

/// Runs of so many elements are copied into new memory one by one, which is not filled before.
const LONG_RUN: usize = 16;

/// An output with the operands that fill it. Everything is checked, so filling cannot fail.
#[derive(Debug)]
pub(in crate::ops) struct Output<'a, T: Clone> {
    shape: Vec<usize>,
    items: Items<T>,
    content: Content<'a, T>,
}

#[derive(Debug)]
enum Content<'a, T: Clone> {
    /// A view of one operand.
    View(Strided<'a, T>),
    /// Operands next to each other.
    Joined {
        axis: usize,
        ends: &'a [usize],
        parts: Vec<Strided<'a, T>>,
    },
    /// The items in C order with other dims.
    Reshaped(Strided<'a, T>),
    /// Segments of each axis of an operand, and an item for other places.
    Arranged {
        segments: &'a [Segments],
        data: Strided<'a, T>,
        item: Option<Vec<T>>,
    },
    /// Segments of all items of an operand in C order.
    Counted {
        segments: &'a Segments,
        data: Strided<'a, T>,
        item: Option<Vec<T>>,
    },
    Gathered(Box<Gathered<'a, T>>),
}

impl<'a, T: Copy> Output<'a, T> {
    fn new(shape: Vec<usize>, items: Items<T>, content: Content<'a, T>) -> Self {
        Self { shape, items, content }
    }

    pub(in crate::ops) fn view(data: Strided<'a, T>, items: Items<T>) -> Self {
        Self::new(data.shape(), items, Content::View(data))
    }

    /// Joins operands along an axis of the output; `ends` are their ends there, after a leading 0.
    pub(in crate::ops) fn joined(
        shape: Vec<usize>,
        (axis, ends): (usize, &'a [usize]),
        parts: Vec<Strided<'a, T>>,
        items: Items<T>,
    ) -> Self {
        Self::new(shape, items, Content::Joined { axis, ends, parts })
    }

    pub(in crate::ops) fn arranged(
        shape: Vec<usize>,
        segments: &'a [Segments],
        data: Strided<'a, T>,
        item: Option<Vec<T>>,
        items: Items<T>,
    ) -> Self {
        Self::new(shape, items, Content::Arranged { segments, data, item })
    }

    pub(in crate::ops) fn counted(
        shape: Vec<usize>,
        segments: &'a Segments,
        data: Strided<'a, T>,
        item: Option<Vec<T>>,
        items: Items<T>,
    ) -> Self {
        Self::new(shape, items, Content::Counted { segments, data, item })
    }

    /// Blocks of data at places. Tuples that name none have `zero`.
    ///
    /// # Errors
    /// There is not enough memory for a copy of data in another order.
    pub(in crate::ops) fn gathered(
        places: Places,
        data: Strided<'a, T>,
        zero: Option<Vec<T>>,
        items: Items<T>,
    ) -> Result<Self> {
        /// Finding a block of data in another order costs about as much as copying this many items.
        const BLOCK_COST: usize = 16;
        let shape = places.resolver.shapes.updates.clone();
        let blocks = shape.iter().product::<usize>() / places.resolver.block.max(1);
        let data = match data.as_run() {
            Some(run) => GatheredFrom::Run(run.into()),
            None if blocks.saturating_mul(BLOCK_COST) < data.shape().iter().product() => GatheredFrom::Apart(data),
            None => GatheredFrom::Run(Self::view(data, items).to_vec()?.into()),
        };
        Ok(Self::new(shape, items, Content::Gathered(Box::new(Gathered::new(places, data, items, zero)))))
    }

    pub(in crate::ops) fn reshaped(shape: Vec<usize>, data: Strided<'a, T>, items: Items<T>) -> Self {
        Self::new(shape, items, Content::Reshaped(data))
    }

    /// Returns the elements of some item, with which new memory begins; `None` for an output without items.
    fn first_item(&self) -> Option<Vec<T>> {
        match &self.content {
            Content::View(data) | Content::Reshaped(data) => data.item(),
            Content::Joined { parts, .. } => parts.iter().find_map(Strided::item),
            Content::Arranged { data, item, .. } | Content::Counted { data, item, .. } => {
                item.clone().or_else(|| data.item())
            }
            Content::Gathered(gathered) => gathered.item(),
        }
    }

    fn is_across(&self) -> bool {
        match &self.content {
            Content::View(data) | Content::Arranged { data, .. } => data.is_across(),
            Content::Joined { parts, .. } => parts.iter().any(Strided::is_across),
            Content::Reshaped(_) | Content::Counted { .. } | Content::Gathered(_) => false,
        }
    }

    /// The items of a window.
    fn window(&self) -> usize {
        let bytes = if self.is_across() { WINDOW_ACROSS } else { WINDOW };
        (bytes / (size_of::<T>() * self.items.width).max(1)).max(1)
    }

    /// Fills `out` with the items of a window that is contiguous in C order.
    pub(in crate::ops) fn fill(&self, window: &Window, out: &mut [T]) {
        let width = self.items.width;
        if out.is_empty() {
            return;
        }
        match &self.content {
            Content::View(data) => {
                let spans: Vec<_> = window.spans().collect();
                data.select(&spans).read(out, &View::c_order(&window.shape()));
            }
            Content::Joined { axis, ends, parts } => {
                let whole = View::c_order(&window.shape());
                for (n, from, to) in joined_parts(ends, *axis, window) {
                    let from = Window { ranges: from, start: 0 };
                    let spans: Vec<_> = from.spans().collect();
                    parts[n].select(&spans).read(out, &whole.part(&to));
                }
            }
            Content::Reshaped(data) => read_run(data, window.start..window.start + window.items(), out, width),
            Content::Counted { segments, data, item } => {
                let run = window.start..window.start + window.items();
                let pieces = [segments.pieces(&run)];
                let Ok(()) = arrange(&pieces, &fill_item(item, width, out), out, |places, place, out| {
                    let [span] = places else { unreachable!("counted items have one axis") };
                    let first = place.as_run().expect("places of one axis follow each other") * width;
                    read_run(data, span.start..span.start + span.len, &mut out[first..], width);
                    Ok::<_, Infallible>(())
                });
            }
            Content::Arranged { segments, data, item } => {
                let axes = segments.iter().zip(&window.ranges);
                let pieces: Vec<_> = axes.map(|(axis, range)| axis.pieces(range)).collect();
                let Ok(()) = arrange(&pieces, &fill_item(item, width, out), out, |places, place, out| {
                    data.select(places).read(out, place);
                    Ok::<_, Infallible>(())
                });
            }
            Content::Gathered(gathered) => gathered.fill(window.start..window.start + window.items(), out),
        }
    }

    /// Fills all of `out`, which is in C order.
    pub(in crate::ops) fn fill_all(&self, out: &mut [T]) {
        self.fill(&Window::whole(&self.shape), out);
    }

    /// Returns the items in C order. Windows of new memory are filled while they are in a cache, so that making the
    /// memory costs little beside filling it.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(in crate::ops) fn to_vec(&self) -> Result<Vec<T>> {
        let width = self.items.width;
        if bytes_of(&self.shape, size_of::<T>().saturating_mul(width)).is_none() {
            let message = format!("more bytes than can be counted (shape {:?})", self.shape);
            return Err(Error::new(Subject::Output, message));
        }
        let elements = self.shape.iter().product::<usize>() * width;
        let mut out = memory::with_capacity(elements).context(Subject::Output.to_string())?;
        if let Content::View(data) | Content::Reshaped(data) = &self.content
            && let Some(run) = data.as_run()
        {
            out.extend_from_slice(run);
            return Ok(out);
        }
        if elements == 0 {
            return Ok(out);
        }
        if let Content::View(Strided::Memory { elements, view, .. }) = &self.content
            && view.run() * width >= LONG_RUN
            && size_of_val(*elements) <= WINDOW_ACROSS
        {
            let run = view.run() * width;
            each_run(view, |first| out.extend_from_slice(&elements[first * width..][..run]));
            return Ok(out);
        }
        if let Content::Joined { axis, ends, parts } = &self.content
            && let Some(runs) = parts.iter().map(Strided::as_run).collect::<Option<Vec<_>>>()
        {
            let inner = self.shape[axis + 1..].iter().product::<usize>() * width;
            let blocks = || ends.windows(2).map(|ends| (ends[1] - ends[0]) * inner);
            if blocks().all(|block| block >= LONG_RUN) {
                for row in 0..self.shape[..*axis].iter().product() {
                    let rows = runs.iter().zip(blocks()).map(|(run, block)| &run[row * block..][..block]);
                    rows.for_each(|row| out.extend_from_slice(row));
                }
                return Ok(out);
            }
        }
        let item = self.first_item().and_then(|item| item.first().copied());
        let element = item.expect("an output with items has an operand, or an item to fill places with");
        for window in Windows::new(&self.shape, self.window()).iter() {
            let first = out.len();
            out.resize(first + window.items() * width, element);
            self.fill(&window, &mut out[first..]);
        }
        Ok(out)
    }

    /// # Errors
    /// There is not enough memory.
    pub(in crate::ops) fn to_array<D: Dimension>(&self) -> Result<Array<T, D>> {
        let out = ArrayD::from_shape_vec(IxDyn(&self.shape), self.to_vec()?).expect("an item for each place");
        Ok(out.into_dimensionality().expect("the rank of the output is that of its type"))
    }

    /// Fills an array of the caller.
    ///
    /// # Errors
    /// `out` has another shape, or there is no memory for a window of an array with gaps.
    pub(in crate::ops) fn to_view<D: Dimension>(&self, mut out: ArrayViewMut<'_, T, D>) -> Result<()> {
        check_output(&self.shape, out.shape())?;
        if out.is_empty() {
            return Ok(());
        }
        if let Some(out) = out.as_slice_mut() {
            self.fill_all(out);
            return Ok(());
        }
        let view = view_of(out.shape(), out.strides());
        if let (Content::View(data), Some(out)) = (&self.content, out.as_slice_memory_order_mut())
            && let Strided::Memory { elements, view: from, items } = data
        {
            items.copy(elements, from, out, &view);
            return Ok(());
        }
        let windows = Windows::new(&self.shape, self.window());
        let mut window = memory::with_capacity(windows.largest()).context(Subject::Output.to_string())?;
        let element = out.first().copied().expect("an array with items");
        for at in windows.iter() {
            window.resize(at.items(), element);
            self.fill(&at, &mut window);
            let spans: Vec<_> = at.spans().collect();
            assign(out.slice_each_axis_mut(|of| slice_of(spans[of.axis.index()])).into_dyn(), &window);
        }
        Ok(())
    }
}

pub(in crate::ops) fn gathered<'a, T: Copy>(
    spec: IndexSpec,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    data: &'a ArrayBase<impl Data<Elem = T>, impl Dimension>,
    zero: Option<T>,
) -> Result<Output<'a, T>> {
    let places = Places::from_numbers(spec, &run_of(indices)?)?;
    Output::gathered(places, Strided::of(data), zero.map(|zero| vec![zero]), Items::single())
}

pub(in crate::ops) fn copy_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    Output::view(Strided::of(data), Items::single()).to_view(out)
}

/// Copies an array, in C order.
pub(in crate::ops) fn copied<T: Copy, D: Dimension>(data: &ArrayBase<impl Data<Elem = T>, D>) -> Result<Array<T, D>> {
    Output::view(Strided::of(data), Items::single()).to_array()
}

/// Returns the items in C order, copied if they have another.
///
/// # Errors
/// There is not enough memory.
pub(super) fn run_of<T: Copy, D: Dimension>(array: &ArrayBase<impl Data<Elem = T>, D>) -> Result<Cow<'_, [T]>> {
    match array.as_slice() {
        Some(items) => Ok(items.into()),
        None => Ok(Output::view(Strided::of(array), Items::single()).to_vec()?.into()),
    }
}

/// # Errors
/// The shapes differ.
pub(in crate::ops) fn check_output(expected: &[usize], found: &[usize]) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::new(Subject::Output, format!("shape {found:?}, expected {expected:?}")))
}

/// Returns the item for filled places. An arrangement without one fills none, and its length alone counts.
fn fill_item<T: Copy>(item: &Option<Vec<T>>, width: usize, out: &[T]) -> Vec<T> {
    item.clone().unwrap_or_else(|| out[..width].to_vec())
}
