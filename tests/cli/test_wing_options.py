"""Options made of a pydantic model's fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click
import pytest
from pydantic import BaseModel, ConfigDict, Field

from voile.cli.screen import CommandScreen
from voile.cli.wing_options import WingCommand
from voile.core.errors import RequestError
from voile.modules import MODULES, find_module


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    keep_order: bool = Field(False, description="keep the order")
    k: int = Field(1, ge=1, description="least group")
    share: float | None = Field(None, gt=0, lt=1, description="share of people")
    gap: Literal["error", "sample"] = Field("error", description="what to do")
    population: tuple[str, ...] = Field((), description="tables that count")
    shift: tuple[int, ...] = Field((0,), min_length=1, description="by how much")
    register_: str | None = Field(None, alias="register", description="who is who")
    key_file: Path | None = Field(None, description="the secret")


def given(*words: str) -> BaseModel:
    seen: list[Any] = []

    def run(screen: CommandScreen, *, options: BaseModel) -> None:
        """Do it."""
        seen.append(options)

    command = WingCommand("do", run, [], lambda: Options)
    command.main(list(words), standalone_mode=False)
    return seen[0]


def test_every_kind_of_field_becomes_an_option() -> None:
    words = "--keep-order --k 3 --share .5 --gap sample --population a --population b"
    options = given(*words.split(), "--register", "r.csv", "--key-file", "key")
    assert options == Options(
        keep_order=True,
        k=3,
        share=0.5,
        gap="sample",
        population=("a", "b"),
        register="r.csv",
        key_file=Path("key"),
    )


def test_what_is_not_given_keeps_its_default() -> None:
    assert given() == Options()
    assert given("--k", "2").model_fields_set == {"k"}


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(RequestError) as told:
        given("--k", "none", "--share", "2", "--gap", "maybe")
    assert str(told.value) == (
        "--k: must be a whole number; --share: must be less than 1; "
        "--gap: must be 'error' or 'sample'"
    )


def test_a_value_may_begin_with_a_minus_and_may_not_be_left_out() -> None:
    assert given("--shift", "-1", "--shift=-2", "--gap", "sample").model_dump()["shift"] == (-1, -2)
    with pytest.raises(click.UsageError, match="requires an argument"):
        given("--key-file")


def test_a_wrong_value_of_several_is_told_once() -> None:
    with pytest.raises(RequestError) as told:
        given("--shift", "far")
    assert str(told.value).count("--shift") == 1


def test_help_says_what_when_not_given() -> None:
    def run(screen: CommandScreen, *, options: BaseModel) -> None:
        """Do it."""

    help = WingCommand("do", run, [], lambda: Options).get_help(click.Context(click.Command("do")))
    lines = [" ".join(line.split()) for line in help.splitlines()]
    assert "--k INTEGER Least group [1]." in lines
    assert "--gap [error|sample] What to do [error]." in lines
    assert "--keep-order Keep the order." in lines
    assert "--register TEXT Who is who." in lines


@pytest.mark.parametrize("kind", sorted(MODULES))
def test_no_wing_takes_an_option_that_every_command_has(kind: str) -> None:
    from voile.cli.app import command

    group = command.commands[kind]
    assert isinstance(group, click.Group)
    context = click.Context(group)
    for verb in (group.get_command(context, name) for name in group.list_commands(context)):
        assert verb is not None
        params = verb.get_params(click.Context(verb))
        names = [option for param in params for option in param.opts]
        assert len(names) == len(set(names)), verb.name
    assert kind == find_module(kind).kind


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("verb", ["fit", "apply", "attack"])
def test_defaults_are_told_as_they_are_typed(voile: Any, kind: str, verb: str) -> None:
    told = voile(kind, verb, "--help").out
    assert "[(" not in told
    assert "'" not in "".join(part.split("]")[0] for part in told.split("[")[1:])
