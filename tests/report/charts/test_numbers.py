from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.report.charts import numbers


@given(st.floats(0, 1))
def test_a_share_is_never_rounded_to_none_or_to_all(value: float) -> None:
    text = numbers.share(value)
    assert (text == "0%") == (value == 0)
    assert (text == "100%") == (value == 1)


@given(st.floats(2e-6, 0.999))
def test_a_share_is_written_to_two_digits_or_better(value: float) -> None:
    written = float(numbers.share(value).removesuffix("%")) / 100
    assert math.isclose(written, value, rel_tol=0.051)


@given(st.floats(0, 1), st.floats(0, 1))
def test_greater_shares_are_never_written_as_smaller(a: float, b: float) -> None:
    low, high = (numbers.share(v) for v in sorted((a, b)))
    assert float(low.strip("<>%")) <= float(high.strip("<>%"))


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0, "0%"), (0.0995, "10%"), (0.09949, "9.9%"), (0.5, "50%"), (0.9994, "99.9%")],
)
def test_shares_at_their_edges(value: float, text: str) -> None:
    assert numbers.share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "–"),
        (-3.0, "−3"),
        (0.1 + 0.2, "0.3"),
        (1e6, "1,000,000"),
        (999.6, "1,000"),
        (-1.234, "−1.23"),
    ],
)
def test_numbers_at_their_edges(value: float, text: str) -> None:
    assert numbers.number(value) == text


def test_ticks_are_exact() -> None:
    exponents = range(-9, 1)
    assert [numbers.share_tick(float(f"1e{e}")) for e in exponents] == [
        *["10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶"],
        *["0.001%", "0.01%", "0.1%", "1%", "10%", "100%"],
    ]
