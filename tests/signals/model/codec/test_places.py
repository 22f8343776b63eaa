"""What is sent with few decimal places comes back exactly, or is refused before it is sent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.signals.attack.test_breaks import guesses
from tests.signals.made_up import NAMES, fitted, readings

from voile.core.errors import RequestError
from voile.core.evidence import Rate
from voile.signals import Codec, PrivacyMap
from voile.signals.attack.breaks import equal


@pytest.mark.parametrize("method", ["transport", "normal", "exponential"])
@pytest.mark.parametrize(("base", "places"), [("normal", 5), ("uniform", 9), ("barycentre", 5)])
def test_all_come_back_from_their_decimal_text(method, base, places):
    """The uniform base draws tails together, and needs more places for them."""
    X, c = readings(4000, 9)
    codec = replace(fitted(method).codec(base=base, strength=1.0), places=places)
    Z = codec.encode(X, c)
    text = [[f"{z:.{places}f}" for z in row] for row in Z.tolist()]
    assert (np.array(text, dtype=float) == Z).all()
    assert not any(float(part) == 0 and part[0] == "-" for row in text for part in row)
    assert (codec.decode(np.array(text, dtype=float), c) == X).all()


def test_too_few_places_are_refused_when_fitted_and_the_least_is_named():
    X, c = readings(3000, 1)
    with pytest.raises(RequestError, match="too few to carry") as refused:
        PrivacyMap("normal", places=0).fit(X, c)
    least = int(str(refused.value).split("send ")[1].split()[0])
    map = PrivacyMap("normal", places=least).fit(X, c)
    assert (map.decode(map.encode(X, c), c) == X).all()
    with pytest.raises(RequestError):
        PrivacyMap("normal", places=least - 1).fit(X, c)


def test_a_reading_whose_cell_holds_no_decimal_is_refused_when_sent():
    """A coarse decimal grid: most cells hold none of its points."""
    codec = replace(fitted("normal").codec_, places=1)
    X, c = readings(40, 2)
    fits = codec.reach(np.ascontiguousarray(X.T), 0)  # cells apart: about 1 or more
    assert np.median(fits) > 0.2
    refusals = []
    for x, name in zip(X, c, strict=True):
        try:
            z = codec.encode(x[None], name)
        except RequestError as refused:
            refusals.append(str(refused))
        else:
            assert (codec.decode(z, name) == x).all()
    assert 0 < len(refusals) < 40
    assert all("decimal places" in one for one in refusals)


def test_decimals_do_not_bring_the_lattice_back():
    X, c = readings(20_000, 3)
    codec = replace(fitted("transport").codec_, places=3)
    which = np.searchsorted(np.sort(NAMES), c)
    right = guesses(fitted("transport"), codec, codec.encode(X, c)) == which
    rows = equal(which)  # classes come equally often
    found = Rate(int(right[rows].sum()), len(rows))
    low, high = found.interval(z=5)  # of secret draws, of which 5 in 100 leave the usual one
    assert low <= 1 / 3 <= high


def test_places_are_kept_in_the_arrays_and_checked():
    codec = replace(fitted("normal").codec_, places=7)
    assert Codec.from_arrays(codec.to_arrays()).places == 7
    assert Codec.from_arrays(fitted("normal").codec_.to_arrays()).places is None
    for wrong in (-1, 13):
        with pytest.raises(RequestError, match="0 to 12"):
            replace(codec, places=wrong)


def test_base_and_strength_keep_the_places():
    X, c = readings(600, 1)
    map = PrivacyMap("normal", "barycentre", 0.5, places=4, random_state=0).fit(X, c)
    Z = map.encode(X, c)
    assert (np.round(Z, 4) == Z).all()
    assert map.codec(base="uniform", strength=0.2).places == 4
