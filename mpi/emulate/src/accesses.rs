//! Accesses to windows of checked programs: which bytes, by whom, and what orders them. Two that nothing orders are a fault if one
//! of them writes.
//!
//! An access lasts until a call ends it: a fence, an unlock, a flush, or the end of an exposure. Between fences all are beside each
//! other. Others are in order if a message, a collective, a lock or an atomic tells the later rank that the earlier access has
//! ended: so each rank has a clock, which counts the ends of all ranks that it can know of.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use loggp::Proc;
use loggp_mpi_trace::recording::post::{Access, AccessEnd, AccessKind, Address, Guard};
use rustc_hash::FxHashMap;

use crate::board::CollectiveId;
use crate::failure::LastCall;
use crate::fault::FaultKind;
use crate::rank::Rank;

/// How many accesses of each rank have ended.
pub(crate) type Ends = Arc<[u64]>;

/// What is known of all windows.
#[derive(Default)]
pub(crate) struct Accesses {
    /// The accesses by window and the rank whose memory it is.
    known: FxHashMap<(u32, u32), Vec<KnownAccess>>,
    /// The rank that was the first to free a window, and its fences until then.
    freed: FxHashMap<u32, (usize, u64)>,
    /// What each rank can know of.
    clocks: Vec<Vec<u64>>,
    /// What ranks have known that came to a collective, and how many have left it.
    meetings: FxHashMap<CollectiveId, (Vec<u64>, usize)>,
    /// What those have known who gave back a lock that they had alone, and others.
    locks: FxHashMap<(u32, u32), [Vec<u64>; 2]>,
    /// What those have known who made an atomic call for a memory.
    atomics: FxHashMap<(u32, u32), Vec<u64>>,
}

/// An access, by whom and from where.
pub(crate) struct KnownAccess {
    what: Access,
    by: usize,
    place: Address,
    /// The number of its end among those of its rank, once it has ended.
    end: Option<u64>,
}

/// The most accesses of a rank's memory that are known at once.
const MOST_KNOWN: usize = 1024;

fn merge(into: &mut Vec<u64>, from: &[u64]) {
    into.resize(into.len().max(from.len()), 0);
    into.iter_mut().zip(from).for_each(|(ours, theirs)| *ours = (*ours).max(*theirs));
}

impl Accesses {
    /// Notes that an access of a rank ends, and returns the number of that.
    fn end(&mut self, by: usize) -> u64 {
        self.clocks[by][by] += 1;
        self.clocks[by][by]
    }

    /// Forgets what has ended and all know of, and then the oldest.
    fn make_room(&mut self, key: (u32, u32)) {
        let Some(known) = self.known.get_mut(&key).filter(|known| known.len() >= MOST_KNOWN) else { return };
        let clocks = &self.clocks;
        let is_known_to_all = |access: &KnownAccess| {
            access.end.is_some_and(|end| clocks.iter().all(|clock| clock[access.by] >= end))
        };
        known.retain(|access| !is_known_to_all(access));
        known.drain(..known.len().saturating_sub(MOST_KNOWN / 2));
    }
}

impl KnownAccess {
    /// Returns whether the rank of the access is that whose memory it is.
    fn is_own(&self) -> bool {
        matches!(self.what.kind, AccessKind::Load | AccessKind::Store)
    }

    /// Returns whether nothing orders the two, of which this one has come first, where a rank makes the other that knows of these
    /// ends.
    fn is_beside(&self, other: &KnownAccess, clock: &[u64]) -> bool {
        use Guard::{Exclusive, Fence, Nothing, Shared, Start};
        if self.by == other.by {
            let is_of_other_epoch = self.what.guard == Start && other.what.guard != Start;
            return self.end.is_none() && !is_of_other_epoch && !(self.is_own() && other.is_own());
        }
        match (self.what.guard, other.what.guard) {
            (Fence | Nothing, Fence | Nothing) => self.what.phase == other.what.phase,
            (Start, Start) => true,
            (Shared, Shared | Nothing) | (Exclusive, Nothing) | (Nothing, Shared | Exclusive) => {
                self.end.is_none_or(|end| clock[self.by] < end)
            }
            _ => false,
        }
    }

    /// Returns the bytes that both reach for, from and to, if they may not.
    fn conflict(&self, other: &KnownAccess, clock: &[u64]) -> Option<(u64, u64)> {
        use AccessKind::{Accumulate, Get, Load};
        let reads = |access: &KnownAccess| matches!(access.what.kind, Get | Load);
        let both_sum = self.what.kind == Accumulate && other.what.kind == Accumulate;
        if reads(self) && reads(other) || both_sum || !self.is_beside(other, clock) {
            return None;
        }
        self.what.pieces.iter().find_map(|(from, bytes)| {
            let of_both = other
                .what
                .pieces
                .iter()
                .map(|(start, length)| (*from.max(start), (from + bytes).min(start + length)));
            of_both.into_iter().find(|(from, to)| from < to)
        })
    }

    /// Returns the access as text, such as `MPI_Put of rank 0 at main (put.c:12)`.
    fn text(&self) -> String {
        let call = LastCall { address: self.place.clone(), ..LastCall::default() };
        let before = if self.what.name == "a store" { " before the call" } else { "" };
        format!("{} of rank {}{before}{}", self.what.name, self.by, call.text())
    }
}

