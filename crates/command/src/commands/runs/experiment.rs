//! Experiments: one or many runs of a program, set up from the command line, run one after the other or
//! several at once, and reported with a row for each.
//!
//! If this computer did not keep up with a run, the report has a mark in the table, a line below it that
//! explains the mark, and a warning; in JSON and CSV `held` is false. The exit status does not change: the
//! result is right, and only the measured time is not to be trusted.

use std::io::Write;

use loggp::trace::{Caption, Trace};
use loggp::{ClockKind, Noise, Order, Params, Time, Work};
use loggp_document::DocumentBlock;
use loggp_draw::plot::Plot;
use loggp_programs::{Algorithm, Case, Emulation, FormKind, OptionValue, Program, ProgramOption, Refusal};
use loggp_study::parallel::run_in_order;
use loggp_study::range::Range;
use loggp_study::rows::program_run::{StudyRow, Task, study_columns};
use loggp_study::sweep::{Sweep, SweepStudies};
use loggp_study::{Answers, Study, StudyError};

use super::cores::share_cores;
use super::details::details;
use super::trend;
use crate::ask::choice::{self, MachineChoice};
use crate::ask::lookup;
use crate::ask::machine_file::PartialMachine;
use crate::ask::options::{ChoiceOptions, DrawOptions, MachineOptions, Options, ProgramOptions, RunOptions};
use crate::ask::output::{OutputFiles, Outputs};
use crate::ask::program_args::ProgramArgs;
use crate::ask::shard::{Shard, shard_items};
use crate::ask::trace_input::read_trace;
use crate::error::{CliError, merge_sentences, say};
use crate::number::Unit;
use crate::tell::heading::{heading, value_text};
use crate::tell::progress::ProgressDisplay;
use crate::tell::report::Report;

/// A program, and all the settings of its runs but the algorithm and the value of a swept quantity.
pub(crate) struct ProgramSetup<'a> {
    pub program: &'static Program,
    /// The machine, some of whose parameters may be open.
    pub machine: PartialMachine,
    /// Values of the program's own options that are given.
    given: &'a [OptionValue],
    options: &'a ProgramOptions,
    machine_options: &'a MachineOptions,
    /// The machine that was asked for, one of perhaps several.
    choice: ChoiceOptions,
    run: &'a RunOptions,
    draws: DrawOptions,
    noise: Option<Noise>,
    /// Number of processors of the recorded run whose order is repeated, if one is.
    repeated_P: Option<usize>,
    /// The clock and its settings.
    emulation: Emulation,
}

