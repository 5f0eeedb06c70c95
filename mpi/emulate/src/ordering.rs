//! A rank notes its accesses to windows, and what tells it that those of others have ended.

use std::sync::atomic::Ordering;

use loggp::Proc;
use loggp_mpi_trace::call::SendMode;
use loggp_mpi_trace::recording::post::{Access, AccessEnd, AccessKind, Guard};

use crate::accesses::{KnownAccess, merge};
use crate::board::CollectiveId;
use crate::fault::FaultKind;
use crate::parcel::EndedAccesses;
use crate::rank::EmulatedRank;

impl EmulatedRank<'_> {
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
    pub(crate) fn ended_accesses(&self) -> Option<EndedAccesses> {
        self.has_windows()
            .then(|| self.shared.accesses.lock().clocks.get(self.id).cloned())?
            .map(EndedAccesses::from)
    }

    /// Notes that the rank has got a message of a rank that could know that these have ended.
    pub(crate) fn learn_ended(&self, ended: Option<&EndedAccesses>) {
        if let Some(ended) = ended
            && let Some(clock) = self.shared.accesses.lock().clocks.get_mut(self.id)
        {
            merge(clock, ended);
        }
    }

    /// Notes that a send has ended: of one that waits for its receiver, the rank may know what the receiver did before.
    pub(crate) fn learn_of_receiver(&self, to: u32, mode: SendMode) {
        if mode == SendMode::Synchronous && self.has_windows() {
            let clocks = &mut self.shared.accesses.lock().clocks;
            let receiver = clocks.get(to as usize).cloned().unwrap_or_default();
            clocks.get_mut(self.id).into_iter().for_each(|clock| merge(clock, &receiver));
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
            given_back.iter().take(1 + usize::from(is_exclusive)).for_each(|ended| merge(clock, ended));
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
