//! Summaries of traces with too many activities to be drawn one by one: for each row and stretch of time the
//! share of each kind, at several levels of detail.

use loggp_model::log::kinds::kind_number;
use loggp_model::time::Time;
use loggp_trace::ActivityKind;
use loggp_trace::path::Events;
use serde::Serialize;

use super::annotations::Annotations;
use super::kinds::{KINDS, NOISE};

/// A trace with fewer activities is drawn exactly.
const FEW: usize = 100_000;
/// The least and the most stretches of all rows together, and the most of a row.
const CELLS: (usize, usize) = (1 << 17, 1 << 21);
const MOST_COLUMNS: usize = 1 << 15;
/// The fewest stretches with which a row is of use.
const FEWEST_COLUMNS: usize = 8;
/// The number of rows that are merged in the next grid, and the number of rows for which no further grid is
/// needed.
const GROUP: usize = 4;
const ENOUGH_ROWS: usize = 1024;

/// Rows of one or several processors, each divided into stretches of time.
#[derive(Debug, Serialize)]
pub(super) struct Grid {
    /// The number of processors in a row.
    pub group: usize,
    /// The number of rows.
    pub rows: usize,
    /// Length of a stretch at the finest level, in quanta. Each further level has half as many stretches of
    /// twice the length.
    pub width: i64,
    /// The number of stretches in a row, by level.
    pub columns: Vec<usize>,
    /// The kinds that occur.
    pub kinds: Vec<usize>,
    /// Shares by level, kind, row and stretch: in 255ths of the time, rounded up so that nothing vanishes.
    #[serde(skip)]
    pub shares: Vec<u8>,
}

impl Grid {
    /// Returns the grids of a trace from the finest on, with stretches of whole quanta; none if the trace is
    /// small.
    pub(super) fn all(events: &Events, annotations: &Annotations, quantum: i64) -> Vec<Grid> {
        let P = events.trace.params.P;
        let activities: usize = events.processors().map(|track| track.indices.len()).sum();
        if activities < FEW {
            return Vec::new();
        }
        let cells = (activities / 4).clamp(CELLS.0, CELLS.1);
        let mut grids = Vec::new();
        let mut group = 1;
        loop {
            let rows = P.div_ceil(group);
            let columns = (cells / rows).min(MOST_COLUMNS);
            if columns >= FEWEST_COLUMNS {
                grids.push(Grid::new(events, annotations, group, columns, quantum));
            }
            if rows <= ENOUGH_ROWS {
                return grids;
            }
            group *= GROUP;
        }
    }

    /// Computes a grid with about this many columns.
    pub(super) fn new(
        events: &Events,
        annotations: &Annotations,
        group: usize,
        columns: usize,
        quantum: i64,
    ) -> Grid {
        let P = events.trace.params.P;
        let (rows, finish) = (P.div_ceil(group), events.finish.as_ps().max(1));
        let width = (finish / quantum).div_euclid(columns as i64) + 1;
        let mut counts = vec![(finish / quantum / width + 1) as usize];
        while let Some(last) = counts.last().copied().filter(|last| *last > FEWEST_COLUMNS) {
            counts.push(last.div_ceil(2));
        }
        let kinds = drawn_kinds(events, annotations);
        let starts: Vec<usize> = counts
            .iter()
            .scan(0, |all, columns| {
                let start = *all;
                *all += columns * kinds.len() * rows;
                Some(start)
            })
            .collect();
        let size = counts.iter().sum::<usize>() * kinds.len() * rows;
        let mut grid = Grid { group, rows, width, columns: counts, kinds, shares: vec![0; size] };
        let mut row = 0;
        let mut sums = vec![0; grid.columns[0] * KINDS];
        let whole = width.saturating_mul(quantum);
        for (nth, track) in events.processors().enumerate().filter(|(_, track)| track.id < P) {
            if track.id / group != row {
                grid.fill(&starts, row, &mut sums, quantum);
                row = track.id / group;
            }
            for index in track.indices.clone() {
                let event = events.event(index);
                add_span(&mut sums, annotations.kind(events, index), (event.start, event.end), 1, whole);
                if event.kind.is_busy() {
                    for taken in annotations.detours_within(nth, event.start, event.end) {
                        add_span(&mut sums, annotations.kind(events, index), taken, -1, whole);
                        add_span(&mut sums, NOISE, taken, 1, whole);
                    }
                }
            }
        }
        grid.fill(&starts, row, &mut sums, quantum);
        grid
    }

    /// Fills a row at each level from the sums of the finest, and clears the sums.
    fn fill(&mut self, starts: &[usize], row: usize, sums: &mut [i64], quantum: i64) {
        let members = self.group as u128;
        let mut sums_here = sums.to_vec();
        sums.fill(0);
        for (level, (&columns, start)) in self.columns.iter().zip(starts).enumerate() {
            let whole = (self.width as u128 * quantum as u128) << level;
            for (number, kind) in self.kinds.iter().enumerate() {
                let index = start + (number * self.rows + row) * columns;
                for column in 0..columns {
                    let share = (sums_here[column * KINDS + kind] as u128 * 255).div_ceil(whole * members);
                    self.shares[index + column] = share.min(255) as u8;
                }
            }
            sums_here = sums_here
                .chunks(2 * KINDS)
                .flat_map(|two| (0..KINDS).map(|kind| two.iter().skip(kind).step_by(KINDS).sum::<i64>()))
                .collect();
        }
    }
}

/// Returns the kinds that occur and are drawn; idle time is not.
fn drawn_kinds(events: &Events, annotations: &Annotations) -> Vec<usize> {
    let mut occur = [false; KINDS];
    for track in events.processors() {
        track.indices.clone().for_each(|index| occur[annotations.kind(events, index)] = true);
    }
    occur[NOISE] = annotations.all_detours().next().is_some();
    occur[kind_number(&ActivityKind::Idle)] = false;
    (0..KINDS).filter(|kind| occur[*kind]).collect()
}

/// Adds a span of time, multiplied by `times`, to the sums of the stretches that it overlaps.
fn add_span(sums: &mut [i64], kind: usize, (start, end): (Time, Time), times: i64, width: i64) {
    let (mut start, end) = (start.as_ps().max(0), end.as_ps());
    while start < end {
        let column = (start / width) as usize;
        let until = end.min((column as i64 + 1).saturating_mul(width));
        let Some(sum) = sums.get_mut(column * KINDS + kind) else { return };
        *sum += times * (until - start);
        start = until;
    }
}
