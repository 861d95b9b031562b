//! Random cases for every operator against plain nested loops over index vectors, down both ways: the program with windows
//! that end anywhere and several threads, to standard output and in place, and the library on arrays.
//!
//! `tests/oracle/differential.py` compares the operators with NumPy in the same way. NumPy is the authority for all that it can
//! do: where the two differ, the loops here are wrong. The loops are run by every `cargo test`, and are the only check of
//! what NumPy has not: windows, edits in place, and the library.

use ndarray::{ArrayD, IxDyn, ShapeBuilder};
use tensorop::ops::reduction::Reducible;
use tensorop::{Reduction, SliceArgs};

use crate::common::{
    self, DIVISIONS, Division, Folder, Random, difference, header, indices, npy_with_header, offset, rounds, to_fortran,
};

/// What items are: NumPy's letter and number, bytes of an item, bytes of the units that a byte order arranges.
type Kind = (&'static str, usize, usize);

const KINDS: [Kind; 27] = [
    ("u1", 1, 1),
    ("i1", 1, 1),
    ("S1", 1, 1),
    ("V1", 1, 1),
    ("u2", 2, 2),
    ("f2", 2, 2),
    ("S2", 2, 1),
    ("S3", 3, 1),
    ("V3", 3, 1),
    ("u4", 4, 4),
    ("f4", 4, 4),
    ("U1", 4, 4),
    ("V4", 4, 1),
    ("S5", 5, 1),
    ("V5", 5, 1),
    ("u8", 8, 8),
    ("f8", 8, 8),
    ("c8", 8, 4),
    ("U2", 8, 4),
    ("M8[ns]", 8, 8),
    ("U3", 12, 4),
    ("S12", 12, 1),
    ("c16", 16, 8),
    ("f16", 16, 16),
    ("V24", 24, 1),
    ("U6", 24, 4),
    ("S24", 24, 1),
];

/// A tensor: little-endian items in C order, and how its file stores them.
#[derive(Clone, Debug)]
struct Tensor {
    kind: Kind,
    shape: Vec<usize>,
    items: Vec<u8>,
    big: bool,
    fortran: bool,
}

impl Tensor {
    fn new(random: &mut Random, kind: Kind, shape: Vec<usize>) -> Self {
        let items = random.bytes(shape.iter().product::<usize>() * kind.1);
        Self { kind, shape, items, big: random.chance(30), fortran: random.chance(30) }
    }

    fn descr(&self) -> String {
        let order = if self.kind.2 == 1 { '|' } else { ['<', '>'][usize::from(self.big)] };
        format!("{order}{}", self.kind.0)
    }

    /// The items in the order of bytes of `big`, which are its own inverse.
    fn ordered(&self, big: bool) -> Vec<u8> {
        let mut items = self.items.clone();
        if big {
            items.chunks_exact_mut(self.kind.2).for_each(<[u8]>::reverse);
        }
        items
    }

    fn file(&self) -> Vec<u8> {
        let mut items = self.ordered(self.big);
        if self.fortran {
            items = to_fortran(&items, &self.shape, self.kind.1);
        }
        npy_with_header(&header(&self.descr(), self.fortran, &self.shape), &items)
    }

    fn item(&self, at: &[usize]) -> &[u8] {
        &self.items[offset(at, &self.shape) * self.kind.1..][..self.kind.1]
    }

    fn put(&mut self, at: &[usize], item: &[u8]) {
        let place = offset(at, &self.shape) * self.kind.1;
        self.items[place..][..item.len()].copy_from_slice(item);
    }

    fn array<const N: usize>(&self) -> ArrayD<[u8; N]> {
        let mut items = self.items.clone();
        if self.fortran {
            items = to_fortran(&items, &self.shape, self.kind.1);
        }
        let words = items.as_chunks::<N>().0.to_vec();
        ArrayD::from_shape_vec(IxDyn(&self.shape).set_f(self.fortran), words).expect("an array")
    }
}

/// Index numbers, in a file of some integer dtype.
#[derive(Clone, Debug)]
struct Numbers {
    shape: Vec<usize>,
    numbers: Vec<i64>,
    dtype: &'static str,
    fortran: bool,
}

impl Numbers {
    /// Small numbers, in some dtype that can hold them.
    fn new(random: &mut Random, shape: Vec<usize>, numbers: Vec<i64>) -> Self {
        const SIGNED: [&str; 7] = ["|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8"];
        const UNSIGNED: [&str; 7] = ["|u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"];
        let signed = numbers.iter().any(|&n| n < 0) || random.chance(50);
        let dtype = random.of(if signed { &SIGNED } else { &UNSIGNED });
        Self { shape, numbers, dtype, fortran: random.chance(30) }
    }

    fn file(&self) -> Vec<u8> {
        let size = usize::from(self.dtype.as_bytes()[2] - b'0');
        let mut items: Vec<u8> = self.numbers.iter().flat_map(|n| n.to_le_bytes()[..size].to_vec()).collect();
        if self.dtype.starts_with('>') {
            items.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        if self.fortran {
            items = to_fortran(&items, &self.shape, size);
        }
        npy_with_header(&header(self.dtype, self.fortran, &self.shape), &items)
    }

    fn array(&self) -> ArrayD<i64> {
        ArrayD::from_shape_vec(IxDyn(&self.shape), self.numbers.clone()).expect("an array")
    }
}

/// Start, stop, step and axes as typed, and the places they name on each axis of a shape.
#[derive(Clone, Debug)]
struct Slices {
    start: Vec<i64>,
    stop: Vec<i64>,
    step: Vec<i64>,
    axes: Option<Vec<i64>>,
    places: Vec<Vec<usize>>,
}

impl Slices {
    fn new(random: &mut Random, shape: &[usize]) -> Self {
        let rank = shape.len();
        let count = random.below(rank + 1);
        let by_name = random.chance(70);
        let mut free: Vec<usize> = (0..rank).collect();
        let mut slices = Self {
            start: Vec::new(),
            stop: Vec::new(),
            step: Vec::new(),
            axes: by_name.then(Vec::new),
            places: shape.iter().map(|&dim| (0..dim).collect()).collect(),
        };
        for i in 0..count {
            let axis = if by_name { free.remove(random.below(free.len())) } else { i };
            if let Some(axes) = &mut slices.axes {
                axes.push(axis as i64 - if random.chance(50) { rank as i64 } else { 0 });
            }
            let bound = |random: &mut Random| match random.below(12) {
                0 => i64::MAX,
                1 => i64::MIN,
                _ => random.within(-8..9),
            };
            let (start, stop) = (bound(random), bound(random));
            let step = *random.of(&[1, 1, 2, 3, -1, -1, -2, -3, i64::MAX, i64::MIN]);
            slices.places[axis] = places(start, stop, step, shape[axis]);
            slices.start.push(start);
            slices.stop.push(stop);
            slices.step.push(step);
        }
        slices
    }

    fn shape(&self) -> Vec<usize> {
        self.places.iter().map(Vec::len).collect()
    }

    fn place(&self, at: &[usize]) -> Vec<usize> {
        at.iter().zip(&self.places).map(|(&i, places)| places[i]).collect()
    }

    fn options(&self) -> Vec<String> {
        let list = |option: &str, numbers: &[i64]| {
            format!("--{option}={}", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
        };
        let mut options = vec![list("start", &self.start), list("stop", &self.stop), list("step", &self.step)];
        options.extend(self.axes.as_ref().map(|axes| list("axes", axes)));
        options
    }

    fn args(&self) -> SliceArgs {
        let args = SliceArgs::new(&self.start, &self.stop).and_then(|args| args.with_steps(&self.step));
        let args = args.and_then(|args| self.axes.as_ref().map_or(Ok(args.clone()), |axes| args.with_axes(axes)));
        args.expect("lists of one length")
    }
}

/// What Python's `range(dim)[start:stop:step]` holds.
fn places(start: i64, stop: i64, step: i64, dim: usize) -> Vec<usize> {
    let (dim, step) = (dim as i128, i128::from(step));
    let (low, high) = if step < 0 { (-1, dim - 1) } else { (0, dim) };
    let clamp = |bound: i64| {
        let bound = i128::from(bound);
        (if bound < 0 { bound + dim } else { bound }).max(low).min(high)
    };
    let (mut at, stop) = (clamp(start), clamp(stop));
    let mut places = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        places.push(at as usize);
        at += step;
    }
    places
}

/// Runs `$case::<N>` with the item size as `N`.
macro_rules! by_size {
    ($size:expr, $run:ident ( $($arg:expr),* )) => {
        match $size {
            1 => $run::<1>($($arg),*),
            2 => $run::<2>($($arg),*),
            3 => $run::<3>($($arg),*),
            4 => $run::<4>($($arg),*),
            5 => $run::<5>($($arg),*),
            8 => $run::<8>($($arg),*),
            12 => $run::<12>($($arg),*),
            16 => $run::<16>($($arg),*),
            24 => $run::<24>($($arg),*),
            size => panic!("no items of {size} bytes"),
        }
    };
}

mod arranged;
mod elements;

/// The program's own division of its work, and another.
fn divisions(random: &mut Random) -> [Division; 2] {
    let odd = Division { window: Some(1 + random.below(70)), threads: "2" };
    [DIVISIONS[0], *random.of(&[odd, DIVISIONS[1], DIVISIONS[2], DIVISIONS[3], DIVISIONS[4]])]
}

/// Writes the operands, runs the program with two divisions of its work and checks the bytes of what it writes; then the
/// same in place, if the operator changes data.
fn program(
    random: &mut Random,
    folder: &Folder,
    args: &[&str],
    options: &[String],
    data: &Tensor,
    others: [Option<Vec<u8>>; 2],
    expected: &Tensor,
) {
    folder.put("data.npy", data.file());
    for (name, file) in ["indices.npy", "updates.npy"].into_iter().zip(others) {
        if let Some(file) = file {
            folder.put(name, file);
        }
    }
    let descr = data.descr();
    let wanted = common::npy(&descr, &expected.shape, &expected.ordered(data.big));
    let run = |Division { window, threads }, more: &[&str]| {
        let args = args.iter().copied().chain(options.iter().map(String::as_str));
        let args: Vec<&str> = args.chain(more.iter().copied()).chain(["--threads", threads]).collect();
        let run = folder.run_with(&args, window, None);
        assert!(run.status == Some(0) && run.stderr.is_empty(), "{args:?} on {data:?}: {}", run.stderr);
        (run.stdout, args.join(" "))
    };
    for division in divisions(random) {
        let (found, args) = run(division, &["--to", "npy"]);
        assert!(found == wanted, "{division:?}, {args} on {data:?}: {}", difference(&found, &wanted));
    }
    if ["slice-scatter", "scatter-update", "scatter-nd", "scatter-elements"].contains(&args[0]) {
        let [_, division] = divisions(random);
        let (said, args) = run(division, &["--in-place"]);
        let (found, wanted) = (folder.get("data.npy"), expected.file());
        let same = said.is_empty() && found == wanted;
        assert!(same, "{division:?}, {args} on {data:?}: {}", difference(&found, &wanted));
    }
}

fn joined<const N: usize>(array: &ArrayD<[u8; N]>) -> Vec<u8> {
    array.iter().flatten().copied().collect()
}

/// Asserts that nothing but `touched` places differ from the data.
fn assert_outside_unchanged(data: &Tensor, found: &[u8], touched: &std::collections::HashSet<usize>) {
    for (i, item) in data.items.chunks_exact(data.kind.1).enumerate().filter(|(i, _)| !touched.contains(i)) {
        assert_eq!(&found[i * item.len()..][..item.len()], item, "item {i} of {data:?}");
    }
}

const CASES: usize = 100;

#[test]
fn slice() {
    fn library<const N: usize>(data: &Tensor, args: &SliceArgs) -> (Vec<usize>, Vec<u8>) {
        let out = tensorop::slice(&data.array::<N>(), args).expect("a slice");
        (out.shape().to_vec(), joined(&out))
    }
    let (folder, mut random) = (Folder::new(), Random(1));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let slices = Slices::new(&mut random, &data.shape);
        let shape = slices.shape();
        let items = indices(&shape).iter().flat_map(|at| data.item(&slices.place(at)).to_vec()).collect();
        let expected = Tensor { shape, items, ..data.clone() };
        program(&mut random, &folder, &["slice", "data.npy"], &slices.options(), &data, [None, None], &expected);
        let (shape, items) = by_size!(data.kind.1, library(&data, &slices.args()));
        assert_eq!((&shape, &items), (&expected.shape, &expected.items), "library: {slices:?} of {data:?}");
    }
}

#[test]
fn slice_scatter() {
    fn library<const N: usize>(data: &Tensor, updates: &Tensor, args: &SliceArgs) -> Vec<u8> {
        joined(&tensorop::slice_scatter(&data.array::<N>(), &updates.array::<N>(), args).expect("a scatter"))
    }
    let (folder, mut random) = (Folder::new(), Random(2));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let slices = Slices::new(&mut random, &data.shape);
        let updates = Tensor::new(&mut random, data.kind, slices.shape());
        let mut expected = data.clone();
        let mut touched = std::collections::HashSet::new();
        for at in indices(&updates.shape) {
            let place = slices.place(&at);
            expected.put(&place, updates.item(&at));
            touched.insert(offset(&place, &data.shape));
        }
        let args = ["slice-scatter", "data.npy", "updates.npy"];
        program(&mut random, &folder, &args, &slices.options(), &data, [None, Some(updates.file())], &expected);
        let found = by_size!(data.kind.1, library(&data, &updates, &slices.args()));
        assert_outside_unchanged(&data, &found, &touched);
        assert_eq!(found, expected.items, "library: {slices:?} of {data:?}");
    }
}

