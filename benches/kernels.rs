//! The kernels, without files: the bytes that each moves in a second, and as their limit what a plain copy of as many
//! bytes moves (`memory`).
//!
//! `cargo bench --bench kernels` runs all, `cargo bench --bench kernels -- scatter_nd` a part.

use std::fmt;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use tensorop::internal::operators::fill::Limits;
use tensorop::internal::operators::indexed::{Grouping, Sweeps};
use tensorop::internal::storage::source::Source;
use tensorop::item::meta::Order;
use tensorop::layout::axis::Span;
use tensorop::layout::copy::copy_bytes;
use tensorop::layout::view::View;
use tensorop::layout::window::Window;
use tensorop::ops::operators::{scatter_nd, scatter_update};
use tensorop::ops::reduction;
use tensorop::ops::reduction::Repeats;
use tensorop::ops::slice_scatter::SliceScatter;
use tensorop::{DType, Reduction, SliceArgs, StepRange};

/// Bytes of a tensor: one stays in a core's cache (as the program's windows do), the other in no cache of most
/// machines.
const SIZES: [usize; 2] = [1 << 18, 1 << 25];
/// Bytes of an item; 3 and 12 are no power of two.
const WIDTHS: [usize; 7] = [1, 2, 3, 4, 8, 12, 16];

fn main() {
    divan::main();
}

/// A square tensor of about `size` bytes, with items of `width` bytes.
#[derive(Clone, Copy)]
struct Case {
    size: usize,
    width: usize,
}

fn cases() -> impl Iterator<Item = Case> {
    SIZES.into_iter().flat_map(|size| WIDTHS.map(|width| Case { size, width }))
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} KiB, items of {}", self.size >> 10, self.width)
    }
}

impl Case {
    /// Rows, and columns; a multiple of 8.
    fn side(self) -> usize {
        (self.size / self.width).isqrt() & !7
    }

    fn shape(self) -> [usize; 2] {
        [self.side(); 2]
    }

    /// `items` items that are not zero pages.
    fn items(self, items: usize) -> Vec<u8> {
        vec![1; items * self.width]
    }

    fn all(self) -> Vec<u8> {
        self.items(self.side() * self.side())
    }

    /// Gathers what `view` makes of the whole tensor.
    fn gather(self, bencher: Bencher, view: impl Fn(View) -> View) {
        let from = view(View::c_order(&self.shape()));
        let (source, to) = (self.all(), View::c_order(&from.shape()));
        let mut target = self.items(from.items());
        let bytes = BytesCount::new(target.len());
        bencher.counter(bytes).bench_local(|| copy_bytes(black_box(&source), &from, &mut target, &to, self.width));
    }

    /// Puts updates into a slice of the tensor.
    fn put(self, bencher: Bencher, start: i64, step: i64, axis: i64) {
        let args = SliceArgs::default().axis(axis, StepRange::from(start..).by(step));
        let plan = SliceScatter::resolve(&self.shape(), &args, None).unwrap();
        let (_, to) = plan.part(&Window::whole(&self.shape())).unwrap();
        let (from, mut target) = (View::c_order(&plan.updates_shape()), self.all());
        let updates = self.items(from.items());
        let bytes = BytesCount::new(updates.len());
        bencher.counter(bytes).bench_local(|| copy_bytes(black_box(&updates), &from, &mut target, &to, self.width));
    }

    /// Applies all updates of a scatter to the tensor: `combine(old, update)` for each run.
    fn scatter(self, bencher: Bencher, sweeps: &Sweeps, combine: impl Fn(&mut [u8], &[u8])) {
        let (updates, scatter) = (self.items(sweeps.changed()), sweeps.get(0, None).unwrap());
        let (mut target, window) = (self.all(), Window::whole(&self.shape()));
        bencher.counter(BytesCount::new(updates.len())).bench_local(|| {
            let updates = black_box(&updates);
            scatter.runs(&window, |run| {
                let old = &mut target[run.to * self.width..][..run.len * self.width];
                combine(old, &updates[run.from * self.width..][..old.len()]);
            });
        });
    }

    /// One index for every fourth place of an axis, in no order.
    fn indices(self) -> Vec<usize> {
        scattered(self.side()).take(self.side() / 4).collect()
    }

