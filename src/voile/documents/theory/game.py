"""The game of publisher and attacker: the loss, the gain, and the publisher's stopping point."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from voile.core.errors import RequestError
from voile.documents.theory.counts import TokenConfusion, exact


def cost(missed: int, lost: int, miss_cost: float | Fraction) -> Fraction:
    """Return T(H) = L FN(H) + C FP(H), in units of C (eq. 4)."""
    return exact(miss_cost) * missed + lost


def change(added: TokenConfusion, miss_cost: float | Fraction) -> Fraction:
    """Return T(H and h) - T(H) = C FP(h, P) - L TP(h, P), in units of C (Lemma 1)."""
    return added.fp - exact(miss_cost) * added.tp


def cost_by_type(missed: Sequence[int], lost: int, costs: Sequence[float | Fraction]) -> Fraction:
    """Return T(H) if each type of identifier has its own L/C."""
    return lost + _worth(missed, costs)


def change_by_type(found: Sequence[int], lost: int, costs: Sequence[float | Fraction]) -> Fraction:
    """Return T(H and h) - T(H) if each type of identifier has its own L/C."""
    return lost - _worth(found, costs)


def _worth(identifiers: Sequence[int], costs: Sequence[float | Fraction]) -> Fraction:
    return sum((exact(L) * n for L, n in zip(costs, identifiers, strict=True)), Fraction(0))


def is_local_optimum(attacker: TokenConfusion, miss_cost: float | Fraction) -> bool:
    """Return whether adding the attacker's own classifier h_A does not lower T (Definition 4.1).

    With several types, each with its own L/C, T changes by FP_A minus the sum of L/C TP_A. A local
    optimum for that sum is also one for the smallest L/C. Pass this smallest ratio.
    """
    published = cost(missed=attacker.identifiers, lost=0, miss_cost=miss_cost)
    without_positives = cost(missed=attacker.fn, lost=attacker.fp, miss_cost=miss_cost)
    return without_positives >= published


def utility(
    attacker: TokenConfusion,
    inspections: int,
    miss_cost: float | Fraction = 1,
    first: Literal["positives", "negatives", "random"] = "positives",
) -> Fraction:
    """Return the expected gain of an attacker, L for each identifier inspected (eq. 1).

    By default the attacker inspects predicted identifiers first, and then the other tokens. The
    order within both groups is random.
    """
    if not 0 <= inspections <= attacker.n:
        raise RequestError(
            f"there are {inspections} inspections of {attacker.n} tokens",
            instead="ask for at most one of each",
        )
    groups = [(attacker.tp, attacker.positives), (attacker.fn, attacker.negatives)]
    if first == "negatives":
        groups.reverse()
    elif first == "random":
        groups = [(attacker.identifiers, attacker.n)]
    found, left = Fraction(0), inspections
    for identifiers, size in groups:
        looked = min(left, size)
        found += Fraction(looked * identifiers, max(size, 1))
        left -= looked
    return exact(miss_cost) * found
