//! Remap: every processor has a block of data for every other, and each gets the blocks for it.
//!
//! This is what the FFT does between its cyclic and its blocked layout (Culler et al., "LogP", section 4.1),
//! and LogGP's all-to-all (Alexandrov et al., section 3, figure 4). In the papers a message is a word or a
//! block, and there are two orders. In the *naive* order all processors send to processor 0 first, then to 1
//! and so on (LogP 4.1.2). In the *staggered* order processor i begins with its successor, and wraps around.
//! A processor receives while it waits for the gap: so a message passes each g in both directions, and not
//! each 2g.
//!
//! **Staggered**, all processors do the same at the same time, and each is the receiver of one. So nothing
//! stalls, and one processor's time is the time of all: `lockstep_time` computes it, for messages that stay
//! (k-1)G + L under way and are (k-1)G + g apart. It is LogP's n/P max(2o, g) + L (section 4.1.4) with all
//! terms kept; o to send the first and o to receive the last are 2o more. Two effects are not in the paper. A
//! reception that begins shortly before the end of the gap delays the next send: none does if 2o + L mod g <=
//! g. And if 2o > g, sends are g apart until the first message arrives, and only then 2o.
//!
//! - `short-staggered` is exact on every LogP and LogGP machine.
//! - `short-synchronized` is exact too: the same for every block, and P - 1 barriers.
//! - `long-staggered` is exact with dual ports, except that it is a lower bound if g <= o < (k-1)G + g < 2o.
//!   With a single port it is a lower bound, and exact if no message arrives while another leaves
//!   (`is_exact_with_single_ports`). It is the longest of three times: to send, (P-1)((k-1)G + g); of the
//!   port to send and receive, 2(P-1)(k-1)G, which is LogGP's 2kG; and of the processor, 2(P-1)o. LogGP
//!   measured up to 20% more.
//!
//! **Naive**, "all but L/g processors will stall on the first send and then one will send to processor 0
//! every g cycles" (LogP 4.1.2). So its m messages arrive one each g. Meanwhile processor 0, which nothing
//! hinders, has sent all of its own; so P - 2 senders are left for processor 1, P - 3 for processor 2: in
//! total P/2 times as many gaps as in the staggered order. LogP has no formula: this one is ours, an estimate
//! and no bound. The model may exceed it a little, as a processor that sends is not always ready to receive. It
//! falls short of it where a block has fewer words than there are processors, since the first to be done with
//! a receiver go on to the next while others stall. It also falls short of it where L is no multiple of g: then
//! C messages each L are more than one each g, and the receiver lags behind.

use loggp_model::params::{Params, Ports};
use loggp_model::time::Time;
use loggp_schedule::{Schedule, ScheduleError};

use crate::plan::boxed;
use crate::steps::{self, Step};
use crate::{ClosedForm, Description, FormKind, Predict, Refusal, Setting, Size, StepProgram};

/// Purpose and source of the program.
pub const ABOUT: &str = "every processor has a block for every other (LogP, section 4.1; LogGP, section 3)";
/// Meaning and default of its size.
pub const SIZE: Size = Size { meaning: "bytes from each processor to each other", default: 64 };

/// The program.
pub static REMAP: StepProgram = StepProgram {
    about: ABOUT,
    size: SIZE,
    algorithms: &[
        (LONG_STAGGERED, |s| boxed(Remap::new(s, MessageLength::Long, SendOrder::Staggered))),
        (LONG_NAIVE, |s| boxed(Remap::new(s, MessageLength::Long, SendOrder::Naive))),
        (SHORT_STAGGERED, |s| boxed(Remap::new(s, MessageLength::Short, SendOrder::Staggered))),
        (SHORT_SYNCHRONIZED, |s| boxed(Remap::new(s, MessageLength::Short, SendOrder::Synchronized))),
        (SHORT_NAIVE, |s| boxed(Remap::new(s, MessageLength::Short, SendOrder::Naive))),
    ],
};

/// The algorithm `long-staggered`.
pub const LONG_STAGGERED: Description = Description {
    name: "long-staggered",
    about: "a message for each block; processor i begins with i+1, and wraps around",
    formula: ClosedForm::Paper(
        "LogGP, section 3, with all terms kept",
        "k words: 2o + (P-2) max((k-1)G + g, 2o) + (k-1)G + L, with less while nothing has come yet, and \
                 what receptions delay; with a single port at least that with o for 2o, 2o + 2(P-1)(k-1)G and 2(P-1)o",
    ),
};

/// The algorithm `long-naive`.
pub const LONG_NAIVE: Description = Description {
    name: "long-naive",
    about: "a message for each block; everyone begins with processor 0",
    formula: ClosedForm::None("the paper sends long messages in the staggered order only (LogGP, section 3)"),
};

/// The algorithm `short-staggered`.
pub const SHORT_STAGGERED: Description = Description {
    name: "short-staggered",
    about: "a message for each word; processor i begins with i+1, and wraps around",
    formula: ClosedForm::Paper(
        "LogP, section 4.1.4, with all terms kept",
        "m = (P-1) ceil(size/word): 2o + (m-1) max(g, 2o) + L, with less while nothing has come yet, and what \
                 receptions delay",
    ),
};

