"""Follow people through releases with other rows, and compute the joint disclosure.

People who look the same in every release form one class. Presence in one release and absence from
another distinguishes a person. So does a change of values between two releases that share
pseudonyms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.ledger.promise import JointFigures
from voile.tables.joint.people import ABSENT, ReleasedPeople, Tokens, mix

Mask = NDArray[np.bool_]


class LastShown(dict[str, tuple[Tokens, Mask]]):
    """The last released value of each person, by pseudonym space and kept column."""


@dataclass(frozen=True, eq=False)
class OutRelease(BriefRepr):
    """A release: the people in it, and the space of their pseudonyms, if it has any."""

    shows = ()

    people: ReleasedPeople
    space: str | None


@dataclass(frozen=True, eq=False)
class ReleaseTimeline(BriefRepr):
    """Releases of one source at several times, the newest last.

    Attributes
    ----------
    before : the earlier releases.
    new : the people whom the newest release would contain.
    same : (people of the newest,) a joint token of each person's groups in releases of exactly the
        same rows. `ABSENT` if none of them contains a row of the person.
    others : (people of the newest,) the number of people outside the data who look like the person.
    """

    shows = ()

    before: Sequence[OutRelease]
    new: OutRelease
    same: Tokens
    others: NDArray[np.float64]

    @cached_property
    def who(self) -> Tokens:
        """Return everybody who is in any of the releases."""
        each = [one.people.select_released().who for one in self.before]
        return np.unique(np.concatenate([*each, self.new.people.who]))

    @cached_property
    def _before(self) -> tuple[Tokens, LastShown]:
        label, last = np.zeros(len(self.who), np.uint64), LastShown()
        for number, one in enumerate(self.before):
            label = self._and(label, one, number, last)
        same = self.new.people.look_up(self.same, self.who)
        return _extend_labels(label, same, len(self.before)), last

    @cached_property
    def before_label(self) -> Tokens:
        """Return each person's joint label in earlier releases, or `ABSENT` without a row."""
        return self._before[0]

    @cached_property
    def label(self) -> Tokens:
        """Return each person's joint label over all releases."""
        label, last = self._before
        return self._and(label, self.new, len(self.before) + 1, LastShown(last))

    def _and(self, label: Tokens, one: OutRelease, number: int, last: LastShown) -> Tokens:
        """Divide classes by one more release, and by changes since the last release."""
        shown = one.people.look_up(one.people.shown, self.who)
        label = _extend_labels(label, shown, number)
        there = shown != ABSENT
        for name, values in one.people.kept.items() if one.space is not None else ():
            own = one.people.look_up(values, self.who)
            key = f"{one.space} {name}"
            known, seen = last.get(key, (own, np.zeros_like(there)))
            changed = there & seen & (own != known)
            label = np.where(changed, mix(label + np.uint64(number + 1)), label)
            last[key] = np.where(there, own, known), seen | there
        return label

    @cached_property
    def _classes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        _, number, counts = np.unique(self.label, return_inverse=True, return_counts=True)
        return number, counts

    @property
    def size(self) -> NDArray[np.intp]:
        """Return the number of people who look like each person in every release."""
        number, counts = self._classes
        return counts[number]

    def figures(self, whole: float) -> JointFigures:
        """Return the figures of all releases joined.

        `whole` is the source's expected number of matches.
        """
        seen = self.label != ABSENT
        if not seen.any():
            return JointFigures(0.0, 0.0, float("inf"))
        outside = self.new.people.look_up(self.others, self.who)[seen]
        size = self.size[seen]
        matches = float((1.0 / (size + outside)).sum())
        return JointFigures(matches, matches / whole if whole else 0.0, float(size.min()))

    def waiting(self, k: int) -> Mask:
        """Return a mask of the newest release's people who must wait.

        They are new people in a class of fewer than k people.
        """
        new = (self.before_label == ABSENT) & (self.label != ABSENT) & (self.size < k)
        return np.asarray(np.isin(self.new.people.who, self.who[new]))

    def small(self, k: int) -> dict[str, int]:
        """Count people in classes below k who came, left, changed or are suppressed."""
        now = self.new.people.look_up(self.new.people.shown, self.who) != ABSENT
        before = self.before_label != ABSENT
        few = (self.size < k) & (self.label != ABSENT)
        return {
            "who came": int((few & now & ~before).sum()),
            "who left": int((few & ~now & before).sum()),
            "who changed or stand in another group": int((few & now & before).sum()),
        }


def _extend_labels(label: Tokens, shown: Tokens, number: int) -> Tokens:
    """Extend labels by one more release. People in neither keep `ABSENT`."""
    with np.errstate(over="ignore"):
        more = mix(label * np.uint64(3) + mix(shown + np.uint64(7 * number + 1)))
    return np.where((label == ABSENT) & (shown == ABSENT), ABSENT, more)
