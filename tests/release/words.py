"""A wing of one column, and a source of people and their words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from voile.core.rounding import StatingRules
from voile.data import open_source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.gate.finding import GateFinding, StatedAdversary
from voile.keys.secret import Secret
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.release.options import ApplyOptions
from voile.release.outcomes import AsideRows, BatchOutcome, SourceBatch, WrittenRelease
from voile.release.step import ApplyingStep

ROLES = Roles.model_validate(
    {"subject": "who", "columns": {"who": "identifier", "visit": "drop", "word": "keep"}}
)
ALONE = Roles.model_validate({"columns": {"who": "identifier", "visit": "drop", "word": "keep"}})
KIT = StoredKit("tables", "private", {"policies": 1})
CHOSEN = Chosen("tables", KIT.id, 0, Choice(policy=0), {"loss": 0.5}, {}, edited=True)
SECRET = Secret(bytes(32))
NOBODY = HoldOut(0.0, bytes(16), None)
IN_ORDER = ApplyOptions(keep_order=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Words(ApplyingStep[Counter[str], Counter[str]]):
    """Release a column of words: blank ones are set aside, and "rare" ones suppressed."""

    stating = StatingRules()
    batch_rows = 4

    found: dict[str, Any] = field(default_factory=dict)

    def make(self, batch: SourceBatch) -> BatchOutcome[Counter[str]]:
        words = batch.rows.column("word")
        blank = words.is_null().to_numpy(zero_copy_only=False)
        rare = pc.equal(words, "rare").fill_null(True).to_numpy(zero_copy_only=False)
        notes = Counter({"batches": 1, "rows": len(words)})
        return BatchOutcome([words], notes, [AsideRows("word", "no word", blank)], rare)

    def nothing(self) -> Counter[str]:
        return Counter()

    def merge(self, notes: Counter[str], more: Counter[str]) -> None:
        notes.update(more)

    def conclude(self, notes: Counter[str]) -> Counter[str]:
        return Counter(notes)

    def measure(self, written: WrittenRelease[Counter[str]]) -> tuple[GateFinding, ...]:
        assert written.scratch is None or not any(written.scratch.iterdir())
        self.found["people"] = written.suppressed_people()
        batches = written.rows.batches(["word"])
        self.found["seen"] = [word for b in batches for word in b.column(0).to_pylist()]
        reader = StatedAdversary("has the release")
        return reader.finds("loss", 0.1234, "share"), reader.finds("bits", math.inf, "values")

    def public_manifest(self, figures: Mapping[str, float], known: Counter[str]) -> dict[str, Any]:
        return {"figures": {"loss": figures["loss"]}, "columns": []}

    def private_manifest(self, known: Counter[str]) -> dict[str, Any]:
        return {"own": dict(known)}


PEOPLE = ["Ana", "Ana", "Leo", None, "Ana", "Eva", "Leo", None, "Ida", "Eva", "Ida", "Kim"]
WORDS = ["a", "b", "rare", "d", None, "rare", "g", "h", "rare", "rare", None, "=l"]
RELEASED = [0, 1, 3, 6, 7, 11]


def source(people: Sequence[str | None] = PEOPLE, words: Sequence[str | None] = WORDS) -> Any:
    visits = [f"v{row}" for row in range(len(people))]
    columns = {"who": people, "visit": visits, "word": words}
    return open_source(pa.table({name: pa.array(x, pa.string()) for name, x in columns.items()}))


def run(kind: type[Words] = Words, **more: Any) -> Words:
    asked = {
        "kit": KIT,
        "chosen": CHOSEN,
        "source": source(),
        "roles": ROLES,
        "hold_out": NOBODY,
        "columns": ["word"],
        "schema": pa.schema([("word", pa.string())]),
        "secret": SECRET,
    }
    return kind(**{**asked, **more})


def private(out: Path, name: str) -> Path:
    return out.with_name(f"{out.name}.private") / name


def column(path: Path, name: str) -> list[Any]:
    found: list[Any] = pq.read_table(path)[name].to_pylist()
    return found
