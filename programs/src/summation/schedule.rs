//! Who adds what, and who sends its sum to whom.
//!
//! Both algorithms are trees: every processor adds up operands of its own and the sums of its children, and
//! sends the result to its parent. Karp et al., section 4.1: that is a broadcast whose messages run
//! backwards, on a machine where a cycle more passes before a processor can send.

use std::ops::Range;

use loggp::{Params, Time};

use crate::math::trees;

/// What a processor does: it adds up its first own operands, then its first child's sum and its next own
/// operands, then the second child's, and so on. Without a parent it has the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Who gets the sum.
    pub parent: Option<usize>,
    /// Whose sums it receives, in this order.
    pub children: Vec<usize>,
    /// Its own operands: before the first reception, and after each. Children's operands lie between, so the
    /// operands are added in their order.
    pub own: Vec<Range<usize>>,
}

impl Role {
    /// How many operands are the processor's own.
    pub fn operands(&self) -> usize {
        self.own.iter().map(ExactSizeIterator::len).sum()
    }
}

/// How long the steps of a summation take.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// From when a processor begins to send its sum to when its parent has added it: L + 2o + 1 cycle.
    pub D: Time,
    /// From reception to reception, at least: g, or what a reception and its addition take.
    pub d: Time,
    /// A reception and its addition: o + 1 cycle.
    pub reception: Time,
    /// An addition.
    pub cycle: Time,
}

impl Steps {
    /// On a machine with these parameters, for sums of one word.
    pub fn of(params: &Params) -> Steps {
        let reception = params.recv_overhead(1) + params.cycle;
        Steps {
            D: params.send_overhead(1) + params.stream(1) + params.L + reception,
            d: params.g.max(reception),
            reception,
            cycle: params.cycle,
        }
    }

    /// The same with a gap between receptions that additions fill. It is the same where L, o and g are whole
    /// cycles. Elsewhere the rest of a cycle is lost in every gap, and it may be better to wait for another
    /// addition.
    fn filled(self) -> Steps {
        let (cycle, rest) = (self.cycle.as_ps(), (self.d - self.reception).as_ps());
        Steps { d: self.reception + (rest / cycle + i64::from(rest % cycle > 0)) * self.cycle, ..self }
    }

    /// How many additions there is time for.
    fn additions(&self, time: Time) -> i128 {
        i128::from(time.as_ps() / self.cycle.as_ps())
    }

    /// How many own operands a processor with so many children adds up before its first reception, if it has
    /// to send at S and receives as late as that allows (Karp et al., definition 4.1).
    fn at_first(&self, S: Time, children: usize) -> i128 {
        let receptions = match children as i64 {
            0 => Time::ZERO,
            k => self.reception + (k - 1) * self.d,
        };
        self.additions(S - receptions) + 1
    }

    /// How many additions fit between two receptions.
    fn between(&self) -> i128 {
        self.additions(self.d - self.reception)
    }
}

/// The first processors of the universal broadcast tree (Karp et al., definition 3.4).
#[derive(Debug)]
struct Tree {
    steps: Steps,
    /// How long before the end each processor begins to send its sum; ascending.
    label: Vec<Time>,
    /// Who gets it. The root has itself.
    parent: Vec<usize>,
}

impl Tree {
    /// The tree of the P processors with the smallest labels.
    fn new(steps: Steps, P: usize) -> Tree {
        let (label, parent) = trees::universal(P, steps.D, steps.d).into_iter().unzip();
        Tree { steps, label, parent }
    }

    /// How many operands the root alone sums by T; the first two processors; the first three ... A processor
    /// that has no time for an addition is not worth its message, nor are those after it.
    fn sums(&self, T: Time) -> impl Iterator<Item = i128> {
        let steps = self.steps;
        let mut children = vec![0; self.label.len()];
        let mut sum = 0;
        (0..self.label.len()).map_while(move |id| {
            let S = T - self.label[id];
            if id > 0 {
                if S < steps.cycle {
                    return None;
                }
                let (parent, k) = (self.parent[id], children[self.parent[id]]);
                let until = T - self.label[parent];
                sum += steps.at_first(until, k + 1) - steps.at_first(until, k);
                sum += if k > 0 { steps.between() } else { 0 };
                children[parent] += 1;
            }
            sum += steps.at_first(S, 0);
            Some(sum)
        })
    }

