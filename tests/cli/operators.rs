//! What holds of every operator, whatever it computes. An operator is described by a [`Spec`], and has all the tests of this
//! file. What only one operator does is tested in the file of its name.

use std::fs;
use std::path::Path;

use tensorop::internal::formats::npy::write_header;
use tensorop::item::meta::Meta;

use crate::common::specs::with_operators;
use crate::common::{
    DEFAULT, Folder, SPECS, Spec, ZERO, each, header, is_letter, npy, npy_with_header, npz, places_in, tensor,
    to_fortran, words,
};

/// Gives each operator its tests, in a module of its name.
macro_rules! tests {
    ($($module:ident $spec:ident;)+) => {
        $(mod $module {
            use crate::common::specs::$spec;

            #[test]
            fn every_dtype_in_every_order() {
                super::every_dtype_in_every_order(&$spec);
            }

            #[test]
            fn every_form_of_operands() {
                super::every_form_of_operands(&$spec);
            }

            #[test]
            fn every_form_of_the_output() {
                super::every_form_of_the_output(&$spec);
            }

            #[test]
            fn dry_runs() {
                super::dry_runs(&$spec);
            }

            #[test]
            fn refused() {
                super::refused(&$spec);
            }
        })+
    };
}
with_operators!(tests);

#[test]
fn every_operator_is_here() {
    let help = Folder::new().run(["-h"]).printed().expect("help");
    let (_, list) = help.split_once("\nOperators:\n").expect("a list of operators");
    let (list, _) = list.split_once("\n\n").expect("an end of the list");
    let lines = list.lines().filter_map(|line| line.strip_prefix("  "));
    let listed: Vec<_> = lines.filter_map(|line| line.split(' ').next().filter(|name| !name.is_empty())).collect();
    assert_eq!(listed, SPECS.iter().map(|spec| spec.operator).collect::<Vec<_>>());
}

/// Each operator is in all files in which CONTRIBUTING.md says that a new one belongs.
#[test]
fn every_operator_is_where_the_guide_says() {
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        // and what lies in a folder of its name
        let below =
            fs::read_dir(path.with_extension("")).into_iter().flatten().map(|entry| entry.expect("an entry").path());
        let texts = std::iter::once(path.clone()).chain(below).map(fs::read_to_string);
        texts.collect::<Result<String, _>>().map_err(|error| format!("{}: {error}", path.display()))
    };
    let guide = read("CONTRIBUTING.md").expect("the guide");
    let (_, list) = guide.split_once("\nOutside the source, a new operator belongs in these files").expect("a list");
    let (list, _) = list.split_once("\nA rule that is its own goes").expect("an end of the list");
    let first_cells = list.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let paths: Vec<&str> =
        first_cells.flat_map(|cell| cell.split('`').step_by(2)).filter(|path| path.contains('.')).collect();
    assert!((15..=20).contains(&paths.len()), "{paths:?}");
    each(
        SPECS.iter().flat_map(|spec| paths.iter().map(move |path| (spec, *path))),
        |(spec, path)| format!("{} in {path}", spec.operator),
        |(spec, path)| {
            let (name, snake) = (spec.operator, spec.operator.replace('-', "_"));
            let file = path.replace("NAME", if path.ends_with(".rs") { &snake } else { name });
            let text = read(&file)?;
            let is_word = |word: &str| word == name || word == snake;
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').any(is_word);
            let is_for_all = !path.contains("onnx") || spec.title.contains("ONNX");
            if words || !is_for_all { Ok(()) } else { Err("is not named there".to_owned()) }
        },
    );
}

