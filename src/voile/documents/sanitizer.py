"""`GreedySanitizer`: the wing's estimator, one policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.documents.fitting.loop.fits import prepare_fits
from voile.documents.fitting.loop.greedy import sanitize_greedily
from voile.documents.fitting.loop.training import TrainingText, costs_by_type
from voile.documents.learners.learner import TokenLearner
from voile.documents.model.committee.committee import Decision, TokenCommittee
from voile.documents.model.committee.publication import publish_documents
from voile.documents.replacements.published import RemovalReplacer
from voile.documents.replacements.replacer import make_replacer
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, only_annotated
from voile.documents.words.tokens import Tokeniser
from voile.keys.random import RandomState


@dataclass(eq=False, repr=False)
class GreedySanitizer(BaseEstimator):  # type: ignore[misc]
    """Remove identifiers from text until an adversary who learns from the rest finds no more.

    Classifiers are trained again and again on the tokens left. A pass is added as long as it lowers
    T = L FN + C FP, judged on subjects that its learner did not see. This is GreedySanitize,
    Algorithm 1 of Li et al. 2016, cross-fitted.

    Parameters
    ----------
    learners : names (``default``, which is ``reader`` where one is installed, else
        ``consensus``; the paper's ``crf``, ``svm``, ``adaboost``, ``ensemble``,
        ``selection``) or objects of the protocol `voile.documents.learners.learner.TokenLearner`.
        Of several each pass takes the one that lowers T most.
    miss_cost : L/C, how many harmless tokens a missed identifier is worth, above 0; or for each
        type, ``{"NAME": 20, "": 5}``, where "" stands for the rest, 10 unless given.
    cross_fit : folds, 2 or more, by subject or else document; None judges a learner on the text
        that it learnt from, as the paper.
    decision : ``cost`` removes a token where that is worth it by calibrated probabilities;
        ``accuracy`` where the classifier says so, as the paper.
    max_passes : 1 or more.
    random_state : the same seed gives the same committee, on any number of processes.
    n_jobs : processes, as joblib counts them.
    lists : gazetteers, name -> phrases; which of them a word is on is a feature.
    resume : a folder that keeps finished fits; an interrupted fit resumes from there, if
        it is started with the same seed. It reveals the text.
    tokeniser : gives the (start, end) of each token of a text, in the place of voile's rule, e.g.
        `spacy_tokeniser`.

    Attributes
    ----------
    labels_ : the types of identifiers. committee_ : what `sanitize` applies.
    passes_ : the passes that were added. history_ : every turn, with each learner's attempt.
    removed_ : (n,) removals of the annotated documents learnt from, out of fold.
    stopped_ : ``finished``, ``unconfirmed``, ``max passes`` or ``interrupted``.

    Examples
    --------
    >>> from voile.documents import Corpus, Document, GreedySanitizer, Span
    >>> names = "Ana Eva Leo Max Ida Tom Pia Jan".split()
    >>> notes = Corpus(
    ...     Document(f"Patient {a} {b} came on foot , and was well .", (Span(8, 15, "NAME"),))
    ...     for a in names
    ...     for b in names
    ... )
    >>> sanitizer = GreedySanitizer(("svm",), random_state=1).fit(notes)
    >>> sanitizer.sanitize(["Patient Leo Ana came on foot ."])
    ['Patient [NAME] came on foot .']
    """

    learners: Sequence[str | TokenLearner] = ("default",)
    miss_cost: float | Mapping[str, float] = 10
    cross_fit: int | None = 5
    decision: Decision = "cost"
    max_passes: int = 20
    random_state: RandomState = None
    n_jobs: int | None = None
    lists: Mapping[str, Iterable[str]] | None = None
    resume: str | Path | None = None
    tokeniser: Tokeniser | None = None

    def fit(self, corpus: Corpus, y: Any = None) -> GreedySanitizer:
        """Learn a committee from text with spans; documents that are not annotated are left out.

        Cost: for each pass and learner, `cross_fit` + 1 fits. Memory: O(tokens x columns each
        has, about 30).

        Raises
        ------
        RequestError : no identifier in the corpus, fewer subjects than folds, a cost that is not
            above 0, a parameter that is not as described.
        InfeasibleError : too little is left to judge.
        """
        if not isinstance(corpus, Corpus):
            raise RequestError("fit takes a corpus", instead="use Corpus(documents)")
        if self.resume is not None and self.random_state is None:
            raise RequestError("a fit resumes only with its seed", instead="give random_state")
        corpus = Corpus(only_annotated(corpus))
        training = TrainingText.of(corpus, lists=self.lists, tokeniser=self.tokeniser)
        costs = costs_by_type(self.miss_cost, training.labels)
        fits = prepare_fits(
            training,
            self.learners,
            cross_fit=self.cross_fit,
            seed=self.random_state,
            n_jobs=self.n_jobs,
            folder=None if self.resume is None else Path(self.resume),
        )
        loop = sanitize_greedily(
            fits, costs, decision=self.decision, max_passes=self.max_passes, progress=silent
        )
        self.labels_ = training.labels
        self.committee_: TokenCommittee = loop.committee
        self.history_ = loop.passes
        self.passes_ = tuple(one for one in loop.passes if one.taken is not None)
        self.removed_ = loop.removed
        self.stopped_ = loop.stopped
        return self

    def sanitize(self, texts: Any, replace: str | RemovalReplacer = "mark") -> Any:
        """Return the text that the committee leaves: a corpus for a corpus, a list for texts.

        `voile documents apply` also removes phones, addresses and other patterns, listed names,
        and further mentions of a removed name.

        Parameters
        ----------
        texts : a `Corpus`, or strings. In a corpus spans move with their text: those that are
            left are the identifiers that were missed. Where parts of speech were learnt from,
            documents must have them.
        replace : ``mark``, or an object that replaces removed tokens.
        """
        check_is_fitted(self, "committee_")
        return sanitize_texts(self.committee_, texts, replace)


def sanitize_texts(committee: TokenCommittee, texts: Any, how: str | RemovalReplacer) -> Any:
    """Put texts through a committee; see `GreedySanitizer.sanitize`."""
    put = make_replacer(how) if isinstance(how, str) else how
    if isinstance(texts, Corpus):
        return Corpus(publish_documents(committee.remover(), texts, put))
    refused = RequestError("sanitize takes a corpus or a list of texts")
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise refused
    given = list(texts)
    if not all(isinstance(text, str) for text in given):
        raise refused
    plain = [Document(text) for text in given]
    return [one.text for one in publish_documents(committee.remover(), plain, put)]
