"""Several processes do what one does, in the same order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator

import pytest

from voile.core.errors import RequestError
from voile.engines import processes
from voile.engines.processes import AHEAD, in_order


def squared(n: int) -> int:
    return n * n


def where(_: int) -> int:
    return os.getpid()


def answer_to_ctrl_c(_: int) -> object:
    return signal.getsignal(signal.SIGINT)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(jobs: int) -> None:
    assert list(in_order(squared, range(23), jobs=jobs)) == [(n, n * n) for n in range(23)]
    assert list(in_order(squared, [], jobs=jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_work_where_there_are_to_be_several(jobs: int) -> None:
    found = {process for _, process in in_order(where, range(40), jobs=jobs)}
    assert (os.getpid() in found) == (jobs == 1)
    assert len(found) <= jobs


def test_processes_leave_ctrl_c_to_their_parent() -> None:
    """As all workers do, which end with it as well."""
    found = in_order(answer_to_ctrl_c, range(4), jobs=2)
    assert {answer for _, answer in found} == {signal.SIG_IGN}


@pytest.mark.parametrize(("jobs", "most"), [(1, 1), (2, 2 * AHEAD)])
def test_tasks_are_taken_a_few_ahead(jobs: int, most: int) -> None:
    """Memory follows the tasks under way, and no process waits for its next."""
    taken, ahead = [], []

    def tasks() -> Iterator[int]:
        for n in range(20):
            taken.append(n)
            yield n

    for done, _ in enumerate(in_order(squared, tasks(), jobs=jobs)):
        ahead.append(len(taken) - done)
    assert ahead == [min(most, 20 - done) for done in range(20)]


def test_what_fails_fails_here_and_leaves_no_process() -> None:
    def odd(n: int) -> int:
        if n == 7:
            raise RequestError("seven", where="row 7")
        return n

    before = multiprocessing.active_children()
    with pytest.raises(RequestError, match=r"^row 7: seven$") as refused:
        list(in_order(odd, range(20), jobs=2))
    assert refused.value.where == "row 7"
    stopped = in_order(odd, range(20), jobs=2)
    assert next(stopped) == (0, 0)
    stopped.close()
    assert multiprocessing.active_children() == before


def test_a_process_that_dies_is_no_answer() -> None:
    def end(n: int) -> int:
        return os._exit(1) if n == 5 else n

    with pytest.raises(RequestError, match="was killed"):
        list(in_order(end, range(6), jobs=2))


def test_a_system_that_cannot_fork_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "get_all_start_methods", lambda: ["spawn"])
    assert len(list(in_order(squared, range(3), jobs=1))) == 3
    with pytest.raises(RequestError, match="this system cannot start worker processes"):
        list(in_order(squared, range(3), jobs=2))
