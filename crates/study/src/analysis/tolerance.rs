//! The time of a run as a function of one of the machine's parameters, and how much more of it the run tolerates.

use std::collections::{BTreeMap, HashMap};

use loggp::Time;
use loggp::params::{LevelParameter, LeveledParams, LongMessages};
use loggp::path::{Formula, HopTerm, Path};
use loggp::schedule::KeptOrder;

use super::exact::{FEW_ACTS, MANY_ACTS, Proof};
use super::parameter_sweep::{MakeRun, RunPath, SweptRun};
use super::search::{ChangeSearch, FailedReplay, IsSame, ReplayPoint};

/// The time of a run along a parameter, from the machine's own value up.
#[derive(Clone, Debug)]
pub struct RunCurve {
    pub parameter: LevelParameter,
    /// Value of the machine's parameter.
    pub value: i64,
    /// Time of the run on the machine itself.
    pub time: Time,
    /// By how much the run grows when the parameter grows a little: how often the parameter is on the
    /// critical path. Where two paths are equally long, that of the one that grows faster.
    pub slope: i64,
    /// The value up to which the time is known.
    pub end: i64,
    /// True if the run does not depend on the parameter, however large it becomes.
    pub is_flat: bool,
    /// The time between `value` and `end`, in ascending order. Neighbours share an end, or their ends are
    /// next to each other.
    pub pieces: Vec<CurvePiece>,
    /// The ranges in which the runs of the search found no lines, before it came to its limit.
    pub gaps: Vec<(i64, i64)>,
    /// The value up to which the pieces are exact: it is proven that no run between them takes another time.
    pub exact_until: i64,
    /// True if more might be proven exact by a proof that takes longer.
    pub may_be_proven: bool,
    /// The checks above. `None` if the limit of the runs came before.
    pub checks: Option<CurveChecks>,
    /// Number of runs that were made.
    pub runs: usize,
}

/// The runs that check a curve where it is not proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CurveChecks {
    /// At so many values within each piece, or at all of a piece that has no more.
    Pieces(usize),
    /// At so many values up to each one that is tolerated.
    Tolerated(usize),
}

/// A range of a parameter in which the same path is critical.
#[derive(Clone, Debug)]
pub struct CurvePiece {
    pub from: i64,
    pub until: i64,
    /// Time at `from`.
    pub time: Time,
    /// How often the parameter is on the path.
    pub slope: i64,
    /// Formula of the path.
    pub formula: Formula,
    /// A value at which a run has this path.
    pub seen_at: i64,
}

/// What is asked about a run along a parameter.
#[derive(Clone, Debug)]
pub struct CurveRequest {
    pub parameter: LevelParameter,
    /// The greatest value, or `None` until the run is more than the last of `parts` longer.
    pub end: Option<i64>,
    /// How much longer the run may become, in per cent, in ascending order.
    pub parts: Vec<u32>,
    /// True if all pieces are asked for, and not only those in which the run becomes that much longer.
    pub has_all_pieces: bool,
    /// True if it is to be proven exact, where it can be, for as long as a minute; otherwise only if that is soon done.
    pub is_proof_wanted: bool,
    /// Limit of the runs, but for up to a hundred more that find where the run becomes that much longer.
    pub most_runs: usize,
    /// The number of runs that are made at once.
    pub threads: usize,
}

impl CurveRequest {
    /// Returns the parameters about which can be asked: those of the machine and of its levels that are times.
    pub fn parameters(machine: &LeveledParams) -> impl Iterator<Item = LevelParameter> + '_ {
        machine.parameters().filter(|LevelParameter { parameter, level, .. }| {
            // LogP's G is no parameter of its own.
            let is_own = parameter.name != "G" || machine.at(*level).long != LongMessages::LogP;
            parameter.is_time() && is_own
        })
    }
}

impl RunCurve {
    /// Finds the time of a run along a parameter. `make_run` makes it on a machine. Nothing is known about it
    /// but its runs, so the curve is checked within its pieces.
    pub fn find(
        machine: impl Into<LeveledParams>,
        request: &CurveRequest,
        make_run: &MakeRun,
    ) -> Result<RunCurve, FailedReplay> {
        RunCurve::find_for(&machine.into(), request, make_run, None)
    }

    /// Finds the time of a run in a kept order along a parameter. It is exact where ports and capacity delay
    /// no message, and where it can be proven.
    pub fn find_kept(
        machine: impl Into<LeveledParams>,
        request: &CurveRequest,
        order: &KeptOrder,
    ) -> Result<RunCurve, FailedReplay> {
        let make_run = |machine: LeveledParams| Ok(RunPath::from_kept(order.run(machine)?));
        RunCurve::find_for(&machine.into(), request, &make_run, Some(order))
    }

