//! OpenVINO IR: `.xml` with layers, beside a `.bin` with the items of Const layers, little-endian and in C order.
//! <https://docs.openvino.ai/2025/documentation/openvino-ir-format.html>

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::mem;
use std::sync::Arc;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader as XmlReader, XmlVersion};

use crate::container::content::{Content, Description, GraphForm, GraphWeight, KnownTensor, QuantizedGraph};
use crate::container::interface::{Confidence, Members, ReadableFile, Reader, StoredMember};
use crate::container::member_list::{MemberList, ModelFacts};
use crate::narrow::narrow_view;
use crate::narrow::packed::bytes_of_items;
use crate::storage::read_at::{Identity, ReadAt, Section};
use crate::storage::sidecar::FileBeside;
use crate::storage::source::{Container, Source, wrong_length};
use crate::untyped::python_json::one_line;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};

/// The bytes of the `.xml`, of which an element or a text may be held in memory.
const MAX_XML: u64 = 1 << 28;

/// Layers inside one another.
const MAX_DEPTH: usize = 256;

/// The element with the metadata of a model.
const RT_INFO: &str = "rt_info";

/// The bytes of a path of elements, which is the key of a value.
const MAX_PATH: usize = 1 << 9;

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
pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    let mut text = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin).trim_ascii_start();
    for (open, close) in [("<?xml", "?>"), ("<!--", "-->")] {
        if text.starts_with(open.as_bytes()) {
            let end = text.windows(close.len()).position(|window| window == close.as_bytes());
            text = end.map_or(&[][..], |end| &text[end + close.len()..]).trim_ascii_start();
        }
    }
    let rest = text.strip_prefix(b"<net");
    Confidence::certain_if(rest.and_then(|rest| rest.first()).is_some_and(u8::is_ascii_whitespace))
}

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let items = FileBeside::new(content.path.as_ref().map(|path| path.with_extension("bin")), content.requests);
    let (file, _) = content.into_bytes()?;
    let size = file.size()?;
    ensure!(size <= MAX_XML, "{size} bytes of XML, expected at most {MAX_XML}");
    let section = Section::new(Arc::clone(&file), 0, size);
    let mut xml = XmlReader::from_reader(BufReader::with_capacity(1 << 16, section));
    xml.config_mut().expand_empty_elements = true;
    let FoundLayers { constants, kinds, mut facts, chains } = FoundLayers::read(xml)?;
    facts.count("layers", kinds);
    let (names, mut constants) = constants.into_parts();
    let graph = Some(Arc::new(chains.graph(&names, &mut constants)));
    let metadata = Some(facts.into_metadata("openvino"));
    let identity = file.identity()?;
    // an output has the tensors alone
    let unwritten = Some("is a model, whose graph would be lost");
    let members =
        Members { graph, ..Members::of(Container { metadata, unwritten, ..Container::new(identity, names) }) };
    Ok(ReadableFile::new(members, IrReader { constants, identity, items }))
}

type Attributes = HashMap<String, String>;

/// The check for repeated attributes takes the square of their number, so the last counts.
fn attributes(element: &BytesStart<'_>) -> Result<Attributes> {
    let mut found = HashMap::new();
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| malformed!("{}", one_line(&error)))?;
        let key = attribute.key.as_ref().to_owned();
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| malformed!("{}", one_line(&format!("{key}: {error}"))))?;
        found.insert(key, value.into_owned());
    }
    Ok(found)
}

fn text<'a>(attributes: &'a Attributes, key: &str) -> &'a str {
    attributes.get(key).map_or("", |text| text)
}

#[derive(Default)]
struct OpenLayer {
    /// The names of the layers and bodies around it.
    prefix: String,
    /// The prefix of the layers in it.
    inside: String,
    own: Attributes,
    data: Attributes,
    /// The last one: a Parameter or a Result has one.
    port: Attributes,
    dims: Vec<String>,
}

/// What a walk of the elements finds.
#[derive(Default)]
struct FoundLayers {
    constants: MemberList<Constant>,
    kinds: BTreeMap<String, usize>,
    facts: ModelFacts,
    chains: Chains,
}