/// The classes of dtypes: each as a header of `.npy` names it, the bytes of an item, and those of a number in it.
pub(crate) const DTYPES: [(&str, usize, usize); 22] = [
    ("'|b1'", 1, 1),
    ("'|i1'", 1, 1),
    ("'<i2'", 2, 2),
    ("'<u2'", 2, 2),
    ("'<f2'", 2, 2),
    ("'<V2'", 2, 1),
    ("'<i4'", 4, 4),
    ("'<f4'", 4, 4),
    ("'<u8'", 8, 8),
    ("'<f8'", 8, 8),
    ("'<c8'", 8, 4),
    ("'<c16'", 16, 8),
    ("'<f16'", 16, 16),
    ("'|S3'", 3, 1),
    ("'|S17'", 17, 1),
    ("'<U2'", 8, 4),
    ("'<M8[ns]'", 8, 8),
    ("'<m8[25s]'", 8, 8),
    ("'|V3'", 3, 1),
    ("'|V0'", 0, 1),
    ("[('a', '<i4'), ('b', '|S2')]", 6, 1),
    ("[('x', '>f8', (2,)), ('y', '|u1')]", 17, 1),
];

/// The bytes of an item. A bool has no others than 0 and 1.
fn item(number: usize, (descr, size, _): (&str, usize, usize)) -> Vec<u8> {
    match number {
        DEFAULT if descr.contains("M8") || descr.contains("m8") => i64::MIN.to_le_bytes().to_vec(),
        ZERO | DEFAULT => vec![0; size],
        _ if descr == "'|b1'" => vec![(number % 2) as u8],
        _ => (0..size).map(|byte| ((number * size + byte) * 7 + number + 1) as u8).collect(),
    }
}

/// Runs a command that prints nothing, or only what it wrote.
fn run(folder: &Folder, args: &[String], more: &str) -> Result<String, String> {
    folder.run(args.iter().cloned().chain(words(more))).printed().map_err(|why| format!("{args:?} {more}: {why}"))
}

/// Every class of dtype, in every mixture of byte orders and of orders of storage, from files and from standard input: no bit
/// changes, and the output has the dtype and the byte order of A. Standard input is another operand, or none, from one
/// mixture and row to the next.
#[track_caller]
fn every_dtype_in_every_order(spec: &Spec) {
    let folder = Folder::new();
    each(
        DTYPES
            .iter()
            .enumerate()
            .flat_map(|(n, dtype)| spec.rows.iter().enumerate().map(move |(at, row)| (n + at, *dtype, row))),
        |(_, (descr, ..), row)| format!("`{}` of {descr}", row.args),
        |&(at, dtype @ (descr, size, word), row)| {
            let letters: Vec<&str> = row.operands().filter(|operand| is_letter(operand)).collect();
            let swapped = |bytes: Vec<u8>| bytes.chunks(word).flat_map(|number| number.iter().rev().copied()).collect();
            let ordered = |items: Vec<u8>, is_big: bool| if is_big { swapped(items) } else { items };
            for mixture in 0..1 << (2 * letters.len()) {
                let is_big = |n: usize| mixture >> (2 * n) & 1 == 1;
                if word == 1 && (0..letters.len()).any(is_big) {
                    continue;
                }
                let head = |is_big: bool, fortran: bool, shape: &[usize]| {
                    let descr = if is_big { descr.replace('<', ">") } else { descr.to_owned() };
                    header("DESCR", fortran, shape).replace("'DESCR'", &descr)
                };
                for (n, letter) in letters.iter().enumerate() {
                    let (_, shape, first) = spec.operand(letter);
                    let fortran = mixture >> (2 * n + 1) & 1 == 1;
                    let count = shape.iter().product::<usize>();
                    let items =
                        ordered((first..first + count).flat_map(|number| item(number, dtype)).collect(), is_big(n));
                    let stored = if fortran { to_fortran(&items, shape, size) } else { items };
                    let file = npy_with_header(&head(is_big(n), fortran, shape), &stored);
                    folder.put(format!("{}.npy", letter.to_lowercase()), file);
                }
                let items = row.items.iter().flat_map(|&number| item(number, dtype)).collect();
                // the header is byte for byte NumPy's
                let plain = npy_with_header(&head(is_big(0), false, &[0]), &[]);
                let meta =
                    Meta::c_order(tensorop::read_bytes(&plain).expect("a dtype").dtype().clone(), row.dims.to_vec());
                let expected = [write_header(&meta), ordered(items, is_big(0))].concat();
                let piped = match (at + mixture + (mixture >> 1)) % (letters.len() + 1) {
                    0 => None,
                    n => Some(letters[n - 1]),
                };
                let stdin = piped.map(|letter| folder.get(format!("{}.npy", letter.to_lowercase())));
                let named: Vec<_> = piped.iter().map(|letter| (*letter, "-")).collect();
                let args = spec.args(row, &named);
                let why = |why| format!("{args:?}, mixture {mixture}: {why}");
                folder.gives(&args, stdin.as_deref(), &expected).map_err(why)?;
            }
            Ok(())
        },
    );
}

