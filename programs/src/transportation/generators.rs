//! Sources of communication matrices: the paper's generator, its figures, random and adversarial ones, and
//! files.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use loggp_model::text::escaped;

use super::matrix::Matrix;
use crate::option::{is_csv_file, open_file};

/// The specification of a matrix.
#[derive(Clone, Debug)]
pub struct MatrixSpec {
    /// Number of processors.
    pub P: usize,
    /// Traffic t.
    pub traffic: usize,
    /// True if the traffic was given, and is not the default size.
    pub is_traffic_given: bool,
    /// Fan-out k, if it was given.
    pub fan_out: Option<FanOut>,
    /// Skew l, if it was given.
    pub skew: Option<Skew>,
    /// Bounds r and c of a random matrix, if they were given.
    pub outgoing: Option<usize>,
    pub incoming: Option<usize>,
    /// Seed of random choices.
    pub seed: u64,
}

/// The generator's k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FanOut {
    /// This number of receivers.
    Fixed(usize),
    /// A random one of 2, 4, 8 .. P.
    Any,
}

/// The generator's l.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Skew {
    /// A fraction, as a numerator and a denominator.
    Fixed(f64, f64),
    /// A random one of 1/2, 1/4 .. 1/k.
    Any,
}

impl Skew {
    /// Creates a skew that is a fraction of whole numbers.
    pub fn fraction(over: usize, under: usize) -> Skew {
        Skew::Fixed(over as f64, under as f64)
    }
}

/// A matrix with a name, and the function that makes the matrix.
#[derive(Debug)]
pub struct NamedMatrix {
    /// Name.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// Number of processors, if it is for only one.
    pub P: Option<usize>,
    source: MatrixSource,
}

/// The source of a named matrix.
#[derive(Debug)]
enum MatrixSource {
    /// Entries of one of the paper's figures.
    Figure(&'static [usize]),
    /// Function that makes the matrix.
    Maker(MakeMatrix),
}

type MakeMatrix = fn(&MatrixSpec) -> Result<Matrix, String>;

/// All named matrices, the paper's generator first.
pub static NAMED: &[NamedMatrix] = &[
    named_matrix("skewed", "the paper's generator: of k receivers, lk share 1-l of the traffic", skewed),
    named_matrix("random", "anyone sends anything to anyone, with bounds r and c", random),
    named_matrix("uniform", "everyone sends t/P to all", uniform),
    figure_matrix("figure-1", "figure 1: all-to-many with equal traffic, P = 8", &FIGURE_1),
    figure_matrix("figure-2", "figure 2: many-to-many with bounded traffic, P = 8", &FIGURE_2),
    figure_matrix("figure-3", "figure 3: bounded transportation, P = 4", &FIGURE_3),
    figure_matrix("figure-9", "figure 9: the example of message splitting, P = 4", &FIGURE_9),
    figure_matrix("figure-11", "figure 11: the same, split by the alternate scheme, P = 4", &FIGURE_9),
    named_matrix("hot-receiver", "everyone sends t/P to processor 0", |spec| Ok(hot_spot(spec, |i| (i, 0)))),
    named_matrix("hot-sender", "processor 0 sends t/P to all", |spec| Ok(hot_spot(spec, |i| (0, i)))),
    named_matrix("one-message", "processor 0 sends t to the last one, and nobody else sends", |spec| {
        let mut matrix = Matrix::empty(spec.P);
        matrix.add(0, spec.P - 1, spec.traffic);
        Ok(matrix)
    }),
    named_matrix("permutation", "everyone sends t to one, and receives t from one", |spec| {
        Ok(circulant(spec.P, spec.seed, &[(1 % spec.P, spec.traffic)]))
    }),
    named_matrix("diagonal", "everyone has t for itself", |spec| {
        Ok(circulant(spec.P, spec.seed, &[(0, spec.traffic)]))
    }),
    named_matrix("empty", "nobody sends", |spec| Ok(Matrix::empty(spec.P))),
    named_matrix("multiples", "every entry is a multiple of P", |spec| Ok(spread(spec, 0))),
    named_matrix("remainders", "every entry is P-1 modulo P", |spec| {
        let least = spec.P * (spec.P - 1);
        match spec.traffic.checked_sub(least) {
            Some(_) => Ok(spread(spec, spec.P - 1)),
            None => Err(format!(
                "P entries of P-1 or more are {least} at least, and the traffic is {}; give a traffic of at least {least}",
                spec.traffic
            )),
        }
    }),
];

/// Creates a named matrix for any number of processors.
const fn named_matrix(name: &'static str, about: &'static str, make: MakeMatrix) -> NamedMatrix {
    NamedMatrix { name, about, P: None, source: MatrixSource::Maker(make) }
}

/// Creates a named matrix of one of the paper's figures, for its number of processors.
const fn figure_matrix(name: &'static str, about: &'static str, entries: &'static [usize]) -> NamedMatrix {
    let P = Some(entries.len().isqrt());
    NamedMatrix { name, about, P, source: MatrixSource::Figure(entries) }
}

#[rustfmt::skip]
const FIGURE_1: [usize; 64] = [
    0, 3, 1, 0, 2, 1, 2, 1,
    1, 0, 2, 2, 1, 1, 3, 0,
    4, 1, 0, 2, 0, 2, 0, 1,
    0, 2, 0, 0, 0, 3, 1, 4,
    3, 0, 4, 0, 0, 2, 1, 0,
    1, 2, 1, 2, 0, 0, 0, 4,
    0, 2, 1, 0, 7, 0, 0, 0,
    1, 0, 1, 4, 0, 1, 3, 0,
];
#[rustfmt::skip]
const FIGURE_2: [usize; 64] = [
    0, 3, 1, 0, 0, 1, 0, 1,
    1, 0, 2, 2, 0, 1, 1, 0,
    1, 1, 0, 2, 0, 2, 0, 1,
    0, 1, 0, 0, 0, 3, 1, 0,
    3, 0, 0, 0, 0, 2, 1, 0,
    1, 1, 1, 2, 0, 0, 0, 2,
    0, 0, 0, 0, 0, 0, 0, 0,
    1, 0, 1, 4, 0, 1, 0, 0,
];
#[rustfmt::skip]
const FIGURE_3: [usize; 16] = [
    1, 5, 0, 3,
    2, 0, 5, 2,
    0, 4, 1, 4,
    6, 0, 3, 0,
];
#[rustfmt::skip]
const FIGURE_9: [usize; 16] = [
    11, 1, 4, 1,
    2, 0, 3, 12,
    3, 10, 3, 1,
    1, 6, 7, 3,
];

/// Reads the name of a matrix, or of a file.
pub fn parse_name(text: &str) -> Result<Cow<'static, str>, String> {
    match NAMED.iter().any(|named| named.name == text) || is_csv_file(text) {
        true => Ok(text.to_string().into()),
        false => {
            let names: Vec<&str> = NAMED.iter().map(|named| named.name).collect();
            Err(format!(
                "there is no such matrix; there are {}, and files whose names end in .csv",
                names.join(", ")
            ))
        }
    }
}

