"""The verb `voile documents forecast`: plan the reading for an acceptance before a fit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.data.files.outputs import WORK_INDEX
from voile.data.roles import Roles
from voile.documents.acceptance.forecast import TIMES, AssumedPlan, plan_for
from voile.documents.acceptance.plan import AcceptanceGoal
from voile.documents.columns import find_text_column, text_roles
from voile.documents.own_options import ForecastOptions
from voile.documents.text.reader import DocumentReader, is_usable
from voile.documents.text.source import open_source
from voile.documents.words.token_classes import are_signs
from voile.documents.words.tokens import tokenise
from voile.documents.work_file import read_work
from voile.release.own_verbs import EndedVerb, VerbReporter


def forecast(
    options: ForecastOptions,
    reporter: VerbReporter,
    *,
    source: object,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    """Count the tokens of notes, or of a work folder's notes, and plan for assumed rates."""
    goal = AcceptanceGoal(options.at_most, options.per, options.confidence)
    words, signs = _count(options, source, table, encoding)
    tokens = words + signs
    lefts = options.left or tuple(times * 1000 * goal.at_most / goal.per for times in TIMES)
    found = plan_for(words, signs, goal, lefts, options.recall)
    reporter.say(
        f"{tokens:,} tokens. The table lists how many of them a person must read to prove "
        f"{goal}, {goal.confidence:.0%} confidence. The person finds {options.recall:.0%} of "
        "the identifiers"
    )
    if any(one.plan is None for one in found):
        reporter.say("where the table is empty, no amount of reading proves it")
    reporter.say("proves: the chance that such a reading proves it")
    reporter.say("how many are left is assumed here, and nobody knows it before a release is read")
    result = {"tokens": tokens, **asdict(goal), "forecast": [_data(one) for one in found]}
    return EndedVerb(result, rows=[_row(one) for one in found])


def _count(
    options: ForecastOptions, source: object, table: str | None, encoding: str | None
) -> tuple[int, int]:
    """Return the numbers of tokens with and without letters or digits in the notes."""
    if isinstance(source, str | os.PathLike) and (Path(source) / WORK_INDEX).exists():
        work = read_work(Path(source))
        opened = open_source(work.notes, table=work.table, encoding=work.encoding)
        reader = DocumentReader.all_of(Roles.model_validate(work.roles))
    else:
        opened = open_source(source, table=table, encoding=encoding)
        reader = DocumentReader.all_of(text_roles(opened, options.text or find_text_column(opened)))
    texts = [one.text for one in reader.read_documents(opened) if is_usable(one)]
    if not texts:
        raise RequestError("the notes are empty", where=opened.name, instead="give notes with text")
    tokens = tokenise(texts)
    signs = int(are_signs(tokens, texts).sum())
    return len(tokens) - signs, signs


def _row(one: AssumedPlan) -> Mapping[str, float | None]:
    """Return a row of the table: the tokens to read for an assumed rate per 1,000."""
    plan = one.plan
    return {
        "left_per_1000": one.left,
        "expected": None if plan is None else max(round(plan.expected), plan.least),
        "least": None if plan is None else plan.least,
        "most": None if plan is None else plan.most,
        "proves": None if plan is None else min(plan.chance, 0.99),
    }


def _data(one: AssumedPlan) -> Mapping[str, Any]:
    return {"left": one.left, "plan": None if one.plan is None else one.plan.as_data()}
