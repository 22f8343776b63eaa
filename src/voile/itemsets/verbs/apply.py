"""Apply a policy: stream a source through the chosen features into a certified release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError
from voile.core.progress import Progress
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.data.writer import Writer
from voile.itemsets.rows.forms import FeatureCells, Form
from voile.itemsets.rows.long_tables import release_writer, released
from voile.itemsets.rows.sources import unlabelled
from voile.itemsets.verbs.certify import certify
from voile.itemsets.verbs.content import Content, Policy
from voile.itemsets.verbs.options import ApplyOptions
from voile.itemsets.verbs.report_data import STATING, report_data
from voile.keys.secret import Secret
from voile.release.apply import Applying, Batch, Outcome
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.release.writing import check_lists
from voile.report.suppression import FEW

KEPT = ("label", "sensitive", "keep")
WHAT = {
    "binary": "0 and 1, as in the source",
    "categories": "the values published, null where it is another",
    "intervals": "the intervals published, null where it is another",
    "words": "the words published, each once, by the alphabet",
    "items": "the items published, each once, in one order",
    "long": "the items published, one a row, null where a record has none; records numbered anew",
}


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
    """Write the chosen features of a source, with labels and kept columns and two manifests.

    Rows stream in batches; the certificate needs memory for the release. A row that cannot be read
    is set aside with its reason; one without a label, where those are left out, is suppressed.
    A release that breaks its policy's promise is withdrawn.
    """
    chosen.check(kit)
    content = Content.of(kit)
    content.reader.check(source)
    source = content.reader.records(source)
    policy = Policy.from_data(chosen.policy, content.names)
    policy.warn()
    read = chosen.as_read(content, policy)
    applying = _Applying(kit, read, source, content, policy, options, progress)
    if out is not None:
        applying.check_lists(out)
    return applying.write(out, options, force=force)


def _check_promise(policy: Policy, figures: dict[str, float]) -> None:
    """Withdraw a release that breaks its policy's promise, as other rows than the fit's may."""
    k = policy.constraint.k
    if figures["rows"] and figures["anonymity"] < k and policy.features:
        raise InfeasibleError(
            f"in the release only {figures['anonymity']:.0f} people share what an adversary may "
            f"know of a row, and the policy promises {k}",
            instead="fit on this source",
        )


class _Applying(Applying):
    """Publish the chosen features of rows, each column in the shape that it came in."""

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
        self._content, self._policy, self._reader = content, policy, content.reader
        roles = content.reader.roles
        self._forms: dict[str, Form] = {form.column: form for form in content.forms}
        masks = zip(self._forms, content.masks(policy), strict=True)
        self._kept = {column: mask for column, mask in masks if mask.any()}
        self._seen = {column: np.zeros_like(mask) for column, mask in self._kept.items()}
        self._shown = [
            name
            for name in source.columns
            if name in self._kept or (roles.columns[name].role in KEPT and name != roles.subject)
        ]
        if not self._shown:
            raise InfeasibleError(
                "the policy publishes no column at all", instead="choose one of more features"
            )
        fields = [
            pa.field(n, self._forms[n].type if n in self._kept else source.columns[n])
            for n in self._shown
        ]
        label = self._reader.label
        super().__init__(
            kit,
            chosen,
            source,
            roles=roles,
            hold_out=content.reader.hold_out,
            columns=[*self._shown, *self._forms, *([label] if label else [])],
            schema=pa.schema(fields),
            progress=progress,
            secret=Secret.find(options.key_file),
        )

    def check_lists(self, out: Path) -> None:
        """Refuse formats in which lists would be read back as text, and not be certified."""
        check_lists(out, [one["column"] for one in self._items() if one["kind"] == "items"])

    def writer(self, out: str | AnyPath, *, force: bool, escape: bool) -> Writer:
        return release_writer(out, self.schema, self._items(), force=force, escape=escape)

    def make(self, batch: Batch) -> Outcome:
        without_label = unlabelled(batch.rows, self._reader.label) & batch.counted
        columns, held, aside = self._publish(batch, batch.counted & ~without_label)
        if self._reader.without_label != "drop":
            self.note(batch, self._reader.label or "", "no label", without_label)
            aside |= without_label
        released = batch.counted & ~aside & ~without_label
        for column, cells in held.items():
            self._seen[column][cells.code[released[cells.row]]] = True
        return Outcome(columns, aside, without_label)

    def _publish(
        self, batch: Batch, counted: NDArray[np.bool_]
    ) -> tuple[list[pa.Array], dict[str, FeatureCells], NDArray[np.bool_]]:
        aside = np.zeros(len(batch.numbers), dtype=np.bool_)
        held: dict[str, FeatureCells] = {}
        made: dict[str, pa.Array] = {}
        for column, form in self._forms.items():
            cells = form.cells(batch.rows.column(column))
            lost = cells.lost & counted
            self.note(batch, column, form.lacks, lost)
            aside |= lost
            if column in self._kept:
                held[column] = cells.only(self._kept[column])
                made[column] = form.shown(held[column]).cast(form.type)
        columns = [made[n] if n in made else batch.rows.column(n) for n in self._shown]
        return columns, held, aside

    def certified(self, out: AnyPath, rows: Source, scratch: Path | None) -> dict[str, float]:
        """Count the release's containment groups, and hold them to the policy's k."""
        items = self._items(self._seen)
        figures = certify(
            released(self.opened(out), items),
            rows if self.subject else None,
            items,
            self._policy.constraint,
            directory=scratch,
        )
        _check_promise(self._policy, figures)
        return figures

    def public_manifest(self, figures: Mapping[str, float]) -> dict[str, Any]:
        """State what each column may hold, what was promised, and the share of unique rows."""
        constraint, roles = self._policy.constraint, self._reader.roles
        chosen = self.chosen.figures
        return {
            "policy": self._items(self._seen),
            "columns": [
                {
                    "column": name,
                    "role": roles.columns[name].role,
                    "what": WHAT[self._forms[name].kind]
                    if name in self._kept
                    else "as in the source",
                }
                for name in self._shown
            ],
            "figures": {
                **{name: chosen[name] for name in ("k", "loss") if name in chosen},
                **_uniques(figures),
            },
            "constraints": {
                "k": constraint.k,
                "m": constraint.m,
                "absences": constraint.absences,
            },
        }

    def private_manifest(self) -> dict[str, Any]:
        """Store the cuts of the fit for the attack, and the report's data on the other policies."""
        return {
            "forms": [{**form.to_data(), "values": None} for form in self._content.forms],
            "story": report_data(self._content, self.chosen.number),
        }

    def _items(self, shown: Mapping[str, NDArray[np.bool_]] | None = None) -> list[dict[str, Any]]:
        """Describe the released columns of items, with the values that may be or are in them."""
        shown = shown or self._kept
        return [
            self._forms[name].to_data(shown[name]) for name in self._shown if name in self._kept
        ]


def _uniques(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the share of unique rows, unless it reveals that they are few."""
    if 0 < figures["unique_rows"] < FEW or not figures["rows"]:
        return {}
    return {"unique_share": figures["unique_share"]}
