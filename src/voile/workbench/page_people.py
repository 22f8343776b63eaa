"""The people who use the page, and the contents and buttons of each person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voile.core.errors import RequestError

HOLDER, REVIEWER, APPROVER = "Data holder", "Reviewer", "Approver"
OTHERS = {"reviewer": REVIEWER, "approver": APPROVER}
"""The people other than the data holder, by the values of `voile open --person`."""


@dataclass(frozen=True)
class PersonRights:
    """The rights of one person.

    Parameters
    ----------
    acts : the buttons that the person may press.
    blocks : the names of screen blocks with public content.
    task : the sentence on the page about the person's task.
    """

    acts: frozenset[str]
    blocks: frozenset[str]
    task: str

    def filter_screen(self, name: str, screen: Mapping[str, Any]) -> dict[str, Any]:
        """Return a screen without the contents and the buttons that belong to the data holder."""
        is_mine = any(act.startswith(f"{name}.") for act in self.acts)
        blocks = [one for one in screen["blocks"] if is_mine and self._may_see(one)]
        lede = screen["lede"] if is_mine else self.task
        return {"title": screen["title"], "lede": lede, "blocks": blocks}

    def _may_see(self, block: Mapping[str, Any]) -> bool:
        is_mine = any(one["act"] in self.acts for one in block.get("actions", ()))
        return is_mine or block["block"] in self.blocks


RIGHTS: Mapping[str, PersonRights] = {
    REVIEWER: PersonRights(
        acts=frozenset({"roles.review", "release.accept"}),
        blocks=frozenset(),
        task="You read notes: the proposals on Roles, and the remaining words on Release.",
    ),
    APPROVER: PersonRights(
        acts=frozenset({"decide.sign"}),
        blocks=frozenset({"criteria", "signatures"}),
        task="You read the criteria on Decide, and sign there with your own key.",
    ),
}


def check_act(person: str, act: str) -> None:
    """Raise RequestError if a person may not press a button."""
    if person in RIGHTS and act not in RIGHTS[person].acts:
        raise RequestError(f"only the data holder does this, not the {person.lower()}")


def check_holder(person: str) -> None:
    """Raise RequestError for everyone except the data holder."""
    if person in RIGHTS:
        raise RequestError(f"only the data holder does this, not the {person.lower()}")


def may_read(person: str) -> bool:
    """Return whether a person may read notes. An approver sees only public figures."""
    return person != APPROVER
