//! Quantised weights as the numbers that they mean: `QuantizedReader` wraps the reader of a checkpoint, and makes one
//! member of the parts of each weight, which may be in several files.

mod assemble;
mod config;
mod matrix;
mod parts;
mod rules;
#[cfg(test)]
mod tests;
mod weight;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::assemble::Weight;
use self::config::Stated;
use self::parts::{Parts, Role};
pub use self::rules::LAYOUTS;
use self::rules::{RULES, Rule};
use super::content::{BlockDescription, Description, FileFacts, MemberFile};
use super::index_faults::IndexFaults;
use super::interface::Reader;
use super::located::{Located, Place};
use super::repeated_names::numbered;
use super::table::joined_by;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::storage::attachments::Attachments;
use crate::storage::requests::{RequestOptions, as_address};
use crate::storage::source::Source;
use crate::storage::unread::UnreadArray;

/// The layout that `--dequantize` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedLayout {
    /// The one that the checkpoint states.
    Stated,
    /// One of [`LAYOUTS`].
    Named(&'static str),
}

/// How many tensors make up weights of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizedCount {
    pub layout: &'static str,
    pub weights: usize,
    /// The members that are parts of weights.
    pub parts: Vec<usize>,
}

/// Returns the folder or address in which the files beside a checkpoint are.
pub(super) fn folder_of(located: &Located) -> Option<PathBuf> {
    match &located.place {
        Place::File(path) | Place::Absent(path) => Some(path.parent().unwrap_or(Path::new("")).to_owned()),
        Place::Folder(folder) => Some(folder.path.clone()),
        Place::Object(address) => as_address(Path::new(address))?.rsplit_once('/').map(|(folder, _)| folder.into()),
        Place::Stdin | Place::Json(_) | Place::Pipe(_) | Place::Store(..) => None,
    }
}

/// The parts of a weight, by their numbers in the checkpoint.
#[derive(Clone, Debug)]
struct FoundWeight {
    rule: &'static Rule,
    base: String,
    parts: Vec<(Role, usize)>,
}

/// How a weight is recognised, the surest first. Those of the last two are errors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// By codes of the dtype, with all that they need.
    Whole,
    /// By codes of the dtype.
    Codes,
    /// By other parts.
    Parts,
}

/// The tensors of a checkpoint by their names.
struct Checkpoint<'r> {
    reader: &'r dyn Reader,
    names: &'r [String],
    numbers: HashMap<&'r str, usize>,
}

impl<'r> Checkpoint<'r> {
    fn new(reader: &'r dyn Reader) -> Self {
        let names = reader.names().unwrap_or_default();
        let numbers = names.iter().enumerate().map(|(n, name)| (&**name, n)).collect();
        Self { reader, names, numbers }
    }

    /// The weights of a rule that a pass recognises.
    fn weights(&self, rule: &'static Rule, pass: Pass) -> impl Iterator<Item = FoundWeight> {
        let ending = if pass == Pass::Parts { rule.names.scales() } else { rule.names.codes };
        self.names.iter().enumerate().filter_map(move |(n, name)| {
            let base = name.strip_suffix(ending).filter(|base| !base.is_empty())?;
            let part = |(role, ending)| Some((role, *self.numbers.get(&*format!("{base}{ending}"))?));
            let parts: Vec<(Role, usize)> = rule.names.endings().filter_map(part).collect();
            let has = |(role, _): &(Role, &str)| parts.iter().any(|(found, _)| found == role);
            let has_dtype = || self.reader.describe(n).is_ok_and(|found| found.meta.dtype.kind() == rule.names.dtype);
            let is_meant = match pass {
                Pass::Whole => rule.names.required.iter().all(has) && has_dtype(),
                Pass::Codes => has_dtype(),
                Pass::Parts => parts.len() > 1 || rule.names.is_sure(),
            };
            is_meant.then(|| FoundWeight { rule, base: base.to_owned(), parts })
        })
    }

