"""Whether the linking adversary is right as often as stated, and knows whom the register holds.

The adversary links 20,000 released people to a register of some of them and 100,000 others of the
same place, in which 5% of ages are wrong and 3% of ZIP codes are missing. Before: columns taken as
independent, error rates estimated freely, as Fellegi and Sunter's model is mostly used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import duckdb
import numpy as np
from benchmarks.cook import cook_counts
from benchmarks.data import folder
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts

from voile.core.evidence import Rate
from voile.keys.random import streams
from voile.tables.attack import HitMiss, Records
from voile.tables.attack.linkage import Claims, link
from voile.tables.attack.model import estimate
from voile.tables.attack.patterns import Patterns, agreement_patterns
from voile.tables.attack.records import distinct_rows

RELEASED, OTHERS = 20_000, 100_000
WRONG_AGES, MISSING_ZIPS = 0.05, 0.03
OVERLAPS, SEEDS, NEAR = (0.3, 0.6, 0.9), (1, 2), (False, True)
WIDTHS = {"as it is": (1, 1, 1, 1), "2 years": (2, 1, 1, 5), "5 years": (5, 1, 1, 10)}


@dataclass(frozen=True)
class Place:
    """People by age, sex, race and ZIP code; and a sample that is not like all of them."""

    name: str
    codes: np.ndarray
    people: np.ndarray
    sample: np.ndarray | None = None

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw people of the place at random."""
        return self.codes[rng.choice(len(self.codes), count, p=self.people / self.people.sum())]

    def released(self, rng: np.random.Generator) -> np.ndarray:
        """Draw those who are released, from the sample where there is one."""
        if self.sample is None:
            return self.draw(RELEASED, rng)
        return self.sample[rng.choice(len(self.sample), RELEASED, replace=False)]


@cache
def place(name: str) -> Place:
    if name == "Cook County 2020":
        return cook_2020()
    counts = tennessee_counts() if name == "Tennessee" else cook_counts()
    sample = np.repeat(counts.codes, counts.sample.astype(int), axis=0)
    return Place(name, counts.codes, counts.population, sample)


PLACES = ("Tennessee", "Cook County 2010", "Cook County 2020")


def cook_2020() -> Place:
    """Read age and sex by area, and group by area; within an area these are taken as apart."""
    path = str(folder("census-population")) + "/cook_2020_zcta_{}.csv.gz"
    year = "CASE WHEN age LIKE 'Under%' THEN 0 ELSE regexp_extract(age, '[0-9]+')::INT END"
    sql = f"""
        WITH ages AS (SELECT *, {year} AS year FROM read_csv(?)),
             groups AS (SELECT *, pop_in_cook / sum(pop_in_cook) OVER (PARTITION BY geoid_zcta)
                        AS share FROM read_csv(?) WHERE pop_in_cook > 0)
        SELECT dense_rank() OVER (ORDER BY year) - 1, dense_rank() OVER (ORDER BY sex) - 1,
               dense_rank() OVER (ORDER BY race_eth) - 1,
               dense_rank() OVER (ORDER BY geoid_zcta) - 1, ages.pop_in_cook * share
        FROM ages JOIN groups USING (geoid_zcta) WHERE ages.pop_in_cook > 0 ORDER BY ALL"""
    files = [path.format(name) for name in ("single_age_sex", "race_ethnicity")]
    *codes, people = duckdb.execute(sql, files).fetchnumpy().values()
    return Place("Cook County 2020", np.column_stack(codes).astype(np.int32), np.asarray(people))


@dataclass(frozen=True)
class Game:
    """One release and one register, coded to intervals of some widths."""

    place: str
    overlap: float
    width: str
    near: bool
    seed: int
    wrong: float = WRONG_AGES

    def parts(self) -> tuple[Records, Records]:
        """Draw the release and the register."""
        (rng,), where = streams(self.seed, f"people of {self}"), place(self.place)
        released = where.released(rng)
        held = int(self.overlap * RELEASED)
        register = np.concatenate([released[:held], where.draw(OTHERS, rng)])
        wrong, gone = (rng.random(len(register)) < s for s in (self.wrong, MISSING_ZIPS))
        ages = register[:, 0].copy()
        off = np.clip(ages + rng.choice([-1, 1], len(ages)), 0, ages.max())
        register[wrong, 0] = (off if self.near else rng.permutation(ages))[wrong]
        wide = np.array(WIDTHS[self.width])
        cut, of = register // wide, released // wide
        cut[gone, 3] = -1
        who = np.concatenate([np.arange(held), RELEASED + np.arange(OTHERS)])
        order = rng.permutation(RELEASED)
        return Records(of[order], order), Records(cut, who)