impl FoundLayers {
    fn read(mut xml: XmlReader<impl BufRead>) -> Result<Self> {
        // the first layer has what is outside of layers
        let (mut found, mut layers) = (Self::default(), vec![OpenLayer::default()]);
        let (mut dim, mut buffer) = (String::new(), Vec::new());
        // the names of the elements around one of the model's rt_info
        let mut within: Vec<String> = Vec::new();
        loop {
            buffer.clear();
            let at = xml.buffer_position();
            let event = xml.read_event_into(&mut buffer);
            let is_outside = layers.len() == 1;
            let layer = layers.last_mut().expect("the reader refuses an end without a begin");
            match event.map_err(|error| malformed!("byte {at}: {}", one_line(&error)))? {
                Event::Start(started) => {
                    let mut own = attributes(&started).with_context(|| format!("byte {at}"))?;
                    match started.name().as_ref() {
                        name if !within.is_empty() || is_outside && name == RT_INFO => {
                            // XML does not allow every key as the name of an element
                            let key = if name == "info" { own.remove("name") } else { None };
                            within.push(key.unwrap_or_else(|| name.to_owned()));
                            let path = within.join(".");
                            ensure!(
                                path.len() <= MAX_PATH,
                                "byte {at}: {RT_INFO} in paths of more than {MAX_PATH} bytes"
                            );
                            found.add_info(&path, &own);
                        }
                        "net" => {
                            let version = text(&own, "version");
                            let is_read = ["", "10", "11"].contains(&version);
                            ensure!(is_read, "OpenVINO IR of version {version} is not read, only 10 and 11");
                            ["version", "name"].iter().for_each(|key| found.facts.add(key, text(&own, key)));
                        }
                        "layer" => {
                            let prefix = layer.inside.clone();
                            ensure!(layers.len() < MAX_DEPTH, "more than {MAX_DEPTH} layers inside one another");
                            layers.push(OpenLayer { prefix, own, ..OpenLayer::default() });
                        }
                        // a body of TensorIterator, Loop or If
                        body if body.ends_with("body") => {
                            layer.inside = format!("{}{}/{body}/", layer.prefix, text(&layer.own, "name"));
                        }
                        "edge" => found.chains.add_edge(&layer.inside, &own),
                        "data" => layer.data = own,
                        "port" => (layer.port, layer.dims) = (own, Vec::new()),
                        _ => {}
                    }
                }
                Event::Text(text) => dim = text.trim().to_owned(),
                Event::End(_) if !within.is_empty() => _ = within.pop(),
                Event::End(ended) => match ended.name().as_ref() {
                    "net" => return Ok(found),
                    "dim" => layer.dims.push(mem::take(&mut dim)),
                    "layer" => {
                        found.add(&mem::take(layer), layers.len() == 2)?;
                        layers.pop();
                    }
                    _ => {}
                },
                Event::DocType(_) => bail!("byte {at}: a document type, expected none"),
                Event::Eof => bail!("not OpenVINO IR: it has no whole <net>"),
                _ => {}
            }
        }
    }

    /// OpenVINO writes each value as the attribute `value` of an element.
    fn add_info(&mut self, path: &str, attributes: &Attributes) {
        for (key, text) in attributes {
            let path = if key == "value" { path.to_owned() } else { format!("{path}.{key}") };
            self.facts.keep(&path, text, text.as_bytes());
        }
    }

    fn add(&mut self, layer: &OpenLayer, is_main: bool) -> Result<()> {
        let (name, kind) = (text(&layer.own, "name"), text(&layer.own, "type"));
        // precisions are FP32, BF16, I64, BOOL
        let precision = text(&layer.port, "precision").to_ascii_lowercase();
        let element_type = precision.replace("fp", "f").replace("bool", "boolean");
        let dtype = known_dtype(&element_type).map_or(element_type, |dtype| dtype.name());
        let dims = layer.dims.join(",");
        let port = || if dtype.is_empty() { name.to_owned() } else { format!("{name} {dtype}[{dims}]") };
        match kind {
            "" => return Ok(()),
            "Parameter" if is_main => self.facts.add("inputs", &port()),
            "Result" if is_main => self.facts.add("outputs", &port()),
            "Const" => self.constants.add(format!("{}{name}", layer.prefix), Constant::read(&layer.data))?,
            _ => {}
        }
        self.chains.add(layer, kind, self.constants.len());
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
        Ok(())
    }
}

