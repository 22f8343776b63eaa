"""What an adversary is given, and what she finds."""

from __future__ import annotations

import pytest
from tests.signals.clinic import (
    applied,
    fitted,
    people,
)

from voile.errors import RequestError
from voile.io import open_source
from voile.progress import silent
from voile.release import Release
from voile.signals.options import AttackOptions
from voile.signals.wing import attack


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    table = people(n=400)
    kit = fitted(table, hold_out=0.3)
    kit.save(folder / "kit")
    return folder / "kit", applied(kit, folder / "sent.csv", table), open_source(table)


def test_who_knows_the_map_is_given_all_that_it_tells(attacked):
    place, release, truth = attacked
    options = AttackOptions(public_map=place, knows=("ward",), permutations=5)
    found = {e.attack: e for e in attack(release, truth, options, seed=1, progress=silent)}
    assert list(found) == [
        "single messages",
        "readings as they are",
        "single messages, columns known",
        "rounding lattice",
        "known plaintext",
    ]
    rates = {f.name: f for e in found.values() for f in e.findings}
    assert rates["known plaintext: right"].rate.value == 1
    assert rates["rounding lattice: right, the remedy left off"].rate.value > 0.95
    assert 0.35 < rates["rounding lattice: right"].rate.value < 0.65
    bayes = rates["Bayes, the map's model: right"]  # nobody else has one
    assert bayes.rate.value == bayes.baseline.value  # at strength 1 it can but name the commonest
    held = found["single messages"].findings[0].control
    assert 60 < held.trials == release.private["counts"]["held_out"]
    before = found["readings as they are"].findings[0].rate
    assert before.interval()[0] > found["single messages"].findings[0].rate.value


def test_what_cannot_be_scored_is_refused(attacked, tmp_path):
    _, release, truth = attacked

    def refused(message, release=release, truth=truth, **options):
        with pytest.raises(RequestError, match=message):
            attack(release, truth, AttackOptions(**options), seed=1, progress=silent)

    refused("no kept column is called weight", knows=("weight",))
    refused("truth has 240 rows", truth=open_source(people()))
    refused("private folder", release=Release(release.path, release.public))
    fitted(people(seed=9)).save(tmp_path / "other")
    refused("another map", public_map=tmp_path / "other")
    refused("no kit here", public_map=tmp_path / "nowhere")
