"""What an end stored it takes back, and refuses what was damaged on the way or is of no end."""

from __future__ import annotations

import json

import pytest
from tests.signals.export.an_end import ALL, EndError, InC
from tests.signals.export.exported import codec, write
from tests.signals.export.test_ends import ROWS, record


@pytest.fixture(scope="module", params=ALL)
def end(request, tmp_path_factory):
    one = ALL[request.param](write(tmp_path_factory.mktemp("kit"), codec()))
    yield one
    one.close()


@pytest.mark.parametrize("number", [2**53, 2**53 + 1, 2**60, 2**63])
def test_a_number_that_the_header_and_a_double_do_not_hold_is_refused(end, number):
    end.open("one", record())
    end.renumber(2**53 - 1)
    end.open("last", record(), end.stored)
    end.send("last", ROWS[0])
    post = end.post("last")
    assert int.from_bytes(post[60:68], "big") == 2**53
    assert json.loads(post[68:])["after"] == 2**53 - 1
    end.open("one", record())
    end.renumber(number)
    with pytest.raises(EndError, match="state"):
        end.open("beyond", record(), end.stored)


def test_a_state_that_was_damaged_is_refused(end):
    end.open("one", record())
    end.send("one", ROWS[0], {"a": 1})
    for damaged in list(damages(end)):
        with pytest.raises(EndError, match="state"):
            end.open("one", record(), damaged)
    end.open("one", record(), end.stored)
    assert json.loads(end.post("one")[68:])["beside"] == {"a": 1}


def damages(end):
    """In C each byte up to the message's last is sealed; in JavaScript its numbers are."""
    state = end.stored
    if isinstance(end, InC):
        last = state.index(b'{"a":1}') + len(b'{"a":1}')
        for i in range(last):
            yield bytes([*state[:i], state[i] ^ 1, *state[i + 1 :]])
        return
    values = state["values"]
    for part in (
        {"values": values[:1]},
        {"values": [values[0], values[1] + 2**-44]},
        {"values": None},
        {"check": "0" * 16},
        {"next": "0" * 16},
        {"beside": None},
        {"number": -1},
        {"number": 0.5},
    ):
        yield {**state, **part}
