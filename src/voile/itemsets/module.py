"""The typed contract of itemsets. Each verb is imported on first use."""

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
    """The assessment of releases of itemsets that any tool made."""

    @property
    def options(self) -> type[AssessOptions]:
        """The options of `assess`."""
        from voile.itemsets.verbs.options import AssessOptions

        return AssessOptions

    @property
    def assess(self) -> verb.Assess[AssessOptions, Roles]:
        """The function that assesses a release."""
        from voile.itemsets.verbs.assess import assess

        return assess

    @property
    def sections(self) -> verb.AssessedSections:
        """The function that returns the sections of an assessment's report."""
        from voile.itemsets.verbs.assess_report import assessed_sections

        return assessed_sections


class ItemsetsModule(KindModule["FitOptions", "ApplyOptions", "AttackOptions"]):
    """Itemsets: sparse 0/1 rows with a class label, such as purchases, diagnoses or words."""

    kind = "itemsets"
    summary = "sparse 0/1 rows with a class label: purchases, searches, diagnoses, words"
    ways = ("max_risk", "max_loss", "policy", "least_loss", "knee")
    assessing = ItemsetsAssessing()

    @property
    def options(self) -> ModuleOptions[FitOptions, ApplyOptions, AttackOptions]:
        """The options of the verbs."""
        from voile.itemsets.verbs.options import ApplyOptions, AttackOptions, FitOptions

        return ModuleOptions(FitOptions, ApplyOptions, AttackOptions)

    @property
    def axes(self) -> Mapping[str, str]:
        """The names of the measures of risk and loss."""
        from voile.itemsets.verbs.options import AXES

        return AXES

    @property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """The figures and findings by which a determination evaluates releases of itemsets."""
        from voile.itemsets.verbs.criteria import CRITERIA

        return CRITERIA

    @property
    def fit(self) -> verb.Fit[FitOptions, Roles]:
        """The function that finds the policies that no other policy beats."""
        from voile.itemsets.verbs.fit import fit

        return fit

    @property
    def choose(self) -> verb.Choose:
        """The function that chooses one policy."""
        from voile.itemsets.verbs.choose import choose

        return choose

    @property
    def prepare(self) -> verb.Prepare[ApplyOptions]:
        """The function that prepares the transformation of a source's rows."""
        from voile.itemsets.verbs.apply import prepare

        return prepare

    @property
    def attack(self) -> verb.Attack[AttackOptions]:
        """The function that looks people up by some of their items."""
        from voile.itemsets.verbs.attack import attack

        return attack

    @property
    def report(self) -> verb.ReportSections:
        """The function that returns the sections of a report."""
        from voile.itemsets.verbs.report import sections

        return sections

    @property
    def verify(self) -> verb.Verify:
        """The function that checks a release."""
        from voile.itemsets.verbs.verify import verify

        return verify

    @property
    def open_source(self) -> verb.OpenSource:
        """The function that opens a table, or a matrix of zeros and ones."""
        from voile.itemsets.rows.matrix_source import open_source

        return open_source

    @property
    def judge(self) -> verb.JudgePolicy:
        """The function that evaluates a policy together with the releases of a ledger."""
        from voile.itemsets.verbs.judging import judge

        return judge


ITEMSETS = ItemsetsModule()
