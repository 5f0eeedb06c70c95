//! Programs that break the rules for processors (docs/reference/processors.md): each ends with an error or a
//! sentence that names the mistake. None aborts the process, and none hangs silently.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggp::{
    Cause, Dilation, MS, Machine, NS, PS, Params, Payload, Proc, RunError, SEC, Tag, Time, US, Work,
};

use crate::child::{self, CLOCKS};

const BYTE: Tag<u8> = Tag::new(0);
const COUNT: Tag<u32> = Tag::new(9);
const NUMBER: Tag<usize> = Tag::new(0);

fn machine(processors: usize, place: &str) -> Machine {
    let params = Params::builder(processors).L(6 * US).o(2 * US).g(4 * US).cycle(200 * NS).build().unwrap();
    child::on_clock(place, Machine::new(params).work(Work::Charged).dilation(Dilation::Fixed(1.0)))
}

/// Returns the errors of a program that must fail, on both clocks and with both carriers.
fn failures(processors: usize, program: impl Fn(&mut Proc) + Sync) -> Vec<RunError> {
    CLOCKS.map(|place| machine(processors, place).run(&program).unwrap_err()).into()
}

/// A guard that sends, waits and looks when it is dropped.
struct Goodbye<'a, 'b>(&'a mut Proc<'b>);

impl Drop for Goodbye<'_, '_> {
    fn drop(&mut self) {
        let next = (self.0.id() + 1) % self.0.P();
        self.0.send(next, COUNT, 1_u32);
        self.0.wait_until(self.0.now() + US);
        self.0.work("goodbye", 1, || ());
        self.0.barrier();
        while self.0.try_recv(COUNT).is_some() {}
    }
}

#[test]
fn a_destructor_may_send_while_the_run_fails() {
    for error in failures(5, |p| {
        if p.id() == 3 {
            p.wait_until(20 * US);
            std::panic::resume_unwind(Box::new("enough"));
        }
        let guard = Goodbye(p);
        guard.0.recv(BYTE);
    }) {
        assert_eq!(error.cause, Cause::Panic { id: 3, message: "enough".into() });
    }
    for error in failures(3, |p| {
        let guard = Goodbye(p);
        guard.0.recv(BYTE);
    }) {
        assert_eq!(error.cause, Cause::Deadlock { waiting: 3, of: 3 });
    }
}

/// While one processor unwinds from its own panic, the others continue and do not see themselves as
/// unwinding.
#[test]
fn a_processor_that_unwinds_does_not_disturb_the_others() {
    let lock = Mutex::new(0);
    for error in failures(4, |p| {
        if p.id() == 0 {
            let _guard = Goodbye(p);
            std::panic::resume_unwind(Box::new("mine"));
        }
        for _ in 0..3 {
            *lock.lock().unwrap() += 1;
            p.wait_until(p.now() + US);
            assert!(!std::thread::panicking());
        }
    }) {
        assert_eq!(error.cause, Cause::Panic { id: 0, message: "mine".into() });
    }
    assert!(!lock.is_poisoned());
}

/// The destructor runs a machine on a thread that unwinds.
#[test]
fn a_destructor_may_run_a_machine() {
    struct RunsOnDrop<'a>(&'a AtomicUsize);
    impl Drop for RunsOnDrop<'_> {
        fn drop(&mut self) {
            for place in CLOCKS {
                let run = machine(2, place).run(|p| {
                    p.send(1 - p.id(), NUMBER, p.id());
                    p.recv(NUMBER)
                });
                self.0.fetch_add(run.unwrap().results.iter().sum(), Ordering::Relaxed);
            }
        }
    }
    let sum = AtomicUsize::new(0);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _runs = RunsOnDrop(&sum);
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
    assert_eq!(sum.into_inner(), CLOCKS.len());
}

