//! The report of a dry run: resolved arguments, the output, and with `--explain` the plan.

use std::fmt::Arguments;
use std::io::Write as _;

use crate::DType;
use crate::command::messages::counted;
use crate::command::process::io::{Io, Outcome};
use crate::container::file_options::NamedCopy;
use crate::error::Context;
use crate::info::size;
use crate::layout::window::Windows;
use crate::opening::table::Format;
use crate::operators::access::Holding;
use crate::ops::call::ResolvedCall;
use crate::plans::cost::{Calls, Cost, OperandReading, OperandReads};
use crate::plans::explain::Explanation;
use crate::plans::plan::{Before, Plan, Route, Steps};
use crate::report::json::{Escapes, list, object, or_null, string};
use crate::storage::source::{Keep, Source};
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
                plan.map_or_else(|reason| json_of_unread(name, reason), |plan| json(name, plan))
            });
            self.objects.get_or_insert_default().extend(objects);
            return;
        }
        for (name, plan) in plans {
            let name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
            match plan {
                Ok(plan) => {
                    self.line(format_args!("plan{name}:"));
                    lines(plan).iter().for_each(|line| self.line(format_args!("  {line}")));
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

pub(crate) fn lines(of: &Explanation) -> Vec<String> {
    let mut lines: Vec<String> = of.operands.iter().map(|operand| operand_line(operand, of)).collect();
    lines.extend(of.plan.before.iter().map(|before| first(before, of)));
    lines.push(format!("cut: {}", cut(of, &of.plan)));
    if let Some(slab) = of.plan.steps.held() {
        lines.push(format!("held: boxes {}, each for several of these", list(slab)));
    }
    match &of.plan.route {
        Route::TemporaryFile => lines.push("then read in order from a temporary file".to_owned()),
        Route::Between(chunks) => {
            lines.push(format!("then read from a temporary store in chunks {}", list(chunks)));
        }
        Route::File | Route::Stream | Route::Windows | Route::InPlace | Route::Scan { .. } => {}
    }
    let calls_of = |cost: &Cost| [reads(cost), writes(of, cost)].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let calls = calls_of(&of.cost);
    if !calls.is_empty() {
        lines.push(format!("calls: {calls}"));
    }
    let memory = size(of.cost.held);
    let held = if of.is_scan() { "reads" } else { "reads and writes" };
    lines.push(format!("{}, {memory} of memory for {held}", counted(of.plan.threads as u64, "thread", "threads")));
    if let Some((other, cost)) = &of.instead {
        let verdict = match cost.total > of.cost.total {
            true => {
                let [own, others] = [of.cost.total, cost.total].map(size);
                format!("that costs as much as copying {others}, this {own}")
            }
            false => format!("that costs about as much, but takes {} of memory", size(cost.held)),
        };
        lines.push(format!("instead of {}: {}; {verdict}", cut(of, other), calls_of(cost)));
    }
    lines.extend(of.notes.iter().cloned());
    lines
}

fn first(before: &Before, of: &Explanation) -> String {
    match before {
        Before::Hold(Holding { operand, copy, .. }) => {
            let place = if copy.keep == Keep::Memory { "memory" } else { "a temporary file" };
            format!("first: {} of {} is read into {place}", size(copy.bytes_read), of.operands[*operand].label)
        }
        Before::Fetch(operand) => format!("first: {} is downloaded as a whole", of.operands[*operand].label),
        Before::Clone => {
            "first: the output becomes a clone of the data's file, in which only changes are written, if the \
                          file system can share blocks; if not:"
                .to_owned()
        }
    }
}

fn operand_line(operand: &OperandReads, of: &Explanation) -> String {
    let OperandReads { label, reading, in_chunks, piece, bytes, times } = operand;
    let piece = piece.map_or_else(String::new, |piece| {
        let what = if *in_chunks { "chunks of" } else { "pieces of" };
        format!(" in {what} {}", size(piece))
    });
    let times = match reading {
        OperandReading::InMemory => String::new(),
        OperandReading::ByIndices => ", as often as the indices name it".to_owned(),
        _ if *times <= 1.0 => ", read once".to_owned(),
        _ => format!(", read {times:.1} times"),
    };
    let from = if of.is_remote && !matches!(reading, OperandReading::InMemory) { ", by requests" } else { "" };
    format!("{label}: {}, {}{piece}{times}{from}", reading.label(walked(of)), size(*bytes))
}

fn walked(of: &Explanation) -> &'static str {
    if of.is_scan() { "the windows" } else { "the output" }
}

fn cut(of: &Explanation, plan: &Plan) -> String {
    let boxes = |windows: &Windows| {
        format!("boxes {} of {}", list(&windows.get(0).shape()), size((windows.largest() * of.itemsize) as u64))
    };
    let count = plan.steps.count();
    match &plan.steps {
        _ if count == 0 && plan.route == Route::InPlace => "nothing, since nothing changes".to_owned(),
        _ if count == 0 => "nothing, since there are no items".to_owned(),
        Steps::Blocks(blocks) => {
            format!("runs that fill blocks of {} of the file, {count} of them", size(blocks.bytes as u64))
        }
        Steps::Each(windows) | Steps::Slabs { windows, .. } => {
            format!("{}, {count} of them", boxes(windows))
        }
        Steps::Some { windows, .. } => format!("{}, {count} of {} change", boxes(windows), windows.count()),
        Steps::Runs(runs) => format!("{} of {} items at most", counted(count as u64, "run", "runs"), runs.largest()),
    }
}

fn reads(cost: &Cost) -> Option<String> {
    let Calls { reads, bytes_read, requests, .. } = cost.calls;
    let (one, many) = if requests == reads { ("request", "requests") } else { ("read", "reads") };
    let mut text = format!("about {} of {} in all", counted(reads, one, many), size(bytes_read));
    if requests > 0 && requests < reads {
        text += &format!(" ({})", counted(requests, "request", "requests"));
    }
    (reads > 0).then_some(text)
}

fn writes(of: &Explanation, cost: &Cost) -> Option<String> {
    let text = || format!("{} of {}", counted(cost.calls.writes, "write", "writes"), size(cost.calls.bytes_written));
    (!of.is_scan()).then(text)
}

pub(crate) fn json_of_unread(name: Option<&str>, reason: &str) -> String {
    let name = or_null(name, |name| string(name, Escapes::Short));
    object([("tensor", name), ("unread", string(reason, Escapes::Short))])
}

pub(crate) fn json(name: Option<&str>, of: &Explanation) -> String {
    let operands = of.operands.iter().map(|operand| {
        object([
            ("operand", string(&operand.label, Escapes::Short)),
            ("reading", string(&operand.reading.label(walked(of)), Escapes::Short)),
            ("chunks", operand.in_chunks.to_string()),
            ("piece", or_null(operand.piece, |piece| piece.to_string())),
            ("bytes", operand.bytes.to_string()),
            ("times", operand.times.to_string()),
        ])
    });
    let operands = format!("[{}]", operands.collect::<Vec<_>>().join(", "));
    let notes: Vec<_> = of.notes.iter().map(|note| string(note, Escapes::Short)).collect();
    object([
        ("tensor", or_null(name, |name| string(name, Escapes::Short))),
        ("operands", operands),
        ("cut", cut_json(&of.plan)),
        ("hold", or_null(of.plan.steps.held(), list)),
        ("before", before_json(&of.plan)),
        ("route", string(route(&of.plan.route), Escapes::Short)),
        ("between", between_json(&of.plan.route)),
        ("temporary_file", (of.plan.route == Route::TemporaryFile).to_string()),
        ("threads", of.plan.threads.to_string()),
        ("requests", of.is_remote.to_string()),
        ("cost", cost_json(&of.cost)),
        (
            "instead",
            or_null(of.instead.as_ref(), |(plan, cost)| {
                object([("cut", cut_json(plan)), ("hold", or_null(plan.steps.held(), list)), ("cost", cost_json(cost))])
            }),
        ),
        ("notes", format!("[{}]", notes.join(", "))),
    ])
}

fn before_json(plan: &Plan) -> String {
    let all = plan.before.iter().map(|before| match before {
        Before::Hold(Holding { operand, copy, .. }) => object([
            ("copy", operand.to_string()),
            ("to", string(if copy.keep == Keep::Memory { "memory" } else { "temporary file" }, Escapes::Short)),
            ("bytes", copy.bytes_read.to_string()),
        ]),
        Before::Fetch(operand) => object([("fetch", operand.to_string())]),
        Before::Clone => "\"clone\"".to_owned(),
    });
    format!("[{}]", all.collect::<Vec<_>>().join(", "))
}

fn route(route: &Route) -> &'static str {
    match route {
        Route::File => "file",
        Route::Stream => "stream",
        Route::TemporaryFile => "temporary file",
        Route::Windows | Route::Scan { .. } => "windows",
        Route::Between(_) => "store between",
        Route::InPlace => "in place",
    }
}

fn between_json(route: &Route) -> String {
    let chunks = if let Route::Between(chunks) = route { Some(&chunks[..]) } else { None };
    or_null(chunks, list)
}

fn cut_json(plan: &Plan) -> String {
    let count = ("count", plan.steps.count().to_string());
    match &plan.steps {
        Steps::Blocks(it) => object([("kind", "\"blocks\"".to_owned()), ("bytes", it.bytes.to_string())]),
        Steps::Each(windows) | Steps::Some { windows, .. } | Steps::Slabs { windows, .. } => {
            object([("kind", "\"boxes\"".to_owned()), ("sides", list(windows.sides())), count])
        }
        Steps::Runs(_) => object([("kind", "\"runs\"".to_owned()), count]),
    }
}

fn cost_json(cost: &Cost) -> String {
    let Cost { calls: Calls { reads, bytes_read, writes, bytes_written, requests }, held, total } = cost;
    object([
        ("reads", reads.to_string()),
        ("bytes_read", bytes_read.to_string()),
        ("requests", requests.to_string()),
        ("writes", writes.to_string()),
        ("bytes_written", bytes_written.to_string()),
        ("memory", held.to_string()),
        ("total", total.to_string()),
    ])
}
