//! `tensorop roll`: OpenVINO Roll-7 from the command line.

use crate::common::{Example, Folder, examples, npy, prints, refusals, tensor};

/// The three examples of Roll-7, with small dims where they are shapes only, and those of `numpy.roll`.
#[test]
fn examples_of_openvino() {
    let items: Vec<f32> = (1_u8..13).map(f32::from).collect();
    let example = |options: &str, expected: &[u8]| {
        Example::of(
            "roll",
            tensor(&[4, 3], &items),
            options,
            tensor(&[4, 3], &expected.iter().copied().map(f32::from).collect::<Vec<_>>()),
        )
    };
    examples(vec![
        example("--shift 1 --axes 0", &[10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        example("--shift -1,2 --axes 0,1", &[5, 6, 4, 8, 9, 7, 11, 12, 10, 2, 3, 1]),
        // an axis that is named twice adds its shifts
        example("--shift 1,2,2 --axes 1,0,0", &[3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]),
        example("--shift 2", &[11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ]);
}

#[test]
fn results() {
    let folder = Folder::new();
    folder
        .put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy())
        .put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("s.npy", tensor::<i64>(&[], &[1]).npy()).put("s-2.npy", npy("|i1", &[2], &[1, 0xff]));
    let columns = "int32 [2, 3] [[2, 0, 1], [5, 3, 4]]";
    let same = "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]";
    let both = "int32 [2, 3] [[4, 5, 3], [1, 2, 0]]";
    let rows = [
        ("roll d.npy --shift 1 --axes 1", columns),
        ("roll d.npy --shift 1 --axes -1", columns),
        ("roll d.npy --shift=-2 --axes=[1]", columns),
        ("roll d.npy --shift s.npy --axes s.npy", columns),
        ("roll d.npy --shift 4 --axes 1", columns),
        ("roll d.npy --shift 3000000001 --axes 1", columns),
        ("roll d.npy --shift 1,-1 --axes 0,1", both),
        ("roll d.npy --shift s-2.npy --axes 0,1", both),
        ("roll d.npy --shift 1 --axes 0,1", "int32 [2, 3] [[5, 3, 4], [2, 0, 1]]"),
        ("roll d.npy --shift 3,2 --axes 1,0", same),
        ("roll d.npy --shift 1,1,1 --axes 1,1,-1", same),
        // the sum of two shifts is more than an int64
        ("roll d.npy --shift INT_MAX,INT_MAX,2 --axes 1,1,1", columns),
        ("roll d.npy --shift INT_MIN,INT_MIN,2 --axes 1,1,1", columns),
        ("roll d.npy --shift 1", "int32 [2, 3] [[5, 0, 1], [2, 3, 4]]"),
        ("roll d.npy --shift -1", "int32 [2, 3] [[1, 2, 3], [4, 5, 0]]"),
        ("roll d.npy --shift 6", same),
        ("roll d.npy --shift=-9223372036854775808", "int32 [2, 3] [[2, 3, 4], [5, 0, 1]]"),
        // no axes are none, and not all
        ("roll d.npy --shift 1 --axes=", same),
        ("roll d.npy --shift= --axes=", same),
        ("roll none.npy --shift 1", "int32 [2, 0] [[], []]"),
        ("roll none.npy --shift 1 --axes 0,1", "int32 [2, 0] [[], []]"),
        ("roll 7 --shift 1", "int64 [] 7"),
        ("roll 7 --shift 1 --axes=", "int64 [] 7"),
        (r#"roll ["a","xyz"] --shift 1"#, r#"<U3 [2] ["xyz", "a"]"#),
        ("roll [1,2,3] --dtype int4 --shift 1 --axes 0", "int4 [3] [3, 1, 2]"),
        ("roll [1,2,3] --dtype bfloat16 --shift 1", "bfloat16 [3] [3.0, 1.0, 2.0]"),
    ];
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    let rows: [(&str, &[&str]); 12] = [
        ("roll d.npy", &["required", "--shift"]),
        ("roll d.npy --axes 0", &["required", "--shift"]),
        ("roll d.npy --shift 1,2", &["--shift: 2 numbers, expected 1 (data [2, 3])"]),
        ("roll d.npy --shift=", &["--shift: 0 numbers, expected 1"]),
        ("roll d.npy --shift 1,2 --axes 0", &["--shift: 2 numbers, expected 1 (data [2, 3])"]),
        ("roll d.npy --shift 1,2 --axes 0,1,1", &["--shift: 2 numbers, expected 1 or 3"]),
        ("roll d.npy --shift 1 --axes 2", &["--axes", "axis 2 at position 0", "[-2, 1]"]),
        ("roll d.npy --shift 1 --axes 0,-3", &["--axes", "axis -3 at position 1", "[-2, 1]"]),
        ("roll 7 --shift 1 --axes 0", &["--axes", "a scalar has no axes"]),
        ("roll d.npy --shift 9223372036854775808", &["--shift", "beyond int64"]),
        ("roll d.npy --shift 1 --axis 0", &["--axis", "--axes"]),
        ("roll d.npy 1 --shift 1", &["'1'"]),
    ];
    refusals(&folder, &rows);
}
