//! `tensorop slice-scatter`: OpenVINO SliceScatter-15 from the command line.

use crate::common::{Example, Folder, Tensor, examples, npy, prints, refusals, tensor};

/// The three examples of the document; in the third the lists are right, not the dims printed beside them.
#[test]
fn examples_of_the_specification() {
    let count = |shape: &[usize]| {
        let items: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32).collect();
        tensor(shape, &items)
    };
    let example = |name: &str, data: Tensor<f32>, updates: Tensor<f32>, options: &str, expected: &[f32]| Example {
        name: name.to_owned(),
        updates: Some(updates),
        ..Example::of("slice-scatter", data.clone(), options, tensor(&data.shape, expected))
    };
    examples(vec![
        example(
            "1: fill over axis 0",
            count(&[2, 5]),
            tensor(&[1, 5], &[10., 20., 30., 40., 50.]),
            "--start 0 --stop 1 --step 1 --axes 0",
            &[10., 20., 30., 40., 50., 5., 6., 7., 8., 9.],
        ),
        example(
            "2: clamped",
            count(&[2, 5]),
            tensor(&[2, 3], &[10., 20., 30., 40., 50., 60.]),
            "--start -25 --stop 25 --step 2 --axes 1",
            &[10., 1., 20., 3., 30., 40., 6., 50., 8., 60.],
        ),
        example(
            "3: both axes",
            count(&[3, 5]),
            tensor(&[2, 2], &[50., 60., 70., 80.]),
            "--start 0,1 --stop 3,5 --step 2,2",
            &[0., 50., 2., 60., 4., 5., 6., 7., 8., 9., 10., 70., 12., 80., 14.],
        ),
        example(
            "the first again, with --fill",
            count(&[2, 5]),
            tensor(&[1, 5], &[7.; 5]),
            "--at :1",
            &[7., 7., 7., 7., 7., 5., 6., 7., 8., 9.],
        ),
    ]);
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("s.npy", npy("|S3", &[2], b"abcxyz")).put("wide.npy", npy("|S5", &[1], b"q\0\0\0\0"));
    folder.put("s1.npy", npy("|S1", &[1], b"q"));
    let unchanged = "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]";
    let rows = [
        // nothing is sliced: updates are the whole of it
        ("slice-scatter d.npy [[9,8,7],[6,5,4]] --start= --stop=", "int32 [2, 3] [[9, 8, 7], [6, 5, 4]]"),
        ("slice-scatter d.npy [[9,8,7],[6,5,4]] --at ::-1,::-1", "int32 [2, 3] [[4, 5, 6], [7, 8, 9]]"),
        (
            "slice-scatter d.npy [[9],[8]] --start -1 --stop INT_MIN --step -2147483648 --axes -1",
            "int32 [2, 3] [[0, 1, 9], [3, 4, 8]]",
        ),
        ("slice-scatter d.npy --fill 7 --at :,1:", "int32 [2, 3] [[0, 7, 7], [3, 7, 7]]"),
        ("slice-scatter d.npy --fill -7 --start 1 --stop 2", "int32 [2, 3] [[0, 1, 2], [-7, -7, -7]]"),
        ("slice-scatter d.npy --fill=-7 --start 1 --stop 2", "int32 [2, 3] [[0, 1, 2], [-7, -7, -7]]"),
        ("slice-scatter d.npy --fill 1e1 --at ...,1:2", "int32 [2, 3] [[0, 10, 2], [3, 10, 5]]"),
        // an empty slice
        ("slice-scatter d.npy --fill 7 --at 2:1", unchanged),
        ("slice-scatter d.npy [[],[]] --at :,0:0", unchanged),
        ("slice-scatter none.npy [[],[]] --at ::-1", "int32 [2, 0] [[], []]"),
        // strings of another width, if they fit
        ("slice-scatter s.npy wide.npy --at 1:", r#"|S3 [2] ["abc", "q"]"#),
        ("slice-scatter s.npy s1.npy --at :1", r#"|S3 [2] ["q", "xyz"]"#),
        ("slice-scatter [1,2,3] [0.5] --at 1:2", "float64 [3] [1.0, 0.5, 3.0]"),
        (r#"slice-scatter ["a","b"] ["xyz"] --at 1:2"#, r#"<U3 [2] ["a", "xyz"]"#),
    ];
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 5], &[0; 10]).npy()).put("u.npy", tensor::<i32>(&[2, 4], &[0; 8]).npy());
    folder.put("f.npy", tensor::<f32>(&[2, 3], &[0.; 6]).npy()).put("zero.npy", tensor::<i32>(&[], &[1]).npy());
    folder.put("row.npy", tensor::<i32>(&[5], &[0; 5]).npy()).put("one.npy", tensor::<i32>(&[1, 1], &[0]).npy());
    folder.put("s.npy", npy("|S1", &[1], b"x")).put("wide.npy", npy("|S4", &[1, 2], b"y\0\0\0long"));
    folder.put("s2.npy", npy("|S2", &[1, 2], b"xxxx")).put("str.npy", npy("<U1", &[1, 2], &[0; 8]));
    folder.put("void.npy", npy("|V4", &[2, 5], &[0; 40]));
    let strided = "--start 0 --stop 5 --step 2 --axes 1";
    let rows: [(String, &[&str]); 27] = [
        (
            format!("slice-scatter d.npy u.npy {strided}"),
            &[
                "UPDATES",
                "u.npy",
                "shape [2, 4], expected [2, 3]",
                "data [2, 5]",
                "start 0",
                "stop 5",
                "step 2",
                "axis 1",
            ],
        ),
        // nothing broadcasts
        ("slice-scatter d.npy row.npy --at :".into(), &["UPDATES", "row.npy", "shape [5], expected [2, 5]"]),
        ("slice-scatter d.npy one.npy --at :".into(), &["UPDATES", "one.npy", "shape [1, 1], expected [2, 5]"]),
        ("slice-scatter d.npy 1 --at :".into(), &["UPDATES", "shape [], expected [2, 5]"]),
        ("slice-scatter d.npy u.npy --at 1:1".into(), &["UPDATES", "u.npy", "shape [2, 4], expected [0, 5]"]),
        (format!("slice-scatter d.npy f.npy {strided}"), &["UPDATES", "f.npy", "float32", "int32", "DATA", "d.npy"]),
        (format!("slice-scatter d.npy [[1,2,3],[4,5,1.5]] {strided}"), &["UPDATES", "1.5", "[1][2]", "int32"]),
        (
            format!("slice-scatter d.npy [[1,2,3],[4,5,99999999999]] {strided}"),
            &["UPDATES", "99999999999", "[1][2]", "int32"],
        ),
        (format!("slice-scatter d.npy [[1,2,3],[4,5]] {strided}"), &["UPDATES", "[1]"]),
        ("slice-scatter s2.npy wide.npy --at :".into(), &["UPDATES", "wide.npy", "[0, 1]", "S2"]),
        ("slice-scatter s2.npy str.npy --at :".into(), &["UPDATES", "str.npy", "<U1", "S2"]),
        ("slice-scatter void.npy d.npy --at :".into(), &["UPDATES", "d.npy", "int32", "V4"]),
        ("slice-scatter zero.npy zero.npy --at :".into(), &["DATA", "zero.npy", "rank 0"]),
        ("slice-scatter d.npy u.npy --start 0 --stop 1 --step 0".into(), &["--step", "0"]),
        ("slice-scatter d.npy u.npy --start 0,0 --stop 1".into(), &["--stop", "1", "2"]),
        ("slice-scatter d.npy u.npy --start 0,0,0 --stop 1,1,1".into(), &["--start", "3"]),
        ("slice-scatter d.npy u.npy --start 0 --stop 1 --axes 2".into(), &["--axes", "2", "[-2, 1]"]),
        ("slice-scatter d.npy u.npy --start 0,0 --stop 1,1 --axes 1,-1".into(), &["--axes", "twice"]),
        ("slice-scatter d.npy --fill 1.5 --at :".into(), &["--fill", "1.5", "int32"]),
        ("slice-scatter d.npy --fill 2147483648 --at :".into(), &["--fill", "2147483648", "int32"]),
        ("slice-scatter d.npy --fill x --at :".into(), &["--fill", "x", "int32"]),
        ("slice-scatter d.npy --fill '' --at :".into(), &["--fill"]),
        ("slice-scatter d.npy --fill NaN --at :".into(), &["--fill", "NaN", "int32"]),
        ("slice-scatter d.npy --fill [1] --at :".into(), &["--fill", "[1]"]),
        ("slice-scatter s.npy --fill xy --at :".into(), &["--fill", "xy", "S1"]),
        ("slice-scatter d.npy u.npy --fill 1 --at :".into(), &["--fill", "UPDATES"]),
        ("slice-scatter d.npy --at :".into(), &["UPDATES"]),
    ];
    refusals(&folder, &rows.each_ref().map(|(args, fragments)| (args.as_str(), *fragments)));
}