#[test]
fn program_may_catch_its_unwinding_and_return() {
    for error in failures(3, |p| {
        for _ in 0..100 {
            _ = catch_unwind(AssertUnwindSafe(|| p.recv(BYTE)));
        }
    }) {
        assert_eq!(error.cause, Cause::Deadlock { waiting: 3, of: 3 });
    }
    // An invalid call fails the run, even if its panic is caught.
    for error in failures(2, |p| {
        if p.id() == 1 {
            _ = catch_unwind(AssertUnwindSafe(|| p.send(7, BYTE, 1_u8)));
        }
    }) {
        assert!(matches!(error.cause, Cause::NoSuchProcessor { id: 1, other: 7, last: 1, .. }), "{error}");
    }
}

#[test]
fn endless_looking_is_an_error_when_no_other_runs() {
    for place in CLOCKS {
        // Processor 0 looks; the others have finished, wait for it, or look too. (On the wall clock, many
        // processors would hand over their cores at each look.)
        for many in if place == "virtual" { vec![1, 2, 4] } else { vec![1, 2] } {
            // So fast that no call waits for its time.
            let machine = machine(4, place).dilation(Dilation::Fixed(0.01));
            let error = machine.run(|p| match p.id() {
                id if id < many => while p.try_recv(BYTE).is_none() {},
                3 => drop(p.recv(BYTE)),
                _ => {}
            });
            let error = error.unwrap_err();
            assert!(matches!(error.cause, Cause::PollingDeadlock { .. }), "{error}");
            assert!(error.to_string().contains("looked for messages again and again"), "{error}");
        }
    }
}

/// Looking for long with success is no error.
#[test]
fn looking_for_long_is_no_error() {
    let run = machine(3, "virtual").run(|p| match p.id() {
        0 => (0..).take_while(|_| p.try_recv(BYTE).is_none()).count(),
        1 => {
            p.wait_until(260 * MS);
            p.send(0, BYTE, 1_u8);
            0
        }
        _ => (0..1_300_000).filter(|_| p.try_recv(BYTE).is_some()).count(),
    });
    assert_eq!(run.unwrap().results, [1_300_040, 0, 0]);
}

#[test]
fn the_end_of_time_is_named() {
    let long = Time::from_ps(i64::MAX / 2);
    for wait in [Time::ZERO, long] {
        let error = machine(2, "virtual").run(|p| {
            p.wait_until(wait);
            p.work("long", 1 << 62, || ());
            match p.id() {
                0 => p.send(1, BYTE, 1_u8),
                _ => drop(p.recv(BYTE)),
            }
        });
        let error = error.unwrap_err();
        assert!(matches!(error.cause, Cause::EndOfTime { .. }), "{error}");
    }
    // A message that arrives only at the end of time is not received.
    let params = Params::builder(2).L(3600 * SEC).build().unwrap();
    let error = Machine::new(params).work(Work::Charged).run(|p| match p.id() {
        0 => {
            p.wait_until(Time::MAX - SEC);
            p.send(1, BYTE, 1_u8);
        }
        _ => drop(p.recv(BYTE)),
    });
    assert_eq!(error.unwrap_err().cause, Cause::EndOfTime { id: 1 });
}

/// A processor that computes for long there has not ended, though its local time has.
#[test]
fn computing_at_the_end_of_time_delays_the_error() {
    for error in failures(2, |p| {
        if p.id() == 0 {
            p.wait_until(US);
            p.work("long", 1 << 62, || std::thread::sleep(Duration::from_millis(50)));
            p.recv(BYTE);
        }
    }) {
        assert_eq!(error.cause, Cause::EndOfTime { id: 0 });
    }
}

/// With so large a dilation the wall clock cannot wait so long, and reports that if nothing happens before.
#[test]
fn time_beyond_the_host_clock_is_the_end_of_time() {
    for place in ["wall", "coroutine"] {
        let machine = machine(2, place).dilation(Dilation::Fixed(3000.0));
        let error = machine.run(|p| {
            if p.id() == 1 {
                p.wait_until(20 * US);
                p.send(0, BYTE, 1_u8);
            } else {
                let far = Time::MAX - PS;
                assert_eq!(p.recv_deadline(BYTE, far), Some(1));
                p.wait_until(far);
            }
        });
        assert_eq!(error.unwrap_err().cause, Cause::EndOfTime { id: 0 }, "{place}");
    }
}

