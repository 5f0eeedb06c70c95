//! Long work without Python, which Ctrl-C ends at once.

use std::ffi::c_long;
use std::io::{self, BufWriter, Read, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use loggp_command::replace_file;
use parking_lot::Mutex;
use pyo3::exceptions::PyOSError;
use pyo3::ffi::PyThreadState_SetAsyncExc;
use pyo3::prelude::*;

/// The state that work shares with the one who waits for it.
#[derive(Clone, Default)]
pub struct Stop {
    /// Set when nobody waits for the work any more.
    pub is_over: Arc<AtomicBool>,
    /// The name of the file that the work has not finished.
    unfinished: Arc<Mutex<Option<PathBuf>>>,
}

/// A file, or whatever else is read or written, that gives an error once the work is to stop.
pub struct Stopping<F> {
    pub inner: F,
    pub stop: Stop,
}

/// The time between two looks for signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The time in which work that is told to stop does so, unless it computes.
const TO_STOP: Duration = Duration::from_millis(100);

/// The stack of the thread that works, which is that of a main thread.
const STACK: usize = 8 << 20;

/// Works on another thread, and looks for signals meanwhile. After one, such as that of Ctrl-C, the work is
/// told to stop, and goes on alone until it does.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let stop = Stop::default();
    let its = stop.clone();
    let done = on_thread(py, move || work(&its), |_| stop.is_over.store(true, Relaxed));
    if done.is_err()
        && let Some(unfinished) = stop.unfinished.lock().take()
    {
        // The process may end before the work, which removes it too.
        let _ = std::fs::remove_file(unfinished);
    }
    done
}

/// Works on another thread as [`interruptible`] does, where Python code runs now and then. A signal's exception is
/// raised in that code too, which ends it.
pub fn interruptible_python<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let thread = Arc::new(AtomicU64::new(0));
    let its = thread.clone();
    let get_ident = py.import("threading")?.getattr("get_ident")?.unbind();
    // Its thread is one of Python's until the work is done, though Python's lock is not held all the time.
    let work = move || {
        Python::attach(|py| {
            let ident = get_ident.call0(py).and_then(|ident| ident.extract(py));
            its.store(ident.unwrap_or_default(), Relaxed);
            py.detach(work)
        })
    };
    on_thread(py, work, |error| {
        let ident = thread.load(Relaxed);
        // SAFETY: this thread is attached to Python, and the type of an exception lives as long as its exception.
        // If the thread has ended, nothing happens.
        unsafe { PyThreadState_SetAsyncExc(ident as c_long, error.get_type(py).as_ptr()) };
    })
}

/// Works on another thread, and looks for signals meanwhile. After one, `stop` gets its exception.
fn on_thread<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    stop: impl Fn(&PyErr),
) -> PyResult<T> {
    let (sender, receiver) = sync_channel(1);
    let receiver = Mutex::new(receiver); // it belongs to one thread, and PyO3 wants a shared one
    let worker = Builder::new().stack_size(STACK).spawn(move || {
        let _ = sender.send(work()); // nobody waits for it after an interruption
    });
    let worker = worker.map_err(|why| PyOSError::new_err(format!("there is no room for a thread: {why}")))?;
    loop {
        match py.detach(|| receiver.lock().recv_timeout(BETWEEN_LOOKS)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|error| {
                stop(error);
                // It removes its unfinished files, if the process does not end before.
                let _ = py.detach(|| receiver.lock().recv_timeout(TO_STOP));
            })?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it has sent its result"),
            },
        }
    }
}

/// Works here if it does not take long, and else [interruptibly](interruptible).
pub fn interruptible_if<T: Send + 'static>(
    py: Python<'_>,
    is_long: bool,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    if is_long { interruptible(py, work) } else { Ok(py.detach(|| work(&Stop::default()))) }
}

impl Stop {
    /// Writes a file, which replaces an old one when it is complete.
    pub fn write(
        &self,
        path: &Path,
        contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let begun = |unfinished: &Path| *self.unfinished.lock() = Some(unfinished.into());
        replace_file(path, begun, |file| {
            let mut file = BufWriter::new(Stopping::new(file, self));
            contents(&mut file)?;
            file.flush()
        })
    }
}

impl<F> Stopping<F> {
    pub fn new(inner: F, stop: &Stop) -> Stopping<F> {
        Stopping { inner, stop: stop.clone() }
    }

    fn check(&self) -> io::Result<()> {
        if self.stop.is_over.load(Relaxed) { Err(io::Error::other("it was stopped")) } else { Ok(()) }
    }
}

impl<R: Read> Read for Stopping<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.inner.read(bytes)
    }
}

impl<W: Write> Write for Stopping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
