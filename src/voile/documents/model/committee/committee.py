"""H, a committee of token classifiers, each trained on the text that the earlier ones left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.documents.model.classifiers.calibration import IsotonicCalibration
from voile.documents.model.classifiers.classifier import Margins, TokenClassifier, check_margins
from voile.documents.model.committee.removals import TokenRemovals, Types
from voile.documents.replacements.marks import mark
from voile.documents.text.document import Document
from voile.documents.words import tokens as words
from voile.documents.words.decoder import decode_types
from voile.documents.words.features import FeatureExtractor, FeatureSpace, TokenFeatures
from voile.documents.words.scorer import TokenScorer

Bools = NDArray[np.bool_]


Decision = Literal["cost", "accuracy"]


SURE = 2 / 3
"""The probability above which a removed token is surely an identifier."""


class DecidedTokens(NamedTuple):
    """The decisions about some tokens: which are removed, and how certainly."""

    types: Types  # (n,) the type of each removed token, 0 where it stays
    sure: NDArray[np.bool_]  # (n,) whether the token is surely an identifier of any type, by `SURE`

    @classmethod
    def by_own_rule(cls, margins: Margins) -> DecidedTokens:
        types = types_by_own_rule(margins)
        return cls(types, types > 0)

    @classmethod
    def by_cost(
        cls,
        tokens: words.TextTokens,
        probabilities: NDArray[np.float64],
        costs: NDArray[np.float64],
        left: NDArray[np.bool_] | None = None,
    ) -> DecidedTokens:
        types, chances = decode_types(tokens, probabilities, costs, left)
        return cls(types, chances > SURE)


@dataclass(frozen=True, eq=False)
class CommitteeMember(BriefRepr):
    """A classifier of a committee, and its rule of decision."""

    shows = ("learner",)

    learner: str  # the name of the learner
    classifier: TokenClassifier
    calibration: IsotonicCalibration | None
    # ``cost`` minimises the expected cost by the calibrated probabilities; ``accuracy`` uses the
    # classifier's own rule
    decision: Decision

    def decide_tokens(
        self, tokens: words.TextTokens, margins: Margins, costs: NDArray[np.float64], left: Bools
    ) -> DecidedTokens:
        """Decide for each token by its margins; `left` are the tokens not removed before, (n,)."""
        if self.decision == "accuracy" or self.calibration is None:
            return DecidedTokens.by_own_rule(margins)
        return DecidedTokens.by_cost(tokens, self.calibration.probabilities(margins), costs, left)


def types_by_own_rule(margins: Margins) -> Types:
    """Return the type of the highest margin if it is positive, else 0; (n,)."""
    best = np.argmax(margins, axis=1)
    highest = margins[np.arange(len(margins)), best]
    return np.where(highest > 0, best + 1, 0).astype(np.int16)


@dataclass(frozen=True, eq=False)
class TokenCommittee(BriefRepr):
    """A policy for documents: the members remove tokens, one after the other."""

    labels: tuple[str, ...]  # (T,) the types of identifiers
    # (T,) the cost of a missed identifier of each type, in harmless tokens
    costs: NDArray[np.float64]
    space: FeatureSpace  # the features that all members share
    members: tuple[CommitteeMember, ...]  # in the order of their passes
    tokeniser: words.Tokeniser | None = None  # a tokeniser that replaces voile's rule
    hinter: words.TokenHinter | None = None  # a source of levels that was trained on other text

    def remover(self) -> TokenRemover:
        return TokenRemover(self)

    def first(self, members: int) -> TokenCommittee:
        """Return the committee after the given number of passes."""
        return replace(self, members=self.members[:members])


class TokenRemover:
    """A committee that processes batches of text, and each distinct form once."""

    MOST_FORMS = words.MOST_FORMS
    MOST_BYTES = 2**28
    """The most forms in memory, and the most memory for the members' tables.

    Beyond it both are cleared.
    """

    def __init__(self, committee: TokenCommittee) -> None:
        self._committee = committee
        self.labels = committee.labels
        self.learners = [one.learner for one in committee.members]
        self._begin()

    def _begin(self) -> None:
        self._known, self._tags = words.TokenNumbers(), words.TokenNumbers()
        self._tags.number(self._committee.space.tags)
        self._marks = number_marks(self._known, self._committee.labels)
        self._extractor = FeatureExtractor(self._committee.space, self._known)
        self._scorers: dict[int, TokenScorer] = {}

    def __call__(self, texts: Iterable[str | Document]) -> TokenRemovals:
        return self.of(self._tokens(texts))

    def score_tokens(
        self, texts: Iterable[str | Document], *, unknown: float
    ) -> tuple[words.TextTokens, NDArray[np.float64]]:
        """Return the tokens, and the first member's probability that each identifies a person.

        The probability has the shape (n,). For a member without a calibration it is the logistic
        function of the highest margin. Without members it is `unknown`.
        """
        tokens = self._tokens(texts)
        if not self._committee.members:
            return tokens, np.full(len(tokens), unknown)
        first = self._committee.members[0]
        sight = CommitteeSight(self._extractor.features(tokens), self)
        margins = np.asarray(first.classifier.margins(sight), dtype=np.float64)
        check_margins(margins, first.learner, (len(tokens), len(self.labels)))
        if first.calibration is not None:
            return tokens, first.calibration.probabilities(margins).sum(axis=1)
        return tokens, 1 / (1 + np.exp(-np.clip(margins.max(axis=1), -30, 30)))

    def _tokens(self, texts: Iterable[str | Document]) -> words.TextTokens:
        held = sum(scorer.bytes for scorer in self._scorers.values())
        if len(self._known) > self.MOST_FORMS or held > self.MOST_BYTES:
            self._begin()
        documents = [Document(one) if isinstance(one, str) else one for one in texts]
        tokens = words.tokenise(
            (one.text for one in documents), self._known, self._committee.tokeniser
        )
        if self._committee.space.tags:
            check_tagged(documents)
            tokens = words.add_tags(tokens, documents, self._tags)
        return words.add_hints(tokens, self._committee.hinter)

    def of(self, tokens: words.TextTokens) -> TokenRemovals:
        """Return the removals of tokens that use this remover's numbering of forms."""
        types = np.zeros(len(tokens), dtype=np.int16)
        member = np.full(len(tokens), -1, dtype=np.int16)
        sure = np.zeros(len(tokens), dtype=np.bool_)
        sight = CommitteeSight(self._extractor.features(tokens), self)
        for number, one in enumerate(self._committee.members):
            margins = one.classifier.margins(sight)
            check_margins(margins, one.learner, (len(tokens), len(self.labels)))
            found = one.decide_tokens(tokens, margins, self._committee.costs, types == 0)
            new = (found.types > 0) & (types == 0)
            types[new], member[new], sure[new] = found.types[new], number, found.sure[new]
            if new.any():
                left = put_marks(tokens, types, self._marks)
                sight = CommitteeSight(self._extractor.features(left), self)
        return TokenRemovals(tokens, types, member, sure)

    def scorer(self, weights: NDArray[np.float32]) -> TokenScorer:
        # a scorer keeps its weights alive, so their id is unique
        if id(weights) not in self._scorers:
            self._scorers[id(weights)] = TokenScorer(self._extractor, weights)
        return self._scorers[id(weights)]


