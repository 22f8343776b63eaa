"""Models of the user's own, as options name them: opened for a fit, found again for a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, nearest
from voile.documents.adapters.model import Model, ModelClassifier
from voile.documents.committee.committee import Committee, Member


def open_models(given: Iterable[Any]) -> tuple[Model, ...]:
    """Open the models of NAME=FOLDER; `RequestError` where one cannot be."""
    return tuple(Model.of(name, folder) for one in given for name, folder in one.items())


def with_models(committee: Committee, given: Iterable[Any]) -> Committee:
    """Return a committee whose models are open, where they are now.

    Raises RequestError: one is not there or has changed, or the committee has none of that name.
    """
    places = {name: folder for one in given for name, folder in one.items()}
    own = {m.learner for m in committee.members if isinstance(m.classifier, ModelClassifier)}
    for name in places:
        if name not in own:
            raise RequestError(
                f"the policy has no model {name}",
                where="--model",
                instead=nearest(name, own) if own else "leave it out",
            )
    return replace(committee, members=tuple(_found(one, places) for one in committee.members))


def _found(member: Member, places: Mapping[str, str]) -> Member:
    classifier, name = member.classifier, member.learner
    if not isinstance(classifier, ModelClassifier):
        return member
    folder = places.get(name, classifier.model.folder)
    if not Path(folder).is_dir():
        raise RequestError(
            f"the policy's model {name} is not there",
            where=folder,
            instead=f"say where it is now with --model {name}=FOLDER",
        )
    classifier = classifier.at(folder)
    classifier.model.check()  # again, where this process has it open
    classifier.model.open()
    return replace(member, classifier=classifier)
