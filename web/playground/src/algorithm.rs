//! The algorithms of the page: where the schedule of each is from.

use std::cell::RefCell;
use std::rc::Rc;

use loggp_goal::patterns::{Method, method_schedule, methods};
use loggp_predict::all_to_all_broadcast::ALL_TO_ALL_BROADCAST;
use loggp_predict::broadcast::BROADCAST;
use loggp_predict::remap::REMAP;
use loggp_predict::scatter::SCATTER;
use loggp_predict::summation::SUMMATION;
use loggp_predict::{Description, FormTime, PredictFn, StepProgram};
use loggp_schedule::Schedule;

use super::recording::{self, BundledRecording};
use super::request::{PageRequest, PageSetting};

/// An algorithm of an operation.
pub(crate) struct PageAlgorithm {
    /// Its operation, a `/`, and its name.
    pub id: &'static str,
    pub source: ScheduleSource,
    /// The parameters that its time depends on.
    pub uses: &'static [&'static str],
    /// The most processors that the page shows.
    pub most_P: usize,
    /// Returns about how many messages it has, for P processors, a size and the bytes of a word.
    pub messages: fn(u64, u64, u64) -> u64,
}

/// The source of a schedule.
pub(crate) enum ScheduleSource {
    /// The steps of a program's algorithm.
    Program(&'static StepProgram, &'static str),
    /// A collective of MPI, as GOAL.
    Collective(&'static Method),
    /// A recorded run.
    Recording(&'static BundledRecording),
}

/// An algorithm's run: its schedule, and what is known of it besides.
pub(crate) struct Planned {
    pub schedule: Rc<Schedule>,
    pub form: Option<FormTime>,
    /// True if a reception goes before a send that could begin at the same moment.
    pub receives_first: bool,
}

/// The most messages that the page shows.
const MOST_MESSAGES: u64 = 1 << 18;

const LOGP: &[&str] = &["L", "o", "g", "P", "C"];
const LOGGP: &[&str] = &["L", "o", "g", "G", "P", "C", "size"];
const WORDS: &[&str] = &["L", "o", "g", "P", "C", "size"];
const FIXED: &[&str] = &["L", "o", "g", "G", "C"];

const fn program(
    id: &'static str,
    program: &'static StepProgram,
    name: &'static str,
    uses: &'static [&'static str],
    most_P: usize,
    messages: fn(u64, u64, u64) -> u64,
) -> PageAlgorithm {
    PageAlgorithm { id, source: ScheduleSource::Program(program, name), uses, most_P, messages }
}

const fn collective(
    id: &'static str,
    method: &'static Method,
    uses: &'static [&'static str],
    messages: fn(u64, u64, u64) -> u64,
) -> PageAlgorithm {
    PageAlgorithm { id, source: ScheduleSource::Collective(method), uses, most_P: 1024, messages }
}

const fn recorded(recording: &'static BundledRecording) -> PageAlgorithm {
    PageAlgorithm {
        id: recording.id,
        source: ScheduleSource::Recording(recording),
        uses: FIXED,
        most_P: recording.P,
        messages: |_, _, _| 0,
    }
}

