//! Predicted time of the elimination, from the machine's parameters, the layout, and the cost of a flop.
//!
//! The paper counts 2(n-k)^2/P for computing and, by layout, 2(n-k)g + L, (n-k)g + L or 2(n-k)g/sqrt(P) + L
//! for communication in step k (LogP, section 4.2). Here every term is kept: the search for the pivot and its
//! reduction, the rows that change places, the scaling, and that a step of one grid column waits for that of
//! another only where it needs its multipliers. So it is a recurrence over panels and grid columns;
//! docs/reference/lu.md says which of its terms are the paper's.

use loggp::collectives::BroadcastPlan;
use loggp::params::LongMessages;
use loggp::{Params, Ports, Time};

use super::kernels::{solve_flops, update_flops};
use super::layout::{Cut, GridLayout, Panel};
use super::log::{EliminationLog, EliminationLogs, PanelAct};
use super::panel;
use super::transfer::values_per_message;
use super::{Lu, LuVariant};

/// The machine, and the costs of its operations.
struct LuCosts<'a> {
    params: &'a Params,
    ports: Ports,
    /// Cost of a flop, in picoseconds.
    flop: f64,
}

/// Numbers of the remaining rows.
#[derive(Clone, Copy)]
struct RowCounts {
    /// Number of all.
    all: usize,
    /// Number at the processor that has the first.
    own: usize,
    /// Number at the processor that has most.
    most: usize,
    /// Number of processors that have some.
    team: usize,
}

impl RowCounts {
    /// Counts the rows from row `k` on.
    fn new(cut: &Cut, k: usize) -> RowCounts {
        let (own, most, team) = (cut.count_from(cut.owner(k), k), cut.most_from(k), cut.parts_from(k));
        RowCounts { all: cut.n() - k, own, most, team }
    }
}

/// Returns the cost of `units` units.
fn cost(units: u64, each: f64) -> Time {
    Time::from_ps((units as f64 * each) as i64)
}

impl LuCosts<'_> {
    /// Returns the time of a reduction to all (`collectives::all_reduce`) of `bytes` bytes among P
    /// processors. Without a power of two the surplus ones pair up before, and one of each pair gets the
    /// result after.
    fn all_reduce(&self, P: usize, bytes: usize) -> Time {
        let Params { g, cycle, .. } = *self.params;
        let k = self.params.words(bytes);
        let (time, stream) = (self.message_time(k), self.params.stream(k));
        let R = i64::from(P.ilog2());
        let steps = match R {
            0 => Time::ZERO,
            _ => (R - 1) * (stream + (time - stream + cycle).max(g)) + time + cycle,
        };
        if P.is_power_of_two() { steps } else { 2 * time + cycle + steps }
    }

    /// Returns the time of a message of k words, L + 2o + (k-1)G.
    fn message_time(&self, k: usize) -> Time {
        let params = self.params;
        params.send_overhead(k) + params.L + params.stream(k) + params.recv_overhead(k)
    }

    /// Returns the wait of an incoming message for the outgoing one, if there is a single port and the
    /// outgoing one takes longer than L.
    fn port_wait(&self, k: usize) -> Time {
        match self.ports {
            Ports::Single => (self.params.stream(k) - self.params.L).max(Time::ZERO),
            _ => Time::ZERO,
        }
    }

    /// Returns the time in which two processors swap `values` numbers, in one message or word by word.
    fn swap_time(&self, values: usize) -> Time {
        if values == 0 {
            return Time::ZERO;
        }
        let each = values_per_message(self.params, values).min(values);
        let k = self.params.words(each * size_of::<f64>());
        let messages = values.div_ceil(each) as i64;
        let busy = self.params.send_overhead(k) + self.params.recv_overhead(k);
        let stream = self.params.stream(k);
        (messages - 1) * (stream + self.params.g).max(busy) + self.message_time(k) + self.port_wait(k)
    }

    /// Returns the time of `collectives::all_gather_vector` with `values` numbers of each of P processors.
    fn all_gather(&self, P: usize, values: usize) -> Time {
        if P == 1 || values == 0 {
            return Time::ZERO;
        }
        let params = self.params;
        let others = P as i64 - 1;
        let word = values_per_message(params, values).min(values);
        let k = params.words(word * size_of::<f64>());
        let busy = (params.send_overhead(k) + params.recv_overhead(k)).max(params.stream(k) + params.g);
        let messages = others * values.div_ceil(word) as i64;
        let direct = (messages - 1) * busy + self.message_time(k);
        if params.long == LongMessages::LogP && params.words(values * size_of::<f64>()) > 1 {
            return direct;
        }
        let step = |distance: usize| {
            let k = k * distance.min(P - distance);
            let last = 2 * distance >= P;
            let gap = if last { Time::ZERO } else { params.stream(k) + params.g };
            (self.message_time(k) + self.port_wait(k)).max(gap)
        };
        let doubled: Time = (0..P.next_power_of_two().ilog2()).map(|bit| step(1 << bit)).sum();
        doubled.min(direct)
    }

    /// Returns the time to eliminate a panel of w columns.
    fn panel(&self, rows: RowCounts, w: usize) -> Time {
        let computed = cost(panel::panel_flops(rows.most, w, w.min(rows.most)), self.flop);
        if rows.team == 1 {
            return computed;
        }
        let candidate = (w + 1) * size_of::<f64>(); // a row, and its number
        let row = self.message_time(self.params.words(w * size_of::<f64>()));
        computed + w as i64 * (self.all_reduce(rows.team, candidate) + unless_own_pivot(rows, row))
    }

    /// Returns the time in which the rows of a panel take their places, in this many columns.
    fn rows_swap_time(&self, w: usize, columns: usize, rows: RowCounts) -> Time {
        let (each, partners) = (w.div_ceil(rows.team), (rows.team - 1).min(w) as i64);
        match w {
            1 => unless_own_pivot(rows, self.swap_time(columns)),
            _ => partners * self.swap_time(each * columns),
        }
    }
}

