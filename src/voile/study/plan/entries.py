"""The tables of `study.toml`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from voile.release.choice import FLAGS, WAYS, Choice

JOINT = "joint_risk"
SIGNALS = "signals"


class PlanEntry(BaseModel):
    """A table of a plan. Unknown keys are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyTable(PlanEntry):
    """The settings that all parts share: subjects, secret, date offset and pseudonyms.

    ledger : the ledger that evaluates every release of the source. releases : folders with earlier
        releases. The folder of the new release is always searched too.
    """

    subject: str
    key_file: Path | None = None
    date_shift_days: int = Field(365, ge=1, le=36_500)
    dates: Literal["days", "weeks", "months"] = "days"
    edge_dates: Literal["keep", "drop"] = "keep"
    join: bool = True
    seed: int | None = Field(None, ge=0)
    kit: Path | None = None
    release: Path | None = None
    ledger: Path | None = None
    releases: tuple[Path, ...] = ()


class PromiseEntry(PlanEntry):
    """The requirements on every release of the study, and the choice of its policy.

    values_in_text : maximum share of people with an own unreleased value in the released bytes,
        beyond chance.
    alone : maximum share of people whom all facts of the linked parts single out.
    """

    beats: str | None = None
    joint_risk: float | None = Field(None, ge=0, le=1)
    max_risk: float | None = Field(None, ge=0, le=1)
    max_relative_risk: float | None = Field(None, ge=0, le=1)
    max_loss: float | None = Field(None, ge=0, le=1)
    policy: int | None = Field(None, ge=0)
    knee: bool = False
    least_loss: bool = False
    k: int = Field(1, ge=1)
    suppress: float = Field(0.0, ge=0, lt=1)
    values_in_text: float = Field(0.0, ge=0, le=1)
    alone: float | None = Field(None, ge=0, le=1)

    @model_validator(mode="after")
    def _picks_once(self) -> Self:
        ways = (*WAYS, *FLAGS)
        if len(self.ways) != 1:
            raise ValueError(f"choose by exactly one of {', '.join(ways)}")
        return self

    @property
    def ways(self) -> dict[str, Any]:
        """The given way to choose a policy, by name."""
        given = {name: getattr(self, name) for name in (*WAYS, *FLAGS)}
        return {name: x for name, x in given.items() if x is not None and x is not False}

    @property
    def constraints(self) -> dict[str, Any]:
        """The given options for the table's fit."""
        return {name: getattr(self, name) for name in {"k", "suppress"} & self.model_fields_set}


Rows = Annotated[int, Field(ge=1)]
"""A number of rows of one person."""


class ExportTable(PlanEntry):
    """A real export, which is opened as tables and written back in its own form.

    as_of : the day on which ages are counted. drop : types or tables that are not released.
    to : for OMOP, the form of the written tables, or a schema of PostgreSQL that also gets them.
    rules : for FHIR, a folder of release rules.
    marks : for FHIR, the marks of the operations on a resource.
    most_rows : by type or table, the maximum number of released rows per person.
    stays : "drop" releases only the first day of each resource or row.
    """

    form: Literal["fhir", "omop"]
    source: str
    as_of: date
    drop: tuple[str, ...] = ()
    to: str | None = None
    rules: Path | None = None
    marks: Literal["none", "resources", "elements"] = "resources"
    most_rows: dict[str, Rows] = Field(default_factory=dict)
    stays: Literal["keep", "drop"] = "keep"

    @model_validator(mode="after")
    def _rules_of_fhir(self) -> Self:
        given = {"rules", "marks"} & self.model_fields_set
        if given and self.form != "fhir":
            raise ValueError(f"{min(given)} is of form fhir: take it out")
        return self

    @model_validator(mode="after")
    def _to_tables(self) -> Self:
        if self.to is not None and self.form != "omop":
            raise ValueError("to is of form omop: a FHIR export is written as files of JSON lines")
        if self.to not in (None, "csv", "parquet") and "::" not in str(self.to):
            raise ValueError('to is "csv", "parquet" or postgresql://host/database::schema')
        return self


def _checked_choice(given: dict[str, Any]) -> dict[str, Any]:
    if given:
        Choice.parse(given)
    return given


Choosing = Annotated[dict[str, Any], AfterValidator(_checked_choice)]
"""The choice of a part's policy."""


