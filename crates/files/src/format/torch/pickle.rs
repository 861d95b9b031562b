//! A machine for Python's pickles, protocols 0 to 5, that calls nothing: a class with its arguments becomes a
//! [`Node::Call`]. The opcodes are those of `pickletools.opcodes` in Python's standard library.
//!
//! Nodes refer to one another by number, and texts are ranges of the pickle: so the memory for a pickle is at most
//! some tens of bytes for each of its bytes, whatever it repeats.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::memory;

/// The limit on the values of a pickle, of at most 40 bytes each.
pub(super) const MAX_NODES: usize = 1 << 23;
/// The limit on the values that a pickle has begun and not ended.
pub(super) const MAX_STACK: usize = 1 << 22;
/// The limit on the values that a pickle refers to by number.
pub(super) const MAX_MEMO: usize = 1 << 22;

/// The number of a node.
pub(super) type Id = u32;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// UTF-8, or any bytes of a Python 2 string.
    Text(Range<usize>),
    /// Bytes, integers beyond int64.
    Other(Range<usize>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Set(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A class or a function, by module and name.
    Global(Range<usize>, Range<usize>),
    Persistent(Id),
    Call(Box<Call>),
}

/// An object as its pickle makes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub class: Id,
    /// A tuple.
    pub args: Id,
    pub state: Option<Id>,
    pub items: Vec<Id>,
    pub pairs: Vec<(Id, Id)>,
}

/// The values of a pickle.
#[derive(Clone, Debug)]
pub(super) struct Pickle {
    pub bytes: Vec<u8>,
    pub nodes: Vec<Node>,
    pub root: Id,
    /// The bytes up to its end.
    pub len: usize,
}

impl Pickle {
    /// Reads the pickle with which `bytes` begin.
    ///
    /// # Errors
    /// It is malformed, or longer than `bytes` (of the kind `Io(UnexpectedEof)`).
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self> {
        let mut machine = Machine { bytes: &bytes, ..Machine::default() };
        let root = machine.run().map_err(|error| error.within(format!("pickle, byte {}", machine.began)))?;
        let (nodes, len) = (machine.nodes, machine.at);
        Ok(Self { bytes, nodes, root, len })
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(super) fn text(&self, range: &Range<usize>) -> String {
        String::from_utf8_lossy(&self.bytes[range.clone()]).into_owned()
    }
}

#[derive(Default)]
struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the opcode begins.
    began: usize,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

impl Machine<'_> {
    fn run(&mut self) -> Result<Id> {
        loop {
            self.began = self.at;
            let opcode = self.take(1)?.start;
            if let Some(root) = self.step(self.bytes[opcode])? {
                return Ok(root);
            }
        }
    }

