//! `loggp timeline`: shows a run as an interactive page, or a part of it as a picture.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use loggp::trace::{Caption, Trace};
use loggp::{ClockKind, Time};
use loggp_draw::page::Timeline;
use loggp_study::Study;
use loggp_study::analysis::{MessageNames, WhatIf};
use loggp_study::pictures::timeline::Window;

use super::analyze::{read_what_if, replay};
use crate::ask::lookup;
use crate::ask::output::{self, OutputFiles, extension};
use crate::ask::program_args::ProgramArgs;
use crate::ask::trace_input::read_trace;
use crate::ask::trace_outputs::{TIMELINE_EXTENSION_HINT, draw_picture};
use crate::commands::runs::run::RunSelection;
use crate::commands::schedules::schedule_run::{PlayOptions, ScheduleRun, is_schedule_input, play_error};
use crate::error::CliError;
use crate::host::browser;
use crate::host::draft::{Draft, is_stdout};
use crate::host::picture::{PictureFile, PictureForm};
use crate::host::source::is_there;
use crate::number::{Unit, count};
use crate::tell::call_names::joined_name;
use crate::tell::heading::{self, level_lines, parameters};

/// Look into a run: a page to zoom, to search and to follow causes in, or a picture of a part of it
#[derive(Args)]
#[command(after_help = "Examples:
  loggp timeline dissemination binomial-broadcast -P 8 --machine cs2-elan -o slide.svg
  loggp timeline gauss.loggp --what-if S=65536 -o gauss.html")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(allow_external_subcommands = false)]
pub(crate) struct TimelineCommand {
    /// A file that `loggp run --trace` wrote; a program to run, with the options of `loggp run`; or a recorded MPI program, a
    /// schedule in GOAL or a pattern, which is played. Several are shown below each other, over the same time
    #[arg(value_name = "TRACE|PROGRAM|FILE|PATTERN", required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    display: DisplayOptions,
    #[command(flatten)]
    play: PlayOptions,
    #[command(subcommand)]
    program: Option<ProgramArgs<TimelineArgs>>,
}

/// The arguments of `loggp timeline` for one program.
#[derive(Args)]
struct TimelineArgs {
    #[command(flatten)]
    selection: RunSelection,
    #[command(flatten)]
    display: DisplayOptions,
}

/// The options of the page or the picture.
#[derive(Args)]
#[command(next_help_heading = "Timeline")]
struct DisplayOptions {
    /// Where it goes: FILE.html is a page; FILE.svg, FILE.png and FILE.pdf are pictures; - is stdout, which gets the page
    /// [default: called as the input is, b.html for b.json, or b-2.html if that is another's]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Open it in a browser
    #[arg(long)]
    open: bool,
    /// Show this run below it, over the same time. May be given several times
    #[arg(long, value_name = "TRACE")]
    beside: Vec<PathBuf>,
    /// Show the run below it as it would have been under other parameters: S=65536,L=2us; as `loggp analyze` has it. May be
    /// given several times
    #[arg(long, value_name = "NAME=VALUE,...", allow_hyphen_values = true)]
    what_if: Vec<String>,
    /// Show it from this moment on; a bare number counts cycles [default: the start]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<String>,
    /// Show it until this moment [default: the end]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Which processors a picture has, such as 0-7,12 [default: all]
    #[arg(long, value_name = "N-N,...", value_parser = parse_processors)]
    only: Option<ProcessorList>,
}

/// Processors, in the order in which they are named.
#[derive(Clone)]
struct ProcessorList(Vec<usize>);

/// A run on the page, with its name and a description.
struct RunPanel {
    name: String,
    about: String,
    trace: Trace,
    /// The names of the messages of a played schedule.
    messages: Vec<Rc<str>>,
}

