"""What a report is written from, as its audience may read it."""

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
    """Return what the wing gathered of a kit, now or when its release was made; both manifests.

    A kit has none. For the public, figures are those that the public manifest states.
    """
    if isinstance(subject, StoredKit):
        return for_audience(gather(subject), audience, stating), {}, {}
    private = for_audience(subject.private or {}, audience, stating)
    return private.get("story", {}), subject.public, private
