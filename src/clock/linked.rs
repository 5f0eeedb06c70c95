//! The clock of a machine whose processors are processes: time passes by itself, and a [`Link`] carries the
//! messages.
//!
//! The engine's rules (matching, the order of requests, collectives) are the same as on the other clocks, for
//! a network on which nothing costs anything. The costs are those of the real machine: a message arrives when
//! it is found, and a processor's local time is the time that has passed.
//!
//! Beside the program's messages the processes send each other a few notes (see `PacketKind`): to begin
//! together, to end together, to end all when one has failed, and to find a deadlock.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use loggp_model::error::{Cause, ProcStatus, RunError, RunStopped, cause_from_panic, stop};
use loggp_model::message::parcel::Parcel;
use loggp_model::message::{
    ArrivedHeader, ArrivedMessage, Header, Pack, PackedValue, Payload, RawTag, Receiver, Slice, Unpack,
};
use loggp_model::params::ParamsError;
use loggp_model::rules::engine::Clock;
use loggp_model::rules::message_wait::MessageWait;
use loggp_model::rules::network::Network;
use loggp_model::rules::rank::OutgoingMessage;
use loggp_model::time::{NS, PS, Time};
use loggp_model::transport::{Egress, Ingress, Passage};
use quanta::Clock as Ticks;

use super::program_clock::{ProgramClock, RealClock};
use super::run_info::RunInfo;
use super::seat::Seat;
use crate::link::{Incoming, Link};

/// The kind of a message between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PacketKind(u8);

impl PacketKind {
    /// A program's message.
    const MESSAGE: PacketKind = PacketKind(0);
    /// To process 0: what it is consulted about.
    const QUESTION: PacketKind = PacketKind(1);
    /// From process 0: the answer to that.
    const ANSWER: PacketKind = PacketKind(2);
    /// To process 0, and from there to all others: the run has failed, with the reason.
    const FAILED: PacketKind = PacketKind(3);
    /// To process 0: the process has waited for long, with a [`WaitReport`].
    const WAITING: PacketKind = PacketKind(4);
}

/// The number of bytes before a message's value. They are five words: the kind of the packet and the slice
/// that follows it; the tag; the message's number and its length in words; the number of its type; and the number of
/// messages that its sender has sent to this process before.
const HEAD: usize = 40;

/// The report of a process that has waited for long: the messages sent to each process, the messages
/// received, what it is doing, and whether its program is blocked.
type WaitReport = ((Vec<u64>, u64), (String, bool));

/// The reason of a failure as text for the other processes, and whether the run was refused before it began.
type FailureText = (String, bool);

/// The account of a process at its end: the messages sent to each process, those received and those left, and
/// its result.
type ProcessEnd = (Vec<u64>, (u64, u64), ProcessResult);

/// The packed result of a process's program, or the reason of its failure.
type ProcessResult = Result<Vec<u8>, FailureText>;

fn failure_text(cause: &Cause) -> FailureText {
    (cause.to_string(), matches!(cause, Cause::Params(_)))
}

fn cause_from((text, is_refused): FailureText) -> Cause {
    if is_refused { params_error(text) } else { Cause::OtherProcess(text) }
}

fn params_error(text: String) -> Cause {
    Cause::Params(ParamsError::new(text))
}

/// The clock of the processor that is this process.
pub(crate) struct LinkedClock<'l> {
    link: &'l dyn Link,
    ticks: Ticks,
    /// The tick at which the run began.
    start_tick: u64,
    /// The time since then that was no part of the program.
    skipped: Time,
    seat: Seat,
    run_info: RunInfo,
    /// The arrival of the last message.
    last_arrival: Time,
    /// The latest arrival that a message found now may get.
    latest_arrival: Time,
    /// The number of messages sent to each process.
    sent: Vec<u64>,
    /// The number of messages received from each process.
    received: Vec<u64>,
    failed: Option<Cause>,
    /// Whether another process has sent what none of this program's processes does. Nothing can be agreed
    /// with that process.
    is_foreign: bool,
    /// The number of times that the program was unwound because the run has failed.
    stops: u32,
    /// The number of looks for messages before it yields the core.
    spins: u32,
    /// Whether process 0 has not answered its last question.
    has_asked: bool,
    /// The notes that have arrived and are not handled yet.
    pending: Vec<(PacketKind, Incoming)>,
    /// On process 0, the last report of each process that has waited for long.
    wait_reports: Vec<Option<WaitReport>>,
}

