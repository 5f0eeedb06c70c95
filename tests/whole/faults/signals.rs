//! SIGINT and SIGTERM at any moment.

use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::process::{Child, Command, Stdio};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{
    LINES, Tally, clear, folder, loggp, repeats, run_with_timeout, status_and_stderr, torn_files,
    wait_with_timeout,
};
use crate::requests::is_ignored;

pub(super) fn send_signal(child: &Child, signal: &str) {
    // The process may have ended by now.
    _ = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

const SIGNALS: [(&str, i32, i32, &str); 2] =
    [("INT", libc::SIGINT, 130, "interrupted"), ("TERM", libc::SIGTERM, 143, "terminated")];

/// Returns the signals that this process, and so its children, does not ignore, as background processes do.
fn unignored_signals() -> Vec<(&'static str, i32, i32, &'static str)> {
    SIGNALS.into_iter().filter(|(_, number, ..)| !is_ignored(*number as u32)).collect()
}

#[test]
fn signals_at_any_moment() {
    let (folder, mut tally) = (folder(), Tally::new("SIGINT and SIGTERM"));
    let signals = unignored_signals();
    let mut random = fastrand::Rng::with_seed(1);
    for line in LINES {
        clear(folder.path());
        let started = Instant::now();
        run_with_timeout(&mut loggp(line, folder.path())).unwrap();
        let duration = started.elapsed();
        for _ in 0..repeats(3) {
            clear(folder.path());
            let (name, number, code, says) = signals[random.usize(..signals.len())];
            let child =
                loggp(line, folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let moment = duration.mul_f64(1.1 * random.f64());
            sleep(moment);
            send_signal(&child, name);
            let Some(output) = wait_with_timeout(child) else {
                tally.add(line, false, || format!("{name} after {moment:?}: it hangs"));
                continue;
            };
            let ((status, stderr), torn) = (status_and_stderr(&output), torn_files(folder.path()));
            let right = match status {
                // The command ended before the signal, or did not watch for signals yet.
                0 => true,
                status if status == -number => stderr.is_empty(),
                status => status == code && stderr.lines().last().is_some_and(|line| line.starts_with(says)),
            };
            tally.add(line, right && torn.is_empty(), || {
                format!("{name} after {moment:?}: {status}, {stderr}, {torn:?}")
            });
        }
    }
    tally.end();
}

/// Opens a terminal. Returns the end that reads, and the end that a process gets as its stderr.
fn terminal() -> (File, File) {
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: on success both descriptors are open and belong to nobody else.
    let files = unsafe {
        assert_eq!(libc::openpty(&mut ours, &mut theirs, null_mut(), null(), &size), 0);
        (File::from_raw_fd(ours), File::from_raw_fd(theirs))
    };
    // Other children do not inherit them.
    for number in [ours, theirs] {
        // SAFETY: the descriptor is open.
        unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    files
}

/// With a progress bar on a terminal, and with rows that nobody reads, the command ends at once and clears
/// the bar.
#[test]
fn signals_while_a_bar_is_shown() {
    let (folder, mut tally) = (folder(), Tally::new("SIGINT and SIGTERM on a terminal"));
    let signals = unignored_signals();
    let mut random = fastrand::Rng::with_seed(2);
    for (line, least) in [
        ("compare broadcast -P 4 --dilation 60000", 0),
        ("reproduce logp-fig3 loggp-fig6 --clock virtual --force -o page", 0),
        // Its rows fill the pipe.
        ("sweep broadcast flat --over P=2..300:299 --format json", 1000),
    ] {
        for _ in 0..repeats(2).div_ceil(4) {
            clear(folder.path());
            let (name, _, code, says) = signals[random.usize(..signals.len())];
            let (ours, theirs) = terminal();
            let child = loggp(line, folder.path()).stdout(Stdio::piped()).stderr(theirs).spawn();
            let mut child = child.unwrap();
            let text = Arc::new(Mutex::new(Vec::new()));
            let reader = std::thread::spawn({
                let (mut ours, text, mut buffer) = (ours, text.clone(), [0; 4096]);
                move || {
                    // The read fails when the other end is closed.
                    while let Ok(read @ 1..) = ours.read(&mut buffer) {
                        text.lock().unwrap().extend_from_slice(&buffer[..read]);
                    }
                }
            });
            // Wait for the bar.
            while text.lock().unwrap().is_empty() && child.try_wait().unwrap().is_none() {
                sleep(Duration::from_millis(1));
            }
            sleep(Duration::from_millis(least + random.u64(..200)));
            send_signal(&child, name);
            let sent = Instant::now();
            // Its rows are still not read.
            while child.try_wait().unwrap().is_none() && sent.elapsed() < Duration::from_secs(60) {
                sleep(Duration::from_millis(5));
            }
            let is_over = child.try_wait().unwrap();
            _ = child.kill();
            child.wait().unwrap();
            reader.join().unwrap();
            let shown = String::from_utf8_lossy(&text.lock().unwrap()).into_owned();
            let status = is_over.and_then(|status| status.code());
            // The last sentence follows a cleared line.
            let last = shown.trim_end().rsplit(['\n', '\r']).next().unwrap_or_default();
            let last = last.rsplit("\x1b[2K").next().unwrap_or_default();
            let shows_cursor = shown.rfind("\x1b[?25h") >= shown.rfind("\x1b[?25l");
            let right = match status {
                Some(0) => true,
                status => status == Some(code) && last.starts_with(says) && shows_cursor,
            };
            let torn = torn_files(folder.path());
            tally.add(line, right && torn.is_empty(), || format!("{name}: {status:?}, {shown:?}, {torn:?}"));
        }
    }
    tally.end();
}

/// Runs a command with its stderr on a terminal, interrupts it when that shows a text, and returns the exit status, stdout and
/// what the terminal showed.
fn interrupted_at(line: &str, shows: &str) -> (Option<i32>, String, String) {
    let folder = folder();
    let (mut ours, theirs) = terminal();
    let child = loggp(line, folder.path()).stdout(Stdio::piped()).stderr(theirs).spawn().unwrap();
    let (mut shown, mut buffer, mut is_sent) = (Vec::new(), [0; 4096], false);
    while let Ok(read @ 1..) = ours.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..read]);
        if !is_sent && String::from_utf8_lossy(&shown).contains(shows) {
            send_signal(&child, "INT");
            is_sent = true;
        }
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&shown))
}

#[test]
fn an_interrupted_comparison_or_check_prints_what_it_has() {
    if is_ignored(libc::SIGINT as u32) {
        return;
    }
    let line = "compare broadcast P=4 L=6us o=2us g=4us --clock wall --dilation 20000";
    let (status, stdout, shown) = interrupted_at(line, "now binomial");
    assert_eq!(status, Some(130), "{stdout}{shown}");
    assert!(stdout.starts_with("broadcast: L = 6 us") && stdout.contains("\noptimal "), "{stdout}{shown}");
    assert!(shown.trim_end().ends_with("interrupted after 1 row"), "{shown}");

    let line = "check broadcast P=4 L=6us o=2us g=4us --for 3600s --order-seed 7";
    let (status, stdout, shown) = interrupted_at(line, " runs, ");
    assert_eq!(status, Some(130), "{stdout}{shown}");
    assert!(stdout.contains("mixed orders by seed 7") && stdout.contains("all runs gave"), "{stdout}");
    assert!(shown.trim_end().ends_with(" by seed 7") && shown.contains("interrupted after "), "{shown}");
}