    fn find_for(
        machine: &LeveledParams,
        request: &CurveRequest,
        make_run: &MakeRun,
        order: Option<&KeptOrder>,
    ) -> Result<RunCurve, FailedReplay> {
        let parameter = request.parameter;
        let swept = SweptRun { machine, parameter, make_run };
        let value = parameter.number(machine).unwrap_or(0);
        let mut search = ChangeSearch {
            run_at: &|value, ends| swept.run_at(value, ends),
            is_same: &is_line,
            has_lines: true,
            most_runs: request.most_runs,
            most_changes: usize::MAX,
            threads: request.threads,
            points: BTreeMap::new(),
        };
        let start = search.run_once(value)?;
        let bounds: Vec<i128> = request.parts.iter().map(|part| bound(start.time, *part)).collect();
        let far = bounds.last().copied().unwrap_or(0);
        let (end, is_flat) = match request.end {
            Some(end) => (end.max(value), false),
            None => find_end(&mut search, &start, far)?,
        };
        search.run_once(end)?;
        // A run right above the machine's own value says how fast the time grows from there on.
        let slope = search.run_once(value.saturating_add(1).min(end))?.slope;
        search.points.retain(|value, _| *value <= end);
        let is_enough = |one: &ReplayPoint, other: &ReplayPoint| {
            is_line(one, other) || !passes_bound(&bounds, one, other)
        };
        let is_same: &IsSame = if request.has_all_pieces { &is_line } else { &is_enough };
        let is_alike =
            |one: &ReplayPoint, other: &ReplayPoint| is_same(one, other) && one.order == other.order;
        search.is_same = is_same;
        let mut curve = RunCurve {
            parameter,
            value,
            time: start.time,
            slope,
            end,
            is_flat,
            pieces: Vec::new(),
            gaps: Vec::new(),
            exact_until: value,
            may_be_proven: false,
            checks: None,
            runs: 0,
        };
        if let Some(order) = order {
            curve.prove(order, machine, &mut search, request.is_proof_wanted)?;
        }
        curve.search_all(machine, request, &mut search, [&is_enough, &is_alike])?;
        curve.checked(search, request)
    }

    /// Finds up to which value the times of a run in a kept order follow from few runs.
    fn prove(
        &mut self,
        order: &KeptOrder,
        machine: &LeveledParams,
        search: &mut ChangeSearch,
        is_wanted: bool,
    ) -> Result<(), FailedReplay> {
        let RunCurve { parameter, value, end, .. } = *self;
        let values = [value, value.saturating_add(1).min(end), end].into_iter();
        let mut machines = values.filter_map(|value| machine.with(parameter, value).ok());
        self.exact_until = end;
        if machines.any(|machine| order.has_contention(&machine)) {
            let most_acts = if is_wanted { MANY_ACTS } else { FEW_ACTS };
            let proof = Proof { order, machine, parameter, most_acts, runs: 0 }.run(search, (value, end))?;
            (self.exact_until, self.runs) = (proof.until, proof.runs);
            self.slope = proof.slope.unwrap_or(self.slope);
            self.may_be_proven = proof.is_cut && !is_wanted;
        }
        Ok(())
    }

