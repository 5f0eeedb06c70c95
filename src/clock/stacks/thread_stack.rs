//! The stack of the thread that resumes a coroutine, as the coroutine reaches it.

use corosensei::Yielder;
use loggp_model::rules::engine::ThreadStack;

/// The stack of the thread that resumes the coroutine with this yielder.
pub(crate) struct ParentStack<'y, Y>(pub &'y Yielder<(), Y>);

impl<Y> ThreadStack for ParentStack<'_, Y> {
    fn run(&self, code: &mut (dyn FnMut() + Send)) {
        self.0.on_parent_stack(code);
    }
}
