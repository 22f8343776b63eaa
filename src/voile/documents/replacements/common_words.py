"""Replace removed words that are not names by similar words, to keep sentences readable."""

from __future__ import annotations

import re
from collections.abc import Callable

from voile.documents.replacements.draws import SurrogateDraws
from voile.documents.replacements.names import Language, fold

_GROUPS: dict[Language, str] = {
    "english": """
        the this that; he she; him her; his their; we they; my our your; us them; in at on near;
        to for with from by about; and or; but yet; is was; are were; has had; who which; not also;
        then now; here there""",
    "spanish": """
        el este ese; la esta esa; los estos esos; las estas esas; un aquel; una aquella; él ella;
        en con por sin; de desde hasta para; y o; es fue; son eran; ha había; su mi tu; no ya;
        aquí allí""",
}
_SMALL: dict[Language, dict[str, tuple[str, ...]]] = {
    language: {word: tuple(group.split()) for group in groups.split(";") for word in group.split()}
    for language, groups in _GROUPS.items()
}
_SMALL["english"] |= dict.fromkeys(["a", "an"], ("the", "this"))

_ARTICLES: dict[Language, str] = {
    "english": """
        the a an this that these those his her their my our your its each every some any no""",
    "spanish": """
        el la los las un una unos unas este esta estos estas su sus mi mis tu tus cada al del otro
        otra""",
}
_AFTER_ARTICLE = {
    language: re.compile(rf"\b(?:{'|'.join(words.split())})\s+$", re.IGNORECASE)
    for language, words in _ARTICLES.items()
}
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n]\s*)$")

# Nouns for any person: of each gender in Spanish, and with and without an initial vowel in English.
_NOUNS: dict[Language, str] = {
    "english": """
        person colleague visitor relative neighbour friend member partner guest client supporter
        manager worker student teacher reader writer traveller volunteer newcomer companion
        adult assistant observer employee individual operator officer owner agent author editor
        expert user artist engineer onlooker elder inspector adviser organiser""",
    "spanish": """
        persona visita vecina amiga compañera empleada socia usuaria clienta invitada conocida
        alumna maestra lectora viajera voluntaria encargada ayudanta vecino amigo compañero empleado
        socio usuario cliente invitado asistente conocido alumno maestro viajero voluntario
        encargado ayudante""",
}


def is_small(value: str, before: str, language: Language) -> bool:
    """Return whether a value consists of function words such as "in" and "the"."""
    begins = value[:1].isupper() and _SENTENCE_START.search(before)
    words = (value.lower() if begins and value[1:].islower() else value).split()
    return bool(words) and all(word in _SMALL[language] for word in words)


def other_small(draws: SurrogateDraws, value: str, language: Language) -> str:
    """Replace each function word by another one of its group."""
    groups = _SMALL[language]
    new = " ".join(draws.any(groups[word.lower()], word) for word in value.split())
    return new[0].upper() + new[1:] if value[0].isupper() else new


def is_noun(value: str, before: str, language: Language) -> bool:
    """Return whether a value looks like a common noun: in lower case, after an article."""
    small = any(map(str.isalpha, value)) and value == value.lower()
    return small and _AFTER_ARTICLE[language].search(before) is not None


def noun(draws: SurrogateDraws, value: str, language: Language) -> str | None:
    """Return a noun that agrees with a value in number, and with the article before it."""
    drawn = draws.entry(_NOUNS[language].split(), fold(value), agreeing(value, language))
    return f"{drawn}s" if drawn and _is_plural(value) else drawn


def agreeing(value: str, language: Language) -> Callable[[str], bool]:
    """Return a predicate for words that fit the article before a value, such as "an" or "la"."""
    model = _agreement(value, language)
    return lambda other: _agreement(other, language) == model


def _agreement(value: str, language: Language) -> bool:
    """Return whether a value begins with a vowel, or in Spanish whether it is feminine."""
    words = fold(value).split() or [""]
    if language == "english":
        return words[0][:1] in set("aeiou")
    return words[0].removesuffix("s").endswith(("a", "ion", "dad"))


def _is_plural(value: str) -> bool:
    word = fold(value).split()[-1]
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
