//! Networks and the distances of their processors: the closed forms of LogP, section 5.1, and a count over
//! all pairs of a network that is built link by link.
//!
//! The paper's forms say what the average tends to, for any number of processors. A network has a whole side
//! or whole levels, so it is built for the nearest number that allows this, and counted; the same average
//! with all terms kept must equal the count. A distance is a number of links. As in the paper, averages are
//! over all P^2 pairs, a processor with itself included: a hypercube's log P / 2 is exact only so.

use std::collections::VecDeque;

/// A kind of network.
#[derive(Debug)]
pub struct Topology {
    pub name: &'static str,
    /// Text of the paper's closed form of the average distance.
    pub formula: &'static str,
    /// The paper's closed form for a number of processors.
    pub average: fn(f64) -> f64,
    kind: NetworkKind,
}

#[derive(Clone, Copy, Debug)]
enum NetworkKind {
    /// Processors whose numbers differ in one bit are linked.
    Hypercube,
    /// Ranks of switches between the nodes where messages enter and those where they leave.
    Butterfly,
    /// A tree with processors as leaves, and this many children for each inner node.
    FatTree(usize),
    /// Number of dimensions, and whether their ends are linked.
    Grid(u32, bool),
}

/// Distances of the processors of a network, in links.
#[derive(Clone, Debug)]
pub struct Distances {
    pub topology: &'static Topology,
    /// Requested number of processors.
    pub requested: usize,
    /// The paper's closed form for that number.
    pub closed_form: f64,
    /// Nearest number of processors that such a network can have.
    pub P: usize,
    /// Size of such a network, such as `10 x 10 x 10`.
    pub shape: String,
    /// Average in that network, with all terms kept.
    pub exact: f64,
    /// Count in that network; `None` if it is too large.
    pub counted: Option<CountedDistances>,
}

/// Distances counted over all pairs, in links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedDistances {
    /// Average over all pairs.
    pub average: f64,
    /// Average over all pairs of two different processors.
    pub of_two: f64,
    /// Largest distance.
    pub farthest: usize,
    /// Number of nodes, switches included.
    pub nodes: usize,
}

/// Larger networks are not counted: it would take minutes.
pub const MOST_COUNTED: usize = 4096;
/// Most processors that may be requested.
pub const MOST_PROCESSORS: usize = 1 << 30;

/// The networks, as section 5.1 lists them.
pub static TOPOLOGIES: [Topology; 7] = [
    topology("hypercube", "log2 P / 2", |P| P.log2() / 2.0, NetworkKind::Hypercube),
    topology("butterfly", "log2 P", f64::log2, NetworkKind::Butterfly),
    topology("4-ary fat tree", "2 log4 P - 2/3", |P| P.log2() - 2.0 / 3.0, NetworkKind::FatTree(4)),
    topology("3d torus", "3/4 P^(1/3)", |P| 0.75 * P.cbrt(), NetworkKind::Grid(3, true)),
    topology("3d mesh", "P^(1/3)", f64::cbrt, NetworkKind::Grid(3, false)),
    topology("2d torus", "1/2 P^(1/2)", |P| P.sqrt() / 2.0, NetworkKind::Grid(2, true)),
    topology("2d mesh", "2/3 P^(1/2)", |P| 2.0 / 3.0 * P.sqrt(), NetworkKind::Grid(2, false)),
];

const fn topology(
    name: &'static str,
    formula: &'static str,
    average: fn(f64) -> f64,
    kind: NetworkKind,
) -> Topology {
    Topology { name, formula, average, kind }
}

impl Topology {
    /// Returns the distances in the network of this kind whose number of processors is nearest to
    /// `requested`.
    ///
    /// # Panics
    ///
    /// If there are fewer than 2 processors, or more than [`MOST_PROCESSORS`].
    pub fn distances(&'static self, requested: usize) -> Distances {
        assert!((2..=MOST_PROCESSORS).contains(&requested), "there is no network of {requested}");
        let k = self.kind.nearest_k(requested);
        let P = self.kind.processors(k);
        let counted = (P <= MOST_COUNTED).then(|| self.kind.build(k).count());
        let closed_form = (self.average)(requested as f64);
        Distances {
            topology: self,
            requested,
            closed_form,
            P,
            shape: self.kind.shape(k),
            exact: self.kind.exact_average(k),
            counted,
        }
    }
}

