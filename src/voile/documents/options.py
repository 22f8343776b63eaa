"""Options of `fit`, `apply` and the other verbs. Each field becomes a command-line option."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

import voile.release.options
from voile.data import places
from voile.documents.columns import AnyColumns, TextColumns

Learner = Literal[
    "crf",
    "svm",
    "adaboost",
    "ensemble",
    "selection",
    "consensus",
    "reader",
    "default",
    "crf-cost",
    "svm-cost",
    "adaboost-cost",
    "ensemble-cost",
    "selection-cost",
]
LEARNERS: tuple[Learner, ...] = ("crf", "svm", "adaboost", "ensemble", "consensus")
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
MOST_JOBS = 256
"""The most processes; a larger number is probably a typing error that would block the machine."""


def _some(jobs: int) -> int:
    if not 1 <= jobs <= MOST_JOBS and jobs != -1:
        raise ValueError(f"use 1 to {MOST_JOBS}, or -1 for as many as processors")
    return jobs


Jobs = Annotated[int, AfterValidator(_some)]


def _distinct(lists: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [name for one in lists for name, _ in places.named_phrases(one)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two lists are called {name}")
    return lists


Lists = Annotated[tuple[places.NamedPhrases, ...], AfterValidator(_distinct)]


def _new_names(models: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [name for one in models for name in one]
    for name in names:
        if name in get_args(Learner) or names.count(name) > 1:
            raise ValueError(f"two learners are called {name}")
    return models


Models = Annotated[tuple[places.NamedFolders, ...], AfterValidator(_new_names)]


class LearningOptions(voile.release.options.Options):
    """Options for training committees of classifiers, including the costs of errors."""

    miss_cost: tuple[Positive, ...] = Field(
        (1.0, 2.0, 5.0, 10.0, 20.0, 50.0),
        min_length=1,
        description=(
            "cost of a missed identifier, in harmless tokens. voile trains one "
            "committee for each value"
        ),
    )
    weight: tuple[str, ...] = Field(
        (),
        description=(
            "TYPE=FACTOR: multiply the cost of a missed identifier of one type. Repeatable"
        ),
    )
    learners: tuple[Literal[Learner, "none"], ...] = Field(
        ("default",),
        min_length=1,
        description="learners tried in each pass, of which the most cost-effective is kept. "
        "Default: reader if it is installed, else consensus. none: only those of --model",
    )
    model: Models = Field(
        (),
        description="NAME=FOLDER: a trained token classifier (ONNX, spaCy), tried in addition "
        "to the learners; repeatable",
    )
    cross_fit: int = Field(
        5,
        ge=0,
        description="number of folds, by subject; 0 judges on the training text, as the paper",
    )
    decision: Literal["cost", "accuracy"] = Field(
        "cost",
        description="decision rule: minimum expected cost, or the classifier's label (paper)",
    )
    max_passes: int = Field(20, ge=1, description="maximum number of passes of a policy")
    least_left: int = Field(300, ge=1, description="stop when fewer tokens than this remain")
    lists: Lists = Field(
        (),
        description=(
            "NAME=FILE: list of names or places, one per line, which the learners use "
            "as a feature. Repeatable"
        ),
    )
    jobs: Jobs = Field(-1, description="number of processes; -1 uses every processor")

    @field_validator("learners")
    @classmethod
    def _none_alone(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "none" in value and len(set(value)) > 1:
            raise ValueError("none cannot be combined with others")
        return value


class FitOptions(LearningOptions, TextColumns, voile.release.options.FitOptions):
    """Options for training committees on annotated text."""

    clusters: Literal["english", "spanish"] | None = Field(
        None, description="language of the word clusters that the learners use as features [none]"
    )
    context: bool = Field(
        False, description="also learn words that point to identifiers, as types named CONTEXT_..."
    )
    resume: places.Place | None = Field(
        None,
        description="folder that stores finished fits, so that an interrupted run can resume",
    )


class KnownTables(voile.release.options.Options):
    """Options for tables next to the notes, with values of the people in them."""

    known: tuple[places.RowsPlace, ...] = Field(
        (),
        description=(
            "table with names, dates, numbers and addresses of the notes' people. Repeatable"
        ),
    )
    by: str | None = Field(
        None,
        description=(
            "column that identifies the subject of each row, in the tables and in the notes"
        ),
    )
    known_people: tuple[places.RowsPlace, ...] = Field(
        (), description="table of people whom any note may mention, such as staff. Repeatable"
    )
    known_kind: tuple[str, ...] = Field(
        (),
        description=(
            "COLUMN=KIND: kind of values of a known column, such as name, date or phone. Repeatable"
        ),
    )

    @field_validator("known_kind")
    @classmethod
    def _pairs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any("=" not in one for one in value):
            raise ValueError("write COLUMN=name, date, phone, email, id, address ...")
        return value

    def kinds(self) -> dict[str, str]:
        """Return the kinds of columns that are given."""
        return dict(one.split("=", 1) for one in self.known_kind)


class ApplyOptions(AnyColumns, voile.release.options.ApplyOptions):
    """Options for the replacements of removed text, and for additional removals."""

    replace: Literal["mark", "category", "surrogate"] = Field(
        "mark",
        description=(
            "replacement of identifiers: their type, as in [NAME], a category, or a made-up value"
        ),
    )
    language: Literal["english", "spanish"] | None = Field(
        None, description="language of the surrogates [detected by init, else english]"
    )
    date_order: Literal["dmy", "mdy"] | None = Field(
        None,
        description=(
            "order of day and month in numeric dates [dmy in Spanish; in English mdy if possible]"
        ),
    )
    date_shift_days: int = Field(365, ge=1, le=36_500, description="maximum date shift in days")
    ages: Literal["keep", "mark"] = Field(
        "keep",
        description="treatment of ages up to 89 with surrogates. Older ages are always grouped",
    )
    names: places.Place | None = Field(
        None, description="folder with your own lists of names for surrogates"
    )
    kind: tuple[str, ...] = Field(
        (),
        description=(
            "TYPE=KIND: kind of values of a type, such as name, date, age or number. Repeatable"
        ),
    )
    patterns: tuple[str, ...] = Field(
        ("all",), description="names of the identifier patterns to remove, or all, or none"
    )
    record: tuple[str, ...] = Field(
        (), description="format of record numbers to remove, such as MRN-######. Repeatable"
    )
    deny: places.PhrasesPlace | None = Field(
        None, description="file of phrases to remove, one per line"
    )
    allow: places.PhrasesPlace | None = Field(
        None, description="file of phrases to keep, one per line"
    )
    context: bool = Field(
        False,
        description="also remove words that point to removed values, by the rules of the fit",
    )
    model: Models = Field(
        (), description="NAME=FOLDER: current folder of a model that the kit uses. Repeatable"
    )
    repeats: bool = Field(
        True, description="also remove every other mention of a removed name in the same document"
    )
    files: Literal["txt", "brat", "docx"] | None = Field(
        None, description="write a folder with one file per document instead of a table"
    )
    file_names: str | None = Field(
        None, description="column with the names of these files [numbers in random order]"
    )
    known: places.RowsPlace | None = Field(
        None,
        description=(
            "table with names, dates and numbers of the notes' people, if the kit "
            "does not contain them"
        ),
    )
    by: str | None = Field(
        None,
        description=(
            "column that identifies the subject of each row of --known [the column given to init]"
        ),
    )
    known_people: places.RowsPlace | None = Field(
        None, description="table of people whom any note may mention, such as new staff"
    )
    pseudonyms: bool = Field(
        False,
        description="release the subject of each text as a pseudonym, which needs a secret key",
    )
    jobs: Jobs = Field(1, description="number of processes; -1 uses every processor")

    @model_validator(mode="after")
    def _of_files(self) -> ApplyOptions:
        if self.file_names is not None and self.files is None:
            raise ValueError("file_names is for files: add --files txt, brat or docx")
        if self.files is not None and self.pseudonyms:
            raise ValueError("pseudonyms stand in a table's column: leave --files out")
        return self

    @model_validator(mode="after")
    def _of_surrogates(self) -> ApplyOptions:
        own = {"language", "date_order", "date_shift_days", "ages", "names"} & self.model_fields_set
        if self.replace != "surrogate" and own:
            name = min(own).replace("_", "-")
            raise ValueError(f"{name} is for surrogates: add --replace surrogate")
        return self

    def kinds(self) -> dict[str, str]:
        """Return the kinds of types that are given."""
        return dict(one.split("=", 1) for one in self.kind)

    @field_validator("patterns")
    @classmethod
    def _alone(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) > 1 and {"all", "none"} & set(value):
            raise ValueError("all and none cannot be combined with others")
        return value

    @field_validator("kind")
    @classmethod
    def _pairs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any("=" not in one for one in value):
            raise ValueError("write TYPE=name, date, age, number ...")
        return value


class AttackOptions(KnownTables, AnyColumns, voile.release.options.AttackOptions):
    """Options for the adversary's training text, and the number of inspected tokens."""

    known: tuple[places.RowsPlace, ...] = Field(
        (),
        description=(
            "table with the names of the notes' people. The names score guesses at "
            "removed names. Repeatable"
        ),
    )
    inspections: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (),
        description=(
            "number of tokens that the attacker inspects [the remaining identifiers "
            "plus 1% of tokens]"
        ),
    )
    labels: tuple[Literal["published", "released", "foreign", "starter"], ...] = Field(
        ("published", "released", "starter"),
        min_length=1,
        description="source of training labels: published, released or foreign text, or the "
        "public text of voile's starter, where the release is in its language",
    )
    foreign: places.RowsPlace | None = Field(
        None, description="annotated corpus of another publisher"
    )
    order: Literal["margin", "paper", "negatives"] = Field(
        "margin", description="order of inspection"
    )
    learners: tuple[Learner, ...] = Field(
        LEARNERS,
        min_length=1,
        description="learners of the attacker, who uses the most accurate one",
    )
    lists: Lists = Field(
        (),
        description=(
            "NAME=FILE: list of names or places, one per line, that the adversary has. Repeatable"
        ),
    )
    jobs: Jobs = Field(-1, description="number of processes; -1 uses every processor")

    @model_validator(mode="after")
    def _of_another(self) -> AttackOptions:
        if "foreign" in self.labels and self.foreign is None:
            raise ValueError("foreign labels need a corpus to learn from: add --foreign FILE")
        return self


class AssessOptions(KnownTables, TextColumns):
    """Options for the original's text and annotation columns, and tables of known values."""

    known: tuple[places.RowsPlace, ...] = Field(
        (),
        description=(
            "table with names, dates and numbers of the original's people, to search "
            "for. Repeatable"
        ),
    )
