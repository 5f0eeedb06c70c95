//! How many messages went from whom to whom, and what their receivers took: both must be the same.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::tags::TagTable;
use crate::call::{Envelope, RequestId};
use crate::error::ProgramError;

/// The sender, the receiver and the schedule's tag of messages.
pub type Channel = (u32, u32, u32);

/// The outcome of a request that only a later call tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A receive took this message.
    Took(Envelope),
    /// It was cancelled, or did not complete.
    Nothing,
}

/// The outcomes of requests, by their ranks and numbers.
pub type Fates = FxHashMap<(u32, RequestId), Fate>;

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
pub struct Flows {
    channels: FxHashMap<Channel, Flow>,
    /// The outcomes of requests that were not known when they were posted.
    pub fates: Fates,
    /// The ranks, and the numbers of their communicators, on which they receive with any tag and with certain ones, where
    /// it is not known what receives took.
    tags: FxHashMap<(u32, u32), TagsAsked>,
    /// Receives that did not complete.
    given_up: FxHashMap<Channel, Vec<RequestId>>,
    /// Ranks with receives of which it is not known what they took.
    open: FxHashSet<u32>,
    /// Synchronous sends, by their numbers in the channel.
    synchronous: FxHashMap<Channel, Vec<u32>>,
    /// How many collectives the ranks of a communicator made, and a hash of their kinds and roots, as the first rank
    /// had them; and the least that a rank had.
    collectives: FxHashMap<u32, Collectives>,
    /// True if a rank ended before `MPI_Finalize`.
    pub is_cut: bool,
}

/// With which tags a rank receives.
#[derive(Clone, Copy, Debug, Default)]
struct TagsAsked {
    any: bool,
    certain: bool,
}

#[derive(Clone, Copy, Debug)]
struct Collectives {
    first: (u32, u64, u64),
    least: u64,
    /// A rank that made others.
    odd: Option<(u32, u64)>,
}

/// The facts about all ranks without which the schedule is not right. Earlier readings of the calls find
/// these facts.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// The outcomes of requests.
    pub fates: Fates,
    /// Ranks and numbers of their communicators on which they receive with any tag only.
    pub one_tag: FxHashSet<(u32, u32)>,
    /// Channels in which not all messages were received, with the number that were.
    pub limits: FxHashMap<Channel, u32>,
    /// Synchronous sends, by their numbers in the channel.
    pub synchronous: FxHashMap<Channel, Vec<u32>>,
    /// Communicators of which not all ranks made all collectives, with the number that all made.
    pub collectives: FxHashMap<u32, u64>,
}

impl Knowledge {
    /// Returns whether a rank receives on a communicator with any tag only, so that tags tell nothing apart.
    #[inline]
    pub fn has_one_tag(&self, rank: u32, communicator: u32) -> bool {
        !self.one_tag.is_empty() && self.one_tag.contains(&(rank, communicator))
    }

    /// Returns whether a channel has fewer messages than this.
    #[inline]
    pub fn is_beyond(&self, channel: Channel, number: u32) -> bool {
        !self.limits.is_empty() && self.limits.get(&channel).is_some_and(|limit| number >= *limit)
    }

    /// Returns whether a message is of a synchronous send.
    #[inline]
    pub fn is_synchronous(&self, channel: Channel, number: u32) -> bool {
        !self.synchronous.is_empty()
            && self.synchronous.get(&channel).is_some_and(|all| all.binary_search(&number).is_ok())
    }
}

impl Flows {
    /// Counts a message, and returns its number in the channel.
    #[inline]
    pub fn send(&mut self, channel: Channel, bytes: u64) -> u32 {
        let flow = self.channels.entry(channel).or_default();
        flow.sent += 1;
        flow.sent_bytes = flow.sent_bytes.wrapping_add(bytes);
        flow.sent - 1
    }

    /// Notes that a message is of a synchronous send.
    pub fn note_synchronous(&mut self, channel: Channel, number: u32) {
        self.synchronous.entry(channel).or_default().push(number);
    }

    /// Counts a receive, and returns the number of its message in the channel.
    #[inline]
    pub fn post(&mut self, channel: Channel) -> u32 {
        let flow = self.channels.entry(channel).or_default();
        flow.posted += 1;
        flow.posted - 1
    }

    /// Counts a receive as one that has its message, whose length may be known.
    #[inline]
    pub fn take(&mut self, channel: Channel, bytes: Option<u64>) {
        let flow = self.channels.entry(channel).or_default();
        flow.taken += 1;
        match bytes {
            Some(bytes) => flow.taken_bytes = flow.taken_bytes.wrapping_add(bytes),
            None => flow.unknown_lengths += 1,
        }
    }

