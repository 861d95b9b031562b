//! Bytes to which `--dtype` gives a dtype of fewer than 8 bits: no bit of them is dropped, in any format and by any command.

use crate::common::{
    DIVISIONS, Division, Folder, Refusal, commands_of_data, each, header, named, npy, npy_with_header, to_fortran,
    words,
};

/// Dtypes of fewer than 8 bits.
const NARROW: [&str; 7] = ["float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4", "int2", "uint2"];

/// Dtypes of which several items share a byte: name, dtype of the items, how many they are.
const PACKED: [(&str, &str, u32); 5] = [
    ("int4x2", "int4", 2),
    ("uint4x2", "uint4", 2),
    ("float4_e2m1fnx2", "float4_e2m1fn", 2),
    ("int2x4", "int2", 4),
    ("uint2x4", "uint2", 4),
];

/// The same six bytes, of shape [2, 3], in every format that holds bytes, and as the void that NumPy makes of what it does
/// not know. The last byte is the last in either order.
const OPERANDS: [&str; 11] = [
    "c.npy",
    "f.npy",
    "void.npy",
    "z.npz:w",
    "deflated.npz:w",
    "s.safetensors:w",
    "c.zarr:w",
    "t.pb",
    "t.json",
    "raw.bin:uint8[2,3]@1",
    "raw.bin:|V1[2,3]@1",
];

fn folder(bytes: [u8; 6]) -> Folder {
    let folder = Folder::new();
    let fortran = npy_with_header(&header("|u1", true, &[2, 3]), &to_fortran(&bytes, &[2, 3], 1));
    folder.put("c.npy", npy("|u1", &[2, 3], &bytes)).put("f.npy", fortran).put("void.npy", npy("|V1", &[2, 3], &bytes));
    folder.put("raw.bin", [&[7][..], &bytes].concat());
    for out in ["z.npz", "s.safetensors", "deflated.npz --compress", "t.pb", "c.zarr --chunks 1,2", "t.json"] {
        folder.run(words(&format!("convert w=c.npy -o {out}"))).printed().expect(out);
    }
    folder
}

#[track_caller]
fn refuses(folder: &Folder, rows: &[Refusal]) {
    each(rows, |(args, _)| format!("`{args}`"), |(args, fragments)| folder.refuses(words(args), fragments).map(drop));
}

/// The commands of operators that have no other operand than DATA.
fn of_data() -> impl Iterator<Item = String> {
    let lines = commands_of_data().filter(|line| !line.contains("--reduction"));
    lines.map(|line| if line.starts_with("split") { line + " --to npz" } else { line + " --to json" })
}

/// A command line with DATA.
fn of(command: &str, operand: &str) -> String {
    named(command, |_| operand.to_owned())
}

/// The items of packed bytes.
fn unpacked(bytes: &[u8], each: u32) -> Vec<u8> {
    let bits = 8 / each;
    bytes.iter().flat_map(|byte| (0..each).map(move |n| byte >> (n * bits) & (0xff >> (8 - bits)))).collect()
}

/// Every pair of a dtype and a format, and every command: a byte of more bits than an item has ends it.
#[test]
fn no_bit_is_dropped() {
    let folder = folder([1, 0, 1, 1, 0, 0x5a]);
    folder.put("ok.npy", npy("|u1", &[2, 3], &[1, 0, 1, 1, 0, 1]));
    // commands that read what is unsigned or void so
    let reads: &[&str] = &[
        "convert D -o out.npy",
        "convert D -o out.npy --order F",
        "convert D -o out.npz",
        "convert D -o out.npz --compress",
        "convert D -o out.pb",
        "convert D -o out.zarr --chunks 1,2",
        "convert D -o out.bin",
        "convert D --to json",
        "convert D --to csv",
        "convert D --to npy",
        "convert D --to npz",
        "convert D --cast float32 -o out.safetensors",
        "convert D --cast int8 --to raw",
        "show D",
        "show D --image -o out.png",
        "info D --stats",
        "info D --hash",
        "info D --histogram",
        "info D --by-axis 1",
        "diff D ok.npy",
        "diff ok.npy D --atol 1 --json",
        "diff D ok.npy --ignore-dtype -q",
    ];
    // commands that read only what is void so, and leave uint8 as it is
    let operators: Vec<String> = of_data().chain(["slice-scatter D --fill 1 --at : --where <1".to_owned()]).collect();
    let operators = &operators;
    let is_void = |operand: &str| operand.contains("void") || operand.contains("|V1");
    let rows = NARROW.iter().flat_map(|dtype| {
        OPERANDS.iter().flat_map(move |operand| {
            let of_operators = operators.iter().map(String::as_str).filter(move |_| is_void(operand));
            reads.iter().copied().chain(of_operators).map(move |command| (command, *operand, *dtype))
        })
    });
    each(
        rows,
        |(command, operand, dtype)| format!("{} --dtype {dtype}", of(command, operand)),
        |(command, operand, dtype)| {
            let args = of(command, operand) + " --dtype " + dtype;
            folder.refuses(words(&args), &[operand, &format!("byte 5 is 0x5a, which is no {dtype}")]).map(drop)
        },
    );
    // what operators leave alone is an error, too
    for operand in OPERANDS.iter().filter(|operand| !is_void(operand)) {
        let fragments = ["dtype uint8, but --dtype says int4"];
        folder.refuses(words(&format!("slice {operand} --at : --dtype int4")), &fragments).expect(operand);
    }
}

