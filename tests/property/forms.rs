//! Operands in every form that the program takes, results in every form that it prints, and windows that end anywhere: all
//! of it must say the same as `.npy` files do with the program's own windows, which `random.rs` checks against plain loops.

use crate::common::{
    self, DIVISIONS, Division, Folder, Item, Member, Random, SPECS, difference, is_letter, rounds, words,
};

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
    /// The command line, in which letters stand for operands.
    line: String,
    changes_items: bool,
    /// The operands with items: DATA, updates of as many rows as INDICES of each kind.
    items: Vec<(&'static str, common::Tensor<T>)>,
    indices: Vec<(&'static str, common::Tensor<i64>)>,
}

impl<T: Item> Case<T> {
    fn new(random: &mut Random, item: impl Fn(&mut Random) -> T) -> Self {
        // outputs of more axes are no tables
        let is_table = |line: &str| !["--stack", "2,1,1", "--unsqueeze"].iter().any(|more| line.contains(more));
        let lines = SPECS.iter().filter(|spec| !spec.has_several_outputs()).flat_map(|spec| {
            spec.lines(spec.commands).into_iter().filter(|line| is_table(line)).map(|line| (line, spec.changes_items()))
        });
        let (line, changes_items) = random.of(&lines.collect::<Vec<_>>()).clone();
        let [rows, columns] = [2 + random.below(4), 3 + random.below(3)];
        let (count, few) = (1 + random.below(6), 1 + random.below(rows));
        let items = [("D", [rows, columns]), ("U", [count, columns]), ("V", [few, columns])];
        let items = items.map(|(letter, shape)| (letter, filled(random, &shape, &item)));
        let place = |dim: usize| move |random: &mut Random| random.within(-(dim as i64)..dim as i64);
        let indices =
            [("I", vec![count], rows), ("T", vec![count, 1], rows), ("E", vec![few, columns], rows.min(columns))];
        let indices = indices.map(|(letter, shape, dim)| (letter, filled(random, &shape, place(dim))));
        Self { line, changes_items, items: items.into(), indices: indices.into() }
    }

    /// The command line, with its operands in forms; and what is piped.
    fn command(&self, folder: &Folder, forms: &[Form]) -> (Vec<String>, Option<Vec<u8>>) {
        let (mut args, mut stdin, mut forms) = (Vec::new(), None, forms.iter());
        let mut is_typed = false;
        for word in words(&self.line) {
            let name = word.to_lowercase();
            let items = self.items.iter().find(|(letter, _)| *letter == word);
            let indices = self.indices.iter().find(|(letter, _)| *letter == word);
            if items.is_none() && indices.is_none() {
                args.push(word);
                continue;
            }
            let form = *forms.next().expect("a form for each operand");
            is_typed |= word == "D" && matches!(form, Form::Csv | Form::Json | Form::Typed);
            let items = items.map(|(_, tensor)| Operand::new(folder, &name, tensor, form));
            let indices = indices.map(|(_, tensor)| Operand::new(folder, &name, tensor, form));
            let operand = items.or(indices).expect("an operand of that letter");
            args.push(operand.typed);
            stdin = stdin.or(operand.stdin);
        }
        if is_typed {
            args.extend(["--dtype".to_owned(), T::NAME.to_owned()]);
        }
        (args, stdin)
    }

    fn check(&self, random: &mut Random, folder: &Folder) {
        let count = words(&self.line).iter().filter(|word| is_letter(word)).count();
        let mut forms: Vec<Form> = (0..count).map(|_| *random.of(&FILES)).collect();
        // at most one operand is piped
        if random.chance(50) {
            forms[random.below(count)] = *random.of(&PIPES);
        }
        let run = |forms: &[Form], more: &str, division: Division| {
            let (mut args, stdin) = self.command(folder, forms);
            args.extend(words(&format!("{more} --threads {}", division.threads)));
            let run = folder.run_with(&args, division.window, stdin.as_deref());
            assert!(run.status == Some(0) && run.stderr.is_empty(), "{division:?} {args:?}: {}", run.stderr);
            (run.stdout, args)
        };
        let plain = vec![Form::Npy; count];
        let output = *random.of(&["--to npy", "--to json", "--to csv", ""]);
        let (expected, _) = run(&plain, output, DIVISIONS[0]);
        for division in DIVISIONS {
            let (found, args) = run(&forms, output, division);
            assert!(found == expected, "{division:?} {args:?}: {}", difference(&found, &expected));
        }
        if !self.changes_items {
            return;
        }
        let (expected, _) = run(&plain, "--to npy", DIVISIONS[0]);
        forms[0] = *random.of(&EDITED);
        let data = Operand::new(folder, "d", &self.items[0].1, forms[0]).typed;
        for division in DIVISIONS {
            let (said, args) = run(&forms, "--in-place", division);
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
