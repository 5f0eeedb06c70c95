"""Measures a message of a Python program, in turns with the same program of SimGrid's actors: a ring of processors, of
which each sends and receives.

Needs SimGrid's module, such as Debian's `python3-simgrid`, and loggp in the same Python: `python
benches/message_simgrid.py [MESSAGES]`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from message import in_loggp, microseconds

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="nodes" prefix="node" suffix="" radical="0-{last}" speed="1Gf" bw="125MBps" lat="6us"/>
  </zone>
</platform>
"""


def in_simgrid(P: int, rounds: int) -> None:
    """Prints the time of a message. A process has one engine."""
    from simgrid import Actor, Engine, Host, Mailbox  # type: ignore[import-not-found]

    engine = Engine(["ring", "--log=root.thres:critical"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "platform.xml")
        path.write_text(PLATFORM.format(last=P - 1))
        engine.load_platform(str(path))

    def program(id: int) -> None:
        own, after = Mailbox.by_name(str(id)), Mailbox.by_name(str((id + 1) % P))
        for i in range(rounds):
            sending = after.put_async(i, 8)
            own.get()
            sending.wait()

    for id in range(P):
        Actor.create(str(id), Host.by_name(f"node{id}"), program, id)
    print(microseconds(engine.run, P * rounds))


def main(messages: int) -> None:
    for P in (2, 64, 1000):
        each = messages // P
        simgrid, own = [], []
        for _ in range(3):
            said = subprocess.run(
                [sys.executable, __file__, "simgrid", str(P), str(each)], capture_output=True, text=True, check=True
            )
            simgrid.append(float(said.stdout.split()[-1]))
            own.append(microseconds(in_loggp(P, each, True), each * P))
        print(f"P = {P:4}: SimGrid {median(simgrid):6.1f} us of processor time each, loggp, traced {median(own):5.2f} us")


if __name__ == "__main__":
    if sys.argv[1:2] == ["simgrid"]:
        in_simgrid(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
