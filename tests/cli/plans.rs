//! The plans of random workloads, as text: a change of any choice shows as lines that differ from `tests/golden/plans.txt`.
//!
//! Operands are files that are not stored, however long they are, and stores that have no chunk, so nothing but index tensors is
//! ever read. Each line has a workload, and what `--explain` says of it:
//!
//! ```text
//! OPERATOR DTYPE OPERANDS ARGUMENTS > OUTPUT | CUT hold SIDES, THREADS, CALLS, MEMORY = COST | CUT of the next best = COST
//! ```

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Folder, Random, SPECS, header, npy_with_header, words};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/plans.txt");
const COUNT: u64 = 180;
const ARRANGED: u64 = 40;
/// The dtypes of `.npy` files, their bytes, and their names in stores of Zarr, if they have one.
const DTYPES: [(&str, usize, Option<&str>); 10] = [
    ("|u1", 1, Some("uint8")),
    ("<i2", 2, Some("int16")),
    ("<f4", 4, Some("float32")),
    ("<f4", 4, Some("float32")),
    ("<f8", 8, Some("float64")),
    ("<c16", 16, Some("complex128")),
    (">f4", 4, None),
    ("|V3", 3, None),
    ("|S12", 12, None),
    ("<i8", 8, Some("int64")),
];
const OPERATORS: [&str; 12] = [
    "slice",
    "slice-scatter",
    "scatter-update",
    "scatter-nd",
    "scatter-elements",
    "gather",
    "gather-nd",
    "gather-elements",
    "concat",
    "transpose",
    "reshape",
    "convert",
];
/// The most items of an index tensor: all of them are read.
const INDICES: usize = 20_000;

/// A shape of about as many items, whose dims are of very different lengths.
fn shape_of(random: &mut Random, mut items: usize) -> Vec<usize> {
    let rank = *random.of(&[1, 2, 2, 2, 3, 3, 4]);
    let mut shape = Vec::new();
    for axis in 0..rank - 1 {
        let bits = items.ilog2() as usize;
        let most = 6 * bits / (5 * (rank - axis));
        let dim = (1 << random.below(most.max(1))) * (1 + random.below(7));
        shape.push(dim.min(items));
        items = (items / dim).max(1);
    }
    shape.insert(random.below(rank), items);
    shape
}

fn shuffled(random: &mut Random, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    (1..count).for_each(|n| all.swap(n, random.below(n + 1)));
    all
}

/// A workload that is drawn: its operands are in the folder.
struct Workload<'a> {
    random: Random,
    folder: &'a Folder,
    dtype: (&'static str, usize, Option<&'static str>),
    /// The names of the operands, and what is said of them.
    operands: Vec<String>,
    told: String,
}

