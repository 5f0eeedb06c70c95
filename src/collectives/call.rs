//! One call of a collective: sends and receives by rank, and the checks that all collectives share.

use loggp_model::message::{Collective, Pack, Payload, RawTag, Tag, Unpack};

use crate::proc::{GroupMembership, Proc};

/// One call of a collective, on one processor.
pub(super) struct BegunCollective {
    pub kind: Collective,
    /// Number of collectives that the same callers, this group or all processors, called before.
    number: u32,
    /// The group that calls the collective, or `None` if all processors do.
    group: Option<GroupMembership>,
    /// The processor's rank among the callers, which is its number if all processors call.
    pub id: usize,
    pub P: usize,
}

impl BegunCollective {
    pub(super) fn begin(p: &mut Proc, kind: Collective) -> BegunCollective {
        let number = p.begin_collective();
        let (id, P) = rank_and_size(p);
        BegunCollective { kind, number, group: p.membership.clone(), id, P }
    }

    /// Begins a call that has a root. Refuses a root that is not among the callers.
    #[track_caller]
    pub(super) fn begin_with_root(p: &mut Proc, kind: Collective, root: usize) -> BegunCollective {
        check_root(p, root);
        BegunCollective::begin(p, kind)
    }

    /// Returns the given value on the root, which must give one, and `None` on the other processors.
    #[track_caller]
    pub(super) fn root_value<T>(&self, p: &mut Proc, root: usize, value: Option<T>, what: &str) -> Option<T> {
        if self.id != root {
            return None;
        }
        if value.is_none() {
            p.fail_misused(format!("is the root of {} and gave no {what}", self.kind.name()));
        }
        value
    }

    /// Refuses values unless there is one for each processor.
    #[track_caller]
    pub(super) fn check_count<T>(&self, p: &mut Proc, values: &[T], to: &str) {
        let (n, P, kind) = (values.len(), self.P, self.kind.name());
        if n != P {
            p.fail_misused(format!("gave {n} values to {kind} {to} {P} processors; give one for each"));
        }
    }

    /// Returns the tag of this call's messages in a step.
    pub(super) fn tag<T>(&self, step: usize) -> Tag<T> {
        let group = self.group.as_ref().map_or(0, |acting| acting.number);
        Tag::from_raw(RawTag::collective(self.kind, group, self.number, step), None)
    }

    /// Returns the processor with a rank.
    pub(super) fn processor(&self, rank: usize) -> usize {
        self.group.as_ref().map_or(rank, |acting| acting.group.members()[rank])
    }

    /// Returns the rank of a processor that sent a message of this call.
    pub(super) fn rank(&self, processor: usize) -> usize {
        self.group.as_ref().and_then(|acting| acting.group.rank(processor)).unwrap_or(processor)
    }

    #[track_caller]
    pub(super) fn send<T: Payload>(&self, p: &mut Proc, to: usize, step: usize, value: T) {
        p.send(self.processor(to), self.tag(step), value);
    }

    #[track_caller]
    pub(super) fn recv<T: Payload>(&self, p: &mut Proc, from: usize, step: usize) -> T {
        p.recv(self.tag(step).from(self.processor(from)))
    }

    #[track_caller]
    pub(super) fn recv_any<T: Payload>(&self, p: &mut Proc, step: usize) -> (usize, T) {
        let (from, value) = p.recv_with_sender(self.tag(step));
        (self.rank(from), value)
    }

    /// Exchanges values with a processor. Where messages may wait for their receivers (LogGPS), both send and
    /// receive at once, so that neither waits for the other to receive; otherwise this processor sends first
    /// and then receives.
    #[track_caller]
    pub(super) fn swap<T: Payload>(&self, p: &mut Proc, other: usize, value: T, step: usize) -> T {
        if p.setup.network.may_be_synchronous(max_words::<T>(p)) {
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
        p.send_recv(self.processor(to), self.processor(from), self.tag(step), value)
    }
}

/// Returns the processor's rank in the group in which it acts, and the size of that group.
pub(super) fn rank_and_size(p: &Proc) -> (usize, usize) {
    match &p.membership {
        None => (p.id(), p.P()),
        Some(GroupMembership { group, rank, .. }) => (*rank, group.members().len()),
    }
}

/// Returns an upper bound on the words of a message with one `T`, which depends only on the type, so that all
/// processors agree on whether a message may have to wait for its receiver (LogGPS).
pub(super) fn max_words<T: Payload>(p: &Proc) -> usize {
    T::SIZE.map_or(usize::MAX, |size| p.params().words(size))
}

/// Returns the words of a message of n values, by their type; one word each if values differ.
pub(super) fn words_of<T: Payload>(p: &Proc, n: usize) -> usize {
    T::SIZE.map_or(n, |size| p.params().words(n.saturating_mul(size)))
}

/// Refuses a root that is not among the callers.
#[track_caller]
pub(super) fn check_root(p: &mut Proc, root: usize) {
    let Some(GroupMembership { group, .. }) = &p.membership else { return p.check(root, 0) };
    let last = group.members().len() - 1;
    if root > last {
        let why = format!("named rank {root} in {group}, and there are 0 to {last}");
        p.fail_misused(why);
    }
}

/// Combines the values of two ranks in `units` units of work, with the value of the lower rank on the left.
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
pub(super) struct VectorPiece<T> {
    /// Number of pieces before this one in the vector: pieces may overtake each other.
    pub number: usize,
    pub elements: Vec<T>,
}

impl<T: Payload> Payload for VectorPiece<T> {
    fn bytes(&self) -> usize {
        self.elements.bytes()
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.number.pack(to);
        self.elements.pack(to);
    }

    fn unpack(from: &mut Unpack) -> Option<VectorPiece<T>> {
        Some(VectorPiece { number: usize::unpack(from)?, elements: Vec::unpack(from)? })
    }
}
