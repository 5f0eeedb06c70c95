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
pub(super) enum Solved<T = Vec<Time>> {
    Times(T),
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

    /// Times that solve it: the earliest ones, if nothing need wait for another thing than those that it must. `tries` says how many
    /// choices may still be tried of which things others are no later than.
    pub(super) fn solved(&self, tries: &mut usize) -> Solved {
        match self.earliest() {
            Solved::Unknown => self.latest(tries),
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

    /// The latest times: those of what is left where a circle of things that must each be earlier than the one before rules out that
    /// one of them is no later than the thing that it was no later than.
    fn latest(&self, tries: &mut usize) -> Solved {
        let mut is_known = true;
        // The systems in which there were choices, each with those that are left: one way down at a time is kept.
        let mut open: Vec<(Times, Vec<(usize, usize)>)> = Vec::new();
        let mut system = self.clone();
        loop {
            let Some(left) = tries.checked_sub(1) else { return Solved::Unknown };
            *tries = left;
            match system.descends() {
                Descent::Ends(times) => return Solved::Times(times),
                Descent::Never => (),
                Descent::TooLong => is_known = false,
                Descent::Circle(choices) => open.push((system, choices)),
            }
            system = loop {
                let Some((above, choices)) = open.last_mut() else {
                    return if is_known { Solved::Never } else { Solved::Unknown };
                };
                match choices.pop() {
                    Some((most, arg)) => {
                        let mut other = above.clone();
                        other.most[most].1.swap_remove(arg);
                        break other;
                    }
                    None => _ = open.pop(),
                }
            };
        }
    }

    /// Goes down from the end of time.
    fn descends(&mut self) -> Descent {
        let mut times = vec![Times::END; self.things];
        self.firsts.iter().for_each(|first| times[*first] = Time::ZERO);
        // What has made each thing earlier last: which thing, by how much, and if that was one of several by which of them.
        let mut causes: Vec<Option<Cause>> = vec![None; self.things];
        let mut goes_on = true;
        for round in 1..ROUNDS {
            if !std::mem::take(&mut goes_on) {
                // What nothing holds does not matter: it is where it was.
                return Descent::Ends(times);
            }
            for (number, (what, of)) in self.most.iter().enumerate() {
                let most = of.iter().enumerate().map(|(arg, (other, by))| (times[*other] + *by, arg)).max();
                if let Some((most, arg)) = most.filter(|(most, _)| *most < times[*what]) {
                    (times[*what], goes_on) = (most, true);
                    causes[*what] = Some(Cause { by: of[arg].0, most: Some((number, arg)) });
                }
            }
            for (what, other, by) in &self.least {
                let most = times[*what] - *by;
                if most < times[*other] {
                    (times[*other], goes_on) = (most, true);
                    causes[*other] = Some(Cause { by: *what, most: None });
                }
            }
            if times.iter().any(|time| *time < Time::ZERO) {
                return Descent::Never;
            }
            if round % 16 == 0
                && let Some(circle) = circle(&causes)
            {
                let several = circle.into_iter().filter(|(number, _)| self.most[*number].1.len() > 1);
                let several: Vec<_> = several.collect();
                match several[..] {
                    [] => return Descent::Never,
                    [(number, arg)] => {
                        self.most[number].1.swap_remove(arg);
                        causes.fill(None);
                    }
                    _ => return Descent::Circle(several),
                }
            }
        }
        Descent::TooLong
    }
}

/// What comes of going down.
enum Descent {
    Ends(Vec<Time>),
    Never,
    /// At least one of these is no later than another of its things.
    Circle(Vec<(usize, usize)>),
    TooLong,
}

/// Why a thing became earlier.
#[derive(Clone, Copy, Debug)]
struct Cause {
    /// The thing that it must not be later than.
    by: usize,
    /// Which of several that is.
    most: Option<(usize, usize)>,
}

/// The choices in a circle of things that have made each other earlier, if there is one: it would go on for ever.
fn circle(causes: &[Option<Cause>]) -> Option<Vec<(usize, usize)>> {
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
