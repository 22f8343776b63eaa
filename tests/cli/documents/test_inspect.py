"""What inspect takes for documents."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.cli.documents.ward import WORD, note, put_brat


def test_inspect_knows_a_corpus_by_its_name(voile: Any, tmp_path: Path) -> None:
    put_brat(tmp_path, "a", *note(random.Random(3)))
    ran = voile("inspect", tmp_path, "--json")
    columns = ran.json["columns"]
    assert {name: told["role"] for name, told in columns.items()} == {
        "id": "identifier",
        "subject": "drop",
        "text": "text",
        "spans": "label",
        "pos": "drop",
    }
    assert columns["text"]["spans"] == "spans"
    assert ran.err == f"{tmp_path.name}: read as brat\n"
    assert not WORD.search(ran.out)
    assert voile("inspect", f"brat:{tmp_path}").out == voile("inspect", tmp_path).out


def test_inspect_knows_documents_by_their_spans(voile: Any, lines: Path) -> None:
    columns = voile("inspect", lines, "--json").json["columns"]
    assert columns["note"]["spans"] == "marks"
    assert {name: told["role"] for name, told in columns.items()} == {
        "patient": "identifier",
        "note": "text",
        "marks": "label",
        "ward": "drop",
    }
    assert voile("inspect", lines, "--json", "--kind", "tables").json["columns"] != columns


def test_a_text_file_is_a_table_unless_it_is_said_to_be_a_document(
    voile: Any, tmp_path: Path
) -> None:
    table = tmp_path / "table.txt"
    table.write_text("age,sex\n40,F\n50,M\n")
    assert list(voile("inspect", table, "--json").json["columns"]) == ["age", "sex"]
    documents = voile("inspect", table, "--kind", "documents", "--json").json
    assert "text" in documents["columns"]
