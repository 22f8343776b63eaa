"""The value search of a study over all parts, and the requirement that limits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from voile.core.errors import InfeasibleError
from voile.core.rounding import round_number
from voile.data import Source
from voile.data.opening import open_released
from voile.gate.values.findings import ValueFinding
from voile.gate.values.search import SearchLimits, search_values
from voile.keys.pseudonyms import pseudonym
from voile.release.manifest import StoredRelease, source_rows
from voile.release.values import SearchableRelease, SearchedPart, inputs_of
from voile.study.plan.plan import StudyPlan
from voile.study.text.exported_texts import SearchedExport

EARLIER = 0.05
"""The allowed share of people for releases without a finding of stated categories."""
NOT_IDENTIFYING = dict.fromkeys(("quasi", "text", "items", "reading"), "keep")
"""Roles of columns that are not searched if only identifying values are searched."""


def open_part(name: str, release: StoredRelease, source: Source, subject: str) -> SearchedPart:
    """Open one written part together with its source."""
    given = (release.private or {})["roles"]["columns"]
    return SearchedPart(
        name,
        open_released(release.local),
        source_rows(release.folder),
        source,
        subject,
        {column: one["role"] for column, one in given.items()},
        release.public["columns"],
    )


def search_release(
    plan: StudyPlan,
    part_of: Callable[[str], StoredRelease],
    directory: Path | None = None,
    *,
    export: Path,
    identifying: bool = False,
) -> tuple[ValueFinding, ...]:
    """Search the released bytes of a plan's parts, and of its written export if there is one.

    export : the folder of the written export. directory : folder for temporary keys, which are not
        encrypted.
    identifying : whether to search only for identifiers and dropped columns. The search then uses
        the frequency rules for removing their values from texts. [mentions] decides about other
        values.
    """
    subject, hidden = plan.study.subject, NOT_IDENTIFYING if identifying else {}
    own = [name for name, part in plan.parts.items() if part.of is None]
    parts = [open_part(one, part_of(one), plan.open_part(one), subject) for one in own]
    parts = [replace(x, roles={c: hidden.get(r, r) for c, r in x.roles.items()}) for x in parts]
    every: list[SearchableRelease] = [*parts]
    if plan.export is not None:
        people = plan.open_part(plan.table[0]).read([subject]).column(0).unique().to_pylist()
        whose = {pseudonym(plan.secret, str(one)): str(one) for one in people}
        every.append(SearchedExport(export, plan.open_known(), subject, whose))
    rule, limits = plan.date_rule(), SearchLimits(has_common=not identifying)
    after = range(rule.step, rule.days + 1, rule.step)
    inputs = replace(inputs_of(every), offsets=[*(-one for one in after), *after])
    return search_values(inputs, limits, directory=directory)


def public_value(found: ValueFinding) -> dict[str, Any]:
    """Return a finding as shares, rounded up to two digits, and the columns without counts."""
    n = found.n or 1
    return {
        "name": found.name,
        "says": f"people who {found.says}",
        "knowledge": f"The adversary {found.knows}.",
        "found": round_number(found.value / n, "up"),
        "expected": round_number((found.expected or 0.0) / n, "up"),
        "columns": sorted({f"{one.part}.{one.column}" for one in found.forms}),
    }


def find_promised(
    plan: StudyPlan,
    found: ValueFinding,
    part_of: Callable[[str], StoredRelease],
    directory: Path | None = None,
    *,
    export: Path,
) -> ValueFinding:
    """Return the finding that the requirement limits: of identifiers and dropped columns.

    If `found`, the finding of all columns, is within the limit, return it instead.
    """
    if is_allowed(plan, found):
        return found
    return search_release(plan, part_of, directory, export=export, identifying=True)[0]


def is_allowed(plan: StudyPlan, found: ValueFinding, least: float = 0.0) -> bool:
    """Return whether the requirement allows this number of people beyond chance.

    People with certain values are limited as well. `least` is the share that is allowed in any
    case.
    """
    limit = max(plan.promise.values_in_text, least) * (found.n or 0)
    return found.certain <= limit and found.value <= found.most_by_chance + limit


def check_values(plan: StudyPlan, found: ValueFinding) -> None:
    """Refuse a release with values of more people than the requirement allows.

    Raises
    ------
    InfeasibleError : the limit is exceeded. The message contains columns and counts, but no value.
    """
    if is_allowed(plan, found):
        return
    raise InfeasibleError(
        f"{found.sentence}. {found.certain:,} people have a whole value there that chance does not "
        f"explain, and [promise] allows {plan.promise.values_in_text:.3g} of the people beyond "
        "chance",
        where=str(plan.path),
        instead="correct the roles of these columns, fit the notes' kit on such forms, or accept "
        "the risk: values_in_text = "
        f"{round_number(found.value / (found.n or 1), 'up'):g} in [promise]",
    )
