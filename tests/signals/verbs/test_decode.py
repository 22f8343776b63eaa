"""A release that somebody else wrote, hash and all: what no reading can be is not stored as one."""

from __future__ import annotations

import csv
import json
import stat
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
from tests.signals.clinic import applied, fitted, people, roles, strongest, table_of

from voile.cli.run import run
from voile.core.progress import silent
from voile.data import open_source
from voile.keys.seal import file_sha256
from voile.release.manifest import StoredRelease
from voile.signals.model.readings.forms import ReadingColumn, ReadingSettings
from voile.signals.options import Method
from voile.signals.verbs.decode import decode

MOOD = {"role": "reading", "ordinal": ["low", "even", "high"]}
WEIGHT = {"role": "reading", "resolution": 0.1, "bounds": [30, 120]}


def of_moods(**columns):
    rng = np.random.default_rng(3)
    return people(mood=np.array(["low", "even", "high"])[rng.integers(0, 3, 240)], **columns)


def forged(release, column, *values):
    """Write values into the first cells of a column of a release, and its hash anew."""
    with release.path.open() as file:
        names, *rows = csv.reader(file)
    for row, value in zip(rows, values, strict=False):
        row[names.index(column)] = repr(value)
    with release.path.open("w") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])
    manifest = release.path.with_name(f"{release.path.name}.manifest.json")
    public = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**public, "sha256": file_sha256(release.path)}))
    return StoredRelease.open(release.path)


def again(kit, release, out, *, force=False):
    """Decode a release; return its rows and those set aside."""
    classes = open_source(release.folder / "classes.csv")
    found = decode(kit, strongest(kit), release, classes, out, force=force, progress=silent)
    aside = [json.loads(line) for line in found.aside.read_text().splitlines()]
    assert (found.rows, found.set_aside) == (table_of(out).num_rows, len(aside))
    return table_of(out), aside


@pytest.mark.parametrize("value", [1e12, -1e12, 1e17, 1e300, -1.7e308, 300.0])
def test_a_forged_message_is_set_aside_and_every_other_row_decodes(tmp_path, value):
    kit = fitted()
    release = applied(kit, tmp_path / "sent.csv")
    whole, aside = again(kit, release, tmp_path / "back.csv")
    assert (whole.num_rows, aside) == (240, [])
    back, (line,) = again(kit, forged(release, "pulse", value), tmp_path / "back.csv", force=True)
    assert back.equals(whole.slice(1))
    assert line["row"] == 0
    assert "pulse" in line["outside"]
    first = whole.slice(0, 1).to_pylist()[0]
    assert all(line["decoded"][name] == first[name] for name in ("pseudonym", "ward"))


def test_what_no_word_or_bound_of_a_column_holds_is_set_aside(tmp_path):
    table = of_moods()
    kit = fitted(table, roles(mood=MOOD, weight=WEIGHT))
    release = applied(kit, tmp_path / "sent.csv", table)
    honest = table_of(release.path)
    mood, weight = (list(map(float, honest[name].to_pylist())) for name in ("mood", "weight"))
    ill = forged(release, "mood", mood[0] + 3, mood[1] - 3)
    ill = forged(ill, "weight", *weight[:3], 140.0)
    back, aside = again(kit, ill, tmp_path / "back.parquet")
    assert [line["row"] for line in aside] == [0, 1, 3]
    assert [line["outside"] for line in aside[:2]] == [["mood"], ["mood"]]
    assert "weight" in aside[2]["outside"]  # and mood, where it hangs on the weight
    assert back.num_rows == 237
    assert set(back["mood"].to_pylist()) == {"low", "even", "high"}


TYPES = [
    (pa.int8(), [-128, 127], [-129, 128, 1e12]),
    (pa.uint16(), [0, 65535], [-1, 65536]),
    (pa.int64(), [-(2**52), 2**52], [2.0**53, 1e300, np.nan]),
    (pa.decimal128(4, 1), [-999.9, 999.9], [1000, -1000]),
    (pa.float32(), [1e15], [np.inf, -np.inf, np.nan]),
]


@pytest.mark.parametrize(("type_", "held", "outside"), TYPES)
def test_what_a_column_s_type_does_not_hold_is_outside(type_, held, outside):
    form = ReadingColumn("pulse", ReadingSettings())
    values = np.array([*held, *outside], dtype=np.float64)
    found = form.is_outside(values, type_)
    assert found.tolist() == [False] * len(held) + [True] * len(outside)
    form.restore_type(values[~found], np.zeros(len(held), dtype=np.bool_), type_)


@pytest.mark.whole
@pytest.mark.parametrize("method", get_args(Method))
def test_nothing_of_an_honest_release_is_set_aside(tmp_path, method):
    skewed = np.ceil(np.random.default_rng(4).lognormal(4, 0.7, 240))
    table = people(pulse=skewed)
    kit = fitted(table, method=[method])
    _, aside = again(kit, applied(kit, tmp_path / "sent.csv", table), tmp_path / "back.csv")
    assert not aside


def test_the_command_says_where_rows_were_set_aside_and_exits_with_1(tmp_path, capsys):
    kit, sent, back = fitted(), tmp_path / "sent.csv", tmp_path / "back.csv"
    kit.save(tmp_path / "kit")
    (tmp_path / "policy.toml").write_text(strongest(kit).to_toml())
    forged(applied(kit, sent), "weight", 1e12)
    given = ["--policy", tmp_path / "policy.toml", "--classes", f"{sent}.private/classes.csv"]
    words = ["signals", "decode", tmp_path / "kit", sent, *given, "--out", back, "--json"]
    assert run([str(word) for word in words]) == 1
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert (result["rows"], result["set_aside"]) == (239, 1)
    assert f"1 row outside the range, in {back}.set-aside.jsonl" in said.err
    parts = [
        back,
        *(back.with_name(f"{back.name}.{name}") for name in ("manifest.json", "set-aside.jsonl")),
    ]
    assert [stat.S_IMODE(part.stat().st_mode) for part in parts] == [0o600] * 3
