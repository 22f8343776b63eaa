"""Write a release: each row of the source passes through the step prepared by a module."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from voile.core.errors import RequestError
from voile.core.progress import ProgressHook
from voile.data import Source
from voile.data.frames import frame_of
from voile.engines.spark import on_spark
from voile.release.choice import Chosen
from voile.release.entering import EntryProcedure, enter, no_bound
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.options import ApplyOptions
from voile.release.run import ReleaseRun
from voile.release.spread.run import SpreadRun
from voile.release.step import ApplyingStep
from voile.release.verb_types import Prepare
from voile.release.writing import Manifests, ReleaseParts, check_lists, write_release

A = TypeVar("A", bound=ApplyOptions)


def apply_by(
    prepare: Prepare[A],
    kit: StoredKit,
    chosen: Chosen,
    source: Source,
    out: Path | None,
    options: A,
    *,
    force: bool,
    progress: ProgressHook,
) -> StoredRelease:
    """Write the release of a source under a chosen policy, with its two manifests.

    The release appears completely or not at all. Without `out` it is in memory.

    Rows are streamed. Memory is proportional to the batch, unless the module documents otherwise.
    The row order is shuffled unless the options keep it. The number of rows read is the sum of the
    released, rejected (with reasons), suppressed and held-out rows.
    """
    chosen.check(kit)
    applying = prepare(kit, chosen, source, options)
    spread = partial(SpreadRun, prepare=prepare, engine=on_spark)
    run = spread if options.engine == "spark" else ReleaseRun
    return write(applying, out, options, force=force, progress=progress, run=run)


def write(
    applying: ApplyingStep[Any, Any],
    out: Path | None,
    options: ApplyOptions,
    *,
    force: bool,
    progress: ProgressHook,
    run: Callable[..., ReleaseRun[Any, Any]] = ReleaseRun,
) -> StoredRelease:
    """Pass every row of a source through the prepared step, and certify the written release."""

    def fill(parts: ReleaseParts) -> Manifests:
        return run(applying, options, progress).fill(parts, force=force)

    if out is not None:
        check_lists(out, applying.lists)
    like = frame_of(applying.source)
    how: Any = {"secret": applying.secret, "like": like, "force": force}
    entering = _entering(applying, options)
    if entering is None:
        return write_release(out, fill, **how)
    with enter(entering, applying.kit, out) as entry:

        def fill_entered(parts: ReleaseParts) -> Manifests:
            public, private = fill(parts)
            entry.write_beside(parts.private)
            return {**public, **entry.public}, {**private, **entry.private}

        release = write_release(out, fill_entered, before=entry.intend, **how)
        entry.finish()
    return release


def _entering(applying: ApplyingStep[Any, Any], options: ApplyOptions) -> EntryProcedure | None:
    """Return the procedure for entering the release in a ledger, or None without a ledger."""
    if options.ledger is None:
        if options.override is not None:
            raise RequestError(
                "--override applies only with a ledger", instead="give the ledger with --ledger"
            )
        return None
    judge = applying.judge or no_bound(applying.kit.kind)
    recipient = getattr(options, "recipient", None)  # not every kind has this option
    return EntryProcedure(options.ledger, options.key_file, judge, options.override, recipient)
