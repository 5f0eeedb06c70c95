//! The fastest algorithm at each point of a sweep, and where along its first quantity another one
//! becomes so.

use std::collections::HashMap;

use loggp::Time;
use loggp_programs::Algorithm;

use super::parallel::run_in_order;
use super::range::SweepPoint;
use super::relative_error;
use super::sweep::{Place, Sweep};

/// The times of several algorithms over a sweep: in a row for each value of the second quantity, if there is
/// one, all values of the first, from the least.
#[derive(Clone, Debug)]
pub struct FastestMap {
    pub algorithms: Vec<&'static Algorithm>,
    /// Values of each quantity in ascending order, each once.
    pub axes: Vec<Vec<SweepPoint>>,
    /// Cells, row by row.
    cells: Vec<MapCell>,
}

/// The algorithms at a point, by their numbers in the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapCell {
    /// Those that have a time: from the fastest, and among equals the first of the map first.
    pub times: Vec<(usize, Time)>,
    /// Those that have none, and why.
    pub failed: Vec<(usize, String)>,
}

/// Two neighbouring values of a row's quantity, at which different algorithms are fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// Number of the row.
    pub row: usize,
    /// Number of the algorithm that is fastest before.
    pub from: usize,
    /// Number of the algorithm that is fastest behind.
    pub to: usize,
    /// The last value at which `from` is fastest.
    pub before: SweepPoint,
    /// The first value at which `to` is.
    pub behind: SweepPoint,
    /// True if no value lies between the two. If false, one of the two algorithms cannot be run at a value
    /// between.
    pub is_adjacent: bool,
    /// The side on which both take equally long: there the first of the map counts as the fastest.
    pub tie: Option<TieSide>,
    /// The numbers of those that have no time at one of the two values, and why.
    pub failed: Vec<(usize, String)>,
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
            let place = |(axis, number): (&Vec<SweepPoint>, &f64)| {
                axis.iter().position(|point| point.number == *number)
            };
            let places: Option<Vec<usize>> = axes.iter().zip(&numbers).map(place).collect();
            let number = algorithms.iter().position(|other| other.name == algorithm.name);
            if let (Some(places), Some(number)) = (places, number) {
                let cell: &mut Vec<(usize, Result<Time, String>)> =
                    &mut cells[places[0] + axes[0].len() * places.get(1).unwrap_or(&0)];
                if !cell.iter().any(|(other, _)| *other == number) {
                    cell.push((number, time));
                }
            }
        }
        let cells = cells.into_iter().map(|all| MapCell::new(all.into_iter())).collect();
        FastestMap { algorithms: algorithms.to_vec(), axes, cells }
    }

    /// Returns the rows of cells.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[MapCell]> + ExactSizeIterator {
        self.cells.chunks(self.axes[0].len())
    }

    /// Finds between neighbouring cells of each row where another algorithm becomes the fastest, by runs on
    /// several threads: exactly to the picosecond or the whole number, or else to 1/1024 of the way between
    /// the cells. What changes and changes back between two cells is not found. `done` is called after each
    /// row's part.
    pub fn crossings(&self, sweep: &Sweep, threads: usize, done: impl Fn() + Sync) -> Vec<Crossing> {
        let gaps: Vec<(usize, usize)> = self.gaps().collect();
        let mut all = Vec::new();
        let find = |(row, column): &(usize, usize)| {
            let search = Search::new(self, sweep, *row, *column);
            let found = search.run();
            done();
            found
        };
        let told: Result<(), ()> = run_in_order(gaps.into_iter(), threads, find, |_, found| {
            all.extend(found);
            Ok(())
        });
        debug_assert!(told.is_ok());
        all
    }

    /// Returns the number of gaps that [`FastestMap::crossings`] searches.
    pub fn gap_count(&self) -> usize {
        self.gaps().count()
    }

    /// Returns the row and the column of each cell whose right neighbour has another fastest algorithm.
    fn gaps(&self) -> impl Iterator<Item = (usize, usize)> {
        self.rows().enumerate().flat_map(|(row, cells)| {
            let differ = |(_, pair): &(usize, &[MapCell])| {
                pair.iter().all(|cell| !cell.times.is_empty()) && pair[0].fastest() != pair[1].fastest()
            };
            cells.windows(2).enumerate().filter(differ).map(move |(column, _)| (row, column))
        })
    }
}

