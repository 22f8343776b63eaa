"""The inventory of identifiers: each source column, its treatment, and the reason for it.

Source: EMA, external guidance on Policy 0070, sections 6.3 and 6.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from voile.core.errors import RequestError
from voile.determination.holder_statements import TO_DO
from voile.release.inventory import Fate
from voile.release.manifest import INVENTORY
from voile.tables.recoding.boxes import read_codebook

WORDS = {
    "generalised": "",
    "interval": "generalised: ",
    "mark": "masked: ",
    "pseudonym": "replaced by a ",
}
"""The first words of a treatment's description, by a word of its entry in the manifest."""
UNREAD: Fate = "read by nobody"
NO_REASON = "no reason given"
KINDS = {
    "identifier": "direct",
    "text": "direct and indirect, in text",
    "quasi": "indirect",
    "items": "indirect",
    "keep": "indirect, where known",
    "known": "indirect, where known",
    "reading": "indirect, where known",
    "sensitive": "sensitive",
    "private": "sensitive",
}
"""The kind of identifier of each role. Columns with other roles do not identify people."""


@dataclass(frozen=True)
class ColumnTreatment:
    """One source column: its part of a study, its role and kind, its treatment, and the reason."""

    part: str
    column: str
    role: str
    kind: str
    treatment: str
    reason: str

    @property
    def name(self) -> str:
        """The column's name in a context."""
        return f"{self.part}.{self.column}" if self.part else self.column


Parts = Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]]
"""The public and the private manifest of each part. A release outside a study has one part, ""."""


def list_treatments(parts: Parts, reasons: Mapping[str, str]) -> tuple[ColumnTreatment, ...]:
    """Return the treatment of every source column, ordered by role.

    Without a private manifest, only released columns are known.

    Raises
    ------
    RequestError : a reason refers to a column that does not exist.
    """
    found = tuple(
        one for part, both in parts.items() for one in _treatments_of(part, *both, reasons)
    )
    known = {name for one in found for name in (one.name, one.column)}
    if unknown := sorted(reasons.keys() - known):
        raise RequestError(
            f"reasons.{unknown[0]}: is no column of the release's source",
            where="the context",
            instead=f"name one of {', '.join(sorted({one.name for one in found}))}",
        )
    return found


def _treatments_of(
    part: str,
    public: Mapping[str, Any],
    private: Mapping[str, Any] | None,
    reasons: Mapping[str, str],
) -> Iterator[ColumnTreatment]:
    released: dict[str, dict[str, Any]] = {}
    for one in public["columns"]:
        released.setdefault(one.get("from", one["column"]), dict(one))
    given = ((private or {}).get("roles") or {"columns": {}})["columns"]
    roles = {name: str(one["role"]) for name, one in given.items()}
    fates: Mapping[str, str] = (private or {}).get(INVENTORY, {})
    unread = {name: "none" for name, fate in fates.items() if fate == UNREAD}
    roles |= {name: one["role"] for name, one in released.items() if name not in roles} | unread
    whole = set(_whole_columns(public))
    for column, role in roles.items():
        what = released[column]["what"] if column in released else ""
        treatment = _treatment(what)
        if column in whole:
            treatment = "suppressed: every value in one group"
        elif not what and fates.get(column) in (UNREAD, "suppressed"):
            treatment = fates[column]
        reason = reasons.get(f"{part}.{column}", reasons.get(column, ""))
        is_given = reason and not reason.startswith(TO_DO)
        kind = KINDS.get(role, "none")
        yield ColumnTreatment(
            part, column, role, kind, treatment, reason if is_given else NO_REASON
        )


def _treatment(what: str) -> str:
    """Return the description of a released column's treatment, given its entry in the manifest."""
    if not what:
        return "dropped"
    if what.startswith("as in the source"):
        return "released as in the source"
    return next((f"{word}{what}" for sign, word in WORDS.items() if sign in what), what)


def _whole_columns(public: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns of a table that have one group with every value."""
    if public.get("kind") == "tables" and public.get("policy"):
        for one in read_codebook(public["policy"]).columns:
            if len(one.entries) == 1:
                yield one.column
