//! Recorded runs of programs that are no lists of steps.

use loggp_model::time::NS;
use loggp_schedule::Schedule;

/// A recorded run.
pub(crate) struct BundledRecording {
    /// The id of its algorithm.
    pub id: &'static str,
    pub about: &'static str,
    /// The run that was recorded: what follows `loggp run`.
    pub run: &'static str,
    pub P: usize,
    /// GOAL without labels and tags: each operation of a line waits for all of the line before.
    steps: &'static str,
}

/// A recorded run: its id, its file, the number of processors, the run, and what it does.
macro_rules! recording {
    ($id:literal, $file:literal, $P:literal, $run:literal, $about:literal) => {
        BundledRecording {
            id: $id,
            about: $about,
            run: $run,
            P: $P,
            steps: include_str!(concat!("../recorded/", $file, ".steps")),
        }
    };
}

pub(crate) static FFT_LONG: BundledRecording = recording!(
    "fft/long-staggered",
    "fft-long-staggered",
    16,
    "fft long-staggered --size 256 --params L=6,o=2,g=4,G=1,P=16",
    "a message of n/P^2 points for each processor, and a local redistribution"
);
pub(crate) static FFT_SHORT: BundledRecording = recording!(
    "fft/short-naive",
    "fft-short-naive",
    16,
    "fft short-naive --size 256 --params L=6,o=2,g=4,P=16",
    "a message per point; all send first to processor 0, then to 1, and stall"
);
pub(crate) static RADIX_SORT: BundledRecording = recording!(
    "radix-sort/long",
    "radix-sort-long",
    8,
    "radix-sort long --size 64 --radix 8 --params L=6,o=2,g=4,P=8",
    "sorts its keys by the digit first, and sends all for a processor at once (LogGP, section 3)"
);
pub(crate) static LU_COLUMNS: BundledRecording = recording!(
    "lu/column-cyclic",
    "lu-column-cyclic",
    4,
    "lu column-cyclic --size 24 --params L=6,o=2,g=4,P=4",
    "columns are dealt to the processors in turn; only the multipliers are sent"
);
pub(crate) static LU_GRID: BundledRecording = recording!(
    "lu/grid-cyclic",
    "lu-grid-cyclic",
    4,
    "lu grid-cyclic --size 24 --params L=6,o=2,g=4,P=4",
    "rows and columns are dealt to a grid of processors in turn: the paper's scattered layout"
);
pub(crate) static LU_BLOCKS: BundledRecording = recording!(
    "lu/grid-blocked",
    "lu-grid-blocked",
    4,
    "lu grid-blocked --size 24 --params L=6,o=2,g=4,P=4",
    "each processor of the grid has rows and columns that lie together"
);
pub(crate) static TRANSPORTATION_TWO_STAGE: BundledRecording = recording!(
    "transportation/two-stage",
    "transportation-two-stage",
    8,
    "transportation two-stage --size 64 --params L=6,o=2,g=4,G=1,P=8",
    "every message goes in p parts by p intermediate processors; remainders in turn, from 0 (section 7)"
);
pub(crate) static TRANSPORTATION_LINEAR: BundledRecording = recording!(
    "transportation/linear",
    "transportation-linear",
    8,
    "transportation linear --size 64 --params L=6,o=2,g=4,G=1,P=8",
    "the modified linear permutation: P-1 steps with a partner and a barrier each (figure 4)"
);

impl BundledRecording {
    /// Reads its schedule.
    pub(crate) fn schedule(&self) -> Result<Schedule, String> {
        loggp_goal::read(with_labels(self.steps).as_bytes(), NS).map_err(|why| why.to_string())
    }
}

/// Returns steps as GOAL.
fn with_labels(steps: &str) -> String {
    let mut goal = String::new();
    let (mut count, mut before) = (0, 0..0);
    for line in steps.lines() {
        if !["send", "recv", "calc"].iter().any(|operation| line.starts_with(operation)) {
            (count, before) = (0, 0..0);
            goal += line;
            goal.push('\n');
            continue;
        }
        let first = count;
        for operation in line.split("; ") {
            goal += &format!("l{count}: {operation}\n");
            before.clone().for_each(|earlier| goal += &format!("l{count} requires l{earlier}\n"));
            count += 1;
        }
        before = first..count;
    }
    goal
}
