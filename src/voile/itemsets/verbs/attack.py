"""Attack a release with some of the items that people have, or lack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Curve, Evidence, Finding, Note, Rate
from voile.core.progress import Progress
from voile.data import Source, open_source
from voile.data.roles import Roles
from voile.itemsets.rows.forms import Form, Intervals, released_form
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.sources import RowReader, Rows
from voile.itemsets.verbs.lookup import (
    ONE_LEFT,
    ONE_LEFT_BEFORE,
    Knowledge,
    LookUp,
    look_up,
    published,
)
from voile.itemsets.verbs.options import AttackOptions
from voile.keys.random import streams
from voile.release.manifest import CONTROL, Release

STORY = (
    "The adversary knows that a person is in the data and some of what the person {has}: items "
    "drawn at random or the most identifying ones. The adversary looks up every row that {fits}, "
    "by the items that are published. Success is that one person is left, or that a person drawn "
    "among those left is the right one."
)
NOTES = (
    Note("Before: the same background knowledge against the source itself."),
    Note("Most identifying items, after: of those that are published, the worst case."),
    Note("Baseline of the right person: a person drawn among all, without background knowledge."),
    Note("Control: people who are not in the release; nobody who fits is the right person."),
)


def attack(
    release: Release,
    truth: Source,
    options: AttackOptions,
    *,
    seed: int | None,
    progress: Progress,
) -> tuple[Evidence, ...]:
    """Look people up by items they have, by items they lack, and guess their label.

    The adversary has the release and its public manifest. ``truth``, the source, and the private
    folder give the background knowledge and score the attack. The control are people held out of
    the kit, or in a ``control`` file.
    """
    release.check_hash()
    scene = Scene(release, truth, options)
    scene.check()
    present, absent, inferring = streams(seed, "items", "absences", "labels")
    progress("looking up items", 0)
    found = [_look_up(scene, present, absent=False)]
    progress("looking up absences", 0)
    found.append(_look_up(scene, absent, absent=True))
    if scene.shown.labels is not None:
        progress("guessing labels", 0)
        found.append(_guess(scene, inferring))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Scene:
    """What an attack is given: the rows of the release and of the source, and which correspond."""

    release: Release
    truth: Source
    options: AttackOptions

    def check(self) -> None:
        """Refuse what cannot be scored."""
        if self.release.private is None:
            raise RequestError(
                "the private folder that scores an attack is not beside the release",
                where=str(self.release.folder),
            )
        self.release.check_truth(self.true.incidence.n_rows, self.truth.name)

    @cached_property
    def _private(self) -> dict[str, Any]:
        return dict(self.release.private or {})

    @cached_property
    def _reading(self) -> RowReader:
        return RowReader.all_of(Roles.model_validate(self._private["roles"]))

    @cached_property
    def _forms(self) -> tuple[Form, ...]:
        """The source's forms: its own values, and the cuts of the fit."""
        cuts = {form["column"]: form for form in self._private["forms"] if "cuts" in form}
        return tuple(
            Intervals.between(form.column, tuple(cuts[form.column]["cuts"]))
            if form.column in cuts
            else form
            for form in self._reading.learn(self.truth)
        )

    @cached_property
    def true(self) -> Rows:
        """The source's rows; a cell that cannot be read counts as empty."""
        return self._reading.read(self.truth, self._forms, strict=False)

    @cached_property
    def shown(self) -> Rows:
        """The released rows."""
        source = self.release.rows()
        forms = [released_form(data) for data in self.release.public["policy"]]
        label = self._reading.label
        labelled = label if label in source.columns else None
        tokens = self._numbers("rows.parquet", "person")
        return self._reading.read_released(source, forms, labelled, tokens)

    def _numbers(self, name: str, column: str) -> NDArray[np.int64] | None:
        path = self.release.folder / name
        if not path.exists():
            raise RequestError(
                "the private folder that scores an attack is not whole", where=str(path)
            )
        source = open_source(path)
        if column not in source.columns:
            return None
        table = pa.Table.from_batches(source.batches([column]), source.schema([column]))
        return np.asarray(table.column(column).to_numpy(), dtype=np.int64)

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        place = np.empty(self.true.incidence.n_rows, dtype=np.intp)
        place[self.true.number] = np.arange(len(place))
        return place

    @cached_property
    def targets(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The released rows, by their place in the source, and each one's released pattern."""
        rows = self._numbers("rows.parquet", "row")
        assert rows is not None
        return self._place[rows[self.shown.number]], self.shown.incidence.pattern

    @cached_property
    def control(self) -> tuple[Incidence, NDArray[np.intp], NDArray[np.object_] | None]:
        """People who are not in the release: their rows, which of them count, their labels."""
        if self.options.control is not None:
            source = open_source(self.options.control)
            rows = self._reading.read(source, self._forms, strict=False)
            return rows.incidence, np.arange(rows.incidence.n_rows), rows.labels
        held = self._numbers(CONTROL, "row")
        assert held is not None
        return self.true.incidence, self._place[held], self.true.labels

    @cached_property
    def _published(self) -> dict[int, NDArray[np.intp]]:
        shown, (others, *_) = self.shown.incidence, self.control
        return {id(rows): published(rows, shown) for rows in (self.true.incidence, others)}

    def seen(self, known: NDArray[np.intp], rows: Incidence | None = None) -> NDArray[np.intp]:
        """Return which of the items known of a person are published."""
        found = self._published[id(self.true.incidence if rows is None else rows)][known]
        return found[found >= 0]

    def mask(self, rows: Incidence) -> NDArray[np.bool_]:
        """Return which features of the source, or of the control, are published."""
        return self._published[id(rows)] >= 0

    def useful(
        self, knows: Knowledge, known: NDArray[np.intp], row: int, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """Return the knowledge against the release: random items as known, or identifying ones."""
        true = self.true.incidence
        return knows.of(true, row, rng, self.mask(true)) if knows.identifying else known

    def drawn(self, rng: np.random.Generator, among: int) -> NDArray[np.intp]:
        """Draw the people to attack."""
        return rng.permutation(among)[: self.options.targets]


def _look_up(scene: Scene, rng: np.random.Generator, *, absent: bool) -> Evidence:
    true, shown = scene.true.incidence, scene.shown.incidence
    targets, own = scene.targets
    others, outside, _ = scene.control
    findings, curves = [], []
    for identifying in (False, True):
        alone: list[tuple[Rate, Rate]] = []
        left: list[tuple[Any, ...]] = []
        for count in sorted(set(scene.options.items)):
            knows = Knowledge(count, identifying, absent)
            after, before = [], []
            drawn = scene.drawn(rng, len(targets))
            for x in drawn:
                known = knows.of(true, targets[x], rng)
                useful = scene.useful(knows, known, targets[x], rng)
                after.append(look_up(shown, scene.seen(useful), absent=absent, own=int(own[x])))
                mine = int(true.pattern[targets[x]])
                before.append(look_up(true, known, absent=absent, own=mine))
            strangers = outside[scene.drawn(rng, len(outside))]
            control = [
                look_up(
                    shown,
                    scene.seen(knows.of(others, row, rng, scene.mask(others)), others),
                    absent=absent,
                )
                for row in strangers
            ]
            whose = true.subjects_of(targets[drawn])
            alone.append((_alone(before, whose), _alone(after, whose)))
            findings += [
                *_left_alone(knows, *alone[-1], _alone(control, others.subjects_of(strangers))),
                _right(knows, after, whose, rng, shown.n_subjects),
            ]
            left.append(tuple(np.median([s.left for s in x] or [0]) for x in (before, after)))
        counts = tuple(float(c) for c in sorted(set(scene.options.items)))
        curves += list(_curves(counts, alone, identifying=identifying, absent=absent))
        curves += list(_left(counts, left, identifying=identifying, absent=absent))
    fits = {"has": "lacks", "fits": "has none of them"}
    return Evidence(
        attack="absences" if absent else "items",
        heading="singling out",
        story=Note(STORY, fits if absent else {"has": "has", "fits": "has them all"}),
        knows=tuple(c["column"] for c in scene.release.public["policy"]),
        findings=tuple(findings),
        curves=tuple(curves),
        notes=NOTES,
    )


def _left_alone(knows: Knowledge, before: Rate, after: Rate, control: Rate) -> Iterator[Finding]:
    yield Finding(
        ONE_LEFT_BEFORE,
        before,
        meaning="Nobody else in the source fits what is known.",
        at=knows.note,
    )
    yield Finding(
        ONE_LEFT,
        after,
        control=control,
        meaning="Nobody else in the release fits what is known.",
        at=knows.note,
    )


def _right(
    knows: Knowledge,
    sights: list[LookUp],
    whose: list[int],
    rng: np.random.Generator,
    subjects: int,
) -> Finding:
    """Report how often the person drawn among those who fit is the right one."""
    drawn = rng.random((2, len(sights)))
    right = (s.is_among and u * s.left < 1 for s, u in zip(sights, drawn[0], strict=True))
    return Finding(
        "right person",
        Rate.by_subject(right, whose),
        baseline=Rate.by_subject(drawn[1] * subjects < 1, whose),
        meaning="The adversary draws one of those who fit.",
        at=knows.note,
    )


def _alone(sights: list[LookUp], whose: list[int]) -> Rate:
    return Rate.by_subject((sight.left == 1 for sight in sights), whose)


def _curves(
    counts: tuple[float, ...], alone: list[tuple[Rate, Rate]], *, identifying: bool, absent: bool
) -> Iterator[Curve]:
    kind = "most identifying" if identifying else "random"
    thing = "absences" if absent else "items"
    for name, rates in zip(("before", "after"), zip(*alone, strict=True), strict=True):
        ends = [rate.interval() for rate in rates]
        yield Curve(
            f"{name}, {kind} {thing}",
            f"{thing} known",
            "share of people of whom one is left",
            counts,
            tuple(rate.value if rate.trials else 0.0 for rate in rates),
            tuple(low for low, _ in ends),
            tuple(high for _, high in ends),
        )


def _left(
    counts: tuple[float, ...], left: list[tuple[Any, ...]], *, identifying: bool, absent: bool
) -> Iterator[Curve]:
    kind = "most identifying" if identifying else "random"
    thing = "absences" if absent else "items"
    for name, people in zip(("before", "after"), zip(*left, strict=True), strict=True):
        middle = tuple(float(x) for x in people)
        yield Curve(
            f"people left {name}, {kind} {thing}",
            f"{thing} known",
            "people left, for the middle one of those attacked",
            counts,
            middle,
        )


def _guess(scene: Scene, rng: np.random.Generator) -> Evidence:
    """Guess a person's label by the most frequent one among those who fit."""
    true, shown, labels = scene.true.incidence, scene.shown.incidence, scene.shown.labels
    targets, _ = scene.targets
    _, _, outside_labels = scene.control
    assert labels is not None
    table, names = _by_pattern(shown, labels)
    most = names[int(table.sum(axis=0).argmax())]
    findings = []
    for count in sorted(set(scene.options.items)):
        knows = Knowledge(count, identifying=False, absent=False)
        drawn = scene.drawn(rng, len(targets))
        guessed = [
            _majority(shown, table, names, scene.seen(knows.of(true, targets[x], rng)))
            for x in drawn
        ]
        whose = true.subjects_of(targets[drawn])
        findings.append(
            Finding(
                "label guessed rightly",
                Rate.by_subject(
                    (g == labels[x] for g, x in zip(guessed, drawn, strict=True)), whose
                ),
                baseline=Rate.by_subject((labels[x] == most for x in drawn), whose),
                control=(
                    None if outside_labels is None else _control(scene, knows, rng, (table, names))
                ),
                at=knows.note,
                advantage=True,
            )
        )
    return Evidence(
        attack="label",
        heading="inference",
        story=Note(
            "The adversary knows some of what a person has, drawn at random, and that the person "
            "is in the release, and guesses the most frequent label of the rows that have it all."
        ),
        knows=tuple(c["column"] for c in scene.release.public["policy"]),
        findings=tuple(findings),
        notes=(
            Note(
                "What is guessed as well for people who were never released is knowledge about "
                "groups, which a release is made for."
            ),
            Note("Baseline: always the release's most frequent label."),
        ),
    )


def _control(
    scene: Scene, knows: Knowledge, rng: np.random.Generator, known: tuple[Any, Any]
) -> Rate:
    others, outside, labels = scene.control
    assert labels is not None
    there = outside[np.array([labels[x] is not None for x in outside], dtype=np.bool_)]
    drawn = there[scene.drawn(rng, len(there))]
    shown = scene.shown.incidence
    hit = (
        _majority(shown, *known, scene.seen(knows.of(others, row, rng), others)) == labels[row]
        for row in drawn
    )
    return Rate.by_subject(hit, others.subjects_of(drawn))


def _by_pattern(
    rows: Incidence, labels: NDArray[np.object_]
) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    names, number = np.unique(labels.astype(str), return_inverse=True)
    table = np.zeros((len(rows.own), len(names)), dtype=np.int64)
    np.add.at(table, (rows.pattern, number), 1)
    return table, names.astype(object)


def _majority(
    shown: Incidence,
    table: NDArray[np.int64],
    names: NDArray[np.object_],
    known: NDArray[np.intp],
) -> str:
    patterns = look_up(shown, known, absent=False).patterns
    counted = table[patterns] if len(patterns) else table
    return str(names[int(counted.sum(axis=0).argmax())])
