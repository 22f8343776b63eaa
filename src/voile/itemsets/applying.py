"""The wing's third verb: apply streams a source through a policy into a release."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile import __version__
from voile.engine.shuffle import shuffled
from voile.errors import InfeasibleError, RequestError
from voile.io import Source, Staging, open_source, open_writer, publishing
from voile.io.opening import split_table
from voile.itemsets.certify import certify
from voile.itemsets.content import KIND, Content, Policy
from voile.itemsets.forms import Form
from voile.itemsets.options import ApplyOptions
from voile.itemsets.sources import unlabelled
from voile.itemsets.story import story_of
from voile.kit import Chosen, Kit
from voile.progress import Progress
from voile.random import Protective
from voile.release import FORMAT, VERSION, Release, encode, file_sha256, manifest_path, private_path

ROW, TOKEN = "row", "person"
FEW = 11
NO_LISTS = (".csv", ".tsv", ".jsonl", ".ndjson")
KEPT = ("label", "sensitive", "keep")
WHAT = {
    "binary": "0 and 1, as in the source",
    "categories": "the values published, null where it is another",
    "intervals": "the intervals published, null where it is another",
    "words": "the words published, each once, by the alphabet",
    "items": "the items published, each once, in one order",
}


@dataclass
class Tally:
    """Count what became of every row; `check` asserts that none was lost or made."""

    read: int = 0
    released: int = 0
    held_out: int = 0
    suppressed: int = 0
    set_aside: Counter[tuple[str, str]] = field(default_factory=Counter)
    set_aside_rows: int = 0

    def check(self) -> None:
        """Raise when rows in differ from rows out, set aside, suppressed and held out."""
        out = self.released + self.set_aside_rows + self.suppressed + self.held_out
        if self.read != out:
            raise AssertionError(f"{self.read} rows came in and {out} are accounted for")

    def to_data(self) -> dict[str, Any]:
        """Return the counts for the private manifest."""
        return {
            "read": self.read,
            "released": self.released,
            "held_out": self.held_out,
            "suppressed": self.suppressed,
            "set_aside": self.set_aside_rows,
            "set_aside_by": [
                {"column": column, "reason": reason, "rows": rows}
                for (column, reason), rows in sorted(self.set_aside.items())
            ],
        }


def apply(
    kit: Kit,
    chosen: Chosen,
    source: Source,
    out: Path,
    options: ApplyOptions,
    *,
    force: bool,
    progress: Progress,
) -> Release:
    """Write the chosen features of a source, with labels and kept columns and two manifests.

    Rows stream; memory follows the batch, then the certificate's the release. Each column keeps
    its shape. Their order is drawn anew unless asked to be kept. A row that cannot be read is set
    aside with its reason; one without a label, where those are left out, is suppressed.

    Raises
    ------
    RequestError : the policy is of another kit, the source has other columns, `out` exists.
    InfeasibleError : the release does not keep what the policy promises; nothing is written.
    """
    if chosen.kind != KIND or chosen.kit != kit.id:
        raise RequestError(
            f"the policy was chosen from kit {chosen.kit} and this is kit {kit.id}",
            instead="choose again from this kit",
        )
    content = Content.of(kit)
    content.reading.check(source)
    policy = Policy.from_data(chosen.policy, content.names)
    chosen = _told(chosen, content, policy)
    protective = Protective()
    out, table = split_table(out)
    with Staging(out, force=force) as staging:
        private = staging.folder(private_path(out), mode=0o700)
        flow = _Flow(content, policy, source, protective, private, progress)
        _check_lists(flow, out)
        _write(flow, staging, out, table, private, keep_order=options.keep_order, force=force)
        flow.tally.check()
        progress("certifying", 0)
        rows = open_source(private / "rows.parquet")
        figures = certify(
            open_source(staging.part(out)),
            rows if content.reading.roles.subject else None,
            flow.policy_data,
            policy.constraint,
            directory=staging.scratch(),
        )
        _check_promise(policy, figures)
        public = _public(flow, chosen, figures, file_sha256(staging.part(out)))
        staging.part(manifest_path(out)).write_bytes(encode(public))
        hidden = _private(flow, kit, chosen, figures, public)
        (private / "manifest.json").write_bytes(encode(hidden))
        with publishing(staging.part(out), force=force) as publish:
            staging.commit(publish)
    return Release.open(out)


def _check_lists(flow: _Flow, out: Path) -> None:
    """Refuse to write lists where they would be read back as text, and not be certified."""
    lists = [f.name for f in flow.schema if pa.types.is_nested(f.type) and f.name in flow.kept]
    if lists and out.suffix.lower() in NO_LISTS:
        raise RequestError(
            f"column {lists[0]} holds lists, which {out.suffix} has no type for",
            where=out.name,
            instead="write .parquet",
        )


def _told(chosen: Chosen, content: Content, policy: Policy) -> Chosen:
    """Keep the kit's figures only for the kit's policy: a person may have edited the file."""
    number = chosen.number
    if number is not None and 0 <= number < len(content.frontier):
        own = content.policy(number)
        if own.constraint == policy.constraint and set(own.features) == set(policy.features):
            figures = content.figures_of(number)
            return Chosen(KIND, chosen.kit, number, chosen.how, figures, policy.to_data())
    how = chosen.how if number is None else f"{chosen.how}, then edited"
    return Chosen(KIND, chosen.kit, None, how, {}, policy.to_data())


def _check_promise(policy: Policy, figures: dict[str, float]) -> None:
    """Withdraw a release that breaks its policy's promise, as other data than it saw may make."""
    k = policy.constraint.k
    if figures["rows"] and figures["anonymity"] < k and policy.features:
        raise InfeasibleError(
            f"in the release only {figures['anonymity']:.0f} share what somebody may know of a "
            f"row, and the policy promises {k}",
            instead="fit on this source",
        )


