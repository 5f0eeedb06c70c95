//! A sheet: what an exhibit is made on. Its series are run first; then its tables, pictures and rows are put on it.

use loggp::Time;

use loggp_document::Table;
use loggp_draw::plot::{Line, Look, Plot};
use loggp_study::Failed;

use super::exhibit::Exhibit;
use super::finding::{Finding, Picture};
use super::lab::Lab;
use super::pictures::curves::curves;
use super::pins;
use super::row::{Answer, Mark, Row, Rule};
use super::runs;
use super::series::{Ran, Told};

/// What an exhibit is made on.
pub struct Sheet<'a> {
    /// Where it is made.
    pub lab: &'a Lab<'a>,
    /// The exhibit.
    exhibit: &'static Exhibit,
    /// What came of its series.
    ran: Vec<Ran>,
    /// What is on it so far.
    finding: Finding,
}

impl<'a> Sheet<'a> {
    /// Runs an exhibit's series, and makes the exhibit of that.
    pub fn make(exhibit: &'static Exhibit, lab: &'a Lab<'a>) -> Result<Finding, Failed> {
        let series = (exhibit.series)(lab);
        let ran = series.iter().map(|series| lab.run(series)).collect::<Result<_, _>>()?;
        let mut sheet = Sheet { lab, exhibit, ran, finding: Finding::default() };
        (exhibit.show)(&mut sheet)?;
        let (ran, mut finding) = (sheet.ran, sheet.finding);
        pins::check(exhibit.id, &mut finding.rows, lab);
        finding.tables.extend(runs::table(&ran, exhibit.unit));
        finding.commands = exhibit.commands(lab);
        finding.held = lab.held.take();
        Ok(finding)
    }

    /// What came of the series of this name.
    ///
    /// # Panics
    ///
    /// If there is no such series.
    pub fn of(&self, name: &str) -> &Ran {
        let ran = self.ran.iter().find(|ran| ran.name == name);
        ran.unwrap_or_else(|| panic!("{} has no series {name}", self.exhibit.id))
    }

    /// What came of the last case of a series, which may be its only one.
    pub fn last(&self, name: &str) -> &Told {
        self.of(name).last()
    }

    /// The model's time of that case, in the exhibit's unit.
    pub fn time(&self, name: &str) -> f64 {
        self.last(name).model().in_units(self.unit())
    }

    /// The formula's time of that case, in the exhibit's unit.
    pub fn formula(&self, name: &str) -> f64 {
        self.last(name).formula().in_units(self.unit())
    }

    /// All series.
    pub fn all(&self) -> &[Ran] {
        &self.ran
    }

    /// The length of the exhibit's unit.
    pub fn unit(&self) -> Time {
        self.exhibit.unit.1
    }

    /// A number that the paper prints, and ours, which is to have all its digits: see [`Row::within`] where it cannot.
    pub fn number(&mut self, what: impl Into<String>, section: &str, paper: &str, ours: f64) -> &mut Row {
        self.add(Row::number(what, section, paper, ours))
    }

    /// A claim of the paper in its words, the numbers that it is about, and the rule that decides whether it holds for them.
    pub fn claim(
        &mut self,
        what: impl Into<String>,
        section: &str,
        quote: &str,
        rule: Rule,
        ours: impl AsRef<[f64]>,
    ) -> &mut Row {
        let (holds, rule, ours) = rule.judge(ours.as_ref());
        let row = self.holds(what, section, quote, &rule, holds);
        row.ours = ours;
        row
    }

    /// A claim of the paper in its words, and whether it holds by a rule that is no comparison of numbers.
    pub fn holds(
        &mut self,
        what: impl Into<String>,
        section: &str,
        quote: &str,
        rule: &str,
        holds: bool,
    ) -> &mut Row {
        let mark = if holds { Mark::Holds } else { Mark::Differs };
        let ours = if holds { "so it is" } else { "it is not so" };
        self.add(Row { rule: rule.into(), ours: ours.into(), ..Row::of(what, section, quote, mark) })
    }