/// Standard input comes once, and what is taken is checked while it comes.
#[test]
fn streams() {
    let bytes = [1, 0, 1, 1, 0, 0x5a];
    let folder = folder(bytes);
    let rows: [(&str, &[u8], &str); 7] = [
        ("convert - --dtype int4 --to npy", &folder.get("c.npy"), "byte 5 is 0x5a, which is no int4"),
        ("convert - --dtype uint2 --to json", &folder.get("f.npy"), "byte 5 is 0x5a, which is no uint2"),
        ("info -:uint8[6] --stats --dtype int4", &bytes, "byte 5 is 0x5a, which is no int4"),
        (
            "convert - --dtype int4x2 --to json",
            &folder.get("c.npy")[..132],
            "4 bytes of data, expected 6 (uint8 [2, 3])",
        ),
        (
            "convert - --dtype int4x2 --to json",
            &[folder.get("c.npy"), vec![0]].concat(),
            "more than 6 bytes of data, expected 6 (uint8 [2, 3])",
        ),
        ("convert -:uint8[6] --dtype int4x2 --to json", &[0; 5], "5 bytes of data, expected 6 (uint8 [6])"),
        (
            "slice - --at :1,:1 --dtype int4x2",
            &folder.get("void.npy")[..131],
            "3 bytes of data, expected 6 (|V1 [2, 3])",
        ),
    ];
    each(
        rows,
        |(args, _, _)| (*args).to_owned(),
        |(args, stdin, message)| {
            for Division { window, .. } in DIVISIONS {
                let run = folder.run_with(words(args), window, Some(stdin));
                // a window that was good may have gone to a pipe before the one that is not
                let is_early = !run.stdout.is_empty() && window.is_none();
                if run.status != Some(2) || !run.stderr.contains(message) || is_early {
                    return Err(format!("window {window:?}: {run:?}"));
                }
            }
            Ok(())
        },
    );
    for (file, stdin) in [("c.npy", folder.get("c.npy")), ("f.npy", folder.get("f.npy"))] {
        let found = folder.run_with(words("convert - --dtype uint4x2 --to raw --packed"), Some(5), Some(&stdin));
        assert_eq!((found.status, &found.stdout[..]), (Some(0), &bytes[..]), "{file}");
    }
}

