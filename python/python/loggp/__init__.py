"""An emulated parallel machine whose messages cost what the LogP family of models says.

A program is a generator that every processor runs. It gets a processor, computes, and yields its calls: sends,
receives, waits. Time is the model's, and a run is exact.

>>> import loggp
>>> machine = loggp.Machine(P=8, L=6, o=2, g=4)
>>> machine.g
Time('4 us')
"""

from ._loggp import (
    MS,
    NS,
    PS,
    SEC,
    US,
    Call,
    CheckReport,
    Columns,
    Failure,
    Group,
    Machine,
    Order,
    Parameters,
    Play,
    Proc,
    Request,
    Run,
    RunError,
    Schedule,
    Stats,
    Time,
    Trace,
    __version__,
)
from . import _plots
from ._command import LoggpError, LoggpWarning
from ._rows import Picture, Row, Rows
from ._tools import (
    Page,
    analyze,
    calibrate,
    check_mpi,
    compare,
    emulate,
    machines,
    programs,
    record,
    replay,
    sweep,
    timeline,
    tolerance,
    tune,
)

_plots.show_times()

__all__ = [
    "MS",
    "NS",
    "PS",
    "SEC",
    "US",
    "Call",
    "CheckReport",
    "Columns",
    "Failure",
    "Group",
    "LoggpError",
    "LoggpWarning",
    "Machine",
    "Order",
    "Page",
    "Parameters",
    "Picture",
    "Play",
    "Proc",
    "Request",
    "Row",
    "Rows",
    "Run",
    "RunError",
    "Schedule",
    "Stats",
    "Time",
    "Trace",
    "__version__",
    "analyze",
    "calibrate",
    "check_mpi",
    "compare",
    "emulate",
    "machines",
    "programs",
    "record",
    "replay",
    "sweep",
    "timeline",
    "tolerance",
    "tune",
]
