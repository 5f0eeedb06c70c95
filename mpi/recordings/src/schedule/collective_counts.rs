//! How many collectives the ranks of each communicator made: all must have made the same ones.

use rustc_hash::FxHashMap;

use crate::error::ProgramError;

/// The collectives of a communicator, by its number, or the starts of a persistent one of its, by the number of that.
pub(super) type CollectiveSeries = (u32, Option<u64>);

/// The counts of all collectives.
#[derive(Debug, Default)]
pub(super) struct CollectiveCounts(FxHashMap<CollectiveSeries, Count>);

/// The collectives that are counted together.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// The first rank, how many collectives it made, and a hash of their kinds and roots.
    first: (u32, u64, u64),
    /// The least number that a rank made.
    least: u64,
    /// A rank that made others, and how many.
    odd: Option<(u32, u64)>,
    /// How many ranks have not said how many they made.
    missing: usize,
}

impl CollectiveCounts {
    /// Counts the collectives that a rank made, of so many that take part.
    pub(super) fn add(
        &mut self,
        series: CollectiveSeries,
        (rank, ranks): (u32, usize),
        (count, hash): (u64, u64),
    ) {
        let first = Count { first: (rank, count, hash), least: count, odd: None, missing: ranks };
        let all = self.0.entry(series).or_insert(first);
        all.missing = all.missing.saturating_sub(1);
        all.least = all.least.min(count);
        if (all.first.1, all.first.2) != (count, hash) {
            all.odd.get_or_insert((rank, count));
        }
    }

    /// Returns the collectives that not all ranks made, with the number that all made. This is an error unless the
    /// recording `is_cut`.
    pub(super) fn least(self, is_cut: bool) -> Result<FxHashMap<CollectiveSeries, u64>, ProgramError> {
        let mut counts: Vec<(CollectiveSeries, Count)> = self.0.into_iter().collect();
        counts.sort_unstable_by_key(|(series, _)| *series);
        let mut least = FxHashMap::default();
        for ((communicator, persistent), count) in counts {
            // A rank that did not start a persistent one says nothing of it.
            let is_missing = persistent.is_some() && count.missing > 0;
            let of = match communicator {
                0 => "all ranks".to_string(),
                other => format!("communicator {other}"),
            };
            if is_missing && !is_cut {
                let (rank, count, _) = count.first;
                let why = format!(
                    "it started a persistent collective of {of} {count} times, and others never did; record all ranks of one run"
                );
                return Err(ProgramError::of_rank(rank as usize, why));
            }
            if is_missing {
                least.insert((communicator, persistent), 0);
                continue;
            }
            let Some((rank, other)) = count.odd else { continue };
            if !is_cut {
                let (first, count, _) = count.first;
                let why = format!(
                    "it made {other} collectives of {of}, and rank {first} made {count}, or not the same ones; record all \
                     ranks of one run"
                );
                return Err(ProgramError::of_rank(rank as usize, why));
            }
            least.insert((communicator, persistent), count.least);
        }
        Ok(least)
    }
}
