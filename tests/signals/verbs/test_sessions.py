"""What `fit --time` makes of whole sessions that reveal the class, or of too few subjects."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import voile
from voile.core.errors import RequestError
from voile.signals import SignalsWarning
from voile.signals.fitting.overhear import OverheardSessions, lengths_of
from voile.signals.model.content import SignalsContent
from voile.signals.model.sessions import SessionFacts
from voile.signals.verbs.subjects import sequences_of

LENGTH = 10
ROLES = {
    "subject": "id",
    "columns": {
        "id": {"role": "identifier"},
        "state": {"role": "private"},
        "day": {"role": "drop"},
        "weight": {"role": "reading"},
    },
}


def frame(n, seed):
    """Weights of two classes; those of one leap, at a day of their own, by ten kilograms."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % 2
    leap = (np.arange(LENGTH) >= rng.integers(3, 8, n)[:, None]) & (c == 1)[:, None]
    X = (70 + 12 * c + 8 * rng.normal(size=n))[:, None] + rng.normal(size=(n, LENGTH)) + 10 * leap
    whose = np.repeat(np.arange(n), LENGTH)
    return pd.DataFrame(
        {
            "id": whose,
            "state": np.array(["calm", "wild"])[c[whose]],
            "day": np.tile(np.arange(LENGTH), n),
            "weight": np.round(X, 1).ravel(),
        }
    )


def fitted(n, *, of=None, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SignalsWarning)
        options = {"time": "day", "strength": [1.0], "base": ["normal"], **more}
        source = frame(n, 1) if of is None else of
        kit = voile.signals.fit(source, roles=ROLES, seed=0, **options)
    return kit, " ".join(str(one.message) for one in caught)


def test_sessions_that_reveal_the_class_are_left_out_unless_asked_for(tmp_path):
    kit, said = fitted(200)
    assert "Sessions of 10 readings reveal the class to an adversary" in said
    assert "left out of the kit" in said
    kit.save(tmp_path / "kit")
    with pytest.raises(RequestError, match="whole sessions were shown to reveal the class"):
        sequences_of(str(tmp_path / "kit"))
    again = SignalsContent.of(voile.open_kit(tmp_path / "kit"))
    assert again.sessions.reveals
    assert again.sequence is None
    kit, said = fitted(200, leaky_sessions=True)
    assert "reveal the class to" in said
    assert "left out" not in said
    assert sequences_of(kit)[1].timed


def test_readings_of_one_subject_at_one_time_are_named():
    source = frame(60, 1)
    assert "same time as another" not in fitted(60, of=source)[1]
    source.loc[source.day == 4, "day"] = 3
    said = fitted(60, of=source)[1]
    assert "60 readings have the same time as another reading of their subject" in said


def test_of_too_few_subjects_nothing_is_said():
    kit, said = fitted(60)
    assert "Too few subjects to say what whole sessions reveal" in said
    assert sequences_of(kit)


@pytest.mark.parametrize(
    ("sizes", "lengths"),
    [
        ([40] * 80, [10, 30]),
        ([28] * 80, [10, 28]),  # sessions of 28 are sent, and reveal more than of 10
        ([10] * 80, [10]),
        ([4] * 80, [4]),
        ([2] * 80, []),
        ([30] * 30 + [12] * 50, [10, 12]),  # of 30 there are too few of a class
        ([30] * 38, []),
    ],
)
def test_the_longest_sessions_that_enough_subjects_have_are_overheard(sizes, lengths):
    assert lengths_of(np.array(sizes), np.arange(len(sizes)) % 2, 2) == lengths


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.45, 0.64, "Sessions of 30 readings hide the class from"),
        (0.45, 0.7, "Too few subjects to say whether sessions of 30 readings hide the class from"),
        (0.66, 0.8, "Sessions of 30 readings reveal the class to"),
    ],
)
def test_what_is_said_is_what_the_interval_allows(low, high, said):
    wide = OverheardSessions(30, 100, "a forest", "calm", (low + high) / 2, low, high, 0.9)
    sure = OverheardSessions(10, 100, "a forest", "calm", 0.5, 0.45, 0.55, 0.9)
    sessions = SessionFacts(None, None, (sure, wide))
    assert sessions.summary_sentence.startswith(said)
    assert (sessions.hides, sessions.reveals) == (high <= 0.65, low > 0.65)
