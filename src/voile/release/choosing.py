"""Choose one policy of a kit, by its frontier or by a ledger of earlier releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voile.core.errors import RequestError

if TYPE_CHECKING:
    from voile.data import Source
    from voile.release.choice import Chosen
    from voile.release.kit import StoredKit
    from voile.release.module import AnyModule


def choose_by(
    module: AnyModule,
    kit: StoredKit,
    ways: Mapping[str, Any],
    after: Path | None = None,
    *,
    key_file: Path | None = None,
    releases: Sequence[Path] = (),
    source: Source | None = None,
    hold_back: bool = False,
    recipient: str | None = None,
    recount: bool = False,
) -> Chosen:
    """Choose one policy of a kit by exactly one criterion.

    Parameters
    ----------
    ways : values of the criteria in the module's `ways`, by name. None and False are ignored.
    after : a ledger. The chosen policy is safe given the releases of this ledger.
    key_file, releases, source, hold_back, recipient, recount : options for the ledger, as in
        `ChooseAfter`.

    Raises
    ------
    RequestError : no criterion or several are given, or an option needs a ledger.
    """
    from voile.release.choice import Choice, check_exactly_one

    given = {n: x for n, x in ways.items() if x is not None and x is not False}
    if after is None:
        by_ledger = {
            "key-file": key_file,
            "releases": releases,
            "source": source,
            "hold-back": hold_back,
            "recipient": recipient,
            "recount": recount,
        }
        for name in (name for name, value in by_ledger.items() if value):
            raise RequestError(
                f"--{name} applies only with a ledger", instead="give the ledger with --after"
            )
        check_exactly_one({**dict.fromkeys(module.ways), **given})
        return module.choose(kit, Choice.parse(given))
    joint_risk = given.pop("joint_risk", None)
    if given:
        raise RequestError(
            f"--after chooses by the joint risk, and {', '.join(given)} chooses otherwise",
            instead=f"replace {', '.join(given)} with --joint-risk, or leave --after out",
        )
    if module.choose_after is None:
        raise RequestError(f"voile cannot evaluate releases of {module.kind} together")
    return module.choose_after(
        kit,
        after,
        key_file=key_file,
        joint_risk=joint_risk,
        releases=releases,
        source=source,
        hold_back=hold_back,
        recipient=recipient,
        recount=recount,
    )
