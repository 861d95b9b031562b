//! The places of a checkpoint's items in a GGUF, by the rules of the converters of llama.cpp.
//!
//! A rule lists the axes in a checkpoint and, after `=`, those in a GGUF: `N.2.d * = N.d.2 *`. A small letter is a size that
//! follows from the shapes, a capital one a [number](ModelFacts::number) of the model, and `*` is all other axes. `N.d` is
//! an axis that consists of two, the inner one last. `a|b` are items of two kinds, one behind the other, and `f:a|b` are
//! those for each `f`. In the GGUF each kind is a tensor (`;`) or further rows of one (`+`), for each `f` if the tensor begins
//! with `f:`, and the kind `-` is left out.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use super::facts::{ModelFacts, PLUS_ONE};
use super::items::Formula;
use tensorop_kernels::error::{Context, Result, bail, ensure};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::parallel::locked;

/// A rule of the converters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Same,
    /// The same items, plus 1 in some architectures.
    Norm,
    View(&'static str),
    MinusExp(&'static str),
    /// One rule for plain items, and one for those in blocks of MXFP4.
    Blocks(&'static str, &'static str),
}

/// The rows of each head, in two halves in a checkpoint, alternate in a GGUF.
pub(crate) const QUERY_ROWS: Rule = Rule::View("N.2.d * = N.d.2 *");
pub(crate) const KEY_ROWS: Rule = Rule::View("K.2.d * = K.d.2 *");

impl Rule {
    /// Whether every tensor has the same items and shape on both sides.
    pub(crate) fn renames(self, arch: &str) -> bool {
        self == Self::Same || self == Self::Norm && !PLUS_ONE.contains(&arch)
    }

    /// Whether the other order of rows is tried where this one does not fit.
    pub(crate) fn permutes_heads(self) -> bool {
        self == QUERY_ROWS || self == KEY_ROWS
    }

    pub(crate) fn formula(self, to_gguf: bool, is_mxfp4: bool) -> Option<Formula> {
        match self {
            Self::Norm => Some(Formula::PlusOne),
            Self::MinusExp(_) => Some(Formula::MinusExp),
            Self::Blocks(..) if to_gguf && is_mxfp4 => Some(Formula::PositiveZero),
            Self::Same | Self::View(_) | Self::Blocks(..) => None,
        }
    }

    fn text(self, is_mxfp4: bool) -> &'static str {
        match self {
            Self::Same | Self::Norm => "* = *",
            Self::Blocks(_, blocks) if is_mxfp4 => blocks,
            Self::View(text) | Self::MinusExp(text) | Self::Blocks(text, _) => text,
        }
    }

    /// Finds the sizes of all axes, given the shape in a checkpoint, or those in a GGUF.
    ///
    /// # Errors
    /// The shapes do not fit the rule, or a number is missing.
    pub(crate) fn plan(
        self,
        is_mxfp4: bool,
        found: &Shapes<'_>,
        facts: &ModelFacts,
        layer: Option<usize>,
    ) -> Result<RulePlan> {
        static PARSED: LazyLock<Mutex<HashMap<&str, &ParsedRule>>> = LazyLock::new(Mutex::default);
        let text = self.text(is_mxfp4);
        // a model has few rules and many tensors
        let rule: &ParsedRule =
            locked(&PARSED).entry(text).or_insert_with(|| Box::leak(ParsedRule::parse(text).into()));
        let (mut sizes, mut missing, mut equations) = (Sizes::default(), None, Vec::new());
        for letter in text.split(|c: char| !c.is_ascii_uppercase()).filter(|letter| !letter.is_empty()) {
            match facts.number(letter, layer) {
                Ok(number) => sizes.known.push((letter, number)),
                // the shapes may tell it
                Err(error) => missing = missing.or(Some(error)),
            }
        }
        match found {
            Shapes::Hf(shape) => sizes.begin(&rule.hf, shape, &mut equations)?,
            Shapes::Gguf(shapes) => {
                for (axes, shape) in rule.gguf.iter().zip(*shapes) {
                    // some GGUFs lack an outer axis of 1
                    let is_short = shape.len() + 1 == axes.len() && axes[0].kinds == [["1"]];
                    let shape = if is_short { [&[1], &**shape].concat() } else { shape.clone() };
                    sizes.begin(axes, &shape, &mut equations)?;
                }
            }
        }
        let mut before = usize::MAX;
        while equations.len() < before {
            before = equations.len();
            for (axis, dim) in std::mem::take(&mut equations) {
                match sizes.solve(axis, dim) {
                    Some(true) => {}
                    Some(false) => equations.push((axis, dim)),
                    None => bail!("an axis of {dim} does not fit {}", sizes.described(axis)),
                }
            }
        }
        match equations.is_empty() {
            true => Ok(RulePlan { rule, sizes }),
            false => Err(missing.context("shapes do not tell all sizes")?),
        }
    }
}

