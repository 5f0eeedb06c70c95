//! The modified linear permutation of figure 4: in step k every processor exchanges messages with one
//! partner.

use loggp::collectives::all_to_all;
use loggp::{Proc, Tag};

use super::packet::Packet;

/// Exchanges send vectors, and returns the receive vector: the number of elements that each processor has for
/// this one.
pub(super) fn receive_vector(p: &mut Proc, sendl: &[usize]) -> Vec<usize> {
    let sendl = sendl.iter().map(|elements| *elements as u32).collect();
    all_to_all(p, sendl).into_iter().map(|elements| elements as usize).collect()
}

/// Returns the receiver and the sender of processor i in step k. They are the same, i xor k, if P is a power
/// of two.
pub(super) fn partners(i: usize, k: usize, P: usize) -> (usize, usize) {
    match P.is_power_of_two() {
        true => (i ^ k, i ^ k),
        false => ((i + k) % P, (i + P - k) % P),
    }
}

/// The messages of a processor in a stage: it sends one to each j with `sendl[j]` > 0, and receives one from
/// each with `recvl[j]` > 0. Its elements for itself are not sent.
pub struct Stage<'a> {
    /// Number of the stage. Each has its own tags, since another processor may be a stage ahead.
    pub number: u16,
    /// Seed of random choices.
    pub seed: u64,
    pub sendl: &'a [usize],
    pub recvl: &'a [usize],
}

/// Sends the messages of a stage step by step, and receives those for this processor.
pub(super) fn send_linear(
    p: &mut Proc,
    &Stage { number, sendl, recvl, .. }: &Stage,
    mut message: impl FnMut(usize) -> Packet,
    mut receive: impl FnMut(usize, Packet),
) {
    let (i, P, tag) = (p.id(), p.P(), Tag::named(2 * number, "data"));
    if sendl[i] > 0 {
        receive(i, message(i));
    }
    for k in 1..P {
        let (to, from) = partners(i, k, P);
        match (sendl[to] > 0, recvl[from] > 0) {
            (true, true) => {
                let packet = p.send_recv(to, from, tag, message(to));
                receive(from, packet);
            }
            (true, false) => p.send(to, tag, message(to)),
            (false, true) => {
                let packet = p.recv(tag.from(from));
                receive(from, packet);
            }
            (false, false) => (),
        }
        p.barrier();
    }
}
