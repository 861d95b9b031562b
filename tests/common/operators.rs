//! What a [`Spec`] of an operator says, and the operands that its command lines name.

use super::{Folder, Random, SPECS, Tensor, joined, npy, tensor};

/// An operator that moves items as they are. Its command lines begin with the operands, whose letters stand for files.
pub(crate) struct Spec {
    pub operator: &'static str,
    /// The specifications that a dry run names.
    pub title: &'static str,
    /// The operands of rows: how messages call each, and its shape. In rows they are called A, B, C and so on.
    pub operands: &'static [(&'static str, &'static [usize])],
    /// What the operator makes of operands. The first row is also tested with every form of its operands and of its output.
    /// An operator with several outputs has none: what it makes is tested in the file of its name.
    pub rows: &'static [Row],
    /// Whether the first row can change A in place.
    pub in_place: bool,
    /// Arguments that are right for any matrix DATA of 2 rows and 3 columns or more. Letters name [operands](put_operands). Items
    /// in lists are 0 or 1, which every dtype has.
    pub commands: &'static [&'static str],
    /// Arguments for a list DATA of four numbers, where a file can stand for each operand and each list of an option.
    pub places: &'static [&'static str],
    /// Arguments that are refused, whatever matrix DATA is. N is a tensor without items.
    pub refused: &'static [&'static str],
    /// Draws arguments behind DATA, for DATA of that shape with at least one axis: `None` if it has no such items.
    pub draw: fn(&mut Random, &[usize]) -> Option<String>,
}

/// What an operator makes of operands.
pub(crate) struct Row {
    /// The arguments, with a space between two of them: a letter for an operand with items, a list for INDICES, options.
    pub args: &'static str,
    /// The lines of a dry run between the operands and the output.
    pub report: &'static str,
    /// The dims of the output.
    pub dims: &'static [usize],
    /// The items of the output in C order. The items of A are called 0, 1, 2 and so on, and those of B go on from there.
    pub items: &'static [usize],
}

/// An item of the output whose bytes are zero.
pub(crate) const ZERO: usize = usize::MAX;

/// An item of the output that has the value of a new item of its dtype: of dates NaT, otherwise bytes that are zero.
pub(crate) const DEFAULT: usize = usize::MAX - 1;

/// The items of a tensor of 24 in their order.
pub(crate) const IN_ORDER: &[usize] =
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];

pub(crate) const fn row(
    args: &'static str,
    report: &'static str,
    dims: &'static [usize],
    items: &'static [usize],
) -> Row {
    Row { args, report, dims, items }
}

/// A list of numbers as an option takes it.
pub(crate) fn listed(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

pub(crate) fn is_letter(word: &str) -> bool {
    matches!(word.as_bytes(), [b'A'..=b'Z'])
}

impl Spec {
    /// The name and the shape of an operand of a row, and the number of its first item.
    pub(crate) fn operand(&self, letter: &str) -> (&'static str, &'static [usize], usize) {
        let at = usize::from(letter.as_bytes()[0] - b'A');
        let (name, shape) = self.operands[at];
        (name, shape, self.operands[..at].iter().map(|(_, shape)| shape.iter().product::<usize>()).sum())
    }

    /// How messages call an operand of a row.
    pub(crate) fn name_of(&self, operand: &str) -> &'static str {
        if operand.starts_with('[') { "INDICES" } else { self.operand(operand).0 }
    }

    /// The command line of a row, with other names for some of its operands than their files.
    pub(crate) fn args(&self, row: &Row, named: &[(&str, &str)]) -> Vec<String> {
        let name = |word: &str| match named.iter().find(|(operand, _)| *operand == word) {
            Some((_, name)) => (*name).to_owned(),
            None if is_letter(word) => format!("{}.npy", word.to_lowercase()),
            None => word.to_owned(),
        };
        std::iter::once(self.operator.to_owned()).chain(row.args.split(' ').map(name)).collect()
    }

    /// Puts the operands of a row in a folder as float32: `a.npy` and so on.
    pub(crate) fn put(&self, row: &Row, folder: &Folder) {
        for letter in row.operands().filter(|operand| is_letter(operand)) {
            folder.put(format!("{}.npy", letter.to_lowercase()), self.floats(letter).npy());
        }
    }

    pub(crate) fn floats(&self, letter: &str) -> Tensor<f32> {
        let (_, shape, first) = self.operand(letter);
        let items: Vec<f32> = (first..first + shape.iter().product::<usize>()).map(|item| item as f32).collect();
        tensor(shape, &items)
    }

    /// Whether items of DATA are changed, which can be done in place.
    pub(crate) fn changes_items(&self) -> bool {
        self.operands.iter().any(|(name, _)| *name == "UPDATES")
    }

    pub(crate) fn has_several_outputs(&self) -> bool {
        self.rows.is_empty()
    }

    /// Arguments of this operator as command lines.
    pub(crate) fn lines(&self, arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|rest| format!("{} {rest}", self.operator)).collect()
    }
}

