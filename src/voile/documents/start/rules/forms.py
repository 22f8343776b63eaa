"""Dates, ages, numbers and addresses by their form in the text.

Each form is a regular expression over the normalised text. A short date such as 9/6 needs a cue, as
a blood pressure, a strength and a score look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from voile.documents.replacements.removal import Reason

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_IN_YEAR, _DAY = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
_YEAR = "(?:19|20)[0-9]{2}"
_ORDINAL = f"{_DAY}(?:st|nd|rd|th)?"
_TIME = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_CUES = (
    "on since from until till through thru dated date by before after due again visit appt f/u "
    "fu followup follow-up seen admit admitted adm d/c discharged disch started began placed "
    "returned scheduled resulted collected drawn received last next"
)
_CUE = f"(?:{'|'.join(map(re.escape, _CUES.split()))})"
_SHORT = f"{_IN_YEAR}[/-]{_DAY}"
_NO_SCORE = "(?![/-]?[0-9]| ?(?:of |out of |strength|pain|systolic|murmur|mg|hours|hrs))"
_TENS = "(?:ninety|one[ -]hundred)"
_UNITS = "(?:one|two|three|four|five|six|seven|eight|nine)"
_OLD = "(?:9[0-9]|1[0-2][0-9])"
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ"
    "|NM|NY|NC|ND|OH|OK|OR|PA|PR|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_CLEAR_STATES = (
    "AK|AZ|AR|CA|CT|DC|FL|GA|IL|IA|KS|KY|MN|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|RI|SC|SD|TN|TX|UT|VT|VA"
    "|WA|WV|WI|WY"
)
"""Abbreviations that are no words or terms of medicine: after a town they need no comma."""
_NO_TOWN = "On|In|At|The|And|From|For|With|To|By|No|Of|His|Her|Postcode|Postal|Zip|Address"
_TOWN = rf"(?!(?:{_NO_TOWN}) )[A-Z][a-z'-]+(?: (?:[A-Z][a-z'-]+|of|on|upon)){{0,3}}"
_ZIP = "[0-9]{5}(?:-[0-9]{4})?"
_LABELS = (
    "mrn|medical record|record|chart|account|acct|acc|accession|specimen|order|case|claim|policy|"
    "member|group|license|licence|lic|dl|plate|vin|passport|npi|dea|bsn|nhs|device|serial|sn|lot|"
    "encounter|visit id|patient id|id|csn|fin|har|badge|certificate"
)
_VALUE = (
    r"(?!(?:19|20)[0-9]{2}\b(?!-))(?=[A-Za-z0-9/-]{4})(?=[A-Za-z-]{0,6}[0-9])"
    r"(?=[^ ]*[0-9][^ ]*[0-9])[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+){0,4}"
)


@dataclass(frozen=True)
class TextForm:
    """A regular expression that finds an identifier of a type: its group `found`, else all."""

    name: str
    label: str
    expression: re.Pattern[str]
    checked = False

    @property
    def by(self) -> Reason:
        return Reason("rule", self.name)

    def slices(self, plain: str) -> Iterator[tuple[int, int]]:
        """Yield where the form is found in a normalised text."""
        group = "found" if "found" in self.expression.groupindex else 0
        for match in self.expression.finditer(plain):
            yield match.span(group)


def _form(name: str, label: str, *expressions: str, case: bool = False) -> TextForm:
    joined = "|".join(f"(?:{one})" for one in expressions)
    flags = re.NOFLAG if case else re.IGNORECASE
    return TextForm(name, label, re.compile(rf"(?<![\w./-])(?:{joined})(?![\w])", flags))


def _after(name: str, label: str, before: str, found: str, *, case: bool = False) -> TextForm:
    flags = re.NOFLAG if case else re.IGNORECASE
    return TextForm(name, label, re.compile(rf"\b(?:{before})(?P<found>{found})(?![\w])", flags))


FORMS = (
    _form("ISO date", "DATE", rf"{_YEAR}-[01][0-9]-[0-3][0-9]{_TIME}"),
    _form("date with stops", "DATE", rf"{_YEAR}([./]){_IN_YEAR}\1{_DAY}(?![./][0-9])"),
    _form("date without signs", "DATE", f"{_DAY}{_MONTH}(?:{_YEAR}|[0-9]{{2}})"),
    _form("eight figures", "DATE", rf"{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"),
    _form("month and year", "DATE", f"{_IN_YEAR}/{_YEAR}"),
    _form(
        "day of a month",
        "DATE",
        rf"{_MONTH}\.? (?:the )?{_ORDINAL}(?:,? {_YEAR})?(?! ?(?:mg|ml|%))",
        rf"{_DAY}(?:st|nd|rd|th) (?:of )?{_MONTH}\b\.?(?:,? {_YEAR})?",
    ),
    _form("quarter or week", "DATE", rf"(?:Q[1-4]|week [0-9]{{1,2}}(?: of)?),? {_YEAR}"),
    _form(
        "holiday",
        "DATE",
        r"Christmas(?: Day| Eve)?|New Year'?s(?: Day| Eve)|Thanksgiving(?: Day)?|Independence Day"
        r"|Labor Day|Memorial Day|Halloween|Boxing Day|Good Friday|Easter(?: Sunday| Monday)?",
    ),
    _after(
        "short date",
        "DATE",
        rf"{_CUE}:? (?:the )?",
        rf"{_SHORT}(?: ?(?:-|to|and|&|,) ?{_SHORT}){{0,4}}{_NO_SCORE}",
    ),
    _form(
        "age over 89",
        "AGE",
        rf"{_OLD}[ -]?(?:years?|yrs?|y)(?:[ -/]?(?:old|o))?",
        rf"{_OLD} ?(?:yo|y/o|yof|yom)",
        rf"{_TENS}(?:[ -]{_UNITS})?(?:[ -]years?(?:[ -]old)?)",
    ),
    _after(
        "age after a word", "AGE", r"(?:aged?|age of)[: ]+", rf"{_OLD}|{_TENS}(?:[ -]{_UNITS})?"
    ),
    _after(
        "number after its label",
        "ID",
        rf"(?:{_LABELS})(?: (?:no|nr|num|number|sn))?[.:#]* ?#?",
        _VALUE,
    ),
    _form("accession number", "ID", "[A-Z]{1,3}[0-9]{2}-[0-9]{3,7}", case=True),
    _form("vehicle number", "ID", "(?=[A-Z]*[0-9])(?=[0-9]*[A-Z])[A-HJ-NPR-Z0-9]{17}", case=True),
    _form("post box", "ADDRESS", r"P\.? ?O\.? ?Box [0-9]+"),
    _form(
        "town and state",
        "ADDRESS",
        rf"{_TOWN}, (?:{_STATES})(?:,? {_ZIP})?",
        rf"{_TOWN} (?:{_STATES}),? {_ZIP}",
        rf"{_TOWN} (?:{_CLEAR_STATES})",
        case=True,
    ),
    _form(
        "British postcode",
        "ADDRESS",
        rf"(?:{_TOWN},? )?(?:GIR 0AA|[A-Z]{{1,2}}[0-9][A-Z0-9]? [0-9][A-Z]{{2}})",
        case=True,
    ),
    _form(
        "German street",
        "ADDRESS",
        r"[A-ZÄÖÜ][\w-]*(?:straße|strasse|str\.|weg|platz|gasse|allee|ring|damm|ufer)"
        r" [0-9]+ ?[a-z]?"
        r"(?:,? [0-9]{5} [A-ZÄÖÜ]\w+)?",
        case=True,
    ),
    _after(
        "home town",
        "PLACE",
        "(?:lives in|living in|resides in|resident of|born in|moved to|moved from|native of"
        "|grew up in|originally from) ",
        _TOWN,
        case=True,
    ),
    _form(
        "hospital",
        "HOSPITAL",
        rf"(?:St\.? )?{_TOWN} (?:Medical|Health|Cancer|Heart|Surgery|Rehabilitation|Nursing|Care)"
        r" (?:Center|Centre|System|Home|Institute|Group|Partners)",
        rf"(?:St\.? )?{_TOWN} (?:General|Memorial|Regional|Community|University|Children's)"
        r" (?:Hospital|Infirmary|Clinic|Hospice)",
        case=True,
    ),
)
"""The forms in English; figures and codes have them in other languages as well."""
FORM_NAMES = tuple(form.name for form in FORMS)


def date_forms(label: str) -> tuple[TextForm, ...]:
    """Return the forms of dates, with the label that a corpus gives them."""
    return tuple(replace(form, label=label) for form in FORMS if form.label == "DATE")
