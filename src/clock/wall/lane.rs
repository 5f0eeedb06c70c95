//! A queue from one core to another, in which a message costs one transfer of a cache line.
//!
//! It is unbounded, and has one sender and one receiver. A message and the flag that says it is there share a cache
//! line, and nothing else is shared: no head, no tail. So the receiver, which looks at the slot of the next
//! message, gets the message with the line that tells of it.
//!
//! The slots come in blocks. The sender links the next block before it fills the last slot of its own, so a
//! receiver that has emptied a block finds the next. A block that the receiver has left is used again, so memory is
//! asked for only while the receiver falls further behind than it ever was.

use std::collections::VecDeque;
use std::mem::MaybeUninit;

use crate::clock::sync::{Arc, AtomicI64, Ordering, TRIED, UnsafeCell};

/// How many slots a block has.
const SLOTS: usize = if TRIED { 2 } else { 64 };

/// The key of an empty slot.
const EMPTY: i64 = i64::MIN;

/// Room for one message, on a cache line of its own.
#[repr(C, align(64))]
struct Slot<T> {
    /// The message's key, or [`EMPTY`].
    key: AtomicI64,
    /// The rest of the message, unless the key is [`EMPTY`].
    value: UnsafeCell<MaybeUninit<T>>,
}

/// Some slots, which are filled and emptied in order.
struct Block<T> {
    slots: [Slot<T>; SLOTS],
    /// The next block. It is linked before the last slot is filled.
    next: UnsafeCell<Option<Arc<Block<T>>>>,
}

// SAFETY: a block moves `T`s from a thread to another and shares none. Keys guard the values and `next`: the one
// sender writes a slot's value, and `next`, before it stores the key that tells of them, and the one receiver
// reads them after it has seen that key.
unsafe impl<T: Send> Send for Block<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Block<T> {}

/// The end of a lane where messages are put in. It shares no cache line with data of the other core.
#[repr(align(64))]
pub(super) struct Sender<T> {
    /// The block that the next message goes to.
    block: Arc<Block<T>>,
    /// The slot that the next message goes to, below [`SLOTS`].
    index: usize,
    /// The next block, once it is linked.
    next: Option<Arc<Block<T>>>,
    /// The full blocks, oldest first: the receiver leaves them in this order.
    full: VecDeque<Arc<Block<T>>>,
}

/// The end of a lane where messages come out. It shares no cache line with data of the other core.
#[repr(align(64))]
pub(super) struct Receiver<T> {
    /// The block of the next message.
    block: Arc<Block<T>>,
    /// The slot of the next message, below [`SLOTS`].
    index: usize,
}

/// A new lane. Messages that are sent after the receiver was dropped are never dropped.
pub(super) fn lane<T: Send>() -> (Sender<T>, Receiver<T>) {
    let block = Block::new();
    (
        Sender { block: block.clone(), index: 0, next: None, full: VecDeque::new() },
        Receiver { block, index: 0 },
    )
}

impl<T> Block<T> {
    fn new() -> Arc<Block<T>> {
        let slot = |_| Slot { key: AtomicI64::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) };
        Arc::new(Block { slots: std::array::from_fn(slot), next: UnsafeCell::new(None) })
    }

    /// Empties a block for use again. Returns false if the receiver has not left it.
    fn renew(block: &mut Arc<Block<T>>) -> bool {
        let Some(block) = Arc::get_mut(block) else {
            return false;
        };
        // All keys are written at once, so that their lines come from the receiver's cache together.
        block.slots.iter_mut().for_each(|slot| slot.key = AtomicI64::new(EMPTY));
        block.next = UnsafeCell::new(None);
        true
    }
}

impl<T> Sender<T> {
    /// Puts in a message. The key may be any number but the smallest.
    #[inline]
    pub(super) fn push(&mut self, key: i64, value: T) {
        debug_assert_ne!(key, EMPTY);
        let slot = &self.block.slots[self.index];
        // SAFETY: the slot's key is still `EMPTY`, so the receiver does not touch the value, and there is no
        // other sender.
        slot.value.with_mut(|place| unsafe { (*place).write(value) });
        slot.key.store(key, Ordering::Release);
        self.index += 1;
        if self.index >= SLOTS - 1 {
            self.near_end();
        }
    }

    /// Links the next block when one slot is left, and goes to that block when no slot is left.
    #[cold]
    fn near_end(&mut self) {
        if self.index == SLOTS - 1 {
            let next =
                if self.full.front_mut().is_some_and(Block::renew) { self.full.pop_front() } else { None };
            let next = next.unwrap_or_else(Block::new);
            // SAFETY: the last slot's key is still `EMPTY`, so the receiver does not touch `next`.
            self.block.next.with_mut(|place| unsafe { *place = Some(next.clone()) });
            self.next = Some(next);
        } else {
            let next = self.next.take().expect("it was linked one slot ago");
            self.full.push_back(std::mem::replace(&mut self.block, next));
            self.index = 0;
        }
    }
}

