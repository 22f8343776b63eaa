"""The figures of policies, counted by hand and by their definitions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.documents.fitting.loop.loops import ANA, LEO, MAY, TEXTS, loop_of
from tests.documents.made import Says, corpus_of

from voile.core.errors import InfeasibleError
from voile.core.evidence import Rate
from voile.documents.fitting.loop.figures import (
    context_figures,
    count_identifiers,
    pass_rows,
    policy_figures,
)
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.model.quantities import AS_LEFT, ONE_PERCENT
from voile.documents.words.features import CLASSES

WORDS = ["Ana/NAME", "Leo/NAME", "Ana", "ANA", "ana", "34/AGE", "34", "may", ".", "It", "x7/ID"]
WORDS += ["Leo/PLACE", "was\nBAD", "Leo/?", "Ana/?", "34/?"]


def measured(texts, learners, cost=10, repeats=True, **options):
    corpus = corpus_of(*texts, subjects=[str(number) for number in range(len(texts))])
    training = TrainingText.of(corpus)
    loop = loop_of(training, learners, cost, **options)
    return corpus, training, loop, list(policy_figures(training, cost, loop, repeats=repeats))


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
        assert row["inspected_as_left"] == row["left"] == counts[0] + counts[2]
        for found, columns in zip(turn.found, (AS_LEFT, ONE_PERCENT), strict=True):
            assert Rate(*map(row.get, columns)) == found
    assert (rows[2]["missed"], rows[2]["lost"]) == ([8], 0)
    assert rows[0]["missed"] is rows[0]["lost"] is None


def test_a_loop_that_was_stopped_proves_nothing():
    _, _, loop, rows = measured(TEXTS, [ANA, LEO, MAY], max_passes=2)
    assert loop.stopped == "max passes"
    assert [row["optimum"] for row in rows] == [False] * 3
    assert rows[2]["attacker_tp"] is rows[2]["found_as_left"] is rows[2]["training"] is None


def naive(training, loop, passes, repeats):
    """Count a policy's figures token by token."""
    tokens, truth = training.tokens, training.truth.tolist()
    alone = [0 < t <= passes for t in loop.turn.tolist()]
    documents = tokens.document.tolist()
    words = [tokens.forms[x] for x in tokens.form.tolist()]
    names = {
        (document, word.casefold())
        for document, word, gone, kind in zip(
            documents, words, alone, loop.removed.tolist(), strict=True
        )
        if gone and training.labels[kind - 1] == "NAME" and is_written_as_a_name(word)
    }
    gone = [
        was or (repeats and is_written_as_a_name(word) and (document, word.casefold()) in names)
        for document, word, was in zip(documents, words, alone, strict=True)
    ]
    sentences = tokens.sentence.tolist()
    touched = lambda of: {x for x, g in zip(of, gone, strict=True) if g}  # noqa: E731
    # what nobody knows is neither an identifier nor harmless
    truth = [t if k else None for t, k in zip(truth, ~training.unknown, strict=True)]
    left = [t for t, g in zip(truth, gone, strict=True) if t and not g]
    lost = sum(1 for t, g in zip(truth, gone, strict=True) if g and t == 0)
    missed = sum(1 for t, g in zip(truth, alone, strict=True) if t and not g)
    wrong = sum(1 for t, g in zip(truth, alone, strict=True) if g and t == 0)
    false = Counter(w for w, t, g in zip(words, truth, gone, strict=True) if g and t == 0)
    shared = {
        w for w in words if len({d for d, v in zip(documents, words, strict=True) if v == w}) > 1
    }
    return {
        "cost": (missed, wrong),
        "false_words": {w: n for w, n in false.items() if w in shared},
        "repeats_identifiers": missed - len(left),
        "repeats_harmless": lost - wrong,
        "left": len(left),
        "risk": len(left) / sum(map(bool, truth)),
        "loss": lost / max(truth.count(0), 1),
        "published_tokens": 1 - sum(gone) / len(gone),
        "published_sentences": 1 - len(touched(sentences)) / len(set(sentences)),
        "published_documents": 1 - len(touched(documents)) / len(set(documents)),
        "left_by_type": [left.count(t + 1) for t in range(len(training.labels))],
    }


def is_written_as_a_name(word):
    return len(word) > 2 and word.isalpha() and word != word.lower()


@settings(max_examples=20)
@given(
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join),
        min_size=4,
        max_size=9,
    ).filter(lambda texts: "/" in "".join(texts).replace("/?", "")),
    st.lists(
        st.dictionaries(st.sampled_from(["Ana", "Leo", "34", "may", ".", "x7"]), st.just(1)),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([0.5, 3, 50]),
    st.booleans(),
)
def test_figures_are_what_they_are_defined_to_be(texts, said, cost, repeats):
    learners = [Says(tuple(one.items()), f"says {n}") for n, one in enumerate(said)]
    try:
        _, training, loop, rows = measured(texts, learners, cost, repeats)
    except InfeasibleError:
        reject()  # nothing was left
    assert [row["passes"] for row in rows] == list(range(len(loop.committee.members) + 1))
    for row in rows:
        expected = naive(training, loop, row["passes"], repeats)
        assert row["left_by_type"] == expected.pop("left_by_type")
        missed, wrong = expected.pop("cost")
        assert row["cost"] == pytest.approx(cost * missed + wrong)
        told = {one["word"]: one["removed"] for one in row["false_words"]}
        assert told == expected.pop("false_words")
        assert {name: row[name] for name in expected} == pytest.approx(expected)
        lost = row["loss"] * max(int(training.harmless.sum()), 1)
        assert sum(row["false_by_kind"]) == round(lost)


