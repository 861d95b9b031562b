//! `tensorop split`: ONNX Split and OpenVINO Split-1 and VariadicSplit-1 from the command line. It has several outputs, so it is
//! not in the tables of `operators.rs`. Each output is what `slice` makes, which these tables test.

use crate::common::{Folder, Refusal, difference, divisions, each, header, npy, npy_with_header, npz, tensor, words};
use crate::operators::{DTYPES, forms};

/// A folder with `d.npy`, int32 [2, 3].
fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder
}

fn run(folder: &Folder, args: &str) -> Result<String, String> {
    folder.run(words(args)).printed().map_err(|why| format!("{args}: {why}"))
}

/// The names in a folder that begin so, in order.
fn names(folder: &Folder, begin: &str) -> Vec<String> {
    let names = folder.names().into_iter().map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(begin)).collect()
}

/// Checks that a command of DATA `-`, which is piped, or of a file, makes `o-0.npy` and so on, one for each of these files.
fn gives(folder: &Folder, args: &[String], stdin: Option<&[u8]>, expected: &[Vec<u8>]) -> Result<(), String> {
    for division in divisions() {
        names(folder, "o-").iter().for_each(|name| std::fs::remove_file(folder.path(name)).expect("a file"));
        let args = args.iter().cloned().chain(words(&format!("-o o-*.npy --threads {}", division.threads)));
        let at = |why: String| format!("{division:?}: {why}");
        let printed = folder.run_with(args, division.window, stdin).printed().map_err(at)?;
        let found = names(folder, "o-");
        if !printed.is_empty() || found.len() != expected.len() {
            return Err(at(format!("made {found:?}, printed {printed:?}")));
        }
        for (name, expected) in found.iter().zip(expected) {
            if folder.get(name) != *expected {
                return Err(at(format!("{name}: {}", difference(&folder.get(name), expected))));
            }
        }
    }
    Ok(())
}

/// What is cut how, and the slices that the outputs are, of a tensor of shape [2, 3, 2].
const CUTS: [(&str, &[&str]); 6] = [
    ("--parts 2", &[":1", "1:"]),
    ("--parts 2 --axis 1", &[":,:2", ":,2:"]),
    ("--parts 1 --axis -1", &[":"]),
    ("--parts 3", &[":1", "1:2", "2:"]),
    ("--lengths 1,-1 --axis 1", &[":,:1", ":,1:"]),
    ("--lengths 0,1,-1,0 --axis [-1]", &["...,:0", "...,:1", "...,1:", "...,2:"]),
];

/// What `slice` makes for each cut of DATA.
fn slices(folder: &Folder, data: &str, slices: &[&str]) -> Vec<Vec<u8>> {
    let slice = |at: &&str| {
        run(folder, &format!("slice {data} --at {at} -o expected.npy")).expect("a slice");
        folder.get("expected.npy")
    };
    slices.iter().map(slice).collect()
}

/// Every class of dtype in every byte order and order of storage, from a file and from standard input.
#[test]
fn every_dtype_in_every_order() {
    let folder = Folder::new();
    each(
        DTYPES.iter().flat_map(|dtype| CUTS.iter().map(move |cut| (*dtype, *cut))).enumerate(),
        |(_, ((descr, ..), (options, _)))| format!("{options} of {descr}"),
        |(row, ((descr, size, word), (options, cut)))| {
            // of each byte order, one order of storage, and the other in the next row
            for is_big in [false, true].into_iter().take(if *word == 1 { 1 } else { 2 }) {
                let fortran = is_big != (row % 2 == 1);
                let items = (0..12 * size).map(|n| if *descr == "'|b1'" { n % 2 } else { n * 7 + 1 } as u8);
                let descr = if is_big { descr.replace('<', ">") } else { (*descr).to_owned() };
                let head = header("DESCR", fortran, &[2, 3, 2]).replace("'DESCR'", &descr);
                folder.put("d.npy", npy_with_header(&head, &items.collect::<Vec<u8>>()));
                let expected = slices(&folder, "d.npy", cut);
                gives(&folder, &words(&format!("split d.npy {options}")), None, &expected)?;
                gives(&folder, &words(&format!("split - {options}")), Some(&folder.get("d.npy")), &expected)?;
            }
            Ok(())
        },
    );
}

