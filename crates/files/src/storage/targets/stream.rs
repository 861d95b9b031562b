//! Standard input, output and error as values, so that tests can run commands in parallel, on bytes in memory.

use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::{Arc, Mutex};

use crate::storage::platform::write_at;
use tensorop_kernels::parallel::locked;

/// Clones read from the same stream.
#[derive(Clone)]
pub struct InputStream(Arc<Mutex<dyn Read + Send>>);

impl InputStream {
    pub fn new(reader: impl Read + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(reader)))
    }

    pub fn stdin() -> Self {
        Self::new(io::stdin())
    }
}

impl Read for InputStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        locked(&self.0).read(bytes)
    }
}

/// Clones write to the same stream.
#[derive(Clone)]
pub struct OutputStream {
    writer: Arc<Mutex<dyn Write + Send>>,
    is_terminal: bool,
}

impl OutputStream {
    /// `is_terminal` claims that a person reads.
    pub fn new(writer: impl Write + Send + 'static, is_terminal: bool) -> Self {
        Self { writer: Arc::new(Mutex::new(writer)), is_terminal }
    }

    pub fn stdout() -> Self {
        Self::new(io::stdout(), io::stdout().is_terminal())
    }

    pub fn stderr() -> Self {
        Self::new(io::stderr(), io::stderr().is_terminal())
    }

    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }
}

impl Write for OutputStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        locked(&self.writer).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        locked(&self.writer).flush()
    }
}

impl fmt::Debug for OutputStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputStream").field("is_terminal", &self.is_terminal).finish_non_exhaustive()
    }
}

/// Pieces of more bytes are written at once.
pub const SMALL_WRITE: usize = 1 << 16;

/// Collects pieces that follow each other in a file: the headers and items of a model's many small tensors.
#[derive(Debug)]
pub struct WriteBehind<'a> {
    file: &'a File,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> WriteBehind<'a> {
    pub fn new(file: &'a File) -> Self {
        Self { file, start: 0, bytes: Vec::new() }
    }

    /// # Errors
    /// This piece or an earlier one cannot be written.
    pub fn put(&mut self, piece: &[u8], at: u64) -> io::Result<()> {
        let follows = at == self.start + self.bytes.len() as u64;
        if !follows || self.bytes.len() + piece.len() > SMALL_WRITE {
            self.flush()?;
            self.start = at;
        }
        if piece.len() > SMALL_WRITE {
            self.start = at + piece.len() as u64;
            return write_at(self.file, piece, at);
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Writes the collected pieces.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        write_at(self.file, &self.bytes, self.start)?;
        self.start += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn pieces_lie_where_they_belong() {
        let mut expected = vec![0_u8; 3 * SMALL_WRITE];
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(expected.len() as u64).unwrap();
        let mut behind = WriteBehind::new(&file);
        let large = SMALL_WRITE + 5;
        for (n, (at, len)) in
            [(0, 3), (3, 4), (9, 2), (11, 0), (11, large), (11 + large, 7), (7, 2), (large + 20, SMALL_WRITE)]
                .into_iter()
                .enumerate()
        {
            let piece = vec![n as u8 + 1; len];
            behind.put(&piece, at as u64).unwrap();
            expected[at..at + len].copy_from_slice(&piece);
        }
        behind.flush().unwrap();
        let mut found = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut found).unwrap();
        assert!(found == expected);
    }
}
