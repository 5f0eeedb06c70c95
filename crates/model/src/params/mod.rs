//! The parameters of a machine: L, o, g, G and P of LogP and LogGP, and those of LogGPS.
//!
//! [`Params`] is plain data, and [`Parameter::ALL`] is the table of its parameters. A [`ParamsBuilder`] makes
//! `Params` from code, a preset or text, and refuses invalid values; `costs.rs` has the costs of messages.

mod builder;
mod by_name;
mod check;
mod costs;
mod leveled;
mod levels;
mod noise;
#[expect(clippy::module_inception)] // the file has `Params`, for which the folder is named
mod params;
mod read;
mod settings;
mod table;

pub use builder::ParamsBuilder;
pub use costs::{ReceptionCost, Surcharge};
pub use leveled::{LevelParameter, LeveledParams};
pub use levels::{Level, PerLevel, innermost_level, innermost_params, level_params};
pub(crate) use noise::Detours;
pub use noise::Noise;
pub use params::{LogGps, LongMessages, MAX_PROCESSORS, MAX_WORDS, Params, ParamsError};
pub use settings::{Latency, Ports, Precedence, Ties, Work};
pub use table::Parameter;
