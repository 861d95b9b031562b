//! `tensorop reshape`: Reshape, Squeeze, Unsqueeze and Flatten of ONNX and OpenVINO from the command line.

use crate::common::{
    Example, Folder, each, examples, header, npy, npy_with_header, npz, prints, refusals, tensor, words,
};

/// ONNX's own tests of the four operators, and the examples of Reshape-1, Squeeze-0 and Unsqueeze-0.
#[test]
fn examples_of_onnx_and_openvino() {
    let rows: [(&[usize], &str, &[usize]); 24] = [
        (&[2, 3, 4], "--shape 4,2,3", &[4, 2, 3]),
        (&[2, 3, 4], "--shape 2,12", &[2, 12]),
        (&[2, 3, 4], "--shape 24", &[24]),
        (&[2, 3, 4], "--shape 2,-1,2", &[2, 6, 2]),
        (&[2, 3, 4], "--shape -1,2,3,4", &[1, 2, 3, 4]),
        (&[2, 3, 4], "--shape 2,0,4,1", &[2, 3, 4, 1]),
        (&[2, 3, 4], "--shape 2,0,1,-1", &[2, 3, 1, 4]),
        (&[0, 3, 4], "--shape 3,4,0 --allow-zero", &[3, 4, 0]),
        (&[2, 5, 5, 0], "--shape 0,4 --allow-zero", &[0, 4]),
        (&[5, 0, 5, 0], "--shape 0,0,5", &[5, 0, 5]),
        (&[1, 3, 4, 5], "--squeeze=0", &[3, 4, 5]),
        (&[1, 3, 1, 5], "--squeeze=-2", &[1, 3, 5]),
        (&[1, 3, 1, 2], "--squeeze=0,2", &[3, 2]),
        (&[1, 3, 1, 2], "--squeeze", &[3, 2]),
        (&[1], "--squeeze=[0]", &[]),
        (&[3, 4, 5], "--unsqueeze 1", &[3, 1, 4, 5]),
        (&[3, 4, 5], "--unsqueeze 1,4", &[3, 1, 4, 5, 1]),
        (&[3, 4, 5], "--unsqueeze 5,4,2", &[3, 4, 1, 5, 1, 1]),
        (&[2, 3], "--unsqueeze [0,3]", &[1, 2, 3, 1]),
        (&[], "--unsqueeze 0", &[1]),
        (&[2, 3, 4, 5], "--flatten 0", &[1, 120]),
        (&[2, 3, 4, 5], "--flatten 2", &[6, 20]),
        (&[2, 3, 4, 5], "--flatten 4", &[120, 1]),
        (&[5, 4, 3, 2], "--flatten -3", &[5, 24]),
    ];
    let example = |(shape, options, dims): (&[usize], &str, &[usize])| {
        let items: Vec<f32> = (0..shape.iter().product::<usize>()).map(|n| n as f32).collect();
        Example::of("reshape", tensor(shape, &items), options, tensor(dims, &items))
    };
    examples(rows.map(example).into());
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[1, 2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("dims.npy", tensor::<i64>(&[2], &[-1, 2]).npy()).put("axes.json", "[0]");
    folder.put("axis.npy", tensor::<i64>(&[], &[-1]).npy()).put("zero.npy", tensor::<i32>(&[], &[7]).npy());
    folder.put("bf16.npy", npy("<V2", &[1, 2], &[0x80, 0x3f, 0x40, 0xc0]));
    let pairs = "int32 [3, 2] [[0, 1], [2, 3], [4, 5]]";
    let rows = [
        ("reshape d.npy --shape 3,2", pairs),
        ("reshape d.npy --shape 3,-1", pairs),
        ("reshape d.npy --shape=[-1,2]", pairs),
        ("reshape d.npy --shape dims.npy", pairs),
        ("reshape d.npy --shape -1", "int32 [6] [0, 1, 2, 3, 4, 5]"),
        ("reshape d.npy --squeeze", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("reshape d.npy --squeeze=axes.json", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("reshape d.npy --squeeze=", "int32 [1, 2, 3] [[[0, 1, 2], [3, 4, 5]]]"),
        ("reshape --squeeze d.npy", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("reshape d.npy --flatten axis.npy", "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]"),
        ("reshape zero.npy --shape 1,1", "int32 [1, 1] [[7]]"),
        ("reshape [[7]] --shape=", "int64 [] 7"),
        ("reshape [] --shape 3,0 --allow-zero", "float64 [3, 0] [[], [], []]"),
        (r#"reshape ["a","xyz"] --unsqueeze 0"#, r#"<U3 [1, 2] [["a", "xyz"]]"#),
        ("reshape [1,0] --unsqueeze -1 --dtype uint8", "uint8 [2, 1] [[1], [0]]"),
        ("reshape bf16.npy --flatten 0", "bfloat16 [1, 2] [[1.0, -3.0]]"),
    ];
    prints(&folder, &rows);
}

/// From a Zarr store into one: where only dims of 1 come and go, chunks and names stay with their axes.
#[test]
fn from_zarr_to_zarr() {
    let folder = Folder::new();
    let items: Vec<i32> = (0..5 * 7 * 3).map(|n| if n < 42 { n } else { 0 }).collect();
    folder.put("d.npy", tensor::<i32>(&[5, 1, 7, 3], &items).npy());
    let run = |args: &str| folder.run(words(args)).printed().expect(args);
    for (name, more) in [("plain", "--codec none"), ("packed", "--codec zstd"), ("shards", "--shards 4,1,4,2")] {
        run(&format!("convert d.npy -o {name}.zarr --chunks 2,1,4,1 --dims time,level,lat,lon {more}"));
        for (options, says) in [
            ("--squeeze", &[r#""dimension_names":["time","lat","lon"]"#, "[2,4,1]"][..]),
            ("--unsqueeze 0", &[r#""dimension_names":[null,"time",null,"lat","lon"]"#, "[1,2,1,4,1]"]),
            ("--shape 7,15", &[r#""dimension_names":null"#, "[7,15]"]),
            ("--shape -1", &[r#""dimension_names":null"#, "[105]"]),
        ] {
            for threads in [1, 3] {
                run(&format!("reshape {name}.zarr {options} -o t.zarr --threads {threads}"));
                run(&format!("reshape d.npy {options} -o t.npy"));
                run("diff t.npy t.zarr -q");
                let info = run("info t.zarr --json").replace(": ", ":").replace(", ", ",");
                says.iter().for_each(|says| assert!(info.contains(says), "{name} {options}: {info}"));
            }
        }
        run(&format!("reshape {name}.zarr --shape 7,15 --chunks 3,4 -o t.zarr"));
        run("reshape d.npy --shape 7,15 -o t.npy");
        run("diff t.npy t.zarr -q");
    }
}

/// Only the header changes, in as many bytes, and only if no item would have to move.
#[test]
fn in_place() {
    let folder = Folder::new();
    let items: Vec<f32> = (0..24_u8).map(f32::from).collect();
    let data = tensor::<f32>(&[2, 1, 3, 4], &items);
    let rows: [(&str, bool, &[usize], bool); 9] = [
        ("--shape 4,6", false, &[4, 6], false),
        ("--shape -1", false, &[24], false),
        ("--squeeze", false, &[2, 3, 4], false),
        ("--flatten 2", false, &[2, 12], false),
        ("--unsqueeze 0,-1", false, &[1, 2, 1, 3, 4, 1], false),
        ("--shape 0,0,0,0", false, &[2, 1, 3, 4], false),
        ("--squeeze", true, &[2, 3, 4], true),
        ("--unsqueeze 0,-1", true, &[1, 2, 1, 3, 4, 1], true),
        ("--shape 2,3,1,4", true, &[2, 3, 1, 4], true),
    ];
    each(
        rows,
        |(options, fortran, ..)| format!("{options}, Fortran order {fortran}"),
        |&(options, fortran, dims, stays_fortran)| {
            folder.put("c.npy", data.npy());
            let order = if fortran { "F" } else { "C" };
            folder.run(words(&format!("convert c.npy --order {order} -o d.npy"))).printed()?;
            let file = folder.get("d.npy");
            folder.run(words(&format!("reshape d.npy {options} -o wanted.npy"))).printed()?;
            folder.run(words(&format!("reshape d.npy {options} --in-place --dry-run"))).printed()?;
            assert_eq!(folder.get("d.npy"), file, "a dry run changes nothing");
            let said = folder.run(words(&format!("reshape d.npy {options} --in-place"))).printed()?;
            let found = folder.get("d.npy");
            assert_eq!((said.as_str(), found.len(), &found[128..]), ("", file.len(), &file[128..]));
            let text = String::from_utf8_lossy(&found[10..128]).into_owned();
            let order = if stays_fortran { "True" } else { "False" };
            let tuple = format!("{dims:?}").replace('[', "(").replace(']', if dims.len() == 1 { ",)" } else { ")" });
            let wanted = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {tuple}, }}");
            if text.trim_end() != wanted || !text.ends_with('\n') {
                return Err(format!("{text:?}, expected {wanted:?}"));
            }
            folder.run(words("diff wanted.npy d.npy -q")).printed().map(drop)
        },
    );
    // one axis or no item: both orders are the same, so that any shape will do
    for (shape, options) in [(&[1, 24][..], "--shape 4,6"), (&[24], "--shape 2,-1")] {
        let head = header("<f4", true, shape) + &" ".repeat(20);
        folder.put("d.npy", npy_with_header(&head, &data.npy()[128..]));
        folder.run(words(&format!("reshape d.npy {options} -i"))).printed().expect("a header");
        assert!(folder.get("d.npy").ends_with(&data.npy()[128..]));
        let shown = folder.run(words("info d.npy --json")).printed().expect("a file");
        assert!(shown.contains("\"order\": \"C\"") || shown.contains("\"C\""), "{shown}");
    }
    // a header as another program writes it keeps its place
    folder.put("h.npy", npy_with_header("{'shape': (2, 3), 'fortran_order': False, 'descr': '|u1'}", b"abcdef"));
    folder.run(words("reshape h.npy --shape 6 -i")).printed().expect("a header");
    assert_eq!(
        folder.run(words("reshape h.npy --shape 6 --to json")).printed().as_deref(),
        Ok("{\"dtype\": \"uint8\", \"shape\": [6], \"data\": [97, 98, 99, 100, 101, 102]}\n")
    );
    assert!(folder.get("h.npy").ends_with(b"\nabcdef"));
}

#[test]
fn refused_in_place() {
    let folder = Folder::new();
    let data = tensor::<f32>(&[2, 3], &[0., 1., 2., 3., 4., 5.]);
    folder.put("d.npy", data.npy()).put("f.npy", data.npy_fortran()).put("d.json", data.tagged());
    folder.put("w.npz", npz(&[("d", data.npy())])).put("raw.bin", [0; 24]);
    folder.put("tight.npy", npy_with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }", b"abcdef"));
    // dims across the end of a page: a long dtype of fields before them
    let wide = |names: usize| {
        let fields: Vec<String> = (0..names).map(|n| format!("('a{n:03}', '|u1')")).collect();
        format!("{{'descr': [{}], 'fortran_order': False, 'shape': (1, 2, 1, 3, 1, 1), }}", fields.join(", "))
    };
    let at = |names| wide(names).find("(1, 2").expect("the dims") + 10;
    let names = (1..400).find(|&names| at(names) > 4096 - 20).expect("a long header");
    let blanks = " ".repeat(4096 - 4 - at(names));
    let head = wide(names).replace(", 'shape'", &format!(",{blanks} 'shape'"));
    folder.put("pages.npy", npy_with_header(&(head + &" ".repeat(64)), &vec![0; 6 * names]));
    folder.run(words("convert d.npy -o z.zarr")).printed().expect("a store");
    folder.run(words("convert d.npy -o s.safetensors")).printed().expect("a file");
    let rows: [(&str, &[&str]); 14] = [
        ("reshape f.npy --shape 3,2 -i", &["DATA f.npy", "Fortran order", "[2, 3]", "[3, 2]", "use -o"]),
        ("reshape f.npy --shape -1 -i", &["DATA f.npy", "Fortran order", "use -o"]),
        (
            "reshape d.npy --unsqueeze 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25 -i",
            &["DATA d.npy", "128 bytes", "no room", "use -o"],
        ),
        ("reshape tight.npy --shape 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6 -i", &["no room"]),
        ("reshape pages.npy --shape 6,1,1,1,1,1 -i", &["DATA pages.npy", "two pages", "use -o"]),
        ("reshape d.npy --shape 4,2 -i", &["--shape", "8 items, expected 6"]),
        ("reshape d.npy:float32[6]@128 --shape 2,3 -i", &["header of a .npy", "raw"]),
        ("reshape raw.bin:float32[6] --shape 2,3 -i", &["header of a .npy", "raw"]),
        ("reshape s.safetensors --shape 6 -i", &["header of a .npy", "safetensors"]),
        ("reshape z.zarr --shape 6 -i", &["header of a .npy", "zarr"]),
        ("reshape w.npz --shape 6 -i", &["--in-place", ".npz"]),
        ("reshape d.json --shape 6 -i", &["--in-place"]),
        ("reshape - --shape 6 -i", &["--in-place changes a file"]),
        ("reshape [1,2] --shape 2,1 -i", &["--in-place changes a file"]),
    ];
    each(rows, |(args, _)| format!("`{args}`"), |(args, fragments)| folder.refuses(words(args), fragments).map(drop));
    for (option, value) in [("-o", "x.npy"), ("--part", "1/2"), ("--dims", "a"), ("--to", "npy")] {
        let args = words("reshape d.npy --shape 6 -i").into_iter().chain([option.to_owned(), value.to_owned()]);
        folder.refuses(args, &["cannot be used with", option]).expect(option);
    }
}

#[test]
fn dry_runs_in_place() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    let run = folder.run(words("reshape d.npy --shape 3,-1 --dry-run -i"));
    let expected = "\
reshape (ONNX Reshape, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0)
  DATA d.npy: int32 [2, 3]
  shape [3, 2]
  output: 4 bytes of the header of 128 changed in place
";
    assert_eq!(run.printed().as_deref(), Ok(expected));
    assert_eq!(folder.names().len(), 1);
    // one byte is counted as one
    folder.put("none.npy", tensor::<i32>(&[1, 0], &[]).npy());
    let said = folder.run(words("reshape none.npy --shape 2,0 --allow-zero -i --dry-run")).printed().expect("said");
    assert!(said.ends_with("  output: 1 byte of the header of 128 changed in place\n"), "{said}");
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("f.npy", tensor::<f32>(&[2], &[0.; 2]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("one.npy", tensor::<i32>(&[1, 3], &[0; 3]).npy());
    let rows: [(&str, &[&str]); 23] = [
        ("reshape d.npy", &["--shape", "--squeeze", "--unsqueeze", "--flatten"]),
        ("reshape d.npy --shape 6 --squeeze", &["--shape", "--squeeze"]),
        ("reshape d.npy --squeeze --allow-zero", &["--allow-zero"]),
        ("reshape d.npy --squeeze 0,-1", &["unexpected argument '0,-1'", "--squeeze=0"]),
        ("reshape d.npy --shape -1,-1", &["--shape", "-1 at positions 0 and 1"]),
        ("reshape d.npy --shape -2,3", &["--shape", "-2 at position 0"]),
        ("reshape d.npy --shape 4,-1", &["--shape", "6 items are not a multiple of 4"]),
        ("reshape d.npy --shape 7", &["--shape", "[7]: 7 items, expected 6", "[2, 3]"]),
        ("reshape d.npy --shape=", &["--shape", "[]: 1 item, expected 6"]),
        ("reshape d.npy --shape 0,0,0", &["--shape", "0 at position 2", "--allow-zero"]),
        ("reshape d.npy --shape 0,6 --allow-zero", &["--shape", "0 items, expected 6"]),
        ("reshape d.npy --shape 0,-1 --allow-zero", &["--shape", "beside a 0"]),
        ("reshape [] --shape 9223372036854775807,0 --allow-zero", &["output out.npy: more bytes than can be counted"]),
        ("reshape none.npy --shape 0,0,-1", &["--shape", "-1 at position 2 beside a 0"]),
        ("reshape d.npy --shape 4611686018427387904,4611686018427387904,0", &["--shape", "0 at position 2"]),
        (
            "reshape d.npy --shape 4611686018427387904,4611686018427387904",
            &["--shape", "more items than can be counted"],
        ),
        ("reshape d.npy --squeeze=0", &["--squeeze", "axis 0 has dim 2, expected 1"]),
        ("reshape one.npy --squeeze=0,-2", &["--squeeze", "axis 0 is named twice"]),
        ("reshape one.npy --squeeze=2", &["--squeeze", "axis 2", "[-2, 1]"]),
        ("reshape d.npy --unsqueeze 3", &["--unsqueeze", "axis 3", "[-3, 2]"]),
        ("reshape d.npy --unsqueeze 0,0", &["--unsqueeze", "axis 0 is named twice"]),
        ("reshape d.npy --flatten 3", &["--flatten", "axis 3", "[-2, 2]"]),
        ("reshape d.npy --flatten 0,1", &["--flatten", "2 integers, expected one"]),
    ];
    refusals(&folder, &rows);
}
