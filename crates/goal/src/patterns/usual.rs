//! Usual patterns of communication, as LogGOPSim's generator has them: names for methods of collectives. Their ranks have
//! no program. A message waits for what it passes on, and for nothing else.

use loggp_model::time::Time;
use loggp_schedule::rounds::staggered;
use loggp_schedule::{Operation, ScheduleError};

use super::WriteResult;
use super::algorithm::{CollectiveAlgorithm, Method, Write, method};
use super::call::CollectiveKind::{self, *};
use super::member::{Lengths, MemberWriter, StartedOperation};
use super::methods::{all_gather, barrier, broadcast, gather, trees};

/// All patterns.
pub static PATTERNS: &[Method] = &[
    pattern(
        &[Bcast],
        "binomial-broadcast",
        broadcast::binomial,
        "0 sends to all, who pass it on: to 2^r away in round r",
    ),
    pattern(&[Reduce], "binomial-reduce", reduce, "the same backwards: all send to 0, by way of others"),
    pattern(&[Bcast], "binary-broadcast", broadcast::heap, "0 sends to all, who pass it on to two each"),
    pattern(
        &[Allreduce],
        "dissemination",
        barrier::dissemination,
        "everyone sends to 2^r away in round r, once round r-1 has come",
    ),
    pattern(
        &[Alltoall],
        "all-to-all",
        all_to_all,
        "everyone sends to all in turn, and receives in turn; all at once",
    ),
    pattern(&[Alltoall], "pairwise", pairwise, "the same, but a step begins when the one before is done"),
    pattern(&[Scatter], "scatter", gather::scatter, "0 sends to everyone"),
    pattern(
        &[Scatter],
        "binomial-scatter",
        gather::scatter_binomial,
        "0 sends to half of all what is for them, who pass it on",
    ),
    pattern(
        &[Gather],
        "binomial-gather",
        gather::gather_binomial,
        "the same backwards: half of all send on what others sent",
    ),
    pattern(
        &[Allgather],
        "all-gather",
        all_gather::bruck,
        "everyone sends to 2^r away in round r all that came, until all have all",
    ),
    pattern(&[Gather], "gather", gather::gather, "everyone sends to 0"),
    pattern(&[Bcast], "ring", broadcast::chain, "0 sends to 1, that to 2, and so on"),
    pattern(&[NeighborAllgather], "double-ring", double_ring, "everyone sends to both neighbours"),
    pattern(&[Allreduce], "ring-allreduce", ring, "P parts go round, twice: added up, and told"),
    pattern(
        &[Allreduce],
        "recursive-doubling",
        recursive_doubling,
        "everyone exchanges with 2^r away: halves of halves, and back",
    ),
    pattern(&[Barrier], "linear-barrier", linear_barrier, "everyone tells 0, and 0 tells everyone"),
];

/// Returns the pattern with this name, or `None`.
pub fn find_pattern(name: &str) -> Option<&'static Method> {
    PATTERNS.iter().find(|pattern| pattern.name == name)
}

const fn pattern(
    kinds: &'static [CollectiveKind],
    name: &'static str,
    write: Write,
    about: &'static str,
) -> Method {
    Method { waits_for_data: true, divides_bytes: true, ..method(kinds, name, write, about) }
}

/// Everyone sends to the parent in the tree of the broadcast what came from all children.
fn reduce(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (root, whole) = (of.root(), of.whole());
    let place = trees::binomial(rank.P, rank.place_from(root));
    let parent = place.parent.map(|parent| rank.member_at(parent, root));
    let sent = parent.map(|parent| rank.start_send(parent, whole)).transpose()?;
    for child in place.children {
        let received = rank.start_recv(rank.member_at(child, root), whole)?;
        sent.map_or(Ok(()), |sent| rank.require(sent, received))?;
    }
    Ok(())
}

fn all_to_all(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    for round in staggered(rank.P, rank.id) {
        rank.start_send(round.to, of.whole())?;
        rank.start_recv(round.from, of.whole())?;
    }
    Ok(())
}

fn pairwise(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let mut before: Option<[StartedOperation; 2]> = None;
    for round in staggered(rank.P, rank.id) {
        let both = [rank.start_send(round.to, of.whole())?, rank.start_recv(round.from, of.whole())?];
        for later in both {
            before.into_iter().flatten().try_for_each(|earlier| rank.require(later, earlier))?;
        }
        before = Some(both);
    }
    Ok(())
}

/// Rank 0 begins, and the others pass on what came from each side.
fn double_ring(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    if rank.P == 1 {
        return Ok(());
    }
    for (to, from) in [(rank.ahead(1), rank.behind(1)), (rank.behind(1), rank.ahead(1))] {
        let sent = rank.start_send(to, of.whole())?;
        let received = rank.start_recv(from, of.whole())?;
        if rank.id > 0 {
            rank.require(sent, received)?;
        }
    }
    Ok(())
}

fn ring(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let part = of.whole() / rank.P as u64;
    (2..2 * rank.P).try_for_each(|_| rank.send_recv((rank.ahead(1), part), (rank.behind(1), part)))
}

fn recursive_doubling(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (P, id) = (rank.P, rank.id);
    if !P.is_power_of_two() {
        return Err(ScheduleError::new(format!(
            "halves of halves need a power of 2 of ranks, and {P} is none; give one"
        )));
    }
    let bits = P.ilog2();
    (0..bits).try_for_each(|bit| rank.swap(id ^ 1 << bit, of.whole() >> (bit + 1)))?;
    // Halves are rounded down, and not up again on the way back.
    let least = of.whole() >> bits;
    (0..bits).rev().try_for_each(|bit| rank.swap(id ^ 1 << bit, least << (bits - 1 - bit)))
}

fn linear_barrier(rank: &mut MemberWriter, _: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    if rank.id > 0 {
        rank.start_send(0, 1)?;
        return rank.start_recv(0, 1).map(drop);
    }
    // All sends wait for one operation that takes no time, instead of having P requirements each.
    let all_came = rank.start(Operation::Calc(Time::ZERO))?;
    for other in 1..rank.P {
        let received = rank.start_recv(other, 1)?;
        rank.require(all_came, received)?;
        let sent = rank.start_send(other, 1)?;
        rank.require(sent, all_came)?;
    }
    Ok(())
}