/// The body of a layer, and the number of a layer in it.
type LayerKey = (String, u64);

/// A layer of a chain that computes a weight.
#[derive(Debug)]
enum Link {
    /// The number of its tensor.
    Const(usize),
    Convert,
    Subtract,
    Multiply,
    /// The shape of its output.
    Reshape(Option<Vec<usize>>),
}

/// The layers that may be in such chains, and the edges between layers.
#[derive(Debug, Default)]
struct Chains {
    links: HashMap<LayerKey, Link>,
    multiplied: Vec<LayerKey>,
    /// By the layer and the port that an edge ends at.
    inputs: HashMap<(LayerKey, u64), LayerKey>,
    outputs: HashMap<LayerKey, Vec<LayerKey>>,
}

impl Chains {
    /// `constants` is the number of constants so far; a Const is the last one.
    fn add(&mut self, layer: &OpenLayer, kind: &str, constants: usize) {
        let link = match kind {
            "Const" => Link::Const(constants - 1),
            "Convert" => Link::Convert,
            "Subtract" => Link::Subtract,
            "Multiply" => Link::Multiply,
            "Reshape" => Link::Reshape(layer.dims.iter().map(|dim| dim.parse().ok()).collect()),
            _ => return,
        };
        let Ok(id) = text(&layer.own, "id").parse() else { return };
        let key = (layer.prefix.clone(), id);
        if matches!(link, Link::Multiply) {
            self.multiplied.push(key.clone());
        }
        self.links.insert(key, link);
    }

    fn add_edge(&mut self, body: &str, edge: &Attributes) {
        let [from, from_port, to, port] =
            ["from-layer", "from-port", "to-layer", "to-port"].map(|key| text(edge, key).parse::<u64>().ok());
        if let (Some(from), Some(_), Some(to), Some(port)) = (from, from_port, to, port) {
            let (from, to) = ((body.to_owned(), from), (body.to_owned(), to));
            self.outputs.entry(from.clone()).or_default().push(to.clone());
            self.inputs.insert((to, port), from);
        }
    }

    fn input(&self, layer: &LayerKey, port: u64) -> Option<&LayerKey> {
        self.inputs.get(&(layer.clone(), port))
    }

    /// The constant of a layer, which may be converted.
    fn constant(&self, layer: &LayerKey) -> Option<usize> {
        match self.links.get(layer)? {
            Link::Const(n) => Some(*n),
            Link::Convert => match self.links.get(self.input(layer, 0)?)? {
                Link::Const(n) => Some(*n),
                _ => None,
            },
            _ => None,
        }
    }

    /// The shape that the layers after a product give it.
    fn reshaped(&self, product: &LayerKey) -> Option<(Vec<usize>, usize)> {
        let mut layer = product;
        // a product may be converted before and after
        for _ in 0..3 {
            let outputs = self.outputs.get(layer)?;
            layer =
                outputs.iter().find(|next| matches!(self.links.get(*next), Some(Link::Convert | Link::Reshape(_))))?;
            if let Some(Link::Reshape(shape)) = self.links.get(layer) {
                return shape.clone().zip(self.constant(self.input(layer, 1)?));
            }
        }
        None
    }

