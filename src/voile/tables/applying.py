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
from voile.kit import Chosen, Kit
from voile.progress import Progress
from voile.random import Protective
from voile.release import FORMAT, VERSION, Release, encode, file_sha256, manifest_path, private_path
from voile.tables.certify import certify
from voile.tables.codebook import Codebook
from voile.tables.content import KIND, Content
from voile.tables.fitting import chosen_of
from voile.tables.options import ApplyOptions
from voile.tables.plan import Output, find_secret, plan
from voile.tables.policy import Policy
from voile.tables.recode import Recoded, Recoder
from voile.wording import FEW, is_few

ROW, TOKEN = "row", "person"
OUTSIDE, UNMADE = "a value outside its domain", "a value that cannot be pseudonymised or shifted"


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
    """Write the release of a source under a chosen policy, with its two manifests.

    Rows stream; memory follows the batch. Their order is drawn anew unless asked to be kept. A
    row with a value outside its domain is set aside with its reason, one whose group breaks the
    constraints is suppressed, and what came in equals what went out plus those.

    Raises
    ------
    RequestError : the policy is of another kit, the source has other columns, `out` exists.
    InfeasibleError : the policy, or the release it makes of this source, breaks the kit's
        constraints.
    """
    if chosen.kind != KIND or chosen.kit != kit.id:
        raise RequestError(
            f"the policy was chosen from kit {chosen.kit} and this is kit {kit.id}",
            instead="choose again from this kit",
        )
    content = Content.of(kit)
    content.roles.check(source.columns)
    policy = Policy.from_data(content.space.domains, chosen.policy)
    chosen = _scored(chosen, content, policy)
    secret = find_secret(options.key_file)
    outputs = plan(policy, content.roles, source.columns, bounds=options.bounds, secret=secret)
    protective = Protective()
    out, table = split_table(out)
    with Staging(out, force=force) as staging:
        private = staging.folder(private_path(out), mode=0o700)
        flow = _Flow(content, policy, outputs, source, protective, private, progress)
        keep_order = options.keep_order
        _write(flow, staging, staging.part(out), table, private, keep_order=keep_order, force=force)
        flow.tally.check()
        codebook = Codebook.of(policy, bounds=options.bounds)
        progress("certifying", 0)
        figures = _certificate(flow, codebook, staging.part(out), private, staging.scratch())
        _check_constraints(content, figures)
        public = _public(flow, chosen, codebook, figures, staging.part(out))
        staging.part(manifest_path(out)).write_bytes(encode(public))
        hidden = _private(flow, kit, chosen, figures, public["sha256"])
        (private / "manifest.json").write_bytes(encode(hidden))
        with publishing(staging.part(out), force=force) as publish:
            staging.commit(publish)
    return Release.open(out)


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
    same = chosen.number is not None and _is_number(chosen.number, content, policy)
    how = chosen.how if same or chosen.number is None else f"{chosen.how}, then edited"
    number = chosen.number if same else None
    return chosen_of(chosen.kit, content, policy, number, how)


def _is_number(number: int, content: Content, policy: Policy) -> bool:
    rows = content.frontier.policies
    return 0 <= number < len(rows) and np.array_equal(rows[number], policy.bits)


def _check_constraints(content: Content, figures: dict[str, float]) -> None:
    """Refuse a release that breaks what its kit promises, as other data than it saw may make."""
    rules = content.space.constraints
    values = figures.get(f"distinct_l({content.sensitive})", np.inf)
    if figures["max_risk"] > rules.max_risk + 1e-9:
        raise InfeasibleError(
            f"a record of the release has a risk of {figures['max_risk']:.4g}, and the kit asks "
            f"for {rules.max_risk:g} at most",
            instead="fit on this source",
        )
    if figures["k"] < rules.k or values < rules.l_diversity:
        raise InfeasibleError(
            f"a group of the release holds {figures['k']:.0f} people or {values:.0f} sensitive "
            f"values, and the kit asks for {rules.k} and {rules.l_diversity}",
            instead="fit on this source",
        )


