//! Messages per second through the virtual clock.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use loggp::{Machine, Params, Proc, Tag, US, Work};

/// A word on its way.
const WORD: Tag<u64> = Tag::new(0);

/// Everyone passes a word on to its neighbour, over and over.
fn ring(p: &mut Proc, messages: usize) -> u64 {
    let (next, mut word) = ((p.id() + 1) % p.p(), p.id() as u64);
    for _ in 0..messages {
        p.send(next, WORD, word);
        word = p.recv(WORD).1 + 1;
    }
    word
}

/// Everyone sends to all others in turn, staggered so that no two send to the same one.
fn all_to_all(p: &mut Proc, messages: usize) -> u64 {
    let (id, all) = (p.id(), p.p());
    let mut sum = 0;
    for i in 0..messages {
        p.send((id + 1 + i % (all - 1)) % all, WORD, id as u64);
        sum += p.recv(WORD).1;
    }
    sum
}

type Program = fn(&mut Proc, usize) -> u64;

fn messages(c: &mut Criterion) {
    let mut group = c.benchmark_group("messages");
    group.sample_size(10);
    for processors in [16, 1024, 16384] {
        let params = Params::new(processors).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
        let machine = Machine::new(params).work(Work::Charged);
        let each = 4_000_000 / processors;
        group.throughput(Throughput::Elements((each * processors) as u64));
        for (name, program) in [("ring", ring as Program), ("all-to-all", all_to_all)] {
            group.bench_function(BenchmarkId::new(name, processors), |b| {
                b.iter(|| black_box(machine.run(|p| program(p, each)).unwrap().time));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, messages);
criterion_main!(benches);
