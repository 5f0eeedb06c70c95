//! `loggp doctor`: says what this computer can do, and what to do where it cannot.

use std::fs::read_to_string;
use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;
use loggp::{ClockKind, Dilation, Host, Machine, NS, Params, Time, US};
use loggp::{Computer, ProcessorLimit};
use loggp_document::{DocumentBlock, plain};
use loggp_study::rows::{Columns, Field};

use crate::annex;
use crate::ask::format::Format;
use crate::ask::output::Outputs;
use crate::error::CliError;
use crate::host::browser;
use crate::number::{Unit, count, rough, rough_time, thousands};
use crate::tell::diagnosis::Diagnosis;
use crate::tell::report::Report;
use crate::version;

/// Say what this computer can do, and what to do where it cannot: to be pasted into a question
#[derive(Args)]
#[command(after_help = "Examples:
  loggp doctor
  loggp doctor --format json")]
#[command(next_help_heading = "Report")]
pub(crate) struct DoctorCommand {
    /// How it is written: for people, as JSON objects, or as CSV
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    outputs: Outputs,
}

/// The number of waits on each core.
const WAITS: usize = 10;

/// The length of each wait, and of each sleep.
const WAIT: Time = Time::from_ps(2000 * US.as_ps());

/// Waits that end later than this, in one of two, and looks at the clock that take longer, spoil measurements.
const LATE: Time = Time::from_ps(10 * US.as_ps());
const LONG_LOOK_NS: f64 = 100.0;

/// A limit of more processors than this limits nobody.
const MANY: u64 = 1 << 20;

impl DoctorCommand {
    /// Finds out what there is, and prints it.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.outputs.has_picture() {
            return Err(CliError::request(
                "there is no picture of a computer; give -o a name in .txt, .json or .csv",
            ));
        }
        let files = self.outputs.open()?;
        let computer = Computer::detect();
        let mut diagnoses = vec![command(), system(), cores(&computer), clock(&computer), pinning(&computer)];
        diagnoses.extend([timer(), waits(&computer)?, stacks(&computer), threads(&computer)]);
        diagnoses.extend(annex::subcommands().flat_map(annex::Subcommand::diagnoses));
        diagnoses.push(browser());
        let mut columns = Columns::<Diagnosis>::new();
        columns.add("subject", |of| of.subject.to_string()).title("");
        columns.add("good", |of| of.good.map(Field::Bool));
        let mark = |of: &Diagnosis| of.good.map_or("", |good| if good { "good" } else { "POOR" }).to_string();
        columns.add_to_table("", mark);
        columns.add("found", |of| of.found.clone()).title("found");
        columns.add("advice", |of| of.advice.clone());
        let mut report = Report::new(out, self.format, columns).with_files(files);
        diagnoses.into_iter().try_for_each(|diagnosis| report.add(diagnosis))?;
        let advice = |of: &Diagnosis| plain(format!("{}: {}", of.subject, of.advice));
        report.finish("This computer", Unit::from_text("us", US), |rows| {
            vec![DocumentBlock::List(rows.iter().map(advice).collect())]
        })
    }
}

fn command() -> Diagnosis {
    Diagnosis {
        subject: "loggp",
        good: None,
        found: format!("{}, {}, commit {}", env!("CARGO_PKG_VERSION"), version::features(), version::COMMIT),
        advice: "paste all of this into a question, with the command and what it printed".into(),
    }
}

fn system() -> Diagnosis {
    let first = |path: &str| read_to_string(path).ok().map(|text| text.trim().to_string());
    let kernel = first("/proc/sys/kernel/osrelease").map_or(String::new(), |kernel| format!(" {kernel}"));
    let found = format!("{}{kernel} on {}", std::env::consts::OS, std::env::consts::ARCH);
    let known = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let advice = match known {
        true => "nothing, as it is tested on such systems",
        false => "it is tested less on such a system than on Linux and x86-64; tell of what is wrong",
    };
    Diagnosis { subject: "system", good: None, found, advice: advice.into() }
}

fn cores(computer: &Computer) -> Diagnosis {
    let &Computer { allowed_cores, available_cores, default_cores, why, .. } = computer;
    let mut found = format!("{} by default, of {}", count(default_cores, "core"), thousands(allowed_cores));
    if available_cores < allowed_cores {
        found += &format!(", but a quota has time for {}", thousands(available_cores));
    }
    if let Some(why) = why {
        found += &format!(": {why}");
    }
    let advice = match default_cores {
        1 => "a measurement on one core takes turns; allow more with taskset, or in the container's quota"
            .into(),
        cores => format!(
            "keep them idle while you measure; more than {cores} processors share them, at a dilation"
        ),
    };
    Diagnosis { subject: "cores", good: Some(default_cores > 1), found, advice }
}

