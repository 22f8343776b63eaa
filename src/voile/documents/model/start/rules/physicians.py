"""Find listed names in lower case after a title: "seen by dr lindqvist"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property

from voile.documents.model.start.lists import TIERS, public_lists
from voile.documents.model.start.rules.vocabulary import vocabulary
from voile.documents.replacements.names import PARTICLES, fold
from voile.documents.replacements.removal import RemovalReason

_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_TITLED = re.compile(
    rf"(?<![\w-])(?:dr|dra|drs|doctor|doctora|mr|mrs|prof|sr|sra)\.? "
    rf"(?P<found>(?:(?:{'|'.join(sorted(PARTICLES))}) ){{0,3}}(?P<first>{_WORD})"
    rf"(?: (?P<second>{_WORD}))?)"
)


@cache
def _names() -> frozenset[str]:
    """Return all listed names except common words."""
    lists = public_lists()
    kinds = (f"{kind} {tier}" for kind in ("given", "surname") for tier in range(1, TIERS + 1))
    names = frozenset().union(*(lists[kind] for kind in kinds))
    return names - vocabulary("english").common - vocabulary("spanish").common


class PhysicianForm:
    """A form that finds one or two listed names in lower case after a title in lower case."""

    name = "title in small letters"
    label = "NAME"
    checked = False

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("rule", self.name)

    @cached_property
    def _listed_names(self) -> frozenset[str]:
        return _names()

    def slices(self, plain: str) -> Iterator[tuple[int, int]]:
        """Yield the offsets of each name in a normalised text. Cost: O(characters)."""
        for match in _TITLED.finditer(plain):
            if not match["found"].islower() or not self._is_listed(match["first"]):
                continue
            second = match["second"]
            is_name = second is not None and self._is_listed(second)
            yield match.start("found"), match.end("second" if is_name else "first")

    def _is_listed(self, word: str) -> bool:
        return all(
            fold(part) in self._listed_names for part in re.split("['’-]", word) if len(part) > 1
        )


PHYSICIAN = PhysicianForm()
