//! Patterns of communication, step by step: what a program does, what a schedule says and what the bare loop plays.

/// What a processor does next with a message of a word.
#[derive(Clone, Copy)]
pub enum Step {
    /// Sends it to this processor.
    Send(usize),
    /// Takes the one that arrived first, from this processor if one is named.
    Recv(Option<usize>),
}

/// A pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// All pass a word on to their neighbours, over and over.
    Ring,
    /// All send to all others in turn, staggered so that no two send to the same one.
    AllToAll,
    /// Barriers: in round r all send to 2^r away, once round r-1 has come.
    Dissemination,
    /// 0 sends to all, who pass it on: to 2^r away in round r. The next begins when 0 has sent the one before.
    Broadcast,
}

/// All patterns.
pub const PATTERNS: [Pattern; 4] =
    [Pattern::Ring, Pattern::AllToAll, Pattern::Dissemination, Pattern::Broadcast];

impl Pattern {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Ring => "ring",
            Pattern::AllToAll => "all-to-all",
            Pattern::Dissemination => "dissemination",
            Pattern::Broadcast => "broadcast",
        }
    }

    /// The pattern with this name.
    pub fn named(name: &str) -> Option<Pattern> {
        PATTERNS.into_iter().find(|pattern| pattern.name() == name)
    }

    /// How often it goes round for about so many messages.
    pub fn times(self, processors: usize, messages: usize) -> usize {
        let once = match self {
            Pattern::Ring | Pattern::AllToAll => processors,
            Pattern::Dissemination => processors * rounds(processors),
            Pattern::Broadcast => processors - 1,
        };
        (messages / once).max(1)
    }

    /// What processor `id` does, from the first step to the last.
    pub fn steps(self, id: usize, processors: usize, times: usize) -> Steps {
        let here = Steps { pattern: self, id, processors, left: times, place: 0, steps: 0 };
        let steps = match self {
            Pattern::Ring | Pattern::AllToAll => 2,
            Pattern::Dissemination => 2 * rounds(processors),
            Pattern::Broadcast => usize::from(id > 0) + here.below(),
        };
        Steps { steps, left: if steps == 0 { 0 } else { times }, ..here }
    }
}

/// How often a distance doubles until it has passed so many processors.
fn rounds(processors: usize) -> usize {
    processors.next_power_of_two().ilog2() as usize
}

/// The steps of a processor that are still to come.
pub struct Steps {
    /// What it follows.
    pattern: Pattern,
    /// The processor's number.
    id: usize,
    /// How many processors there are.
    processors: usize,
    /// How often it still goes round, this time included.
    left: usize,
    /// The next step of this time.
    place: usize,
    /// How many steps a time has.
    steps: usize,
}

impl Steps {
    /// In a broadcast, the first distance to which it passes the word on.
    fn first(&self) -> usize {
        if self.id == 0 { 1 } else { 1 << (self.id.ilog2() + 1) }
    }

    /// In a broadcast, to how many it passes the word on.
    fn below(&self) -> usize {
        let distances = std::iter::successors(Some(self.first()), |distance| Some(2 * distance));
        distances.take_while(|distance| self.id + distance < self.processors).count()
    }

    /// The processor so far ahead.
    fn ahead(&self, distance: usize) -> usize {
        let to = self.id + distance;
        if to < self.processors { to } else { to - self.processors }
    }
}

impl Iterator for Steps {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        if self.left == 0 {
            return None;
        }
        let sends = self.place.is_multiple_of(2);
        let step = match self.pattern {
            Pattern::Ring if sends => Step::Send(self.ahead(1)),
            Pattern::AllToAll if sends => Step::Send(self.ahead(1 + self.left % (self.processors - 1))),
            Pattern::Ring | Pattern::AllToAll => Step::Recv(None),
            Pattern::Dissemination => {
                let distance = 1 << (self.place / 2);
                let away = if sends { distance } else { self.processors - distance };
                if sends { Step::Send(self.ahead(away)) } else { Step::Recv(Some(self.ahead(away))) }
            }
            Pattern::Broadcast if self.id > 0 && self.place == 0 => {
                Step::Recv(Some(self.id - self.first() / 2))
            }
            Pattern::Broadcast => {
                Step::Send(self.id + (self.first() << (self.place - usize::from(self.id > 0))))
            }
        };
        self.place += 1;
        if self.place == self.steps {
            (self.place, self.left) = (0, self.left - 1);
        }
        Some(step)
    }
}
