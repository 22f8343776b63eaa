"""False acceptances of the whole procedure, by simulation; its naive rival fails beside it."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.acceptance_worlds import World, clustered, read

from voile.core.errors import RequestError
from voile.documents.acceptance.plan import AcceptanceGoal, ReadingForecast, plan
from voile.documents.acceptance.reading import AcceptanceReading, AcceptanceVerdict, DueTokens

DRAWS = 100
NOISE = 3 * (0.05 * 0.95 / DRAWS) ** 0.5
GOAL = AcceptanceGoal(2.5)


def false_acceptances(world: World, goal: AcceptanceGoal, **how: object) -> tuple[float, float]:
    """Return how often it is accepted falsely, and how often at all."""
    ends = [read(world, goal, seed, **how) for seed in range(DRAWS)]  # type: ignore[arg-type]
    accepted = [(one, left) for one, left in ends if one.accepted]
    wrong = sum(left > goal.at_most * one.tokens / goal.per for one, left in accepted)
    return wrong / DRAWS, len(accepted) / DRAWS


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_identifiers_side_by_side_are_accepted_falsely_no_more_often(size: int) -> None:
    world = clustered(np.random.default_rng(size), tokens=8_000, left=72, size=size)
    wrong, _ = false_acceptances(world, GOAL, planted=None)
    assert wrong <= 0.05 + NOISE


@pytest.mark.parametrize("size", [1, 4])
def test_a_reader_who_misses_a_tenth_accepts_falsely_no_more_often(size: int) -> None:
    world = clustered(np.random.default_rng(size), tokens=8_000, left=160, size=size)
    world.recall[:] = 0.9
    wrong, _ = false_acceptances(world, AcceptanceGoal(8), planted=np.array([0.9]))
    assert wrong <= 0.05 + NOISE


def test_planted_identifiers_as_hard_as_those_left_hold_and_easier_ones_do_not() -> None:
    world = clustered(np.random.default_rng(3), tokens=8_000, left=240, size=2)
    world.recall[:] = 0.6
    how_hard = np.array([0.6])
    easier = np.array([0.97])
    goal = AcceptanceGoal(12)
    assert false_acceptances(world, goal, planted=how_hard)[0] <= 0.05 + NOISE
    assert false_acceptances(world, goal, planted=easier)[0] > 0.05 + NOISE


def test_three_tries_share_one_error() -> None:
    world = clustered(np.random.default_rng(5), tokens=8_000, left=90, size=2)
    wrong, _ = false_acceptances(world, GOAL, planted=None, tries=3)
    assert wrong <= 0.05 + NOISE
    goal = AcceptanceGoal(1)
    spent = [goal.levels(number) for number in range(1, 60)]
    assert sum(one.rest + one.census + one.recall for one in spent) <= 0.05 + 1e-12


def test_signs_are_not_read_and_count_among_the_tokens_of_the_goal() -> None:
    """The words alone are drawn; what may be left is a share of all tokens."""
    world = clustered(np.random.default_rng(6), tokens=8_000, left=92, size=2)
    world.signs = 2_000
    wrong, accepted = false_acceptances(world, GOAL, planted=None)
    assert wrong <= 0.05 + NOISE
    assert accepted > 0.1
    given = {"recall": 1.0, "planted": 0}
    scores = np.full(8_000, 0.0005)
    every = plan(ReadingForecast(np.full(10_000, 0.0004), **given), GOAL)
    assert plan(ReadingForecast(scores, **given, signs=2_000), GOAL).least == pytest.approx(
        0.8 * every.least, rel=0.02
    )


def test_a_clean_release_is_accepted() -> None:
    world = clustered(np.random.default_rng(1), tokens=20_000, left=6, size=1)
    wrong, accepted = false_acceptances(world, AcceptanceGoal(2), planted=None)
    assert wrong == 0
    assert accepted > 0.9


def test_the_same_answers_give_the_same_reading() -> None:
    world = clustered(np.random.default_rng(2), tokens=3_000, left=20, size=2)
    first, second = (
        AcceptanceReading(world.scores, AcceptanceGoal(5), seed=4, most_planted=0) for _ in range(2)
    )
    for _ in range(6):
        due, same = first.due(), second.due()
        if isinstance(due, AcceptanceVerdict):
            assert due == same
            break
        assert isinstance(same, DueTokens)
        assert due.purpose == same.purpose
        assert due.tokens.tolist() == same.tokens.tolist()
        for one in (first, second):
            one.take(due, due.tokens[world.truth[due.tokens]])


def test_what_was_read_is_not_drawn_again() -> None:
    world = clustered(np.random.default_rng(2), tokens=3_000, left=60, size=2)
    reading, seen = (
        AcceptanceReading(world.scores, AcceptanceGoal(3), seed=4, most_planted=0),
        set(),
    )
    for _ in range(30):
        due = reading.due()
        if isinstance(due, AcceptanceVerdict):
            if due.accepted:
                break
            reading.again()
            continue
        assert seen.isdisjoint(due.tokens.tolist())
        seen |= {*due.tokens.tolist()}
        reading.take(due, due.tokens[world.truth[due.tokens]])
    assert len(seen) == reading.read.sum()


def test_a_goal_that_no_reading_can_prove_is_refused_with_the_nearest() -> None:
    scores = np.sort(np.random.default_rng(0).beta(1, 60, 2_000))[::-1]
    with pytest.raises(RequestError, match="no amount of reading") as refused:
        plan(ReadingForecast(scores, recall=0.9), AcceptanceGoal(0.5))
    nearest = float(refused.value.instead.split("at most ")[1].split(" per")[0])
    assert nearest > 0.5
    assert plan(ReadingForecast(scores, recall=0.9), AcceptanceGoal(nearest)).chance >= 0.5


@pytest.mark.parametrize(
    "goal", [{"at_most": 0}, {"at_most": 1000}, {"at_most": 1, "confidence": 1}]
)
def test_a_goal_is_a_share_with_a_confidence(goal: dict[str, float]) -> None:
    with pytest.raises(RequestError):
        AcceptanceGoal(**goal)  # type: ignore[arg-type]


def test_better_scores_cost_less_reading() -> None:
    rng = np.random.default_rng(0)
    sharp = np.sort(np.concatenate([rng.beta(2, 8, 200), np.full(19_800, 1e-5)]))[::-1]
    blunt = np.full(20_000, sharp.mean())
    goal = AcceptanceGoal(2)
    assert plan(ReadingForecast(sharp), goal).expected < plan(ReadingForecast(blunt), goal).expected