/// All algorithms, by operation.
pub(crate) static ALGORITHMS: &[PageAlgorithm] = &[
    program("broadcast/optimal", &BROADCAST, "optimal", LOGGP, 4096, |P, _, _| P),
    program("broadcast/binomial", &BROADCAST, "binomial", LOGGP, 4096, |P, _, _| P),
    program("broadcast/binary", &BROADCAST, "binary", LOGGP, 4096, |P, _, _| P),
    program("broadcast/flat", &BROADCAST, "flat", LOGGP, 4096, |P, _, _| P),
    program("scatter/optimal", &SCATTER, "optimal", LOGGP, 1024, |P, _, _| P),
    program("scatter/binomial", &SCATTER, "binomial", LOGGP, 1024, |P, _, _| P),
    program("scatter/long", &SCATTER, "long", LOGGP, 1024, |P, _, _| P),
    program("scatter/short", &SCATTER, "short", WORDS, 1024, |P, size, _| P * size),
    program("summation/optimal", &SUMMATION, "optimal", WORDS, 4096, |P, _, _| P),
    program("summation/binomial", &SUMMATION, "binomial", WORDS, 4096, |P, _, _| P),
    program("all-to-all-broadcast/optimal", &ALL_TO_ALL_BROADCAST, "optimal", WORDS, 512, |P, size, _| {
        P * P * size
    }),
    program("remap/long-staggered", &REMAP, "long-staggered", LOGGP, 512, |P, _, _| P * P),
    program("remap/long-naive", &REMAP, "long-naive", LOGGP, 512, |P, _, _| P * P),
    program("remap/short-staggered", &REMAP, "short-staggered", WORDS, 512, |P, size, word| {
        P * P * size.div_ceil(word)
    }),
    program("remap/short-synchronized", &REMAP, "short-synchronized", WORDS, 512, |P, size, word| {
        P * P * (size.div_ceil(word) + 16)
    }),
    program("remap/short-naive", &REMAP, "short-naive", WORDS, 512, |P, size, word| {
        P * P * size.div_ceil(word)
    }),
    collective("hot-spot/linear", &methods::GATHER_LINEAR, LOGP, |P, _, _| P),
    collective("hot-spot/binomial", &methods::GATHER_BINOMIAL, LOGP, |P, _, _| P),
    collective("all-reduce/ring", &methods::ALLREDUCE_RING, LOGGP, |P, _, _| 2 * P * P),
    collective("all-reduce/recursive-doubling", &methods::ALLREDUCE_RECURSIVE_DOUBLING, LOGGP, |P, _, _| {
        16 * P
    }),
    collective("all-reduce/rabenseifner", &methods::ALLREDUCE_RABENSEIFNER, LOGGP, |P, _, _| 32 * P),
    collective("barrier/dissemination", &methods::BARRIER_DISSEMINATION, LOGP, |P, _, _| 16 * P),
    collective("barrier/recursive-doubling", &methods::BARRIER_RECURSIVE_DOUBLING, LOGP, |P, _, _| 16 * P),
    collective("barrier/tree", &methods::BARRIER_TREE, LOGP, |P, _, _| 2 * P),
    collective("barrier/linear", &methods::BARRIER_LINEAR, LOGP, |P, _, _| 2 * P),
    recorded(&recording::FFT_LONG),
    recorded(&recording::FFT_SHORT),
    recorded(&recording::RADIX_SORT),
    recorded(&recording::LU_GRID),
    recorded(&recording::LU_BLOCKS),
    recorded(&recording::LU_COLUMNS),
    recorded(&recording::TRANSPORTATION_TWO_STAGE),
    recorded(&recording::TRANSPORTATION_LINEAR),
];

/// The operations: their names and what each is for.
pub(crate) static OPERATIONS: &[(&str, &str)] = &[
    ("broadcast", BROADCAST.about),
    ("scatter", SCATTER.about),
    ("summation", SUMMATION.about),
    ("all-to-all-broadcast", ALL_TO_ALL_BROADCAST.about),
    ("remap", REMAP.about),
    ("hot-spot", "all others send a word to processor 0 at once, and who finds no room stalls"),
    ("all-reduce", "all processors get the combination of all their vectors, as MPI_Allreduce does it"),
    ("barrier", "no processor goes on before all have come, by messages, as MPI_Barrier does it"),
    ("fft", "the fast Fourier transform of complex points (LogP, section 4.1; LogGP, section 3)"),
    ("radix-sort", "the keys of all processors are sorted, a digit in each pass (LogGP, section 3)"),
    ("lu", "LU decomposition of a dense matrix, with partial pivoting (LogP, section 4.2)"),
    (
        "transportation",
        "every processor has a message of any length for every other (Shankar, Alsabti and Ranka)",
    ),
];

