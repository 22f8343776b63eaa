"""What fit, apply and attack can be told, and what is refused before any work."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from voile.documents.learners.named_learners import LEARNERS
from voile.documents.options import MOST_JOBS, ApplyOptions, AttackOptions, FitOptions


@pytest.mark.parametrize("options", [FitOptions, ApplyOptions, AttackOptions])
def test_processes_are_some_but_not_any_number(options):
    for jobs in (-1, 1, MOST_JOBS):
        assert options(jobs=jobs).jobs == jobs
    for jobs in (-2, 0, MOST_JOBS + 1):
        with pytest.raises(ValidationError, match="use 1 to 256, or -1"):
            options(jobs=jobs)


def test_every_learner_can_be_asked_for():
    assert FitOptions(learners=tuple(LEARNERS)).learners == tuple(LEARNERS)
    with pytest.raises(ValidationError):
        FitOptions(learners=("crf-costs",))


def test_foreign_labels_need_a_corpus():
    with pytest.raises(ValidationError, match="add --foreign FILE"):
        AttackOptions(labels=("foreign",))
    assert AttackOptions(labels=("foreign",), foreign="news.conll").foreign == "news.conll"


@pytest.mark.parametrize("cost", [0.0, -1.0, float("inf"), float("nan")])
def test_a_miss_costs_some_finite_number(cost):
    with pytest.raises(ValidationError):
        FitOptions(miss_cost=(cost,))


@pytest.mark.parametrize("others", [("none", "email"), ("email", "all"), ("none", "all")])
def test_all_patterns_or_none_stand_alone(others):
    with pytest.raises(ValidationError, match="all and none cannot be combined with others"):
        ApplyOptions(patterns=others)
    assert ApplyOptions(patterns=("email", "url")).patterns == ("email", "url")
