//! The list of tests that are known to fail, for `check --expect`.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use super::listed_names::listed_names;
use crate::error::{Context, Result, malformed};

pub(super) struct KnownFailures {
    file: String,
    ids: BTreeSet<String>,
}

impl KnownFailures {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let place = || format!("--expect {file}");
        let text = String::from_utf8(std::fs::read(path).with_context(place)?);
        let text = text.map_err(|error| malformed!("not UTF-8: {error}")).with_context(place)?;
        Ok(Self { ids: listed_names(&text).map(str::to_owned).collect(), file: file.clone() })
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn without_tests<'a>(
        &'a self,
        tests: &'a HashSet<String>,
    ) -> impl Iterator<Item = (&'a str, String)> + 'a {
        let unknown = self.ids.iter().filter(|id| !tests.contains(*id));
        unknown.map(|id| (id.as_str(), format!("{} lists this id, and no test has it", self.file)))
    }
}
