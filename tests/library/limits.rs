//! The limits of this computer: stacks that overflow, and more processors than fit its memory.
//!
//! Each case ends a process or limits it, so it runs in a child process: this test again, with a task in a
//! variable.

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use loggp::{Cause, Dilation, Machine, Params, Proc, RunError, US, Work};

use crate::child::{self, CLOCKS, on_clock, task};

/// Returns the output of a child that does this task of a test. The shell runs the commands `before` first.
fn child(test: &str, task: &str, before: &str) -> Output {
    child::start(test, task, before).wait_with_output().unwrap()
}

/// Returns all text that a child wrote.
fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn machine(P: usize, place: &str) -> Machine {
    let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    on_clock(place, Machine::new(params).work(Work::Charged).dilation(Dilation::Fixed(1.0)))
}

/// Overflows the stack.
#[allow(unconditional_recursion)]
fn grow(depth: u64) -> u64 {
    let frame = [depth; 16];
    black_box(&frame);
    grow(black_box(depth + 1)) + frame[0]
}

/// Reads from an address without memory.
fn touch_nothing() {
    // SAFETY: there is no memory at that address, so the host ends the process.
    black_box(unsafe { std::ptr::without_provenance::<u8>(8).read_volatile() });
}

/// Runs a machine on which processor 3 of 5 does something.
fn run_on_third(place: &str, something: impl Fn(&mut Proc) + Sync) {
    let ended = machine(5, place).stack(192 << 10).run(|p| {
        p.barrier();
        if p.id() == 3 {
            something(p);
        }
        p.barrier();
    });
    ended.unwrap();
}

#[test]
fn a_processor_that_overflows_its_stack_is_named() {
    if let Some(task) = task() {
        let (name, where_) = task.split_once(' ').unwrap();
        let overflow = |_: &mut Proc| _ = black_box(grow(0));
        match where_ {
            // In a run that a processor of another run started on the same thread.
            "nested" => run_on_third("virtual", |_| run_on_third(name, overflow)),
            // After another run, and on a thread that has no stack for signals.
            "bare" => {
                run_on_third("wall", |_| ());
                // SAFETY: this removes this thread's stack for signals, which no handler uses now.
                unsafe {
                    let mut none: libc::stack_t = std::mem::zeroed();
                    none.ss_flags = libc::SS_DISABLE;
                    assert_eq!(libc::sigaltstack(&none, std::ptr::null_mut()), 0);
                }
                run_on_third(name, overflow);
            }
            _ => run_on_third(name, overflow),
        }
        return;
    }
    for clock in CLOCKS {
        for where_ in ["plain", "nested", "bare"] {
            let task = format!("{clock} {where_}");
            let ended = child("limits::a_processor_that_overflows_its_stack_is_named", &task, "");
            let text = text_of(&ended);
            let expected =
                "processor 3 has overflowed its stack of 192 KiB; give it more with Machine::stack\n";
            assert!(text.contains(expected), "{task}: {text}");
            assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{task}: {text}");
        }
    }
}

#[test]
fn other_faults_keep_their_signals() {
    if let Some(task) = task() {
        run_on_third("virtual", |_| ());
        run_on_third("wall", |_| ());
        match &*task {
            "outside" => touch_nothing(),
            "virtual" | "wall" | "coroutine" => run_on_third(&task, |_| touch_nothing()),
            _ => _ = std::thread::spawn(|| black_box(grow(0))).join(),
        }
        return;
    }
    for task in ["outside"].into_iter().chain(CLOCKS) {
        let ended = child("limits::other_faults_keep_their_signals", task, "");
        let text = text_of(&ended);
        assert_eq!(ended.status.signal(), Some(libc::SIGSEGV), "{task}: {text}");
        assert!(!text.contains("overflowed"), "{task}: {text}");
    }
    let ended = child("limits::other_faults_keep_their_signals", "thread", "");
    let text = text_of(&ended);
    assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains("has overflowed its stack") && !text.contains("Machine::stack"), "{text}");
}

/// Returns the refusal of a run.
fn refusal(ended: Result<loggp::Run<()>, RunError>) -> String {
    match ended.unwrap_err() {
        RunError { cause: Cause::Host(text), processors, .. } if processors.is_empty() => text,
        other => panic!("{other}"),
    }
}

/// Returns the number of processors that a refusal allows.
fn allowed(refusal: &str) -> usize {
    let (_, rest) = refusal.split_once("allows ").unwrap();
    rest.split(':').next().unwrap().parse().unwrap()
}