    /// Searches the curve for changes. Two runs between which no more is looked for are `is_enough` where
    /// there is no time for all changes, and `is_alike` if they have one order too.
    fn search_all<'a>(
        &self,
        machine: &LeveledParams,
        request: &CurveRequest,
        search: &mut ChangeSearch<'a>,
        [is_enough, is_alike]: [&'a IsSame<'a>; 2],
    ) -> Result<(), FailedReplay> {
        if self.exact_until < self.end {
            for value in capacity_borders(machine, self.parameter, (self.exact_until, self.end)) {
                search.run_once(value)?;
            }
        }
        let mut is_complete = search.run()?;
        if request.has_all_pieces && self.exact_until == self.end && self.runs == 0 {
            add_middles(search)?;
            is_complete &= search.run()?;
        }
        if !is_complete {
            // What the run tolerates is asked for in any case.
            search.is_same = is_enough;
            search.most_runs += MORE_RUNS;
            search.run()?;
        } else if self.exact_until < self.end {
            // A time that no run shows is most likely where another order begins.
            let is_same = std::mem::replace(&mut search.is_same, is_alike);
            search.most_runs = search.points.len().midpoint(request.most_runs);
            search.run()?;
            (search.is_same, search.most_runs) = (is_same, request.most_runs);
        }
        Ok(())
    }

    /// Returns the curve through these points, with what is checked.
    fn through(&self, points: &BTreeMap<i64, ReplayPoint>, checks: Option<CurveChecks>) -> RunCurve {
        let points: Vec<&ReplayPoint> = points.values().collect();
        let (pieces, gaps) = pieces(&points);
        let is_flat = self.is_flat && pieces.iter().all(|piece| piece.slope == 0 && piece.time == self.time);
        RunCurve { is_flat, pieces, gaps, checks, runs: points.len() + self.runs, ..*self }
    }

    /// Makes runs at values where the curve may be wrong, until all lie on the curve or there were too many. Where
    /// there are too many pieces to check each of them, what is tolerated is checked.
    fn checked(&self, mut search: ChangeSearch, request: &CurveRequest) -> Result<RunCurve, FailedReplay> {
        let most = request.most_runs + MORE_RUNS;
        if request.has_all_pieces
            && let Some(found) =
                self.check(&mut search, request, CurveChecks::Pieces(CHECKS.len() + 2), most)?
        {
            return Ok(found);
        }
        let most = most.max(search.points.len()) + MORE_RUNS;
        let found = self.check(&mut search, request, CurveChecks::Tolerated(CHECKS.len() + 2), most)?;
        Ok(found.unwrap_or_else(|| self.through(&search.points, None)))
    }

    /// Returns the curve with these checks, unless there are too many.
    fn check(
        &self,
        search: &mut ChangeSearch,
        request: &CurveRequest,
        checks: CurveChecks,
        most: usize,
    ) -> Result<Option<RunCurve>, FailedReplay> {
        loop {
            let found = self.through(&search.points, Some(checks));
            let values = found.unchecked(&search.points, request, checks);
            if values.is_empty() {
                return Ok(Some(found));
            }
            if search.points.len() + values.len() > most {
                return Ok(None);
            }
            values.into_iter().try_for_each(|value| search.run_between(value).map(|_| ()))?;
            search.run()?;
        }
    }

    /// Returns values at which no run was made, within the pieces that are not exact, or else up to what is
    /// tolerated, and beside that.
    fn unchecked(
        &self,
        points: &BTreeMap<i64, ReplayPoint>,
        request: &CurveRequest,
        checks: CurveChecks,
    ) -> Vec<i64> {
        let tolerated: Vec<i64> = request.parts.iter().filter_map(|part| self.tolerated(*part)).collect();
        let mut borders = vec![self.exact_until, self.end];
        match checks {
            CurveChecks::Pieces(_) => {
                borders.extend(self.pieces.iter().flat_map(|piece| [piece.from, piece.until]));
            }
            CurveChecks::Tolerated(_) => borders.extend(&tolerated),
        }
        borders.retain(|value| *value >= self.exact_until);
        borders.sort_unstable();
        let within = |pair: &[i64]| {
            let (from, width) = (pair[0], i128::from(pair[1]) - i128::from(pair[0]));
            let at = move |part: &i128| from + (width * part / 1000) as i64;
            CHECKS.iter().map(at).chain([from + 1, pair[1] - 1]).collect::<Vec<i64>>()
        };
        let pairs = borders.windows(2).filter(|pair| pair[1] > pair[0]);
        let mut values: Vec<i64> = pairs.flat_map(within).collect();
        values.extend(tolerated.into_iter().flat_map(|value| [value, value + 1]));
        let is_open = |value: &i64| (self.exact_until + 1..self.end).contains(value);
        values.retain(|value| is_open(value) && !points.contains_key(value));
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Returns the greatest value up to which the run is nowhere longer than this part of it in per cent, or
    /// `None` if that lies above the known range.
    pub fn tolerated(&self, part: u32) -> Option<i64> {
        let bound = bound(self.time, part);
        let mut last = self.value;
        for piece in &self.pieces {
            let room = bound.div_euclid(100) - i128::from(piece.time.as_ps());
            if room < 0 {
                return Some(last);
            }
            let length = i128::from(piece.until) - i128::from(piece.from);
            if i128::from(piece.slope) * length > room {
                return Some(piece.from + (room / i128::from(piece.slope)) as i64);
            }
            last = piece.until;
        }
        None
    }

    /// Returns whether the time is not known right above what is tolerated, so that it may be more.
    pub fn may_tolerate_more(&self, part: u32) -> bool {
        let value = self.tolerated(part);
        value.is_some_and(|value| self.gaps.iter().any(|(from, _)| *from == value))
    }

    /// Returns the part of the run that is the parameter's, from 0 to 1.
    pub fn share(&self) -> f64 {
        let ps = i128::from(self.slope) * i128::from(self.value);
        if self.time == Time::ZERO { 0.0 } else { ps as f64 / self.time.as_ps() as f64 }
    }

    /// Returns the time of the run at a value, if it is known.
    pub fn time_at(&self, value: i64) -> Option<Time> {
        let piece = self.pieces.iter().find(|piece| (piece.from..=piece.until).contains(&value))?;
        Some(piece.time_at(value))
    }

    /// Returns the pieces at whose start the time is no longer a maximum of lines, as it is where nothing but
    /// messages and their overheads delays a run: there it jumps, or grows more slowly.
    pub fn irregular(&self) -> impl Iterator<Item = &CurvePiece> {
        let is_regular = |one: &CurvePiece, other: &CurvePiece| {
            one.slope <= other.slope
                && one.time_at(other.from) <= other.time
                && other.time_at(one.until) <= one.time_at(one.until)
        };
        let pairs = self.pieces.windows(2).filter(move |pair| !is_regular(&pair[0], &pair[1]));
        pairs.map(|pair| &pair[1])
    }
}

