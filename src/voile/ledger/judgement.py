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
    """One release judged together with the published ones.

    disclosed : the disclosure of the new release, in the form of its ledger line.
    others : the number of published releases. recipients : the named ones who may join them.
    unbounded : the reason why no figure bounds all of them together. Empty if one does.
    alone : the new release's own figures. None without a bound.
    low : expected matches of the single release that allows most, with two digits for published
        ones.
    linked : the measured success of an adversary who links rows by the common values of the
        releases. None if it was not measured.
    high : of all of them, every row linked.
    floor : the least group that each of the releases was made to keep; all together keep it too.
    policy : the policy's own figures, as `choose` and `apply` print them.
    difference : the facts about added, removed or changed people that follow from the difference to
        earlier releases, in words.
    missing : the worst-case assumptions, with their reason: unreadable parts of earlier lines, or
        rows that pseudonyms join.
    kept_back : the number of rows that the ledger keeps back, by reason.
    beside : files of the private folder, which later judgements use.
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
        """Raise `InfeasibleError` where a promise would be broken, and no reason overrides it."""
        refusal = None if override else next(self._refusals(promise), None)
        if refusal is not None:
            raise refusal

    def breaks(self, promise: LedgerPromise) -> bool:
        """Say whether the promise would be broken."""
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
        """Write the figures, and the worst-case assumptions."""
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
        """Return the figures of a ledger's line: two digits, and no small group."""
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
"""The function by which a wing judges a new release together with a ledger's earlier ones."""


def judge_for(
    recipient: str | None, judge: Judge, ledger: Ledger, keys: LedgerKeys
) -> ReleaseJudgement:
    """Judge a release before each coalition that would have it, and return the worst of these.

    recipient : its recipient, with a period or not. None if everybody has it.
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
    """Say that a line is a release of another kind of data, where it is."""
    other = line.content["kind"]
    if other == kind:
        return ""
    return (
        f"line {line.number} is a release of {other}, and no figure bounds it together with "
        f"{kind} of the same people"
    )


def explain_erasure(ledger: Ledger, kind: str) -> str:
    """Say that people were erased, of a kind of data whose rows are not followed."""
    if not ledger.erased_hashes:
        return ""
    return (
        f"people were erased, and {kind} do not follow people: take them out of the source, and "
        "say so as the reason"
    )


AFTER = "choose with --after the ledger, or a policy all of whose cuts are out"
WAITS = "wait for others of their group"
"""Why rows are kept back with `--hold-back`."""


def after_a_change(*, waits: bool) -> str:
    """Say what helps against a difference that shows people; `waits`: new ones wait already."""
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
