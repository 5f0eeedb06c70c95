//! Solves systems of constraints on times: lower bounds (a time is no earlier than another plus a constant)
//! and upper bounds (a time is no later than the latest of several such terms).
//!
//! The later time of each variable in two solutions is a solution too. So there is a latest solution, which is
//! found by descending from the end of time. Without upper bounds there is also an earliest solution, which is
//! found by ascending from 0 (Cuninghame-Green, "Minimax Algebra", 1979).

use loggp_model::time::Time;

use crate::deadline::{Deadline, SearchBudget};

/// A variable plus a time.
pub(super) type Term = (usize, Time);

/// A variable, and a term that it is no earlier than.
type LowerBound = (usize, Term);

/// A variable, and terms: the variable is no later than the latest of them.
type UpperBound = (usize, Vec<Term>);

/// A system of constraints on times. Its variables are numbered from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeConstraints {
    lower_bounds: Vec<LowerBound>,
    upper_bounds: Vec<UpperBound>,
    /// The variables that are 0.
    zeros: Vec<usize>,
    variables: usize,
}

/// The result of a search for a solution.
#[derive(Debug)]
pub(crate) enum SolveResult<T = Vec<Time>> {
    Found(T),
    /// There is no solution.
    Impossible,
    /// The search took too long.
    Unknown,
}

/// The most rounds of a descent.
const MAX_ROUNDS: usize = 4000;

impl TimeConstraints {
    /// The end of time, where variables without an upper bound are.
    const END: Time = Time::from_ps(i64::MAX / 4);

    /// Creates a system of `variables` variables without constraints.
    pub(super) fn with_variables(variables: usize) -> TimeConstraints {
        TimeConstraints { variables, ..TimeConstraints::default() }
    }

    /// Adds a variable and returns its number.
    pub(super) fn add_variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    /// Requires that a variable is 0.
    pub(super) fn require_zero(&mut self, what: usize) {
        self.zeros.push(what);
    }

    /// Requires that a variable is no earlier than a term.
    pub(super) fn require_after(&mut self, what: usize, than: Term) {
        self.lower_bounds.push((what, than));
    }

    /// Requires that a variable is no later than the latest of some terms.
    pub(super) fn require_within(&mut self, what: usize, of: Vec<Term>) {
        self.upper_bounds.push((what, of));
    }

    /// Requires that a variable equals the latest of some terms.
    pub(super) fn require_latest(&mut self, what: usize, of: Vec<Term>) {
        of.iter().for_each(|other| self.require_after(what, *other));
        self.require_within(what, of);
    }

    /// Solves the system: returns the earliest times that satisfy the lower bounds if they satisfy the upper
    /// bounds too, and otherwise the latest solution. `budget` limits the choices of the term to which an
    /// upper bound refers.
    pub(super) fn solve(&self, budget: &mut SearchBudget) -> SolveResult {
        match self.solve_earliest() {
            SolveResult::Unknown => self.solve_latest(budget),
            solved => solved,
        }
    }

    /// Returns the earliest times that satisfy the lower bounds, if they also satisfy the upper bounds.
    fn solve_earliest(&self) -> SolveResult {
        let mut times = vec![Time::ZERO; self.variables];
        let mut has_changed = true;
        // A variable that still changes after as many rounds as there are variables is in a cycle.
        for _ in 0..self.variables + 2 {
            if !std::mem::take(&mut has_changed) {
                let holds = |(what, of): &UpperBound| {
                    of.iter().any(|(other, by)| times[*what] <= times[*other] + *by)
                };
                let begins = self.zeros.iter().all(|first| times[*first] == Time::ZERO);
                return match begins && self.upper_bounds.iter().all(holds) {
                    true => SolveResult::Found(times),
                    false => SolveResult::Unknown,
                };
            }
            for (what, (other, by)) in &self.lower_bounds {
                let least = times[*other] + *by;
                if times[*what] < least {
                    (times[*what], has_changed) = (least, true);
                }
            }
            if self.zeros.iter().any(|first| times[*first] > Time::ZERO) {
                return SolveResult::Impossible;
            }
        }
        SolveResult::Impossible
    }

