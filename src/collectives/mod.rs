//! Operations in which every processor takes part, made of messages.
//!
//! | operation | effect | time, for values of a word |
//! |---|---|---|
//! | [`barrier()`] | no processor returns before all have called | (R-1) max(L + 2o, g) + L + 2o |
//! | [`broadcast()`] | one processor's value to all | the optimal tree's: D = L + 2o, d = max(g, o) |
//! | [`broadcast_vector`] | a vector of one processor to all | down the tree, or in pieces along a chain: [`BroadcastPlan`] |
//! | [`reduce()`] | those of all, combined, to one | backwards: D = L + 2o + c, d = max(g, o + c) |
//! | [`all_reduce`] | the same, to all | (R-1) max(L + 2o + c, g) + L + 2o + c, if P = 2^R |
//! | [`all_max`] | the largest of all, its place, and the data with it, to all | `all_reduce`'s |
//! | [`scan()`] | to x the values of 0 to x, combined | (R-1) max(L + 2o + c, g) + L + 2o + c |
//! | [`exclusive_scan`] | to x the values of 0 to x - 1, combined | the same, and c more in R - 2 steps |
//! | [`gather()`] | the values of all to one | L + 2o + (P-2) max(g, o), or a binomial tree's |
//! | [`scatter()`] | a value of one processor to each | L + 2o + (P-2) max(g, o), or a binomial tree's |
//! | [`all_gather()`] | the values of all to all | (R-1) max(L + 2o, g) + L + 2o + (P-1-R)G, or `all_to_all`'s |
//! | [`all_gather_vector`] | the vectors of all to all | `all_gather`'s, or word by word (n(P-1) - 1) max(g, 2o) + L + 2o |
//! | [`all_to_all()`] | a value from each to each | (P-2)g + L + 2o |
//! | [`reduce_scatter()`] | a value from each to each, combined | `all_to_all`'s, and (P-1)c |
//! | [`reduce_vector`] | vectors by elements, to one | as `reduce`, or `all_to_all` and `gather` of parts |
//! | [`all_reduce_vector`] | the same, to all | as `all_reduce`, or two `all_to_all` of parts |
//! | [`scan_vector`] | to x the vectors of 0 to x, combined | as `scan`, or two `all_to_all` of parts |
//!
//! R is ceil(log2 P), and c is the cost of combining two values, a unit of the work "combine". Each
//! operation's documentation gives its time as a formula, with the conditions under which that is exact. The
//! formulas are for LogP and LogGP; on a LogGPS machine the operations work too, and the formulas hold with
//! its overheads where no message waits for its receiver. Where work is measured, combining costs its
//! measured time.
//!
//! Rows and columns of a grid, or any [`Group`](crate::Group), call them as `collectives::reduce(&mut
//! p.within(&row), ..)`: P is then the number of members, which are counted by rank.
//!
//! On a machine with [levels](crate::Machine::levels) the barrier, broadcast, reduce and all-gather of all
//! processors run level by level. They take the sum of the levels' times, each with its parameters and its
//! number of groups for P, where no g is above the L of any level. All other operations, and all within a
//! group, are planned for the innermost level that has all callers in one group.
//!
//! Every processor calls them, in the same order. Their messages have tags that no program can use, with the
//! number of the call in them; so they take no other messages, and successive calls do not mix, whatever the
//! order of arrival. If processors call different ones, the run ends with an error.
//!
//! They are programs like all others, and their messages have the usual costs. A processor returns as soon as
//! its part is done.

mod all_gather;
mod all_to_all;
mod barrier;
mod broadcast;
mod call;
mod chain;
mod exchange;
mod gather;
mod group_proc;
mod levels;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod vector;

pub use all_gather::{all_gather, all_gather_vector};
pub use all_to_all::all_to_all;
pub use barrier::barrier;
pub use broadcast::broadcast;
pub use chain::{broadcast_chain, broadcast_vector};
pub use exchange::Shift;
pub use gather::gather;
pub use group_proc::GroupProc;
#[doc(inline)]
pub use loggp_predict::collectives::BroadcastPlan;
pub use reduce::{Maximum, all_max, all_reduce, reduce};
pub use reduce_scatter::reduce_scatter;
pub use scan::{exclusive_scan, scan};
pub use scatter::scatter;
pub use vector::{all_reduce_vector, reduce_vector, scan_vector};
