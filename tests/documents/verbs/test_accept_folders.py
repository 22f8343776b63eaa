"""A release that is a folder of files is read, mended in its place and certified."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import docx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.documents.flow import FAMILY, fitted, people, removals
from tests.documents.verbs.test_accept_safely import is_whole, killed_at

from voile import documents
from voile.data.roles import Roles
from voile.documents import Corpus
from voile.documents.model.content import DocumentsContent
from voile.documents.module import DOCUMENTS
from voile.documents.replacements.removal import RemovalReason
from voile.documents.reviewing.line import ReviewLine
from voile.documents.verbs.choose import choose
from voile.documents.verbs.released import rows_shown
from voile.documents.verbs.verify import verify
from voile.face.kit import Kit
from voile.release.choice import Choice
from voile.release.evidence import find_evidence
from voile.release.manifest import StoredRelease
from voile.release.verify import checks

GOAL = {"at_most": 40, "recall": 1.0}
KINDS = ("txt", "named txt", "brat", "docx")


@dataclass(frozen=True)
class Text:
    """A text, and where its names are."""

    words: str
    names: list[tuple[int, int]]
    person: str


def texts(each: int, start: int) -> list[Text]:
    """Return notes and letters apart: a file holds one text."""
    columns = ("note", "spans"), ("letter", "letter spans")
    rows = people(each, start).to_pylist()
    return [
        Text(
            row[text],
            [(one["start"], one["end"]) for one in json.loads(row[spans])],
            row["person"],
        )
        for text, spans in columns
        for row in rows
    ]


@cache
def kit() -> Kit:
    """Fit to texts in which a low cost leaves some names of letters."""
    found = texts(each=2, start=0)
    spans = [[{"start": a, "end": b, "label": "NAME"} for a, b in one.names] for one in found]
    cells = {
        "text": [one.words for one in found],
        "person": [one.person for one in found],
        "spans": [json.dumps(one) for one in spans],
    }
    text = {"role": "text", "spans": "spans"}
    columns = {"text": text, "person": "identifier", "spans": "label"}
    roles = Roles.model_validate({"subject": "person", "columns": columns})
    return Kit.of(fitted(pa.table(cells), roles), DOCUMENTS)


@cache
def letters() -> list[Text]:
    return texts(each=2, start=3)


@cache
def template() -> bytes:
    """Return a Word file of one style: the hundreds of an empty document take long to clean."""
    word, stored = docx.Document(), BytesIO()
    word.styles.element.remove(word.styles.latent_styles.element)
    for style in [one for one in word.styles if one.name not in ("Normal", "Quote")]:
        style.delete()
    word.save(stored)
    return stored.getvalue()


def written(kind: str, folder: Path, *, font: bool = False) -> Path:
    """Write the letters as a source of this kind, in the order of their rows.

    font : each in a font that is called like who is named in it.
    """
    folder.mkdir()
    if kind == "named txt":
        words = [one.words for one in letters()]
        names = [f"visit {number:03d}" for number in reversed(range(len(words)))]
        pq.write_table(pa.table({"visit": names, "text": words}), folder / "letters.parquet")
        return folder / "letters.parquet"
    for number, one in enumerate(letters()):
        place = folder / f"{number:03d}.{'docx' if kind == 'docx' else 'txt'}"
        if kind == "docx":
            word = docx.Document(BytesIO(template()))
            run = word.add_paragraph(style="Quote").add_run(one.words)
            for start, end in one.names if font else ():
                run.font.name = one.words[start:end].split()[-1]
            word.save(str(place))
            continue
        place.write_text(one.words)
        marks = enumerate(one.names, 1)
        lines = [f"T{n}\tNAME {a} {b}\t{one.words[a:b]}\n" for n, (a, b) in marks]
        place.with_suffix(".ann").write_text("".join(lines))
    return folder


@dataclass(frozen=True)
class Given:
    """Letters of one kind, and a release of them that leaves a quarter of their names."""

    kind: str
    source: Path
    out: Path
    order: list[int]  # which row of the source each file is

    @classmethod
    def made(cls, kind: str, folder: Path, *, font: bool = False) -> Given:
        source, out = written(kind, folder / "in", font=font), folder / "own" / "out"
        out.parent.mkdir()
        policies = [DocumentsContent.of(kit()).policy(n) for n in range(kit().facts["policies"])]
        number = next(n for n, one in enumerate(policies) if (one.miss_cost, one.passes) == (2, 1))
        how: dict[str, Any] = {"files": kind.split()[-1], "patterns": ["none"], "repeats": False}
        if kind == "named txt":
            how |= {"text": "text", "file_names": "visit"}
        kit().apply(choose(kit(), Choice(policy=number)), str(source), out, **how)
        return cls(kind, source, out, rows_shown(StoredRelease.open(out)))

    def reader(self) -> Callable[[ReviewLine], list[tuple[int, int, str]]]:
        """Return a reader who marks what the letters' annotations say, and all that is planted."""

        def answer(line: ReviewLine) -> list[tuple[int, int, str]]:
            if line.document < 0:
                return [(0, len(line.text), "NAME")]
            return [
                (max(a - line.start, 0), min(b, line.end) - line.start, "NAME")
                for a, b in letters()[self.order[line.document]].names
                if a < line.end and line.start < b
            ]

        return answer

    def accept(self, **options: Any) -> Any:
        asked = {**GOAL, "answers": self.reader(), **options}
        return documents.accept(kit(), str(self.out), str(self.source), **asked)

    @property
    def release(self) -> StoredRelease:
        return StoredRelease.open(self.out)

    def left(self) -> int:
        """Count the source's identifiers that are left."""
        edits: dict[int, list[tuple[int, int]]] = {}
        for one in removals(self.release):
            edits.setdefault(one["row"], []).append((one["start"], one["end"]))
        return sum(
            not any(a <= start and end <= b for a, b in edits.get(row, ()))
            for row, one in enumerate(letters())
            for start, end in one.names
        )

    def files(self) -> dict[str, bytes]:
        return {one.name: one.read_bytes() for one in self.out.iterdir()}


