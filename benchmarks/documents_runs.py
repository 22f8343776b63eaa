"""Every loop and every rival on the same folds of documents; each fit is made once, and kept.

Fits and outcomes are kept below VOILE_FITS, else in the system's temporary folder, by the code
that made them; what was interrupted goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from benchmarks.documents_data import Source
from numpy.typing import NDArray

from voile import documents
from voile.core.progress import silent
from voile.documents import Corpus
from voile.documents.fitting.loop.cross_fitting import OutOfFold
from voile.documents.fitting.loop.fits import StoredFits, prepare_fits
from voile.documents.fitting.loop.greedy import count_attempt, sanitize_greedily
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.crf import CRF
from voile.documents.learners.ensemble import EnsembleLearner
from voile.documents.learners.learner import LabelledExamples, TokenLearner
from voile.documents.learners.named_learners import LEARNERS
from voile.documents.model.classifiers.classifier import TokenClassifier
from voile.documents.model.committee.committee import CommitteeMember, TokenCommittee
from voile.documents.model.committee.publication import removals_by_text
from voile.documents.model.committee.removals import Types
from voile.documents.sanitizer import GreedySanitizer
from voile.documents.words.subjects import split_into_folds
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import Lists, TextTokens

MISS_COSTS = (1, 2, 5, 10, 20, 50)
FOLDS = 4
PAPERS = ("crf", "svm", "adaboost", "ensemble")
SPACES = (*PAPERS, "selection")
DEFAULT = "default"
MOST = 20
"""Passes of a loop, at most."""

Build = Callable[["Split", float], TokenCommittee]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a committee did to the documents that it was not fitted on, (d,) each.

    Parameters
    ----------
    left, lost : identifiers left, and harmless tokens removed.
    identifiers, tokens : there are. members : who is in the committee.
    removals : (start, end, type) of what is removed of each document.
    """

    left: NDArray[np.int64]
    lost: NDArray[np.int64]
    identifiers: NDArray[np.int64]
    tokens: NDArray[np.int64]
    members: tuple[str, ...]
    removals: list[list[tuple[int, int, str]]]

    def cost(self, miss_cost: float) -> NDArray[np.float64]:
        """T of each document, (d,)."""
        return miss_cost * self.left + self.lost

    @classmethod
    def pooled(cls, parts: Sequence[Outcome]) -> Outcome:
        """Put the folds together; `members` are of the fold with the longest committee."""
        arrays = ("left", "lost", "identifiers", "tokens")
        joined = (np.concatenate([getattr(one, name) for one in parts]) for name in arrays)
        members = max((one.members for one in parts), key=len)
        return cls(*joined, members, [of for one in parts for of in one.removals])


class InSample(StoredFits):
    """Judge every learner on the text that it learnt from, as the paper."""

    def margins(
        self,
        examples: LabelledExamples,
        removed: Types,
        fitted: Callable[[int, int], None] = lambda done, total: None,
    ) -> dict[str, OutOfFold]:
        fold = np.zeros(len(removed), dtype=np.intp)
        return {
            name: OutOfFold(self.classifier(name, examples, removed).margins(examples), fold)
            for name in self.learners
        }


def most_accurate(
    looks: Mapping[str, OutOfFold], tokens: TextTokens, examples: LabelledExamples
) -> str:
    """Return whose own rule errs least."""

    def accuracy(name: str) -> float:
        found = looks[name].decide_tokens(tokens, examples, "accuracy").types
        return count_attempt(name, "accuracy", found, examples).accuracy

    return max(looks, key=accuracy)


class Kept:
    """A CRF that is not fitted twice on the same: what costs weigh in the ensemble is its SVM."""

    def __init__(self, crf: CRF) -> None:
        self.crf, self.name = crf, crf.name
        self._fitted: dict[bytes, TokenClassifier] = {}

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> TokenClassifier:
        digest = hashlib.sha256(examples.labels.tobytes() + examples.form.tobytes()).digest()
        if digest not in self._fitted:
            self._fitted[digest] = self.crf.fit(examples, seed=seed)
        return self._fitted[digest]


def dealt(corpus: Corpus) -> NDArray[np.intp]:
    """Return each document's fold, (d,), by subject."""
    sizes = np.array([len(one.text) for one in corpus])
    return split_into_folds(corpus.subjects, sizes, FOLDS, np.random.default_rng(1))


