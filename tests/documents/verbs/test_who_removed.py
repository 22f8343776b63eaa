"""Who removed what, what stands for it, and what is removed or kept beside the committee."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from tests.documents.flow import (
    NOTES,
    PEOPLE,
    PHONE,
    applied,
    by_cost,
    fitted,
    people,
    read,
    removals,
    table,
)

from voile.documents.model.content import DocumentsContent
from voile.documents.options import ApplyOptions
from voile.documents.replacements.removal import RemovalReason
from voile.documents.verbs.known import find_known
from voile.documents.verbs.recipe import make_recipe
from voile.documents.verbs.replacer import make_replacer_of
from voile.release.manifest import manifest_path

SVM, DENIED = RemovalReason("pass", "svm", 1), RemovalReason("list", "deny-list")
BOTH = {"patterns": ["all"], "record": ["MRN-######"]}


@pytest.fixture(scope="module")
def deny(tmp_path_factory):
    path = tmp_path_factory.mktemp("deny") / "deny.txt"
    path.write_text("tea room\non foot\n")
    return str(path)


@pytest.mark.parametrize("how", ["mark", "category", "surrogate"])
def test_every_removal_says_what_stands_where_for_what(tmp_path, how, secret, deny):
    rows = pa.concat_tables([table(NOTES, list(NOTES[::-1])), people()])
    more = {"key_file": secret} if how == "surrogate" else {}
    release = applied(
        rows, tmp_path / "r.jsonl", chosen=by_cost(2.0), replace=how, deny=deny, **BOTH, **more
    )
    source, shown = rows.to_pylist(), read(release.path)
    found = removals(release)
    for number, (before, after) in enumerate(zip(source, shown, strict=True)):
        for column in ("note", "letter"):
            own = [r for r in found if (r["row"], r["column"]) == (number, column)]
            text, place = "", 0
            for one in own:  # in their order and apart: the release is the source but for them
                new = (after[column] or "")[one["published_start"] : one["published_end"]]
                assert place <= one["start"] < one["end"]
                text += before[column][place : one["start"]]
                assert len(text) == one["published_start"]
                text += new
                place = one["end"]
                assert new
                assert new != before[column][one["start"] : one["end"]]
                if how != "surrogate":
                    assert new == f"[{one['label']}]"
            assert text + (before[column] or "")[place:] == (after[column] or "")
    told = {(source[r["row"]][r["column"]][r["start"] : r["end"]], *r["by"]) for r in found[:30]}
    assert told >= {
        ("Ana Ruiz", SVM),
        ("ANA", RemovalReason("repeat")),
        (PHONE, RemovalReason("pattern", "phone")),
        ("tea room", DENIED),
        ("on foot", DENIED),
        ("MRN-123456", RemovalReason("pattern", "record MRN-######")),
    }
    counted = Counter(str(by) for r in found for by in r["by"])
    assert release.private["removed_by"] == dict(counted)
    assert set(release.public["constraints"]["patterns"]) >= {"phone", "record numbers"}
    assert "MRN" not in manifest_path(release.path).read_text()


def test_neighbours_of_one_category_are_one_edit_of_both_removers(tmp_path, deny):
    rows = table(["We saw {Ana Ruiz|NAME} on foot , again ."])
    release = applied(
        rows, tmp_path / "r.jsonl", chosen=by_cost(2.0), deny=deny, replace="category",
        kind=["LISTED=name"],
    )  # fmt: skip
    (one,) = removals(release)
    assert one["by"] == (SVM, DENIED)
    assert read(release.path)[0]["note"] == "We saw [NAME] , again ."
    assert release.private["removed_by"] == {"deny-list": 1, "pass 1, svm": 1}


def test_words_that_point_to_removed_values_go_if_asked(tmp_path):
    """Who has a dog is called Ana, and nobody else is."""
    notes = [
        f"We saw {{{name if n % 3 else 'Ana Ruiz'}|NAME}} with {'cat' if n % 3 else 'dog'} ."
        for n, name in enumerate(PEOPLE)
    ]
    rows = table(notes, [f"Seen in week {n} ." for n in range(36)])
    kit = fitted(rows, miss_cost=[20])
    words = DocumentsContent.of(kit).context(DocumentsContent.of(kit).policy(0))
    assert words == ["dog"]
    plain = applied(rows, tmp_path / "a.jsonl", kit=kit)
    without = applied(rows, tmp_path / "b.jsonl", kit=kit, context=True)
    assert "dog" in plain.path.read_text()
    assert "dog" not in without.path.read_text()
    assert without.path.read_text().count("[CONTEXT]") == 12
    assert without.private["removed_by"]["context"] == 12
    assert "dog" not in manifest_path(without.path).read_text()


@pytest.mark.parametrize(
    ("options", "repeated"),
    [
        ({}, {"DOCTOR"}),
        ({"kind": ("CITY=name",)}, {"CITY", "DOCTOR"}),
        ({"kind": ("DOCTOR=place",)}, set()),
        ({"repeats": False}, set()),
    ],
)
def test_only_what_is_a_name_is_repeated(options, repeated):
    notes = [f"{{{name}|DOCTOR}} came from {{Lugo|CITY}} on foot ." for name in PEOPLE]
    content = DocumentsContent.of(fitted(table(notes), miss_cost=[2]))
    recipe = make_recipe(
        content, content.policy(0), ApplyOptions(**options), find_known, make_replacer_of
    )
    assert recipe.committee.labels == ("CITY", "DOCTOR")
    assert recipe.names == repeated


def test_an_allow_list_keeps_what_it_names(tmp_path):
    allow = tmp_path / "allow.txt"
    allow.write_text("Ana Ruiz\n")
    rows = table(["We saw {Ana Ruiz|NAME} again .", "We saw {Eva Mora|NAME} again ."])
    release = applied(rows, tmp_path / "r.jsonl", chosen=by_cost(2.0), allow=str(allow))
    assert [row["note"] for row in read(release.path)] == [
        "We saw Ana Ruiz again .",
        "We saw [NAME] again .",
    ]
    said = release.public["constraints"]
    assert (said["allow_list"], said["deny_list"]) == (True, False)
