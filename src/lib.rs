//! An emulated parallel machine whose messages cost what the LogP family of models says.
//!
//! A program is a closure that every processor runs. It gets a [`Proc`], computes, and sends real values in
//! messages; each call takes as long as latency L, overhead o, gap g, Gap per word G and the network's
//! capacity make it. On the virtual clock time jumps: unless work is measured, a run is exact and the same
//! every time. On the wall clock processors are threads that really wait. See [`ClockKind`] and [`Work`].
//!
//! ```
//! use loggp::{Machine, Params, Tag, US};
//!
//! const DATUM: Tag<u64> = Tag::new(0);
//!
//! // The broadcast of LogP's figure 3, with everyone's time of arrival.
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
//!   [`Parameter::ALL`] is the table of them.
//! - [`Machine`] adds settings and runs programs; a [`Run`] has the results, the time, and where the time went.
//!   A [`RunError`] says why a run failed, and what every processor was doing.
//! - [`Proc`] is what a program calls, a [`Payload`] is what it can send, and a [`Tag`] says what a message is about.
//! - [`collectives`] are operations in which every processor takes part.
//! - [`Host`] says how late this computer was in a run on the wall clock, and how far to trust its times.
//! - A [`Trace`] is what happened; [`audit`](fn@audit) holds it against the rules, and a [`Replay`] makes the run again.
//! - [`Check`] runs a program under many [orders](Order) of messages, and reduces what fails to the fewest late messages.
//! - A [`Schedule`] says what ranks send, receive and compute without a program; a [`Player`] plays it under the same rules,
//!   up to millions of ranks.
//! - [`Traffic`] is the network alone, for those who want a cost without a run.
//!
//! The rules are told at length in `docs/reference/model.md`. The papers' programs are in the crate `loggp-programs`, and
//! the command is in `loggp-command`.

#![warn(missing_debug_implementations, missing_docs, unreachable_pub)]
#![allow(non_snake_case)] // L, G and P are the papers' names
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs says which feature has what

#[cfg(not(unix))]
compile_error!(
    "loggp needs Linux, macOS or another Unix: it maps the stacks of its processors, and handles the signals of those that overflow"
);

mod audit;
#[cfg(test)]
mod cases;
mod check;
mod clock;
pub mod collectives;
mod error;
mod link;
mod machine;
mod message;
mod params;
pub mod path;
mod proc;
mod replay;
mod rules;
mod schedule;
mod text;
mod time;
mod timeline;
mod trace;

pub use audit::{Audit, Rule, Violation, audit};
pub use check::{Check, Checked, Choices, Class, Coverage, Failure, Late, Strategy, Tried, Wrong};
pub use clock::ClockKind;
pub use clock::wall::carrier::Carrier;
pub use clock::wall::dilation::Dilation;
pub use clock::watchdog::Silence;
pub use error::{Cause, Doing, ProcessorState, RunError, WantedMessage};
pub use link::{Came, Channels, Link};
pub use machine::{Host, Lateness, Machine, Order, Run};
#[doc(hidden)]
pub use message::Plain;
pub use message::{Body, MessageId, Pack, Payload, Slice, Tag, Unpack};
pub use params::{
    Latency, Level, LogGps, LongMessages, Model, Noise, Parameter, Params, ParamsBuilder, ParamsError, Ports,
    Precedence, Preset, PresetValue, Ties, preset, presets,
};
pub use proc::{Group, Proc, Request, Work};
pub use replay::Replay;
pub use rules::{Stats, Traffic};
pub use schedule::{
    Operation, Placed, Played, Player, Requirement, Rules, Schedule, ScheduleBuilder, ScheduleError,
};
#[doc(hidden)]
pub use text::{Outside, near, outside};
pub use time::{MS, NS, PS, SEC, Time, TimeError, US};
pub use timeline::Timeline;
pub use trace::{
    Activity, ActivityKind, Call, CallKind, CallTag, Caption, Faults, Message, Progress, Rendezvous,
    SendRecv, Trace, TraceError, Transfer, Until,
};

#[cfg(feature = "derive")]
pub use loggp_derive::Payload;

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

    /// The compiler warns of a setting that is set on nothing.
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
