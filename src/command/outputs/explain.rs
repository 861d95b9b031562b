//! The output of `--explain`: the plan of a run, for people or as JSON.

use crate::info::size;
use crate::layout::window::Windows;
use crate::operators::access::Holding;
use crate::plans::cost::{Calls, Cost, OperandReading, OperandReads};
use crate::plans::explain::Explanation;
use crate::plans::plan::{Before, Plan, Route, Steps};
use crate::report::json::{Escapes, list, object, or_null, string};

use crate::command::messages::counted;
use crate::storage::source::Keep;

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
