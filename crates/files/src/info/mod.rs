//! Describes tensors and computes statistics for `tensorop info`. This module is not part of the stable interface.
//!
//! ```
//! use tensorop_files::internal::operators::fill::Limits;
//! use tensorop_files::internal::info::{self, Mean};
//! use tensorop_files::internal::storage::source::Source;
//! use tensorop_files::{DType, Tensor};
//!
//! let tensor = Tensor::new(DType::parse("int8").unwrap(), vec![2, 2], vec![3, 0, 1, 0]).unwrap();
//! let stats = info::stats(&mut Source::memory(tensor, "data".into()), true, Limits::default(), &|_| ())?;
//! let stats = stats.expect("numbers have statistics");
//! assert_eq!(stats.max.map(|(value, index)| (value.to_string(), index)), Some(("3".into(), vec![0, 0])));
//! assert_eq!((stats.mean, stats.zero), (Some(Mean::Real(1.0)), 2));
//! # Ok::<(), tensorop_files::Error>(())
//! ```

mod bytes;
mod figures;
mod group_stats;
mod histogram;
mod items;
mod stats;
#[cfg(test)]
mod tests;
mod tree;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::bytes::{explain_stats, hash, hash_bytes};
pub use self::figures::{AxisStats, write_figures};
pub use self::group_stats::by_axis;
use self::histogram::write_histogram;
pub use self::histogram::{Bin, BinEdge, Histogram, histogram};
pub use self::stats::{ItemValue, Mean, QUANTILES, Stats, stats};
pub use self::tree::{Shared, mark_shared, write_tree, write_tree_json};
use crate::container::content::{ChunkDescription, Description, KnownTensor};
use crate::container::names::by_numbers;
use crate::opening::table::Format;
use crate::report::json::{self, Escapes, list, or_null};
use crate::report::{Colour, Column, Heading, Style, Table, full_name, printable};
use crate::storage::source::{Metadata, merged};
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::meta::Order;

/// The description of a tensor and the results computed from its items.
#[derive(Debug)]
pub struct Info {
    /// As typed.
    pub file: String,
    /// The name in a container; `None` if the file is the tensor.
    pub member: Option<String>,
    pub format: Format,
    pub stored: Description,
    /// `Some(None)` for items without statistics.
    pub stats: Option<Option<Stats>>,
    /// `Some(None)` if no items can be counted.
    pub histogram: Option<Option<Histogram>>,
    pub hash: Option<String>,
    /// The axis, and the statistics of each index.
    pub by_axis: Option<(usize, AxisStats)>,
    pub metadata: Option<Arc<Metadata>>,
    /// Names of other content in the container.
    pub content: Arc<[String]>,
    /// Names of tensors that the index does not name.
    pub unlisted: Arc<[String]>,
    /// A number for the file of the container that holds the tensor.
    pub file_number: usize,
    /// The file of a model in several that holds the tensor.
    pub shard: Option<PathBuf>,
    pub shared: Option<Shared>,
    /// Why its items cannot be read.
    pub error: Option<String>,
}

/// A tensor of a container that cannot be read, or a file without tensors.
#[derive(Debug)]
pub struct UnreadTensor {
    pub file: String,
    /// `None` for a file without tensors.
    pub member: Option<String>,
    pub format: Format,
    pub known: KnownTensor,
    pub metadata: Option<Arc<Metadata>>,
    /// `None` for a file without tensors.
    pub reason: Option<String>,
}

impl UnreadTensor {
    fn name(&self) -> &str {
        self.member.as_deref().unwrap_or_default()
    }

    fn note(&self) -> String {
        format!("not read: {}", printable(self.reason.as_deref().unwrap_or_default()))
    }