    fn update_axis(self, bencher: Bencher, axis: i64) {
        let indices = self.indices();
        let numbers = scatter_update::check(&self.shape(), &[indices.len()], None, axis).unwrap().in_order(Order::C);
        let indices = tensor(&[indices.len()], indices);
        let sweeps = Sweeps::new(
            numbers,
            indices,
            None,
            Grouping { repeats: Repeats::LastWins, group: self.group(), lasts: None },
            Limits::default(),
        );
        self.scatter(bencher, &sweeps.unwrap(), put);
    }

    /// The items that are changed together.
    fn group(self) -> usize {
        SIZES[0] / self.width
    }

    /// Index tuples of every sixteenth item, in no order.
    fn points(self) -> Vec<usize> {
        let side = self.side();
        scattered(side * side).take(side * side / 16).flat_map(|place| [place / side, place % side]).collect()
    }

    fn resolve_points(self, tuples: &[usize]) -> Sweeps {
        let shape = [tuples.len() / 2, 2];
        let numbers = scatter_nd::check(&self.shape(), &shape, None).unwrap().in_order(Order::C);
        let indices = tensor(&shape, tuples.to_vec());
        Sweeps::new(
            numbers,
            indices,
            None,
            Grouping { repeats: Repeats::LastWins, group: self.group(), lasts: None },
            Limits::default(),
        )
        .unwrap()
    }
}

/// Index numbers as an operand.
fn tensor(shape: &[usize], numbers: Vec<usize>) -> Source {
    let numbers = numbers.into_iter().map(|number| number as u64).collect();
    let array = ndarray::ArrayD::from_shape_vec(shape, numbers).unwrap();
    Source::memory(tensorop::Tensor::from(&array), "INDICES".to_owned())
}

/// Puts a run of updates in its place: single items, the usual run of points and columns, as words.
fn put(old: &mut [u8], new: &[u8]) {
    fn word<const N: usize>(old: &mut [u8], new: &[u8]) {
        old.as_chunks_mut::<N>().0[0] = new.as_chunks::<N>().0[0];
    }
    match old.len() {
        1 => word::<1>(old, new),
        2 => word::<2>(old, new),
        4 => word::<4>(old, new),
        8 => word::<8>(old, new),
        16 => word::<16>(old, new),
        _ => old.copy_from_slice(new),
    }
}

/// All numbers below `n` in no order, the same at every run: steps of a prime around a circle.
fn scattered(n: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |i| i * 2_654_435_761 % n)
}

/// The limit.
#[divan::bench(args = SIZES, sample_count = 20)]
fn memory(bencher: Bencher, size: usize) {
    let (source, mut target) = (vec![1_u8; size], vec![2_u8; size]);
    bencher.counter(BytesCount::new(size)).bench_local(|| black_box(&mut target).copy_from_slice(black_box(&source)));
}

#[divan::bench_group(sample_count = 20)]
mod slice {
    use super::*;

    #[divan::bench(args = cases())]
    fn contiguous(bencher: Bencher, case: Case) {
        case.gather(bencher, |all| all);
    }

    #[divan::bench(args = cases())]
    fn every_second_column(bencher: Bencher, case: Case) {
        let columns = Span { start: 0, step: 2, len: case.side() / 2 };
        case.gather(bencher, |all| all.select(&[Span::whole(case.side()), columns]));
    }

    #[divan::bench(args = cases())]
    fn reversed(bencher: Bencher, case: Case) {
        let backwards = Span { start: case.side() - 1, step: -1, len: case.side() };
        case.gather(bencher, |all| all.select(&[backwards; 2]));
    }

    #[divan::bench(args = cases())]
    fn transposed(bencher: Bencher, case: Case) {
        case.gather(bencher, |all| all.with_axes(&[1, 0]));
    }
}

#[divan::bench_group(sample_count = 20)]
mod slice_scatter {
    use super::*;

    #[divan::bench(args = cases())]
    fn every_second_row(bencher: Bencher, case: Case) {
        case.put(bencher, 0, 2, 0);
    }

    #[divan::bench(args = cases())]
    fn every_second_column(bencher: Bencher, case: Case) {
        case.put(bencher, 0, 2, 1);
    }
}

#[divan::bench_group(sample_count = 20)]
mod update {
    use super::*;

    #[divan::bench(args = cases())]
    fn rows(bencher: Bencher, case: Case) {
        case.update_axis(bencher, 0);
    }

    #[divan::bench(args = cases())]
    fn columns(bencher: Bencher, case: Case) {
        case.update_axis(bencher, 1);
    }
}

#[divan::bench_group(sample_count = 20)]
mod nd {
    use super::*;

