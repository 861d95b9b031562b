//! Runs another runtime, one command for each test.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::ensure;
use tempfile::TempDir;

use super::export::{CaseLayout, DATA_SET, export};
use super::find::{Loaded, Task, TestFiles};
use super::judge::{Outputs, TestVerdict, judge};
use super::results::{CRASHED, MARKERS, clear, message, results_in};
use crate::diff::Options;
use crate::error::{Context, Result};
use crate::parallel::{locked, wait};
use crate::storage::platform::{begin_group, end_group};
use crate::storage::targets::signals;

const MODEL: &str = "{model}";
const INPUTS: &str = "{inputs}";
const OUT: &str = "{out}";

pub(super) struct Runtime<'a> {
    command: &'a str,
    timeout: Duration,
    layout: CaseLayout,
    save: Option<&'a Path>,
    /// Tests without files are exported here, and outputs are written here unless they are saved.
    folder: TempDir,
    runs: AtomicUsize,
    /// The process numbers of the commands. Each leads a group, so that its children end with it.
    running: Arc<Mutex<Vec<u32>>>,
}

impl<'a> Runtime<'a> {
    pub(super) fn new(
        command: &'a str,
        timeout: Duration,
        layout: Option<CaseLayout>,
        save: Option<&'a Path>,
    ) -> anyhow::Result<Self> {
        let has_test = command.contains(MODEL) || command.contains(INPUTS);
        ensure!(has_test && command.contains(OUT), "--run {command:?}: expected {MODEL} and {OUT} in it");
        let folder = anyhow::Context::context(tempfile::tempdir(), "--run: a folder for temporary files")?;
        let (path, running) = (folder.path().to_owned(), Arc::<Mutex<Vec<u32>>>::default());
        let commands = Arc::clone(&running);
        signals::call_when_ended(move || {
            locked(&commands).iter().for_each(|number| drop(end_group(*number)));
            let _ = fs::remove_dir_all(&path);
        });
        let layout = layout.unwrap_or(CaseLayout::Onnx);
        Ok(Self { command, timeout, layout, save, folder, runs: AtomicUsize::new(0), running })
    }

    /// Runs the command, and judges its results. Threads may share this.
    pub(super) fn judge(&self, id: &str, loaded: &Loaded, options: &Options) -> Result<TestVerdict> {
        let own = self.folder.path().join(self.runs.fetch_add(1, Ordering::Relaxed).to_string());
        let files = match (&loaded.files, &loaded.task) {
            (_, Task::Only { unsupported, stored }) if stored.is_empty() => {
                return Ok(TestVerdict::Unsupported(unsupported.clone()));
            }
            (Some(files), _) => files.clone(),
            (None, Task::Run(case)) if export(case, &own, self.layout)? => match self.layout {
                CaseLayout::Onnx => TestFiles { model: own.join("model.onnx"), inputs: own.join(DATA_SET) },
                CaseLayout::Npy => TestFiles { model: own.join("case.json"), inputs: own.clone() },
            },
            (None, _) => {
                return Ok(TestVerdict::Unsupported("has no model, since it is not ONNX's: --layout npy".to_owned()));
            }
        };
        let has_several =
            files.inputs.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test_data_set_"));
        if has_several && !files.inputs.ends_with(DATA_SET) && !self.command.contains(INPUTS) {
            let reason = format!("its inputs are in {}, and the command has no {INPUTS}", files.inputs.display());
            return Ok(TestVerdict::Broken(reason));
        }
        let out = self.save.map_or_else(|| own.join("out"), |folder| folder.join(id));
        clear(&out)?;
        fs::create_dir_all(&own).with_context(|| own.display().to_string())?;
        let mut ended = self.run(&files, &out, &own).with_context(|| format!("--run: {id}"))?;
        let mut results = results_in(&out)?;
        // to open a pipe would wait for its writer
        for name in results.extract_if(.., |name| !out.join(name).is_file()) {
            fs::remove_file(out.join(&name)).with_context(|| out.join(&name).display().to_string())?;
            ended = Some(format!("{name} is not a file"));
        }
        let has_marker = results.iter().any(|name| MARKERS.contains(&name.as_str()));
        if let Some(how) = ended.filter(|_| !has_marker) {
            let path = out.join(CRASHED);
            fs::write(&path, how + "\n").with_context(|| path.display().to_string())?;
        }
        let verdict = judge(loaded, Outputs::Written(out), options);
        // the folder of all is removed in any case
        let _ = fs::remove_dir_all(own);
        verdict
    }

    /// Returns how the command failed, if it did.
    fn run(&self, files: &TestFiles, out: &Path, own: &Path) -> Result<Option<String>> {
        const SAID: &str = "stderr";
        let words = [(MODEL, &*files.model), (INPUTS, &*files.inputs), (OUT, out)];
        let fill =
            |command: String, (word, path): (&str, &Path)| command.replace(word, &quoted(&path.to_string_lossy()));
        let command = words.into_iter().fold(self.command.to_owned(), fill);
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        // A file takes any amount, and a process that was left behind cannot keep it open for a reader.
        let said = File::create(own.join(SAID))?;
        let mut process = Command::new(shell);
        process.args([option, &command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        begin_group(&mut process);
        let mut child = {
            let mut running = locked(&self.running);
            let child = process.spawn().context(shell)?;
            running.push(child.id());
            child
        };
        let ended = self.end_of(&mut child);
        // the folder of a command that a signal has killed stays removed
        signals::end_if_signalled();
        locked(&self.running).retain(|number| *number != child.id());
        Ok(match ended? {
            None => Some(format!("killed after {} s", self.timeout.as_secs_f64())),
            Some(status) if status.success() => None,
            Some(status) => Some(match message(own, SAID).strip_prefix("stderr: ") {
                Some(said) => format!("{status}: {said}"),
                None => status.to_string(),
            }),
        })
    }

    /// Returns `None` if the child had to be killed.
    fn end_of(&self, child: &mut Child) -> Result<Option<ExitStatus>> {
        let (begin, mut pause) = (Instant::now(), Duration::from_micros(500));
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if begin.elapsed() >= self.timeout {
                end_group(child.id())?;
                child.wait()?;
                return Ok(None);
            }
            wait(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// A path as a word of the shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/\\._-+:~@".contains(c);
    match (path.chars().all(is_plain), cfg!(windows)) {
        (true, _) => path.to_owned(),
        (false, true) => format!("\"{path}\""),
        (false, false) => format!("'{}'", path.replace('\'', "'\\''")),
    }
}
