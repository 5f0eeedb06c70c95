//! The writer of one rank's part in a collective, as a program with blocking and immediate calls.

use loggp_model::time::Time;
use loggp_schedule::{Operation, ScheduleBuilder, ScheduleError};

use super::call::{CollectiveCall, Member};
use super::{Prerequisite, WriteResult, add_after};

/// Writes a collective that is a part of another one.
pub(crate) type WritePart<'a> = &'a dyn Fn(&mut MemberWriter, &CollectiveCall) -> WriteResult;

/// A writer of one rank's operations, in the order of its program.
pub(crate) struct MemberWriter<'a> {
    builder: &'a mut ScheduleBuilder,
    /// Returns the time to combine so many bytes.
    combine_time: &'a dyn Fn(u64) -> Time,
    write_part: WritePart<'a>,
    members: &'a [u32],
    /// The rank's place among the members.
    pub id: usize,
    /// The number of members.
    pub P: usize,
    tag: u32,
    /// The operations that all others wait for.
    before: &'a [Prerequisite],
    /// The operations that the next one waits for.
    gate: Vec<Prerequisite>,
    /// How often the program waited.
    gates: u32,
    /// The bytes of an element, in which lengths are counted.
    pub unit: u64,
    /// Whether places from a root are numbers in which the root and rank 0 have changed places.
    pub swaps_root: bool,
    /// Whether operations wait only for the data they need. Then those in the gate are sends, which wait for the
    /// receptions that were waited for since the send before.
    pub waits_for_data: bool,
    /// Whether a send has passed the gate.
    has_sent: bool,
    /// The name of the algorithm that stands in for the one that was chosen.
    pub stand_in: Option<&'static str>,
}

/// An operation that was started, and how often the program had waited before.
#[derive(Clone, Copy)]
pub(crate) struct StartedOperation {
    operation: u32,
    gates: u32,
    is_reception: bool,
}

