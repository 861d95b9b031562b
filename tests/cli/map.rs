//! The map of `src`: imports point down. Where everything may import everything, a change at the bottom is a change
//! everywhere, and what a folder needs can no longer be told from where it stands; so the rows below are held to the
//! paths that the files name, in `use` lines and in bodies alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A row for each file or folder directly in `src`, from the bottom up: its name, and those right below it. It may
/// import these and all that they may import, and within itself anything.
const MAP: [(&str, &[&str]); 17] = [
    ("error", &[]),
    ("memory", &["error"]),
    ("parallel", &["memory"]),
    ("layout", &["parallel"]),
    ("item", &["layout"]),
    ("report", &["item"]),
    ("storage", &["item"]),
    ("ops", &["storage"]),
    ("engine", &["ops"]),
    ("format", &["engine"]),
    ("diff", &["format", "report"]),
    ("info", &["format", "report"]),
    ("golden", &["diff"]),
    ("picture", &["engine"]),
    // names what users of the library reach, which is why nothing below may take a name from there
    ("lib", &["diff", "info", "golden", "picture"]),
    ("command", &["lib"]),
    ("main", &["command"]),
];

/// What a row may import, itself among it.
fn allowed(name: &str) -> BTreeSet<&'static str> {
    let row = MAP.iter().find(|(row, _)| *row == name);
    row.into_iter().flat_map(|(row, below)| below.iter().flat_map(|name| allowed(name)).chain([*row])).collect()
}

/// The row that a path of names from the root of the crate leads to. What is no row is a name of the root itself.
fn row_of(path: &[String]) -> &str {
    path.first().map(String::as_str).filter(|name| MAP.iter().any(|(row, _)| row == name)).unwrap_or("lib")
}

/// The imports of a file that its row does not allow, a line of text each. `file` is its path in `src`.
fn offences(file: &Path, text: &str) -> Vec<String> {
    let module = module_of(file);
    let own = file.iter().next().map(|first| Path::new(first).with_extension("")).unwrap_or_default();
    let own = own.to_string_lossy();
    let allowed = allowed(&own);
    let offends = |(_, path): &(usize, Vec<String>)| !allowed.contains(row_of(path));
    let say = |(line, path): (usize, Vec<String>)| {
        format!("src/{}:{line}: {own} may not import {} (crate::{})", file.display(), row_of(&path), path.join("::"))
    };
    imports(&module, text).into_iter().filter(offends).map(say).collect()
}

/// The module that a file is, as names from the root of the crate.
fn module_of(file: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        file.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if ["mod", "lib", "main"].iter().any(|root| names.last().is_some_and(|last| last == root)) {
        names.pop();
    }
    names
}

/// A piece of a source file: a word, or another character, and the number of its line. Comments, white space, literals
/// of text and lifetimes are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(char),
}

fn tokens(text: &str) -> Vec<(usize, Token)> {
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at, mut line) = (Vec::new(), 0, 1);
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let from = |at: usize| chars.get(at..).unwrap_or_default();
    while at < chars.len() {
        let rest = from(at);
        let length = match rest {
            ['/', '/', ..] => rest.iter().take_while(|c| **c != '\n').count(),
            ['/', '*', ..] => block_comment(rest),
            ['"', ..] => quoted(rest),
            ['r', '"' | '#', ..] if raw(rest) > 0 => raw(rest),
            ['b' | 'c', 'r', '"' | '#', ..] if raw(&rest[1..]) > 0 => 1 + raw(&rest[1..]),
            ['b' | 'c', '"', ..] => 1 + quoted(&rest[1..]),
            ['\'', '\\', ..] => 3 + rest.iter().skip(3).take_while(|c| **c != '\'').count() + 1,
            ['\'', _, '\'', ..] => 3,
            ['\'', ..] => 1 + rest.iter().skip(1).take_while(|c| is_word(c)).count(),
            [c, ..] if is_word(c) => {
                let word: String = rest.iter().take_while(|c| is_word(c)).collect();
                let length = word.chars().count();
                out.push((line, Token::Word(word)));
                length
            }
            [c, ..] => {
                if !c.is_whitespace() {
                    out.push((line, Token::Sign(*c)));
                }
                1
            }
            [] => break,
        };
        let length = length.min(rest.len());
        line += rest[..length].iter().filter(|c| **c == '\n').count();
        at += length;
    }
    out
}

