//! How long the elimination should take, from the machine's parameters, the layout, and what a flop costs.
//!
//! The paper counts 2(n-k)^2/P for computing and, by layout, 2(n-k)g + L, (n-k)g + L or 2(n-k)g/sqrt(P) + L for
//! communication in step k (LogP, section 4.2). Here every term is kept: the search for the pivot and its reduction,
//! the rows that change places, the scaling, and that a step of one grid column waits for that of another only where it
//! needs its multipliers. So it is a recurrence over panels and grid columns; docs/reference/lu.md says which of its terms are the
//! paper's.

use std::ops::Range;

use loggp::collectives::Course;
use loggp::{LongMessages, Params, Ports, Time};

use super::kernels::{solve_flops, update_flops};
use super::layout::{Cut, Layout};
use super::panel;
use super::record::{Act, Record, Records};
use super::transfer::per_message;
use super::{Lu, Way};

/// The machine, and what its operations take.
struct Machine<'a> {
    params: &'a Params,
    ports: Ports,
    /// What a flop costs, in picoseconds.
    flop: f64,
}

/// The rows that are left.
#[derive(Clone, Copy)]
struct Rows {
    /// How many there are.
    all: usize,
    /// How many the processor has that has the first of them.
    own: usize,
    /// How many the processor has that has most.
    most: usize,
    /// How many processors have some.
    team: usize,
}

impl Rows {
    /// Those from row `k` on.
    fn from(cut: &Cut, k: usize) -> Rows {
        let (own, most, team) = (cut.from(cut.owner(k), k), cut.most_from(k), cut.parts_from(k));
        Rows { all: cut.n() - k, own, most, team }
    }
}

/// So many units of this cost.
fn cost(units: u64, each: f64) -> Time {
    Time::from_ps((units as f64 * each) as i64)
}

impl Machine<'_> {
    /// A reduction to all of numbers of so many bytes (`collectives::all_reduce`), among so many processors. Those that are
    /// no power of two pair up before, and one of each pair gets the result after.
    fn all_reduce(&self, P: usize, bytes: usize) -> Time {
        let Params { g, cycle, .. } = *self.params;
        let k = self.params.words(bytes);
        let (way, stream) = (self.way(k), self.params.stream(k));
        let R = i64::from(P.ilog2());
        let steps = match R {
            0 => Time::ZERO,
            _ => (R - 1) * (stream + (way - stream + cycle).max(g)) + way + cycle,
        };
        if P.is_power_of_two() { steps } else { 2 * way + cycle + steps }
    }

    /// L + 2o + (k-1)G.
    fn way(&self, k: usize) -> Time {
        let params = self.params;
        params.send_overhead(k) + params.L + params.stream(k) + params.recv_overhead(k)
    }

    /// How long the message that comes waits for the one that goes, if there is a single port and that takes longer
    /// than L.
    fn port(&self, k: usize) -> Time {
        match self.ports {
            Ports::Single => (self.params.stream(k) - self.params.L).max(Time::ZERO),
            _ => Time::ZERO,
        }
    }

    /// Two processors give each other so many numbers, in a message or word by word.
    fn swap(&self, values: usize) -> Time {
        if values == 0 {
            return Time::ZERO;
        }
        let each = per_message(self.params, values).min(values);
        let k = self.params.words(each * size_of::<f64>());
        let messages = values.div_ceil(each) as i64;
        let busy = self.params.send_overhead(k) + self.params.recv_overhead(k);
        let stream = self.params.stream(k);
        (messages - 1) * (stream + self.params.g).max(busy) + self.way(k) + self.port(k)
    }

    /// Every processor gets the numbers of all (`collectives::all_gather_vector`), so many of each, of P.
    fn all_gather(&self, P: usize, values: usize) -> Time {
        if P == 1 || values == 0 {
            return Time::ZERO;
        }
        let params = self.params;
        let others = P as i64 - 1;
        let word = per_message(params, values).min(values);
        let k = params.words(word * size_of::<f64>());
        let busy = (params.send_overhead(k) + params.recv_overhead(k)).max(params.stream(k) + params.g);
        let messages = others * values.div_ceil(word) as i64;
        let direct = (messages - 1) * busy + self.way(k);
        if params.long == LongMessages::LogP && params.words(values * size_of::<f64>()) > 1 {
            return direct;
        }
        let step = |distance: usize| {
            let k = k * distance.min(P - distance);
            let last = 2 * distance >= P;
            (self.way(k) + self.port(k)).max(if last { Time::ZERO } else { params.stream(k) + params.g })
        };
        let doubled: Time = (0..P.next_power_of_two().ilog2()).map(|bit| step(1 << bit)).sum();
        doubled.min(direct)
    }

    /// A panel of w columns.
    fn panel(&self, rows: Rows, w: usize) -> Time {
        let computed = cost(panel::flops(rows.most, w, w.min(rows.most)), self.flop);
        if rows.team == 1 {
            return computed;
        }
        let candidate = (w + 1) * size_of::<f64>(); // a row, and its number
        let row = self.way(self.params.words(w * size_of::<f64>()));
        computed + w as i64 * (self.all_reduce(rows.team, candidate) + elsewhere(rows, row))
    }

    /// The rows of a panel take their places, in so many columns.
    fn rows_swap(&self, w: usize, columns: usize, rows: Rows) -> Time {
        let (each, partners) = (w.div_ceil(rows.team), (rows.team - 1).min(w) as i64);
        match w {
            1 => elsewhere(rows, self.swap(columns)),
            _ => partners * self.swap(each * columns),
        }
    }
}

