//! A lock whose key is lost when the processor that has it crashes: found by a check, and mended.

use loggp::check::Check;
use loggp::{Machine, Params, Proc, RunError, Tag, Time, US};

const ASK: Tag<()> = Tag::named(0, "ask");
const KEY: Tag<()> = Tag::named(1, "key");
const BACK: Tag<()> = Tag::named(2, "back");

/// Processor 0 gives the key to whoever asks, and waits until it is back.
fn lock(p: &mut Proc) {
    if p.id() == 0 {
        while let Some((id, ())) = p.recv_deadline(ASK.with_sender(), p.now() + 100 * US) {
            p.send(id, KEY, ());
            p.recv(BACK.from(id));
        }
    } else {
        p.send(0, ASK, ());
        if p.recv_deadline(KEY, p.now() + 300 * US).is_some() {
            p.send(0, BACK, ());
        }
    }
}

/// Processor 0 waits no longer than `patience`, and then makes a new key. Returns when a processor had the key.
fn mended(p: &mut Proc, patience: Time) -> Option<(Time, Time)> {
    if p.id() == 0 {
        while let Some((id, ())) = p.recv_deadline(ASK.with_sender(), p.now() + 100 * US) {
            p.send(id, KEY, ());
            p.recv_deadline(BACK.from(id), p.now() + patience);
        }
        while p.recv_deadline(BACK, p.now() + 100 * US).is_some() {} // what came too late
        return None;
    }
    p.send(0, ASK, ());
    p.recv_deadline(KEY, p.now() + 300 * US)?;
    let from = p.now();
    p.work("use", 5, || ());
    p.send(0, BACK, ());
    Some((from, p.now()))
}

/// No two processors may have the key at the same time.
fn verify(had: &[Option<Option<(Time, Time)>>]) -> Result<(), String> {
    let mut had: Vec<_> = had.iter().flatten().flatten().collect();
    had.sort();
    let one_by_one = had.is_sorted_by(|one, next| one.1 <= next.0);
    if one_by_one { Ok(()) } else { Err("two processors had the key at the same time".into()) }
}

pub fn main() -> Result<(), RunError> {
    let machine = |latency| Machine::new(Params::builder(3).L(latency).o(US).g(US).build().unwrap());
    println!("{}", Check::new().crashes(1).run_surviving(&machine(6 * US), lock, |_| Ok(()))?);
    for (latency, patience) in [(6 * US, 8 * US), (6 * US, 40 * US), (40 * US, 40 * US)] {
        let check = Check::new().crashes(1);
        println!("{}", check.run_surviving(&machine(latency), |p| mended(p, patience), verify)?);
    }
    Ok(())
}
