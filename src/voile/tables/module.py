"""The typed contract of tables; each verb is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.release.module import KindModule, ModuleAssessing, ModuleOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from voile.data.roles import Roles
    from voile.release import verb_types as verb
    from voile.release.criteria import CriterionMeasure
    from voile.release.own_verbs import OwnVerb
    from voile.tables.verbs.attack_tasks import Task
    from voile.tables.verbs.options import ApplyOptions, AssessOptions, AttackOptions, FitOptions
    from voile.tables.verbs.scene import TablesScene


class TablesAssessing(ModuleAssessing["AssessOptions"]):
    """Assess a release of tables from any maker."""

    @property
    def options(self) -> type[AssessOptions]:
        """The options of `assess`."""
        from voile.tables.verbs.options import AssessOptions

        return AssessOptions

    @property
    def assess(self) -> verb.Assess[AssessOptions, Roles]:
        """Assess a release."""
        from voile.tables.verbs.assess import assess

        return assess

    @property
    def sections(self) -> verb.AssessedSections:
        """Return the sections of an assessment's report."""
        from voile.tables.verbs.assess_report import assessed_sections

        return assessed_sections


class TablesModule(KindModule["FitOptions", "ApplyOptions", "AttackOptions"]):
    """Tables: records with quasi-identifiers: age, sex, race, ZIP code."""

    kind = "tables"
    summary = "records with quasi-identifiers: age, sex, race, ZIP code"
    ways = ("max_risk", "max_relative_risk", "max_loss", "beats", "policy", "least_loss", "knee")
    assessing = TablesAssessing()

    @property
    def options(self) -> ModuleOptions[FitOptions, ApplyOptions, AttackOptions]:
        """The options of its verbs."""
        from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions

        return ModuleOptions(FitOptions, ApplyOptions, AttackOptions)

    @property
    def axes(self) -> Mapping[str, str]:
        """The names of its risk and its loss."""
        from voile.tables.verbs.options import AXES

        return AXES

    @property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """The figures and findings by which a determination judges its releases."""
        from voile.tables.verbs.criteria import CRITERIA

        return CRITERIA

    @property
    def fit(self) -> verb.Fit[FitOptions, Roles]:
        """Find the policies that no other beats."""
        from voile.tables.fitting.fit import fit

        return fit

    @property
    def choose(self) -> verb.Choose:
        """Pick one policy."""
        from voile.tables.verbs.choose import choose

        return choose

    @property
    def prepare(self) -> verb.Prepare[ApplyOptions]:
        """Prepare the step that every row of a source goes through."""
        from voile.tables.verbs.apply import prepare

        return prepare

    @property
    def attack(self) -> verb.Attack[AttackOptions]:
        """Link records to people, infer values, and regrow the policy."""
        from voile.tables.verbs.attack import TableAttacks

        return TableAttacks(_regrow_policies).attack

    @property
    def report(self) -> verb.ReportSections:
        """Return the sections of a report."""
        from voile.tables.verbs.report import sections

        return sections

    @property
    def verify(self) -> verb.Verify:
        """Check a release."""
        from voile.tables.verbs.verify import verify

        return verify

    @property
    def own_verbs(self) -> tuple[OwnVerb[Any], ...]:
        """The verbs that only this module has."""
        from voile.tables.verbs.own import OWN_VERBS

        return OWN_VERBS

    @property
    def judge(self) -> verb.JudgePolicy:
        """Evaluate a policy together with a ledger's releases."""
        from voile.tables.verbs.judging import judge

        return judge

    @property
    def choose_after(self) -> verb.ChooseAfter:
        """Search for a policy that is safe given a ledger's releases."""
        from voile.tables.fitting.after import choose_after

        return choose_after

    @property
    def expand(self) -> verb.ExpandRows:
        """Expand a release's intervals to values."""
        from voile.tables.verbs.expand import expand

        return expand


def _regrow_policies(scene: TablesScene, rng: np.random.Generator) -> Sequence[Task]:
    """Fit again, as `attack` itself never does."""
    from voile.tables.fitting.attack_regrow import regrowing_tasks

    return regrowing_tasks(scene, rng)


TABLES = TablesModule()
