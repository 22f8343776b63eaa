"""Map the labels of any corpus to kinds of identifiers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest

# The labels of each kind: MEDDOCAN's 22, i2b2's of 2006 and 2014, Presidio's, CoNLL's, spaCy's, and
# plain words. Labels are compared in the form of marks: IDNUM, PHONE_NUMBER.
_LABELS = {
    "name": """
        NAME PER PERSON PERSON_NAME PATIENT DOCTOR FIRST_NAME LAST_NAME SURNAME GIVEN_NAME NOMBRE
        NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO""",
    "date": "DATE DATE_TIME DATETIME DATE_OF_BIRTH DOB BIRTHDATE FECHA FECHAS",
    "age": "AGE EDAD EDAD_SUJETO_ASISTENCIA",
    "number": """
        NUMBER ID IDNUM PHONE PHONE_NUMBER TELEPHONE FAX FAX_NUMBER SSN US_SSN US_ITIN US_PASSPORT
        PASSPORT US_DRIVER_LICENSE DRIVER_LICENSE LICENSE LICENCE MEDICAL_LICENSE MEDICALRECORD MRN
        MEDICAL_RECORD RECORD RECORD_NUMBER HEALTHPLAN ACCOUNT US_BANK_NUMBER CREDIT_CARD IBAN
        IBAN_CODE CRYPTO VEHICLE DEVICE BIOID UK_NHS UK_NINO ES_NIF ES_NIE DNI NIE NIF ZIP ZIP_CODE
        ZIPCODE POSTCODE POSTAL_CODE USERNAME USER_NAME LOGIN MAC MAC_ADDRESS NUMERO_TELEFONO
        NUMERO_FAX ID_SUJETO_ASISTENCIA ID_ASEGURAMIENTO ID_CONTACTO_ASISTENCIAL
        ID_TITULACION_PERSONAL_SANITARIO ID_EMPLEO_PERSONAL_SANITARIO""",
    "email": "EMAIL E_MAIL MAIL EMAIL_ADDRESS CORREO CORREO_ELECTRONICO",
    "url": "URL WEB WEBSITE DOMAIN_NAME DOMAIN URL_WEB",
    "ip": "IP IPADDR IP_ADDRESS DIREC_PROT_INTERNET",
    "street": "STREET STREET_ADDRESS ADDRESS CALLE DIRECCION",
    "place": "PLACE LOC LOCATION GPE CITY STATE COUNTY REGION LOCATION_OTHER TERRITORIO FAC",
    "country": "COUNTRY PAIS",
    "organisation": """
        ORGANISATION ORGANIZATION ORG HOSPITAL COMPANY INSTITUTION INSTITUCION CENTRO_SALUD""",
    "profession": "PROFESSION OCCUPATION JOB PROFESION",
    "other": """
        OTHER MISC NRP NORP TIME TITLE PREFIX SEXO_SUJETO_ASISTENCIA FAMILIARES_SUJETO_ASISTENCIA
        OTROS_SUJETO_ASISTENCIA""",
}


# The words of other labels. The first kind in this order with a word of the label applies. So
# HOSPITAL_NAME is an organisation, and DRUG_NAME is not a person's name.
_WORDS = {
    "email": "EMAIL EMAILS MAIL CORREO",
    "url": "URL URLS WEB WEBSITE DOMAIN",
    "ip": "IP IPV IPADDR",
    "number": """
        NUMBER NUMBERS NUM NUMERO NUMEROS ID IDS IDNUM CODE CODIGO PHONE PHONES TELEPHONE TELEFONO
        TEL MOBILE MOVIL FAX SSN MRN NHS DNI NIE NIF PASSPORT PASAPORTE LICENSE LICENCE LICENCIA
        RECORD ACCOUNT CUENTA CARD TARJETA IBAN BIC PIN CVV PASSWORD VIN IMEI MAC ZIP POSTAL
        POSTCODE ZIPCODE USER USUARIO LOGIN SCREEN NICK HANDLE BITCOIN ETHEREUM LITECOIN CRYPTO""",
    "date": "DATE DATES DOB BIRTHDAY BIRTHDATE FECHA FECHAS",
    "age": "AGE AGES EDAD",
    "street": "STREET ADDRESS CALLE DIRECCION DOMICILIO",
    "country": "COUNTRY PAIS",
    "place": """
        PLACE LOC LOCATION GPE CITY TOWN STATE COUNTY REGION FAC BUILDING LUGAR CIUDAD MUNICIPIO
        PROVINCIA TERRITORIO""",
    "organisation": """
        ORGANISATION ORGANIZATION ORGANIZACION ORG ORGS PATORG HOSPITAL HOSP CLINIC CLINICA CENTER
        CENTRE CENTRO DEPARTMENT SERVICIO WARD COMPANY EMPRESA BUSINESS EMPLOYER INSTITUTION
        INSTITUCION SCHOOL UNIVERSITY BANK AGENCY VENDOR BRAND MARCA COURT ISSUER""",
    "profession": "PROFESSION PROFESION OCCUPATION JOB JOBTITLE SPECIALTY ESPECIALIDAD",
    "other": """
        DRUG MEDICATION MEDICINE MEDICAMENTO FARMACO CHEMICAL DISEASE ENFERMEDAD DIAGNOSIS
        DIAGNOSTICO SYMPTOM PROCEDURE TEST TREATMENT HISTORY PROBLEM GENE PROTEIN SPECIES PRODUCT
        PRODUCTO DEVICE VEHICLE SHIP FILE FOLDER HOST PATH COLUMN TABLE VARIABLE EVENT LANGUAGE
        CURRENCY WORK BOOK TITLE PREFIX SUFFIX SEX SEXO GENDER GENERO TIME RACE RELIGION RELATION
        RELATIONSHIP STATUS""",
    "name": """
        NAME NAMES PER PERS PERSON PERSONS PEOPLE PATIENT PATIENTS DOCTOR DOCTORS DR PHYSICIAN
        CLINICIAN NURSE THERAPIST STAFF HCW HCP CLIENT CUSTOMER EMPLOYEE STUDENT TEACHER RELATIVE
        AUTHOR WITNESS JUDGE LAWYER ATTORNEY DEFENDANT PLAINTIFF INITIALS SURNAMES NOMBRE NOMBRES
        APELLIDO APELLIDOS PERSONA PERSONAS PACIENTE PACIENTES MEDICO MEDICOS MEDICA DOCTORA
        ENFERMERO ENFERMERA TESTIGO JUEZ JUEZA ABOGADO ABOGADA INICIALES""",
}


_KIND_OF_WORD = {word: kind for kind, words in _WORDS.items() for word in words.split()}


_RANK = {kind: rank for rank, kind in enumerate(_WORDS)}


_UNSAFE = re.compile("[^A-Z0-9]+")


_WORD = re.compile("[A-Z]+")


_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


# FIRSTNAME, PHONENUMBER1
_ENDS = re.compile(r"(?<=[A-Z])(?=(?:NAMES?|NUMBER|ADDRESS|CODE)(?![A-Z]))")


KINDS = tuple(_LABELS)


KIND_OF: Mapping[str, str] = {
    label: kind for kind, labels in _LABELS.items() for label in labels.split()
}


@lru_cache(maxsize=4096)
def safe_label(label: str) -> str:
    """Write a label in capitals, digits and underscores, without accents."""
    plain = unicodedata.normalize("NFKD", label).upper()
    kept = "".join(one for one in plain if not unicodedata.combining(one))
    return _UNSAFE.sub("_", kept).strip("_") or "REMOVED"


@lru_cache(maxsize=4096)
def kind_of(label: str) -> str:
    """Return the kind of identifier of a label, or "other".

    An unknown label is read word by word, in English and Spanish. It is split at signs, digits and
    capitals, and before name, number, address and code.
    """
    return KIND_OF.get(safe_label(label)) or _kind_by_words(label)


def _kind_by_words(label: str) -> str:
    words = _WORD.findall(_ENDS.sub("_", safe_label(_CAMEL.sub("_", label))))
    if "CONTEXT" in words:  # text next to a name is not a name
        return "other"
    kinds = {_KIND_OF_WORD[word] for word in words if word in _KIND_OF_WORD}
    return min(kinds, key=_RANK.__getitem__, default="other")


def name_types(labels: Iterable[str], kinds: Mapping[str, str] | None = None) -> frozenset[str]:
    """Return the types that are names. The user's own kinds take precedence."""
    own = kinds or {}
    return frozenset(label for label in labels if (own.get(label) or kind_of(label)) == "name")


def check_kinds(kinds: Mapping[str, str]) -> dict[str, str]:
    for label, kind in kinds.items():
        if kind not in KINDS:
            raise RequestError(
                f"no kind of identifier is called {kind}",
                where=f"label {label}",
                instead=nearest(kind, KINDS),
            )
    return dict(kinds)


PREFIX = "CONTEXT_"


def is_context(labels: Sequence[str]) -> NDArray[np.bool_]:
    """Return which types are words associated with another of these types, as a mask (T,)."""
    associated = [one.startswith(PREFIX) and one.removeprefix(PREFIX) in labels for one in labels]
    return np.array(associated, dtype=np.bool_)