impl<T> Receiver<T> {
    /// Whether there is no message.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.block.slots[self.index].key.load(Ordering::Acquire) == EMPTY
    }

    /// Takes the first message, with its key.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(i64, T)> {
        let slot = &self.block.slots[self.index];
        let key = slot.key.load(Ordering::Acquire);
        if key == EMPTY {
            return None;
        }
        // SAFETY: the key was stored after the value was written, and this sees the key. The value is moved
        // out once: the index goes on, and a block is renewed only when the receiver has left it.
        let value = slot.value.with(|place| unsafe { (*place).assume_init_read() });
        self.index += 1;
        if self.index == SLOTS {
            self.turn();
        }
        Some((key, value))
    }

    #[cold]
    fn turn(&mut self) {
        // SAFETY: the last slot's key has been seen, and the block was linked before that was stored.
        let next = self.block.next.with(|place| unsafe { (*place).clone() });
        self.block = next.expect("it was linked before the last slot was filled");
        self.index = 0;
    }
}

impl<T> Drop for Receiver<T> {
    /// Drops the messages that are left. It goes through the blocks, because a chain of them would be dropped recursively.
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::message::Letter;

    /// Miri takes its time.
    const MANY: i64 = if TRIED { 200 } else { 500_000 };

    #[test]
    fn a_slot_is_a_cache_line() {
        assert_eq!(std::mem::size_of::<Slot<Letter>>(), 64);
    }

    #[test]
    fn messages_come_out_in_order() {
        let (mut sender, mut receiver) = lane();
        let (mut sent, mut taken) = (0, 0);
        let mut rng = fastrand::Rng::with_seed(1);
        while taken < if TRIED { 500 } else { 20_000 } {
            for _ in 0..rng.usize(0..200) {
                sender.push(-sent, sent.to_string());
                sent += 1;
            }
            for _ in 0..rng.usize(0..200) {
                assert_eq!(receiver.is_empty(), taken == sent);
                let expected = (taken < sent).then(|| (-taken, taken.to_string()));
                taken += i64::from(expected.is_some());
                assert_eq!(receiver.pop(), expected);
            }
        }
    }

    #[test]
    fn a_block_that_was_left_is_used_again() {
        for (behind, expected) in [(1, 2), (10 * SLOTS, 11)] {
            let (mut sender, mut receiver) = lane();
            let mut blocks = std::collections::HashSet::new();
            for _ in 0..100 * SLOTS / behind {
                for i in 0..behind as i64 {
                    sender.push(i, ());
                    blocks.insert(Arc::as_ptr(&sender.block));
                }
                (0..behind as i64).for_each(|i| assert_eq!(receiver.pop(), Some((i, ()))));
            }
            assert_eq!(blocks.len(), expected);
        }
    }

    #[test]
    fn each_value_is_dropped_once_and_so_is_each_block() {
        let counted = Arc::new(());
        for (sent, taken) in [(0, 0), (1, 0), (63, 1), (64, 64), (65, 64), (200, 130), (MANY, 7)] {
            for sender_first in [false, true] {
                let (mut sender, mut receiver) = lane();
                (0..sent).for_each(|i| sender.push(i, counted.clone()));
                (0..taken).for_each(|_| assert!(receiver.pop().is_some()));
                assert_eq!(Arc::strong_count(&counted) as i64, 1 + sent - taken);
                let block = Arc::downgrade(&receiver.block);
                if sender_first {
                    drop(sender);
                    drop(receiver);
                } else {
                    drop(receiver);
                    drop(sender);
                }
                assert_eq!(Arc::strong_count(&counted), 1);
                assert!(block.upgrade().is_none());
            }
        }
    }

    #[test]
    fn a_thread_gets_all_that_another_sends() {
        let (mut sender, mut receiver) = lane();
        let (mut back, mut answers) = lane();
        std::thread::scope(|scope| {
            scope.spawn(move || (0..MANY).for_each(|i| sender.push(i, [i; 7])));
            scope.spawn(move || {
                for i in 0..MANY {
                    let message = std::iter::repeat_with(|| receiver.pop()).flatten().next();
                    assert_eq!(message, Some((i, [i; 7])));
                    back.push(i, Box::new(i));
                }
            });
            for i in 0..MANY {
                let answer = std::iter::repeat_with(|| answers.pop()).flatten().next();
                assert_eq!(answer, Some((i, Box::new(i))));
            }
        });
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::clock::sync::look;

    /// Sends `sent` messages and takes `taken`, under every order of the two threads' steps.
    fn try_all(sent: i64, taken: i64) {
        loom::model(move || {
            let counted = Arc::new(());
            let (mut sender, mut receiver) = lane();
            let values = counted.clone();
            let sending = thread::spawn(move || {
                (0..sent).for_each(|i| sender.push(i, (i, values.clone())));
                sender
            });
            for i in 0..taken {
                let (key, (value, _)) = loop {
                    match receiver.pop() {
                        Some(message) => break message,
                        None => look(),
                    }
                };
                assert_eq!((key, value), (i, i));
            }
            let sender = sending.join().unwrap();
            assert_eq!(receiver.is_empty(), sent == taken);
            drop(receiver);
            drop(sender);
            assert_eq!(Arc::strong_count(&counted), 1);
        });
    }

    #[test]
    fn the_receiver_follows_over_the_end_of_a_block() {
        try_all(3, 3);
    }

    #[test]
    fn a_block_is_used_again_once_the_receiver_has_left_it() {
        try_all(4, 4);
    }

    #[test]
    fn what_is_left_is_dropped() {
        try_all(3, 1);
    }
}
