//! `loggp timeline`: a run to look into, as a page; or a picture of a part of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::{Caption, ClockKind, Time, Trace};
use loggp_draw::timeline::Timeline as Picture;
use loggp_papers::pictures::timeline::{Window, of_trace};
use loggp_study::Study;

use super::analyze::{read_what_if, replay};
use super::audit;
use super::draft::Draft;
use super::failure::Failure;
use super::heading::{self, parameters};
use super::name;
use super::number::{Unit, count};
use super::output::{self, Outputs, TRACES, ending, write_trace};
use super::own::OfProgram;
use super::run::{Asked, One};

/// The arguments.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(allow_external_subcommands = false)]
pub struct TimelineCommand {
    /// A file that `loggp run --trace` or `loggp replay --trace` wrote; or a program to run, with the options of `loggp run`
    #[arg(value_name = "TRACE|PROGRAM", required = true)]
    trace: Option<PathBuf>,
    /// How it is shown.
    #[command(flatten)]
    shown: Shown,
    /// Of which program.
    #[command(subcommand)]
    of: Option<OfProgram<Request>>,
}

/// What is asked of the program.
#[derive(Args)]
struct Request {
    /// Which run.
    #[command(flatten)]
    one: One,
    /// How it is shown.
    #[command(flatten)]
    shown: Shown,
}

/// How a run is shown.
#[derive(Args)]
#[command(next_help_heading = "Timeline")]
struct Shown {
    /// Where it goes: FILE.html is a page, FILE.svg a picture
    #[arg(short, long, value_name = "FILE", default_value = "timeline.html")]
    output: PathBuf,
    /// Show this run below it, at the same scale. May be given several times
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
    #[arg(long, value_name = "N-N,...", value_parser = processors)]
    only: Option<Only>,
}

/// Processors, in the order in which they were named.
#[derive(Clone)]
struct Only(Vec<usize>);

/// How the names of timelines end.
const ENDINGS: &[&str] = &["html", "svg"];
const ENDINGS_SAID: &str = ".html for a page to look into, or in .svg for a picture";

/// A run, its name, and what is said of it.
struct Panel {
    name: String,
    about: String,
    trace: Trace,
}

impl TimelineCommand {
    /// Reads or makes the run, and shows it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(of) = &self.of {
            return execute(of, out);
        }
        let path = self.trace.as_deref().expect("it is required without a program");
        let name = path.display().to_string();
        if !path.exists() && path.extension().is_none() {
            let why = name::program(&name).err().unwrap_or_default();
            return Err(Failure::Request(format!("there is no file {name}, and {why}")));
        }
        let trace = audit::read(path)?;
        let unit = Unit::usual(&trace.params);
        let draft = self.shown.draft()?;
        self.shown.write(draft, unit, vec![Panel::recorded(name, trace, unit)], out)
    }
}

/// Runs a program, and shows the run. On the wall clock it shows the model's run too.
fn execute(of: &OfProgram<Request>, out: &mut dyn Write) -> Result<(), Failure> {
    let Request { one, shown } = &of.request;
    let mut asked = Asked::of(of, one, true)?;
    let draft = shown.draft()?;
    let mut panels = Vec::new();
    let emulation = &asked.study.emulation;
    let measured = emulation.clock == ClockKind::Wall && emulation.over.is_none();
    if measured {
        let mut model = Study { repeat: 1, ..Study::of(asked.study.case.clone()) };
        model.emulation.trace = true;
        let trace = model.run_with(|| ())?.take_trace();
        panels.extend(trace.map(|trace| panel("model", trace)));
    }
    let mut answers = asked.run()?;
    let name = if measured { "measured" } else { "" };
    panels.extend(answers.take_trace().map(|trace| panel(name, trace)));
    panels[0].trace.caption = Some(asked.caption(&answers));
    shown.write(draft, asked.unit, panels, out)?;
    let files = Outputs::none().open()?;
    asked.report(answers, &one.options, files, out)
}

/// What `--trace` and `--timeline` ask for: a run, and a look at it.
pub struct Drawn<'a> {
    trace: Option<(&'a Path, Draft)>,
    timeline: Option<(&'a Path, Draft)>,
}

impl<'a> Drawn<'a> {
    /// The files of these names, if any; or refuses them.
    pub fn of(trace: Option<&'a Path>, timeline: Option<&'a Path>) -> Result<Drawn<'a>, Failure> {
        let draft = |path: Option<&'a Path>, what| {
            path.map(|path| Ok::<_, Failure>((path, Draft::create(path, what)?))).transpose()
        };
        let drawn = Drawn { trace: draft(trace, "trace")?, timeline: draft(timeline, "timeline")? };
        output::check(trace, TRACES, ".json, or in .loggp for fewer bytes")?;
        output::check(timeline, ENDINGS, ENDINGS_SAID)?;
        Ok(drawn)
    }

    /// Whether there is one.
    pub fn is_asked(&self) -> bool {
        self.trace.is_some() || self.timeline.is_some()
    }

    /// Writes a run with its caption.
    pub fn write(self, trace: &Trace, unit: Unit) -> Result<(), Failure> {
        match self.timeline {
            None => (),
            Some((path, draft)) if ending(path) == "svg" => picture(draft, unit, trace, &Window::default())?,
            Some((_, draft)) => {
                let (name, length) = unit.named();
                draft.write(|file| trace.timeline().unit(name, length).write(file))?;
            }
        }
        self.trace.map_or(Ok(()), |(path, draft)| write_trace(draft, path, trace))
    }
}

