//! `tensorop pad`: ONNX Pad and OpenVINO Pad-12 from the command line.

use crate::common::{Example, Folder, examples, npy, prints, refusals, tensor};

/// The examples of Pad-12, which are also those of Pad-1, and of ONNX Pad.
#[test]
fn examples_of_onnx_and_openvino() {
    let numbers: Vec<f32> = (1_u8..13).map(f32::from).collect();
    let openvino = |options: &str, dims: [usize; 2], items: &[u8]| {
        Example::of(
            "pad",
            tensor(&[3, 4], &numbers),
            options,
            tensor(&dims, &items.iter().copied().map(f32::from).collect::<Vec<_>>()),
        )
    };
    let mut rows = vec![
        openvino(
            "--before 0,1 --after 2,3 --mode constant",
            [5, 8],
            &[
                0, 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0,
            ],
        ),
        openvino(
            "--before 0,1 --after 2,3 --mode edge",
            [5, 8],
            &[
                1, 1, 2, 3, 4, 4, 4, 4, 5, 5, 6, 7, 8, 8, 8, 8, 9, 9, 10, 11, 12, 12, 12, 12, 9, 9, 10, 11, 12, 12, 12,
                12, 9, 9, 10, 11, 12, 12, 12, 12,
            ],
        ),
        openvino(
            "--before 0,1 --after 2,3 --mode reflect",
            [5, 8],
            &[
                2, 1, 2, 3, 4, 3, 2, 1, 6, 5, 6, 7, 8, 7, 6, 5, 10, 9, 10, 11, 12, 11, 10, 9, 6, 5, 6, 7, 8, 7, 6, 5,
                2, 1, 2, 3, 4, 3, 2, 1,
            ],
        ),
        openvino(
            "--before 0,1 --after 2,3 --mode symmetric",
            [5, 8],
            &[
                1, 1, 2, 3, 4, 4, 3, 2, 5, 5, 6, 7, 8, 8, 7, 6, 9, 9, 10, 11, 12, 12, 11, 10, 9, 9, 10, 11, 12, 12, 11,
                10, 5, 5, 6, 7, 8, 8, 7, 6,
            ],
        ),
        openvino("--before 0,1 --after 2,-1", [5, 4], &[0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let onnx = |options: &str, dims: [usize; 2], items: &[f32]| {
        Example::of("pad", tensor(&[3, 2], &[1.0, 1.2, 2.3, 3.4, 4.5, 5.7]), options, tensor(&dims, items))
    };
    rows.extend([
        onnx(
            "--before 0,2 --after 0,0 --fill 0.0",
            [3, 4],
            &[0.0, 0.0, 1.0, 1.2, 0.0, 0.0, 2.3, 3.4, 0.0, 0.0, 4.5, 5.7],
        ),
        onnx(
            "--before 0,2 --after 0,0 --mode reflect",
            [3, 4],
            &[1.0, 1.2, 1.0, 1.2, 2.3, 3.4, 2.3, 3.4, 4.5, 5.7, 4.5, 5.7],
        ),
        onnx(
            "--before 0,2 --after 0,0 --mode edge",
            [3, 4],
            &[1.0, 1.0, 1.0, 1.2, 2.3, 2.3, 2.3, 3.4, 4.5, 4.5, 4.5, 5.7],
        ),
        onnx(
            "--before 2,1 --after 1,1 --mode wrap",
            [6, 4],
            &[
                3.4, 2.3, 3.4, 2.3, 5.7, 4.5, 5.7, 4.5, 1.2, 1.0, 1.2, 1.0, 3.4, 2.3, 3.4, 2.3, 5.7, 4.5, 5.7, 4.5,
                1.2, 1.0, 1.2, 1.0,
            ],
        ),
    ]);
    examples(rows);
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[0, 2], &[]).npy()).put("one.npy", tensor::<i32>(&[1], &[7]).npy());
    folder.put("axes.npy", npy("|i1", &[1], &[0xff]));
    let framed = "int32 [3, 4] [[0, 0, 1, 2], [0, 3, 4, 5], [0, 0, 0, 0]]";
    let rows = [
        ("pad d.npy --before 0,1 --after 1,0", framed),
        ("pad d.npy --before=[0,1] --after=[1,0]", framed),
        ("pad d.npy --before 1,0 --after 0,1 --axes -1,0", framed),
        ("pad d.npy --before 1 --after 0 --axes axes.npy", "int32 [2, 4] [[0, 0, 1, 2], [0, 3, 4, 5]]"),
        ("pad d.npy --before 0,0 --after 0,0 --mode wrap", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("pad d.npy --before= --after= --axes=", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("pad d.npy --before -1,-1 --after 0,-1", "int32 [1, 1] [[4]]"),
        ("pad d.npy --before -2,0 --after 0,0", "int32 [0, 3] []"),
        // all places are taken away, and only then others are added
        ("pad d.npy --before -2,0 --after 1,0 --fill 9", "int32 [1, 3] [[9, 9, 9]]"),
        ("pad d.npy --before -1 --after 3 --axes 1 --mode edge", "int32 [2, 5] [[1, 2, 2, 2, 2], [4, 5, 5, 5, 5]]"),
        ("pad none.npy --before 1,0 --after 1,0 --fill -1", "int32 [2, 2] [[-1, -1], [-1, -1]]"),
        ("pad none.npy --before 0,1 --after 0,1 --mode reflect", "int32 [0, 4] []"),
        ("pad 7 --before= --after=", "int64 [] 7"),
        // wider than the axis
        ("pad [1,2,3] --before 5 --after 4 --mode reflect", "int64 [12] [2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3]"),
        ("pad [1,2,3] --before 5 --after 4 --mode symmetric", "int64 [12] [2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1]"),
        ("pad [1,2,3] --before 5 --after 4 --mode wrap", "int64 [12] [2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1]"),
        ("pad one.npy --before 2 --after 1 --mode reflect", "int32 [4] [7, 7, 7, 7]"),
        ("pad one.npy --before 2 --after 1 --mode symmetric", "int32 [4] [7, 7, 7, 7]"),
    ];
    prints(&folder, &rows);
}

/// The item of new places, of every kind of dtype: as it is asked for, and without being asked for.
#[test]
fn items_of_new_places() {
    let folder = Folder::new();
    folder.put("wide.npy", npy("|S3", &[1], b"abc")).put("f.npy", npy(">f4", &[1], &1.5_f32.to_be_bytes()));
    let new = "--before 1 --after 0";
    let rows = [
        (format!("pad [1] --dtype int8 {new}"), "int8 [2] [0, 1]"),
        (format!("pad [1] --dtype int8 {new} --fill -128"), "int8 [2] [-128, 1]"),
        (format!("pad [1] --dtype uint64 {new} --fill 18446744073709551615"), "uint64 [2] [18446744073709551615, 1]"),
        (format!("pad [1] --dtype float16 {new}"), "float16 [2] [0.0, 1.0]"),
        (format!("pad f.npy {new} --fill -inf"), "float32 [2] [\"-Infinity\", 1.5]"),
        (format!("pad [1] --dtype float64 {new} --fill nan"), "float64 [2] [\"NaN\", 1.0]"),
        (format!("pad [1] --dtype bfloat16 {new} --fill -0.5"), "bfloat16 [2] [-0.5, 1.0]"),
        (format!("pad [1] --dtype float8_e4m3fn {new} --fill 2"), "float8_e4m3fn [2] [2.0, 1.0]"),
        (format!("pad [1] --dtype int4 {new} --fill -8"), "int4 [2] [-8, 1]"),
        (format!("pad [[1,2]] --dtype complex64 {new}"), "complex64 [2] [[0.0, 0.0], [1.0, 2.0]]"),
        (format!("pad [[1,2]] --dtype complex64 {new} --fill [3,-4]"), "complex64 [2] [[3.0, -4.0], [1.0, 2.0]]"),
        (format!("pad [true] {new}"), "bool [2] [false, true]"),
        (format!("pad [true] {new} --fill true"), "bool [2] [true, true]"),
        (format!("pad [\"ab\"] {new}"), r#"<U2 [2] ["", "ab"]"#),
        (format!("pad [\"ab\"] {new} --fill é"), r#"<U2 [2] ["é", "ab"]"#),
        (format!("pad wide.npy {new} --fill x"), r#"|S3 [2] ["x", "abc"]"#),
        (format!("pad [\"2024-02-29\"] --dtype datetime64[D] {new}"), r#"<M8[D] [2] ["NaT", "2024-02-29"]"#),
        (
            format!("pad [\"2024-02-29\"] --dtype datetime64[D] {new} --fill 2000-01-01"),
            r#"<M8[D] [2] ["2000-01-01", "2024-02-29"]"#,
        ),
        (format!("pad [5] --dtype <m8[s] {new}"), r#"<m8[s] [2] ["NaT", 5]"#),
        (format!("pad [5] --dtype <m8[s] {new} --fill 3"), "<m8[s] [2] [3, 5]"),
    ];
    let rows: Vec<_> = rows.iter().map(|(args, expected)| (args.as_str(), *expected)).collect();
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("f.npy", tensor::<f32>(&[2], &[0.; 2]).npy());
    folder.put("none.npy", tensor::<i32>(&[0, 3], &[]).npy());
    folder.put("s.npy", npy("<U2", &[1], &[0; 8]));
    let rows: [(&str, &[&str]); 28] = [
        ("pad d.npy", &["required", "--before", "--after"]),
        ("pad d.npy --before 1,1", &["required", "--after"]),
        ("pad d.npy --before 1 --after 1,1", &["--before: 1 number, expected 2, one for each axis (data [2, 3])"]),
        ("pad d.npy --before 1,1 --after 1", &["--after: 1 number, expected 2"]),
        ("pad d.npy --before 1,1 --after 1,1 --axes 0", &["--before: 2 numbers, expected 1"]),
        ("pad d.npy --before 1,1 --after 1,1 --axes 0,0", &["--axes", "axis 0 is named twice"]),
        ("pad d.npy --before 1,1 --after 1,1 --axes 1,-1", &["--axes", "axis 1 is named twice", "-1 at position 1"]),
        ("pad d.npy --before 1,1 --after 1,1 --axes 0,2", &["--axes", "axis 2 at position 1", "[-2, 1]"]),
        ("pad 7 --before 1 --after 1 --axes 0", &["--axes", "a scalar has no axes"]),
        ("pad d.npy --before -2,0 --after -1,0", &["DATA d.npy: cannot remove 2 and 1 places of 2 (axis 0 of [2, 3])"]),
        ("pad d.npy --before 0,-4 --after 0,0", &["DATA d.npy: cannot remove 4 and 0 places of 3"]),
        (
            "pad d.npy --before INT_MIN,0 --after INT_MIN,0",
            &["cannot remove 9223372036854775808 and 9223372036854775808 places of 2"],
        ),
        ("pad d.npy --before -2,0 --after 1,0 --mode edge", &["DATA d.npy: no place to repeat", "constant"]),
        ("pad none.npy --before 1,0 --after 0,0 --mode edge", &["DATA none.npy: no place to repeat", "axis 0"]),
        ("pad none.npy --before 1,0 --after 0,0 --mode reflect", &["DATA none.npy: no place to repeat"]),
        ("pad none.npy --before 1,0 --after 0,0 --mode symmetric", &["DATA none.npy: no place to repeat"]),
        ("pad none.npy --before 1,0 --after 0,0 --mode wrap", &["DATA none.npy: no place to repeat"]),
        ("pad d.npy --before INT_MAX,0 --after 1,0", &["output: more items than can be counted"]),
        ("pad d.npy --before INT_MAX,0 --after INT_MAX,0", &["DATA d.npy: more places than can be counted"]),
        ("pad d.npy --before 1,1 --after 1,1 --mode mirror", &["'mirror'", "constant, edge, reflect, symmetric, wrap"]),
        ("pad d.npy --before 1,1 --after 1,1 --mode edge --fill 1", &["--fill: only --mode constant adds it"]),
        ("pad d.npy --before 1,1 --after 1,1 --fill 1.5", &["--fill: 1.5 is not an integer (int32)"]),
        ("pad d.npy --before 1,1 --after 1,1 --fill 99999999999", &["--fill: 99999999999 is out of range for int32"]),
        ("pad d.npy --before 1,1 --after 1,1 --fill x", &["--fill: found x, expected a number"]),
        ("pad [true] --before 1 --after 1 --fill 1", &["--fill: 1 is a number, expected true or false"]),
        ("pad s.npy --before 1 --after 1 --fill abc", &["--fill: abc is longer than <U2"]),
        ("pad d.npy --before 9223372036854775808,0 --after 1,1", &["--before", "beyond int64"]),
        ("pad d.npy 1,1 --before 1,1 --after 1,1", &["1,1"]),
    ];
    refusals(&folder, &rows);
}
