"""The rows of a person that a released column joins: the check of them, and a release without."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.data import Source
from voile.gate.finding import GateFinding
from voile.keys.random import Protective
from voile.tables.domains.domain import encode_cells
from voile.tables.people.counts import Constraints
from voile.tables.verbs.promises import least_people

ACCEPTED = "accepted_risk"
"""The part of the public manifest with the reason for which the data holder accepted the risk."""
PROMISED_PEOPLE = "promised_people"
"""The part with the number of people who must share all rows of a person."""
CHOICES = (
    "choose one: fit with --promise person; apply with --no-pseudonyms; apply with --one-row; "
    "or apply with --accept-risk REASON, which the report repeats on its first line"
)


def promised_people(rules: Constraints, *, population_known: bool) -> int:
    """Return how many people must share a record: k, or 1 / the largest risk where that is more.

    With a population the largest risk is one of a register, which has no records of several rows.

    >>> promised_people(Constraints(k=2, max_risk=0.2), population_known=False)
    5
    """
    return rules.k if population_known else least_people(rules.k, rules.max_risk)


def check_records(findings: Iterable[GateFinding], k: int) -> None:
    """Refuse a release that singles people out by all their rows.

    Raises
    ------
    InfeasibleError : fewer than `k` people have the same rows as some person.
    """
    below = next((one for one in findings if one.name == "people_below_k"), None)
    if below is None or not below.value:
        return
    people = "1 person has" if below.value == 1 else f"{below.value:,.0f} people have"
    raise InfeasibleError(
        f"{people} records that fewer than {k} people share, for an adversary who {below.knows}",
        instead=CHOICES,
    )


def other_rows(source: Source, subject: str | None) -> NDArray[np.int64]:
    """Return the numbers of all rows but one of each person; which one is random.

    A row without a subject is a person. One pass over the subjects; memory O(rows).

    Raises
    ------
    RequestError : the roles name no subject.
    """
    if subject is None:
        raise RequestError(
            "--one-row needs to know whose each row is", instead="name the subject in the roles"
        )
    column = source.read([subject]).column(0)
    people, of_row = encode_cells(column)
    order = Protective().generator().permutation(len(of_row))
    _, first = np.unique(of_row[order], return_index=True)
    others = np.ones(len(of_row), dtype=np.bool_)
    others[order[first]] = False
    nobody = np.array([person is None for person in people], dtype=np.bool_)
    return np.flatnonzero(others & ~nobody[of_row]).astype(np.int64)
