//! A row of a report: what was predicted for a run and what became of it. As JSON it is one object.

use loggp::{ClockKind, Dilation, Host, Params, Ports, Work};
use loggp_programs::study::{Ns, Phase, Prediction};
use loggp_programs::{Answers, Case, Emulation, Figure, Study};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::setting::Setting;

/// One row, under the names that JSON and CSV have for its values.
#[derive(Serialize)]
pub struct Row {
    /// The program.
    pub program: &'static str,
    /// Its algorithm.
    pub algorithm: &'static str,
    /// The paper's machine, if one was named.
    pub machine: Option<&'static str>,
    /// The machine's parameters.
    #[serde(serialize_with = "in_ps")]
    pub params: Params,
    /// The size.
    pub size: usize,
    /// The program's own options.
    pub options: String,
    /// All else that was asked for.
    #[serde(flatten)]
    pub asked: Asked,
    /// The clock.
    pub clock: &'static str,
    /// The three times, and how far they are apart.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// The same of its phases, where it has phases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// What else the run showed.
    #[serde(serialize_with = "by_name", skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Whether the result was right.
    pub verified: bool,
    /// How many messages were sent.
    pub messages: u64,
    /// What the capacity did.
    pub stalls: Stalls,
    /// How much slower than the machine itself the emulation ran; the virtual clock does not stretch.
    pub dilation: f64,
    /// Why so much; nothing where nothing stretches.
    pub dilation_why: Option<String>,
    /// How many of this computer's cores it ran on.
    pub cores: usize,
    /// Whether this computer ended the run in time, so that what it measured can be trusted; nothing where
    /// time does not pass.
    pub held: Option<bool>,
    /// How late this computer was; nothing where time does not pass.
    pub lateness_ns: Option<Lateness>,
    /// What else there is to say of this computer.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// What is swept, if anything is, and its value here.
    #[serde(skip)]
    pub at: Option<(String, String)>,
}

/// What was asked for, with the machine and the size: who has it all can repeat the run.
#[derive(Serialize)]
pub struct Asked {
    /// How long a cycle is.
    pub cycle_ns: Ns,
    /// `exact`, or `random:SEED`.
    pub latency: String,
    /// `single` or `dual`.
    pub ports: &'static str,
    /// What the machine's own barrier takes, if it has one.
    pub barrier_ns: Option<Ns>,
    /// `measured` or `charged`.
    pub work: &'static str,
    /// What made the data.
    pub seed: u64,
    /// How many runs there were.
    pub repeat: usize,
    /// `auto`, or a number; nothing where nothing stretches.
    pub dilation_asked: Option<String>,
}

impl Asked {
    /// What a study was asked.
    fn of(study: &Study) -> Asked {
        let Case { params, ports, latency, work, barrier, seed, .. } = study.case;
        let Emulation { clock, dilation, .. } = study.emulation;
        Asked {
            cycle_ns: Ns(params.cycle),
            latency: latency.to_string(),
            ports: match ports {
                Ports::Single => "single",
                Ports::Dual => "dual",
            },
            barrier_ns: barrier.map(Ns),
            work: match work {
                Work::Measured => "measured",
                Work::Charged => "charged",
            },
            seed,
            repeat: study.repeat,
            dilation_asked: (clock == ClockKind::Wall).then(|| match dilation {
                Dilation::Auto => "auto".into(),
                Dilation::Fixed(dilation) => dilation.to_string(),
            }),
        }
    }
}

/// What the capacity did to a run.
#[derive(Serialize)]
pub struct Stalls {
    /// How often a processor stalled.
    pub count: u64,
    /// How long the processors stalled, all together.
    pub ns: Ns,
    /// The most messages in transit from one processor, or to one, at once; 0 where any number may be.
    pub max_in_transit: usize,
    /// How many may be; nothing where any number may be.
    pub capacity: Option<usize>,
}

/// How much later than they should the operations of a run were.
#[derive(Serialize)]
pub struct Lateness {
    /// Half of them were not later than this.
    pub p50: Ns,
    /// Nine of ten.
    pub p90: Ns,
    /// Ninety-nine of a hundred.
    pub p99: Ns,
    /// All of them.
    pub max: Ns,
    /// The end of the last processor.
    pub finish: Ns,
}

impl Row {
    /// What there is to say of a study.
    pub fn new(setting: &Setting, study: &Study, answers: &Answers) -> Row {
        let run = &answers.outcome.run;
        let Case { program, algorithm, params, size, .. } = study.case;
        let host = run.host.as_ref();
        Row {
            program: program.name,
            algorithm: algorithm.name,
            machine: setting.choice.preset.map(|preset| preset.name),
            params,
            size,
            options: setting.own(),
            asked: Asked::of(study),
            clock: setting.clock.name(),
            prediction: answers.prediction,
            phases: answers.phases.clone(),
            figures: answers.outcome.figures.clone(),
            verified: answers.wrong.is_none(),
            messages: run.messages(),
            stalls: Stalls {
                count: run.stalls(),
                ns: Ns(run.stalled()),
                max_in_transit: run.most_in_transit(),
                capacity: params.capacity(),
            },
            dilation: host.map_or(1.0, |host| host.dilation),
            dilation_why: host.map(|host| host.why.clone()),
            cores: host.map_or(1, |host| host.cores),
            held: host.map(|host| host.held),
            lateness_ns: host.map(Lateness::of),
            notes: host.map_or(Vec::new(), |host| host.notes.clone()),
            at: setting.point.as_ref().map(|point| (point.of.name.clone(), point.shown(setting.unit()))),
        }
    }
}

impl Row {
    /// What a table calls it: its algorithm, and where in a sweep it is.
    pub fn name(&self) -> String {
        match &self.at {
            Some((name, value)) => format!("{} at {name} = {value}", self.algorithm),
            None => self.algorithm.into(),
        }
    }
}

impl Lateness {
    /// How late a host was.
    pub fn of(host: &Host) -> Lateness {
        let loggp::Lateness { p50, p90, p99, max, finish } = host.lateness;
        Lateness { p50: Ns(p50), p90: Ns(p90), p99: Ns(p99), max: Ns(max), finish: Ns(finish) }
    }
}

/// Figures by name and unit.
fn by_name<S: Serializer>(figures: &[Figure], serializer: S) -> Result<S::Ok, S::Error> {
    let name = |figure: &Figure| match figure.unit {
        "" => figure.name.to_string(),
        unit => format!("{} ({unit})", figure.name),
    };
    serializer.collect_map(figures.iter().map(|figure| (name(figure), figure.value)))
}

/// Parameters by name: times in picoseconds, and numbers.
pub fn in_ps<S: Serializer>(params: &Params, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, time) in params.times() {
        map.serialize_entry(name, &time.as_ps())?;
    }
    for (name, count) in params.counts() {
        map.serialize_entry(name, &count)?;
    }
    map.end()
}