/// The shape of a tensor in a checkpoint, or those of the tensors of a GGUF that have its items.
pub(crate) enum Shapes<'a> {
    Hf(&'a [usize]),
    Gguf(&'a [Vec<usize>]),
}

/// A rule with all of its sizes.
#[derive(Debug)]
pub(crate) struct RulePlan {
    rule: &'static ParsedRule,
    sizes: Sizes,
}

impl RulePlan {
    /// The shape in a checkpoint.
    pub(crate) fn hf(&self) -> Vec<usize> {
        self.sizes.shape(&self.rule.hf)
    }

    /// The shape of a tensor in the GGUF.
    pub(crate) fn gguf(&self, slot: usize) -> Vec<usize> {
        self.sizes.shape(&self.rule.gguf[slot])
    }

    /// All items, in the order of either side.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let Self { rule: ParsedRule { hf, gguf, kinds }, sizes } = self;
        let at = hf.iter().position(|axis| axis.kinds.len() > 1).unwrap_or(0);
        let plain = |axes: &[Axis]| axes.iter().flat_map(|axis| axis.kinds[0].clone()).collect::<Parts>();
        // axes of 1 change no order
        let long = |parts: Parts| parts.into_iter().filter(|part| *part != "1").collect::<Parts>();
        let size = |parts: &Parts| parts.iter().map(|part| sizes.of(part)).collect::<Vec<_>>();
        let (before, after) = (long([plain(&hf[..at]), hf[at].outer.clone()].concat()), plain(&hf[at + 1..]));
        let (mut start, mut blocks) = (0, Vec::<Block>::new());
        for (parts, kind) in hf[at].kinds.iter().zip(kinds) {
            let inner = long([&**parts, &after].concat());
            let names = [&*before, &inner].concat();
            if let Some((slot, axes)) = kind {
                let place = |part: &&str| names.iter().position(|name| name == part).expect("an axis on both sides");
                let outer = &gguf[*slot][0].outer;
                let order = long([&**outer, &axes.concat()].concat()).iter().map(place).collect();
                let row = (!outer.is_empty()).then_some(0);
                blocks.push(Block { slot: *slot, before: size(&before), start, inner: size(&inner), order, row });
            }
            start += size(&inner).iter().product::<usize>();
        }
        let of_slot = |slot| blocks.iter().filter(|block| block.slot == slot).map(Block::items).sum::<usize>();
        let rows: Vec<_> = blocks.iter().map(|block| block.row.map(|_| of_slot(block.slot))).collect();
        blocks.iter_mut().zip(rows).for_each(|(block, row)| block.row = row);
        blocks
    }
}