    /// Bytes of the index tuples.
    #[divan::bench(args = SIZES.map(|size| Case { size, width: 4 }))]
    fn resolve_points(bencher: Bencher, case: Case) {
        let tuples = case.points();
        let bytes = BytesCount::of_slice(&tuples[..]);
        bencher.counter(bytes).bench_local(|| case.resolve_points(black_box(&tuples)));
    }

    #[divan::bench(args = cases())]
    fn points(bencher: Bencher, case: Case) {
        case.scatter(bencher, &case.resolve_points(&case.points()), put);
    }

    /// As many updates as rows, with an average of two for each row that is met.
    #[divan::bench(args = SIZES.iter().flat_map(|&size| ["int32", "float16", "float32"].map(|dtype| (size, dtype))))]
    fn add_rows(bencher: Bencher, (size, dtype): (usize, &str)) {
        let dtype = DType::parse(dtype).unwrap();
        let case = Case { size, width: dtype.itemsize() };
        let rows: Vec<usize> = scattered(case.side()).map(|row| row / 2 * 2).collect();
        let shape = [rows.len(), 1];
        let numbers = scatter_nd::check(&case.shape(), &shape, None).unwrap().in_order(Order::C);
        let repeats = Grouping { repeats: Repeats::Combined, group: case.group(), lasts: None };
        let sweeps = Sweeps::new(numbers, tensor(&shape, rows), None, repeats, Limits::default()).unwrap();
        case.scatter(bencher, &sweeps, reduction::combine(&dtype, Reduction::Add).unwrap().unwrap().blocks);
    }
}

/// The functions on arrays, with new arrays as results: 64 MiB of float32.
#[divan::bench_group(sample_count = 20)]
mod arrays {
    use super::*;
    use ndarray::{Array1, Array2, ArrayView2, Axis, Slice};
    use tensorop::kernel::{Call, TensorMut, TensorRef};
    use tensorop::{Meta, PadMode, concat, gather, pad, roll, scatter_nd, slice_scatter, tile, transpose};
    use tensorop::{slice_scatter_in_place, transpose_into};

    const SIDE: usize = 4096;

    fn square() -> Array2<f32> {
        Array2::from_shape_fn((SIDE, SIDE), |(row, column)| (row * 7 + column) as f32)
    }

