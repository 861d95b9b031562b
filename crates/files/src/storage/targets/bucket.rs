//! Stores in a bucket, made whole or in parts.
//!
//! A bucket cannot rename, so values get their keys at once, and the seals (the metadata) make them a store. Until then
//! the seals wait in `.NAME.tensorop/` beside the store, with a record; the outermost comes last and never replaces
//! another. The next output of that name continues or removes objects that have a record and no seal.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::{env, io};

use tensorop_remote::{Address, Client, ListedNames, PutCondition, digest};

use super::draft::StoreDraft;
use super::parts::{Ledger, Parts, PartsPlace, Record};
use super::stage::{Stage, hash_of};
use super::target::{BegunBucketStore, BucketStore};
use crate::storage::key_store::WritableStore;
use crate::storage::read_at::{Identity, ReadAt};
use crate::storage::remote_store::RemoteStore;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure};
use tensorop_kernels::memory;
use tensorop_kernels::parallel::{locked, on_threads};

/// The key of the record if one process makes the output.
const WHOLE: &str = "whole";

const PARTS: &str = "command";

const SEALS: &str = "seals";

/// In bytes: the metadata of a group include those of all arrays.
const MAX_SEAL: u64 = 1 << 30;

/// Removing objects one after the other takes as long as making them.
const AT_ONCE: usize = 16;

/// The name of a store in a bucket.
#[derive(Debug)]
pub struct BucketTarget {
    pub label: String,
    client: Arc<Client>,
    root: Address,
    /// Readers recognize a store by these names; the first is the seal of new stores.
    marks: &'static [&'static str],
    pub is_there: bool,
}

impl BucketTarget {
    /// Inspects a name without writing. `no_clobber` gives an error of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists).
    pub fn resolve(
        client: Arc<Client>,
        address: &Address,
        label: String,
        marks: &'static [&'static str],
        no_clobber: bool,
    ) -> Result<Self> {
        let Address::Bucket { bucket, key } = address else {
            let message = "cannot be written: Zarr stores are written to s3://BUCKET/NAME.zarr";
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

    fn look(&self) -> Result<bool> {
        let found = self.client.list(&self.root, ListedNames::Some)?;
        if found.objects.iter().any(|object| self.marks.contains(&&*object.name)) {
            return Ok(true);
        }
        // Of the marks only the seal may come after chunks in the list.
        if !found.is_whole && self.client.head(&self.root.join(self.seal()))?.is_some() {
            return Ok(true);
        }
        let is_free = found.objects.is_empty() || self.has_record(WHOLE)? || self.has_record(PARTS)?;
        if is_free { Ok(false) } else { bail!("has objects but is not a Zarr store, and is not replaced") }
    }

    fn has_record(&self, key: &str) -> Result<bool> {
        Ok(self.client.head(&self.beside().join(key))?.is_some())
    }

    fn seal(&self) -> &'static str {
        self.marks[0]
    }

    fn beside(&self) -> Address {
        let path = self.root.path();
        self.root.parent().join(&format!(".{}.tensorop", path.rsplit('/').next().unwrap_or(path)))
    }

    pub fn identity(&self) -> Identity {
        Identity::Remote(digest(&self.root.text()))
    }

    fn overlaps_address(&self, address: &Address) -> bool {
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

    fn store_beside(&self) -> Box<RemoteStore> {
        Box::new(RemoteStore::new(&self.client, self.beside()))
    }
}

impl BucketStore for BucketTarget {
    fn label(&self) -> &str {
        &self.label
    }

    fn old_identity(&self) -> Option<Identity> {
        self.is_there.then(|| self.identity())
    }

    fn overlaps(&self, address: &str) -> bool {
        Address::parse(address).is_ok_and(|address| self.overlaps_address(&address))
    }

    fn parts(&self, record: Record) -> Parts<'_> {
        let ledger = Ledger::new(self.store_beside(), self.store_beside(), record).noting_by_record();
        Parts { label: &self.label, beside: self.beside().to_string(), place: Box::new(self.draft()), ledger }
    }

    /// An existing store loses its seals at once: under the same keys, its values would mix with the new ones.
    fn begin(&self) -> Result<Box<dyn BegunBucketStore + '_>> {
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
                ensure!(self.client.head(&mark)?.is_none(), "{mark} cannot be removed");
            }
        }
        Ok(Box::new(BucketOutput { draft, is_new }))
    }
}

#[derive(Debug)]
struct BucketDraft<'a> {
    target: &'a BucketTarget,
    /// Listed at the first use, because a list costs less than a request for each.
    objects: Mutex<Option<HashMap<String, StoredObject>>>,
    /// Whether a seal may exist. Then the values stay, since a store without them would be full of fill values.
    may_be_sealed: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct StoredObject {
    size: u64,
    is_own: bool,
}

