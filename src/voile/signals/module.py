"""The typed contract of signals; each verb is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.release.module import KindModule, ModuleOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voile.data.roles import Roles
    from voile.release import verb_types as verb
    from voile.release.criteria import CriterionMeasure
    from voile.release.own_verbs import OwnVerb
    from voile.signals.options import ApplyOptions, AttackOptions, FitOptions


class SignalsModule(KindModule["FitOptions", "ApplyOptions", "AttackOptions"]):
    """The module of signals: repeated readings to a recipient who knows each person's class."""

    kind = "signals"
    summary = "readings sent again and again to a recipient who knows each person's class"
    ways = ("max_relative_risk", "max_loss", "policy", "least_loss", "knee")

    @property
    def options(self) -> ModuleOptions[FitOptions, ApplyOptions, AttackOptions]:
        """The options of its verbs."""
        from voile.signals.options import ApplyOptions, AttackOptions, FitOptions

        return ModuleOptions(FitOptions, ApplyOptions, AttackOptions)

    @property
    def axes(self) -> Mapping[str, str]:
        """The names of its risk and its loss."""
        from voile.signals.options import AXES

        return AXES

    @property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """The criteria with which a determination evaluates its releases."""
        from voile.signals.verbs.criteria import CRITERIA

        return CRITERIA

    @property
    def fit(self) -> verb.Fit[FitOptions, Roles]:
        """Fit the maps, and find the policies on the frontier."""
        from voile.signals.fitting.fit import fit

        return fit

    @property
    def choose(self) -> verb.Choose:
        """Pick one policy of the frontier."""
        from voile.signals.verbs.choose import choose

        return choose

    @property
    def prepare(self) -> verb.Prepare[ApplyOptions]:
        """Prepare the step that encodes every row of a source."""
        from voile.signals.verbs.apply import prepare

        return prepare

    @property
    def attack(self) -> verb.Attack[AttackOptions]:
        """Infer the class of each person from the messages."""
        from voile.signals.verbs.attack import attack

        return attack

    @property
    def report(self) -> verb.ReportSections:
        """Return the sections of a report."""
        from voile.signals.verbs.report import sections

        return sections

    @property
    def verify(self) -> verb.Verify:
        """Check a written release."""
        from voile.signals.verbs.verify import verify

        return verify

    @property
    def own_verbs(self) -> tuple[OwnVerb[Any], ...]:
        """The verbs that only signals have."""
        from voile.signals.verbs.own import OWN_VERBS

        return OWN_VERBS


SIGNALS = SignalsModule()
