//! NumPy's arrays and scalars, whose items are in the pickle.

use std::sync::Arc;

use super::objects::{StridedTensor, unsupported};
use super::pickle::{Id, Node, Pickle};
use super::walk::Found;
use crate::error::{Context, Result, malformed};
use crate::item::dtype::{DType, Kind};
use crate::layout::shape::bytes_of;
use crate::layout::view::View;
use crate::storage::read_at::{MemoryBytes, ReadAt};

impl Found {
    /// Returns an array, or a scalar without a shape, with its items in memory. All arrays have no more bytes than
    /// the pickle, since each of its texts is held once.
    pub(super) fn array(
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
