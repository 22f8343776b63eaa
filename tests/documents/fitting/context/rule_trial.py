"""How rules mined from some subjects do on others: the experiment behind their thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.documents.fitting.context.pointing_words import outside_removals, value_incidence
from voile.documents.fitting.context.rules import ContextRules
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.corpus import Corpus


@dataclass(frozen=True)
class RuleTrial:
    """How rules do on subjects that they were not mined from."""

    guesses: int  # a value for a subject, by the words left with that subject
    right: int  # guesses of a value that was removed there
    mentions: int  # values removed, counted once for each subject


def try_rules(
    rules: ContextRules,
    corpus: Corpus,
    removals: Sequence[Sequence[TextRemoval]],
) -> RuleTrial:
    """Guess removed values by rules that were mined from other subjects."""
    left = outside_removals(corpus, removals)
    values = {target: place for place, target in enumerate(rules.targets)}
    has_value = value_incidence(left, corpus, removals, values, grow=False)
    places = np.array([left.words.get(word, -1) for word in rules.words], dtype=np.intp)
    met = places >= 0
    pointing = rules.matrix[met]
    guesses = (left.incidence[:, places[met]] @ pointing).astype(np.bool_)
    everything = value_incidence(left, corpus, removals, {}, grow=True)
    return RuleTrial(guesses.nnz, (guesses * has_value.astype(np.bool_)).nnz, everything.nnz)
