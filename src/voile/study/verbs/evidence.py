"""The findings of attacks on a study, stored for a determination: joint, and for each part.

The evidence of a part is in the part's private folder, that of the joint attack in the study's.
Each is sealed as in a release of the part's kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.core.progress import ProgressHook
from voile.data import Source
from voile.data.files import outputs
from voile.data.files.atomic import settle
from voile.gate.finding import GateFinding
from voile.gate.people import ALONE as PEOPLE_ALONE
from voile.keys.seal import EVIDENCE_SEAL
from voile.keys.secret import Secret
from voile.modules import find_module
from voile.release.evidence import default_place, find_evidence, write_evidence
from voile.release.manifest import EVIDENCE, private_path
from voile.study.adversary.acquaintance import describe_knowledge
from voile.study.plan.plan import StudyPlan
from voile.study.study_release import StudyRelease
from voile.study.verbs.attack import LinkedParts

JOINT_ATTACK = "joint linkage"
LINKED = "people linked rightly"
STORY = (
    "The adversary has a register of named people and all released parts. The adversary keeps the "
    "entries that agree with every row of a pseudonym and with what its texts say, and draws one. "
    "Success: it is the person."
)


KNOWN_ATTACK, ALONE = "known facts", "people alone"
KNOWN_STORY = (
    "The adversary knows facts of a released person: labels of rows in each part, the numbers of "
    "rows and, where stated, the gaps between days. Success: no other person has the same."
)


class StudyEvidence(tuple[Evidence, ...]):
    """The evidence of the joint attack, with the evidence of each part by its name."""

    of_part: Mapping[str, Sequence[Evidence]]

    def __new__(cls, joint: Sequence[Evidence], of_part: Mapping[str, Sequence[Evidence]]) -> Self:
        """Store both."""
        found = super().__new__(cls, joint)
        found.of_part = dict(of_part)
        return found


def evidence_of(linked: LinkedParts) -> Evidence:
    """Return the joint attack as evidence: expected matches, rounded up to whole people."""
    rate = Rate(min(linked.people, math.ceil(linked.joint - 1e-9)), linked.people)
    alone = Rate(min(linked.people, math.ceil(linked.table - 1e-9)), linked.people)
    meaning = "expected matches of the register, by rows and texts together"
    finding = Finding(LINKED, rate, baseline=alone, meaning=meaning)
    return Evidence(JOINT_ATTACK, "linkability", Note(STORY), findings=(finding,))


def known_evidence(known: Sequence[GateFinding]) -> Evidence:
    """Count the people who are unique given each kind of known facts, as evidence."""
    findings = tuple(
        Finding(
            ALONE,
            Rate(round(one.value), one.n or 0),
            meaning="people whom no other equals in the known facts",
            at=Note("known: {facts}", {"facts": describe_knowledge(one.of)}),
        )
        for one in known
        if one.name == PEOPLE_ALONE
    )
    return Evidence(KNOWN_ATTACK, "singling out", Note(KNOWN_STORY), findings=findings)


def keep_found(
    release: StudyRelease, known: Sequence[GateFinding], linked: LinkedParts | None, secret: Secret
) -> None:
    """Write the attacks on all parts into the study's private folder.

    An earlier attack with a register is kept if this one had none.
    """
    whole = release.whole
    joint = [one for one in find_evidence(whole, secret) if one.attack == JOINT_ATTACK]
    if linked is not None:
        joint = [evidence_of(linked)]
    found = (known_evidence(known), *joint)
    write_evidence(default_place(whole), whole, found, secret, force=True)


def settle_evidence(release: Path) -> None:
    """Repair the private folders of a release after a killed attack."""
    folder = private_path(release)
    for one in (folder, *(path for path in folder.glob("*") if path.is_dir())):
        if one.is_dir():
            settle(one / EVIDENCE, outputs.EVIDENCE)
            settle(one / EVIDENCE_SEAL, outputs.SEALS)


def attack_parts(
    plan: StudyPlan, release: StudyRelease, register: Source | None, progress: ProgressHook
) -> dict[str, tuple[Evidence, ...] | str]:
    """Attack each part with the attacks of its kind. Return findings, or the reason for no attack.

    register : the register of the adversary on the first table.
    """
    found: dict[str, tuple[Evidence, ...] | str] = {}
    for name in plan.parts:
        try:
            own = _attack_part(plan, release, name, register, progress)
        except RequestError as error:
            found[name] = str(error)
            continue
        part, found[name] = release.part(name), own
        write_evidence(default_place(part), part, own, plan.secret, force=True)
    return found


def _attack_part(
    plan: StudyPlan,
    release: StudyRelease,
    name: str,
    register: Source | None,
    progress: ProgressHook,
) -> tuple[Evidence, ...]:
    part = plan.parts[name]
    if part.of is not None:
        raise RequestError("a text in a table's row is attacked where it has a file of its own")
    given: dict[str, Any] = dict(part.attack)
    if register is not None and name == plan.table[0]:
        given = {"register": register, **given}
    options = plan.options(find_module(part.kind).options.attack, name, "attack", given)
    return find_module(part.kind).attack(
        release.part(name), plan.open_part(name), options, seed=plan.study.seed, progress=progress
    )


def read_evidence(release: StudyRelease, secret: Secret | None) -> StudyEvidence:
    """Read the stored findings of attacks on a release.

    Raises
    ------
    TamperedError : a file does not match its seal.
    """
    if not release.folder.is_dir():
        return StudyEvidence((), {})
    of_part = {name: find_evidence(release.part(name), secret) for name in release.public["parts"]}
    return StudyEvidence(find_evidence(release.whole, secret), of_part)
