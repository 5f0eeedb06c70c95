//! A queue from one core to another, in which a message costs one transfer of a cache line.
//!
//! It is unbounded, and has one sender and one receiver. A message and the flag that says it is there share a
//! cache line, and nothing else is shared: no head, no tail. So the receiver, which reads the slot of the
//! next message, gets the flag and the message with the same line.
//!
//! The slots come in blocks. The sender links the next block before it fills the last slot of its own, so a
//! receiver that has emptied a block finds the next. A block that the receiver has left is used again, so
//! memory is allocated only when the receiver falls further behind than ever before.

use std::collections::VecDeque;
use std::mem::MaybeUninit;

use crate::clock::sync::{Arc, AtomicI64, IS_MODEL_CHECKED, Ordering, UnsafeCell};

/// The number of slots of a block.
const SLOTS: usize = if IS_MODEL_CHECKED { 2 } else { 64 };

/// The key of an empty slot.
const EMPTY: i64 = i64::MIN;

/// Room for one message, on a cache line of its own.
#[repr(C, align(64))]
struct LaneSlot<T> {
    /// The message's key, or [`EMPTY`].
    key: AtomicI64,
    /// The rest of the message, unless the key is [`EMPTY`].
    value: UnsafeCell<MaybeUninit<T>>,
}

/// A block of slots, which are filled and emptied in order.
struct LaneBlock<T> {
    slots: [LaneSlot<T>; SLOTS],
    /// The next block, which is linked before the last slot is filled.
    next: UnsafeCell<Option<Arc<LaneBlock<T>>>>,
}

// SAFETY: a block moves `T`s from a thread to another and shares none. Keys guard the values and `next`: the
// one sender writes a slot's value, and `next`, before it stores the key that tells of them, and the one
// receiver reads them after it has seen that key.
unsafe impl<T: Send> Send for LaneBlock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for LaneBlock<T> {}

/// The end of a lane into which messages are pushed. It shares no cache line with data of the other core.
#[repr(align(64))]
pub(super) struct LaneSender<T> {
    /// The block that the next message goes to.
    block: Arc<LaneBlock<T>>,
    /// The slot that the next message goes to, below [`SLOTS`].
    index: usize,
    /// The next block, once it is linked.
    next: Option<Arc<LaneBlock<T>>>,
    /// The full blocks, oldest first: the receiver leaves them in this order.
    full: VecDeque<Arc<LaneBlock<T>>>,
}

/// The end of a lane from which messages are popped. It shares no cache line with data of the other core.
#[repr(align(64))]
pub(super) struct LaneReceiver<T> {
    /// The block of the next message.
    block: Arc<LaneBlock<T>>,
    /// The slot of the next message, below [`SLOTS`].
    index: usize,
}

/// Makes a lane. Messages that are sent after the receiver was dropped are never dropped.
pub(super) fn lane<T: Send>() -> (LaneSender<T>, LaneReceiver<T>) {
    let block = LaneBlock::new();
    (
        LaneSender { block: block.clone(), index: 0, next: None, full: VecDeque::new() },
        LaneReceiver { block, index: 0 },
    )
}

impl<T> LaneBlock<T> {
    fn new() -> Arc<LaneBlock<T>> {
        let slot = |_| LaneSlot { key: AtomicI64::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) };
        Arc::new(LaneBlock { slots: std::array::from_fn(slot), next: UnsafeCell::new(None) })
    }

    /// Empties a block so that it can be used again. Returns false if the receiver has not left the block.
    fn renew(block: &mut Arc<LaneBlock<T>>) -> bool {
        let Some(block) = Arc::get_mut(block) else {
            return false;
        };
        // All keys are written at once, so that their lines come from the receiver's cache together.
        block.slots.iter_mut().for_each(|slot| slot.key = AtomicI64::new(EMPTY));
        block.next = UnsafeCell::new(None);
        true
    }
}

impl<T> LaneSender<T> {
    /// Pushes a message. The key may be any number but `i64::MIN`.
    #[inline]
    pub(super) fn push(&mut self, key: i64, value: T) {
        debug_assert_ne!(key, EMPTY);
        let slot = &self.block.slots[self.index];
        // SAFETY: the slot's key is still `EMPTY`, so the receiver does not touch the value, and there is no
        // other sender.
        slot.value.with_mut(|cell| unsafe { (*cell).write(value) });
        slot.key.store(key, Ordering::Release);
        self.index += 1;
        if self.index >= SLOTS - 1 {
            self.reach_end();
        }
    }

