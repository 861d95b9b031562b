//! A GGUF under the names of the checkpoint that it was made from, and a checkpoint under those of the GGUF: a
//! `RenamedReader` wraps the reader of either, and makes the tensors of the other side by the rules of a table.

pub(crate) mod facts;
pub(crate) mod items;
pub(crate) mod rules;
pub(crate) mod table;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use self::facts::{ARCHITECTURE, EXPERTS, LAYERS, ModelFacts, TIED};
use self::items::{ComposedItems, Computation, Formula, Part};
use self::rules::{Block, RulePlan, Shapes};
pub use self::table::NameStyle;
use self::table::{NameNumbers, NameTable, ONLY_GGUF, ONLY_HF, PARTS_ONLY_HF, Row};
use crate::container::content::{BlockDescription, Description, MemberFile};
use crate::container::interface::{ReadableFile, Reader, StoredMember};
use crate::narrow::units::ByUnits;
use crate::quantized::config::{CONFIG, read_json};
use crate::storage::requests::RequestOptions;
use crate::storage::sidecar::join;
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Result, bail, ensure};
use tensorop_kernels::item::cast::Cast;
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::bytes_of;
use tensorop_kernels::layout::view::View;

/// The names of tensors that only one of a checkpoint and its GGUF has by design.
#[derive(Clone, Debug, Default)]
pub struct OneSided {
    /// Names in this file.
    pub here: HashSet<String>,
    /// Second names of tensors in this file, under which only another file has a tensor of its own.
    pub implied: HashSet<String>,
}

/// The result of giving the tensors of a file other names.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// Whether the style has other names for the file.
    pub applies: bool,
    /// Lines for the user.
    pub notes: Vec<String>,
    /// The names that stayed.
    pub kept: Vec<String>,
    pub one_sided: OneSided,
}

/// A tensor under a name of the other side.
#[derive(Debug)]
enum RenamedMember {
    Stored(usize),
    Made {
        row: &'static Row,
        layer: Option<usize>,
        /// The number of the expert or of the row's name in a GGUF, and that of the stored tensor.
        parts: Vec<(usize, usize)>,
        /// The number of the expert or of the row's name in a GGUF.
        target: usize,
    },
}

#[derive(Debug)]
struct RenamedReader {
    inner: ReadableFile,
    facts: ModelFacts,
    to_gguf: bool,
    found: Vec<RenamedMember>,
    names: Arc<Vec<String>>,
}

/// Whether a GGUF has the experts of a row in one tensor.
fn stacks(row: &Row) -> bool {
    row.hf.contains("{e}") && !row.gguf[0].contains("{e}")
}

/// The members of the other side, in the order of their first parts.
#[derive(Default)]
struct MemberPlan {
    names: Vec<String>,
    found: Vec<RenamedMember>,
    /// The numbers of members that have several parts.
    numbers: HashMap<String, usize>,
    kept: Vec<String>,
}

impl MemberPlan {
    fn keep(&mut self, name: &str, n: usize) {
        self.kept.push(name.to_owned());
        self.push(name.to_owned(), RenamedMember::Stored(n));
    }

    fn push(&mut self, name: String, member: RenamedMember) {
        self.names.push(name);
        self.found.push(member);
    }

    /// Adds a part to the member of this name.
    fn add(&mut self, name: String, row: &'static Row, layer: Option<usize>, at: usize, n: usize) {
        let known = self.numbers.get(&name).map(|number| &mut self.found[*number]);
        if let Some(RenamedMember::Made { row: of, parts, .. }) = known
            && std::ptr::eq(*of, row)
        {
            parts.push((at, n));
            return;
        }
        self.numbers.insert(name.clone(), self.names.len());
        self.push(name, RenamedMember::Made { row, layer, parts: vec![(at, n)], target: 0 });
    }
}

/// The output layer in a checkpoint and in a GGUF. Where it is tied, it is the embedding.
const OUTPUT: [&str; 2] = ["lm_head.weight", "output.weight"];

/// How the embedding begins in the table.
const EMBEDDING: &str = "token_embd.";

/// The maximum number of tensors that experts become.
const MAX_TENSORS: usize = 1 << 20;

