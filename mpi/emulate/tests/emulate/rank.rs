//! A rank without MPI: a thread that posts by hand what the library posts that is preloaded into real ranks.

use std::ffi::OsStr;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex::{self, Timespec};

const HEADER_BYTES: u64 = 4096;
const SLOT_BYTES: usize = 384 << 10;
const CALL_AREA: usize = 4096;
const WINDOW: usize = 64 << 10;
pub(crate) const WINDOW_BYTES: usize = SLOT_BYTES - WINDOW;

// Codes of records.
pub(crate) const FINALIZE: u8 = 6;
pub(crate) const SEND: u8 = 16;
pub(crate) const ISEND: u8 = 17;
pub(crate) const SSEND: u8 = 20;
pub(crate) const RECV: u8 = 24;
pub(crate) const IRECV: u8 = 25;
pub(crate) const COLLECTIVE: u8 = 28;
pub(crate) const ICOLLECTIVE: u8 = 29;
pub(crate) const WAIT: u8 = 31;
pub(crate) const TEST: u8 = 32;
pub(crate) const PROBE: u8 = 34;
pub(crate) const IPROBE: u8 = 35;
pub(crate) const TOGETHER: u8 = 36;
pub(crate) const WAITALL: u8 = 38;
pub(crate) const WAITANY: u8 = 39;
pub(crate) const TESTANY: u8 = 42;
pub(crate) const IMPROBE: u8 = 49;
pub(crate) const MRECV: u8 = 50;
pub(crate) const ABORT: u8 = 54;
pub(crate) const CLOCK: u8 = 55;
pub(crate) const REFUSED: u8 = 56;
pub(crate) const EXITED: u8 = 58;

// Kinds of collectives.
pub(crate) const BARRIER: u8 = 0;
pub(crate) const BCAST: u8 = 1;
pub(crate) const ALLREDUCE: u8 = 3;
pub(crate) const GATHER: u8 = 6;
pub(crate) const ALLTOALL: u8 = 12;

/// What a post is: calls, a piece of their data, or the wish for the next piece of an answer.
const CALLS: u32 = 0;
const CHUNK: u32 = 1;
const NEXT: u32 = 2;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) now_ps: i64,
    pub(crate) words: Vec<u64>,
    pub(crate) data: Vec<u8>,
}

/// The command has given up.
#[derive(Debug)]
pub(crate) struct Gone;

pub(crate) struct Rank {
    header: NonNull<u8>,
    slot: NonNull<u8>,
    pub(crate) id: u64,
    /// How long it computes before its next call.
    pub(crate) work_ns: u64,
    /// The number of its next request.
    next_request: u64,
    /// The process that the command takes for the rank's.
    pub(crate) process: Child,
}

// SAFETY: only its thread uses the maps, as the protocol says.
unsafe impl Send for Rank {}

fn map(file: &File, from: u64, bytes: usize) -> NonNull<u8> {
    // SAFETY: a new place of this length; the file has it.
    let map = unsafe {
        mmap(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, from)
    };
    NonNull::new(map.unwrap().cast()).unwrap()
}

impl Rank {
    /// Attaches to the file of a session as a rank of so many.
    pub(crate) fn attach(path: &OsStr, id: u64, ranks: u32) -> Rank {
        let file = File::options().read(true).write(true).open(path).unwrap();
        let process = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let header = map(&file, 0, HEADER_BYTES as usize);
        let slot = map(&file, HEADER_BYTES + id * SLOT_BYTES as u64, SLOT_BYTES);
        let rank = Rank { header, slot, id, work_ns: 0, next_request: 0, process };
        // SAFETY: the header is read as the command has written it.
        let magic = unsafe { std::slice::from_raw_parts(header.as_ptr(), 8) };
        assert_eq!(magic, b"LOGGPEMU");
        rank.word(4).store(rank.process.id(), Ordering::Relaxed);
        rank.word(8).store(ranks, Ordering::Relaxed);
        rank.word(0).store(1, Ordering::Relaxed);
        rank.word(12).store(1, Ordering::Release);
        rank.wake();
        rank
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is the offset of a word in the slot, which lives as long as the rank.
        unsafe { self.slot.add(at).cast::<AtomicU32>().as_ref() }
    }

    fn long(&self, at: usize) -> u64 {
        // SAFETY: `at` is the offset of 64 bits in the slot, and it is the rank's turn.
        unsafe { self.slot.add(at).cast::<u64>().read() }
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= SLOT_BYTES);
        // SAFETY: the bytes lie in the slot, and it is the rank's turn.
        unsafe { self.slot.add(at).copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
    }

    fn is_gone(&self) -> bool {
        // SAFETY: the word lies in the header.
        unsafe { self.header.add(24).cast::<AtomicU32>().as_ref() }.load(Ordering::Acquire) == 1
    }

    fn wake(&self) {
        futex::wake(self.word(0), futex::Flags::empty(), 1).unwrap();
    }

    /// Waits until it is the rank's turn.
    pub(crate) fn await_turn(&self) -> Result<(), Gone> {
        let time = Timespec::try_from(Duration::from_millis(100)).unwrap();
        while self.word(0).load(Ordering::Acquire) == 1 {
            if self.is_gone() {
                return Err(Gone);
            }
            // However it ends, the word says what is.
            let _: Result<_, _> = futex::wait(self.word(0), futex::Flags::empty(), 1, Some(&time));
        }
        Ok(())
    }