    /// The weights by some rules, by the numbers of their first parts.
    fn find(&self, rules: &[&'static Rule]) -> BTreeMap<usize, FoundWeight> {
        let (mut found, mut taken) = (BTreeMap::new(), HashSet::new());
        for pass in [Pass::Whole, Pass::Codes, Pass::Parts] {
            for weight in rules.iter().flat_map(|rule| self.weights(rule, pass)) {
                let numbers = || weight.parts.iter().map(|(_, n)| *n);
                let Some(first) = numbers().min().filter(|_| !numbers().any(|n| taken.contains(&n))) else { continue };
                taken.extend(numbers());
                found.insert(first, weight);
            }
        }
        found
    }

    /// The layouts that names and dtypes allow.
    fn candidates(&self) -> Vec<&'static str> {
        let may_be = |layout: &&str| {
            rules_of(&[layout]).into_iter().any(|rule| self.weights(rule, Pass::Whole).next().is_some())
        };
        LAYOUTS.into_iter().filter(may_be).collect()
    }
}

fn rules_of(layouts: &[&str]) -> Vec<&'static Rule> {
    RULES.iter().filter(|rule| layouts.contains(&rule.names.layout)).collect()
}

/// Counts the tensors that make up weights of the layouts that a checkpoint states. A checkpoint of other names is told
/// without opening another file.
///
/// # Errors
/// A file beside the checkpoint cannot be read.
pub(super) fn count(
    reader: &dyn Reader,
    folder: Option<&Path>,
    requests: RequestOptions,
) -> Result<Vec<QuantizedCount>> {
    let names = reader.names().unwrap_or_default();
    let is_part = |name: &String| RULES.iter().any(|rule| name.ends_with(rule.names.scales()));
    if !names.iter().any(is_part) {
        return Ok(Vec::new());
    }
    let Some(stated) = stated(reader, folder, requests)? else { return Ok(Vec::new()) };
    let found = Checkpoint::new(reader).find(&rules_of(&stated.layouts));
    let count = |layout| {
        let own = || found.values().filter(move |weight| weight.rule.names.layout == layout);
        let parts = own().flat_map(|weight| &weight.parts).map(|(_, n)| *n).collect();
        QuantizedCount { layout, weights: own().count(), parts }
    };
    Ok(LAYOUTS.into_iter().map(count).filter(|count| count.weights > 0).collect())
}

fn stated(reader: &dyn Reader, folder: Option<&Path>, requests: RequestOptions) -> Result<Option<Stated>> {
    let has_members = reader.names().is_some_and(|names| !names.is_empty());
    let metadata = if has_members { reader.file_of(0).ok().and_then(|file| file.metadata) } else { None };
    Stated::read(folder, metadata.as_deref(), requests)
}

/// A checkpoint with its weights as float32s, and all other tensors as they are.
#[derive(Debug)]
pub(super) struct QuantizedReader {
    inner: Box<dyn Reader>,
    stated: Stated,
    names: Vec<String>,
    members: Vec<Member>,
}

#[derive(Debug)]
enum Member {
    Stored(usize),
    Weight(FoundWeight),
}

/// Returns a reader of the weights that the parts in `inner` make up, and what was taken because the checkpoint does not
/// state it; `inner` itself if it has no such parts.
///
/// # Errors
/// A file beside the checkpoint cannot be read, states another layout than the one that is asked for, or none does.
pub(super) fn open(
    inner: Box<dyn Reader>,
    asked: AskedLayout,
    folder: Option<&Path>,
    requests: RequestOptions,
) -> Result<(Box<dyn Reader>, Option<&'static str>)> {
    let checkpoint = Checkpoint::new(&*inner);
    let candidates = checkpoint.candidates();
    if candidates.is_empty() {
        return Ok((inner, None));
    }
    let stated = stated(&*inner, folder, requests)?;
    let stated = match (stated, asked) {
        (Some(Stated { unknown: Some(unknown), file, .. }), AskedLayout::Stated) => {
            let message = format!("{file} states the layout {unknown:?}, which is not read");
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        }
        (Some(stated), AskedLayout::Stated) => stated,
        (Some(stated), AskedLayout::Named(layout)) if stated.layouts.contains(&layout) => stated,
        (Some(Stated { layouts, unknown, file, .. }), AskedLayout::Named(layout)) => {
            let told = unknown.unwrap_or_else(|| layouts.join(" and "));
            bail!("--dequantize={layout}: {file} states {told}")
        }
        (None, AskedLayout::Named(layout)) => {
            Stated { layouts: vec![layout], numbers: vec![Default::default()], ..Stated::default() }
        }
        (None, AskedLayout::Stated) => {
            let named = joined_by(&candidates, "or");
            bail!(
                "no config.json beside the tensors states how they are quantised: give --dequantize=LAYOUT; their names fit {named}"
            )
        }
    };
    let found = checkpoint.find(&rules_of(&stated.layouts));
    let taken: HashSet<usize> = found.values().flat_map(|weight| &weight.parts).map(|(_, n)| *n).collect();
    let others = checkpoint.names.iter().enumerate().filter(|(n, _)| !taken.contains(n));
    let mut all: BTreeMap<usize, (String, Member)> =
        others.map(|(n, name)| (n, (name.clone(), Member::Stored(n)))).collect();
    all.extend(found.into_iter().map(|(first, weight)| {
        let name = format!("{}{}", weight.base, weight.rule.names.weight);
        (first, (name, Member::Weight(weight)))
    }));
    let (names, members) = all.into_values().unzip();
    let assumed = stated.assumed;
    Ok((Box::new(QuantizedReader { inner, stated, names: numbered(names), members }), assumed))
}

