"""What a verb says at its end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from voile.cli.results import tell_attacked, tell_fitted
from voile.cli.screen import CommandScreen
from voile.core.evidence import Evidence, Finding, Note, Rate


def test_of_a_quantity_counted_often_the_largest_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    often = [
        Finding("right person", Rate(n, 10), at=Note("{n} items", {"n": n})) for n in (1, 7, 3, 2)
    ]
    few = [Finding("one person left", Rate(n, 10), at=Note(f"case {n}")) for n in (1, 2, 3)]
    found = Evidence("items", "linkability", Note("Story."), findings=(*often, *few))
    tell_attacked(CommandScreen(), [found], Path("evidence.json"))
    _, *lines, last = capsys.readouterr().err.splitlines()
    assert [line.split("\t")[1] for line in lines] == [
        "right person, 7 items (largest of 4)",
        "one person left, case 1",
        "one person left, case 2",
        "one person left, case 3",
    ]
    assert last == "evidence.json: evidence of 1 attack; voile report shows all of it"


def test_a_total_is_shown_beside_the_largest_of_its_kinds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kinds = [Finding("left", Rate(n, 10), of=f"kind {n}") for n in (1, 9, 3, 2)]
    found = Evidence(
        "inspections", "singling out", Note("Story."), (), [*kinds, Finding("left", Rate(15, 40))]
    )
    tell_attacked(CommandScreen(), [found], Path("evidence.json"))
    _, *lines, _ = capsys.readouterr().err.splitlines()
    assert [line.split("\t")[1] for line in lines] == ["left, kind 9 (largest of 4)", "left"]


@pytest.mark.parametrize(
    ("stopped", "told"), [("seconds", True), ("finished", False), ("evaluations", False)]
)
def test_a_fit_that_time_ended_says_that_it_is_not_reproducible(
    capsys: pytest.CaptureFixture[str], stopped: str, told: bool
) -> None:
    kit = SimpleNamespace(
        id="1", kind="tables", visibility="private", facts={"policies": 3, "stopped": stopped}
    )
    assert tell_fitted(CommandScreen(), kit, Path("people.kit")) == 0  # type: ignore[arg-type]
    assert ("the same seed may find other policies" in capsys.readouterr().err) is told
