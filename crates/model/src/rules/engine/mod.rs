//! The engine of one processor: its rules of sending, receiving and waiting, without a stack and without a
//! clock.
//!
//! `Proc` [starts](Engine::start) a call or [posts](Engine::post) a request, and [drives](Engine::drive) it on a
//! [`Clock`]. A blocking call is *start, and drive until done*; a request is *post, and drive later*. Both are
//! operations, and consist of steps, each of which sends or receives a message: a short send is a single step.
//! Without requests a call does one step after the other. With requests a step has two halves, and other
//! operations may act between them. The files follow this:
//!
//! - `calls.rs`: blocking calls, which do steps or handle events until they are done, and looks;
//! - `send.rs`: the step that sends. [`Rank::prepare_send`] makes a message, which waits for its turn; rules 1 to
//!   3 are the network's; [`Engine::enter`] moves local time to the entry;
//! - `receive.rs`: the step that receives. [`Engine::message_wait`] says from when on a message can be received;
//!   rule 4, with the receive gap, is [`Rank::receive`]; [`Engine::spend_reception`] moves local time to its end.
//!   Where a message is in transit until then, [`Engine::free_room`] admits others at the start of its reception,
//!   and a signal tells their senders;
//! - `events.rs`: the halves of steps, and who acts next where there are requests. Messages to the same processor
//!   enter in the order of their calls, and a message goes to the receive that was posted first, as in MPI;
//! - `requests.rs`: requests (LogGPS, section 3.2), which have a [local time of their own](RequestState), and the
//!   [wait](Engine::join) for one; `stall.rs`: a send that becomes a request because it finds no room;
//! - `one_sided.rs`: messages to a processor's memory, and its answers;
//! - `time.rs`: computing, waits for a time, and the log; `clock.rs`: what the engine asks of a clock.

mod calls;
mod clock;
mod events;
mod one_sided;
mod receive;
mod requests;
mod send;
mod stall;
mod time;

pub use clock::{Clock, StepClock, fail_program};
pub use stall::StalledSend;

use self::requests::RequestTable;
use super::network::Network;
#[cfg(doc)]
use super::operation::RequestState;
use super::rank::Rank;
use super::stats::Stats;
use crate::log::{Activity, Log};
use crate::time::Time;

/// A processor as the rules see it.
// The fields that every message touches come first.
#[derive(Debug)]
#[repr(C)]
pub struct Engine<'n> {
    /// True if requests are under way: then they must advance while time passes.
    pub has_requests: bool,
    /// True if its messages are in transit until they are received, and their number is limited.
    has_rooms: bool,
    pub is_traced: bool,
    /// Number of looks that found nothing since the processor last sent or received a message.
    pub vain_looks: u32,
    network: &'n Network,
    pub rank: Rank,
    stats: Stats,
    /// The log, if the run is traced.
    log: Option<Box<Log>>,
    /// The requests, once there was one.
    requests: Option<Box<RequestTable>>,
}

/// The activities of a request, which count when its processor waits for it; `None` for a call.
type ActivityLog<'a> = Option<&'a mut Vec<Activity>>;

impl<'n> Engine<'n> {
    /// Creates the engine of a processor at time 0, which writes a log if there is one.
    pub fn new(id: usize, network: &'n Network, log: Option<Box<Log>>) -> Engine<'n> {
        Engine {
            has_requests: false,
            has_rooms: network.has_rooms(),
            is_traced: log.is_some(),
            vain_looks: 0,
            network,
            rank: Rank::new(id, network),
            stats: Stats::default(),
            log,
            requests: None,
        }
    }

    #[inline]
    pub fn id(&self) -> usize {
        self.rank.egress.processor()
    }

    /// Returns the earliest time at which a send of `words`, or the announcement before it, need not wait for the
    /// gap after the last send.
    pub fn next_send(&self, to: usize, words: usize) -> Time {
        let is_synchronous = self.network.is_synchronous(self.id(), to, words);
        self.rank.next_send(self.network, to, if is_synchronous { 0 } else { words })
    }

    /// Finishes the processor, whose program has returned. Returns its accounts, and its log if the run is
    /// traced. What was in transit to it at once is known only when the run has ended.
    pub fn finish(mut self) -> (Stats, Option<Box<Log>>) {
        self.stats.finish = self.rank.now;
        self.stats.most_from = self.rank.egress.most_in_transit();
        (self.stats, self.log)
    }
}
