"""Locate the user's own models for a release with a kit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, nearest
from voile.documents.model.classifiers.external import ModelClassifier
from voile.documents.model.classifiers.folders.model_folder import ModelFolder
from voile.documents.model.classifiers.reader_head import ReaderClassifier
from voile.documents.model.committee.committee import CommitteeMember, TokenCommittee
from voile.documents.model.start.starter.starter import PretrainedStarter


def with_models(committee: TokenCommittee, given: Iterable[Any]) -> TokenCommittee:
    """Return a committee with its models opened, in their current folders.

    Raises
    ------
    RequestError : a model is absent or has changed, or the committee has no model of a given name.
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
    if isinstance(committee.hinter, PretrainedStarter):
        committee.hinter.check()
    return replace(committee, members=tuple(_find_model(one, places) for one in committee.members))


def describe_models(models: Iterable[tuple[str, ModelFolder]]) -> list[dict[str, Any]]:
    """Return a kit's description of its distinct models, without their folders."""
    return [
        {
            "name": name,
            "kind": folder.kind,
            "files": [
                {"part": part, "file": file, "sha256": sha256}
                for part, file, sha256 in folder.parts()
            ],
        }
        for name, folder in dict(models).items()
    ]


def publish_models(committee: TokenCommittee) -> list[dict[str, Any]]:
    """Return the public facts about a committee's models.

    These are the hashes of weights, tokenizer and configuration. File names are private to the data
    holder, and a hash of a few phrases would confirm a guess.
    """
    used = [
        (one.learner, one.classifier.model)
        for one in committee.members
        if isinstance(one.classifier, ModelClassifier)
    ]
    described = describe_models(used)
    for model in described:
        model["files"] = [
            {"part": one["part"], "sha256": one["sha256"]}
            for one in model["files"]
            if one["part"] != "patterns"
        ]
    return described


def _find_model(member: CommitteeMember, places: Mapping[str, str]) -> CommitteeMember:
    classifier, name = member.classifier, member.learner
    if isinstance(classifier, ReaderClassifier):
        classifier.open_encoder()  # refuse an absent reader before any text is read
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
    classifier.model.check()  # check again, since this process may have opened it before
    classifier.model.open()
    return replace(member, classifier=classifier)
