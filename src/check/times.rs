//! When things happen of which some must be no earlier than others, and some no later than the latest of others.
//!
//! Solutions are closed under the later of two, so that there is a latest one, and going down from the end of time finds it;
//! without the second kind there is an earliest one, and going up from 0 finds that (Cuninghame-Green, "Minimax Algebra", 1979).

use crate::time::Time;

/// What must be no earlier than another by so much.
type Least = (usize, usize, Time);

/// What must be no later than the latest of others by so much.
type Most = (usize, Vec<(usize, Time)>);

/// What is known of when things happen. They are numbered.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    least: Vec<Least>,
    most: Vec<Most>,
    /// What happens at 0.
    firsts: Vec<usize>,
    things: usize,
}

/// The times that solve what is known.
#[derive(Debug)]
pub(super) enum Solved {
    Times(Vec<Time>),
    /// No times do.
    Never,
    /// It takes too long to find out.
    Unknown,
}

/// So many rounds at most.
const ROUNDS: usize = 4000;

impl Times {
    /// The end of time, for what can be as late as it likes.
    const END: Time = Time::from_ps(i64::MAX / 4);

    /// Of so many things nothing is known.
    pub(super) fn of(things: usize) -> Times {
        Times { things, ..Times::default() }
    }

    /// One more thing.
    pub(super) fn adds(&mut self) -> usize {
        self.things += 1;
        self.things - 1
    }

    /// It happens at 0.
    pub(super) fn is_first(&mut self, what: usize) {
        self.firsts.push(what);
    }

    /// It is no earlier than another by so much.
    pub(super) fn is_after(&mut self, what: usize, (other, by): (usize, Time)) {
        self.least.push((what, other, by));
    }

    /// It is no later than the latest of others by so much.
    pub(super) fn is_within(&mut self, what: usize, of: Vec<(usize, Time)>) {
        self.most.push((what, of));
    }

    /// It is as late as the latest of others by so much.
    pub(super) fn is_latest(&mut self, what: usize, of: Vec<(usize, Time)>) {
        of.iter().for_each(|other| self.is_after(what, *other));
        self.is_within(what, of);
    }

    /// Times that solve it: the earliest ones, if nothing need wait for another thing than those that it must.
    pub(super) fn solved(&self) -> Solved {
        match self.earliest() {
            Solved::Unknown => self.latest(),
            solved => solved,
        }
    }

    /// The earliest times, if nothing is then later than it can be.
    fn earliest(&self) -> Solved {
        let mut times = vec![Time::ZERO; self.things];
        let mut goes_on = true;
        // What still changes when there were as many rounds as there are things goes round in a circle.
        for _ in 0..self.things + 2 {
            if !std::mem::take(&mut goes_on) {
                let holds =
                    |(what, of): &Most| of.iter().any(|(other, by)| times[*what] <= times[*other] + *by);
                let begins = self.firsts.iter().all(|first| times[*first] == Time::ZERO);
                return match begins && self.most.iter().all(holds) {
                    true => Solved::Times(times),
                    false => Solved::Unknown,
                };
            }
            for (what, other, by) in &self.least {
                let least = times[*other] + *by;
                if times[*what] < least {
                    (times[*what], goes_on) = (least, true);
                }
            }
            if self.firsts.iter().any(|first| times[*first] > Time::ZERO) {
                return Solved::Never;
            }
        }
        Solved::Never
    }

    /// The latest times.
    fn latest(&self) -> Solved {
        let mut times = vec![Times::END; self.things];
        self.firsts.iter().for_each(|first| times[*first] = Time::ZERO);
        let mut goes_on = true;
        for _ in 0..ROUNDS {
            if !std::mem::take(&mut goes_on) {
                // What nothing holds does not matter: it is where it was.
                return Solved::Times(times);
            }
            for (what, of) in &self.most {
                let most = of.iter().map(|(other, by)| times[*other] + *by).max().unwrap_or(Times::END);
                if most < times[*what] {
                    (times[*what], goes_on) = (most, true);
                }
            }
            for (what, other, by) in &self.least {
                let most = times[*what] - *by;
                if most < times[*other] {
                    (times[*other], goes_on) = (most, true);
                }
            }
            if times.iter().any(|time| *time < Time::ZERO) {
                return Solved::Never;
            }
        }
        Solved::Unknown
    }
}