impl TimelineCommand {
    /// Reads the trace or runs the program, and shows the run.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if let Some(program) = &self.program {
            return run_program(program, out);
        }
        let (first, others) = self.inputs.split_first().expect("one is required without a program");
        let name = first.display().to_string();
        let mut panels = Vec::new();
        if is_schedule_input(&name) {
            let run = self.play.read(&name, &[])?;
            let target = self.display.open(&name)?;
            let unit = run.choice.unit;
            let again =
                |what_if: &WhatIf| run.play_what_if(what_if).map(|(trace, names)| (trace, joined(&names)));
            panels.push(RunPanel::played(&name, &run)?);
            self.add_panels(&mut panels, others, unit)?;
            return target.write(unit, panels, Some(&again), out);
        }
        self.play.refuse_for_trace(&name, false)?;
        let trace = read_run(first)?;
        let unit = Unit::of_trace(&trace);
        let target = self.display.open(&name)?;
        panels.push(RunPanel::recorded(name, trace, unit));
        self.add_panels(&mut panels, others, unit)?;
        target.write(unit, panels, None, out)
    }

    /// Adds the runs of the other inputs.
    fn add_panels(&self, panels: &mut Vec<RunPanel>, others: &[PathBuf], unit: Unit) -> Result<(), CliError> {
        for path in others {
            let name = path.display().to_string();
            panels.push(match is_schedule_input(&name) {
                true => RunPanel::played(&name, &self.play.read(&name, &[])?)?,
                false => RunPanel::recorded(name, read_run(path)?, unit),
            });
        }
        Ok(())
    }
}

/// Reads a trace. Refuses what is no file with the programs that have such a name.
fn read_run(path: &Path) -> Result<Trace, CliError> {
    if !is_there(path) && path.extension().is_none() {
        let name = path.display().to_string();
        let why = lookup::find_program(&name).err().unwrap_or_default();
        return Err(CliError::Request(format!("there is no file {name}, and {why}")));
    }
    read_trace(path)
}

/// Runs a program, and shows the run. On the wall clock the model's run is shown too.
fn run_program(program: &ProgramArgs<TimelineArgs>, out: &mut dyn Write) -> Result<(), CliError> {
    let TimelineArgs { selection, display } = &program.request;
    let mut experiment = selection.experiment(program, true)?;
    let target = display.open(program.program.name)?;
    let mut panels = Vec::new();
    let Study { case, emulation, .. } = &experiment.tasks[0].study;
    let is_measured = emulation.clock == ClockKind::Wall && emulation.link.is_none();
    if is_measured {
        let mut model = Study { repeat: 1, ..Study::new(case.clone()) };
        model.emulation.trace = true;
        let trace = model.run_with_progress(|| ())?.take_trace();
        panels.extend(trace.map(|trace| RunPanel::new("model", trace)));
    }
    let mut text = Vec::new();
    let mut report = experiment.report(&mut text, &selection.options, OutputFiles::default());
    let mut trace = None;
    let end = experiment.run(&mut report, |recorded| {
        trace = Some(recorded);
        Ok(())
    });
    if let Some(mut trace) = trace {
        if let Some(model) = panels.first_mut() {
            model.trace.caption = trace.caption.take();
        }
        let name = if is_measured { "measured" } else { "" };
        panels.push(RunPanel::new(name, trace));
        target.write(experiment.unit, panels, None, out)?;
    }
    drop(report);
    out.write_all(&text)?;
    end
}

/// Makes a run again under a change.
type RunAgain<'a> = dyn Fn(&WhatIf) -> Result<(Trace, Vec<Rc<str>>), CliError> + 'a;

/// Returns the names of both ends of each message as one.
fn joined(names: &MessageNames) -> Vec<Rc<str>> {
    let mut all: HashMap<[&str; 2], Rc<str>> = HashMap::new();
    let ends = names
        .sent
        .iter()
        .zip(&names.received)
        .filter_map(|(one, other)| Some([one.as_ref()?, other.as_ref()?]));
    let name = |[one, other]: [&Rc<str>; 2]| joined_name(&[Rc::clone(one), Rc::clone(other)]).into();
    ends.map(|ends| Rc::clone(all.entry(ends.map(|end| &**end)).or_insert_with(|| name(ends)))).collect()
}

impl RunPanel {
    fn new(name: &str, trace: Trace) -> RunPanel {
        RunPanel { name: name.into(), about: String::new(), trace, messages: Vec::new() }
    }

    /// Returns its name, or that of its file without the ending.
    fn short_name(&self) -> String {
        let path = Path::new(&self.name);
        let name = if path.is_file() { path.file_stem() } else { None };
        name.map_or_else(|| self.name.clone(), |name| name.to_string_lossy().into_owned())
    }