#[test]
fn every_form_of_data() {
    let folder = Folder::new();
    let floats: Vec<f32> = (0_u8..12).map(f32::from).collect();
    folder.put("x.npy", tensor(&[2, 3, 2], &floats).npy());
    let expected = slices(&folder, "x.npy", CUTS[1].1);
    let mut forms = forms(&folder, &[2, 3, 2]);
    forms.push(("x.npy:float32[2,3,2]@128".to_owned(), None));
    each(
        forms,
        |(name, stdin)| format!("`{name}`, {} bytes piped", stdin.as_ref().map_or(0, Vec::len)),
        |(name, stdin)| {
            let args: Vec<String> = ["split", name].map(str::to_owned).into_iter().chain(words(CUTS[1].0)).collect();
            gives(&folder, &args, stdin.as_deref(), &expected)
        },
    );
    // lists of lengths, and the axis, are files as well
    folder.put("lengths.json", "[2, -1]").put("lengths.npy", npy("|i1", &[2], &[0xff, 1]));
    folder.put("axis.npy", tensor::<i64>(&[], &[1]).npy());
    for lengths in ["lengths.json", "lengths.npy", "2,1", "[2,1]"] {
        let args = words(&format!("split x.npy --lengths {lengths} --axis axis.npy"));
        assert_eq!(gives(&folder, &args, None, &expected), Ok(()), "{lengths}");
    }
}

