//! Quantised weights as the numbers that they mean: `QuantizedReader` wraps the reader of a checkpoint, and makes one
//! member of the parts of each weight, which may be in several files.

pub(crate) mod assemble;
pub(crate) mod byte_codes;
pub(crate) mod config;
pub(crate) mod find;
pub(crate) mod graph;
pub(crate) mod matrix;
pub(crate) mod methods;
pub(crate) mod parts;
pub(crate) mod rules;
#[cfg(test)]
mod tests;
mod values;
pub(crate) mod weight;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use self::assemble::Weight;
use self::config::{Stated, metadata_without_layout};
pub use self::config::{is_layout_file, without_layout};
use self::find::{Checkpoint, FoundWeight, MARKER, OF_ACTIVATIONS, foreign, is_part, mark};
use self::parts::{PartNumbers, Role, WeightParts};
use self::rules::COMFY;
pub use self::rules::LAYOUTS;
use crate::container::content::{BlockDescription, Description, GraphWeight, KnownTensor, MemberFile, QuantizedGraph};
use crate::container::interface::{Members, ReadableFile, Reader, StoredMember};
use crate::container::names::joined_by;
use crate::narrow::units::ByUnits;
use crate::storage::requests::RequestOptions;
use crate::storage::source::{FileMetadata, Source};
use tensorop_kernels::error::{Error, ErrorKind, Result, bail, ensure};

/// The layout that `--dequantize` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedLayout {
    /// One of [`LAYOUTS`]; `None` for the one that the checkpoint states.
    layout: Option<&'static str>,
    /// The numbers of a layout that the checkpoint does not state.
    numbers: PartNumbers,
}

impl AskedLayout {
    /// The layout that the checkpoint states.
    pub fn stated() -> Self {
        Self { layout: None, numbers: PartNumbers::default() }
    }

    /// One of [`LAYOUTS`], with numbers as `KEY=VALUE,…`, whose keys are those of configs.
    ///
    /// # Errors
    /// A key is not known.
    pub fn named(layout: &'static str, numbers: &str) -> Result<Self> {
        Ok(Self { layout: Some(layout), numbers: PartNumbers::parse(numbers)? })
    }
}

/// How many tensors make up weights of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizedCount {
    pub layout: &'static str,
    pub weights: usize,
    /// The members that are parts of weights.
    pub parts: Vec<usize>,
}

const PADDED: &str = "nvfp4 of ComfyUI is padded to multiples of 16, and the shapes without padding are not stored";

/// Counts the tensors that make up weights of the layouts that a checkpoint states. A checkpoint of other names is told
/// without opening another file.
///
/// # Errors
/// A file beside the checkpoint cannot be read.
pub(crate) fn count(
    file: &ReadableFile,
    folder: Option<&Path>,
    requests: RequestOptions,
) -> Result<Vec<QuantizedCount>> {
    if let Some(graph) = &file.members.graph {
        let readable = || graph.weights.iter().filter(|weight| weight.fault.is_none());
        let of_operator = |operator| {
            let own = || readable().filter(move |weight| weight.operator == operator);
            // weights may share a zero point
            let parts: BTreeSet<usize> = own().flat_map(GraphWeight::parts).collect();
            QuantizedCount { layout: operator, weights: own().count(), parts: parts.into_iter().collect() }
        };
        let operators: BTreeSet<&str> = readable().map(|weight| weight.operator).collect();
        return Ok(operators.into_iter().map(of_operator).collect());
    }
    if !file.members.names().unwrap_or_default().iter().any(|name| is_part(name)) {
        return Ok(Vec::new());
    }
    let Some(stated) = stated(file, folder, requests)? else { return Ok(Vec::new()) };
    let found = Checkpoint::new(file).find(&stated);
    let count = |layout| {
        let own = || found.values().filter(move |weight| weight.rule.names.layout == layout);
        let parts = own().flat_map(|weight| &weight.parts).map(|(_, n)| *n).collect();
        QuantizedCount { layout, weights: own().count(), parts }
    };
    Ok(LAYOUTS.into_iter().map(count).filter(|count| count.weights > 0).collect())
}