/// Bytes that hold an item each keep all that they say, in every format.
#[test]
fn bytes_of_one_item() {
    // dtype, bytes, items
    let rows: [(&str, [u8; 6], [u8; 6]); 4] = [
        ("int4", [1, 0xff, 0xf8, 7, 0x0f, 0], [1, 0xf, 8, 7, 0xf, 0]),
        ("int2", [1, 0xff, 0xfe, 2, 3, 0], [1, 3, 2, 2, 3, 0]),
        ("uint4", [1, 15, 8, 7, 0, 9], [1, 15, 8, 7, 0, 9]),
        ("float6_e2m3fn", [1, 63, 32, 31, 0, 9], [1, 63, 32, 31, 0, 9]),
    ];
    for (dtype, bytes, items) in rows {
        let folder = folder(bytes);
        each(
            OPERANDS,
            |operand| format!("{operand} as {dtype}"),
            |operand| {
                folder.run(words(&format!("convert {operand} --dtype {dtype} -o out.npy -q"))).printed()?;
                let found = folder.get("out.npy");
                if found != npy(dtype, &[2, 3], &items) {
                    return Err(format!("{found:x?}"));
                }
                folder.run(words(&format!("diff {operand} out.npy --dtype {dtype}"))).printed().map(drop)
            },
        );
    }
    // int8 is a dtype of its own beside others; a single tensor is read as any
    let folder = Folder::new();
    folder.put("i.npy", npy("|i1", &[3], &[0xff, 7, 0xf8]));
    let shown = folder.run(words("convert i.npy --dtype int4 --to json")).printed();
    assert_eq!(shown.as_deref(), Ok("{\"dtype\": \"int4\", \"shape\": [3], \"data\": [-1, 7, -8]}\n"));
    folder
        .refuses(words("convert i.npy --dtype uint4 --to json"), &["byte 0 is 0xff, which is no uint4"])
        .expect("int8");
    folder.refuses(words("info i.npy --dtype int4"), &["dtype int8, but --dtype says int4"]).expect("int8");
}

/// Items that share bytes are along the last axis, the low bits first, wherever the bytes lie.
#[test]
fn items_that_share_bytes() {
    let bytes = [0x12, 0xf3, 0x45, 0x00, 0xff, 0x8e];
    let folder = folder(bytes);
    let others = [
        "convert D --to json",
        "convert D -o out.zarr",
        "slice D --at 1:,-2::-5 --to npy",
        "pad D --before 0,7 --after 0,-2 --mode reflect --to json",
        "slice-scatter D --fill 1 --at : --where >0 --to raw -q",
        "convert D --cast float32 --to npy",
        "convert D --order F --to npy",
    ];
    let commands: Vec<String> = others.map(str::to_owned).into_iter().chain(of_data()).collect();
    for (name, dtype, each_byte) in PACKED {
        let places = 3 * each_byte as usize;
        // what holds the same items a byte each
        let view = format!("items.bin:{dtype}[2,{places}]");
        folder.put("items.bin", unpacked(&bytes, each_byte));
        let expected: Vec<_> = commands.iter().map(|command| folder.run(words(&of(command, &view)))).collect();
        let cases = || commands.iter().zip(&expected);
        // what the operand is said to be, by an option or as a view of bytes
        let typed = OPERANDS.map(|operand| (operand.to_owned(), format!("--dtype {name}")));
        let typed = typed.into_iter().chain([(format!("raw.bin:{name}[2,{places}]@1"), String::new())]);
        // a command runs both ways, each on every other operand
        let rows = typed.enumerate().flat_map(|(n, operand)| {
            let division = move |m: usize| [DIVISIONS[0], DIVISIONS[2]][(n + m) % 2];
            cases().enumerate().map(move |(m, (command, expected))| (operand.clone(), division(m), command, expected))
        });
        each(
            rows,
            |((operand, option), _, command, _)| format!("{} {option}", of(command, operand)),
            |((operand, option), Division { window, threads }, command, expected)| {
                let args = words(&format!("{} {option}", of(command, operand)));
                let args: Vec<_> = args.iter().map(String::as_str).chain(["--threads", threads]).collect();
                let found = folder.run_with(args, *window, None);
                if found.status != Some(0) || found.stdout != expected.stdout {
                    return Err(format!("window {window:?}: {found:?}, expected {expected:?}"));
                }
                Ok(())
            },
        );
        each(
            OPERANDS,
            |operand| format!("{operand} as {name} and back"),
            |operand| {
                folder.run(words(&format!("convert {operand} --dtype {name} -o out.bin --packed"))).printed()?;
                if folder.get("out.bin") != bytes {
                    return Err(format!("{:x?}", folder.get("out.bin")));
                }
                let equal = folder.run(words(&format!("diff {operand} {view} --dtype {name}"))).printed()?;
                let described = folder.run(words(&format!("info {operand} --dtype {name} --json"))).printed()?;
                let meta = format!("\"dtype\": \"{dtype}\", \"shape\": [2, {places}]");
                match equal.starts_with("equal: ") && described.contains(&meta) {
                    true => Ok(()),
                    false => Err(format!("{equal} {described}")),
                }
            },
        );
    }
    // the last dtype was uint2, whose chunks have four times as many places
    let described = folder.run(words("info c.zarr:w --dtype uint2x4 --json")).printed().expect("described");
    assert!(described.contains("\"chunks\": [1, 8]"), "{described}");
}

