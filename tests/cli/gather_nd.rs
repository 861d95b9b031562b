//! `tensorop gather-nd`: ONNX GatherND 11, 12 and 13 and OpenVINO GatherND-8 from the command line.

use crate::common::{Example, Folder, Tensor, each, examples, npy, prints, refusals, tensor, words};

fn example<T: Copy>(
    name: &str,
    data: &Tensor<T>,
    indices: Tensor<i64>,
    batch_dims: usize,
    expected: Tensor<T>,
) -> Example<T> {
    Example {
        name: name.to_owned(),
        indices: Some(indices),
        ..Example::of("gather-nd", data.clone(), format!("--batch-dims {batch_dims}"), expected)
    }
}

/// The five examples of the document, and ONNX's own tests of the operator: `test_gathernd_example_int32`, `_float32`
/// and `_int32_batch_dim1` are its first, fourth and fifth.
#[test]
fn examples_of_onnx() {
    let square = tensor(&[2, 2], &[0, 1, 2, 3]);
    let cube = tensor(&[2, 2, 2], &[0, 1, 2, 3, 4, 5, 6, 7]);
    let floats = tensor(&[2, 2, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
    examples(vec![
        example::<i32>("1", &square, tensor(&[2, 2], &[0, 0, 1, 1]), 0, tensor(&[2], &[0, 3])),
        example("2", &square, tensor(&[2, 1], &[1, 0]), 0, tensor(&[2, 2], &[2, 3, 0, 1])),
        example("3", &cube, tensor(&[2, 2], &[0, 1, 1, 0]), 0, tensor(&[2, 2], &[2, 3, 4, 5])),
        example("4", &cube, tensor(&[2, 1, 2], &[0, 1, 1, 0]), 0, tensor(&[2, 1, 2], &[2, 3, 4, 5])),
        example("5", &cube, tensor(&[2, 1], &[1, 0]), 1, tensor(&[2, 2], &[2, 3, 4, 5])),
    ]);
    let four = tensor(&[2, 1, 2], &[2., 3., 4., 5.]);
    examples(vec![example::<f32>("4 of floats", &floats, tensor(&[2, 1, 2], &[0, 1, 1, 0]), 0, four)]);
}

/// The seven examples of the document with values.
#[test]
fn examples_of_openvino() {
    let square = tensor(&[2, 2], &[1., 2., 3., 4.]);
    let items: Vec<f32> = (1..=24_u8).map(f32::from).collect();
    let cube = tensor(&[2, 3, 4], &items);
    let four = tensor(&[1, 2, 2, 4], &items[..16]);
    let rows = tensor(&[2, 4], &[5., 6., 7., 8., 13., 14., 15., 16.]);
    let picked = tensor(&[2, 3, 1], &[2., 5., 11., 13., 19., 23.]);
    examples(vec![
        example("1", &square, tensor(&[2, 2], &[0, 0, 1, 0]), 0, tensor(&[2], &[1., 3.])),
        example("2", &square, tensor(&[2, 1], &[1, 0]), 0, tensor(&[2, 2], &[3., 4., 1., 2.])),
        example("3", &square, tensor(&[2, 1, 1], &[1, 0]), 0, tensor(&[2, 1, 2], &[3., 4., 1., 2.])),
        example("4", &square, tensor(&[2, 1], &[1, 0]), 1, tensor(&[2], &[2., 3.])),
        example("5", &cube, tensor(&[2, 1], &[1, 0]), 1, rows),
        example("6", &cube, tensor(&[2, 3, 1, 1], &[1, 0, 2, 0, 2, 2]), 2, picked),
        example("7", &four, tensor(&[1, 2, 2, 1], &[1, 0, 3, 2]), 3, tensor(&[1, 2, 2], &[2., 5., 12., 15.])),
    ]);
}

/// The document's layers, which are shapes only: filled with items and numbers, at their own size and at a small one
/// that every window size can cut.
#[test]
fn layers_of_openvino() {
    // data, indices, batch dims, output
    type Layer = (&'static [usize], &'static [usize], usize, &'static [usize]);
    let full: [Layer; 3] = [
        (&[1000, 256, 10, 15], &[25, 125, 3], 0, &[25, 125, 15]),
        (&[30, 2, 100, 35], &[30, 2, 3, 1], 2, &[30, 2, 3, 35]),
        (&[1, 64, 64, 320], &[1, 64, 64, 1, 1], 3, &[1, 64, 64, 1]),
    ];
    let small: [Layer; 3] = [
        (&[10, 6, 4, 15], &[5, 7, 3], 0, &[5, 7, 15]),
        (&[5, 2, 10, 9], &[5, 2, 3, 1], 2, &[5, 2, 3, 9]),
        (&[1, 8, 8, 12], &[1, 8, 8, 1, 1], 3, &[1, 8, 8, 1]),
    ];
    let folder = Folder::new();
    each(
        full.map(|layer| (layer, false)).into_iter().chain(small.map(|layer| (layer, true))),
        |(layer, _)| format!("{layer:?}"),
        |((shape, index_shape, batch, output), windows)| {
            let data: Vec<u8> = (0..shape.iter().product::<usize>()).map(|i| ((i * 31) >> 3) as u8).collect();
            let width = index_shape[index_shape.len() - 1];
            let dims = &shape[*batch..][..width];
            let count = index_shape.iter().product::<usize>();
            let numbers: Vec<i64> = (0..count)
                .map(|i| {
                    let dim = dims[i % width] as i64;
                    (i as i64 * 7919) % (2 * dim) - dim
                })
                .collect();
            let block: usize = shape[batch + width..].iter().product();
            let batches: usize = shape[..*batch].iter().product();
            let mut items = Vec::new();
            for (n, tuple) in numbers.chunks_exact(width).enumerate() {
                let first = n / (count / width / batches);
                let place = tuple
                    .iter()
                    .zip(dims)
                    .fold(first, |place, (&number, &dim)| place * dim + number.rem_euclid(dim as i64) as usize);
                items.extend(&data[place * block..][..block]);
            }
            folder.put("d.npy", npy("|u1", shape, &data)).put("i.npy", tensor(index_shape, &numbers).npy());
            let (args, expected) = (format!("gather-nd d.npy i.npy --batch-dims {batch}"), npy("|u1", output, &items));
            if *windows {
                return folder.gives(&words(&args), None, &expected);
            }
            folder.run(words(&format!("{args} -o out.npy"))).printed()?;
            if folder.get("out.npy") == expected { Ok(()) } else { Err("other items".to_owned()) }
        },
    );
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0, 3], &[]).npy()).put("first.npy", tensor::<i32>(&[0, 3], &[]).npy());
    folder.put("k0.npy", tensor::<i64>(&[2, 0], &[]).npy()).put("k0-none.npy", tensor::<i64>(&[0, 0], &[]).npy());
    folder.put("k0-flat.npy", tensor::<i64>(&[0], &[]).npy()).put("no-tuples.npy", tensor::<i64>(&[0, 2], &[]).npy());
    folder.put("no-batch.npy", tensor::<i64>(&[0, 4, 1], &[]).npy());
    folder.put("batch-none.npy", tensor::<i64>(&[2, 0, 1], &[]).npy());
    folder.put("bf16.npy", npy("<V2", &[2], &[0x80, 0x3f, 0x40, 0xc0]));
    let rows = [
        ("gather-nd d.npy [[1,-1],[0,0]]", "int32 [2] [5, 0]"),
        ("gather-nd d.npy [[-2],[-1],[1]]", "int32 [3, 3] [[0, 1, 2], [3, 4, 5], [3, 4, 5]]"),
        // a lone tuple; more axes of tuples
        ("gather-nd d.npy [1,-1]", "int32 [] 5"),
        ("gather-nd d.npy [1]", "int32 [3] [3, 4, 5]"),
        ("gather-nd d.npy [[[0],[1]],[[1],[0]]]", "int32 [2, 2, 3] [[[0, 1, 2], [3, 4, 5]], [[3, 4, 5], [0, 1, 2]]]"),
        // batches
        ("gather-nd d.npy [[1],[-1]] --batch-dims 1", "int32 [2] [1, 5]"),
        ("gather-nd d.npy [[[1],[0]],[[-1],[2]]] --batch-dims 1", "int32 [2, 2] [[1, 0], [5, 5]]"),
        ("gather-nd d.npy [[1],[-1]] --batch-dims=+1", "int32 [2] [1, 5]"),
        // k = 0: each tuple names the whole, or the whole of its batch
        ("gather-nd d.npy []", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("gather-nd d.npy k0-flat.npy", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("gather-nd d.npy k0.npy", "int32 [2, 2, 3] [[[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]]"),
        ("gather-nd d.npy k0.npy --batch-dims 1", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        // no tuple, no item
        ("gather-nd d.npy k0-none.npy", "int32 [0, 2, 3] []"),
        ("gather-nd d.npy no-tuples.npy", "int32 [0] []"),
        ("gather-nd none.npy [[1],[-2]]", "int32 [2, 0, 3] [[], []]"),
        ("gather-nd none.npy no-tuples.npy", "int32 [0, 3] []"),
        ("gather-nd first.npy no-tuples.npy", "int32 [0] []"),
        ("gather-nd first.npy no-batch.npy --batch-dims 1", "int32 [0, 4] []"),
        ("gather-nd none.npy batch-none.npy --batch-dims 1", "int32 [2, 0, 3] [[], []]"),
        // plain JSON
        ("gather-nd [1.5,2] [[1]]", "float64 [1] [2.0]"),
        ("gather-nd [1,2] [[1]] --dtype float16", "float16 [1] [2.0]"),
        (r#"gather-nd ["a","xyz"] [[1],[0]]"#, r#"<U3 [2] ["xyz", "a"]"#),
        (r#"gather-nd ["2020-01-01"] [[0]] --dtype <M8[D]"#, r#"<M8[D] [1] ["2020-01-01"]"#),
        ("gather-nd [true,false] [[1]]", "bool [1] [false]"),
        ("gather-nd [[1,2],[3,4]] [[1]] --dtype complex64", "complex64 [1] [[3.0, 4.0]]"),
        ("gather-nd bf16.npy [[1],[0]]", "bfloat16 [2] [-3.0, 1.0]"),
    ];
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("cube.npy", tensor::<i32>(&[2, 3, 4], &[0; 24]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy());
    folder.put("i-0.npy", tensor::<i64>(&[], &[0]).npy());
    folder.put("i-huge.npy", npy("<u8", &[1, 1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("i-big.npy", npy(">u8", &[1, 1], &[0x80, 0, 0, 0, 0, 0, 0, 0]));
    folder.put("i-least.npy", npy("<i8", &[1, 1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("long.npy", tensor::<i64>(&[2, 1000, 1], &[0; 2000].map(|_: i64| 0)).npy());
    folder.put("last.npy", {
        let mut numbers = vec![1_i64; 3000];
        numbers[2999] = 2;
        tensor::<i64>(&[3000, 1], &numbers).npy_fortran()
    });
    let rows: [(&str, &[&str]); 37] = [
        ("gather-nd d.npy [[0],[2]]", &["INDICES", "2 at [1, 0]", "[-2, 1]", "axis 0", "[2, 3]"]),
        ("gather-nd d.npy [[0],[-3]]", &["INDICES", "-3 at [1, 0]", "[-2, 1]"]),
        ("gather-nd d.npy [[0,0],[1,3]]", &["INDICES", "3 at [1, 1]", "[-3, 2]", "axis 1"]),
        ("gather-nd d.npy [[0,-4]]", &["INDICES", "-4 at [0, 1]", "[-3, 2]"]),
        ("gather-nd d.npy [2]", &["INDICES", "2 at [0]", "[-2, 1]"]),
        ("gather-nd d.npy i-huge.npy", &["INDICES", "i-huge.npy", "9223372036854775808 at [0, 0]"]),
        ("gather-nd d.npy i-big.npy", &["INDICES", "i-big.npy", "9223372036854775808 at [0, 0]"]),
        ("gather-nd d.npy i-least.npy", &["INDICES", "i-least.npy", "-9223372036854775808 at [0, 0]"]),
        ("gather-nd d.npy last.npy", &["INDICES", "last.npy", "2 at [2999, 0]"]),
        ("gather-nd d.npy [[18446744073709551615]]", &["INDICES", "18446744073709551615 at [0, 0]"]),
        ("gather-nd d.npy [[18446744073709551616]]", &["INDICES", "18446744073709551616"]),
        ("gather-nd none.npy [[2]]", &["INDICES", "2 at [0, 0]"]),
        ("gather-nd none.npy [[0,0]]", &["INDICES", "0 at [0, 1]"]),
        ("gather-nd d.npy [[0],[3]] --batch-dims 1", &["INDICES", "3 at [1, 0]", "[-3, 2]", "axis 1"]),
        ("gather-nd d.npy [[-4],[0]] --batch-dims 1", &["INDICES", "-4 at [0, 0]", "axis 1"]),
        ("gather-nd d.npy 0", &["INDICES", "rank 0"]),
        ("gather-nd d.npy i-0.npy", &["INDICES", "i-0.npy", "rank 0"]),
        ("gather-nd zero.npy [[]]", &["DATA", "zero.npy", "rank 0"]),
        ("gather-nd 5 [[0]]", &["DATA", "rank 0"]),
        ("gather-nd d.npy [[0,0,0]]", &["INDICES", "tuples of 3", "at most 2", "[2, 3]"]),
        (
            "gather-nd d.npy [[0,0],[0,0]] --batch-dims 1",
            &["INDICES", "tuples of 2", "at most 1", "1 batch dims", "[2, 3]"],
        ),
        (r#"gather-nd d.npy [["0"]]"#, &["INDICES", "[0][0]"]),
        ("gather-nd d.npy [[0],[0,1]]", &["INDICES"]),
        ("gather-nd d.npy [[0]", &["INDICES", "JSON"]),
        ("gather-nd d.npy [[0]] --batch-dims -1", &["--batch-dims", "-1", "0 to 1"]),
        ("gather-nd d.npy [[0]] --batch-dims=-9223372036854775808", &["--batch-dims", "-9223372036854775808"]),
        ("gather-nd d.npy [[0]] --batch-dims 2", &["--batch-dims", "2", "0 to 1", "[2, 3]", "[1, 1]"]),
        ("gather-nd d.npy [0] --batch-dims 1", &["--batch-dims", "1", "0 to 0"]),
        ("gather-nd cube.npy long.npy --batch-dims 3", &["--batch-dims", "3", "0 to 2"]),
        ("gather-nd cube.npy long.npy --batch-dims 2", &["INDICES", "long.npy", "batch dims [2, 1000]", "[2, 3]"]),
        ("gather-nd d.npy [[0]] --batch-dims 1", &["INDICES", "batch dims [1], expected [2]", "[2, 3]"]),
        ("gather-nd d.npy [[0]] --batch-dims x", &["--batch-dims", "x"]),
        ("gather-nd d.npy [[0]] --batch-dims 9223372036854775808", &["--batch-dims", "9223372036854775808"]),
        ("gather-nd d.npy [[0]] --batch-dim 1", &["--batch-dim", "--batch-dims"]),
        ("gather-nd d.npy [[0]] [[1]]", &["[[1]]"]),
        ("gather-nd d.npy", &["INDICES"]),
        ("gather-nd d.npy [[0]] --opset 13", &["--opset"]),
    ];
    refusals(&folder, &rows);
}
