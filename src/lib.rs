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
//!     let datum = if p.id() == 0 { 42 } else { p.recv(DATUM) };
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
//! This crate is the machine that runs programs. The rules are in `loggp-model`, which has no stacks, threads or
//! files, and builds for WebAssembly with `loggp-trace`, `loggp-schedule` and `loggp-check`; what a user needs of
//! them has its name here too.
//!
//! Features: `derive` is `#[derive(Payload)]`, a default, and `complex` makes complex numbers payloads.
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
//! the command is in `loggp-cli`.

#![warn(missing_debug_implementations, missing_docs)]
#![allow(non_snake_case)] // L, G and P are the papers' names
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows the feature of each item

#[cfg(not(unix))]
compile_error!(
    "loggp's machine needs Linux, macOS or another Unix: it maps the stacks of its processors, and handles the signals of those \
     that overflow; the crates loggp-model, loggp-schedule and loggp-trace build everywhere"
);

#[cfg(test)]
#[path = "tests/cases.rs"]
mod cases;
mod checked;
mod clock;
pub mod collectives;
pub mod link;
mod machine;
mod proc;
pub mod replay;

/// Audits a trace: compares it with the rules of the machine, by code that shares none with the machine.
pub mod audit {
    #[doc(inline)]
    pub use loggp_trace::audit::{Audit, AuditRule, Violation, audit};
}

/// Checks a program under many orders of messages.
pub mod check {
    #[doc(inline)]
    pub use loggp_check::{
        Check, CheckReport, ChoicePoint, Coverage, DelayedMessage, DistinctResult, Failure, FailureKind,
        Strategy, TrialResult,
    };
}

/// The parameters of a machine: L, o, g, G and P of LogP and LogGP, and those of LogGPS.
pub mod params {
    #[doc(inline)]
    pub use loggp_model::params::{
        Latency, Level, LevelParameter, LeveledParams, LogGps, LongMessages, Noise, Parameter, Params,
        ParamsBuilder, ParamsError, Ports, Precedence, Ties, Work,
    };
    #[doc(inline)]
    pub use loggp_model::transport::{Capacity, Protocol};
    #[doc(inline)]
    pub use loggp_predict::{Model, Preset, PresetValue, preset, presets};
}

/// The events of a run in order, the causes of each, and the critical path through the run.
pub mod path {
    #[doc(inline)]
    pub use loggp_trace::path::{Event, Events, Formula, FormulaBuilder, Hop, HopKind, HopTerm, Path, Track};
}

/// Schedules: the sends, receives and computations of every rank of a parallel program, and their order.
pub mod schedule {
    #[doc(inline)]
    pub use loggp_schedule::{
        Beginning, CostModel, KeptOrder, KeptRun, Operation, PlacedOperation, PlayReport, Player,
        Requirement, Schedule, ScheduleBuilder, ScheduleError,
    };
}

/// Traces: the calls and activities of every processor in a run, and the way of every message.
pub mod trace {
    #[doc(inline)]
    pub use loggp_trace::{
        Activity, ActivityKind, Call, CallKind, CallTag, Caption, Faults, Message, Progress, Rendezvous,
        SendRecv, Trace, TraceError, Transfer, Until,
    };
}

#[doc(inline)]
pub use loggp_model::{
    error::{Cause, ProcStatus, ProcessorState, RunError, WantedMessage},
    message::{AnyTag, Body, Filter, MessageId, Pack, Payload, Slice, Tag, TagFrom, Unpack, WithSender},
    params::{Latency, Level, Noise, Params, ParamsBuilder, ParamsError, Ports, Ties, Work},
    rules::Stats,
    time::{MS, NS, PS, SEC, Time, TimeError, US},
    transport::{Capacity, Protocol},
};
#[doc(inline)]
pub use loggp_predict::preset;
#[doc(inline)]
pub use loggp_schedule::Traffic;
#[doc(inline)]
pub use loggp_trace::Order;

pub use self::{
    clock::{ClockKind, wall::carrier::Carrier, wall::dilation::Dilation, watchdog::Unresponsive},
    machine::{Host, Lateness, Machine, Run},
    proc::{Group, Proc, Request},
};

/// The stack of the thread that carries a processor, for code that needs more than a processor has: an interpreter of
/// another language, say.
pub mod stack {
    pub use crate::clock::stacks::ThreadStack;
    pub use crate::proc::{on_thread_stack, thread_stack};
}

#[doc(hidden)] // for `loggp doctor`
pub use self::machine::{Computer, ProcessorLimit};

#[cfg(feature = "derive")]
pub use loggp_derive::Payload;

/// The documents' examples, which `cargo test` runs.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/reference/model.md")]
    struct ModelPage;
    #[doc = include_str!("../docs/reference/collectives.md")]
    struct CollectivesPage;
    #[doc = include_str!("../docs/reference/traces.md")]
    struct TracesPage;
    #[doc = include_str!("../docs/start/cluster.md")]
    struct ClusterPage;

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
