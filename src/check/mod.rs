//! Is a program right under every order of messages? It runs again and again under other orders, on the virtual clock, and
//! what fails is reduced to few late messages.
//!
//! A [`Strategy`] says which orders are tried, each of them a file: it sets latencies and ties, and knows nothing of the
//! program. What a run did is read from its trace (`history.rs`).

mod calls;
mod conflicts;
mod faults;
mod few_changes;
mod history;
mod known;
mod late_few;
mod machine;
mod one_end;
mod prefix;
mod random;
mod reduction;
mod report;
mod room;
mod script;
mod settings;
mod strategy;
mod systematic;
mod times;
mod trials;

pub use report::{Checked, Choices, Class, Failure, Late, Wrong};
pub use settings::{Check, Tried};
pub use strategy::Strategy;
pub use systematic::Coverage;