impl<'a> ProgramSetup<'a> {
    /// Reads the options of a program, which runs on `clock` unless they name another.
    pub(crate) fn new<T>(
        args: &'a ProgramArgs<T>,
        options: &'a ProgramOptions,
        machine_options: &'a MachineOptions,
        run: &'a RunOptions,
        clock: ClockKind,
    ) -> Result<ProgramSetup<'a>, CliError> {
        let choice = machine_options.choice.clone();
        ProgramSetup::on_machine(choice, args, options, machine_options, run, clock)
    }

    /// Reads the options of a program on the machine that `choice` asks for.
    fn on_machine<T>(
        choice: ChoiceOptions,
        args: &'a ProgramArgs<T>,
        options: &'a ProgramOptions,
        machine_options: &'a MachineOptions,
        run: &'a RunOptions,
        clock: ClockKind,
    ) -> Result<ProgramSetup<'a>, CliError> {
        let mut emulation = machine_options.emulation(&run.clock, clock)?;
        let link = run.on.link()?;
        if link.is_some() {
            emulation = Emulation { clock: ClockKind::Wall, link, ..emulation };
        }
        let process_count = emulation.link.as_ref().map(|link| link.P());
        let of_levels = options.levels.P();
        let P = machine_options.one_P()?.or(of_levels).or(process_count);
        let machine = choice::partial_machine(&choice, P)?;
        let (mut draws, mut repeated_P) = (run.draws, None);
        if let Some(path) = &run.repeat_from {
            let trace = read_trace(path)?;
            repeated_P = Some(trace.params.P);
            draws = DrawOptions { latency: trace.latency, ties: trace.ties };
            emulation.order = Some(Order::from(&trace));
        }
        let noise = run.noise.as_ref().map(|noise| noise.read(options.seed)).transpose()?;
        let (program, given) = (args.program, &*args.values);
        Ok(ProgramSetup {
            program,
            machine,
            given,
            options,
            machine_options,
            choice,
            run,
            draws,
            noise,
            repeated_P,
            emulation,
        })
    }

    /// Returns the algorithms with these names, or all if there are none.
    pub(crate) fn algorithms(&self, names: &[String]) -> Result<Vec<&'static Algorithm>, CliError> {
        match names {
            [] => Ok(self.program.algorithms.iter().collect()),
            names => names.iter().map(|name| lookup::find_algorithm(self.program, name)).collect(),
        }
    }

    /// Refuses a given option of the program's own that applies to none of these algorithms.
    fn check_given_options(&self, algorithms: &[&Algorithm]) -> Result<(), CliError> {
        self.given.iter().try_for_each(|value| check_option(value.option(), algorithms))
    }

    /// Refuses `--cycle` where nothing counts cycles: the machine's times have units, no other is given, and the program
    /// takes the same time with another cycle.
    fn check_cycle(&self, case: &Case) -> Result<(), CliError> {
        let has_times = self.choice.params.is_some()
            || !self.options.levels.level.is_empty()
            || self.options.barrier.is_some();
        let may_count = has_times || case.work == Work::Measured;
        let Some(cycle) = self.choice.cycle.filter(|_| !may_count) else { return Ok(()) };
        let time = |cycle: Time| {
            let mut case = case.clone();
            case.params.cycle = cycle;
            Some(case.plan().ok()?.run(&Emulation::default()).ok()?.run.time)
        };
        let times = (time(cycle), time(2 * cycle));
        match times.0.is_some() && times.0 == times.1 {
            false => Ok(()),
            true => Err(CliError::Request(format!(
                "--cycle changes nothing here: the machine's times have units, and {} counts no cycles; leave it out",
                case.program.name
            ))),
        }
    }

    /// Returns the study of an algorithm on a machine with these parameters.
    fn study(&self, algorithm: &'static Algorithm, params: Params) -> Result<Study, Refusal> {
        let ProgramSetup { program, machine, options, run, emulation, .. } = self;
        let barrier = options.barrier.as_deref().map(|text| parse_barrier(text, params.cycle)).transpose()?;
        let usual_work = if emulation.link.is_some() { Work::Measured } else { program.work };
        let case = Case {
            program,
            algorithm,
            levels: options.levels.build(&machine.levels, &params)?,
            params,
            capacity: options.capacity.capacity,
            ports: self.machine_options.ports.or(machine.ports).unwrap_or_default(),
            rendezvous: options.rendezvous.rendezvous.or(machine.rendezvous).unwrap_or_default(),
            latency: self.draws.latency,
            ties: self.draws.ties,
            noise: self.noise.clone(),
            work: options.work.unwrap_or(usual_work),
            compute_times: None,
            barrier,
            size: options.size.unwrap_or(program.size.default),
            seed: options.seed,
            options: program.defaults(),
        };
        let case = self.given.iter().cloned().fold(case, Case::with_value);
        if let Some(seeds) = run.seeds
            && case.random_options().is_empty()
        {
            return Err(format!(
                "--seeds {seeds}: no latencies, ties or noise are drawn; give --latency random:1, --ties random:1 or --noise too"
            )
            .into());
        }
        if let Some(P) = self.repeated_P.filter(|P| *P != case.params.P) {
            return Err(format!(
                "--repeat-from: the run in it has {P} processors, and this one has {}; give the options of that run",
                case.params.P
            )
            .into());
        }
        Ok(Study {
            repeat: run.seeds.unwrap_or(run.repeat),
            distinct_seeds: run.seeds.is_some(),
            includes_wall_clock: run.also.is_some(),
            emulation: emulation.clone(),
            ..Study::new(case)
        })
    }

    /// Returns an experiment with one run of the algorithm with this name, or of the best known.
    pub(crate) fn single(&self, algorithm: &Option<String>, is_traced: bool) -> Result<Experiment, CliError> {
        if is_traced && self.run.seeds.is_some() {
            return Err(CliError::request(
                "a trace is of one run, and so are pages and trees; leave out --seeds: the table says which --latency, --ties or --noise repeats the median run",
            ));
        }
        if self.run.shard.is_some() {
            return Err(CliError::request("a run is one; leave out --shard, or give it to compare or sweep"));
        }
        let algorithms = self.algorithms(algorithm.as_slice())?;
        let mut single = self.comparison(&algorithms[..1], true)?;
        single.is_single = true;
        single.tasks[0].study.emulation.trace = is_traced;
        Ok(single)
    }

    /// Returns an experiment with a run of each of these algorithms. Those that are refused are left out, with
    /// a warning, unless all are needed.
    pub(crate) fn comparison(
        &self,
        algorithms: &[&'static Algorithm],
        are_needed: bool,
    ) -> Result<Experiment, CliError> {
        let MachineChoice { name: machine, params, unit, .. } =
            self.machine.clone().complete(&self.choice)?;
        self.check_given_options(algorithms)?;
        let (mut tasks, mut refusals, mut untimed) = (Vec::new(), Vec::new(), Vec::new());
        for algorithm in algorithms {
            let study = self.study(algorithm, params);
            match study.and_then(|study| study.case.check().map(|()| study)) {
                Ok(study) => {
                    tasks.push(Task { name: algorithm.name.into(), machine, study, swept: Vec::new() })
                }
                Err(refusal) => {
                    untimed.push(self.refused(Vec::new(), algorithm, &refusal));
                    refusals.push(CliError::request(refusal));
                }
            }
        }
        if tasks.is_empty() || are_needed && !refusals.is_empty() {
            return Err(refusals.swap_remove(0));
        }
        CliError::warn_all(refusals);
        self.check_cycle(&tasks[0].study.case)?;
        Ok(Experiment { untimed, ..self.experiment(tasks, unit, Vec::new()) })
    }

    /// Returns the sweep over these ranges, along the first at each value of the second.
    pub(crate) fn sweep(&self, ranges: Vec<Range>) -> Sweep<'_> {
        let algorithm = &self.program.algorithms[0];
        Sweep::new(ranges, &self.machine.builder, |params| self.study(algorithm, params))
    }

    /// Returns an experiment with a run of each of these algorithms at each point of a sweep. Those that are
    /// refused are left out, with a warning.
    pub(crate) fn sweep_experiment(
        &self,
        sweep: &Sweep,
        algorithms: &[&'static Algorithm],
    ) -> Result<Experiment, CliError> {
        self.check_given_options(algorithms)?;
        let SweepStudies { studies, refused } = sweep.studies(algorithms);
        let quantities = || sweep.ranges.iter().map(|range| range.quantity);
        let untimed = refused.iter().map(|(values, algorithm, why)| {
            self.refused(values.iter().map(|point| point.number).collect(), algorithm, why)
        });
        let untimed = untimed.collect();
        // Of a map's many points the reasons alone are said.
        let refusals = refused.into_iter().map(|(values, _, why)| match (&values[..], &sweep.ranges[..]) {
            ([point], [Range { quantity, .. }]) => {
                CliError::Request(format!("at {} = {}, {why}", quantity.name(), point.text(*quantity)))
            }
            _ => CliError::request(why),
        });
        let mut refusals: Vec<CliError> = refusals.collect();
        let Some((_, first)) = studies.first() else { return Err(refusals.swap_remove(0)) };
        CliError::warn_all(refusals);
        let unit = choice::unit(&self.choice, &first.case.params);
        let tasks = studies.into_iter().map(|(values, study)| {
            let swept = values.iter().zip(quantities());
            let swept =
                swept.map(|(point, quantity)| (point.number, value_text(point.number, quantity, &unit)));
            let swept: Vec<(f64, String)> = swept.collect();
            let at =
                quantities().zip(&swept).map(|(quantity, (_, at))| format!("{} = {at}", quantity.name()));
            let at = at.collect::<Vec<_>>().join(" and ");
            Task {
                name: format!("{} at {at}", study.case.algorithm.name),
                machine: self.machine.name,
                study,
                swept,
            }
        });
        Ok(Experiment { untimed, ..self.experiment(tasks.collect(), unit, sweep.ranges.clone()) })
    }

    /// Returns an algorithm that is refused, and why, without its name.
    fn refused(&self, numbers: Vec<f64>, algorithm: &'static Algorithm, why: &Refusal) -> Untimed {
        let why = why.to_string();
        let why = why.trim_start_matches(&format!("{} {}: ", self.program.name, algorithm.name)).into();
        Untimed { numbers, algorithm, why }
    }

    /// Returns the experiment with these tasks.
    fn experiment(&self, tasks: Vec<Task>, unit: Unit, ranges: Vec<Range>) -> Experiment {
        let heading = heading(&tasks[0].study, &self.machine, &unit, &ranges);
        Experiment {
            tasks,
            untimed: Vec::new(),
            heading,
            unit,
            ranges,
            is_single: false,
            has_machines: false,
            details,
            plot: None,
        }
    }
}

