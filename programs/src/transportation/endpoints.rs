//! The data of a processor before the transportation and after it.

use std::sync::Arc;

use loggp::{Payload, Time};

use super::packet::Element;
use super::random::RequestCounts;

/// The data of a processor before the transportation.
#[derive(Clone, Debug)]
pub struct Source {
    /// Number of elements for each processor: its send vector.
    pub sendl: Vec<usize>,
    /// The elements; those for processor 0 come first.
    pub elements: Arc<Vec<Element>>,
    /// Outgoing traffic bound of all processors, which all know (section 2).
    pub r: usize,
    /// Seed of random choices.
    pub seed: u64,
}

impl Source {
    /// Returns the place of the first element for each processor.
    pub fn starts(&self) -> Vec<usize> {
        let mut start = 0;
        let place = |elements: &usize| {
            start += elements;
            start - elements
        };
        self.sendl.iter().map(place).collect()
    }
}

/// The result of the transportation on a processor.
#[derive(Clone, Debug, Default, Payload)]
pub struct Delivery {
    /// Message of each processor for this one.
    pub messages: Vec<Vec<Element>>,
    /// End of each phase.
    pub ends: Vec<Time>,
    /// Number of elements for each processor, itself included, in each stage.
    pub lengths: Vec<Vec<usize>>,
    /// With two stages, the lengths of its parts: for each intermediate processor those for each destination.
    pub parts: Vec<Vec<usize>>,
    /// Counts of random scheduling.
    pub counts: RequestCounts,
}
