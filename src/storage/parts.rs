//! Outputs that any number of processes make in parts. Until one is whole, a [record](Ledger) beside it says what is made,
//! and which parts are done.
//!
//! Nothing there is ever half written, and nothing says more than is done. So any part may be killed, run again, or
//! run twice at once, on whatever machine. When all parts are done the output gets its name at once and the record goes.

mod local;

use std::fmt::Debug;
use std::fs::File;
use std::io;

use super::key_store::{KeyStore, Lock, WritableStore};
use super::record::Record;
use super::stage;
use super::store_draft::StoreDraft;
use super::target::Target;
use crate::error::{Context, Result, bail};

/// The key of the record of what is made, and how.
const RECORD: &str = "command";

/// The key of the value that is locked by the process that finishes.
const LOCK: &str = "lock";

/// The prefix of the keys that say which parts are done, and how far the others are.
const DONE: &str = "done";

/// The most bytes that are read of a record: many times what all arguments of a command may have.
const MAX_RECORD: u64 = 1 << 26;

/// The most bytes that are read of the list of a part: some 40 million units.
const MAX_LIST: u64 = 1 << 30;

/// An output that is made in parts.
#[derive(Debug)]
pub struct Parts<'a> {
    /// What messages call the output.
    pub(super) label: &'a str,
    /// What messages call the place of the record.
    pub(super) beside: String,
    /// Where it is made.
    pub place: Box<dyn PartsPlace + 'a>,
    /// The record of what is made, and of the parts that are done.
    pub ledger: Ledger,
}

/// Where an output is made in parts.
pub trait PartsPlace: Debug {
    /// Returns whether the output is there and has this mark.
    ///
    /// # Errors
    /// That cannot be found out.
    fn is_marked(&self, mark: u64) -> Result<bool>;

    /// Returns whether the output still has the values that it was finished with, in their sizes. The record of each is gone,
    /// but its mark has a sum over them. Where there is no such sum, the answer is yes.
    ///
    /// # Errors
    /// The output cannot be listed.
    fn is_as_finished(&self) -> Result<bool>;

    /// Makes room for parts that begin anew: an output that is there is no longer one that these have made.
    ///
    /// # Errors
    /// The output cannot be changed.
    fn begin_anew(&self, mark: u64) -> Result<()>;

    /// Begins to make a part, and returns what writes the record from now on.
    ///
    /// # Errors
    /// Nothing can be written there.
    fn begin(&mut self, part: usize) -> Result<Box<dyn WritableStore>>;

    /// Checks that nothing stands in the way of an output of which no part has been begun: nothing does where the output is
    /// exchanged for what is there now.
    ///
    /// # Errors
    /// There is something that would be mixed with it.
    fn check_unbegun(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the store that the parts are put into, if the output is one.
    fn store(&self) -> &dyn StoreDraft;

    /// Opens the file that all parts write to, if the output is one file, and makes it `bytes` bytes long. `lost` is called,
    /// under a lock where there are any, with the length that it has if that is shorter.
    ///
    /// # Errors
    /// The file cannot be opened or changed; those of `lost`.
    fn file(&self, _bytes: u64, _lost: &dyn Fn(u64) -> io::Result<()>) -> io::Result<File> {
        unreachable!("an output that is one file is on a disk")
    }

    /// Returns the length of the file that all parts write to; `None` if it is not there.
    fn file_length(&self) -> Option<u64> {
        None
    }

    /// Gives the output its name, with this mark: whoever finds the mark knows that the rest has no more use.
    ///
    /// # Errors
    /// Something cannot be renamed or written.
    fn publish(&self, mark: u64) -> Result<()>;

    /// Removes the record, and what else is under way.
    ///
    /// # Errors
    /// It cannot be removed.
    fn forget(&self) -> Result<()>;
}

/// The record of an output that is made in parts: what is made, and which parts are done. It lies in a store that all
/// processes share, under the keys `RECORD`, `LOCK` and `DONE`.
#[derive(Debug)]
pub struct Ledger {
    reader: Box<dyn KeyStore>,
    writer: Box<dyn WritableStore>,
    /// What is made, and how.
    record: Record,
    /// The prefix of the keys that say which parts are done.
    done: String,
}

impl Ledger {
    pub(super) fn new(reader: Box<dyn KeyStore>, writer: Box<dyn WritableStore>, record: Record) -> Self {
        Self { reader, writer, record, done: DONE.to_owned() }
    }

