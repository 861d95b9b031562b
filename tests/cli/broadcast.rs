//! `tensorop broadcast`: ONNX Expand and OpenVINO Broadcast-1 and -3 from the command line.

use crate::common::{Example, Folder, examples, prints, refusals, tensor, words};

/// ONNX's own tests of Expand, and the examples of Broadcast-3 in its modes, with small dims.
#[test]
fn examples_of_onnx_and_openvino() {
    // the shape of the data, its dims at the axes of the output, the options and the shape of the output
    type Row<'a> = (&'a [usize], &'a [usize], &'a str, &'a [usize]);
    let rows: [Row; 8] = [
        // Expand: a shape of more axes, and one that has ones where the data has more
        (&[3, 1], &[1, 3, 1], "--shape 2,1,6", &[2, 3, 6]),
        (&[3, 1], &[3, 1], "--shape 3,4", &[3, 4]),
        // numpy
        (&[4, 1, 1], &[1, 4, 1, 1], "--shape 1,4,5,5", &[1, 4, 5, 5]),
        // bidirectional
        (&[4, 1, 1], &[1, 4, 1, 1], "--shape 1,1,5,5", &[1, 4, 5, 5]),
        (&[4, 1, 3], &[4, 1, 3], "--shape 3,1", &[4, 3, 3]),
        // explicit
        (&[4], &[1, 4, 1, 1], "--shape 1,4,5,5 --axes 1", &[1, 4, 5, 5]),
        (&[5, 4], &[1, 5, 4, 1], "--shape 2,5,4,3 --axes 1,2", &[2, 5, 4, 3]),
        (&[1, 4], &[1, 1, 4], "--shape 2,3,4 --axes 0,-1", &[2, 3, 4]),
    ];
    let example = |(shape, wide, options, dims): Row| {
        let items: Vec<f32> = (0..shape.iter().product::<usize>() as u8).map(f32::from).collect();
        let places = wide.iter().zip(dims).fold(vec![0], |places, (&dim, &len)| {
            places.iter().flat_map(|place| (0..len).map(move |at| place * dim + at % dim)).collect()
        });
        Example::of(
            "broadcast",
            tensor(shape, &items),
            options,
            tensor(dims, &places.iter().map(|&place| items[place]).collect::<Vec<_>>()),
        )
    };
    examples(rows.map(example).into());
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("row.npy", tensor::<i32>(&[3], &[1, 2, 3]).npy()).put("none.npy", tensor::<i32>(&[0, 1], &[]).npy());
    let two = "int32 [2, 3] [[1, 2, 3], [1, 2, 3]]";
    let rows = [
        ("broadcast row.npy --shape 2,3", two),
        ("broadcast row.npy --shape [2,3]", two),
        ("broadcast row.npy --shape 2,1", two),
        ("broadcast row.npy --shape 2,3 --axes 1", two),
        ("broadcast row.npy --shape 3,2 --axes 0", "int32 [3, 2] [[1, 1], [2, 2], [3, 3]]"),
        ("broadcast row.npy --shape 3", "int32 [3] [1, 2, 3]"),
        ("broadcast row.npy --shape 1", "int32 [3] [1, 2, 3]"),
        ("broadcast row.npy --shape=", "int32 [3] [1, 2, 3]"),
        ("broadcast row.npy --shape 1,1,1", "int32 [1, 1, 3] [[[1, 2, 3]]]"),
        ("broadcast [[1],[2]] --shape 2", "int64 [2, 2] [[1, 1], [2, 2]]"),
        // a dim of 0 comes of a dim of 1, or is one already
        ("broadcast row.npy --shape 0,3", "int32 [0, 3] []"),
        ("broadcast [[1],[2]] --shape 2,0", "int64 [2, 0] [[], []]"),
        ("broadcast none.npy --shape 2,1,2", "int32 [2, 0, 2] [[], []]"),
        ("broadcast 7 --shape 2,2", "int64 [2, 2] [[7, 7], [7, 7]]"),
        ("broadcast 7 --shape 2,2 --axes=", "int64 [2, 2] [[7, 7], [7, 7]]"),
        ("broadcast 7 --shape=", "int64 [] 7"),
        (r#"broadcast ["a"] --shape 2"#, r#"<U1 [2] ["a", "a"]"#),
        ("broadcast [1] --dtype int4 --shape 3", "int4 [3] [1, 1, 1]"),
        ("broadcast [1] --dtype bfloat16 --shape 2,1", "bfloat16 [2, 1] [[1.0], [1.0]]"),
    ];
    prints(&folder, &rows);
    // explicit axes are the rules of another operator
    let said = folder.run(words("broadcast row.npy --shape 3,2 --axes 0 --dry-run")).printed().expect("a report");
    assert!(said.starts_with("broadcast (OpenVINO Broadcast-3, explicit)\n"), "{said}");
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    folder.put("none.npy", tensor::<i32>(&[0], &[]).npy());
    let many = format!("broadcast 7 --shape {}", ["1"; 65].join(","));
    let rows: [(&str, &[&str]); 18] = [
        ("broadcast d.npy", &["required", "--shape"]),
        ("broadcast d.npy --shape 2", &["--shape: 2 for a dim of 3, expected 3 (data [2, 3])"]),
        ("broadcast d.npy --shape 4,3", &["--shape: 4 for a dim of 2, expected 2"]),
        ("broadcast d.npy --shape 0,3", &["--shape: 0 for a dim of 2, expected 2"]),
        ("broadcast none.npy --shape 3", &["--shape: 3 for a dim of 0, expected 0"]),
        ("broadcast d.npy --shape 2,-1", &["--shape: -1, expected 0 or more"]),
        ("broadcast d.npy --shape 2,3,4 --axes 0", &["--axes: 1 number, expected 2, one for each axis"]),
        ("broadcast d.npy --shape 3,2,4 --axes 1,0", &["--axes: [1, 0], expected ascending ones"]),
        ("broadcast d.npy --shape 2,3,4 --axes 0,0", &["--axes", "axis 0 is named twice"]),
        ("broadcast d.npy --shape 2,3 --axes 0,2", &["--axes", "axis 2 at position 1", "[-2, 1]"]),
        ("broadcast d.npy --shape 3 --axes 0,1", &["--axes", "axis 1 at position 1"]),
        // explicit: the shape is that of the output
        ("broadcast d.npy --shape 1,3 --axes 0,1", &["--shape: 1 for a dim of 2, expected 2"]),
        ("broadcast d.npy --shape 3,2,4 --axes 0,1", &["--shape: 3 for a dim of 2, expected 2"]),
        ("broadcast 7 --shape INT_MAX,2", &["output: more items than can be counted"]),
        ("broadcast 7 --shape 4611686018427387904", &["output: more bytes than can be counted", "int64"]),
        (&many, &["output: rank 65, expected at most 64"]),
        ("broadcast d.npy --shape 2,3 --axis 0", &["--axis"]),
        ("broadcast d.npy 2,3 --shape 2,3", &["2,3"]),
    ];
    refusals(&folder, &rows);
}
