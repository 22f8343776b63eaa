"""The order of a domain whose values have none of their own: it decides which can be merged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.errors import RequestError, SourceError
from voile.tables.domain import Domain, Reading
from voile.tables.hipaa import is_zip, order_for_safe_harbor, small_areas
from voile.tables.settings import Order


def in_order(
    domain: Domain,
    subjects: NDArray[np.float64],
    people: NDArray[np.float64] | None,
    order: Order | None,
) -> Domain:
    """Put a domain's values into the order asked for.

    Parameters
    ----------
    domain : in its natural order: numbers, dates and text each by value.
    subjects : (values,) of the sample.
    people : (values,) of the population, None where no table counts it: then the list of small
        three-digit areas is that of the 2010 census.
    order : as in `QuasiSettings`. None keeps natural order, but puts names (text that is not all
        digits) by how many subjects have them, most first, and ZIP codes so that Safe Harbor can
        be said in them. Rare names then lie side by side and merge with each other first: on the
        Tennessee pair that takes a tenth off the frontier's area against the alphabet. Labels
        do not tell this order: they name values in the alphabet's.
    """
    if order == "natural":
        return domain
    if isinstance(order, tuple | Path):
        return _listed(domain, _given(domain.column, order))
    if order == "zip3" or (order is None and is_zip(domain)):
        return _zip_order(domain, people, forced=order == "zip3")
    if order == "common" or (order is None and _is_named(domain)):
        return _listed(domain, _common_first(domain, subjects))
    return domain


def _listed(domain: Domain, values: Sequence[str]) -> Domain:
    nulls = (None,) if domain.nullable else ()
    return Domain(domain.column, (*values, *nulls), Reading("listed"))


def _is_named(domain: Domain) -> bool:
    known = [v for v in domain.values if v is not None]
    return domain.reading.kind == "text" and not all(str(v).isdigit() for v in known)


def _common_first(domain: Domain, subjects: NDArray[np.float64]) -> list[str]:
    known = [str(v) for v in domain.values if v is not None]
    place = sorted(range(len(known)), key=lambda i: (-subjects[i], known[i]))
    return [known[i] for i in place]


def _zip_order(domain: Domain, people: NDArray[np.float64] | None, *, forced: bool) -> Domain:
    """Put small three-digit areas last where numeric order would not keep them side by side."""
    if people is None:
        areas = small_areas(domain, np.zeros(len(domain)), "2010")
    else:
        areas = small_areas(domain, people)
    runs = np.diff(np.concatenate(([0], areas.small.astype(int)))).clip(0).sum()
    if runs <= 1 and not forced:
        return domain
    known = [str(v) for v in domain.values if v is not None]
    return _listed(domain, order_for_safe_harbor(known, areas))


def _given(column: str, order: tuple[str, ...] | Path) -> tuple[str, ...]:
    where = f"column {column}, {order}"
    if isinstance(order, tuple):
        values = order
    else:
        try:
            text = Path(order).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise SourceError("no such order file", where=where) from None
        except UnicodeDecodeError as error:
            raise SourceError(f"byte {error.start} is not UTF-8 text", where=where) from None
        except OSError as error:
            raise SourceError(f"cannot be read ({error.strerror})", where=where) from None
        values = tuple(line for line in text.split("\n") if line)
    if len(set(values)) < len(values):
        raise RequestError("a value stands twice in the order", where=f"column {column}")
    return values
