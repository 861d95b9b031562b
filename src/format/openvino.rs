//! OpenVINO IR: `.xml` with layers, beside a `.bin` with the items of Const layers, little-endian and in C order.
//! <https://docs.openvino.ai/2025/documentation/openvino-ir-format.html>

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader as XmlReader, XmlVersion};

use super::beside::open_beside;
use super::content::{Content, Description, MemberFile};
use super::interface::{Confidence, Reader, SMALL_CONSTANT};
use super::narrow_view;
use super::packed::bytes_of_items;
use super::repeated_names::numbered;
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::meta::Meta;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::parallel::made_once;
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::requests::{RequestOptions, as_address};
use crate::storage::source::{Container, Metadata, Source, wrong_length};

/// The bytes of the `.xml`, of which an element or a text may be held in memory.
const MAX_XML: u64 = 1 << 28;

/// Layers of a model.
const MAX_MEMBERS: usize = 1 << 20;

/// The bytes of all names, which repeat the layers around them.
const MAX_NAMES: usize = 1 << 26;

/// Elements inside one another.
const MAX_DEPTH: usize = 256;

/// Names as in the attribute `element_type`.
const TYPES: &[(&str, Kind)] = &[
    ("boolean", Kind::Bool),
    ("bf16", Kind::BFloat16),
    ("f16", Kind::Float16),
    ("f32", Kind::Float32),
    ("f64", Kind::Float64),
    ("i8", Kind::Int8),
    ("i16", Kind::Int16),
    ("i32", Kind::Int32),
    ("i64", Kind::Int64),
    ("u8", Kind::UInt8),
    ("u16", Kind::UInt16),
    ("u32", Kind::UInt32),
    ("u64", Kind::UInt64),
    ("i4", Kind::Narrow(Narrow::Int4)),
    ("u2", Kind::Narrow(Narrow::UInt2)),
    ("u4", Kind::Narrow(Narrow::UInt4)),
    ("f8e4m3", Kind::Narrow(Narrow::Float8E4M3FN)),
    ("f8e5m2", Kind::Narrow(Narrow::Float8E5M2)),
    ("f8e8m0", Kind::Narrow(Narrow::Float8E8M0FNU)),
    ("f4e2m1", Kind::Narrow(Narrow::Float4E2M1FN)),
];

fn known_dtype(element_type: &str) -> Option<DType> {
    TYPES.iter().find(|(name, _)| *name == element_type).map(|(_, kind)| kind.clone().into())
}

/// The first element is `<net>`.
pub(super) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    let mut text = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin).trim_ascii_start();
    for (open, close) in [("<?xml", "?>"), ("<!--", "-->")] {
        if text.starts_with(open.as_bytes()) {
            let end = text.windows(close.len()).position(|window| window == close.as_bytes());
            text = end.map_or(&[][..], |end| &text[end + close.len()..]).trim_ascii_start();
        }
    }
    Confidence::certain_if(
        text.strip_prefix(b"<net").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace)),
    )
}

pub(super) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let (path, requests) = (content.path.clone(), content.requests);
    let (file, _) = content.into_bytes()?;
    let size = file.size()?;
    ensure!(size <= MAX_XML, "{size} bytes of XML, expected at most {MAX_XML}");
    let section = Section::new(Arc::clone(&file), 0, size);
    let found = FoundLayers::read(BufReader::with_capacity(1 << 16, section))?;
    let (names, constants): (Vec<_>, Vec<_>) = found.constants.into_iter().unzip();
    let container = Arc::new(Container::new(file.identity()?, numbered(names)));
    let facts = Arc::new(found.facts);
    let weights = Weights { path: path.map(|path| path.with_extension("bin")), requests, opened: OnceLock::new() };
    Ok(Box::new(IrReader { constants, container, facts, weights }))
}