impl CurvePiece {
    /// Returns the time at a value, which may lie outside of the range.
    pub fn time_at(&self, value: i64) -> Time {
        let ps = i128::from(self.time.as_ps())
            + i128::from(self.slope) * (i128::from(value) - i128::from(self.from));
        Time::from_ps(ps.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }
}

/// Where within a piece it is checked, in thousandths of its width: in the middle, at golden sections and
/// nearer to the ends; and right beside these.
const CHECKS: [i128; 7] = [500, 382, 618, 236, 764, 90, 910];

/// The number of runs beyond the limit that are made to find what the run tolerates, if not all pieces were found.
const MORE_RUNS: usize = 100;

/// Returns whether the paths of two runs make a line through both times.
fn is_line(one: &ReplayPoint, other: &ReplayPoint) -> bool {
    one.reaches(other) || other.reaches(one)
}

/// Returns whether one of these bounds, in hundredths of a picosecond, is between the times of two runs.
fn passes_bound(bounds: &[i128], one: &ReplayPoint, other: &ReplayPoint) -> bool {
    let is_over = |point: &ReplayPoint, bound: i128| 100 * i128::from(point.time.as_ps()) > bound;
    bounds.iter().any(|bound| is_over(one, *bound) != is_over(other, *bound))
}

/// Returns the time that is a part longer, in hundredths of a picosecond.
fn bound(time: Time, part: u32) -> i128 {
    i128::from(time.as_ps()) * (100 + i128::from(part))
}

/// Returns the values within a range beside which the capacity ceil(L/g) of a level is another one, unless
/// they are very many.
fn capacity_borders(machine: &LeveledParams, parameter: LevelParameter, (from, end): (i64, i64)) -> Vec<i64> {
    /// Limit of the borders.
    const MOST: usize = 32;
    let params = machine.at(parameter.level);
    let [L, g] = [params.L, params.g].map(Time::as_ps);
    let inside = |value: &i64| from < *value && *value < end;
    let borders: Vec<i64> = match parameter.parameter.name {
        _ if params.C.is_some() => return Vec::new(),
        // Up to a multiple of g, and up to right below a part of L.
        "L" if g > 0 => {
            (from / g..).map(|times| times * g).skip_while(|value| *value <= from).take(MOST).collect()
        }
        "g" => (1..=MOST as i64).map(|part| (L - 1).max(0) / part).collect(),
        _ => return Vec::new(),
    };
    borders.into_iter().flat_map(|value| [value, value + 1]).filter(inside).collect()
}

/// Finds a value at which the run is longer than `bound` hundredths of a picosecond, and not much longer.
/// Returns it, and whether there is none.
fn find_end(
    search: &mut ChangeSearch,
    start: &ReplayPoint,
    bound: i128,
) -> Result<(i64, bool), FailedReplay> {
    /// Limit of the steps back from a run that is much longer.
    const MOST_STEPS: usize = 8;
    let time = start.time.as_ps();
    let passes = |point: &ReplayPoint| 100 * i128::from(point.time.as_ps()) > bound;
    // A run with a message takes at least L, and so for the other parameters.
    let last = start.value.saturating_add(time.saturating_mul(2)).saturating_add(1);
    // Where a line reaches a tenth more than what may be added.
    let target = bound + (bound - 100 * i128::from(time)) / 10;
    let reach = |point: &ReplayPoint| {
        let missing = target - 100 * i128::from(point.time.as_ps());
        let by = missing.checked_div(100 * i128::from(point.slope)).filter(|_| point.slope > 0)?;
        i64::try_from(i128::from(point.value) + by + 1).ok()
    };
    let mut here = start.clone();
    while !passes(&here) {
        if here.value >= last {
            return Ok((here.value, here.slope == 0 && here.time == start.time));
        }
        let double = here.value.saturating_add((here.value - start.value).max(time / 64 + 1));
        let next = reach(&here).map_or(double, |value| value.max(here.value + 1));
        here = search.run_once(next.min(last))?;
    }
    for _ in 0..MOST_STEPS {
        let Some(value) = reach(&here).filter(|value| *value < here.value && *value > start.value) else {
            break;
        };
        let before = search.run_once(value)?;
        if !passes(&before) {
            break;
        }
        here = before;
    }
    Ok((here.value, false))
}

/// Makes a run in the middle between neighbours with the same line, the widest first, to see whether it lies
/// on it.
fn add_middles(search: &mut ChangeSearch) -> Result<(), FailedReplay> {
    /// Limit of these runs.
    const MOST: usize = 16;
    let values: Vec<i64> = search.points.keys().copied().collect();
    let mut pairs: Vec<(i64, i64)> = values.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.retain(|(low, high)| high - low > 1);
    pairs.sort_by_key(|(low, high)| low - high);
    for (low, high) in pairs.into_iter().take(MOST) {
        if search.points.len() < search.most_runs {
            search.run_once(low + (high - low) / 2)?;
        }
    }
    Ok(())
}

/// Returns the pieces of the time through these points, and the ranges without any.
fn pieces(points: &[&ReplayPoint]) -> (Vec<CurvePiece>, Vec<(i64, i64)>) {
    let mut pieces: Vec<CurvePiece> = Vec::new();
    let mut gaps = Vec::new();
    let piece = |from: &ReplayPoint, until: i64, path: &ReplayPoint| CurvePiece {
        from: from.value,
        until,
        time: from.time,
        slope: path.slope,
        formula: path.formula.clone(),
        seen_at: path.seen_at,
    };
    for pair in points.windows(2) {
        let [one, other] = [pair[0], pair[1]];
        let path =
            if one.reaches(other) { Some(one) } else { Some(other).filter(|other| other.reaches(one)) };
        let last = pieces.last_mut().filter(|last| last.until == one.value);
        match (path, last) {
            (Some(path), Some(last)) if last.slope == path.slope => last.until = other.value,
            (Some(path), _) => pieces.push(piece(one, other.value, path)),
            (None, last) => {
                if last.is_none() {
                    pieces.push(piece(one, one.value, one));
                }
                if other.value - one.value > 1 {
                    gaps.push((one.value, other.value));
                }
            }
        }
    }
    if let Some(last) =
        points.last().filter(|last| pieces.last().is_none_or(|piece| piece.until != last.value))
    {
        pieces.push(piece(last, last.value, last));
    }
    (pieces, gaps)
}

/// Latencies of messages of one kind on the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyUse<K> {
    pub kind: K,
    /// How many of them are on the path.
    pub count: usize,
    /// Their length.
    pub time: Time,
}

/// Returns the latencies of a level on a critical path, by the kind of their message, the longest first. `kind`
/// gets the index of a message.
pub fn latency_uses<K: Clone + Ord + std::hash::Hash>(
    path: &Path,
    level: usize,
    mut kind: impl FnMut(usize) -> K,
) -> Vec<LatencyUse<K>> {
    let mut uses: HashMap<K, LatencyUse<K>> = HashMap::new();
    for hop in path.hops.iter().filter(|hop| hop.term == HopTerm::Latency && hop.level == level) {
        let Some(message) = hop.message else { continue };
        let kind = kind(message);
        let entry = uses.entry(kind.clone()).or_insert(LatencyUse { kind, count: 0, time: Time::ZERO });
        entry.count += 1;
        entry.time += hop.length();
    }
    let mut uses: Vec<LatencyUse<K>> = uses.into_values().collect();
    uses.sort_by(|one, other| other.time.cmp(&one.time).then_with(|| one.kind.cmp(&other.kind)));
    uses
}
