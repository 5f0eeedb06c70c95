//! The transportation primitive: many-to-many personalized communication with bounded traffic (Shankar,
//! Alsabti and Ranka, "The Transportation Primitive").
//!
//! Processor i has a_ij elements for processor j, for any numbers a_ij with at most r elements from each
//! processor and at most c to each. The single-stage algorithms send every message as it is: in the steps of
//! a linear permutation, where the longest message of a step delays all, or to any receiver that is found
//! free. The two-stage algorithms cut every message into p parts and send these by p intermediate processors,
//! so that in both stages all messages have nearly the same length.

mod endpoints;
pub mod generators;
mod linear;
mod matrix;
mod metrics;
mod options;
mod packet;
mod predict;
mod random;
mod schedule;
mod split;
mod two_stage;
mod verify;

use std::sync::Arc;

use loggp::{Params, Ports, Proc, RunError, Time, Work};

pub use endpoints::{Delivery, Source};
pub use generators::{FanOut, Skew};
pub use matrix::{Matrix, MatrixKind};
pub use options::{CHUNK, FAN_OUT, INCOMING, MATRIX, OUTGOING, PART, SKEW, STAGE1, TRAFFIC};
pub use predict::{expected_longest, longest_messages};
pub use random::RandomSchedule;
pub use schedule::SendSchedule;
pub use split::Scheme;
pub use two_stage::TwoStageForm;

use crate::emulation::phase_times;
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Metric, Outcome, PhaseName, Plan, PlanResult, Predict,
    Program, Refusal, Size,
};
use TransportMethod::{Single, TwoStage};
use generators::MatrixSpec;
use linear::{Stage, receive_vector};
use packet::{BYTES, ElementSlice, Packet};
use predict::TransportationCosts;

/// Many-to-many personalized communication.
pub static TRANSPORTATION: Program = Program {
    name: "transportation",
    about: "every processor has a message of any length for every other (Shankar, Alsabti and Ranka)",
    algorithms: &[
        Algorithm {
            name: "two-stage",
            about: "every message goes in p parts by p intermediate processors; remainders in turn, from 0 (section 7)",
            formula: ClosedForm::Paper(
                "Shankar et al., section 7.3, with all terms kept",
                "2 p^2 parts + stages of s = ceil(r/p) and max_j sum_i ceil(a_ij/p) elements and p+1 lengths: vectors \
                 + (p-1)(tau + mu (s+p+1)) each; docs/reference/transportation.md has tau, mu and all terms",
            ),
            plan: |case| Transportation::plan(case, TwoStage(PLAIN)),
        },
        Algorithm {
            name: "two-stage-scan",
            about: "as two-stage, but a source's remainders begin where those of the one before end (figure 9)",
            formula: ClosedForm::Paper(
                "Shankar et al., section 7.1, with all terms kept",
                "two-stage's, a scan and a barrier",
            ),
            plan: |case| Transportation::plan(case, TwoStage(TwoStageForm::new(Scheme::Scan))),
        },
        Algorithm {
            name: "two-stage-alternate",
            about: "as two-stage, but remainders begin where the same destination's before end, for r > c (section 8)",
            formula: ClosedForm::Paper(
                "Shankar et al., section 8, with all terms kept",
                "2 p^2 parts + vector scan + barrier + stages of s = max_i sum_j ceil(a_ij/p) and ceil(c/p) elements \
                 and p+1 lengths: vectors + (p-1)(tau + mu (s+p+1)) each",
            ),
            plan: |case| Transportation::plan(case, TwoStage(TwoStageForm::new(Scheme::Alternate))),
        },
        Algorithm {
            name: "two-stage-alternate-combine",
            about: "the same, and a destination's remainders begin where those of the one before end (section 8)",
            formula: ClosedForm::Paper(
                "Shankar et al., section 8, with all terms kept",
                "two-stage-alternate's, and a vector sum",
            ),
            plan: |case| Transportation::plan(case, TwoStage(TwoStageForm::new(Scheme::Combine))),
        },
        Algorithm {
            name: "two-stage-shuffled",
            about: "as two-stage, but intermediates of messages of the same length are drawn (appendix)",
            formula: ClosedForm::Paper(
                "Shankar et al., appendix, with all terms kept",
                "two-stage's, p parts more, and an array of min(p, s) more in every message",
            ),
            plan: |case| Transportation::plan(case, TwoStage(TwoStageForm { shuffled: true, ..PLAIN })),
        },
        Algorithm {
            name: "two-stage-sparse",
            about: "as two-stage, but only what is not empty is set up and said (section 7.3)",
            formula: ClosedForm::Paper(
                "Shankar et al., section 7.3, with all terms kept",
                "two-stage's with min(p^2, r) and min(p^2, p ceil(r/p)) parts, min(p, s)+1 lengths and two barriers more",
            ),
            plan: |case| Transportation::plan(case, TwoStage(TwoStageForm { sparse: true, ..PLAIN })),
        },
        Algorithm {
            name: "linear",
            about: "the modified linear permutation: P-1 steps with a partner and a barrier each (figure 4)",
            formula: ClosedForm::Paper(
                "Shankar et al., section 5 and appendix, with all terms kept",
                "vectors + the sum of tau + mu s_k over the steps k, with s_k the longest message in it",
            ),
            plan: |case| Transportation::plan(case, Single(SendSchedule::Linear)),
        },
        Algorithm {
            name: "random",
            about: "distributed random scheduling: to whom is found free, in random order (section 6)",
            formula: RANDOM,
            plan: |case| Transportation::plan(case, Single(SendSchedule::Random(RandomSchedule::PLAIN))),
        },
        Algorithm {
            name: "random-improved",
            about: "the same; the busy say for how long, and let the next one go ahead early (section 6)",
            formula: RANDOM,
            plan: |case| Transportation::plan(case, Single(SendSchedule::Random(RandomSchedule::IMPROVED))),
        },
    ],
    size: Size { meaning: "elements that a processor sends and receives, the traffic t", default: SIZE },
    options: &[&MATRIX, &TRAFFIC, &FAN_OUT, &SKEW, &OUTGOING, &INCOMING, &STAGE1, &CHUNK, &PART],
    work: Work::Charged,
};

