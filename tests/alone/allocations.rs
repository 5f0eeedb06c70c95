//! Nothing is allocated to send and to receive messages, once there is room for as many as lie in an inbox at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use loggp::{ClockKind, Dilation, Machine, Params, Proc, SEC, Tag, US, collectives};

use crate::alone;

/// The system's allocator, which counts what is asked of it while that counts.
struct Counting;

thread_local! {
    /// Whether an allocation of this thread counts now.
    static COUNTS: Cell<bool> = const { Cell::new(false) };
}
/// How many counted.
static COUNTED: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTS.try_with(Cell::get) == Ok(true) {
            COUNTED.fetch_add(1, SeqCst);
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

const NUMBER: Tag<u64> = Tag::new(0);
const NAMED: Tag<(u64, u64)> = Tag::named(1, "pair");

/// A round of each pattern: a ring, an all-to-all with all sends first, a barrier, receives with deadlines, and a staggered
/// remap.
fn round(p: &mut Proc) {
    let (id, P) = (p.id(), p.p());
    p.send((id + 1) % P, NUMBER, id as u64);
    assert_eq!(p.recv_from((id + P - 1) % P, NUMBER), ((id + P - 1) % P) as u64);
    for other in (0..P).filter(|other| *other != id) {
        p.send(other, NAMED, (id as u64, 1));
    }
    for _ in 1..P {
        let (from, value) = p.recv(NAMED);
        assert_eq!(value, (from as u64, 1));
    }
    collectives::barrier(p);
    // Each gives up long after its message is there.
    p.send((id + 1) % P, NUMBER, id as u64);
    assert!(p.recv_until(p.now() + SEC, NUMBER).is_some());
    collectives::barrier(p);
    for step in 1..P {
        p.send((id + step) % P, NUMBER.step(step), step as u64);
        p.work("local", 1, || ());
        p.recv(NUMBER.step(step));
    }
    collectives::barrier(p);
}

/// What a thousand rounds allocate, after a thousand that may.
fn allocated(machine: Machine) -> u64 {
    COUNTED.store(0, SeqCst);
    let run = machine.run(|p| {
        for number in 0..2100 {
            // What comes after the last barrier of a processor is not counted: some end before others.
            if [1000, 2000].contains(&number) {
                COUNTS.set(number == 1000);
            }
            round(p);
        }
    });
    assert!(run.is_ok(), "{run:?}");
    COUNTED.load(SeqCst)
}

/// Other threads, such as the one that looks after programs that do not come back, may allocate.
#[test]
fn messages_allocate_nothing() {
    let _guard = alone();
    for P in [2, 3, 16] {
        let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
        assert_eq!(allocated(Machine::new(params)), 0, "virtual clock, P = {P}");
    }
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let machine = Machine::new(params).clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
    assert_eq!(allocated(machine), 0, "wall clock");
    // The allocator does count.
    COUNTS.set(true);
    drop(std::hint::black_box(vec![1_u8]));
    COUNTS.set(false);
    assert!(COUNTED.load(SeqCst) > 0);
}
