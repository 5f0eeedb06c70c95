//! The tree of a run's messages, from its trace: along it a datum comes to all, or a result to one.

use loggp::Time;
use loggp::trace::{ActivityKind, Trace};
use loggp_draw::digits::figures;
use loggp_draw::tree::{TreeNode, TreePicture};

/// Returns the tree of a run's messages without a title, each node with the time at which it has the datum, or at which its
/// part of the result is done; or returns why the messages are no tree.
pub fn tree_from_trace(trace: &Trace, unit: (&str, Time)) -> Result<TreePicture, String> {
    let P = trace.params.P;
    let (mut sends, mut receives) = (vec![0; P], vec![0; P]);
    for message in &trace.messages {
        sends[message.id.from] += 1;
        receives[message.to] += 1;
    }
    // One message alone goes to its root, if that is processor 0.
    let (is_spread, is_collected) = (is_once(&receives), is_once(&sends));
    let is_up = is_collected && !(is_spread && sends[0] > 0);
    if !is_spread && !is_collected {
        return Err("its messages are no tree: some processors receive more than one and some send more than one; a broadcast \
                    and a summation have a tree"
            .into());
    }
    let mut parents = vec![None; P];
    for message in &trace.messages {
        let (child, parent) =
            if is_up { (message.id.from, message.to) } else { (message.to, message.id.from) };
        parents[child] = Some(parent);
    }
    let times = if is_up { done_times(trace) } else { receive_times(trace) };
    let depth = |id: usize| std::iter::successors(parents[id], |parent| parents[*parent]).take(P).count();
    let depths: Vec<usize> = (0..P).map(depth).collect();
    if depths.contains(&P) {
        return Err(
            "its messages are no tree: they go in a circle; a broadcast and a summation have a tree".into()
        );
    }
    let mut ids: Vec<usize> = (0..P).filter(|id| P == 1 || sends[*id] + receives[*id] > 0).collect();
    // A parent comes before its children, and who is earlier before who is later.
    ids.sort_by_key(|id| (if is_up { depths[*id] } else { 0 }, times[*id], depths[*id], *id));
    let node = |id: &usize| TreeNode {
        parent: parents[*id].and_then(|parent| ids.iter().position(|other| *other == parent)),
        label: figures(times[*id].as_ps() as f64 / unit.1.as_ps() as f64, 6),
        note: format!("P{id}"),
    };
    let what = if is_up { "its result is ready" } else { "it has the data" };
    let subtitle = format!("in each node when {what} [{}], and its number above", unit.0);
    Ok(TreePicture { title: String::new(), subtitle, nodes: ids.iter().map(node).collect() })
}

fn is_once(counts: &[usize]) -> bool {
    counts.iter().all(|count| *count <= 1)
}

/// Returns kind, processor, start and end of the activities of all processors and of their requests.
fn activities(trace: &Trace) -> impl Iterator<Item = (&ActivityKind, usize, Time, Time)> {
    let of_requests = trace.progress.iter().map(|one| (&one.kind, one.id, one.start, one.end));
    trace.activities.iter().map(|one| (&one.kind, one.id, one.start, one.end)).chain(of_requests)
}

/// Returns when each processor has received its message; 0 for one that receives none.
fn receive_times(trace: &Trace) -> Vec<Time> {
    let mut times = vec![Time::ZERO; trace.params.P];
    for message in &trace.messages {
        times[message.to] = message.arrival;
    }
    for (_, id, _, end) in activities(trace).filter(|(kind, ..)| matches!(kind, ActivityKind::Receive(_))) {
        times[id] = times[id].max(end);
    }
    times
}

/// Returns when each processor begins to send its result, or ends if it sends none.
pub fn done_times(trace: &Trace) -> Vec<Time> {
    let mut times = vec![Time::ZERO; trace.params.P];
    activities(trace).for_each(|(_, id, _, end)| times[id] = times[id].max(end));
    let sends = activities(trace).filter(|(kind, ..)| matches!(kind, ActivityKind::Send(_)));
    sends.for_each(|(_, id, start, _)| times[id] = start);
    times
}
