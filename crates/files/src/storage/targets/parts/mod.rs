//! Outputs that any number of processes make in parts. Until the output is complete, a [record](Ledger) beside it lists
//! its arguments and finished parts. A unit of a finished part that was lost or cut off since is made again.
//!
//! Files are never half written, and the record never claims too much. So any part may be killed, repeated, or run
//! twice at once, on any machine.

use std::collections::{BTreeSet, HashSet};
use std::fmt::{self, Debug, Write as _};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Mutex;

use super::draft::StoreDraft;
use super::stage;
use crate::storage::key_store::{KeyStore, Lock, WritableStore};
use crate::storage::read_at::Stamp;
use tensorop_kernels::error::{Context, Result, bail};
use tensorop_kernels::parallel::locked;

pub mod local;

const RECORD: &str = "command";

/// Locked by the finishing process.
const LOCK: &str = "lock";

const DONE: &str = "done";

/// In bytes, far above any command.
const MAX_RECORD: u64 = 1 << 26;

/// In bytes, for some 40 million units.
const MAX_LIST: u64 = 1 << 30;

/// An output that is made in parts.
#[derive(Debug)]
pub struct Parts<'a> {
    pub(crate) label: &'a str,
    pub(crate) beside: String,
    pub place: Box<dyn PartsPlace + 'a>,
    pub ledger: Ledger,
}

/// The place of an output in parts: a disk or a bucket.
pub trait PartsPlace: Debug {
    fn is_marked(&self, mark: u64) -> Result<bool>;

    /// Returns whether the values still match the sum in the mark; true without a sum.
    fn is_as_finished(&self) -> Result<bool>;

    /// Makes an existing output no longer count as finished.
    fn begin_anew(&self, mark: u64) -> Result<()>;

    /// Begins a part and returns the writer of the record.
    fn begin(&mut self, part: usize) -> Result<Box<dyn WritableStore>>;

    /// Fails if existing data would be mixed with the output, which is not yet begun.
    fn check_unbegun(&self) -> Result<()> {
        Ok(())
    }

    fn store(&self) -> &dyn StoreDraft;

    /// Opens the file of all parts and extends it to `bytes` bytes. Calls `lost` with the length of a shorter file,
    /// under a lock if possible.
    fn file(&self, _bytes: u64, _lost: &dyn Fn(u64) -> io::Result<()>) -> io::Result<File> {
        unreachable!("an output that is one file is on a disk")
    }

    fn file_length(&self) -> Option<u64> {
        None
    }

    /// Gives the output its name and a mark. A process that finds the mark may remove the record.
    fn publish(&self, mark: u64) -> Result<()>;

    fn forget(&self) -> Result<()>;
}

/// The arguments and finished parts, in a store that all processes share.
#[derive(Debug)]
pub struct Ledger {
    reader: Box<dyn KeyStore>,
    writer: Box<dyn WritableStore>,
    record: Record,
    done: String,
}

impl Ledger {
    pub(crate) fn new(reader: Box<dyn KeyStore>, writer: Box<dyn WritableStore>, record: Record) -> Self {
        Self { reader, writer, record, done: DONE.to_owned() }
    }

    /// Puts the hash of the record into the keys: slow processes of a removed record may still write their own keys.
    pub fn noting_by_record(self) -> Self {
        let done = format!("{DONE}/{:016x}", self.hash());
        Self { done, ..self }
    }

    fn is_begun(&self) -> Result<bool> {
        Ok(self.reader.size(RECORD)?.is_some())
    }

    /// Returns false if another process has written a record, which must be equal.
    fn begin(&self) -> io::Result<bool> {
        self.writer.put_if_absent(RECORD, self.record.to_string().as_bytes())
    }

    fn difference(&self) -> Result<Option<String>> {
        let Some(found) = self.reader.get(RECORD, MAX_RECORD)? else { return Ok(None) };
        Ok(self.record.difference(&Record::parse(&String::from_utf8_lossy(&found))))
    }

    fn key(&self, part: usize, what: &str) -> String {
        format!("{}/{part}{what}", self.done)
    }

