//! The weights of a checkpoint, found by the names and dtypes of tensors.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use super::config::Stated;
use super::methods::BITSANDBYTES;
use super::parts::{PartNames, Role};
use super::rules::{COMFY, HQQ, LAYOUTS, METAL, RULES, Rule, TORCHAO};
use crate::container::content::Description;
use crate::container::interface::ReadableFile;
use crate::container::names::joined_by;
use tensorop_kernels::item::dtype::Kind;

/// The parts of a weight, by their numbers in the checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct FoundWeight {
    pub rule: &'static Rule,
    pub base: String,
    pub parts: Vec<(Role, usize)>,
    /// Other rules that accept the same tensors.
    pub others: Vec<&'static Rule>,
    /// The weights that are whole by the same rule.
    rank: usize,
}

impl FoundWeight {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.parts.iter().any(|(found, _)| *found == role)
    }

    fn is_whole(&self) -> bool {
        self.has(Role::Codes) && self.rule.names.required.iter().all(|(role, _)| self.has(*role))
    }

    /// The name of its module in a config.
    pub(crate) fn module(&self) -> &str {
        self.base.strip_suffix(WEIGHT).unwrap_or(&self.base)
    }
}

const WEIGHT: &str = ".weight";

/// How a weight is recognised, the surest first. Those of the last two are errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssemblyPass {
    /// By codes of the dtype, with all that they need.
    Whole,
    /// By codes of the dtype.
    Codes,
    /// By other parts.
    Parts,
}

/// An ending of tensor names that only one program writes, the program, and its layouts; none if they are not read.
type Mark = (&'static str, &'static str, &'static [&'static str]);

const MARKS: &[Mark] = &[
    (".quant_state.bitsandbytes__nf4", "bitsandbytes", BITSANDBYTES),
    (".quant_state.bitsandbytes__fp4", "bitsandbytes", BITSANDBYTES),
    (".absmax", "bitsandbytes", BITSANDBYTES),
    (".SCB", "bitsandbytes", BITSANDBYTES),
    (".comfy_quant", "ComfyUI", &[COMFY]),
    (".scale_weight", "ComfyUI", &[COMFY]),
    ("scaled_fp8", "ComfyUI", &[COMFY]),
    (".W_q", "HQQ", &[HQQ]),
    ("_weight_qdata", "torchao", &[TORCHAO]),
    (".qbiases", "transformers", &[METAL]),
    (".weight._data", "quanto", &[]),
    (".trellis", "exl3", &[]),
    (".codebooks", "AQLM", &[]),
];

pub(crate) fn mark(name: &str) -> Option<&'static Mark> {
    MARKS.iter().find(|(ending, ..)| name.ends_with(ending))
}

/// The program that only writes layouts which are not read.
pub(crate) fn foreign(name: &str) -> Option<&'static str> {
    mark(name).filter(|(.., layouts)| layouts.is_empty()).map(|(_, writer, _)| *writer)
}

/// The ending of the tensor that marks a file of ComfyUI. Its items mean nothing.
pub(crate) const MARKER: &str = "scaled_fp8";

/// The endings of scales and zero points that quantise activations. No weight needs them.
pub(crate) const OF_ACTIVATIONS: [&str; 14] = [
    "input_scale",
    "input_scale_ub",
    "input_global_scale",
    "input_zero_point",
    "output_scale",
    "output_zero_point",
    "activation_scale",
    ".scale_input",
    ".k_scale",
    ".v_scale",
    ".q_scale",
    ".kv_scale",
    ".prob_scale",
    ".qscale_act",
];

/// The tensors of a checkpoint by their names.
pub(crate) struct Checkpoint<'r> {
    pub file: &'r ReadableFile,
    pub names: &'r [String],
    pub numbers: HashMap<&'r str, usize>,
}

impl<'r> Checkpoint<'r> {
    pub(crate) fn new(file: &'r ReadableFile) -> Self {
        let names = file.members.names().unwrap_or_default();
        let numbers = names.iter().enumerate().map(|(n, name)| (&**name, n)).collect();
        Self { file, names, numbers }
    }

    /// The weights of a rule that a pass recognises.
    fn weights(&self, rule: &'static Rule, pass: AssemblyPass) -> impl Iterator<Item = FoundWeight> {
        let is_searched =
            move |role: Role| (role == Role::Codes) != (pass == AssemblyPass::Parts) && role != Role::Setting;
        let endings = rule.names.endings().filter(move |(role, _)| is_searched(*role));
        endings.flat_map(move |(_, ending)| self.names_with(rule, pass, ending))
    }

    /// Those with a part of an ending.
    fn names_with(
        &self,
        rule: &'static Rule,
        pass: AssemblyPass,
        ending: &'static str,
    ) -> impl Iterator<Item = FoundWeight> {
        self.names.iter().enumerate().filter_map(move |(n, name)| {
            let base = name.strip_suffix(ending).filter(|base| !base.is_empty())?;
            let part = |(role, ending)| Some((role, *self.numbers.get(&*format!("{base}{ending}"))?));
            let parts = rule.names.endings().filter_map(part).collect();
            let found = FoundWeight { rule, base: base.to_owned(), parts, others: Vec::new(), rank: 0 };
            let is_fused = rule.names.codes.is_empty();
            let has_dtype = || {
                self.file.describe(n).is_ok_and(|Description { meta, .. }| {
                    rule.names.dtypes.contains(meta.dtype.kind()) && (!is_fused || meta.shape.len() == 3)
                        // plain weights may have the dtype that codes are stored as
                        && (pass == AssemblyPass::Whole || !matches!(meta.dtype.kind(), Kind::BFloat16 | Kind::Float16 | Kind::Float32))
                })
            };
            let is_meant = match pass {
                AssemblyPass::Whole => found.is_whole() && has_dtype(),
                AssemblyPass::Codes => !(is_fused && is_part(name)) && has_dtype(),
                AssemblyPass::Parts => found.parts.len() > 1 || PartNames::is_sure(ending),
            };
            is_meant.then_some(found)
        })
    }

