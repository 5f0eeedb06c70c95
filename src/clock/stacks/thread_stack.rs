//! The stack of the thread that carries a processor, as the processor reaches it.

use corosensei::Yielder;

/// The stack of a thread that carries processors, on which code runs that needs more stack than a processor
/// has, or that must know its stack, as interpreters do.
pub trait ThreadStack {
    /// Runs code there. A panic goes through to the caller.
    fn run(&self, code: &mut (dyn FnMut() + Send));
}

/// The stack of the thread that resumes the coroutine with this yielder.
pub(crate) struct ParentStack<'y, Y>(pub &'y Yielder<(), Y>);

impl<Y> ThreadStack for ParentStack<'_, Y> {
    fn run(&self, code: &mut (dyn FnMut() + Send)) {
        self.0.on_parent_stack(code);
    }
}

/// The stack on which the caller is, for processors that are threads.
pub(crate) struct OwnStack;

impl ThreadStack for OwnStack {
    fn run(&self, code: &mut (dyn FnMut() + Send)) {
        code();
    }
}
