"""What a ledger's line says of documents: nothing of the texts, and what the next judge needs."""

from __future__ import annotations

import pytest
from tests.documents.flow import applied, people

from voile.documents.verbs.disclosed import AGES, LEFT, SAYS
from voile.ledger.ledger import Ledger, LedgerKeys, create
from voile.ledger.promise import LedgerPromise


@pytest.fixture
def how(tmp_path):
    key = tmp_path / "key"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    create(tmp_path / "l", LedgerPromise(k=5), key)
    return {"ledger": tmp_path / "l", "key_file": key, "override": "the board agreed"}


def test_a_line_says_the_scope_of_dates_and_what_the_texts_still_say(how, tmp_path):
    for name, options in {
        "a": {"replace": "surrogate", "date_shift_days": 30},
        "b": {"replace": "surrogate", "date_shift_days": 30, "ages": "mark"},
        "c": {"replace": "surrogate", "date_shift_days": 31},
        "d": {},
    }.items():
        applied(people(), tmp_path / f"{name}.jsonl", **how, **options)
    ledger = Ledger.read_file(how["ledger"])
    keys = LedgerKeys.of(how["key_file"], ledger.id)
    said = [line.content["disclosed"] for line in ledger.released_lines]
    scopes = [keys.scope_of_dates(30)] * 2 + [keys.scope_of_dates(31)]
    assert [one["dates"] for one in said] == [*([scope] for scope in scopes), []]
    moved = SAYS["surrogate"]
    assert [one["text"] for one in said] == [
        [moved, AGES, LEFT],
        [moved, LEFT],
        [moved, AGES, LEFT],
        [SAYS["mark"], LEFT],
    ]
    assert {tuple(one["kept"]) for one in said} == {(keys.hash("column", "ward"),)}
    raw = how["ledger"].read_text()
    assert "ward" not in raw
    assert "person" not in raw
