//! The meaning of a pickle's classes: those that `torch.load(weights_only=True)` constructs
//! (`torch/_weights_only_unpickler.py`) are tensors and containers, and all others are unknown.

use std::ops::Range;

use super::dtypes::{dtype_named, dtype_of_storage, itemsize_of_storage};
use super::pickle::{Id, Node, Pickle};
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::layout::view::View;

/// The limit on constructors within one another: a parameter of a tensor of a type, and so on.
const MAX_CONSTRUCTORS: usize = 16;

/// A tensor, as its constructor tells.
#[derive(Clone, Debug)]
pub(super) struct StridedTensor {
    /// The name of its storage.
    pub storage: String,
    /// In C order, with the dtype in little-endian order.
    pub meta: Meta,
    /// Where it begins in its storage, in bytes.
    pub start: u64,
    /// The bytes of its storage.
    pub storage_bytes: u64,
    /// The items, from its start on.
    pub view: View,
}

/// A storage, as its persistent id tells: `('storage', type, key, device, items)`, in a legacy file with the name,
/// offset and items of a view or `None`.
pub(super) struct StorageId {
    pub key: String,
    pub dtype: Result<DType>,
    pub itemsize: Option<usize>,
    pub items: u64,
    /// Where a view begins, in items.
    pub offset: u64,
}

