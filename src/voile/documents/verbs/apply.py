"""The verb apply, which streams documents through a committee into a release."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import Source
from voile.data.roles import Roles
from voile.documents.model.committee.worker import (
    DocumentWorker,
)
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import DocumentsPolicy
from voile.documents.options import ApplyOptions
from voile.documents.text.files_source import FilesSource
from voile.documents.text.reader import (
    KEPT,
    DocumentReader,
)
from voile.documents.verbs.applying_step import DocumentsApplying
from voile.documents.verbs.disclosed import disclosing
from voile.documents.verbs.files import DocumentFiles
from voile.documents.verbs.new_notes import choose_for_notes
from voile.documents.verbs.recipe import (
    FindKnown,
    MakeReplacer,
    make_recipe,
)
from voile.documents.verbs.removals import REMOVALS, REMOVED
from voile.keys.secret import Secret
from voile.release.choice import Chosen
from voile.release.entering import no_bound
from voile.release.kit import StoredKit
from voile.release.step import released_schema


@dataclass(frozen=True)
class DocumentPublisher:
    """The release of documents.

    find_known : a function that returns the finder of known values.
    make_replacer : a function that returns the replacer of removed text.
    """

    find_known: FindKnown
    make_replacer: MakeReplacer

    def prepare(
        self, kit: StoredKit, chosen: Chosen, source: Source, options: ApplyOptions
    ) -> DocumentsApplying:
        """Prepare the removals from documents and their replacements.

        Raises
        ------
        RequestError : the source has other columns, or a list, pattern or secret is missing.
        TamperedError : the kit's classifiers do not match its features.
        """
        content = DocumentsContent.of(kit)
        source = options.open_subjects(source)
        roles = options.roles_beside(source, content.reading.roles)
        files = DocumentFiles.of(options, roles, source)
        content = content.reading_by(roles if files is None else files.roles(roles))
        reader = content.reading
        reader.check(source, annotated=False)
        chosen = choose_for_notes(content, chosen, source, reader)
        policy = DocumentsPolicy.from_data(chosen.policy)
        recipe = make_recipe(content, policy, options, self.find_known, self.make_replacer)
        content = content.repeating(recipe.names)
        chosen = chosen.as_read(content, policy)
        if recipe.rules is None:
            policy.warn()
        secret = Secret.find(options.key_file)
        kept = {*reader.roles.of(*KEPT)} - {reader.roles.subject, *reader.pos}
        written = dict.fromkeys(
            [*reader.texts, *_pseudonymous(options, reader, secret)], pa.string()
        )
        schema = released_schema(source, written, kept)
        return DocumentsApplying(
            kit=kit,
            chosen=chosen,
            source=source,
            roles=_released_roles(reader.roles, options),
            hold_out=reader.hold_out,
            columns=[*(schema.names if files is None else files.columns), *reader.pos],
            schema=schema if files is None else files.schema,
            beside={REMOVALS: REMOVED, **(files.beside if files else {})},
            secret=secret,
            named="id" if isinstance(source, FilesSource) else None,
            jobs=_jobs(options.jobs),
            judge=no_bound(kit.kind, disclosing(options, reader.roles, reader.texts)),
            content=content,
            options=options,
            worker=DocumentWorker(recipe),
            files=files,
        )


def _released_roles(roles: Roles, options: ApplyOptions) -> Roles:
    """Return the role of each column in the release; pseudonyms are identifiers in any kit."""
    if not options.pseudonyms or roles.subject is None:
        return roles
    return roles.corrected({roles.subject: "identifier"})


def _pseudonymous(
    options: ApplyOptions, reader: DocumentReader, secret: Secret | None
) -> list[str]:
    """Return the column that is released as pseudonyms, if any."""
    if not options.pseudonyms:
        return []
    if reader.roles.subject is None or secret is None:
        raise RequestError(
            "pseudonyms need a column of subjects and a secret",
            where="--pseudonyms",
            instead="name the column with --subject, and set VOILE_SECRET or --key-file",
        )
    return [reader.roles.subject]


def _jobs(asked: int) -> int:
    import joblib  # type: ignore[import-untyped]

    return int(joblib.effective_n_jobs(asked))
