//! `loggp compare`: a program's algorithms side by side, a row each.

use std::io::Write;

use clap::Args;
use loggp_programs::Study;

use super::failure::Failure;
use super::options::{ClockOption, Options};
use super::progress::Progress;
use super::report::Report;
use super::row::Row;
use super::setting::Setting;

/// The arguments.
#[derive(Args)]
pub struct Compare {
    /// The program: `loggp programs` lists them
    program: String,
    /// Its algorithms [default: all]
    #[arg(value_name = "ALGORITHM")]
    algorithms: Vec<String>,
    /// How to run them.
    #[command(flatten)]
    options: Options,
}

impl Compare {
    /// Runs them all, also where some fail, and then says which failed.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let setting = Setting::of(&self.program, &self.options, ClockOption::Wall)?;
        let mut failed = Vec::new();
        let mut report = Report::new(out, self.options.format);
        let studies = self.studies(&setting)?;
        let progress = Progress::of(studies.iter().map(Study::runs).sum());
        for (i, study) in studies.iter().enumerate() {
            let algorithm = study.case.algorithm;
            let name = algorithm.name;
            progress.begin(i * study.runs(), name);
            match study.run_with(|| progress.step()) {
                Ok(answers) => {
                    let row = Row::new(&setting, study, &answers);
                    failed.extend(answers.wrong.map(|what| format!("the result of {name} is wrong: {what}")));
                    progress.aside(|| report.add(&setting, algorithm, row))?;
                }
                Err(error) => failed.push(format!("{name} failed: {error}")),
            }
        }
        drop(progress);
        report.finish(&setting)?;
        if failed.is_empty() { Ok(()) } else { Err(Failure::Run(failed.join("\n"))) }
    }

    /// What to compare: the algorithms that were named, or those that can run here.
    fn studies(&self, setting: &Setting) -> Result<Vec<Study>, Failure> {
        if !self.algorithms.is_empty() {
            let named = |name: &String| setting.study(setting.algorithm(Some(name))?, false);
            return self.algorithms.iter().map(named).collect();
        }
        let (mut able, mut refusals) = (Vec::new(), Vec::new());
        for algorithm in setting.program.algorithms {
            match setting.study(algorithm, false) {
                Ok(study) => able.push(study),
                Err(refusal) => refusals.push(refusal),
            }
        }
        if able.is_empty() {
            return Err(refusals.swap_remove(0));
        }
        for refusal in refusals {
            refusal.warn();
        }
        Ok(able)
    }
}
