"""Choose a policy of a kit, and write it to a file that a person can edit."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from voile.core.arguments import check_arguments
from voile.core.brief import BriefRepr
from voile.core.errors import InfeasibleError, RequestError
from voile.core.mistakes import mistakes
from voile.data.files.own_files import fitting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voile.core.frontier import Frontier
    from voile.release.kit import StoredKit

T = TypeVar("T")

# The TOML writer spreads an interval over four lines. A TOML string contains no line break.
PAIR = re.compile(r'\[\n +("(?:[^"\\]|\\.)*"),\n +("(?:[^"\\]|\\.)*"),\n +\]')

STRICT = {"extra": "forbid", "strict": True}
"""Reject unknown fields and fields of another type."""


RISKS: Mapping[str, str] = {"max_risk": "max_risk", "max_relative_risk": "relative_risk"}
"""The risk that each limit of a `Choice` refers to."""
WAYS = (*RISKS, "max_loss", "beats", "policy", "joint_risk")
FLAGS = ("least_loss", "knee")
ROUNDING = 1e-9
SHOWN = ("max_risk", "mean_risk", "relative_risk", "risk", "bits", "loss")
"""The figures of a policy that a notebook shows."""


@dataclass(frozen=True)
class Choice:
    """The way to choose one policy of a frontier. Exactly one field is given.

    Parameters
    ----------
    max_risk : the least loss if no record has a larger risk than this, in [0, 1].
    max_relative_risk : the least loss at this share of the source's risk or less, in [0, 1].
    max_loss : the least risk at this loss or less, in [0, 1].
    beats : the least loss at no more risk than a named policy, e.g. ``safe-harbor``.
    policy : the number of the policy in `voile KIND frontier`, from 0.
    least_loss : the least loss of all policies.
    knee : the policy where the frontier bends most.
    joint_risk : the least loss at this share of the source's risk or less, with all releases of a
        ledger counted together, in [0, 1].
    """

    __pydantic_config__ = STRICT

    max_risk: float | None = None
    max_relative_risk: float | None = None
    max_loss: float | None = None
    beats: str | None = None
    policy: int | None = None
    least_loss: bool = False
    knee: bool = False
    joint_risk: float | None = None

    def __post_init__(self) -> None:
        check_exactly_one(vars(self))
        for name in ("max_loss", "joint_risk", *RISKS):
            share = getattr(self, name)
            if share is not None and not 0 <= share <= 1:
                raise RequestError(f"{_as_option(name)} lies in [0, 1]")

    def among(
        self,
        frontier: Frontier,
        risks: Mapping[str, NDArray[np.float64]],
        beating: Callable[[str], int] | None = None,
    ) -> int:
        """Return the number of the policy that this choice selects.

        Parameters
        ----------
        risks : the known risks of each policy, by name. ``max_risk`` is the largest risk of a
            record, and ``relative_risk`` the share of the source's risk.
        beating : a function that finds the policy that beats a named one, if the kit has named
            policies.

        Raises
        ------
        InfeasibleError : no policy is within the limit.
        RequestError : no policy has that number or name, or the kind of data has no such risk.
        """
        if self.policy is not None:
            if not 0 <= self.policy < len(frontier):
                raise RequestError(
                    f"the kit has no policy {self.policy}",
                    instead=f"give a number from 0 to {len(frontier) - 1}",
                )
            return self.policy
        if self.beats is not None:
            if beating is None:
                remedy = "choose by risk or loss"
                raise RequestError(f"there is no policy named {self.beats}", instead=remedy)
            return beating(self.beats)
        if self.joint_risk is not None:
            raise RequestError(
                "a joint risk needs a ledger of earlier releases",
                instead="give the ledger with --after",
            )
        if self.knee:
            return frontier.knee().index
        if self.least_loss:
            return frontier.point(-1).index
        if self.max_loss is not None:
            return frontier.at(loss=self.max_loss).index
        return self._within(risks)

    def _within(self, risks: Mapping[str, NDArray[np.float64]]) -> int:
        """Return the last policy within the risk limit, because loss decreases along a frontier."""
        [name] = [name for name in RISKS if getattr(self, name) is not None]
        if RISKS[name] not in risks:
            known = [_as_option(limit) for limit in RISKS if RISKS[limit] in risks]
            raise RequestError(
                f"these policies have no {_format_name(RISKS[name])}",
                instead=f"choose with {' or '.join(known)}",
            )
        limit, found = getattr(self, name), risks[RISKS[name]]
        (within,) = (found <= limit + ROUNDING).nonzero()
        if not len(within):
            raise InfeasibleError(
                f"no policy has a {_format_name(RISKS[name])} of at most {limit:.6g}",
                instead=f"allow at least {found.min(initial=1.0):.6g}",
            )
        return int(within[-1])

    def __str__(self) -> str:
        if self.knee or self.least_loss:
            return "at the knee" if self.knee else "least loss"
        [(name, value)] = self.to_data().items()
        return f"{_format_name(name)} {f'{value:.4g}' if isinstance(value, float) else value}"

    def to_data(self) -> dict[str, Any]:
        """Return the one given field, in the form of policy files and manifests."""
        for name in FLAGS:
            if getattr(self, name):
                return {name: True}
        return {name: value for name in WAYS if (value := getattr(self, name)) is not None}

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Choice:
        """Build a choice from a user's options, and report every mistake at once."""
        from pydantic import TypeAdapter, ValidationError

        from voile.release.options import request_error

        try:
            return TypeAdapter(cls).validate_python(given, strict=False)
        except ValidationError as error:
            raise request_error(error, (*WAYS, *FLAGS)) from None

    @classmethod
    def from_data(cls, data: Any, *, where: str | None = None) -> Choice:
        """Build a choice from the data of `to_data`.

        Raises
        ------
        RequestError : a field is unknown or of another type, or not exactly one field is given.
        """
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_json(json.dumps(data, default=str))
        except ValidationError as error:
            raise RequestError(mistakes(error, "choice"), where=where) from None


