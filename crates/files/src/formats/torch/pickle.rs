//! A machine for Python's pickles, protocols 0 to 5, that calls nothing: a class with its arguments becomes a
//! [`Node::Call`]. The opcodes are those of `pickletools.opcodes` that Python 3 writes, and those of Python 2 from protocol
//! 2 on.
//!
//! Nodes refer to one another by number, and texts are ranges of the pickle: so the memory for a pickle is at most
//! some tens of bytes for each of its bytes, whatever it repeats.

use std::collections::HashMap;
use std::ops::Range;
use std::str;

use tensorop_kernels::error::{Context, Result, bail, ensure, malformed};
use tensorop_kernels::memory;

/// Python's newest protocol of pickles.
const MAX_PROTOCOL: u64 = 5;

/// The limit on the values of a pickle, of at most 40 bytes each.
const MAX_NODES: usize = 1 << 23;
/// The limit on the values that a pickle refers to by number.
const MAX_MEMO: usize = 1 << 22;
/// The limit on values that a pickle has begun and not ended.
pub(crate) const MAX_MARKS: usize = 1 << 16;

/// The number of a node.
pub(crate) type Id = u32;

#[derive(Debug, PartialEq)]
pub(crate) enum Node {
    None,
    /// A malformed number.
    Other,
    Bool(bool),
    Int(i64),
    /// Beyond int64.
    Long(Box<i128>),
    /// An integer of more than 16 bytes, little-endian.
    Huge(Range<usize>),
    Float(f64),
    /// UTF-8, or any bytes of a Python 2 string.
    Text(Range<usize>),
    Bytes(Range<usize>),
    /// Also a set.
    List(Vec<Id>),
    Tuple(Vec<Id>),
    /// Keys and values in turn.
    Dict(Vec<Id>),
    /// A class or a function, by module and name.
    Global(Range<usize>, Range<usize>),
    Persistent(Id),
    Call(Box<Call>),
}

impl Node {
    fn integer(number: i128) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Long(number.into()), Self::Int)
    }
}

/// An object as its pickle makes it.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    pub class: Id,
    /// A tuple.
    pub args: Id,
    pub state: Option<Id>,
    /// Those of a list, or keys and values in turn.
    pub items: Vec<Id>,
}

/// The values of a pickle.
#[derive(Debug)]
pub(crate) struct Pickle {
    /// Ends with the texts of protocol 0.
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
    /// It is malformed, or longer than `bytes`.
    pub(crate) fn read(mut bytes: Vec<u8>) -> Result<Self> {
        let (stack, texts) = (vec![Vec::new()], Vec::new());
        let mut machine = Unpickler { bytes: &bytes, at: 0, texts, nodes: Vec::new(), stack, memo: HashMap::new() };
        loop {
            let began = machine.at;
            let root = machine.step().map_err(|error| error.within(format!("pickle, byte {began}")))?;
            if let Some(root) = root {
                let Unpickler { nodes, at: len, texts, .. } = machine;
                memory::extend(&mut bytes, &texts)?;
                return Ok(Self { bytes, nodes, root, len });
            }
        }
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn text(&self, range: &Range<usize>) -> String {
        String::from_utf8_lossy(&self.bytes[range.clone()]).into_owned()
    }
}

struct Unpickler<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Texts without the escapes that they have in the pickle, whose ranges begin after it.
    texts: Vec<u8>,
    nodes: Vec<Node>,
    /// The values since each mark, after those before the first.
    stack: Vec<Vec<Id>>,
    memo: HashMap<u64, Id>,
}

