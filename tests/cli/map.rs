//! The maps of the crates: imports point down. The compiler keeps the borders between crates; inside one, each row of the
//! tables below says what a file or folder of its `src` may import, and these tests compare it with the paths that the files
//! name, in `use` lines and in bodies alike.
//!
//! The source is read line by line, which is enough because rustfmt decides where lines break: an item ends with a line of its
//! own indentation, and a comment begins a line or follows a space.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A row for each file or folder directly in `src`, from the bottom up: its name, and the rows right below it. It may
/// import these and all that they may import, and anything within itself.
type Map = &'static [(&'static str, &'static [&'static str])];

const KERNELS: Map = &[
    ("error", &[]),
    ("memory", &["error"]),
    ("parallel", &["memory"]),
    ("layout", &["parallel"]),
    ("item", &["layout"]),
    ("ops", &["item"]),
    ("lib", &["ops"]),
];

const FILES: Map = &[
    ("report", &[]),
    ("storage", &[]),
    ("untyped", &["storage"]),
    ("narrow", &["storage"]),
    ("operators", &["storage"]),
    ("plans", &["operators"]),
    ("container", &["narrow", "plans", "untyped"]),
    ("diff", &["plans", "report", "untyped"]),
    ("quantized", &["container"]),
    ("renamed", &["quantized"]),
    ("formats", &["container"]),
    ("opening", &["formats", "renamed"]),
    ("info", &["opening", "report"]),
    ("writing", &["opening"]),
    ("library", &["diff", "writing"]),
    // names what users of the library reach, which is why nothing below may take a name from there
    ("lib", &["info", "library"]),
];

const PROGRAM: Map = &[("lib", &[]), ("picture", &[]), ("command", &["lib", "picture"]), ("main", &["command"])];

/// The folders of the crates with rows.
const CRATES: [(&str, Map); 3] = [("crates/kernels", KERNELS), ("crates/files", FILES), ("", PROGRAM)];

/// Returns the rows that a row may import, itself among them.
fn allowed(map: Map, name: &str) -> BTreeSet<&'static str> {
    let row = map.iter().find(|(row, _)| *row == name);
    row.into_iter().flat_map(|(row, below)| below.iter().flat_map(|name| allowed(map, name)).chain([*row])).collect()
}

/// Returns the row of a file, by its path in `src`.
fn row_of(file: &Path) -> String {
    let first = file.iter().next().expect("a name");
    Path::new(first).with_extension("").to_string_lossy().into_owned()
}

/// Returns the imports of a file that its row does not allow, as a line of text each. `file` is its path in `src`.
fn offences(map: Map, file: &Path, text: &str) -> Vec<String> {
    let row = row_of(file);
    let allowed = allowed(map, &row);
    let is_offence = |(_, name): &(usize, String)| imported_row(map, name).is_some_and(|row| !allowed.contains(row));
    let say = |(line, name): (usize, String)| {
        let imported = imported_row(map, &name).expect("the name of a row");
        format!("src/{}:{line}: {row} may not import {imported} (crate::{name})", file.display())
    };
    imports(file, text).into_iter().filter(is_offence).map(say).collect()
}

/// Returns the row that a name in the root of the crate belongs to: that of the root itself if it is no row, and `None` if it
/// is a row of a crate below, under its name there.
fn imported_row(map: Map, name: &str) -> Option<&'static str> {
    if let Some((row, _)) = map.iter().find(|(row, _)| *row == name) {
        return Some(row);
    }
    let is_below = CRATES.iter().any(|(_, below)| *below != map && below.iter().any(|(row, _)| *row == name));
    (!is_below).then_some("lib")
}

/// Returns what a file names in the root of the crate, each with the number of its line. Paths that stay in the file's own
/// row, and what is compiled for tests only, are left out: a test may use anything.
fn imports(file: &Path, text: &str) -> Vec<(usize, String)> {
    let is_root = ["mod", "lib", "main"].iter().any(|name| file.file_stem().is_some_and(|stem| stem == *name));
    let depth = file.iter().count() - usize::from(is_root);
    let mut found = Vec::new();
    for (line, statement) in statements(text) {
        for (at, _) in statement.match_indices("::") {
            let begin =
                statement[..at].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |before| before + 1);
            // a path that goes on was looked at where it begins
            if statement[..begin].ends_with("::") && !statement[..begin].ends_with(" ::") {
                continue;
            }
            let path = &statement[begin..];
            let inside = path.trim_start_matches("super::");
            let rest = match path.strip_prefix("crate::").or(path.strip_prefix("tensorop::")) {
                Some(rest) => rest,
                None if inside.len() < path.len() && (path.len() - inside.len()) / "super::".len() >= depth => inside,
                None => continue,
            };
            found.extend(first_names(rest).into_iter().map(|name| (line, name)));
        }
    }
    found
}

