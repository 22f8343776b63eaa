"""Kill commands at renames, fsyncs and unlinks. The output is then old, new, or absent.

Each command runs once under strace, which counts its calls on the folder of its output. Then it is
killed at some of these calls. Each run starts from the files of the previous one, and the test
checks them. At last the command runs to its end. CI tries a fixed sample of the calls, and `make
hostile` tries more.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import tomli_w
from tests.hostile.cases import cases
from tests.hostile.tracing import Point, Tracer, check_strace

from voile.cli.run import run
from voile.modules import MODULES

pytestmark = pytest.mark.slow
KILLS = 2


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracer]:
    check_strace()
    tracer = Tracer(tmp_path_factory.mktemp("traced"))
    yield tracer
    tracer.close()


class Flow:
    """The commands of one wing over its tiny source, each with an output in a folder of its own."""

    def __init__(self, kind: str, folder: Path) -> None:
        tiny = import_module(f"tests.contracts.{kind}")
        self.kind, self.folder, self.source = kind, folder, folder / "source.parquet"
        pq.write_table(tiny.ordinary(), self.source)
        roles, options = folder / "roles.toml", tiny.options(folder)
        roles.write_text(tomli_w.dumps(tiny.roles().model_dump(exclude_none=True)))
        kit, policy, release = self.out("fit"), folder / "policy.toml", self.out("apply")
        fit = [kind, "fit", self.source, "--roles", roles, "--seed", 1]
        apply = [kind, "apply", kit, self.source, "--policy", policy]
        attack = [kind, "attack", release, "--original", self.source, "--seed", 1]
        self.commands: dict[str, list[object]] = {
            "fit": [*fit, *words_of(options["fit"])],
            "choose": [kind, "choose", kit, "--policy", 1],
            "apply": [*apply, *words_of(options["apply"])],
            "attack": [*attack, *words_of(options["attack"])],
            "report": ["report", release],
        }

    def out(self, verb: str) -> Path:
        """Where a command writes."""
        name = {"fit": "kit", "apply": "release.csv", "attack": "found.json"}.get(verb, "page.html")
        (self.folder / verb).mkdir(exist_ok=True)
        return self.folder / verb / name

    def words(self, verb: str, *more: str) -> list[object]:
        """A command as it is typed."""
        out = self.folder / "policy.toml" if verb == "choose" else self.out(verb)
        return [*self.commands[verb], "--out", out, "--quiet", *more]


def words_of(options: dict[str, Any]) -> list[object]:
    """Options as words of a command; what is true is a word alone."""
    return [
        word
        for name, value in options.items()
        for one in (value if isinstance(value, list) else [value])
        for word in (f"--{name.replace('_', '-')}", one)
        if word is not True
    ]


@pytest.fixture(scope="module")
def flow(
    request: pytest.FixtureRequest, tracer: Tracer, tmp_path_factory: pytest.TempPathFactory
) -> Flow:
    flow = Flow(request.param, tmp_path_factory.mktemp(request.param))
    for verb in ("fit", "choose", "apply"):
        assert tracer.run(flow.words(verb)) == 0
    return flow


def look(folder: Path) -> dict[str, str]:
    """Every file in a folder but what voile has set aside, and its hash."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.relative_to(folder).parts[0].startswith(".")
    }


def is_whole(verb: str, out: Path, expected: dict[str, str], capsys: Any) -> bool:
    """Whether an output is what the command gives: by its bytes, or, drawn at random, verified."""
    found = look(out.parent)
    if verb != "apply":
        return found == expected
    verified = run(["verify", str(out)]) == 0
    capsys.readouterr()
    return verified and found.keys() == expected.keys()


# Evidence and reports are written by the same lines for every wing.
OF_ONE = [("tables", "attack"), ("tables", "report")]


@pytest.mark.parametrize(
    ("flow", "verb"),
    [*product(sorted(MODULES), ("fit", "apply")), *OF_ONE],
    indirect=["flow"],
    scope="module",
)
def test_a_killed_command_leaves_the_old_output_the_new_one_or_none(
    flow: Flow, tracer: Tracer, verb: str, capsys: Any
) -> None:
    out = flow.out(verb)
    clear(out.parent)
    expected: dict[str, str] = {}
    for more in ([], ["--force"]):  # without an old output, and over one
        points = tracer.points(flow.words(verb, *more), out.parent)
        expected = expected or look(out.parent)
        for point in picked(points, f"{flow.kind} {verb}"):
            if not more:
                take_away(out)
            # one that has not to set right what the last left may end before it comes there
            landed = tracer.kill(flow.words(verb, *more), point)
            assert (landed and not out.exists()) or is_whole(verb, out, expected, capsys), point
        again = ["--force"] if out.exists() else more
        assert tracer.run(flow.words(verb, *again)) == 0
        assert is_whole(verb, out, expected, capsys)
        assert not [path.name for path in out.parent.iterdir() if path.name.startswith(".")]


def picked(points: list[Point], seed: str) -> list[Point]:
    """The last rename, at which all parts but the main one are in, and some others."""
    last = max(i for i, point in enumerate(points) if point.call.startswith("rename"))
    others = points[:last] + points[last + 1 :]
    few = min(cases(KILLS) - 1, len(others))
    return [points[last], *random.Random(seed).sample(others, few)]


def take_away(out: Path) -> None:
    """Remove an output that is there, and let lie what a killed run left of one that is not."""
    if out.exists():
        clear(out.parent)


def clear(folder: Path) -> None:
    """Leave nothing in a folder."""
    shutil.rmtree(folder)
    folder.mkdir()
