"""Options that the verbs of all kinds of data share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError

from voile.core.errors import RequestError, nearest
from voile.core.mistakes import plainly
from voile.data.places import PLACES, RowsPlace, with_places
from voile.keys.secret import Secret

if TYPE_CHECKING:
    from voile.release.kit import StoredKit

M = TypeVar("M", bound=BaseModel)
OPTIONS, VERB = "options", "verb"
"""The keys for options and for the verb of one kind, in a kit's facts and a private manifest."""
ALL_ONE = frozenset({"jobs", "resume", "engine", "spark_conf"})
"""Options that do not change the result."""


class Options(BaseModel):
    """A set of options that is validated as a whole and cannot be changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _as_given(cls, given: Any) -> Any:
        """Put a single value of a repeatable option into a tuple. None becomes an empty tuple."""
        if not isinstance(given, Mapping):
            return given
        several = {
            n for n, field in fields_of(cls).items() if get_origin(field.annotation) is tuple
        }
        plain = {n: os.fspath(x) if isinstance(x, os.PathLike) else x for n, x in given.items()}
        one = {n for n in several & plain.keys() if not isinstance(plain[n], tuple | list)}
        return plain | {n: () if plain[n] is None else (plain[n],) for n in one}


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the options of a verb by the names that users type."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


RENAMED = {
    "bound_seconds": "lower_bound_seconds",
    "days": "date_shift_days",
    "resume": "start_from",
    "strategy": "method",
}
"""The earlier names of options, and their present names."""


def check_options(model: type[M], given: Mapping[str, Any], spelt: Callable[[str], str] = str) -> M:
    """Build the options, and report every mistake at once, with the name of each wrong option.

    Parameters
    ----------
    model : the options of the verb.
    given : the values by option name.
    spelt : a function that writes an option's name for the user, such as ``--hold-out`` on the
        command line.

    >>> check_options(ApplyOptions, {"keep_oder": True})
    Traceback (most recent call last):
    voile.core.errors.RequestError: no such option: keep_oder; did you mean keep_order?
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise request_error(error, fields_of(model), spelt) from None


def request_error(
    error: ValidationError, known: Collection[str], spelt: Callable[[str], str] = str
) -> RequestError:
    found = error.errors(include_url=False)
    inside = {m["loc"][0] for m in found if len(m["loc"]) > 1}
    # pydantic reports an option with a wrong value twice.
    mistakes = [m for m in found if len(m["loc"]) != 1 or m["loc"][0] not in inside]
    said = []
    for one in mistakes:
        name = str(one["loc"][0]) if one["loc"] else ""
        if one["type"] == "extra_forbidden":
            new = RENAMED.get(name, "")
            now = f"it is now {spelt(new)}" if new in known else nearest(name, known)
            if len(mistakes) == 1:
                return RequestError(f"no such option: {spelt(name)}", instead=now)
            said.append(f"no such option: {spelt(name)} ({now})")
        else:
            said.append(f"{name and spelt(name) + ': '}{plainly(one)}")
    return RequestError("; ".join(said))


def with_options(kit: StoredKit, options: BaseModel, verb: str | None = None) -> StoredKit:
    """Return a kit that stores the options of the verb that made it. `verb` is None for `fit`."""
    made = {} if verb is None else {VERB: verb}
    return replace(kit, facts={**kit.facts, OPTIONS: {**list_stored(options), **made}})


def list_stored(options: BaseModel) -> dict[str, Any]:
    """Return the options that a user gave. The value of an option that names a place becomes None.

    >>> list_stored(ApplyOptions(key_file="/home/me/key", keep_order=True, formulas="keep"))
    {'keep_order': True, 'key_file': None}
    """
    kept: dict[str, Any] = {}
    for attribute, field in type(options).model_fields.items():
        value = getattr(options, attribute)
        if attribute not in options.model_fields_set - ALL_ONE:
            continue
        if leaves(field.annotation) & PLACES:
            value = [None] * len(value) if isinstance(value, tuple) else None
        elif value == field.default:
            continue
        elif not isinstance(value, bool | int | float | tuple):
            value = str(value)
        kept[field.alias or attribute] = list(value) if isinstance(value, tuple) else value
    return kept


def leaves(annotation: Any) -> set[Any]:
    """Return the types in an annotation, without unions and containers.

    A Literal counts as one type.
    """
    inner = [] if get_origin(annotation) is Literal else get_args(annotation)
    return set[Any]().union(*map(leaves, inner)) if inner else {annotation}


class FitOptions(Options):
    """The options of `fit` that all kinds of data share."""

    hold_out: float = Field(
        0.0, ge=0, lt=1, description="share of subjects to exclude from the fit"
    )


