"""The wing's third verb: apply streams a source through a policy into a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError
from voile.core.progress import Progress
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.release.apply import Applying, Batch, Outcome
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.report.suppression import FEW
from voile.report.wording import needs_suppression
from voile.tables.policies.policy import Policy
from voile.tables.recoding.plan import find_pseudonym_column, plan
from voile.tables.recoding.published import Published
from voile.tables.recoding.recoder import Recoder
from voile.tables.scoring.disclosure import of_column
from voile.tables.verbs.certify import certify
from voile.tables.verbs.content import Content
from voile.tables.verbs.options import ApplyOptions
from voile.tables.verbs.report_data import STATING

CONSTRAINTS = ("k", "max_risk", "l_diversity", "suppress")
OUTSIDE, UNMADE = "a value outside its domain", "a value that cannot be pseudonymised or shifted"


def apply(
    kit: Kit,
    chosen: Chosen,
    source: Source,
    out: Path | None,
    options: ApplyOptions,
    *,
    force: bool,
    progress: Progress,
) -> Release:
    """Write the release of a source under a chosen policy, with its two manifests.

    Rows stream; memory follows the batch. Their order is drawn anew unless asked to be kept. A
    row with a value outside its domain is set aside with its reason, one whose group breaks the
    constraints is suppressed, and what came in equals what went out plus those.
    """
    chosen.check(kit)
    content = Content.of(kit)
    content.roles.check(source.columns)
    policy = Policy.from_data(content.space.domains, chosen.policy)
    chosen = _scored(chosen, content, policy)
    applying = _Applying(kit, chosen, source, content, policy, options, progress)
    return applying.write(out, options, force=force)


def _scored(chosen: Chosen, content: Content, policy: Policy) -> Chosen:
    """Score the policy again, since a person may have edited its file; refuse a forbidden one."""
    space = content.space
    scores = space.evaluator.scores(policy.bits[None, :])
    if not space.evaluator.feasible(policy.bits[None, :], scores)[0]:
        raise InfeasibleError(
            f"the policy breaks the kit's constraints, or suppresses {scores.suppressed[0]:.2%} "
            "of subjects to keep them",
            instead="choose a policy of the kit, or fit with other constraints",
        )
    score = content.score(policy)
    figures = {"relative_risk": score.risk, "loss": score.loss, "suppressed": score.suppressed}
    numbers = np.flatnonzero((content.frontier.policies == policy.bits).all(axis=1))
    number = int(numbers[0]) if len(numbers) else None
    return replace(
        chosen,
        number=number,
        figures=figures | space.disclosure(policy),
        policy=policy.to_data(),
        edited=chosen.edited or number != chosen.number,
    )


def _check_constraints(content: Content, figures: dict[str, float]) -> None:
    """Refuse a release that breaks its kit's constraints, as other data than the fitted may."""
    rules = content.space.constraints
    values = figures.get(of_column("distinct_l", content.sensitive or ""), np.inf)
    if figures["max_risk"] > rules.max_risk + 1e-9:
        raise InfeasibleError(
            f"a record of the release has a risk of {figures['max_risk']:.4g}, and the kit asks "
            f"for {rules.max_risk:g} at most",
            instead="fit on this source",
        )
    for name, least, asked in (
        ("people", figures["k"], rules.k),
        (f"values of {content.sensitive}", values, rules.l_diversity),
    ):
        if least < asked:
            raise InfeasibleError(
                f"a group of the release holds fewer {name} than the {asked} that the kit asks for:"
                f" {least:.0f}",
                instead="fit on this source",
            )