/// The length of a comment that may hold others.
fn block_comment(text: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match text[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a text in quotation marks.
fn quoted(text: &[char]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of a raw text, which begins with its `r`; 0 if it is none.
fn raw(text: &[char]) -> usize {
    let marks = text[1..].iter().take_while(|c| **c == '#').count();
    if text.get(1 + marks) != Some(&'"') {
        return 0;
    }
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', marks)).collect();
    let inside = &text[marks + 2..];
    marks + 2 + inside.windows(end.len()).position(|c| c == end).map_or(inside.len(), |at| at + end.len())
}

/// The paths that a file names, from the root of the crate, and the line of each. What is compiled for tests only is
/// left out: a test may reach for anything.
fn imports(module: &[String], text: &str) -> Vec<(usize, Vec<String>)> {
    let tokens = tokens(text);
    let mut scan = Scan { tokens: &tokens, at: 0, module: module.to_vec(), found: Vec::new() };
    scan.body();
    scan.found
}

struct Scan<'a> {
    tokens: &'a [(usize, Token)],
    at: usize,
    /// The module that is being read.
    module: Vec<String>,
    found: Vec<(usize, Vec<String>)>,
}

impl Scan<'_> {
    fn word(&self, ahead: usize) -> Option<&str> {
        match self.tokens.get(self.at + ahead) {
            Some((_, Token::Word(word))) => Some(word),
            Some((_, Token::Sign(_))) | None => None,
        }
    }

    fn sign(&self, ahead: usize) -> Option<char> {
        match self.tokens.get(self.at + ahead) {
            Some((_, Token::Sign(sign))) => Some(*sign),
            Some((_, Token::Word(_))) | None => None,
        }
    }

    fn colons(&self, ahead: usize) -> bool {
        self.sign(ahead) == Some(':') && self.sign(ahead + 1) == Some(':')
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |(line, _)| *line)
    }

    /// Reads to the bracket that closes what is being read, or to the end.
    fn body(&mut self) {
        while self.at < self.tokens.len() {
            match (self.word(0), self.sign(0)) {
                (Some("use"), _) if self.sign(1) != Some('<') => {
                    self.at += 1;
                    self.tree(&[]);
                }
                (Some("mod"), _) if self.sign(2) == Some('{') => {
                    self.module.extend(self.word(1).map(str::to_owned));
                    self.at += 3;
                    self.body();
                    self.module.pop();
                }
                (Some(_), _) => self.path(),
                (_, Some('#')) if self.sign(if self.sign(1) == Some('!') { 2 } else { 1 }) == Some('[') => {
                    self.attribute()
                }
                (_, Some('{')) => {
                    self.at += 1;
                    self.body();
                }
                (_, Some('}')) => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Notes a path that was written in the module being read, if it is one of this crate.
    fn note(&mut self, line: usize, path: &[String]) {
        let (mut base, mut rest) = (self.module.clone(), path);
        match path.first().map(String::as_str) {
            Some("crate" | "tensorop") => (base, rest) = (Vec::new(), &path[1..]),
            Some("self" | "super") => {}
            _ => return,
        }
        while let Some((first, more)) = rest.split_first().filter(|(first, _)| ["self", "super"].contains(&&***first)) {
            if first == "super" {
                base.pop();
            }
            rest = more;
        }
        let rest = rest.strip_suffix(&["self".to_owned()]).unwrap_or(rest);
        base.extend_from_slice(rest);
        self.found.push((line, base));
    }

    /// A path in a body, or any other word.
    fn path(&mut self) {
        let (line, mut path) = (self.line(), Vec::new());
        while let Some(word) = self.word(0).map(str::to_owned) {
            path.push(word);
            self.at += 1;
            if !self.colons(0) {
                break;
            }
            self.at += 2;
        }
        if path.len() > 1 {
            self.note(line, &path);
        }
    }

    /// What follows `use`, or one of what stands in its braces.
    fn tree(&mut self, before: &[String]) {
        let (line, mut path) = (self.line(), before.to_vec());
        while self.at < self.tokens.len() {
            if self.colons(0) {
                self.at += 2;
            } else if self.sign(0) == Some('{') {
                self.at += 1;
                while self.at < self.tokens.len() && self.sign(0) != Some('}') {
                    self.tree(&path);
                    self.at += usize::from(self.sign(0) == Some(','));
                }
                self.at += 1;
                return;
            } else if self.word(0) == Some("as") {
                self.at += 2;
            } else if let Some(word) = self.word(0).map(str::to_owned) {
                path.push(word);
                self.at += 1;
            } else if self.sign(0) == Some('*') {
                path.push("*".to_owned());
                self.at += 1;
            } else {
                break;
            }
        }
        self.note(line, &path);
    }

    /// An attribute; if it is for tests only, what it stands on, too.
    fn attribute(&mut self) {
        let (begin, mut depth) = (self.at, 0);
        let whole = self.sign(1) == Some('!');
        while self.at < self.tokens.len() {
            depth += i32::from(self.sign(0) == Some('[')) - i32::from(self.sign(0) == Some(']'));
            self.at += 1;
            if depth == 0 && self.at > begin + 2 {
                break;
            }
        }
        let has = |word: &str| self.tokens[begin..self.at].iter().any(|(_, token)| *token == Token::Word(word.into()));
        if !(has("cfg") && has("test") && !has("not")) {
            return;
        }
        if whole {
            self.at = self.tokens.len();
            return;
        }
        // to the end of the item: a semicolon, or the bracket that closes its body
        let mut depth = 0;
        while self.at < self.tokens.len() {
            let sign = self.sign(0);
            depth +=
                i32::from(matches!(sign, Some('{' | '(' | '['))) - i32::from(matches!(sign, Some('}' | ')' | ']')));
            self.at += 1;
            if depth == 0 && matches!(sign, Some(';' | '}')) {
                return;
            }
        }
    }
}

/// The files of `src` that are not tests, by their paths in it.
fn sources() -> BTreeMap<PathBuf, String> {
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
    let (root, mut out) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), BTreeMap::new());
    read(&root, &root, &mut out);
    out
}

#[test]
fn imports_point_down() {
    let sources = sources();
    let row = |file: &Path| file.iter().next().map(|first| Path::new(first).with_extension("")).expect("a name");
    let present: BTreeSet<PathBuf> = sources.keys().map(|file| row(file)).collect();
    let is_row = |name: &Path| MAP.iter().any(|(row, _)| Path::new(row) == name);
    let mut wrong: Vec<String> = MAP
        .iter()
        .filter(|(row, _)| !present.contains(Path::new(row)))
        .map(|(row, _)| format!("the map has {row}, src has not"))
        .collect();
    wrong.extend(present.iter().filter(|name| !is_row(name)).map(|name| format!("src/{} has no row", name.display())));
    let known = sources.iter().filter(|(file, _)| is_row(&row(file)));
    wrong.extend(known.flat_map(|(file, text)| offences(file, text)));
    assert!(wrong.is_empty(), "{} lines are not as the map says:\n{}", wrong.len(), wrong.join("\n"));
}

/// So nothing can be above itself.
#[test]
fn rows_name_rows_before_them() {
    for (n, (name, below)) in MAP.iter().enumerate() {
        let before = |below: &&str| MAP[..n].iter().any(|(row, _)| row == below);
        assert!(below.iter().all(before), "{name}: {below:?}");
    }
}

#[test]
fn paths_of_small_texts() {
    let rows: [(&str, &str, &[&str]); 21] = [
        ("ops/slice.rs", "use crate::item::DType;", &["1 item::DType"]),
        ("ops/slice.rs", "pub use crate::{a::b, c};", &["1 a::b", "1 c"]),
        ("ops/slice.rs", "use crate::{\n    a::{self, b as d},\n    c::*,\n};\n", &["2 a", "2 a::b", "3 c::*"]),
        ("ops/slice.rs", "use {crate::a, std::fs, super::b};", &["1 a", "1 ops::b"]),
        ("ops/slice.rs", "use std::fs;\nuse ndarray::{self, s};\nuse ::tensorop::a;", &["3 a"]),
        ("ops/slice.rs", "use super::x;\nuse super::super::y::z;", &["1 ops::x", "2 y::z"]),
        ("ops/mod.rs", "use super::x;\nuse self::y;", &["1 x", "2 ops::y"]),
        ("ops/indexed/targets.rs", "use super::x;\nuse super::super::super::y;", &["1 ops::indexed::x", "2 y"]),
        (
            "error.rs",
            "fn f() -> crate::item::DType {\n    super::memory::reserve(1)\n}",
            &["1 item::DType", "2 memory::reserve"],
        ),
        ("error.rs", "fn f<T: Into<crate::Error>>(a: &[crate::a::B; 2]) {}", &["1 Error", "1 a::B"]),
        ("error.rs", "impl crate::a::T for tensorop::b::C<'_> {}", &["1 a::T", "1 b::C"]),
        ("error.rs", "pub(crate) fn f() {}\npub(in crate::a) fn g() -> impl A + use<'_> {}", &["2 a"]),
        (
            "error.rs",
            "mod inner {\n    use super::a;\n    use super::super::b;\n}\nuse super::c;",
            &["2 error::a", "3 b", "5 c"],
        ),
        ("error.rs", "// crate::a::b\n/* crate::c::d /* */ crate::e::f */ use crate::g;\n", &["2 g"]),
        (
            "error.rs",
            "let a = \"crate::a::b\\\"\"; let b = r#\"\"crate::c\"\"#; let c = crate::d::e('\"', b'\\'', \"\n\");",
            &["1 d::e"],
        ),
        ("error.rs", "#[cfg(test)]\nmod tests {\n    use crate::a;\n    fn f() { { } }\n}\nuse crate::b;", &["6 b"]),
        ("error.rs", "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse crate::{a, b};\nuse crate::c;", &["5 c"]),
        (
            "error.rs",
            "#[cfg(all(test, unix))]\n#[allow(x)]\nfn f(a: [u8; 2]) { crate::a::b() }\nuse crate::c;",
            &["4 c"],
        ),
        ("error.rs", "#[cfg(not(test))]\nuse crate::a;\n#[derive(Debug)]\nstruct B(crate::c::D);", &["2 a", "4 c::D"]),
        ("error.rs", "#![cfg(test)]\nuse crate::a;", &[]),
        ("error.rs", "macro_rules! m { () => { $crate::a::b!(|x: &'a u8| 'c') }; }\nself.a();", &["1 a::b"]),
    ];
    let mut wrong = Vec::new();
    for (file, text, expected) in rows {
        let found = imports(&module_of(Path::new(file)), text);
        let found: Vec<String> = found.into_iter().map(|(line, path)| format!("{line} {}", path.join("::"))).collect();
        if found != expected {
            wrong.push(format!("{file}: {text}\n  {found:?}, expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_points_up_is_named() {
    let rows: [(&str, &str, &str); 8] = [
        ("ops/slice.rs", "use crate::item::DType;\nuse crate::layout::axis::Span;\nuse super::indexed;", ""),
        (
            "ops/slice.rs",
            "\nuse crate::engine::job::Job;",
            "src/ops/slice.rs:2: ops may not import engine (crate::engine::job::Job)",
        ),
        ("error.rs", "use crate::Tensor;", "src/error.rs:1: error may not import lib (crate::Tensor)"),
        ("diff/mod.rs", "use super::info::Stats;", "src/diff/mod.rs:1: diff may not import info (crate::info::Stats)"),
        ("engine/mod.rs", "use crate::{ops, storage, error::Error, memory};", ""),
        ("command/slice.rs", "use crate::{DType, format::Format, report};", ""),
        ("lib.rs", "pub use crate::diff::diff;", ""),
        ("main.rs", "fn main() { tensorop::command::main() }", ""),
    ];
    for (file, text, expected) in rows {
        assert_eq!(offences(Path::new(file), text).join("\n"), expected, "{file}: {text}");
    }
}
