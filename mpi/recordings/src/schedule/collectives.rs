//! The messages of collectives.

use loggp_goal::patterns::{
    AgreementStep, CollectiveCall, CollectiveRules, CollectiveTable, Member, Prerequisite, Sizes, add_after,
    find_pattern, write_pattern,
};
use loggp_model::time::Time;
use loggp_schedule::{Operation, ScheduleBuilder, ScheduleError};

use super::communicators::KnownCommunicator;
use crate::call::{CollectiveKind, Counts, Root};

/// A collective of one rank.
pub struct RankCollective<'a> {
    pub kind: CollectiveKind,
    pub communicator: &'a KnownCommunicator,
    pub root: Root,
    pub sent: &'a Counts,
    pub received: &'a Counts,
    pub tag: u32,
    pub is_immediate: bool,
    /// Which algorithm is taken when; `None` if the usual patterns are.
    pub table: Option<&'static CollectiveTable>,
    /// The time that it takes to combine a byte.
    pub combine: Time,
}

/// Messages to or from ranks of the program, each with its length.
type Messages = Vec<(u32, u64)>;

/// Returns the collectives by which ranks agree on a new communicator; without a table they exchange a word.
pub fn agreement(table: Option<&'static CollectiveTable>) -> &'static [AgreementStep] {
    const WORD: AgreementStep =
        AgreementStep { kind: CollectiveKind::Allgather, is_immediate: false, bytes: 8 };
    table.map_or(&[WORD], CollectiveTable::agreement)
}

/// The pattern of a collective in which all ranks exchange equally much, or `None` for others.
fn pattern(kind: CollectiveKind) -> Option<&'static str> {
    use CollectiveKind::*;
    Some(match kind {
        Barrier | Allreduce => "dissemination",
        Bcast => "binomial-broadcast",
        Reduce => "binomial-reduce",
        Scan | Exscan => "ring",
        Gather => "binomial-gather",
        Scatter => "binomial-scatter",
        Allgather => "all-gather",
        Alltoall | ReduceScatterBlock => "all-to-all",
        _ => return None,
    })
}