class RowsPart(PlanEntry):
    """A part with rows of any kind except text: its roles, and options of fit and release.

    choose : the choice of its policy. The study's requirements decide for the first table.
    attack : options of the part's own attacks.
    most_rows : maximum number of released rows per person, chosen by keyed codes of their content.
    row_bins : numbers of rows that a person may have. Further rows are left out.
    stays : "drop" releases only the first column of days.
    links : "none" gives its rows no pseudonym, so that no part can be joined to them.
    """

    kind: Literal["tables", "itemsets", "signals"]
    source: str
    roles: Path
    out: str | None = None
    fit: dict[str, Any] = Field(default_factory=dict)
    choose: Choosing = Field(default_factory=dict)
    apply: dict[str, Any] = Field(default_factory=dict)
    attack: dict[str, Any] = Field(default_factory=dict)
    most_rows: int | None = Field(None, ge=1)
    row_bins: tuple[Rows, ...] | None = Field(None, min_length=1)
    stays: Literal["keep", "drop"] = "keep"
    links: Literal["study", "none"] = "study"
    of: ClassVar[None] = None
    """Its rows are not inside another part, unlike those of texts."""


class TextPart(PlanEntry):
    """A part of notes: a source of their own, or a text column of a table.

    kit : the kit that finds their identifiers. Otherwise the study makes it: `fit` on the annotated
        notes of its `source`, or `init` on these unannotated notes.
    """

    kind: Literal["documents"]
    kit: Path | None = None
    source: str | None = None
    of: str | None = None
    text: str | None = None
    out: str | None = None
    fit: dict[str, Any] | None = None
    init: dict[str, Any] | None = None
    choose: Choosing = Field(default_factory=dict)
    apply: dict[str, Any] = Field(default_factory=dict)
    attack: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _in_one_place(self) -> Self:
        if (self.source is None) == (self.of is None):
            raise ValueError("give its source, or of and text for a column of another part")
        if (self.of is None) != (self.text is None):
            raise ValueError("give both: of = a part, text = a column of that part")
        return self

    @model_validator(mode="after")
    def _has_one_kit(self) -> Self:
        if sum(one is not None for one in (self.kit, self.fit, self.init)) != 1:
            raise ValueError(
                "give its kit, or how to make one: fit = { source, roles } of annotated notes, or "
                "init = { known, by } of these notes"
            )
        if self.fit is not None and "source" not in self.fit:
            raise ValueError("fit takes a source of annotated notes")
        return self


class MentionEntry(PlanEntry):
    """The treatment of a type that the text mentions.

    column : the quasi-identifier with the same content. Without a column, a placeholder replaces
        the mention.
    keep : whether the text keeps the mention. The column then keeps all its split points.
    shift : whether it is a date, which moves with its person's other dates.
    words : a list of words and the column's values that they mean. Texts are searched for them.
    values : whether texts are searched for the column's own values.
    """

    column: str | None = None
    words: Path | None = None
    values: bool = False
    keep: bool = False
    shift: bool = False

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, given: Any) -> Any:
        if not isinstance(given, str):
            return given
        return {"drop": {}, "shift": {"shift": True}}.get(given, {"column": given})

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if self.keep and self.column is None:
            raise ValueError("name the column of the values that the text keeps")
        if self.shift and (self.keep or self.column):
            raise ValueError("a date is shifted, or is of a column")
        if (self.words or self.values) and (self.keep or self.column is None):
            raise ValueError("words are of a column whose intervals are written in their place")
        return self

    @property
    def is_drop(self) -> bool:
        """Whether a placeholder replaces every mention."""
        return self.column is None and not self.shift

    @property
    def is_looked_for(self) -> bool:
        """Whether texts are searched for words of the plan, in addition to the kit's detections."""
        return self.values or self.words is not None


class NamesTable(PlanEntry):
    """The columns of people's names. Each person gets one made-up name in all parts.

    source : the source of these columns, by default that of the first table, or that of the export.
    """

    given: str = "given_name"
    family: str = "family_name"
    source: str | None = None


class DeterminationTable(PlanEntry):
    """The context in which `study determine` evaluates the release.

    context : file with the recipient, the purpose and the thresholds.
    """

    context: Path


Part = Annotated[RowsPart | TextPart, Field(discriminator="kind")]
