//! The systematic strategy. With a large L all orders are the machine's own.

use loggp::{Check, Machine, Params, Strategy, Tag, US};

use super::{Program, Step};

/// How many orders a program has on a machine on which messages are under way for up to so many cycles, and how many runs
/// showed that.
pub fn count(program: &Program, L: i64) -> (usize, usize) {
    let params = Params::builder(program.len()).L(L * US).o(US).build().expect("there is such a machine");
    let check =
        Check::new().strategy(Strategy::Systematic).runs(usize::MAX).audits(0).results_may_differ(true);
    let checked = check.run(&Machine::new(params), |p| {
        let mut last = 0;
        for step in &program[p.id()] {
            let about = |tag: u16| Tag::<()>::new(tag);
            match *step {
                Step::Send(to, tag) => p.send(to, about(tag), ()),
                Step::Recv(tag) => last = p.recv(about(tag)).0,
                Step::RecvFrom(from, tag) => {
                    p.recv_from(from, about(tag));
                    last = from;
                }
                Step::Answer(tag) => p.send(last, about(tag), ()),
                Step::RecvAgain(tag) => p.recv_from(last, about(tag)),
            }
        }
    });
    let checked = checked.expect("it can be run");
    assert!(checked.is_right(), "{checked}");
    let coverage = checked.coverage.expect("it was systematic");
    assert!(coverage.is_done(), "{checked}");
    (coverage.orders, checked.runs)
}