#[test]
fn scatter_update() {
    fn library<const N: usize>(data: &Tensor, numbers: &Numbers, updates: &Tensor, axis: i64) -> Vec<u8> {
        let out = tensorop::scatter_update(&data.array::<N>(), &numbers.array(), &updates.array::<N>(), axis);
        joined(&out.expect("a scatter"))
    }
    let (folder, mut random) = (Folder::new(), Random(3));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let axis = random.below(rank);
        let dim = data.shape[axis];
        let index_rank = random.below(3);
        let mut index_shape = random.shape(index_rank);
        if dim == 0 {
            index_shape = vec![0];
        }
        let count = index_shape.iter().product();
        let places: Vec<i64> = (0..count).map(|_| random.within(0..dim as i64)).collect();
        let numbers = Numbers::new(&mut random, index_shape.clone(), places);
        let updates_shape = [&data.shape[..axis], &index_shape, &data.shape[axis + 1..]].concat();
        let updates = Tensor::new(&mut random, data.kind, updates_shape);
        let mut expected = data.clone();
        let mut touched = std::collections::HashSet::new();
        let inner = axis + index_shape.len();
        // the order of the indices decides: they are the outer loop
        for index in indices(&index_shape) {
            let number = numbers.numbers[offset(&index, &index_shape)] as usize;
            for at in indices(&updates.shape).into_iter().filter(|at| at[axis..inner] == index) {
                let place = [&at[..axis], &[number], &at[inner..]].concat();
                expected.put(&place, updates.item(&at));
                touched.insert(offset(&place, &data.shape));
            }
        }
        let typed = axis as i64 - if random.chance(50) { rank as i64 } else { 0 };
        let args = ["scatter-update", "data.npy", "indices.npy", "updates.npy"];
        let others = [Some(numbers.file()), Some(updates.file())];
        program(&mut random, &folder, &args, &[format!("--axis={typed}")], &data, others, &expected);
        let found = by_size!(data.kind.1, library(&data, &numbers, &updates, typed));
        assert_outside_unchanged(&data, &found, &touched);
        assert_eq!(found, expected.items, "library: axis {axis}, {numbers:?} of {data:?}");
    }
}

