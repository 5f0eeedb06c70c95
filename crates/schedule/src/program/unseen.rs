//! The part of a program that its schedule does not say.

/// Calls of one name that are not modelled. Their time is computing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmodelled {
    pub name: String,
    /// How often it was called.
    pub count: u64,
    /// The time inside of these calls, if the recorder says it.
    pub inside_ns: Option<i64>,
}

/// The part of a program that its schedule does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Calls that are not modelled: mostly they exchange messages, and here they are computing.
    pub calls: Vec<Unmodelled>,
    /// Tests and probes that found nothing, and after which a rank did something else than to wait.
    pub vain_looks: u64,
    /// The time inside of these.
    pub vain_ns: i64,
    /// Tests and probes that found something, but for tests that only ended a wait.
    pub found_looks: u64,
}

impl Unseen {
    /// Returns whether the time of the run on another machine hangs on what was not recorded.
    pub fn is_open(&self) -> bool {
        !self.calls.is_empty() || self.vain_looks > 0
    }

    /// Adds calls of a rank that are not modelled.
    pub fn add_calls(&mut self, calls: &Unmodelled) {
        match self.calls.iter_mut().find(|known| known.name == calls.name) {
            Some(known) => {
                known.count = known.count.saturating_add(calls.count);
                let inside_ns = known.inside_ns.zip(calls.inside_ns);
                known.inside_ns = inside_ns.map(|(one, other)| one.saturating_add(other));
            }
            None => self.calls.push(calls.clone()),
        }
    }
}
