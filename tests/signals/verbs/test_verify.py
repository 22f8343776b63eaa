"""Verify says of a release of signals what holds, what does not, and nothing of what it lacks."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.signals.clinic import applied, fitted, people, roles

from voile.release.choice import Choice
from voile.release.manifest import StoredRelease, manifest_path
from voile.signals.verbs.choose import choose
from voile.signals.verbs.verify import verify

GRAIN = "no message is finer than 2^-44"
MESSAGES = "every row has a message for each reading, or none"
CERTIFIED = {f"{name} is as certified" for name in ("rows", "blank", "decoded")}
PRIVATE = {f"{name} is as certified" for name in ("subjects", "outside")}
GATE = ("finer_messages", "class_separation(pulse)", "class_separation(weight)")
MEASURED = {f"{name} is as certified" for name in GATE}


@pytest.fixture(scope="module")
def kit():
    return fitted()


@pytest.fixture(scope="module")
def whole(kit, tmp_path_factory):
    """A release with three rows that hold no message, and one reading beyond the fit."""
    weight = [None if i < 3 else x for i, x in enumerate(people()["weight"].to_pylist())]
    weight[7] = 900.0
    table = people(weight=pa.array(weight))
    return applied(kit, tmp_path_factory.mktemp("whole") / "sent.csv", table, missing="pass")


@pytest.fixture
def release(whole, tmp_path):
    """Return a copy that may be written to."""
    for path in (whole.path, manifest_path(whole.path)):
        shutil.copy(path, tmp_path / path.name)
    shutil.copytree(whole.folder, tmp_path / whole.folder.name)
    return StoredRelease.open(tmp_path / whole.path.name)


def failed(release):
    return {says for says, holds in verify(release) if holds is False}


def test_all_that_can_be_counted_again_is(release):
    found = dict(verify(release))
    assert {says for says, holds in found.items() if holds} == {
        "the columns are those of the manifest",
        MESSAGES,
        GRAIN,
        *CERTIFIED,
        *PRIVATE,
        *MEASURED,
    }
    assert False not in found.values()
    assert release.private["figures"]["blank"] == 3
    assert release.private["figures"]["outside"] > 0


@pytest.mark.parametrize("name", ["rows", "blank", "decoded", "subjects", "outside"])
def test_a_figure_that_is_not_what_was_counted_fails(release, name):
    figures = {**release.private["figures"], name: release.private["figures"][name] + 1}
    other = replace(release, private={**release.private, "figures": figures})
    assert failed(other) == {f"{name} is as certified"}


def test_a_recipient_checks_the_messages_and_counts_nobody(release):
    shutil.rmtree(release.folder)
    received = dict(verify(replace(release, private=None)))
    assert {says for says, holds in received.items() if holds is not None} == {
        "the columns are those of the manifest",
        MESSAGES,
        GRAIN,
    }
    assert False not in received.values()


def edit(release, row, column, value):
    lines = [line.split(",") for line in release.path.read_text().splitlines()]
    lines[row][lines[0].index(column)] = value
    release.path.write_text("".join(",".join(line) + "\n" for line in lines))


@pytest.mark.parametrize("value", ["heavy", ""])
def test_half_of_a_message_is_none(release, value):
    sent = release.path.read_text().splitlines()
    row = next(at for at, line in enumerate(sent) if at and ",," not in line)
    edit(release, row, "weight", value)
    assert list(verify(release))[1:] == [(MESSAGES, False)]


def test_other_columns_are_not_read(release):
    text = release.path.read_text()
    release.path.write_text(text.replace("weight", "height", 1))
    assert list(verify(release)) == [("the columns are those of the manifest", False)]


@pytest.mark.parametrize(("how", "said"), [({}, GRAIN), ({"places": 4}, "4 decimal places")])
def test_a_finer_message_would_tell_the_class(kit, tmp_path, how, said):
    release = applied(kit, tmp_path / "sent.csv", **how)
    assert failed(release) == set()
    edit(release, 240, "weight", "70.12345678901234567")
    [found] = failed(release) - MEASURED
    assert said in found


def test_what_hides_nothing_may_be_as_fine_as_it_is(kit, tmp_path):
    release = applied(kit, tmp_path / "sent.csv", chosen=choose(kit, Choice(max_relative_risk=1.0)))
    edit(release, 1, "weight", "70.12345678901234567")
    assert not any("is finer than" in says for says, _ in verify(release))


def test_texts_are_messages_of_no_grain(tmp_path):
    named = roles(ward={"role": "reading", "nominal": True})
    release = applied(fitted(None, named), tmp_path / "sent.csv")
    assert failed(release) == set()
    edit(release, 1, "pulse", "70.12345678901234567")
    assert failed(release) - MEASURED == {GRAIN}
