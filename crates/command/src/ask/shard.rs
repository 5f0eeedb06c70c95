//! Shards: parts of the runs of one command, so that several computers can share them.

use std::str::FromStr;

/// One of several parts, such as 2/4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shard {
    /// Number of the part, from 1.
    number: usize,
    /// Number of parts.
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text
            .split_once('/')
            .and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { number, count }),
            _ => Err("give which part of how many, such as 1/4 for the first of four".into()),
        }
    }
}

/// Returns the items of a shard, or all without one. Items are dealt out in turn, so that each shard has
/// short and long runs.
pub fn shard_items<T>(shard: Option<Shard>, items: impl IntoIterator<Item = T>) -> Vec<T> {
    let Shard { number, count } = shard.unwrap_or(Shard { number: 1, count: 1 });
    items.into_iter().skip(number - 1).step_by(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_one_shard() {
        let shard = |text: &str| text.parse::<Shard>();
        let items = |text: &str| shard_items(shard(text).ok(), 0..7);
        assert_eq!([items("1/3"), items("2/3"), items("3/3")], [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
        assert_eq!((shard_items(None, 0..3), items("1/1").len()), (vec![0, 1, 2], 7));
        assert!(["0/3", "4/3", "1", "a/b", "1/0"].iter().all(|text| shard(text).is_err()));
    }
}