@dataclass
class _Flow:
    """One run of apply: what it needs, and the tally it keeps."""

    content: Content
    policy: Policy
    source: Source
    protective: Protective
    private: Path
    progress: Progress
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        content, roles = self.content, self.content.reading.roles
        self.forms: dict[str, Form] = {form.column: form for form in content.forms}
        masks = zip(self.forms, content.kept(self.policy), strict=True)
        self.kept = {column: mask for column, mask in masks if mask.any()}
        self.shown = [
            name
            for name in self.source.columns
            if name in self.kept or (roles.columns[name].role in KEPT and name != roles.subject)
        ]
        if not self.shown:
            raise InfeasibleError(
                "the policy publishes no column at all", instead="choose one of more features"
            )
        needed = [roles.subject, content.reading.label]
        self.columns = list(dict.fromkeys([*self.shown, *self.forms, *filter(None, needed)]))
        fields = [
            pa.field(
                name, self.forms[name].type if name in self.kept else self.source.columns[name]
            )
            for name in self.shown
        ]
        self.schema = pa.schema(fields)
        tail = [pa.field(ROW, pa.int64())]
        self.subject = roles.subject
        if self.subject is not None:
            tail.append(pa.field(TOKEN, pa.int64()))
        self.tail = pa.schema(tail)
        self.key = self.protective.bytes(16)

    @property
    def policy_data(self) -> list[dict[str, Any]]:
        """The released columns of items, and what may be in them."""
        return [
            self.forms[name].to_data(self.kept[name]) for name in self.shown if name in self.kept
        ]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield released rows beside their number in the source and their person's token."""
        whole = pa.schema([*self.schema, *(f.with_name(f"voile {f.name}") for f in self.tail)])
        with (self.private / "set-aside.csv").open("w", newline="", encoding="utf-8") as file:
            set_aside = csv.writer(file)
            set_aside.writerow(["row", "column", "reason"])
            control_schema = pa.schema([(ROW, pa.int64())])
            with open_writer(self.private / "control.parquet", control_schema) as control:
                for batch in self.source.batches(self.columns):
                    yield self._released(batch, whole, set_aside, control)
                    self.progress("applying", self.tally.read)

    def _released(
        self, batch: pa.RecordBatch, whole: pa.Schema, set_aside: Any, control: Any
    ) -> pa.RecordBatch:
        tally, reading, first = self.tally, self.content.reading, self.tally.read
        rows = np.arange(first, first + len(batch))
        held = reading.hold_out.held(batch, first)
        control.write(pa.RecordBatch.from_arrays([pa.array(rows[held])], [ROW]))
        nameless = unlabelled(batch, reading.label) & ~held
        columns, aside = self._columns(batch, rows, ~(held | nameless), set_aside)
        if reading.nameless != "drop" and nameless.any():
            self._note(reading.label or "", "no label", nameless, rows, set_aside)
            aside |= nameless
        kept = ~(held | nameless | aside)
        tally.read += len(batch)
        tally.held_out += int(held.sum())
        tally.set_aside_rows += int(aside.sum())
        tally.suppressed += int((nameless & ~aside).sum())
        tally.released += int(kept.sum())
        tail = [pa.array(rows)]
        if self.subject is not None:
            tail.append(pa.array(self._tokens(batch.column(self.subject), rows)))
        released = pa.RecordBatch.from_arrays([*columns, *tail], schema=whole)
        return released.filter(pa.array(kept))

    def _columns(
        self,
        batch: pa.RecordBatch,
        rows: NDArray[np.int64],
        counted: NDArray[np.bool_],
        set_aside: Any,
    ) -> tuple[list[pa.Array], NDArray[np.bool_]]:
        """Make the output columns; write down which counted rows cannot be read, and why."""
        aside = np.zeros(len(batch), dtype=np.bool_)
        made: dict[str, pa.Array] = {}
        for column, form in self.forms.items():
            cells = form.cells(batch.column(column))
            lost = cells.lost & counted
            if lost.any():
                self._note(column, form.lacks, lost, rows, set_aside)
                aside |= lost
            if column in self.kept:
                made[column] = form.shown(cells.only(self.kept[column])).cast(form.type)
        return [made[n] if n in made else batch.column(n) for n in self.shown], aside

    def _note(
        self,
        column: str,
        reason: str,
        lost: NDArray[np.bool_],
        rows: NDArray[np.int64],
        set_aside: Any,
    ) -> None:
        self.tally.set_aside[column, reason] += int(lost.sum())
        set_aside.writerows((int(row) + 1, column, reason) for row in rows[lost])

    def _tokens(self, people: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give each person of this run a number that only this run's key could give again."""
        encoded = people.cast(pa.string()).dictionary_encode(null_encoding="encode")
        names = encoded.dictionary.to_pylist()

        def token(name: str) -> int:
            digest = hashlib.blake2b(name.encode(), key=self.key, digest_size=8).digest()
            return int.from_bytes(digest, "big", signed=True)

        places: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)
        known = [0 if name is None else token(f"s{name}") for name in names]
        tokens = np.array(known, dtype=np.int64)[places]
        if None in names:  # a row without a subject is a person of its own
            nobody = places == names.index(None)
            tokens[nobody] = [token(f"r{row}") for row in rows[nobody]]
        return tokens


