"""An attack on a release of notes that nobody annotated, scored by the columns beside them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from tests.documents.attacked import noted, told
from tests.documents.model.start.made import STAFF, notes, patients, write_table
from tests.documents.reported import figures, page, shown

import voile
from voile.core.errors import RequestError
from voile.documents.attack.ordinary_names import GUESSED
from voile.documents.model.policies import UncheckedWarning

QUICK = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "least_left": 50}
CALLED = {"Ines": "Summer", "Hugo": "May", "Greta": "Rice"}
pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::voile.documents.model.start.known.known_values.KnownValuesWarning"
    ),
    pytest.mark.filterwarnings("ignore::voile.documents.model.policies.UncheckedWarning"),
]


def people():
    """Return patients of whom some have a given name that is an ordinary word."""
    rows = patients()
    for row in rows:
        given, family = row["name"].split()
        row["name"] = f"{CALLED.get(given, given)} {family}"
    return rows


@cache
def made():
    folder = Path(mkdtemp())
    write_table(folder / "patients.csv", people())
    write_table(folder / "staff.csv", [{"doctor": name} for name in STAFF])
    write_table(folder / "notes.csv", notes(people()))
    voile.documents.init(folder / "notes.csv", folder / "work", **known(folder), **QUICK)
    with pytest.warns(UncheckedWarning):
        release = voile.open_kit(folder / "work").apply(None, str(folder / "notes.csv"))
    return folder, release


def known(folder):
    return {
        "known": str(folder / "patients.csv"),
        "by": "patient_id",
        "known_people": str(folder / "staff.csv"),
    }


def attacked(**more):
    folder, release = made()
    return release.attack(str(folder / "notes.csv"), **{**known(folder), **more}, seed=1)


def test_names_that_are_words_are_guessed_and_nothing_else_is_scored():
    (evidence,) = attacked()
    rates = told(evidence)
    called = [row["name"].split()[0] for row in people()]
    assert rates[GUESSED].trials == sum(name in CALLED.values() for name in called) > 5
    assert "and the names in known columns" in noted(evidence)
    assert "the identifiers left were not counted" in noted(evidence)
    assert evidence.heading == "inference"


def test_the_report_has_no_identifiers_left_of_it_and_no_word():
    _, release = made()
    evidence = attacked()
    for audience in ("public", "internal"):
        blocks = shown(release, evidence, audience)
        assert figures(blocks["summary"])["Identifiers left"].value == "not measured"
        assert "inference" in blocks
        assert "voile documents accept proves by reading" in page(release, evidence, audience)
    told = json.dumps([one.to_json() for one in evidence])
    words = {word for row in people() for word in row["name"].split()} - {"May"}
    assert not any(word in told + page(release, evidence, "public") for word in words)


def test_without_known_columns_the_truth_is_refused_and_the_way_said():
    with pytest.raises(RequestError, match="If nobody annotated, known scores guesses"):
        attacked(known=None, by=None, known_people=None)
    with pytest.raises(RequestError, match="by says whose a row of known is"):
        attacked(known=None, known_people=None)
    with pytest.raises(RequestError, match="no column gives the subject of each row"):
        attacked(by=None)