impl Options {
    /// Returns the setups of a program with these options, one for each machine, which runs on `clock` unless they
    /// name another.
    pub(crate) fn setups<'a, T>(
        &'a self,
        args: &'a ProgramArgs<T>,
        clock: ClockKind,
    ) -> Result<Vec<ProgramSetup<'a>>, CliError> {
        let setup =
            |choice| ProgramSetup::on_machine(choice, args, &self.program, &self.machine, &self.run, clock);
        self.machine.choice.of_each_machine().into_iter().map(setup).collect()
    }
}

/// An algorithm without a time, at these values of what is swept, and why.
pub(crate) struct Untimed {
    pub numbers: Vec<f64>,
    pub algorithm: &'static Algorithm,
    pub why: String,
}

/// Runs of a program, and how they are reported.
pub(crate) struct Experiment {
    pub tasks: Vec<Task>,
    /// The runs that were refused or failed.
    pub untimed: Vec<Untimed>,
    /// Heading of the report.
    pub heading: String,
    pub unit: Unit,
    /// The ranges of a sweep.
    pub ranges: Vec<Range>,
    /// True if it is one run, which has no name in errors.
    pub is_single: bool,
    /// True if it is on several machines.
    pub has_machines: bool,
    /// Returns the blocks below the table.
    pub details: fn(&[StudyRow], Unit) -> Vec<DocumentBlock>,
    /// Returns the plot of the rows, where each run adds to it.
    pub plot: Option<fn(&Experiment, &[StudyRow]) -> Plot>,
}

