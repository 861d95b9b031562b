//! `tensorop scatter-nd`: ONNX ScatterND 11, 13, 16 and 18, and `sub` of OpenVINO's ScatterNDUpdate-15, from the command line.

use crate::common::{Example, Folder, Tensor, each, examples, npy, prints, refusals, tensor, words};

const BLOCKS: [f32; 64] = [
    1., 2., 3., 4., 5., 6., 7., 8., 8., 7., 6., 5., 4., 3., 2., 1., //
    1., 2., 3., 4., 5., 6., 7., 8., 8., 7., 6., 5., 4., 3., 2., 1., //
    8., 7., 6., 5., 4., 3., 2., 1., 1., 2., 3., 4., 5., 6., 7., 8., //
    8., 7., 6., 5., 4., 3., 2., 1., 1., 2., 3., 4., 5., 6., 7., 8.,
];

/// Both examples of the document, at each of its versions, and the second with each reduction.
#[test]
fn examples_of_the_specification() {
    let example = |name: String,
                   data: &Tensor<f32>,
                   indices: &[i64],
                   updates: &Tensor<f32>,
                   options: String,
                   expected: &[f32]| {
        Example {
            name,
            indices: Some(tensor(&[indices.len(), 1], indices)),
            updates: Some(updates.clone()),
            ..Example::of("scatter-nd", data.clone(), options, tensor(&data.shape, expected))
        }
    };
    let line = tensor(&[8], &[1., 2., 3., 4., 5., 6., 7., 8.]);
    let four = tensor(&[4], &[9., 10., 11., 12.]);
    let blocks = tensor(&[4, 4, 4], &BLOCKS);
    let rows = |from: [f32; 4]| from.map(|item| [item; 4]).concat();
    let two = [rows([5., 6., 7., 8.]), rows([1., 2., 3., 4.])];
    let updates = tensor(&[2, 4, 4], &two.concat());
    let patched = |combine: fn(f32, f32) -> f32| {
        let mut items = BLOCKS;
        for (block, update) in [(0, &two[0]), (2, &two[1])] {
            items[block * 16..][..16].iter_mut().zip(update).for_each(|(old, &new)| *old = combine(*old, new));
        }
        items
    };
    let mut all = Vec::new();
    for opset in [11, 13, 16, 18, 25] {
        let first = [1., 11., 3., 10., 9., 6., 7., 12.];
        let options = format!("--opset {opset}");
        all.push(example(format!("1 at {opset}"), &line, &[4, 3, 1, 7], &four, options.clone(), &first));
        all.push(example(format!("2 at {opset}"), &blocks, &[0, 2], &updates, options, &patched(|_, new| new)));
    }
    type Combine = fn(f32, f32) -> f32;
    let reductions: [(&str, Combine); 6] = [
        ("none", |_, b| b),
        ("add", |a, b| a + b),
        ("sub", |a, b| a - b),
        ("mul", |a, b| a * b),
        ("max", f32::max),
        ("min", f32::min),
    ];
    for (name, combine) in reductions {
        let options = format!("--reduction {name}");
        all.push(example(format!("2 with {name}"), &blocks, &[-4, -2], &updates, options, &patched(combine)));
    }
    examples(all);
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0, 3], &[]).npy());
    folder.put("k0.npy", tensor::<i64>(&[2, 0], &[]).npy()).put("k0-none.npy", tensor::<i64>(&[0, 0], &[]).npy());
    folder
        .put("no-tuples.npy", tensor::<i64>(&[0, 2], &[]).npy())
        .put("tuple.npy", tensor::<i64>(&[2], &[1, -1]).npy());
    folder.put("b.npy", npy("|b1", &[4], &[0, 0, 1, 1]));
    let unchanged = "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]";
    let rows = [
        ("scatter-nd d.npy [[1,-1],[0,0]] [8,9]", "int32 [2, 3] [[9, 1, 2], [3, 4, 8]]"),
        ("scatter-nd d.npy [1,-1] 8", "int32 [2, 3] [[0, 1, 2], [3, 4, 8]]"),
        ("scatter-nd d.npy tuple.npy 8", "int32 [2, 3] [[0, 1, 2], [3, 4, 8]]"),
        ("scatter-nd d.npy [-2] [7,8,9]", "int32 [2, 3] [[7, 8, 9], [3, 4, 5]]"),
        ("scatter-nd d.npy [[[0],[1]],[[1],[0]]] --fill 7", "int32 [2, 3] [[7, 7, 7], [7, 7, 7]]"),
        // k = 0: each tuple names the whole
        ("scatter-nd d.npy [] [[9,8,7],[6,5,4]]", "int32 [2, 3] [[9, 8, 7], [6, 5, 4]]"),
        ("scatter-nd d.npy k0.npy [[[9,8,7],[6,5,4]],[[1,1,1],[2,2,2]]]", "int32 [2, 3] [[1, 1, 1], [2, 2, 2]]"),
        (
            "scatter-nd d.npy k0.npy [[[1,1,1],[1,1,1]],[[1,1,1],[2,2,2]]] --reduction add",
            "int32 [2, 3] [[2, 3, 4], [6, 7, 8]]",
        ),
        ("scatter-nd d.npy k0.npy --fill 2 --reduction mul", "int32 [2, 3] [[0, 4, 8], [12, 16, 20]]"),
        ("scatter-nd d.npy k0-none.npy --fill 2 --reduction mul", unchanged),
        ("scatter-nd d.npy no-tuples.npy --fill 2", unchanged),
        ("scatter-nd d.npy no-tuples.npy [] --reduction max", unchanged),
        ("scatter-nd none.npy [[1]] --fill 2", "int32 [2, 0, 3] [[], []]"),
        ("scatter-nd none.npy no-tuples.npy --fill 2", "int32 [2, 0, 3] [[], []]"),
        // the last wins, or in order
        ("scatter-nd d.npy [[0],[1],[0]] [[1,1,1],[2,2,2],[3,3,3]]", "int32 [2, 3] [[3, 3, 3], [2, 2, 2]]"),
        ("scatter-nd d.npy [[0],[-2]] [[1,1,1],[3,3,3]] --on-duplicate last", "int32 [2, 3] [[3, 3, 3], [3, 4, 5]]"),
        ("scatter-nd d.npy [[0],[1]] [[1,1,1],[3,3,3]] --on-duplicate error", "int32 [2, 3] [[1, 1, 1], [3, 3, 3]]"),
        ("scatter-nd d.npy [[0,1],[0,1],[0,1]] [10,20,30] --reduction add", "int32 [2, 3] [[0, 61, 2], [3, 4, 5]]"),
        // integers wrap
        ("scatter-nd [200,100] [[0],[1],[1]] [100,2,2] --reduction add --dtype uint8", "uint8 [2] [44, 104]"),
        ("scatter-nd [-128,100] [[0],[1]] [-1,2] --reduction add --dtype int8", "int8 [2] [127, 102]"),
        ("scatter-nd [-128,100] [[0],[1]] [-1,3] --reduction mul --dtype int8", "int8 [2] [-128, 44]"),
        ("scatter-nd [9223372036854775807] [[0]] [2] --reduction mul", "int64 [1] [-2]"),
        (
            "scatter-nd [18446744073709551615,5] [[0],[1]] [6,18446744073709551615] --reduction max",
            "uint64 [2] [18446744073709551615, 18446744073709551615]",
        ),
        ("scatter-nd [-5,5] [[0],[1]] [4,-4] --reduction min", "int64 [2] [-5, -4]"),
        // in order, one rounding a step: the sum of the updates would have moved it
        ("scatter-nd [16777216] [[0],[0]] [-1,-1] --reduction sub --dtype float32", "float32 [1] [16777216.0]"),
        ("scatter-nd [2048] [[0],[0],[0]] [-1,-1,-1] --reduction sub --dtype float16", "float16 [1] [2048.0]"),
        ("scatter-nd [5,0] [[0],[1],[0]] [200,1,56] --reduction sub --dtype uint8", "uint8 [2] [5, 255]"),
        ("scatter-nd [-9223372036854775808] [[0]] [1] --reduction sub", "int64 [1] [9223372036854775807]"),
        (
            "scatter-nd [[1,2]] [[0],[0]] [[3,4],[0,1]] --reduction sub --dtype complex64",
            "complex64 [1] [[-2.0, -3.0]]",
        ),
        ("scatter-nd d.npy [[1]] --fill 2 --reduction sub", "int32 [2, 3] [[0, 1, 2], [1, 2, 3]]"),
        // bool: add and max are or, mul and min are and, sub is exclusive or
        (
            "scatter-nd b.npy [[0],[1],[2],[3]] [false,true,false,true] --reduction sub",
            "bool [4] [false, true, true, false]",
        ),
        (
            "scatter-nd b.npy [[0],[1],[2],[3]] [false,true,false,true] --reduction add",
            "bool [4] [false, true, true, true]",
        ),
        (
            "scatter-nd b.npy [[0],[1],[2],[3]] [false,true,false,true] --reduction max",
            "bool [4] [false, true, true, true]",
        ),
        (
            "scatter-nd b.npy [[0],[1],[2],[3]] [false,true,false,true] --reduction mul",
            "bool [4] [false, false, false, true]",
        ),
        (
            "scatter-nd b.npy [[0],[1],[2],[3]] [false,true,false,true] --reduction min",
            "bool [4] [false, false, false, true]",
        ),
        // floats: NaN on either side; of equals the old one
        (r#"scatter-nd [1.0,"NaN"] [[0],[1]] ["NaN",1] --reduction max"#, r#"float64 [2] ["NaN", "NaN"]"#),
        (r#"scatter-nd [1.0,"NaN"] [[0],[1]] ["NaN",1] --reduction min"#, r#"float64 [2] ["NaN", "NaN"]"#),
        ("scatter-nd [0.0,-0.0] [[0],[1]] [-0.0,0.0] --reduction max", "float64 [2] [0.0, -0.0]"),
        ("scatter-nd [0.0,-0.0] [[0],[1]] [-0.0,0.0] --reduction min", "float64 [2] [0.0, -0.0]"),
        (
            r#"scatter-nd [1.0,2.0] [[0],[1]] ["Infinity","-Infinity"] --reduction add"#,
            r#"float64 [2] ["Infinity", "-Infinity"]"#,
        ),
        // one rounding a step, in the item's own dtype: 2048 + 1 is a tie in float16, 256 + 1 in bfloat16
        ("scatter-nd [2048] [[0],[0],[0]] [1,1,1] --reduction add --dtype float16", "float16 [1] [2048.0]"),
        ("scatter-nd [256] [[0],[0],[0]] [1,1,3] --reduction add --dtype bfloat16", "bfloat16 [1] [260.0]"),
        ("scatter-nd [16777216] [[0],[0]] [1,1] --reduction add --dtype float32", "float32 [1] [16777216.0]"),
        ("scatter-nd [65504] [[0]] [16] --reduction add --dtype float16", r#"float16 [1] ["Infinity"]"#),
        ("scatter-nd [65504] [[0]] [15.99] --reduction add --dtype float16", "float16 [1] [65504.0]"),
        (
            "scatter-nd [[1,2]] [[0],[0]] [[3,4],[0,1]] --reduction mul --dtype complex64",
            "complex64 [1] [[-10.0, -5.0]]",
        ),
        (
            "scatter-nd [[1,2]] [[0],[0]] [[3,4],[0,1]] --reduction add --dtype complex128",
            "complex128 [1] [[4.0, 7.0]]",
        ),
        (r#"scatter-nd ["a","b"] [[1]] ["xyz"]"#, r#"<U3 [2] ["a", "xyz"]"#),
        (r#"scatter-nd ["2020-01-01"] [[0]] ["1999-12-31"] --dtype <M8[D]"#, r#"<M8[D] [1] ["1999-12-31"]"#),
        ("scatter-nd [5,6] [[0]] --fill 7 --reduction none --opset 11", "int64 [2] [7, 6]"),
    ];
    prints(&folder, &rows);
}

/// Which opset allows what. bfloat16 came with 13, reductions with 16 and 18; what no version lists moves at each.
#[test]
fn opsets() {
    let folder = Folder::new();
    folder.put("v.npy", npy("|V1", &[2], b"ab")).put("v1.npy", npy("|V1", &[1], b"c"));
    let rows = [
        ("", "11 12 13 15 16 17 18 19 1000"),
        ("--reduction none", "11 12 13 15 16 17 18 19 1000"),
        ("--reduction add", "16 17 18 19 1000"),
        ("--reduction mul", "16 17 18 19 1000"),
        ("--reduction max", "18 19 1000"),
        ("--reduction min", "18 19 1000"),
        ("--dtype bfloat16", "13 15 16 17 18 19 1000"),
        ("--dtype timedelta64[s]", "11 12 13 15 16 17 18 19 1000"),
        ("--dtype float8_e4m3fn", "11 12 13 15 16 17 18 19 1000"),
        ("--dtype bfloat16 --reduction add", "16 17 18 19 1000"),
    ];
    each(
        rows,
        |(options, _)| (*options).to_owned(),
        |(options, allowed)| {
            for opset in "0 1 10 11 12 13 15 16 17 18 19 1000".split(' ') {
                let operands = if options.contains("float8") { "v.npy [[0]] v1.npy" } else { "[5,6] [[0]] [7]" };
                let args = format!("scatter-nd {operands} --opset {opset} {options} -o -");
                let args = args + if options.contains("float8") { " --to npy" } else { " --to json" };
                if allowed.split(' ').any(|a| a == opset) {
                    folder.run(words(&args)).printed().map_err(|e| format!("opset {opset}: {e}"))?;
                } else {
                    folder.refuses(words(&args), &["opset"]).map_err(|e| format!("opset {opset}: {e}"))?;
                }
            }
            Ok(())
        },
    );
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy()).put("f.npy", tensor::<f32>(&[1, 3], &[0.; 3]).npy());
    folder.put("i-0.npy", tensor::<i64>(&[], &[0]).npy());
    folder.put("i-huge.npy", npy("<u8", &[1, 1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("k0.npy", tensor::<i64>(&[2, 0], &[]).npy());
    folder
        .put("s.npy", npy("|S1", &[1], b"x"))
        .put("v.npy", npy("|V1", &[1], b"x"))
        .put("c.npy", npy("<c8", &[1], &[0; 8]));
    folder.put("m.npy", npy("<M8[s]", &[1], &[0; 8])).put("t.npy", npy("<m8[s]", &[1], &[0; 8]));
    let rows: [(&str, &[&str]); 49] = [
        ("scatter-nd d.npy [[0],[2]] --fill 1", &["INDICES", "2", "[1, 0]", "[-2, 1]", "axis 0", "[2, 3]"]),
        ("scatter-nd d.npy [[0],[-3]] --fill 1", &["INDICES", "-3", "[1, 0]", "[-2, 1]"]),
        ("scatter-nd d.npy [[0,0],[1,3]] --fill 1", &["INDICES", "3", "[1, 1]", "[-3, 2]", "axis 1"]),
        ("scatter-nd d.npy [[0,-4]] --fill 1", &["INDICES", "-4", "[0, 1]", "[-3, 2]"]),
        ("scatter-nd d.npy i-huge.npy --fill 1", &["INDICES", "9223372036854775808", "[0, 0]"]),
        ("scatter-nd none.npy [[2]] --fill 1", &["INDICES", "2", "[0, 0]"]),
        ("scatter-nd none.npy [[0,0]] --fill 1", &["INDICES", "0", "[0, 1]"]),
        ("scatter-nd d.npy [[2]] --fill 1 --reduction add", &["INDICES", "2", "[0, 0]"]),
        ("scatter-nd d.npy 0 --fill 1", &["INDICES", "rank 0"]),
        ("scatter-nd d.npy i-0.npy --fill 1", &["INDICES", "i-0.npy", "rank 0"]),
        ("scatter-nd zero.npy [[]] --fill 1", &["DATA", "zero.npy", "rank 0"]),
        ("scatter-nd d.npy [[0,0,0]] --fill 1", &["INDICES", "3", "2"]),
        ("scatter-nd d.npy [[0]] [[1,2]]", &["UPDATES", "shape [1, 2], expected [1, 3]", "[2, 3]", "[1, 1]"]),
        ("scatter-nd d.npy [[0]] [1,2,3]", &["UPDATES", "shape [3], expected [1, 3]"]),
        ("scatter-nd d.npy [[0]] 1", &["UPDATES", "shape [], expected [1, 3]"]),
        ("scatter-nd d.npy [0] [[1,2,3]]", &["UPDATES", "shape [1, 3], expected [3]"]),
        ("scatter-nd d.npy k0.npy [[1,2,3],[1,2,3]]", &["UPDATES", "shape [2, 3], expected [2, 2, 3]"]),
        ("scatter-nd d.npy [[0]] f.npy", &["UPDATES", "f.npy", "float32", "int32"]),
        ("scatter-nd d.npy [[0]] f.npy --reduction add", &["UPDATES", "f.npy", "float32", "int32"]),
        ("scatter-nd d.npy [[0]] --fill 1 --reduction avg", &["--reduction", "avg", "none, add, sub, mul, max, min"]),
        ("scatter-nd d.npy [[0]] --fill 1 --reduction ADD", &["--reduction", "ADD"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset 10", &["--opset", "10", "11"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset 0", &["--opset", "0", "11"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset -1", &["--opset", "-1"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset x", &["--opset", "x"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset 11 --reduction add", &["--reduction", "add", "16", "11"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset 15 --reduction mul", &["--reduction", "mul", "16", "15"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset 17 --reduction max", &["--reduction", "max", "18", "17"]),
        ("scatter-nd d.npy [[0]] --fill 1 --opset 13 --reduction min", &["--reduction", "min", "18", "13"]),
        (
            "scatter-nd d.npy [[0]] --fill 1 --opset 18 --reduction sub",
            &["--opset", "--reduction sub", "ScatterNDUpdate-15"],
        ),
        (
            "scatter-nd d.npy [[0]] --fill 1 --reduction sub --opset 11",
            &["--opset", "--reduction sub", "ScatterNDUpdate-15"],
        ),
        ("scatter-nd s.npy [[0]] s.npy --reduction sub", &["--reduction", "sub", "S1"]),
        ("scatter-nd t.npy [[0]] t.npy --reduction sub", &["--reduction", "sub", "m8[s]"]),
        ("scatter-nd d.npy [[2]] --fill 1 --reduction sub", &["INDICES", "2", "[0, 0]"]),
        ("scatter-nd d.npy [[0]] --fill 1 --on-duplicate last --reduction sub", &["--on-duplicate", "--reduction sub"]),
        ("scatter-nd [1] [[0]] [1] --dtype bfloat16 --opset 12", &["bfloat16", "13", "12"]),
        ("scatter-nd s.npy [[0]] s.npy --reduction add", &["--reduction", "add", "S1"]),
        ("scatter-nd v.npy [[0]] v.npy --reduction max", &["--reduction", "max", "V1"]),
        ("scatter-nd [\"a\"] [[0]] [\"b\"] --reduction mul", &["--reduction", "mul", "U1"]),
        ("scatter-nd m.npy [[0]] m.npy --reduction min", &["--reduction", "min", "M8[s]"]),
        ("scatter-nd t.npy [[0]] t.npy --reduction add", &["--reduction", "add", "m8[s]"]),
        ("scatter-nd c.npy [[0]] c.npy --reduction max", &["--reduction", "max", "complex64"]),
        ("scatter-nd c.npy [[0]] c.npy --reduction min", &["--reduction", "min", "complex64"]),
        ("scatter-nd d.npy [[0],[1],[0]] --fill 1 --on-duplicate error", &["INDICES", "[2]", "[0]"]),
        ("scatter-nd d.npy [[0],[-2]] --fill 1 --on-duplicate error", &["INDICES", "[1]", "[0]"]),
        ("scatter-nd d.npy [[1],[0],[0],[1]] --fill 1 --on-duplicate error", &["INDICES", "[2]", "[1]"]),
        ("scatter-nd d.npy k0.npy --fill 1 --on-duplicate error", &["INDICES", "[1]", "[0]"]),
        (
            "scatter-nd d.npy [[0]] --fill 1 --on-duplicate last --reduction add",
            &["--on-duplicate", "--reduction", "add"],
        ),
        ("scatter-nd d.npy [[0]] --fill 1 --on-duplicate first", &["--on-duplicate", "first"]),
    ];
    refusals(&folder, &rows);
}
