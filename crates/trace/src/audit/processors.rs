//! Audits the activities of processors and of their requests: their sequence and their lengths.

use std::collections::BTreeMap;

use loggp_model::message::{MessageId, RawTag};
use loggp_model::params::Params;
use loggp_model::time::Time;

use super::auditor::{AuditRule, Auditor, broken, words};
use super::flight::{Flight, SendTimes};
use crate::path::Event;
use crate::{ActivityKind, CallKind, Message};

/// A request in the audit.
#[derive(Default)]
struct AuditedRequest<'a> {
    posts: Vec<&'a Event<'a>>,
    waits: Vec<&'a Event<'a>>,
    activities: &'a [Event<'a>],
}

impl<'a> Auditor<'a> {
    /// Audits sends: each is an overhead, perhaps a stall, and perhaps a wait for the port; then the message
    /// enters.
    pub(super) fn audit_sends(&mut self, track: &[Event]) {
        let mut rest = track.iter().peekable();
        // The entry of a message whose sender may receive until then.
        let mut received_until = None;
        while let Some(first) = rest.peek().copied() {
            let send = rest.next_if(|activity| matches!(activity.kind, ActivityKind::Send(_)));
            let stall = rest.next_if(|activity| *activity.kind == ActivityKind::Stall);
            let port = rest.next_if(|activity| *activity.kind == ActivityKind::Port);
            let Some(last) = port.or(stall).or(send) else {
                rest.next();
                continue;
            };
            let (x, start, end, enter) = (first.id, first.start, first.end, last.end);
            if first.kind == &ActivityKind::Stall && received_until.take() == Some(enter) {
                continue;
            }
            let ActivityKind::Send(id) = *first.kind else {
                self.report(
                    AuditRule::Entry,
                    format!("processor {x} waits to send until {enter}, and does not"),
                );
                continue;
            };
            let sender = |index: &usize| {
                let Flight { message, is_read, .. } = self.flights[*index];
                if is_read { message.to } else { id.from }
            };
            let Some(index) = self.index_of(id).filter(|index| sender(index) == x) else {
                let sentence = format!("processor {x} sends {id} at {start}, which it never sent");
                self.report(AuditRule::Overhead, sentence);
                continue;
            };
            let flight = self.flights[index];
            let Flight { message, sent: before, stream, .. } = flight;
            if let Some(SendTimes { begun, .. }) = before {
                let sentence = format!("processor {x} sends {id} at {begun} and again at {start}");
                self.report(AuditRule::Overhead, sentence);
                continue;
            }
            let may_receive =
                flight.lasts_until_received() && stream <= Time::ZERO && first.request.is_none();
            received_until = Some(message.enter).filter(|entry| may_receive && enter == end && *entry > end);
            let enter = received_until.unwrap_or(enter);
            let admitted = received_until.or(stall.map(|stall| stall.end)).unwrap_or(end);
            self.flights[index].sent = Some(SendTimes { begun: start, ready: end, admitted, entered: enter });
            let (took, at) = (end - start, message.enter);
            let cost = send_cost(&self.flights[index]);
            let lasts = self.has_exact_length(x, start, end, cost);
            broken!(self, "{id}",
                !lasts => AuditRule::Overhead, "takes {took} to send from {start}, and costs {cost}";
                at != enter => AuditRule::Entry, "enters at {at}, and its sender goes on at {enter}";
            );
        }
    }

    /// Audits the activities of a processor from 0 to its end, and those of its requests.
    pub(super) fn audit_processor(&mut self, track: &[Event]) {
        let id = track[0].id;
        broken!(self, "there is no processor {id}",
            id >= self.trace.params.P => AuditRule::Names, "to do anything";
        );
        let (own, beside) = track.split_at(track.partition_point(|activity| activity.request.is_none()));
        self.audit_sequence(AuditRule::OneThing, &format!("processor {id}"), Time::ZERO, own);
        self.audit_work(own);
        let received = track.iter().filter(|activity| matches!(activity.kind, ActivityKind::Receive(_)));
        let mut received: Vec<&Event> = received.collect();
        // Several receptions can begin at one moment only if the gaps after all but the last are 0.
        received.sort_by_key(|reception| (reception.start, self.gap_after(reception), reception.end));
        self.audit_receptions(&received);
        for of_one in track.chunk_by(|a, b| a.request == b.request) {
            self.audit_gaps(of_one, &received);
        }
        self.audit_requests(id, own, beside);
    }

    /// Audits that activities follow each other from `from` on. Returns the end of the last one.
    fn audit_sequence(&mut self, rule: AuditRule, who: &str, from: Time, track: &[Event]) -> Time {
        let mut now = from;
        for &Event { start, end, .. } in track {
            broken!(self, "{who}",
                start > now => rule, "does nothing from {now} to {start}";
                start < now => rule, "does two things from {start} to {now}";
                end < start => rule, "goes back from {start} to {end}";
            );
            now = now.max(end);
        }
        now
    }