/// Default traffic.
const SIZE: usize = 4096;
/// The algorithm of section 7.
const PLAIN: TwoStageForm = TwoStageForm::new(Scheme::Local);

/// The reason why the random algorithms have no formula.
const RANDOM: ClosedForm = ClosedForm::None(
    "the algorithm is not deterministic, \"and that makes it difficult to ascertain its time complexity\" (section 10)",
);

/// The method by which elements reach their destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportMethod {
    /// In the messages of the matrix.
    Single(SendSchedule),
    /// In parts, by intermediate processors.
    TwoStage(TwoStageForm),
}

/// The plan of a case.
struct Transportation<'a> {
    case: &'a Case,
    matrix: Matrix,
    method: TransportMethod,
    /// Cost of setting up a part.
    part: Time,
}

/// Returns the communication matrix of a case of this program, or refuses the case.
pub fn matrix(case: &Case) -> Result<Matrix, Refusal> {
    let traffic = case.get(&TRAFFIC);
    if traffic.is_some() && case.size != SIZE {
        refuse!("--traffic is there in place of --size; leave one of them out");
    }
    let spec = MatrixSpec {
        P: case.params.P,
        traffic: traffic.unwrap_or(case.size),
        is_traffic_given: traffic.is_some() || case.size != SIZE,
        fan_out: case.get(&FAN_OUT),
        skew: case.get(&SKEW),
        outgoing: case.get(&OUTGOING),
        incoming: case.get(&INCOMING),
        seed: case.seed,
    };
    let name = case.get(&MATRIX);
    generators::make_matrix(&name, &spec).map_err(|why| format!("matrix = {name}: {why}").into())
}

