//! Which tensors are taken of a container or of a folder, by the names that they have there.

use std::borrow::Cow;
use std::path::PathBuf;

use super::glob::{Glob, Rename};

/// The patterns that choose tensors by their names, and the rules that give them other names before.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameFilter<'a> {
    /// What a name must match, if there are any.
    pub only: &'a [Glob],
    /// What a name may not match.
    pub exclude: &'a [Glob],
    /// The rules that change names, one after the other: each takes the names that those before it made.
    pub rename: &'a [Rename],
}

/// The file that a folder stands for, which the names of its tensors do not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// What the names of its tensors would begin with, before a colon.
    pub stem: String,
    /// Whether the folder holds no other tensors. If it does, patterns chose this file by what names begin with.
    pub is_alone: bool,
}

/// What is known of the one model of a folder beside its tensors.
#[derive(Debug)]
pub(super) struct InFolder {
    /// The path of the file that the folder stands for.
    pub path: PathBuf,
    /// The file that the folder stands for.
    pub model: ModelFile,
    /// The names of tensors in the folder that patterns leave out.
    pub left_out: Vec<String>,
}

impl ModelFile {
    /// Returns whether a pattern matches a tensor by its name behind that of the file. In a folder that holds nothing else,
    /// only a pattern with a colon may mean that.
    pub fn is_matched(&self, glob: &Glob, name: &str) -> bool {
        (!self.is_alone || glob.text().contains(':')) && glob.matches(&self.within(name))
    }

    /// Returns the name that a tensor has beside others of the folder.
    pub fn within(&self, name: &str) -> String {
        format!("{}:{name}", self.stem)
    }
}

impl<'a> NameFilter<'a> {
    /// Returns the patterns that leave out tensors, without those that choose some.
    #[must_use]
    pub fn excluding(self) -> Self {
        Self { only: &[], ..self }
    }

    /// Returns what a tensor of that name is called after the rules.
    pub fn renamed<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let apply = |name: Cow<'n, str>, rename: &Rename| rename.apply(&name).map_or(name, Cow::Owned);
        self.rename.iter().fold(Cow::Borrowed(name), apply)
    }

    /// Returns whether a tensor is taken whose name after the rules is matched as `matches` tells.
    pub fn takes_where(&self, matches: impl Fn(&Glob) -> bool) -> bool {
        (self.only.is_empty() || self.only.iter().any(&matches)) && !self.exclude.iter().any(&matches)
    }

    /// Returns whether a tensor of that name is taken.
    pub fn takes(&self, name: &str) -> bool {
        let name = self.renamed(name);
        self.takes_where(|glob| glob.matches(&name))
    }

    /// Returns whether a tensor of the file that a folder stands for is taken.
    pub fn takes_of(&self, model: &ModelFile, name: &str) -> bool {
        let name = self.renamed(name);
        self.takes_where(|glob| glob.matches(&name) || model.is_matched(glob, &name))
    }

    /// Returns whether a tensor may be taken whose name begins with `prefix`.
    pub fn takes_within(&self, prefix: &str) -> bool {
        // if no rule matches such a name, no rule changes it, so the order of the rules does not matter here
        let some = |globs: &[Glob]| globs.iter().any(|glob| glob.matches_some_within(prefix));
        let is_renamed = self.rename.iter().any(|rename| rename.applies_within(prefix));
        let is_excluded = || self.exclude.iter().any(|glob| glob.matches_all_within(prefix));
        is_renamed || (self.only.is_empty() || some(self.only)) && !is_excluded()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_the_name_of_its_file() {
        let rows = [
            // patterns, whether w of m is taken where the folder has nothing else, and where it has
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
}
