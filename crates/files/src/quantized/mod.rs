//! Quantised weights as the numbers that they mean: `QuantizedReader` wraps the reader of a checkpoint, and makes one
//! member of the parts of each weight, which may be in several files.

pub(crate) mod assemble;
pub(crate) mod config;
pub(crate) mod matrix;
pub(crate) mod parts;
pub(crate) mod rules;
#[cfg(test)]
mod tests;
pub(crate) mod weight;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use self::assemble::Weight;
use self::config::Stated;
pub use self::config::{is_layout_file, without_layout};
use self::parts::{PartNumbers, Role, WeightParts};
pub use self::rules::LAYOUTS;
use self::rules::{RULES, Rule};
use crate::container::content::{BlockDescription, Description, KnownTensor, MemberFile};
use crate::container::interface::{Members, ReadableFile, Reader, StoredMember};
use crate::container::member_list::numbered;
use crate::container::names::joined_by;
use crate::storage::requests::RequestOptions;
use crate::storage::source::Source;
use tensorop_kernels::error::{Error, ErrorKind, Result, bail, ensure};
use tensorop_kernels::item::dtype::Kind;

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

/// The parts of a weight, by their numbers in the checkpoint.
#[derive(Clone, Debug)]
struct FoundWeight {
    rule: &'static Rule,
    base: String,
    parts: Vec<(Role, usize)>,
}

impl FoundWeight {
    fn has(&self, role: Role) -> bool {
        self.parts.iter().any(|(found, _)| *found == role)
    }

    fn is_whole(&self) -> bool {
        self.has(Role::Codes) && self.rule.names.required.iter().all(|(role, _)| self.has(*role))
    }

    /// The name of its module in a config.
    fn module(&self) -> &str {
        self.base.strip_suffix(WEIGHT).unwrap_or(&self.base)
    }
}

const WEIGHT: &str = ".weight";

/// How a weight is recognised, the surest first. Those of the last two are errors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AssemblyPass {
    /// By codes of the dtype, with all that they need.
    Whole,
    /// By codes of the dtype.
    Codes,
    /// By other parts.
    Parts,
}

/// Endings of tensor names and keys of metadata that only other programs write, and these programs.
const FOREIGN: &[(&str, &str)] = &[
    (".SCB", "bitsandbytes"),
    (".absmax", "bitsandbytes"),
    (".comfy_quant", "ComfyUI"),
    (".scale_weight", "ComfyUI"),
    ("_quantization_metadata", "ComfyUI"),
    ("scaled_fp8", "ComfyUI"),
    (".W_q", "HQQ"),
    (".pre_quant_scale", "AWQ of modelopt"),
    (".qbiases", "transformers"),
    (".weight._data", "quanto"),
    ("_weight_qdata", "torchao"),
    ("tensor_names", "torchao"),
];

fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, writer)| *writer)
}

/// The endings of scales and zero points that quantise activations. No weight needs them.
const OF_ACTIVATIONS: [&str; 12] = [
    "input_scale",
    "input_global_scale",
    "input_zero_point",
    "output_scale",
    "output_zero_point",
    ".activation_scale",
    ".scale_input",
    ".k_scale",
    ".v_scale",
    ".q_scale",
    ".kv_scale",
    ".prob_scale",
];

/// The tensors of a checkpoint by their names.
struct Checkpoint<'r> {
    file: &'r ReadableFile,
    names: &'r [String],
    numbers: HashMap<&'r str, usize>,
}

impl<'r> Checkpoint<'r> {
    fn new(file: &'r ReadableFile) -> Self {
        let names = file.members.names().unwrap_or_default();
        let numbers = names.iter().enumerate().map(|(n, name)| (&**name, n)).collect();
        Self { file, names, numbers }
    }

