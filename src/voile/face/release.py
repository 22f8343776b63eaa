"""The public class of releases, with verbs to attack, report, verify and save a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NoReturn, Self

from pydantic import NonNegativeInt

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, as_keywords, name_kind
from voile.core.progress import ProgressHook, silent
from voile.core.removed_names import removed_method
from voile.data import to_frame
from voile.data.files.memory import MemoryPath
from voile.face.keywords import PROGRESS, SEED, SOURCE, checked_own, document_verb
from voile.face.report import ReportPage, report_of
from voile.keys.secret import Secret
from voile.release.evidence import AttackResults, default_place, find_evidence, write_evidence
from voile.release.manifest import StoredRelease as PlainRelease
from voile.release.module import AnyModule
from voile.release.options import check_options, list_stored
from voile.release.verify import ReleaseCheck, check_seal, checks
from voile.release.writing import save_release


@dataclass(frozen=True, eq=False)
class Release(PlainRelease):
    """A release on disk or in memory, made by `Kit.apply` or opened by `open_release`.

    `path` is its location. Publish `manifest` with the release, and keep `private`. `private` is
    None if only the released files were received.
    """

    module: AnyModule = field(kw_only=True)

    @classmethod
    def of(cls, release: PlainRelease, module: AnyModule) -> Self:
        """Build a public release from a stored one and the module of its kind of data."""
        own = (release.path, release.public, release.private, release.like, release.secret)
        return cls(*own, module=module)

    @classmethod
    def open(cls, path: object, **how: Any) -> NoReturn:
        """Raise the error of a removed method, which refers to `voile.open_release`."""
        raise removed_method("", "Release.open")

    @property
    def attack(self) -> Callable[..., AttackResults]:
        """Attack the release as an adversary would. `help(release.attack)` lists the options."""
        return attack_of(self)

    @check_arguments
    @as_keywords()
    def expand(
        self, columns: str | Sequence[str] = (), *, weight: str = "weight", row: str = "row"
    ) -> Any:
        """Expand intervals to single values with weights, for counts and models. Only for tables.

        The method reads the released rows and their manifest, as any recipient can. All values of
        an interval are taken as equally likely, unless the manifest contains counts of runs of
        values. A row becomes one row for each combination of the possible values of the given
        columns. Its weights sum to 1. A missing value counts as one possible value, null.

        In the other columns, numbers, years and times (in hours) become the mean of the known
        values of the interval. Days and months become a mean too, as a timestamp. Text becomes its
        label.

        The end of an open interval is unknown. The method uses the outermost end that the release
        shows for that column: ``85 and over`` is 85 if nothing above 85 is shown. An interval that
        is open at both ends is null if no end is shown. An interval of digit codes includes all
        codes between its ends, even codes that no person has.

        Parameters
        ----------
        columns : generalised columns to expand to single values. Without them, the result has one
            row for each released row.
        weight, row : names of the added columns: the weight, and the number of the released row
            from 0.

        Returns
        -------
        A frame of the same type as the source, or an Arrow table if the source was a file.

        Raises
        ------
        RequestError : the release is of another kind, a column is not generalised or has no list of
            values, or the result exceeds 5 million rows.
        TamperedError : the hash of the released bytes differs from the hash in the manifest.
        """
        expand = self.module.expand
        if expand is None:
            raise RequestError(
                f"a release of {self.kind} has no intervals to expand",
                where=self.path.name,
                instead="use release.frame",
            )
        self.check_hash()
        asked = (columns,) if isinstance(columns, str) else columns
        if not isinstance(asked, list | tuple):
            raise RequestError(
                f"{name_kind(asked)} is not a list of columns",
                where="columns",
                instead="give a list of column names",
            )
        return to_frame(expand(self, tuple(asked), weight=weight, row=row), like=self.like)

    @check_arguments
    def report(
        self,
        evidence: object = None,
        *,
        internal: bool = False,
        key_file: str | PathLike[str] | None = None,
    ) -> ReportPage:
        """Report the disclosure risk and the utility on one page.

        Parameters
        ----------
        evidence : the result of attack, its file, or several. Without it, the method reads the
            evidence that attack wrote next to a release on disk.
        internal : whether the page is for the data holder alone and includes small counts.
        key_file : file with the secret of the seals [variable VOILE_SECRET].

        Raises
        ------
        RequestError : the evidence is about another release.
        TamperedError : the release or the evidence does not match its seal.
        """
        secret = Secret.find(key_file)
        check_seal(self, secret)  # the page describes these bytes and figures
        found = find_evidence(self, secret, evidence)
        name = None if isinstance(self.path, MemoryPath) else self.path.name
        return report_of(self, self.module, found, "internal" if internal else "public", name)

    @check_arguments
    def verify(self, *, key_file: str | PathLike[str] | None = None) -> tuple[ReleaseCheck, ...]:
        """Check the release against its manifests. Return each check as a text and its result.

        Parameters
        ----------
        key_file : file with the secret of the seals [variable VOILE_SECRET].
        """
        return tuple(checks(self, self.module.verify, Secret.find(key_file)))

    @check_arguments
    @as_keywords()
    def save(
        self,
        path: str | PathLike[str],
        evidence: AttackResults | None = None,
        *,
        formulas: Literal["keep", "escape"] = "keep",
        force: bool = False,
    ) -> Release:
        """Write a release that is in memory, with its manifests and its seal, as `apply` would.

        Parameters
        ----------
        path : a file, or a table of a database.
        evidence : the findings of attacks on the release, which are written to the private folder.
        formulas : as in `apply`.
        force : replace the output if voile wrote it.

        Returns
        -------
        The release on disk.
        """
        own = checked_own(formulas=(formulas, Literal["keep", "escape"]))
        found = find_evidence(self, self.secret, evidence)
        saved = save_release(self, Path(path), escape=own["formulas"] == "escape", force=force)
        if found:
            write_evidence(default_place(saved), saved, found, self.secret, force=False)
        return Release.of(saved, self.module)


def attack_of(release: Release) -> Callable[..., AttackResults]:
    module = release.module
    model = module.options.attack

    def attack(
        original: object = None,
        *,
        seed: int | None = None,
        key_file: str | PathLike[str] | None = None,
        progress: ProgressHook = silent,
        **options: Any,
    ) -> AttackResults:
        with as_keywords():
            truth = options.pop("truth", None)
            given = check_options(model, options)
            own = checked_own(seed=(seed, NonNegativeInt))
            source = _one_original(original, truth)
            check_seal(release, Secret.find(key_file))
            opened = module.open(source)
            found = module.attack(release, opened, given, seed=own["seed"], progress=progress)
        return AttackResults(release, found, [list_stored(given)])

    said = {
        "original": f"the original source, used to score the attack: {SOURCE}",
        "seed": SEED,
        "key_file": "file with the secret of the seal [variable VOILE_SECRET]",
        "progress": PROGRESS,
    }
    first = "Attack the release as an adversary with the background knowledge given by the options."
    return document_verb(attack, first, said, model)


def _one_original(original: object, truth: object) -> object:
    """Return the original source, given either as `original` or by its older name `truth`."""
    if (original is None) == (truth is None):
        raise RequestError(
            "an attack needs exactly one original source",
            where="original",
            instead="give the original source once",
        )
    return truth if original is None else original