/// The attributes of a Const layer, which are checked when its tensor is wanted.
#[derive(Clone, Debug, Default)]
struct ConstLayer {
    element_type: String,
    shape: String,
    offset: String,
    size: String,
}

#[derive(Debug, Default)]
struct FoundLayers {
    constants: Vec<(String, ConstLayer)>,
    facts: Metadata,
}

#[derive(Debug, Default)]
struct OpenLayer {
    name: String,
    kind: String,
    data: Option<ConstLayer>,
    /// Of the first port of a Parameter, or the last of a Result.
    precision: String,
    dims: Vec<String>,
}

/// A walk of the elements.
#[derive(Default)]
struct LayerWalk {
    /// The layers around the current element.
    layers: Vec<OpenLayer>,
    /// What each open element adds to the names inside it.
    prefixes: Vec<String>,
    elements: Vec<String>,
    found: FoundLayers,
    kinds: BTreeMap<String, usize>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    names: usize,
}

/// The check for repeated attributes takes the square of their number, so the last counts.
fn attributes(element: &BytesStart<'_>) -> Result<HashMap<String, String>> {
    let mut found = HashMap::new();
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| malformed!("{error}"))?;
        let key = attribute.key.as_ref().to_owned();
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| malformed!("{key}: {error}"))?;
        found.insert(key, value.into_owned());
    }
    Ok(found)
}

impl FoundLayers {
    fn read(text: impl BufRead) -> Result<Self> {
        let mut xml = XmlReader::from_reader(text);
        xml.config_mut().expand_empty_elements = true;
        let (mut walk, mut buffer, mut is_net) = (LayerWalk::default(), Vec::new(), false);
        loop {
            let at = xml.buffer_position();
            let event = xml.read_event_into(&mut buffer).map_err(|error| malformed!("byte {at}: {error}"))?;
            match event {
                Event::Start(element) => {
                    let name = element.name().as_ref().to_owned();
                    is_net |= name == "net";
                    ensure!(walk.elements.len() < MAX_DEPTH, "more than {MAX_DEPTH} elements inside one another");
                    walk.begin(name, &attributes(&element).with_context(|| format!("byte {at}"))?)?;
                }
                Event::Text(text) if walk.elements.last().is_some_and(|name| name == "dim") => {
                    let dim = text.trim().to_owned();
                    walk.layers.last_mut().into_iter().for_each(|layer| layer.dims.push(dim.clone()));
                }
                Event::End(_) => walk.end()?,
                Event::DocType(_) => bail!("byte {at}: a document type, expected none"),
                Event::Eof => break,
                _ => {}
            }
            buffer.clear();
        }
        ensure!(is_net && walk.elements.is_empty(), "not OpenVINO IR: it has no whole <net>");
        Ok(walk.finish())
    }
}

