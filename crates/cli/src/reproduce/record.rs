//! A record: an exhibit, what came of it, and what is needed to repeat it. It is the JSON file beside the page.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::SystemTime;

use loggp::ClockKind;
use loggp_papers::{Exhibit, Finding, Paper, Picture};
use loggp_programs::Emulation;
use serde::{Deserialize, Serialize};

use super::super::number::count;
use super::super::options::carrier_on;

/// An exhibit, what came of it, and what is needed to repeat it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// The exhibit's name on the command line.
    pub id: String,
    /// Its paper.
    pub paper: String,
    /// Where in the paper it stands.
    pub place: String,
    /// What it shows.
    pub title: String,
    /// What the paper says of it.
    pub says: Vec<String>,
    /// What it is predicted by.
    pub formulas: Vec<String>,
    /// How it was asked for.
    pub asked: Asked,
    /// Where it was made.
    pub computer: Computer,
    /// When that was, in UTC.
    pub at: String,
    /// How many seconds it took.
    pub took_s: f64,
    /// What came of it.
    pub finding: Finding,
}

/// How something was asked for, and of which command. What was asked for alike is not made twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The command's version.
    pub version: String,
    /// Tells builds of the same version apart.
    pub build: String,
    /// Whether at the papers' own sizes.
    pub full: bool,
    /// Makes the data.
    pub seed: u64,
    /// How often what is measured is run.
    pub repeat: usize,
    /// The clock of what is to be measured.
    pub clock: String,
    /// What a processor is on that clock, if that can be chosen.
    pub carrier: Option<String>,
    /// How much slower than it should the machine runs.
    pub dilation: String,
    /// How many cores it may use.
    pub cores: usize,
}

/// The computer on which something was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Computer {
    /// What its processors are called.
    pub processor: String,
    /// How many of them the command may use.
    pub cores: usize,
    /// Its operating system.
    pub system: String,
}

impl Record {
    /// What came of an exhibit just now.
    pub fn new(paper: &Paper, exhibit: &Exhibit, asked: &Asked, took_s: f64, finding: Finding) -> Record {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
        Record {
            id: exhibit.id.into(),
            paper: paper.name.into(),
            place: exhibit.place.into(),
            title: exhibit.title.into(),
            says: own(exhibit.says),
            formulas: own(exhibit.formulas),
            asked: asked.clone(),
            computer: Computer::this(),
            at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            took_s,
            finding,
        }
    }

    /// What it is, with a large letter first.
    pub fn heading(&self) -> String {
        let text = format!("{}: {}", self.place, self.title);
        let mut letters = text.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    }

    /// The stem of the name of a file of its own.
    pub fn stem(&self, name: &str) -> String {
        if name.is_empty() { self.id.clone() } else { format!("{}-{name}", self.id) }
    }

    /// The names of all its files, but for its own.
    pub fn files(&self) -> Vec<String> {
        let Finding { pictures, tables, .. } = &self.finding;
        let pictures = pictures.iter().flat_map(|picture| self.drawings(picture));
        pictures.chain(tables.iter().map(|table| format!("{}.csv", self.stem(&table.name)))).collect()
    }

    /// The names of a picture's files: for a usual screen, and for a narrow one if it is another there.
    pub fn drawings(&self, picture: &Picture) -> impl Iterator<Item = String> + use<> {
        let stem = self.stem(&picture.name);
        let narrow = picture.narrow.is_some().then(|| format!("{stem}-narrow.svg"));
        [format!("{stem}.svg")].into_iter().chain(narrow)
    }

    /// The name of its own file.
    pub fn file(id: &str) -> String {
        format!("{id}.json")
    }
}

impl Asked {
    /// Of this command.
    pub fn of(full: bool, seed: u64, repeat: usize, emulation: &Emulation) -> Asked {
        let Emulation { clock, carrier, dilation, cores, .. } = *emulation;
        let wall = clock == ClockKind::Wall;
        Asked {
            version: env!("CARGO_PKG_VERSION").into(),
            build: build(),
            full,
            seed,
            repeat: if wall { repeat } else { 1 },
            clock: clock.to_string(),
            carrier: carrier_on(clock, carrier).map(|carrier| carrier.to_string()),
            dilation: dilation.to_string(),
            cores: cores.unwrap_or_else(all_cores),
        }
    }

    /// The command that makes something so, without the program's name and without ids.
    pub fn command(&self) -> String {
        let mut command = String::from("reproduce");
        for (option, is_usual, value) in [
            ("full", !self.full, None),
            ("seed", self.seed == 1, Some(self.seed.to_string())),
            ("repeat", self.repeat == 3 || self.clock != "wall", Some(self.repeat.to_string())),
            ("clock", self.clock == "wall", Some(self.clock.clone())),
            (
                "carrier",
                self.carrier.as_deref().is_none_or(|carrier| carrier == "thread"),
                self.carrier.clone(),
            ),
            ("dilation", self.dilation == "auto", Some(self.dilation.clone())),
            ("cores", self.cores == all_cores(), Some(self.cores.to_string())),
        ] {
            if !is_usual {
                command +=
                    &format!(" --{option}{}", value.map_or(String::new(), |value| format!(" {value}")));
            }
        }
        command
    }
}

impl fmt::Display for Computer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", count(self.cores, "core"), self.processor, self.system)
    }
}

impl Computer {
    /// The one this runs on, as far as it says what it is.
    fn this() -> Computer {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let processors = read("/proc/cpuinfo");
        let processor = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let release = read("/proc/sys/kernel/osrelease");
        Computer {
            processor: processor.map_or(std::env::consts::ARCH, |(_, name)| name).into(),
            cores: all_cores(),
            system: format!("{} {}", std::env::consts::OS, release.trim()).trim().into(),
        }
    }
}

/// All cores that there are.
fn all_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// A number that another build of the command would hardly have; a build that cannot be read is like none.
fn build() -> String {
    static BUILD: OnceLock<String> = OnceLock::new();
    let read = || {
        let bytes = std::env::current_exe().and_then(fs::read).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        format!("{:016x}", hasher.finish())
    };
    BUILD.get_or_init(read).clone()
}
