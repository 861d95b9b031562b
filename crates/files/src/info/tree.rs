//! Tensor names as a tree, grouped at dots and slashes. Numbered layers of the same structure share a row,
//! `layers.{0..31}`. Tensors are sorted by name segments, so a group is a slice; a row of several layers has slices of
//! equal length, the *copies*.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::io::{self, Write};
use std::ops::Range;

use super::group_stats::GroupStats;
use super::{FileInfos, Info, Totals, UnreadTensor, WIDEST, by_file, figures, size};
use crate::container::content::StoredRange;
use crate::container::names::by_numbers;
use crate::report::json::{self, Escapes, list, or_null};
use crate::report::{Colour, Column, Heading, Style, Table, printable};

/// Limits the recursion; the rest of a longer name is one segment.
const SEGMENTS: usize = 32;

/// Every segment except the first begins with its dot or slash.
struct TreeEntry<'a> {
    segments: Vec<&'a str>,
    info: &'a Info,
}

/// Slices of alike tensors.
type Copies<'a> = Vec<&'a [TreeEntry<'a>]>;

struct Branch<'a> {
    label: String,
    is_number: bool,
    copies: Copies<'a>,
}

struct TreeNode<'a> {
    name: String,
    copies: Copies<'a>,
    is_leaf: bool,
    children: Vec<TreeNode<'a>>,
}

/// Writes a tree for each file, then the statistics of each row.
///
/// # Errors
/// `out` fails.
pub fn write_tree(out: &mut dyn Write, infos: &[Info], unread: &[UnreadTensor], style: Style) -> io::Result<()> {
    let (mut rows, mut figures) = (Vec::new(), Vec::new());
    for of_file in by_file(infos, unread) {
        let entries = entries(&of_file);
        let name = printable(of_file.name()).into_owned();
        if entries.is_empty() {
            rows.push(row(&name, &vec![&[]], false));
        } else {
            add_rows(&mut rows, &mut figures, &TreeNode { name, ..root(&entries) }, 0);
        }
        let blank = || std::iter::repeat_n(Cow::Borrowed(""), 5);
        let row =
            |unread: &UnreadTensor| vec![format!("  {}", printable(unread.name())).into()].into_iter().chain(blank());
        rows.extend(of_file.unread.iter().map(|unread| row(unread).chain([unread.note().into()]).collect()));
    }
    let table =
        |columns, rows| Table { columns, rows, heading: Heading::Line(Colour::Bold), indent: 0, widest: WIDEST };
    table(Column::list("name >tensors dtype shape >items >size -"), rows).write(out, style)?;
    if infos.iter().any(|info| info.stats.is_some()) {
        writeln!(out)?;
        table(figures::columns("name"), figures).write(out, style)?;
    }
    Ok(())
}

/// Writes an array with one tree object per file, each on a line.
///
/// # Errors
/// `out` fails.
pub fn write_tree_json(out: &mut dyn Write, infos: &[Info]) -> io::Result<()> {
    let files = by_file(infos, &[]);
    for (n, of_file) in files.iter().enumerate() {
        let entries = entries(of_file);
        let object = object(&root(&entries), ("file", of_file.name()));
        write!(out, "{}{object}", if n == 0 { "[" } else { ",\n " })?;
    }
    out.write_all(if files.is_empty() { b"[]\n" } else { b"]\n" })
}

