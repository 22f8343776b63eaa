"""Make a first release of a table in one call, `voile.protect`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import voile.tables as vt
from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, as_keywords
from voile.core.wording import count
from voile.data.roles import Role, Roles
from voile.face.release import Release
from voile.proposals.propose import inspect
from voile.report.wording import share, share_and_odds

TREATMENTS: Mapping[Role, str] = {
    "quasi": "generalised",
    "sensitive": "released as they are",
    "keep": "released as they are",
    "label": "released as they are",
    "identifier": "dropped",
    "text": "dropped",
    "undecided": "dropped",
    "drop": "dropped",
}
OF_TABLES: tuple[Role, ...] = ("quasi", "sensitive", "keep", "label", "weight", "identifier")


@check_arguments
@as_keywords()
def protect(
    frame: Any,
    *,
    k: int = 5,
    roles: object = None,
    population: object = None,
    seed: int | None = None,
    quiet: bool = False,
) -> Release:
    """Release a table of people with the least information loss, and print the choices to check.

    The function proposes roles (`voile.inspect`) and fits trees and global policies
    (`voile.tables.fit`). It then applies the policy with the least loss, without pseudonyms. Call
    these functions one by one to make these choices yourself.

    Parameters
    ----------
    frame : a frame, a dictionary of columns, or a path or address of a table.
    k : least number of people in each released group, 2 or more. Rows of one person count together
        if the proposed roles name a subject.
    roles : the roles of all columns, in any form that `voile.tables.fit` accepts. If None, the
        function proposes them.
    population : counts of the people among whom an adversary searches. If None, the people of the
        table are the population.
    seed : seed of the search. The same seed gives the same policies.
    quiet : whether to print nothing.

    Returns
    -------
    The release, in memory. Its `.frame` has the type of the input, and `.save(path)` writes it.

    Raises
    ------
    RequestError : no column is a quasi-identifier, or k is below 2.
    InfeasibleError : the table has fewer than k people.

    Notes
    -----
    Guarantee: each released group has at least k people, as counted by the gate in the release.
    There is no guarantee against an adversary who knows sensitive values. Cost: the cost of
    `voile.tables.fit`.

    Examples
    --------
    >>> ages = {"age": [30, 31, 34, 38, 60, 61, 65, 69], "ill": ["flu", "gout"] * 4}
    >>> roles = {"age": "quasi", "ill": "sensitive"}
    >>> release = protect(ages, k=2, roles=roles, seed=1, quiet=True)
    >>> len(set(release.frame["age"]))
    4
    """
    if k < 2:
        raise RequestError("one person is no group", where="k", instead="use 2 or more")
    proposed = inspect(frame, kind="tables") if roles is None else Roles.parse(roles)
    used = _of_tables(proposed)
    if not used.of("quasi"):
        raise RequestError(
            "no column is a quasi-identifier",
            where="roles",
            instead='pass roles={"COLUMN": "quasi", ...} with the columns that others may know',
        )
    known = {} if population is None else {"population": population}
    kit = vt.fit(frame, roles=used, k=k, seed=seed, **known)
    chosen = kit.choose(least_loss=True)
    release = kit.apply(chosen, frame, no_pseudonyms=True)
    if not quiet:
        print("\n".join(_summarise(proposed, release, k, roles is None, population is not None)))
    return release


def _of_tables(proposed: Roles) -> Roles:
    """Give the role `drop` to the columns with a role that `voile.tables.fit` does not accept."""
    others = {name: "drop" for name, one in proposed.columns.items() if one.role not in OF_TABLES}
    return proposed.corrected(others) if others else proposed


def _summarise(
    roles: Roles, release: Release, k: int, is_proposed: bool, knows_population: bool
) -> Iterator[str]:
    figures = (release.private or {})["figures"]
    counts = (release.private or {})["counts"]
    rows = f"{counts['released']:,} of {count(counts['read'], 'row')}"
    yield f"voile.protect: {rows} released, at least {k} people in each group"
    for role, treatment in TREATMENTS.items():
        if names := [name for name in roles.of(role) if name != roles.subject]:
            yield f"  {role} ({treatment}): {', '.join(names)}"
    if roles.subject is not None:
        yield f"  rows of one person share: {roles.subject} (dropped)"
    yield f"  largest risk: {share_and_odds(figures['max_risk'])}"
    loss = share(figures["information_loss"])
    yield f"  information loss: {loss} (0% = original, 100% = no information)"
    yield "Check before you share it:"
    if is_proposed:
        yield "  - The roles are proposals from names and values. Correct them with roles=."
    if roles.subject is None:
        yield "  - Each row counts as one person. Name the subject in roles if people have several."
    if not knows_population:
        yield "  - The adversary knows that a person is in the table. Pass population= otherwise."
    if kept := roles.of("sensitive", "keep", "label"):
        yield f"  - The values of {', '.join(kept)} can reveal a person to someone who knows them."
    yield "  - Run release.attack(original=frame), then release.report(evidence)."
