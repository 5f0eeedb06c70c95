//! The exhibits of the transportation paper.

use super::Paper;

/// The paper.
pub static PAPER: Paper = Paper {
    name: "Transportation",
    source: "Shankar, Alsabti, Ranka: \
             \"The Transportation Primitive\", Syracuse University, 1994",
    exhibits: &[],
};
