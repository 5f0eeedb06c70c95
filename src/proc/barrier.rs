//! The machine's own barrier.

use super::processor::Proc;
use crate::message::parcel::Parcel;
use crate::message::{Collective, Header, RawTag, Receiver, RecvFilter};
use crate::rules::operation::ActiveOperation;
use crate::time::Time;
use crate::trace::CallKind;

impl Proc<'_> {
    /// Waits in the machine's own barrier. Returns whether there is one.
    pub(crate) fn try_hardware_barrier(&mut self) -> bool {
        let cost = self.setup.barrier;
        if let Some(cost) = cost {
            self.hardware_barrier(cost);
        }
        cost.is_some()
    }

    /// The machine's own barrier. Its network is a binary tree, as the CM-5's control network is: signals run up the tree,
    /// and when the root has both, down again. They bypass the data network and its rules, take no time, and are no
    /// messages; so all know at once when the last processor has come. On the way down
    /// a processor is told before all that act after it at that moment.
    fn hardware_barrier(&mut self, cost: Time) {
        self.enter_call();
        let number = self.begin_collective();
        let [up, down] = [0, 1].map(|step| RawTag::collective(Collective::HardwareBarrier, 0, number, step));
        let (id, P, network) = (self.id(), self.P(), &self.setup.network);
        let children = |place: usize| (2 * place + 1..=2 * place + 2).take_while(move |child| *child < P);
        self.wait_for_local_time();
        let mut all_came = self.now();
        for child in children(id) {
            all_came = self.await_signal(Some(child), up, all_came);
        }
        let root = if id == 0 { network.processor_at(all_came, 0) } else { (id - 1) / 2 };
        if (id, root) != (0, 0) {
            self.send_signal(root, if id == 0 { down } else { up }, all_came);
            all_came = self.await_signal(None, down, all_came);
        }
        for child in children(network.place(all_came, id)) {
            self.send_signal(network.processor_at(all_came, child), down, all_came);
        }
        self.engine.wait_in_barrier(all_came + cost);
        self.engine.log_call(|_| Some(CallKind::Barrier));
        self.wait_for_local_time();
        self.leave_call();
    }

    /// Sends a signal of the machine's barrier, at a time that its engine knows nothing of: the barrier is one wait,
    /// whatever signals it waits for.
    fn send_signal(&mut self, to: usize, tag: RawTag, at: Time) {
        let (from, number) = (self.id() as u32, self.engine.next_number());
        let to = Receiver::new(to as u32, false);
        self.clock.deliver((at, Header { from, to, number, words: 0, tag }), Parcel::new(()));
    }

    /// Waits for a signal of the machine's barrier, from some time on. Returns when it has come.
    fn await_signal(&mut self, from: Option<usize>, tag: RawTag, ready: Time) -> Time {
        let mut signal = ActiveOperation::receive(RecvFilter::new(from, tag));
        self.start(&mut signal);
        self.drive(&mut signal, Time::MAX);
        signal.received.map_or(ready, |signal| ready.max(signal.arrival))
    }
}