@dataclass
class _Flow:
    """One run of apply: what it needs, and the tally it keeps."""

    content: Content
    policy: Policy
    outputs: Sequence[Output]
    source: Source
    protective: Protective
    private: Path
    progress: Progress
    tally: Tally = field(default_factory=Tally)
    dropped: list[NDArray[np.int64]] = field(default_factory=list)

    def __post_init__(self) -> None:
        groups, _, kept = self.content.space.groups(self.policy)
        rules = self.content.space.constraints
        bound = rules.k > 1 or rules.max_risk < 1 or rules.l_diversity > 1
        self.recoder = Recoder(self.policy, groups[kept] if bound else None)
        self.key = self.protective.bytes(16)
        needed = [output.source for output in self.outputs]
        subject = self.content.roles.subject
        self.columns = list(dict.fromkeys([*needed, *([subject] if subject else [])]))
        fields = [f for output in self.outputs for f in output.fields]
        self.schema = pa.schema(fields)
        tail = [pa.field(ROW, pa.int64())] + ([pa.field(TOKEN, pa.int64())] if subject else [])
        self.whole = pa.schema([*fields, *tail])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield released rows beside their number in the source and their person's token."""
        with (self.private / "set-aside.csv").open("w", newline="", encoding="utf-8") as file:
            set_aside = csv.writer(file)
            set_aside.writerow(["row", "column", "reason"])
            schema = pa.schema([(ROW, pa.int64())])
            with open_writer(self.private / "control.parquet", schema) as control:
                for batch in self.source.batches(self.columns):
                    yield self._released(batch, set_aside, control)
                    self.progress("applying", self.tally.read)

    def _released(self, batch: pa.RecordBatch, set_aside: Any, control: Any) -> pa.RecordBatch:
        first = self.tally.read
        self.tally.read += len(batch)
        rows = np.arange(first, first + len(batch))
        held = self.content.hold_out.held(batch, first)
        control.write(pa.RecordBatch.from_arrays([pa.array(rows[held])], [ROW]))
        self.tally.held_out += int(held.sum())
        recoded = self.recoder(batch)
        arrays, aside = self._made(batch, recoded, rows, ~held, set_aside)
        suppressed = recoded.suppressed & ~aside & ~held
        self.tally.suppressed += int(suppressed.sum())
        self.tally.set_aside_rows += int(aside.sum())
        kept = ~(held | aside | suppressed)
        self.tally.released += int(kept.sum())
        tail = [pa.array(rows)]
        if self.content.roles.subject is not None:
            tokens = self._tokens(batch.column(self.content.roles.subject), rows)
            self.dropped.append(np.unique(tokens[suppressed]))
            tail.append(pa.array(tokens))
        whole = pa.RecordBatch.from_arrays([*arrays, *tail], schema=self.whole)
        return whole.filter(pa.array(kept))

    def _made(
        self,
        batch: pa.RecordBatch,
        recoded: Recoded,
        rows: NDArray[np.int64],
        counted: NDArray[np.bool_],
        set_aside: Any,
    ) -> tuple[list[pa.Array], NDArray[np.bool_]]:
        """Make the output columns; write down which counted rows are set aside, and why."""
        aside = np.zeros(len(batch), dtype=np.bool_)

        def note(column: str, reason: str, lost: NDArray[np.bool_]) -> None:
            lost = lost & counted
            if lost.any():
                self.tally.set_aside[column, reason] += int(lost.sum())
                set_aside.writerows((int(row) + 1, column, reason) for row in rows[lost])
                aside[lost] = True

        for place, domain in enumerate(self.policy.domains):
            note(domain.column, OUTSIDE, recoded.intervals[:, place] < 0)
        safe = Recoded(np.maximum(recoded.intervals, 0), recoded.suppressed)
        arrays: list[pa.Array] = []
        for output in self.outputs:
            made, lost = output.make(batch, safe)
            arrays += made
            if lost is not None:
                note(output.source, UNMADE, lost)
        return arrays, aside

    def suppressed_people(self, released: Source) -> int:
        """Count the subjects all of whose released rows were suppressed; rows without a subject."""
        if self.content.roles.subject is None:
            return self.tally.suppressed
        people = np.unique(np.concatenate([np.zeros(0, np.int64), *self.dropped]))
        for batch in released.batches([TOKEN]):
            people = np.setdiff1d(people, batch.column(0).to_numpy())
        return len(people)

    def _tokens(self, people: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give each person of this run a number that only this run's key could give again."""
        encoded = people.dictionary_encode(null_encoding="encode")
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
    named = f"{out}::{table}" if table else out
    shown = len(flow.schema)  # by place: a kept column may be called as one of ours
    tail = pa.schema([flow.whole.field(i) for i in range(shown, len(flow.whole))])
    with ExitStack() as files:
        release = files.enter_context(open_writer(named, flow.schema, force=force))
        truth = files.enter_context(open_writer(private / "rows.parquet", tail))
        for batch in batches:
            columns = batch.columns
            release.write(pa.RecordBatch.from_arrays(columns[:shown], schema=flow.schema))
            truth.write(pa.RecordBatch.from_arrays(columns[shown:], schema=tail))


def _certificate(
    flow: _Flow, codebook: Codebook, out: Path, private: Path, scratch: Path
) -> dict[str, float]:
    rows = open_source(private / "rows.parquet")
    return certify(
        open_source(out),
        rows if flow.content.roles.subject else None,
        codebook,
        unknown=[f.name for o in flow.outputs if o.role == "identifier" for f in o.fields],
        policy=flow.policy,
        space=flow.content.space,
        sensitive=[c for c in flow.content.roles.of("sensitive") if c in flow.schema.names],
        suppressed=flow.suppressed_people(rows),
        directory=scratch,
    )


def _public(
    flow: _Flow, chosen: Chosen, codebook: Codebook, figures: dict[str, float], out: Path
) -> dict[str, Any]:
    shown = ["mean_risk", "max_risk"]
    if not is_few(figures["share_under_11"], flow.content.space.evaluator.subjects, "public"):
        shown.append("share_under_11")
    rules = flow.content.space.constraints
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "voile": __version__,
        "sha256": file_sha256(out),
        "policy": codebook.to_data(),
        "columns": [
            {"column": name, "from": output.source, "what": output.what, "role": output.role}
            for output in flow.outputs
            for name in (field.name for field in output.fields)
        ],
        "figures": {
            **{name: figures[name] for name in shown if np.isfinite(figures[name])},
            **{name: figures[name] for name in ("k", "k_map") if FEW <= figures[name] < np.inf},
            "relative_risk": chosen.figures["relative_risk"],
            "loss": chosen.figures["loss"],
        },
        "measures": {
            kind: {"title": asked.title, "formula": asked.formula}
            for kind, asked in flow.content.measures.items()
        },
        "constraints": {
            "k": rules.k,
            "max_risk": rules.max_risk,
            "l_diversity": rules.l_diversity,
            "suppress": rules.suppress,
        },
        "population": flow.content.space.population.how,
        "assumptions": list(flow.content.space.population.assumptions),
    }


def _private(
    flow: _Flow, kit: Kit, chosen: Chosen, figures: dict[str, float], sha256: str
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "sha256": sha256,
        "source": {"name": flow.source.name, "sha256": flow.source.fingerprint()},
        "kit": kit.id,
        "chosen": {"number": chosen.number, "how": chosen.how, "figures": dict(chosen.figures)},
        "counts": flow.tally.to_data(),
        "figures": {name: value for name, value in figures.items() if np.isfinite(value)},
        "roles": flow.content.roles.model_dump(mode="json"),
        "story": _story(flow.content, flow.policy),
    }


def _story(content: Content, policy: Policy) -> dict[str, Any]:
    """Keep what the report says of the other policies, so that it needs no kit."""
    from voile.tables.story import story_of

    return story_of(content, policy)
