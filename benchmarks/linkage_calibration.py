"""Whether the linking adversary is right as often as stated, and knows whom the register holds.

Before: columns taken as independent and error rates estimated freely, as Fellegi and Sunter's
model is mostly used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from benchmarks import picture
from benchmarks.linkage_games import (
    HELD_OUT,
    MISSING,
    OTHERS,
    PLACES,
    REAL,
    RELEASED,
    WIDTHS,
    WRONG_AGES,
    Game,
)
from benchmarks.linkage_reliability import AFTER, BEFORE, GIVEN, Played, Tenth, play, reliability
from benchmarks.tables import save

from voile.report.sections import LineChart, Series

OVERLAPS, NEAR, SEEDS = (0.3, 0.6, 0.9), (False, True), (1,)
FEW = 3


def verdict(tenths: Iterable[Tenth]) -> str:
    """Count the tenths that hold what was stated, and name the worst of the others."""
    found = list(tenths)
    outside = [t for t in found if t.outside > 0]
    if not outside:
        return f"{len(found)} of {len(found)}"
    worst = max(outside, key=lambda t: t.outside)
    return (
        f"{len(found) - len(outside)} of {len(found)} "
        f"({worst.stated:.3f} for {worst.rate.value:.3f} at worst)"
    )


def diagram(where: str, ways: dict[str, list[Played]]) -> Iterator[tuple[str, ...]]:
    found = {way: {t.tenth: t for t in reliability(played)} for way, played in ways.items()}
    for ten in range(10):
        cells: list[str] = []
        for tenths in found.values():
            cells += _cells(tenths[ten]) if ten in tenths else ("", "", "")
        yield where, f"{ten / 10:.1f} to {(ten + 1) / 10:.1f}", *cells


def _cells(tenth: Tenth) -> tuple[str, str, str]:
    low, high = tenth.rate.interval()
    right = f"{tenth.rate.value:.3f} ({low:.3f}-{high:.3f})"
    return (
        f"{tenth.rate.trials:,}",
        f"{tenth.stated:.3f}",
        f"**{right}**" if tenth.outside else right,
    )


def draw(games: dict[str, dict[str, list[Played]]]) -> None:
    """Draw the reliability diagram of each place: observed against stated, and the diagonal."""
    charts = []
    for where, ways in games.items():
        lines = []
        for way in (AFTER, BEFORE):
            tenths = list(reliability(ways[way]))
            ends = [t.rate.interval() for t in tenths]
            x, y = tuple(t.stated for t in tenths), tuple(t.rate.value for t in tenths)
            low, high = (tuple(each[end] for each in ends) for end in (0, 1))
            lines.append(Series(way, x, y, low, high))
        lines.append(Series("right as often as stated", (0.0, 1.0), (0.0, 1.0)))
        charts.append(LineChart(tuple(lines), "stated", f"right, {where}", audience="public"))
    picture.save_lines("linkage_calibration", "Right against stated, by tenths", charts)


def by_rivals(games: dict[str, dict[str, list[Played]]]) -> Iterator[str]:
    """Split each place's names by how many released people have the same values."""
    yield "| place | released people with the same values | names | tenths inside |"
    yield "| --- | --- | --- | --- |"
    for where, ways in games.items():
        for name, *bounds in (("1", 1, 1), ("2", 2, 2), ("3 or more", 3, RELEASED)):
            played = [p.of(*bounds) for p in ways[AFTER]]
            names = sum(int(np.sum(p.stated > 0)) for p in played)
            yield f"| {where} | {name} | {names:,} | {verdict(reliability(played))} |"


def overlaps(games: dict[Game, dict[str, Played]]) -> Iterator[str]:
    """Write how many of the released are taken to be in the register, and the error rates."""
    yield "| place | release | held | before | after | wrong ages, before | after |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for where, width, overlap in product(PLACES, WIDTHS, OVERLAPS):
        mine = [g for g in games if (g.place, g.width, g.overlap) == (where, width, overlap)]
        cells = []
        for read in (lambda m: m.share, lambda m: m.errors[0]):
            for way in (BEFORE, AFTER):
                each = [read(games[g][way].model) for g in mine]
                cells.append(f"{min(each):.2f} to {max(each):.2f}")
        yield f"| {where} | {width} | {overlap} | {' | '.join(cells)} |"


