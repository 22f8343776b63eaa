"""The map of sequences that a kit holds for sessions, and what whole sessions reveal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from voile.signals.information.overheard import Overheard
from voile.signals.readings.moments import TimeUnit
from voile.signals.sequences.sequence_codec import SequenceCodec

SEQUENCE = "sequence"


@dataclass(frozen=True, eq=False)
class Sessions:
    """What sessions need, and how far they hide the class of subjects who were held out."""

    codec: SequenceCodec | None  # None: left out, since whole sessions reveal the class
    unit: TimeUnit | None  # of the times that messages say; None: readings are counted
    overheard: tuple[Overheard, ...] = ()  # of each length; nothing where subjects were too few

    @property
    def hides(self) -> bool:
        """Whether whole sessions were shown to hide the class."""
        return bool(self.overheard) and all(one.hides for one in self.overheard)

    @property
    def reveals(self) -> bool:
        """Whether whole sessions were shown to reveal the class."""
        return any(one.reveals for one in self.overheard)

    @property
    def said(self) -> str:
        """What is known of whole sessions, in a sentence."""
        if self.codec and self.codec.forgets:
            return (
                "The kit was fitted on one reading of each subject: from a subject's second "
                "message on, the class is gradually revealed. Fit on several, with --time COLUMN."
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
        left_out = "" if self.codec else " The map of sequences was left out of the kit."
        held = max((one.held or 0.0 for one in self.overheard), default=0.0)
        alone = f"{worst.alone:.2f} by known columns alone, "
        beside = alone if worst.alone > 0.5 else ""
        if held:
            left_out = f" Which columns readings hold reveals an AUC of {held:.2f}.{left_out}"
        return (
            f"{what} an adversary who heard those of "
            f"{worst.subjects:,} other subjects: AUC {worst.auc:.2f} ({worst.low:.2f} to "
            f"{worst.high:.2f}) for class {worst.of}, {beside}{worst.without:.2f} if sent as they "
            "are."
            f"{left_out}"
        )

    def facts(self) -> dict[str, Any]:
        unit = asdict(self.unit) if self.unit else None
        return {"unit": unit, "overheard": [asdict(one) for one in self.overheard]}

    @classmethod
    def from_facts(
        cls, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None
    ) -> Sessions:
        # first: an earlier voile's has no facts
        codec = None if arrays is None else SequenceCodec.from_arrays(arrays)
        unit = TimeUnit(**facts["unit"]) if facts["unit"] else None
        return cls(codec, unit, tuple(Overheard(**one) for one in facts["overheard"]))
