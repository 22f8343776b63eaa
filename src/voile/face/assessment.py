"""The public class for the assessment of a release that voile did not make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from pydantic import NonNegativeInt

from voile.core.arguments import check_arguments
from voile.core.errors import as_keywords
from voile.core.progress import ProgressHook, silent
from voile.core.version import __version__, versions
from voile.face.keywords import PROGRESS, SEED, SOURCE, checked_own, document_verb
from voile.face.report import ReportPage, today
from voile.face.verbs import roles_for
from voile.release.assessment import ReleaseAssessment as PlainAssessment
from voile.release.module import AnyModule, ModuleAssessing
from voile.release.options import check_options
from voile.release.verb_types import AssessedSections
from voile.report import render
from voile.report.sections import Audience, Prose


@dataclass(frozen=True)
class Assessment(PlainAssessment):
    """The results of `assess`: `figures`, `evidence`, `facts`, and the sections of the report."""

    sections: AssessedSections = field(kw_only=True)

    @classmethod
    def of(cls, assessment: PlainAssessment, sections: AssessedSections) -> Self:
        """Build an assessment from its findings and the function for its report sections."""
        return cls(**vars(assessment), sections=sections)

    @property
    def summary(self) -> tuple[str, ...]:
        """Return the findings as sentences for the data holder."""
        first, *_ = self.sections(self, audience="internal")
        said = (block for block in first.blocks if isinstance(block, Prose))
        return tuple(paragraph for block in said for paragraph in block.paragraphs)

    @check_arguments
    def report(self, *, internal: bool = False) -> ReportPage:
        """Report the assessment on one page.

        Parameters
        ----------
        internal : whether the page is for the data holder alone and includes small counts.
        """
        audience: Audience = "internal" if internal else "public"
        title = f"{self.name}: disclosure risk and utility"
        sections = self.sections(self, audience=audience)
        libraries = ", ".join(f"{name} {x}" for name, x in versions().items() if name != "Python")
        facts = {
            "date of this report": today().isoformat(),
            "voile": __version__,
            "Python": versions()["Python"],
            "libraries": libraries,
            "kind of data": self.kind,
        }
        return ReportPage(title, audience, render(title, sections, audience=audience, facts=facts))

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def assess_of(module: AnyModule, verb: ModuleAssessing[Any]) -> Callable[..., Assessment]:

    def assess(
        original: object,
        released: object,
        roles: object = None,
        *,
        seed: int | None = None,
        progress: ProgressHook = silent,
        **options: Any,
    ) -> Assessment:
        with as_keywords():
            given = check_options(verb.options, options)
            own = checked_own(seed=(seed, NonNegativeInt))
            read = roles_for(module, roles)
            sources = module.open(original), module.open(released)
            found = verb.assess(*sources, read, given, seed=own["seed"], progress=progress)
        return Assessment.of(found, verb.sections)

    said = {
        "original": f"the source of the release: {SOURCE}",
        "released": "the release, of the same kinds as the original",
        "roles": "the roles of the original's columns, as in fit",
        "seed": SEED,
        "progress": PROGRESS,
    }
    assess.__module__ = f"voile.{module.kind}"
    first = "Assess a release that voile did not make, compared with its original."
    return document_verb(assess, first, said, verb.options)
