//! `tensorop show`: lines and items, what is elided and not read, and pictures.

use crate::common::{Folder, each, member, npy, npz, safetensors, tensor, words};

/// A file of each kind that shows something else.
fn folder() -> Folder {
    let folder = Folder::new();
    let d = tensor::<f32>(&[2, 3], &[0., 1.5, -2., 3., 4., 5.]);
    folder.put("d.npy", d.npy()).put("f.npy", d.npy_fortran()).put("b.npy", d.npy_big());
    folder.put("w.npz", npz(&[("conv/weight", d.npy()), ("conv/bias", d.npy_big()), ("fc", d.npy_fortran())]));
    folder.put("m.safetensors", safetensors(&[member("a.x", "bfloat16", &[2], vec![0x80, 0x3f, 0, 0x40])]));
    let long: Vec<u8> = (0..2000_u16).flat_map(u16::to_le_bytes).collect();
    folder.put("long.npy", npy("<u2", &[2000], &long));
    folder.put("wide.npy", npy("<u2", &[40, 50], &long));
    folder.put("bits.npy", npy("<u2", &[2], &[0x80, 0x3f, 0x80, 0xbf]));
    folder.put("v.npy", npy("|V3", &[1], b"abc")).put("none.npy", npy("<f4", &[0, 3], &[]));
    folder.put("s.npy", npy("|S1", &[2], b"ab")).put("text.txt", "not a tensor");
    folder
}

#[test]
fn lines_and_items() {
    let folder = folder();
    let plain = "float32 [2, 3]\n[[ 0.   1.5 -2. ]\n [ 3.   4.   5. ]]\n";
    let all = ["w.npz:conv/weight", "w.npz:conv/bias", "w.npz:fc"].map(|name| format!("{name}: {plain}"));
    let rows = [
        ("d.npy", format!("d.npy: {plain}")),
        ("f.npy b.npy", format!("f.npy: {plain}b.npy: {plain}")),
        ("w.npz", all.concat()),
        ("w.npz:fc", all[2].clone()),
        ("w.npz:*/*", all[..2].concat()),
        ("w.npz:*c", all[2].clone()),
        ("m.safetensors", "m.safetensors:a.x: bfloat16 [2]\n[1. 2.]\n".into()),
        ("bits.npy --dtype bfloat16", "bits.npy: bfloat16 [2]\n[ 1. -1.]\n".into()),
        ("none.npy", "none.npy: float32 [0, 3]\n[]\n".into()),
        ("5 [[1,2]]", "5: int64 []\n5\n[[1,2]]: int64 [1, 2]\n[[1 2]]\n".into()),
        ("[1,2] --dtype float16", "[1,2]: float16 [2]\n[1. 2.]\n".into()),
        ("d.npy --at :1,::-1", "d.npy: float32 [2, 3] at :1,::-1 -> [1, 3]\n[[-2.   1.5  0. ]]\n".into()),
        ("d.npy --at 5:", "d.npy: float32 [2, 3] at 5: -> [0, 3]\n[]\n".into()),
        // a single place drops its axis
        ("d.npy --at 1", "d.npy: float32 [2, 3] at 1 -> [3]\n[3. 4. 5.]\n".into()),
        ("f.npy --at -1,::-1", "f.npy: float32 [2, 3] at -1,::-1 -> [3]\n[5. 4. 3.]\n".into()),
        ("w.npz:conv/bias --at :,-1", "w.npz:conv/bias: float32 [2, 3] at :,-1 -> [2]\n[-2.  5.]\n".into()),
        ("m.safetensors --at 1", "m.safetensors:a.x: bfloat16 [2] at 1 -> []\n2.0\n".into()),
        ("d.npy --at 0,1", "d.npy: float32 [2, 3] at 0,1 -> []\n1.5\n".into()),
        (
            "d.npy:float32[2,3]@128 --at ...,1",
            "d.npy:float32[2,3]@128: float32 [2, 3] at ...,1 -> [2]\n[1.5 4. ]\n".into(),
        ),
        ("none.npy --at :,2", "none.npy: float32 [0, 3] at :,2 -> [0]\n[]\n".into()),
        (
            "wide.npy --at 39 --threshold 5 --edgeitems 1",
            "wide.npy: uint16 [40, 50] at 39 -> [50]\n[1950 ... 1999]\n".into(),
        ),
        ("d.npy --from npy --precision 0", "d.npy: float32 [2, 3]\n[[ 0.  2. -2.]\n [ 3.  4.  5.]]\n".into()),
        ("d.npy --threshold 5 --edgeitems 1", "d.npy: float32 [2, 3]\n[[ 0. ... -2.]\n [ 3. ...  5.]]\n".into()),
        ("d.npy --linewidth 9", "d.npy: float32 [2, 3]\n[[ 0.\n   1.5\n  -2. ]\n [ 3.\n   4.\n   5. ]]\n".into()),
        ("long.npy", "long.npy: uint16 [2000]\n[   0    1    2 ... 1997 1998 1999]\n".into()),
        ("long.npy --at :1500:500", "long.npy: uint16 [2000] at :1500:500 -> [3]\n[   0  500 1000]\n".into()),
        ("long.npy --edgeitems 0", "long.npy: uint16 [2000]\n[... 1999]\n".into()),
        ("long.npy --at :1001 --edgeitems 1", "long.npy: uint16 [2000] at :1001 -> [1001]\n[   0 ... 1000]\n".into()),
        ("wide.npy --edgeitems 1", "wide.npy: uint16 [40, 50]\n[[   0 ...   49]\n ...\n [1950 ... 1999]]\n".into()),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let run = folder.always(&[vec!["show".to_owned()], words(args)].concat(), None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            if (run.status, &*text) == (Some(0), expected) { Ok(()) } else { Err(format!("\n{text}")) }
        },
    );
}

