//! Random cases for `gather-elements` and `scatter-elements`, whose indices imply all coordinates but one.

use super::*;

/// An index tensor for the places of one axis of a shape, and the place that each of its numbers names.
fn element_indices(random: &mut Random, shape: &[usize]) -> (i64, Numbers, Vec<Vec<usize>>) {
    let axis = random.below(shape.len());
    let dim = shape[axis];
    let along = if dim == 0 { 0 } else { random.below(8) };
    // most often all of the other axes, which lie together then
    let whole = random.chance(50);
    let index_shape: Vec<usize> = (0..shape.len())
        .map(|other| match other == axis {
            true => along,
            false if whole => shape[other],
            false => random.below(shape[other] + 1),
        })
        .collect();
    let (mut typed, mut named) = (Vec::new(), Vec::new());
    let negative = random.chance(60);
    for mut at in indices(&index_shape) {
        at[axis] = random.below(dim);
        typed.push(at[axis] as i64 - if negative && random.chance(50) { dim as i64 } else { 0 });
        named.push(at);
    }
    let typed_axis = axis as i64 - if random.chance(50) { shape.len() as i64 } else { 0 };
    (typed_axis, Numbers::new(random, index_shape, typed), named)
}

#[test]
fn scatter_elements() {
    fn library<const N: usize>(data: &Tensor, numbers: &Numbers, updates: &Tensor, axis: i64) -> Vec<u8> {
        let out = tensorop::scatter_elements(&data.array::<N>(), &numbers.array(), &updates.array::<N>(), axis);
        joined(&out.expect("a scatter"))
    }
    let (folder, mut random) = (Folder::new(), Random(41));
    for case in 0..CASES {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let (axis, numbers, named) = element_indices(&mut random, &data.shape);
        let updates = Tensor::new(&mut random, data.kind, numbers.shape.clone());
        let mut expected = data.clone();
        let mut touched = std::collections::HashSet::new();
        for (place, item) in named.iter().zip(updates.items.chunks_exact(data.kind.1)) {
            expected.put(place, item);
            touched.insert(offset(place, &data.shape));
        }
        let args = ["scatter-elements", "data.npy", "indices.npy", "updates.npy"];
        let others = [Some(numbers.file()), Some(updates.file())];
        program(&mut random, &folder, &args, &[format!("--axis={axis}")], &data, others, &expected);
        let found = by_size!(data.kind.1, library(&data, &numbers, &updates, axis));
        assert_outside_unchanged(&data, &found, &touched);
        assert_eq!(found, expected.items, "library: axis {axis}, {numbers:?} of {data:?}");
    }
}

#[test]
fn gather_elements() {
    fn library<const N: usize>(data: &Tensor, numbers: &Numbers, axis: i64) -> (Vec<usize>, Vec<u8>) {
        let out = tensorop::gather_elements(&data.array::<N>(), &numbers.array(), axis).expect("a gather");
        (out.shape().to_vec(), joined(&out))
    }
    let (folder, mut random) = (Folder::new(), Random(42));
    for case in 0..CASES {
        let rank = 1 + random.below(5);
        let shape = random.shape(rank);
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let (axis, numbers, named) = element_indices(&mut random, &data.shape);
        let items = named.iter().flat_map(|place| data.item(place).to_vec()).collect();
        let expected = Tensor { shape: numbers.shape.clone(), items, ..data.clone() };
        let args = ["gather-elements", "data.npy", "indices.npy"];
        let options = [format!("--axis={axis}")];
        program(&mut random, &folder, &args, &options, &data, [Some(numbers.file()), None], &expected);
        let (shape, items) = by_size!(data.kind.1, library(&data, &numbers, axis));
        assert_eq!((&shape, &items), (&expected.shape, &expected.items), "library: {axis}, {numbers:?} of {data:?}");
        // the other order of storage, so that each case has both
        let turned = Tensor { fortran: !data.fortran, ..data.clone() };
        program(&mut random, &folder, &args, &options, &turned, [Some(numbers.file()), None], &expected);
    }
}

/// Numbers that have a mean.
trait Mean: Number {
    /// The mean of numbers that are put to a place one after the other.
    fn mean(taken: &[Self]) -> Self;
}

macro_rules! means {
    ($($integer:ty)+; $($float:ty)+) => {
        $(impl Mean for $integer {
            fn mean(taken: &[Self]) -> Self {
                (taken.iter().map(|&item| item as i128).sum::<i128>() / taken.len() as i128) as $integer
            }
        })+
        $(impl Mean for $float {
            fn mean(taken: &[Self]) -> Self {
                taken[1..].iter().fold(taken[0], |sum, item| sum + item) / taken.len() as $float
            }
        })+
    };
}

