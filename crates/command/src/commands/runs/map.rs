//! The map of a sweep: which algorithms are fastest at each point, and where others become so, as tables, sentences,
//! JSON and a picture.

use std::collections::BTreeSet;

use loggp::Time;
use loggp_document::{CellFormat, DocumentBlock, Table, plain};
use loggp_draw::digits::figures;
use loggp_draw::plot::Scale;
use loggp_draw::regions::{Border, MapAxis, RegionCell, RegionMap};
use loggp_programs::{Algorithm, Program};
use loggp_study::fastest::{Crossing, FastestMap, MapCell, Stretch, TieSide};
use loggp_study::range::{Quantity, Range, SweepPoint};
use loggp_study::rows::program_run::StudyRow;
use loggp_study::rows::{Field, Object};
use loggp_study::sweep::Sweep;

use super::experiment::Untimed;
use crate::error::merge_sentences;
use crate::number::{Unit, count};
use crate::tell::heading::value_text;
use crate::tell::progress::ProgressDisplay;
use crate::tell::words::{are_fastest, listed};

/// The fastest algorithm at each point of a sweep.
pub(crate) struct SweepMap<'a> {
    ranges: &'a [Range],
    program: &'static Program,
    map: FastestMap,
    /// The stretches of all rows; none where runs differ from time to time.
    stretches: Vec<Stretch>,
    unit: Unit,
    /// The clock that says who is fastest.
    source: &'static str,
}

