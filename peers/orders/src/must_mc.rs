//! `must-mc`, with messages that overtake each other.

use must::event::Model;
use must::{Config, CountingObserver, Ctx, System, explore};

use super::{Program, Step};

/// How many orders a program has, and after how many runs that was known.
pub fn count(program: &Program) -> (usize, usize) {
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
                            Step::Send(to, tag) => send(to, tag),
                            Step::Recv(tag) => {
                                let ending = format!(" {tag}");
                                let got = c.recv(move |message| message.ends_with(&ending)).await;
                                last = sender(&got.to_string());
                            }
                            Step::RecvFrom(from, tag) => {
                                receive_from(&c, from, tag).await;
                                last = from;
                            }
                            Step::Answer(tag) => send(last, tag),
                            Step::RecvAgain(tag) => receive_from(&c, last, tag).await,
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

/// Who sent a message.
fn sender(message: &str) -> usize {
    message.split(' ').next().and_then(|id| id.parse().ok()).expect("a message begins with its sender")
}
