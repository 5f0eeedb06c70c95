//! The remap merged into the computation (LogP, section 4.1.5).
//!
//! An FFT of size m consists of FFTs of size c and FFTs of size P. In the cyclic order those of size P come
//! last, and the a-th of these c rows has the a-th point for every processor. So a row's points leave as soon
//! as it is done, and while the gap runs the processor computes the next rows. When the a-th points of all
//! have arrived, it does phase III for them. In the blocked order the rows come first, and all is the other
//! way round.
//!
//! A processor that polls the network between butterflies would compute in a gap as many as fit. A kernel of
//! rustfft cannot be interrupted: it runs when its row begins. If work is charged, the row is paid in parts,
//! gap by gap, and is done when all is paid. If work is measured, a row is one piece, which on a modern host
//! is short against the gap.

use loggp::{Proc, Time};

use super::FftPart;
use super::kernels::{FftMemory, FftPoint, Kernels};
use super::layout::Layout;
use super::phase::FftPhase;
use super::remap::{AddressedPoint, POINT, load};

/// Costs of a butterfly, and of loading and storing a point, if work is charged.
pub(super) type Charges = Option<(Time, Time)>;

/// Runs the overlapped transform on one processor.
pub(super) fn transform_overlapped(p: &mut Proc, part: &mut FftPart, charges: Charges) {
    let FftPart { kernels, memory, watch } = part;
    let shape = &kernels.shape;
    let (id, P, c) = (p.id(), shape.P, shape.c());
    let columns = shape.butterflies(c);
    if shape.layout == Layout::Cyclic {
        p.work("butterfly", columns, || split(kernels, memory));
    }
    let mut work = RowWork::new(kernels, id, memory, charges);
    work.complete(p, 0);
    watch.lap(p, FftPhase::First);

    let params = p.params();
    let words = params.words(size_of::<FftPoint>());
    // In a gap a processor sends, receives, and loads and stores a point. The rest is idle.
    let point = charges.map_or(Time::ZERO, |(_, point)| point);
    let idle = (params.g + params.stream(words) - 2 * params.o - point).max(Time::ZERO);
    let mut unsent = shape.m() - c;
    for a in 0..c {
        work.complete(p, a);
        for step in 0..P {
            let to = (id + step) % P;
            let point = load(p, work.before, a * P + to);
            if to == id {
                work.store(id, a, point);
                continue;
            }
            work.fill_gap(p, unsent as i64 * idle);
            let message = AddressedPoint { i: a as u32, point };
            p.send_receiving(
                to,
                POINT,
                message,
                POINT.with_sender(),
                |_, (from, AddressedPoint { i, point })| {
                    work.store(from, i as usize, point);
                },
            );
            unsent -= 1;
        }
    }
    while work.missing > 0 {
        let (from, AddressedPoint { i, point }) = p.recv_with_sender(POINT);
        work.store(from, i as usize, point);
    }
    watch.lap(p, FftPhase::Remap);

    work.pay(p, u64::MAX);
    std::mem::swap(&mut memory.points, &mut memory.other);
    if shape.layout == Layout::Blocked {
        p.work("butterfly", columns, || join(kernels, memory));
    }
}

/// Computes the FFTs of size c before the rows: row a then has the points a + cb of the FFT of size m, for
/// all b.
fn split(kernels: &Kernels, memory: &mut FftMemory) {
    let (P, c) = (kernels.shape.P, kernels.shape.c());
    transpose(&memory.points, P, &mut memory.other);
    kernels.part.process_with_scratch(&mut memory.other, &mut memory.scratch);
    // w_m^(va) = w_n^(Pva)
    memory.other.chunks_mut(c).enumerate().for_each(|(v, column)| kernels.twiddle(column, P * v));
    transpose(&memory.other, c, &mut memory.points);
}

/// Computes the FFTs of size c after the rows. Their b-th points are every P-th of the FFT of size m, from b
/// on.
fn join(kernels: &Kernels, memory: &mut FftMemory) {
    let (P, c) = (kernels.shape.P, kernels.shape.c());
    transpose(&memory.points, P, &mut memory.other);
    memory.other.chunks_mut(c).enumerate().for_each(|(e, column)| kernels.twiddle(column, P * e));
    kernels.part.process_with_scratch(&mut memory.other, &mut memory.scratch);
    transpose(&memory.other, c, &mut memory.points);
}

/// Transposes a matrix with rows of `row` points.
fn transpose(points: &[FftPoint], row: usize, into: &mut [FftPoint]) {
    for (i, column) in into.chunks_mut(points.len() / row).enumerate() {
        let places = points[i..].iter().step_by(row);
        column.iter_mut().zip(places).for_each(|(to, from)| *to = *from);
    }
}

