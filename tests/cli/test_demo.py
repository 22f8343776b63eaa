"""`voile demo` as a newcomer runs it: in a path with spaces, and without a network."""

from __future__ import annotations

import csv
import json
import re
import shutil
import socket
import stat
import statistics
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Ran

from voile.cli.run import run
from voile.cli.screen import CommandScreen


def median_width_of_ages(release: Path) -> float:
    """Return how many years the median age interval of a release has."""
    with release.open(newline="") as lines:
        ends = [[int(x) for x in re.findall(r"\d+", row["age"])] for row in csv.DictReader(lines)]
    return statistics.median(each[-1] - each[0] + 1 for each in ends)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """Return the demo's folder, and what it printed without a network."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the demo asked the network for something")

    out = tmp_path_factory.mktemp("demo") / "a made-up county"
    with (
        pytest.MonkeyPatch.context() as patched,
        redirect_stdout(StringIO()) as printed,
        redirect_stderr(StringIO()) as shown,
    ):
        patched.setattr(socket.socket, "connect", refuse)
        patched.delenv("VOILE_SECRET", raising=False)
        code = run(["demo", "--out", str(out), "--json"])
    return out, Ran(code, printed.getvalue(), shown.getvalue())


def test_the_demo_ends_with_three_sentences_and_a_report(
    voile: Any, demo: tuple[Path, Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    out, ran = demo
    assert ran.code == 0, ran.err
    told = ran.json
    assert len(told["sentences"]) == 3
    assert "Safe Harbor" in told["sentences"][2]
    figures = json.loads((out / "release.csv.private" / "manifest.json").read_text())["figures"]
    assert figures["k"] >= 5
    assert figures["max_risk"] <= 0.09
    assert "This policy beats it in both" in told["sentences"][2]
    assert median_width_of_ages(out / "release.csv") <= 10
    assert not [one for one in told["sentences"] if "certain" in one or "one group" in one]
    page = Path(told["report"]).read_text()
    assert told["sentences"][0] in page
    assert "for an adversary who also knows diagnosis" in page
    for verb in ("inspect", "fit", "choose", "apply", "attack", "report"):
        assert f"$ voile {verb}" in ran.err or f"$ voile tables {verb}" in ran.err
    assert stat.S_IMODE((out / "private").stat().st_mode) == 0o700
    assert stat.S_IMODE((out / "private" / "key").stat().st_mode) == 0o600
    key = (out / "private" / "key").read_text()
    shown = [
        page,
        (out / "release.csv").read_text(),
        (out / "release.csv.manifest.json").read_text(),
    ]
    assert not [text for text in shown if key in text]
    assert voile("verify", out / "release.csv").code == 0
    assert voile("verify", out / "release.csv", "--key-file", out / "private" / "key").code == 0
    assert "replace it with --force" in voile("demo", "--out", out).err
    attack = ["attack", out / "release.csv", "--original", out / "county" / "patients.csv"]
    unkeyed = voile("tables", *attack, "--out", tmp_path / "again.json", "--quiet")
    assert unkeyed.code == 0
    assert "Set VOILE_SECRET or --key-file, as for apply" in unkeyed.err


@pytest.mark.slow
def test_the_demo_runs_again_in_its_own_folder(
    voile: Any, demo: tuple[Path, Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voile.cli.demo.PEOPLE", 120_000)  # as few as beat Safe Harbor
    out = shutil.copytree(demo[0], tmp_path / "demo")
    (out / "notes.txt").write_text("mine")
    assert voile("demo", "--out", out, "--force", "--quiet").code == 0
    assert (out / "notes.txt").read_text() == "mine"
    (out / "kit" / "notes.txt").write_text("mine")
    assert voile("demo", "--out", out, "--force", "--quiet").code == 2
    assert (out / "kit" / "notes.txt").read_text() == "mine"


def test_a_link_in_the_folder_leads_to_nothing_that_is_replaced(tmp_path: Path) -> None:
    from voile.cli.demo import _prepare
    from voile.core.errors import RequestError
    from voile.data.files.outputs import DEMO_FORMAT, DEMO_MARK, manifest_of

    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.write_text("mine")
    (out / "private").mkdir(parents=True)
    (out / DEMO_MARK).write_bytes(manifest_of(DEMO_FORMAT))
    (out / "private" / "key").symlink_to(mine)
    _prepare(CommandScreen(json=False, quiet=True), out, force=True)
    (out / "roles.toml").unlink()
    (out / "roles.toml").symlink_to(mine)
    with pytest.raises(RequestError, match="is not a roles file that voile wrote"):
        _prepare(CommandScreen(json=False, quiet=True), out, force=True)
    assert mine.read_text() == "mine"