/// A name of an operand, and standard input if that is its name.
pub(crate) type Form = (String, Option<Vec<u8>>);

/// The forms that a tensor of a row can have, other than a `.npy` file in C order, which is `x.npy`.
pub(crate) fn forms(folder: &Folder, dims: &[usize]) -> Vec<Form> {
    let chunks = vec!["2"; dims.len()].join(",");
    let store = format!("x.zarr --chunks {chunks}");
    for output in ["x.npz", "z.npz --compress", "x.safetensors", "x.pb", "x.json", &store, "f.npy --order F"] {
        // a member has a name
        let is_container = output.contains(".npz") || output == "x.safetensors";
        let input = if is_container { "x=x.npy" } else { "x.npy" };
        run(folder, &words(&format!("convert {input} -o {output}")), "").expect("a file");
    }
    let json = folder.get("x.json");
    let files = ["x.npz", "x.npz:x", "z.npz:x", "x.safetensors:x", "x.pb", "x.json", "x.zarr", "f.npy"];
    let piped = [folder.get("x.npy"), folder.get("f.npy"), json.clone()];
    let files = files.map(|name| (name.to_owned(), None)).into_iter();
    let inline = String::from_utf8(json).expect("JSON").trim_end().to_owned();
    files.chain(piped.map(|stdin| ("-".to_owned(), Some(stdin)))).chain([(inline, None)]).collect()
}

/// Each operand of the first row and each list of any row in every form, and INDICES of every row in every dtype that can hold
/// them.
#[track_caller]
fn every_form_of_operands(spec: &Spec) {
    let (folder, row) = (Folder::new(), &spec.rows[0]);
    spec.put(row, &folder);
    let expected = row.output();
    for operand in row.operands() {
        let mut rows: Vec<(String, Option<Vec<u8>>, &str)> = Vec::new();
        if is_letter(operand) {
            let floats = spec.floats(operand);
            folder.put("x.npy", floats.npy());
            rows.extend(forms(&folder, &floats.shape).into_iter().map(|(name, stdin)| (name, stdin, "")));
            let raw = format!("x.npy:float32{:?}@128", floats.shape).replace(' ', "");
            rows.push((raw, None, ""));
            rows.push((floats.json(), None, "--dtype float32"));
            rows.push(("-".to_owned(), Some(floats.json().into_bytes()), "--dtype float32"));
        } else {
            run(&folder, &words(&format!("convert {operand} -o x.npy")), "").expect("integers");
            let shape = tensorop::read(folder.path("x.npy")).expect("indices").shape().to_vec();
            rows.extend(forms(&folder, &shape).into_iter().map(|(name, stdin)| (name, stdin, "")));
            rows.push(("-".to_owned(), Some(operand.as_bytes().to_vec()), ""));
        }
        each(
            rows,
            |(name, stdin, _)| format!("{operand} is `{name}`, {} bytes piped", stdin.as_ref().map_or(0, Vec::len)),
            |(name, stdin, more)| {
                let args: Vec<_> = spec.args(row, &[(operand, name)]).into_iter().chain(words(more)).collect();
                folder.gives(&args, stdin.as_deref(), &expected)
            },
        );
    }
    // lists of options are read from files in the same way
    for row in spec.rows {
        spec.put(row, &folder);
        let line = format!("{} {}", spec.operator, row.args);
        for place in places_in(&line).into_iter().skip(row.operands().count()) {
            let at = words(&place).iter().position(|word| word == "FILE").expect("the place of the list");
            let list = words(&line).swap_remove(at);
            run(&folder, &words(&format!("convert [{list}] -o x.npy")), "").expect("a list");
            each(
                forms(&folder, &[list.split(',').count()])
                    .into_iter()
                    .filter(|(name, stdin)| stdin.is_none() && !name.starts_with('{')),
                |(name, _)| place.replace("FILE", name),
                |(name, _)| {
                    let mut args = spec.args(row, &[]);
                    args[at].clone_from(name);
                    folder.gives(&args, None, &row.output())
                },
            );
        }
    }
    let mut is_unsigned = false;
    for (row, operand) in spec.rows.iter().flat_map(|row| row.operands().map(move |operand| (row, operand))) {
        if is_letter(operand) {
            continue;
        }
        spec.put(row, &folder);
        for dtype in ["int8", ">i2", "int32", ">i8", "uint8", "<u2", ">u4", "uint64"] {
            let has_sign = !dtype.contains('u');
            if has_sign || !operand.contains('-') {
                run(&folder, &words(&format!("convert {operand} -o x.npy --cast {dtype}")), "").expect("integers");
                let why = folder.gives(&spec.args(row, &[(operand, "x.npy")]), None, &row.output());
                assert_eq!(why, Ok(()), "`{}` with indices of {dtype}", row.args);
                is_unsigned |= !has_sign;
            }
        }
    }
    let has_indices = row.operands().any(|operand| !is_letter(operand));
    assert!(is_unsigned || !has_indices, "no row has INDICES without a sign");
}

