"""One-sided calls, and the faults of a single run."""

import pytest

from loggp import US, Machine

TWO = Machine(P=2, L=6, o=2, g=4, G=1)


def test_one_sided_calls_take_what_the_model_says() -> None:
    def program(p):
        if p.id == 1:
            return None
        moments = []
        yield p.put(1, words=3)  # o
        moments.append(p.now)
        yield p.flush(1)  # the last word is there after L + 2G, and known of after another L
        moments.append(p.now)
        yield p.get(1, words=2)  # o, there and back, G, o
        moments.append(p.now)
        request = yield p.iget(1)
        moments.append(p.now)
        yield p.wait(request)
        moments.append(p.now)
        return moments

    run = TWO.run(program)
    assert run.results == [[2 * US, 16 * US, 33 * US, 35 * US, 49 * US], None]
    assert run.processors[1].recv == 0 * US  # the other one does nothing for it


def test_memories_change_in_the_order_of_time() -> None:
    counter = []

    def program(p):
        yield p.work(10 - p.id)
        for _ in range(3):
            yield p.atomic(0, lambda: counter.append(p.id))
        return p.now

    Machine(P=4, L=6, o=2, g=4).run(program)
    assert counter[:4] == [3, 2, 1, 0] and sorted(counter) == sorted([0, 1, 2, 3] * 3)


def ask(p):
    if p.id == 0:
        yield p.send(1, "ask", 1)
        yield p.send(1, "ask", 2)
        return (yield p.recv_deadline("reply", p.now + 100 * US))
    got = []
    while (value := (yield p.recv_deadline("ask", p.now + 50 * US))) is not None:
        got.append(value)
    yield p.send(0, "reply", len(got))
    return got


def test_faults_of_a_single_run() -> None:
    assert TWO.run(ask).results == [2, [1, 2]]
    assert TWO.run(ask, lost=[(0, 0)]).results == [1, [2]]
    assert TWO.run(ask, twice={(0, 1): 20}).results == [3, [1, 2, 2]]
    assert TWO.run(ask, crashed={0: 1}).results == [None, [1]]
    assert TWO.run(ask, crashed={1: 0}).results == [None, None]
    run = TWO.run(ask, lost=[(0, 0)])
    assert run.trace is not None and TWO.run(ask, order=run.trace.order).results == [1, [2]]
    for faults, said in (
        ({"lost": [(2, 0)]}, "there is no processor 2"),
        ({"crashed": {5: 0}}, "there is no processor 5"),
        ({"twice": {(0, 0): 0}}, "give more than 0"),
    ):
        with pytest.raises(ValueError, match=said):
            TWO.run(ask, **faults)  # type: ignore[arg-type]