COOK = "Cook County 2020"
OTHERWISE = (
    ("no age is wrong", COOK, {"wrong": 0.0}, (AFTER,)),
    ("no age is wrong", REAL, {"wrong": 0.0}, (AFTER,)),
    ("20% of ages are wrong", COOK, {"wrong": 0.2}, (AFTER,)),
    ("20% of ages are wrong", REAL, {"wrong": 0.2}, (AFTER,)),
    ("groups under 3 suppressed", COOK, {"fewest": FEW}, (AFTER, GIVEN)),
    ("groups under 3 suppressed", REAL, {"fewest": FEW}, (AFTER, GIVEN)),
    ("5,000 others in the register", "Tennessee", {"strangers": 5_000}, (AFTER, GIVEN)),
    ("5,000 others in the register", COOK, {"strangers": 5_000}, (AFTER, GIVEN)),
)


@dataclass(frozen=True)
class Otherwise:
    """Games in which something is not as the adversary expects it, and how they went."""

    name: str
    where: str
    way: str
    played: list[Played]

    def cells(self) -> str:
        taken, tenths = [p.model.share for p in self.played], list(reliability(self.played))
        how = "estimated" if self.way == AFTER else "given"
        return (
            f"| {self.where} | {self.name} | {how} | {min(taken):.2f} to {max(taken):.2f} | "
            f"{verdict(tenths)} | {surest(tenths)} |"
        )


def otherwise(pool: ProcessPoolExecutor) -> Iterator[Otherwise]:
    """Play on where something is not as the adversary expects it, 60% of the people drawn held.

    And where everything is, with the overlap given.
    """
    for where in PLACES:
        games = [Game(where, *one) for one in product(OVERLAPS, WIDTHS, NEAR[:1], SEEDS)]
        played = pool.map(play, [(game, GIVEN) for game in games])
        yield Otherwise("30, 60 or 90% held, ages wrong by any amount", where, GIVEN, list(played))
    for name, where, changed, ways in OTHERWISE:
        games = [Game(where, 0.6, *one, **changed) for one in product(WIDTHS, NEAR, SEEDS)]
        for way in ways:
            yield Otherwise(name, where, way, list(pool.map(play, [(g, way) for g in games])))


def surest(tenths: Sequence[Tenth]) -> str:
    last = tenths[-1]
    if last.tenth < 9:
        return "none given"
    return f"{last.rate.successes:,} of {last.rate.trials:,} right"


def summary(games: dict[str, dict[str, list[Played]]]) -> Iterator[str]:
    """Say for each place how many tenths hold what was stated, and how the surest names fared."""
    for where, ways in games.items():
        tenths = {way: list(reliability(played)) for way, played in ways.items()}
        single = [t for p in ways[AFTER] for t in reliability([p])]
        yield (
            f"- {where}: {verdict(tenths[AFTER])}; before, {verdict(tenths[BEFORE])}. Names given "
            f"with 90% or more: {surest(tenths[AFTER])}; before, {surest(tenths[BEFORE])}. "
            f"Tenths of single games: {sum(t.outside == 0 for t in single)} of {len(single)}."
        )


def main() -> None:
    plan = [Game(*one) for one in product(PLACES, OVERLAPS, WIDTHS, NEAR, SEEDS)]
    with ProcessPoolExecutor() as pool:
        tasks = list(product(plan, (BEFORE, AFTER)))
        found = dict(zip(tasks, pool.map(play, tasks), strict=True))
        others = list(otherwise(pool))
    games = {game: {way: found[game, way] for way in (BEFORE, AFTER)} for game in plan}
    places = {
        where: {way: [games[g][way] for g in plan if g.place == where] for way in (BEFORE, AFTER)}
        for where in PLACES
    }
    draw(places)
    write(places, games, others)