means!(i8 u8 i16 u16 i32 u32 i64 u64; f32 f64);

fn reductions_of<T: Mean>(seed: u64) {
    let (folder, mut random) = (Folder::new(), Random(seed));
    for case in 0..20 {
        let (name, reduction) = [
            ("add", Reduction::Add),
            ("mul", Reduction::Mul),
            ("max", Reduction::Max),
            ("min", Reduction::Min),
            ("mean", Reduction::Mean),
        ][case % 5];
        let has_initial = case % 2 == 0;
        let rank = 1 + random.below(4);
        let shape = random.shape(rank);
        let (axis, numbers, named) = element_indices(&mut random, &shape);
        let mut fill = |count: usize| -> Vec<T> { (0..count).map(|_| T::any(&mut random)).collect() };
        let (data, updates) = (fill(shape.iter().product()), fill(named.len()));
        let mut expected = data.clone();
        for place in &named {
            let goes_there = named.iter().zip(&updates).filter(|(other, _)| *other == place).map(|(_, &update)| update);
            let at = offset(place, &shape);
            let taken: Vec<T> = has_initial.then_some(data[at]).into_iter().chain(goes_there).collect();
            expected[at] = match reduction {
                Reduction::Mean => T::mean(&taken),
                _ => taken[1..].iter().fold(taken[0], |old, &update| old.reduce(update, name)),
            };
        }
        let array =
            |shape: &[usize], items: &[T]| ArrayD::from_shape_vec(IxDyn(shape), items.to_vec()).expect("an array");
        let (data_array, updates_array) = (array(&shape, &data), array(&numbers.shape, &updates));
        let found = tensorop::scatter_elements_reduce(
            &data_array,
            &numbers.array(),
            &updates_array,
            axis,
            reduction,
            has_initial,
        );
        let found: Vec<T> = found.expect("a scatter").iter().copied().collect();
        let same = found.iter().zip(&expected).all(|(a, b)| a.same(*b));
        assert!(same, "library: {name} of {numbers:?}, {updates:?} into {data:?}: {found:?}, expected {expected:?}");
        let mut stored = |shape: &[usize], items: &[T]| {
            let items = items.iter().flat_map(|item| item.little()).collect();
            let (big, fortran) = (random.chance(40), random.chance(30));
            Tensor { kind: T::KIND, shape: shape.to_vec(), items, big, fortran }
        };
        let (data, updates) = (stored(&shape, &data), stored(&numbers.shape, &updates));
        folder.put("indices.npy", numbers.file()).put("updates.npy", updates.file());
        for division in divisions(&mut random) {
            for in_place in [false, true] {
                folder.put("data.npy", data.file());
                let axis = format!("--axis={axis}");
                let args = ["scatter-elements", "data.npy", "indices.npy", "updates.npy", "--reduction", name, &axis];
                let more = [if has_initial { "-q" } else { "--no-initial" }, "--threads", division.threads];
                let output: &[&str] = if in_place { &["--in-place"] } else { &["--to", "npy"] };
                let run = folder.run_with([&args[..], &more, output].concat(), division.window, None);
                assert!(run.status == Some(0) && run.stderr.is_empty(), "{name} of {data:?}: {}", run.stderr);
                let file = if in_place { folder.get("data.npy") } else { run.stdout };
                let mut items = file[file.len() - data.items.len()..].to_vec();
                if in_place && data.fortran {
                    // the same in C order: reversed axes, twice
                    let dims: Vec<usize> = data.shape.iter().rev().copied().collect();
                    items = to_fortran(&items, &dims, T::KIND.1);
                }
                let found = Tensor { items, ..data.clone() }.ordered(data.big);
                for (i, (item, expected)) in found.chunks_exact(T::KIND.1).zip(&expected).enumerate() {
                    // a NaN is a NaN, whatever its payload
                    let nan = is_nan(T::KIND.0, &expected.little());
                    let alike = if nan { is_nan(T::KIND.0, item) } else { item == expected.little() };
                    assert!(alike, "{name} at {division:?}, item {i}: {item:02x?}, expected {expected:?} of {data:?}");
                }
            }
        }
    }
}

#[test]
fn reductions() {
    reductions_of::<i8>(51);
    reductions_of::<u8>(52);
    reductions_of::<i16>(53);
    reductions_of::<u16>(54);
    reductions_of::<i32>(55);
    reductions_of::<u32>(56);
    reductions_of::<i64>(57);
    reductions_of::<u64>(58);
    reductions_of::<f32>(59);
    reductions_of::<f64>(60);
}
