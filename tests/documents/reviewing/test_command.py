"""`voile documents review`, as a person starts, kills and starts it again."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.documents.model.start.made import FAMILY, GIVEN, STAFF
from tests.documents.reviewing.command import Client, started

import voile.documents
from voile.cli.run import run
from voile.core.errors import RequestError
from voile.documents.fitting.refit import harmless_in
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.reviewing.line import ReviewLine
from voile.documents.reviewing.store import ReviewStore
from voile.release.kit import StoredKit

pytestmark = pytest.mark.whole


def answered(work: Path) -> list[int]:
    with ReviewStore.open(work / "review.sqlite") as store:
        return [one.line for one in store.answers()]


def test_every_answer_survives_a_kill_and_the_review_goes_on(work: Path) -> None:
    done: list[int] = []
    for _ in range(2):
        with started("review", work) as (process, address):
            client = Client(address)
            done += [client.confirm() for _ in range(5)]
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert answered(work) == done
    assert done == [*range(1, 11)]


def test_ctrl_c_ends_it_and_says_what_was_done(work: Path) -> None:
    before = StoredKit.load(work).id
    with started("review", work, "--json", "--reviewer", "Eva", "--goal", "300") as (
        process,
        address,
    ):
        client = Client(address)
        client.confirm()
        screen = client.screen()
        assert (screen["reviewer"], screen["types"][:2]) == ("Eva", ["NAME", "DATE"])
        assert 300 <= screen["standing"]["goal"] < 310  # the last line is whole
        process.send_signal(signal.SIGINT)
        said, heard = process.communicate(timeout=120)
    assert process.returncode == 0, heard
    assert f"1 line read and learnt from; release with voile documents apply {work}" in heard
    result = json.loads(said)
    assert (result["answered"], result["compared"], result["agreed"]) == (1, 0, 0)
    assert result["lines"] >= 15
    assert StoredKit.load(work).id != before  # the answers were learnt
    assert not [word for word in (*GIVEN, *FAMILY, *STAFF) if word in heard]


def test_a_word_that_is_never_a_name_is_left_in_by_the_kit(work: Path) -> None:
    with started("review", work) as (process, address):
        client = Client(address)
        while "Rastrup" not in (words := client.screen()["line"]["words"]):
            client.confirm()
        at = words.index("Rastrup")
        client.stroke("never", [at, at + 1])
        client.confirm()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    with ReviewStore.open(work / "review.sqlite") as store:
        assert store.never == {"Rastrup"}
    notes = UnmarkedWork.open(work)
    for document in notes.corpus([*harmless_in(notes.documents, {"Rastrup"})]):
        for found in re.finditer("Rastrup", document.text):
            inside = [
                one for one in document.spans if one.start < found.end() and found.start() < one.end
            ]
            assert inside == []
            assert (found.start(), found.end()) not in document.unknown


@pytest.fixture
def wrong(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def wrong(work: Path, *options: str) -> str:
        assert run(["documents", "review", str(work), *options]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        return said

    return wrong


def test_what_cannot_be_reviewed_is_refused_in_one_sentence(
    work: Path, tmp_path: Path, wrong: Callable[..., str]
) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    assert "no work folder here; voile documents init makes one" in wrong(nothing)
    named = wrong(work, "--reviewer", "Eva", "--reviewer", "Eva")
    assert "--reviewer: give each reviewer a name of their own" in named
    (work / "review.sqlite").write_bytes(b"nothing that SQLite knows" * 100)
    assert "review.sqlite: is damaged, or holds no answers" in wrong(work)


def test_a_line_that_is_not_in_the_notes_is_refused(work: Path, wrong: Callable[..., str]) -> None:
    with ReviewStore.create(
        work / "review.sqlite", meta={"fingerprint": fingerprint(work)}
    ) as store:
        text = UnmarkedWork.open(work).documents[3].text[:9]
        store.add([ReviewLine(0, 1, "review", 3, 0, 9, "", text, "")], batch=1)
    for change in ("text = 'Another .'", "start = 1", "document = 999"):
        other = sqlite3.connect(work / "review.sqlite")
        with other:
            other.execute(f"UPDATE lines SET {change}")
        other.close()
        assert "review.sqlite: is damaged, or holds no answers" in wrong(work)


def fingerprint(work: Path) -> str:
    return str(json.loads((work / "work.json").read_text())["fingerprint"])


def test_a_review_of_other_notes_is_refused(work: Path, wrong: Callable[..., str]) -> None:
    with ReviewStore.create(work / "review.sqlite", meta={"fingerprint": "of others"}):
        assert "the review is of other notes, or the notes changed since" in wrong(work)


def test_notes_that_changed_are_refused(
    work: Path, tmp_path: Path, wrong: Callable[..., str]
) -> None:
    index = json.loads((work / "work.json").read_text())
    changed = tmp_path / "notes.csv"
    changed.write_text(Path(index["notes"]).read_text() + "p1,One more .\n")
    (work / "work.json").write_text(json.dumps({**index, "notes": str(changed)}))
    assert "the notes have changed since this work folder was made" in wrong(work)


def test_without_its_libraries_the_extra_is_named(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "voile.documents.reviewing.server", raising=False)
    monkeypatch.delitem(sys.modules, "voile.documents.reviewing.page", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(RequestError, match=r"pip install 'voile\[review\]'"):
        voile.documents.review(work, browser=False)


def test_from_python_the_options_are_those_of_the_command(work: Path) -> None:
    with pytest.raises(RequestError, match="no such option: revewer; did you mean reviewer"):
        voile.documents.review(work, revewer="Eva")
    with pytest.raises(RequestError, match="port"):
        voile.documents.review(work, port=99_999)
