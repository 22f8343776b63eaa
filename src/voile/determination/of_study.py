"""Write the determination of a study's release, with its plan's secret, ledger and context."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, name_kind
from voile.determination.determination import Determination
from voile.determination.determine_release import determine
from voile.study.determined import open_subject
from voile.study.study import Study


@check_arguments
def determine_study(
    study: Study,
    context: str | PathLike[str] | Mapping[str, Any] | None,
    out: str | PathLike[str],
    *,
    pdf: bool = True,
    force: bool = False,
) -> Determination:
    """Evaluate a study's release for a recipient and a purpose, and write the folder to sign.

    Parameters
    ----------
    study : an open study, whose plan sets the secret and the ledger.
    context : a TOML file, or the content of one; None for the context in the plan.
    out : the folder; `force` replaces an unsigned determination.
    pdf : print the page where there is a Chromium.

    Raises
    ------
    RequestError : no context, or one with mistakes; the study has no release.
    TamperedError : the release or its evidence changed after sealing.
    """
    if not isinstance(study, Study):
        raise RequestError(
            f"{name_kind(study)} is no study", instead="give voile.study.Study.open(plan)"
        )
    with study.words():
        plan = study.plan
        given = plan.context if context is None else context
        if given is None:
            raise RequestError(
                "a determination needs a context: recipient, purpose, thresholds, expiry",
                instead="give its file, or set context in the plan's [determination]",
            )
        return determine(
            open_subject(plan.release),
            given,
            out,
            key_file=plan.key_file,
            ledger=plan.ledger,
            pdf=pdf,
            force=force,
        )