fn stated(file: &ReadableFile, folder: Option<&Path>, requests: RequestOptions) -> Result<Option<Stated>> {
    let has_members = file.members.names().is_some_and(|names| !names.is_empty());
    let metadata = if has_members { file.file_of(0).ok().and_then(|file| file.metadata) } else { None };
    let metadata = metadata.as_ref().map(|metadata| &*metadata.kept);
    let stated = Stated::read(folder, metadata, requests)?;
    Ok(stated.or_else(|| {
        let marked = file.members.names()?.iter().find_map(|name| Some((name, mark(name)?.2)));
        let (name, layouts) = marked.filter(|(_, layouts)| !layouts.is_empty())?;
        Some(Stated {
            file: name.clone(),
            layouts: layouts.to_vec(),
            numbers: vec![PartNumbers::default()],
            ..Stated::default()
        })
    }))
}

/// A checkpoint with its weights as float32s, and all other tensors as they are.
#[derive(Debug)]
pub(crate) struct QuantizedReader {
    inner: ReadableFile,
    stated: Stated,
    found: Vec<WeightMember>,
    names: Arc<Vec<String>>,
}

#[derive(Debug)]
enum WeightMember {
    Stored(usize),
    Weight(FoundWeight),
    /// Of a model.
    Computed(GraphWeight),
    /// A part of no weight, and the reason why it is not read.
    Unclaimed(usize, String),
}

/// The quantised weights of a checkpoint, and notes on them.
#[derive(Clone, Debug, Default)]
pub struct Dequantized {
    /// The number of members that are weights, or parts of broken ones.
    pub weights: usize,
    /// The names of the scales of activations that are hidden.
    pub left_alone: Vec<String>,
    /// Lines for the user.
    pub notes: Vec<String>,
}

/// Returns a reader of the weights that the parts in `inner` make up; `inner` itself if it states no layout and has no such
/// parts. Scales of activations remain members if `is_named` says so.
///
/// # Errors
/// A file beside the checkpoint cannot be read, states a layout that is not read or another than requested, or none does.
pub(crate) fn open(
    inner: ReadableFile,
    asked: &AskedLayout,
    folder: Option<&Path>,
    requests: RequestOptions,
    is_named: impl Fn(&str) -> bool,
) -> Result<(ReadableFile, Dequantized)> {
    if inner.members.names().is_none_or(<[_]>::is_empty) {
        return Ok((inner, Dequantized::default()));
    }
    if let Some(graph) = inner.members.graph.clone().filter(|graph| !graph.weights.is_empty()) {
        ensure!(*asked == AskedLayout::stated(), "--dequantize: the nodes of a model state its layout");
        return Ok(open_model(inner, &graph, is_named));
    }
    let checkpoint = Checkpoint::new(&inner);
    let mut stated = match (stated(&inner, folder, requests)?, asked.layout) {
        (Some(Stated { unknown: Some(unknown), file, .. }), None) => {
            let message = format!("{file} states the layout {unknown:?}, which is not read");
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        }
        (Some(stated), None) => stated,
        (Some(stated), Some(layout)) if stated.layouts.contains(&layout) => stated,
        (Some(Stated { layouts, unknown, file, .. }), Some(layout)) => {
            let told = unknown.unwrap_or_else(|| layouts.join(" and "));
            bail!("--dequantize={layout}: {file} states {told}")
        }
        (None, asked) => {
            let candidates = checkpoint.candidates();
            let mut marked = checkpoint.names.iter().filter_map(|name| Some((name, foreign(name)?)));
            if let Some((name, writer)) = marked.next().filter(|_| candidates.is_empty() || asked.is_none()) {
                let message = format!("{name} is a part of a weight of {writer}, which is not read");
                return Err(Error::from_kind(ErrorKind::Unsupported, message));
            }
            match asked {
                _ if candidates.is_empty() => Stated::default(),
                Some(layout) => {
                    Stated { layouts: vec![layout], numbers: vec![PartNumbers::default()], ..Stated::default() }
                }
                None => {
                    let named = joined_by(&candidates, "or");
                    bail!(
                        "no config.json beside the tensors states how they are quantised: give --dequantize=LAYOUT; their names fit {named}"
                    )
                }
            }
        }
    };
    if asked.numbers != PartNumbers::default() {
        let is_free =
            stated.modules.is_empty() && stated.numbers.iter().all(|numbers| *numbers == PartNumbers::default());
        ensure!(is_free, "--dequantize: {} states the numbers of the layout", stated.file);
        stated.numbers = vec![asked.numbers.clone()];
    }
    let found = checkpoint.find(&stated);
    let is_padded = found.values().any(|weight| weight.rule.names.layout == COMFY && weight.has(Role::Whole));
    let taken: HashSet<usize> = found.values().flat_map(|weight| &weight.parts).map(|(_, n)| *n).collect();
    let (mut members, mut left_alone) = (BTreeMap::new(), Vec::new());
    let is_marker = |name: &str| stated.layouts.contains(&COMFY) && name.ends_with(MARKER);
    let others = checkpoint.names.iter().enumerate().filter(|(n, name)| !taken.contains(n) && !is_marker(name));
    for (n, name) in others {
        let member = match OF_ACTIVATIONS.iter().any(|ending| name.ends_with(ending)) {
            true if !is_named(name) => {
                left_alone.push(name.clone());
                continue;
            }
            true => WeightMember::Stored(n),
            false => match checkpoint.unclaimed(n, &stated) {
                Some(reason) => WeightMember::Unclaimed(n, reason),
                None => WeightMember::Stored(n),
            },
        };
        members.insert(n, (name.clone(), member));
    }
    members.extend(found.into_iter().map(|(first, weight)| {
        let name = format!("{}{}", weight.base, weight.rule.names.weight);
        (first, (name, WeightMember::Weight(weight)))
    }));
    let mut notes: Vec<String> = stated.assumed.map(str::to_owned).into_iter().collect();
    notes.extend(is_padded.then(|| PADDED.to_owned()));
    if let [first, others @ ..] = &checkpoint.unmatched(&stated)[..] {
        let others = match others.len() {
            0 => String::new(),
            1 => ", nor 1 other entry".to_owned(),
            count => format!(", nor {count} other entries"),
        };
        notes.push(format!("{}: no tensor matches {first}{others}", stated.file));
    }
    Ok(with_members(inner, stated, members, Dequantized { left_alone, notes, ..Dequantized::default() }))
}

