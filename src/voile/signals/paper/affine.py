"""The paper's learned affine maps (Section 5): least mutual information, one class pinned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from voile.core.errors import RequestError, install
from voile.keys.random import RandomState, streams
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.steps import AffineMap
from voile.signals.model.maps.fitted import ClassSample, FittedLaws, normal_law, plain
from voile.signals.paper.objectives import leakage_by

Loss: TypeAlias = Callable[[Floats], float]
REACH = 2.0
POPULATION = 100  # of the genetic algorithm
START = 0.5  # spread of the first steps of CMA-ES


def local(loss: Loss, size: int, evaluations: int, rng: np.random.Generator) -> Floats:
    """Go along one direction after another, from nought (Powell 1964)."""
    from scipy.optimize import minimize  # a third of a second to import

    options = {"maxfev": evaluations}
    bounds = [(-REACH, REACH)] * size
    found = minimize(loss, np.zeros(size), method="Powell", bounds=bounds, options=options)
    return np.asarray(found.x, dtype=np.float64)


def evolution(loss: Loss, size: int, evaluations: int, rng: np.random.Generator) -> Floats:
    """Let a population from all over the range differ and cross (Storn, Price 1997)."""
    from scipy.optimize import differential_evolution

    turns = max(evaluations // (15 * size) - 1, 1)
    bounds = [(-REACH, REACH)] * size
    found = differential_evolution(loss, bounds, maxiter=turns, rng=rng, polish=False)
    return np.asarray(found.x, dtype=np.float64)


def genetic(loss: Loss, size: int, evaluations: int, rng: np.random.Generator) -> Floats:
    """Select in proportion to fitness, cross and mutate, as the paper does (Section 5).

    Fitness is how far one lies below the worst of its generation. Crossover and mutation are
    pymoo's: simulated binary and polynomial (Deb, Agrawal 1995; Deb, Goyal 1996).
    """
    try:
        from pymoo.algorithms.soo.nonconvex.ga import GA
        from pymoo.core.problem import ElementwiseProblem
        from pymoo.core.selection import Selection
        from pymoo.optimize import minimize as evolve
    except ImportError as missing:
        raise _needs("pymoo") from missing

    class Wheel(Selection):  # type: ignore[misc]
        def _do(self, problem: Any, pop: Any, n_select: int, n_parents: int, **kwargs: Any) -> Any:
            bits = pop.get("F")[:, 0]
            fitness = bits.max() - bits + 1e-12
            draw = kwargs["random_state"]
            return draw.choice(len(bits), (n_select, n_parents), p=fitness / fitness.sum())

    class Problem(ElementwiseProblem):  # type: ignore[misc]
        def _evaluate(self, x: Any, out: Any, *args: Any, **kwargs: Any) -> None:
            out["F"] = loss(np.asarray(x, dtype=np.float64))

    found = evolve(
        Problem(n_var=size, n_obj=1, xl=-REACH, xu=REACH),
        GA(pop_size=min(POPULATION, evaluations), selection=Wheel()),
        ("n_eval", evaluations),
        seed=int(rng.integers(1 << 31)),
    )
    return np.asarray(found.X, dtype=np.float64)


def cma(loss: Loss, size: int, evaluations: int, rng: np.random.Generator) -> Floats:
    """Adapt the covariance of the next draws, from nought (Hansen, Ostermeier 2001)."""
    try:
        from cma import CMAEvolutionStrategy
    except ImportError as missing:
        raise _needs("cma") from missing
    options = {
        "bounds": [-REACH, REACH],
        "maxfevals": evaluations,
        "seed": int(rng.integers(1, 1 << 31)),
        "verbose": -9,
    }
    found = CMAEvolutionStrategy(np.zeros(size), START, options).optimize(loss)
    return np.asarray(found.result.xbest, dtype=np.float64)


def _needs(package: str) -> RequestError:
    remedy = f"{install('experiments')}, or use the optimiser local or evolution"
    return RequestError(f"this optimiser needs {package}", where="LearnedAffine", instead=remedy)


OPTIMISERS: Mapping[str, Callable[[Loss, int, int, np.random.Generator], Floats]] = {
    "local": local,
    "evolution": evolution,
    "genetic": genetic,
    "cma": cma,
}


Objective: TypeAlias = Literal["histogram", "mixture", "neighbours"]
Optimiser: TypeAlias = Literal["local", "evolution", "genetic", "cma"]


@dataclass(frozen=True)
class LearnedAffine:
    """Search the z = A x + b per class that reveals least; the commonest class stays as it is.

    Kept to compare with the paper. A is lower triangular with a positive diagonal: among matrices
    that give a normal class the same law, there is one such. Shifts reach two standard deviations
    of the pinned class, scales e^2 times each way.

    Parameters
    ----------
    objective : I(Z; C | S) by one of three estimates. `histogram` is as in the paper (biased up by
        about (bins - 1) (classes - 1) / (2 n ln 2) bits). A `mixture` takes three normals for each
        class. The third is nearest `neighbours`.
    optimiser : `local` is Powell's, from each class's readings as they are. `evolution` is
        differential evolution, with a population from all over the range. `genetic`, as in the
        paper, uses selection in proportion to fitness, crossover and mutation. The fourth is
        `cma`. The last two need pymoo and cma.
    evaluations : most evaluations of the objective, >= 1.

    Guarantee: none on the result's quality; the map is injective.
    """

    objective: Objective = "histogram"
    optimiser: Optimiser = "local"
    evaluations: int = 20_000

    def fit(self, sample: ClassSample, random_state: RandomState) -> FittedLaws:
        """Fit; evaluations times O(n), O(k^2 n) of the mixture, O(k n log n) of neighbours."""
        if self.objective not in get_args(Objective) or self.optimiser not in OPTIMISERS:
            raise RequestError(
                "no such objective or optimiser",
                where="LearnedAffine",
                instead="histogram, mixture or neighbours; local, evolution, genetic or cma",
            )
        sample = sample.add_dither(random_state)
        pinned = int(np.argmax(np.bincount(sample.c)))
        own = sample.X[sample.c == pinned]
        middle, unit = own.mean(axis=0), own.std(axis=0)
        V = ((sample.X - middle) / unit).T
        best = self._search(V, sample, pinned, random_state)
        frame = AffineMap(np.diag(unit), middle)
        frames = tuple(
            one.invert_map().then(frame) for one in _maps(best, sample.c, pinned, len(V))
        )
        d = len(V)
        return FittedLaws(sample.shares, frames, ((),) * len(frames), normal_law(d), plain(d))

    def _search(
        self, V: Floats, sample: ClassSample, pinned: int, random_state: RandomState
    ) -> Floats:
        """Return the parameters of the best maps found, without those of the pinned class."""
        (rng,) = streams(random_state, "affine")
        d, free = len(V), int(sample.c.max())
        size = free * (d + d * (d + 1) // 2)
        if not size:
            return np.empty(0)
        beliefs = sample.beliefs or (sample.shares[None], np.ones(1))
        leakage = leakage_by(self.objective, V, sample.c, beliefs)

        def loss(theta: Floats) -> float:
            return leakage(_maps(theta, sample.c, pinned, d))

        return OPTIMISERS[self.optimiser](loss, size, self.evaluations, rng)


def _maps(theta: Floats, c: Codes, pinned: int, d: int) -> list[AffineMap]:
    """Turn parameters into one map per class: shift, log diagonal and the entries below it."""
    size = d + d * (d + 1) // 2
    rest = iter(theta.reshape(-1, size))
    maps = []
    for k in range(int(c.max()) + 1):
        part = np.zeros(size) if k == pinned else next(rest)
        matrix = np.diag(np.exp(part[d : 2 * d]))
        matrix[np.tril_indices(d, -1)] = part[2 * d :]
        maps.append(AffineMap(matrix, part[:d]))
    return maps
