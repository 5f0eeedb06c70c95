//! Which algorithms the libraries of MPI take for its collectives.

use std::sync::LazyLock;

use loggp_goal::patterns::{CollectiveLibrary, CollectiveTable, TableError};

/// The libraries whose choices are known. What is asked of none is done as the first does it.
pub static LIBRARIES: &[CollectiveLibrary] = &[
    CollectiveLibrary { name: "openmpi", table: open_mpi },
    CollectiveLibrary { name: "mpich", table: mpich },
];

static OPEN_MPI: LazyLock<CollectiveTable> =
    LazyLock::new(|| CollectiveTable::parse(include_str!("openmpi.table")).expect("it is tested"));
static MPICH: LazyLock<CollectiveTable> =
    LazyLock::new(|| parse_table(include_str!("mpich.table")).expect("it is tested"));

/// Returns what Open MPI 4.1 does by its components `tuned`, `basic` and `libnbc`, unless it is told otherwise.
pub fn open_mpi() -> &'static CollectiveTable {
    &OPEN_MPI
}

/// Returns what MPICH 4.0 does between nodes, unless it is told otherwise.
fn mpich() -> &'static CollectiveTable {
    &MPICH
}

/// Returns the table of a library, `openmpi` or `mpich`, or `None`.
pub fn table_named(name: &str) -> Option<&'static CollectiveTable> {
    LIBRARIES.iter().find(|library| library.name == name).map(|library| (library.table)())
}

/// Reads a table from text. What it does not say is done as Open MPI does it.
///
/// ```
/// use loggp_goal::patterns::{CollectiveCall, CollectiveKind};
/// use loggp_mpi_trace::libraries::parse_table;
///
/// let table = parse_table("bcast 2 0 linear")?;
/// let algorithm = |kind| table.choose(&CollectiveCall::new(kind), 4).unwrap().to_string();
/// assert_eq!(algorithm(CollectiveKind::Bcast), "linear");
/// assert_eq!(algorithm(CollectiveKind::Barrier), "linear");
/// # Ok::<(), loggp_goal::patterns::TableError>(())
/// ```
pub fn parse_table(text: &str) -> Result<CollectiveTable, TableError> {
    CollectiveTable::parse(text).map(|table| table.or(open_mpi()))
}
