"""Attack a release with overlapping leaves, with the adversary's tables read by exact values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.tables.attack.inference import SensitiveRecords, inference
from voile.tables.attack.records import IntervalRecords
from voile.tables.attack.singling_out import singling_out
from voile.tables.foreign.overlap import count_fitting, link_by_fit
from voile.tables.verbs.assess_stage import ForeignTablesStage
from voile.tables.verbs.attack_tasks import BY_REGISTER, THRESHOLDS, Task, attacks_on


def overlapping_attacks(
    stage: ForeignTablesStage, draws: Sequence[np.random.Generator]
) -> Iterator[Task]:
    """Return the attacks that the adversary's data allows.

    Raises
    ------
    RequestError : the adversary knows kept columns, which these attacks do not support.
    """
    if stage.options.knows:
        raise RequestError(
            "the released boxes overlap, and a register is then compared by quasi-identifiers",
            instead="leave --knows out; people unique on all released columns are counted",
        )
    return attacks_on(stage, draws, (_linkage, _singling_out, _inference))


def _linkage(stage: ForeignTablesStage, rng: np.random.Generator) -> Evidence:
    thresholds = sorted({*THRESHOLDS, stage.options.threshold})
    return link_by_fit(
        stage.codebook.holds,
        stage.released_records,
        stage.register_by_value,
        columns=stage.quasi,
        rng=rng,
        thresholds=thresholds,
    )


def _singling_out(stage: ForeignTablesStage, rng: np.random.Generator) -> Evidence:
    by_register = stage.options.population is None
    found = singling_out(
        stage.released_records,
        stage.register_by_value if by_register else stage.population_by_value,
        columns=stage.quasi,
        rng=rng,
        kept=stage.kept_codes,
        held_out=stage.held_out_by_value,
        people=stage.released_by_value,
        count=count_fitting(stage.codebook.holds),
    )
    return replace(found, notes=(*found.notes, BY_REGISTER)) if by_register else found


def _inference(stage: ForeignTablesStage, column: str, rng: np.random.Generator) -> Evidence:
    released = stage.cases(column)
    known = stage.codebook.codes_at(stage.released_by_value.codes)
    return inference(
        released,
        columns=stage.quasi,
        sensitive=column,
        rng=rng,
        held_out=stage.cases_held_out(column),
        targets=SensitiveRecords(IntervalRecords(known, released.records.subject), released.values),
    )
