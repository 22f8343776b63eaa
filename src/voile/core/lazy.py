"""Names that load at first use, so that `--help` is quick."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # typing's own takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_NOT_FOR_USERS = {"TYPE_CHECKING", "annotations", "lazily"}


def lazily(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module whose names are defined in these places.

    A name that was loaded stays in the module. The module's `__dir__` lists them all, so that a
    notebook completes them.

    Parameters
    ----------
    module : its `__name__`.
    places : in which module of the package each name is defined.
    """
    names = vars(sys.modules[module])

    def load(name: str) -> Any:
        if name not in places:
            raise _missing(module, name)
        place = places[name]
        found = import_module(f"{module}.{place}")
        for own in (name, place):  # the import has set a module where a function has its name
            if places.get(own) == place:
                names[own] = getattr(found, own)
        return names[name]

    names["__dir__"] = lambda: sorted({*names, *places} - _NOT_FOR_USERS)
    return load


def library(name: str, extra: str) -> Any:
    """Import a library that an extra installs.

    Raises RequestError: it is not installed.
    """
    from voile.core.errors import RequestError, install

    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise RequestError(f"{name} is not installed", instead=install(extra)) from None


def _missing(module: str, name: str) -> Exception:
    """Return the error of a name that a module lacks.

    Of a removed name it is an ImportError: `from voile.signals import export` shows its text, and
    that of no AttributeError.
    """
    from voile.core.removed_names import describe_removed

    if found := describe_removed(module.removeprefix("voile."), name):
        return ImportError("; ".join(found))
    return AttributeError(f"module {module!r} has no attribute {name!r}")
