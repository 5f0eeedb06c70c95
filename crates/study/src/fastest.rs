//! The fastest algorithms at each point of a sweep, and where along its first quantity others become so.

use std::collections::HashMap;

use loggp::Time;
use loggp_programs::Algorithm;

use super::parallel::run_in_order;
use super::range::SweepPoint;
use super::relative_error;
use super::sweep::{Sweep, SweepValues};

/// The times of several algorithms over a sweep: in a row for each value of the second quantity, if there is
/// one, all values of the first, from the least.
#[derive(Clone, Debug)]
pub struct FastestMap {
    /// The algorithms whose times differ somewhere: one that takes the same time as an earlier one at every point is left out.
    pub algorithms: Vec<&'static Algorithm>,
    /// The algorithms that are left out, each with the number of the one that stands for it.
    pub left_out: Vec<(&'static Algorithm, usize)>,
    /// Values of each quantity in ascending order, each once.
    pub axes: Vec<Vec<SweepPoint>>,
    /// Cells, row by row.
    cells: Vec<MapCell>,
}

/// The algorithms at a point, by their numbers in the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapCell {
    /// The algorithms that have a time: from the fastest, and among equals the first of the map first.
    pub times: Vec<(usize, Time)>,
    /// The algorithms without a time, and why.
    pub failed: Vec<(usize, String)>,
}

/// Values of a row's quantity, one after the other, at each of which that was run the same algorithms are the fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Number of the row.
    pub row: usize,
    /// The numbers of the fastest algorithms, which take equally long.
    pub fastest: Vec<usize>,
    pub first: SweepPoint,
    pub last: SweepPoint,
    /// True if no value lies between the stretch before and this one. If false, the values between are not known: some
    /// algorithm cannot be run there, say.
    pub is_adjacent: bool,
    /// The numbers of those that have no time at a value that was run, and why.
    pub failed: Vec<(usize, String)>,
}

/// The end of a stretch and the begin of the next one.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    pub before: &'a Stretch,
    pub behind: &'a Stretch,
}

/// The side of a crossing on which two algorithms take equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieSide {
    /// At the last value before the change.
    Before,
    /// At the first value after the change.
    Behind,
}

/// Most crossings that are looked for between two neighbouring cells.
const MOST_CROSSINGS: usize = 16;
/// Steps between two cells along a quantity that is no time and no whole number.
const STEPS: i64 = 1024;

impl MapCell {
    /// Returns the number of the fastest algorithm that has a time, the first of several.
    pub fn fastest(&self) -> Option<usize> {
        self.times.first().map(|(number, _)| *number)
    }

    /// Returns the numbers of all algorithms that take no longer than the fastest.
    pub fn all_fastest(&self) -> Vec<usize> {
        let equal = self.times.iter().take_while(|(_, time)| *time == self.times[0].1);
        equal.map(|(number, _)| *number).collect()
    }

    /// Returns by which part of the fastest one's time the next one takes longer; `None` if there is no
    /// other, or if the fastest takes no time.
    pub fn lead(&self) -> Option<f64> {
        let [(_, first), (_, next), ..] = self.times[..] else { return None };
        relative_error(next, first)
    }

    fn new(all: impl Iterator<Item = (usize, Result<Time, String>)>) -> MapCell {
        let mut cell = MapCell::default();
        for (number, time) in all {
            match time {
                Ok(time) => cell.times.push((number, time)),
                Err(why) => cell.failed.push((number, why)),
            }
        }
        cell.times.sort_by_key(|(number, time)| (*time, *number));
        cell.failed.sort_by_key(|(number, _)| *number);
        cell
    }
}

impl Stretch {
    /// Returns whether it has one value alone.
    pub fn is_point(&self) -> bool {
        self.first == self.last
    }

    fn add_failed(&mut self, failed: &[(usize, String)]) {
        for one in failed {
            if !self.failed.iter().any(|(other, _)| *other == one.0) {
                self.failed.push(one.clone());
            }
        }
    }
}

