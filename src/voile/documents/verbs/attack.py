"""The verb attack: an adversary learns from a release and inspects its tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, TamperedError
from voile.core.evidence import Count, Evidence, Finding, Note, Rate
from voile.core.progress import ProgressHook, ProgressSteps
from voile.data import Source
from voile.data.roles import Roles
from voile.documents.attack import linkage
from voile.documents.attack.budgeted import NAMES, BudgetedAttacker, Labels
from voile.documents.attack.builtin_names import builtin_lists, builtin_words
from voile.documents.attack.ordinary_names import guess_ordinary_names
from voile.documents.attack.remaining import edits_of, match_documents
from voile.documents.model.quantities import IN_SAMPLE, LEFT, REMOVED
from voile.documents.model.start.rules.language import guess_language
from voile.documents.model.start.rules.rule import NAME
from voile.documents.model.start.starter.shipped import STARTERS
from voile.documents.options import AttackOptions
from voile.documents.patterns.gazetteers import read_gazetteers
from voile.documents.replacements.names import BUILT_IN
from voile.documents.replacements.removal import KnownFinder, TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.text.document import Document, Span
from voile.documents.text.reader import DocumentReader
from voile.documents.text.sequence import DocumentSequence
from voile.documents.verbs.released import check_texts, pair_documents
from voile.documents.words.attributes import is_mark
from voile.documents.words.subjects import count_by_subject, number_subjects
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import tokenise
from voile.keys.random import streams
from voile.release.manifest import StoredRelease
from voile.release.scoring import private_manifest_of
from voile.report.wording import join_names

KEPT = frozenset({"labels", "roles", "learnt_from", "surrogates"})
UNANNOTATED = "{aside} documents without spans in the truth are left out."
UNSCORED = Note(
    "Nobody annotated the truth: the identifiers left were not counted, and nothing was inspected."
)
KNOWN = Note(
    "Guesses of names are scored by the annotated names and the names in known columns. A name "
    "in neither is not counted."
)
UNLEARNT = "The truth has types that the committee never learnt: {types}."


@dataclass(frozen=True)
class DocumentAttacks:
    """The attacks on a release of documents.

    read_foreign : a function that reads the adversary's own corpus.
    read_known : a function that reads the tables of known values.
    """

    read_foreign: Callable[[Any], DocumentSequence]
    read_known: Callable[[AttackOptions], KnownFinder | None]

    def attack(
        self,
        release: StoredRelease,
        truth: Source,
        options: AttackOptions,
        *,
        seed: int | None,
        progress: ProgressHook,
    ) -> tuple[Evidence, ...]:
        """Run every attack on a release that the true identifiers can score.

        The adversary has the release. The private folder and ``truth`` score the attack. ``truth``
        is the source with its spans, or with known columns next to it.

        Raises
        ------
        RequestError : there is no private folder for scoring, the truth belongs to another release,
            or it has no identifier. Also raised if foreign labels are requested without a corpus,
            or if lists or tables cannot be read.
        """
        release.check_hash()
        scene = _DocumentsScene.of(release, truth, options, self.read_known)
        sources = _label_sources(options, scene.published) if scene.annotated else []
        linked = scene.annotated and release.public["policy"]["replace"] == "surrogate"
        step = ProgressSteps(progress, len(sources) + 1 + linked)
        inspected = _inspect(scene, options, sources, seed, step, self.read_foreign)
        results = [*inspected, *_guess(scene, seed, step)]
        if linked:
            step("linking people by their surrogates")
            results.append(_plain(_link(scene, seed), scene))
        return tuple(results)


def _inspect(
    scene: _DocumentsScene,
    options: AttackOptions,
    sources: Sequence[Labels],
    seed: int | None,
    step: ProgressSteps,
    read_foreign: Callable[[Any], DocumentSequence],
) -> Iterator[Evidence]:
    """Yield the finds of inspections, for each source of labels."""
    lists = read_gazetteers(options.lists)
    foreign = None if options.foreign is None else read_foreign(options.foreign)
    for number, labels in enumerate(sources):
        step(f"attacking by {NAMES[labels]}")
        attacker = BudgetedAttacker(
            _learners(options),
            labels=labels,
            order=options.order,
            random_state=streams(seed, labels)[0],
            n_jobs=options.jobs,
            lists=lists,
        )
        found = attacker.attack(
            scene.published,
            scene.truth,
            inspections=options.inspections or scene.inspections,
            training=foreign if labels == "foreign" else None,
        )
        yield _plain(found, scene, () if number else scene.findings)


def _learners(options: AttackOptions) -> tuple[str, ...]:
    """Return the requested learners. By default they include the reader if it is installed."""
    from voile.documents.reader.installed import find_reader

    own = "learners" in options.model_fields_set or find_reader() is None
    return options.learners if own else (*options.learners, "reader")


def _guess(scene: _DocumentsScene, seed: int | None, step: ProgressSteps) -> Iterator[Evidence]:
    """Yield the finds of guessing, if there is a name to guess, or if only guesses are scored."""
    step("guessing names that are ordinary words")
    found = guess_ordinary_names(
        scene.published,
        scene.named,
        kinds=scene.surrogates["kinds"],
        random_state=streams(seed, "guessing")[0],
    )
    if found.findings[0].rate.trials or not scene.annotated:
        by_columns = () if scene.named is scene.truth else (KNOWN,)
        yield _plain(replace(found, notes=(*found.notes, *by_columns)), scene)


def _link(scene: _DocumentsScene, seed: int | None) -> Evidence:
    built_in = scene.surrogates["names"] == BUILT_IN
    return linkage.link_surrogates(
        scene.published,
        scene.truth,
        surrogates=builtin_words() if built_in else (),
        lists=builtin_lists() if built_in else {},
        kinds=scene.surrogates["kinds"],
        random_state=streams(seed, "linking")[0],
    )


def _label_sources(options: AttackOptions, published: DocumentSequence) -> list[Labels]:
    """Return the distinct sources of labels.

    The starter is left out if it has no model for the language and was not requested.
    """
    sources: list[Labels] = list(dict.fromkeys(options.labels))
    if options.foreign is not None and "foreign" not in sources:
        sources.append("foreign")
    language = guess_language(one.text for one in published)
    if "labels" not in options.model_fields_set and language not in STARTERS:
        sources.remove("starter")
    return sources


def _plain(found: Evidence, scene: _DocumentsScene, more: tuple[Finding, ...] = ()) -> Evidence:
    """Return the result as plain `Evidence`, with the notes on this release."""
    own = {one.name: getattr(found, one.name) for one in fields(Evidence)}
    own |= {"findings": (*found.findings, *more), "notes": (*found.notes, *scene.notes)}
    return Evidence(**own)


@dataclass(frozen=True, eq=False)
class _DocumentsScene:
    """The released documents and their sources, in one order."""

    published: DocumentSequence
    truth: DocumentSequence
    named: DocumentSequence  # the truth, its spans the names by which guesses are scored
    annotated: bool  # whether any identifier is marked in the truth
    # as many as identifiers are left, and 1% of the tokens, where there are any
    inspections: tuple[int, ...]
    # the identifiers left and tokens removed by all means, including patterns and lists
    findings: tuple[Finding, ...]
    # the source of surrogates, and the user's kinds of types
    surrogates: Mapping[str, Any]
    notes: tuple[Note, ...]  # notes on this release for every figure

    @classmethod
    def of(
        cls,
        release: StoredRelease,
        truth: Source,
        options: AttackOptions,
        read_known: Callable[[AttackOptions], KnownFinder | None],
    ) -> _DocumentsScene:
        private = private_manifest_of(release)
        if absent := sorted(KEPT - private.keys()):
            raise TamperedError(f"the private manifest lacks {', '.join(absent)}")
        truth = options.open_subjects(truth, private.get("subject_pattern"))
        applied = Roles.model_validate(private["roles"])
        reading = DocumentReader.all_of(options.roles_beside(truth, applied))
        reading.check(truth)
        released = applied.of("text")
        check_texts(reading.texts, released, truth.name)
        source = DocumentSequence(reading.read_documents(truth))
        width = len(reading.texts)
        release.check_rows(len(source) // width, truth.name)
        known = read_known(options)
        if not source.labels and known is None:
            raise RequestError(
                "no identifier is marked in the truth",
                where=truth.name,
                instead="name the column of its annotations with --spans and --text, or in "
                "--roles. If nobody annotated, --known scores guesses of names, and voile "
                "documents accept bounds the identifiers left",
            )
        every = list(pair_documents(release, released, source))
        pairs = [
            (one, origin)
            for one, origin in every
            if not source.labels or origin.annotated or not origin.text
        ]
        published, sources = (DocumentSequence(documents) for documents in zip(*pairs, strict=True))
        notes = [IN_SAMPLE] if private["learnt_from"] else []
        if aside := len(every) - len(pairs):
            notes.append(Note(UNANNOTATED, {"aside": Count(aside, len(every))}))
        if not sources.labels:
            notes.append(UNSCORED)
        if unlearnt := sorted(set(sources.labels) - set(private["labels"])):
            notes.append(Note(UNLEARNT, {"types": join_names(unlearnt)}))
        subject = number_subjects(sources.subjects)
        left, tokens = _count_left(published, sources, subject)
        asked = tuple(sorted(set(filter(None, (int(left.sum()), tokens // 100))))) or (1,)
        return cls(
            published,
            sources,
            _add_known_names(sources, known, options.by),
            bool(sources.labels),
            asked,
            tuple(_figures(published, sources, subject, left)) if sources.labels else (),
            private["surrogates"],
            tuple(notes),
        )


def _add_known_names(
    truth: DocumentSequence, known: KnownFinder | None, by: str | None
) -> DocumentSequence:
    """Return the truth with names from known columns as additional spans."""
    if known is None:
        return truth
    found = known.propose(truth)
    known.check(by)
    documents = []
    for document, values in zip(truth, found, strict=True):
        names = [one for one in values if one.label == NAME]
        own = [TextRemoval(one.start, one.end, one.label) for one in document.spans]
        spans = (
            Span(one.start, one.end, one.label) for one in settle_spans(document.text, names, own)
        )
        documents.append(replace(document, spans=tuple(spans)))
    return DocumentSequence(documents)


def _count_left(
    published: DocumentSequence, truth: DocumentSequence, subject: NDArray[np.int32]
) -> tuple[NDArray[np.int64], int]:
    """Count the tokens of a release within identifiers, by subject, and all tokens except marks."""
    left = DocumentSequence(one for one, _ in match_documents(published, truth))
    tokens = tokenise(document.text for document in left)
    types = token_labels(tokens, left, left.labels)
    marks = np.fromiter(map(is_mark, tokens.forms), np.bool_, len(tokens.forms))[tokens.form]
    return count_by_subject(tokens, types > 0, subject), int((~marks).sum())


def _figures(
    published: DocumentSequence,
    truth: DocumentSequence,
    subject: NDArray[np.int32],
    left: NDArray[np.int64],
) -> Iterator[Finding]:
    """Yield the release's own risk and loss, measured with the original data."""
    tokens = tokenise(document.text for document in truth)
    identifiers = token_labels(tokens, truth, truth.labels) > 0
    replaced = DocumentSequence(
        Document(source.text, tuple(Span(e.source_start, e.source_end, "edit") for e in edits))
        for source, edits in zip(truth, map(edits_of, published), strict=True)
    )
    removed = token_labels(tokens, replaced, ("edit",)) > 0
    total, lost, harmless = (
        count_by_subject(tokens, which, subject)
        for which in (identifiers, removed & ~identifiers, ~identifiers)
    )
    yield Finding(
        LEFT,
        Rate.from_clusters(left.tolist(), np.maximum(total, left).tolist()),
        meaning="The share of the source's identifier tokens that are left.",
    )
    yield Finding(
        REMOVED,
        Rate.from_clusters(lost.tolist(), harmless.tolist()),
        meaning="The share of the source's other tokens that were removed, by whatever means.",
    )
