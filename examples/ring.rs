//! A token goes round a ring of processors, and each adds its number to the token. A hop takes o + L + o.

use loggp::{Machine, Params, RunError, Tag, US};

/// The sum so far.
const TOKEN: Tag<u64> = Tag::named(0, "token");

pub fn main() -> Result<(), RunError> {
    let params @ Params { P, L, o, .. } = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
    let run = Machine::new(params).run(|p| {
        let (id, next) = (p.id(), (p.id() + 1) % p.P());
        if id == 0 {
            p.send(next, TOKEN, 0);
            let sum = p.recv(TOKEN);
            return (sum, p.now());
        }
        let sum = p.recv(TOKEN) + id as u64;
        let had = p.now();
        p.send(next, TOKEN, sum);
        (sum, had)
    })?;

    for (id, (sum, had)) in run.results.iter().enumerate() {
        println!("processor {id} has the token at {had:>5}, with the sum {sum:2}");
    }
    println!("{P} hops of L + 2o = {} take {}", L + 2 * o, run.time);

    assert_eq!(run.results[0].0, 28); // 1 + 2 + .. + 7
    assert_eq!(run.time, P as i64 * (L + 2 * o));
    Ok(())
}
