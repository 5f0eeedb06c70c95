//! The clock of a machine whose processors are processes: time passes by itself, and a [`Link`] carries the messages.
//!
//! The engine's rules are the same as on the other clocks, for a network on which nothing costs anything: which message goes
//! to which receive, in which order requests go on, what a collective is made of. What it takes is whatever the real machine
//! takes. So a message arrives when it is found, and a processor's local time is the time that has passed.
//!
//! Beside the program's letters the processes send each other a few notes, which `Note` lists: to begin together, to end
//! together, to end all when one has failed, and to find out that all wait for ever.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use quanta::Clock as Ticks;

use super::contract::Clock;
use super::seat::Seat;
use super::watchdog::Patience;
use crate::error::{Cause, RunError, Stopped, cause_of, stop};
use crate::link::{Came, Link};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Letter, Pack, Packed, Payload, RawTag, Unpack};
use crate::params::{ByLevel, ReceptionCost};
use crate::rules::reception::Reception;
use crate::time::{NS, PS, Time};

/// What a message between processes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Note {
    /// A program's message.
    Letter,
    /// To process 0: ready to begin, with a number that stands for what is to run.
    Ready,
    /// From process 0: all are ready; or all are not, and why.
    Begin,
    /// To all: the run has failed, and why.
    Failed,
    /// To process 0: waits for long, with what it has sent and got, and for what.
    Waits,
    /// To process 0: the program has ended, with what it has sent to each, got and brought home.
    Ended,
    /// From process 0: all have ended, with what all have brought home, or why the run has failed; and how many letters
    /// the process should have got.
    Over,
}

impl Note {
    const ALL: [Note; 7] =
        [Note::Letter, Note::Ready, Note::Begin, Note::Failed, Note::Waits, Note::Ended, Note::Over];
}

/// How many bytes come before a letter's value. They are four words: what slice is behind it, which begins with the kind of
/// note; its tag; its number, and how many words it has; and the number of its type.
const HEAD: usize = 32;

/// What a process that waits for long has sent and got, and what it is doing; and whether its program waits, or has ended.
type Waits = ((u64, u64), (String, bool));

/// How a process ended: what its program brought home, or why it failed.
type End = Result<Vec<u8>, String>;

/// A processor that is this process.
pub(crate) struct Linked<'l> {
    link: &'l dyn Link,
    ticks: Ticks,
    /// When the run began, in ticks.
    begun: u64,
    /// How much of what has passed since was no part of the program.
    skipped: Time,
    /// What it waits for, and what has come.
    seat: Seat,
    /// Receptions cost nothing.
    cost: ByLevel<ReceptionCost>,
    /// When the last message was found.
    last: Time,
    /// When a message that is found now arrives at the latest.
    latest: Time,
    /// How many letters it has sent to each process.
    sent: Vec<u64>,
    /// How many letters it has got.
    got: u64,
    /// Why the run has failed, if it has.
    failed: Option<Cause>,
    /// How often the program was unwound because the run has failed.
    stops: u32,
    /// How often it looks for messages before it lets others have the core.
    often: u32,
    /// How long it waits before it says so.
    patience: Duration,
    /// What else has come and was not looked at yet.
    notes: Vec<(Note, Came)>,
    /// On process 0, for each process that has waited for long: what it said then.
    waits: Vec<Option<Waits>>,
}

