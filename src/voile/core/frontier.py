"""Find the policies that no other policy beats in both risk and loss (Def. 3.9), and choose one.

Xia, Heatherly, Ding, Li, Malin, "Efficient Discovery of De-identification Policies Through a
Risk-Utility Frontier", CODASPY 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.drawn import NotebookDrawing
from voile.core.errors import InfeasibleError, RequestError

Policies = NDArray[Any] | Callable[[NDArray[np.intp]], NDArray[Any]]


@dataclass(frozen=True)
class FrontierPoint:
    """One policy of a frontier, with its `index` in the frontier, its `risk` and its `loss`."""

    index: int
    risk: float
    loss: float
    policy: Any


@dataclass(frozen=True, eq=False)
class Frontier(NotebookDrawing):
    """The policies that no other policy beats. Build a frontier with `Frontier.of`.

    Parameters
    ----------
    risk, loss : (m,) float64 in [0, 1], read-only. The risk increases strictly, and the loss
        decreases strictly.
    policies : (m, ...) array. Row i is the policy of point i.
    """

    risk: NDArray[np.float64]
    loss: NDArray[np.float64]
    policies: NDArray[Any]

    def __repr__(self) -> str:
        return f"Frontier({len(self)} policies)"

    @classmethod
    def of(cls, risk: ArrayLike, loss: ArrayLike, policies: Policies) -> Frontier:
        """Build the frontier of the points that no other point strictly dominates.

        One point dominates another if neither its risk nor its loss is higher, and one of them is
        lower. If several points are equal in both, the first is kept.

        Parameters
        ----------
        risk, loss : (m,) numbers in [0, 1].
        policies : (m, ...) array, or a function that returns the rows with given indices. With a
            function, only the kept rows need to exist.

        Raises
        ------
        RequestError : a number is NaN or outside [0, 1], or the lengths differ.

        Cost: O(m log m). A million points take less than a second.

        >>> frontier = Frontier.of([.5, .2, .5, 1], [.4, .7, .6, 0], np.array(list("abcd")))
        >>> frontier.risk.tolist(), frontier.policies.tolist()
        ([0.2, 0.5, 1.0], ['b', 'a', 'd'])
        """
        risks, losses = _numbers(risk, "risk"), _numbers(loss, "loss")
        if len(risks) != len(losses):
            raise RequestError(
                f"there are {len(risks)} risks and {len(losses)} losses",
                instead="give one loss for each risk",
            )
        if not callable(policies) and len(policies) != len(risks):
            raise RequestError(
                f"there are {len(risks)} points and {len(policies)} policies",
                instead="give one policy for each point",
            )
        kept = _find_undominated(risks, losses)
        rows = policies(kept) if callable(policies) else np.asarray(policies)[kept]
        return cls(_frozen(risks[kept]), _frozen(losses[kept]), _frozen(rows))

    def __len__(self) -> int:
        return len(self.risk)

    def merge(self, other: Frontier) -> Frontier:
        """Return the frontier of the points of both.

        If two points are equal, keep the one of `self`.
        """
        return Frontier.of(
            np.concatenate([self.risk, other.risk]),
            np.concatenate([self.loss, other.loss]),
            np.concatenate([self.policies, other.policies]),
        )

    def point(self, index: int) -> FrontierPoint:
        """Return one point. A negative index counts from the end."""
        index = range(len(self))[index]
        return FrontierPoint(
            index, float(self.risk[index]), float(self.loss[index]), self.policies[index]
        )

    def area(self, *, log: bool = False, least_risk: float = 1e-4) -> float:
        """Return the area under the staircase in [0, 1]^2.

        Lower is better, and an empty frontier gives 1.

        At each risk, the height is the least loss of any policy with no higher risk. Below the
        lowest risk of the frontier, the height is 1.

        Parameters
        ----------
        log : whether to measure along log10(risk) from `least_risk` to 1, divided by that length.
            Low risks, which the plain area hides, then count as much.
        least_risk : the start of the logarithmic axis, in (0, 1). A policy of lower risk is placed
            at this end.

        >>> Frontier.of([.25, 1], [.5, 0], np.zeros((2, 1))).area()
        0.625
        >>> Frontier.of([.01, 1], [.5, 0], np.zeros((2, 1))).area(log=True)
        0.75
        """
        if not 0 < least_risk < 1:
            raise RequestError(
                "least_risk must be between 0 and 1", instead="give a risk between 0 and 1"
            )
        x = self.risk
        if log:
            x = 1 - np.log10(np.maximum(x, least_risk)) / np.log10(least_risk)
        steps = np.diff(np.concatenate([[0.0], x, [1.0]]))
        heights = np.concatenate([[1.0], self.loss])
        return float((steps * heights).sum())  # the sum of @ depends on the number of threads

    def at(self, *, risk: float | None = None, loss: float | None = None) -> FrontierPoint:
        """Return the point of least loss with a risk of at most `risk`, or the reverse for `loss`.

        Raises
        ------
        InfeasibleError : no point is within the limit. The error contains the closest point.
        RequestError : not exactly one limit was given, or it is NaN.

        >>> Frontier.of([.2, .5], [.7, .4], np.array(["a", "b"])).at(risk=.3)
        FrontierPoint(index=0, risk=0.2, loss=0.7, policy=np.str_('a'))
        """
        limit = risk if loss is None else loss
        if (
            not isinstance(limit, int | float | np.number)
            or (risk is not None and loss is not None)
            or np.isnan(limit)
        ):
            raise RequestError(
                "a choice needs either a largest risk or a largest loss",
                instead="give exactly one of the two limits",
            )
        if loss is None:
            index = int(np.searchsorted(self.risk, limit, side="right")) - 1
            found, name, closest = index >= 0, "risk", 0
        else:
            index = int(np.searchsorted(-self.loss, -limit, side="left"))
            found, name, closest = index < len(self), "loss", len(self) - 1
        if not found:
            raise self._infeasible(name, limit, closest)
        return self.point(index)

    def knee(self) -> FrontierPoint:
        """Return the point farthest below the straight line from the first point to the last.

        If several points are equally far, return the first of them. If none lies below the line,
        return the first point of the frontier.

        Raises
        ------
        InfeasibleError : the frontier is empty.

        >>> Frontier.of([0, .1, 1], [1, .2, 0], np.array(["a", "b", "c"])).knee().policy
        np.str_('b')
        """
        if not len(self):
            raise InfeasibleError(
                "an empty frontier has no knee", instead="fit again with weaker constraints"
            )
        across, down = self.risk[-1] - self.risk[0], self.loss[0] - self.loss[-1]
        below = across * (self.loss[0] - self.loss) - down * (self.risk - self.risk[0])
        return self.point(int(np.argmax(below)))

    def dominating(self, risk: float, loss: float) -> NDArray[np.intp]:
        """Return the indices of the points that dominate (`risk`, `loss`)."""
        no_worse = (self.risk <= risk) & (self.loss <= loss)
        return np.flatnonzero(no_worse & ((self.risk < risk) | (self.loss < loss)))

    def frame(self) -> dict[str, NDArray[Any]]:
        """Return a dictionary of the columns `index`, `risk` and `loss`, for any frame library."""
        return {"index": np.arange(len(self)), "risk": self.risk, "loss": self.loss}

    def _infeasible(self, name: str, limit: float, closest: int) -> InfeasibleError:
        what = f"no policy has a {name} of at most {limit:.6g}"
        if not len(self):
            return InfeasibleError(what, instead="the frontier is empty")
        point = self.point(closest)
        closest_is = f"the closest has risk {point.risk:.6g} and loss {point.loss:.6g}"
        return InfeasibleError(what, instead=closest_is)


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise RequestError(
            f"{name} has {numbers.ndim} dimensions, and must have one",
            instead=f"pass {name} as a flat array",
        )
    wrong = ~((numbers >= 0) & (numbers <= 1))
    if wrong.any():
        raise RequestError(
            f"{name} is NaN or outside [0, 1]",
            where=f"point {wrong.argmax()}",
            instead=f"give a {name} between 0 and 1",
        )
    return numbers + 0.0  # a copy, and -0.0 becomes 0.0


def _find_undominated(risk: NDArray[np.float64], loss: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices of undominated points.

    A small sample rejects most points before the sort.
    """
    candidates = np.arange(len(risk))
    if len(risk) > 10_000:
        few = candidates[:: len(risk) // 1_000]
        few = few[_staircase(risk[few], loss[few])]
        left = np.searchsorted(risk[few], risk, side="right")
        least = np.concatenate([[np.inf], loss[few]])[left]
        candidates = np.flatnonzero(loss <= least)
    return candidates[_staircase(risk[candidates], loss[candidates])]


def _staircase(risk: NDArray[np.float64], loss: NDArray[np.float64]) -> NDArray[np.intp]:
    order = np.lexsort((loss, risk))
    least_before = np.concatenate([[np.inf], np.minimum.accumulate(loss[order])])
    return order[loss[order] < least_before[:-1]]


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array = np.array(array)
    array.setflags(write=False)
    return array
