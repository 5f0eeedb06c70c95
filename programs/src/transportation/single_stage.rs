//! The single-stage algorithms: every message goes to its destination as it is (sections 5 and 6).

use loggp::Proc;

use super::endpoints::{Delivery, Source};
use super::linear::receive_vector;
use super::packet::{ElementSlice, Packet};
use super::schedule::SendSchedule;

/// Runs a single-stage algorithm on one processor. Its phases are the exchange of the vectors, and the
/// transfer.
pub fn transport_single_stage(p: &mut Proc, schedule: SendSchedule, source: Source) -> Delivery {
    let starts = source.starts();
    let Source { sendl, elements, seed, .. } = source;
    let mut messages = vec![Vec::new(); p.P()];
    let recvl = receive_vector(p, &sendl);
    let mut ends = vec![p.now()];
    let message = |j: usize| Packet::from_slice(ElementSlice::new(&elements, starts[j], sendl[j]));
    let receive = |from: usize, packet: Packet| messages[from] = packet.into_elements();
    let counts = schedule.send(p, 0, seed, &sendl, &recvl, message, receive);
    ends.push(p.now());
    Delivery { messages, ends, lengths: vec![sendl], parts: Vec::new(), counts }
}