impl<'l> Linked<'l> {
    fn new(link: &'l dyn Link, cost: ByLevel<ReceptionCost>, patience: &Patience) -> Linked<'l> {
        let (ticks, P) = (Ticks::new(), link.p());
        let begun = ticks.raw();
        Linked {
            link,
            ticks,
            begun,
            skipped: Time::ZERO,
            seat: Seat::default(),
            cost,
            last: Time::ZERO,
            latest: Time::MAX,
            sent: vec![0; P],
            got: 0,
            failed: None,
            stops: 0,
            often: if link.is_crowded() { 1 } else { 20_000 },
            patience: patience.lasts,
            notes: Vec::new(),
            waits: vec![None; P],
        }
    }

    /// How long the run has lasted.
    #[inline]
    fn passed(&self) -> Time {
        self.ticks.delta_as_nanos(self.begun, self.ticks.raw()) as i64 * NS - self.skipped
    }

    /// Takes in a message that has come, if there is one.
    fn takes_in(&mut self) -> bool {
        let Some(came) = self.link.poll() else { return false };
        match came.bytes.first().and_then(|kind| Note::ALL.get(usize::from(*kind))) {
            Some(Note::Letter) => self.takes_in_letter(came),
            Some(Note::Failed) => {
                let why = opened::<String>(&came);
                self.failed.get_or_insert(Cause::Elsewhere(why));
            }
            Some(Note::Waits) => self.waits[came.from] = Some(opened(&came)),
            Some(note) => self.notes.push((*note, came)),
            None => self.failed = Some(Cause::Elsewhere(format!("{} sent no message of ours", came.from))),
        }
        true
    }

    fn takes_in_letter(&mut self, came: Came) {
        let Came { from, bytes, slice } = came;
        let [_, tag, of_both, of] = [0, 1, 2, 3].map(|place| {
            let word = bytes[8 * place..].first_chunk().expect("every process runs the same program");
            u64::from_le_bytes(*word)
        });
        let (tag, number, words) = (RawTag::numbered(tag), of_both as u32, (of_both >> 32) as u32);
        let parcel = Parcel::new(Packed { came: bytes, begin: HEAD, slice, of });
        let (from, to) = (from as u32, self.link.id() as u32);
        self.got += 1;
        self.puts(Letter { from, to, number, words, tag, parcel });
    }

    /// A letter arrives now.
    fn puts(&mut self, letter: Letter) {
        self.last = self.last.max(self.passed().min(self.latest));
        self.seat.put(Envelope { arrival: self.last, letter }, &self.cost);
    }

    /// Sends a note to a process.
    fn tells(&self, to: usize, note: Note, value: &impl Payload) {
        let mut pack = Pack { bytes: vec![note as u8], ..Pack::whole() };
        value.pack(&mut pack);
        self.link.send(to, &pack.bytes, None);
    }

    /// Sends a note to all others.
    fn tells_all(&self, note: Note, value: &impl Payload) {
        (0..self.link.p()).filter(|to| *to != self.link.id()).for_each(|to| self.tells(to, note, value));
    }

    /// Waits for a note from each of these processes, in any order.
    fn awaits<T: Payload>(&mut self, note: Note, from: std::ops::Range<usize>) -> Vec<T> {
        let mut said: Vec<Option<T>> = from.clone().map(|_| None).collect();
        let mut wait = Wait::default();
        while said.iter().any(Option::is_none) {
            let place = |came: &(Note, Came)| came.0 == note && from.contains(&came.1.from);
            match self.notes.iter().position(place) {
                Some(place) => {
                    let (_, came) = self.notes.swap_remove(place);
                    said[came.from - from.start] = Some(opened(&came));
                }
                None if self.takes_in() => (),
                None if wait.goes_on(self.often, self.patience) => self.waits_for_long(),
                None => (),
            }
        }
        said.into_iter().flatten().collect()
    }

    /// Nothing has come for long: process 0 is told, which finds out whether anything ever will.
    fn waits_for_long(&mut self) {
        if self.failed.is_some() {
            return;
        }
        let doing = format!("at {} {}", self.passed(), self.seat.state(self.link.id()).doing);
        let said = ((self.sent.iter().sum(), self.got), (doing, self.seat.is_blocked()));
        if self.link.id() > 0 {
            return self.tells(0, Note::Waits, &said);
        }
        self.waits[0] = Some(said);
        let all: Vec<&Waits> = self.waits.iter().flatten().collect();
        // What all have sent all have got, and each waited for more when it said so. So nothing has come since.
        let sent: u64 = all.iter().map(|((sent, _), _)| sent).sum();
        let got: u64 = all.iter().map(|((_, got), _)| got).sum();
        let waiting = all.iter().filter(|(_, (_, is_blocked))| *is_blocked).count();
        if all.len() == self.link.p() && sent == got && waiting > 0 {
            let mut said = Cause::Deadlock { waiting, of: all.len() }.to_string();
            for (id, (_, (doing, _))) in all.iter().enumerate() {
                said += &format!("\n  processor {id} {doing}");
            }
            self.fails(Cause::Elsewhere(said));
        }
    }

    /// The run has failed here.
    fn fails(&mut self, cause: Cause) {
        if self.failed.is_none() {
            self.tells_all(Note::Failed, &cause.to_string());
            self.failed = Some(cause);
        }
    }

    /// Unwinds the program if the run has failed.
    #[inline]
    fn stops_if_failed(&mut self) {
        if self.failed.is_some() {
            stop(self.link.id(), &mut self.stops);
        }
    }

    /// All begin together, if all are to do the same.
    fn begins(&mut self, case: u64) -> Result<(), Cause> {
        let P = self.link.p();
        let mut begin: Result<(), String> = Ok(());
        if self.link.id() == 0 {
            let others: Vec<u64> = self.awaits(Note::Ready, 1..P);
            if let Some(other) = others.iter().position(|other| *other != case) {
                begin = Err(format!(
                    "processes 0 and {} are to run different things; give all the same arguments",
                    other + 1
                ));
            }
            self.tells_all(Note::Begin, &begin);
        } else {
            self.tells(0, Note::Ready, &case);
            begin = self.awaits(Note::Begin, 0..1).remove(0);
        }
        begin.map_err(Cause::Elsewhere)?;
        self.begun = self.ticks.raw();
        self.seat.start();
        Ok(())
    }

    /// All end together, and all know what all have brought home.
    fn ends(&mut self, home: End) -> Result<Vec<Vec<u8>>, Cause> {
        let P = self.link.p();
        let left = self.seat.messages().count() as u64;
        let said = (self.sent.clone(), (self.got, left), home);
        let (all, expected): (Result<Vec<Vec<u8>>, String>, u64);
        if self.link.id() == 0 {
            let others: Vec<(Vec<u64>, (u64, u64), End)> = self.awaits(Note::Ended, 1..P);
            let ends: Vec<_> = [said].into_iter().chain(others).collect();
            let sent: Vec<u64> = (0..P).map(|to| ends.iter().map(|(sent, ..)| sent[to]).sum()).collect();
            // What has not come, and what has come and was not received.
            let lost = ends.iter().zip(&sent).map(|((_, (got, left), _), sent)| sent - got + left);
            let lost = lost.enumerate().find(|(_, lost)| *lost > 0);
            let homes: Result<Vec<Vec<u8>>, String> = ends.into_iter().map(|(.., home)| home).collect();
            let homes = match lost {
                Some((to, lost)) => {
                    homes.and_then(|_| Err(format!("{lost} messages to processor {to} were never received")))
                }
                None => homes,
            };
            let mut over = (homes, 0);
            for (to, sent) in sent.iter().enumerate().skip(1) {
                over.1 = *sent;
                self.tells(to, Note::Over, &over);
            }
            (all, expected) = (over.0, sent[0]);
        } else {
            self.tells(0, Note::Ended, &said);
            (all, expected) = self.awaits(Note::Over, 0..1).remove(0);
        }
        // Nothing of this run may come into the next.
        while self.got < expected {
            self.takes_in();
        }
        all.map_err(Cause::Elsewhere)
    }
}

/// The value of a note.
fn opened<T: Payload>(came: &Came) -> T {
    T::unpack(&mut Unpack::new(&came.bytes[1..], None)).expect("every process runs the same program")
}

/// How long a process has waited.
#[derive(Default)]
struct Wait {
    looks: u32,
    since: Option<Instant>,
}

impl Wait {
    /// Nothing has come again. Returns whether that has been so for long, and begins anew if so.
    fn goes_on(&mut self, often: u32, patience: Duration) -> bool {
        self.looks += 1;
        if self.looks < often {
            std::hint::spin_loop();
            return false;
        }
        std::thread::yield_now();
        let since = *self.since.get_or_insert_with(Instant::now);
        let is_long = since.elapsed() >= patience;
        if is_long {
            *self = Wait::default();
        }
        is_long
    }
}

impl Clock for Linked<'_> {
    fn wait_until(&mut self, t: Time) {
        while self.passed() < t && self.failed.is_none() {
            self.takes_in();
        }
        self.stops_if_failed();
    }

