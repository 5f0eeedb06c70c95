//! The machine's own barrier.

use loggp_model::message::parcel::Parcel;
use loggp_model::message::{Collective, Header, RawTag, Receiver, RecvFilter};
use loggp_model::rules::operation::ActiveOperation;
use loggp_model::time::Time;
use loggp_trace::CallKind;

use super::processor::Proc;

impl Proc<'_> {
    /// Waits in the machine's own barrier. Returns whether there is one.
    pub(crate) fn try_hardware_barrier(&mut self) -> bool {
        let cost = self.setup.barrier;
        if let Some(cost) = cost {
            self.hardware_barrier(cost);
        }
        cost.is_some()
    }

    /// Waits in the machine's own barrier. Its network is a binary tree, like the CM-5's control network:
    /// signals run up the tree, and when the root has both, down again. They bypass the data network and its
    /// rules, take no time, and are no messages; so all processors know at once when the last one has
    /// arrived. On the way down a processor gets its signal before all that act after it at that moment.
    fn hardware_barrier(&mut self, cost: Time) {
        self.enter_call();
        let number = self.begin_collective();
        let [up, down] = [0, 1].map(|step| RawTag::collective(Collective::HardwareBarrier, 0, number, step));
        let (id, P, network) = (self.id(), self.P(), &self.setup.network);
        let children = |place: usize| (2 * place + 1..=2 * place + 2).take_while(move |child| *child < P);
        self.wait_for_local_time();
        let mut all_arrived = self.local_time();
        if cost == Time::ZERO {
            self.clock.wait_to_act(all_arrived); // others may act on its signal at this very moment
        }
        for child in children(id) {
            all_arrived = self.await_signal(Some(child), up, all_arrived);
        }
        let root = if id == 0 { network.processor_at(all_arrived, 0) } else { (id - 1) / 2 };
        if (id, root) != (0, 0) {
            self.send_signal(root, if id == 0 { down } else { up }, all_arrived);
            all_arrived = self.await_signal(None, down, all_arrived);
        }
        for child in children(network.place(all_arrived, id)) {
            self.send_signal(network.processor_at(all_arrived, child), down, all_arrived);
        }
        self.engine.wait_in_barrier(all_arrived + cost);
        self.engine.log_call(|_| Some(CallKind::Barrier));
        self.wait_for_local_time();
        self.leave_call();
    }

    /// Sends a signal of the machine's barrier at a time that the engine does not see: for the engine the
    /// barrier is one wait.
    fn send_signal(&mut self, to: usize, tag: RawTag, at: Time) {
        let (from, number) = (self.id() as u32, self.engine.rank.egress.next_number());
        let to = Receiver::new(to as u32, false);
        self.clock.deliver((at, Header { from, to, number, words: 0, tag }), Parcel::new(()));
    }

    /// Waits for a signal of the machine's barrier, from `ready` on. Returns its time.
    fn await_signal(&mut self, from: Option<usize>, tag: RawTag, ready: Time) -> Time {
        let mut signal = ActiveOperation::receive(RecvFilter::new(from, tag));
        self.engine.start_and_finish(self.clock, &mut signal, Time::MAX);
        signal.received.map_or(ready, |signal| ready.max(signal.arrival))
    }
}