/// Draws a part of a run.
fn picture(draft: Draft, unit: Unit, trace: &Trace, window: &Window) -> Result<(), Failure> {
    let Caption { title, about, .. } = trace.caption.clone().unwrap_or_default();
    let drawn = Picture { subtitle: about, ..of_trace(trace, &title, unit.named(), window) };
    let less =
        |why| format!("{why}; show a part with --only, --from and --until, or give -o FILE.html for a page");
    let svg = drawn.svg().map_err(less).map_err(Failure::Request)?;
    draft.write(|mut file| file.write_all(svg.as_bytes()))
}

/// A run of a program.
fn panel(name: &str, trace: Trace) -> Panel {
    Panel { name: name.into(), about: String::new(), trace }
}

impl Panel {
    /// A run from a file, with its name. A trace from before traces held a caption is said to be of this file and machine.
    fn recorded(name: String, mut trace: Trace, unit: Unit) -> Panel {
        let machine = about(&trace, unit);
        let caption = trace.caption.get_or_insert_with(|| Caption { about: machine, ..Caption::default() });
        let about = match &*caption.title {
            "" => caption.about.clone(),
            title => format!("{title}, {}", caption.about),
        };
        if caption.title.is_empty() {
            caption.title = name.clone();
        }
        Panel { name, about, trace }
    }
}

/// What is said of a run: its machine.
fn about(trace: &Trace, unit: Unit) -> String {
    let said = parameters(&trace.params, &unit).join(", ");
    format!("{said}, {}", heading::recorded(trace))
}

impl Shown {
    /// The file that it goes to.
    fn draft(&self) -> Result<Draft, Failure> {
        output::check(Some(&self.output), ENDINGS, ENDINGS_SAID)?;
        let is_picture = ending(&self.output) == "svg";
        if is_picture && !(self.beside.is_empty() && self.what_if.is_empty()) {
            let sentence =
                "a picture shows one run; leave out --beside and --what-if, or give -o FILE.html for a page";
            return Err(Failure::request(sentence));
        }
        if !is_picture && self.only.is_some() {
            let sentence =
                "--only is for a picture, and a page shows all processors; give -o FILE.svg, or leave it out";
            return Err(Failure::request(sentence));
        }
        Draft::create(&self.output, "output")
    }

    /// Writes the page or the picture, and says what is in it.
    fn write(
        &self,
        draft: Draft,
        unit: Unit,
        mut panels: Vec<Panel>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let first = &panels[0].trace;
        let window = self.window(first)?;
        if ending(&self.output) == "svg" {
            return picture(draft, unit, first, &window);
        }
        for path in &self.beside {
            let trace = audit::read(path)?;
            panels.push(Panel::recorded(path.display().to_string(), trace, unit));
        }
        let what_ifs: Vec<_> =
            self.what_if.iter().map(|text| read_what_if(text, &panels[0].trace)).collect::<Result<_, _>>()?;
        for what_if in what_ifs {
            let trace = replay(&what_if, &panels[0].trace)?;
            panels.push(Panel { name: what_if.name, about: about(&trace, unit), trace });
        }
        let (name, length) = unit.named();
        let mut rows = panels.iter();
        let first = rows.next().expect("there is one");
        let mut page = first.trace.timeline().unit(name, length).name(&first.name);
        for Panel { name, about, trace } in rows {
            page = page.beside(name, trace);
            if !about.is_empty() {
                page = page.about(about.replace('\n', ", "));
            }
        }
        if self.from.is_some() || self.until.is_some() {
            page = page.window(window.from, window.until);
        }
        draft.write(|file| page.write(file))?;
        for Panel { name, trace, .. } in &panels {
            let end = end(trace);
            let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
            writeln!(
                out,
                "{name}{}, {}, {}",
                unit.show(end),
                count(trace.activities.len(), "activity").replace("activitys", "activities"),
                count(trace.messages.len(), "message")
            )?;
        }
        writeln!(out, "{}", self.output.display())?;
        Ok(())
    }

    /// The part that is shown.
    fn window(&self, trace: &Trace) -> Result<Window, Failure> {
        let read = |option: &str, text: &Option<String>, usual: Time| match text {
            None => Ok(usual),
            Some(text) => {
                let time = Time::parse(text, trace.params.cycle);
                time.map_err(|why| Failure::Request(format!("--{option}: {why}")))
            }
        };
        let from = read("from", &self.from, Time::ZERO)?;
        let until = read("until", &self.until, Time::MAX)?;
        if from >= until {
            return Err(Failure::Request(format!(
                "--from {from} is not before --until {until}; give an earlier --from or a later --until"
            )));
        }
        let end = end(trace);
        if self.from.is_some() && from >= end {
            return Err(Failure::Request(format!(
                "--from {from}: the run ends at {end}; give an earlier one"
            )));
        }
        let P = trace.params.P;
        let only = self.only.as_ref().map(|only| only.0.clone());
        if let Some(id) = only.iter().flatten().find(|id| **id >= P) {
            return Err(Failure::Request(format!(
                "--only: there is no processor {id}; there are {P}, from 0 on"
            )));
        }
        Ok(Window { from, until, only })
    }
}

/// When a run ends.
fn end(trace: &Trace) -> Time {
    trace.activities.iter().map(|activity| activity.end).max().unwrap_or_default()
}

/// Reads processors, such as 0-7,12.
fn processors(text: &str) -> Result<Only, String> {
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
    Ok(Only(all))
}
