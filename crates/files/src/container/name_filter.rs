//! Selects tensors of a container or a folder by their names.

use std::borrow::Cow;
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
}
