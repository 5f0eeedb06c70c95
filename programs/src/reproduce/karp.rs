//! The exhibits of Karp et al..

use super::Paper;

/// The paper.
pub static PAPER: Paper = Paper {
    name: "Karp et al.",
    source: "Karp, Sahay, Santos, Schauser: \
             \"Optimal Broadcast and Summation in the LogP Model\", SPAA 1993",
    exhibits: &[],
};