impl<'a> Crossing<'a> {
    /// Returns the crossings between stretches.
    pub fn all(stretches: &'a [Stretch]) -> impl Iterator<Item = Crossing<'a>> {
        let pairs = stretches.iter().zip(stretches.iter().skip(1));
        pairs
            .filter(|(before, behind)| before.row == behind.row)
            .map(|(before, behind)| Crossing { before, behind })
    }

    /// Returns the numbers of an algorithm that is among the fastest before, and of one that is behind; each of them on
    /// no other side, if there is such a one.
    pub fn change(self) -> (usize, usize) {
        Change::between(&self.before.fastest, &self.behind.fastest).map_or((0, 0), |change| change.pair)
    }

    /// Returns the side on which both of the change take equally long.
    pub fn tie(self) -> Option<TieSide> {
        let (from, to) = self.change();
        match self.before.fastest.contains(&to) {
            true => Some(TieSide::Before),
            false => self.behind.fastest.contains(&from).then_some(TieSide::Behind),
        }
    }
}

impl FastestMap {
    /// Makes the map of runs of a sweep: the values of what is swept, the algorithm and the time of each, or why
    /// it has none.
    pub fn new<'r>(
        sweep: &Sweep,
        algorithms: &[&'static Algorithm],
        runs: impl Iterator<Item = (Vec<f64>, &'r Algorithm, Result<Time, String>)>,
    ) -> FastestMap {
        let axes: Vec<Vec<SweepPoint>> = sweep.ranges.iter().map(|range| sorted(&range.points)).collect();
        let mut cells = vec![Vec::new(); axes.iter().map(Vec::len).product()];
        for (numbers, algorithm, time) in runs {
            let index = |(axis, number): (&Vec<SweepPoint>, &f64)| {
                axis.iter().position(|point| point.number == *number)
            };
            let indices: Option<Vec<usize>> = axes.iter().zip(&numbers).map(index).collect();
            let number = algorithms.iter().position(|other| other.name == algorithm.name);
            if let (Some(indices), Some(number)) = (indices, number) {
                let cell: &mut Vec<(usize, Result<Time, String>)> =
                    &mut cells[indices[0] + axes[0].len() * indices.get(1).unwrap_or(&0)];
                if !cell.iter().any(|(other, _)| *other == number) {
                    cell.push((number, time));
                }
            }
        }
        let stands = stand_ins(&cells, algorithms.len());
        let kept: Vec<usize> = (0..algorithms.len()).filter(|number| stands[*number] == *number).collect();
        let renumbered = |number: usize| kept.iter().position(|other| *other == number);
        let cells = cells.into_iter().map(|all| {
            let all = all.into_iter().filter_map(|(number, time)| Some((renumbered(number)?, time)));
            MapCell::new(all)
        });
        let left_out = (0..algorithms.len()).filter(|number| stands[*number] != *number);
        let left_out = left_out.filter_map(|number| Some((algorithms[number], renumbered(stands[number])?)));
        FastestMap {
            algorithms: kept.iter().map(|number| algorithms[*number]).collect(),
            left_out: left_out.collect(),
            axes,
            cells: cells.collect(),
        }
    }

    /// Returns the rows of cells.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[MapCell]> + ExactSizeIterator {
        self.cells.chunks(self.axes[0].len())
    }

    /// Returns the stretches of each row, in order. Where neighbouring cells have other fastest algorithms, finds the
    /// values between at which that changes, by runs on several threads: exactly to the picosecond or the whole number,
    /// or else to 1/1024 of the way between the cells. What changes and changes back between two cells is not found.
    /// `done` is called after each of the gaps that are searched.
    pub fn stretches(&self, sweep: &Sweep, threads: usize, done: impl Fn() + Sync) -> Vec<Stretch> {
        let gaps: Vec<(usize, usize)> = self.gaps().collect();
        let mut found = HashMap::new();
        let find = |(row, column): &(usize, usize)| {
            let marks = Search::new(self, sweep, *row, *column).run();
            done();
            marks
        };
        let told: Result<(), ()> = run_in_order(gaps.into_iter(), threads, find, |gap, marks| {
            found.insert(gap, marks);
            Ok(())
        });
        debug_assert!(told.is_ok());
        let mut all = Vec::new();
        for (row, cells) in self.rows().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let of_cell =
                    Mark { point: self.axes[0][column].clone(), cell: cell.clone(), is_adjacent: false };
                let marks = found.remove(&(row, column)).unwrap_or_default();
                [of_cell].into_iter().chain(marks).for_each(|mark| add_mark(&mut all, row, mark));
            }
        }
        all
    }

    /// Returns the number of gaps that [`FastestMap::stretches`] searches.
    pub fn gap_count(&self) -> usize {
        self.gaps().count()
    }

    /// Returns the row and the column of each cell whose right neighbour has other fastest algorithms.
    fn gaps(&self) -> impl Iterator<Item = (usize, usize)> {
        self.rows().enumerate().flat_map(|(row, cells)| {
            let differ = |(_, pair): &(usize, &[MapCell])| {
                pair.iter().all(|cell| !cell.times.is_empty())
                    && pair[0].all_fastest() != pair[1].all_fastest()
            };
            cells.windows(2).enumerate().filter(differ).map(move |(column, _)| (row, column))
        })
    }
}