def check_tagged(documents: Iterable[Document]) -> None:
    """Refuse a text without parts of speech."""
    if not all(one.pos or not one.text.strip() for one in documents):
        raise RequestError(
            "the committee learnt from parts of speech, and a text has none",
            instead="add them as in training, or train without",
        )


def number_marks(known: words.TokenNumbers, labels: Sequence[str]) -> NDArray[np.int32]:
    """Return the numbers of the marks of all types, (T,)."""
    return np.array(known.number(map(mark, labels)), dtype=np.int32)


def put_marks(tokens: words.TextTokens, types: Types, marks: NDArray[np.int32]) -> words.TextTokens:
    """Return the tokens with marks in place of removed tokens."""
    gone = types > 0
    if not gone.any():
        return tokens
    form = tokens.form.copy()
    form[gone] = marks[types[gone] - 1]
    tag, hint = (
        None if one is None else np.where(gone, -1, one).astype(np.int32)
        for one in (tokens.tag, tokens.hint)
    )
    return replace(tokens, form=form, tag=tag, hint=hint)


@dataclass(frozen=True, eq=False)
class CommitteeSight:
    """A committee's view of the tokens for its classifiers; see `TokenSight`."""

    features: TokenFeatures
    remover: TokenRemover

    @property
    def first(self) -> NDArray[np.intp]:
        """The first token of each document, (d + 1,)."""
        return self.features.tokens.first

    @property
    def matrix(self) -> sp.csr_array:
        return self.features.matrix

    @cached_property
    def words(self) -> Sequence[str]:
        forms = self.features.tokens.forms
        return [forms[number] for number in self.features.tokens.form]

    @property
    def form(self) -> NDArray[np.int32]:
        """The numbers of the forms, (n,)."""
        return self.features.tokens.form

    @property
    def gap(self) -> NDArray[np.uint8]:
        """The gap before each token, (n,)."""
        return self.features.tokens.gap

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return ``matrix @ weights`` without computing the matrix."""
        return self.remover.scorer(weights)(self.features)
