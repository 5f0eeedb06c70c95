//! The map of a sweep: which algorithm is fastest at each point, and where another one becomes so, as tables,
//! sentences, JSON and a picture.

use loggp::Time;
use loggp_document::{CellFormat, DocumentBlock, Table, plain};
use loggp_draw::digits::figures;
use loggp_draw::plot::Scale;
use loggp_draw::regions::{Border, MapAxis, RegionCell, RegionMap};
use loggp_programs::{Algorithm, Program};
use loggp_study::fastest::{Crossing, FastestMap, MapCell, TieSide};
use loggp_study::range::{Quantity, Range, SweepPoint};
use loggp_study::rows::program_run::StudyRow;
use loggp_study::rows::{Field, Object};
use loggp_study::sweep::Sweep;

use super::experiment::Untimed;
use crate::error::merge_sentences;
use crate::number::{Unit, count};
use crate::tell::heading::value_text;
use crate::tell::progress::ProgressDisplay;

/// The fastest algorithm at each point of a sweep.
pub(crate) struct SweepMap<'a> {
    ranges: &'a [Range],
    program: &'static Program,
    map: FastestMap,
    crossings: Vec<Crossing>,
    unit: Unit,
    /// The clock that says who is fastest.
    source: &'static str,
}

impl<'a> SweepMap<'a> {
    /// Makes the map of a sweep's rows, and of what has no row. With a number of threads it finds the crossings too.
    pub(crate) fn new(
        sweep: &'a Sweep,
        algorithms: &[&'static Algorithm],
        rows: &[StudyRow],
        untimed: &[Untimed],
        unit: Unit,
        threads: Option<usize>,
    ) -> SweepMap<'a> {
        let is_measured = rows.iter().any(|row| row.answers.prediction.measured.is_some());
        let runs = rows.iter().map(|row| {
            let numbers = row.task.swept.iter().map(|(number, _)| *number).collect();
            (numbers, row.case().algorithm, row.answers.right_time())
        });
        let without = untimed
            .iter()
            .map(|Untimed { numbers, algorithm, why }| (numbers.clone(), *algorithm, Err(why.clone())));
        let map = FastestMap::new(sweep, algorithms, runs.chain(without));
        let crossings = threads.map_or(Vec::new(), |threads| {
            let gaps = map.gap_count();
            let progress = ProgressDisplay::with_template(gaps, "{bar:24} {pos} of {len} crossings");
            map.crossings(sweep, threads, || progress.finish_one())
        });
        let source = if is_measured { "measurement" } else { "model" };
        SweepMap { ranges: &sweep.ranges, program: rows[0].case().program, map, crossings, unit, source }
    }

    /// Returns a sentence for each crossing of a sweep over one quantity.
    pub(crate) fn sentences(&self) -> Vec<DocumentBlock> {
        let name = self.ranges[0].quantity.name();
        let sentence = |crossing: &Crossing| {
            let [from, to] = [crossing.from, crossing.to].map(|number| self.map.algorithms[number].name);
            let place = self.crossing_text(crossing, &format!("{name} = "));
            let without = self.without(&crossing.failed);
            plain(format!("{to} is the fastest {place}; before it {from} is{without}"))
        };
        match &self.crossings[..] {
            [] => Vec::new(),
            crossings => vec![DocumentBlock::List(crossings.iter().map(sentence).collect())],
        }
    }

    /// Returns who is not compared, and why, as the end of a sentence.
    fn without(&self, failed: &[(usize, String)]) -> String {
        without_text(failed.iter().map(|(number, why)| (self.map.algorithms[*number].name, &**why)))
    }

    /// Returns the tables of a map: its cells, its algorithms, and its crossings.
    pub(crate) fn tables(&self) -> Vec<DocumentBlock> {
        let paragraph = |text: String| DocumentBlock::Paragraph(plain(text));
        let is_partial = |cell: &MapCell| !cell.times.is_empty() && !cell.failed.is_empty();
        let partial = match self.map.rows().flatten().any(is_partial) {
            true => format!("; {PARTIAL}: of those that can run, which are not all"),
            false => String::new(),
        };
        let mut blocks = vec![
            DocumentBlock::Table(self.cell_table()),
            DocumentBlock::Table(self.algorithm_table()),
            paragraph(format!(
                "a letter: the fastest by the {}; a percentage: how much longer the next one takes; a=b: equally fast; -: none can run{partial}",
                self.source
            )),
        ];
        if !self.crossings.is_empty() {
            blocks.push(DocumentBlock::Table(self.crossing_table()));
        }
        blocks
    }

