//! The targets of outputs. A [`Target`] is what the name of an output leads to: standard output, a file, a folder or a
//! device. An [`OpenOutput`] is an output that is being written.
//!
//! A file has its name only when it is complete. So its items are written to a [`Draft`], which gets the target's name by a
//! rename, or by a link where nothing may be replaced. A full disk, an error in the last item or a signal leave what was
//! there before. The draft lies in the folder of the target, because a rename across file systems is a copy, which can be
//! interrupted.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::links::{follow, refuse_hashed};
use super::named_target::{NamedTarget, has_mark};
use super::platform::{
    copy_mode, is_open_as, is_writable, link, open_folder, remove_stale, same_file, sync_folder, unnamed,
};
use super::read_at::Identity;
#[cfg(feature = "remote")]
use super::remote::{Address, BucketOutput, BucketTarget};
use super::signals;
use super::stage::{Stage, fnv1a, folder_of};
use super::store_draft::StoreDraft;
use super::stream::OutputStream;
use crate::error::{Context, Error, ErrorKind, Result, bail};

/// The thing that the name of an output leads to.
#[derive(Debug)]
pub enum Target {
    /// Standard output.
    Stdout(OutputStream),
    /// A file that does not exist yet, or a regular file that will be replaced.
    File(NamedTarget),
    /// A folder that does not exist yet, or will be replaced.
    Folder(NamedTarget),
    /// A name in a bucket that a store is to have.
    #[cfg(feature = "remote")]
    Bucket(BucketTarget),
    /// Something that exists and is no regular file: it is written as it comes.
    Device {
        /// As the user named it.
        name: PathBuf,
        /// What messages call it.
        label: String,
    },
}

impl Target {
    /// Finds out what `name` is, which messages call `label`, without writing anything.
    ///
    /// # Errors
    /// A folder; a file in a folder that does not exist; an existing file that the user may not write. An existing file
    /// where `no_clobber` forbids it is an error of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists).
    pub fn resolve(name: &Path, label: String, no_clobber: bool) -> Result<Self> {
        let existing = existing(name, &label, no_clobber)?;
        refuse_hashed(name).with_context(|| label.clone())?;
        if name.as_os_str().is_empty() {
            bail!("{}: an empty name", label.trim_end());
        }
        if existing.as_ref().is_some_and(Metadata::is_dir) {
            bail!("{label}: is a folder, expected a file");
        }
        let path = match follow(name).with_context(|| label.clone())? {
            Some(path) if existing.as_ref().is_none_or(Metadata::is_file) => path,
            None if existing.is_none() => name.to_owned(),
            // The name is one for standard output, which is open already.
            None if existing.as_ref().is_some_and(is_stdout) => return Ok(Self::Stdout(OutputStream::stdout())),
            _ => return Ok(Self::Device { name: name.to_owned(), label }),
        };
        if name.as_os_str().as_encoded_bytes().ends_with(b"/") || path.file_name().is_none() {
            bail!("{label}: is no name of a file");
        }
        check_place(&path, &label, existing.is_some())?;
        Ok(Self::File(NamedTarget { label, path, existing: existing.map(Box::new), no_clobber, marks: &[] }))
    }

