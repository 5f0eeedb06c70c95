"""What the command knows."""

import doctest
import math
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import loggp
from loggp import US, _command


def test_words_of_options() -> None:
    assert doctest.testmod(_command).failed == 0


def test_a_comparison_is_the_commands() -> None:
    rows = loggp.compare("scatter", P=64, machine="cs2-elan", size=128, clock="virtual")
    assert [row.algorithm for row in rows] == ["optimal", "binomial", "long", "short", "fixed", "split"]
    long = rows[2]
    assert long.formula == long.model and long.error_formula == 0.0 and long.verified
    assert (long.formula_kind, long.formula_source) == ("exact", "LogGP, table 2") and rows[5].formula_kind is None
    assert long.params["g"] == loggp.Time("13.8us") and long.params["P"] == 64
    assert long.stalls.capacity == 1 and long["stalls.capacity"] == 1 and long.measured is None
    assert "formula" in str(rows) and str(rows).startswith("scatter on cs2-elan")
    assert long.model is not None and rows.columns()["model_ns"][2] == long.model.ns
    assert "<pre>scatter on cs2-elan" in rows._repr_html_() and "+0.00%</td>" in rows[3:]._repr_html_()
    assert len(rows[1:3]) == 2
    with pytest.raises(KeyError, match="there is no stalls.often"):
        long["stalls.often"]
    with pytest.raises(AttributeError, match="there is no modle; there are program, "):
        long.modle
    assert {"model", "stalls", "params"} <= set(dir(long)) and pickle.loads(pickle.dumps(long)) == long


def test_the_wall_clock_lets_other_threads_run() -> None:
    counted: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", loggp.LoggpWarning)
        thread = threading.Thread(
            target=lambda: counted.extend(iter(loggp.compare("broadcast", "optimal", P=2)))
        )
        thread.start()
        turns = 0
        while thread.is_alive():
            turns += 1
            time.sleep(0.001)
        thread.join()
    assert turns > 3 and counted[0].measured > counted[0].model / 2 and counted[0].clock == "wall"


def test_a_sweep_over_python_values() -> None:
    rows = loggp.sweep(
        "broadcast", "optimal", "binomial", over={"L": [1 * US, 2 * US, 6 * US]}, P=8, params="o=2,g=4"
    )
    assert len(rows) == 6 and {row.params["L"] for row in rows} == {US, 2 * US, 6 * US}
    assert rows[-1].model == 24 * US or rows[-2].model == 24 * US
    assert "<svg" in rows.picture.svg


def test_a_machine_made_here() -> None:
    machine = loggp.Machine(
        P=4, L="5us", o=US, g=2 * US, G="10ns", word=8, ports="dual", latency="random:7", barrier=1
    )
    row = loggp.compare("remap", machine=machine, clock="virtual", size=64)[0]
    assert row.params == {"L": 5 * US, "o": US, "g": 2 * US, "G": loggp.Time("10ns"), "P": 4, "word": 8}
    assert (row["ports"], row["latency"], row["barrier_ns"]) == ("dual", "random:7", 1000)
    levels = [dict(P=2, L="500ns", o="100ns", g="200ns", G=0)]
    row = loggp.compare("broadcast", machine=machine.replace(levels=levels, barrier=2), clock="virtual")[0]
    assert row["levels"][0]["params"]["L"] == 500_000
    assert loggp.replay("ring", machine=loggp.Machine(P=1, L=6, o=2, g=4, word=1), P=3).time == 20 * US
    with pytest.raises(ValueError, match="rates are for programs in Python"):
        loggp.compare("remap", machine=loggp.Machine(P=2, rates={"add": "1ns"}))


def test_a_calibration_recovers_what_is_configured() -> None:
    for found in loggp.calibrate("myrinet", find="loggps", clock="virtual"):
        assert found.recovered == pytest.approx(found.configured) and found.how


