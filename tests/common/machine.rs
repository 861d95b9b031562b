//! What a test needs of the machine: programs that may be missing, and signals that may be ignored.
//!
//! A fresh machine has Rust, a C compiler, `sh` and coreutils, and every test passes there. A test that needs another
//! program asks [`has`] for it first, and is skipped where it is missing.

use std::io::Write;

/// Returns the first of some programs that is in no folder of `PATH`.
pub(crate) fn missing<'a>(programs: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    programs.into_iter().find(|name| !std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Says that the running test, or a part of it, is skipped, with the reason.
///
/// The line goes past what the test harness captures, so it is shown even if the test passes. `.ci/run` looks for
/// these lines and runs the tests that they name once more, with all programs that the machine has.
pub(crate) fn skip(why: &str) {
    // the harness names the thread of a test after it
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = std::io::stderr().write_all(format!("skipped: {test}: {why}\n").as_bytes());
}

/// Returns whether all programs that a test needs are there. If one is not, the test is said to be skipped.
pub(crate) fn has(programs: &[&str]) -> bool {
    let missing = missing(programs.iter().copied());
    if let Some(program) = missing {
        skip(&format!("there is no {program}"));
    }
    missing.is_none()
}

/// Sends a signal to a program that was started here and was not waited for yet; it may have ended already.
#[cfg(target_os = "linux")]
pub(crate) fn send(child: &std::process::Child, signal: rustix::process::Signal) {
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
}

/// Makes sure that programs which this process starts from now on end by the usual signals.
///
/// Whoever starts the tests may ignore a signal (a shell ignores SIGINT in background jobs, `nohup` ignores SIGHUP), and a
/// program inherits that from the one that starts it. A signal that has a handler is not inherited so: `exec` gives it back
/// its default action. Therefore this gives handlers that do nothing to the signals that this process ignores.
#[cfg(target_os = "linux")]
pub(crate) fn stop_ignoring_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    let status = std::fs::read_to_string("/proc/self/status").expect("the state of this process");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("the signals it ignores");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a mask of signals");
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        if ignored >> (signal - 1) & 1 == 1 {
            signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).expect("a handler");
        }
    }
}
