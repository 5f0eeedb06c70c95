#!/usr/bin/env python3
"""The linear program of a schedule, as LLAMP (Shen et al., SC 2024) has it, solved by HiGHS.

    loggp replay halo.goal --params L=3us,o=500ns,g=0,G=1ns --trace halo.json
    python3 tolerance.py halo.json

The order in which each rank acts is that of the trace, since a linear program knows no other. Its variables are L and the
start of each reception and each entry of a message; what a rank does in between is added up. It is solved for the least
time at the machine's L, whose dual value for L is how often L is on the critical path, and for the greatest L at which the
run is 1, 2 and 5% longer. The times are those of the processor that HiGHS takes, without reading the trace and making the program.
Within it times are microseconds: with picoseconds HiGHS takes a run of seconds for unbounded.
"""
import json
import sys
import time

import highspy
import numpy as np

US = 1e6  # in ps


def read(path):
    """Returns L, g, o, and for each rank what it did, in order."""
    with open(path) as file:
        trace = json.load(file)
    ranks, messages = {}, {}
    for event in trace["traceEvents"]:
        args = event.get("args", {})
        if event.get("ph") == "X" and "start" in args and event.get("cat") in ("work", "overhead"):
            ranks.setdefault(event["tid"], []).append(event)
        if "arrival" in args:
            messages[args["from"], args["number"]] = args["arrival"] - args["enter"]
    return trace["otherData"], ranks, messages


def build(path):
    """Returns the rows of the program: later - earlier - a L >= fixed, in ps."""
    machine, ranks, transits = read(path)
    L, g, G = machine["L"], machine["g"], machine.get("G", 0)
    rows, columns, entries, receptions, bounds = [], 1, {}, {}, []  # column 0 is L
    ends = []
    for events in ranks.values():
        last, passed, sent, received = None, 0, None, None
        events.sort(key=lambda event: (event["args"]["start"], event["args"]["end"]))
        for event in events:
            args = event["args"]
            length = args["end"] - args["start"]
            if event["cat"] == "work":
                passed += length
                continue
            now, columns = columns, columns + 1
            key = args["from"], args["number"]
            if event["name"] == "send":
                rows.append((now, last, 0, passed + length))
                if sent is not None and g:
                    rows.append((now, sent[0], 0, sent[1] + g))
                stream = transits[key] - L
                entries[key] = now
                sent, last, passed = (now, stream), now, 0
            else:
                rows.append((now, last, 0, passed))
                if received is not None and g:
                    rows.append((now, received, 0, g))
                receptions[key] = now
                received, last, passed = now, now, length
        ends.append((last, passed))
    for key, now in receptions.items():
        rows.append((now, entries[key], 1, transits[key] - L))
    end, columns = columns, columns + 1
    rows += [(end, last, 0, passed) for last, passed in ends]
    return L, columns, end, rows


def model(L, columns, end, rows):
    starts, index, value, lower = [], [], [], []
    for later, earlier, latencies, fixed in rows:
        starts.append(len(index))
        terms = [(later, 1.0)] + ([(earlier, -1.0)] if earlier is not None else []) + ([(0, -1.0)] if latencies else [])
        for column, factor in terms:
            index.append(column)
            value.append(factor)
        lower.append(fixed / US)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, len(rows)
    cost = np.zeros(columns)
    cost[end] = 1.0
    lp.col_cost_ = cost
    low, high = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    low[0] = high[0] = L / US
    lp.col_lower_, lp.col_upper_ = low, high
    lp.row_lower_, lp.row_upper_ = np.array(lower, dtype=float), np.full(len(rows), highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.array(starts + [len(index)], dtype=np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = np.array(index, dtype=np.int32), np.array(value)
    return lp


def solve(highs):
    begin = time.process_time()
    highs.run()
    took = time.process_time() - begin
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        sys.exit(f"HiGHS found no optimum: {highs.modelStatusToString(highs.getModelStatus())}")
    return took


def main():
    L, columns, end, rows = build(sys.argv[1])
    solver = sys.argv[2] if len(sys.argv) > 2 else "choose"
    print(f"{columns} variables, {len(rows)} rows, solver {solver}")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("solver", solver)
    highs.passModel(model(L, columns, end, rows))
    all_took = took = solve(highs)
    least = highs.getObjectiveValue()
    slope = highs.getSolution().col_dual[0]
    print(f"L = {L / US} us: {least:.6f} us, L {slope:.0f} times on the path, in {took:.2f} s")
    # Now L is what is sought.
    highs.changeColCost(0, -1.0)
    highs.changeColCost(end, 0.0)
    highs.changeColBounds(0, L / US, highspy.kHighsInf)
    for part in (1, 2, 5):
        highs.changeColBounds(end, 0.0, least * (100 + part) / 100)
        took = solve(highs)
        all_took += took
        print(f"{part}% longer at L = {highs.getSolution().col_value[0]:.6f} us, in {took:.2f} s")
    print(f"together {all_took:.2f} s")


main()
