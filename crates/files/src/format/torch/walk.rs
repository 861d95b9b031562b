//! Finds the tensors of a pickle: those in dictionaries, lists and modules, under the keys on the way to them.

use std::collections::{BTreeSet, HashSet};

use super::objects::{Object, StridedTensor, unsupported};
use super::pickle::{Id, Node, Pickle};
use crate::error::{Result, ensure};
use crate::memory;
use crate::storage::source::Metadata;

/// The limit on tensors.
pub(super) const MAX_MEMBERS: usize = 1 << 18;
/// The limit on the bytes of all names.
pub(super) const MAX_NAMES: usize = 1 << 27;
/// The limit on containers within one another.
pub(super) const MAX_DEPTH: usize = 256;
/// The limit on values that are looked at. Shared ones count each time, because a short pickle can repeat a list of
/// lists of lists.
const MAX_VISITS: usize = 1 << 21;
/// The limit on plain values that are kept.
const MAX_FACTS: usize = 1 << 10;

/// The name of a tensor that is no member of a container.
const ALONE: &str = "tensor";

/// The content of a file's pickles.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Several tensors may have one name.
    pub names: Vec<String>,
    /// The tensors, or why they are not read.
    pub tensors: Vec<Result<StridedTensor>>,
    /// Plain values by their paths.
    pub facts: Metadata,
    /// The names of unknown classes.
    pub classes: BTreeSet<String>,
    name_bytes: usize,
    visits: usize,
}

impl Found {
    /// Adds the content of a pickle, with `prefix` before the names.
    pub(super) fn add(&mut self, pickle: &Pickle, prefix: &str) -> Result<()> {
        let mut walk = Walk { pickle, found: self, path: prefix.to_owned(), within: HashSet::new() };
        walk.value(pickle.root, true)
    }

    fn push(&mut self, path: &str, tensor: Result<StridedTensor>) -> Result<()> {
        ensure!(self.names.len() < MAX_MEMBERS, "more than {MAX_MEMBERS} tensors");
        self.name_bytes += path.len();
        ensure!(self.name_bytes <= MAX_NAMES, "names of more than {MAX_NAMES} bytes");
        let name = if path.is_empty() { ALONE } else { path };
        memory::push(&mut self.names, name.to_owned())?;
        Ok(memory::push(&mut self.tensors, tensor)?)
    }

    fn visit(&mut self, cost: usize) -> Result<()> {
        self.visits += cost;
        ensure!(self.visits <= MAX_VISITS, "more than {MAX_VISITS} values, if shared ones are counted each time");
        Ok(())
    }
}

struct Walk<'a> {
    pickle: &'a Pickle,
    found: &'a mut Found,
    path: String,
    /// The containers on the way, since a container may hold itself.
    within: HashSet<Id>,
}

impl<'a> Walk<'a> {
    /// Modules have attributes that say nothing about their weights, so only `facts` elsewhere are kept.
    fn value(&mut self, id: Id, facts: bool) -> Result<()> {
        self.found.visit(1)?;
        if self.within.contains(&id) {
            return Ok(());
        }
        ensure!(self.within.len() < MAX_DEPTH, "more than {MAX_DEPTH} containers within one another");
        self.within.insert(id);
        let walked = self.within(id, facts);
        self.within.remove(&id);
        walked
    }

    fn within(&mut self, id: Id, facts: bool) -> Result<()> {
        let pickle = self.pickle;
        if let Some(attributes) = pickle.module_state(id) {
            return attributes.into_iter().try_for_each(|attribute| self.value(attribute, false));
        }
        match pickle.object(id) {
            Some(Object::Tensor(tensor)) => return self.found.push(&self.path, tensor),
            Some(Object::Pairs(pairs)) => return self.pairs(pairs, facts),
            Some(Object::Items(items)) => return self.items(items, facts),
            Some(Object::Lists(lists)) => {
                let pairs = lists.iter().filter_map(|list| <[Id; 2]>::try_from(pickle.items(*list)?).ok());
                return self.pairs(&pairs.map(|[key, value]| (key, value)).collect::<Vec<_>>(), facts);
            }
            Some(Object::Same(other)) => return self.value(other, facts),
            Some(Object::Script(state)) => return self.value(state, false),
            Some(Object::Unknown(class)) => {
                if self.holds_tensor(id)? {
                    let why = unsupported(format!("it is in an object of the class {class}, which is not known"));
                    self.found.push(&self.path, Err(why))?;
                }
                self.found.classes.insert(class);
                return Ok(());
            }
            None => {}
        }
        let is_kept = facts && self.found.facts.len() < MAX_FACTS && !self.path.is_empty();
        if is_kept && let Some(value) = pickle.plain(id) {
            self.found.facts.insert(self.path.clone(), value);
            return Ok(());
        }
        match pickle.node(id) {
            Node::Dict(pairs) => self.pairs(pairs, facts),
            Node::List(items) | Node::Tuple(items) | Node::Set(items) => self.items(items, facts),
            Node::Global(..) => {
                self.found.classes.extend(pickle.class(id).map(|(module, name)| format!("{module}.{name}")));
                Ok(())
            }
            Node::None | Node::Bool(_) | Node::Int(_) | Node::Float(_) | Node::Text(_) | Node::Other(_) => Ok(()),
            Node::Persistent(_) | Node::Call(_) => Ok(()),
        }
    }

    fn child(&mut self, key: &str, id: Id, facts: bool) -> Result<()> {
        /// Bytes whose copy takes as long as a look at a value.
        const COPIED: usize = 64;
        self.found.visit(key.len() / COPIED)?;
        let len = self.path.len();
        if len > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        let walked = self.value(id, facts);
        self.path.truncate(len);
        walked
    }

    /// A key that is no text or number is numbered.
    fn pairs(&mut self, pairs: &[(Id, Id)], facts: bool) -> Result<()> {
        pairs.iter().enumerate().try_for_each(|(n, (key, value))| {
            let key = self.pickle.key(*key).unwrap_or_else(|| n.to_string());
            self.child(&key, *value, facts)
        })
    }

    fn items(&mut self, items: &'a [Id], facts: bool) -> Result<()> {
        items.iter().enumerate().try_for_each(|(n, item)| self.child(&n.to_string(), *item, facts))
    }

    fn holds_tensor(&mut self, id: Id) -> Result<bool> {
        let (mut left, mut seen) = (vec![id], HashSet::new());
        while let Some(id) = left.pop() {
            if !seen.insert(id) {
                continue;
            }
            self.found.visit(1)?;
            match self.pickle.node(id) {
                Node::Persistent(_) => return Ok(true),
                Node::List(items) | Node::Tuple(items) | Node::Set(items) => memory::extend(&mut left, items)?,
                Node::Dict(pairs) => pairs.iter().for_each(|(key, value)| left.extend([*key, *value])),
                Node::Call(call) => {
                    left.extend([call.args].into_iter().chain(call.state));
                    memory::extend(&mut left, &call.items)?;
                    call.pairs.iter().for_each(|(key, value)| left.extend([*key, *value]));
                }
                Node::None | Node::Bool(_) | Node::Int(_) | Node::Float(_) => {}
                Node::Text(_) | Node::Other(_) | Node::Global(..) => {}
            }
        }
        Ok(false)
    }
}
