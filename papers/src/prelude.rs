//! Imports of most files of exhibits.

pub(crate) use loggp::trace::{ActivityKind, Trace};
pub(crate) use loggp::{MS, Params, SEC, Time, US};
pub(crate) use loggp_document::Table;
pub(crate) use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
pub(crate) use loggp_programs::Case;
pub(crate) use loggp_study::StudyError;

pub(crate) use super::answer::{Ran, RunResult};
pub(crate) use super::exhibit::Exhibit;
pub(crate) use super::lab::Lab;
pub(crate) use super::machines::{cm5, cycle_machine, in_us, preset_machine};
pub(crate) use super::row::{
    DifferenceCause, ExhibitRow, above, at_least, at_most, below, between, exactly, mean, variance,
};
pub(crate) use super::series::{CaseResult, CaseSeries, SeriesResult};
pub(crate) use super::sheet::{Sheet, join_words, marked_line};
