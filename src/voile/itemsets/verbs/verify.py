"""Check that a written release contains only the values of its policy, and recount its findings."""

from __future__ import annotations

from collections.abc import Iterator

from voile.core.errors import TamperedError
from voile.gate.finding import figures_of
from voile.gate.itemsets import measure_itemsets
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.long_tables import open_released
from voile.release.manifest import ACCEPTED, StoredRelease
from voile.release.verify import ReleaseCheck, check_recount, has_columns

LEFT = "not counted again: it takes the source, or what fit measured of it"


def verify(release: StoredRelease) -> Iterator[ReleaseCheck]:
    """Yield each check of a release, with its description and result.

    Without the private folder, each row counts as a person.
    """
    public = release.public
    policy, asked = public["policy"], public["constraints"]
    source = open_released(release.rows(), policy)
    yield (same := has_columns(source, public))
    if not same.holds:
        return
    constraint = Constraint(asked["k"], asked["m"], asked["absences"])
    try:
        found = figures_of(
            measure_itemsets(
                source,
                release.people(),
                policy,
                k=constraint.k,
                m=constraint.m,
                absences=constraint.absences,
            )
        )
    except TamperedError:
        yield ReleaseCheck("every cell contains only published values of the policy", False)
        return
    yield ReleaseCheck("every cell contains only published values of the policy", True)
    unit = release.counted_unit
    if policy and found["rows"]:
        said = (
            f"at k = {constraint.k}, at least so many {unit} share any knowledge of the adversary"
        )
        yield ReleaseCheck(said, found["anonymity"] >= constraint.k)
    if "interval_anonymity" in found:
        said = (
            f"at k = {constraint.k}, at least so many {unit} are in the same intervals of numbers"
        )
        yield ReleaseCheck(said, found["interval_anonymity"] >= constraint.k)
    if "k_all_rows" in found:
        accepted, shared = public.get(ACCEPTED) is not None, found["k_all_rows"] >= constraint.k
        said = f"at least {constraint.k} people show the rows of any one person"
        yield ReleaseCheck(said, None if accepted and not shared else shared)
    yield from check_recount(release, found, left=LEFT)
