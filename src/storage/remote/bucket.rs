//! Stores that are made in a bucket: whole by [`BucketOutput`], or in parts.
//!
//! A bucket renames nothing. So each value is put under its own key as soon as it is made, and nobody takes what lies there
//! for a store before it has its seals, the metadata. These wait beside the store, with the record of what is under way, in
//! `.NAME.tensorop/`; they are put when all the rest is there, the outermost last and only if there is none. What has a
//! record beside it and no seal is unfinished, and the next output of that name goes on with it or takes it away.

use std::collections::HashMap;
use std::env;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::address::Address;
use super::answer::digest;
use super::changing::{ListedNames, PutCondition};
use super::client::Client;
use super::store::RemoteStore;
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure};
use crate::memory;
use crate::parallel::{locked, on_threads};
use crate::storage::key_store::WritableStore;
use crate::storage::parts::{Ledger, Parts, PartsPlace};
use crate::storage::read_at::{Identity, ReadAt};
use crate::storage::record::Record;
use crate::storage::stage::{Stage, hash_of};
use crate::storage::store_draft::StoreDraft;

/// The key of the record of an output that one process makes, beside the store. Parts have a record of another name.
const WHOLE: &str = "whole";

/// The key of the record of parts.
const PARTS: &str = "command";

/// The prefix of the keys of seals that wait.
const SEALS: &str = "seals";

/// The most bytes of a seal: the metadata of a group has those of all arrays in it.
const MAX_SEAL: u64 = 1 << 30;

/// How many objects are removed at once: to wait for one after the other takes as long as to make them.
const AT_ONCE: usize = 16;

/// A name in a bucket that a store is to have.
#[derive(Debug)]
pub struct BucketTarget {
    /// What messages call it.
    pub label: String,
    client: Arc<Client>,
    root: Address,
    /// The names by which readers know a store, the seal of those that are written first.
    marks: &'static [&'static str],
    /// Whether there is a store of that name.
    pub is_there: bool,
}

