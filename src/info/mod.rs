//! What a tensor is, as its file's header says it, and statistics of its items.
//!
//! ```
//! use tensorop::exec::Threads;
//! use tensorop::info::{self, Mean};
//! use tensorop::source::Source;
//! use tensorop::{DType, Tensor};
//!
//! let tensor = Tensor::new(DType::parse("int8").unwrap(), vec![2, 2], vec![3, 0, 1, 0]).unwrap();
//! let stats = info::stats(&mut Source::memory(tensor, "data".into()), Threads::default(), &|_| ())?;
//! assert_eq!(stats.max.map(|(value, index)| (value.to_string(), index)), Some(("3".into(), vec![0, 0])));
//! assert_eq!((stats.mean, stats.zero), (Some(Mean::Real(1.0)), 2));
//! # Ok::<(), tensorop::Error>(())
//! ```

mod bytes;
mod exact;
mod histogram;
mod items;
mod stats;

use std::borrow::Cow;
use std::io::{self, Write};

pub use self::histogram::{Bin, Bound, Histogram, histogram};
pub use self::stats::{Mean, Stats, Value, stats};
use crate::format::Format;
use crate::format::json::float;
use crate::item::dtype::{DType, Kind};

/// What the header says of one tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The file, as it was named.
    pub file: String,
    /// The name in a container; `None` where the file is the tensor.
    pub member: Option<String>,
    /// The format of the file.
    pub format: Format,
    /// The dtype of the items as they are stored.
    pub dtype: DType,
    /// The dims.
    pub shape: Vec<usize>,
    /// Whether the first axis is the one that runs fastest.
    pub fortran_order: bool,
    /// The bytes of the items as they are stored.
    pub bytes: u64,
    /// Where they begin, in bytes from the beginning of the file. `None` where they do not lie in it as they are.
    pub offset: Option<u64>,
    /// Statistics, if they are wanted.
    pub stats: Option<Stats>,
    /// How the items are distributed, if that is wanted and there is something to be counted.
    pub histogram: Option<Histogram>,
}

impl Info {
    /// `little` or `big`; `None` where bytes have no order.
    pub fn byte_order(&self) -> Option<&'static str> {
        let ordered = match self.dtype.kind() {
            Kind::Bytes(_) | Kind::Void(_) | Kind::Struct(_) => false,
            Kind::Str(_) => true,
            _ => self.dtype.itemsize() > 1,
        };
        ordered.then_some(if self.dtype.is_big_endian() { "big" } else { "little" })
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        if self.shape.contains(&0) { 0 } else { self.shape.iter().fold(1, |items, &dim| items.saturating_mul(dim)) }
    }

    /// `C` or `F`.
    fn order(&self) -> &'static str {
        if self.fortran_order { "F" } else { "C" }
    }
}

/// Writes an array of one object for each tensor, each on a line.
///
/// # Errors
/// What `out` says.
pub fn write_json(out: &mut dyn Write, infos: &[Info]) -> io::Result<()> {
    for (i, info) in infos.iter().enumerate() {
        let member = info.member.as_deref().map_or("null".to_owned(), quoted);
        let byte_order = info.byte_order().map_or("null".to_owned(), quoted);
        let offset = info.offset.map_or("null".to_owned(), |offset| offset.to_string());
        write!(
            out,
            "{}{{\"file\": {}, \"member\": {member}, \"format\": \"{}\", \"dtype\": {}, \"shape\": {:?}, \
             \"order\": \"{}\", \"byte_order\": {byte_order}, \"items\": {}, \"bytes\": {}, \"offset\": {offset}",
            if i == 0 { "[" } else { ",\n " },
            quoted(&info.file),
            info.format.name(),
            quoted(&info.dtype.native().name()),
            info.shape,
            info.order(),
            info.items(),
            info.bytes,
        )?;
        if let Some(stats) = &info.stats {
            let extreme = |extreme: &Option<(Value, Vec<usize>)>| match extreme {
                Some((value, index)) => format!("{{\"value\": {value}, \"index\": {index:?}}}"),
                None => "null".to_owned(),
            };
            let mean = stats.mean.map_or("null".to_owned(), |mean| match mean {
                Mean::Real(mean) => float(mean),
                Mean::Complex(re, im) => format!("[{}, {}]", float(re), float(im)),
            });
            write!(
                out,
                ", \"stats\": {{\"min\": {}, \"max\": {}, \"mean\": {mean}, \"std\": {}, \"nan\": {}, \"inf\": {}, \
                 \"zero\": {}}}",
                extreme(&stats.min),
                extreme(&stats.max),
                stats.std.map_or("null".to_owned(), float),
                stats.nan,
                stats.inf,
                stats.zero,
            )?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(if infos.is_empty() { b"[]\n" } else { b"]\n" })
}

/// A JSON string, also without the control characters that JSON allows but a terminal might obey.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Text fit for a terminal: its control characters (names may hold them) escaped.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return text.into();
    }
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out.into()
}

/// The cells of a row longer than this do not widen their column.
const WIDEST: usize = 60;

/// Characters of the longest bar of a histogram.
const BAR: u64 = 40;

