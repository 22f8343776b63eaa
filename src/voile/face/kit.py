"""The public class of kits, with the verbs `choose`, `apply` and `report` as methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Self, cast

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, as_keywords, name_kind, nearest
from voile.core.progress import ProgressHook, silent
from voile.core.removed_names import removed_method
from voile.core.warn import warn
from voile.face.frontier import KitFrontier
from voile.face.keywords import PROGRESS, SOURCE, VoileWarning, document_verb
from voile.face.release import Release
from voile.face.report import ReportPage, report_of
from voile.release.choice import Chosen, default_choice
from voile.release.choosing import choose_by
from voile.release.kit import StoredKit as PlainKit
from voile.release.module import AnyModule
from voile.release.options import check_options


@dataclass(frozen=True, eq=False)
class Kit(PlainKit):
    """The result of `fit`: a frontier of policies and the tables needed to apply them.

    `visibility` is ``private`` if the kit contains raw values or the numbers of one person. A kit
    is ``shareable`` only if tests show that it contains none of these.
    """

    module: AnyModule = field(kw_only=True)

    @classmethod
    def of(cls, kit: PlainKit, module: AnyModule) -> Self:
        """Build a public kit from a stored one. A kit that was read from disk keeps its id."""
        given = cls(kit.kind, kit.visibility, kit.facts, kit.tables, module=module)
        vars(given).update({name: x for name, x in vars(kit).items() if name == "id"})
        return given

    @classmethod
    def load(cls, path: str | PathLike[str], kind: str | None = None) -> NoReturn:
        """Raise the error of a removed method, which refers to `voile.open_kit`."""
        raise removed_method("", "Kit.load")

    @property
    def frontier(self) -> KitFrontier:
        """Return the kit's policies, with their risk, loss and other figures."""
        return KitFrontier(self, self.module)

    @check_arguments
    def choose(
        self,
        *,
        after: str | PathLike[str] | None = None,
        key_file: str | PathLike[str] | None = None,
        releases: Sequence[str | PathLike[str]] = (),
        source: object = None,
        hold_back: bool = False,
        recipient: str | None = None,
        recount: bool = False,
        **how: Any,
    ) -> Chosen:
        """Choose one policy of the frontier.

        Give exactly one of the ways that this kind of data supports.

        Parameters
        ----------
        max_risk : largest risk of any one record: least loss, 0 to 1.
        max_relative_risk : share of the source's risk that may remain: least loss, 0 to 1.
        max_loss : least risk at this loss or less, 0 to 1.
        least_loss : True for the policy with the least loss.
        beats : better than a named policy, such as ``safe-harbor``.
        policy : number of the policy in the frontier.
        knee : True for the policy where the frontier bends most.
        joint_risk : share of the source's risk that all releases of the ledger `after` may leave
            together: least loss, 0 to 1. Without it, the ledger's risk budget.
        after : ledger of the source's releases. The chosen policy is safe given these releases.
        key_file : file with the secret of the ledger.
        releases : folders with the ledger's releases of other rows.
        source : the rows to be released. Their people are linked to `releases`.
        hold_back, recipient, recount : the options of the ledger with which the policy will be
            applied.

        Raises
        ------
        InfeasibleError : no policy is within the limit.
        RequestError : no way is given, several are given, or this kind of data does not support it.
        """
        with as_keywords():
            given = {name: x for name, x in how.items() if x is not None and x is not False}
            judged = self.module.choose_after is not None
            known = (*self.module.ways, *(["joint_risk"] if judged else []))
            for name in given.keys() - set(known):
                raise RequestError(f"no such option: {name}", instead=nearest(name, known))
            ledger, secret = (None if x is None else Path(x) for x in (after, key_file))
            return choose_by(
                self.module,
                self,
                given,
                ledger,
                key_file=secret,
                releases=[Path(x) for x in releases],
                source=None if source is None else self.module.open(source),
                hold_back=hold_back,
                recipient=recipient,
                recount=recount,
            )

    @property
    def apply(self) -> Callable[..., Release]:
        """Make the release of a source under a policy. `help(kit.apply)` lists the options."""
        return apply_of(self)

    @check_arguments
    def report(self, *, internal: bool = False) -> ReportPage:
        """Report the policies on one page.

        Parameters
        ----------
        internal : whether the page is for the data holder alone and includes small counts.
        """
        return report_of(self, self.module, (), "internal" if internal else "public", None)

    def _repr_html_(self) -> str:
        return self.frontier.draw_policies(
            f"A {self.visibility} kit of {self.kind}, {self.policies:,} policies"
        )


def apply_of(kit: Kit) -> Callable[..., Release]:
    module = kit.module
    model = module.options.apply

    def apply(
        policy: object,
        source: object,
        out: str | PathLike[str] | None = None,
        *,
        force: bool = False,
        progress: ProgressHook = silent,
        **options: Any,
    ) -> Release:
        with as_keywords():
            given = check_options(model, options)
            given.begin()
            chosen = (
                module.choose(kit, default_choice(kit)) if policy is None else policy_of(policy)
            )
            made = module.apply(
                kit,
                chosen,
                module.open(source),
                None if out is None else Path(out),
                given,
                force=force,
                progress=progress,
            )
        release = Release.of(made, module)
        _warn_of_set_aside(release)
        return release

    said = {
        "policy": "the policy from `choose`, or its file; None for the kit's default",
        "source": SOURCE,
        "out": "a file or table. Without it the release is in memory until it is saved (its "
        "counts may spill to the system's temporary folder, past 1 GB)",
        "force": "replace the output if voile wrote it",
        "progress": PROGRESS,
    }
    return document_verb(apply, "Make the release of a source under a policy.", said, model)


def policy_of(given: object) -> Chosen:
    """Return the policy that a user passed, either as a result of `choose` or as its file."""
    if isinstance(given, Chosen):
        return given
    if isinstance(given, str | PathLike):
        return Chosen.read(Path(given))
    raise RequestError(
        f"{name_kind(given)} is not a policy",
        instead="give the policy that choose returned, or its file",
    )


class SetAsideWarning(VoileWarning):
    """Rows were rejected. Read the reasons in `set-aside.csv` of the private folder."""


def _warn_of_set_aside(release: Release) -> None:
    counts = cast(Mapping[str, Any], release.private)["counts"]
    if counts["set_aside"]:
        said = "; ".join(f"column {x['column']}: {x['reason']}" for x in counts["set_aside_by"])
        warn(f"{counts['set_aside']:,} rows set aside: {said}", SetAsideWarning)
