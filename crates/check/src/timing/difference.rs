//! Compares the times of a solution with those of the machine's own network.
//!
//! While all messages enter and arrive when the solution says, the constraints make each further message ready
//! exactly when it is on the machine. So no call need be run to find the first message that does not.

use loggp_model::rules::choice::Choice;
use loggp_model::rules::network::Network;
use loggp_model::time::Time;
use loggp_model::transport::{Departure, Egress, Passage};

use super::constraints::PrefixConstraints;
use super::prefix::{CallEffect, SettledCall};

/// A step of a processor that a message takes part in, by the message's index.
#[derive(Clone, Copy)]
enum TransferStep {
    Send(usize),
    Receive(usize),
}

/// Returns the first message that enters or arrives at another time on the machine, and its passage there.
/// `ties` decides between messages of the same turn.
pub(super) fn first_difference(
    constraints: &PrefixConstraints,
    network: &Network,
    ties: &Choice,
    times: &[Time],
) -> Option<(usize, Passage)> {
    let (calls, messages) = (&constraints.prefix.calls, &constraints.prefix.messages);
    let mut steps: Vec<_> = calls.iter().map(|calls| steps(constraints, calls).peekable()).collect();
    let mut egresses: Vec<Egress> = (0..calls.len()).map(|id| network.new_egress(id)).collect();
    let mut ingresses = network.new_ingresses();
    let mut has_entered = vec![false; messages.len()];
    loop {
        let next = steps.iter_mut().enumerate().filter_map(|(id, steps)| {
            while steps
                .next_if(|step| matches!(step, TransferStep::Receive(got) if has_entered[*got]))
                .is_some()
            {}
            let TransferStep::Send(message) = *steps.peek()? else { return None };
            let (vars, of) = (constraints.vars[message], &messages[message]);
            let latency = times[vars.arrival] - times[vars.enter] - of.stream;
            let latency = latency.clamp(Time::ZERO, of.max_latency);
            let departure = Departure::when_ready(times[vars.ready], latency, of.stream);
            let turn = network.turn_time(&departure);
            Some(((turn, ties.place(turn, id as u32)), message, departure))
        });
        let (_, message, departure) = next.min_by_key(|(moment, ..)| *moment)?;
        let (from, to) = (messages[message].id.from, messages[message].room.0);
        let passage = network.serve(&mut *ingresses, &mut egresses[from], to, &departure);
        let vars = constraints.vars[message];
        if (times[vars.enter], times[vars.arrival]) != (passage.enter, passage.arrival) {
            return Some((message, passage));
        }
        steps[from].next();
        has_entered[message] = true;
    }
}

/// Returns the messages that a processor's calls send and receive, in order.
fn steps(constraints: &PrefixConstraints, calls: &[SettledCall]) -> impl Iterator<Item = TransferStep> {
    calls.iter().flat_map(|call| {
        let (send, receive) = match &call.effect {
            CallEffect::Send(send) => (Some(send), None),
            CallEffect::Receive(receive) => (None, Some(receive)),
            CallEffect::Exchange(send, receive) => (Some(send), Some(receive)),
            _ => (None, None),
        };
        let sends = send.map(|send| TransferStep::Send(send.message));
        let receives = receive.and_then(|receive| receive.got).map(TransferStep::Receive);
        let is_receive_first = constraints.receives_first.get(&call.index) == Some(&Some(true));
        let both = if is_receive_first { [receives, sends] } else { [sends, receives] };
        both.into_iter().flatten()
    })
}
