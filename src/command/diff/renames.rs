//! Finds tensors that two models have under different names: by a common prefix or by equal bytes.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use super::pairs::NamedPairs;
use crate::command::messages::counted;
use crate::command::operands::dtype_option::AskedDTypes;
use crate::container::glob::Rename;
use crate::container::names::list;
use crate::diff::{Outline, Style};
use crate::info;
use crate::operators::fill::Limits;
use crate::report::printable;

const MAX_READ_BYTES: u64 = 1 << 30;

const TRIED: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Renames {
    /// A rule for EXPECTED that gives every unpaired tensor of the smaller side a partner.
    pub rule: Option<Rename>,
    /// Names in ACTUAL by names in EXPECTED, for tensors of equal bytes.
    to: HashMap<String, String>,
    from: HashMap<String, String>,
    /// Candidates that were not read: too many bytes, or behind addresses.
    pub unread: usize,
}

struct Lone<'a> {
    name: &'a str,
    n: usize,
}

impl Renames {
    /// Looks for a rule only if `may_rename`.
    pub(crate) fn find(pairs: &NamedPairs, asked: &AskedDTypes<'_>, limits: Limits, may_rename: bool) -> Self {
        let lone = |side: usize| -> Vec<Lone<'_>> {
            let named = pairs.named.iter().filter(|(_, numbers)| numbers[1 - side].is_none());
            let numbered = named.filter_map(|(name, numbers)| Some(Lone { name, n: numbers[side]? }));
            numbered.filter(|one| !pairs.sides[side].is_not_read(one.n)).collect()
        };
        let (missing, extra) = (lone(0), lone(1));
        if missing.is_empty() || extra.is_empty() {
            return Self::default();
        }
        let mut found = Self::default();
        if may_rename {
            let names = |lone: &[Lone<'_>]| lone.iter().map(|one| one.name.to_owned()).collect::<Vec<_>>();
            let paired = pairs.named.iter().filter(|(_, numbers)| numbers.iter().all(Option::is_some));
            let paired: Vec<_> = paired.map(|(name, _)| name.as_str()).collect();
            found.rule = joining_rule(&names(&missing), &names(&extra), &paired);
        }
        found.pair_by_bytes(pairs, [&missing, &extra], asked, limits);
        found
    }

    pub(crate) fn partner(&self, side: usize, name: &str) -> Option<&str> {
        [&self.to, &self.from][side].get(name).map(String::as_str)
    }

    pub(crate) fn write(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        if self.unread > 0 {
            let unread = counted(self.unread, "missing or extra tensor was", "missing and extra tensors were");
            writeln!(out, "  {unread} not read to find renames: too many bytes, or behind addresses")?;
        }
        match &self.rule {
            None => Ok(()),
            Some(rule) => {
                let rule = style.quoted_option("rename", rule.text());
                writeln!(out, "  {rule} joins missing and extra tensors")
            }
        }
    }

