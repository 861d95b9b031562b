//! `tensorop tile`: ONNX Tile and OpenVINO Tile-1 from the command line.

use crate::common::{Example, Folder, examples, npy, prints, refusals, tensor};

/// The examples of Tile-1, which are shapes only, with small dims; and the precomputed test of ONNX Tile.
#[test]
fn examples_of_onnx_and_openvino() {
    let rows: [(&[usize], &[usize], &[usize]); 4] = [
        (&[2, 3, 4], &[1, 2, 3], &[2, 6, 12]),
        // ones are put in front of the shorter of both
        (&[3, 4], &[2, 2, 3], &[2, 6, 12]),
        (&[2, 3, 4], &[2, 3], &[2, 6, 12]),
        (&[2, 2], &[2, 2], &[4, 4]),
    ];
    let example = |(shape, repeats, dims): (&[usize], &[usize], &[usize])| {
        let wide = [&vec![1; dims.len() - shape.len()], shape].concat();
        let items: Vec<f32> = (0..shape.iter().product::<usize>() as u8).map(f32::from).collect();
        let places = wide.iter().zip(dims).fold(vec![0], |places, (&dim, &len)| {
            places.iter().flat_map(|place| (0..len).map(move |at| place * dim + at % dim)).collect()
        });
        Example::of(
            "tile",
            tensor(shape, &items),
            format!("--repeats {repeats:?}").replace(", ", ","),
            tensor(dims, &places.iter().map(|&place| items[place]).collect::<Vec<_>>()),
        )
    };
    examples(rows.map(example).into());
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 2], &[1, 2, 3, 4]).npy()).put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("bf16.npy", npy("<V2", &[1], &[0x80, 0x3f]));
    let wide = "int32 [2, 4] [[1, 2, 1, 2], [3, 4, 3, 4]]";
    let rows = [
        ("tile d.npy --repeats 1,2", wide),
        ("tile d.npy --repeats 2", wide),
        ("tile d.npy --repeats [2]", wide),
        ("tile d.npy --repeats=", "int32 [2, 2] [[1, 2], [3, 4]]"),
        ("tile d.npy --repeats 1,1", "int32 [2, 2] [[1, 2], [3, 4]]"),
        ("tile d.npy --repeats 2,1", "int32 [4, 2] [[1, 2], [3, 4], [1, 2], [3, 4]]"),
        ("tile d.npy --repeats 2,1,1", "int32 [2, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]]]"),
        // a 0 makes an axis empty
        ("tile d.npy --repeats 0,3", "int32 [0, 6] []"),
        ("tile d.npy --repeats 0,1,1", "int32 [0, 2, 2] []"),
        ("tile d.npy --repeats 2,0", "int32 [4, 0] [[], [], [], []]"),
        ("tile none.npy --repeats 2,3", "int32 [4, 0] [[], [], [], []]"),
        ("tile none.npy --repeats 1,4611686018427387904", "int32 [2, 0] [[], []]"),
        ("tile 7 --repeats 3", "int64 [3] [7, 7, 7]"),
        ("tile 7 --repeats 2,1", "int64 [2, 1] [[7], [7]]"),
        ("tile 7 --repeats=", "int64 [] 7"),
        (r#"tile ["a","xyz"] --repeats 2"#, r#"<U3 [4] ["a", "xyz", "a", "xyz"]"#),
        ("tile bf16.npy --repeats 3", "bfloat16 [3] [1.0, 1.0, 1.0]"),
        ("tile [1,2] --dtype int4 --repeats 2", "int4 [4] [1, 2, 1, 2]"),
    ];
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    let ones = ["1"; 65].join(",");
    let many = format!("tile d.npy --repeats {ones}");
    let rows: [(&str, &[&str]); 11] = [
        ("tile d.npy", &["required", "--repeats"]),
        ("tile d.npy --repeats 2,-1", &["--repeats: -1 for axis 1, expected 0 or more (data [2, 3])"]),
        ("tile d.npy --repeats INT_MIN", &["--repeats: -9223372036854775808 for axis 1"]),
        (
            "tile d.npy --repeats INT_MAX",
            &["--repeats: 9223372036854775807 for axis 1", "more places than can be counted"],
        ),
        ("tile d.npy --repeats 1,4611686018427387904", &["output: more items than can be counted"]),
        ("tile d.npy --repeats 4000000000,4000000000", &["output: more items than can be counted"]),
        ("tile 7 --repeats 2305843009213693952", &["output: more bytes than can be counted", "int64"]),
        (&many, &["output: rank 65, expected at most 64"]),
        ("tile d.npy --repeats 1.5", &["--repeats 1.5: neither a list of integers"]),
        ("tile d.npy --repeats 2 --axis 0", &["--axis"]),
        ("tile d.npy 2 --repeats 2", &["'2'"]),
    ];
    refusals(&folder, &rows);
}
