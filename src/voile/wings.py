"""The contract: the functions and the check that each wing hands down.

The command line, the Python face and the contract tests walk `WINGS`, the one list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from voile.core.errors import RequestError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from voile.core.evidence import Evidence
    from voile.core.progress import Progress
    from voile.data import Source
    from voile.release.assessment import Assessment
    from voile.release.choice import Choice, Chosen
    from voile.release.criteria import Measure
    from voile.release.kit import Kit
    from voile.release.manifest import Release
    from voile.release.options import ApplyOptions, AttackOptions, FitOptions
    from voile.release.step import Applying
    from voile.release.verify import Check
    from voile.report.sections import Audience, Section

WINGS: Mapping[str, str] = {
    "documents": "voile.documents.wing",
    "itemsets": "voile.itemsets.wing",
    "signals": "voile.signals.wing",
    "tables": "voile.tables.wing",
}
"""Where each kind's wing is; adding one is one line here."""
ROLES_OPTIONAL = frozenset({"documents"})
"""Kinds whose options of fit can say what columns are, in the place of roles."""
ASSESSED = frozenset({"documents", "itemsets", "tables"})
"""Kinds of which a release of any origin can be assessed."""
UNASSESSED = {
    "signals": "a message means nothing without the map that made it: attack what voile sent",
}
"""What to do of kinds whose foreign releases are refused."""


class Wing(Protocol):
    """What a wing is to the rest of voile: a module with these names.

    The three options classes say what `fit`, `apply` and `attack` can be told beyond their
    arguments; the command line makes one option of each field. `WAYS` are the fields of `Choice`
    by which a policy of its kits may be picked; the command line offers no other. `AXES` says what
    its risk and its loss are called. `CRITERIA` are the figures and findings by which a
    determination judges its releases. `apply` is `voile.release.apply.apply_by` of its `prepare`.
    """

    KIND: str
    SUMMARY: str
    WAYS: tuple[str, ...]
    AXES: Mapping[str, str]
    CRITERIA: tuple[Measure, ...]
    FitOptions: type[FitOptions]
    ApplyOptions: type[ApplyOptions]
    AttackOptions: type[AttackOptions]
    apply: Callable[..., Release]

    def fit(
        self, source: Source, roles: Any, options: Any, *, seed: int | None, progress: Progress
    ) -> Kit:
        """See the data once; return the frontier's policies and what applying them needs.

        `roles` are `Roles`; for kinds of `ROLES_OPTIONAL` they may be None.
        """

    def choose(self, kit: Kit, choice: Choice) -> Chosen:
        """Pick one policy of the kit's frontier."""

    def prepare(self, kit: Kit, chosen: Chosen, source: Source, options: Any) -> Applying[Any, Any]:
        """Decide what becomes of each row of a source; the same wherever it is prepared again."""

    def attack(
        self,
        release: Release,
        truth: Source,
        options: Any,
        *,
        seed: int | None,
        progress: Progress,
    ) -> tuple[Evidence, ...]:
        """Act as an adversary who has the release and the background that the options give."""

    def sections(
        self, subject: Kit | Release, evidence: Sequence[Evidence], *, audience: Audience
    ) -> tuple[Section, ...]:
        """Say, as data, what the report shows of a kit or a release."""

    def verify(self, release: Release) -> Iterator[Check]:
        """Check a release once more, by other code than made it."""


class AssessingWing(Wing, Protocol):
    """A wing that assesses releases which voile did not make."""

    AssessOptions: type[BaseModel]

    def assess(
        self,
        original: Source,
        released: Source,
        roles: Any,
        options: Any,
        *,
        seed: int | None,
        progress: Progress,
    ) -> Assessment:
        """Count what a release of any origin discloses, beside its original, and attack it."""

    def assessed_sections(
        self, assessment: Assessment, *, audience: Audience
    ) -> tuple[Section, ...]:
        """Say, as data, what the report shows of an assessment."""


def assessing(kind: str) -> AssessingWing:
    """Load a wing that assesses.

    Raises
    ------
    RequestError : the wing's releases cannot be assessed.
    """
    if kind not in ASSESSED:
        raise RequestError(
            f"a release of {kind} that voile did not make cannot be assessed",
            instead=UNASSESSED.get(kind, f"use {', '.join(WINGS)}"),
        )
    return cast(AssessingWing, wing(kind))


def wing(kind: str) -> Wing:
    """Load the wing of this kind; only now is its code imported.

    Raises
    ------
    RequestError : this voile has no such wing.
    """
    if kind not in WINGS:
        raise RequestError(f"there is no kind of data {kind}", instead=f"use {', '.join(WINGS)}")
    return cast(Wing, import_module(WINGS[kind]))


def choose_by(
    kit: Kit,
    ways: Mapping[str, Any],
    after: Path | None = None,
    **beside: Any,
) -> Chosen:
    """Pick one policy of a kit by exactly one way; `after` a ledger, one that is safe given it.

    ways : of `WAYS` of the kit's wing; None and False are not given.
    beside : what is known beside the ledger: its secret, earlier releases, the rows to come.
    """
    from voile.release.choice import Choice, check_exactly_one

    here, given = (
        wing(kit.kind),
        {n: x for n, x in ways.items() if x is not None and x is not False},
    )
    if after is None:
        for name in (name for name, given_ in beside.items() if given_):
            raise RequestError(
                f"--{name.replace('_', '-')} is of a ledger", instead="name it with --after"
            )
        check_exactly_one({**dict.fromkeys(here.WAYS), **given})
        return here.choose(kit, Choice.parse(given))
    joint_risk = given.pop("joint_risk", None)
    if given:
        raise RequestError(
            f"--after picks by the joint risk, and {', '.join(given)} is another way",
            instead="give --joint-risk with it, or nothing",
        )
    choose_after: Callable[..., Chosen] = getattr(here, "choose_after")  # noqa: B009, of some
    return choose_after(kit, Path(after), joint_risk=joint_risk, **beside)


def opener(kind: str | None) -> Callable[..., Source]:
    """Return what opens a source of this kind: the wing's own `open_source`, or the common one.

    A source without rows is refused.
    """
    from voile.data import open_source
    from voile.data.opening import check_rows

    opening = open_source if kind is None else getattr(wing(kind), "open_source", open_source)
    return lambda thing, **reading: check_rows(opening(thing, **reading))