#[test]
fn all_items_and_a_stream() {
    let folder = folder();
    for args in [["show", "long.npy", "--all"], ["show", "wide.npy", "--all"]] {
        let shown = folder.run(args).printed().unwrap();
        let sliced = folder.run(["slice", args[1], "--at", ":"]).printed().unwrap();
        assert_eq!(shown.split_once('\n').map(|(_, items)| items), Some(sliced.as_str()), "{args:?}");
    }
    let (long, wide) = (folder.get("long.npy"), folder.get("wide.npy"));
    let run = folder.run_with(["show", "-"], None, Some(&long)).printed().unwrap();
    assert_eq!(run, "-: uint16 [2000]\n[   0    1    2 ... 1997 1998 1999]\n");
    let run = folder.run_with(["show", "-", "--at", "::-1", "--edgeitems", "1"], None, Some(&wide)).printed().unwrap();
    assert_eq!(run, "-: uint16 [40, 50] at ::-1 -> [40, 50]\n[[1950 ... 1999]\n ...\n [   0 ...   49]]\n");
    let short = folder.run_with(["show", "-"], None, Some(&long[..long.len() - 1]));
    assert_eq!(short.status, Some(2));
    assert!(short.stderr.contains("3999 bytes of data, expected 4000"), "{}", short.stderr);
}

#[test]
fn goes_on_after_what_cannot_be_shown() {
    let folder = folder();
    let run = folder.run(["show", "missing.npy", "text.txt", "v.npy", "w.npz:x*", "d.npy", "--at", ":1"]);
    assert_eq!(run.status, Some(2));
    assert_eq!(String::from_utf8_lossy(&run.stdout), "d.npy: float32 [2, 3] at :1 -> [1, 3]\n[[ 0.   1.5 -2. ]]\n");
    let said: Vec<_> = run.stderr.lines().collect();
    let expected =
        ["missing.npy: ", "text.txt: ", "|V3 cannot be printed", "no tensor that \"x*\" matches, but \"conv/bias\""];
    assert_eq!(said.len(), expected.len(), "{said:?}");
    for (line, text) in said.iter().zip(expected) {
        assert!(line.starts_with("error: FILE ") && line.contains(text), "{line}, expected {text}");
    }
}

