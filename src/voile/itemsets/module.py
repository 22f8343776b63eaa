"""The typed contract of itemsets; each verb is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.release.module import KindModule, ModuleAssessing, ModuleOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voile.data.roles import Roles
    from voile.itemsets.verbs.options import ApplyOptions, AssessOptions, AttackOptions, FitOptions
    from voile.release import verb_types as verb
    from voile.release.criteria import CriterionMeasure


class ItemsetsAssessing(ModuleAssessing["AssessOptions"]):
    """Assess a release of itemsets from any maker."""

    @property
    def options(self) -> type[AssessOptions]:
        """The options of `assess`."""
        from voile.itemsets.verbs.options import AssessOptions

        return AssessOptions

    @property
    def assess(self) -> verb.Assess[AssessOptions, Roles]:
        """Assess a release."""
        from voile.itemsets.verbs.assess import assess

        return assess

    @property
    def sections(self) -> verb.AssessedSections:
        """Return the sections of an assessment's report."""
        from voile.itemsets.verbs.assess_report import assessed_sections

        return assessed_sections


class ItemsetsModule(KindModule["FitOptions", "ApplyOptions", "AttackOptions"]):
    """Itemsets: sparse 0/1 rows with a class label: purchases, searches, diagnoses, words."""

    kind = "itemsets"
    summary = "sparse 0/1 rows with a class label: purchases, searches, diagnoses, words"
    ways = ("max_risk", "max_loss", "policy", "least_loss", "knee")
    assessing = ItemsetsAssessing()

    @property
    def options(self) -> ModuleOptions[FitOptions, ApplyOptions, AttackOptions]:
        """The options of its verbs."""
        from voile.itemsets.verbs.options import ApplyOptions, AttackOptions, FitOptions

        return ModuleOptions(FitOptions, ApplyOptions, AttackOptions)

    @property
    def axes(self) -> Mapping[str, str]:
        """The names of its risk and its loss."""
        from voile.itemsets.verbs.options import AXES

        return AXES

    @property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """The figures and findings by which a determination judges its releases."""
        from voile.itemsets.verbs.criteria import CRITERIA

        return CRITERIA

    @property
    def fit(self) -> verb.Fit[FitOptions, Roles]:
        """Find the policies that no other beats."""
        from voile.itemsets.verbs.fit import fit

        return fit

    @property
    def choose(self) -> verb.Choose:
        """Pick one policy."""
        from voile.itemsets.verbs.choose import choose

        return choose

    @property
    def prepare(self) -> verb.Prepare[ApplyOptions]:
        """Prepare the step that every row of a source goes through."""
        from voile.itemsets.verbs.apply import prepare

        return prepare

    @property
    def attack(self) -> verb.Attack[AttackOptions]:
        """Look people up by some of their items."""
        from voile.itemsets.verbs.attack import attack

        return attack

    @property
    def report(self) -> verb.ReportSections:
        """Return the sections of a report."""
        from voile.itemsets.verbs.report import sections

        return sections

    @property
    def verify(self) -> verb.Verify:
        """Check a release."""
        from voile.itemsets.verbs.verify import verify

        return verify

    @property
    def open_source(self) -> verb.OpenSource:
        """Open a table, or a matrix of zeros and ones."""
        from voile.itemsets.rows.matrix_source import open_source

        return open_source

    @property
    def judge(self) -> verb.JudgePolicy:
        """Evaluate a policy together with a ledger's releases."""
        from voile.itemsets.verbs.judging import judge

        return judge


ITEMSETS = ItemsetsModule()
