//! MPI as a [`Link`]: the processes that `mpirun` has started are the processors of a machine.
//!
//! A message has one tag of MPI, the rest of a very long message a second one, and a long slice behind it a
//! third. The machine matches messages with receives itself, so MPI matches nothing. All calls are made in
//! the thread that has started MPI.

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::thread::{self, ThreadId};
use std::time::Duration;

use loggp::link::{Incoming, Link};
use loggp::{Body, Slice};
use parking_lot::Mutex;

unsafe extern "C" {
    fn loggp_mpi_start(id: *mut c_int, p: *mut c_int, here: *mut c_int, cores: *mut c_int) -> c_int;
    fn loggp_mpi_version(text: *mut c_char, room: c_int);
    fn loggp_mpi_send(to: c_int, bytes: *const c_void, n: c_int, slice: *const c_void, length: c_int);
    fn loggp_mpi_is_sent() -> c_int;
    fn loggp_mpi_has_ended(id: c_int) -> c_int;
    fn loggp_mpi_has_message(from: *mut c_int, n: *mut c_int) -> c_int;
    fn loggp_mpi_take(from: c_int, into: *mut c_char, n: c_int);
    fn loggp_mpi_wait_while_sender_computes(other: c_int, bytes: c_int, seconds: f64) -> f64;
    fn loggp_mpi_take_slice(from: c_int, into: *mut c_void, n: c_int);
}

/// A link between the processes that `mpirun` has started.
#[derive(Debug)]
pub struct Mpi {
    id: usize,
    p: usize,
    /// The number of these processes on this computer.
    pub here: usize,
    /// The number of this computer's cores.
    pub cores: usize,
    /// The thread that has started MPI, which alone may call it.
    thread: ThreadId,
    /// The messages that arrived while another was sent.
    pending: Mutex<VecDeque<Incoming>>,
}

impl Mpi {
    /// Starts MPI. A process may do so once; MPI ends with the process.
    pub fn start() -> Result<Mpi, String> {
        let (mut id, mut p, mut here, mut cores) = (0, 0, 0, 0);
        // SAFETY: the call writes all four before it returns.
        if unsafe { loggp_mpi_start(&mut id, &mut p, &mut here, &mut cores) } != 0 {
            return Err("MPI cannot be started".into());
        }
        let [id, p, here, cores] = [id, p, here, cores].map(|n| usize::try_from(n).expect("counted from 0"));
        Ok(Mpi { id, p, here, cores, thread: thread::current().id(), pending: Mutex::default() })
    }

    /// Panics if this thread must not call MPI.
    fn check_thread(&self) {
        assert!(thread::current().id() == self.thread, "only the thread that has started MPI may call it");
    }

    /// Receives the next message, if one has arrived.
    fn receive(&self) -> Option<Incoming> {
        let (mut from, mut n) = (0, 0);
        // SAFETY: the call writes both if it returns 1. The thread was checked.
        if unsafe { loggp_mpi_has_message(&mut from, &mut n) } == 0 {
            return None;
        }
        let mut bytes = Vec::<u8>::with_capacity(n.unsigned_abs() as usize);
        // SAFETY: there is room for n bytes, the length of the message that has arrived.
        unsafe {
            loggp_mpi_take(from, bytes.as_mut_ptr().cast(), n);
            bytes.set_len(n.unsigned_abs() as usize);
        }
        let layout = Slice::announced_layout(&bytes).filter(|(length, _)| *length <= self.max_bytes());
        let slice = layout.and_then(|(length, align)| {
            let fill = |at: *mut u8| {
                // SAFETY: there is room for the whole slice, which follows from the same process.
                unsafe { loggp_mpi_take_slice(from, at.cast(), to_c_int(length)) }
            };
            // SAFETY: the slice has this length, so all bytes are written.
            unsafe { Body::from_fn(length, align, fill) }
        });
        Some(Incoming { from: from.unsigned_abs() as usize, bytes, slice })
    }
}

/// Converts a length or a number of a process to MPI's type.
fn to_c_int(n: usize) -> c_int {
    n.try_into().expect("no message is longer than `max_bytes` says")
}

impl Link for Mpi {
    fn id(&self) -> usize {
        self.id
    }

    fn P(&self) -> usize {
        self.p
    }

    fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>) {
        self.check_thread();
        let slice = slice.map_or(&[][..], |slice| slice.bytes);
        let (n, length) = (to_c_int(bytes.len()), to_c_int(slice.len()));
        // SAFETY: both slices stay unchanged until they are sent.
        unsafe { loggp_mpi_send(to_c_int(to), bytes.as_ptr().cast(), n, slice.as_ptr().cast(), length) };
        // SAFETY: the call only tests whether they are sent.
        while unsafe { loggp_mpi_is_sent() } == 0 {
            if let Some(message) = self.receive() {
                self.pending.lock().push_back(message);
            }
        }
    }

    fn poll(&self) -> Option<Incoming> {
        self.check_thread();
        let pending = self.pending.lock().pop_front();
        pending.or_else(|| self.receive())
    }

    fn has_ended(&self, id: usize) -> bool {
        // SAFETY: the call only reads a flag, and the process exists.
        unsafe { loggp_mpi_has_ended(to_c_int(id)) != 0 }
    }

    fn max_bytes(&self) -> usize {
        c_int::MAX as usize
    }

    fn is_crowded(&self) -> bool {
        self.here > self.cores
    }

    fn wait_while_sender_computes(&self, other: usize, bytes: usize, computing: Duration) -> Option<f64> {
        self.check_thread();
        let (other, bytes) = (to_c_int(other), to_c_int(bytes));
        // SAFETY: the call has a communicator and memory of its own, and the process exists.
        Some(unsafe { loggp_mpi_wait_while_sender_computes(other, bytes, computing.as_secs_f64()) })
    }

    fn name(&self) -> String {
        let mut text = [0; 64];
        // SAFETY: there is room for 64 bytes, and the call ends them with a zero.
        let version = unsafe {
            loggp_mpi_version(text.as_mut_ptr(), 64);
            CStr::from_ptr(text.as_ptr())
        };
        format!("{} processes of {}", self.p, version.to_string_lossy())
    }
}