    /// A list or a name that the paper prints, and ours, which is to be the same.
    pub fn same(
        &mut self,
        what: impl Into<String>,
        section: &str,
        paper: &str,
        ours: impl Into<String>,
    ) -> &mut Row {
        let ours = ours.into();
        let mark = if ours == paper { Mark::Equal } else { Mark::Differs };
        self.add(Row { rule: "the same".into(), ours, ..Row::of(what, section, paper, mark) })
    }

    /// A check of ours: in how many of all cases it came out right, which is to be all.
    pub fn own(&mut self, what: impl Into<String>, right: usize, all: usize) -> &mut Row {
        let mark = if right == all && all > 0 { Mark::Own } else { Mark::Wrong };
        let (ours, rule) = (format!("{right} of {all}"), "all".into());
        self.add(Row { ours, rule, ..Row::of(what, "", "", mark) })
    }

    /// Values that were copied from the paper: how many of all are the same when they are read back.
    pub fn read_back(
        &mut self,
        what: impl Into<String>,
        section: &str,
        right: usize,
        all: usize,
    ) -> &mut Row {
        let mark = if right == all && all > 0 { Mark::ReadBack } else { Mark::Wrong };
        let (ours, rule) = (format!("{right} of {all}"), "all".into());
        self.add(Row { ours, rule, ..Row::of(what, section, "", mark) })
    }

    /// What only the paper's hardware can say, and why.
    pub fn out_of_reach(&mut self, what: impl Into<String>, section: &str, quote: &str, why: &str) {
        self.add(Row { reason: Some(why.into()), ..Row::of(what, section, quote, Mark::OutOfReach) });
    }

    fn add(&mut self, row: Row) -> &mut Row {
        self.finding.rows.push(row);
        self.finding.rows.last_mut().expect("it was put there")
    }

    /// One more table.
    pub fn table(&mut self, table: Table) {
        self.finding.tables.push(table.without_empty());
    }

    /// One more picture. Its name may be empty if it is the only one.
    pub fn picture(&mut self, name: &str, caption: impl Into<String>, svg: impl Into<String>) {
        let (name, caption, svg) = (name.into(), caption.into(), svg.into());
        self.finding.pictures.push(Picture { name, caption, svg, narrow: None });
    }

    /// One more plot, which is drawn for narrow screens too. Its name may be empty if it is the only picture.
    pub fn plot(&mut self, name: &str, caption: impl Into<String>, plot: Plot) {
        self.picture(name, caption, plot.svg());
        self.finding.pictures.last_mut().expect("it was put there").narrow = Some(plot.narrow_svg());
    }

    /// The curves of some series, with heights made of x and the time: the formula as a line, the model as marks, and rings for
    /// what was measured. Each has the colour of its place.
    pub fn curves(&self, names: &[&str], y: impl Fn(f64, Time) -> f64) -> Vec<Line> {
        let of = |(number, name): (usize, &&str)| {
            let points: Vec<_> = self.of(name).points.iter().map(|told| (told.x, told.prediction)).collect();
            curves(name, number, &points, &y).collect::<Vec<_>>()
        };
        names.iter().enumerate().flat_map(of).collect()
    }

    /// The same with times in the exhibit's unit.
    pub fn times(&self, names: &[&str]) -> Vec<Line> {
        let unit = self.unit();
        self.curves(names, |_, time| time.in_units(unit))
    }
}

/// Things as a list for people.
pub fn list<T: ToString>(things: impl IntoIterator<Item = T>) -> String {
    things.into_iter().map(|thing| thing.to_string()).collect::<Vec<_>>().join(" ")
}

/// A line with marks.
pub fn line(label: impl Into<String>, number: usize, points: Vec<(f64, f64)>) -> Line {
    Line::new(label, number, Look::Both, points)
}

/// Who says what a row's number is.
impl Row {
    /// A formula.
    pub fn by_formula(&mut self) -> &mut Row {
        self.by(Answer::Formula)
    }

    /// A count.
    pub fn by_count(&mut self) -> &mut Row {
        self.by(Answer::Count)
    }
}
