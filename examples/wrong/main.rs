//! Ten wrong programs, each of which ends well under the usual order of messages or on most machines. This
//! example checks one program: `cargo run --example wrong -- arrival`.

mod arrival;
mod buffer;
mod counting;
mod empty_look;
mod floating;
mod next_round;
mod one_order;
mod rendezvous;
mod starving;
mod tag_clash;

use loggp::check::Check;
use loggp::{Machine, Params, Proc, RunError, US};

/// The program of each processor.
pub(crate) type Program = fn(&mut Proc) -> Vec<f64>;

/// The wrong programs, by name.
pub(crate) const WRONG: [(&str, Program); 10] = [
    ("arrival", arrival::program),
    ("buffer", buffer::program),
    ("counting", counting::program),
    ("empty-look", empty_look::program),
    ("floating", floating::program),
    ("next-round", next_round::program),
    ("one-order", one_order::program),
    ("rendezvous", rendezvous::program),
    ("starving", starving::program),
    ("tag-clash", tag_clash::program),
];

/// Creates the machine of a program: of LogGPS if long messages matter to it, and otherwise of LogP.
pub(crate) fn machine(name: &str) -> Result<Machine, RunError> {
    let params = match name {
        "rendezvous" => Params::builder(4).set("L=6,o=2,g=0,O_s=0,O_r=0,G_s=1,G_l=1,s=50,S=100")?.build()?,
        _ => Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?,
    };
    Ok(Machine::new(params))
}

#[allow(dead_code)] // the tests check all
fn main() -> Result<(), RunError> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some((name, program)) = WRONG.iter().find(|(other, _)| *other == name) else {
        let names: Vec<_> = WRONG.iter().map(|(name, _)| *name).collect();
        eprintln!("error: there is no wrong program {name:?}; give {}", names.join(", "));
        std::process::exit(2);
    };
    println!("{}", Check::new().run(&machine(name)?, program)?);
    Ok(())
}
