//! The constructors of tensors (`torch/_utils.py`, `torch/_tensor.py`) and of NumPy's arrays, argument by argument. A
//! tensor is not read if an argument is not known, since it could bear on the items.

use std::io;
use std::sync::Arc;

use super::objects::{StridedTensor, makes_tensor, unsupported};
use super::pickle::{Id, Node, Pickle};
use super::walk::Found;
use crate::narrow::units::{Origin, Units};
use crate::storage::read_at::{MemoryBytes, ReadAt};
use crate::storage::source::READ_AT_ONCE;
use tensorop_kernels::error::{Context, Error, Result, malformed};
use tensorop_kernels::item::cast::is_floats;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::layout::axis::bytes_of;
use tensorop_kernels::layout::gather::{GatherRule, gather};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{boxes_of_run, fill_each};
use tensorop_kernels::memory::Buffer;

/// The limit on constructors within one another.
const MAX_WITHIN: usize = 16;

const PARAMETER: &str = "torch.nn.parameter.Parameter";

/// The parameters of each constructor, and how many of the last have defaults. Those with a plus have a state, whose
/// values follow the arguments.
const CONSTRUCTORS: [(&str, &str, usize); 14] = [
    ("torch._utils._rebuild_tensor", "storage offset size stride", 0),
    ("torch._utils._rebuild_tensor_v2", "storage offset size stride requires_grad backward_hooks metadata", 1),
    ("torch._utils._rebuild_tensor_v3", "storage offset size stride requires_grad backward_hooks dtype metadata", 1),
    ("torch._utils._rebuild_parameter", "data requires_grad backward_hooks", 0),
    ("torch._utils._rebuild_parameter_with_state", "data requires_grad backward_hooks state", 0),
    (PARAMETER, "data requires_grad", 1),
    // before version 0.4
    ("torch.nn.parameter.Parameter+", "data requires_grad volatile backward_hooks", 0),
    ("torch._utils._rebuild_device_tensor_from_cpu_tensor", "data to_dtype device requires_grad", 0),
    ("torch._utils._rebuild_device_tensor_from_numpy", "array to_dtype device requires_grad", 0),
    ("torch._utils._rebuild_xla_tensor", "array to_dtype device requires_grad", 0),
    ("torch._tensor._rebuild_from_type_v2", "func new_type args state", 0),
    ("numpy.core.multiarray._reconstruct+", "subtype empty letter version shape dtype is_fortran items", 0),
    ("numpy.core.multiarray.scalar", "dtype items", 0),
    ("numpy.core.numeric._frombuffer", "items dtype shape order", 0),
];

impl Found {
    /// Returns the tensor that a call makes; `None` if it makes another object.
    pub(crate) fn tensor(&mut self, pickle: &Pickle, id: Id) -> Option<Result<StridedTensor>> {
        makes_tensor(&pickle.class_of(id)).then(|| self.call_tensor(pickle, id, MAX_WITHIN))
    }

    fn call_tensor(&mut self, pickle: &Pickle, id: Id, left: usize) -> Result<StridedTensor> {
        match pickle.node(id) {
            Node::Call(call) if call.items.is_empty() => self.made(pickle, (call.class, call.args, call.state), left),
            _ => Err(unsupported("it is made of an unknown object")),
        }
    }

