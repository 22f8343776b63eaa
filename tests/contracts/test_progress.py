"""Test that the long steps of every kind of data report their progress up to the stated end."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import groupby
from typing import Any

import pytest

STEP = tuple[str, float, float | None]


class Heard(list[STEP]):
    """The calls, in order."""

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        self.append((task, done, total))


@pytest.fixture(params=["fit", "apply", "attack"])
def heard(request: pytest.FixtureRequest, case: Any) -> Heard:
    heard = Heard()
    how = {verb: {**given, "progress": heard} for verb, given in case.options.items()}
    if request.param == "fit":
        roles = case.tiny.roles()
        import_module(f"voile.{case.kind}").fit(case.table, roles, seed=1, **how["fit"])
        return heard
    release = case.kit.apply(case.middle(), case.table, **how["apply"])
    if request.param == "attack":
        heard.clear()
        release.attack(original=case.table, seed=1, **how["attack"])
    return heard


def test_within_a_step_progress_rises_to_its_total_at_most(heard: Heard) -> None:
    assert heard
    for _, calls in groupby(heard, key=lambda call: call[0]):
        done = [(done, total) for _, done, total in calls]
        assert [one[0] for one in done] == sorted(one[0] for one in done)
        assert all(total is None or part <= total for part, total in done)


def test_each_step_says_what_is_done_and_to_what(heard: Heard) -> None:
    assert [task for task, _, _ in heard if not re.match(r"[a-z]+ing \w+", task)] == []


def test_an_attack_numbers_its_steps(case: Any) -> None:
    heard = Heard()
    release = case.kit.apply(case.middle(), case.table, **case.options["apply"])
    release.attack(original=case.table, seed=1, progress=heard, **case.options["attack"])
    places = [task.rpartition("(")[2] for task, _, _ in heard]
    assert places == [f"{place} of {len(places)})" for place in range(1, len(places) + 1)]


def test_rows_are_counted_to_the_last_as_they_are_read_and_written(case: Any) -> None:
    heard = Heard()
    release = case.kit.apply(case.middle(), case.table, progress=heard, **case.options["apply"])
    steps = {task: (done, total) for task, done, total in heard}
    assert list(steps) == ["applying the policy", "writing the release", "checking the release"]
    assert steps["applying the policy"] == (len(case.table), len(case.table))
    assert steps["writing the release"] == (len(release.frame), len(release.frame))
