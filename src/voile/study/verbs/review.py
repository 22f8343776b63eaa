"""Review by a person of the proposals of a kit of notes, in the notes of the study."""

from __future__ import annotations

import shlex

from voile.core.errors import RequestError
from voile.documents.fitting.review import review as review_work
from voile.documents.options import ReviewOptions
from voile.release.own_verbs import EndedVerb, VerbReporter
from voile.study.plan.plan import StudyPlan

__all__ = ["ReviewOptions", "review"]


def review(
    plan: StudyPlan, name: str | None, options: ReviewOptions, reporter: VerbReporter
) -> EndedVerb:
    """Serve the review of a part's work folder until its reviewers end it.

    name : the part. Not needed if only one part is made from unannotated notes.

    Raises
    ------
    RequestError : there is no such part, or `fit` has not yet made its kit.
    """
    work, then = plan.notes_kit(_part(plan, name)), next_commands(plan, name)
    return review_work(options, reporter, work=work, **then)


def next_commands(plan: StudyPlan, name: str | None) -> dict[str, str]:
    """Return the commands to continue a review, and to use its results."""
    own, part = shlex.quote(str(plan.path)), f" --part {name}" if name else ""
    after = f"voile study fit {own} and voile study apply {own}"
    return {"again": f"voile study review {own}{part}", "after": after}


def _part(plan: StudyPlan, name: str | None) -> str:
    made = [one for one, part in plan.texts.items() if part.init is not None]
    if name is None and len(made) == 1:
        return made[0]
    if name not in made:
        listed = ", ".join(made) or "no part has an init"
        raise RequestError(
            "a review is of one part whose kit is made of notes that nobody marked",
            where="parts" if name is None else f"parts.{name}",
            instead=f"name it with --part: {listed}",
        )
    return name