    /// Returns the weights, and adds constants of bytes for those of nf4.
    fn graph(&self, names: &[String], constants: &mut Vec<Constant>) -> QuantizedGraph {
        let mut graph = QuantizedGraph::default();
        for product in &self.multiplied {
            let [Some(first), Some(second)] = [0, 1].map(|port| self.input(product, port)) else { continue };
            let parts = |codes: &LayerKey, scales: &LayerKey| {
                let (codes, zeros) = match self.links.get(codes)? {
                    Link::Subtract => (self.input(codes, 0)?, Some(self.constant(self.input(codes, 1)?)?)),
                    _ => (codes, None),
                };
                let converted =
                    matches!(self.links.get(codes)?, Link::Convert).then(|| self.constant(codes)).flatten()?;
                constants[converted].has_codes().then_some((converted, zeros, self.constant(scales)?))
            };
            let Some((codes, zeros, scales)) = parts(first, second).or_else(|| parts(second, first)) else { continue };
            let shape = self.reshaped(product);
            let nf4 = constants[codes].as_bytes();
            let nf4 = nf4.and_then(|bytes| Some((constants[codes].dims()?, constants.len(), bytes)));
            let form = match nf4 {
                Some((dims, stored, bytes)) => {
                    constants.push(bytes);
                    GraphForm::Broadcast { shape, nf4: Some((dims, stored)) }
                }
                None => GraphForm::Broadcast { shape, nf4: None },
            };
            graph.weights.push(GraphWeight { scales: Some(scales), zeros, form, ..compressed(&names[codes], codes) });
        }
        let weights = graph.weights.iter();
        let parts: HashSet<usize> = weights.flat_map(|weight| weight.parts().chain([weight.codes])).collect();
        let left = (0..names.len()).filter(|n| constants[*n].is_narrow() && !parts.contains(n));
        graph.weights.extend(left.map(|n| {
            let fault =
                format!("{} is {}, expected in a chain of Convert and Multiply", names[n], constants[n].element_type);
            GraphWeight { fault: Some(fault), ..compressed(&names[n], n) }
        }));
        graph
    }
}

fn compressed(name: &str, codes: usize) -> GraphWeight {
    let (scales, zeros, whole, groups, fault) = (None, None, None, None, None);
    let form = GraphForm::Broadcast { shape: None, nf4: None };
    GraphWeight { name: name.to_owned(), operator: "compressed", codes, scales, zeros, whole, groups, form, fault }
}

/// The attributes of the `<data>` of a tensor in the `.bin` file.
#[derive(Debug)]
struct Constant {
    element_type: String,
    /// Without blanks.
    shape: String,
    /// Offset and bytes.
    place: Result<[u64; 2]>,
}

impl Constant {
    fn read(data: &Attributes) -> Self {
        let number = |key| text(data, key).parse::<u64>().ok().with_context(|| format!("{key} {:?}", text(data, key)));
        Self {
            element_type: text(data, "element_type").to_owned(),
            shape: text(data, "shape").split_whitespace().collect(),
            place: number("offset").and_then(|offset| Ok([offset, number("size")?])),
        }
    }

    fn meta(&self) -> Result<Meta> {
        let Self { element_type, shape, place } = self;
        ensure!(!element_type.is_empty(), "a Const without an element_type");
        let unknown = || format!("element_type {element_type:?} is not known");
        let dtype = known_dtype(element_type);
        let dtype = dtype.ok_or_else(|| Error::from_kind(ErrorKind::Unsupported, unknown()))?;
        let dims = self.dims().with_context(|| format!("shape {shape:?}"))?;
        ensure!(dims.len() <= MAX_RANK, "{} axes, expected at most {MAX_RANK}", dims.len());
        ensure!(bytes_of(&dims, dtype.itemsize()).is_some(), "shape {dims:?} is larger than memory can be");
        let meta = Meta::c_order(dtype, dims);
        let ([_, bytes], expected) = (place.clone()?, bytes_of_items(&meta.dtype, meta.items()));
        ensure!(bytes == expected || self.is_empty(), "{}", wrong_length(bytes, expected, &meta));
        Ok(meta)
    }

    /// Whether its items are codes rather than numbers.
    fn has_codes(&self) -> bool {
        !matches!(&*self.element_type, "f16" | "bf16" | "f32" | "f64")
    }

    /// Whether its type is only for codes.
    fn is_narrow(&self) -> bool {
        let narrow = known_dtype(&self.element_type).is_some_and(|dtype| matches!(dtype.kind(), Kind::Narrow(_)));
        narrow || self.element_type == "nf4"
    }

