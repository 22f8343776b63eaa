"""Replace the names in streets and organisations, and keep the words of their kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from voile.documents.replacements import codes
from voile.documents.replacements.draws import SurrogateDraws
from voile.documents.replacements.names import Language, clean, fold

_PIECES = re.compile(
    r"\d+(?=(?:st|nd|rd|th|[ºª])\b)|(?=\w*\d)\w+"
    r"|[^\W\d_]+(?:['’][^\W\d_]+)*|.",
    re.DOTALL,
)

# Common words of streets and organisations, which stay because they identify no one.
_STREET: dict[Language, str] = {
    "english": """
        street st road rd avenue ave lane ln drive dr court ct place pl square sq terrace close
        crescent gardens grove hill park way walk row boulevard blvd parkway highway route freeway
        circle alley mews trail north south east west ne nw se sw nd rd th flat apartment apt suite
        ste unit floor room building house block po box no number the and of rue via viale piazza
        corso rua avenida travessa praça largo chemin impasse allée quai cours de du des la le les
        della del do da dos apartado apdo postfach al ak az ar ca co ct de dc fl ga hi id il ia ks
        ky me md ma mi mn ms mo mt nv nh nj nm ny nc oh pa ri sc sd tn tx ut vt va wa wv wi wy""",
    "spanish": """
        calle avenida avda av plaza pza plz paseo pº ps carretera ctra camino ronda travesía
        pasaje glorieta vía barrio urbanización urb polígono pol carrer carrera cra bulevar callejón
        apartado correos
        bloque piso portal puerta escalera esc planta bajo izquierda izda izq derecha dcha local
        letra número núm nº km norte sur este oeste de del la el los las""",
}
_ORGANISATION: dict[Language, str] = {
    "english": """
        hospital hospitals clinic clinics infirmary surgery practice centre center medical health
        healthcare care home hospice pharmacy general university universities college school
        academy institute laboratory laboratories department dept ward unit faculty trust nhs
        foundation society association council committee agency authority ministry office bureau
        court police church bank insurance company co corporation corp inc llc ltd plc limited
        group holdings partners services systems international national regional community county
        city state royal saint st of the and for at in de children women men snf rehab
        rehabilitation
        urology oncology cardiology pediatrics neurology surgery medicine radiology
        pathology dermatology psychiatry orthopedics nephrology emergency
        manor nursing assisted living skilled facility senior memorial cancer heart
        eye surgical associates campus plaza children's women's veterans""",
    "spanish": """
        hospital hospitales clínica clínicas centro salud consultorio ambulatorio sanatorio
        residencia farmacia servicio servicios unidad urgencias departamento complejo hospitalario
        hospitalaria universitario universitaria universidad facultad escuela colegio instituto
        laboratorio fundación asociación sociedad consejo comité agencia ministerio consejería
        oficina tribunal juzgado policía iglesia banco caja compañía grupo empresa sa sl
        general nacional regional provincial municipal clínico médico médica infantil san santa
        de del la el los las en urología oncología cardiología pediatría neurología cirugía
        ginecología obstetricia nefrología dermatología oftalmología anestesia anestesiología
        reanimación radiología radiodiagnóstico medicina interna intensiva intensivos cuidados
        digestivo endocrinología hematología neumología psiquiatría reumatología traumatología
        ortopédica rehabilitación anatomía patológica análisis nuclear preventiva familiar
        comunitaria infecciosas maxilofacial otorrinolaringología alergología""",
}
KEPT = {"street": _STREET, "organisation": _ORGANISATION}


def kept_words(kind: str, language: Language) -> frozenset[str]:
    return frozenset(map(fold, KEPT[kind][language].split()))


def rename_phrase(
    value: str, kept: frozenset[str], draws: SurrogateDraws, draw: Callable[[str], str | None]
) -> str | None:
    """Replace the digits and each run of words that are not kept; None if all words are kept.

    `draw` returns another name for a run of words.
    """
    new: list[str] = []
    changed = False
    for what, text in _runs(_PIECES.findall(clean(value)), kept):
        if what == "kept":
            new.append(text)
            continue
        other = codes.scramble(draws, text) if what == "code" else draw(text)
        new.append(other or codes.disguise(draws, text))
        changed = True
    return "".join(new) if changed else None


def _runs(pieces: Sequence[str], kept: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield ("name", adjacent words), ("code", digits) and ("kept", any other text)."""
    waiting: list[str] = []
    for piece in pieces:
        what = _what(piece, kept)
        if what == "name" or (waiting and piece in " -"):
            waiting.append(piece)
            continue
        yield from _end_run(waiting)
        waiting = []
        yield what, piece
    yield from _end_run(waiting)


def _what(piece: str, kept: frozenset[str]) -> str:
    if any(map(str.isdigit, piece)):
        return "code"
    is_word = len(piece) > 1 and piece[0].isalpha()
    return "name" if is_word and fold(piece) not in kept else "kept"


def _end_run(waiting: list[str]) -> Iterator[tuple[str, str]]:
    run = "".join(waiting)
    if name := run.rstrip(" -"):
        yield "name", name
        yield "kept", run[len(name) :]