    /// Bytes of the output.
    fn run<T>(bencher: Bencher, mut make: impl FnMut(ArrayView2<'_, f32>) -> T) {
        let data = square();
        bencher.counter(BytesCount::of_many::<f32>(SIDE * SIDE)).bench_local(|| make(black_box(&data).view()));
    }

    #[divan::bench]
    fn slice_rows(bencher: Bencher) {
        run(bencher, |data| tensorop::slice(&data, &"1:".parse().unwrap()).unwrap());
    }

    #[divan::bench]
    fn slice_columns(bencher: Bencher) {
        run(bencher, |data| tensorop::slice(&data, &":, 1:".parse().unwrap()).unwrap());
    }

    #[divan::bench]
    fn slice_every_second_column(bencher: Bencher) {
        run(bencher, |data| tensorop::slice(&data, &":, ::2".parse().unwrap()).unwrap());
    }

    #[divan::bench]
    fn slice_of_a_view(bencher: Bencher) {
        run(bencher, |data| {
            tensorop::slice(&data.slice_axis(Axis(1), Slice::from(..-1)), &"1:".parse().unwrap()).unwrap()
        });
    }

    #[divan::bench]
    fn transposed(bencher: Bencher) {
        run(bencher, |data| transpose(&data, None).unwrap());
    }

    #[divan::bench]
    fn concat_columns(bencher: Bencher) {
        run(bencher, |data| {
            let (left, right) = data.split_at(Axis(1), SIDE / 2);
            concat(&[left, right], 1).unwrap()
        });
    }

    #[divan::bench]
    fn gather_rows(bencher: Bencher) {
        let rows: Array1<usize> = scattered(SIDE).collect();
        run(bencher, |data| gather(&data, &rows, 0, 0).unwrap());
    }

    #[divan::bench]
    fn gather_columns(bencher: Bencher) {
        let columns: Array1<usize> = scattered(SIDE).collect();
        run(bencher, |data| gather(&data, &columns, 1, 0).unwrap());
    }

    #[divan::bench]
    fn padded(bencher: Bencher) {
        run(bencher, |data| pad(&data, &[1, 1], &[1, 1], None, PadMode::Constant, 0.5).unwrap());
    }

    #[divan::bench]
    fn rolled(bencher: Bencher) {
        run(bencher, |data| roll(&data, &[1, 1], Some(&[0, 1])).unwrap());
    }

    #[divan::bench]
    fn tiled(bencher: Bencher) {
        run(bencher, |data| tile(&data.split_at(Axis(0), SIDE / 4).0, &[4, 1]).unwrap());
    }

    #[divan::bench]
    fn scatter_nd_points(bencher: Bencher) {
        let count = SIDE * SIDE / 16;
        let tuples = scattered(SIDE * SIDE).take(count).flat_map(|place| [place / SIDE, place % SIDE]);
        let tuples = Array2::from_shape_vec((count, 2), tuples.collect()).unwrap();
        let updates = Array1::from_elem(count, 1.0);
        run(bencher, |data| scatter_nd(&data, &tuples, &updates).unwrap());
    }

    #[divan::bench]
    fn slice_scatter_four_rows(bencher: Bencher) {
        let updates = Array2::from_elem((4, SIDE), 1.0);
        run(bencher, |data| slice_scatter(&data, &updates, &"8:12".parse().unwrap()).unwrap());
    }

    /// The same without a new array: bytes of the updates.
    #[divan::bench]
    fn slice_scatter_four_rows_in_place(bencher: Bencher) {
        let (mut data, updates) = (square(), Array2::from_elem((4, SIDE), 1.0));
        let args = "8:12".parse().unwrap();
        bencher.counter(BytesCount::of_many::<f32>(4 * SIDE)).bench_local(|| {
            slice_scatter_in_place(&mut data.view_mut(), black_box(&updates), &args).unwrap();
        });
    }

    #[divan::bench]
    fn transposed_into(bencher: Bencher) {
        let mut out = square();
        run(bencher, |data| transpose_into(&data, None, black_box(&mut out).view_mut()).unwrap());
    }

    #[divan::bench]
    fn transposed_into_columns(bencher: Bencher) {
        let mut out = Array2::<f32>::zeros((SIDE, 2 * SIDE));
        run(bencher, |data| transpose_into(&data, None, out.view_mut().split_at(Axis(1), SIDE).1).unwrap());
    }

    /// The same on bytes, on one and on two threads.
    #[divan::bench(args = [1, 2])]
    fn transposed_bytes(bencher: Bencher, threads: usize) {
        let data = vec![1_u8; 4 * SIDE * SIDE];
        let (mut out, dtype, shape) = (data.clone(), DType::FLOAT32, [SIDE, SIDE]);
        let kernel =
            Call::Transpose { axes: None }.infer(&[Meta::new(dtype.clone(), shape.to_vec()).unwrap()]).unwrap();
        bencher.counter(BytesCount::of_slice(&data)).bench_local(|| {
            let out = TensorMut::new(&dtype, &shape, &mut out).unwrap();
            kernel.apply(&[TensorRef::new(&dtype, &shape, black_box(&data)).unwrap()], out, threads).unwrap();
        });
    }
}

#[divan::bench_group(sample_count = 20)]
mod diff {
    use super::Source;
    use tensorop::Tensor;
    use tensorop::diff::{Effort, Options, compare_sources};

    use super::*;

    /// Compares floats with others that are so much more at every place. Bytes of one tensor, whose windows are
    /// copied on the way.
    fn compare(bencher: Bencher, dtype: &str, more: f64) {
        let dtype = DType::parse(dtype).unwrap();
        let source = |more: f64| {
            let value = |item: usize| (item * 7 % 1000) as f64 + more;
            let items = 0..SIZES[1] / dtype.itemsize();
            let bytes = match dtype.itemsize() {
                4 => items.flat_map(|item| (value(item) as f32).to_le_bytes()).collect(),
                _ => items.flat_map(|item| value(item).to_le_bytes()).collect(),
            };
            let shape = vec![SIZES[1] / dtype.itemsize()];
            Source::memory(Tensor::new(dtype.clone(), shape, bytes).unwrap(), String::new())
        };
        let (mut expected, mut actual) = (source(0.0), source(more));
        let compare =
            || compare_sources(&mut expected, &mut actual, &Options::default(), Effort::default(), &|_| ()).unwrap();
        bencher.counter(BytesCount::new(SIZES[1])).bench_local(compare);
    }

    #[divan::bench(args = ["float32", "float64"])]
    fn equal(bencher: Bencher, dtype: &str) {
        compare(bencher, dtype, 0.0);
    }

    #[divan::bench(args = ["float32", "float64"])]
    fn different(bencher: Bencher, dtype: &str) {
        compare(bencher, dtype, 0.125);
    }
}