/// Makes the matrix that a text names.
pub fn make_matrix(text: &str, spec: &MatrixSpec) -> Result<Matrix, String> {
    let refuse = |given: bool, option: &str, scope: &str| match given {
        true => Err(format!("--{option} is for {scope}; leave it out")),
        false => Ok(()),
    };
    let (skewed, random) = (text == "skewed", text == "random");
    refuse(spec.fan_out.is_some() && !skewed, "fan-out", "the matrix skewed")?;
    refuse(spec.skew.is_some() && !skewed, "skew", "the matrix skewed")?;
    refuse(spec.outgoing.is_some() && !random, "outgoing", "the matrix random")?;
    refuse(spec.incoming.is_some() && !random, "incoming", "the matrix random")?;
    let Some(named) = NAMED.iter().find(|named| named.name == text) else {
        refuse(spec.is_traffic_given, "traffic", "matrices that are made, and this one is read")?;
        return for_all(spec, read(text)?);
    };
    match named.source {
        MatrixSource::Figure(entries) => {
            refuse(spec.is_traffic_given, "traffic", "matrices that are made, and a figure's is as it is")?;
            for_all(spec, Matrix::new(entries.len().isqrt(), entries.into()))
        }
        // Sums of more would overflow, and a plan has room for far less.
        MatrixSource::Maker(_) if u32::try_from(spec.traffic).is_err() => {
            Err(format!("a traffic of {} is too much; give less", spec.traffic))
        }
        MatrixSource::Maker(make) => make(spec),
    }
}

/// Returns a matrix, if it is for as many processors as there are.
fn for_all(spec: &MatrixSpec, matrix: Matrix) -> Result<Matrix, String> {
    match matrix.P() == spec.P {
        true => Ok(matrix),
        false => Err(format!("it is for {} processors, and there are {}; give -P {0}", matrix.P(), spec.P)),
    }
}

