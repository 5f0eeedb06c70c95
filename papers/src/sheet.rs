//! The sheet on which an exhibit is made. Its series are run first; then tables, pictures and rows are added.

use loggp::Time;
use loggp_document::Table;
use loggp_draw::plot::{Look, Plot, PlotLine};
use loggp_study::StudyError;

use super::answer::{Answer, AnswerSource, Ran, RunResult};
use super::finding::{ExhibitResult, Picture};
use super::lab::Lab;
use super::pins;
use super::row::{ClaimRule, ExhibitRow, Verdict, count_numbers};
use super::runs;
use super::series::{CaseResult, CaseSeries, SeriesResult};
use loggp_study::pictures::curves::curves;
use loggp_study::pictures::timeline::draw_timeline;

/// The results of an exhibit's series, and what is shown of them so far.
pub struct Sheet<'a> {
    pub lab: &'a Lab<'a>,
    id: &'static str,
    /// Name and length of the unit of times.
    unit: (&'static str, Time),
    /// Results of the exhibit's series.
    pub(crate) results: Vec<SeriesResult>,
    exhibit_result: ExhibitResult,
}

impl<'a> Sheet<'a> {
    /// Runs the series of the exhibit `id`, and returns an empty sheet for it.
    pub(crate) fn start(
        id: &'static str,
        unit: (&'static str, Time),
        series: &[CaseSeries],
        lab: &'a Lab<'a>,
    ) -> Result<Self, StudyError> {
        let results = series.iter().map(|series| lab.run_series(series)).collect::<Result<_, _>>()?;
        Ok(Sheet { lab, id, unit, results, exhibit_result: ExhibitResult::default() })
    }

    /// Returns what is on the sheet, with its rows compared with their pins, and a table of all runs.
    pub(crate) fn finish(mut self) -> ExhibitResult {
        pins::check_pins(self.id, &mut self.exhibit_result.rows, self.lab);
        self.exhibit_result.tables.extend(runs::runs_table(&self.results, self.unit));
        self.exhibit_result
    }

    /// Returns the results of the series of this name.
    ///
    /// # Panics
    ///
    /// If there is no such series.
    pub fn series(&self, name: &str) -> &SeriesResult {
        let series = self.results.iter().find(|series| series.name == name);
        series.unwrap_or_else(|| panic!("{} has no series {name}", self.id))
    }

    /// Returns the result of the last case of a series, which may be its only one.
    pub fn last_result(&self, name: &str) -> &CaseResult {
        self.series(name).last_result()
    }

    /// Returns the model's time of the last case of a series, in the exhibit's unit.
    pub fn model_time(&self, name: &str) -> Ran<f64> {
        self.last_result(name).ran(|result| result.model().in_units(self.unit.1))
    }

    /// Returns the formula's time of the last case of a series, in the exhibit's unit.
    pub fn formula_time(&self, name: &str) -> f64 {
        self.last_result(name).formula().in_units(self.unit.1)
    }

    /// Adds a number that the paper prints, and ours, which must have all its digits: see
    /// [`ExhibitRow::accept_within`] where it cannot.
    pub fn add_number(
        &mut self,
        what: impl Into<String>,
        section: &str,
        paper: &str,
        ours: impl Answer<f64>,
    ) -> &mut ExhibitRow {
        self.add_row(ExhibitRow::from_number(what, section, paper, ours))
    }

    /// Adds a claim in the paper's words, the numbers that it is about, and the rule that decides whether it
    /// holds for them.
    pub fn add_claim<A: Answer<f64>>(
        &mut self,
        what: impl Into<String>,
        section: &str,
        quote: &str,
        rule: ClaimRule,
        ours: impl IntoIterator<Item = A>,
    ) -> &mut ExhibitRow {
        let ours: Vec<f64> = ours.into_iter().map(Answer::into_value).collect();
        let (holds, rule, ours) = rule.judge(&ours);
        let row = self.add_judged_claim(what, section, quote, &rule, holds);
        (row.ours, row.by) = (ours, A::SOURCE);
        row
    }

    /// Adds a claim in the paper's words, and whether it holds by a rule that is no comparison of numbers.
    pub fn add_judged_claim<A: Answer<bool>>(
        &mut self,
        what: impl Into<String>,
        section: &str,
        quote: &str,
        rule: &str,
        holds: A,
    ) -> &mut ExhibitRow {
        let (verdict, ours) = match holds.into_value() {
            true => (Verdict::Holds, "so it is"),
            false => (Verdict::Differs, "it is not so"),
        };
        self.add_row(ExhibitRow::new(what, section, quote, (verdict, rule), (ours.into(), A::SOURCE)))
    }

    /// Adds a list or a name that the paper prints, and ours, which must be the same.
    pub fn add_text<A: Answer<String>>(
        &mut self,
        what: impl Into<String>,
        section: &str,
        paper: &str,
        ours: A,
    ) -> &mut ExhibitRow {
        let ours = ours.into_value();
        let verdict = if ours == paper { Verdict::Equal } else { Verdict::Differs };
        let row = ExhibitRow::new(what, section, paper, (verdict, "the same"), (ours, A::SOURCE));
        self.add_row(ExhibitRow { numbers: count_numbers(paper), ..row })
    }

    /// Adds a check of ours: whether it came out right in each case, which it must in all.
    pub fn add_own_check<A: Answer<bool>>(
        &mut self,
        what: impl Into<String>,
        checks: impl IntoIterator<Item = A>,
    ) -> &mut ExhibitRow {
        self.add_check(what, "", checks, Verdict::OwnCheck)
    }

    /// Adds values that were copied from the paper: whether each is the same when it is read back.
    pub fn add_read_back<A: Answer<bool>>(
        &mut self,
        what: impl Into<String>,
        section: &str,
        checks: impl IntoIterator<Item = A>,
    ) -> &mut ExhibitRow {
        self.add_check(what, section, checks, Verdict::ReadBack)
    }

    fn add_check<A: Answer<bool>>(
        &mut self,
        what: impl Into<String>,
        section: &str,
        checks: impl IntoIterator<Item = A>,
        if_right: Verdict,
    ) -> &mut ExhibitRow {
        let checks: Vec<bool> = checks.into_iter().map(Answer::into_value).collect();
        let right = checks.iter().filter(|is_right| **is_right).count();
        let verdict = if right == checks.len() && right > 0 { if_right } else { Verdict::Wrong };
        let ours = format!("{right} of {}", checks.len());
        self.add_row(ExhibitRow::new(what, section, "", (verdict, "all"), (ours, A::SOURCE)))
    }

    /// Adds a claim that only the paper's hardware can decide, and why.
    pub fn add_out_of_reach(
        &mut self,
        what: impl Into<String>,
        section: &str,
        quote: &str,
        why: &str,
    ) -> &mut ExhibitRow {
        let ours = (String::new(), AnswerSource::Formula);
        let row = ExhibitRow::new(what, section, quote, (Verdict::OutOfReach, ""), ours);
        let row = self.add_row(row);
        row.reason = Some(why.into());
        row
    }

    fn add_row(&mut self, row: ExhibitRow) -> &mut ExhibitRow {
        self.exhibit_result.rows.push(row);
        self.exhibit_result.rows.last_mut().expect("it was put there")
    }

    /// Adds a table.
    pub fn add_table(&mut self, table: Table) {
        self.exhibit_result.tables.push(table.without_empty());
    }

    /// Adds a picture. Its name may be empty if it is the only one.
    pub fn add_picture(&mut self, name: &str, caption: impl Into<String>, svg: impl Into<String>) {
        let (name, caption, svg) = (name.into(), caption.into(), svg.into());
        self.exhibit_result.pictures.push(Picture { name, caption, svg, narrow: None });
    }

    /// Adds the timeline of a traced run, in the exhibit's unit. Its name may be empty if it is the only
    /// picture.
    ///
    /// # Panics
    ///
    /// If the run is too large to be drawn.
    pub fn add_timeline(&mut self, name: &str, caption: impl Into<String>, title: &str, result: &CaseResult) {
        let picture =
            draw_timeline(result.trace(), title, self.unit).expect("an exhibit's timeline is small");
        self.add_picture(name, caption, picture);
    }

    /// Adds a plot, which is drawn for narrow screens too. Its name may be empty if it is the only picture.
    pub fn add_plot(&mut self, name: &str, caption: impl Into<String>, plot: Plot) {
        self.add_picture(name, caption, plot.svg());
        self.exhibit_result.pictures.last_mut().expect("it was put there").narrow = Some(plot.narrow_svg());
    }

    /// Returns the curves of some series, with heights computed by `y` of x and the time: the formula as a
    /// line, the model as marks, and measurements as rings. The colour follows the index in `names`.
    pub fn curves(&self, names: &[&str], y: impl Fn(f64, Time) -> f64) -> Vec<PlotLine> {
        let make_curves = |(number, name): (usize, &&str)| {
            let points: Vec<_> =
                self.series(name).points.iter().map(|result| (result.x, result.prediction)).collect();
            curves(name, number, &points, &y).collect::<Vec<_>>()
        };
        names.iter().enumerate().flat_map(make_curves).collect()
    }

    /// Returns the curves of some series, with times in the exhibit's unit as heights.
    pub fn times(&self, names: &[&str]) -> Vec<PlotLine> {
        self.curves(names, |_, time| time.in_units(self.unit.1))
    }
}

/// Joins the texts of things with spaces.
pub fn join_words<T: ToString>(things: impl IntoIterator<Item = T>) -> String {
    things.into_iter().map(|thing| thing.to_string()).collect::<Vec<_>>().join(" ")
}

/// Returns a line with marks.
pub fn marked_line(label: impl Into<String>, number: usize, points: Vec<(f64, f64)>) -> PlotLine {
    PlotLine::new(label, number, Look::Both, points)
}
