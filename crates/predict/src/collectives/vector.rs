//! The plan of a vector's broadcast: in pieces along a chain, or as a whole down a tree.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use loggp_model::message::Payload;
use loggp_model::params::{LongMessages, MAX_PROCESSORS, Params};
use loggp_model::time::{Time, factor};

use super::broadcast_time;
use super::costs::{MessageCost, elements_per_word};

/// The plan of a vector's broadcast: its pieces, and its time.
///
/// ```
/// use loggp::collectives::BroadcastPlan;
/// use loggp::{Params, US};
///
/// // LogP has no long messages, so 100 numbers are 100 messages, one every max(g, 2o).
/// let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let plan = BroadcastPlan::chain::<u64>(&params, 8, 100);
/// assert_eq!((plan.piece, plan.time), (Some(1), 99 * (4 * US) + 7 * (10 * US)));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BroadcastPlan {
    /// Number of elements in a piece for the chain, or `None` if the vector goes down a tree as a whole.
    pub piece: Option<usize>,
    /// Time until the last processor has the last element.
    pub time: Time,
}

impl BroadcastPlan {
    /// Plans a chain of `P` processors for a vector of `elements` elements, in pieces of the length that
    /// takes least time. For a vector of very many elements that is the best length that a short search finds.
    ///
    /// For q pieces of m words: (P-1) (L + 2o + (m-1)G) + (q-1) d, with d = max((m-1)G + g, 2o), or
    /// max((m-1)G + g, o) for two processors, of which neither passes on what it receives. Exact if all pieces
    /// have m words and the ports are dual, or m = 1, or P = 2. With single ports a processor cannot pass on a
    /// piece while it receives one, so d is 2(m-1)G if that is more; where pieces then wait for a port, the run
    /// takes more time or less. A LogP machine has no long messages, so a piece is one word there, or one
    /// element. A vector without elements takes no message and no time.
    pub fn chain<T: Payload>(params: &Params, P: usize, elements: usize) -> BroadcastPlan {
        let chain = Chain { params, P, elements, size: T::SIZE.unwrap_or(1).max(1) };
        let word = elements_per_word::<T>(params);
        if params.long == LongMessages::LogP || elements <= word {
            return chain.plan(word);
        }
        let whole = params.longest_message().map_or(elements, |words| elements.min(chain.elements_of(words)));
        let whole = whole.max(word);
        let doubled =
            std::iter::successors(Some(word), |piece| piece.checked_mul(2).filter(|piece| *piece < whole));
        let first = doubled.chain([whole]).map(|piece| chain.plan(piece)).min_by_key(BroadcastPlan::order);
        let mut best = first.expect("there is a whole vector");
        // Where a word more costs the same, whatever the length.
        let ends = params.gps().map(|gps| [gps.s.min(gps.S), gps.s.max(gps.S)]).unwrap_or_default();
        let (mut from, mut left) = (word, MOST_RANGES);
        for to in ends.map(|words| chain.elements_of(words)).into_iter().chain([whole]) {
            let to = to.min(whole);
            if from <= to {
                chain.improve(&mut best, from..=to, &mut left);
                from = to.saturating_add(1);
            }
        }
        best
    }

    /// Plans a chain, or the optimal tree for the whole vector where that takes less time. No machine has
    /// enough processors for a tree of more than 2^24.
    pub fn best<T: Payload>(params: &Params, P: usize, elements: usize) -> BroadcastPlan {
        let chain = BroadcastPlan::chain::<T>(params, P, elements);
        let k = params.words(elements.saturating_mul(T::SIZE.unwrap_or(1)));
        if P <= 1 || P > MAX_PROCESSORS || params.long == LongMessages::LogP && k > 1 {
            return chain;
        }
        let time = broadcast_time(params, P, k);
        if time < chain.time { BroadcastPlan { piece: None, time } } else { chain }
    }

    /// Returns what orders plans, the best first: of equally fast ones that with the longest pieces, as fewer
    /// messages are less work for the host.
    fn order(&self) -> (Time, Reverse<Option<usize>>) {
        (self.time, Reverse(self.piece))
    }
}

/// The most ranges of lengths that a search looks at. Vectors of a million elements need far fewer: the number grows
/// about as the third root of theirs.
const MOST_RANGES: u32 = 1 << 13;

/// A chain along which a vector goes in pieces.
struct Chain<'p> {
    params: &'p Params,
    P: usize,
    /// The number of elements of the vector.
    elements: usize,
    /// The bytes of an element.
    size: usize,
}