impl<'a> SweepMap<'a> {
    /// Makes the map of a sweep's rows, and of what has no row. With a number of threads it finds the
    /// stretches too.
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
        let stretches = threads.map_or(Vec::new(), |threads| {
            let gaps = map.gap_count();
            let progress = ProgressDisplay::with_template(gaps, "{bar:24} {pos} of {len} crossings");
            map.stretches(sweep, threads, || progress.finish_one())
        });
        let source = if is_measured { "measurement" } else { "model" };
        SweepMap { ranges: &sweep.ranges, program: rows[0].case().program, map, stretches, unit, source }
    }

    /// Returns a sentence for each stretch of a sweep over one quantity, if there are several.
    pub(crate) fn sentences(&self) -> Vec<DocumentBlock> {
        let sentence = |(number, stretch): (usize, &Stretch)| {
            let at = self.stretch_text(number);
            let without = self.without(&stretch.failed);
            format!("{} {at}{without}", are_fastest(&self.names(&stretch.fastest)))
        };
        let stretches = if self.stretches.len() > 1 { &self.stretches[..] } else { &[] };
        let sentences = stretches.iter().enumerate().map(sentence).chain(self.left_out());
        match sentences.map(plain).collect::<Vec<_>>() {
            none if none.is_empty() => Vec::new(),
            sentences => vec![DocumentBlock::List(sentences)],
        }
    }

    /// Returns a sentence on each algorithm that stands for others, which are left out.
    fn left_out(&self) -> impl Iterator<Item = String> {
        let names = self.map.algorithms.iter().enumerate();
        names.filter_map(|(number, stand_in)| {
            let like = self.map.left_out.iter().filter(|(_, other)| *other == number);
            let like: Vec<&str> = like.map(|(algorithm, _)| algorithm.name).collect();
            let (take, all) = if like.len() == 1 { ("takes", "both") } else { ("take", "all") };
            let name = stand_in.name;
            (!like.is_empty()).then(|| {
                format!(
                    "{} {take} the same time as {name} at every point: {name} stands for {all}",
                    listed(&like)
                )
            })
        })
    }

    /// Returns the names of algorithms.
    fn names(&self, numbers: &[usize]) -> Vec<&'static str> {
        numbers.iter().map(|number| self.map.algorithms[*number].name).collect()
    }

    /// Returns where the stretch with this number is, which may be the first of all, or the last.
    fn stretch_text(&self, number: usize) -> String {
        let stretch = &self.stretches[number];
        let before = number.checked_sub(1).map(|before| &self.stretches[before]);
        let behind = self.stretches.get(number + 1);
        let (first, is_above) =
            self.end_text(&stretch.first, before.filter(|_| stretch.is_adjacent).map(|before| &before.last));
        let (last, is_below) = self
            .end_text(&stretch.last, behind.filter(|behind| behind.is_adjacent).map(|behind| &behind.first));
        let name = self.ranges[0].quantity.name();
        match [before, behind] {
            _ if stretch.is_point() => format!("at {name} = {}", self.value(0, &stretch.first)),
            [None, _] if is_below => format!("below {name} = {last}"),
            [None, _] => format!("up to {name} = {last}"),
            [_, None] if is_above => format!("above {name} = {first}"),
            [_, None] => format!("from {name} = {first} on"),
            _ => match [is_above, is_below] {
                [true, true] => format!("between {name} = {first} and {last}"),
                [true, false] => format!("above {name} = {first} and up to {last}"),
                [false, true] => format!("from {name} = {first} on and below {last}"),
                [false, false] => format!("from {name} = {first} to {last}"),
            },
        }
    }

    /// Returns an end of a stretch, and whether that is the neighbour's first value outside: of two times that are a
    /// picosecond apart the one with fewer digits.
    fn end_text(&self, own: &SweepPoint, neighbour: Option<&SweepPoint>) -> (String, bool) {
        let own = self.value(0, own);
        let neighbour = neighbour.filter(|_| self.ranges[0].quantity.is_time());
        match neighbour.map(|point| self.value(0, point)) {
            Some(shorter) if shorter.len() < own.len() => (shorter, true),
            _ => (own, false),
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
        blocks.extend(self.left_out().map(paragraph));
        if self.changes().next().is_some() {
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
        let object = |crossing: Crossing| {
            let tie = crossing.tie().map(|side| if side == TieSide::Before { "before" } else { "behind" });
            let (from, to) = crossing.change();
            let Crossing { before, behind } = crossing;
            let mut fields = vec![
                ("crossing.over".into(), Field::from(self.ranges[0].quantity.name())),
                ("crossing.from".into(), name(from)),
                ("crossing.to".into(), name(to)),
                ("crossing.before".into(), number(&before.last)),
                ("crossing.behind".into(), number(&behind.first)),
                ("crossing.adjacent".into(), Field::Bool(behind.is_adjacent)),
                ("crossing.tie".into(), tie.into()),
            ];
            let failed = before.failed.iter().chain(&behind.failed).map(|(number, _)| *number);
            let failed: BTreeSet<usize> = failed.collect();
            if !failed.is_empty() {
                let without = self.names(&failed.into_iter().collect::<Vec<_>>()).join(",");
                fields.push(("crossing.without".into(), without.into()));
            }
            for (range, axis) in self.ranges.iter().zip(&self.map.axes).skip(1) {
                let name = format!("crossing.at.{}", range.quantity.name());
                fields.push((name.into(), number(&axis[before.row])));
            }
            Object(fields)
        };
        Crossing::all(&self.stretches).map(object).collect()
    }

    /// Returns the picture of a map.
    pub(crate) fn picture(&self, heading: &str) -> RegionMap {
        let (title, subtitle) = heading.split_once(": ").unwrap_or((heading, ""));
        let axis = |axis: usize| {
            let range = &self.ranges[axis];
            let values = self.map.axes[axis].iter();
            MapAxis {
                name: axis_name(range.quantity, self.program, self.unit),
                scale: if range.log { Scale::Log } else { Scale::Linear },
                values: values.map(|point| amount(point.number, range.quantity, self.unit)).collect(),
            }
        };
        let cell = |(column, cell): (usize, &MapCell), row: usize| RegionCell {
            best: cell.all_fastest(),
            lead: cell.lead(),
            tooltip: format!("{}: {}", self.point_text([column, row]), self.cell_times(cell)),
        };
        let border = |change: MapChange| Border {
            row: change.behind.row,
            x: amount(change.behind.first.number, self.ranges[0].quantity, self.unit),
            from: change.before.fastest.clone(),
            to: change.behind.fastest.clone(),
            tooltip: format!(
                "{} to {}: {} {}",
                self.names(&change.before.fastest).join(" = "),
                self.names(&change.behind.fastest).join(" = "),
                self.ranges[0].quantity.name(),
                self.change_text(change)
            ),
        };
        let left_out: String = self.left_out().map(|sentence| format!("\n{sentence}")).collect();
        RegionMap {
            title: title.into(),
            subtitle: format!("{subtitle}\nthe fastest algorithm by the {}{left_out}", self.source),
            x: axis(0),
            y: axis(1),
            series: (0..self.map.algorithms.len())
                .map(|number| (letter(number), self.map.algorithms[number].name.into()))
                .collect(),
            cells: (self.map.rows().enumerate())
                .map(|(row, cells)| cells.iter().enumerate().map(|column| cell(column, row)).collect())
                .collect(),
            borders: self.changes().map(border).collect(),
        }
    }

    /// Returns the table of the cells, with the greatest value of the second quantity at the top, as in the
    /// picture.
    fn cell_table(&self) -> Table {
        let name = |axis: usize| {
            let quantity = self.ranges[axis].quantity;
            let unit = if quantity.is_time() { format!(" [{}]", self.unit.name) } else { String::new() };
            format!("{}{unit}", quantity.name())
        };
        let [columns, rows] = [0, 1].map(|axis| self.axis_texts(axis));
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
        let [x, y] = [0, 1].map(|axis| self.ranges[axis].quantity.name());
        let mut table =
            Table::new("", "").column(y, "", CellFormat::Right).text("before").text("behind").text(x);
        let mut changes: Vec<MapChange> = self.changes().collect();
        changes.sort_by_key(|change| std::cmp::Reverse(change.before.row)); // as in the table of the cells
        for change in changes {
            let [from, to] = [change.before, change.behind].map(|side| self.names(&side.fastest).join(" = "));
            let row = self.value(1, &self.map.axes[1][change.before.row]);
            table.push([row, from, to, self.change_text(change)].map(Into::into).into());
        }
        table
    }

    /// Returns the changes of a map: its crossings, of which two are one where several are equal at one value alone.
    fn changes(&self) -> impl Iterator<Item = MapChange<'_>> {
        let mut crossings = Crossing::all(&self.stretches).peekable();
        std::iter::from_fn(move || {
            let Crossing { before, behind } = crossings.next()?;
            let is_next = |next: &Crossing| next.behind.is_adjacent && std::ptr::eq(next.before, behind);
            let is_tie = behind.fastest.len() > 1 && behind.is_point() && behind.is_adjacent;
            let next = crossings.next_if(|next| is_tie && is_next(next));
            Some(match next {
                Some(next) => MapChange { before, behind: next.behind, tie: Some(behind) },
                None => MapChange { before, behind, tie: None },
            })
        })
    }

    /// Returns where a change is.
    fn change_text(&self, change: MapChange) -> String {
        let MapChange { before, behind, tie } = change;
        match (tie, self.end_text(&behind.first, Some(&before.last))) {
            (Some(tie), _) => {
                let equal = if tie.fastest.len() == 2 { "both" } else { "all" };
                format!("above {}, where {equal} are equal", self.value(0, &tie.first))
            }
            (None, (last, true)) if behind.is_adjacent => format!("above {last}"),
            (None, (first, _)) if behind.is_adjacent => format!("from {first} on"),
            _ => format!("between {} and {}", self.value(0, &before.last), self.value(0, &behind.first)),
        }
    }

    /// Returns the values of a cell as text.
    fn point_text(&self, indices: [usize; 2]) -> String {
        let text = |axis: usize| {
            let point = &self.map.axes[axis][indices[axis]];
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
    fn value(&self, axis: usize, point: &SweepPoint) -> String {
        value_text(point.number, self.ranges[axis].quantity, &self.unit)
    }

    /// Returns the values of an axis with no more digits than tell them apart.
    fn axis_texts(&self, axis: usize) -> Vec<String> {
        let (quantity, points) = (self.ranges[axis].quantity, &self.map.axes[axis]);
        let texts = |digits| -> Vec<String> {
            points.iter().map(|point| figures(amount(point.number, quantity, self.unit), digits)).collect()
        };
        let is_enough = |texts: &Vec<String>| texts.windows(2).all(|pair| pair[0] != pair[1]);
        (3..12).map(texts).find(is_enough).unwrap_or_else(|| texts(12))
    }
}

/// Two stretches of a map's row, and the one value between them at which several are equal, if there is one.
#[derive(Clone, Copy)]
struct MapChange<'a> {
    before: &'a Stretch,
    behind: &'a Stretch,
    tie: Option<&'a Stretch>,
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
