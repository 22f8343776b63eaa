"""The paper's learned affine maps (Section 5): minimise the leakage, with one class fixed."""

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
POPULATION = 100  # individuals of the genetic algorithm
START = 0.5  # initial step size of CMA-ES


def local(loss: Loss, size: int, evaluations: int, rng: np.random.Generator) -> Floats:
    """Minimise the loss along one direction after another, starting at 0 (Powell 1964)."""
    from scipy.optimize import minimize  # importing it takes a third of a second

    options = {"maxfev": evaluations}
    bounds = [(-REACH, REACH)] * size
    found = minimize(loss, np.zeros(size), method="Powell", bounds=bounds, options=options)
    return np.asarray(found.x, dtype=np.float64)


def evolution(loss: Loss, size: int, evaluations: int, rng: np.random.Generator) -> Floats:
    """Minimise the loss by differential evolution over the whole range (Storn, Price 1997)."""
    from scipy.optimize import differential_evolution

    turns = max(evaluations // (15 * size) - 1, 1)
    bounds = [(-REACH, REACH)] * size
    found = differential_evolution(loss, bounds, maxiter=turns, rng=rng, polish=False)
    return np.asarray(found.x, dtype=np.float64)


def genetic(loss: Loss, size: int, evaluations: int, rng: np.random.Generator) -> Floats:
    """Minimise the loss by a genetic algorithm with selection in proportion to fitness (Section 5).

    The fitness of an individual is the worst loss of its generation minus its own loss. Crossover
    and mutation come from pymoo: simulated binary crossover and polynomial mutation (Deb, Agrawal
    1995; Deb, Goyal 1996).
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
    """Minimise the loss by CMA-ES, starting at 0 (Hansen, Ostermeier 2001)."""
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
    """A search for one affine map z = A x + b per class that minimises the leakage about the class.

    The most frequent class keeps the identity map. The method exists for comparison with the paper.
    A is lower triangular with a positive diagonal. Among all matrices that give a normal class the
    same law, exactly one has this form. Shifts are limited to two standard deviations of the fixed
    class, and scales to factors between e^-2 and e^2.

    Parameters
    ----------
    objective : the estimate of I(Z; C | S). `histogram` is the paper's estimate, which is biased
        upwards by about (bins - 1) (classes - 1) / (2 n ln 2) bits. `mixture` fits three normal
        components to each class. `neighbours` uses nearest neighbours.
    optimiser : `local` is Powell's method, started from the readings of each class unchanged.
        `evolution` is differential evolution over the whole range. `genetic` is the paper's
        algorithm, with selection in proportion to fitness, crossover and mutation. `cma` is CMA-ES.
        The last two need the packages pymoo and cma.
    evaluations : maximum number of evaluations of the objective, >= 1.

    Guarantee: none on the quality of the result; the map is injective.
    """

    objective: Objective = "histogram"
    optimiser: Optimiser = "local"
    evaluations: int = 20_000

    def fit(self, sample: ClassSample, random_state: RandomState) -> FittedLaws:
        """Fit one affine map per class.

        Each evaluation costs O(n), O(k^2 n) for `mixture`, and O(k n log n) for `neighbours`.
        """
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
        """Return the parameters of the best maps, without those of the fixed class."""
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
    """Convert parameters to one map per class: shift, log diagonal and lower entries."""
    size = d + d * (d + 1) // 2
    rest = iter(theta.reshape(-1, size))
    maps = []
    for k in range(int(c.max()) + 1):
        part = np.zeros(size) if k == pinned else next(rest)
        matrix = np.diag(np.exp(part[d : 2 * d]))
        matrix[np.tril_indices(d, -1)] = part[2 * d :]
        maps.append(AffineMap(matrix, part[:d]))
    return maps
