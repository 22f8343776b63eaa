"""Run one function on many tasks, in this process or in several, with the same results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_all_start_methods, get_context
from typing import Any, TypeVar

from voile.core.errors import RequestError
from voile.core.workers import begin_worker, starting_workers

Task = TypeVar("Task")
Result = TypeVar("Result")
AHEAD = 2
"""The number of running or waiting tasks for each process."""


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, jobs: int
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in the order of the tasks.

    The processes are forked, so a secret in `work` is never written or sent. They have ended when
    the last result is yielded.

    Raises
    ------
    RequestError : this system cannot fork processes, or one of them was killed.
    """
    if jobs == 1:
        yield from ((task, work(task)) for task in tasks)
        return
    if "fork" not in get_all_start_methods():
        raise RequestError("this system cannot start worker processes", instead="use one job")
    context = get_context("fork")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(work,))
    try:
        yield from _prefetch(pool, tasks, AHEAD * jobs)
    except BrokenProcessPool:
        raise RequestError(
            "a worker process was killed, perhaps for lack of memory",
            instead="use one job, or smaller rows",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _prefetch(
    pool: ProcessPoolExecutor, tasks: Iterable[Task], most: int
) -> Iterator[tuple[Task, Any]]:
    begun = deque[tuple[Task, Any]]()
    for task in tasks:
        with starting_workers():
            begun.append((task, pool.submit(_do, task)))
        if len(begun) == most:
            first, pending = begun.popleft()
            yield first, pending.result()
    for task, pending in begun:
        yield task, pending.result()


_work: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any]) -> None:
    global _work
    begin_worker()  # a forked process inherits the parent's locks
    _work = work


def _do(task: Any) -> Any:
    return _work(task)
