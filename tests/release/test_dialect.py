"""A release has the form of its source: Excel and R of other countries open it as they did that."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

import voile.itemsets
import voile.tables
from voile.data import open_source

ROWS = [["age", "diagnosis"], *([str(20 + i % 3), ["flu", "a;b,c"][i % 2]] for i in range(60))]
ROLES = {"age": "quasi", "diagnosis": "sensitive"}
FORMS: dict[str, tuple[str, str, str]] = {
    "Excel": (";", "utf-8-sig", "\r\n"),
    "bars": ("|", "utf-8", "\n"),
    "plain": (",", "utf-8", "\n"),
    "old Windows": (";", "windows-1252", "\r\n"),
    "marked": (",", "utf-8-sig", "\n"),
}


def write(path: Path, delimiter: str, encoding: str, end: str) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(
        [[cell.replace("flu", "Überlauf") for cell in row] for row in ROWS]
    )
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def release(source: Path, out: Path) -> Any:
    kit = voile.tables.fit(source, roles=ROLES, k=2, seed=1)
    return kit.apply(kit.choose(max_loss=0), source, out, keep_order=True)


@pytest.mark.parametrize("name", FORMS)
def test_a_release_is_written_as_its_source(tmp_path: Path, name: str) -> None:
    delimiter, encoding, end = FORMS[name]
    source = write(tmp_path / "in.csv", delimiter, encoding, end)
    made = release(source, tmp_path / "out.csv")
    said = (tmp_path / "out.csv").read_bytes()
    as_unicode = (
        source.read_bytes().decode(encoding).encode(encoding.replace("windows-1252", "utf-8"))
    )
    assert said == as_unicode
    assert all(check.holds is not False for check in made.verify())
    assert made.attack(source, seed=1)


def test_the_end_of_the_name_sets_another_delimiter(tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", ";", "utf-8-sig", "\r\n")
    release(source, tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_bytes().startswith(b"\xef\xbb\xbfage\tdiagnosis\r\n")
    tabs = write(tmp_path / "in.tsv", "\t", "utf-8", "\n")
    release(tabs, tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_bytes().startswith(b"age,diagnosis\n")


def test_another_encoding_is_mentioned_once(tmp_path: Path) -> None:
    source = open_source(write(tmp_path / "in.csv", ";", "windows-1252", "\n"))
    assert [note for note in source.notes if "UTF-8" in note] == ["a release of it is UTF-8"]
    assert "encoding windows-1252" in source.notes


def test_a_release_of_one_column_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(
        "id;ward\n" + "".join(f"{i};{'cd'[i % 2]},b\n" for i in range(30))
    )
    roles = {"id": "drop", "ward": "quasi"}
    kit = voile.tables.fit(tmp_path / "in.csv", roles=roles, k=2, seed=1)
    made = kit.apply(kit.choose(policy=0), tmp_path / "in.csv", tmp_path / "out.csv")
    assert all(check.holds is not False for check in made.verify())


def test_items_keep_it_too(tmp_path: Path) -> None:
    rows = "".join(f"{i};{'tea' if i % 2 else 'milk'}\r\n" for i in range(60))
    (tmp_path / "in.csv").write_bytes(f"\ufeffid;drink\r\n{rows}".encode())
    roles = {"id": "identifier", "drink": {"role": "items", "as": "categories"}}
    kit = voile.itemsets.fit(tmp_path / "in.csv", roles=roles, k=2, seed=1)
    kit.apply(kit.choose(policy=1), tmp_path / "in.csv", tmp_path / "out.csv", pseudonyms=False)
    said = (tmp_path / "out.csv").read_bytes()
    assert said.startswith(b"\xef\xbb\xbf")
    assert said.count(b"\r\n") == 61