/// The numbers of files are as wide as the last.
#[test]
fn names_of_files() {
    let rows: [(&str, &[&str]); 10] = [
        ("--parts 2 -o o-*.npy", &["o-0.npy", "o-1.npy"]),
        ("--parts 1 -o o-*.npy", &["o-0.npy"]),
        ("--parts 2 -o *o.npy", &["0o.npy", "1o.npy"]),
        ("--parts 2 -o o* --to json", &["o0", "o1"]),
        ("--lengths 1,0,-1 -o ./o-*.json", &["o-0.json", "o-1.json", "o-2.json"]),
        (
            "--parts 10 -o o*.pb",
            &["o0.pb", "o1.pb", "o2.pb", "o3.pb", "o4.pb", "o5.pb", "o6.pb", "o7.pb", "o8.pb", "o9.pb"],
        ),
        (
            "--parts 11 -o o-*",
            &["o-00", "o-01", "o-02", "o-03", "o-04", "o-05", "o-06", "o-07", "o-08", "o-09", "o-10"],
        ),
        ("--parts 2 -o o-*.npz", &["o-0.npz", "o-1.npz"]),
        #[cfg(feature = "zarr")]
        ("--parts 2 -o o-*.zarr", &["o-0.zarr", "o-1.zarr"]),
        ("--parts 2 -o in/o-*.npy", &["in"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let folder = folder();
            std::fs::create_dir(folder.path("in")).expect("a folder");
            let more = if args.ends_with("o-*") { "--to npy" } else { "" };
            run(&folder, &format!("split d.npy {args} {more}"))?;
            let mut found: Vec<String> = names(&folder, "").into_iter().filter(|name| name != "d.npy").collect();
            found.retain(|name| name != "in" || args.contains("in/"));
            let inside: Vec<String> = folder.tree("in").into_keys().collect();
            let is_right = found == *expected && (inside == ["o-0.npy", "o-1.npy"] || !args.contains("in/"));
            if is_right { Ok(()) } else { Err(format!("{found:?} {inside:?}")) }
        },
    );
}

/// Each output in every format, as a file of its own and beside the others.
#[test]
fn every_form_of_the_output() {
    let folder = folder();
    let slices = [("left.npy", ":,:2"), ("right.npy", ":,2:")];
    slices
        .iter()
        .for_each(|(name, at)| drop(run(&folder, &format!("slice d.npy --at {at} -o {name}")).expect("a slice")));
    let same = |[left, right]: [String; 2]| -> Result<(), String> {
        run(&folder, &format!("diff left.npy {left} -q"))?;
        run(&folder, &format!("diff right.npy {right} -q")).map(drop)
    };
    let mut endings = vec![("npy", ["", ""]), ("npz", ["", ""]), ("safetensors", ["", ""]), ("pb", ["", ""])];
    endings.extend([("json", ["", ""]), ("bin", [":int32[2,2]", ":int32[2,1]"])]);
    let stores = if cfg!(feature = "zarr") { &["zarr"][..] } else { &[] };
    endings.extend(stores.iter().map(|&ending| (ending, ["", ""])));
    each(
        endings,
        |(ending, _)| (*ending).to_owned(),
        |(ending, views)| {
            run(&folder, &format!("split d.npy --lengths 2,1 --axis 1 -o o-*.{ending}"))?;
            same([0, 1].map(|n| format!("o-{n}.{ending}{}", views[n])))?;
            // over what is there
            run(&folder, &format!("split d.npy --lengths -1,1 --axis -1 -o o-*.{ending}"))?;
            same([0, 1].map(|n| format!("o-{n}.{ending}{}", views[n])))
        },
    );
    each(
        ["npz", "safetensors", "safetensors.index.json"].iter().chain(stores),
        |ending| (**ending).to_owned(),
        |ending| {
            run(&folder, &format!("split d.npy --parts 2 --axis 1 -o all.{ending}"))?;
            same([0, 1].map(|n| format!("all.{ending}:{n}")))?;
            run(&folder, &format!("split d.npy --parts 2 --axis 1 --names q,in/k -o named.{ending}"))?;
            same(["q", "in/k"].map(|name| format!("named.{ending}:{name}")))?;
            let members = run(&folder, &format!("info --members named.{ending}"))?;
            let mut members: Vec<&str> = members.lines().collect();
            members.sort_unstable();
            if members == ["in/k", "q"] { Ok(()) } else { Err(format!("{members:?}")) }
        },
    );
    // one part has a name, too
    for ending in ["npz", "safetensors"].iter().chain(stores) {
        run(&folder, &format!("split left.npy --parts 1 --names x -o one.{ending}")).expect("split");
        run(&folder, &format!("diff left.npy one.{ending}:x -q")).expect(ending);
    }
    // to standard output, as one container
    for format in ["npz", "safetensors"] {
        let piped = folder.run(words(&format!("split d.npy --parts 2 --axis 1 --to {format}"))).stdout;
        folder.put("piped", piped);
        assert_eq!(same(["piped:0", "piped:1"].map(str::to_owned)), Ok(()), "{format}");
    }
    // numbers of members are as wide as the last, so that their order is that of the axis
    run(&folder, "tile d.npy --repeats 6,1 -o long.npy").expect("tiled");
    run(&folder, "split long.npy --parts 12 -o all.npz").expect("split");
    let expected: Vec<String> = (0..12).map(|n| format!("{n:02}")).collect();
    assert_eq!(run(&folder, "info --members all.npz").expect("names").lines().collect::<Vec<_>>(), expected);
}

/// What travels beside the items goes to each output: metadata, attributes, names of dimensions, chunks.
#[cfg(feature = "zarr")]
#[test]
fn what_is_beside_the_items() {
    let folder = folder();
    run(&folder, "convert w=d.npy -o m.safetensors --metadata k=v").expect("written");
    run(&folder, "split m.safetensors --parts 2 --names a,b -o two.safetensors").expect("split");
    run(&folder, "split m.safetensors:w --parts 2 -o o-*.safetensors").expect("split");
    for name in ["two.safetensors", "o-0.safetensors", "o-1.safetensors"] {
        let info = run(&folder, &format!("info {name} --json")).expect("JSON");
        assert!(info.replace(' ', "").contains(r#""k":"v""#), "{name}: {info}");
    }
    run(&folder, "convert d.npy -o d.zarr --chunks 1,2 --dims time,lat --codec gzip:3").expect("written");
    run(&folder, "split d.zarr --lengths 1,2 --axis 1 -o o-*.zarr").expect("split");
    for (name, dims) in [("o-0.zarr", "[2, 1]"), ("o-1.zarr", "[2, 2]")] {
        let info = run(&folder, &format!("info {name}")).expect("a table");
        let has = |text: &str| info.contains(text);
        assert!(has(dims) && has("codec gzip:3") && has("dims time,lat"), "{name}: {info}");
    }
}

/// DATA may be a file that an output replaces.
#[test]
fn over_its_data() {
    let folder = folder();
    let expected = slices(&folder, "d.npy", &[":1", "1:"]);
    for data in ["o-0.npy", "o-1.npy"] {
        names(&folder, "o-").iter().for_each(|name| std::fs::remove_file(folder.path(name)).expect("a file"));
        folder.put(data, folder.get("d.npy"));
        assert_eq!(run(&folder, &format!("split {data} --parts 2 -o o-*.npy")), Ok(String::new()));
        assert_eq!([folder.get("o-0.npy"), folder.get("o-1.npy")], expected[..], "{data}");
    }
    run(&folder, "convert x=d.npy -o m.npz").expect("written");
    run(&folder, "split m.npz --parts 2 --names x,y -o m.npz").expect("split");
    assert_eq!(run(&folder, "info --members m.npz"), Ok("x\ny\n".to_owned()));
    run(&folder, "diff m.npz:y o-1.npy -q").expect("equal");
    // in files of their own they have its name
    run(&folder, "split m.npz:x --parts 2 -o y-*.npz").expect("split");
    assert_eq!(run(&folder, "info --members y-1.npz"), Ok("x\n".to_owned()));
    // beside it another tensor would be lost
    folder.refuses(words("split m.npz:x --parts 1 --names x -o m.npz"), &["m.npz", "would be lost"]).expect("refused");
}

#[test]
fn a_thousand_outputs() {
    let folder = Folder::new();
    let numbers: Vec<i32> = (0..1000).collect();
    folder.put("d.npy", tensor(&[1000], &numbers).npy());
    for division in divisions() {
        let args = words(&format!("split d.npy --parts 1000 -o o-*.npy --threads {}", division.threads));
        assert_eq!(folder.run_with(args, division.window, None).printed(), Ok(String::new()));
        for n in &numbers {
            assert_eq!(folder.get(format!("o-{n:03}.npy")), tensor(&[1], &[*n]).npy(), "{n}");
        }
        assert_eq!(folder.names().len(), 1001);
    }
    run(&folder, "split d.npy --parts 1000 -o all.npz").expect("split");
    assert_eq!(run(&folder, "info --members all.npz").expect("names").lines().count(), 1000);
}

/// Where one output cannot be made, none is, and what was there before stays.
#[test]
fn all_or_none() {
    let folder = folder();
    folder.put("o-0.npy", "before").put("o-1.npy", "before").put("k-1.npy", "before").put("o-1.json", "before");
    folder.put("void.npy", npy("|V3", &[2], &[7; 6])).put("cut.npy", &folder.get("d.npy")[..151]);
    folder.put("two.npz", npz(&[("a", folder.get("d.npy")), ("b", folder.get("d.npy"))]));
    std::fs::create_dir(folder.path("f-1.npy")).expect("a folder");
    let rows: [Refusal; 8] = [
        ("split d.npy --parts 2 -o f-*.npy", &["output f-1.npy: is a folder, expected a file"]),
        ("split d.npy --parts 2 -o f-*.npy --no-clobber", &["output f-1.npy"]),
        ("split d.npy --parts 2 -o k-*.npy --no-clobber", &["output k-1.npy: exists, and --no-clobber keeps it"]),
        ("split void.npy --parts 2 -o o-*.json", &["output o-0.json", "V3"]),
        ("split cut.npy --parts 2 -o o-*.npy", &["DATA cut.npy", "23 bytes", "expected 24"]),
        ("split - --parts 2 -o o-*.npy", &["DATA (standard input): empty"]),
        ("split two.npz --parts 2 -o o-*.npy", &["DATA two.npz: holds 2 tensors"]),
        ("split two.npz:a --parts 2 --names a,c -o two.npz", &["output two.npz", "would be lost"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| {
            folder.refuses(words(args), fragments)?;
            folder.refuses(words(&format!("{args} --dry-run")), fragments).map(drop)
        },
    );
    // a stream that ends early is noticed when it is read
    let (args, whole) = (words("split - --parts 2 -o o-*.npy"), folder.get("d.npy"));
    let run = folder.run_with(args, None, Some(&whole[..whole.len() - 1]));
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.starts_with("error: DATA (standard input): ") && run.stderr.contains("23 bytes"), "{run:?}");
    assert_eq!((folder.get("o-0.npy"), folder.get("o-1.npy")), (b"before".to_vec(), b"before".to_vec()));
}

/// More files at once than the process may have: none is left.
#[cfg(target_os = "linux")]
#[test]
fn too_many_files() {
    let folder = Folder::new();
    folder.put("d.npy", tensor(&[200], &[7_u8; 200]).npy());
    let run = folder.script("ulimit -n 60; $T split d.npy --parts 200 -o 'o-*.npy'");
    assert_eq!((run.status, run.stdout.as_slice()), (Some(2), &b""[..]));
    assert!(run.stderr.starts_with("error: output o-0") && run.stderr.contains("(os error 24)"), "{run:?}");
    assert_eq!(folder.names().len(), 1, "{:?}", folder.names());
    // in one container they are as many as one
    let run = folder.script("ulimit -n 60; $T split d.npy --parts 200 -o o.npz && $T info --members o.npz | wc -l");
    assert_eq!(run.printed().map(|count| count.trim().to_owned()), Ok("200".to_owned()));
}

#[test]
fn dry_runs() {
    let folder = folder();
    let begin = "split (ONNX Split, OpenVINO Split-1, VariadicSplit-1)\n  DATA d.npy: int32 [2, 3]\n  axis 0 of 2: all 2\n  \
                 axis 1 of 3: 2 from 0 to 1 by 1\n  axis 0 of 2: all 2\n  axis 1 of 3: 2\n";
    let rows = [
        (
            "-o o-*.npy",
            "  output o-0.npy: npy of int32 [2, 2], 16 bytes of data\n  output o-1.npy: npy of int32 [2, 1], 8 bytes of data\n",
        ),
        (
            "-o o.npz --names a,b",
            "  output o.npz: \"a\": npz of int32 [2, 2], 16 bytes of data\n  output o.npz: \"b\": npz of int32 [2, 1], 8 bytes \
             of data\n",
        ),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, outputs)| {
            let before = folder.content();
            let args = format!("split d.npy --parts 2 --axis 1 {args}");
            let said = run(&folder, &format!("{args} --dry-run"))?;
            if said != format!("{begin}{outputs}") {
                return Err(said);
            }
            let plans = run(&folder, &format!("{args} --explain --threads 1"))?;
            if !plans.starts_with(&said) || plans.matches("    DATA d.npy: along the output").count() != 2 {
                return Err(plans);
            }
            let plans = run(&folder, &format!("{args} --explain --json"))?;
            let plans: serde_json::Value = serde_json::from_str(&plans).map_err(|error| error.to_string())?;
            let written: Vec<_> = [0, 1].iter().map(|&n: &usize| plans[n]["cost"]["bytes_written"].clone()).collect();
            if written != [16, 8] {
                return Err(format!("{plans}"));
            }
            if folder.content() == before { Ok(()) } else { Err("wrote something".to_owned()) }
        },
    );
}

#[test]
fn refused() {
    let folder = folder();
    folder.put("f.npy", tensor::<f32>(&[2], &[0.; 2]).npy()).put("o-0.npy", "before").put("o.npz", npz(&[]));
    let to = "-o o-*.npy";
    let rows: [(String, &[&str]); 27] = [
        ("split d.npy --parts 2".to_owned(), &["standard output: holds one tensor", "-o 'OUT-*.npy'", "-o OUT.npz"]),
        ("split d.npy --parts 2 -o o.npy".to_owned(), &["output o.npy: holds one tensor", "-o 'OUT-*.npy'"]),
        ("split d.npy --parts 2 -o o-*-*.npy".to_owned(), &["output o-*-*.npy: holds one tensor"]),
        ("split d.npy --parts 2 -o *.npy/o.npy".to_owned(), &["output *.npy/o.npy"]),
        ("split d.npy --parts 2 -o o-*.no".to_owned(), &["output o-*.no: the name does not show the format"]),
        (
            "split d.npy --parts 2 -o o-*.safetensors.index.json".to_owned(),
            &["output o-*.safetensors.index.json", "index"],
        ),
        ("split d.npy --parts 2 -o https://localhost/o-*.npy".to_owned(), &["https://localhost/o-*.npy"]),
        (format!("split d.npy {to}"), &["required", "--parts", "--lengths"]),
        (format!("split d.npy --parts 2 --lengths 1,1 {to}"), &["--parts", "--lengths", "cannot be used with"]),
        (format!("split d.npy --parts 0 {to}"), &["--parts: 0, expected 1 to 65536"]),
        (format!("split d.npy --parts=-1 {to}"), &["--parts: -1, expected 1 to 65536"]),
        (format!("split d.npy --parts 65537 {to}"), &["--parts: 65537, expected 1 to 65536"]),
        (format!("split d.npy --parts x {to}"), &["--parts", "'x'"]),
        (format!("split d.npy --parts 2 --axis 2 {to}"), &["--axis: 2 is outside [-2, 1] (data [2, 3])"]),
        (format!("split d.npy --parts 2 --axis 0,1 {to}"), &["--axis: 2 integers, expected one"]),
        (format!("split 7 --parts 2 {to}"), &["DATA 7: rank 0, expected at least 1 axis"]),
        (format!("split d.npy --lengths 1,2 {to}"), &["--lengths: [1, 2] are 3 places, expected 2 (axis 0 of [2, 3])"]),
        (
            format!("split d.npy --lengths 3,-1 {to}"),
            &["--lengths: [3, -1] are 3 places and the rest, expected at most 2"],
        ),
        (format!("split d.npy --lengths=-1,-1 {to}"), &["--lengths: 2 rests, expected one at most"]),
        (format!("split d.npy --lengths=4,-2 {to}"), &["--lengths: -2, expected 0 or more, or -1 for the rest"]),
        (format!("split d.npy --lengths INT_MAX,INT_MAX {to}"), &["--lengths", "18446744073709551614 places"]),
        (format!("split d.npy --lengths f.npy {to}"), &["--lengths", "f.npy", "float32", "integers"]),
        (format!("split d.npy --parts 2 --names a,b {to}"), &["--names: only for tensors of a container"]),
        ("split d.npy --parts 2 --names a -o o.npz".to_owned(), &["--names: 1 name, expected 2"]),
        ("split d.npy --parts 2 --names a,a -o o.npz".to_owned(), &["--names", "a twice"]),
        (format!("split d.npy --parts 2 --part 1/2 {to}"), &["--part: not with split, whose outputs appear together"]),
        (format!("split d.npy --parts 2 --in-place {to}"), &["--in-place"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| {
            folder.refuses(words(args), fragments)?;
            folder.refuses(words(&format!("{args} --dry-run")), fragments).map(drop)
        },
    );
}
