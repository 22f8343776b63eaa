"""One person is one surrogate, wherever she stands."""

from __future__ import annotations

import re

import pytest
from tests.documents.flow import NAMELESS, ROLES, applied, by_cost, fitted, people, read, table

from voile.core.errors import RequestError
from voile.documents.verbs.verify import verify
from voile.keys.pseudonyms import Secret, pseudonym
from voile.release.verify import checks


def names_in(release, column="note"):
    pattern = re.compile(r"We saw (.+?) again")
    return [pattern.search(row[column])[1] for row in read(release.path)]


def test_one_person_is_one_surrogate_across_rows_columns_and_files(tmp_path, secret):
    saw = ["We saw {Ana Ruiz|NAME} again ."] * 3
    more = {"replace": "surrogate", "key_file": secret, "chosen": by_cost(2.0)}
    a = applied(table(saw, saw, ["p", "q", "p"]), tmp_path / "a.jsonl", **more)
    b = applied(table(saw[:1], saw[:1], ["p"]), tmp_path / "b.jsonl", **more)
    p, q, again = names_in(a)
    assert p == again != q
    assert names_in(a, "letter") == names_in(a)
    assert names_in(b) == [p]
    assert "Ana Ruiz" not in a.path.read_text()


def test_a_row_that_is_nobodys_is_one_person(tmp_path, secret):
    saw = ["We saw {Ana Ruiz|NAME} again .", "We saw {Ana Ruiz|NAME} again . Well ."]
    kit = fitted(people(), NAMELESS, miss_cost=[2])
    more = {"replace": "surrogate", "key_file": secret, "kit": kit}
    a = applied(table(saw, saw), tmp_path / "a.jsonl", **more)
    first, second = names_in(a)
    assert names_in(a, "letter") == [first, second]
    assert first != second
    b = applied(table(saw[::-1], saw[::-1]), tmp_path / "b.jsonl", **more)
    assert names_in(b) == [second, first]  # by what it says, not by where it stands


@pytest.mark.parametrize("role", ["identifier", "drop"])
def test_whose_a_text_is_leaves_as_a_pseudonym_where_that_is_asked(tmp_path, secret, role):
    """A row without a subject has none."""
    rows = table(["Well ."] * 3, persons=["p", "q", None])
    kit = fitted(people(), ROLES.corrected({"person": role}), miss_cost=[2])
    more = {"kit": kit, "pseudonyms": True, "key_file": secret}
    release = applied(rows, tmp_path / "a.jsonl", **more)
    named = [pseudonym(Secret.from_file(secret), one) for one in "pq"]
    assert [row["person"] for row in read(release.path)] == [*named, None]
    column = next(c for c in release.public["columns"] if c["column"] == "person")
    assert column["role"] == "identifier"
    assert all(check.holds is not False for check in checks(release, verify, None))
    assert "person" not in read(applied(rows, tmp_path / "b.jsonl").path)[0]


def test_pseudonyms_need_a_secret_and_subjects(tmp_path, secret, monkeypatch):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    rows, out = table(["Well ."]), tmp_path / "a.jsonl"
    with pytest.raises(RequestError, match="pseudonyms need a column of subjects and a secret"):
        applied(rows, out, pseudonyms=True)
    kit = fitted(people(), NAMELESS, miss_cost=[2])
    with pytest.raises(RequestError, match="pseudonyms need a column of subjects and a secret"):
        applied(rows, out, kit=kit, pseudonyms=True, key_file=secret)
    assert not out.exists()
