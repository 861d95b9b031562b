//! Operands in every form that the program takes, results in every form that it prints, and windows that end anywhere: all
//! of it must say the same as `.npy` files do with the program's own windows, which `random.rs` checks against plain loops.

use crate::common::{self, DIVISIONS, Division, Folder, Item, Member, difference, rounds, words};
use crate::random::Random;

/// The forms of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Npy,
    Npz,
    Safetensors,
    Onnx,
    Csv,
    /// A JSON file that says its dtype.
    Tagged,
    /// A JSON list in a file.
    Json,
    /// A JSON list that is typed as the operand.
    Typed,
    /// Bytes behind five others.
    Raw,
    PipedNpy,
    PipedJson,
    PipedRaw,
}

const FILES: [Form; 9] =
    [Form::Npy, Form::Npz, Form::Safetensors, Form::Onnx, Form::Csv, Form::Tagged, Form::Json, Form::Typed, Form::Raw];
const PIPES: [Form; 3] = [Form::PipedNpy, Form::PipedJson, Form::PipedRaw];
/// The forms that are edited in place.
const EDITED: [Form; 3] = [Form::Npy, Form::Safetensors, Form::Raw];

/// Returns a tensor of random items. It is a list or a table without a dim of 0, as CSV can be.
fn filled<T: Item>(random: &mut Random, dims: &[usize], item: impl Fn(&mut Random) -> T) -> common::Tensor<T> {
    let items: Vec<T> = (0..dims.iter().product()).map(|_| item(random)).collect();
    common::tensor(dims, &items)
}

/// An operand as it is typed, after what it names has been put into a folder, and what is piped.
struct Operand {
    typed: String,
    stdin: Option<Vec<u8>>,
}

impl Operand {
    fn new<T: Item>(folder: &Folder, name: &str, tensor: &common::Tensor<T>, form: Form) -> Self {
        let file = |ending: &str, content: Vec<u8>| {
            folder.put(format!("{name}.{ending}"), content);
            format!("{name}.{ending}")
        };
        let view = format!("{}{:?}@5", T::NAME, tensor.shape).replace(' ', "");
        let raw = || [vec![0xee; 5], tensor.bytes()].concat();
        let member = || Member { name: "t", dtype: T::NAME, shape: &tensor.shape, items: tensor.bytes() };
        let columns = tensor.shape.get(1).copied();
        let (typed, stdin) = match form {
            // CSV of one column is a list
            Form::Csv if columns == Some(1) => return Self::new(folder, name, tensor, Form::Tagged),
            Form::Npy => (file("npy", tensor.npy()), None),
            Form::Npz => (file("npz", common::npz(&[("t", tensor.npy())])) + ":t", None),
            Form::Safetensors => (file("safetensors", common::safetensors(&[member()])) + ":t", None),
            Form::Onnx => (file("pb", common::pb(member())), None),
            Form::Csv => {
                let rows = tensor.items.chunks(columns.unwrap_or(1));
                let row = |row: &[T]| row.iter().map(T::to_string).collect::<Vec<_>>().join(",") + "\n";
                (file("csv", rows.map(row).collect::<String>().into_bytes()), None)
            }
            Form::Tagged => (file("tagged.json", tensor.tagged().into_bytes()), None),
            Form::Json => (file("json", tensor.json().into_bytes()), None),
            Form::Typed => (tensor.json(), None),
            Form::Raw => (format!("{}:{view}", file("bin", raw())), None),
            Form::PipedNpy => ("-".to_owned(), Some(tensor.npy())),
            Form::PipedJson => ("-".to_owned(), Some(tensor.tagged().into_bytes())),
            Form::PipedRaw => (format!("-:{view}"), Some(raw())),
        };
        Self { typed, stdin }
    }
}

/// An operator with its operands, whose results are lists and tables.
struct Case<T> {
    operator: &'static str,
    data: common::Tensor<T>,
    indices: Option<common::Tensor<i64>>,
    updates: Option<common::Tensor<T>>,
    options: String,
}

