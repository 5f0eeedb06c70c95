//! The remap merged into the computation (LogP, section 4.1.5).
//!
//! An FFT of size m is FFTs of size c and FFTs of size P. In the cyclic order those of size P come last, and
//! the a-th of these c rows has the a-th point for every processor. So a row's points leave as soon as it is
//! done, and while the gap runs the processor computes the next rows; and when the a-th points of all have
//! come, it does phase III for them. In the blocked order the rows come first, and all is the other way round.
//!
//! A processor that polls the network between butterflies would compute in a gap as many as fit. A kernel of
//! rustfft cannot be interrupted: it runs when its row begins, and if work is charged the row is paid in
//! parts, gap by gap, and counts as done when all is paid. If work is measured, a row is one piece; on a
//! modern host that is short against the gap.

use loggp::{Proc, Time};

use super::kernels::{Kernels, Memory, Point};
use super::layout::Layout;
use super::phase::{Phase, Stopwatch};
use super::remap::{Addressed, POINT, load};

/// What a butterfly costs and what a point's load and store do, if work is charged.
pub type Charges = Option<(Time, Time)>;

/// All that a processor does.
pub fn overlapped(
    p: &mut Proc,
    watch: &mut Stopwatch,
    kernels: &Kernels,
    memory: &mut Memory,
    charges: Charges,
) {
    let shape = &kernels.shape;
    let (id, P, c) = (p.id(), shape.P, shape.c());
    let columns = shape.butterflies(c);
    if shape.layout == Layout::Cyclic {
        p.work("butterfly", columns, || split(kernels, memory));
    }
    let mut work = Work::new(kernels, id, memory, charges);
    work.complete(p, 0);
    watch.lap(p, Phase::First);

    let params = p.params();
    let words = params.words(size_of::<Point>());
    // In a gap a processor sends, receives, and loads and stores a point; what is left is idle.
    let point = charges.map_or(Time::ZERO, |(_, point)| point);
    let idle = (params.g + params.stream(words) - 2 * params.o - point).max(Time::ZERO);
    let mut left = shape.m() - c; // messages to send
    for a in 0..c {
        work.complete(p, a);
        for step in 0..P {
            let to = (id + step) % P;
            let point = load(p, work.before, a * P + to);
            if to == id {
                work.take(id, a, point);
                continue;
            }
            work.fill(p, left as i64 * idle);
            let message = Addressed { i: a as u32, point };
            p.send_receiving(to, POINT, message, POINT, |_, from, Addressed { i, point }| {
                work.take(from, i as usize, point);
            });
            left -= 1;
        }
    }
    while work.missing > 0 {
        let (from, Addressed { i, point }) = p.recv(POINT);
        work.take(from, i as usize, point);
    }
    watch.lap(p, Phase::Remap);

    work.pay(p, u64::MAX);
    std::mem::swap(&mut memory.points, &mut memory.other);
    if shape.layout == Layout::Blocked {
        p.work("butterfly", columns, || join(kernels, memory));
    }
}

/// FFTs of size c before the rows: row a then has the points a + cb of the FFT of size m, for all b.
fn split(kernels: &Kernels, memory: &mut Memory) {
    let (P, c) = (kernels.shape.P, kernels.shape.c());
    transpose(&memory.points, P, &mut memory.other);
    kernels.parts(&mut memory.other, &mut memory.scratch);
    // w_m^(va) = w_n^(Pva)
    memory.other.chunks_mut(c).enumerate().for_each(|(v, column)| kernels.twiddle(column, P * v));
    transpose(&memory.other, c, &mut memory.points);
}

/// FFTs of size c after the rows, whose b-th points are every P-th of the FFT of size m, from b on.
fn join(kernels: &Kernels, memory: &mut Memory) {
    let (P, c) = (kernels.shape.P, kernels.shape.c());
    transpose(&memory.points, P, &mut memory.other);
    memory.other.chunks_mut(c).enumerate().for_each(|(e, column)| kernels.twiddle(column, P * e));
    kernels.parts(&mut memory.other, &mut memory.scratch);
    transpose(&memory.other, c, &mut memory.points);
}

/// The transpose of a matrix with rows of so many points.
fn transpose(points: &[Point], row: usize, into: &mut [Point]) {
    for (i, column) in into.chunks_mut(points.len() / row).enumerate() {
        let places = points[i..].iter().step_by(row);
        column.iter_mut().zip(places).for_each(|(to, from)| *to = *from);
    }
}

