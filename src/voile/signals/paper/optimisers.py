"""Searches for the least of a function of some numbers between -REACH and REACH."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from voile.core.errors import RequestError, install
from voile.signals.model.codec.pieces import Floats

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
    """Adapt the covariance of what is drawn next, from nought (Hansen, Ostermeier 2001)."""
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
