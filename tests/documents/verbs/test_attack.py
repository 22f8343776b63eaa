"""The attack is scored on the documents as they lie in the release, whatever their order."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.documents.attacked import OTHERS, attacked, noted, told
from tests.documents.flow import (
    GIVEN,
    ROLES,
    applied,
    by_cost,
    fitted,
    kit_of,
    marked_up,
    people,
    read,
    table,
)
from tests.documents.reported import figures, shown

from voile.core.errors import RequestError, TamperedError
from voile.core.evidence import Evidence
from voile.documents.attack import linkage
from voile.documents.attack.builtin_names import builtin_words
from voile.documents.model.quantities import FOUND, IN_SAMPLE
from voile.documents.replacements.names import builtin_names
from voile.documents.verbs.choose import choose
from voile.documents.words.tokens import tokenise
from voile.release.choice import Choice
from voile.release.manifest import StoredRelease
from voile.report.wording import estimate


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """Publish everything: every identifier is left."""
    out = tmp_path_factory.mktemp("r") / "r.jsonl"
    return applied(OTHERS, out, chosen=by_cost(2.0, 0), keep_order=False)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    out = tmp_path_factory.mktemp("r") / "r.jsonl"
    return applied(OTHERS, out, chosen=by_cost(2.0), keep_order=False)


def identifiers(rows):
    """Count the words of the spans of both columns."""
    cells = [
        (r[c], json.loads(r[s]))
        for r in rows
        for c, s in (("note", "spans"), ("letter", "letter spans"))
    ]
    return sum(len(text[s["start"] : s["end"]].split()) for text, spans in cells for s in spans)


def test_where_nothing_is_removed_all_is_left_and_found(untouched):
    everything = identifiers(OTHERS.to_pylist())
    for one in attacked(untouched, inspections=[everything]):
        rates = told(one)
        left = rates["identifiers left, NAME"]
        assert left.successes == left.trials == everything
        found = rates[f"identifiers found, {everything} inspections"]
        assert found.successes > 0.6 * everything
        assert rates["subjects with an identifier left"].value == 1


def test_what_is_left_is_counted_in_the_release(release):
    """By hand: the names of the truth that stand in a released text at their place."""
    source = {row["person"]: [] for row in OTHERS.to_pylist()}
    left = 0
    shown = read(release.path)
    for place, row in zip(
        [r["row"] for r in read(release.folder / "rows.parquet")], shown, strict=True
    ):
        truth = OTHERS.slice(place, 1).to_pylist()[0]
        for column, spans in (("note", "spans"), ("letter", "letter spans")):
            names = [truth[column][s["start"] : s["end"]] for s in json.loads(truth[spans])]
            left += sum(name in row[column] for name in names) * 2
    assert source
    assert 0 < left < identifiers(OTHERS.to_pylist())
    one, other, public, guessed = attacked(release)
    assert told(one)["identifiers left, NAME"].successes == left
    assert told(other)["identifiers left, NAME"].successes == left
    assert told(public)["identifiers left, NAME"].successes == left
    assert [e.attack for e in (one, other, public, guessed)] == [
        "inspections, other documents labelled",
        "inspections, a part labelled by hand",
        "inspections, ready-made classifier",
        "names that are ordinary words",
    ]
    texts = [row[column].replace("[NAME]", "") for row in shown for column in ("note", "letter")]
    tokens = len(tokenise(texts))
    assert asked(one) == {left, tokens // 100}


def asked(evidence):
    """Return the numbers of inspections."""
    conditions = (one.at for one in evidence.findings if one.at is not None)
    return {condition.values["inspections"].value for condition in conditions}


def test_the_starter_ranks_a_release_in_its_language_alone(release, tmp_path):
    found = attacked(release, labels=["starter"])
    assert [one.attack for one in found] == [
        "inspections, ready-made classifier",
        "names that are ordinary words",
    ]
    hits = [one.rate for one in found[0].findings if one.quantity == FOUND]
    assert max(one.successes for one in hits) > 0
    headline = figures(shown(release, found)["summary"])["Found by the adversary"]
    assert headline.value in {estimate(one, "internal")[0] for one in hits}
    rows = table([f"La paciente {{{name}|NAME}} no tiene dolor en el pecho ." for name in GIVEN])
    spanish = applied(rows, tmp_path / "r.jsonl", chosen=by_cost(2.0, 0))
    assert "inspections, ready-made classifier" not in [
        one.attack for one in attacked(spanish, rows)
    ]
    with pytest.raises(RequestError, match="no starter comes with voile for Spanish, which the"):
        attacked(spanish, rows, labels=["starter"])


def test_inspections_may_be_given(release):
    one, _ = attacked(release, inspections=[7, 3], labels=["published"])
    assert asked(one) == {3, 7}


def test_where_nothing_is_left_one_token_in_a_hundred_is_inspected(tmp_path):
    rows = table(["We saw {Ana Ruiz|NAME} again , and the chest was clear in May ."] * 60)
    release = applied(rows, tmp_path / "r.jsonl", chosen=by_cost(2.0))
    (one,) = attacked(release, rows, labels=["published"])
    assert told(one)["identifiers left, NAME"].successes == 0
    texts = [row[name] for row in read(release.path) for name in ("note", "letter")]
    tokens = sum(len(tokenise([re.sub(r"\[[A-Z]+\]", "", text)])) for text in texts)
    assert asked(one) == {tokens // 100}
    assert tokens > 200


@pytest.mark.whole
def test_the_same_seed_finds_the_same(release):
    assert attacked(release) == attacked(release)
    assert attacked(release) != attacked(release, seed=2)
    assert all(type(one) is Evidence for one in attacked(release))


def test_labels_of_somebody_else_are_brought(release, tmp_path):
    text, spans = marked_up("Nurse {Ana Gil|NAME} came on foot . Nothing new .")
    line = json.dumps({"text": text, "spans": json.loads(spans)}) + "\n"
    (tmp_path / "foreign.jsonl").write_text(line * 20)
    found = attacked(release, foreign=str(tmp_path / "foreign.jsonl"), labels=["published"])
    assert [one.attack for one in found] == [
        "inspections, other documents labelled",
        "inspections, text of others labelled",
        "names that are ordinary words",
    ]
    once = attacked(release, foreign=f"jsonl:{tmp_path / 'foreign.jsonl'}", labels=["foreign"])
    assert [one.attack for one in once] == [
        "inspections, text of others labelled",
        "names that are ordinary words",
    ]
    with pytest.raises(RequestError):
        attacked(release, foreign=str(tmp_path / "none.jsonl"))
    (tmp_path / "plain.jsonl").write_text(json.dumps({"text": text, "spans": []}) + "\n")
    with pytest.raises(RequestError, match="no identifier is marked in the foreign corpus"):
        attacked(release, foreign=str(tmp_path / "plain.jsonl"))


def test_a_release_of_what_was_learnt_says_so(tmp_path, release):
    assert all(IN_SAMPLE not in one.notes for one in attacked(release))
    rows = pa.concat_tables([OTHERS, people().slice(0, 1)])
    own = applied(rows, tmp_path / "r.jsonl", chosen=by_cost(2.0))
    assert own.private["learnt_from"] == 2
    assert release.private["learnt_from"] == 0
    assert all(IN_SAMPLE in one.notes for one in attacked(own, rows))


def test_types_that_nobody_learnt_are_named(tmp_path):
    notes = [f"We saw {{{n}|AGE}} again and {{Ana Ruiz|NAME}} ." for n in range(20, 40)]
    rows = table(notes)
    release = applied(rows, tmp_path / "r.jsonl", chosen=by_cost(2.0))
    (one,) = attacked(release, rows, labels=["published"])
    assert "The truth has types that the committee never learnt: AGE." in noted(one)
    assert told(one)["identifiers left, AGE"].trials == 20


def test_a_truth_that_is_not_the_source_is_refused(release):
    with pytest.raises(RequestError, match="have 71 rows, and the release was made of 72"):
        attacked(release, OTHERS.slice(1))
    with pytest.raises(RequestError, match="not that of the truth"):
        attacked(release, OTHERS.take(list(range(71, -1, -1))))
    with pytest.raises(RequestError, match="no column spans"):
        attacked(release, OTHERS.drop_columns(["spans"]))
    bare = OTHERS.to_pylist()
    for row in bare:
        row["spans"] = row["letter spans"] = None
    bare = pa.Table.from_pylist(bare, OTHERS.schema)
    with pytest.raises(RequestError, match="no identifier is marked in the truth"):
        attacked(release, bare)


def test_what_cannot_be_scored_is_refused(release, tmp_path):
    received = StoredRelease(release.path, release.public)
    with pytest.raises(RequestError, match="private folder next to the release is missing"):
        attacked(received)
    for part in ("roles", "learnt_from", "surrogates"):
        less = {name: one for name, one in release.private.items() if name != part}
        with pytest.raises(TamperedError, match=f"lacks {part}"):
            attacked(replace(release, private=less))
    touched = applied(OTHERS, tmp_path / "r.jsonl")
    touched.path.write_text(touched.path.read_text().replace("May", "Mai"))
    with pytest.raises(TamperedError):
        attacked(touched)


def test_rows_that_were_set_aside_or_null_do_not_shift_the_others(tmp_path):
    rows = OTHERS.to_pylist()
    rows[3]["note"], rows[10]["letter"] = "\ufffd", None
    rows[3]["spans"] = rows[10]["letter spans"] = None
    rows = pa.Table.from_pylist(rows, OTHERS.schema)
    release = applied(rows, tmp_path / "r.jsonl", chosen=by_cost(2.0, 0), keep_order=False)
    (one,) = attacked(release, rows, labels=["published"])
    kept = rows.take([n for n in range(72) if n != 3]).to_pylist()
    for row in kept:
        row["letter"], row["letter spans"] = row["letter"] or "", row["letter spans"] or "[]"
    assert told(one)["identifiers left, NAME"].successes == identifiers(kept)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory, secret):
    out = tmp_path_factory.mktemp("r") / "r.jsonl"
    more = {"replace": "surrogate", "key_file": secret, "keep_order": False}
    return applied(OTHERS, out, chosen=by_cost(2.0), **more)


def test_surrogates_are_linked_by_who_knows_their_lists(made_up):
    *_, linked = attacked(made_up)
    assert linked.heading == "linkability"
    assert "The adversary has the lists" in noted(linked)
    assert IN_SAMPLE not in linked.notes
    assert told(linked)["documents linked to another of the same subject"].trials == 36
    assert all(IN_SAMPLE in e.notes for e in attacked(_as_learnt(made_up)))


def _as_learnt(release):
    return replace(release, private={**release.private, "learnt_from": 1})


def test_own_lists_are_not_known_to_her(made_up, tmp_path, secret):
    folder = tmp_path / "names"
    folder.mkdir()
    for name in ("female", "male", "surnames"):
        (folder / f"{name}.txt").write_text("Qira\nQoro\nQuru\n")
    more = {"replace": "surrogate", "key_file": secret, "names": str(folder)}
    own = applied(OTHERS, tmp_path / "r.jsonl", chosen=by_cost(2.0), **more)
    *_, linked = attacked(own)
    assert "The adversary has no list" in noted(linked)
    assert own.private["surrogates"]["names"] != made_up.private["surrogates"]["names"]


def test_what_the_user_said_that_types_are_holds_for_the_attack(tmp_path, secret):
    texts = [row["spans"].replace("NAME", "WHO") for row in OTHERS.to_pylist()]
    rows = OTHERS.set_column(OTHERS.column_names.index("spans"), "spans", [texts])
    more = [row["letter spans"].replace("NAME", "WHO") for row in OTHERS.to_pylist()]
    rows = rows.set_column(rows.column_names.index("letter spans"), "letter spans", [more])
    kit = fitted(rows, ROLES, miss_cost=[2])
    out = {"replace": "surrogate", "key_file": secret, "kit": kit, "kind": ["WHO=name"]}
    release = applied(rows, tmp_path / "r.jsonl", chosen=choose(kit, Choice(policy=0)), **out)
    assert release.private["surrogates"]["kinds"] == {"WHO": "name"}
    assert release.private["figures"]["marks"] == 0
    real, seen = linkage.link_surrogates, []

    def watched(*args, **given):
        seen.append(given)
        return real(*args, **given)

    linkage.link_surrogates = watched
    try:
        attacked(release, rows)
    finally:
        linkage.link_surrogates = real
    assert seen[0]["kinds"] == {"WHO": "name"}
    assert seen[0]["surrogates"] == builtin_words()


def test_marks_are_not_linked(release):
    assert {one.heading for one in attacked(release)} == {"singling out", "inference"}
    assert kit_of().facts["labels"] == ["NAME"]


def test_the_words_of_surrogates_are_those_of_the_lists_and_titles():
    words = builtin_words()
    for language in ("english", "spanish"):
        lists = builtin_names(language)
        for name in (*lists.female, *lists.male, *lists.surnames):
            assert words.issuperset(re.findall(r"\w\w+", name.casefold()))
    assert {"mrs", "dr", "de", "la"} <= words
    assert "patient" not in words