LEAST_WORDS = 3
"""Distinct words of a reason."""


def _check_reason(given: str) -> str:
    """Refuse a reason of fewer than three distinct words of letters."""
    if len(set(re.findall(r"[^\W\d_]{2,}", given.casefold()))) < LEAST_WORDS:
        raise ValueError("a reason has at least three different words; state why it is acceptable")
    return given


Reason = Annotated[str, AfterValidator(_check_reason)]


class ApplyOptions(Options):
    """The options of `apply` that all kinds of data share."""

    keep_order: bool = Field(
        False, description="keep the source's row order. A kept order can link releases"
    )
    formulas: Literal["keep", "escape"] = Field(
        "keep",
        description=(
            "treatment of text in CSV and TSV that a spreadsheet reads as a formula; "
            "escape adds an apostrophe"
        ),
    )
    key_file: Path | None = Field(
        None,
        description=(
            "file with the secret key for pseudonyms, dates, surrogates and the seal "
            "[environment variable VOILE_SECRET]"
        ),
    )
    ledger: Path | None = Field(
        None,
        description=(
            "ledger of the source's releases. voile evaluates the release together "
            "with its entries, then adds an entry"
        ),
    )
    override: str | None = Field(
        None,
        min_length=8,
        max_length=2000,
        description=(
            "release although this exceeds the ledger's risk budget, for this reason. "
            "The ledger records the reason, so do not name a person"
        ),
    )
    engine: Literal["here", "spark"] = Field(
        "here",
        description="the place of the work: processes here, or the workers of a Spark that read "
        "and write the same folders. Spark writes a folder of Parquet files",
    )
    spark_conf: tuple[str, ...] = Field(
        (),
        description=(
            "NAME=VALUE: setting of the Spark session, in addition to Spark's own files. Repeatable"
        ),
    )

    def begin(self) -> None:
        """Start the session of the engine, before opening a source would start it."""
        if self.spark_conf and self.engine != "spark":
            raise RequestError(
                "--spark-conf applies only to Spark",
                where="--spark-conf",
                instead="add --engine spark, or leave --spark-conf out",
            )
        if self.engine == "spark":
            from voile.data.spark.session import open_session

            open_session(self.spark_conf)

    def at_worker(self) -> Self:
        """Return the options for a worker process, with absolute paths and without a ledger."""
        types = {n: leaves(field.annotation) for n, field in type(self).model_fields.items()}
        paths = {
            name: with_places(one, types[name], whole_path)
            for name, one in self
            if name in self.model_fields_set and types[name] & PLACES
        }
        return self.model_copy(update={**paths, "ledger": None, "override": None})

    def as_json(self) -> str:
        """Return the given options as JSON for another process.

        Raises
        ------
        RequestError : an option contains an object that only this process has.
        """
        try:
            return self.model_dump_json(exclude_unset=True, by_alias=True)
        except PydanticSerializationError:
            raise RequestError(
                "workers read files, but an option contains rows or a function of this process",
                instead="write it to a file, and name the file",
            ) from None


def whole_path(thing: Any) -> Any:
    """Return the absolute path of a file or folder, and any other text unchanged.

    >>> whole_path("postgresql://host/county::people")
    'postgresql://host/county::people'
    """
    if isinstance(thing, Path):
        return thing.absolute()
    is_here = isinstance(thing, str) and os.path.exists(thing.partition("::")[0])
    return os.path.abspath(thing) if is_here else thing


class AcceptingOptions(ApplyOptions):
    """How a release is written if its joined rows may single out people."""

    accept_risk: Reason | None = Field(
        None,
        description=(
            "release although linked rows single out people, for this reason. The "
            "report repeats the reason on its first line"
        ),
    )


class PseudonymOptions(ApplyOptions):
    """Options for a release that names its subjects by pseudonyms."""

    no_pseudonyms: bool = Field(False, description="drop the column of subjects")

    def secret(self, subject: str | None) -> Secret | None:
        """Read the secret. Without a secret, the user must ask to drop the column of subjects.

        Raises
        ------
        RequestError : there is no secret, and pseudonyms of this column are to be released.
        """
        secret = Secret.find(self.key_file)
        if secret is None and subject is not None and not self.no_pseudonyms:
            raise RequestError(
                "there is no secret to make pseudonyms of it",
                where=f"column {subject}",
                instead="set VOILE_SECRET or --key-file, or do without, by --no-pseudonyms",
            )
        return secret


class AttackOptions(Options):
    """The options of `attack` that all kinds of data share."""


class ControlOptions(AttackOptions):
    """Options for scoring an attack against people whose data no release contains."""

    control: RowsPlace | None = Field(
        None, description="table of people outside the release, as the control"
    )