    /// Links the next block when one slot is left, and enters it when no slot is left.
    #[cold]
    fn reach_end(&mut self) {
        if self.index == SLOTS - 1 {
            let next = if self.full.front_mut().is_some_and(LaneBlock::renew) {
                self.full.pop_front()
            } else {
                None
            };
            let next = next.unwrap_or_else(LaneBlock::new);
            // SAFETY: the last slot's key is still `EMPTY`, so the receiver does not touch `next`.
            self.block.next.with_mut(|cell| unsafe { *cell = Some(next.clone()) });
            self.next = Some(next);
        } else {
            let next = self.next.take().expect("it was linked one slot ago");
            self.full.push_back(std::mem::replace(&mut self.block, next));
            self.index = 0;
        }
    }
}

impl<T> LaneReceiver<T> {
    /// Returns whether there is no message.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.block.slots[self.index].key.load(Ordering::Acquire) == EMPTY
    }

    /// Returns whether there is a message, and `is_wanted` of the first one and its key.
    #[inline]
    pub(super) fn has_first(&self, is_wanted: impl FnOnce(i64, &T) -> bool) -> bool {
        let slot = &self.block.slots[self.index];
        let key = slot.key.load(Ordering::Acquire);
        // SAFETY: the key was stored after the value was written, and this sees the key. Only `pop` moves the
        // value out, which needs the receiver to itself.
        key != EMPTY && slot.value.with(|cell| is_wanted(key, unsafe { (*cell).assume_init_ref() }))
    }

    /// Removes and returns the first message, with its key.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(i64, T)> {
        let slot = &self.block.slots[self.index];
        let key = slot.key.load(Ordering::Acquire);
        if key == EMPTY {
            return None;
        }
        // SAFETY: the key was stored after the value was written, and this sees the key. The value is moved
        // out once: the index goes on, and a block is renewed only when the receiver has left it.
        let value = slot.value.with(|cell| unsafe { (*cell).assume_init_read() });
        self.index += 1;
        if self.index == SLOTS {
            self.enter_next_block();
        }
        Some((key, value))
    }

    #[cold]
    fn enter_next_block(&mut self) {
        // SAFETY: the last slot's key has been seen, and the block was linked before that was stored.
        let next = self.block.next.with(|cell| unsafe { (*cell).clone() });
        self.block = next.expect("it was linked before the last slot was filled");
        self.index = 0;
    }
}

impl<T> Drop for LaneReceiver<T> {
    /// Drops the messages that are left, one by one: a chain of blocks would be dropped recursively.
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use loggp_model::message::SentMessage;

    // Miri is slow.
    const MANY: i64 = if IS_MODEL_CHECKED { 200 } else { 500_000 };

    #[test]
    fn slot_fills_a_cache_line() {
        assert_eq!(std::mem::size_of::<LaneSlot<SentMessage>>(), 64);
    }

    #[test]
    fn messages_are_popped_in_order() {
        let (mut sender, mut receiver) = lane();
        let (mut sent, mut taken) = (0, 0);
        let mut rng = fastrand::Rng::with_seed(1);
        while taken < if IS_MODEL_CHECKED { 500 } else { 20_000 } {
            for _ in 0..rng.usize(0..200) {
                sender.push(-sent, sent.to_string());
                sent += 1;
            }
            for _ in 0..rng.usize(0..200) {
                assert_eq!(receiver.is_empty(), taken == sent);
                let expected = (taken < sent).then(|| (-taken, taken.to_string()));
                let is_first = |key, value: &String| Some((key, value.clone())) == expected;
                assert_eq!(receiver.has_first(is_first), expected.is_some());
                taken += i64::from(expected.is_some());
                assert_eq!(receiver.pop(), expected);
            }
        }
    }

    #[test]
    fn block_is_reused_once_left() {
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
    fn values_and_blocks_are_dropped_once() {
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
    fn messages_cross_threads_in_order() {
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
    use crate::clock::sync::spin_once;

    /// Sends `sent` messages and takes `taken` of them, under every order of the two threads' steps.
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
                        None => spin_once(),
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
    fn receiver_follows_into_the_next_block() {
        try_all(3, 3);
    }

    #[test]
    fn block_is_reused_once_the_receiver_has_left_it() {
        try_all(4, 4);
    }

    #[test]
    fn messages_left_are_dropped() {
        try_all(3, 1);
    }
}