impl Workload<'_> {
    /// Makes a file that is not stored, in C or Fortran order, or a store without chunks.
    fn operand(&mut self, shape: &[usize], descr: &str, itemsize: usize, zarr: Option<&str>) {
        let name = format!("{}", self.operands.len());
        let bytes = (shape.iter().product::<usize>() * itemsize) as u64;
        let in_fortran = self.random.below(10) < 3;
        let chunked = zarr.filter(|_| bytes < 64 << 20 && self.random.below(4) == 0);
        write!(self.told, " {shape:?}").unwrap();
        if let Some(dtype) = chunked {
            let chunk: Vec<usize> = shape.iter().map(|&dim| self.side(dim)).collect();
            let fill = if dtype.starts_with("complex") { "[0.0, 0.0]" } else { "0" };
            let metadata = format!(
                r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "data_type": "{dtype}", "fill_value": {fill},
                "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunk:?}}}}}, "attributes": {{}},
                "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "/"}}}},
                "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
            );
            write!(self.told, "/{chunk:?}").unwrap();
            fs::create_dir(self.folder.path(format!("{name}.zarr"))).unwrap();
            self.folder.put(format!("{name}.zarr/zarr.json"), metadata.into_bytes());
            self.operands.push(format!("{name}.zarr"));
            return;
        }
        self.told += if in_fortran { "F" } else { "" };
        let head = npy_with_header(&header(descr, in_fortran, shape), &[]);
        let length = head.len() as u64 + bytes;
        self.folder.put(format!("{name}.npy"), head);
        let file = fs::File::options().write(true).open(self.folder.path(format!("{name}.npy")));
        file.and_then(|file| file.set_len(length)).expect("a sparse file");
        self.operands.push(format!("{name}.npy"));
    }

    fn items(&mut self, shape: &[usize]) {
        let (descr, itemsize, zarr) = self.dtype;
        self.operand(shape, descr, itemsize, zarr);
    }

    fn indices(&mut self, shape: &[usize]) {
        self.operand(shape, "<i8", 8, None);
    }

    /// A side of a chunk.
    fn side(&mut self, dim: usize) -> usize {
        match self.random.below(3) {
            0 => dim,
            _ => dim.min(1 << self.random.below(dim.ilog2() as usize + 1)),
        }
    }

    /// Draws the operands and the arguments of an operator for data of that shape.
    fn draw(&mut self, operator: &str, shape: &[usize]) -> String {
        let axis = self.random.below(shape.len());
        let with_dim = |dim: usize| [&shape[..axis], &[dim.max(1)], &shape[axis + 1..]].concat();
        let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let rest = shape.iter().product::<usize>() / shape[axis];
        if operator != "concat" {
            self.items(shape);
        }
        match operator {
            "slice" | "slice-scatter" => {
                let mut dims = Vec::new();
                let spans: Vec<String> = shape
                    .iter()
                    .map(|&dim| {
                        let (start, step) = (self.random.below(dim / 2 + 1), *self.random.of(&[2, 3, 5]));
                        let (span, len) = match self.random.below(10) {
                            0..4 => (":".to_owned(), dim),
                            4..7 => (format!("{start}:{}", start + (dim - start) / 2), (dim - start) / 2),
                            7..9 => (format!("::{step}"), dim.div_ceil(step)),
                            _ => ("::-1".to_owned(), dim),
                        };
                        dims.push(len);
                        span
                    })
                    .collect();
                if operator == "slice-scatter" {
                    self.items(&dims);
                }
                format!("--at={}", spans.join(","))
            }
            "scatter-update" | "gather" => {
                let count = (shape[axis] / *self.random.of(&[1, 2, 5, 20])).clamp(1, INDICES);
                self.indices(&[count]);
                if operator == "scatter-update" {
                    self.items(&with_dim(count));
                }
                format!("--axis={axis}")
            }
            "scatter-nd" | "gather-nd" => {
                let width = 1 + self.random.below(shape.len());
                let places: usize = shape[..width].iter().product();
                let count = (places / *self.random.of(&[2, 10, 50])).clamp(1, INDICES);
                self.indices(&[count, width]);
                if operator == "scatter-nd" {
                    self.items(&[&[count][..], &shape[width..]].concat());
                }
                String::new()
            }
            "scatter-elements" | "gather-elements" => {
                let count = shape[axis] / *self.random.of(&[2, 5, 20]);
                let dims = with_dim(count.min(INDICES / rest));
                // whole rows of other axes may be too many to be read
                let dims: Vec<usize> = dims.iter().map(|&dim| dim.min(INDICES / 10)).collect();
                self.indices(&dims);
                if operator == "scatter-elements" {
                    self.items(&dims);
                }
                format!("--axis={axis}")
            }
            "concat" => {
                let count = 2 + self.random.below(4);
                (0..count).for_each(|n| self.items(&with_dim(shape[axis] * (n + 1) / (count * (count + 1) / 2))));
                format!("--axis={axis}")
            }
            "transpose" => format!("--axes={}", list(&shuffled(&mut self.random, shape.len()))),
            "reshape" => {
                let mut dims: Vec<usize> =
                    shuffled(&mut self.random, shape.len()).into_iter().map(|axis| shape[axis]).collect();
                if dims.len() > 1 && self.random.below(2) == 0 {
                    let first = dims.remove(0);
                    dims[0] *= first;
                }
                format!("--shape={}", list(&dims))
            }
            "pad" => {
                let mode = *self.random.of(&["constant", "constant", "edge", "reflect", "symmetric", "wrap"]);
                let mut sides = || shape.iter().map(|&dim| *self.random.of(&[0, 0, 1, 3, dim / 4])).collect::<Vec<_>>();
                format!("--before={} --after={} --mode={mode}", list(&sides()), list(&sides()))
            }
            "tile" => {
                let repeats: Vec<usize> = shape.iter().map(|_| *self.random.of(&[1, 1, 1, 2, 3])).collect();
                format!("--repeats={}", list(&repeats))
            }
            "roll" if self.random.below(3) == 0 => format!("--shift={}", self.random.below(shape.iter().product())),
            "roll" => {
                let shift: Vec<usize> = shape.iter().map(|&dim| self.random.below(dim)).collect();
                let axes: Vec<usize> = (0..shape.len()).collect();
                format!("--shift={} --axes={}", list(&shift), list(&axes))
            }
            "split" => format!("--axis={axis} --parts={}", 2 + self.random.below(3)),
            _ => {
                let spec = SPECS.iter().find(|spec| spec.operator == operator);
                spec.and_then(|spec| (spec.draw)(&mut self.random, shape)).unwrap_or_default()
            }
        }
    }
}

