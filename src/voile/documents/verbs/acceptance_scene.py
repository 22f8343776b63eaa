"""The release that readers examine, with its kit, policy and source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, name_kind
from voile.data import Source
from voile.data.files import outputs
from voile.data.files.atomic import settle
from voile.data.opening import split_output
from voile.data.postgres.address import DatabaseAddress
from voile.data.roles import Roles
from voile.documents.acceptance.kept import Pair
from voile.documents.acceptance.reading import FEW
from voile.documents.model.committee.committee import TokenCommittee
from voile.documents.model.content import DocumentsContent
from voile.documents.model.own_models import with_models
from voile.documents.model.policies import DocumentsPolicy
from voile.documents.options import ApplyOptions
from voile.documents.own_options import AcceptOptions
from voile.documents.replacements.names import Language
from voile.documents.replacements.published import RemovalReplacer
from voile.documents.text.files_source import FilesSource
from voile.documents.text.reader import DocumentReader
from voile.documents.text.sequence import DocumentSequence
from voile.documents.verbs.released import check_texts, pair_documents
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.scoring import private_manifest_of


@dataclass(frozen=True, eq=False)
class AcceptanceScene:
    """A release, with its kit, policy and source."""

    release: StoredRelease
    kit: StoredKit
    content: DocumentsContent
    policy: DocumentsPolicy
    committee: TokenCommittee  # the committee of the policy
    source: Source
    texts: Sequence[str]
    documents: Any  # the documents of the source
    make_replacer: Callable[[ApplyOptions, Language], RemovalReplacer]
    writer: Callable[[RemovalReplacer], RemovalReplacer] | None

    @classmethod
    def of(
        cls,
        release: StoredRelease,
        kit: StoredKit,
        source: Source,
        options: AcceptOptions,
        make_replacer: Callable[[ApplyOptions, Language], RemovalReplacer],
        writer: Callable[[RemovalReplacer], RemovalReplacer] | None,
    ) -> AcceptanceScene:
        """Return the scene of a release, after checking that release, kit and source match.

        Raises
        ------
        RequestError : the release belongs to another kit or source, or has no private folder. Also
            raised if a model of the kit has changed.
        TamperedError : the release does not match its manifest.
        """
        private = private_manifest_of(release)
        release.check_hash()
        if private.get("kit") != kit.id:
            raise RequestError(
                "this kit did not make the release",
                where=str(release.path),
                instead="give the kit that was applied",
            )
        if private["source"]["sha256"] != source.fingerprint():
            raise RequestError(
                "this is not the source of the release, or it changed since",
                where=source.name,
                instead="give the source that was applied, or apply again",
            )
        pattern = private.get("subject_pattern")
        if pattern is not None and isinstance(source, FilesSource):
            source = source.with_subjects(pattern)
        content = DocumentsContent.of(kit)
        reading = DocumentReader.all_of(Roles.model_validate(private["roles"]))
        texts = [one["column"] for one in release.public["columns"] if one["role"] == "text"]
        check_texts(reading.texts, texts, source.name)
        chosen = {name: release.public["policy"][name] for name in ("miss_cost", "passes")}
        policy = DocumentsPolicy(**chosen)
        committee = with_models(content.committee(policy), options.model)
        annotated = source.columns.keys() >= {*reading.roles.of("label")}
        documents = DocumentSequence(reading.read_documents(source, annotated=annotated))
        own = (release, kit, content, policy, committee, source, reading.texts, documents)
        return cls(*own, make_replacer, writer)

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """Every document of the current release, paired with its source document."""
        return self.with_edits(None)

    def with_edits(self, removals: Path | None) -> list[Pair]:
        """Return the pairs of documents, with the edits from a file."""
        return list(pair_documents(self.release, self.texts, self.documents, removals))

    @property
    def least(self) -> int:
        """The smallest number of tokens in a census.

        It is positive if scores are learnt from proposals, because such scores may be far too low.
        """
        return FEW if self.content.unchecked_reference else 0

    def subjects(self) -> int:
        return len({one.subject or one.id for _, one in self.pairs})


def open_release(place: str) -> StoredRelease:
    """Open a release, after finishing or undoing a change that a killed run began."""
    if not isinstance(place, str | PathLike):
        remedy = "give what apply returned, or its path"
        raise RequestError(f"{name_kind(place)} is not a release", instead=remedy)
    if not DatabaseAddress.parse(place):
        settle(split_output(place)[0], outputs.RELEASE)
    return StoredRelease.open(place)