/// The algorithm `short-synchronized`.
pub const SHORT_SYNCHRONIZED: Description = Description {
    name: "short-synchronized",
    about: "as short-staggered, with a barrier after each block",
    formula: ClosedForm::Ours("(P-1) times short-staggered for one block, and P-1 barriers"),
};

/// The algorithm `short-naive`.
pub const SHORT_NAIVE: Description = Description {
    name: "short-naive",
    about: "a message for each word; everyone begins with processor 0, and most stall",
    formula: ClosedForm::Ours(
        "2o + (P/2 m - 1) max(g, 2o) + L: at each moment one receiver takes a message each g",
    ),
};

/// The length of a message.
#[derive(Clone, Copy, PartialEq)]
pub enum MessageLength {
    /// A block.
    Long,
    /// A word.
    Short,
}

/// The order in which a processor sends to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOrder {
    /// Processor i begins with i+1, and wraps around, so that each receives from one at a time (LogP, section
    /// 4.1.2).
    Staggered,
    /// As staggered, with a barrier after each block (LogP, section 4.1.4).
    Synchronized,
    /// All send to processor 0 first, then all to 1 (LogP, section 4.1.2).
    Naive,
}

/// A remap.
pub struct Remap<'a> {
    setting: Setting<'a>,
    length: MessageLength,
    order: SendOrder,
    /// Bytes of a message: a word or a block.
    pub piece: usize,
    /// Number of messages of a block.
    pieces: usize,
}

impl<'a> Remap<'a> {
    /// Returns the remap, or refuses it.
    pub fn new(setting: Setting<'a>, length: MessageLength, order: SendOrder) -> Result<Remap<'a>, Refusal> {
        const MOST_BYTES: u128 = 1 << 31;
        const MOST_MESSAGES: u128 = 1 << 26;
        if setting.size == 0 {
            refuse!("a size of 0 leaves nothing to send; give at least 1");
        }
        let piece = if length == MessageLength::Short {
            setting.params.word.get().min(setting.size)
        } else {
            setting.size
        };
        let pieces = setting.size.div_ceil(piece);
        let P = setting.params.P as u128;
        let bytes = P * P * setting.size as u128;
        let messages = P * (P - 1) * pieces as u128;
        if bytes > MOST_BYTES {
            refuse!(
                "{P} processors with blocks of {} bytes hold {bytes} bytes, and there is room for {MOST_BYTES}; \
                 give a smaller size or fewer processors",
                setting.size
            );
        }
        if messages > MOST_MESSAGES {
            refuse!(
                "{messages} messages are too many, and {MOST_MESSAGES} are not; give a smaller size or fewer processors"
            );
        }
        Ok(Remap { setting, length, order, piece, pieces })
    }

    /// Returns what a processor does.
    pub fn steps(&self, id: usize) -> Box<dyn Iterator<Item = Step> + '_> {
        let Remap { piece, pieces, order, .. } = *self;
        let (P, size, params) = (self.setting.params.P, self.setting.size, self.setting.params);
        let lengths = move || (0..pieces).map(move |index| piece.min(size - index * piece));
        if order == SendOrder::Naive && params.is_synchronous(params.words(piece)) {
            // A message waits for its receiver (LogGPS, section 3.1), so each step belongs to one receiver: if
            // all sent first, no processor would receive.
            return Box::new((0..P).flat_map(move |to| {
                let receive = Step::Receive { from: None, number: None };
                let receptions = if to == id { (P - 1) * pieces } else { 0 };
                let sends = if to == id { 0 } else { pieces };
                let send = move |bytes| Step::Send { to, bytes, number: None };
                std::iter::repeat_n(receive, receptions).chain(lengths().take(sends).map(send))
            }));
        }
        // In the naive order the sender of a step's message is not known; it is needed only where messages wait.
        let blocks = (1..P).map(move |step| match order {
            SendOrder::Naive => (step - usize::from(step <= id), id),
            _ => ((id + step) % P, (id + P - step) % P),
        });
        Box::new(blocks.flat_map(move |(to, from)| {
            let barrier = (order == SendOrder::Synchronized).then_some(Step::Barrier);
            lengths().map(move |bytes| Step::Exchange { to, from, bytes, longest: piece }).chain(barrier)
        }))
    }
}

