//! Objects below an address as a store of values: [`RemoteStore`].

use std::sync::Arc;

use super::address::Address;
use super::answer::digest;
use super::changing::Listed;
use super::client::Client;
use super::object::RemoteObject;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::key_store::{KeyStore, Lock, ReadableStore, WritableStore};
use crate::storage::read_at::{Identity, Part, ReadAt, Stamp};

/// The objects whose names follow an address, as the files of a folder follow its path. Only a bucket can list them.
#[derive(Debug)]
pub struct RemoteStore {
    client: Arc<Client>,
    root: Address,
}

impl RemoteStore {
    /// Takes the objects below an address. That there are none shows when one is read.
    pub fn new(client: &Arc<Client>, root: Address) -> Self {
        Self { client: Arc::clone(client), root }
    }

    fn address(&self, key: &str) -> Address {
        if key.is_empty() { self.root.clone() } else { self.root.join(key) }
    }
}

impl ReadableStore for RemoteStore {
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        let object = RemoteObject::known(&self.client, self.address(key))?;
        Ok(object.map(|object| Arc::new(object) as Arc<dyn ReadAt>))
    }

    fn open_for(&self, key: &str, part: Part) -> Result<Option<Arc<dyn ReadAt>>> {
        let object = RemoteObject::open(&self.client, self.address(key), part)?;
        Ok(object.map(|object| Arc::new(object) as Arc<dyn ReadAt>))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.client.head(&self.address(key))?.map(|facts| facts.size()))
    }

    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        Ok(self.client.head(&self.address(key))?.map(|facts| facts.stamp()))
    }

    fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        Ok(self.client.get(&self.address(key), most)?.map(|(bytes, _)| bytes))
    }

    fn prefixes(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.client.list(&self.address(prefix), Listed::Folder)?.prefixes)
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let listing = self.client.list(&self.address(prefix), Listed::Folder)?;
        Ok(listing.objects.into_iter().map(|object| object.name).collect())
    }

    fn costs_requests(&self) -> bool {
        true
    }
}

impl KeyStore for RemoteStore {
    fn identity(&self) -> Result<Identity> {
        Ok(Identity::Remote(digest(&self.root.text())))
    }

    fn lock(&self, _: &str, _: bool) -> Result<Lock> {
        Err(unchangeable())
    }

    fn edit(&self, _: &str) -> Result<Box<dyn WritableStore>> {
        Err(unchangeable())
    }
}

/// Returns the error that a store is changed where it lies.
fn unchangeable() -> Error {
    Error::of(ErrorKind::Unsupported, "what lies behind an address is not changed in place")
}
