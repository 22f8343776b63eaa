"""The words that the rules of a language use as context."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from voile.documents.model.start.lists import TIERS, public_lists
from voile.documents.replacements.names import PARTICLES, Language

NUMBERED_LABEL = re.compile(r"N[or][A-Z]\w+")
"""Nº joined to the following word, such as NºCol; normalisation has replaced º by o."""


@dataclass(frozen=True)
class RuleVocabulary:
    """The words of one language, in lower case and without accents."""

    titles: frozenset[str]  # occur before a name: Dr., Mrs, doña
    relatives: frozenset[str]  # may occur before a name: wife, hijo
    labels: frozenset[str]  # occur before a colon and a name: Patient, Nombre
    greetings: frozenset[str]  # begin a letter: Dear, Hola
    closings: frozenset[str]  # end a letter: Regards, Atentamente
    headers: frozenset[str]  # begin a line of recipients: To, Para
    common: frozenset[str]  # are not a name even with a capital
    given: frozenset[str]
    surnames: frozenset[str]
    suffixes: frozenset[str]  # follow an initial: M.ª
    joining: frozenset[str]  # occur between the words of a place
    details: Mapping[str, frozenset[str]]  # by their letter in `details`
    months: frozenset[str]  # months of other languages, with accents: Março is not a Marco
    particles: frozenset[str] = PARTICLES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = {
    "titles": """
        mr mrs ms miss mister mx dr doctor prof professor sir dame lord lady rev reverend fr father
        sister hon judge justice sen senator rep congressman gov governor president capt captain lt
        lieutenant sgt sergeant col colonel gen general maj major cpl pvt officer detective nurse
        rn md aunt uncle king queen prince princess pope saint st""",
    "relatives": """
        wife husband son daughter mother father brother sister mom dad friend partner cousin named
        called aka""",
    "labels": """
        name patient physician doctor provider surgeon nurse attending author signed by attn sender
        contact surname forename firstname lastname first last middle initials employee customer
        client student witness supervisor manager guardian kin referrer referring consultant
        anesthesiologist assistant dictated transcribed""",
    "greetings": "dear hi hello hey greetings",
    "closings": """
        regards thanks thank sincerely best cheers yours love truly respectfully cordially
        faithfully thx rgds""",
    "headers": "from to cc bcc",
    "suffixes": "",
    "common": """
        a about above after again all also although am an and any are as at be because been before
        being below between both but by can could current date day days did discharge do does doing
        during each even every few find for from further good had has have having he her here his
        history home hospital how however i if in into is it its just know let like look many may
        me medical more most my new no nor not note now of off old on once one only or other our
        out over own patient people please please previous re room said same say see she should
        since so some still such than thank thanks that the their them then there these they this
        those through time to today too two under until up upon us very was we well were what when
        where whether which while who why will with within without would year years you your yes
        also both department center university school city county street road avenue company inc
        corp ltd january february march april june july august september october november december
        monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep
        sept oct nov dec mon tue wed thu fri sat sun north south east west american british english
        french german spanish original message sent cc bcc subject fax phone tel email address
        admission date dob mrn age sex male female diagnosis plan assessment exam service unit
        record number team world united states state national international first second""",
}
_SPANISH = {
    "titles": """
        dr dra drs dres doctor doctora sr sra srta sres señor señora señorita d dn dª dña don doña
        prof profesor profesora lic licenciado licenciada ing ingeniero fdo firmado enfermero
        enfermera""",
    "relatives": """
        esposa esposo marido mujer hijo hija madre padre hermano hermana amigo amiga llamado
        llamada""",
    "labels": """
        nombre nombres apellido apellidos paciente medico medica doctor doctora facultativo
        remitente remitido por clinico responsable autor autora firma firmado fdo enfermero
        enfermera contacto familiar tutor cirujano destinatario""",
    "greetings": "estimado estimada querido querida hola apreciado apreciada",
    "closings": "atentamente saludos cordialmente gracias afectuosamente abrazos",
    "headers": "de para cc cco from to bcc",
    "suffixes": "a",
    "common": """
        a al algo ante antes aqui asi aun aunque cada como con contra cual cuando dado de del desde
        despues donde dos durante e el ella ellas ellos en entre era es esa ese eso esta estas este
        esto estos fue ha hace hacia han hasta hay la las le les lo los mas me mi mientras muy ni
        no nos o otra otro para pero poco por porque posteriormente que quien se segun ser si sin
        sobre su sus tal tambien tan tanto tras tres tu un una uno unos y ya yo enero febrero marzo
        abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miercoles
        jueves viernes sabado domingo servicio hospital clinica centro universidad facultad
        departamento unidad calle avenida avda plaza paseo camino ciudad pais edad sexo fecha
        domicilio localidad provincia nhc nass cp telefono tel fax correo email datos informe
        clinico paciente nombre apellidos medico ncol historia exploracion analisis diagnostico
        tratamiento evolucion antecedentes urbanizacion carretera ctra travesia glorieta pza plza
        españa madrid barcelona valencia sevilla asistenciales
        ingreso nacimiento urologia cirugia medicina pediatria nefrologia cardiologia""",
}
_DETAILS: dict[Language, dict[str, str]] = {
    "english": {
        "g": "age aged",
        "y": "year years yr yrs yo y",
        "u": "old o",
        "P": "man woman male female boy girl patient lady gentleman",
        "S": """
            street st avenue ave road rd lane ln boulevard blvd drive court ct place square terrace
            highway hwy parkway pkwy crescent circle alley row way""",
        "N": "hospital clinic hospice infirmary sanatorium",
        "s": "since during until",
    },
    "spanish": {
        "g": "edad",
        "y": "año años ano anos mes meses dia dias",
        "u": "",
        "P": """
            paciente varon mujer hombre niño niña nino nina lactante anciano
            anciana masculino femenino femenina""",
        "S": """
            calle c avda avenida av plaza pza plza paseo pso camino carretera ctra ronda travesia
            glorieta urbanizacion urb rua carrer passeig via""",
        "O": "hospital clinica sanatorio policlinica universidad instituto complejo",
        "s": "en año ano desde hasta durante",
    },
}
_FIELDS = {
    "b": """
        mrn ssn id record account acct patientid medrec policy license licence lic passport npi dea
        csn encounter accession badge chart certificate registration reg nhs
        nhc nass nss nuss ss cipa cip sip nuhsa dni nie nif pasaporte expediente episodio col coleg
        colegiado colegiada colegiacion historia afiliacion naf identificacion licencia tarjeta
        poliza matricula rut curp rfc cuil cuit
        versicherungsnummer versichertennummer krankenversichertennummer versichertennr arztnummer
        patientennummer patientennr fallnummer fallnr ausweisnummer steuernummer aktenzeichen lanr
        bsnr kvnr
        dossier securite matricule passeport permis nir ipp iep rpps adeli
        utente contribuinte processo prontuario cartao passaporte cpf crm cns nif
        matricola tessera fiscale cartella passaporto
    """,
    "n": "no number num nr code id numero n nro nummer km",
    "a": """
        address residence domicilio direccion residencia adresse anschrift wohnhaft domicile
        indirizzo residenza endereço morada""",
    "l": """
        city town country state county hometown birthplace
        localidad provincia pais municipio ciudad poblacion
        ort wohnort geburtsort stadt ville commune pays cidade localidade concelho freguesia
        distrito citta comune cap""",
    "z": "zip zipcode postcode postal cp plz postleitzahl cep",
}
"""Labels in English, Spanish, German, French, Portuguese and Italian.

