//! `diff --first`: compares tensors in order, up to the first that does not pass.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow, bail};

use super::pairs::{Comparing, NamedPairs};
use super::{Diff, print, unlisted};
use crate::command::operands::dtype_option::AskedDTypes;
use crate::command::operands::list_options::listed_names;
use crate::command::options::MemberOptions;
use crate::command::options::members::meant;
use crate::command::process::io::{Outcome, Run, complain};
use crate::command::process::meter::Meter;
use crate::container::names::list;
use crate::findings::metadata::FilePairs;
use crate::parallel::locked;
use crate::report::printable;
use crate::reports::models::{FirstDifferent, Models, TensorVerdict};

impl Diff {
    pub(crate) fn check_globs(&self, names: &[&str]) -> Result<()> {
        self.passing.check_globs(names)?;
        self.dumps.check_globs(names)
    }

    pub(crate) fn lines_of_names(&self, pairs: &NamedPairs, how: &Comparing<'_>) -> Vec<String> {
        pairs.lines_of_names(self.verbose_option(), self.input.verbose, &locked(&how.as_stored))
    }

    pub(crate) fn write_left_alone(&self, out: &mut dyn Write, paths: &[String]) -> io::Result<()> {
        match paths.len() {
            0 => Ok(()),
            _ if self.input.verbose => {
                paths.iter().try_for_each(|path| writeln!(out, "  left alone: {}", printable(path)))
            }
            1 => writeln!(out, "  1 file left alone ({} names it)", self.verbose_option()),
            count => writeln!(out, "  {count} files left alone ({} names them)", self.verbose_option()),
        }
    }

    pub(crate) fn first(&self, run: Run<'_>, pairs: &NamedPairs, asked: &AskedDTypes<'_>) -> Result<Outcome> {
        let Run { io, limits, .. } = run;
        let order = match &self.dumps.order {
            None => pairs.expected_order(),
            Some(path) => pairs.listed_order(path, &self.members)?,
        };
        let how = Comparing {
            pairs,
            asked,
            options: &|name| self.options(name),
            effort: self.effort(limits),
            is_golden: self.is_golden(),
            partner: &|_, _| None,
            as_stored: Mutex::default(),
        };
        let mut models = Models::new(self.form(io), self.style(io));
        models.only_different = true;
        let (mut files, mut first) = (FilePairs::default(), None);
        let meter = Meter::new(run, Some(pairs.bytes()));
        for (before, &n) in order.iter().enumerate() {
            let name = &pairs.named[n].0;
            let found = how.compare_one(n, &mut models, &mut files, &|bytes| meter.add(bytes))?;
            models.add(name, &found)?;
            if !found.verdict().passes() {
                first = Some(FirstDifferent { name: name.clone(), found, not_compared: order.len() - before - 1 });
                break;
            }
        }
        if first.is_none() {
            let labels = [&*self.expected.label, &self.actual.label];
            models.unlisted = unlisted::compare(pairs, labels, &self.members, asked, how.options, how.effort);
            // after an early stop, `--dtype` may be for tensors that were not opened
            asked.finish()?;
        }
        meter.finish();
        (models.ends_at_first, models.first) = (true, first.clone());
        let left_alone = pairs.left_alone();
        models.left_alone.clone_from(&left_alone);
        print(io, &mut |out| {
            models.write(out)?;
            if self.json || self.summary {
                return Ok(());
            }
            self.write_left_alone(out, &left_alone)?;
            self.lines_of_names(pairs, &how).iter().try_for_each(|line| writeln!(out, "  {line}"))
        })?;
        Ok(match first {
            Some(FirstDifferent { name, found, .. }) if found.verdict() == TensorVerdict::Unreadable => {
                complain(&io.stderr, &anyhow!("{name:?} cannot be read, so the first difference is unknown"))
            }
            _ => Outcome::from_verdict(models.equal()),
        })
    }
}

impl NamedPairs {
    /// In a container the order of storage, in a folder the natural order of names.
    fn expected_order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.named.len()).collect();
        order.sort_by_key(|&n| {
            let expected = self.named[n].1[0];
            (expected.is_none(), expected.and_then(|expected| self.sides[0].number(expected)), n)
        });
        order
    }

    fn listed_order(&self, path: &Path, members: &MemberOptions) -> Result<Vec<usize>> {
        let label = || format!("--order {}", path.display());
        let text = fs::read_to_string(path).with_context(label)?;
        let names: Vec<_> = listed_names(&text).collect();
        let expected = self.sides[0].tensors()?.into_iter().map(|(name, _)| members.renamed(name));
        let actual = self.sides[1].tensors()?.into_iter().map(|(name, _)| name.to_owned());
        let known: HashSet<String> = expected.chain(actual).collect();
        let unknown: Vec<_> = names.iter().copied().filter(|name| !known.contains(*name)).collect();
        match unknown[..] {
            [] => {}
            [name] => {
                let known: Vec<_> = known.iter().map(String::as_str).collect();
                bail!("{}: no tensor is called {name:?}{}", label(), meant(name, &known))
            }
            _ => bail!("{}: no tensors are called {}", label(), list(&unknown)),
        }
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (at, name) in names.into_iter().enumerate() {
            places.entry(name).or_insert(at);
        }
        let mut order: Vec<_> = (0..self.named.len()).collect();
        order.sort_by_key(|&n| (places.get(self.named[n].0.as_str()).copied().unwrap_or(usize::MAX), n));
        Ok(order)
    }
}
