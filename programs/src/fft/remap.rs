//! The remap: every processor has c points for each, and all have the same to do.

use loggp::collectives::Shift;
use loggp::{Payload, Proc, Tag};

use super::kernels::Point;
use super::layout::{Layout, Shape};

/// A point on its way. On the CM-5 a message has 16 bytes of data, which is a point, and 4 bytes of address
/// (LogP, section 4.1.4). The
/// address is counted in the gap there, so it counts for no word here.
#[derive(Payload)]
pub struct Addressed {
    /// The how manieth point of its sender for its receiver it is; messages may overtake each other.
    #[payload(free)]
    pub i: u32,
    /// The point.
    pub point: Point,
}

/// The order in which a processor sends to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// All send to processor 0, then all to 1 (LogP, section 4.1.2).
    Naive,
    /// Processor q begins with its own row, so that no two send to the same (LogP, section 4.1.2).
    Staggered,
    /// As staggered, with a barrier after every n/P^2 messages (LogP, section 4.1.4).
    Synchronized,
}

/// A point on its way.
pub const POINT: Tag<Addressed> = Tag::named(0, "point");

/// All of a processor's points for another.
const BLOCK: Tag<Vec<Point>> = Tag::named(1, "block");

/// Loads a point from memory, or stores it there: the rate `point` is for both (LogP, section 4.1.4), and is
/// paid when a point is loaded.
pub fn load(p: &mut Proc, points: &[Point], place: usize) -> Point {
    p.work("point", 1, || points[place])
}

/// Sends each point by itself to its new place, and receives while the gap runs.
pub fn short(p: &mut Proc, shape: &Shape, schedule: Schedule, points: &[Point], into: &mut [Point]) {
    let (id, P, c) = (p.id(), shape.P, shape.c());
    let mut remapped = Remapped { shape, points: into, missing: shape.m() - c };
    for step in 0..P {
        let to = if schedule == Schedule::Naive { step } else { (id + step) % P };
        if to == id {
            let own = |i| remapped.points[shape.enters(id, i)] = points[shape.leaves(id, i)];
            p.work("point", c as u64, || (0..c).for_each(own));
            continue;
        }
        for i in 0..c {
            let point = load(p, points, shape.leaves(to, i));
            let message = Addressed { i: i as u32, point };
            p.send_receiving(to, POINT, message, POINT, |_, from, message| remapped.store(from, message));
        }
        if schedule == Schedule::Synchronized {
            remapped.receive(p, (P - 1 - step) * c);
            p.barrier();
        }
    }
    remapped.receive(p, 0);
}

/// The points of a processor in their new places.
struct Remapped<'a> {
    /// Says which those are.
    shape: &'a Shape,
    /// The points.
    points: &'a mut [Point],
    /// How many have not come.
    missing: usize,
}

impl Remapped<'_> {
    /// Stores a point that came.
    fn store(&mut self, from: usize, Addressed { i, point }: Addressed) {
        self.points[self.shape.enters(from, i as usize)] = point;
        self.missing -= 1;
    }

    /// Receives until no more than so many are missing.
    fn receive(&mut self, p: &mut Proc, missing: usize) {
        while self.missing > missing {
            let (from, message) = p.recv(POINT);
            self.store(from, message);
        }
    }
}

/// Sends every processor its block in one message, staggered: at stage i processor q sends to q + i (LogGP,
/// section 3). Leaves the blocks that came, by sender.
pub fn long(p: &mut Proc, blocks: &mut Vec<Vec<Point>>) {
    let (id, P) = (p.id(), p.p());
    let mut came = vec![Vec::new(); P];
    came[id] = std::mem::take(&mut blocks[id]);
    let longest = p.params().words(blocks[(id + 1) % P].bytes());
    let steps = (1..P).map(|i| {
        let (to, from) = ((id + i) % P, (id + P - i) % P);
        Shift { to, value: std::mem::take(&mut blocks[to]), from }
    });
    p.exchange(BLOCK, longest, steps, |from, block| came[from] = block);
    *blocks = came;
}

/// Collects the points for each processor, so that they can be sent together. In the cyclic order they lie
/// together.
pub fn gather(shape: &Shape, points: &[Point], blocks: &mut [Vec<Point>]) {
    for (to, block) in blocks.iter_mut().enumerate() {
        match shape.layout {
            Layout::Cyclic => block.copy_from_slice(&points[shape.leaves(to, 0)..][..shape.c()]),
            Layout::Blocked => {
                block.iter_mut().enumerate().for_each(|(i, point)| *point = points[shape.leaves(to, i)])
            }
        }
    }
}

/// Brings the points that came together to their places. In the blocked order they stay together.
pub fn spread(shape: &Shape, blocks: &[Vec<Point>], points: &mut [Point]) {
    for (from, block) in blocks.iter().enumerate() {
        match shape.layout {
            Layout::Blocked => points[shape.enters(from, 0)..][..shape.c()].copy_from_slice(block),
            Layout::Cyclic => {
                block.iter().enumerate().for_each(|(i, point)| points[shape.enters(from, i)] = *point)
            }
        }
    }
}