impl BucketTarget {
    /// Finds out what lies under a name in a bucket, without writing anything. A store has one of `marks` in it.
    ///
    /// # Errors
    /// The address is no name in a bucket; objects that are no store; no answer. A store where `no_clobber` forbids it is an
    /// error of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists).
    pub fn resolve(
        client: Arc<Client>,
        address: &Address,
        label: String,
        marks: &'static [&'static str],
        no_clobber: bool,
    ) -> Result<Self> {
        let Address::Bucket { bucket, key } = address else {
            let message = "nothing is written there: stores of Zarr are written to s3://BUCKET/NAME.zarr";
            return Err(Error::from_kind(ErrorKind::Unsupported, message).within(label));
        };
        let key = key.trim_end_matches('/').to_owned();
        ensure!(!key.is_empty(), "{label}: expected s3://BUCKET/NAME.zarr");
        let root = Address::Bucket { bucket: bucket.clone(), key };
        let target = Self { label, client, root, marks, is_there: false };
        let is_there = target.look().with_context(|| target.label.clone())?;
        if is_there && no_clobber {
            return Err(Error::from_kind(ErrorKind::Io(io::ErrorKind::AlreadyExists), "exists").within(&*target.label));
        }
        Ok(Self { is_there, ..target })
    }

    /// Returns whether there is a store.
    fn look(&self) -> Result<bool> {
        let found = self.client.list(&self.root, ListedNames::Some)?;
        if found.objects.iter().any(|object| self.marks.contains(&&*object.name)) {
            return Ok(true);
        }
        // of the names of marks, only that of the seal may come later than those of chunks
        if !found.is_whole && self.client.head(&self.root.join(self.seal()))?.is_some() {
            return Ok(true);
        }
        let is_free = found.objects.is_empty() || self.has_record(WHOLE)? || self.has_record(PARTS)?;
        if is_free { Ok(false) } else { bail!("has objects and is no Zarr store, and is not replaced") }
    }

    fn has_record(&self, key: &str) -> Result<bool> {
        Ok(self.client.head(&self.beside().join(key))?.is_some())
    }

    /// Returns the name of the outermost seal of a store that is written.
    fn seal(&self) -> &'static str {
        self.marks[0]
    }

    /// Returns the prefix beside the store below which the record of what is under way lies.
    fn beside(&self) -> Address {
        let path = self.root.path();
        self.root.parent().join(&format!(".{}.tensorop", path.rsplit('/').next().unwrap_or(path)))
    }

    /// Returns what tells the store from others, once it is there.
    pub fn identity(&self) -> Identity {
        Identity::Remote(digest(&self.root.text()))
    }

    /// Returns whether an address lies in the store, or has the store in it.
    pub fn overlaps(&self, address: &Address) -> bool {
        let is_in = |one: &str, other: &str| {
            let (one, other) = (one.trim_end_matches('/'), other.trim_end_matches('/'));
            one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || other.is_empty())
        };
        match (&self.root, address) {
            (Address::Bucket { bucket, key }, Address::Bucket { bucket: other_bucket, key: other }) => {
                bucket == other_bucket && (is_in(key, other) || is_in(other, key))
            }
            _ => false,
        }
    }

    fn draft(&self) -> BucketDraft<'_> {
        BucketDraft { target: self, objects: Mutex::default(), may_be_sealed: AtomicBool::default() }
    }

    /// Begins to make the store as a whole. A store that is there stops being one at this moment, since the values of two
    /// stores under the same keys would be taken for one.
    ///
    /// # Errors
    /// It is being made in parts; no answer.
    pub fn begin(&self) -> Result<BucketOutput<'_>> {
        if !self.is_there && self.has_record(PARTS)? {
            bail!("is being made in parts: end these with --finish, or begin anew with --part and --restart");
        }
        let draft = self.draft();
        let is_new = draft.with_objects(|objects| objects.is_empty())?;
        let beside = self.beside();
        self.client.put(&beside.join(WHOLE), b"")?;
        for mark in self.marks {
            if draft.with_objects(|objects| objects.remove(*mark).is_some())? {
                let mark = self.root.join(mark);
                self.client.delete(&mark)?;
                // with it, the chunks of two stores would be taken for one
                ensure!(self.client.head(&mark)?.is_none(), "{mark} cannot be removed");
            }
        }
        Ok(BucketOutput { draft, is_new })
    }

    /// Takes the store as an output that is made in parts.
    pub(in crate::storage) fn parts(&self, record: Record) -> Parts<'_> {
        let ledger = Ledger::new(self.store_beside(), self.store_beside(), record).noting_by_record();
        Parts { label: &self.label, beside: self.beside().to_string(), place: Box::new(self.draft()), ledger }
    }

    /// Returns what reads and writes values beside the store.
    fn store_beside(&self) -> Box<RemoteStore> {
        Box::new(RemoteStore::new(&self.client, self.beside()))
    }
}

/// A store that is being made in a bucket, by one process or in parts.
#[derive(Debug)]
struct BucketDraft<'a> {
    target: &'a BucketTarget,
    /// The objects of the store by their keys; `None` until one of them is asked for, since a list of all then costs less
    /// than a request for each.
    objects: Mutex<Option<HashMap<String, StoredObject>>>,
    /// Whether a seal may be there, of this process or of another. Then what it seals is not removed, since without it a store
    /// would be full of fill values.
    may_be_sealed: AtomicBool,
}

/// What is known of an object.
#[derive(Clone, Copy, Debug)]
struct StoredObject {
    size: u64,
    /// Whether this process has put it.
    is_own: bool,
}

