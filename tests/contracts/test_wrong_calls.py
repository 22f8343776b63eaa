"""Test that a wrong call in Python gives a sentence, as in the shell, and not a plain TypeError."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import pytest
from tests.contracts.conftest import Case

import voile
import voile.determination
from voile.core.errors import RequestError, VoileError
from voile.study import Study

OPTIONAL = {"kit.report", "report", "verify", "expand", "evidence.save"}
"""What may be called with nothing, or of a release in memory fails for another reason."""


@pytest.fixture(scope="module")
def verbs(case: Case) -> dict[str, Callable[..., Any]]:
    kit, module = case.kit, import_module(f"voile.{case.kind}")
    release = kit.apply(case.middle(), case.table, **case.options["apply"])
    found = release.attack(original=case.table, seed=1, **case.options["attack"])
    face = vars(import_module(f"voile.{case.kind}.face"))
    functions = {name: face[name] for name in module.__all__ if name in face}
    return {
        **functions,
        "kit.apply": kit.apply,
        "kit.choose": kit.choose,
        "kit.save": kit.save,
        "kit.report": kit.report,
        "policy.save": case.middle().save,
        "attack": release.attack,
        "report": release.report,
        "verify": release.verify,
        "save": release.save,
        "expand": release.expand,
        "evidence.save": found.save,
        "report.save": release.report(found).save,
        "inspect": voile.inspect,
        "open_kit": voile.open_kit,
        "open_release": voile.open_release,
        "open_source": voile.open_source,
        "determine": voile.determination.determine,
        "sign": voile.determination.sign,
        "verify_determination": voile.determination.verify,
        "study.open": Study.open,
    }


def places(verb: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield the parameters that are given without a name."""
    for one in signature(verb).parameters.values():
        if one.kind is one.POSITIONAL_OR_KEYWORD:
            yield one


def test_functions_that_are_verbs_are_found(verbs: dict[str, Callable[..., Any]]) -> None:
    assert "fit" in verbs


def test_a_call_with_nothing_says_what_is_missing(verbs: dict[str, Callable[..., Any]]) -> None:
    for name, verb in verbs.items():
        required = [one.name for one in places(verb) if one.default is one.empty]
        if name in OPTIONAL or not required:
            continue
        with pytest.raises(RequestError, match="missing; ") as refused:
            verb()
        assert all(one in refused.value.what for one in required), name


def test_wrong_keywords_are_named(verbs: dict[str, Callable[..., Any]]) -> None:
    for name, verb in verbs.items():
        given = {one.name: "x" for one in places(verb) if one.default is one.empty}
        with pytest.raises(RequestError) as refused:
            verb(**given, zzz=1)
        assert "no such option: zzz" in str(refused.value), name


def test_too_many_values_are_refused(verbs: dict[str, Callable[..., Any]]) -> None:
    for verb in verbs.values():
        most = len([*places(verb)])
        with pytest.raises(RequestError, match=f"takes {most or 'no'} values? without a name"):
            verb(*[None] * (most + 1))


class _Secretive:
    """An object whose text must not reach a message."""

    def __repr__(self) -> str:
        return "CANARYOBJECT"


@pytest.mark.parametrize("thing", [3, None, _Secretive(), [1], {"a": 1}])
def test_objects_of_another_kind_are_refused(
    verbs: dict[str, Callable[..., Any]], thing: object
) -> None:
    for name, verb in verbs.items():
        required = [one for one in places(verb) if one.default is one.empty]
        if name in OPTIONAL or not required:
            continue
        with pytest.raises(VoileError) as refused:
            verb(*[thing] * len(required))
        assert "CANARY" not in str(refused.value), name


def test_options_that_are_paths_lists_and_functions_are_checked(case: Case) -> None:
    kit = case.kit
    release = kit.apply(case.middle(), case.table, **case.options["apply"])
    for call, said in (
        (lambda: release.attack(case.table, key_file=3), "key_file: an int is not a path"),
        (lambda: release.report(key_file=3), "key_file: an int is not a path"),
        (lambda: release.attack(case.table, progress=3), "progress: an int is not a function"),
        (lambda: kit.choose(least_loss=True, releases=3), "releases: an int is not a list"),
        (lambda: kit.choose(least_loss=True, after=3), "after: an int is not a path"),
        (
            lambda: kit.frontier.at(risk="a"),
            "a choice needs either a largest risk or a largest loss",
        ),
        (lambda: release.save("r.csv", formulas="no"), "formulas: must be 'keep' or 'escape'"),
    ):
        with pytest.raises(RequestError, match=f"^{said}"):
            call()
