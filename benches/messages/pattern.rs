//! Patterns of communication, step by step, for the program, the schedule and the bare loop.

/// A step of a processor, with a message of one word.
#[derive(Clone, Copy)]
pub(crate) enum PatternStep {
    /// Send to this processor.
    Send(usize),
    /// Receive the message that arrived first, from this processor if one is named.
    Recv(Option<usize>),
}

/// A pattern of communication.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessagePattern {
    /// All pass a word on to the next processor, repeatedly.
    Ring,
    /// All send to all others in turn, staggered so that no two send to the same processor at once.
    AllToAll,
    /// Barriers: in round r all send to the processor 2^r away, once the message of round r-1 has arrived.
    Dissemination,
    /// Binomial broadcasts from 0, one after the other: in round r all that have the message send it to the
    /// processor 2^r away. The next begins when 0 has sent the one before.
    Broadcast,
}

pub(crate) const PATTERNS: [MessagePattern; 4] = [
    MessagePattern::Ring,
    MessagePattern::AllToAll,
    MessagePattern::Dissemination,
    MessagePattern::Broadcast,
];

impl MessagePattern {
    pub(crate) fn name(self) -> &'static str {
        match self {
            MessagePattern::Ring => "ring",
            MessagePattern::AllToAll => "all-to-all",
            MessagePattern::Dissemination => "dissemination",
            MessagePattern::Broadcast => "broadcast",
        }
    }

    /// Returns the pattern with this name, or `None`.
    pub(crate) fn find(name: &str) -> Option<MessagePattern> {
        PATTERNS.into_iter().find(|pattern| pattern.name() == name)
    }

    /// Returns the number of repeats for about this many messages.
    pub(crate) fn repeats(self, processors: usize, messages: usize) -> usize {
        let once = match self {
            MessagePattern::Ring | MessagePattern::AllToAll => processors,
            MessagePattern::Dissemination => processors * rounds(processors),
            MessagePattern::Broadcast => processors - 1,
        };
        (messages / once).max(1)
    }

    /// Returns the steps of processor `id`.
    pub(crate) fn steps(self, id: usize, processors: usize, times: usize) -> PatternSteps {
        let here = PatternSteps { pattern: self, id, processors, left: times, place: 0, steps: 0 };
        let steps = match self {
            MessagePattern::Ring | MessagePattern::AllToAll => 2,
            MessagePattern::Dissemination => 2 * rounds(processors),
            MessagePattern::Broadcast => usize::from(id > 0) + here.child_count(),
        };
        PatternSteps { steps, left: if steps == 0 { 0 } else { times }, ..here }
    }
}

/// Returns the number of rounds in which a distance doubles until it is at least the number of processors.
fn rounds(processors: usize) -> usize {
    processors.next_power_of_two().ilog2() as usize
}

/// The remaining steps of a processor.
pub(crate) struct PatternSteps {
    pattern: MessagePattern,
    id: usize,
    processors: usize,
    /// The number of remaining repeats, including the current one.
    left: usize,
    /// The index of the next step in the repeat.
    place: usize,
    /// The number of steps in a repeat.
    steps: usize,
}

impl PatternSteps {
    /// Returns the distance to the first processor to which this one passes a broadcast on.
    fn first_distance(&self) -> usize {
        if self.id == 0 { 1 } else { 1 << (self.id.ilog2() + 1) }
    }

    /// Returns the number of processors to which this one passes a broadcast on.
    fn child_count(&self) -> usize {
        let distances = std::iter::successors(Some(self.first_distance()), |distance| Some(2 * distance));
        distances.take_while(|distance| self.id + distance < self.processors).count()
    }

    /// Returns the processor at this distance ahead.
    fn processor_ahead(&self, distance: usize) -> usize {
        let to = self.id + distance;
        if to < self.processors { to } else { to - self.processors }
    }
}

impl Iterator for PatternSteps {
    type Item = PatternStep;

    #[inline(always)] // it is the program, of which as little as possible is measured
    fn next(&mut self) -> Option<PatternStep> {
        if self.left == 0 {
            return None;
        }
        let sends = self.place.is_multiple_of(2);
        let step = match self.pattern {
            MessagePattern::Ring if sends => PatternStep::Send(self.processor_ahead(1)),
            MessagePattern::AllToAll if sends => {
                PatternStep::Send(self.processor_ahead(1 + self.left % (self.processors - 1)))
            }
            MessagePattern::Ring | MessagePattern::AllToAll => PatternStep::Recv(None),
            MessagePattern::Dissemination => {
                let distance = 1 << (self.place / 2);
                let away = if sends { distance } else { self.processors - distance };
                if sends {
                    PatternStep::Send(self.processor_ahead(away))
                } else {
                    PatternStep::Recv(Some(self.processor_ahead(away)))
                }
            }
            MessagePattern::Broadcast if self.id > 0 && self.place == 0 => {
                PatternStep::Recv(Some(self.id - self.first_distance() / 2))
            }
            MessagePattern::Broadcast => PatternStep::Send(
                self.id + (self.first_distance() << (self.place - usize::from(self.id > 0))),
            ),
        };
        self.place += 1;
        if self.place == self.steps {
            (self.place, self.left) = (0, self.left - 1);
        }
        Some(step)
    }
}