    /// Notes what is done by its record, so that nothing is taken for it that late parts of other records may note when their
    /// own has gone.
    #[cfg(feature = "remote")]
    pub(super) fn noting_by_record(self) -> Self {
        let done = format!("{DONE}/{:016x}", self.hash());
        Self { done, ..self }
    }

    /// Returns whether there is a record.
    fn is_begun(&self) -> Result<bool> {
        Ok(self.reader.size(RECORD)?.is_some())
    }

    /// Writes what is made, and returns true, unless another process has done so. The record of the first counts: both must
    /// make the same.
    ///
    /// # Errors
    /// The record cannot be written.
    fn begin(&self) -> io::Result<bool> {
        self.writer.put_if_absent(RECORD, self.record.to_string().as_bytes())
    }

    /// Compares what is under way, if anything is, with what is to be made, and says the first thing that differs.
    fn difference(&self) -> Result<Option<String>> {
        let Some(found) = self.reader.get(RECORD, MAX_RECORD)? else { return Ok(None) };
        Ok(self.record.difference(&Record::parse(&String::from_utf8_lossy(&found))))
    }

    /// Returns the key of something that is noted of a part.
    fn key(&self, part: usize, what: &str) -> String {
        format!("{}/{part}{what}", self.done)
    }

    /// Returns what is noted of a part under such a key, if that is there and can be read.
    fn text(&self, part: usize, what: &str, most: u64) -> Option<String> {
        let text = self.reader.get(&self.key(part, what), most).ok()??;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns whether a part is done. If that cannot be read, the part is made again.
    pub fn is_done(&self, part: usize) -> bool {
        self.reader.size(&self.key(part, "")).is_ok_and(|size| size.is_some())
    }

    /// Notes that a part is done, with the list of what became of all its units.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn set_done(&self, part: usize, made: &str) -> io::Result<()> {
        self.writer.put(&self.key(part, ""), made.as_bytes())
    }

    /// Returns the list of what became of the units of a part: of all, if it is done, else of those of which that is noted.
    /// If that cannot be read, they are made again, so it is empty.
    pub fn made(&self, part: usize) -> String {
        let text = |what| self.text(part, what, MAX_LIST);
        text("").or_else(|| text(".made")).unwrap_or_default()
    }

    /// Notes what became of units of a part that is not done.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn set_made(&self, part: usize, made: &str) -> io::Result<()> {
        self.writer.put(&self.key(part, ".made"), made.as_bytes())
    }

    /// Forgets that a part, or some of its units, are done.
    fn forget(&self, part: usize) -> io::Result<()> {
        self.writer.remove(&self.key(part, ""))?;
        self.writer.remove(&self.key(part, ".units"))
    }

    /// Returns how many units of a part are done. If that cannot be read, all are made again, so it is 0.
    pub fn units_done(&self, part: usize) -> usize {
        self.text(part, ".units", MAX_RECORD).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Notes how many units of a part are done.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn set_units_done(&self, part: usize, units: usize) -> io::Result<()> {
        self.writer.put(&self.key(part, ".units"), units.to_string().as_bytes())
    }

    /// Locks the output for the process that finishes it: if two processes exchanged names, the old output would be back.
    /// Returns `None` if nothing has begun, or where there are no locks.
    pub fn lock(&self) -> Option<Lock> {
        self.reader.lock(LOCK, false).ok()
    }

    /// Returns a number for the record, which is never 0.
    fn hash(&self) -> u64 {
        stage::fnv1a(self.record.to_string().as_bytes()).max(1)
    }
}

impl<'a> Parts<'a> {
    /// Takes a target that is made in parts, and the record of what is made there.
    ///
    /// # Errors
    /// A target that is no file and no store.
    pub fn new(target: &'a Target, record: Record) -> Result<Self> {
        match target {
            Target::File(file) => local::parts(file, false, record),
            Target::Folder(folder) => local::parts(folder, true, record),
            #[cfg(feature = "remote")]
            Target::Bucket(bucket) => Ok(bucket.parts(record)),
            Target::Stdout(_) | Target::Device { .. } => bail!("{}: is not made in parts", target.label()),
        }
    }