/// An object by its class.
pub(super) enum Object<'a> {
    Tensor(Result<StridedTensor>),
    Pairs(&'a [(Id, Id)]),
    Items(&'a [Id]),
    /// Pairs, each as a list.
    Lists(&'a [Id]),
    /// Another node in its place.
    Same(Id),
    /// A dictionary of attributes, which become names of a `state_dict`.
    Script(Id),
    Unknown(String),
}

pub(super) fn unsupported(message: impl Into<String>) -> Error {
    Error::from_kind(ErrorKind::Unsupported, message)
}

impl Pickle {
    pub(super) fn class(&self, id: Id) -> Option<(String, String)> {
        /// Bytes.
        const MOST: usize = 1 << 10;
        let (module, name) = match self.node(id) {
            Node::Global(module, name) => (module, name),
            // of a whole model: `('module', class, file, source)`
            Node::Persistent(id) => match self.items(*id)? {
                [tag, class, ..] if self.is_text(*tag, "module") => match self.node(*class) {
                    Node::Global(module, name) => (module, name),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let text = |range: &Range<usize>| self.text(&(range.start..range.end.min(range.start + MOST)));
        Some((text(module), text(name)))
    }

    /// Returns the object of a call or a persistent id; `None` for any other node.
    pub(super) fn object(&self, id: Id) -> Option<Object<'_>> {
        match self.node(id) {
            Node::Call(call) => {
                let args = self.items(call.args).unwrap_or_default();
                let class = self.class(call.class);
                let (module, name) = class.as_ref().map_or(("", ""), |(module, name)| (module, name));
                if let Some(tensor) = self.constructed(call.class, args, 0) {
                    return Some(Object::Tensor(tensor));
                }
                Some(match (module, name, args) {
                    ("collections", "OrderedDict" | "Counter" | "defaultdict", _) => self.ordered(&call.pairs, args),
                    ("torch", "Size", [items])
                    | ("builtins" | "__builtin__", "set" | "frozenset" | "list", [items]) => Object::Same(*items),
                    ("torch.jit._pickle", "restore_type_tag", [object, ..]) => Object::Same(*object),
                    ("torch.jit._pickle", name, [items]) if name.ends_with("list") => Object::Same(*items),
                    (module, _, _) if module.starts_with("__torch__") => match call.state {
                        Some(state) => Object::Script(state),
                        None => Object::Items(&[]),
                    },
                    ("", "", _) => Object::Unknown("a class that is no name".to_owned()),
                    _ => Object::Unknown(format!("{module}.{name}")),
                })
            }
            Node::Persistent(_) => match self.storage(id) {
                Ok(storage) => Some(Object::Tensor(whole(storage))),
                Err(error) => Some(Object::Tensor(Err(error))),
            },
            _ => None,
        }
    }

    /// Python 2 passes the pairs as a list of lists.
    fn ordered<'a>(&'a self, pairs: &'a [(Id, Id)], args: &'a [Id]) -> Object<'a> {
        match args {
            [lists] if pairs.is_empty() => match self.node(*lists) {
                Node::Dict(pairs) => Object::Pairs(pairs),
                Node::List(lists) => Object::Lists(lists),
                _ => Object::Pairs(pairs),
            },
            _ => Object::Pairs(pairs),
        }
    }

    /// Returns the attributes that a module of `torch.nn` has as its state.
    pub(super) fn module_state(&self, id: Id) -> Option<[Id; 3]> {
        /// They are among the first that `torch.nn.Module` sets.
        const LOOK: usize = 64;
        let Node::Call(call) = self.node(id) else { return None };
        let Node::Dict(pairs) = self.node(call.state?) else { return None };
        let attribute = |name: &str| {
            let has_name = |(key, _): &&(Id, Id)| self.is_text(*key, name);
            pairs.iter().take(LOOK).find(has_name).map(|(_, value)| *value)
        };
        Some([attribute("_parameters")?, attribute("_buffers")?, attribute("_modules")?])
    }

    fn is_text(&self, id: Id, expected: &str) -> bool {
        matches!(self.node(id), Node::Text(text) if self.bytes[text.clone()] == *expected.as_bytes())
    }

    pub(super) fn items(&self, id: Id) -> Option<&[Id]> {
        if let Node::Tuple(items) | Node::List(items) = self.node(id) { Some(items) } else { None }
    }

    /// A `torch.Size` is a tuple within a call.
    fn dims(&self, id: Id) -> Option<&[Id]> {
        let Node::Call(call) = self.node(id) else { return self.items(id) };
        let is_size = self.class(call.class).is_some_and(|(module, name)| module == "torch" && name == "Size");
        self.items(*self.items(call.args)?.first()?).filter(|_| is_size)
    }

    fn int(&self, id: Id) -> Option<i64> {
        if let Node::Int(number) = self.node(id) { Some(*number) } else { None }
    }

    fn constructed(&self, class: Id, args: &[Id], depth: usize) -> Option<Result<StridedTensor>> {
        let (module, name) = self.class(class)?;
        if depth == MAX_CONSTRUCTORS {
            return Some(Err(malformed!("more than {MAX_CONSTRUCTORS} constructors within one another")));
        }
        let inner = || {
            let Some(first) = args.first() else { return Err(malformed!("{name} of nothing")) };
            match self.node(*first) {
                Node::Call(call) => self.constructed(call.class, self.items(call.args).unwrap_or_default(), depth + 1),
                _ => None,
            }
            .unwrap_or_else(|| Err(unsupported(format!("{module}.{name} of what is no tensor that is read"))))
        };
        Some(match (&*module, &*name) {
            ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => self.strided(args, None),
            ("torch._utils", "_rebuild_tensor_v3") => self.strided(args, args.get(6).copied()),
            ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state")
            | ("torch.nn.parameter", "Parameter" | "Buffer") => inner(),
            ("torch._tensor", "_rebuild_from_type_v2") => match args {
                [function, _, args, ..] => {
                    let args = self.items(*args).unwrap_or_default();
                    let made = self.constructed(*function, args, depth + 1);
                    made.unwrap_or_else(|| Err(unsupported("a tensor of a type that is not known")))
                }
                _ => Err(malformed!("{name} of {} arguments", args.len())),
            },
            ("torch._utils", name) if name.starts_with("_rebuild_") => {
                Err(unsupported(format!("torch._utils.{name} makes it, which is not read")))
            }
            _ => return None,
        })
    }

    pub(super) fn storage(&self, id: Id) -> Result<StorageId> {
        let Node::Persistent(id) = self.node(id) else { bail!("a tensor without a storage") };
        let fields = self.items(*id).unwrap_or_default();
        let [tag, class, key, _, items, view @ ..] = fields else { bail!("a storage of {} fields", fields.len()) };
        ensure!(self.is_text(*tag, "storage"), "a persistent id that is no storage");
        let name = self.class(*class).filter(|(module, _)| module.starts_with("torch")).map(|(_, name)| name);
        let itemsize = name.as_ref().and_then(|name| itemsize_of_storage(name));
        let dtype = match name {
            Some(name) => {
                dtype_of_storage(&name).ok_or_else(|| unsupported(format!("items of torch.{name} are not read")))
            }
            None => Err(unsupported("a storage of a type that is not known")),
        };
        let count = |id| self.int(id).and_then(|count| u64::try_from(count).ok());
        let key = self.key(*key).context("a storage without a name")?;
        let items = count(*items).context("a storage without a number of items")?;
        let (offset, items) = match view.first().and_then(|view| self.items(*view)) {
            Some([_, offset, items]) => count(*offset).zip(count(*items)).context("a view without an offset")?,
            _ => (0, items),
        };
        Ok(StorageId { key, dtype, itemsize, items, offset })
    }

    /// A key of a dictionary as text.
    pub(super) fn key(&self, id: Id) -> Option<String> {
        match self.node(id) {
            Node::Text(text) => Some(self.text(text)),
            Node::Int(number) => Some(number.to_string()),
            Node::Bool(value) => Some(value.to_string()),
            Node::Float(number) => Some(format!("{number:?}")),
            Node::Tuple(items) if items.len() < 8 => {
                let keys = items.iter().filter(|id| !matches!(self.node(**id), Node::Tuple(_)));
                Some(keys.filter_map(|id| self.key(*id)).collect::<Vec<_>>().join("_"))
            }
            _ => None,
        }
    }

    /// The arguments are storage, offset, shape and strides, all in items.
    fn strided(&self, args: &[Id], dtype: Option<Id>) -> Result<StridedTensor> {
        let [storage, offset, shape, strides, ..] = args else {
            bail!("a tensor of {} arguments, expected at least 4", args.len())
        };
        let storage = self.storage(*storage)?;
        let stored = storage.dtype?;
        let dtype = match dtype.map(|id| self.class(id)) {
            Some(Some((_, name))) => {
                dtype_named(&name).ok_or_else(|| unsupported(format!("items of torch.{name} are not read")))?
            }
            Some(None) => bail!("a tensor without a dtype"),
            None => stored.clone(),
        };
        let numbers = |id: Id| -> Option<Vec<usize>> {
            self.dims(id)?.iter().take(MAX_RANK + 1).map(|id| usize::try_from(self.int(*id)?).ok()).collect()
        };
        let shape = numbers(*shape).context("its shape is no list of dims")?;
        let strides = numbers(*strides).context("its strides are no list of numbers from 0 on")?;
        ensure!(shape.len() <= MAX_RANK, "{} axes, expected at most {MAX_RANK}", shape.len());
        ensure!(shape.len() == strides.len(), "{} axes and {} strides", shape.len(), strides.len());
        let bytes = bytes_of(&shape, dtype.itemsize());
        ensure!(bytes.is_some(), "shape {shape:?} is larger than memory can be");
        let beyond = || malformed!("a storage larger than a file can be");
        let bytes_at = |items: u64, itemsize: usize| items.checked_mul(itemsize as u64).ok_or_else(beyond);
        let storage_bytes = bytes_at(storage.items, stored.itemsize())?;
        let offset = self.int(*offset).and_then(|offset| u64::try_from(offset).ok()).context("an offset below 0")?;
        let own = bytes_at(offset, dtype.itemsize())?;
        let view = if shape.contains(&0) {
            View::c_order(&shape)
        } else {
            let reach = |end: usize, (dim, stride): (&usize, &usize)| end.checked_add((dim - 1).checked_mul(*stride)?);
            let last = shape.iter().zip(&strides).try_fold(0_usize, reach).and_then(|last| last.checked_add(1));
            let end = last.and_then(|items| own.checked_add((items as u64).checked_mul(dtype.itemsize() as u64)?));
            ensure!(
                end.is_some_and(|end| end <= storage_bytes),
                "shape {shape:?} with strides {strides:?} from item {offset} on ends beyond the {storage_bytes} bytes of \
                 its storage"
            );
            View::strided(shape.iter().copied().zip(strides.iter().map(|stride| *stride as isize)).collect())
        };
        let before = bytes_at(storage.offset, stored.itemsize())?;
        let start = before.checked_add(own).ok_or_else(beyond)?;
        let storage_bytes = before.checked_add(storage_bytes).ok_or_else(beyond)?;
        Ok(StridedTensor { storage: storage.key, meta: Meta::new(dtype, shape), start, storage_bytes, view })
    }

    /// A value that is no tensor, as Python prints it, but for quotes around a text of its own.
    pub(super) fn plain(&self, id: Id) -> Option<String> {
        /// Characters of a text, and values of a list.
        const MOST: usize = 200;
        const LISTED: usize = 8;
        let short = |range: &Range<usize>| {
            let text = self.text(&(range.start..range.end.min(range.start + 4 * MOST)));
            let shown: String = text.chars().take(MOST).collect();
            if shown.len() == range.len() { shown } else { shown + "…" }
        };
        match self.node(id) {
            Node::Bool(value) => Some(if *value { "True" } else { "False" }.to_owned()),
            Node::Int(number) => Some(number.to_string()),
            Node::Float(number) => Some(format!("{number:?}")),
            Node::Text(text) => Some(short(text)),
            Node::Global(module, name) if self.bytes[module.clone()] == *b"torch" => {
                Some(format!("torch.{}", short(name)))
            }
            Node::List(items) | Node::Tuple(items) => {
                let is_scalar =
                    |id: &&Id| matches!(self.node(**id), Node::Bool(_) | Node::Int(_) | Node::Float(_) | Node::Text(_));
                if items.is_empty() || !items.iter().all(|id| is_scalar(&id)) {
                    return None;
                }
                let mut shown: Vec<_> = items.iter().take(LISTED).filter_map(|id| self.plain(*id)).collect();
                if items.len() > LISTED {
                    shown.push(format!("… {} values", items.len()));
                }
                Some(format!("[{}]", shown.join(", ")))
            }
            _ => None,
        }
    }
}

/// A storage that no tensor views.
fn whole(StorageId { key, dtype, items, offset, .. }: StorageId) -> Result<StridedTensor> {
    let dtype = dtype?;
    let shape = vec![usize::try_from(items)?];
    ensure!(bytes_of(&shape, dtype.itemsize()).is_some(), "a storage larger than memory can be");
    let start = offset.checked_mul(dtype.itemsize() as u64).context("a storage larger than a file can be")?;
    let meta = Meta::new(dtype, shape);
    let storage_bytes = start.checked_add(meta.bytes() as u64).context("a storage larger than a file can be")?;
    Ok(StridedTensor { storage: key, view: meta.view(), meta, start, storage_bytes })
}
