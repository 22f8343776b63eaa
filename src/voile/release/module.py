"""The typed interface of a module, which implements the verbs for one kind of data.

A module imports a verb's code on first use. `verb_types` contains a type for each verb, so mypy
rejects a verb with a signature that differs from the arguments of its callers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from voile.core.errors import RequestError, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel

    from voile.core.progress import ProgressHook
    from voile.data import Source
    from voile.release import verb_types as verb
    from voile.release.choice import Chosen
    from voile.release.criteria import CriterionMeasure
    from voile.release.kit import StoredKit
    from voile.release.manifest import StoredRelease
    from voile.release.options import ApplyOptions, AttackOptions, FitOptions
    from voile.release.own_verbs import OwnVerb

F = TypeVar("F", bound="FitOptions")
A = TypeVar("A", bound="ApplyOptions")
K = TypeVar("K", bound="AttackOptions")
B = TypeVar("B", bound="BaseModel")


class ModuleOptions(NamedTuple, Generic[F, A, K]):
    """The options of `fit`, `apply` and `attack` beyond their arguments.

    The command line makes one option of each field.
    """

    fit: type[F]
    apply: type[A]
    attack: type[K]


class ModuleAssessing(Protocol[B]):
    """The way in which a module assesses releases that voile did not make."""

    @property
    def options(self) -> type[B]:
        """The options of `assess` beyond its arguments."""

    @property
    def assess(self) -> verb.Assess[B, Any]:
        """The function that assesses a release."""

    @property
    def sections(self) -> verb.AssessedSections:
        """The function that returns the sections of an assessment's report."""


class KindModule(Protocol[F, A, K]):
    """One kind of data, with its verbs, their options, and optional capabilities.

    A module is a class that derives from this protocol. An unsupported capability is None.

    Parameters
    ----------
    kind, summary : the name of the kind, and one line about its data.
    ways : the fields of `Choice` that can select a policy of its kits.
    requires_roles : whether `fit` needs roles. If False, the options can name the columns.
    assessing : the functions that assess a release of any origin.
    """

    kind: str
    summary: str
    ways: tuple[str, ...]
    requires_roles: bool = True
    assessing: ModuleAssessing[Any] | None = None

    @property
    def options(self) -> ModuleOptions[F, A, K]:
        """The options of its verbs."""

    @property
    def axes(self) -> Mapping[str, str]:
        """The names of its risk and its loss, for screens and reports."""

    @property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """The figures and findings that a determination evaluates."""

    @property
    def fit(self) -> verb.Fit[F, Any]:
        """The function that finds the policies that no other policy beats."""

    @property
    def choose(self) -> verb.Choose:
        """The function that chooses one policy."""

    @property
    def prepare(self) -> verb.Prepare[A]:
        """The function that prepares the step through which every row of a source passes."""

    def apply(
        self,
        kit: StoredKit,
        chosen: Chosen,
        source: Source,
        out: Path | None,
        options: A,
        *,
        force: bool,
        progress: ProgressHook,
    ) -> StoredRelease:
        """Write the release of a source under a policy. See `voile.release.apply.apply_by`."""
        from voile.release.apply import apply_by

        return apply_by(
            self.prepare, kit, chosen, source, out, options, force=force, progress=progress
        )

    @property
    def attack(self) -> verb.Attack[K]:
        """The function that attacks a release."""

    @property
    def report(self) -> verb.ReportSections:
        """The function that returns the sections of a report."""

    @property
    def verify(self) -> verb.Verify:
        """The function that checks a release."""

    @property
    def open_source(self) -> verb.OpenSource:
        """The function that opens a source, with or without rows."""
        from voile.data import open_source

        return open_source

    def open(
        self, thing: object, *, table: str | None = None, encoding: str | None = None
    ) -> Source:
        """Open a source. Refuse a source without rows."""
        from voile.data.opening import check_rows

        return check_rows(self.open_source(thing, table=table, encoding=encoding))

    @property
    def own_verbs(self) -> tuple[OwnVerb[Any], ...]:
        """The verbs that only this module has."""
        return ()

    @property
    def judge(self) -> verb.JudgePolicy | None:
        """The function that evaluates a policy with a ledger's releases, or None if unsupported."""
        return None

    @property
    def choose_after(self) -> verb.ChooseAfter | None:
        """The search for a policy that is safe given a ledger, or None if unsupported."""
        return None

    @property
    def expand(self) -> verb.ExpandRows | None:
        """The function that expands a release's intervals to values, or None if unsupported."""
        return None


AnyModule: TypeAlias = "KindModule[Any, Any, Any]"


def find_own_verb(module: AnyModule, name: str) -> OwnVerb[Any]:
    """Return a verb that only this module has, by its name.

    Raises
    ------
    RequestError : the module has no verb of this name.
    """
    found = {one.name: one for one in module.own_verbs}
    if name not in found:
        raise RequestError(f"{module.kind} has no verb {name}", instead=nearest(name, found))
    return found[name]
