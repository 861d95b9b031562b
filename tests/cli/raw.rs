//! Bytes without a header: views of them as operands, edits in place, and the items alone as output.

use crate::common::{DIVISIONS, Division, Folder, each, member, npy, prints, refusals, safetensors, words};

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
                let args = words(&format!("{args} {to}"));
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

/// Items of 4 and 2 bits that share bytes, the low bits first, and those that have a byte each.
#[test]
fn packed_views() {
    let folder = Folder::new();
    folder.put("p.bin", [0x21, 0xf3, 0x05]).put("q.bin", [0xe4, 0x01]).put("u.bin", [1, 0xff, 0x0e]);
    let json = |dtype: &str, shape: &str, data: &str| {
        format!("{{\"dtype\": \"{dtype}\", \"shape\": {shape}, \"data\": {data}}}")
    };
    let rows = [
        ("convert p.bin:int4x2", json("int4", "[6]", "[1, 2, 3, -1, 5, 0]")),
        ("convert p.bin:int4x2[5]", json("int4", "[5]", "[1, 2, 3, -1, 5]")),
        ("convert p.bin:uint4x2[-1,5]", json("uint4", "[1, 5]", "[[1, 2, 3, 15, 5]]")),
        ("convert p.bin:uint4x2[1]@0x2", json("uint4", "[1]", "[5]")),
        ("slice p.bin:float4_e2m1fnx2[2,-1]@1 --at ::-1,1:", json("float4_e2m1fn", "[2, 1]", "[[0.0], [-6.0]]")),
        ("convert q.bin:uint2x4[5]", json("uint2", "[5]", "[0, 1, 2, 3, 1]")),
        ("convert q.bin:int2x4@1", json("int2", "[4]", "[1, 0, 0, 0]")),
        ("convert q.bin:int2x4[0]@1", json("int2", "[0]", "[]")),
        ("convert p.bin:int4x2[5] --cast int8", json("int8", "[5]", "[1, 2, 3, -1, 5]")),
        // a byte of an item of fewer bits is extended by zeros or by the sign
        ("convert u.bin:int4", json("int4", "[3]", "[1, -1, -2]")),
    ];
    let rows: Vec<_> = rows.iter().map(|(args, expected)| (*args, expected.as_str())).collect();
    prints(&folder, &rows);
    let run = folder.run_with(["show", "-:int4x2[5]"], None, Some(&[0x21, 0xf3, 0x05]));
    assert_eq!(run.printed().expect("shown"), "-:int4x2[5]: int4 [5]\n[1 2 3 -1 5]\n");
    // however the same items are stored, their hash is the same
    folder.run(["convert", "u.bin:int4", "-o", "u.npy"]).printed().expect("converted");
    let hash = |file| folder.run(["info", "--hash", "--json", file]).printed().expect(file);
    let of = |text: String| text.split("\"hash\": ").nth(1).map(str::to_owned);
    assert_eq!(of(hash("u.bin:int4")), of(hash("u.npy")));
    let described = folder.run(["info", "--json", "p.bin:int4x2[5]"]).printed().expect("described");
    for part in ["\"format\": \"raw\"", "\"dtype\": \"int4\"", "\"items\": 5, \"bytes\": 3, \"offset\": 0"] {
        assert!(described.contains(part), "{described}");
    }
}

#[test]
fn packed_output() {
    let folder = Folder::new();
    folder.put("p.bin", [0x21, 0xf3, 0x05]).put("u.bin", [1, 0xff, 0x0e]);
    let rows: [(&str, &[u8]); 5] = [
        ("convert p.bin:int4x2[5]", &[0x21, 0xf3, 0x05]),
        ("slice p.bin:int4x2[5] --at 1:", &[0x32, 0x5f]),
        ("convert u.bin:int4", &[0xf1, 0x0e]),
        ("convert [0,1,2,3,1] --dtype uint2", &[0xe4, 0x01]),
        ("convert [0.5,-6] --dtype float4_e2m1fn", &[0xf1]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            for to in ["-o out.bin --packed", "--to raw -o - --packed"] {
                let run = folder.run(words(&format!("{args} {to}")));
                let found = if to.contains("-o -") { run.stdout } else { folder.get("out.bin") };
                if found != *expected {
                    return Err(format!("{to}: {found:?}, {}", run.stderr));
                }
            }
            Ok(())
        },
    );
}

