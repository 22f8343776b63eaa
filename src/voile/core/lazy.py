"""Load names at first use, so that `--help` is quick."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # importing typing takes longer than importing this module
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_NOT_FOR_USERS = {"TYPE_CHECKING", "annotations", "lazily"}


def lazily(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module with names that are defined in other modules.

    A loaded name stays in the module. The module's `__dir__` lists all names, so that a notebook
    can complete them.

    Parameters
    ----------
    module : the `__name__` of the module.
    places : for each name, the module of the package that defines it. A place of "" means that the
        name is a module of the package itself.
    """
    names = vars(sys.modules[module])

    def load(name: str) -> Any:
        if name not in places:
            raise _missing(module, name)
        place = places[name]
        if not place:
            return import_module(f"{module}.{name}")
        found = import_module(f"{module}.{place}")
        for own in (name, place):  # the import sets a module, even if a function has the same name
            if places.get(own) == place:
                names[own] = getattr(found, own)
        return names[name]

    names["__dir__"] = lambda: sorted({*names, *places} - _NOT_FOR_USERS)
    return load


def library(name: str, extra: str) -> Any:
    """Import a library that an extra installs.

    Raises
    ------
    RequestError : the library is not installed.
    """
    from voile.core.errors import RequestError, install

    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise RequestError(f"{name} is not installed", instead=install(extra)) from None


def _missing(module: str, name: str) -> Exception:
    """Return the error for a name that a module does not have.

    For a removed name it is an ImportError, because `from voile.signals import export` shows its
    text. Python does not show the text of an AttributeError there.
    """
    from voile.core.removed_names import describe_removed

    if found := describe_removed(module.removeprefix("voile."), name):
        return ImportError("; ".join(found))
    return AttributeError(f"module {module!r} has no attribute {name!r}")
