"""Check that figures are findings of the gate, for each kind of data and for studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, get_args

from voile.gate.finding import GateFinding, Origin, Unit, figures_of, findings_from_data
from voile.release.criteria import worst_figure
from voile.release.manifest import FINDINGS

PROMISED = {"itemsets": {"k": "anonymity"}}
"""Figures of a determination that are the policy's promise, and the finding that was held to it."""


def check_findings(private: Mapping[str, Any]) -> tuple[GateFinding, ...]:
    """Hold the figures of a private manifest to its findings; return these."""
    findings = findings_from_data(private[FINDINGS])
    assert figures_of(findings) == private["figures"]
    assert not [key for key, n in Counter(one.key for one in findings).items() if n > 1]
    for one in findings:
        assert one.unit in get_args(Unit), one
        assert one.origin in get_args(Origin), one
        assert len(one.knows.split()) > 2, one
        assert one.unit not in ("share", "probability") or 0 <= one.value <= 1 + 1e-9, one
        assert one.unit in ("share", "probability") or one.n is None or one.value <= one.n, one
    return findings


def check_measured(measures: Any, public: Any, evidence: Any, known: Any, *, kind: str) -> None:
    """Hold the source of each measured figure of a determination to findings and attacks."""
    attacks = {one.attack for one in evidence}
    for name in {one.criterion for one in measures}:
        for bounds in ("largest", "mean", "group"):
            figure = worst_figure(name, measures, public, evidence, bounds)
            if figure is None:
                continue
            where, _, what = figure.evidence.partition(": ")
            if where == "attack":
                assert any(what.startswith(attack) for attack in attacks), figure
                continue
            what = what.partition(",")[0]
            assert PROMISED.get(kind, {}).get(what, what) in known, figure
