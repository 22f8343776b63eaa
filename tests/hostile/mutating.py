"""Damage files: any bytes, JSON, TOML or tables. The same seed gives the same damage."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pyarrow as pa

LENGTHS = (0, 1, 7, 255, 1 << 16, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1)
PIECES = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\\ud800", b'"', b"[", b"{",
    b"[" * 3000, b'{"a":' * 3000, b"9" * 5000, b"1e999", b"-1", b"NaN", b"\r\n", b"::", b"\t,;|",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2**31, 2**63, 10**400, -0.0, 0.5, 1e308, float("nan"),
    float("inf"), "", "x", "../../etc/passwd", "\0", "\ud800", "x" * 5000, [], [[]], {}, {"": 0},
    [None], ["x"] * 300, [-1, 1], {"role": "quasi"},
)  # fmt: skip
NESTED = "[" * 300 + "]" * 300
WORDS = ("", "x", "-1", "0", "1e999", "nan", "true", '""', '"x"', "[]", "[[[]]]", "{}", '"\\u0000"',
         "9" * 5000, "[" * 3000, "1979-05-27", "[1, 'x']", "{x = 1}", "2.5", NESTED)  # fmt: skip


def damaged(seed: bytes, rng: random.Random) -> bytes:
    """Cut, flip, insert, splice and overwrite bytes, once or a few times."""
    raw = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        _damage(raw, rng)
    return bytes(raw) or b"\0"


def _damage(raw: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(raw) + 1)
    match rng.randrange(6):
        case 0:
            del raw[at:]
        case 1:
            raw[at : at + 1] = bytes([rng.randrange(256)])
        case 2:
            raw[at:at] = rng.choice(PIECES)
        case 3:
            other = rng.randrange(len(raw) + 1)
            raw[at : at + 16] = raw[other : other + rng.randrange(64)]
        case 4:
            width = rng.choice((4, 8))
            raw[at : at + width] = rng.choice(LENGTHS).to_bytes(8, rng.choice(("little", "big")))[
                :width
            ]
        case _:
            del raw[at : at + rng.randrange(1, 32)]


def damaged_json(seed: bytes, rng: random.Random) -> bytes:
    """Put something else in the place of a part of some JSON, or take it away."""
    if rng.randrange(4) == 0:
        return damaged(seed, rng)
    data = json.loads(seed)
    for _ in range(rng.choice((1, 1, 2))):
        places = list(_places(data))
        if not places:
            break
        holder, key = rng.choice(places)
        if rng.randrange(4) == 0:
            del holder[key]
        else:
            holder[key] = rng.choice((*VALUES, _other(data, rng)))
    text = json.dumps(data)
    return (text.replace('"x"', NESTED, 1) if rng.randrange(20) == 0 else text).encode()


def _places(data: Any) -> Any:
    """Yield every part of a tree as its holder and its key there."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, part in list(items):
        yield data, key
        if isinstance(part, dict | list):
            yield from _places(part)


def _other(data: Any, rng: random.Random) -> Any:
    holder, key = rng.choice(list(_places(data)))
    return json.loads(json.dumps(holder[key]))


def damaged_toml(seed: bytes, rng: random.Random) -> bytes:
    """Give a setting another value, or lose, repeat or swap lines."""
    lines = seed.decode().split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            return damaged(seed, rng)
        case 1:
            del lines[at]
        case 2:
            lines.insert(other, lines[at])
        case 3:
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            settings = [i for i, line in enumerate(lines) if "=" in line]
            if settings:
                at = rng.choice(settings)
                lines[at] = re.sub("=.*", lambda _: f"= {rng.choice(WORDS)}", lines[at], count=1)
    return "\n".join(lines).encode()


def damaged_table(table: pa.Table, rng: random.Random) -> pa.Table:
    """Lose, repeat, empty, retype or overwrite a column, a row or a cell."""
    if not table.num_columns:
        return table
    at = rng.randrange(table.num_columns)
    name, cells = table.column_names[at], table.column(at).combine_chunks()
    row = rng.randrange(len(table)) if len(table) else 0
    match rng.randrange(8):
        case 0:
            return table.drop_columns([name])
        case 1:
            return table.slice(0, row)
        case 2:
            return pa.concat_tables([table, table.slice(row, 1)])
        case 3:
            return table.set_column(at, name, pa.nulls(len(table), cells.type))
        case 4:
            return table.set_column(at, name, pa.array(["x"] * len(table), pa.string()))
        case 5:
            return table.rename_columns([n if n != name else "other" for n in table.column_names])
        case 6:
            order = list(range(len(table)))
            rng.shuffle(order)
            return table.set_column(at, name, cells.take(pa.array(order, pa.int64())))
        case _:
            values = cells.to_pylist()
            if values:
                values[row] = _extreme(cells.type, values[row], rng)
            return table.set_column(at, name, pa.array(values, cells.type))


def _extreme(kind: pa.DataType, value: Any, rng: random.Random) -> Any:
    if pa.types.is_boolean(kind):
        return not value
    if pa.types.is_integer(kind):
        return rng.choice((-1, 0, 1, 100, (1 << (kind.bit_width - 1)) - 1))
    if pa.types.is_floating(kind):
        return rng.choice((-1.0, 0.0, 2.0, 1e308, float("nan"), float("inf"), -float("inf")))
    if pa.types.is_string(kind):
        return rng.choice(("", "x", "\0", "9" * 5000, "<f8", "../x", "-1"))
    if pa.types.is_binary(kind):
        return rng.choice((b"", b"\xff", (value or b"")[:-1], (value or b"") * 2))
    if pa.types.is_list(kind):
        return rng.choice(([], (value or [])[:-1], (value or []) * 2))
    return None
