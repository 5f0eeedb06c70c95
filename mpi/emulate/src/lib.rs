//! MPI programs on the machine: each rank of a real, unchanged program is a processor.
//!
//! The library that records is preloaded into the ranks in its second mode. At each call of MPI a rank posts what it is
//! about to do through shared memory, and stops until the machine says that it goes on. What a call costs, which message
//! a receive takes and who stalls is what the machine's own calls do: no rule stands here a second time.
//!
//! - `shared_file`: a file that processes map; `segment`: the one of all ranks, and the turns of a rank and the command;
//! - `link`: what a rank posts, with its data, and the answers;
//! - `rank`: the loop of a processor, which makes the calls of its rank: `messages`, `requests`, `collectives` and
//!   `communicators` have a file each, and `reply` is what the rank hears; `probes` has the messages that are at a rank already;
//! - `plan`: the messages of a collective, as the MPI in use sends them; `blocking` and `background` make those of blocking
//!   and of immediate ones; `board`: the data of collectives;
//! - `looks`: how long a look in vain takes where a program is checked;
//! - `fault`: what is wrong with a program, of which kind and where;
//! - `ending`: how a rank has ended that did not come to its end;
//! - `failure`: why a program cannot go on, and in which calls its ranks are then;
//! - `threads`: ranks of which several threads call MPI;
//! - `windows`: what ranks do with each other's memory; `accesses` and `ordering`: which of it
//!   nothing orders, where a program is checked;
//! - `session`: all ranks of a program, from their begin to their end;
//! - `nursery`: the process from which all ranks are forked, where there is no launcher.
//!
//! The data of messages travel as the machine's own payloads; those of a collective lie on a board, from which each rank
//! takes what it needs once its part in the collective's messages is over.

#![cfg(target_os = "linux")]
#![allow(non_snake_case)] // P is the papers' name

mod accesses;
mod background;
mod blocking;
mod board;
mod collectives;
mod communicators;
mod ending;
mod failure;
mod fault;
mod link;
mod locks;
mod looks;
mod messages;
mod nursery;
mod ordering;
mod parcel;
mod pending;
mod plan;
mod probes;
mod rank;
mod reply;
mod requests;
mod segment;
mod session;
mod shared;
mod shared_file;
mod threads;
mod watch;
mod windows;

pub use fault::{Fault, FaultKind, Notes};
pub use nursery::{Keeper, Nursery};
pub use segment::RANK_BYTES;
pub use session::{MOST_RANKS, Session};
pub use shared::{Checks, Settings};
