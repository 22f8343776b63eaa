"""A release is read on the local page, from notes that nobody marked to a verdict."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.documents.model.start.made import FAMILY, GIVEN, STAFF, hospital
from tests.documents.reported import figures, page, said, shown
from tests.documents.reviewing.command import Client, started

import voile
from voile.core.errors import RequestError
from voile.documents.reviewing.line import ReviewLine
from voile.documents.reviewing.store import ReviewStore
from voile.documents.verbs.verify import verify
from voile.release.evidence import find_evidence
from voile.release.manifest import StoredRelease
from voile.release.verify import checks

QUICK = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "least_left": 50}
GOAL = {"at_most": 20, "confidence": 0.8, "recall": 0.9}
OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in GOAL.items()]
UNSEEN = ("Zelenko", "Orlovich", "Petrunin")
"""Names that nothing tells from other words, each in one note."""
NAMES = {*GIVEN, *FAMILY, *(one.split()[1] for one in STAFF), *UNSEEN}
WORD = r"[\w/-]+"
pytestmark = [
    pytest.mark.whole,
    pytest.mark.filterwarnings(
        "ignore::voile.documents.model.start.known.known_values.KnownValuesWarning",
        "ignore::voile.documents.model.policies.UncheckedWarning",
    ),
]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release notes that nobody marked; nothing was known of the staff, whom they name."""
    folder = tmp_path_factory.mktemp("hospital")
    notes, people, _ = hospital(folder, 60, 4)
    text = notes.read_text()
    for name in UNSEEN:
        text = text.replace(" The chest was clear", f" {name} the chest was clear", 1)
    notes.write_text(text)
    voile.documents.init(notes, folder / "work", known=people, by="patient_id", **QUICK)
    voile.open_kit(folder / "work").apply(None, str(notes), keep_order=True).save(
        folder / "out.csv"
    )
    return folder


@pytest.fixture
def folder(begun: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(begun, tmp_path / "hospital"))


def places(folder: Path) -> list[Path]:
    return [folder / "work", folder / "out.csv", folder / "notes.csv"]


def accept(folder: Path, **options: Any) -> Any:
    return voile.documents.accept(*map(str, places(folder)), **{**GOAL, **options})


def identifies(word: str) -> bool:
    return word in NAMES or bool(re.search(r"\d", word))


def attentive(line: ReviewLine) -> list[tuple[int, int, str]]:
    words = re.finditer(WORD, line.text)
    return [(*one.span(), "NAME") for one in words if identifies(one[0])]


def test_what_was_learnt_from_proposals_is_proved_by_reading_alone(folder: Path) -> None:
    assert accept(folder, plan=True)["plan"]["census"] >= 100
    found = accept(folder, answers=attentive)
    assert found["decided"] is True, found
    assert found["number"] == 1
    assert found["census_found"] > 0
    release = StoredRelease.open(str(folder / "out.csv"))
    assert all(one.holds is not False for one in checks(release, verify, None))
    evidence = find_evidence(release, None)
    for audience in ("public", "internal"):
        start = said(shown(release, evidence, audience=audience)["start"])
        sure = f"with 80% confidence, {release.public['acceptance']['condition']}."
        assert f"at most 20 identifiers are left per 1,000 tokens, {sure}" in start
        summary = figures(shown(release, evidence, audience=audience)["summary"])
        proved = summary["Identifiers left, proved by reading"]
        assert (proved.value, proved.interval) == ("at most 20 per 1,000 tokens", "80% confidence")
        assert proved.meaning == "if readers see real ones as well as planted ones"
        assert not re.search("annotated text|annotators", page(release, evidence, audience))
        assert "unknown here" not in start
        assert "Proved: at most 20" in page(release, evidence, audience)
    public = page(release, evidence, "public") + json.dumps(release.public)
    assert NAMES.isdisjoint(re.findall(r"\w+", public + found["says"]))