    /// How many processors it takes to sum n operands by T.
    fn enough(&self, n: usize, T: Time) -> Option<usize> {
        self.sums(T).position(|sum| sum >= n as i128).map(|last| last + 1)
    }

    /// The least time in which n operands can be summed. Processor 0 alone sums them in n - 1 cycles.
    fn least(&self, n: usize) -> Time {
        let (mut early, mut late) = (-1, ((n as i64 - 1) * self.steps.cycle).as_ps());
        while late - early > 1 {
            let T = early + (late - early) / 2;
            if self.enough(n, Time::from_ps(T)).is_some() { late = T } else { early = T }
        }
        Time::from_ps(late)
    }

    /// The schedule that sums n operands in that time. The fewest processors that can take part; if they could
    /// sum more, the last one gets less.
    fn schedule(&self, n: usize, T: Time) -> Vec<Role> {
        let last = self.enough(n, T).expect("the time is enough") - 1;
        let over = self.sums(T).nth(last).map_or(0, |sum| sum - n as i128);

        let mut children = vec![Vec::new(); last + 1];
        for id in (1..=last).rev() {
            children[self.parent[id]].push(id); // who has the larger label sends, and is received, first
        }
        let own = |(id, children): (usize, &Vec<usize>)| {
            let over = if id == last { over } else { 0 };
            let first = self.steps.at_first(T - self.label[id], children.len()) - over;
            let mut own = vec![self.steps.between() as usize; children.len() + 1];
            *own.last_mut().expect("there is one more than children") = 0;
            own[0] = first as usize;
            own
        };
        let own = children.iter().enumerate().map(own).collect();
        renumber(children, own)
    }
}

/// The trees from which the best schedule is taken.
fn trees(steps: Steps, P: usize) -> [Tree; 2] {
    [steps, steps.filled()].map(|steps| Tree::new(steps, P))
}

/// The optimal schedule for n operands on P processors.
pub fn optimal(steps: Steps, P: usize, n: usize) -> Vec<Role> {
    let times = trees(steps, P.min(n)).map(|tree| (tree.least(n), tree));
    let best = times.into_iter().min_by_key(|(T, _)| *T);
    best.map(|(T, tree)| tree.schedule(n, T)).expect("there are trees")
}

/// S(T): the most operands that P processors can sum by T.
pub fn most(steps: Steps, P: usize, T: Time) -> i128 {
    trees(steps, P).iter().flat_map(|tree| tree.sums(T)).max().unwrap_or(0)
}

/// The tree by halving, with n operands shared out as evenly as possible: whose number is higher has one more.
pub fn binomial(P: usize, n: usize) -> Vec<Role> {
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
/// footnote 1): what a processor adds up lies together, its children's operands between its own. A child's
/// number is larger than its parent's.
fn renumber(children: Vec<Vec<usize>>, own: Vec<Vec<usize>>) -> Vec<Role> {
    let mut below: Vec<usize> = own.iter().map(|own| own.iter().sum()).collect();
    for id in (0..children.len()).rev() {
        below[id] += children[id].iter().map(|child| below[*child]).sum::<usize>();
    }
    let mut place = vec![(0, None); children.len()]; // where its operands begin, and who gets the sum
    let mut parts = Vec::with_capacity(children.len());
    for (id, (children, own)) in children.into_iter().zip(own).enumerate() {
        let (mut from, parent) = place[id];
        let mut ranges = Vec::with_capacity(own.len());
        for (i, own) in own.into_iter().enumerate() {
            ranges.push(from..from + own);
            from += own;
            if let Some(child) = children.get(i) {
                place[*child] = (from, Some(id));
                from += below[*child];
            }
        }
        parts.push(Role { parent, children, own: ranges });
    }
    parts
}
