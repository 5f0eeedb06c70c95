//! The single-stage algorithms: every message goes to its destination as it is (sections 5 and 6).

use loggp::Proc;

use super::arrival::{Arrival, Source};
use super::linear::receive_vector;
use super::packet::{Packet, Slice};
use super::schedule::Schedule;

/// What each processor does. Its phases are the exchange of the vectors, and the transfer.
pub fn single_stage(p: &mut Proc, schedule: Schedule, source: Source) -> Arrival {
    let starts = source.starts();
    let Source { sendl, elements, seed, .. } = source;
    let mut messages = vec![Vec::new(); p.p()];
    let recvl = receive_vector(p, &sendl);
    let mut ends = vec![p.now()];
    let message = |j: usize| Packet::whole(Slice::new(&elements, starts[j], sendl[j]));
    let receives = |from: usize, packet: Packet| messages[from] = packet.into_elements();
    let counts = schedule.send(p, 0, seed, &sendl, &recvl, message, receives);
    ends.push(p.now());
    Arrival { messages, ends, lengths: vec![sendl], parts: Vec::new(), counts }
}