    /// Returns whether the output is there and is what these parts have made. Then what is left beside it has no more use,
    /// and [`forget`](PartsPlace::forget) removes it.
    ///
    /// # Errors
    /// Something else is under way; that cannot be found out.
    pub fn is_finished(&self) -> Result<bool> {
        self.compare()?;
        self.place.is_marked(self.ledger.hash())
    }

    /// Forgets what is under way, and what was made.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn restart(&self) -> Result<()> {
        self.place.begin_anew(self.ledger.hash())?;
        self.place.forget()
    }

    /// Begins the output, or finds that others have begun the same, to make a part of it. What a process left that was
    /// killed while it made the same part is removed.
    ///
    /// # Errors
    /// The parts that were begun are of another output: the message says the first thing that differs. Or writing fails.
    pub fn begin(&mut self, part: usize) -> Result<()> {
        let failed = format!("{}: cannot be written", self.beside);
        self.ledger.writer = self.place.begin(part).with_context(|| failed.clone())?;
        if !self.ledger.is_begun()? {
            // by now another process may have begun, and what stands there may be its own
            let stands = self.place.check_unbegun();
            if stands.is_err() && !self.ledger.is_begun()? {
                return stands;
            }
            self.ledger.begin().with_context(|| failed)?;
        }
        self.compare()
    }

    /// Checks that the output that is under way, if there is one, is the one of this record.
    ///
    /// # Errors
    /// Another output is under way; its record cannot be read.
    fn compare(&self) -> Result<()> {
        let differing = self.ledger.difference();
        let differing = differing.with_context(|| format!("{}/{RECORD}", self.beside))?;
        let Some(differing) = differing else { return Ok(()) };
        bail!("{}: {differing}: --restart begins anew", self.label)
    }

    /// Opens the file that all parts write to, and makes it `bytes` bytes long. If it is shorter, it is new, or was cut:
    /// then the parts that `beyond` returns for its length are no longer done, and that is noted first, since afterwards
    /// nothing tells what was lost from zeros.
    ///
    /// # Errors
    /// The file cannot be opened; a note cannot be removed.
    pub fn file(&self, bytes: u64, beyond: impl Fn(u64) -> Vec<usize>) -> io::Result<File> {
        self.place.file(bytes, &|length| beyond(length).into_iter().try_for_each(|part| self.ledger.forget(part)))
    }