/// Chunks and shards of a Zarr store, and a fill value in the place of chunks that are not stored.
#[test]
fn chunks() {
    let bytes = [0, 0, 0, 0x21, 0x43, 0x65];
    // the fill value, what it is as two items a byte, and as one
    let rows = [(0_u8, [0, 0], Some(0)), (0x33, [3, 3], None), (0x12, [2, 1], None), (5, [5, 0], Some(5))];
    for (fill, [low, high], item) in rows {
        for cut in ["--chunks 1,3", "--chunks 1,1 --shards 1,3"] {
            let folder = folder(bytes);
            folder.run(words(&format!("convert c.npy -o k.zarr {cut}"))).printed().expect(cut);
            let metadata = String::from_utf8(folder.get("k.zarr/zarr.json")).expect("a text");
            assert!(metadata.contains("\"fill_value\": 0,") && !folder.path("k.zarr/c/0").exists(), "{metadata}");
            folder.put("k.zarr/zarr.json", metadata.replace("\"fill_value\": 0,", &format!("\"fill_value\": {fill},")));
            let expected = [low, high, low, high, low, high, 1, 2, 3, 4, 5, 6];
            for out in ["out.bin", "out.zarr"] {
                folder.run(words(&format!("convert k.zarr --dtype uint4x2 -o {out}"))).printed().expect(out);
            }
            folder.run(words("convert out.zarr -o again.bin")).printed().expect("read again");
            assert_eq!(
                (folder.get("out.bin"), folder.get("again.bin")),
                (expected.to_vec(), expected.to_vec()),
                "{fill} {cut}"
            );
            // one item a byte, of the part that is not stored
            let run = folder.run(words("slice k.zarr --at :1 --to raw -o part.bin"));
            assert_eq!((run.status, folder.get("part.bin")), (Some(0), vec![fill; 3]));
            let read = folder.run(words("convert k.zarr --dtype uint4 -o one.zarr"));
            let place = if item.is_some() { "byte 3 is 0x21".to_owned() } else { format!("byte 0 is {fill:#04x}") };
            assert!(read.status == Some(2) && read.stderr.contains(&place), "{read:?}");
            assert!(!folder.path("one.zarr").exists(), "{fill} {cut}");
        }
    }
    let folder = folder([0, 0, 0, 5, 0, 0]);
    folder.run(words("convert c.npy -o k.zarr --chunks 1,3")).printed().expect("a store");
    folder.run(words("convert k.zarr --dtype uint4 -o one.zarr")).printed().expect("items with a byte each");
    let shown = folder.run(words("convert one.zarr --to json")).printed();
    assert_eq!(shown.as_deref(), Ok("{\"dtype\": \"uint4\", \"shape\": [2, 3], \"data\": [[0, 0, 0], [5, 0, 0]]}\n"));
}