def test_replay_analysis_and_tolerance(tmp_path: Path) -> None:
    trace = tmp_path / "ring.loggp"
    played = loggp.replay("ring", P=4, size=8, over={"L": "1us..100us:log:3"}, trace=trace)
    assert played.finishes is not None and max(played.finishes) == played.time and played.ranks == 4
    assert (
        played.over is not None
        and len(played.over.points) == 3
        and played.over.points[0].formula.counts["L"] == 3
    )
    assert played.over.points.columns()["value_ns"][0] == 1000.0 and "rank" in str(played)

    (run,) = loggp.analyze(trace, path=True)
    assert run.time == played.time and run.hops and run.hops[-1].end == run.time
    assert (
        sum(run.path.values(), 0 * US) == run.time
        and run.top
        and run.formula.counts == {"L": 3, "o": 6, "G": 3}
    )

    gauss = tmp_path / "gauss.loggp"
    _command.run("run", "gauss", "--machine", "myrinet", "-P", "4", "--size", "64", "--trace", str(gauss))
    rows = loggp.analyze(gauss, what_if=[{"S": 65536}, "L=20us"], no_sensitivities=True)
    assert [row.change is None for row in rows] == [True, False, False] and rows[2].time > rows[0].time
    assert "<svg" in rows.picture.svg

    bears = loggp.tolerance("ring", P=4)
    assert [row.parameter for row in bears] == ["L", "o", "g", "G"] and bears[0].slope == 3
    pieces = bears[0].pieces
    assert (
        pieces is not None and pieces[0].from_ == bears[0].value and bears[0].bears_1_percent.more is not None
    )
    (one,) = loggp.tolerance(gauss, parameter="L", to=2 * US)
    assert one.parameter == "L" and one.time == rows[0].time and "<svg" in bears.picture.svg


def test_the_papers_machines_and_programs() -> None:
    machines = {one.machine: one for one in loggp.machines()}
    assert machines["cm5"].params["L"] == 6 * US and machines["cm5"].params["G"] is None
    assert "Active Messages" in machines["cm5"].about
    programs = {one.program: one for one in loggp.programs()}
    split = programs["scatter"].algorithms[-1]
    assert split.formula is None and split.no_formula and programs["fft"].size.default > 1
    assert split.formula_source is None and programs["scatter"].algorithms[0].formula_source == "LogGP, section 4.7"
    assert "<table" in loggp.programs()[:2]._repr_html_()


def test_a_timeline_is_a_page_in_a_cell(tmp_path: Path) -> None:
    page = loggp.timeline("broadcast", "optimal", machine=loggp.Machine(P=8, L=6, o=2, g=4), height=300)
    assert (
        "<html" in page.html
        and page._repr_html_().startswith('<iframe srcdoc="')
        and "300px" in page._repr_html_()
    )
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (
            lambda: loggp.compare("scater"),
            ValueError,
            "there is no program scater; the nearest name is scatter",
        ),
        (lambda: loggp.compare("scatter", frobnicate=3), ValueError, "--frobnicate"),
        (lambda: loggp.compare("scatter", machine="cs3"), ValueError, "there is no machine cs3"),
        (lambda: loggp.sweep("scatter", over="L=1..2:0"), ValueError, "--over L=1..2:0"),
        (lambda: loggp.replay("rink"), ValueError, "ring"),
        (lambda: loggp.analyze("no.loggp"), FileNotFoundError, "no.loggp"),
        (lambda: loggp.Rows([]).picture, AttributeError, "there is no picture"),
        (lambda: loggp.Picture("<svg/>").save("p.png"), ValueError, "it is SVG; give a name that ends in .svg, such as p.svg"),
        (lambda: loggp.Page("", 1).save("p.pdf"), ValueError, "it is HTML; give a name that ends in .html, such as p.html"),
        (lambda: loggp.machines()["modle"], KeyError, "there is no column modle; there are machine, "),
        (lambda: loggp.compare("scatter", params={"L": 1, "o": 1, "g": 1, "C": 0}), ValueError, "C = 0 is out of range; give one from 1"),
        (lambda: loggp.emulate(), ValueError, "what is to be run? give a command"),
        (lambda: loggp._command.run("reproduce", "nothing"), ValueError, "nothing"),
    ],
)
def test_wrong_requests_are_refused_in_the_commands_sentence(
    wrong: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as refused:
        wrong()
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_an_interruption_ends_the_command_at_once() -> None:
    long = "import loggp; loggp.compare('stress', P=64, clock='virtual', size=60_000, repeat=1000)"
    start = f"print('up', flush=True)\ntry:\n    {long}\nexcept KeyboardInterrupt: print('interrupted')"
    process = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    children: list[str] = []
    while not children:
        time.sleep(0.05)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)  # to this process alone, as a debugger does
    said = process.stdout.read()
    took = time.monotonic() - begin
    assert said == "interrupted\n" and process.wait() == 0
    assert not os.path.exists(f"/proc/{children[0]}") and took < 2.0