    /// The weights of a rule that a pass recognises.
    fn weights(&self, rule: &'static Rule, pass: AssemblyPass) -> impl Iterator<Item = FoundWeight> {
        let ending = if pass == AssemblyPass::Parts { rule.names.scales() } else { rule.names.codes };
        self.names.iter().enumerate().filter_map(move |(n, name)| {
            let base = name.strip_suffix(ending).filter(|base| !base.is_empty())?;
            let part = |(role, ending)| Some((role, *self.numbers.get(&*format!("{base}{ending}"))?));
            let found =
                FoundWeight { rule, base: base.to_owned(), parts: rule.names.endings().filter_map(part).collect() };
            let is_fused = rule.names.codes.is_empty();
            let has_dtype = || {
                let described = self.file.describe(n);
                described.is_ok_and(|Description { meta, .. }| {
                    meta.dtype.kind() == rule.names.dtype && (!is_fused || meta.shape.len() == 3)
                })
            };
            let is_meant = match pass {
                AssemblyPass::Whole => found.is_whole() && has_dtype(),
                AssemblyPass::Codes => !(is_fused && is_part(name)) && has_dtype(),
                AssemblyPass::Parts => found.parts.len() > 1 || rule.names.is_sure(),
            };
            is_meant.then_some(found)
        })
    }

    /// The weights by some rules, by the numbers of their first parts.
    fn find(&self, stated: &Stated) -> BTreeMap<usize, FoundWeight> {
        let rules = rules_of(&stated.layouts);
        let (mut found, mut taken) = (BTreeMap::new(), HashSet::new());
        for pass in [AssemblyPass::Whole, AssemblyPass::Codes, AssemblyPass::Parts] {
            for weight in rules.iter().flat_map(|rule| self.weights(rule, pass)) {
                let numbers = || weight.parts.iter().map(|(_, n)| *n);
                let Some(first) = numbers().min().filter(|_| !numbers().any(|n| taken.contains(&n))) else { continue };
                if pass != AssemblyPass::Whole && stated.excludes(weight.module()) {
                    continue;
                }
                taken.extend(numbers());
                found.insert(first, weight);
            }
        }
        found
    }

    /// The layouts that names and dtypes allow.
    fn candidates(&self) -> Vec<&'static str> {
        let may_be = |layout: &&str| {
            rules_of(&[layout]).into_iter().any(|rule| self.weights(rule, AssemblyPass::Whole).next().is_some())
        };
        LAYOUTS.into_iter().filter(may_be).collect()
    }

    /// The reason why a tensor outside of the found weights is refused: its items are codes, or its name is that of a part.
    fn unclaimed(&self, n: usize, stated: &Stated) -> Option<String> {
        if stated.layouts.is_empty() {
            return None;
        }
        let name = &self.names[n];
        let is_excluded = || stated.excludes(name.rsplit_once('.').map_or(name, |(module, _)| module));
        if let Some(writer) = foreign(name) {
            return (!is_excluded()).then(|| format!("{name} is a part of a weight of {writer}, which is not read"));
        }
        let Description { meta, .. } = self.file.describe(n).ok()?;
        let has_codes = match meta.dtype.kind() {
            Kind::Narrow(_) => true,
            Kind::Int8 | Kind::UInt8 | Kind::Int32 | Kind::UInt32 => {
                name.ends_with(WEIGHT) || name.contains(".experts.") && meta.shape.len() == 3
            }
            _ => false,
        };
        let (dtype, layouts) = (meta.dtype.name(), joined_by(&stated.layouts, "and"));
        let reason = || format!("{name} is {dtype}, and no weight of {layouts} has it as a part");
        ((has_codes || is_part(name)) && !is_excluded()).then(reason)
    }

    /// The entries of a config that match none of the modules.
    fn unmatched<'s>(&self, stated: &'s Stated) -> Vec<&'s str> {
        let module = |name: &'r String| [Some(&**name), name.rsplit_once('.').map(|(module, _)| module)];
        let modules: HashSet<&str> = self.names.iter().flat_map(module).flatten().collect();
        let unmatched = stated.modules.iter().filter(|entry| !modules.iter().any(|module| entry.matches(module)));
        unmatched.map(|entry| &*entry.text).collect()
    }
}

fn rules_of(layouts: &[&str]) -> Vec<&'static Rule> {
    RULES.iter().filter(|rule| layouts.contains(&rule.names.layout)).collect()
}

