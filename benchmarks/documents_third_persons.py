"""People named in notes who stand in no table beside them, found by what known columns teach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.data import folder
from benchmarks.documents_start_known import (
    LEARNER,
    MISS_COST,
    NOTES,
    PATIENT,
    annotated,
    draw_staff,
    learn,
    notes,
    plain,
    tables,
    values,
)
from benchmarks.tables import save
from numpy.typing import NDArray

from voile.data import open_source
from voile.documents import Corpus, Document, Span
from voile.documents.fitting.starter.learn import learn as learn_starter
from voile.documents.fitting.starter.learn import read_corpora
from voile.documents.fitting.unmarked.marked import MarkedNotes
from voile.documents.fitting.unmarked.marks import ProposedMarks, is_sure
from voile.documents.fitting.unmarked.proposer import PatternProposer, RemovalProposer
from voile.documents.fitting.unmarked.quick_look import QuickLook
from voile.documents.model.committee.committee import TokenCommittee
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.model.start.known.vocabulary import words_of
from voile.documents.model.start.rules import LanguageRules
from voile.documents.model.start.rules.rule import NAME
from voile.documents.model.start.starter.starter import PretrainedStarter
from voile.documents.patterns import patterns_of
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import TextTokens

STAFF = 0.6
"""Share of MEDDOCAN's staff whom the tables have."""
RELATIVE = "RELATIVE"
HEADER = re.compile(r"^\s*(?:X - )?(?:From|To|cc|bcc|Sent by) :", re.IGNORECASE)
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Setting:
    """Notes to learn from and others, what tables say of each, and what else proposes."""

    name: str
    train: Sequence[Document]  # with all spans, which annotators marked
    test: Sequence[Document]
    known: KnownValues  # of the people of `train`
    of_test: KnownValues
    people: Sequence[Sequence[str]]  # the names in tables of each test note's people
    language: LanguageRules | PretrainedStarter

    def unmarked(self) -> Corpus:
        """Return the notes to learn from as `init` marks them."""
        proposers: list[RemovalProposer] = [
            self.known,
            PatternProposer(patterns_of()),
            self.language,
        ]
        documents = plain(self.train)
        return MarkedNotes(
            ProposedMarks.of(documents, proposers), QuickLook(documents, seed=0)
        ).corpus()


def spanish() -> Setting:
    train, test = notes("train", NOTES), notes("test")
    staff = draw_staff(test, STAFF)
    return Setting(
        f"MEDDOCAN, {STAFF:.0%} of the staff",
        annotated(train),
        annotated(test),
        tables(train, STAFF),
        tables(test, STAFF),
        [[*staff, *values(one, PATIENT)] for one in test],
        LanguageRules("spanish"),
    )


def sentences(english: dict[str, list[Document]]) -> Setting:
    """Return texts in which several people are named, the first of whom a table has."""
    train, test = _halves(english["presidio"])
    return Setting(
        "presidio-synthetic, the first of each text",
        train,
        test,
        _first_people(train),
        _first_people(test),
        [_names(one)[:1] for one in test],
        _without(english, "presidio"),
    )


def mails(english: dict[str, list[Document]]) -> Setting:
    """Return threads, and a table of the people in their headers."""
    people = sorted({name for one in english["enron"] for name in _in_headers(one)})
    train, test = _halves(english["enron"])
    table = open_source({"name": people})
    known = [KnownValues.read(None, people=table, kinds={"name": "name"}) for _ in range(2)]
    return Setting(
        "Enron threads, people in headers",
        train,
        test,
        *known,
        [people] * len(test),
        _without(english, "enron"),
    )


def _halves(documents: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    every = [replace(one, subject=str(n), id=str(n)) for n, one in enumerate(documents)]
    return every[::2], every[1::2]


def _without(english: dict[str, list[Document]], own: str) -> PretrainedStarter:
    return learn_starter({k: v for k, v in english.items() if k != own}, "english")


def _names(document: Document) -> list[str]:
    return [document.text[one.start : one.end] for one in document.spans if one.label == NAME]


def _first_people(documents: Sequence[Document]) -> KnownValues:
    named = [one for one in documents if one.spans]
    table = {"pid": [one.subject for one in named], "name": [_names(one)[0] for one in named]}
    return KnownValues.read(open_source(table), "pid", kinds={"name": "name", "pid": "none"})


def _in_headers(document: Document) -> Iterator[str]:
    text = document.text
    for span in document.spans:
        if HEADER.match(text[text.rfind("\n", 0, span.start) + 1 : span.start]):
            yield text[span.start : span.end]


def in_no_table(setting: Setting) -> Corpus:
    """Return the test notes with the names of which no person in the tables has every word."""
    documents = []
    for one, people in zip(setting.test, setting.people, strict=True):
        words = [set(words_of(name)) for name in people]
        spans = (
            span
            for span in one.spans
            if span.label == NAME
            and not any(own >= set(words_of(one.text[span.start : span.end])) for own in words)
        )
        documents.append(replace(one, spans=tuple(spans)))
    return Corpus(documents)


def removed(committee: TokenCommittee, setting: Setting, known: bool) -> tuple[TextTokens, Bools]:
    """Return which tokens of the test notes go: by the committee, and by what is surely known."""
    documents = plain(setting.test)
    found = committee.remover()([one.text for one in documents])
    gone = found.type > 0
    if known:
        spans = (
            tuple(Span(x.start, x.end, "") for x in own if is_sure(x))
            for own in setting.of_test.propose(documents)
        )
        pairs = zip(documents, spans, strict=True)
        values = Corpus(replace(one, spans=own) for one, own in pairs)
        gone |= token_labels(found.tokens, values, ("",)) > 0
    return found.tokens, gone


def rows(setting: Setting) -> Iterator[tuple[str, ...]]:
    truth = Corpus(setting.test)
    tokens, ours = removed(learn(setting.unmarked(), setting.language), setting, True)
    _, theirs = removed(learn(Corpus(setting.train)), setting, False)
    names = token_labels(tokens, truth, (NAME,)) > 0
    strangers = token_labels(tokens, in_no_table(setting), (NAME,)) > 0
    relatives = token_labels(tokens, truth, (RELATIVE,)) > 0
    groups = {"in a table": names & ~strangers, "in no table": strangers}
    if relatives.any():
        groups["relatives, by words such as *mother*"] = relatives
    for who, group in groups.items():
        share = "" if group is relatives else f"{group.sum() / names.sum():.1%}"
        recall = (f"{(gone & group).sum() / group.sum():.3f}" for gone in (ours, theirs))
        yield setting.name, who, f"{group.sum():,}", share, *recall


def main() -> None:
    english = read_corpora(folder("wikigold").parent)
    found = []
    for setting in (spanish(), sentences(english), mails(english)):
        for row in rows(setting):
            print(*row, sep=" | ", flush=True)
            found.append(row)
    save(Path(__file__).stem, CAPTION, COLUMNS, found, AFTER)


COLUMNS = ("corpus, and whom tables have", "who", "tokens", "of names", "`init`", "annotators")
CAPTION = f"""\
Tokens of names in held-out text, and their removed share. *In a table*: somebody in the tables
has every word of the name. `init` learnt from known columns, rules, known values of the
held-out text, and in English a pretrained model that never saw the corpus. Annotators: learnt
from their marks, without columns. All by the {LEARNER.upper()} in one pass, L/C {MISS_COST:g}."""
AFTER = """\
A person in no table is a member of staff missing from the list, or another person of the same
text or of a mail. MEDDOCAN names nearly no relative. The tokens with this
mark are ordinary words, and `init` has no reason to remove them."""


if __name__ == "__main__":
    main()