    fn text(&self, part: usize, what: &str, most: u64) -> Option<String> {
        let text = self.reader.get(&self.key(part, what), most).ok()??;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// A part whose key cannot be read is made again.
    pub fn is_done(&self, part: usize) -> bool {
        self.reader.size(&self.key(part, "")).is_ok_and(|size| size.is_some())
    }

    /// Records a part as done, with the list of its units.
    pub fn set_done(&self, part: usize, made: &str) -> io::Result<()> {
        self.writer.put(&self.key(part, ""), made.as_bytes())
    }

    /// Incomplete if the part is not done, and empty if unreadable, so that units are made again.
    pub fn made(&self, part: usize) -> String {
        let text = |what| self.text(part, what, MAX_LIST);
        text("").or_else(|| text(".made")).unwrap_or_default()
    }

    /// Records units of an unfinished part.
    pub fn set_made(&self, part: usize, made: &str) -> io::Result<()> {
        self.writer.put(&self.key(part, ".made"), made.as_bytes())
    }

    fn forget(&self, part: usize) -> io::Result<()> {
        self.writer.remove(&self.key(part, ""))?;
        self.writer.remove(&self.key(part, ".units"))
    }

    /// 0 if unreadable, so that all units are made again.
    pub fn units_done(&self, part: usize) -> usize {
        self.text(part, ".units", MAX_RECORD).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    pub fn set_units_done(&self, part: usize, units: usize) -> io::Result<()> {
        self.writer.put(&self.key(part, ".units"), units.to_string().as_bytes())
    }

    /// Locks the output for the finishing process: two processes that exchange names would restore the old output.
    /// `None` before the first part, or without locks.
    pub fn lock(&self) -> Option<Lock> {
        self.reader.lock(LOCK, false).ok()
    }

    /// The hash is never 0.
    fn hash(&self) -> u64 {
        stage::fnv1a(self.record.to_string().as_bytes()).max(1)
    }
}

impl<'a> Parts<'a> {
    /// Returns whether these parts have made the output. Then [`forget`](PartsPlace::forget) may remove the rest.
    pub fn is_finished(&self) -> Result<bool> {
        self.compare()?;
        self.place.is_marked(self.ledger.hash())
    }

    /// Discards the parts.
    pub fn restart(&self) -> Result<()> {
        self.place.begin_anew(self.ledger.hash())?;
        self.place.forget()
    }

    /// Begins or joins the output, and removes the remains of a killed process of the same part.
    pub fn begin(&mut self, part: usize) -> Result<()> {
        let failed = format!("{}: cannot be written", self.beside);
        self.ledger.writer = self.place.begin(part).with_context(|| failed.clone())?;
        if !self.ledger.is_begun()? {
            // Another process may have begun since the first check.
            let stands = self.place.check_unbegun();
            if stands.is_err() && !self.ledger.is_begun()? {
                return stands;
            }
            self.ledger.begin().with_context(|| failed)?;
        }
        self.compare()
    }

    /// Fails if the output in progress has another record.
    fn compare(&self) -> Result<()> {
        let differing = self.ledger.difference();
        let differing = differing.with_context(|| format!("{}/{RECORD}", self.beside))?;
        let Some(differing) = differing else { return Ok(()) };
        bail!("{}: {differing}: --restart begins anew", self.label)
    }

    /// Opens the file of all parts. If it is shorter than `bytes`, the parts that `beyond` returns for its length are
    /// first recorded as not done: in the grown file, lost data look like zeros.
    pub fn file(&self, bytes: u64, beyond: impl Fn(u64) -> Vec<usize>) -> io::Result<File> {
        self.place.file(bytes, &|length| beyond(length).into_iter().try_for_each(|part| self.ledger.forget(part)))
    }

    /// Gives the output its name and removes the rest.
    pub fn finish(&self, lock: Option<Lock>) -> Result<()> {
        self.place.publish(self.ledger.hash())?;
        // Windows does not remove a folder with an open file.
        drop(lock);
        self.place.forget().with_context(|| format!("{}: cannot be removed", self.beside))
    }
}

/// The state of a finished unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeUnit {
    File(u64),
    /// Not stored, because it holds only the fill value.
    Empty,
}

/// The known units of one part, by their numbers in the whole output.
#[derive(Debug)]
pub struct MadeUnits<'a> {
    ledger: &'a Ledger,
    part: usize,
    first: usize,
    found: Mutex<FoundUnits>,
}

#[derive(Debug, Default)]
struct FoundUnits {
    units: Vec<Option<MadeUnit>>,
    /// The number of empty units, now and at the last update of the record.
    empty: usize,
    noted: usize,
}

impl<'a> MadeUnits<'a> {
    /// Reads the list of a part, which a killed process may have written.
    pub fn of(ledger: &'a Ledger, part: usize, own: Range<usize>) -> Self {
        let units = parsed(&ledger.made(part), &own).unwrap_or_else(|| vec![None; own.len()]);
        let empty = units.iter().filter(|unit| **unit == Some(MadeUnit::Empty)).count();
        Self { ledger, part, first: own.start, found: Mutex::new(FoundUnits { units, empty, noted: empty }) }
    }

    /// `None` if the state is unknown.
    pub fn get(&self, number: usize) -> Option<MadeUnit> {
        locked(&self.found).units[number - self.first]
    }

