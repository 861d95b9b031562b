//! What the tests of the program share: a scratch folder, the program run in it, tensors as files.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;

use assert_cmd::Command;
use tempfile::TempDir;
use tensorop::DType;
use tensorop::format::npy::write_header;
use tensorop::format::packed::Packer;

/// Bytes of a window that put boundaries everywhere; `None` is the program's own choice.
pub const WINDOWS: [Option<usize>; 5] = [None, Some(1), Some(8), Some(24), Some(1000)];

/// What a run of the program left.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    /// What went to standard output.
    ///
    /// # Errors
    /// If the run failed or said something on standard error.
    pub fn printed(&self) -> Result<String, String> {
        match (self.status, self.stderr.as_str()) {
            (Some(0), "") => Ok(String::from_utf8_lossy(&self.stdout).into_owned()),
            (status, message) => Err(format!("status {status:?}, said {message:?}")),
        }
    }
}

/// A scratch folder that the program runs in.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a scratch folder"))
    }

    pub fn path(&self, name: impl AsRef<std::path::Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a file there.
    pub fn put(&self, name: impl AsRef<std::path::Path>, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), content).expect("a scratch file");
        self
    }

    pub fn get(&self, name: impl AsRef<std::path::Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Everything in the folder: regular files by name and content, the rest by name.
    pub fn content(&self) -> BTreeMap<std::ffi::OsString, Vec<u8>> {
        let entries = fs::read_dir(self.0.path()).expect("the scratch folder").map(|entry| entry.expect("an entry"));
        let read = |path: PathBuf| match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => fs::read(path).unwrap_or_default(),
            _ => Vec::new(),
        };
        entries.map(|entry| (entry.file_name(), read(entry.path()))).collect()
    }

    /// The program, ready to run here.
    pub fn command(&self) -> Command {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("tensorop");
        command
            .current_dir(self.0.path())
            .env_remove("TENSOROP_WINDOW")
            .env_remove("TENSOROP_THREADS")
            .env("NO_COLOR", "1");
        command.timeout(std::time::Duration::from_secs(20));
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        self.run_with(args, None, None)
    }

    /// Runs the program with a window of so many bytes, and `stdin` on standard input.
    pub fn run_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        window: Option<usize>,
        stdin: Option<&[u8]>,
    ) -> Run {
        let mut command = self.command();
        command.args(args);
        if let Some(window) = window {
            command.env("TENSOROP_WINDOW", window.to_string());
        }
        if let Some(stdin) = stdin {
            command.write_stdin(stdin);
        }
        let output = command.output().expect("the program runs");
        Run {
            status: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// What a command leaves at every window size and with several threads, if that is always the same.
    ///
    /// # Errors
    /// Two runs that differ; something on standard error.
    pub fn always<S: AsRef<OsStr> + Clone>(&self, args: &[S], stdin: Option<&[u8]>) -> Result<Run, String> {
        let mut first: Option<Run> = None;
        for (window, threads) in WINDOWS.into_iter().zip(["1", "2", "3", "1", "7"]) {
            let all = args.iter().map(AsRef::as_ref).chain(["--threads", threads].map(OsStr::new));
            let run = self.run_with(all, window, stdin);
            let at = format!("window {window:?}, {threads} threads");
            if !run.stderr.is_empty() {
                return Err(format!("{at}: status {:?}, said {:?}", run.status, run.stderr));
            }
            match &first {
                Some(first) if *first != run => return Err(format!("{at}: {run:?}, and before {first:?}")),
                Some(_) => {}
                None => first = Some(run),
            }
        }
        first.ok_or_else(|| "never ran".to_owned())
    }

    /// A script for bash, run here: `$T` is the program.
    #[cfg(unix)]
    pub fn script(&self, script: &str) -> Run {
        let output = std::process::Command::new("bash")
            .args(["-c", script])
            .current_dir(self.path(""))
            .env("T", assert_cmd::cargo::cargo_bin!("tensorop"))
            .env_remove("TENSOROP_WINDOW")
            .env_remove("TENSOROP_THREADS")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("bash");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Run { status: output.status.code(), stdout: output.stdout, stderr }
    }

    /// Whether a command is refused as every refusal must be: status 2, nothing on standard output, one line that
    /// begins `error: ` and holds all `fragments` (a usage error may add two lines: usage, help), and the folder as
    /// it was, an output that is already there among it.
    ///
    /// # Errors
    /// What is not so.
    pub fn refuses<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        fragments: &[&str],
    ) -> Result<String, String> {
        let before = self.content();
        let run = self.run_with(args, None, Some(b""));
        let first = run.stderr.lines().next().unwrap_or_default().to_owned();
        let said = format!("status {:?}, said {:?}", run.status, run.stderr);
        if run.status != Some(2) {
            return Err(format!("expected a refusal: {said}"));
        }
        if !run.stdout.is_empty() {
            return Err(format!("wrote {} bytes to standard output", run.stdout.len()));
        }
        if !first.starts_with("error: ") || !run.stderr.ends_with('\n') {
            return Err(format!("no line that begins `error: `: {said}"));
        }
        let mut more = run.stderr.lines().skip(1);
        if !more.all(|line| line.starts_with("Usage: ") || line.starts_with("For more information")) {
            return Err(format!("more than one line: {said}"));
        }
        if let Some(missing) = fragments.iter().find(|fragment| !first.contains(**fragment)) {
            return Err(format!("does not name {missing:?}: {first}"));
        }
        if self.content() != before {
            let names: Vec<_> = self.content().into_keys().collect();
            return Err(format!("changed the folder, now {names:?}"));
        }
        Ok(first)
    }

    /// Runs a command that ends in `-o out.npy` at every window size and with several threads, and compares the file;
    /// then the same in place.
    ///
    /// # Errors
    /// The first window at which the command fails or the bytes differ.
    pub fn gives<S: AsRef<OsStr> + Clone>(
        &self,
        args: &[S],
        stdin: Option<&[u8]>,
        expected: &[u8],
    ) -> Result<(), String> {
        for (window, threads) in WINDOWS.into_iter().zip(["1", "2", "3", "1", "7"]) {
            let _ = fs::remove_file(self.path("out.npy"));
            let more = ["--threads", threads, "-o", "out.npy"].map(OsStr::new);
            let args = args.iter().map(AsRef::as_ref).chain(more);
            let at = |why: String| format!("window {window:?}, {threads} threads: {why}");
            let printed = self.run_with(args, window, stdin).printed().map_err(at)?;
            if !printed.is_empty() {
                return Err(at(format!("printed {printed:?}")));
            }
            let found = self.get("out.npy");
            if found != expected {
                return Err(at(difference(&found, expected)));
            }
        }
        self.edits(args, stdin, expected)
    }

    /// Runs the same command in place, on copies of its data, if that is a `.npy` file with the header that the
    /// expected output has.
    fn edits<S: AsRef<OsStr>>(&self, args: &[S], stdin: Option<&[u8]>, expected: &[u8]) -> Result<(), String> {
        let (operator, data) = (args[0].as_ref(), args[1].as_ref());
        let Ok(file) = fs::read(self.path(data)) else { return Ok(()) };
        let header = expected.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if operator == "slice" || !file.starts_with(&expected[..header]) {
            return Ok(());
        }
        for (window, threads) in WINDOWS.into_iter().zip(["1", "2", "3", "1", "7"]) {
            self.put("edited.npy", &file);
            let rest = args[2..].iter().map(AsRef::as_ref);
            let command = [operator, OsStr::new("edited.npy")].into_iter().chain(rest);
            let command = command.chain(["--in-place", "--threads", threads].map(OsStr::new));
            let at = |why: String| format!("in place, window {window:?}, {threads} threads: {why}");
            self.run_with(command, window, stdin).printed().map_err(at)?;
            let found = self.get("edited.npy");
            if found != expected {
                return Err(at(difference(&found, expected)));
            }
        }
        let _ = fs::remove_file(self.path("edited.npy"));
        Ok(())
    }
}

