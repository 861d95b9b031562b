//! The program run inside the process of a test: a process for every row of a table would take most of the time of the tests.
//!
//! A run has a thread of its own, which has a working folder of its own where the system can give it one (Linux). What it
//! has of a process otherwise is its `Io`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tensorop::command::{self, Environment, Io};
use tensorop::internal::storage::targets::stream::{InputStream, OutputStream};

use super::Run;

/// The stack of the main thread of a program on Linux. Threads have a quarter of that, which is too little for deep input
/// in a program that was not optimised.
const STACK: usize = 8 << 20;

/// How long a run may take on a machine that is busy.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes that a run prints.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no run panics while it writes").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Printed {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().expect("no run panics while it writes"))
    }
}

/// Runs the program in a folder. `None` if this system has no working folder for a thread alone.
pub(crate) fn run(folder: &Path, args: Vec<OsString>, environment: Environment, stdin: &[u8]) -> Option<Run> {
    let (stdout, stderr) = (Printed::default(), Printed::default());
    let io = Io {
        stdin: InputStream::new(io::Cursor::new(stdin.to_vec())),
        stdout: OutputStream::new(stdout.clone(), false),
        stderr: OutputStream::new(stderr.clone(), false),
        terminal: None,
        environment,
        containers: Default::default(),
        arguments: Default::default(),
    };
    let (folder, shown) = (folder.to_owned(), format!("{args:?}"));
    let args = std::iter::once("tensorop".into()).chain(args);
    let (done, ended) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let status = enter(&folder).then(|| command::run(args, &io));
        // nobody waits any longer if the time is over
        let _ = done.send(status);
    });
    drop(thread.expect("a thread"));
    match ended.recv_timeout(TIMEOUT) {
        Ok(status) => Some(Run {
            status: Some(status?.into()),
            stdout: stdout.take(),
            stderr: String::from_utf8_lossy(&stderr.take()).into_owned(),
        }),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{shown}: still running after {TIMEOUT:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{shown}: panicked"),
    }
}

/// Makes a folder the working folder of this thread, and of those that it will start, but of no others.
#[cfg(target_os = "linux")]
fn enter(folder: &Path) -> bool {
    use rustix::thread::UnshareFlags;
    // what could make it unsound is the flag FILES alone
    #[expect(deprecated, reason = "its successor is unsafe for the sake of another flag")]
    let is_alone = rustix::thread::unshare(UnshareFlags::FS).is_ok();
    is_alone && std::env::set_current_dir(folder).map(|()| true).expect("the folder of the test")
}

/// Only Linux has a working folder for each thread.
#[cfg(not(target_os = "linux"))]
fn enter(_: &Path) -> bool {
    false
}