/// Returns the expected time of a step that is needed unless the pivot is a row of the processor with the
/// first row. All rows are equally likely.
fn unless_own_pivot(rows: RowCounts, time: Time) -> Time {
    let part = i128::from(time.as_ps()) * (rows.all - rows.own) as i128 / rows.all.max(1) as i128;
    Time::from_ps(part as i64)
}

/// Returns the predicted logs: one for each grid column, whose rows go at the pace of the one with most of
/// them.
pub(super) fn predict_logs(plan: &Lu, flop: f64) -> EliminationLogs {
    let costs = LuCosts { params: &plan.case.params, ports: plan.case.ports, flop };
    match plan.variant {
        LuVariant::Replicated => EliminationLogs(vec![predict_replicated(&costs, &plan.layout)]),
        _ => predict_grid(&costs, &plan.layout, plan.variant == LuVariant::Lookahead),
    }
}

/// Predicts the bad layout, in which every processor waits for all others in every step.
fn predict_replicated(costs: &LuCosts, layout: &GridLayout) -> EliminationLog {
    let (mut log, mut now) = (EliminationLog::default(), Time::ZERO);
    let (n, cut, P, piece) = (layout.n, layout.cols, layout.cols.parts, layout.cols.piece);
    for panel in layout.panels() {
        let (k, e, w) = (panel.start, panel.end, panel.len());
        let mut act = |act, time| {
            now += time;
            log.finish_at(panel.number, act, now);
        };
        // All have about the same number of rows.
        let rows = RowCounts { all: P, own: 1, most: cut.most_from(k).min(n - k), team: P };
        act(PanelAct::Pivot, costs.panel(rows, w));
        let share = cut.most_from(e);
        act(PanelAct::Multipliers, costs.all_gather(P, share * w));
        // Each of the two rows is sent, unless both are of one block row.
        let partners = if w == 1 { 1 } else { (P - 1).min(2 * w) as i64 };
        let moved = if w == 1 { share } else { share * (2 * w).div_ceil(P) };
        act(
            PanelAct::Swap,
            match (P, w) {
                (1, _) => Time::ZERO,
                (2, 1) => unless_own_pivot(rows, costs.swap_time(2 * moved)),
                (_, 1) => unless_own_pivot(rows, 2 * costs.swap_time(moved)),
                _ => partners * costs.swap_time(moved),
            },
        );
        act(PanelAct::Solve, cost(solve_flops(w, share), costs.flop));
        act(PanelAct::PivotRows, costs.all_gather(P, share * w));
        // Of m rows and columns of blocks, m = qP + r, one processor has Pq^2 + 2qr + r blocks, and none has
        // more.
        let m = (n - e).div_ceil(piece);
        let (q, r) = (m / P, m % P);
        let most = (P * q * q + 2 * q * r + r) * piece * piece;
        act(PanelAct::Update, cost(2 * (w * most.min((n - e) * (n - e))) as u64, costs.flop));
    }
    log
}