class Split:
    """One fold held out: the others are what the publisher has annotated.

    Parameters
    ----------
    folder : where fits are kept. public : words by list, which learners see.
    """

    def __init__(
        self, corpus: Corpus, fold: int, folder: Path, *, public: Lists | None = None
    ) -> None:
        folds = dealt(corpus)
        self.test = corpus.subset(np.flatnonzero(folds == fold))
        learnt = corpus.subset(np.flatnonzero(folds != fold))
        self.training = TrainingText.of(learnt, public=public)
        self.labels, self.folder = self.training.labels, folder
        self._kept = Kept(EnsembleLearner().crf)
        self._made: dict[tuple[str, float], TokenCommittee] = {}

    @cached_property
    def none(self) -> Types:
        return np.zeros(len(self.training.tokens), dtype=np.int16)

    def costs(self, miss_cost: float) -> NDArray[np.float64]:
        return np.full(len(self.labels), float(miss_cost))

    def fits(
        self, learners: Sequence[str | TokenLearner], kind: type[StoredFits] = StoredFits
    ) -> StoredFits:
        """Return fits that share what is kept."""
        one = prepare_fits(
            self.training, learners, cross_fit=5, seed=0, n_jobs=1, folder=self.folder
        )
        folds = None if kind is InSample else one.folds
        return kind(self.training, one.learners, seeds=one.seeds, folds=folds, folder=self.folder)

    @cached_property
    def everyone(self) -> StoredFits:
        return self.fits(tuple(dict.fromkeys((*PAPERS, *GreedySanitizer().learners))))

    def loop(self, fits: StoredFits, miss_cost: float, decision: str) -> TokenCommittee:
        """Run Algorithm 1."""
        return sanitize_greedily(
            fits, self.costs(miss_cost), decision=decision, max_passes=MOST, progress=silent
        ).committee

    def one(self, learner: str, miss_cost: float, *, cut: bool) -> TokenCommittee:
        """Fit one learner once, by its own rule or cut at its cost."""
        examples = self.training.examples(self.none, self.costs(miss_cost))
        classifier = self.everyone.classifier(learner, examples, self.none)
        calibration = None
        if cut:
            look = self.everyone.margins(examples, self.none)[learner]
            calibration = look.calibration(examples)
        return self._single(learner, classifier, miss_cost, calibration)

    def costly(self, learner: str, miss_cost: float) -> TokenCommittee:
        """Fit the cost-sensitive variant of a learner, by its own rule."""
        examples = self.training.examples(self.none, self.costs(miss_cost))
        variant = LEARNERS[f"{learner}-cost"]()
        if isinstance(variant, EnsembleLearner):
            variant = EnsembleLearner(crf=self._kept, cost_sensitive=True)  # type: ignore[arg-type]
        return self._single(variant.name, variant.fit(examples, seed=0), miss_cost, None)

    def best(self) -> str:
        """Return the paper's learner that is most accurate out of fold."""
        examples = self.training.examples(self.none, self.costs(1))
        looks = self.everyone.margins(examples, self.none)
        looks = {name: looks[name] for name in PAPERS}
        return most_accurate(looks, self.training.tokens, examples)

    def _single(
        self, learner: str, classifier: TokenClassifier, miss_cost: float, calibration: object
    ) -> TokenCommittee:
        decision = "accuracy" if calibration is None else "cost"
        member = CommitteeMember(learner, classifier, calibration, decision)  # type: ignore[arg-type]
        return TokenCommittee(self.labels, self.costs(miss_cost), self.training.space, (member,))

    def committee(self, method: str, miss_cost: float) -> TokenCommittee:
        """Return what a method of `METHODS` fits."""
        key = (method, 0 if method in FREE else miss_cost)
        if key not in self._made:
            self._made[key] = METHODS[method](self, miss_cost)
        return self._made[key]

    def outcome(self, committee: TokenCommittee) -> Outcome:
        """Try a committee on the documents held out."""
        remover = committee.remover()
        removed = remover(self.test)
        tokens, gone = removed.tokens, removed.type > 0
        truth = token_labels(tokens, self.test, self.labels)

        def count(what: NDArray[np.bool_]) -> NDArray[np.int64]:
            return np.bincount(tokens.document[what], minlength=len(self.test))

        left, lost = count((truth > 0) & ~gone), count((truth == 0) & gone)
        every = count(np.ones(len(truth), dtype=np.bool_))
        members = tuple(one.learner for one in committee.members)
        gone_of = [
            [(one.start, one.end, one.label) for one in of]
            for of in removals_by_text(remover, removed)
        ]
        return Outcome(left, lost, count(truth > 0), every, members, gone_of)


