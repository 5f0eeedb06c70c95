//! Compares programs on one processor, with measured work, with libraries that do the same on one thread.
//! Prints a table. Program and library run in turns, and all memory is allocated before.

use std::hint::black_box;
use std::time::Instant;

use loggp::{Machine, Params, Work};
use loggp_benches::{measure, table};
use loggp_programs::fft::FFT;
use loggp_programs::lu::{BLOCK, LU};
use loggp_programs::radix_sort::{SortMemory, SortMethod, sort};
use loggp_programs::{Case, Emulation};
use rdst::RadixSort;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

/// Repetitions of short and of long computations; the median is shown.
const REPEATS: [usize; 2] = [201, 11];

fn main() {
    measure::selected_tables(&[("table", kernels as fn())]).into_iter().for_each(|table| table());
}

/// Prints a line for each kernel.
fn kernels() {
    faer::set_global_parallelism(faer::Par::Seq);
    table::begin(
        "A program on one processor, and a library on one thread; medians, taken in turns",
        &["", "loggp, us", "library, us", "ratio"],
    );
    radix_sort(1 << 24);
    [20, 16, 12].into_iter().for_each(transform);
    [2048, 512].into_iter().for_each(decompose);
    table::end();
}

/// Runs both in turns, and prints a line with their times in us.
fn compare(name: &str, repeats: usize, mut program: impl FnMut() -> f64, mut library: impl FnMut() -> f64) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        ours.push(program());
        theirs.push(library());
    }
    let (ours, theirs) = (measure::median(ours), measure::median(theirs));
    table::row(&[name.into(), table::rough(ours), table::rough(theirs), format!("{:.2}", ours / theirs)]);
}

/// Returns the time of a computation in us.
fn time<T>(compute: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    black_box(compute());
    started.elapsed().as_secs_f64() * 1e6
}

/// Returns the time of a run of a case, without its verification, in us.
fn run(case: &Case) -> f64 {
    let plan = case.plan().unwrap();
    plan.run(&Emulation::default()).unwrap().run.time.as_ns() / 1e3
}

/// Sorts uniform keys, and compares with rdst.
fn radix_sort(n: usize) {
    let mut rng = fastrand::Rng::with_seed(1);
    let keys: Vec<u32> = (0..n).map(|_| rng.u32(..)).collect();
    let machine = Machine::new(Params::builder(1).build().unwrap()).work(Work::Measured);
    let method = SortMethod { radix: 8, bulk: true };
    let program = || {
        let run = machine.run(|p| {
            let mut memory = p.prepare(|| SortMemory::new(method, keys.len(), 1));
            sort(p, method, &keys, &mut memory)
        });
        run.unwrap().time.as_ns() / 1e3
    };
    let library = || {
        let mut keys = keys.clone();
        time(|| keys.radix_sort_unstable())
    };
    compare("radix sort, 2^24 keys of 32 bits; rdst", REPEATS[1], program, library);
}

/// Transforms 2^bits points, and compares with rustfft.
fn transform(bits: u32) {
    let n = 1 << bits;
    let case = Case { size: n, work: Work::Measured, ..Case::new(&FFT, "short-staggered", one_processor()) };
    let mut rng = fastrand::Rng::with_seed(1);
    let points: Vec<Complex<f64>> = (0..n).map(|_| Complex::new(rng.f64(), rng.f64())).collect();
    // A run plans its kernels and gets its memory anew; so does this.
    let library = || {
        let kernel = FftPlanner::new().plan_fft_forward(n);
        let (mut points, mut scratch) =
            (points.clone(), vec![Complex::default(); kernel.get_inplace_scratch_len()]);
        time(|| kernel.process_with_scratch(&mut points, &mut scratch))
    };
    compare(
        &format!("FFT, 2^{bits} points; rustfft"),
        REPEATS[usize::from(bits > 16)],
        || run(&case),
        library,
    );
}

/// Decomposes a matrix, and compares with faer.
fn decompose(n: usize) {
    let case = Case { size: n, work: Work::Measured, ..Case::new(&LU, "column-cyclic", one_processor()) };
    let case = case.with(&BLOCK, 64);
    let entry = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 10_007) as f64 / 5003.5 - 1.0;
    let matrix = faer::Mat::<f64>::from_fn(n, n, entry);
    let library = || time(|| matrix.partial_piv_lu());
    compare(
        &format!("LU, n = {n}, panels of 64 columns; faer"),
        REPEATS[usize::from(n > 1000)],
        || run(&case),
        library,
    );
}

/// Returns the parameters of one processor.
fn one_processor() -> Params {
    Params::builder(1).build().unwrap()
}
