//! The targets of outputs, and the links to them.
//!
//! A file gets its name when it is complete: items go to a draft, which is renamed, or linked where nothing may be
//! replaced. A full disk, an error or a signal leaves the old file intact. The draft is in the target's folder, because
//! a rename across file systems is a copy that can be interrupted.

use std::fmt::Debug;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::draft::{Draft, MadeFolders, SHARED_NAMES, StoreDraft, missing_folders, shared_name};
use super::parts::{Parts, Record, local};
use super::signals;
use super::stage::{NamedTarget, Stage, folder_of, has_mark};
use super::stream::OutputStream;
use crate::storage::platform::{is_writable, remove_stale, same_file, sync_folder};
use crate::storage::read_at::Identity;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail};

/// The destination of an output.
#[derive(Debug)]
pub enum Target {
    Stdout(OutputStream),
    File(NamedTarget),
    Folder(NamedTarget),
    Bucket(Box<dyn BucketStore>),
    /// An existing file that is not regular, which is written directly.
    Device {
        name: PathBuf,
        label: String,
    },
}

impl Target {
    /// Resolves `name` without writing anything. `no_clobber` gives an error of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists).
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
            // The name leads to standard output, which is open already.
            None if existing.as_ref().is_some_and(is_stdout) => return Ok(Self::Stdout(OutputStream::stdout())),
            _ => return Ok(Self::Device { name: name.to_owned(), label }),
        };
        if name.as_os_str().as_encoded_bytes().ends_with(b"/") || path.file_name().is_none() {
            bail!("{label}: is not a file name");
        }
        let missing = check_place(name, &path, &label, existing.is_some())?;
        let existing = existing.map(Box::new);
        Ok(Self::File(NamedTarget { label, path, existing, no_clobber, marks: &[], missing }))
    }

    /// Like [`resolve`](Self::resolve) for a folder, which may be replaced if it has a file named in `marks`.
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
            bail!("{label}: is a folder but not a Zarr store, and is not replaced");
        }
        // The name may end in a slash. A path such as `.` has no last name.
        let name = name.components().collect::<PathBuf>();
        refuse_hashed(&name).with_context(|| label.clone())?;
        let path = follow(&name).with_context(|| label.clone())?;
        let path = path.filter(|path| path.file_name().is_some());
        let Some(path) = path else { bail!("{label}: is not a folder name") };
        let missing = check_place(&name, &path, &label, existing.is_some())?;
        Ok(Self::Folder(NamedTarget { label, path, existing: existing.map(Box::new), no_clobber, marks, missing }))
    }

    /// Fails if the folder of the output is missing.
    pub fn in_existing_folder(self) -> Result<Self> {
        match self.named().filter(|target| !target.missing.is_empty()) {
            Some(target) => Err(no_folder(&target.path, &target.label)),
            None => Ok(self),
        }
    }

    fn named(&self) -> Option<&NamedTarget> {
        match self {
            Target::File(target) | Target::Folder(target) => Some(target),
            Target::Stdout(_) | Target::Bucket(_) | Target::Device { .. } => None,
        }
    }

    pub fn make_folders(&self) -> Result<MadeFolders> {
        let missing = self.named().map_or(&[][..], |target| &target.missing);
        MadeFolders::make(missing).with_context(|| format!("{}: cannot be created", self.label()))
    }

    pub fn label(&self) -> &str {
        match self {
            Target::Stdout(_) => "standard output",
            Target::File(NamedTarget { label, .. })
            | Target::Folder(NamedTarget { label, .. })
            | Target::Device { label, .. } => label,
            Target::Bucket(bucket) => bucket.label(),
        }
    }

    /// Returns the absolute path without links; `None` if it is not a file or folder.
    pub fn canonical(&self) -> io::Result<Option<PathBuf>> {
        let Some(target) = self.named() else { return Ok(None) };
        let there = target.missing.first().map_or(&*target.path, |missing| missing);
        let folder = fs::canonicalize(folder_of(there))?;
        let behind = target.path.strip_prefix(there.parent().unwrap_or(Path::new("")));
        Ok(behind.ok().map(|behind| folder.join(behind)))
    }

    /// Returns whether an address is inside the output or contains it.
    pub fn overlaps(&self, address: &str) -> bool {
        let Target::Bucket(bucket) = self else { return false };
        bucket.overlaps(address)
    }

    /// The metadata of the old file or folder.
    pub fn existing(&self) -> Option<&Metadata> {
        self.named()?.existing.as_deref()
    }

    /// The identity of the old output.
    pub fn identity(&self) -> Option<Identity> {
        match self {
            Target::Bucket(bucket) => bucket.old_identity(),
            other => other.existing().map(Identity::from_metadata),
        }
    }

    /// A bucket cannot keep old data until the output is complete.
    pub fn keeps_what_it_replaces(&self) -> bool {
        match self {
            Target::Bucket(_) => false,
            Target::Stdout(_) | Target::File(_) | Target::Folder(_) | Target::Device { .. } => true,
        }
    }

    /// Returns the output as one in parts. Fails for streams and devices.
    pub fn parts(&self, record: Record) -> Result<Parts<'_>> {
        match self {
            Target::File(file) => local::parts(file, false, record),
            Target::Folder(folder) => local::parts(folder, true, record),
            Target::Bucket(bucket) => Ok(bucket.parts(record)),
            Target::Stdout(_) | Target::Device { .. } => bail!("{}: cannot be made in parts", self.label()),
        }
    }

    /// Begins the output as a check and leaves no trace when dropped. Devices and buckets are skipped.
    pub fn probe(&self) -> Result<Option<OpenOutput<'_>>> {
        match self {
            Target::Bucket(_) => Ok(None),
            Target::Device { .. } => Ok(None),
            Target::Stdout(_) | Target::File(_) | Target::Folder(_) => self.begin().map(Some),
        }
    }

    /// Begins the output and removes the drafts of killed writers.
    pub fn create(&self) -> Result<OpenOutput<'_>> {
        if let Target::File(target) = self {
            (0..SHARED_NAMES).for_each(|number| drop(remove_stale(&shared_name(&target.path, number))));
        }
        self.begin()
    }

    fn begin(&self) -> Result<OpenOutput<'_>> {
        signals::survive_size_limit();
        let made = self.make_folders()?;
        let begun = match self {
            Target::Stdout(stdout) => Ok(OpenOutput::Stdout(stdout.clone())),
            Target::Device { name, .. } => OpenOptions::new().append(true).open(name).map(OpenOutput::Device),
            Target::File(target) => Draft::create(&target.path).map(|draft| {
                made.remove_when_ended();
                OpenOutput::File { draft, target, made }
            }),
            Target::Folder(target) => Stage::create(&target.path).map(|stage| {
                made.remove_when_ended();
                OpenOutput::Folder { stage, target, made }
            }),
            Target::Bucket(bucket) => {
                return bucket.begin().map(OpenOutput::Bucket).with_context(|| self.label());
            }
        };
        begun.with_context(|| format!("{}: cannot be created", self.label()))
    }
}