/// The time of something that happens unless the pivot is a row of the processor that has the first one: any is as likely.
fn elsewhere(rows: Rows, time: Time) -> Time {
    let part = i128::from(time.as_ps()) * (rows.all - rows.own) as i128 / rows.all.max(1) as i128;
    Time::from_ps(part as i64)
}

/// What the processors should note: one for each grid column, whose rows go at the pace of the one with most of them.
pub fn records(plan: &Lu, flop: f64) -> Records {
    let machine = Machine { params: &plan.case.params, ports: plan.case.ports, flop };
    match plan.way {
        Way::Replicated => Records(vec![replicated(&machine, plan.layout.cols)]),
        _ => grid(&machine, &plan.layout, plan.way == Way::Lookahead),
    }
}

/// Everyone waits for everyone, in every step.
fn replicated(machine: &Machine, cut: Cut) -> Record {
    let (mut record, mut now) = (Record::default(), Time::ZERO);
    let (n, P, piece) = (cut.n(), cut.parts, cut.piece);
    for (number, k) in (0..n).step_by(piece).enumerate() {
        let (w, e) = (piece.min(n - k), (k + piece).min(n));
        let mut act = |act, time| {
            now += time;
            record.ended(number, act, now);
        };
        // Everyone has about as many of the rows.
        let rows = Rows { all: P, own: 1, most: cut.most_from(k).min(n - k), team: P };
        act(Act::Pivot, machine.panel(rows, w));
        let share = cut.most_from(e);
        act(Act::Multipliers, machine.all_gather(P, share * w));
        // Both rows go a way each, unless they are of one block row.
        let ways = if w == 1 { 1 } else { (P - 1).min(2 * w) as i64 };
        let moved = if w == 1 { share } else { share * (2 * w).div_ceil(P) };
        act(
            Act::Swap,
            match (P, w) {
                (1, _) => Time::ZERO,
                (2, 1) => elsewhere(rows, machine.swap(2 * moved)),
                (_, 1) => elsewhere(rows, 2 * machine.swap(moved)),
                _ => ways * machine.swap(moved),
            },
        );
        act(Act::Solve, cost(solve_flops(w, share), machine.flop));
        act(Act::PivotRows, machine.all_gather(P, share * w));
        // Of m rows and columns of blocks, m = qP + r, one processor has Pq^2 + 2qr + r blocks, and none has more.
        let m = (n - e).div_ceil(piece);
        let (q, r) = (m / P, m % P);
        let most = (P * q * q + 2 * q * r + r) * piece * piece;
        act(Act::Update, cost(2 * (w * most.min((n - e) * (n - e))) as u64, machine.flop));
    }
    record
}