    /// The bytes of its items if they are nf4, a type without a dtype.
    fn as_bytes(&self) -> Option<Self> {
        let bytes = self.place.as_ref().ok().filter(|_| self.element_type == "nf4")?[1];
        Some(Self { element_type: "u8".to_owned(), shape: bytes.to_string(), place: self.place.clone() })
    }

    fn dims(&self) -> Option<Vec<usize>> {
        self.shape.split(',').filter(|dim| !dim.is_empty()).map(|dim| dim.parse().ok()).collect()
    }

    /// OpenVINO gives a constant without items a byte.
    fn is_empty(&self) -> bool {
        self.dims().is_some_and(|dims| dims.contains(&0))
    }
}

#[derive(Debug)]
struct IrReader {
    constants: Vec<Constant>,
    identity: Identity,
    items: FileBeside,
}

impl IrReader {
    /// The place of a tensor, which may be of an unknown type, and its file.
    fn find(&self, n: usize) -> Result<([u64; 2], &Arc<dyn ReadAt>)> {
        let constant = &self.constants[n];
        let [offset, bytes] = if constant.is_empty() { [0; 2] } else { constant.place.clone()? };
        let file = self.items.open()?;
        let size = file.size()?;
        let is_inside = offset.checked_add(bytes).is_some_and(|end| end <= size);
        ensure!(is_inside, "{bytes} bytes of items at byte {offset} of the .bin file, which has {size} bytes");
        Ok(([offset, bytes], file))
    }
}

impl Reader for IrReader {
    fn describe(&self, n: usize) -> Result<Description> {
        let meta = self.constants[n].meta()?;
        let ([offset, bytes], _) = self.find(n)?;
        Ok(Description { is_constant: true, ..Description::new(meta, bytes, Some(offset)) })
    }

    fn stored(&self, n: usize) -> StoredMember {
        let constant = &self.constants[n];
        let Constant { element_type, shape, place } = constant;
        let section = self.find(n).map(|([offset, bytes], file)| Section::new(Arc::clone(file), offset, bytes)).ok();
        let [offset, bytes] = [0, 1].map(|n: usize| place.as_ref().ok().map(|place| place[n]));
        StoredMember {
            known: KnownTensor { dtype: Some(element_type.clone()), shape: constant.dims(), bytes, offset },
            bytes: section.map(|section| Box::new(section) as _),
            entry: Some(format!("{element_type} {shape}\n")),
            is_passed_over: constant.meta().is_err_and(|error| error.kind() == ErrorKind::Unsupported),
            ..StoredMember::default()
        }
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let meta = self.constants[n].meta()?;
        let ([offset, _], file) = self.find(n)?;
        narrow_view::stored(meta, file, offset, label)
    }

    fn lock(&self, _: usize, _: bool) -> Result<()> {
        self.items.lock(self.identity)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::storage::read_at::MemoryBytes;
    use tensorop_kernels::parallel::Threads;

    const BIN: [u8; 12] = [1, 0, 2, 0, 3, 0, 0x21, 0x03, 7, 0, 0, 0];

    fn read(folder: &Path, xml: &str) -> Result<ReadableFile> {
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
        type Found = (&'static str, &'static [usize], u64);
        let rows: Vec<(String, Result<Found, &str>)> = vec![
            (constant("a", "i16", "3", "0", "6"), Ok(("int16", &[3], 0))),
            (constant("a", "i4", "3, 1", "6", "2"), Ok(("int4", &[3, 1], 6))),
            (constant("a", "u32", "", "8", "4"), Ok(("uint32", &[], 8))),
            (constant("a", "u1", "8", "0", "1"), Err("element_type \"u1\" is not known")),
            (constant("a", "", "8", "0", "1"), Err("a Const without an element_type")),
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
            (net(&"<layer>".repeat(MAX_DEPTH)), "more than 256 layers inside one another"),
        ];
        let mut failures = Vec::new();
        for (xml, expected) in rows {
            let found = match read(folder.path(), &xml) {
                Ok(reader) => reader.members.names().expect("a container").join(" "),
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
