//! What a program holds: a processor and its calls.

mod acting;
mod barrier;
mod calls;
mod computing;
mod group;
mod processor;
mod requests;
mod setup;
mod work;

pub use group::Group;
pub(crate) use group::{Acting, Groups};
pub use processor::Proc;
pub use requests::Request;
pub(crate) use setup::Setup;
pub(crate) use work::Rates;
pub use work::Work;