def test_each_turn_tells_of_every_learner_and_who_was_taken():
    _, training, loop, _ = measured(TEXTS, [ANA, LEO, MAY])
    rows = list(pass_rows(training, 10.0, loop))
    for number, one in enumerate(loop.passes, 1):
        of = [row for row in rows if row["pass"] == number]
        tried = [row for row in of if not row["attacker"]]
        assert [row["learner"] for row in tried] == [t.learner for t in one.tried]
        assert [row["attacker"] for row in of].count(True) == 1
        taken = {row["learner"] for row in of if row["taken"]}
        assert taken == ({one.taken.learner} if one.taken else set())
        assert all(row["change"] == row["fp"] - 10 * row["tp"] for row in of)
        assert all((row["removed"], row["harmless"]) == (row["tp"], row["fp"]) for row in of)
        assert all(row["before"] == row["tp"] + row["fn"] for row in of)


def test_mentions_that_go_with_a_removed_name_are_in_the_figures_and_not_in_the_loop():
    # a ship is called like Ana, in other letters, in half of the notes
    texts = ["Ana/NAME came in . The ANA and the ana sail"] * 4 + ["Ana/NAME was on call ."] * 4
    _, _, loop, rows = measured(texts, [ANA])
    *_, alone = measured(texts, [ANA], repeats=False)
    assert (loop.stopped, [row["lost"] for row in rows]) == ("finished", [None, 0])
    assert [row["loss"] for row in alone] == [0, 0]
    assert [row["loss"] for row in rows] == [0, 4 / 52]
    assert [row["repeats_harmless"] for row in rows] == [0, 4]
    assert [row["cost"] for row in rows] == [row["cost"] for row in alone] == [80, 0]
    assert rows[1]["published_tokens"] == 1 - 12 / 60
    assert alone[1]["published_tokens"] == 1 - 8 / 60


def test_words_that_only_tell_of_an_identifier_are_harmless():
    texts = ["Ana/NAME sails/CONTEXT_NAME a/CONTEXT_ROOM yacht ."] * 8
    learners = [Says((("Ana", 3),), "says Ana"), Says((("sails", 1), ("a", 2)), "says sails")]
    _, training, loop, rows = measured(
        texts, learners, {"CONTEXT_NAME": 2, "CONTEXT_ROOM": 5, "NAME": 10}
    )
    assert training.labels == ("CONTEXT_NAME", "CONTEXT_ROOM", "NAME")
    assert count_identifiers(training) == 16  # nobody marked a ROOM, so that CONTEXT_ROOM is a type
    assert [row["risk"] for row in rows] == [1, 0.5, 0]
    assert [row["left"] for row in rows] == [16, 8, 0]
    assert [row["loss"] for row in rows] == [0, 0, 8 / 24]
    assert [row["left_by_type"] for row in rows] == [[8, 8, 8], [8, 8, 0], [0, 0, 0]]
    assert [row["cost"] for row in rows] == [136, 56, 0]
    told = {row["pass"]: row for row in pass_rows(training, 10, loop) if row["taken"]}.values()
    assert [(r["removed"], r["before"], r["harmless"]) for r in told] == [(8, 16, 0), (8, 8, 8)]
    assert [(row["tp"], row["fp"]) for row in told] == [(8, 0), (16, 0)]


def test_words_of_one_subject_are_counted_and_not_named():
    texts = ["Ana/NAME met Zoe ."] * 2 + ["Ana/NAME met Max ."]
    said = Says((("Ana", 1), ("Zoe", 1), ("Max", 1)), "says")
    for subjects, words in (("abc", ["Zoe"]), ("aab", []), ("aaa", [])):
        corpus = corpus_of(*texts * 4, subjects=list(subjects) * 4)
        training = TrainingText.of(corpus)
        *_, row = policy_figures(training, 10.0, loop_of(training, [said], 10))
        assert [one["word"] for one in row["false_words"]] == words
        assert sum(row["false_by_kind"]) == 12


def test_words_that_point_to_what_was_removed_are_found():
    # who has a dog is called Ana, six times of six; nobody else is
    texts = ["Ana/NAME walks the dog ."] * 6 + ["Leo/NAME walks ."] * 12
    corpus, training, loop, _ = measured(texts, [ANA, LEO])
    found = context_figures(training, corpus, loop, 2)
    assert found["context"] == ["dog", "the"]
    assert found["context_rules"] == 2
    assert found["context_share"] == pytest.approx(6 / 18)
    nothing = context_figures(training, corpus, loop, 0)
    assert (nothing["context"], nothing["context_share"]) == ([], 0)
    assert np.all(loop.turn <= 2)


def test_a_mention_that_is_left_points_and_one_that_goes_does_not():
    texts = ["Ana/NAME met ANA ."] * 6 + ["Leo/NAME walks ."] * 12
    corpus, training, loop, _ = measured(texts, [ANA, LEO])
    alone = context_figures(training, corpus, loop, 2, repeats=False)
    assert alone["context"] == ["ana", "met"]
    assert context_figures(training, corpus, loop, 2)["context"] == ["met"]