/// Returns for each of so many algorithms the number of the first one that takes the same time in every cell.
fn stand_ins(cells: &[Vec<(usize, Result<Time, String>)>], count: usize) -> Vec<usize> {
    let times = |number: usize| -> Vec<Option<Time>> {
        let time = |cell: &Vec<(usize, Result<Time, String>)>| {
            cell.iter().find(|(other, _)| *other == number).and_then(|(_, time)| time.clone().ok())
        };
        cells.iter().map(time).collect()
    };
    let all: Vec<Vec<Option<Time>>> = (0..count).map(times).collect();
    let has_times = |times: &[Option<Time>]| times.iter().any(Option::is_some);
    let stand_in = |(number, times): (usize, &Vec<Option<Time>>)| match has_times(times) {
        true => all.iter().position(|other| other == times).unwrap_or(number),
        false => number,
    };
    all.iter().enumerate().map(stand_in).collect()
}

/// Adds a value that was run to the stretches of its row, behind all others.
fn add_mark(stretches: &mut Vec<Stretch>, row: usize, Mark { point, cell, is_adjacent }: Mark) {
    let fastest = cell.all_fastest();
    if fastest.is_empty() {
        return;
    }
    match stretches.last_mut().filter(|last| last.row == row && last.fastest == fastest) {
        Some(last) => {
            last.last = point;
            last.add_failed(&cell.failed);
        }
        None => {
            let (first, last) = (point.clone(), point);
            stretches.push(Stretch { row, fastest, first, last, is_adjacent, failed: cell.failed });
        }
    }
}

/// Returns points in ascending order, each once.
fn sorted(points: &[SweepPoint]) -> Vec<SweepPoint> {
    let mut points = points.to_vec();
    points.sort_by(|one, other| one.number.total_cmp(&other.number));
    points.dedup_by(|one, other| one.number == other.number);
    points
}

/// A value that was run, and its cell.
struct Mark {
    point: SweepPoint,
    cell: MapCell,
    /// True if no value lies between the mark before and this one.
    is_adjacent: bool,
}

/// A change between two values with other fastest algorithms.
struct Change {
    /// An algorithm that is among the fastest before, and one that is behind. Of these one is not so on both sides.
    pair: (usize, usize),
    /// True if both take equally long behind, and not before.
    is_into_tie: bool,
}

impl Change {
    fn between(before: &[usize], behind: &[usize]) -> Option<Change> {
        let from = before.iter().find(|number| !behind.contains(number));
        let to = behind.iter().find(|number| !before.contains(number));
        let pair = match (from, to) {
            (None, None) => return None,
            (from, to) => (*from.or(before.first())?, *to.or(behind.first())?),
        };
        Some(Change { pair, is_into_tie: from.is_none() })
    }

    /// Returns whether a value is behind the change, where the first of the pair takes so much longer.
    fn is_behind(&self, difference: i64) -> bool {
        difference > 0 || self.is_into_tie && difference == 0
    }
}

/// The search between two neighbouring cells of a row, in steps from the left one, 0, to the right one.
struct Search<'a> {
    map: &'a FastestMap,
    sweep: &'a Sweep<'a>,
    /// The two cells' values.
    ends: [&'a SweepPoint; 2],
    /// Values of the other quantities.
    rest: Vec<SweepPoint>,
    /// Number of steps; each is the least step of a whole number or a time.
    steps: i64,
    /// Times so far, by step and algorithm, or why it has none.
    times: HashMap<(i64, usize), Result<Time, String>>,
    /// The steps before and behind each change.
    found: Vec<(i64, i64)>,
}