fn object(node: &TreeNode<'_>, first: (&'static str, &str)) -> String {
    let TreeNode { copies, is_leaf, children, .. } = node;
    let totals = Totals::of(infos_of(copies));
    let meta = || &copies[0][0].info.stored.meta;
    let quoted = |text: &str| json::string(text, Escapes::Numbers);
    let mut members = vec![
        (first.0, quoted(first.1)),
        ("tensors", totals.tensors.to_string()),
        ("dtype", or_null(is_leaf.then(meta), |meta| quoted(&meta.dtype.native().name()))),
        ("shape", or_null(is_leaf.then(meta), |meta| list(&meta.shape))),
        ("items", totals.items.to_string()),
        ("bytes", totals.bytes.to_string()),
    ];
    let sums = Totals::by_dtype(infos_of(copies));
    if !sums.is_empty() {
        let sums = sums.iter().map(|(dtype, Totals { tensors, items, bytes })| {
            let numbers =
                [("tensors", tensors.to_string()), ("items", items.to_string()), ("bytes", bytes.to_string())];
            format!("{}: {}", quoted(dtype), json::object(numbers))
        });
        members.push(("dtypes", format!("{{{}}}", sums.collect::<Vec<_>>().join(", "))));
    }
    if infos_of(copies).any(|info| info.stats.is_some()) {
        members.push(("stats", or_null(GroupStats::of(infos_of(copies)).as_ref(), GroupStats::json)));
    }
    members.push(("children", json::array(children, |child| object(child, ("name", &child.name)))));
    json::object(members)
}

fn entries<'a>(of_file: &FileInfos<'a>) -> Vec<TreeEntry<'a>> {
    let mut entries: Vec<_> = of_file.infos.iter().map(TreeEntry::new).collect();
    entries.sort_by(TreeEntry::cmp);
    entries
}

fn root<'a>(entries: &'a [TreeEntry<'a>]) -> TreeNode<'a> {
    let copies = vec![entries];
    let is_leaf = matches!(entries, [alone] if alone.info.member.is_none());
    let children = if is_leaf { Vec::new() } else { nodes(&copies, 0, "") };
    TreeNode { name: String::new(), copies, is_leaf, children }
}

fn infos_of<'a>(copies: &Copies<'a>) -> impl Iterator<Item = &'a Info> {
    copies.iter().copied().flatten().map(|entry| entry.info)
}

fn add_rows(
    rows: &mut Vec<Vec<Cow<'static, str>>>,
    figures: &mut Vec<Vec<Cow<'static, str>>>,
    node: &TreeNode<'_>,
    indent: usize,
) {
    let name = format!("{}{}", " ".repeat(indent), printable(&node.name));
    rows.push(row(&name, &node.copies, node.is_leaf));
    if infos_of(&node.copies).any(|info| info.stats.is_some()) {
        let stats = GroupStats::of(infos_of(&node.copies));
        figures.push(figures::cells(name, stats.as_ref().map(|stats| &stats.figures)));
    }
    node.children.iter().for_each(|child| add_rows(rows, figures, child, indent + 2));
}

impl<'a> TreeEntry<'a> {
    fn new(info: &'a Info) -> Self {
        let name = info.member.as_deref().unwrap_or_default();
        let mut ends: Vec<_> = name.match_indices(['.', '/']).map(|(at, _)| at).filter(|at| *at > 0).collect();
        ends.truncate(SEGMENTS - 1);
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let segments = begins.zip(ends.iter().copied().chain([name.len()])).map(|(begin, end)| &name[begin..end]);
        Self { segments: segments.collect(), info }
    }

    /// Numbers come first.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |segment: &'a str| (number(segment).is_none(), number(segment));
        let compare = |(a, b): (&&'a str, &&'a str)| key(a).cmp(&key(b)).then_with(|| by_numbers(a, b));
        let first = self.segments.iter().zip(&other.segments).map(compare).find(|order| order.is_ne());
        first.unwrap_or_else(|| self.segments.len().cmp(&other.segments.len()))
    }

    fn is_alike(&self, other: &Self, depth: usize) -> bool {
        let (one, two) = (&self.info.stored.meta, &other.info.stored.meta);
        self.segments[depth..] == other.segments[depth..] && one.dtype == two.dtype && one.shape == two.shape
    }
}

fn divided(segment: &str) -> (&str, &str) {
    segment.split_at(usize::from(segment.starts_with(['.', '/'])))
}