/// A number of bytes or calls in few digits.
fn short(value: &Value) -> String {
    let number = value.as_u64().expect("a number");
    match number {
        ..10_000 => number.to_string(),
        10_000..10_240_000 => format!("{}K", number >> 10),
        _ => format!("{}M", number >> 20),
    }
}

fn cut(cut: &Value) -> String {
    match cut["kind"].as_str().expect("a kind") {
        "blocks" => format!("blocks {}", short(&cut["bytes"])),
        kind => format!("{}{}*{}", if kind == "boxes" { "" } else { "data " }, cut["sides"], cut["count"]),
    }
}

/// Draws a workload, and tells it and its plan in one line.
fn line(number: u64) -> String {
    let folder = Folder::new();
    let mut random = Random(number);
    random.below(1);
    // the other operators are drawn after these, which draw the same whatever others there are
    let others = SPECS.iter().map(|spec| spec.operator).filter(|operator| !OPERATORS.contains(operator));
    let operator = if number < COUNT { *random.of(&OPERATORS) } else { *random.of(&others.collect::<Vec<_>>()) };
    let dtype = *random.of(&DTYPES);
    let bytes = *random.of(&[24_usize, 24, 96, 96, 96, 400]) << 20;
    let shape = shape_of(&mut random, bytes / dtype.1);
    let mut it = Workload { random, folder: &folder, dtype, operands: Vec::new(), told: String::new() };
    let arguments = it.draw(operator, &shape);
    let more = if it.random.below(6) == 0 { " --memory=16MiB" } else { "" };
    let to = match it.random.below(8) {
        0 if operator != "split" => "-o - --to npy".to_owned(),
        _ if operator == "split" => (*it.random.of(&["-o out-*.npy", "-o out.npz"])).to_owned(),
        1..3 if it.dtype.2.is_some()
            && ["transpose", "convert", "slice-scatter", "pad", "roll"].contains(&operator) =>
        {
            let sides: Vec<String> = shape.iter().map(|&dim| it.side(dim).to_string()).collect();
            format!("-o out.zarr --chunks {}", sides.join(","))
        }
        _ => "-o out.npy".to_owned(),
    };
    let asked = format!("{operator} {} {arguments} {to}{more}", it.operands.join(" "));
    let told = format!("{number:3} {operator} {}{} {arguments}{more} > {to}", dtype.0, it.told);
    let said = folder.run(words(&format!("{asked} --explain --json --threads 2")));
    let plans: Value = match said.printed() {
        Ok(plan) => serde_json::from_str(&plan).expect("JSON"),
        Err(message) => panic!("{told}: {message}"),
    };
    let plan = &plans[0];
    let cost = |of: &Value| {
        let calls = format!("r{}/{} w{}", short(&of["reads"]), short(&of["bytes_read"]), short(&of["writes"]));
        format!("{calls} m{} = {}", short(&of["memory"]), short(&of["total"]))
    };
    let hold = |of: &Value| if of["hold"].is_null() { String::new() } else { format!(" hold {}", of["hold"]) };
    let spooled = if plan["temporary_file"] == true { " file" } else { "" };
    let mut line = format!("{told} | {}{}{spooled}, t{}", cut(&plan["cut"]), hold(plan), plan["threads"]);
    write!(line, " {}", cost(&plan["cost"])).unwrap();
    if !plan["instead"].is_null() {
        let other = &plan["instead"];
        write!(line, " | {}{} {}", cut(&other["cut"]), hold(other), cost(&other["cost"])).unwrap();
    }
    line + "\n"
}

#[test]
fn plans_of_random_workloads() {
    let lines = (0..COUNT + ARRANGED).map(line).collect::<String>();
    let golden = fs::read_to_string(GOLDEN).unwrap_or_default();
    if lines == golden {
        return;
    }
    let found = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plans.txt");
    fs::write(&found, &lines).expect("the plans are written");
    let changed: Vec<&str> = lines.lines().filter(|line| !golden.lines().any(|other| other == *line)).collect();
    panic!(
        "other plans than in tests/golden/plans.txt; `cp {} tests/golden/plans.txt` makes them the expected ones:\n{}",
        found.display(),
        changed.join("\n")
    );
}