impl<T: Item> Case<T> {
    fn new(random: &mut Random, item: impl Fn(&mut Random) -> T) -> Self {
        let dims = [1 + random.below(5), 1 + random.below(5)];
        let data = filled(random, &dims, &item);
        let (count, k) = (1 + random.below(6), 1 + random.below(2));
        let tuples = |random: &mut Random| {
            let numbers: Vec<i64> = (0..count * k)
                .map(|n| {
                    let dim = dims[n % k] as i64;
                    random.within(-dim..dim)
                })
                .collect();
            common::tensor(&[count, k], &numbers)
        };
        let (operator, indices, updates, options) = match random.below(11) {
            0 => ("slice", None, None, *random.of(&["::-1", ":, ::-1", "::2, ::-1", "-1:, :", "..., :1"])),
            1 => {
                let (at, places) =
                    *random.of(&[(":, ::-1", dims), ("::-1, :1", [dims[0], 1]), (":1, :", [1, dims[1]])]);
                ("slice-scatter", None, Some(filled(random, &places, &item)), at)
            }
            2 => ("gather-nd", Some(tuples(random)), None, ""),
            3 => {
                let (axis, shape) = *random.of(&[(0, "--axis=0"), (1, "--axis=1")]);
                let dim = dims[axis] as i64;
                let numbers: Vec<i64> = (0..1 + random.below(6)).map(|_| random.within(-dim..dim)).collect();
                ("gather", Some(common::tensor(&[numbers.len()], &numbers)), None, shape)
            }
            operator @ 6..10 => match operator {
                6 => (
                    "pad",
                    None,
                    None,
                    *random.of(&["--before=1,0 --after=0,9 --mode=wrap", "--before=0,2 --after=1,1"]),
                ),
                7 => ("tile", None, None, *random.of(&["--repeats=3,2", "--repeats=4", "--repeats=2,1"])),
                8 => ("roll", None, None, *random.of(&["--shift=7", "--shift=-1,2 --axes=0,1", "--shift=1 --axes=-1"])),
                _ if dims[0] == 1 => ("broadcast", None, None, "--shape=3,1"),
                _ if dims[1] == 1 => ("broadcast", None, None, "--shape=4"),
                _ => ("broadcast", None, None, "--shape=1,1"),
            },
            operator @ 4..6 => {
                let (axis, shape) = *random.of(&[(0, "--axis=0"), (1, "--axis=1")]);
                let mut index_dims = dims.map(|dim| 1 + random.below(dim));
                index_dims[axis] = 1 + random.below(6);
                let dim = dims[axis] as i64;
                let numbers: Vec<i64> = (0..index_dims[0] * index_dims[1]).map(|_| random.within(-dim..dim)).collect();
                let numbers = Some(common::tensor(&index_dims, &numbers));
                match operator {
                    4 => ("gather-elements", numbers, None, shape),
                    _ => ("scatter-elements", numbers, Some(filled(random, &index_dims, &item)), shape),
                }
            }
            _ => {
                let (indices, shape) = (tuples(random), [&[count], &dims[k..]].concat());
                let reduction = *random.of(&["none", "add", "sub", "max"]);
                ("scatter-nd", Some(indices), Some(filled(random, &shape, &item)), reduction)
            }
        };
        Self { operator, data, indices, updates, options: options.to_owned() }
    }

    /// The options as they are typed, without those for the output.
    fn options(&self) -> Vec<String> {
        match self.operator {
            "slice" | "slice-scatter" => vec!["--at".to_owned(), self.options.clone()],
            "scatter-nd" => vec!["--reduction".to_owned(), self.options.clone()],
            "gather" | "gather-elements" | "scatter-elements" => vec![self.options.clone()],
            "pad" | "tile" | "roll" | "broadcast" => words(&self.options),
            _ => Vec::new(),
        }
    }

    /// The operator, its operands in forms, and its options; and what is piped.
    fn command(&self, folder: &Folder, forms: [Form; 3]) -> (Vec<String>, Option<Vec<u8>>) {
        let indices = self.indices.as_ref().map(|indices| Operand::new(folder, "i", indices, forms[1]));
        let updates = self.updates.as_ref().map(|updates| Operand::new(folder, "u", updates, forms[2]));
        let (mut args, mut stdin) = (vec![self.operator.to_owned()], None);
        for operand in [Some(Operand::new(folder, "d", &self.data, forms[0])), indices, updates].into_iter().flatten() {
            args.push(operand.typed);
            stdin = stdin.or(operand.stdin);
        }
        args.extend(self.options());
        if matches!(forms[0], Form::Csv | Form::Json | Form::Typed) {
            args.extend(["--dtype".to_owned(), T::NAME.to_owned()]);
        }
        (args, stdin)
    }

    fn check(&self, random: &mut Random, folder: &Folder) {
        let mut forms = [0; 3].map(|_| *random.of(&FILES));
        let is_there = [true, self.indices.is_some(), self.updates.is_some()];
        // at most one operand is piped
        let piped = random.below(6);
        if piped < 3 && is_there[piped] {
            forms[piped] = *random.of(&PIPES);
        }
        let run = |forms, more: &str, division: Division| {
            let (mut args, stdin) = self.command(folder, forms);
            args.extend(words(&format!("{more} --threads {}", division.threads)));
            let run = folder.run_with(&args, division.window, stdin.as_deref());
            assert!(run.status == Some(0) && run.stderr.is_empty(), "{division:?} {args:?}: {}", run.stderr);
            (run.stdout, args)
        };
        let output = *random.of(&["--to npy", "--to json", "--to csv", ""]);
        let (expected, _) = run([Form::Npy; 3], output, DIVISIONS[0]);
        for division in DIVISIONS {
            let (found, args) = run(forms, output, division);
            assert!(found == expected, "{division:?} {args:?}: {}", difference(&found, &expected));
        }
        if self.updates.is_none() {
            return;
        }
        let (expected, _) = run([Form::Npy; 3], "--to npy", DIVISIONS[0]);
        let forms = [*random.of(&EDITED), forms[1], forms[2]];
        let data = Operand::new(folder, "d", &self.data, forms[0]).typed;
        for division in DIVISIONS {
            let (said, args) = run(forms, "--in-place", division);
            let found = folder.run(["convert", &data, "--to", "npy"]).stdout;
            assert!(said.is_empty() && found == expected, "{division:?} {args:?}: {}", difference(&found, &expected));
        }
    }
}

#[test]
fn any_form_of_operands_and_results() {
    let (folder, mut random) = (Folder::new(), Random(31));
    for _ in 0..rounds(8) {
        Case::new(&mut random, |random| random.within(0..200) as u8).check(&mut random, &folder);
        Case::new(&mut random, |random| random.next() as i32).check(&mut random, &folder);
        Case::new(&mut random, |random| random.within(-9..9) as f32 / 4.0).check(&mut random, &folder);
        Case::new(&mut random, |random| random.next() as i64).check(&mut random, &folder);
    }
}
