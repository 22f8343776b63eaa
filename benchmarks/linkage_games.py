"""Populations, and the releases and registers that the linking adversary is tried on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import duckdb
import numpy as np
from benchmarks.cook import cook_counts
from benchmarks.data import folder
from benchmarks.tennessee import tennessee_counts

from voile.keys.random import streams
from voile.tables.attack.records import IntervalRecords

RELEASED, OTHERS = 20_000, 100_000
WRONG_AGES, MISSING = 0.05, 0.03
WIDTHS = ("as it is", "2 years", "5 years")
BY_ZIP = dict(zip(WIDTHS, ((1, 1, 1, 1), (2, 1, 1, 5), (5, 1, 1, 10)), strict=True))


@dataclass(frozen=True)
class Place:
    """People by age and three or more columns, the fourth of which the register loses at times.

    `people` counts them by combination, `sample` are some who are not like all of them. Without
    counts, every row is a person: a quarter of them are released and the others are strangers.
    """

    codes: np.ndarray
    people: np.ndarray | None = None
    sample: np.ndarray | None = None
    widths: dict[str, tuple[int, ...]] | None = None

    def draw(self, strangers: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw who is released, and strangers who are in the register beside some of them."""
        if self.people is None:
            order = rng.permutation(self.codes)
            return order[: len(order) // 4], order[len(order) // 4 :]
        if self.sample is None:
            return self._people(RELEASED, rng), self._people(strangers, rng)
        released = self.sample[rng.choice(len(self.sample), RELEASED, replace=False)]
        return released, self._people(strangers, rng)

    def _people(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return self.codes[rng.choice(len(self.codes), count, p=self.people / self.people.sum())]


@cache
def place(name: str) -> Place:
    """Read one of `PLACES`."""
    return PLACES[name]()


def tennessee() -> Place:
    return _with_sample(tennessee_counts())


def cook_2010() -> Place:
    return _with_sample(cook_counts())


def _with_sample(counts) -> Place:
    sample = np.repeat(counts.codes, counts.sample.astype(int), axis=0)
    return Place(counts.codes, counts.population, sample, BY_ZIP)


def cook_2020() -> Place:
    """Read age and sex by area, and group by area: independent of each other within an area."""
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
    return Place(np.column_stack(codes).astype(np.int32), np.asarray(people), widths=BY_ZIP)


def adult() -> Place:
    """Read age, sex, race, occupation, years of schooling and marital status of 48,842 people."""
    sql = """SELECT age, dense_rank() OVER (ORDER BY sex) - 1,
                    dense_rank() OVER (ORDER BY race) - 1,
                    CASE WHEN job = '?' THEN -1 ELSE dense_rank() OVER (ORDER BY job) - 1 END,
                    school, dense_rank() OVER (ORDER BY married) - 1
             FROM (SELECT column00::INT AS age, column04::INT AS school, column05 AS married,
                          column06 AS job, column08 AS race, column09 AS sex
                   FROM read_csv(?, header = false, all_varchar = true, delim = ', ',
                                 null_padding = true) WHERE column09 IS NOT NULL)"""
    files = [str(folder("adult") / f"adult.{part}.gz") for part in ("data", "test")]
    codes = duckdb.execute(sql, [files]).fetchnumpy().values()
    widths = ((1, 1, 1, 1, 1, 1), (2, 1, 1, 1, 2, 1), (5, 1, 1, 1, 4, 1))
    columns = np.column_stack(list(codes)).astype(np.int32)
    return Place(columns, widths=dict(zip(WIDTHS, widths, strict=True)))


def nhanes() -> Place:
    """Read seven columns of 9,338 people who were examined; a question not asked is a value."""
    names = ("RIDAGEYR", "RIAGENDR", "RIDRETH3", "DMDMARTL", "EDUCATION", "DMDBORN4", "RIDEXMON")
    shown = ", ".join(f"coalesce({name}::DOUBLE::INT, 0) AS {name}" for name in names)
    sql = f"""SELECT {shown} FROM (SELECT *, coalesce(DMDEDUC2, DMDEDUC3) AS EDUCATION
              FROM read_csv(?, all_varchar = true)) ORDER BY SEQN::DOUBLE"""
    file = str(folder("nhanes-2011-2012") / "nhanes_2011_2012_bmx_demo.csv.gz")
    columns = np.column_stack(list(duckdb.execute(sql, [file]).fetchnumpy().values()))
    widths = ((1,) * 7, (2, 1, 1, 1, 2, 1, 1), (5, 1, 1, 1, 4, 1, 1))
    return Place(columns.astype(np.int32), widths=dict(zip(WIDTHS, widths, strict=True)))


PLACES = {
    "Tennessee": tennessee,
    "Cook County 2010": cook_2010,
    "Cook County 2020": cook_2020,
    "Adult": adult,
    "NHANES": nhanes,
}
REAL, HELD_OUT = "Adult", "NHANES"


@dataclass(frozen=True)
class Game:
    """One release and one register, coded to intervals of some widths.

    `overlap` is the share of the people drawn who are in the register; groups of `fewest` people
    and more are released. Of the register's ages, `wrong` are wrong: by a year where `near`.
    """

    place: str
    overlap: float
    width: str
    near: bool
    seed: int
    wrong: float = WRONG_AGES
    fewest: int = 1
    strangers: int = OTHERS

    def parts(self) -> tuple[IntervalRecords, IntervalRecords]:
        """Draw the release and the register."""
        (rng,), where = streams(self.seed, f"people of {self}"), place(self.place)
        released, others = where.draw(self.strangers, rng)
        held = int(self.overlap * len(released))
        register = np.concatenate([released[:held], others])
        wrong, gone = (rng.random(len(register)) < s for s in (self.wrong, MISSING))
        ages = register[:, 0].copy()
        off = np.clip(ages + rng.choice([-1, 1], len(ages)), 0, ages.max())
        register[wrong, 0] = (off if self.near else rng.permutation(ages))[wrong]
        wide = np.array(where.widths[self.width], dtype=np.int32)
        cut, of = register // wide, released // wide
        cut[gone, 3] = -1
        who = np.concatenate([np.arange(held), len(released) + np.arange(len(others))])
        shown = rng.permutation(np.flatnonzero(alike(of) >= self.fewest))
        return IntervalRecords(of[shown], shown), IntervalRecords(cut, who)


def alike(rows: np.ndarray) -> np.ndarray:
    """Count the rows equal to each row."""
    each = list(map(tuple, rows.tolist()))
    sizes = Counter(each)
    return np.array([sizes[row] for row in each])
