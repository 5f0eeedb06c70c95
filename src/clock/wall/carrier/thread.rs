//! Processors that are threads: a hand-over unparks the new holder's thread and parks the old one's.

use std::sync::atomic::{AtomicBool, Ordering};

use super::berth::{Berth, RunInBerth};
use crate::clock::stacks::overflow::StackRegistry;
use crate::clock::sync::{Parker, Unparker};
use crate::clock::wall::cores::{HostCores, pin};
use crate::error::Cause;

/// The berth of a processor that is a thread.
pub(in crate::clock) struct ThreadBerth<'a> {
    pub parker: Parker,
    /// One for each processor.
    pub unparkers: &'a [Unparker],
}

impl Berth for ThreadBerth<'_> {
    fn wait_for_core(&self) {
        self.parker.park();
    }

    fn hand_over_to(&self, other: u32) {
        self.unparkers[other as usize].unpark();
        self.parker.park();
    }
}

/// Gives each processor a thread with `stack` bytes of stack, pinned to its core. Returns, when all have
/// ended, each processor's result and whether all threads could be pinned.
pub(in crate::clock) fn carry<T: Send>(
    parkers: Vec<Parker>,
    unparkers: &[Unparker],
    stack: usize,
    cores: usize,
    fail: &dyn Fn(Cause),
    run_in_berth: RunInBerth<T>,
) -> (Vec<Option<T>>, bool) {
    let P = parkers.len();
    let ids = HostCores::detect().ids();
    let (stacks, pinned) = (StackRegistry::new(P, stack), AtomicBool::new(true));
    let run = |id: usize, parker: Parker| {
        let _entry = stacks.add_thread(id);
        if !pin(id % cores, &ids) {
            pinned.store(false, Ordering::Relaxed);
        }
        run_in_berth(id, &ThreadBerth { parker, unparkers })
    };
    let run = &run;
    let results = std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(P);
        for (id, parker) in parkers.into_iter().enumerate() {
            let thread = std::thread::Builder::new().name(format!("processor {id}")).stack_size(stack);
            match thread.spawn_scoped(scope, move || run(id, parker)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    fail(no_thread(P, id, &error));
                    break;
                }
            }
        }
        // The first processor of each core holds it; the others start when it is handed to them.
        unparkers[..cores].iter().for_each(Unparker::unpark);
        threads.into_iter().map(|thread| thread.join().unwrap_or(None)).collect()
    });
    (results, pinned.into_inner())
}

/// Returns the error that the host gives no more threads.
fn no_thread(processors: usize, made: usize, error: &std::io::Error) -> Cause {
    Cause::Host(format!(
        "this computer gave {made} of {processors} threads ({error}); use fewer processors, or let coroutines carry \
         them, or raise the limit that it met: ulimit -u, kernel.threads-max, vm.max_map_count or the control group's \
         pids.max"
    ))
}