    /// Finds out what `name` is for an output that is a folder, as [`resolve`](Self::resolve) does for a file. A
    /// folder may be replaced if it has a file of a name in `marks`.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve); a file has the name, or a folder that may not be replaced.
    pub fn resolve_folder(
        name: &Path,
        label: String,
        no_clobber: bool,
        marks: &'static [&'static str],
    ) -> Result<Self> {
        let existing = existing(name, &label, no_clobber)?;
        if existing.as_ref().is_some_and(|found| !found.is_dir()) {
            bail!("{label}: is a file, expected a folder of its format, or nothing there");
        }
        if existing.is_some() && !has_mark(name, marks) {
            bail!("{label}: is a folder and no Zarr store, and is not replaced");
        }
        // The name may end in a slash. A path such as `.` has no last name.
        refuse_hashed(&name.components().collect::<PathBuf>()).with_context(|| label.clone())?;
        let path = follow(&name.components().collect::<PathBuf>()).with_context(|| label.clone())?;
        let path = path.filter(|path| path.file_name().is_some());
        let Some(path) = path else { bail!("{label}: is no name of a folder") };
        check_place(&path, &label, existing.is_some())?;
        Ok(Self::Folder(NamedTarget { label, path, existing: existing.map(Box::new), no_clobber, marks }))
    }

    /// Returns what messages call the target.
    pub fn label(&self) -> &str {
        match self {
            Target::Stdout(_) => "standard output",
            Target::File(NamedTarget { label, .. })
            | Target::Folder(NamedTarget { label, .. })
            | Target::Device { label, .. } => label,
            #[cfg(feature = "remote")]
            Target::Bucket(bucket) => &bucket.label,
        }
    }

    /// Returns the path of the file or folder without links, dots and the working folder; `None` of what is neither.
    ///
    /// # Errors
    /// The folder that it lies in is not there any more.
    pub fn canonical(&self) -> io::Result<Option<PathBuf>> {
        let (Target::File(target) | Target::Folder(target)) = self else { return Ok(None) };
        let folder = fs::canonicalize(folder_of(&target.path))?;
        Ok(target.path.file_name().map(|name| folder.join(name)))
    }

    /// Returns whether an address lies in the output, or has the output in it.
    #[cfg(feature = "remote")]
    pub fn overlaps(&self, address: &str) -> bool {
        let Target::Bucket(bucket) = self else { return false };
        Address::parse(address).is_ok_and(|address| bucket.overlaps(&address))
    }

    /// Returns whether an address lies in the output, or has the output in it: this build writes to files alone.
    #[cfg(not(feature = "remote"))]
    pub fn overlaps(&self, _: &str) -> bool {
        false
    }

    /// Returns the metadata of the file or folder that is there now and will be replaced.
    pub fn existing(&self) -> Option<&Metadata> {
        let (Target::File(target) | Target::Folder(target)) = self else { return None };
        target.existing.as_deref()
    }

    /// Returns what tells what is there now, and will be replaced, from all else.
    pub fn identity(&self) -> Option<Identity> {
        match self {
            #[cfg(feature = "remote")]
            Target::Bucket(bucket) => bucket.is_there.then(|| bucket.identity()),
            other => other.existing().map(Identity::of),
        }
    }

    /// Returns whether what is there now stays readable until the output is whole. A bucket renames nothing.
    pub fn keeps_what_it_replaces(&self) -> bool {
        match self {
            #[cfg(feature = "remote")]
            Target::Bucket(_) => false,
            Target::Stdout(_) | Target::File(_) | Target::Folder(_) | Target::Device { .. } => true,
        }
    }

    /// Begins the output only to see that it can be begun: dropped, it leaves no trace. A device is not opened, and nothing is
    /// put into a bucket.
    ///
    /// # Errors
    /// Those of [`create`](Self::create).
    pub fn probe(&self) -> Result<Option<OpenOutput<'_>>> {
        match self {
            #[cfg(feature = "remote")]
            Target::Bucket(_) => Ok(None),
            Target::Device { .. } => Ok(None),
            Target::Stdout(_) | Target::File(_) | Target::Folder(_) => self.begin().map(Some),
        }
    }

    /// Begins the output, and removes what earlier writers of the same file have left if they were killed.
    ///
    /// # Errors
    /// The file cannot be created, or the device cannot be opened.
    pub fn create(&self) -> Result<OpenOutput<'_>> {
        if let Target::File(target) = self {
            (0..SHARED_NAMES).for_each(|number| drop(remove_stale(&shared_name(&target.path, number))));
        }
        self.begin()
    }

    fn begin(&self) -> Result<OpenOutput<'_>> {
        signals::survive_size_limit();
        let begun = match self {
            Target::Stdout(stdout) => Ok(OpenOutput::Stdout(stdout.clone())),
            Target::Device { name, .. } => OpenOptions::new().append(true).open(name).map(OpenOutput::Device),
            Target::File(target) => Draft::create(&target.path).map(|draft| OpenOutput::File { draft, target }),
            Target::Folder(target) => Stage::create(&target.path).map(|stage| OpenOutput::Folder { stage, target }),
            #[cfg(feature = "remote")]
            Target::Bucket(bucket) => {
                let begun = bucket.begin().with_context(|| self.label())?;
                return Ok(OpenOutput::Bucket(Box::new(begun)));
            }
        };
        begun.with_context(|| format!("{}: cannot be created", self.label()))
    }
}