    /// Audits receptions: the message, the length and the gap.
    fn audit_receptions(&mut self, track: &[&Event]) {
        let mut last: Option<(Time, Time)> = None;
        for &&Event { id: y, start, end, kind: what, .. } in track {
            let ActivityKind::Receive(id) = *what else { continue };
            if let Some((last, g)) = last.filter(|(last, g)| start < *last + *g) {
                let sentence = format!("processor {y} begins receptions at {last} and {start}, and g = {g}");
                self.report(AuditRule::Gap, sentence);
            }
            last = Some((start, self.params_of(id, y).g));
            let Some(flight) = self.index_of(id).map(|index| &mut self.flights[index]) else {
                self.report(
                    AuditRule::Reception,
                    format!("processor {y} receives {id} at {start}, never sent"),
                );
                continue;
            };
            let (params, &Message { to, words, arrival, .. }) = (flight.params, flight.message);
            let is_lost = self.trace.faults.lost.contains(&id);
            let mine = to == y;
            let before = flight.received;
            flight.received += usize::from(mine);
            flight.taken = flight.taken.or(mine.then_some(start));
            let later = self.trace.faults.twice.get(&id).filter(|_| before == 1);
            let again = mine && before > 0 && later.is_none();
            let arrival = arrival + later.copied().unwrap_or_default();
            let (cost, took) = (receive_cost(params, words), end - start);
            let lasts = self.has_exact_length(y, start, end, cost);
            broken!(self, "processor {y} receives {id} at {start},",
                !mine => AuditRule::Reception, "which was sent to {to}";
                again => AuditRule::Reception, "which it has received before";
                is_lost => AuditRule::Reception, "which was lost";
                mine && start < arrival => AuditRule::Arrival, "there at {arrival}";
                mine && !lasts => AuditRule::Overhead, "in {took}, and that costs {cost}";
            );
        }
    }

    /// Audits that a wait for the gap ends in a send or a reception as soon as the gap is over.
    fn audit_gaps(&mut self, track: &[Event], received: &[&Event]) {
        // If G_l is negative, a message may ask before it is ready, and one that goes after another may wait
        // for that.
        let levels = self.trace.levels.iter().map(|level| &level.params);
        let takes_back = |params: &Params| params.gps().is_some_and(|gps| gps.G_l < Time::ZERO);
        if levels.chain([&self.trace.params]).any(takes_back) {
            return;
        }
        for (index, gap) in
            track.iter().enumerate().filter(|(_, activity)| *activity.kind == ActivityKind::Gap)
        {
            let (over, waited_until) = match track.get(index + 1) {
                Some(Event { kind: ActivityKind::Send(id), end, .. }) => {
                    let flight = self.index_of(*id).map(|index| self.flights[index]);
                    let over = flight.and_then(|flight| flight.gap_over);
                    // The overhead is over with the gap, but for detours.
                    let cost = flight.as_ref().map(send_cost);
                    let ends = over.zip(cost).is_some_and(|(over, cost)| {
                        *end >= over && self.has_exact_length(gap.id, over - cost, *end, cost)
                    });
                    (over.map(|over| if ends { *end } else { over }), *end)
                }
                Some(Event { kind: ActivityKind::Receive(_), start, .. }) => {
                    let before = received.partition_point(|reception| reception.start < *start);
                    (before.checked_sub(1).map(|before| self.gap_after(received[before])), *start)
                }
                _ => (None, gap.end),
            };
            if over != Some(waited_until) {
                let over = over.map_or("there is none".into(), |over| format!("it is over at {over}"));
                let sentence =
                    format!("processor {} waits for the gap until {waited_until}, and {over}", gap.id);
                self.report(AuditRule::Wait, sentence);
            }
        }
    }

