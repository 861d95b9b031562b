//! Signals that end the program while a file is written.
//!
//! A library leaves it to the program how its process answers to signals, since a handler of the library could replace one
//! of the program. So this module does nothing unless the program calls [`handle`], and only the feature `cli` has
//! handlers. Without them a signal in the middle of an output has the effect of SIGKILL: it leaves nothing where the
//! system has files without names, and elsewhere a temporary file, which the next output to the same target removes.

pub use self::handlers::{call_when_ended, deferred, end_if_signalled, handle, survive_size_limit};

#[cfg(all(unix, feature = "cli"))]
mod handlers {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, OnceLock};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::parallel::locked;

    /// Whether this module handles the signals of the process.
    static HANDLED: AtomicBool = AtomicBool::new(false);

    /// Whether a signal ends the program now.
    static ENDED: AtomicBool = AtomicBool::new(false);

    /// Whether there is a thread that ends the program.
    static THREAD: OnceLock<bool> = OnceLock::new();

    /// What that thread calls before.
    static LAST: Mutex<Vec<Box<dyn Fn() + Send>>> = Mutex::new(Vec::new());

    /// Held while an output gets its name, and while what is left of it is removed: a folder must not get its name when half
    /// of it is removed.
    static NAMES: Mutex<()> = Mutex::new(());

    /// Lets this module handle the signals of the process.
    ///
    /// While an output is written, SIGHUP, SIGINT and SIGTERM end the program even if it was started with one of them
    /// ignored, as `nohup` does: handlers are set without a look at what was there before.
    pub fn handle() {
        HANDLED.store(true, Ordering::Relaxed);
    }

    fn is_handled() -> bool {
        HANDLED.load(Ordering::Relaxed)
    }

    /// Turns the end of the program when a file grows beyond the limit of its size into an error of the write.
    pub fn survive_size_limit() {
        if is_handled() {
            let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        }
    }

    /// Does `work`. A signal that arrives meanwhile and would end the program does so when the work is done.
    ///
    /// An output gets its name in two steps: a temporary name, and then the target's. A signal between the two would leave
    /// the temporary name behind. The handlers exist during these steps only, so that a signal is never delayed longer.
    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        if !is_handled() {
            return work();
        }
        let held = locked(&NAMES);
        // once a signal ends the program, nothing gets a name any more
        if ENDED.load(Ordering::SeqCst) {
            drop(held);
            wait_for_the_end();
        }
        let pending = Arc::new(AtomicUsize::new(0));
        let ids = [SIGHUP, SIGINT, SIGTERM]
            .map(|signal| signal_hook::flag::register_usize(signal, Arc::clone(&pending), signal as usize));
        let done = work();
        let signal = pending.load(Ordering::SeqCst);
        drop(held);
        if signal != 0 {
            if THREAD.get() == Some(&true) {
                wait_for_the_end();
            }
            let _ = emulate_default_handler(signal as i32);
        }
        for id in ids.into_iter().flatten() {
            signal_hook::low_level::unregister(id);
        }
        done
    }

    /// Waits until the thread that got a signal has ended the program by it.
    fn wait_for_the_end() -> ! {
        loop {
            std::thread::park();
        }
    }

    /// Waits, if a signal ends the program now, until it does so. What fails meanwhile fails because another thread removes
    /// what was begun, and the status of the program is to be the signal.
    pub fn end_if_signalled() {
        if ENDED.load(Ordering::SeqCst) {
            wait_for_the_end();
        }
    }

    /// Calls `last` before one of the usual signals ends the program.
    pub fn call_when_ended(last: impl Fn() + Send + 'static) {
        if !is_handled() {
            return;
        }
        locked(&LAST).push(Box::new(last));
        THREAD.get_or_init(|| {
            let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return false };
            // A thread calls them, since a handler may neither allocate memory nor take a lock. If the system has no more
            // threads, the file is removed in all cases but that of a signal.
            let started = std::thread::Builder::new().spawn(move || {
                for signal in signals.forever() {
                    ENDED.store(true, Ordering::SeqCst);
                    let _held = locked(&NAMES);
                    locked(&LAST).iter().for_each(|last| last());
                    let _ = emulate_default_handler(signal);
                }
            });
            started.is_ok()
        });
    }
}

#[cfg(not(all(unix, feature = "cli")))]
mod handlers {
    /// Does nothing: no signal is answered to.
    pub fn handle() {}

    /// Does nothing: the signal is not caught.
    pub fn survive_size_limit() {}

    /// Does `work`. Signals are not deferred.
    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Does nothing: no signal is waited for.
    pub fn end_if_signalled() {}

    /// Does nothing: no signal is answered to.
    pub fn call_when_ended(_: impl Fn() + Send + 'static) {}
}
