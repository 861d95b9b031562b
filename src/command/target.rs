//! Where the output goes: standard output, a file that is replaced when the new one is complete, or a device.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::storage::platform::same_file;

/// Where to write.
#[derive(Debug)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file that does not exist yet, or a regular file that will be replaced.
    File {
        /// As the user named it, for messages.
        name: PathBuf,
        /// What it is after symbolic links.
        path: PathBuf,
        /// What is there now.
        existing: Option<Box<Metadata>>,
        /// Whether a file that appears meanwhile must stay.
        keep_existing: bool,
    },
    /// Something that exists and is no regular file: it is written as it comes.
    Device {
        /// As the user named it.
        name: PathBuf,
    },
}

impl Target {
    /// Finds out what `name` is, without writing anything.
    ///
    /// # Errors
    /// A folder; a file in a folder that does not exist; an existing file where `keep_existing` forbids it.
    pub fn resolve(name: &Path, keep_existing: bool) -> Result<Self> {
        let label = || format!("output {}", name.display());
        let found = |path: &Path| match fs::metadata(path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(label),
        };
        let existing = found(name)?;
        if existing.is_some() && keep_existing {
            bail!("{}: exists, and --no-clobber keeps it", label());
        }
        if name.as_os_str().is_empty() {
            bail!("output: an empty name");
        }
        if existing.as_ref().is_some_and(Metadata::is_dir) {
            bail!("{}: is a folder, expected a file", label());
        }
        let path = match follow(name).with_context(label)? {
            Some(path) if existing.as_ref().is_none_or(Metadata::is_file) => path,
            None if existing.is_none() => name.to_owned(),
            // a name for something that is open already
            None if fs::canonicalize(name).ok() == fs::canonicalize("/proc/self/fd/1").ok() => return Ok(Self::Stdout),
            _ => return Ok(Self::Device { name: name.to_owned() }),
        };
        if name.as_os_str().as_encoded_bytes().ends_with(b"/") || path.file_name().is_none() {
            bail!("{}: is no name of a file", label());
        }
        if existing.is_none() && !found(folder(&path))?.is_some_and(|folder| folder.is_dir()) {
            bail!("{}: there is no folder {}", label(), folder(&path).display());
        }
        Ok(Self::File { name: name.to_owned(), path, existing: existing.map(Box::new), keep_existing })
    }

    /// How messages call it.
    pub fn label(&self) -> String {
        match self {
            Target::Stdout => "standard output".to_owned(),
            Target::File { name, .. } | Target::Device { name } => format!("output {}", name.display()),
        }
    }

    /// Finds out whether the output could begin, and ends it at once. A device is left alone.
    ///
    /// # Errors
    /// Those of [`create`](Self::create) and [`Sink::check_binary`].
    pub fn probe(&self, binary: bool) -> Result<()> {
        if matches!(self, Target::Device { .. }) { Ok(()) } else { self.begin()?.check_binary(binary) }
    }

    /// Begins the output, and removes what earlier writers of the same file have left if they were killed.
    ///
    /// # Errors
    /// Of creating the file, or of opening the device.
    pub fn create(&self) -> Result<Sink<'_>> {
        if let Target::File { path, .. } = self {
            (0..SHARED_NAMES).for_each(|number| drop(remove_stale(&shared_name(path, number))));
        }
        self.begin()
    }

    fn begin(&self) -> Result<Sink<'_>> {
        survive_size_limit();
        let begun = match self {
            Target::Stdout => Ok(Sink::Stdout(io::stdout())),
            Target::Device { name } => OpenOptions::new().append(true).open(name).map(Sink::Device),
            Target::File { path, .. } => Draft::create(path).map(|draft| Sink::File { draft, target: self }),
        };
        begun.with_context(|| format!("{}: cannot be created", self.label()))
    }
}

/// From here on a file that grows beyond its limit is an error like others, not the end of the program.
pub fn survive_size_limit() {
    signals::survive_size_limit();
}

/// An output that has begun. Nothing is where it belongs before [`finish`](Self::finish); dropped before, it leaves
/// no trace (but what a device took).
#[derive(Debug)]
pub enum Sink<'a> {
    /// Standard output.
    Stdout(io::Stdout),
    /// A device or pipe.
    Device(File),
    /// A draft beside its target.
    File {
        /// The draft.
        draft: Draft,
        /// Where it goes, a [`Target::File`].
        target: &'a Target,
    },
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(stdout) => stdout.write(bytes),
            Sink::Device(file) | Sink::File { draft: Draft { file, .. }, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(stdout) => stdout.flush(),
            Sink::Device(file) | Sink::File { draft: Draft { file, .. }, .. } => file.flush(),
        }
    }
}

