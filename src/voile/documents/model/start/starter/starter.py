"""A pretrained classifier of names that has not seen the user's text."""

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
"""The cost of a missed identifier token in proposals, in harmless tokens."""
LIKELY = 0.2
"""The probability that at least one token of a likely proposal exceeds.

An unlikely proposal exists because a miss costs so much, but it is mostly harmless. Training on it
as a name, and thresholding at that cost again, would count the cost twice.
"""
LIKELY_ODDS = float(np.log(LIKELY / (1 - LIKELY)))
_LOWEST, _HIGHEST = -6.0, 5.0
BY, UNLIKELY = (RemovalReason("starter"),), (RemovalReason("starter", "unlikely"),)


SHORT_CAPITALS = 5
"""The most capitals of a word that is more often a test or a drug than an organisation."""
PLACE, ORG = "PLACE", "ORG"
HEADS = (NAME, PLACE, ORG)
"""The types of the heads on the reader."""


class PretrainedStarter:
    """A pretrained model that proposes names, together with the sure finds of rules.

    With the reader it also proposes places and organisations. Its probabilities are not calibrated
    for other text, but they rank its tokens. Learners use their level as a feature, and `propose`
    decodes spans at `MISS_COST`.
    """

    lists: ClassVar[Lists] = {}  # the classifier has already used them

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
        """Return the probability that each token is part of a name, (n,). Cost: O(n)."""
        return np.asarray(1 / (1 + np.exp(-self.odds(tokens))))

    def levels(self, tokens: TextTokens) -> NDArray[np.int32]:
        """Return the level of probability of each token, (n,), from 0 to `HINTS` - 1."""
        bounds = np.linspace(_LOWEST, _HIGHEST, HINTS - 1)
        return np.digitize(self.odds(tokens), bounds).astype(np.int32)

    def odds(self, tokens: TextTokens) -> NDArray[np.float64]:
        """Return the log-odds that each token is part of a name, (n,). Cost: O(n)."""
        return self._odds(tokens, self.rules.find(tokens))[:, 0]

    def check(self) -> None:
        """Refuse a machine without the reader that this model needs."""
        if isinstance(self.classifier, ReaderClassifier):
            self.classifier.open_encoder()

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the proposals for each document, ordered and disjoint.

        They are the runs of likely tokens, and the finds of rules except names that are only
        possible.
        """
        return [found for part in in_parts(documents) for found in self._propose_removals(part)]

    def propose_by_form(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the sure spans of rules in each document; see `LanguageRules`."""
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
        """Return the probability of each type, (n, types).

        Unlikely places and organisations have the probability 0.
        """
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
    """The classifier's view of the tokens; see `TokenSight`."""

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
    """Return which tokens are not names by the rules, (n,): e-mail addresses and titles."""
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
    """Join neighbouring tokens of a line to removals, which are unlikely if no token is likely."""
    if not len(places):
        return []
    begins = np.flatnonzero((np.diff(places, prepend=-2) > 1) | (tokens.gap[places] >= LINE))
    found = []
    for run in np.split(places, begins[1:]):
        by = BY if likely[run].any() else UNLIKELY
        found.append(TextRemoval(int(tokens.starts[run[0]]), int(tokens.ends[run[-1]]), label, by))
    return found