/// Where panics abort, stacks cannot be unwound: so the process ends with the error, and no stack is freed
/// that a thread still uses for a waiting processor.
#[test]
#[ignore = "builds the library once more, which takes as long as all other tests; .ci/nightly runs it"]
fn failed_run_with_aborting_panics_prints_its_error() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aborts");
    let right = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    // Only the library, which is built fastest.
    let settings = ["panic='abort'", "opt-level=0", "debug=false", "package.'*'.opt-level=0"];
    let settings = settings.map(|setting| format!("--config=profile.dev.{setting}"));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--lib", "--package=loggp", "--no-default-features"]).args(settings);
    right(cargo.arg("--target-dir").arg(&folder).current_dir(env!("CARGO_MANIFEST_DIR")));
    let (built, program) = (folder.join("debug"), folder.join("program"));
    let mut rustc = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()));
    rustc
        .args(["--edition=2024", "-Cpanic=abort", "tests/library/misbehaved/aborts.rs", "-o"])
        .arg(&program)
        .arg("-L");
    rustc.arg(format!("dependency={}", built.join("deps").display())).arg("--extern");
    rustc.arg(format!("loggp={}", built.join("libloggp.rlib").display()));
    right(rustc.current_dir(env!("CARGO_MANIFEST_DIR")));
    for (place, error) in [
        ("virtual", "deadlock: 1 of 2 processors"),
        ("wall", "deadlock: 1 of 2 processors"),
        ("coroutine", "deadlock: 1 of 2 processors"),
        ("unreceived", "a message was never received"),
    ] {
        let output = Command::new(&program).arg(place).output().unwrap();
        let (text, status) = (String::from_utf8_lossy(&output.stderr), output.status);
        assert_eq!(text.matches(error).count(), 1, "{place}: {status} {text}");
        // If no processor waits, the error is returned as usual.
        let expected = if place == "unreceived" { (Some(1), None) } else { (None, Some(libc::SIGABRT)) };
        assert_eq!((status.code(), status.signal()), expected, "{place}: {text}");
    }
}

/// A value whose destructor panics, with another such value.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

type BombProgram = fn(&mut Proc) -> Option<Bomb>;

impl Payload for Bomb {
    fn bytes(&self) -> usize {
        1
    }
}

/// Panics of the program's values, when the run drops them, change neither the run's end nor its error.
#[test]
fn a_destructor_that_panics_ends_no_run_otherwise() {
    const BOMB: Tag<Bomb> = Tag::named(7, "bomb");
    let cases: [(&str, BombProgram); 5] = [
        ("processor 1 panicked: it did not say why", |p| {
            if p.id() == 1 {
                panic_any(Bomb);
            }
            p.recv(BYTE);
            None
        }),
        // A processor that is unwound has a panic of its own.
        ("processor 1 panicked: no", |p| {
            if p.id() == 1 {
                panic!("no");
            }
            _ = catch_unwind(AssertUnwindSafe(|| p.recv(BYTE)));
            panic_any(Bomb);
        }),
        ("2 messages were never received, the first from processor 1", |p| {
            if p.id() == 1 {
                p.send(0, BOMB, Bomb);
                p.send(0, BOMB, Bomb);
            }
            None
        }),
        ("processor 1 panicked: no", |p| {
            p.send(1 - p.id(), BOMB, Bomb);
            if p.id() == 1 {
                p.wait_until(100 * US);
                panic!("no");
            }
            p.recv(BYTE);
            None
        }),
        ("processor 1 panicked: no", |p| {
            if p.id() == 1 {
                p.wait_until(100 * US);
                panic!("no");
            }
            Some(Bomb)
        }),
    ];
    for place in CLOCKS.into_iter().chain(["two cores"]) {
        for (number, (expected, program)) in cases.into_iter().enumerate() {
            let (sender, receiver) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let machine = match place {
                    "two cores" => machine(2, "virtual").cores(2),
                    _ => machine(2, place),
                };
                let error = machine.run(program).map(|run| std::mem::forget(run.results)).unwrap_err();
                _ = sender.send(error.to_string());
            });
            let said = receiver.recv_timeout(Duration::from_secs(60));
            let said = said.unwrap_or_else(|why| panic!("case {number}, {place}: {why}"));
            assert!(said.starts_with(expected), "case {number}, {place}: {said}");
        }
    }
}