def _write(
    flow: _Flow,
    staging: Staging,
    out: Path,
    table: str | None,
    private: Path,
    *,
    keep_order: bool,
    force: bool,
) -> None:
    batches: Iterator[pa.RecordBatch] = flow.batches()
    if not keep_order:
        rng = flow.protective.generator()
        batches = shuffled(batches, rng=rng, directory=staging.scratch())
    part = staging.part(out)
    shown = len(flow.schema)
    with ExitStack() as files:
        release = files.enter_context(
            open_writer(f"{part}::{table}" if table else part, flow.schema, force=force)
        )
        truth = files.enter_context(open_writer(private / "rows.parquet", flow.tail))
        for batch in batches:
            columns: Sequence[pa.Array] = batch.columns
            release.write(pa.RecordBatch.from_arrays(columns[:shown], schema=flow.schema))
            truth.write(pa.RecordBatch.from_arrays(columns[shown:], schema=flow.tail))


def _public(flow: _Flow, chosen: Chosen, figures: dict[str, float], sha256: str) -> dict[str, Any]:
    constraint = flow.policy.constraint
    roles = flow.content.reading.roles
    shown = {name: chosen.figures[name] for name in ("k", "loss") if name in chosen.figures}
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "voile": __version__,
        "sha256": sha256,
        "policy": flow.policy_data,
        "columns": [
            {
                "column": name,
                "role": roles.columns[name].role,
                "what": WHAT[flow.forms[name].kind] if name in flow.kept else "as in the source",
            }
            for name in flow.shown
        ],
        "figures": {**shown, **_uniques(figures)},
        "constraints": {
            "k": constraint.k,
            "m": constraint.m,
            "absences": constraint.absences,
        },
    }


def _uniques(figures: dict[str, float]) -> dict[str, float]:
    """Return the share of rows that are alone, unless it tells that they are few."""
    if 0 < figures["unique_rows"] < FEW or not figures["rows"]:
        return {}
    return {"unique_share": figures["unique_share"]}


def _private(
    flow: _Flow, kit: Kit, chosen: Chosen, figures: dict[str, float], public: dict[str, Any]
) -> dict[str, Any]:
    reading = flow.content.reading
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "sha256": public["sha256"],
        "source": {"name": flow.source.name, "sha256": flow.source.fingerprint()},
        "kit": kit.id,
        "chosen": {"number": chosen.number, "how": chosen.how, "figures": dict(chosen.figures)},
        "counts": flow.tally.to_data(),
        "figures": figures,
        "roles": reading.roles.model_dump(mode="json"),
        "forms": [{**form.to_data(), "values": None} for form in flow.content.forms],
        "story": story_of(flow.content, chosen.number),
    }