/// Gives the tensors of a GGUF the names of its checkpoint, or those of a checkpoint the names of its GGUF. Other files
/// stay unchanged. If it `compares`, the names of a checkpoint get the form of the table.
///
/// # Errors
/// The architecture is not in the table, or no file states it.
pub(crate) fn open(
    inner: ReadableFile,
    style: NameStyle,
    compares: bool,
    folder: Option<&Path>,
    requests: RequestOptions,
) -> Result<(ReadableFile, Renaming)> {
    if inner.members.names().is_none_or(<[_]>::is_empty) {
        return Ok((inner, Renaming::default()));
    }
    let metadata = inner.file_of(0).ok().and_then(|file| file.metadata);
    let keys = || metadata.as_ref().map(|metadata| Arc::clone(&metadata.kept));
    match (keys().filter(|_| metadata.as_ref().is_some_and(|metadata| metadata.format == "gguf")), style) {
        (Some(_), NameStyle::Gguf) => {
            let one_sided = only_in_gguf(&inner);
            return Ok((inner, Renaming { one_sided, ..Renaming::default() }));
        }
        (Some(keys), NameStyle::Hf) => return open_gguf(inner, ModelFacts::from_gguf(keys)?),
        (None, NameStyle::Hf) if !compares => return Ok((inner, Renaming::default())),
        (None, _) => {}
    }
    let config = folder.map(|folder| read_json(&join(folder, CONFIG), requests).context(CONFIG)).transpose()?.flatten();
    // files converted from a GGUF have its keys as metadata
    let keys = keys().filter(|keys| keys.contains_key(ARCHITECTURE));
    let facts = config.map(|config| ModelFacts::from_config(config).context(CONFIG));
    match (facts.or_else(|| keys.map(ModelFacts::from_gguf)), style) {
        (Some(Ok(facts)), _) => open_checkpoint(inner, style, facts, compares),
        (Some(Err(error)), NameStyle::Gguf) => Err(error),
        (None, NameStyle::Gguf) => bail!("no config.json beside the tensors states their architecture"),
        // only names that are not in the table's form are lost
        (_, NameStyle::Hf) => Ok((inner, Renaming::default())),
    }
}

fn only_in_gguf(inner: &ReadableFile) -> OneSided {
    let names = inner.members.names().unwrap_or_default().iter();
    let here = names.filter(|name| ONLY_GGUF.contains(&&***name)).cloned().collect();
    OneSided { here, ..OneSided::default() }
}

fn open_gguf(inner: ReadableFile, facts: ModelFacts) -> Result<(ReadableFile, Renaming)> {
    let table = NameTable::new(&facts, NameStyle::Gguf);
    let mut plan = MemberPlan::default();
    let names = inner.members.names().unwrap_or_default();
    let in_hf = |row: &Row, numbers: NameNumbers<'_>| facts.own_name(numbers.name(row.hf));
    for (n, name) in names.iter().enumerate() {
        let is_meant = |(row, _, numbers): &(&Row, usize, NameNumbers<'_>)| {
            row.beside.is_none_or(|beside| names.contains(&numbers.name(beside)))
        };
        let Some((row, slot, numbers)) = table.rows_of(NameStyle::Gguf, name).find(is_meant) else {
            plan.keep(name, n);
            continue;
        };
        if !stacks(row) {
            match row.rule.renames(facts.arch) {
                true => plan.push(in_hf(row, numbers), RenamedMember::Stored(n)),
                false => plan.add(in_hf(row, numbers), row, numbers.layer, slot, n),
            }
            continue;
        }
        let experts = inner.describe(n).ok().and_then(|described| described.meta.shape.first().copied());
        let Some(experts) =
            experts.filter(|experts| (1..=MAX_TENSORS.saturating_sub(plan.names.len())).contains(experts))
        else {
            plan.keep(name, n);
            continue;
        };
        for target in 0..experts {
            let name = in_hf(row, NameNumbers { expert: Some(target), ..numbers });
            let parts = vec![(0, n)];
            plan.push(name, RenamedMember::Made { row, layer: numbers.layer, parts, target });
        }
    }
    let one_sided = only_in_gguf(&inner);
    Ok(finish(inner, facts, false, plan, one_sided))
}

