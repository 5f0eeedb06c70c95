//! A played schedule with the order of a play: what each rank did, one after the other.

use loggp::path::Events;
use loggp::schedule::{Operation, Schedule, ScheduleBuilder, ScheduleError};
use loggp::trace::{ActivityKind, Trace};

/// Returns the schedule of what each processor of a play did, in its order: each operation waits for the one
/// before it, and each receive takes the message that it took. Requests and replies are messages like others.
/// Returns `None` for runs in which a processor did something else than to compute, send and receive.
///
/// While no capacity and no port delays a message, the time of such a schedule is the longest of a set of
/// paths that does not depend on the machine, as in a linear program.
pub fn schedule_in_order(trace: &Trace) -> Result<Option<Schedule>, ScheduleError> {
    use ActivityKind::{Gap, Idle, Port, Receive, Send, Stall, Work};
    if !trace.progress.is_empty() || trace.noise.is_some() {
        return Ok(None);
    }
    let events = Events::new(trace);
    let bytes = |words: usize| words as u64 * trace.params.word.get() as u64;
    let mut builder = ScheduleBuilder::new(trace.params.P)?;
    let mut tracks = events.processors().peekable();
    for rank in 0..trace.params.P {
        builder.begin_rank(rank)?;
        let Some(track) = tracks.next_if(|track| track.id == rank) else { continue };
        let mut last = None;
        for place in track.places.clone() {
            let event = events.event(place);
            let message = events.message_of(place).map(|message| (message as u32, events.message(message)));
            // Each message has a tag of its own.
            let operation = match (event.kind, message) {
                (Work(_), _) => Operation::Calc(event.length()),
                (Send(_), Some((tag, message))) => {
                    Operation::Send { to: message.to as u32, bytes: bytes(message.words), tag }
                }
                (Receive(_), Some((tag, message))) => Operation::Recv {
                    from: Some(message.id.from as u32),
                    bytes: bytes(message.words),
                    tag: Some(tag),
                },
                (Gap | Idle | Port | Stall, _) => continue,
                _ => return Ok(None),
            };
            let operation = builder.add(operation)?;
            if let Some(last) = last.replace(operation) {
                builder.require_done(operation, last)?;
            }
        }
    }
    builder.build().map(Some)
}
