"""Test that no returned object prints a value, a key or the source's hash, or pickles a key."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.canaries import all_canaries, told
from tests.hostile.reaching import reachable

import voile
from voile.core.errors import VoileError
from voile.modules import MODULES
from voile.release.choice import Choice
from voile.release.evidence import AttackResults

SPARED = {"documents": ("spans", "note", "letter")}
LONG = 1_000
FIT: dict[str, dict[str, Any]] = {
    "tables": {"population": [], "k": 2, "suppress": 0.5, "method": "random-chain"}
}

CONTENT = {kind: f"voile.{kind}.verbs.content" for kind in MODULES}
CONTENT |= {kind: f"voile.{kind}.model.content" for kind in ("documents", "signals")}


@pytest.fixture(scope="module")
def given(case: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what each verb gave for a source of canaries, and what it was made from."""
    table = all_canaries(case.table, spare=SPARED.get(case.kind, ()))
    case = replace(case, folder=case.folder)
    case.__dict__["table"] = table
    case.options["held out"] |= FIT.get(case.kind, {})
    case.options["attack"] = {
        name: value for name, value in case.options["attack"].items() if name != "population"
    }
    kit = case.fit(table, how="held out")
    module = import_module(CONTENT[case.kind])
    content = getattr(module, f"{case.kind.title()}Content").of(kit)
    chosen = case.middle(kit)
    out = tmp_path_factory.mktemp("reprs") / "r.parquet"
    # canaries in kept columns join the rows of a person, and itemsets count them
    joined = {"accept_risk": "the rows are made up"} if case.kind == "itemsets" else {}
    release = case.apply(out, kit=kit, chosen=chosen, **joined)
    space = getattr(content, "space", content)
    return {
        "case": case,
        "kit": kit,
        "content": content,
        "chosen": chosen,
        "policy": space.policy(0 if space is content else space.bottom),
        "release": release,
        "evidence": case.attack(release),
        "roles": case.tiny.roles(),
        "choice": Choice(max_loss=0.5),
    }


def handed_out(given: dict[str, Any]) -> list[Any]:
    return list(reachable({k: v for k, v in given.items() if k != "case"}, {}))


def secrets(given: dict[str, Any]) -> tuple[str, ...]:
    """Return the keys of the kit, as they could be printed, and the source's hash."""
    key = bytes.fromhex(given["kit"].facts["hold_out"]["key"])
    return key.hex(), repr(key)[2:-1], given["release"].private["source"]["sha256"]


def test_no_text_of_an_object_tells_a_value_or_a_key(given: dict[str, Any]) -> None:
    things = handed_out(given)
    assert len({type(thing) for thing in things}) > 8
    hidden = secrets(given)
    telling = {
        type(thing).__name__
        for thing in things
        for text in (repr(thing), str(thing), f"{thing}", f"{thing!r}")
        if told(text) or len(text) > LONG or any(key in text for key in hidden)
    }
    assert not telling, " ".join(sorted(telling))


def drawings(given: dict[str, Any]) -> list[tuple[Any, str]]:
    """Return all that draws itself in a notebook, with its drawing.

    But a release's report: it names the intervals that the release itself shows.
    """
    kit, release = given["kit"], given["release"]
    things = [kit.frontier, AttackResults(release, given["evidence"]), kit.report()]
    things += [voile.inspect(given["case"].table, given["case"].kind)]
    things += [thing for thing in handed_out(given) if hasattr(thing, "_repr_html_")]
    return [(thing, thing._repr_html_()) for thing in things if not isinstance(thing, type)]


def test_no_drawing_tells_a_value_or_a_key(given: dict[str, Any]) -> None:
    drawn = drawings(given)
    names = {type(thing).__name__ for thing, _ in drawn}
    assert names >= {"AttackResults", "Chosen", "Evidence", "Kit", "KitFrontier", "ReportPage"}
    hidden = secrets(given)
    telling = {
        type(thing).__name__
        for thing, html in drawn
        if told(html) or any(key in html for key in hidden)
    }
    assert not telling, " ".join(sorted(telling))


def test_no_pickle_holds_a_key(given: dict[str, Any]) -> None:
    key = bytes.fromhex(given["kit"].facts["hold_out"]["key"])
    refused, holding = set(), set()
    for thing in handed_out(given):
        try:
            pickled = pickle.dumps(thing)
        except (TypeError, pickle.PicklingError, AttributeError):
            refused.add(type(thing).__name__)
            continue
        if key in pickled or key.hex().encode() in pickled:
            holding.add(type(thing).__name__)
    assert not holding, " ".join(sorted(holding))
    assert refused >= {"Kit", "HoldOut", f"{given['case'].kind.title()}Content"}


def wrongs(given: dict[str, Any], folder: Path) -> Iterator[Callable[[], Any]]:
    """Yield things that go wrong with canaries at hand."""
    case, kit, chosen = given["case"], given["kit"], given["chosen"]
    policy = dict.fromkeys(chosen.policy, "CANARYWRONG")
    yield lambda: case.apply(folder / "r.csv", kit=kit, chosen=replace(chosen, policy=policy))
    more = {**chosen.policy, "more": ["CANARYMORE"]}
    yield lambda: case.apply(folder / "r.csv", kit=kit, chosen=replace(chosen, policy=more))
    yield lambda: case.apply(folder / "r.csv", kit=kit, chosen=case.another(chosen))
    yield lambda: case.module.choose(kit, Choice(max_risk=0.0))
    yield lambda: case.module.choose(kit, Choice(beats="CANARYBEATS"))
    yield lambda: case.fit(case.table.slice(0, 1))
    for table, works in case.tiny.limits().values():
        if not works and len(table):
            yield lambda table=table: case.fit(table)  # names and notes are canaries in all
    if "features" in chosen.policy:
        near = next(f"{feature}X" for feature in given["content"].names if told(feature))
        wrong = replace(chosen, policy={**chosen.policy, "features": [near]})
        yield lambda: case.apply(folder / "r.csv", kit=kit, chosen=wrong)


def test_no_error_tells_a_value_of_the_kit_or_the_source(
    given: dict[str, Any], tmp_path: Path
) -> None:
    raised = 0
    for wrong in wrongs(given, tmp_path):
        try:
            wrong()
        except VoileError as error:
            raised += 1
            text = "".join(traceback.format_exception_only(error)) + repr(error) + repr(error.args)
            for asked in ("CANARYWRONG", "CANARYMORE", "CANARYBEATS"):  # of this very request
                text = text.replace(asked, "")
            assert not told(text)
    assert raised >= 5