fn open_checkpoint(
    inner: ReadableFile,
    style: NameStyle,
    facts: ModelFacts,
    compares: bool,
) -> Result<(ReadableFile, Renaming)> {
    let table = NameTable::new(&facts, NameStyle::Hf);
    let (mut plan, mut one_sided) = (MemberPlan::default(), OneSided::default());
    let layers = facts.number(LAYERS, None).ok();
    let is_tied = facts.is_tied().unwrap_or(TIED.contains(&facts.arch));
    let names = inner.members.names().unwrap_or_default();
    let (mut embedding, mut has_output) = (None, false);
    for (n, name) in names.iter().enumerate() {
        let found = table.find_hf(&facts.table_name(name, names));
        let plain = found.as_ref().map_or(name, |(_, plain)| plain);
        let layer = plain.strip_prefix("model.layers.").and_then(|rest| rest.split('.').next()?.parse().ok());
        let is_beyond = layer.zip(layers).is_some_and(|(layer, layers): (usize, _)| layer >= layers);
        let part = name.strip_prefix("model.").unwrap_or(name);
        let is_output = plain == OUTPUT[0];
        embedding = embedding.or(found.as_ref().filter(|(row, _)| row.gguf[0].starts_with(EMBEDDING)).map(|_| n));
        let is_one_sided = is_beyond
            || is_tied && is_output
            || found.is_none() && ONLY_HF.split(' ').any(|ending| name.ends_with(ending))
            || PARTS_ONLY_HF.split(' ').any(|begin| part.starts_with(begin));
        has_output |= is_output;
        let before = plan.names.len();
        match found {
            Some((_, plain)) if style == NameStyle::Hf => plan.push(facts.own_name(plain), RenamedMember::Stored(n)),
            Some((row, plain)) => {
                let numbers = NameNumbers::read(row.hf, &plain).expect("a template that fits the name");
                if stacks(row) {
                    plan.add(numbers.name(row.gguf[0]), row, numbers.layer, numbers.expert.unwrap_or_default(), n);
                } else if row.rule.renames(facts.arch) {
                    plan.push(numbers.name(row.gguf[0]), RenamedMember::Stored(n));
                } else {
                    for (target, template) in row.gguf.iter().enumerate() {
                        let (layer, parts) = (numbers.layer, vec![(0, n)]);
                        plan.push(numbers.name(template), RenamedMember::Made { row, layer, parts, target });
                    }
                }
            }
            _ if compares && style == NameStyle::Hf => plan.push(name.clone(), RenamedMember::Stored(n)),
            _ => plan.keep(name, n),
        }
        if is_one_sided {
            one_sided.here.extend(plan.names[before..].iter().cloned());
        }
    }
    if let (true, Some(n)) = (compares && is_tied && !has_output, embedding) {
        let name = OUTPUT[usize::from(style == NameStyle::Gguf)].to_owned();
        one_sided.implied.insert(name.clone());
        plan.push(name, RenamedMember::Stored(n));
    }
    let (file, renaming) = finish(inner, facts, true, plan, one_sided);
    Ok((file, Renaming { applies: style == NameStyle::Gguf, ..renaming }))
}

fn finish(
    inner: ReadableFile,
    facts: ModelFacts,
    to_gguf: bool,
    plan: MemberPlan,
    one_sided: OneSided,
) -> (ReadableFile, Renaming) {
    let MemberPlan { names, found, kept, .. } = plan;
    let is_computed = found.iter().any(|member| matches!(member, RenamedMember::Made { .. }));
    let (members, names) = inner.members.made_over(names, found.iter().map(RenamedMember::first), is_computed);
    let reader = RenamedReader { inner, facts, to_gguf, found, names };
    let mut computed = BTreeMap::new();
    for formula in reader.found.iter().filter_map(|member| reader.formula(member)) {
        *computed.entry(formula.text(to_gguf)).or_insert(0) += 1;
    }
    let line = |(text, count): (&str, usize)| {
        let tensors = if count == 1 { "1 tensor is".to_owned() } else { format!("{count} tensors are") };
        format!("{tensors} computed in float32{text}")
    };
    let notes = computed.into_iter().map(line).collect();
    (ReadableFile::new(members, reader), Renaming { applies: true, notes, kept, one_sided })
}

