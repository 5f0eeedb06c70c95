//! The machine's own barrier.

use super::processor::Proc;
use crate::message::parcel::Parcel;
use crate::message::{Collective, Envelope, Letter, RawTag, Want};
use crate::rules::operation::Operation;
use crate::time::Time;
use crate::trace::CallKind;

impl Proc<'_> {
    /// Waits in the machine's own barrier. Returns whether there is one.
    pub(crate) fn own_barrier(&mut self) -> bool {
        let cost = self.setup.barrier;
        if let Some(cost) = cost {
            self.hardware_barrier(cost);
        }
        cost.is_some()
    }

    /// The machine's own barrier. Its network is a binary tree, as the CM-5's control network is: signals run
    /// up the tree, and when the root has both, down again. They bypass the data network and its rules, take
    /// no time, and are no messages; so all know at once when the last processor has come.
    fn hardware_barrier(&mut self, cost: Time) {
        self.count_code();
        let number = self.begin_collective();
        let [up, down] = [0, 1].map(|step| RawTag::collective(Collective::HardwareBarrier, 0, number, step));
        let id = self.id();
        let children = (2 * id + 1..=2 * id + 2).take_while(|child| *child < self.params().P);
        let children: smallvec::SmallVec<[usize; 2]> = children.collect();
        self.turn();
        let mut all_came = self.now();
        for child in &children {
            all_came = self.await_signal(*child, up, all_came);
        }
        if id > 0 {
            let parent = (id - 1) / 2;
            self.signal(parent, up, all_came);
            all_came = self.await_signal(parent, down, all_came);
        }
        for child in &children {
            self.signal(*child, down, all_came);
        }
        self.engine.waits_in_barrier(all_came + cost);
        self.engine.called(|_| Some(CallKind::Barrier));
        self.turn();
        self.restart_code();
    }

    /// Sends a signal of the machine's barrier, at a time that its node knows nothing of: the barrier is one wait,
    /// whatever signals it waits for.
    fn signal(&mut self, to: usize, tag: RawTag, at: Time) {
        let (from, to, number) = (self.id() as u32, to as u32, self.engine.next_number());
        let letter = Letter { from, to, number, words: 0, tag, parcel: Parcel::new(()) };
        self.clock.deliver(Envelope { arrival: at, letter });
    }

    /// Waits for a signal of the machine's barrier, from some time on. Returns when it has come.
    fn await_signal(&mut self, from: usize, tag: RawTag, ready: Time) -> Time {
        let mut signal = Operation::receive(Want::of(Some(from), tag));
        self.begins(&mut signal);
        self.drives(&mut signal, Time::MAX);
        ready.max(signal.came)
    }
}