/// Consecutive items in each row of a checkpoint's tensor, which are consecutive in one of a GGUF.
#[derive(Debug)]
pub(crate) struct Block {
    /// The number of the GGUF's tensor.
    pub slot: usize,
    /// The axes whose places are the rows.
    before: Vec<usize>,
    /// The first item in a row, and the axes of the items.
    pub start: usize,
    inner: Vec<usize>,
    /// The order of all axes in the GGUF.
    order: Vec<usize>,
    /// The items that a row has in the GGUF's tensor, if that has the same rows.
    row: Option<usize>,
}

impl Block {
    pub(crate) fn rows(&self) -> usize {
        self.before.iter().product()
    }

    /// The items of a row.
    pub(crate) fn items(&self) -> usize {
        self.inner.iter().product()
    }

    /// The consecutive items in the GGUF.
    pub(crate) fn items_in_gguf(&self) -> usize {
        if self.row.is_some() { self.items() } else { self.rows() * self.items() }
    }

    /// The items in a checkpoint's tensor of `all` items, in the order of the GGUF.
    pub(crate) fn in_hf(&self, all: usize) -> View {
        let row = all.checked_div(self.rows()).unwrap_or(0);
        let rows = View::c_order(&[&*self.before, &[row]].concat());
        let inner = View::c_order(&self.inner);
        let strides = rows.strides().take(self.before.len()).chain(inner.strides());
        let axes = self.before.iter().chain(&self.inner).copied().zip(strides);
        View::strided(axes).from_item(self.start).with_axes(&self.order)
    }

    /// The items in the GGUF's tensor, where they begin at item `first`, in the order of the checkpoint.
    pub(crate) fn in_gguf(&self, first: usize) -> View {
        let dims = [&*self.before, &*self.inner].concat();
        let ordered: Vec<_> = self.order.iter().map(|axis| dims[*axis]).collect();
        let mut back = self.order.clone();
        self.order.iter().enumerate().for_each(|(at, axis)| back[*axis] = at);
        let times = self.row.and_then(|row| row.checked_div(self.items())).unwrap_or(1) as isize;
        let strides = View::c_order(&ordered).strides().collect::<Vec<_>>().into_iter().enumerate();
        let strides = strides.map(|(axis, stride)| if axis < self.before.len() { stride * times } else { stride });
        View::strided(ordered.into_iter().zip(strides)).from_item(first).with_axes(&back)
    }
}

/// The axes that an axis consists of.
type Parts = Vec<&'static str>;

#[derive(Debug)]
struct Axis {
    outer: Parts,
    kinds: Vec<Parts>,
}

#[derive(Debug)]
struct ParsedRule {
    hf: Vec<Axis>,
    /// The axes of each tensor in the GGUF. The first axis has all kinds, one behind the other.
    gguf: Vec<Vec<Axis>>,
    /// The tensor of the GGUF that has a kind, and the axes of the kind there.
    kinds: Vec<Option<(usize, Vec<Parts>)>>,
}

impl ParsedRule {
    fn parse(rule: &'static str) -> Self {
        let parts = |text: &'static str| text.split('.').collect::<Parts>();
        let (hf, gguf) = rule.split_once(" = ").expect("a rule has two sides");
        let of_each =
            |text: &'static str| text.split_once(':').map_or((Parts::new(), text), |(of, text)| (parts(of), text));
        let axis = |text: &'static str| {
            let (outer, kinds) = of_each(text);
            Axis { outer, kinds: kinds.split('|').map(parts).collect() }
        };
        let tensors: Vec<_> = gguf.split(" ; ").map(of_each).collect();
        let kinds = tensors.iter().enumerate().flat_map(|(slot, (_, tensor))| {
            let rows = tensor.split(" + ");
            rows.map(move |rows| (rows != "-").then(|| (slot, rows.split(' ').map(parts).collect::<Vec<_>>())))
        });
        let kinds: Vec<_> = kinds.collect();
        let mut gguf: Vec<Vec<Axis>> = Vec::new();
        for (slot, axes) in kinds.iter().flatten() {
            match gguf.get_mut(*slot) {
                Some(known) => known[0].kinds.push(axes[0].clone()),
                None => {
                    let plain = |axis: &Parts| Axis { outer: Parts::new(), kinds: vec![axis.clone()] };
                    let mut axes: Vec<_> = axes.iter().map(plain).collect();
                    axes[0].outer.clone_from(&tensors[*slot].0);
                    gguf.push(axes);
                }
            }
        }
        Self { hf: hf.split(' ').map(axis).collect(), gguf, kinds }
    }
}

