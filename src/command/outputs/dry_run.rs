//! The report of a dry run: resolved arguments, the output, and with `--explain` the plan.

use std::fmt::Arguments;
use std::io::Write as _;

use super::explain;
use crate::DType;
use crate::command::messages::counted;
use crate::command::process::io::{Io, Outcome};
use crate::container::file_options::NamedCopy;
use crate::error::Context;
use crate::opening::table::Format;
use crate::ops::call::ResolvedCall;
use crate::plans::explain::Explanation;
use crate::storage::source::Source;
use crate::writing::{LaidOut, Move};

#[derive(Default)]
pub(crate) struct Report {
    /// `None` outside a dry run.
    lines: Option<String>,
    /// Plans as JSON objects, which replace the lines.
    objects: Option<Vec<String>>,
}

impl Report {
    pub(crate) fn new(title: &str, is_dry_run: bool) -> Self {
        Self { lines: is_dry_run.then(|| format!("{title}\n")), objects: None }
    }

    pub(crate) fn append(&mut self, other: Self) {
        if let Some(lines) = other.lines {
            self.lines.get_or_insert_default().push_str(&lines);
        }
        if let Some(objects) = other.objects {
            self.objects.get_or_insert_default().extend(objects);
        }
    }

    pub(crate) fn line(&mut self, text: Arguments<'_>) {
        if let Some(lines) = &mut self.lines {
            lines.push_str(&format!("  {text}\n"));
        }
    }

    pub(crate) fn outputs(&mut self, plan: &LaidOut, format: Format, label: &str) {
        for (n, (name, meta, bytes)) in plan.tensors().enumerate() {
            let member = if format.is_container() { format!(" {name:?}:") } else { String::new() };
            let (dtype, shape, format) = (&meta.dtype, &meta.shape, format.argument());
            let bytes = counted(bytes, "byte", "bytes");
            let chunks = match plan.sides(n) {
                None => String::new(),
                Some((chunk, None)) => format!(", chunks {chunk:?}"),
                Some((chunk, Some(shard))) => format!(", chunks {chunk:?}, shards {shard:?}"),
            };
            self.line(format_args!("{label}:{member} {format} of {dtype} {shape:?}, {bytes} of data{chunks}"));
        }
        for NamedCopy { name, array } in plan.copies() {
            let files = counted(array.values(), "file", "files");
            self.line(format_args!("{label}: {name:?}: copied as stored, unread, {files} of data"));
        }
    }

    pub(crate) fn moves(&mut self, plan: &LaidOut, label: &str) {
        let sides = |sides: &[usize]| sides.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let is_one_of_many = plan.tensors().count() > 1;
        let moves = plan.tensors().zip(plan.moves()).filter_map(|((name, ..), moved)| Some((name, moved?)));
        for (name, Move { between, reads, writes, alone, for_parts, chunks }) in moves {
            let option = |sides: String| match is_one_of_many {
                true => format!("--chunks '{name}={sides}'"),
                false => format!("--chunks {sides}"),
            };
            let (reads, writes) = (counted(reads, "byte", "bytes"), counted(writes, "byte", "bytes"));
            let by_way = match &between {
                Some(grid) => format!(", by way of a temporary store in chunks of {} beside it", sides(grid)),
                None => String::new(),
            };
            self.line(format_args!("{label}: reads {reads}, writes {writes} of items{by_way}"));
            if let Some(grid) = for_parts {
                let output = label.strip_prefix("output ").unwrap_or(label);
                self.line(format_args!(
                    "many parts would read each byte about {alone:.0} times; each of these two reads it once, in parts, too:"
                ));
                self.line(format_args!("  the same with -o BETWEEN.zarr {}", option(sides(&grid))));
                self.line(format_args!("  tensorop convert BETWEEN.zarr -o {output} {}", option(sides(&chunks))));
            }
        }
    }

    pub(crate) fn plans(&mut self, plans: &[(impl AsRef<str>, Explanation)], as_json: bool) {
        self.plans_or_reasons(plans.iter().map(|(name, plan)| (name.as_ref(), Ok(plan))), as_json);
    }

    pub(crate) fn plans_or_reasons<'a>(
        &mut self,
        plans: impl Iterator<Item = (&'a str, Result<&'a Explanation, &'a str>)>,
        as_json: bool,
    ) {
        if as_json {
            let objects = plans.map(|(name, plan)| {
                let name = Some(name).filter(|name| !name.is_empty());
                plan.map_or_else(|reason| explain::json_of_unread(name, reason), |plan| explain::json(name, plan))
            });
            self.objects.get_or_insert_default().extend(objects);
            return;
        }
        for (name, plan) in plans {
            let name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
            match plan {
                Ok(plan) => {
                    self.line(format_args!("plan{name}:"));
                    explain::lines(plan).iter().for_each(|line| self.line(format_args!("  {line}")));
                }
                Err(reason) => self.line(format_args!("plan{name}: nothing is read: {reason}")),
            }
        }
    }

    pub(crate) fn print(self, io: &Io) -> anyhow::Result<Outcome> {
        let text = match self.objects {
            Some(objects) => format!("[{}]\n", objects.join(",\n ")),
            None => self.lines.expect("a dry run"),
        };
        io.stdout.clone().write_all(text.as_bytes()).context("standard output")?;
        Ok(Outcome::Done)
    }

    pub(crate) fn source(&mut self, source: &Source) {
        self.line(format_args!("{}: {} {:?}", source.label(), source.dtype(), source.shape()));
    }

    pub(crate) fn becomes(&mut self, source: &Source, name: Option<&str>, dtype: Option<&DType>) {
        let name = name.map(|name| format!(" {name:?}")).unwrap_or_default();
        let dtype = dtype.map(|dtype| format!(" {dtype}")).unwrap_or_default();
        self.line(format_args!("{}: {} {:?} ->{name}{dtype}", source.label(), source.dtype(), source.shape()));
    }

    pub(crate) fn lines(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(format_args!("{line}")));
    }

    pub(crate) fn with<'s>(mut self, call: &ResolvedCall, operands: impl IntoIterator<Item = &'s Source>) -> Self {
        operands.into_iter().for_each(|source| self.source(source));
        self.lines(&call.details);
        self
    }
}