/// A store in a bucket, which builds with the feature `remote` can write.
pub trait BucketStore: Debug + Send + Sync {
    fn label(&self) -> &str;

    /// The identity of the old store.
    fn old_identity(&self) -> Option<Identity>;

    /// Returns whether an address is inside the store or contains it.
    fn overlaps(&self, address: &str) -> bool;

    fn parts(&self, record: Record) -> Parts<'_>;

    fn begin(&self) -> Result<Box<dyn BegunBucketStore + '_>>;
}

/// A store by one process. Dropped before a seal may exist, it removes its objects.
pub trait BegunBucketStore: Debug + Send + Sync {
    fn store(&self) -> &dyn StoreDraft;

    /// Removes the old store's objects and puts the seals.
    fn finish(&self) -> Result<()>;
}

/// An output that has begun. Dropped before [`finish`](Self::finish), it leaves no trace, except on a device.
#[derive(Debug)]
pub enum OpenOutput<'a> {
    Stdout(OutputStream),
    Device(File),
    File {
        draft: Draft,
        target: &'a NamedTarget,
        /// Dropped after the draft.
        made: MadeFolders,
    },
    Folder {
        stage: Stage,
        target: &'a NamedTarget,
        /// Dropped after the stage.
        made: MadeFolders,
    },
    Bucket(Box<dyn BegunBucketStore + 'a>),
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

    pub fn is_terminal(&self) -> bool {
        match self {
            OpenOutput::Stdout(stdout) => stdout.is_terminal(),
            OpenOutput::Device(file) => file.is_terminal(),
            _ => false,
        }
    }

    pub fn as_store(&self) -> Option<&dyn StoreDraft> {
        match self {
            OpenOutput::Folder { stage, .. } => Some(stage),
            OpenOutput::Bucket(begun) => Some(begun.store()),
            OpenOutput::Stdout(_) | OpenOutput::Device(_) | OpenOutput::File { .. } => None,
        }
    }

    pub fn as_file(&self) -> Option<&File> {
        if let OpenOutput::File { draft, .. } = self { Some(&draft.file) } else { None }
    }

    /// Gives the complete output its name. A file that replaces another is synced before the rename, and its folder
    /// after it: after a power loss a rename without the data would leave an empty file, and the old one may be the
    /// only copy. A new file can be made again, and a sync would take longer than the rest of a small job.
    pub fn finish(mut self) -> Result<()> {
        match &mut self {
            OpenOutput::Stdout(_) | OpenOutput::Device(_) => Ok(self.flush()?),
            OpenOutput::Folder { stage, target, made } => {
                stage.publish(target).with_context(|| target.failed())?;
                made.keep();
                Ok(())
            }
            OpenOutput::Bucket(begun) => begun.finish(),
            OpenOutput::File { draft, target, made } => {
                let folder = draft.publish(target).with_context(|| target.failed())?;
                made.keep();
                folder.map_or(Ok(()), |folder| sync_folder(&folder)).with_context(|| {
                    format!("{}: is replaced, but its folder cannot be written to the disk", target.label)
                })
            }
        }
    }
}

