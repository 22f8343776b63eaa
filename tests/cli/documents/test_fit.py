"""Policies from annotated notes, and notes that nothing can be learnt from."""

from __future__ import annotations

import html
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.documents.ward import (
    FIRST,
    HARMLESS,
    QUICK,
    WORD,
    Notes,
    attack_on,
    note,
    put_brat,
    put_lines,
    refused,
    released,
    roles_of,
)

from voile.release.kit import StoredKit


def test_fit_finds_policies_of_several_costs(voile: Any, notes: Notes) -> None:
    kit = StoredKit.load(notes.kit)
    assert kit.facts["labels"] == ["DATE", "NAME"]
    assert kit.visibility == "private"
    policies = voile("documents", "frontier", notes.kit, "--json").json["policies"]
    assert min(policy["risk"] for policy in policies) < 0.1
    assert not WORD.search(notes.policy.read_text())


def test_the_same_seed_gives_the_same_kit(voile: Any, notes: Notes, tmp_path: Path) -> None:
    assert voile(*notes.fit(tmp_path / "kit"), "--quiet").code == 0
    assert StoredKit.load(tmp_path / "kit").id == StoredKit.load(notes.kit).id


SPANS = {
    "outside": ([[0, 4000, "NAME"]], "the span 0 to 4000 is not inside the text"),
    "empty": ([[7, 7, "NAME"]], "the span 7 to 7 is empty"),
    "overlapping": (
        [[0, 8, "NAME"], [4, 10, "DATE"]],
        "the spans 0 to 8 and 4 to 10 overlap",
    ),
    "strange": ([["0", 8, "NAME"]], "span 1 has no start, end, label"),
}


@pytest.mark.parametrize("which", SPANS)
def test_wrong_spans_are_told_by_document_and_offsets(
    voile: Any, lines: Path, tmp_path: Path, which: str
) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    marks, what = SPANS[which]
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    put_lines(lines, [*rows, {**rows[0], "marks": marks}])
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit"]
    said = refused(voile, *words, *QUICK)
    assert "row 13" in said
    assert what in said
    assert not (tmp_path / "kit").exists()


