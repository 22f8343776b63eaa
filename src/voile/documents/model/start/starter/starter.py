"""A starter: a classifier of names that knows no text of the user's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.documents.model.classifiers.consensus import ConsensusClassifier
from voile.documents.model.classifiers.reader_head import ReaderClassifier
from voile.documents.model.start.rules import LanguageRules
from voile.documents.model.start.rules.details import EMAIL
from voile.documents.model.start.rules.finding import RuleFind, removals_by_document, tag_tokens
from voile.documents.model.start.rules.names import TITLE
from voile.documents.model.start.rules.rule import NAME
from voile.documents.replacements.names import Language
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.text.document import Document, in_parts
from voile.documents.words.decoder import decode_types
from voile.documents.words.features import FeatureExtractor, FeatureSpace, TokenFeatures
from voile.documents.words.scorer import TokenScorer
from voile.documents.words.tokens import (
    HINTS,
    LINE,
    MOST_FORMS,
    Lists,
    TextTokens,
    TokenNumbers,
    tokenise,
)

MISS_COST = 10.0
"""Harmless tokens that a missed token of an identifier is worth where tokens are proposed."""
LIKELY = 0.2
"""A proposal is unlikely if no token of it has a larger chance.

It is made because a miss costs so much, but it is mostly harmless. To learn that it is a name, and
to cut at that cost again, would weigh the cost twice.
"""
LIKELY_ODDS = float(np.log(LIKELY / (1 - LIKELY)))
_LOWEST, _HIGHEST = -6.0, 5.0
BY, UNLIKELY = (RemovalReason("starter"),), (RemovalReason("starter", "unlikely"),)


SHORT_CAPITALS = 5
"""Words of so few capitals are abbreviations of tests and drugs more often than organisations."""
PLACE, ORG = "PLACE", "ORG"
HEADS = (NAME, PLACE, ORG)
"""The types of the heads on the reader."""


class PretrainedStarter:
    """Propose names by a classifier's chances, and the sure finds of rules.

    On the reader it proposes places and organisations, too.

    Its chances are not calibrated probabilities of another text: they order its tokens. Learners
    take their level as a feature, and `propose` decodes spans at `MISS_COST`.
    """

    lists: ClassVar[Lists] = {}  # the classifier has seen them

    def __init__(
        self,
        language: Language,
        space: FeatureSpace,
        classifier: ConsensusClassifier | ReaderClassifier,
        name: str = "",
    ) -> None:
        self.language, self.name = language, name
        self.space, self.classifier = space, classifier
        self.rules = LanguageRules(language)
        self._begin(TokenNumbers())

    def _begin(self, known: TokenNumbers) -> None:
        self._known = known
        self._extractor = FeatureExtractor(self.space, known)
        self._scorer = TokenScorer(self._extractor, self.classifier.weights)

    def chances(self, tokens: TextTokens) -> NDArray[np.float64]:
        """Return the chance of each token, (n,), to be part of a name. Cost: O(n)."""
        return np.asarray(1 / (1 + np.exp(-self.odds(tokens))))

    def levels(self, tokens: TextTokens) -> NDArray[np.int32]:
        """Return each token's level of chance, (n,), from 0 to `HINTS` - 1."""
        bounds = np.linspace(_LOWEST, _HIGHEST, HINTS - 1)
        return np.digitize(self.odds(tokens), bounds).astype(np.int32)

    def odds(self, tokens: TextTokens) -> NDArray[np.float64]:
        """Return the log-odds of each token, (n,), to be part of a name. Cost: O(n)."""
        return self._odds(tokens, self.rules.find(tokens))[:, 0]

    def check(self) -> None:
        """Refuse a machine without the reader that this needs."""
        if isinstance(self.classifier, ReaderClassifier):
            self.classifier.open_encoder()

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the proposals for each document, in its order and apart.

        They are the runs of likely tokens, and what rules find but for names that are no more than
        possible.
        """
        return [found for part in in_parts(documents) for found in self._propose_removals(part)]

    def propose_by_form(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the spans that rules find surely in each document; see `LanguageRules`."""
        return self.rules.propose_by_form(documents)

    def _propose_removals(self, documents: Sequence[Document]) -> Iterator[list[TextRemoval]]:
        known = self._known if len(self._known) < MOST_FORMS else TokenNumbers()
        texts = [document.text for document in documents]
        tokens = tokenise(texts, known)
        found = self.rules.find(tokens)
        odds = self._odds(tokens, found)
        types, _ = decode_types(
            tokens, self._chances(tokens, found, odds), np.full(odds.shape[1], MISS_COST)
        )
        by_rule = removals_by_document(tokens, [one for one in found if one.is_sure], texts)
        for number, (text, rules) in enumerate(zip(texts, by_rule, strict=True)):
            start, end = tokens.first[number : number + 2]
            runs = [
                _runs(tokens, np.flatnonzero(types[start:end] == kind) + start, likely, label)
                for kind, (likely, label) in enumerate(
                    zip(odds.T > LIKELY_ODDS, HEADS, strict=False), 1
                )
            ]
            yield settle_spans(text, rules, *runs)

    @staticmethod
    def _chances(
        tokens: TextTokens, found: Sequence[RuleFind], odds: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the chance of each type, (n, types): none of places that are not likely."""
        chances = 1 / (1 + np.exp(-odds))
        chances[_are_excluded(tokens, found), 0] = 0.0
        short = [form.isupper() and len(form) <= SHORT_CAPITALS for form in tokens.forms]
        chances[:, 1:][odds[:, 1:] <= LIKELY_ODDS] = 0.0
        chances[np.array(short, np.bool_)[tokens.form], 1:] = 0.0
        return np.asarray(chances / np.maximum(chances.sum(axis=1, keepdims=True), 1.0))

    def _odds(self, tokens: TextTokens, found: Sequence[RuleFind]) -> NDArray[np.float64]:
        if tokens.known is not self._known:
            self._begin(tokens.known)
        seen = tag_tokens(tokens, found, self.space.tags)
        sight = _StarterSight(self._extractor.features(seen), self._scorer)
        return self.classifier.margins(sight)


class _StarterSight:
    """The classifier's view of the tokens; see `learners.learner.Sight`."""

    def __init__(self, features: TokenFeatures, scorer: TokenScorer) -> None:
        self._features, self._scorer = features, scorer
        tokens = features.tokens
        self.first, self.form, self.gap = tokens.first, tokens.form, tokens.gap

    @property
    def matrix(self) -> sp.csr_array:
        return self._features.matrix

    @property
    def words(self) -> Sequence[str]:
        forms = self._features.tokens.forms
        return [forms[number] for number in self.form]

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._scorer(self._features)


def _are_excluded(tokens: TextTokens, found: Sequence[RuleFind]) -> NDArray[np.bool_]:
    """Return which tokens are no names by the rules, (n,): mail addresses and titles."""
    excluded = np.zeros(len(tokens), np.bool_)
    forms, form = tokens.forms, tokens.form
    for one in found:
        if one.rule.label == EMAIL:
            excluded[one.start : one.end] = True
        elif one.rule.name == TITLE:
            before = one.start - 1
            while not forms[form[before]][0].isalnum():
                before -= 1
            excluded[before : one.start] = True
    return excluded


def _runs(
    tokens: TextTokens, places: NDArray[np.intp], likely: NDArray[np.bool_], label: str
) -> list[TextRemoval]:
    """Return the removals of neighbouring tokens of a line as one, unlikely if none is likely."""
    if not len(places):
        return []
    begins = np.flatnonzero((np.diff(places, prepend=-2) > 1) | (tokens.gap[places] >= LINE))
    found = []
    for run in np.split(places, begins[1:]):
        by = BY if likely[run].any() else UNLIKELY
        found.append(TextRemoval(int(tokens.starts[run[0]]), int(tokens.ends[run[-1]]), label, by))
    return found