    /// Adds a unit. Files need no record. Empty units are recorded when their number has doubled, so a killed part
    /// repeats at most half.
    pub fn add(&self, number: usize, unit: MadeUnit) -> Result<()> {
        let mut found = locked(&self.found);
        let before = found.units[number - self.first].replace(unit);
        if unit == MadeUnit::Empty && before != Some(unit) {
            found.empty += 1;
            if found.empty >= 2 * found.noted.max(1) {
                self.ledger.set_made(self.part, &listed(&found.units, self.first))?;
                found.noted = found.empty;
            }
        }
        Ok(())
    }

    pub fn text(&self) -> String {
        listed(&locked(&self.found).units, self.first)
    }
}

/// The list has a line `FIRST LAST BYTES` for each run of files of one size, and `FIRST LAST -` for each run of empty
/// units.
fn listed(units: &[Option<MadeUnit>], first: usize) -> String {
    let (mut out, mut first) = (String::new(), first);
    for run in units.chunk_by(|a, b| a == b) {
        let last = first + run.len() - 1;
        let written = match run[0] {
            Some(MadeUnit::File(bytes)) => writeln!(out, "{first} {last} {bytes}"),
            Some(MadeUnit::Empty) => writeln!(out, "{first} {last} -"),
            None => Ok(()),
        };
        written.expect("a String takes any text");
        first += run.len();
    }
    out
}

fn parsed(text: &str, own: &Range<usize>) -> Option<Vec<Option<MadeUnit>>> {
    let mut units = vec![None; own.len()];
    for line in text.lines() {
        let (first, rest) = line.split_once(' ')?;
        let (last, unit) = rest.split_once(' ')?;
        let [first, last] = [first, last].map(|number| number.parse::<usize>().ok()?.checked_sub(own.start));
        let unit = if unit == "-" { MadeUnit::Empty } else { MadeUnit::File(unit.parse().ok()?) };
        units.get_mut(first?..=last?)?.fill(Some(unit));
    }
    Some(units)
}

const MAX_SHOWN: usize = 60;

/// The arguments of an output in parts: in the text, lines of tab-separated fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    lines: Vec<RecordLine>,
}

/// No field contains a tab or a line break.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RecordLine {
    /// An option, or the role of an operand. Keys may repeat.
    key: String,
    value: Option<String>,
    /// A version of the file or folder, which is never shown.
    stamp: Option<String>,
}

impl Record {
    pub fn add(&mut self, key: &str, value: Option<&str>, stamp: Option<&str>) {
        let [value, stamp] = [value, stamp].map(|text| text.map(escaped));
        self.lines.push(RecordLine { key: escaped(key), value, stamp });
    }

    /// Adds the versions of further files that hold data, such as the shards of an index.
    pub fn add_data(&mut self, stamps: impl IntoIterator<Item = Stamp>) {
        let own: HashSet<_> = self.lines.iter().filter_map(|line| line.stamp.as_deref()).collect();
        let others: BTreeSet<_> = stamps.into_iter().filter_map(stage::stamp_text).collect();
        let others: Vec<_> = others.into_iter().filter(|stamp| !own.contains(&**stamp)).collect();
        others.iter().for_each(|stamp| self.add("data", Some("in other files"), Some(stamp)));
    }

