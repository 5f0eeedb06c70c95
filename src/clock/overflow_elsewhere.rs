//! Where it is not known how the host tells of a stack that has overflowed, nobody adds to what the host says.

use corosensei::stack::DefaultStack;

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
    pub fn coroutine(&self, _id: usize, _stack: &DefaultStack) {}

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