/// The rows of a processor before and after the remap, and its progress.
struct RowWork<'a> {
    kernels: &'a Kernels,
    id: usize,
    /// Cost of a butterfly, if work is charged.
    butterfly: Option<Time>,
    /// Rows of phase I.
    before: &'a mut [FftPoint],
    /// Rows of phase III.
    after: &'a mut [FftPoint],
    scratch: &'a mut [FftPoint],
    /// Number of missing points of each row of phase III.
    missing_of_row: Vec<usize>,
    /// Number of all missing points.
    missing: usize,
    /// Rows of phase III that have all their points, in the order of their completion.
    ready: Vec<usize>,
    /// Number of rows of phase I that have begun. They come before those of phase III.
    first_begun: usize,
    /// Number of rows of phase III that have begun.
    third_begun: usize,
    /// Number of unpaid butterflies of the row that began last.
    owed: u64,
}

impl<'a> RowWork<'a> {
    fn new(kernels: &'a Kernels, id: usize, memory: &'a mut FftMemory, charges: Charges) -> RowWork<'a> {
        let shape = kernels.shape;
        RowWork {
            kernels,
            id,
            butterfly: charges.map(|(butterfly, _)| butterfly),
            before: &mut memory.points,
            after: &mut memory.other,
            scratch: &mut memory.scratch,
            missing_of_row: vec![shape.P; shape.c()],
            missing: shape.m(),
            ready: Vec::with_capacity(shape.c()),
            first_begun: 0,
            third_begun: 0,
            owed: 0,
        }
    }

    /// Returns the number of butterflies of a row.
    fn row_butterflies(&self) -> u64 {
        let P = self.kernels.shape.P;
        P as u64 / 2 * u64::from(P.ilog2())
    }

    /// Returns the number of unpaid butterflies of all rows.
    fn butterflies_left(&self) -> u64 {
        let rows = 2 * self.kernels.shape.c() - self.first_begun - self.third_begun;
        rows as u64 * self.row_butterflies() + self.owed
    }

    /// Stores a received point.
    fn store(&mut self, from: usize, a: usize, point: FftPoint) {
        self.after[a * self.kernels.shape.P + from] = point;
        self.missing_of_row[a] -= 1;
        self.missing -= 1;
        if self.missing_of_row[a] == 0 {
            self.ready.push(a);
        }
    }

    /// Pays for the rows of phase I up to row a.
    fn complete(&mut self, p: &mut Proc, a: usize) {
        while self.first_begun <= a || (self.first_begun == a + 1 && self.third_begun == 0 && self.owed > 0) {
            let rest = if self.owed > 0 { self.owed } else { self.row_butterflies() };
            self.pay(p, rest);
        }
    }

    /// Computes while the gap runs. `idle` is the idle time in all remaining gaps. If the remaining work does
    /// not fit into it, a processor should never be idle, and a butterfly that delays the next message costs
    /// nothing. Otherwise messages must not be late, and there must be room for a reception.
    fn fill_gap(&mut self, p: &mut Proc, idle: Time) {
        let gap = p.next_send() - p.now();
        if gap <= Time::ZERO {
            return;
        }
        match self.butterfly {
            None => {
                while p.now() < p.next_send() && self.begin_row() {
                    self.pay(p, self.owed);
                }
            }
            Some(Time::ZERO) => self.pay(p, u64::MAX),
            Some(butterfly) => {
                let cost = butterfly.as_ps() as u64;
                let fit = |time: Time| time.max(Time::ZERO).as_ps() as u64;
                self.pay(
                    p,
                    match self.butterflies_left() as i64 * butterfly > idle {
                        true => fit(gap).div_ceil(cost),
                        false => fit(gap - p.params().o) / cost,
                    },
                );
            }
        }
    }

    /// Pays so many butterflies, or fewer if no row is ready.
    fn pay(&mut self, p: &mut Proc, mut butterflies: u64) {
        while butterflies > 0 && self.begin_row() {
            let paid = butterflies.min(self.owed);
            let fresh = self.owed == self.row_butterflies();
            p.work("butterfly", paid, || {
                if fresh {
                    self.compute_row();
                }
            });
            self.owed -= paid;
            butterflies -= paid;
        }
    }

    /// Begins the next row if the last one is paid. Returns whether there is a row to pay for.
    fn begin_row(&mut self) -> bool {
        if self.owed == 0 {
            if self.first_begun < self.kernels.shape.c() {
                self.first_begun += 1;
            } else if self.third_begun < self.ready.len() {
                self.third_begun += 1;
            } else {
                return false;
            }
            self.owed = self.row_butterflies();
        }
        true
    }

    /// Computes the row that began last.
    fn compute_row(&mut self) {
        let (shape, in_third) = (self.kernels.shape, self.third_begun > 0);
        let a = if in_third { self.ready[self.third_begun - 1] } else { self.first_begun - 1 };
        let rows = if in_third { &mut *self.after } else { &mut *self.before };
        let row = &mut rows[a * shape.P..][..shape.P];
        self.kernels.across.process_with_scratch(row, self.scratch);
        match (shape.layout, in_third) {
            // Point b of the row is k = a + cb and goes to processor b: its factor is w_n^(qk).
            (Layout::Cyclic, false) => {
                let roots = (0..shape.P).map(|b| self.kernels.root(self.id * (a + shape.c() * b)));
                row.iter_mut().zip(roots).for_each(|(point, root)| *point *= root);
            }
            (Layout::Blocked, false) => self.kernels.twiddle(row, self.id * shape.c() + a),
            (_, true) => (),
        }
    }
}
