"""Build the Python verbs: their options are keywords, checked like those of the command line.

Each verb is built once for all kinds of data, from the options that a module defines for it. `help`
and the completion in a notebook show these options with their descriptions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError
from voile.core.mistakes import plainly
from voile.release.options import fields_of

F = TypeVar("F", bound=Callable[..., Any])

SOURCE = "a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a path or address of a "
SOURCE += "table, or an open `Source`"
SEED = "the same seed, the same result; a whole number from 0"
PROGRESS = "called with a task, how much of it is done, and of how much"


class VoileWarning(UserWarning):
    """A command has a message next to its result. Read it before you publish."""


def checked_own(**given: tuple[Any, Any]) -> dict[str, Any]:
    """Check the arguments that are not options of a module.

    Parameters
    ----------
    given : pairs of value and type by argument name. The value None is always accepted.

    Raises
    ------
    RequestError : a value does not have its type. The error lists all such arguments.
    """
    found, wrong = {}, []
    for name, (value, kind) in given.items():
        try:
            found[name] = TypeAdapter(kind | None).validate_python(value)
        except ValidationError as error:
            wrong.append(f"{name}: {plainly(error.errors(include_url=False)[0])}")
    if wrong:
        raise RequestError("; ".join(wrong))
    return found


def document_verb(verb: F, first: str, said: Mapping[str, str], model: type[BaseModel]) -> F:
    """Give a verb its signature and docstring, and check its arguments at each call.

    Parameters
    ----------
    verb : the function to document. Its `**options` become the fields of `model`.
    first : the first sentence of the docstring.
    said : the descriptions of the verb's own parameters.
    model : the options of the verb, with their descriptions and defaults.
    """
    function = check_arguments(verb)
    own = Signature.from_callable(verb, eval_str=False)
    given = own.parameters.values()
    parameters = [_legible(p) for p in given if p.kind is not Parameter.VAR_KEYWORD]
    lines = [first, "", "Parameters", "----------", *(f"{n} : {x}." for n, x in said.items())]
    for name, field in fields_of(model).items():
        default = Parameter.empty if field.is_required() else field.default
        parameters.append(
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=field.annotation)
        )
        shown = "" if default in (None, (), False, "") else f" [{_format_default(default)}]"
        lines.append(f"{name} : {field.description}{shown}.")
    function.__doc__ = verb.__doc__ = "\n".join(lines)
    function.__qualname__ = function.__name__
    function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return cast(F, function)


class _LegibleDefault(str):
    """A default that a signature shows without quotes."""

    __repr__ = str.__str__


def _legible(parameter: Parameter) -> Parameter:
    kind = parameter.annotation
    shown = parameter.replace(
        annotation=Parameter.empty if kind == "object" else _LegibleDefault(kind)
    )
    is_function = inspect.isfunction(shown.default)
    return shown.replace(default=_LegibleDefault(shown.default.__name__)) if is_function else shown


def _format_default(default: Any) -> str:
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
