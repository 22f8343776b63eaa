"""Describe the disclosures of a documents release for a ledger, without words of the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from voile.data.roles import Roles
from voile.documents.options import ApplyOptions
from voile.documents.text.reader import KEPT
from voile.keys.pseudonyms import purpose_of
from voile.ledger.ledger import LedgerKeys

SAYS = {
    "mark": "the types of removed text",
    "category": "the categories of removed text",
    "surrogate": "the days between dates of one subject",
}
AGES, LEFT = "ages up to 89", "whatever no classifier, pattern or list removed"


def disclosing(
    options: ApplyOptions, roles: Roles, texts: Sequence[str]
) -> Callable[[LedgerKeys], dict[str, Any]]:
    """Return the function that describes them: kept columns, pseudonyms, dates and texts."""
    kept = set(roles.of(*KEPT)) - {roles.subject, *texts}
    moves = options.replace == "surrogate"
    says = [SAYS[options.replace], *([AGES] if moves and options.ages == "keep" else []), LEFT]

    def disclosed(keys: LedgerKeys) -> dict[str, Any]:
        space = keys.hash("pseudonyms", purpose_of(None)) if options.pseudonyms else None
        return {
            "kept": sorted(keys.hash("column", name) for name in kept),
            "space": space,
            "dates": [keys.scope_of_dates(options.date_shift_days)] if moves else [],
            "text": says,
        }

    return disclosed