/// The output of the first row in every format, to a file and to standard output, over an operand, in place and in parts.
#[track_caller]
fn every_form_of_the_output(spec: &Spec) {
    let (folder, row) = (Folder::new(), &spec.rows[0]);
    spec.put(row, &folder);
    let (args, expected) = (spec.args(row, &[]), row.output());
    folder.put("expected.npy", &expected);
    let piped = folder.get("a.npy");
    for (args, stdin) in [(args.clone(), None), (spec.args(row, &[("A", "-")]), Some(piped.as_slice()))] {
        each(
            ["npy", "npz", "safetensors", "pb", "json", "text"],
            |format| format!("{args:?} to {format}"),
            |format| {
                let args: Vec<_> = args.iter().cloned().chain(words(&format!("--to {format} -o -"))).collect();
                let run = folder.always(&args, stdin)?;
                run.printed()?;
                if *format != "npy" || run.stdout == expected { Ok(()) } else { Err("another tensor".to_owned()) }
            },
        );
    }
    let raw = format!("o.bin:float32{:?}", row.dims).replace(' ', "");
    each(
        ["o.npy", "o.npz", "o.safetensors", "o.pb", "o.json", "o.zarr", &raw],
        |name| (*name).to_owned(),
        |name| {
            let (file, _) = name.split_once(':').unwrap_or((name, ""));
            run(&folder, &args, &format!("-o {file}"))?;
            run(&folder, &words(&format!("diff expected.npy {name} -q")), "").map(drop)
        },
    );
    for operand in row.operands().filter(|operand| is_letter(operand)) {
        folder.put("over.npy", spec.floats(operand).npy());
        run(&folder, &spec.args(row, &[(operand, "over.npy")]), "-o over.npy").expect("replaced");
        assert!(folder.get("over.npy") == expected, "over {operand}");
    }
    if spec.in_place {
        folder.put("edited.npy", spec.floats("A").npy());
        let args = spec.args(row, &[("A", "edited.npy")]);
        run(&folder, &args, "-i --dry-run").expect("a report");
        assert!(folder.get("edited.npy") == spec.floats("A").npy(), "a dry run changes nothing");
        run(&folder, &args, "-i").expect("edited");
        assert!(folder.get("edited.npy") == expected, "in place");
    }
    let (chunks, shape) = (vec!["2"; row.dims.len()].join(","), spec.floats("A").shape);
    folder.put("f.npy", spec.floats("A").npy_fortran());
    run(&folder, &words("convert a.npy -o a.zarr --chunks"), &vec!["2"; shape.len()].join(",")).expect("a store");
    for (n, data) in ["a.npy", "f.npy", "a.zarr"].into_iter().enumerate() {
        let args = spec.args(row, &[("A", data)]);
        for (one, parts, more) in
            [("o.npy", "parts", ".npy"), ("one.zarr", "parts", &*format!(".zarr --chunks {chunks}"))]
        {
            let parts = format!("{parts}{n}{more}");
            run(&folder, &args, &format!("-o {one} {}", more.trim_start_matches(".npy").trim_start_matches(".zarr")))
                .expect("whole");
            for part in 1..=3 {
                run(&folder, &args, &format!("-o {parts} --part {part}/3")).expect("a part");
            }
            run(&folder, &args, &format!("-o {parts} --finish 3")).expect("finished");
            let file = parts.split(' ').next().expect("a name");
            assert!(folder.tree(file) == folder.tree(one), "{data} in parts to {file}");
        }
    }
    #[cfg(unix)]
    {
        let args = spec.args(row, &[("A", "-")]).join("' '");
        let run = folder.script(&format!("cat a.npy | $T '{args}' --to npy | $T diff expected.npy - -q"));
        assert!(run.printed().is_ok_and(|verdict| verdict.starts_with("equal: ")), "through pipes");
    }
}