Before a number or a colon they have the same meaning in notes of any language.
"""
_MONTHS = """
    januar februar märz maerz mai juni juli oktober dezember
    janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre
    decembre janeiro fevereiro março maio junho julho setembro outubro dezembro
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre"""
_JOINING = """
    of the and at in on de del la las los el y i en do da dos das di della du des der von"""
_WORDS: dict[Language, dict[str, str]] = {"english": _ENGLISH, "spanish": _SPANISH}


_LEAST_TIER: dict[Language, int] = {"english": 2, "spanish": 3}
"""The least frequency tier of a listed name.

Most capitalised English words are names of something. Most Spanish names of persons follow a title
or a label.
"""


@cache
def vocabulary(language: Language) -> RuleVocabulary:
    words = {what: _words(text) for what, text in _WORDS[language].items()}
    own = {letter: _words(text) for letter, text in _DETAILS[language].items()}
    details = {letter: _words(text) for letter, text in _FIELDS.items()} | own
    given, surnames = (
        frozenset().union(
            *(public_lists()[f"{kind} {tier}"] for tier in range(_LEAST_TIER[language], TIERS + 1))
        )
        - public_lists()["word"]
        for kind in ("given", "surname")
    )
    return RuleVocabulary(
        **words,
        # May is both a word and a name
        given=given | (words["common"] & public_lists()["given 3"]),
        surnames=surnames,
        joining=_words(_JOINING),
        months=_words(_MONTHS),
        details=MappingProxyType(details),
    )
