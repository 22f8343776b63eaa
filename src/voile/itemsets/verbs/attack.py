"""Attack a release with some of the items that people have or lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from voile.core.evidence import Curve, Evidence, Finding, Note, Rate, Value
from voile.core.progress import ProgressHook, ProgressSteps
from voile.data import Source
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.verbs import lookup
from voile.itemsets.verbs.options import AttackOptions
from voile.itemsets.verbs.scene import ItemsetsScene, ItemsetsStage
from voile.keys.random import streams
from voile.release.manifest import StoredRelease

TIMES = ("before", "after")
HAS: dict[str, Value] = {"has": "has", "fits": "has them all"}
LACKS: dict[str, Value] = {"has": "lacks", "fits": "has none of them"}
NUMBERS: dict[str, Value] = {"has": "has, and every number of the person", "fits": HAS["fits"]}
STORY = (
    "The adversary knows that a person is in the data, and some items that the "
    "person {has}. These items are random, or are the most identifying ones. The "
    "adversary looks up every row that {fits}, by the published items. There are "
    "two kinds of success: one person is left, or a person drawn among the "
    "matching people is the right one."
)
NOTES = (
    Note("Before: the same background knowledge, used on the source itself."),
    Note(
        "Most identifying items, after: the most identifying of the published items "
        "(the worst case)."
    ),
    Note(
        "Baseline of the right person: a person drawn among all people, without "
        "background knowledge."
    ),
    Note("Control: people who are not in the release, so no matching person is the right one."),
)
ROUNDED = Note("Numbers are known as intervals of the release, both before and after.")


def attack(
    release: StoredRelease,
    truth: Source,
    options: AttackOptions,
    *,
    seed: int | None,
    progress: ProgressHook,
) -> tuple[Evidence, ...]:
    """Look people up by items that they have or lack, and by numbers, and guess their labels.

    The adversary has the release and its public manifest. ``truth`` is the source. With the private
    folder, it provides the background knowledge and scores the attack. The control group consists
    of people held out of the kit, or of those in the ``control`` file.
    """
    release.check_hash()
    return attack_scene(ItemsetsScene.of(release, truth, options), seed=seed, progress=progress)


def attack_scene(
    scene: ItemsetsStage, *, seed: int | None, progress: ProgressHook
) -> tuple[Evidence, ...]:
    """Attack released rows, whichever tool made the release."""
    present, absent, inferring, numbers = streams(seed, "items", "absences", "labels", "numbers")
    numbered = bool(scene.intervals.any())
    step = ProgressSteps(progress, 2 + numbered + (scene.released_rows.labels is not None))
    step("looking people up by items they have")
    found = [_look_up(scene, present)]
    step("looking people up by items they lack")
    found.append(_look_up(scene, absent, absent=True))
    if numbered:
        step("looking people up by their numbers")
        found.append(_look_up(scene, numbers, always=scene.intervals))
    if scene.released_rows.labels is not None:
        step("guessing labels")
        found.append(_guess(scene, inferring))
    return tuple(found)


class _KnowledgeCase(NamedTuple):
    """The results for one kind of knowledge: findings, and curve values before and after."""

    findings: tuple[Finding, ...]
    alone: tuple[Rate, Rate]
    left: tuple[float, float]


def _look_up(
    scene: ItemsetsStage,
    rng: np.random.Generator,
    *,
    absent: bool = False,
    always: lookup.Mask | None = None,
) -> Evidence:
    findings: list[Finding] = []
    curves: list[Curve] = []
    counts = scene.counts if always is None else [0, *scene.counts]
    for identifying in (False, True):
        knowledge = [lookup.ItemKnowledge(count, identifying, absent, always) for count in counts]
        cases = [_case(scene, knows, rng) for knows in knowledge]
        findings += [one for case in cases for one in case.findings]
        curves += _curves(knowledge, cases)
    return Evidence(
        attack="absences" if absent else "items" if always is None else "numbers",
        heading="singling out",
        story=Note(STORY, LACKS if absent else HAS if always is None else NUMBERS),
        knows=scene.columns,
        findings=tuple(findings),
        curves=tuple(curves),
        notes=NOTES if always is None else (*NOTES, ROUNDED),
    )


def _case(
    scene: ItemsetsStage, knows: lookup.ItemKnowledge, rng: np.random.Generator
) -> _KnowledgeCase:
    """Look up released people in the source and in the release, and people of the control group."""
    true, shown, absent = scene.true.incidence, scene.released_rows.incidence, knows.absent
    targets, own = scene.targets
    others, outside, _ = scene.control
    drawn = scene.draw_targets(rng, len(targets))
    before, after = [], []
    for x in drawn:
        row = targets[x]
        known = useful = knows.of(true, row, rng)
        if knows.identifying:
            useful = knows.of(true, row, rng, scene.mask(true))
        after.append(
            lookup.look_up(
                shown, scene.select_published(useful, true), absent=absent, own=int(own[x])
            )
        )
        before.append(lookup.look_up(true, known, absent=absent, own=int(true.pattern[row])))
    strangers = outside[scene.draw_targets(rng, len(outside))]
    masks = scene.mask(others)
    known_of = (
        scene.select_published(knows.of(others, row, rng, masks), others) for row in strangers
    )
    control = [lookup.look_up(shown, known, absent=absent) for known in known_of]
    persons = true.subjects_of(targets[drawn])
    alone = _alone(before, persons), _alone(after, persons)
    chances, blind = rng.random((2, len(after)))
    right = (one.is_among and u * one.left < 1 for one, u in zip(after, chances, strict=True))
    findings = (
        Finding(
            lookup.ONE_LEFT_BEFORE,
            alone[0],
            meaning="Nobody else in the source matches this knowledge.",
            at=knows.note,
        ),
        Finding(
            lookup.ONE_LEFT,
            alone[1],
            control=_alone(control, others.subjects_of(strangers)),
            meaning="Nobody else in the release matches this knowledge.",
            at=knows.note,
        ),
        Finding(
            "right person",
            Rate.by_subject(right, persons),
            baseline=Rate.by_subject(blind * shown.n_subjects < 1, persons),
            meaning="The adversary draws one of the matching people.",
            at=knows.note,
        ),
    )
    return _KnowledgeCase(findings, alone, (_middle(before), _middle(after)))


def _alone(found: list[lookup.LookUp], persons: list[int]) -> Rate:
    return Rate.by_subject((one.left == 1 for one in found), persons)


def _middle(found: list[lookup.LookUp]) -> float:
    return float(np.median([one.left for one in found] or [0]))


def _curves(knowledge: list[lookup.ItemKnowledge], cases: list[_KnowledgeCase]) -> Iterator[Curve]:
    counts = tuple(float(knows.count) for knows in knowledge)
    things = "absences" if knowledge[0].absent else "items"
    kind = f"{knowledge[0].kind} {things}"
    for name, rates in zip(TIMES, zip(*(case.alone for case in cases), strict=True), strict=True):
        low, high = zip(*(rate.interval() for rate in rates), strict=True)
        shares = tuple(rate.value if rate.trials else 0.0 for rate in rates)
        unit = "share of people of whom one is left"
        yield Curve(f"{name}, {kind}", f"{things} known", unit, counts, shares, low, high)
    for name, left in zip(TIMES, zip(*(case.left for case in cases), strict=True), strict=True):
        unit = "people left, for the middle one of those attacked"
        yield Curve(f"people left {name}, {kind}", f"{things} known", unit, counts, left)


def _guess(scene: ItemsetsStage, rng: np.random.Generator) -> Evidence:
    """Guess a person's label as the most frequent label among the matching rows."""
    findings = [
        _guess_labels(scene, lookup.ItemKnowledge(count, identifying=False, absent=False), rng)
        for count in scene.counts
    ]
    return Evidence(
        attack="label",
        heading="inference",
        story=Note(
            "The adversary knows that a person is in the release, and some of the person's items, "
            "drawn at random. The guess is the most frequent label of rows with all these items."
        ),
        knows=scene.columns,
        findings=tuple(findings),
        notes=(
            Note(
                "If a guess is as good for people who were never released, it comes from "
                "knowledge about groups. Such knowledge is the purpose of a release."
            ),
            Note("Baseline: always the release's most frequent label."),
        ),
    )