impl LayerWalk {
    fn begin(&mut self, element: String, attributes: &HashMap<String, String>) -> Result<()> {
        let text = |key: &str| attributes.get(key).cloned().unwrap_or_default();
        match &*element {
            "net" => {
                self.found.facts.extend([("version".to_owned(), text("version")), ("name".to_owned(), text("name"))]);
            }
            "layer" => self.layers.push(OpenLayer { name: text("name"), kind: text("type"), ..OpenLayer::default() }),
            "data" => {
                if let Some(layer) = self.layers.last_mut().filter(|layer| layer.data.is_none()) {
                    let [element_type, shape] = [text("element_type"), text("shape")];
                    layer.data = Some(ConstLayer { element_type, shape, offset: text("offset"), size: text("size") });
                }
            }
            "port" => {
                if let Some(layer) = self.layers.last_mut() {
                    (layer.precision, layer.dims) = (text("precision").to_ascii_lowercase(), Vec::new());
                }
            }
            // a body of TensorIterator, Loop or If
            name if name.ends_with("body") => {
                if let Some(layer) = self.layers.last() {
                    self.prefixes.push(format!("{}{}/{name}/", self.prefixes.last().map_or("", |p| p), layer.name));
                }
            }
            _ => {}
        }
        self.elements.push(element);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let element = self.elements.pop().context("an element ends that did not begin")?;
        if element.ends_with("body") && !self.layers.is_empty() {
            self.prefixes.pop();
        }
        if element != "layer" {
            return Ok(());
        }
        let OpenLayer { name, kind, data, precision, dims } =
            self.layers.pop().context("a layer ends that did not begin")?;
        // precisions are FP32, BF16, I64, BOOL
        let element_type = precision.replace("fp", "f").replace("bool", "boolean");
        let dtype = known_dtype(&element_type).map_or(element_type, |dtype| dtype.name());
        let own = if precision.is_empty() { String::new() } else { format!(" {dtype}[{}]", dims.join(",")) };
        match &*kind {
            "Const" => {
                let prefix = self.prefixes.last().map_or("", |prefix| prefix);
                let name = format!("{prefix}{name}");
                self.names += name.len();
                let count = self.found.constants.len();
                ensure!(count < MAX_MEMBERS, "more than {MAX_MEMBERS} tensors");
                ensure!(self.names <= MAX_NAMES, "names of more than {MAX_NAMES} bytes");
                self.found.constants.push((name, data.unwrap_or_default()));
            }
            "Parameter" if self.prefixes.is_empty() => self.inputs.push(format!("{name}{own}")),
            "Result" if self.prefixes.is_empty() => self.outputs.push(format!("{name}{own}")),
            _ => {}
        }
        if !kind.is_empty() {
            *self.kinds.entry(kind).or_default() += 1;
        }
        Ok(())
    }

    fn finish(self) -> FoundLayers {
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let layers: Vec<_> = kinds.into_iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let mut found = self.found;
        let texts = [("inputs", self.inputs), ("outputs", self.outputs), ("layers", layers)];
        found.facts.extend(texts.map(|(key, texts)| (key.to_owned(), texts.join(", "))));
        found.facts.retain(|_, text| !text.is_empty());
        found
    }
}

impl ConstLayer {
    /// Returns the tensor, its offset and its bytes.
    fn tensor(&self) -> Result<(Meta, u64, u64)> {
        let Some(dtype) = known_dtype(&self.element_type) else {
            let message = format!("element_type {:?} is not known", self.element_type);
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        };
        let number = |key: &str, text: &str| text.parse::<u64>().ok().with_context(|| format!("{key} {text:?}"));
        let dims = self.shape.split(',').map(str::trim).filter(|dim| !dim.is_empty());
        let shape: Option<Vec<usize>> = dims.map(|dim| dim.parse().ok()).collect();
        let shape = shape.with_context(|| format!("shape {:?}", self.shape))?;
        ensure!(shape.len() <= MAX_RANK, "{} axes, expected at most {MAX_RANK}", shape.len());
        let fits = bytes_of(&shape, dtype.itemsize()).is_some();
        ensure!(fits, "shape {shape:?} is larger than memory can be");
        let meta = Meta::new(dtype, shape);
        let (offset, size) = (number("offset", &self.offset)?, number("size", &self.size)?);
        let expected = bytes_of_items(&meta.dtype, meta.items());
        ensure!(size == expected, "{}", wrong_length(size, expected, &meta));
        Ok((meta, offset, size))
    }
}

/// The file of items, which is opened when a tensor is wanted.
#[derive(Debug)]
struct Weights {
    path: Option<PathBuf>,
    requests: RequestOptions,
    opened: OnceLock<Arc<dyn ReadAt>>,
}