@dataclass(frozen=True)
class Accepted(Given):
    """A release as it is accepted, how many names it left before, its files then, the verdict."""

    before: int
    was: dict[str, bytes]
    found: dict[str, Any]


@pytest.fixture(scope="module", params=KINDS)
def accepted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Accepted:
    given = Given.made(request.param, tmp_path_factory.mktemp("folder"))
    return Accepted(**vars(given), before=given.left(), was=given.files(), found=given.accept())


def test_a_folder_is_mended_accepted_and_certified(accepted: Accepted) -> None:
    assert accepted.found["decided"] is True
    assert accepted.left() < accepted.before
    assert accepted.left() <= 40 * accepted.found["tokens"] / 1000
    release = accepted.release
    assert all(check.holds is not False for check in checks(release, verify, None))
    assert release.public["acceptance"]["tokens_read"] == accepted.found["read"]
    assert [one.attack for one in find_evidence(release, None)] == ["acceptance"]


def test_only_files_in_which_readers_found_something_change(accepted: Accepted) -> None:
    mended = {
        one["row"] for one in removals(accepted.release) if RemovalReason("reader") in one["by"]
    }
    now, named = accepted.files(), accepted.release.rows().read(["file"]).column("file")
    assert mended
    assert now.keys() == accepted.was.keys()
    assert {name.split(".")[0] for name, raw in now.items() if raw != accepted.was[name]} == {
        name for name, row in zip(named.to_pylist(), accepted.order, strict=True) if row in mended
    }


def test_what_readers_found_is_replaced_in_the_files_own_form(accepted: Accepted) -> None:
    words = accepted.release.rows().read(["text"]).column("text").to_pylist()
    for one in removals(accepted.release):
        text = words[accepted.order.index(one["row"])]
        assert text[one["published_start"] : one["published_end"]] == "[NAME]"
    if accepted.kind == "brat":
        for document in Corpus.read(str(accepted.out), "brat"):
            marks = [found.span() for found in re.finditer(r"\[NAME\]", document.text)]
            assert [(one.start, one.end) for one in document.spans] == marks
    if accepted.kind == "docx":
        for place in accepted.out.iterdir():
            assert {one.style.name for one in docx.Document(str(place)).paragraphs} == {"Quote"}


@pytest.mark.whole
def test_a_kill_at_any_rename_leaves_a_whole_folder(tmp_path: Path) -> None:
    given = Given.made("brat", tmp_path)
    number = 1
    while killed_at(number, given.accept):
        assert is_whole(given.out, tmp_path), number
        number += 1
    assert number > 5
    found = given.accept()
    assert found["decided"] is True
    assert given.release.public["acceptance"]["tokens_read"] == found["read"]


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore::voile.face.kit.SetAsideWarning")
def test_a_name_in_the_fonts_of_a_word_file_is_removed_as_well(tmp_path: Path) -> None:
    """Nobody reads the name of a font: an unknown one becomes the default."""
    given = Given.made("docx", tmp_path, font=True)
    given.accept()
    for place in given.out.iterdir():
        with ZipFile(place) as parts:
            text = b"".join(map(parts.read, parts.namelist())).decode("utf-8", "replace")
        assert "w:rFonts" in text
        assert not re.search(f'="[^"]*(?:{"|".join(FAMILY)})', text)
    assert all(check.holds is not False for check in checks(given.release, verify, None))