#[test]
fn refused() {
    let folder = folder();
    folder.put("out.png", "before");
    let rows: [(&str, &[&str]); 22] = [
        ("d.npy --all --threshold 5", &["--all", "--threshold"]),
        ("", &["<FILE>"]),
        ("- -", &["standard input can be one operand only"]),
        ("d.npy --at 2", &["FILE d.npy: --at: there is no place 2 on axis 0, expected -2 to 1 (shape [2, 3])"]),
        ("d.npy --at :,-4", &["FILE d.npy: --at: there is no place -4 on axis 1, expected -3 to 2 (shape [2, 3])"]),
        ("none.npy --at 0", &["FILE none.npy: --at: there is no place 0 on axis 0, which has no places"]),
        ("d.npy --at 2 --image -o out.png", &["FILE d.npy: --at: there is no place 2 on axis 0"]),
        ("d.npy --at 0,0,0", &["FILE d.npy: --at: 3 entries for data of rank 2"]),
        ("d.npy --at :,:,:", &["FILE d.npy: --at: 3 entries for data of rank 2"]),
        ("5 --at :", &["FILE 5: ", "rank 0"]),
        ("d.npy -o out.png", &["--image"]),
        ("d.npy --range 0,1", &["--image"]),
        ("d.npy --image", &["not a terminal", "-o OUT.png"]),
        ("d.npy --image --all", &["--image", "--all"]),
        ("d.npy --image --range 1,1 -o out.png", &["--range", "the lower first"]),
        ("d.npy --image --range nan,1 -o out.png", &["--range", "expected two numbers"]),
        ("d.npy --image -o out.jpg", &["output out.jpg", "ends in .png"]),
        ("d.npy f.npy --image -o out.png", &["2 files"]),
        ("w.npz --image -o out.png", &["FILE w.npz: 3 tensors", "conv/weight"]),
        ("none.npy --image -o out.png", &["FILE none.npy: [0, 3] has no items"]),
        ("d.npy --at 5: --image -o out.png", &["[0, 3] has no items"]),
        ("s.npy --image -o out.png", &["FILE s.npy: ", "cannot be drawn"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| folder.refuses(words(&format!("show {args}")), fragments).map(drop),
    );
}

/// A place of a dimension that has a name.
#[cfg(feature = "zarr")]
#[test]
fn places_by_names() {
    let folder = folder();
    folder.run(words("convert d.npy --dims time,lat -o d.zarr")).printed().expect("a store");
    let rows = [
        ("time=1", "d.zarr: float32 [2, 3] at time=1 -> [3]\n[3. 4. 5.]\n"),
        ("lat=-1", "d.zarr: float32 [2, 3] at lat=-1 -> [2]\n[-2.  5.]\n"),
        ("time=0,lat=::2", "d.zarr: float32 [2, 3] at time=0,lat=::2 -> [2]\n[ 0. -2.]\n"),
        ("lat=1,time=0", "d.zarr: float32 [2, 3] at lat=1,time=0 -> []\n1.5\n"),
    ];
    each(
        rows,
        |(at, _)| (*at).to_owned(),
        |(at, expected)| {
            let printed = folder.run(["show", "d.zarr", "--at", at]).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
    let message = "FILE d.zarr: --at: there is no place 3 on axis 1 (lat), expected -3 to 2 (shape [2, 3])";
    folder.refuses(["show", "d.zarr", "--at", "lat=3"], &[message]).expect("an error");
    // operators keep every axis
    folder
        .refuses(["slice", "d.zarr", "--at", "lat=1"], &["lat: an integer alone would drop its axis: for 1 use 1:2"])
        .expect("an error");
}

/// A PNG: its dims, the bytes of a pixel, and all pixels.
fn pixels(png: &[u8]) -> ((u32, u32), usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut bytes).expect("a picture");
    ((info.width, info.height), info.color_type.samples(), bytes)
}

/// The colours of viridis at tenths of the range, and the others.
const TENTHS: [[u8; 3]; 11] = [
    [68, 1, 84],
    [72, 36, 117],
    [65, 68, 135],
    [53, 95, 141],
    [42, 120, 142],
    [33, 145, 140],
    [34, 168, 132],
    [68, 191, 112],
    [122, 209, 81],
    [189, 223, 38],
    [253, 231, 37],
];
const NAN: [u8; 3] = [220, 30, 30];
const INFINITY: [u8; 3] = [255, 255, 255];
const MINUS_INFINITY: [u8; 3] = [0, 0, 0];

#[test]
fn one_item_a_pixel() {
    let folder = Folder::new();
    let tenths: Vec<f32> = (0..11).map(|i| i as f32 / 2.0 - 1.0).collect();
    let specials = [0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 10.0, 5.0];
    let line = tensor::<f32>(&[11], &tenths);
    let plane = tensor::<f32>(&[2, 3], &specials);
    folder.put("line.npy", line.npy()).put("big.npy", line.npy_big());
    folder.put("plane.npy", plane.npy()).put("fortran.npy", plane.npy_fortran());
    let four = tensor::<i64>(&[2, 1, 1, 11], &(0..22).map(|i| if i < 11 { i } else { 100 + i }).collect::<Vec<_>>());
    folder.put("four.npy", four.npy());
    folder.put("constant.npy", npy("|u1", &[2, 2], &[7; 4])).put("bool.npy", npy("|b1", &[1, 2], &[0, 1]));
    folder.put("scalar.npy", npy("<f8", &[], &3_f64.to_le_bytes()));
    let modulus: Vec<u8> = [3_f32, 4., 0., 0., -1.5, 2.].iter().flat_map(|part| part.to_le_bytes()).collect();
    folder.put("complex.npy", npy("<c8", &[3], &modulus));
    folder.put("rgb.npy", npy("|u1", &[1, 2, 3], &[0, 1, 2, 3, 4, 10]));
    folder.put("only.npy", tensor::<f32>(&[1, 2], &[f32::NAN, f32::NEG_INFINITY]).npy());
    folder.put("huge.npy", tensor::<i64>(&[2], &[i64::MAX, i64::MAX - 1]).npy());
    let all = TENTHS.concat();
    let plane = [TENTHS[0], NAN, INFINITY, MINUS_INFINITY, TENTHS[10], TENTHS[5]].concat();
    let special = "Infinity: white; -Infinity: black";
    type Row<'a> = (&'a str, (u32, u32), Vec<u8>, String);
    let rows: Vec<Row<'_>> = vec![
        ("line.npy", (11, 1), all.clone(), "dark to light: -1.0 to 4.0".into()),
        ("big.npy", (11, 1), all.clone(), "-1.0 to 4.0".into()),
        ("plane.npy", (3, 2), plane.clone(), format!("0.0 to 10.0; NaN: red; {special}")),
        ("fortran.npy", (3, 2), plane, format!("0.0 to 10.0; NaN: red; {special}")),
        ("plane.npy --at :,4:0:-1", (2, 2), [INFINITY, NAN, TENTHS[0], TENTHS[10]].concat(), "5.0 to 10.0".into()),
        ("four.npy", (11, 1), all.clone(), "four.npy: int64 [2, 1, 1, 11], plane [0, 0] of [2, 1]".into()),
        ("four.npy --at 1:", (11, 1), all.clone(), "at 1: -> [1, 1, 1, 11]".into()),
        ("four.npy --at 1,0", (11, 1), all.clone(), "at 1,0 -> [1, 11]\n".into()),
        ("plane.npy --at 1", (3, 1), [MINUS_INFINITY, TENTHS[10], TENTHS[0]].concat(), "at 1 -> [3]\n".into()),
        ("fortran.npy --at :,1", (2, 1), [NAN, TENTHS[0]].concat(), "at :,1 -> [2]\n".into()),
        ("plane.npy --at 1,1", (1, 1), TENTHS[0].to_vec(), "at 1,1 -> []\n".into()),
        // what is left of a picture in colours are numbers
        ("rgb.npy --at 0", (3, 2), [0, 1, 2, 3, 4, 10].map(|i| TENTHS[i]).concat(), "at 0 -> [2, 3]\n".into()),
        ("rgb.npy --at ...,2", (2, 1), [TENTHS[0], TENTHS[10]].concat(), "at ...,2 -> [1, 2]\n".into()),
        ("line.npy --range -1,9", (11, 1), (0..11).flat_map(halves).collect(), "-1.0 to 9.0".into()),
        ("line.npy --range -3,-2", (11, 1), TENTHS[10].repeat(11), "-3.0 to -2.0".into()),
        ("constant.npy", (2, 2), TENTHS[0].repeat(4), "dark to light: 7 to 7".into()),
        ("bool.npy", (2, 1), [TENTHS[0], TENTHS[10]].concat(), "false to true".into()),
        ("scalar.npy", (1, 1), TENTHS[0].to_vec(), "1 x 1 pixels".into()),
        ("complex.npy", (3, 1), [TENTHS[10], TENTHS[0], TENTHS[5]].concat(), "0.0 to 5.0".into()),
        ("only.npy", (2, 1), [NAN, MINUS_INFINITY].concat(), "no finite item; NaN: red; -Infinity: black".into()),
        ("huge.npy", (2, 1), TENTHS[0].repeat(2), "9223372036854775806 to 9223372036854775807".into()),
    ];
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, size, expected, told)| {
            let args = [vec!["show".to_owned()], words(args), words("--image -o out.png")].concat();
            let run = folder.always(&args, None)?.printed()?;
            let found = pixels(&folder.get("out.png"));
            if found != (*size, 3, expected.clone()) {
                return Err(format!("{found:?}, expected {size:?} {expected:?}"));
            }
            if run.contains(told.as_str()) { Ok(()) } else { Err(format!("{run:?} does not tell {told:?}")) }
        },
    );
}

