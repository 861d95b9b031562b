//! Mistakes that people make, each answered with what would help: one line, status 2, nothing written.

use crate::common::{Folder, each, lfs_pointer, npy, tensor, words};

/// A ZIP archive of one stored member.
fn zip(name: &str) -> Vec<u8> {
    let (name, size) = (name.as_bytes(), (name.len() as u16).to_le_bytes());
    let fixed = [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..], &[0; 12], &size, &[0, 0]].concat();
    let local = [&b"PK\x03\x04"[..], &fixed, name].concat();
    let central = [&b"PK\x01\x02\x14\0"[..], &fixed, &[0; 14], name].concat();
    let (length, at) = ((central.len() as u32).to_le_bytes(), (local.len() as u32).to_le_bytes());
    let end = [&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &length, &at, &[0, 0]].concat();
    [local, central, end].concat()
}

fn folder() -> Folder {
    let folder = Folder::new();
    let data = tensor::<f32>(&[2, 3], &[0., 1., 2., 3., 4., 5.]).npy();
    folder.put("a.npy", &data).put("[1].npy", &data).put("-x.npy", &data).put("empty.npy", b"");
    folder.put("d.npy", tensor::<f64>(&[2, 3], &[0.; 6]).npy()).put("v.npy", npy("|V1", &[2, 3], &[1; 6]));
    folder.put("scalar.npy", tensor::<f32>(&[], &[1.]).npy()).put("printed.npy", b"[[0. 1. 2.]\n [3. 4. 5.]]\n");
    folder.put("m.pt", zip("archive/data.pkl")).put("x.zip", zip("notes.txt"));
    folder.put("a.npy.gz", b"\x1f\x8b\x08\0").put("g.gguf", b"GGUF\x03\0\0\0").put("old.pt", b"\x80\x02\x8a\x0al");
    folder.put("m.onnx", b"\x08\x08\x12\x07pytorch\x3a\x02\x12\x01").put("rows.dat", b"a,b\n1,2\n");
    folder.put("cells", b"1,2\n3,4\n").put("empty.csv", b"");
    for name in ["prose.npy", "prose.bin"] {
        folder.put(name, b"hello world\n");
    }
    folder.put("v3.zarr.zip", zip("a/zarr.json")).put("v2.zarr.zip", zip(".zgroup"));
    folder.put("c.nc", b"CDF\x02\0\0\0\0").put("t.tif", b"II*\0\x08\0\0\0").put("t.parquet", b"PAR1\x15\x04");
    for name in ["page.npy", "page.csv"] {
        folder.put(name, b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n");
    }
    for name in ["p.safetensors", "p.csv", "p.json"] {
        folder.put(name, lfs_pointer());
    }
    // name, elem_type, tensor_values
    let tensor = [&b"\x08\x06\x10\x01\x4a\x18"[..], &[0; 24]].concat();
    folder.put("empty.pb", b"\x10\x01");
    folder.put("s.pb", [&b"\x0a\x03seq\x10\x01\x1a\x1e"[..], &tensor].concat());
    folder
}

#[test]
fn the_cure_is_named() {
    let folder = folder();
    let rows: &[(&str, &[&str])] = &[
        ("slice printed.npy --at :", &["DATA printed.npy", "printed as text", "--to npy"]),
        // what an empty file was to hold is not known, and of a pipe the command before it is
        ("slice empty.npy --at :", &["DATA empty.npy: empty, expected a tensor\n"]),
        ("info prose.npy", &["FILE prose.npy: not a tensor: begins with \"hello\"\n"]),
        ("slice prose.bin --at :", &["DATA prose.bin: not a tensor: begins with \"hello\"\n"]),
        ("info empty.csv", &["FILE empty.csv: empty, expected a tensor\n"]),
        ("info empty.npy --from npz", &["FILE empty.npy: empty, expected a tensor\n"]),
        ("slice - --at :", &["DATA (standard input)", "empty", "--to npy"]),
        ("slice [1].npy --at :", &["DATA [1].npy", "write ./[1].npy for"]),
        ("slice -x.npy --at :", &["unexpected argument '-x'", "write ./-x.npy for"]),
        ("convert a.npy b.npy", &["IN b.npy", "-o b.npy?"]),
        ("convert a.npy d.npy", &["standard output: 2 tensors", "-o d.npy?"]),
        ("slice-scatter a.npy 5 --at :", &["UPDATES 5: shape [], expected [2, 3]", "--fill 5"]),
        ("slice-scatter a.npy scalar.npy --at :", &["UPDATES scalar.npy: shape []", "--fill VALUE"]),
        ("scatter-update a.npy [0] 5 --axis 0", &["UPDATES 5: shape []", "--fill 5"]),
        ("scatter-nd a.npy [[0]] 5", &["UPDATES 5: shape []", "--fill 5"]),
        ("slice-scatter a.npy nan --at :", &["UPDATES nan: ", "--fill nan puts it in every place"]),
        ("scatter-update a.npy [0] Infinity --axis 0", &["UPDATES Infinity: ", "--fill inf puts it"]),
        ("scatter-nd a.npy [[0]] NaN", &["UPDATES NaN: ", "--fill nan puts it"]),
        ("info m.pt", &["FILE m.pt: data.pkl: pickle, byte 0: the pickle is cut off\n"]),
        ("info m.pt --from npz", &["FILE m.pt: a PyTorch file that was packed anew, with other files first"]),
        ("slice x.zip --at :", &["DATA x.zip", "ZIP archive without .npy members"]),
        ("info v3.zarr.zip", &["FILE v3.zarr.zip: a Zarr store in a ZIP archive: unpack it into a folder first\n"]),
        ("info v2.zarr.zip", &["a Zarr store in a ZIP archive"]),
        ("info c.nc", &["FILE c.nc: a netCDF file, which is not read\n"]),
        ("info t.tif", &["FILE t.tif: a TIFF image, which is not read\n"]),
        ("info t.parquet", &["FILE t.parquet: a Parquet file, which is not read\n"]),
        ("info page.npy", &["FILE page.npy: an HTML page in place of a tensor"]),
        ("info page.csv", &["FILE page.csv: an HTML page in place of a tensor"]),
        (
            "info p.safetensors",
            &["FILE p.safetensors: a Git LFS pointer in place of the file: git lfs pull fetches it\n"],
        ),
        ("info p.csv", &["FILE p.csv: a Git LFS pointer"]),
        ("info p.json", &["FILE p.json: a Git LFS pointer"]),
        ("info p.csv --from csv", &["FILE p.csv: a Git LFS pointer"]),
        ("slice a.npy.gz --at :", &["DATA a.npy.gz", "gzip"]),
        ("slice g.gguf --at :", &["DATA g.gguf", "the header goes beyond the 8 bytes of the file"]),
        ("slice old.pt --at :", &["DATA old.pt", "pickle"]),
        ("slice m.onnx --at :", &["DATA m.onnx: not an ONNX model: field 2 at byte 13 has 1 bytes, and 0 are left"]),
        ("slice s.pb --at :", &["DATA s.pb", "SequenceProto"]),
        ("info empty.pb", &["FILE empty.pb", "SequenceProto", "OptionalProto"]),
        ("slice rows.dat --at :", &["DATA rows.dat", "CSV: use --from csv --skip-rows 1"]),
        ("info cells", &["FILE cells", "CSV: use --from csv"]),
        ("slice v.npy --at :", &["|V1 cannot be printed", "-o FILE.npy", "--dtype"]),
        ("slice v.npy --at : --to json", &["|V1", "-o FILE.npy", "--dtype"]),
        ("convert v.npy --cast float32", &["IN v.npy", "|V1 is not cast to float32", "--dtype"]),
        ("scatter-nd v.npy [[0]] v.npy --reduction add", &["|V1", "--dtype"]),
        ("slice a.npy --start 0 --stop end", &["--stop end", "INT_MAX"]),
        ("slice a.npy --at : --dtype float8", &["float8_e4m3fn", "float8_e5m2", "did you mean"]),
        ("slice a.npy --at : --dtype flaot32", &["did you mean float32"]),
        ("convert a.npy --cast Int8 -o b.npy", &["did you mean int8"]),
        ("slice a.npy --at : --dtype int32", &["DATA a.npy", "float32", "int32", "--cast"]),
        ("info a.npy d.npy --dtype bf16", &["FILE a.npy", "float32", "bfloat16"]),
    ];
    // a fragment that ends in a newline is the end of the line
    let check = |(args, fragments): &&(&str, &[&str])| {
        let said = folder.refuses(words(args), &fragments.iter().map(|one| one.trim_end()).collect::<Vec<_>>())?;
        let ends = fragments.iter().filter_map(|one| one.strip_suffix('\n')).all(|end| said.trim_end().ends_with(end));
        if ends { Ok(()) } else { Err(format!("says more: {said}")) }
    };
    each(rows, |(args, _)| format!("`{args}`"), check);
}

/// Codes that are one dtype in NumPy and another elsewhere, wherever a dtype is typed; a member of that name comes first.
#[test]
fn codes_of_two_meanings() {
    let folder = folder();
    folder.run(words("convert u8=a.npy -o u8.npz")).printed().expect("an archive");
    let rows: &[(&str, &[&str])] = &[
        (
            "slice a.npy --at : --dtype f8",
            &["f8: float64 in NumPy, float8 elsewhere: say float64, <f8 or float8_e4m3fn"],
        ),
        ("convert a.npy --cast i8 -o b.npy", &["i8: int64 in NumPy, int8 elsewhere: say int64, <i8 or int8"]),
        ("convert a.npy --cast *=u8 -o b.npy", &["u8: uint64 in NumPy, uint8 elsewhere: say uint64, <u8 or uint8"]),
        ("info a.npy --dtype f16", &["f16: float128 in NumPy, float16 elsewhere: say float128, <f16 or float16"]),
        ("diff a.npy d.npy --dtype U8", &["U8: a string of 8 characters in NumPy, uint8 elsewhere: say <U8 or uint8"]),
        ("slice a.npy:u8[6]@128 --at :", &["DATA a.npy:u8[6]@128: u8: uint64 in NumPy", "say uint64, <u8 or uint8"]),
        ("slice rows.dat:f16 --at :", &["DATA rows.dat:f16: f16: float128 in NumPy", "<f16 or float16"]),
        ("slice -:i8[2] --at :", &["DATA (standard input):i8[2]: i8: int64 in NumPy", "<i8 or int8"]),
    ];
    each(rows, |(args, _)| format!("`{args}`"), |(args, fragments)| folder.refuses(words(args), fragments).map(drop));
    for args in ["show u8.npz:u8", "show a.npy:<u8@128", "convert [\"a\"] --dtype U16"] {
        folder.run(words(args)).printed().expect(args);
    }
}

/// Every message about a void says what it may be, the candidates being those of its size.
#[test]
fn voids() {
    let folder = folder();
    folder.put("v4.npy", npy("|V4", &[2], &[1; 8])).put("v3.npy", npy("|V3", &[2], &[1; 6]));
    let (one, four) =
        ("say what it is: --dtype float8_e4m3fn (or float8_{e5m2,e3m4,", "say what it is: --dtype float32 (or int32, ");
    let rows: &[(&str, &[&str])] = &[
        ("slice v.npy --at :", &[one, "}, float6_{e2m3fn,e3m2fn}, float4_e2m1fn, int4, uint4, int2, uint2)"]),
        ("convert v.npy --to csv", &["use -o FILE.npy, or", one]),
        ("convert v.npy -o b.pb", &["use -o FILE.npy, or", one]),
        ("convert v.npy -o b.safetensors", &["use -o FILE.npy, or", one]),
        ("convert v.npy --dtype float32 -o b.npy", &["dtype |V1, but --dtype says float32", one]),
        ("show v.npy", &["FILE v.npy: |V1 cannot be printed", one]),
        ("show v.npy --image -o b.png", &["dtype |V1 cannot be drawn", one]),
        ("slice-scatter v.npy --fill 1 --at :", &["--fill: an item of dtype |V1 has no text", one]),
        ("slice-scatter v.npy [[1,1,1],[1,1,1]] --at :", &["UPDATES [[1,1,1],[1,1,1]]: JSON cannot", one]),
        ("slice-scatter a.npy v.npy --at :", &["dtype |V1, expected float32", one]),
        ("scatter-update a.npy v4.npy 1 --axis 0", &["INDICES v4.npy: dtype |V4, expected integers", four]),
        ("slice a.npy --start v4.npy --stop 1", &["--start v4.npy: dtype |V4, expected integers", four]),
        ("scatter-nd v4.npy [[0]] v4.npy --reduction add", &["add is not defined for |V4", four]),
        ("convert v4.npy --cast int8 -o b.npy", &["|V4 is not cast to int8", four]),
    ];
    each(rows, |(args, _)| format!("`{args}`"), |(args, fragments)| folder.refuses(words(args), fragments).map(drop));
    let run = folder.run(words("diff v.npy a.npy"));
    assert!(String::from_utf8_lossy(&run.stdout).contains(&format!("\n  |V1: {one}")), "{run:?}");
    // no number has three bytes
    let said = folder.refuses(words("slice v3.npy --at :"), &["|V3", "use -o FILE.npy"]).expect("refused");
    assert!(!said.contains("--dtype"), "{said}");
}

/// What another tool calls a sub-command is answered with what to use, which an unknown name is not.
#[test]
fn names_of_other_tools() {
    let folder = folder();
    let rows: &[(&str, &[&str])] = &[
        ("take a.npy [0]", &["'take'", "tensorop gather DATA INDICES --axis N"]),
        ("cast a.npy", &["'cast'", "tensorop convert FILE --cast DTYPE -o OUT"]),
        ("concatenate a.npy d.npy", &["'concatenate'", "tensorop concat A.npy B.npy"]),
        ("stack a.npy d.npy", &["'stack'", "--stack"]),
        ("append a.npy d.npy", &["'append'", "tensorop concat DATA ROWS"]),
        ("permute a.npy", &["'permute'", "tensorop transpose DATA --axes"]),
        ("flatten a.npy", &["'flatten'", "tensorop reshape DATA --shape"]),
        ("chunk a.npy", &["'chunk'", "tensorop split DATA --parts N -o 'OUT-*.npy'"]),
        ("repeat a.npy", &["'repeat'", "tensorop tile DATA --repeats"]),
        ("expand a.npy", &["'expand'", "tensorop broadcast DATA --shape"]),
        ("fftshift a.npy", &["'fftshift'", "tensorop roll DATA --shift"]),
        ("stat a.npy", &["'stat'", "tensorop info FILE"]),
    ];
    each(rows, |(args, _)| format!("`{args}`"), |(args, fragments)| folder.refuses(words(args), fragments).map(drop));
}

/// Options and values that have other names in NumPy, PyTorch and ONNX, and lists that are typed as operands.
#[test]
fn words_of_other_tools() {
    let folder = folder();
    let rows: &[(&str, &[&str])] = &[
        ("scatter-nd a.npy [[0]] a.npy --reduction sum", &["invalid value 'sum'", "; use --reduction add\n"]),
        ("scatter-nd a.npy [[0]] a.npy --reduction prod", &["; use --reduction mul\n"]),
        ("scatter-elements a.npy [[0]] a.npy --reduction average", &["; use --reduction mean\n"]),
        ("scatter-nd a.npy [[0]] a.npy --reduction amax", &["; use --reduction max\n"]),
        ("pad a.npy --before 1,1 --after 1,1 --mode replicate", &["; use --mode edge\n"]),
        ("gather a.npy [0] --dim 1", &["unexpected argument '--dim'", "; use --axis\n"]),
        ("concat a.npy a.npy --axes 1", &["'--axes'", "; use --axis\n"]),
        ("transpose a.npy --perm 1,0", &["'--perm'", "; use --axes\n"]),
        ("transpose a.npy --dim=1,0", &["'--dim'", "; use --axes\n"]),
        ("tile a.npy --reps 2,1", &["'--reps'", "; use --repeats\n"]),
        ("split a.npy --sections 3 -o x-*.npy", &["'--sections'", "; use --parts\n"]),
        ("split a.npy --split_sizes 1,1 -o x-*.npy", &["'--split_sizes'", "; use --lengths\n"]),
        ("pad a.npy --width 1,1", &["'--width'", "; use --before and --after\n"]),
        ("pad a.npy --pads 1,1", &["'--pads'", "; use --before and --after\n"]),
        ("pad a.npy --pad-width 1,1", &["; use --before and --after\n"]),
        ("pad a.npy 1,1", &["; use --before 1,1 and --after 1,1\n"]),
        ("pad a.npy --before 1,1 --after 1,1 --pad-value 3", &["; use --fill\n"]),
        ("concat a.npy a.npy --new-axis", &["'--new-axis'", "; use --stack\n"]),
        ("diff a.npy d.npy --abs 1e-3", &["'--abs'", "; use --atol\n"]),
        ("diff a.npy d.npy --rel 1e-3", &["'--rel'", "; use --rtol\n"]),
        ("diff a.npy d.npy --equal-nan", &["; NaN equals NaN already: --nan-differs is the opposite\n"]),
        ("gather a.npy --index 1", &["'--index'", "; INDICES is an operand\n"]),
        ("scatter-elements a.npy --indices [[0]]", &["'--indices'", "; INDICES is an operand\n"]),
        ("scatter-elements a.npy [[0]] --src [[0]]", &["'--src'", "; UPDATES is an operand\n"]),
        ("slice a.npy --index 0", &["'--index'", "; use --at\n"]),
        ("pad a.npy --before 1,1 --after 1,1 --value 3", &["'--value'", "; use --fill\n"]),
        ("convert a.npy --astype float16 -o b.npy", &["'--astype'", "; use --cast\n"]),
        ("diff a.npy d.npy --tol 1e-3", &["'--tol'", "; use --atol\n"]),
        ("transpose a.npy 1,0", &["unexpected argument '1,0'", "; use --axes 1,0\n"]),
        ("transpose a.npy (1,0)", &["; use --axes 1,0\n"]),
        ("transpose a.npy 1 0", &["unexpected argument '1'", "; use --axes 1,0\n"]),
        ("transpose a.npy -1 0", &["; use --axes -1,0\n"]),
        ("transpose a.npy --dims 1,0", &["--dims", "got numbers; use --axes 1,0\n"]),
        ("transpose a.npy --dims 1,0 -o o.zarr", &["; use --axes 1,0\n"]),
        ("roll a.npy --shift 1 --dims 0", &["; use --axes 0\n"]),
        ("reshape a.npy 3,-1", &["; use --shape 3,-1 (the axes of --squeeze follow a '='"]),
        ("split a.npy 3 -o x-*.npy", &["; use --parts 3\n"]),
        ("slice a.npy 0:1,::2", &["; use --at 0:1,::2\n"]),
        ("gather a.npy 0,1", &["INDICES 0,1: ", "; write a list as '[0,1]'"]),
        ("gather a.npy -1,0", &["unexpected argument '-1'", "; write a list as '[-1,0]'\n"]),
        ("scatter-update a.npy [0] 1.5,2,3 --axis 0", &["UPDATES 1.5,2,3: ", "; write a list as '[1.5,2,3]'"]),
        ("slice-scatter a.npy --fill 0 --where ==nan", &["--where ==nan: ", ": use --where nan"]),
        ("slice-scatter a.npy --fill 0 --where <NaN", &["--where <NaN: ", ": use --where nan"]),
        ("slice-scatter a.npy --fill 0 --where !=nan", &["--where !=nan: ", ": use --where finite, inf or nan\n"]),
        ("slice-scatter a.npy --fill 0 --where ==None", &["--where ==None: found None", ": use --where nan\n"]),
        ("slice-scatter a.npy --fill 0 --where ==null", &["--where ==null: ", ": use --where nan\n"]),
        ("slice-scatter a.npy --fill 0 --where ==-nan", &["--where ==-nan: ", ": use --where nan\n"]),
        ("slice-scatter a.npy --fill 0 --where isnan", &["'isnan'", ": use --where nan\n"]),
    ];
    // the tip is the end of the first line
    let check = |(args, fragments): &&(&str, &[&str])| {
        let said = folder.refuses(words(args), &fragments.iter().map(|one| one.trim_end()).collect::<Vec<_>>())?;
        let first = said.lines().next().unwrap_or_default();
        let ends = fragments.iter().filter_map(|one| one.strip_suffix('\n')).all(|end| first.ends_with(end));
        if ends { Ok(()) } else { Err(format!("says more: {said}")) }
    };
    each(rows, |(args, _)| format!("`{args}`"), check);
    // no value is named that the sub-command does not have, and an operand of text may have any word
    let said =
        folder.refuses(words("scatter-nd a.npy [[0]] a.npy --reduction average"), &["'average'"]).expect("refused");
    assert!(!said.contains("mean"), "{said}");
    let run = folder.run(words("slice-scatter [\"None\",\"a\"] --fill b --where ==None"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), "1 item replaced\n"));
    assert_eq!(folder.run(words("convert a.npy --dims 0,1 -o names.zarr")).status, Some(0));
}

