"""The commands of a click: files to write and verbs to run, in the shell and in Python."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from voile.face.commands import format_command

MARK = "END_OF_FILE"
LISTS = frozenset(
    {
        "attack --known",
        "attack --known-people",
        "edit --merge",
        "edit --split",
        "fit --population",
        "init --known",
        "init --known-people",
        "roles --set",
        "sign --condition",
    }
)
"""The options that may be repeated, each with its verb."""
NUMBERS = frozenset(
    {"k", "max_risk", "suppress", "hold_out", "seed", "policy", "max_loss", "at_most", "per"}
)
"""The options with a numeric value. `policy` of `apply` is a file."""
NUMBER = re.compile(r"[0-9.]+(e-?[0-9]+)?")


@dataclass(frozen=True)
class FileWrite:
    """A small file that the page writes."""

    name: str
    text: str

    @property
    def shell(self) -> str:
        """The command that writes the file."""
        mark = MARK
        while mark in self.text.splitlines():
            mark += "_"
        return f"cat > {shlex.quote(self.name)} <<'{mark}'\n{self.text.rstrip()}\n{mark}"

    @property
    def python(self) -> str:
        """The statement that writes the file."""
        return f"write({self.name!r}, {self.text.rstrip()!r})"


@dataclass(frozen=True)
class VerbCall:
    """One command of voile.

    words : the words after `voile`.
    writes : the file or folder that the command writes.
    is_edit : whether it edits a policy, for which the page has a kit in memory.
    """

    words: tuple[str, ...]
    writes: str
    is_edit: bool = False

    @property
    def shell(self) -> str:
        """The command in shell syntax."""
        return format_command(["voile", *self.words])

    @property
    def python(self) -> str:
        """The Python call for the same command."""
        return write_python(self.words)


Move = FileWrite | VerbCall


def write_python(words: Sequence[str]) -> str:
    """Write a command as a Python call with the same effect.

    >>> print(write_python(["tables", "choose", "a.kit", "--policy", "3", "--out", "p.toml"]))
    voile.open_kit('a.kit').choose(policy=3).save('p.toml', force=True)
    """
    given, options = split_words(words)
    out = options.pop("out", "")
    options.pop("force", None)
    pairs = {name: _literal(name, value) for name, value in options.items()}
    match given:
        case ["study", *_]:
            return _write_study(given, options, out, pairs)
        case ["inspect", source]:
            call = _call("voile.inspect", [repr(source)], pairs)
            return f"{call}.save({out!r}, force=True)"
        case ["roles", file]:
            return _call("correct_roles_file", [f"Path({file!r})", pairs["set"]], {})
        case [kind, "fit", source]:
            call = _call(f"voile.{kind}.fit", [repr(source)], pairs)
            return f"{call}.save({out!r}, force=True)"
        case ["documents", "init", source]:
            places = [repr(source), repr(out)]
            return _call("voile.documents.init", places, {**pairs, "force": "True"})
        case ["documents", ("review" | "accept") as verb, *places]:
            return _call(f"voile.documents.{verb}", [*map(repr, places)], pairs)
        case [_, "choose", kit]:
            call = _call(f"voile.open_kit({kit!r}).choose", [], pairs)
            return f"{call}.save({out!r}, force=True)"
        case [kind, "edit", kit]:
            places = [repr(kit), repr(out)]
            return _call(f"voile.{kind}.edit", places, {**pairs, "force": "True"})
        case [_, "apply", kit, source]:
            places = [pairs.pop("policy"), repr(source), repr(out), "force=True"]
            return _call(f"voile.open_kit({kit!r}).apply", places, pairs)
        case [_, "attack", release]:
            original = pairs.pop("original")
            call = _call(f"voile.open_release({release!r}).attack", [original], pairs)
            seal = {"key_file": pairs["key_file"]} if "key_file" in pairs else {}
            return _call(f"{call}.save", [], {**seal, "force": "True"})
        case ["determine", release]:
            places = [f"voile.open_release({release!r})", pairs.pop("context"), repr(out)]
            return _call("voile.determination.determine", places, {**pairs, "force": "True"})
        case ["sign", folder]:
            names = {"as": "signer", "condition": "conditions"}
            places = [repr(folder), pairs.pop("decision")]
            renamed = {names.get(name, name): value for name, value in pairs.items()}
            return _call("voile.determination.sign", places, renamed)
    raise AssertionError(given[0])


def _write_study(
    given: Sequence[str], options: Mapping[str, object], out: object, pairs: Mapping[str, str]
) -> str:
    """Write a command of a study as a Python call."""
    _, verb, place = given
    study = f"Study.open({place!r})"
    match verb:
        case "init":
            return _call("init_study", [repr(place), f"Path({out!r})"], {**pairs, "force": "True"})
        case "check":
            return f"{study}.check()"
        case "review" | "accept":
            asked_of = {name: value for name, value in pairs.items() if name != "part"}
            model = "ReviewOptions" if verb == "review" else "ReadingOptions"
            asked = _call(model, [], asked_of)
            return f"{study}.{verb}({asked}, WarningReporter(), part={pairs['part']})"
        case "attack":
            register = [repr(options["register"])] if "register" in options else []
            return _call(f"{study}.attack", register, {"parts": "True"})
        case "determine":
            places = [study, pairs["context"], repr(out)]
            return _call(
                "voile.determination.determine_study", places, {"pdf": "False", "force": "True"}
            )
    return f"{study}.{verb}(force=True)"


def split_words(words: Sequence[str]) -> tuple[list[str], dict[str, object]]:
    """Separate a command's arguments from its options."""
    given: list[str] = []
    options: dict[str, object] = {}
    left = list(words)
    verb = next((one for one in words[:2] if any(x.startswith(f"{one} ") for x in LISTS)), "")
    while left:
        word = left.pop(0)
        if not word.startswith("--"):
            given.append(word)
            continue
        name = word[2:].replace("-", "_")
        if f"{verb} {word}" in LISTS:
            options[name] = [*_as_list(options.get(name)), left.pop(0)]
        elif not left or left[0].startswith("--"):
            is_negated = name in ("no_pdf", "no_browser")
            options[name[3:] if is_negated else name] = not is_negated
        else:
            options[name] = left.pop(0)
    return given, options


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _literal(name: str, value: object) -> str:
    is_number = name in NUMBERS and isinstance(value, str) and NUMBER.fullmatch(value)
    return str(value) if is_number else repr(value)


def _call(name: str, places: Sequence[str], options: Mapping[str, str]) -> str:
    given = [*places, *(f"{option}={value}" for option, value in options.items())]
    return f"{name}({', '.join(given)})"
