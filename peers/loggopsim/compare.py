#!/usr/bin/env python3
"""Plays schedules with LogGOPSim and with `loggp replay --rules loggopsim`, and prints those that differ.

Without files it draws random schedules; a number always gives the same one. The first line of a schedule is a
comment with LogGOPSim's options and, behind a colon, the times at which its ranks are done. LOGGOPSIM, TXT2BIN and
LOGGP name the programs, or they are looked for on PATH. README.md says how LogGOPSim is built. Exit status 1 if
any schedule differs.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = {name: os.environ.get(name.upper(), name) for name in ("LogGOPSim", "txt2bin", "loggp")}
# LogGOPSim's parameters under the names that they have in `loggp`.
PARAMETERS = {"L": ["L"], "o": ["o"], "g": ["g"], "G": ["G_s", "G_l"], "O": ["O_s", "O_r"], "S": ["S"]}


def draw(number, most_operations, across_S):
    """Returns a random schedule as text in GOAL.

    Unless `across_S`, a receive and its message are both above S, or both not.
    """
    rng = random.Random(number)
    machine = {name: rng.choice((0, rng.randint(0, most))) for name, most in zip("LogGO", (30, 10, 15, 3, 3))}
    machine["S"] = rng.choice((0, 1000, rng.randint(1, 20)))
    P = rng.choice((1, *5 * (2, 3, 4, 5, 6)))
    cpus, nics = (rng.choice((1, 1, 2, 3)) for _ in range(2))
    any_rank, any_tag = (rng.choice((0, 0, 0, 0.2)) for _ in range(2))
    any_tag *= across_S or machine["S"] in (0, 1000)
    shared_tags = rng.random() < 0.2
    calcs, other_bytes, at_once = (rng.random() * rng.randint(0, 1) for _ in range(3))
    required = rng.uniform(0.1, 0.8)
    ranks = [[] for _ in range(P)]

    def add(rank, operation, interface=True):
        nic = f" nic {rng.randrange(nics)}" if interface else ""
        ranks[rank].append(f"{operation} cpu {rng.randrange(cpus)}{nic}")

    def draw_size(is_long):
        least, most = (machine["S"] + 1, machine["S"] + 12) if is_long else (1, min(machine["S"], 24))
        return rng.randint(least, most)

    # What is drawn later may require what is drawn before, so that there is no deadlock if messages go where
    # they are meant to.
    for message in range(rng.randint(1, P * most_operations // 2)):
        sender = rng.randrange(P)
        # A rank that sends to itself above S mostly waits for ever.
        receiver = sender if rng.random() < 0.03 else (sender + rng.randrange(1, max(P, 2))) % P
        if max(len(ranks[sender]), len(ranks[receiver])) > most_operations - 2:
            continue
        while rng.random() < calcs and len(ranks[rank := rng.randrange(P)]) < most_operations - 2:
            add(rank, f"calc {rng.choice((0, rng.randint(0, 40)))}", interface=False)
        is_long = machine["S"] == 0 or machine["S"] < 1000 and rng.random() < 0.5
        tag = int(is_long) if shared_tags else message
        size = draw_size(is_long)
        add(sender, f"send {size}b to {receiver} tag {tag}")
        if rng.random() < other_bytes:
            size = rng.randint(1, 24) if across_S else draw_size(is_long)
        source = -1 if rng.random() < any_rank else sender
        add(receiver, f"recv {size}b from {source} tag {-1 if rng.random() < any_tag else tag}")

    lines = [" ".join(f"-{name} {value}" for name, value in machine.items()), f"num_ranks {P}"]
    for rank, operations in enumerate(ranks):
        names = rng.sample(range(len(operations)), len(operations))  # the order in which they are written
        requirements = []
        for later in range(1, len(names)):
            while rng.random() < required:
                word = "irequires" if rng.random() < at_once else "requires"
                requirements.append(f"l{names[later]} {word} l{names[rng.randrange(later)]}")
        rng.shuffle(requirements)
        written = [f"l{name}: {operation}" for name, operation in sorted(zip(names, operations))]
        lines += [f"rank {rank} {{", *written, *requirements, "}"]
    return "// " + "\n".join(lines) + "\n"


def run(program, *arguments):
    return subprocess.run([PROGRAMS[program], *arguments], capture_output=True, text=True, timeout=60)


def machine_of(text):
    """Returns LogGOPSim's options in the first line of a schedule."""
    return re.findall(r"-(\w) (\d+)", text.partition("\n")[0])


def by_loggopsim(text, folder):
    """Returns the times at which LogGOPSim's ranks are done; none if messages or receives are left."""
    goal, binary = folder / "it.goal", folder / "it.bin"
    goal.write_text(text)
    run("txt2bin", "-i", str(goal), "-o", str(binary)).check_returncode()
    options = [word for name, value in machine_of(text) for word in (f"-{name}", value)]
    done = run("LogGOPSim", "-f", str(binary), *options)
    done.check_returncode()
    return [int(time) for time in re.findall(r"^Host \d+: (\d+)$", done.stdout, re.MULTILINE)]


def by_loggp(text, folder):
    """Returns the times at which loggp's ranks are done; none if the run fails."""
    goal = folder / "it.goal"
    goal.write_text(text)
    params = [f"{name}={value}" for key, value in machine_of(text) for name in PARAMETERS[key]]
    machine = ["--cycle", "1ns", "--params", ",".join(params + ["s=0"])]
    done = run("loggp", "replay", str(goal), "--rules", "loggopsim", *machine, "--format", "json")
    if done.returncode == 1:
        return []
    done.check_returncode()
    return [int(time) for time in json.loads(done.stdout)["finishes_ns"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="schedules, each with LogGOPSim's options in its first line")
    parser.add_argument("--answer", action="store_true", help="write LogGOPSim's times into the files")
    parser.add_argument("--count", type=int, default=1000, help="how many are drawn (1000)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one that is drawn (0)")
    parser.add_argument("--operations", type=int, default=16, help="the most that a rank has (16)")
    parser.add_argument("--across-S", action="store_true", help="one of a receive and its message may be above S")
    parser.add_argument("--keep", metavar="FOLDER", help="write the schedules that differ to files there")
    asked = parser.parse_args()
    numbers = [] if asked.files else range(asked.first, asked.first + asked.count)
    schedules = [(file, Path(file).read_text()) for file in asked.files]
    drawn = ((number, draw(number, asked.operations, asked.across_S)) for number in numbers)
    different = failed = required = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [*schedules] or drawn:
            theirs, ours = by_loggopsim(text, Path(folder)), by_loggp(text, Path(folder))
            head, _, rest = text.partition("\n")
            answered = f"{head.partition(':')[0]}: {' '.join(map(str, theirs)) or 'fails'}\n{rest}"
            if asked.answer:
                Path(name).write_text(answered)
            count += 1
            failed += not theirs
            required += "requires" in text
            if theirs != ours:
                different += 1
                print(f"{name} differs: {theirs} by LogGOPSim, {ours} by loggp ({head})", flush=True)
                if asked.keep:
                    Path(asked.keep, f"{name}.goal").write_text(answered)
    print(f"{different} of {count} differ; {required} have requirements, {failed} leave messages or receives")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
