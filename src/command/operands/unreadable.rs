//! The tensors of a container that cannot be read.

use std::collections::HashMap;

use anyhow::{Error, anyhow};

use super::member::Member;
use crate::command::messages::{counted, reason};
use crate::command::process::io::{Outcome, complain};
use crate::container::name_order::list;
use crate::opening::input::Input;
use crate::storage::targets::stream::OutputStream;

/// Files with a line each. If there are more, as in a model without its shards, only the first has one.
const MAX_FILES: usize = 20;

#[derive(Default)]
pub(crate) struct Failures(Vec<(Member, Error)>);

impl Failures {
    pub(crate) fn add(&mut self, member: Member, error: Error) {
        self.0.push((member, error));
    }

    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, String)> {
        self.0.iter().map(|(Member { n, label, .. }, error)| (*n, reason(error, label)))
    }

    pub(crate) fn complain(self, input: &Input, stderr: &OutputStream) -> Outcome {
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut files: Vec<Vec<(Member, Error)>> = Vec::new();
        for (member, error) in self.0 {
            let next = files.len();
            let at = *numbers.entry(input.members().file_number(member.n)).or_insert(next);
            if at == next {
                files.push(Vec::new());
            }
            files[at].push((member, error));
        }
        let more = files.len().saturating_sub(MAX_FILES);
        let shown = if more > 0 { 1 } else { files.len() };
        let count = files.len() - shown;
        let lines = files.into_iter().take(shown).map(|failed| match line(input, failed) {
            error if count == 0 => error,
            error => anyhow!("{error} (and {count} more files)"),
        });
        lines.fold(Outcome::Done, |_, error| complain(stderr, &error))
    }
}

fn line(input: &Input, mut failed: Vec<(Member, Error)>) -> Error {
    if failed.len() == 1 {
        return failed.swap_remove(0).1;
    }
    let reasons: Vec<_> = failed.iter().map(|(member, error)| reason(error, &member.label)).collect();
    let names: Vec<_> = failed.iter().filter_map(|(member, _)| member.name()).collect();
    let (count, label) = (counted(failed.len(), "tensor", "tensors"), input.label());
    // if reasons differ, only the first is given, with its tensor
    let whose = match names.first().filter(|_| reasons.iter().any(|reason| *reason != reasons[0])) {
        Some(name) => format!("; {name:?}"),
        None => String::new(),
    };
    anyhow!("{label}: {count} cannot be read ({}){whose}: {}", list(&names), reasons[0])
}