impl NetworkKind {
    /// Returns the number of processors with k levels, or k on a side.
    fn processors(self, k: usize) -> usize {
        match self {
            NetworkKind::Hypercube | NetworkKind::Butterfly => 1 << k,
            NetworkKind::FatTree(arity) => arity.pow(k as u32),
            NetworkKind::Grid(dimensions, _) => k.pow(dimensions),
        }
    }

    /// Returns the k whose number of processors is nearest to `P` and at least two; of two such, the smaller.
    fn nearest_k(self, P: usize) -> usize {
        let above = (1..).find(|k| self.processors(*k) >= P).expect("they grow without end");
        let below = above - 1;
        let is_nearer = || P - self.processors(below) <= self.processors(above) - P;
        if self.processors(below) > 1 && is_nearer() { below } else { above }
    }

    /// Writes the size of the network.
    fn shape(self, k: usize) -> String {
        match self {
            NetworkKind::Hypercube | NetworkKind::Butterfly => format!("2^{k}"),
            NetworkKind::FatTree(arity) => format!("{arity}^{k}"),
            NetworkKind::Grid(dimensions, _) => vec![k.to_string(); dimensions as usize].join(" x "),
        }
    }

    /// Returns the average distance. In a ring of k it is k/4, less 1/(4k) if k is odd, and in a row of k it
    /// is (k - 1/k)/3. In a tree a pair's route goes up to level i with the probability that they part below
    /// it.
    fn exact_average(self, k: usize) -> f64 {
        let n = k as f64;
        match self {
            NetworkKind::Hypercube => n / 2.0,
            NetworkKind::Butterfly => n,
            NetworkKind::FatTree(arity) => {
                let a = arity as f64;
                2.0 * n - 2.0 / (a - 1.0) * (1.0 - a.powf(-n))
            }
            NetworkKind::Grid(dimensions, true) => {
                f64::from(dimensions) * (n - if k % 2 == 1 { 1.0 / n } else { 0.0 }) / 4.0
            }
            NetworkKind::Grid(dimensions, false) => f64::from(dimensions) * (n - 1.0 / n) / 3.0,
        }
    }

    /// Builds the network.
    fn build(self, k: usize) -> NetworkGraph {
        let P = self.processors(k);
        match self {
            NetworkKind::Hypercube => {
                let links = (0..P).map(|id| (0..k).map(|bit| id ^ 1 << bit).collect());
                NetworkGraph::from_processor_links(links.collect())
            }
            NetworkKind::Butterfly => {
                // Node (r, c) is number r + c P, and has links to (r, c + 1) and to the row that differs in
                // one bit.
                let next = |node: usize| {
                    let (row, column) = (node % P, node / P);
                    let bit = 1 << (k - 1 - column.min(k - 1));
                    let next = (column + 1) * P;
                    if column == k { Vec::new() } else { vec![next + row, next + (row ^ bit)] }
                };
                let links = (0..P * (k + 1)).map(next).collect();
                NetworkGraph { links, enter: (0..P).collect(), leave: (k * P..(k + 1) * P).collect() }
            }
            NetworkKind::FatTree(arity) => {
                let mut network = NetworkGraph::from_processor_links(vec![Vec::new(); P]);
                let mut level = 0..P;
                while level.len() > 1 {
                    let above = level.end;
                    for (i, node) in level.clone().enumerate() {
                        let parent = above + i / arity;
                        network.links.resize(network.links.len().max(parent + 1), Vec::new());
                        network.links[parent].push(node);
                        network.links[node].push(parent);
                    }
                    level = above..network.links.len();
                }
                network
            }
            NetworkKind::Grid(dimensions, wraps) => {
                let neighbours = |id: usize| {
                    let mut links = Vec::new();
                    for step in (0..dimensions).map(|dimension| k.pow(dimension)) {
                        let at = id / step % k;
                        let along = |to: usize| id - at * step + to * step;
                        if wraps || at + 1 < k {
                            links.push(along((at + 1) % k));
                        }
                        if wraps || at > 0 {
                            links.push(along((at + k - 1) % k));
                        }
                    }
                    links
                };
                NetworkGraph::from_processor_links((0..P).map(neighbours).collect())
            }
        }
    }
}