impl Experiment {
    /// Returns the experiments of one machine or several as one, with the shard of their tasks that is asked for.
    pub(crate) fn merge(experiments: Vec<Experiment>, shard: Option<Shard>) -> Experiment {
        let has_machines = experiments.len() > 1;
        let headings: Vec<&str> = experiments.iter().map(|experiment| &*experiment.heading).collect();
        let heading = if has_machines { merge_headings(&headings) } else { headings.concat() };
        let is_single = !has_machines && experiments[0].is_single;
        let (mut tasks, mut merged) = (Vec::new(), None);
        for mut experiment in experiments {
            tasks.append(&mut experiment.tasks);
            merged.get_or_insert(experiment);
        }
        for task in tasks.iter_mut().filter(|_| has_machines) {
            task.name += &task.machine.map_or(String::new(), |name| format!(" on {name}"));
        }
        let merged = merged.expect("there is a machine");
        Experiment { tasks: shard_items(shard, tasks), heading, is_single, has_machines, ..merged }
    }

    /// Opens the report. Refuses a picture that cannot be drawn.
    pub(crate) fn open_report<'o>(
        &self,
        out: &'o mut dyn Write,
        options: &Options,
        outputs: &Outputs,
    ) -> Result<Report<'o, StudyRow>, CliError> {
        if outputs.has_picture() {
            if options.run.shard.is_some() {
                return Err(CliError::request(
                    "a shard has not all that a picture shows; write rows, and leave out -o FILE.svg",
                ));
            }
            if self.ranges.is_empty() {
                trend::check(&self.tasks[0].study)?;
            }
        }
        Ok(self.report(out, options, outputs.open()?))
    }

    /// Returns the empty report with these files.
    pub(crate) fn report<'o>(
        &self,
        out: &'o mut dyn Write,
        Options { run, report, .. }: &Options,
        files: OutputFiles,
    ) -> Report<'o, StudyRow> {
        let swept = self.ranges.iter().map(|range| range.quantity.name());
        let mut columns = study_columns(swept, run.repeat, run.seeds.is_some());
        if self.has_machines {
            columns.named(&["machine"]).for_each(|column| {
                column.title("machine");
            });
        }
        if self.ranges.len() > 1 && run.shard.is_none() {
            columns.hide_all(); // a map takes their place
        }
        Report::new(out, report.format, columns).with_files(files)
    }

    /// Draws the plot of all rows.
    pub(crate) fn draw(&self, report: Report<StudyRow>) -> Result<(), CliError> {
        match self.plot {
            Some(plot) => report.draw(|rows| plot(self, rows)),
            None => Ok(()),
        }
    }

    /// Makes and reports all runs, even if some fail, and then returns the failures as one error. `on_trace` gets
    /// the trace of a traced run before its row is added.
    pub(crate) fn run(
        &mut self,
        report: &mut Report<StudyRow>,
        on_trace: impl FnMut(Trace) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let failed = self.run_all(report, on_trace)?;
        report.finish(&self.heading, self.unit, |rows| (self.details)(rows, self.unit))?;
        Experiment::end(report, failed)
    }

    /// Warns of a host that was late, and returns failures as one error. If all of them are wrong requests, so is
    /// the whole.
    pub(crate) fn end(report: &Report<StudyRow>, failed: Vec<CliError>) -> Result<(), CliError> {
        warn_of_host(&report.rows);
        let is_wrong = failed.iter().all(|failure| matches!(failure, CliError::Request(_)));
        match merge_sentences(failed.into_iter().filter_map(CliError::into_sentence)).join("\n") {
            said if said.is_empty() => Ok(()),
            said if is_wrong => Err(CliError::Request(said)),
            said => Err(CliError::Run(said)),
        }
    }

    /// Runs all tasks, several at once if possible, and adds a row for each in order. Returns an error for each
    /// that failed or had a wrong result.
    pub(crate) fn run_all(
        &mut self,
        report: &mut Report<StudyRow>,
        mut on_trace: impl FnMut(Trace) -> Result<(), CliError>,
    ) -> Result<Vec<CliError>, CliError> {
        let mut tasks = std::mem::take(&mut self.tasks);
        let (mut failed, mut untimed) = (Vec::new(), Vec::new());
        let progress = ProgressDisplay::for_runs(tasks.iter().map(|task| task.study.runs()).sum());
        let workers = share_cores(&mut tasks);
        let run = |task: &Task| {
            progress.set_current(task.study.case.algorithm.name);
            task.study.run_with_progress(|| progress.finish_one())
        };
        run_in_order(tasks.into_iter(), workers, run, |task, result| {
            let [of, subject, failing] = match (self.is_single, &task.name) {
                (true, _) => [const { String::new() }; 3],
                (_, name) => [format!(" of {name}"), format!("{name}: "), format!("{name} failed: ")],
            };
            untimed.extend(result.as_ref().err().map(|why| Untimed {
                numbers: task.swept.iter().map(|(number, _)| *number).collect(),
                algorithm: task.study.case.algorithm,
                why: why.summary(),
            }));
            match result {
                Ok(mut answers) => {
                    self.take_trace(&task, &mut answers).map_or(Ok(()), &mut on_trace)?;
                    let wrong = answers.wrong.as_ref();
                    failed.extend(wrong.map(|why| CliError::Run(format!("the result{of} is wrong: {why}"))));
                    progress.suspend(|| report.add(StudyRow { task, answers }))?;
                    let svg = |rows: &[StudyRow]| self.plot.map(|plot| plot(self, rows).svg());
                    report.keep(&self.heading, self.unit, svg)?;
                }
                Err(StudyError::Refused(why)) => failed.push(CliError::Request(format!("{subject}{why}"))),
                Err(why) => {
                    let why = why.text(&|time| self.unit.show(time));
                    failed.push(CliError::Run(format!("{failing}{why}")));
                }
            }
            Ok::<_, CliError>(())
        })?;
        self.untimed.extend(untimed);
        Ok(failed)
    }

    /// Takes the trace of a run, with a caption.
    fn take_trace(&self, task: &Task, answers: &mut Answers) -> Option<Trace> {
        let mut trace = answers.take_trace()?;
        let (title, about) = self.heading.split_once(": ").unwrap_or((&self.heading, ""));
        let title = format!("{title}, {}", task.study.case.algorithm.name);
        // A run that may end elsewhere than its formula says shows why.
        let form = answers.prediction.form.filter(|form| form.kind != FormKind::Exact);
        let about = form.map_or(about.into(), |form| format!("{about}, formula: {form}"));
        let (unit, formula) = (self.unit.name.into(), answers.prediction.formula);
        trace.caption = Some(Caption { title, about, unit, formula });
        Some(trace)
    }
}

