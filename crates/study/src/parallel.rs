//! Runs several jobs at the same time, and reports their results in order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;

/// Runs each job on one of several threads, and passes the results to `tell` in the order of the jobs. Ends
/// early if `tell` fails.
pub fn run_in_order<Job: Send, Output: Send, E>(
    jobs: impl ExactSizeIterator<Item = Job> + Send,
    threads: usize,
    run: impl Fn(&Job) -> Output + Sync,
    mut tell: impl FnMut(Job, Output) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(jobs.len());
    let next = Mutex::new(jobs.enumerate());
    let next = || next.lock().expect("nobody panics with it").next();
    let (done, all_done) = channel();
    thread::scope(|scope| {
        let mut started = 0;
        for done in vec![done; if threads > 1 { threads } else { 0 }] {
            let work = || {
                let done = done; // moved, so that the channel closes when all threads end
                while let Some((index, job)) = next() {
                    let result = run(&job);
                    if done.send((index, (job, result))).is_err() {
                        return;
                    }
                }
            };
            started += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
        }
        if started == 0 {
            // One thread is enough, or the host gives none.
            while let Some((_, job)) = next() {
                let result = run(&job);
                tell(job, result)?;
            }
        }
        let (all_done, mut results) = (all_done, BTreeMap::new()); // the receiver is dropped before the scope waits
        let mut index = 0;
        for (other, result) in &all_done {
            results.insert(other, result);
            while let Some((job, result)) = results.remove(&index) {
                index += 1;
                tell(job, result)?;
            }
        }
        Ok(())
    })
}
