"""Test that a mistake gives the same message in Python and on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import tomli_w
from tests.contracts.conftest import Case

import voile
from voile.cli.run import run
from voile.cli.wing_options import spelt
from voile.core.errors import VoileError


def on_both_faces(
    call: Callable[[], Any], words: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[str, str]:
    """Return what is said of one mistake in Python, and on the command line as Python writes it."""
    with pytest.raises(VoileError) as refused:
        call()
    assert run(words) == refused.value.exit_code
    said = capsys.readouterr().err.strip().removeprefix("voile: ")
    return str(refused.value), re.sub(
        r"--([a-z]+(?:-[a-z]+)*)", lambda found: found[1].replace("-", "_"), said
    )


def test_both_faces_say_the_same(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(case.table, "people.parquet")
    pq.write_table(case.table.drop_columns(["ward"]), "few.parquet")
    roles = case.tiny.roles()
    columns = {name: {"role": c.role, **c.settings} for name, c in roles.columns.items()}
    written = {"subject": roles.subject, "columns": columns}
    Path("roles.toml").write_text(tomli_w.dumps(written))
    Path("wrong.toml").write_text(tomli_w.dumps({"columns": {"ward": "kep"}}))
    case.kit.save("kit")
    case.another(case.middle()).save("other.toml")
    call = import_module(f"voile.{case.kind}").fit
    applied = [case.kind, "apply", "kit", "people.parquet", "--out", "r.parquet"]
    asked = case.options["apply"].items()
    given = [word for n, x in asked for word in (spelt(n), *([] if x is True else [str(x)]))]
    begin = [case.kind, "fit", "people.parquet", "--out", "k"]
    for here, words in (
        (
            lambda: call("people.parquet", roles, hold_out=2),
            [*begin, "--roles", "roles.toml", "--hold-out", "2"],
        ),
        (
            lambda: call("few.parquet", roles),
            [case.kind, "fit", "few.parquet", "--out", "k", "--roles", "roles.toml"],
        ),
        (lambda: call("people.parquet", "wrong.toml"), [*begin, "--roles", "wrong.toml"]),
        (
            lambda: call("none.parquet", roles),
            [case.kind, "fit", "none.parquet", "--out", "k", "--roles", "roles.toml"],
        ),
        (
            lambda: case.kit.apply("other.toml", "people.parquet", **case.options["apply"]),
            [
                case.kind,
                "apply",
                "kit",
                "people.parquet",
                "--policy",
                "other.toml",
                "--out",
                "r.parquet",
                *given,
            ],
        ),
        (
            lambda: case.kit.choose(policy=10**6),
            [case.kind, "choose", "kit", "--policy", "1000000", "--out", "p"],
        ),
        (lambda: case.kit.choose(), [case.kind, "choose", "kit", "--out", "p"]),
        (
            lambda: case.kit.apply("nowhere.toml", "people.parquet", **case.options["apply"]),
            [*applied, "--policy", "nowhere.toml", *given],
        ),
        (
            lambda: voile.open_release("nowhere").attack(original="people.parquet"),
            [case.kind, "attack", "nowhere", "--original", "people.parquet"],
        ),
    ):
        python, shell = on_both_faces(here, [*words], capsys)
        assert python == shell


def test_the_original_of_an_attack_has_an_older_name(case: Case, tmp_path: Path) -> None:
    pq.write_table(case.table, tmp_path / "people.parquet")
    release = case.apply(tmp_path / "release.parquet", thing=tmp_path / "people.parquet")
    asked = case.options["attack"]
    newer = release.attack(original=case.table, seed=1, **asked)
    assert repr(list(release.attack(truth=case.table, seed=1, **asked))) == repr(list(newer))
    for names in ({}, {"original": case.table, "truth": case.table}):
        with pytest.raises(VoileError, match="one original source"):
            release.attack(seed=1, **asked, **names)
    lists = {n: x if isinstance(x, list) else [x] for n, x in asked.items()}
    given = [word for n, each in lists.items() for x in each for word in (spelt(n), str(x))]
    own = [case.kind, "attack", str(release.path), "--seed", "1", *given]
    for name in ("original", "truth"):
        out = ["--out", str(tmp_path / f"{name}.json")]
        assert run([*own, f"--{name}", str(tmp_path / "people.parquet"), *out]) == 0
    assert (tmp_path / "truth.json").read_bytes() == (tmp_path / "original.json").read_bytes()


WRONG = {
    "hold_uot": "no such option: hold_uot; did you mean hold_out",
    "zzzzzz": "no such option: zzzzzz; ",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_keyword_is_refused_as_a_wrong_option_is(
    case: Case, capsys: pytest.CaptureFixture[str], tmp_path: Path, wrong: str
) -> None:
    """There the command's name stands before it, and it may be like another of its options."""
    path = str(tmp_path / "people.parquet")
    pq.write_table(case.table, path)
    call = import_module(f"voile.{case.kind}").fit
    python, shell = on_both_faces(
        lambda: call(path, case.tiny.roles(), **{wrong: 1}),
        [case.kind, "fit", path, spelt(wrong), "1"],
        capsys,
    )
    assert python.startswith(WRONG[wrong])
    assert shell.startswith(f"voile {case.kind} fit: {WRONG[wrong]}")
