"""Apply a policy to a source: the third verb, which streams the source into a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.data import Source
from voile.data.roles import AS_IT_IS
from voile.gate.finding import NOBODY, GateFinding, figures_of
from voile.gate.people_of_rows import ORDER
from voile.gate.promises import TableLimits, check_records, promised_people
from voile.gate.safe_harbor import SAFE_HARBOR_FOUND
from voile.release.accepted_risk import PROMISED_PEOPLE
from voile.release.choice import Chosen
from voile.release.draws import ReleaseDraws
from voile.release.kit import StoredKit
from voile.release.manifest import ACCEPTED
from voile.release.options import OPTIONS
from voile.release.outcomes import AsideRows, BatchOutcome, SourceBatch, WrittenRelease
from voile.release.step import ApplyingStep
from voile.report.suppression import FEW, is_few
from voile.report.wording import needs_suppression
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import KitPolicy
from voile.tables.policies.policy import Policy
from voile.tables.policies.scores import score_policy
from voile.tables.recoding.class_ids import CLASS, ClassIds
from voile.tables.recoding.marginals import ColumnMarginal, ReleasedCounts
from voile.tables.recoding.plan import ColumnOutput, find_pseudonym_column, plan
from voile.tables.recoding.published_boxes import AnyPublished
from voile.tables.recoding.recoder import BatchRecoder, PersonRecoder
from voile.tables.trees.person_policy import PersonPolicy
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.entering import entering
from voile.tables.verbs.following import released_groups
from voile.tables.verbs.measure_release import (
    AREAS,
    count_least_implied,
    find_small_areas,
    measure_release,
    people_sharing,
)
from voile.tables.verbs.one_row import other_rows
from voile.tables.verbs.options import ApplyOptions
from voile.tables.verbs.person_records import list_choices
from voile.tables.verbs.person_rows import ALONE, BoxedRows, find_row_boxes, refuse_row_options
from voile.tables.verbs.placed_rows import measure_against_source
from voile.tables.verbs.promises import LEAST_IMPLIED, least_of
from voile.tables.verbs.recount import count_anew, pack_counts, unpack_counts, with_counts
from voile.tables.verbs.report_data import STATING, report_data
from voile.tables.verbs.showing import BoxNotes, BoxSummary, NotesShowing, showing_of

CONSTRAINTS = (
    *("k", "max_risk", "l_diversity", "entropy_l", "t_closeness", "suppress"),
    "empty_boxes",
)
REST = "take the people whom the ledger leaves out out of the source, and fit on the others"
REST_OF_ROWS = "choose a coarser policy, or fit on a source that has one row of each person"
OUTSIDE, UNMADE = "a value outside its domain", "a value that cannot be pseudonymised or shifted"


def prepare(
    kit: StoredKit, chosen: Chosen, source: Source, options: ApplyOptions
) -> _TablesApplying:
    """Plan the output of each column of a source, and determine the groups that may be released.

    Raises
    ------
    RequestError : the source has other columns.
    InfeasibleError : the policy breaks the kit's constraints.
    """
    content = TablesContent.of(kit)
    content.roles.check(source.columns, "quasi", "weight")
    if content.promise == "person":
        refuse_row_options(options)
    if options.recount:
        content = with_counts(content, count_anew(content, source))
    policy = content.family.read_policy(chosen.policy)
    chosen = _rescore_choice(chosen, content, policy)
    secret = options.secret(find_pseudonym_column(content.roles))
    outputs = plan(
        policy,
        content.roles,
        source.columns,
        bounds=options.bounds,
        secret=secret,
        pseudonyms=not options.no_pseudonyms,
        purpose=options.purpose,
    )
    if options.class_id:
        _check_name_of_classes(source)
    judge, left_out = None, np.zeros(0, np.int64)
    recoder: BatchRecoder | PersonRecoder
    boxed = None
    if isinstance(policy, PersonPolicy):
        boxed = find_row_boxes(content, policy, source, outputs)
        recoder = PersonRecoder(policy, boxed.box)
    else:
        recoder = BatchRecoder(policy, released_groups(content, policy))
        judge, left_out = entering(content, policy, source, options)
    if options.one_row:
        drawn = ReleaseDraws(options, kit, chosen, source).draw("one row")
        rules = content.space.constraints
        least = promised_people(rules.k, rules.max_risk)
        left_out = np.union1d(left_out, other_rows(content, source, recoder, drawn, least))
    return _TablesApplying(
        kit=kit,
        chosen=chosen,
        source=source,
        roles=content.roles,
        hold_out=content.hold_out,
        columns=[output.source for output in outputs],
        schema=pa.schema(
            [f for output in outputs for f in output.fields] + [CLASS] * options.class_id
        ),
        unfinished=pa.schema([output.unfinished_field for output in outputs]),
        secret=secret,
        judge=judge,
        content=content,
        policy=policy,
        bounds=options.bounds,
        class_ids=_class_ids(kit, chosen, source, options),
        outputs=outputs,
        recoder=recoder,
        boxed=boxed,
        left_out=left_out,
        accepted=options.accept_risk or options.override,
        in_ledger=options.ledger is not None,
        marginals=options.marginals,
        recounts=options.recount,
        showing=_showing(content, policy, options.marginals),
    )


def _showing(content: TablesContent, policy: KitPolicy, marginals: bool) -> NotesShowing[Any]:
    return showing_of(
        policy,
        content.space,
        subject=content.roles.subject,
        sensitive=content.sensitive,
        marginals=marginals,
    )


def _class_ids(
    kit: StoredKit, chosen: Chosen, source: Source, options: ApplyOptions
) -> ClassIds | None:
    if not options.class_id:
        return None
    return ClassIds(ReleaseDraws(options, kit, chosen, source).draw("classes").bytes(32))


def _check_name_of_classes(source: Source) -> None:
    if CLASS.name in source.columns:
        raise RequestError(
            f"the source has a column {CLASS.name}, as --class-id would add",
            instead="rename it before fitting, or leave --class-id out",
        )


def _rescore_choice(chosen: Chosen, content: TablesContent, policy: KitPolicy) -> Chosen:
    """Score the policy again, since its file may have been edited.

    Raises
    ------
    InfeasibleError : the policy breaks the kit's constraints.
    """
    if isinstance(policy, Policy):
        _check_feasible(content.space, policy)
    number = content.family.number_of(policy)
    edited = chosen.number is not None and number != chosen.number
    return replace(
        chosen,
        number=number,
        figures=content.figures_of_policy(policy),
        policy=policy.to_data(),
        edited=chosen.edited or edited,
    )


def _check_feasible(space: CountedSpace, policy: Policy) -> None:
    suppressed = score_policy(space, policy).suppressed
    if not space.is_feasible(policy, suppressed):
        raise InfeasibleError(
            f"the policy breaks the kit's constraints, or suppresses {suppressed:.2%} "
            "of subjects to keep them",
            instead="choose a policy of the kit, or fit with other constraints",
        )


def _check_implied(least: int, k: int) -> None:
    """Raise an error if marginals imply counts of few people."""
    if least < least_of(k):
        raise InfeasibleError(
            f"the marginals imply a count of fewer than {least_of(k)} people",
            instead="leave --marginals out",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _TablesApplying(ApplyingStep[Any, AnyPublished]):
    """The step that generalises rows by a policy, and suppresses groups that break constraints."""

    stating = STATING
    searches_values = True
    note_types = (BoxNotes, BoxSummary, ReleasedCounts)

    content: TablesContent
    policy: KitPolicy
    bounds: bool
    class_ids: ClassIds | None
    outputs: tuple[ColumnOutput, ...]
    recoder: BatchRecoder | PersonRecoder
    boxed: BoxedRows | None
    left_out: NDArray[np.int64]
    accepted: str | None
    in_ledger: bool
    showing: NotesShowing[Any]
    marginals: bool
    recounts: bool

    def why_alone(self) -> str | None:
        if isinstance(self.policy, PersonPolicy):
            return ALONE
        return None if self.class_ids is None else "--class-id draws its ids in one process"

    def found_in_source(self) -> Mapping[str, Any]:
        counted = pack_counts(self.content.space.counts) if self.recounts else None
        return {"left_out": self.left_out, "counted": counted}

    def with_found(self, found: Mapping[str, Any]) -> _TablesApplying:
        step = replace(self, left_out=found["left_out"])
        if (counted := found["counted"]) is None:
            return step
        content, policy = with_counts(self.content, unpack_counts(counted)), self.policy
        assert not isinstance(policy, PersonPolicy)  # policies per person do not support --recount
        return replace(
            step,
            content=content,
            recoder=BatchRecoder(policy, released_groups(content, policy)),
            showing=_showing(content, self.policy, self.marginals),
        )

    def make(self, batch: SourceBatch) -> BatchOutcome[Any]:
        """Return the output columns of a batch, and reject rows with a value in no interval."""
        recoded = self.recoder(batch.rows, batch.numbers)
        suppressed = recoded.suppressed | np.isin(batch.numbers, self.left_out)
        outside = recoded.intervals.T < 0
        aside = [
            AsideRows(domain.column, OUTSIDE, rows)
            for domain, rows in zip(self.policy.domains, outside, strict=True)
        ]
        made = [output.make(batch.rows, recoded) for output in self.outputs]
        for output, (_, lost) in zip(self.outputs, made, strict=True):
            if lost is not None:
                aside.append(AsideRows(output.source, UNMADE, lost))
        kept = batch.find_remaining(aside) & ~suppressed
        notes = self.showing.note(batch, recoded, kept)
        return BatchOutcome([array for array, _ in made], notes, aside, suppressed)

    def nothing(self) -> Any:
        return self.showing.nothing()

    def merge(self, notes: Any, more: Any) -> None:
        self.showing.merge(notes, more)

    def summarise(self, notes: Any) -> Any:
        return self.showing.summarise(notes)

    def conclude(self, summary: Any) -> AnyPublished:
        return self.showing.conclude(summary, bounds=self.bounds)

    def finish(self, columns: Sequence[pa.Array], known: AnyPublished) -> list[pa.Array]:
        """Name the intervals by the values of released rows."""
        made = list(zip(self.outputs, columns, strict=True))
        finished = [array for output, one in made for array in output.write_cells(one, known)]
        if self.class_ids is None:
            return finished
        quasi = [(o.source, one.to_numpy()) for o, one in made if o.role == "quasi"]
        codes = np.column_stack([known.entries(*numbers) for numbers in quasi])
        return [*finished, self.class_ids(codes)]

    def measure(self, written: WrittenRelease[AnyPublished]) -> tuple[GateFinding, ...]:
        """Measure the release by its own groups, and check it against the kit's constraints."""
        content, codebook = self.content, written.known.codebook
        others = {*content.roles.of(*AS_IT_IS, "identifier"), CLASS.name}
        labels = [name for name in self.schema.names if name not in others]
        unknown = [c["column"] for c in self._describe_columns() if c["role"] == "identifier"]
        findings = measure_release(
            written.rows,
            written.people,
            codebook,
            labels,
            unknown=unknown,
            people_of=(
                partial(people_sharing, codebook, content.space.domains, content.space.counts)
                if content.space.counts_others
                else None
            ),
            sensitive=[c for c in content.roles.of("sensitive") if c in self.schema.names],
            small_areas=self._small_areas,
            suppressed=written.suppressed_people(),
            k=self._promised_people,
            directory=written.scratch,
        )
        instead = "fit on this source"
        if len(self.left_out):
            instead = REST if self.in_ledger else REST_OF_ROWS
        rules = content.space.constraints
        limits = TableLimits(rules.k, rules.max_risk, vars(rules), content.sensitive)
        limits.check(figures_of(findings), instead=instead)
        if self.accepted is None:
            choices = list_choices(
                self.kit.facts.get(OPTIONS, {}),
                has_pseudonyms=bool(unknown),
                joins_by_order=any(ORDER in one.knows for one in findings),
            )
            check_records(findings, self._promised_people, instead=choices)
        batches = replace(self, columns=content.space.quasi).batches()
        matches = figures_of(findings)["expected_matches"]
        findings += measure_against_source(batches, written, codebook, content, matches)
        if not (marginals := written.known.marginals):
            return findings
        least = count_least_implied(
            written.rows,
            written.people,
            codebook,
            marginals,
            directory=written.scratch,
        )
        _check_implied(least, content.space.constraints.k)
        return (*findings, NOBODY.finds(LEAST_IMPLIED, least, "people"))

    @property
    def _promised_people(self) -> int:
        rules = self.content.space.constraints
        return promised_people(rules.k, rules.max_risk)

    @property
    def _small_areas(self) -> list[str] | None:
        space = self.content.space
        return find_small_areas(space.domains, space.counts, space.population)

    def public_manifest(self, figures: Mapping[str, float], known: AnyPublished) -> dict[str, Any]:
        """Return the intervals, the constraints, and figures that single out nobody."""
        space, risk = self.content.space, self.content.measures["risk"].figure
        predicted = self.chosen.figures
        shown = ["mean_risk", "max_risk"]
        if not needs_suppression(figures["share_under_11"], figures["subjects"], "public"):
            shown.append("share_under_11")
        return {
            "policy": known.codebook.to_data(),
            "promise": self.content.promise,
            **_marginals([one.public for one in known.marginals]),
            "columns": self._describe_columns(),
            "figures": {
                **{name: figures[name] for name in shown if np.isfinite(figures[name])},
                **{
                    name: figures[name]
                    for name in ("k", "k_all_rows", "k_map")
                    if FEW <= figures.get(name, 0) < np.inf
                },
                **self._counts_of_people(figures),
                SAFE_HARBOR_FOUND: figures[SAFE_HARBOR_FOUND],
                risk: figures.get(risk, predicted[risk]),
                "loss": predicted["loss"],
            },
            "measures": {
                kind: {"title": asked.title, "formula": asked.formula}
                for kind, asked in self.content.measures.items()
            },
            "constraints": {name: getattr(space.constraints, name) for name in CONSTRAINTS},
            PROMISED_PEOPLE: self._promised_people,
            **({} if self.accepted is None else {ACCEPTED: self.accepted}),
            "population": space.population.how,
            "assumptions": list(space.population.assumptions),
        }

    def _counts_of_people(self, figures: Mapping[str, float]) -> dict[str, float]:
        """Return the public figures of small groups and of people unique by kept columns."""
        shown = {"groups_under_11": figures["groups_under_11"]}
        if not is_few(figures["people_under_11"]):
            shown["people_under_11"] = figures["people_under_11"]
        if any(column["role"] in AS_IT_IS for column in self._describe_columns()):
            shown["most_unique_with_kept"] = figures["most_unique_with_kept"]
        return shown

    def _describe_columns(self) -> list[dict[str, str]]:
        """Describe the release's columns. A class id has the role of an identifier.

        Nobody can know the class id of a person beforehand.
        """
        made = {
            field.name: {"from": output.source, "what": output.what, "role": output.role}
            for output in self.outputs
            for field in output.fields
        }
        if self.class_ids is not None:
            what = "random, one for each equivalence class"
            made[CLASS.name] = {"what": what, "role": "identifier"}
        return self.describe_columns(made)

    def find_suppressed_columns(self, known: AnyPublished) -> list[str]:
        return [one.column for one in known.codebook.columns if len(one.entries) == 1]

    def private_manifest(self, known: AnyPublished) -> dict[str, Any]:
        """Return the report's facts on the other policies, so that the report needs no kit."""
        story = report_data(self.content, self.policy, known)
        return {"story": story, AREAS: self._small_areas, **_marginals(known.marginals)}


def _marginals(found: Sequence[ColumnMarginal]) -> dict[str, Any]:
    """Return the part of a manifest for marginals, or nothing if there are none."""
    return {"marginals": [one.to_data() for one in found]} if found else {}
