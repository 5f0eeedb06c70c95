//! An emulated parallel machine whose messages have the costs of the LogP family of models.
//!
//! A program is a closure that every processor runs. It gets a [`Proc`], computes, and sends real values in
//! messages; the time of each call follows from the latency L, the overhead o, the gap g, the Gap per word G
//! and the network's capacity. On the virtual clock time jumps: unless work is measured, a run is exact and
//! the same every time. On the wall clock processors are threads that really wait. See [`ClockKind`] and
//! [`Work`].
//!
//! ```
//! use loggp::{Machine, Params, Tag, US};
//!
//! const DATUM: Tag<u64> = Tag::new(0);
//!
//! // The broadcast of LogP's figure 3, with the time at which each processor has the datum.
//! let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
//! let children: [&[usize]; 8] = [&[1, 2, 3, 5], &[4, 6], &[7], &[], &[], &[], &[], &[]];
//! let run = Machine::new(params).run(|p| {
//!     let datum = if p.id() == 0 { 42 } else { p.recv(DATUM).1 };
//!     let at = p.now();
//!     for &child in children[p.id()] {
//!         p.send(child, DATUM, datum);
//!     }
//!     at
//! })?;
//! assert_eq!(run.results, [0, 10, 14, 18, 20, 22, 24, 24].map(|cycles| cycles * US));
//! assert_eq!((run.time, run.stalls()), (24 * US, 0));
//! # Ok::<(), loggp::RunError>(())
//! ```
//!
//! - [`Params`] are the machine's parameters: built by hand, read from text, or from a paper ([`preset`]).
//!   [`Parameter::ALL`](params::Parameter::ALL) is their table.
//! - [`Machine`] adds settings and runs programs. A [`Run`] has the results, the time, and its division among
//!   activities. A [`RunError`] has the reason of a failure, and the state of every processor.
//! - [`Proc`] is the interface of a program to its processor, [`Payload`] the trait of values that it can
//!   send, and [`Tag`] the subject of a message.
//! - [`collectives`] are operations in which every processor takes part.
//! - [`Host`] tells how late this computer was in a run on the wall clock, and how reliable its times are.
//! - A [`Trace`](trace::Trace) is a record of a run. [`audit`](audit::audit) checks it against the rules, and
//!   [`Replay`](replay::Replay) repeats the run from it.
//! - [`Check`](check::Check) runs a program under many [orders](Order) of messages, and reduces a failure to
//!   the fewest late messages.
//! - A [`Schedule`](schedule::Schedule) lists the sends, receives and computations of ranks without a
//!   program; a [`Player`](schedule::Player) plays it under the same rules, for up to millions of ranks.
//! - [`Traffic`] is the network alone, for costs without a run.
//!
//! Features: `machine` is what runs programs (clocks, processors, collectives, checks). Without it there are
//! parameters, schedules, traces, paths and timelines, which build for WebAssembly too. `derive` is
//! `#[derive(Payload)]`, and `complex` makes complex numbers payloads. The first two are defaults.
//!
//! # Signals of the process
//!
//! The first run installs a handler for SIGSEGV and SIGBUS, of the whole process, to name a processor whose
//! stack has overflowed: a fault in the guard page of such a stack ends the process with a line on stderr. For
//! any other of these signals the action that was there before takes its place again and gets the signal, so
//! that other handlers, such as those of other runtimes, work as before. A thread that runs a machine and has
//! no stack for signals has one while the run lasts. A handler that is installed later replaces this one and
//! should pass on what it does not know; stack overflows are then its business. A [`Player`](schedule::Player)
//! of schedules, which have no stacks, installs nothing.
//!
//! `docs/reference/model.md` explains the rules. The papers' programs are in the crate `loggp-programs`, and
//! the command is in `loggp-command`.

#![warn(missing_debug_implementations, missing_docs, unreachable_pub)]
#![allow(non_snake_case)] // L, G and P are the papers' names
#![cfg_attr(not(feature = "machine"), allow(dead_code, unused_imports))] // the machine uses them
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows the feature of each item

#[cfg(all(feature = "machine", not(unix)))]
compile_error!(
    "loggp's machine needs Linux, macOS or another Unix: it maps the stacks of its processors, and handles the signals of those \
     that overflow; without the feature `machine` there are schedules and traces"
);

mod agenda;
pub mod audit;
#[cfg(test)]
mod cases;
#[cfg(feature = "machine")]
pub mod check;
#[cfg(feature = "machine")]
mod clock;
#[cfg(feature = "machine")]
pub mod collectives;
mod error;
#[cfg(feature = "machine")]
pub mod link;
#[cfg(feature = "machine")]
mod machine;
mod message;
mod panics;
pub mod params;
pub mod path;
mod prefetch;
#[cfg(feature = "machine")]
mod proc;
#[cfg(feature = "machine")]
pub mod replay;
mod rounds;
mod rules;
pub mod schedule;
mod text;
mod time;
pub mod timeline;
pub mod trace;

pub use error::{Cause, ProcStatus, ProcessorState, RunError, WantedMessage};
pub use message::{AnyTag, Body, Filter, MessageId, Pack, Payload, Slice, Tag, TagFrom, Unpack};
pub use params::{
    Capacity, Latency, Level, Noise, Params, ParamsBuilder, ParamsError, Ports, Ties, Work, preset,
};
pub use rules::{Stats, Traffic};
pub use time::{MS, NS, PS, SEC, Time, TimeError, US};

#[cfg(feature = "machine")]
pub use self::{
    clock::{ClockKind, wall::carrier::Carrier, wall::dilation::Dilation, watchdog::Unresponsive},
    machine::{Host, Lateness, Machine, Order, Run},
    proc::{Group, Proc, Request},
};

#[cfg(feature = "derive")]
pub use loggp_derive::Payload;

/// Shared with the project's other crates; no part of the public API.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "machine")]
    pub use crate::machine::{Computer, Recording, Room};
    pub use crate::message::Plain;
    pub use crate::path::index::partition_place;
    #[cfg(feature = "machine")]
    pub use crate::proc::{on_thread_stack, thread_stack};
    pub use crate::rounds::{BinomialPlace, Nodes, Round, bruck, dissemination, distances, staggered};
    pub use crate::rules::engine::ThreadStack;
    pub use crate::text::{EscapedText, escaped, nearest_name};
    pub use crate::timeline::{SCRIPT as TIMELINE_SCRIPT, script_source};
    pub use crate::trace::kinds::{KIND_NAMES, kind_number};
}

/// The documents' examples, which `cargo test` runs.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/reference/model.md")]
    struct Model;
    #[doc = include_str!("../docs/reference/collectives.md")]
    struct Collectives;
    #[doc = include_str!("../docs/reference/traces.md")]
    struct Traces;
    #[doc = include_str!("../docs/start/cluster.md")]
    struct Cluster;

    /// The compiler warns of a setting whose result is not used.
    ///
    /// ```compile_fail
    /// #![deny(unused_must_use)]
    /// let machine = loggp::Machine::new(loggp::Params::builder(2).build().unwrap());
    /// machine.trace(true);
    /// ```
    ///
    /// ```compile_fail
    /// #![deny(unused_must_use)]
    /// loggp::Params::builder(2).L(loggp::US);
    /// ```
    struct MustUse;
}
