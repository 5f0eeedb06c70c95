//! LogGOPSim's rules. `docs/reference/replay.md` says how they differ from the papers' rules.
//!
//! A rank has processors and network interfaces. A send needs one of each, and so does an arriving message,
//! for which the receiver spends o whether or not a receive is posted. Nothing stalls. An act whose processor
//! or interface is busy is tried again when that is free. Of acts at the same time, the one that was put on
//! the agenda first comes first.
//!
//! Of the acts that wait for the same processor and interface only the first is on the agenda, since the
//! others would be tried in vain.

mod hardware;

use std::sync::atomic::{AtomicBool, Ordering};

use loggp_model::agenda::{Agenda, AgendaEntry};
use loggp_model::error::{Cause, ProcStatus, RunError};
use loggp_model::message::matching::PostedReceive;
use loggp_model::message::{MatchKey, Matchable, RawTag};
use loggp_model::params::{Noise, Params, ParamsError};
use loggp_model::time::Time;

use super::early::{EarlyReceives, is_early};
use super::lists::{List, ListPool};
use super::operations::{OperationKind, PackedOperation};
use super::outcome::{PlayReport, finish, stopped};
use super::progress::ScheduleProgress;
use super::storage::Schedule;
use super::unmatched::UnmatchedSet;
use hardware::{HardwareTable, HardwareUnit};

/// The costs of LogGOPSim's model.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogGOPSimCosts {
    /// The parameters, of which L is the latency of the first byte, o the overhead of the processor and g the
    /// gap of the interface, each at both ends.
    params: Params,
    /// Gap for each further byte.
    G: Time,
    /// Overhead for each further byte.
    O: Time,
    /// Length in words above which a send is done only when its receive is posted.
    S: usize,
}

impl LogGOPSimCosts {
    /// Returns the costs for these parameters, or an error if LogGOPSim's model has no such machine.
    pub(super) fn from_params(params: &Params) -> Result<LogGOPSimCosts, ParamsError> {
        let params = *params;
        let Some(gps) = params.gps() else {
            let G = params.G().unwrap_or_default();
            return Ok(LogGOPSimCosts { params, G, O: Time::ZERO, S: usize::MAX });
        };
        if gps.O_s != gps.O_r || gps.G_s != gps.G_l || gps.G_l < Time::ZERO {
            return Err(ParamsError::new(format!(
                "LogGOPSim has one O and one G of 0 or more, and here O_s = {}, O_r = {}, G_s = {} and G_l = {}; give \
                 O_s = O_r and G_s = G_l, or play it by the papers' rules",
                gps.O_s, gps.O_r, gps.G_s, gps.G_l
            )));
        }
        if params.R > Time::ZERO {
            return Err(ParamsError::new(format!(
                "LogGOPSim has no R, and here it is {}; give R = 0, or play it by the papers' rules",
                params.R
            )));
        }
        Ok(LogGOPSimCosts { params, G: gps.G_s, O: gps.O_s, S: gps.S })
    }

    /// Returns the length of a message in words.
    fn words(&self, operation: &PackedOperation) -> usize {
        self.params.words(usize::try_from(operation.bytes()).unwrap_or(usize::MAX))
    }
}

/// The state of a processor and an interface of a rank.
#[derive(Clone, Debug, Default)]
struct UnitState {
    /// The time from which the processor is free.
    free: Time,
    /// The time from which the interface can send.
    next_send: Time,
    /// The time from which the interface can receive.
    next_receive: Time,
    /// Acts that wait for the two, by kind; the first of each kind is on the agenda.
    waiting: [List; 3],
}

/// Least memory for an operation, in bytes: its state, its rank and its stage.
pub(super) const BYTES: u64 = 6;

/// A play of a schedule.
pub(super) struct LogGOPSimPlay<'a> {
    progress: ScheduleProgress<'a>,
    costs: LogGOPSimCosts,
    noise: Option<&'a Noise>,
    /// The rank of each operation.
    ranks: Vec<u32>,
    /// The stage of each operation.
    stages: Vec<PlayStage>,
    hardware: HardwareTable<UnitState>,
    /// The acts in the lists of all hardware, each with its serial number.
    waiting: ListPool<(Time, u32)>,
    early: EarlyReceives,
    /// Each rank's messages without receives and receives without messages.
    unmatched: Vec<UnmatchedSet<HeldMessage>>,
    /// Next acts, by time and then by serial number.
    agenda: Agenda,
    /// The last serial number that was given out.
    serials: u32,
    report: PlayReport,
    /// Ends the play, once it is true.
    stop: &'a AtomicBool,
}

/// An act that needs hardware.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HardwareAct {
    Calc,
    Send,
    /// The first byte of a message arrives.
    Message,
}

