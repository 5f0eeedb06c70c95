//! The parameters of a machine: L, o, g, G and P of LogP and LogGP, and what LogGPS adds.
//!
//! [`Params`] is plain data, and [`Parameter::ALL`] is the table of what is in it. A [`ParamsBuilder`] fills it, from
//! code, from a preset or from text, and refuses what cannot be; what a message costs under the parameters is in
//! `costs.rs`.

mod builder;
mod check;
mod costs;
mod model;
#[expect(clippy::module_inception)] // the file has what the folder is named for
mod params;
mod presets;
mod read;
mod settings;
mod table;

pub use builder::ParamsBuilder;
pub(crate) use costs::{ReceptionCost, Surcharge};
pub use model::Model;
pub(crate) use params::MOST_WORDS;
pub use params::{LogGps, LongMessages, Params, ParamsError};
pub use presets::{Preset, PresetValue, preset, presets};
pub use settings::{Latency, Ports, Ties};
pub use table::Parameter;
