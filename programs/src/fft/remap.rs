//! The remap: every processor has c points for each other, and all do the same.

use loggp::collectives::Shift;
use loggp::{Payload, Proc, Tag};
use loggp_predict::remap::SendOrder;

use super::kernels::FftPoint;
use super::layout::{Layout, Shape};

/// A point in transit. On the CM-5 a message has 16 bytes of data, which is a point, and 4 bytes of address
/// (LogP, section 4.1.4). The gap there includes the address, so it counts for no word here.
#[derive(Payload)]
pub(super) struct AddressedPoint {
    /// Index of the point among those of its sender for its receiver, as messages may overtake each other.
    #[payload(free)]
    pub i: u32,
    pub point: FftPoint,
}

/// Tag of a point.
pub(super) const POINT: Tag<AddressedPoint> = Tag::named(0, "point");

/// Tag of all points of a processor for another.
const BLOCK: Tag<Vec<FftPoint>> = Tag::named(1, "block");

/// Loads a point from memory. The rate `point` is for loading and storing (LogP, section 4.1.4), and is paid
/// here.
pub(super) fn load(p: &mut Proc, points: &[FftPoint], place: usize) -> FftPoint {
    p.work("point", 1, || points[place])
}

/// Sends each point alone to its new place, and receives while the gap runs.
pub(super) fn send_points(
    p: &mut Proc,
    shape: &Shape,
    order: SendOrder,
    points: &[FftPoint],
    into: &mut [FftPoint],
) {
    let (id, P, c) = (p.id(), shape.P, shape.c());
    let mut remapped = RemappedPoints { shape, points: into, missing: shape.m() - c };
    for step in 0..P {
        let to = if order == SendOrder::Naive { step } else { (id + step) % P };
        if to == id {
            let own = |i| remapped.points[shape.entering_place(id, i)] = points[shape.leaving_place(id, i)];
            p.work("point", c as u64, || (0..c).for_each(own));
            continue;
        }
        for i in 0..c {
            let point = load(p, points, shape.leaving_place(to, i));
            let message = AddressedPoint { i: i as u32, point };
            p.send_receiving(to, POINT, message, POINT.with_sender(), |_, (from, message)| {
                remapped.store(from, message)
            });
        }
        if order == SendOrder::Synchronized {
            remapped.receive_until(p, (P - 1 - step) * c);
            p.barrier();
        }
    }
    remapped.receive_until(p, 0);
}

/// A processor's points in their new places.
struct RemappedPoints<'a> {
    shape: &'a Shape,
    points: &'a mut [FftPoint],
    /// Number of points that have not arrived.
    missing: usize,
}

impl RemappedPoints<'_> {
    /// Stores a received point.
    fn store(&mut self, from: usize, AddressedPoint { i, point }: AddressedPoint) {
        self.points[self.shape.entering_place(from, i as usize)] = point;
        self.missing -= 1;
    }

    /// Receives until at most `missing` points are missing.
    fn receive_until(&mut self, p: &mut Proc, missing: usize) {
        while self.missing > missing {
            let (from, message) = p.recv_with_sender(POINT);
            self.store(from, message);
        }
    }
}

/// Sends every processor its block in one message, staggered: at stage i processor q sends to q + i (LogGP,
/// section 3). `blocks` then has the received blocks, by sender.
pub(super) fn exchange_blocks(p: &mut Proc, blocks: &mut Vec<Vec<FftPoint>>) {
    let (id, P) = (p.id(), p.P());
    let mut received = vec![Vec::new(); P];
    received[id] = std::mem::take(&mut blocks[id]);
    let longest = p.params().words(blocks[(id + 1) % P].bytes());
    let steps = (1..P).map(|i| {
        let (to, from) = ((id + i) % P, (id + P - i) % P);
        Shift { to, value: std::mem::take(&mut blocks[to]), from }
    });
    p.exchange(BLOCK, longest, steps, |from, block| received[from] = block);
    *blocks = received;
}

/// Collects the points for each processor, so that they can be sent together. In the cyclic order they
/// already lie together.
pub(super) fn gather(shape: &Shape, points: &[FftPoint], blocks: &mut [Vec<FftPoint>]) {
    for (to, block) in blocks.iter_mut().enumerate() {
        match shape.layout {
            Layout::Cyclic => block.copy_from_slice(&points[shape.leaving_place(to, 0)..][..shape.c()]),
            Layout::Blocked => block
                .iter_mut()
                .enumerate()
                .for_each(|(i, point)| *point = points[shape.leaving_place(to, i)]),
        }
    }
}

/// Moves received blocks of points to their places. In the blocked order they stay together.
pub(super) fn spread(shape: &Shape, blocks: &[Vec<FftPoint>], points: &mut [FftPoint]) {
    for (from, block) in blocks.iter().enumerate() {
        match shape.layout {
            Layout::Blocked => points[shape.entering_place(from, 0)..][..shape.c()].copy_from_slice(block),
            Layout::Cyclic => {
                block.iter().enumerate().for_each(|(i, point)| points[shape.entering_place(from, i)] = *point)
            }
        }
    }
}