impl<'l> LinkedClock<'l> {
    fn new(link: &'l dyn Link, run_info: RunInfo) -> LinkedClock<'l> {
        let (ticks, P) = (Ticks::new(), link.P());
        let start_tick = ticks.raw();
        LinkedClock {
            link,
            ticks,
            start_tick,
            skipped: Time::ZERO,
            seat: Seat::default(),
            run_info,
            last_arrival: Time::ZERO,
            latest_arrival: Time::MAX,
            sent: vec![0; P],
            received: vec![0; P],
            failed: None,
            is_foreign: false,
            stops: 0,
            spins: if link.is_crowded() { 1 } else { 20_000 },
            has_asked: false,
            pending: Vec::new(),
            wait_reports: vec![None; P],
        }
    }

    /// Returns the time since the run began, without what was skipped.
    #[inline]
    fn elapsed(&self) -> Time {
        self.ticks.delta_as_nanos(self.start_tick, self.ticks.raw()) as i64 * NS - self.skipped
    }

    /// Handles a message that has arrived. Returns whether there was one.
    fn poll_link(&mut self) -> bool {
        let Some(message) = self.link.poll() else { return false };
        let from = message.from;
        if self.handle(message).is_none() {
            self.refuse_foreign(from);
        }
        true
    }

    /// Handles a message that has arrived. Returns `None` if it is none of this program's.
    fn handle(&mut self, message: Incoming) -> Option<()> {
        let (id, from, P) = (self.link.id(), message.from, self.link.P());
        if from >= P {
            return None;
        }
        match PacketKind(*message.bytes.first()?) {
            PacketKind::MESSAGE => self.receive_message(message)?,
            PacketKind::FAILED => {
                let cause = cause_from(unpack_note(&message)?);
                match id {
                    0 => self.fail_run(cause),
                    _ => _ = self.failed.get_or_insert(cause),
                }
            }
            PacketKind::WAITING => {
                let report: WaitReport = unpack_note(&message)?;
                let ((sent, _), (_, is_blocked)) = &report;
                if sent.len() != P || *is_blocked && self.has_note_of(from) {
                    return None; // who has asked a question is at the end of its program
                }
                self.wait_reports[from] = Some(report);
            }
            kind @ (PacketKind::QUESTION | PacketKind::ANSWER) => {
                let is_due = if kind == PacketKind::QUESTION { id == 0 } else { from == 0 && self.has_asked };
                if !is_due || self.has_note_of(from) {
                    return None;
                }
                self.pending.push((kind, message));
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns whether a note of this process is not handled yet.
    fn has_note_of(&self, from: usize) -> bool {
        self.pending.iter().any(|(_, note)| note.from == from)
    }

    /// Fails the run because a process has sent what none of this program's processes does.
    #[cold]
    fn refuse_foreign(&mut self, from: usize) {
        self.is_foreign = true;
        self.fail_run(Cause::OtherProcess(format!(
            "process {from} sent bytes that are no message of this program; let all processes run the same program"
        )));
    }

    fn receive_message(&mut self, message: Incoming) -> Option<()> {
        let Incoming { from, bytes, slice } = message;
        let (words, _) = bytes.get(..HEAD)?.as_chunks::<8>();
        let [head, tag, number_and_words, type_number, before] =
            [0, 1, 2, 3, 4].map(|index| u64::from_le_bytes(words[index]));
        let is_whole = match &slice {
            None => head == 0,
            Some(slice) => {
                Slice::announced_layout(&bytes).is_some_and(|(length, _)| length == slice.bytes().len())
            }
        };
        // One that came twice, or another process's, would not only be left at the end: by the counts of messages a
        // deadlock is found.
        if !is_whole || before != self.received[from] {
            return None;
        }
        let tag = RawTag::between_processes(tag, self.run_info.has_rendezvous)?;
        let (number, words) = (number_and_words as u32, (number_and_words >> 32) as u32);
        if tag.is_empty() && words > 0 {
            return None;
        }
        self.received[from] += 1;
        let parcel = Parcel::new(PackedValue { bytes, value_start: HEAD, slice, type_number });
        let (from, to) = (from as u32, Receiver::new(self.link.id() as u32, false));
        self.put_message(Header { from, to, number, words, tag }, parcel);
        Some(())
    }

    /// Returns the number of messages received.
    fn received(&self) -> u64 {
        self.received.iter().sum()
    }

    /// Puts a message that arrives now into the inbox.
    fn put_message(&mut self, header: Header, parcel: Parcel) {
        self.last_arrival = self.last_arrival.max(self.elapsed().min(self.latest_arrival));
        self.seat.put((self.last_arrival, header), parcel, &self.run_info.cost);
    }

    /// Sends a note to a process.
    fn send_note(&self, to: usize, kind: PacketKind, value: &impl Payload) {
        let mut pack = Pack { bytes: vec![kind.0], ..Pack::with_copied_slices() };
        value.pack(&mut pack);
        self.link.send(to, &pack.bytes, None);
    }

    /// Waits for a note of this kind from each of these processes, in any order. It is an error if one of
    /// them has ended without sending it.
    fn wait_for_notes<T: Payload>(
        &mut self,
        kind: PacketKind,
        from: std::ops::Range<usize>,
        mut backoff: Backoff,
    ) -> Result<Vec<T>, Cause> {
        let mut values: Vec<Option<T>> = from.clone().map(|_| None).collect();
        while let Some(missing) = values.iter().position(Option::is_none) {
            if let (true, Some(cause)) = (self.is_foreign, &self.failed) {
                return Err(cause.clone());
            }
            let is_wanted = |note: &(PacketKind, Incoming)| note.0 == kind && from.contains(&note.1.from);
            match self.pending.iter().position(is_wanted) {
                Some(index) => {
                    let (_, message) = self.pending.swap_remove(index);
                    match unpack_note(&message) {
                        Some(value) => values[message.from - from.start] = Some(value),
                        None => self.refuse_foreign(message.from),
                    }
                }
                None if self.poll_link() => (),
                None if self.link.has_ended(from.start + missing) => {
                    return Err(params_error(format!(
                        "process {} has ended, and process {} is to go on; give all the same arguments",
                        from.start + missing,
                        self.link.id()
                    )));
                }
                None if backoff.pause(self.spins, self.run_info.patience.limit) => self.report_long_wait(),
                None => (),
            }
        }
        Ok(values.into_iter().flatten().collect())
    }

    /// Reports to process 0 that nothing has arrived for long. Process 0 fails the run if all processes wait
    /// for ever.
    fn report_long_wait(&mut self) {
        let doing = self.seat.state(self.link.id(), &self.run_info.tag_names).status;
        if self.failed.is_some() || doing == ProcStatus::NotStarted {
            return;
        }
        let doing = format!("at {} {doing}", self.elapsed());
        let report = ((self.sent.clone(), self.received()), (doing, self.seat.is_blocked()));
        if self.link.id() > 0 {
            return self.send_note(0, PacketKind::WAITING, &report);
        }
        self.wait_reports[0] = Some(report);
        let all: Vec<&WaitReport> = self.wait_reports.iter().flatten().collect();
        // Each process was waiting when it reported. If one of them has gone on since then, the first to do
        // so has received a message that was already sent, so its two counts differ. Sums over all processes
        // could still agree, if another has received a message that was sent later.
        let mut each = all.iter().enumerate();
        let is_quiet = each.all(|(to, ((_, got), _))| sum(all.iter().map(|((sent, _), _)| sent[to])) == *got);
        let waiting = all.iter().filter(|(_, (_, is_blocked))| *is_blocked).count();
        if all.len() == self.link.P() && is_quiet && waiting > 0 {
            let mut text = Cause::Deadlock { waiting, of: all.len() }.to_string();
            for (id, (_, (doing, _))) in all.iter().enumerate() {
                text += &format!("\n  processor {id} {doing}");
            }
            self.fail_run(Cause::OtherProcess(text));
        }
    }

    /// Fails the run. All learn it from process 0, and before they learn that the run is over, so that no
    /// message of this run reaches the next.
    fn fail_run(&mut self, cause: Cause) {
        if self.failed.is_none() {
            let to = if self.link.id() == 0 { 1..self.link.P() } else { 0..1 };
            to.for_each(|to| self.send_note(to, PacketKind::FAILED, &failure_text(&cause)));
            self.failed = Some(cause);
        }
    }

    /// Refuses a message of this many bytes if the link cannot carry the message.
    fn check_size(&self, what: fmt::Arguments, bytes: usize) -> Result<(), Cause> {
        let max_bytes = self.link.max_bytes();
        if bytes <= max_bytes {
            return Ok(());
        }
        let name = self.link.name();
        Err(params_error(format!(
            "{what} {bytes} bytes at once, and {name} take at most {max_bytes}; give a smaller size, or start more processes"
        )))
    }

    /// Unwinds the program if the run has failed.
    #[inline]
    fn stop_if_failed(&mut self) {
        if self.failed.is_some() {
            stop(self.link.id(), &mut self.stops);
        }
    }

    /// Begins the run on all processes together. It is an error if their jobs differ.
    fn begin_together(&mut self, job_id: u64) -> Result<(), Cause> {
        // A process that is early sleeps, and leaves the core to those that prepare. At the second meeting
        // all are awake, and begin at once.
        self.meet(job_id, Backoff { may_sleep: true, ..Backoff::default() })?;
        self.meet(job_id, Backoff::default())?;
        self.start_tick = self.ticks.raw();
        self.wait_reports.fill(None); // they are of an earlier run
        self.seat.start();
        Ok(())
    }

    /// Waits until all processes have called it for the same job.
    fn meet(&mut self, job_id: u64, backoff: Backoff) -> Result<(), Cause> {
        let (begin, _) = self.consult(job_id, backoff, |_, jobs| {
            let other = jobs.iter().position(|other| *other != job_id);
            let begin = other.map_or(Ok(()), |other| {
                let why = format!(
                    "processes 0 and {other} are to run different things; give all the same arguments"
                );
                Err((why, true))
            });
            (begin, vec![0; jobs.len()])
        })?;
        begin.map_err(cause_from)
    }

    /// Ends the run on all processes together. Returns the results of all.
    fn end_together(&mut self, result: ProcessResult) -> Result<Vec<Vec<u8>>, Cause> {
        let left = self.seat.messages().count() as u64;
        let mine: ProcessEnd = (self.sent.clone(), (self.received(), left), result);
        let (all, expected) = self.consult(mine, Backoff::default(), |clock, ends| {
            let sent_to = |to| {
                ends.iter().map(move |(sent, ..): &ProcessEnd| sent.get(to).copied().unwrap_or_default())
            };
            let sent: Vec<u64> = (0..ends.len()).map(|to| sum(sent_to(to))).collect();
            // Messages that have not arrived, and messages that have arrived and were not received.
            let lost = ends.iter().zip(&sent);
            let lost =
                lost.map(|((_, (got, left), _), sent)| sent.saturating_sub(*got).saturating_add(*left));
            let lost = lost.enumerate().find(|(_, lost)| *lost > 0);
            let results: Result<Vec<Vec<u8>>, FailureText> =
                ends.into_iter().map(|(.., result)| result).collect();
            let results = results.and_then(|results| match lost {
                Some((to, lost)) => {
                    Err((format!("{lost} messages to processor {to} were never received"), false))
                }
                None => clock.check_results_size(results.iter().map(Vec::len).sum()).map(|()| results),
            });
            (results, sent)
        })?;
        // No message of this run, which has failed if some are still to come, may reach the next.
        let others = || (0..self.link.P()).filter(|id| *id != self.link.id());
        let mut backoff = Backoff::default();
        while self.received() < expected && !self.is_foreign {
            if self.poll_link() {
                backoff = Backoff::default();
            } else if others().all(|id| self.link.has_ended(id))
                || backoff.pause(self.spins, self.run_info.patience.limit)
            {
                break; // what they have counted is not so
            }
        }
        all.map_err(cause_from)
    }

    /// Sends a value to process 0, which makes an answer from the values of all: one result for all, and a
    /// number for each. Returns the answer. All processes consult it about the same things in the same order.
    fn consult<T: Payload, A: Payload>(
        &mut self,
        mine: T,
        backoff: Backoff,
        answer: impl FnOnce(&LinkedClock, Vec<T>) -> (Result<A, FailureText>, Vec<u64>),
    ) -> Result<(Result<A, FailureText>, u64), Cause> {
        if self.link.id() > 0 {
            self.send_note(0, PacketKind::QUESTION, &mine);
            self.has_asked = true;
            let answer = self.wait_for_notes(PacketKind::ANSWER, 0..1, backoff)?.remove(0);
            self.has_asked = false;
            return Ok(answer);
        }
        let P = self.link.P();
        let (result, numbers) = match self.wait_for_notes(PacketKind::QUESTION, 1..P, backoff) {
            Ok(others) => answer(self, [mine].into_iter().chain(others).collect()),
            Err(cause) => (Err(failure_text(&cause)), vec![0; P]),
        };
        let mut note = (result, 0);
        for to in (0..P).rev() {
            note.1 = numbers[to];
            if to > 0 {
                self.send_note(to, PacketKind::ANSWER, &note);
            }
        }
        Ok(note)
    }

    /// Refuses results of this many bytes if the link cannot carry a note with all results.
    fn check_results_size(&self, bytes: usize) -> Result<(), FailureText> {
        let others = HEAD * (self.link.P() + 1);
        self.check_size(format_args!("the results have"), bytes.saturating_add(others))
            .map_err(|cause| failure_text(&cause))
    }
}

/// Unpacks the value of a note. Returns `None` if it is another one.
fn unpack_note<T: Payload>(message: &Incoming) -> Option<T> {
    let mut from = Unpack::new(message.bytes.get(1..)?, None);
    T::unpack(&mut from).filter(|_| from.is_empty())
}

/// Returns the sum of what processes have counted, which is what they say and may be anything.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The state of a polling wait: it spins, then yields, and sleeps if it may.
#[derive(Default)]
struct Backoff {
    /// Whether it sleeps, to leave the core to others.
    may_sleep: bool,
    rounds: u32,
    since: Option<Instant>,
}

impl Backoff {
    /// Pauses after a look that found nothing. Returns whether the wait has lasted for `patience`, and starts
    /// it anew then.
    fn pause(&mut self, spins: u32, patience: Duration) -> bool {
        self.rounds += 1;
        if self.rounds < spins {
            std::hint::spin_loop();
            return false;
        }
        let passed = self.since.get_or_insert_with(Instant::now).elapsed();
        if self.may_sleep {
            const LONGEST: Duration = Duration::from_millis(20);
            std::thread::sleep((passed / 16).min(LONGEST));
        }
        std::thread::yield_now();
        let is_long = passed >= patience;
        if is_long {
            *self = Backoff { may_sleep: self.may_sleep, ..Backoff::default() };
        }
        is_long
    }
}

impl Clock for LinkedClock<'_> {
    fn wait_until(&mut self, t: Time) {
        while self.elapsed() < t && self.failed.is_none() {
            self.poll_link();
        }
        self.stop_if_failed();
    }

    fn wait_to_act(&mut self, t: Time) {
        self.wait_until(t);
    }

    fn wait_for_turn(&mut self, turn: Time, _: bool) {
        self.wait_until(turn);
    }

    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage {
        network.serve(&mut [] as &mut [Ingress], egress, message.to, &message.departure)
    }

    fn deliver(&mut self, (_, header): ArrivedHeader, parcel: Parcel) {
        /// The interval, in messages, at which a program that only sends learns whether the run has failed.
        const CHECK_INTERVAL: u32 = 32;
        if header.number.is_multiple_of(CHECK_INTERVAL) {
            self.poll_link();
        }
        self.stop_if_failed();
        let to = header.to.id() as usize;
        if to == self.link.id() {
            return self.put_message(header, parcel);
        }
        let mut pack = Pack { bytes: Vec::with_capacity(4 * HEAD), ..Pack::default() };
        pack.bytes.resize(HEAD, 0);
        let type_number = parcel.pack(&mut pack);
        if let Some(type_name) = pack.refused_type {
            let why = format!(
                "processor {} sent a {type_name} to another process, and it does not say how it is packed; derive `Payload`, or write \
                 `pack` and `unpack`",
                header.from
            );
            self.fail_run(Cause::OtherProcess(why));
            return stop(self.link.id(), &mut self.stops);
        }
        let number_and_words = u64::from(header.number) | u64::from(header.words) << 32;
        let words = [header.tag.number(), number_and_words, type_number, self.sent[to]];
        for (index, word) in words.into_iter().enumerate() {
            pack.bytes[8 * index + 8..][..8].copy_from_slice(&word.to_le_bytes());
        }
        let length = pack.slice.map_or(0, |slice| slice.bytes.len());
        if let Err(cause) =
            self.check_size(format_args!("processor {} sent", header.from), length.max(pack.bytes.len()))
        {
            self.fail_run(cause);
            return stop(self.link.id(), &mut self.stops);
        }
        if let Some(slice) = pack.slice {
            slice.announce(&mut pack.bytes);
        }
        self.sent[to] += 1;
        self.link.send(to, &pack.bytes, pack.slice);
    }

    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<ArrivedMessage>) {
        if wait.deadline < Time::MAX {
            // A message that a look finds arrives before the look.
            self.latest_arrival = wait.deadline - PS;
            while self.poll_link() {}
            self.latest_arrival = Time::MAX;
        }
        self.seat.start_wait(wait, &self.run_info.cost);
        let mut backoff = Backoff::default();
        while self.seat.wake_time() > self.elapsed() && self.failed.is_none() {
            if self.poll_link() {
                continue;
            }
            if backoff.pause(self.spins, self.run_info.patience.limit) && wait.deadline == Time::MAX {
                self.report_long_wait();
            }
        }
        self.stop_if_failed();
        self.seat.finish_wait(wait, got);
    }

    fn report_vain_looks(&mut self) -> bool {
        false
    }

    fn fail(&mut self, cause: Cause) {
        self.fail_run(cause);
    }

    fn end(&mut self, at: Time, well: bool) {
        self.seat.end(at, well);
    }
}

impl ProgramClock for LinkedClock<'_> {
    fn real(&mut self) -> Option<&mut dyn RealClock> {
        Some(self)
    }
}

impl RealClock for LinkedClock<'_> {
    fn time(&mut self) -> Time {
        self.elapsed().max(self.last_arrival + PS)
    }

