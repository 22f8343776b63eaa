"""SIGKILL while a study is applied: the old release stays whole, the new one appears, or none."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.hostile.cases import cases
from tests.hostile.tracing import Point, Tracer, check_strace

from voile.data.files.outputs import PRIVATE
from voile.study import Study
from voile.study.study_release import StudyRelease

pytestmark = pytest.mark.slow
KILLS = 3
FEW = 20  # notes


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracer]:
    check_strace()
    tracer = Tracer(tmp_path_factory.mktemp("traced"))
    yield tracer
    tracer.close()


@pytest.fixture(scope="module", params=["cohort", "fhir"])
def plan(request, tmp_path_factory) -> Path:
    """The plan of a fitted study of tables, or of an export, that has not been applied."""
    folder = tmp_path_factory.mktemp("killed") / request.param
    home = request.getfixturevalue(request.param)
    shutil.copytree(home, folder, ignore=shutil.ignore_patterns("*.release*", ".*"))
    if (notes := folder / "notes.parquet").exists():  # kills come between files, of any length
        pq.write_table(pq.read_table(notes).slice(0, FEW), notes)
    return folder / "study.toml"


def take_away(plan: Path) -> None:
    """Remove a release that is there, and let lie what a killed run left of one that is not."""
    if (release := plan.with_suffix(".release")).exists():
        shutil.rmtree(release)
        shutil.rmtree(f"{release}{PRIVATE}")


def check_whole_or_none(plan: Path) -> None:
    """Hold what a kill left: a release that verifies with its private folder, or none."""
    if (release := plan.with_suffix(".release")).exists():
        assert Path(f"{release}{PRIVATE}").is_dir()
        assert all(one.holds is not False for one in Study.open(plan).verify())


def picked(points: list[Point], seed: str) -> list[Point]:
    """The first, the last rename, and some others, in the order in which they come."""
    last = max(n for n, point in enumerate(points) if point.call.startswith("rename"))
    others = [n for n in range(1, len(points)) if n != last]
    drawn = random.Random(seed).sample(others, min(cases(KILLS) - 2, len(others)))
    return [points[n] for n in sorted({0, last, *drawn})]


def test_a_killed_apply_leaves_the_old_release_the_new_one_or_none(plan: Path, tracer: Tracer):
    words = ["study", "apply", plan, "--quiet"]
    for more in ([], ["--force"]):  # without an old release, and over one
        points = tracer.points([*words, *more], plan.parent)
        assert len(points) > KILLS
        for point in picked(points, f"{plan.parent.name} {more}"):
            if not more:
                take_away(plan)
            tracer.kill([*words, *more], point)
            check_whole_or_none(plan)
        again = ["--force"] if plan.with_suffix(".release").exists() else more
        assert tracer.run([*words, *again]) == 0
        assert plan.with_suffix(".release").exists()
        check_whole_or_none(plan)
    assert not [path.name for path in plan.parent.iterdir() if path.name.startswith(".")]


def test_a_killed_accept_leaves_the_release_whole_and_goes_on(plan: Path, tracer: Tracer):
    reading = plan.with_suffix(".release.acceptance")
    answers = plan.with_name("answers.jsonl")
    answers.write_text("".join(f'{{"line": {n}, "spans": []}}\n' for n in range(1, 5000)))
    apply = ["study", "apply", plan, "--quiet", "--force"]
    accept = ["study", "accept", plan, "--quiet", "--answers", answers, "--at-most", "30"]

    def begin() -> None:
        shutil.rmtree(reading, ignore_errors=True)
        assert tracer.run(apply) == 0

    begin()
    points = tracer.points(accept, plan.parent, ends=1)
    assert len(points) > KILLS
    for point in picked(points, f"{plan.parent.name} accept"):
        begin()
        tracer.kill(accept, point)
        while (code := tracer.run(accept)) != 0:
            release = StudyRelease.open(plan.with_suffix(".release"))
            if "acceptance" in release.private["parts"]["notes"]:
                break
        assert code == 1  # nothing is proved by a reader who sees nothing
        check_whole_or_none(plan)
    assert not [path.name for path in plan.parent.iterdir() if path.name.startswith(".")]


def test_a_killed_attack_leaves_a_release_that_verifies(plan: Path, tracer: Tracer):
    """At each point, with earlier evidence and without; the next attack and apply go on."""
    assert tracer.run(["study", "apply", plan, "--quiet", "--force"]) == 0
    attack = ["study", "attack", plan, "--quiet"]
    private = Path(f"{plan.with_suffix('.release')}{PRIVATE}")
    points = tracer.points(attack, plan.parent)
    evidence = ("evidence.json", "evidence-seal.json")
    for is_first in (True, False):
        for point in picked(points, f"{plan.parent.name} attack {is_first}"):
            for name in evidence if is_first else ():
                (private / name).unlink(missing_ok=True)
            tracer.kill(attack, point)
            check_whole_or_none(plan)
            assert not [path.name for path in private.iterdir() if path.name.startswith(".")]
    tracer.kill(attack, points[0])
    assert tracer.run(["study", "apply", plan, "--quiet", "--force"]) == 0
    assert tracer.run(attack) == 0
    check_whole_or_none(plan)
