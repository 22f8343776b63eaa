"""Check the arguments of the public verbs, and report a wrong call in one sentence.

An ordinary Python function raises TypeError. A verb of voile raises an error that names the missing
argument and describes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from voile.core.errors import RequestError, name_kind, nearest

if TYPE_CHECKING:
    from inspect import Parameter, Signature

P = ParamSpec("P")
T = TypeVar("T")

_PATH = {"str", "PathLike[str]", "os.PathLike[str]"}
_OWN = ("self", "cls")


def check_arguments(verb: Callable[P, T]) -> Callable[P, T]:
    """Refuse a call that does not fit the signature or passes a value of the wrong type.

    Types are checked only for parameters annotated as a path, a sequence or a `ProgressHook`.

    >>> @check_arguments
    ... def attack(truth: object, *, seed: int | None = None) -> None: ...
    >>> attack()
    Traceback (most recent call last):
    voile.core.errors.RequestError: attack: truth is missing; help(attack) describes it
    >>> attack({}, sed=1)
    Traceback (most recent call last):
    voile.core.errors.RequestError: attack: no such option: sed; did you mean seed?
    >>> attack({}, 1)
    Traceback (most recent call last):
    voile.core.errors.RequestError: attack: takes 1 value without a name, not 2; name the rest
    """

    @wraps(verb)
    def checked(*args: P.args, **given: P.kwargs) -> T:
        from inspect import signature

        own = signature(verb)
        try:
            bound = own.bind(*args, **given)
        except TypeError:
            raise _misfit(verb, own, args, given) from None
        for name, value in bound.arguments.items():
            _check_kind(name, value, str(own.parameters[name].annotation))
        return verb(*args, **given)

    return checked


def _misfit(
    verb: Callable[..., Any], own: Signature, args: tuple[object, ...], given: Mapping[str, object]
) -> RequestError:
    """Return an error that explains why a call does not fit a signature."""
    where, parameters = verb.__name__, own.parameters.values()
    plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    placed = [p.name for p in plain if p.kind is not p.KEYWORD_ONLY]
    if (wrong := [n for n in given if n not in own.parameters]) and len(plain) == len(parameters):
        known = [p.name for p in plain if p.name not in _OWN]
        remedy = nearest(wrong[0], known) if known else "it takes none"
        return RequestError(f"no such option: {wrong[0]}", where=where, instead=remedy)
    if len(args) > len(placed):
        skipped = sum(name in _OWN for name in placed)
        most, count = len(placed) - skipped, len(args) - skipped
        said = f"takes {most or 'no'} value{'s' * (most != 1)} without a name, not {count}"
        has_named = len(placed) < len(parameters)
        remedy = "name the rest" if has_named else "give no more"
        return RequestError(said, where=where, instead=remedy)
    if twice := [name for name in placed[: len(args)] if name in given]:
        return RequestError(
            f"the argument {twice[0]} is given twice", where=where, instead=f"give {twice[0]} once"
        )
    missing = [p.name for p in plain[len(args) :] if _is_required(p) and p.name not in given]
    *others, last = missing
    if others:
        said, remedy = f"{', '.join(others)} and {last} are missing", "describes them"
    else:
        said, remedy = f"{last} is missing", "describes it"
        if described := _description(verb, last):
            return RequestError(said, where=where, instead=f"give {described}")
    return RequestError(said, where=where, instead=f"help({where}) {remedy}")


def _is_required(parameter: Parameter) -> bool:
    return parameter.default is parameter.empty


def _description(verb: Callable[..., Any], name: str) -> str:
    """Return a parameter's description from a docstring, up to its first punctuation mark."""
    line = re.compile(rf"(?:^|, ){re.escape(name)}(?:, \w+)* : ([^:;.\[\n]+)")
    for one in (verb.__doc__ or "").splitlines():
        if found := line.search(one.strip()):
            return found[1].strip()
    return ""


def _check_kind(name: str, value: object, annotation: str) -> None:
    """Refuse a value that is not a path, list or function if the annotation requires one."""
    kinds = {part.strip() for part in annotation.split("|")}
    if value is None and "None" in kinds:
        return
    if kinds & _PATH - {"str"} and kinds <= {*_PATH, "None"}:
        if not isinstance(value, str | os.PathLike):
            raise RequestError(
                f"{name_kind(value)} is not a path", where=name, instead="give text or a Path"
            )
    elif annotation.startswith("Sequence["):
        if not isinstance(value, list | tuple):
            raise RequestError(
                f"{name_kind(value)} is not a list", where=name, instead="give a list"
            )
    elif "ProgressHook" in kinds and not callable(value):
        raise RequestError(
            f"{name_kind(value)} is not a function",
            where=name,
            instead=f"pass a function, or leave {name} out",
        )
