"""The work folder: unmarked notes, their proposals, and the kit trained on them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import DamagedError, RequestError
from voile.core.progress import ProgressHook, silent
from voile.data import Source
from voile.data.files.outputs import WORK_INDEX, WORK_KIT
from voile.data.roles import Roles
from voile.documents.columns import TextColumns
from voile.documents.fitting.fit import SeedDraws, learn
from voile.documents.fitting.loop.corpus import in_order
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.fitting.unmarked.marked import MarkedNotes
from voile.documents.fitting.unmarked.marks import ProposedMarks, ReviewedSpan
from voile.documents.fitting.unmarked.proposer import PatternProposer, RemovalProposer
from voile.documents.fitting.unmarked.quick_look import QuickLook
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import PROPOSED, REVIEWED, caveat
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.model.start.rules import LanguageRules
from voile.documents.model.start.rules.language import check_language
from voile.documents.model.start.starter.shipped import (
    STARTERS,
    find_starter,
    load_starter,
    reader_starter,
)
from voile.documents.model.start.starter.starter import PretrainedStarter
from voile.documents.options import LearningOptions
from voile.documents.patterns import patterns_of
from voile.documents.replacements.names import Language
from voile.documents.text.document import Document
from voile.documents.text.files_source import FilesSource
from voile.documents.text.reader import DocumentReader, is_usable, why_unusable
from voile.documents.text.sequence import DocumentSequence
from voile.documents.text.source import UNREAD, open_source, split_format
from voile.documents.words.tokens import lists_behind
from voile.documents.work_file import WorkFile, read_work
from voile.release.kit import StoredKit

DEFAULT_COST = 10.0
"""The default weight of a missed identifier."""


@dataclass(frozen=True, eq=False)
class UnmarkedWork:
    """Unmarked notes, and all proposers of identifiers in them.

    The costly steps are done once for each `UnmarkedWork`: reading, proposing and the features of a
    look.
    """

    file: WorkFile
    source: Source
    known: KnownValues | None
    lists: Mapping[str, Any]  # gazetteers

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> UnmarkedWork:
        """Open a work folder.

        Raises
        ------
        RequestError : the folder is not a work folder, or the notes have changed or are missing.
        DamagedError : the index and the kit disagree on the language or the pretrained model.
        """
        folder = Path(folder)
        file = read_work(folder)
        source = TextColumns.model_validate(
            {"subject_pattern": file.subject_pattern}
        ).open_subjects(open_source(file.notes, table=file.table, encoding=file.encoding))
        if source.fingerprint() != file.fingerprint:
            raise RequestError(
                "the notes have changed since this work folder was made",
                where=source.name,
                instead="put them back, or make a new one with voile documents init",
            )
        kit = StoredKit.load(folder / WORK_KIT, "documents")
        stored = DocumentsContent.of(kit).known
        known = None if stored is None else KnownValues.from_table(stored)
        work = cls(file, source, known, kit.facts["lists"])
        if (file.language, work.hinter.name) != (kit.facts["language"], kit.facts["hinter"]):
            raise DamagedError(
                f"{WORK_INDEX} and the kit disagree on the language or the starter",
                where=str(folder),
                instead="put a backup back, or make a new one with voile documents init",
            )
        return work

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The notes in the source's order. The text of an unusable note is empty."""
        return tuple(
            replace(one, annotated=True, text="" if why_unusable(one.text) else one.text)
            for one in self._read_corpus
        )

    @cached_property
    def unusable(self) -> Counter[str]:
        """The number of unusable notes, by the reason."""
        texts = [one.text for one in self._read_corpus]
        unread = self.source.unread if isinstance(self.source, FilesSource) else {}
        reasons = (why_unusable(text) for text in texts if not (unread and text == UNREAD))
        return Counter([*unread.values(), *filter(None, reasons)])

    @cached_property
    def _read_corpus(self) -> DocumentSequence:
        reader = DocumentReader.all_of(Roles.model_validate(self.file.roles))
        return DocumentSequence(reader.read_documents(self.source))

    @cached_property
    def marks(self) -> ProposedMarks:
        """The proposals for the notes."""
        own: list[RemovalProposer] = [] if self.known is None else [self.known]
        return ProposedMarks.of(self.documents, [*own, PatternProposer(patterns_of()), self.hinter])

    @cached_property
    def starter(self) -> PretrainedStarter | None:
        """The pretrained model, if one is requested."""
        return None if self.file.starter is None else find_starter(self.file.starter)

    @cached_property
    def hinter(self) -> PretrainedStarter | LanguageRules:
        """The learners' hinter: the pretrained model, which includes rules, or only the rules."""
        return self.starter or LanguageRules(self.file.language)

    @cached_property
    def look(self) -> QuickLook:
        return QuickLook(self.documents, seed=self.file.seed)

    @cached_property
    def _marked_notes(self) -> MarkedNotes:
        return MarkedNotes(self.marks, self.look)

    def corpus(self, reviewed: Sequence[ReviewedSpan] = ()) -> DocumentSequence:
        """Return the notes as marked by proposals and reviewers, in the source's order."""
        return self._marked_notes.corpus(reviewed)

    def probabilities(self, reviewed: Sequence[ReviewedSpan] = ()) -> NDArray[np.float64]:
        """Return the probability that each token of `look.tokens` identifies a person, (n,).

        Cost: two quick looks.
        """
        return self._marked_notes.probabilities(reviewed)

    def fit(
        self, reviewed: Sequence[ReviewedSpan] = (), *, progress: ProgressHook = silent
    ) -> DocumentsContent:
        """Train committees on the marked notes.

        Learners use the hinter's lists only after some lines are reviewed. With proposals alone,
        the lists cost more than they save.
        """
        progress("proposing identifiers", 0)
        corpus = in_order(filter(is_usable, self.corpus(reviewed)))
        public = lists_behind(self.hinter) if reviewed else None
        training = TrainingText.of(corpus, lists=self.lists, public=public, hinter=self.hinter)
        content = learn(
            training,
            corpus,
            DocumentReader.all_of(Roles.model_validate(self.file.roles)),
            LearningOptions(**self.file.learning),
            draws=SeedDraws.of(self.file.seed),
            progress=progress,
            marks=REVIEWED if reviewed else PROPOSED,
            models=self.file.models,
        )
        start: dict[str, Any] = {
            "proposed": {str(why): n for why, n in sorted(self.marks.counts().items())},
            "met": dict(self.known.hits) if self.known else {},
            "by": self.file.by,
        }
        if self.known is not None:
            start["linked"] = self.known.linked
            start["names"] = dict(zip(("proposed", "unmet"), self.marks.names(), strict=True))
        number = default_policy(content, self.file.learning["miss_cost"])
        own = {
            "start": start,
            "default_policy": number,
            "default_means": default_means(content, number),
            "caveat": caveat(content.unchecked_reference),
            "language": self.file.language,
        }
        known = None if self.known is None else self.known.to_table()
        return replace(content, known=known, found={**content.found, **own})