impl<'a> Unpickler<'a> {
    /// Returns the value of the pickle at its end.
    fn step(&mut self) -> Result<Option<Id>> {
        let opcode = self.number(1)? as u8;
        match opcode {
            b'.' => return self.pop().map(Some),
            // the protocol
            0x80 => {
                let protocol = self.number(1)?;
                ensure!(protocol <= MAX_PROTOCOL, "a pickle of protocol {protocol}, expected at most {MAX_PROTOCOL}");
            }
            // the length of a frame
            0x95 => _ = self.take(8)?,
            b'(' => {
                ensure!(self.stack.len() <= MAX_MARKS, "more than {MAX_MARKS} marks");
                self.stack.push(Vec::new());
            }
            b'0' => _ = self.pop()?,
            b'1' => _ = self.marked()?,
            b'a' | b's' | b'e' | 0x90 | b'u' => {
                let items = match opcode {
                    b'a' => self.last(1)?,
                    b's' => self.last(2)?,
                    b'u' => self.marked_pairs()?,
                    _ => self.marked()?,
                };
                let top = self.top()?;
                let to = match &mut self.nodes[top as usize] {
                    Node::List(to) | Node::Dict(to) => to,
                    Node::Call(call) => &mut call.items,
                    _ => bail!("an item for a value that is not a container"),
                };
                memory::extend(to, &items)?;
            }
            b'b' => {
                let (state, top) = (self.pop()?, self.top()?);
                if let Node::Call(call) = &mut self.nodes[top as usize] {
                    call.state = Some(state);
                }
            }
            b'h' | b'j' | b'g' => {
                let key = self.memo_key(opcode)?;
                let id = self.memo.get(&key).copied();
                self.push(id.ok_or_else(|| malformed!("value {key} of the memo is missing"))?)?;
            }
            b'q' | b'r' | b'p' | 0x94 => {
                let key = self.memo_key(opcode)?;
                ensure!(self.memo.len() < MAX_MEMO, "more than {MAX_MEMO} values in the memo");
                let top = self.top()?;
                self.memo.insert(key, top);
            }
            _ => {
                let node = self.value(opcode)?;
                let id = self.add(node)?;
                self.push(id)?;
            }
        }
        Ok(None)
    }

