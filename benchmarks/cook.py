"""Cook County, Illinois, 2010, as counts: a second population that nobody tuned to.

Two published census tables give people by ZIP area and age group and sex, and by ZIP area and
race; a third gives age, sex and race for the county. What is modelled, and how:

1. Age groups (23) x sex x group (Hispanic, and seven races of others) x ZIP area, fitted by
   iterative proportional fitting to: the county's age group x sex x group (PCT12H-O, ages summed
   to the groups), ZIP area x age group x sex (P12, the part in Cook County), and ZIP area x group
   (P5). The three agree to the person; 174 areas have people in the county.
2. Each cell's age group is split into single years (100-104, 105-109 and 110 and over are one
   year each) in the proportions of the county's people of that sex and group. This still meets
   all three tables, and no other table that does is nearer to independence.
3. Hispanics of each area are split over seven races in that area's own proportions (P5), whatever
   their age and sex, and the census's races become Adult's five: White; Black; Asian and Pacific
   islander (Asian, Native Hawaiian); American Indian and Alaska Native; Other (some other race,
   two or more races). Adult, too, asks for race apart from Hispanic origin.
4. Rounded to whole people, at random with a fixed seed and without bias: within each ZIP area,
   sex and age group the people, whose number is whole, are laid end to end and read off at
   whole steps from one random point. Every count becomes one of its two neighbours; P12 is met
   exactly, race by ZIP area within 9 people, age by sex in the county within 37. Largest
   remainders would empty small groups throughout, and with them the risk.
5. The sample is Adult's 32,561 records (age, sex, race). Each is placed, with the same seed, in
   the ZIP area of a person drawn without replacement from those who share its age, sex and race,
   so that no combination has fewer people than records. Adult's age 90 stands for 90 and over.
"""

from __future__ import annotations

from functools import cache

import duckdb
import numpy as np
from benchmarks.data import folder

from voile.tables.people.counts import CombinationCounts
from voile.tables.people.margins import PeopleMargin, fit_margins

SEED = 2010
SEXES = ("Female", "Male")
RACES = ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")
# the census's seven races, in P5's words, and Adult's race for each
ADULTS = {
    "White alone": "White",
    "Black or African American alone": "Black",
    "American Indian and Alaska Native alone": "Amer-Indian-Eskimo",
    "Asian alone": "Asian-Pac-Islander",
    "Native Hawaiian and Other Pacific Islander alone": "Asian-Pac-Islander",
    "Some Other Race alone": "Other",
    "Two or More Races": "Other",
}
CENSUS = tuple(ADULTS)
HISPANIC = len(CENSUS)
# first year of each of P12's age groups; the last goes on to 110 and over, as year 102
FIRST_YEARS = (
    *range(0, 15, 5),
    15,
    18,
    20,
    21,
    22,
    *range(25, 60, 5),
    60,
    62,
    65,
    67,
    70,
    75,
    80,
    85,
)
YEARS = 103
GROUP_OF_YEAR = np.searchsorted(FIRST_YEARS, np.arange(YEARS), side="right") - 1


def _rows(sql: str, name: str) -> list[tuple]:
    path = folder("census-population") / f"cook_2010_{name}.csv.gz"
    return duckdb.execute(
        sql.replace("FROM t", "FROM read_csv(?, all_varchar = true)"), [str(path)]
    ).fetchall()


def _first_year(age: str) -> int:
    """Read 'Under 5 years', '5 to 9 years', '18 and 19 years', '110 years and over'."""
    first = 0 if age.startswith("Under") else int(age.split()[0])
    return {105: 101, 110: 102}.get(first, first)


def county() -> np.ndarray:
    """People by single year, sex and group, whole county."""
    people = np.zeros((YEARS, len(SEXES), HISPANIC + 1))
    groups = {name.upper() + ", NOT HISPANIC OR LATINO": i for i, name in enumerate(CENSUS)}
    groups["HISPANIC OR LATINO"] = HISPANIC
    sql = "SELECT age, sex, race_ethnicity, estimate FROM t WHERE name LIKE 'Cook County%'"
    for age, sex, group, count in _rows(sql, "area_age_sex_race"):
        people[_first_year(age), SEXES.index(sex), groups[group]] += float(count)
    return people


def by_area() -> tuple[list[str], np.ndarray, np.ndarray]:
    """ZIP areas; people by age group, sex and area; by race, whether Hispanic, and area."""
    sql = "SELECT zcta, age, sex, pop_in_cook::DOUBLE FROM t WHERE pop_in_cook::DOUBLE > 0"
    rows = _rows(sql, "zcta_age_sex")
    areas = sorted({row[0] for row in rows})
    ages = np.zeros((len(FIRST_YEARS), len(SEXES), len(areas)))
    for area, age, sex, count in rows:
        ages[FIRST_YEARS.index(_first_year(age)), SEXES.index(sex), areas.index(area)] += count
    races = np.zeros((len(CENSUS), 2, len(areas)))
    sql = "SELECT zcta, race, ethnicity, estimate::DOUBLE FROM t WHERE estimate::DOUBLE > 0"
    for area, race, ethnicity, count in _rows(sql, "zcta_race_ethnicity"):
        races[CENSUS.index(race), int(ethnicity.startswith("Hispanic")), areas.index(area)] += count
    return areas, ages, races


