//! The stack of the thread that carries a processor.

use super::processor::Proc;
use crate::clock::stacks::{OwnStack, ThreadStack};

/// Returns the stack of the thread that carries a processor: on the virtual clock with one core that of the
/// thread that runs the machine. Where processors have threads of their own it is the processor's own.
pub fn thread_stack<'a>(p: &Proc<'a>) -> Box<dyn ThreadStack + 'a> {
    match p.clock.coroutine() {
        Some(coroutine) => coroutine.thread_stack(),
        None => Box::new(OwnStack),
    }
}

/// Runs code on a thread's stack, on which the calling processor must be carried. A panic goes through to the
/// caller. The code cannot call the processor.
pub fn on_thread_stack<R: Send>(stack: &dyn ThreadStack, code: impl FnOnce() -> R + Send) -> R {
    let (mut code, mut result) = (Some(code), None);
    stack.run(&mut || result = code.take().map(|code| code()));
    result.expect("it has run")
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::{on_thread_stack, thread_stack};
    use crate::machine::Machine;
    use loggp_model::error::Cause;
    use loggp_model::message::Tag;
    use loggp_model::params::Params;

    /// Uses more stack than a processor has.
    fn use_stack() -> u64 {
        let numbers = black_box([1_u64; 64 << 10]);
        numbers.iter().sum()
    }

    fn machine() -> Machine {
        Machine::new(Params::builder(3).build().unwrap()).stack(Machine::LEAST_STACK)
    }

    #[test]
    fn code_runs_on_the_stack_of_the_thread() {
        const SUM: Tag<u64> = Tag::new(0);
        let run = machine().run(|p| {
            let sum = on_thread_stack(&*thread_stack(p), use_stack);
            p.send((p.id() + 1) % p.P(), SUM, sum);
            // A run within a run has stacks of its own.
            let inner = on_thread_stack(&*thread_stack(p), || {
                machine().run(|p| on_thread_stack(&*thread_stack(p), use_stack)).unwrap().results
            });
            p.recv(SUM) + inner.iter().sum::<u64>()
        });
        assert_eq!(run.unwrap().results, [4 << 16; 3]);
    }

    #[test]
    fn panic_on_the_stack_of_the_thread_ends_the_processor() {
        let error = machine().run(|p| {
            let is_second = p.id() == 1;
            on_thread_stack(&*thread_stack(p), || {
                if is_second {
                    std::panic::resume_unwind(Box::new("no"))
                }
            });
        });
        assert_eq!(error.unwrap_err().cause, Cause::Panic { id: 1, message: "no".into() });
    }
}