    fn pair_by_bytes(&mut self, pairs: &NamedPairs, lone: [&[Lone<'_>]; 2], asked: &AskedDTypes<'_>, limits: Limits) {
        #[derive(Default)]
        struct Alike<'a> {
            sides: [Vec<&'a Lone<'a>>; 2],
            bytes: u64,
            costs_requests: bool,
        }
        let mut groups: HashMap<(String, Vec<usize>), Alike<'_>> = HashMap::new();
        for (side, all) in lone.into_iter().enumerate() {
            for one in all {
                // the comparison reports the error
                let Ok(source) = pairs.open_one(side, one.n, asked.of(Some(one.name))) else { continue };
                let Outline { dtype, shape } = Outline::new(source.dtype(), source.shape());
                let group = groups.entry((dtype, shape)).or_default();
                group.sides[side].push(one);
                group.bytes += source.bytes() as u64;
                group.costs_requests |= source.costs_requests();
            }
        }
        let mut groups: Vec<_> =
            groups.into_iter().filter(|(_, group)| group.sides.iter().all(|s| !s.is_empty())).collect();
        groups.sort_by(|(key, a), (other, b)| (a.bytes, key).cmp(&(b.bytes, other)));
        let mut bytes_left = MAX_READ_BYTES;
        for (_, Alike { sides, bytes, costs_requests }) in groups {
            if costs_requests || bytes > bytes_left {
                self.unread += sides.iter().map(Vec::len).sum::<usize>();
                continue;
            }
            bytes_left -= bytes;
            let mut hashes: HashMap<String, [Vec<&str>; 2]> = HashMap::new();
            for (side, one) in [0, 1].into_iter().flat_map(|side| sides[side].iter().map(move |one| (side, *one))) {
                let hash = pairs
                    .open_one(side, one.n, asked.of(Some(one.name)))
                    .ok()
                    .and_then(|mut source| info::hash(&mut source, limits, &|_| ()).ok());
                if let Some(hash) = hash {
                    hashes.entry(hash).or_default()[side].push(one.name);
                }
            }
            hashes.into_values().for_each(|[missing, extra]| self.pair(missing, extra));
        }
    }

    /// Pairs by the rule first.
    fn pair(&mut self, missing: Vec<&str>, mut extra: Vec<&str>) {
        let by_rule = |name: &str, extra: &[&str]| {
            let renamed = self.rule.as_ref()?.apply(name)?;
            extra.iter().position(|other| *other == renamed)
        };
        let (mut rest, mut paired) = (Vec::new(), Vec::new());
        for name in missing {
            match by_rule(name, &extra) {
                Some(at) => paired.push((name, extra.remove(at))),
                None => rest.push(name),
            }
        }
        for (name, other) in paired.into_iter().chain(rest.into_iter().zip(extra)) {
            self.to.insert(name.to_owned(), other.to_owned());
            self.from.insert(other.to_owned(), name.to_owned());
        }
    }
}

impl NamedPairs {
    /// Lines about tensors under the names of another file.
    pub(crate) fn lines_of_names(&self, option: &str, verbose: bool, as_stored: &[String]) -> Vec<String> {
        let named = || self.by_design.iter().map(|name| format!("on one side by design: {}", printable(name)));
        let mut lines = match &self.by_design[..] {
            _ if verbose => named().collect(),
            [] => Vec::new(),
            [name] => vec![format!("1 tensor is on one side by design: {}", printable(name))],
            [name, ..] => {
                let (count, name) = (self.by_design.len(), printable(name));
                vec![format!("{count} tensors are on one side by design, such as {name} ({option} names them)")]
            }
        };
        lines.extend(as_stored_line(as_stored));
        lines
    }
}

/// A line about tensors that fit better with their rows as stored.
pub(crate) fn as_stored_line(names: &[String]) -> Option<String> {
    let tensors = counted(names.len(), "tensor fits", "tensors fit");
    let line = || format!("{tensors} better with the rows as stored, not permuted for RoPE: {}", list(names));
    (!names.is_empty()).then(line)
}

/// Finds a rule that replaces, adds or removes a prefix, so that every name of the smaller side gets a partner and no
/// pair is lost.
fn joining_rule(missing: &[String], extra: &[String], paired: &[&str]) -> Option<Rename> {
    let is_few = missing.len() <= extra.len();
    let (few, many) = if is_few { (missing, extra) } else { (extra, missing) };
    let (first, others) = (few.first()?, many.iter().map(String::as_str).collect::<HashSet<_>>());
    let mut tried = HashSet::new();
    for other in many {
        let Some((old, new)) = prefixes(first, other) else { continue };
        let are_files = [old, new].iter().all(|prefix| prefix.is_empty() || prefix.ends_with(':'));
        // replacing a whole name by another would join any two tensors
        let is_prefix = old.is_empty() || new.is_empty() || are_files || few.len() > 1;
        if !is_prefix || few.len() < many.len() && !(old.is_empty() || new.is_empty() || are_files) {
            continue;
        }
        if !tried.insert((old, new)) {
            continue;
        }
        if tried.len() > TRIED {
            return None;
        }
        let renamed = |name: &String| name.strip_prefix(old).map(|rest| format!("{new}{rest}"));
        if !few.iter().all(|name| renamed(name).is_some_and(|name| others.contains(&*name))) {
            continue;
        }
        let (from, to) = if is_few { (old, new) } else { (new, old) };
        let is_plain = |prefix: &str| !prefix.contains(|c: char| "*='".contains(c) || c.is_control());
        let rule = Some(format!("{from}*={to}*")).filter(|_| is_plain(from) && is_plain(to));
        let rule = rule.and_then(|text| Rename::parse(&text).ok())?;
        let mut names = HashSet::new();
        let all = missing.iter().map(String::as_str).chain(paired.iter().copied());
        let keeps = all.clone().all(|name| names.insert(rule.apply(name).unwrap_or_else(|| name.to_owned())))
            && paired.iter().all(|name| rule.apply(name).is_none_or(|renamed| renamed == *name));
        if keeps {
            return Some(rule);
        }
    }
    None
}

/// Splits off the prefixes before the common ending, which begins after `.`, `:` or `/` or is a whole name.
fn prefixes<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    let same: usize =
        one.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (old, new): (_, &str) = (&one[..one.len() - same], &other[..other.len() - same]);
    if same > 0 && (old.is_empty() || new.is_empty()) {
        return Some((old, new));
    }
    let is_mark = |prefix: &str| prefix.is_empty() || prefix.ends_with(['.', ':', '/']);
    let ends =
        one[old.len()..].char_indices().map(|(at, _)| at).map(|at| (&one[..old.len() + at], &other[..new.len() + at]));
    ends.into_iter().find(|(old, new)| is_mark(old) && is_mark(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_join_names() {
        let rows: &[(&str, &str, &str, Option<&str>)] = &[
            // missing, extra, paired, rule
            ("w b", "model.w model.b", "", Some("*=model.*")),
            ("model.w model.b", "w b", "", Some("model.*=*")),
            ("w", "xw", "", Some("*=x*")),
            ("m:w m:b", "n:w n:b", "", Some("m:*=n:*")),
            ("m:w", "n:w", "", Some("m:*=n:*")),
            ("a.x.w a.x.b", "c.x.w c.x.b", "", Some("a.*=c.*")),
            // fewer on one side
            ("w b", "m:w m:b n:c", "", Some("*=m:*")),
            ("m:w m:b n:c", "w b", "", Some("m:*=*")),
            ("s/m:w", "n:w o:c", "", Some("s/m:*=n:*")),
            // pairs stay
            ("model.w model.b", "w b", "c", Some("model.*=*")),
            ("w b", "model.w model.b", "c", None),
            ("model.w", "w", "model.c", None),
            // different tensors, or no common prefix
            ("enc.w", "dec.w", "", None),
            ("head.w", "a.w b.w", "", None),
            ("a b", "c d", "", None),
            ("model.w model.b", "w c", "", None),
            ("w b", "m*.w m*.b", "", None),
            ("w b", "it's.w it's.b", "", None),
            ("", "w", "", None),
        ];
        for (missing, extra, paired, expected) in rows {
            let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let paired: Vec<_> = paired.split_whitespace().collect();
            let found = joining_rule(&names(missing), &names(extra), &paired);
            assert_eq!(found.as_ref().map(Rename::text), *expected, "{missing} and {extra}");
        }
    }
}
