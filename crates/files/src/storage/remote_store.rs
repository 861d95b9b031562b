//! Objects below an address as a store of values.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use tensorop_remote::{Address, Client, FirstAnswer, ListedNames, PutCondition, Version, changed, digest};

use super::key_store::{Commit, KeyStore, Lock, WritableStore};
use super::read_at::{Identity, ReadAt, Stamp};
use super::remote_object::{RemoteObject, stamp_of};
use super::requests::Part;
use tensorop_kernels::error::{Error, ErrorKind, Result};
use tensorop_kernels::parallel::locked;

/// The maximum number of recorded versions, some 35 MiB. Further ones are not compared.
const MAX_VERSIONS: usize = 1 << 20;

/// The objects below an address. Only a bucket can list them.
#[derive(Debug)]
pub struct RemoteStore {
    client: Arc<Client>,
    root: Address,
    /// The first versions of objects, if they must not change. Chunks and shard indices are requested again after
    /// eviction or in a second pass.
    first: Option<Mutex<HashMap<u64, Option<u64>>>>,
}

impl RemoteStore {
    /// Objects may change between requests. A missing store is reported when it is read.
    pub fn new(client: &Arc<Client>, root: Address) -> Self {
        Self { client: Arc::clone(client), root, first: None }
    }

    /// An object that changes between requests is an error.
    pub fn at_one_version(client: &Arc<Client>, root: Address) -> Self {
        Self { first: Some(Mutex::default()), ..Self::new(client, root) }
    }

    fn address(&self, key: &str) -> Address {
        if key.is_empty() { self.root.clone() } else { self.root.join(key) }
    }

    /// Missing objects must stay missing.
    fn check(&self, key: &str, version: Option<&Version>) -> Result<()> {
        let Some(first) = &self.first else { return Ok(()) };
        let (key, found) = (digest(key)[0], version.map(|version| version.digest()[0]));
        let mut first = locked(first);
        match first.get(&key) {
            Some(known) if *known != found => return Err(changed()),
            None if first.len() < MAX_VERSIONS => drop(first.insert(key, found)),
            Some(_) | None => {}
        }
        Ok(())
    }

    fn opened(&self, key: &str, begun: Option<FirstAnswer>) -> Result<Option<Arc<dyn ReadAt>>> {
        self.check(key, begun.as_ref().map(|begun| &begun.version))?;
        Ok(begun.map(|begun| Arc::new(RemoteObject::new(&self.client, self.address(key), begun)) as Arc<dyn ReadAt>))
    }
}

impl KeyStore for RemoteStore {
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        self.opened(key, self.client.look(&self.address(key))?)
    }

    fn open_for(&self, key: &str, part: Part) -> Result<Option<Arc<dyn ReadAt>>> {
        self.opened(key, self.client.begin(&self.address(key), part)?)
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.client.head(&self.address(key))?.map(|version| version.size))
    }

    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        let found = self.client.head(&self.address(key))?;
        self.check(key, found.as_ref())?;
        Ok(found.as_ref().map(stamp_of))
    }

    fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let found = self.client.get(&self.address(key), most)?;
        self.check(key, found.as_ref().map(|(_, version)| version))?;
        Ok(found.map(|(bytes, _)| bytes))
    }

    fn prefixes(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.client.list(&self.address(prefix), ListedNames::Folder)?.prefixes)
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let listing = self.client.list(&self.address(prefix), ListedNames::Folder)?;
        Ok(listing.objects.into_iter().map(|object| object.name).collect())
    }

    fn costs_requests(&self) -> bool {
        true
    }

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

impl WritableStore for RemoteStore {
    // A server checks a request only when it is sent, so nothing is prepared.
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Commit> {
        let (client, address, bytes) = (Arc::clone(&self.client), self.address(key), bytes.to_vec());
        Ok(Box::new(move || Ok(client.put(&address, &bytes)?)))
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool> {
        Ok(self.client.put_if(PutCondition::Absent(None), &self.address(key), bytes, &AtomicBool::default())?)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        Ok(self.client.delete(&self.address(key))?)
    }
}

fn unchangeable() -> Error {
    Error::from_kind(ErrorKind::Unsupported, "a file behind an address cannot be changed in place")
}
