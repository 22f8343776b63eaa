"""Learning goes on beside the reading: no key waits for it, and no answer is lost to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.documents.reviewing.made import Served, everything, served, summers

from voile.core.errors import RequestError
from voile.documents.reviewing.line import ReviewLine
from voile.documents.reviewing.refitting import Refit, ReviewState
from voile.documents.reviewing.store import ReviewStore

pytestmark = pytest.mark.whole
Make = Callable[..., Path]


def spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def learn(folder: Path, seconds: float, lines: int, reading: ReviewState) -> Sequence[ReviewLine]:
    """Use the processor, and note the batch that was asked for, its tokens, and the answers."""
    spin(seconds)
    if reading.never:
        raise RequestError(f"never {', '.join(reading.never)}")
    with (folder / "learnt").open("a") as file:
        file.write(f"{reading.batch} {reading.tokens} {sorted(reading.answers)}\n")
    return summers(lines) if reading.batch <= 3 else []


def prepared(folder: Path, seconds: float = 0.0, lines: int = 4) -> Callable[[], Refit]:
    return lambda: partial(learn, folder, seconds, lines)


def learnt(folder: Path) -> list[str]:
    return (folder / "learnt").read_text().splitlines()


def wait_for(what: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def hear(server: Served, sentence: str) -> None:
    """Wait until the terminal shows a sentence."""
    wait_for(
        lambda: server.screen("Eva") and any(sentence in one for one in everything(server.said))
    )


def test_batches_follow_each_other_and_the_last_answers_are_learnt(
    made: Make, tmp_path: Path
) -> None:
    with served(made(*summers(4)), "Eva", prepare=prepared(tmp_path)) as server:
        for _ in range(12):
            wait_for(lambda: server.screen("Eva")["state"] == "line")
            server.stroke("Eva", "confirm")
        wait_for(lambda: server.screen("Eva")["state"] == "done")
        assert [one.batch for one in server.store.lines()] == [1] * 4 + [2] * 4 + [3] * 4
    noted = learnt(tmp_path)
    assert noted[0] == "2 2000 [1, 2, 3]"  # asked for while one line was left to read
    assert noted[1].startswith("3 4000 [1, 2, 3, 4, 5,")
    assert noted[-1] == f"4 0 {list(range(1, 13))}"


def test_the_first_batch_is_asked_for_where_there_is_none(made: Make, tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    ReviewStore.create(path, meta={}).close()
    with served(path, "Eva", prepare=prepared(tmp_path)) as server:
        wait_for(lambda: server.screen("Eva")["state"] == "line")
        assert learnt(tmp_path) == ["1 1000 []"]


def test_a_goal_that_is_reached_asks_for_nothing_more(made: Make, tmp_path: Path) -> None:
    with served(made(*summers(4)), "Eva", prepare=prepared(tmp_path), goal=24) as server:
        for _ in range(4):
            assert not (tmp_path / "learnt").exists()
            last = server.stroke("Eva", "confirm")
        assert last["state"] == "done"
        assert last["standing"]["read"] >= 24
    assert learnt(tmp_path) == ["2 0 [1, 2, 3, 4]"]  # once, at the end


def test_a_key_is_answered_in_50_milliseconds_while_a_refit_runs(
    made: Make, tmp_path: Path
) -> None:
    with served(made(*summers(40)), "Eva", prepare=prepared(tmp_path, seconds=4)) as server:
        for _ in range(30):
            server.stroke("Eva", "confirm")
        assert server.screen("Eva")["line"]["number"] == 31
        times = []
        for _ in range(9):
            began = time.perf_counter()
            server.stroke("Eva", "confirm")  # two requests
            times.append((time.perf_counter() - began) / 2)
        assert not (tmp_path / "learnt").exists()  # it was running all the while
        assert sorted(times)[len(times) // 2] < 0.05
        wait_for(lambda: server.screen("Eva") and len(server.store.lines()) > 40)
        assert len(server.store.answers()) == 39
    assert learnt(tmp_path)[-1].startswith("3 0 [1, 2, 3")


def test_a_word_that_is_never_a_name_reaches_the_refit(made: Make, tmp_path: Path) -> None:
    with served(made(*summers(4)), "Eva", prepare=prepared(tmp_path)) as server:
        server.stroke("Eva", "never", 0, 1)
        for _ in range(3):
            server.stroke("Eva", "confirm")
        hear(server, "never Summer")


def test_a_refit_that_fails_is_said_and_reading_goes_on(made: Make) -> None:
    def fail(reading: ReviewState) -> Sequence[ReviewLine]:
        raise RequestError("the notes are gone", instead="put them back")

    with served(made(*summers(4)), "Eva", prepare=lambda: fail) as server:
        for _ in range(3):
            server.stroke("Eva", "confirm")
        hear(server, "the notes are gone; put them back; the lines at hand are read")
        assert server.stroke("Eva", "confirm")["state"] == "done"


def test_a_refit_that_is_killed_is_said_and_reading_goes_on(made: Make, tmp_path: Path) -> None:
    def kill(reading: ReviewState) -> Sequence[ReviewLine]:
        if reading.tokens:  # in its own process; the last one is here
            os.kill(os.getpid(), signal.SIGKILL)
        return []

    with served(made(*summers(4)), "Eva", prepare=lambda: kill) as server:
        for _ in range(3):
            server.stroke("Eva", "confirm")
        hear(server, "the refit was killed, perhaps for lack of memory")
        server.stroke("Eva", "confirm")
        assert len(server.store.answers()) == 4


def test_answers_that_were_learnt_are_not_learnt_again(made: Make, tmp_path: Path) -> None:
    path = made(*summers(40))
    for _ in range(2):
        with served(path, "Eva", prepare=prepared(tmp_path)) as server:
            if not server.store.answers():
                server.stroke("Eva", "confirm")
    assert learnt(tmp_path) == ["2 0 [1]"]


def test_a_review_without_an_answer_makes_no_kit_anew(made: Make, tmp_path: Path) -> None:
    with served(made(*summers(40)), "Eva", prepare=prepared(tmp_path)) as server:
        server.screen("Eva")
    assert not (tmp_path / "learnt").exists()


def test_a_kit_learns_what_only_an_order_has_learnt_from(made: Make, tmp_path: Path) -> None:
    with served(made(*summers(4)), "Eva", prepare=prepared(tmp_path)) as server:
        for _ in range(3):
            server.stroke("Eva", "confirm")
        wait_for(lambda: server.screen("Eva") and len(server.store.lines()) > 4)
    assert learnt(tmp_path) == ["2 2000 [1, 2, 3]", "3 0 [1, 2, 3]"]