def test_where_nobody_annotated_the_report_points_to_reading(begun: Path) -> None:
    release = StoredRelease.open(str(begun / "out.csv"))
    text = said(shown(release, [], audience="public")["singling-out"])
    assert "voile documents accept proves by reading" in text


def test_the_server_stays_until_the_verdict_and_the_reading_goes_on_where_it_was_ended(
    folder: Path,
) -> None:
    with started("accept", *places(folder), *OPTIONS, "--json") as (process, address):
        client = Client(address)
        for _ in range(5):
            read(client)
        process.send_signal(signal.SIGINT)
        told, heard = process.communicate(timeout=60)
    assert process.returncode == 1, heard
    assert json.loads(told)["decided"] is None
    store = ReviewStore.open(folder / "out.csv.acceptance" / "reading.sqlite")
    assert len(store.answers()) == 5
    with started("accept", *places(folder), *OPTIONS, "--json") as (process, address):
        client, places_shown = Client(address), set()
        while client.waits:
            places_shown.add(client.screen()["line"]["document"])
            read(client)
        assert places_shown == {0}  # a planted identifier has none to show
        client.ask("POST", "/end")
        told, heard = process.communicate(timeout=60)
    assert process.returncode == 0, heard
    found = json.loads(told)
    assert found["decided"] is True
    assert found["planted"] == found["seen"] > 0
    assert {one.purpose for one in store.lines()} == {"census", "sample"}
    assert not [word for word in NAMES if word in told + heard]


def read(client: Client) -> None:
    line = client.screen()["line"]
    for at, word in enumerate(line["words"]):
        if identifies(word):
            client.stroke("mark", [at, at + 1], "NAME")
    client.confirm()


@pytest.mark.browser
def test_a_release_is_accepted_by_keyboard_alone(
    folder: Path, chromium: Browser, tmp_path: Path
) -> None:
    asked = ("--at-most=60", "--confidence=0.7", "--recall=0.9", "--json")
    with started("accept", *places(folder), *asked) as (process, address):
        window = chromium.new_context().new_page()
        window.goto(address)
        expect(window.locator("#task")).to_have_text(
            re.compile("Is this word part of an identifier|Which of these words are part of")
        )
        expect(window.locator("#why")).to_have_text(
            "It is among the likeliest identifiers that are left."
        )
        expect(window.locator("#line .mark")).to_have_count(0)
        window.screenshot(path=str(tmp_path / "accept.png"))
        window.set_viewport_size({"width": 390, "height": 844})
        assert window.evaluate("document.documentElement.scrollWidth") <= 390
        window.screenshot(path=str(tmp_path / "narrow.png"), full_page=True)
        keys = 0
        while window.locator("#desk").is_visible():
            words = window.locator("#line .word").all_inner_texts()
            beside = window.locator("#sheet .asked").all_inner_texts()
            for word in words:
                if identifies(word):
                    window.keyboard.press("Space")
                window.keyboard.press("ArrowRight")
            is_alone = any(identifies(word) for text in beside for word in re.findall(WORD, text))
            before = window.locator("#standing").inner_text()
            window.keyboard.press("Enter" if is_alone else "Shift+Enter")
            keys += 1
            expect(window.locator("#standing")).not_to_have_text(before)
        expect(window.locator("#title")).to_have_text("Nothing is left to read")
        expect(window.locator("#standing")).to_have_text(re.compile(r"^[\d,]+ words read$"))
        window.keyboard.press("Enter")
        told, heard = process.communicate(timeout=60)
    assert json.loads(told)["decided"] is True, heard
    lines = len(ReviewStore.open(folder / "out.csv.acceptance" / "reading.sqlite").answers())
    assert lines >= 50
    assert keys < lines


def test_without_its_libraries_nothing_is_begun(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "voile.documents.reviewing.server", raising=False)
    monkeypatch.delitem(sys.modules, "voile.documents.reviewing.page", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(RequestError, match=r"pip install 'voile\[review\]'"):
        accept(folder)
    assert not (folder / "out.csv.acceptance").exists()
