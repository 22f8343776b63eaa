"""The joint disclosure of all releases, and its comparison with the risk budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from voile.core.brief import BriefRepr
from voile.core.errors import InfeasibleError
from voile.core.rounding import round_number
from voile.core.wording import count
from voile.ledger.chain import LedgerLine
from voile.ledger.promise import JointFigures, LedgerPromise, format_people

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.ledger.ledger import Ledger, LedgerKeys

NO_BOUND = "judge these data as one study, or give a reason with --override"


@dataclass(frozen=True)
class ReleaseJudgement(BriefRepr):
    """The evaluation of one release together with the published ones.

    disclosed : the disclosure of the new release, in the format of its ledger line.
    others : the number of published releases.
    recipients : the named recipients who may join them.
    unbounded : the reason why no figure bounds all releases together. Empty if one does.
    alone : the new release's own figures. None without a bound.
    low : the expected matches of the single release that allows most. Published releases have two
        digits.
    linked : the measured success of an adversary who links rows by the common values of the
        releases. None if it was not measured.
    high : the figures of all releases together if every row is linked.
    floor : the smallest group size that each release guarantees. All releases together guarantee
        it, too.
    policy : the policy's own figures, as `choose` and `apply` print them.
    difference : facts about added, removed or changed people that follow from the difference to
        earlier releases, in words.
    missing : the worst-case assumptions and their reasons, such as unreadable parts of earlier
        lines or rows that pseudonyms join.
    kept_back : the number of rows that wait for a later release, by reason.
    beside : files for the private folder, which later evaluations use.
    """

    shows = ("others",)

    disclosed: Mapping[str, Any]
    others: int
    unbounded: str = ""
    alone: JointFigures | None = None
    low: float = 0.0
    linked: float | None = None
    high: JointFigures | None = None
    floor: int = 1
    difference: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    kept_back: Mapping[str, int] = field(default_factory=dict)
    beside: Mapping[str, pa.RecordBatch] = field(default_factory=dict)
    recipients: tuple[str, ...] = ()
    policy: Mapping[str, float] = field(default_factory=dict)

    def check(self, promise: LedgerPromise, override: str | None = None) -> None:
        """Raise `InfeasibleError` if the release breaks the promise and no reason overrides it."""
        refusal = None if override else next(self._refusals(promise), None)
        if refusal is not None:
            raise refusal

    def breaks(self, promise: LedgerPromise) -> bool:
        """Return whether the release breaks the promise."""
        return next(self._refusals(promise), None) is not None

    def _refusals(self, promise: LedgerPromise) -> Iterator[InfeasibleError]:
        if self.unbounded:
            yield InfeasibleError(self.unbounded, instead=NO_BOUND)
        if self.alone is not None and (broken := list(promise.broken_by(self.alone))):
            why = f" ({'; '.join(self.missing)})" if self.missing else ""
            yield InfeasibleError(
                f"this release alone breaks the ledger's promise: {' and '.join(broken)}{why}",
                instead="choose a policy of less risk",
            )
        broken = (
            [] if self.high is None else list(promise.at_least(self.floor).broken_by(self.high))
        )
        if broken:
            said = "; ".join([self.in_words(), *self.difference])
            yield InfeasibleError(
                f"with the {count(self.others, 'release')} that {_are(self.others)} out"
                f"{self._to}, this one breaks the ledger's promise: "
                f"{' and '.join(broken)} ({said})",
                instead=after_a_change(waits=WAITS in self.kept_back) if self.difference else AFTER,
            )

    @property
    def _to(self) -> str:
        return f" to {', '.join(self.recipients)} and everybody" if self.recipients else ""

    def in_words(self) -> str:
        """Return the figures and the worst-case assumptions in words."""
        if self.high is None:
            return self.unbounded
        said = [f"{format_people(self.low)} from the best single release"]
        if self.linked is not None:
            said.append(
                f"{format_people(self.linked)} by linking rows through the releases' common values"
            )
        said.append(f"{format_people(self.high.matches)} if every row is linked")
        return "; ".join([f"expected matches: {', '.join(said)}", *self.missing])

    def figures(self) -> dict[str, dict[str, float]]:
        """Return the figures for a ledger's line, with two digits and without small groups."""
        return {"alone": _state_figures(self.alone), "joint": _state_figures(self.high)}

    def to_data(self) -> dict[str, Any]:
        """Return all figures, for the data holder."""
        return {
            "releases": self.others,
            **({"recipients": list(self.recipients)} if self.recipients else {}),
            **({"unbounded": self.unbounded} if self.unbounded else {}),
            **({"policy": dict(self.policy)} if self.policy else {}),
            "alone": _exact(self.alone),
            "low": {"matches": self.low},
            **({} if self.linked is None else {"linked": {"matches": self.linked}}),
            "high": _exact(self.high),
            "difference": list(self.difference),
            "missing": list(self.missing),
            "kept_back": dict(self.kept_back),
        }


Judge: TypeAlias = "Callable[[Ledger, LedgerKeys], ReleaseJudgement]"
"""A function of a module that evaluates a new release together with a ledger's earlier ones."""


def judge_for(
    recipient: str | None, judge: Judge, ledger: Ledger, keys: LedgerKeys
) -> ReleaseJudgement:
    """Evaluate a release for each coalition that would receive it, and return the worst result.

    recipient : the release's recipient, with or without a time period. None if everybody receives
        it.
    """
    audience, promise = ledger.audience, ledger.promise

    def weight(one: ReleaseJudgement) -> tuple[bool, float]:
        return one.breaks(promise), inf if one.high is None else one.high.matches

    each = [
        replace(judge(ledger.before(own), keys), recipients=tuple(sorted(own)))
        for own in audience.coalitions(audience.name_of(recipient))
    ]
    return max(each, key=weight)


def other_kind(line: LedgerLine, kind: str) -> str:
    """Return the reason why a line is of another kind of data, or an empty text if it is not."""
    other = line.content["kind"]
    if other == kind:
        return ""
    return (
        f"line {line.number} is a release of {other}, and no figure bounds it together with "
        f"{kind} of the same people"
    )


def explain_erasure(ledger: Ledger, kind: str) -> str:
    """Return the problem of erased people for a kind of data that does not follow people, or ""."""
    if not ledger.erased_hashes:
        return ""
    return (
        f"people were erased, and {kind} do not follow people: take them out of the source, and "
        "say so as the reason"
    )


AFTER = "choose with --after the ledger, or a policy all of whose cuts are out"
WAITS = "wait for others of their group"
"""The reason why `--hold-back` holds back rows."""


def after_a_change(*, waits: bool) -> str:
    """Return the remedy for a difference that reveals facts about people.

    waits : whether new people already wait for others of their group.
    """
    said = "release when more people of their groups have come, left or changed"
    return said if waits else f"{said}; with --hold-back new people wait for that"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _state_figures(found: JointFigures | None) -> dict[str, float]:
    if found is None:
        return {}
    return {
        "matches": round_number(found.matches, "up"),
        "relative": round_number(found.relative, "up"),
    }


def _exact(found: JointFigures | None) -> dict[str, float]:
    return {} if found is None else {name: x for name, x in vars(found).items() if isfinite(x)}