/// Returns points in ascending order, each once.
fn sorted(points: &[SweepPoint]) -> Vec<SweepPoint> {
    let mut points = points.to_vec();
    points.sort_by(|one, other| one.number.total_cmp(&other.number));
    points.dedup_by(|one, other| one.number == other.number);
    points
}

/// The search between two neighbouring cells of a row, in steps from the left one, 0, to the right one.
struct Search<'a> {
    map: &'a FastestMap,
    sweep: &'a Sweep<'a>,
    row: usize,
    /// The two cells' values.
    ends: [&'a SweepPoint; 2],
    /// Values of the other quantities.
    rest: Vec<SweepPoint>,
    /// Number of steps; each is the least step of a whole number or a time.
    steps: i64,
    /// Times so far, by step and algorithm, or why it has none.
    times: HashMap<(i64, usize), Result<Time, String>>,
    found: Vec<Crossing>,
}

impl<'a> Search<'a> {
    fn new(map: &'a FastestMap, sweep: &'a Sweep, row: usize, column: usize) -> Search<'a> {
        let ends = [&map.axes[0][column], &map.axes[0][column + 1]];
        let [low, high] = ends.map(|point| point.number);
        let steps = if sweep.ranges[0].quantity.is_whole(low, high) { (high - low) as i64 } else { STEPS };
        let mut times = HashMap::new();
        for (step, place) in [(0, column), (steps, column + 1)] {
            let MapCell { times: known, failed } = &map.cells[row * map.axes[0].len() + place];
            times.extend(known.iter().map(|(number, time)| ((step, *number), Ok(*time))));
            times.extend(failed.iter().map(|(number, why)| ((step, *number), Err(why.clone()))));
        }
        let rest = map.axes.get(1).map(|axis| axis[row].clone()).into_iter().collect();
        Search { map, sweep, row, ends, rest, steps, times, found: Vec::new() }
    }

    fn run(mut self) -> Vec<Crossing> {
        self.search(0, self.steps);
        self.found
    }

    /// Finds crossings between two steps, at which different algorithms are fastest.
    fn search(&mut self, low: i64, high: i64) {
        let (Some(from), Some(to)) = (self.cell(low).fastest(), self.cell(high).fastest()) else { return };
        if from == to || self.found.len() >= MOST_CROSSINGS {
            return;
        }
        let (before, behind) = self.bracket((low, high), (from, to));
        if (before, behind) == (low, high) {
            return self.add(low, high, (from, to));
        }
        // A third one may be faster than both where they cross.
        self.search(low, before);
        self.search(before, behind);
        self.search(behind, high);
    }

    /// Returns neighbouring steps between two, at the first of which `from` is before `to`, and at the second
    /// behind; or two that are further apart, if one of both cannot be run between them.
    fn bracket(&mut self, (mut low, mut high): (i64, i64), (from, to): (usize, usize)) -> (i64, i64) {
        for round in 0.. {
            let (Some(under), Some(over)) =
                (self.difference(low, (from, to)), self.difference(high, (from, to)))
            else {
                return (low, high);
            };
            if high - low <= 1 {
                break;
            }
            // Times are lines along many a parameter, so first guess where these cross.
            let crossing = under.unsigned_abs() as f64 / (under.unsigned_abs() + over.unsigned_abs()) as f64;
            let guess = match round % 3 {
                2 => (high - low) / 2,
                _ => (crossing * (high - low) as f64) as i64,
            };
            let between = (low + guess).clamp(low + 1, high - 1);
            match self.difference(between, (from, to)) {
                None => return (low, high),
                Some(ahead) if (ahead, from) <= (0, to) => low = between,
                Some(_) => high = between,
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
        let place: Place = [&[self.point(step)], &self.rest[..]].concat();
        let study = self.sweep.study_at(&place, self.map.algorithms[number]);
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

    fn add(&mut self, low: i64, high: i64, (from, to): (usize, usize)) {
        let mut failed = self.cell(low).failed;
        for (number, why) in self.cell(high).failed {
            if !failed.iter().any(|(other, _)| *other == number) {
                failed.push((number, why));
            }
        }
        let mut is_tie = |step| self.difference(step, (from, to)) == Some(0);
        let tie = match is_tie(low) {
            true => Some(TieSide::Before),
            false => is_tie(high).then_some(TieSide::Behind),
        };
        self.found.push(Crossing {
            row: self.row,
            from,
            to,
            before: self.point(low),
            behind: self.point(high),
            is_adjacent: high - low == 1,
            tie,
            failed,
        });
    }
}
