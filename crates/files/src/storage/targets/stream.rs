//! Standard input, output and error as values, so that tests can run commands in parallel, on bytes in memory.

use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::{Arc, Mutex};

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
