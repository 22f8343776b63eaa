"""A study's kit: the kits of its parts in one folder, and how their policies were judged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data.files.own_files import fitting
from voile.modules import find_module
from voile.release.choice import Choice, Chosen
from voile.release.kit import Kit
from voile.study.plan.plan import Plan

KIND, FRONTIER = "study", "frontier"


def pack(table: str, kits: Mapping[str, Kit], facts: Mapping[str, Any], frontier: pa.Table) -> Kit:
    parts = {name: {"kind": kit.kind, "facts": dict(kit.facts)} for name, kit in kits.items()}
    tables = {f"{name}.{one}": x for name, kit in kits.items() for one, x in kit.tables.items()}
    whole = {"policies": kits[table].policies, "parts": parts, **facts}
    return Kit(KIND, "private", whole, {FRONTIER: frontier, **tables})


def unpack(kit: Kit) -> dict[str, Kit]:
    """Return the kit of each part, by name."""
    with fitting("the study's kit"):
        return {
            name: Kit(part["kind"], "private", part["facts"], _own(kit, name))
            for name, part in kit.facts["parts"].items()
        }


def _own(kit: Kit, part: str) -> dict[str, pa.Table]:
    start = f"{part}."
    return {name[len(start) :]: x for name, x in kit.tables.items() if name.startswith(start)}


def load(plan: Plan) -> Kit:
    """Read the kit of a plan.

    Raises RequestError: there is none, or it was fitted under another plan.
    """
    kit = Kit.load(plan.kit, KIND)
    if kit.facts.get("plan") != plan.to_data():
        raise RequestError(
            "the kit was fitted under another plan",
            where=str(plan.kit),
            instead="fit this plan: voile study fit",
        )
    return kit


def extract_in(kit: Kit) -> tuple[date | None, date | None]:
    """Return the first and the last day of the parts' dates, as the fit found them."""
    with fitting("the study's kit"):
        first, last = (day and date.fromisoformat(day) for day in kit.facts["extract"])
        return first, last


def named_in_kit(chosen: Chosen) -> int | dict[str, Any]:
    """Return how a kit names a policy that was picked: by its number, or as a whole."""
    return dict(chosen.policy) if chosen.number is None else chosen.number


def searched(kit: Kit, policy: Mapping[str, Any]) -> Chosen:
    """Return a policy that was searched given what is out, and is not on the kit's frontier."""
    return Chosen(kit.kind, kit.id, None, Choice(joint_risk=1.0), {}, policy)


def _chosen(kit: Kit, named: int | Mapping[str, Any]) -> Chosen:
    if isinstance(named, int):
        return find_module(kit.kind).choose(kit, Choice(policy=named))
    return searched(kit, named)


def chosen_in(kit: Kit, kits: Mapping[str, Kit]) -> dict[str, Chosen]:
    """Return the policy of each part that the fit picked."""
    with fitting("the study's kit"):
        return {name: _chosen(own, kit.facts["chosen"][name]) for name, own in kits.items()}