/// Where two files part.
pub fn difference(found: &[u8], expected: &[u8]) -> String {
    let at = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(found.len().min(expected.len()));
    let show = |bytes: &[u8]| bytes[at.min(bytes.len())..].iter().take(24).copied().collect::<Vec<u8>>();
    format!(
        "{} bytes, expected {}; from byte {at} on {:02x?}, expected {:02x?}",
        found.len(),
        expected.len(),
        show(found),
        show(expected)
    )
}

/// Runs `check` on all rows, then names those that failed.
pub fn each<T>(
    rows: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> String,
    check: impl Fn(&T) -> Result<(), String>,
) {
    let mut count = 0;
    let failures: Vec<String> = rows
        .into_iter()
        .inspect(|_| count += 1)
        .filter_map(|row| check(&row).err().map(|why| format!("  {}: {why}", name(&row))))
        .collect();
    assert!(failures.is_empty(), "{} of {count} rows failed:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 0, "no rows");
}

/// One row of a table of refusals: the arguments, a space between two of them, and what the message must hold.
pub type Refusal<'a> = (&'a str, &'a [&'a str]);

/// Checks refusals of commands that would write `out.npy`, which is already there. An argument `''` is empty.
pub fn refusals(folder: &Folder, rows: &[Refusal]) {
    folder.put("out.npy", b"what was there before");
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| {
            let args = words(args).into_iter().chain(["-o".to_owned(), "out.npy".to_owned()]);
            folder.refuses(args, fragments).map(drop)
        },
    );
}

