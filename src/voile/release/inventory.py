"""The inventory: the fate of every source column in a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

from voile.data.roles import Roles

Fate = Literal["released", "generalised", "replaced", "suppressed", "dropped", "read by nobody"]
GENERALISED = ("quasi", "items")
REPLACED = ("identifier", "text", "reading")
"""Roles of columns with pseudonyms, masks or messages in place of values."""


def list_fates(
    columns: Iterable[str],
    roles: Roles,
    released: Iterable[Mapping[str, Any]],
    suppressed: Collection[str] = (),
) -> dict[str, Fate]:
    """Return the fate of each source column.

    Parameters
    ----------
    columns : the columns of the source.
    roles : the roles of the source's columns.
    released : the released columns as the public manifest describes them.
    suppressed : released columns that distinguish no value.

    Raises
    ------
    AssertionError : a released column refers to a column that is not in the source.
    """
    source = list(columns)
    given = {name: one.role for name, one in roles.columns.items()}
    fates: dict[str, Fate] = {
        name: "suppressed" if role in (*GENERALISED, "reading") else "dropped"
        for name, role in given.items()
        if name in source
    }
    for one in released:
        name = one.get("from", one["column"])
        if name in given or one.get("from"):
            fates[name] = "suppressed" if name in suppressed else _fate_of(one, given.get(name))
    fates |= {name: "read by nobody" for name in source if name not in fates}
    if fates.keys() != set(source):
        raise AssertionError(f"{len(fates)} columns have a fate, and the source has {len(source)}")
    return {name: fates[name] for name in source}


def _fate_of(released: Mapping[str, Any], role: str | None) -> Fate:
    if released["what"].startswith("as in the source"):
        return "released"
    return "replaced" if role in REPLACED else "generalised"