/// Index tuples for a shape, and the tuple at each of their places.
fn tuples(random: &mut Random, shape: &[usize]) -> (Numbers, Vec<usize>, Vec<Vec<usize>>) {
    let k = random.below(shape.len() + 1);
    let lead_rank = random.below(3);
    let mut lead = random.shape(lead_rank);
    if shape[..k].contains(&0) {
        lead = vec![0];
    }
    let named: Vec<Vec<usize>> =
        (0..lead.iter().product()).map(|_| shape[..k].iter().map(|&dim| random.below(dim)).collect()).collect();
    let negative = random.chance(60);
    let typed = named.iter().flat_map(|tuple| tuple.iter().zip(shape)).map(|(&i, &dim)| (i as i64, dim as i64));
    let typed: Vec<(i64, i64)> = typed.collect();
    let typed = typed.into_iter().map(|(i, dim)| if negative && random.chance(50) { i - dim } else { i }).collect();
    let numbers = Numbers::new(random, [lead.as_slice(), &[k]].concat(), typed);
    (numbers, [lead.as_slice(), &shape[k..]].concat(), named)
}

#[test]
fn scatter_nd() {
    fn library<const N: usize>(data: &Tensor, numbers: &Numbers, updates: &Tensor) -> Vec<u8> {
        let out = tensorop::scatter_nd(&data.array::<N>(), &numbers.array(), &updates.array::<N>());
        joined(&out.expect("a scatter"))
    }
    let (folder, mut random) = (Folder::new(), Random(4));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let (numbers, updates_shape, named) = tuples(&mut random, &data.shape);
        let updates = Tensor::new(&mut random, data.kind, updates_shape);
        let mut expected = data.clone();
        let mut touched = std::collections::HashSet::new();
        let block = indices(&data.shape[named.first().map_or(0, Vec::len)..]);
        for (i, tuple) in named.iter().enumerate() {
            for (j, at) in block.iter().enumerate() {
                let place = [tuple.as_slice(), at].concat();
                expected.put(&place, &updates.items[(i * block.len() + j) * data.kind.1..][..data.kind.1]);
                touched.insert(offset(&place, &data.shape));
            }
        }
        let args = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"];
        program(&mut random, &folder, &args, &[], &data, [Some(numbers.file()), Some(updates.file())], &expected);
        let found = by_size!(data.kind.1, library(&data, &numbers, &updates));
        assert_outside_unchanged(&data, &found, &touched);
        assert_eq!(found, expected.items, "library: {numbers:?} of {data:?}");
    }
}

