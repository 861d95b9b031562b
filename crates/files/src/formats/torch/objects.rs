//! The meaning of a pickle's values.

use std::borrow::Cow;
use std::ops::Range;
use std::str;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::pickle::{Call, Id, Node, Pickle};
use crate::storage::read_at::ReadAt;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::python;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};
use tensorop_kernels::layout::view::View;

/// A tensor, as its constructor tells.
#[derive(Clone, Debug)]
pub(crate) struct StridedTensor {
    /// The name of its storage.
    pub storage: String,
    /// The bytes of an array, which has no storage.
    pub held: Option<Arc<dyn ReadAt>>,
    pub dtype: DType,
    /// Whether it is big-endian, which the dtype cannot say.
    pub is_swapped: bool,
    /// The bits of each item that differ from the stored ones; empty if none does.
    pub mask: Vec<u8>,
    /// Where it begins in its storage, in bytes.
    pub start: u64,
    /// The bytes of its storage.
    pub storage_bytes: u64,
    /// The items, from its start on.
    pub view: View,
}

/// A storage, as its persistent id tells: `('storage', type, key, device, items)`, in a legacy file with the name,
/// offset and items of a view or `None`.
pub(crate) struct StorageId {
    pub key: String,
    pub class: String,
    items: u64,
    /// Where a view begins, in items.
    offset: u64,
}

pub(crate) fn unsupported(message: impl Into<String>) -> Error {
    Error::from_kind(ErrorKind::Unsupported, message)
}

/// As Python prints it, with a sign and two digits in an exponent.
fn repr_float(number: f64) -> String {
    let text = format!("{number:?}").to_ascii_lowercase();
    let exponent = |(digits, exponent): (&str, &str)| Some(format!("{digits}e{:+03}", exponent.parse::<i32>().ok()?));
    text.split_once('e').and_then(exponent).unwrap_or(text)
}

