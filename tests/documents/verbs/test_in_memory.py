"""Lists and corpora that a notebook has in memory, beside the files that a command names."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import voile.documents as vd
from voile.core.errors import RequestError, VoileError
from voile.release.kit import StoredKit

NOTE = "{name} came from the harbour , and {name} was well again ."
NAMES = ("Ann", "Ben", "Cleo", "Dora", "Eli", "Fay")
ROLES = {
    "subject": "who",
    "columns": {
        "who": "identifier",
        "text": {"role": "text", "spans": "spans"},
        "spans": "label",
    },
}
FAST = {"learners": "svm", "cross_fit": 3, "seed": 1, "jobs": 1}


def notes() -> pa.Table:
    texts = [NOTE.format(name=NAMES[n % 6]) for n in range(60)]
    spans = [
        [[at, at + len(name), "NAME"] for at in (0, text.rindex(name))]
        for text, name in zip(texts, (text.split()[0] for text in texts), strict=True)
    ]
    whose = [f"p{n}" for n in range(60)]
    return pa.table({"who": whose, "text": texts, "spans": list(map(json.dumps, spans))})


@pytest.fixture(scope="module")
def kit() -> StoredKit:
    return vd.fit(notes(), ROLES, miss_cost=10, **FAST)


def texts(kit: StoredKit, **options: object) -> list[str]:
    how = {"keep_order": True, "patterns": "none", **options}
    frame = kit.apply(kit.choose(max_relative_risk=0.5), notes(), **how).frame
    return frame.column("text").to_pylist()


def test_phrases_to_remove_and_to_leave_are_a_list_or_its_file(
    kit: StoredKit, tmp_path: Path
) -> None:
    file = tmp_path / "list.txt"
    file.write_text("the harbour\n")
    listed = texts(kit, deny=["the harbour"])
    assert listed == texts(kit, deny=file) == texts(kit, deny=str(file))
    assert not any("harbour" in one for one in listed)
    allowed = texts(kit, deny=["the harbour"], allow=("the harbour",))
    assert all("the harbour" in one for one in allowed)


def test_lists_of_names_are_given_by_their_name(tmp_path: Path) -> None:
    file = tmp_path / "given.txt"
    file.write_text("\n".join(NAMES))
    there = vd.fit(notes(), ROLES, miss_cost=10, lists=f"given={file}", **FAST)
    here = vd.fit(notes(), ROLES, miss_cost=10, lists={"given": NAMES}, **FAST)
    assert here.id == there.id
    assert len(here.facts["lists"]["given"]) == 6


def test_a_frame_is_a_foreign_corpus(kit: StoredKit, tmp_path: Path) -> None:
    release = kit.apply(kit.choose(max_relative_risk=0.5), notes())
    how = {"labels": "foreign", "learners": "svm", "seed": 1, "jobs": 1}
    foreign = notes().rename_columns(["subject", "text", "spans"])
    (here,) = release.attack(notes(), foreign=foreign.to_pandas(), **how)
    file = tmp_path / "foreign.jsonl"
    rows = ({**row, "spans": json.loads(row["spans"])} for row in foreign.to_pylist())
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (there,) = release.attack(notes(), foreign=file, **how)
    assert here.attack == "inspections, text of others labelled"
    assert here.findings == there.findings
    with pytest.raises(RequestError, match="a foreign corpus has no column text"):
        release.attack(notes(), foreign=notes().rename_columns(["who", "note", "spans"]), **how)


@pytest.mark.parametrize("deny", [3, [3], {"a": "b"}, []])
def test_what_is_no_list_is_refused(kit: StoredKit, deny: object) -> None:
    with pytest.raises(VoileError, match=r"list of phrases|no phrase"):
        texts(kit, deny=deny)
    for lists in (3, {"given": 3}, "given", {"given": []}):
        with pytest.raises(VoileError, match=r"list of phrases|no phrase|lacks a name or a file"):
            vd.fit(notes(), ROLES, lists=lists, **FAST)
