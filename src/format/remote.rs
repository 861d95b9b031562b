//! Opens what lies behind an address: an object, or a store of objects.

use super::open::{Input, OpenOptions};
use crate::error::{Context, Error, ErrorKind, Result};

impl OpenOptions {
    /// Opens the object, or the store, at an address, and what followed a colon behind it.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); of asking the server; a build that has no network.
    pub(super) fn open_address(&self, object: &str, after: Option<String>) -> Result<Input> {
        if self.locked {
            let message = "what lies behind an address is not changed in place";
            return Err(Error::of(ErrorKind::Unsupported, message).within(&*self.label));
        }
        reach(self, object, after).with_context(|| self.label.clone())?
    }
}

/// Opens an address. The outer error is about the address, the inner one names it already.
#[cfg(feature = "remote")]
fn reach(options: &OpenOptions, object: &str, after: Option<String>) -> Result<Result<Input>> {
    use std::io;
    use std::path::Path;
    use std::sync::Arc;

    use super::content::Content;
    use super::table::Format;
    use crate::storage::read_at::ReadAt;
    use crate::storage::remote::{Address, Client, Part, RemoteObject};

    /// The bytes that are asked for first, in which most headers lie.
    const FIRST: u64 = 1 << 16;
    let client = Client::shared(options.requests)?;
    let address = Address::parse(object)?;
    let by_name = Format::told_by_name(Path::new(address.path()));
    let found = RemoteObject::open(&client, address, Part::First(FIRST))?;
    let bytes: Arc<dyn ReadAt> = match found {
        Some(object) => Arc::new(object),
        None => return Err(Error::of(ErrorKind::Io(io::ErrorKind::NotFound), "404 Not Found")),
    };
    let content = |bytes| Content::of_bytes(bytes, options.threads);
    let container = |bytes: &mut Arc<dyn ReadAt>| {
        let content = content(Arc::clone(bytes)).ok()?;
        options.content(content, None).ok().filter(|input| input.names().is_some())
    };
    Ok(options.told(bytes, after, by_name, container, content))
}

/// Says that this build asks no server.
#[cfg(not(feature = "remote"))]
fn reach(_: &OpenOptions, _: &str, _: Option<String>) -> Result<Result<Input>> {
    Err(Error::of(ErrorKind::Unsupported, "this build has no network: it was made without the feature remote"))
}