/// Reads a file: a line of titles, if there is one, and a line for each processor with a number for each,
/// separated by commas; an empty one is 0.
pub fn read(path: &str) -> Result<Matrix, String> {
    /// More bytes than any matrix for a possible machine.
    const MOST_BYTES: u64 = 1 << 28;
    let file = open_file(Path::new(path), MOST_BYTES)?;
    let text = io::read_to_string(file).map_err(|why| format!("{path} cannot be read: {why}"))?;
    parse(path, &text)
}

/// Reads the text of a file with this name.
pub fn parse(path: &str, text: &str) -> Result<Matrix, String> {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    // The first line may name the receivers.
    if lines.first().is_some_and(|line| line.trim_start().starts_with('P')) {
        lines.remove(0);
    }
    let P = lines.len();
    if P == 0 {
        return Err(format!("{path} has no line; give a line of numbers for each processor"));
    }
    let mut entries = Vec::new();
    for (i, line) in lines.into_iter().enumerate() {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != P {
            return Err(format!(
                "row {i} of {path} has {} numbers, and there are {P} rows; give as many numbers in each",
                cells.len()
            ));
        }
        for (j, cell) in cells.into_iter().enumerate() {
            let number: Result<u32, _> = if cell.is_empty() { Ok(0) } else { cell.parse() };
            let number = number.map_err(|_| {
                format!(
                    "{path} has {:?} in row {i}, column {j}; give whole numbers up to {}",
                    escaped(cell),
                    u32::MAX
                )
            })?;
            entries.push(number as usize);
        }
    }
    Ok(Matrix::new(P, entries))
}

/// Makes a matrix of processors in random places on a circle. Each has as many elements for the processor at
/// each distance, so all send and receive the same.
fn circulant(P: usize, seed: u64, distances: &[(usize, usize)]) -> Matrix {
    let mut circle: Vec<usize> = (0..P).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut circle);
    let mut matrix = Matrix::empty(P);
    for &(distance, elements) in distances {
        (0..P).for_each(|place| matrix.add(circle[place], circle[(place + distance) % P], elements));
    }
    matrix
}

/// The paper's generator (section 9): "of the k processors receiving messages from a single processor, the
/// fraction lt of the traffic reached (1-l)k processors, while the remaining (1-l)t traffic reached lk
/// processors." Processors send to themselves only with k = P, and then a small message if there is a choice.
fn skewed(spec: &MatrixSpec) -> Result<Matrix, String> {
    let &MatrixSpec { P, traffic, seed, .. } = spec;
    let mut rng = fastrand::Rng::with_seed(seed ^ (traffic as u64).rotate_left(32));
    let k = match spec.fan_out {
        None => P.min(8),
        Some(FanOut::Fixed(k)) => k,
        Some(FanOut::Any) => (2 << rng.u32(..P.max(2).ilog2())).min(P),
    };
    if k == 0 || k > P {
        return Err(format!("a fan-out of {k} is not to be had from {P} processors; give one from 1 to {P}"));
    }
    let many = match spec.skew {
        None => 1,
        Some(Skew::Any) => match k {
            1 => 1,
            _ => (k / 2) >> rng.u32(..k.ilog2()),
        },
        Some(Skew::Fixed(..)) if k == 1 => {
            refuse!("a fan-out of 1 leaves no receivers to share traffic with a skew; leave --skew out");
        }
        Some(Skew::Fixed(over, under)) => {
            let many = over * k as f64 / under;
            let whole = many.round();
            if (many - whole).abs() > 1e-9 || !(1.0..k as f64).contains(&whole) {
                return Err(format!(
                    "a skew of {} gives {many:.3} of {k} receivers the fraction 1-l of the traffic, and there must be 1 to {} \
                     whole ones; give 1/{k}, or another multiple of it",
                    if under == 1.0 { over.to_string() } else { format!("{over}/{under}") },
                    k - 1
                ));
            }
            whole as usize
        }
    };
    // With one receiver no others share the rest, so it gets all.
    let few = k - many.min(k);
    let rest = match spec.skew {
        Some(Skew::Fixed(over, under)) => (over * traffic as f64 / under).round() as usize,
        _ => (traffic * many + k / 2) / k,
    };
    let rest = if few == 0 { 0 } else { rest };
    if rest < few || traffic - rest < many {
        return Err(format!(
            "a traffic of {traffic} leaves {rest} elements for {few} of {k} receivers and {} for {many}, and each gets at \
             least 1; give more traffic, or less fan-out",
            traffic - rest
        ));
    }
    let mut distances: Vec<usize> = (1..P).collect();
    rng.shuffle(&mut distances);
    distances.push(0);
    let shares = (0..many)
        .map(|n| share(traffic - rest, many, n))
        .chain((0..few).map(|n| share(rest, few, n)))
        .zip(distances)
        .map(|(elements, distance)| (distance, elements));
    Ok(circulant(P, rng.u64(..), &shares.collect::<Vec<_>>()))
}

