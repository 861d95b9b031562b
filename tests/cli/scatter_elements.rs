//! `tensorop scatter-elements`: ONNX ScatterElements 11 to 18 and Scatter 9, and OpenVINO ScatterElementsUpdate-3 and -12
//! from the command line.

use crate::common::{Example, Folder, Tensor, each, examples, npy, prints, refusals, tensor, words};

/// Both examples of the document at each of its versions, and ONNX's own tests of the operator.
#[test]
fn examples_of_onnx() {
    type Row<'a> = (&'a str, &'a Tensor<f32>, &'a [i64], &'a [f32], &'a [usize], &'a str, &'a [f32]);
    let zeros = tensor(&[3, 3], &[0.; 9]);
    let line = tensor(&[1, 5], &[1., 2., 3., 4., 5.]);
    let rows: [Row<'_>; 9] = [
        (
            "1",
            &zeros,
            &[1, 0, 2, 0, 2, 1],
            &[1.0, 1.1, 1.2, 2.0, 2.1, 2.2],
            &[2, 3],
            "",
            &[2.0, 1.1, 0.0, 1.0, 0.0, 2.2, 0.0, 2.1, 1.2],
        ),
        ("2", &line, &[1, 3], &[1.1, 2.1], &[1, 2], "--axis 1", &[1.0, 1.1, 3.0, 2.1, 5.0]),
        ("2 from the end", &line, &[1, -3], &[1.1, 2.1], &[1, 2], "--axis -1", &[1.0, 1.1, 2.1, 4.0, 5.0]),
        ("2 at 9", &line, &[1, 3], &[1.1, 2.1], &[1, 2], "--axis 1 --opset 9", &[1.0, 1.1, 3.0, 2.1, 5.0]),
        ("2 at 11", &line, &[1, 3], &[1.1, 2.1], &[1, 2], "--axis 1 --opset 11", &[1.0, 1.1, 3.0, 2.1, 5.0]),
        ("2 at 13", &line, &[1, 3], &[1.1, 2.1], &[1, 2], "--axis 1 --opset 13", &[1.0, 1.1, 3.0, 2.1, 5.0]),
        (
            "repeats are added",
            &line,
            &[1, 1],
            &[1.1, 2.1],
            &[1, 2],
            "--axis 1 --reduction add --opset 16",
            &[1.0, 2. + 1.1 + 2.1, 3.0, 4.0, 5.0],
        ),
        (
            "the largest",
            &line,
            &[1, 1],
            &[1.1, 2.1],
            &[1, 2],
            "--axis 1 --reduction max --opset 18",
            &[1.0, 2.1, 3.0, 4.0, 5.0],
        ),
        (
            "the least",
            &line,
            &[1, 1],
            &[1.1, 2.1],
            &[1, 2],
            "--axis 1 --reduction min --opset 25",
            &[1.0, 1.1, 3.0, 4.0, 5.0],
        ),
    ];
    let example = |(name, data, indices, updates, shape, options, expected): Row<'_>| Example {
        name: name.to_owned(),
        indices: Some(tensor(shape, indices)),
        updates: Some(tensor(shape, updates)),
        ..Example::of("scatter-elements", data.clone(), options, tensor(&data.shape, expected))
    };
    examples(rows.into_iter().map(example).collect());
}