/// Returns the first name of a path, or those of all paths in its braces.
fn first_names(path: &str) -> Vec<String> {
    let name =
        |path: &str| path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(list) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut names) = (0, Vec::new());
    for piece in list.split_inclusive(['{', ',', '}']) {
        if depth == 0 {
            names.push(name(piece));
        }
        depth += i32::from(piece.ends_with('{')) - i32::from(piece.ends_with('}'));
        if depth < 0 {
            break;
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the lines of a file without comments and without what is for tests only, each with its number. A `use` of several
/// lines is one.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::<(usize, String)>::new();
    let (mut is_open, mut lines) = (false, (1..).zip(text.lines()));
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim_start();
        let code = if trimmed.starts_with("//") { "" } else { line.split_once(" //").map_or(line, |(code, _)| code) };
        if trimmed.starts_with("#[cfg(test)]") || trimmed.starts_with("#[cfg(all(test") {
            let indent = &line[..line.len() - trimmed.len()];
            // to the end of the item: a line of its own, or the bracket that closes its body
            let ends = |line: &str| {
                let rest = line.strip_prefix(indent).unwrap_or(" ");
                !rest.starts_with([' ', '#']) && rest.ends_with([';', '}'])
            };
            lines.by_ref().find(|(_, line)| ends(line));
        } else if is_open {
            let (_, statement) = found.last_mut().expect("the statement that goes on");
            *statement += code;
        } else {
            found.push((number, code.to_owned()));
        }
        let begins = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
        is_open = (is_open || begins.iter().any(|begin| code.trim_start().starts_with(begin))) && !code.ends_with(';');
    }
    found
}

/// The files of a crate's `src` that are not tests, by their paths in it.
fn sources(of: &str) -> BTreeMap<PathBuf, String> {
    fn read(root: &Path, folder: &Path, out: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_test = path.file_stem().is_some_and(|name| name == "tests");
            if is_test {
                continue;
            } else if path.is_dir() {
                read(root, &path, out);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(root).expect("a path in the folder").to_owned();
                out.insert(name, fs::read_to_string(&path).expect("a source file"));
            }
        }
    }
    let (root, mut out) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(of).join("src"), BTreeMap::new());
    read(&root, &root, &mut out);
    out
}

