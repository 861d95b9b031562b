//! `tensorop gather`: OpenVINO Gather-1, -7 and -8 and ONNX Gather 1, 11 and 13 from the command line.

use crate::common::{
    Example, Folder, Tensor, each, examples, header, npy, npy_with_header, npz, prints, refusals, tensor, to_fortran,
    words,
};

fn example<T: Copy>(
    name: &str,
    data: &Tensor<T>,
    indices: Tensor<i64>,
    options: &str,
    expected: Tensor<T>,
) -> Example<T> {
    Example {
        name: name.to_owned(),
        operator: "gather",
        data: data.clone(),
        indices: Some(indices),
        updates: None,
        options: options.to_owned(),
        expected,
    }
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
    for (name, descr, item) in [
        ("u1.npy", "|u1", &[1][..]),
        ("i1.npy", "|i1", &[0xff]),
        ("i2.npy", ">i2", &[0xff, 0xfe]),
        ("u2.npy", "<u2", &[1, 0]),
        ("i4.npy", "<i4", &[0xff; 4]),
        ("u4.npy", ">u4", &[0, 0, 0, 1]),
        ("i8.npy", ">i8", &[0xff; 8]),
        ("u8.npy", "<u8", &[1, 0, 0, 0, 0, 0, 0, 0]),
    ] {
        folder.put(name, npy(descr, &[1], item));
    }
    let (first, last) = (
        r#"{"dtype": "int32", "shape": [1, 3], "data": [[0, 1, 2]]}"#,
        r#"{"dtype": "int32", "shape": [1, 3], "data": [[3, 4, 5]]}"#,
    );
    let column = r#"{"dtype": "int32", "shape": [2], "data": [2, 5]}"#;
    let rows = [
        // the axis is the first one, unless another is given
        ("gather d.npy [1]", last),
        ("gather d.npy [-2]", first),
        ("gather d.npy [1,-3] --axis 1", r#"{"dtype": "int32", "shape": [2, 2], "data": [[1, 0], [4, 3]]}"#),
        ("gather d.npy [1,-3] --axis=-1", r#"{"dtype": "int32", "shape": [2, 2], "data": [[1, 0], [4, 3]]}"#),
        ("gather d.npy [[2]] --axis axis.json", r#"{"dtype": "int32", "shape": [2, 1, 1], "data": [[[2]], [[5]]]}"#),
        ("gather d.npy [[0],[1]]", r#"{"dtype": "int32", "shape": [2, 1, 3], "data": [[[0, 1, 2]], [[3, 4, 5]]]}"#),
        // an index of rank 0 drops the axis
        ("gather d.npy 1", r#"{"dtype": "int32", "shape": [3], "data": [3, 4, 5]}"#),
        ("gather d.npy -1 --axis 1", column),
        ("gather d.npy i-0.npy --axis [1]", column),
        ("gather [7,8] 1", r#"{"dtype": "int64", "shape": [], "data": 8}"#),
        ("gather [7,8] 1 --batch-dims 0", r#"{"dtype": "int64", "shape": [], "data": 8}"#),
        // any dtype of integers
        ("gather d.npy u1.npy", last),
        ("gather d.npy i1.npy", last),
        ("gather d.npy i2.npy", first),
        ("gather d.npy u2.npy", last),
        ("gather d.npy i4.npy", last),
        ("gather d.npy u4.npy", last),
        ("gather d.npy i8.npy", last),
        ("gather d.npy u8.npy", last),
        // batches, counted from either end
        ("gather d.npy [2,-1] --axis 1 --batch-dims 1", column),
        (
            "gather d.npy [[2],[-1]] --axis 1 --batch-dims -1",
            r#"{"dtype": "int32", "shape": [2, 1], "data": [[2], [5]]}"#,
        ),
        ("gather d.npy [2] --axis 1 --batch-dims -1", r#"{"dtype": "int32", "shape": [2, 1], "data": [[2], [5]]}"#),
        (
            "gather d.npy [[2,0],[1,1]] --axis 1 --batch-dims=+1",
            r#"{"dtype": "int32", "shape": [2, 2], "data": [[2, 0], [4, 4]]}"#,
        ),
        // zeros where an index names no place
        (
            "gather d.npy [1,2,-3] --out-of-range zero",
            r#"{"dtype": "int32", "shape": [3, 3], "data": [[3, 4, 5], [0, 0, 0], [0, 0, 0]]}"#,
        ),
        (
            "gather d.npy [3,2,-4] --axis 1 --out-of-range zero",
            r#"{"dtype": "int32", "shape": [2, 3], "data": [[0, 2, 0], [0, 5, 0]]}"#,
        ),
        (
            "gather d.npy i-huge.npy --out-of-range zero",
            r#"{"dtype": "int32", "shape": [2, 3], "data": [[0, 0, 0], [3, 4, 5]]}"#,
        ),
        (
            "gather first.npy [0,-1] --out-of-range zero",
            r#"{"dtype": "int32", "shape": [2, 3], "data": [[0, 0, 0], [0, 0, 0]]}"#,
        ),
        (r#"gather ["a","xyz"] [2,1] --out-of-range zero"#, r#"{"dtype": "<U3", "shape": [2], "data": ["", "xyz"]}"#),
        // no index, no place, no item
        ("gather d.npy []", r#"{"dtype": "int32", "shape": [0, 3], "data": []}"#),
        ("gather d.npy i-none.npy --axis 1", r#"{"dtype": "int32", "shape": [2, 2, 0], "data": [[[], []], [[], []]]}"#),
        ("gather d.npy i-none.npy --axis 1 --batch-dims 1", r#"{"dtype": "int32", "shape": [2, 0], "data": [[], []]}"#),
        ("gather none.npy [1,-2]", r#"{"dtype": "int32", "shape": [2, 0, 3], "data": [[], []]}"#),
        ("gather none.npy [2,0] --axis 2", r#"{"dtype": "int32", "shape": [2, 0, 2], "data": [[], []]}"#),
        ("gather first.npy []", r#"{"dtype": "int32", "shape": [0, 3], "data": []}"#),
        // plain JSON
        ("gather [1.5,2] [1]", r#"{"dtype": "float64", "shape": [1], "data": [2.0]}"#),
        ("gather [1,2] [1] --dtype float16", r#"{"dtype": "float16", "shape": [1], "data": [2.0]}"#),
        (r#"gather ["2020-01-01"] [0] --dtype <M8[D]"#, r#"{"dtype": "<M8[D]", "shape": [1], "data": ["2020-01-01"]}"#),
        ("gather [true,false] [1]", r#"{"dtype": "bool", "shape": [1], "data": [false]}"#),
        ("gather [[1,2],[3,4]] [1] --dtype complex64", r#"{"dtype": "complex64", "shape": [1], "data": [[3.0, 4.0]]}"#),
        ("gather bf16.npy [1,0]", r#"{"dtype": "bfloat16", "shape": [2], "data": [-3.0, 1.0]}"#),
    ];
    prints(&folder, &rows);
}

/// Every class of dtype in both orders of bytes and of storage: no bit changes, the output has DATA's dtype, and what names
/// no place is bytes of zero.
#[test]
fn every_dtype() {
    let classes = [
        ("'|b1'", 1),
        ("'|i1'", 1),
        ("'<u2'", 2),
        ("'>i2'", 2),
        ("'<f2'", 2),
        ("'<V2'", 2),
        ("'>i4'", 4),
        ("'<f4'", 4),
        ("'>u8'", 8),
        ("'<f8'", 8),
        ("'>c8'", 8),
        ("'<c16'", 16),
        ("'<f16'", 16),
        ("'|S3'", 3),
        ("'|S17'", 17),
        ("'<U2'", 8),
        ("'>U3'", 12),
        ("'<M8[ns]'", 8),
        ("'>m8[25s]'", 8),
        ("'|V3'", 3),
        ("'|V0'", 0),
        ("[('a', '<i4'), ('b', '|S2')]", 6),
        ("[('x', '>f8', (2,)), ('y', '|u1')]", 17),
    ];
    let folder = Folder::new();
    // which items in C order; none where an index names no place
    let some = |at: &[usize]| at.iter().copied().map(Some).collect();
    let zero = vec![Some(2), Some(3), None, None, Some(8), Some(9), None, None];
    type Row = (&'static str, [usize; 3], Vec<Option<usize>>);
    let rows: [Row; 4] = [
        ("[1,-2]", [2, 3, 2], some(&[6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5])),
        ("[2,0] --axis 1", [2, 2, 2], some(&[4, 5, 0, 1, 10, 11, 6, 7])),
        ("[[1],[-2]] --axis 2 --batch-dims 1", [2, 3, 1], some(&[1, 3, 5, 6, 8, 10])),
        ("[1,3] --axis 1 --out-of-range zero", [2, 2, 2], zero),
    ];
    each(
        classes.into_iter().flat_map(|class| [(class, false), (class, true)]),
        |((descr, _), fortran)| format!("{descr}, Fortran order {fortran}"),
        |((descr, size), fortran)| {
            let shape = [2, 3, 2];
            // a bool has no other bytes than 0 and 1
            let items: Vec<u8> = (0..12 * size).map(|i| if *size == 1 { i % 2 } else { i * 7 + 1 } as u8).collect();
            let stored = if *fortran { to_fortran(&items, &shape, *size) } else { items.clone() };
            let head = |fortran, shape: &[usize]| header("DESCR", fortran, shape).replace("'DESCR'", descr);
            folder.put("d.npy", npy_with_header(&head(*fortran, &shape), &stored));
            for (options, shape, picked) in &rows {
                let item = |at: &Option<usize>| at.map_or(vec![0; *size], |at| items[at * size..][..*size].to_vec());
                let wanted: Vec<u8> = picked.iter().flat_map(item).collect();
                // what another operator writes of the same items, whose header is byte for byte NumPy's
                folder.put("wanted.npy", npy_with_header(&head(false, shape), &wanted));
                let copy = folder.run(["slice", "wanted.npy", "--start=", "--stop=", "--to", "npy"]);
                if copy.status != Some(0) || !copy.stdout.ends_with(&wanted) {
                    return Err(format!("the copy: {copy:?}"));
                }
                for stdin in [None, Some(folder.get("d.npy"))] {
                    let data = if stdin.is_some() { "-" } else { "d.npy" };
                    let args = words(&format!("gather {data} {options}"));
                    folder.gives(&args, stdin.as_deref(), &copy.stdout).map_err(|e| format!("{args:?}: {e}"))?;
                }
            }
            Ok(())
        },
    );
}

/// Through pipes, from and into containers and into every format, at every window size and with several threads.
#[test]
fn pipes_and_formats() {
    let folder = Folder::new();
    let data = tensor::<f32>(&[2, 3], &[0., 1., 2., 3., 4., 5.]);
    let indices = tensor::<i64>(&[2, 2], &[2, 0, -1, 1]);
    let expected = tensor::<f32>(&[2, 2, 2], &[2., 0., 2., 1., 5., 3., 5., 4.]).npy();
    folder.put("d.npy", data.npy()).put("f.npy", data.npy_fortran()).put("i.npy", indices.npy());
    folder.put("i-f.npy", indices.npy_fortran());
    folder.put("w.npz", npz(&[("d", data.npy()), ("i", indices.npy())]));
    let rows = [
        ("gather d.npy i.npy --axis 1", None),
        ("gather f.npy i-f.npy --axis 1", None),
        ("gather w.npz:d w.npz:i --axis 1", None),
        ("gather - i.npy --axis 1", Some(data.npy())),
        ("gather - i-f.npy --axis 1", Some(data.npy_fortran())),
        ("gather - w.npz:i --axis 1 --dtype float32", Some(data.json().into_bytes())),
        ("gather d.npy - --axis 1", Some(indices.npy())),
        ("gather w.npz:d - --axis 1", Some(indices.json().into_bytes())),
    ];
    each(
        rows,
        |(args, stdin)| format!("`{args}`, {} bytes piped", stdin.as_ref().map_or(0, Vec::len)),
        |(args, stdin)| {
            folder.gives(&words(args), stdin.as_deref(), &expected)?;
            for format in ["npy", "npz", "safetensors", "pb", "json", "text"] {
                let args = words(&format!("{args} --to {format} -o -"));
                folder.always(&args, stdin.as_deref()).map_err(|e| format!("{format}: {e}"))?.printed()?;
            }
            Ok(())
        },
    );
    let run = |args: &str| folder.run(words(args)).printed().expect(args);
    run("gather d.npy i.npy --axis 1 -o o.npy");
    let verdict = run("diff o.npy o.npy -q");
    for name in ["o.npz", "o.safetensors", "o.pb", "o.json", "o.zarr"] {
        run(&format!("gather d.npy i.npy --axis 1 -o {name}"));
        assert_eq!(run(&format!("diff o.npy {name} -q")), verdict, "{name}");
    }
    // over its own input
    folder.put("over.npy", data.npy());
    run("gather over.npy i.npy --axis 1 -o over.npy");
    assert_eq!(folder.get("over.npy"), expected);
    #[cfg(unix)]
    {
        let run = folder.script("cat d.npy | $T gather - i.npy --axis 1 --to npy | $T gather - 0");
        assert_eq!(run.printed().as_deref(), Ok("[[2. 0.]\n [2. 1.]]\n"));
    }
}

#[test]
fn dry_runs() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    let run = folder.run(words("gather d.npy [[0,1],[2,0]] --axis 1 --batch-dims 1 -o out.npy --dry-run"));
    let expected = "\
gather (OpenVINO Gather-8, ONNX Gather-13)
  DATA d.npy: int32 [2, 3]
  INDICES [[0,1],[2,0]]: int64 [2, 2]
  axis 1, batch dims 1: 4 indices
  output out.npy: npy of int32 [2, 2], 16 bytes of data
";
    assert_eq!(run.printed().as_deref(), Ok(expected));
    assert_eq!(folder.content().len(), 1);
    // every check is made
    folder.refuses(words("gather d.npy [2] -o out.npy --dry-run"), &["INDICES", "2 at [0]"]).expect("a refusal");
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("none.npy", tensor::<i32>(&[0, 3], &[]).npy());
    folder.put("no-item.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("cube.npy", tensor::<i32>(&[2, 3, 4], &[0; 24]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy()).put("f.npy", tensor::<f32>(&[1], &[0.]).npy());
    folder.put("b.npy", npy("|b1", &[1], &[1]));
    folder.put("i-huge.npy", npy("<u8", &[1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("i-least.npy", npy(">i8", &[1], &[0x80, 0, 0, 0, 0, 0, 0, 0]));
    folder.put("last.npy", {
        let mut numbers = vec![1_i64; 3000];
        numbers[2999] = 2;
        tensor::<i64>(&[1500, 2], &numbers).npy_fortran()
    });
    folder.put("short.npy", &tensor::<i64>(&[2], &[0; 2]).npy()[..136]);
    let rows: [(&str, &[&str]); 38] = [
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
        ("gather d.npy f.npy", &["INDICES", "f.npy", "float32", "integers"]),
        ("gather d.npy b.npy", &["INDICES", "b.npy", "bool", "integers"]),
        ("gather d.npy [0.5]", &["INDICES", "0.5", "[0]"]),
        ("gather d.npy [[0],[0,1]]", &["INDICES"]),
        ("gather d.npy missing.npy", &["INDICES", "missing.npy", "(os error 2)"]),
        ("gather missing.npy [0]", &["DATA", "missing.npy", "(os error 2)"]),
        ("gather d.npy short.npy", &["INDICES", "short.npy", "8 bytes", "expected 16"]),
        ("gather - [0]", &["DATA", "standard input", "empty"]),
        ("gather d.npy [0] --batch-dims 1", &["--batch-dims", "1, expected 0 to 0 or -1 to -1", "axis 0"]),
        ("gather d.npy [0,0] --axis 1 --batch-dims 2", &["--batch-dims", "2, expected -1 to 1", "axis 1"]),
        ("gather d.npy [0,0] --axis 1 --batch-dims -2", &["--batch-dims", "-2, expected -1 to 1", "[2]"]),
        ("gather d.npy 0 --batch-dims -1", &["--batch-dims", "-1, expected 0 (", "indices []"]),
        ("gather d.npy [0] --batch-dims=-9223372036854775808", &["--batch-dims", "-9223372036854775808"]),
        ("gather d.npy [0] --batch-dims 9223372036854775808", &["--batch-dims", "9223372036854775808"]),
        ("gather cube.npy [[0],[0],[0]] --axis 2 --batch-dims 1", &["INDICES", "batch dims [3], expected [2]"]),
        ("gather d.npy [0] --out-of-range zeros", &["--out-of-range", "error, zero"]),
        ("gather d.npy [0] [1]", &["[1]"]),
        ("gather d.npy [0] --in-place", &["--in-place"]),
        ("gather d.npy", &["INDICES"]),
    ];
    refusals(&folder, &rows);
    // what a format cannot hold is said before anything is written
    folder.put("v.npy", npy("|V3", &[1], b"abc")).put("out.json", b"before");
    folder.refuses(words("gather v.npy [0] -o out.json"), &["V3"]).expect("a refusal");
}
