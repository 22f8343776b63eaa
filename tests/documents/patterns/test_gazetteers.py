"""Lists of names: what of them is looked up, and that a kit needs no file of theirs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.documents.flow import applied, fitted, read, table

from voile.core.errors import RequestError, SourceError
from voile.documents.attack.budgeted import BudgetedAttacker
from voile.documents.model.content import DocumentsContent
from voile.documents.model.start.lists import clusters_of, name_clusters
from voile.documents.options import AttackOptions, FitOptions
from voile.documents.patterns.gazetteers import gazetteer_words, read_gazetteers
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.release.kit import StoredKit

START, MIDDLE = ("Ab", "Ed", "Il", "Ol", "Ur", "Yv"), ("ba", "de", "fi", "go", "lu", "ny", "so")
MADE_UP = [a + b + c for a in START for b in MIDDLE for c in ("na", "rik")]
random.Random(3).shuffle(MADE_UP)
NAMES, SHIPS, NEW, OTHER = (MADE_UP[n::4] for n in range(4))
"""84 made-up words; nothing but a list tells which are names."""


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("Ann Lee", {"ann", "lee"}),
        ("ANN", {"ann"}),
        ("Jose\u0301  Pe\u200brez ", {"josé", "perez"}),
        ("Isle of Dogs", {"isle", "dogs"}),
        ("de la Fuente", {"fuente"}),
        ("tea room", {"tea", "room"}),
        ("O'Hara-Lee", {"o", "hara", "lee"}),
        ("Ward 12", {"ward", "12"}),
        ("-- !", set()),
    ],
)
def test_phrases_are_taken_apart_as_text_is(phrase, words):
    assert gazetteer_words({"a": [phrase], "b": []}) == {"a": words, "b": set()}


def test_each_phrase_is_looked_at_alone():
    phrases = ["Isle of Dogs", "tea room", "", "--", "Jose\u0301 y Ana", "de la Fuente", "IBM"]
    alone = [gazetteer_words({"a": [phrase]})["a"] for phrase in phrases]
    assert gazetteer_words({"a": iter(phrases)}) == {"a": frozenset().union(*alone)}
    assert "room" in alone[1]


def test_a_tokeniser_of_ones_own_takes_phrases_apart_too():
    assert gazetteer_words({"a": ["O'Hara"]}, lambda text: [(0, len(text))]) == {"a": {"o'hara"}}


def seen(words, label):
    return [
        f"We saw {{{word}|NAME}} again ." if label else f"We saw {word} again ." for word in words
    ]


def test_a_kit_knows_its_lists_without_their_files(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\ufeff" + "\r\n".join([*NAMES, *NEW, ""]), encoding="utf-8")
    rows = table([*seen(NAMES, True), *seen(SHIPS, False)])
    kits = [fitted(rows, miss_cost=[3], lists=lists) for lists in ((), (f"ones={path}",))]
    path.unlink()
    unseen = table([*seen(NEW, False), *seen(OTHER, False)])
    gone = []
    for number, kit in enumerate(kits):
        kit.save(tmp_path / f"{number}")
        again = StoredKit.load(tmp_path / f"{number}")
        release = applied(unseen, tmp_path / f"{number}.jsonl", kit=again)
        gone.append(["[NAME]" in row["note"] for row in read(release.path)])
    assert gone[1] == [True] * len(NEW) + [False] * len(OTHER)
    assert gone[0] != gone[1]
    assert kits[0].facts["lists"] == {}
    assert kits[1].facts["lists"] == {"ones": sorted(word.lower() for word in [*NAMES, *NEW])}
    assert kits[1].facts["holds_words"]
    assert kits[1].visibility == "private"


def test_clusters_of_words_tell_of_names_that_no_note_had(tmp_path):
    people, things = (
        [word.title() for word in sorted(clusters_of("english")[f"cluster {path}"])[:40]]
        for path in (cluster_of("john"), cluster_of("table"))
    )
    rows = table([*seen(people[:20], True), *seen(things[:20], False)])
    unseen = table([*seen(people[20:], False), *seen(things[20:], False)])
    gone = []
    for clusters in (None, "english"):
        kit = fitted(rows, miss_cost=[3], clusters=clusters)
        kit.save(tmp_path / f"{clusters}")
        again = StoredKit.load(tmp_path / f"{clusters}")
        release = applied(unseen, tmp_path / f"{clusters}.jsonl", kit=again)
        gone.append(["[NAME]" in row["note"] for row in read(release.path)])
    assert gone[1] == [True] * 20 + [False] * 20
    assert gone[0] != gone[1]
    assert (kit.facts["lists"], kit.facts["clusters"]) == ({}, name_clusters("english"))
    spanish = table(
        [f"El paciente de la sala {n} es de la ciudad {{Ana|NAME}} ." for n in range(9)]
    )
    with pytest.raises(RequestError, match="seems to be Spanish, and english was asked for"):
        fitted(spanish, clusters="english")
    changed = replace(kit, facts={**kit.facts, "clusters": "english 0000"})
    with pytest.raises(RequestError, match="another version of the clusters of words"):
        DocumentsContent.of(changed)


def cluster_of(word):
    found = (name for name, words in clusters_of("english").items() if word in words)
    return max(found, key=len).removeprefix("cluster ")


def test_she_may_bring_a_list():
    documents = [
        Document(f"We saw {word} again .", (Span(7, 7 + len(word), "NAME"),) if name else ())
        for words, name in ((NAMES + NEW, True), (SHIPS + OTHER, False))
        for word in words
    ]
    notes = Corpus(documents)
    half = len(notes) // 2
    found = [
        BudgetedAttacker(("svm",), random_state=1, lists=lists)
        .attack(notes, notes, inspections=half)
        .true_positives
        for lists in ({"ones": NAMES + NEW}, {})
    ]
    assert found[0] == half
    assert found[1] < half


BAD = {
    "missing": (None, SourceError, "the list cannot be read"),
    "empty": (b"", RequestError, "the list has no phrase"),
    "blank": (b"\xef\xbb\xbf\n \r\n", RequestError, "the list has no phrase"),
    "no text": ("Zoë\n".encode("latin-1"), SourceError, "the list is not UTF-8"),
}


@pytest.mark.parametrize("which", BAD)
def test_a_list_that_is_none_is_refused(tmp_path, which):
    content, kind, said = BAD[which]
    path = tmp_path / "list.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(kind, match=f"list.txt: {said}") as refused:
        read_gazetteers([f"given={path}"])
    assert "Zo" not in str(refused.value)


@pytest.mark.parametrize("options", [FitOptions, AttackOptions])
def test_each_list_has_a_name_of_its_own(options):
    assert options(lists=("a=x", "b=x=y")).lists == ("a=x", "b=x=y")
    for wrong, said in (
        (("names.txt",), "the value lacks a name or a file"),
        (("=names.txt",), "the value lacks a name or a file"),
        ((" =names.txt",), "the value lacks a name or a file"),
        (("given=",), "the value lacks a name or a file"),
        (("a=x", "b=y", "a=z"), "two lists are called a"),
    ):
        with pytest.raises(ValueError, match=said):
            options(lists=wrong)


def test_examples_of_gazetteer_words():
    assert sorted(gazetteer_words({"place": ["Isle of Dogs"]})["place"]) == ["dogs", "isle"]