#[test]
fn imports_point_down() {
    for (folder, map) in CRATES {
        let sources = sources(folder);
        let present: BTreeSet<String> = sources.keys().map(|file| row_of(file)).collect();
        let rows: BTreeSet<String> = map.iter().map(|(row, _)| row.to_string()).collect();
        assert_eq!(present, rows, "what is in {folder}/src, and the rows of its map");
        let wrong: Vec<String> = sources.iter().flat_map(|(file, text)| offences(map, file, text)).collect();
        assert!(wrong.is_empty(), "{folder}: {} lines are not as the map says:\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// So nothing can be above itself.
#[test]
fn rows_name_rows_before_them() {
    for (_, map) in CRATES {
        for (n, (name, below)) in map.iter().enumerate() {
            let before = |below: &&str| map[..n].iter().any(|(row, _)| row == below);
            assert!(below.iter().all(before), "{name}: {below:?}");
        }
    }
}

/// Returns what a file names right below its own row, such as `open` of `use super::open::Input`. `file` is its path in `src`.
fn neighbours(file: &Path, text: &str) -> Vec<String> {
    let row = row_of(file);
    let supers = "super::".repeat(file.iter().count() - 1 - usize::from(file.ends_with("mod.rs")));
    let mut found = Vec::new();
    for (_, statement) in statements(text) {
        for prefix in [&*supers, &format!("crate::{row}::")] {
            let is_path = |at: usize| !statement[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
            let paths = statement.match_indices(prefix).filter(|(at, _)| is_path(*at));
            found.extend(paths.flat_map(|(at, _)| first_names(&statement[at + prefix.len()..])));
        }
    }
    found.retain(|name| name != "super");
    found
}

/// In a row, too, the files and folders import each other in one direction alone: none is above itself. `mod.rs` of the row is
/// above all of them. The folders of `storage` are divided by what they reach, and go through each other.
#[test]
fn files_of_a_row_import_no_circle() {
    let mut below: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (folder, _) in CRATES {
        for (file, text) in sources(folder) {
            let Some(name) = file.iter().nth(1).filter(|name| *name != "mod.rs") else { continue };
            let name = Path::new(name).with_extension("").to_string_lossy().into_owned();
            let row = below.entry(row_of(&file)).or_default();
            row.entry(name).or_default().extend(neighbours(&file, &text));
        }
    }
    below.remove("storage");
    for (row, mut below) in below {
        let names: BTreeSet<String> = below.keys().cloned().collect();
        below.iter_mut().for_each(|(name, others)| others.retain(|other| other != name && names.contains(other)));
        // what imports nothing that is left is in no circle
        while let Some(name) = below.iter().find(|(_, others)| others.is_empty()).map(|(name, _)| name.clone()) {
            below.remove(&name);
            below.values_mut().for_each(|others| others.retain(|other| *other != name));
        }
        assert!(below.is_empty(), "src/{row}: circles of imports among {below:?}");
    }
}

#[test]
fn neighbours_of_small_texts() {
    let rows: [(&str, &str, &str); 5] = [
        ("ops/slice.rs", "use super::{a::b, c};\nuse super::super::d;", "a, c"),
        ("ops/indexed/mod.rs", "use super::a;\nuse self::b;\nuse crate::ops::c::d;", "a, c"),
        ("ops/indexed/targets.rs", "use super::b;\nuse super::super::a;\nfn f() -> crate::ops::c::C {}", "a, c"),
        ("ops/slice.rs", "pub use super::a;\n// super::b\nlet c = super::d::e();", "a, d"),
        ("ops/slice.rs", "use crate::item::a;\n#[cfg(test)]\nmod tests {\n    use super::b;\n}", ""),
    ];
    for (file, text, expected) in rows {
        assert_eq!(neighbours(Path::new(file), text).join(", "), expected, "{file}: {text}");
    }
}

#[test]
fn imports_of_small_texts() {
    let rows: [(&str, &str, &str); 17] = [
        ("ops/slice.rs", "use crate::item::DType;", "1 item"),
        ("ops/slice.rs", "pub use crate::{a::b, c};", "1 a, 1 c"),
        ("ops/slice.rs", "use crate::{\n    a::{self, b as d},\n    c::*,\n};\nuse crate::e;", "1 a, 1 c, 5 e"),
        ("ops/slice.rs", "use std::fs;\nuse ndarray::{self, s};\nuse ::tensorop::a;", "3 a"),
        ("ops/slice.rs", "use super::x;\nuse super::super::y::z;", "2 y"),
        ("ops/mod.rs", "use super::x;\nuse self::y;", "1 x"),
        ("ops/indexed/targets.rs", "use super::super::x;\nuse super::super::super::y;", "2 y"),
        ("error.rs", "fn f() -> crate::item::DType {\n    super::memory::reserve(1)\n}", "1 item, 2 memory"),
        ("error.rs", "fn f<T: Into<crate::Error>>(a: &[crate::a::B; 2]) {}", "1 Error, 1 a"),
        ("error.rs", "impl crate::a::T for tensorop::b::C<'_> {}", "1 a, 1 b"),
        ("error.rs", "pub(in crate::a) fn g() -> impl A + use<'_> {}", "1 a"),
        ("error.rs", "// crate::a::b\n    /// crate::c\nuse crate::g; // crate::h\n", "3 g"),
        ("error.rs", "let a = \"https://a\".len() + crate::b::c();", "1 b"),
        ("error.rs", "#[cfg(test)]\nmod tests {\n    use crate::a;\n\n    fn f() {}\n}\nuse crate::b;", "7 b"),
        ("error.rs", "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse crate::{a, b};\nuse crate::c;", "5 c"),
        (
            "error.rs",
            "    #[cfg(all(test, unix))]\n    #[allow(x)]\n    fn f() {\n        crate::a::b()\n    }\n    crate::c()",
            "6 c",
        ),
        ("error.rs", "#[cfg(not(test))]\nuse crate::a;\nmacro_rules! m { () => { $crate::b::c!() }; }", "2 a, 3 b"),
    ];
    for (file, text, expected) in rows {
        let found: Vec<String> =
            imports(Path::new(file), text).iter().map(|(line, name)| format!("{line} {name}")).collect();
        assert_eq!(found.join(", "), expected, "{file}: {text}");
    }
}

#[test]
fn what_points_up_is_named() {
    let rows: [(Map, &str, &str, &str); 8] = [
        (KERNELS, "ops/slice.rs", "use crate::item::DType;\nuse crate::layout::axis::Span;\nuse super::indexed;", ""),
        (
            KERNELS,
            "item/dtype.rs",
            "\nuse crate::ops::slice::SliceArgs;",
            "src/item/dtype.rs:2: item may not import ops (crate::ops)",
        ),
        (KERNELS, "error.rs", "use crate::Tensor;", "src/error.rs:1: error may not import lib (crate::Tensor)"),
        (FILES, "diff/mod.rs", "use super::info::Stats;", "src/diff/mod.rs:1: diff may not import info (crate::info)"),
        (FILES, "plans/mod.rs", "use crate::{ops, storage, error::Error, memory};", ""),
        (PROGRAM, "command/slice.rs", "use crate::{DType, opening::table::Format, report};", ""),
        (FILES, "lib.rs", "pub use crate::diff::diff;", ""),
        (PROGRAM, "main.rs", "fn main() { tensorop::command::main() }", ""),
    ];
    for (map, file, text, expected) in rows {
        assert_eq!(offences(map, Path::new(file), text).join("\n"), expected, "{file}: {text}");
    }
}

/// All others share work by `parallel`.
#[test]
fn two_files_start_threads() {
    let crates = CRATES.iter().map(|(folder, _)| *folder).chain(["crates/conformance", "crates/remote"]);
    let all = crates.flat_map(sources);
    let starts = |text: &str| ["std::thread", "thread::", "rayon"].iter().any(|word| text.contains(word));
    let found: Vec<_> = all.filter(|(_, text)| starts(text)).map(|(file, _)| file.display().to_string()).collect();
    assert_eq!(found, ["parallel.rs", "storage/targets/signals.rs"]);
}
