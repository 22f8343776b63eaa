"""List the figures of a release, each with its question, unit, formula, bounds and source."""

from __future__ import annotations

import math

from voile.core.measures import DisplayMeasure

_PROBABILITY = (0.0, 1.0)
_MANY = (0.0, math.inf)
_EL_EMAM = "El Emam 2013, ch. 16"
_XIA = "Xia et al., CODASPY 2013, eq. 2"
_SKINNER = "Skinner & Elliot, JRSS B 64(4), 2002"
_L = "Machanavajjhala et al., TKDD 2007"
_T = "Li, Li & Venkatasubramanian, ICDE 2007"


def _risk(
    name: str,
    title: str,
    unit: str,
    formula: str,
    source: str,
    bounds: tuple[float, float] = _PROBABILITY,
) -> DisplayMeasure:
    return DisplayMeasure(name, title, unit, formula, bounds, "lower", "falls", source)


def _level(name: str, title: str, unit: str, formula: str, source: str) -> DisplayMeasure:
    return DisplayMeasure(name, title, unit, formula, (1.0, math.inf), "higher", "rises", source)


_ALL = (
    _risk(
        "mean_risk",
        "average risk of a record",
        "probability",
        "mean over records of 1 / g, with g = max(sample, people, 1) of the record's class",
        _XIA,
    ),
    _risk("max_risk", "largest risk of a record", "probability", "1 / the least g", _EL_EMAM),
    _risk(
        "expected_matches",
        "people expected to be re-identified correctly",
        "records",
        "sum over records of 1 / g",
        _XIA,
        _MANY,
    ),
    _risk(
        "share_under_11",
        "people in groups of fewer than 11 in the population",
        "share",
        "records with g < 11, divided by the records",
        "CMS cell size suppression policy",
    ),
    _level(
        "k",
        "people in the smallest group of the release (k)",
        "subjects",
        "the least class of the release, rounded down",
        "Sweeney, IJUFKS 10(5), 2002",
    ),
    _level(
        "k_map",
        "people in the smallest of these groups in the population (k-map)",
        "people",
        "the least g, rounded down",
        "Sweeney, PhD thesis, MIT 2001",
    ),
    _risk(
        "sample_uniques",
        "people unique in the release",
        "records",
        "records in classes of one subject",
        _SKINNER,
        _MANY,
    ),
    _risk(
        "population_uniques",
        "people unique in the population",
        "records",
        "records with g = 1",
        _SKINNER,
        _MANY,
    ),
    _risk(
        "prosecutor_max",
        "largest risk of a person known to be in the release (prosecutor)",
        "probability",
        "1 / least n",
        _EL_EMAM,
    ),
    _risk(
        "prosecutor_mean",
        "average risk of a person known to be in the release (prosecutor)",
        "probability",
        "mean over records of 1 / n, n the record's class: classes divided by records",
        _EL_EMAM,
    ),
    _risk(
        "journalist_max",
        "largest risk of a person looked up in a register (journalist)",
        "probability",
        "max_risk",
        _EL_EMAM,
    ),
    _risk(
        "journalist_mean",
        "average risk of a person looked up in a register (journalist)",
        "probability",
        "mean_risk",
        _EL_EMAM,
    ),
    _risk(
        "marketer",
        "share of records that are linked correctly on average (marketer)",
        "share",
        "expected_matches divided by the records: mean_risk, read as a share",
        "Dankar & El Emam, PAIS 2010",
    ),
    _level(
        "distinct_l",
        "smallest number of values in a group (distinct l-diversity)",
        "values",
        "the fewest sensitive values in a class",
        _L,
    ),
    _level(
        "entropy_l",
        "smallest effective number of values in a group (entropy l-diversity)",
        "values",
        "exp of the least entropy, in nats, of the sensitive values of a class",
        _L,
    ),
    _risk(
        "recursive_c",
        "what c must exceed in recursive (c, 2)-diversity",
        "odds",
        "the largest r_1 / (r_2 + r_3 + ...) of a class, its counts r in falling order",
        _L,
        _MANY,
    ),
    _risk(
        "t_closeness",
        "largest distance of a group's values from everybody's, 0 to 1 (t-closeness)",
        "share",
        "the largest half sum over the values of |class share - release share|",
        _T,
    ),
    _risk(
        "t_closeness_ordered",
        "the same with values in order (ordered t-closeness)",
        "share",
        "the largest sum of |cumulated class share - release share|, divided by v - 1",
        _T,
    ),
    DisplayMeasure(
        "discernibility",
        "discernibility: each group's size, squared and added up",
        "pairs",
        "sum of squared class sizes, and for each suppressed record the size of the source",
        _MANY,
        "lower",
        "rises",
        "Bayardo & Agrawal, ICDE 2005, eq. 1",
    ),
    _risk(
        "groups_short_of_people",
        "classes with fewer people than subjects",
        "classes",
        "classes whose population is below their sample; g counts their sample",
        "",
        _MANY,
    ),
)
MEASURES: dict[str, DisplayMeasure] = {measure.name: measure for measure in _ALL}