/// Index tuples for a shape whose first axes are batches, and for each of them the place in the data that it names.
fn batched_tuples(random: &mut Random, shape: &[usize], batch: usize) -> (Numbers, Vec<Vec<usize>>) {
    let k = random.below(shape.len() - batch + 1);
    let dims = &shape[batch..batch + k];
    let more_rank = random.below(3);
    let mut more = random.shape(more_rank);
    if dims.contains(&0) {
        more = vec![0];
    }
    let lead = [&shape[..batch], more.as_slice()].concat();
    let (mut typed, mut named) = (Vec::new(), Vec::new());
    for at in indices(&lead) {
        let tuple: Vec<usize> = dims.iter().map(|&dim| random.below(dim)).collect();
        let negative = random.chance(40);
        typed.extend(tuple.iter().zip(dims).map(|(&i, &dim)| i as i64 - if negative { dim as i64 } else { 0 }));
        named.push([&at[..batch], tuple.as_slice()].concat());
    }
    (Numbers::new(random, [lead.as_slice(), &[k]].concat(), typed), named)
}

#[test]
fn gather() {
    fn library<const N: usize>(data: &Tensor, numbers: &Numbers, axis: i64, batch: i64) -> (Vec<usize>, Vec<u8>) {
        let out = tensorop::gather(&data.array::<N>(), &numbers.array(), axis, batch).expect("a gather");
        (out.shape().to_vec(), joined(&out))
    }
    let (folder, mut random) = (Folder::new(), Random(8));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let axis = random.below(rank);
        let batch = if random.chance(50) { 0 } else { random.below(axis + 1) };
        let dim = data.shape[axis];
        let more_rank = random.below(3);
        let mut more = random.shape(more_rank);
        let zero = random.chance(30);
        if dim == 0 && !zero {
            more = vec![0];
        }
        let index_shape = [&data.shape[..batch], &more].concat();
        let wide = if zero { dim as i64 + 2 } else { dim as i64 };
        let typed: Vec<i64> = (0..index_shape.iter().product()).map(|_| random.within(-wide..wide)).collect();
        let numbers = Numbers::new(&mut random, index_shape.clone(), typed.clone());
        let (tuples, blocks) = (indices(&index_shape[batch..]), indices(&data.shape[axis + 1..]));
        let mut items = Vec::new();
        for row in indices(&data.shape[..axis]) {
            for tuple in &tuples {
                let at = [&row[..batch], tuple].concat();
                let number = typed[at.iter().zip(&index_shape).fold(0, |number, (at, dim)| number * dim + at)];
                let place = usize::try_from(if number < 0 { number + dim as i64 } else { number }).ok();
                for block in &blocks {
                    match place.filter(|&place| place < dim) {
                        Some(place) => items.extend(data.item(&[row.as_slice(), &[place], block].concat())),
                        None => items.resize(items.len() + data.kind.1, 0),
                    }
                }
            }
        }
        let shape = [&data.shape[..axis], &more, &data.shape[axis + 1..]].concat();
        let expected = Tensor { shape, items, ..data.clone() };
        let axis = if random.chance(50) { axis as i64 } else { axis as i64 - rank as i64 };
        let batch = if random.chance(50) || more.is_empty() { batch as i64 } else { -(more.len() as i64) };
        let what = if zero { "zero" } else { "error" };
        let args = ["gather", "data.npy", "indices.npy"];
        let options = [format!("--axis={axis}"), format!("--batch-dims={batch}"), format!("--out-of-range={what}")];
        program(&mut random, &folder, &args, &options, &data, [Some(numbers.file()), None], &expected);
        if !zero {
            let (shape, items) = by_size!(data.kind.1, library(&data, &numbers, axis, batch));
            let what = format!("library: axis {axis}, {batch} batch dims, {numbers:?} of {data:?}");
            assert_eq!((&shape, &items), (&expected.shape, &expected.items), "{what}");
        }
        // the other order of storage, so that each case has both
        let turned = Tensor { fortran: !data.fortran, ..data.clone() };
        program(&mut random, &folder, &args, &options, &turned, [Some(numbers.file()), None], &expected);
    }
}

