"""The joint figures of a written release, at perfect detection and at the recall that was measured.

Of a person of whose age a text was seen to speak m times, and of whose mentions a kit misses the
share q, a mention is taken to be left with the chance 1 - (1 - q)^m. Where a person has a text, m
is at least 1: a kit that sees nothing proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.data import Source, open_source
from voile.documents.replacements.kinds import kind_of
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import ROW, ROWS
from voile.study.risk.joint import Chance, JointRisk
from voile.study.text.mentions import Rules
from voile.tables.verbs.content import Content

Floats = NDArray[np.float64]
MATCHES = ("table", "joint", "joint_at_recall")
"""Figures that are expected matches."""


def measure(
    kit: Kit,
    chosen: Chosen,
    source: Source,
    private: Path,
    rules: Rules,
    counted: Iterable[Mapping[str, Counter[str]]],
    miss: float,
    guessed: Iterable[str] = (),
) -> dict[str, float]:
    """Return the expected matches of the table alone, and of all parts, over released subjects.

    Parameters
    ----------
    private : the private folder of the table. counted : of each part, each person's mentions.
    miss : the share of mentions that the notes' kits leave. guessed : columns that a classifier
    guesses from the texts: they count as known.
    """
    content = Content.of(kit)
    space, policy = content.space, content.family.read(chosen.policy)
    numbers = open_source(private / ROWS).read([ROW]).column(0).combine_chunks()
    table = source.read([*space.quasi, str(content.roles.subject)]).take(numbers)
    codes = np.column_stack([d.codes(table.column(d.column)) for d in space.domains])
    people = [rules.shown.name_of(str(one)) for one in table.column(-1).to_pylist()]
    judged = JointRisk(space, policy)
    at, weights = judged.places(codes), _one_a_person(people)
    kept = {x.column: 1.0 for x in rules.mentions.values() if x.keep and x.column}
    kept |= dict.fromkeys(guessed, 1.0)
    columns: dict[str, Chance] = {
        x.column: _left(people, counted, {label}, miss)
        for label, x in rules.mentions.items()
        if x.column and not x.keep
    }
    named = _left(people, counted, _names(counted), miss)
    found = judged.each({**columns, **kept}, at)
    return {
        "subjects": float(weights.sum()),
        "table": float(weights @ judged.each({}, at)),
        "joint": float(weights @ judged.each(kept, at)),
        "joint_at_recall": float(weights @ (named + (1 - named) * found)),
        "left_named": float(weights @ named),
    }


def _one_a_person(people: list[str]) -> Floats:
    """Return the share of its person that each row is."""
    rows = Counter(people)
    return np.array([1 / rows[one] for one in people])


def _names(counted: Iterable[Mapping[str, Counter[str]]]) -> set[str]:
    """Return the types of names that were found."""
    labels = {label for part in counted for mentions in part.values() for label in mentions}
    return {label for label in labels if kind_of(label) == "name"}


def _left(
    people: list[str], counted: Iterable[Mapping[str, Counter[str]]], labels: set[str], miss: float
) -> Floats:
    """Return the chance that a mention of some types is left of each row's person."""
    own = [[part[one] for part in counted if one in part] for one in people]
    seen = [max(1, sum(x[n] for x in texts for n in labels)) if texts else 0 for texts in own]
    return np.asarray(1 - (1 - miss) ** np.array(seen, dtype=np.float64))
