//! An event of a run without its message's name, of which runs that keep less consist too.

use super::record::ActivityKind;
use crate::time::Time;

/// An event as its causes need it.
#[derive(Clone, Copy, Debug)]
pub struct IndexedEvent {
    /// The processor.
    pub id: usize,
    /// The number of the request, or `None` if the processor itself was active.
    pub request: Option<u32>,
    pub start: Time,
    pub end: Time,
    pub kind: IndexedKind,
}

/// The kind of an event, without its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexedKind {
    Work,
    Send,
    Receive,
    Gap,
    Stall,
    Port,
    Idle,
    Barrier,
    Post(u32),
    Wait(u32),
}

impl From<&ActivityKind> for IndexedKind {
    fn from(kind: &ActivityKind) -> IndexedKind {
        match *kind {
            ActivityKind::Work(_) => IndexedKind::Work,
            ActivityKind::Send(_) => IndexedKind::Send,
            ActivityKind::Receive(_) => IndexedKind::Receive,
            ActivityKind::Gap => IndexedKind::Gap,
            ActivityKind::Stall => IndexedKind::Stall,
            ActivityKind::Port => IndexedKind::Port,
            ActivityKind::Idle => IndexedKind::Idle,
            ActivityKind::Barrier => IndexedKind::Barrier,
            ActivityKind::Post(request) => IndexedKind::Post(request),
            ActivityKind::Wait(request) => IndexedKind::Wait(request),
        }
    }
}
