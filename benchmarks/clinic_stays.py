"""Stays of a clinic's patients, made up: some people come several times, as in a real table.

A person keeps her birth date and sex, mostly her address and insurer, and often comes back to the
same department with a related diagnosis. So rows of one person are alike, and not equal.
"""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

PEOPLE, STAYS = 4_259, 4_999
FIRST_DAY, DAYS = dt.date(2021, 1, 1), 3 * 365
DEPARTMENTS = {
    "Innere Medizin": ("I10", "I21", "I25", "I48", "I50", "E11", "J18", "J44", "K29", "N39"),
    "Chirurgie": ("K35", "K40", "K80", "L02", "S06", "S52", "T81", "K57"),
    "Orthopädie": ("M16", "M17", "M51", "M54", "S72", "S82", "M23"),
    "Gynäkologie": ("O80", "O82", "N81", "D25", "O42", "N83"),
    "Neurologie": ("I63", "G40", "G45", "G20", "R55", "G35", "H81"),
    "Urologie": ("N20", "N40", "C61", "N13", "N32"),
    "HNO": ("J35", "J34", "H66", "J32", "R04"),
    "Pädiatrie": ("J20", "A09", "J06", "P07", "R56"),
    "Onkologie": ("C34", "C50", "C18", "C83", "C25"),
    "Geriatrie": ("R26", "S72", "F05", "I50", "E86"),
}
INSURERS = ("AOK", "TK", "Barmer", "DAK", "IKK", "KKH", "BKK VBU", "Knappschaft", "privat", "LKK")
GIVEN = ("Anna", "Jürgen", "Fatma", "Klaus", "Mia", "Peter", "Zoë", "Heinz", "Ayşe", "Uwe", "Karin")
SYLLABLES = (
    "Berg",
    "mann",
    "Schä",
    "fer",
    "Hof",
    "meis",
    "ter",
    "Lü",
    "ders",
    "Kra",
    "mer",
    "bach",
)
QUASI = {
    "geburtsdatum": {"role": "quasi", "form": "%d.%m.%Y", "by": "year"},
    "geschlecht": "quasi",
    "plz": "quasi",
    "kasse": "quasi",
    "aufnahme": {"role": "quasi", "form": "%d.%m.%Y", "by": "month"},
    "fachabteilung": "quasi",
    "diagnose": {"role": "quasi", "order": "prefix"},
    "aufnahmeart": "quasi",
}
ROLES = {
    "subject": "patnr",
    "columns": {
        **dict.fromkeys(
            ("fallnummer", "versichertennr", "nachname", "vorname", "ort"), "identifier"
        ),
        "patnr": "identifier",
        **QUASI,
        "nebendiagnose": "sensitive",
        **dict.fromkeys(("entlassung", "entlassart", "kosten", "gewicht", "station"), "drop"),
    },
}


