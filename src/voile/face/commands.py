"""Write the shell commands that reproduce a kit or a release.

Kits and private manifests store a placeholder instead of a path given as an option. Commands in a
public report contain numbers and choices, but no text from the user.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from voile.core.removed_names import describe_removed
from voile.release.evidence import AttackResults
from voile.release.manifest import StoredRelease
from voile.release.module import find_own_verb
from voile.release.options import OPTIONS, VERB, fields_of, leaves

if TYPE_CHECKING:
    from pydantic import BaseModel

    from voile.core.evidence import Evidence
    from voile.release.kit import StoredKit
    from voile.release.module import AnyModule
    from voile.report.sections import Audience

WIDTH = 76


def commands(
    subject: StoredKit | StoredRelease,
    module: AnyModule,
    audience: Audience,
    name: str,
    evidence: Sequence[Evidence],
) -> Iterator[str]:
    """Yield the commands that made the kit or release `name`, then the commands that check it.

    `evidence` contains the findings of attacks and of the verbs that only this kind of data has.
    """
    kind = subject.kind
    if not isinstance(subject, StoredRelease):
        yield _fit(module, subject.facts.get(OPTIONS, {}), audience, name)
        yield format_command(["voile", kind, "frontier", name])
        return
    if private := subject.private:
        asked = private.get(OPTIONS, {})
        source = private["source"]["name"] if audience == "internal" else "SOURCE"
        yield _fit(module, asked.get("fit", {}), audience, "KIT")
        choice = private["chosen"]["choice"]
        if audience == "public" and "policy" in choice:
            choice = {"policy": None}
        ways = [word for way, value in choice.items() for word in _words(way, value)]
        yield format_command(["voile", kind, "choose", "KIT", *ways, "--out", "policy.toml"])
        own = _list_given(module.options.apply, asked.get("apply", {}), audience)
        policy = ["--policy", "policy.toml"]
        yield format_command(["voile", kind, "apply", "KIT", source, *policy, *own, "--out", name])
        verbs = [one for one in module.own_verbs if one.evidence]
        for given in _attacks(evidence, {one.evidence for one in verbs}):
            own = _list_given(module.options.attack, given, audience)
            original = ["--original", source, *own, "--seed", "SEED"]
            yield format_command(["voile", kind, "attack", name, *original])
        places = {"kit": "KIT", "release": name, "source": source}
        for verb in verbs:
            if verb.name in asked:
                own = _list_given(verb.options, asked[verb.name], audience)
                there = [places[one] for one in verb.arguments]
                yield format_command(["voile", kind, verb.name, *there, *own])
    yield format_command(["voile", "verify", name])


def _attacks(evidence: Sequence[Evidence], others: Collection[str]) -> Sequence[Mapping[str, Any]]:
    """Return the options of each attack.

    Evidence without stored options gives one empty mapping.
    """
    given = evidence.given if isinstance(evidence, AttackResults) else ()
    return given or [{}] * any(one.attack not in others for one in evidence)


def format_command(words: Sequence[str]) -> str:
    """Write a command as text for the shell. The options of a long command are on separate lines.

    >>> format_command(["voile", "report", "my release.csv", "--out", "report.html"])
    "voile report 'my release.csv' --out report.html"
    """
    parts = [words[0]]
    for word in map(shlex.quote, words[1:]):
        if word.startswith("--"):
            parts.append(word)
        else:
            parts[-1] += f" {word}"
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)


def _fit(module: AnyModule, asked: Mapping[str, Any], audience: Audience, out: str) -> str:
    if VERB in asked:
        return _own(module, asked, audience, out)
    for name, value in asked.items():
        if found := describe_removed(module.kind, "fit", name, in_shell=True):
            given = " ".join(_words(name, value))
            return f"# {found[0]}; an earlier voile fitted this kit with {given}"
    own = _list_given(module.options.fit, asked, audience)
    where = ["--seed", "SEED", "--out", out]
    roles = [] if "text" in asked else ["--roles", "ROLES"]
    return format_command(["voile", module.kind, "fit", "SOURCE", *roles, *own, *where])


def _own(module: AnyModule, asked: Mapping[str, Any], audience: Audience, out: str) -> str:
    """Write the command of a verb that only one kind of data has. The seed is never shown."""
    verb = find_own_verb(module, asked[VERB])
    own = _list_given(verb.options, {n: x for n, x in asked.items() if n != "seed"}, audience)
    places = [name.upper() for name in verb.arguments]
    return format_command(
        ["voile", module.kind, verb.name, *places, *own, "--seed", "SEED", "--out", out]
    )


def _list_given(model: type[BaseModel], asked: Mapping[str, Any], audience: Audience) -> list[str]:
    """Return options as words. For the public, free text becomes a placeholder."""
    words: list[str] = []
    for name, field in fields_of(model).items():
        if name in asked:
            value = asked[name]
            if audience == "public" and str in leaves(field.annotation):
                value = [None] * len(value) if isinstance(value, list | tuple) else None
            words += _words(name, value)
    return words


def _words(name: str, value: Any) -> list[str]:
    """Write an option as words. The value None becomes a placeholder with the option's name.

    >>> _words("keep_order", True), _words("population", [None]), _words("max_risk", 0.1)
    (['--keep-order'], ['--population', 'POPULATION'], ['--max-risk', '0.1'])
    """
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else f"--no-{option[2:]}"]
    if isinstance(value, list | tuple):
        return [word for one in value for word in _words(name, one)]
    if value is None:
        return [option, option[2:].upper()]
    return [option, str(value).removesuffix(".0")]
