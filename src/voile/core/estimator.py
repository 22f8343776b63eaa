"""The methods that scikit-learn's `clone` and parameter searches need, without importing it."""

from __future__ import annotations

from inspect import signature
from typing import Any, Self

from voile.core.errors import RequestError, nearest


class EstimatorParameters:
    """Get and set the parameters of a class with a constructor that only stores them.

    >>> class Shift(EstimatorParameters):
    ...     def __init__(self, days=1):
    ...         self.days = days
    >>> Shift().set_params(days=3).get_params()
    {'days': 3}
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        `deep` has no effect, because no parameter is an estimator.
        """
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and return self.

        Raises
        ------
        RequestError : a name is not a parameter.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise RequestError(
                    f"the estimator has no parameter {name}", instead=nearest(name, known)
                )
            setattr(self, name, value)
        return self
