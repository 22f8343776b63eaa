"""The report's parts: what only the data holder may read, and how far from the best it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, replace

import pyarrow as pa
import pytest

from voile.core.evidence import Curve, Evidence, Finding, Note, Rate
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.face.kit import Kit
from voile.face.release import Release
from voile.itemsets.module import ITEMSETS
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.lookup import ONE_LEFT, ONE_LEFT_BEFORE, ItemKnowledge
from voile.itemsets.verbs.options import ApplyOptions, FitOptions
from voile.itemsets.verbs.report import sections
from voile.release.choice import Choice
from voile.report.sections import BarChart, Bullets, Figures, FrontierChart, Grid, LineChart

ROLES = Roles.model_validate({"columns": {"basket": {"role": "items", "as": "words"}}})
BASKETS = ["tea milk"] * 6 + ["tea"] * 4 + ["milk"] * 9 + ["gin"] * 7 + ["gin tea"] * 2


@pytest.fixture(scope="module")
def kit():
    read = open_source(pa.table({"basket": BASKETS}))
    return fit(read, ROLES, FitOptions(k=(5,)), seed=1, progress=silent)


@pytest.fixture(scope="module")
def release(kit, tmp_path_factory):
    read = open_source(pa.table({"basket": BASKETS}))
    chosen = choose(kit, Choice(max_risk=0.2))
    out = tmp_path_factory.mktemp("release") / "r.csv"
    return ITEMSETS.apply(kit, chosen, read, out, ApplyOptions(), force=False, progress=silent)


def shown(release, evidence=(), *, audience):
    parts = sections(release, evidence, audience=audience)
    return [block for part in parts for block in part.blocks]


def _is_public(block):
    return getattr(block, "audience", "public") == "public"


def test_a_page_is_for_the_public_unless_the_holder_asks_for_more(kit, release):
    for subject in (Kit.of(kit, ITEMSETS), Release.of(release, ITEMSETS)):
        assert subject.report().audience == "public"
        assert subject.report(internal=True).audience == "internal"


def test_rare_itemsets_and_supports_are_for_the_holder_alone(release):
    blocks = shown(release, audience="internal")
    rare = [block for block in blocks if "basket=gin, basket=tea" in json.dumps(asdict(block))]
    assert [(block.audience, block.rows[0][-1]) for block in rare] == [("internal", "2")]
    kept = [b for b in blocks if isinstance(b, Grid) and b.columns[:2] == ("feature", "people")]
    assert [block.audience for block in kept] == ["internal"]
    public = [b for b in shown(release, audience="public") if _is_public(b)]
    told = json.dumps([asdict(block) for block in public])
    assert not re.search(r"\bgin\b", told)


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_a_long_name_does_not_fill_the_page(audience, tmp_path):
    long = "x" * 10_000
    read = open_source(pa.table({"basket": [["tea", long]] * 9 + [["tea"]] * 9 + [[long]] * 9}))
    roles = Roles.model_validate({"columns": {"basket": "items"}})
    kit = fit(read, roles, FitOptions(k=(5,)), seed=1, progress=silent)
    chosen = choose(kit, Choice(max_loss=0))
    out = tmp_path / "r.jsonl"
    made = ITEMSETS.apply(kit, chosen, read, out, ApplyOptions(), force=False, progress=silent)
    for subject in (kit, made):
        told = json.dumps([asdict(b) for b in shown(subject, audience=audience)])
        assert "x" * 200 not in told
        assert ("tea" in told, "(10,007 characters)" in told) == (True, True)


def test_it_says_how_far_from_the_best_the_choice_is(release):
    assert "Optimality gap: 0%, proved." in json.dumps(
        [asdict(block) for block in shown(release, audience="public")]
    )


def reached(tmp_path, times, k, audience):
    """Apply the best for this k where the rarest thing is had so often; return what is said."""
    read = open_source(pa.table({"basket": ["tea"] * times + ["milk"] * 30}))
    kit = fit(read, ROLES, FitOptions(k=(k,)), seed=1, progress=silent)
    chosen = choose(kit, Choice(max_loss=0))
    assert (chosen.figures["k"], chosen.figures["k_reached"]) == (k, times)
    made = ITEMSETS.apply(
        kit, chosen, read, tmp_path / "r.csv", ApplyOptions(), force=False, progress=silent
    )
    (figures,) = (b for b in shown(made, audience=audience) if isinstance(b, Figures))
    (chart,) = (b for b in shown(kit, audience=audience) if isinstance(b, FrontierChart))
    return figures.figures[0], chart.described[-1]


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_the_public_sees_no_auc_of_folds(audience):
    """Columns are chosen anew without each fold, so that a few AUCs may find one person."""
    ill = [(n * 7) % 10 < (8 if n % 2 else 3) for n in range(240)]
    rows = pa.table(
        {
            "basket": ["tea milk" if n % 2 else "milk" for n in range(240)],
            "ill": ["yes" if one else "no" for one in ill],
        }
    )
    columns = {"basket": {"role": "items", "as": "words"}, "ill": "label"}
    made = fit(
        open_source(rows),
        Roles.model_validate({"columns": columns}),
        FitOptions(k=(5,)),
        seed=1,
        progress=silent,
    )
    assert made.facts["loss"] == "auc"
    (chart,) = (one for one in shown(made, audience=audience) if isinstance(one, FrontierChart))
    told = json.dumps([asdict(block) for block in shown(made, audience=audience)])
    assert (chart.loss_name == "AUC lost", "AUC" in told) == (audience == "internal",) * 2


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_the_k_that_was_reached_is_shown_beside_the_one_asked_for(tmp_path, audience):
    figure, policy = reached(tmp_path, 14, 11, audience)
    assert (figure.label, figure.value) == ("Smallest group", "k = 14")
    assert figure.meaning.endswith("; k = 11 was promised")
    assert policy.startswith("policy 1: k = 14 (11 asked for), 2 features")


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_a_k_that_was_just_reached_is_shown_once(tmp_path, audience):
    figure, policy = reached(tmp_path, 11, 11, audience)
    assert (figure.label, figure.value) == ("Smallest group promised", "k = 11")
    assert "promised" not in figure.meaning
    assert policy.startswith("policy 1: k = 11, 2 features")


def test_the_public_sees_no_k_reached_that_counts_few(tmp_path):
    assert reached(tmp_path, 7, 5, "public")[0].value == "k = 5"


def evidence():
    """Two findings for each thing known, and curves that stay at zero and do not."""
    rate = Rate(30, 100)
    found = [
        Finding(
            kind, rate, control=control, meaning=meaning, at=ItemKnowledge(n, False, False).note
        )
        for n in (2, 3)
        for kind, control, meaning in (
            ("one person left", rate, "Alone."),
            ("right person", None, "Drawn."),
        )
    ]
    flat, rising = (
        Curve(name, "items known", unit, (2.0, 3.0), y, y, y)
        for name, unit, y in (("a", "share", (0.0, 0.0)), ("b", "people", (0.0, 1.0)))
    )
    return Evidence(
        attack="items",
        heading="singling out",
        story=Note("The adversary looks."),
        knows=("basket",),
        findings=tuple(found),
        curves=(flat, rising),
        notes=(Note("A note."),),
    )


def test_findings_stand_in_a_row_for_each_thing_known(release):
    blocks = shown(release, [evidence(), evidence()], audience="internal")
    grids = [b for b in blocks if isinstance(b, Grid) and b.columns[0] == "condition"]
    assert [grid.columns[1:] for grid in grids] == [
        ("one person left", "control", "right person")
    ] * 2
    assert [row[0] for row in grids[0].rows] == ["2 random items", "3 random items"]
    charts = [block.y_name for block in blocks if isinstance(block, LineChart)]
    assert charts == ["people", "people"]
    (said, *_) = (b for b in blocks if isinstance(b, Bullets) and "A note." in b.items)
    assert said.items == (
        "One person left: alone.",
        "Right person: drawn.",
        "A note.",
    )
    assert sum(isinstance(b, Bullets) and "A note." in b.items for b in blocks) == 1


def test_what_was_measured_stands_before_what_the_fit_expected(release):
    keys = [part.key for part in sections(release, [evidence()], audience="internal")]
    assert keys[:5] == ["summary", "singling-out", "inference", "codebook", "frontier"]


def left_alone(name, successes, count):
    note = ItemKnowledge(count, identifying=True, absent=False).note
    return Finding(name, Rate(successes, 100), at=note)


def test_the_worst_attack_is_on_the_first_screen(release):
    found = [left_alone(ONE_LEFT, n, n // 10) for n in (20, 30)]
    found += [left_alone(ONE_LEFT_BEFORE, n, (n - 30) // 10) for n in (50, 60)]
    attacks = [replace(evidence(), findings=tuple(found))]
    figures = shown(release, attacks, audience="public")[1].figures
    (figure,) = (one for one in figures if one.label == "Singled out")
    assert (figure.value, figure.interval) == ("30%", "21% to 40%")
    assert figure.meaning.endswith(
        "the adversary knows the 3 most identifying items; in the source 60%"
    )

    few = [replace(one, rate=Rate(one.rate.successes // 10, 100)) for one in found[:2]]
    attacks = [replace(evidence(), findings=(*few, *found[2:]))]
    (_, figure, *_) = shown(release, attacks, audience="public")[1].figures
    assert (figure.value, figure.interval) == ("at most 17%", "")
    assert "in the source 60%" in figure.meaning


CHOOSE = "choose(StoredKit.load(place), Choice(policy=1))"
KIT = "sections(StoredKit.load(place), (), audience='public')"
RELEASE = "sections(StoredRelease.open(place), (), audience='internal')"
WITHOUT = """
import sys
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.report import sections
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
place = sys.argv[1]
{}
print(*[name for name in ("numba", "sklearn", "scipy") if name in sys.modules])
"""


@pytest.mark.whole
@pytest.mark.parametrize("code", [CHOOSE, KIT, RELEASE])
def test_choosing_and_reporting_load_no_kernel_and_nothing_that_learns(
    kit, release, tmp_path, code
):
    kit.save(tmp_path / "kit")
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            WITHOUT.format(code),
            release.path if code == RELEASE else tmp_path / "kit",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, [], "")


@pytest.mark.parametrize("form", ["words", "numbers"])
def test_the_loss_says_whether_the_choice_saw_the_people_it_is_tried_on(form):
    held = BASKETS * 3 if form == "words" else [str(20 + at) for at in range(84)]
    ill = ["yes" if at % 84 > 40 else "no" for at in range(84)]
    roles = {"basket": {"role": "items", "as": form}, "ill": "label"}
    read = open_source(pa.table({"basket": held, "ill": ill}))
    options = FitOptions(k=(5,), auc="always")
    kit = fit(read, Roles.model_validate({"columns": roles}), options, seed=1, progress=silent)
    facts = replace(kit, facts={**kit.facts, "loss": "auc"})
    said = json.dumps([asdict(block) for block in shown(facts, audience="internal")])
    assert ("people unseen when the features were chosen" in said) == (form == "words")
    assert ("not when the features were chosen: somewhat too low" in said) == (form == "numbers")


def test_of_very_many_rows_one_in_so_many_is_counted_and_the_chart_says_so(monkeypatch):
    monkeypatch.setattr("voile.itemsets.verbs.fit.COUNTED", 14)
    read = open_source(pa.table({"basket": BASKETS * 10}))
    kit = fit(read, ROLES, FitOptions(k=(5,)), seed=1, progress=silent)
    assert sum(kit.facts["before"]["sizes"]) == pytest.approx(1)
    charts = [b for b in shown(kit, audience="internal") if isinstance(b, BarChart)]
    assert [chart.caption.partition("(")[2] for chart in charts] == ["one row in 20 counted)"]
