"""The wing's third verb: apply streams documents through a committee into a release."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.progress import Progress
from voile.data import Source, open_writer
from voile.data.files.memory import AnyPath
from voile.documents.committee.workers import Done, Pending, Recipe, Workbench, Worker, Workers
from voile.documents.replacements import Edit, Reason
from voile.documents.text.document import Document
from voile.documents.text.reader import (
    BATCH_ROWS,
    KEPT,
    LOST_CHARACTERS,
    has_lost_characters,
    text_hash,
    why_unusable,
)
from voile.documents.text.source import CorpusSource
from voile.documents.verbs.certify import COUNTED, MARK, certify
from voile.documents.verbs.content import Content
from voile.documents.verbs.options import ApplyOptions
from voile.documents.verbs.policies import Policy
from voile.documents.verbs.recipe import make_recipe, pattern_names
from voile.documents.verbs.report_data import STATING, report_data
from voile.keys.secret import Secret
from voile.release.apply import Applying, Batch, Outcome
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.report.wording import needs_suppression

FIGURES = ("risk", "risk_low", "risk_high", "loss", "published_tokens")
REMOVALS = "removals.parquet"
REASON = [("kind", pa.string()), ("name", pa.string()), ("number", pa.int32())]
"""The fields of a `Reason`."""
REMOVED = pa.schema(
    [
        ("row", pa.int64()),
        ("column", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("published_start", pa.int64()),
        ("published_end", pa.int64()),
        ("label", pa.string()),
        ("by", pa.list_(pa.struct(REASON))),
    ]
)
"""Who removed what: characters of the source, and where in the release what stands for them."""
UNTAGGED = "no parts of speech, which the kit learnt from"
BUILT_IN = "built in"
"""Where surrogate names come from, unless the user gives lists."""
WHAT = {
    "mark": "text with marks in the place of identifiers",
    "category": "text with marks of categories in the place of identifiers",
    "surrogate": "text with made-up values in the place of identifiers",
}


def apply(
    kit: Kit,
    chosen: Chosen,
    source: Source,
    out: Path | None,
    options: ApplyOptions,
    *,
    force: bool,
    progress: Progress,
) -> Release:
    """Write documents without what the policy removes, with kept columns and two manifests.

    Documents stream; memory follows the batch. Their order is drawn anew unless asked to be
    kept. A document that cannot be worked on is set aside with its reason, never passed through.

    Raises RequestError: the policy is of another kit, the source has other columns, `out` exists, a
    list, pattern or secret that is not there.
    Raises TamperedError: the kit's classifiers are not of its features.
    """
    chosen.check(kit)
    content = Content.of(kit)
    content.reading.check(source, annotated=False)
    policy = Policy.from_data(chosen.policy)
    recipe = make_recipe(content, policy, options)
    content = content.repeating(recipe.names)
    chosen = chosen.as_read(content, policy)
    policy.warn()
    with ExitStack() as stack:
        work: Workbench = Worker(recipe)
        if options.jobs != 1:
            work = stack.enter_context(Workers(recipe, _jobs(options.jobs)))
        applying = _Applying(kit, chosen, source, content, recipe, options, work, progress)
        return applying.write(out, options, force=force)


def _jobs(asked: int) -> int:
    import joblib  # type: ignore[import-untyped]

    return int(joblib.effective_n_jobs(asked))


@dataclass(frozen=True)
class _Begun:
    """A batch at work: its documents, what some of them lack, and which are being done."""

    documents: Sequence[Document]
    lacking: Sequence[str | None]
    # by column beside the texts, where characters were lost in decoding, if anywhere
    lost: Mapping[str, NDArray[np.bool_]]
    places: Sequence[int]
    done: Pending


class _Applying(Applying):
    """Publish the text columns without what is removed, and the kept columns as they are."""

    stating = STATING
    batch_rows = BATCH_ROWS
    shuffle_bytes = 64_000_000

    def __init__(
        self,
        kit: Kit,
        chosen: Chosen,
        source: Source,
        content: Content,
        recipe: Recipe,
        options: ApplyOptions,
        work: Workbench,
        progress: Progress,
    ) -> None:
        self._content, self._options, self._work = content, options, work
        self._repeats, self._tagged = bool(recipe.names), bool(recipe.committee.space.tags)
        self._unread = source.unread if isinstance(source, CorpusSource) else {}
        roles = content.reading.roles
        self._texts, pos = content.reading.texts, content.reading.pos
        hidden = {roles.subject, *pos}
        self._shown = [
            name
            for name in source.columns
            if name in self._texts or (roles.columns[name].role in KEPT and name not in hidden)
        ]
        self._seen_key = bytes.fromhex(content.found["key"])
        self._counts: Counter[str] = Counter()
        self._by: Counter[Reason] = Counter()
        self._removed: set[str] = set()
        self._learnt = 0
        self._removals: Any = None
        self._begun: deque[_Begun] = deque()
        super().__init__(
            kit,
            chosen,
            source,
            roles=roles,
            hold_out=content.reading.hold_out,
            columns=[*self._shown, *pos],
            schema=pa.schema([(name, source.columns[name]) for name in self._shown]),
            progress=progress,
            secret=Secret.find(options.key_file),
            named="id" if isinstance(source, CorpusSource) else None,
        )

    def begin(self, private: AnyPath, files: ExitStack) -> None:
        self._removals = files.enter_context(open_writer(private / REMOVALS, REMOVED))

    def prefetch(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for before, batch in pairwise(chain([None], batches, [None])):
            if batch is not None:
                self._begun.append(self._begin(batch))
            if before is not None:
                yield before
        self._work.end()  # what is left, the order and the certificate, may take their memory

    def _begin(self, batch: Batch) -> _Begun:
        reading, width = self._content.reading, len(self._texts)
        documents = reading.documents(batch.rows, int(batch.numbers[0]), annotated=False)
        lacking = [
            self._unread_at(batch, x // width) or why_unusable(one.text) or self._untagged(one)
            for x, one in enumerate(documents)
        ]
        beside = [name for name in batch.rows.schema.names if name not in self._texts]
        cells = ((name, has_lost_characters(batch.rows.column(name))) for name in beside)
        gone = {name: where for name, where in cells if where.any()}
        without = np.array([why is None for why in lacking], dtype=np.bool_)
        whole = batch.counted & without.reshape(len(batch.numbers), width).all(axis=1)
        places = np.flatnonzero(np.repeat(whole, width)).tolist()
        done = self._work.begin([documents[x] for x in places])
        return _Begun(documents, lacking, gone, places, done)

    def _unread_at(self, batch: Batch, row: int) -> str | None:
        if not self._unread:  # there may be no column of that name
            return None
        return self._unread.get(batch.rows.column("id")[row].as_py())

    def _untagged(self, document: Document) -> str | None:
        without = self._tagged and not document.pos and document.text.strip()
        return UNTAGGED if without else None

    def make(self, batch: Batch) -> Outcome:
        """Put each document through the committee; set aside what cannot be."""
        begun, n = self._begun.popleft(), len(batch.numbers)
        documents, why = begun.documents, list(begun.lacking)
        done = dict(zip(begun.places, begun.done(), strict=True))
        for place, one in done.items():
            if one is None:
                why[place] = "could not be worked on"
        aside = self._set_aside_for(batch, why, begun.lost)
        self._count(batch, documents, done, aside)
        columns = [self._column(batch, name, done) for name in self._shown]
        return Outcome(columns, aside, np.zeros(n, dtype=np.bool_))

    def _set_aside_for(
        self, batch: Batch, whys: Sequence[str | None], gone: Mapping[str, NDArray[np.bool_]]
    ) -> NDArray[np.bool_]:
        """Note which rows have a text that cannot be worked on, or a lost cell, and why."""
        width, n = len(self._texts), len(batch.numbers)
        aside = np.zeros(n, dtype=np.bool_)
        for name, where in gone.items():
            aside |= where & batch.counted
            self.note(batch, name, LOST_CHARACTERS, where & batch.counted)
        for column, name in enumerate(self._texts):
            here = whys[column::width]
            for why in dict.fromkeys(filter(None, here)):
                lost = np.array([w == why for w in here], dtype=np.bool_) & batch.counted
                self.note(batch, name, why, lost)
                aside |= lost
        return aside

    def _column(self, batch: Batch, name: str, done: Mapping[int, Done]) -> pa.Array:
        """Return a column of the release; a text that is not released is null."""
        column = batch.rows.column(name)
        if name not in self._texts:
            return column
        width, place = len(self._texts), self._texts.index(name)
        made: list[str | None] = [None] * len(column)
        for row in np.flatnonzero(column.is_valid()).tolist():
            if one := done.get(row * width + place):
                made[row] = one.text
        return pa.array(made, pa.string())

    def _count(
        self,
        batch: Batch,
        documents: Sequence[Document],
        done: Mapping[int, Done],
        aside: NDArray[np.bool_],
    ) -> None:
        width = len(self._texts)
        there = [batch.rows.column(name).is_valid().to_pylist() for name in self._texts]
        rows: list[tuple[object, ...]] = []
        for place, one in done.items():
            row, column = divmod(place, width)
            if aside[row] or not there[column][row] or one is None:
                continue
            self._counts["documents"] += 1
            self._counts["characters"] += len(one.text)
            self._counts["marks"] += len(MARK.findall(one.text))
            self._learnt += self._is_seen(documents[place].text)
            self._by.update(reason for edit in one.edits for reason in edit.by)
            self._removed.update(edit.label for edit in one.edits)
            number, name = int(batch.numbers[row]), self._texts[column]
            rows += [(number, name, *_row_of(edit)) for edit in one.edits]
        cells = zip(*rows, strict=True) if rows else [()] * len(REMOVED)
        arrays = [pa.array(column, kind) for column, kind in zip(cells, REMOVED.types, strict=True)]
        self._removals.write(pa.RecordBatch.from_arrays(arrays, schema=REMOVED))

    def _is_seen(self, text: str) -> bool:
        seen, number = self._content.seen, text_hash(text, self._seen_key)
        return bool(np.searchsorted(seen, number) < np.searchsorted(seen, number, "right"))

    def certified(self, out: AnyPath, rows: Source, scratch: Path | None) -> dict[str, float]:
        """Count what was written, and hold it to what was made."""
        if not self.tally.released:  # some formats cannot be read back without a row
            return {"rows": 0.0, **dict.fromkeys(COUNTED, 0.0)}
        figures = certify(self.opened(out), self._texts)
        for name in COUNTED:
            if figures[name] != self._counts[name]:
                raise AssertionError(f"the release has not the {name} that were written")
        return figures

    def public_manifest(self, figures: Mapping[str, float]) -> dict[str, Any]:
        """Return the wing's part of the public manifest; it names only types that were removed."""
        found, chosen = self._content.found, self.chosen.figures
        roles, how = self._content.reading.roles, self._options.replace
        few = "risk" in chosen and needs_suppression(chosen["risk"], found["identifiers"], "public")
        shown = ("loss",) if few else FIGURES  # two reveal the third
        labels = [label for label in found["labels"] if label in self._removed]
        return {
            "policy": {**self.chosen.policy, "labels": labels, "replace": how},
            "columns": [
                {
                    "column": name,
                    "role": roles.columns[name].role,
                    "what": WHAT[how] if name in self._texts else "as in the source",
                }
                for name in self._shown
            ],
            "figures": {n: chosen[n] for n in shown if n in chosen},
            "constraints": {
                "patterns": pattern_names(self._options),
                "repeats": self._repeats,
                "repeats_in_figures": self._repeats and self._content.with_repeats,
                "context": self._options.context,
                "deny_list": self._options.deny is not None,
                "allow_list": self._options.allow is not None,
            },
        }

    def private_manifest(self) -> dict[str, Any]:
        names = BUILT_IN if self._options.names is None else "own"
        return {
            "labels": list(self._content.found["labels"]),
            "removed_by": {str(why): times for why, times in sorted(self._by.items())},
            "learnt_from": self._learnt,
            "surrogates": {"names": names, "kinds": self._options.kinds()},
            "story": report_data(self._content, self.chosen.number),
        }


def _row_of(edit: Edit) -> tuple[object, ...]:
    source, published = (edit.source_start, edit.source_end), (edit.start, edit.end)
    return *source, *published, edit.label, [reason._asdict() for reason in edit.by]
