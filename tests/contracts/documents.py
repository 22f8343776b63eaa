"""Tiny notes for the contract tests (see `Case` in conftest.py)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from tests.contracts.people import ROLES, names, put, table_of

from voile.data.roles import Roles

PEOPLE = 120
WAYS = ("came on foot and was well .", "was seen , and sent home .", "called about a cough .")
BEFORE = ("Mrs", "with", "from")
ALWAYS, OFTEN, SELDOM = 1.0, 0.7, 0.3
"""How often a name follows each of these words; else a ship, which looks like one."""
LIMIT = "max_relative_risk"
OWN_ROLES = {"text"}
NAMED_BY: tuple[str, ...] = ("alone", "passes")


def roles() -> Roles:
    return Roles.model_validate(
        {
            "subject": "person",
            "columns": {
                **ROLES,
                "note": {"role": "text", "spans": "spans"},
                "letter": "text",
                "spans": "label",
            },
        }
    )


def ordinary() -> pa.Table:
    """Return 120 people, of whom a quarter have two notes; canaries in what never leaves.

    What follows `with` and `from` cannot be told from what it is, so that policies differ.
    """
    rng = np.random.default_rng(7)
    of = np.concatenate([np.arange(PEOPLE), np.arange(0, PEOPLE, 4)])
    drawn = rng.random(PEOPLE)
    return _table(names(of), [_note(i, drawn[i]) for i in of.tolist()])


def limits() -> dict[str, tuple[pa.Table, bool]]:
    """Return limit cases, and whether they can be worked on: the others are refused."""
    whole = ordinary()
    n = 40
    everyone = names(range(n))
    same, different = [_note(0)] * n, [_note(i) for i in range(n)]
    numbers = pa.array([-0.0, 1.0, float("nan")] * len(whole))
    twice = pa.Table.from_arrays([*whole.columns, whole["note"]], [*whole.column_names, "note"])
    return {
        "one row": (whole.slice(0, 1), False),
        "empty": (whole.slice(0, 0), False),
        "all rows equal": (_table(["CANARYPERSON"] * n, same), False),
        "all people equal": (_table(everyone, same), True),
        "all unique": (_table(everyone, different), True),
        "nulls": (_table([None, *everyone[1:]], [(None, None), *different[1:]]), True),
        "NaN": (put(whole, "note", numbers.slice(2, len(whole))), False),
        "-0.0": (put(whole, "note", numbers.slice(0, len(whole))), False),
        "NaN in a kept column": (put(whole, "weight", numbers.slice(2, len(whole))), True),
        "-0.0 in a kept column": (put(whole, "weight", numbers.slice(0, len(whole))), True),
        "two columns of one name": (twice, False),
        "a column without a role": (whole.append_column("more", whole["note"]), False),
        "a column too few": (whole.drop_columns(["ward"]), False),
    }


def outside(table: pa.Table, canary: str) -> pa.Table:
    """Return the table with one text that cannot be worked on."""
    texts = table["note"].to_pylist()
    return put(table, "note", pa.array([f"{canary} \ufffd", *texts[1:]]))


def options(folder: Path) -> dict[str, dict[str, object]]:
    """Return the settings of each verb."""
    quick = {"learners": ["svm"], "miss_cost": [0.2, 1, 20], "cross_fit": 3, "jobs": 1}
    return {
        "fit": quick,
        "impossible": {**quick, "least_left": 1_000_000},
        "held out": {**quick, "hold_out": 0.2},
        "apply": {},
        "attack": {"learners": ["svm"], "jobs": 1},
    }


def _note(i: int, drawn: float = 0.0) -> tuple[str, str]:
    """Return a note of somebody with an own name, or of a ship, and its spans."""
    way, before = WAYS[i % len(WAYS)], BEFORE[i // 3 % len(BEFORE)]
    a, b = divmod(i, 26)
    end = f"{chr(ord('A') + a)}{chr(ord('A') + b)}"
    is_name = bool(drawn < (ALWAYS, OFTEN, SELDOM)[i // 3 % len(BEFORE)])
    name = f"CANARYNOTE{end}" if is_name else f"CANALSHIPS{end}"
    text = f"Today , {before} {name} {way}"
    start = text.index(name)
    spans = [{"start": start, "end": start + len(name), "label": "NAME"}] * is_name
    return text, json.dumps(spans)


def _table(person: list[str | None], notes: list[tuple[str | None, str | None]]) -> pa.Table:
    texts, spans = zip(*notes, strict=True)
    table = table_of(person, {"spans": pa.array(spans, pa.string())})
    letters = ["Dear all , nothing new since then ."] * len(person)
    table = table.append_column("letter", pa.array(letters))
    return put(table, "note", pa.array(texts, pa.string()))