/// Returns the words of the longest message that any processor may send.
fn longest_message(matrix: &Matrix, method: &TransportMethod, params: &Params) -> usize {
    let P = matrix.P();
    let elements = match method {
        Single(_) => {
            let others = (0..P * P).filter(|n| n / P != n % P);
            others.map(|n| matrix.entries()[n]).max().unwrap_or(0)
        }
        TwoStage(form) => {
            let (first, second) = longest_messages(matrix, form);
            first.max(second) + 1 + P + if form.shuffled { P } else { 0 }
        }
    };
    params.words(BYTES * elements)
}

impl Transportation<'_> {
    fn plan(case: &Case, method: TransportMethod) -> PlanResult<'_> {
        /// Most elements that a host has room for: 2 GiB of elements that leave and arrive.
        const MOST_ELEMENTS: usize = 1 << 28;
        let (P, most_P) = (case.params.P, if let Single(_) = method { 2048 } else { 256 });
        if P > most_P {
            refuse!("{P} processors have too many messages or parts; give at most {most_P}");
        }
        let (stage1, piece) = (case.get(&STAGE1), case.get(&CHUNK));
        let method = match method {
            Single(schedule) => Single(schedule.with_block(piece)),
            TwoStage(form) => TwoStage(TwoStageForm { stage1: stage1.with_block(piece), ..form }),
        };
        let (Single(first) | TwoStage(TwoStageForm { stage1: first, .. })) = method;
        if first != SendSchedule::Linear {
            case.setting().check_eager()?;
        }
        let part = case.time(&PART);
        let matrix = matrix(case)?;
        let total = matrix.total();
        if total > MOST_ELEMENTS {
            refuse!(
                "these are {total} elements, and there is room for {MOST_ELEMENTS}; give less traffic or fewer processors"
            );
        }
        let words = longest_message(&matrix, &method, &case.params);
        if let Some(most) = case.params.longest_message().filter(|most| words > *most) {
            refuse!(
                "a message may have {words} words, and on this machine one has at most {most}; give less traffic"
            );
        }
        Ok(Box::new(Transportation { case, matrix, method, part }))
    }

    /// Makes the data of each processor.
    fn sources(&self) -> Vec<Source> {
        let (r, seed) = (self.matrix.r(), self.case.seed);
        let source = |i: usize| {
            let sendl = self.matrix.row(i).to_vec();
            let mut rng = fastrand::Rng::with_seed(seed ^ (i as u64) << 32);
            let elements = (0..sendl.iter().sum()).map(|_| rng.u32(..)).collect();
            Source { sendl, elements: Arc::new(elements), r, seed }
        };
        (0..self.case.params.P).map(source).collect()
    }

    /// Returns the names of the phases.
    fn names(&self) -> &'static [&'static str] {
        match self.method {
            Single(_) => &["vectors", "transfer"],
            TwoStage(_) => &["preprocessing 1", "stage 1", "preprocessing 2", "stage 2"],
        }
    }

    /// Returns the predicted times of the phases, or `None` where there is no formula.
    fn predicted(&self) -> Option<Vec<Time>> {
        let costs = TransportationCosts::new(self.case, self.part)?;
        match &self.method {
            Single(SendSchedule::Linear) => Some(predict::linear_times(&costs, &self.matrix)),
            TwoStage(form) if form.stage1 == SendSchedule::Linear => {
                Some(predict::two_stage_times(&costs, &self.matrix, form))
            }
            _ => None,
        }
    }

    /// Returns how the predicted time stands to the model's. With a barrier of the machine's own every step
    /// begins when all processors have ended the one before.
    fn kind(&self) -> FormKind {
        let Case { params, ports, barrier, .. } = self.case;
        let Some(barrier) = barrier else { return FormKind::Estimate };
        let way = params.L + 2 * params.o;
        let (is_even, may_wait) = match self.method {
            Single(_) => (params.g <= way, false),
            TwoStage(_) => {
                // All messages have the same length, in both stages.
                let (P, most) = (params.P, self.matrix.at(0, 0));
                let is_even =
                    most.is_multiple_of(P) && self.matrix.entries().iter().all(|a_ij| *a_ij == most);
                (P.is_power_of_two() && is_even, params.g > way + *barrier)
            }
        };
        match params.P {
            1 => FormKind::Exact,
            // A number of several words is a stream, and the gap of a scan may last longer than a step.
            _ if params.word.get() < BYTES || may_wait => FormKind::Estimate,
            _ if *ports == Ports::Dual && is_even => FormKind::Exact,
            _ => FormKind::UpperBound,
        }
    }

    /// Returns the metrics of a run.
    fn metrics(&self, time: Time, deliveries: &[Delivery]) -> Vec<Metric> {
        let (matrix, P) = (&self.matrix, self.case.params.P);
        let mut metrics = Vec::new();
        let (r, c, t) = (matrix.r(), matrix.c(), matrix.t());
        if let Some(mu) = TransportationCosts::mu(self.case).filter(|mu| *mu > 0.0 && t > 0) {
            let ratio = |elements: usize| time.as_ps() as f64 / (elements as f64 * mu);
            metrics.push(("time / 2 t mu", ratio(2 * t)));
            if r != c {
                metrics.push(("time / (r + c) mu", ratio(r + c)));
            }
        }
        metrics.extend(metrics::lengths(deliveries));
        if let TwoStage(TwoStageForm { shuffled: true, .. }) = self.method {
            metrics.extend(expected_longest(t, P).map(|length| ("expected most", length)));
        }
        metrics.extend(metrics::counts(deliveries));
        metrics.into_iter().map(|(name, value)| Metric { name, unit: "", value }).collect()
    }
}