MOST_LOST = 0.1
"""The share of harmless words that the default policy may remove, by the proposals."""


BY_RULES = (
    "rules and the pretrained model find identifiers: the notes are too few or too unlike each "
    "other to learn from. The share of identifiers that they miss is not measured: voile "
    "documents accept measures it"
)


def default_policy(content: DocumentsContent, asked: Sequence[float]) -> int:
    """Return the number of the default policy.

    It is the policy trained for the cost nearest to `DEFAULT_COST`, with all its passes. The policy
    that removes the fewest harmless words replaces it in two cases:

    - the first policy removes more than `MOST_LOST` of harmless words;
    - a cost of `asked` is nearer, but too little text was left to train with it.

    If the policy has no pass, rules and the pretrained model find identifiers.
    """
    rows = content.figures.to_pylist()
    far = [(abs(np.log(row["miss_cost"] / DEFAULT_COST)), -row["passes"]) for row in rows]
    best = min((pair, number) for number, pair in enumerate(far))[1]
    nearest = min(abs(np.log(cost / DEFAULT_COST)) for cost in asked)
    if rows[best]["loss"] <= MOST_LOST and far[best][0] <= nearest:
        return best
    return min((row["loss"], number) for number, row in enumerate(rows))[1]


def default_means(content: DocumentsContent, number: int) -> str:
    """Describe the default policy."""
    row = content.row(number)
    if not row["passes"]:
        return BY_RULES
    words = f"{row['miss_cost']:g} harmless word{'s' * (row['miss_cost'] != 1)}"
    return (
        f"a missed identifier weighs as much as {words} removed; the share of identifiers that it "
        "misses is not measured: voile documents accept measures it"
    )


def place_of(notes: object) -> str:
    """Return the absolute location of the notes, which is valid from any folder.

    Raises
    ------
    RequestError : the notes are only in memory.
    """
    if not isinstance(notes, str | os.PathLike):
        raise RequestError(
            "the notes are in memory, and a work folder refers to them",
            instead="write them to a file, and give its path",
        )
    path, format = split_format(notes)
    file, mark, table = path.partition("::")
    whole = f"{os.path.abspath(file)}{mark}{table}" if os.path.exists(file) else path
    return whole if format is None else f"{format}:{whole}"


def starter_of(asked: str | None, language: Language, texts: Iterable[str]) -> str | None:
    """Return the name of the pretrained model to use; None if none is requested or available.

    By default it is the model of the language, on the reader if that is installed.

    Raises
    ------
    RequestError : the text seems to be in another language than the model's.
    """
    own = reader_starter(language) or (language if language in STARTERS else "none")
    name = asked or own
    if name == "none":
        return None
    starter = load_starter(name)
    check_language(starter.language, texts, "leave --starter out, or give none")
    starter.check()
    return starter.name
