//! What a processor knows before the transportation, and what it has after it.

use std::sync::Arc;

use loggp::{Payload, Time};

use super::packet::Element;
use super::random::Counts;

/// What a processor knows and has.
#[derive(Clone, Debug)]
pub struct Source {
    /// How many elements it has for everyone: its send vector.
    pub sendl: Vec<usize>,
    /// The elements, those for processor 0 first.
    pub elements: Arc<Vec<Element>>,
    /// The outgoing traffic bound of all processors, which all know (section 2).
    pub r: usize,
    /// What random choices begin with.
    pub seed: u64,
}

impl Source {
    /// The place of the first element for each processor.
    pub fn starts(&self) -> Vec<usize> {
        let mut start = 0;
        let place = |elements: &usize| {
            start += elements;
            start - elements
        };
        self.sendl.iter().map(place).collect()
    }
}

/// What became of it on a processor.
#[derive(Clone, Debug, Default, Payload)]
pub struct Arrival {
    /// Everyone's message for this processor.
    pub messages: Vec<Vec<Element>>,
    /// When it was done with each phase.
    pub ends: Vec<Time>,
    /// For each stage how many elements it had for everyone, and for itself.
    pub lengths: Vec<Vec<usize>>,
    /// In two stages, the lengths of its parts: for every intermediate processor those for every destination.
    pub parts: Vec<Vec<usize>>,
    /// What random scheduling took.
    pub counts: Counts,
}
