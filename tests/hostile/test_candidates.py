"""Count the values of one person that remain possible to an adversary who knows everybody else.

The adversary has all rows but one, voile, the seed and the policy. For each value that the last row
may have, she makes the release again. She keeps the values for which all public figures are the
same. These are in the manifest and the public report, with its sentences, tables and chart
positions, and in the evidence of an attack with a known seed. In full precision almost no value
except the true one would remain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.hostile.cases import cases

from voile.core.evidence import Evidence
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.modules import find_module
from voile.release.choice import Choice, Chosen
from voile.release.manifest import StoredRelease
from voile.report import render

OF_SIXTY = 11  # as many must remain, as a public report counts no fewer people
DRAWN = ("itemsets", "signals")
"""Where another value changes what the attack draws, and so all that it finds: no rounding hides
that from an adversary who knows the seed, and docs/on-disk.md says to whom not to tell it."""


@dataclass(frozen=True)
class Secret:
    """One person's value among many known ones.

    kind, roles, options : of `fit`; choice : of the policy.
    table : the whole table when the last person's value is this one.
    values : 60 that are possible; the first is true.
    every : how many of them CI tries: every so many-th.
    attack : options of the attack that the report shows.
    """

    kind: str
    roles: dict[str, Any]
    options: dict[str, Any]
    choice: Choice
    table: Callable[[Any], pa.Table]
    values: Sequence[Any]
    every: int
    attack: dict[str, Any] = field(default_factory=dict)


def ages() -> Secret:
    """3,000 people, one of unknown age."""
    n, rng = 3000, np.random.default_rng(3)
    age = np.concatenate([np.arange(20, 80), rng.integers(20, 80, n - 60)])
    others = {
        name: rng.choice(values, n)
        for name, values in (
            ("city", [*"ABCD"]),
            ("job", ["cook", "nurse", "clerk"]),
            ("dx", [*"ab"]),
        )
    }

    def table(value: int) -> pa.Table:
        return pa.table({"age": np.append(age[:-1], value), **others})

    roles = {"age": "quasi", "city": "quasi", "job": "quasi", "dx": "sensitive"}
    values = [66, *(x for x in range(20, 80) if x != 66)]
    return Secret(
        "tables",
        {"columns": roles},
        {"method": "steepest", "family": "global"},
        Choice(max_loss=0.6),
        table,
        values,
        6,
    )


def baskets() -> Secret:
    """2,000 baskets, one of unknown content."""
    n, rng = 2000, np.random.default_rng(3)
    ill = rng.random(n) < 0.5
    held = rng.random((n, 6)) < np.where(ill, 0.5, 0.3)[:, None] * np.linspace(1, 0.2, 6)

    def table(value: int) -> pa.Table:
        mine = held.copy()
        mine[-1] = [value >> bit & 1 for bit in range(6)]
        names = ("bread", "milk", "tea", "wine", "fish", "gin")
        columns = {name: mine[:, j].astype(np.int64) for j, name in enumerate(names)}
        return pa.table({**columns, "ill": np.where(ill, "yes", "no")})

    roles = {
        **dict.fromkeys(("bread", "milk", "tea", "wine", "fish", "gin"), "items"),
        "ill": "label",
    }
    return Secret(
        "itemsets", {"columns": roles}, {}, Choice(max_loss=0.3), table, [*range(5, 64), 0], 10
    )


def pulses() -> Secret:
    """600 people's pulse, one of them unknown."""
    n, rng = 3000, np.random.default_rng(3)
    ill = rng.random(n) < 0.5
    pulse = np.rint(rng.normal(np.where(ill, 90, 70), 8))

    def table(value: int) -> pa.Table:
        whole = {
            "person": [f"p{i}" for i in range(n)],
            "pulse": np.append(pulse[:-1], float(value)),
        }
        return pa.table({**whole, "ill": np.where(ill, "yes", "no")})

    roles = {"person": "identifier", "pulse": "reading", "ill": "private"}
    whole = {"subject": "person", "columns": roles}
    return Secret("signals", whole, {}, Choice(max_relative_risk=0.5), table, [*range(61, 121)], 10)