impl BucketDraft<'_> {
    /// Calls `look` with the objects of the store.
    fn with_objects<T>(&self, look: impl FnOnce(&mut HashMap<String, StoredObject>) -> T) -> Result<T> {
        let mut objects = locked(&self.objects);
        let known = match &mut *objects {
            Some(known) => known,
            none => {
                let listed = self.target.client.list(&self.target.root, ListedNames::All)?.objects.into_iter();
                let known = listed.map(|object| (object.name, StoredObject { size: object.size, is_own: false }));
                none.insert(known.collect())
            }
        };
        Ok(look(known))
    }

    fn waiting(&self, key: &str) -> Address {
        self.target.beside().join(SEALS).join(key)
    }

    /// Removes objects below an address, several at a time.
    fn remove_all(&self, below: &Address, keys: &[String]) -> Result<()> {
        let at_once = AT_ONCE.min(keys.len());
        let each = |number: usize| -> Result<()> {
            keys.iter().skip(number).step_by(at_once).try_for_each(|key| self.target.client.delete(&below.join(key)))
        };
        on_threads(at_once, each).into_iter().collect()
    }

    /// Removes all objects below an address, at the end those whose names are `last`.
    fn remove_below(&self, below: &Address, last: impl Fn(&str) -> bool) -> Result<()> {
        let names = self.target.client.list(below, ListedNames::All)?.objects.into_iter().map(|object| object.name);
        let (last, first): (Vec<_>, Vec<_>) = names.partition(|name| last(name));
        self.remove_all(below, &first)?;
        self.remove_all(below, &last)
    }

    /// Puts the seals that wait, the outermost with a mark, if there is one, in front of a sum over what the store holds.
    fn put_seals(&self, mark: Option<u64>) -> Result<()> {
        let BucketTarget { client, root, .. } = self.target;
        let listed = client.list(&self.target.beside().join(SEALS), ListedNames::All)?.objects;
        let mut seals: Vec<String> = listed.into_iter().map(|object| object.name).collect();
        let depth = |key: &str| key.matches('/').count();
        seals.sort_by(|a, b| depth(b).cmp(&depth(a)).then_with(|| a.cmp(b)));
        let finished = || Error::from_kind(ErrorKind::Changed, "is finished by another process just now");
        let bytes_of =
            |key: &String| -> Result<Vec<u8>> { Ok(client.get(&self.waiting(key), MAX_SEAL)?.ok_or_else(finished)?.0) };
        let (last, inner) = seals.split_last().ok_or_else(finished)?;
        for key in inner {
            client.put_if(PutCondition::None, &root.join(key), &bytes_of(key)?, &self.may_be_sealed)?;
        }
        let bytes = bytes_of(last)?;
        let with_sum = |mark: u64| -> Result<String> {
            let sum = self.sum()?.wrapping_add(hash_of(last.as_ref(), &[bytes.len() as u64]));
            Ok(format!("{mark:016x}-{sum:016x}"))
        };
        let (mark, address) = (mark.map(with_sum).transpose()?, root.join(last));
        if client.put_if(PutCondition::Absent(mark.as_deref()), &address, &bytes, &self.may_be_sealed)? {
            return Ok(());
        }
        // the answer to a request that was made again may have been lost: then the seal is this one
        let there = client.get(&address, MAX_SEAL)?;
        let is_this = there.is_some_and(|(found, version)| found == bytes && version.mark == mark);
        ensure!(is_this, "another process has made it meanwhile");
        Ok(())
    }

    /// Returns the two numbers that the store was marked with, if parts have made it.
    fn mark(&self) -> Result<Option<[u64; 2]>> {
        let version = self.target.client.head(&self.target.root.join(self.target.seal()))?;
        let parse = |mark: String| {
            let (mark, sum) = mark.split_once('-')?;
            Some([u64::from_str_radix(mark, 16).ok()?, u64::from_str_radix(sum, 16).ok()?])
        };
        Ok(version.and_then(|version| version.mark).and_then(parse))
    }

    /// Returns a number that changes when an object of the store is lost, added, renamed or gets another size.
    fn sum(&self) -> Result<u64> {
        let listed = self.target.client.list(&self.target.root, ListedNames::All)?.objects;
        Ok(listed.iter().fold(0, |sum, object| sum.wrapping_add(hash_of(object.name.as_ref(), &[object.size]))))
    }

    /// Removes what lies beside the store, the record of parts last: as long as it is there, so is what it tells of.
    fn remove_beside(&self) -> Result<()> {
        self.remove_below(&self.target.beside(), |name| name == PARTS || name == WHOLE)
    }
}

