"""How a release of a study enters a ledger: judged on what was written, all parts as one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from voile.core.errors import RequestError
from voile.release.entering import Entering, LedgerEntry, enter
from voile.release.kit import Kit
from voile.study.adversary.messages import decoded_columns
from voile.study.plan.entries import SIGNALS
from voile.study.risk.together import Together
from voile.study.verbs.measuring import Measuring
from voile.tables.verbs.following import Archive


@contextmanager
def entering(measured: Measuring, kit: Kit, override: str | None) -> Iterator[LedgerEntry | None]:
    """Hold the plan's ledger while a release is judged by it and published; None without one.

    Raises
    ------
    InfeasibleError : what was promised of all releases together would be broken.
    """
    plan, writing = measured.plan, measured.writing
    if plan.ledger is None:
        if override is not None:
            raise RequestError("--override is of a ledger", instead="name it with --ledger")
        yield None
        return
    if override is not None and not 8 <= len(override) <= 2000:
        raise RequestError("the reason of --override has 8 to 2,000 characters")
    table, _ = plan.table
    together = Together(
        content=measured.content,
        policy=measured.policy,
        source=plan.opened(table),
        residue=measured.residue.saying(_decoded(measured)),
        others=[writing.parts[name] for name in plan.rows if name != table],
        subjects=[plan.opened(name) for name in plan.parts],
        days=plan.study.date_shift_days,
        archive=Archive(plan.releases),
        join=plan.study.join,
    )
    with enter(
        Entering(plan.ledger, plan.key_file, together.judge, override), kit, plan.release
    ) as entry:
        yield entry


def _decoded(measured: Measuring) -> list[str]:
    """Return the quasi-identifiers of the table that decoded messages say: readings and classes."""
    plan, kits = measured.plan, measured.writing.kits
    signals = [name for name, part in plan.rows.items() if part.kind == SIGNALS]
    said = {column for name in signals for column in decoded_columns(kits[name])}
    return [one for one in measured.content.space.quasi if one in said]