#[test]
fn machine_beyond_memory_is_refused_and_smaller_ones_run() {
    if let Some(task) = task() {
        let run = |P| machine(P, &task).run(|_| ());
        let refusal = refusal(run(1_000_000));
        println!("{refusal}");
        let most = allowed(&refusal);
        assert!(most > 1000, "{most} are few");
        run(most).unwrap();
        println!("ran {most}");
        return;
    }
    for task in CLOCKS {
        let test = "limits::machine_beyond_memory_is_refused_and_smaller_ones_run";
        // The allocator may reserve as much for each of several threads.
        let cores = std::thread::available_parallelism().unwrap().get();
        let threads = if task == "wall" { 8 * cores } else { 1 + cores };
        let kib = 500_000 + 128 * 1024 * threads;
        let ended = child(test, task, &format!("ulimit -v {kib};"));
        let text = text_of(&ended);
        assert!(ended.status.success(), "{task}: {:?} {text}", ended.status);
        assert!(
            text.contains(&format!("ulimit -v is {kib} KiB")) && text.contains("\nran "),
            "{task}: {text}"
        );
    }
}

/// Stacks share one mapping, so the limit on mappings does not limit their number.
#[test]
fn many_thousand_processors_run_as_coroutines() {
    for place in ["virtual", "coroutine"] {
        let P = 40_000;
        // SAFETY: the program needs little of a stack.
        let machine = unsafe { machine(P, place).unguarded_stacks(true) };
        let run = machine.barrier(US).run(|p| {
            p.barrier(); // all wait at once
            p.id()
        });
        assert!(run.unwrap().results.into_iter().eq(0..P));
    }
}

/// Has the host guard no page within a mapping, as Linux before 6.13. Returns whether that could be done.
fn forget_guards() -> bool {
    const MADV_GUARD_INSTALL: u32 = 102;
    const NUMBER: u32 = 0;
    const THIRD_ARGUMENT: u32 = 32;
    let load = |place| libc::sock_filter {
        code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
        jt: 0,
        jf: 0,
        k: place,
    };
    let unless_equal = |k, skip| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: skip,
        k,
    };
    let end = |k| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k };
    let mut filter = [
        load(NUMBER),
        unless_equal(libc::SYS_madvise as u32, 3),
        load(THIRD_ARGUMENT),
        unless_equal(MADV_GUARD_INSTALL, 1),
        end(libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter is there while the calls read it, and lets all but one kind of call be as they are.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

/// Where a guard page takes mappings, more processors than those allow run only if they may do without.
#[test]
fn stacks_without_guards_are_refused_unless_asked_for() {
    if let Some(task) = task() {
        if !forget_guards() {
            return println!("done: this host filters no calls");
        }
        let run = |P| machine(P, &task).run(|_| ());
        run(5_000).unwrap();
        let refusal = refusal(run(1 << 20));
        println!("{refusal}");
        assert!(refusal.contains("1048576 guarded stacks") && refusal.contains("Linux 6.13"), "{refusal}");
        let most = allowed(&refusal);
        // What the process has mapped changes a little.
        run(most - 100).unwrap();
        assert!(self::refusal(run(most + 1_000)).contains("guarded stacks"));
        // SAFETY: the program needs little of a stack.
        unsafe { machine(most + 1_000, &task).unguarded_stacks(true) }.run(|_| ()).unwrap();
        println!("done: {most}");
        return;
    }
    for task in ["virtual", "coroutine"] {
        let ended = child("limits::stacks_without_guards_are_refused_unless_asked_for", task, "");
        let text = text_of(&ended);
        assert!(ended.status.success() && text.contains("done"), "{task}: {text}");
    }
}

#[test]
fn stack_beyond_the_address_space_is_refused() {
    for place in CLOCKS {
        for stack in [usize::MAX, usize::MAX - 4096, usize::MAX / 2] {
            let refused = refusal(machine(2, place).stack(stack).run(|_| ()));
            assert!(refused.contains("allows 0") && refused.contains("smaller stacks"), "{refused}");
        }
    }
}

#[test]
fn more_processors_than_any_computer_holds_are_refused() {
    for place in CLOCKS {
        let P = 1 << 24;
        let refused = refusal(machine(P, place).stack(1 << 24).run(|_| unreachable!()));
        assert!(allowed(&refused) < P, "{refused}");
    }
}