impl BucketDraft<'_> {
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

    fn remove_all(&self, below: &Address, keys: &[String]) -> Result<()> {
        let at_once = AT_ONCE.min(keys.len());
        let each = |number: usize| -> Result<()> {
            keys.iter().skip(number).step_by(at_once).try_for_each(|key| self.target.client.delete(&below.join(key)))
        };
        on_threads(at_once, each).into_iter().collect()
    }

    /// Removes the objects whose names are `last` at the end.
    fn remove_below(&self, below: &Address, last: impl Fn(&str) -> bool) -> Result<()> {
        let names = self.target.client.list(below, ListedNames::All)?.objects.into_iter().map(|object| object.name);
        let (last, first): (Vec<_>, Vec<_>) = names.partition(|name| last(name));
        self.remove_all(below, &first)?;
        self.remove_all(below, &last)
    }

    fn put_seals(&self, mark: Option<u64>) -> Result<()> {
        let BucketTarget { client, root, .. } = self.target;
        let listed = client.list(&self.target.beside().join(SEALS), ListedNames::All)?.objects;
        let mut seals: Vec<String> = listed.into_iter().map(|object| object.name).collect();
        let depth = |key: &str| key.matches('/').count();
        seals.sort_by(|a, b| depth(b).cmp(&depth(a)).then_with(|| a.cmp(b)));
        let finished = || Error::from_kind(ErrorKind::Changed, "is being finished by another process");
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
        // If the answer to a request was lost, the retry finds this seal.
        let there = client.get(&address, MAX_SEAL)?;
        let is_this = there.is_some_and(|(found, version)| found == bytes && version.mark == mark);
        ensure!(is_this, "another process has made it meanwhile");
        Ok(())
    }

    fn mark(&self) -> Result<Option<[u64; 2]>> {
        let version = self.target.client.head(&self.target.root.join(self.target.seal()))?;
        let parse = |mark: String| {
            let (mark, sum) = mark.split_once('-')?;
            Some([u64::from_str_radix(mark, 16).ok()?, u64::from_str_radix(sum, 16).ok()?])
        };
        Ok(version.and_then(|version| version.mark).and_then(parse))
    }

    /// Changes when an object is lost, added, renamed or resized.
    fn sum(&self) -> Result<u64> {
        let listed = self.target.client.list(&self.target.root, ListedNames::All)?.objects;
        Ok(listed.iter().fold(0, |sum, object| sum.wrapping_add(hash_of(object.name.as_ref(), &[object.size]))))
    }

    /// Removes the record last, because it describes the rest.
    fn remove_beside(&self) -> Result<()> {
        self.remove_below(&self.target.beside(), |name| name == PARTS || name == WHOLE)
    }
}

impl StoreDraft for BucketDraft<'_> {
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        // A failed request may have been carried out.
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

    // Intermediate files are read repeatedly, so they are local.
    fn between(&self) -> io::Result<Stage> {
        let path = self.target.root.path();
        Stage::create(&env::temp_dir().join(path.rsplit('/').next().unwrap_or(path)))
    }
}

#[derive(Debug)]
struct BucketOutput<'a> {
    draft: BucketDraft<'a>,
    is_new: bool,
}

impl BucketOutput<'_> {
    fn keys(&self, are_own: bool) -> Result<Vec<String>> {
        let keys = |objects: &mut HashMap<String, StoredObject>| {
            objects.iter().filter(|(_, object)| object.is_own == are_own).map(|(key, _)| key.clone()).collect()
        };
        self.draft.with_objects(keys)
    }
}

impl BegunBucketStore for BucketOutput<'_> {
    fn store(&self) -> &dyn StoreDraft {
        &self.draft
    }

    fn finish(&self) -> Result<()> {
        let target = self.draft.target;
        let finish = || {
            self.draft.remove_all(&target.root, &self.keys(false)?)?;
            self.draft.put_seals(None)
        };
        finish().with_context(|| format!("{}: cannot be put in place", target.label))?;
        self.draft.remove_beside().with_context(|| format!("{}: cannot be removed", target.beside()))
    }
}

impl Drop for BucketOutput<'_> {
    fn drop(&mut self) {
        if self.draft.may_be_sealed.load(Ordering::Relaxed) {
            return;
        }
        // The next output of that name finds the remains by the record.
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
        // Either of two finishing processes may be first at each step.
        if published.is_err() && self.is_marked(mark)? {
            return Ok(());
        }
        published.with_context(|| format!("{}: cannot be put in place", self.target.label))
    }

    fn forget(&self) -> Result<()> {
        self.remove_beside()
    }
}