/// Arguments from a text: a space between two of them, `''` an empty one.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| if word == "''" { String::new() } else { word.to_owned() }).collect()
}

/// One row of a table of results: arguments, and what `--to json` prints.
pub fn prints(folder: &Folder, rows: &[(&str, &str)]) {
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            for window in WINDOWS {
                let args = words(args).into_iter().chain(["--to".to_owned(), "json".to_owned()]);
                let found = folder.run_with(args, window, Some(b"")).printed()?;
                if found.trim_end() != *expected {
                    return Err(format!("window {window:?}: {}, expected {expected}", found.trim_end()));
                }
            }
            Ok(())
        },
    );
}

/// A `.npy` file of items in C order.
pub fn npy(descr: &str, shape: &[usize], items: &[u8]) -> Vec<u8> {
    let dtype = DType::parse(descr).expect("a dtype");
    let mut file = write_header(&dtype, shape, false);
    file.extend(items);
    file
}

/// A `.npz` as the library writes it: each member is the bytes of a `.npy`.
pub fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    // a whole `.npy` can stand for its header
    let whole = members.iter().map(|(name, npy)| ((*name).to_owned(), npy.clone(), 0)).collect();
    let mut file = tempfile::tempfile().expect("a file");
    let writer = tensorop::format::npz::Writer::new(whole).expect("an archive");
    writer.finish(&file, tensorop::parallel::Threads::default()).expect("an archive is written");
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("an archive is read");
    bytes
}

/// A member of a ZIP archive, as its records tell of it, true or not.
#[derive(Clone)]
pub struct Zipped {
    pub name: String,
    /// 0: stored, 8: deflated.
    pub method: u16,
    pub bytes: Vec<u8>,
    pub size: u32,
    pub crc: u32,
}

/// A deflated member.
pub fn deflated(name: &str, content: &[u8]) -> Zipped {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).expect("deflates");
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let bytes = encoder.finish().expect("deflates");
    Zipped { name: name.to_owned(), method: 8, bytes, size: content.len() as u32, crc: crc.sum() }
}

