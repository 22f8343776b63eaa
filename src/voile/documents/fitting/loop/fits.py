"""Fit learners to the remaining tokens, each only once.

Loops for several costs share their first pass. An interrupted loop resumes from a folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from voile.core.version import __version__
from voile.data.files.atomic import write_bytes
from voile.data.files.outputs import OutputKind
from voile.documents.fitting.loop.cross_fitting import OutOfFold
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.cross_fitting import check_shape, cross_fit, drop_rare_columns
from voile.documents.learners.learner import LabelledExamples, TokenLearner
from voile.documents.learners.named_learners import learners_of
from voile.documents.model.classifiers.classifier import (
    Margins,
    SaveableClassifier,
    TokenClassifier,
    check_margins,
)
from voile.documents.model.classifiers.saved import saved_name, saved_type
from voile.documents.model.committee.removals import Types
from voile.keys.random import RandomState, streams

Stored = dict[str, NDArray[Any]]
T = TypeVar("T")
FIT = OutputKind("a finished fit", {"": Path.is_file})
"""A stored fit. Its name is a hash of all its inputs, so no other file has this name."""


class StoredFits:
    """The fits of learners to a training corpus, by its remaining tokens.

    With a `folder`, finished fits are stored there. Its mode is 0700, since it reveals the text. A
    fit is repeated if the stored one is damaged, or if the learner's repr does not identify it.
    Without `folds`, learners are evaluated on their own training text.
    """

    MOST_BYTES = 2**30
    """The most memory for margins. Beyond it, the least recently used margins are dropped."""

    def __init__(
        self,
        training: TrainingText,
        learners: Mapping[str, TokenLearner],
        *,
        seeds: Mapping[str, int],
        folds: NDArray[np.intp] | None,
        n_jobs: int | None = None,
        folder: Path | None = None,
    ) -> None:
        self.training, self.learners, self.seeds = training, learners, seeds
        documents = len(training.tokens.first) - 1
        self.folds = np.zeros(documents, dtype=np.intp) if folds is None else folds
        self.n_jobs, self.folder = n_jobs, None if folder is None else Path(folder)
        self._margins: dict[str, Margins] = {}
        self._classifiers: dict[str, TokenClassifier] = {}
        self._ground = _digest_of(training)
        if self.folder is not None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def margins(
        self,
        examples: LabelledExamples,
        removed: Types,
        fitted: Callable[[int, int], None] = lambda done, total: None,
    ) -> dict[str, OutOfFold]:
        """Return every learner's margins on the tokens that are left after `removed`, (n,)."""
        keys = {name: self._key(name, "margins", examples, removed) for name in self.learners}
        known = {name: self._margins[key] for name, key in keys.items() if key in self._margins}
        new = [name for name in keys if name not in known]
        found = cross_fit(
            [self.learners[name] for name in new],
            examples,
            self.folds,
            seeds=[self.seeds[name] for name in new],
            n_jobs=self.n_jobs,
            least=2,
            store=_FoldParts(self, [(name, keys[name]) for name in new], examples),
            fitted=fitted,
        )
        for name, margins in zip(new, found, strict=True):
            known[name] = check_shape(margins, name, examples)
        self._remember({key: known[name] for name, key in keys.items()})
        fold = np.repeat(self.folds, np.diff(examples.first))
        return {name: OutOfFold(known[name], fold) for name in keys}

    def classifier(self, name: str, examples: LabelledExamples, removed: Types) -> TokenClassifier:
        """Return the classifier that a learner fits to all tokens left after `removed`."""
        key = self._key(name, "classifier", examples, removed)
        if key not in self._classifiers:
            fitted = self.read_stored(name, key, lambda stored: _classifier(stored, name, examples))
            if fitted is None:
                fitted = self.learners[name].fit(drop_rare_columns(examples), seed=self.seeds[name])
                if isinstance(fitted, SaveableClassifier) and saved_name(fitted) is not None:
                    kind = np.array(saved_name(fitted))
                    self.store(name, key, {"kind": kind, **fitted.to_arrays()})
            self._classifiers[key] = fitted
        return self._classifiers[key]

    def _key(self, name: str, what: str, examples: LabelledExamples, removed: Types) -> str:
        learner = self.learners[name]
        parts = (__version__, what, name, type(learner).__module__, learner, self.seeds[name])
        digest = hashlib.sha256(repr(parts).encode())
        digest.update(self._ground)
        digest.update(np.ascontiguousarray(removed).tobytes())
        digest.update(self.folds.tobytes() if what == "margins" else b"")
        digest.update(examples.costs.tobytes() if _looks_at_costs(learner) else b"")
        return digest.hexdigest()[:32]

    def _remember(self, used: Mapping[str, Margins]) -> None:
        for key in used:
            self._margins.pop(key, None)
        self._margins.update(used)
        while sum(margins.nbytes for margins in self._margins.values()) > self.MOST_BYTES:
            del self._margins[next(iter(self._margins))]

    def _path(self, name: str, key: str) -> Path | None:
        """Return the file of a fit; None if another learner may have the same repr."""
        shown = repr(self.learners[name])
        is_distinct = " at 0x" not in shown and "..." not in shown
        return self.folder / f"{key}.npz" if self.folder is not None and is_distinct else None

    def read_stored(self, name: str, key: str, read: Callable[[Stored], T]) -> T | None:
        """Return the result that is stored under a key, if it can be read."""
        path = self._path(name, key)
        if path is None or not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as file:
                return read(dict(file))
        except Exception:  # if the file is damaged, the fit is repeated
            return None

    def store(self, name: str, key: str, arrays: Stored) -> None:
        path = self._path(name, key)
        if path is not None:
            buffer = BytesIO()
            np.savez(buffer, **arrays)  # type: ignore[arg-type]
            write_bytes(path, buffer.getvalue(), FIT, force=True)
            path.chmod(0o600)