    /// Returns the latest solution. In a cycle of variables, each of which must be earlier than the one
    /// before, one of the upper bounds must refer to another term; each of these choices is tried.
    fn solve_latest(&self, budget: &mut SearchBudget) -> SolveResult {
        let mut is_known = true;
        // The systems in which there were choices, each with the choices left: the search is depth-first.
        let mut open: Vec<(TimeConstraints, Vec<(usize, usize)>)> = Vec::new();
        let mut system = self.clone();
        loop {
            if !budget.take() {
                return SolveResult::Unknown;
            }
            match system.descend(budget.deadline) {
                Descent::Solved(times) => return SolveResult::Found(times),
                Descent::Never => (),
                Descent::TooLong => is_known = false,
                Descent::Cycle(choices) => open.push((system, choices)),
            }
            system = loop {
                let Some((above, choices)) = open.last_mut() else {
                    return if is_known { SolveResult::Impossible } else { SolveResult::Unknown };
                };
                match choices.pop() {
                    Some((most, arg)) => {
                        let mut other = above.clone();
                        other.upper_bounds[most].1.swap_remove(arg);
                        break other;
                    }
                    None => _ = open.pop(),
                }
            };
        }
    }

    /// Lowers all variables from the end of time until they satisfy every constraint.
    fn descend(&mut self, deadline: Deadline) -> Descent {
        let mut times = vec![TimeConstraints::END; self.variables];
        self.zeros.iter().for_each(|first| times[*first] = Time::ZERO);
        // The last cause of each variable's decrease.
        let mut causes: Vec<Option<DescentCause>> = vec![None; self.variables];
        let mut has_changed = true;
        for round in 1..MAX_ROUNDS {
            if !std::mem::take(&mut has_changed) {
                // Variables without bounds stay at the end of time, which does no harm.
                return Descent::Solved(times);
            }
            for (number, (what, of)) in self.upper_bounds.iter().enumerate() {
                let most = of.iter().enumerate().map(|(arg, (other, by))| (times[*other] + *by, arg)).max();
                if let Some((most, arg)) = most.filter(|(most, _)| *most < times[*what]) {
                    (times[*what], has_changed) = (most, true);
                    causes[*what] = Some(DescentCause { by: of[arg].0, most: Some((number, arg)) });
                }
            }
            for (what, (other, by)) in &self.lower_bounds {
                let most = times[*what] - *by;
                if most < times[*other] {
                    (times[*other], has_changed) = (most, true);
                    causes[*other] = Some(DescentCause { by: *what, most: None });
                }
            }
            if times.iter().any(|time| *time < Time::ZERO) {
                return Descent::Never;
            }
            if round % 16 != 0 {
                continue;
            }
            if deadline.is_over() {
                return Descent::TooLong;
            }
            if let Some(cycle) = find_cycle(&causes) {
                let several = cycle.into_iter().filter(|(number, _)| self.upper_bounds[*number].1.len() > 1);
                let several: Vec<_> = several.collect();
                match several[..] {
                    [] => return Descent::Never,
                    [(number, arg)] => {
                        self.upper_bounds[number].1.swap_remove(arg);
                        causes.fill(None);
                    }
                    _ => return Descent::Cycle(several),
                }
            }
        }
        Descent::TooLong
    }
}

/// The result of a descent.
enum Descent {
    Solved(Vec<Time>),
    Never,
    /// At least one of these upper bounds must refer to another of its terms. Each is the number of the bound
    /// and the index of the term in the bound.
    Cycle(Vec<(usize, usize)>),
    TooLong,
}

/// The constraint that made a variable earlier.
#[derive(Clone, Copy, Debug)]
struct DescentCause {
    /// The variable to which the constraint refers.
    by: usize,
    /// For an upper bound, its number and the index of the term with that variable.
    most: Option<(usize, usize)>,
}

/// Finds a cycle of variables that have made each other earlier, in which a descent would never end. Returns
/// the upper bounds of the cycle, or `None` if there is no cycle.
fn find_cycle(causes: &[Option<DescentCause>]) -> Option<Vec<(usize, usize)>> {
    let mut seen = vec![0; causes.len()];
    for first in 0..causes.len() {
        let mut at = first;
        while seen[at] == 0 {
            seen[at] = first + 1;
            match causes[at] {
                Some(cause) => at = cause.by,
                None => break,
            }
        }
        if seen[at] != first + 1 || causes[at].is_none() {
            continue;
        }
        let (begin, mut mosts) = (at, Vec::new());
        loop {
            let cause = causes[at]?;
            mosts.extend(cause.most);
            at = cause.by;
            if at == begin {
                return Some(mosts);
            }
        }
    }
    None
}