/// A ZIP archive.
pub fn zip(members: &[Zipped]) -> Vec<u8> {
    fn put(out: &mut Vec<u8>, shorts: &[u16], longs: &[u32]) {
        out.extend(shorts.iter().flat_map(|short| short.to_le_bytes()));
        out.extend(longs.iter().flat_map(|long| long.to_le_bytes()));
    }
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for Zipped { name, method, bytes, size, crc } in members {
        let at = out.len() as u32;
        let common = |out: &mut Vec<u8>| {
            put(out, &[20, 0, *method, 0, 0x21], &[*crc, bytes.len() as u32, *size]);
            put(out, &[name.len() as u16, 0], &[]);
        };
        out.extend(b"PK\x03\x04");
        common(&mut out);
        out.extend(name.as_bytes());
        out.extend(bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        common(&mut directory);
        put(&mut directory, &[0, 0, 0], &[0, at]);
        directory.extend(name.as_bytes());
    }
    let (at, count) = (out.len() as u32, members.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06");
    put(&mut out, &[0, 0, count, count], &[directory.len() as u32, at]);
    put(&mut out, &[0], &[]);
    out
}

/// A tensor with its name: name, dtype, dims, and items that take a byte or more each, little-endian.
pub type Named<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

/// Items as the formats that pack them have them.
pub fn packed(dtype: &DType, items: &[u8]) -> Vec<u8> {
    let tensorop::dtype::Kind::Narrow(narrow) = dtype.kind() else { return items.to_vec() };
    let (mut packer, mut out) = (Packer::new(narrow.bits()), Vec::new());
    packer.push(items, &mut out);
    packer.finish(&mut out);
    out
}

/// A safetensors file as the library writes it.
pub fn safetensors(members: &[Named<'_>]) -> Vec<u8> {
    let dtype = |name: &str| DType::parse(name).expect("a dtype");
    let heads: Vec<_> =
        members.iter().map(|(name, d, shape, _)| ((*name).to_owned(), dtype(d), shape.to_vec())).collect();
    let (mut out, places) = tensorop::format::safetensors::write_header(&heads).expect("a header");
    for ((_, name, _, items), place) in members.iter().zip(places) {
        let items = packed(&dtype(name), items);
        out.resize(out.len().max(place as usize + items.len()), 0);
        out[place as usize..][..items.len()].copy_from_slice(&items);
    }
    out
}

/// A safetensors file with any header at all.
pub fn safetensors_with_header(header: &str, items: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), items].concat()
}

/// An ONNX TensorProto as the library writes it.
pub fn pb((name, dtype, shape, items): Named<'_>) -> Vec<u8> {
    let dtype = DType::parse(dtype).expect("a dtype");
    let mut out = tensorop::format::onnx::write_header(&dtype, shape, name).expect("a header");
    out.extend(packed(&dtype, &items));
    out
}

/// A protobuf message by hand: each field's number, and a number or bytes.
pub fn protobuf(fields: &[(u32, Field<'_>)]) -> Vec<u8> {
    use prost::encoding::{WireType, encode_key, encode_varint};
    let mut out = Vec::new();
    for (number, field) in fields {
        match field {
            Field::Number(value) => {
                encode_key(*number, WireType::Varint, &mut out);
                encode_varint(*value, &mut out);
            }
            Field::Bytes(bytes) => {
                encode_key(*number, WireType::LengthDelimited, &mut out);
                encode_varint(bytes.len() as u64, &mut out);
                out.extend_from_slice(bytes);
            }
            Field::Claims(length) => {
                encode_key(*number, WireType::LengthDelimited, &mut out);
                encode_varint(*length, &mut out);
            }
        }
    }
    out
}

/// A field of a protobuf message.
pub enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A length, and nothing of what it tells of.
    Claims(u64),
}

/// A `.npy` file with any header at all.
pub fn npy_with_header(header: &str, items: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x02\x00".to_vec();
    file.extend((header.len() as u32 + 1).to_le_bytes());
    file.extend(header.as_bytes());
    file.push(b'\n');
    file.extend(items);
    file
}

/// The header of an array, in the plainest form.
pub fn header(descr: &str, fortran_order: bool, shape: &[usize]) -> String {
    let dims: String = shape.iter().map(|dim| format!("{dim},")).collect();
    let order = if fortran_order { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({dims}), }}")
}

/// All index vectors of a shape, in row-major order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &dim in shape {
        all = all.iter().flat_map(|head| (0..dim).map(|i| [head.as_slice(), &[i]].concat())).collect();
    }
    all
}

