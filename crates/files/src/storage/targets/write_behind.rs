//! Small writes that share system calls: [`WriteBehind`].

use std::fs::File;
use std::io;

use crate::storage::platform::write_at;

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
