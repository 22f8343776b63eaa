"""The functions of `voile.signals`. Their options are those of `voile signals`."""

from __future__ import annotations

import os
from pathlib import Path

from voile.core.arguments import check_arguments
from voile.core.errors import as_keywords
from voile.core.progress import ProgressHook, silent
from voile.data import open_source
from voile.face.kit import policy_of
from voile.face.verbs import fit_of, own_of
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.signals.module import SIGNALS
from voile.signals.verbs import decode as verb
from voile.signals.verbs.decode import DecodedReadings
from voile.signals.verbs.release_columns import CLASSES

fit = fit_of(SIGNALS)
enrol = own_of(SIGNALS, "enrol")
send = own_of(SIGNALS, "send")
receive = own_of(SIGNALS, "receive")


@check_arguments
def decode(
    kit: StoredKit,
    release: StoredRelease | str | os.PathLike[str],
    policy: Chosen | str | os.PathLike[str],
    classes: object = None,
    out: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: ProgressHook | None = None,
) -> DecodedReadings:
    """Decode the readings of a release, given each subject's class.

    Parameters
    ----------
    kit, policy : the kit and the policy of the release.
    release : the release, or its path.
    classes : a data frame or table with the class of each pseudonym. The default is the table in
        the release's private folder, which only the recipient may have.
    out : a file or table. Without it, the readings stay in memory, as `frame`.
    force : whether to replace the output if voile wrote it.
    progress : called with a task, the finished work and the total work.

    Raises
    ------
    RequestError : the kit or the policy is not that of the release, or a subject has no class.
    """
    sent = release if isinstance(release, StoredRelease) else _open_release(release)
    known: object = sent.folder / CLASSES if classes is None else classes
    with as_keywords():
        return verb.decode(
            kit,
            policy_of(policy),
            sent,
            open_source(known),
            None if out is None else Path(out),
            force=force,
            progress=progress or silent,
        )


@check_arguments
def _open_release(release: str | os.PathLike[str]) -> StoredRelease:
    return StoredRelease.open(release)
