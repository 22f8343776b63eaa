"""Apply a policy: stream the chosen features of a source into a certified release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.data.roles import AS_IT_IS, Roles
from voile.data.writer import BatchWriter
from voile.gate.finding import GateFinding, figures_of
from voile.gate.itemsets import measure_itemsets
from voile.gate.people_of_rows import ORDER
from voile.gate.promises import check_records
from voile.itemsets.rows.forms import ColumnForm
from voile.itemsets.rows.long_tables import RecordsSource, open_released, release_writer
from voile.itemsets.rows.ranges import RangesForm
from voile.itemsets.rows.sources import find_unlabelled
from voile.itemsets.verbs.content import ItemsetsContent
from voile.itemsets.verbs.judging import judge_policy
from voile.itemsets.verbs.options import ApplyOptions
from voile.itemsets.verbs.policies import ItemsetsPolicy
from voile.itemsets.verbs.report_data import STATING, report_data
from voile.keys.pseudonyms import pseudonyms_of, without_subject
from voile.keys.secret import Secret
from voile.release.accepted_risk import ACCEPT
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.manifest import ACCEPTED
from voile.release.outcomes import AsideRows, BatchOutcome, SourceBatch, WrittenRelease
from voile.release.step import ApplyingStep, released_schema
from voile.report.suppression import FEW

WHAT = {
    "binary": "0 and 1, as in the source",
    "categories": "the values published, null where it is another",
    "intervals": "the intervals published, null where it is another",
    "ranges": "an interval that k people or more are in, of numbers or of dates by month",
    "words": "the words published, each once, by the alphabet",
    "items": "the items published, each once, in one order",
    "long": "the items published, one a row, null where a record has none; records renumbered",
}
Seen: TypeAlias = dict[str, NDArray[np.bool_]]
"""For each column, which of its features the released rows have."""


def prepare(
    kit: StoredKit, chosen: Chosen, source: Source, options: ApplyOptions
) -> _ItemsetsApplying:
    """Determine the published columns and features of a source.

    Raises
    ------
    RequestError : the source has other columns, or the policy publishes only a part of a column's
        intervals.
    InfeasibleError : the policy publishes no column.
    """
    content = ItemsetsContent.of(kit)
    reader = content.reader
    reader.check(source)
    source = reader.records(source)
    policy = ItemsetsPolicy.from_data(chosen.policy, content.names)
    policy.warn()
    _check_whole(content, policy)
    masks = {
        form.column: mask
        for form, mask in zip(content.forms, content.masks(policy), strict=True)
        if mask.any()
    }
    types = {form.column: form.type for form in content.forms}
    kinds = {form.column: form.kind for form in content.forms}
    kept = {*reader.roles.of(*AS_IT_IS)} - {reader.roles.subject}
    made = {name: types[name] for name in masks}
    if reader.target is not None:
        made[reader.target.column] = reader.target.type
    secret = Secret.find(options.key_file)
    if options.pseudonyms:
        made[_subject_named(reader.roles, secret)] = pa.string()
    schema = released_schema(source, made, kept)
    if not schema.names:
        raise InfeasibleError(
            "the policy publishes no column at all", instead="choose one of more features"
        )
    return _ItemsetsApplying(
        kit=kit,
        chosen=chosen.as_read(content, policy),
        source=source,
        roles=reader.roles,
        hold_out=reader.hold_out,
        columns=[*schema.names, *types, *filter(None, [reader.label])],
        schema=schema,
        lists=[name for name in schema.names if name in masks and kinds[name] == "items"],
        secret=secret,
        pseudonyms=options.pseudonyms,
        accepted=options.accept_risk or options.override,
        judge=partial(judge_policy, content, policy, source, named=options.pseudonyms),
        content=content,
        policy=policy,
        masks=masks,
    )


def _subject_named(roles: Roles, secret: Secret | None) -> str:
    """Return the column of subjects, which is released as pseudonyms.

    Raises RequestError without such a column or without a secret.
    """
    if roles.subject is None or secret is None:
        raise RequestError(
            "pseudonyms need a column of subjects and a secret",
            where="--pseudonyms",
            instead="name the subject in the roles file, and set VOILE_SECRET or --key-file",
        )
    return roles.subject


def _check_whole(content: ItemsetsContent, policy: ItemsetsPolicy) -> None:
    """Raise RequestError if only a part of a column's intervals is published.

    An adversary who knows a number would then know the meaning of a null.
    """
    for form, mask in zip(content.forms, content.masks(policy), strict=True):
        if isinstance(form, RangesForm) and not form.is_whole(mask):
            raise RequestError(
                "the policy's intervals overlap, or leave numbers out",
                where=f"column {form.column}",
                instead="publish all intervals that the kit has for one k, or none",
            )


def _check_promise(policy: ItemsetsPolicy, figures: dict[str, float]) -> None:
    """Raise InfeasibleError if a release breaks the promise of its policy.

    This can happen if the rows are not those of the fit.
    """
    k = policy.constraint.k
    if figures["rows"] and figures["anonymity"] < k and policy.features:
        raise InfeasibleError(
            f"only {figures['anonymity']:.0f} share an adversary's possible knowledge of a row of "
            f"the release, but the policy promises {k}",
            instead="fit on this source",
        )
    if (fewest := figures.get("interval_anonymity", k)) < k:
        raise InfeasibleError(
            f"in the release the smallest group by all numbers counts {fewest:.0f}, and the policy "
            f"promises {k}",
            instead="fit on this source, or choose a policy as the kit has it",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _ItemsetsApplying(ApplyingStep[Seen, Seen]):
    """Publish the chosen features of the rows, each column in its original shape.

    A row that cannot be read is rejected. A row without a label is suppressed if the fit drops such
    rows. The certificate needs memory for the whole release.

    masks : for each published column, which of its features are published.
    pseudonyms : whether subjects are released as pseudonyms.
    accepted : the reason to release although joined rows single people out.
    """

    stating = STATING

    content: ItemsetsContent
    policy: ItemsetsPolicy
    masks: Mapping[str, NDArray[np.bool_]]
    pseudonyms: bool
    accepted: str | None

    @cached_property
    def forms(self) -> dict[str, ColumnForm]:
        """The columns that are read as features, or as the intervals of the label."""
        target = self.content.reader.target
        return {form.column: form for form in (*self.content.forms, *([target] if target else []))}

    def writer(self, out: str | AnyPath, *, force: bool, escape: bool) -> BatchWriter:
        return release_writer(
            out,
            self.schema,
            self._items(self.masks),
            force=force,
            escape=escape,
            dialect=self.source.origin.dialect,
        )

    def why_alone(self) -> str | None:
        return (
            "its records are spread over rows" if isinstance(self.source, RecordsSource) else None
        )

    def make(self, batch: SourceBatch) -> BatchOutcome[Seen]:
        reader = self.content.reader
        without_label = find_unlabelled(batch.rows, reader.label)
        cells = {name: form.cells(batch.rows.column(name)) for name, form in self.forms.items()}
        aside = [
            AsideRows(name, self.forms[name].lacks, one.lost & ~without_label)
            for name, one in cells.items()
        ]
        if reader.without_label != "drop":
            aside.append(AsideRows(reader.label or "", "no label", without_label))
        named: dict[str, pa.Array] = {}
        if self.pseudonyms:
            subject = str(self.roles.subject)
            named[subject], nobody = self._pseudonyms(batch.rows.column(subject))
            aside.append(AsideRows(subject, "no subject", nobody))
        held = {name: cells[name].only(mask) for name, mask in self.masks.items()}
        if reader.target is not None:
            held[reader.target.column] = cells[reader.target.column]
        released, seen = batch.find_remaining(aside) & ~without_label, self.nothing()
        for name in self.masks:
            seen[name][held[name].code[released[held[name].row]]] = True
        columns = [
            self.forms[name].write_column(held[name]).cast(self.forms[name].type)
            if name in held
            else named.get(name, batch.rows.column(name))
            for name in self.schema.names
        ]
        return BatchOutcome(columns, seen, aside, without_label)

    def _pseudonyms(self, people: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
        """Return the pseudonym of each row's subject, and a mask of the rows without a subject."""
        assert self.secret is not None
        nobody = without_subject(people)
        named = pc.if_else(nobody, "nobody", people.cast(pa.string()))
        return pseudonyms_of(self.secret, named), nobody.to_numpy(zero_copy_only=False)

    def nothing(self) -> Seen:
        return {name: np.zeros_like(mask) for name, mask in self.masks.items()}

    def merge(self, notes: Seen, more: Seen) -> None:
        for name, seen in notes.items():
            np.logical_or(seen, more[name], out=seen)

    def measure(self, written: WrittenRelease[Seen]) -> tuple[GateFinding, ...]:
        """Count the containment groups of the release, and compare them with the policy's k."""
        items, constraint = self._items(written.known), self.policy.constraint
        findings = measure_itemsets(
            open_released(written.rows, items),
            written.people,
            items,
            k=constraint.k,
            m=constraint.m,
            absences=constraint.absences,
            directory=written.scratch,
        )
        _check_promise(self.policy, figures_of(findings))
        if self.accepted is None:
            check_records(findings, constraint.k, instead=self._list_choices(findings))
        return findings

    def _list_choices(self, findings: Sequence[GateFinding]) -> str:
        """List the choices of a data holder if joined rows single people out."""
        unjoined = "fit without the columns that join rows"
        if self.pseudonyms:
            unjoined = "apply without --pseudonyms"
        elif any(ORDER in one.knows for one in findings):
            unjoined = "apply without --keep-order"
        return f"choose one: {unjoined}, release a source with one row of each person, or {ACCEPT}"

    def public_manifest(self, figures: Mapping[str, float], known: Seen) -> dict[str, Any]:
        """Return the possible values of each column, the promise, and the share of unique rows."""
        constraint, chosen = self.policy.constraint, self.chosen.figures
        return {
            "policy": self._items(known),
            "columns": self.describe_columns(
                {
                    name: {"role": self.roles.columns[name].role, "what": WHAT[form.kind]}
                    for name, form in self.forms.items()
                    if name in self.masks or form is self.content.reader.target
                }
                | self._of_people()
            ),
            "figures": {
                **{name: chosen[name] for name in ("k", "utility_lost") if name in chosen},
                **_uniques(figures),
            },
            "constraints": {"k": constraint.k, "m": constraint.m, "absences": constraint.absences},
            **({} if self.accepted is None else {ACCEPTED: self.accepted}),
        }

    def private_manifest(self, known: Seen) -> dict[str, Any]:
        """Return the fit's split points for `attack`, and the report's data on other policies."""
        return {
            "forms": [self._describe_form(form) for form in self.content.forms],
            "target": self.content.reader.target and self.content.reader.target.to_data(),
            "story": report_data(self.content, self.chosen.number),
        }

    def _of_people(self) -> dict[str, dict[str, str]]:
        what = {"role": "identifier", "what": "pseudonym, keyed by a secret"}
        return {str(self.roles.subject): what} if self.pseudonyms else {}

    def _describe_form(self, form: ColumnForm) -> dict[str, Any]:
        """Return a form without the values of the source.

        Intervals are limited to those of the policy.
        """
        if isinstance(form, RangesForm):
            return form.to_data(self.masks.get(form.column, np.zeros(len(form.values), np.bool_)))
        return {**form.to_data(), "values": None}

    def _items(self, shown: Mapping[str, NDArray[np.bool_]]) -> list[dict[str, Any]]:
        return [
            self.forms[name].to_data(shown[name]) for name in self.schema.names if name in shown
        ]


def _uniques(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the share of people unique by all rows, and of unique rows if it reveals no few."""
    shown = ["most_unique_all_rows"] * ("most_unique_all_rows" in figures)
    if not 0 < figures["unique_rows"] < FEW and figures["rows"]:
        shown.append("unique_share")
    return {name: figures[name] for name in shown}