/// The examples of the document with values: each reduction, with and without the items of DATA.
#[test]
fn examples_of_openvino() {
    let example = |options: &str, expected: &[i32]| Example {
        indices: Some(tensor(&[6], &[1, 0, 0, -2, -1, 2])),
        updates: Some(tensor(&[6], &[10, 20, 30, 40, 70, 60])),
        ..Example::of("scatter-elements", tensor(&[4], &[2, 3, 4, 6]), options, tensor(&[4], expected))
    };
    examples(vec![
        example("", &[30, 10, 60, 70]),
        example("--reduction none --no-initial", &[30, 10, 60, 70]),
        example("--reduction add", &[52, 13, 104, 76]),
        example("--reduction add --no-initial", &[50, 10, 100, 70]),
        example("--reduction mul", &[1200, 30, 9600, 420]),
        example("--reduction mul --no-initial", &[600, 10, 2400, 70]),
        example("--reduction max", &[30, 10, 60, 70]),
        example("--reduction min", &[2, 3, 4, 6]),
        example("--reduction min --no-initial", &[20, 10, 40, 70]),
        example("--reduction mean", &[17, 6, 34, 38]),
        example("--reduction mean --no-initial", &[25, 10, 50, 70]),
    ]);
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0], &[]).npy()).put("i-none.npy", tensor::<i64>(&[0, 3], &[]).npy());
    folder.put("i-empty.npy", tensor::<i64>(&[5, 0], &[]).npy());
    folder.put("b.npy", npy("|b1", &[4], &[0, 0, 1, 1]));
    let unchanged = "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]";
    let last = "int32 [2, 3] [[0, 1, 2], [9, 4, 5]]";
    let rows = [
        ("scatter-elements d.npy [[1,0,1]] [[7,8,9]]", "int32 [2, 3] [[0, 8, 2], [7, 4, 9]]"),
        ("scatter-elements d.npy [[1,0],[-1,2]] [[6,7],[8,9]] --axis 1", "int32 [2, 3] [[7, 6, 2], [3, 4, 9]]"),
        ("scatter-elements d.npy [[1],[-1]] --fill 9 --axis [-1]", "int32 [2, 3] [[0, 9, 2], [3, 4, 9]]"),
        // more indices than the axis has places; the last of them wins
        ("scatter-elements d.npy [[1],[1],[0],[1]] [[6],[7],[8],[9]]", "int32 [2, 3] [[8, 1, 2], [9, 4, 5]]"),
        (
            "scatter-elements d.npy [[1],[1],[0],[1]] [[6],[7],[8],[9]] --on-duplicate last",
            "int32 [2, 3] [[8, 1, 2], [9, 4, 5]]",
        ),
        ("scatter-elements d.npy [[1]] [[9]] --on-duplicate error", last),
        // nothing to put
        ("scatter-elements d.npy i-none.npy --fill 1", unchanged),
        ("scatter-elements d.npy i-none.npy --fill 1 --reduction mean --no-initial", unchanged),
        ("scatter-elements none.npy i-empty.npy --fill 1", "int32 [2, 0] [[], []]"),
        // means: integers toward zero, exactly; floats with one rounding a step
        ("scatter-elements [-3] [0,0,0] [-5,-5,-5] --reduction mean", "int64 [1] [-4]"),
        ("scatter-elements [255,1] [0,0,1] [255,255,2] --reduction mean --dtype uint8", "uint8 [2] [255, 1]"),
        (
            "scatter-elements [9223372036854775807] [0] [9223372036854775805] --reduction mean",
            "int64 [1] [9223372036854775806]",
        ),
        ("scatter-elements [1.0,2.0] [1,1] [4,6] --reduction mean", "float64 [2] [1.0, 4.0]"),
        ("scatter-elements [2048] [0,0] [1,1] --reduction mean --dtype float16", "float16 [1] [682.5]"),
        ("scatter-elements [65504] [0] [65504] --reduction mean --dtype float16", r#"float16 [1] ["Infinity"]"#),
        ("scatter-elements [1] [0,0] [1,2] --reduction mean --dtype bfloat16", "bfloat16 [1] [1.3359375]"),
        // what DATA holds takes no part
        (r#"scatter-elements ["NaN",7.0] [0,0] [1,3] --reduction max --no-initial"#, "float64 [2] [3.0, 7.0]"),
        (r#"scatter-elements ["NaN",7.0] [0,0] [1,3] --reduction mean --no-initial"#, "float64 [2] [2.0, 7.0]"),
        (
            "scatter-elements b.npy [0,3] [false,false] --reduction add --no-initial",
            "bool [4] [false, false, true, false]",
        ),
        (
            "scatter-elements [[1,2]] [0] [[3,4]] --reduction mul --no-initial --dtype complex64",
            "complex64 [1] [[3.0, 4.0]]",
        ),
        // what is no number moves
        ("scatter-elements [\"a\",\"b\"] [1] [\"z\"]", r#"<U1 [2] ["a", "z"]"#),
    ];
    prints(&folder, &rows);
}

/// Every reduction in both orders of bytes and of storage and in place, at windows of any size and with several threads: what
/// is counted for a place is all that goes to it.
#[test]
fn reductions_down_every_path() {
    let folder = Folder::new();
    let items: Vec<i32> = (0..210).map(|n| n * 37 % 101 - 50).collect();
    let data = tensor::<i32>(&[5, 7, 6], &items);
    let shape = [5, 9, 4];
    let numbers: Vec<i64> = (0..180).map(|n| n * n % 14 - 7).collect();
    let given: Vec<i32> = (0..180).map(|n| n * 53 % 97 - 48).collect();
    folder.put("i.npy", tensor(&shape, &numbers).npy()).put("i-f.npy", tensor(&shape, &numbers).npy_fortran());
    folder.put("u.npy", tensor(&shape, &given).npy()).put("u-f.npy", tensor(&shape, &given).npy_fortran());
    let big = |file: Vec<u8>| {
        let at = file.len() - 840;
        let items: Vec<u8> = file[at..].chunks(4).flat_map(|item| item.iter().rev().copied()).collect();
        npy(">i4", &[5, 7, 6], &items)
    };
    let all =
        ["add", "mul", "max", "min", "mean"].into_iter().flat_map(|reduction| [(reduction, true), (reduction, false)]);
    each(
        all,
        |(reduction, has_initial)| format!("{reduction}, with the items of DATA {has_initial}"),
        |&(reduction, has_initial)| {
            let mut wanted = items.clone();
            for place in 0..210 {
                let (i, j, k) = (place / 42, place / 6 % 7, place % 6);
                let goes = |&n: &usize| (n / 36, numbers[n].rem_euclid(7) as usize, n % 4) == (i, j, k);
                let put: Vec<i32> = (0..180).filter(goes).map(|n| given[n]).collect();
                if put.is_empty() {
                    continue;
                }
                let taken: Vec<i32> = has_initial.then_some(items[place]).into_iter().chain(put).collect();
                let wrapped = |combine: fn(i32, i32) -> i32| taken.iter().copied().reduce(combine).expect("one");
                wanted[place] = match reduction {
                    "add" => wrapped(i32::wrapping_add),
                    "mul" => wrapped(i32::wrapping_mul),
                    "max" => wrapped(i32::max),
                    "min" => wrapped(i32::min),
                    _ => taken.iter().sum::<i32>() / taken.len() as i32,
                };
            }
            let wanted = tensor::<i32>(&[5, 7, 6], &wanted);
            let option = if has_initial { "" } else { "--no-initial" };
            for (operands, little) in
                [("i.npy u.npy", true), ("i-f.npy u.npy", true), ("i.npy u-f.npy", true), ("i.npy u.npy", false)]
            {
                for fortran in [false, true] {
                    let file = |tensor: &Tensor<i32>| if fortran { tensor.npy_fortran() } else { tensor.npy() };
                    if fortran && !little {
                        continue;
                    }
                    folder.put("d.npy", if little { file(&data) } else { big(data.npy()) });
                    let args = format!("scatter-elements d.npy {operands} --axis 1 --reduction {reduction} {option}");
                    let made = if little { wanted.npy() } else { big(wanted.npy()) };
                    folder.gives(&words(&args), None, &made)?;
                    let window = Some(if little { 40 } else { 9 });
                    folder.run_with(words(&format!("{args} --in-place --threads 3")), window, None).printed()?;
                    let made = if little { file(&wanted) } else { made };
                    if folder.get("d.npy") != made {
                        return Err(format!("`{args} --in-place`: other items"));
                    }
                }
            }
            Ok(())
        },
    );
}

/// More places than are counted at a time, and more updates for one place than fit a small number.
#[test]
fn long_runs() {
    let folder = Folder::new();
    let count = 300_000;
    folder.put("d.npy", tensor::<u8>(&[count], &vec![1; count]).npy());
    let numbers: Vec<i32> = (0..count as i32).map(|n| if n % 3 == 0 { 131_072 } else { n }).collect();
    folder.put("i.npy", tensor::<i32>(&[count], &numbers).npy());
    let mut wanted: Vec<u8> = (0..count).map(|n| if n % 3 == 0 { 1 } else { 60 }).collect();
    // (1 + 119 * 100002) / 100003 is cut to 118, (1 + 119) / 2 is 60
    wanted[131_072] = 118;
    folder.put("wanted.npy", tensor::<u8>(&[count], &wanted).npy());
    let args = "scatter-elements d.npy i.npy --fill 119 --reduction mean -o out.npy";
    folder.run(words(args)).printed().expect("a scatter");
    assert!(folder.get("out.npy") == folder.get("wanted.npy"));
}

#[test]
fn dry_runs() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<f32>(&[2, 3], &[0.; 6]).npy());
    let rows = [
        (
            "",
            "scatter-elements (ONNX ScatterElements-18, OpenVINO ScatterElementsUpdate-12)",
            "axis 0, reduction none: 1 index",
        ),
        ("--opset 9 --axis -1", "scatter-elements (ONNX Scatter-9)", "axis -1, reduction none: 1 index"),
        ("--opset 17 --reduction add", "scatter-elements (ONNX ScatterElements-16)", "axis 0, reduction add: 1 index"),
        ("--reduction mean", "scatter-elements (OpenVINO ScatterElementsUpdate-12)", "axis 0, reduction mean: 1 index"),
        (
            "--reduction max --no-initial",
            "scatter-elements (OpenVINO ScatterElementsUpdate-12)",
            "axis 0, reduction max without the items of DATA: 1 index",
        ),
    ];
    each(
        rows,
        |(options, ..)| (*options).to_owned(),
        |(options, title, line)| {
            let args = format!("scatter-elements d.npy [[1]] [[2]] {options} --dry-run -o out.npy");
            let said = folder.run(words(&args)).printed()?;
            match said.starts_with(title) && said.contains(line) && !folder.path("out.npy").exists() {
                true => Ok(()),
                false => Err(said),
            }
        },
    );
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy()).put("f.npy", tensor::<f32>(&[1, 1], &[0.]).npy());
    folder.put("b.npy", npy("|b1", &[1, 1], &[1])).put("c.npy", npy("<c8", &[1], &[0; 8]));
    folder.put("i-huge.npy", npy("<u8", &[1, 1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("i-least.npy", npy("<i8", &[1, 1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("s.npy", npy("|S1", &[1], b"a")).put("m.npy", npy("<M8[s]", &[1], &[0; 8]));
    let rows: &[(&str, &[&str])] = &[
        ("scatter-elements d.npy [[0,0,2]] --fill 1", &["INDICES", "2 at [0, 2]", "[-2, 1]", "axis 0", "[2, 3]"]),
        ("scatter-elements d.npy [[-3]] --fill 1", &["INDICES", "-3 at [0, 0]", "[-2, 1]"]),
        ("scatter-elements d.npy [[0],[3]] --fill 1 --axis 1", &["INDICES", "3 at [1, 0]", "[-3, 2]", "axis 1"]),
        ("scatter-elements d.npy [[0],[-4]] --fill 1 --axis -1", &["INDICES", "-4 at [1, 0]", "axis 1"]),
        ("scatter-elements d.npy i-huge.npy --fill 1", &["INDICES", "i-huge.npy", "9223372036854775808 at [0, 0]"]),
        ("scatter-elements d.npy i-least.npy --fill 1", &["INDICES", "i-least.npy", "-9223372036854775808 at [0, 0]"]),
        ("scatter-elements none.npy [[0],[0]] --fill 1 --axis 1", &["INDICES", "0 at [0, 0]", "no place", "axis 1"]),
        ("scatter-elements d.npy [0,1] --fill 1", &["INDICES", "rank 1", "expected 2", "[2, 3]"]),
        ("scatter-elements d.npy 0 --fill 1", &["INDICES", "rank 0", "expected 2"]),
        ("scatter-elements d.npy [[0,0,0,0]] --fill 1", &["INDICES", "[1, 4]", "at most 3 on axis 1", "[2, 3]"]),
        ("scatter-elements d.npy [[0],[0],[0]] --fill 1 --axis 1", &["INDICES", "[3, 1]", "at most 2 on axis 0"]),
        ("scatter-elements d.npy [[0]] [[1,2]]", &["UPDATES", "[1, 2]", "[1, 1]"]),
        ("scatter-elements d.npy [[0]] [1]", &["UPDATES", "[1]", "[1, 1]"]),
        ("scatter-elements zero.npy 0 --fill 1", &["DATA", "zero.npy", "rank 0"]),
        ("scatter-elements d.npy [[0]] f.npy", &["f.npy", "float32", "int32"]),
        ("scatter-elements d.npy [[0]] --fill 1 --axis 2", &["--axis", "2", "[-2, 1]"]),
        ("scatter-elements d.npy [[0]] --fill 1 --axis -3", &["--axis", "-3", "[-2, 1]"]),
        ("scatter-elements d.npy [[0]] --fill 1 --axis 0,1", &["--axis", "2 integers, expected one"]),
        ("scatter-elements d.npy [[0]] --fill 1 --opset 8", &["--opset", "8", "9"]),
        ("scatter-elements d.npy [[0]] --fill 1 --opset 15 --reduction add", &["--reduction", "add", "16", "15"]),
        ("scatter-elements d.npy [[0]] --fill 1 --opset 9 --reduction mul", &["--reduction", "mul", "16", "9"]),
        ("scatter-elements d.npy [[0]] --fill 1 --opset 17 --reduction min", &["--reduction", "min", "18", "17"]),
        ("scatter-elements d.npy [[0]] --fill 1 --opset 18 --reduction mean", &["--opset", "mean", "OpenVINO"]),
        ("scatter-elements d.npy [[0]] --fill 1 --opset 18 --no-initial", &["--no-initial", "--opset"]),
        ("scatter-elements [1] [0] [1] --dtype bfloat16 --opset 12", &["bfloat16", "13", "12"]),
        ("scatter-elements d.npy [[0]] --fill 1 --reduction sub", &["--reduction", "sub"]),
        ("scatter-elements d.npy [[0]] --fill 1 --reduction sum", &["--reduction", "sum"]),
        ("scatter-elements b.npy [[0]] [[true]] --reduction mean", &["--reduction", "mean", "bool"]),
        ("scatter-elements c.npy [0] c.npy --reduction mean", &["--reduction", "mean", "complex64"]),
        ("scatter-elements c.npy [0] c.npy --reduction max --no-initial", &["--reduction", "max", "complex64"]),
        ("scatter-elements s.npy [0] s.npy --reduction mean", &["--reduction", "mean", "S1"]),
        ("scatter-elements m.npy [0] m.npy --reduction mean --no-initial", &["--reduction", "mean", "M8[s]"]),
        ("scatter-elements d.npy [[0],[1],[0]] --fill 1 --on-duplicate error", &["INDICES", "[2, 0]", "[0, 0]"]),
        ("scatter-elements d.npy [[0,0,0],[1,1,1],[0,-2,0]] --fill 1 --on-duplicate error", &["[2, 0]", "[0, 0]"]),
        (
            "scatter-elements d.npy [[0]] --fill 1 --on-duplicate last --reduction mean",
            &["--on-duplicate", "--reduction", "mean"],
        ),
        ("scatter-elements d.npy [[0]]", &["UPDATES", "--fill"]),
        ("scatter-elements d.npy", &["INDICES"]),
    ];
    refusals(&folder, rows);
}

/// A part of a store that is changed in place may run twice, so what it has changed must not take part again.
#[cfg(feature = "zarr")]
#[test]
fn parts_in_place() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[4, 6], &(0..24).collect::<Vec<_>>()).npy());
    folder.run(words("convert d.npy -o d.zarr --chunks 2,3")).printed().expect("a store");
    for option in ["--reduction add", "--reduction mul", "--reduction mean"] {
        let args = format!("scatter-elements d.zarr [[1]] [[5]] {option} --in-place --part 1/2");
        folder.refuses(words(&args), &["--part", "--in-place", "again"]).expect("a refusal");
    }
    for _ in 0..2 {
        for part in ["1/2", "2/2"] {
            let args = "scatter-elements d.zarr [[1,3,3],[1,3,1]] [[5,6,7],[6,8,9]] --reduction mean --no-initial";
            folder.run(words(&format!("{args} --in-place --part {part}"))).printed().expect("a part");
        }
    }
    let wanted = r#"[[0, 1, 2, 3, 4, 5], [5, 7, 9, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 7, 7, 21, 22, 23]]"#;
    let shown = folder.run(words("slice d.zarr --start= --stop= --to json")).printed().expect("a slice");
    assert!(shown.contains(wanted), "{shown}");
}