/// A dry run says what would be done, and does nothing.
#[track_caller]
fn dry_runs(spec: &Spec) {
    each(
        spec.rows,
        |row| format!("`{}`", row.args),
        |row| {
            let folder = Folder::new();
            spec.put(row, &folder);
            let before = folder.content();
            let operand = |operand: &str| {
                let file = if is_letter(operand) { operand.to_lowercase() + ".npy" } else { operand.to_owned() };
                let (dtype, shape) = if is_letter(operand) {
                    ("float32", spec.operand(operand).1.to_vec())
                } else {
                    ("int64", tensorop::read_bytes(operand.as_bytes()).expect("indices").shape().to_vec())
                };
                format!("  {} {file}: {dtype} {shape:?}\n", spec.name_of(operand))
            };
            let expected = format!(
                "{} ({})\n{}  {}\n  output o.npy: npy of float32 {:?}, {} bytes of data\n",
                spec.operator,
                spec.title,
                row.operands().map(operand).collect::<String>(),
                row.report,
                row.dims,
                4 * row.items.len()
            );
            let said = run(&folder, &spec.args(row, &[]), "-o o.npy --dry-run")?;
            if said != expected {
                return Err(format!("{said}expected {expected}"));
            }
            if folder.content() == before { Ok(()) } else { Err("wrote something".to_owned()) }
        },
    );
}

