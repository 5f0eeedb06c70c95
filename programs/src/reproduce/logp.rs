//! The exhibits of LogP.

use super::Paper;

/// The paper.
pub static PAPER: Paper = Paper {
    name: "LogP",
    source: "Culler, Karp, Patterson, Sahay, Schauser, Santos, Subramonian, von Eicken: \
             \"LogP: Towards a Realistic Model of Parallel Computation\", PPoPP 1993",
    exhibits: &[],
};
