//! Finds the tensors of a pickle: those in dictionaries, lists and modules, under the keys on the way to them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::objects::{StridedTensor, makes_tensor, unsupported};
use super::pickle::{Call, Id, Node, Pickle};
use crate::container::member_list::{MemberList, ModelFacts};
use crate::narrow::units::needs_swap;
use crate::storage::read_at::MemoryBytes;
use tensorop_kernels::error::{Result, ensure};
use tensorop_kernels::memory;

/// The limit on containers within one another.
const MAX_DEPTH: usize = 256;
/// The limit on values that are looked at. Shared ones count each time, because a short pickle can repeat a list of
/// lists of lists.
const MAX_VISITS: usize = 1 << 22;
/// The bytes of a path or a value, and the items of a list, that take as long as a value.
const TRIFLES: usize = 64;
/// The values that take as much memory as a tensor.
const TENSOR: usize = 8;

/// The name of a tensor that is no member of a container.
const ALONE: &str = "tensor";

/// The content of a file's pickles.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The tensors, or why they are not read.
    pub tensors: MemberList<Result<StridedTensor>>,
    /// Plain values by their paths.
    pub facts: ModelFacts,
    /// The names of unknown classes.
    pub classes: BTreeSet<String>,
    pub is_big_endian: bool,
    visits: usize,
    path: String,
    /// The path of a storage without its key.
    folder: String,
    /// The bytes of arrays, by their nodes; `None` if a text is not Latin-1.
    pub(crate) held: HashMap<Id, Option<Arc<MemoryBytes>>>,
    /// The containers on the way, since a container may hold itself.
    within: HashSet<Id>,
}

impl Found {
    /// Adds the content of a pickle, with `prefix` before the names and `folder` before the keys of storages.
    pub(crate) fn add(&mut self, pickle: &Pickle, prefix: &str, folder: &str) -> Result<()> {
        (self.path, self.folder) = (prefix.to_owned(), folder.to_owned());
        self.held.clear();
        self.value(pickle, pickle.root, true)
    }

    fn push(&mut self, tensor: Result<StridedTensor>) -> Result<()> {
        self.visit(TENSOR)?;
        let name = if self.path.is_empty() { ALONE } else { &self.path };
        self.tensors.add(name.to_owned(), tensor)
    }

    /// Gives a tensor the path and the byte order of its storage.
    pub(crate) fn placed(&self, mut tensor: StridedTensor) -> StridedTensor {
        tensor.storage.insert_str(0, &self.folder);
        tensor.is_swapped = self.is_big_endian && needs_swap(&tensor.dtype);
        if self.is_big_endian {
            tensor.dtype = tensor.dtype.big_endian();
        }
        tensor
    }

    fn visit(&mut self, cost: usize) -> Result<()> {
        self.visits += cost;
        ensure!(self.visits <= MAX_VISITS, "more than {MAX_VISITS} values, if shared ones are counted each time");
        Ok(())
    }

    /// Modules have attributes that say nothing about their weights, so only `facts` elsewhere are kept.
    fn value(&mut self, pickle: &Pickle, id: Id, facts: bool) -> Result<()> {
        self.visit(1 + (self.path.len() + pickle.items(id).len()) / TRIFLES)?;
        if !self.within.insert(id) {
            return Ok(());
        }
        ensure!(self.within.len() <= MAX_DEPTH, "more than {MAX_DEPTH} containers within one another");
        let is_fact = match pickle.node(id) {
            Node::Huge(_) | Node::Bytes(_) => true,
            Node::Call(_) => pickle.byte_node(id).is_some(),
            // also a list of plain values, which is one value
            _ => pickle.plain(id).is_some(),
        };
        match pickle.node(id) {
            _ if is_fact && !self.path.is_empty() && !facts => {}
            _ if is_fact && !self.path.is_empty() => {
                let mut hash = Sha256::new();
                self.visit(pickle.exact(id, &mut hash) / TRIFLES)?;
                self.facts.keep(&self.path, &pickle.fact(id).unwrap_or_default(), &hash.finalize());
            }
            Node::Call(call) => self.call(pickle, id, call, facts)?,
            Node::Persistent(_) => self.push(pickle.whole(id).map(|tensor| self.placed(tensor)))?,
            Node::Dict(items) => self.pairs(pickle, items, &[], facts)?,
            Node::List(items) | Node::Tuple(items) => {
                for (n, item) in items.iter().enumerate() {
                    self.child(pickle, &n.to_string(), *item, facts)?;
                }
            }
            Node::Global(..) => _ = self.classes.insert(pickle.class(id)),
            _ => {}
        }
        self.within.remove(&id);
        Ok(())
    }

