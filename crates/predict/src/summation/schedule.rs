//! Schedules of a summation: the additions and the messages of each processor.
//!
//! Both algorithms are trees: every processor adds up operands of its own and the sums of its children, and
//! sends the result to its parent. That is a broadcast whose messages run backwards, on a machine where a
//! cycle more passes before a processor can send (Karp et al., section 4.1).

use std::ops::Range;

use loggp_model::params::Params;
use loggp_model::time::Time;

use crate::steps::Step;
use crate::trees;

/// The part of a processor: it adds up its first own operands, then its first child's sum and its next own
/// operands, then the second child's, and so on. Without a parent it has the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummationRole {
    /// Receiver of the sum.
    pub parent: Option<usize>,
    /// Senders of the sums that it receives, in this order.
    pub children: Vec<usize>,
    /// Its own operands: those before the first reception, and those after each. The children's operands lie
    /// between these, so the operands are added in their order.
    pub own: Vec<Range<usize>>,
}

impl SummationRole {
    /// Returns the number of the processor's own operands.
    pub fn operands(&self) -> usize {
        self.own.iter().map(ExactSizeIterator::len).sum()
    }

    /// Returns what the processor does: it adds up its first own operands, then adds each child's sum and its
    /// next own operands, and sends its sum.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let add =
            |additions: usize| (additions > 0).then_some(Step::Work { units: additions as u64 }).into_iter();
        let received = self.children.iter().zip(&self.own[1..]).flat_map(move |(&child, own)| {
            let receive = Step::Receive { from: Some(child), number: None };
            [receive, Step::Work { units: 1 }].into_iter().chain(add(own.len()))
        });
        let send = self.parent.map(|to| Step::Send { to, bytes: 1, number: None });
        add(self.own[0].len() - 1).chain(received).chain(send)
    }
}

/// Times of the steps of a summation.
#[derive(Clone, Copy, Debug)]
pub struct StepTimes {
    /// Time from the start of a processor's send until its parent has added the sum: L + 2o + 1 cycle.
    pub D: Time,
    /// Least time from reception to reception: g, or a reception and its addition.
    pub d: Time,
    /// Time of a reception and its addition: o + 1 cycle.
    pub reception: Time,
    /// Time of an addition.
    pub cycle: Time,
}

impl StepTimes {
    /// Returns the times on a machine with these parameters, for sums of one word.
    pub fn new(params: &Params) -> StepTimes {
        let reception = params.recv_overhead(1) + params.cycle;
        StepTimes {
            D: params.send_overhead(1) + params.stream(1) + params.L + reception,
            d: params.g.max(reception),
            reception,
            cycle: params.cycle,
        }
    }

    /// Returns the same times with a gap between receptions that whole additions fill. Nothing changes where
    /// L, o and g are whole cycles. Elsewhere the rest of a cycle is lost in every gap, and it may be better
    /// to wait for one more addition.
    fn with_filled_gaps(self) -> StepTimes {
        let (cycle, rest) = (self.cycle.as_ps(), (self.d - self.reception).as_ps());
        StepTimes { d: self.reception + (rest / cycle + i64::from(rest % cycle > 0)) * self.cycle, ..self }
    }

    /// Returns the number of additions that fit into a time.
    fn additions(&self, time: Time) -> i128 {
        i128::from(time.as_ps() / self.cycle.as_ps())
    }

    /// Returns how many own operands a processor with `children` children adds up before its first reception,
    /// if it sends at S and receives as late as possible (Karp et al., definition 4.1).
    fn first_operands(&self, S: Time, children: usize) -> i128 {
        let receptions = match children as i64 {
            0 => Time::ZERO,
            k => self.reception + (k - 1) * self.d,
        };
        self.additions(S - receptions) + 1
    }

    /// Returns the number of additions between two receptions.
    fn additions_between(&self) -> i128 {
        self.additions(self.d - self.reception)
    }
}

/// The first processors of the universal broadcast tree (Karp et al., definition 3.4).
#[derive(Debug)]
struct SummationTree {
    steps: StepTimes,
    /// Time from the start of each processor's send to the end; ascending.
    labels: Vec<Time>,
    /// Receiver of each processor's sum. The root is its own.
    parents: Vec<usize>,
}

impl SummationTree {
    /// Returns the tree of the P processors with the smallest labels.
    fn new(steps: StepTimes, P: usize) -> SummationTree {
        let (labels, parents) = trees::universal(P, steps.D, steps.d).into_iter().unzip();
        SummationTree { steps, labels, parents }
    }

