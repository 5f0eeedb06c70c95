//! The numbers that a page has for the kinds of activities, in the order in which `page/kinds.js` lists them.

use loggp_model::log::kinds::KIND_NAMES;

/// The number of kinds.
pub(super) const KINDS: usize = KIND_NAMES.len() + 2;
/// Kinds beyond those of a trace: the overhead of a request or a reply before a long message, and the time
/// that detours take.
pub(super) const RENDEZVOUS: usize = KIND_NAMES.len();
pub(super) const NOISE: usize = RENDEZVOUS + 1;
