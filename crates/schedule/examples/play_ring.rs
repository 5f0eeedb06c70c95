//! A ring of ranks that pass words on many times, played without a program: `.ci/speed` counts what a message costs.
//!
//! `cargo run --release -p loggp-schedule --example play_ring -- 1024 300` plays the messages that `examples/messages.rs` sends.

use loggp_model::params::Params;
use loggp_model::time::US;
use loggp_schedule::{Operation, Player, Schedule, ScheduleBuilder, ScheduleError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let (ranks, times) = (numbers.next().unwrap_or(64), numbers.next().unwrap_or(100));
    let params = Params::builder(ranks).L(6 * US).o(2 * US).g(4 * US).build()?;
    let played = Player::new(params).run(&ring(ranks, times)?)?;
    println!("{} messages take {}", played.messages, played.time);
    Ok(())
}

/// Returns the schedule, in which each operation of a rank waits for the one before it.
fn ring(ranks: usize, times: usize) -> Result<Schedule, ScheduleError> {
    let mut builder = ScheduleBuilder::new(ranks)?;
    for rank in 0..ranks {
        builder.begin_rank(rank)?;
        let to = ((rank + 1) % ranks) as u32;
        for number in 0..2 * times as u32 {
            builder.add(match number % 2 {
                0 => Operation::Send { to, bytes: 8, tag: 0 },
                _ => Operation::Recv { from: None, bytes: 8, tag: Some(0) },
            })?;
            number.checked_sub(1).map_or(Ok(()), |before| builder.require_done(number, before))?;
        }
    }
    builder.build()
}
