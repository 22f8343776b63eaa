"""A study's kit: the kits of its parts in one folder, and the evaluation of their policies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data.files.own_files import fitting
from voile.modules import find_module
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.study.plan.plan import StudyPlan

KIND, FRONTIER = "study", "frontier"


def pack(
    table: str, kits: Mapping[str, StoredKit], facts: Mapping[str, Any], frontier: pa.Table
) -> StoredKit:
    parts = {name: {"kind": kit.kind, "facts": dict(kit.facts)} for name, kit in kits.items()}
    tables = {f"{name}.{one}": x for name, kit in kits.items() for one, x in kit.tables.items()}
    whole = {"policies": kits[table].policies, "parts": parts, **facts}
    return StoredKit(KIND, "private", whole, {FRONTIER: frontier, **tables})


def unpack(kit: StoredKit) -> dict[str, StoredKit]:
    """Return the kit of each part, by name."""
    with fitting("the study's kit"):
        return {
            name: StoredKit(part["kind"], "private", part["facts"], _own(kit, name))
            for name, part in kit.facts["parts"].items()
        }


def _own(kit: StoredKit, part: str) -> dict[str, pa.Table]:
    start = f"{part}."
    return {name[len(start) :]: x for name, x in kit.tables.items() if name.startswith(start)}


def load(plan: StudyPlan) -> StoredKit:
    """Read the kit of a plan.

    Raises
    ------
    RequestError : there is no kit, or it was fitted under another plan.
    """
    kit = StoredKit.load(plan.kit, KIND)
    if kit.facts.get("plan") != plan.to_data():
        raise RequestError(
            "the kit was fitted under another plan",
            where=str(plan.kit),
            instead="fit this plan: voile study fit",
        )
    return kit


def extract_in(kit: StoredKit) -> tuple[date | None, date | None]:
    """Return the first and the last day of the parts' dates in the fit."""
    with fitting("the study's kit"):
        first, last = (day and date.fromisoformat(day) for day in kit.facts["extract"])
        return first, last


def named_in_kit(chosen: Chosen) -> int | dict[str, Any]:
    """Return a kit's key for a chosen policy: its number, or its whole content."""
    return dict(chosen.policy) if chosen.number is None else chosen.number


def wrap_searched(kit: StoredKit, policy: Mapping[str, Any]) -> Chosen:
    """Return a policy found by a search given earlier releases, which is not on the frontier."""
    return Chosen(kit.kind, kit.id, None, Choice(joint_risk=1.0), {}, policy)


def _choose_policy(kit: StoredKit, named: int | Mapping[str, Any]) -> Chosen:
    if isinstance(named, int):
        return find_module(kit.kind).choose(kit, Choice(policy=named))
    return wrap_searched(kit, named)


def chosen_in(kit: StoredKit, kits: Mapping[str, StoredKit]) -> dict[str, Chosen]:
    """Return the policy of each part that the fit chose."""
    with fitting("the study's kit"):
        return {name: _choose_policy(own, kit.facts["chosen"][name]) for name, own in kits.items()}