def test_the_command_is_installed_too() -> None:
    said = subprocess.run(
        [Path(sys.executable).parent / "loggp", "run", "scatter"], capture_output=True, text=True
    )
    assert "optimal" in said.stdout and said.returncode == 0


def test_data_frames() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = loggp.compare("scatter", P=8, clock="virtual")
    columns = rows.columns()
    frame, other = rows.to_pandas(), rows.to_polars()
    assert list(frame.columns) == other.columns == list(columns)
    assert frame["model_ns"].tolist() == other["model_ns"].to_list() == columns["model_ns"]
    assert other.schema["verified"] == polars.Boolean and other.schema["messages"] == polars.Int64
    assert other["machine"].to_list() == ["cs2-elan"] * 6 and other["formula_ns"].to_list()[5] is None
    assert math.isnan(frame["formula_ns"].tolist()[5]) and frame["algorithm"].tolist()[0] == "optimal"
    assert loggp.Rows([]).to_polars().shape == (0, 0)
    large = loggp._rows.Row({"count": 2**63, "text": "a"}), loggp._rows.Row({"count": 1, "text": None})
    assert loggp.Rows(large).to_polars().to_dict(as_series=False) == {"count": [2.0**63, 1.0], "text": ["a", None]}


def test_what_was_made_here_is_a_source() -> None:
    def ring(p: loggp.Proc) -> Iterator[Any]:
        yield p.send((p.id + 1) % p.P, "token", p.id)
        yield p.recv("token")

    run = loggp.Machine(P=4, L=6, o=2, g=4).run(ring)
    (row,) = loggp.analyze(run)
    assert row.time == run.time == 10 * US and row.run == "run.loggp" and row.messages == 4
    page = loggp.timeline(run, beside=[run.trace])
    assert "<title>run.loggp" in page.html and "/tmp" not in page.html
    assert loggp.tolerance(run, parameter="L")[0].slope == 1
    schedule = loggp.Schedule(2)
    schedule.requires(0, schedule.send(0, 1, 8), schedule.calc(0, 3 * US + loggp.PS))
    schedule.recv(1, 0, 8)
    played = loggp.replay(schedule, params="L=6us,o=2us,g=4us,G=0")
    assert played.time == 13 * US + loggp.PS and played.schedule == "schedule.goal"
    with pytest.raises(TypeError, match="no file, pattern, schedule"):
        loggp.replay(42)


def test_a_map_and_its_tuning() -> None:
    rows = loggp.sweep("broadcast", over={"L": "1us..40us:3", "g": "2us..8us:3"}, P=8, params="o=2us")
    # Behind the rows of the points are those of the crossings between them.
    points = {(row.params["L"], row.params["g"]) for row in rows if "crossing" not in row.json}
    assert {L for L, _ in points} == {US, loggp.Time("20.5us"), 40 * US}
    assert len(points) == 9 and "<svg" in rows.picture.svg
    tuned = loggp.tune("broadcast", P=8, params="L=6,o=2,g=4")
    assert tuned[0].time == 24 * US and tuned[0].slower == 0 and tuned[-1].slower > 0
    assert tuned[0].command.startswith("loggp run broadcast optimal")


def test_a_timeline_is_written_where_it_is_told(tmp_path: Path) -> None:
    def ring(p: loggp.Proc) -> Iterator[Any]:
        yield p.send((p.id + 1) % p.P, "token", p.id)
        yield p.recv("token")

    run = loggp.Machine(P=4, L=6, o=2, g=4).run(ring)
    picture = loggp.timeline(run, output=tmp_path / "x.svg")
    assert isinstance(picture, loggp.Picture) and picture.svg == (tmp_path / "x.svg").read_text()
    page = loggp.timeline(run, output=str(tmp_path / "x.html"))
    assert isinstance(page, loggp.Page) and page.html == (tmp_path / "x.html").read_text()
    (tmp_path / "here").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "here")
        loggp.timeline(run, output="y.svg")
    assert (tmp_path / "here" / "y.svg").exists()


def test_numbers_in_parameters_are_rounded() -> None:
    rows = loggp.compare("broadcast", "optimal", params={"L": 1 / 3, "o": 2e-5, "g": 0.5}, P=8, clock="virtual")
    assert rows[0].params["L"] == loggp.Time("333333ps") and rows[0].params["o"] == 20 * loggp.PS
    lab = loggp.Machine(P=8, L=1, o=1, g=1, cycle="30ns")
    rows = loggp.compare("broadcast", "optimal", machine=lab, params={"L": 1 / 3}, clock="virtual")
    assert rows[0].params["L"] == 10 * loggp.NS
    assert _command.option_words({"x": 2e-5, "y": 1e22}) == ["--x=0.00002", "--y=10000000000000000000000"]
    with pytest.raises(ValueError, match="nan is no value of an option"):
        _command.option_words({"x": math.nan})