impl QuantizedReader {
    fn weight(&self, found: &FoundWeight) -> Result<Weight> {
        let open = |role| {
            let (_, n) = found.parts.iter().find(|(of, _)| *of == role)?;
            let label = self.inner.names()?[*n].clone();
            Some(self.inner.source(*n, label))
        };
        let parts = Parts { names: &found.rule.names, base: &found.base, config: &self.stated.file, open: &open };
        match self.stated.modules.get(&found.base) {
            None => found.rule.weight(&parts, &self.stated.numbers),
            Some(Some(numbers)) => found.rule.weight(&parts, std::slice::from_ref(numbers)),
            Some(None) => bail!("{} states that {} is not quantised", self.stated.file, found.base),
        }
    }

    /// The member of the checkpoint that is this one, or holds its codes.
    fn stored(&self, n: usize) -> usize {
        match &self.members[n] {
            Member::Stored(n) => *n,
            Member::Weight(found) => found.parts[0].1,
        }
    }

    fn delegate<T>(&self, n: usize, of_member: impl FnOnce(&dyn Reader, usize) -> T) -> Option<T> {
        if let Member::Stored(n) = self.members[n] { Some(of_member(&*self.inner, n)) } else { None }
    }
}

impl Reader for QuantizedReader {
    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn facts(&self) -> FileFacts<'_> {
        self.inner.facts()
    }

    fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        self.inner.attachments()
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let found = match &self.members[n] {
            Member::Stored(n) => return self.inner.describe(*n),
            Member::Weight(found) => found,
        };
        let Weight { meta, .. } = self.weight(found)?;
        let bytes = found.parts.iter().map(|(_, n)| Ok(self.inner.describe(*n)?.bytes)).sum::<Result<u64>>()?;
        let blocks = Some(BlockDescription { name: found.rule.names.layout });
        Ok(Description { blocks, ..Description::new(meta, bytes, None) })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        match &self.members[n] {
            Member::Stored(n) => self.inner.source(*n, label),
            Member::Weight(found) => {
                let Weight { meta, items } = self.weight(found)?;
                Source::stored(meta, Arc::new(items), 0, label)
            }
        }
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        let file = self.inner.file_of(self.stored(n))?;
        let member = file.member.as_ref().map(|_| self.names[n].clone());
        Ok(MemberFile { member, ..file })
    }

    fn file_number(&self, n: usize) -> usize {
        self.inner.file_number(self.stored(n))
    }

    fn file_stem(&self, n: usize) -> Option<&str> {
        self.inner.file_stem(self.stored(n))
    }

    fn index_faults(&self) -> IndexFaults {
        self.inner.index_faults()
    }

    fn blocks(&self, n: usize, label: String) -> Result<Option<Source>> {
        self.delegate(n, |inner, n| inner.blocks(n, label)).unwrap_or(Ok(None))
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        self.delegate(n, |inner, n| inner.raw(n)).flatten()
    }

    fn unread(&self, n: usize) -> Result<Option<UnreadArray>> {
        self.delegate(n, |inner, n| inner.unread(n)).unwrap_or(Ok(None))
    }

    fn is_passed_over(&self, n: usize) -> bool {
        self.delegate(n, |inner, n| inner.is_passed_over(n)).unwrap_or(false)
    }

    fn is_constant(&self, n: usize) -> bool {
        self.delegate(n, |inner, n| inner.is_constant(n)).unwrap_or(false)
    }
}