    fn object(&self) -> String {
        let quoted = |text: &str| json::string(text, Escapes::Numbers);
        let (known, number) = (&self.known, |number: u64| number.to_string());
        let mut members = vec![
            ("file", quoted(&self.file)),
            ("name", or_null(self.member.as_deref(), quoted)),
            ("member", or_null(self.member.as_deref(), quoted)),
            ("format", quoted(self.format.name())),
            ("dtype", or_null(known.dtype.as_deref(), quoted)),
            ("shape", or_null(known.shape.as_deref(), list)),
        ];
        members.extend(["order", "byte_order", "items"].map(|key| (key, "null".to_owned())));
        members.extend([("bytes", or_null(known.bytes, number)), ("offset", or_null(known.offset, number))]);
        members.extend(object_of_metadata(self.metadata.as_deref()));
        members.extend(self.reason.as_deref().map(|reason| ("error", quoted(reason))));
        json::object(members)
    }
}

fn object_of_metadata(metadata: Option<&Metadata>) -> Option<(&'static str, String)> {
    let metadata = metadata.filter(|metadata| !metadata.is_empty())?;
    let quoted = |text: &str| json::string(text, Escapes::Numbers);
    let members: Vec<_> = metadata.iter().map(|(key, value)| format!("{}: {}", quoted(key), quoted(value))).collect();
    Some(("metadata", format!("{{{}}}", members.join(", "))))
}

/// The order of listed tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// The order of storage.
    File,
    Name,
    /// By size, the largest first.
    Size,
}

/// Sorts tensors of several files by name or size. Ties are sorted by name.
pub fn sort(infos: &mut [Info], unread: &mut [UnreadTensor], order: ListOrder) {
    let by_names = |a: (&str, Option<&str>), b: (&str, Option<&str>)| {
        by_numbers(a.0, b.0).then_with(|| by_numbers(a.1.unwrap_or_default(), b.1.unwrap_or_default()))
    };
    unread.sort_by(|a, b| by_names((&a.file, Some(a.name())), (&b.file, Some(b.name()))));
    let mut of_files: HashMap<String, u64> = HashMap::new();
    if order == ListOrder::Size {
        for info in infos.iter() {
            let sum = of_files.entry(info.file.clone()).or_default();
            *sum = sum.saturating_add(info.stored.bytes);
        }
    }
    let of_file = |info: &Info| of_files.get(&info.file).copied().unwrap_or_default();
    infos.sort_by(|a, b| {
        let files = of_file(b).cmp(&of_file(a)).then_with(|| by_numbers(&a.file, &b.file));
        let sizes = if order == ListOrder::Size { b.stored.bytes.cmp(&a.stored.bytes) } else { Ordering::Equal };
        files.then(sizes).then_with(|| by_names((&a.file, a.member.as_deref()), (&b.file, b.member.as_deref())))
    });
}

struct FileInfos<'a> {
    infos: &'a [Info],
    unread: &'a [UnreadTensor],
}

impl<'a> FileInfos<'a> {
    fn name(&self) -> &'a str {
        let file = self.infos.first().map(|info| &info.file);
        file.or(self.unread.first().map(|unread| &unread.file)).map_or("", |file| file)
    }
}

/// Files without readable tensors come last.
fn by_file<'a>(infos: &'a [Info], unread: &'a [UnreadTensor]) -> Vec<FileInfos<'a>> {
    let mut others: Vec<&[UnreadTensor]> = unread.chunk_by(|a, b| a.file == b.file).collect();
    let chunks = infos.chunk_by(|a, b| a.member.is_some() && b.member.is_some() && a.file == b.file);
    let mut found: Vec<_> = chunks
        .map(|infos| {
            let of_file = |unread: &&[UnreadTensor]| infos[0].member.is_some() && unread[0].file == infos[0].file;
            let at = others.iter().position(of_file);
            FileInfos { infos, unread: at.map_or(&[], |at| others.remove(at)) }
        })
        .collect();
    found.extend(others.into_iter().map(|unread| FileInfos { infos: &[], unread }));
    found
}

#[derive(Default)]
struct Totals {
    tensors: usize,
    items: u128,
    bytes: u64,
}

