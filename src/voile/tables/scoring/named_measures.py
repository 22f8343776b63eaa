"""Find risks and losses by name: voile's own, and a user's as ``module:object``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from voile.core.errors import RequestError, nearest
from voile.core.no_pandas import let_pandas_in
from voile.tables.people.counts import CombinationCounts
from voile.tables.scoring.group_measures import (
    GroupMeasure,
    estimated_matches,
    information,
    matches,
    mutual_information,
    refuse_undeclared,
    small_groups,
    weigh_losses,
)

Kind = Literal["risk", "loss"]


@dataclass(frozen=True)
class LossWeights:
    """The weight of distribution in the loss `weigh_losses`, and of each column in resolution."""

    loss_weight: float = 0.5
    importance: tuple[float, ...] | None = None


Maker = Callable[[CombinationCounts, LossWeights], GroupMeasure]

NAMES: Mapping[Kind, Mapping[str, Maker]] = {
    "risk": {
        "matches": lambda *_: matches(),
        "small-groups": lambda *_: small_groups(),
        "estimated-matches": lambda *_: estimated_matches(),
    },
    "loss": {
        "weighted": lambda counts, weights: weigh_losses(
            counts, weight=weights.loss_weight, importance=weights.importance
        ),
        "information": lambda *_: information(),
        "mutual-information": lambda counts, _: mutual_information(counts.outcomes),
    },
}
DEFAULTS: Mapping[Kind, str] = {"risk": "matches", "loss": "information"}


def measure_named(kind: Kind, wanted: str | GroupMeasure | None) -> Maker:
    """Return the maker of a measure, given its name or an object.

    None is the paper's measure. Do not pass a name read from a kit: ``module:object`` runs code.

    Raises
    ------
    RequestError : there is no such measure, or the object is not a valid `GroupMeasure`.
    """
    if wanted is None:
        wanted = DEFAULTS[kind]
    if isinstance(wanted, str) and ":" not in wanted:
        if wanted not in NAMES[kind]:
            raise RequestError(
                f"no {kind} is called {wanted}, and your own would be module:object",
                instead=nearest(wanted, NAMES[kind]),
            )
        return NAMES[kind][wanted]
    measure = _import_measure(wanted) if isinstance(wanted, str) else wanted
    if not isinstance(measure, GroupMeasure):
        raise RequestError(
            f"the {kind} {wanted if isinstance(wanted, str) else type(wanted).__name__} is not a "
            "GroupMeasure",
            instead="make one with voile.tables.scoring.group_measures.GroupMeasure",
        )
    if not all(isinstance(word, str) for word in (measure.name, measure.title, measure.formula)):
        raise RequestError(f"name, title and formula of the {kind} {measure.name} must be text")
    refuse_undeclared(measure, "falls" if kind == "risk" else "rises")
    return lambda *_: measure


def _import_measure(path: str) -> Any:
    module, _, name = path.partition(":")
    if not module or not name:
        raise RequestError(f"{path} names no measure", instead="write module:object")
    found = _module(module)
    if not hasattr(found, name):
        own = [known for known, value in vars(found).items() if isinstance(value, GroupMeasure)]
        raise RequestError(
            f"module {module} has no {name}",
            instead=nearest(name, own) if own else "make a GroupMeasure of that name in it",
        )
    return getattr(found, name)


def _module(module: str) -> Any:
    let_pandas_in()
    sys.path.insert(0, os.getcwd())
    try:
        with redirect_stdout(sys.stderr):  # printed text must not mix with results
            return import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise RequestError(f"module {module} needs {error.name}, which is not there") from None
        raise RequestError(
            f"there is no module {module} in the working directory or on the Python path",
            instead="leave .py out" if module.endswith(".py") else None,
        ) from None
    except (Exception, SystemExit) as error:  # a module may fail in any way
        raise RequestError(
            f"module {module} cannot be imported ({type(error).__name__})",
            instead="import it in Python to see why",
        ) from error
    finally:
        sys.path.remove(os.getcwd())
