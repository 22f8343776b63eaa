"""A committee at work: each member sees the marks of those before it, and none counts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.made import Told, notes

from voile.core.errors import RequestError
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.calibration import fit_calibration
from voile.documents.learners.svm import SVM
from voile.documents.model.committee.committee import (
    CommitteeMember,
    TokenCommittee,
    TokenRemover,
    put_marks,
    types_by_own_rule,
)
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document
from voile.documents.words.tokens import tokenise

TRAINING = TrainingText.of(notes(2))
EXAMPLES = TRAINING.examples(TRAINING.truth * 0, np.ones(2))
LABELS = ("AGE", "NAME")


def committee(*classifiers, training=TRAINING, decision="accuracy", costs=(1.0, 1.0)):
    members = tuple(
        CommitteeMember(f"m{n}", one, None, decision) for n, one in enumerate(classifiers)
    )
    return TokenCommittee(training.labels, np.array(costs), training.space, members)


def of(removed, number=0):
    """Return what is removed of one text: form, type, member."""
    part = slice(*removed.tokens.first[number : number + 2])
    return [
        (removed.tokens.forms[form], type_, member)
        for form, type_, member in zip(
            removed.tokens.form[part].tolist(),
            removed.type[part].tolist(),
            removed.member[part].tolist(),
            strict=True,
        )
        if type_
    ]


def test_members_see_marks_and_remove_what_is_left():
    first, second = (
        Told({"Ana": 2, "30": 1}, 2),
        Told({"[NAME]": 1, "Ana": 1, "is": 2, "[AGE]": 1}, 2),
    )
    remover = committee(first, second).remover()
    assert remover.learners == ["m0", "m1"]
    removed = remover(["Ana is 30 .", "", "Leo"])
    assert of(removed) == [("Ana", 2, 0), ("is", 2, 1), ("30", 1, 0)]
    assert (of(removed, 1), of(removed, 2)) == ([], [])
    assert removed.member.tolist() == [0, 1, 0, -1, -1]


@dataclass(frozen=True)
class Watching:
    """Note the words that are shown."""

    shown: list

    def margins(self, sight):
        self.shown.append(list(sight.words))
        return np.full((len(sight.words), 2), -1.0)


def test_what_is_shown_is_the_text_with_marks():
    shown = []
    watching = Watching(shown)
    committee(watching, Told({"Ana": 2}, 2), watching, Told({}, 2), watching).remover()(
        ["Ana is 30"]
    )
    assert shown == [["Ana", "is", "30"], ["[NAME]", "is", "30"], ["[NAME]", "is", "30"]]


def test_nobody_removes_nothing():
    removed = committee().remover()(["Ana is in ."])
    assert removed.type.tolist() == [0] * 4
    assert removed.member.tolist() == [-1] * 4
    assert len(committee(Told({}, 2)).remover()([]).type) == 0


@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3)))
def test_by_own_rule(rows):
    margins = np.array(rows, dtype=float).reshape(-1, 3)
    expected = [row.index(max(row)) + 1 if max(row) > 0 else 0 for row in rows]
    assert types_by_own_rule(margins).tolist() == expected


def test_a_member_decides_by_cost_or_by_its_own_rule():
    calibration = fit_calibration(
        np.array([[-1.0]] * 10 + [[1.0]] * 10),
        np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [1] * 10, dtype=np.int16),
        np.ones(20, dtype=np.bool_),
    )
    margins, tokens, left = np.array([[-1.0], [1.0]]), tokenise(["an x"]), np.ones(2, np.bool_)
    for decision, cost, expected in (
        ("accuracy", 99, [0, 1]),
        ("cost", 99, [1, 1]),
        ("cost", 2, [0, 1]),
    ):
        member = CommitteeMember("m", Told({}, 1), calibration, decision)
        found = member.decide_tokens(tokens, margins, np.array([float(cost)]), left)
        assert found.types.tolist() == expected


SVMS = [SVM(C=C).fit(EXAMPLES, seed=1) for C in (0.01, 1.0)]
PIECES = [
    "Patient",
    "Ana",
    "Leo",
    "Zoë",
    "[NAME]",
    "[XENON]",
    ",",
    ".",
    "10",
    "1999",
    "\n",
    "May",
    "saw",
    "file",
    "Dr.",
]
texts = st.lists(st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join), max_size=6)


def removed_of(remover, texts_, size):
    found = []
    for start in range(0, len(texts_), size):
        removed = remover(texts_[start : start + size])
        found += [of(removed, number) for number in range(len(texts_[start : start + size]))]
    return found


@settings(max_examples=40)
@given(texts, st.integers(1, 3))
def test_batches_and_forgetting_change_nothing(texts_, size):
    made = committee(*SVMS, Told({"was": 1}, 2))
    expected = removed_of(made.remover(), texts_, 99)
    assert removed_of(made.remover(), texts_, size) == expected
    for most in ({"MOST_FORMS": 3}, {"MOST_BYTES": 0}):
        remover = made.remover()
        remover.__dict__.update(most)
        assert removed_of(remover, texts_, size) == expected


def test_memory_does_not_follow_the_text():
    remover = committee(*SVMS).remover()
    remover.MOST_BYTES = 0
    remover(["What is forgotten"])
    remover(["by then"])
    assert remover._known.known_words == ["[AGE]", "[NAME]", "by", "then"]
    remover = committee(*SVMS).remover()
    remover.MOST_FORMS = 50
    most = 0
    for batch in range(60):
        remover([f"Word{batch}x{n} was seen ." for n in range(10)])
        most = max(most, len(remover._known))
    assert most < 50 + 40


@settings(max_examples=40)
@given(texts)
def test_what_is_removed_is_what_the_matrix_says(texts_):
    """A naive twin: every member by the matrix of the whole text with marks in its places."""
    removed = committee(*SVMS).remover()(texts_)
    corpus = Corpus([Document(text) for text in texts_])
    forms = [removed.tokens.forms[form] for form in removed.tokens.form]
    found = np.zeros(len(forms), dtype=np.int16)
    from voile.documents.words.features import FeatureExtractor
    from voile.documents.words.tokens import tokenise

    for svm in SVMS:
        tokens = tokenise(document.text for document in corpus)
        marks = tokens.known.number(["[AGE]", "[NAME]"])
        form = [marks[t - 1] if t else f for t, f in zip(found, tokens.form, strict=True)]
        shown = replace(tokens, form=np.array(form, dtype=np.int32))
        matrix = FeatureExtractor(TRAINING.space, tokens.known).features(shown).matrix
        sight = replace(EXAMPLES, matrix=matrix, first=tokens.first)
        types = types_by_own_rule(svm.margins(sight))
        found = np.where(found > 0, found, types)
    assert removed.type.tolist() == found.tolist()


@dataclass(frozen=True)
class Fresh:
    """Score by weights that are made anew each time, so that their ids are used again."""

    columns: int

    def margins(self, sight):
        one = sight.scores(np.full((self.columns, 2), 1, np.float32))
        two = sight.scores(np.full((self.columns, 2), -1, np.float32))
        assert np.allclose(one, -two)
        return np.asarray(one, dtype=float)


def test_scores_are_of_the_weights_that_were_given():
    remover = committee(Fresh(len(TRAINING.space.columns))).remover()
    for _ in range(5):
        assert remover(["Patient Ana ."]).type.any()


@pytest.mark.parametrize("margins", [np.full((3, 2), np.nan), np.zeros((3, 1)), np.zeros((2, 2))])
def test_margins_that_are_none_are_refused(margins):
    @dataclass(frozen=True)
    class Bad:
        def margins(self, sight):
            return margins

    with pytest.raises(RequestError, match="the classifier of m0 gives no number") as refused:
        committee(Bad()).remover()(["Ana is in"])
    assert "Ana" not in str(refused.value)


def tagged_notes():
    return Corpus(replace(one, pos=((0, len(one.text.split()[0]), "FIRST"),)) for one in notes(2))


def test_who_learnt_from_tags_is_given_them():
    training = TrainingText.of(tagged_notes())
    assert training.space.tags == ("FIRST",)
    svm = SVM().fit(training.examples(training.truth * 0, np.ones(2)), seed=1)
    remover = committee(svm, training=training).remover()
    documents = [Document("Ana Patient", pos=((0, 3, "NEW"), (4, 11, "FIRST"))), Document(" ")]
    assert remover(documents).tokens.tag.tolist() == [1, 0]
    weights = np.zeros((len(training.space.columns), 1), np.float32)
    tags = training.space.by_block[11]
    weights[tags[0]] = 1
    scores = []

    @dataclass(frozen=True)
    class Scoring:
        def margins(self, sight):
            scores.extend(sight.scores(weights)[:, 0].tolist())
            return np.full((len(sight.words), 2), -1.0)

    committee(Scoring(), training=training).remover()(documents)
    assert scores == [0, 1]
    for untagged in ("Patient Ana", Document("Patient Ana")):
        with pytest.raises(RequestError, match="learnt from parts of speech"):
            remover([documents[0], untagged])


def test_a_mark_has_no_part_of_speech():
    tokens = TrainingText.of(tagged_notes()).tokens
    gone = np.arange(len(tokens)) % 2
    shown = put_marks(tokens, gone.astype(np.int16), np.array([0], dtype=np.int32))
    assert set(tokens.tag[gone > 0].tolist()) == {-1, 0}
    assert set(shown.tag[gone > 0].tolist()) == {-1}
    assert shown.tag[gone == 0].tolist() == tokens.tag[gone == 0].tolist()


def test_who_learnt_from_none_looks_at_none():
    remover = committee(*SVMS).remover()
    plain = remover(["Patient Ana"])
    tagged = remover([Document("Patient Ana", pos=((0, 7, "X"),))])
    assert tagged.type.tolist() == plain.type.tolist()


def test_a_part_of_a_committee_and_what_it_cuts_with():
    made = replace(committee(*SVMS), tokeniser=lambda text: [(0, len(text))])
    assert len(made.first(1).members) == 1
    assert TokenRemover(made.first(1))(["Ana is in"]).tokens.forms[-1] == "Ana is in"
