"""The map of sequences that a kit stores for sessions, and estimates for whole sessions.

The map stays in arrays here. Only the live verbs build its codec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from voile.core.errors import RequestError
from voile.signals.model.codec.steps import Arrays
from voile.signals.model.readings.moments import TimeUnit

HIDDEN = 0.65  # AUC limit: sessions hide the class if the whole interval is below it


@dataclass(frozen=True)
class OverheardSessions:
    """The result of the best attacker on whole sessions of one length."""

    messages: int  # messages per session
    subjects: int  # overheard subjects
    by: str  # name of the attacker
    of: str  # the class that is identified best, against the other classes
    auc: float  # AUC of this class; chance is 1/2
    low: float  # lower end of its 95% interval
    high: float  # upper end of its 95% interval
    without: float  # largest AUC of a class for unprotected readings
    held: float | None = None  # AUC from column presence alone; None: complete
    alone: float = 0.5  # AUC of that class from the known columns alone, which no map hides

    @property
    def hides(self) -> bool:
        """Whether the sessions are shown to hide the class."""
        return self.high <= self.most

    @property
    def reveals(self) -> bool:
        """Whether the sessions are shown to reveal the class.

        If both `hides` and `reveals` are false, the data do not decide.
        """
        return self.low > self.most

    @property
    def most(self) -> float:
        """The largest AUC of a session that hides the class, given the known columns."""
        return self.alone + (1 - self.alone) * (2 * HIDDEN - 1)


SEQUENCE = "sequence"


@dataclass(frozen=True, eq=False)
class SessionFacts:
    """The facts of sessions, and how well sessions hide the class of held-out subjects."""

    arrays: Arrays | None  # of a `SequenceCodec`; None if sessions reveal the class
    unit: TimeUnit | None  # unit of the times in messages; None: readings are counted
    overheard: tuple[OverheardSessions, ...] = ()  # one per length; empty with too few subjects

    @property
    def forgets(self) -> bool:
        """Whether each reading is sent as if it were the first."""
        if self.arrays is None:
            return False
        return not (self.arrays["dynamics.covariance"].any() or self.arrays["dynamics.kept"].any())

    @property
    def partial(self) -> bool:
        """Whether messages may lack columns."""
        return self.arrays is not None and "part.1.columns" in self.arrays

    @property
    def hides(self) -> bool:
        """Whether whole sessions are shown to hide the class."""
        return bool(self.overheard) and all(one.hides for one in self.overheard)

    @property
    def reveals(self) -> bool:
        """Whether whole sessions are shown to reveal the class."""
        return any(one.reveals for one in self.overheard)

    @property
    def summary_sentence(self) -> str:
        """A sentence that states what whole sessions reveal."""
        if self.forgets:
            return (
                "The kit was fitted on one reading of each subject: from a subject's second "
                "message on, the class is gradually revealed. Fit on several readings of each "
                "subject, with --time COLUMN."
            )
        if not self.overheard:
            return "Too few subjects to say what whole sessions reveal."
        worst = max(self.overheard, key=lambda one: (one.reveals, one.high))
        whole = f"sessions of {worst.messages} readings"
        if self.reveals:
            what = f"S{whole[1:]} reveal the class to"
        elif self.hides:
            what = f"S{whole[1:]} hide the class from"
        else:
            what = f"Too few subjects to say whether {whole} hide the class from"
        left_out = (
            "" if self.arrays is not None else " The map of sequences was left out of the kit."
        )
        held = max((one.held or 0.0 for one in self.overheard), default=0.0)
        alone = f"{worst.alone:.2f} by known columns alone, "
        beside = alone if worst.alone > 0.5 else ""
        if held:
            left_out = f" Which columns readings hold reveals an AUC of {held:.2f}.{left_out}"
        return (
            f"{what} an adversary who heard those of "
            f"{worst.subjects:,} other subjects: AUC at least {worst.auc:.2f} ({worst.low:.2f} to "
            f"{worst.high:.2f}) for class {worst.of}, {beside}{worst.without:.2f} if sent as they "
            "are."
            f"{left_out}"
        )

    def facts(self) -> dict[str, Any]:
        unit = asdict(self.unit) if self.unit else None
        return {"unit": unit, "overheard": [asdict(one) for one in self.overheard]}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], arrays: Arrays | None) -> SessionFacts:
        if arrays is not None and "part.0.columns" not in arrays:
            raise RequestError("a map of sequences is of an earlier voile", instead="fit it again")
        unit = TimeUnit(**facts["unit"]) if facts["unit"] else None
        return cls(arrays, unit, tuple(OverheardSessions(**one) for one in facts["overheard"]))
