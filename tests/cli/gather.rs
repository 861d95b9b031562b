//! `tensorop gather`: OpenVINO Gather-1, -7 and -8 and ONNX Gather 1, 11 and 13 from the command line.

use crate::common::{Example, Folder, Tensor, each, examples, npy, prints, refusals, tensor, words};

fn example<T: Copy>(
    name: &str,
    data: &Tensor<T>,
    indices: Tensor<i64>,
    options: &str,
    expected: Tensor<T>,
) -> Example<T> {
    Example { name: name.to_owned(), indices: Some(indices), ..Example::of("gather", data.clone(), options, expected) }
}

/// The seven examples of Gather-8; those of Gather-7 are the first five, that of Gather-1 has the indices 0 and 4 in two
/// dimensions.
#[test]
fn examples_of_openvino() {
    let five = tensor(&[5], &[1, 2, 3, 4, 5]);
    let rows = tensor(&[2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let forty: Vec<i32> = (1..=40).collect();
    let (cube, images) = (tensor(&[2, 5, 4], &forty), tensor(&[2, 1, 5, 4], &forty));
    let batches = tensor(&[2, 3], &[0, 0, 4, 4, 0, 0]);
    let picked = tensor(&[2, 3], &[1, 1, 5, 10, 6, 6]);
    let blocks: Vec<i32> = [1, 1, 17, 37, 21, 21].into_iter().flat_map(|first| first..first + 4).collect();
    examples(vec![
        example("1", &five, tensor(&[3], &[0, 0, 4]), "--axis 0", tensor(&[3], &[1, 1, 5])),
        example("2", &rows, batches.clone(), "--axis 1 --batch-dims 1", picked.clone()),
        example("3", &cube, batches.clone(), "--axis 1 --batch-dims 1", tensor(&[2, 3, 4], &blocks)),
        example("4", &images, batches.clone(), "--axis 2 --batch-dims 1", tensor(&[2, 1, 3, 4], &blocks)),
        example("5", &rows, batches, "--axis 1 --batch-dims -1", picked),
        example("6", &five, tensor(&[3], &[0, -2, -1]), "--axis 0", tensor(&[3], &[1, 4, 5])),
        example("7", &five, tensor(&[3], &[3, 10, -20]), "--out-of-range zero", tensor(&[3], &[4, 0, 0])),
        example("Gather-1", &five, tensor(&[2, 2], &[0, 4, 4, 0]), "", tensor(&[2, 2], &[1, 5, 5, 1])),
    ]);
}

/// The two examples of the document, and ONNX's own tests of the operator with small dims.
#[test]
fn examples_of_onnx() {
    let one = tensor(&[3, 2], &[1.0, 1.2, 2.3, 3.4, 4.5, 5.7]);
    let two = tensor(&[3, 3], &[1.0, 1.2, 1.9, 2.3, 3.4, 3.9, 4.5, 5.7, 5.9]);
    let ten: Vec<f64> = (0..10_u8).map(f64::from).collect();
    let (first, second) = ([1.0, 1.2, 2.3, 3.4, 2.3, 3.4, 4.5, 5.7], [1.0, 1.9, 2.3, 3.9, 4.5, 5.9]);
    examples(vec![
        example("1", &one, tensor(&[2, 2], &[0, 1, 1, 2]), "--axis 0", tensor(&[2, 2, 2], &first)),
        example("2", &two, tensor(&[1, 2], &[0, 2]), "--axis 1", tensor(&[3, 1, 2], &second)),
        example("negative", &tensor(&[10], &ten), tensor(&[3], &[0, -9, -10]), "", tensor(&[3], &[0., 1., 0.])),
        example("2-D indices", &two, tensor(&[1, 2], &[0, 2]), "--axis -1", tensor(&[3, 1, 2], &second)),
    ]);
}

/// Every axis of data of four axes, with indices of every rank and any number of batches, against plain loops; from C and
/// Fortran order, by windows and threads of every size.
#[test]
fn every_axis() {
    let shape = [2, 3, 4, 5];
    let items: Vec<i32> = (0..120).map(|item| item * 523 + 7).collect();
    let data = tensor::<i32>(&shape, &items);
    let folder = Folder::new();
    folder.put("c.npy", data.npy()).put("f.npy", data.npy_fortran());
    let cases = (0..4).flat_map(|axis| (0..=axis).flat_map(move |batch| (0..3).map(move |more| (axis, batch, more))));
    each(
        cases.flat_map(|case| [(case, false), (case, true)]),
        |((axis, batch, more), zero)| format!("axis {axis}, {batch} batch dims, {more} more, zeros {zero}"),
        |&((axis, batch, more), zero)| {
            let index_shape = [&shape[..batch], &[3, 2][..more]].concat();
            let (dim, count) = (shape[axis] as i64, index_shape.iter().product::<usize>());
            let wide = if zero { dim + 2 } else { dim };
            let numbers: Vec<i64> = (0..count as i64).map(|n| n * 7919 % (2 * wide) - wide).collect();
            let product = |dims: &[usize]| dims.iter().product::<usize>();
            let (batches, rows, block) =
                (product(&shape[..batch]), product(&shape[batch..axis]), product(&shape[axis + 1..]));
            let per_batch = count / batches;
            let mut wanted = Vec::new();
            for row in 0..batches * rows {
                for &number in &numbers[row / rows * per_batch..][..per_batch] {
                    let place = if number < 0 { number + dim } else { number };
                    for item in 0..block {
                        let at = || (row * shape[axis] + place as usize) * block + item;
                        wanted.push(if (0..dim).contains(&place) { items[at()] } else { 0 });
                    }
                }
            }
            let output = [&shape[..axis], &index_shape[batch..], &shape[axis + 1..]].concat();
            folder.put("i.npy", tensor::<i64>(&index_shape, &numbers).npy());
            let batch = if more > 0 && axis % 2 == 0 { -(more as i64) } else { batch as i64 };
            for name in ["c.npy", "f.npy"] {
                let what = if zero { " --out-of-range zero" } else { "" };
                let args = format!("gather {name} i.npy --axis {axis} --batch-dims {batch}{what}");
                folder.gives(&words(&args), None, &tensor::<i32>(&output, &wanted).npy())?;
            }
            Ok(())
        },
    );
}

/// The paths that only files of some length take: long rows and short ones, near and far indices, and parts of blocks.
#[test]
fn rows_of_every_length() {
    let folder = Folder::new();
    // shape, axis, indices of a row: read together, sorted, one by one
    let rows: [(&[usize], usize, usize); 7] = [
        (&[3000, 40], 1, 7),
        (&[3, 200_000], 1, 5000),
        (&[2, 400_000], 1, 3),
        (&[5000, 9], 0, 4000),
        (&[20, 9000], 0, 30),
        (&[4, 3000, 9], 1, 50),
        (&[300_000], 0, 100_000),
    ];
    each(
        rows.into_iter().flat_map(|row| [(row, false), (row, true)]),
        |((shape, axis, count), fortran)| format!("{count} of axis {axis} of {shape:?}, Fortran order {fortran}"),
        |&((shape, axis, count), fortran)| {
            let items: Vec<i32> =
                (0..shape.iter().product::<usize>() as i32).map(|n| n.wrapping_mul(-1_640_531_535)).collect();
            let data = tensor::<i32>(shape, &items);
            folder.put("d.npy", if fortran { data.npy_fortran() } else { data.npy() });
            let dim = shape[axis];
            let places: Vec<usize> = (0..count).map(|n| (n * 7919 + n / 3) % dim).collect();
            let numbers: Vec<i64> = places.iter().map(|&place| place as i64 - (place % 2 * dim) as i64).collect();
            folder.put("i.npy", tensor::<i64>(&[count], &numbers).npy());
            let block: usize = shape[axis + 1..].iter().product();
            let outer: usize = shape[..axis].iter().product();
            let blocks = (0..outer).flat_map(|row| places.iter().map(move |place| (row * dim + place) * block));
            let wanted: Vec<i32> = blocks.flat_map(|from| items[from..][..block].to_vec()).collect();
            let output = [&shape[..axis], &[count], &shape[axis + 1..]].concat();
            let wanted = tensor::<i32>(&output, &wanted).npy();
            for window in [None, Some(100_000)] {
                for threads in [1, 2] {
                    let args = format!("gather d.npy i.npy --axis {axis} --threads {threads} -o out.npy");
                    folder.run_with(words(&args), window, None).printed()?;
                    if folder.get("out.npy") != wanted {
                        return Err(format!("other items by windows of {window:?} and {threads} threads"));
                    }
                }
            }
            Ok(())
        },
    );
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0, 3], &[]).npy()).put("first.npy", tensor::<i32>(&[0, 3], &[]).npy());
    folder.put("i-0.npy", tensor::<i64>(&[], &[-1]).npy()).put("i-none.npy", tensor::<i64>(&[2, 0], &[]).npy());
    folder.put("i-huge.npy", npy("<u8", &[2], &[0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 0, 0, 0, 0, 0, 0]));
    folder.put("axis.json", "1").put("bf16.npy", npy("<V2", &[2], &[0x80, 0x3f, 0x40, 0xc0]));
    let (first, last) = ("int32 [1, 3] [[0, 1, 2]]", "int32 [1, 3] [[3, 4, 5]]");
    let column = "int32 [2] [2, 5]";
    let rows = [
        // the axis is the first one, unless another is given
        ("gather d.npy [1]", last),
        ("gather d.npy [-2]", first),
        ("gather d.npy [1,-3] --axis 1", "int32 [2, 2] [[1, 0], [4, 3]]"),
        ("gather d.npy [1,-3] --axis=-1", "int32 [2, 2] [[1, 0], [4, 3]]"),
        ("gather d.npy [[2]] --axis axis.json", "int32 [2, 1, 1] [[[2]], [[5]]]"),
        ("gather d.npy [[0],[1]]", "int32 [2, 1, 3] [[[0, 1, 2]], [[3, 4, 5]]]"),
        // an index of rank 0 drops the axis
        ("gather d.npy 1", "int32 [3] [3, 4, 5]"),
        ("gather d.npy -1 --axis 1", column),
        ("gather d.npy i-0.npy --axis [1]", column),
        ("gather [7,8] 1", "int64 [] 8"),
        ("gather [7,8] 1 --batch-dims 0", "int64 [] 8"),
        // batches, counted from either end
        ("gather d.npy [2,-1] --axis 1 --batch-dims 1", column),
        ("gather d.npy [[2],[-1]] --axis 1 --batch-dims -1", "int32 [2, 1] [[2], [5]]"),
        ("gather d.npy [2] --axis 1 --batch-dims -1", "int32 [2, 1] [[2], [5]]"),
        ("gather d.npy [[2,0],[1,1]] --axis 1 --batch-dims=+1", "int32 [2, 2] [[2, 0], [4, 4]]"),
        // zeros where an index names no place
        ("gather d.npy [1,2,-3] --out-of-range zero", "int32 [3, 3] [[3, 4, 5], [0, 0, 0], [0, 0, 0]]"),
        ("gather d.npy [3,2,-4] --axis 1 --out-of-range zero", "int32 [2, 3] [[0, 2, 0], [0, 5, 0]]"),
        ("gather d.npy i-huge.npy --out-of-range zero", "int32 [2, 3] [[0, 0, 0], [3, 4, 5]]"),
        ("gather first.npy [0,-1] --out-of-range zero", "int32 [2, 3] [[0, 0, 0], [0, 0, 0]]"),
        (r#"gather ["a","xyz"] [2,1] --out-of-range zero"#, r#"<U3 [2] ["", "xyz"]"#),
        // no index, no place, no item
        ("gather d.npy []", "int32 [0, 3] []"),
        ("gather d.npy i-none.npy --axis 1", "int32 [2, 2, 0] [[[], []], [[], []]]"),
        ("gather d.npy i-none.npy --axis 1 --batch-dims 1", "int32 [2, 0] [[], []]"),
        ("gather none.npy [1,-2]", "int32 [2, 0, 3] [[], []]"),
        ("gather none.npy [2,0] --axis 2", "int32 [2, 0, 2] [[], []]"),
        ("gather first.npy []", "int32 [0, 3] []"),
        // plain JSON
        ("gather [1.5,2] [1]", "float64 [1] [2.0]"),
        ("gather [1,2] [1] --dtype float16", "float16 [1] [2.0]"),
        (r#"gather ["2020-01-01"] [0] --dtype <M8[D]"#, r#"<M8[D] [1] ["2020-01-01"]"#),
        ("gather [true,false] [1]", "bool [1] [false]"),
        ("gather [[1,2],[3,4]] [1] --dtype complex64", "complex64 [1] [[3.0, 4.0]]"),
        ("gather bf16.npy [1,0]", "bfloat16 [2] [-3.0, 1.0]"),
    ];
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("none.npy", tensor::<i32>(&[0, 3], &[]).npy());
    folder.put("no-item.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("cube.npy", tensor::<i32>(&[2, 3, 4], &[0; 24]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy());
    folder.put("i-huge.npy", npy("<u8", &[1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("i-least.npy", npy(">i8", &[1], &[0x80, 0, 0, 0, 0, 0, 0, 0]));
    folder.put("last.npy", {
        let mut numbers = vec![1_i64; 3000];
        numbers[2999] = 2;
        tensor::<i64>(&[1500, 2], &numbers).npy_fortran()
    });
    let rows: [(&str, &[&str]); 30] = [
        ("gather d.npy [0,2]", &["INDICES", "2 at [1]", "[-2, 1]", "axis 0", "[2, 3]"]),
        ("gather d.npy [0,-3]", &["INDICES", "-3 at [1]", "[-2, 1]"]),
        ("gather d.npy [[0,3]] --axis 1", &["INDICES", "3 at [0, 1]", "[-3, 2]", "axis 1"]),
        ("gather d.npy 2", &["INDICES", "2 at []", "[-2, 1]"]),
        ("gather d.npy [2] --out-of-range error", &["INDICES", "2 at [0]", "[-2, 1]"]),
        ("gather d.npy i-huge.npy", &["INDICES", "i-huge.npy", "9223372036854775808 at [0]"]),
        ("gather d.npy i-least.npy", &["INDICES", "i-least.npy", "-9223372036854775808 at [0]"]),
        ("gather d.npy [18446744073709551615]", &["INDICES", "18446744073709551615 at [0]"]),
        ("gather d.npy [18446744073709551616]", &["INDICES", "18446744073709551616"]),
        // the last in C order of its tensor: numbers lie in Fortran order
        ("gather d.npy last.npy", &["INDICES", "last.npy", "2 at [1499, 1]"]),
        ("gather none.npy [0]", &["INDICES", "0 at [0]", "there is no place"]),
        ("gather no-item.npy [2]", &["INDICES", "2 at [0]", "[-2, 1]"]),
        ("gather d.npy [[0],[3]] --axis 1 --batch-dims 1", &["INDICES", "3 at [1, 0]", "[-3, 2]", "axis 1"]),
        ("gather zero.npy 0", &["DATA", "zero.npy", "rank 0"]),
        ("gather 5 [0]", &["DATA", "rank 0"]),
        ("gather d.npy [0] --axis 2", &["--axis", "2 is outside [-2, 1]", "[2, 3]"]),
        ("gather d.npy [0] --axis=-3", &["--axis", "-3 is outside [-2, 1]"]),
        ("gather d.npy [0] --axis 0,1", &["--axis", "2 integers"]),
        ("gather d.npy [0] --axis x", &["--axis", "x"]),
        ("gather d.npy [[0],[0,1]]", &["INDICES"]),
        ("gather d.npy [0] --batch-dims 1", &["--batch-dims", "1, expected 0 to 0 or -1 to -1", "axis 0"]),
        ("gather d.npy [0,0] --axis 1 --batch-dims 2", &["--batch-dims", "2, expected -1 to 1", "axis 1"]),
        ("gather d.npy [0,0] --axis 1 --batch-dims -2", &["--batch-dims", "-2, expected -1 to 1", "[2]"]),
        ("gather d.npy 0 --batch-dims -1", &["--batch-dims", "-1, expected 0 (", "indices []"]),
        ("gather d.npy [0] --batch-dims=-9223372036854775808", &["--batch-dims", "-9223372036854775808"]),
        ("gather d.npy [0] --batch-dims 9223372036854775808", &["--batch-dims", "9223372036854775808"]),
        ("gather cube.npy [[0],[0],[0]] --axis 2 --batch-dims 1", &["INDICES", "batch dims [3], expected [2]"]),
        ("gather d.npy [0] --out-of-range zeros", &["--out-of-range", "error, zero"]),
        ("gather d.npy [0] [1]", &["[1]"]),
        ("gather d.npy", &["INDICES"]),
    ];
    refusals(&folder, &rows);
}