/// Bits of items that are not changed stay, in every format whose items are changed where they lie.
#[test]
fn edits() {
    let bytes = [0x12, 0xf3, 0x45, 0x00, 0xff, 0x8e];
    let rows: [(&str, [u8; 6]); 6] = [
        ("--dtype int4x2 --fill 7 --at :1,1:4", [0x72, 0x77, 0x45, 0x00, 0xff, 0x8e]),
        ("--dtype uint4x2 --fill 9 --at :,::5", [0x19, 0xf3, 0x95, 0x09, 0xff, 0x9e]),
        ("--dtype uint2x4 --fill 0 --at 1:,5:7", [0x12, 0xf3, 0x45, 0x00, 0xc3, 0x8e]),
        ("--dtype int2x4 [[1,1]] --at :1,1:3", [0x16, 0xf3, 0x45, 0x00, 0xff, 0x8e]),
        ("--dtype uint4x2 --fill 0 --at : --where >14", [0x12, 0x03, 0x45, 0x00, 0x00, 0x8e]),
        ("--dtype float4_e2m1fnx2 --fill 6 --at :1,:1", [0x17, 0xf3, 0x45, 0x00, 0xff, 0x8e]),
    ];
    let operands = ["c.npy", "void.npy", "s.safetensors:w", "c.zarr:w", "raw.bin:uint8[2,3]@1"];
    let rows = rows.iter().flat_map(|row| operands.iter().map(move |operand| (row, *operand)));
    each(
        rows,
        |((args, _), operand)| format!("slice-scatter {operand} {args} -i"),
        |((args, expected), operand)| {
            for Division { window, .. } in DIVISIONS {
                let folder = folder(bytes);
                let args = words(&format!("slice-scatter {operand} {args} -i -q"));
                folder.run_with(args, window, Some(b"")).printed()?;
                folder.run(words(&format!("convert {operand} --dtype uint8 -o found.bin"))).printed()?;
                if folder.get("found.bin") != expected {
                    return Err(format!("window {window:?}: {:x?}", folder.get("found.bin")));
                }
            }
            Ok(())
        },
    );
    let folder = folder(bytes);
    // an item with a byte of its own leaves others as they are, whatever they are, but a condition looks at all
    folder.run(words("slice-scatter void.npy --fill -1 --at :1,:1 --dtype int4 -i")).printed().expect("edited");
    assert_eq!(folder.get("void.npy"), npy("|V1", &[2, 3], &[0x0f, 0xf3, 0x45, 0x00, 0xff, 0x8e]));
    refuses(
        &folder,
        &[
            (
                "slice-scatter void.npy --fill 1 --at : --where >2 --dtype int4 -i",
                &["DATA void.npy: ", "byte 1 is 0xf3, which is no int4; 2 items a byte are int4x2"],
            ),
            ("slice-scatter raw.bin:int4 --fill 1 --at : --where >2 -i", &["byte 1 is 0x12, which is no int4"]),
            (
                "slice-scatter f.npy --fill 1 --at :1 --dtype int4x2 -i",
                &["DATA f.npy: --in-place cannot change items that share bytes in a file in Fortran order: use -o"],
            ),
            (
                "reshape c.npy --shape -1 --dtype int4x2 -i",
                &["DATA c.npy: --in-place changes the header of a .npy, which counts bytes", "use -o"],
            ),
            ("concat c.npy c.npy --dtype int4x2 -i", &["DATA c.npy: --in-place changes the header of a .npy"]),
        ],
    );
    // of a byte of its own, which the sign fills, the bits stay as well
    let folder = Folder::new();
    folder.put("v.npy", npy("|V1", &[4], &[0xff, 0x05, 0xff, 0x0f]));
    folder.run(words("slice-scatter v.npy --fill 0 --at : --where >2 --dtype int4 -i -q")).printed().expect("edited");
    assert_eq!(folder.get("v.npy"), npy("|V1", &[4], &[0xff, 0, 0xff, 0x0f]));
}

#[test]
fn refused() {
    let folder = folder([0x12, 0xf3, 0x45, 0x00, 0xff, 0x8e]);
    folder.put("scalar.npy", npy("|u1", &[], &[3])).put("wide.npy", npy("<u2", &[1], &[0; 2]));
    folder.put("i.npy", npy("|i1", &[3], &[0; 3]));
    let values = "text has values, and int4x2 describes bytes: use int4";
    refuses(
        &folder,
        &[
            (
                "show scalar.npy --dtype int4x2",
                &["FILE scalar.npy: int4x2 is 2 items a byte, along the last axis, and shape [] has none"],
            ),
            ("info scalar.npy --dtype uint2x4", &["FILE scalar.npy: uint2x4 is 4 items a byte", "shape [] has none"]),
            ("convert [1,2] --dtype int4x2 -o o.npy", &["IN [1,2]: ", values]),
            ("slice [1,2] --at : --dtype int4x2", &["DATA [1,2]: ", values]),
            ("convert wide.npy --dtype int4x2 -o o.npy", &["IN wide.npy: dtype uint16, but --dtype says int4x2"]),
            (
                "slice i.npy --at : --dtype int4x2",
                &["dtype int8, but --dtype says int4x2, which is for uint8 and void items of one byte"],
            ),
            ("convert c.npy --cast int4x2 -o o.npy", &["--cast", "unknown dtype 'int4x2'"]),
            ("convert c.npy --dtype int4x3 -o o.npy", &["--dtype", "unknown dtype 'int4x3'"]),
            (
                "convert void.npy --to csv",
                &["), or of several items: int4x2, uint4x2, int2x4, uint2x4, float4_e2m1fnx2"],
            ),
        ],
    );
    // what is not asked for is not read
    folder.run(words("slice void.npy --at 1:,:1 --dtype int4")).printed().expect("a slice without such a byte");
    folder.run(words("info c.npy --dtype int4")).printed().expect("a header");
}
