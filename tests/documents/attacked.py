"""A release of documents attacked, and what was found."""

from __future__ import annotations

from tests.documents.flow import (
    people,
)

from voile.core.progress import silent
from voile.data import open_source
from voile.documents.module import DOCUMENTS
from voile.documents.options import AttackOptions
from voile.report.wording import format_note, name_of

OTHERS = people(start=5)


def attacked(release, truth=OTHERS, seed=1, **options):
    asked = AttackOptions.model_validate({"learners": ["svm"], "jobs": 1, **options})
    return DOCUMENTS.attack(release, open_source(truth), asked, seed=seed, progress=silent)


def noted(evidence):
    return " ".join(format_note(note, "internal") for note in evidence.notes)


def told(evidence):
    return {name_of(one, "internal"): one.rate for one in evidence.findings}