    /// The weights by some rules, by the numbers of their first parts. A broken weight takes the rule that
    /// finds the most parts, and among equal ones the rule of most whole weights.
    pub(crate) fn find(&self, stated: &Stated) -> BTreeMap<usize, FoundWeight> {
        let rules = rules_of(&stated.layouts);
        let (mut found, mut taken) = (BTreeMap::new(), HashSet::new());
        let mut whole = vec![0_usize; rules.len()];
        for pass in [AssemblyPass::Whole, AssemblyPass::Codes, AssemblyPass::Parts] {
            let of_rule = |(n, rule): (usize, &&'static Rule)| self.weights(rule, pass).map(move |weight| (n, weight));
            let mut weights: Vec<_> = rules.iter().enumerate().flat_map(of_rule).collect();
            if pass != AssemblyPass::Whole {
                weights.sort_by_key(|(n, weight)| Reverse((weight.parts.len(), whole[*n])));
            }
            for (n, weight) in weights {
                let numbers = || weight.parts.iter().map(|(_, n)| *n);
                let Some(first) = numbers().min() else { continue };
                if numbers().any(|n| taken.contains(&n)) {
                    let is_as_good = |rival: &&mut FoundWeight| {
                        let is_as_likely = pass == AssemblyPass::Parts || rival.rank == whole[n];
                        !rival.is_whole() && rival.parts.len() == weight.parts.len() && is_as_likely
                    };
                    let rival = found.get_mut(&first).filter(is_as_good);
                    rival.into_iter().for_each(|rival| rival.others.push(weight.rule));
                    continue;
                }
                if pass != AssemblyPass::Whole && stated.excludes(weight.module()) {
                    continue;
                }
                whole[n] += usize::from(pass == AssemblyPass::Whole);
                taken.extend(numbers());
                found.insert(first, FoundWeight { rank: whole[n], ..weight });
            }
        }
        found
    }

    /// The layouts that names and dtypes allow, except those with marks.
    pub(crate) fn candidates(&self) -> Vec<&'static str> {
        let parts = |layout: &str| {
            let of_rule =
                |rule| self.weights(rule, AssemblyPass::Whole).map(|weight| weight.parts.len()).sum::<usize>();
            rules_of(&[layout]).into_iter().map(of_rule).sum::<usize>()
        };
        let is_shown = |layout: &str| MARKS.iter().any(|(.., layouts)| layouts.contains(&layout));
        let fitting: Vec<_> =
            LAYOUTS.into_iter().filter(|layout| !is_shown(layout)).map(|layout| (layout, parts(layout))).collect();
        let most = fitting.iter().map(|(_, parts)| *parts).max().unwrap_or_default();
        fitting.into_iter().filter(|(_, parts)| *parts > 0 && *parts == most).map(|(layout, _)| layout).collect()
    }

    /// The reason why a tensor outside of the found weights is refused: its items are codes, or its name is that of a part.
    pub(crate) fn unclaimed(&self, n: usize, stated: &Stated) -> Option<String> {
        if stated.layouts.is_empty() {
            return None;
        }
        let name = &self.names[n];
        let is_excluded = || stated.excludes(name.rsplit_once('.').map_or(name, |(module, _)| module));
        if let Some(writer) = foreign(name) {
            return (!is_excluded()).then(|| format!("{name} is a part of a weight of {writer}, which is not read"));
        }
        let Description { meta, .. } = self.file.describe(n).ok()?;
        let is_part = is_part(name) || mark(name).is_some();
        let has_codes = match meta.dtype.kind() {
            Kind::Narrow(_) => true,
            Kind::Int8 | Kind::UInt8 | Kind::Int32 | Kind::UInt32 => {
                name.ends_with(WEIGHT) || name.contains(".experts.") && meta.shape.len() == 3
            }
            _ => false,
        };
        let (dtype, layouts) = (meta.dtype.name(), joined_by(&stated.layouts, "and"));
        let reason = || format!("{name} is {dtype}, and no weight of {layouts} has it as a part");
        ((has_codes || is_part) && !is_excluded()).then(reason)
    }

    /// The entries of a config that match none of the modules.
    pub(crate) fn unmatched<'s>(&self, stated: &'s Stated) -> Vec<&'s str> {
        let module = |name: &'r String| [Some(&**name), name.rsplit_once('.').map(|(module, _)| module)];
        let modules: HashSet<&str> = self.names.iter().flat_map(module).flatten().collect();
        let unmatched = stated.modules.iter().filter(|entry| !modules.iter().any(|module| entry.matches(module)));
        unmatched.map(|entry| &*entry.text).collect()
    }
}

fn rules_of(layouts: &[&str]) -> Vec<&'static Rule> {
    RULES.iter().filter(|rule| layouts.contains(&rule.names.layout)).collect()
}

/// Whether the ending of a name alone shows that it is of a part.
pub(crate) fn is_part(name: &str) -> bool {
    // rules share endings, and every name of a large model is looked at
    static SURE: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let sure = RULES.iter().flat_map(|rule| rule.names.sure_endings());
        BTreeSet::from_iter(sure).into_iter().collect()
    });
    // that of fbgemm's codes is not sure in other places
    SURE.iter().any(|ending| name.ends_with(ending)) || name.contains("experts.") && name.ends_with("_proj_scale")
}
