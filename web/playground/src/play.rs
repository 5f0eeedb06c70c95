//! Plays what the page asks for.

use std::rc::Rc;

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_predict::FormTime;
use loggp_schedule::{Player, Schedule};
use loggp_trace::{ActivityKind, Caption, Trace};

use super::algorithm::{PageAlgorithm, Planned};
use super::file::{self, FileContent, OpenFile};
use super::request::{PageRequest, PageSetting};

/// An algorithm or a file, which is played.
pub(crate) enum PlaySubject {
    Algorithm(&'static PageAlgorithm),
    File(Rc<OpenFile>),
}

/// A run.
pub(crate) struct PlayedRun {
    pub params: Params,
    pub time: Time,
    pub finishes: Vec<Time>,
    pub messages: u64,
    pub stalls: u64,
    pub stall_time: Time,
    pub formula: Option<Time>,
    /// The formula, if it is an algorithm's: exact, a bound or an estimate, and whose.
    pub form: Option<FormTime>,
    pub trace: Option<Trace>,
}

/// Times above are no whole numbers in JavaScript.
const LONGEST: Time = Time::from_ps(1 << 53);

impl PlaySubject {
    /// Returns the algorithm with this id, or the file that is open.
    pub(crate) fn find(id: &str) -> Result<PlaySubject, String> {
        match id {
            "file" => file::opened().map(PlaySubject::File),
            _ => PageAlgorithm::find(id).map(PlaySubject::Algorithm),
        }
    }

    /// Returns its name for people.
    pub(crate) fn title(&self) -> String {
        match self {
            PlaySubject::Algorithm(algorithm) => algorithm.id.replace('/', " "),
            PlaySubject::File(file) => file.name.clone(),
        }
    }

    /// Returns the command that prints the same.
    pub(crate) fn command(&self, request: &PageRequest, setting: &PageSetting) -> String {
        match self {
            PlaySubject::Algorithm(algorithm) => algorithm.command(request, setting),
            PlaySubject::File(file) => file.command(request, setting),
        }
    }

    /// Returns its schedule as a text in GOAL.
    pub(crate) fn goal(&self, setting: &PageSetting) -> Result<Vec<u8>, String> {
        const MOST: usize = 1 << 13;
        let schedule = match self {
            PlaySubject::Algorithm(algorithm) => algorithm.plan(setting)?.schedule,
            PlaySubject::File(file) => match &file.content {
                FileContent::Schedule(file) => file.schedule(setting.unit),
                FileContent::Trace(_) => return Err("a trace is a run, and no schedule".into()),
            },
        };
        let count = schedule.len();
        if count > MOST {
            return Err(format!("its schedule has {count} operations, and a text here has room for {MOST}"));
        }
        let mut text = Vec::new();
        loggp_goal::write(&schedule, &mut text, setting.unit).map_err(|why| why.to_string())?;
        Ok(text)
    }

    /// Plays it, with or without a trace.
    pub(crate) fn play(&self, setting: &PageSetting, traced: bool) -> Result<PlayedRun, String> {
        let run = match self {
            PlaySubject::Algorithm(algorithm) => {
                let Planned { schedule, form, receives_first } = algorithm.plan(setting)?;
                let formula = form.map(|form| form.time);
                PlayedRun { formula, form, ..play(&schedule, setting, receives_first, traced)? }
            }
            PlaySubject::File(file) => match &file.content {
                FileContent::Trace(bytes) => recorded(file::read_trace(bytes)?),
                FileContent::Schedule(file) => play(&file.schedule(setting.unit), setting, false, traced)?,
            },
        };
        if run.time > LONGEST {
            return Err(format!(
                "the run takes {}, more than a page can count; make the machine faster",
                run.time
            ));
        }
        Ok(run)
    }

    /// Plays it with a trace that says what it is.
    pub(crate) fn trace(&self, request: &PageRequest) -> Result<(PlayedRun, Trace), String> {
        let setting = request.setting()?;
        let mut run = self.play(&setting, true)?;
        let mut trace = run.trace.take().expect("it was asked for");
        if trace.caption.is_none() {
            let times = trace.params.times().map(|(name, time)| format!("{name} = {time}"));
            let counts = trace.params.counts().map(|(name, count)| format!("{name} = {count}"));
            let about = times.chain(counts).collect::<Vec<_>>().join(", ");
            trace.caption =
                Some(Caption { title: self.title(), about, formula: run.formula, ..Caption::default() });
        }
        Ok((run, trace))
    }
}

fn play(
    schedule: &Schedule,
    setting: &PageSetting,
    receives_first: bool,
    traced: bool,
) -> Result<PlayedRun, String> {
    let params = Params { P: schedule.ranks(), ..setting.params };
    let player = Player::new(params).ports(setting.ports).receive_first(receives_first).trace(traced);
    let report = player.run_by_papers(schedule).map_err(|why| why.cause.to_string())?;
    Ok(PlayedRun {
        params,
        time: report.time,
        finishes: report.finishes,
        messages: report.messages,
        stalls: report.stalls,
        stall_time: report.stall_time,
        formula: None,
        form: None,
        trace: report.trace,
    })
}

/// Returns a recorded run.
fn recorded(trace: Trace) -> PlayedRun {
    let mut finishes = vec![Time::ZERO; trace.params.P];
    let (mut stalls, mut stall_time) = (0, Time::ZERO);
    for activity in &trace.activities {
        if let Some(finish) = finishes.get_mut(activity.id) {
            *finish = (*finish).max(activity.end);
        }
        if activity.kind == ActivityKind::Stall {
            stalls += 1;
            stall_time += activity.end - activity.start;
        }
    }
    PlayedRun {
        params: trace.params,
        time: finishes.iter().copied().max().unwrap_or(Time::ZERO),
        finishes,
        messages: trace.messages.len() as u64,
        stalls,
        stall_time,
        formula: trace.caption.as_ref().and_then(|caption| caption.formula),
        form: None,
        trace: Some(trace),
    }
}