    /// Returns the value that an opcode pushes.
    fn value(&mut self, opcode: u8) -> Result<Node> {
        Ok(match opcode {
            b'N' => Node::None,
            0x88 | 0x89 => Node::Bool(opcode == 0x88),
            b'J' => Node::Int((self.number(4)? as u32).cast_signed().into()),
            b'K' => Node::Int(self.number(1)? as i64),
            b'M' => Node::Int(self.number(2)? as i64),
            0x8a => self.long(1)?,
            0x8b => self.long(4)?,
            b'I' | b'L' => match self.printed()? {
                "00" => Node::Bool(false),
                "01" => Node::Bool(true),
                digits => digits.trim_end_matches('L').parse().map_or(Node::Other, Node::integer),
            },
            b'F' => self.printed()?.parse().map_or(Node::Other, Node::Float),
            b'G' => Node::Float(f64::from_bits(self.number(8)?.swap_bytes())),
            b'U' | 0x8c => Node::Text(self.counted(1)?),
            b'T' | b'X' => Node::Text(self.counted(4)?),
            0x8d => Node::Text(self.counted(8)?),
            b'V' => Node::Text(self.unescaped()?),
            b'C' => Node::Bytes(self.counted(1)?),
            b'B' => Node::Bytes(self.counted(4)?),
            0x8e | 0x96 => Node::Bytes(self.counted(8)?),
            b']' | 0x8f => Node::List(Vec::new()),
            b'l' | 0x91 => Node::List(self.marked()?),
            b'}' => Node::Dict(Vec::new()),
            b'd' => Node::Dict(self.marked_pairs()?),
            b')' => Node::Tuple(Vec::new()),
            b't' => Node::Tuple(self.marked()?),
            0x85..=0x87 => Node::Tuple(self.last(usize::from(opcode - 0x84))?),
            b'c' => Node::Global(self.line()?, self.line()?),
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match [module, name].map(|id| &self.nodes[id as usize]) {
                    [Node::Text(module), Node::Text(name)] => Node::Global(module.clone(), name.clone()),
                    _ => bail!("the name of a class is not text"),
                }
            }
            b'Q' => Node::Persistent(self.pop()?),
            b'P' => {
                let text = Node::Text(self.line()?);
                Node::Persistent(self.add(text)?)
            }
            b'R' | 0x81 | 0x92 | b'o' => {
                let args = match opcode {
                    b'o' => {
                        let mut args = self.marked()?;
                        ensure!(!args.is_empty(), "an object without a class");
                        self.push(args.remove(0))?;
                        self.add(Node::Tuple(args))?
                    }
                    // keyword arguments follow, which the known classes do not have
                    0x92 => self.last(2).and_then(|both| self.add(Node::Tuple(both)))?,
                    _ => self.pop()?,
                };
                ensure!(matches!(self.nodes[args as usize], Node::Tuple(_)), "the arguments of a class are no tuple");
                Node::Call(Box::new(Call { class: self.pop()?, args, state: None, items: Vec::new() }))
            }
            _ => bail!("opcode 0x{opcode:02x} is not known"),
        })
    }

    fn memo_key(&mut self, opcode: u8) -> Result<u64> {
        match opcode {
            b'h' | b'q' => self.number(1),
            b'j' | b'r' => self.number(4),
            b'g' | b'p' => self.printed()?.parse().ok().context("the number of a value is malformed"),
            _ => Ok(self.memo.len() as u64),
        }
    }

    /// Reads a line of Latin-1. Other characters, backslashes and line breaks are written as `\u000a` or `\U0001f600`.
    fn unescaped(&mut self) -> Result<Range<usize>> {
        let line: String = self.line().map(|line| self.bytes[line].iter().copied().map(char::from).collect())?;
        let (begin, mut parts) = (self.bytes.len() + self.texts.len(), line.split('\\'));
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (code, after) = part.split_at_checked(if part.starts_with('U') { 9 } else { 5 }).unwrap_or_default();
            let code = code.get(1..).and_then(|digits| u32::from_str_radix(digits, 16).ok());
            text.push(code.and_then(char::from_u32).context("an escape in a text is malformed")?);
            text.push_str(after);
        }
        memory::extend(&mut self.texts, text.as_bytes())?;
        Ok(begin..begin + text.len())
    }

    fn take(&mut self, bytes: usize) -> Result<Range<usize>> {
        ensure!(bytes <= self.bytes.len() - self.at, "the pickle is cut off");
        let range = self.at..self.at + bytes;
        self.at = range.end;
        Ok(range)
    }

    fn line(&mut self) -> Result<Range<usize>> {
        let rest = &self.bytes[self.at..];
        let line = self.take(rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()))?;
        self.take(1)?;
        Ok(line)
    }

    /// Little-endian, of at most 8 bytes.
    fn number(&mut self, bytes: usize) -> Result<u64> {
        let range = self.take(bytes)?;
        Ok(self.bytes[range].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Returns a line of protocol 0 or 1; empty if it is not UTF-8.
    fn printed(&mut self) -> Result<&'a str> {
        self.line().map(|line| str::from_utf8(&self.bytes[line]).unwrap_or_default())
    }

    fn counted(&mut self, prefix: usize) -> Result<Range<usize>> {
        let bytes = self.number(prefix)?;
        self.take(usize::try_from(bytes)?)
    }

    /// Two's complement, little-endian.
    fn long(&mut self, prefix: usize) -> Result<Node> {
        let range = self.counted(prefix)?;
        if range.len() > 16 {
            return Ok(Node::Huge(range));
        }
        let bytes = &self.bytes[range];
        let sign = if bytes.last().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
        Ok(Node::integer(bytes.iter().rev().fold(sign, |number, byte| number << 8 | i128::from(*byte))))
    }

    fn add(&mut self, node: Node) -> Result<Id> {
        ensure!(self.nodes.len() < MAX_NODES, "more than {MAX_NODES} values");
        memory::push(&mut self.nodes, node)?;
        Ok((self.nodes.len() - 1) as Id)
    }

    fn values(&mut self) -> &mut Vec<Id> {
        self.stack.last_mut().expect("the values before the first mark stay")
    }

    fn push(&mut self, id: Id) -> Result<()> {
        Ok(memory::push(self.values(), id)?)
    }

    fn pop(&mut self) -> Result<Id> {
        self.values().pop().context("the stack is empty")
    }

    fn top(&mut self) -> Result<Id> {
        self.values().last().copied().context("the stack is empty")
    }

    fn last(&mut self, count: usize) -> Result<Vec<Id>> {
        let values = self.values();
        let from = values.len().checked_sub(count).context("the stack is empty")?;
        Ok(values.split_off(from))
    }

    fn marked_pairs(&mut self) -> Result<Vec<Id>> {
        let items = self.marked()?;
        ensure!(items.len().is_multiple_of(2), "a key without a value");
        Ok(items)
    }

    fn marked(&mut self) -> Result<Vec<Id>> {
        ensure!(self.stack.len() > 1, "a mark is missing");
        Ok(self.stack.pop().expect("a mark"))
    }
}
