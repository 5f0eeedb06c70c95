//! Metrics of a run: message lengths, and the counts of random scheduling.

use super::endpoints::Delivery;

/// Names of a stage's metrics: the lengths of messages in elements, and the traffic of the busiest
/// intermediate, which it receives in the first stage and sends in the second.
const NAMES: [[&str; 5]; 2] = [
    ["1: least", "1: most", "1: mean", "1: variance", "1: busiest"],
    ["2: least", "2: most", "2: mean", "2: variance", "2: busiest"],
];

/// Returns the metrics of the lengths of all messages in each stage, including empty ones and those to
/// oneself.
pub(super) fn lengths(deliveries: &[Delivery]) -> impl Iterator<Item = (&'static str, f64)> {
    let stages = deliveries.first().map_or(0, |delivery| delivery.lengths.len());
    (0..stages).flat_map(|stage| {
        let rows: Vec<&Vec<usize>> = deliveries.iter().map(|delivery| &delivery.lengths[stage]).collect();
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
        NAMES[stage].into_iter().zip(values)
    })
}

/// Returns the counts of random scheduling: requests, of which some were rejected and repeated, and sleeps.
/// There are none if nothing was counted.
pub(super) fn counts(deliveries: &[Delivery]) -> impl Iterator<Item = (&'static str, f64)> {
    let sum = |of: fn(&Delivery) -> u64| deliveries.iter().map(of).sum::<u64>() as f64;
    let metrics = [
        ("requests", sum(|delivery| delivery.counts.requests)),
        ("rejected", sum(|delivery| delivery.counts.rejected)),
        ("sleeps", sum(|delivery| delivery.counts.sleeps)),
    ];
    let counted = metrics.iter().any(|(_, count)| *count > 0.0);
    metrics.into_iter().filter(move |_| counted)
}
