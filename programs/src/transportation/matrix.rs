//! Communication matrices, and what the paper says of one by its names: r_i, c_j, r, c, t, f, g, h and its kind.

use std::fmt;

/// Who has how many elements for whom: processor i has `at(i, j)` for processor j (section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The number of processors.
    P: usize,
    /// The entries, row by row.
    entries: Vec<usize>,
}

/// Who sends to whom (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Everyone sends to all.
    AllToAll,
    /// Everyone sends to some.
    AllToMany,
    /// Who sends, sends to all.
    ManyToAll,
    /// Some send to some.
    ManyToMany,
}

impl Matrix {
    /// A matrix without traffic.
    pub fn empty(P: usize) -> Matrix {
        Matrix { P, entries: vec![0; P * P] }
    }

    /// A matrix of P rows, one after the other.
    ///
    /// # Panics
    ///
    /// If there are not P times P entries.
    pub fn new(P: usize, entries: Vec<usize>) -> Matrix {
        assert_eq!(entries.len(), P * P, "a matrix of {P} processors has {} entries", P * P);
        Matrix { P, entries }
    }

    /// The number of processors.
    pub fn P(&self) -> usize {
        self.P
    }

    /// How many elements processor i has for processor j.
    pub fn at(&self, i: usize, j: usize) -> usize {
        self.entries[i * self.P + j]
    }

    /// Lets processor i have so many elements more for processor j.
    pub fn add(&mut self, i: usize, j: usize, elements: usize) {
        self.entries[i * self.P + j] += elements;
    }

    /// The send vector of processor i.
    pub fn row(&self, i: usize) -> &[usize] {
        &self.entries[i * self.P..][..self.P]
    }

    /// The receive vector of processor j.
    pub fn column(&self, j: usize) -> impl Iterator<Item = usize> + Clone {
        self.entries.iter().skip(j).step_by(self.P).copied()
    }

    /// All entries, row by row.
    pub fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// All elements that there are.
    pub fn total(&self) -> usize {
        self.entries.iter().sum()
    }

    /// The outgoing traffic r_i.
    pub fn r_i(&self, i: usize) -> usize {
        self.row(i).iter().sum()
    }

    /// The incoming traffic c_j.
    pub fn c_j(&self, j: usize) -> usize {
        self.column(j).sum()
    }

    /// The outgoing traffic bound.
    pub fn r(&self) -> usize {
        self.most(|i| self.r_i(i))
    }

    /// The incoming traffic bound.
    pub fn c(&self) -> usize {
        self.most(|j| self.c_j(j))
    }

    /// The overall traffic bound.
    pub fn t(&self) -> usize {
        self.r().max(self.c())
    }

    /// The fan-out f_i: to how many processor i sends.
    pub fn f_i(&self, i: usize) -> usize {
        self.row(i).iter().filter(|elements| **elements > 0).count()
    }

    /// The fan-in g_j: from how many processor j receives.
    pub fn g_j(&self, j: usize) -> usize {
        self.column(j).filter(|elements| *elements > 0).count()
    }

    /// The fan-out bound.
    pub fn f(&self) -> usize {
        self.most(|i| self.f_i(i))
    }

    /// The fan-in bound.
    pub fn g(&self) -> usize {
        self.most(|j| self.g_j(j))
    }

    /// The overall bound of fan-in and fan-out.
    pub fn h(&self) -> usize {
        self.f().max(self.g())
    }

    /// Whether every processor's outgoing and incoming traffic is the bound t: the paper's equal traffic case.
    pub fn is_equal(&self) -> bool {
        let t = self.t();
        (0..self.P).all(|i| self.r_i(i) == t && self.c_j(i) == t)
    }

    /// Whether all messages have the same size.
    pub fn is_uniform(&self) -> bool {
        let mut messages = self.entries.iter().filter(|elements| **elements > 0);
        let first = messages.next();
        messages.all(|elements| Some(elements) == first)
    }

    /// Who sends to whom.
    pub fn kind(&self) -> Kind {
        let all = |of: &dyn Fn(usize) -> bool| (0..self.P).all(of);
        if all(&|i| self.f_i(i) == self.P) {
            Kind::AllToAll
        } else if all(&|i| self.f_i(i) > 0) {
            Kind::AllToMany
        } else if all(&|i| [0, self.P].contains(&self.f_i(i)) && self.g_j(i) > 0) {
            Kind::ManyToAll
        } else {
            Kind::ManyToMany
        }
    }

    /// The most that any processor has of something.
    fn most(&self, of: impl Fn(usize) -> usize) -> usize {
        (0..self.P).map(of).max().unwrap_or(0)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::AllToAll => "all-to-all",
            Kind::AllToMany => "all-to-many",
            Kind::ManyToAll => "many-to-all",
            Kind::ManyToMany => "many-to-many",
        })
    }
}
