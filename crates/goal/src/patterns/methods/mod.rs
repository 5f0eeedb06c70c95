//! The algorithms by which collectives become messages.

pub(crate) mod all_gather;
mod all_reduce;
mod all_to_all;
pub(crate) mod barrier;
pub(crate) mod broadcast;
pub(crate) mod gather;
mod neighbors;
mod rabenseifner;
mod reduce;
mod reduce_scatter;
mod scan;
pub(crate) mod trees;

use super::algorithm::{Method, method};
use super::call::CollectiveKind::{self, *};

/// Returns the algorithm of a kind of collective with this name, or `None`.
pub fn find(kind: CollectiveKind, name: &str) -> Option<&'static Method> {
    of(kind).find(|method| method.name == name)
}

/// Returns the algorithms of a kind of collective.
pub fn of(kind: CollectiveKind) -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(move |method| method.kinds.contains(&kind))
}

/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const BARRIER_LINEAR: Method =
    method(&[Barrier], "linear", barrier::linear, "everyone tells rank 0, and rank 0 tells everyone");
/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const BARRIER_RECURSIVE_DOUBLING: Method =
    method(&[Barrier], "recursive-doubling", barrier::recursive_doubling, "everyone exchanges with 2^r away");
/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const BARRIER_DISSEMINATION: Method =
    method(&[Barrier], "dissemination", barrier::dissemination, "everyone tells 2^r ahead in round r");
/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const BARRIER_TREE: Method =
    method(&[Barrier], "tree", barrier::tree, "up a binomial tree and down again");
/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const ALLREDUCE_RECURSIVE_DOUBLING: Method = method(
    &[Allreduce],
    "recursive-doubling",
    all_reduce::recursive_doubling,
    "everyone exchanges with 2^r away",
);
/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const ALLREDUCE_RING: Method = method(&[Allreduce], "ring", all_reduce::ring, "P parts go round, twice");
/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const ALLREDUCE_RABENSEIFNER: Method = method(
    &[Allreduce],
    "rabenseifner",
    all_reduce::rabenseifner,
    "halves of halves are combined, and gathered",
);

/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const GATHER_LINEAR: Method =
    method(GATHERS, "linear", gather::gather, "everyone sends to the root, which receives in turn");
/// An algorithm that is wanted by itself too, by [`method_schedule`](super::method_schedule).
pub const GATHER_BINOMIAL: Method =
    method(&[Gather], "binomial", gather::gather_binomial, "up a binomial tree");

const GATHERS: &[CollectiveKind] = &[Gather, Gatherv];
const SCATTERS: &[CollectiveKind] = &[Scatter, Scatterv];
const ALL_GATHERS: &[CollectiveKind] = &[Allgather, Allgatherv];
const ALL_TO_ALLS: &[CollectiveKind] = &[Alltoall, Alltoallv, Alltoallw];
const REDUCE_SCATTERS: &[CollectiveKind] = &[ReduceScatter, ReduceScatterBlock];
const SCANS: &[CollectiveKind] = &[Scan, Exscan];

