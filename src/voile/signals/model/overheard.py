"""What whole sessions were found to reveal, as the kit and the report state it."""

from __future__ import annotations

from dataclasses import dataclass

HIDDEN = 0.65  # an AUC: a session hides the class if all its interval lies below, reveals if above


@dataclass(frozen=True)
class Overheard:
    """What the best attacker finds in whole sessions of a length."""

    messages: int  # of a session
    subjects: int  # overheard
    by: str  # the attacker
    of: str  # the class that is found best, against the rest
    auc: float  # of that; chance is 1/2
    low: float  # of its 95% interval
    high: float  # of the same
    without: float  # the largest AUC of a class where readings are sent as they are
    held: float | None = None  # the same of which columns readings hold; None: all hold all
    alone: float = 0.5  # AUC of that class by the known columns alone, which no map hides

    @property
    def hides(self) -> bool:
        """Whether the session may be said to hide the class."""
        return self.high <= self.most

    @property
    def reveals(self) -> bool:
        """Whether the session is shown to reveal the class; if neither, nothing can be said."""
        return self.low > self.most

    @property
    def most(self) -> float:
        """The largest AUC of a session that hides the class, given the known columns."""
        return self.alone + (1 - self.alone) * (2 * HIDDEN - 1)