    fn message_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.messages.iter().map(|name| Some(&**name))
    }

    /// Returns a panel of a schedule, which is played.
    fn played(name: &str, run: &ScheduleRun) -> Result<RunPanel, CliError> {
        let (trace, names) = run.captioned(run.choice.machine()).map_err(play_error)?;
        let panel = RunPanel::recorded(name.into(), trace, run.choice.unit);
        Ok(RunPanel { messages: joined(&names), ..panel })
    }

    /// Returns a panel of a run from a file. A trace without a caption, as old ones are, gets one of its
    /// file's name and its machine.
    fn recorded(name: String, mut trace: Trace, unit: Unit) -> RunPanel {
        let machine = machine_text(&trace, unit);
        let caption = trace.caption.get_or_insert_with(|| Caption { about: machine, ..Caption::default() });
        let about = match &*caption.title {
            "" => caption.about.clone(),
            title => format!("{title}, {}", caption.about),
        };
        if caption.title.is_empty() {
            caption.title = name.clone();
        }
        RunPanel { name, about, trace, messages: Vec::new() }
    }
}

/// Returns the machine of a run as text.
fn machine_text(trace: &Trace, unit: Unit) -> String {
    let parameters_text =
        parameters(&trace.params, &unit).join(", ") + &level_lines(trace.params.P, &trace.levels, &unit);
    format!("{parameters_text}, {}", heading::recorded_text(trace))
}

/// Where the runs are shown.
struct Target<'a> {
    options: &'a DisplayOptions,
    path: PathBuf,
    file: TargetFile,
    /// The last line of a page whose name nobody gave: it says of which input the page is.
    mark: String,
}

enum TargetFile {
    Page(Draft),
    Picture(PictureFile),
}

impl DisplayOptions {
    /// Opens the output file for this input. Refuses options that don't apply to its form.
    fn open(&self, input: &str) -> Result<Target<'_>, CliError> {
        let mark = format!("<!-- the page of {} -->\n", input.replace("--", "- -"));
        let path = self.output.clone().unwrap_or_else(|| free_name(input, &mark));
        let mark = if self.output.is_none() { mark } else { String::new() };
        let form = PictureForm::from_extension(&extension(&path));
        if form.is_none() {
            output::check_extension(Some(&path), &["html"], TIMELINE_EXTENSION_HINT)?;
        }
        if form.is_none() && self.only.is_some() {
            let sentence =
                "--only is for a picture, and a page shows all processors; give -o FILE.svg, or leave it out";
            return Err(CliError::request(sentence));
        }
        if self.open {
            if is_stdout(&path) {
                return Err(CliError::request("--open is for a file; give -o FILE.html, or leave it out"));
            }
            find_browser()?;
        }
        let file = match form {
            None => TargetFile::Page(Draft::create(&path, "output")?),
            Some(form) => TargetFile::Picture(PictureFile::create(&path, form, "output")?),
        };
        Ok(Target { options: self, path, file, mark })
    }
}

impl Target<'_> {
    /// Writes the page or the picture, prints what a page shows, and opens it if that is asked for. `again` makes the run
    /// under a change; without it the first trace is replayed.
    fn write(
        self,
        unit: Unit,
        mut panels: Vec<RunPanel>,
        again: Option<&RunAgain<'_>>,
        out: &mut dyn Write,
    ) -> Result<(), CliError> {
        let Target { options, path, file, mark } = self;
        let window = options.window(&panels[0].trace)?;
        options.add_beside(&mut panels, unit, again)?;
        match file {
            TargetFile::Picture(file) => {
                let runs: Vec<_> = panels.iter().map(|panel| (panel.short_name(), &panel.trace)).collect();
                draw_picture(file, unit, &runs, &window)?;
            }
            TargetFile::Page(draft) => {
                let page = options.page(&panels, unit, &window);
                draft.write(|mut file| page.write(file).and_then(|()| file.write_all(mark.as_bytes())))?;
                write_summary(&panels, unit, &path, out)?;
            }
        }
        if options.open { browser::open(&find_browser()?, &path) } else { Ok(()) }
    }
}

/// Prints what a page shows, and where it is.
fn write_summary(panels: &[RunPanel], unit: Unit, path: &Path, out: &mut dyn Write) -> Result<(), CliError> {
    for RunPanel { name, trace, .. } in panels {
        let end = run_end(trace);
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        writeln!(
            out,
            "{name}{}, {}, {}",
            unit.show(end),
            count(trace.activities.len(), "activity").replace("activitys", "activities"),
            count(trace.messages.len(), "message")
        )?;
    }
    Ok(writeln!(out, "{}", path.display())?)
}