impl Chain<'_> {
    /// Returns the plan with pieces of this many elements.
    fn plan(&self, piece: usize) -> BroadcastPlan {
        let cost = self.cost(piece);
        let further = self.elements.div_ceil(piece).saturating_sub(1);
        let time = match self.elements {
            0 => Time::ZERO,
            _ => factor(self.P.saturating_sub(1)) * cost.transit + factor(further) * self.least_gap(&cost),
        };
        BroadcastPlan { piece: Some(piece), time }
    }

    fn cost(&self, piece: usize) -> MessageCost {
        MessageCost::new(self.params, self.params.words(piece.saturating_mul(self.size)))
    }

    /// Returns the time from one piece to the next: the longest of what sending and receiving it take.
    fn least_gap(&self, cost: &MessageCost) -> Time {
        self.gaps(cost).into_iter().max().expect("there are three")
    }

    fn gaps(&self, &MessageCost { send, recv, stream, gap, .. }: &MessageCost) -> [Time; 3] {
        match self.P {
            0 | 1 => [Time::ZERO; 3],
            2 => [gap, send, recv],
            _ => [gap, send + recv, 2 * stream],
        }
    }

    /// Returns the number of elements of the longest piece of so many words.
    fn elements_of(&self, words: usize) -> usize {
        words.saturating_mul(self.params.word.get()) / self.size
    }

    /// Finds a better plan with pieces of these lengths, if there is one. A word more must cost the same at
    /// each length. `left` is the number of ranges that may still be looked at.
    fn improve(&self, best: &mut BroadcastPlan, pieces: RangeInclusive<usize>, left: &mut u32) {
        let (short, long) = pieces.into_inner();
        let plan = self.plan(long);
        if plan.order() < best.order() {
            *best = plan;
        }
        let words = [short, long].map(|piece| self.params.words(piece.saturating_mul(self.size)));
        if short == long || words[0] == words[1] || *left == 0 {
            return; // pieces of as many words are fewer
        }
        *left -= 1;
        let middle = short + (long - short) / 2;
        let mut halves = [short..=middle, middle + 1..=long].map(|half| (self.bound(&half), half));
        halves.sort_by_key(|(bound, _)| *bound);
        for (bound, half) in halves {
            let best_found = (i128::from(best.time.as_ps()), Reverse(best.piece));
            if (bound, Reverse(Some(*half.end()))) < best_found {
                self.improve(best, half, left);
            }
        }
    }

    /// Returns a time in picoseconds below which no plan with pieces of these lengths is.
    ///
    /// The time of q pieces of w words is (P-1) way + (q-1) d for the greatest of three gaps d = a + bw. Of
    /// (q-1)(a + bw) = qa + b(qw) - d only qa and d change with the length, as qw is the whole vector's
    /// length at least.
    fn bound(&self, pieces: &RangeInclusive<usize>) -> i128 {
        let ends = [*pieces.start(), *pieces.end()];
        let words = ends.map(|piece| self.params.words(piece.saturating_mul(self.size)) as i128);
        let counts = ends.map(|piece| self.elements.div_ceil(piece) as i128);
        let costs = ends.map(|piece| self.cost(piece));
        let gaps = costs.each_ref().map(|cost| self.gaps(cost).map(|gap| i128::from(gap.as_ps())));
        let all_words =
            (self.elements as i128).saturating_mul(self.size as i128) / self.params.word.get() as i128;
        let hops = i128::from(factor(self.P.saturating_sub(1)));
        let bound_by = |which: usize| {
            let gaps = gaps.map(|gaps| gaps[which]);
            let per_word = ((gaps[1] - gaps[0]) / (words[1] - words[0]).max(1)).max(0);
            let fixed = (gaps[0] - per_word * words[0]).min(gaps[1] - per_word * words[1]);
            let ends = [0, 1].map(|end| {
                let ways = hops * i128::from(costs[end].transit.as_ps());
                ways - fixed - per_word * words[end]
            });
            let pieces = counts.map(|count| fixed.saturating_mul(count));
            let all = per_word.saturating_mul(all_words);
            ends[0].min(ends[1]).saturating_add(pieces[0].min(pieces[1])).saturating_add(all)
        };
        (0..3).map(bound_by).max().expect("there are three gaps").min(i64::MAX.into())
    }
}
