"""Find the valid answer for a line with several reviewers, and adjudicate disagreements."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from voile.documents.reviewing.line import ReviewAnswer, ReviewLine, ShownSpan
from voile.documents.reviewing.store import ReviewStore
from voile.report.wording import join_names


def settle_answers(store: ReviewStore, purpose: str) -> dict[int, ReviewAnswer]:
    """Return the valid answer of each line of a purpose.

    The answer of an adjudication is valid. Otherwise it is the answer on which all reviewers of the
    line agree. Lines with disagreement and lines without an answer are omitted.
    """
    agreed = {
        line: answers[-1]
        for line, answers in _by_line(store.answers(purpose=purpose)).items()
        if _agree(answers)
    }
    own = set(store.numbers(purpose=purpose))
    of = map_adjudications(store)
    decided = {of[one.line]: one for one in store.answers(purpose="adjudication")}
    last = {line: replace(one, line=line) for line, one in decided.items() if line in own}
    return {**agreed, **last}


def map_adjudications(store: ReviewStore) -> Mapping[int, int]:
    """Return the number of the disputed line, by the number of its adjudication line."""
    lines = store.lines(purpose="adjudication")
    with store.reading():
        return {one.number: int(json.loads(one.extra)["of"]) for one in lines}


def adjudicate(store: ReviewStore, purposes: Collection[str]) -> list[ReviewLine]:
    """Add an adjudication line for each new disagreement, and return the added lines."""
    done = set(map_adjudications(store).values())
    answers = _by_line([one for purpose in purposes for one in store.answers(purpose=purpose)])
    open = {line: of for line, of in answers.items() if line not in done and not _agree(of)}
    lines = [_dispute(store.line(number), of) for number, of in open.items()]
    return store.add(lines, batch=max((one.batch for one in lines), default=0))


def agreement(store: ReviewStore, purposes: Collection[str]) -> tuple[int, int]:
    """Return the number of lines on which all reviewers agree, and the number of lines compared.

    Only lines with several answers are compared.
    """
    answers = _by_line([one for purpose in purposes for one in store.answers(purpose=purpose)])
    several = [of for of in answers.values() if len(of) > 1]
    return sum(map(_agree, several)), len(several)


def _by_line(answers: Sequence[ReviewAnswer]) -> dict[int, list[ReviewAnswer]]:
    lines: dict[int, list[ReviewAnswer]] = defaultdict(list)
    for one in answers:
        lines[one.line].append(one)
    return lines


def _agree(answers: Sequence[ReviewAnswer]) -> bool:
    return len({(one.unsure, _types(one)) for one in answers}) == 1


def _types(answer: ReviewAnswer) -> frozenset[tuple[int, int, str]]:
    return frozenset((one.start, one.end, one.label) for one in answer.spans)


def _dispute(line: ReviewLine, answers: Sequence[ReviewAnswer]) -> ReviewLine:
    """Return a line that shows all reviewers' marks.

    A mark that only some of them set is doubtful.
    """
    by: dict[tuple[int, int, str], list[str]] = defaultdict(list)
    for answer in answers:
        for one in answer.spans:
            by[one.start, one.end, one.label].append(answer.reviewer)
    shown: list[ShownSpan] = []
    for (start, end, label), who in sorted(by.items(), key=lambda item: (-len(item[1]), item[0])):
        if all(end <= one.start or one.end <= start for one in shown):
            doubt = 1 - len(who) / len(answers)
            shown.append(ShownSpan(start, end, label, join_names(who), doubt))
    return replace(
        line,
        purpose="adjudication",
        proposals=tuple(sorted(shown)),
        why=_why(answers),
        extra=json.dumps({"of": line.number}),
    )


def _why(answers: Sequence[ReviewAnswer]) -> str:
    unsure = [one.reviewer for one in answers if one.unsure]
    said = f"{join_names([one.reviewer for one in answers])} disagree"
    return f"{said}; {join_names(unsure)} could not decide." if unsure else f"{said}."