impl DisplayOptions {
    /// Adds the runs of `--beside` and `--what-if`.
    fn add_beside(
        &self,
        panels: &mut Vec<RunPanel>,
        unit: Unit,
        again: Option<&RunAgain<'_>>,
    ) -> Result<(), CliError> {
        for path in &self.beside {
            let trace = read_trace(path)?;
            panels.push(RunPanel::recorded(path.display().to_string(), trace, unit));
        }
        let what_ifs: Vec<_> = self
            .what_if
            .iter()
            .map(|text| read_what_if(text, &panels[0].trace.machine()))
            .collect::<Result<_, _>>()?;
        for what_if in what_ifs {
            let (mut trace, messages) = match again {
                Some(again) => again(&what_if)?,
                None => (replay(&what_if, &panels[0].trace)?, Vec::new()),
            };
            let about = machine_text(&trace, unit);
            let title =
                panels[0].trace.caption.as_ref().map_or(String::new(), |caption| caption.title.clone());
            trace.caption =
                Some(Caption { title, about: about.clone(), unit: unit.name.into(), formula: None });
            panels.push(RunPanel { name: what_if.name, about, trace, messages });
        }
        Ok(())
    }

    /// Returns the page of runs.
    fn page<'p>(&self, panels: &'p [RunPanel], unit: Unit, window: &Window) -> Timeline<'p> {
        let mut rows = panels.iter();
        let first = rows.next().expect("there is one");
        let mut page = Timeline::new(&first.trace).unit(unit.name, unit.length).name(&first.name);
        page = page.message_names(first.message_names());
        for panel in rows {
            let RunPanel { name, about, trace, .. } = panel;
            page = page.beside(name, trace).message_names(panel.message_names());
            if !about.is_empty() {
                page = page.about(about.replace('\n', ", "));
            }
        }
        if self.from.is_some() || self.until.is_some() {
            page = page.window(window.from, window.until);
        }
        page
    }

    /// Returns the part of the run that is shown.
    fn window(&self, trace: &Trace) -> Result<Window, CliError> {
        let read = |option: &str, text: &Option<String>, usual: Time| match text {
            None => Ok(usual),
            Some(text) => {
                let time = Time::parse(text, trace.params.cycle);
                time.map_err(|why| CliError::Request(format!("--{option}: {why}")))
            }
        };
        let from = read("from", &self.from, Time::ZERO)?;
        let until = read("until", &self.until, Time::MAX)?;
        if from >= until {
            return Err(CliError::Request(format!(
                "--from {from} is not before --until {until}; give an earlier --from or a later --until"
            )));
        }
        let end = run_end(trace);
        if self.from.is_some() && from >= end {
            return Err(CliError::Request(format!(
                "--from {from}: the run ends at {end}; give an earlier one"
            )));
        }
        let P = trace.params.P;
        let only = self.only.as_ref().map(|only| only.0.clone());
        if let Some(id) = only.iter().flatten().find(|id| **id >= P) {
            return Err(CliError::Request(format!(
                "--only: there is no processor {id}; there are {P}, from 0 on"
            )));
        }
        Ok(Window { from, until, only })
    }
}

/// Returns the name of the page of an input: the input's own, with a number if another input's page has that.
fn free_name(input: &str, mark: &str) -> PathBuf {
    let stem = Path::new(input).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let is_plain = |c: char| c.is_alphanumeric() || "-_+.=".contains(c);
    let stem: String = stem.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let stem = if stem == "-" { "timeline" } else { &*stem };
    let names = (1..).map(|n| match n {
        1 => PathBuf::from(format!("{stem}.html")),
        n => PathBuf::from(format!("{stem}-{n}.html")),
    });
    let is_own = |page: &PathBuf| fs::read(page).is_ok_and(|page| page.ends_with(mark.as_bytes()));
    names.into_iter().find(|page| !page.exists() || is_own(page)).expect("a number is free")
}

fn find_browser() -> Result<PathBuf, CliError> {
    browser::find().map_err(|why| CliError::Request(format!("--open: {why}")))
}

/// Returns the end of a run's last activity.
fn run_end(trace: &Trace) -> Time {
    trace.activities.iter().map(|activity| activity.end).max().unwrap_or_default()
}

/// Reads processors, such as 0-7,12.
fn parse_processors(text: &str) -> Result<ProcessorList, String> {
    const MOST: usize = 1 << 16;
    let refuse = || "give processors, such as 0-7,12".to_string();
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().trim_start_matches('P').parse::<usize>().map_err(|_| refuse());
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last - first >= MOST {
            return Err(refuse());
        }
        all.extend((first..=last).filter(|id| !all.contains(id)).collect::<Vec<_>>());
    }
    Ok(ProcessorList(all))
}