    fn act_at(&mut self, t: Time) {
        self.wait_until(t);
    }

    fn deliver(&mut self, envelope: Envelope) {
        /// Who sends and sends looks now and then whether the run has failed.
        const OFTEN: u32 = 32;
        if envelope.letter.number.is_multiple_of(OFTEN) {
            self.takes_in();
        }
        self.stops_if_failed();
        let Envelope { letter, .. } = envelope;
        let to = letter.to as usize;
        if to == self.link.id() {
            return self.puts(letter);
        }
        let mut pack = Pack { bytes: Vec::with_capacity(4 * HEAD), ..Pack::default() };
        pack.bytes.resize(HEAD, 0);
        let of = letter.parcel.pack(&mut pack);
        if let Some(of) = pack.refused {
            let why = format!(
                "processor {} sent a {of} to another process, and it does not say how it is packed; derive `Payload`, or write \
                 `pack` and `unpack`",
                letter.from
            );
            self.fails(Cause::Elsewhere(why));
            return stop(self.link.id(), &mut self.stops);
        }
        let of_both = u64::from(letter.number) | u64::from(letter.words) << 32;
        for (place, word) in [letter.tag.number(), of_both, of].into_iter().enumerate() {
            pack.bytes[8 * place + 8..][..8].copy_from_slice(&word.to_le_bytes());
        }
        if let Some(slice) = pack.slice {
            slice.announce(&mut pack.bytes);
        }
        self.sent[to] += 1;
        self.link.send(to, &pack.bytes, pack.slice);
    }

