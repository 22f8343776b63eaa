"""Take the answers to waiting lines of an acceptance from a function or a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.documents.reviewing.line import Purpose, ReviewLine, ShownSpan
from voile.documents.reviewing.store import ReviewStore
from voile.release.own_verbs import EndedVerb, VerbReporter
from voile.report.wording import join_names

WAITING = "waiting.jsonl"
"""The file of the lines that wait for answers without the page."""
PURPOSES: tuple[Purpose, ...] = ("census", "sample")


def list_unanswered(store: ReviewStore) -> list[ReviewLine]:
    done = {one.line for one in store.answers()}
    lines = [one for purpose in PURPOSES for one in store.lines(purpose=purpose)]
    return [one for one in lines if one.number not in done]


def write_waiting(lines: Sequence[ReviewLine], folder: Path, reporter: VerbReporter) -> EndedVerb:
    """Report the number of waiting lines, and write them to a file for answers without the page."""
    shown = [
        {"line": one.number, "before": one.before, "text": one.text, "after": one.after}
        for one in lines
    ]
    text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in shown)
    place = folder / WAITING
    place.touch(mode=0o600)
    place.write_text(text, encoding="utf-8")
    purpose = lines[0].purpose
    reporter.say(f"{len(lines):,} lines of the {purpose} wait for an answer; run it again")
    return EndedVerb({"decided": None, "waiting": len(lines), "purpose": purpose}, code=1)


def take_answers(store: ReviewStore, answers: object, types: Sequence[str]) -> None:
    """Take answers that were given without the page.

    types : the types that a file of answers may set.
    """
    waiting = list_unanswered(store)
    if callable(answers):
        for line in waiting:
            _answer(store, line.number, answers(line))
    else:
        _answer_from(store, {one.number for one in waiting}, str(answers), types)


def _answer(store: ReviewStore, line: int, spans: Sequence[Sequence[Any]]) -> None:
    shown = [ShownSpan(int(a), int(b), str(label), "reader") for a, b, label in spans]
    store.answer(line, "reader", shown, unsure=False, seconds=0.0)


def _answer_from(store: ReviewStore, waiting: set[int], path: str, types: Sequence[str]) -> None:
    """Take the answers of a file, which contains the number and the spans of each line.

    A type appears in the released text as a mark. So a file may only set types of the page.
    """
    try:
        with Path(path).open(encoding="utf-8") as lines:
            answers = [json.loads(one) for one in lines if one.strip()]
        for one in answers:
            if one["line"] in waiting:
                _check_types([label for _, _, label in one["spans"]], types, path)
                _answer(store, one["line"], one["spans"])
    except OSError:
        raise RequestError("the answers cannot be read", where=path) from None
    except (ValueError, KeyError, TypeError):
        raise RequestError(
            "an answer is not one",
            where=path,
            instead='write lines such as {"line": 3, "spans": [[0, 5, "NAME"]]}',
        ) from None


def _check_types(labels: Sequence[str], types: Sequence[str], path: str) -> None:
    """Refuse a type that the page does not have, without repeating its text."""
    if not set(labels) <= set(types):
        raise RequestError(
            "an answer sets a type that the kit does not have",
            where=path,
            instead=f"use {join_names(list(types))}",
        )