fn number(segment: &str) -> Option<u64> {
    let (_, digits) = divided(segment);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn branches<'a>(copies: &[&'a [TreeEntry<'a>]], depth: usize) -> Vec<Branch<'a>> {
    let first = copies[0];
    let ended = first.iter().take_while(|entry| entry.segments.len() == depth).count();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for run in first[ended..].chunk_by(|a, b| a.segments[depth] == b.segments[depth]) {
        let begin = ranges.last().map_or(ended, |last| last.end);
        ranges.push(begin..begin + run.len());
    }
    let segment = |range: &Range<usize>| first[range.start].segments[depth];
    let is_next = |a: &Range<usize>, b: &Range<usize>| {
        let numbers = number(segment(a)).zip(number(segment(b)));
        divided(segment(a)).0 == divided(segment(b)).0 && numbers.is_some_and(|(a, b)| a.checked_add(1) == Some(b))
    };
    let alike = |a: &Range<usize>, b: &Range<usize>| {
        let mut pairs = first[a.clone()].iter().zip(&first[b.clone()]);
        is_next(a, b) && a.len() == b.len() && pairs.all(|(a, b)| a.is_alike(b, depth + 1))
    };
    let branch = |ranges: &[Range<usize>]| {
        let (from, to) = (segment(&ranges[0]), segment(&ranges[ranges.len() - 1]));
        let ((separator, from_number), (_, to_number)) = (divided(from), divided(to));
        let label = match ranges {
            [_] => from.to_owned(),
            _ => format!("{separator}{{{from_number}..{to_number}}}"),
        };
        let copies = copies.iter().flat_map(|copy| ranges.iter().map(|range| &copy[range.clone()])).collect();
        Branch { label, is_number: number(from).is_some(), copies }
    };
    ranges.chunk_by(alike).map(branch).collect()
}

/// Numbers are prefixed with the last segment of their group.
fn nodes<'a>(copies: &Copies<'a>, depth: usize, parent: &str) -> Vec<TreeNode<'a>> {
    let node = |Branch { mut label, is_number, mut copies }: Branch<'a>| {
        let mut depth = depth + 1;
        // A group of one branch shares its row.
        while copies[0][0].segments.len() > depth {
            let mut below = branches(&copies, depth);
            if below.len() > 1 {
                break;
            }
            let only = below.remove(0);
            (label, copies, depth) = (label + &only.label, only.copies, depth + 1);
        }
        let counted = parent.rfind(['.', '/']).map_or(parent, |at| &parent[at + 1..]);
        let name = match is_number {
            true if !counted.is_empty() => format!("{counted}{label}"),
            true | false => divided(&label).1.to_owned(),
        };
        if copies[0].len() == 1 {
            return TreeNode { name, copies, is_leaf: true, children: Vec::new() };
        }
        let own = (copies[0][0].segments.len() == depth).then(|| {
            let own: Copies<'_> = copies.iter().map(|copy| &copy[..1]).collect();
            TreeNode { name: name.clone(), copies: own, is_leaf: true, children: Vec::new() }
        });
        let children = own.into_iter().chain(nodes(&copies, depth, &label)).collect();
        TreeNode { name, copies, is_leaf: false, children }
    };
    branches(copies, depth).into_iter().map(node).collect()
}

fn row(name: &str, copies: &Copies<'_>, is_leaf: bool) -> Vec<Cow<'static, str>> {
    let totals = Totals::of(infos_of(copies));
    let sums = Totals::by_dtype(infos_of(copies)).into_iter();
    let sums: Vec<_> = sums.map(|(dtype, sums)| format!("{} {}", printable(&dtype), sums.cells().join(" "))).collect();
    let (count, items) = (totals.tensors.to_string(), totals.items.to_string());
    let meta = is_leaf.then(|| &copies[0][0].info.stored.meta);
    let dtype = meta.map_or(String::new(), |meta| printable(&meta.dtype.native().name()).into_owned());
    let shape = meta.map_or(String::new(), |meta| list(&meta.shape));
    let name = name.to_owned();
    let size = size(totals.bytes);
    vec![name.into(), count.into(), dtype.into(), shape.into(), items.into(), size.into(), sums.join(", ").into()]
}

/// Another tensor of the file, with bytes of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The name of the other tensor.
    pub member: String,
    /// Whether both have the same bytes, and no others.
    pub has_all: bool,
}