/// No option that is not there is answered with "use `-- -t`": nobody means an operand of that name.
#[test]
fn unknown_options() {
    let folder = folder();
    for args in ["slice a.npy -t", "slice a.npy --at : --quite", "diff a.npy d.npy --tolerence 1", "info a.npy -x"] {
        let said = folder.refuses(words(args), &["unexpected argument"]).expect(args);
        assert!(!said.contains("-- "), "{args}: {said}");
    }
}

#[test]
fn diff_of_two_dtypes() {
    let folder = folder();
    let run = folder.run(["diff", "a.npy", "d.npy"]);
    let expected = "different: dtype float64, expected float32\n  --ignore-dtype compares the values\n";
    assert_eq!((run.status, String::from_utf8_lossy(&run.stdout).as_ref()), (Some(1), expected));
    let run = folder.run(["diff", "a.npy", "d.npy", "-q"]);
    assert_eq!(String::from_utf8_lossy(&run.stdout), "different: dtype float64, expected float32\n");
}

/// `--dtype` reads what is ambiguous and leaves alone what has a dtype of its own; names of neighbours are taken.
#[test]
fn dtype_of_some_operands() {
    let folder = folder();
    folder
        .put("bits.npy", npy("<u2", &[2], &[0x80, 0x3f, 0, 0x40]))
        .put("wide.npy", npy("|V4", &[1], &[0, 0, 0x80, 0x3f]));
    let rows = [
        ("convert f=a.npy v=v.npy --dtype F8_E4M3 -o x.npz --dry-run", "IN v.npy: float8_e4m3fn [2, 3]"),
        ("convert f=a.npy v=v.npy --dtype F8_E4M3 -o x.npz --dry-run", "IN a.npy: float32 [2, 3]"),
        ("convert f=a.npy b=bits.npy --dtype bf16 -o x.npz --dry-run", "IN bits.npy: bfloat16 [2]"),
        ("convert wide.npy --dtype FLOAT --to json", "{\"dtype\": \"float32\", \"shape\": [1], \"data\": [1.0]}"),
        ("diff [1,2] bits.npy --dtype BF16", "equal: 2 items of bfloat16 [2]"),
        ("slice-scatter a.npy [[9,9,9]] --at :1 --dtype f32", "[[9. 9. 9.]\n [3. 4. 5.]]"),
        ("slice [1,2] --at : --dtype I8 --to json", "{\"dtype\": \"int8\", \"shape\": [2], \"data\": [1, 2]}"),
        ("slice [1,2] --at : --dtype <i8 --to json", "{\"dtype\": \"int64\", \"shape\": [2], \"data\": [1, 2]}"),
        ("slice-scatter a.npy --fill nan --at :1", "[[nan nan nan]\n [ 3.  4.  5.]]"),
        ("slice-scatter a.npy --fill -inf --at :1", "[[-inf -inf -inf]\n [  3.   4.   5.]]"),
        ("slice-scatter a.npy --fill=inf --at :1", "[[inf inf inf]\n [ 3.  4.  5.]]"),
        (
            "slice-scatter [\"abc\"] --fill nan --at : --to json",
            "{\"dtype\": \"<U3\", \"shape\": [1], \"data\": [\"nan\"]}",
        ),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed.contains(expected) { Ok(()) } else { Err(printed) }
        },
    );
}