#[test]
fn gather_nd() {
    fn library<const N: usize>(data: &Tensor, numbers: &Numbers, batch: usize) -> (Vec<usize>, Vec<u8>) {
        let out = tensorop::gather_nd(&data.array::<N>(), &numbers.array(), batch).expect("a gather");
        (out.shape().to_vec(), joined(&out))
    }
    let (folder, mut random) = (Folder::new(), Random(6));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let batch = if random.chance(50) { 0 } else { random.below(rank) };
        let (numbers, named) = batched_tuples(&mut random, &data.shape, batch);
        let (&k, lead) = numbers.shape.split_last().expect("an axis of tuples");
        let block = &data.shape[batch + k..];
        let mut items = Vec::new();
        for tuple in &named {
            for at in indices(block) {
                items.extend(data.item(&[tuple.as_slice(), &at].concat()));
            }
        }
        let expected = Tensor { shape: [lead, block].concat(), items, ..data.clone() };
        let args = ["gather-nd", "data.npy", "indices.npy"];
        let options = [format!("--batch-dims={batch}")];
        program(&mut random, &folder, &args, &options, &data, [Some(numbers.file()), None], &expected);
        let (shape, items) = by_size!(data.kind.1, library(&data, &numbers, batch));
        assert_eq!((&shape, &items), (&expected.shape, &expected.items), "library: {batch}, {numbers:?} of {data:?}");
        // the other order of storage, so that each case has both
        let turned = Tensor { fortran: !data.fortran, ..data.clone() };
        program(&mut random, &folder, &args, &options, &turned, [Some(numbers.file()), None], &expected);
    }
}

/// Any order of axes, of every kind of items in both orders of storage.
#[test]
fn transpose() {
    fn library<const N: usize>(data: &Tensor, axes: &[i64]) -> (Vec<usize>, Vec<u8>) {
        let out = tensorop::transpose(&data.array::<N>(), Some(axes)).expect("a transpose");
        (out.shape().to_vec(), joined(&out))
    }
    let (folder, mut random) = (Folder::new(), Random(16));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let mut left: Vec<usize> = (0..rank).collect();
        let order: Vec<usize> = (0..rank).map(|_| left.remove(random.below(left.len()))).collect();
        let shape: Vec<usize> = order.iter().map(|&axis| data.shape[axis]).collect();
        let mut items = Vec::new();
        for at in indices(&shape) {
            let mut from = vec![0; rank];
            order.iter().zip(&at).for_each(|(&axis, &at)| from[axis] = at);
            items.extend(data.item(&from));
        }
        let expected = Tensor { shape, items, ..data.clone() };
        let axes: Vec<i64> =
            order.iter().map(|&axis| axis as i64 - if random.chance(40) { rank as i64 } else { 0 }).collect();
        let options = [format!("--axes={axes:?}").replace(' ', "")];
        let (shape, items) = by_size!(data.kind.1, library(&data, &axes));
        assert_eq!((&shape, &items), (&expected.shape, &expected.items), "library: {axes:?} of {data:?}");
        for fortran in [data.fortran, !data.fortran] {
            let data = Tensor { fortran, ..data.clone() };
            program(&mut random, &folder, &["transpose", "data.npy"], &options, &data, [None, None], &expected);
        }
    }
}