/// Makes a matrix with t/P from each to each, as nearly as possible; all send and receive t.
fn uniform(spec: &MatrixSpec) -> Result<Matrix, String> {
    let &MatrixSpec { P, traffic, seed, .. } = spec;
    let shares = (0..P).map(|distance| (distance, share(traffic, P, distance)));
    Ok(circulant(P, seed, &shares.collect::<Vec<_>>()))
}

/// Returns the n-th of `of` shares, which are as equal as possible; the first ones are the larger ones.
fn share(elements: usize, count: usize, n: usize) -> usize {
    elements / count + usize::from(n < elements % count)
}

/// Makes a matrix with the traffic in P shares, at these places.
fn hot_spot(spec: &MatrixSpec, place: impl Fn(usize) -> (usize, usize)) -> Matrix {
    let &MatrixSpec { P, traffic, .. } = spec;
    let mut matrix = Matrix::empty(P);
    for n in 0..P {
        let (i, j) = place(n);
        matrix.add(i, j, share(traffic, P, n));
    }
    matrix
}

/// Makes a matrix with `each` in every entry; the rest of each row and column is random multiples of P.
fn spread(spec: &MatrixSpec, each: usize) -> Matrix {
    let &MatrixSpec { P, traffic, seed, .. } = spec;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut rest = (traffic - P * each) / P;
    let mut distances: Vec<(usize, usize)> = (0..P).map(|distance| (distance, each)).collect();
    while rest > 0 {
        let some = rng.usize(1..=rest.min(1 + traffic / (P * P)));
        distances[rng.usize(..P)].1 += some * P;
        rest -= some;
    }
    circulant(P, seed, &distances)
}

/// Makes a random matrix with bounds r and c, each of which some processor reaches.
fn random(spec: &MatrixSpec) -> Result<Matrix, String> {
    let P = spec.P;
    let [r, c] = [spec.outgoing, spec.incoming].map(|bound| bound.unwrap_or(spec.traffic));
    let contradicts = |one: &str, other: &str, bound: usize, most: usize| {
        Err(format!(
            "one processor {one} {bound}, and all {P} together {other} at most {}; give at most that",
            P.saturating_mul(most)
        ))
    };
    if r > P.saturating_mul(c) {
        return contradicts("sends", "receive", r, c);
    }
    if c > P.saturating_mul(r) {
        return contradicts("receives", "send", c, r);
    }
    let mut rng = fastrand::Rng::with_seed(spec.seed);
    let (mut matrix, mut out, mut into) = (Matrix::empty(P), vec![r; P], vec![c; P]);
    let mut put = |i: usize, j: usize, elements: usize, out: &mut [usize], into: &mut [usize]| {
        let elements = elements.min(out[i]).min(into[j]);
        matrix.add(i, j, elements);
        out[i] -= elements;
        into[j] -= elements;
    };
    // One processor sends r and one receives c. The elements that only these two can exchange come first.
    let (sender, receiver) = (rng.usize(..P), rng.usize(..P));
    let only = r.saturating_sub((P - 1) * c).max(c.saturating_sub((P - 1) * r));
    put(sender, receiver, only, &mut out, &mut into);
    let chunk = |rng: &mut fastrand::Rng, bound: usize| {
        let pieces = rng.usize(1..=2 * P);
        rng.usize(1..=1 + bound / pieces)
    };
    // Senders to that receiver keep room for it.
    let mut others: Vec<usize> = (0..P).collect();
    rng.shuffle(&mut others);
    while into[receiver] > 0 && others.iter().any(|i| *i != sender && out[*i] > 0) {
        for i in others.iter().filter(|i| **i != sender) {
            put(*i, receiver, chunk(&mut rng, r), &mut out, &mut into);
        }
    }
    put(sender, receiver, into[receiver], &mut out, &mut into);
    while out[sender] > 0 && into.iter().any(|room| *room > 0) {
        for j in &others {
            put(sender, *j, chunk(&mut rng, c), &mut out, &mut into);
        }
    }
    for _ in 0..rng.usize(..=4 * P * P) {
        put(rng.usize(..P), rng.usize(..P), chunk(&mut rng, r.min(c)), &mut out, &mut into);
    }
    Ok(matrix)
}
