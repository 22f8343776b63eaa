"""Clinical cases that nobody marked: released, read by one who knows, and as good as certified."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.documents.flow import removals
from tests.real.test_documents_review import cases

import voile
from voile.documents import Corpus
from voile.documents.model.policies import UncheckedWarning
from voile.documents.reviewing.line import ReviewLine
from voile.documents.verbs.verify import verify
from voile.documents.words.token_classes import are_signs, token_labels
from voile.documents.words.tokens import tokenise
from voile.release.manifest import StoredRelease
from voile.release.verify import checks

pytestmark = pytest.mark.real
AT_MOST, RECALL, SEED = 4.0, 0.97, 0
MOST_WORDS = 30 * 238
"""Half an hour of silent reading at 238 words a minute (Brysbaert 2019)."""


class Reader:
    """Somebody who finds most of what identifies, planted or not."""

    def __init__(self, known: Corpus) -> None:
        self.known, self.rng = known, np.random.default_rng(SEED)
        self.words, self.planted = 0, list[str]()

    def __call__(self, line: ReviewLine) -> list[tuple[int, int, str]]:
        self.words += len(line.text.split())
        if line.document < 0:
            self.planted.append(line.text)
            spans = [(0, len(line.text), "NAME")]
        else:
            spans = [
                (max(one.start, line.start) - line.start, min(one.end, line.end) - line.start, "ID")
                for one in self.known[line.document].spans
                if one.start < line.end and line.start < one.end
            ]
        return [one for one in spans if self.rng.random() < RECALL]


def left_in(release: StoredRelease, known: Corpus) -> tuple[int, int]:
    """Return the tokens of identifiers that the release shows, and all that it shows."""
    gone: dict[int, list[tuple[int, int]]] = {}
    for edit in removals(release):
        gone.setdefault(edit["row"], []).append((edit["start"], edit["end"]))
    texts = [one.text for one in known]
    tokens = tokenise(texts)
    truth = (token_labels(tokens, known, known.labels) > 0) & ~are_signs(tokens, texts)
    is_gone = _covered(tokens.document, tokens.starts, tokens.ends, gone)
    return int((truth & ~is_gone).sum()), int((~is_gone).sum())


def _covered(
    document: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    gone: Mapping[int, Sequence[tuple[int, int]]],
) -> Any:
    places = zip(document, starts, ends, strict=True)
    return np.array(
        [any(a <= start and end <= b for a, b in gone.get(of, ())) for of, start, end in places]
    )


@pytest.mark.filterwarnings(f"ignore::{UncheckedWarning.__module__}.UncheckedWarning")
def test_what_is_certified_of_unmarked_cases_holds(data_set: Any, tmp_path: Path) -> None:
    known = Corpus(cases(data_set("meddocan") / "train.jsonl.gz", 0, 100))
    notes = tmp_path / "notes.jsonl"
    rows = [{"patient": one.subject, "text": one.text} for one in known]
    notes.write_text("".join(json.dumps(row) + "\n" for row in rows))
    quick = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "miss_cost": 10}
    work, out = tmp_path / "work", tmp_path / "release.jsonl"
    voile.documents.init(notes, work, language="spanish", subject="patient", **quick)
    voile.open_kit(work).apply(None, str(notes), keep_order=True).save(out)
    before, _ = left_in(StoredRelease.open(out), known)

    reader = Reader(known)
    given = {"at_most": AT_MOST, "recall": RECALL, "answers": reader}
    found = voile.documents.accept(str(work), str(out), str(notes), **given)

    assert found["decided"] is True, found
    release = StoredRelease.open(out)
    left, shown = left_in(release, known)
    assert left <= AT_MOST * shown / 1000
    assert left < before
    assert all(one.holds is not False for one in checks(release, verify, None))
    assert release.public["acceptance"]["at_most"] == AT_MOST
    assert found["planted"] == len(reader.planted)
    assert reader.words < MOST_WORDS
    names = {known[0].text[one.start : one.end] for one in known[0].spans if one.label == "NAME"}
    assert not [name for name in names if name in found["says"] + json.dumps(release.public)]