fn found(path: &Path, label: &str) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| label.to_owned()),
    }
}

/// Fails if `no_clobber` forbids to replace.
fn existing(name: &Path, label: &str, no_clobber: bool) -> Result<Option<Metadata>> {
    let existing = found(name, label)?;
    if existing.is_some() && no_clobber {
        return Err(Error::from_kind(ErrorKind::Io(io::ErrorKind::AlreadyExists), "exists").within(label));
    }
    Ok(existing)
}

/// A pipe has no path, so it is never standard output here.
fn is_stdout(found: &Metadata) -> bool {
    fs::metadata("/proc/self/fd/1").is_ok_and(|stdout| same_file(found, &stdout))
}

/// Checks that an existing target may be replaced, or returns the missing folders of a new one. No folders are created
/// through a link.
fn check_place(name: &Path, path: &Path, label: &str, exists: bool) -> Result<Vec<PathBuf>> {
    if exists {
        // A rename needs only write access to the folder, so it would replace a file that its owner has made read-only.
        return is_writable(path).map(|()| Vec::new()).with_context(|| format!("{label}: is not replaced"));
    }
    match found(folder_of(path), label)? {
        Some(folder) if folder.is_dir() => Ok(Vec::new()),
        None if name == path => match missing_folders(folder_of(path)) {
            // A dangling link has the name of the folder.
            missing if missing.is_empty() => Err(no_folder(path, label)),
            missing => Ok(missing),
        },
        Some(_) | None => Err(no_folder(path, label)),
    }
}

fn no_folder(path: &Path, label: &str) -> Error {
    let message = format!("there is no folder {}", folder_of(path).display());
    Error::from_kind(ErrorKind::Io(io::ErrorKind::NotFound), message).within(label)
}

