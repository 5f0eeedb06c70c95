//! A link of channels between threads, which needs nothing to be installed. The library's tests run on this
//! link.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::available_parallelism;

use loggp_model::message::{Body, Slice};
use parking_lot::Mutex;

use super::contract::{Incoming, Link};

/// A [`Link`] between threads: one process, with its channels to and from all others.
///
/// ```
/// use std::sync::Arc;
/// use loggp::{Machine, Params, collectives};
/// use loggp::link::Channels;
///
/// let params = Params::builder(3).build()?;
/// let sum = |link| {
///     let machine = Machine::new(params).with_link(Arc::new(link));
///     machine.measure_across(|p| collectives::all_reduce(p, p.id() as u64, |a, b| a + b))
/// };
/// std::thread::scope(|scope| {
///     let ranks: Vec<_> = Channels::between(3).into_iter().map(|link| scope.spawn(move || sum(link))).collect();
///     for rank in ranks {
///         assert_eq!(rank.join().unwrap().unwrap().results, [3, 3, 3]);
///     }
/// });
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Debug)]
pub struct Channels {
    id: usize,
    to: Vec<Mutex<Sender<Incoming>>>,
    from: Mutex<Receiver<Incoming>>,
    /// For each process, whether it has ended.
    ended: Vec<AtomicBool>,
}

impl Channels {
    /// Makes the links between this number of threads, one for each.
    pub fn between(threads: usize) -> Vec<Channels> {
        let (to, from): (Vec<_>, Vec<_>) = (0..threads).map(|_| channel()).unzip();
        let link = |(id, from)| {
            let to = to.iter().map(|to: &Sender<Incoming>| Mutex::new(to.clone())).collect();
            let ended = (0..threads).map(|_| AtomicBool::new(false)).collect();
            Channels { id, to, from: Mutex::new(from), ended }
        };
        from.into_iter().enumerate().map(link).collect()
    }
}

/// Sends a message without bytes, which is the last one, to every process.
impl Drop for Channels {
    fn drop(&mut self) {
        (0..self.P()).for_each(|to| self.send(to, &[], None));
    }
}

impl Link for Channels {
    fn id(&self) -> usize {
        self.id
    }

    fn P(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>) {
        let slice = slice.and_then(|slice| Body::from_bytes(slice.bytes, slice.align));
        // A process that has ended receives nothing more.
        _ = self.to[to].lock().send(Incoming { from: self.id, bytes: bytes.into(), slice });
    }

    fn poll(&self) -> Option<Incoming> {
        let came = self.from.lock().try_recv().ok();
        came.filter(|came| {
            let ends = came.bytes.is_empty();
            self.ended[came.from].fetch_or(ends, Ordering::Relaxed);
            !ends
        })
    }

    fn has_ended(&self, id: usize) -> bool {
        self.ended[id].load(Ordering::Relaxed)
    }

    fn is_crowded(&self) -> bool {
        available_parallelism().map_or(1, usize::from) < self.P()
    }

    fn name(&self) -> String {
        format!("{} threads", self.P())
    }
}
