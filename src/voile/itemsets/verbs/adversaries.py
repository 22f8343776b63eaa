"""`voile itemsets adversaries`: what each adversary costs, before a kit is fitted against one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from voile.core.errors import InfeasibleError, RequestError
from voile.core.wording import count
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.against import Against, Known, adversaries
from voile.itemsets.rows.matrix_source import open_source
from voile.itemsets.rows.ranges import Grid
from voile.itemsets.rows.sources import RowReader
from voile.itemsets.verbs.options import AdversariesOptions
from voile.release.own_verbs import Ended, Reporter
from voile.report.wording import listed


def compare_adversaries(
    options: AdversariesOptions,
    reporter: Reporter,
    *,
    source: object,
    table: str | None,
    encoding: str | None,
) -> Ended:
    """Choose items against each adversary and for each k; report every choice against all."""
    opened = open_source(source, table=table, encoding=encoding)
    roles = Roles.parse(options.roles)
    everybody = HoldOut(0.0, b"", roles.subject)
    reader = RowReader(roles, everybody, "drop" if options.drop_unlabelled else "refuse")
    reader.check(opened)
    reader = reader.with_target(opened, options.target_bins)
    forms = reader.learn(opened)
    if any(isinstance(form, Grid) for form in forms):
        raise RequestError(
            "columns of numbers are cut for one adversary, and none can be compared",
            where=opened.name,
            instead="give them the role drop, or fit a kit against each adversary",
        )
    rows = reader.read(opened, forms)
    known: tuple[Known, ...] = (*sorted(set(options.m)), None)
    found = adversaries(
        rows.incidence,
        rows.labels,
        k=sorted(set(options.k)),
        m=known,
        method=options.method,
        random_state=options.seed,
    )
    if not found:
        raise InfeasibleError("no item may be published for any k", instead="use a smaller k")
    for one in found:
        reporter.insist(_in_words(one, known))
    return Ended({"m": known, "adversaries": [asdict(one) for one in found]})


def _in_words(one: Against, known: Sequence[Known]) -> str:
    r"""Say what a choice publishes and what it is worth against each adversary.

    >>> said = _in_words(Against(2, 5, 31, 0.851, 0.004, (9, 5, 1)), (1, 2, None))
    >>> print(said.replace("; ", "\n"))
    knows 2 items, k = 5: 31 features, AUC 0.85, 0.4% of rows unique
    k reached against 1, 2 and all items: 9, 5 and 1
    """
    who = "all items" if one.m is None else count(one.m, "item")
    auc = "" if one.auc is None else f"AUC {one.auc:.2f}, "
    ms = listed(["all" if m is None else str(m) for m in known])
    return (
        f"knows {who}, k = {one.k:,}: {count(one.features, 'feature')}, {auc}"
        f"{one.unique_share:.1%} of rows unique; k reached against {ms} items: "
        f"{listed([f'{reached:,}' for reached in one.reached])}"
    )
