"""Use the user's own trained model as a learner, with regressions on the user's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from voile.documents.learners.learner import LabelledExamples
from voile.documents.learners.regressions import fit_regressions
from voile.documents.model.classifiers.external import ModelClassifier, odds_of
from voile.documents.model.classifiers.folders.model_folder import ModelFolder


@dataclass(frozen=True)
class ExternalModel:
    """A model that is not trained further. voile learns only the weights of its odds.

    A logistic regression for each type weighs the log-odds of all types of the model. So the types
    and the confidence of the model need not match those of the text.
    """

    cost_sensitive: ClassVar[bool] = False

    name: str
    model: ModelFolder

    @classmethod
    def of(cls, name: str, folder: str) -> ExternalModel:
        """Open the model of a folder, and return it.

        Raises
        ------
        RequestError : the folder contains no model.
        """
        model = ModelFolder.of(folder)
        model.open()
        return cls(name, model)

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> ModelClassifier:
        odds = odds_of(self.model, examples)
        shape = (len(odds), examples.types, odds.shape[1])
        trust, bias = fit_regressions(np.broadcast_to(odds[:, None], shape), examples)
        return ModelClassifier(self.model, trust, bias)