/// All algorithms.
pub static METHODS: &[Method] = &[
    BARRIER_LINEAR,
    method(&[Barrier], "double-ring", barrier::double_ring, "a message goes round a ring, twice"),
    BARRIER_RECURSIVE_DOUBLING,
    BARRIER_DISSEMINATION,
    method(&[Barrier], "two-ranks", barrier::dissemination, "two tell each other"),
    BARRIER_TREE,
    method(&[Bcast], "linear", broadcast::linear, "the root sends to everyone"),
    method(&[Bcast], "chain", broadcast::chain, "along so many chains").fan_out(1).segments(),
    method(&[Bcast], "pipeline", broadcast::chain, "along one chain").segments(),
    method(&[Bcast], "split-binary", broadcast::split_binary, "a half down each side of a binary tree")
        .segments(),
    method(&[Bcast], "binary", broadcast::binary, "down a binary tree").segments(),
    method(&[Bcast], "binomial", broadcast::binomial, "down a binomial tree, the nearest first").segments(),
    method(&[Bcast], "knomial", broadcast::knomial, "down a k-nomial tree, the furthest first")
        .fan_out(4)
        .segments(),
    method(&[Bcast], "scatter-allgather", broadcast::scatter_allgather, "scattered, and gathered by halves"),
    method(
        &[Bcast],
        "scatter-allgather-bytes",
        broadcast::scatter_allgather,
        "the same in parts of any length",
    )
    .bytes(),
    method(&[Bcast], "scatter-ring", broadcast::scatter_ring, "scattered, and gathered round a ring"),
    method(&[Bcast], "scatter-ring-bytes", broadcast::scatter_ring, "the same in parts of any length")
        .bytes(),
    method(
        &[Bcast],
        "scatter-allgather-rest",
        broadcast::scatter_allgather,
        "scattered, some parts with all that is behind them, and gathered by halves",
    )
    .bytes()
    .rest(),
    method(
        &[Bcast],
        "scatter-ring-rest",
        broadcast::scatter_ring,
        "scattered, some parts with all that is behind them, and gathered round a ring",
    )
    .bytes()
    .rest(),
    method(
        &[Bcast],
        "binomial-swapped",
        broadcast::binomial,
        "down a binomial tree in which the root is rank 0",
    )
    .segments()
    .swapped(),
    method(&[Bcast], "chain-swapped", broadcast::even_chain, "along a chain in which the root is rank 0")
        .segments()
        .swapped(),
    method(&[Reduce], "linear", reduce::linear, "everyone sends to the root"),
    method(&[Reduce], "chain", reduce::chain, "along so many chains").fan_out(1).segments(),
    method(&[Reduce], "pipeline", reduce::chain, "along one chain").segments(),
    method(&[Reduce], "binary", reduce::binary, "up a binary tree").segments(),
    method(&[Reduce], "binomial", reduce::binomial, "up a binomial tree, the nearest first").segments(),
    method(
        &[Reduce],
        "binomial-in-order",
        reduce::binomial_in_order,
        "up a binomial tree to rank 0, and to the root",
    )
    .segments(),
    method(&[Reduce], "in-order-binary", reduce::in_order_binary, "up a binary tree in the order of ranks")
        .segments(),
    method(&[Reduce], "rabenseifner", reduce::rabenseifner, "halves of halves are combined, and gathered"),
    method(
        &[Reduce],
        "rabenseifner-whole",
        reduce::rabenseifner_whole,
        "the same; ranks too many give all first",
    ),
    method(
        &[Reduce],
        "rabenseifner-last",
        reduce::rabenseifner_last,
        "the same; the last part is the longest",
    ),
    method(&[Reduce], "binomial-swapped", reduce::binomial, "up a binomial tree in which the root is rank 0")
        .segments()
        .swapped(),
    method(&[Reduce], "chain-swapped", reduce::even_chain, "along a chain in which the root is rank 0")
        .segments()
        .swapped(),
    method(
        &[Reduce],
        "rabenseifner-or-binomial",
        reduce::rabenseifner_or_binomial,
        "Rabenseifner's, or short ones up a binomial tree in which the root is rank 0",
    )
    .swapped(),
    method(&[Allreduce], "linear", all_reduce::linear, "everyone sends to rank 0, and rank 0 to everyone"),
    method(&[Allreduce], "nonoverlapping", all_reduce::nonoverlapping, "a reduce and then a bcast").parts(),
    method(&[Allreduce], "binomial", all_reduce::binomial, "up a binomial tree and down again"),
    ALLREDUCE_RECURSIVE_DOUBLING,
    ALLREDUCE_RING,
    method(&[Allreduce], "segmented-ring", all_reduce::segmented_ring, "the same in segments").segments(),
    ALLREDUCE_RABENSEIFNER,
    method(
        &[Allreduce],
        "rabenseifner-whole",
        all_reduce::rabenseifner_whole,
        "the same; ranks too many give all first",
    ),
    method(
        &[Allreduce],
        "rabenseifner-last",
        all_reduce::rabenseifner_last,
        "the same; the last part is the longest",
    ),
    GATHER_LINEAR,
    method(GATHERS, "linear-at-once", gather::gather_at_once, "the same, all received at once"),
    method(&[Gather], "linear-sync", gather::gather_in_turn, "the root tells everyone in turn to send")
        .segments(),
    GATHER_BINOMIAL,
    method(SCATTERS, "linear", gather::scatter, "the root sends to everyone in turn"),
    method(SCATTERS, "linear-at-once", gather::scatter_at_once, "the same, all at once"),
    method(&[Scatter], "binomial", gather::scatter_binomial, "down a binomial tree"),
    method(ALL_GATHERS, "linear", all_gather::linear, "a gather and then a bcast").parts(),
    method(ALL_GATHERS, "linear-at-once", all_gather::linear_at_once, "everyone sends to all at once"),
    method(ALL_GATHERS, "bruck", all_gather::bruck, "all that came goes 2^r away in round r"),
    method(
        ALL_GATHERS,
        "recursive-doubling",
        all_gather::recursive_doubling,
        "everyone exchanges all with 2^r away; or Bruck's",
    ),
    method(ALL_GATHERS, "ring", all_gather::ring, "every part goes round a ring"),
    method(ALL_GATHERS, "pipelined-ring", all_gather::pipelined_ring, "the same in segments").segments(),
    method(
        ALL_GATHERS,
        "neighbor-exchange",
        all_gather::neighbor_exchange,
        "pairs of parts go to both neighbours in turn; or a ring",
    ),
    method(ALL_GATHERS, "two-ranks", all_gather::ring, "two exchange their parts; or a ring"),
    method(&[Alltoall], "linear", all_to_all::linear, "everyone sends to all at once"),
    method(&[Alltoallv, Alltoallw], "linear", all_to_all::linear_by_rank, "the same, in the order of ranks"),
    method(&[Alltoall], "linear-by-rank", all_to_all::linear_by_rank, "the same, in the order of ranks"),
    method(&[Alltoall], "linear-sync", all_to_all::linear, "everyone sends to all at once"),
    method(ALL_TO_ALLS, "scattered", all_to_all::scattered, "so many messages at once").fan_out(32),
    method(ALL_TO_ALLS, "pairwise", all_to_all::pairwise, "one after the other"),
    method(
        ALL_TO_ALLS,
        "pairwise-by-bits",
        all_to_all::pairwise_by_bits,
        "the same; in pairs if P is a power of 2",
    ),
    method(&[Alltoall], "bruck", all_to_all::bruck, "about half of all parts go 2^r away in round r"),
    method(&[Alltoall], "two-ranks", all_to_all::pairwise, "two exchange their parts"),
    method(REDUCE_SCATTERS, "nonoverlapping", reduce_scatter::nonoverlapping, "a reduce and then a scatter")
        .parts(),
    method(
        REDUCE_SCATTERS,
        "recursive-doubling",
        reduce_scatter::recursive_doubling,
        "everyone exchanges with 2^r away what both lack",
    ),
    method(
        REDUCE_SCATTERS,
        "recursive-halving",
        reduce_scatter::recursive_halving,
        "halves of halves are combined",
    ),
    method(REDUCE_SCATTERS, "ring", reduce_scatter::ring, "the parts go round a ring"),
    method(
        REDUCE_SCATTERS,
        "butterfly",
        reduce_scatter::butterfly,
        "halves of halves are combined in order, and put in their places",
    ),
    method(
        REDUCE_SCATTERS,
        "pairwise",
        reduce_scatter::pairwise,
        "everyone sends all others their part, one after the other",
    ),
    method(
        REDUCE_SCATTERS,
        "binomial",
        reduce_scatter::binomial,
        "up a binomial tree, and then from rank 0 to everyone",
    ),
    method(SCANS, "linear", scan::linear, "from each rank to the next one"),
    method(SCANS, "recursive-doubling", scan::recursive_doubling, "everyone exchanges with 2^r away"),
    method(
        &[NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw],
        "linear",
        neighbors::linear,
        "everyone sends to all neighbours at once",
    ),
];