/// The stage of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayStage {
    /// The operation waits for others, or for its hardware.
    Start,
    /// The message is in the network.
    Network,
    /// The message waits for the receiver's hardware.
    ReceiversQueue,
    /// The operation is over.
    End,
}

/// A message that has arrived.
#[derive(Debug)]
struct HeldMessage {
    arrival: Time,
    /// The number of events before its arrival: messages that arrived first are taken first, whoever their
    /// senders are.
    events: u64,
    from: u32,
    /// The send operation.
    sent_by: u32,
    tag: RawTag,
}

impl Matchable for HeldMessage {
    fn key(&self) -> MatchKey {
        (Time::from_ps(self.events as i64), self.from, 0)
    }

    fn tag(&self) -> RawTag {
        self.tag
    }
}

impl<'a> LogGOPSimPlay<'a> {
    /// Prepares a play.
    pub(super) fn new(
        schedule: &'a Schedule,
        costs: LogGOPSimCosts,
        noise: Option<&'a Noise>,
        stop: &'a AtomicBool,
    ) -> LogGOPSimPlay<'a> {
        let P = schedule.ranks();
        let ranks = (0..P).flat_map(|rank| schedule.range(rank).map(move |_| rank as u32)).collect();
        LogGOPSimPlay {
            progress: ScheduleProgress::new(schedule, false),
            costs,
            noise,
            ranks,
            stages: vec![PlayStage::Start; schedule.len()],
            hardware: HardwareTable::new(P),
            waiting: ListPool::with_capacity(schedule.initially_ready),
            early: EarlyReceives::new(schedule),
            unmatched: (0..P).map(|_| UnmatchedSet::default()).collect(),
            agenda: Agenda::default(),
            serials: 0,
            report: PlayReport::default(),
            stop,
        }
    }

    /// Plays the schedule to its end.
    pub(super) fn run(mut self) -> Result<PlayReport, RunError> {
        for rank in 0..self.unmatched.len() {
            self.progress.start_rank(rank);
            self.queue_ready();
        }
        while let Some(entry) = self.agenda.pop() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            let (time, serial) = entry.moment();
            let operation = entry.ticket();
            if time == Time::MAX {
                return Err(Cause::EndOfTime { id: self.ranks[operation as usize] as usize }.into());
            }
            self.run_entry(time, serial, operation);
        }
        self.finish()
    }

    /// Tries an act from the agenda.
    #[inline]
    fn run_entry(&mut self, time: Time, serial: u32, operation: u32) {
        let rank = self.ranks[operation as usize];
        let packed = &self.progress.operation(rank, operation);
        let stage = self.stages[operation as usize];
        let act = match (packed.kind, stage) {
            (_, PlayStage::End) => return, // it was on the agenda twice, as another message went before it
            (OperationKind::Recv(_), _) => {
                self.post_receive(operation, packed, rank, time);
                return self.finish_event();
            }
            (OperationKind::Send(_), PlayStage::Network | PlayStage::ReceiversQueue) => HardwareAct::Message,
            (OperationKind::Send(_), _) => HardwareAct::Send,
            // A schedule with what LogGOPSim does not know is not played by these rules.
            _ => HardwareAct::Calc,
        };
        let unit = LogGOPSimPlay::unit_for(act, packed, rank);
        let has_waited = stage != PlayStage::Network;
        if has_waited && self.first_waiting(act, unit) != Some((serial, operation)) {
            return; // another act is first in the queue, and is on the agenda
        }
        let when = self.free_time(act, unit);
        match (when > time, has_waited) {
            (true, true) => return self.agenda.add(AgendaEntry::new(when, serial, operation)),
            (true, false) => return self.enqueue(act, unit, when, serial, operation),
            (false, true) => {
                self.waiting.take_first(&mut self.hardware.get_mut(unit).waiting[act as usize]);
            }
            (false, false) => (),
        }
        match act {
            HardwareAct::Calc => self.calc(operation, packed, unit, time),
            HardwareAct::Send => self.send(operation, packed, unit, time),
            HardwareAct::Message => self.receive_message(operation, packed, unit, rank, time),
        }
        // Before those that have become ready are queued: the first of an empty queue is then put on the agenda.
        if has_waited && let Some((serial, operation)) = self.first_waiting(act, unit) {
            self.agenda.add(AgendaEntry::new(self.free_time(act, unit), serial, operation));
        }
        self.finish_event();
    }

    /// Counts an event, and queues the operations that have become ready.
    #[inline]
    fn finish_event(&mut self) {
        self.report.events += 1;
        if !self.progress.newly_ready.is_empty() {
            self.queue_ready();
        }
    }

    /// Returns the hardware that an act needs. A message needs the receiver's units with the same numbers as
    /// the sender's.
    #[inline]
    fn unit_for(act: HardwareAct, packed: &PackedOperation, rank: u32) -> HardwareUnit {
        let PackedOperation { cpu, nic, peer, .. } = *packed;
        match act {
            HardwareAct::Calc => HardwareUnit { rank, cpu, nic: 0 },
            HardwareAct::Send => HardwareUnit { rank, cpu, nic },
            HardwareAct::Message => HardwareUnit { rank: peer, cpu, nic },
        }
    }

    /// Returns the time from which the hardware for an act is free.
    #[inline]
    fn free_time(&self, act: HardwareAct, unit: HardwareUnit) -> Time {
        let free = self.hardware.get(unit.processor()).map_or(Time::ZERO, |hardware| hardware.free);
        let interface = || self.hardware.get(unit.interface());
        match act {
            HardwareAct::Calc => free,
            HardwareAct::Send => free.max(interface().map_or(Time::ZERO, |hardware| hardware.next_send)),
            HardwareAct::Message => {
                free.max(interface().map_or(Time::ZERO, |hardware| hardware.next_receive))
            }
        }
    }

    /// Returns the time from which a processor is free.
    #[inline]
    fn free(&mut self, unit: HardwareUnit) -> &mut Time {
        &mut self.hardware.get_mut(unit.processor()).free
    }

    /// Returns the time from which an interface can send.
    #[inline]
    fn can_send(&mut self, unit: HardwareUnit) -> &mut Time {
        &mut self.hardware.get_mut(unit.interface()).next_send
    }

    /// Returns the serial number and the operation of the first act that waits for the same hardware.
    #[inline]
    fn first_waiting(&self, act: HardwareAct, unit: HardwareUnit) -> Option<(u32, u32)> {
        let (serial, operation) = self.waiting.first(&self.hardware.get(unit)?.waiting[act as usize])?;
        Some((serial.as_ps() as u32, *operation))
    }

    /// Queues an act until its hardware is free, and puts it on the agenda if it is the first in its queue.
    #[inline]
    fn enqueue(&mut self, act: HardwareAct, unit: HardwareUnit, when: Time, serial: u32, operation: u32) {
        if act == HardwareAct::Message {
            self.stages[operation as usize] = PlayStage::ReceiversQueue;
        }
        // Lists are sorted by serial number.
        let waiting = &mut self.hardware.get_mut(unit).waiting[act as usize];
        self.waiting.insert(waiting, (Time::from_ps(i64::from(serial)), operation));
        if self.first_waiting(act, unit) == Some((serial, operation)) {
            self.agenda.add(AgendaEntry::new(when, serial, operation));
        }
    }

    /// Returns the time at which a processor is done with a computation or an overhead o.
    #[inline]
    fn busy_until(&self, unit: HardwareUnit, start: Time, time: Time) -> Time {
        self.noise.map_or(start + time, |noise| noise.end(unit.rank as usize, start, time))
    }

    /// Performs a computation.
    fn calc(&mut self, operation: u32, packed: &PackedOperation, unit: HardwareUnit, time: Time) {
        self.stages[operation as usize] = PlayStage::End;
        if let OperationKind::Calc(length) = packed.kind {
            *self.free(unit) = self.busy_until(unit, time, length);
        }
        self.progress.start(unit.rank, operation, time);
        self.progress.end(unit.rank, operation, time);
    }

    /// Sends a message.
    fn send(&mut self, operation: u32, packed: &PackedOperation, unit: HardwareUnit, time: Time) {
        let LogGOPSimCosts { params: Params { L, o, g, .. }, G, O, S } = self.costs;
        let words = self.costs.words(packed);
        let further = words.max(1) as i64 - 1;
        // Noise delays the processor, but not the message.
        *self.free(unit) = self.busy_until(unit, time, o) + further * O;
        *self.can_send(unit) = time + g + further * G;
        self.stages[operation as usize] = PlayStage::Network;
        self.report.messages += 1;
        let serial = self.next_serial();
        // The arrival of the first byte; the receiver spends the time of the others.
        self.agenda.add(AgendaEntry::new(time + o + L, serial, operation));
        self.progress.start(unit.rank, operation, time);
        if words <= S {
            self.progress.end(unit.rank, operation, time);
        }
    }

    /// Posts a receive, or gives it a message that has arrived.
    fn post_receive(&mut self, operation: u32, packed: &PackedOperation, rank: u32, time: Time) {
        self.stages[operation as usize] = PlayStage::End;
        self.progress.start(rank, operation, time);
        let unmatched = &mut self.unmatched[rank as usize];
        if is_early(packed) {
            return unmatched.post_early();
        }
        // Receives that wait for nothing are posted before all others, in the order in which they are written.
        let events = if packed.waits { self.report.events } else { 0 };
        let receive =
            PostedReceive { order: (Time::from_ps(events as i64), operation), filter: packed.filter() };
        if let Some(HeldMessage { from, sent_by, .. }) = unmatched.post(receive) {
            self.complete((rank, operation), (from, sent_by), packed, time);
        }
    }

    /// Receives a message whose first byte has arrived.
    fn receive_message(
        &mut self,
        operation: u32,
        packed: &PackedOperation,
        unit: HardwareUnit,
        from: u32,
        time: Time,
    ) {
        let LogGOPSimCosts { params: Params { o, g, .. }, G, O, .. } = self.costs;
        self.stages[operation as usize] = PlayStage::End;
        let words = self.costs.words(packed);
        let further = words.max(1) as i64 - 1;
        *self.free(unit) = self.busy_until(unit, time, o) + (further * O).max(further * G);
        self.hardware.get_mut(unit.interface()).next_receive = time + g + further * G;
        let (events, tag) = (self.report.events, packed.filter().tag);
        let held = HeldMessage { arrival: time, events, from, sent_by: operation, tag };
        let unmatched = &mut self.unmatched[unit.rank as usize];
        let mut early = self.early.of_rank(&mut self.progress, unit.rank);
        match unmatched.find_receive(&early, &held) {
            Some(found) => {
                let receive = unmatched.take_receive(&mut early, found);
                self.complete((unit.rank, receive.order.1), (from, operation), packed, time);
            }
            None => unmatched.add_message(held),
        }
    }

    /// Ends a receive and, unless it is done since it is short, the send of its message, each named by its rank and
    /// its number. The sender's processor and interface that `by` names are busy at least until then.
    fn complete(&mut self, receive: (u32, u32), send: (u32, u32), by: &PackedOperation, time: Time) {
        self.progress.meet(receive, send);
        if !self.progress.is_done(send.1) {
            let unit = HardwareUnit { rank: send.0, cpu: by.cpu, nic: by.nic };
            *self.free(unit) = time.max(*self.free(unit));
            *self.can_send(unit) = time.max(*self.can_send(unit));
            self.progress.end(send.0, send.1, time);
        }
        self.progress.end(receive.0, receive.1, time);
    }

    /// Queues the operations that have become ready: by rank, and within a rank sends first, then receives,
    /// then computations.
    #[inline]
    fn queue_ready(&mut self) {
        let mut fresh = std::mem::take(&mut self.progress.newly_ready);
        if fresh.len() > 1 {
            let order = |(_, operation): &(Time, u32)| {
                let rank = self.ranks[*operation as usize];
                (rank, self.progress.operation(rank, *operation).kind.code().0)
            };
            fresh.sort_by_key(order);
        }
        for (_, operation) in fresh.drain(..) {
            let rank = self.ranks[operation as usize];
            let packed = &self.progress.operation(rank, operation);
            if is_early(packed) && !self.progress.is_start_awaited(rank, operation) {
                // It is posted before any message arrives, and no operation waits for its beginning.
                self.unmatched[rank as usize].post_early();
                self.report.events += 1;
                continue;
            }
            let is_send = matches!(packed.kind, OperationKind::Send(_));
            let act = if is_send { HardwareAct::Send } else { HardwareAct::Calc };
            let unit = LogGOPSimPlay::unit_for(act, packed, rank);
            let (when, serial) = (self.free_time(act, unit), self.next_serial());
            match packed.kind {
                OperationKind::Recv(_) => self.agenda.add(AgendaEntry::new(when, serial, operation)),
                _ => self.enqueue(act, unit, when, serial, operation),
            }
        }
        self.progress.newly_ready = fresh;
    }

    /// Returns the serial number for the next act. A schedule has too few operations for it to overflow.
    fn next_serial(&mut self) -> u32 {
        self.serials = self.serials.wrapping_add(1);
        self.serials
    }

    /// Ends the play, and returns its report or its error.
    fn finish(self) -> Result<PlayReport, RunError> {
        let mut finishes = vec![Time::ZERO; self.unmatched.len()];
        for (rank, hardware) in self.hardware.iter() {
            finishes[rank as usize] = hardware.free.max(finishes[rank as usize]);
        }
        let sending = |rank: usize, operation: u32| {
            let packed = self.progress.operation(rank as u32, operation);
            let (to, words) = (packed.peer as usize, self.costs.words(&packed));
            let waits = matches!(packed.kind, OperationKind::Send(_))
                && self.stages[operation as usize] == PlayStage::End;
            waits.then_some(ProcStatus::WaitingToSend { to, words, S: self.costs.S })
        };
        let left = self.unmatched.iter().enumerate().flat_map(|(to, unmatched)| {
            unmatched.messages().map(move |held| (held.arrival, to, held.from, held.tag))
        });
        finish(self.report, &self.progress, finishes, sending, left)
    }
}