    fn post(&self, kind: u32, records: &[u8], data: &[u8]) {
        self.write(CALL_AREA, records);
        self.write(WINDOW, data);
        self.write(24, &(data.len() as u64).to_ne_bytes());
        self.word(16).store(kind, Ordering::Relaxed);
        self.word(20).store(records.len() as u32, Ordering::Relaxed);
        self.word(0).store(1, Ordering::Release);
        self.wake();
    }

    /// Returns the data of the answer that lie in the window.
    fn window(&self) -> Vec<u8> {
        let length = self.long(24) as usize;
        assert!(length <= WINDOW_BYTES);
        // SAFETY: the bytes lie in the slot, and it is the rank's turn.
        unsafe { std::slice::from_raw_parts(self.slot.add(WINDOW).as_ptr(), length) }.to_vec()
    }

    /// Posts records with their data, and waits for the answer to the last one.
    pub(crate) fn post_all(&mut self, records: &[Vec<u8>], data: &[u8]) -> Result<Answer, Gone> {
        let mut rest = data;
        while rest.len() > WINDOW_BYTES {
            let (first, others) = rest.split_at(WINDOW_BYTES);
            self.post(CHUNK, &[], first);
            self.await_turn()?;
            rest = others;
        }
        self.post(CALLS, &records.concat(), rest);
        self.await_turn()?;
        let words =
            (0..self.word(48).load(Ordering::Relaxed) as usize).map(|at| self.long(CALL_AREA + 8 * at));
        let (words, all) = (words.collect(), self.long(32) as usize);
        let mut data = self.window();
        while data.len() < all {
            self.post(NEXT, &[], &[]);
            self.await_turn()?;
            data.extend(self.window());
        }
        Ok(Answer { now_ps: self.long(40) as i64, words, data })
    }

    /// Posts a call, and waits for its answer.
    pub(crate) fn call(&mut self, code: u8, body: &[u8], data: &[u8]) -> Result<Answer, Gone> {
        let record = self.record(code, body);
        self.post_all(&[record], data)
    }

    /// Posts a call that has no answer, and ends.
    pub(crate) fn end_with(&mut self, code: u8, body: &[u8]) -> Result<(), Gone> {
        let record = self.record(code, body);
        self.post(CALLS, &record, &[]);
        Err(Gone)
    }

    /// Returns the record of a call, from a place that is not known.
    pub(crate) fn record(&mut self, code: u8, body: &[u8]) -> Vec<u8> {
        const UNKNOWN: u64 = 0;
        if [ISEND, IRECV, ICOLLECTIVE].contains(&code) {
            self.next_request += 1;
        }
        let work = std::mem::take(&mut self.work_ns);
        [&[code], &*number(work), &*number(UNKNOWN), body].concat()
    }

    /// Waits for, or tests, requests by their numbers.
    pub(crate) fn complete(&mut self, code: u8, requests: &[Option<u64>]) -> Result<Answer, Gone> {
        let distance = |request: &Option<u64>| number(request.map_or(0, |number| self.next_request - number));
        let body: Vec<u8> =
            number(requests.len() as u64).into_iter().chain(requests.iter().flat_map(distance)).collect();
        self.call(code, &body, &[])
    }

    pub(crate) fn finalize(&mut self) -> Result<(), Gone> {
        self.call(FINALIZE, &[], &[]).map(|_| ())
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        let _: std::io::Result<()> = self.process.kill();
        let _: std::io::Result<_> = self.process.wait();
        // SAFETY: both are mapped so, and nothing refers to them any more.
        let _: [Result<_, _>; 2] = unsafe {
            [
                munmap(self.header.as_ptr().cast(), HEADER_BYTES as usize),
                munmap(self.slot.as_ptr().cast(), SLOT_BYTES),
            ]
        };
    }
}

/// Returns a number as records have it: 7 bits in each byte, the lowest first.
pub(crate) fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Returns a signed number as records have it: its lowest bit is the sign.
pub(crate) fn signed(value: i64) -> Vec<u8> {
    number((value << 1 ^ value >> 63) as u64)
}

/// Returns the body of a send in the world.
pub(crate) fn to(peer: u64, tag: i64, bytes: usize) -> Vec<u8> {
    [number(peer), signed(tag), number(0), number(bytes as u64)].concat()
}

/// Returns the body of a receive in the world; `None` is any.
pub(crate) fn from(peer: Option<u64>, tag: Option<u64>, most: usize) -> Vec<u8> {
    let or_any = |asked: Option<u64>| number(asked.map_or(0, |asked| asked + 1));
    [or_any(peer), or_any(tag), number(0), number(most as u64)].concat()
}

/// Returns the body of a collective on a communicator; the bytes that each sends and receives.
pub(crate) fn collective(
    kind: u8,
    communicator: u64,
    root: Option<u64>,
    sent: u64,
    received: u64,
) -> Vec<u8> {
    let root = number(root.map_or(0, |root| root + 3));
    [vec![kind], number(communicator), root, number(sent + 1), number(received + 1)].concat()
}

/// Returns the ranks of a communicator as records have them, in rising order.
pub(crate) fn ranks(of: &[u64]) -> Vec<u8> {
    let mut next = 0;
    let mut bytes = number(of.len() as u64);
    for rank in of {
        bytes.extend(signed(*rank as i64 - next));
        next = *rank as i64 + 1;
    }
    bytes
}
