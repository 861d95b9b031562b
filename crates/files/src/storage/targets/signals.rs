//! Signals that end the program while a file is written.
//!
//! Only a program may set handlers, so nothing happens here before [`handle`], which needs the feature `cli`. Otherwise
//! a signal acts like SIGKILL: it leaves nothing on systems with unnamed files, and elsewhere a temporary file, which
//! the next output to the target removes.

pub use self::handlers::{call_when_ended, deferred, end_if_signalled, handle, survive_size_limit};

#[cfg(unix)]
mod handlers {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, OnceLock};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use tensorop_kernels::parallel::locked;

    static HANDLED: AtomicBool = AtomicBool::new(false);

    static ENDED: AtomicBool = AtomicBool::new(false);

    static THREAD: OnceLock<bool> = OnceLock::new();

    /// Callbacks before the program ends.
    static LAST: Mutex<Vec<Box<dyn Fn() + Send>>> = Mutex::new(Vec::new());

    /// Held while an output gets its name and while its remains are removed: a half-removed folder must not get its
    /// name.
    static NAMES: Mutex<()> = Mutex::new(());

    /// SIGHUP, SIGINT and SIGTERM then end the program during an output even if they were ignored at its start, as with
    /// `nohup`.
    pub fn handle() {
        HANDLED.store(true, Ordering::Relaxed);
    }

    fn is_handled() -> bool {
        HANDLED.load(Ordering::Relaxed)
    }

    /// Turns the signal of an exceeded size limit into an error of the write.
    pub fn survive_size_limit() {
        if is_handled() {
            let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        }
    }

    /// A signal during `work` ends the program afterwards. Otherwise it could leave the temporary name of a file that
    /// is about to be renamed. The handlers exist during `work` only.
    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        if !is_handled() {
            return work();
        }
        let held = locked(&NAMES);
        // After a signal no output gets its name.
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

    fn wait_for_the_end() -> ! {
        loop {
            std::thread::park();
        }
    }

    /// Waits if a signal is ending the program: errors are then due to removed files, and the exit status must be the
    /// signal's.
    pub fn end_if_signalled() {
        if ENDED.load(Ordering::SeqCst) {
            wait_for_the_end();
        }
    }

    /// Registers a callback for SIGHUP, SIGINT and SIGTERM.
    pub fn call_when_ended(last: impl Fn() + Send + 'static) {
        if !is_handled() {
            return;
        }
        locked(&LAST).push(Box::new(last));
        THREAD.get_or_init(|| {
            let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return false };
            // A thread makes the calls, because a handler may neither allocate nor lock. Without a thread the file is
            // removed except after a signal.
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

#[cfg(not(unix))]
mod handlers {
    pub fn handle() {}

    pub fn survive_size_limit() {}

    pub fn deferred<T>(work: impl FnOnce() -> T) -> T {
        work()
    }

    pub fn end_if_signalled() {}

    pub fn call_when_ended(_: impl Fn() + Send + 'static) {}
}