    fn made(&mut self, pickle: &Pickle, call: (Id, Id, Option<Id>), left: usize) -> Result<StridedTensor> {
        let (class, args, state) = call;
        let class = pickle.class(class);
        let args = [pickle.items(args), state.map_or(&[][..], |state| pickle.items(state))].concat();
        let unknown = || unsupported(format!("{class} of {} arguments makes it, which is not read", args.len()));
        let left = left.checked_sub(1).ok_or_else(unknown)?;
        // NumPy 2 has another name for the module
        let key = class.replacen("numpy._core.", "numpy.core.", 1) + state.map_or("", |_| "+");
        let (_, names, defaults) = CONSTRUCTORS.iter().find(|(name, ..)| *name == key).ok_or_else(unknown)?;
        let names: Vec<_> = names.split(' ').collect();
        if !(names.len() - defaults..=names.len()).contains(&args.len()) {
            return Err(unknown());
        }
        let get = |name: &str| names.iter().position(|own| *own == name).and_then(|n| args.get(n)).copied();
        let mut tensor = match (names[0], get("items"), get("dtype")) {
            ("data" | "array", ..) => self.call_tensor(pickle, args[0], left)?,
            ("func", ..) => self.made(pickle, (args[0], args[2], None), left)?,
            (_, Some(items), Some(dtype)) => {
                self.array(pickle, [items, dtype], [get("shape"), get("is_fortran").or(get("order"))])?
            }
            (.., dtype) => self.placed(pickle.tensor(&args, dtype)?),
        };
        for (name, id) in names.iter().zip(&args) {
            if !self.is_known(pickle, name, *id, &mut tensor)? {
                let value = pickle.repr(*id).unwrap_or_else(|| pickle.class_of(*id));
                return Err(unsupported(format!("its {name} {value} is not known")));
            }
        }
        Ok(tensor)
    }

    /// Whether the meaning of an argument is known.
    fn is_known(&mut self, pickle: &Pickle, name: &str, id: Id, tensor: &mut StridedTensor) -> Result<bool> {
        let is_array = tensor.held.is_some();
        // already read, for the view or the array
        if ["storage", "offset", "size", "stride", "shape", "dtype", "items", "args", "volatile"].contains(&name) {
            return Ok(true);
        }
        Ok(match (name, &*pickle.repr(id).unwrap_or_default()) {
            ("requires_grad" | "is_fortran", "False") | ("is_fortran", "True") | ("order", "'C'" | "'F'") => true,
            ("backward_hooks", "None" | "collections.OrderedDict()" | "collections.OrderedDict([],)") => true,
            ("new_type", "torch.Tensor" | PARAMETER) | ("subtype", "numpy.ndarray") | ("empty", "(0,)") => true,
            ("letter", "b'b'" | "'b'") | ("version", "1") | ("state" | "metadata", "None" | "{}") => true,
            ("requires_grad", "True") => is_floats(&tensor.dtype),
            ("metadata", bits) => tensor.set_bits(bits),
            ("data" | "func", _) => !is_array,
            ("array", _) => is_array && !pickle.class_of(id).ends_with("scalar"),
            ("to_dtype", dtype) => dtype.strip_prefix("torch.") == Some(&*tensor.dtype.native().name()),
            ("device", device) => device.starts_with('\'') && device != "'meta'",
            ("state", _) => {
                // torch sets the items by these attributes
                let is_items = |name| ["data", "real", "imag"].iter().any(|own| pickle.is_text(name, own));
                let is_known = |[name, _]: &[Id; 2]| matches!(pickle.node(*name), Node::Text(_)) && !is_items(*name);
                let Node::Dict(attributes) = pickle.node(id) else { return Ok(false) };
                attributes.as_chunks().0.iter().all(is_known) && !self.holds_tensor(pickle, id)?
            }
            _ => false,
        })
    }
}

impl StridedTensor {
    /// Applies the bits that a view was saved with. Returns whether they are known.
    fn set_bits(&mut self, bits: &str) -> bool {
        let parts = match self.dtype.kind() {
            Kind::Complex64 | Kind::Complex128 => 2,
            Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64 => 1,
            _ => return false,
        };
        let negated = match (bits, parts) {
            ("{'neg': True}", _) => [true, true],
            ("{'conj': True}", 2) => [false, true],
            ("{'conj': True, 'neg': True}" | "{'neg': True, 'conj': True}", 2) => [true, false],
            _ => return false,
        };
        let size = self.dtype.itemsize() / parts;
        let sign = if self.dtype.is_big_endian() { 0 } else { size - 1 };
        let mask = |at: usize| if at % size == sign && negated[at / size] { 0x80 } else { 0 };
        self.mask = (0..self.dtype.itemsize()).map(mask).collect();
        true
    }
}

/// Items whose order in storage is neither C nor Fortran order, or whose signs differ, read by position as if they were
/// stored in C order.
#[derive(Debug)]
pub(crate) struct StridedItems {
    pub bytes: Arc<dyn ReadAt>,
    /// Where the view begins.
    pub start: u64,
    pub view: View,
    pub itemsize: usize,
    /// The bits of each item that differ from the stored ones; empty if none does.
    pub mask: Vec<u8>,
}

