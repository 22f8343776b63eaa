"""The verbs as Python has them: options are keywords, checked as the command line's are.

Each is made once for all kinds of data, of the options that a wing has for it; `help` and a
notebook's completion show these with what they mean.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import Parameter, Signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from warnings import warn

from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from voile.core.errors import RequestError, as_keywords, nearest
from voile.core.interruption import CUT_SHORT
from voile.core.kinds import load
from voile.core.progress import Progress, silent
from voile.data import Source
from voile.data.roles import Roles
from voile.keys.secret import Secret
from voile.release.choice import Choice, Chosen, check_exactly_one
from voile.release.commands import stored, with_options
from voile.release.evidence import AttackResults
from voile.release.options import checked, fields_of
from voile.release.own_verbs import Ended
from voile.release.verify import check_seal

if TYPE_CHECKING:
    from pydantic import BaseModel

    from voile.release.kit import Kit
    from voile.release.manifest import Release

F = TypeVar("F", bound=Callable[..., Any])

SOURCE = "a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a path or address of a "
SOURCE += "table, or an open `Source`"
SEED = "the same seed, the same result; a whole number from 0"
SAID = {
    "kit": "that the readings are sent by",
    "source": SOURCE,
    "spool": "folder where readings wait for their receipts; it holds them in the clear",
    "out": "where the result goes",
    "force": "replace the output if voile wrote it",
}
PROGRESS = "called with a task, how much of it is done, and of how much"


class VoileWarning(UserWarning):
    """What the command line would report beside a result."""


def fit_of(kind: str) -> Callable[..., Kit]:
    wing = load(kind)

    def fit(
        source: object,
        roles: object,
        *,
        seed: int | None = None,
        others: Literal["drop"] | None = None,
        progress: Progress = silent,
        **options: Any,
    ) -> Kit:
        with as_keywords():
            given = checked(wing.FitOptions, options)
            own = checked_own(seed=(seed, NonNegativeInt), others=(others, Literal["drop"]))
            opened = opener(kind)(source)
            read = Roles.parse(roles).completed(opened.columns, own["others"])
            kit: Kit = wing.fit(opened, read, given, seed=own["seed"], progress=progress)
            kit = with_options(kit, given)
        if kit.facts.get("stopped") == "interrupted":
            warn(CUT_SHORT, VoileWarning, stacklevel=2)
        return kit

    said = {
        "source": SOURCE,
        "roles": "what each column is: a dictionary of column -> role, a file, or from `inspect`",
        "seed": SEED,
        "others": "role of the columns that roles do not name; without it they are an error",
        "progress": PROGRESS,
    }
    first = f"Find the policies for {wing.SUMMARY.partition(':')[0]} that no other beats."
    fit.__module__ = f"voile.{kind}"
    return documented(fit, first, said, wing.FitOptions)


def choose_of(kit: Kit, how: Mapping[str, Any]) -> Chosen:
    wing = load(kit.kind)
    given = {name: value for name, value in how.items() if value is not None and value is not False}
    with as_keywords():
        for name in given.keys() - set(wing.WAYS):
            raise RequestError(f"no such option: {name}", instead=nearest(name, wing.WAYS))
        check_exactly_one({**dict.fromkeys(wing.WAYS), **given})
        return cast("Chosen", wing.choose(kit, Choice.parse(given)))


def apply_of(kit: Kit) -> Callable[..., Release]:
    wing = load(kit.kind)

    def apply(
        policy: object,
        source: object,
        out: str | PathLike[str] | None = None,
        *,
        force: bool = False,
        progress: Progress = silent,
        **options: Any,
    ) -> Release:
        with as_keywords():
            given = checked(wing.ApplyOptions, options)
            chosen = policy_of(policy)
            release: Release = wing.apply(
                kit,
                chosen,
                opener(kit.kind)(source),
                None if out is None else Path(out),
                given,
                force=force,
                progress=progress,
            )
        _warn_of_set_aside(release)
        return release

    said = {
        "policy": "what `choose` returned, or the file of a policy",
        "source": SOURCE,
        "out": "a file or table; without it the release is in memory, until it is saved (what "
        "counts it may spill to the system's temporary folder, past 1 GB)",
        "force": "replace the output if voile wrote it",
        "progress": PROGRESS,
    }
    return documented(
        apply, "Make the release of a source under a policy.", said, wing.ApplyOptions
    )


def policy_of(given: object) -> Chosen:
    """Return a policy from what a user has: what choose returned, or its file."""
    if isinstance(given, Chosen):
        return given
    if isinstance(given, str | PathLike):
        return Chosen.read(Path(given))
    raise RequestError(
        f"a {type(given).__name__} is no policy", instead="give what choose returned, or its file"
    )


class SetAsideWarning(VoileWarning):
    """Rows could not be released, and were set aside."""


def _warn_of_set_aside(release: Release) -> None:
    counts = (release.private or {})["counts"]
    if counts["set_aside"]:
        said = "; ".join(f"column {x['column']}: {x['reason']}" for x in counts["set_aside_by"])
        warn(f"{counts['set_aside']:,} rows set aside: {said}", SetAsideWarning, stacklevel=3)


def attack_of(release: Release) -> Callable[..., AttackResults]:
    wing = load(release.kind)

    def attack(
        truth: object,
        *,
        seed: int | None = None,
        key_file: str | PathLike[str] | None = None,
        progress: Progress = silent,
        **options: Any,
    ) -> AttackResults:
        with as_keywords():
            given = checked(wing.AttackOptions, options)
            own = checked_own(seed=(seed, NonNegativeInt))
            check_seal(release, Secret.find(key_file))
            opened = opener(release.kind)(truth)
            found = wing.attack(release, opened, given, seed=own["seed"], progress=progress)
        return AttackResults(release, found, [stored(given)])

    said = {
        "truth": f"the original source, used to score the attack: {SOURCE}",
        "seed": SEED,
        "key_file": "file with the secret of the seal [variable VOILE_SECRET]",
        "progress": PROGRESS,
    }
    first = "Attack the release as an adversary with the background knowledge given by the options."
    return documented(attack, first, said, wing.AttackOptions)


def own_of(kind: str, name: str) -> Callable[..., Mapping[str, Any]]:
    """Return a verb that one kind of data alone has; it returns what `--json` prints."""
    wing = load(kind)
    (verb,) = (one for one in wing.OWN_VERBS if one.name == name)
    places = [
        Parameter(x, Parameter.POSITIONAL_OR_KEYWORD) for x in (*verb.arguments, *verb.outputs)
    ]
    if any(verb.outputs.values()):
        places.append(Parameter("force", Parameter.KEYWORD_ONLY, default=False))
    own = Signature(places)

    def run(*args: Any, **given: Any) -> Mapping[str, Any]:
        bound = own.bind(*args, **{n: x for n, x in given.items() if n in own.parameters})
        bound.apply_defaults()
        for output in verb.outputs:
            bound.arguments[output] = Path(bound.arguments[output])
        with as_keywords():
            asked = {n: x for n, x in given.items() if n not in own.parameters}
            options = checked(verb.options, asked)
            how = {**bound.arguments, "table": None, "encoding": None}
            ended: Ended = getattr(wing, verb.run)(options, _Warnings(), **how)
        return ended.result

    run.__name__, run.__module__ = name.replace("-", "_"), f"voile.{kind}"
    run.__signature__ = own  # type: ignore[attr-defined]
    said = {name: SAID[name] for name in own.parameters}
    return documented(run, inspect.getdoc(verb.options) or "", said, verb.options)


class _Warnings:
    """Report what a user must know as a warning, and nothing else."""

    def say(self, text: str) -> None: ...

    def insist(self, text: str) -> None:
        warn(text, VoileWarning, stacklevel=5)

    def progress(self) -> AbstractContextManager[Progress]:
        return nullcontext(silent)


def opener(kind: str | None) -> Callable[..., Source]:
    """Return what opens a source of this kind: the wing's own `open_source`, or the common one."""
    from voile.data import open_source

    return open_source if kind is None else getattr(load(kind), "open_source", open_source)