    fn step(&mut self, opcode: u8) -> Result<Option<Id>> {
        match opcode {
            b'.' => return self.pop().map(Some),
            0x80 => {
                let version = self.number(1)?;
                ensure!(version <= 5, "protocol {version}, expected at most 5");
            }
            0x95 => {
                self.number(8)?;
            }
            b'(' => memory::push(&mut self.marks, self.stack.len())?,
            b'0' => {
                self.pop()?;
            }
            b'1' => {
                let mark = self.mark()?;
                self.stack.truncate(mark);
            }
            b'2' => {
                let top = self.top()?;
                self.push_id(top)?;
            }
            b'N' => self.push(Node::None)?,
            0x88 => self.push(Node::Bool(true))?,
            0x89 => self.push(Node::Bool(false))?,
            b'J' => {
                let number = self.number(4)? as u32;
                self.push(Node::Int(i64::from(number.cast_signed())))?;
            }
            b'K' => self.push_unsigned(1)?,
            b'M' => self.push_unsigned(2)?,
            0x8a => self.push_long(1)?,
            0x8b => self.push_long(4)?,
            b'I' | b'L' => self.push_decimal()?,
            b'F' => {
                let line = self.line()?;
                let text = std::str::from_utf8(&self.bytes[line]).ok().and_then(|text| text.parse().ok());
                self.push(Node::Float(text.context("no number")?))?;
            }
            b'G' => {
                let range = self.take(8)?;
                let bytes = self.bytes[range].first_chunk().expect("8 bytes");
                self.push(Node::Float(f64::from_be_bytes(*bytes)))?;
            }
            b'S' | b'V' => {
                let line = self.line()?;
                let quoted = opcode == b'S' && line.len() >= 2;
                self.push(Node::Text(if quoted { line.start + 1..line.end - 1 } else { line }))?;
            }
            b'U' | 0x8c => self.push_counted(1, Node::Text)?,
            b'T' | b'X' => self.push_counted(4, Node::Text)?,
            0x8d => self.push_counted(8, Node::Text)?,
            b'C' => self.push_counted(1, Node::Other)?,
            b'B' => self.push_counted(4, Node::Other)?,
            0x8e | 0x96 => self.push_counted(8, Node::Other)?,
            b']' => self.push(Node::List(Vec::new()))?,
            b'}' => self.push(Node::Dict(Vec::new()))?,
            b')' => self.push(Node::Tuple(Vec::new()))?,
            0x8f => self.push(Node::Set(Vec::new()))?,
            b'l' => self.push_marked(Node::List)?,
            b't' => self.push_marked(Node::Tuple)?,
            0x91 => self.push_marked(Node::Set)?,
            b'd' => {
                let items = self.marked()?;
                let pairs = pairs(&items)?;
                self.push(Node::Dict(pairs))?;
            }
            0x85..=0x87 => {
                let count = usize::from(opcode - 0x84);
                let items = self.above(self.stack.len().checked_sub(count).context("the stack is empty")?)?;
                self.push(Node::Tuple(items))?;
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])?;
            }
            b'e' | 0x90 => {
                let items = self.marked()?;
                self.append(&items)?;
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.set_items(&[(key, value)])?;
            }
            b'u' => {
                let items = self.marked()?;
                self.set_items(&pairs(&items)?)?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Node::Global(module, name))?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Node::Text(module), Node::Text(name)) = (self.get(module), self.get(name)) else {
                    bail!("the name of a class is no text")
                };
                let class = Node::Global(module.clone(), name.clone());
                self.push(class)?;
            }
            b'R' | 0x81 | 0x92 => {
                if opcode == 0x92 {
                    self.pop()?;
                }
                let (args, class) = (self.pop()?, self.pop()?);
                self.call(class, args)?;
            }
            b'i' => {
                let (module, name) = (self.line()?, self.line()?);
                let args = self.marked()?;
                let (class, args) = (self.add(Node::Global(module, name))?, self.add(Node::Tuple(args))?);
                self.call(class, args)?;
            }
            b'o' => {
                let mut args = self.marked()?;
                ensure!(!args.is_empty(), "an object without a class");
                let class = args.remove(0);
                let args = self.add(Node::Tuple(args))?;
                self.call(class, args)?;
            }
            b'b' => {
                let state = self.pop()?;
                let top = self.top()?;
                if let Node::Call(call) = &mut self.nodes[top as usize] {
                    call.state = Some(state);
                }
            }
            b'Q' => {
                let id = self.pop()?;
                self.push(Node::Persistent(id))?;
            }
            b'P' => {
                let line = self.line()?;
                let id = self.add(Node::Text(line))?;
                self.push(Node::Persistent(id))?;
            }
            b'g' | b'h' | b'j' => {
                let key = self.memo_key(opcode)?;
                let id = self.memo.get(&key).copied();
                self.push_id(id.ok_or_else(|| malformed!("value {key} of the memo is missing"))?)?;
            }
            b'p' | b'q' | b'r' => {
                let key = self.memo_key(opcode)?;
                self.memoize(key)?;
            }
            0x94 => self.memoize(self.memo.len() as u64)?,
            _ => bail!("opcode 0x{opcode:02x} is not known"),
        }
        Ok(None)
    }

    fn take(&mut self, bytes: usize) -> Result<Range<usize>> {
        let left = self.bytes.len() - self.at;
        if bytes > left {
            return Err(cut_off());
        }
        let range = self.at..self.at + bytes;
        self.at = range.end;
        Ok(range)
    }

    fn line(&mut self) -> Result<Range<usize>> {
        let end = self.bytes[self.at..].iter().position(|byte| *byte == b'\n');
        let line = self.take(end.ok_or_else(cut_off)?)?;
        self.at += 1;
        Ok(line)
    }

    /// Little-endian, of at most 8 bytes.
    fn number(&mut self, bytes: usize) -> Result<u64> {
        let range = self.take(bytes)?;
        Ok(self.bytes[range].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn memo_key(&mut self, opcode: u8) -> Result<u64> {
        match opcode {
            b'g' | b'p' => {
                let line = self.line()?;
                let text = std::str::from_utf8(&self.bytes[line]).ok();
                text.and_then(|text| text.parse().ok()).context("no number")
            }
            b'h' | b'q' => self.number(1),
            _ => self.number(4),
        }
    }

    fn push_decimal(&mut self) -> Result<()> {
        let line = self.line()?;
        let text = &self.bytes[line.clone()];
        let node = match text {
            b"00" => Node::Bool(false),
            b"01" => Node::Bool(true),
            _ => {
                let text = std::str::from_utf8(text.strip_suffix(b"L").unwrap_or(text)).ok();
                text.and_then(|text| text.parse().ok()).map_or(Node::Other(line), Node::Int)
            }
        };
        self.push(node)
    }

    fn push_unsigned(&mut self, bytes: usize) -> Result<()> {
        let number = self.number(bytes)?;
        self.push(Node::Int(number as i64))
    }

    /// Two's complement, little-endian.
    fn push_long(&mut self, prefix: usize) -> Result<()> {
        let range = self.counted(prefix)?;
        let bytes = &self.bytes[range.clone()];
        if bytes.len() > 8 {
            return self.push(Node::Other(range));
        }
        let sign = if bytes.last().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
        let number = bytes.iter().rev().fold(sign, |number: i64, byte| number << 8 | i64::from(*byte));
        self.push(Node::Int(number))
    }

    fn counted(&mut self, prefix: usize) -> Result<Range<usize>> {
        let bytes = self.number(prefix)?;
        self.take(usize::try_from(bytes)?)
    }

    fn push_counted(&mut self, prefix: usize, node: fn(Range<usize>) -> Node) -> Result<()> {
        let range = self.counted(prefix)?;
        self.push(node(range))
    }

    fn push_marked(&mut self, node: fn(Vec<Id>) -> Node) -> Result<()> {
        let items = self.marked()?;
        self.push(node(items))
    }

    fn get(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    fn add(&mut self, node: Node) -> Result<Id> {
        ensure!(self.nodes.len() < MAX_NODES, "more than {MAX_NODES} values");
        memory::push(&mut self.nodes, node)?;
        Ok((self.nodes.len() - 1) as Id)
    }

    fn push(&mut self, node: Node) -> Result<()> {
        let id = self.add(node)?;
        self.push_id(id)
    }

    fn push_id(&mut self, id: Id) -> Result<()> {
        ensure!(self.stack.len() < MAX_STACK, "more than {MAX_STACK} values on the stack");
        Ok(memory::push(&mut self.stack, id)?)
    }

    /// Nothing below the last mark is popped.
    fn pop(&mut self) -> Result<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let id = (self.stack.len() > floor).then(|| self.stack.pop()).flatten();
        id.context("the stack is empty")
    }

    fn top(&self) -> Result<Id> {
        self.stack.last().copied().context("the stack is empty")
    }

    fn mark(&mut self) -> Result<usize> {
        self.marks.pop().context("a mark is missing")
    }

    fn marked(&mut self) -> Result<Vec<Id>> {
        let mark = self.mark()?;
        self.above(mark)
    }

    fn above(&mut self, from: usize) -> Result<Vec<Id>> {
        ensure!(from >= self.marks.last().copied().unwrap_or(0), "the stack is empty");
        let mut items = memory::with_capacity(self.stack.len() - from)?;
        items.extend(self.stack.drain(from..));
        Ok(items)
    }

    fn append(&mut self, more: &[Id]) -> Result<()> {
        let top = self.top()?;
        let items = match &mut self.nodes[top as usize] {
            Node::List(items) | Node::Set(items) => items,
            Node::Call(call) => &mut call.items,
            _ => bail!("an item for what is no list"),
        };
        Ok(memory::extend(items, more)?)
    }

    fn set_items(&mut self, more: &[(Id, Id)]) -> Result<()> {
        let top = self.top()?;
        let pairs = match &mut self.nodes[top as usize] {
            Node::Dict(pairs) => pairs,
            Node::Call(call) => &mut call.pairs,
            _ => bail!("a key for what is no dictionary"),
        };
        Ok(memory::extend(pairs, more)?)
    }

    fn call(&mut self, class: Id, args: Id) -> Result<()> {
        ensure!(matches!(self.get(args), Node::Tuple(_)), "the arguments of a class are no tuple");
        let call = Call { class, args, state: None, items: Vec::new(), pairs: Vec::new() };
        self.push(Node::Call(Box::new(call)))
    }

    fn memoize(&mut self, key: u64) -> Result<()> {
        let top = self.top()?;
        ensure!(self.memo.len() < MAX_MEMO, "more than {MAX_MEMO} values in the memo");
        self.memo.insert(key, top);
        Ok(())
    }
}

fn cut_off() -> Error {
    Error::from_kind(ErrorKind::Io(io::ErrorKind::UnexpectedEof), "the pickle is cut off")
}

fn pairs(items: &[Id]) -> Result<Vec<(Id, Id)>> {
    let (pairs, rest) = items.as_chunks();
    ensure!(rest.is_empty(), "a key without a value");
    Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
}
