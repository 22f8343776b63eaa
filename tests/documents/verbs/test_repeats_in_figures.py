"""Figures are of what apply does: a kit's, with and without further mentions, against a release's.

A kit judged in-sample must tell of its own text exactly what its release does to it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pyarrow as pa
import pytest
from tests.documents.attacked import attacked, told
from tests.documents.flow import PEOPLE, applied, fitted, table
from tests.documents.reported import said, shown

from voile.core.errors import TamperedError
from voile.core.rounding import round_number
from voile.documents.model.content import DocumentsContent
from voile.documents.options import ApplyOptions
from voile.documents.patterns.pattern import find
from voile.documents.verbs.choose import choose
from voile.documents.verbs.known import find_known
from voile.documents.verbs.recipe import make_recipe
from voile.documents.verbs.replacer import make_replacer_of
from voile.release.choice import Choice

SHIPS = ("The {} sails at noon .", "A ship , the {} , came in .", "Nobody was on board .")
"""What a ship is called like the person of the note is harmless, and goes with the name."""


def rows():
    notes = []
    for number, name in enumerate(PEOPLE * 2):
        ship = SHIPS[number % 3].format(name.split()[number % 2].upper())
        again = f" {{{name.split()[0].upper()}|NAME}} slept ." * (number % 5 == 0)
        notes.append(f"Patient {{{name}|NAME}} came on foot , and was well . {ship}{again}")
    return table(notes)


@cache
def kit():
    return fitted(rows(), cross_fit=0, miss_cost=[1, 5])


def released(tmp_path, **options):
    out = tmp_path / "r.jsonl"
    release = applied(rows(), out, kit=kit(), chosen=choose(kit(), Choice(policy=0)), **options)
    return release, told(attacked(release, truth=rows())[0])


@pytest.mark.parametrize("repeats", [True, False])
def test_a_kits_figures_are_its_releases_own(tmp_path, repeats):
    release, found = released(tmp_path, repeats=repeats)
    content = DocumentsContent.of(kit())
    (row, *_), (alone, *_) = content.figures.to_pylist(), content.alone.to_pylist()
    assert row["loss"] > alone["loss"]
    expected = row if repeats else alone
    assert found["harmless tokens removed"].value == expected["loss"]
    assert found["identifiers left"].value == expected["risk"]
    assert found["identifiers left"].successes == expected["left"]
    assert found["identifiers left"].trials == kit().facts["identifiers"]
    chosen = release.private["story"]["chosen"]
    assert (chosen["loss"], chosen["context_share"]) == (
        expected["loss"],
        expected["context_share"],
    )
    assert release.public["figures"]["loss"] == round_number(expected["loss"], "up")
    assert release.public["constraints"]["repeats_in_figures"] is repeats
    text = said(shown(release)["summary"])
    assert ("these figures include them" in text) is repeats
    assert "Removed as well, and not" not in text
    assert (
        "removes further mentions of a removed name" in said(shown(release)["frontier"])
    ) is repeats


def test_a_release_tells_what_patterns_and_lists_took_as_well(tmp_path):
    deny = tmp_path / "deny.txt"
    deny.write_text("foot , and\nship")
    release, found = released(tmp_path, deny=str(deny))
    row = DocumentsContent.of(kit()).figures.to_pylist()[0]
    facts = kit().facts
    harmless = facts["tokens"] - facts["identifiers"]
    ships = sum("A ship" in one["note"] for one in rows().to_pylist())
    lost = round(row["loss"] * harmless) + 3 * len(rows()) + ships
    assert found["harmless tokens removed"].successes == lost
    assert found["harmless tokens removed"].trials == harmless
    assert found["identifiers left"].successes == row["left"]
    first, *more = attacked(release, truth=rows())
    assert "harmless tokens removed" in told(first)
    assert more
    assert not [one for one in more if "harmless tokens removed" in told(one)]


def test_the_words_that_point_are_those_of_what_is_applied():
    content = DocumentsContent.of(kit())
    row, alone = (table.to_pylist() for table in (content.figures, content.alone))
    row[0]["context"], alone[0]["context"] = ["cat"], ["dog"]
    figures, without = (pa.Table.from_pylist(one) for one in (row, alone))
    content = replace(content, figures=figures, alone=without)
    for repeats, word in ((True, "cat"), (False, "dog")):
        asked = ApplyOptions(context=True, patterns=["none"], repeats=repeats)
        recipe = make_recipe(content, content.policy(0), asked, find_known, make_replacer_of)
        (found,) = find("a cat and a dog", recipe.finders)
        assert "a cat and a dog"[found.start : found.end] == word


def test_what_was_chosen_is_with_further_mentions(tmp_path):
    release, _ = released(tmp_path)
    chosen = choose(kit(), Choice(policy=0)).figures["loss"]
    assert round_number(chosen, "up") == release.public["figures"]["loss"]
    loss = release.private["story"]["frontier"]["loss"]
    assert loss == kit().tables["frontier"].column("loss").to_pylist()


def test_where_other_types_are_names_the_figures_are_the_committees_alone(tmp_path):
    with pytest.warns(UserWarning, match="--no-repeats"):
        release, found = released(tmp_path, kind=["NAME=number"])
    alone = DocumentsContent.of(kit()).alone.to_pylist()[0]
    assert found["harmless tokens removed"].value == alone["loss"]
    assert release.public["figures"]["loss"] == alone["loss"]
    assert release.public["constraints"]["repeats_in_figures"] is False
    content = DocumentsContent.of(kit())
    assert content.repeating(frozenset({"NAME", "WARD"})).figures is content.alone
    assert content.repeating(frozenset({"NAME"})).figures is content.figures
    other = {**release.public["constraints"], "repeats": True}
    public = {**release.public, "constraints": other}
    text = said(shown(replace(release, public=public))["summary"])
    assert "not in the fit's figures: further mentions of" in text
    (tmp_path / "same").mkdir()
    same, _ = released(tmp_path / "same", kind=["NAME=name"])
    assert same.public["constraints"]["repeats_in_figures"] is True


def test_figures_of_other_policies_are_refused():
    alone = kit().tables["alone"].to_pylist()
    alone[0]["passes"] += 1
    for other in (alone, alone[1:]):
        bad = replace(kit(), tables={**kit().tables, "alone": pa.Table.from_pylist(other)})
        with pytest.raises(TamperedError):
            DocumentsContent.of(bad)


def test_kits_with_words_that_tell_and_without_have_one_measure():
    """Every second person rides a tandem: `tandem` tells that there is a name."""
    notes = [
        f"{{{PEOPLE[n % 36]}|NAME}} rode the tandem ." if n % 2 else "Nobody rode the bus ."
        for n in range(72)
    ]
    rows = table(notes, [f"Seen in week {n} ." for n in range(72)])
    plain, told = (fitted(rows, miss_cost=[5], context=context) for context in (False, True))
    assert told.facts["labels"] == ["CONTEXT_NAME", "NAME"]
    assert plain.facts["identifiers"] == told.facts["identifiers"] == 72
    first, other = (kit.tables["frontier"].to_pylist()[0] for kit in (plain, told))
    harmless = plain.facts["tokens"] - 72
    assert told.facts["types"] == [36, 72]
    assert (first["left"], first["loss"]) == (0, 0)
    assert (other["left"], other["loss"]) == (0, 36 / harmless)
    assert other["false_words"] == [{"word": "tandem", "removed": 36}]
    page = said(shown(told)["summary"])
    assert "count them as harmless tokens, not as identifiers" in page
    assert "identifiers of 1 type." in page


@pytest.mark.filterwarnings("ignore:no type of the policy is known to be a name")
@pytest.mark.parametrize("repeats", [True, False])
def test_nothing_is_said_of_further_mentions_of_names_where_no_type_is_a_name(tmp_path, repeats):
    rows = table([f"Seen at {{{20 + n % 60}|AGE}} , in room {n % 60 + 20} ." for n in range(72)])
    release = applied(rows, tmp_path / "r.jsonl", kit=fitted(rows, miss_cost=[5]), repeats=repeats)
    parts = shown(release)
    assert "urther mentions" not in said(parts["summary"]) + said(parts["frontier"])
    assert release.public["constraints"]["repeats_in_figures"] is False
