"""Define the typed contract of the tables module. Each verb is imported at its first use."""

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
    """Assess a release of tables that any tool has made."""

    @property
    def options(self) -> type[AssessOptions]:
        """Return the class of the options of `assess`."""
        from voile.tables.verbs.options import AssessOptions

        return AssessOptions

    @property
    def assess(self) -> verb.Assess[AssessOptions, Roles]:
        """Return the function that assesses a release."""
        from voile.tables.verbs.assess import assess

        return assess

    @property
    def sections(self) -> verb.AssessedSections:
        """Return the function that writes the sections of an assessment's report."""
        from voile.tables.verbs.assess_report import assessed_sections

        return assessed_sections


class TablesModule(KindModule["FitOptions", "ApplyOptions", "AttackOptions"]):
    """The kind of data "tables": records with quasi-identifiers: age, sex, race, ZIP code."""

    kind = "tables"
    summary = "records with quasi-identifiers: age, sex, race, ZIP code"
    ways = ("max_risk", "max_relative_risk", "max_loss", "beats", "policy", "least_loss", "knee")
    assessing = TablesAssessing()

    @property
    def options(self) -> ModuleOptions[FitOptions, ApplyOptions, AttackOptions]:
        """Return the classes of the options of `fit`, `apply` and `attack`."""
        from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions

        return ModuleOptions(FitOptions, ApplyOptions, AttackOptions)

    @property
    def axes(self) -> Mapping[str, str]:
        """Return the names of the two axes of a frontier, risk and loss."""
        from voile.tables.verbs.options import AXES

        return AXES

    @property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """Return the figures and findings that a determination uses to evaluate a release."""
        from voile.tables.verbs.criteria import CRITERIA

        return CRITERIA

    @property
    def fit(self) -> verb.Fit[FitOptions, Roles]:
        """Return the function that finds the policies of the frontier."""
        from voile.tables.fitting.fit import fit

        return fit

    @property
    def choose(self) -> verb.Choose:
        """Return the function that chooses one policy of the frontier."""
        from voile.tables.verbs.choose import choose

        return choose

    @property
    def prepare(self) -> verb.Prepare[ApplyOptions]:
        """Return the function that prepares the step applied to every row of a source."""
        from voile.tables.verbs.apply import prepare

        return prepare

    @property
    def attack(self) -> verb.Attack[AttackOptions]:
        """Return the function that attacks a release.

        The attacks link records to people, infer sensitive values and regrow the policy.
        """
        from voile.tables.verbs.attack import TableAttacks

        return TableAttacks(_regrow_policies).attack

    @property
    def report(self) -> verb.ReportSections:
        """Return the function that writes the sections of a report."""
        from voile.tables.verbs.report import sections

        return sections

    @property
    def verify(self) -> verb.Verify:
        """Return the function that checks a release."""
        from voile.tables.verbs.verify import verify

        return verify

    @property
    def own_verbs(self) -> tuple[OwnVerb[Any], ...]:
        """Return the verbs that only the tables module has."""
        from voile.tables.verbs.own import OWN_VERBS

        return OWN_VERBS

    @property
    def judge(self) -> verb.JudgePolicy:
        """Return the function that evaluates a policy together with a ledger's releases."""
        from voile.tables.verbs.judging import judge

        return judge

    @property
    def choose_after(self) -> verb.ChooseAfter:
        """Return the function that searches for a policy that is safe given a ledger's releases."""
        from voile.tables.fitting.after import choose_after

        return choose_after

    @property
    def expand(self) -> verb.ExpandRows:
        """Return the function that expands a release's intervals to single values."""
        from voile.tables.verbs.expand import expand

        return expand


def _regrow_policies(scene: TablesScene, rng: np.random.Generator) -> Sequence[Task]:
    """Return the tasks of the regrowing attack, the only attack that fits policies again."""
    from voile.tables.fitting.attack_regrow import regrowing_tasks

    return regrowing_tasks(scene, rng)


TABLES = TablesModule()