class _Applying(Applying):
    """Generalise rows by a policy, and suppress those whose group breaks the constraints."""

    stating = STATING

    def __init__(
        self,
        kit: Kit,
        chosen: Chosen,
        source: Source,
        content: Content,
        policy: Policy,
        options: ApplyOptions,
        progress: Progress,
    ) -> None:
        self._content, self._policy = content, policy
        secret = options.secret(find_pseudonym_column(content.roles))
        self._outputs = plan(
            policy,
            content.roles,
            source.columns,
            bounds=options.bounds,
            secret=secret,
            pseudonyms=not options.no_pseudonyms,
        )
        self._bounds = options.bounds
        self._seen = [np.zeros(len(domain), dtype=np.bool_) for domain in policy.domains]
        groups, _, kept = content.space.groups(policy)
        rules = content.space.constraints
        bound = rules.k > 1 or rules.max_risk < 1 or rules.l_diversity > 1
        self._recoder = Recoder(policy, groups[kept] if bound else None)
        super().__init__(
            kit,
            chosen,
            source,
            roles=content.roles,
            hold_out=content.hold_out,
            columns=[output.source for output in self._outputs],
            schema=pa.schema([f for output in self._outputs for f in output.fields]),
            unfinished=pa.schema([output.unfinished for output in self._outputs]),
            progress=progress,
            secret=secret,
        )

    def make(self, batch: Batch) -> Outcome:
        """Make the output columns; set aside rows with a value that is in no interval."""
        recoded = self._recoder(batch.rows)
        aside = np.zeros(len(batch.numbers), dtype=np.bool_)

        def note(column: str, reason: str, lost: NDArray[np.bool_]) -> None:
            lost = lost & batch.counted
            self.note(batch, column, reason, lost)
            aside[lost] = True

        for place, domain in enumerate(self._policy.domains):
            note(domain.column, OUTSIDE, recoded.intervals[:, place] < 0)
        arrays: list[pa.Array] = []
        for output in self._outputs:
            made, lost = output.make(batch.rows, recoded)
            arrays.append(made)
            if lost is not None:
                note(output.source, UNMADE, lost)
        kept = batch.counted & ~aside & ~recoded.suppressed
        for seen, values in zip(self._seen, recoded.values[kept].T, strict=True):
            seen[values] = True
        return Outcome(arrays, aside, recoded.suppressed)

    @cached_property
    def _published(self) -> Published:
        """The policy as the release shows it, known when all rows have been made."""
        return Published.of(self._policy, self._seen, bounds=self._bounds)

    def finish(self, columns: Sequence[pa.Array]) -> list[pa.Array]:
        """Name the intervals by the values that released rows have."""
        made = zip(self._outputs, columns, strict=True)
        return [array for output, one in made for array in output.written(one, self._published)]

    def certified(self, out: AnyPath, rows: Source, scratch: Path | None) -> dict[str, float]:
        """Measure the release by its own groups, and hold it to the kit's constraints."""
        content = self._content
        figures = certify(
            self.opened(out),
            rows if self.subject else None,
            self._published.codebook,
            unknown=[f.name for o in self._outputs if o.role == "identifier" for f in o.fields],
            population=(self._published, content.space.counts),
            sensitive=[c for c in content.roles.of("sensitive") if c in self.schema.names],
            suppressed=self.suppressed_people(rows),
            directory=scratch,
        )
        _check_constraints(content, figures)
        return figures

    def public_manifest(self, figures: Mapping[str, float]) -> dict[str, Any]:
        """Return the intervals, the constraints, and figures that single nobody out."""
        space = self._content.space
        shown = ["mean_risk", "max_risk"]
        if not needs_suppression(figures["share_under_11"], figures["subjects"], "public"):
            shown.append("share_under_11")
        return {
            "policy": self._published.codebook.to_data(),
            "columns": [
                {"column": name, "from": output.source, "what": output.what, "role": output.role}
                for output in self._outputs
                for name in (field.name for field in output.fields)
            ],
            "figures": {
                **{name: figures[name] for name in shown if np.isfinite(figures[name])},
                **{name: figures[name] for name in ("k", "k_map") if FEW <= figures[name] < np.inf},
                "relative_risk": self.chosen.figures["relative_risk"],
                "loss": self.chosen.figures["loss"],
            },
            "measures": {
                kind: {"title": asked.title, "formula": asked.formula}
                for kind, asked in self._content.measures.items()
            },
            "constraints": {name: getattr(space.constraints, name) for name in CONSTRAINTS},
            "population": space.population.how,
            "assumptions": list(space.population.assumptions),
        }

    def private_manifest(self) -> dict[str, Any]:
        """Return what the report says of the other policies, so that it needs no kit."""
        from voile.tables.verbs.report_data import report_data

        return {"story": report_data(self._content, self._policy, self._published)}