def names() -> Secret:
    """1,200 notes, one of them of unknown length."""
    n, rng = 1200, np.random.default_rng(3)
    drawn = rng.random(n)

    def note(i: int, words: int) -> tuple[str, str]:
        name = f"{chr(65 + i // 676)}{chr(65 + i // 26 % 26)}{chr(97 + i % 26)}xo"
        before = "Mrs" if drawn[i] < 0.7 else "with"
        text = f"Today , {before} {name} came on foot" + " and was well" * words + " ."
        start = text.index(name)
        spans = [{"start": start, "end": start + len(name), "label": "NAME"}] * bool(drawn[i] < 0.9)
        return text, json.dumps(spans)

    def table(value: int) -> pa.Table:
        notes = [note(i, i % 3) for i in range(n - 1)] + [note(n - 1, value)]
        texts, spans = zip(*notes, strict=True)
        return pa.table({"note": texts, "spans": spans})

    roles = {"note": {"role": "text", "spans": "spans"}, "spans": "label"}
    quick = {"learners": ["svm"], "miss_cost": [20], "cross_fit": 3, "jobs": 1}
    return Secret(
        "documents",
        {"columns": roles},
        quick,
        Choice(max_loss=1.0),
        table,
        [*range(60)],
        15,
        {"learners": ["svm"], "jobs": 1},
    )


SECRETS = {"tables": ages, "itemsets": baskets, "signals": pulses, "documents": names}


@dataclass(frozen=True)
class Made:
    """A release, what an attack found of it, and the policy that it was made by."""

    release: StoredRelease
    evidence: Sequence[Evidence]
    policy: Chosen

    @property
    def exact(self) -> str:
        private = self.release.private or {}
        return json.dumps([private["chosen"]["figures"], private["figures"]])

    def shown(self, evidence: Sequence[Evidence] = ()) -> str:
        """Return the public figures: manifest's, and report's without its style and script."""
        sections = find_module(self.release.kind).report(self.release, evidence, audience="public")
        page = render("report", sections, audience="public", facts={})
        page = re.sub(r"<(style|script)>.*?</\1>|<meta[^>]*>", "", page, flags=re.S)
        return json.dumps(self.release.public["figures"]) + page


def made(
    secret: Secret, value: Any, policy: Chosen | None, folder: Path, *, attacked: bool = True
) -> Made:
    """Fit, choose, apply and attack; with a policy, by that one, whatever the choice would be."""
    maker, table = find_module(secret.kind), open_source(secret.table(value))
    fit = maker.options.fit.model_validate(secret.options)
    kit = maker.fit(table, Roles.model_validate(secret.roles), fit, seed=1, progress=silent)
    learnt = secret.kind == "documents"  # a committee of this very kit
    chosen = maker.choose(kit, secret.choice) if learnt or policy is None else policy
    if secret.kind == "tables":  # a policy is intervals, which may have another number
        chosen = replace(chosen, number=None)
    options = maker.options.apply.model_validate({"keep_order": True})
    folder.mkdir(exist_ok=True)
    out = folder / f"{value}.csv"
    chosen = replace(chosen, kit=kit.id)
    release = maker.apply(kit, chosen, table, out, options, force=True, progress=silent)
    attack = maker.options.attack.model_validate(secret.attack)
    evidence = maker.attack(release, table, attack, seed=1, progress=silent) if attacked else ()
    return Made(release, evidence, chosen)


@pytest.mark.parametrize("kind", sorted(SECRETS))
@pytest.mark.filterwarnings("ignore")
def test_many_values_of_one_person_remain(
    kind: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOILE_SECRET", "of pseudonyms: 0123456789abcdef")
    secret = SECRETS[kind]()
    truth = made(secret, secret.values[0], None, tmp_path)
    tried = secret.values[:: max(1, secret.every // cases(1))]
    attacked = kind not in DRAWN
    others = [
        made(secret, value, truth.policy, tmp_path / "other", attacked=attacked) for value in tried
    ]
    by_exact = sum(one.exact == truth.exact for one in others)
    by_public = sum(one.shown() == truth.shown() for one in others)
    whole = truth.shown(truth.evidence)
    by_evidence = sum(one.shown(one.evidence) == whole for one in others)
    beside = f", {by_evidence} beside evidence" if attacked else ""
    with capsys.disabled():
        print(
            f"\n{kind}: of {len(tried)} values {by_public} remain{beside}; "
            f"by exact figures {by_exact}"
        )
    assert len(secret.values) == 60
    assert by_exact < by_public
    assert by_public >= len(tried) * OF_SIXTY / 60
    assert truth.evidence
    assert not attacked or by_evidence >= len(tried) * OF_SIXTY / 60