/// The weights that the nodes of a model compute, and its other constants.
fn open_model(
    inner: ReadableFile,
    graph: &QuantizedGraph,
    is_named: impl Fn(&str) -> bool,
) -> (ReadableFile, Dequantized) {
    let parts: HashSet<usize> = graph.weights.iter().flat_map(GraphWeight::parts).collect();
    let activations: HashSet<usize> = graph.activations.iter().copied().collect();
    let (mut members, mut left_alone) = (BTreeMap::new(), Vec::new());
    for (n, name) in inner.members.names().unwrap_or_default().iter().enumerate().filter(|(n, _)| !parts.contains(n)) {
        if activations.contains(&n) && !is_named(name) {
            left_alone.push(name.clone());
        } else {
            members.insert(n, (name.clone(), WeightMember::Stored(n)));
        }
    }
    let weights = graph
        .weights
        .iter()
        .map(|weight| (weight.codes, (weight.name.clone(), WeightMember::Computed(weight.clone()))));
    members.extend(weights);
    with_members(inner, Stated::default(), members, Dequantized { left_alone, ..Dequantized::default() })
}

/// Reads weights in the places of their first parts. Without weights, returns `inner`.
fn with_members(
    inner: ReadableFile,
    stated: Stated,
    members: BTreeMap<usize, (String, WeightMember)>,
    found: Dequantized,
) -> (ReadableFile, Dequantized) {
    let (names, weights): (Vec<_>, Vec<WeightMember>) = members.into_values().unzip();
    let count = weights.iter().filter(|member| !matches!(member, WeightMember::Stored(_))).count();
    if count == 0 && found.left_alone.is_empty() {
        return (inner, found);
    }
    let (members, names) = inner.members.made_over(names, weights.iter().map(WeightMember::stored), count > 0);
    let members = Members { graph: None, ..members };
    let file = ReadableFile::new(members, QuantizedReader { inner, stated, found: weights, names });
    (file, Dequantized { weights: count, ..found })
}