def default_choice(kit: StoredKit) -> Choice:
    """Return the choice of a kit's default policy.

    Raises
    ------
    RequestError : the kit has no default policy.
    """
    number = kit.facts.get("default_policy")
    if not isinstance(number, int):
        raise RequestError(
            "the command needs a policy",
            instead=f"choose one with voile {kit.kind} choose, and give its file with --policy",
        )
    return Choice(policy=number)


def default_in_words(kit: StoredKit) -> str:
    """Describe the policy that a kit applies by default, and its meaning if the kit has one."""
    means = kit.facts.get("default_means")
    said = f": {means}" if isinstance(means, str) else ""
    return f"policy {default_choice(kit).policy} of the kit is applied, as none was chosen{said}"


def check_exactly_one(ways: Mapping[str, Any]) -> None:
    """Raise `RequestError` unless exactly one value is neither None nor False."""
    if sum(value is not None and value is not False for value in ways.values()) != 1:
        raise RequestError(f"choose by exactly one of {', '.join(map(_as_option, ways))}")


def in_words(choice: Choice, *, edited: bool) -> str:
    """Describe how a policy was chosen.

    >>> in_words(Choice(max_risk=0.1), edited=True)
    'max risk 0.1, then edited'
    """
    return f"{choice}{', then edited' * edited}"


def _format_name(name: str) -> str:
    return name.replace("_", " ")


def _as_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def read_fields(model: type[T], fields: Mapping[str, Any]) -> T:
    """Read a policy from the fields of its file. The model is a frozen dataclass with `STRICT`.

    Raises
    ------
    RequestError : a field is absent, unknown or of another type. The error lists all such fields.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(model).validate_json(json.dumps(dict(fields), default=str))
    except ValidationError as error:
        remedy = "correct it, or choose again"
        raise RequestError(mistakes(error), where="policy", instead=remedy) from None


class ChoosablePolicy(Protocol):
    """A policy of one kind of data. Two policies with the same effect are equal."""

    def to_data(self) -> Mapping[str, Any]:
        """Return the fields of a policy file, which a person may edit."""


class KitPolicies(Protocol):
    """The policies of a kit's frontier, by number, and their figures."""

    @property
    def frontier(self) -> Frontier:
        """The frontier of all policies."""

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """The risks of each policy by which a user can choose, as in `Choice.among`."""

    def policy(self, number: int) -> ChoosablePolicy:
        """Return the policy with this number."""

    def figures_of(self, number: int) -> Mapping[str, float]:
        """Return the known figures of one policy: risk, loss and other measures."""