/// Resolves links, also to a missing file. Returns `None` for a file descriptor, such as `/dev/stdout`.
pub(crate) fn follow(name: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = name.to_owned();
    // Linux reports a loop after 40 links.
    for _ in 0..40 {
        if path.starts_with("/proc") {
            return Ok(None);
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) if folder_of(&path) == Path::new("/dev/fd") => return Ok(None),
            Err(_) => return Ok(Some(path)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns the file that a link leads to, if that file is named by its own hash.
///
/// Model caches link to files that are named by the hash of their content: `snapshots/REVISION/model.safetensors` to
/// `blobs/HASH` in that of Hugging Face, and to `SHA256E-s1048576--HASH.npy` in git-annex. Several links may share a
/// file, so it must not change. Who makes a malicious link can hardly
/// know the hash of a file of the user.
pub fn hashed_target(name: &Path) -> Option<PathBuf> {
    // Opening the file reports links that cannot be resolved.
    let path = follow(name).ok()??;
    let is_hashed = path.file_name().and_then(|own| own.to_str()).is_some_and(is_hash);
    (path != name && is_hashed).then_some(path)
}

/// Refuses a link to a file that is named by its own hash. The file may still be changed under that name.
pub fn refuse_hashed(name: &Path) -> Result<()> {
    let Some(path) = hashed_target(name) else { return Ok(()) };
    let path = path.display();
    let message = format!(
        "is a link to {path}, which is named by its own hash, as in a cache of models: write a copy under another name, or name \
         that file itself"
    );
    Err(Error::from_kind(ErrorKind::Unsupported, message))
}

/// A hash has 40 or 64 hexadecimal digits, or is a key of git-annex.
fn is_hash(name: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_key = |(head, rest): (&str, &str)| {
        let (backend, _) = head.split_once('-').unwrap_or((head, ""));
        let hash = rest.split('.').next().unwrap_or_default();
        let is_backend = backend.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        is_backend && !backend.is_empty() && hash.len() >= 32 && is_hex(hash)
    };
    is_hex(name) && matches!(name.len(), 40 | 64) || name.split_once("--").is_some_and(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(no_clobber: bool, there: bool) -> (tempfile::TempDir, Target) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        if there {
            fs::write(&path, "old").expect("written");
        }
        let target = Target::resolve(&path, "file".to_owned(), no_clobber).expect("a target");
        (folder, target)
    }

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
            (path("new/"), false, "x: is not a file name".to_owned()),
            (path("no/new"), false, missing),
            (path("there"), true, "x: exists".to_owned()),
            (PathBuf::new(), false, "x: an empty name".to_owned()),
        ];
        for (path, no_clobber, expected) in rows {
            let refused = Target::resolve(&path, "x".to_owned(), no_clobber).and_then(Target::in_existing_folder);
            let refused = refused.unwrap_err();
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
    fn folders_are_made_for_what_is_complete() {
        let (folder, _) = folder_with(false, false);
        let path = folder.path().join("a/b/file");
        let target = Target::resolve(&path, "file".to_owned(), false).expect("a target");
        let whole = fs::canonicalize(folder.path()).expect("a folder").join("a/b/file");
        assert_eq!(target.canonical().expect("a path"), Some(whole));
        assert!(target.probe().expect("begun").is_some());
        let drafts = [target.create().expect("begun"), target.create().expect("begun")];
        assert!(folder.path().join("a/b").is_dir());
        drop(drafts);
        assert_eq!(all(&folder), []);
        target.create().and_then(OpenOutput::finish).expect("in its place");
        assert!(path.is_file());
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
            let (label, missing) = (String::new(), Vec::new());
            let target = NamedTarget { label, path: path.clone(), existing, no_clobber, marks: &[], missing };
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

    #[test]
    fn names_that_are_hashes() {
        let hex = |count| "0123456789abcdef".repeat(count);
        let (short, git, long) = (hex(2), format!("{}01234567", hex(2)), hex(4));
        for name in [git.clone(), long.clone(), format!("SHA256E-s12--{long}.npy"), format!("MD5-s3--{short}")] {
            assert!(is_hash(&name), "{name}");
        }
        let others = [
            String::new(),
            short.clone(),
            format!("{long}.npy"),
            format!("{git}g"),
            "model.safetensors".to_owned(),
            format!("models--{short}"),
            "SHA256E-s12--abc.npy".to_owned(),
            format!("--{short}"),
        ];
        for name in others {
            assert!(!is_hash(&name), "{name}");
        }
    }
}
