//! Signals that end the program while a file is written.
//!
//! How a process answers to signals is the program's affair, not a library's: handlers of ours would stand before or
//! in place of those that it has. So nothing is done here unless the program asks for it with [`handle`], which only
//! the feature `cli` has. Without it a signal in the middle of an output leaves what SIGKILL leaves: nothing where
//! files need no names, else a temporary file that the next output to the same target removes.

pub use self::handlers::{call_when_ended, deferred, handle, remove_when_ended, survive_size_limit};

#[cfg(all(unix, feature = "cli"))]
mod handlers {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Whether the program leaves its signals to this module.
    static HANDLED: AtomicBool = AtomicBool::new(false);

    /// Lets this module answer to the signals of the process.
    pub fn handle() {
        HANDLED.store(true, Ordering::Relaxed);
    }

    fn is_handled() -> bool {
        HANDLED.load(Ordering::Relaxed)
    }

    /// Lets a file that grows beyond its limit be an error like others from here on, and not end the program.
    pub fn survive_size_limit() {
        if !is_handled() {
            return;
        }
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }

    /// Does `work`; a signal that would end the program meanwhile does so when it is done.
    ///
    /// For the two steps in which a draft gets a temporary name and then the target's: a signal between them would
    /// leave the temporary name behind, since nobody knows it yet who could remove it. Handlers are there for that
    /// time only, so that nothing else the program does waits for a signal to be noticed.
    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        if !is_handled() {
            return work();
        }
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
        let path = path.to_owned();
        // without a thread the file is removed in all other cases
        call_when_ended(move || drop(std::fs::remove_file(&path)));
    }

    /// Calls `last` before one of the usual signals ends the program.
    pub fn call_when_ended(last: impl Fn() + Send + 'static) {
        if !is_handled() {
            return;
        }
        let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
        // In a thread, because a handler itself may call next to nothing: neither take memory nor a lock. Without the
        // thread (there may be no more of them) the file is removed in all cases but that of a signal.
        let _ = std::thread::Builder::new().spawn(move || {
            for signal in signals.forever() {
                last();
                let _ = emulate_default_handler(signal);
            }
        });
    }
}

#[cfg(not(all(unix, feature = "cli")))]
mod handlers {
    /// Does nothing: no signal is answered to.
    pub fn handle() {}

    /// Does nothing: the signal is not caught.
    pub fn survive_size_limit() {}

    /// Does `work`, without regard to signals.
    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Does nothing: no signal is answered to.
    pub fn remove_when_ended(_: &std::path::Path) {}

    /// Does nothing: no signal is answered to.
    pub fn call_when_ended(_: impl Fn() + Send + 'static) {}
}