/// The colour of `i` twentieths.
fn halves(i: usize) -> [u8; 3] {
    let (below, above) = (TENTHS[i / 2], TENTHS[i.div_ceil(2)]);
    std::array::from_fn(|channel| ((f64::from(below[channel]) + f64::from(above[channel])) / 2.0).round() as u8)
}

#[test]
fn pictures_as_they_are() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..48).map(|i| (i * 5) as u8).collect();
    folder.put("rgb.npy", npy("|u1", &[4, 4, 3], &bytes)).put("rgba.npy", npy("|u1", &[3, 4, 4], &bytes));
    folder.put("one.npy", npy("|u1", &[1, 4, 4, 3], &bytes)).put("heat.npy", npy("|u1", &[2, 2, 4, 3], &bytes));
    for (file, size, channels) in [("rgb.npy", (4, 4), 3), ("rgba.npy", (4, 3), 4), ("one.npy", (4, 4), 3)] {
        let said = folder.run(["show", file, "--image", "-o", "out.png"]).printed().unwrap();
        assert_eq!(pixels(&folder.get("out.png")), (size, channels, bytes.clone()), "{file}");
        assert!(said.ends_with(&format!("output out.png: {} x {} pixels\n", size.0, size.1)), "{said}");
    }
    let said = folder.run(["show", "heat.npy", "--image", "-o", "out.png"]).printed().unwrap();
    assert_eq!(pixels(&folder.get("out.png")).0, (3, 4));
    assert!(said.contains("plane [0, 0] of [2, 2]") && said.contains("0 to 55"), "{said}");
    let run = folder.run(["show", "rgb.npy", "--image", "-o", "-"]);
    assert_eq!((run.status, pixels(&run.stdout).2), (Some(0), bytes));
    folder
        .refuses(["show", "rgb.npy", "--image", "--range", "0,1", "-o", "x.png"], &["--range", "own colours"])
        .unwrap();
}

