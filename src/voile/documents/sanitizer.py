"""The estimator `GreedySanitizer`, which fits and applies one policy."""

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
    """An estimator that removes identifiers until a learning adversary finds no more.

    Classifiers are trained repeatedly on the remaining tokens. A pass is added as long as it lowers
    T = L FN + C FP, estimated on subjects that its learner did not see. This is GreedySanitize,
    Algorithm 1 of Li et al. 2016, with cross-fitting.

    Parameters
    ----------
    learners : names or objects with the protocol `voile.documents.learners.learner.TokenLearner`.
        Names are ``default`` (``reader`` if it is installed, else ``consensus``), and the paper's
        ``crf``, ``svm``, ``adaboost``, ``ensemble``, ``selection``. Each pass uses the learner that
        lowers T most.
    miss_cost : L/C, the cost of a missed identifier in harmless tokens, above 0. It may differ by
        type, as in ``{"NAME": 20, "": 5}``, where "" means all other types, with a default of 10.
    cross_fit : the number of folds, at least 2, by subject or else by document. None evaluates a
        learner on its own training text, like the paper.
    decision : ``cost`` minimises the expected cost by calibrated probabilities; ``accuracy`` uses
        the classifier's own label, like the paper.
    max_passes : the most passes, at least 1.
    random_state : the same seed gives the same committee, with any number of processes.
    n_jobs : the number of processes, as in joblib.
    lists : gazetteers, name -> phrases. The gazetteers that contain a word are features of it.
    resume : a folder for finished fits. An interrupted fit resumes from it, if it has the same
        seed. The folder reveals the text.
    tokeniser : a function that returns the (start, end) of each token of a text, instead of voile's
        rule, e.g. `spacy_tokeniser`.

    Attributes
    ----------
    labels_ : the types of identifiers.
    committee_ : the committee that `sanitize` applies.
    passes_ : the passes that were added.
    history_ : every turn, with each learner's attempt.
    removed_ : (n,), the removals of the annotated training documents, out of fold.
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
        """Train a committee on text with spans. Documents without annotations are ignored.

        Cost: `cross_fit` + 1 fits for each pass and learner. Memory: O(tokens x columns of a token,
        about 30).

        Raises
        ------
        RequestError : the corpus contains no identifier, there are fewer subjects than folds, a
            cost is not above 0, or another parameter is invalid.
        InfeasibleError : too little text is left for an estimate.
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
        """Return the text that the committee leaves: a corpus for a corpus, and a list for strings.

        In contrast, `voile documents apply` also removes phones, addresses and other patterns,
        listed names, and further mentions of a removed name.

        Parameters
        ----------
        texts : a `Corpus`, or strings. In a corpus, spans move with their text, and the remaining
            spans are the missed identifiers. Documents must have parts of speech if the committee
            learned from them.
        replace : ``mark``, or an object that replaces removed tokens.
        """
        check_is_fitted(self, "committee_")
        return sanitize_texts(self.committee_, texts, replace)


def sanitize_texts(committee: TokenCommittee, texts: Any, how: str | RemovalReplacer) -> Any:
    """Apply a committee to texts; see `GreedySanitizer.sanitize`."""
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
