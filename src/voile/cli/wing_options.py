"""Make one option on the command line for each field of a module's options."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import cached_property
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import click
from click.core import ParameterSource

from voile.cli.parameters import Run, SourcePath, VoileCommand
from voile.data.places import PLACES, RowsPlace

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

METAVARS = {int: "INTEGER", float: "NUMBER", str: "TEXT", date: "DATE"}


class WingCommand(VoileCommand):
    """A command with the options of a module. `run` gets them checked, as `options`.

    The module's code is imported only if the options of this command are used.
    """

    def __init__(
        self, name: str, run: Run, params: list[click.Parameter], model: Callable[[], Any]
    ) -> None:
        super().__init__(name, run, params)
        self._load = model

    @cached_property
    def model(self) -> type[BaseModel]:
        model: type[BaseModel] = self._load()
        return model

    @cached_property
    def wing_params(self) -> list[click.Option]:
        from voile.release.options import fields_of

        return [_option(name, field) for name, field in fields_of(self.model).items()]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Put the module's options after the command's required options."""
        own = super().get_params(ctx)
        may = [param for param in own if not param.required]
        return [*(param for param in own if param.required), *self.wing_params, *may]

    def invoke(self, ctx: click.Context) -> int | None:
        wing = {option.name: ctx.params.pop(str(option.name)) for option in self.wing_params}
        given = {
            name: value
            for name, value in wing.items()
            if ctx.get_parameter_source(str(name)) is not ParameterSource.DEFAULT
        }
        from voile.release.options import check_options

        ctx.params["options"] = check_options(self.model, given, spelt)
        return super().invoke(ctx)


def spelt(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(name: str, field: FieldInfo) -> click.Option:
    flag = field.annotation in (bool, bool | None)
    kind, multiple = _kind(field.annotation)
    help = field.description or ""
    option = name.replace("_", "-")
    metavar = field.title or kind.name.upper()
    off = flag and field.default is not False
    switch = f"--{option}/--no-{option}" if off else f"--{option}"
    return click.Option(
        [switch, name],
        is_flag=flag or None,  # with False, click would make the value optional
        multiple=multiple,
        type=None if flag else kind,
        required=field.is_required(),
        metavar=None if flag or isinstance(kind, click.Choice) else metavar,
        help=f"{help[:1].upper()}{help[1:]}{_default(field)}.",
    )


class _TextType(click.ParamType[str]):
    """A type that returns the text unchanged, because pydantic converts it."""

    def __init__(self, name: str) -> None:
        self.name = name


class _OfferedChoice(click.Choice[str]):
    """A type that offers the choices, and lets pydantic refuse any other value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value


def _kind(annotation: Any) -> tuple[click.ParamType[Any], bool]:
    if get_origin(annotation) in (Union, UnionType):
        (annotation,) = (a for a in get_args(annotation) if a is not type(None))
    if get_origin(annotation) is tuple:
        return _kind(get_args(annotation)[0])[0], True
    if get_origin(annotation) is Literal:
        return _OfferedChoice([str(choice) for choice in get_args(annotation)]), False
    if annotation in PLACES:
        return SourcePath() if annotation is RowsPlace else click.Path(), False
    return _TextType(METAVARS.get(annotation, "TEXT")), False


def _default(field: FieldInfo) -> str:
    if field.is_required() or field.default is True or field.default in (None, (), False, ""):
        return ""
    given = field.default if isinstance(field.default, tuple) else (field.default,)
    return f" [{', '.join(f'{one:g}' if isinstance(one, float) else str(one) for one in given)}]"