    /// Returns how many operands the root alone can sum by T, then the first two processors, the first three
    /// and so on. A processor without time for an addition is not worth its message, nor are the processors
    /// after it.
    fn sums(&self, T: Time) -> impl Iterator<Item = i128> {
        let steps = self.steps;
        let mut children = vec![0; self.labels.len()];
        let mut sum = 0;
        (0..self.labels.len()).map_while(move |id| {
            let S = T - self.labels[id];
            if id > 0 {
                if S < steps.cycle {
                    return None;
                }
                let (parent, k) = (self.parents[id], children[self.parents[id]]);
                let until = T - self.labels[parent];
                sum += steps.first_operands(until, k + 1) - steps.first_operands(until, k);
                sum += if k > 0 { steps.additions_between() } else { 0 };
                children[parent] += 1;
            }
            sum += steps.first_operands(S, 0);
            Some(sum)
        })
    }

    /// Returns the number of processors that it takes to sum n operands by T, or `None` if the tree has too
    /// few.
    fn processors_for(&self, n: usize, T: Time) -> Option<usize> {
        self.sums(T).position(|sum| sum >= n as i128).map(|last| last + 1)
    }

    /// Returns the least time in which n operands can be summed. Processor 0 alone sums them in n - 1 cycles.
    fn least_time(&self, n: usize) -> Time {
        let (mut early, mut late) = (-1, ((n as i64 - 1) * self.steps.cycle).as_ps());
        while late - early > 1 {
            let T = early + (late - early) / 2;
            if self.processors_for(n, Time::from_ps(T)).is_some() { late = T } else { early = T }
        }
        Time::from_ps(late)
    }

    /// Returns the schedule that sums n operands by T with the fewest processors. If these could sum more,
    /// the last one gets fewer.
    fn schedule(&self, n: usize, T: Time) -> Vec<SummationRole> {
        let last = self.processors_for(n, T).expect("the time is enough") - 1;
        let over = self.sums(T).nth(last).map_or(0, |sum| sum - n as i128);

        let mut children = vec![Vec::new(); last + 1];
        for id in (1..=last).rev() {
            children[self.parents[id]].push(id); // children with larger labels send first, and are received first
        }
        let own = |(id, children): (usize, &Vec<usize>)| {
            let over = if id == last { over } else { 0 };
            let first = self.steps.first_operands(T - self.labels[id], children.len()) - over;
            let mut own = vec![self.steps.additions_between() as usize; children.len() + 1];
            *own.last_mut().expect("there is one more than children") = 0;
            own[0] = first as usize;
            own
        };
        let own = children.iter().enumerate().map(own).collect();
        renumber(children, own)
    }
}

/// Returns the trees from which the best schedule is taken.
fn trees(steps: StepTimes, P: usize) -> [SummationTree; 2] {
    [steps, steps.with_filled_gaps()].map(|steps| SummationTree::new(steps, P))
}

/// Returns the optimal schedule for n operands on P processors.
pub fn optimal(steps: StepTimes, P: usize, n: usize) -> Vec<SummationRole> {
    let times = trees(steps, P.min(n)).map(|tree| (tree.least_time(n), tree));
    let best = times.into_iter().min_by_key(|(T, _)| *T);
    best.map(|(T, tree)| tree.schedule(n, T)).expect("there are trees")
}

/// Returns S(T), the most operands that P processors can sum by T.
pub fn most_operands(steps: StepTimes, P: usize, T: Time) -> i128 {
    trees(steps, P).iter().flat_map(|tree| tree.sums(T)).max().unwrap_or(0)
}

/// Returns the tree by halving, with n operands distributed as evenly as possible: the processors with the
/// highest numbers have one more.
pub fn binomial(P: usize, n: usize) -> Vec<SummationRole> {
    let P = P.min(n);
    let mut children = trees::binomial(P);
    children.iter_mut().for_each(|children| children.reverse());
    let own = |(id, children): (usize, &Vec<usize>)| {
        let mut own = vec![0; children.len() + 1];
        own[0] = n / P + usize::from(id >= P - n % P);
        own
    };
    let own = children.iter().enumerate().map(own).collect();
    renumber(children, own)
}

/// Gives every processor its operands so that the result has them in their order (Karp et al., section 4,
/// footnote 1): the operands of a subtree lie together, those of the children between the processor's own. A
/// child's number is larger than its parent's.
fn renumber(children: Vec<Vec<usize>>, own: Vec<Vec<usize>>) -> Vec<SummationRole> {
    let mut below: Vec<usize> = own.iter().map(|own| own.iter().sum()).collect();
    for id in (0..children.len()).rev() {
        below[id] += children[id].iter().map(|child| below[*child]).sum::<usize>();
    }
    let mut first = vec![(0, None); children.len()]; // the first operand, and the receiver of the sum
    let mut roles = Vec::with_capacity(children.len());
    for (id, (children, own)) in children.into_iter().zip(own).enumerate() {
        let (mut from, parent) = first[id];
        let mut ranges = Vec::with_capacity(own.len());
        for (i, own) in own.into_iter().enumerate() {
            ranges.push(from..from + own);
            from += own;
            if let Some(child) = children.get(i) {
                first[*child] = (from, Some(id));
                from += below[*child];
            }
        }
        roles.push(SummationRole { parent, children, own: ranges });
    }
    roles
}
