//! Zarr stores of random shapes, chunks, shards, codecs and dtypes: what goes in comes out, an operator does the same from
//! and to a store, parts make what one process makes, and an edit touches no other chunks.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Folder, Random, SPECS, difference, npy, offset, rounds, words};

/// NumPy's descr, and the bytes of an item. Those of the second list take numbers as `--fill`.
const OTHERS: [(&str, usize); 9] =
    [("|b1", 1), ("<f2", 2), ("<V2", 2), ("<c8", 8), ("<c16", 16), ("|S3", 3), ("<U2", 8), ("|V5", 5), ("<m8[10s]", 8)];
const NUMBERS: [(&str, usize); 7] =
    [("|i1", 1), ("|u1", 1), ("<i2", 2), ("<u4", 4), ("<i8", 8), ("<f4", 4), ("<f8", 8)];

/// A random tensor, and how it is stored.
struct Case {
    folder: Folder,
    shape: Vec<usize>,
    /// The places of each axis in a file.
    unit: Vec<usize>,
    /// The options that say how.
    style: String,
}

impl Case {
    /// `d.npy` in C order, and `d.zarr`, from a `.npy` of any order.
    fn new(random: &mut Random, dtypes: &[(&str, usize)], least_rank: usize) -> Self {
        let folder = Folder::new();
        let (descr, itemsize) = *random.of(dtypes);
        let rank = least_rank + random.below(4 - least_rank);
        let shape: Vec<usize> = (0..rank).map(|_| if random.chance(4) { 0 } else { 1 + random.below(9) }).collect();
        let count: usize = shape.iter().product();
        let mut items = random.bytes(count * itemsize);
        // something for packers to find
        items.iter_mut().enumerate().for_each(|(n, byte)| *byte = if n % 5 < 3 { 1 } else { *byte });
        if descr == "|b1" {
            items.iter_mut().for_each(|byte| *byte &= 1);
        }
        folder.put("d.npy", npy(descr, &shape, &items));
        let chunk: Vec<usize> = (0..rank).map(|_| 1 + random.below(6)).collect();
        let listed = |sides: &[usize]| sides.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let mut style = if rank == 0 { String::new() } else { format!("--chunks {} ", listed(&chunk)) };
        let mut unit = chunk.clone();
        if rank > 0 && random.chance(40) {
            unit.iter_mut().for_each(|side| *side *= 1 + random.below(3));
            style += &format!("--shards {} ", listed(&unit));
        }
        style += *random.of(&["", "--codec none", "--codec gzip:1", "--codec zstd:5", "--codec blosc"]);
        if rank == 0 {
            unit = vec![];
        }
        let it = Self { folder, shape, unit, style };
        let order = random.of(&["", "--order F", "--byte-order big", "--order F --byte-order big"]);
        it.run(&format!("convert d.npy -o any.npy {order}"));
        it.run(&format!("convert any.npy -o d.zarr {}", it.style));
        it
    }

    fn run(&self, args: &str) {
        self.folder.run(words(args)).printed().unwrap_or_else(|why| panic!("{args}: {why} ({:?})", self.shape));
    }

    fn is_same(&self, found: &str, expected: &str, what: &str) {
        let (found, expected) = (self.folder.get(found), self.folder.get(expected));
        assert!(found == expected, "{what} {:?} {}: {}", self.shape, self.style, difference(&found, &expected));
    }

    /// A command on DATA `D`, and whether it changes places of DATA.
    fn command(&self, random: &mut Random) -> (String, bool) {
        let spec = random.of(SPECS);
        match (spec.draw)(random, &self.shape) {
            Some(rest) => (format!("{} D {rest}", spec.operator), spec.changes_items()),
            None => self.command(random),
        }
    }

    /// The numbers of the files of `d.zarr` by their names, which change when a file is put in another's place.
    #[cfg(unix)]
    fn files(&self) -> BTreeMap<String, u64> {
        use std::os::unix::fs::MetadataExt;
        let names = self.folder.tree("d.zarr").into_keys();
        names
            .map(|name| {
                let found = std::fs::metadata(self.folder.path("d.zarr").join(&name)).expect("a file");
                (name, found.ino())
            })
            .collect()
    }

    /// The names of the files that hold places of which `mask.npy` has something.
    fn touched(&self) -> BTreeSet<String> {
        let mask = self.folder.get("mask.npy");
        let count: usize = self.shape.iter().product();
        let items = &mask[mask.len() - count..];
        let name = |at: Vec<usize>| {
            let place: Vec<_> = at.iter().zip(&self.unit).map(|(at, unit)| (at / unit).to_string()).collect();
            if place.is_empty() { "c".to_owned() } else { format!("c/{}", place.join("/")) }
        };
        crate::common::indices(&self.shape)
            .into_iter()
            .filter(|at| items[offset(at, &self.shape)] != 0)
            .map(name)
            .collect()
    }
}

#[test]
fn what_goes_into_a_store_comes_out() {
    let mut random = Random(11);
    let all = [&OTHERS[..], &NUMBERS].concat();
    for _ in 0..rounds(16) {
        let case = Case::new(&mut random, &all, 0);
        case.run("convert d.zarr -o back.npy");
        case.is_same("back.npy", "d.npy", "convert");
    }
}