def _methods() -> Iterator[tuple[str, Build]]:
    """Yield every method by its name."""
    yield (
        DEFAULT,
        lambda split, cost: split.loop(split.fits(GreedySanitizer().learners), cost, "cost"),
    )
    for name in PAPERS:
        yield f"{name}, by accuracy", lambda split, cost, n=name: split.one(n, cost, cut=False)
        yield f"{name}, cut at its cost", lambda split, cost, n=name: split.one(n, cost, cut=True)
        yield f"{name}, cost-sensitive", lambda split, cost, n=name: split.costly(n, cost)
    for name in SPACES:
        yield (
            f"loop in sample, {name}",
            lambda split, cost, n=name: split.loop(
                split.fits([split.best() if n == "selection" else n], InSample), cost, "accuracy"
            ),
        )


METHODS: Mapping[str, Build] = dict(_methods())
"""One pass of one learner in three ways, the paper's loop, ours."""
FREE = tuple(name for name in METHODS if name.endswith("by accuracy"))
"""Methods that no miss_cost changes."""


def outcomes(
    sources: Mapping[str, Source], methods: Sequence[str], miss_costs: Sequence[float] = MISS_COSTS
) -> dict[str, dict[tuple[str, float], list[Outcome]]]:
    """Return by source what each method did for each miss_cost, fold by fold."""
    from joblib import Parallel, delayed

    jobs = [(name, fold) for name in sources for fold in range(FOLDS)]
    found = Parallel(n_jobs=2)(
        delayed(_outcomes)(name, sources[name], fold, methods, miss_costs) for name, fold in jobs
    )
    told: dict[str, dict[tuple[str, float], list[Outcome]]] = {name: {} for name in sources}
    for (name, _), part in zip(jobs, found, strict=True):
        for key, outcome in part.items():
            told[name].setdefault(key, []).append(outcome)
    return told


def _outcomes(
    name: str, source: Source, fold: int, methods: Sequence[str], miss_costs: Sequence[float]
) -> dict[tuple[str, float], Outcome]:
    folder = kept_in(name, fold)
    split: Split | None = None
    found = {}
    for method in methods:
        for cost in (0.0,) if method in FREE else miss_costs:
            path = folder / f"{BY_LOOP} {method} {cost:g}.json"
            if not path.exists():
                split = split or Split(source.read(), fold, folder)
                write(path, split.outcome(split.committee(method, cost or 1.0)))
            for one in miss_costs if method in FREE else (cost,):
                found[method, one] = read(path)
    return found


def kept_in(name: str, fold: int) -> Path:
    """Return where the fits of a fold are kept."""
    root = Path(os.environ.get("VOILE_FITS", Path(tempfile.gettempdir()) / "voile-fits"))
    return root / BY_FITS / f"{name.replace('/', '_')} {fold}"


def write(path: Path, outcome: Outcome) -> None:
    told = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(outcome).items()}
    path.with_suffix(".part").write_text(json.dumps(told), encoding="utf-8")
    path.with_suffix(".part").replace(path)


def read(path: Path) -> Outcome:
    told = json.loads(path.read_text(encoding="utf-8"))
    members, removals = tuple(told.pop("members")), told.pop("removals")
    arrays = {k: np.array(v, dtype=np.int64) for k, v in told.items()}
    return Outcome(**arrays, members=members, removals=removals)


def _digest(*parts: str) -> str:
    """Name the code that a result depends on."""
    wing = Path(documents.__file__).parent
    code = hashlib.sha256(Path(__file__).with_name("documents_data.py").read_bytes())
    for path in (path for part in parts for path in sorted(wing.glob(part))):
        code.update(path.read_bytes())
    return code.hexdigest()[:12]


BY_FITS = _digest(
    "words/*.py",
    "learners/*.py",
    "paper/*.py",
    "learning/cross_fitting.py",
    "learning/fits.py",
    "learning/training.py",
)
BY_LOOP = _digest("learning/greedy.py", "committee/committee.py", "sanitizer.py")