fn is_part(name: &str) -> bool {
    RULES.iter().any(|rule| rule.names.is_part(name))
}

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
        let (key, writer) = metadata?.keys().find_map(|key| Some((key, foreign(key)?)))?;
        Some(Stated { file: format!("{key} in the header"), unknown: Some(writer.to_owned()), ..Stated::default() })
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
    let taken: HashSet<usize> = found.values().flat_map(|weight| &weight.parts).map(|(_, n)| *n).collect();
    let (mut members, mut left_alone) = (BTreeMap::new(), Vec::new());
    for (n, name) in checkpoint.names.iter().enumerate().filter(|(n, _)| !taken.contains(n)) {
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
    if let [first, others @ ..] = &checkpoint.unmatched(&stated)[..] {
        let others = match others.len() {
            0 => String::new(),
            1 => ", nor 1 other entry".to_owned(),
            count => format!(", nor {count} other entries"),
        };
        notes.push(format!("{}: no tensor matches {first}{others}", stated.file));
    }
    let (names, found): (Vec<_>, Vec<WeightMember>) = members.into_values().unzip();
    let weights = found.iter().filter(|member| !matches!(member, WeightMember::Stored(_))).count();
    if weights == 0 && left_alone.is_empty() {
        return Ok((inner, Dequantized { notes, ..Dequantized::default() }));
    }
    let file_numbers = found.iter().map(|member| inner.members.file_number(member.stored())).collect();
    let names: Arc<Vec<String>> = numbered(names).into();
    let (own, outer) = (Some(Arc::clone(&names)), inner.members.clone());
    let members = Members { names: own, file_numbers, container: None, itself: None, ..outer };
    let file = ReadableFile::new(members, QuantizedReader { inner, stated, found, names });
    Ok((file, Dequantized { weights, left_alone, notes }))
}

impl WeightMember {
    /// The member of the checkpoint that is this one, or holds its codes.
    fn stored(&self) -> usize {
        match self {
            Self::Stored(n) | Self::Unclaimed(n, _) => *n,
            Self::Weight(found) => found.parts[0].1,
        }
    }
}

impl QuantizedReader {
    fn weight(&self, found: &FoundWeight) -> Result<Weight> {
        let open = |role| {
            let (_, n) = found.parts.iter().find(|(of, _)| *of == role)?;
            let label = self.inner.members.names()?[*n].clone();
            Some(self.inner.source(*n, label))
        };
        let parts = WeightParts { names: &found.rule.names, base: &found.base, config: &self.stated.file, open: &open };
        match self.stated.entry(found.module()).map(|entry| entry.numbers.as_ref()) {
            None => found.rule.weight(&parts, &self.stated.numbers),
            Some(Some(numbers)) => found.rule.weight(&parts, std::slice::from_ref(numbers)),
            Some(None) => bail!("{} states that {} is not quantised", self.stated.file, found.module()),
        }
    }
}

impl Reader for QuantizedReader {
    fn describe(&self, n: usize) -> Result<Description> {
        let found = match &self.found[n] {
            WeightMember::Stored(n) => return self.inner.describe(*n),
            WeightMember::Unclaimed(_, reason) => bail!("{reason}"),
            WeightMember::Weight(found) => found,
        };
        let Weight { meta, .. } = self.weight(found)?;
        let bytes = found.parts.iter().map(|(_, n)| Ok(self.inner.describe(*n)?.bytes)).sum::<Result<u64>>()?;
        let blocks = Some(BlockDescription { name: found.rule.names.layout });
        Ok(Description { blocks, ..Description::new(meta, bytes, None) })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        match &self.found[n] {
            WeightMember::Stored(n) => self.inner.source(*n, label),
            WeightMember::Unclaimed(_, reason) => bail!("{reason}"),
            WeightMember::Weight(found) => {
                let Weight { meta, items } = self.weight(found)?;
                Source::stored(meta, Arc::new(items), 0, label)
            }
        }
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        let file = self.inner.file_of(self.found[n].stored())?;
        let member = file.member.as_ref().map(|_| self.names[n].clone());
        Ok(MemberFile { member, ..file })
    }

    fn stored(&self, n: usize) -> StoredMember {
        let WeightMember::Stored(n) = self.found[n] else { return StoredMember::default() };
        StoredMember { known: KnownTensor::default(), entry: None, ..self.inner.stored(n) }
    }
}
