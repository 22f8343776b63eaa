"""A starter: a classifier of names that knows no text of the user's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.documents.committee.worker import in_parts
from voile.documents.learners.consensus import ConsensusClassifier
from voile.documents.learners.reader_head import ReaderClassifier
from voile.documents.replacements.names import Language
from voile.documents.replacements.removal import Reason, Removal, join_removals
from voile.documents.start.rules import MOST_FORMS, NAME, Rules
from voile.documents.start.rules.details import EMAIL
from voile.documents.start.rules.finding import Finding, removals_by_document, tag_tokens
from voile.documents.start.rules.names import TITLE
from voile.documents.text.document import Document
from voile.documents.words.features import Extractor, Features, Space
from voile.documents.words.scorer import Scorer
from voile.documents.words.tokens import HINTS, LINE, Forms, Lists, Tokens, tokenise

CUT = 1 / 11
"""Chance of a name from which a token is proposed: a missed one costs ten harmless ones."""
LIKELY = 0.2
"""A proposal is unlikely if no token of it has a larger chance. It is made as a miss costs so much,
but is mostly harmless: to learn that it is a name, and to cut at that cost again, would weigh the
cost twice."""
ODDS, LIKELY_ODDS = (float(np.log(chance / (1 - chance))) for chance in (CUT, LIKELY))
"""Their logarithms as odds."""
_LOWEST, _HIGHEST = -6.0, 5.0
INNER = ".,-'"
"""Signs that are part of a name between two of its words."""
BY, UNLIKELY = (Reason("starter"),), (Reason("starter", "unlikely"),)


SHORT_CAPITALS = 5
"""Words of so few capitals are abbreviations of tests and drugs more often than organisations."""
PLACE, ORG = "PLACE", "ORG"
HEADS = (NAME, PLACE, ORG)
"""The types of the heads on the reader."""


class Starter:
    """Propose names by the chances that a classifier gives, and what rules find surely.

    On the reader it proposes places and organisations, too.

    Its chances are not calibrated probabilities of another text: they order its tokens, learners
    take their level as a feature, and `propose` cuts them at 1 / 11.
    """

    lists: ClassVar[Lists] = {}  # the classifier has seen them

    def __init__(
        self,
        language: Language,
        space: Space,
        classifier: ConsensusClassifier | ReaderClassifier,
        name: str = "",
    ) -> None:
        self.language, self.name = language, name
        self.space, self.classifier = space, classifier
        self.rules = Rules(language)
        self._begin(Forms())

    def _begin(self, known: Forms) -> None:
        self._known = known
        self._extractor = Extractor(self.space, known)
        self._scorer = Scorer(self._extractor, self.classifier.weights)

    def chances(self, tokens: Tokens) -> NDArray[np.float64]:
        """Return the chance of each token, (n,), to be part of a name. Cost: O(n)."""
        return np.asarray(1 / (1 + np.exp(-self.odds(tokens))))

    def levels(self, tokens: Tokens) -> NDArray[np.int32]:
        """Return each token's level of chance, (n,), from 0 to `HINTS` - 1."""
        bounds = np.linspace(_LOWEST, _HIGHEST, HINTS - 1)
        return np.digitize(self.odds(tokens), bounds).astype(np.int32)

    def odds(self, tokens: Tokens) -> NDArray[np.float64]:
        """Return the log-odds of each token, (n,), to be part of a name. Cost: O(n)."""
        return self._odds(tokens, self.rules.find(tokens))[:, 0]

    def check(self) -> None:
        """Refuse a machine without the reader that this needs."""
        if isinstance(self.classifier, ReaderClassifier):
            self.classifier.open_encoder()

    def propose(self, documents: Sequence[Document]) -> list[list[Removal]]:
        """Return the proposals for each document, in its order and apart.

        They are the runs of likely tokens, and what rules find but for names that are no more than
        possible.
        """
        return [found for part in in_parts(documents) for found in self._proposed(part)]

    def _proposed(self, documents: Sequence[Document]) -> Iterator[list[Removal]]:
        known = self._known if len(self._known) < MOST_FORMS else Forms()
        tokens = tokenise((document.text for document in documents), known)
        found = self.rules.find(tokens)
        odds = self._odds(tokens, found)
        proposed = [self._proposable(tokens, found, odds[:, 0])]
        for kind in range(1, odds.shape[1]):
            proposed.append(_of_kind(tokens, odds, kind) & ~np.any(proposed, axis=0))
        by_rule = removals_by_document(tokens, [one for one in found if one.is_sure])
        for number, rules in enumerate(by_rule):
            start, end = tokens.first[number : number + 2]
            runs = [
                _runs(tokens, np.flatnonzero(which[start:end]) + start, likely, label)
                for which, likely, label in zip(proposed, odds.T > LIKELY_ODDS, HEADS, strict=False)
            ]
            yield join_removals(rules, *runs)

    @staticmethod
    def _proposable(
        tokens: Tokens, found: Sequence[Finding], odds: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which tokens are proposed: not of mail addresses, no titles, signs between words.

        Where a token is beyond doubt a name, a rule says so.
        """
        likely = odds > ODDS
        beside = likely.copy()
        forms, form = tokens.forms, tokens.form
        for one in found:
            if one.rule.label == EMAIL:
                likely[one.start : one.end] = beside[one.start : one.end] = False
            elif one.rule.label == NAME and one.rule.sure:
                beside[one.start : one.end] = True
            if one.rule.name == TITLE:
                before = one.start - 1
                while not forms[form[before]][0].isalnum():
                    before -= 1
                likely[before : one.start] = False
        for place in np.flatnonzero(likely).tolist():
            sign = forms[form[place]]
            if not sign[0].isalnum():
                inner = 0 < place < len(form) - 1 and beside[place - 1] and beside[place + 1]
                likely[place] = inner and sign in INNER
        return np.asarray(likely)

    def _odds(self, tokens: Tokens, found: Sequence[Finding]) -> NDArray[np.float64]:
        if tokens.known is not self._known:
            self._begin(tokens.known)
        seen = tag_tokens(tokens, found, self.space.tags)
        sight = _Sight(self._extractor.features(seen), self._scorer)
        return self.classifier.margins(sight)


class _Sight:
    """What the classifier is shown; see `learners.learner.Sight`."""

    def __init__(self, features: Features, scorer: Scorer) -> None:
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


def _of_kind(tokens: Tokens, odds: NDArray[np.float64], kind: int) -> NDArray[np.bool_]:
    """Return which tokens are likely of a type, and of no other more, with signs between them."""
    words = [form[0].isalnum() for form in tokens.forms]
    short = [form.isupper() and len(form) <= SHORT_CAPITALS for form in tokens.forms]
    fits = np.array(words, np.bool_) & ~np.array(short, np.bool_)
    likely = (odds[:, kind] > LIKELY_ODDS) & (odds.argmax(axis=1) == kind)
    found = likely & fits[tokens.form]
    inner = np.zeros(len(found), dtype=np.bool_)
    inner[1:-1] = found[:-2] & found[2:] & (tokens.gap[2:] < LINE)
    signs = np.array([form in INNER for form in tokens.forms], np.bool_)
    return np.asarray(found | (inner & signs[tokens.form]))


def _runs(
    tokens: Tokens, places: NDArray[np.intp], likely: NDArray[np.bool_], label: str
) -> list[Removal]:
    """Return the removals of neighbouring tokens of a line as one, unlikely if none is likely."""
    if not len(places):
        return []
    begins = np.flatnonzero((np.diff(places, prepend=-2) > 1) | (tokens.gap[places] >= LINE))
    found = []
    for run in np.split(places, begins[1:]):
        by = BY if likely[run].any() else UNLIKELY
        found.append(Removal(int(tokens.starts[run[0]]), int(tokens.ends[run[-1]]), label, by))
    return found