impl RenamedMember {
    /// The first of its parts.
    fn first(&self) -> usize {
        match self {
            Self::Stored(n) => *n,
            Self::Made { parts, .. } => parts[0].1,
        }
    }
}

fn is_mxfp4(described: &Description) -> bool {
    described.blocks.is_some_and(|blocks| blocks.name == "mxfp4")
}

/// A tensor that is made of others.
struct MadeTensor {
    meta: Meta,
    /// Of the stored items.
    bytes: u64,
    /// The name of the blocks that all parts are stored in.
    blocks: Option<BlockDescription>,
    /// The numbers of the stored tensors.
    numbers: Vec<usize>,
    /// `None` for experts.
    plan: Option<RulePlan>,
    computation: Option<Computation>,
}

impl RenamedReader {
    fn name(&self, n: usize) -> &str {
        &self.inner.members.names().unwrap_or_default()[n]
    }

    fn formula(&self, member: &RenamedMember) -> Option<Formula> {
        let RenamedMember::Made { row, .. } = member else { return None };
        row.rule.formula(self.to_gguf, is_mxfp4(&self.inner.describe(member.first()).ok()?))
    }

    /// The numbers of all parts.
    ///
    /// # Errors
    /// A part is missing.
    fn parts(&self, row: &Row, layer: Option<usize>, parts: &[(usize, usize)]) -> Result<Vec<usize>> {
        let count = match (stacks(row), self.to_gguf) {
            (true, true) => self.facts.number(EXPERTS, None).unwrap_or(0),
            (false, false) => row.gguf.len(),
            _ => 1,
        };
        let mut parts = parts.to_vec();
        parts.sort_unstable();
        let found = (0..parts.len().max(count)).map(|at| {
            let numbers = NameNumbers { layer, expert: Some(at), ending: "weight" };
            let missing = || format!("{} is missing", numbers.name(if self.to_gguf { row.hf } else { row.gguf[at] }));
            parts.get(at).filter(|(of, _)| *of == at).map(|(_, n)| *n).with_context(missing)
        });
        found.collect()
    }

    fn made(&self, row: &Row, layer: Option<usize>, parts: &[(usize, usize)], target: usize) -> Result<MadeTensor> {
        let numbers = self.parts(row, layer, parts)?;
        let described = numbers.iter().map(|n| self.inner.describe(*n)).collect::<Result<Vec<_>>>()?;
        let (first, name) = (&described[0], self.name(numbers[0]));
        for (other, n) in described.iter().zip(&numbers) {
            let (dtype, other_dtype) = (&first.meta.dtype, &other.meta.dtype);
            ensure!(other.meta.order == Order::C, "{}: expected items in C order", self.name(*n));
            let is_same = dtype == other_dtype && (!stacks(row) || first.meta.shape == other.meta.shape);
            let [found, expected] = [other, first].map(|d| format!("{} {:?}", d.meta.dtype.name(), d.meta.shape));
            ensure!(is_same, "{} is {found}, expected {expected} as {name}", self.name(*n));
        }
        let is_mxfp4 = is_mxfp4(first);
        let stored = &first.meta.shape;
        let plan = |found| row.rule.plan(is_mxfp4, &found, &self.facts, layer).with_context(|| name.to_owned());
        let (shape, plan) = match (stacks(row), self.to_gguf) {
            (true, true) => ([&[numbers.len()], &**stored].concat(), None),
            (true, false) => (stored.get(1..).context("no axis, expected one of experts")?.to_vec(), None),
            (false, true) => {
                let plan = plan(Shapes::Hf(stored))?;
                (plan.gguf(target), Some(plan))
            }
            (false, false) => {
                let shapes: Vec<_> = described.iter().map(|described| described.meta.shape.clone()).collect();
                let plan = plan(Shapes::Gguf(&shapes))?;
                (plan.hf(), Some(plan))
            }
        };
        ensure!(bytes_of(&shape, size_of::<f64>()).is_some(), "shape {shape:?} is larger than memory can be");
        let formula = row.rule.formula(self.to_gguf, is_mxfp4);
        let float32 = Kind::Float32.into();
        let computation = match formula {
            Some(formula) => Some(Computation {
                formula,
                to_gguf: self.to_gguf,
                cast: Cast::new(&first.meta.dtype, &float32, true)?,
            }),
            None => None,
        };
        let meta = Meta::c_order(if formula.is_some() { float32 } else { first.meta.dtype.clone() }, shape);
        let (items, all) = (meta.items() as u128, described.iter().map(|d| d.meta.items() as u128).sum::<u128>());
        let stored = u128::from(described.iter().map(|described| described.bytes).sum::<u64>());
        let bytes = (stored * items).checked_div(all).unwrap_or(0) as u64;
        let blocks = first.blocks.filter(|blocks| described.iter().all(|other| other.blocks == Some(*blocks)));
        Ok(MadeTensor { meta, bytes, blocks, numbers, plan, computation })
    }

