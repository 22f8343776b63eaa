"""What an adversary who knows the algorithm infers from the cuts that a policy does not have."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from benchmarks.tables import save
from benchmarks.trees_adult import adult_table

from voile.core.evidence import Finding, Rate
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.tables.fitting.fit import fit
from voile.tables.module import TABLES
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions

ROWS = 8_000
QUASI = ("age", "sex", "race", "hours-per-week", "marital-status")
ASKED: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("tree", "occupation", {"l_diversity": 2}),
    ("tree", "occupation", {"l_diversity": 3}),
    ("tree", "occupation", {"l_diversity": 4}),
    ("tree", "occupation", {"entropy_l": 3}),
    ("tree", "occupation", {"t_closeness": 0.3}),
    ("tree", "education", {"l_diversity": 4}),
    ("tree", "income", {"l_diversity": 2}),
    ("tree", "income", {"t_closeness": 0.2}),
    ("global", "occupation", {"l_diversity": 3}),
    ("global", "income", {"l_diversity": 2}),
)
COLUMNS = ("family", "sensitive", "promised", "CPU seconds", "people in such groups")
HEADS = ("guessed right", "by the group alone", "never released", "90% sure: right", "of")
NOTES = """A fifth is held out. The adversary knows the exact quasi-identifiers of everybody in the
release, and that the policy is that of least loss. *People in such groups* are the people whom
a missing cut divides that k alone would have allowed, in at most 300 groups, drawn at random.
*Guessed right* uses the missing cuts, *by the group alone* does not: the difference is their
information. *Never released* are held-out people in the same groups. The last column has the
people of whom she is 90% sure. In brackets is the rate by the group's own shares."""


def main() -> None:
    """Fit, apply and attack Adult under several promises."""
    every = adult_table()
    table = every.take(np.random.default_rng(0).permutation(len(every))[:ROWS])
    save(
        "missing_cuts",
        f"{ROWS:,} rows of Adult, drawn at random, 5 quasi-identifiers, k = 5.",
        (*COLUMNS, *HEADS),
        [row(table, *asked) for asked in ASKED],
        NOTES,
    )


def row(table: pa.Table, family: str, sensitive: str, promised: dict[str, float]) -> list[str]:
    """Return what was found under one promise."""
    own = table.select([*QUASI, sensitive])
    roles = Roles.model_validate(
        {"columns": {**dict.fromkeys(QUASI, "quasi"), sensitive: "sensitive"}}
    )
    asked = FitOptions.model_validate({"family": family, "k": 5, "hold_out": 0.2, **promised})
    source = open_source(own)
    kit = fit(source, roles, asked, seed=1, progress=silent)
    chosen = choose(kit, Choice(least_loss=True))
    with TemporaryDirectory() as folder:
        out = Path(folder) / "release.parquet"
        release = TABLES.apply(
            kit, chosen, source, out, ApplyOptions(), force=False, progress=silent
        )
        began = time.process_time()
        found = TABLES.attack(release, source, AttackOptions(), seed=1, progress=silent)
        took = time.process_time() - began
    guesses, sure = next(one.findings for one in found if one.attack == "minimality")
    says = ", ".join(f"{name.replace('_', '-')} {value:g}" for name, value in promised.items())
    return [family, sensitive, says, f"{took:.0f}", *guessed(guesses), *claimed(sure)]


def guessed(finding: Finding) -> list[str]:
    """Return how many people, and how often each guess is right."""
    rates = (finding.rate, finding.baseline, finding.control)
    return [f"{finding.rate.trials:,}", *map(shown, rates)]


def claimed(finding: Finding) -> list[str]:
    """Return how often she is right of whom she is sure."""
    if not finding.rate.trials or finding.baseline is None:
        return ["–", "0"]
    before = finding.baseline.value
    return [f"{shown(finding.rate)} [{before:.3f}]", f"{finding.rate.trials:,}"]


def shown(rate: Rate | None) -> str:
    """Write a rate with its interval."""
    if rate is None or not rate.trials:
        return "–"
    low, high = rate.interval()
    return f"{rate.value:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
