"""What is noted of documents while they are released."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from voile.core.errors import VoileError
from voile.documents.committee.worker import Failure
from voile.documents.replacements import Reason


@dataclass(frozen=True)
class Worked:
    """What is noted of documents that are released, each counted.

    counts : `COUNTED`, and the documents that the kit learnt from. by : who removed what; labels :
    of what types. failures : why texts that are not blank failed; None counts those that did not.
    """

    counts: Counter[str] = field(default_factory=Counter)
    by: Counter[Reason] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    failures: Counter[Failure | None] = field(default_factory=Counter)

    def check(self) -> None:
        """Refuse a release of which every text failed alike, where no text is to blame."""
        why = next(iter(self.failures), None)
        if why is not None and len(self.failures) == 1 and not why.is_expected:
            raise VoileError(
                f"every text fails alike: {why.why}",
                instead="nothing was written; if this is a defect of voile, report it with this "
                "sentence, which holds nothing of the texts",
            )
