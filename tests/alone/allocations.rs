//! Sending and receiving allocates nothing, once there is room for as many messages as lie in an inbox at
//! once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use loggp::{ClockKind, Dilation, Machine, Params, Proc, SEC, Tag, US, collectives};

use crate::alone;

/// The system's allocator, which counts allocations of threads that set [`IS_COUNTING`].
struct CountingAllocator;

thread_local! {
    /// True while allocations of this thread are counted.
    static IS_COUNTING: Cell<bool> = const { Cell::new(false) };
}
/// The number of counted allocations.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_COUNTING.try_with(Cell::get) == Ok(true) {
            ALLOCATIONS.fetch_add(1, SeqCst);
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

/// Runs a round of each pattern: a ring, an all-to-all with all sends first, a barrier, receives with
/// deadlines, and a staggered remap.
fn round(p: &mut Proc) {
    let (id, P) = (p.id(), p.P());
    p.send((id + 1) % P, NUMBER, id as u64);
    assert_eq!(p.recv(NUMBER.from((id + P - 1) % P)), ((id + P - 1) % P) as u64);
    for other in (0..P).filter(|other| *other != id) {
        p.send(other, NAMED, (id as u64, 1));
    }
    for _ in 1..P {
        let (from, value) = p.recv_with_sender(NAMED);
        assert_eq!(value, (from as u64, 1));
    }
    collectives::barrier(p);
    // The deadline is long after the message's arrival.
    p.send((id + 1) % P, NUMBER, id as u64);
    assert!(p.recv_deadline(NUMBER, p.now() + SEC).is_some());
    collectives::barrier(p);
    for step in 1..P {
        p.send((id + step) % P, NUMBER.step(step), step as u64);
        p.work("local", 1, || ());
        p.recv(NUMBER.step(step));
    }
    collectives::barrier(p);
}

/// Returns the number of allocations in a thousand rounds, after a thousand rounds that may allocate.
fn count_allocations(machine: Machine) -> u64 {
    ALLOCATIONS.store(0, SeqCst);
    let run = machine.run(|p| {
        for number in 0..2100 {
            // Nothing after a processor's last barrier is counted, since some end before others.
            if [1000, 2000].contains(&number) {
                IS_COUNTING.set(number == 1000);
            }
            round(p);
        }
    });
    assert!(run.is_ok(), "{run:?}");
    ALLOCATIONS.load(SeqCst)
}

/// Other threads may allocate, such as the watchdog for programs that do not return.
#[test]
fn messages_allocate_nothing() {
    let _guard = alone();
    for P in [2, 3, 16] {
        let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
        assert_eq!(count_allocations(Machine::new(params)), 0, "virtual clock, P = {P}");
    }
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let machine = Machine::new(params).clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
    assert_eq!(count_allocations(machine), 0, "wall clock");
    // The allocator does count.
    IS_COUNTING.set(true);
    drop(std::hint::black_box(vec![1_u8]));
    IS_COUNTING.set(false);
    assert!(ALLOCATIONS.load(SeqCst) > 0);
}
