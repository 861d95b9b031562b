//! An output that is made in parts by any number of processes: what is under way lies beside it, in `.NAME.tensorop`.
//!
//! Nothing in that folder is ever half written, and nothing of it says more than is done: so any part may be killed, run
//! again, or run twice at once, on whatever machine. When all parts are there the output takes its name at once and the
//! folder goes.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::platform::{copy_mode, mark, marked, open_folder, sync_folder};
use super::stage::{Stage, hidden_name, remove, take_name};
use super::target::Target;
use crate::error::{Context, Result, bail};

/// The file that says what is made, and how.
const RECORD: &str = "command";

/// The output, where it is one file.
const FILE: &str = "file";

/// The parts that are done, and how far the others are.
const DONE: &str = "done";

/// An output that is made in parts.
#[derive(Debug)]
pub struct Parts<'a> {
    target: &'a Target,
    path: &'a Path,
    folder: PathBuf,
    /// What is made, and how: a line each.
    record: String,
}

impl<'a> Parts<'a> {
    /// Of a target, of what `record` says.
    ///
    /// # Errors
    /// A target that is no file and no folder.
    pub fn new(target: &'a Target, record: String) -> Result<Self> {
        let Some(path) = target.path() else { bail!("{}: is not made in parts", target.label()) };
        Ok(Self { folder: hidden_name(path, "tensorop"), target, path, record })
    }

    /// Whether the output is there and is what these parts have made.
    pub fn is_finished(&self) -> bool {
        !self.folder.exists() && self.was_finished()
    }

    /// The same, whatever has begun since.
    pub fn was_finished(&self) -> bool {
        marked(self.path, self.hash())
    }

    /// Forgets what is under way, and what was made.
    ///
    /// # Errors
    /// Of removing it.
    pub fn restart(&self) -> io::Result<()> {
        self.forget()?;
        if self.path.exists() { mark(self.path, 0) } else { Ok(()) }
    }

    /// Begins, or finds that others have begun the same.
    ///
    /// # Errors
    /// What was begun is something else: which line of the record differs, as found and expected; of writing.
    pub fn begin(&self) -> Result<()> {
        let failed = || format!("{}: cannot be written", self.folder.display());
        fs::create_dir_all(self.folder.join(DONE)).with_context(failed)?;
        let path = self.folder.join(RECORD);
        if !path.exists() {
            let file =
                self.stage().and_then(|stage| stage.write(|file| io::Write::write_all(file, self.record.as_bytes())));
            // the first one counts
            match file.with_context(failed)?.persist_noclobber(&path) {
                Err(refused) if refused.error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(refused.error).with_context(failed);
                }
                Ok(_) | Err(_) => {}
            }
        }
        self.compare()
    }

    /// Whether something is under way.
    pub fn has_begun(&self) -> bool {
        self.folder.join(RECORD).exists()
    }

    /// Compares what is under way with what is asked for.
    ///
    /// # Errors
    /// Something else.
    pub fn compare(&self) -> Result<()> {
        let path = self.folder.join(RECORD);
        let found = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let (mut there, mut asked) = (found.lines(), self.record.lines());
        loop {
            match (there.next(), asked.next()) {
                (None, None) => return Ok(()),
                (there, asked) if there == asked => {}
                (there, asked) => bail!(
                    "{}: its parts were begun otherwise: found {:?}, expected {:?}",
                    self.target.label(),
                    there.unwrap_or_default(),
                    asked.unwrap_or_default()
                ),
            }
        }
    }

    /// Where the files of a folder are put.
    ///
    /// # Errors
    /// Of making folders.
    pub fn stage(&self) -> io::Result<Stage> {
        Stage::shared(self.folder.clone())
    }

    /// The file that all parts write to, of so many bytes.
    ///
    /// # Errors
    /// Of making it.
    pub fn file(&self, bytes: u64) -> io::Result<File> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.folder.join(FILE))?;
        if file.metadata()?.len() < bytes {
            file.set_len(bytes)?;
        }
        Ok(file)
    }

    fn done_path(&self, part: usize) -> PathBuf {
        self.folder.join(DONE).join(part.to_string())
    }

    /// Whether a part is done.
    pub fn is_done(&self, part: usize) -> bool {
        self.done_path(part).exists()
    }

    /// Says that a part is done.
    ///
    /// # Errors
    /// Of writing.
    pub fn set_done(&self, part: usize) -> io::Result<()> {
        let file = self.stage()?.write(|_| Ok(()))?;
        take_name(file.into_temp_path(), &self.folder, &format!("{DONE}/{part}"))
    }

    /// How many units of a part are done.
    pub fn done_of(&self, part: usize) -> usize {
        let text = fs::read_to_string(self.folder.join(DONE).join(format!("{part}.units")));
        text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Says how many units of a part are done.
    ///
    /// # Errors
    /// Of writing.
    pub fn set_done_of(&self, part: usize, units: usize) -> io::Result<()> {
        let file = self.stage()?.write(|file| io::Write::write_all(file, units.to_string().as_bytes()))?;
        take_name(file.into_temp_path(), &self.folder, &format!("{DONE}/{part}.units"))
    }

    /// Gives the output its name, and removes all else.
    ///
    /// # Errors
    /// Of renaming; of removing what is left.
    pub fn finish(&self) -> Result<()> {
        let failed = || format!("{}: cannot be put in place", self.target.label());
        let existing = self.target.existing();
        match self.target {
            Target::Folder { .. } => {
                let stage = self.stage().with_context(failed)?;
                mark(&stage.store(), self.hash()).with_context(failed)?;
                stage.publish(self.path, existing).with_context(failed)?;
            }
            Target::File { .. } => {
                let path = self.folder.join(FILE);
                let file = File::open(&path).with_context(failed)?;
                if let Some(existing) = existing {
                    copy_mode(&file, existing).with_context(failed)?;
                }
                mark(&path, self.hash()).with_context(failed)?;
                fs::rename(&path, self.path).with_context(failed)?;
                let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = open_folder(folder.unwrap_or(Path::new("."))).with_context(failed)?;
                folder.map_or(Ok(()), |folder| sync_folder(&folder)).with_context(failed)?;
            }
            Target::Stdout | Target::Device { .. } => {}
        }
        self.forget().with_context(|| format!("{}: cannot be removed", self.folder.display()))
    }

    /// Removes what is under way: at once, so that nobody finds a half of it.
    ///
    /// # Errors
    /// Of renaming.
    pub fn forget(&self) -> io::Result<()> {
        let gone = hidden_name(self.path, &format!("{}.gone", std::process::id()));
        match fs::rename(&self.folder, &gone) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed?,
        }
        remove(&gone);
        Ok(())
    }

    /// FNV-1a of the record; never 0.
    fn hash(&self) -> u64 {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.record.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step).max(1)
    }
}
