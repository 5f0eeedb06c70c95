//! A signal handler that names the processor whose stack has overflowed.
//!
//! Below each stack lies a guard page, which may not be touched. A program that outgrows its stack touches
//! the guard first, and the host raises a signal on its thread. The address that was touched identifies the
//! processor, so nothing has to be noted when a processor is resumed: each thread lists the stacks of the
//! processors that it carries, and the signal's handler looks there. Other faults go to the handler that was
//! installed before. The handler may interrupt anything, so it takes no lock and allocates nothing.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::{Once, OnceLock};

/// The stacks of a run's processors that this thread carries. The handler finds them until they are dropped.
pub(in crate::clock) struct WatchedStacks {
    /// The lowest address at which an overflow of the first stack is noticed.
    start: usize,
    /// The bytes from one stack to the next.
    stride: usize,
    /// The bytes from the lowest address of a stack in which only an overflow is a fault.
    guard: usize,
    /// The processors, in the order of their stacks.
    pub(super) ids: Vec<u32>,
    /// The size of each stack, in bytes.
    pub(super) size: usize,
    /// The stacks of the run that has started this one on the same thread, or null.
    outer: *const WatchedStacks,
    /// A stack for the handler, if the thread had none: a stack that has overflowed has no room for it.
    /// Threads that Rust has started have one.
    signal_stack: Option<Box<[u8]>>,
}

thread_local! {
    /// The stacks of the innermost run on this thread, or null.
    static INNERMOST: Cell<*const WatchedStacks> = const { Cell::new(null()) };
}

/// The signals that the host raises for memory that may not be touched.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The action for each of [`SIGNALS`] before [`install`].
static PREVIOUS_ACTIONS: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

/// The size of the handler's stack on threads that have none, in bytes.
const SIGNAL_STACK_SIZE: usize = 64 << 10;

impl WatchedStacks {
    /// Watches stacks of `size` bytes until the returned value is dropped. They are `stride` bytes apart from
    /// the address `start` on, and each begins with `guard` bytes in which only an overflow is a fault.
    pub(super) fn new(
        start: usize,
        stride: usize,
        guard: usize,
        ids: Vec<u32>,
        size: usize,
    ) -> Box<WatchedStacks> {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let (outer, signal_stack) = (INNERMOST.get(), provide_signal_stack());
        let stacks = Box::new(WatchedStacks { start, stride, guard, ids, size, outer, signal_stack });
        INNERMOST.set(&raw const *stacks);
        stacks
    }

    /// Watches the stack of this thread, of `size` bytes, which carries processor `id`. All of it above its
    /// guard can be touched, wherever exactly the host has put the guard.
    pub(in crate::clock) fn of_thread(id: usize, size: usize) -> Box<WatchedStacks> {
        let top = (&raw const id).addr();
        let length = size.saturating_add(2 * rustix::param::page_size());
        WatchedStacks::new(top.saturating_sub(length), length, length, vec![id as u32], size)
    }
}

impl Drop for WatchedStacks {
    fn drop(&mut self) {
        INNERMOST.set(self.outer);
        if self.signal_stack.is_some() {
            // SAFETY: this thread runs no handler now, and the memory is freed only afterwards.
            unsafe {
                let none = libc::stack_t { ss_flags: libc::SS_DISABLE, ..zeroed() };
                libc::sigaltstack(&none, null_mut());
            }
        }
    }
}

/// Gives this thread a stack for the handler, and returns its memory, if the thread has none.
fn provide_signal_stack() -> Option<Box<[u8]>> {
    // SAFETY: the calls write only to `now`. The memory is freed when the thread uses it no longer.
    unsafe {
        let mut now: libc::stack_t = zeroed();
        libc::sigaltstack(null(), &mut now);
        (now.ss_flags & libc::SS_DISABLE != 0).then(|| {
            let mut memory = vec![0; SIGNAL_STACK_SIZE].into_boxed_slice();
            let (ss_sp, ss_size) = (memory.as_mut_ptr().cast(), SIGNAL_STACK_SIZE);
            libc::sigaltstack(&libc::stack_t { ss_sp, ss_size, ..zeroed() }, null_mut());
            memory
        })
    }
}

/// Returns the processor of this thread in whose guard the address lies, and the size of its stack.
fn find_overflowed(address: usize) -> Option<(u32, usize)> {
    let mut next = INNERMOST.get();
    // SAFETY: the list has only stacks that are not dropped, and this thread changes it.
    while let Some(stacks) = unsafe { next.as_ref() } {
        let offset = address.wrapping_sub(stacks.start);
        if offset % stacks.stride < stacks.guard
            && let Some(id) = stacks.ids.get(offset / stacks.stride)
        {
            return Some((*id, stacks.size));
        }
        next = stacks.outer;
    }
    None
}

/// Prints which processor's stack has overflowed, and ends the process, because memory beyond the stack may
/// be overwritten. Allocates nothing and takes no lock.
pub(super) fn end_process(id: u32, size: usize) -> ! {
    let mut text = [0_u8; 128];
    let mut rest = &mut text[..];
    let kib = size / 1024;
    let _ = writeln!(
        rest,
        "processor {id} has overflowed its stack of {kib} KiB; give it more with Machine::stack"
    );
    let length = 128 - rest.len();
    // SAFETY: both calls may be made in a handler, and the text is there.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length);
        libc::abort();
    }
}

/// Handles a signal: ends the process if a processor's stack has overflowed. Else the action that was there
/// before takes its place, and handles the signal: a fault repeats as soon as this returns, and a signal from
/// a process is raised again.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the host passes a valid `siginfo_t`. There is always an address to read, though it has a
    // meaning only if the host itself sent the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    let is_fault = code > 0;
    if is_fault && let Some((id, size)) = find_overflowed(address) {
        end_process(id, size);
    }
    if let Some(before) = PREVIOUS_ACTIONS.get() {
        // SAFETY: both calls may be made in a handler, and the action was there before.
        unsafe {
            libc::sigaction(signal, &before[usize::from(signal != SIGNALS[0])], null_mut());
            if !is_fault {
                libc::raise(signal);
            }
        }
    }
}

/// Makes [`handle`] the handler of [`SIGNALS`].
fn install() {
    // SAFETY: an action of zeros is valid, and the calls write only to `before`. `handle` does only what a
    // handler may do, and the previous actions are stored before it can be called.
    unsafe {
        let before = SIGNALS.map(|signal| {
            let mut before: libc::sigaction = zeroed();
            libc::sigaction(signal, null(), &mut before);
            before
        });
        PREVIOUS_ACTIONS.get_or_init(|| before);
        let mut action: libc::sigaction = zeroed();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        for signal in SIGNALS {
            libc::sigaction(signal, &action, null_mut());
        }
    }
}