/// Each bad file has its line, and the others are described.
#[test]
fn info_goes_on() {
    let folder = folder();
    let run = folder.run(["info", "none.npy", "a.npy", "empty.npy", "d.npy"]);
    let said: Vec<_> = run.stderr.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(": ")).collect();
    assert_eq!(said, ["error: FILE none.npy", "error: FILE empty.npy"]);
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    assert_eq!((run.status, shown.lines().count()), (Some(2), 3), "{shown}");
    assert!(shown.contains("a.npy") && shown.contains("d.npy"), "{shown}");
}

/// A rename would ask the folder only: a file that may not be written is left, as `cp` leaves it. The superuser may
/// write all files, and asks as somebody else.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_may_not_be_written() {
    let folder = folder();
    let script = "chmod 777 . && echo kept > kept.npy && chmod 444 kept.npy
        as() { if [ \"$(id -u)\" = 0 ]; then chroot --userspec=65534:65534 --groups= --skip-chdir / \"$@\"; else \"$@\"; fi; }
        as test -x \"$T\" || { echo skipped; exit 0; }
        as \"$T\" slice a.npy --at : -o kept.npy; echo \"status $?\"; as \"$T\" slice a.npy --at : -o kept.npy --dry-run; cat kept.npy";
    let run = folder.script(script);
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    if shown == "skipped\n" {
        crate::common::skip("nobody may run the program");
        return;
    }
    assert_eq!(shown, "status 2\nkept\n", "{}", run.stderr);
    let refused = "error: output kept.npy: is not replaced: Permission denied (os error 13)\n";
    assert_eq!(run.stderr, refused.repeat(2));
}

/// What is left of an edit that a signal ends is said.
#[test]
#[cfg(target_os = "linux")]
fn an_edit_that_is_interrupted() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::Duration;

    use crate::common::{binary, send, stop_ignoring_signals};
    use rustix::process::Signal;

    let folder = Folder::new();
    let items = 1 << 27;
    let header = crate::common::header("|u1", false, &[items]);
    folder.put("big.npy", crate::common::npy_with_header(&header, b""));
    let file = std::fs::OpenOptions::new().write(true).open(folder.path("big.npy")).expect("a file");
    let length = file.metadata().expect("a file").len() + items as u64;
    file.set_len(length).expect("a sparse file");
    stop_ignoring_signals();
    let mut told = 0;
    for signal in [Signal::INT, Signal::TERM] {
        // sooner or later it comes between the first byte and the last
        for delay in [300, 100, 600, 50, 1000] {
            let mut command = std::process::Command::new(binary());
            command.args(words("slice-scatter big.npy --fill 1 --at : -i")).env("TENSOROP_WINDOW", "4096");
            command.current_dir(folder.path("")).stderr(Stdio::piped());
            let child = command.spawn().expect("the program starts");
            std::thread::sleep(Duration::from_millis(delay));
            send(&child, signal);
            let output = child.wait_with_output().expect("an end");
            let said = String::from_utf8_lossy(&output.stderr);
            if said.starts_with("error: DATA big.npy: is partly changed: ") {
                assert_eq!((said.lines().count(), output.status.signal()), (1, Some(signal.as_raw())), "{said}");
                told += 1;
                break;
            }
        }
    }
    assert_eq!(told, 2);
}