/// The grid's columns, each of which goes on as soon as it has the multipliers.
fn grid(machine: &Machine, layout: &Layout, lookahead: bool) -> Records {
    let Layout { rows, cols, .. } = layout;
    let panels: Vec<_> = layout.panels().collect();
    let mut columns = Columns { machine, layout, now: vec![Time::ZERO; cols.parts], records: Vec::new() };
    columns.records = vec![Record::default(); cols.parts];
    for (number, panel) in panels.iter().enumerate() {
        let (k, e, w) = (panel.start, panel.end, panel.len());
        if !lookahead || number == 0 {
            columns.pass(number, panel);
        }
        // Those who still have rows, and the one whose the pivot rows are.
        let down = rows.parts_from(e) + usize::from(rows.from(rows.owner(k), e) == 0);
        let update = |columns| cost(update_flops(rows.most_from(e), w, columns), machine.flop);
        for c in (0..cols.parts).filter(|c| cols.from(*c, e) > 0) {
            let left = cols.from(c, e);
            columns.does(c, number, Act::Swap, machine.rows_swap(w, left, Rows::from(rows, k)));
            columns.does(c, number, Act::Solve, cost(solve_flops(w, left), machine.flop));
            let course = Course::best::<f64>(machine.params, down, w * left);
            columns.does(c, number, Act::PivotRows, course.time);
        }
        let next = panels.get(number + 1).filter(|_| lookahead);
        let urgent = next.map(|next| (cols.owner(next.start), next));
        if let Some((owner, next)) = urgent {
            columns.now[owner] += update(next.len());
        }
        for c in (0..cols.parts).filter(|c| urgent.is_none_or(|(owner, _)| owner != *c)) {
            let left = cols.from(c, e);
            if left > 0 {
                columns.does(c, number, Act::Update, update(left));
            }
        }
        if let Some((owner, next)) = urgent {
            columns.pass(number + 1, next);
            columns.does(owner, number, Act::Update, update(cols.from(owner, e) - next.len()));
        }
    }
    Records(columns.records)
}

/// The columns of the grid.
struct Columns<'a> {
    machine: &'a Machine<'a>,
    layout: &'a Layout,
    /// When each has done what it has done so far.
    now: Vec<Time>,
    /// What each should note.
    records: Vec<Record>,
}

impl Columns<'_> {
    /// A column does something for a panel.
    fn does(&mut self, c: usize, panel: usize, act: Act, time: Time) {
        self.now[c] += time;
        self.records[c].ended(panel, act, self.now[c]);
    }

    /// The column whose panel it is eliminates it, and passes it on to those who have columns left.
    fn pass(&mut self, number: usize, panel: &Range<usize>) {
        let (machine, Layout { rows, cols, .. }) = (self.machine, self.layout);
        let (k, w, owner) = (panel.start, panel.len(), cols.owner(panel.start));
        self.does(owner, number, Act::Pivot, machine.panel(Rows::from(rows, k), w));
        let most = rows.most_from(k);
        let has_columns = |c: &usize| *c == owner || cols.from(*c, panel.end) > 0;
        let line: Vec<usize> = (owner..cols.parts).chain(0..owner).filter(has_columns).collect();
        pass_on(machine, (most + 1) * w, &line, &mut self.now);
        for c in line {
            self.does(c, number, Act::Multipliers, Time::ZERO);
        }
    }
}

/// The first of a line passes so many numbers on along it (`collectives::broadcast_chain`).
fn pass_on(machine: &Machine, values: usize, line: &[usize], now: &mut [Time]) {
    if line.len() == 1 {
        return;
    }
    let params = machine.params;
    let piece = Course::chain::<f64>(params, line.len(), values).piece.unwrap_or(values).min(values);
    let m = params.words(piece * size_of::<f64>());
    let more = values.div_ceil(piece) as i64 - 1;
    let (send, recv) = (params.send_overhead(m), params.recv_overhead(m));
    let stream = params.stream(m);
    let gap = stream + params.g;
    let single = if machine.ports == Ports::Single { 2 * stream } else { Time::ZERO };
    // When the one before has sent the first piece, and the last one.
    let mut first = now[line[0]] + send;
    let mut last = first + more * gap.max(send);
    now[line[0]] = last;
    let way = stream + params.L;
    for (place, c) in line.iter().enumerate().skip(1) {
        let passes_on = place + 1 < line.len();
        let came = now[*c].max(first + way) + recv;
        let all = match passes_on {
            // It all lies there: what remains is to take it, and to send it on.
            true if now[*c] > last + way => came + more * gap.max(send + recv),
            false if now[*c] > last + way => came + more * recv.max(params.g),
            true => (came + more * gap.max(send + recv).max(single)).max(last + way + recv),
            false => (came + more * gap.max(recv)).max(last + way + recv),
        };
        first = came + send;
        last = all + send;
        now[*c] = if passes_on { last } else { all };
    }
}
