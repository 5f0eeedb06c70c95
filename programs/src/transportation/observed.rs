//! What a run showed beside its time: phases, message lengths, and what random scheduling took.

use loggp::Time;

use super::arrival::Arrival;
use crate::Metric;

/// The names of a stage's metrics: the lengths of messages in elements, and the traffic at the busiest intermediate, which
/// is what comes to it in the first stage and what goes from it in the second.
const NAMES: [[&str; 5]; 2] = [
    ["1: least", "1: most", "1: mean", "1: variance", "1: busiest"],
    ["2: least", "2: most", "2: mean", "2: variance", "2: busiest"],
];

/// How long the phases took: one ends when the last processor has done it, and then the next begins.
pub fn phases(arrivals: &[Arrival]) -> Vec<Time> {
    let count = arrivals.first().map_or(0, |arrival| arrival.ends.len());
    let end = |n: usize| arrivals.iter().map(|arrival| arrival.ends[n]).max().unwrap_or(Time::ZERO);
    (0..count).map(|n| end(n) - n.checked_sub(1).map_or(Time::ZERO, end)).collect()
}

/// The lengths of all messages of each stage, own and empty ones among them.
pub fn lengths(arrivals: &[Arrival]) -> Vec<Metric> {
    let stages = arrivals.first().map_or(0, |arrival| arrival.lengths.len());
    let metrics = |stage: usize| {
        let rows: Vec<&Vec<usize>> = arrivals.iter().map(|arrival| &arrival.lengths[stage]).collect();
        let all = || rows.iter().flat_map(|row| row.iter().copied());
        let n = all().count() as f64;
        let mean = all().sum::<usize>() as f64 / n;
        let variance = all().map(|length| (length as f64 - mean).powi(2)).sum::<f64>() / n;
        let busiest = match stage {
            0 => (0..rows.len()).map(|k| rows.iter().map(|row| row[k]).sum()).max(),
            _ => rows.iter().map(|row| row.iter().sum::<usize>()).max(),
        };
        let (least, most) = (all().min().unwrap_or(0) as f64, all().max().unwrap_or(0) as f64);
        let values = [least, most, mean, variance, busiest.unwrap_or(0) as f64];
        NAMES[stage].into_iter().zip(values).map(|(name, value)| Metric { name, unit: "", value })
    };
    (0..stages).flat_map(metrics).collect()
}

/// What random scheduling took: requests, of which some were rejected and repeated, and sleeps.
pub fn counts(arrivals: &[Arrival]) -> Vec<Metric> {
    let sum = |of: fn(&Arrival) -> u64| arrivals.iter().map(of).sum::<u64>() as f64;
    let metrics = [
        ("requests", sum(|arrival| arrival.counts.requests)),
        ("rejected", sum(|arrival| arrival.counts.rejected)),
        ("sleeps", sum(|arrival| arrival.counts.sleeps)),
    ];
    metrics.into_iter().map(|(name, value)| Metric { name, unit: "", value }).collect()
}