    fn prepare(&mut self, time: Time) {
        self.skipped += time;
    }
}

/// The work of a process on its clock. Returns the packed result.
type ProcessBody<'a> = &'a mut dyn FnMut(&mut dyn ProgramClock) -> Result<Vec<u8>, Cause>;

/// Runs `body` on this process, while the other processes run theirs. Returns the results of all bodies.
/// `job_id` stands for the job, and must be the same on all processes.
pub(crate) fn run(
    link: &dyn Link,
    run_info: RunInfo,
    job_id: u64,
    body: ProcessBody,
) -> Result<Vec<Vec<u8>>, RunError> {
    let mut clock = LinkedClock::new(link, run_info);
    clock.begin_together(job_id)?;
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut clock)));
    let result = match outcome {
        Ok(result) => result
            .and_then(|result| clock.check_results_size(result.len()).map(|()| result).map_err(cause_from)),
        Err(payload) if payload.is::<RunStopped>() => Err(clock.failed.clone().expect("the run has failed")),
        Err(payload) => Err(cause_from_panic(link.id(), payload)),
    };
    let failed = result.as_ref().err().cloned();
    if let Some(cause) = &failed {
        clock.fail_run(cause.clone());
    }
    let all = clock.end_together(result.map_err(|cause| failure_text(&cause)));
    match failed {
        Some(cause) => Err(cause.into()),
        None => Ok(all?),
    }
}