#[test]
fn operators_do_the_same_from_and_to_stores() {
    let mut random = Random(12);
    for _ in 0..rounds(25) {
        let case = Case::new(&mut random, &NUMBERS, 1);
        let (command, _) = case.command(&mut random);
        case.run(&format!("{} -o expected.npy", command.replace(" D ", " d.npy ")));
        case.run(&format!("{} -o found.npy", command.replace(" D ", " d.zarr ")));
        case.is_same("found.npy", "expected.npy", &command);
        // a store of the grid of its data, or of its own
        let data = random.of(&[" d.zarr ", " d.npy "]);
        case.run(&format!("{} -o out.zarr", command.replace(" D ", data)));
        case.run("convert out.zarr -o found.npy");
        case.is_same("found.npy", "expected.npy", &command);
    }
}

/// What is split, from a store or a file and into stores or files, and joined again is as it was.
#[test]
fn what_is_split_is_joined() {
    let mut random = Random(15);
    for _ in 0..rounds(10) {
        let case = Case::new(&mut random, &NUMBERS, 1);
        let (axis, parts) = (random.below(case.shape.len()), 1 + random.below(6));
        let (data, ending) = (random.of(&["d.zarr", "d.npy"]), random.of(&["zarr", "npy"]));
        case.run(&format!("split {data} --parts {parts} --axis {axis} -o part-*.{ending}"));
        let names: Vec<String> = (0..parts).map(|n| format!("part-{n}.{ending}")).collect();
        case.run(&format!("concat {} --axis {axis} -o found.npy", names.join(" ")));
        case.is_same("found.npy", "d.npy", "split");
        case.run(&format!("split {data} --parts {parts} --axis {axis} -o all.zarr"));
        let names: Vec<String> = (0..parts).map(|n| format!("all.zarr:{n}")).collect();
        case.run(&format!("concat {} --axis {axis} -o found.npy", names.join(" ")));
        case.is_same("found.npy", "d.npy", "split into a group");
    }
}

#[cfg(unix)]
#[test]
fn edits_touch_the_chunks_that_they_concern() {
    let mut random = Random(13);
    for _ in 0..rounds(16) {
        let case = Case::new(&mut random, &NUMBERS, 1);
        let (command, changes) = case.command(&mut random);
        if !changes {
            continue;
        }
        let count: usize = case.shape.iter().product();
        case.folder.put("zeros.npy", npy("|u1", &case.shape, &vec![0; count]));
        case.run(&format!("{} -o mask.npy", command.replace(" D ", " zeros.npy ")));
        case.run(&format!("{} -o expected.npy", command.replace(" D ", " d.npy ")));
        let (before, bytes) = (case.files(), case.folder.tree("d.zarr"));
        case.run(&format!("{} -i", command.replace(" D ", " d.zarr ")));
        let (after, touched) = (case.files(), case.touched());
        assert!(before.keys().eq(after.keys()), "{command}");
        let replaced: BTreeSet<String> =
            after.iter().filter(|(name, file)| before[*name] != **file).map(|(name, _)| name.clone()).collect();
        assert_eq!(replaced, touched, "{command} {:?} {}", case.shape, case.style);
        let now = case.folder.tree("d.zarr");
        assert!(now.iter().all(|(name, now)| touched.contains(name) || bytes[name] == *now), "{command}");
        case.run("convert d.zarr -o found.npy");
        case.is_same("found.npy", "expected.npy", &command);
    }
}

#[test]
fn parts_in_any_order_make_the_whole() {
    let mut random = Random(17);
    for _ in 0..rounds(10) {
        let case = Case::new(&mut random, &NUMBERS, 1);
        let (command, changes) = case.command(&mut random);
        let (command, output) = match random.below(4) {
            0 => (format!("convert d.npy {}", case.style), "out.zarr"),
            1 => (command.replace(" D ", " d.zarr "), "out.npy"),
            _ => {
                let data = random.of(&[" d.zarr ", " d.npy "]);
                (command.replace(" D ", data), "out.zarr")
            }
        };
        case.run(&format!("{command} -o {}", output.replace("out", "one")));
        let expected = case.folder.tree(output.replace("out", "one"));
        let units = expected.len();
        let of = *random.of(&[1, 2, 3, units.max(1), units + 2]);
        let mut numbers: Vec<usize> = (1..=of).chain((0..2).map(|_| 1 + random.below(of))).collect();
        // Fisher-Yates
        (1..numbers.len()).rev().for_each(|n| numbers.swap(n, random.below(n + 1)));
        for number in numbers {
            case.run(&format!("{command} -o {output} --part {number}/{of}"));
        }
        case.run(&format!("{command} -o {output} --finish {of}"));
        assert!(case.folder.tree(output) == expected, "{command} {of} {:?} {}", case.shape, case.style);
        // the same in place
        if changes && command.contains(" d.zarr ") && output == "out.zarr" {
            for number in (1..=of).rev().chain([1]) {
                case.run(&format!("{command} -i --part {number}/{of}"));
            }
            case.run("convert d.zarr -o found.npy");
            case.run("convert out.zarr -o expected.npy");
            case.is_same("found.npy", "expected.npy", &command);
        }
    }
}
