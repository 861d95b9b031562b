//! An object behind an address as bytes, and objects below an address as a store of values.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::key_store::{Commit, KeyStore, Lock, WritableStore};
use super::read_at::{Identity, MIN_REQUEST, MemoryBytes, ReadAt, Stamp};
use super::requests::Part;
use tensorop_kernels::error::{Error, ErrorKind, Result};
use tensorop_kernels::layout::gather::GapRun;
use tensorop_kernels::parallel::locked;
use tensorop_remote::{Address, Client, FirstAnswer, KeptBytes, ListedNames, PutCondition, Version, changed, digest};

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

/// The maximum bytes of needless reads: the first part, which precedes the length of the header, and gaps.
const MAX_IN_VAIN: usize = 1 << 17;

/// The maximum number of requests that gaps may add per object. Every other item of a large tensor would be millions of
/// requests, so further gaps below [`MIN_REQUEST`] are read beyond the limit above.
const MAX_PARTED: usize = 4000;

/// An object whose first part is known. Other reads are one request each, for the version of the first answer.
#[derive(Debug)]
pub struct RemoteObject {
    client: Arc<Client>,
    address: Address,
    version: Version,
    /// The offset of the first part, and its bytes.
    begun: (u64, Vec<u8>),
    /// All bytes, if the server has no ranges.
    whole: Option<Arc<dyn ReadAt>>,
    /// The remaining bytes that may be read needlessly.
    spare: AtomicUsize,
    /// How many runs of gaps were not read.
    parted: AtomicUsize,
}

impl RemoteObject {
    /// Reads a part of the object; `None` if the object does not exist.
    ///
    /// # Errors
    /// A request fails.
    pub fn open(client: &Arc<Client>, address: Address, part: Part) -> Result<Option<Self>> {
        Ok(client.begin(&address, part)?.map(|begun| Self::new(client, address, begun)))
    }

    pub(super) fn new(client: &Arc<Client>, address: Address, begun: FirstAnswer) -> Self {
        let FirstAnswer { version, at, bytes, whole } = begun;
        let spare = AtomicUsize::new(MAX_IN_VAIN.saturating_sub(bytes.len()));
        let whole = whole.map(|whole| match whole {
            KeptBytes::Memory(bytes) => Arc::new(MemoryBytes::new(bytes)) as Arc<dyn ReadAt>,
            KeptBytes::File(file) => Arc::new(file),
        });
        let (client, parted) = (Arc::clone(client), AtomicUsize::new(0));
        Self { client, address, version, begun: (at, bytes), whole, spare, parted }
    }
}

impl ReadAt for RemoteObject {
    fn size(&self) -> io::Result<u64> {
        Ok(self.version.size)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let (version, (first, part)) = (&self.version, &self.begun);
        if let Some(whole) = &self.whole {
            return whole.read_at(out, at);
        }
        let end = at.checked_add(out.len() as u64).filter(|end| *end <= version.size);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let (first, last) = (*first, first + part.len() as u64);
        // The known part is in the middle, so both sides are requested.
        let (from, to) = (at.clamp(first, last), end.clamp(first, last));
        if from >= to {
            return Ok(self.client.read(&self.address, version, out, at)?);
        }
        let (before, rest) = out.split_at_mut((from - at) as usize);
        let (here, behind) = rest.split_at_mut((to - from) as usize);
        here.copy_from_slice(&part[(from - first) as usize..(to - first) as usize]);
        for (out, at) in [(before, at), (behind, to)] {
            self.client.read(&self.address, version, out, at)?;
        }
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        // Every answer is checked for this version.
        Ok(stamp_of(&self.version))
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::Remote(digest(&self.address.text())))
    }

    fn costs_requests(&self) -> bool {
        self.whole.is_none()
    }

    fn requests(&self, at: u64, bytes: usize) -> u64 {
        let (first, part) = &self.begun;
        let (last, end) = (first + part.len() as u64, at + bytes as u64);
        let is_asked = at >= last || end <= *first;
        if is_asked { 1 } else { u64::from(at < *first) + u64::from(end > last) }
    }

    fn spare(&self, gaps: GapRun) -> usize {
        let here = self.begun.0..self.begun.0 + self.begun.1.len() as u64;
        let costs = |at: u64| if here.contains(&at) && at + gaps.bytes as u64 <= here.end { 0 } else { gaps.bytes };
        // The number of affordable gaps, and their bytes.
        let taken = |left: usize| {
            let sums = gaps.begins().scan(0, |sum, at| {
                *sum += costs(at);
                Some(*sum)
            });
            sums.take_while(|sum| *sum <= left).fold((0, 0), |(count, _), sum| (count + 1, sum))
        };
        let take = |left| Some(left - taken(left).1);
        let left = self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let count = left.map_or(0, |left| taken(left).0);
        let may_part = || self.parted.fetch_add(1, Ordering::Relaxed) < MAX_PARTED || gaps.bytes >= MIN_REQUEST;
        if count == gaps.count || may_part() { count } else { gaps.count }
    }
}

pub(super) fn stamp_of(version: &Version) -> Stamp {
    Stamp::Tag(version.digest())
}