impl Units for StridedItems {
    fn origin(&self) -> Origin<'_> {
        Origin::Bytes(&self.bytes)
    }

    fn unit(&self) -> usize {
        self.itemsize
    }

    fn size(&self) -> io::Result<u64> {
        Ok((self.view.items() * self.itemsize) as u64)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        let (itemsize, mut scratch) = (self.itemsize, Buffer::default());
        let boxes = boxes_of_run(&self.view.shape(), first, first + out.len() / itemsize);
        fill_each(&boxes, itemsize, out, |window, items| {
            let view = self.view.part(&window.ranges);
            let read = |bytes: &mut [u8], at: u64| self.bytes.read_at(bytes, self.start + at).map_err(Error::from);
            gather(&view, itemsize, items, &mut scratch, GatherRule::of(READ_AT_ONCE), read)
        })?;
        out.iter_mut().zip(self.mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        Ok(())
    }
}

impl Found {
    /// Returns an array, or a scalar without a shape, with its items in memory. All arrays have no more bytes than
    /// the pickle, since each of its texts is held once.
    pub(crate) fn array(
        &mut self,
        pickle: &Pickle,
        [items, dtype]: [Id; 2],
        [shape, order]: [Option<Id>; 2],
    ) -> Result<StridedTensor> {
        let dtype = pickle.array_dtype(dtype).ok_or_else(|| unsupported("its dtype of NumPy is not known"))?;
        let shape = shape.map_or_else(|| Ok(Vec::new()), |shape| pickle.shape(shape))?;
        let size = bytes_of(&shape, dtype.itemsize()).context("its shape is larger than memory can be")?;
        let no_items = || malformed!("its items are not {size} bytes");
        let node = pickle.byte_node(items).ok_or_else(no_items)?;
        let decode = || Some(Arc::new(MemoryBytes::new(pickle.byte_string(node, usize::MAX)?)));
        let held = self.held.entry(node).or_insert_with(decode).clone();
        let held = held.filter(|held| held.size().is_ok_and(|bytes| bytes == size as u64)).ok_or_else(no_items)?;
        let is_fortran =
            order.is_some_and(|order| *pickle.node(order) == Node::Bool(true) || pickle.is_text(order, "F"));
        let is_fortran = is_fortran && size > 0;
        Ok(StridedTensor {
            storage: String::new(),
            held: Some(held),
            dtype,
            is_swapped: false,
            mask: Vec::new(),
            start: 0,
            storage_bytes: size as u64,
            view: if is_fortran { View::fortran_order(&shape) } else { View::c_order(&shape) },
        })
    }
}

impl Pickle {
    /// Returns the dtype of `numpy.dtype('f8', False, True)` with the state of `arraydescr_reduce`.
    fn array_dtype(&self, id: Id) -> Option<DType> {
        let text = self.repr(id)?.replace(")(", ", ");
        let parts: Vec<_> = text.split(", ").map(|part| part.trim_end_matches(')')).collect();
        let (plain, unit) = parts.split_at_checked(11)?;
        let &[kind, "False" | "0", "True" | "1", "3" | "4", order, "None", "None", "None", size, alignment, "0" | "8"] =
            plain
        else {
            return None;
        };
        let order = ["'<'", "'>'", "'|'"].into_iter().find(|known| *known == order)?;
        let unit = match unit {
            [] | [_, "(b'generic'", "1", "1", "1"] => String::new(),
            ["(None" | "({}", unit, count, "1", "1"] => format!("[{count}{}]", unit.strip_prefix("(b")?),
            _ => return None,
        };
        let kind = kind.strip_prefix("numpy.dtype(")?;
        let dtype = DType::parse(&[order, kind, &unit].concat().replace('\'', "")).ok()?;
        let (stated, _) = (size.parse::<i64>().ok()?, alignment.parse::<i64>().ok()?);
        let size = match dtype.kind() {
            // NumPy has no such types
            Kind::BFloat16 | Kind::Narrow(_) => return None,
            Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) => dtype.itemsize() as i64,
            _ => -1,
        };
        (stated == size).then_some(dtype)
    }
}
