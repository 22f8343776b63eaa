"""The findings about a release that voile did not make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voile.core.brief import BriefRepr
from voile.core.evidence import Evidence


@dataclass(frozen=True)
class ReleaseAssessment(BriefRepr):
    """The figures of a release of any origin, and the findings of attacks on it.

    Parameters
    ----------
    kind, name : the kind of data, and the release's name.
    figures : figures counted in the release itself, by name.
    evidence : the findings of each attack.
    facts : further facts for the report: how cells were read, how rows matched, and which keys were
        found.
    """

    shows = ("kind",)

    kind: str
    name: str
    figures: Mapping[str, float]
    evidence: tuple[Evidence, ...]
    facts: Mapping[str, Any]

    def to_data(self) -> dict[str, Any]:
        """Return the whole assessment as plain data, for the data holder."""
        found = [one.to_json() for one in self.evidence]
        return {
            "kind": self.kind,
            "release": self.name,
            "figures": dict(self.figures),
            "facts": dict(self.facts),
            "evidence": found,
        }
