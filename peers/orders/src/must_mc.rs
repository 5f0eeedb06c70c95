//! The search by `must-mc`, with messages that overtake each other.

use must::event::Model;
use must::{Config, CountingObserver, Ctx, System, explore};

use super::{OrderProgram, ProgramStep};

/// Returns the number of orders of a program, and of runs.
pub fn count(program: &OrderProgram) -> (usize, usize) {
    let program = program.clone();
    let counter = CountingObserver::with_shards(1);
    let system = move || {
        let mut system = System::new();
        for (id, steps) in program.iter().enumerate() {
            let steps = steps.clone();
            system.add(move |c: Ctx| {
                let steps = steps.clone();
                async move {
                    let mut last = 0;
                    for step in steps {
                        let send = |to, tag: u16| c.send(to, format!("{id} {tag}"), Model::Asyn);
                        match step {
                            ProgramStep::Send(to, tag) => send(to, tag),
                            ProgramStep::Recv(tag) => {
                                let ending = format!(" {tag}");
                                let got = c.recv(move |message| message.ends_with(&ending)).await;
                                last = sender(&got.to_string());
                            }
                            ProgramStep::RecvFrom(from, tag) => {
                                receive_from(&c, from, tag).await;
                                last = from;
                            }
                            ProgramStep::Answer(tag) => send(last, tag),
                            ProgramStep::RecvAgain(tag) => receive_from(&c, last, tag).await,
                        }
                    }
                }
            });
        }
        system
    };
    explore(system, &counter, Config::default());
    (counter.full(), counter.full() + counter.blocked())
}

async fn receive_from(c: &Ctx, from: usize, tag: u16) {
    let text = format!("{from} {tag}");
    c.recv(move |message| message == text).await;
}

/// Returns the sender of a message.
fn sender(message: &str) -> usize {
    message.split(' ').next().and_then(|id| id.parse().ok()).expect("a message begins with its sender")
}
