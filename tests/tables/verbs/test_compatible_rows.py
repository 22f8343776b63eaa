"""For each released label, at least k rows are compatible with it and with the policy as published.

An adversary who holds the public codebook counts who fits a label: in the source, and in the
population where the figures are of that. Random tables, both families, suppression, empty boxes,
and people whom the fit never saw.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from voile.core.errors import InfeasibleError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.tables.fitting.fit import fit
from voile.tables.module import TABLES
from voile.tables.recoding.boxes import read_codebook
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions, FitOptions

QUASI = ["age", "zip", "sex"]
ROLES = Roles.model_validate({"columns": {**dict.fromkeys(QUASI, "quasi"), "ill": "sensitive"}})
ZIPS = np.array(["37010", "37011", "37201", "38001"])

FAMILIES = {
    "tree": {"family": "tree"},
    "tree with empty boxes": {"family": "tree", "empty_boxes": True},
    "global": {"family": "global", "method": "steepest"},
    "global with suppression": {"family": "global", "method": "steepest", "suppress": 0.3},
}


def draw(rng, rows):
    """Draw people who stand thick in places and thin in others, some of unknown sex."""
    age = np.where(rng.random(rows) < 0.7, rng.integers(30, 36, rows), rng.integers(20, 70, rows))
    return pa.table(
        {
            "age": age,
            "zip": ZIPS[rng.binomial(3, 0.4, rows)],
            "sex": pa.array(rng.choice(["f", "m", None], rows, p=[0.45, 0.45, 0.1]), pa.string()),
            "ill": rng.choice(["flu", "gout", "cold"], rows),
        }
    )


def counted_with(table, rng):
    """Return a population of these people and as many others again, by every combination."""
    everybody = pa.concat_tables([table, draw(rng, 2 * len(table))]).select(QUASI)
    counted = everybody.append_column("people", pa.array(np.ones(len(everybody), dtype=int)))
    summed = counted.group_by(QUASI).aggregate([("people", "sum")])
    return summed.rename_columns([*QUASI, "people"])


def asked(family, population, rng):
    """Draw what a fit is asked for."""
    own = {
        **FAMILIES[family],
        "k": int(rng.integers(2, 6)),
        "l_diversity": int(rng.integers(1, 3)),
        "max_risk": float(rng.choice([1.0, 0.2])),
    }
    return own if population is None else {**own, "population": [population]}


def strangers(table, rng):
    """Draw people whom the fit never saw, of values that it did: their combinations may be new."""
    new = draw(rng, int(rng.integers(60, 160)))
    known = [np.isin(new[name].to_pylist(), table[name].to_pylist()) for name in ("age", "zip")]
    return new.filter(pa.array(np.logical_and(*known)))


def released(options, table, met, rng):
    """Fit on a table and apply any of the policies; None where none keeps what is asked for."""
    asked = FitOptions.model_validate(options)
    try:
        kit = fit(open_source(table), ROLES, asked, seed=1, progress=silent)
        chosen = choose(kit, Choice(policy=int(rng.integers(kit.facts["policies"]))))
        source = open_source(met)
        return TABLES.apply(kit, chosen, source, None, ApplyOptions(), force=True, progress=silent)
    except InfeasibleError:
        return None


def by_label(codes, weights):
    """Add up weights by label."""
    found = Counter()
    for code, weight in zip(map(tuple, codes.tolist()), weights, strict=True):
        found[code] += weight
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unseen", [False, True], ids=["fitted", "unseen"])
@pytest.mark.parametrize("counted", [False, True], ids=["sample", "population"])
@pytest.mark.parametrize("family", list(FAMILIES))
def test_k_rows_or_more_fit_every_label_and_figures_count_who_fits(family, counted, unseen, seed):
    rng, release = np.random.default_rng([seed, counted, unseen]), None
    while release is None:
        table = draw(rng, int(rng.integers(40, 200)))
        met = strangers(table, rng) if unseen else table
        population = counted_with(table, rng) if counted else None
        options = asked(family, population, rng)
        release = released(options, table, met, rng)
    frame, figures = release.rows().read(), release.private["figures"]
    book = read_codebook(release.public["policy"])
    shown = by_label(book.released_codes(frame), np.ones(len(frame)))
    fits = by_label(book.recode(met), np.ones(len(met)))
    assert all(fits[label] >= n >= options["k"] for label, n in shown.items())
    assert figures["k"] == min(shown.values())
    if not options.get("suppress"):
        assert shown == {label: fits[label] for label in shown}
    if counted:
        people = by_label(book.recode(population), population["people"].to_pylist())
        group = {label: max(n, people[label]) for label, n in shown.items()}
        assert min(group.values()) >= 1 / options["max_risk"] - 1e-9
        assert figures["max_risk"] == pytest.approx(1 / min(group.values()))
        expected = sum(n / group[label] for label, n in shown.items())
        assert figures["expected_matches"] == pytest.approx(expected)