/// Writes a table with a line for each tensor below a line of headings, and after it a block for each tensor of which
/// there are statistics. With `colour`, headings are bold.
///
/// # Errors
/// What `out` says.
pub fn write_table(out: &mut dyn Write, infos: &[Info], colour: bool) -> io::Result<()> {
    let (bold, plain) = if colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let members = infos.iter().any(|info| info.member.is_some());
    // heading, whether it holds numbers
    let mut columns = vec![("file", false), ("member", false), ("format", false), ("dtype", false), ("shape", false)];
    columns.extend([("order", false), ("byte order", false), ("items", true), ("bytes", true), ("offset", true)]);
    let mut rows = vec![columns.iter().map(|(heading, _)| Cow::from(*heading)).collect::<Vec<_>>()];
    rows.extend(infos.iter().map(|info| {
        vec![
            printable(&info.file),
            info.member.as_deref().map_or("-".into(), printable),
            info.format.name().into(),
            printable(&info.dtype.native().name()).into_owned().into(),
            format!("{:?}", info.shape).into(),
            info.order().into(),
            info.byte_order().unwrap_or("-").into(),
            info.items().to_string().into(),
            info.bytes.to_string().into(),
            info.offset.map_or("-".into(), |offset| offset.to_string().into()),
        ]
    }));
    if !members {
        columns.remove(1);
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    let width = |cell: &str| cell.chars().count();
    let mut widths = vec![0; columns.len()];
    for row in &rows {
        let cells = row.iter().map(|cell| Some(width(cell)).filter(|&width| width <= WIDEST));
        widths.iter_mut().zip(cells).for_each(|(widest, cell)| *widest = cell.unwrap_or(0).max(*widest));
    }
    let mut line = String::new();
    for (i, row) in rows.iter().enumerate() {
        line.clear();
        for ((cell, widest), (_, number)) in row.iter().zip(&widths).zip(&columns) {
            let spaces = widest.saturating_sub(width(cell));
            line.push_str(if line.is_empty() { "" } else { "  " });
            line.extend(std::iter::repeat_n(' ', if *number { spaces } else { 0 }));
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', if *number { 0 } else { spaces }));
        }
        let line = line.trim_end();
        if i == 0 { writeln!(out, "{bold}{line}{plain}")? } else { writeln!(out, "{line}")? }
    }
    for info in infos {
        let Some(stats) = &info.stats else { continue };
        let member = info.member.as_ref().map_or(String::new(), |member| format!(":{}", printable(member)));
        writeln!(out, "\n{bold}{}{member}{plain}", printable(&info.file))?;
        write_stats(out, stats, info.histogram.as_ref())?;
    }
    Ok(())
}

fn write_stats(out: &mut dyn Write, stats: &Stats, histogram: Option<&Histogram>) -> io::Result<()> {
    for (name, extreme) in [("min", &stats.min), ("max", &stats.max)] {
        if let Some((value, index)) = extreme {
            // dates are strings in JSON
            writeln!(out, "  {name:<5} {} at {index:?}", value.to_string().trim_matches('"'))?;
        }
    }
    match stats.mean {
        None => {}
        Some(Mean::Real(mean)) => writeln!(out, "  mean  {}", float(mean))?,
        Some(Mean::Complex(re, im)) => {
            // -0.0 has its sign, too
            let sign = if im.is_sign_negative() { "" } else { "+" };
            writeln!(out, "  mean  {}{sign}{}j", float(re), float(im))?;
        }
    }
    if let Some(std) = stats.std {
        writeln!(out, "  std   {}", float(std))?;
    }
    writeln!(out, "  nan   {}", stats.nan)?;
    writeln!(out, "  inf   {}", stats.inf)?;
    writeln!(out, "  zero  {}", stats.zero)?;
    let Some(histogram) = histogram else { return Ok(()) };
    let most = histogram.bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let last = histogram.bins.len().saturating_sub(1);
    let labels: Vec<String> = histogram.bins.iter().enumerate().map(|(i, bin)| bin.label(i == last)).collect();
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let digits = most.to_string().len();
    for (bin, label) in histogram.bins.iter().zip(labels) {
        // what there is shows, however little it is
        let bar = (u128::from(bin.count) * u128::from(BAR)).div_ceil(most.into()) as usize;
        let line = format!("  {label:<width$}  {:>digits$}  {}", bin.count, "#".repeat(bar));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

impl Bin {
    /// What is in it, floats in four digits.
    fn label(&self, last: bool) -> String {
        match (self.from, self.to) {
            (Bound::Integer(from), Bound::Integer(to)) if from == to => from.to_string(),
            (Bound::Integer(from), Bound::Integer(to)) => format!("{from} to {to}"),
            (from, to) => format!("[{}, {}{}", from.short(), to.short(), if last { "]" } else { ")" }),
        }
    }
}

impl Bound {
    fn short(self) -> String {
        let value = match self {
            Bound::Integer(value) => return value.to_string(),
            Bound::Float(value) => value,
        };
        // the float64 next to its first four digits has no more of them
        let rounded = format!("{value:.3e}").parse().unwrap_or(value);
        if rounded == 0.0 { "0".to_owned() } else { float(rounded).trim_end_matches(".0").to_owned() }
    }
}

#[cfg(test)]
mod tests;