    fn receive(&mut self, reception: &mut Reception) -> Option<Envelope> {
        if reception.deadline < Time::MAX {
            // What a look finds has come before it.
            self.latest = reception.deadline - PS;
            while self.takes_in() {}
            self.latest = Time::MAX;
        }
        self.seat.ask(reception, &self.cost);
        let mut wait = Wait::default();
        while self.seat.wake() > self.passed() && self.failed.is_none() {
            if self.takes_in() {
                continue;
            }
            if wait.goes_on(self.often, self.patience) && reception.deadline == Time::MAX {
                self.waits_for_long();
            }
        }
        self.stops_if_failed();
        self.seat.answer(reception)
    }

    fn time(&mut self) -> Option<Time> {
        Some(self.passed().max(self.last + PS))
    }

    fn prepares(&mut self, time: Time) {
        self.skipped += time;
    }

    fn looks_in_vain(&mut self) -> bool {
        false
    }

    fn fail(&mut self, cause: Cause) {
        self.fails(cause);
    }

    fn end(&mut self, at: Time, well: bool) {
        self.seat.end(at, well);
    }
}

/// What a process does on its clock; returns what it brings home.
type Body<'a> = &'a mut dyn FnMut(&mut dyn Clock) -> Result<Vec<u8>, Cause>;

/// Runs `body` for this process, while the others do so for theirs. Returns what the bodies of all have returned. `case` is a
/// number that stands for what is to run, and must be the same for all.
pub(crate) fn run(
    link: &dyn Link,
    cost: ByLevel<ReceptionCost>,
    patience: &Patience,
    case: u64,
    body: Body,
) -> Result<Vec<Vec<u8>>, RunError> {
    let mut clock = Linked::new(link, cost, patience);
    clock.begins(case)?;
    let ended = catch_unwind(AssertUnwindSafe(|| body(&mut clock)));
    let home = match ended {
        Ok(home) => home,
        Err(payload) if payload.is::<Stopped>() => Err(clock.failed.clone().expect("the run has failed")),
        Err(payload) => Err(cause_of(link.id(), payload)),
    };
    let failed = home.as_ref().err().cloned();
    if let Some(cause) = &failed {
        clock.fails(cause.clone());
    }
    let all = clock.ends(home.map_err(|cause| cause.to_string()));
    match failed {
        Some(cause) => Err(cause.into()),
        None => Ok(all?),
    }
}
