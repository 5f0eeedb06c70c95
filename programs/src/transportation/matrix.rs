//! Communication matrices, and their quantities in the paper: r_i, c_j, r, c, t, f, g, h and the kind.

use std::fmt;

/// A communication matrix: processor i has `at(i, j)` elements for processor j (section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    P: usize,
    /// Entries, row by row.
    entries: Vec<usize>,
}

/// The kind of a matrix, by its senders and receivers (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixKind {
    /// Every processor sends to all.
    AllToAll,
    /// Every processor sends to some.
    AllToMany,
    /// Some processors send, each to all.
    ManyToAll,
    /// Some processors send, each to some.
    ManyToMany,
}

impl Matrix {
    /// Creates a matrix without traffic.
    pub fn empty(P: usize) -> Matrix {
        Matrix { P, entries: vec![0; P * P] }
    }

    /// Creates a matrix from its entries, row by row.
    ///
    /// # Panics
    ///
    /// If there are not P times P entries.
    pub fn new(P: usize, entries: Vec<usize>) -> Matrix {
        assert_eq!(entries.len(), P * P, "a matrix of {P} processors has {} entries", P * P);
        Matrix { P, entries }
    }

    /// Returns the number of processors.
    pub fn P(&self) -> usize {
        self.P
    }

    /// Returns the number of elements that processor i has for processor j.
    pub fn at(&self, i: usize, j: usize) -> usize {
        self.entries[i * self.P + j]
    }

    /// Adds elements that processor i has for processor j.
    pub fn add(&mut self, i: usize, j: usize, elements: usize) {
        self.entries[i * self.P + j] += elements;
    }

    /// Returns the send vector of processor i.
    pub fn row(&self, i: usize) -> &[usize] {
        &self.entries[i * self.P..][..self.P]
    }

    /// Returns the receive vector of processor j.
    pub fn column(&self, j: usize) -> impl Iterator<Item = usize> + Clone {
        self.entries.iter().skip(j).step_by(self.P).copied()
    }

    /// Returns all entries, row by row.
    pub fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// Returns the number of all elements.
    pub fn total(&self) -> usize {
        self.entries.iter().sum()
    }

    /// Returns the outgoing traffic r_i.
    pub fn r_i(&self, i: usize) -> usize {
        self.row(i).iter().sum()
    }

    /// Returns the incoming traffic c_j.
    pub fn c_j(&self, j: usize) -> usize {
        self.column(j).sum()
    }

    /// Returns the outgoing traffic bound.
    pub fn r(&self) -> usize {
        self.most_over(|i| self.r_i(i))
    }

    /// Returns the incoming traffic bound.
    pub fn c(&self) -> usize {
        self.most_over(|j| self.c_j(j))
    }

    /// Returns the overall traffic bound.
    pub fn t(&self) -> usize {
        self.r().max(self.c())
    }

    /// Returns the fan-out f_i, the number of processors that processor i sends to.
    pub fn f_i(&self, i: usize) -> usize {
        self.row(i).iter().filter(|elements| **elements > 0).count()
    }

    /// Returns the fan-in g_j, the number of processors that processor j receives from.
    pub fn g_j(&self, j: usize) -> usize {
        self.column(j).filter(|elements| *elements > 0).count()
    }

    /// Returns the fan-out bound.
    pub fn f(&self) -> usize {
        self.most_over(|i| self.f_i(i))
    }

    /// Returns the fan-in bound.
    pub fn g(&self) -> usize {
        self.most_over(|j| self.g_j(j))
    }

    /// Returns the overall bound of fan-in and fan-out.
    pub fn h(&self) -> usize {
        self.f().max(self.g())
    }

    /// Returns whether every processor's outgoing and incoming traffic is the bound t: the paper's equal
    /// traffic case.
    pub fn is_equal(&self) -> bool {
        let t = self.t();
        (0..self.P).all(|i| self.r_i(i) == t && self.c_j(i) == t)
    }

    /// Returns whether all messages have the same size.
    pub fn is_uniform(&self) -> bool {
        let mut messages = self.entries.iter().filter(|elements| **elements > 0);
        let first = messages.next();
        messages.all(|elements| Some(elements) == first)
    }

    /// Returns the kind of the matrix.
    pub fn kind(&self) -> MatrixKind {
        let all = |of: &dyn Fn(usize) -> bool| (0..self.P).all(of);
        if all(&|i| self.f_i(i) == self.P) {
            MatrixKind::AllToAll
        } else if all(&|i| self.f_i(i) > 0) {
            MatrixKind::AllToMany
        } else if all(&|i| [0, self.P].contains(&self.f_i(i)) && self.g_j(i) > 0) {
            MatrixKind::ManyToAll
        } else {
            MatrixKind::ManyToMany
        }
    }

    /// Returns the maximum of a quantity over all processors.
    fn most_over(&self, of: impl Fn(usize) -> usize) -> usize {
        (0..self.P).map(of).max().unwrap_or(0)
    }
}

impl fmt::Display for MatrixKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MatrixKind::AllToAll => "all-to-all",
            MatrixKind::AllToMany => "all-to-many",
            MatrixKind::ManyToAll => "many-to-all",
            MatrixKind::ManyToMany => "many-to-many",
        })
    }
}
