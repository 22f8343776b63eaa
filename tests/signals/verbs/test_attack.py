"""What an adversary is given, and what she finds."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from tests.signals.clinic import WARDS, applied, fitted, people, wards

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.manifest import StoredRelease
from voile.report.wording import format_note, name_of
from voile.signals.options import AttackOptions
from voile.signals.verbs.attack import attack
from voile.signals.verbs.report_charts import in_words


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    table = people(n=400)
    kit = fitted(table, hold_out=0.3)
    kit.save(folder / "kit")
    return folder / "kit", applied(kit, folder / "sent.csv", table), open_source(table)


def by_name(evidence):
    """Return findings by their names, after the attack's where no attacker is named."""
    return {
        name_of(f if f.by else replace(f, by=e.attack), "internal"): f
        for e in evidence
        for f in e.findings
    }


@pytest.mark.whole
def test_who_knows_the_map_is_given_all_that_it_tells(attacked):
    place, release, truth = attacked
    options = AttackOptions(public_map=place, knows=("ward",), permutations=5)
    found = {e.attack: e for e in attack(release, truth, options, seed=1, progress=silent)}
    assert list(found) == [
        "single messages",
        "readings as they are",
        "single messages, columns known",
        "known plaintext",
    ]
    rates = by_name(found.values())
    assert rates["known plaintext: class identified"].rate.value == 1
    consistent = rates["consistency under every class: class identified"]
    assert consistent.control.trials > 60
    bayes = rates["Bayes' rule with the map's model: class identified"]  # nobody else has one
    assert bayes.rate.value == bayes.baseline.value  # at strength 1 it can but name the commonest
    single = found["single messages"]
    assert not any(f.by == bayes.by and f.of for f in single.findings)
    assert "To this adversary all classes look alike." in format_note(single.notes[-2], "internal")
    held = found["single messages"].findings[0].control
    assert 60 < held.trials == release.private["counts"]["held_out"]
    before = found["readings as they are"].findings[0].rate
    assert before.interval()[0] > found["single messages"].findings[0].rate.value


def test_what_cannot_be_scored_is_refused(attacked, tmp_path):
    _, release, truth = attacked

    def refused(message, release=release, truth=truth, **options):
        with pytest.raises(RequestError, match=message):
            attack(release, truth, AttackOptions(**options), seed=1, progress=silent)

    refused("no kept or known column is called weight", knows=("weight",))
    refused("the original data have 240 rows", truth=open_source(people()))
    refused("private folder", release=StoredRelease(release.path, release.public))
    fitted(people(seed=9)).save(tmp_path / "other")
    refused("another map", public_map=tmp_path / "other")
    refused("no kit here", public_map=tmp_path / "nowhere")


@pytest.mark.whole
def test_who_hears_a_person_again_and_again_finds_the_class(tmp_path):
    """Sent one by one, swings and a height that stays tell; a height that nobody names does not."""
    table, named = wards(), Roles.model_validate(WARDS)
    kit = fitted(table, named, strength=[1.0], base=["normal"])
    kit.save(tmp_path / "kit")
    release, truth = applied(kit, tmp_path / "sent.parquet", table), open_source(table)

    def rates(release, **options):
        options = AttackOptions(permutations=0, **options)
        found = attack(release, truth, options, seed=2, progress=silent)
        return by_name(found)

    found = rates(release, public_map=tmp_path / "kit")
    again = {name: one for name, one in found.items() if name.startswith("repeat readings")}
    assert list(again) == [
        "repeat readings, 2 messages: class identified",
        "repeat readings, 5 messages: class identified",
    ]
    assert again["repeat readings, 5 messages: class identified"].rate.value > 0.8
    assert again["repeat readings, 5 messages: class identified"].baseline.value < 0.65
    assert found["invariants, 5 messages: class identified"].rate.value > 0.95
    assert "invariants, 5 messages: class identified" not in rates(release)
    columns = {**WARDS["columns"], "height": {"role": "reading"}}
    other = fitted(table, Roles.model_validate({**WARDS, "columns": columns}), strength=[1.0])
    other.save(tmp_path / "other")
    plain = applied(other, tmp_path / "plain.parquet", table)
    assert "invariants, 5 messages: class identified" not in rates(
        plain, public_map=tmp_path / "other"
    )


@pytest.mark.whole
def test_a_column_that_is_known_is_everyones_own(tmp_path):
    """What the kept column tells by itself is the baseline: here all of it."""
    table = people(n=400)
    table = people(n=400, ward=[f"ward {ill}" for ill in table["ill"].to_pylist()])
    release = applied(fitted(table), tmp_path / "sent.parquet", table)
    options = AttackOptions(knows=("ward",), permutations=0)
    found = attack(release, open_source(table), options, seed=1, progress=silent)
    (known,) = (one for one in found if one.attack == "single messages, columns known")
    assert all(one.baseline.value == 1 for one in known.findings)
    assert known.findings[0].rate.value > 0.95


@pytest.mark.whole
def test_what_she_thinks_beforehand_is_weighed_and_counts_for_nothing_found(attacked, tmp_path):
    place, release, truth = attacked
    table = people(n=400)
    ill = np.array(table["ill"].to_pylist()) == "yes"
    rng = np.random.default_rng(3)
    believed = np.where(rng.random(400) < 0.8, ill, ~ill)  # right of four in five
    with (tmp_path / "beliefs.csv").open("w", newline="") as file:
        rows = [(f"p{i}", 0.2 + 0.6 * (not one), 0.2 + 0.6 * one) for i, one in enumerate(believed)]
        csv.writer(file).writerows([("id", "no", "yes"), *rows])

    def found(**options):
        options = AttackOptions(public_map=place, permutations=5, **options)
        evidence = attack(release, truth, options, seed=1, progress=silent)
        single = next(e for e in evidence if e.attack == "single messages")
        return (
            {name_of(f, "internal"): f for f in single.findings},
            single.notes,
            " ".join(in_words(evidence, "internal")),
        )

    plain, _, words = found()
    assert "beforehand" not in words
    thinking, notes, words = found(beliefs=str(tmp_path / "beliefs.csv"))
    assert "% of people from prior beliefs alone" in words
    name = "Bayes' rule with the map's model: class identified"
    assert thinking[name].rate == thinking[name].baseline  # strength 1: she stays with her prior
    assert 0.7 < thinking[name].baseline.value < 0.9
    assert plain[name].baseline.value < 0.72
    assert thinking[name].control.value > 0.6
    found = "Bayes' rule with the map's model: found, class yes"
    assert thinking[found].rate == thinking[found].baseline
    assert round(notes[0].values["entropy"], 3) == 0.722  # H(C | S), not H(C)
    assert "beforehand" in notes[1].text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,no\np0,1\n", "there is no column yes"),
        ("id,no,yes\np0,.5,.6\n", "row 1: the chances of a subject's classes are not"),
        ("id,no,yes\np0,.5,.5\np1,,1\n", "row 2: the chances of a subject's classes are not"),
        ("id,no,yes\np0,.5,.5\np0,.5,.5\n", "row 2: a subject is nobody, or has chances already"),
        ("id,no,yes\np0,.5,.5\n", "subjects have no chances"),
    ],
)
def test_beliefs_that_are_none_are_refused(attacked, tmp_path, text, message):
    _, release, truth = attacked
    (tmp_path / "beliefs.csv").write_text(text)
    options = AttackOptions(beliefs=str(tmp_path / "beliefs.csv"), permutations=0)
    with pytest.raises(RequestError, match=message):
        attack(release, truth, options, seed=1, progress=silent)