impl Sink<'_> {
    /// Whether a person reads it.
    pub fn is_terminal(&self) -> bool {
        match self {
            Sink::Stdout(stdout) => stdout.is_terminal(),
            Sink::Device(file) => file.is_terminal(),
            Sink::File { .. } => false,
        }
    }

    /// # Errors
    /// Binary output to a terminal.
    pub fn check_binary(&self, binary: bool) -> Result<()> {
        if binary && self.is_terminal() {
            bail!("{}: is a terminal, and the output is binary: use -o FILE", self.label());
        }
        Ok(())
    }

    fn label(&self) -> String {
        match self {
            Sink::Stdout(_) => Target::Stdout.label(),
            Sink::Device(_) => "output".to_owned(),
            Sink::File { target, .. } => target.label(),
        }
    }

    /// The file that can be written in any order.
    pub fn as_file(&self) -> Option<&File> {
        match self {
            Sink::File { draft, .. } => Some(&draft.file),
            _ => None,
        }
    }

    /// Puts the complete output where it belongs. A file that is replaced is replaced for good: the new one is on the
    /// disk before it takes the name, and the name is before this returns. A new file is left to the system to write.
    ///
    /// # Errors
    /// Of flushing, syncing, linking or renaming.
    pub fn finish(mut self) -> Result<()> {
        match &mut self {
            Sink::Stdout(stdout) => Ok(stdout.flush()?),
            Sink::Device(file) => Ok(file.flush()?),
            Sink::File { draft, target } => {
                let Target::File { path, existing, keep_existing, .. } = target else { return Ok(()) };
                let mut put = || -> Result<Option<File>> {
                    if let Some(metadata) = existing {
                        keep_mode(&draft.file, metadata)?;
                    }
                    draft.publish(path, existing.is_some(), *keep_existing)
                };
                let folder = put().with_context(|| format!("{}: cannot be put in place", target.label()))?;
                folder.map_or(Ok(()), |folder| sync_folder(&folder)).with_context(|| {
                    format!("{}: is replaced, but its folder cannot be written to the disk", target.label())
                })
            }
        }
    }
}