def checked_own(**given: tuple[Any, Any]) -> dict[str, Any]:
    """Check what is no option of a wing's, each with its type; None is none."""
    found, mistakes = {}, []
    for name, (value, kind) in given.items():
        try:
            found[name] = TypeAdapter(kind | None).validate_python(value)
        except ValidationError as error:
            said = error.errors(include_input=False, include_url=False)[0]["msg"]
            mistakes.append(f"{name}: {said[0].lower()}{said[1:]}")
    if mistakes:
        raise RequestError("; ".join(mistakes))
    return found


def documented(function: F, first: str, said: Mapping[str, str], model: type[BaseModel]) -> F:
    """Give a verb the signature and the description of its wing's options.

    first : its first sentence. said : what its own parameters are.
    """
    own = Signature.from_callable(function, eval_str=False)
    parameters = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    lines = [first, "", "Parameters", "----------", *(f"{n} : {x}." for n, x in said.items())]
    for name, field in fields_of(model).items():
        default = Parameter.empty if field.is_required() else field.default
        parameters.append(
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=field.annotation)
        )
        shown = "" if default in (None, (), False, "") else f" [{_shown(default)}]"
        lines.append(f"{name} : {field.description}{shown}.")
    function.__doc__ = "\n".join(lines)
    function.__qualname__ = function.__name__
    function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def _shown(default: Any) -> str:
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