/// If the report's receiver panics, the next report is still made.
#[test]
fn absent_processor_is_reported_once() {
    const PATIENCE: Duration = Duration::from_millis(100);
    for place in CLOCKS {
        let (tell, told) = std::sync::mpsc::channel();
        let (told, times) = (Mutex::new(told), Arc::new(AtomicUsize::new(0)));
        let count = times.clone();
        let machine = machine(2, place).patience(PATIENCE).on_unresponsive(move |silence| {
            if silence.id == 0 {
                return; // the host may have stopped the process for so long
            }
            count.fetch_add(1, Ordering::Relaxed);
            assert!(silence.duration >= PATIENCE);
            tell.send((silence.id, silence.at)).unwrap();
            std::panic::resume_unwind(Box::new("enough"));
        });
        let run = machine.run(|p| {
            p.wait_until(US);
            (p.id() == 1).then(|| told.lock().unwrap().recv_timeout(Duration::from_secs(60)))
        });
        assert_eq!(run.unwrap().results, [None, Some(Ok((1, US)))], "{place}");
        assert_eq!(times.load(Ordering::Relaxed), 1, "{place}");
    }
}

#[test]
fn processor_waiting_outside_the_machine_is_named() {
    if let Some(task) = child::task() {
        let (hang, name) = task.split_once(' ').unwrap();
        // The parent ends the hanging child, which also ends itself after a while.
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(120));
            std::process::exit(77);
        });
        let machine = machine(2, name).cores(1).patience(Duration::from_secs(1));
        return match hang {
            "lock" => hang_on_a_lock(&machine),
            "channel" => hang_on_a_channel(&machine),
            _ => hang_on_a_flag(&machine),
        };
    }
    let start = |hang: &str, name: &str| {
        let task = format!("{hang} {name}");
        let child = child::start("misbehaved::processor_waiting_outside_the_machine_is_named", &task, "");
        (task, child)
    };
    let children = [("lock", 1), ("channel", 0), ("flag", 0)]
        .map(|(hang, processor)| CLOCKS.map(|name| (processor, start(hang, name))));
    for (processor, (task, mut child)) in children.into_iter().flatten() {
        let expected = format!("processor {processor} has not come back to the machine for");
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let says = lines.find(|line| line.contains("has not come back"));
        assert!(says.as_ref().is_some_and(|line| line.contains(&expected)), "{task}: {says:?}");
        // The child still hangs, because the machine only names a processor and does not end it.
        assert_eq!(child.try_wait().unwrap(), None, "{task}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

fn hang_on_a_lock(machine: &Machine) {
    let lock = Mutex::new(());
    _ = machine.run(|p| {
        p.wait_until(i64::try_from(p.id()).unwrap() * US);
        let _held = lock.lock().unwrap();
        p.wait_until(10 * US);
    });
}

fn hang_on_a_channel(machine: &Machine) {
    let (send, receive) = std::sync::mpsc::channel::<()>();
    let (send, receive) = (Mutex::new(send), Mutex::new(receive));
    _ = machine.run(|p| match p.id() {
        0 => receive.lock().unwrap().recv().unwrap(),
        _ => {
            p.wait_until(US);
            send.lock().unwrap().send(()).unwrap();
        }
    });
}

fn hang_on_a_flag(machine: &Machine) {
    let flag = AtomicBool::new(false);
    _ = machine.run(|p| match p.id() {
        0 => {
            while !flag.load(Ordering::Relaxed) {
                p.work("step", 1, || ());
            }
        }
        _ => {
            p.wait_until(US);
            flag.store(true, Ordering::Relaxed);
        }
    });
}
