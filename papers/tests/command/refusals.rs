//! Requests of `loggp reproduce` that cannot be met.

use crate::requests::assert_refused;

#[test]
fn refusals_are_worded_so() {
    assert_refused(&[
        ("reproduce logp-fg3", "there is no logp-fg3 to reproduce; the nearest name is logp-fig3"),
        ("reproduce nothing-*", "there is no nothing-* to reproduce"),
        ("reproduce logp-fig3 --repeat 0", "--repeat"),
        ("reproduce --clock virtual --carrier coroutine logp-fig3", "--carrier is for the wall clock"),
        ("reproduce --list --full", "the argument '--list' cannot be used with '--full'"),
        ("reproduce --list --seed 3", "the argument '--list' cannot be used with '--seed <N>'"),
        ("reproduce --format json", "--format is for --list; a report has -o FILE.html and -o FILE.md"),
        ("reproduce -o x.png", "give a name that ends in .md for a summary in Markdown"),
        ("reproduce logp-fig3 -o x.txt", ".md for a summary in Markdown, .html for the page"),
    ]);
}
