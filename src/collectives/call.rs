//! One call of a collective, and what all kinds of them do: they send by rank, and refuse what they cannot take.

use super::costs::longest;
use crate::message::{Collective, Pack, Payload, RawTag, Tag, Unpack};
use crate::proc::{Acting, Proc};

/// One call of a collective, on one processor.
pub(super) struct Call {
    /// The collective that is called.
    pub kind: Collective,
    /// How many collectives the same callers, this group or all processors, had called before.
    number: u32,
    /// The group of processors that calls the collective, or `None` if all processors do.
    group: Option<Acting>,
    /// The processor's rank among the callers; its number if all processors call.
    pub id: usize,
    /// The number of callers.
    pub P: usize,
}

impl Call {
    pub(super) fn begin(p: &mut Proc, kind: Collective) -> Call {
        let number = p.begin_collective();
        let (id, P) = place(p);
        Call { kind, number, group: p.acting().cloned(), id, P }
    }

    /// Begins a call that has a root; refuses a root that is none of the callers.
    #[track_caller]
    pub(super) fn begin_at(p: &mut Proc, kind: Collective, root: usize) -> Call {
        check_root(p, root);
        Call::begin(p, kind)
    }

    /// The value of the root, on the root, which must give one; `None` on the other processors.
    #[track_caller]
    pub(super) fn given<T>(&self, p: &mut Proc, root: usize, value: Option<T>, what: &str) -> Option<T> {
        if self.id != root {
            return None;
        }
        if value.is_none() {
            p.misused(format!("is the root of {} and gave no {what}", self.kind.name()));
        }
        value
    }

    /// Refuses values unless there is one for each processor.
    #[track_caller]
    pub(super) fn check_count<T>(&self, p: &mut Proc, values: &[T], to: &str) {
        let (n, P, kind) = (values.len(), self.P, self.kind.name());
        if n != P {
            p.misused(format!("gave {n} values to {kind} {to} {P} processors; give one for each"));
        }
    }

    /// The tag of this call's messages in a step.
    pub(super) fn tag<T>(&self, step: usize) -> Tag<T> {
        let group = self.group.as_ref().map_or(0, |acting| acting.number);
        Tag::of(RawTag::collective(self.kind, group, self.number, step), None)
    }

    /// The processor with a rank.
    pub(super) fn processor(&self, rank: usize) -> usize {
        self.group.as_ref().map_or(rank, |acting| acting.group.members()[rank])
    }

    /// The rank of a processor that has sent a message of this call.
    pub(super) fn rank(&self, processor: usize) -> usize {
        self.group.as_ref().and_then(|acting| acting.group.rank(processor)).unwrap_or(processor)
    }

    #[track_caller]
    pub(super) fn send<T: Payload>(&self, p: &mut Proc, to: usize, step: usize, value: T) {
        p.send(self.processor(to), self.tag(step), value);
    }

    #[track_caller]
    pub(super) fn recv<T: Payload>(&self, p: &mut Proc, from: usize, step: usize) -> T {
        p.recv_from(self.processor(from), self.tag(step))
    }

    #[track_caller]
    pub(super) fn recv_any<T: Payload>(&self, p: &mut Proc, step: usize) -> (usize, T) {
        let (from, value) = p.recv(self.tag(step));
        (self.rank(from), value)
    }

    /// Exchanges values with a processor. Where they may have to wait for their receivers (LogGPS), neither waits for the
    /// other to receive; else the message goes first, even if the other one is there.
    #[track_caller]
    pub(super) fn swap<T: Payload>(&self, p: &mut Proc, other: usize, value: T, step: usize) -> T {
        if p.may_be_synchronous(longest::<T>(p)) {
            return self.send_recv(p, other, value, other, step);
        }
        self.send(p, other, step, value);
        self.recv(p, other, step)
    }

    /// Sends a value to one processor and receives one from another.
    #[track_caller]
    pub(super) fn send_recv<T: Payload>(
        &self,
        p: &mut Proc,
        to: usize,
        value: T,
        from: usize,
        step: usize,
    ) -> T {
        p.send_recv(self.processor(to), value, self.processor(from), self.tag(step))
    }
}

/// The processor's rank among those with whom it acts, and how many these are.
pub(super) fn place(p: &Proc) -> (usize, usize) {
    match p.acting() {
        None => (p.id(), p.p()),
        Some(Acting { group, rank, .. }) => (*rank, group.members().len()),
    }
}

/// Refuses a root that is none of the callers.
#[track_caller]
pub(super) fn check_root(p: &mut Proc, root: usize) {
    let Some(Acting { group, .. }) = p.acting() else { return p.check(root, 0) };
    let last = group.members().len() - 1;
    if root > last {
        let why = format!("named rank {root} in {group}, and there are 0 to {last}");
        p.misused(why);
    }
}

/// Combines what two ranks have, as so many units of work: what the lower one has is on the left.
pub(super) fn combine<T>(
    p: &mut Proc,
    units: u64,
    (one, a): (usize, T),
    (other, b): (usize, T),
    op: impl FnOnce(T, T) -> T,
) -> T {
    let (left, right) = if one < other { (a, b) } else { (b, a) };
    p.work("combine", units, || op(left, right))
}

/// Some elements of a vector.
#[derive(Clone)]
pub(super) struct Piece<T> {
    /// How many pieces of the vector come before it: pieces may overtake each other.
    pub number: usize,
    /// The elements; a message counts for these.
    pub elements: Vec<T>,
}

impl<T: Payload> Payload for Piece<T> {
    fn bytes(&self) -> usize {
        self.elements.bytes()
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.number.pack(to);
        self.elements.pack(to);
    }

    fn unpack(from: &mut Unpack) -> Option<Piece<T>> {
        Some(Piece { number: usize::unpack(from)?, elements: Vec::unpack(from)? })
    }
}
