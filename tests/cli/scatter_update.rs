//! `tensorop scatter-update`: OpenVINO ScatterUpdate-3 from the command line.

use crate::common::{Example, Folder, examples, indices, npy, offset, prints, refusals, tensor};

/// Both examples of the document. The first, 1.5 GB of updates, is scaled down; there too indices repeat.
#[test]
fn examples_of_the_specification() {
    let (shape, index_shape, updates_shape) = ([4, 16, 2, 3], [5, 7], [4, 5, 7, 2, 3]);
    let count = |shape: &[usize], from: f32| {
        let items: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| from + i as f32).collect();
        tensor(shape, &items)
    };
    let (data, updates) = (count(&shape, 0.), count(&updates_shape, 10_000.));
    let numbers: Vec<i64> = (0..35).map(|i| (i * 11 + i / 5) % 16).collect();
    let mut expected = data.clone();
    for at in indices(&updates_shape) {
        let place = usize::try_from(numbers[at[1] * 7 + at[2]]).expect("an index");
        expected.items[offset(&[at[0], place, at[3], at[4]], &shape)] = updates.items[offset(&at, &updates_shape)];
    }
    let second = tensor(&[3, 5], &[-1., 1., -1., 3., 4., -1., 6., -1., 8., 9., -1., 11., 1., 13., 14.]);
    let second_expected = tensor(&[3, 5], &[1., 1., 1., 3., 4., 1., 6., 1., 8., 9., 1., 11., 2., 13., 14.]);
    let example = |name: &str, axis: &str| Example {
        name: name.to_owned(),
        indices: Some(tensor(&[2], &[0_i64, 2])),
        updates: Some(tensor(&[3, 2], &[1., 1., 1., 1., 1., 2.])),
        ..Example::of("scatter-update", second.clone(), format!("--axis {axis}"), second_expected.clone())
    };
    examples(vec![
        Example {
            indices: Some(tensor(&index_shape, &numbers)),
            updates: Some(updates),
            ..Example::of("scatter-update", data, "--axis 1", expected)
        },
        example("2", "1"),
        example("2 with a negative axis", "-1"),
        example("2 with a list of one axis", "[1]"),
    ]);
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[3, 0], &[]).npy());
    folder.put("axis0.npy", tensor::<i64>(&[], &[1]).npy()).put("axis1.npy", tensor::<u8>(&[1], &[1]).npy());
    folder.put("axis-0.json", "1");
    folder.put("i-none.npy", tensor::<i64>(&[0], &[]).npy()).put("i-0.npy", tensor::<i64>(&[], &[1]).npy());
    let unchanged = "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]";
    let second = "int32 [2, 3] [[0, 1, 2], [7, 8, 9]]";
    let column = "int32 [2, 3] [[0, 7, 2], [3, 8, 5]]";
    let rows = [
        ("scatter-update d.npy [1] [[7,8,9]] --axis 0", second),
        ("scatter-update d.npy [1] [[7,8,9]] --axis -2", second),
        ("scatter-update d.npy [1.0] [[7,8,9]] --axis 0", second),
        ("scatter-update d.npy [1e0] [[7,8,9]] --axis 0", second),
        // rank 0: the axis is absent from updates
        ("scatter-update d.npy 1 [7,8,9] --axis 0", second),
        ("scatter-update d.npy i-0.npy [7,8,9] --axis 0", second),
        ("scatter-update d.npy 1 [7,8] --axis 1", column),
        ("scatter-update d.npy [1] [[7],[8]] --axis 1", column),
        ("scatter-update d.npy [1] [[7],[8]] --axis axis0.npy", column),
        ("scatter-update d.npy [1] [[7],[8]] --axis axis1.npy", column),
        ("scatter-update d.npy [1] [[7],[8]] --axis axis-0.json", column),
        ("scatter-update d.npy [[[1]]] [[[[7]]],[[[8]]]] --axis 1", column),
        // the last in row-major order wins
        (
            "scatter-update d.npy [[1,0],[1,1]] [[[1,1,1],[2,2,2]],[[3,3,3],[7,8,9]]] --axis 0",
            "int32 [2, 3] [[2, 2, 2], [7, 8, 9]]",
        ),
        ("scatter-update d.npy [1,1,1] [[5,6,7],[6,7,8]] --axis 1", column),
        ("scatter-update d.npy [1,1] [[5,7],[6,8]] --axis 1 --on-duplicate last", column),
        (
            "scatter-update d.npy [0,1] [[5,6,7],[7,8,9]] --axis 0 --on-duplicate error",
            "int32 [2, 3] [[5, 6, 7], [7, 8, 9]]",
        ),
        // nothing
        ("scatter-update d.npy [] --fill 7 --axis 0", unchanged),
        ("scatter-update d.npy [[],[]] --fill 7 --axis 1", unchanged),
        ("scatter-update d.npy i-none.npy [[],[]] --axis 1", unchanged),
        ("scatter-update none.npy [2,2] --fill 7 --axis 0", "int32 [3, 0] [[], [], []]"),
        ("scatter-update none.npy [] --fill 7 --axis 1", "int32 [3, 0] [[], [], []]"),
        ("scatter-update d.npy 0 --fill 7 --axis 1", "int32 [2, 3] [[7, 1, 2], [7, 4, 5]]"),
        ("scatter-update [1,2,3] [0] [0.5] --axis 0", "float64 [3] [0.5, 2.0, 3.0]"),
    ];
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy()).put("f.npy", tensor::<f32>(&[1, 3], &[0.; 3]).npy());
    folder.put("i-huge.npy", npy("<u8", &[2], &[[0; 8], [255; 8]].concat()));
    folder.put("i-2.npy", tensor::<i64>(&[2, 2], &[0, 1, 1, 2]).npy_fortran());
    folder.put("two.npy", tensor::<i64>(&[2], &[0, 1]).npy());
    folder.put("axis2.npy", tensor::<i64>(&[1, 1], &[0]).npy());
    let rows: [(&str, &[&str]); 28] = [
        ("scatter-update d.npy [0,-1] --fill 1 --axis 0", &["INDICES", "-1 at [1]", "[0, 1]", "write 1 for"]),
        ("scatter-update d.npy [0,2] --fill 1 --axis 0", &["INDICES", "2", "[1]", "[0, 1]"]),
        ("scatter-update d.npy [[0,1],[1,3]] --fill 1 --axis 1", &["INDICES", "3", "[1, 1]", "[0, 2]"]),
        ("scatter-update d.npy i-2.npy --fill 1 --axis 0", &["INDICES", "i-2.npy", "2", "[1, 1]"]),
        ("scatter-update d.npy 2 --fill 1 --axis 0", &["INDICES", "2", "[0, 1]"]),
        ("scatter-update d.npy i-huge.npy --fill 1 --axis 0", &["INDICES", "18446744073709551615", "[1]"]),
        // out of range although its block is empty
        ("scatter-update none.npy [2] --fill 1 --axis 0", &["INDICES", "2", "[0]"]),
        ("scatter-update none.npy [0] --fill 1 --axis 1", &["INDICES", "0", "[0]"]),
        ("scatter-update d.npy [true] --fill 1 --axis 0", &["INDICES", "true", "[0]"]),
        ("scatter-update d.npy [\"0\"] --fill 1 --axis 0", &["INDICES", "\"0\"", "[0]"]),
        ("scatter-update d.npy [[0],0] --fill 1 --axis 0", &["INDICES", "[1]"]),
        ("scatter-update d.npy [0] [1,2,3] --axis 0", &["UPDATES", "shape [3], expected [1, 3]"]),
        ("scatter-update d.npy [0] [[1]] --axis 0", &["UPDATES", "shape [1, 1], expected [1, 3]"]),
        ("scatter-update d.npy 0 [[1,2,3]] --axis 0", &["UPDATES", "shape [1, 3], expected [3]"]),
        ("scatter-update d.npy [0] 1 --axis 0", &["UPDATES", "shape [], expected [1, 3]"]),
        ("scatter-update d.npy [0] [[1,2,3]] --axis 1", &["UPDATES", "shape [1, 3], expected [2, 1]"]),
        ("scatter-update d.npy [0] f.npy --axis 0", &["UPDATES", "f.npy", "float32", "int32"]),
        ("scatter-update d.npy [0] [[1,2,3]] --axis 2", &["--axis", "2", "[-2, 1]"]),
        ("scatter-update d.npy [0] [[1,2,3]] --axis -3", &["--axis", "-3", "[-2, 1]"]),
        ("scatter-update d.npy [0] [[1,2,3]] --axis 0,1", &["--axis", "2 integers", "one"]),
        (
            "scatter-update d.npy [0] [[1,2,3]] --axis axis2.npy",
            &["--axis axis2.npy: shape [1, 1], expected one integer"],
        ),
        ("scatter-update d.npy [0] [[1,2,3]] --axis two.npy", &["--axis", "2", "one"]),
        ("scatter-update d.npy [0] [[1,2,3]] --axis=", &["--axis", "0", "one"]),
        ("scatter-update d.npy [0] [[1,2,3]] --axis one", &["--axis", "one"]),
        ("scatter-update d.npy [0] [[1,2,3]]", &["--axis"]),
        ("scatter-update zero.npy [0] [1] --axis 0", &["DATA", "zero.npy", "rank 0"]),
        ("scatter-update d.npy [1,0,1,0] --fill 1 --axis 0 --on-duplicate error", &["INDICES", "[2]", "[0]"]),
        ("scatter-update d.npy [[0,1],[2,1]] --fill 1 --axis 1 --on-duplicate error", &["INDICES", "[1, 1]", "[0, 1]"]),
    ];
    refusals(&folder, &rows);
}