fn clock(computer: &Computer) -> Diagnosis {
    let source = read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let source = source.map_or(String::new(), |name| format!("; the kernel's source is {}", name.trim()));
    let good = computer.look_ns < LONG_LOOK_NS;
    let (tick, look) = (rough(computer.tick_ns), rough(computer.look_ns));
    let advice = match good {
        true => "nothing, as a look at it is cheap",
        false => "choose the source tsc (clocksource=tsc), or a host that lets this one read its counter",
    };
    let found = format!("a tick of {tick} ns, a look at it takes {look} ns{source}");
    Diagnosis { subject: "clock", good: Some(good), found, advice: advice.into() }
}

fn pinning(computer: &Computer) -> Diagnosis {
    let (found, advice) = match computer.can_pin {
        true => ("threads stay on their cores", "nothing"),
        false => ("threads cannot be pinned", "expect late waits: this system moves threads between cores"),
    };
    Diagnosis { subject: "pinning", good: Some(computer.can_pin), found: found.into(), advice: advice.into() }
}

fn timer() -> Diagnosis {
    let length = Duration::from_nanos(WAIT.in_units(NS) as u64);
    let mut late = [Duration::ZERO; WAITS];
    for late in &mut late {
        let begin = Instant::now();
        std::thread::sleep(length);
        *late = begin.elapsed().saturating_sub(length);
    }
    late.sort();
    let time = |late: Duration| rough_time(Time::from_ps(late.as_nanos() as i64 * NS.as_ps()));
    Diagnosis {
        subject: "timer",
        good: None,
        found: format!("a sleep ends {} late, {} at most", time(late[WAITS / 2]), time(late[WAITS - 1])),
        advice: "nothing, as no processor sleeps to wait".into(),
    }
}

/// Lets a processor on each core wait on the wall clock.
fn waits(computer: &Computer) -> Result<Diagnosis, CliError> {
    let cores = computer.default_cores;
    let params = Params::builder(cores).L(US).o(US).g(US).build().map_err(CliError::run)?;
    let machine = Machine::new(params).clock(ClockKind::Wall).cores(cores).dilation(Dilation::Fixed(1.0));
    let run = machine.run(|p| (1..=WAITS).for_each(|n| p.wait_until(n as i64 * WAIT)));
    let host = run.map_err(CliError::run)?.host;
    let Some(Host { lateness, on_time, notes, .. }) = host else {
        return Err(CliError::run("a run on the wall clock has no report of its host"));
    };
    let mut found = format!(
        "half of {WAITS} on {} end {} late, the last",
        count(cores, "core"),
        rough_time(lateness.p50)
    );
    found += &format!(" one {}", rough_time(lateness.max));
    notes.iter().for_each(|note| found += &format!("; {note}"));
    let good = on_time && lateness.p50 < LATE;
    let advice = match good {
        true => "nothing, as long as it stays so",
        false => "end what else runs here, or measure on cores of your own: what is late is marked as late",
    };
    Ok(Diagnosis { subject: "waits", good: Some(good), found, advice: advice.into() })
}

fn stacks(computer: &Computer) -> Diagnosis {
    let (most, stack) = (&computer.most_virtual, computer.stack);
    let found = format!(
        "room for {} processors on the virtual clock, with stacks of {} KiB: {}",
        thousands(most.processors),
        stack >> 10,
        most.limit
    );
    let advice = match most.processors >= MANY {
        true => "nothing".into(),
        false => format!("for more give smaller stacks, --stack 64k{}", remedy(most)),
    };
    Diagnosis { subject: "stacks", good: Some(most.processors >= 1 << 12), found, advice }
}

fn threads(computer: &Computer) -> Diagnosis {
    let most = &computer.most_threads;
    let found = format!("room for {} on the wall clock: {}", thousands(most.processors), most.limit);
    let limits = computer.thread_limits.iter().filter(|(_, most)| *most < MANY);
    let limits = limits.map(|(name, most)| format!("; {name} is {}", thousands(most)));
    Diagnosis {
        subject: "threads",
        good: Some(most.processors >= 1 << 10),
        found: found + &limits.collect::<String>(),
        advice: format!("for more give --carrier coroutine{}", remedy(most)),
    }
}

/// Returns how to raise a limit, as the end of a sentence.
fn remedy(most: &ProcessorLimit) -> String {
    match most.remedy {
        "" => String::new(),
        remedy => format!(", or raise it: {}", remedy.replace("{}", "N")),
    }
}

fn browser() -> Diagnosis {
    let (found, advice) = match browser::find() {
        Ok(path) => (path.display().to_string(), "to use it, loggp timeline TRACE --open"),
        Err(why) => {
            let (found, advice) = why.split_once("; ").unwrap_or((why, "open pages by hand"));
            (found.to_string(), advice)
        }
    };
    Diagnosis { subject: "browser", good: None, found, advice: advice.into() }
}