    /// Gives the output its name, and removes all else. The [`lock`](Ledger::lock) is not needed once the output has its
    /// name.
    ///
    /// # Errors
    /// The output cannot be renamed, or what is left cannot be removed.
    pub fn finish(&self, lock: Option<Lock>) -> Result<()> {
        self.place.publish(self.ledger.hash())?;
        // Windows removes no folder in which a file is open
        drop(lock);
        self.place.forget().with_context(|| format!("{}: cannot be removed", self.beside))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::storage::key_store::tests::MemoryStore;

    /// A store `out`, or a file, of which all of one part is there, and what is hidden beside it.
    fn parts(folder: &Path, is_folder: bool, check: impl Fn(&Parts<'_>, &dyn Fn() -> Vec<String>)) {
        let name = folder.join("out");
        let target = match is_folder {
            true => Target::resolve_folder(&name, "out".to_owned(), false, &["c/0"]),
            false => Target::resolve(&name, "out".to_owned(), false),
        };
        let target = target.expect("a target");
        let mut parts = Parts::new(&target, Record::parse("one\ntwo\n")).expect("parts");
        parts.begin(1).expect("begun");
        match is_folder {
            true => parts.place.store().put("c/0", b"new").expect("put"),
            false => {
                parts.file(3, |_| vec![]).and_then(|mut file| io::Write::write_all(&mut file, b"new")).expect("written")
            }
        }
        parts.ledger.set_done(1, "").expect("done");
        check(&parts, &|| {
            let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
            names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with('.')).collect()
        });
    }

    /// Calls `each` for a file and a folder, new and in the place of an old one.
    fn each(each: impl Fn(&Path, bool)) {
        for (is_folder, is_old) in [(false, false), (false, true), (true, false), (true, true)] {
            let folder = tempfile::tempdir().expect("a folder");
            let old = folder.path().join("out");
            match (is_folder, is_old) {
                (_, false) => {}
                (false, true) => fs::write(old, "old").expect("written"),
                (true, true) => {
                    fs::create_dir_all(old.join("c"))
                        .and_then(|()| fs::write(old.join("c/0"), "old"))
                        .expect("written");
                }
            }
            each(folder.path(), is_folder);
        }
    }

    fn content(folder: &Path, is_folder: bool) -> String {
        let out = folder.join("out");
        fs::read_to_string(if is_folder { out.join("c/0") } else { out }).expect("a file")
    }

    #[test]
    fn records_in_memory() {
        let store = MemoryStore::default();
        let ledger =
            |record: &str| Ledger::new(Box::new(store.clone()), Box::new(store.clone()), Record::parse(record));
        let (first, same, other) = (ledger("one\ntwo\n"), ledger("one\ntwo\n"), ledger("one\nthree\n"));
        assert_eq!(first.difference().expect("nothing is there"), None);
        assert!(first.lock().is_none());
        store.put(LOCK, b"").expect("written");
        for ledger in [&first, &same, &other] {
            ledger.begin().expect("begun");
        }
        assert_eq!(same.difference().expect("read"), None);
        assert!(same.lock().is_some());
        let differing = |ledger: &Ledger| ledger.difference().expect("read").expect("a difference");
        assert_eq!(differing(&other), "begun with two, now without");
        assert_eq!(differing(&ledger("one\n")), "begun with two, now without");
        assert!(first.hash() == same.hash() && first.hash() != other.hash());
        first.set_done(3, "").and_then(|()| first.set_units_done(4, 17)).expect("written");
        assert_eq!([2, 3].map(|part| same.is_done(part)), [false, true]);
        assert_eq!([3, 4].map(|part| same.units_done(part)), [0, 17]);
        assert_eq!(store.keys(), ["command", "done/3", "done/4.units", "lock"]);
        store.put("done/4.units", b"nonsense").expect("written");
        assert_eq!(same.units_done(4), 0);
    }

    #[test]
    fn who_is_late_leaves_nothing() {
        each(|folder, is_folder| {
            parts(folder, is_folder, |parts, hidden| {
                assert!(!parts.is_finished().expect("the same"));
                parts.finish(parts.ledger.lock()).expect("finished");
                assert_eq!((content(folder, is_folder), hidden()), ("new".to_owned(), vec![]));
                // Another process does not know yet that the output is finished.
                let ledger = &parts.ledger;
                assert!(ledger.set_units_done(2, 1).is_err() && ledger.set_done(2, "").is_err());
                assert!(parts.file(3, |_| vec![]).is_err());
                assert!(parts.place.store().put("c/1", b"late").is_err() && ledger.lock().is_none());
                assert!(parts.finish(None).is_err());
                assert_eq!((content(folder, is_folder), hidden()), ("new".to_owned(), vec![]));
                assert!(parts.is_finished().expect("the same"));
            });
        });
    }

    #[test]
    fn who_finishes_may_be_killed() {
        each(|folder, is_folder| {
            parts(folder, is_folder, |parts, hidden| {
                // The process is killed after the output has its name, while the rest is removed.
                parts.place.publish(parts.ledger.hash()).expect("in its place");
                fs::create_dir_all(folder.join(".out.tensorop.gone/done")).expect("a folder");
                assert!(parts.is_finished().expect("the same") && !hidden().is_empty());
                parts.place.forget().expect("removed");
                assert_eq!((content(folder, is_folder), hidden()), ("new".to_owned(), vec![]));
            });
        });
    }

    #[test]
    fn what_others_made_has_no_mark() {
        each(|folder, is_folder| {
            parts(folder, is_folder, |parts, hidden| {
                let changed = || fs::metadata(folder.join("out")).and_then(|found| found.modified()).ok();
                let before = changed();
                parts.restart().expect("forgotten");
                assert_eq!((hidden(), changed()), (vec![], before));
                assert!(!parts.is_finished().expect("the same"));
            });
        });
    }
}
