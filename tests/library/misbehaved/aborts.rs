//! A program that deadlocks while threads that a processor started use its stack. A test builds it and the
//! library with aborting panics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use loggp::{Carrier, ClockKind, Dilation, Machine, Params, RunError, Tag, US};

const BYTE: Tag<u8> = Tag::new(0);

fn main() -> Result<(), RunError> {
    let machine =
        Machine::new(Params::builder(2).L(6 * US).o(2 * US).build()?).dilation(Dilation::Fixed(1.0));
    let place = std::env::args().nth(1).unwrap();
    let machine = match &*place {
        "wall" => machine.clock(ClockKind::Wall),
        "coroutine" => machine.clock(ClockKind::Wall).carrier(Carrier::Coroutine),
        _ => machine,
    };
    machine.run(|p| match p.id() {
        0 if place == "unreceived" => p.send(1, BYTE, 1),
        0 => {
            let count = AtomicU64::new(0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..50 {
                        count.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(1));
                    }
                });
                p.recv(BYTE);
            });
        }
        _ => {}
    })?;
    Ok(())
}