impl WeightMember {
    /// The member of the checkpoint that is this one, or holds its codes.
    fn stored(&self) -> usize {
        match self {
            Self::Stored(n) | Self::Unclaimed(n, _) => *n,
            Self::Weight(found) => found.parts[0].1,
            Self::Computed(weight) => weight.codes,
        }
    }
}

impl QuantizedReader {
    fn computed(&self, weight: &GraphWeight) -> Result<Weight> {
        let names = self.inner.members.names().unwrap_or_default();
        graph::assemble(weight, &|n| {
            let label = names.get(n).unwrap_or(&weight.name).clone();
            // a constant without a name is not one of the container
            Reader::source(&*self.inner, n, label)
        })
    }

    fn weight(&self, found: &FoundWeight) -> Result<Weight> {
        let open = |role| {
            let (_, n) = found.parts.iter().find(|(of, _)| *of == role)?;
            let label = self.inner.members.names()?[*n].clone();
            Some(self.inner.source(*n, label))
        };
        let others: Vec<_> = found.others.iter().map(|rule| &rule.names).collect();
        let (names, base, config) = (&found.rule.names, &*found.base, &*self.stated.file);
        let parts = WeightParts { names, others: &others, base, config, open: &open };
        let missing = names.needed().find(|(role, _)| !found.has(*role));
        if let Some((role, _)) = missing {
            bail!("{}", parts.missing(role));
        }
        match self.stated.entry(found.module()).map(|entry| entry.numbers.as_ref()) {
            None => found.rule.weight(&parts, &self.stated.numbers),
            Some(Some(numbers)) => found.rule.weight(&parts, std::slice::from_ref(numbers)),
            Some(None) => bail!("{} states that {} is not quantised", self.stated.file, found.module()),
        }
    }
}

impl Reader for QuantizedReader {
    fn describe(&self, n: usize) -> Result<Description> {
        let (weight, parts, name): (_, Vec<usize>, _) = match &self.found[n] {
            WeightMember::Stored(n) => return self.inner.describe(*n),
            WeightMember::Unclaimed(_, reason) => bail!("{reason}"),
            WeightMember::Weight(found) => {
                (self.weight(found)?, found.parts.iter().map(|(_, n)| *n).collect(), found.rule.names.layout)
            }
            WeightMember::Computed(weight) => (self.computed(weight)?, weight.parts().collect(), weight.operator),
        };
        let meta = weight.meta;
        let bytes = parts.iter().map(|n| Ok(self.inner.describe(*n)?.bytes)).sum::<Result<u64>>()?;
        let blocks = Some(BlockDescription { name });
        Ok(Description { blocks, ..Description::new(meta, bytes, None) })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        match &self.found[n] {
            WeightMember::Stored(n) => self.inner.source(*n, label),
            WeightMember::Unclaimed(_, reason) => bail!("{reason}"),
            WeightMember::Weight(found) => stored(self.weight(found)?, label),
            WeightMember::Computed(weight) => stored(self.computed(weight)?, label),
        }
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        let file = self.inner.file_of(self.found[n].stored())?;
        let member = file.member.as_ref().map(|_| self.names[n].clone());
        // an output has the weights as numbers
        let metadata = file.metadata.map(|metadata| match metadata_without_layout(&metadata.kept) {
            Some(kept) => {
                let (shown, exact) = (Arc::clone(&metadata.shown), Arc::clone(&metadata.exact));
                Arc::new(FileMetadata { format: metadata.format, shown, kept: kept.into(), exact })
            }
            None => metadata,
        });
        Ok(MemberFile { member, metadata, ..file })
    }

    fn stored(&self, n: usize) -> StoredMember {
        let WeightMember::Stored(n) = self.found[n] else { return StoredMember::default() };
        StoredMember { known: KnownTensor::default(), entry: None, ..self.inner.stored(n) }
    }
}

fn stored(Weight { meta, items }: Weight, label: String) -> Result<Source> {
    Source::stored(meta, Arc::new(ByUnits(items)), 0, label)
}
