"""Write the determination of a study's release, with the secret, ledger and context of its plan."""

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
    study : an open study. Its plan sets the secret and the ledger.
    context : a TOML file, or the content of one. None selects the context in the plan.
    out : the folder to write. `force` replaces an unsigned determination.
    pdf : whether to print the page to PDF if Chromium is installed.

    Raises
    ------
    RequestError : the context is missing or has mistakes, or the study has no release.
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
