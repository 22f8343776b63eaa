"""The facts from which a report is written, in the form that its audience may read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from voile.core.rounding import StatingRules, for_audience
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.report.sections import Audience

Facts: TypeAlias = Mapping[str, Any]


def facts_for(
    audience: Audience,
    subject: StoredKit | StoredRelease,
    gather: Callable[[StoredKit], Facts],
    stating: StatingRules,
) -> tuple[Facts, Facts, Facts]:
    """Return the module's facts of a kit, the public manifest and the private manifest.

    For a release, the facts are those stored when it was made. A kit has empty manifests. For the
    public, all figures are rounded.
    """
    if isinstance(subject, StoredKit):
        return for_audience(gather(subject), audience, stating), {}, {}
    private = for_audience(subject.private or {}, audience, stating)
    return private.get("story", {}), subject.public, private