    /// Returns the crossings as JSON: values of times are picoseconds.
    pub(crate) fn objects(&self) -> Vec<Object> {
        let number = |point: &SweepPoint| match point.number {
            whole if whole.fract() == 0.0 => Field::Count(whole as i128),
            number => Field::Number(number),
        };
        let name = |number: usize| Field::from(self.map.algorithms[number].name);
        let object = |crossing: &Crossing| {
            let tie = crossing.tie.map(|side| if side == TieSide::Before { "before" } else { "behind" });
            let mut fields = vec![
                ("crossing.over".into(), Field::from(self.ranges[0].quantity.name())),
                ("crossing.from".into(), name(crossing.from)),
                ("crossing.to".into(), name(crossing.to)),
                ("crossing.before".into(), number(&crossing.before)),
                ("crossing.behind".into(), number(&crossing.behind)),
                ("crossing.adjacent".into(), Field::Bool(crossing.is_adjacent)),
                ("crossing.tie".into(), tie.into()),
            ];
            if !crossing.failed.is_empty() {
                let without = |(number, _): &(usize, String)| self.map.algorithms[*number].name;
                let without = crossing.failed.iter().map(without).collect::<Vec<_>>().join(",");
                fields.push(("crossing.without".into(), without.into()));
            }
            for (range, axis) in self.ranges.iter().zip(&self.map.axes).skip(1) {
                let name = format!("crossing.at.{}", range.quantity.name());
                fields.push((name.into(), number(&axis[crossing.row])));
            }
            Object(fields)
        };
        self.crossings.iter().map(object).collect()
    }

    /// Returns the picture of a map.
    pub(crate) fn picture(&self, heading: &str) -> RegionMap {
        let (title, subtitle) = heading.split_once(": ").unwrap_or((heading, ""));
        let axis = |place: usize| {
            let range = &self.ranges[place];
            let values = self.map.axes[place].iter();
            MapAxis {
                name: axis_name(range.quantity, self.program, self.unit),
                scale: if range.log { Scale::Log } else { Scale::Linear },
                values: values.map(|point| amount(point.number, range.quantity, self.unit)).collect(),
            }
        };
        let name = |number: usize| self.map.algorithms[number].name;
        let cell = |(column, cell): (usize, &MapCell), row: usize| RegionCell {
            best: cell.all_fastest(),
            lead: cell.lead(),
            tooltip: format!("{}: {}", self.place([column, row]), self.cell_times(cell)),
        };
        let border = |crossing: &Crossing| Border {
            row: crossing.row,
            x: amount(crossing.behind.number, self.ranges[0].quantity, self.unit),
            from: crossing.from,
            to: crossing.to,
            tooltip: format!(
                "{} to {}: {} {}",
                name(crossing.from),
                name(crossing.to),
                self.ranges[0].quantity.name(),
                self.crossing_text(crossing, "")
            ),
        };
        RegionMap {
            title: title.into(),
            subtitle: format!("{subtitle}\nthe fastest algorithm by the {}", self.source),
            x: axis(0),
            y: axis(1),
            series: (0..self.map.algorithms.len())
                .map(|number| (letter(number), name(number).into()))
                .collect(),
            cells: (self.map.rows().enumerate())
                .map(|(row, cells)| cells.iter().enumerate().map(|column| cell(column, row)).collect())
                .collect(),
            borders: self.crossings.iter().map(border).collect(),
        }
    }

    /// Returns the table of the cells, with the greatest value of the second quantity at the top, as in the
    /// picture.
    fn cell_table(&self) -> Table {
        let name = |place: usize| {
            let quantity = self.ranges[place].quantity;
            let unit = if quantity.is_time() { format!(" [{}]", self.unit.name) } else { String::new() };
            format!("{}{unit}", quantity.name())
        };
        let [columns, rows] = [0, 1].map(|place| self.axis_texts(place));
        let corner = format!("{} \\ {}", name(1), name(0));
        let table = Table::new("", "").column(&corner, "", CellFormat::Right);
        let mut table = columns.iter().fold(table, |table, title| table.column(title, "", CellFormat::Right));
        for (value, cells) in rows.iter().zip(self.map.rows()).rev() {
            let texts = cells.iter().map(|cell| match cell.lead() {
                _ if cell.times.is_empty() => "-".into(),
                Some(lead) if lead > 0.0 => {
                    format!("{}{} {}", letters(cell), partial_mark(cell), lead_text(lead))
                }
                _ => letters(cell) + partial_mark(cell),
            });
            table.push([value.clone()].into_iter().chain(texts).map(Into::into).collect());
        }
        table
    }

    /// Returns the table of the algorithms with their letters.
    fn algorithm_table(&self) -> Table {
        let mut table = Table::new("", "").text("").text("algorithm").text("fastest at");
        let cells: Vec<&MapCell> = self.map.rows().flatten().collect();
        for (number, algorithm) in self.map.algorithms.iter().enumerate() {
            let all = cells.iter().map(|cell| cell.all_fastest()).filter(|all| all.contains(&number));
            let (alone, ties): (Vec<_>, Vec<_>) = all.partition(|all| all.len() == 1);
            let with_others = match ties.len() {
                0 => String::new(),
                ties => format!(", with others at {ties}"),
            };
            let failed = cells.iter().flat_map(|cell| &cell.failed).filter(|(other, _)| *other == number);
            let whys: Vec<&str> = failed.map(|(_, why)| &**why).collect();
            let without = whys.first().map_or(String::new(), |why| {
                format!("; cannot run at {}, the first because {why}", count(whys.len(), "point"))
            });
            let at = format!("{} of {}{with_others}{without}", alone.len(), count(cells.len(), "point"));
            table.push(vec![letter(number).to_string().into(), algorithm.name.into(), at.into()]);
        }
        table
    }