impl Row {
    /// The operands among the arguments, without options.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &'static str> + use<> {
        operands_of(self.args)
    }

    /// The output, as `.npy`, of operands as [`Spec::put`] puts them.
    pub(crate) fn output(&self) -> Vec<u8> {
        let float = |&item: &usize| if [ZERO, DEFAULT].contains(&item) { 0.0 } else { item as f32 };
        let items: Vec<f32> = self.items.iter().map(float).collect();
        tensor(self.dims, &items).npy()
    }
}

/// The operands among arguments, which come before the first option.
pub(crate) fn operands_of(args: &str) -> impl Iterator<Item = &str> {
    args.split(' ').take_while(|word| !word.starts_with("--"))
}

/// The [commands](Spec::commands) of all operators that have one output, as command lines.
pub(crate) fn commands() -> impl Iterator<Item = String> {
    SPECS.iter().filter(|spec| !spec.has_several_outputs()).flat_map(|spec| spec.lines(spec.commands))
}

/// The commands of all operators that have no other operand than DATA.
pub(crate) fn commands_of_data() -> impl Iterator<Item = String> {
    let lines = SPECS.iter().flat_map(|spec| spec.lines(spec.commands));
    lines.filter(|line| line.split(' ').all(|word| word == "D" || !is_letter(word)))
}

/// What is [refused](Spec::refused) by all operators, as command lines.
pub(crate) fn refused_commands() -> impl Iterator<Item = String> {
    SPECS.iter().flat_map(|spec| {
        let output = if spec.has_several_outputs() { " -o out.npz" } else { " -o out.npy" };
        spec.lines(spec.refused).into_iter().map(move |line| line + output)
    })
}

/// The file of an operand that [`put_operands`] puts.
pub(crate) fn file_of(letter: &str) -> String {
    letter.to_lowercase() + ".npy"
}

/// A command line whose letters are replaced by names.
pub(crate) fn named(line: &str, name: impl Fn(&str) -> String) -> String {
    let is_operand = |word: &str| matches!(word, "D" | "E" | "I" | "N" | "T" | "U" | "V");
    let named = line.split(' ').map(|word| if is_operand(word) { name(word) } else { word.to_owned() });
    named.collect::<Vec<_>>().join(" ")
}

/// Puts the operands of [commands](Spec::commands) in a folder: `d.npy`, DATA of `rows` and `columns`; `i.npy`, a list of `count`
/// of its rows, some of them several times; `t.npy`, the same as index tuples, some counted from the end; `u.npy`, updates for
/// both; `e.npy`, INDICES of whole rows along either axis, and `v.npy`, updates for these. Items are those of `item`.
pub(crate) fn put_operands<B: AsRef<[u8]>>(
    folder: &Folder,
    descr: &str,
    [rows, columns]: [usize; 2],
    count: usize,
    item: impl Fn(usize) -> B,
) {
    let few = count.min(rows);
    let items = |first: usize, count: usize| joined((first..first + count).map(&item));
    folder.put("d.npy", npy(descr, &[rows, columns], &items(0, rows * columns)));
    folder.put("u.npy", npy(descr, &[count, columns], &items(7, count * columns)));
    folder.put("v.npy", npy(descr, &[few, columns], &items(5, few * columns)));
    let places = || (0..count).map(|n| (n * n * 37 % rows) as i32);
    let list = places().map(|place| i64::from(place).to_le_bytes());
    folder.put("i.npy", npy("<i8", &[count], &joined(list)));
    let tuples = places().map(|place| if place % 2 == 0 { place } else { place - rows as i32 }.to_be_bytes());
    folder.put("t.npy", npy(">i4", &[count, 1], &joined(tuples)));
    let elements = (0..few * columns).map(|n| ((n * 40_503 % 65_521 % rows.min(columns)) as u16).to_le_bytes());
    folder.put("e.npy", npy("<u2", &[few, columns], &joined(elements)));
}

/// The places of a command line where a file can stand: for each of them the line with the word FILE there.
pub(crate) fn places_in(line: &str) -> Vec<String> {
    const LISTS: [&str; 13] = [
        "--start",
        "--stop",
        "--step",
        "--axes",
        "--axis",
        "--shape",
        "--unsqueeze",
        "--flatten",
        "--before",
        "--after",
        "--repeats",
        "--shift",
        "--lengths",
    ];
    let words: Vec<&str> = line.split(' ').collect();
    let count = 1 + operands_of(line).skip(1).count();
    let is_place = |at: usize| (1..count).contains(&at) || at > 0 && LISTS.contains(&words[at - 1]);
    let with_file = |at: usize| [&words[..at], &["FILE"], &words[at + 1..]].concat().join(" ");
    (0..words.len()).filter(|at| is_place(*at)).map(with_file).collect()
}
