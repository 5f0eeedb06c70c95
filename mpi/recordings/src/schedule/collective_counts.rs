//! How many collectives the ranks of each communicator made: all must have made the same ones.

use rustc_hash::FxHashMap;

use crate::error::ProgramError;

/// The counts of all communicators, by their numbers.
#[derive(Debug, Default)]
pub(super) struct CollectiveCounts(FxHashMap<u32, Count>);

/// The collectives of a communicator.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// The first rank, how many collectives it made, and a hash of their kinds and roots.
    first: (u32, u64, u64),
    /// The least number that a rank made.
    least: u64,
    /// A rank that made others, and how many.
    odd: Option<(u32, u64)>,
}

impl CollectiveCounts {
    /// Counts the collectives that a rank made on a communicator.
    pub(super) fn add(&mut self, communicator: u32, rank: u32, count: u64, hash: u64) {
        let first = Count { first: (rank, count, hash), least: count, odd: None };
        let all = self.0.entry(communicator).or_insert(first);
        all.least = all.least.min(count);
        if (all.first.1, all.first.2) != (count, hash) {
            all.odd.get_or_insert((rank, count));
        }
    }

    /// Returns the communicators of which not all ranks made the same collectives, with the number that all made. This
    /// is an error unless the recording `is_cut`.
    pub(super) fn least(self, is_cut: bool) -> Result<FxHashMap<u32, u64>, ProgramError> {
        let mut counts: Vec<(u32, Count)> = self.0.into_iter().collect();
        counts.sort_unstable_by_key(|(communicator, _)| *communicator);
        let mut least = FxHashMap::default();
        for (communicator, count) in counts {
            let Some((rank, other)) = count.odd else { continue };
            if !is_cut {
                let which = match communicator {
                    0 => "all ranks".to_string(),
                    other => format!("communicator {other}"),
                };
                let (first, count, _) = count.first;
                let why = format!(
                    "it made {other} collectives of {which}, and rank {first} made {count}, or not the same ones; record all \
                     ranks of one run"
                );
                return Err(ProgramError::of_rank(rank as usize, why));
            }
            least.insert(communicator, count.least);
        }
        Ok(least)
    }
}