impl Predict for Remap<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let Params { L, o, g, P, .. } = *self.setting.params;
        let G = self.setting.params.G()?;
        let form = |kind, time| Some((kind, time));
        if P == 1 {
            return form(FormKind::Exact, Time::ZERO);
        }
        let others = P as i64 - 1;
        let block = self.setting.size.div_ceil(self.setting.params.word.get()) as i64; // in words
        let exact = |time: Time| form(FormKind::Exact, time);
        match (self.length, self.order) {
            (MessageLength::Short, SendOrder::Staggered) => exact(lockstep_time(others * block, o, g, g, L)),
            (MessageLength::Short, SendOrder::Synchronized) => {
                // From the last send of a block to the first of the next there is a round trip, or the gap.
                let trip = L + 2 * o;
                let gap = (g - trip).max(Time::ZERO);
                let barriers = match self.setting.barrier {
                    Some(cost) => cost + (others - 1) * cost.max(gap),
                    None => {
                        let rounds = others * i64::from(P.next_power_of_two().ilog2());
                        rounds * trip + (rounds + others - 1) * gap
                    }
                };
                exact(others * lockstep_time(block, o, g, g, L) + barriers)
            }
            (MessageLength::Short, SendOrder::Naive) if P == 2 => exact(lockstep_time(block, o, g, g, L)),
            (MessageLength::Short, SendOrder::Naive) => {
                let time = 2 * o + (P as i64 * others / 2 * block - 1) * g.max(2 * o) + L;
                form(FormKind::Estimate, time)
            }
            (MessageLength::Long, SendOrder::Naive) => None,
            (MessageLength::Long, _) => {
                let stream = (block - 1) * G;
                let (time, is_exact) = match self.setting.ports {
                    Ports::Single if stream > Time::ZERO => {
                        let sending = 2 * o + (others - 1) * o.max(stream + g) + stream + L;
                        let time = sending.max(2 * o + 2 * others * stream).max(2 * others * o);
                        (time, is_exact_with_single_ports(self.setting.params, self.setting.size))
                    }
                    _ => {
                        let time = lockstep_time(others, o, g, stream + g, stream + L);
                        (time, !(g <= o && o < stream + g && stream + g < 2 * o))
                    }
                };
                form(if is_exact { FormKind::Exact } else { FormKind::LowerBound }, time)
            }
        }
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Setting { params, levels, barrier, .. } = self.setting;
        // The machine's own barrier is no messages.
        let is_known = levels.is_empty() && (barrier.is_none() || self.order != SendOrder::Synchronized);
        is_known.then(|| steps::schedule(params, |id| self.steps(id)))
    }
}

/// Returns the time of m messages of each processor, if all do the same at the same time. Sends are at least
/// `h` apart, each message arrives `transit` after it entered, and receptions are g apart.
///
/// Let e(i) be the time at which message i enters. A message that was sent then arrives after q =
/// floor(transit / h) more sends, `phase` after the last of them. The next send waits for the gap, or until
/// that message is received: e(i+1) = max(e(i) + h, e(i) + 2o if one waited, e(i-q) + transit + 2o). So e(i)
/// is the longest path from the first message to i, with steps of one message that last max(h, 2o), and steps
/// of q + 1 messages that last transit + 2o. If the arrival is too late for a reception before the next send,
/// it waits for that send.
pub fn lockstep_time(m: i64, o: Time, g: Time, h: Time, transit: Time) -> Time {
    let last = m - 1;
    if h <= o {
        return burst_time(m, o, transit);
    }
    let (q, phase) = (transit.as_ps() / h.as_ps(), Time::from_ps(transit.as_ps() % h.as_ps()));
    if last <= q {
        return 2 * o + last * h + transit; // all are sent before the first comes
    }
    let step = h.max(2 * o);
    if phase > h - o {
        let sent = o + (q + 1) * h + (last - q - 1) * step;
        return sent + transit.max((q + 1) * g.max(o)) + o;
    }
    let path = |trips: i64| trips * (transit + 2 * o) + (last - trips * (q + 1)) * step;
    let mut sent = path(1).max(path(last / (q + 1)));
    if step == h {
        sent = sent.max(path(0));
    }
    o + sent + transit + o
}

/// Returns the same time where the gap is no longer than o. A processor sends without a pause until the first
/// message arrives, then receives without a pause all that was sent to it, and so on. It is always busy,
/// except after the last burst if that is shorter than the others.
fn burst_time(m: i64, o: Time, transit: Time) -> Time {
    if o == Time::ZERO {
        return transit;
    }
    let burst = 1 + (transit.as_ps() as u64).div_ceil(o.as_ps() as u64) as i64;
    let rest = m % burst;
    let tail = if rest > 0 { o + transit + rest * o } else { Time::ZERO };
    2 * (m - rest) * o + tail
}

/// Returns whether on a machine with single ports no message of `long-staggered` arrives while another
/// leaves, so that its formula is exact: nothing delays a send, and a message's (k-1)G fit between two sends.
fn is_exact_with_single_ports(params: &Params, size: usize) -> bool {
    let Params { L, o, g, P, .. } = *params;
    let stream = params.stream(params.words(size));
    let h = stream + g;
    if stream == Time::ZERO || P == 1 {
        return true;
    }
    let phase = Time::from_ps(L.as_ps() % h.as_ps());
    let received = Time::from_ps((L + stream).as_ps() % h.as_ps());
    2 * o <= h && received + 2 * o <= h && stream <= phase && phase <= g
}
