//! The clock of a machine whose processors are processes: time passes by itself, and a [`Link`] carries the messages.
//!
//! The engine's rules are the same as on the other clocks, for a network on which nothing costs anything: which message goes
//! to which receive, in which order requests go on, what a collective is made of. What it takes is whatever the real machine
//! takes. So a message arrives when it is found, and a processor's local time is the time that has passed.
//!
//! Beside the program's letters the processes send each other a few notes, which `Note` lists: to begin together, to end
//! together, to end all when one has failed, and to find out that all wait for ever.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use quanta::Clock as Ticks;

use super::contract::{Clock, Foreknown};
use super::seat::Seat;
use super::watchdog::Patience;
use crate::error::{Cause, Doing, RunError, Stopped, cause_of, stop};
use crate::link::{Came, Link};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Outside, Pack, Packed, Payload, RawTag, Receiver, Seen, Unpack};
use crate::params::ParamsError;
use crate::rules::network::{Entrance, Exit, Network, Passage};
use crate::rules::pace::Outgoing;
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
    /// To process 0, and from there to all others: the run has failed, and why.
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

/// What a process that waits for long has sent to each and got, and what it is doing; and whether its program waits, or has
/// ended.
type Waits = ((Vec<u64>, u64), (String, bool));

/// Why a run has failed, as others are told; and whether it could not be, and did not only end badly.
type Why = (String, bool);

/// How a process ended: what its program brought home, or why it failed.
type End = Result<Vec<u8>, Why>;

fn told(cause: &Cause) -> Why {
    (cause.to_string(), matches!(cause, Cause::Params(_)))
}

fn cause_from((said, is_refused): Why) -> Cause {
    if is_refused { refused(said) } else { Cause::Elsewhere(said) }
}