impl RankCollective<'_> {
    /// Writes the operations, of which the first one gets the number `operations` in its rank. Returns the one that ends
    /// the collective, or `None` if this rank has nothing to do. An error is a sentence.
    pub fn write(
        &self,
        builder: &mut ScheduleBuilder,
        operations: u32,
        before: &[Prerequisite],
    ) -> Result<Option<u32>, String> {
        let KnownCommunicator { members, remote, .. } = self.communicator;
        let alone = members.len() == 1 && remote.is_none();
        if let (Some(table), None) = (self.table, remote) {
            return self.write_by_table(table, builder, before).map(Some);
        }
        if let (Some(pattern), None, false) = (pattern(self.kind), remote, alone) {
            let root = match self.root {
                Root::Rank(root) if (root as usize) < members.len() => root as usize,
                Root::Rank(root) => {
                    return Err(format!(
                        "a collective has root {root}, and {} ranks take part",
                        members.len()
                    ));
                }
                _ => 0,
            };
            return self
                .write_pattern(pattern, root, builder, operations, before)
                .map_err(|why| why.to_string());
        }
        if self.kind == CollectiveKind::Allgatherv && remote.is_none() && !alone {
            return self.write_ring(builder, before).map_err(|why| why.to_string());
        }
        let (sends, receives) =
            if let Some(remote) = remote { self.between_groups(remote)? } else { self.direct()? };
        self.write_direct(builder, before, (sends, receives)).map_err(|why| why.to_string())
    }

    /// Writes the operations of a pattern, and one that waits for all of them.
    fn write_pattern(
        &self,
        pattern: &str,
        root: usize,
        builder: &mut ScheduleBuilder,
        operations: u32,
        before: &[Prerequisite],
    ) -> Result<Option<u32>, ScheduleError> {
        let KnownCommunicator { members, me, .. } = self.communicator;
        let pattern = find_pattern(pattern).expect("it is a name of a pattern");
        let bytes = Sizes::Same(self.bytes());
        let call =
            CollectiveCall { root, sent: bytes, received: bytes, ..CollectiveCall::new(pattern.kinds[0]) };
        let member = Member { members, id: *me, tag: self.tag, before };
        write_pattern(pattern, builder, member, &call)?;
        let end = add_after(builder, Operation::Calc(Time::ZERO), before)?;
        (operations..end).try_for_each(|earlier| builder.require_done(end, earlier))?;
        Ok(Some(end))
    }

    /// Writes the operations of the algorithm that a table chooses.
    fn write_by_table(
        &self,
        table: &CollectiveTable,
        builder: &mut ScheduleBuilder,
        before: &[Prerequisite],
    ) -> Result<u32, String> {
        let KnownCommunicator { members, me, destinations, sources, .. } = self.communicator;
        let index = |rank: &u32| members.iter().position(|member| member == rank);
        let indices = |ranks: &[Option<u32>]| -> Vec<Option<usize>> {
            ranks.iter().map(|rank| rank.as_ref().and_then(index)).collect()
        };
        let (destinations, sources) = match self.kind.is_of_neighbors() {
            true => (indices(destinations), indices(sources)),
            false => (Vec::new(), Vec::new()),
        };
        let call = CollectiveCall {
            root: if let Root::Rank(root) = self.root { root as usize } else { 0 },
            sent: sizes(self.sent),
            received: sizes(self.received),
            is_immediate: self.is_immediate,
            destinations: &destinations,
            sources: &sources,
            ..CollectiveCall::new(self.kind)
        };
        let combine = |bytes: u64| Time::from_ps(self.combine.as_ps().saturating_mul(bytes as i64));
        let rules = CollectiveRules { table, combine: &combine };
        let member = Member { members, id: *me, tag: self.tag, before };
        rules.write(builder, member, &call).map_err(|why| why.to_string())
    }

    /// Returns the length of messages that are equally long.
    fn bytes(&self) -> u64 {
        match self.kind {
            CollectiveKind::Barrier => 1,
            _ => same(self.sent).max(same(self.received)),
        }
    }

    /// Returns the messages of a collective with counts, or of neighbours.
    fn direct(&self) -> Result<(Messages, Messages), String> {
        use CollectiveKind::*;
        let KnownCommunicator { members, me, destinations, sources, .. } = self.communicator;
        let others = |counts: &Counts| self.by_member(counts, members, Some(*me));
        Ok(match self.kind {
            Gatherv | Scatterv => {
                let Root::Rank(root) = self.root else { return Err("a collective lacks its root".into()) };
                let Some(root_rank) = members.get(root as usize).copied() else {
                    return Err(format!(
                        "a collective has root {root}, and {} ranks take part",
                        members.len()
                    ));
                };
                let one = |counts: &Counts| vec![(root_rank, same(counts))];
                match (self.kind == Gatherv, root as usize == *me) {
                    (true, true) => (Vec::new(), others(self.received)?),
                    (true, false) => (one(self.sent), Vec::new()),
                    (false, true) => (others(self.sent)?, Vec::new()),
                    (false, false) => (Vec::new(), one(self.received)),
                }
            }
            NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
            | NeighborAlltoallw => {
                (by_neighbour(self.sent, destinations)?, by_neighbour(self.received, sources)?)
            }
            _ => (others(self.sent)?, others(self.received)?),
        })
    }

    /// Returns the messages of a collective between two groups: those with a root go directly between it and the other
    /// group, and in the others everyone exchanges with everyone of the other group.
    fn between_groups(&self, remote: &[u32]) -> Result<(Messages, Messages), String> {
        use CollectiveKind::*;
        let is_from_root = matches!(self.kind, Bcast | Scatter | Scatterv);
        let least = u64::from(self.kind == Barrier);
        let at_least = |messages: Messages| messages.into_iter().map(|(to, n)| (to, n.max(least))).collect();
        Ok(match self.root {
            Root::Nobody => (Vec::new(), Vec::new()),
            Root::This if is_from_root => (self.by_member(self.sent, remote, None)?, Vec::new()),
            Root::This => (Vec::new(), self.by_member(self.received, remote, None)?),
            Root::Rank(root) => {
                let Some(root) = remote.get(root as usize) else {
                    return Err(format!(
                        "a collective has root {root}, and {} ranks are there",
                        remote.len()
                    ));
                };
                match is_from_root {
                    true => (Vec::new(), vec![(*root, same(self.received))]),
                    false => (vec![(*root, same(self.sent))], Vec::new()),
                }
            }
            // How the other group divides the vectors it alone knows: each part counts as the mean.
            Root::None if matches!(self.kind, ReduceScatter | ReduceScatterBlock) => {
                let own = self.communicator.members.len() as u64;
                let total = match self.sent {
                    Counts::Same(bytes) => bytes * own,
                    Counts::Each(each) => each.iter().sum(),
                };
                let parts =
                    |receivers: u64| remote.iter().map(|rank| (*rank, total.div_ceil(receivers))).collect();
                (parts(remote.len() as u64), parts(own))
            }
            Root::None => (
                at_least(self.by_member(self.sent, remote, None)?),
                at_least(self.by_member(self.received, remote, None)?),
            ),
        })
    }

    /// Returns the messages to or from members, beginning behind `me`, which itself has none.
    fn by_member(&self, counts: &Counts, members: &[u32], me: Option<usize>) -> Result<Messages, String> {
        let n = members.len();
        if let Counts::Each(each) = counts
            && each.len() != n
        {
            return Err(format!("a collective has {} counts, and {n} ranks take part", each.len()));
        }
        let count = |index: usize| match counts {
            Counts::Same(bytes) => *bytes,
            Counts::Each(each) => each[index],
        };
        let first = me.map_or(0, |me| me + 1);
        let indices = (first..first + n - usize::from(me.is_some())).map(|index| index % n);
        Ok(indices.map(|index| (members[index], count(index))).collect())
    }

    /// Writes messages that go all at once. Those without bytes are not sent.
    fn write_direct(
        &self,
        builder: &mut ScheduleBuilder,
        before: &[Prerequisite],
        (sends, receives): (Messages, Messages),
    ) -> Result<Option<u32>, ScheduleError> {
        let mut all = Vec::new();
        for (from, bytes) in receives.into_iter().filter(|(_, bytes)| *bytes > 0) {
            let receive = Operation::Recv { from: Some(from), bytes, tag: Some(self.tag) };
            all.push((add_after(builder, receive, before)?, false));
        }
        for (to, bytes) in sends.into_iter().filter(|(_, bytes)| *bytes > 0) {
            all.push((add_after(builder, Operation::Send { to, bytes, tag: self.tag }, before)?, false));
        }
        match all.is_empty() {
            true => Ok(None),
            false => add_after(builder, Operation::Calc(Time::ZERO), &all).map(Some),
        }
    }

    /// Writes an all-gather in which everyone passes on to the next what came from the one before.
    fn write_ring(
        &self,
        builder: &mut ScheduleBuilder,
        before: &[Prerequisite],
    ) -> Result<Option<u32>, ScheduleError> {
        let KnownCommunicator { members, me, .. } = self.communicator;
        let (n, me) = (members.len(), *me);
        let count = |index: usize| match self.received {
            Counts::Same(bytes) => *bytes,
            Counts::Each(each) => each.get(index).copied().unwrap_or_default(),
        };
        let (next, last) = (members[(me + 1) % n], members[(me + n - 1) % n]);
        let (mut all, mut came): (Vec<Prerequisite>, _) = (Vec::new(), before.to_vec());
        for step in 0..n - 1 {
            let (mine, theirs) = (count((me + n - step) % n), count((me + 2 * n - step - 1) % n));
            if mine > 0 {
                let send = Operation::Send { to: next, bytes: mine, tag: self.tag };
                all.push((add_after(builder, send, &came)?, false));
            }
            if theirs > 0 {
                let receive = Operation::Recv { from: Some(last), bytes: theirs, tag: Some(self.tag) };
                came = vec![(add_after(builder, receive, before)?, false)];
                all.extend(&came);
            }
        }
        match all.is_empty() {
            true => Ok(None),
            false => add_after(builder, Operation::Calc(Time::ZERO), &all).map(Some),
        }
    }
}

fn sizes(counts: &Counts) -> Sizes<'_> {
    match counts {
        Counts::Same(bytes) => Sizes::Same(*bytes),
        Counts::Each(each) => Sizes::Each(each),
    }
}

/// Returns a count that is the same for all.
fn same(counts: &Counts) -> u64 {
    match counts {
        Counts::Same(bytes) => *bytes,
        Counts::Each(each) => each.iter().copied().max().unwrap_or_default(),
    }
}

/// Returns the messages to or from neighbours.
fn by_neighbour(counts: &Counts, neighbours: &[Option<u32>]) -> Result<Messages, String> {
    if let Counts::Each(each) = counts
        && each.len() != neighbours.len()
    {
        return Err(format!(
            "a collective has {} counts, and the rank has {} neighbours",
            each.len(),
            neighbours.len()
        ));
    }
    let count = |index: usize| match counts {
        Counts::Same(bytes) => *bytes,
        Counts::Each(each) => each[index],
    };
    let there = neighbours.iter().enumerate();
    Ok(there.filter_map(|(index, rank)| rank.map(|rank| (rank, count(index)))).collect())
}