impl Totals {
    fn of<'a>(infos: impl Iterator<Item = &'a Info>) -> Self {
        let mut totals = Self::default();
        infos.for_each(|info| totals.add(info));
        totals
    }

    fn add(&mut self, info: &Info) {
        self.tensors += 1;
        self.items += info.items() as u128;
        self.bytes = self.bytes.saturating_add(info.stored.bytes);
    }

    /// The sums of tensors that have something in common, each with its first tensor.
    fn by<'a>(
        infos: impl IntoIterator<Item = &'a Info>,
        is_same: impl Fn(&Info, &Info) -> bool,
    ) -> Vec<(&'a Info, Self)> {
        let (mut sums, mut last): (Vec<(&Info, Self)>, usize) = (Vec::new(), 0);
        for info in infos {
            // tensors of a kind mostly follow each other
            if sums.get(last).is_none_or(|(first, _)| !is_same(first, info)) {
                last = sums.iter().position(|(first, _)| is_same(first, info)).unwrap_or(sums.len());
            }
            if last == sums.len() {
                sums.push((info, Self::default()));
            }
            sums[last].1.add(info);
        }
        sums
    }

    /// The sums of each dtype, the most bytes first; empty if there is one dtype.
    fn by_dtype<'a>(infos: impl IntoIterator<Item = &'a Info>) -> Vec<(String, Self)> {
        let sums = Self::by(infos, |one, other| {
            let (one, other) = (&one.stored, &other.stored);
            one.blocks == other.blocks && one.meta.dtype.kind() == other.meta.dtype.kind()
        });
        if sums.len() < 2 {
            return Vec::new();
        }
        let mut sums: Vec<_> = sums.into_iter().map(|(first, sums)| (first.dtype(), sums)).collect();
        sums.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then_with(|| by_numbers(&a.0, &b.0)));
        sums
    }

    /// The sums of each file of a model in several; empty if there is one file, or one for each tensor.
    fn by_shard(infos: &[Info]) -> Vec<(String, Self)> {
        let file = |info: &Info| info.shard.is_some().then_some(info.file_number);
        let sums = Self::by(infos, |one, other| file(one) == file(other));
        if sums.len() < 2 || sums.len() == infos.len() {
            return Vec::new();
        }
        let name = |info: &Info| {
            let path = info.shard.as_deref().unwrap_or(Path::new(&info.file));
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        };
        let mut sums: Vec<_> = sums.into_iter().map(|(first, sums)| (name(first), sums)).collect();
        sums.sort_by(|a, b| by_numbers(&a.0, &b.0));
        sums
    }

    fn cells(&self) -> [String; 3] {
        [counted(self.tensors as u128, "tensor"), counted(self.items, "item"), size(self.bytes)]
    }
}

impl Info {
    /// `little`, `big`, or `None` if the byte order does not matter.
    pub fn byte_order(&self) -> Option<&'static str> {
        let dtype = &self.stored.meta.dtype;
        // The dtype name of an empty string type includes the byte order.
        let bytes = matches!(dtype.kind(), Kind::Bytes(_) | Kind::Void(_) | Kind::Struct(_));
        let ordered = !bytes && (dtype.itemsize() > 1 || matches!(dtype.kind(), Kind::Str(_)));
        ordered.then_some(if dtype.is_big_endian() { "big" } else { "little" })
    }

    /// The name of the dtype, or of the rule of its blocks.
    fn dtype(&self) -> String {
        self.stored.blocks.map_or_else(|| self.stored.meta.dtype.native().name(), |blocks| blocks.name.to_owned())
    }

    /// The number of items, saturating.
    pub fn items(&self) -> usize {
        let shape = &self.stored.meta.shape;
        if shape.contains(&0) { 0 } else { shape.iter().fold(1, |items, &dim| items.saturating_mul(dim)) }
    }

    fn full_name(&self) -> String {
        full_name(&self.file, self.member.as_deref())
    }

    fn order(&self) -> &'static str {
        if self.stored.meta.order == Order::Fortran { "F" } else { "C" }
    }
}