    fn crossing_table(&self) -> Table {
        let [x, y] = [0, 1].map(|place| self.ranges[place].quantity.name());
        let mut table =
            Table::new("", "").column(y, "", CellFormat::Right).text("before").text("behind").text(x);
        let mut crossings: Vec<&Crossing> = self.crossings.iter().collect();
        crossings.sort_by_key(|crossing| std::cmp::Reverse(crossing.row)); // as in the table of the cells
        for crossing in crossings {
            let [from, to] = [crossing.from, crossing.to].map(|number| self.map.algorithms[number].name);
            let row = self.value(1, &self.map.axes[1][crossing.row]);
            table
                .push([row, from.into(), to.into(), self.crossing_text(crossing, "")].map(Into::into).into());
        }
        table
    }

    /// Returns where a crossing is, with `name` before its value.
    fn crossing_text(&self, crossing: &Crossing, name: &str) -> String {
        let [before, behind] = [&crossing.before, &crossing.behind].map(|point| self.value(0, point));
        match (crossing.is_adjacent, crossing.tie) {
            (false, _) => format!("between {name}{before} and {behind}"),
            (true, None) => format!("from {name}{behind} on"),
            (true, Some(TieSide::Before)) => format!("above {name}{before}, where both are equal"),
            (true, Some(TieSide::Behind)) => format!("from {name}{behind} on, where both are equal"),
        }
    }

    /// Returns the values of a cell as text.
    fn place(&self, places: [usize; 2]) -> String {
        let text = |axis: usize| {
            let point = &self.map.axes[axis][places[axis]];
            format!("{} = {}", self.ranges[axis].quantity.name(), self.value(axis, point))
        };
        format!("{}, {}", text(0), text(1))
    }

    /// Returns the times in a cell as text.
    fn cell_times(&self, cell: &MapCell) -> String {
        let time = |(number, time): &(usize, Time)| {
            format!("{} {}", self.map.algorithms[*number].name, self.unit.show(*time))
        };
        match &cell.times[..] {
            [] => "none can run".into(),
            times => times.iter().map(time).collect::<Vec<_>>().join(", ") + &self.without(&cell.failed),
        }
    }

    /// Returns a value of a quantity as text.
    fn value(&self, place: usize, point: &SweepPoint) -> String {
        value_text(point.number, self.ranges[place].quantity, &self.unit)
    }

    /// Returns the values of an axis with no more digits than tell them apart.
    fn axis_texts(&self, place: usize) -> Vec<String> {
        let (quantity, points) = (self.ranges[place].quantity, &self.map.axes[place]);
        let texts = |digits| -> Vec<String> {
            points.iter().map(|point| figures(amount(point.number, quantity, self.unit), digits)).collect()
        };
        let is_enough = |texts: &Vec<String>| texts.windows(2).all(|pair| pair[0] != pair[1]);
        (3..12).map(texts).find(is_enough).unwrap_or_else(|| texts(12))
    }
}

/// Returns a value of a swept quantity as a number: times in this unit.
pub(crate) fn amount(number: f64, quantity: Quantity, unit: Unit) -> f64 {
    if quantity.is_time() { unit.amount(Time::from_ps(number as i64)) } else { number }
}

/// Returns the name of the axis of a swept quantity, with its unit.
pub(crate) fn axis_name(quantity: Quantity, program: &Program, unit: Unit) -> String {
    let name = quantity.name();
    match quantity {
        _ if quantity.is_time() => format!("{name} [{}]", unit.name),
        Quantity::Size => format!("size [{}]", program.size.meaning),
        _ => name.into(),
    }
}

/// Returns the letter of an algorithm.
fn letter(number: usize) -> char {
    char::from_u32('a' as u32 + number as u32).unwrap_or('?')
}

/// Stands behind the fastest of a cell where not all can run.
const PARTIAL: &str = "*";

/// Returns the mark of a cell where not all algorithms can run.
fn partial_mark(cell: &MapCell) -> &'static str {
    if cell.failed.is_empty() { "" } else { PARTIAL }
}

/// Returns who is not compared, and why, as the end of a sentence on who is the fastest.
pub(crate) fn without_text<'t>(failed: impl Iterator<Item = (&'t str, &'t str)>) -> String {
    let failed = merge_sentences(failed.map(|(name, why)| format!("{name}: {why}")));
    failed.iter().map(|failed| format!("; not compared is {failed}")).collect()
}

/// Returns the letters of the fastest algorithms of a cell.
fn letters(cell: &MapCell) -> String {
    let letters = cell.all_fastest().into_iter().map(|number| letter(number).to_string());
    letters.collect::<Vec<_>>().join("=")
}

/// Returns how much longer something takes, with two digits.
fn lead_text(lead: f64) -> String {
    match lead {
        lead if lead >= 9.95 => format!("{}x", figures(1.0 + lead, 2)),
        lead => format!("{}%", figures(100.0 * lead, 2)),
    }
}
