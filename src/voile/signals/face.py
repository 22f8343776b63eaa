"""What a user calls; the options are those of `voile signals`."""

from __future__ import annotations

import os
from pathlib import Path

from voile.core.arguments import check_arguments
from voile.core.errors import as_keywords
from voile.core.progress import Progress, silent
from voile.data import open_source
from voile.face.kit import policy_of
from voile.face.release import open_release
from voile.face.verbs import fit_of, own_of
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.signals.verbs import decode as verb
from voile.signals.verbs.decode import Decoded
from voile.signals.verbs.release_columns import CLASSES

fit = fit_of("signals")
enrol = own_of("signals", "enrol")
send = own_of("signals", "send")
receive = own_of("signals", "receive")


@check_arguments
def decode(
    kit: Kit,
    release: Release | str | os.PathLike[str],
    policy: Chosen | str | os.PathLike[str],
    classes: object = None,
    out: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Decoded:
    """Decode the readings of a release, knowing each subject's class.

    Parameters
    ----------
    kit, policy : what the release was made with.
    release : the release, or its path.
    classes : a frame or table of the class of each pseudonym; without it the one in the private
        folder of the release, which is for the recipient alone.
    out : a file or table; without it the readings are in memory, as `frame`.
    force : replace the output if voile wrote it.
    progress : called with a task, how much of it is done, and of how much.

    Raises
    ------
    RequestError : another kit or policy than the release's; a subject without a class.
    """
    sent = release if isinstance(release, Release) else open_release(release)
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