    /// The numbers of stored tensors, views of their items in the new order, and the items of a row.
    fn parts_of(&self, made: &MadeTensor, target: usize) -> Vec<(usize, View, usize)> {
        let MadeTensor { meta: Meta { shape, .. }, numbers, plan, .. } = made;
        if made.meta.items() == 0 {
            // other sizes may be any numbers
            return vec![(numbers[0], View::c_order(shape), 0)];
        }
        let Some(plan) = plan else {
            let each = if self.to_gguf { &shape[1..] } else { shape };
            let items = each.iter().product();
            let first = if self.to_gguf { 0 } else { target * items };
            return numbers.iter().map(|n| (*n, View::c_order(each).from_item(first), items)).collect();
        };
        let (all, mut ends) = (plan.hf().iter().product(), vec![0; numbers.len()]);
        let part = |block: Block| match self.to_gguf {
            true => (block.slot == target).then(|| (numbers[0], block.in_hf(all), block.items_in_gguf())),
            false => {
                let end = &mut ends[block.slot];
                let view = block.in_gguf(*end);
                *end += block.items_in_gguf();
                Some((numbers[block.slot], view, block.items()))
            }
        };
        plan.blocks().into_iter().filter_map(part).collect()
    }
}

impl Reader for RenamedReader {
    fn describe(&self, n: usize) -> Result<Description> {
        match &self.found[n] {
            RenamedMember::Stored(n) => self.inner.describe(*n),
            RenamedMember::Made { row, layer, parts, target } => {
                let MadeTensor { meta, bytes, blocks, .. } = self.made(row, *layer, parts, *target)?;
                Ok(Description { blocks, ..Description::new(meta, bytes, None) })
            }
        }
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (row, layer, parts, target) = match &self.found[n] {
            RenamedMember::Stored(n) => return self.inner.source(*n, label),
            RenamedMember::Made { row, layer, parts, target } => (row, *layer, parts, *target),
        };
        let made = self.made(row, layer, parts, target)?;
        let parts = self.parts_of(&made, target);
        let MadeTensor { meta, computation, .. } = made;
        let mut opened = Vec::with_capacity(parts.len());
        let mut identity = None;
        for (n, view, items) in parts {
            let name = self.name(n);
            let source = self.inner.source(n, name.to_owned())?;
            let Some(found) = source.identity()? else { bail!("{name}: expected items at known positions") };
            identity = identity.or(Some(found));
            opened.push(Part { source, view, items });
        }
        let identity = identity.context("no parts")?;
        let items = ComposedItems::new(identity, opened, meta.items(), computation);
        Source::stored(meta, Arc::new(ByUnits(items)), 0, label)
    }

    fn as_stored(&self, n: usize, label: &dyn Fn() -> String) -> Option<Result<Source>> {
        match &self.found[n] {
            RenamedMember::Made { row, .. } if row.rule.permutes_heads() => {
                Some(self.inner.source(self.found[n].first(), label()))
            }
            _ => None,
        }
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        let file = self.inner.file_of(self.found[n].first())?;
        let member = file.member.as_ref().map(|_| self.names[n].clone());
        Ok(MemberFile { member, ..file })
    }

    fn stored(&self, n: usize) -> StoredMember {
        match &self.found[n] {
            RenamedMember::Stored(n) => self.inner.stored(*n),
            RenamedMember::Made { .. } => StoredMember::default(),
        }
    }
}
