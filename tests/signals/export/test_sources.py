"""An export's files: no name is in a source, and nothing differs from class to class."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from tests.signals.days import fitted
from tests.signals.export.exported import COLUMNS, codec, compiled, write
from tests.signals.made_up import NAMES, readings

from voile.core.errors import RequestError
from voile.signals import SequenceCodec
from voile.signals.export import tables
from voile.signals.export.sources import sources
from voile.signals.export.tables import FixedTables

NASTY = [
    '"; system("true"); //',
    "*/ #error no",
    "`${process.exit(3)}`",
    "</script>\n\\",
    "\u2028é",
]
COUNTING = """
import { tables } from "./voile_tables.mjs";
let reads = 0;
tables.numbers = new Proxy(tables.numbers, { get: (all, i) => (reads++, all[i]) });
const { decode, encode } = await import("./voile_map.mjs");
const counts = [];
for (const [which, ...x] of JSON.parse(process.argv[2])) {
  const z = encode(which, x, new Uint8Array(16).fill(9));
  decode(which, z);
  counts.push(reads);
  reads = 0;
}
console.log(JSON.stringify(counts));
"""


def test_no_name_is_in_a_source_whatever_a_column_or_class_is_called(tmp_path):
    columns = [{"column": one, "words": NASTY} for one in NASTY[:2]]
    folder = write(tmp_path / "kit", codec(), columns, NASTY[2:])
    plain = write(tmp_path / "plain", codec())
    for path in folder.iterdir():
        if path.name != "map.json":
            assert path.read_bytes() == (plain / path.name).read_bytes()
    said = json.loads((folder / "map.json").read_text())
    assert (said["columns"], said["classes"]) == (columns, NASTY[2:])


def test_every_reading_of_every_class_costs_the_same_reads(tmp_path):
    folder = write(tmp_path / "kit", codec())
    (folder / "counting.mjs").write_text(COUNTING)
    X, c = readings(300, 3)
    X[:40] *= 8
    rows = [[int(codec().which(k)), *np.round(x, 1)] for k, x in zip(c, X, strict=True)]
    rows = [row for row in rows if max(row[1:]) < 50]
    command = ["node", folder / "counting.mjs", json.dumps(rows)]
    counts = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert len(counts) == len(rows)
    assert len(set(counts)) == 1


def test_the_ends_need_memcpy_alone_of_the_library_of_c(tmp_path):
    out = compiled(write(tmp_path / "kit", codec()), "-shared", "-fPIC", "-ffreestanding")
    said = subprocess.run(["nm", "-D", "--undefined-only", out], capture_output=True, text=True)
    needed = {line.split()[-1].split("@")[0] for line in said.stdout.splitlines()}
    assert {one for one in needed if not one.startswith(("_", "__"))} <= {"memcpy"}


def test_a_compiler_that_fuses_multiply_and_add_is_found_out(tmp_path):
    folder = write(tmp_path / "kit", codec())
    own = "int main(void) { return voile_is_exact(); }"
    (folder / "main.c").write_text(f'#include "voile.h"\n{own}\n')
    fused = compiled(folder, "-mfma", "-ffp-contract=fast", out="fused")
    assert subprocess.run([fused], check=False).returncode in (0, -4)  # no such instruction here
    exact = compiled(folder, out="exact")
    assert subprocess.run([exact], check=False).returncode == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("class.0.1.affine.shift", np.nan),
        ("class.1.2.kr.mean", np.inf),
        ("class.2.1.affine.matrix", -np.inf),
    ],
)
def test_a_forged_map_with_numbers_that_are_none_is_refused(name, value):
    arrays = codec().to_arrays()
    arrays[name] = np.full_like(arrays[name], value)
    with pytest.raises(RequestError):
        FixedTables.of_sequence(SequenceCodec.from_arrays(arrays))


def test_a_forged_map_whose_classes_differ_in_size_is_refused():
    arrays = codec().to_arrays()
    for name in ("x", "y"):
        knots = arrays[f"class.0.0.bend.{name}"]
        last = 2 * knots[:, -1:] - knots[:, -2:-1]
        arrays[f"class.0.0.bend.{name}"] = np.concatenate([knots, last], axis=1)
    with pytest.raises(RequestError, match="differ in shape"):
        FixedTables.of_sequence(SequenceCodec.from_arrays(arrays))


@pytest.mark.parametrize("cells", [[0, 10, 0], [1, -10, 0], [1, 10, 2**60]])
def test_a_forged_map_without_a_resolution_is_refused(cells):
    arrays = codec().to_arrays()
    arrays["column.0.lattice"] = np.array(cells)
    with pytest.raises(RequestError, match="resolution"):
        FixedTables.of_sequence(SequenceCodec.from_arrays(arrays))


def test_tables_that_no_small_device_holds_are_refused(monkeypatch):
    monkeypatch.setattr(tables, "MOST", 2_000)
    with pytest.raises(RequestError, match="the map's tables take more than"):
        FixedTables.of_sequence(codec())


def test_a_map_of_sessions_is_refused_in_a_sentence():
    with pytest.raises(RequestError, match="sessions need a square root"):
        FixedTables.of_sequence(fitted().codec_)


def test_the_same_kit_gives_the_same_bytes():
    one, again = (sources(FixedTables.of_sequence(codec()), COLUMNS, NAMES) for _ in range(2))
    assert one == again


@pytest.mark.parametrize("part", [{"order": (1, 0)}, {"dynamics": "turned"}])
def test_a_forged_map_that_turns_columns_about_is_refused(part):
    if "dynamics" in part:
        turn = np.array([[0.0, 1.0], [1.0, 0.0]])
        part = {"dynamics": tuple(replace(law, turn=turn) for law in codec().dynamics)}
    with pytest.raises(RequestError, match="not one that voile fits"):
        FixedTables.of_sequence(replace(codec(), **part))