    /// Notes with which tag, or with any, a rank receives on a communicator.
    pub fn note_tag(&mut self, rank: u32, communicator: u32, tag: Option<i32>) {
        let asked = self.tags.entry((rank, communicator)).or_default();
        asked.any |= tag.is_none();
        asked.certain |= tag.is_some();
    }

    /// Returns what came of requests, and where all receives are with any tag, if nothing else says it: this must be known
    /// before what was sent is compared with what was received.
    pub fn take_fates(&mut self) -> Knowledge {
        let all = std::mem::take(&mut self.tags).into_iter();
        let one_tag = all.filter(|(_, asked)| asked.any && !asked.certain).map(|(at, _)| at).collect();
        Knowledge { fates: std::mem::take(&mut self.fates), one_tag, ..Knowledge::default() }
    }

    /// Notes that a receive did not complete.
    pub fn give_up(&mut self, channel: Channel, request: RequestId) {
        self.given_up.entry(channel).or_default().push(request);
    }

    /// Notes that it is not known what a receive of a rank takes.
    pub fn note_open(&mut self, rank: u32) {
        self.open.insert(rank);
    }

    /// Counts the collectives that a rank made on a communicator.
    pub fn add_collectives(&mut self, communicator: u32, rank: u32, count: u64, hash: u64) {
        let first = Collectives { first: (rank, count, hash), least: count, odd: None };
        let all = self.collectives.entry(communicator).or_insert(first);
        all.least = all.least.min(count);
        if (all.first.1, all.first.2) != (count, hash) {
            all.odd.get_or_insert((rank, count));
        }
    }

    /// Compares what was sent with what was received. Adds what must be known to read the program again, and returns
    /// whether that is anything, and sentences about what does not fit. What cannot have happened is an error.
    pub fn compare(
        mut self,
        tags: &TagTable,
        knowledge: &mut Knowledge,
    ) -> Result<(bool, Vec<String>), ProgramError> {
        let (mut left, mut cut, mut other_lengths) = ((0u64, None), 0u64, (0u64, None));
        let mut channels: Vec<(Channel, Flow)> = self.channels.into_iter().collect();
        channels.retain(|(_, flow)| flow.sent != flow.posted || flow.sent_bytes != flow.taken_bytes);
        channels.sort_unstable_by_key(|(channel, _)| *channel);
        for (channel, flow) in channels {
            let (from, to, tag) = channel;
            if self.open.contains(&to) {
                continue;
            }
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
                left.0 += u64::from(flow.sent.saturating_sub(flow.posted));
                if flow.sent > flow.posted {
                    left.1.get_or_insert(channel);
                }
                cut += u64::from(flow.taken.saturating_sub(flow.sent));
            } else if flow.taken == flow.sent && flow.unknown_lengths == 0 {
                other_lengths.0 += 1;
                other_lengths.1.get_or_insert((channel, flow));
            }
        }
        let mut warnings = Vec::new();
        if let (count, Some((from, to, tag))) = left {
            let tag = tags.describe(tag);
            warnings.push(format!(
                "{count} messages that nobody received are left out, the first from rank {from} to {to} with {tag}"
            ));
        }
        if cut > 0 {
            warnings
                .push(format!("{cut} receives are left out: what was recorded of the sender ends before"));
        }
        if let (count, Some(((from, to, tag), flow))) = other_lengths {
            let (sent, taken, tag) = (flow.sent_bytes, flow.taken_bytes, tags.describe(tag));
            warnings.push(format!(
                "the lengths of messages differ at their two ends for {count} pairs of ranks and tags: rank {from} sent {sent} \
                 bytes with {tag}, and rank {to} received {taken}"
            ));
        }
        let mut collectives: Vec<_> = self.collectives.into_iter().collect();
        collectives.sort_unstable_by_key(|(communicator, _)| *communicator);
        for (communicator, Collectives { first: (first, count, _), least, odd }) in collectives {
            let Some((rank, other)) = odd else { continue };
            if !self.is_cut {
                let which = match communicator {
                    0 => "all ranks".to_string(),
                    other => format!("communicator {other}"),
                };
                let why = format!(
                    "it made {other} collectives of {which}, and rank {first} made {count}, or not the same ones; record all \
                     ranks of one run"
                );
                return Err(ProgramError::of_rank(rank as usize, why));
            }
            knowledge.collectives.insert(communicator, least);
        }
        // Where it is not known what a receive takes, nobody knows which one answers.
        knowledge.synchronous = self.synchronous;
        knowledge.synchronous.retain(|(_, to, _), _| !self.open.contains(to));
        let Knowledge { limits, synchronous, collectives, .. } = &knowledge;
        Ok((!(limits.is_empty() && synchronous.is_empty() && collectives.is_empty()), warnings))
    }
}