def test_computed_numbers_are_rounded_wherever_they_stand() -> None:
    steps = [1 + i / 7 for i in range(3)]
    rows = loggp.sweep("broadcast", "optimal", over={"L": steps}, P=8, params={"o": 0.1 + 0.2, "g": 4})
    assert [row.params["L"].ps for row in rows] == [1_000_000, 1_142_857, 1_285_714]
    assert {row.params["o"] for row in rows} == {loggp.Time("0.3us")}
    rows = loggp.sweep("broadcast", "optimal", over={"P": [2.0, 4.0]}, params="L=6,o=2,g=4")
    assert [row.params["P"] for row in rows] == [2, 4]

    def ring(p: loggp.Proc) -> Iterator[Any]:
        yield p.send((p.id + 1) % p.P, "token", p.id)
        yield p.recv("token")

    # The cycle is that of the run.
    run = loggp.Machine(P=4, L=6, o=2, g=4, cycle="30ns").run(ring)
    _, *others = loggp.analyze(run, what_if=[{"L": 0.1 + 0.2}, {"L": 1 / 3}], no_sensitivities=True)
    assert [row.time.ps for row in others] == [120_000 + 9_000, 120_000 + 10_000]
    other = loggp.Machine(P=4, L=6, o=2, g=4).run(ring)
    with pytest.raises(ValueError, match="cycles of several lengths"):
        loggp.analyze(run, other, what_if={"L": 0.5})


def test_numbers_of_numpy_are_values() -> None:
    numpy = pytest.importorskip("numpy")
    rows = loggp.sweep(
        "broadcast", "optimal", over={"L": numpy.linspace(1, 2, 4)}, P=numpy.int64(8), params={"o": numpy.float32(0.1), "g": 4}
    )
    assert [row.params["L"].ps for row in rows] == [1_000_000, 1_333_333, 1_666_667, 2_000_000]
    assert rows[0].params["o"] == loggp.Time("0.1us")


def test_a_schedule_has_one_time(tmp_path: Path) -> None:
    schedule = loggp.Schedule(2)
    schedule.send(0, 1, 8)
    schedule.recv(1, 0, 8)
    played = schedule.play(loggp.Machine(P=2, L=6, o=2, g=4)).time
    assert played == 10 * US
    for params in ("L=6,o=2,g=4", {"L": 6, "o": 2, "g": 4}, "L=6,o=2,g=4,word=8"):
        assert loggp.replay(schedule, params=params).time == played
    assert loggp.tolerance(schedule, params="L=6,o=2,g=4", parameter="L")[0].time == played
    # With words of a byte, which a file has as the command says.
    schedule.write(tmp_path / "two.goal")
    byte = schedule.play(loggp.Machine(P=2, L=6, o=2, g=4, word=1)).time
    assert byte == loggp.replay(tmp_path / "two.goal", params="L=6,o=2,g=4").time == 38 * US
    assert byte == loggp.replay(schedule, params="L=6,o=2,g=4,word=1").time


def test_rows_are_a_sequence_with_columns() -> None:
    rows = loggp.machines()
    assert isinstance(rows, Sequence) and rows.index(rows[1]) == 1 and rows[1] in rows and list(reversed(rows))[0] == rows[-1]
    assert rows["machine"] == [row.machine for row in rows] and rows["params.L"][0] == rows[0].params["L"].ps
    assert not hasattr(rows[:2], "picture") and hasattr(loggp.sweep("broadcast", "optimal", over="P=2,4", machine="cm5"), "picture")
    assert repr(rows).startswith(f"<{len(rows)} rows of machine, ") and len(repr(rows)) < 300
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(list(map(dict, rows)), strict=False).shape[0] == polars.DataFrame(rows, strict=False).shape[0] == len(rows)


def test_the_package_is_the_command() -> None:
    said = subprocess.run([sys.executable, "-m", "loggp", "run", "scatter"], capture_output=True, text=True)
    assert "optimal" in said.stdout and said.returncode == 0