def _guess_labels(
    scene: ItemsetsStage, knows: lookup.ItemKnowledge, rng: np.random.Generator
) -> Finding:
    true, labels = scene.true.incidence, scene.released_rows.labels
    targets, _ = scene.targets
    others, outside, outside_labels = scene.control
    assert labels is not None
    table, names = scene.labels_by_pattern
    most = names[int(table.sum(axis=0).argmax())]

    def right(rows: Incidence, row: int, label: str) -> bool:
        known = scene.select_published(knows.of(rows, row, rng), rows)
        patterns = lookup.look_up(scene.released_rows.incidence, known, absent=False).patterns
        counted = table[patterns] if len(patterns) else table
        return bool(names[int(counted.sum(axis=0).argmax())] == label)

    drawn = scene.draw_targets(rng, len(targets))
    persons = true.subjects_of(targets[drawn])
    rate = Rate.by_subject([right(true, targets[x], labels[x]) for x in drawn], persons)
    control = None
    if outside_labels is not None:
        labelled = outside[np.array([outside_labels[x] is not None for x in outside], np.bool_)]
        strangers = labelled[scene.draw_targets(rng, len(labelled))]
        hits = [right(others, row, outside_labels[row]) for row in strangers]
        control = Rate.by_subject(hits, others.subjects_of(strangers))
    return Finding(
        "label guessed correctly",
        rate,
        baseline=Rate.by_subject((labels[x] == most for x in drawn), persons),
        control=control,
        at=knows.note,
        advantage=True,
    )
