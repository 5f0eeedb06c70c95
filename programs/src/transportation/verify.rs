//! Verification: every message must be at its destination, with its elements in order.

use super::endpoints::Source;
use super::packet::Element;

/// Compares each processor's messages with those that the sources had for it.
pub(super) fn verify<'a>(
    sources: &[Source],
    results: impl Iterator<Item = &'a [Vec<Element>]>,
) -> Result<(), String> {
    let starts: Vec<Vec<usize>> = sources.iter().map(Source::starts).collect();
    for (j, result) in results.enumerate() {
        if result.len() != sources.len() {
            return Err(format!(
                "processor {j} has messages of {}, and there are {}",
                result.len(),
                sources.len()
            ));
        }
        for (i, (message, source)) in result.iter().zip(sources).enumerate() {
            let right = &source.elements[starts[i][j]..][..source.sendl[j]];
            if message.len() != right.len() {
                return Err(format!(
                    "processor {j} has {} elements of processor {i}, and {} were for it",
                    message.len(),
                    right.len()
                ));
            }
            if let Some(place) = (0..right.len()).find(|place| message[*place] != right[*place]) {
                return Err(format!(
                    "processor {j} has another element {place} than processor {i} had for it"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_a_wrong_message() {
        let source = |sendl: [usize; 2], elements: Vec<u32>| Source {
            sendl: sendl.into(),
            elements: elements.into(),
            r: 3,
            seed: 0,
        };
        let sources = [source([1, 2], vec![1, 2, 3]), source([0, 1], vec![4])];
        let right = [vec![vec![1], vec![]], vec![vec![2, 3], vec![4]]];
        let verified = |result: &[Vec<u32>]| verify(&sources, [&right[0][..], result].into_iter());
        assert_eq!(verified(&right[1]), Ok(()));
        for (wrong, what) in [
            (vec![vec![3, 2], vec![4]], "processor 1 has another element 0 than processor 0 had for it"),
            (vec![vec![2, 3], vec![5]], "processor 1 has another element 0 than processor 1 had for it"),
            (vec![vec![2], vec![4]], "processor 1 has 1 elements of processor 0, and 2 were for it"),
            (vec![vec![2, 3]], "processor 1 has messages of 1, and there are 2"),
        ] {
            assert_eq!(verified(&wrong), Err(what.into()));
        }
    }
}