def write(
    places: dict[str, dict[str, list[Played]]],
    games: dict[Game, dict[str, Played]],
    others: Sequence[Otherwise],
) -> None:
    """Write the page."""
    save(
        "linkage_calibration",
        CAPTION.format(games=len(games) // len(PLACES)),
        (
            "place",
            "stated",
            "before: names",
            "mean stated",
            "right",
            "after: names",
            "mean stated",
            "right",
        ),
        [row for where, ways in places.items() for row in diagram(where, ways)],
        NOTES.format(
            summary="\n".join(summary(places)),
            rivals="\n".join(by_rivals(places)),
            overlaps="\n".join(overlaps(games)),
            others="\n".join(each.cells() for each in others),
            off="\n".join(still_off(places, games, others)),
        ),
    )


CAPTION = f"""The adversary links a release to an identified register. With each name she states
how likely it is to be right: of ten names stated at 0.7, seven should be.

In each game {RELEASED:,} people are released. The register contains 30, 60 or 90% of them and
{OTHERS:,} other people of the same place.
Wrong ages are {WRONG_AGES:.0%}, by one year in half of the games, by any amount in the others.
Missing ZIP codes are {MISSING:.0%}. The
release shows age, sex, race and ZIP code: unchanged, in groups of 2 years and 5 ZIP codes, or of 5
years and 10 ZIP codes. {REAL} and {HELD_OUT} are real people instead of census counts: a quarter
are released, and all others are in the register. {REAL} has 48,842, with age, sex, race,
occupation, years of schooling and marital status. Occupations are missing. {HELD_OUT} has 9,338,
with age, sex, race, marital status, schooling, birth in the country and season of examination.
Marital status is missing. A place has {{games}} games, and each game draws its own people.

The method was settled on Tennessee, both Cook Counties and {REAL}. {HELD_OUT} was held out, and run
once.

"Before" takes columns as independent and lets the data alone decide the error rates.
Intervals are 95% (Wilson's with a design effect and t, games as clusters). A stated value outside
the interval is bold.

![Observed against stated in each place](../pictures/linkage_calibration.svg)"""

NOTES = """### What holds

Tenths with the stated value in their interval (by chance, 19 of 20 would be):

{summary}

### Several released people with the same values

They are rivals: an entry of the register belongs to one of them at most. Names are split by how
many released people show the same values.

{rivals}

### The overlap of release and register

The table shows the estimated share of the released people in the register, with the error rate of
ages: least and most of the games. A wrong age within its interval counts as right. The adversary
first counts the people with an entry that agrees in everything. If many strangers agree in all
columns but one, an error in that column looks like absence from the register. There the expected 5%
count. In coarse releases, groups are so large that the data contain little information about the
overlap. `--overlap` states it, and voile uses the stated share.

{overlaps}

### Other registers and releases

60% of the people drawn are in the register, where nothing else is said.

| place | game | overlap | taken to be held | tenths inside | names at 90% or more |
| --- | --- | --- | --- | --- | --- |
{others}

### What is still off

{off}

### What was tried

- **Errors of 5% expected as firmly as if a tenth of the release had been looked up**, the method
  until now. With six columns, she expected 26% of the entries to have some error where 5% had, and
  took too few people for found. Two games a cell, overlap estimated: Tennessee 7 of 10 tenths, Cook
  County 2010 8, Cook County 2020 10, Adult 1 (7 points too low); 5,000 others in Cook County 2020,
  2 (21 points too high), 7 with the overlap given. NHANES, one game a cell, 9.
- **Missing values without information**: with true errors and overlap, 6 of 10 tenths in Adult, 4
  points too low. With missing occupations as an occupation, 9. The release and the register mostly
  lack the same values of a person.
- **Other released people of the same values as evidence of how many strangers have them**, with
  true errors and overlap: Adult 5 of 10 in place of 6, Tennessee 7 as without. With it, how densely
  people lie fitted to the release: Adult 4, Tennessee 8. Not taken.
- **A game of the adversary against herself**, with her register split at random, was not played.
  She would draw it with her own wrong estimates of errors and overlap."""


def still_off(
    places: dict[str, dict[str, list[Played]]],
    games: dict[Game, dict[str, Played]],
    others: Sequence[Otherwise],
) -> Iterator[str]:
    """Name every place and game in which a tenth lies outside, and the worst overlaps."""
    for where, ways in places.items():
        yield from _off(f"{where}{', held out' if where == HELD_OUT else ''}", ways[AFTER])
    for each in others:
        how = "estimated" if each.way == AFTER else "given"
        yield from _off(f"{each.where}, {each.name}, overlap {how}", each.played)
    for where in places:
        mine = [(g, games[g][AFTER].model.share) for g in games if g.place == where]
        worst, taken = max(mine, key=lambda one: abs(one[1] - one[0].overlap))
        yield (
            f"- **The overlap in {where}**: {worst.overlap:.0%} taken for {taken:.0%} at worst, "
            f"ages in {'years' if worst.width == WIDTHS[0] else 'groups of ' + worst.width}."
        )


def _off(what: str, played: list[Played]) -> Iterator[str]:
    """Tell the most that is over-stated and under-stated, where a tenth lies outside."""
    outside = [t for t in reliability(played) if t.outside]
    for word, wrong in (("over", lambda t: t.stated - t.rate.value), ("under", _missed)):
        these = [t for t in outside if wrong(t) > 0]
        if these:
            worst = max(these, key=wrong)
            yield (
                f"- **{what}**: {word}-stated in {len(these)} of 10, by {wrong(worst) * 100:.1f} "
                f"points at worst ({worst.stated:.3f} for {worst.rate.value:.3f})."
            )


def _missed(tenth: Tenth) -> float:
    return tenth.rate.value - tenth.stated


if __name__ == "__main__":
    main()
