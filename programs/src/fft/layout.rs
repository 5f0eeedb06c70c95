//! Layouts of the FFT: the places of its points.
//!
//! There are n points and P processors; each has m = n/P points, and c = m/P = n/P^2 of them for each
//! processor. The transform is cut in two (Cooley and Tukey): FFTs of size m, and FFTs of size P.
//!
//! In the **cyclic** order, LogP's, processor q begins with the points x[q + Pj], and
//!
//! > X[k + m k'] = sum over q of w_P^(q k') (w_n^(q k) sum over j of w_m^(j k) x[q + P j])
//!
//! - The inner sum is an FFT of size m over a processor's own points: the first log m columns of the
//!   butterfly with cyclic rows. The factor w_n^(q k) is common to the twiddle factors of its last log P
//!   columns.
//! - The remap goes to the blocked layout: processor s gets the c values k from sc on, of every q.
//! - The outer sum is c FFTs of size P, the last log P columns. Processor s ends with X[k + m k'] for its k.
//!
//! The **blocked** order, LogGP's, is the same graph from its outputs to its inputs: processor s begins with
//! x[a + m b] for its c values a, does c FFTs of size P, and remaps. Processor q ends with an FFT of size m
//! and the points X[q + P k], which are cyclic.
//!
//! LogP's rows are bit-reversed on one side: its row of a point is the place here with the bits of k, or of
//! k', reversed. So processors have other numbers there, but compute and send the same.

/// The order of the hybrid layout's two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Cyclic first, then blocked (LogP, section 4.1.1).
    Cyclic,
    /// Blocked first, then cyclic (LogGP, section 3).
    Blocked,
}

/// The sizes of a transform, and the places of its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Number of points.
    pub n: usize,
    /// Number of processors.
    pub P: usize,
    /// Layout before the remap.
    pub layout: Layout,
}

impl Shape {
    /// Creates a shape. With one processor both layouts are the same.
    pub(super) fn new(n: usize, P: usize, layout: Layout) -> Shape {
        Shape { n, P, layout: if P == 1 { Layout::Cyclic } else { layout } }
    }

    /// Returns the number of points of a processor.
    pub(super) fn m(&self) -> usize {
        self.n / self.P
    }

    /// Returns the number of points that a processor has for each.
    pub(super) fn c(&self) -> usize {
        self.m() / self.P
    }

    /// Returns the index in the input of point j of a processor, before phase I.
    pub(super) fn input(&self, id: usize, j: usize) -> usize {
        match self.layout {
            Layout::Cyclic => id + self.P * j,
            Layout::Blocked => id * self.c() + j / self.P + self.m() * (j % self.P),
        }
    }

    /// Returns the index in the output of point j of a processor, after phase III.
    pub(super) fn output(&self, id: usize, j: usize) -> usize {
        match self.layout {
            Layout::Cyclic => id * self.c() + j / self.P + self.m() * (j % self.P),
            Layout::Blocked => id + self.P * j,
        }
    }

    /// Returns the place after phase I of the i-th point for processor `to`. In the cyclic order these lie
    /// together: "the blocks can directly be sent" (LogGP, section 2).
    pub(super) fn leaving_place(&self, to: usize, i: usize) -> usize {
        match self.layout {
            Layout::Cyclic => to * self.c() + i,
            Layout::Blocked => i * self.P + to,
        }
    }

    /// Returns the place for phase III of the i-th point from processor `from`. In the cyclic order these "do
    /// not go into a contiguous location".
    pub(super) fn entering_place(&self, from: usize, i: usize) -> usize {
        match self.layout {
            Layout::Cyclic => i * self.P + from,
            Layout::Blocked => from * self.c() + i,
        }
    }

    /// Returns the number of butterflies of the FFTs of this size over a processor's points.
    pub(super) fn butterflies(&self, size: usize) -> u64 {
        self.m() as u64 * u64::from(size.ilog2()) / 2
    }

    /// Returns the sizes of the FFTs in phases I and III. With one layout for the whole butterfly they are
    /// the same, but that of size P is computed a column at a time.
    pub(super) fn sizes(&self) -> [usize; 2] {
        match self.layout {
            Layout::Cyclic => [self.m(), self.P],
            Layout::Blocked => [self.P, self.m()],
        }
    }
}