/// Follows symbolic links, also to a file that does not exist yet; `None` if they lead to a file by its descriptor
/// (`/dev/stdout`, `/dev/fd/3`).
fn follow(name: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = name.to_owned();
    for _ in 0..40 {
        if path.starts_with("/proc") {
            return Ok(None);
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) if folder(&path) == Path::new("/dev/fd") => return Ok(None),
            Err(_) => return Ok(Some(path)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The folder that a path lies in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn keep_mode(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // only the superuser may give files away; the others keep what they write
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep_mode(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// The folder of a file that is about to be replaced, to be synced when it has been; `None` where that cannot be.
#[cfg(unix)]
fn open_folder(path: &Path) -> io::Result<Option<File>> {
    match File::open(folder(path)) {
        // a folder may allow files to be made in it and not to be read itself
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        opened => opened.map(Some),
    }
}

#[cfg(not(unix))]
fn open_folder(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Waits until the names in a folder are on the disk. Some file systems have no such call for folders.
fn sync_folder(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// A file that is being written, in the folder of its target: without a name where the system can, so that
/// nothing is left even if the program is killed; else under a temporary name, removed when it is dropped or when
/// a signal ends the program.
///
/// To replace a file takes a name for an instant everywhere. What SIGKILL leaves there, the next output to the same
/// target removes: the names follow from the target's, and who is alive holds a lock on its file.
#[derive(Debug)]
pub struct Draft {
    file: File,
    path: PathBuf,
    /// The temporary name, while there is one.
    named: Option<PathBuf>,
}

impl Draft {
    fn create(path: &Path) -> io::Result<Self> {
        if let Some(file) = unnamed(folder(path)) {
            let file = file?;
            let _ = file.try_lock();
            return Ok(Self { file, path: path.to_owned(), named: None });
        }
        let (file, name) = fresh(path, |name| {
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(name)?;
            // before it was locked another may have taken it for stale
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            let there = |found: &Metadata| file.metadata().is_ok_and(|own| same_file(&own, found));
            match fs::symlink_metadata(name) {
                Ok(found) if !taken && there(&found) => Ok(file),
                _ => Err(io::ErrorKind::AlreadyExists.into()),
            }
        })?;
        signals::remove_when_ended(&name);
        Ok(Self { file, path: path.to_owned(), named: Some(name) })
    }

    /// Gives the draft the name of its target. Where that replaced a file, the folder that is to be synced.
    fn publish(&mut self, path: &Path, mut replaces: bool, keep_existing: bool) -> Result<Option<File>> {
        if !replaces {
            // unlike a rename, a link refuses to replace
            let linked = match &self.named {
                None => Some(link(&self.file, path)),
                Some(name) => keep_existing.then(|| fs::hard_link(name, path)),
            };
            match linked {
                // a file has appeared meanwhile
                Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists && !keep_existing => replaces = true,
                Some(done) => return Ok(done.map(|()| None)?),
                None => {}
            }
        }
        let mut folder = None;
        if replaces {
            // slow, so before the draft has a name
            self.file.sync_all()?;
            folder = open_folder(path)?;
        }
        // no signal may come between the two steps
        signals::deferred(|| -> io::Result<()> {
            if self.named.is_none() {
                self.named = Some(fresh(&self.path, |name| link(&self.file, name))?.1);
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

/// How many temporary names all writers of one target share. Who finds none of them free takes one of its own.
const SHARED_NAMES: u32 = 8;

/// A temporary name beside `path`, the same for whoever writes that file.
fn shared_name(path: &Path, number: u32) -> PathBuf {
    temporary_name(path, &number.to_string())
}

fn temporary_name(path: &Path, rest: &str) -> PathBuf {
    // FNV-1a: a name of fixed length, whatever the target's
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let hash = name
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    folder(path).join(format!(".tensorop-{hash:016x}-{rest}"))
}

/// Calls `make` with temporary names beside `path` until one is free.
fn fresh<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    let salt = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    let own = |attempt: u32| format!("{}-{:x}", std::process::id(), salt.wrapping_add(attempt));
    let names = (0..SHARED_NAMES).map(|number| shared_name(path, number));
    for name in names.chain((0..1000).map(|attempt| temporary_name(path, &own(attempt)))) {
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|made| (made, name)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes what a writer that was killed has left under a temporary name, if that is what it is.
#[cfg(target_os = "linux")]
fn remove_stale(name: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(name, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() || file.try_lock().is_err() {
        return Ok(()); // no file of ours, or of a writer that lives
    }
    // with the lock nobody else removes it; before, its writer may have renamed it, and another taken the name
    if same_file(&metadata, &fs::symlink_metadata(name)?) {
        fs::remove_file(name)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn remove_stale(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A file without a name in `folder`; `None` where the system or the file system has no such thing.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<io::Result<File>> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    if !Path::new("/proc/self/fd").exists() {
        return None; // it could not be given a name later
    }
    let mode = Mode::from_raw_mode(0o666);
    match rustix::fs::open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Ok(fd) => Some(Ok(fd.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => None,
        Err(error) => Some(Err(error.into())),
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<io::Result<File>> {
    None
}

/// Gives an unnamed file its name.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let fd = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, fd, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
mod signals {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// A file that grows beyond its limit is an error like others, not the end of the program.
    pub fn survive_size_limit() {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }

    /// Does `work`; a signal that would end the program meanwhile does so when it is done.
    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        let pending = Arc::new(AtomicUsize::new(0));
        let ids = [SIGHUP, SIGINT, SIGTERM]
            .map(|signal| signal_hook::flag::register_usize(signal, Arc::clone(&pending), signal as usize));
        let done = work();
        if let Some(signal) = i32::try_from(pending.load(Ordering::SeqCst)).ok().filter(|&signal| signal != 0) {
            let _ = emulate_default_handler(signal);
        }
        for id in ids.into_iter().flatten() {
            signal_hook::low_level::unregister(id);
        }
        done
    }

    /// Removes `path` before one of the usual signals ends the program.
    pub fn remove_when_ended(path: &Path) {
        let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
        let path = path.to_owned();
        // the one thread that parallel.rs does not start: it waits for signals as long as the program runs, and shares
        // no work, so --threads does not count it; without it the file is removed in all other cases
        let _ = std::thread::Builder::new().spawn(move || {
            for signal in signals.forever() {
                let _ = std::fs::remove_file(&path);
                let _ = emulate_default_handler(signal);
            }
        });
    }
}

#[cfg(not(unix))]
mod signals {
    /// There is no such signal here.
    pub fn survive_size_limit() {}

    /// Signals do not end the program here.
    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Nothing is known that would do it here.
    pub fn remove_when_ended(_: &std::path::Path) {}
}
