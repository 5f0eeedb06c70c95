//! An emulated parallel machine whose messages cost what the LogP family of models says.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod audit;
mod clock;
mod error;
mod host;
mod machine;
mod message;
mod network;
mod params;
mod parcel;
mod presets;
mod proc;
mod stats;
mod time;
mod trace;
mod work;

pub use audit::{Audit, Rule, Violation, audit};
pub use clock::ClockKind;
pub use clock::dilation::Dilation;
pub use error::{Cause, Doing, RunError, State, WantedMessage};
pub use host::{Host, Lateness};
pub use machine::{Machine, Run};
pub use message::Payload;
pub use network::{Exit, Latency, Network, Passage, Ports};
pub use params::{Builder, LogGps, Params, ParamsError, parse_time};
pub use presets::{Preset, Row, preset, presets};
pub use proc::Proc;
pub use stats::Stats;
pub use time::{MS, NS, PS, SEC, Time, US};
pub use trace::{Activity, Message, MessageId, Trace, TraceError, What};
pub use work::Work;

#[cfg(feature = "derive")]
pub use loggp_derive::Payload;