impl Predict for Transportation<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let time = self.predicted()?.into_iter().sum();
        Some((self.kind(), time))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        let predicted = self.predicted();
        let phase =
            |(n, name): (usize, &&'static str)| ((*name).into(), predicted.as_ref().map(|phases| phases[n]));
        self.names().iter().enumerate().map(phase).collect()
    }
}

impl Plan for Transportation<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let sources = self.sources();
        let machine = self.case.machine(emulation).rate("part", self.part);
        let run = machine.measure_across(|p| transport(p, self.method, &sources[p.id()]))?;
        let (run, deliveries) = run.take_results();
        let verified = verify::verify(&sources, deliveries.iter().map(|delivery| &delivery.messages[..]));
        let metrics = self.metrics(run.time, &deliveries);
        let names = self.names().iter().map(|name| (*name).into());
        let ends: Vec<&[Time]> = deliveries.iter().map(|delivery| &delivery.ends[..]).collect();
        let phases = names.zip(phase_times(&ends)).collect();
        Ok(Outcome { phases, metrics, ..Outcome::new(run, verified) })
    }
}

/// Runs the algorithm on one processor.
pub fn transport(p: &mut Proc, method: TransportMethod, source: &Source) -> Delivery {
    match &method {
        Single(schedule) => transport_single_stage(p, *schedule, source),
        TwoStage(form) => two_stage::transport_two_stage(p, form, source),
    }
}

/// Runs a single-stage algorithm on one processor: every message goes to its destination as it is (sections 5
/// and 6). Its phases are the exchange of the vectors, and the transfer.
fn transport_single_stage(p: &mut Proc, schedule: SendSchedule, source: &Source) -> Delivery {
    let (Source { sendl, elements, seed, .. }, starts) = (source, source.starts());
    let mut messages = vec![Vec::new(); p.P()];
    let recvl = receive_vector(p, sendl);
    let mut ends = vec![p.local_time()];
    let message = |j: usize| Packet::from_slice(ElementSlice::new(elements, starts[j], sendl[j]));
    let receive = |from: usize, packet: Packet| messages[from] = packet.into_elements();
    let stage = Stage { number: 0, seed: *seed, sendl, recvl: &recvl };
    let counts = schedule.send(p, &stage, message, receive);
    ends.push(p.local_time());
    Delivery { messages, ends, lengths: vec![sendl.clone()], parts: Vec::new(), counts }
}
