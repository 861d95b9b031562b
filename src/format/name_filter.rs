//! Selects tensors of a container or a folder by their names.

use std::borrow::Cow;
use std::path::PathBuf;

use super::glob::{Glob, Rename};

/// Patterns that select tensors, applied after rules that rename them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameFilter<'a> {
    /// Patterns of which a name must match one, if there are any.
    pub only: &'a [Glob],
    /// Patterns that a name must not match.
    pub exclude: &'a [Glob],
    /// Renaming rules, each applied to the result of the previous one.
    pub rename: &'a [Rename],
}

/// The only model of a folder, whose tensor names omit the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// The prefix of its tensor names beside other files, without the colon.
    pub stem: String,
    /// Whether the folder holds no other tensors.
    pub is_alone: bool,
}

#[derive(Debug)]
pub(super) struct InFolder {
    /// The path of the model's file.
    pub path: PathBuf,
    pub model: ModelFile,
    pub left_out: Vec<String>,
}

impl ModelFile {
    /// Returns whether a pattern matches a tensor's name with the stem. If the model is alone, the pattern needs a
    /// colon.
    pub fn is_matched(&self, glob: &Glob, name: &str) -> bool {
        (!self.is_alone || glob.text().contains(':')) && glob.matches(&self.within(name))
    }

    /// Returns the tensor's name with the stem.
    pub fn within(&self, name: &str) -> String {
        format!("{}:{name}", self.stem)
    }
}

impl<'a> NameFilter<'a> {
    /// Returns the filter without the patterns that a name must match.
    #[must_use]
    pub fn excluding(self) -> Self {
        Self { only: &[], ..self }
    }

    /// Returns the name after all renaming rules.
    pub fn renamed<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let apply = |name: Cow<'n, str>, rename: &Rename| rename.apply(&name).map_or(name, Cow::Owned);
        self.rename.iter().fold(Cow::Borrowed(name), apply)
    }

    /// Returns whether the filter takes a tensor, if `matches` decides about each pattern.
    pub fn takes_where(&self, matches: impl Fn(&Glob) -> bool) -> bool {
        (self.only.is_empty() || self.only.iter().any(&matches)) && !self.exclude.iter().any(&matches)
    }

    /// Returns whether the filter takes a tensor.
    pub fn takes(&self, name: &str) -> bool {
        let name = self.renamed(name);
        self.takes_where(|glob| glob.matches(&name))
    }

    /// Returns whether the filter takes a tensor of a folder's only model.
    pub fn takes_of(&self, model: &ModelFile, name: &str) -> bool {
        let name = self.renamed(name);
        self.takes_where(|glob| glob.matches(&name) || model.is_matched(glob, &name))
    }

    /// Returns whether the filter may take a tensor whose name begins with `prefix`.
    pub fn takes_within(&self, prefix: &str) -> bool {
        // If no rule matches the prefix, none changes the name, so their order does not matter.
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
            // Pattern, exclusion, and whether `w` of `m` is taken alone and beside other files.
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
