//! A processor as its program sees it, and its calls.

mod barrier;
mod calls;
mod computing;
mod foreign;
mod group;
mod membership;
mod one_sided;
mod processor;
mod requests;
mod setup;
mod thread_stack;
mod work;

pub use group::Group;
pub(crate) use group::{GroupMembership, Groups};
pub use processor::Proc;
pub use requests::Request;
pub(crate) use setup::Setup;
pub use thread_stack::{on_thread_stack, thread_stack};
pub(crate) use work::Rates;
