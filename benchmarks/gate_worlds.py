"""Made-up people, their unreleased values and released texts, with seeded values by form."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from voile.gate.values.search import TEXT_COLUMNS, VALUE_COLUMNS, SearchInputs

_SYLLABLES = (
    "ba be bi bo da de di do fa fe ga ge ha he jo ka ke ki la le li lo ma me mi mo na ne no pa pe "
    "ra re ri ro sa se so ta te ti to va ve wa we zi stein berg mann burg feld dorf son ley ton"
)
SYLLABLES = _SYLLABLES.split()
ACCENTS = str.maketrans({"a": "á", "o": "ö", "u": "ü", "e": "é"})
Person = Mapping[str, str]


def _born(row: Person) -> date:
    return date.fromisoformat(row["born"])


FORMS: Mapping[str, Callable[[Person], str]] = {
    "whole name": lambda x: f"{x['given']} {x['family']}",
    "upper case": lambda x: x["family"].upper(),
    "accents": lambda x: x["family"].translate(ACCENTS),
    "joined": lambda x: f"{x['given'][0].upper()}. {x['street'].replace(' ', '')}",
    "phone with other separators": lambda x: (
        f"({x['phone'][:3]}) {x['phone'][4:7]}.{x['phone'][8:]}"
    ),
    "phone digits only": lambda x: x["phone"].replace("-", ""),
    "code digits only": lambda x: x["mrn"].removeprefix("MRN-"),
    "code with zeros": lambda x: f"MRN {x['mrn'].removeprefix('MRN-').zfill(12)}",
    "date 1933-07-10": lambda x: x["born"],
    "date 10.07.1933": lambda x: f"{_born(x):%d.%m.%Y}",
    "date 7/10/33": lambda x: f"{_born(x).month}/{_born(x).day}/{_born(x):%y}",
    "date July 10th, 1933": lambda x: f"{_born(x):%B} {_born(x).day}th, {_born(x).year}",
    "date 10 Jul 1933": lambda x: f"{_born(x).day} {_born(x):%b} {_born(x).year}",
    "date 19330710": lambda x: f"{_born(x):%Y%m%d}",
    "e-mail": lambda x: x["mail"],
    "base64": lambda x: base64.b64encode(f"{x['given']} {x['family']}".encode()).decode(),
    "hexadecimal": lambda x: x["phone"].encode().hex(),
    "URL-encoded": lambda x: f"?q={quote(x['street'])}",
    "glued": lambda x: f"dr{x['family'].lower()}xx",
}


@dataclass(frozen=True)
class World:
    """Values and texts of people, and who has which form seeded in the own text."""

    values: pa.Table
    texts: pa.Table
    seeded: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def inputs(self) -> SearchInputs:
        return SearchInputs(
            lambda: self.values.to_batches(max_chunksize=65_536),
            lambda: self.texts.to_batches(max_chunksize=65_536),
        )


def make_world(
    seed: int,
    people: int = 100_000,
    words: int = 10,
    each: int = 0,
    vocabulary: int = 30_000,
    forms: Sequence[str] = tuple(FORMS),
) -> World:
    """Make people with 8 values each, and a text of some words for each.

    A fifth of the family names are words of the texts, and texts have numbers and dates. each :
    people with a seeded value, of each form.
    """
    rng = np.random.default_rng(seed)
    lexicon = _names(rng, vocabulary)
    family = [*lexicon[1000 : 1000 + people // 50], *(x + "er" for x in _names(rng, people // 10))]
    given = _names(rng, 2000)
    names = list(range(people))
    born = [date(1930, 1, 1) + timedelta(days=int(n)) for n in rng.integers(0, 33_000, people)]
    rows = [
        {
            "given": given[a].title(),
            "family": family[b].title(),
            "born": day.isoformat(),
            "phone": f"{n // 10**7}-{n // 10**4 % 1000:03}-{n % 10**4:04}",
            "mrn": f"MRN-{code}",
            "zip": f"{area:05}",
            "street": f"{house} {lexicon[word].title()} {('Street', 'Lane', 'Road')[house % 3]}",
            "mail": f"{given[a]}.{family[b]}{house}@example.org",
        }
        for a, b, day, n, code, area, house, word in zip(
            _zipf(rng, len(given), people),
            _zipf(rng, len(family), people),
            born,
            rng.integers(2 * 10**9, 10**10, people).tolist(),
            rng.permutation(9 * 10**6)[:people] + 10**6,
            rng.integers(0, 5000, people) + 10_000,
            rng.integers(1, 400, people).tolist(),
            _zipf(rng, vocabulary, people),
            strict=True,
        )
    ]
    texts = list(_texts(rng, lexicon, people, words))
    order, seeded = iter(rng.permutation(people).tolist()), {}
    for form in forms:
        chosen = [next(order) for _ in range(each)]
        for n in chosen:
            texts[n] = f"{texts[n]} {FORMS[form](rows[n])}"
        seeded[form] = [str(names[n]) for n in chosen]
    who = pa.array(names).cast(pa.string())
    columns = list(rows[0])
    values = [
        pa.table([who, _same("people", people), _same(one, people), [x[one] for x in rows]],
                 names=list(VALUE_COLUMNS))
        for one in columns
    ]  # fmt: skip
    text = pa.table([who, _same("notes", people), _same("note", people), texts],
                    names=list(TEXT_COLUMNS))  # fmt: skip
    return World(pa.concat_tables(values), text, seeded)


def _same(text: str, n: int) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(n, np.int64)))


def _names(rng: np.random.Generator, n: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < n:
        for size in rng.integers(2, 5, n):
            found["".join(SYLLABLES[x] for x in rng.integers(0, len(SYLLABLES), size))] = None
    return list(found)[:n]


def _zipf(rng: np.random.Generator, n: int, size: int) -> list[int]:
    """Draw ranks with a share that falls with the rank."""
    share = 1 / np.arange(10, n + 10)
    return rng.choice(n, size, p=share / share.sum()).tolist()


def _texts(
    rng: np.random.Generator, lexicon: Sequence[str], people: int, words: int
) -> Iterator[str]:
    drawn = np.array(_zipf(rng, len(lexicon), people * words)).reshape(people, words)
    kinds = rng.integers(0, 20, (people, words))
    numbers = rng.integers(0, 10 ** rng.integers(1, 8, (people, words)))
    for own, kind, number in zip(drawn.tolist(), kinds.tolist(), numbers.tolist(), strict=True):
        said = [
            str(n) if k == 0 else f"{date(2000, 1, 1) + timedelta(days=n % 9000)}" if k == 1
            else lexicon[word]
            for word, k, n in zip(own, kind, number, strict=True)
        ]  # fmt: skip
        yield " ".join(said)