/// With --rgb the channels may be the first of three axes, and floats from 0 to 1.
#[test]
fn pictures_in_colours() {
    let folder = Folder::new();
    let planes: Vec<u8> = (0..24).map(|i| (i * 10) as u8).collect();
    let floats: Vec<f32> = planes.iter().map(|&byte| f32::from(byte) / 255.0).collect();
    // [4, 3, 2] and [3, 4, 2] as pixels of 4 and 3 channels, and [2, 4, 3] as it is
    let interleaved = |channels: usize| -> Vec<u8> {
        let places = 24 / channels;
        (0..places).flat_map(|place| (0..channels).map(move |channel| (channel * places + place) as u8 * 10)).collect()
    };
    folder
        .put("bytes.npy", npy("|u1", &[3, 4, 2], &planes))
        .put("batch.npy", tensor::<f32>(&[1, 3, 4, 2], &floats).npy());
    folder
        .put("two.npy", tensor::<f32>(&[2, 3, 2, 2], &floats).npy())
        .put("last.npy", tensor::<f32>(&[2, 4, 3], &floats).npy());
    folder.put("four.npy", npy("|u1", &[4, 2, 3], &planes)).put("wide.npy", npy("|u1", &[4, 3, 2], &planes));
    folder.put("fortran.npy", tensor::<f32>(&[3, 4, 2], &floats).npy_fortran());
    let second = vec![120, 160, 200, 130, 170, 210, 140, 180, 220, 150, 190, 230];
    let rows = [
        ("bytes.npy", (2, 4), 3, interleaved(3)),
        ("batch.npy", (2, 4), 3, interleaved(3)),
        ("fortran.npy", (2, 4), 3, interleaved(3)),
        ("last.npy", (4, 2), 3, planes.clone()),
        // the last axis is looked at first
        ("four.npy", (2, 4), 3, planes.clone()),
        ("wide.npy", (2, 3), 4, interleaved(4)),
        ("two.npy --at 1:", (2, 2), 3, second.clone()),
        ("two.npy --at 1", (2, 2), 3, second),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, size, channels, expected)| {
            let args = [vec!["show".to_owned()], words(args), words("--image --rgb -o out.png")].concat();
            let run = folder.always(&args, None)?.printed()?;
            let found = pixels(&folder.get("out.png"));
            if found != (*size, *channels, expected.clone()) || run.contains("dark") {
                return Err(format!("{found:?}, expected {size:?} {expected:?}; {run}"));
            }
            Ok(())
        },
    );
    folder.put("out.npy", tensor::<f32>(&[3, 1, 2], &[0., 0.5, 1., 1., 1.5, 0.]).npy());
    folder.put("nan.npy", tensor::<f32>(&[3, 1, 2], &[0., 0.5, 1., f32::NAN, 1., 0.]).npy());
    folder
        .put("ints.npy", tensor::<i64>(&[3, 1, 2], &[0; 6]).npy())
        .put("plane.npy", tensor::<f32>(&[2, 2], &[0.; 4]).npy());
    let refused: &[(&str, &[&str])] = &[
        ("out.npy --image --rgb -o x.png", &["FILE out.npy: 1.5 at row 0, column 0 of channel 2", "from 0 to 1"]),
        ("nan.npy --image --rgb -o x.png", &["FILE nan.npy: NaN at row 0, column 1 of channel 1"]),
        ("ints.npy --image --rgb -o x.png", &["FILE ints.npy: int64 [3, 1, 2] is not a colour picture", "[3, H, W]"]),
        ("plane.npy --image --rgb -o x.png", &["float32 [2, 2] is not a colour picture"]),
        ("two.npy --at :,:2 --image --rgb -o x.png", &["[2, 2, 2, 2] is not a colour picture"]),
        ("out.npy --rgb -o x.png", &["--image"]),
        ("last.npy --image --rgb --range 0,1 -o x.png", &["--rgb", "--range"]),
    ];
    each(
        refused,
        |(args, _)| (*args).to_owned(),
        |(args, fragments)| folder.refuses(words(&format!("show {args}")), fragments).map(drop),
    );
}