    /// A malformed text gives a record that differs from all others.
    pub(crate) fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut fields = line.splitn(3, '\t').map(str::to_owned);
            RecordLine { key: fields.next().unwrap_or_default(), value: fields.next(), stamp: fields.next() }
        };
        Self { lines: text.split_terminator('\n').map(line).collect() }
    }

    /// Returns the first difference. Lines are compared by key, because an option may be on one side only.
    pub(crate) fn difference(&self, begun: &Self) -> Option<String> {
        begun.lines.iter().chain(&self.lines).find_map(|RecordLine { key, .. }| {
            let [then, now] = [begun, self].map(|record| record.of(key));
            if then == now {
                return None;
            }
            let [before, after] = [&then, &now].map(|lines| lines_text(lines));
            let changed = then.iter().zip(&now).find(|(then, now)| then.stamp != now.stamp);
            Some(match changed {
                _ if then.is_empty() => format!("begun without {key}, now with {key}{after}"),
                _ if now.is_empty() => format!("begun with {key}{before}, now without"),
                Some((file, _)) if values(&then).eq(values(&now)) => {
                    format!("begun with {key}{}, which has changed since then", lines_text(&[file]))
                }
                _ => format!("begun with {key}{before}, now{after}"),
            })
        })
    }

    fn of(&self, key: &str) -> Vec<&RecordLine> {
        self.lines.iter().filter(|line| line.key == key).collect()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for RecordLine { key, value, stamp } in &self.lines {
            f.write_str(key)?;
            [value, stamp].into_iter().flatten().try_for_each(|field| write!(f, "\t{field}"))?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// Different texts stay different.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn values<'a>(lines: &'a [&RecordLine]) -> impl Iterator<Item = Option<&'a String>> {
    lines.iter().map(|line| line.value.as_ref())
}

fn lines_text(lines: &[&RecordLine]) -> String {
    let mut out = String::new();
    for value in values(lines).flatten() {
        out.push(' ');
        out.extend(value.chars().take(MAX_SHOWN));
        if value.chars().nth(MAX_SHOWN).is_some() {
            out.push('…');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::targets::target::Target;
    use crate::storage::tests::MemoryStore;
    use std::fs;
    use std::path::Path;

    fn parts(folder: &Path, is_folder: bool, check: impl Fn(&Parts<'_>, &dyn Fn() -> Vec<String>)) {
        let name = folder.join("out");
        let target = match is_folder {
            true => Target::resolve_folder(&name, "out".to_owned(), false, &["c/0"]),
            false => Target::resolve(&name, "out".to_owned(), false),
        };
        let target = target.expect("a target");
        let mut parts = target.parts(Record::parse("one\ntwo\n")).expect("parts");
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

    #[test]
    fn runs_of_units() {
        let [file, empty] = [Some(MadeUnit::File(7)), Some(MadeUnit::Empty)];
        let rows = [
            (vec![], ""),
            (vec![None, None], ""),
            (vec![file, file, empty], "10 11 7\n12 12 -\n"),
            (vec![None, empty, empty, None, file], "11 12 -\n14 14 7\n"),
        ];
        for (units, expected) in rows {
            let own = 10..10 + units.len();
            assert_eq!((listed(&units, 10).as_str(), parsed(expected, &own)), (expected, Some(units)));
        }
        for damaged in ["1", "1 2", "10 11 x\n", "9 10 -\n", "10 13 -\n", "12 10 5\n", "10 18446744073709551615 -\n"] {
            assert_eq!(parsed(damaged, &(10..13)), None, "{damaged}");
        }
    }
}

#[cfg(test)]
mod record_tests {
    use super::*;

    type Line<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

    fn record(lines: &[Line<'_>]) -> Record {
        let mut record = Record::default();
        lines.iter().for_each(|(key, value, stamp)| record.add(key, *value, *stamp));
        record
    }

    #[test]
    fn what_differs_is_said() {
        let long = "7".repeat(100);
        let cut = format!("begun with --at {}…, now :1", &long[..60]);
        let rows: [(&[Line<'_>], &[Line<'_>], &str); 9] = [
            (&[("--at", Some(":1"), None)], &[("--at", Some(":2"), None)], "begun with --at :1, now :2"),
            (&[("--at", Some(&long), None)], &[("--at", Some(":1"), None)], &cut),
            (&[("--fill", Some("0"), None)], &[], "begun with --fill 0, now without"),
            (&[], &[("--fill", Some("0"), None)], "begun without --fill, now with --fill 0"),
            (&[("--packed", None, None)], &[], "begun with --packed, now without"),
            (&[], &[("--packed", None, None)], "begun without --packed, now with --packed"),
            (
                &[("IN", Some("a"), Some("1")), ("IN", Some("b"), Some("2"))],
                &[("IN", Some("a"), Some("1")), ("IN", Some("b"), Some("3"))],
                "begun with IN b, which has changed since then",
            ),
            (
                &[("IN", Some("a"), Some("1")), ("IN", Some("b"), Some("2"))],
                &[("IN", Some("b"), Some("2")), ("IN", Some("a"), Some("1"))],
                "begun with IN a b, now b a",
            ),
            (&[("IN", Some("a"), Some("1"))], &[("IN", Some("b"), Some("2"))], "begun with IN a, now b"),
        ];
        for (begun, now, expected) in rows {
            assert_eq!(record(now).difference(&record(begun)).as_deref(), Some(expected));
        }
        let same: [Line<'_>; 2] = [("--at", Some(":1"), None), ("--fill", Some("0"), None)];
        let turned: [Line<'_>; 2] = [same[1], same[0]];
        assert_eq!(record(&same).difference(&record(&turned)), None);
    }

    #[test]
    fn no_text_ends_a_field_or_a_line() {
        let first =
            record(&[("--fill", Some("a\tb\nc\r\\t"), None), ("IN", Some(""), Some("x")), ("--packed", None, None)]);
        let text = first.to_string();
        assert_eq!(text, "--fill\ta\\tb\\nc\\r\\\\t\nIN\t\tx\n--packed\n");
        assert_eq!(Record::parse(&text), first);
        assert!(first.difference(&Record::parse("nonsense")).is_some());
    }
}