/// An output that has begun. Nothing has its name before [`finish`](Self::finish). Dropped before that, the output
/// leaves no trace but what a device took.
#[derive(Debug)]
pub enum OpenOutput<'a> {
    /// Standard output.
    Stdout(OutputStream),
    /// A device or pipe.
    Device(File),
    /// A draft beside its target.
    File {
        /// The draft.
        draft: Draft,
        /// The file that it becomes.
        target: &'a NamedTarget,
    },
    /// A folder beside its target.
    Folder {
        /// The stage that is being filled.
        stage: Stage,
        /// The folder that it becomes.
        target: &'a NamedTarget,
    },
    /// A store in a bucket.
    #[cfg(feature = "remote")]
    Bucket(Box<BucketOutput<'a>>),
}

impl Write for OpenOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer()?.flush()
    }
}

impl OpenOutput<'_> {
    fn writer(&mut self) -> io::Result<&mut dyn Write> {
        match self {
            OpenOutput::Stdout(stdout) => Ok(stdout),
            OpenOutput::Device(file) | OpenOutput::File { draft: Draft { file, .. }, .. } => Ok(file),
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Returns whether a person reads the output.
    pub fn is_terminal(&self) -> bool {
        match self {
            OpenOutput::Stdout(stdout) => stdout.is_terminal(),
            OpenOutput::Device(file) => file.is_terminal(),
            _ => false,
        }
    }

    /// Returns the store that values are put into, if the output is one.
    pub fn as_store(&self) -> Option<&dyn StoreDraft> {
        match self {
            OpenOutput::Folder { stage, .. } => Some(stage),
            #[cfg(feature = "remote")]
            OpenOutput::Bucket(bucket) => Some(bucket.store()),
            OpenOutput::Stdout(_) | OpenOutput::Device(_) | OpenOutput::File { .. } => None,
        }
    }

    /// Returns the file that can be written in any order, if the output is one.
    pub fn as_file(&self) -> Option<&File> {
        if let OpenOutput::File { draft, .. } = self { Some(&draft.file) } else { None }
    }

    /// Gives the complete output its name. A file that replaces another is written to the disk before it takes the
    /// name, and so is the name before this returns. When a new file reaches the disk is left to the system.
    ///
    /// The two differ in what a loss of power can cost. A file that is replaced may be the only copy of its content, and if
    /// the rename reached the disk before the data, an empty file would be left under its name. What was not there before
    /// can be made again by the same command, and to wait for the disk would take longer than all the rest of a small job.
    ///
    /// # Errors
    /// The output cannot be flushed, written to the disk, linked or renamed.
    pub fn finish(mut self) -> Result<()> {
        match &mut self {
            OpenOutput::Stdout(_) | OpenOutput::Device(_) => Ok(self.flush()?),
            OpenOutput::Folder { stage, target } => stage.publish(target).with_context(|| target.failed()),
            #[cfg(feature = "remote")]
            OpenOutput::Bucket(bucket) => bucket.finish(),
            OpenOutput::File { draft, target } => {
                let folder = draft.publish(target).with_context(|| target.failed())?;
                folder.map_or(Ok(()), |folder| sync_folder(&folder)).with_context(|| {
                    format!("{}: is replaced, but its folder cannot be written to the disk", target.label)
                })
            }
        }
    }
}

/// Returns the metadata of what has a name, or `None` if nothing has it.
fn found(path: &Path, label: &str) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| label.to_owned()),
    }
}

/// Returns the metadata of what an output is to replace, which `no_clobber` forbids.
fn existing(name: &Path, label: &str, no_clobber: bool) -> Result<Option<Metadata>> {
    let existing = found(name, label)?;
    if existing.is_some() && no_clobber {
        return Err(Error::of(ErrorKind::Io(io::ErrorKind::AlreadyExists), "exists").within(label));
    }
    Ok(existing)
}

/// Returns whether something is what standard output leads to. A pipe has no path that could tell it.
fn is_stdout(found: &Metadata) -> bool {
    fs::metadata("/proc/self/fd/1").is_ok_and(|stdout| same_file(found, &stdout))
}

/// Checks that what exists may be replaced, or else that the folder for what is new is there.
fn check_place(path: &Path, label: &str, exists: bool) -> Result<()> {
    if exists {
        // A rename only needs the right to write in the folder. It would replace a file that its owner has made read-only.
        return is_writable(path).with_context(|| format!("{label}: is not replaced"));
    }
    let is_there = found(folder_of(path), label)?.is_some_and(|folder| folder.is_dir());
    if is_there {
        return Ok(());
    }
    let message = format!("there is no folder {}", folder_of(path).display());
    Err(Error::of(ErrorKind::Io(io::ErrorKind::NotFound), message).within(label))
}

