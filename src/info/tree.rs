//! The names of tensors as a tree: grouped at dots and slashes, with the sums of each group.
//!
//! Layers that are numbered and have the same structure are one row, `layers.{0..31}`: of a model of a thousand tensors
//! these are what people look for. Groups are never built: tensors are sorted by the segments of their names, so a group is a
//! slice of them, and a row of several layers is several slices of equal length, the *copies*.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{self, Write};
use std::ops::Range;

use super::{Info, OfFile, Totals, UnreadTensor, WIDEST, of_files, size};
use crate::format::name_order::by_numbers;
use crate::report::json::list;
use crate::report::{Colour, Column, Heading, Style, Table, printable};

/// The most segments of a name. What follows them is one more, so that no name makes a tree deeper than the stack.
const SEGMENTS: usize = 32;

/// A tensor, and the segments of its name: each but the first begins with the dot or slash before it.
struct TreeEntry<'a> {
    segments: Vec<&'a str>,
    info: &'a Info,
}

/// Slices of tensors that have the same names from some segment on, and the same dtypes and shapes.
type Copies<'a> = Vec<&'a [TreeEntry<'a>]>;

/// A segment below a group, or several numbers in a row whose tensors are alike.
struct Branch<'a> {
    label: String,
    is_number: bool,
    copies: Copies<'a>,
}

/// Writes the names of tensors as a tree for each file.
///
/// # Errors
/// `out` fails.
pub fn write_tree(out: &mut dyn Write, infos: &[Info], unread: &[UnreadTensor], style: Style) -> io::Result<()> {
    let columns = vec![
        Column::left("name"),
        Column::right("tensors"),
        Column::left("dtype"),
        Column::left("shape"),
        Column::right("items"),
        Column::right("size"),
        Column::left(""),
    ];
    let mut rows = Vec::new();
    for OfFile { infos, unread } in of_files(infos, unread) {
        let mut entries: Vec<_> = infos.iter().map(TreeEntry::new).collect();
        entries.sort_by(TreeEntry::cmp);
        let (file, all) = (infos.first().map(|info| &info.file), [&entries[..]]);
        let name = printable(file.or(unread.first().map(|unread| &unread.file)).map_or("", |file| file));
        match &entries[..] {
            [alone] if alone.info.member.is_none() => rows.push(leaf(name.into_owned(), &all)),
            _ => {
                rows.push(group(name.into_owned(), &all));
                add(&mut rows, &all, Level { depth: 0, parent: "", indent: 2 });
            }
        }
        let blank = || std::iter::repeat_n(Cow::Borrowed(""), 5);
        let row =
            |unread: &UnreadTensor| vec![format!("  {}", printable(&unread.member)).into()].into_iter().chain(blank());
        rows.extend(unread.iter().map(|unread| row(unread).chain([unread.note().into()]).collect()));
    }
    Table { columns, rows, heading: Heading::Line(Colour::Bold), indent: 0, widest: WIDEST }.write(out, style)
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

    /// Compares by segments in natural order, those that are numbers before all else.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |segment: &'a str| (number(segment).is_none(), number(segment));
        let compare = |(a, b): (&&'a str, &&'a str)| key(a).cmp(&key(b)).then_with(|| by_numbers(a, b));
        let first = self.segments.iter().zip(&other.segments).map(compare).find(|order| order.is_ne());
        first.unwrap_or_else(|| self.segments.len().cmp(&other.segments.len()))
    }

    /// Returns whether another tensor has the same names from segment `depth` on, and the same dtype and shape.
    fn is_alike(&self, other: &Self, depth: usize) -> bool {
        let (one, two) = (&self.info.stored.meta, &other.info.stored.meta);
        self.segments[depth..] == other.segments[depth..] && one.dtype == two.dtype && one.shape == two.shape
    }
}

/// Divides a segment into the dot or slash that it begins with, if there is one, and the rest.
fn divided(segment: &str) -> (&str, &str) {
    segment.split_at(usize::from(segment.starts_with(['.', '/'])))
}

/// Returns the number that a segment is.
fn number(segment: &str) -> Option<u64> {
    let (_, digits) = divided(segment);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Divides the tensors whose names go on by their segment `depth`.
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

/// Where rows are added.
#[derive(Clone, Copy)]
struct Level<'a> {
    /// The segment that the rows begin with.
    depth: usize,
    /// The label of the group that they lie in.
    parent: &'a str,
    /// The spaces before them.
    indent: usize,
}

/// Adds the rows of tensors and of all groups among them. Numbers are called by what they count, the last segment of the
/// group that they lie in.
fn add(rows: &mut Vec<Vec<Cow<'static, str>>>, copies: &[&[TreeEntry<'_>]], level: Level<'_>) {
    let Level { depth, parent, indent } = level;
    for Branch { mut label, is_number, mut copies } in branches(copies, depth) {
        let mut depth = depth + 1;
        // a group of one branch is one row with it
        while copies[0][0].segments.len() > depth {
            let mut below = branches(&copies, depth);
            if below.len() > 1 {
                break;
            }
            let only = below.remove(0);
            (label, copies, depth) = (label + &only.label, only.copies, depth + 1);
        }
        let counted = parent.rfind(['.', '/']).map_or(parent, |at| &parent[at + 1..]);
        let shown = match is_number {
            true if !counted.is_empty() => format!("{counted}{label}"),
            true | false => divided(&label).1.to_owned(),
        };
        let name = |indent: usize| format!("{}{}", " ".repeat(indent), printable(&shown));
        if copies[0].len() == 1 {
            rows.push(leaf(name(indent), &copies));
            continue;
        }
        rows.push(group(name(indent), &copies));
        if copies[0][0].segments.len() == depth {
            let own: Copies<'_> = copies.iter().map(|copy| &copy[..1]).collect();
            rows.push(leaf(name(indent + 2), &own));
        }
        add(rows, &copies, Level { depth, parent: &label, indent: indent + 2 });
    }
}

/// Returns the row of a tensor, or of several that are alike.
fn leaf(name: String, copies: &[&[TreeEntry<'_>]]) -> Vec<Cow<'static, str>> {
    let mut cells = group(name, copies);
    let info = copies[0][0].info;
    cells[2] = printable(&info.stored.meta.dtype.native().name()).into_owned().into();
    cells[3] = list(&info.stored.meta.shape).into();
    cells
}

/// Returns the row of several tensors: how many they are, and the sums of their items and bytes.
fn group(name: String, copies: &[&[TreeEntry<'_>]]) -> Vec<Cow<'static, str>> {
    let infos = || copies.iter().copied().flatten().map(|entry| entry.info);
    let totals = Totals::of(infos());
    let (count, items) = (totals.tensors.to_string(), totals.items.to_string());
    vec![name.into(), count.into(), "".into(), "".into(), items.into(), size(totals.bytes).into()]
}