#[derive(Debug, Default)]
struct Sizes {
    known: Vec<(&'static str, usize)>,
    /// The axes of `*`.
    rest: Vec<usize>,
}

impl Sizes {
    /// Adds an equation for each axis of a tensor.
    fn begin<'r>(&mut self, axes: &'r [Axis], shape: &[usize], equations: &mut Vec<(&'r Axis, usize)>) -> Result<()> {
        let has_rest = axes.last().is_some_and(|axis| axis.kinds == [["*"]]);
        let count = axes.len() - usize::from(has_rest);
        let fits = shape.len() == count || has_rest && shape.len() > count;
        ensure!(fits, "shape {shape:?}, expected {count} axes");
        self.rest = shape[count..].to_vec();
        self.known.push(("*", self.rest.iter().product()));
        equations.extend(axes.iter().zip(shape[..count].iter().copied()));
        Ok(())
    }

    fn get(&self, part: &str) -> Option<usize> {
        let known = self.known.iter().find(|(known, _)| *known == part).map(|(_, size)| *size);
        known.or_else(|| part.parse().ok())
    }

    fn of(&self, part: &str) -> usize {
        self.get(part).expect("all sizes are known")
    }

    /// The length of an axis if an unknown size is `assumed`.
    fn length(&self, axis: &Axis, assumed: Option<usize>) -> Option<usize> {
        let product = |parts: &Parts| {
            parts.iter().try_fold(1_usize, |product, part| product.checked_mul(self.get(part).or(assumed)?))
        };
        let kinds = axis.kinds.iter().try_fold(0_usize, |sum, parts| sum.checked_add(product(parts)?));
        product(&axis.outer)?.checked_mul(kinds?)
    }

    /// Whether all sizes of an axis are known then; `None` if none has this length.
    fn solve(&mut self, axis: &Axis, dim: usize) -> Option<bool> {
        let parts = axis.outer.iter().chain(axis.kinds.iter().flatten());
        let mut unknown: Parts = parts.copied().filter(|part| self.get(part).is_none()).collect();
        unknown.dedup();
        match unknown[..] {
            [] => (self.length(axis, None)? == dim).then_some(true),
            [one] => {
                // the length is linear in each size
                let least = self.length(axis, Some(0))?;
                let step = self.length(axis, Some(1))?.checked_sub(least).filter(|step| *step > 0)?;
                let left = dim.checked_sub(least).filter(|left| left.is_multiple_of(step))?;
                self.known.push((one, left / step));
                Some(true)
            }
            _ => Some(false),
        }
    }

    fn shape(&self, axes: &[Axis]) -> Vec<usize> {
        let (plain, rest) = match axes {
            [plain @ .., last] if last.kinds == [["*"]] => (plain, &*self.rest),
            all => (all, &[][..]),
        };
        let length = |axis| self.length(axis, None).expect("sizes that fit a shape");
        plain.iter().map(length).chain(rest.iter().copied()).collect()
    }

    /// The sizes of an axis for messages.
    fn described(&self, axis: &Axis) -> String {
        let parts = |parts: &Parts| {
            let sizes = parts.iter().map(|part| self.get(part).map_or((*part).to_owned(), |size| size.to_string()));
            sizes.collect::<Vec<_>>().join(" * ")
        };
        let kinds = axis.kinds.iter().map(parts).collect::<Vec<_>>().join(" + ");
        if axis.outer.is_empty() { kinds } else { format!("{} * ({kinds})", parts(&axis.outer)) }
    }
}