/// A file that is being written, in the folder of its target. It has no name where the system has such files, so that
/// nothing is left even if the program is killed. Elsewhere it has a temporary name, which is removed when the draft is
/// dropped or when a signal ends the program.
///
/// A draft that replaces a file has a temporary name for an instant on every system, since a file without a name can be
/// linked but not renamed. If SIGKILL leaves it there, the next output to the same target removes it: temporary names
/// follow from the target's name, and a process that is alive holds a lock on its draft. The system ends the lock with
/// the process, which a process id could not tell, since another process may have the same one later.
#[derive(Debug)]
pub struct Draft {
    file: File,
    /// The temporary name, while there is one.
    named: Option<PathBuf>,
}

impl Draft {
    fn create(path: &Path) -> io::Result<Self> {
        let Some(file) = unnamed(folder_of(path)) else { return Self::named(path) };
        let file = file?;
        // The file may get a temporary name later, and another process that can lock it would take it for stale.
        let _ = file.try_lock();
        Ok(Self { file, named: None })
    }

    /// Makes a draft under a temporary name.
    ///
    /// Before a draft is locked, another writer may take it for one that was left behind, and lock and remove it. So
    /// the name is looked up again after the lock. If it is another file's by then, the next name is tried.
    fn named(path: &Path) -> io::Result<Self> {
        let (file, name) = fresh(path, |name| {
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(name)?;
            // Another process may have taken the file for stale before it was locked.
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            let is_own = !taken && is_open_as(&file, fs::symlink_metadata(name));
            if is_own { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
        })?;
        let left = name.clone();
        signals::call_when_ended(move || drop(fs::remove_file(&left)));
        Ok(Self { file, named: Some(name) })
    }

    /// Gives the draft the name of its target. Returns the folder that is to be synced, if a file was replaced.
    fn publish(&mut self, target: &NamedTarget) -> Result<Option<File>> {
        let (path, mut replaces) = (&target.path, target.existing.is_some());
        if let Some(existing) = &target.existing {
            copy_mode(&self.file, existing)?;
        }
        if !replaces {
            // A link refuses to replace a file, which a rename does not.
            let linked = match &self.named {
                None => Some(link(&self.file, path)),
                Some(name) => target.no_clobber.then(|| fs::hard_link(name, path)),
            };
            match linked {
                // A file has appeared meanwhile. It is replaced, as a file that was there before would have been.
                Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists && !target.no_clobber => {
                    replaces = true;
                }
                Some(done) => return Ok(done.map(|()| None)?),
                None => {}
            }
        }
        let mut folder = None;
        if replaces {
            // This is slow, so it comes before the draft has a name.
            self.file.sync_all()?;
            folder = open_folder(folder_of(path))?;
        }
        // A signal between the two steps would leave the temporary name.
        signals::deferred(|| -> io::Result<()> {
            if self.named.is_none() {
                self.named = Some(fresh(path, |name| link(&self.file, name))?.1);
            }
            if let Some(name) = &self.named {
                fs::rename(name, path)?;
            }
            self.named = None;
            Ok(())
        })?;
        Ok(folder)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(name) = self.named.take() {
            let _ = fs::remove_file(name);
        }
    }
}

/// The number of temporary names that all writers of one target share. A writer that finds none of them free takes one of
/// its own.
///
/// The names are shared because what a killed writer left is found by its name. To search the folder instead would take a
/// look at every file in it, and a folder of data sets may have a million. Eight writers of one target at a time are more
/// than is usual, and each further name would cost every output a system call.
const SHARED_NAMES: u32 = 8;

/// Returns a temporary name beside `path`, which is the same for all writers of that file. It has the hash of the
/// file's name and not the name itself, which with an ending could be longer than the 255 bytes that most file systems
/// allow.
///
/// Two targets of the same hash share the names, and locks keep their drafts apart.
fn shared_name(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().expect("a target without a name is refused").as_encoded_bytes();
    folder_of(path).join(format!(".tensorop-{:016x}-{number}", fnv1a(name)))
}

/// Calls `make` with temporary names beside `path` until one is free: the shared ones, then some that no other process
/// is likely to try.
fn fresh<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    for name in (0..SHARED_NAMES).map(|number| shared_name(path, number)) {
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|made| (made, name)),
        }
    }
    let made = tempfile::Builder::new().prefix(".tensorop-").make_in(folder_of(path), make)?;
    made.keep().map_err(|refused| refused.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the file `old`, and the target of that name.
    fn folder_with(no_clobber: bool, there: bool) -> (tempfile::TempDir, Target) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        if there {
            fs::write(&path, "old").expect("written");
        }
        let target = Target::resolve(&path, "file".to_owned(), no_clobber).expect("a target");
        (folder, target)
    }

    /// The names and contents of all files in a folder.
    fn all(folder: &tempfile::TempDir) -> Vec<(String, String)> {
        let mut all: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                (name, fs::read_to_string(path).expect("a text"))
            })
            .collect();
        all.sort();
        all
    }

    fn only(content: &str) -> Vec<(String, String)> {
        vec![("file".to_owned(), content.to_owned())]
    }

    #[test]
    fn what_is_no_target() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("there"), "").expect("written");
        let missing = format!("x: there is no folder {}", path("no").display());
        let rows = [
            (folder.path().to_owned(), false, "x: is a folder, expected a file".to_owned()),
            (path("new/"), false, "x: is no name of a file".to_owned()),
            (path("no/new"), false, missing),
            (path("there"), true, "x: exists".to_owned()),
            (PathBuf::new(), false, "x: an empty name".to_owned()),
        ];
        for (path, no_clobber, expected) in rows {
            let refused = Target::resolve(&path, "x".to_owned(), no_clobber).unwrap_err();
            assert_eq!(refused.to_string(), expected, "{path:?}");
            assert_eq!(refused.kind() == ErrorKind::Io(io::ErrorKind::AlreadyExists), no_clobber);
        }
    }

    #[test]
    fn complete_or_not_at_all() {
        for there in [true, false] {
            let (folder, target) = folder_with(false, there);
            let before = all(&folder);
            assert!(target.probe().expect("begun").is_some());
            assert_eq!(all(&folder), before);
            let mut sink = target.create().expect("begun");
            sink.write_all(b"a part").expect("written");
            drop(sink);
            assert_eq!(all(&folder), before);
            let mut sink = target.create().expect("begun");
            sink.write_all(b"new").expect("written");
            sink.finish().expect("in its place");
            assert_eq!(all(&folder), only("new"));
        }
    }

    #[test]
    fn drafts_with_names() {
        for (there, replaces, no_clobber) in [(true, true, false), (false, false, false), (false, false, true)] {
            let (folder, _) = folder_with(false, there);
            let path = folder.path().join("file");
            let before = all(&folder);
            let draft = Draft::named(&path).expect("a draft");
            assert_eq!(all(&folder).len(), before.len() + 1);
            drop(draft);
            assert_eq!(all(&folder), before);
            let mut draft = Draft::named(&path).expect("a draft");
            draft.file.write_all(b"new").expect("written");
            let existing = replaces.then(|| Box::new(fs::metadata(&path).expect("a file")));
            let target = NamedTarget { label: String::new(), path: path.clone(), existing, no_clobber, marks: &[] };
            draft.publish(&target).expect("in its place");
            drop(draft);
            assert_eq!(all(&folder), only("new"));
        }
    }

    #[test]
    fn what_appears_meanwhile() {
        for (no_clobber, expected) in [(true, "other"), (false, "new")] {
            let (folder, target) = folder_with(no_clobber, false);
            let mut sink = target.create().expect("begun");
            sink.write_all(b"new").expect("written");
            fs::write(folder.path().join("file"), "other").expect("written");
            let refused = sink.finish().err().map(|error| error.to_string());
            let starts = refused.as_ref().is_some_and(|message| message.starts_with("file: cannot be put in place: "));
            assert_eq!(starts, no_clobber, "{refused:?}");
            assert_eq!(all(&folder), only(expected));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_killed_writers_left() {
        let (folder, target) = folder_with(false, true);
        let path = folder.path().join("file");
        let (stale, alive) = (shared_name(&path, 0), shared_name(&path, 3));
        fs::write(&stale, "stale").expect("written");
        let writer = File::create(&alive).expect("a file");
        writer.lock().expect("locked");
        drop(target.create().expect("begun"));
        assert_eq!((stale.exists(), alive.exists()), (false, true));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (folder, _) = folder_with(false, true);
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
        symlink("file", &link).expect("a link");
        let target = Target::resolve(&link, "x".to_owned(), false).expect("a target");
        target.create().and_then(OpenOutput::finish).expect("replaced");
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
    }
}