/// Writes an array with one object per tensor, each on a line, those that cannot be read at the end.
///
/// # Errors
/// `out` fails.
pub fn write_json(out: &mut dyn Write, infos: &mut [Info], unread: &[UnreadTensor]) -> io::Result<()> {
    let count = infos.len();
    let begin = |i: usize| if i == 0 { "[" } else { ",\n " };
    for (i, info) in infos.iter_mut().enumerate() {
        let object = object(info);
        write!(out, "{}{}", begin(i), object.strip_suffix('}').unwrap_or(&object))?;
        if let Some((_, places)) = &mut info.by_axis {
            out.write_all(b", \"by_axis\": ")?;
            places.text.write(out)?;
        }
        out.write_all(b"}")?;
    }
    for (i, unread) in unread.iter().enumerate() {
        write!(out, "{}{}", begin(count + i), unread.object())?;
    }
    out.write_all(if count + unread.len() == 0 { b"[]\n" } else { b"]\n" })
}

fn object(info: &Info) -> String {
    let quoted = |text: &str| json::string(text, Escapes::Numbers);
    let Description { meta, bytes, offset, chunks, .. } = &info.stored;
    let mut members = vec![
        ("file", quoted(&info.file)),
        ("name", or_null(info.member.as_deref(), quoted)),
        ("member", or_null(info.member.as_deref(), quoted)),
        ("format", quoted(info.format.name())),
        ("dtype", quoted(&info.dtype())),
        ("shape", list(&meta.shape)),
        ("order", quoted(info.order())),
        ("byte_order", or_null(info.byte_order(), quoted)),
        ("items", info.items().to_string()),
        ("bytes", bytes.to_string()),
        ("offset", or_null(*offset, |offset| offset.to_string())),
    ];
    if let Some(chunks) = chunks {
        let names = |names: &Vec<Option<String>>| json::array(names, |name| or_null(name.as_deref(), quoted));
        members.extend([
            ("chunks", list(&chunks.chunks)),
            ("shards", or_null(chunks.shards.as_deref(), list)),
            ("codecs", chunks.codecs.clone()),
            ("fill_value", chunks.fill_value.clone()),
            ("dimension_names", or_null(chunks.dimension_names.as_ref(), names)),
            ("attributes", chunks.attributes.clone()),
            ("zarr_format", chunks.version.to_string()),
        ]);
    }
    if let Some(shared) = &info.shared {
        members.push(("shares", quoted(&shared.member)));
    }
    if let Some(stats) = &info.stats {
        members.push(("stats", figures::object(stats.as_ref())));
    }
    if let Some(histogram) = &info.histogram {
        members.push(("histogram", or_null(histogram.as_ref(), Histogram::json)));
    }
    if let Some(hash) = &info.hash {
        members.push(("hash", quoted(hash)));
    }
    members.extend(object_of_metadata(info.metadata.as_deref()));
    if !info.content.is_empty() {
        members.push(("content", json::array(&*info.content, |name| quoted(name))));
    }
    if !info.unlisted.is_empty() {
        members.push(("unlisted", json::array(&*info.unlisted, |name| quoted(name))));
    }
    members.extend(info.error.as_deref().map(|error| ("error", quoted(error))));
    json::object(members)
}

const WIDEST: usize = 60;