/// Finds the tensors of a container that have bytes of another of these. Of several with the same bytes the first is not
/// marked.
pub fn mark_shared(infos: &mut [Info]) {
    let ranges = infos.iter().enumerate().filter_map(|(n, info)| {
        let StoredRange { holder, bytes } = info.stored.range()?;
        let end = Reverse(bytes.end);
        (info.member.is_some() && !bytes.is_empty()).then_some(((info.file_number, holder), bytes.start, end, n))
    });
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_unstable();
    let Some(mut other) = ranges.first() else { return };
    for range in &ranges[1..] {
        let (before, here) = (other.1..other.2.0, range.1..range.2.0);
        if other.0 == range.0 && here.start < before.end {
            let is_dense = before.end - before.start == infos[other.3].stored.bytes;
            let has_all = is_dense && before == here && infos[range.3].stored.bytes == infos[other.3].stored.bytes;
            let member = infos[other.3].member.clone().unwrap_or_default();
            infos[range.3].shared = Some(Shared { member, has_all });
            if here.end <= before.end {
                continue;
            }
        }
        other = range;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::content::Description;
    use crate::opening::table::Format;
    use tensorop_kernels::item::dtype::DType;
    use tensorop_kernels::item::meta::Meta;

    fn info(name: &str, file_number: usize, holder: Option<&str>, start: u64, len: u64, bytes: usize) -> Info {
        let meta = Meta::c_order(DType::parse("uint8").expect("a dtype"), vec![bytes]);
        let range = StoredRange { holder: holder.map(Into::into), bytes: start..start + len };
        Info {
            file: "m".into(),
            member: Some(name.into()),
            format: Format::NPZ,
            stored: Description { elsewhere: Some(range), ..Description::new(meta, bytes as u64, None) },
            stats: None,
            histogram: None,
            hash: None,
            by_axis: None,
            metadata: None,
            content: Default::default(),
            unlisted: Default::default(),
            file_number,
            shard: None,
            shared: None,
            error: None,
        }
    }

    #[test]
    fn bytes_of_others_are_found() {
        let mut infos = [
            info("part", 0, None, 4, 2, 2),
            info("whole", 0, None, 0, 8, 8),
            info("tied", 0, None, 0, 8, 8),
            info("next", 0, None, 8, 4, 4),
            info("over", 0, None, 10, 6, 6),
            info("after", 0, None, 14, 4, 4),
            info("empty", 0, None, 2, 0, 0),
            info("shard", 1, None, 0, 8, 8),
            info("held", 0, Some("a"), 0, 8, 8),
            info("other", 0, Some("b"), 0, 8, 8),
            info("columns", 0, Some("c"), 0, 4, 8),
            info("more", 0, Some("c"), 4, 4, 8),
            info("again", 0, Some("c"), 4, 4, 8),
        ];
        mark_shared(&mut infos);
        let found: Vec<_> = infos
            .iter()
            .filter_map(|info| Some((info.member.as_deref()?, info.shared.as_ref()?)))
            .map(|(name, shared)| (name, &*shared.member, shared.has_all))
            .collect();
        let expected = [
            ("part", "whole", false),
            ("tied", "whole", true),
            ("over", "next", false),
            ("after", "over", false),
            ("again", "more", false),
        ];
        assert_eq!(found, expected);
        mark_shared(&mut []);
    }
}
