"""What a forger who makes every hash and seal anew still contradicts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Voile
from tests.cli.verify.home import (
    ACCOUNT,
    ASIDE,
    COLUMNS,
    COUNTS,
    READ,
    TOLD,
    Change,
    Home,
    failed,
    of_counts,
    write_aside,
)

from voile.release.manifest import (
    manifest_path,
)


def of_figures(**changes: Any) -> Change:
    def change(home: Home) -> None:
        home.edit(manifest_path(home.out), lambda data: data["figures"].update(changes))

    return change


def of_exact(**changes: Any) -> Change:
    return lambda home: home.edit(home.hidden, lambda data: data["figures"].update(changes))


def of_columns(*columns: dict[str, str]) -> Change:
    return lambda home: home.edit(
        manifest_path(home.out), lambda data: data.update(columns=list(columns))
    )


def aside(*lines: tuple[str, str, str]) -> Change:
    return lambda home: write_aside(home, list(lines))


def one_row_more(name: str) -> Change:
    def change(home: Home) -> None:
        rows = pq.read_table(home.folder / name)["row"].to_pylist()
        pq.write_table(pa.table({"row": [*rows, 9]}), home.folder / name)

    return change


NOTED = "set-aside.csv has every row set aside, and why"
HAS_ROLES = "the columns have the roles that the source's had"
HAS_COLUMNS = "the columns are those of the manifest"
RELEASED = "rows.parquet has a row for each row released"
HELD_OUT = "control.parquet has a row for each row held out"
UNREAD = {f"{name} is as certified" for name in ("documents", "characters", "marks")}
FORGED: list[tuple[Change, set[str]]] = [
    (of_counts(read=8), {ACCOUNT}),
    (of_counts(read=6), {ACCOUNT}),
    (of_counts(suppressed=3), {ACCOUNT}),
    (of_counts(read=8, released=3), {RELEASED}),
    (of_counts(read=8, held_out=2), {HELD_OUT}),
    (of_counts(read=8, set_aside=3), {NOTED}),
    (of_counts(set_aside_by=COUNTS["set_aside_by"][1:]), {NOTED}),
    (one_row_more("rows.parquet"), {RELEASED}),
    (one_row_more("control.parquet"), {HELD_OUT}),
    (aside(*ASIDE[1:]), {NOTED}),
    (aside(*ASIDE, ("5", "note", "no text")), {NOTED}),
    (aside(*ASIDE[:2], ("3", "", "another reason")), {NOTED}),
    (aside(*ASIDE[:2], ("5", "", "too long")), {NOTED}),
    (of_figures(loss=0.12), set()),  # rounded the other way
    (of_figures(loss=0.11), {TOLD}),
    (of_figures(loss=0.1234), {TOLD}),
    (of_figures(unknown=0.1), {TOLD}),
    (of_figures(loss=0.14, documents=3.0), {TOLD}),
    (of_exact(marks=2.0), {"marks is as certified"}),
    (of_exact(rows=2.0 + 1e-6), {"rows is as certified"}),
    (of_columns({**COLUMNS[0], "role": "keep"}, *COLUMNS[1:]), {HAS_ROLES, *UNREAD}),
    (of_columns(COLUMNS[0], {**COLUMNS[1], "role": "keep"}, COLUMNS[2]), {HAS_ROLES}),
    (of_columns(*COLUMNS[:2], {**COLUMNS[2], "column": "other"}), {HAS_COLUMNS}),
    (of_columns(*COLUMNS[::-1]), {HAS_COLUMNS}),
    (of_columns({**COLUMNS[0], "column": "other"}, *COLUMNS[1:]), {HAS_COLUMNS}),
    (of_columns(*COLUMNS[:2], {"column": "made here"}), {READ}),
]


@pytest.mark.parametrize("number", range(len(FORGED)))
def test_what_is_said_against_itself(voile: Voile, home: Home, number: int) -> None:
    """The forger can write the private folder, and makes every hash and seal anew."""
    change, said = FORGED[number]
    change(home)
    home.seal()
    assert failed(voile, home) == said
