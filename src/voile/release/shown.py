"""The facts that a report is written from, as its audience may read them."""

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
    """Return the wing's facts of a kit, now or at the time of its release, and both manifests.

    A kit has none. For the public, the figures are the public manifest's.
    """
    if isinstance(subject, StoredKit):
        return for_audience(gather(subject), audience, stating), {}, {}
    private = for_audience(subject.private or {}, audience, stating)
    return private.get("story", {}), subject.public, private