/// Writes a table of tensors, then their statistics, hashes (as `sha256sum` prints them), histograms and statistics by
/// axis.
///
/// # Errors
/// `out` fails.
pub fn write_table(out: &mut dyn Write, infos: &mut [Info], unread: &[UnreadTensor], style: Style) -> io::Result<()> {
    let total = |FileInfos { infos, unread }: &FileInfos<'_>| {
        let [tensors, items, bytes] = Totals::of(infos.iter()).cells();
        let note = if unread.is_empty() { String::new() } else { format!("{} not read", unread.len()) };
        vec!["  total".into(), tensors.into(), items.into(), bytes.into(), note.into()]
    };
    let none = |name: String, unread: &UnreadTensor| {
        let note = unread.note();
        Some(vec![name.into(), "".into(), "".into(), "".into(), note.into()])
    };
    let tensors = rows(infos, unread, |name, info| Some(cells(name, info)), none, total);
    let columns = Column::list("name dtype shape >size -");
    Table { columns, rows: tensors, heading: Heading::Line(Colour::Bold), indent: 0, widest: WIDEST }
        .write(out, style)?;
    write_sums(out, ("dtype", |infos| Totals::by_dtype(infos)), infos, unread, style)?;
    write_sums(out, ("file", Totals::by_shard), infos, unread, style)?;
    write_metadata(out, infos, unread)?;
    write_content(out, infos)?;
    if infos.iter().any(|info| info.stats.is_some()) {
        let row = |name, info: &Info| info.stats.as_ref().map(|stats| figures::cells(name, stats.as_ref()));
        let rows = rows(infos, unread, row, |_, _| None, |_| Vec::new());
        writeln!(out)?;
        let columns = figures::columns("name");
        Table { columns, rows, heading: Heading::Line(Colour::Bold), indent: 0, widest: WIDEST }.write(out, style)?;
    }
    let hashes = infos.iter().filter_map(|info| Some((info.hash.as_ref()?, info)));
    for (n, (hash, info)) in hashes.enumerate() {
        writeln!(out, "{}{hash}  {}", if n == 0 { "\n" } else { "" }, info.full_name())?;
    }
    for info in infos {
        if let Some(histogram) = &info.histogram {
            writeln!(out, "\n{}", style.paint(Colour::Bold, &info.full_name()))?;
            write_histogram(out, histogram.as_ref())?;
        }
        if let Some((axis, places)) = &mut info.by_axis {
            let heading = format!("{}, axis {axis}", full_name(&info.file, info.member.as_deref()));
            writeln!(out, "\n{}", style.paint(Colour::Bold, &heading))?;
            places.text.write(out)?;
        }
    }
    Ok(())
}

fn rows(
    infos: &[Info],
    unread: &[UnreadTensor],
    row: impl Fn(String, &Info) -> Option<Vec<Cow<'static, str>>>,
    row_of_unread: impl Fn(String, &UnreadTensor) -> Option<Vec<Cow<'static, str>>>,
    total: impl Fn(&FileInfos<'_>) -> Vec<Cow<'static, str>>,
) -> Vec<Vec<Cow<'static, str>>> {
    let mut rows = Vec::new();
    for of_file in by_file(infos, unread) {
        let FileInfos { infos, unread } = of_file;
        if let ([one], []) = (infos, unread) {
            rows.extend(row(one.full_name(), one));
            continue;
        }
        let member = |name: &str| format!("  {}", printable(name));
        let of_infos = infos.iter().filter_map(|info| row(member(info.member.as_deref().unwrap_or_default()), info));
        let of_unread = unread.iter().filter_map(|unread| row_of_unread(member(unread.name()), unread));
        let below: Vec<_> = of_infos.chain(of_unread).collect();
        let file = infos.first().map(|info| &info.file).or(unread.first().map(|unread| &unread.file));
        if let Some(file) = file.filter(|_| !below.is_empty()) {
            rows.push(vec![printable(file).into_owned().into()]);
            rows.extend(below);
            rows.extend(Some(total(&of_file)).filter(|cells| !cells.is_empty()));
        }
    }
    rows
}

/// Returns a line of metadata. A long text (a licence, a chat template) is cut: JSON output has it whole.
pub fn metadata_line(key: &str, value: &str) -> String {
    const LONGEST: usize = 200;
    let (key, characters) = (printable(key), value.chars().count());
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("metadata {key} = {}… ({characters} characters)\n", printable(&value[..end])),
        None => format!("metadata {key} = {}\n", printable(value)),
    }
}

type Sums = fn(&[Info]) -> Vec<(String, Totals)>;