/// The rows of a processor, before and after the remap, and how far it is with them.
struct Work<'a> {
    /// What computes them.
    kernels: &'a Kernels,
    /// This processor's number.
    id: usize,
    /// What a butterfly costs, if work is charged.
    butterfly: Option<Time>,
    /// The rows of phase I.
    before: &'a mut [Point],
    /// The rows of phase III.
    after: &'a mut [Point],
    /// Room for the kernels.
    scratch: &'a mut [Point],
    /// How many points of each row of phase III are still to come.
    open: Vec<usize>,
    /// How many points are still to come.
    missing: usize,
    /// The rows of phase III that have all their points, in that order.
    ready: Vec<usize>,
    /// How many rows of phase I were begun. They come before those of phase III.
    first: usize,
    /// How many rows of phase III were begun.
    third: usize,
    /// How many butterflies of the row that was begun last are not paid.
    owed: u64,
}

impl<'a> Work<'a> {
    fn new(kernels: &'a Kernels, id: usize, memory: &'a mut Memory, charges: Charges) -> Work<'a> {
        let shape = kernels.shape;
        Work {
            kernels,
            id,
            butterfly: charges.map(|(butterfly, _)| butterfly),
            before: &mut memory.points,
            after: &mut memory.other,
            scratch: &mut memory.scratch,
            open: vec![shape.P; shape.c()],
            missing: shape.m(),
            ready: Vec::with_capacity(shape.c()),
            first: 0,
            third: 0,
            owed: 0,
        }
    }

    /// The butterflies of a row.
    fn row(&self) -> u64 {
        let P = self.kernels.shape.P;
        P as u64 / 2 * u64::from(P.ilog2())
    }

    /// The butterflies that are not paid, of all rows.
    fn left(&self) -> u64 {
        let rows = 2 * self.kernels.shape.c() - self.first - self.third;
        rows as u64 * self.row() + self.owed
    }

    /// Takes a point that came.
    fn take(&mut self, from: usize, a: usize, point: Point) {
        self.after[a * self.kernels.shape.P + from] = point;
        self.open[a] -= 1;
        self.missing -= 1;
        if self.open[a] == 0 {
            self.ready.push(a);
        }
    }

    /// Pays for the rows of phase I up to this one.
    fn complete(&mut self, p: &mut Proc, a: usize) {
        while self.first <= a || (self.first == a + 1 && self.third == 0 && self.owed > 0) {
            let rest = if self.owed > 0 { self.owed } else { self.row() };
            self.pay(p, rest);
        }
    }

    /// Computes while the gap runs. `idle` is how long all gaps that are left will be idle. If the work that is
    /// left does not fit into those, a processor had better never be idle, and a butterfly that delays the next
    /// message costs nothing. If it does, messages must not be late, and there must be room for a reception.
    fn fill(&mut self, p: &mut Proc, idle: Time) {
        let gap = p.next_send() - p.now();
        if gap <= Time::ZERO {
            return;
        }
        match self.butterfly {
            None => {
                while p.now() < p.next_send() && self.begin() {
                    self.pay(p, self.owed);
                }
            }
            Some(Time::ZERO) => self.pay(p, u64::MAX),
            Some(butterfly) => {
                let cost = butterfly.as_ps() as u64;
                let fit = |time: Time| time.max(Time::ZERO).as_ps() as u64;
                self.pay(
                    p,
                    match self.left() as i64 * butterfly > idle {
                        true => fit(gap).div_ceil(cost),
                        false => fit(gap - p.params().o) / cost,
                    },
                );
            }
        }
    }

    /// Pays so many butterflies, or all of the rows that can be done.
    fn pay(&mut self, p: &mut Proc, mut butterflies: u64) {
        while butterflies > 0 && self.begin() {
            let paid = butterflies.min(self.owed);
            let fresh = self.owed == self.row();
            p.work("butterfly", paid, || {
                if fresh {
                    self.compute();
                }
            });
            self.owed -= paid;
            butterflies -= paid;
        }
    }

    /// Whether there is a row to pay for; begins the next one if the last is paid.
    fn begin(&mut self) -> bool {
        if self.owed == 0 {
            if self.first < self.kernels.shape.c() {
                self.first += 1;
            } else if self.third < self.ready.len() {
                self.third += 1;
            } else {
                return false;
            }
            self.owed = self.row();
        }
        true
    }

    /// Computes the row that was begun last.
    fn compute(&mut self) {
        let (shape, in_third) = (self.kernels.shape, self.third > 0);
        let a = if in_third { self.ready[self.third - 1] } else { self.first - 1 };
        let rows = if in_third { &mut *self.after } else { &mut *self.before };
        let row = &mut rows[a * shape.P..][..shape.P];
        self.kernels.rows(row, self.scratch);
        match (shape.layout, in_third) {
            // The point b of the row is k = a + cb, and goes to processor b: w_n^(qk).
            (Layout::Cyclic, false) => {
                let roots = (0..shape.P).map(|b| self.kernels.root(self.id * (a + shape.c() * b)));
                row.iter_mut().zip(roots).for_each(|(point, root)| *point *= root);
            }
            (Layout::Blocked, false) => self.kernels.twiddle(row, self.id * shape.c() + a),
            (_, true) => (),
        }
    }
}
