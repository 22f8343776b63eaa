"""A line that is changed, removed, inserted or moved is always noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import DamagedError, TamperedError
from voile.ledger.chain import FIRST, LedgerChain, read_chain

WHERE = Path("some.ledger")


def chain_of(contents: list[dict[str, object]]) -> LedgerChain:
    chain = LedgerChain()
    for content in contents:
        chain = chain.followed_by(chain.next(content))
    return chain


def written(chain: LedgerChain) -> bytes:
    return b"".join(line.encode_line() + b"\n" for line in chain.lines)


contents = st.lists(
    st.dictionaries(
        st.text(max_size=4).filter(lambda name: name not in ("line", "before")),
        st.one_of(st.text(max_size=9), st.integers(), st.floats(allow_nan=False)),
        max_size=3,
    ),
    min_size=2,
    max_size=6,
)


@given(contents)
def test_lines_are_read_as_they_were_written(each):
    chain = chain_of([{n: x for n, x in one.items() if x not in (1e999, -1e999)} for one in each])
    assert read_chain(written(chain), WHERE) == chain
    assert chain.lines[0].before == FIRST
    assert all(b.before == a.sha256 for a, b in zip(chain.lines, chain.lines[1:], strict=False))


@given(contents, st.data())
def test_one_changed_byte_is_noticed_or_changes_the_head(each, data):
    chain = chain_of([{"n": number, **one} for number, one in enumerate(map(_finite, each))])
    raw = bytearray(written(chain))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != raw[at]))
    try:
        found = read_chain(bytes(raw), WHERE)
    except (TamperedError, DamagedError):
        return
    assert found.head != chain.head


@pytest.mark.parametrize(
    "altered",
    [
        lambda rows: [rows[0], *rows[2:]],
        lambda rows: [rows[1], rows[0], *rows[2:]],
        lambda rows: [rows[0], rows[1], rows[1], *rows[2:]],
        lambda rows: rows[1:],
    ],
    ids=["removed", "reordered", "twice", "first gone"],
)
def test_lines_removed_or_moved_are_noticed(altered):
    rows = written(chain_of([{"n": n} for n in range(5)])).splitlines(keepends=True)
    with pytest.raises(TamperedError, match="does not follow"):
        read_chain(b"".join(altered(rows)), WHERE)


def test_a_number_that_was_changed_is_noticed():
    rows = written(chain_of([{"n": n} for n in range(3)])).splitlines()
    last = json.loads(rows[-1])
    rows[-1] = json.dumps({**last, "line": 7}, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(TamperedError, match="line 2 is not as it was written"):
        read_chain(b"\n".join(rows) + b"\n", WHERE)


@given(contents, st.integers(1, 30))
def test_a_line_half_written_is_no_line(each, cut):
    chain = chain_of([_finite(one) for one in each])
    raw = written(chain)
    rest = min(cut, len(chain.lines[-1].encode_line()))
    found = read_chain(raw[:-rest], WHERE)
    assert found.lines == chain.lines[:-1]
    assert found.torn == len(chain.lines[-1].encode_line()) + 1 - rest


def _finite(content: dict[str, object]) -> dict[str, object]:
    return {n: x for n, x in content.items() if x not in (1e999, -1e999)}
