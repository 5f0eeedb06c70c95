//! The allocator of the command. When this computer gives no more memory, the command ends with a sentence
//! and leaves no unfinished file behind, where Rust would abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::interrupt;

/// The system's allocator, except that a failed allocation ends the command. The binary sets it, so that what else
/// uses this library keeps its own.
pub struct ExitingAllocator;

thread_local! {
    /// True while this thread ends the command.
    static IS_EXITING: Cell<bool> = const { Cell::new(false) };
}
/// True while any thread ends the command.
static PROCESS_IS_EXITING: AtomicBool = AtomicBool::new(false);

/// Returns allocated memory, or ends the command if there is none.
fn checked(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        exit_out_of_memory(format_args!("{bytes} bytes more"));
    }
    memory
}

/// Ends the command if a panic says that a new thread got no stack for its signals. There is nothing to
/// unwind yet, so Rust would abort.
pub fn exit_without_stack(panic: &str) {
    if panic.contains("alternative stack") {
        exit_out_of_memory(format_args!("a thread's stack for signals"));
    }
}

/// Ends the command, which needed more memory. Nothing here allocates; if the host does, Rust aborts.
#[cold]
fn exit_out_of_memory(needed: Arguments) {
    if IS_EXITING.replace(true) {
        return;
    }
    if PROCESS_IS_EXITING.swap(true, Ordering::SeqCst) {
        loop {
            thread::park(); // until the other thread has ended the process
        }
    }
    interrupt::try_remove_drafts();
    drop(writeln!(
        io::stderr(),
        "error: this computer gives no more memory, and it needed {needed}; use fewer processors or a smaller \
         size, or raise the limit if there is one, as with ulimit -v"
    ));
    process::exit(1);
}

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for ExitingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        checked(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}