class Independent:
    """Chances as products of the columns' own frequencies."""

    def __init__(self, register: np.ndarray) -> None:
        self.register = register

    def of(self, patterns: Patterns) -> np.ndarray:
        """Return (c, 2^q)."""
        chances = np.ones((len(patterns.combinations), 1))
        for held, shown in zip(self.register.T, patterns.combinations.T, strict=True):
            counts = np.bincount(held[held >= 0], minlength=shown.max() + 1)
            share = np.maximum(counts[shown], 1e-3)[:, None] / counts.sum()
            chances = np.hstack([chances, chances * share])
        return chances


def before(release: Records, register: Records) -> tuple[Claims, HitMiss]:
    combinations, of = distinct_rows(release.codes)
    some = slice(None, None, -(-len(combinations) // 2_000))
    patterns = agreement_patterns(combinations[some], register.codes)
    apart, weight = Independent(register.codes), np.bincount(of)[some].astype(float)
    start = HitMiss(np.full(4, 0.05), 0.9)
    chances = apart.of(patterns)
    model = estimate(patterns, chances, weight, start=start, checked=0, steps=100)
    return link(release, register, model, chance=apart)


@dataclass(frozen=True)
class Played:
    """What was stated of each name that was given, whether it was right, and the model."""

    stated: np.ndarray
    right: np.ndarray
    model: HitMiss


def play(game: Game, way: str) -> Played:
    claims, model = (before if way == "before" else link)(*game.parts())
    (ties,) = streams(game.seed, f"ties of {game}")
    return Played(claims.posterior, ties.random(len(claims.right)) < claims.right, model)


def reliability(played: list[Played]) -> Iterator[tuple[int, float, Rate]]:
    """Yield each tenth with the mean of what was stated and how often it was right.

    The names of one game share its register and its model: of several games, these are clusters.
    """
    stated, right = (np.concatenate([getattr(p, n) for p in played]) for n in ("stated", "right"))
    game = np.repeat(np.arange(len(played)), [len(p.stated) for p in played])
    tenth = np.minimum((stated * 10).astype(int), 9)
    for ten in np.unique(tenth[stated > 0]):
        here = (tenth == ten) & (stated > 0)
        right_in, names_in = (np.bincount(game[here], w, len(played)) for w in (right[here], None))
        rate = Rate(int(right_in.sum()), int(names_in.sum()))
        if len(played) > 1:
            rate = Rate.clustered(right_in, names_in)
        yield int(ten), float(stated[here].mean()), rate


def inside(stated: float, rate: Rate) -> bool:
    low, high = rate.interval()
    return low <= stated <= high


def apart(rate: Rate) -> Rate:
    """Return the rate as if every name stood alone."""
    return Rate(rate.successes, rate.trials)


def diagram(where: str, played: dict[str, list[Played]]) -> Iterator[tuple[str, ...]]:
    ways = {way: {ten: rest for ten, *rest in reliability(p)} for way, p in played.items()}
    for ten in range(10):
        cells = []
        for found in ways.values():
            if ten not in found:
                cells += ["", "", ""]
                continue
            stated, rate = found[ten]
            low, high = rate.interval()
            seen = f"{rate.value:.3f} ({low:.3f}-{high:.3f})"
            cells += [
                f"{rate.trials:,}",
                f"{stated:.3f}",
                seen if inside(stated, rate) else f"**{seen}**",
            ]
        yield where, f"{ten / 10:.1f} to {(ten + 1) / 10:.1f}", *cells


def overlaps(games: dict[Game, dict[str, Played]]) -> Iterator[str]:
    """Write how many of the released are taken to be in the register, and the error rates."""
    yield "| place | release | held | before | after | wrong ages, before | after |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for where, width, overlap in product(PLACES, WIDTHS, OVERLAPS):
        mine = [g for g in games if (g.place, g.width, g.overlap) == (where, width, overlap)]
        cells = []
        for read in (lambda m: m.share, lambda m: m.errors[0]):
            for way in ("before", "after"):
                each = [read(games[g][way].model) for g in mine]
                cells.append(f"{min(each):.2f} to {max(each):.2f}")
        yield f"| {where} | {width} | {overlap} | {' | '.join(cells)} |"


def other_errors(where: str) -> Iterator[str]:
    """Play on where 5% of ages are expected to be wrong, and none are, or four times as many."""
    for wrong in (0.0, 0.2):
        games = [Game(where, 0.6, *one, wrong) for one in product(WIDTHS, NEAR, SEEDS)]
        played = [play(game, "after") for game in games]
        tenths = [(s, r) for _, s, r in reliability(played)]
        worst = max(abs(s - r.value) for s, r in tenths)
        held = [p.model.share for p in played]
        sure = tenths[-1][1]
        yield (
            f"- {wrong:.0%} of ages wrong: {sum(inside(*x) for x in tenths)} of {len(tenths)} "
            f"tenths inside, the furthest off by {100 * worst:.1f} points; {sure.successes:,} of "
            f"{sure.trials:,} right of those given with 90% or more; 60% are held, taken to be "
            f"{min(held):.0%} to {max(held):.0%}\n"
        )


def main() -> None:
    games: dict[Game, dict[str, Played]] = {}
    for one in product(PLACES, OVERLAPS, WIDTHS, NEAR, SEEDS):
        games[Game(*one)] = {way: play(Game(*one), way) for way in ("before", "after")}
        print(*one, file=sys.stderr)
    rows, said, within = [], [], []
    for where in PLACES:
        own = [found for game, found in games.items() if game.place == where]
        played = {way: [found[way] for found in own] for way in ("before", "after")}
        rows += diagram(where, played)
        sure = {way: list(reliability(p))[-1][2] for way, p in played.items()}
        said.append(
            f"{where}: of names given with 90% or more, "
            + ", ".join(f"{way} {r.successes:,} of {r.trials:,} right" for way, r in sure.items())
        )
        each = [(s, r) for f in own for _, s, r in reliability([f["after"]])]
        was = [(s, r) for f in own for _, s, r in reliability([f["before"]])]
        pooled = [(s, apart(r)) for _, s, r in reliability(played["after"])]
        within.append(
            f"{where}: {sum(inside(*x) for x in was)} of {len(was)} before, "
            f"{sum(inside(*x) for x in each)} of {len(each)} after; of the ten of all games "
            f"together, names taken one by one, {sum(inside(*x) for x in pooled)} after"
        )
    save(
        "linkage_calibration",
        f"What the linking adversary states against how often it is right: {RELEASED:,} people\n"
        f"released, a register of 30, 60 or 90% of them and {OTHERS:,} others; {WRONG_AGES:.0%}\n"
        "of its ages are wrong (by one year in half of the games, anyhow in the others) and\n"
        f"{MISSING_ZIPS:.0%} of its ZIP codes missing. Released as it is, in 2 years and 5 ZIP\n"
        f"codes, in 5 years and 10; {len(games) // len(PLACES)} games a place. The method was\n"
        "settled on Tennessee; Cook County 2010 was looked at before the last constant was; Cook\n"
        "County 2020 was not. 95% intervals (Wilson's with a design effect and t, games as\n"
        "clusters), bold where what was stated lies outside.\n"
        '"Before" takes columns as independent.',
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
        rows,
        "Tenths of single games, whose intervals hold what was stated (95% would by chance):\n\n"
        + "".join(f"- {one}\n" for one in within)
        + "\n"
        + "".join(f"- {one}\n" for one in said)
        + "\nThe share of the released that are taken to be in the register, and the error rate\n"
        "of ages in the model: least and most of the games. An age that is wrong within\n"
        "its interval is none. Where many strangers agree on all columns but one, errors in it\n"
        "cannot be told from absence: the model then keeps the 5% that it expects.\n\n"
        + "\n".join(overlaps(games))
        + f"\n\n{PLACES[-1]}, where not the expected 5% of ages are wrong:\n\n"
        + "".join(other_errors(PLACES[-1])).rstrip("\n"),
    )


if __name__ == "__main__":
    main()
