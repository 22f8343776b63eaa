"""A removed name answers in one sentence, in the shell and in Python, with a remedy that works."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import voile
import voile.itemsets
import voile.signals
from voile.cli.run import run
from voile.core.errors import RequestError
from voile.core.removed_names import REMOVED_NAMES
from voile.study import Study

COMMANDS = {
    ("signals", "export", ""): "signals export KIT --out device",
    ("signals", "enrol", "small"): "signals enrol KIT --classes classes.csv --small --out p17",
    ("signals", "fit", "epsilon"): "signals fit readings.csv --roles r.toml --epsilon 1 --out KIT",
    ("signals", "assess", ""): "signals assess mine.csv theirs.csv --out report.html",
    ("itemsets", "adversaries", ""): "itemsets adversaries held.csv --roles roles.toml --k 5",
}
ONLY_PYTHON = {("itemsets", "Against", ""), ("itemsets", "against", "")}
METHODS: dict[tuple[str, str, str], Callable[[], object]] = {
    ("", "Kit.load", ""): lambda: voile.Kit.load("kit"),
    ("", "Release.open", ""): lambda: voile.Release.open("release.csv"),
    ("study", "Study.determine", ""): lambda: Study.determine(None, "context.toml", "out"),
}


def test_every_removed_name_is_tested() -> None:
    assert COMMANDS.keys() | ONLY_PYTHON | METHODS.keys() == REMOVED_NAMES.keys()


@pytest.mark.parametrize("name", METHODS)
def test_a_removed_method_names_its_replacement(name: tuple[str, str, str]) -> None:
    with pytest.raises(RequestError) as failed:
        METHODS[name]()
    method = ".".join(filter(None, ["voile", *name[:2]]))
    said = f"`{method}` was removed in 0.2.0; {REMOVED_NAMES[name].in_python}"
    assert str(failed.value) == said


@pytest.mark.parametrize("name", ["against", "Against"])
def test_a_name_of_python_alone_is_merely_unknown_in_the_shell(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["itemsets", name, "held.csv"]) == 2
    assert "removed" not in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_shell_answers_in_one_sentence(
    name: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    kind, verb, option = name
    typed = f"{kind} {verb} --{option}" if option else f"{kind} {verb}"
    assert run(COMMANDS[name].split()) == 2
    out, said = capsys.readouterr()
    remedy = REMOVED_NAMES[name].in_shell
    assert (out, said) == ("", f"`{typed}` was removed in 0.2.0; {remedy}\n")


def test_json_has_the_problem_and_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signals", "export", "KIT", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"] == {
        "what": "`signals export` was removed in 0.2.0",
        "where": None,
        "instead": "use `voile signals send`",
    }


@pytest.mark.parametrize("kind", ["documents", "itemsets", "tables"])
def test_a_name_that_another_kind_lost_is_merely_unknown(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([kind, "export", "KIT"]) == 2
    assert "removed" not in capsys.readouterr().err
    assert run([kind, "fit", "people.csv", "--epsilon", "1"]) == 2
    assert "removed" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", [name for name in REMOVED_NAMES if not name[2] and name not in METHODS]
)
def test_a_removed_function_names_its_replacement(name: tuple[str, str, str]) -> None:
    kind, verb, _ = name
    said = f"`voile.{kind}.{verb}` was removed in 0.2.0; {REMOVED_NAMES[name].in_python}"
    module = importlib.import_module(f"voile.{kind}")
    with pytest.raises(ImportError) as failed:
        getattr(module, verb)
    assert str(failed.value) == said
    assert verb not in dir(module)
    assert verb not in module.__all__


def test_an_import_shows_the_sentence() -> None:
    words = [sys.executable, "-c", "from voile.itemsets import adversaries"]
    failed = subprocess.run(words, capture_output=True, text=True, check=False)
    assert failed.stderr.splitlines()[-1] == (
        "ImportError: `voile.itemsets.adversaries` was removed in 0.2.0; fit a kit for each "
        "adversary with `voile.itemsets.fit(m=...)`"
    )


def test_other_unknown_names_are_no_attributes() -> None:
    assert not hasattr(voile.signals, "exports")
    assert not hasattr(voile.itemsets, "export")


def test_a_removed_keyword_names_its_replacement(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as failed:
        voile.signals.fit({"x": [1]}, roles={}, epsilon=1)
    assert str(failed.value) == (
        "`epsilon` of `voile.signals.fit` was removed in 0.2.0; leave it out, and give the kit to "
        "its devices and its recipient alone"
    )
    with pytest.raises(RequestError, match=r"^`small` of `voile.signals.enrol` was removed in"):
        voile.signals.enrol("kit", tmp_path / "out", classes="classes.csv", small=True)
    with pytest.raises(RequestError, match="no such option: epsilon"):
        voile.itemsets.fit({"x": [1]}, roles={}, epsilon=1)


@pytest.mark.parametrize("command", ["signals send", "signals enrol", "signals attack"])
def test_a_remedy_is_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(f"`voile {command}`" in one.in_shell for one in REMOVED_NAMES.values())
    assert run([*command.split(), "--help"]) == 0
    assert capsys.readouterr().out


def test_fit_of_itemsets_takes_m(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["itemsets", "fit", "--help"]) == 0
    assert "--m INTEGER" in capsys.readouterr().out