class _FoldParts:
    """A store that saves each fold's margins as soon as they are known."""

    def __init__(
        self, fits: StoredFits, keys: Sequence[tuple[str, str]], examples: LabelledExamples
    ) -> None:
        self._fits, self._keys = fits, keys
        sizes = np.bincount(fits.folds, np.diff(examples.first)).astype(int)
        self._shapes = [(size, examples.types) for size in sizes.tolist()]

    def read_margins(self, learner: int, fold: int) -> Margins | None:
        name, key = self._keys[learner]
        shape = self._shapes[fold]
        return self._fits.read_stored(
            name, f"{key}-{fold}", lambda stored: check_margins(stored["margins"], name, shape)
        )

    def write(self, learner: int, fold: int, margins: Margins) -> None:
        name, key = self._keys[learner]
        check_margins(margins, name, self._shapes[fold])
        self._fits.store(name, f"{key}-{fold}", {"margins": margins})


def _digest_of(training: TrainingText) -> bytes:
    """Return a hash that distinguishes a training corpus from others."""
    tokens, space = training.tokens, training.space
    lists = sorted((name, sorted(words)) for name, words in space.lists.items())
    tags = None if tokens.tags is None else tokens.tags.known_words
    parts = (training.labels, training.subject, tokens.forms, tags, space.attributes, lists)
    digest = hashlib.sha256(repr(parts).encode())
    tag, hint = (np.zeros(0) if one is None else one for one in (tokens.tag, tokens.hint))
    for array in (
        tokens.form,
        tokens.gap,
        tokens.first,
        tag,
        hint,
        training.truth,
        training.unknown,
        space.columns,
    ):
        digest.update(array.tobytes())
    return digest.digest()


def _looks_at_costs(learner: TokenLearner) -> bool:
    """Return whether a learner's fit may depend on the costs; without a statement it may."""
    own = getattr(learner, "cost_sensitive", True) or "cost_sensitive=True" in repr(learner)
    return own or any(map(_looks_at_costs, getattr(learner, "learners", ())))


def _classifier(stored: Stored, learner: str, examples: LabelledExamples) -> TokenClassifier:
    classifier = saved_type(str(stored["kind"])).from_arrays(stored)
    none = examples.of(np.zeros(len(examples.first) - 1, dtype=np.bool_))
    check_shape(classifier.margins(none), learner, none)
    return classifier


def prepare_fits(
    training: TrainingText,
    learners: Sequence[str | TokenLearner],
    *,
    cross_fit: int | None,
    seed: RandomState,
    n_jobs: int | None,
    folder: Path | None = None,
) -> StoredFits:
    """Return the fits of these learners on a training corpus, with random folds and seeds."""
    named = learners_of(learners)
    folding, *drawn = streams(seed, "folds", *(f"learner {name}" for name in named))
    folds = None if cross_fit is None else training.folds(cross_fit, folding)
    seeds = {n: int(rng.integers(2**31)) for n, rng in zip(named, drawn, strict=True)}
    return StoredFits(training, named, seeds=seeds, folds=folds, n_jobs=n_jobs, folder=folder)
