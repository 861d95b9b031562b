//! Content that is opened at the first read and closed after the last, so that of several only the one being read takes
//! memory.

use std::io::{self, Read};
use std::mem;

use tensorop_kernels::error::Result;

type Content = Box<dyn Read + Send>;

pub(crate) enum LazyContent {
    Closed(Box<dyn FnOnce() -> Result<Content> + Send>),
    Open(Content),
    Ended,
}

impl LazyContent {
    pub(crate) fn new(open: impl FnOnce() -> Result<Content> + Send + 'static) -> Self {
        Self::Closed(Box::new(open))
    }
}

impl Read for LazyContent {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let mut content = match mem::replace(self, Self::Ended) {
            Self::Closed(open) => open().map_err(|error| io::Error::other(format!("{error:#}")))?,
            Self::Open(content) => content,
            Self::Ended => return Ok(0),
        };
        let read = content.read(out);
        if !matches!(read, Ok(0)) {
            *self = Self::Open(content);
        }
        read
    }
}
