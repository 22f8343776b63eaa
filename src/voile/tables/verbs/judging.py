"""Judge a release of a table together with all that a ledger names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.errors import InfeasibleError, RequestError, VoileError
from voile.data import Source
from voile.data.hold_out import TrainingSource
from voile.ledger.chain import Line
from voile.ledger.judgement import Judgement
from voile.ledger.ledger import Keys, Ledger
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.tables.joint.disclosed import Names, rules_of
from voile.tables.joint.figures import Shown, joint_figures
from voile.tables.people.combinations import count_sample, encode
from voile.tables.people.counts import Constraints
from voile.tables.policies.family import AnyPolicy
from voile.tables.verbs.content import KIND, Content


def judge(
    kit: Kit,
    chosen: Chosen,
    ledger: Ledger,
    keys: Keys,
    *,
    source: Source | None = None,
    releases: Sequence[Path] = (),
) -> Judgement:
    """Judge what a policy of a kit would add to the releases that a ledger names.

    Without a source, the rows are those that the kit was fitted on.
    """
    chosen.check(kit)
    content = Content.of(kit)
    if source is not None:
        check_counted(content, source)
    return judge_policy(content, content.family.read(chosen.policy), ledger, keys)


def judge_policy(content: Content, policy: AnyPolicy, ledger: Ledger, keys: Keys) -> Judgement:
    """Judge a policy; see `judge`.

    Raises
    ------
    InfeasibleError : an earlier line is of another kind, of other people or other columns: there
        is no bound on what they join to.
    """
    past = Past.of(content, ledger, keys)
    own = Shown.of(policy, past.rules)
    alone = joint_figures(content.space, [own])
    joint = joint_figures(content.space, [*past.shown, own])
    return Judgement(
        past.disclosed(policy),
        len(past.shown),
        alone=alone,
        low=min(max(alone.matches, ledger.low), joint.matches),  # a ledger's are rounded up
        high=joint,
        floor=past.floor,
        epsilon=ledger.epsilon,
        missing=past.missing,
    )


class Past:
    """What the releases of a ledger show, as a kit of the same rows reads it."""

    def __init__(self, content: Content, names: Names, lines: Sequence[Line]) -> None:
        self._content, self._names = content, names
        self.rules = Constraints(**rules_of(content.space.constraints))
        read = [names.read(line.content["disclosed"], content.sensitive) for line in lines]
        self.shown = [shown for shown, _ in read]
        asked = [line.content["disclosed"]["rules"]["k"] for line in lines]
        self.floor = min([self.rules.k, *asked])
        unread = [line.number for line, (_, known) in zip(lines, read, strict=True) if not known]
        self.missing = tuple(
            f"line {number} has other values or another order of a column, so all of that column "
            "is taken to be out"
            for number in unread
        )

    @classmethod
    def of(cls, content: Content, ledger: Ledger, keys: Keys) -> Past:
        names = Names(content.space, keys.hash)
        counted = names.counted
        for line in ledger.released:
            _check_comparable(line, counted)
        return cls(content, names, ledger.released)

    def disclosed(self, policy: AnyPolicy) -> dict[str, Any]:
        """Return what a ledger's line says of a policy's release."""
        names, roles = self._names, self._content.roles
        kept = [name for role in ("keep", "sensitive", "label") for name in roles.of(role)]
        return {
            "counted": names.counted,
            "rules": rules_of(self.rules),
            "sensitive": sorted(map(names.column, self._content.sensitive)),
            "kept": sorted(map(names.column, kept)),
            **names.grouping(policy),
        }


def _check_comparable(line: Line, counted: str) -> None:
    if line.content["kind"] != KIND:
        raise InfeasibleError(
            f"line {line.number} is a release of {line.content['kind']}, and no figure bounds what "
            "it comes to with a table of the same people",
            instead="release one kind of data of these people",
        )
    if line.content["disclosed"]["counted"] != counted:
        raise InfeasibleError(
            f"line {line.number} is a release of other rows, or of other quasi-identifiers, than "
            "this kit's, and no figure bounds what both come to",
            instead="fit on the same source and roles, or begin a ledger for another source",
        )


def check_counted(content: Content, source: Source) -> None:
    """Refuse a source whose people are not those that the kit counts."""
    space = content.space
    if content.hold_out.share:
        source = TrainingSource(source, content.hold_out)
    try:
        counted = count_sample(source, space.quasi, content.roles.subject)
        codes, sample = encode(space.domains, counted)
    except VoileError:
        same = False
    else:
        held = space.counts.sample > 0
        same = np.array_equal(codes, space.counts.codes[held])
        same = same and np.allclose(sample, space.counts.sample[held])
    if not same:
        raise RequestError(
            "the people of this source are not those that the kit counts, so a ledger cannot "
            "judge it",
            where=source.name,
            instead="fit on this source",
        )