def clinic_stays(seed: int, people: int = PEOPLE, stays: int = STAYS) -> pa.Table:
    """Return one row a stay, in no order: 20 columns; every person has one stay or more."""
    rng = np.random.default_rng(seed)
    who = _visits(rng, people, stays)
    person = _people(rng, people)
    own = {name: values[who] for name, values in person.items()}
    again = np.zeros(stays, dtype=np.bool_)
    again[1:] = who[1:] == who[:-1]
    moved = again & (rng.random(stays) < 0.06)
    own["plz"] = np.where(moved, rng.choice(person["plz"], stays), own["plz"])
    changed = again & (rng.random(stays) < 0.03)
    own["kasse"] = np.where(changed, rng.choice(person["kasse"], stays), own["kasse"])
    department = np.where(
        again & (rng.random(stays) < 0.4), rng.integers(0, len(DEPARTMENTS), stays), own.pop("home")
    )
    names = list(DEPARTMENTS)
    codes = [_code(rng, DEPARTMENTS[names[d]]) for d in department]
    same = again & (rng.random(stays) < 0.45)
    for at in np.flatnonzero(same & (np.roll(department, 1) == department)):
        codes[at] = codes[at - 1]
    day = rng.integers(0, DAYS, stays)
    near = again & (rng.random(stays) < 0.6)
    for at in np.flatnonzero(near):
        day[at] = min(day[at - 1] + int(rng.exponential(60)) + 2, DAYS - 1)
    length = 1 + rng.gamma(1.2, 5.0, stays).astype(np.int64)
    table = pa.table(
        {
            "fallnummer": [f"{7_000_000 + n}" for n in rng.permutation(stays)],
            "patnr": [f"P{n:06d}" for n in who],
            **{n: own[n] for n in ("nachname", "vorname", "geburtsdatum", "geschlecht", "plz")},
            "ort": [f"Ort {code[:3]}" for code in own["plz"]],
            "kasse": own["kasse"],
            "versichertennr": own["versichertennr"],
            "aufnahme": _dates(FIRST_DAY, day),
            "entlassung": _dates(FIRST_DAY, day + length),
            "fachabteilung": [names[d] for d in department],
            "diagnose": codes,
            "nebendiagnose": [rng.choice(("E11", "I10", "Z95", "N18", "F32", "-")) for _ in codes],
            "aufnahmeart": rng.choice(
                ("Notfall", "Einweisung", "Verlegung", "Geburt"), stays, p=(0.45, 0.43, 0.1, 0.02)
            ),
            "entlassart": rng.choice(
                ("regulär", "verlegt", "verstorben"), stays, p=(0.9, 0.07, 0.03)
            ),
            "gewicht": np.round(rng.normal(78, 15, stays), 1),
            "kosten": np.round(rng.lognormal(8.2, 0.7, stays), 2),
            "station": [f"{names[d][:2].upper()}{rng.integers(1, 4)}" for d in department],
        }
    )
    return table.take(pa.array(rng.permutation(stays)))


def _visits(rng: np.random.Generator, people: int, stays: int) -> NDArray[np.int64]:
    """Return the person of each stay, sorted. A few people have most of the stays."""
    counts = np.ones(people)
    for _ in range(stays - people):
        weight = counts - 0.4
        counts[rng.choice(people, p=weight / weight.sum())] += 1
    return np.repeat(np.arange(people), counts.astype(np.int64))


def _people(rng: np.random.Generator, people: int) -> dict[str, NDArray[np.str_]]:
    age = np.clip(
        np.where(
            rng.random(people) < 0.75, rng.normal(64, 17, people), rng.integers(0, 60, people)
        ),
        0,
        101,
    ).astype(np.int64)
    born = [
        dt.date(2022 - a, 1, 1) + dt.timedelta(int(d))
        for a, d in zip(age, rng.integers(0, 365, people), strict=True)
    ]
    areas = np.array(
        [f"{code:05d}" for code in rng.choice(np.arange(20095, 26999), 70, replace=False)]
    )
    share = 1 / np.arange(1, 71) ** 0.9
    home = rng.choice(len(DEPARTMENTS), people, p=np.array((28, 17, 12, 8, 9, 7, 5, 5, 5, 4)) / 100)
    home = np.where((age < 15) & (home < 6), 7, home)
    return {
        "nachname": np.array(["".join(rng.choice(SYLLABLES, 2)) for _ in range(people)]),
        "vorname": rng.choice(GIVEN, people),
        "geburtsdatum": np.array([f"{d:%d.%m.%Y}" for d in born]),
        "geschlecht": rng.choice(("w", "m", "d"), people, p=(0.52, 0.478, 0.002)),
        "plz": rng.choice(areas, people, p=share / share.sum()),
        "kasse": rng.choice(INSURERS, people, p=np.array((27, 18, 14, 10, 7, 5, 6, 4, 7, 2)) / 100),
        "versichertennr": np.array(
            [f"{rng.choice(list('ABCX'))}{n:09d}" for n in rng.integers(0, 10**9, people)]
        ),
        "home": home,
    }


def _code(rng: np.random.Generator, usual: tuple[str, ...]) -> str:
    share = 1 / np.arange(1, len(usual) + 1)
    return f"{rng.choice(usual, p=share / share.sum())}.{min(int(rng.geometric(0.45)) - 1, 4)}"


def _dates(first: dt.date, days: NDArray[np.int64]) -> list[str]:
    return [f"{first + dt.timedelta(int(day)):%d.%m.%Y}" for day in days]
