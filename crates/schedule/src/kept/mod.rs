//! Orders of acts that are kept from a run, and played again on other machines.

mod choices;
pub(crate) mod order;
mod path;
mod run;

pub use choices::{KeptChoices, Side};
pub use order::KeptOrder;
pub use run::KeptRun;