impl Rank<'_> {
    /// Notes an access to a window, and ends the run if another one is beside it.
    pub(crate) fn note_access(&mut self, p: &mut Proc, access: Access) {
        let (window, of, me) = (self.communicator(access.window).number, access.of, self.id);
        let place = self.link.address(self.call.place);
        self.shared.has_windows.store(true, Ordering::Relaxed);
        let mut guard = self.shared.accesses.lock();
        let all = &mut *guard;
        all.clocks.resize(self.shared.ranks, vec![0; self.shared.ranks]);
        let mut access = KnownAccess { what: access, by: me, place, end: None };
        let known = all.known.entry((window, of)).or_default();
        let other = known.iter().find_map(|other| Some((other, other.conflict(&access, &all.clocks[me])?)));
        if let Some((other, (from, to))) = other {
            let (first, second) = if other.by <= me { (other, &access) } else { (&access, other) };
            let why = format!(
                "{} and {} reach for bytes {from} to {to} of the window of rank {of}, and nothing orders them; let one wait for the other",
                first.text(),
                second.text()
            );
            drop(guard);
            self.fail(p, (FaultKind::GlobalConcurrency, why));
        }
        if access.what.kind == AccessKind::Accumulate {
            let atomics = all.atomics.entry((window, of)).or_default();
            merge(&mut all.clocks[me], atomics);
            merge(atomics, &all.clocks[me]);
        }
        // What comes back to a request has come when that is complete, which is not seen here.
        let has_ended = access.is_own() || access.what.name.starts_with("MPI_Rget");
        access.end = has_ended.then(|| all.end(me));
        all.known.entry((window, of)).or_default().push(access);
        all.make_room((window, of));
    }

    /// Notes that accesses have ended.
    pub(crate) fn end_accesses(&mut self, p: &mut Proc, window: u32, of: Option<u32>, how: AccessEnd) {
        let (window, me) = (self.communicator(window).number, self.id);
        let mut guard = self.shared.accesses.lock();
        let all = &mut *guard;
        if let AccessEnd::BeforeFree(fences) = how {
            let (first, of_first) = *all.freed.entry(window).or_insert((me, fences));
            drop(guard);
            if fences != of_first {
                let why = format!(
                    "rank {me} frees a window{} after {fences} calls of MPI_Win_fence, and rank {first} after {of_first}; all ranks of a window call it together",
                    self.last_call().text()
                );
                self.fail(p, (FaultKind::CallOrdering, why));
            }
            return;
        }
        if all.clocks.is_empty() {
            return;
        }
        let end = all.end(me);
        for ((_, rank), known) in all.known.iter_mut().filter(|((of_window, _), _)| *of_window == window) {
            let is_of = of.is_none_or(|of| of == *rank);
            match how {
                AccessEnd::Calls => known
                    .iter_mut()
                    .filter(|access| is_of && access.by == me && access.end.is_none())
                    .for_each(|access| access.end = Some(end)),
                AccessEnd::Fence => known.retain(|access| {
                    access.by != me || !matches!(access.what.guard, Guard::Fence | Guard::Nothing)
                }),
                AccessEnd::Exposure => {
                    known.retain(|access| *rank as usize != me || access.what.guard != Guard::Start);
                }
                AccessEnd::Window | AccessEnd::BeforeFree(_) => known.retain(|access| access.by != me),
            }
        }
    }

    /// Returns what the rank can know of, for a message; `None` if there is nothing to know.
    pub(crate) fn ends(&self) -> Option<Ends> {
        self.has_windows().then(|| self.shared.accesses.lock().clocks.get(self.id).cloned())?.map(Ends::from)
    }

    /// Notes that the rank has got a message of a rank that could know of these ends.
    pub(crate) fn learn_ends(&self, ends: Option<&Ends>) {
        if let Some(ends) = ends
            && let Some(clock) = self.shared.accesses.lock().clocks.get_mut(self.id)
        {
            merge(clock, ends);
        }
    }

    fn has_windows(&self) -> bool {
        self.shared.has_windows.load(Ordering::Relaxed)
    }

    /// Notes that the rank has come to a collective.
    pub(crate) fn meet(&self, id: CollectiveId) {
        if self.has_windows() {
            let all = &mut *self.shared.accesses.lock();
            let met = all.meetings.entry(id).or_default();
            all.clocks.get(self.id).into_iter().for_each(|clock| merge(&mut met.0, clock));
        }
    }

    /// Notes that the rank leaves a collective of so many: it may know what those knew who have come.
    pub(crate) fn part(&self, id: CollectiveId, members: usize) {
        if !self.has_windows() {
            return;
        }
        let all = &mut *self.shared.accesses.lock();
        let Some((met, left)) = all.meetings.get_mut(&id) else { return };
        all.clocks.get_mut(self.id).into_iter().for_each(|clock| merge(clock, met));
        *left += 1;
        if *left == members {
            all.meetings.remove(&id);
        }
    }

    /// Notes that the rank has got the lock of a rank's window: it knows what those knew who had it before, but not where both share
    /// it.
    pub(crate) fn learn_of_lock(&self, of: (u32, u32), is_exclusive: bool) {
        if self.has_windows() {
            let all = &mut *self.shared.accesses.lock();
            let given_back = all.locks.entry(of).or_default();
            let Some(clock) = all.clocks.get_mut(self.id) else { return };
            given_back.iter().take(1 + usize::from(is_exclusive)).for_each(|ends| merge(clock, ends));
        }
    }

    /// Notes that the rank gives back a lock.
    pub(crate) fn tell_lock(&self, of: (u32, u32), is_exclusive: bool) {
        if self.has_windows() {
            let all = &mut *self.shared.accesses.lock();
            let given_back = &mut all.locks.entry(of).or_default()[usize::from(!is_exclusive)];
            all.clocks.get(self.id).into_iter().for_each(|clock| merge(given_back, clock));
        }
    }
}
