"""Define the analyst's model as a file describes it: an outcome, its predictors and a family."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from voile.core.errors import RequestError, nearest
from voile.core.mistakes import mistakes

Family = Literal["linear", "logistic", "poisson"]
Name = Annotated[str, Field(min_length=1)]


class LinearModel(BaseModel):
    """A generalised linear model: the outcome's mean is a function of a sum over predictors.

    Attributes
    ----------
    outcome : a column that is released unchanged.
    predictors : other columns of the release.
    family : ``linear``, ``logistic`` or ``poisson``.
    positive : the outcome's value that a logistic model predicts. All other values form the other
        class.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: Name
    predictors: Annotated[tuple[Name, ...], Field(min_length=1)]
    family: Family = "linear"
    positive: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> LinearModel:
        columns = [self.outcome, *self.predictors]
        if twice := [name for name in columns if columns.count(name) > 1]:
            raise ValueError(f"{twice[0]} is named twice")
        if (self.positive is None) == (self.family == "logistic"):
            raise ValueError("a logistic model, and no other, names its positive value")
        return self

    @classmethod
    def read_model(cls, described: str | Path | Mapping[str, Any]) -> LinearModel:
        """Read a model from a TOML file or from a mapping with the same content.

        Raises
        ------
        RequestError : the file cannot be read, is not TOML or is not a valid model. The message
            lists all mistakes with their places.
        """
        if isinstance(described, Mapping):
            return cls._of(described, "analysis")
        path = Path(described)
        try:
            said = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise RequestError("the model cannot be read", where=str(path)) from error
        except ValueError as error:
            raise RequestError("the model is not TOML", where=str(path)) from error
        return cls._of(said, str(path))

    @classmethod
    def _of(cls, said: Mapping[str, Any], where: str) -> LinearModel:
        try:
            return cls.model_validate(said)
        except ValidationError as error:
            raise RequestError(mistakes(error), where=where) from None

    def check(self, columns: Sequence[str], released_as_is: Sequence[str]) -> None:
        """Raise an error unless the release has the model's columns and an unchanged outcome.

        Raises
        ------
        RequestError : a column of the model is not released, or the outcome is generalised.
        """
        for name in (self.outcome, *self.predictors):
            if name not in columns:
                raise RequestError(
                    f"the model's column {name} is not released", instead=nearest(name, columns)
                )
        if self.outcome not in released_as_is:
            raise RequestError(
                f"the outcome {self.outcome} is generalised",
                where="model",
                instead="an outcome is a column of role sensitive, label or keep",
            )