def test_times_in_pictures_of_matplotlib() -> None:
    pytest.importorskip("matplotlib")
    # Whether it is loaded before or after.
    for first, second in (("loggp", "matplotlib.units"), ("matplotlib.units", "loggp")):
        program = f"""
import {first}, {second}
import matplotlib
matplotlib.use("svg")
from matplotlib import pyplot
from loggp import US
times = [1 * US, 2 * US, 3.5 * US]
figure, axes = pyplot.subplots()
axes.plot([0, 1, 2], times)
axes.hist(times)
axes.fill_between([0, 1, 2], times, [2 * time for time in times])
axes.axhline(2 * US)
axes.bar([0, 1, 2], times)
axes.set_ylim(0 * US, 9 * US)
assert axes.get_ylim() == (0, 9), axes.get_ylim()
assert list(axes.lines[0].get_ydata(orig=False)) == [1.0, 2.0, 3.5]
figure.canvas.draw()
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


RING = """
#include <mpi.h>
#include <stdio.h>
int main(int count, char **words)
{
    int rank, ranks, token = 7;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        if (count > 1)
            MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("sent\\n");
    } else if (rank == 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
"""


@pytest.mark.skipif(not (shutil.which("mpicc") and shutil.which("mpirun")), reason="no MPI is here")
def test_mpi_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")):
        monkeypatch.setenv(name, value)
    (tmp_path / "ring.c").write_text(RING)
    subprocess.run(["mpicc", "ring.c", "-o", "ring"], check=True)
    start = ("mpirun", "-n", 2, "./ring")
    # The library lies beside the Python of a virtual environment, which is a link to another one.
    monkeypatch.delenv("LOGGP_MPI_RECORDER", raising=False)
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    monkeypatch.setattr(sys, "executable", str(python))
    _command.run("record", "--build")
    assert len(list(python.parent.glob("libloggp-mpi-*.so"))) == 1

    emulated = loggp.emulate(*start, params="L=5us,o=1us,g=2us,G=0", work="none")
    assert emulated.time == 7 * US and "sent" in str(emulated)
    assert loggp.emulate("mpirun -n 2 ./ring", params={"L": 5, "o": 1, "g": 2, "G": 0}, work="none").time == 7 * US

    recording = loggp.record(*start, output="ring.mpi")
    assert recording == tmp_path / "ring.mpi" and "2 ranks" in capsys.readouterr().out
    assert loggp.replay(recording, machine="cm5").messages == 1

    assert loggp.check_mpi(*start).passed
    failed = loggp.check_mpi(*start, "wait", trace="failed.json")
    assert not failed.passed and failed.fault.why and failed.fault.trace == "failed.json"
    assert (tmp_path / "failed.json").exists()


def test_rows_are_joined() -> None:
    rows = loggp.machines()
    joined = rows[:2] + rows[2:3]
    assert list(joined) == list(rows)[:3] and type(joined) is loggp.Rows
    with pytest.raises(TypeError):
        rows + [1]  # type: ignore[operator]


def test_columns_of_nulls_have_their_type() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = loggp.compare("scatter", "fixed", "split", P=8, clock="virtual")
    assert rows.columns()["measured_ns"] == [None, None] == rows.columns()["held"]
    schema, types = rows.to_polars().schema, rows.to_pandas().dtypes
    assert (schema["measured_ns"], schema["held"]) == (polars.Float64, polars.Boolean)
    assert (str(types["measured_ns"]), str(types["held"])) == ("float64", "boolean")
    machines = loggp.machines()
    assert machines.to_polars().schema["params.G"] == polars.Int64
    assert str(machines.to_pandas().dtypes["params.G"]) == "Int64" and pandas.isna(machines.to_pandas()["params.G"][0])


def test_a_notebook_shows_a_run_and_units() -> None:
    def ring(p: loggp.Proc) -> Iterator[Any]:
        yield p.send((p.id + 1) % p.P, "token", p.id)
        yield p.recv("token")

    machine = loggp.Machine(P=4, L=6, o=2, g=4)
    shown = machine.run(ring)._repr_html_()
    assert "<svg" in shown and "run of 4 processors: 10 us" in shown
    assert "<table" in machine.run(ring, trace=False)._repr_html_()
    large = machine.replace(P=1000).run(ring)._repr_html_()
    assert "<table" in large and "and 968 more" in large and "<svg" not in large
    rows = loggp.sweep("broadcast", "optimal", over="L=1us..2us:2", P=8, params="o=2,g=4")
    assert "2 us</td>" in rows[:]._repr_html_() and "2,000,000" not in rows[:]._repr_html_()
