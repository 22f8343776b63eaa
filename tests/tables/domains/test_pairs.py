"""Latitude and longitude that are one place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.proposals.tables import examine
from voile.release.choice import Choice
from voile.tables.fitting.fit import fit
from voile.tables.fitting.space import PolicySpace
from voile.tables.module import TABLES
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions, FitOptions

PAIR = {"lat": {"pair": "lon"}}


def places(rows=400):
    """Two towns and the country around, to six decimals."""
    rng = np.random.default_rng(4)
    town = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    spread = np.array([0.02, 0.05, 0.6])[town]
    lat = np.round(np.array([48.2, 47.1, 47.7])[town] + rng.normal(0, 1, rows) * spread, 6)
    lon = np.round(np.array([16.4, 15.4, 15.9])[town] + rng.normal(0, 1, rows) * spread, 6)
    return pa.table({"lat": lat, "lon": lon, "age": rng.integers(20, 60, rows)})


def with_column(place, name, values):
    return places().set_column(place, name, pa.array(values))


QUASI = ["lat", "lon", "age"]


def space_of(**importance):
    settings = {name: {"importance": value} for name, value in importance.items()}
    return PolicySpace.of(places(), quasi=QUASI, settings=settings or PAIR)


def test_a_place_counts_as_one_column_in_the_resolution_lost():
    pair = space_of()
    policy = pair.policy(np.arange(pair.n_bits) % 60 == 0)
    only = [{name: float(name == one) for name in QUASI} for one in QUASI]
    lat, lon, age = (space_of(**own).losses(policy)["resolution"] for own in only)
    assert 0 < lat < 1
    assert 0 < age < 1
    lost = ((lat + lon) / 2 + age) / 2
    assert pair.losses(policy)["resolution"] == pytest.approx(lost)
    weighed = {**PAIR, "lon": {"importance": 3}}
    both = PolicySpace.of(places(), quasi=QUASI, settings=weighed)
    assert both.weights.importance == (0.5, 1.5, 1.0)


@pytest.mark.parametrize("bounds", [False, True])
def test_trees_cut_a_place_into_rectangles_of_both_columns(bounds):
    roles = Roles.model_validate(
        {"columns": {"lat": {"role": "quasi", "pair": "lon"}, "lon": "quasi", "age": "quasi"}}
    )
    asked = FitOptions.model_validate({"family": "tree", "k": 5})
    kit = fit(open_source(places()), roles, asked, seed=1, progress=silent)
    chosen, options = choose(kit, Choice(least_loss=True)), ApplyOptions(bounds=bounds)
    release = TABLES.apply(
        kit, chosen, open_source(places()), None, options, force=True, progress=silent
    )
    ends = ["_low", "_high"] if bounds else [""]
    rows = release.rows().read().to_pylist()
    lat, lon = (
        [tuple(row[f"{name}{end}"] for end in ends) for row in rows] for name in ("lat", "lon")
    )
    rectangles = set(zip(lat, lon, strict=True))
    assert min(len(set(lat)), len(set(lon))) > 3
    assert len(rectangles) < len(set(lat)) * len(set(lon))  # no grid


@pytest.mark.parametrize(
    ("table", "settings", "says"),
    [
        (places(), {"lat": {"pair": "long"}}, "its pair long is not a quasi-identifier"),
        (places(), {"lat": {"pair": "lat"}}, "a column of two pairs"),
        (places(), {**PAIR, "age": {"pair": "lon"}}, "a column of two pairs"),
        (with_column(0, "lat", [1.5, 95.5] * 200), PAIR, "rows 2, 4 and 6 do not"),
        (with_column(1, "lon", ["a", "b"] * 200), PAIR, "longitudes are numbers"),
    ],
)
def test_what_is_no_pair_of_coordinates_is_refused(table, settings, says):
    with pytest.raises(RequestError, match=says):
        PolicySpace.of(table, quasi=QUASI, settings=settings)


@pytest.mark.parametrize(
    ("names", "paired"),
    [
        (["lat", "lon"], True),
        (["home_latitude", "home_longitude"], True),
        (["Breite", "Länge"], True),
        (["latitud", "longitud"], True),
        (["home_lat", "work_lon"], False),
        (["width", "length"], False),
    ],
)
def test_coordinates_are_proposed_as_a_pair(names, paired):
    proposal = examine(open_source(places().rename_columns([*names, "age"])))
    latitude, longitude, _ = proposal.columns
    assert (latitude.settings == {"pair": names[1]}) == paired
    assert (longitude.settings == {}) == paired
    assert proposal.to_toml().count("pair = ") == paired


def test_only_decimals_in_range_are_proposed_as_coordinates():
    for odd in ([90.5] * 200 + [1.5] * 200, [7, 8] * 200, ["a", "b"] * 200):
        columns = examine(open_source(with_column(0, "lat", odd))).columns
        assert all("pair" not in column.settings for column in columns)
    commas = [str(degrees).replace(".", ",") for degrees in places()["lat"].to_pylist()]
    columns = examine(open_source(with_column(0, "lat", commas))).columns
    assert columns[0].settings["pair"] == "lon"