/// Where an index vector lies in row-major order.
pub fn offset(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |sum, (&i, &dim)| sum * dim + i)
}

/// Items in Fortran order from items in C order.
pub fn to_fortran(items: &[u8], shape: &[usize], itemsize: usize) -> Vec<u8> {
    let (reversed, mut out) = (shape.iter().rev().copied().collect::<Vec<_>>(), Vec::with_capacity(items.len()));
    for mut at in indices(&reversed) {
        at.reverse();
        out.extend(&items[offset(&at, shape) * itemsize..][..itemsize]);
    }
    out
}

/// Small tensors of the specifications' examples.
#[derive(Clone, Debug)]
pub struct Tensor<T> {
    pub shape: Vec<usize>,
    pub items: Vec<T>,
}

/// An item of the examples.
pub trait Item: Copy + std::fmt::Display {
    const LETTER: &'static str;
    const NAME: &'static str;
    fn little(self) -> Vec<u8>;
}

macro_rules! item {
    ($($type:ty, $letter:literal, $name:literal;)+) => {$(
        impl Item for $type {
            const LETTER: &'static str = $letter;
            const NAME: &'static str = $name;
            fn little(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )+};
}

item!(f32, "f4", "float32"; f64, "f8", "float64"; i64, "i8", "int64"; i32, "i4", "int32"; u8, "u1", "uint8";);

/// The little-endian bytes of items.
pub fn bytes<T: Item>(items: &[T]) -> Vec<u8> {
    items.iter().flat_map(|item| item.little()).collect()
}

pub fn tensor<T: Item>(shape: &[usize], items: &[T]) -> Tensor<T> {
    assert_eq!(shape.iter().product::<usize>(), items.len());
    Tensor { shape: shape.to_vec(), items: items.to_vec() }
}

impl<T: Item> Tensor<T> {
    pub fn bytes(&self) -> Vec<u8> {
        self.items.iter().flat_map(|item| item.little()).collect()
    }

    /// As `numpy.save` writes it.
    pub fn npy(&self) -> Vec<u8> {
        npy(&format!("<{}", T::LETTER), &self.shape, &self.bytes())
    }

    pub fn npy_fortran(&self) -> Vec<u8> {
        let items = to_fortran(&self.bytes(), &self.shape, size_of::<T>());
        npy_with_header(&header(&format!("<{}", T::LETTER), true, &self.shape), &items)
    }

    pub fn npy_big(&self) -> Vec<u8> {
        let items: Vec<u8> = self.items.iter().flat_map(|item| item.little().into_iter().rev()).collect();
        npy(&format!(">{}", T::LETTER), &self.shape, &items)
    }

    /// As nested lists.
    pub fn json(&self) -> String {
        fn nest(shape: &[usize], items: &[String]) -> String {
            let [dim, inner @ ..] = shape else { return items[0].clone() };
            let each = inner.iter().product::<usize>();
            let parts: Vec<_> = (0..*dim).map(|i| nest(inner, &items[i * each..][..each])).collect();
            format!("[{}]", parts.join(","))
        }
        nest(&self.shape, &self.items.iter().map(T::to_string).collect::<Vec<_>>())
    }

    /// As the object that says its dtype.
    pub fn tagged(&self) -> String {
        format!(r#"{{"dtype":"{}","shape":{:?},"data":{}}}"#, T::NAME, self.shape, self.json())
    }
}

/// An example of a specification, checked in every form of its operands and at every window size.
pub struct Example<T> {
    pub name: String,
    pub operator: &'static str,
    pub data: Tensor<T>,
    pub indices: Option<Tensor<i64>>,
    pub updates: Option<Tensor<T>>,
    pub options: String,
    pub expected: Tensor<T>,
}

impl<T: Item> Example<T> {
    pub fn check(&self) -> Result<(), String> {
        let folder = Folder::new();
        let (data, updates) = (&self.data, self.updates.as_ref());
        folder.put("d.npy", data.npy()).put("d-f.npy", data.npy_fortran()).put("d-b.npy", data.npy_big());
        folder.put("d.json", data.json()).put("d-t.json", data.tagged());
        if let Some(updates) = updates {
            folder.put("u.npy", updates.npy()).put("u-f.npy", updates.npy_fortran()).put("u-b.npy", updates.npy_big());
            folder.put("u.json", updates.json()).put("u-t.json", updates.tagged());
        }
        if let Some(indices) = &self.indices {
            folder.put("i.npy", indices.npy()).put("i-f.npy", indices.npy_fortran()).put("i-b.npy", indices.npy_big());
            folder.put("i.json", indices.json()).put("i-t.json", indices.tagged());
        }
        let typed = format!("--dtype {}", T::NAME);
        let long = data.items.len() > 1000;
        let indices_json = self.indices.as_ref().map(Tensor::json).unwrap_or_default();
        let updates_json = updates.map(Tensor::json).unwrap_or_default();
        let (data_json, npy, big) = (data.json(), self.expected.npy(), self.expected.npy_big());
        // data, indices, updates, more options, what is on standard input, what is expected
        let mut forms = vec![
            ("d.npy", "i.npy", "u.npy", "", None, &npy),
            ("d-f.npy", "i-f.npy", "u-f.npy", "", None, &npy),
            ("d-b.npy", "i-b.npy", "u-b.npy", "", None, &big),
            ("d.npy", "i-b.npy", "u-b.npy", "", None, &npy),
            ("d-b.npy", "i.npy", "u-f.npy", "", None, &big),
            ("d-t.json", "i-t.json", "u-t.json", "", None, &npy),
            ("d.json", "i.json", "u.json", typed.as_str(), None, &npy),
            ("d.npy", "i.json", "u.json", "", None, &npy),
            ("-", "i.npy", "u.npy", "", Some(data.npy()), &npy),
            ("-", "i.npy", "u.npy", typed.as_str(), Some(data_json.clone().into_bytes()), &npy),
        ];
        if let Some(updates) = updates {
            forms.push(("d.npy", "i.npy", "-", "", Some(updates.npy_fortran()), &npy));
            forms.push(("d.json", "i.npy", "u.npy", "", None, &npy));
        }
        if let Some(indices) = &self.indices {
            forms.push(("d.npy", "-", "u.npy", "", Some(indices.npy()), &npy));
        }
        if !long {
            forms.push((&data_json, &indices_json, &updates_json, &typed, None, &npy));
        }
        for (data, indices, updates, more, stdin, expected) in forms {
            let mut args = vec![self.operator.to_owned(), data.to_owned()];
            args.extend(self.indices.is_some().then(|| indices.to_owned()));
            args.extend(self.updates.is_some().then(|| updates.to_owned()));
            args.extend(words(&self.options).into_iter().chain(words(more)));
            let name = format!("{} {} {}", &args[1].chars().take(40).collect::<String>(), indices.len(), more);
            folder.gives(&args, stdin.as_deref(), expected).map_err(|e| format!("{name}: {e}"))?;
        }
        Ok(())
    }
}

/// Checks all examples, then names those that failed.
pub fn examples<T: Item>(rows: Vec<Example<T>>) {
    each(rows, |example| example.name.clone(), Example::check);
}
