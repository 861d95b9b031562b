//! Bytes without a header: views of them as operands, edits in place, and the items alone as output.

use crate::common::{Folder, each, member, npy, prints, refusals, safetensors};

/// 0, 1, ... 9 as float32.
fn dump() -> Vec<u8> {
    (0..10_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect()
}

#[test]
fn views() {
    let folder = Folder::new();
    folder.put("d.bin", dump()).put("b.bin", [1, 2, 3, 4]).put("d.bin:int8", npy("<i4", &[1], &[9, 0, 0, 0]));
    folder.put("m.safetensors", safetensors(&[member("uint8", "int8", &[1], vec![7])]));
    let rows = [
        (
            "slice d.bin:float32[2,5] --at :,3:",
            r#"{"dtype": "float32", "shape": [2, 2], "data": [[3.0, 4.0], [8.0, 9.0]]}"#,
        ),
        ("slice d.bin:<f4[5,-1]@0 --at :1", r#"{"dtype": "float32", "shape": [1, 2], "data": [[0.0, 1.0]]}"#),
        ("slice d.bin:float32@0x20 --at :", r#"{"dtype": "float32", "shape": [2], "data": [8.0, 9.0]}"#),
        ("slice d.bin:float32[2]@4 --at :", r#"{"dtype": "float32", "shape": [2], "data": [1.0, 2.0]}"#),
        ("convert b.bin:>u2", r#"{"dtype": "uint16", "shape": [2], "data": [258, 772]}"#),
        ("convert b.bin:u4[]", r#"{"dtype": "uint32", "shape": [], "data": 67305985}"#),
        ("convert b.bin:int4[2]@1", r#"{"dtype": "int4", "shape": [2], "data": [2, 3]}"#),
        ("convert b.bin:<M8[D]@4", r#"{"dtype": "<M8[D]", "shape": [0], "data": []}"#),
        ("convert b.bin:uint8[0]@4", r#"{"dtype": "uint8", "shape": [0], "data": []}"#),
        // a path and a member of that name come first
        ("convert d.bin:int8", r#"{"dtype": "int32", "shape": [1], "data": [9]}"#),
        ("convert m.safetensors:uint8", r#"{"dtype": "int8", "shape": [1], "data": [7]}"#),
        ("convert m.safetensors:uint8[1]@8", r#"{"dtype": "uint8", "shape": [1], "data": [123]}"#),
    ];
    prints(&folder, &rows);
}

#[test]
fn blanks_and_standard_input() {
    let folder = Folder::new();
    folder.put("d.bin", dump());
    let rows: [(&[&str], &str); 4] = [
        (&["slice", "d.bin:float32[ -1 , 5 ]", "--at", ":1, :2"], "[[0. 1.]]\n"),
        (&["slice", "-:float32[2,5]", "--at", "1:, ::-1"], "[[9. 8. 7. 6. 5.]]\n"),
        (&["slice", "-:float32[2]@4", "--at", ":"], "[1. 2.]\n"),
        (&["convert", "x=-:float32[-1,2]@32"], "[[8. 9.]]\n"),
    ];
    each(
        rows,
        |(args, _)| format!("{args:?}"),
        |(args, expected)| match folder.run_with(args.iter(), None, Some(&dump())).printed()? {
            found if found == *expected => Ok(()),
            found => Err(format!("{found}, expected {expected}")),
        },
    );
}

#[test]
fn edits_change_those_bytes_only() {
    let folder = Folder::new();
    let mut expected = dump();
    folder.put("d.bin", &expected);
    folder
        .run(["slice-scatter", "d.bin:>u2[2,2]@6", "--fill", "258", "--at", "1:, :", "-i"])
        .printed()
        .expect("edited");
    expected[10..14].copy_from_slice(&[1, 2, 1, 2]);
    assert_eq!(folder.get("d.bin"), expected);
}

#[test]
fn items_alone() {
    let folder = Folder::new();
    folder.put("d.npy", npy("<i2", &[2], &[1, 0, 2, 0])).put("b.npy", npy(">i2", &[2], &[0, 1, 0, 2]));
    let rows: [(&str, &[u8]); 5] = [
        ("slice d.npy --at :", &[1, 0, 2, 0]),
        ("slice b.npy --at :", &[0, 1, 0, 2]),
        ("slice b.npy --at : --byte-order little", &[1, 0, 2, 0]),
        ("convert d.npy --byte-order big", &[0, 1, 0, 2]),
        ("convert [1,-2] --dtype int4", &[1, 0xe]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            for to in ["-o out.bin", "--to raw -o -"] {
                let args = crate::common::words(&format!("{args} {to}"));
                let run = folder.run(args);
                let found = if to.ends_with('-') { run.stdout } else { folder.get("out.bin") };
                if found != *expected {
                    return Err(format!("{to}: {found:?}"));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.bin", dump()).put("d.npy", npy("<i2", &[2], &[1, 0, 2, 0]));
    refusals(
        &folder,
        &[
            (
                "slice d.bin:float32[2,4] --at :",
                &["DATA d.bin:float32[2,4]: 40 bytes", "expected 32", "[2, 5] would fit"],
            ),
            ("slice d.bin:float32[4,4] --at :", &["40 bytes of data, expected 64 (float32 [4, 4])"]),
            ("slice d.bin:float32[3]@32 --at :", &["8 bytes of data, expected 12", "[2] would fit"]),
            ("slice d.bin:float64[3,-1] --at :", &["40 bytes of data, expected a multiple of 24"]),
            ("slice d.bin:float64@1 --at :", &["39 bytes of data, expected a multiple of 8"]),
            ("slice d.bin:float32@41 --at :", &["has 40 bytes, and items from byte 41 on"]),
            ("slice d.bin:float32@18446744073709551615 --at :", &["items from byte 18446744073709551615 on"]),
            ("slice d.bin:int8[-1,0] --at :", &["-1 beside a 0"]),
            ("slice d.bin:int8[-1,-1] --at :", &["only one dim can be -1"]),
            ("slice d.bin:int8[-2] --at :", &["\"-2\" is no dim"]),
            ("slice d.bin:int8[1000000000,10000000000000] --at :", &["more than memory can address"]),
            ("slice d.bin:int8[1000000000] --at :", &["40 bytes of data, expected 1000000000"]),
            ("slice d.bin:S --at :", &["items of no bytes"]),
            ("slice d.bin:O[2] --at :", &["pickled"]),
            ("slice d.bin:flot32[2] --at :", &["unknown dtype 'flot32'"]),
            ("slice d.bin:flot32 --at :", &["unknown dtype 'flot32'"]),
            ("slice d.bin:int8@x --at :", &["@x: expected a number of bytes"]),
            ("slice no.bin:int8 --at :", &["(os error 2)"]),
            ("slice -:int8[41] --at :", &["expected 41"]),
            ("convert d.npy --order F --to raw", &["raw is always in C order"]),
        ],
    );
}
