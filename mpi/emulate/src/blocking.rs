//! Blocking collectives, which make blocking calls: a message is sent once those before it are through, and what comes while
//! the gap before a send runs is received meanwhile, as in an exchange.

use std::borrow::Cow;
use std::sync::Arc;

use loggp::schedule::Operation;
use loggp::{Proc, WithSender};

use crate::background::{Background, Backgrounds};
use crate::plan::{Blank, BlankTag, CollectivePlan, PlanProgress};

/// Makes the calls of a blocking collective. The rank's immediate ones go on meanwhile.
pub(crate) fn run(plan: &Arc<CollectivePlan>, p: &mut Proc, tag: BlankTag, others: &mut Backgrounds) {
    let mut progress = PlanProgress::new(plan);
    while progress.left > 0 {
        let has_receives = !progress.posted.is_empty();
        match progress.ready.first().map(|act| (act, plan.operations[act as usize])) {
            Some((act, Operation::Send { to, bytes, .. })) => {
                let waits = match others.is_empty() {
                    true => has_receives && is_long(p, to, bytes),
                    false => p.may_wait_to_send(to as usize, bytes as usize),
                };
                if waits {
                    // Two that send to each other would wait for ever.
                    let rest = Background::resume(p, progress, tag);
                    return others.finish(p, rest);
                }
                progress.begin(act);
                if has_receives {
                    let mut came = Vec::new();
                    let all = WithSender(tag);
                    p.send_receiving(to as usize, tag, Blank(bytes), all, |_, (from, _)| came.push(from));
                    came.into_iter().for_each(|from| progress.receive(from));
                } else {
                    p.send(to as usize, tag, Blank(bytes));
                }
                progress.end(act);
            }
            Some((act, Operation::Calc(time))) => {
                progress.begin(act);
                p.compute_for(Cow::Borrowed("combine"), time);
                progress.end(act);
            }
            Some((act, _)) => {
                progress.begin(act);
                progress.end(act);
            }
            None => {
                let from = match progress.only_sender() {
                    Some(from) => {
                        others.receive(p, tag.from(from));
                        from
                    }
                    None => others.receive(p, WithSender(tag)).0,
                };
                progress.receive(from);
            }
        }
    }
}

/// Returns whether a message waits until its receiver asks for it (LogGPS).
fn is_long(p: &Proc, to: u32, bytes: u64) -> bool {
    let params = p.params_to(to as usize);
    params.gps().is_some_and(|gps| p.params().words(bytes as usize) > gps.S)
}