/// Operands that no operator takes, and options that not every operator has: with and without `--dry-run` the same is said.
#[track_caller]
fn refused(spec: &Spec) {
    let (folder, row) = (Folder::new(), &spec.rows[0]);
    spec.rows.iter().for_each(|row| spec.put(row, &folder));
    let list = tensor(&[2], &[1.0_f32, 2.0]).npy();
    folder.put("two.npz", npz(&[("data", list), ("more", tensor(&[2, 1], &[1_i64, 2]).npy())]));
    let operands: Vec<&str> = row.operands().collect();
    let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for (n, operand) in operands.iter().enumerate() {
        let mut refused = |file: &str, fragments: &[&str]| {
            let fragments = [spec.name_of(operand)].into_iter().chain(fragments.iter().copied()).map(str::to_owned);
            rows.push((spec.args(row, &[(operand, file)]), fragments.collect()));
        };
        refused("missing.npy", &["missing.npy", "(os error 2)"]);
        refused("two.npz", &["two.npz", "holds 2 tensors"]);
        refused("two.npz:dat", &["two.npz:dat", "did you mean \"data\"?"]);
        refused("-", &["standard input", "empty"]);
        let whole = if is_letter(operand) {
            spec.floats(operand).npy()
        } else {
            run(&folder, &words(&format!("convert {operand} -o i.npy")), "").expect("indices");
            let shape = tensorop::read(folder.path("i.npy")).expect("indices").shape().to_vec();
            let count = shape.iter().product::<usize>();
            folder.put("floats.npy", npy("<f4", &shape, &vec![0; 4 * count]));
            folder.put("bools.npy", npy("|b1", &shape, &vec![0; count]));
            refused("floats.npy", &["floats.npy", "float32", "integers"]);
            refused("bools.npy", &["bools.npy", "bool", "integers"]);
            let digit = operand.find(|c: char| c.is_ascii_digit()).expect("a number");
            refused(&format!("{}0.5{}", &operand[..digit], &operand[digit + 1..]), &["0.5"]);
            folder.get("i.npy")
        };
        let (cut, length) = (format!("cut-{n}.npy"), whole.len() - 128);
        folder.put(&cut, &whole[..whole.len() - 1]);
        refused(&cut, &[&cut, &format!("{} bytes", length - 1), &format!("expected {length}")]);
    }
    for row in spec.rows {
        let line = format!("{} {}", spec.operator, row.args);
        for place in places_in(&line).into_iter().skip(row.operands().count()) {
            let at = words(&place).iter().position(|word| word == "FILE").expect("the place of the list");
            let option = words(&place).swap_remove(at - 1);
            for (file, fragment) in [
                ("missing.npy", "neither a list of integers"),
                ("two.npz", "holds 2 tensors"),
                ("two.npz:dat", "did you mean \"data\"?"),
                ("two.npz:data", "float32, expected integers"),
                ("two.npz:more", "expected "),
            ] {
                let mut args = spec.args(row, &[]);
                args[at] = file.to_owned();
                rows.push((args, [option.as_str(), file, fragment].map(str::to_owned).into()));
            }
        }
    }
    if let [first, second, ..] = operands[..] {
        let fragments = [spec.name_of(second), "standard input", "one operand"].map(str::to_owned);
        rows.push((spec.args(row, &[(first, "-"), (second, "-")]), fragments.into()));
    }
    let with = |more: &str| spec.args(row, &[]).into_iter().chain(words(more)).collect::<Vec<_>>();
    if !spec.in_place {
        rows.push((with("--in-place"), vec!["--in-place".to_owned()]));
    }
    rows.push((with("--no-such-option"), vec!["--no-such-option".to_owned()]));
    rows.push((vec![spec.operator.to_owned()], vec![spec.name_of(operands[0]).to_owned()]));
    each(
        rows,
        |(args, _)| format!("{args:?}"),
        |(args, fragments)| {
            let fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
            folder.put("o.npy", "what was there before");
            for more in ["-o o.npy", "-o o.npy --dry-run"] {
                folder.refuses(args.iter().cloned().chain(words(more)), &fragments)?;
            }
            Ok(())
        },
    );
    // what a format cannot hold is said before anything is written
    let void = |letter: &&'static str| (*letter, format!("void-{}.npy", letter.to_lowercase()));
    let named: Vec<_> = operands.iter().filter(|operand| is_letter(operand)).map(void).collect();
    for (letter, file) in &named {
        let (_, shape, _) = spec.operand(letter);
        folder.put(file, npy("|V3", shape, &vec![7; 3 * shape.iter().product::<usize>()]));
    }
    let named: Vec<_> = named.iter().map(|(letter, file)| (*letter, file.as_str())).collect();
    folder.put("o.json", "what was there before");
    let args = spec.args(row, &named).into_iter().chain(words("-o o.json"));
    folder.refuses(args, &["V3"]).expect("a refusal");
}
