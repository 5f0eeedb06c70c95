//! A computer that is busy with other things.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A busy loop on each core of the host until it is dropped.
pub(crate) struct BusyCores(Arc<AtomicBool>, Vec<JoinHandle<()>>);

impl BusyCores {
    pub(crate) fn start() -> BusyCores {
        let stop = Arc::new(AtomicBool::new(false));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let spin = |stop: Arc<AtomicBool>| move || while !stop.load(Ordering::Relaxed) {};
        let threads = (0..cores).map(|_| thread::spawn(spin(stop.clone()))).collect();
        BusyCores(stop, threads)
    }
}

impl Drop for BusyCores {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
}