struct NetworkGraph {
    /// Nodes to which each node has a link.
    links: Vec<Vec<usize>>,
    /// Node at which each processor's messages enter.
    enter: Vec<usize>,
    /// Node at which they leave.
    leave: Vec<usize>,
}

impl NetworkGraph {
    /// Makes a network whose nodes are the processors.
    fn from_processor_links(links: Vec<Vec<usize>>) -> NetworkGraph {
        let all: Vec<usize> = (0..links.len()).collect();
        NetworkGraph { links, enter: all.clone(), leave: all }
    }

    /// Counts the links from every processor to every other, breadth first.
    fn count(&self) -> CountedDistances {
        let P = self.enter.len();
        let (mut sum, mut farthest, mut own) = (0, 0, 0);
        let mut queue = VecDeque::new();
        let mut distance = vec![usize::MAX; self.links.len()];
        for (id, from) in self.enter.iter().enumerate() {
            distance.fill(usize::MAX);
            distance[*from] = 0;
            queue.push_back(*from);
            while let Some(node) = queue.pop_front() {
                for next in &self.links[node] {
                    if distance[*next] == usize::MAX {
                        distance[*next] = distance[node] + 1;
                        queue.push_back(*next);
                    }
                }
            }
            own += distance[self.leave[id]];
            for to in &self.leave {
                sum += distance[*to];
                farthest = farthest.max(distance[*to]);
            }
        }
        let (all, of_two) = (P as f64 * P as f64, P as f64 * (P as f64 - 1.0));
        CountedDistances {
            average: sum as f64 / all,
            of_two: (sum - own) as f64 / of_two,
            farthest,
            nodes: self.links.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_forms_equal_the_counts() {
        for topology in &TOPOLOGIES {
            for P in [2, 4, 5, 9, 16, 27, 60, 64, 100, 256] {
                let found = topology.distances(P);
                let counted = found.counted.unwrap();
                assert!((found.exact - counted.average).abs() < 1e-9, "{found:?}");
            }
        }
    }

    #[test]
    fn networks_have_the_expected_shape_and_size() {
        let shape = |name: &str, P| {
            let topology = TOPOLOGIES.iter().find(|topology| topology.name == name).unwrap();
            let Distances { P, shape, counted, .. } = topology.distances(P);
            let CountedDistances { nodes, farthest, .. } = counted.unwrap();
            (P, shape, nodes, farthest)
        };
        assert_eq!(shape("hypercube", 1024), (1024, "2^10".into(), 1024, 10));
        assert_eq!(shape("butterfly", 1024), (1024, "2^10".into(), 11 * 1024, 10));
        assert_eq!(shape("4-ary fat tree", 1024), (1024, "4^5".into(), 1024 + 341, 10));
        assert_eq!(shape("3d torus", 1024), (1000, "10 x 10 x 10".into(), 1000, 15));
        assert_eq!(shape("3d mesh", 1024), (1000, "10 x 10 x 10".into(), 1000, 27));
        assert_eq!(shape("2d torus", 1024), (1024, "32 x 32".into(), 1024, 32));
        assert_eq!(shape("2d mesh", 1024), (1024, "32 x 32".into(), 1024, 62));
        assert_eq!(shape("2d mesh", 7), (9, "3 x 3".into(), 9, 4));
        assert_eq!(shape("3d torus", 2), (8, "2 x 2 x 2".into(), 8, 3));
    }

    /// The closed forms still hold for networks that are too large to count.
    #[test]
    fn large_networks_are_not_counted() {
        for topology in &TOPOLOGIES {
            for P in [MOST_COUNTED * 3, MOST_PROCESSORS] {
                let found = topology.distances(P);
                assert_eq!(found.counted, None);
                assert!((found.exact / found.closed_form - 1.0).abs() < 0.2, "{found:?}");
            }
        }
    }
}
