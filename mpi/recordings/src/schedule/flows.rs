//! How many messages went from whom to whom, and what their receivers took: both must be the same.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::collective_counts::CollectiveCounts;
use super::knowledge::{Channel, Fate, Fates, Knowledge};
use super::tags::{AskedTags, TagTable};
use crate::call::RequestId;
use crate::error::ProgramError;

/// What went through a channel.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    sent: u32,
    /// Receives that were posted.
    posted: u32,
    /// Receives that took their message.
    taken: u32,
    sent_bytes: u64,
    /// The bytes of messages that were taken.
    taken_bytes: u64,
    /// Receives that did not say how long their messages were.
    unknown_lengths: u32,
}

/// What went through all channels.
#[derive(Debug, Default)]
pub(super) struct Flows {
    channels: FxHashMap<Channel, Flow>,
    /// The outcomes of requests that were not known when they were posted.
    pub fates: Fates,
    /// The tags with which ranks receive.
    pub tags: AskedTags,
    /// Receives that did not complete.
    given_up: FxHashMap<Channel, Vec<RequestId>>,
    /// Ranks with receives of which it is not known what they took.
    open: FxHashSet<u32>,
    /// Synchronous sends, by their numbers in the channel.
    synchronous: FxHashMap<Channel, Vec<u32>>,
    /// The collectives that ranks made.
    pub collectives: CollectiveCounts,
    /// True if a rank ended before `MPI_Finalize`.
    pub is_cut: bool,
}

impl Flows {
    /// Counts a message, and returns its number in the channel.
    #[inline]
    pub(super) fn send(&mut self, channel: Channel, bytes: u64) -> u32 {
        let flow = self.channels.entry(channel).or_default();
        flow.sent += 1;
        flow.sent_bytes = flow.sent_bytes.wrapping_add(bytes);
        flow.sent - 1
    }

    /// Notes that a message is of a synchronous send.
    pub(super) fn note_synchronous(&mut self, channel: Channel, number: u32) {
        self.synchronous.entry(channel).or_default().push(number);
    }

    /// Counts a receive, and returns the number of its message in the channel.
    #[inline]
    pub(super) fn post(&mut self, channel: Channel) -> u32 {
        let flow = self.channels.entry(channel).or_default();
        flow.posted += 1;
        flow.posted - 1
    }

    /// Counts a receive as one that has its message, whose length may be known.
    #[inline]
    pub(super) fn take(&mut self, channel: Channel, bytes: Option<u64>) {
        let flow = self.channels.entry(channel).or_default();
        flow.taken += 1;
        match bytes {
            Some(bytes) => flow.taken_bytes = flow.taken_bytes.wrapping_add(bytes),
            None => flow.unknown_lengths += 1,
        }
    }

    /// Returns what came of requests, and where all receives are with any tag if nothing else says so: this must be known
    /// before what was sent is compared with what was received.
    pub(super) fn take_fates(&mut self) -> Knowledge {
        let one_tag = self.tags.one_tag();
        Knowledge { fates: std::mem::take(&mut self.fates), one_tag, ..Knowledge::default() }
    }

    /// Notes that a receive did not complete.
    pub(super) fn give_up(&mut self, channel: Channel, request: RequestId) {
        self.given_up.entry(channel).or_default().push(request);
    }

    /// Notes that it is not known what a receive of a rank takes.
    pub(super) fn note_open(&mut self, rank: u32) {
        self.open.insert(rank);
    }

