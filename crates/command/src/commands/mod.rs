//! The subcommands. To add one, write its file, with its arguments and an `execute`, and give it two lines here
//! and a `mod` in its folder.

mod about;
mod runs;
mod schedules;
mod traces;

use std::io::Write;

use crate::error::CliError;

/// A subcommand of the main house, with its arguments. The name is that of its file, and its help and two examples stand
/// at its type.
// In the order of the help. The tests run the examples of all in this order and in one folder, so that one
// may read a file that another wrote.
#[derive(clap::Subcommand)]
pub(crate) enum OwnSubcommand {
    Run(Box<runs::run::RunCommand>),
    Compare(Box<runs::compare::CompareCommand>),
    Sweep(Box<runs::sweep::SweepCommand>),
    Tune(Box<runs::tune::TuneCommand>),
    Check(Box<runs::check::CheckCommand>),
    Calibrate(Box<runs::calibrate::CalibrateCommand>),
    Stress(Box<runs::stress::StressCommand>),
    Matrix(Box<schedules::matrix::MatrixCommand>),
    Schedule(Box<schedules::schedule::ScheduleCommand>),
    Replay(Box<schedules::replay::ReplayCommand>),
    Merge(Box<runs::merge::MergeCommand>),
    New(Box<about::new::NewCommand>),
    Programs(Box<about::programs::ProgramsCommand>),
    Machines(Box<about::machines::MachinesCommand>),
    Analyze(Box<traces::analyze::AnalyzeCommand>),
    Tolerance(Box<traces::tolerance::ToleranceCommand>),
    Timeline(Box<traces::timeline::TimelineCommand>),
    Audit(Box<traces::audit::AuditCommand>),
    Trace2goal(Box<traces::trace2goal::Trace2GoalCommand>),
    Doctor(Box<about::doctor::DoctorCommand>),
    Completions(Box<about::completions::CompletionsCommand>),
    Man(Box<about::man::ManCommand>),
}

impl OwnSubcommand {
    /// Runs the subcommand of the command line that `definition` describes.
    pub(crate) fn execute(&self, definition: &clap::Command, out: &mut dyn Write) -> Result<(), CliError> {
        match self {
            OwnSubcommand::Run(command) => command.execute(out),
            OwnSubcommand::Compare(command) => command.execute(out),
            OwnSubcommand::Sweep(command) => command.execute(out),
            OwnSubcommand::Tune(command) => command.execute(out),
            OwnSubcommand::Check(command) => command.execute(out),
            OwnSubcommand::Calibrate(command) => command.execute(out),
            OwnSubcommand::Stress(command) => command.execute(out),
            OwnSubcommand::Matrix(command) => command.execute(out),
            OwnSubcommand::Schedule(command) => command.execute(out),
            OwnSubcommand::Replay(command) => command.execute(out),
            OwnSubcommand::Merge(command) => command.execute(out),
            OwnSubcommand::New(command) => command.execute(out),
            OwnSubcommand::Programs(command) => command.execute(out),
            OwnSubcommand::Machines(command) => command.execute(out),
            OwnSubcommand::Analyze(command) => command.execute(out),
            OwnSubcommand::Tolerance(command) => command.execute(out),
            OwnSubcommand::Timeline(command) => command.execute(out),
            OwnSubcommand::Audit(command) => command.execute(out),
            OwnSubcommand::Trace2goal(command) => command.execute(out),
            OwnSubcommand::Doctor(command) => command.execute(out),
            OwnSubcommand::Completions(command) => command.execute(definition, out),
            OwnSubcommand::Man(command) => command.execute(definition, out),
        }
    }
}