impl<'a> MemberWriter<'a> {
    pub(crate) fn new(
        builder: &'a mut ScheduleBuilder,
        Member { members, id, tag, before }: Member<'a>,
        combine_time: &'a dyn Fn(u64) -> Time,
        write_part: WritePart<'a>,
    ) -> MemberWriter<'a> {
        MemberWriter {
            builder,
            combine_time,
            write_part,
            members,
            id,
            P: members.len(),
            tag,
            before,
            gate: before.to_vec(),
            gates: 0,
            unit: 1,
            swaps_root: false,
            waits_for_data: false,
            has_sent: false,
            stand_in: None,
        }
    }

    /// Writes a collective that is a part of this one.
    pub(crate) fn write(&mut self, call: &CollectiveCall) -> WriteResult {
        let stand_in = self.stand_in;
        let written = (self.write_part)(self, call);
        self.stand_in = stand_in;
        written
    }

    /// Starts a send.
    pub(crate) fn start_send(&mut self, to: usize, length: u64) -> Result<StartedOperation, ScheduleError> {
        self.start(Operation::Send { to: self.members[to], bytes: length * self.unit, tag: self.tag })
    }

    /// Starts a receive.
    pub(crate) fn start_recv(&mut self, from: usize, length: u64) -> Result<StartedOperation, ScheduleError> {
        let (from, tag) = (Some(self.members[from]), Some(self.tag));
        self.start(Operation::Recv { from, bytes: length * self.unit, tag })
    }

    /// Starts an operation.
    pub(crate) fn start(&mut self, what: Operation) -> Result<StartedOperation, ScheduleError> {
        let is_send = matches!(what, Operation::Send { .. });
        let gate = if self.waits_for_data && !is_send { self.before } else { &self.gate };
        let operation = add_after(self.builder, what, gate)?;
        self.has_sent |= is_send;
        let is_reception = matches!(what, Operation::Recv { .. });
        Ok(StartedOperation { operation, gates: self.gates, is_reception })
    }

    /// Makes an operation wait for another one.
    pub(crate) fn require(&mut self, later: StartedOperation, earlier: StartedOperation) -> WriteResult {
        self.builder.require_done(later.operation, earlier.operation)
    }

    /// Waits for operations.
    pub(crate) fn wait(&mut self, all: impl IntoIterator<Item = StartedOperation>) -> WriteResult {
        /// The most operations that each later one waits for by itself.
        const MOST: usize = 3;
        let all: Vec<StartedOperation> = all.into_iter().collect();
        if all.is_empty() {
            return Ok(());
        }
        if self.waits_for_data {
            self.wait_for_data(&all);
            return Ok(());
        }
        // An operation that began after the last wait has waited for what was waited for then.
        if all.iter().any(|one| one.gates == self.gates) {
            self.gate.clear();
        }
        self.gate.extend(all.iter().map(|one| (one.operation, false)));
        self.gates += 1;
        if self.gate.len() > MOST {
            self.join()?;
        }
        Ok(())
    }

    /// Makes the next sends wait for receptions.
    fn wait_for_data(&mut self, all: &[StartedOperation]) {
        let mut received = all.iter().filter(|one| one.is_reception).peekable();
        if received.peek().is_some() && std::mem::take(&mut self.has_sent) {
            self.gate.truncate(self.before.len());
        }
        self.gate.extend(received.map(|one| (one.operation, false)));
    }

    /// Makes one operation of those that the next one waits for.
    fn join(&mut self) -> Result<u32, ScheduleError> {
        let joined = add_after(self.builder, Operation::Calc(Time::ZERO), &self.gate)?;
        self.gate = vec![(joined, false)];
        Ok(joined)
    }

    /// Returns the operation that ends all.
    pub(crate) fn end(&mut self) -> Result<u32, ScheduleError> {
        match self.gate[..] {
            [(last, false)] if self.gates > 0 => Ok(last),
            _ => self.join(),
        }
    }

    pub(crate) fn send(&mut self, to: usize, length: u64) -> WriteResult {
        let sent = self.start_send(to, length)?;
        self.wait([sent])
    }

    pub(crate) fn recv(&mut self, from: usize, length: u64) -> WriteResult {
        let received = self.start_recv(from, length)?;
        self.wait([received])
    }

    /// Sends to one member and receives from another, both at once. To itself it takes no message.
    pub(crate) fn send_recv(
        &mut self,
        (to, sent): (usize, u64),
        (from, received): (usize, u64),
    ) -> WriteResult {
        if to == self.id && from == self.id {
            return Ok(());
        }
        if self.waits_for_data {
            self.start_send(to, sent)?;
            return self.recv(from, received);
        }
        let received = self.start_recv(from, received)?;
        let sent = self.start_send(to, sent)?;
        self.wait([received, sent])
    }

    /// Exchanges messages of the same length with a member.
    pub(crate) fn swap(&mut self, other: usize, length: u64) -> WriteResult {
        self.send_recv((other, length), (other, length))
    }

    /// Sends to all of these at once.
    pub(crate) fn send_all(&mut self, to: impl IntoIterator<Item = usize>, length: u64) -> WriteResult {
        let sent: Vec<StartedOperation> =
            to.into_iter().map(|to| self.start_send(to, length)).collect::<Result<_, _>>()?;
        self.wait(sent)
    }

    /// Combines what came with what is here.
    pub(crate) fn combine(&mut self, length: u64) -> WriteResult {
        let time = (self.combine_time)(length * self.unit);
        if time > Time::ZERO {
            let combined = self.start(Operation::Calc(time))?;
            self.wait([combined])?;
        }
        Ok(())
    }

    /// Returns the member at this distance ahead.
    pub(crate) fn ahead(&self, distance: usize) -> usize {
        (self.id + distance) % self.P
    }

    /// Returns the member at this distance behind.
    pub(crate) fn behind(&self, distance: usize) -> usize {
        (self.id + self.P - distance % self.P) % self.P
    }

    /// Returns the rank's place, counted from a root.
    pub(crate) fn place_from(&self, root: usize) -> usize {
        if self.swaps_root { self.swapped(self.id, root) } else { self.behind(root) }
    }

    /// Returns the member at a place that is counted from a root.
    pub(crate) fn member_at(&self, place: usize, root: usize) -> usize {
        if self.swaps_root { self.swapped(place, root) } else { (place + root) % self.P }
    }

    fn swapped(&self, number: usize, root: usize) -> usize {
        match number {
            0 => root,
            number if number == root => 0,
            number => number,
        }
    }

    /// Returns the powers of 2 below P.
    pub(crate) fn distances(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        loggp_schedule::rounds::distances(self.P)
    }
}

/// The lengths of a call, counted in elements.
pub(crate) struct Lengths<'a, 'c> {
    pub call: &'a CollectiveCall<'c>,
    /// The bytes of an element.
    pub unit: u64,
}

impl Lengths<'_, '_> {
    pub(crate) fn root(&self) -> usize {
        self.call.root
    }

    /// Returns the length of the whole message.
    pub(crate) fn whole(&self) -> u64 {
        self.call.whole() / self.unit
    }

    pub(crate) fn sent(&self, to: usize) -> u64 {
        self.call.sent.of(to) / self.unit
    }

    pub(crate) fn received(&self, from: usize) -> u64 {
        self.call.received.of(from) / self.unit
    }

    /// Returns the number of elements in so many bytes.
    pub(crate) fn elements(&self, bytes: u64) -> u64 {
        bytes / self.unit
    }

    /// Returns the length of an element's multiple that has about this many bytes, or the whole: a segment.
    pub(crate) fn segment(&self, bytes: u64, whole: u64) -> u64 {
        if bytes < self.unit || bytes >= whole * self.unit {
            return whole;
        }
        let length = bytes / self.unit;
        length + u64::from(bytes % self.unit > self.unit / 2)
    }
}

/// Returns the length of a part of a whole that is divided into nearly equal ones, the longer ones first.
pub(crate) fn part(whole: u64, parts: usize, number: usize) -> u64 {
    let (parts, number) = (parts as u64, number as u64);
    whole / parts + u64::from(number < whole % parts)
}