@dataclass(frozen=True)
class Chosen(BriefRepr):
    """One policy of a kit, in the form of a file that a person can read and edit.

    Parameters
    ----------
    kind : the kind of data.
    kit : the kit's id.
    number : the number of the policy on the frontier, or None if an edited policy is not in the
        kit.
    choice : the choice that selected it.
    edited : whether a person then edited it into another policy.
    figures : risk, loss and other measures by name.
    policy : the fields of the policy in the form of its kind of data.
    """

    shows = (
        "kind",
        "number",
        "how",
    )

    kind: str
    kit: str
    number: int | None
    choice: Choice
    figures: Mapping[str, float]
    policy: Mapping[str, Any]
    edited: bool = False

    def _repr_html_(self) -> str:
        from voile.core.rounding import round_number
        from voile.report.notebook import frame_blocks
        from voile.report.sections import Figure, Figures

        shown = [name for name in SHOWN if name in self.figures]
        figures = [
            Figure(name.replace("_", " "), f"{round_number(self.figures[name]):g}")
            for name in shown
        ]
        number = "An edited policy" if self.number is None else f"Policy {self.number}"
        return frame_blocks(f"{number} ({self.how})", [Figures(tuple(figures))])

    @check_arguments
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the policy file, and return its path.

        `force` replaces a policy that voile wrote.
        """
        from voile.data.files.atomic import write_text
        from voile.data.files.outputs import POLICY

        write_text(path, self.to_toml(), POLICY, force=force)
        return Path(path)

    @property
    def how(self) -> str:
        """The way in which the policy was chosen, as text."""
        return in_words(self.choice, edited=self.edited)

    @classmethod
    def from_kit(
        cls,
        kit: StoredKit,
        policies: KitPolicies,
        choice: Choice,
        beating: Callable[[str], int] | None = None,
    ) -> Chosen:
        """Choose one policy of a kit's frontier. `beating` is as in `Choice.among`.

        Raises
        ------
        InfeasibleError : no policy is within the limit.
        RequestError : no policy has that number or name.
        """
        number = choice.among(policies.frontier, policies.risks, beating)
        with fitting("the kit"):
            figures, policy = policies.figures_of(number), policies.policy(number).to_data()
        return cls(kit.kind, kit.id, number, choice, figures, policy)

    def as_read(self, policies: KitPolicies, policy: ChoosablePolicy) -> Chosen:
        """Return the policy with the kit's figures, if the edited policy is one of the kit's.

        A person may have edited the file into another policy of the kit, or into a policy outside
        it.
        """
        known = range(len(policies.frontier))
        number = next(
            (n for n in (self.number, *known) if n in known and policies.policy(n) == policy), None
        )
        edited = self.number is not None and number != self.number
        return replace(
            self,
            number=number,
            edited=self.edited or edited,
            figures={} if number is None else policies.figures_of(number),
            policy=policy.to_data(),
        )

    def check(self, kit: StoredKit) -> None:
        """Raise `RequestError` if the policy was chosen from another kit."""
        if self.kind != kit.kind:
            raise RequestError(
                f"the policy is for {self.kind}, and this kit is for {kit.kind}",
                instead="choose a policy from this kit",
            )
        if self.kit != kit.id:
            raise RequestError(
                f"the policy comes from kit {self.kit}, and this is kit {kit.id}",
                instead="choose a policy from this kit",
            )

    def to_toml(self) -> str:
        """Return the text of the policy file."""
        import tomli_w

        data: dict[str, Any] = {"kind": self.kind, "kit": self.kit, "edited": self.edited}
        if self.number is not None:
            data["number"] = self.number
        data["choice"] = self.choice.to_data()
        data["figures"] = dict(self.figures)
        data["policy"] = dict(self.policy)
        return PAIR.sub(r"[\1, \2]", tomli_w.dumps(data))

    @classmethod
    def read(cls, path: Path) -> Chosen:
        """Read a policy file."""
        from voile.release.kit_files import read_policy

        file = read_policy(path)
        choice = Choice.from_data(file.choice, where=str(path))
        return cls(file.kind, file.kit, file.number, choice, file.figures, file.policy, file.edited)