/// A schedule, and the algorithm, P and size that it is of.
type CachedSchedule = ((&'static str, usize, usize), Rc<Schedule>);

thread_local! {
    /// The last schedules that depend on the number of processors and the size alone, and recorded ones.
    static SCHEDULES: RefCell<Vec<CachedSchedule>> = const { RefCell::new(Vec::new()) };
}

impl PageAlgorithm {
    /// Returns the algorithm with this id.
    pub(crate) fn find(id: &str) -> Result<&'static PageAlgorithm, String> {
        ALGORITHMS.iter().find(|algorithm| algorithm.id == id).ok_or_else(|| {
            let ids: Vec<&str> = ALGORITHMS.iter().map(|algorithm| algorithm.id).collect();
            format!("there is no algorithm {id}; give one of {}", ids.join(", "))
        })
    }

    pub(crate) fn operation(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(operation, _)| operation)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(_, name)| name)
    }

    /// Returns a description in one sentence.
    pub(crate) fn about(&self) -> &'static str {
        match &self.source {
            ScheduleSource::Program(program, name) => find(program, name).0.about,
            ScheduleSource::Collective(method) => method.about,
            ScheduleSource::Recording(recording) => recording.about,
        }
    }

    /// Returns the meaning of its size and the default, if it has one.
    pub(crate) fn size(&self) -> Option<(&'static str, usize)> {
        match &self.source {
            ScheduleSource::Program(program, _) => Some((program.size.meaning, program.size.default)),
            ScheduleSource::Collective(_) if self.uses.contains(&"size") => {
                Some(("bytes of each vector", 1024))
            }
            _ => None,
        }
    }

    /// Returns the number of processors if it is fixed.
    pub(crate) fn fixed_P(&self) -> Option<usize> {
        if let ScheduleSource::Recording(recording) = &self.source { Some(recording.P) } else { None }
    }

    /// Plans its run.
    pub(crate) fn plan(&self, setting: &PageSetting) -> Result<Planned, String> {
        let PageSetting { params, ports, .. } = *setting;
        let size = self.size().map_or(1, |(_, default)| setting.size.unwrap_or(default));
        if params.P > self.most_P {
            let most = self.most_P;
            return Err(format!(
                "P = {}: {} is shown for at most {most} processors; give fewer",
                params.P, self.id
            ));
        }
        let word = params.word.get() as u64;
        let messages = (self.messages)(params.P as u64, (size as u64).min(MOST_MESSAGES), word);
        if messages > MOST_MESSAGES {
            return Err(format!(
                "size = {size}: a page has no room for about {messages} messages; give a smaller size or fewer processors"
            ));
        }
        match &self.source {
            ScheduleSource::Program(program, name) => {
                let (description, predict) = find(program, name);
                let setting =
                    loggp_predict::Setting { params: &params, levels: &[], ports, barrier: None, size };
                let plan = predict(setting).map_err(|why| why.to_string())?;
                let schedule = plan.schedule().expect("the programs of the page have schedules");
                let schedule = schedule.map_err(|why| why.to_string())?;
                let form = FormTime::new(&*plan, &description.formula, &params, &[], true);
                Ok(Planned { schedule: Rc::new(schedule), form, receives_first: true })
            }
            ScheduleSource::Collective(method) => {
                let make = || method_schedule(method, params.P, size as u64);
                Ok(Planned {
                    schedule: kept((self.id, params.P, size), make)?,
                    form: None,
                    receives_first: false,
                })
            }
            ScheduleSource::Recording(recording) => Ok(Planned {
                schedule: kept((self.id, recording.P, 0), || recording.schedule())?,
                form: None,
                receives_first: false,
            }),
        }
    }

    /// Returns the command that prints the same run.
    pub(crate) fn command(&self, request: &PageRequest, setting: &PageSetting) -> String {
        let machine = request.machine_options(setting);
        let size = setting.size.filter(|_| self.size().is_some()).map(|size| format!(" --size {size}"));
        let size = size.unwrap_or_default();
        match &self.source {
            ScheduleSource::Program(_, name) => {
                format!("loggp run {} {name}{size}{machine} --clock virtual", self.operation())
            }
            ScheduleSource::Collective(method) => {
                let name = format!("{}:{}", method.kinds[0].name(), method.name);
                let size = match (self.size(), setting.size) {
                    (Some((_, default)), None) => format!(" --size {default}"),
                    _ => size,
                };
                format!(
                    "loggp replay {name} -P {}{size}{}",
                    setting.params.P,
                    request.replay_options(setting)
                )
            }
            ScheduleSource::Recording(recording) => {
                let file = self.operation();
                format!(
                    "loggp run {} --trace {file}.json && loggp trace2goal {file}.json --unit 1ns -o {file}.goal && loggp replay \
                     {file}.goal{}",
                    recording.run,
                    request.replay_options(setting)
                )
            }
        }
    }
}

/// Returns an algorithm of a program.
fn find(program: &'static StepProgram, name: &str) -> &'static (Description, PredictFn) {
    let found = program.algorithms.iter().find(|(description, _)| description.name == name);
    found.expect("the page shows what there is")
}

/// Returns a schedule that was made before, or makes it.
fn kept(
    key: (&'static str, usize, usize),
    make: impl FnOnce() -> Result<Schedule, String>,
) -> Result<Rc<Schedule>, String> {
    const MOST: usize = 8;
    let found = SCHEDULES.with_borrow(|kept| {
        kept.iter().find(|(other, _)| *other == key).map(|(_, schedule)| schedule.clone())
    });
    if let Some(schedule) = found {
        return Ok(schedule);
    }
    let schedule = Rc::new(make()?);
    SCHEDULES.with_borrow_mut(|kept| {
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push((key, schedule.clone()));
    });
    Ok(schedule)
}
