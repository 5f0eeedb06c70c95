//! The subcommands. To add one, write its file, with its arguments and an `execute`, and give it two lines here
//! and a `mod` in its folder.

mod about;
mod runs;
mod schedules;
mod traces;

use std::io::Write;

use crate::error::CliError;

/// A subcommand with its arguments. The name is that of its file, and its help and two examples stand at its type.
// In the order of the help. The tests run the examples of all in this order and in one folder, so that one
// may read a file that another wrote.
#[derive(clap::Subcommand)]
pub(crate) enum Subcommand {
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

impl Subcommand {
    /// Runs the subcommand of the command line that `definition` describes.
    pub(crate) fn execute(&self, definition: &clap::Command, out: &mut dyn Write) -> Result<(), CliError> {
        match self {
            Subcommand::Run(command) => command.execute(out),
            Subcommand::Compare(command) => command.execute(out),
            Subcommand::Sweep(command) => command.execute(out),
            Subcommand::Tune(command) => command.execute(out),
            Subcommand::Check(command) => command.execute(out),
            Subcommand::Calibrate(command) => command.execute(out),
            Subcommand::Stress(command) => command.execute(out),
            Subcommand::Matrix(command) => command.execute(out),
            Subcommand::Schedule(command) => command.execute(out),
            Subcommand::Replay(command) => command.execute(out),
            Subcommand::Merge(command) => command.execute(out),
            Subcommand::New(command) => command.execute(out),
            Subcommand::Programs(command) => command.execute(out),
            Subcommand::Machines(command) => command.execute(out),
            Subcommand::Analyze(command) => command.execute(out),
            Subcommand::Tolerance(command) => command.execute(out),
            Subcommand::Timeline(command) => command.execute(out),
            Subcommand::Audit(command) => command.execute(out),
            Subcommand::Trace2goal(command) => command.execute(out),
            Subcommand::Doctor(command) => command.execute(out),
            Subcommand::Completions(command) => command.execute(definition, out),
            Subcommand::Man(command) => command.execute(definition, out),
        }
    }
}
