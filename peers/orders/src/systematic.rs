//! The search by the systematic strategy of `loggp check`. With a large L the machine allows all orders.

use loggp::check::{Check, Strategy};
use loggp::{Machine, Params, Tag, US};

use super::{OrderProgram, ProgramStep};

/// Returns the number of orders of a program on a machine with this L in cycles, and of runs.
pub fn count(program: &OrderProgram, L: i64) -> (usize, usize) {
    let params = Params::builder(program.len()).L(L * US).o(US).build().expect("there is such a machine");
    let check =
        Check::new().strategy(Strategy::Systematic).runs(usize::MAX).audits(0).results_may_differ(true);
    let checked = check.run(&Machine::new(params), |p| {
        let mut last = 0;
        for step in &program[p.id()] {
            let tag_of = |tag: u16| Tag::<()>::new(tag);
            match *step {
                ProgramStep::Send(to, tag) => p.send(to, tag_of(tag), ()),
                ProgramStep::Recv(tag) => last = p.recv_with_sender(tag_of(tag)).0,
                ProgramStep::RecvFrom(from, tag) => {
                    p.recv(tag_of(tag).from(from));
                    last = from;
                }
                ProgramStep::Answer(tag) => p.send(last, tag_of(tag), ()),
                ProgramStep::RecvAgain(tag) => p.recv(tag_of(tag).from(last)),
            }
        }
    });
    let checked = checked.expect("it can be run");
    assert!(checked.has_passed(), "{checked}");
    let coverage = checked.coverage.expect("it was systematic");
    assert!(coverage.is_complete(), "{checked}");
    (coverage.orders, checked.runs)
}