    /// Compares what was sent with what was received. Adds what must be known to read the program again, and returns
    /// whether that is anything, and sentences about what does not fit. What cannot have happened is an error.
    pub(super) fn compare(
        mut self,
        tags: &TagTable,
        knowledge: &mut Knowledge,
    ) -> Result<(bool, Vec<String>), ProgramError> {
        let mut found = Differences::default();
        let mut channels: Vec<(Channel, Flow)> = self.channels.drain().collect();
        channels.retain(|((_, to, _), flow)| {
            (flow.sent != flow.posted || flow.sent_bytes != flow.taken_bytes) && !self.open.contains(to)
        });
        channels.sort_unstable_by_key(|(channel, _)| *channel);
        for (channel, flow) in channels {
            self.compare_channel(channel, flow, tags, &mut found, knowledge)?;
        }
        knowledge.collectives.extend(self.collectives.least(self.is_cut)?);
        // Where it is not known what a receive takes, nobody knows which one answers.
        knowledge.synchronous = self.synchronous;
        knowledge.synchronous.retain(|(_, to, _), _| !self.open.contains(to));
        let Knowledge { limits, synchronous, collectives, .. } = &knowledge;
        let is_new = !(limits.is_empty() && synchronous.is_empty() && collectives.is_empty());
        Ok((is_new, found.warnings(tags)))
    }

    /// Compares the ends of a channel that differ.
    fn compare_channel(
        &mut self,
        channel: Channel,
        flow: Flow,
        tags: &TagTable,
        found: &mut Differences,
        knowledge: &mut Knowledge,
    ) -> Result<(), ProgramError> {
        let (from, to, tag) = channel;
        if flow.taken > flow.sent && !self.is_cut {
            let (taken, sent, tag) = (flow.taken, flow.sent, tags.describe(tag));
            let why = format!(
                "it received {taken} messages of {tag} from rank {from}, which sent it {sent}; record all ranks of one \
                 run"
            );
            return Err(ProgramError::of_rank(to as usize, why));
        }
        if flow.sent != flow.posted {
            // Of receives that did not complete the last ones got no message.
            let mut given_up = self.given_up.remove(&channel).unwrap_or_default();
            given_up.sort_unstable_by_key(|request| Reverse(*request));
            given_up.truncate(flow.posted.saturating_sub(flow.sent) as usize);
            knowledge.fates.extend(given_up.iter().map(|request| ((to, *request), Fate::Nothing)));
            knowledge.limits.insert(channel, flow.sent.min(flow.posted));
            found.left += u64::from(flow.sent.saturating_sub(flow.posted));
            if flow.sent > flow.posted {
                found.first_left.get_or_insert(channel);
            }
            found.cut += u64::from(flow.taken.saturating_sub(flow.sent));
        } else if flow.taken == flow.sent && flow.unknown_lengths == 0 {
            found.other_lengths += 1;
            found.first_other_length.get_or_insert((channel, flow));
        }
        Ok(())
    }
}

/// The differences between what was sent and what was received.
#[derive(Debug, Default)]
struct Differences {
    /// Messages that nobody received.
    left: u64,
    first_left: Option<Channel>,
    /// Receives of messages that the recording does not have.
    cut: u64,
    /// Channels of which the ends counted different bytes.
    other_lengths: u64,
    first_other_length: Option<(Channel, Flow)>,
}

impl Differences {
    /// Returns a sentence for each kind of difference.
    fn warnings(self, tags: &TagTable) -> Vec<String> {
        let left = self.first_left.map(|(from, to, tag)| {
            let (count, tag) = (self.left, tags.describe(tag));
            format!(
                "{count} messages that nobody received are left out, the first from rank {from} to {to} with {tag}"
            )
        });
        let count = self.cut;
        let cut = (count > 0)
            .then(|| format!("{count} receives are left out: what was recorded of the sender ends before"));
        let other_lengths = self.first_other_length.map(|((from, to, tag), flow)| {
            let (count, sent, taken) = (self.other_lengths, flow.sent_bytes, flow.taken_bytes);
            let tag = tags.describe(tag);
            format!(
                "the lengths of messages differ at their two ends for {count} pairs of ranks and tags: rank {from} sent {sent} \
                 bytes with {tag}, and rank {to} received {taken}"
            )
        });
        [left, cut, other_lengths].into_iter().flatten().collect()
    }
}