#[test]
fn large_pictures_are_averaged() {
    let folder = Folder::new();
    // 3 rows of 8193 items: every pixel stands for two of them, but the last for three
    let items: Vec<f32> = (0..3 * 8193).map(|i| (i % 8193) as f32).collect();
    folder.put("x.npy", tensor::<f32>(&[3, 8193], &items).npy());
    let args = words("show x.npy --image -o out.png");
    let said = folder.always(&args, None).unwrap().printed().unwrap();
    assert!(said.contains("4096 x 3 pixels") && said.contains("averaged from 8193 x 3 to 4096 x 3"), "{said}");
    let (size, _, found) = pixels(&folder.get("out.png"));
    assert_eq!(size, (4096, 3));
    let colour = |pixel: usize| {
        let (first, end) = (pixel * 8193 / 4096, (pixel + 1) * 8193 / 4096);
        let mean = (first..end).map(|i| i as f64).sum::<f64>() / (end - first) as f64;
        let at = mean / 8192.0 * 10.0;
        let (low, weight) = ((at as usize).min(9), at - (at as usize).min(9) as f64);
        [0, 1, 2].map(|c| {
            let (a, b) = (f64::from(TENTHS[low][c]), f64::from(TENTHS[low + 1][c]));
            (a + (b - a) * weight).round() as u8
        })
    };
    let row: Vec<u8> = (0..4096).flat_map(colour).collect();
    assert!(found == row.repeat(3));
}

/// The resident memory and the time that showing takes do not depend on the size of the file.
#[cfg(target_os = "linux")]
#[test]
fn reads_only_what_it_prints() {
    let folder = Folder::new();
    for (name, fortran) in [("c.npy", false), ("f.npy", true)] {
        let header = crate::common::header("<f4", fortran, &[150_000, 134_217]);
        folder.put(name, crate::common::npy_with_header(&header, &[]));
        let file = std::fs::OpenOptions::new().write(true).open(folder.path(name)).unwrap();
        file.set_len(file.metadata().unwrap().len() + 4 * 150_000 * 134_217).unwrap();
        let begun = std::time::Instant::now();
        // the program may have 64 MiB of addresses, most of which are its own code and the stacks of threads
        let run = folder.script(&format!(
            "ulimit -v 65536; \"$T\" show {name} && \"$T\" slice {name} --at : --threshold 1000 && \"$T\" convert {name} --threshold 1000"
        ));
        let text = String::from_utf8_lossy(&run.stdout);
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{name}");
        let rows = "[[0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]\n ...\n \
                    [0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]]\n";
        assert_eq!(text, format!("{name}: float32 [150000, 134217]\n{}", rows.repeat(3)));
        // reading 75 GiB takes ten seconds at least, also where nothing is there
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}
