"""The files of an export: tables as C and JavaScript, and the ends that read them.

No name of a column or class is in a source: an end knows both by number, and `map.json`, which no
compiler reads, says which number is whose.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from voile.data.files.outputs import EXPORT_FORMAT, EXPORT_INDEX
from voile.signals.export.tables import FixedTables

ENDS = (
    "voile.h",
    "voile_bytes.h",
    "voile_map.c",
    "voile_map.mjs",
    "voile_hash.h",
    "voile_hash.c",
    "voile_end.c",
    "voile_hash.mjs",
    "voile_end.mjs",
)


def sources(
    tables: FixedTables,
    columns: Sequence[Mapping[str, Any]],
    classes: Sequence[str],
    known: Sequence[Mapping[str, Any]] = (),
) -> Mapping[str, str]:
    """Return the text of each file, by name."""
    here = files(__package__)
    ends = {name: (here / name).read_text(encoding="utf-8") for name in ENDS}
    written = {
        **ends,
        "voile_tables.h": _header(tables),
        "voile_tables.c": _as_c(tables),
        "voile_tables.mjs": _as_javascript(tables),
    }
    index = {
        "format": EXPORT_FORMAT,
        "version": 1,
        "map": tables.mark,
        "columns": list(columns),
        "classes": list(classes),
        **({"known": list(known)} if known else {}),
        "files": sorted(written),
    }
    return {**written, EXPORT_INDEX: f"{json.dumps(index, indent=1)}\n"}


def _header(tables: FixedTables) -> str:
    return f"""/* Written by voile signals export from the map {tables.mark}. */
#ifndef VOILE_TABLES_H
#define VOILE_TABLES_H

#include <stdint.h>

#define VOILE_CLASSES {len(tables.plans)}
#define VOILE_COLUMNS {len(tables.lattice)}
#define VOILE_STEPS {len(tables.steps)}
#define VOILE_PLAN {len(tables.plans[0])}
#define VOILE_KNOWN {len(tables.sides)}

typedef struct {{
    double step, per, offset;
}} voile_cells;

typedef struct {{
    double step, per, offset;
    int64_t first, width, nodes;
}} voile_grid;

typedef struct {{
    int kind, at;
}} voile_place;

extern const uint8_t voile_mark[8];
extern const voile_cells voile_lattice[VOILE_COLUMNS];
extern const voile_place voile_steps[VOILE_STEPS];
extern const int32_t voile_plan[VOILE_CLASSES][VOILE_PLAN];
extern const double voile_numbers[];
extern const voile_grid voile_grids[VOILE_KNOWN + 1]; /* the last is nobody's, as of voile_wholes */
extern const int{8 * tables.width}_t voile_wholes[];

#endif
"""


def _as_c(tables: FixedTables) -> str:
    mark = ", ".join(f"0x{one:02x}" for one in bytes.fromhex(tables.mark))
    lattice = ", ".join(f"{{{s}.0, {p}.0, {o}.0}}" for s, p, o in tables.lattice)
    steps = ", ".join(f"{{{kind}, {at}}}" for kind, at in tables.steps)
    plans = ",\n".join(f"    {{{', '.join(map(str, plan))}}}" for plan in tables.plans)
    grids = ", ".join(f"{{{', '.join(map(str, one))}}}" for one in (*tables.sides, (0,) * 6))
    return f"""/* Written by voile signals export from the map {tables.mark}. */
#include "voile_tables.h"

const uint8_t voile_mark[8] = {{{mark}}};
const voile_cells voile_lattice[VOILE_COLUMNS] = {{{lattice}}};
const voile_place voile_steps[VOILE_STEPS] = {{{steps}}};
const int32_t voile_plan[VOILE_CLASSES][VOILE_PLAN] = {{
{plans}
}};
const double voile_numbers[] = {{
{_lines(value.hex() for value in tables.numbers)}
}};
const voile_grid voile_grids[VOILE_KNOWN + 1] = {{{grids}}};
const int{8 * tables.width}_t voile_wholes[] = {{
{_lines(map(str, (*tables.wholes, 0)))}
}};
"""


def _as_javascript(tables: FixedTables) -> str:
    lattice = [dict(zip(("step", "per", "offset"), one, strict=True)) for one in tables.lattice]
    steps = [{"kind": kind, "at": at} for kind, at in tables.steps]
    names = "step", "per", "offset", "first", "width", "nodes"
    grids = [dict(zip(names, one, strict=True)) for one in tables.sides]
    return f"""// Written by voile signals export from the map {tables.mark}.
export const tables = {{
  mark: "{tables.mark}",
  columns: {len(tables.lattice)},
  lattice: {json.dumps(lattice)},
  steps: {json.dumps(steps)},
  plans: {json.dumps(tables.plans)},
  numbers: new Float64Array([
{_lines(map(repr, tables.numbers))}
  ]),
  grids: {json.dumps(grids)},
  wholes: new Float64Array([
{_lines(map(str, tables.wholes))}
  ]),
}};
"""


def _lines(values: Iterable[str]) -> str:
    """Return values, four a line."""
    given = list(values)
    rows = [", ".join(given[i : i + 4]) for i in range(0, len(given), 4)]
    return ",\n".join(f"    {row}" for row in rows)