    /// Audits requests: each is called for and waited for once, goes on from its call without a break, and is
    /// waited for until it is done.
    fn audit_requests(&mut self, x: usize, own: &[Event], beside: &[Event]) {
        let mut requests: BTreeMap<u32, AuditedRequest> = BTreeMap::new();
        for activity in own {
            match activity.kind {
                ActivityKind::Post(number) => requests.entry(*number).or_default().posts.push(activity),
                ActivityKind::Wait(number) => requests.entry(*number).or_default().waits.push(activity),
                _ => {}
            }
        }
        for track in beside.chunk_by(|a, b| a.request == b.request) {
            if let Some(number) = track[0].request {
                requests.entry(number).or_default().activities = track;
            }
        }
        for (number, AuditedRequest { posts, waits, activities }) in requests {
            let who = format!("number {number} of processor {x}");
            if waits.is_empty() && self.trace.may_have_stopped(x) {
                continue;
            }
            if waits.is_empty() && activities.is_empty() && self.may_be_withdrawn(x, number) {
                continue;
            }
            let (&[post], &[wait], 1..) = (&posts[..], &waits[..], activities.len()) else {
                let [posts, waits, activities] = [posts.len(), waits.len(), activities.len()];
                let sentence = format!("{who} is called for {posts} times and waited for {waits} times");
                self.report(AuditRule::Request, format!("{sentence}, and does {activities} things"));
                continue;
            };
            let (o, took, end) = (self.trace.params.o, post.end - post.start, wait.end);
            let done = self.audit_sequence(AuditRule::Request, &who, post.start, activities);
            let had_o = done >= wait.start && self.can_have_had(x, wait.start, done, o);
            let in_time = if had_o { end == done } else { self.has_exact_length(x, wait.start, end, o) };
            let over = done.max(wait.start + o);
            let called = self.has_exact_length(x, post.start, post.end, o);
            broken!(self, "{who}",
                !called => AuditRule::Request, "is called for in {took}, and that costs {o}";
                wait.start < post.end => AuditRule::Request, "is waited for before it is called for";
                !in_time => AuditRule::Request, "is waited for until {end}, and that is over at {over}";
            );
        }
    }

    /// Returns whether a request is the receive of an MPI program, which may cancel it.
    fn may_be_withdrawn(&self, x: usize, number: u32) -> bool {
        self.trace.calls.iter().any(|call| match &call.kind {
            CallKind::Irecv { request, tag, .. } => {
                (call.id, *request) == (x, number) && RawTag::from_number(tag.number).is_scoped()
            }
            _ => false,
        })
    }

    /// Audits barriers: the n-th barrier of every processor is the same one, and ends for all of them when
    /// the last one has come and the cost is paid.
    pub(super) fn audit_barriers(&mut self, activities: &[Event]) {
        let mut barriers: Vec<Vec<&Event>> = Vec::new();
        for track in activities.chunk_by(|a, b| a.id == b.id) {
            let there = |activity: &&Event| activity.request.is_none() && activity.id < self.trace.params.P;
            let taken = track.iter().filter(there).filter(|activity| *activity.kind == ActivityKind::Barrier);
            for (number, activity) in taken.enumerate() {
                if number == barriers.len() {
                    barriers.push(Vec::new());
                }
                barriers[number].push(activity);
            }
        }
        let Some(last) = barriers.last() else { return };
        let Some(cost) = self.trace.barrier else {
            let (id, start) = (barriers[0][0].id, barriers[0][0].start);
            let sentence = format!("processor {id} waits in one at {start}, and the machine has none");
            return self.report(AuditRule::Barrier, sentence);
        };
        let is_missing = |id: &usize| last.binary_search_by_key(id, |activity| activity.id).is_err();
        let mut missing = (0..self.trace.params.P).filter(is_missing);
        if let Some(id) = missing.next() {
            let (most, others) = (barriers.len(), missing.count());
            let sentence =
                format!("processor {id} takes part in fewer than {most}, and so do {others} others");
            return self.report(AuditRule::Barrier, sentence); // nobody knows which one it missed
        }
        for (number, taken) in barriers.iter().enumerate() {
            let came = taken.iter().map(|activity| activity.start).max().unwrap_or_default();
            let over = came + cost;
            for Event { id, end, .. } in taken {
                broken!(self, "processor {id} leaves number {number} at {end},",
                    *end != over => AuditRule::Barrier, "and the last comes at {came}, and it costs {cost}";
                );
            }
        }
    }

    /// Returns the end of the gap after a reception.
    pub(super) fn gap_after(&self, reception: &Event) -> Time {
        let ActivityKind::Receive(id) = *reception.kind else { return reception.start };
        reception.start + self.params_of(id, reception.id).g
    }

    /// Returns the parameters of a message that processor `y` receives.
    fn params_of(&self, id: MessageId, y: usize) -> &'a Params {
        self.index_of(id).map_or_else(|| self.params(id.from, y), |index| self.flights[index].params)
    }
}

/// Returns the overhead of sending k words (LogP: o; LogGPS, table 3: o' + kO_s, and R above S, unless they go to a
/// memory). A receiver that reads them spends o' and the time until its request is there.
fn send_cost(&Flight { message, params, is_read, is_one_sided, .. }: &Flight) -> Time {
    let k = message.words;
    if is_read {
        return params.o + params.L;
    }
    params.gps().map_or(params.o, |gps| {
        let agreed = if k > gps.S && !is_one_sided { params.R } else { Time::ZERO };
        params.o + words(k) * gps.O_s + agreed
    })
}

/// Returns the overhead of receiving k words (LogP: o; LogGPS, table 3: o' + kO_r).
fn receive_cost(params: &Params, k: usize) -> Time {
    params.gps().map_or(params.o, |gps| params.o + words(k) * gps.O_r)
}
