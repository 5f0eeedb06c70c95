//! MPI as a [`Link`]: the processes that `mpirun` has started are the processors of a machine.
//!
//! A message goes under one tag of MPI, what is left of a very long one under a second, and a long slice behind it under a
//! third. Which message goes to which receive is
//! the machine's own business, so MPI matches nothing. Everything goes on in the thread that has started MPI.

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::thread::{self, ThreadId};

use loggp::{Body, Came, Link, Slice};
use parking_lot::Mutex;

unsafe extern "C" {
    fn loggp_mpi_start(id: *mut c_int, p: *mut c_int, here: *mut c_int, cores: *mut c_int) -> c_int;
    fn loggp_mpi_version(text: *mut c_char, room: c_int);
    fn loggp_mpi_send(to: c_int, bytes: *const c_void, n: c_int, slice: *const c_void, length: c_int);
    fn loggp_mpi_sent() -> c_int;
    fn loggp_mpi_ended(id: c_int) -> c_int;
    fn loggp_mpi_came(from: *mut c_int, n: *mut c_int) -> c_int;
    fn loggp_mpi_take(from: c_int, into: *mut c_char, n: c_int);
    fn loggp_mpi_take_slice(from: c_int, into: *mut c_void, n: c_int);
}

/// This process among those that `mpirun` has started.
#[derive(Debug)]
pub struct Mpi {
    id: usize,
    /// How many there are.
    p: usize,
    /// How many of them are on this computer.
    pub here: usize,
    /// How many cores this computer has.
    pub cores: usize,
    /// The thread that has started MPI, and that alone may call it.
    thread: ThreadId,
    /// What has come while something was sent.
    came: Mutex<VecDeque<Came>>,
}

impl Mpi {
    /// Starts MPI, once in a process. It ends with the process.
    pub fn start() -> Result<Mpi, String> {
        let (mut id, mut p, mut here, mut cores) = (0, 0, 0, 0);
        // SAFETY: the four are written before it returns.
        if unsafe { loggp_mpi_start(&mut id, &mut p, &mut here, &mut cores) } != 0 {
            return Err("MPI cannot be started".into());
        }
        let [id, p, here, cores] = [id, p, here, cores].map(|n| usize::try_from(n).expect("counted from 0"));
        Ok(Mpi { id, p, here, cores, thread: thread::current().id(), came: Mutex::default() })
    }

    /// Refuses a thread that must not call MPI.
    fn check(&self) {
        assert!(thread::current().id() == self.thread, "only the thread that has started MPI may call it");
    }

    /// The next message that MPI has.
    fn receive(&self) -> Option<Came> {
        let (mut from, mut n) = (0, 0);
        // SAFETY: both are written if it returns 1. `check` was called.
        if unsafe { loggp_mpi_came(&mut from, &mut n) } == 0 {
            return None;
        }
        let mut bytes = Vec::<u8>::with_capacity(n.unsigned_abs() as usize);
        // SAFETY: there is room for n bytes, and the message that has come has so many.
        unsafe {
            loggp_mpi_take(from, bytes.as_mut_ptr().cast(), n);
            bytes.set_len(n.unsigned_abs() as usize);
        }
        let slice = Slice::behind(&bytes).and_then(|(length, align)| {
            let fill = |at: *mut u8| {
                // SAFETY: there is room for all of the slice, which follows from the same process.
                unsafe { loggp_mpi_take_slice(from, at.cast(), counted(length)) }
            };
            // SAFETY: the slice has this length, so all of it is written.
            unsafe { Body::filled(length, align, fill) }
        });
        Some(Came { from: from.unsigned_abs() as usize, bytes, slice })
    }
}

/// A length as MPI counts it.
fn counted(n: usize) -> c_int {
    n.try_into().expect("no message is longer than `longest` says")
}

impl Link for Mpi {
    fn id(&self) -> usize {
        self.id
    }

    fn p(&self) -> usize {
        self.p
    }

    fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>) {
        self.check();
        let slice = slice.map_or(&[][..], |slice| slice.bytes);
        let (n, length) = (counted(bytes.len()), counted(slice.len()));
        // SAFETY: both stay as they are until all is sent.
        unsafe { loggp_mpi_send(counted(to), bytes.as_ptr().cast(), n, slice.as_ptr().cast(), length) };
        // SAFETY: it only looks.
        while unsafe { loggp_mpi_sent() } == 0 {
            if let Some(came) = self.receive() {
                self.came.lock().push_back(came);
            }
        }
    }

    fn poll(&self) -> Option<Came> {
        self.check();
        let kept = self.came.lock().pop_front();
        kept.or_else(|| self.receive())
    }

    fn has_ended(&self, id: usize) -> bool {
        // SAFETY: it only looks, and there is such a process.
        unsafe { loggp_mpi_ended(counted(id)) != 0 }
    }

    fn longest(&self) -> usize {
        c_int::MAX as usize
    }

    fn is_crowded(&self) -> bool {
        self.here > self.cores
    }

    fn name(&self) -> String {
        let mut text = [0; 64];
        // SAFETY: there is room for 64, and a zero is among them.
        let version = unsafe {
            loggp_mpi_version(text.as_mut_ptr(), 64);
            CStr::from_ptr(text.as_ptr())
        };
        format!("{} processes of {}", self.p, version.to_string_lossy())
    }
}
