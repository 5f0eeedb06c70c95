//! The making of communicators.

use std::sync::Arc;

use loggp::{Proc, Tag};
use loggp_goal::patterns::AgreementStep;
use loggp_model::message::RawTag;
use loggp_mpi_trace::call::{CollectiveKind, Counts, RequestId, Root};
use loggp_mpi_trace::recording::post::{Post, PostKind};
use loggp_mpi_trace::schedule::{Collective, KnownCommunicator, agreement};

use crate::background::Background;
use crate::blocking;
use crate::collectives::write_plan;
use crate::pending::{Open, Pending};
use crate::plan::{Blank, BlankTag, Plan};
use crate::rank::Rank;
use crate::reply::Reply;

impl Rank<'_> {
    /// Begins an immediate duplicate: all that take part tell each other that they have.
    pub(crate) fn duplicate(&mut self, p: &mut Proc, parent: u32, request: RequestId) -> Reply {
        let (kind, word) = (CollectiveKind::Allgather, Counts::Same(4));
        let of = self.communicator(parent).clone();
        let plan = match of.remote {
            None => self.plan(p, (kind, parent, Root::None), (&word, &word), true),
            Some(_) => self.plan_of_both(p, of, kind, &word),
        };
        let (id, tag) = self.next_collective(parent);
        let number = self.duplicates;
        self.duplicates += 1;
        self.shared.duplicates.lock().entry(id).or_default().ranks.push((self.id as u32, number));
        let open =
            Open { id, communicator: parent, kind, root: Root::None, received: word, duplicates: true };
        self.backgrounds.insert(id, Background::begin(p, &plan, tag));
        self.requests.insert(request, Pending::Collective(Box::new(open)));
        Reply::NOTHING
    }

    /// Returns the messages of a collective among the ranks of both groups.
    fn plan_of_both(
        &self,
        p: &mut Proc,
        mut of: KnownCommunicator,
        kind: CollectiveKind,
        word: &Counts,
    ) -> Arc<Plan> {
        of.members.extend(of.remote.take().into_iter().flatten());
        of.members.sort_unstable();
        of.me = of.members.iter().position(|rank| *rank as usize == self.id).unwrap_or(0);
        let what = Collective {
            kind,
            communicator: &of,
            root: Root::None,
            sent: word,
            received: word,
            tag: 0,
            is_immediate: true,
            table: self.shared.settings.table,
            combine: self.shared.settings.combine,
        };
        let plan = write_plan(&what, self.shared.ranks, self.id);
        Arc::new(plan.unwrap_or_else(|why| p.fail_with(format!("rank {}: MPI_Comm_idup: {why}", self.id))))
    }

    /// Lets all ranks make an immediate duplicate, unless they have: all have begun it by now, and are in some call or come
    /// to one.
    pub(crate) fn make_duplicate(&mut self, p: &mut Proc, open: &Open) {
        let _alone = self.shared.making.lock();
        let mut duplicates = self.shared.duplicates.lock();
        let duplication = duplicates.entry(open.id).or_default();
        let slot = |rank: u32| self.shared.segment.slot(rank as usize);
        if !duplication.is_made {
            duplication.is_made = true;
            duplication.ranks.iter().for_each(|(rank, number)| slot(*rank).send_on_errand(*number));
            for (rank, _) in &duplication.ranks {
                let waited = self.shared.watch.wait_for_errand(slot(*rank), *rank as usize);
                waited.unwrap_or_else(|why| p.fail_with(why));
            }
        }
        duplication.left += 1;
        if duplication.left == duplication.ranks.len() {
            duplicates.remove(&open.id);
        }
    }

    /// Makes a communicator: all that take part agree, as their MPI does, and once the first one knows of all, all make the real
    /// call together.
    pub(crate) fn make_communicator(&mut self, p: &mut Proc, parent: u32, of: Option<Vec<u32>>) -> Reply {
        let is_of_some = of.is_some();
        let ranks = match of {
            Some(ranks) => ranks,
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
        for step in agreement(self.shared.settings.table) {
            match is_of_some {
                true => self.gather_among(p, &key),
                false => self.agree(p, parent, step),
            }
        }
        {
            let mut makings = self.shared.making.lock();
            let making = makings.entry(key.clone()).or_default();
            if !making.is_made {
                making.is_made = true;
                self.make_together(p, &key.0);
            }
            making.left += 1;
            if making.left == key.0.len() {
                makings.remove(&key);
            }
        }
        let (posts, _) = self.link.next(p);
        match posts.last() {
            Some(Post { kind: PostKind::Made(_), .. }) => Reply::NOTHING,
            Some(Post { kind: PostKind::Refused(why), .. }) => self.refuse(p, why),
            Some(Post { kind: PostKind::Finding(kind, why), .. }) => {
                p.fail_with(format!("{kind}: {}", self.found(why)))
            }
            _ => p.fail_with(format!("rank {} did not make its communicator", self.id)),
        }
    }

    /// Makes a collective without data, by which ranks agree.
    pub(crate) fn agree(&mut self, p: &mut Proc, communicator: u32, step: &AgreementStep) {
        let AgreementStep { kind, is_immediate, bytes } = *step;
        let each = Counts::Same(bytes);
        let plan = self.plan(p, (kind, communicator, Root::None), (&each, &each), is_immediate);
        let (_, tag) = self.next_collective(communicator);
        match is_immediate {
            true => {
                let begun = Background::begin(p, &plan, tag);
                self.backgrounds.finish(p, begun);
            }
            false => blocking::run(&plan, p, tag, &mut self.backgrounds),
        }
    }

    /// Lets all ranks that take part make the real call, and waits until all have.
    pub(crate) fn make_together(&self, p: &mut Proc, ranks: &[u32]) {
        let now = p.local_time().as_ps();
        let slot = |rank: &u32| self.shared.segment.slot(*rank as usize);
        ranks.iter().for_each(|rank| slot(rank).answer(now, &[], &[], 0));
        for rank in ranks {
            self.shared.watch.wait(slot(rank), *rank as usize).unwrap_or_else(|why| p.fail_with(why));
        }
    }

    /// Exchanges a word among ranks that have no communicator yet.
    pub(crate) fn gather_among(&mut self, p: &mut Proc, key: &(Vec<u32>, u64)) {
        let me = key.0.iter().position(|rank| *rank as usize == self.id).unwrap_or(0);
        // The first of them gathers, and tells all. Others may make a communicator with it, which have called for that by now:
        // so it asks these.
        let tag = RawTag::scoped(RawTag::LAST_SCOPE - key.0[0], Some(key.1 as u32 & (u32::MAX >> 1)));
        let tag: BlankTag = Tag::from_raw(tag, None);
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
    }
}