    /// The classes are those that `torch.load(weights_only=True)` constructs (`torch/_weights_only_unpickler.py`), and
    /// modules.
    fn call(&mut self, pickle: &Pickle, id: Id, call: &Call, facts: bool) -> Result<()> {
        if let Some(tensor) = self.tensor(pickle, id) {
            return self.push(tensor);
        }
        if let Some(([parameters, buffers, modules], left_out)) = pickle.module_state(call) {
            self.value(pickle, parameters, false)?;
            self.pairs(pickle, &pickle.pairs(buffers), left_out, false)?;
            return self.value(pickle, modules, false);
        }
        let (class, args) = (pickle.class(call.class), pickle.items(call.args));
        let (module, name) = class.rsplit_once('.').unwrap_or_default();
        match (module, name, args) {
            ("torch.jit._pickle", _, [object, ..])
            | ("torch", "Size", [object])
            | ("builtins" | "__builtin__", "set" | "frozenset" | "list", [object]) => {
                self.value(pickle, *object, facts)
            }
            ("collections", "OrderedDict" | "Counter" | "defaultdict", _) => {
                self.pairs(pickle, &pickle.pairs(id), &[], facts)
            }
            // of TorchScript: the attributes become names of a `state_dict`
            _ if module.starts_with("__torch__") => call.state.map_or(Ok(()), |state| self.value(pickle, state, false)),
            _ => {
                if self.holds_tensor(pickle, id)? {
                    self.push(Err(unsupported(format!(
                        "it is in an object of the class {class}, which is not known"
                    ))))?;
                }
                self.classes.insert(class);
                Ok(())
            }
        }
    }

    fn child(&mut self, pickle: &Pickle, key: &str, id: Id, facts: bool) -> Result<()> {
        let len = self.path.len();
        if len > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        self.value(pickle, id, facts)?;
        self.path.truncate(len);
        Ok(())
    }

    /// A key without a short `repr` is numbered.
    fn pairs(&mut self, pickle: &Pickle, items: &[Id], left_out: &[Id], facts: bool) -> Result<()> {
        let mut names = HashSet::new();
        for name in left_out.iter().filter_map(|name| pickle.key(*name)) {
            self.visit(1 + name.len() / TRIFLES)?;
            names.insert(name);
        }
        for (n, [key, value]) in items.as_chunks().0.iter().enumerate() {
            let key = pickle.key(*key).unwrap_or_else(|| n.to_string());
            if !names.contains(&key) {
                self.child(pickle, &key, *value, facts)?;
            }
        }
        Ok(())
    }

    pub(crate) fn holds_tensor(&mut self, pickle: &Pickle, id: Id) -> Result<bool> {
        let (mut left, mut seen) = (vec![id], HashSet::new());
        while let Some(id) = left.pop() {
            if !seen.insert(id) {
                continue;
            }
            self.visit(1)?;
            match pickle.node(id) {
                Node::Persistent(_) => return Ok(true),
                Node::List(items) | Node::Tuple(items) | Node::Dict(items) => memory::extend(&mut left, items)?,
                Node::Call(call) if makes_tensor(&pickle.class(call.class)) => return Ok(true),
                Node::Call(call) => {
                    left.extend([call.args].into_iter().chain(call.state));
                    memory::extend(&mut left, &call.items)?;
                }
                _ => {}
            }
        }
        Ok(false)
    }
}
