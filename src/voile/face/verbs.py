"""The verbs that are functions: `fit` of each kind of data, and the verbs of one kind only."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Literal

from pydantic import NonNegativeInt

from voile.core.errors import as_keywords
from voile.core.interruption import CUT_SHORT
from voile.core.progress import ProgressHook, silent
from voile.core.removed_names import refuse_removed
from voile.core.warn import warn
from voile.data.roles import Roles
from voile.face.keywords import PROGRESS, SEED, SOURCE, VoileWarning, checked_own, document_verb
from voile.face.kit import Kit
from voile.release.module import AnyModule, find_own_verb
from voile.release.options import check_options, with_options


def fit_of(module: AnyModule) -> Callable[..., Kit]:
    model = module.options.fit

    def fit(
        source: object,
        roles: object = None,
        *,
        seed: int | None = None,
        others: Literal["drop"] | None = None,
        progress: ProgressHook = silent,
        **options: Any,
    ) -> Kit:
        with as_keywords():
            refuse_removed(module.kind, "fit", options)
            given = check_options(model, options)
            own = checked_own(seed=(seed, NonNegativeInt), others=(others, Literal["drop"]))
            opened = module.open(source)
            read = roles_for(module, roles)
            if read is not None:
                read = read.completed(opened.columns, own["others"])
            found = module.fit(opened, read, given, seed=own["seed"], progress=progress)
            kit = Kit.of(with_options(found, given), module)
        if kit.facts.get("stopped") == "interrupted":
            warn(CUT_SHORT, VoileWarning)
        return kit

    said = {
        "source": SOURCE,
        "roles": "the columns' roles: a dictionary of column -> role, a file, or from `inspect`",
        "seed": SEED,
        "others": "role of every column that the roles do not list, instead of an error",
        "progress": PROGRESS,
    }
    first = f"Find the policies for {module.summary.partition(':')[0]} that no other beats."
    fit.__module__ = f"voile.{module.kind}"
    return document_verb(fit, first, said, model)


def roles_for(module: AnyModule, given: object) -> Roles | None:
    """Read the given roles. Return None if a kind's options can replace them."""
    return None if given is None and not module.requires_roles else Roles.parse(given)


SAID = {
    "kit": "the fitted kit, or its folder",
    "release": "the release of apply, in memory or on disk with the files next to it",
    "source": SOURCE,
    "spool": "folder where readings wait for their receipts, in the clear",
    "out": "the place of the result",
    "force": "replace the output if voile wrote it",
    "work": "the work folder",
}


PATH = "str | PathLike[str]"
KINDS = dict.fromkeys(("out", "spool", "work"), PATH)
"""Arguments that a verb of one kind of data takes as paths. Others may be Python objects."""


def own_of(module: AnyModule, name: str) -> Callable[..., Mapping[str, Any]]:
    """Return a verb that only one kind of data has.

    The verb returns the object that `--json` prints.
    """
    verb = find_own_verb(module, name)
    places = [
        Parameter(x, Parameter.POSITIONAL_OR_KEYWORD, annotation=KINDS.get(x, "object"))
        for x in (*verb.arguments, *verb.outputs)
    ]
    if any(verb.outputs.values()):
        places.append(Parameter("force", Parameter.KEYWORD_ONLY, default=False))
    own = Signature([*places, Parameter("options", Parameter.VAR_KEYWORD)])

    def run(*args: Any, **given: Any) -> Mapping[str, Any]:
        with as_keywords():
            refuse_removed(module.kind, name, given)
        bound = own.bind(*args, **given)
        bound.apply_defaults()
        asked = bound.arguments.pop("options")
        for output in verb.outputs:
            bound.arguments[output] = Path(bound.arguments[output])
        with as_keywords():
            options = check_options(verb.options, asked)
            how = {"table": None, "encoding": None} if verb.reads_source else {}
            ended = verb.load()(options, WarningReporter(), **bound.arguments, **how)
        return ended.result

    run.__name__, run.__module__ = name.replace("-", "_"), f"voile.{module.kind}"
    run.__signature__ = own  # type: ignore[attr-defined]
    said = {one.name: SAID[one.name] for one in places}
    return document_verb(run, inspect.getdoc(verb.options) or "", said, verb.options)


class WarningReporter:
    """A reporter that shows only the messages that a user must read, as warnings."""

    def say(self, text: str) -> None: ...

    def insist(self, text: str) -> None:
        warn(text, VoileWarning)

    def progress(self) -> AbstractContextManager[ProgressHook]:
        return nullcontext(silent)
