//! Memory that this computer does not give: the command says so in a sentence and leaves no draft behind, where Rust's own way
//! would be to abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::interrupt;

/// The system's allocator, whose refusals end the command.
struct Room;

#[global_allocator]
static ROOM: Room = Room;

thread_local! {
    /// Whether this thread ends the command.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}
/// Whether any thread does.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What was given, if it was.
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(format_args!("{bytes} bytes more"));
    }
    count(bytes, true);
    memory
}

/// Tests count what is asked for and given back.
#[inline]
fn count(_bytes: usize, _more: bool) {
    #[cfg(any(test, fuzzing))]
    super::readers::count(if _more { _bytes as isize } else { -(_bytes as isize) });
}

/// Ends the command where a panic says that a new thread got no stack for its signals: there is nothing to unwind yet, so
/// that Rust would abort.
pub fn end_without_stack(panic: &str) {
    if panic.contains("alternative stack") {
        end(format_args!("a thread's stack for signals"));
    }
}

/// Ends the command, which needed something. Nothing here asks for memory; if the host does after all, Rust aborts.
#[cold]
fn end(needed: Arguments) {
    if ENDS.replace(true) {
        return;
    }
    if ENDING.swap(true, Ordering::SeqCst) {
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

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Room {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), false);
        // SAFETY: the caller's promises are passed on.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(layout.size(), false);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}