/// Parts of a tensor along any axis, of every kind of items, each in either order of storage, make the tensor again.
#[test]
fn concat() {
    let (folder, mut random) = (Folder::new(), Random(18));
    for case in 0..rounds(CASES) {
        let rank = 1 + random.below(4);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let axis = random.below(rank);
        let dim = data.shape[axis];
        let mut ends: Vec<usize> = (0..random.below(4)).map(|_| random.below(dim + 1)).collect();
        ends.extend([0, dim]);
        ends.sort_unstable();
        let part = |random: &mut Random, from: usize, to: usize| {
            let mut shape = data.shape.clone();
            shape[axis] = to - from;
            let mut items = Vec::new();
            for mut at in indices(&shape) {
                at[axis] += from;
                items.extend(data.item(&at));
            }
            Tensor { shape, items, fortran: random.chance(50), ..data.clone() }
        };
        let parts: Vec<_> = ends.windows(2).map(|two| part(&mut random, two[0], two[1])).collect();
        let mut args = vec!["concat".to_owned(), "data.npy".to_owned()];
        for (n, part) in parts.iter().enumerate().skip(1) {
            folder.put(format!("{n}.npy"), part.file());
            args.push(format!("{n}.npy"));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let options = [format!("--axis={}", axis as i64 - if random.chance(40) { rank as i64 } else { 0 })];
        let items = indices(&data.shape).iter().flat_map(|at| data.item(at).to_vec()).collect();
        let expected = Tensor { items, ..data.clone() };
        program(&mut random, &folder, &args, &options, &parts[0], [None, None], &expected);
    }
}

/// Dims of any kind, of every kind of items in both orders of storage.
#[test]
fn reshape() {
    let (folder, mut random) = (Folder::new(), Random(17));
    for case in 0..rounds(CASES) {
        let rank = random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let count: usize = data.shape.iter().product();
        let (option, shape) = match random.below(4) {
            0 if count > 0 => {
                let sides: Vec<usize> = (1..=count).filter(|&side| count.is_multiple_of(side)).collect();
                let first = *random.of(&sides);
                (format!("--shape={first},-1"), vec![first, count / first])
            }
            1 => ("--squeeze".to_owned(), data.shape.iter().copied().filter(|&dim| dim != 1).collect()),
            2 => ("--unsqueeze=-1,0".to_owned(), [&[1], &data.shape[..], &[1]].concat()),
            _ => {
                let at = random.below(rank + 1);
                let product = |dims: &[usize]| dims.iter().product();
                (format!("--flatten={at}"), vec![product(&data.shape[..at]), product(&data.shape[at..])])
            }
        };
        let items = indices(&data.shape).iter().flat_map(|at| data.item(at).to_vec()).collect();
        let expected = Tensor { shape, items, ..data.clone() };
        for fortran in [data.fortran, !data.fortran] {
            let data = Tensor { fortran, ..data.clone() };
            program(
                &mut random,
                &folder,
                &["reshape", "data.npy"],
                std::slice::from_ref(&option),
                &data,
                [None, None],
                &expected,
            );
        }
    }
}

/// What is gathered at tuples goes back to them: scattered over anything it makes the data again at all of them, and
/// scattered over the data it changes nothing.
#[test]
fn gathered_goes_back() {
    fn library<const N: usize>(data: &Tensor, other: &Tensor, numbers: &Numbers) -> [Vec<u8>; 2] {
        let (array, tuples) = (data.array::<N>(), numbers.array());
        let taken = tensorop::gather_nd(&array, &tuples, 0).expect("a gather");
        let back = |into: &Tensor| {
            let into = tensorop::scatter_nd(&into.array::<N>(), &tuples, &taken).expect("a scatter");
            assert_eq!(tensorop::gather_nd(&into, &tuples, 0).as_ref(), Ok(&taken));
            joined(&into)
        };
        [back(data), back(other)]
    }
    let (folder, mut random) = (Folder::new(), Random(7));
    for case in 0..rounds(CASES / 4) {
        let rank = 1 + random.below(4);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let (numbers, _, named) = tuples(&mut random, &data.shape);
        let other = Tensor::new(&mut random, data.kind, data.shape.clone());
        let mut expected = other.clone();
        for tuple in &named {
            for at in indices(&data.shape[tuple.len()..]) {
                let place = [tuple.as_slice(), &at].concat();
                expected.put(&place, data.item(&place));
            }
        }
        let [same, patched] = by_size!(data.kind.1, library(&data, &other, &numbers));
        assert_eq!((&same, &patched), (&data.items, &expected.items), "library: {numbers:?} of {data:?}");
        folder.put("data.npy", data.file()).put("indices.npy", numbers.file());
        let gather = ["gather-nd", "data.npy", "indices.npy", "-o", "taken.npy"];
        folder.run(gather).printed().expect("a gather");
        let taken = Some(folder.get("taken.npy"));
        let args = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"];
        for (into, expected) in [(&data, &data), (&other, &expected)] {
            program(&mut random, &folder, &args, &[], into, [Some(numbers.file()), taken.clone()], expected);
        }
    }
}

/// Numbers that reductions are checked with: written here anew, not taken from the library.
trait Number: Copy + PartialEq + std::fmt::Debug + Reducible {
    const KIND: Kind;
    fn any(random: &mut Random) -> Self;
    fn little(self) -> Vec<u8>;
    fn reduce(self, update: Self, reduction: &str) -> Self;
    fn same(self, other: Self) -> bool;
}

macro_rules! integers {
    ($($type:ty, $letter:literal;)+) => {$(
        impl Number for $type {
            const KIND: Kind = ($letter, size_of::<$type>(), size_of::<$type>());
            fn any(random: &mut Random) -> Self {
                if random.chance(50) { random.next() as $type } else { random.within(0..5) as $type }
            }
            fn little(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn reduce(self, update: Self, reduction: &str) -> Self {
                match reduction {
                    "add" => self.wrapping_add(update),
                    "sub" => self.wrapping_sub(update),
                    "mul" => self.wrapping_mul(update),
                    "max" if update > self => update,
                    "min" if update < self => update,
                    _ => self,
                }
            }
            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )+};
}

integers!(i8, "i1"; u8, "u1"; i16, "i2"; u16, "u2"; i32, "i4"; u32, "u4"; i64, "i8"; u64, "u8";);

macro_rules! floats {
    ($($type:ty, $letter:literal;)+) => {$(
        impl Number for $type {
            const KIND: Kind = ($letter, size_of::<$type>(), size_of::<$type>());
            fn any(random: &mut Random) -> Self {
                let specials = [0.0, -0.0, <$type>::NAN, <$type>::INFINITY, <$type>::NEG_INFINITY, <$type>::MAX];
                match random.below(4) {
                    0 => *random.of(&specials),
                    1 => random.within(-4..5) as $type,
                    // the order of the steps shows in the last bits
                    _ => random.within(-1_000_000..1_000_000) as $type / 7.0,
                }
            }
            fn little(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn reduce(self, update: Self, reduction: &str) -> Self {
                match reduction {
                    "add" => self + update,
                    "sub" => self - update,
                    "mul" => self * update,
                    _ if self.is_nan() || update.is_nan() => <$type>::NAN,
                    "max" if update > self => update,
                    "min" if update < self => update,
                    _ => self,
                }
            }
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    )+};
}

floats!(f32, "f4"; f64, "f8";);

fn reductions_of<T: Number>(seed: u64) {
    let (folder, mut random) = (Folder::new(), Random(seed));
    let reductions = [Reduction::Add, Reduction::Sub, Reduction::Mul, Reduction::Max, Reduction::Min];
    for reduction in reductions.into_iter().cycle().take(20) {
        let name = reduction.name();
        let rank = 1 + random.below(4);
        let shape = random.shape(rank);
        let (numbers, updates_shape, named) = tuples(&mut random, &shape);
        let mut fill =
            |shape: &[usize]| -> Vec<T> { (0..shape.iter().product()).map(|_| T::any(&mut random)).collect() };
        let (data, updates) = (fill(&shape), fill(&updates_shape));
        let mut expected = data.clone();
        let block = indices(&shape[named.first().map_or(0, Vec::len)..]);
        for (i, tuple) in named.iter().enumerate() {
            for (j, at) in block.iter().enumerate() {
                let place = offset(&[tuple.as_slice(), at].concat(), &shape);
                expected[place] = expected[place].reduce(updates[i * block.len() + j], name);
            }
        }
        let array =
            |shape: &[usize], items: &[T]| ArrayD::from_shape_vec(IxDyn(shape), items.to_vec()).expect("an array");
        let found = tensorop::scatter_nd_reduce(
            &array(&shape, &data),
            &numbers.array(),
            &array(&updates_shape, &updates),
            reduction,
        );
        let found: Vec<T> = found.expect("a scatter").iter().copied().collect();
        let alike = |found: &[T]| found.iter().zip(&expected).all(|(a, b)| a.same(*b));
        assert!(
            alike(&found),
            "library: {name} of {numbers:?}, {updates:?} into {data:?}: {found:?}, expected {expected:?}"
        );
        let mut stored = |shape: &[usize], items: &[T]| {
            let items = items.iter().flat_map(|item| item.little()).collect();
            let (big, fortran) = (random.chance(40), random.chance(30));
            Tensor { kind: T::KIND, shape: shape.to_vec(), items, big, fortran }
        };
        let (data, updates) = (stored(&shape, &data), stored(&updates_shape, &updates));
        folder.put("data.npy", data.file()).put("indices.npy", numbers.file()).put("updates.npy", updates.file());
        for division in divisions(&mut random) {
            let args = ["scatter-nd", "data.npy", "indices.npy", "updates.npy", "--reduction", name, "--to", "npy"];
            let args = args.into_iter().chain(["--threads", division.threads]);
            let run = folder.run_with(args, division.window, None);
            assert!(run.status == Some(0) && run.stderr.is_empty(), "{name} of {data:?}: {}", run.stderr);
            let items = &run.stdout[run.stdout.len() - data.items.len()..];
            let found = Tensor { items: items.to_vec(), ..data.clone() }.ordered(data.big);
            let unit = T::KIND.1;
            let pairs = found.chunks_exact(unit).zip(&expected);
            for (i, (item, expected)) in pairs.enumerate() {
                // a NaN is a NaN, whatever its payload
                let nan = is_nan(T::KIND.0, &expected.little());
                let alike = if nan { is_nan(T::KIND.0, item) } else { item == expected.little() };
                assert!(alike, "{name} at {division:?}, item {i}: {item:02x?}, expected {expected:?}");
            }
        }
    }
}

fn is_nan(letter: &str, item: &[u8]) -> bool {
    match letter {
        "f4" => f32::from_le_bytes(item.try_into().expect("four bytes")).is_nan(),
        "f8" => f64::from_le_bytes(item.try_into().expect("eight bytes")).is_nan(),
        _ => false,
    }
}

#[test]
fn reductions() {
    reductions_of::<i8>(11);
    reductions_of::<u8>(12);
    reductions_of::<i16>(13);
    reductions_of::<u16>(14);
    reductions_of::<i32>(15);
    reductions_of::<u32>(16);
    reductions_of::<i64>(17);
    reductions_of::<u64>(18);
    reductions_of::<f32>(19);
    reductions_of::<f64>(20);
}

/// More places than indices, many times over each: sums keep the order of the tuples whatever the window.
#[test]
fn long_sums_keep_their_order() {
    let (folder, mut random) = (Folder::new(), Random(5));
    let updates: Vec<f32> =
        (0..3000).map(|_| f32::any(&mut random)).map(|x| if x.is_finite() { x } else { 1.5 }).collect();
    let numbers: Vec<i64> = (0..3000).map(|_| random.within(-7..7)).collect();
    let mut expected = vec![0.5_f32; 7];
    for (&number, &update) in numbers.iter().zip(&updates) {
        expected[number.rem_euclid(7) as usize] += update;
    }
    folder.put("data.npy", common::tensor(&[7], &[0.5_f32; 7]).npy());
    folder.put("indices.npy", common::tensor(&[3000, 1], &numbers).npy());
    folder.put("updates.npy", common::tensor(&[3000], &updates).npy());
    let args = ["scatter-nd", "data.npy", "indices.npy", "updates.npy", "--reduction", "add"];
    folder.gives(&args, None, &common::tensor(&[7], &expected).npy()).expect("the sums");
}

/// What describes, compares, prints and converts tensors says and writes the same however its work is divided.
#[test]
fn any_division_of_the_work() {
    const COMMANDS: [&str; 9] = [
        "info a.npy --stats --histogram --hash --json",
        "info a.npy b.npy --stats --by-axis 0",
        "diff a.npy b.npy --worst 3 --max-mismatch 4",
        "diff a.npy b.npy --json --worst 3",
        "show a.npy --threshold 8",
        "textconv a.npy",
        "convert a.npy --order F --to npy -o out",
        "convert a.npy b.npy --to npz -o out",
        "convert b.npy --byte-order big --to npy -o out",
    ];
    let (folder, mut random) = (Folder::new(), Random(8));
    for case in 0..rounds(CASES / 2) {
        let kind = KINDS[case % KINDS.len()];
        let rank = 1 + random.below(4);
        let shape = random.shape(rank);
        let one = Tensor::new(&mut random, kind, shape.clone());
        let mut other = Tensor { fortran: random.chance(30), big: random.chance(30), ..one.clone() };
        for _ in 0..random.below(4) {
            if let Some(at) = (!other.items.is_empty()).then(|| random.below(other.items.len())) {
                other.items[at] ^= 1 << random.below(8);
            }
        }
        folder.put("a.npy", one.file()).put("b.npy", other.file());
        let command = COMMANDS[case / 3 % COMMANDS.len()];
        let outcomes = DIVISIONS.map(|Division { window, threads }| {
            let _ = std::fs::remove_file(folder.path("out"));
            let run = folder.run_with(common::words(&format!("{command} --threads {threads}")), window, None);
            let written = std::fs::read(folder.path("out")).ok();
            assert_eq!(written.is_some(), run.status == Some(0) && command.contains("-o out"), "{command}: {run:?}");
            (run, written)
        });
        for (outcome, division) in outcomes.iter().zip(DIVISIONS) {
            assert_eq!(outcome, &outcomes[0], "{division:?}, {command} of {one:?}");
        }
    }
}