def test_wrong_spans_of_a_corpus_are_told_alike(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    shutil.copytree(notes.source, source)
    (source / "note 03.ann").write_bytes(b"T1\tNAME 9 12\r\nT2\tDATE 11 14\r\n")
    said = refused(voile, *notes.fit(tmp_path / "kit", source))
    assert said == (
        "voile: document note 03: the spans 9 to 12 and 11 to 14 overlap; correct the spans"
    )


def test_a_weight_of_a_type_that_is_not_there_is_refused(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    words = notes.fit(tmp_path / "kit")
    assert "did you mean NAME" in refused(voile, *words, "--weight", "NAMES=2")
    assert "TYPE=NUMBER" in refused(voile, *words, "--weight", "NAME=much")
    assert "above 0" in refused(voile, *words, "--weight", "NAME=-1")


def test_a_corpus_without_identifiers_is_refused(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "plain notes"
    source.mkdir()
    for number in range(5):
        put_brat(source, str(number), f"The patient takes {HARMLESS}.\r\n", [])
    said = refused(voile, *notes.fit(tmp_path / "kit", source))
    assert "no identifier" in said


@pytest.mark.parametrize("text", ["", " \r\n"])
def test_an_empty_document_alone_is_refused(
    voile: Any, notes: Notes, tmp_path: Path, text: str
) -> None:
    source = tmp_path / "plain notes"
    source.mkdir()
    put_brat(source, "a", text, [])
    assert "no identifier" in refused(voile, *notes.fit(tmp_path / "kit", source))


LISTS = {
    "missing": (None, "list.txt: the list cannot be read"),
    "empty": (b"", "list.txt: the list has no phrase"),
    "no text": (b"Zyxandra caf\xe9\n", "list.txt: the list is not UTF-8"),
}


@pytest.mark.parametrize("which", LISTS)
def test_a_list_that_is_none_is_refused(
    voile: Any, notes: Notes, tmp_path: Path, which: str
) -> None:
    content, what = LISTS[which]
    path = tmp_path / "list.txt"
    if content is not None:
        path.write_bytes(content)
    said = refused(voile, *notes.fit(tmp_path / "kit"), "--lists", f"given={path}")
    assert what in said
    assert not (tmp_path / "kit").exists()


def test_lists_are_named_once_each(voile: Any, notes: Notes, tmp_path: Path) -> None:
    words = [*notes.fit(tmp_path / "kit"), "--lists", "given=a.txt"]
    said = refused(voile, *words, "--lists", "given=b.txt")
    assert said == "voile: --lists: two lists are called given"
    assert (
        refused(voile, *words, "--lists", "b.txt")
        == "voile: --lists: the value lacks a name or a file"
    )


def test_a_kit_with_a_list_works_without_its_file(voile: Any, notes: Notes, tmp_path: Path) -> None:
    kit, policy, out = tmp_path / "kit", tmp_path / "policy.toml", tmp_path / "release.jsonl"
    path = tmp_path / "list.txt"
    path.write_text("".join(f"{name} of Nowhere\r\n" for name in FIRST))
    ran = voile(*notes.fit(kit), "--lists", f"given={path}")
    assert ran.code == 0
    assert not WORD.search(ran.out + ran.err)
    path.unlink()
    facts = StoredKit.load(kit).facts
    assert facts["lists"] == {"given": sorted(name.lower() for name in [*FIRST, "Nowhere"])}
    assert facts["holds_words"]
    choose = ["documents", "choose", kit, "--policy", 0, "--out", policy, "--quiet"]
    assert voile(*choose).code == 0
    apply = ["documents", "apply", kit, notes.source, "--policy", policy, "--out", out]
    assert voile(*apply, "--quiet").code == 0
    page = tmp_path / "report.html"
    assert voile("report", out, "--internal", "--out", page, "--quiet").code == 0
    assert f"holder's: given ({len(FIRST) + 1} words)." in html.unescape(page.read_text())
    assert not [text for text in released(out) if WORD.search(text.replace(HARMLESS, ""))]
    for file in (tmp_path / "release.jsonl.manifest.json", policy):
        assert not re.search("nowhere", file.read_text(), re.IGNORECASE)
    assert voile(*attack_on(notes, out), "--quiet").code == 0


@pytest.mark.parametrize("null", [True, False])
def test_documents_without_spans_are_not_learnt_from(
    voile: Any, lines: Path, tmp_path: Path, null: bool
) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    plain = [{**row, "marks": None} if null else {**row} for row in rows[2:5]]
    for row in plain:
        if not null:
            del row["marks"]
    put_lines(lines, [*rows[:2], *plain, *rows[5:]])
    words = ["documents", "fit", lines, "--roles", roles, "--miss-cost", 5, *QUICK]
    ran = voile(*words, "--out", tmp_path / "half")
    assert ran.code == 0
    assert (
        "voile: warning: documents without spans are not learnt from: 3 of 12, the first is row 3; "
        "give [] where an annotator found none\n"
    ) in ran.err
    assert StoredKit.load(tmp_path / "half").facts["documents"] == 9
    put_lines(lines, [*rows[:2], *({**row, "marks": []} for row in rows[2:5]), *rows[5:]])
    ran = voile(*words, "--out", tmp_path / "whole")
    assert "warning" not in ran.err
    assert StoredKit.load(tmp_path / "whole").facts["documents"] == 12


@pytest.mark.parametrize(("share", "folds"), [(0.99, 4), (0.5, 20)])
def test_a_hold_out_that_leaves_too_little_is_said_to(
    voile: Any, notes: Notes, tmp_path: Path, share: float, folds: int
) -> None:
    words = [*notes.fit(tmp_path / "kit"), "--hold-out", share, "--cross-fit", folds]
    said = refused(voile, *words)
    assert "the hold-out leaves too few documents to learn from" in said
    assert "hold out less" in said


def test_fewer_documents_than_folds_are_refused(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "few notes"
    source.mkdir()
    for number in range(3):
        put_brat(source, str(number), *note(random.Random(number)))
    said = refused(voile, *notes.fit(tmp_path / "kit", source))
    assert said == (
        "voile: 3 subjects cannot be split into 4 folds; "
        "give documents of more subjects, or ask for fewer folds"
    )


def test_documents_of_one_person_are_in_one_fold(voile: Any, lines: Path, tmp_path: Path) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit"]
    said = refused(voile, *words, *QUICK, "--cross-fit", 7)
    assert "6 subjects cannot be split into 7 folds" in said


def test_roles_that_documents_do_not_treat_are_refused(
    voile: Any, lines: Path, tmp_path: Path
) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    roles.write_text(roles.read_text().replace('ward = "drop"', 'ward = "quasi"'))
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit"]
    assert "column ward has the role quasi" in refused(voile, *words, *QUICK)
    roles.write_text(roles.read_text().replace('ward = "quasi"', ""))
    assert "column ward has no role" in refused(voile, *words, *QUICK)