def fitted() -> tuple[list[str], np.ndarray]:
    """ZIP areas, and expected people by single year, sex, Adult's race and area."""
    three_way, (areas, ages, races) = county(), by_area()
    by_group = np.add.reduceat(three_way, FIRST_YEARS, axis=0)
    groups = np.concatenate((races[:, 0], races[:, 1].sum(axis=0, keepdims=True)))
    margins = [
        PeopleMargin((0, 1, 2), by_group),
        PeopleMargin((0, 1, 3), ages),
        PeopleMargin((2, 3), groups),
    ]
    people = fit_margins((*by_group.shape, len(areas)), margins).counts
    share = _divide(three_way, by_group[GROUP_OF_YEAR])
    single = people[GROUP_OF_YEAR] * share[..., None]
    hispanic = _divide(races[:, 1], races[:, 1].sum(axis=0))
    census = single[:, :, :HISPANIC] + single[:, :, HISPANIC:] * hispanic
    adults = np.zeros((YEARS, len(SEXES), len(RACES), len(areas)))
    for i, race in enumerate(CENSUS):
        adults[:, :, RACES.index(ADULTS[race])] += census[:, :, i]
    return areas, adults


def _divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def rounded(people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Round to whole people within each age group, sex and area, whose sums are whole."""
    whole = np.zeros_like(people)
    for group, first in enumerate(FIRST_YEARS):
        years = slice(first, (*FIRST_YEARS, YEARS)[group + 1])
        block = np.moveaxis(people[years], 2, 0)  # race, year, sex, area
        ends = np.cumsum(block.reshape(-1, *block.shape[2:]), axis=0)
        ends[-1] = np.rint(ends[-1])
        ends = np.minimum(ends, ends[-1])
        steps = np.floor(ends + rng.random(ends.shape[1:]))
        counts = np.diff(steps, axis=0, prepend=0.0)
        whole[years] = np.moveaxis(counts.reshape(block.shape), 0, 2)
    return whole


def adult_records() -> np.ndarray:
    """Adult's records by year, sex and race; the column of 90 holds 90 and over."""
    path = folder("adult") / "adult.data.gz"
    rows = duckdb.execute(
        "SELECT column00::INT, column09, column08, count(*)"
        " FROM read_csv(?, header = false, all_varchar = true, delim = ', ', null_padding = true)"
        " WHERE column09 IS NOT NULL GROUP BY ALL",
        [str(path)],
    ).fetchall()
    records = np.zeros((YEARS, len(SEXES), len(RACES)), dtype=np.int64)
    for age, sex, race, count in rows:
        records[age, SEXES.index(sex), RACES.index(race)] += count
    return records


def placed(people: np.ndarray, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each record a person of its age, sex and race, without replacement."""
    sample = np.zeros_like(people)
    for age, sex, race in np.argwhere(records):
        years = slice(age, None) if age == 90 else slice(age, age + 1)
        pool = people[years, sex, race]
        drawn = rng.multivariate_hypergeometric(
            pool.astype(np.int64).ravel(), records[age, sex, race], method="marginals"
        )
        sample[years, sex, race] += drawn.reshape(pool.shape)
    return sample


@cache
def cook_counts() -> CombinationCounts:
    """Return population and sample by age (0-102), sex, race and ZIP area, in this order."""
    rng = np.random.default_rng(SEED)
    _, expected = fitted()
    people = rounded(expected, rng)
    sample = placed(people, adult_records(), rng)
    codes = np.argwhere(people > 0).astype(np.int32)
    at = tuple(codes.T)
    return CombinationCounts(people.shape, codes, sample[at], people[at], np.zeros((len(codes), 0)))


if __name__ == "__main__":
    counts = cook_counts()
    n, g = counts.sample, counts.population
    seen = n > 0
    print(f"{sum(counts.sizes) - len(counts.sizes)} bits, sizes {counts.sizes}")
    print(f"{g.sum():,.0f} people in {len(g):,} combinations, {int((g == 1).sum()):,} unique")
    print(
        f"{n.sum():,.0f} records, {int(seen.sum()):,} distinct, {int(g[seen].min())} least people,"
    )
    print(f"{int((g[seen] == 1).sum())} unique in the population")
    print(f"expected matches of the source as it is: {(n / g).sum():,.2f}")
