//! Common patterns of communication as schedules.

use loggp::audit::audit;
use loggp::schedule::Operation;
use loggp::schedule::{CostModel, Player};
use loggp::{Params, US};
use loggp_goal::patterns::{PATTERNS, method_schedule, pattern_schedule};

/// Every pattern ends for every number of ranks, by both cost models.
#[test]
fn every_pattern_ends() {
    let params = Params::builder(1).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    for pattern in PATTERNS {
        for P in 1..=33 {
            let Ok(schedule) = method_schedule(pattern, P, 8) else {
                assert!(pattern.name == "recursive-doubling" && !P.is_power_of_two());
                continue;
            };
            assert_eq!(schedule.ranks(), P);
            for rules in [CostModel::Papers, CostModel::LogGOPSim] {
                let replayed = Player::new(params).rules(rules).run(&schedule);
                let replayed = replayed.unwrap_or_else(|error| panic!("{}, {P}: {error}", pattern.name));
                let sends = (0..P).flat_map(|rank| schedule.operations(rank));
                let sends = sends.filter(|op| matches!(op.operation, Operation::Send { .. })).count() as u64;
                assert_eq!(replayed.messages, sends);
                assert!(replayed.warnings.is_empty(), "{}, {P}: {:?}", pattern.name, replayed.warnings);
            }
        }
    }
}

/// LogP: a binomial broadcast over 8 takes three rounds of L + 2o = 10. 0 sends at 0, 4 and 8.
#[test]
fn a_binomial_broadcast_takes_three_rounds() {
    let params = Params::builder(1).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let schedule = pattern_schedule("binomial-broadcast", 8, 1, &[]).unwrap().unwrap();
    let replayed = Player::new(params).run(&schedule).unwrap();
    // 1 has the datum at 10 and sends to 3 and 5, 2 at 14 and sends to 6, 3 at 20 and sends to 7.
    let finishes = replayed.finishes.iter().map(|time| time.as_ps() / US.as_ps());
    assert_eq!(finishes.collect::<Vec<_>>(), [10, 16, 16, 22, 18, 24, 24, 30]);
}

/// A schedule that would be too large is refused before it is built.
#[test]
fn too_many_operations_are_refused_at_once() {
    for name in ["all-to-all", "pairwise", "ring-allreduce"] {
        let why = pattern_schedule(name, 1 << 17, 8, &[]).unwrap().unwrap_err();
        assert!(why.contains("give fewer ranks"), "{why}");
    }
}

/// The auditor, which does not know schedules, finds the traces clean and counts the same stalls.
#[test]
fn traces_of_schedules_keep_the_rules() {
    for pattern in PATTERNS {
        for text in [
            "L=6us,o=2us,g=4us,G=0.5us,word=1",
            "L=9us,o=2us,S=10,s=5,O_s=10ns,O_r=3ns,G_s=7ns,G_l=-1ns,word=1",
        ] {
            let params = Params::builder(8).set(text).unwrap().build().unwrap();
            let player = Player::new(params).trace(true);
            let played = player.run(&method_schedule(pattern, 8, 30).unwrap()).unwrap();
            let audit = audit(played.trace.as_ref().unwrap());
            assert!(audit.is_clean(), "{} with {text}: {:?}", pattern.name, audit.violations.first());
            assert_eq!(
                (audit.finish, audit.messages as u64, audit.stalls as u64, audit.stalled),
                (played.time, played.messages, played.stalls, played.stall_time)
            );
        }
    }
}