impl Pickle {
    /// Returns the first bytes of a text.
    fn short(&self, text: &Range<usize>) -> Cow<'_, str> {
        const BYTES: usize = 1 << 10;
        String::from_utf8_lossy(&self.bytes[text.start..text.end.min(text.start + BYTES)])
    }

    /// Returns the name of a class, with its module.
    pub(crate) fn class(&self, id: Id) -> String {
        let mut class = self.node(id);
        // of a whole model: `('module', class, file, source)`
        if let Node::Persistent(id) = class
            && let [tag, named, ..] = self.items(*id)
            && self.is_text(*tag, "module")
        {
            class = self.node(*named);
        }
        match class {
            Node::Global(module, name) => [module, name].map(|part| self.short(part)).join("."),
            _ => "a class that is not a name".to_owned(),
        }
    }

    /// Returns the class of a call; empty for another value.
    pub(crate) fn class_of(&self, id: Id) -> String {
        if let Node::Call(call) = self.node(id) { self.class(call.class) } else { String::new() }
    }

    /// Returns the parameters, buffers and modules in the state of a module of `torch.nn`, and the names of the buffers
    /// that its `state_dict` leaves out.
    pub(crate) fn module_state(&self, call: &Call) -> Option<([Id; 3], &[Id])> {
        /// They are among the first that `torch.nn.Module` sets.
        const LOOK: usize = 64;
        let Node::Dict(items) = self.node(call.state?) else { return None };
        let (pairs, _) = items.as_chunks::<2>();
        let attribute = |name| pairs.iter().take(LOOK).find(|[key, _]| self.is_text(*key, name)).map(|pair| pair[1]);
        // a set is a list, or made of one
        let left_out = attribute("_non_persistent_buffers_set").map_or(&[][..], |set| match self.node(set) {
            Node::Call(call) => self.items(call.args).first().map_or(&[], |list| self.items(*list)),
            _ => self.items(set),
        });
        Some(([attribute("_parameters")?, attribute("_buffers")?, attribute("_modules")?], left_out))
    }

    pub(crate) fn is_text(&self, id: Id, expected: &str) -> bool {
        matches!(self.node(id), Node::Text(text) if self.bytes[text.clone()] == *expected.as_bytes())
    }

    /// Those of a tuple or a list; any other value has none.
    pub(crate) fn items(&self, id: Id) -> &[Id] {
        if let Node::Tuple(items) | Node::List(items) = self.node(id) { items } else { &[] }
    }

    /// The keys and values of a dictionary, or of the list of pairs that Python 2 passes for an ordered one.
    pub(crate) fn pairs(&self, id: Id) -> Vec<Id> {
        let id = match self.node(id) {
            Node::Call(call) if call.items.is_empty() => *self.items(call.args).first().unwrap_or(&id),
            _ => id,
        };
        match self.node(id) {
            Node::Dict(items) => items.clone(),
            Node::Call(call) => call.items.clone(),
            Node::List(pairs) => {
                let pairs = pairs.iter().map(|pair| self.items(*pair)).filter(|pair| pair.len() == 2);
                pairs.flatten().copied().collect()
            }
            _ => Vec::new(),
        }
    }

    fn count(&self, id: Id) -> Option<u64> {
        if let Node::Int(number) = self.node(id) { u64::try_from(*number).ok() } else { None }
    }

    /// A `torch.Size` is a tuple within a call.
    fn dims(&self, id: Id) -> Option<Vec<usize>> {
        let list = match self.node(id) {
            Node::Call(call) if self.class(call.class) == "torch.Size" => *self.items(call.args).first()?,
            _ => id,
        };
        let (Node::Tuple(dims) | Node::List(dims)) = self.node(list) else { return None };
        dims.iter().take(MAX_RANK + 1).map(|dim| usize::try_from(self.count(*dim)?).ok()).collect()
    }

    pub(crate) fn shape(&self, id: Id) -> Result<Vec<usize>> {
        let shape = self.dims(id).context("its shape is not a list of dims")?;
        ensure!(shape.len() <= MAX_RANK, "{} axes, expected at most {MAX_RANK}", shape.len());
        Ok(shape)
    }

    /// The first arguments are storage, offset, shape and strides, all in items.
    pub(crate) fn tensor(&self, args: &[Id], dtype: Option<Id>) -> Result<StridedTensor> {
        let [storage, offset, shape, strides, ..] = args else {
            bail!("a tensor of {} arguments, expected at least 4", args.len())
        };
        let storage = self.storage(*storage)?;
        let named = |id| {
            let name = self.class(id);
            dtype_named(&name).ok_or_else(|| unsupported(format!("items of {name} are not read")))
        };
        let dtype = dtype.map(named).transpose()?;
        let offset = self.count(*offset).context("an offset below 0")?;
        let strides = self.dims(*strides).context("its strides are no list of numbers from 0 on")?;
        storage.tensor(dtype, offset, &self.shape(*shape)?, &strides)
    }

    /// Returns a storage that no tensor views as a tensor.
    pub(crate) fn whole(&self, id: Id) -> Result<StridedTensor> {
        let storage = self.storage(id)?;
        let items = usize::try_from(storage.items)?;
        storage.tensor(None, 0, &[items], &[1])
    }

    pub(crate) fn storage(&self, id: Id) -> Result<StorageId> {
        let Node::Persistent(id) = self.node(id) else { bail!("a tensor without a storage") };
        // protocol 0 prints the fields, the class as `<class 'torch.FloatStorage'>`
        if let Node::Text(text) = self.node(*id)
            && let [_, "storage", _, class, _, key, _, device, items] =
                self.short(text).split('\'').collect::<Vec<_>>()[..]
            && device != "meta"
        {
            let items = items.trim_matches([',', ' ', ')']).trim_end_matches(", None").parse();
            let items = items.ok().context("a storage without a number of items")?;
            return Ok(StorageId { key: key.to_owned(), class: class.to_owned(), items, offset: 0 });
        }
        let fields = self.items(*id);
        let [tag, class, key, device, items, view @ ..] = fields else { bail!("a storage of {} fields", fields.len()) };
        let has_items = matches!(self.node(*device), Node::Text(_)) && !self.is_text(*device, "meta");
        ensure!(self.is_text(*tag, "storage") && has_items, "a persistent id that is not a storage");
        let Node::Text(key) = self.node(*key) else { bail!("a storage without a name") };
        let (offset, items) = match view.first().map(|view| self.items(*view)) {
            Some([_, offset, items]) => (self.count(*offset), items),
            _ => (Some(0), items),
        };
        let (offset, items) = offset.zip(self.count(*items)).context("a storage without a number of items")?;
        Ok(StorageId { key: self.short(key).into_owned(), class: self.class(*class), items, offset })
    }

    /// Returns the node of bytes, which protocols before 3 write as a text of Latin-1, or as no arguments.
    pub(crate) fn byte_node(&self, id: Id) -> Option<Id> {
        match self.node(id) {
            Node::Bytes(_) | Node::Text(_) => Some(id),
            Node::Call(call) => match self.items(call.args) {
                [text, encoding] if self.is_text(*encoding, "latin1") => {
                    (self.class(call.class) == "_codecs.encode").then_some(*text)
                }
                [] => (self.class(call.class) == "__builtin__.bytes").then_some(call.args),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the bytes of a [byte node](Self::byte_node) with at most `most` bytes.
    pub(crate) fn byte_string(&self, node: Id, most: usize) -> Option<Vec<u8>> {
        let node = self.node(node);
        let (Node::Bytes(range) | Node::Text(range)) = node else {
            return matches!(node, Node::Tuple(_)).then(Vec::new);
        };
        let bytes = self.bytes.get(range.clone()).filter(|bytes| bytes.len() <= most)?;
        match str::from_utf8(bytes) {
            Ok(text) if matches!(node, Node::Text(_)) => text.chars().map(|c| u8::try_from(c).ok()).collect(),
            // a string of Python 2 may have any bytes
            _ => Some(bytes.to_vec()),
        }
    }

    /// Returns the name that a key of a dictionary gives: a text, or the `repr` of another value.
    pub(crate) fn key(&self, id: Id) -> Option<String> {
        if let Node::Text(text) = self.node(id) { Some(self.text(text)) } else { self.repr(id) }
    }

    /// Returns Python's `repr` of a plain value that is not long.
    pub(crate) fn repr(&self, id: Id) -> Option<String> {
        let mut out = String::new();
        self.print(id, &mut out).map(|()| out)
    }

    fn print(&self, id: Id, out: &mut String) -> Option<()> {
        const MAX_BYTES: usize = 1 << 8;
        let node = self.node(id);
        match (node, self.byte_node(id).and_then(|bytes| self.byte_string(bytes, MAX_BYTES))) {
            _ if out.len() > MAX_BYTES => return None,
            (Node::None, _) => out.push_str("None"),
            (Node::Text(text), _) => out.push_str(&python::repr_str(&self.short(text))),
            (_, Some(bytes)) => {
                let mut quoted = Vec::new();
                python::repr_bytes(&bytes, &mut quoted);
                out.push_str(&String::from_utf8_lossy(&quoted));
            }
            (Node::Tuple(items) | Node::List(items) | Node::Dict(items), _) => {
                let [begin, second, end] = match node {
                    Node::Dict(_) => ["{", ": ", "}"],
                    Node::List(_) => ["[", ", ", "]"],
                    _ => ["(", ", ", if items.len() == 1 { ",)" } else { ")" }],
                };
                out.push_str(begin);
                for (n, item) in items.iter().enumerate() {
                    out.push_str(if n == 0 { "" } else { [", ", second][n % 2] });
                    self.print(*item, out)?;
                }
                out.push_str(end);
            }
            (Node::Global(..), _) => out.push_str(&self.class(id)),
            (Node::Call(call), _) if call.items.is_empty() => {
                out.push_str(&self.class(call.class));
                self.print(call.args, out)?;
                call.state.map_or(Some(()), |state| self.print(state, out))?;
            }
            _ => out.push_str(&self.plain(id)?),
        }
        Some(())
    }

    /// A value that is no tensor, as Python prints it, but for quotes around a text of its own.
    pub(crate) fn plain(&self, id: Id) -> Option<String> {
        /// Characters of a text, and values of a list.
        const MAX_SHOWN: usize = 200;
        const LISTED: usize = 8;
        let is_plain =
            |id: &Id| matches!(self.node(*id), Node::Bool(_) | Node::Int(_) | Node::Float(_) | Node::Text(_));
        Some(match self.node(id) {
            Node::Bool(true) => "True".to_owned(),
            Node::Bool(false) => "False".to_owned(),
            Node::Int(number) => number.to_string(),
            Node::Long(number) => number.to_string(),
            Node::Float(number) => repr_float(*number),
            Node::Text(text) => {
                let shown: String = self.short(text).chars().take(MAX_SHOWN).collect();
                if shown.len() == text.len() { shown } else { shown + "…" }
            }
            Node::Global(module, _) if self.bytes[module.clone()] == *b"torch" => self.class(id),
            Node::List(items) | Node::Tuple(items) if !items.is_empty() && items.iter().all(is_plain) => {
                let mut shown: Vec<_> = items.iter().take(LISTED).filter_map(|id| self.plain(*id)).collect();
                if items.len() > LISTED {
                    shown.push(format!("… {} values", items.len()));
                }
                format!("[{}]", shown.join(", "))
            }
            _ => return None,
        })
    }

    /// Returns the text of a value of metadata: a [plain](Self::plain) value, a whole text, or the size of bytes.
    pub(crate) fn fact(&self, id: Id) -> Option<String> {
        const MAX_BYTES: usize = 1 << 20;
        match self.node(id) {
            Node::Huge(number) => Some(format!("integer of {} bytes", number.len())),
            Node::Bytes(_) | Node::Call(_) => {
                let bytes = self.byte_string(self.byte_node(id)?, usize::MAX)?;
                Some(format!("{} bytes", bytes.len()))
            }
            Node::Text(text) if text.len() <= MAX_BYTES => Some(self.text(text)),
            _ => self.plain(id),
        }
    }

    /// Hashes all of a plain value, with its type, and returns the number of bytes.
    pub(crate) fn exact(&self, id: Id, hash: &mut Sha256) -> usize {
        let plain = self.plain(id).unwrap_or_default();
        let (kind, bytes) = match self.node(id) {
            Node::Text(bytes) => ("text", self.bytes[bytes.clone()].into()),
            Node::Huge(bytes) => ("integer", self.bytes[bytes.clone()].into()),
            Node::List(_) => ("list", Cow::default()),
            Node::Tuple(_) => ("tuple", Cow::default()),
            Node::Bytes(_) | Node::Call(_) => {
                let bytes = self.byte_node(id).and_then(|node| self.byte_string(node, usize::MAX));
                ("bytes", bytes.unwrap_or_default().into())
            }
            _ => ("value", plain.as_bytes().into()),
        };
        let items = self.items(id);
        hash.update(format!("{kind} {} {} ", items.len(), bytes.len()));
        hash.update(&bytes);
        items.iter().map(|id| self.exact(*id, hash)).sum::<usize>() + kind.len() + bytes.len()
    }
}

impl StorageId {
    /// Of its own type unless `dtype` is another.
    fn tensor(self, dtype: Option<DType>, offset: u64, shape: &[usize], strides: &[usize]) -> Result<StridedTensor> {
        // quantised items have more to them than their integers
        let stored = dtype_of_storage(&self.class).filter(|_| !self.class.contains(".Q"));
        let stored = stored.ok_or_else(|| unsupported(format!("items of {} are not read", self.class)))?;
        let [before, bytes] = [self.offset, self.items].map(|items| items.saturating_mul(stored.itemsize() as u64));
        let storage_bytes = before.saturating_add(bytes);
        ensure!(i64::try_from(storage_bytes).is_ok(), "a storage larger than a file can be");
        ensure!(shape.len() == strides.len(), "{} axes and {} strides", shape.len(), strides.len());
        let dtype = dtype.unwrap_or(stored);
        ensure!(bytes_of(shape, dtype.itemsize()).is_some(), "shape {shape:?} is larger than memory can be");
        let axes = || shape.iter().copied().zip(strides.iter().copied());
        let reach = |(dim, stride): (usize, usize)| dim.saturating_sub(1).saturating_mul(stride) as u64;
        let last = axes().map(reach).fold(offset, u64::saturating_add);
        let [own, end] = [offset, last.saturating_add(1)].map(|items| items.saturating_mul(dtype.itemsize() as u64));
        ensure!(
            shape.contains(&0) || end <= bytes,
            "shape {shape:?} with strides {strides:?} from item {offset} on ends beyond the {bytes} bytes of its storage"
        );
        let start = before.saturating_add(own).min(storage_bytes);
        let view = match shape.contains(&0) {
            true => View::c_order(shape),
            false => View::strided(axes().map(|(dim, stride)| (dim, stride as isize))),
        };
        let (storage, held, is_swapped, mask) = (self.key, None, false, Vec::new());
        Ok(StridedTensor { storage, held, dtype, is_swapped, mask, start, storage_bytes, view })
    }
}

/// Returns the dtype of the items of a storage by its class, also of the integers of quantised items.
pub(crate) fn dtype_of_storage(class: &str) -> Option<DType> {
    let (_, class) = class.rsplit_once('.').filter(|(module, _)| module.starts_with("torch"))?;
    let kind = match class.strip_suffix("Storage")? {
        "Double" => Kind::Float64,
        "Float" => Kind::Float32,
        "Half" => Kind::Float16,
        "BFloat16" => Kind::BFloat16,
        "Long" => Kind::Int64,
        "Int" | "QInt32" => Kind::Int32,
        "Short" => Kind::Int16,
        "Char" | "QInt8" => Kind::Int8,
        "Byte" | "Untyped" | "QUInt8" | "QUInt4x2" | "QUInt2x4" => Kind::UInt8,
        "Bool" => Kind::Bool,
        "ComplexDouble" => Kind::Complex128,
        "ComplexFloat" => Kind::Complex64,
        _ => return None,
    };
    Some(kind.into())
}

/// Returns the dtype of a `torch.dtype`, which has NumPy's name. Items below 8 bits are not stored as elsewhere.
pub(crate) fn dtype_named(class: &str) -> Option<DType> {
    let name = DType::names().find(|name| class.strip_prefix("torch.") == Some(name))?;
    let is_whole = |dtype: &DType| !matches!(dtype.kind(), Kind::Narrow(narrow) if narrow.bits() < 8);
    DType::parse(name).ok().filter(is_whole)
}

/// Whether a class makes a tensor or an array, also if nobody knows its arguments.
pub(crate) fn makes_tensor(class: &str) -> bool {
    let (module, name) = class.rsplit_once('.').unwrap_or_default();
    let ends = |ends: [&str; 3]| ends.iter().any(|end| name.ends_with(end));
    module.starts_with("torch._") && name.starts_with("_rebuild_")
        || module == "torch.nn.parameter"
        || class.starts_with("torch.") && ends(["Tensor", "Storage", "_from_bytes"])
        || module.starts_with("numpy.") && ends(["construct", "_frombuffer", "scalar"])
}
