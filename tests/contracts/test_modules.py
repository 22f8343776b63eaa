"""Test that each module has every verb of the contract, and own verbs with the right arguments."""

from __future__ import annotations

import inspect

import pytest

from voile.core.errors import RequestError
from voile.modules import MODULES, find_module
from voile.release.module import find_own_verb

VERBS = ("options", "axes", "criteria", "fit", "choose", "prepare", "attack", "report", "verify")
OWN = [(kind, verb.name) for kind, module in MODULES.items() for verb in module.own_verbs]


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_is_absent(kind: str, verb: str) -> None:
    assert getattr(find_module(kind), verb) is not None


@pytest.mark.parametrize("kind", MODULES)
def test_an_assessment_has_all_its_parts(kind: str) -> None:
    if (assessing := find_module(kind).assessing) is not None:
        assert None not in (assessing.options, assessing.assess, assessing.sections)


@pytest.mark.parametrize(("kind", "name"), OWN)
def test_an_own_verb_takes_the_places_that_its_command_gives(kind: str, name: str) -> None:
    verb = find_own_verb(find_module(kind), name)
    given = {*verb.arguments, *verb.outputs}
    given |= {"force"} if any(verb.outputs.values()) else set()
    given |= {"table", "encoding"} if verb.reads_source else set()
    first, second, *places = inspect.signature(verb.load()).parameters.values()
    assert (first.name, second.name) == ("options", "reporter")
    assert first.annotation == verb.options.__name__
    names = {place.name for place in places}
    required = {place.name for place in places if place.default is place.empty}
    assert required <= given <= names


@pytest.mark.parametrize(("kind", "name"), OWN)
def test_the_summary_of_an_own_verb_begins_its_help(kind: str, name: str) -> None:
    verb = find_own_verb(find_module(kind), name)
    assert (inspect.getdoc(verb.options) or "").splitlines()[0] == verb.summary


def test_a_verb_that_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(RequestError, match="signals has no verb recieve; did you mean receive"):
        find_own_verb(find_module("signals"), "recieve")
