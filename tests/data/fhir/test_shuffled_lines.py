"""Every line is written once, in another order, and the scratch file is removed."""

from __future__ import annotations

import json

import numpy as np

from voile.data.fhir.lines import ShuffledLines


def test_every_row_is_written_once_in_a_random_order(tmp_path):
    lines = ShuffledLines(tmp_path / "scratch")
    rows = [{"id": n, "text": "é\n" * n} for n in range(50)]
    for row in rows:
        lines.add(row)
    assert lines.write(tmp_path / "out", np.random.default_rng(1)) == 50
    found = [json.loads(line) for line in (tmp_path / "out").read_text("utf-8").splitlines()]
    assert found != rows
    assert sorted(found, key=lambda row: row["id"]) == rows
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
