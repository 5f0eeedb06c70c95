//! Collectives: their messages by the plan, and their data from the board.

use std::sync::Arc;

use loggp::{Proc, Tag};
use loggp_goal::patterns::AgreementStep;
use loggp_model::message::RawTag;
use loggp_mpi_trace::call::{CollectiveKind, Counts, RequestId, Root};
use loggp_mpi_trace::schedule::RankCollective;
use loggp_schedule::ScheduleBuilder;

use crate::background::Background;
use crate::blocking;
use crate::board::{CollectiveId, Contribution, Form, Manner, Taken, data_of};
use crate::fault::FaultKind;
use crate::pending::{Open, Pending};
use crate::plan::{Blank, BlankTag, CollectivePlan, PlanKey};
use crate::rank::EmulatedRank;
use crate::reply::Reply;

impl EmulatedRank<'_> {
    /// Makes a collective.
    pub(crate) fn collective(
        &mut self,
        p: &mut Proc,
        (kind, communicator, root): (CollectiveKind, u32, Root),
        (sent, received): (Counts, Counts),
        request: Option<RequestId>,
        data: &mut &[u8],
    ) -> Reply {
        let plan = self.plan(p, (kind, communicator, root), (&sent, &received), request.is_some());
        let (id, tag) = self.next_collective(communicator);
        let bytes = self.contributed(kind, communicator, root, &sent);
        let of = self.communicator(communicator);
        let destinations = if kind.is_of_neighbors() { of.destinations.clone() } else { Vec::new() };
        let laid = Contribution { data: EmulatedRank::take_data(data, bytes), counts: sent, destinations };
        let call = self.last_call();
        let is_immediate = request.is_some();
        let members = self.communicator(communicator).size();
        let (data, operation) = (data_of(&self.types, &laid.counts, &received), self.types.operation);
        let manner = Manner { kind, is_immediate, root, members, data, operation, rank: self.id, call };
        if let Err(fault) = self.shared.board.lay(id, laid, manner) {
            self.fail(p, fault);
        }
        self.meet(id);
        let open = Open { id, communicator, kind, root, received, duplicates: false };
        match request {
            None => {
                if self.shared.settings.checks.is_some_and(|checks| checks.synchronizes) {
                    self.agree(p, communicator, &AgreementStep::BARRIER);
                }
                blocking::run(&plan, p, tag, &mut self.backgrounds);
                Reply::Collective(self.take(p, &open))
            }
            Some(request) => {
                self.backgrounds.insert(id, Background::begin(p, &plan, tag));
                self.requests.insert(request, Pending::Collective(Box::new(open)));
                Reply::NOTHING
            }
        }
    }

    /// Takes what the rank gets of a collective whose messages are through.
    pub(crate) fn take(&mut self, p: &mut Proc, open: &Open) -> Taken {
        let shared = self.shared;
        let members = self.communicator(open.communicator).size();
        self.part(open.id, members);
        let communicator = self.communicator(open.communicator);
        let taken = shared.board.take(open.id, open.kind, communicator, open.root);
        let asked = |index: usize| match &open.received {
            Counts::Same(bytes) => *bytes,
            Counts::Each(each) => each.get(index).copied().unwrap_or(0),
        };
        let first = taken.parts().next().map_or(0, <[u8]>::len);
        let differs = |(index, part): (usize, &[u8])| match taken.form {
            // A neighbour that is nobody sends nothing.
            Form::Parts if part.is_empty() && open.kind.is_of_neighbors() => false,
            Form::Parts => part.len() as u64 != asked(index),
            Form::Combine => part.len() != first,
            Form::Nothing => false,
        };
        if let Some(index) = taken.parts().enumerate().position(differs) {
            let (name, id) = (open.kind.name(), self.id);
            let lengths = (taken.parts().nth(index).map_or(0, <[u8]>::len), asked(index));
            let why = match taken.form {
                Form::Parts => format!(
                    "rank {id} expects {} bytes of a part of MPI's {name} that has {}",
                    lengths.1, lengths.0
                ),
                _ => format!("rank {id} combines {first} bytes with {} in MPI's {name}", lengths.0),
            };
            self.fail(p, (FaultKind::ParameterMatching, format!("{why}; all ranks name the same counts")));
        }
        taken
    }

    /// Returns the bytes of what a rank contributes.
    pub(crate) fn contributed(
        &mut self,
        kind: CollectiveKind,
        communicator: u32,
        root: Root,
        sent: &Counts,
    ) -> u64 {
        use CollectiveKind::*;
        let of = self.communicator(communicator);
        let is_root = match root {
            Root::Rank(root) => of.remote.is_none() && root as usize == of.me,
            Root::This => true,
            Root::None | Root::Nobody => false,
        };
        let peers = of.remote.as_ref().unwrap_or(&of.members).len() as u64;
        let all = |n: u64| match sent {
            Counts::Same(bytes) => bytes * n,
            Counts::Each(each) => each.iter().sum(),
        };
        match kind {
            Barrier => 0,
            Bcast | Scatter | Scatterv if !is_root => 0,
            Scatter | Scatterv | Alltoall | Alltoallv | Alltoallw => all(peers),
            ReduceScatter | ReduceScatterBlock => all(of.members.len() as u64),
            NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => all(of.destinations.len() as u64),
            _ => all(1),
        }
    }

    /// Numbers the communicator's next collective: by its start, or a persistent one by the call that made it and its starts
    /// so far. Returns its identity, and the tag of its messages.
    pub(crate) fn next_collective(&mut self, communicator: u32) -> (CollectiveId, BlankTag) {
        const PERSISTENT: u32 = 1 << 30;
        let of = self.communicators.get(communicator, self.id).expect("the reader of posts knows it");
        let (number, tag) = match self.persistent {
            Some(made) => {
                let starts = self.starts.entry((of.number, made)).or_default();
                let start = std::mem::replace(starts, *starts + 1);
                let number = u64::from(PERSISTENT) << 32 | made << 32 | (start & u64::from(u32::MAX));
                (number, PERSISTENT | (made as u32) << 12 & (PERSISTENT - 1) | start as u32 & 0xfff)
            }
            None => {
                let number = of.collectives;
                of.collectives += 1;
                (number, number as u32 & (PERSISTENT - 1))
            }
        };
        let tag = RawTag::scoped(2 * of.number + 1, Some(tag));
        ((of.number, number), Tag::<Blank>::from_raw(tag, None))
    }

    /// Returns the messages of a collective at this rank.
    pub(crate) fn plan(
        &mut self,
        p: &mut Proc,
        (kind, communicator, root): (CollectiveKind, u32, Root),
        (sent, received): (&Counts, &Counts),
        is_immediate: bool,
    ) -> Arc<CollectivePlan> {
        let list = |counts: &Counts| match counts {
            Counts::Same(bytes) => vec![*bytes],
            Counts::Each(each) => each.iter().copied().chain([u64::MAX]).collect(),
        };
        let root_number = if let Root::Rank(root) = root { Some(root) } else { None };
        let counts = [list(sent), list(received)];
        let key = PlanKey { kind, communicator, root: root_number, counts, is_immediate };
        let is_kept = !matches!(root, Root::This | Root::Nobody);
        if let Some(plan) = self.plans.get(&key).filter(|_| is_kept) {
            return plan.clone();
        }
        let settings = self.shared.settings;
        let (ranks, id) = (self.shared.ranks, self.id);
        let with = self.communicator(communicator);
        let what = RankCollective {
            kind,
            communicator: with,
            root,
            sent,
            received,
            tag: 0,
            is_immediate,
            table: settings.table,
            combine: settings.combine,
        };
        let plan = match write_plan(&what, ranks, id) {
            Ok(plan) => Arc::new(plan),
            Err(why) => p.fail_with(format!("rank {id}: MPI_{}: {why}", kind.name())),
        };
        if is_kept {
            self.plans.insert(key, plan.clone());
        }
        plan
    }
}

/// Returns a rank's part in a collective.
pub(crate) fn write_plan(what: &RankCollective, ranks: usize, rank: usize) -> Result<CollectivePlan, String> {
    let is_alone = what.communicator.members.len() == 1 && what.communicator.remote.is_none();
    let mut builder = ScheduleBuilder::new(ranks).map_err(|why| why.to_string())?;
    for earlier in 0..=rank {
        builder.begin_rank(earlier).map_err(|why| why.to_string())?;
    }
    if !is_alone {
        what.write(&mut builder, 0, &[])?;
    }
    let schedule = builder.build().map_err(|why| why.to_string())?;
    Ok(CollectivePlan::of_rank(&schedule, rank))
}
