"""The typed contract of the documents module; each verb is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.release.module import KindModule, ModuleAssessing, ModuleOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voile.data.roles import Roles
    from voile.documents.options import ApplyOptions, AssessOptions, AttackOptions, FitOptions
    from voile.release import verb_types as verb
    from voile.release.criteria import CriterionMeasure
    from voile.release.own_verbs import OwnVerb


class DocumentsAssessing(ModuleAssessing["AssessOptions"]):
    """The assessment of a documents release from any tool."""

    @property
    def options(self) -> type[AssessOptions]:
        """The options of `assess`."""
        from voile.documents.options import AssessOptions

        return AssessOptions

    @property
    def assess(self) -> verb.Assess[AssessOptions, Roles | None]:
        """Assess a release."""
        from voile.documents.model.start.known.tables import read_known
        from voile.documents.verbs.assess import DocumentAssessment

        return DocumentAssessment(read_known).assess

    @property
    def sections(self) -> verb.AssessedSections:
        """The function that returns the sections of an assessment's report."""
        from voile.documents.verbs.assess_report import assessed_sections

        return assessed_sections


class DocumentsModule(KindModule["FitOptions", "ApplyOptions", "AttackOptions"]):
    """The module for documents, which are free text: notes, e-mails, rulings."""

    kind = "documents"
    summary = "free text: notes, e-mails, rulings"
    ways = ("max_relative_risk", "max_loss", "policy", "least_loss", "knee")
    assessing = DocumentsAssessing()
    requires_roles = False

    @property
    def options(self) -> ModuleOptions[FitOptions, ApplyOptions, AttackOptions]:
        """The options of the module's verbs."""
        from voile.documents.options import ApplyOptions, AttackOptions, FitOptions

        return ModuleOptions(FitOptions, ApplyOptions, AttackOptions)

    @property
    def axes(self) -> Mapping[str, str]:
        """The names of risk and loss."""
        from voile.documents.model.quantities import AXES

        return AXES

    @property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """The figures and findings by which a determination evaluates releases."""
        from voile.documents.verbs.criteria import CRITERIA

        return CRITERIA

    @property
    def fit(self) -> verb.Fit[FitOptions, Roles | None]:
        """The function that finds the Pareto-optimal policies."""
        from voile.documents.fitting.fit import fit

        return fit

    @property
    def choose(self) -> verb.Choose:
        """The function that selects a policy."""
        from voile.documents.verbs.choose import choose

        return choose

    @property
    def prepare(self) -> verb.Prepare[ApplyOptions]:
        """Prepare the step that every row of a source goes through."""
        from voile.documents.verbs.apply import DocumentPublisher
        from voile.documents.verbs.known import find_known
        from voile.documents.verbs.replacer import make_replacer_of

        return DocumentPublisher(find_known, make_replacer_of).prepare

    @property
    def attack(self) -> verb.Attack[AttackOptions]:
        """Train on the released text, and inspect tokens in ranked order."""
        from voile.documents.attack.foreign import read_foreign
        from voile.documents.model.start.known.tables import read_known
        from voile.documents.verbs.attack import DocumentAttacks

        return DocumentAttacks(read_foreign, read_known).attack

    @property
    def report(self) -> verb.ReportSections:
        """The function that returns the sections of a report."""
        from voile.documents.verbs.report import sections

        return sections

    @property
    def verify(self) -> verb.Verify:
        """The function that checks a release."""
        from voile.documents.verbs.verify import verify

        return verify

    @property
    def open_source(self) -> verb.OpenSource:
        """The function that opens a corpus, or a table with a text column."""
        from voile.documents.text.source import open_source

        return open_source

    @property
    def own_verbs(self) -> tuple[OwnVerb[Any], ...]:
        """The verbs that only this module has."""
        from voile.documents.own import OWN_VERBS

        return OWN_VERBS


DOCUMENTS = DocumentsModule()
