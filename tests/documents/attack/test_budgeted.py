"""The attacker finds what is there, nothing where nothing is, and says how sure that is."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.documents.attack.texts import NAMES, Odds, notes, released

from voile.core.errors import RequestError
from voile.documents.attack.attack_text import AttackText
from voile.documents.attack.budgeted import BudgetedAttacker
from voile.documents.attack.inspection_evidence import InspectionEvidence
from voile.documents.attack.predictions import draw_subjects, rank_quality
from voile.documents.model.start.starter.shipped import load_starter
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.documents.words.tokens import tokenise
from voile.report.wording import format_note, name_of

SOURCES = ("published", "released", "foreign")
OTHERS = notes(12, label="PERSON", names=["Kim", "Zoe", "Ron", "Gus"])


def attacker(labels="published", order="margin", **more):
    return BudgetedAttacker((Odds(),), labels=labels, order=order, random_state=1, **more)


def attacked(release, truth, labels="published", order="margin", inspections=None):
    training = OTHERS if labels == "foreign" else None
    found = attacker(labels, order)
    return found.attack(release, truth, inspections=inspections, training=training)


def rates(evidence):
    return {name_of(finding, "internal"): finding.rate for finding in evidence.findings}


@pytest.mark.parametrize("labels", SOURCES)
def test_of_text_that_was_not_sanitised_she_finds_most(labels):
    truth = notes()
    evidence = attacked(truth, truth, labels)
    left = evidence.curve.x[-1]
    assert evidence.true_positives >= 0.9 * left
    assert evidence.true_positives > 5 * evidence.curves[1].y[-1]


@pytest.mark.parametrize("labels", SOURCES)
def test_where_nothing_is_left_nothing_is_found_and_that_is_not_no_risk(labels):
    truth = notes()
    release = released(truth, lambda number, place: True)
    evidence = attacked(release, truth, labels, inspections=200)
    assert evidence.true_positives == 0
    assert evidence.curve.high[-1] >= 3
    assert any(
        "Nothing found in 200 inspections" in format_note(n, "internal") for n in evidence.notes
    )


@pytest.mark.parametrize("labels", SOURCES)
def test_what_is_left_of_some_names_is_found_and_counted(labels):
    truth = notes(36)
    release = released(truth, lambda number, place: place > 0 or number % 2)
    told = rates(attacked(release, truth, labels, inspections=18))
    left = told["identifiers left, NAME"]
    assert (left.successes, left.trials) == (18, 108)
    assert told["identifiers left that are found, 18 inspections"].value >= 0.8
    if labels != "released":
        people = told["subjects with an identifier left"]
        assert (people.successes, people.trials) == (18, 36)


def test_of_other_published_text_she_learns_and_the_release_is_judged_alone():
    truth, other = notes(24), notes(24, names=NAMES[::-1])
    some = released(other, lambda number, place: place > 0)
    release = released(truth, lambda number, place: place > 0)
    evidence = attacker().attack(release, truth, training=some)
    assert rates(evidence)["subjects with an identifier left"].trials == 24
    assert evidence.true_positives >= 0.8 * 24
    empty = released(other, lambda number, place: True)
    blind = attacker().attack(release, truth, training=empty)
    assert any("no identifier" in note.text for note in blind.notes)
    assert blind.true_positives <= 5


def test_the_starter_ranks_what_is_left_by_its_own_chances():
    """The twin reads the release as a file, ranks its words alone, and counts names by text."""
    truth = notes(24, names=["Kwame", "Abena", "Summer", "Xipe"])
    release = released(truth, lambda number, place: place > 0)
    tokens = tokenise(one.text for one in release)
    words = [tokens.forms[form] for form in tokens.form]
    chances = load_starter("english").chances(tokens)
    ranked = sorted((-x, word) for x, word in zip(chances, words, strict=True) if word != "[NAME]")
    names = {"Kwame", "Abena", "Summer", "Xipe"}
    clear = [n for n in range(1, 80) if ranked[n - 1][0] < ranked[n][0]]  # no draw decides
    for number in clear[:3]:
        hits = sum(word in names for _, word in ranked[:number])
        evidence = BudgetedAttacker((), "starter").attack(release, truth, inspections=number)
        assert evidence.true_positives == hits > 0
    assert evidence.attack == "inspections, ready-made classifier"
    assert load_starter("english").name in str(evidence.notes[0].values)


def test_no_starter_ranks_text_in_another_language():
    text = "El paciente no tiene dolor en los pies ni en la espalda . "
    spanish = Corpus([Document(text * 3, (Span(3, 11, "NAME"),), "1", "1")])
    with pytest.raises(RequestError, match="for Spanish, which the release seems to be in; attack"):
        BudgetedAttacker((), "starter").attack(spanish, spanish)


def test_all_inspections_find_all_that_is_left():
    truth = notes(10)
    release = released(truth, lambda number, place: place == 1)
    tokens = len(tokenise(one.text for one in release))
    for order in ("margin", "paper", "negatives"):
        evidence = attacked(release, truth, order=order, inspections=tokens)
        assert evidence.true_positives == 20
        assert list(evidence.curve.y) == sorted(evidence.curve.y)


def test_marks_are_passed_by():
    truth = notes(10)
    release = released(truth, lambda number, place: place > 0)
    marks = sum(one.text.count("[NAME]") for one in release)
    tokens = len(tokenise(one.text for one in release))
    assert marks == 20
    told = rates(attacked(release, truth, inspections=tokens))
    assert told[f"identifiers found, {tokens} inspections"].trials == tokens - marks


def test_the_reverse_order_finds_less_of_a_good_classifier():
    truth = notes()
    found = [
        attacked(truth, truth, order=order, inspections=72)
        for order in ("margin", "paper", "negatives")
    ]
    margin, paper, negatives = (one.true_positives for one in found)
    assert margin >= paper > negatives


def test_the_random_draw_is_the_expectation():
    truth = notes(10)
    evidence = attacked(truth, truth, inspections=[10, 40])
    tokens = len(tokenise(one.text for one in truth))
    assert evidence.curves[1].y[-1] == pytest.approx(40 * 30 / tokens)
    assert evidence.findings[0].baseline.successes == round(40 * 30 / tokens)


@pytest.mark.whole
@pytest.mark.parametrize("labels", SOURCES)
def test_the_same_seed_gives_the_same_evidence_on_any_number_of_processes(labels):
    truth = notes()
    release = released(truth, lambda number, place: (number + place) % 3 > 0)
    training = OTHERS if labels == "foreign" else None
    told = [
        attacker(labels, order="paper", n_jobs=jobs).attack(
            release, truth, inspections=20, training=training
        )
        for jobs in (1, 1, 2)
    ]
    assert told[0] == told[1] == told[2]


class Wrong:
    """Takes everything for an identifier: the least accurate."""

    name = "wrong"

    def fit(self, examples, *, seed):
        return self

    def margins(self, sight):
        return np.ones((int(sight.first[-1]), 1))


def test_another_seed_draws_anew():
    truth = notes()
    told = {
        BudgetedAttacker((Wrong(),), order="paper", random_state=seed)
        .attack(truth, truth, inspections=100)
        .curve.y
        for seed in range(3)
    }
    assert len(told) > 1


def test_she_takes_the_most_accurate_learner():
    truth = notes()
    found = BudgetedAttacker((Wrong(), Odds()), random_state=1).attack(truth, truth)
    assert {"learners": "odds"} in [note.values for note in found.notes]


def test_of_equally_accurate_ones_she_takes_who_ranks_best():
    truth = notes(4)
    ground = AttackText.of(truth, None, {})
    true = ground.examples.labels - 2.0  # below 0 everywhere: nobody is taken for anybody
    assert rank_quality(true, ground.examples)[0] == rank_quality(-true - 4, ground.examples)[0]
    assert rank_quality(true, ground.examples) > rank_quality(-true - 4, ground.examples)


class Lost(Wrong):
    """Gives no numbers."""

    name = "lost"

    def margins(self, sight):
        return np.full((int(sight.first[-1]), 1), np.nan)


def test_a_learner_that_gives_no_numbers_is_not_taken_and_alone_is_refused():
    truth = notes()
    found = BudgetedAttacker((Lost(), Odds()), random_state=1).attack(truth, truth)
    assert {"learners": "odds"} in [note.values for note in found.notes]
    with pytest.raises(RequestError, match="lost"):
        BudgetedAttacker((Lost(),), random_state=1).attack(truth, truth)


class Watching(Odds):
    """Notes the words that it learns from and those that it looks at."""

    def __init__(self, seen):
        self.__dict__["seen"] = seen

    def fit(self, examples, *, seed):
        return Looking(super().fit(examples, seed=seed), set(examples.words), self.seen)


@dataclass
class Looking:
    fitted: Any
    learnt: set[str]
    seen: list[tuple[set[str], set[str]]]

    def margins(self, sight):
        self.seen.append((self.learnt, set(sight.words)))
        return self.fitted.margins(sight)


@pytest.mark.parametrize("labels", ["published", "released"])
def test_nobody_is_attacked_by_who_learnt_from_them(labels):
    documents = [replace(one, text=one.text + f" code {one.subject} ") for one in notes(12, each=2)]
    truth, seen = Corpus(documents), []
    BudgetedAttacker((Watching(seen),), labels=labels, random_state=1).attack(truth, truth)
    assert len(seen) == 5
    codes = {f"s{number}" for number in range(12)}
    for learnt, looked in seen:
        assert not learnt & looked & codes
        assert (learnt | looked) >= codes


def test_a_share_of_the_subjects_is_drawn_and_never_all():
    ground = AttackText.of(notes(8, each=3), None, {})
    rng = np.random.default_rng(0)
    for share, people in ((0.01, 1), (0.25, 2), (0.5, 4), (0.99, 7)):
        of = ground.subject[draw_subjects(ground, share, rng)]
        assert len(set(of.tolist())) == people
        assert len(of) == 3 * people


@pytest.mark.parametrize("wrong", [["x"], "x", [], 0, [5, -1], 1.5, [True], [None], [[1]]])
def test_inspections_are_whole_numbers(wrong):
    truth = notes(8)
    with pytest.raises(RequestError, match="inspections is a whole number from 1 up"):
        attacked(truth, truth, inspections=wrong)


def test_inspections_may_be_of_any_kind_of_whole_number():
    truth = notes(8)
    asked = (3, [3], (3,), np.int64(3), np.array([3]), range(3, 4))
    found = {attacked(truth, truth, inspections=one).true_positives for one in asked}
    assert found == {3}


def test_evidence_is_read_back():
    truth = notes(8)
    evidence = attacked(truth, truth)
    again = InspectionEvidence.from_json(json.loads(json.dumps(evidence.to_json())))
    assert again == evidence
    assert again.true_positives == evidence.true_positives
    assert again.utility(10) == 10 * evidence.true_positives


def test_evidence_holds_no_word_of_the_text():
    canaries = ["Xanthippe", "Quasimodo", "Zenobia", "Ozymandias"]
    truth = notes(12, names=canaries)
    release = released(truth, lambda number, place: place > 0)
    for labels in ("published", "released", "starter"):
        told = json.dumps(attacked(release, truth, labels).to_json()).casefold()
        assert not any(name.casefold() in told for name in [*canaries, "lungs", "ward"])


def test_where_all_is_marks_there_is_nothing_to_inspect():
    truth = Corpus(
        replace(one, text=one.text[8:11], spans=(replace(one.spans[0], start=0, end=3),))
        for one in notes(4)
    )
    evidence = attacked(released(truth, lambda number, place: True), truth, inspections=5)
    assert evidence.true_positives == 0
    assert evidence.findings[0].rate.trials == 0


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({"labels": "stolen"}, {}),
        ({"order": "alphabet"}, {}),
        ({"labels": "foreign"}, {}),
        ({"labels": "released"}, {"training": OTHERS}),
        ({"labels": "starter"}, {"training": OTHERS}),
        ({"repeats": 0}, {}),
        ({"share": 1.0}, {}),
        ({}, {"inspections": 0}),
        ({}, {"inspections": []}),
    ],
)
def test_settings_that_there_are_not_are_refused(settings, more):
    truth = notes(4)
    with pytest.raises(RequestError):
        attacker(**settings).attack(truth, truth, **more)


@pytest.mark.parametrize("labels", ["published", "released"])
@pytest.mark.parametrize("documents", [0, 1])
def test_one_subject_alone_cannot_be_attacked_by_another(labels, documents):
    truth = notes(documents)
    with pytest.raises(RequestError, match="fewer than two subjects"):
        attacker(labels).attack(truth, truth)


def test_one_subject_can_be_attacked_by_who_learnt_elsewhere():
    truth = notes(1)
    evidence = attacked(truth, truth, "foreign")
    assert evidence.true_positives == 3


def test_no_setting_is_looked_at_before_the_attack():
    assert BudgetedAttacker(labels="nothing").labels == "nothing"
