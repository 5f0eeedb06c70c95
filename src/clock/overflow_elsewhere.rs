//! Where it is not known how the host tells of a stack that has overflowed, nobody adds to what the host says.

use corosensei::stack::Stack;

/// The stacks of a run's processors.
pub(super) struct Stacks;

/// A stack for the handler of signals.
pub(super) struct AlternateStack;

impl Stacks {
    /// The stacks of a run of `P` processors, each with so many bytes.
    pub fn new(_P: usize, _size: usize) -> Stacks {
        Stacks
    }

    /// Processor `id` has this stack.
    pub fn coroutine(&self, _id: usize, _stack: &impl Stack) {}

    /// Processor `id` has the stack of this thread.
    pub fn thread(&self, _id: usize) -> AlternateStack {
        AlternateStack
    }
}

impl AlternateStack {
    /// Sees to it that this thread has one.
    pub fn provide() -> AlternateStack {
        AlternateStack
    }
}

/// Says whose stack has overflowed, and ends the process.
pub(super) fn end_process(id: usize, size: usize) -> ! {
    eprintln!(
        "processor {id} has overflowed its stack of {} KiB; give it more with Machine::stack",
        size / 1024
    );
    std::process::abort()
}
