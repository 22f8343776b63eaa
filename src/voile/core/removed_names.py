"""The removed names and their replacements, in one table for the shell and Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from voile.core.errors import RequestError


@dataclass(frozen=True)
class RemovedName:
    """A removed command, option, function or method.

    Parameters
    ----------
    version : the first version without it.
    in_shell, in_python : the replacement in each syntax, or an empty text if the name never existed
        there.
    """

    version: str
    in_shell: str
    in_python: str


ADVERSARIES = RemovedName(
    "0.2.0",
    "fit a kit for each adversary with `voile itemsets fit --m`",
    "fit a kit for each adversary with `voile.itemsets.fit(m=...)`",
)
IN_PYTHON = RemovedName("0.2.0", "", ADVERSARIES.in_python)
REMOVED_NAMES: Mapping[tuple[str, str, str], RemovedName] = {
    ("", "Kit.load", ""): RemovedName("0.2.0", "", "use `voile.open_kit(path)`"),
    ("", "Release.open", ""): RemovedName("0.2.0", "", "use `voile.open_release(path)`"),
    ("study", "Study.determine", ""): RemovedName(
        "0.2.0", "", "use `voile.determination.determine_study(study, context, out)`"
    ),
    ("itemsets", "Against", ""): IN_PYTHON,
    ("itemsets", "adversaries", ""): ADVERSARIES,
    ("itemsets", "against", ""): IN_PYTHON,
    ("signals", "assess", ""): RemovedName(
        "0.2.0",
        "attack a release that voile wrote with `voile signals attack`",
        "attack a release that voile made with `release.attack(...)`",
    ),
    ("signals", "enrol", "small"): RemovedName(
        "0.2.0",
        "leave it out: `voile signals enrol` writes the keys for `voile signals send`",
        "leave it out: `voile.signals.enrol` writes the keys for `voile.signals.send`",
    ),
    ("signals", "export", ""): RemovedName(
        "0.2.0", "use `voile signals send`", "use `voile.signals.send`"
    ),
    ("signals", "fit", "epsilon"): RemovedName(
        "0.2.0",
        "leave it out, and give the kit to its devices and its recipient alone",
        "leave it out, and give the kit to its devices and its recipient alone",
    ),
}
"""Keys: kind of data, verb or method, and option. The option is empty for a whole verb."""


def describe_removed(
    kind: str, verb: str, option: str = "", *, in_shell: bool = False
) -> tuple[str, str] | None:
    """Return the problem and the remedy for a removed name, or None if no version removed it.

    >>> describe_removed("signals", "export", in_shell=True)
    ('`signals export` was removed in 0.2.0', 'use `voile signals send`')
    >>> describe_removed("signals", "fit", "epsilon")[0]
    '`epsilon` of `voile.signals.fit` was removed in 0.2.0'
    >>> describe_removed("signals", "fit", "bits")
    """
    found = REMOVED_NAMES.get((kind, verb, option))
    if found is None or (in_shell and not found.in_shell):
        return None
    if in_shell:
        name, remedy = " ".join([kind, verb, *([f"--{option}"] if option else [])]), found.in_shell
        return f"`{name}` was removed in {found.version}", remedy
    whose, remedy = f"`{'.'.join(filter(None, ['voile', kind, verb]))}`", found.in_python
    of = f"`{option}` of {whose}" if option else whose
    return f"{of} was removed in {found.version}", remedy


def refuse_removed(kind: str, verb: str, options: Iterable[str]) -> None:
    """Raise a RequestError for the first option that a version removed from a verb in Python."""
    for option in options:
        if found := describe_removed(kind, verb, option):
            raise RequestError(found[0], instead=found[1])


def removed_method(kind: str, method: str) -> RequestError:
    """Return the error for a method that a version removed from a public class."""
    what, remedy = describe_removed(kind, method) or (f"`{method}` was removed", "")
    return RequestError(what, instead=remedy)
