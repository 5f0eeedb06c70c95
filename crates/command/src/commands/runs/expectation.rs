//! The expected times of runs on a real machine, said before they begin.

use loggp::{SEC, Time};
use loggp_study::StudyError;
use loggp_study::real::RoughMachine;
use loggp_study::rows::program_run::Task;

use crate::error::{CliError, say};
use crate::number::rough_time;

/// Says how long the model expects each task to take on the real machine, on a terminal or not, and leaves out
/// those that would take over a minute, unless they were named.
pub(crate) fn expect_times(tasks: Vec<Task>, are_named: bool) -> Result<Vec<Task>, CliError> {
    const LONG: Time = Time::from_ps(60 * SEC.as_ps());
    let Some(link) = tasks.first().and_then(|task| task.study.emulation.link.clone()) else {
        return Ok(tasks);
    };
    let rough = RoughMachine::measure(&link).map_err(StudyError::from)?;
    let studies: Vec<_> = tasks.iter().map(|task| &task.study).collect();
    let times = rough.expected_times(&link, &studies).map_err(StudyError::from)?;
    let text = |(task, time): (&Task, &Option<Time>)| Some(format!("{} {}", task.name, rough_time((*time)?)));
    let said = tasks.iter().zip(&times).filter_map(text);
    let [L, o, g, byte] =
        [rough.L, rough.o, rough.g, Time::from_ps((1e3 * rough.byte) as i64)].map(rough_time);
    let line = format!(
        "a few messages show roughly L = {L}, o = {o}, g = {g}, {byte} a byte; with these the model expects: {}",
        said.collect::<Vec<_>>().join(", ")
    );
    say("", &line);
    let is_long = |time: &Option<Time>| !are_named && time.is_some_and(|time| time > LONG);
    let (long, rest): (Vec<_>, Vec<_>) = tasks.into_iter().zip(times).partition(|(_, time)| is_long(time));
    let names = long.iter().map(|(task, _)| task.name.as_str()).collect::<Vec<_>>().join(", ");
    if rest.is_empty() {
        return Err(CliError::Request(format!(
            "each would take over a minute: {names}; name those that shall run, or give a smaller --size"
        )));
    }
    if !names.is_empty() {
        CliError::Request(format!("{names}, which would take over a minute; name it to run it")).warn();
    }
    Ok(rest.into_iter().map(|(task, _)| task).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggp::Params;
    use loggp::link::{Channels, Link};
    use loggp_programs::broadcast::BROADCAST;
    use loggp_programs::{Case, Emulation};
    use loggp_study::Study;

    use super::*;

    /// All processes leave out runs of over a minute, unless these are named.
    #[test]
    fn long_runs_are_left_out_unless_they_are_named() {
        let expect = |channels: Channels| {
            let link: Arc<dyn Link> = Arc::new(channels);
            let task = |name: &str, repeat: usize| {
                let case = Case::new(&BROADCAST, "optimal", Params::builder(2).build().unwrap());
                let emulation = Emulation { link: Some(link.clone()), ..Emulation::default() };
                let study = Study { repeat, emulation, ..Study::new(case) };
                Task { name: name.into(), machine: None, study, swept: Vec::new() }
            };
            // Even a message in 10 ns takes longer than a minute so often.
            let [short, long] = [("short", 1), ("long", 10_000_000_000)];
            let tasks =
                |which: &[(&str, usize)]| which.iter().map(|(name, n)| task(name, *n)).collect::<Vec<_>>();
            let names = |kept: Vec<Task>| kept.into_iter().map(|task| task.name).collect::<Vec<_>>();
            let unnamed = names(expect_times(tasks(&[short, long]), false).unwrap());
            let named = names(expect_times(tasks(&[short, long]), true).unwrap());
            let refused = expect_times(tasks(&[long]), false).err().and_then(CliError::into_sentence);
            (unnamed, named, refused)
        };
        let ranks = Channels::between(2).into_iter().map(|link| std::thread::spawn(move || expect(link)));
        for rank in ranks.collect::<Vec<_>>() {
            let (unnamed, named, refused) = rank.join().unwrap();
            assert_eq!((unnamed, named), (vec!["short".to_string()], vec!["short".into(), "long".into()]));
            assert_eq!(
                refused.unwrap(),
                "each would take over a minute: long; name those that shall run, or give a smaller --size"
            );
        }
    }
}