/// Returns the heading of runs on several machines: each has its line and those of its levels, and the first one's
/// settings are those of all.
fn merge_headings(headings: &[&str]) -> String {
    let machine = |heading: &&str| {
        let mut lines: Vec<&str> = heading.lines().collect();
        lines.remove(1);
        lines.join("\n")
    };
    let machines: Vec<String> = headings.iter().map(machine).collect();
    format!("{}\n{}", machines.join("\n"), headings[0].lines().nth(1).unwrap_or_default())
}

/// Prints warnings on stderr about resources that the host did not give, and about late runs.
fn warn_of_host(rows: &[StudyRow]) {
    let mut warnings: Vec<&str> = Vec::new();
    for note in rows.iter().filter_map(StudyRow::host).flat_map(|host| &host.notes) {
        if !warnings.contains(&note.as_str()) {
            warnings.push(note);
        }
    }
    for warning in warnings {
        say("warning: ", warning);
    }
    let late: Vec<&str> = rows.iter().filter(|row| row.is_late()).map(|row| row.task.name.as_str()).collect();
    if !late.is_empty() {
        let names = late.join(", ");
        say(
            "warning: ",
            &format!(
                "this computer was late: {names}; a larger --dilation or --cycle, fewer processors or an otherwise \
                 idle computer would help"
            ),
        );
    }
}

/// Refuses an option that applies to none of these algorithms, with those that it applies to.
pub(crate) fn check_option(option: &dyn ProgramOption, algorithms: &[&Algorithm]) -> Result<(), CliError> {
    let names = option.info().algorithms;
    match names.is_empty() || algorithms.iter().any(|algorithm| names.contains(&algorithm.name)) {
        true => Ok(()),
        false => {
            let (kind, one) = if names.len() == 1 { ("algorithm", "that") } else { ("algorithms", "one") };
            let (name, names) = (option.name(), names.join(", "));
            Err(CliError::Request(format!(
                "--{name} is for the {kind} {names}; name {one}, or leave --{name} out"
            )))
        }
    }
}

fn parse_barrier(text: &str, cycle: Time) -> Result<Time, String> {
    let cost = Time::parse(text, cycle).map_err(|why| format!("--barrier: {why}"))?;
    if cost >= Time::ZERO { Ok(cost) } else { Err("--barrier: a barrier takes no less than 0".into()) }
}
