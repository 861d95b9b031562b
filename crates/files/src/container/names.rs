//! Names of tensors: filters of a container or a folder, and the order of lists.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::path::PathBuf;

use super::glob::{Glob, Rename};

/// Patterns that select tensors, after rules that rename them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameFilter<'a> {
    /// A name must match one of these, if there are any.
    pub only: &'a [Glob],
    /// A name must match none of these.
    pub exclude: &'a [Glob],
    /// Each rule applies to the result of the previous one.
    pub rename: &'a [Rename],
}

/// The only model of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// The prefix of its tensor names beside other files.
    pub stem: String,
    /// Whether the folder has no other tensors.
    pub is_alone: bool,
}

/// The folder that was opened.
#[derive(Debug)]
pub(crate) struct InFolder {
    /// The only model and its path, if it is opened itself.
    pub model: Option<(ModelFile, PathBuf)>,
    /// Names of tensors outside the model.
    pub left_out: Vec<String>,
    /// A note on unused files beside an index.
    pub beside: Option<String>,
}

impl ModelFile {
    /// Returns whether a pattern matches a name with the stem. If the model is alone, the pattern needs a colon.
    pub fn is_matched(&self, glob: &Glob, name: &str) -> bool {
        (!self.is_alone || glob.text().contains(':')) && glob.matches(&self.within(name))
    }

    /// Returns a name with the stem.
    pub fn within(&self, name: &str) -> String {
        format!("{}:{name}", self.stem)
    }
}

impl<'a> NameFilter<'a> {
    /// Returns the filter without `only`.
    #[must_use]
    pub fn excluding(self) -> Self {
        Self { only: &[], ..self }
    }

    /// Returns the name after all renaming rules.
    pub fn renamed<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let apply = |name: Cow<'n, str>, rename: &Rename| rename.apply(&name).map_or(name, Cow::Owned);
        self.rename.iter().fold(Cow::Borrowed(name), apply)
    }

    /// Returns whether a tensor is taken, if `matches` decides about each pattern.
    pub fn takes_where(&self, matches: impl Fn(&Glob) -> bool) -> bool {
        (self.only.is_empty() || self.only.iter().any(&matches)) && !self.exclude.iter().any(&matches)
    }

    pub fn takes(&self, name: &str) -> bool {
        let name = self.renamed(name);
        self.takes_where(|glob| glob.matches(&name))
    }

    /// Returns whether a tensor of a folder's only model is taken.
    pub fn takes_of(&self, model: &ModelFile, name: &str) -> bool {
        let name = self.renamed(name);
        self.takes_where(|glob| glob.matches(&name) || model.is_matched(glob, &name))
    }

    /// Returns whether a name with this prefix may be taken.
    pub fn takes_within(&self, prefix: &str) -> bool {
        // If no rule matches the prefix, none changes the name.
        let some = |globs: &[Glob]| globs.iter().any(|glob| glob.matches_some_within(prefix));
        let is_renamed = self.rename.iter().any(|rename| rename.applies_within(prefix));
        let is_excluded = || self.exclude.iter().any(|glob| glob.matches_all_within(prefix));
        is_renamed || (self.only.is_empty() || some(self.only)) && !is_excluded()
    }
}

const NAMES: usize = 5;

/// Compares names in natural order: consecutive digits are one number. If only leading zeros differ, the shorter name
/// comes first.
pub fn by_numbers(a: &str, b: &str) -> Ordering {
    // Names of a model have long common prefixes, so only the rest is split. UTF-8 sorts like code points.
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let digits = a.as_bytes()[..same].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut left, mut right) = (&a.as_bytes()[same - digits..], &b.as_bytes()[same - digits..]);
    loop {
        let (x, y) = (word(&mut left), word(&mut right));
        let is_number = |word: &[u8]| word.first().is_some_and(u8::is_ascii_digit);
        let order = if is_number(x) && is_number(y) {
            let zeros = |word: &[u8]| word.iter().take_while(|byte| **byte == b'0').count();
            let (x, y) = (&x[zeros(x)..], &y[zeros(y)..]);
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            x.cmp(y)
        };
        match order {
            Ordering::Equal if x.is_empty() => return a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            Ordering::Equal => {}
            order => return order,
        }
    }
}

fn word<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (word, rest) = text.split_at(digits.max(1).min(text.len()));
    *text = rest;
    word
}

/// Lists the first names and the number of others.
pub fn list(names: &[impl AsRef<str>]) -> String {
    let mut names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    names.sort_by(|a, b| by_numbers(a, b));
    let shown: Vec<_> = names.iter().take(NAMES).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(NAMES);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// Returns up to three quoted names similar to `name`.
pub fn alike(name: &str, names: &[impl AsRef<str>]) -> Vec<String> {
    const ALIKE: f64 = 0.8;
    let lower = name.to_lowercase();
    let score = |other: &str| {
        let other = other.to_lowercase();
        let contained = !lower.is_empty() && (other.ends_with(&lower) || lower.ends_with(&other));
        if contained { 1.0 } else { strsim::jaro_winkler(&lower, &other) }
    };
    let names = names.iter().map(AsRef::as_ref);
    let mut near: Vec<_> = names.map(|other| (score(other), other)).filter(|(s, _)| *s >= ALIKE).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| by_numbers(a.1, b.1)));
    near.into_iter().take(3).map(|(_, name)| format!("{name:?}")).collect()
}

pub(crate) fn joined_by<S: Borrow<str>>(words: &[S], word: &str) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} {word} {}", first.join(", "), last.borrow()),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_the_name_of_its_file() {
        let rows = [
            // Pattern, exclusion, and whether `w` of `m` is taken alone and beside others.
            ("w", "", true, true),
            ("m:*", "", true, true),
            ("m*", "", false, true),
            ("n:*", "", false, false),
            ("", "m*", true, false),
            ("", "m:w", false, false),
            ("m:*", "w", false, false),
            ("", "n:*", true, true),
        ];
        let globs = |text: &str| if text.is_empty() { vec![] } else { vec![Glob::new(text)] };
        for (only, exclude, alone, beside) in rows {
            let (only, exclude) = (globs(only), globs(exclude));
            let filter = NameFilter { only: &only, exclude: &exclude, rename: &[] };
            let takes = |is_alone| filter.takes_of(&ModelFile { stem: "m".to_owned(), is_alone }, "w");
            assert_eq!((takes(true), takes(false)), (alone, beside), "{only:?} {exclude:?}");
        }
    }

    #[test]
    fn numbers_in_names() {
        let sorted = [
            "",
            "a",
            "a.b",
            "a0",
            "a00",
            "a1",
            "a01",
            "a1b",
            "a2",
            "a2.9",
            "a2.10",
            "a10",
            "a010",
            "a99999999999999999999",
            "a100000000000000000000",
            "b",
            "b.2.c",
            "b.10.a",
            "\u{e8}10",
            "\u{e9}2",
            "\u{e9}10",
            "\u{ffff}",
            "\u{10000}",
        ];
        for (n, a) in sorted.iter().enumerate() {
            for (m, b) in sorted.iter().enumerate() {
                assert_eq!(by_numbers(a, b), n.cmp(&m), "{a:?} {b:?}");
            }
        }
    }
}
