//! Random cases for `pad`, `tile`, `roll`, `broadcast` and `split`. The loops list the places of each axis one by one.

use tensorop::{BroadcastRule, PadMode, SplitInto};

use super::*;

/// For each axis of an output its places: a place of the same axis of the data, or none, which holds the item that fills.
type Axes = Vec<Vec<Option<usize>>>;

/// All places of each axis of a shape.
fn all(shape: &[usize]) -> Axes {
    shape.iter().map(|&dim| (0..dim).map(Some).collect()).collect()
}

/// The output that has these places of data which is seen in another shape of as many items.
fn arranged(data: &Tensor, shape: &[usize], axes: &Axes, item: &[u8]) -> Tensor {
    let dims: Vec<usize> = axes.iter().map(Vec::len).collect();
    let mut items = Vec::new();
    for at in indices(&dims) {
        let place: Option<Vec<usize>> = at.iter().zip(axes).map(|(&at, places)| places[at]).collect();
        items.extend(match place {
            Some(place) => &data.items[offset(&place, shape) * item.len()..][..item.len()],
            None => item,
        });
    }
    Tensor { shape: dims, items, ..data.clone() }
}

/// The options of a list of integers.
fn list(option: &str, numbers: &[i64]) -> String {
    format!("--{option}={}", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// Checks a command on data in both orders of storage, as a file and as a stream.
fn check(random: &mut Random, folder: &Folder, operator: &str, options: &[String], data: &Tensor, expected: &Tensor) {
    for fortran in [data.fortran, !data.fortran] {
        let data = Tensor { fortran, ..data.clone() };
        program(random, folder, &[operator, "data.npy"], options, &data, [None, None], expected);
        let wanted = common::npy(&data.descr(), &expected.shape, &expected.ordered(data.big));
        for Division { window, threads } in divisions(random) {
            let words = [operator, "-", "--to", "npy", "--threads", threads].map(str::to_owned);
            let args: Vec<String> = words.into_iter().chain(options.iter().cloned()).collect();
            let run = folder.run_with(&args, window, Some(&data.file()));
            assert!(run.status == Some(0) && run.stderr.is_empty(), "{args:?} on {data:?}: {}", run.stderr);
            assert!(run.stdout == wanted, "{args:?} on {data:?}: {}", difference(&run.stdout, &wanted));
        }
    }
}

/// Asserts that the library has made what is expected.
fn same(found: (Vec<usize>, Vec<u8>), expected: &Tensor, what: &dyn std::fmt::Debug) {
    assert_eq!((&found.0, &found.1), (&expected.shape, &expected.items), "library: {what:?}");
}

/// The shape and the items of an array.
fn parts<const N: usize>(array: &ArrayD<[u8; N]>) -> (Vec<usize>, Vec<u8>) {
    (array.shape().to_vec(), joined(array))
}

/// Data for a case.
fn data(random: &mut Random, case: usize, least_rank: usize) -> Tensor {
    let rank = least_rank + random.below(5 - least_rank);
    let shape = random.shape(rank);
    Tensor::new(random, KINDS[case % KINDS.len()], shape)
}

/// An axis as it is typed, perhaps from the end.
fn typed(random: &mut Random, axis: usize, rank: usize) -> i64 {
    axis as i64 - if random.chance(40) { rank as i64 } else { 0 }
}

/// The places of an axis that is padded, each by a walk along it from its end.
fn padded(dim: usize, before: i64, after: i64, mode: PadMode) -> Option<Vec<Option<usize>>> {
    let (first, last) = ((-before).max(0), dim as i64 - (-after).max(0));
    let len = last - first;
    if len < 0 || len == 0 && (before > 0 || after > 0) && mode != PadMode::Constant {
        return None;
    }
    let walked = |place: i64| {
        let mut at = place;
        while !(0..len).contains(&at) {
            at = match mode {
                PadMode::Constant => return None,
                PadMode::Edge => at.clamp(0, len - 1),
                PadMode::Reflect if len == 1 => 0,
                PadMode::Reflect if at < 0 => -at,
                PadMode::Reflect => 2 * (len - 1) - at,
                PadMode::Symmetric if at < 0 => -1 - at,
                PadMode::Symmetric => 2 * len - 1 - at,
                PadMode::Wrap if at < 0 => at + len,
                PadMode::Wrap => at - len,
            };
        }
        Some((first + at) as usize)
    };
    Some((-before.max(0)..len + after.max(0)).map(walked).collect())
}

/// The item that fills data of that kind, and the option that asks for it, if it is not the usual one.
fn filling((kind, size, _): Kind, is_asked: bool) -> (Vec<u8>, Option<&'static str>) {
    let one: Option<&[u8]> = match kind {
        "f2" => Some(&[0, 0x3c]),
        "f4" => Some(&[0, 0, 0x80, 0x3f]),
        "f8" => Some(&[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]),
        _ if kind.starts_with(['u', 'i']) => Some(&[1, 0, 0, 0, 0, 0, 0, 0][..size]),
        _ => None,
    };
    match one.filter(|_| is_asked) {
        Some(one) => (one.to_vec(), Some("--fill=1")),
        None if kind.starts_with("M8") => (i64::MIN.to_le_bytes().to_vec(), None),
        None => (vec![0; size], None),
    }
}

#[test]
fn pad() {
    type Places<'a> = (&'a [i64], &'a [i64], Option<&'a [i64]>, PadMode);
    fn library<const N: usize>(
        data: &Tensor,
        (before, after, axes, mode): Places,
        item: &[u8],
    ) -> (Vec<usize>, Vec<u8>) {
        let item = item.try_into().expect("an item of the dtype");
        parts(&tensorop::pad(&data.array::<N>(), before, after, axes, mode, item).expect("a pad"))
    }
    const MODES: [(&str, PadMode); 5] = [
        ("constant", PadMode::Constant),
        ("edge", PadMode::Edge),
        ("reflect", PadMode::Reflect),
        ("symmetric", PadMode::Symmetric),
        ("wrap", PadMode::Wrap),
    ];
    let (folder, mut random) = (Folder::new(), Random(51));
    for case in 0..CASES {
        let data = data(&mut random, case, 0);
        let rank = data.shape.len();
        let (name, mode) = *random.of(&MODES);
        let mut free: Vec<usize> = (0..rank).collect();
        let is_named = random.chance(60) || rank > 3;
        let count = if is_named { random.below(rank.min(3) + 1) } else { rank };
        let (mut axes, mut before, mut after) = (all(&data.shape), Vec::new(), Vec::new());
        let mut named = is_named.then(Vec::new);
        for _ in 0..count {
            let axis = free.remove(if is_named { random.below(free.len()) } else { 0 });
            let sides = [random.within(-2..9), random.within(-2..9)];
            // what cannot be taken away or repeated is refused, which `checks.rs` tests
            let fitting = padded(data.shape[axis], sides[0], sides[1], mode);
            let [front, behind] = if fitting.is_some() { sides } else { [0, 0] };
            axes[axis] = fitting.unwrap_or_else(|| axes[axis].clone());
            before.push(front);
            after.push(behind);
            named.iter_mut().for_each(|named| named.push(typed(&mut random, axis, rank)));
        }
        let is_asked = mode == PadMode::Constant && random.chance(50);
        let (item, fill) = filling(data.kind, is_asked);
        let expected = arranged(&data, &data.shape, &axes, &item);
        let mut options = vec![list("before", &before), list("after", &after), format!("--mode={name}")];
        options.extend(named.as_ref().map(|axes| list("axes", axes)));
        options.extend(fill.map(str::to_owned));
        check(&mut random, &folder, "pad", &options, &data, &expected);
        let places = (before.as_slice(), after.as_slice(), named.as_deref(), mode);
        same(by_size!(data.kind.1, library(&data, places, &item)), &expected, &(&options, &data));
    }
}

#[test]
fn tile() {
    fn library<const N: usize>(data: &Tensor, repeats: &[i64]) -> (Vec<usize>, Vec<u8>) {
        parts(&tensorop::tile(&data.array::<N>(), repeats).expect("a tile"))
    }
    let (folder, mut random) = (Folder::new(), Random(52));
    for case in 0..CASES {
        let data = data(&mut random, case, 0);
        let repeats: Vec<i64> =
            (0..random.below(data.shape.len() + 3)).map(|_| *random.of(&[1, 1, 1, 2, 2, 3, 0])).collect();
        let rank = data.shape.len().max(repeats.len());
        let wide = [&vec![1; rank - data.shape.len()], data.shape.as_slice()].concat();
        let times = [&vec![1; rank - repeats.len()], repeats.as_slice()].concat();
        let axes = all(&wide).iter().zip(times).map(|(axis, times)| axis.repeat(times as usize)).collect();
        let expected = arranged(&data, &wide, &axes, &vec![0; data.kind.1]);
        let options = [list("repeats", &repeats)];
        check(&mut random, &folder, "tile", &options, &data, &expected);
        same(by_size!(data.kind.1, library(&data, &repeats)), &expected, &(&options, &data));
    }
}

#[test]
fn roll() {
    fn library<const N: usize>(data: &Tensor, shift: &[i64], axes: Option<&[i64]>) -> (Vec<usize>, Vec<u8>) {
        parts(&tensorop::roll(&data.array::<N>(), shift, axes).expect("a roll"))
    }
    let (folder, mut random) = (Folder::new(), Random(53));
    for case in 0..CASES {
        let data = data(&mut random, case, 0);
        let rank = data.shape.len();
        // an axis may be named twice
        let named: Option<Vec<usize>> =
            random.chance(70).then(|| (0..random.below(rank + 2).min(9 * rank)).map(|_| random.below(rank)).collect());
        let count = named.as_ref().map_or(1, Vec::len);
        let count = if random.chance(25) { 1 } else { count };
        let mut shift: Vec<i64> = (0..count).map(|_| random.within(-9..10)).collect();
        if random.chance(10) {
            shift.iter_mut().for_each(|shift| *shift = *random.of(&[i64::MIN, i64::MAX, 1 << 40]));
        }
        let by = |n: usize| i128::from(shift[n % shift.len()]);
        let rolled = |dim: usize, shift: i128| -> Vec<Option<usize>> {
            (0..dim).map(|at| Some((at as i128 - shift).rem_euclid(dim as i128) as usize)).collect()
        };
        let expected = match &named {
            None => {
                let axes = vec![rolled(data.shape.iter().product(), by(0))];
                let flat = arranged(&data, &[data.shape.iter().product()], &axes, &vec![0; data.kind.1]);
                Tensor { shape: data.shape.clone(), ..flat }
            }
            Some(named) => {
                let sum = |axis| (0..named.len()).filter(|&n| named[n] == axis).map(by).sum();
                let axes = data.shape.iter().enumerate().map(|(axis, &dim)| rolled(dim, sum(axis))).collect();
                arranged(&data, &data.shape, &axes, &vec![0; data.kind.1])
            }
        };
        let named: Option<Vec<i64>> =
            named.map(|named| named.into_iter().map(|axis| typed(&mut random, axis, rank)).collect());
        let options: Vec<String> =
            std::iter::once(list("shift", &shift)).chain(named.as_ref().map(|axes| list("axes", axes))).collect();
        check(&mut random, &folder, "roll", &options, &data, &expected);
        same(by_size!(data.kind.1, library(&data, &shift, named.as_deref())), &expected, &(&options, &data));
    }
}

#[test]
fn broadcast() {
    fn library<const N: usize>(data: &Tensor, shape: &[i64], rule: &BroadcastRule) -> (Vec<usize>, Vec<u8>) {
        parts(&tensorop::broadcast(&data.array::<N>(), shape, rule).expect("a broadcast"))
    }
    let (folder, mut random) = (Folder::new(), Random(54));
    for case in 0..CASES {
        let rank = random.below(5);
        let shape: Vec<usize> =
            random.shape(rank).into_iter().map(|dim| if random.chance(50) { 1 } else { dim }).collect();
        let data = Tensor::new(&mut random, KINDS[case % KINDS.len()], shape);
        let of_output = rank + random.below(3);
        let is_explicit = random.chance(40);
        // the axes of the output that are those of the data, in order
        let mut own: Vec<usize> = (0..of_output).collect();
        while own.len() > rank {
            own.remove(if is_explicit { random.below(own.len()) } else { 0 });
        }
        let mut wide = vec![1; of_output];
        own.iter().zip(&data.shape).for_each(|(&at, &dim)| wide[at] = dim);
        let dims: Vec<usize> =
            wide.iter().map(|&dim| if dim == 1 { *random.of(&[1, 2, 3, 5, 0]) } else { dim }).collect();
        let axes = wide.iter().zip(&dims).map(|(&dim, &len)| (0..len).map(|at| Some(at % dim)).collect()).collect();
        let expected = arranged(&data, &wide, &axes, &vec![0; data.kind.1]);
        let mut to: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        let rule = if is_explicit {
            BroadcastRule::Axes(own.iter().map(|&axis| typed(&mut random, axis, of_output)).collect())
        } else {
            same(by_size!(data.kind.1, library(&data, &to, &BroadcastRule::Numpy)), &expected, &(&to, &data));
            // a 1 keeps the dim, and ones in front may be left out
            for (to, &dim) in to.iter_mut().zip(&wide) {
                *to = if *to == dim as i64 && random.chance(40) { 1 } else { *to };
            }
            let ones = to.iter().take_while(|&&to| to == 1).count();
            to.drain(..if of_output == rank { random.below(ones + 1) } else { 0 });
            BroadcastRule::Bidirectional
        };
        let mut options = vec![list("shape", &to)];
        if let BroadcastRule::Axes(axes) = &rule {
            options.push(list("axes", axes));
        }
        check(&mut random, &folder, "broadcast", &options, &data, &expected);
        same(by_size!(data.kind.1, library(&data, &to, &rule)), &expected, &(&options, &data));
    }
}

#[test]
fn split() {
    fn library<const N: usize>(data: &Tensor, axis: i64, into: &SplitInto) -> Vec<(Vec<usize>, Vec<u8>)> {
        tensorop::split(&data.array::<N>(), axis, into).expect("a split").iter().map(parts).collect()
    }
    let mut random = Random(55);
    for case in 0..CASES {
        let folder = Folder::new();
        let data = data(&mut random, case, 1);
        let rank = data.shape.len();
        let axis = random.below(rank);
        let dim = data.shape[axis];
        let (lengths, into) = if random.chance(50) {
            let parts = 1 + random.below(12);
            let each = dim.div_ceil(parts);
            let lengths = (0..parts).map(|n| each.min(dim.saturating_sub(n * each))).collect();
            (lengths, SplitInto::Parts(parts as i64))
        } else {
            let mut ends: Vec<usize> = (0..random.below(5)).map(|_| random.below(dim + 1)).collect();
            ends.extend([0, dim]);
            ends.sort_unstable();
            let lengths: Vec<usize> = ends.windows(2).map(|ends| ends[1] - ends[0]).collect();
            let mut typed: Vec<i64> = lengths.iter().map(|&length| length as i64).collect();
            if random.chance(40) {
                let rest = random.below(typed.len());
                typed[rest] = -1;
            }
            (lengths, SplitInto::Lengths(typed))
        };
        let mut start = 0;
        let mut expected = Vec::new();
        for &length in &lengths {
            let mut axes = all(&data.shape);
            axes[axis] = (start..start + length).map(Some).collect();
            expected.push(arranged(&data, &data.shape, &axes, &vec![0; data.kind.1]));
            start += length;
        }
        let named = typed(&mut random, axis, rank);
        let how = match &into {
            SplitInto::Parts(parts) => format!("--parts={parts}"),
            SplitInto::Lengths(lengths) => list("lengths", lengths),
        };
        let file = data.file();
        folder.put("data.npy", &file);
        for (n, Division { window, threads }) in divisions(&mut random).into_iter().enumerate() {
            let (name, stdin) = if n == case % 2 { ("data.npy", None) } else { ("-", Some(file.as_slice())) };
            let axis = format!("--axis={named}");
            let args = ["split", name, &how, &axis, "-o", "out-*.npy", "--threads", threads];
            let run = folder.run_with(args, window, stdin);
            assert!(run.status == Some(0) && run.stderr.is_empty(), "{args:?} on {data:?}: {}", run.stderr);
            let width = (expected.len() - 1).to_string().len();
            for (number, expected) in expected.iter().enumerate() {
                let found = folder.get(format!("out-{number:0width$}.npy"));
                let wanted = common::npy(&data.descr(), &expected.shape, &expected.ordered(data.big));
                assert!(found == wanted, "{number}, {args:?} on {data:?}: {}", difference(&found, &wanted));
            }
            assert_eq!(folder.names().len(), 1 + expected.len(), "{args:?} on {data:?}");
        }
        let found = by_size!(data.kind.1, library(&data, named, &into));
        assert_eq!(found.len(), expected.len(), "{into:?}");
        found.into_iter().zip(&expected).for_each(|(found, expected)| same(found, expected, &(&into, &data)));
    }
}
