"""The finds of rules, as proposals and as tags for a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from voile.documents.model.start.rules.forms import FORMS, LISTS
from voile.documents.model.start.rules.rule import NAME, LetterRule
from voile.documents.patterns.pattern import find
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.words.decoder import join_tokens
from voile.documents.words.guarded import find_guarded
from voile.documents.words.tokens import NOWHERE, TextTokens, TokenNumbers


class RuleFind(NamedTuple):
    """A rule's find: its first token, and the token after its last one."""

    rule: LetterRule
    start: int
    end: int

    @property
    def is_sure(self) -> bool:
        """Whether there is more evidence than the look of a name."""
        return self.rule.sure or self.rule.label != NAME


def removals_by_document(
    tokens: TextTokens, found: Sequence[RuleFind], texts: Sequence[str]
) -> list[list[TextRemoval]]:
    """Return the finds of rules and forms in each text, ordered and disjoint.

    Guarded words at the ends of a find are excluded. If finds overlap, rules for other types
    precede rules for names, in their order, since streets and hospitals are named after persons.
    """
    guarded = find_guarded(tokens, join_tokens(tokens))
    details: list[dict[str, list[TextRemoval]]] = [{} for _ in tokens.first[1:]]
    names: list[dict[str, list[TextRemoval]]] = [{} for _ in tokens.first[1:]]
    for one in found:
        inside = np.flatnonzero(~guarded[one.start : one.end]) + one.start
        if not len(inside):
            continue
        start, end = int(tokens.starts[inside[0]]), int(tokens.ends[inside[-1]])
        removal = TextRemoval(start, end, one.rule.label, (one.rule.by,))
        by_rule = (names if one.rule.label == NAME else details)[tokens.document[one.start]]
        by_rule.setdefault(one.rule.name, []).append(removal)
    return [
        settle_spans(text, find(text, FORMS), *own.values(), find(text, LISTS), *of_people.values())
        for text, own, of_people in zip(texts, details, names, strict=True)
    ]


def tag_tokens(tokens: TextTokens, found: Sequence[RuleFind], names: Sequence[str]) -> TextTokens:
    """Return the tokens tagged with the first named rule that finds each of them."""
    tags = TokenNumbers()
    numbers = dict(zip(names, tags.number(names), strict=True))
    tag = np.full(len(tokens), NOWHERE, dtype=np.int32)
    for one in reversed(found):
        if one.rule.name in numbers:
            tag[one.start : one.end] = numbers[one.rule.name]
    return replace(tokens, tag=tag, tags=tags)