fn write_sums(
    out: &mut dyn Write,
    (name, sums): (&'static str, Sums),
    infos: &[Info],
    unread: &[UnreadTensor],
    style: Style,
) -> io::Result<()> {
    let (files, mut rows) = (by_file(infos, unread), Vec::new());
    for of_file in &files {
        let sums = sums(of_file.infos);
        if files.len() > 1 && !sums.is_empty() {
            rows.push(vec![printable(of_file.name()).into_owned().into()]);
        }
        rows.extend(sums.into_iter().map(|(name, Totals { tensors, items, bytes })| {
            let name = format!("{}{}", if files.len() > 1 { "  " } else { "" }, printable(&name));
            vec![name.into(), tensors.to_string().into(), items.to_string().into(), size(bytes).into()]
        }));
    }
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let columns = vec![Column::left(name), Column::right("tensors"), Column::right("items"), Column::right("size")];
    Table { columns, rows, heading: Heading::Line(Colour::Bold), indent: 0, widest: WIDEST }.write(out, style)
}

/// Merges the metadata of the shards of an index.
fn write_metadata(out: &mut dyn Write, infos: &[Info], unread: &[UnreadTensor]) -> io::Result<()> {
    let files = by_file(infos, unread);
    for file in &files {
        let of_unread = file.unread.iter().filter_map(|tensor| tensor.metadata.as_ref());
        let metadata = merged(file.infos.iter().filter_map(|info| info.metadata.as_ref()).chain(of_unread));
        if files.len() > 1 && !metadata.is_empty() {
            writeln!(out, "{}:", printable(file.name()))?;
        }
        for (key, value) in &metadata {
            out.write_all(metadata_line(key, value).as_bytes())?;
        }
    }
    Ok(())
}

fn write_content(out: &mut dyn Write, infos: &[Info]) -> io::Result<()> {
    let files = infos.chunk_by(|a, b| a.file == b.file).filter_map(|infos| infos.first());
    files.filter(|info| !info.content.is_empty()).try_for_each(|info| {
        let noun = if info.content.len() == 1 { "which is not a tensor" } else { "which are not tensors" };
        writeln!(out, "{}: holds {}, {noun}", printable(&info.file), printable(&info.content.join(", ")))
    })
}

fn cells(name: String, info: &Info) -> Vec<Cow<'static, str>> {
    let Description { meta, bytes, chunks, .. } = &info.stored;
    let fortran = (meta.order == Order::Fortran).then_some("Fortran order");
    let big = (info.byte_order() == Some("big")).then_some("big-endian");
    let usual = fortran.into_iter().chain(big).map(str::to_owned);
    let shared = info.shared.as_ref().map(|Shared { member, has_all }| {
        format!("{} {}", if *has_all { "=" } else { "shares bytes of" }, printable(member))
    });
    let factor = info.stored.factor.as_ref().map(|factor| format!("not multiplied by {}", printable(factor)));
    let storage: Vec<_> =
        usual.chain(chunks.as_ref().map(ChunkDescription::to_string)).chain(factor).chain(shared).collect();
    vec![
        name.into(),
        printable(&info.dtype()).into_owned().into(),
        list(&meta.shape).into(),
        size(*bytes).into(),
        storage.join(", ").into(),
    ]
}

impl fmt::Display for ChunkDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunks {}", list(&self.chunks))?;
        if let Some(shards) = &self.shards {
            write!(f, ", shards {}", list(shards))?;
        }
        let fill = match &*self.fill_value {
            // JSON writes these numbers as strings.
            number @ ("\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"") => number.trim_matches('"'),
            fill => fill,
        };
        write!(f, ", codec {}, fill {}", printable(&self.codec_names), printable(fill))?;
        if let Some(names) = &self.dimension_names {
            let names: Vec<_> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
            write!(f, ", dims {}", printable(&names.join(",")))?;
        }
        write!(f, ", version {}", self.version)
    }
}

fn counted(count: u128, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} B");
    }
    let (mut number, mut unit) = (bytes as f64 / 1024.0, 0);
    // 1023.99 KiB must not become 1024 KiB.
    while number.round() >= 1024.0 && unit + 1 < UNITS.len() {
        (number, unit) = (number / 1024.0, unit + 1);
    }
    let places = usize::from(number < 9.995) + usize::from(number < 99.95);
    format!("{number:.places$} {}", UNITS[unit])
}
