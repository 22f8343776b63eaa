"""Fit learners on what is left, and never one twice on the same.

Loops for several costs share their first pass; an interrupted loop goes on from a folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.documents.committee import Types
from voile.documents.crossfitting import OutOfFold, cross_fit
from voile.documents.learners import CLASSIFIERS, LEARNERS
from voile.documents.learners.learner import Classifier, Examples, Learner, Saveable
from voile.documents.training import Training
from voile.errors import RequestError, nearest
from voile.io.atomic import write_bytes

Stored = dict[str, NDArray[Any]]


class Fits:
    """What learners found on a training corpus, by what was left of it.

    Parameters
    ----------
    learners : by name. seeds : of each.
    folds : (d,) of the documents; None judges learners on the text that they learnt from.
    n_jobs : processes; what is found does not depend on them.
    folder : where finished fits are kept, None for nowhere. It tells of the text: mode 0700.
    """

    def __init__(
        self,
        training: Training,
        learners: Mapping[str, Learner],
        *,
        seeds: Mapping[str, int],
        folds: NDArray[np.intp] | None,
        n_jobs: int | None = None,
        folder: Path | None = None,
    ) -> None:
        self.training, self.learners, self.seeds = training, learners, seeds
        documents = len(training.tokens.first) - 1
        self.in_sample = folds is None
        self.folds = np.zeros(documents, dtype=np.intp) if folds is None else folds
        self.n_jobs, self.folder = n_jobs, folder
        self._held: dict[str, Stored] = {}
        self._classifiers: dict[str, Classifier] = {}
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def margins(self, examples: Examples, removed: Types) -> dict[str, OutOfFold]:
        """Return every learner's margins on what is left after `removed`, (n,)."""
        keys = {name: self._key(name, "margins", examples, removed) for name in self.learners}
        new = [name for name, key in keys.items() if self._stored(key) is None]
        found = cross_fit(
            [self.learners[name] for name in new],
            examples,
            self.folds,
            seeds=[self.seeds[name] for name in new],
            n_jobs=self.n_jobs,
        )
        for name, margins in zip(new, found, strict=True):
            self._store(keys[name], {"margins": margins})
        fold = np.repeat(self.folds, np.diff(examples.first))
        return {n: OutOfFold(self._held[key]["margins"], fold) for n, key in keys.items()}

    def classifier(self, name: str, examples: Examples, removed: Types) -> Classifier:
        """Return what a learner learns from all that is left after `removed`."""
        key = self._key(name, "classifier", examples, removed)
        if key not in self._classifiers:
            stored = self._stored(key)
            if stored is None:
                fitted = self.learners[name].fit(examples, seed=self.seeds[name])
                if isinstance(fitted, Saveable):
                    self._store(key, {"kind": np.array(kind_of(fitted)), **fitted.to_arrays()})
            else:
                fitted = CLASSIFIERS[str(stored["kind"])].from_arrays(stored)
            self._classifiers[key] = fitted
        return self._classifiers[key]

    def _key(self, name: str, what: str, examples: Examples, removed: Types) -> str:
        """Name a fit by all that it depends on."""
        learner = self.learners[name]
        digest = hashlib.sha256(f"{what} {name} {learner!r} {self.seeds[name]}".encode())
        digest.update(self.folds.tobytes() if what == "margins" else b"")
        for array in (removed, examples.labels, examples.form, examples.first):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update("\0".join(examples.forms).encode())
        if getattr(learner, "cost_sensitive", False):
            digest.update(examples.costs.tobytes())
        return digest.hexdigest()[:32]

    def _stored(self, key: str) -> Stored | None:
        if key not in self._held and self.folder is not None:
            path = self.folder / f"{key}.npz"
            if path.exists():
                with np.load(path, allow_pickle=False) as file:
                    self._held[key] = dict(file)
        return self._held.get(key)

    def _store(self, key: str, arrays: Stored) -> None:
        self._held[key] = arrays
        if self.folder is not None:
            from io import BytesIO

            buffer = BytesIO()
            np.savez(buffer, **arrays)  # type: ignore[arg-type]
            write_bytes(self.folder / f"{key}.npz", buffer.getvalue(), force=True)


def kind_of(classifier: Classifier) -> str:
    """Return the name under which `CLASSIFIERS` lists a classifier."""
    return next(name for name, kind in CLASSIFIERS.items() if type(classifier) is kind)


def learners_of(given: Sequence[str | Learner]) -> dict[str, Learner]:
    """Return learners by their names; a name stands for the learner of `LEARNERS`.

    Raises
    ------
    RequestError : no learner, an unknown name, or two learners of one name.
    """
    found: dict[str, Learner] = {}
    for one in [given] if isinstance(given, str) else given:
        if isinstance(one, str) and one not in LEARNERS:
            raise RequestError(f"there is no learner {one}", instead=nearest(one, LEARNERS))
        learner = LEARNERS[one]() if isinstance(one, str) else one
        if learner.name in found:
            raise RequestError(f"two learners are called {learner.name}", instead="rename one")
        found[learner.name] = learner
    if not found:
        raise RequestError("no learner", instead=f"use {', '.join(LEARNERS)}")
    return found
