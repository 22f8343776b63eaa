"""The figures of policies, counted by hand and by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.documents.made import Says, corpus_of
from tests.documents.test_greedy import ANA, LEO, MAY, TEXTS, loop_of

from voile.documents.measuring import context_of, points, turns
from voile.documents.training import Training
from voile.documents.words.features import CLASSES
from voile.errors import InfeasibleError

WORDS = ["Ana/NAME", "Leo/NAME", "Ana", "34/AGE", "34", "may", ".", "It", "was\nBAD", "x7/ID"]


def measured(texts, learners, cost=10, **options):
    corpus = corpus_of(*texts)
    training = Training.of(corpus)
    loop = loop_of(training, learners, cost, **options)
    return corpus, training, loop, list(points(training, cost, loop))


def test_hand_counted_figures():
    # 8 documents of 12 tokens in 2 sentences: Ana, Leo and one of two Mays are names
    _, _, loop, rows = measured(TEXTS, [ANA, LEO, MAY])
    assert [one.taken.learner for one in loop.passes if one.taken] == [
        "says Ana",
        "says Leo",
        "says May",
    ] or len(rows) == 4
    assert [row["passes"] for row in rows] == [0, 1, 2, 3]
    assert [row["left"] for row in rows] == [24, 16, 8, 0]
    assert [row["risk"] for row in rows] == [1, 16 / 24, 8 / 24, 0]
    tokens = len(TEXTS) * 11
    harmless = tokens - 24
    assert [row["loss"] for row in rows] == [0, 0, 0, 16 / harmless]
    assert [row["cost"] for row in rows] == [240, 160, 80, 16]
    assert [row["published_tokens"] for row in rows] == [
        1, 1 - 8 / tokens, 1 - 16 / tokens, 1 - 40 / tokens
    ]  # fmt: skip
    assert [row["published_sentences"] for row in rows] == [1, 0.5, 0.5, 0]
    assert [row["published_documents"] for row in rows] == [1, 0, 0, 0]
    assert [row["left_by_type"] for row in rows] == [[24], [16], [8], [0]]
    assert [row["optimum"] for row in rows] == [False, False, False, True]
    assert [row["false_words"] for row in rows] == [[], [], [], [{"word": "May", "removed": 16}]]
    assert [sum(row["false_by_kind"]) for row in rows] == [0, 0, 0, 16]
    assert rows[3]["false_by_kind"][CLASSES.index("Xx")] == 16
    assert all(row["costs"] == [10] for row in rows)


def test_what_the_attacker_of_each_pass_does_is_told():
    _, _, loop, rows = measured(TEXTS, [ANA, LEO])
    assert len(rows) == 3
    for row, turn in zip(rows, loop.passes, strict=True):
        attacker = turn.attacker
        counts = tuple(row[f"attacker_{name}"] for name in ("tp", "fp", "fn", "tn"))
        assert counts == (attacker.tp, attacker.fp, attacker.fn, attacker.tn)
        assert row["attacker_learner"] == attacker.learner
        assert sum(counts) == 88 - 8 * row["passes"]
        assert row["inspected"][0] == row["left"] == counts[0] + counts[2]
    assert rows[2]["added"] == [[8, 0, 64, 16], [8, 0, 64, 8]]
    assert rows[0]["added"] is None


def test_a_loop_that_was_stopped_proves_nothing():
    _, _, loop, rows = measured(TEXTS, [ANA, LEO, MAY], max_passes=2)
    assert loop.stopped == "max passes"
    assert [row["optimum"] for row in rows] == [False] * 3
    assert rows[2]["attacker_tp"] is rows[2]["found"] is rows[2]["training"] is None


def naive(training, loop, passes):
    """Count a policy's figures token by token."""
    tokens, truth = training.tokens, training.truth.tolist()
    turn = loop.turn.tolist()
    gone = [0 < t <= passes for t in turn]
    documents = tokens.document.tolist()
    sentences = tokens.sentence.tolist()
    touched = lambda of: {x for x, g in zip(of, gone, strict=True) if g}  # noqa: E731
    left = [t for t, g in zip(truth, gone, strict=True) if t and not g]
    lost = sum(1 for t, g in zip(truth, gone, strict=True) if g and not t)
    return {
        "left": len(left),
        "risk": len(left) / sum(map(bool, truth)),
        "loss": lost / max(truth.count(0), 1),
        "published_tokens": 1 - sum(gone) / len(gone),
        "published_sentences": 1 - len(touched(sentences)) / len(set(sentences)),
        "published_documents": 1 - len(touched(documents)) / len(set(documents)),
        "left_by_type": [left.count(t + 1) for t in range(len(training.labels))],
    }


@settings(max_examples=20)
@given(
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join),
        min_size=4,
        max_size=9,
    ).filter(lambda texts: "/" in "".join(texts)),
    st.lists(
        st.dictionaries(st.sampled_from(["Ana", "Leo", "34", "may", ".", "x7"]), st.just(1)),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([0.5, 3, 50]),
)
def test_figures_are_what_they_are_defined_to_be(texts, said, cost):
    learners = [Says(tuple(one.items()), f"says {n}") for n, one in enumerate(said)]
    try:
        _, training, loop, rows = measured(texts, learners, cost)
    except InfeasibleError:
        reject()  # nothing was left
    assert [row["passes"] for row in rows] == list(range(len(loop.committee.members) + 1))
    for row in rows:
        expected = naive(training, loop, row["passes"])
        assert row["left_by_type"] == expected.pop("left_by_type")
        assert {name: row[name] for name in expected} == pytest.approx(expected)
        lost = row["loss"] * max(int((training.truth == 0).sum()), 1)
        assert row["cost"] == pytest.approx(cost * row["left"] + lost)
        assert sum(row["false_by_kind"]) == round(lost)
        assert sum(one["removed"] for one in row["false_words"]) == round(lost)


def test_each_turn_tells_of_every_learner_and_who_was_taken():
    _, _, loop, _ = measured(TEXTS, [ANA, LEO, MAY])
    rows = list(turns(10.0, loop))
    for number, one in enumerate(loop.passes, 1):
        of = [row for row in rows if row["pass"] == number]
        tried = [row for row in of if not row["attacker"]]
        assert [row["learner"] for row in tried] == [t.learner for t in one.tried]
        assert [row["attacker"] for row in of].count(True) == 1
        taken = {row["learner"] for row in of if row["taken"]}
        assert taken == ({one.taken.learner} if one.taken else set())
        assert all(row["change"] == row["fp"] - 10 * row["tp"] for row in of)


def test_words_that_point_to_what_was_removed_are_found():
    # who has a dog is called Ana, six times of six; nobody else is
    texts = ["Ana/NAME walks the dog ."] * 6 + ["Leo/NAME walks ."] * 12
    corpus, training, loop, _ = measured(texts, [ANA, LEO])
    found = context_of(training, corpus, loop, 2)
    assert found["context"] == ["dog", "the"]
    assert found["context_rules"] == 2
    assert found["context_share"] == pytest.approx(6 / 18)
    nothing = context_of(training, corpus, loop, 0)
    assert (nothing["context"], nothing["context_share"]) == ([], 0)
    assert np.all(loop.turn <= 2)
