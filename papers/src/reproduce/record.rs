//! The record of an exhibit: its outcome, and everything that is needed to repeat it. It is a JSON file
//! beside the page.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::{Exhibit, ExhibitResult, Paper, Picture};
use loggp::ClockKind;
use loggp_programs::Emulation;
use loggp_study::rows::program_run::carrier_on;
use serde::{Deserialize, Serialize};

use loggp_command::ask::lookup::capitalized;
use loggp_command::ask::options::all_cores;
use loggp_command::number::count;

/// An exhibit with its outcome, and everything that is needed to repeat it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExhibitRecord {
    /// Name of the exhibit on the command line.
    pub id: String,
    pub paper: String,
    /// Place in the paper, such as a figure.
    pub place: String,
    pub title: String,
    /// Statements of the paper.
    pub says: Vec<String>,
    /// The numbers of the figure or table that no row judges, and the reason.
    pub left_out: String,
    /// Formulas that predict it.
    pub formulas: Vec<String>,
    /// Settings with which it was made.
    pub asked: ReproduceSettings,
    pub computer: ReportComputer,
    /// Time of the making, in UTC.
    pub at: String,
    /// Duration of the making, in s.
    pub took_s: f64,
    pub finding: ExhibitResult,
}

/// The settings with which an exhibit is made. It is not made again with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReproduceSettings {
    /// Version of the command.
    pub version: String,
    /// Hash that tells builds of the same version apart.
    pub build: String,
    /// True if the papers' own sizes are used.
    pub full: bool,
    /// Seed of the data.
    pub seed: u64,
    /// Number of runs of each measurement.
    pub repeat: usize,
    /// Clock of the measurements.
    pub clock: String,
    /// Carrier, on the wall clock.
    pub carrier: Option<String>,
    pub dilation: String,
    /// Number of cores that may be used.
    pub cores: usize,
}

/// A computer on which exhibits are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReportComputer {
    /// Model of its processors.
    pub processor: String,
    /// Number of cores that the command may use.
    pub cores: usize,
    /// Operating system with its version.
    pub system: String,
}

impl ExhibitRecord {
    /// Creates the record of an exhibit that was made just now.
    pub(super) fn new(
        paper: &Paper,
        exhibit: &Exhibit,
        settings: &ReproduceSettings,
        took_s: f64,
        finding: ExhibitResult,
    ) -> ExhibitRecord {
        ExhibitRecord {
            id: exhibit.id.into(),
            paper: paper.name.into(),
            place: exhibit.place.into(),
            title: exhibit.title.into(),
            says: exhibit.notes.lines().map(Into::into).collect(),
            left_out: exhibit.left_out.into(),
            formulas: exhibit.formulas.iter().map(|formula| (*formula).into()).collect(),
            asked: settings.clone(),
            computer: ReportComputer::current(),
            at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            took_s,
            finding,
        }
    }

    /// Returns the place and the title, with a capital at the beginning.
    pub(super) fn heading(&self) -> String {
        capitalized(&format!("{}: {}", self.place, self.title))
    }

    /// Returns the stem of the name of a picture or table's file.
    pub(super) fn stem(&self, name: &str) -> String {
        if name.is_empty() { self.id.clone() } else { format!("{}-{name}", self.id) }
    }

    /// Returns the files of pictures, some of which have another for narrow screens, and of tables: name and
    /// contents.
    pub(super) fn files(&self) -> Vec<(String, Cow<'_, [u8]>)> {
        let mut files = Vec::new();
        for Picture { name, svg, narrow, .. } in &self.finding.pictures {
            let stem = self.stem(name);
            files.push((format!("{stem}.svg"), svg.as_bytes().into()));
            files.extend(narrow.iter().map(|svg| (format!("{stem}-narrow.svg"), svg.as_bytes().into())));
        }
        let tables = self.finding.tables.iter();
        files.extend(tables.map(|table| (format!("{}.csv", self.stem(&table.name)), table.to_csv().into())));
        files
    }

    /// Returns the name of the record's own file.
    pub(super) fn file(id: &str) -> String {
        format!("{id}.json")
    }
}

impl ReproduceSettings {
    /// Returns the settings of this command. A run on the virtual clock is not repeated.
    pub(super) fn new(full: bool, seed: u64, repeat: usize, emulation: &Emulation) -> ReproduceSettings {
        let Emulation { clock, carrier, dilation, cores, .. } = *emulation;
        let is_measured = clock == ClockKind::Wall;
        ReproduceSettings {
            version: env!("CARGO_PKG_VERSION").into(),
            build: build_id(),
            full,
            seed,
            repeat: if is_measured { repeat } else { 1 },
            clock: clock.to_string(),
            carrier: carrier_on(clock, carrier).map(|carrier| carrier.to_string()),
            dilation: dilation.to_string(),
            cores: cores.unwrap_or_else(all_cores),
        }
    }

    /// Returns the command that has these settings, without the program's name and without ids.
    pub(super) fn command(&self) -> String {
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

impl fmt::Display for ReportComputer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", count(self.cores, "core"), self.processor, self.system)
    }
}

impl ReportComputer {
    /// Returns the computer that the command runs on.
    fn current() -> ReportComputer {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let processors = read("/proc/cpuinfo");
        let processor = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let release = read("/proc/sys/kernel/osrelease");
        ReportComputer {
            processor: processor.map_or(std::env::consts::ARCH, |(_, name)| name).into(),
            cores: all_cores(),
            system: format!("{} {}", std::env::consts::OS, release.trim()).trim().into(),
        }
    }
}

/// Returns a hash of the command's own file, so that another build has another one.
fn build_id() -> String {
    static BUILD: OnceLock<String> = OnceLock::new();
    let read = || {
        let bytes = std::env::current_exe().and_then(fs::read).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        format!("{:016x}", hasher.finish())
    };
    BUILD.get_or_init(read).clone()
}