fn refused(said: String) -> Cause {
    Cause::Params(ParamsError::new(said))
}

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
    /// What tags are called, and that receptions cost nothing.
    known: Foreknown,
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
    fn new(link: &'l dyn Link, known: Foreknown, patience: &Patience) -> Linked<'l> {
        let (ticks, P) = (Ticks::new(), link.p());
        let begun = ticks.raw();
        Linked {
            link,
            ticks,
            begun,
            skipped: Time::ZERO,
            seat: Seat::default(),
            known,
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
                let cause = cause_from(opened(&came));
                match self.link.id() {
                    0 => self.fails(cause),
                    _ => _ = self.failed.get_or_insert(cause),
                }
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
        let (from, to) = (from as u32, Receiver::new(self.link.id() as u32, false));
        self.got += 1;
        self.puts(Outside { from, to, number, words, tag }, parcel);
    }

    /// A letter arrives now.
    fn puts(&mut self, outside: Outside, parcel: Parcel) {
        self.last = self.last.max(self.passed().min(self.latest));
        self.seat.put((self.last, outside), parcel, &self.known.cost);
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

    /// Waits for a note from each of these processes, in any order. One that has ended sends none.
    fn awaits<T: Payload>(
        &mut self,
        note: Note,
        from: std::ops::Range<usize>,
        mut wait: Wait,
    ) -> Result<Vec<T>, Cause> {
        let mut said: Vec<Option<T>> = from.clone().map(|_| None).collect();
        while let Some(missing) = said.iter().position(Option::is_none) {
            let place = |came: &(Note, Came)| came.0 == note && from.contains(&came.1.from);
            match self.notes.iter().position(place) {
                Some(place) => {
                    let (_, came) = self.notes.swap_remove(place);
                    said[came.from - from.start] = Some(opened(&came));
                }
                None if self.takes_in() => (),
                None if self.link.has_ended(from.start + missing) => {
                    return Err(refused(format!(
                        "process {} has ended, and process {} is to go on; give all the same arguments",
                        from.start + missing,
                        self.link.id()
                    )));
                }
                None if wait.goes_on(self.often, self.patience) => self.waits_for_long(),
                None => (),
            }
        }
        Ok(said.into_iter().flatten().collect())
    }

    /// Nothing has come for long: process 0 is told, which finds out whether anything ever will.
    fn waits_for_long(&mut self) {
        let doing = self.seat.state(self.link.id(), &self.known.names).doing;
        if self.failed.is_some() || doing == Doing::NotStarted {
            return;
        }
        let doing = format!("at {} {doing}", self.passed());
        let said = ((self.sent.clone(), self.got), (doing, self.seat.is_blocked()));
        if self.link.id() > 0 {
            return self.tells(0, Note::Waits, &said);
        }
        self.waits[0] = Some(said);
        let all: Vec<&Waits> = self.waits.iter().flatten().collect();
        // Each waited for more when it said so. Whoever went on first since then has got what was already sent, and is told apart
        // by that: sums over all would not show it, if another has got what was sent later.
        let mut each = all.iter().enumerate();
        let is_quiet =
            each.all(|(to, ((_, got), _))| all.iter().map(|((sent, _), _)| sent[to]).sum::<u64>() == *got);
        let waiting = all.iter().filter(|(_, (_, is_blocked))| *is_blocked).count();
        if all.len() == self.link.p() && is_quiet && waiting > 0 {
            let mut said = Cause::Deadlock { waiting, of: all.len() }.to_string();
            for (id, (_, (doing, _))) in all.iter().enumerate() {
                said += &format!("\n  processor {id} {doing}");
            }
            self.fails(Cause::Elsewhere(said));
        }
    }

    /// The run has failed. All learn it from process 0, and before they learn that it is over: so nothing of it comes into
    /// the next.
    fn fails(&mut self, cause: Cause) {
        if self.failed.is_none() {
            match self.link.id() {
                0 => self.tells_all(Note::Failed, &told(&cause)),
                _ => self.tells(0, Note::Failed, &told(&cause)),
            }
            self.failed = Some(cause);
        }
    }

    /// Refuses so many bytes if they cannot go at once.
    fn check(&self, what: fmt::Arguments, bytes: usize) -> Result<(), Cause> {
        let longest = self.link.longest();
        if bytes <= longest {
            return Ok(());
        }
        let name = self.link.name();
        Err(refused(format!(
            "{what} {bytes} bytes at once, and {name} take at most {longest}; give a smaller size, or start more processes"
        )))
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
        // Who is early leaves the core to those that prepare; and when all are awake, all begin at once.
        self.meets(case, Wait { sleeps: true, ..Wait::default() })?;
        self.meets(case, Wait::default())?;
        self.begun = self.ticks.raw();
        self.waits.fill(None); // those of an earlier run
        self.seat.start();
        Ok(())
    }

    /// Waits until all are here, to do the same.
    fn meets(&mut self, case: u64, wait: Wait) -> Result<(), Cause> {
        if self.link.id() > 0 {
            self.tells(0, Note::Ready, &case);
            let begin: Result<(), Why> = self.awaits(Note::Begin, 0..1, wait)?.remove(0);
            return begin.map_err(cause_from);
        }
        let others = self.awaits::<u64>(Note::Ready, 1..self.link.p(), wait);
        let begin = others.and_then(|others| match others.iter().position(|other| *other != case) {
            None => Ok(()),
            Some(other) => Err(refused(format!(
                "processes 0 and {} are to run different things; give all the same arguments",
                other + 1
            ))),
        });
        self.tells_all(Note::Begin, &begin.as_ref().map(|_| ()).map_err(told));
        begin
    }

    /// All end together, and all know what all have brought home.
    fn ends(&mut self, home: End) -> Result<Vec<Vec<u8>>, Cause> {
        let P = self.link.p();
        let left = self.seat.messages().count() as u64;
        let said = (self.sent.clone(), (self.got, left), home);
        let (all, expected): (Result<Vec<Vec<u8>>, Why>, u64);
        if self.link.id() == 0 {
            let others: Vec<(Vec<u64>, (u64, u64), End)> = self.awaits(Note::Ended, 1..P, Wait::default())?;
            let ends: Vec<_> = [said].into_iter().chain(others).collect();
            let sent: Vec<u64> = (0..P).map(|to| ends.iter().map(|(sent, ..)| sent[to]).sum()).collect();
            // What has not come, and what has come and was not received.
            let lost = ends.iter().zip(&sent).map(|((_, (got, left), _), sent)| sent - got + left);
            let lost = lost.enumerate().find(|(_, lost)| *lost > 0);
            let homes: Result<Vec<Vec<u8>>, Why> = ends.into_iter().map(|(.., home)| home).collect();
            let homes = homes.and_then(|homes| match lost {
                Some((to, lost)) => {
                    Err((format!("{lost} messages to processor {to} were never received"), false))
                }
                None => self.check_home(homes.iter().map(Vec::len).sum()).map(|()| homes),
            });
            let mut over = (homes, 0);
            for (to, sent) in sent.iter().enumerate().skip(1) {
                over.1 = *sent;
                self.tells(to, Note::Over, &over);
            }
            (all, expected) = (over.0, sent[0]);
        } else {
            self.tells(0, Note::Ended, &said);
            (all, expected) = self.awaits(Note::Over, 0..1, Wait::default())?.remove(0);
        }
        // Nothing of this run may come into the next.
        while self.got < expected {
            self.takes_in();
        }
        all.map_err(cause_from)
    }

    /// Refuses results of so many bytes if they cannot travel, with what else is in their note.
    fn check_home(&self, bytes: usize) -> Result<(), Why> {
        let others = HEAD * (self.link.p() + 1);
        self.check(format_args!("the results have"), bytes.saturating_add(others))
            .map_err(|cause| told(&cause))
    }
}

/// The value of a note.
fn opened<T: Payload>(came: &Came) -> T {
    T::unpack(&mut Unpack::new(&came.bytes[1..], None)).expect("every process runs the same program")
}

/// How long a process has waited.
#[derive(Default)]
struct Wait {
    /// Whether it leaves the core to others altogether.
    sleeps: bool,
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
        let passed = self.since.get_or_insert_with(Instant::now).elapsed();
        if self.sleeps {
            const LONGEST: Duration = Duration::from_millis(20);
            std::thread::sleep((passed / 16).min(LONGEST));
        }
        std::thread::yield_now();
        let is_long = passed >= patience;
        if is_long {
            *self = Wait { sleeps: self.sleeps, ..Wait::default() };
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

    fn serve(&mut self, network: &Network, exit: &mut Exit, message: &Outgoing) -> Passage {
        network.serve(&mut [] as &mut [Entrance], exit, message.to, &message.request)
    }

    fn most_to(&self, _network: &Network) -> usize {
        0
    }

    fn deliver(&mut self, (_, outside): Seen, parcel: Parcel) {
        /// Who sends and sends looks now and then whether the run has failed.
        const OFTEN: u32 = 32;
        if outside.number.is_multiple_of(OFTEN) {
            self.takes_in();
        }
        self.stops_if_failed();
        let to = outside.to.id() as usize;
        if to == self.link.id() {
            return self.puts(outside, parcel);
        }
        let mut pack = Pack { bytes: Vec::with_capacity(4 * HEAD), ..Pack::default() };
        pack.bytes.resize(HEAD, 0);
        let of = parcel.pack(&mut pack);
        if let Some(of) = pack.refused {
            let why = format!(
                "processor {} sent a {of} to another process, and it does not say how it is packed; derive `Payload`, or write \
                 `pack` and `unpack`",
                outside.from
            );
            self.fails(Cause::Elsewhere(why));
            return stop(self.link.id(), &mut self.stops);
        }
        let of_both = u64::from(outside.number) | u64::from(outside.words) << 32;
        for (place, word) in [outside.tag.number(), of_both, of].into_iter().enumerate() {
            pack.bytes[8 * place + 8..][..8].copy_from_slice(&word.to_le_bytes());
        }
        let length = pack.slice.map_or(0, |slice| slice.bytes.len());
        if let Err(cause) =
            self.check(format_args!("processor {} sent", outside.from), length.max(pack.bytes.len()))
        {
            self.fails(cause);
            return stop(self.link.id(), &mut self.stops);
        }
        if let Some(slice) = pack.slice {
            slice.announce(&mut pack.bytes);
        }
        self.sent[to] += 1;
        self.link.send(to, &pack.bytes, pack.slice);
    }

    fn receive(&mut self, reception: &mut Reception, got: &mut Option<Envelope>) {
        if reception.deadline < Time::MAX {
            // What a look finds has come before it.
            self.latest = reception.deadline - PS;
            while self.takes_in() {}
            self.latest = Time::MAX;
        }
        self.seat.ask(reception, &self.known.cost);
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
        self.seat.answer(reception, got);
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
    known: Foreknown,
    patience: &Patience,
    case: u64,
    body: Body,
) -> Result<Vec<Vec<u8>>, RunError> {
    let mut clock = Linked::new(link, known, patience);
    clock.begins(case)?;
    let ended = catch_unwind(AssertUnwindSafe(|| body(&mut clock)));
    let home = match ended {
        Ok(home) => home.and_then(|home| clock.check_home(home.len()).map(|()| home).map_err(cause_from)),
        Err(payload) if payload.is::<Stopped>() => Err(clock.failed.clone().expect("the run has failed")),
        Err(payload) => Err(cause_of(link.id(), payload)),
    };
    let failed = home.as_ref().err().cloned();
    if let Some(cause) = &failed {
        clock.fails(cause.clone());
    }
    let all = clock.ends(home.map_err(|cause| told(&cause)));
    match failed {
        Some(cause) => Err(cause.into()),
        None => Ok(all?),
    }
}
