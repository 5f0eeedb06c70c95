//! Runs several things at once, and tells what became of each in their order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;

/// Does each of these on so many threads, and tells in their order what became of each. It ends early where telling fails.
pub fn in_order<Job: Send, Done: Send, Failed>(
    jobs: impl ExactSizeIterator<Item = Job> + Send,
    threads: usize,
    run: impl Fn(&Job) -> Done + Sync,
    mut tell: impl FnMut(Job, Done) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let threads = threads.min(jobs.len());
    let next = Mutex::new(jobs.enumerate());
    let next = || next.lock().expect("nobody panics with it").next();
    let (done, all_done) = channel();
    thread::scope(|scope| {
        let mut made = 0;
        for done in vec![done; if threads > 1 { threads } else { 0 }] {
            let work = || {
                let done = done; // whoever is told nothing more ends
                while let Some((place, job)) = next() {
                    let became = run(&job);
                    if done.send((place, (job, became))).is_err() {
                        return;
                    }
                }
            };
            made += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
        }
        if made == 0 {
            // One is enough, or the host gives no thread.
            while let Some((_, job)) = next() {
                let became = run(&job);
                tell(job, became)?;
            }
        }
        let (all_done, mut early) = (all_done, BTreeMap::new()); // it goes before the scope waits
        let mut place = 0;
        for (other, became) in &all_done {
            early.insert(other, became);
            while let Some((job, became)) = early.remove(&place) {
                place += 1;
                tell(job, became)?;
            }
        }
        Ok(())
    })
}
