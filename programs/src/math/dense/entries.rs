//! The entries of a matrix: random, of a special kind, or from a file.

use std::fmt::Display;
use std::io::Read;
use std::path::{Path, PathBuf};

use loggp_model::text::escaped;
use ndarray::{Array2, ShapeBuilder};

use crate::option::{CustomKind, is_csv_file, open_file};
use crate::{Case, Opt};

/// The option for the entries of the matrix.
pub static ENTRIES: Opt<Entries> = Opt::new(
    "entries",
    "KIND",
    "the matrix: random, hilbert, graded, triangular, orthogonal, singular, or a file FILE.csv",
    Entries::Random,
    &CustomKind { read: Entries::named, write: Entries::name },
);

/// The entries of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entries {
    /// Random numbers between -1 and 1.
    Random,
    /// Hilbert's matrix, 1/(i+j+1): almost singular.
    Hilbert,
    /// Random numbers, in rows that shrink by 16 decimal digits from the first to the last.
    Graded,
    /// A triangular matrix with its rows and columns in random order.
    Triangular,
    /// An orthogonal matrix of sines with its rows in random order.
    Orthogonal,
    /// Random numbers, and a column of zeros.
    Singular,
    /// The numbers of a CSV file.
    File(PathBuf),
}

impl Entries {
    const NAMED: [(&str, Entries); 6] = [
        ("random", Entries::Random),
        ("hilbert", Entries::Hilbert),
        ("graded", Entries::Graded),
        ("triangular", Entries::Triangular),
        ("orthogonal", Entries::Orthogonal),
        ("singular", Entries::Singular),
    ];

    /// Reads a name of a kind, or a file name that ends in .csv.
    fn named(text: &str) -> Result<Entries, String> {
        if let Some((_, entries)) = Entries::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(entries.clone());
        }
        if is_csv_file(text) {
            return Ok(Entries::File(text.into()));
        }
        let names: Vec<&str> = Entries::NAMED.iter().map(|(name, _)| *name).collect();
        Err(format!("there is no such matrix; give {}, or a file FILE.csv", names.join(", ")))
    }

    /// Returns the name of the kind, or of the file.
    fn name(&self) -> String {
        if let Entries::File(path) = self {
            return path.display().to_string();
        }
        let named = Entries::NAMED.iter().find(|(_, entries)| entries == self);
        named.map(|(name, _)| (*name).into()).expect("what is no file has a name")
    }

    /// Returns the matrix with n rows and columns; for a file, a matrix of zeros.
    fn matrix(&self, n: usize, seed: u64) -> Array2<f64> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut random = || 2.0 * rng.f64() - 1.0;
        let mut matrix = match self {
            Entries::Hilbert => Array2::from_shape_fn((n, n).f(), |(i, j)| 1.0 / (i + j + 1) as f64),
            Entries::Orthogonal => Array2::from_shape_fn((n, n).f(), |(i, j)| {
                let angle = std::f64::consts::PI * ((i + 1) * (j + 1)) as f64 / (n + 1) as f64;
                (2.0 / (n + 1) as f64).sqrt() * angle.sin()
            }),
            _ => Array2::zeros((n, n).f()),
        };
        if matches!(self, Entries::Random | Entries::Graded | Entries::Triangular | Entries::Singular) {
            for mut column in matrix.columns_mut() {
                column.iter_mut().for_each(|value| *value = random());
            }
        }
        match self {
            Entries::Graded => {
                for (i, mut row) in matrix.rows_mut().into_iter().enumerate() {
                    row *= 10_f64.powf(-16.0 * i as f64 / n.max(2) as f64);
                }
            }
            Entries::Triangular => {
                for ((i, j), value) in matrix.indexed_iter_mut() {
                    *value = if i > j { 0.0 } else { *value + value.signum() };
                }
                let columns = order(n, seed + 1);
                let sorted = matrix.clone();
                for (mut to, from) in matrix.columns_mut().into_iter().zip(columns) {
                    to.assign(&sorted.column(from));
                }
            }
            Entries::Singular if n > 0 => matrix.column_mut(seed as usize % n).fill(0.0),
            _ => (),
        }
        if matches!(self, Entries::Triangular | Entries::Orthogonal) {
            let sorted = matrix.clone();
            for (mut to, from) in matrix.rows_mut().into_iter().zip(order(n, seed)) {
                to.assign(&sorted.row(from));
            }
        }
        matrix
    }
}

/// The matrix of a case.
pub struct CaseMatrix<'a> {
    case: &'a Case,
    pub entries: Entries,
    /// Numbers of the file, if it comes from one.
    file: Option<Array2<f64>>,
}

impl CaseMatrix<'_> {
    /// Reads the case's entries, and the file if they are in one.
    pub fn read(case: &Case) -> Result<CaseMatrix<'_>, String> {
        let entries = case.get(&ENTRIES);
        let file = if let Entries::File(path) = &entries { Some(read(path, case.size)?) } else { None };
        Ok(CaseMatrix { case, entries, file })
    }

    /// Makes the matrix.
    pub fn make(&self) -> Array2<f64> {
        self.file.clone().unwrap_or_else(|| self.entries.matrix(self.case.size, self.case.seed))
    }
}

/// Returns 0 to n - 1 in random order.
fn order(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order
}

/// Reads a file of n lines with n numbers each; the error says what is wrong with the file.
fn read(path: &Path, n: usize) -> Result<Array2<f64>, String> {
    /// More bytes than the entries of any matrix that a run can have.
    const MOST_BYTES: u64 = 1 << 30;
    parse(&path.display(), open_file(path, MOST_BYTES)?, n)
}

/// Reads the bytes of a file with this name.
pub fn parse(name: &dyn Display, bytes: impl Read, n: usize) -> Result<Array2<f64>, String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(bytes);
    let mut matrix = Array2::zeros((n, n).f());
    let mut lines = 0;
    for record in reader.records() {
        let record = record.map_err(|why| format!("{name} cannot be read: {why}"))?;
        lines += 1;
        if record.len() != n || lines > n {
            return Err(format!(
                "line {lines} of {name} has {} numbers, and the size is {n}; give as many lines and numbers in each as \
                 --size says",
                record.len()
            ));
        }
        for (j, text) in record.iter().enumerate() {
            let value: Option<f64> = text.parse().ok().filter(|value: &f64| value.is_finite());
            matrix[(lines - 1, j)] = value.ok_or_else(|| {
                format!("line {lines} of {name}: {:?} is not a finite number; give one", escaped(text))
            })?;
        }
    }
    match lines == n {
        true => Ok(matrix),
        false => Err(format!("{name} has {lines} lines, and the size is {n}; give as many as --size says")),
    }
}