impl<'a> Search<'a> {
    fn new(map: &'a FastestMap, sweep: &'a Sweep, row: usize, column: usize) -> Search<'a> {
        let ends = [&map.axes[0][column], &map.axes[0][column + 1]];
        let [low, high] = ends.map(|point| point.number);
        let steps = if sweep.ranges[0].quantity.is_whole(low, high) { (high - low) as i64 } else { STEPS };
        let mut times = HashMap::new();
        for (step, column) in [(0, column), (steps, column + 1)] {
            let MapCell { times: known, failed } = &map.cells[row * map.axes[0].len() + column];
            times.extend(known.iter().map(|(number, time)| ((step, *number), Ok(*time))));
            times.extend(failed.iter().map(|(number, why)| ((step, *number), Err(why.clone()))));
        }
        let rest = map.axes.get(1).map(|axis| axis[row].clone()).into_iter().collect();
        Search { map, sweep, ends, rest, steps, times, found: Vec::new() }
    }

    /// Returns the values before and behind each change.
    fn run(mut self) -> Vec<Mark> {
        self.search(0, self.steps);
        let found = std::mem::take(&mut self.found);
        let mark = |(before, behind): (i64, i64)| {
            [before, behind].map(|step| Mark {
                point: self.point(step),
                cell: self.cell(step),
                is_adjacent: step == behind && behind - before == 1,
            })
        };
        found.into_iter().flat_map(mark).collect()
    }

    /// Finds changes between two steps.
    fn search(&mut self, low: i64, high: i64) {
        let [before, behind] = [low, high].map(|step| self.cell(step).all_fastest());
        if before.is_empty() || behind.is_empty() || self.found.len() >= MOST_CROSSINGS {
            return;
        }
        let Some(change) = Change::between(&before, &behind) else { return };
        let (before, behind) = self.bracket((low, high), &change);
        if (before, behind) == (low, high) {
            return self.found.push((low, high));
        }
        // Others may be faster than both where they cross, and both may be equal for a while.
        self.search(low, before);
        self.search(before, behind);
        self.search(behind, high);
    }

    /// Returns neighbouring steps between two, the first of which is before a change, and the second behind; or two
    /// that are further apart, if one of its pair cannot be run between them.
    fn bracket(&mut self, (mut low, mut high): (i64, i64), change: &Change) -> (i64, i64) {
        for round in 0.. {
            let (Some(under), Some(over)) =
                (self.difference(low, change.pair), self.difference(high, change.pair))
            else {
                return (low, high);
            };
            if high - low <= 1 {
                break;
            }
            // Times are lines along many a parameter, so first guess where these cross. Where both are equal for a
            // while, they say nothing.
            let crossing = under.unsigned_abs() as f64 / (under.unsigned_abs() + over.unsigned_abs()) as f64;
            let guess = match round % 3 {
                1 if under == 0 || over == 0 => (high - low) / 2,
                2 => (high - low) / 2,
                _ => (crossing * (high - low) as f64) as i64,
            };
            let between = (low + guess).clamp(low + 1, high - 1);
            match self.difference(between, change.pair) {
                None => return (low, high),
                Some(difference) if change.is_behind(difference) => high = between,
                Some(_) => low = between,
            }
        }
        (low, high)
    }

    /// Returns how much longer one algorithm takes than another, in picoseconds, or `None` if one cannot be
    /// run.
    fn difference(&mut self, step: i64, (one, other): (usize, usize)) -> Option<i64> {
        Some(self.time(step, one).ok()?.as_ps() - self.time(step, other).ok()?.as_ps())
    }

    /// Returns the algorithms at a step.
    fn cell(&mut self, step: i64) -> MapCell {
        MapCell::new((0..self.map.algorithms.len()).map(|number| (number, self.time(step, number))))
    }

    fn time(&mut self, step: i64, number: usize) -> Result<Time, String> {
        if let Some(time) = self.times.get(&(step, number)) {
            return time.clone();
        }
        let point: SweepValues = [&[self.point(step)], &self.rest[..]].concat();
        let study = self.sweep.study_at(&point, self.map.algorithms[number]);
        let time = study.map_err(|why| why.to_string()).and_then(|mut study| {
            study.emulation.cores = None; // all threads are busy with searches
            study.run().map_err(|why| why.summary())?.right_time()
        });
        self.times.insert((step, number), time.clone());
        time
    }

    /// Returns the value at a step.
    fn point(&self, step: i64) -> SweepPoint {
        let [low, high] = self.ends;
        match step {
            0 => low.clone(),
            step if step == self.steps => high.clone(),
            step => {
                let part = step as f64 / self.steps as f64;
                let number = low.number + (high.number - low.number) * part;
                self.sweep.ranges[0].quantity.to_point(number)
            }
        }
    }
}
