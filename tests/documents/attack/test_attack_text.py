"""What she reads as labelled tokens: whose it is, what counts, and what she cannot learn from."""

from __future__ import annotations

import numpy as np
from tests.documents.attack.texts import Odds, notes, released

from voile.documents.attack.attack_text import AttackText
from voile.documents.attack.budgeted import BudgetedAttacker
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span


def test_two_texts_share_nobody_though_their_subjects_are_called_alike():
    training, release = notes(4, each=2), notes(3, each=2)
    ground = AttackText.of(release, training, {})
    assert ground.attacked.tolist() == [False] * 8 + [True] * 6
    assert not set(ground.subject[ground.attacked]) & set(ground.subject[~ground.attacked])
    assert len(np.unique(ground.subject)) == 7
    alone = AttackText.of(release, None, {})
    assert len(np.unique(alone.subject)) == 3
    assert alone.attacked.all()


def test_a_word_of_one_person_in_both_texts_is_a_column_though_they_are_called_alike():
    """The only name of each text is one word: two people have it, so that it can be learnt."""
    one, other = (
        Corpus([Document("Zyx came .", (Span(0, 3, "NAME"),), "a", "s0")]) for _ in range(2)
    )
    shared = AttackText.of(one, other, {}).examples.matrix.shape[1]
    assert AttackText.of(one, None, {}).examples.matrix.shape[1] < shared


def test_who_is_called_alike_is_attacked_as_anybody_else():
    truth = notes(24)
    release = released(truth, lambda number, place: place > 0)
    other = Corpus(
        Document(one.text, one.spans, one.id, f"of another house {one.subject}")
        for one in notes(24, names=["Kim", "Zoe", "Ron", "Gus"])
    )
    alike = Corpus(
        Document(one.text, one.spans, one.id, one.subject.rpartition(" ")[2]) for one in other
    )
    found = [
        BudgetedAttacker((Odds(),), random_state=1).attack(release, truth, training=text).findings
        for text in (other, alike)
    ]
    assert found[0] == found[1]
