//! The stack of the thread that resumes a coroutine, as the coroutine reaches it.

use corosensei::Yielder;

use crate::rules::engine::ThreadStack;

impl<Y> ThreadStack for Yielder<(), Y> {
    fn run(&self, code: &mut (dyn FnMut() + Send)) {
        self.on_parent_stack(code);
    }
}