impl StoreDraft for BucketDraft<'_> {
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        // a request that has failed may have been done, only that the answer was lost
        if let Some(objects) = &mut *locked(&self.objects) {
            objects.insert(key.to_owned(), StoredObject { size: bytes.len() as u64, is_own: true });
        }
        Ok(self.target.client.put(&self.target.root.join(key), bytes)?)
    }

    fn put_from(&self, key: &str, from: &dyn ReadAt, bytes: usize) -> io::Result<()> {
        let mut value = memory::zeros(bytes).map_err(Error::from)?;
        from.read_at(&mut value, 0)?;
        self.put(key, &value)
    }

    fn size(&self, key: &str) -> io::Result<Option<u64>> {
        Ok(self.with_objects(|objects| objects.get(key).map(|object| object.size))?)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        if self.with_objects(|objects| objects.remove(key).is_some())? {
            self.target.client.delete(&self.target.root.join(key))?;
        }
        Ok(())
    }

    fn seal(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        if !self.is_sealed(key, bytes.len() as u64)? {
            self.target.client.put(&self.waiting(key), bytes)?;
        }
        Ok(())
    }

    fn is_sealed(&self, key: &str, bytes: u64) -> io::Result<bool> {
        Ok(self.target.client.head(&self.waiting(key))?.is_some_and(|version| version.size == bytes))
    }

    // what is read again and again on the way had better be near
    fn between(&self) -> io::Result<Stage> {
        let path = self.target.root.path();
        Stage::create(&env::temp_dir().join(path.rsplit('/').next().unwrap_or(path)))
    }
}

/// A store that one process makes as a whole. Dropped before a seal of it may be there, it takes away what it has put.
#[derive(Debug)]
pub struct BucketOutput<'a> {
    draft: BucketDraft<'a>,
    /// Whether nothing was there before.
    is_new: bool,
}

impl BucketOutput<'_> {
    /// Returns the store that values are put into.
    pub fn store(&self) -> &dyn StoreDraft {
        &self.draft
    }

    /// Makes a store of what was put: what an older one had beside that goes, and the seals come.
    ///
    /// # Errors
    /// Another process has made one meanwhile; no answer.
    pub fn finish(&self) -> Result<()> {
        let target = self.draft.target;
        let finish = || {
            self.draft.remove_all(&target.root, &self.keys(false)?)?;
            self.draft.put_seals(None)
        };
        finish().with_context(|| format!("{}: cannot be put in place", target.label))?;
        self.draft.remove_beside().with_context(|| format!("{}: cannot be removed", target.beside()))
    }

    /// Returns the keys of the objects that this process has put, or of those that it has not.
    fn keys(&self, are_own: bool) -> Result<Vec<String>> {
        let keys = |objects: &mut HashMap<String, StoredObject>| {
            objects.iter().filter(|(_, object)| object.is_own == are_own).map(|(key, _)| key.clone()).collect()
        };
        self.draft.with_objects(keys)
    }
}

impl Drop for BucketOutput<'_> {
    fn drop(&mut self) {
        if self.draft.may_be_sealed.load(Ordering::Relaxed) {
            return;
        }
        // what cannot be removed now has its record, by which the next output of that name knows it
        let BucketTarget { client, root, .. } = self.draft.target;
        let removed = self.keys(true).and_then(|keys| self.draft.remove_all(root, &keys));
        let is_empty = || client.list(root, ListedNames::Some).is_ok_and(|left| left.objects.is_empty());
        if self.is_new && removed.is_ok() && is_empty() {
            let _ = self.draft.remove_beside();
        }
    }
}

impl PartsPlace for BucketDraft<'_> {
    fn is_marked(&self, mark: u64) -> Result<bool> {
        Ok(self.mark()?.is_some_and(|found| found[0] == mark))
    }

    fn is_as_finished(&self) -> Result<bool> {
        self.mark()?.map_or(Ok(true), |mark| Ok(self.sum()? == mark[1]))
    }

    fn begin_anew(&self, _: u64) -> Result<()> {
        self.remove_below(&self.target.root, |name| !self.target.marks.contains(&name))
    }

    fn begin(&mut self, _: usize) -> Result<Box<dyn WritableStore>> {
        Ok(self.target.store_beside())
    }

    fn check_unbegun(&self) -> Result<()> {
        let BucketTarget { client, root, label, .. } = self.target;
        let is_free = client.list(root, ListedNames::Some)?.objects.is_empty();
        ensure!(is_free, "{label}: exists, and a bucket cannot keep it beside its parts: --restart removes it");
        Ok(())
    }

    fn store(&self) -> &dyn StoreDraft {
        self
    }

    fn publish(&self, mark: u64) -> Result<()> {
        let published = self.put_seals(Some(mark));
        // of two processes that finish at once, either may be the first at each step
        if published.is_err() && self.is_marked(mark)? {
            return Ok(());
        }
        published.with_context(|| format!("{}: cannot be put in place", self.target.label))
    }

    fn forget(&self) -> Result<()> {
        self.remove_beside()
    }
}