/// Predicts the grid, whose columns each go on as soon as they have the multipliers.
fn predict_grid(costs: &LuCosts, layout: &GridLayout, lookahead: bool) -> EliminationLogs {
    let GridLayout { rows, cols, .. } = layout;
    let panels: Vec<_> = layout.panels().collect();
    let (now, logs) = (vec![Time::ZERO; cols.parts], vec![EliminationLog::default(); cols.parts]);
    let mut columns = GridColumns { costs, layout, now, logs };
    for panel in &panels {
        let (number, k, e, w) = (panel.number, panel.start, panel.end, panel.len());
        if !lookahead || number == 0 {
            columns.pass_panel(panel);
        }
        // The grid rows that still have rows, and the one that has the pivot rows.
        let down = rows.parts_from(e) + usize::from(rows.count_from(rows.owner(k), e) == 0);
        let update = |columns| cost(update_flops(rows.most_from(e), w, columns), costs.flop);
        for c in (0..cols.parts).filter(|c| cols.count_from(*c, e) > 0) {
            let left = cols.count_from(c, e);
            let swap_time = costs.rows_swap_time(w, left, RowCounts::new(rows, k));
            columns.advance(c, number, PanelAct::Swap, swap_time);
            columns.advance(c, number, PanelAct::Solve, cost(solve_flops(w, left), costs.flop));
            let plan = BroadcastPlan::best::<f64>(costs.params, down, w * left);
            columns.advance(c, number, PanelAct::PivotRows, plan.time);
        }
        let next = panels.get(number + 1).filter(|_| lookahead);
        let urgent = next.map(|next| (cols.owner(next.start), next));
        if let Some((owner, next)) = urgent {
            columns.now[owner] += update(next.len());
        }
        for c in (0..cols.parts).filter(|c| urgent.is_none_or(|(owner, _)| owner != *c)) {
            let left = cols.count_from(c, e);
            if left > 0 {
                columns.advance(c, number, PanelAct::Update, update(left));
            }
        }
        if let Some((owner, next)) = urgent {
            columns.pass_panel(next);
            columns.advance(owner, number, PanelAct::Update, update(cols.count_from(owner, e) - next.len()));
        }
    }
    EliminationLogs(columns.logs)
}

/// The columns of the grid, and their progress.
struct GridColumns<'a> {
    costs: &'a LuCosts<'a>,
    layout: &'a GridLayout,
    /// Time of each, after all its steps so far.
    now: Vec<Time>,
    /// Predicted log of each.
    logs: Vec<EliminationLog>,
}

impl GridColumns<'_> {
    /// Lets a column do a step for a panel.
    fn advance(&mut self, c: usize, panel: usize, act: PanelAct, time: Time) {
        self.now[c] += time;
        self.logs[c].finish_at(panel, act, self.now[c]);
    }

    /// Lets the column that has the panel eliminate it, and pass it on to those that have columns left.
    fn pass_panel(&mut self, panel: &Panel) {
        let (costs, GridLayout { rows, cols, .. }) = (self.costs, self.layout);
        let (k, w, owner) = (panel.start, panel.len(), cols.owner(panel.start));
        self.advance(owner, panel.number, PanelAct::Pivot, costs.panel(RowCounts::new(rows, k), w));
        let most = rows.most_from(k);
        let line: Vec<usize> = cols.parts_after(owner, panel.end).collect();
        pass_on(costs, (most + 1) * w, &line, &mut self.now);
        for c in line {
            self.advance(c, panel.number, PanelAct::Multipliers, Time::ZERO);
        }
    }
}

/// Lets the first of a line pass `values` numbers on along it (`collectives::broadcast_chain`).
fn pass_on(costs: &LuCosts, values: usize, line: &[usize], now: &mut [Time]) {
    if line.len() == 1 {
        return;
    }
    let params = costs.params;
    let piece = BroadcastPlan::chain::<f64>(params, line.len(), values).piece.unwrap_or(values).min(values);
    let m = params.words(piece * size_of::<f64>());
    let more = values.div_ceil(piece) as i64 - 1;
    let (send, recv) = (params.send_overhead(m), params.recv_overhead(m));
    let stream = params.stream(m);
    let gap = stream + params.g;
    let single = if costs.ports == Ports::Single { 2 * stream } else { Time::ZERO };
    // Times at which the one before has sent the first piece, and the last one.
    let mut first = now[line[0]] + send;
    let mut last = first + more * gap.max(send);
    now[line[0]] = last;
    let transit = stream + params.L;
    for (place, c) in line.iter().enumerate().skip(1) {
        let is_passed_on = place + 1 < line.len();
        let first_received = now[*c].max(first + transit) + recv;
        let all = match is_passed_on {
            // All pieces have arrived, and only have to be received and sent on.
            true if now[*c] > last + transit => first_received + more * gap.max(send + recv),
            false if now[*c] > last + transit => first_received + more * recv.max(params.g),
            true => (first_received + more * gap.max(send + recv).max(single)).max(last + transit + recv),
            false => (first_received + more * gap.max(recv)).max(last + transit + recv),
        };
        first = first_received + send;
        last = all + send;
        now[*c] = if is_passed_on { last } else { all };
    }
}