/// Items that share bytes are changed bit by bit; windows that meet in a byte do not undo each other's items.
#[test]
fn packed_edits() {
    let folder = Folder::new();
    let rows: [(&str, &[u8]); 6] = [
        ("slice-scatter e.bin:int4x2[5] [7,-1] --at 1:3", &[0x71, 0xff, 0x05, 0xaa]),
        ("slice-scatter e.bin:uint4x2[1]@2 --fill 9 --at :", &[0x21, 0xf3, 0x09, 0xaa]),
        ("scatter-update e.bin:uint4x2[6]@0 [0,5] [8,8] --axis 0", &[0x28, 0xf3, 0x85, 0xaa]),
        ("slice-scatter e.bin:uint2x4[2,3]@1 --fill 0 --at :,::2", &[0x21, 0, 1, 0xaa]),
        ("slice-scatter e.bin:uint2x4 --fill 0 --at 1::2", &[0x21, 0x33, 0x01, 0x22]),
        // an item that has a byte of its own leaves other bytes as they are, whatever they are
        ("slice-scatter e.bin:int4 --fill -1 --at 1:2", &[0x21, 0x0f, 0x05, 0xaa]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            for Division { window, .. } in DIVISIONS {
                let whole = args.contains("[5]");
                folder.put("e.bin", if whole { &[0x21, 0xf3, 0x05][..] } else { &[0x21, 0xf3, 0x05, 0xaa] });
                folder.run_with(words(&format!("{args} -i")), window, Some(b"")).printed()?;
                let found = folder.get("e.bin");
                if found != expected[..found.len()] {
                    return Err(format!("window {window:?}: {found:x?}, expected {expected:x?}"));
                }
            }
            Ok(())
        },
    );
    let many = vec![0_u8; 50_000];
    folder.put("many.bin", &many);
    for threads in ["1", "4"] {
        let fill = if threads == "1" { "5" } else { "10" };
        let args = ["slice-scatter", "many.bin:uint4x2", "--fill", fill, "--at", "1:-1", "-i", "--threads", threads];
        folder.run_with(args, Some(7), None).printed().expect("edited");
        let found = folder.get("many.bin");
        let both = fill.parse::<u8>().expect("a number") * 0x11;
        assert_eq!((found[0], found[49_999]), (both & 0xf0, both & 0x0f));
        assert!(found[1..49_999].iter().all(|byte| *byte == both), "{threads} threads");
    }
}

/// Bits that a reading would drop are never dropped without a word.
#[test]
fn bits_that_are_no_items() {
    let folder = Folder::new();
    folder.put("p.bin", [0x21, 0xf3, 0x05]).put("a.npy", npy("<f4", &[1], &[0; 4])).put("six.bin", [0x40]);
    refusals(
        &folder,
        &[
            (
                "slice p.bin:int4 --at :",
                &["DATA p.bin:int4: ", "byte 0 is 0x21, which is no int4; 2 items a byte are int4x2"],
            ),
            ("slice p.bin:uint2[1]@2 --at :", &["byte 2 is 0x05, which is no uint2; 4 items a byte are uint2x4"]),
            ("slice six.bin:float6_e2m3fn --at :", &["byte 0 is 0x40, which is no float6_e2m3fn"]),
            ("slice p.bin:int4x2[3]@0 --at :1", &["byte 1 is 0xf3: 4 of its bits are after the last item, and not 0"]),
            ("slice p.bin:int4x2[9] --at :", &["3 bytes of data, expected 5 (int4 [9]); [6] would fit"]),
            ("slice p.bin:int4x2[-1,4] --at :", &["3 bytes of data are not a whole number of items of int4x2 [-1, 4]"]),
            ("slice p.bin:int4x2[-1,18446744073709551615] --at :", &["more than memory"]),
            ("slice p.bin:int4x3 --at :", &["unknown dtype 'int4x3'"]),
            ("convert a.npy --to raw --packed", &["--packed: items of float32 do not share bytes, expected int4, "]),
            ("convert a.npy --to npy --packed", &["--packed: npy stores items in one way only, expected a .bin"]),
            ("convert [1] --dtype int4 --to raw --packed --part 1/2", &["cannot be made in parts"]),
        ],
    );
    // of what is not read nothing is dropped
    for args in ["slice p.bin:uint4@1 --at 1:", "slice p.bin:int4x2[2]@2 --at :1"] {
        folder.run(words(args)).printed().expect(args);
    }
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
            ("slice d.bin:int8[-2] --at :", &["\"-2\" is not a dim"]),
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