impl Weights {
    fn open(&self) -> Result<&Arc<dyn ReadAt>> {
        let path =
            self.path.as_deref().context("the items are in a .bin file, and there is no folder to find it in")?;
        made_once(&self.opened, || open_beside(path, self.requests).with_context(|| name_of(path)))
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[derive(Debug)]
struct IrReader {
    constants: Vec<ConstLayer>,
    container: Arc<Container>,
    facts: Arc<Metadata>,
    weights: Weights,
}

impl IrReader {
    fn find(&self, n: usize) -> Result<(Meta, u64, u64, &Arc<dyn ReadAt>)> {
        let (meta, offset, bytes) = self.constants[n].tensor()?;
        let file = self.weights.open()?;
        let size = file.size()?;
        let is_inside = offset.checked_add(bytes).is_some_and(|end| end <= size);
        ensure!(is_inside, "{bytes} bytes of items at byte {offset} of the .bin file, which has {size} bytes");
        Ok((meta, offset, bytes, file))
    }
}

impl Reader for IrReader {
    fn names(&self) -> Option<&[String]> {
        Some(&self.container.names)
    }

    fn container(&self) -> Option<&Arc<Container>> {
        Some(&self.container)
    }

    fn file_of(&self, _: usize) -> Result<MemberFile> {
        Ok(MemberFile { metadata: Some(Arc::clone(&self.facts)), ..MemberFile::default() })
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (meta, offset, bytes, _) = self.find(n)?;
        Ok(Description::new(meta, bytes, Some(offset)))
    }

    fn is_passed_over(&self, n: usize) -> bool {
        self.constants[n].tensor().is_err_and(|error| error.kind() == ErrorKind::Unsupported)
    }

    fn is_small_constant(&self, n: usize) -> bool {
        self.constants[n].tensor().is_ok_and(|(meta, ..)| meta.items() <= SMALL_CONSTANT)
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        let (_, offset, bytes, file) = self.find(n).ok()?;
        Some(Box::new(Section::new(Arc::clone(file), offset, bytes)))
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (meta, offset, _, file) = self.find(n)?;
        let source = narrow_view::stored(meta, file, offset, label)?;
        Ok(source.one_of(Arc::clone(&self.container), n))
    }

    fn lock(&self, _: usize, _: bool) -> Result<()> {
        let Some(path) = self.weights.path.as_deref().filter(|path| as_address(path).is_none()) else { return Ok(()) };
        let file = File::options().read(true).write(true).open(path).with_context(|| name_of(path))?;
        ensure!(file.metadata()?.is_file(), "{}: expected a regular file", name_of(path));
        file.lock().with_context(|| name_of(path))?;
        // nobody has opened it before
        _ = self.weights.opened.set(Arc::new(file));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Threads;
    use crate::storage::read_at::MemoryBytes;

    const BIN: [u8; 12] = [1, 0, 2, 0, 3, 0, 0x21, 0x03, 7, 0, 0, 0];

    fn read(folder: &Path, xml: &str) -> Result<Box<dyn Reader>> {
        let content = Content::from_bytes(Arc::new(MemoryBytes::new(xml.as_bytes())), Threads::default())?;
        open(Content { path: Some(folder.join("m.xml")), ..content })
    }

    fn constant(name: &str, element_type: &str, shape: &str, offset: &str, size: &str) -> String {
        format!(
            "<layer id=\"0\" name=\"{name}\" type=\"Const\"><data element_type=\"{element_type}\" shape=\"{shape}\" \
             offset=\"{offset}\" size=\"{size}\"/><output><port id=\"0\"><dim>9</dim></port></output></layer>"
        )
    }

    fn net(layers: &str) -> String {
        format!("<?xml version=\"1.0\"?>\n<net name=\"n\" version=\"11\"><layers>{layers}</layers></net>")
    }

    #[test]
    fn constants_and_their_errors() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m.bin"), BIN).unwrap();
        let rows: [(String, Result<(&str, &[usize], u64), &str>); 10] = [
            (constant("a", "i16", "3", "0", "6"), Ok(("int16", &[3], 0))),
            (constant("a", "i4", "3, 1", "6", "2"), Ok(("int4", &[3, 1], 6))),
            (constant("a", "u32", "", "8", "4"), Ok(("uint32", &[], 8))),
            (constant("a", "u1", "8", "0", "1"), Err("element_type \"u1\" is not known")),
            (constant("a", "i16", "4", "0", "6"), Err("6 bytes of data, expected 8 (int16 [4])")),
            (
                constant("a", "i16", "3", "8", "6"),
                Err("6 bytes of items at byte 8 of the .bin file, which has 12 bytes"),
            ),
            (constant("a", "i16", "3", "-1", "6"), Err("offset \"-1\"")),
            (constant("a", "i16", "x", "0", "6"), Err("shape \"x\"")),
            (
                constant("a", "u8", "9", "18446744073709551615", "9"),
                Err("9 bytes of items at byte 18446744073709551615"),
            ),
            (constant("a", "u8", "4294967296,4294967296", "0", "1"), Err("is larger than memory can be")),
        ];
        let mut failures = Vec::new();
        for (layer, expected) in rows {
            let reader = read(folder.path(), &net(&layer)).expect("a model");
            let found = reader.describe(0).map_err(|error| error.to_string());
            let is_right = match (&found, &expected) {
                (Ok(found), Ok((dtype, shape, offset))) => {
                    found.meta.dtype.name() == *dtype && found.meta.shape == *shape && found.offset == Some(*offset)
                }
                (Err(found), Err(expected)) => found.contains(expected),
                _ => false,
            };
            if !is_right || reader.source(0, String::new()).is_ok() != expected.is_ok() {
                failures.push(format!("{found:?}, expected {expected:?}"));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
        std::fs::remove_file(folder.path().join("m.bin")).unwrap();
        let reader = read(folder.path(), &net(&constant("a", "u8", "1", "0", "1"))).expect("a model");
        assert!(reader.describe(0).is_err_and(|error| error.to_string().starts_with("m.bin: ")));
    }

    #[test]
    fn names_and_damage() {
        let folder = tempfile::tempdir().unwrap();
        let inner = constant("c", "u8", "1", "0", "1");
        let body =
            format!("<layer name=\"l\" type=\"If\"><then_body><layers>{inner}</layers></then_body></layer>{inner}");
        let rows = [
            (net(&format!("{inner}{inner}")), "c c#2"),
            (net(&body), "l/then_body/c c"),
            (net(&constant("&lt;&#233;", "u8", "1", "0", "1")), "<é"),
            (net("<layer name=\"x\" type=\"Parameter\"/>"), ""),
            (net("<layer>"), "byte"),
            (net(&constant("&own;", "u8", "1", "0", "1")), "name: "),
            ("<!DOCTYPE net [<!ENTITY own \"x\">]><net/>".to_owned(), "a document type, expected none"),
            ("<net><layers>".to_owned(), "not OpenVINO IR: it has no whole <net>"),
            (net(&"<a>".repeat(MAX_DEPTH)), "more than 256 elements inside one another"),
        ];
        let mut failures = Vec::new();
        for (xml, expected) in rows {
            let found = match read(folder.path(), &xml) {
                Ok(reader) => reader.names().expect("a container").join(" "),
                Err(error) => error.to_string(),
            };
            if found != expected && (!found.contains(expected) || expected.is_empty()) {
                failures.push(format!("{found:?}, expected {expected:?}"));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
        let whole = net(&body);
        for end in 0..whole.len() {
            assert!(read(folder.path(), &whole[..end]).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn what_looks_like_one() {
        for (begin, expected) in [
            ("<net name=\"a\">", true),
            ("\u{feff}<?xml version=\"1.0\"?>\n<net\nversion=\"11\">", true),
            ("<?xml version=\"1.0\"?><!-- a --> <net >", true),
            ("<network>", false),
            ("<?xml", false),
            ("<html>", false),
            ("", false),
        ] {
            assert_eq!(sure(begin.as_bytes(), None) == Confidence::Certain, expected, "{begin}");
        }
    }
}
