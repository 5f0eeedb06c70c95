//! The making of communicators.

use std::sync::Arc;

use loggp::{Proc, Tag};
use loggp_goal::patterns::AgreementStep;
use loggp_model::message::RawTag;
use loggp_mpi_trace::call::{CollectiveKind, Counts, RequestId, Root};
use loggp_mpi_trace::schedule::{RankCollective, agreement};

use crate::background::Background;
use crate::blocking;
use crate::collectives::write_plan;
use crate::pending::{Open, Pending};
use crate::plan::{Blank, BlankTag, CollectivePlan};
use crate::rank::EmulatedRank;
use crate::reply::{GivenParts, Reply};

/// By what ranks know a call that they make together: who they are, and how many they have made before.
type MakingKey = (Vec<u32>, u64);

impl EmulatedRank<'_> {
    /// Begins an immediate duplicate: all that take part tell each other that they have.
    pub(crate) fn duplicate(&mut self, p: &mut Proc, parent: u32, request: RequestId) -> Reply {
        let (kind, word) = (CollectiveKind::Allgather, Counts::Same(4));
        let plan = self.plan_of_all(p, parent, kind, &word, true);
        let (id, tag) = self.next_collective(parent);
        self.meet(id);
        let open =
            Open { id, communicator: parent, kind, root: Root::None, received: word, duplicates: true };
        self.backgrounds.insert(id, Background::begin(p, &plan, tag));
        self.requests.insert(request, Pending::Collective(Box::new(open)));
        Reply::NOTHING
    }

    /// Returns the messages of a collective of all ranks in a communicator: where it has two groups, of both.
    fn plan_of_all(
        &mut self,
        p: &mut Proc,
        communicator: u32,
        kind: CollectiveKind,
        each: &Counts,
        is_immediate: bool,
    ) -> Arc<CollectivePlan> {
        if self.communicator(communicator).remote.is_none() {
            return self.plan(p, (kind, communicator, Root::None), (each, each), is_immediate);
        }
        let mut of = self.communicator(communicator).clone();
        of.members.extend(of.remote.take().into_iter().flatten());
        of.members.sort_unstable();
        of.me = of.members.iter().position(|rank| *rank as usize == self.id).unwrap_or(0);
        let what = RankCollective {
            kind,
            communicator: &of,
            root: Root::None,
            sent: each,
            received: each,
            tag: 0,
            is_immediate,
            table: self.shared.settings.table,
            combine: self.shared.settings.combine,
        };
        let plan = write_plan(&what, self.shared.ranks, self.id);
        Arc::new(
            plan.unwrap_or_else(|why| p.fail_with(format!("rank {} makes a communicator: {why}", self.id))),
        )
    }

    /// Makes a call that ranks make together, such as one that makes a communicator: all that take part agree, as their MPI does.
    /// Each gets what all have given.
    pub(crate) fn call_together(
        &mut self,
        p: &mut Proc,
        parent: u32,
        of: Option<Vec<u32>>,
        own: &[u8],
    ) -> Reply {
        let key = self.give_part(parent, of.as_deref(), own);
        for step in agreement(self.shared.settings.table) {
            match of {
                Some(_) => self.gather_among(p, &key),
                None => self.agree(p, parent, step),
            }
        }
        self.take_parts(p, &key)
    }

    /// Makes a call on a file that its ranks make together: they wait for each other, as in a barrier. Each gets what all have given.
    pub(crate) fn call_on_file(&mut self, p: &mut Proc, communicator: u32, own: &[u8]) -> Reply {
        let key = self.give_part(communicator, None, own);
        self.agree(p, communicator, &AgreementStep::BARRIER);
        self.take_parts(p, &key)
    }

    /// Gives a part of what ranks make together, all of a communicator or some. Returns by what it is known.
    fn give_part(&mut self, parent: u32, of: Option<&[u32]>, own: &[u8]) -> MakingKey {
        let ranks = match of {
            Some(ranks) => ranks.to_vec(),
            None => {
                let of = self.communicator(parent);
                let mut ranks = of.members.clone();
                ranks.extend(of.remote.iter().flatten());
                ranks.sort_unstable();
                ranks
            }
        };
        let count = self.makings.entry(ranks.clone()).or_default();
        let key = (ranks, std::mem::replace(count, *count + 1));
        let mut makings = self.shared.making.lock();
        makings.entry(key.clone()).or_default().given.push((self.id as u32, own.into()));
        key
    }

    /// Takes the parts of all, which have called by now.
    fn take_parts(&mut self, p: &mut Proc, key: &MakingKey) -> Reply {
        let mut makings = self.shared.making.lock();
        let making = makings.entry(key.clone()).or_default();
        // The first one that knows of all puts together what they have given.
        let given = std::mem::take(&mut making.given);
        let parts = making.parts.get_or_insert_with(|| Arc::new(GivenParts::of(given))).clone();
        making.left += 1;
        if making.left == key.0.len() {
            makings.remove(key);
        }
        drop(makings);
        if parts.lengths.len() != key.0.len() {
            p.fail_with(format!("rank {} went on before all had called", self.id));
        }
        Reply::Parts(parts)
    }

    /// Makes a collective without data, by which ranks agree.
    pub(crate) fn agree(&mut self, p: &mut Proc, communicator: u32, step: &AgreementStep) {
        let AgreementStep { kind, is_immediate, bytes } = *step;
        let each = Counts::Same(bytes);
        let plan = self.plan_of_all(p, communicator, kind, &each, is_immediate);
        let (id, tag) = self.next_collective(communicator);
        self.meet(id);
        match is_immediate {
            true => {
                let begun = Background::begin(p, &plan, tag);
                self.backgrounds.finish(p, begun);
            }
            false => blocking::run(&plan, p, tag, &mut self.backgrounds),
        }
        let members = self.communicator(communicator).size();
        self.part(id, members);
    }

    /// Exchanges a word among ranks that have no communicator yet.
    pub(crate) fn gather_among(&mut self, p: &mut Proc, key: &MakingKey) {
        let me = key.0.iter().position(|rank| *rank as usize == self.id).unwrap_or(0);
        // The first of them gathers, and tells all. Others may make a communicator with it, which have called for that by now:
        // so it asks these.
        let tag = RawTag::scoped(RawTag::LAST_SCOPE - key.0[0], Some(key.1 as u32 & (u32::MAX >> 1)));
        let tag: BlankTag = Tag::from_raw(tag, None);
        let id = (u32::MAX - key.0[0], key.1);
        self.meet(id);
        if me == 0 {
            for rank in &key.0[1..] {
                self.backgrounds.receive(p, tag.from(*rank as usize));
            }
            for rank in &key.0[1..] {
                self.backgrounds.send(p, *rank as usize, (tag, Blank::word()), false);
            }
        } else {
            self.backgrounds.send(p, key.0[0] as usize, (tag, Blank::word()), false);
            self.backgrounds.receive(p, tag.from(key.0[0] as usize));
        }
        self.part(id, key.0.len());
    }
}
