"""The wing's third verb: apply streams a source through a policy into a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError
from voile.data import Source
from voile.release.apply import Applying, apply
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.outcomes import Aside, Batch, Outcome, Written
from voile.report.suppression import FEW
from voile.report.wording import needs_suppression
from voile.tables.policies.policy import Policy
from voile.tables.recoding.plan import Output, find_pseudonym_column, plan
from voile.tables.recoding.published import Published
from voile.tables.recoding.recoder import Recoder
from voile.tables.scoring.disclosure import of_column
from voile.tables.verbs.certify import certify
from voile.tables.verbs.content import Content
from voile.tables.verbs.options import ApplyOptions
from voile.tables.verbs.report_data import STATING, report_data

__all__ = ["apply", "prepare"]

CONSTRAINTS = ("k", "max_risk", "l_diversity", "suppress")
OUTSIDE, UNMADE = "a value outside its domain", "a value that cannot be pseudonymised or shifted"
Seen: TypeAlias = list[NDArray[np.bool_]]
"""By domain, which of its values released rows have."""


def prepare(kit: Kit, chosen: Chosen, source: Source, options: ApplyOptions) -> _Recoding:
    """Decide what each column of a source becomes, and which groups may be released.

    Raises
    ------
    RequestError : the source has other columns.
    InfeasibleError : the policy breaks the kit's constraints.
    """
    content = Content.of(kit)
    content.roles.check(source.columns)
    policy = Policy.from_data(content.space.domains, chosen.policy)
    chosen = _scored(chosen, content, policy)
    secret = options.secret(find_pseudonym_column(content.roles))
    outputs = plan(
        policy,
        content.roles,
        source.columns,
        bounds=options.bounds,
        secret=secret,
        pseudonyms=not options.no_pseudonyms,
    )
    groups, _, kept = content.space.groups(policy)
    rules = content.space.constraints
    bound = rules.k > 1 or rules.max_risk < 1 or rules.l_diversity > 1
    return _Recoding(
        kit=kit,
        chosen=chosen,
        source=source,
        roles=content.roles,
        hold_out=content.hold_out,
        columns=[output.source for output in outputs],
        schema=pa.schema([f for output in outputs for f in output.fields]),
        unfinished=pa.schema([output.unfinished for output in outputs]),
        secret=secret,
        content=content,
        policy=policy,
        bounds=options.bounds,
        outputs=outputs,
        recoder=Recoder(policy, groups[kept] if bound else None),
    )


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
    figures |= score.losses
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Recoding(Applying[Seen, Published]):
    """Generalise rows by a policy, and suppress those whose group breaks the constraints."""

    stating = STATING

    content: Content
    policy: Policy
    bounds: bool
    outputs: tuple[Output, ...]
    recoder: Recoder

    def make(self, batch: Batch) -> Outcome[Seen]:
        """Make the output columns; set aside rows with a value that is in no interval."""
        recoded = self.recoder(batch.rows)
        outside = recoded.intervals.T < 0
        aside = [
            Aside(domain.column, OUTSIDE, rows)
            for domain, rows in zip(self.policy.domains, outside, strict=True)
        ]
        made = [output.make(batch.rows, recoded) for output in self.outputs]
        for output, (_, lost) in zip(self.outputs, made, strict=True):
            if lost is not None:
                aside.append(Aside(output.source, UNMADE, lost))
        kept = batch.left(aside) & ~recoded.suppressed
        seen = self.nothing()
        for has, values in zip(seen, recoded.values[kept].T, strict=True):
            has[values] = True
        return Outcome([array for array, _ in made], seen, aside, recoded.suppressed)

    def nothing(self) -> Seen:
        return [np.zeros(len(domain), dtype=np.bool_) for domain in self.policy.domains]

    def merge(self, notes: Seen, more: Seen) -> None:
        for seen, values in zip(notes, more, strict=True):
            np.logical_or(seen, values, out=seen)

    def conclude(self, notes: Seen) -> Published:
        return Published.of(self.policy, notes, bounds=self.bounds)

    def finish(self, columns: Sequence[pa.Array], known: Published) -> list[pa.Array]:
        """Name the intervals by the values that released rows have."""
        made = zip(self.outputs, columns, strict=True)
        return [array for output, one in made for array in output.written(one, known)]

    def certified(self, written: Written[Published]) -> dict[str, float]:
        """Measure the release by its own groups, and hold it to the kit's constraints."""
        content = self.content
        figures = certify(
            written.rows,
            written.people,
            written.known.codebook,
            unknown=[f.name for o in self.outputs if o.role == "identifier" for f in o.fields],
            population=(written.known, content.space.counts),
            sensitive=[c for c in content.roles.of("sensitive") if c in self.schema.names],
            suppressed=written.suppressed_people(),
            directory=written.scratch,
        )
        _check_constraints(content, figures)
        return figures

    def public_manifest(self, figures: Mapping[str, float], known: Published) -> dict[str, Any]:
        """Return the intervals, the constraints, and figures that single nobody out."""
        space = self.content.space
        shown = ["mean_risk", "max_risk"]
        if not needs_suppression(figures["share_under_11"], figures["subjects"], "public"):
            shown.append("share_under_11")
        return {
            "policy": known.codebook.to_data(),
            "columns": [
                {"column": name, "from": output.source, "what": output.what, "role": output.role}
                for output in self.outputs
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
                for kind, asked in self.content.measures.items()
            },
            "constraints": {name: getattr(space.constraints, name) for name in CONSTRAINTS},
            "population": space.population.how,
            "assumptions": list(space.population.assumptions),
        }

    def private_manifest(self, known: Published) -> dict[str, Any]:
        """Return what the report says of the other policies, so that it needs no kit."""
        return {"story": report_data(self.content, self.policy, known)}
